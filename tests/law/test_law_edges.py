"""Edges of the law `symgrad(f)(*args)` is `f(*args)`: sizes that do not fit, divisors of 0, what is
joined of one array, defaults that are functions or sizes; where the kind of a number decides; and where
functions have values outside of their domain."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special as sp

from symdiff import SymdiffError, symgrad
from symdiff.runtime.scalar.elementwise import ArgumentError
from tests.law.alike import alike

ONES = np.ones(3)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("f", "good", "bad"),
    [
        (lambda x: x + np.ones(3), [(3,), (1,), (2, 3), ()], [(2,), (4,), (3, 2)]),
        (lambda x: x * ONES, [(3,), (1,)], [(4,)]),
        (lambda x: np.where(np.ones(3) > 0, x, 0.0), [(3,), (1,)], [(4,)]),
        (lambda x: x - np.array([2.0, 2.0]), [(2,), (3, 2), (3, 1)], [(4,)]),
        (lambda x: x + np.zeros(x.shape[0]), [(3,), (3, 3), (3, 1)], [(2, 3)]),
        (lambda x: np.maximum(x, np.full((2, 1), 0.5)), [(2,), (2, 3), (1, 3)], [(3, 2)]),
    ],
)
def test_constant_arrays_have_a_size(f: Callable[..., Any], good: Any, bad: Any) -> None:
    """Also those whose elements are all alike."""
    s = symgrad(f)
    for shape in good:
        x = np.arange(math.prod(shape) * 1.0).reshape(shape) if shape else 2.0
        np.testing.assert_array_equal(s(x), f(x), strict=True)
    for shape in bad:
        with pytest.raises(ValueError, match="size"):
            s(np.ones(shape))


X = np.array([1.0, 0.0, -1.0, 5.0, -7.0, 2.5])
Y = np.array([0.0, 0.0, -0.0, -3.0, 2.0, 0.5])


def remainders(x, y):
    first = np.mod(x, y), np.remainder(x, y), x % y, np.fmod(x, y), np.divmod(x, y)[1]
    return *first, np.mod(x, 0.0) + 0 * y, np.mod(x, 3) + np.fmod(y, -2)


def test_remainders_of_nothing() -> None:
    with np.errstate(all="ignore"):
        want = remainders(X, Y)
    np.testing.assert_array_equal(symgrad(remainders)(X, Y), want)


@pytest.mark.sampled
@pytest.mark.parametrize("f", [np.vstack, np.hstack, np.column_stack, np.stack, np.concatenate])
def test_one_array_is_joined_by_its_rows(f: Callable[..., Any]) -> None:
    s = symgrad(lambda x: f(x))
    for shape in ((2, 3), (2, 3, 2), (1, 3), (3, 1)):
        x = np.arange(math.prod(shape) * 1.0).reshape(shape)
        np.testing.assert_array_equal(s(x), f(x), strict=True)
    with pytest.raises(SymdiffError, match="no arrays are joined"):
        s(np.zeros((0, 3)))


def joined_is_a_copy(x):
    b = np.vstack(x)
    b[0] = 5.0
    return np.sum(x * x) + np.sum(b)


def test_what_is_joined_is_a_copy() -> None:
    x = np.arange(6.0).reshape(2, 3)
    assert symgrad(joined_is_a_copy)(x) == joined_is_a_copy(x)


def activated(x, act=np.tanh):
    return np.sum(act(x))


def spread(x, y, num=4, axis=0):
    return np.sum(np.linspace(x, y, num) ** 2, axis=axis)


@pytest.mark.slow
def test_defaults_that_are_functions_or_sizes() -> None:
    x, s = np.array([0.5, 1.0]), symgrad(activated)
    assert s(x) == pytest.approx(activated(x), rel=1e-15)
    assert s(x, np.sin) == pytest.approx(activated(x, np.sin), rel=1e-15)
    np.testing.assert_allclose(s.grad(x, act=np.sin), np.cos(x), rtol=1e-15)
    assert symgrad(spread)(1.0, 2.0) == pytest.approx(spread(1.0, 2.0), rel=1e-15)
    assert symgrad(spread)(1.0, 2.0, num=1) == 1.0


def test_what_decides_is_to_be_listed_but_texts_and_none() -> None:
    def f(x: Any, way: Any) -> Any:
        return x if way == "a" else x * x

    with pytest.raises(ArgumentError, match='static="way"'):
        symgrad(f)(2.0, math.sin)
    assert symgrad(f)(2.0, "a") == 2.0 and symgrad(f)(2.0, None) == 4.0
    assert symgrad(f, static="way")(2.0, "a") == 2.0


@pytest.mark.slow
def test_vectors_of_wide_matrices_point_as_the_library_says() -> None:
    f = lambda x: np.linalg.svd(x, full_matrices=False)
    for seed in range(4):
        a = np.random.default_rng(seed).normal(size=(2, 4))
        for got, want in zip(symgrad(f)(a), f(a), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-14)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "f",
    [
        lambda x: x * np.float32(0.1),
        lambda x: np.sum(np.asarray(x), dtype=np.float32),
        lambda x: np.float32(0.1) * np.float32(0.3) + x,
        lambda x: (x, [x * np.float16(0.5)]),
    ],
)
def test_results_of_less_precision_than_the_arguments_are_refused(f: Callable[..., Any]) -> None:
    s = symgrad(f)
    for _ in range(2):
        with pytest.raises(SymdiffError, match="float"):
            s(0.3)


@pytest.mark.sampled
@pytest.mark.parametrize("shape", [(0, 3), (2, 0), (2, 3)])
@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.array([r * 2 for r in x]),
        lambda x: np.array([[v * 2 for v in r] for r in x]),
        lambda x: np.array(list(x)),
        lambda x: np.array([np.sum(r) for r in x]),
        lambda x: sum([r * 2 for r in x]),
    ],
)
def test_arrays_of_no_rows(f: Callable[..., Any], shape: tuple[int, ...]) -> None:
    x, s = np.arange(math.prod(shape) * 1.0).reshape(shape), symgrad(f)
    s(np.ones((3, 3)))
    try:
        found = s(x)
    except SymdiffError as error:
        assert shape == (0, 3) and "without elements" in str(error)
    else:
        np.testing.assert_array_equal(found, f(x), strict=True)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "f",
    [
        lambda y: [np.hstack([math.isnan(y[0]), True])[1:1], y],
        lambda y: (np.array([1, 2])[:0] > 1, np.array([1, 2])[:0] * 1.0, y),
        lambda y: np.array([1, 2])[:0] * y.shape[0],
        lambda y: y[np.zeros(0, int)],
        lambda y: np.float64(np.argmax(y)),
        lambda y: [np.float64(y.shape[0]), np.float64(y > 0)],
        lambda y: y[np.ix_([1, 0])],
    ],
)
def test_kinds_of_nothing_and_of_casts(f: Callable[..., Any]) -> None:
    y = np.array([1.0, 3.0])
    alike(symgrad(f)(y), f(y), 0.0, types="kind")


def sorted_in_place(x):
    y = x * 2
    y.sort()
    z = x.T * 1
    z.sort(axis=0)
    return y, z


def test_arrays_are_sorted_in_place() -> None:
    x = np.array([[3.0, 1.0], [0.0, 4.0]])
    for got, want in zip(symgrad(sorted_in_place)(x), sorted_in_place(x), strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.cov(x),
        lambda x: np.corrcoef(x),
        lambda x: x[:1, :1].reshape(()),
        lambda x: np.tensordot(x, x),
        lambda x: math.remainder(x[0, 1], 0.7),
    ],
)
def test_results_of_no_axes(f: Callable[..., Any]) -> None:
    s = symgrad(f)
    for x in (X[:4].reshape(2, 2) + 0.25 * np.eye(2), X[:4].reshape(1, 4) + 0.25, X.reshape(2, 3)):
        got, want = s(x), f(x)
        assert np.shape(got) == np.shape(want)
        np.testing.assert_allclose(got, want, rtol=1e-14)


def running(x):
    s = np.zeros_like(x)
    s[0] = x[0]
    for i in range(1, len(x)):
        s[i] = s[i - 1] + x[i]
    return s


@pytest.mark.sampled
@pytest.mark.parametrize(
    "f", [running, lambda x: np.cumsum(x), lambda x: np.sum(x) + 0 * x[0], lambda x: (x + 1) - 1]
)
def test_sums_of_float32_that_pass_near_zero(f: Callable[..., Any]) -> None:
    """Each addition is rounded to 24 bits, which plain Python may do in another order."""
    rng = np.random.default_rng(3)
    for _ in range(4):
        x = rng.normal(size=12).astype(np.float32)
        x[-1] = -x[:-1].sum()
        np.testing.assert_allclose(symgrad(f)(x), f(x.astype(float)), rtol=0, atol=1e-5)


@pytest.mark.sampled
@pytest.mark.parametrize("distances", [True, False])
def test_values_of_guards_on_roots_of_sums_over_arrays(distances: bool) -> None:
    def f(p):
        if distances:
            d = np.sqrt(np.sum((p[:, None] - p[None]) ** 2, axis=-1))
            return np.sum(np.where(d == 0, 1.0, np.sin(d) / d))
        s = np.sum(p**2, axis=1)
        return np.sum(np.where(s == 0, 1.0, np.expm1(s) / s))

    p = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    with np.errstate(all="ignore"):
        want = f(p)
    assert symgrad(f)(p) == pytest.approx(want, rel=1e-14)


# --- where the kind of a number decides, and outside of domains
REALS = np.array([1.3, 2.2, -3.7])
K = np.array([-1, 2, 1])


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("f", "args"),
    [
        (lambda x, k: np.arange(1, 4) ** k + 0.5 * x, (REALS, -1)),
        (lambda x, k: np.power(x, k) + 0.5, (np.arange(1, 4), -1)),
        (lambda x, k: np.power(x, k) + 0.5, (3, -2)),
        (lambda x, k: np.sum(np.arange(1, 4) ** k * x), (REALS, -1)),
        (lambda x, k: x**k + 0.5, (np.arange(1, 4), K)),
        (lambda x, k: np.arange(1, 4) ** K * x, (REALS, 1)),
        (lambda x, k: 2 ** (np.arange(len(x)) - k) * x, (REALS, 2)),
        (lambda x, k: np.sum(x > 0) ** -1 * x, (REALS, 1)),
    ],
)
def test_negative_powers_of_integers(f: Callable[..., Any], args: Any) -> None:
    """NumPy refuses them; at every call, and only them."""
    s = symgrad(f)
    fine = (args[0], abs(args[1]) if np.ndim(args[1]) else 0)
    for given in (args, fine, args):
        try:
            want = f(*given)
        except ValueError:
            for _ in range(2):
                with pytest.raises((ValueError, SymdiffError), match="negative integer power"):
                    s(*given)
        else:
            np.testing.assert_allclose(s(*given), want, rtol=1e-15)


@pytest.mark.slow
def test_integers_of_32_bits() -> None:
    """They are indices and factors; what is returned would have 64."""
    for f in (
        lambda x: x[np.floor(np.abs(x) - 0.9).astype(np.int32) % 3] * 2.0,
        lambda x: np.zeros(3, "int32") + x,
        lambda x: x.astype("i4") * 1.0,
    ):
        np.testing.assert_array_equal(symgrad(f)(REALS), f(REALS), strict=True)
    for g in (lambda x: x.astype(np.int32), lambda x: np.asarray(x, np.int32).sum()):
        with pytest.raises(SymdiffError, match=r"test_law_edges.py:\d+.*32 bits"):
            symgrad(g)(REALS)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("f", "args"),
    [
        (lambda x: np.insert(x > 0, 1, 2.0), (REALS,)),
        (lambda x: np.insert(np.arange(3), 1, x[1]) * x[0], (REALS,)),
        (lambda x: np.insert(np.arange(3), [0, 2], [7.7, 5.2]) * x[0], (REALS,)),
        (lambda x: np.sin(max(0.4, x[0])), (REALS > 0,)),
        (lambda x, mode: x**2 if mode == "a" else x, (2.0, np.str_("a"))),
        (lambda x: statistics.median(x), ([1.0, 3.0, 2.0, 4.0],)),
        (lambda x: statistics.median_low(x) - statistics.median_high(x), ([1.0, 3.0, 2.5, 4.0],)),
        (lambda a, x: np.matvec(a, x), (np.ones((2, 3)), REALS)),
    ],
)
def test_kinds(f: Callable[..., Any], args: Any) -> None:
    alike(symgrad(f)(*args), f(*args), 1e-7, types="kind")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("f", "args", "said"),
    [
        (lambda a, x: np.matvec(a, x), (REALS, REALS), "matvec"),
        (lambda a, x: np.vecmat(x, a), (REALS, REALS), "vecmat"),
        (lambda a, x: np.vecdot(a, x), (REALS, 2.0), "vecdot"),
        (lambda x: -(x[0] > 0) * x, (REALS,), "truth value"),
        (lambda x: statistics.median(x), ([1.0, math.nan, 3.0],), "nan"),
        (lambda x: x + np.zeros(4), (REALS,), "size"),
        (lambda a, x: np.sum(a * x), (np.ones(4), REALS), "size"),
        (lambda a, x: a @ x, (np.ones((2, 4)), REALS), "size"),
    ],
)
def test_refused_at_the_line(f: Callable[..., Any], args: Any, said: str) -> None:
    with pytest.raises(SymdiffError, match=said) as found:
        symgrad(f)(*args)
    location = found.value.location
    assert location is not None and location.line == f.__code__.co_firstlineno


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("name", "points"),
    [
        ("entr", [(-1.0,), (0.0,), (0.5,)]),
        ("huber", [(-1.0, 2.0), (1.0, 2.0), (0.0, 1.0)]),
        ("pseudo_huber", [(-1.0, 2.0), (1.0, 2.0)]),
        ("kl_div", [(-1.0, -1.0), (-1.0, 2.0), (1.0, -2.0), (0.0, 2.0), (1.0, 0.0)]),
        ("rel_entr", [(-1.0, -1.0), (-1.0, 2.0), (1.0, -2.0), (0.0, 2.0), (1.0, 0.0)]),
        ("boxcox", [(-3.0, 2.0), (3.0, 2.0)]),
        ("inv_boxcox", [(-3.0, 1.0), (2.0, 3.0)]),
    ],
)
def test_outside_of_the_domain(name: str, points: list[Any]) -> None:
    f = getattr(sp, name)
    s = symgrad(_of_two(f) if len(points[0]) == 2 else _of_one(f))
    for p in points:
        np.testing.assert_allclose(s(*p), f(*p), rtol=1e-14, err_msg=str(p))


def _of_one(f: Any) -> Callable[..., Any]:
    return lambda x: f(x)


def _of_two(f: Any) -> Callable[..., Any]:
    return lambda x, y: f(x, y)


@pytest.mark.sampled
@pytest.mark.parametrize("f", [sp.j0, sp.k1, sp.exp1])
def test_nan_stays_nan(f: Any) -> None:
    """Of functions that only balls compute: their first argument came out, such as the order."""
    s = symgrad(_of_one(f))
    assert math.isnan(s(math.nan)) and math.isnan(s.grad(math.nan))
    np.testing.assert_allclose(s(np.array([math.nan, 0.5])), f(np.array([math.nan, 0.5])))


@pytest.mark.sampled
@pytest.mark.parametrize("t", [1.5, -1.5])
def test_places_that_a_rounded_number_decides(t: float) -> None:
    """Remainders of integers that a real number chose are exact in tests of errors, too."""
    x = np.array([1.0, 2.0, 3.0])
    found, by_t = symgrad(lambda x, t: np.roll(x, int(t))).jacobian(x, t)
    np.testing.assert_array_equal(found, np.roll(np.eye(3), int(t), axis=0))
    assert not by_t.any()
    if t > 0:
        found, _ = symgrad(lambda x, t: np.repeat(x, int(t))).jacobian(x, t)
        np.testing.assert_array_equal(found, np.repeat(np.eye(3), int(t), axis=0))


@pytest.mark.sampled
@pytest.mark.parametrize(
    "f",
    [
        lambda v: sp.rel_entr(v, -1.0),
        lambda v: sp.kl_div(-1.0, v),
        lambda v: sp.gdtr(-2.0, 1.0, v),
        lambda v: sp.pdtrc(v, 1.0),
    ],
)
@pytest.mark.parametrize("v", [math.nan, -0.5, 0.5])
def test_special_functions_outside_of_their_domain(f: Callable[..., Any], v: float) -> None:
    np.testing.assert_allclose(symgrad(f)(v), f(v), rtol=1e-12)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("f", "points"),
    [
        (lambda v: sp.erfi(v) + sp.spence(v * v), [-0.7, 0.3, 1.0]),
        (lambda v: sp.eval_legendre(5, v) * sp.eval_chebyu(2, v) + sp.eval_jacobi(3, 0.5, -0.25, v), [0.3, 1.4]),
        (lambda v: sp.eval_genlaguerre(4, 1.5, v) + sp.eval_hermite(3, v) * sp.eval_gegenbauer(1, 0.7, v), [0.3]),
        (lambda v: sp.jvp(1.5, v) * sp.kvp(0, v, 2), [0.3, 2.0]),
        (lambda v: sp.chdtr(3.0, v) + sp.fdtrc(3.0, 4.0, v) * sp.agm(v, 2.0), [0.3, 1.4]),
        (lambda v: sp.chdtr(3.0, v) + v * sp.chdtrc(3.0, v), [-1.3]),
        (lambda v: sp.powm1(v, 1e-8) * sp.sindg(40 * v) + sp.inv_boxcox1p(v, 0.5), [0.3, 1.4]),
    ],
)  # fmt: skip
def test_special_functions(f: Callable[..., Any], points: list[float]) -> None:
    s = symgrad(f)
    for v in points:
        np.testing.assert_allclose(s(v), f(v), rtol=1e-12)
        h = 1e-4
        slope = (8 * (f(v + h) - f(v - h)) - f(v + 2 * h) + f(v - 2 * h)) / (12 * h)
        np.testing.assert_allclose(s.grad(v), slope, rtol=1e-7, atol=1e-9)
