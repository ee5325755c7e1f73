"""Numbers of which no derivative is taken count with their corrections."""

from __future__ import annotations

import math

import pytest

from symdiff import stop_gradient, symgrad


def root(p: float) -> float:
    """By secants, and a step of Newton's method from where they end."""
    a, b = 2.0, 2.0003
    u, v = a**3 - p * a - 1, b**3 - p * b - 1
    gap, count = math.inf, 0
    while gap > 1.48e-8 and count < 50:
        c = (a * (-v / u) + b) / (1 - v / u)
        gap = abs(c - b)
        a, u = b, v
        b = c
        v = b**3 - p * b - 1
        count = count + 1
    b = stop_gradient(b)
    return b - (b**3 - p * b - 1) / (3 * b * b - p)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("accuracy", ["fast", "high", "strict"])
def test_a_step_from_a_detached_root(accuracy: str) -> None:
    f = symgrad(root, accuracy=accuracy)
    assert f(1.3) == pytest.approx(root(1.3), rel=1e-15)
    assert f.grad(1.3) == pytest.approx(0.300193029032456, rel=1e-13)
