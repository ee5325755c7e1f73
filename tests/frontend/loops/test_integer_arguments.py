"""Numbers that are used as indices and sizes are integers of the call, lists of them too; tables are
indexed by what is computed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.errors import SymdiffError, UnsupportedError
from tests.frontend.differences import check, slopes_by

A = np.array([1.0, -2.0, 3.5])
B = np.arange(6.0).reshape(2, 3)


def likelihood(start: Any, step: Any, seen: Any, obs: Any) -> Any:
    a = start * seen[:, obs[0]]
    for o in obs[1:]:
        a = (a @ step) * seen[:, o]
    return np.log(a.sum())


CHAIN = np.array([0.6, 0.4]), np.eye(2) * 0.5 + 0.25, np.array([[0.9, 0.1], [0.2, 0.8]])


def powers(x: Any, n: Any) -> Any:
    total = 0.0
    for k in range(n):
        total += x**k / (k + 1)
    return total


def filled(x: Any, n: Any) -> Any:
    made = np.zeros(n)
    for k in range(n):
        made[k] = x * k
    return made.sum()


INTEGERS: list[tuple[Any, tuple[Any, ...]]] = [
    (lambda x, k: B[:, k].sum() * x, (1.5, 2)),
    (lambda x, k: B[:, k].sum() * x, (1.5, -1)),
    (lambda x, k: x[k] ** 2 + k, (A, np.int64(2))),
    (lambda x, k: x[k - 1] ** 2 * k, (A, 2)),
    (lambda x, k: np.sum(x[2 * k - 1 :] ** 2) * k, (A, 1)),
    (lambda x, k: np.sum(x[:k] ** 2) / k, (A, 2)),
    (lambda x, k: np.sum(x[:k] ** 2), (A, -1)),
    (lambda x, k: x[-k:].mean(), (A, 2)),
    (lambda x, k: x[::k].sum(), (A, 2)),
    (lambda x, k: [x, 2 * x, 3 * x][k], (1.5, 2)),
    (lambda x, k: (x, 2 * x, 3 * x)[k], (1.5, -3)),
    (lambda x, i, j: x[i, j] * 2, (B, 1, 2)),
    (lambda x, n: sum(x**k for k in range(n)), (1.5, 4)),
    (powers, (1.5, 4)),
    (powers, (1.5, 0)),
    (filled, (1.5, 4)),
    (lambda x, lag: np.sum((x[lag:] - x[:-lag]) ** 2), (A, 1)),
    (lambda x, n: np.sum(np.zeros(n) + x), (1.5, 4)),
    (lambda x, n: np.sum(np.arange(n) * x), (1.5, 4)),
    (lambda x, n: np.sum(np.linspace(0, x, n)), (1.5, 4)),
    (lambda x, n: np.sum(np.eye(n) @ x), (A, 3)),
    (lambda x, n: np.tile(x, n).sum(), (A, 2)),
    (lambda x, n: np.repeat(x, n)[1] ** 2, (A, 2)),
    (lambda x, n: np.roll(x, n)[0] ** 2, (A, 2)),
    (lambda x, n: np.convolve(x, np.ones(n) / n, mode="valid").sum(), (A, 2)),
    (lambda x, n: x.reshape(n, -1).sum(axis=0)[0] ** 2, (np.arange(6.0), 2)),
    (lambda x, n: x.sum() if n == 3 else x[n], (A, 2)),
    (lambda x, n: np.sum(np.diag(x, n) ** 2), (A, 1)),
    (lambda x, n: np.sum(np.sum(x, axis=n) ** 2), (B, 1)),
    (lambda x, n: np.sum(np.diff(x, n) ** 2), (A, 1)),
    (lambda x, e: sum((x[i] - x[j]) ** 2 for i, j in e), (A, [(0, 1), (1, 2)])),
    (lambda x, e: x[e].sum() ** 2, (A, [0, 1])),
    (lambda x, n, c: x[n] * c[0] + c[1], (A, 1, [1.0, 2.0])),
    (likelihood, (*CHAIN, [0, 1])),
    (likelihood, (*CHAIN, (1, 0, 1))),
    (likelihood, (*CHAIN, [0])),
]


@pytest.mark.sampled
@pytest.mark.parametrize("case", range(len(INTEGERS)))
def test_integers_of_the_call(case: int) -> None:
    function, args = INTEGERS[case]
    check(function, *args, value=1e-13, slope=1e-7, near=1e-8, step=1e-5)


def test_one_program_serves_all_integers() -> None:
    f = symgrad(lambda x, k: x[k] * k)
    assert [f(A, k) for k in (0, 1, 2, -1)] == [0.0, -2.0, 7.0, -3.5]
    assert len(f._source.captured) == 1
    with pytest.raises(IndexError):
        f(A, 3)
    with pytest.raises(TypeError, match="argument k is not an integer"):
        f(A, 1.0)


def test_sizes_are_not_negative() -> None:
    for f, args in (
        (lambda x: np.sum(np.zeros(len(x) - 5)) + x[0], (A,)),
        (lambda x, n: np.sum(np.zeros(n)) + x[0], (A, -1)),
        (lambda x, n: np.repeat(x, n).sum(), (A, -1)),
    ):
        with pytest.raises(ValueError, match=r"negative|less than 0"):
            f(*args)
        with pytest.raises(ValueError, match="the size of an axis is negative"):
            symgrad(f)(*args)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("function", "args", "hint"),
    [
        (lambda x, a: x[np.ceil(a * len(x)) :].mean(), (A, 0.5), "pass the integer"),
        (lambda x, a: [x, 2 * x, 3 * x][a / 3], (1.5, 0.5), 'static="a"'),
        (lambda x, a, b: x[: a / b], (A, 0.5, 2.0), 'static=("a", "b")'),
        (lambda x, p: x[: p["q"] / 3], (A, {"q": 0.5}), 'static="p"'),
        (lambda x, n: np.zeros(n / 3) + x, (A, 1.5), 'static="n"'),
    ],
)
def test_hints_name_what_can_be_changed(function: Any, args: Any, hint: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        symgrad(function)(*args)
    assert hint in caught.value.hint


@pytest.mark.slow
def test_the_hint_helps() -> None:
    def tail(x, k):
        return np.sort(x)[k:].mean()

    x = np.array([3.0, 1.0, 2.0, 5.0, 4.0])
    k = int(np.ceil(0.8 * len(x)))
    f = symgrad(tail)
    assert f(x, k) == tail(x, k) == 5.0 and f.grad(x, k).tolist() == [0, 0, 0, 1, 0]
    g = symgrad(lambda x, a: x[int(a * 4)] ** 2, static="a")
    assert g(x, 0.5) == 4.0 and g.grad(x, 0.75).tolist() == [0, 0, 0, 10, 0]


def test_integers_beside_real_numbers_in_one_container_have_no_gradient() -> None:
    f = symgrad(lambda p: p["x"][p["k"]] ** 2)
    assert f({"x": A, "k": 2}) == 12.25
    with pytest.raises(SymdiffError, match="containers with integers"):
        f.grad({"x": A, "k": 2})


# --------------------------------------------------------------------------- tables
def table(x: Any) -> Any:
    at = np.array([0.0, 1.0, 2.0])
    i = np.clip(np.searchsorted(at, x) - 1, 0, 1)
    return at[i] + (x - at[i]) ** 2


def rows(x: Any) -> Any:
    made = np.array([[0.0, 1.0], [x[0], 2.0], [1, 2.0], [3, 4]])
    i = np.searchsorted(np.array([0.5, 1.5, 2.5]), x)
    return np.sum(made[i, 1] * x + made[i].sum(axis=1))


def weighted(x: Any) -> Any:
    c = np.array([0.0, 0.5, 0.5, 1.0])
    total = 0.0
    for n in range(len(x)):
        total += c[n % 4] * x[n]
    return total


def gathered(x: Any) -> Any:
    c = np.array([1, 0, 2])
    total = 0.0
    for n in range(len(x)):
        total += x[c[n]] * (n + 1)
    return total


def stored(x: Any) -> Any:
    a = np.array([0.0, 1.0, x[0]])
    for i in range(len(x)):
        a[i] += x[i] ** 2
    return a.sum()


def peaked(x: Any) -> Any:
    a = np.array([0.0, 1.0, 2.0])
    i = np.argmax(x)
    a[i] = x[0] * x[1]
    a[i] += 2
    return np.sum(a * x)


@pytest.mark.sampled
@pytest.mark.parametrize("function", [rows, weighted, gathered, stored, peaked])
def test_small_arrays_are_indexed_by_what_is_computed(function: Any) -> None:
    check(function, A, value=1e-15, slope=1e-7, near=1e-8, step=1e-5)


@pytest.mark.slow
def test_tables_of_numbers_and_arrays() -> None:
    f = symgrad(table)
    x = np.array([1.0, -2.0, 3.5])
    np.testing.assert_array_equal(f(x), table(x))
    assert f(1.5) == table(1.5) and f.grad(1.5) == 1.0
    np.testing.assert_array_equal(f.jacobian(x), np.diag([2.0, -4.0, 5.0]))


def test_there_is_no_derivative_by_an_index() -> None:
    f = symgrad(lambda x, k: x[k] ** 2 * k)
    with pytest.raises(SymdiffError, match="'k' of <lambda> is an integer here"):
        f.diff("k")(np.array([1.0, 2.0, 3.0]), 1)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (lambda x, k: (x[k], k**k), [(A, 1), (A, 2), (A, np.int64(2))]),
        (lambda x, n: (np.ones(n).sum() * x, 6**n), [(1.5, 1), (1.5, 30)]),
        (lambda x, n: [x, 2 * x, n][n], [(1.5, 1), (1.5, 2), (1.5, 0)]),
        (lambda x, e: (x[e], e[0] ** e[1]), [(A, np.array([1, 2])), (A, np.array([2, 2]))]),
    ],
)
def test_integers_among_the_results_stay_integers(function: Any, calls: Any) -> None:
    f = symgrad(function)
    for args in calls:
        wanted = function(*args)
        for _ in range(3):
            got = f(*args)
            for a, b in zip(_tuple(got), _tuple(wanted), strict=True):
                np.testing.assert_array_equal(a, b)
                assert isinstance(a, (int, np.integer)) == isinstance(b, (int, np.integer))


def _tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def test_calls_with_indices_of_float_results_go_to_a_compiled_entry() -> None:
    f = symgrad(lambda x, k: x[k] ** 2 * k)
    for _ in range(3):
        assert f(A, 2) == 24.5
    assert f._served.entries({})


# --------------------------------------------------------------------------- composition
entry = symgrad(lambda x, k: x[k] ** 2)
series = symgrad(lambda x, n: sum(x**k for k in range(n)))


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("outer", "plain", "args"),
    [
        (lambda x, k: entry(x, k), lambda x, k: x[k] ** 2, (A, 2)),
        (lambda x, k: entry(x, k), lambda x, k: x[k] ** 2, (A, -1)),
        (lambda x, k: entry(x, k - 1) * k, lambda x, k: x[k - 1] ** 2 * k, (A, 2)),
        (lambda x, k: entry.grad(x, k).sum(), lambda x, k: 2 * x[k], (A, 1)),
        (lambda x, n: series.grad(x, n), lambda x, n: sum(k * x ** (k - 1) for k in range(n)), (2.0, 3)),
        (lambda x: sum(entry(x, i) for i in range(len(x))), lambda x: (x**2).sum(), (A,)),
        (lambda x: entry(x, np.argmax(x)), lambda x: x.max() ** 2, (A,)),
        (lambda x: entry(x, 1), lambda x: x[1] ** 2, (A,)),
    ],
)  # fmt: skip
def test_integers_are_passed_on(outer: Any, plain: Any, args: tuple[Any, ...]) -> None:
    f = symgrad(outer)
    for _ in range(2):
        assert math.isclose(f(*args), plain(*args), rel_tol=1e-14)
    np.testing.assert_allclose(f.grad(*args), slopes_by(plain, args, 0, 1e-5), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize(
    ("outer", "args"),
    [
        (lambda x: entry(x, x[0]), (A,)),
        (lambda x: entry(x, 1.0), (A,)),
        (lambda x: entry(x, x.max()), (A,)),
        (lambda x, k: entry(x, float(k)), (A, 1)),
        (lambda x, k: x[k] * entry(x, float(k)), (A, 1)),
        (lambda x, k: x[k] * entry(x, 1.0 * k), (A, 1)),
        (lambda x, k: entry(x, k == 1), (A, 1)),
    ],
)
def test_real_numbers_are_not_passed_on_as_integers(outer: Any, args: tuple[Any, ...]) -> None:
    with pytest.raises(UnsupportedError, match="is passed for the integer 'k'") as caught:
        symgrad(outer)(*args)
    assert "entry(x," in str(caught.value)


# --------------------------------------------------------------------------- products with vectors
@pytest.mark.sampled
@pytest.mark.parametrize("vector", [(B[1], 0), (B[1],), B[1]])
def test_integers_have_no_tangent(vector: Any) -> None:
    f = symgrad(lambda x, k: x[k] ** 2 * k)
    for _ in range(3):
        assert f.jvp((A, 2), vector) == (24.5, 2 * 3.5 * 5 * 2)
        assert f.hvp((A, 2), vector).tolist() == [0.0, 0.0, 20.0]


@pytest.mark.sampled
@pytest.mark.parametrize("vector", [(B[1], 2.0, 0), (B[1], 2.0)])
def test_tangents_beside_integers(vector: Any) -> None:
    f = symgrad(lambda x, a, k: a**2 * x[k] ** 2)
    for _ in range(3):
        assert f.jvp((A, 3.0, 1), vector) == (36.0, 9 * 2 * -2 * 4 + 2 * 3 * 4 * 2)
        by_x, by_a = f.hvp((A, 3.0, 1), vector)
        assert by_x.tolist() == [0.0, 18 * 4 + 2 * 3 * 2 * -2 * 2, 0.0]
        assert by_a == 2 * 3 * 2 * -2 * 4 + 2 * 4 * 2


def test_a_vector_of_two_entries_belongs_to_the_array() -> None:
    f = symgrad(lambda x, k: x[k] ** 2 * k)
    assert f.jvp((A[:2], 1), np.array([1.0, 5.0])) == (4.0, -20.0)


def test_tangents_of_integers_are_zero() -> None:
    f = symgrad(lambda x, k: x[k] ** 2 * k)
    for product in (f.jvp, f.hvp):
        with pytest.raises(SymdiffError, match="the vector by k is not 0"):
            product((A, 2), (A, 1.0))
        with pytest.raises(SymdiffError, match="takes a vector of 2 entries, not 3"):
            product((A, 2), (A, 0, 0))
    outer = symgrad(lambda x, k: f.jvp((x, k), (x, 0))[1])
    assert outer(A, 2) == 49.0


@pytest.mark.sampled
@pytest.mark.parametrize("i", [1, np.array([0, 2, 2])])
def test_indices_in_products_that_are_called_inside(i: Any) -> None:
    @symgrad
    def squares(x: Any, i: Any) -> Any:
        return x[i] ** 2

    @symgrad
    def pushed(x: Any, i: Any, t: Any) -> Any:
        return squares.jvp((x, i), (t, 0))[1]

    @symgrad
    def pulled(x: Any, i: Any, c: Any) -> Any:
        return squares.vjp((x, i), c)[1]

    t = np.array([1.0, -1.0, 0.5])
    assert np.array_equal(pushed(A, i, t), 2 * A[i] * t[i])
    wanted = np.zeros(3)
    np.add.at(wanted, i, 2 * A[i])
    assert np.array_equal(pulled(A, i, np.ones(np.shape(i)) if np.shape(i) else 1.0), wanted)
