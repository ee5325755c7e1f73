"""The law where the kind of a number decides: integer powers, integers of 32 bits, truth values,
texts of NumPy; and where functions have values outside of their domain."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special as sp

from symdiff import SymdiffError, symgrad

X = np.array([1.3, 2.2, -3.7])
K = np.array([-1, 2, 1])


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("f", "args"),
    [
        (lambda x, k: np.arange(1, 4) ** k + 0.5 * x, (X, -1)),
        (lambda x, k: np.power(x, k) + 0.5, (np.arange(1, 4), -1)),
        (lambda x, k: x**k + 0.5, (np.arange(1, 4), K)),
        (lambda x, k: np.arange(1, 4) ** K * x, (X, 1)),
        (lambda x, k: 2 ** (np.arange(len(x)) - k) * x, (X, 2)),
        (lambda x, k: np.sum(x > 0) ** -1 * x, (X, 1)),
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
        np.testing.assert_array_equal(symgrad(f)(X), f(X), strict=True)
    for g in (lambda x: x.astype(np.int32), lambda x: np.asarray(x, np.int32).sum()):
        with pytest.raises(SymdiffError, match=r"test_law_of_kinds.py:\d+.*32 bits"):
            symgrad(g)(X)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("f", "args"),
    [
        (lambda x: np.insert(x > 0, 1, 2.0), (X,)),
        (lambda x: np.insert(np.arange(3), 1, x[1]) * x[0], (X,)),
        (lambda x: np.insert(np.arange(3), [0, 2], [7.7, 5.2]) * x[0], (X,)),
        (lambda x: np.sin(max(0.4, x[0])), (X > 0,)),
        (lambda x, mode: x**2 if mode == "a" else x, (2.0, np.str_("a"))),
        (lambda x: statistics.median(x), ([1.0, 3.0, 2.0, 4.0],)),
        (lambda x: statistics.median_low(x) - statistics.median_high(x), ([1.0, 3.0, 2.5, 4.0],)),
        (lambda a, x: np.matvec(a, x), (np.ones((2, 3)), X)),
    ],
)
def test_kinds(f: Callable[..., Any], args: Any) -> None:
    found, want = symgrad(f)(*args), f(*args)
    np.testing.assert_allclose(found, want)
    assert np.asarray(found).dtype == np.asarray(want).dtype


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("f", "args", "said"),
    [
        (lambda a, x: np.matvec(a, x), (X, X), "matvec"),
        (lambda a, x: np.vecmat(x, a), (X, X), "vecmat"),
        (lambda a, x: np.vecdot(a, x), (X, 2.0), "vecdot"),
        (lambda x: -(x[0] > 0) * x, (X,), "truth value"),
        (lambda x: statistics.median(x), ([1.0, math.nan, 3.0],), "nan"),
        (lambda x: x + np.zeros(4), (X,), "size"),
        (lambda a, x: np.sum(a * x), (np.ones(4), X), "size"),
        (lambda a, x: a @ x, (np.ones((2, 4)), X), "size"),
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
