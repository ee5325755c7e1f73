"""Constants that are not finite, against Python's floats."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import pytest

from symdiff import ir

VALUES = [0, 1, -1, 2, -3, 0.5, -0.5, math.inf, -math.inf, math.nan]
PAIRS = [p for p in itertools.product(VALUES, VALUES) if not all(map(math.isfinite, p))]


def _divide(a: float, b: float) -> float:
    return a / b if b else a * math.inf


@pytest.mark.parametrize(
    ("build", "python"),
    [
        (ir.add, lambda a, b: a + b),
        (ir.sub, lambda a, b: a - b),
        (ir.mul, lambda a, b: a * b),
        (ir.div, _divide),
        (ir.power, math.pow),
    ],
)
def test_arithmetic_of_infinities(
    build: Callable[..., ir.Expr], python: Callable[[float, float], float]
) -> None:
    for a, b in PAIRS:
        found, expected = build(a, b), float(python(a, b))
        assert found.op is ir.CONST
        assert float(found.value) == expected or (found is ir.NAN and math.isnan(expected))


def test_beyond_the_range_of_doubles() -> None:
    huge, tiny = ir.const(10**400), ir.const(Fraction(1, 10**400))
    assert ir.mul(ir.INF, tiny) is ir.INF
    assert ir.sub(huge, math.inf) is ir.neg(ir.INF)
    assert ir.div(tiny, 0) is ir.INF and ir.div(-1, 0) is ir.neg(ir.INF)
    assert ir.div(0, 0) is ir.NAN


def test_a_root_of_a_negative_number() -> None:
    assert ir.sqrt(-1) is ir.NAN
    assert ir.power(-8, Fraction(1, 3)) is ir.NAN
    assert ir.power(-8, 2) is ir.const(64)


@pytest.mark.parametrize("build", [ir.add, ir.sub, ir.mul, ir.div])
def test_arithmetic_with_nan_is_nan(build: Callable[..., ir.Expr]) -> None:
    for other in (ir.var("x"), ir.const(0), ir.const(math.inf)):
        assert build(other, math.nan) is build(math.nan, other) is ir.NAN


def test_comparisons_with_nan_are_false() -> None:
    x = ir.var("x")
    for build in (ir.lt, ir.le, ir.eq, ir.gt, ir.ge):
        assert build(x, math.nan) is build(math.nan, x) is ir.FALSE
    assert ir.ne(x, math.nan) is ir.TRUE


def test_a_multiple_of_a_quotient_by_zero_stays_one() -> None:
    pole = ir.div(ir.var("x"), 0)
    assert ir.mul(2, pole).args == (ir.const(2), pole)
