"""Programs with arrays where sizes, indices and elements are at the edge of what they may be; and results that have
another shape, structure or dtype for other sizes of the arguments.

The truth is the plain Python function.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special

import symdiff
from symdiff import Array, SymdiffError, UnsupportedError, symgrad
from symdiff.interpret import Answer, Certified
from symdiff.ir import ZERO, const, le, lt, raw, where
from symdiff.ir.integers import always, in_range
from symdiff.ir.loop_program import FLOORDIV, index
from symdiff.runtime.scalar import fallback
from tests.api.test_arrays import complex_gradient
from tests.law.alike import alike

SIZES = (1, 2, 3, 4, 5, 8, 9, 17)


# ------------------------------------------------------- sums of different lengths
def partial_sums(x):
    t = np.zeros(len(x), x.dtype)
    for i in range(len(x)):
        s = 0.0
        for j in range(i):
            s += x[j]
        t[i] = s
    return t


def partial_sums_of_slices(x):
    return np.array([np.sum(x[:i]) for i in range(len(x))])


def sums_from_here(x):
    t = np.zeros(len(x), x.dtype)
    for i in range(len(x)):
        for j in range(i, len(x)):
            t[i] += 3 * x[j]
    return t


def autocorrelation(x):
    n = len(x)
    t = np.zeros(n, x.dtype)
    for k in range(n):
        for j in range(n - k):
            t[k] += x[j] * x[j + k]
    return t


def below_both(x):
    n = len(x)
    t = np.zeros((n, n), x.dtype)
    for i in range(n):
        for j in range(n):
            for k in range(min(i, j)):
                t[i, j] += x[k] * x[i]
    return t


TRIANGLES = [partial_sums, partial_sums_of_slices, sums_from_here, autocorrelation, below_both]


@pytest.mark.sampled
@pytest.mark.parametrize("fun", TRIANGLES, ids=lambda f: f.__name__)
def test_sums_of_different_lengths(fun) -> None:
    f = symgrad(fun)
    scalar = symgrad(lambda x: np.sum(fun(x) ** 2))
    for n in SIZES:
        x = np.arange(1.0, n + 1)
        np.testing.assert_allclose(f(x), fun(x), rtol=1e-14)
        want = complex_gradient(lambda x: np.sum(fun(x) ** 2), (x,), 0)
        np.testing.assert_allclose(scalar.grad(x), want, rtol=1e-12)


# ---------------------------------------------------------------------- indices
def every_eighth(x: Array[9]):
    s = 0.0
    for i in range(100):
        s += x[8 - i // 8] * x[0]
    return s


def going_round(x: Array[4]):
    s = 0.0
    for i in range(17):
        s += x[3 - i % 8]
    return s


def one_apart(x: Array[4]):
    s = 0.0
    for i in range(17):
        s += x[-1 if i == 5 else i % 4]
    return s


def twice_each(x):
    n, s = len(x), 0.0
    for i in range(3 * n):
        s += x[n - 1 - i // 2] * x[i % n]
    return s


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("fun", "n"), [(every_eighth, 9), (going_round, 4), (one_apart, 4), (twice_each, 7)]
)
def test_indices_that_are_not_linear(fun, n) -> None:
    x = np.arange(1.0, n + 1)
    f = symgrad(fun)
    assert f(x) == fun(x)
    np.testing.assert_allclose(f.grad(x), complex_gradient(fun, (x,), 0), rtol=1e-13)


def test_an_index_that_leaves_the_array_is_refused() -> None:
    def f(x: Array[4]):
        s = 0.0
        for i in range(17):
            s += x[3 - i * (i - 1) * (i - 2)]
        return s

    with pytest.raises(IndexError):
        symgrad(f)(np.ones(4))


def test_ranges_of_what_is_not_linear() -> None:
    i, ranges = index("i"), {index("i"): const(100)}
    assert in_range(8 + i, const(108), ranges, ())
    eighth = raw(FLOORDIV, (i, const(8)))
    assert not in_range(8 - eighth, const(9), ranges, ())
    assert not in_range(-(i * (i - 1) * (i - 2)), const(1), ranges, ())


def test_what_always_holds_of_a_size() -> None:
    n = index("n")
    assert always(le(where(lt(n, 1), n, 1), 1))
    assert not always(le(where(lt(n, 200), n, 1), 100))
    assert not always(le(n, 50))
    assert always(le(ZERO, n))
    assert not always(lt(n * n, 1000))  # not known


# ----------------------------------------------------- axes of at most one element
@pytest.mark.sampled
@pytest.mark.parametrize("first", [3, 1, 0])
@pytest.mark.parametrize(
    "fun",
    [
        lambda x: x[-1:] * x, lambda x: x[:1] * x, lambda x: x[1:2] + x, lambda x: x[-2:-1] * x,
        lambda x: np.outer(x, x)[:, -1:] * x, lambda x: np.sum(x[:1] * x[-1:]),
    ],
)  # fmt: skip
def test_short_slices_are_repeated_for_every_size(fun, first) -> None:
    f = symgrad(fun)
    for n in (first, 3, 1, 2, 0, 5, 8):
        x = np.arange(1.0, n + 1)
        np.testing.assert_array_equal(f(x), fun(x), strict=True)


def test_stores_of_short_slices() -> None:
    def f(x):
        x = x.copy()
        x[:] = x[-1:] * 2
        return x

    g = symgrad(f)
    for n in (3, 1, 0, 5):
        np.testing.assert_array_equal(g(np.arange(1.0, n + 1)), f(np.arange(1.0, n + 1)))


def test_sizes_that_meet_by_chance() -> None:
    def f(x, y):
        return x[2:] * y

    g = symgrad(f)
    for m, n in ((3, 5), (5, 3), (3, 1), (6, 1), (6, 4), (3, 5)):
        x, y = np.arange(1.0, m + 1), np.arange(1.0, n + 1)
        np.testing.assert_array_equal(g(x, y), f(x, y))
    with pytest.raises(ValueError, match="size"):
        g(np.ones(5), np.ones(4))


# ------------------------------------------------------------- special arguments
def mean_times(x, s):
    return np.mean(x) * s * s


@pytest.mark.sampled
@pytest.mark.parametrize("s", [1e200, 1e-200, np.inf, 1.0])
@pytest.mark.parametrize("x", [[1.0, 2.0, 3.0], [], [np.inf, 1.0], [5e-324, 1.0]])
def test_kernels_that_are_made_again(x, s) -> None:
    f = symgrad(mean_times)
    with np.errstate(all="ignore"):
        want = mean_times(np.array(x), s) if x else np.nan
    np.testing.assert_allclose(f(np.array(x), s), want)
    slopes, slope = f.grad(np.array(x), s)
    assert slopes.shape == (len(x),) and np.ndim(slope) == 0


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


@pytest.mark.slow
def test_infinite_elements() -> None:
    np.testing.assert_array_equal(symgrad(softmax)(np.array([np.inf, 1.0])), [np.nan, np.nan])
    np.testing.assert_array_equal(symgrad(softmax)(np.array([-np.inf, 1.0])), [0.0, 1.0])
    assert np.isnan(symgrad(lambda x: np.sum(x * np.cos(x)))(np.array([np.inf, 1.0])))
    symgrad(lambda x: np.sum(x**2) - np.sum(x) ** 2).value_and_grad(np.array([1e308, 1.0]))


def test_logarithm_of_softmax_of_large_elements() -> None:
    f = symgrad(lambda x: scipy.special.log_softmax(x))
    for size in (1.0, 1e15, 1e200):
        np.testing.assert_allclose(f(np.full(5, size)), np.full(5, -np.log(5)), rtol=1e-14)


def with_nan() -> list[list[float]]:
    nan, inf = np.nan, np.inf
    return [[nan, 1, 2], [1, nan, 0.5], [3, 1, nan], [inf, 1, 2], [1, -inf, 2], [nan, nan, nan]]


@pytest.mark.sampled
@pytest.mark.parametrize(
    "fun",
    [
        lambda x: np.median(x), lambda x: np.quantile(x, 0.3), lambda x: np.argmin(x),
        lambda x: x[np.argmax(x)], lambda x: np.searchsorted(np.array([0.0, 1.0, 2.0]), x),
        lambda x: np.where(np.isnan(x), 7.0, x), lambda x: np.where(np.isinf(x), 7.0, x),
        lambda x: np.where(np.isfinite(x), x, 3.0), lambda x: np.sum(np.isnan(x)), np.nansum,
        lambda x: np.interp(x, np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 2.0])),
        lambda x: np.sort(x), lambda x: np.max(x), lambda x: np.clip(x, 0, 1),
    ],
)  # fmt: skip
def test_what_is_not_a_number(fun) -> None:
    f = symgrad(lambda x: fun(x))
    for values in with_nan():
        x = np.array(values, float)
        np.testing.assert_array_equal(np.asarray(f(x.copy()), float), fun(x))


def test_extremes_of_infinite_elements_that_a_mask_selects() -> None:
    f = symgrad(lambda x: x[x < 100].max())
    assert f(np.array([-np.inf, 200.0])) == -np.inf
    with pytest.raises(ValueError, match="maximum"):
        f(np.array([200.0]))


def test_the_default_of_an_extreme_of_what_a_condition_selects() -> None:
    def nearest(x: Any) -> Any:
        least = min((a for a in x if a > 0), default=None)
        return max([a**2 for a in x if a > 0], default=7.0) + (0.5 if least is None else least)

    f = symgrad(nearest)
    for x in ([1.0, 2.0], [-1.0, 3.0], [0.0, -1.0]):
        assert f(x) == nearest(x)
    assert f.grad([-1.0, 3.0]) == [0.0, 7.0]
    assert f.grad([0.0, -1.0]) == [0.0, 0.0]


@pytest.mark.slow
def test_weights_along_an_axis() -> None:
    x = np.arange(9.0).reshape(3, 3) ** 2 + 1

    def along(x: Any, w: Any) -> Any:
        return np.average(x, axis=0, weights=w) + np.average(x, axis=1, weights=x * x)

    np.testing.assert_allclose(symgrad(along)(x, x[0]), along(x, x[0]), rtol=1e-14)


def test_elements_that_are_not_proven_are_as_the_kernel_computed_them(monkeypatch) -> None:
    """Not as a later tier left them, which may be anything."""

    def f(x):
        return np.tan(x) * np.exp(-x) + x

    x = np.linspace(0.5, 1.5, 20)
    monkeypatch.setattr(fallback, "compiled_elements", lambda *_: None)
    monkeypatch.setattr(Certified, "at_with_status", lambda *_: (Answer(math.nan, "budget"),))
    with pytest.warns(fallback.AccuracyWarning, match="20 elements"):
        found = symgrad(f, accuracy="certified")(x)
    np.testing.assert_allclose(found, f(x), rtol=1e-14)


# ----------------------------------------------------------------- stores that add
def added(s, y):
    t = s.copy()
    np.add.at(t, np.array([0, 1, 1]), y)
    np.subtract.at(t, [0, 1, 0], y)
    return t * np.sum(s)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("s", "y"), [((4,), (3,)), ((4,), (1,)), ((4, 2), (3, 2)), ((4, 2), (2,)), ((4, 2), (3, 1))]
)
def test_values_that_are_added_at_places(s, y) -> None:
    s, y = np.arange(1.0, np.prod(s) + 1).reshape(s), np.arange(2.0, np.prod(y) + 2).reshape(y)
    np.testing.assert_allclose(symgrad(added)(s, y), added(s, y), rtol=1e-15)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("s", "y"), [((4,), (2,)), ((4,), (4,)), ((4, 2), (2, 2)), ((4,), (2, 3)), ((1,), (3,))]
)
def test_wrong_shapes_are_not_added(s, y) -> None:
    with pytest.raises((ValueError, IndexError)):
        added(np.ones(s), np.ones(y))
    with pytest.raises((ValueError, IndexError, symdiff.SymdiffError)):
        symgrad(added)(np.ones(s), np.ones(y))


def test_values_that_are_added_where_a_mask_holds() -> None:
    def f(s, y):
        t = s.copy()
        np.add.at(t, s > 1, y)
        return t * s

    s = np.array([0.5, 2.0, 3.0, 0.1])
    y = np.array([5.0, 7.0])
    np.testing.assert_array_equal(symgrad(f)(s, y), f(s, y))
    with pytest.raises(ValueError, match="size"):
        symgrad(f)(s, np.ones(3))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("accuracy", ["high", "fast", "strict"])
def test_products_of_masks_with_what_is_undefined_have_no_value(accuracy) -> None:
    cases = (
        lambda x: (x > 0) * np.sqrt(x),
        lambda x: (x != 0) * (1 / x),
        lambda x: (x > 0) * np.log(x - 1.0),
        lambda x: (x > 0) * np.exp(-x),
    )
    for f in cases:
        s = symgrad(f, accuracy=accuracy)
        total = symgrad(lambda x, f=f: np.sum(f(x)), accuracy=accuracy)
        for x in (-1.0, 0.0, 0.5, 2.0):
            with np.errstate(all="ignore"):
                want = f(np.float64(x))
            np.testing.assert_allclose(s(x), want, rtol=1e-14)
            np.testing.assert_allclose(total(np.array([x, 3.0])), want + f(3.0), rtol=1e-14)


# --- results whose shape, structure or dtype the sizes decide
def array_or_number(x):
    if len(x) < 3:
        return x
    return np.sum(x)


def another_rank(x):
    if x.size > 3:
        return x[:, None] * 1.0
    return x


def another_dtype(x):
    if len(x) < 3:
        return np.arange(len(x))
    return x * 2


def nothing_to_compare(x):
    if len(x) < 2:
        return 0.0
    return np.diff(x)


def none_or_an_element(x):
    third = None if len(x) < 3 else x[2]
    return x[0] if third is None else x[0] * third


def longer_list(x):
    found = []
    if len(x) > 2:
        found.append(x[2])
    found.append(x[0])
    return found


def dicts(x):
    if len(x) > 2:
        return {"sum": np.sum(x)}
    return {"all": x, "n": 1.0}


@symgrad
def inner(x):
    if len(x) < 3:
        return x
    return np.sum(x)


def composed(x):
    return inner(x * 2) + 1


@pytest.mark.sampled
@pytest.mark.parametrize(
    "f",
    [
        array_or_number, another_rank, another_dtype, lambda x: np.arange(len(x)) if x.size < 3 else x**2,
        nothing_to_compare, none_or_an_element, longer_list, dicts, composed, lambda x: inner(x[1:]) * 2,
    ],
)  # fmt: skip
def test_each_size_is_what_it_is_in_python(f: Callable[..., Any]) -> None:
    g = symgrad(f)
    for size in (2, 4, 2, 1):
        x = np.arange(1.0, size + 1)
        alike(g(x), f(x), 0.0)


@pytest.mark.slow
def test_derivatives() -> None:
    f = symgrad(array_or_number)
    assert f.grad(np.array([1.0, 2.0, 4.0])).tolist() == [1, 1, 1]
    assert f.grad(np.array([1.0, 2.0])).tolist() == [1, 1]  # elementwise
    assert symgrad(composed).grad(np.array([1.0, 2.0, 4.0])).tolist() == [2, 2, 2]
    assert symgrad(none_or_an_element).grad(np.array([2.0, 0.0, 3.0])).tolist() == [3, 0, 2]


def test_pairs_of_sizes() -> None:
    def product(x, w):
        if x.shape[0] == w.shape[0]:
            return x @ w
        return x[:1] * w[0]

    f = symgrad(product)
    two, three = np.array([1.0, 2.0]), np.array([1.0, 2.0, 3.0])
    assert f(two, two) == 5.0 and f(three, three) == 14.0
    alike(f(two, three), np.array([1.0]), 0.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.linalg.det(x) if x.shape[0] == x.shape[1] else 0.0,
        lambda x: np.linalg.inv(x) if x.shape[0] == x.shape[1] else x.T,
        lambda x: np.linalg.solve(x, x[0]) if x.shape[0] == x.shape[1] else x[0],
    ],
)
def test_linear_algebra_of_matrices_that_are_square(f: Callable[..., Any]) -> None:
    g = symgrad(f)
    for x in (np.ones((2, 3)), np.ones((3, 2)), np.eye(3) * 2):
        np.testing.assert_allclose(g(x), f(x), rtol=1e-14)


def test_what_is_refused_stays_refused_at_its_line() -> None:
    def f(x):
        if len(x) < 3:
            return x.tobytes()
        return x

    with pytest.raises(UnsupportedError, match="tobytes"):
        symgrad(f)(np.ones(2))
    assert symgrad(f)(np.ones(4)).tolist() == [1, 1, 1, 1]

    def by_value(x):
        if x[0] > 0:
            return x
        return np.sum(x)

    with pytest.raises(SymdiffError, match="depending on whether"):
        symgrad(by_value)(np.ones(2))


def soft(p, m):
    """The size of the result hangs on a decision on real numbers."""
    r = np.linalg.norm(p)
    if r < 1e-9:
        return np.zeros(2)
    return m * np.tanh(r / m) * p / r


def shortened(p):
    if np.sum(np.exp(p)) < 1.0:
        return p[:1]
    return p * np.sum(p)


@pytest.mark.sampled
@pytest.mark.parametrize("accuracy", ["high", "strict", "fast"])
@pytest.mark.parametrize(
    ("f", "args"),
    [
        (soft, (np.array([0.3, 0.4]), 2.0)),
        (soft, (np.array([1e-12, 0.0]), 2.0)),
        (shortened, (np.array([0.3, 0.4]),)),
        (shortened, (np.array([-3.0, -4.0]),)),
    ],
)
def test_sizes_that_hang_on_real_numbers(f, args, accuracy):
    found, want = symgrad(f, accuracy=accuracy)(*args), f(*args)
    assert found.shape == want.shape
    np.testing.assert_allclose(found, want, rtol=1e-14)
