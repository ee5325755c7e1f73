"""Methods, starred parameters, printing, sorted lists, comparisons of tuples, ranges of real numbers."""

from __future__ import annotations

import copy
import functools
import logging
import math
import pickle
import warnings
import weakref
from typing import Any

import numpy as np
import pytest

from symdiff import SymdiffError, UnsupportedError, symgrad
from symdiff.errors import OutputWarning
from tests.collecting import collect
from tests.frontend.differences import check

log = logging.getLogger(__name__)


# ----------------------------------------------------------------------- methods
class Spring:
    def __init__(self, stiffness: float) -> None:
        self.stiffness, self.calls = stiffness, 0
        self.weights = np.array([1.0, 2.0])

    def stretch(self, x: Any) -> Any:
        return np.sum(self.weights * x)

    @symgrad
    def energy(self, x: Any, scale: float = 1.0) -> Any:
        return 0.5 * self.stiffness * self.stretch(x) ** 2 * scale

    force = energy.grad

    @symgrad(wrt="x")
    def work(self, x: float, way: float) -> float:
        return self.stiffness * x * way

    @symgrad
    def counted(self, x: float) -> float:
        self.calls += 1
        return x * x


def test_methods_read_what_their_object_has_now() -> None:
    one, other = Spring(2.0), Spring(4.0)
    x = np.array([1.0, 1.0])
    assert one.energy(x) == 9.0 and other.energy(x) == 18.0
    assert one.energy.grad(x)[0].tolist() == [6.0, 12.0]
    assert one.force(x)[0].tolist() == [6.0, 12.0]
    assert one.work.grad(3.0, 5.0) == 10.0
    one.stiffness = 1.0
    assert one.energy.grad(x)[0].tolist() == [3.0, 6.0]
    one.weights[0] = 0.0
    assert one.energy.grad(x)[0].tolist() == [0.0, 4.0]
    assert other.energy.grad(x)[0].tolist() == [12.0, 24.0]
    assert one.energy is one.energy and Spring.energy.__name__ == "energy"


def test_methods_of_copies_are_their_own() -> None:
    one, x = Spring(2.0), np.array([1.0, 1.0])
    one.energy(x)
    for twin in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        twin.stiffness = 6.0
        assert (twin.energy(x), one.energy(x)) == (27.0, 9.0)


@pytest.mark.slow
def test_objects_with_methods_are_collected() -> None:
    one = Spring(2.0)
    one.work(1.0, 2.0)
    seen = weakref.ref(one)
    del one
    collect()
    assert seen() is None


class Slotted:
    __slots__ = ("rate",)

    def __init__(self) -> None:
        self.rate = 3.0

    @symgrad
    def decay(self, t: float) -> float:
        return math.exp(-self.rate * t)


def test_methods_of_objects_without_a_dict() -> None:
    assert Slotted().decay.grad(0.0) == -3.0


def test_what_a_method_changes_is_refused_at_its_line() -> None:
    with pytest.raises(UnsupportedError, match="attribute 'calls' is assigned"):
        Spring(1.0).counted.grad(2.0)


# ------------------------------------------------------------ starred parameters
def model(t: Any, *params: Any) -> Any:
    return params[0] * t + params[1] ** 2


def by_name(z: float, **rates: float) -> float:
    return z * rates["a"] + sum(rates.values())


def mixed(z: float, *a: float, w: float = 2.0, **more: float) -> float:
    return z * a[0] * w + more["q"]


def spread(z: float, params: Any) -> Any:
    return model(z, *params)


def test_gradients_by_starred_parameters_are_tuples_and_dicts() -> None:
    assert symgrad(model)(1.0, 2.0, 3.0) == 11.0
    assert symgrad(model).grad(1.0, 2.0, 3.0) == (2.0, (1.0, 6.0))
    assert symgrad(model, wrt="params").grad(1.0, 2.0, 3.0) == (1.0, 6.0)
    assert symgrad(by_name).grad(1.0, a=2.0, b=3.0) == (2.0, {"a": 2.0, "b": 1.0})
    assert symgrad(mixed).grad(1.0, 2.0, w=5.0, q=3.0) == (10.0, (5.0,), 2.0, {"q": 1.0})
    squares = symgrad(lambda *xs: sum(x * x for x in xs))
    assert [squares.grad(1.0, 2.0), squares.grad(3.0)] == [(2.0, 4.0), (6.0,)]


