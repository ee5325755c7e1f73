"""Derivatives at kinks: where both sides have one derivative, that is it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from symdiff import symgrad


def smooth_min(a: float, b: float, k: float = 0.1) -> float:
    h = max(k - abs(a - b), 0.0) / k
    return min(a, b) - h * h * h * k / 6.0


def smooth_min2(a: float, b: float, k: float = 0.1) -> float:
    h = max(k - abs(a - b), 0.0)
    return min(a, b) - h * h * 0.25 / k


@pytest.mark.parametrize(("f", "curvature"), [(smooth_min, 10.0), (smooth_min2, 5.0)])
def test_polynomial_smooth_minimum(f: Callable[..., float], curvature: float) -> None:
    s = symgrad(f, wrt=("a", "b"))
    want = pytest.approx(-curvature, rel=1e-14), pytest.approx(curvature, rel=1e-14)
    assert s.grad(0.3, 0.3) == (0.5, 0.5)
    assert s.hessian(0.3, 0.3) == (want, want[::-1])
    assert s.diff("a", "a")(0.3, 0.3) == want[0]
    assert s.grad.jvp((0.3, 0.3), (1.0, 0.0))[1] == want
    assert s.hvp((0.3, 0.3), (1.0, 0.0)) == want
