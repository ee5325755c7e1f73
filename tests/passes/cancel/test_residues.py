"""Residues of rounded literals: what is subtracted from numerators, and what is not."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.ir import ZERO, Expr, abs_, const, lt, var, where
from symdiff.ir.functions import MAXIMUM
from symdiff.passes.cancel.literals import exact_literals

V, X, TAU, K = map(var, ("v", "x", "tau", "k"))
PIECES = {
    "branch": where(lt(K, 2), ZERO, V),
    "other branch": where(lt(K, 2), V, ZERO),
    "maximum": MAXIMUM(V - 50, ZERO),
    "absolute": abs_(V + 90) - (V + 90),
}


@pytest.mark.parametrize("piece", PIECES)
def test_a_piecewise_numerator_has_no_residue(piece: str) -> None:
    """It is 0 at all points that are looked at, and not everywhere."""
    numerator = PIECES[piece]
    formula: Expr = numerator + const(0.3) * (X - numerator / TAU)
    assert exact_literals((formula,)) == ((formula,), [], {})


def test_a_rounded_zero_counts() -> None:
    x = var("x")
    _, repairs, _ = exact_literals(((x**2 - const(0.09)) / (x - const(0.3)),))
    assert len(repairs) == 1


def refractory(x, tau):
    v, s, last = 0.0, 0.0, -10
    for k in range(len(x)):
        if k - last < 2:
            v = 0.0
            continue
        v = v + 0.3 * (x[k] - v / tau)
        s += v
        if x[k] >= 1.0:
            last = k
    return s


def thermostat(x, tau):
    heat, t, s = 0.0, 0.0, 0.0
    for k in range(len(x)):
        if k % 3 < 1:
            heat = 0.0
        elif x[k] < 1:
            heat = x[k]
        t = t + 0.7 * (heat - t / tau)
        if k % 4 < 1:
            t = 0.0
        s += t * t
    return s


def hysteresis(x, tau):
    on, y, s = 0, 0.0, 0.0
    for k in range(len(x)):
        on = 1 if x[k] > 1.5 else (0 if x[k] < 0.5 else on)
        if on - k < -3:
            y = 0.0
        y += 0.1 * (x[k] - y / tau)
        s += y * x[k]
    return s


def debounced(x, tau):
    held, y, s = 0, 0.0, 0.0
    for k in range(len(x)):
        held = held + 1 if x[k] > 0.9 else 0
        y = y - 2.7 * y / tau + x[k] if held < 2 else 0.0
        s += y
    return s


def bouncing(x, tau):
    h, v, s = 1.0, 0.0, 0.0
    for k in range(len(x)):
        v = v - 0.1 * (9.81 + v / tau)
        h = h + 0.1 * v + 0.01 * x[k]
        if h < 0:
            h, v = 0.0, -0.8 * v
        s += h
    return s


def leaky_maximum(x, tau):
    v, s = 0.0, 0.0
    for k in range(len(x)):
        v = max(v - 0.3, 0.0)
        v = v + 0.1 * (x[k] - v / tau)
        s += v
    return s


@pytest.mark.sampled
@pytest.mark.parametrize(
    "f", [refractory, thermostat, hysteresis, debounced, bouncing, leaky_maximum]
)
@pytest.mark.parametrize("accuracy", ["fast", "high"])
def test_resets_keep_their_terms(f: Callable[..., float], accuracy: str) -> None:
    x = np.array([1.5, 1.8, 0.7, 0.8, 3.0, 0.4, 2.5, 0.3, 0.2])
    made = symgrad(f, accuracy=accuracy)
    made(x[:1], 0.7)  # small sizes first: they do not see the reset
    assert made(x, 0.7) == pytest.approx(f(x, 0.7), rel=1e-13)
    h = 1e-6
    slope = (f(x, 0.7 + h) - f(x, 0.7 - h)) / (2 * h)
    assert made.grad(x, 0.7)[1] == pytest.approx(slope, rel=1e-7)


def test_a_function_that_is_steep_at_the_zero_has_no_error_of_its_own():
    f = symgrad(lambda x: (math.pi - math.acos(x)) / math.sqrt(1 + x))
    assert f(-1.0) == pytest.approx(math.sqrt(2), rel=1e-15)
    assert f.grad(-1.0) == pytest.approx(math.sqrt(2) / 12, rel=1e-14)
