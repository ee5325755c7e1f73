"""The kind of a result is that of plain Python: floats, integers, truth values, and arrays of them; integers that
are passed are real numbers, or refused where no double holds them. Truth values are what Python and NumPy have:
masks as arguments, counting, and what NumPy computes in short formats."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import SymdiffError, symgrad
from symdiff.api.narrow_arguments import _in_dtypes
from tests.fuzz.law import difference
from tests.law.alike import alike


def counted(x: Any) -> Any:
    n = 0
    for k in range(4):
        if x > k:
            n += 1
    return n


NUMBERS = [
    lambda x: 1 if x > 0 else 0,
    lambda x: 1.0 if x > 0 else 0.0,
    lambda x: x > 0,
    lambda x: True,
    lambda x: 1,
    lambda x: 1.0,
    lambda x: math.floor(x),
    lambda x: (not x > 0, x > 0 and x < 2, bool(x), math.isfinite(x), 2.0**3),
    lambda x: (math.trunc(x) + 1, round(x), round(x, 1), abs(math.floor(x)), max(math.floor(x), 0)),
    lambda x: [int(x > 0), float(x > 0), float(math.floor(x)), x // 2, np.floor(x)],
    lambda x: ((x > 0) * 1, (x > 0) + 1, (x > 0) + (x > 1), -(x > 0), sum([x > 0, x > 1])),
    lambda x: {"real": (x > 0) * x, "double": (x > 0) * 2.0, "one": 1, "truth": x > 0, "x": x},
    lambda x: ((1 if x > 0 else 2) ** 2, (1 if x > 0 else 2) / 2),
    lambda x: [math.floor(x) // 2 + math.ceil(x) % 2, 2, 2.0, -3],
    counted,
]
ARRAYS = [
    lambda x: len(x),
    lambda x: x.shape,
    lambda x: 1.0,
    lambda x: True,
    lambda x: np.sum(x > 0),
    lambda x: np.any(x > 0),
    lambda x: x > 0,
    lambda x: np.zeros(3),
    lambda x: [v * 2 for v in x],
    lambda x: (x.size, x.ndim, 2.0**3, len(x) / 2, np.eye(2), np.float64(1)),
    lambda x: ((x > 0).mean(), np.argmax(x), np.argsort(x), np.all(x > 0), np.max(x) > 0),
    lambda x: [np.isnan(x), np.where(x > 0, 1, 0), np.where(x > 0, 1.0, 0.0), np.arange(len(x))],
    lambda x: (np.count_nonzero(x > 0), np.cumsum(x > 0), int(np.sum(x > 0))),
    lambda x: ((x > 0) * 1, (x > 0) + 1, (x > 0) + (x > 1), (x > 0) * (x > 1), (x > 0) * x),
    lambda x: [len(x), x[0], np.array([1, 2]) * (x[0] > 0)],
    lambda x: (list(x), list(x) + [1.0], 2),  # noqa: RUF005
]


@pytest.mark.sampled
@pytest.mark.parametrize("f", NUMBERS)
def test_numbers_have_the_kind_of_python(f: Any) -> None:
    s = symgrad(f)
    for x in (1.7, -1.2, 2.5, 2.5):
        alike(s(x), f(x), 1e-15, types="kind")


@pytest.mark.sampled
@pytest.mark.parametrize("f", ARRAYS)
def test_functions_of_arrays_have_the_kind_of_numpy(f: Any) -> None:
    s = symgrad(f)
    for x in (np.array([1.7, -0.3, 2.5]), np.array([-1.0, 0.5]), np.array([1.7, -0.3, 2.5])):
        alike(s(x), f(x), 1e-15, types="kind")


def test_chosen_integers_for_each_element() -> None:
    f = symgrad(lambda x: 1 if x > 0 else 0)
    x = np.array([1.7, -0.3, 2.5])
    for _ in range(2):
        got = f(x)
        assert got.dtype == np.int64
        assert got.tolist() == [1, 0, 1]
    assert f.grad(x).tolist() == [0.0, 0.0, 0.0]
    assert f.grad(1.7) == 0.0


def test_a_number_that_is_an_integer_on_one_branch_only_is_a_float() -> None:
    f = symgrad(lambda x: x if x > 0 else 0)
    assert isinstance(f(-1.0), float)
    assert f(-1.0) == 0


def test_integers_that_no_double_holds_are_refused() -> None:
    f, total = symgrad(lambda x: x / 3), symgrad(lambda x: np.mean(x))
    big = 2**53 + 1
    assert f(3 * 2**50) == 2.0**50
    for value in (big, np.int64(big), np.array([big, 3])):
        with pytest.raises(SymdiffError, match="2\\*\\*53"):
            f(value)
    for dtype in ("uint8", "int8", "uint16", "int16", "uint64"):
        with pytest.raises(SymdiffError, match="wraps around"):
            total(np.array([200, 3]).astype(dtype))
    assert total(np.array([3, 4])) == 3.5


OF_TRUTH: list[Any] = [
    lambda x: (np.max(x > 0, axis=0), np.min(x > 0), np.triu(x > 0), np.pad(x > 0, 1)),
    lambda x: (np.outer(x > 0, x > 0), np.kron(x > 0, x > 0), np.abs(x > 0), np.maximum(x > 0, x < 5)),
    lambda x: ((x > 0) @ (x.T > 0), np.einsum("ij,ij->i", x > 0, x > 0), np.inner(x > 0, x > 0)),
    lambda x: (np.fmax(x > 0, np.sum(x > 0)), np.maximum(np.argmax(x), x > 0), np.nan_to_num(x > 0)),
    lambda x: (np.max(np.cumsum(x > 0, axis=1), axis=0), np.min(np.argsort(x, axis=1), axis=1)),
    lambda x: (np.add(x.size, 2), np.sign(np.square(np.size(x))), np.sum(np.size(x) > 0).max()),
    lambda x: np.convolve(x[0] > 0, x[1] > 0),
    lambda x: np.hypot(np.any(x > 0), 1),
]  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("f", OF_TRUTH)
def test_truth_values_and_integers_stay_what_they_are(f: Any) -> None:
    x = np.array([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])
    assert not difference(symgrad(f, accuracy="fast")(x), f(x))


@pytest.mark.slow
def test_lists_that_are_computed_as_arrays_nest_as_in_python() -> None:
    def f(x: Any) -> Any:
        pairs = list(zip(x[0], x[1], strict=True))
        return x.tolist(), [list(r) for r in x], [2 * r for r in x], tuple(x[0]), pairs, x.item(4)

    x = np.array([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])
    assert not difference(symgrad(f)(x), f(x))
    g = symgrad(lambda x: [row[1] * 2 for row in x.tolist()])
    assert g(x) == [-4.0, 10.0]


# ------------------------------------------------------------------ narrower floats
THREE = np.array([1.0, 2.0, 3.0])
WIDENED = [
    lambda x: np.asarray(x, dtype=float) - 1,
    lambda x: x.astype(float) * 2,
    lambda x: np.sum(x, dtype=float),
    lambda x: np.zeros(3) + x,
    lambda x: float(x[0]) * 2,
    lambda x: [float(v) ** 2 for v in x],
    lambda x: (np.array(x, dtype=float) * 2, np.asarray(x, np.float64), x.astype("float64").sum()),
    lambda x: (np.zeros_like(x, dtype=float) + x, x * THREE, x - np.linspace(0, 1, 3)),
    lambda x: (np.eye(3) @ x, np.concatenate([x, THREE]), np.where(x > 0, x, THREE)),
    lambda x: (x * 2, x.astype(float), {"a": x.sum(), "b": [THREE @ x]}),
]
NARROW = [
    lambda x: x * 2 + 1,
    lambda x: np.sum(np.sin(x) ** 2),
    lambda x: (x @ x, x[0], x.mean(), np.asarray(x) * math.pi),
    lambda x: (np.zeros_like(x) + x, np.where(x > 0, x, 0.0)),
]


def stored(x: Any) -> Any:
    x = np.asarray(x, dtype=float)
    x -= x.mean()
    return x


def dtypes(result: Any) -> Any:
    """The formats of floats, nested as a result."""
    if isinstance(result, dict):
        return {k: dtypes(v) for k, v in result.items()}
    if isinstance(result, (list, tuple)):
        return [dtypes(v) for v in result]
    return np.asarray(result).dtype


def leaves(result: Any) -> list[Any]:
    """The numbers and arrays of a result."""
    parts = result.values() if isinstance(result, dict) else result
    if not isinstance(result, (dict, list, tuple)):
        return [result]
    return [leaf for part in parts for leaf in leaves(part)]


@pytest.mark.sampled
@pytest.mark.parametrize("narrow", [np.float32, np.float16])
@pytest.mark.parametrize("function", [*WIDENED, *NARROW, stored])
def test_formats_of_results_are_those_of_numpy(function: Any, narrow: Any) -> None:
    x = np.array([1, -2, 3.5], narrow)
    f = symgrad(function)
    wanted = function(x.copy())
    for _ in range(2):
        found = f(x)
        assert dtypes(found) == dtypes(wanted)
        for a, b in zip(leaves(found), leaves(wanted), strict=True):
            np.testing.assert_allclose(a, b, rtol=4 * np.finfo(narrow).eps)
    assert dtypes(f(x.astype(float))) == dtypes(function(x.astype(float)))


def test_what_is_widened_has_the_digits_of_doubles() -> None:
    x = np.array([0.1, 0.2, 0.7], np.float32)
    wide = x.astype(float)
    np.testing.assert_allclose(symgrad(stored)(x), wide - wide.mean(), rtol=1e-15)
    f = symgrad(lambda x, y: (x * 2, y.astype(float) * x))
    found = f(x, x)
    assert found[0].dtype == np.float32
    np.testing.assert_allclose(found[1], wide * wide, rtol=1e-15)
    assert symgrad(stored).jacobian(x).dtype == np.float32


def test_formats_in_containers_and_of_numbers() -> None:
    f = symgrad(lambda p: (p["a"] * 2, p["b"].astype(float)))
    found = f({"a": np.float32([1, 2]), "b": np.float32([3])})
    assert [v.dtype for v in found] == [np.float32, np.float64]
    assert symgrad(lambda x: np.sin(x))(np.float32(0.5)).dtype == np.float32
    assert isinstance(symgrad(lambda x: math.sin(x))(np.float32(0.5)), float)


def test_functions_of_numbers_keep_the_format_of_arrays() -> None:
    f = symgrad(lambda x: math.sin(x) if x > 0 else x)
    assert f(np.float32([0.5, -1])).dtype == np.float32


def test_lists_of_floats_of_other_lengths() -> None:
    f = symgrad(lambda x: [float(v) ** 2 for v in x])
    for size in (3, 1, 4):
        found = f(np.arange(size, dtype=np.float32))
        assert found == [float(v) ** 2 for v in range(size)]
        assert [np.asarray(v).dtype for v in found] == [np.float64] * size


@pytest.mark.sampled
@pytest.mark.parametrize("sizes", [(3, 2), (2, 3, 2)])
def test_formats_that_depend_on_sizes_of_programs_with_sums(sizes: tuple[int, ...]) -> None:
    def changing(x: Any) -> Any:
        return x * x.sum() if len(x) < 3 else x.astype(float) * x.sum()

    f = symgrad(changing)
    for size in sizes:
        x = np.arange(size, dtype=np.float32)
        assert f(x).dtype == changing(x).dtype


def test_formats_narrower_than_those_of_kernels() -> None:
    x, mask = np.float32([1, 2, 3]), np.array([True, False, True])
    for function, given in [
        (lambda x, y: x * y, (x, mask)),
        (lambda x, y: np.sum(x[y]), (x, mask)),
        (lambda x: np.linspace(0, x[0], 3), (x,)),
    ]:
        f, wanted = symgrad(function), function(*given)
        for _ in range(2):
            found = f(*given)
            assert found.dtype == wanted.dtype == np.float32
            np.testing.assert_array_equal(found, wanted)


def test_formats_of_lists_seen_for_smaller_arguments() -> None:
    dtypes = [np.dtype(np.float32)] * 2
    found = _in_dtypes(dtypes, [0.1, 0.2, 0.3])
    assert found == [np.float32(v) for v in (0.1, 0.2, 0.3)]
    assert {v.dtype for v in found} == {np.dtype(np.float32)}
    assert _in_dtypes([None, *dtypes], [0.1]) == [0.1]


@pytest.mark.sampled
@pytest.mark.parametrize("y", [np.array([True, False, True]), np.array([1, 2, 3]), 3])
def test_formats_beside_integers(y: Any) -> None:
    def both(x: Any, y: Any) -> Any:
        return y * 2, x * y, x.astype(float) / 3

    x = np.float32([0.1, 0.2, 0.7])
    f, wanted = symgrad(both), both(x, y)
    for _ in range(2):
        found = f(x, y)
        assert dtypes(found) == dtypes(wanted)
        for a, b in zip(found, wanted, strict=True):
            kind = np.asarray(b).dtype
            eps = np.finfo(kind).eps if kind.kind == "f" else 0
            np.testing.assert_allclose(a, b, rtol=2 * eps)


def kepler(mean, eccentricity):
    """Newton's steps on elements, which `math` takes one by one."""
    anomaly = mean
    for _ in range(5):
        off = anomaly - eccentricity * math.sin(anomaly) - mean
        anomaly -= off / (1 - eccentricity * math.cos(anomaly))
    return anomaly


