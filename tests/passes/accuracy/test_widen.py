"""Double-double kernels: right whenever they flag nothing, and rarely flagged."""

from __future__ import annotations

import math

import pytest
from hypothesis import HealthCheck, given, settings

from symdiff import ir
from symdiff.ir import Expr
from symdiff.ir import functions as f
from symdiff.passes.differentiate import gradient
from tests.pair_code import Wide
from tests.passes.evaluate import flagged_of
from tests.passes.expressions import EXPRESSIONS, POINTS, X, Y


def wide(*outputs: Expr) -> Wide:
    names = [v.value for v in ir.variables(outputs)]
    return Wide(outputs, sorted(names))


def check(outputs: tuple[Expr, ...], points: list[tuple[float, ...]], ulps: float) -> int:
    """Every result that is not flagged is right; how many were flagged."""
    return flagged_of(Wide(outputs).evaluate, outputs, points, ulps)


@pytest.mark.sampled
@pytest.mark.parametrize("t", [10.0**-k for k in range(1, 7)])
def test_cancellation_of_40_bits(t: float) -> None:
    e = (1 - f.COS(Y)) / Y**2 + X * 0
    assert check((e, *gradient(e, [Y])), [(1.0, t)], 0.57) <= (t <= 1e-4)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("e", "points", "flagged"),
    [
        ((1 - f.COS(X)) / X**2, [10.0**-k for k in range(1, 13)], 6),
        (ir.sqrt(X + 1) - ir.sqrt(X), [10.0**k for k in range(16)], 4),
        (f.EXP(X) - 1, [s * 10.0**-k for k in range(1, 15) for s in (-1, 1)], 2),
        (f.EXP(X) - 1 - X, [s * 10.0**-k for k in range(1, 8) for s in (-1, 1)], 2),
        (f.LOG(X) - (X - 1), [1 + 2.0**-k for k in range(1, 22)], 0),
        (X**3 - 3 * X**2 + 3 * X - 1, [1 + 2.0**-k for k in range(1, 14)], 0),
    ],
)
def test_near_cancellation(e: Expr, points: list[float], flagged: int) -> None:
    """The loss of 40 of 100 bits is guarded here, correctly rounded but for 0.07 ulp."""
    assert check((e,), [(x, 1.0) for x in points], 0.57) <= flagged


def test_differences_of_inputs_are_exact() -> None:
    points = [(1 + k * 2.0**-52, 1 - k * 2.0**-53) for k in range(1, 30)]
    assert check((X * X - Y * Y, (X - Y) / (X + Y)), points, 0.57) == 0


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("e", "x"),
    [(X * X, 0.0), (f.EXP(X) - 1, 0.0), (f.SIN(X) * X, 0.0), (f.LOG(X), 1.0), (ir.sqrt(X) - 3, 9.0),
     (f.FLOOR(X / 3), 9.0), (f.FMOD(X, ir.const(3)), 9.0), (X * f.EXP(-X * X), 50.0)],
)  # fmt: skip
def test_exact_zeros_are_not_flagged(e: Expr, x: float) -> None:
    assert wide(e).evaluate([x])[1] is False


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("e", "point"),
    [(f.LOG(X), [-1.0]), (ir.sqrt(X), [-2.0]), (f.ASIN(X) + 1, [1.5]), (X + 1, [math.nan]),
     (X ** ir.const(ir.Fraction(1, 3)), [-8.0])],
)  # fmt: skip
def test_nan_outside_of_the_domain_is_certain(e: Expr, point: list[float]) -> None:
    values, flagged = wide(e).evaluate(point)
    assert math.isnan(values[0]) and not flagged


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("e", "point"),
    [(ir.sqrt(X * X + 1) - X, [1e200]), (1 / X, [0.0]), (f.SIN(X), [1e300]), (f.GAMMA(X), [0.5]),
     (X * 1e-200 * 1e200, [1e-200]), (f.EXP(X), [-705.0]), (f.FLOOR(f.CBRT(X * X * X)), [3.0])],
)  # fmt: skip
def test_what_cannot_be_settled_is_flagged(e: Expr, point: list[float]) -> None:
    assert wide(e).evaluate(point)[1] is True


def test_only_the_branch_that_is_taken_counts() -> None:
    e = ir.where(ir.lt(X, ir.ONE), X * X, f.GAMMA(X))
    assert wide(e).evaluate([0.5]) == ([0.25], False)
    assert wide(e).evaluate([1.5])[1] is True


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(EXPRESSIONS, POINTS)
def test_right_whenever_not_flagged(e: Expr, points: list[tuple[float, float]]) -> None:
    check((e,), points, 0.57)


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(EXPRESSIONS, POINTS)
def test_gradients_are_right_whenever_not_flagged(
    e: Expr, points: list[tuple[float, float]]
) -> None:
    check(gradient(e, [X, Y]), points, 0.57)
