"""Guards around what is divided by, of which the formula has nothing left: 1/(L/tan(d)) is tan(d)/L."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mpmath import mp

from symdiff import symgrad
from tests.passes.evaluate import slope

Function = Callable[..., Any]


def yaw_by_tolerance(v, length, d, tol=1e-9):
    return 0.0 if abs(d) < tol else v / (length / math.tan(d))


def yaw_of_radius(v, length, d):
    radius = math.inf if abs(d) < 1e-9 else length / math.tan(d)
    return v / radius


def yaw_in_steps(v, length, d):
    if abs(d) > 1e-8:
        radius = length / math.tan(d)
        rate = v / radius
    else:
        rate = 0.0
    return rate


def yaw_of_arrays(v, length, d):
    straight = np.abs(d) < 1e-9
    return np.where(straight, 0.0, v / (length / np.tan(np.where(straight, 1.0, d))))


YAW = lambda v, length, d: v * mp.tan(d) / length
PARALLEL = lambda a, u: a * u / (a + u)
CASES = {
    "yaw": (lambda v, length, d: 0.0 if abs(d) < 1e-9 else v / (length / math.tan(d)), YAW, (2.0, 3.0, 0.0)),
    "within the band": (lambda v, length, d: 0.0 if abs(d) < 1e-9 else v / (length / math.tan(d)), YAW, (2.0, 3.0, -5e-10)),
    "tolerance": (yaw_by_tolerance, YAW, (2.0, 3.0, 0.0)),
    "infinite radius": (yaw_of_radius, YAW, (2.0, 3.0, 0.0)),
    "in steps": (yaw_in_steps, YAW, (2.0, 3.0, 3e-9)),
    "of arrays": (yaw_of_arrays, YAW, (2.0, 3.0, 0.0)),
    "parallel": (lambda a, u: 0.0 if abs(u) < 1e-9 else 1 / (1 / u + 1 / a), PARALLEL, (2.0, 0.0)),
    "parallel, within": (lambda a, u: 0.0 if abs(u) < 1e-9 else 1 / (1 / u + 1 / a), PARALLEL, (2.0, 5e-10)),
    "twice": (lambda x: 0.0 if abs(x) < 1e-12 else 3 * x * x / x, lambda x: 3 * x, (-3e-13,)),
    "lens": (lambda f, d: 0.0 if abs(d - 1) < 1e-10 else f / (2 / (d - 1)), lambda f, d: f * (d - 1) / 2, (3.0, 1.0)),
    "difference": (lambda a, b: 0.0 if abs(a - b) < 1e-9 else 1 / (3 / (a - b)), lambda a, b: (a - b) / 3, (2.0, 2.0)),
    "power": (lambda x, a: 0.0 if abs(x) < 1e-10 else a * (x**-1) ** -1, lambda x, a: a * x, (0.0, 2.0)),
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize(("f", "smooth", "at"), CASES.values(), ids=CASES)
@pytest.mark.filterwarnings("error")
def test_bands_around_what_was_divided_by(
    f: Function, smooth: Function, at: tuple[float, ...]
) -> None:
    true = [slope(smooth, at, i) for i in range(len(at))]
    g = symgrad(f)
    found = g.grad(*at)
    assert g(*at) == pytest.approx(0.0, abs=1e-8)
    rows = g.grad(*(np.full(3, a) for a in at))
    found, rows = (r if isinstance(r, tuple) else (r,) for r in (found, rows))
    for one in (found[: len(at)], [r[1] for r in rows[: len(at)]]):
        for a, b in zip(one, true, strict=True):  # 0 along what does not leave the band
            assert a == pytest.approx(b, rel=1e-14, abs=1e-30) or (a == 0 and abs(b) < 1e-8)


def test_a_band_of_a_regular_function_is_the_users() -> None:
    dead = symgrad(lambda x: 0.0 if abs(x) < 1e-3 else x)
    assert (dead(5e-4), dead.grad(5e-4), dead.grad(0.0)) == (0.0, 0.0, 0.0)
    small = symgrad(lambda x: 0.0 if abs(x) < 1e-9 else math.sin(x))
    assert (small(5e-10), small.grad(5e-10)) == (0.0, 0.0)


@pytest.mark.slow
def test_elements_in_loops() -> None:
    @symgrad
    def heading(v, d):
        total = 0.0
        for i in range(d.shape[0]):
            rate = 0.0 if abs(d[i]) < 1e-9 else v[i] / (2.0 / math.tan(d[i]))
            total = total + rate * rate + rate
        return total

    by_v, by_d = heading.grad(np.array([3.0, 2.0]), np.zeros(2))
    assert by_v.tolist() == [0.0, 0.0]
    assert by_d == pytest.approx([1.5, 1.0], rel=1e-14)


def exchanger(x: float, y: float) -> float:
    term = math.exp(-x * (1 - y))
    if 1 - y * term == 0.0:
        return x / (1 + x)
    return (1 - term) / (1 - y * term)


def tangents(x: float, y: float) -> float:
    below = math.sinh(y * x) - math.sin(y)
    return x / (x - 1) if below == 0 else (math.exp(x * y) - 1) / below


@pytest.mark.sampled
@pytest.mark.parametrize(("guarded", "at"), [(exchanger, 1.0), (tangents, 0.0)])
@pytest.mark.parametrize("x", [0.5, 2.0])
def test_denominators_that_vanish_whatever_the_others_are(
    guarded: Any, at: float, x: float
) -> None:
    """A guard of a denominator without a solution in closed form that holds at one number for every
    value of the other variable (its derivative was 0, without a word)."""
    f, h = symgrad(guarded), 1e-3
    beside = [guarded(x, at + k * h) for k in (-2, -1, 1, 2)]
    slope = (8 * (beside[2] - beside[1]) - (beside[3] - beside[0])) / (12 * h)
    assert f(x, at) == pytest.approx(guarded(x, at), rel=1e-14)
    assert f.grad(x, at)[1] == pytest.approx(slope, rel=1e-7)
    assert f.grad(x, at + 1e-9)[1] == pytest.approx(slope, rel=1e-7)