def wrapped(x):
    y = x
    if y > 1:
        y -= 1
    return x + y * y


def doubled_list(x):
    parts = [x]
    parts[0] *= 2
    return math.exp(parts[0]) + x


@pytest.mark.sampled
@pytest.mark.parametrize(("f", "more"), [(kepler, (0.3,)), (wrapped, ()), (doubled_list, ())])
def test_elements_that_are_passed_one_by_one_are_numbers(f, more):
    """What is changed under another name is another number."""
    x = np.array([0.5, 1.5, 0.25])
    found = symgrad(f)(x, *more)
    np.testing.assert_allclose(found, [f(v, *more) for v in x.tolist()], rtol=1e-15)
    np.testing.assert_array_equal(x, [0.5, 1.5, 0.25])
    slopes = symgrad(f).grad(x, *more)
    first = slopes[0] if more else slopes
    step = 1e-6
    near = [(f(v + step, *more) - f(v - step, *more)) / (2 * step) for v in x.tolist()]
    np.testing.assert_allclose(first, near, rtol=1e-8)


# --- truth values, alone and in arrays
X = np.array([1.0, -2.0, 3.0])
MASK = np.array([True, False, True])


def same(f: Callable[..., Any], *args: Any) -> None:
    alike(symgrad(f)(*args), f(*args), types="kind")


