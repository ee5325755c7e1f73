"""Arrays and loops whose numbers are of any size: what underflows or overflows on the way to a
result is computed again where that counts, and only there."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from symdiff import symgrad
from symdiff.frontend import capture
from symdiff.lowering.target import UNDERFLOWS
from symdiff.pipeline import loops as loop_pipeline
from symdiff.pipeline.lowered.loops import LoweredProgram
from tests.runtime.loops.test_guarded_values import precise

LIMIT = 16
UNIT = 2.0**-1022


def check(fun: Callable[..., Any], x: Any) -> None:
    """With "strict" every value is right to 16 units or to 2**-1058, or below the normal numbers; with the
    default to 2**-40 of the largest."""
    got, truth = np.ravel(symgrad(fun, accuracy="strict")(x)), np.ravel(precise(fun, x, 4000))
    if np.isfinite(numbers := np.array([float(t) for t in truth])).all():
        off = np.abs(np.ravel(symgrad(fun)(x)) - numbers)
        assert off.max() <= 2.0**-40 * np.abs(numbers).max() + 2 * UNIT, (fun, x)
    for value, true in zip(got, truth, strict=True):
        nearest = float(true)
        if not math.isfinite(nearest):
            assert not math.isfinite(value), (fun, x, value, true)
            continue
        if abs(nearest) < UNIT:
            assert abs(value) < 2 * UNIT, (fun, x, value, true)
            continue
        room = arb(max(LIMIT * math.ulp(nearest), 2.0**-1058))
        assert bool(abs(arb(float(value)) - true) <= room), (fun, x, value, true)


def outer_factors(x):
    y = np.zeros((len(x) - 2, len(x)))
    for i in range(len(x) - 2):
        for j in range(len(x)):
            y[i, j] = x[i] * ((1 - x[i + 1]) * (1 + x[i + 1])) * x[j]
    return y


FUNCTIONS = {
    "chains": lambda x: x[:-3] * x[1:-2] * x[2:-1] * x[3:],
    "quotients": lambda x: x[:-2] * x[1:-1] / (1 + x[2:] * x[2:]) * x[2:],
    "outer_factors": outer_factors,
    "squares": lambda x: (x[:-1] ** 2 + x[1:] ** 2) * x[1:],
    "cross": lambda x: (x[:-3] * x[3:] - x[1:-2] * x[2:-1]) * x[3:],
    "bounded": lambda x: np.tanh(x[:-2] * x[1:-1] + x[2:]) * x[1:-1] * x[2:],
    "branched": lambda x: np.where(x[:-1] * x[1:] > x[:-1] * x[:-1], x[:-1] * x[1:] * x[1:], x[1:]),
}

WHOLE = st.integers(-1074, 1000)
NEAR = st.integers(-20, 20)
NUMBERS = st.one_of(
    st.just(0.0),
    *(
        st.builds(lambda m, e, s: s * math.ldexp(m, e), st.floats(1.0, 1.99), powers, st.sampled_from((1, -1)))
        for powers in (WHOLE, NEAR, st.integers(-560, -500), st.integers(500, 520))
    ),
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@pytest.mark.parametrize("fun", FUNCTIONS.values(), ids=FUNCTIONS)
@given(st.lists(NUMBERS, min_size=12, max_size=12))
@example([1e-200, 1e-120, 1e300] * 4)
@example([1e200, 1e-300, 1e-20] * 4)
@example([1e-160, 3e-160, -1e-160, 2e100] * 3)
@example([5e-324, 1.0, 0.0, 1e300] * 3)
def test_numbers_of_any_size(fun, numbers) -> None:
    check(fun, np.array(numbers))


# ------------------------------------------------------------------- what is tested for
def looks_at_underflow(fun: Callable[..., Any]) -> bool:
    """Whether the kernel without tests looks at the processor's flag."""
    program = loop_pipeline.value(capture(fun, {}, {"x": (1, "f")}))
    return bool(LoweredProgram(program).double("float64", 0).flags & UNDERFLOWS)


def test_differences_from_one_do_not_underflow() -> None:
    """They are 0, or no less than a unit in the last place of 1."""
    assert not looks_at_underflow(lambda x: (1 - x[1:]) * (1 + x[1:]) * (2 + x[:-1]))
    assert looks_at_underflow(lambda x: (1 - x[1:]) * x[:-1] * x[1:])


def test_functions_that_are_nowhere_steep_lose_as_much_as_their_arguments() -> None:
    assert not looks_at_underflow(lambda x: np.tanh(x[1:] * x[:-1]))
    assert looks_at_underflow(lambda x: np.exp(x[1:] * x[:-1]))


# ------------------------------------------------------------ adjoints that vanish
@pytest.mark.slow
def test_adjoints_that_vanish() -> None:
    """A recurrence that forgets: the adjoints of its first steps go through the subnormal
    numbers to 0, those of the last ones are right."""
    n, steps = 9, 700

    def network(W, x):
        h = np.zeros(W.shape[0])
        for t in range(len(x)):
            h = np.tanh(W @ h + x[t])
        return np.sum(h)

    rng = np.random.default_rng(2)
    W, x = 0.08 * rng.normal(size=(n, n)), rng.normal(size=steps)
    by_W, by_x = symgrad(network, wrt=("W", "x")).grad(W, x)
    states, bar = [np.zeros(n)], np.ones(n)
    for t in range(steps):
        states.append(np.tanh(W @ states[-1] + x[t]))
    want_W, want_x = np.zeros((n, n)), np.zeros(steps)
    for t in range(steps - 1, -1, -1):
        inner = bar * (1 - states[t + 1]) * (1 + states[t + 1])
        want_x[t], bar = np.sum(inner), W.T @ inner
        want_W += np.outer(inner, states[t])
    assert by_x[0] == 0.0 and np.any((np.abs(by_x) < UNIT) & (by_x != 0))
    np.testing.assert_allclose(by_W, want_W, rtol=1e-12)
    np.testing.assert_allclose(by_x, want_x, rtol=1e-10, atol=1e-300)
