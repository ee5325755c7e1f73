"""Derivatives by a number whose guard goes through sums and products of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from symdiff import symgrad

X = np.array([1.0, 2.0, 3.0])


def power_mean(x: Any, p: Any) -> Any:
    if p == 0:
        return np.exp(np.mean(np.log(x)))
    return np.mean(x**p) ** (1 / p)


def entropy(x: Any, q: Any) -> Any:
    p = x / np.sum(x)
    return -np.sum(p * np.log(p)) if q == 1 else np.log(np.sum(p**q)) / (1 - q)


def compound(x: Any, k: Any) -> Any:
    if k == 0:
        return np.sum(x)
    p = 1.0
    for v in x:
        p *= 1 + k * v
    return (p - 1) / k


def in_band(x: Any, t: Any) -> Any:
    return np.mean(x) if abs(t) < 1e-8 else np.log(np.mean(np.exp(t * x))) / t


def by_element(x: Any, k: Any) -> Any:
    e = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        if k == 0:
            e[i] = x[i] * np.sum(x)
        else:
            e[i] = x[i] * (np.prod(1 + k * x) - 1) / k
    return np.sum(e)


GUARDS: dict[str, tuple[Callable[..., Any], float, Callable[[Any], Any]]] = {
    "power mean": (power_mean, 0.0, lambda p: (mpmath.fsum(v**p for v in X) / 3) ** (1 / p)),
    "entropy": (
        entropy, 1.0, lambda q: mpmath.log(mpmath.fsum((mpmath.mpf(v) / 6) ** q for v in X)) / (1 - q)
    ),
    "product": (compound, 0.0, lambda k: (mpmath.fprod(1 + k * v for v in X) - 1) / k),
    "band": (in_band, 0.0, lambda t: mpmath.log(mpmath.fsum(mpmath.exp(t * v) for v in X) / 3) / t),
    "beside": (
        in_band, 3e-9, lambda t: mpmath.log(mpmath.fsum(mpmath.exp(t * v) for v in X) / 3) / t
    ),
    "elements": (by_element, 0.0, lambda k: 6 * (mpmath.fprod(1 + k * v for v in X) - 1) / k),
}  # fmt: skip
"""Functions, where they are guarded, and what is beside that."""


def slope(f: Callable[[Any], Any], at: float) -> float:
    """The derivative where the formula may have no value."""
    with mpmath.workdps(80):
        h = mpmath.mpf(10) ** -25
        return float((f(at + h) - f(at - h)) / (2 * h))


@pytest.mark.slow
@pytest.mark.parametrize("which", GUARDS)
def test_slopes(which: str) -> None:
    f, at, smooth = GUARDS[which]
    found = symgrad(f).grad(X, at)
    assert found[1] == pytest.approx(slope(smooth, at), rel=1e-12)
    beside = symgrad(f, wrt="x").grad(X, at)
    assert found[0] == pytest.approx(beside, rel=1e-8)


@pytest.mark.slow
def test_other_calls() -> None:
    f = symgrad(compound)
    want = slope(GUARDS["product"][2], 0.0)
    for _ in range(2):
        value, (_, k) = f.value_and_grad(X, 0.0)
        assert (value, k) == (6.0, pytest.approx(want, rel=1e-13))
    assert symgrad(compound, accuracy="fast").grad(X, 0.0)[1] == pytest.approx(want, rel=1e-11)
    assert symgrad(compound, wrt="k").hessian(X, 0.0) == pytest.approx(12.0, rel=1e-11)  # 2*x*y*z
    single = f.grad(X.astype(np.float32), np.float32(0))
    assert single[0].dtype == np.float32
    assert single[1] == pytest.approx(want, rel=1e-6)


@pytest.mark.sampled
@pytest.mark.filterwarnings("ignore::symdiff.GuardWarning")
@pytest.mark.parametrize(("f", "by_t"), [
    (lambda x, t: 5.0 if t == 0 else np.log(np.mean(np.exp(t * x))) / t, 0.0),
    (lambda x, t: np.mean(x) if t == 0 else np.log(np.mean(np.exp(t * x))) / t + abs(t), 1 / 3),
    (lambda x, t: np.mean(x) if t == 0 else np.prod(1 + t * x) * np.mean(x) + np.sqrt(abs(t)), np.nan),
])  # fmt: skip
def test_other_points(f: Callable[..., Any], by_t: float) -> None:
    """At a jump the branch counts, at a kink the mean of both sides, which may be infinite."""
    np.testing.assert_allclose(symgrad(f).grad(X, 0.0)[1], by_t, rtol=1e-15)


def wave(x: Any) -> Any:
    s = np.sqrt(np.sum(x**2))
    return 1.0 if s == 0 else np.sin(s) / s + np.sum(x)


def saturated(x: Any) -> Any:
    s = np.linalg.norm(x)
    if s == 0:
        return 0.0
    return np.tanh(s) / s * (x[0] + 2 * x[1])


def by_first(x: Any) -> Any:
    if x[0] == 0:
        return np.sum(x[1:])
    return np.expm1(x[0]) / x[0] * np.sum(x[1:])


@pytest.mark.slow
def test_guards_of_norms_and_elements() -> None:
    """sin(s)/s is 1 - s**2/6 + ..., tanh(s)/s is 1 - ..., expm1(t)/t is 1 + t/2 + t**2/6 + ..."""
    assert symgrad(wave).grad(np.zeros(3)) == pytest.approx(np.ones(3), rel=1e-13)
    want = -np.eye(3) / 3
    assert symgrad(wave).hessian(np.zeros(3)) == pytest.approx(want, rel=1e-11, abs=1e-12)
    v = np.array([3.0, -6.0, 1.5])
    assert symgrad(wave).hvp(np.zeros(3), v) == pytest.approx(-v / 3, rel=1e-11)
    assert symgrad(saturated).grad(np.zeros(2)) == pytest.approx([1.0, 2.0], rel=1e-13)
    x = np.array([0.0, 2.0, 3.0])
    assert symgrad(by_first).grad(x) == pytest.approx([2.5, 1.0, 1.0], rel=1e-12)
    assert symgrad(by_first).hessian(x)[0] == pytest.approx([5 / 3, 0.5, 0.5], rel=1e-11)


@pytest.mark.sampled
@pytest.mark.filterwarnings("ignore::symdiff.GuardWarning")
@pytest.mark.parametrize(("f", "slope"), [
    (lambda x: 0.0 if np.linalg.norm(x) == 0 else np.linalg.norm(x) + np.sum(x), 1.0),
    (lambda x: 1.0 if np.linalg.norm(x) == 0 else x[0] / np.linalg.norm(x), 0.0),
    (lambda x: 3.0 if np.linalg.norm(x) == 0 else np.sum(x), 0.0),
])  # fmt: skip
def test_norms_at_kinks_and_jumps(f: Callable[..., Any], slope: float) -> None:
    assert symgrad(f).grad(np.zeros(2)).tolist() == [slope, slope]


@pytest.mark.slow
def test_products_at_guarded_numbers() -> None:
    """The second derivatives of ((1 + k)*(1 + 2*k)*(1 + 3*k) - 1)/k = 6 + 11*k + 6*k**2."""
    found = symgrad(compound, wrt="k").hvp((X, 0.0), 2.0)
    assert np.sum(found) == pytest.approx(24.0, rel=1e-11)


def huber(x: Any, k: Any) -> Any:
    if abs(k) < 1e-4:
        return np.sum(x**2) + np.sum(x) * k * k / 2
    return np.sum(x**2) + np.sum(x) * 1e-4 * (abs(k) - 0.5e-4)


def dead_zone(x: Any, k: Any) -> Any:
    if abs(k) < 1e-4:
        return np.sum(x**2)
    return np.sum(x**2) + np.sum(x) * (k - np.sign(k) * 1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(("f", "slope", "curvature"), [(huber, 3e-4, 6.0), (dead_zone, 0.0, 0.0)])
def test_narrow_pieces_are_no_guards(f: Any, slope: float, curvature: float) -> None:
    """Values beside them are close, but slopes or values have other limits on either side."""
    d = symgrad(f, wrt=("k",))
    assert d.grad(X, 5e-5) == pytest.approx(slope, rel=1e-14)
    assert d.hessian(X, 5e-5) == pytest.approx(curvature, rel=1e-14)