def _stored(x: Any, m: Any) -> Any:
    y = x * 1
    y[m] = 7.0
    y[~m] *= x[~m]
    return y


def _summed(x: Any, m: Any) -> Any:
    total = 0.0
    for k in range(len(x)):
        if m[k]:
            total += x[k]
    return total


MASKED: list[tuple[Callable[..., Any], list[float]]] = [
    (lambda x, m: np.sum(x[m]), [1, 0, 1]),
    (lambda x, m: np.sum(x[~m] ** 2), [0, -4, 0]),
    (lambda x, m: np.sum(np.where(m, x, 0.5)), [1, 0, 1]),
    (lambda x, m: np.sum(m * x), [1, 0, 1]),
    (lambda x, m: np.sum(np.where(m & (x > 2), x, 0)), [0, 0, 1]),
    (lambda x, m: np.any(m) * np.sum(x), [1, 1, 1]),
    (lambda x, m: np.sum(x + m), [1, 1, 1]),
    (lambda x, m: np.sum(_stored(x, m)), [0, -4, 0]),
    (lambda x, m: m.astype(float) @ x, [1, 0, 1]),
    (_summed, [1, 0, 1]),
]


@pytest.mark.sampled
@pytest.mark.parametrize(("f", "slope"), MASKED)
def test_masks_as_arguments(f: Callable[..., Any], slope: list[float]) -> None:
    """An array of truth values selects, and is no array of indices 0 and 1."""
    same(f, X, MASK)
    np.testing.assert_allclose(symgrad(f, wrt=["x"]).grad(X, MASK), slope, rtol=1e-14)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "f",
    [
        lambda m: m @ m, lambda m: np.tanh((m @ m) * 1.0), lambda m: m + m, lambda m: m + 1, lambda m: m * m,
        lambda m: np.sum(m), lambda m: m / 2, lambda m: m.mean(), lambda m: np.diff(m), lambda m: ~m,
        lambda m: np.cumsum(m), lambda m: np.floor(m), lambda m: abs(m), lambda m: np.maximum(m, m[::-1]),
        lambda m: np.add(m, m), lambda m: np.multiply(m, m), lambda m: m.T,
    ],
)  # fmt: skip
def test_arithmetic_of_masks(f: Callable[..., Any]) -> None:
    same(f, MASK)
    same(lambda x: f(x > 0), X)


