"""Small parts of passes, each by itself: what planted faults showed that no other test pins."""

from __future__ import annotations

from fractions import Fraction

import flint
import mpmath
import pytest

from symdiff import ir
from symdiff.ir import HALF, ONE, ZERO, Expr
from symdiff.ir import functions as F
from symdiff.ir.formula_text import Formulas
from symdiff.passes.analysis.magnitude import LIKE_ARGUMENT, LOGARITHMS, Magnitudes
from symdiff.passes.analysis.signs import POSITIVE, Signs
from symdiff.passes.cancel.cancel import cancel
from symdiff.passes.simplify.costs import Costs
from symdiff.passes.simplify.directions import in_phase
from symdiff.passes.simplify.familiar import _step
from symdiff.passes.simplify.frame import _is_power
from symdiff.passes.simplify.radicals import opened
from symdiff.passes.simplify.simplify import simplify
from tests.passes.evaluate import evaluate

x, y = ir.var("x"), ir.var("y")


# ------------------------------------------------------------------------ simplify
@pytest.mark.parametrize(
    ("op", "sign"), [(F.SIN, -1), (F.TAN, -1), (F.COS, 1), (F.SINH, -1), (F.COSH, 1)]
)
def test_signs_of_angles_go_before_odd_functions(op: ir.Op, sign: int) -> None:
    turned = in_phase(ir.raw(op, (ir.raw(ir.MUL, (ir.const(-2), x)),)))
    assert turned is (op(2 * x) if sign > 0 else ir.neg(op(2 * x)))


def test_squares_are_taken_out_of_roots_of_both_signs() -> None:
    root, third = opened(x**2 / y**4), ir.const(Fraction(1, 3))
    assert root is not None and Formulas().text(root) == "abs(x)/y**2"
    for radicand, exponent, expected in (
        (x**2 / y**4, HALF, "abs(x)/y**2"),
        (x**2 / y**4, ir.neg(HALF), "y**2/abs(x)"),
        (x**2 * (y + 1), third, "(x**2*(y + 1))**(1/3)"),
    ):
        assert Formulas().text(simplify((ir.power(radicand, exponent),))[0]) == expected


def test_the_best_of_formulas_is_the_shortest() -> None:
    long, short = F.SIN(x) * F.COS(x) + F.SIN(x) * y, x * y
    for candidates in ([long, short], [short, long], [long, long, short]):
        assert Costs().best(candidates) is short
    assert Costs((F.SIN(x),)).best([F.COS(x), F.SIN(x)]) is F.SIN(x)  # as its user wrote it
    assert Costs().best([long, long]) is long


@pytest.mark.parametrize("power", [1, 2])
def test_the_slope_of_a_maximum_is_a_sign(power: int) -> None:
    tie = ir.raw(ir.WHERE, (ir.eq(ZERO, x), HALF, ONE))
    found = _step((ir.le(ZERO, x), ir.power(x, power) * tie, ZERO))
    assert found is not None
    for point in (-2, 0, 3):
        want = Fraction(point) ** power * (Fraction(1, 2) if point == 0 else 1) if point >= 0 else 0
        assert evaluate(found, {"x": mpmath.mpf(point)}) == want
    assert _step((ir.le(ZERO, x), F.LOG(x) * tie, ZERO)) is None  # not defined everywhere
    assert _step((ir.le(ZERO, x), tie / x, ZERO)) is None


def test_powers_of_symbols_are_told_from_exponentials() -> None:
    assert _is_power(x, ONE, Fraction(2))
    assert not _is_power(x, ONE, Fraction(1, 2))
    assert not _is_power(x, y, Fraction(2))
    assert not _is_power(None, ONE, Fraction(2))
    assert not _is_power(x + 1, ONE, Fraction(2))


# -------------------------------------------------------------------------- cancel
_T = F.TAN(x / 2)


@pytest.mark.parametrize("e", [
    (1 - _T**4) / (1 + _T**2) ** 2 + F.COS(x),
    _T**3 / (1 + _T**2) ** 2 * F.SIN(x) + F.SIN(x) ** 3,
    (1 + _T**4 - y * _T**3) / (1 + _T**2) ** 2 - F.SIN(x) * F.COS(x),
    (_T + _T**3 + y) / (1 + _T**2) ** 2 / F.SIN(x),
    F.SIN(x) ** 4 / (1 + _T**2) + F.COS(x) ** 3 * _T**2 / (1 + _T**2),
], ids=repr)  # fmt: skip
def test_half_angles_keep_their_values(e: Expr) -> None:
    (after,) = cancel((e,))
    with mpmath.workdps(40):
        for a, b in ((0.7, 1.3), (-2.1, 0.4), (4.0, -3.0)):
            point = {"x": mpmath.mpf(a), "y": mpmath.mpf(b)}
            assert mpmath.almosteq(evaluate(e, point), evaluate(after, point), 1e-30)


# ------------------------------------------------------------------------ analysis
@pytest.mark.parametrize("op", [*LIKE_ARGUMENT, *LOGARITHMS, F.COS, F.CBRT], ids=lambda op: op.name)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_spans_hold_small_and_large_arguments(op: ir.Op, dtype: str) -> None:
    """Where the argument is between powers of two, the result is between those of its span."""
    work = Magnitudes(dtype, Signs())
    assert op.ball is not None
    for low, high in ((-60, -50), (-9, -3), (-1, -1), (-80, 8)):
        span = work.span(op(x), [(low, high)])
        assert span is not None
        for k in (low, high):
            for mantissa in (1, -1):
                size = abs(op.ball(flint.arb(mantissa) * flint.arb(2) ** k))
                if not size.is_finite() or size.contains(0):
                    continue
                assert not size < flint.arb(2) ** span[0], (k, span)
                assert not size > flint.arb(2) ** span[1], (k, span)


@pytest.mark.parametrize(
    ("condition", "taken", "other"),
    [
        (ir.lt(x, HALF), ONE - x, x),
        (ir.lt((x + 1) / 2, HALF), HALF - x / 2, (x + 1) / 2),
        (ir.le(ONE, x), 2 * x - ONE, 3 - 2 * x),
    ],
)
def test_branches_are_bounded_by_their_conditions(
    condition: Expr, taken: Expr, other: Expr
) -> None:
    e = ir.raw(ir.WHERE, (condition, taken, other))
    assert Signs().of(e) == POSITIVE
    assert Magnitudes("float64", Signs()).least(e + 22) >= 3


@pytest.mark.parametrize(
    ("condition", "taken", "other"),
    [
        (ir.lt(x, HALF), HALF - x, x),  # rounding decides
        (ir.lt(HALF, x), ONE - x, x),
        (ir.lt(y, HALF), ONE - x, ONE),
    ],
)
def test_branches_may_have_the_signs_that_conditions_leave(
    condition: Expr, taken: Expr, other: Expr
) -> None:
    assert Signs().of(ir.raw(ir.WHERE, (condition, taken, other))) != POSITIVE