def test_arrays_whose_size_a_call_knows_are_spread() -> None:
    slope, slopes = symgrad(spread).grad(1.0, np.array([2.0, 3.0]))
    assert slope == 2.0 and slopes.tolist() == [1.0, 6.0]


def test_starred_parameters_are_arrays_before_a_call() -> None:
    assert str(symgrad(model).expr) == "t*params[0] + params[1]**2"
    with pytest.raises(UnsupportedError, match="is not known before a call"):
        _ = symgrad(functools.partial(model, 2.0)).expr


def test_parameters_that_are_not_there_are_refused_when_decorated() -> None:
    with pytest.raises(SymdiffError, match="by the unknown parameter 'params_'"):
        symgrad(model, wrt="params_")
    with pytest.raises(SymdiffError, match="by the unknown parameter 'y'"):
        symgrad(symgrad(lambda x: x), wrt="y")


# ---------------------------------------------------------------------- printing
def test_what_is_printed_or_logged_is_left_out_of_kernels(capsys: Any, caplog: Any) -> None:
    def shown(x: float) -> float:
        print(f"x is {x:.3f}", x, sep=": ")
        log.info("x %s", x)
        logging.getLogger("another").log(10, "x")
        return x * x

    f = symgrad(shown)
    with pytest.warns(OutputWarning, match="is not part of kernels.*symdiff.debug prints") as seen:
        assert f.grad(2.0) == 4.0
    assert len(seen) == 3
    capsys.readouterr()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert f.grad(3.0) == 6.0
    assert not capsys.readouterr().out and not caplog.records


# ----------------------------------------------------------------------- sorting
@pytest.mark.sampled
@pytest.mark.parametrize("point", [(1.0, 3.0, 2.0), (3.0, 2.0, 1.0), (-1.0, -2.0, 5.0)])
def test_sorted_lists(point: tuple[float, float, float]) -> None:
    def middle(x: float, y: float, z: float) -> float:
        return sorted([x, y, z])[1] ** 2

    def last(x: float, y: float, z: float) -> float:
        return sorted([x, y, z], key=abs, reverse=True)[0] * 3.0

    def paired(x: float, y: float, z: float) -> float:
        first, second = sorted([(x, y), (y, z), (z, x)], key=lambda p: p[0] * p[1])[:2]
        return first[0] + 10.0 * second[1]

    for f in (middle, last, paired):
        assert symgrad(f)(*point) == f(*point)
        slopes = [
            (f(*(p + 1e-6 * (k == i) for i, p in enumerate(point))) - f(*point)) / 1e-6
            for k in range(3)
        ]
        assert symgrad(f).grad(*point) == pytest.approx(slopes, abs=1e-4)


def test_sorted_items_of_dicts() -> None:
    def total(p: dict[str, float]) -> float:
        found = 0.0
        for k, (name, v) in enumerate(sorted(p.items())):
            found = found * 2.0 + v * len(name) * (k + 1)
        return found

    p = {"b": 1.0, "aa": 2.0}
    assert symgrad(total)(p) == total(p)
    assert symgrad(total).grad(p) == {"b": 2.0, "aa": 4.0}


def test_long_lists_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="a list of more than 16 numbers is sorted"):
        symgrad(lambda x: sorted([x * math.sin(k + x) for k in range(17)])[0])(1.0)


# -------------------------------------------------------------------- comparisons
COMPARED: list[Any] = [
    lambda x, y: 5.0 if (x, y) == (0, 0) else x - y,
    lambda x, y: x * y if [x, y] != [1.0, 2.0] else 7.0,
    lambda x, y: 2.0 * x if (x, y) < (1, 2) else 3.0 * y,
    lambda x, y: 2.0 * x if (x, y) <= (1, 2) else 3.0 * y,
    lambda x, y: x if (x, y) > (1.0,) else y,
    lambda x, y: x if (x, y) == (x, y, 1) else y,
]


