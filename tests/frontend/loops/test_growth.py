"""Loops of known length that are kept because their formulas would grow, and those that are not."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from symdiff import symgrad
from symdiff.frontend import capture
from symdiff.ir.loop_program import Loop, LoopProgram, walk


def solved(mean: float, e: float) -> float:
    """Kepler's equation by Newton's method."""
    x = mean
    for _ in range(50):
        step = (x - e * math.sin(x) - mean) / (1 - e * math.cos(x))
        x = x - step
        if abs(step) < 1e-12:
            break
    return x


def fixed_steps(mean: float, e: float) -> float:
    x = mean
    for _ in range(20):
        x = x - (x - e * math.sin(x) - mean) / (1 - e * math.cos(x))
    return x


def last_of_all(mean: float, e: float) -> float:
    """A name that only iterations bind, read after the loop."""
    x = mean
    for _ in range(50):
        last = (x - e * math.sin(x) - mean) / (1 - e * math.cos(x))
        if abs(last) < 1e-12:
            root = x
            break
        x = x - last
    return root + 0.0 * last


def is_loop(f: Callable[..., float]) -> bool:
    program = capture(f)
    return isinstance(program, LoopProgram) and any(
        isinstance(s, Loop) for s in walk(program.block)
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("f", [solved, fixed_steps, last_of_all])
def test_newton_steps_stay_a_loop(f: Callable[..., float]) -> None:
    assert is_loop(f)
    for mean, e in ((1.0, 0.3), (2.5, 0.8)):
        x = f(mean, e)
        below = 1 - e * math.cos(x)  # by the implicit function theorem
        g = symgrad(f)
        assert g(mean, e) == pytest.approx(x, rel=1e-14)
        assert g.grad(mean, e) == pytest.approx((1 / below, math.sin(x) / below), rel=1e-11)


def test_short_loops_and_sums_are_formulas() -> None:
    def few(x: float) -> float:
        for _ in range(5):
            x = x - (x**2 - 2) / (2 * x)
        return x

    def series(x: float) -> float:
        total = 0.0
        for k in range(40):
            total = total + math.exp(-k * x) * math.cos(k * x)
        return total

    assert not is_loop(few)
    assert not is_loop(series)


def test_a_name_that_no_iteration_binds() -> None:
    def f(x: float) -> float:
        for _ in range(50):
            x = math.sin(x) * math.cos(x) + x / 2
            if x > 100.0:
                root = x
                break
        return root

    with pytest.raises(ValueError, match="is not assigned in any iteration"):
        symgrad(f, by_value=False)(1.0)