@pytest.mark.slow
def test_kernels_for_masks_are_not_those_for_numbers() -> None:
    numbers, integers = np.array([2.0, 0.0, 0.5]), np.array([2, 0, 1])
    for f in (
        lambda x, m: m * x + m,
        lambda x, m: np.sum(m * x + m),
        lambda x, m: np.cumsum(x * m) + m,
    ):
        for order in itertools.permutations([MASK, numbers, integers]):
            made = symgrad(f)
            for m in order * 3:
                np.testing.assert_allclose(made(X, m), f(X, m), rtol=1e-14)
    for order in itertools.permutations([MASK, numbers, integers]):
        made = symgrad(lambda x, m: np.sum(np.where(m == 1, x * x, m)), wrt=["x"])
        for m in order * 3:
            want = np.where(np.asarray(m, float) == 1, 2 * X, 0)
            np.testing.assert_allclose(made.grad(X, m), want, rtol=1e-14)


def test_counting() -> None:
    def positive(x: Any) -> Any:
        n = 0
        for u in x:
            n += u > 0
        return n

    def twice(x: Any) -> Any:
        n = 1
        for u in x:
            n *= 1 + (u > 0)
        return n, n / 2

    same(positive, X)
    got = symgrad(twice)(X)
    assert got == (4, 2.0)
    assert isinstance(got[0], int)
    same(lambda x: (x > 0) + (x < 5), 1.0)
    same(lambda x: 2 ** (x > 0), 1.0)
    same(lambda x: +(x > 0), 1.0)