@pytest.mark.sampled
@pytest.mark.parametrize("point", [(0.0, 0.0), (0.0, 1.0), (1.0, 2.0), (2.0, 0.0), (1.0, 3.0)])
def test_comparisons_of_tuples(point: tuple[float, float]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k, f in enumerate(COMPARED):
            assert symgrad(f)(*point) == f(*point), k


def test_truth_values_of_numpy_are_negated() -> None:
    for f in (
        lambda x, y: x if ~np.any(np.array([y, x - 1.0])) else x + y,
        lambda x, y: np.where(~np.isnan(x) & ~np.isclose(x, y), x * y, y),
    ):
        for point in ((1.0, 0.0), (1.0, 2.0), (math.nan, 1.0)):
            np.testing.assert_array_equal(symgrad(f)(*point), f(*point))
    with pytest.raises(UnsupportedError, match="'~' of a truth value"):
        symgrad(lambda x: x if ~(x > 0) else 1.0)(1.0)


# ------------------------------------------------------------------------- ranges
@pytest.mark.sampled
@pytest.mark.parametrize(
    ("end", "step"), [(1.0, 0.1), (5.0, 0.01), (0.3, 0.1), (1.0, 0.3), (-1.0, 0.5)]
)
def test_ranges_of_real_numbers_have_the_length_of_numpys(end: float, step: float) -> None:
    def decay(end: float, step: float, rate: float) -> Any:
        t = np.arange(0, end, step)
        return np.sum(np.exp(-rate * t)) + len(t)

    f = symgrad(decay)
    assert f(end, step, 2.0) == pytest.approx(decay(end, step, 2.0), rel=1e-13)
    t = np.arange(0, end, step)
    slopes = 0.0, -2.0 * np.sum(t / step * np.exp(-2 * t)), -np.sum(t * np.exp(-2 * t))
    assert f.grad(end, step, 2.0) == pytest.approx(slopes, rel=1e-12, abs=1e-15)


# --------------------------------------------- names whose form the first iteration gives
def largest(x: Any) -> Any:
    best = None
    for v in x:
        if best is None or v > best:
            best = v
    return best


def roughness(x: Any) -> Any:
    total = 0.0
    for row in x:
        before = None
        for v in row:
            if before is not None:
                total += (v - before) ** 2
            before = v
    return total


def steps(x: Any) -> Any:
    before, total = None, 0.0
    for row in x:
        if before is not None:
            for i in range(len(row)):
                total += (row[i] - before[i]) ** 2
        before = row
    return total


def place(x: Any) -> Any:
    best, where = None, None
    for i in range(len(x)):
        if best is None or x[i] < best:
            best, where = x[i], i
    return best * where


def products(x: Any) -> Any:
    found, before = [], None
    for v in x:
        if before is not None:
            found.append(v * before)
        before = v
    return sum(found)


def sum_of_rows(x: Any) -> Any:
    total = 0
    for row in x:
        total = total + row * row
    return np.sum(total * np.arange(1.0, 4.0))


LINE, TABLE = np.array([1.5, 3.0, 0.5, 2.0]), np.array([[1.0, 2.0, 4.0], [3.0, 5.0, 1.0]])


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    ("f", "x"),
    [(largest, LINE), (roughness, TABLE), (steps, TABLE), (place, LINE), (products, LINE), (sum_of_rows, TABLE)],
    ids=lambda v: getattr(v, "__name__", ""),
)  # fmt: skip
def test_a_first_iteration_gives_names_the_form_that_they_keep(f: Any, x: Any) -> None:
    check(f, x, value=0.0, slope=0.0, near=1e-8, step=2.0**-20)


def test_no_first_iteration() -> None:
    message = "a loop makes too few iterations, in which a name would change its form"
    with pytest.raises(ValueError, match=message):
        symgrad(largest)(np.empty(0))


def test_products_with_derivatives_where_truth_values_are_added() -> None:
    def f(x: float) -> Any:
        return (x * x + ((x > 0) + (x < 1)), x)

    g = symgrad(f)
    assert g.vjp((0.75,), (2.0, 1.0)) == ((2.5625, 0.75), 4.0)
    assert g.jvp((0.75,), (2.0,)) == ((2.5625, 0.75), (3.0, 2.0))
    with pytest.raises(SymdiffError, match="x is a number of NumPy's"):
        g.vjp((np.float64(0.75),), (2.0, 1.0))
