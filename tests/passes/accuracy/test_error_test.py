"""Running error analysis: what is not flagged is right, and ordinary values are not."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from symdiff import ir, symgrad
from symdiff.ir import NAN, Expr, topological
from symdiff.ir import functions as f
from symdiff.passes.accuracy.error_test import ErrorTest, flagged_where
from symdiff.passes.analysis.band_extent import series_in_bands
from symdiff.passes.differentiate import gradient
from tests.kernels import make_kernel
from tests.passes.evaluate import flagged_of
from tests.passes.expressions import EXPRESSIONS, POINTS, X, Y

LIMIT = 16
"""Units of rounding, each at most an ulp."""
TINY = st.builds(
    lambda m, k, s: s * math.ldexp(m, -k),
    st.floats(1.0, 2.0), st.integers(0, 1000), st.sampled_from([-1.0, 1.0]),
)  # fmt: skip
"""Of all magnitudes below 2, each as likely."""


def check(outputs: tuple[Expr, ...], points: list[tuple[float, float]], limit: int = LIMIT) -> int:
    """Every output that is not flagged is within the limit; how many were flagged."""
    kernel = make_kernel(outputs, ["x", "y"], test=flagged_where(outputs, limit))
    return flagged_of(kernel.point.evaluate, outputs, points, limit + 1)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(EXPRESSIONS, POINTS)
def test_right_unless_flagged(e: Expr, points: list[tuple[float, float]]) -> None:
    assume(all(n is not NAN for n in topological((e,))))  # comparing nan decides nothing
    check((e,), points)


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(EXPRESSIONS, POINTS)
def test_gradients_are_right_unless_flagged(e: Expr, points: list[tuple[float, float]]) -> None:
    check(gradient(e, [X, Y]), points)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(EXPRESSIONS, st.integers(2, 30), st.lists(st.tuples(TINY, TINY), min_size=1, max_size=8))
def test_what_underflows_is_negligible_unless_flagged(
    e: Expr, degree: int, points: list[tuple[float, float]]
) -> None:
    assume(all(n is not NAN for n in topological((e,))))
    tail = X**degree * e + (X * Y) ** (degree // 2)
    near = ir.where(ir.le(X**degree, ir.abs_(Y) / 1000), 1 + Y + tail, f.SIN(Y) / X**degree)
    check((Y * (1 + tail), near, *gradient(near, [X, Y])), points)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("e", "point"),
    [(1 + X**9 / (X**9 + Y**9), (2e-36, 1.9e-36)), (f.LOG(X**9 + Y**9), (1e-40, 1e-40)),
     (ir.where(ir.lt(2 * X**9, 3 * Y**9), X, Y), (1.25276e-36, 1.20104e-36)),
     (ir.where(ir.lt(X, Y), 1 + Y * X**9, 2 + X**9 / (X**9 + Y**9)), (2e-36, 1.9e-36)),
     (ir.sqrt(X**9 * Y**9) + X, (1e-36, 1e-36)), (ir.SIGN(X**20) + Y, (1e-20, 1.0)),
     (ir.sqrt(X**18 + Y**18) * Y**-8, (2e-18, 1.9e-18)), (X**20 * Y**9, (7e-17, 2e8)),
     (1 + X**20 * Y**9 * Y**9 * Y**9 * Y**9 * Y**3, (7.5e-17, 2e8))],
)  # fmt: skip
def test_underflow_that_counts_is_flagged(e: Expr, point: tuple[float, float]) -> None:
    assert check((e,), [point]) == 1


def test_underflow_beside_what_is_larger_is_not_flagged():
    e = Y + X**2 * (Y**3 / 6 + X**2 * (Y**5 / 120 + X**12 * Y**15))
    for y in (1.5, -2e-8):
        assert check((e, X * e), [(x, y) for x in (1e-9, 1e-30, -1e-100)]) == 0
    assert check((e,), [(1e-9, 1e-310)]) == 1


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("e", "point"),
    [((1 - f.COS(X)) / X**2, (1e-6, 0.0)), (X * X + Y - X, (1.0, -1e-20)),
     (X * f.EXP(Y), (1e100, -750.0)), (f.EXP(X) * f.EXP(Y), (-800.0, 700.0)),
     (ir.sqrt(X * X + Y * Y), (1e200, 1e200)), (X / (X * X + Y), (1e200, 0.0)),
     (1 / (1 / (X * X) + Y), (1e-200, 0.0)), (f.EXP(X) - f.EXP(Y), (1.0, 1.0 + 2**-50)),
     (f.FLOOR(X * Y), (0.1, 30.0)), (ir.where(ir.lt(X * Y, ir.const(3)), X, Y), (0.1, 30.0))],
)  # fmt: skip
def test_what_is_wrong_is_flagged(e: Expr, point: tuple[float, float]) -> None:
    assert check((e,), [point]) == 1


@pytest.mark.parametrize(
    "e", [(1 - X) ** 2 + 100 * (Y - X**2) ** 2, f.LOG(1 + f.EXP(X)), (1 - f.EXP(1 - X)) ** 2,
          4 * (X**-12 - X**-6)],
)  # fmt: skip
def test_ordinary_points_are_rarely_flagged(e: Expr) -> None:
    outputs = (e, *gradient(e, [X, Y]))
    rng = np.random.default_rng(1)
    kernel = make_kernel(outputs, ["x", "y"], test=flagged_where(outputs))
    assert kernel.evaluate([rng.uniform(0.2, 9, 4000) for _ in "xy"]).flagged < 400


def test_series_that_count_in_their_bands_only_are_bounded_there():
    t = X
    inside = ir.lt(ir.abs_(t), ir.const(1))
    series = 1 - t * t * (Fraction(1, 6) - t * t * (Fraction(1, 120) - t * t / 5040))
    other = ir.where(inside, t * series - t, f.SIN(t) - t)
    choice = ir.where(inside, series, f.SIN(t) / t)
    found = series_in_bands((choice, other))
    assert found == {series: choice, other.args[1]: other}
    assert series_in_bands((choice, other + series)) == {other.args[1]: other}
    alone = ErrorTest(series=series_in_bands((choice, other)))
    assert alone.of(series).static and not ErrorTest().of(series).static
    assert alone.of(choice).k >= alone.of(series).k


def smooth_largest(a, b, c):
    return np.logaddexp(a, np.logaddexp(b, c))


def halo(r, c):
    """Its series near 0 is chosen by powers of c that are not multiplied out."""
    x = r * c
    return (np.log(1 + x) - x / (1 + x)) / r


@pytest.mark.parametrize("fun", [smooth_largest, halo])
def test_no_element_of_ordinary_arrays_is_left_to_balls(fun):
    """Whether a value is nan is no decision of rounding; what conditions compare needs no errors."""
    f = symgrad(fun).value_and_grad
    x = np.random.default_rng(1).uniform(0.5, 1.5, (fun.__code__.co_argcount, 500))
    f(*x)
    assert f._compiled({})[1].kernel.evaluate(list(x)).flagged == 0