def test_truth_values_whose_meaning_is_not_known_are_refused() -> None:
    for f in (lambda x: (x[0] > 0) + (x[1] > 0), lambda x: (x[0] > 0) // (x[2] > 0)):
        with pytest.raises(SymdiffError, match="two truth values"):
            symgrad(f)(X)
    with pytest.raises(SymdiffError, match="'~' of a truth value"):
        symgrad(lambda x: ~(x > 0))(1.0)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "f",
    [
        lambda x: math.copysign(len(x), -1), lambda x: math.copysign(np.argmax(x), -1.0),
        lambda x: np.copysign(len(x) * 1.0, -1.0), lambda x: np.copysign(x, len(x)),
        lambda x: math.fsum(np.argsort(x)), lambda x: math.pow(2, np.argmax(x)), lambda x: math.fabs(len(x)), lambda x: math.fmod(len(x), 2),
        lambda x: np.linalg.norm(np.searchsorted(np.array([0.0, 2.0]), x), np.inf),
        lambda x: np.linalg.norm(np.argsort(x), 1), lambda x: [u for u in x if u > 0],
    ],
)  # fmt: skip
def test_functions_of_integers_that_are_floats(f: Callable[..., Any]) -> None:
    same(f, X)


def test_truth_values_of_numpy_and_of_python() -> None:
    """Their sums and products differ; what may be either is refused, at the line or by the argument."""
    of_python = symgrad(lambda x: ((x > 0) + (x < 5)) * x)
    assert of_python(1.0) == 2.0
    assert of_python.grad(1.0) == 2.0
    for call in (of_python, of_python.grad):
        for number in (np.float64(1.0), np.array(1.0)):
            with pytest.raises(SymdiffError, match="x is a number of NumPy's"):
                call(number)
    same(lambda x: (x > 0) * (x < 5), 1.0)
    same(lambda x: abs(x > 0), 1.0)
    same(lambda x: (x > 0) * (x < 5) * np.sin(x), np.float64(1.0))
    for f in (
        lambda x: ((np.sin(x) > 0) + (x > 0)) * x,
        lambda x: ((np.abs(0.4) > 0) + (np.sin(0.4) < 1)) * x,
        lambda x: ((np.float64(0.4) > 0) + (x < 1)) * x,
        lambda x: (np.any(x > 0) + np.all(x > 0)) * x,
        lambda x: (np.max([x > 0, x < 0]) + True) * x,
        lambda x: (np.sin(x) > 0) // True * x,
    ):
        with pytest.raises(SymdiffError, match=r"test_kinds.py:\d+.* of two truth values"):
            symgrad(f)(1.0)
    for f in (lambda x: (np.sin(x) > 0) * (x > 0), lambda x: abs(np.sin(x) > 0)):
        with pytest.raises(SymdiffError, match=r"test_kinds.py:\d+.*a product of truth values"):
            symgrad(f)(1.0)
    with pytest.raises(SymdiffError, match="on one path"):
        symgrad(lambda x: True if x > 0 else 2)(1.0)


