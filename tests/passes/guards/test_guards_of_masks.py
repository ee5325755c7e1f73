"""Guards written as sums of masks, as rounded numbers, and as conditions on sizes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from symdiff import GuardWarning, symgrad

Function = Callable[[Any], Any]


def blended(x: Any) -> Any:
    far = np.abs(x) > 1e-8
    safe = x * far + (1 - far)
    return far * np.expm1(safe) / safe + (1 - far) * 1.0


def blended_by_floats(x: Any) -> Any:
    near = 1.0 if abs(x) < 1e-8 else 0.0
    safe = near + (1 - near) * x
    return (1 - near) * (math.sin(safe) / safe) + near


def blended_by_where(x: Any) -> Any:
    near = np.abs(x) < 1e-8
    safe = np.where(near, 1.0, x)
    return (1 - near) * np.expm1(safe) / safe + near


def blended_arguments(x: Any) -> Any:
    far = abs(x) > 1e-8
    return math.expm1(x * far) / (x * far + (1 - far)) + (1 - far)


SINC = lambda x: (abs(x) < 1e-7) * 1.0 + (abs(x) >= 1e-7) * math.sin(x) / (x if x else 1.0)
EXPM1 = lambda x: mpmath.expm1(x) / x
GUARDS: dict[str, tuple[Function, float, Function]] = {
    "sinc": (SINC, 0.0, mpmath.sinc),
    "shifted": (lambda x: (x == 0) * 1.0 + (x != 0) * math.expm1(x) / (x + (x == 0)), 0.0, EXPM1),
    "in a product": (lambda x: math.exp(x) * SINC(x), 0.0, lambda x: mpmath.exp(x) * mpmath.sinc(x)),
    "by branches": (
        lambda x: (1.0 if abs(x) < 1e-9 else 0.0) + (math.tanh(x) / x if abs(x) >= 1e-9 else 0.0),
        0.0, lambda x: mpmath.tanh(x) / x,
    ),
    "first term": (lambda x: x * (abs(x) < 1e-7) + (abs(x) >= 1e-7) * math.sin(x), 0.0, mpmath.sin),
    "blended": (blended, 0.0, EXPM1),
    "blended by floats": (blended_by_floats, 0.0, mpmath.sinc),
    "blended by where": (blended_by_where, 0.0, EXPM1),
    "blended arguments": (blended_arguments, 0.0, EXPM1),
    "rounded": (lambda x: 1.0 if round(x, 9) == 0 else math.expm1(x) / x, 0.0, EXPM1),
    "rounded square": (
        lambda x: 0.5 if round(x * x, 9) == 0 else (1 - math.cos(x)) / x**2, 0.0, lambda x: (1 - mpmath.cos(x)) / x**2,
    ),
    "rounded beside": (
        lambda x: 1.0 if round(x - 2, 9) == 0 else math.log(x - 1) / (x - 2), 2.0, lambda x: mpmath.log1p(x - 2) / (x - 2),
    ),
}  # fmt: skip
"""Functions, where they are guarded, and what is beside that."""


@pytest.mark.sampled
@pytest.mark.filterwarnings("error::symdiff.GuardWarning")
@pytest.mark.parametrize("name", GUARDS)
def test_masks_and_rounded_numbers(name: str) -> None:
    f, at, smooth = GUARDS[name]
    with mpmath.workdps(200):
        h = mpmath.mpf(10) ** -20
        up, down = smooth(at + h), smooth(at - h)
        slope, value = float((up - down) / (2 * h)), float((up + down) / 2)
        far, near = smooth(at + 2 * h) + smooth(at - 2 * h), up + down
        curvature = float((far - near) / (3 * h * h))
    d = symgrad(f)
    assert d(at) == pytest.approx(value, rel=1e-15)
    assert d.grad(at) == pytest.approx(slope, rel=1e-14, abs=1e-15)
    assert d.hessian(at) == pytest.approx(curvature, rel=1e-14, abs=1e-15)


@pytest.mark.sampled
@pytest.mark.parametrize(("f", "slope"), [
    (lambda x: (abs(x) < 1e-3) * 1.0, 0.0),  # a box
    (lambda x: 3.0 * (x > 0) + x, 1.0),  # a step
    (lambda x: round(x) * 1.0 if round(x) == 0 else x, 0.0),
])  # fmt: skip
def test_what_is_no_guard(f: Callable[[Any], Any], slope: float) -> None:
    d = symgrad(f)
    assert (d(0.0), d.grad(0.0)) == (f(0.0), slope)


def test_a_wrong_mask_is_named() -> None:
    def wrong(x):
        return (abs(x) < 1e-9) * 2.0 + (abs(x) >= 1e-9) * math.sin(x) / (x if x else 1.0)

    with pytest.warns(GuardWarning, match="not the limit"):
        assert symgrad(wrong).grad(0.0) == 0.0


@pytest.mark.slow
def test_a_direction_times_what_vanishes() -> None:
    """x/|x|*sin(|x|) is x*(1 - x**2/6 + ...)."""

    def turned(x):
        s = np.linalg.norm(x)
        u = x / s if s > 0 else x
        return u * np.sin(s)

    np.testing.assert_allclose(symgrad(turned).jacobian(np.zeros(2)), np.eye(2), atol=1e-11)


def test_a_blend_whose_value_is_not_the_limit_is_named_once() -> None:
    @symgrad
    def wrong(x: Any) -> Any:
        near = np.abs(x) < 1e-8
        safe = np.where(near, 1.0, x)
        return (1 - near) * np.expm1(safe) / safe + 2 * near

    with pytest.warns(GuardWarning) as named:
        assert wrong(0.0) == 2.0
        assert wrong.grad(0.0) == 0.0
    assert len({str(w.message) for w in named}) <= 2


@pytest.mark.filterwarnings("error")
def test_windows_are_no_guards() -> None:
    f = symgrad(lambda x: (np.abs(x) > 1.0) * x**2 + (1 - (np.abs(x) > 1.0)) * np.abs(x) ** 3)
    assert f.grad(0.5) == 0.75
    assert f.grad(2.0) == 4.0
    assert f.grad(1.0) == 3.0


def yeo_johnson(x, lam):
    out = np.zeros_like(x)
    positive = x >= 0
    if abs(lam) < 1e-12:
        out[positive] = np.log1p(x[positive])
    else:
        out[positive] = ((x[positive] + 1) ** lam - 1) / lam
    if abs(lam - 2) > 1e-12:
        out[~positive] = -((1 - x[~positive]) ** (2 - lam) - 1) / (2 - lam)
    else:
        out[~positive] = -np.log1p(-x[~positive])
    return out


def two_masks(x, lam):
    out = x.copy()
    large, small = x > 1, x < -1
    if lam == 0:
        out[large] = np.log(x[large])
        out[small] = x[small]
    else:
        out[large] = (x[large] ** lam - 1) / lam
        out[small] = np.expm1(lam * x[small]) / lam
    return out


@pytest.mark.slow
@pytest.mark.parametrize(("f", "lam"), [(yeo_johnson, 2.0), (yeo_johnson, 0.0), (two_masks, 0.0)])
@pytest.mark.filterwarnings("error::symdiff.GuardWarning")
def test_what_either_side_of_a_guard_stores_by_masks(f, lam):
    x, h = np.array([1.5, -2.0, 0.5, -0.3]), 1e-4
    slopes = symgrad(f).jacobian(x, lam)[1]
    assert slopes == pytest.approx((f(x, lam + h) - f(x, lam - h)) / (2 * h), rel=1e-6)