def test_kinds_of_numbers_that_decide() -> None:
    """Whether a number is Python's or NumPy's is not known; arrays without axes are known."""
    same(lambda x: isinstance(x, float) * x, 1.5)
    same(lambda x: isinstance(x, (int, np.floating, float)) * x, np.float64(1.5))
    same(lambda x: isinstance(x > 1, (bool, np.bool_)) * x, 1.5)
    same(lambda x: isinstance(np.sin(x), np.ndarray) * x, 1.5)
    for make in (
        lambda x: np.where(x > 0, x, 1),
        lambda x: np.roll(x, 1),
        lambda x: np.full_like(x, 2.0),
    ):
        same(lambda x, make=make: isinstance(make(x), np.ndarray) * x, 1.5)
        same(lambda x, make=make: isinstance(make(x), float) * x, 1.5)
        same(lambda x, make=make: isinstance(make(x) * 2, np.ndarray) * x, 1.5)
    for f in (lambda x: isinstance(x, np.float64) * x, lambda x: isinstance(np.sin(x), np.generic) * x,
              lambda x: isinstance(x > 0, bool) * x):  # fmt: skip
        with pytest.raises(SymdiffError, match="one of NumPy's decides"):
            symgrad(f)(1.5)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "make",
    [
        lambda: np.zeros(2, bool), lambda: np.zeros((), bool), lambda: np.array(True), lambda: np.zeros_like(True),
        lambda: np.array([True, False]),
    ],
)  # fmt: skip
def test_what_arrays_of_truth_values_hold(make: Any) -> None:
    """Numbers are cast when they are stored: 2 is true."""

    def known(x: Any) -> Any:
        m = make()
        m[...] = 2
        return m * x

    def computed(x: Any) -> Any:
        m = make()
        m[...] = x - 1.5
        return m * x

    for x in (1.5, 0.5):
        same(known, x)
        same(computed, x)
