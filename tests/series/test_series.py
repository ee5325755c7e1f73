"""Series with exact coefficients, and what a formula is at a point."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import flint
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symdiff import ir
from symdiff.interpret import exclusive
from symdiff.ir import CONST, ONE, ZERO, Expr, abs_, const, eq, lt, sqrt, where
from symdiff.ir.functions import (  # fmt: skip
    ACOS,
    ACOSH,
    ASIN,
    ATAN,
    CBRT,
    COS,
    ERF,
    EXP,
    FLOOR,
    GAMMA,
    LGAMMA,
    LOG,
    LOG1P,
    MAXIMUM,
    PI,
    SIN,
    SINC,
    SINH,
    TABLE,
    TAN,
)
from symdiff.series import Expansion, Germs, Number, Undecided, is_zero, number, to_expr
from symdiff.series.coefficients import constant_value, to_ball, to_fraction
from symdiff.series.germs import Germ

X = ir.var("x")
PRECISION = 320


@pytest.fixture(autouse=True)
def _balls() -> Iterator[None]:
    with exclusive(PRECISION):
        yield


def germs(e: Expr, point: float) -> Germs:
    return Germs(X, Fraction(point), [n for n in ir.topological((e,)) if n.op is not CONST])


def germ(e: Expr, point: float) -> Germ:
    return germs(e, point).germs[e]


def coefficients(e: Expr, point: float, count: int) -> list[Fraction]:
    found = germs(e, point)
    assert found.germs[e].kind == "analytic"
    return [to_fraction(found.coefficient(e, k)) for k in range(count)]


# ------------------------------------------------------------------------ numbers
@pytest.mark.parametrize(
    "zero",
    [
        sqrt(const(8)) - 2 * sqrt(const(2)),
        sqrt(const(6)) - sqrt(const(2)) * sqrt(const(3)),
        1 / sqrt(const(5)) - sqrt(const(5)) / 5,
        1 / sqrt(const(12)) - sqrt(const(3)) / 6,
        LOG(const(6)) - LOG(const(2)) - LOG(const(3)),
        EXP(const(3)) - EXP(ONE) * EXP(const(2)),
        EXP(const(-2)) * EXP(const(2)) - 1,
        SIN(const(2)) ** 2 + COS(const(2)) ** 2 - 1,
        TAN(const(2)) * COS(const(2)) - SIN(const(2)),
        SINH(const(2)) * 2 - EXP(const(2)) + EXP(const(-2)),
        SIN(PI() / 6) - ir.HALF,
        COS(PI()) + 1,
        sqrt(PI()) ** 2 - PI(),
        LOG1P(const(2)) - LOG(const(3)),
        ir.power(const(4), Fraction(1, 3)) ** 3 - 4,
    ],
)
def test_constants_that_are_zero_are_shown_to_be(zero: Expr) -> None:
    assert is_zero(number(zero))


@pytest.mark.parametrize(
    "e", [sqrt(const(2)) - 1, EXP(ONE) - 2, LOG(const(2)), PI() - Fraction(22, 7)]
)
def test_other_constants_are_not(e: Expr) -> None:
    assert not is_zero(number(e))


def test_an_identity_that_is_not_known_stays_undecided() -> None:
    machin = 4 * ATAN(const(Fraction(1, 5))) - ATAN(const(Fraction(1, 239))) - PI() / 4
    with pytest.raises(Undecided):
        is_zero(number(machin))


@pytest.mark.slow
@given(
    st.lists(st.sampled_from(["+", "*", "sqrt", "exp", "sin", "log", "/"]), min_size=1, max_size=6),
    st.fractions(min_value=Fraction(1, 9), max_value=9, max_denominator=9),
)
@settings(max_examples=60, deadline=None)
def test_arithmetic_with_constants_keeps_their_value(steps: list[str], start: Fraction) -> None:
    with exclusive(PRECISION):
        e = const(start)
        for step in steps:
            e = {
                "+": lambda e: e + SIN(const(2)) + 3, "*": lambda e: e * (e + sqrt(const(3))),
                "sqrt": lambda e: sqrt(abs_(e) + 1), "exp": lambda e: EXP(e / (abs_(e) + 1)),
                "sin": SIN, "log": lambda e: LOG(e * e + 1), "/": lambda e: 1 / (e * e + 2),
            }[step](e)  # fmt: skip
        c = number(e)
        assert to_ball(c).overlaps(constant_value(e))
        if isinstance(c, Number):
            assert constant_value(to_expr(c)).overlaps(to_ball(c))


# ------------------------------------------------------------------------- series
@pytest.mark.parametrize(
    ("e", "point", "expected"),
    [
        ((1 - COS(X)) / X**2, 0, [(1, 2), (0, 1), (-1, 24)]),
        (ACOS(X) / sqrt(1 - X * X), 1, [(1, 1), (-1, 3), (2, 15)]),
        (ATAN(sqrt(X)) / sqrt(X), 0, [(1, 1), (-1, 3), (1, 5)]),
        (X / (EXP(X) - 1), 0, [(1, 1), (-1, 2), (1, 12), (0, 1), (-1, 720)]),
        (TAN(X), 0, [(0, 1), (1, 1), (0, 1), (1, 3), (0, 1), (2, 15)]),
        (SIN(abs_(X)) / abs_(X), 0, [(1, 1), (0, 1), (-1, 6)]),
        (ACOSH(X) ** 2 / (X - 1), 1, [(2, 1), (-1, 3), (4, 45)]),
        ((CBRT(X) - 2) / (X - 8), 8, [(1, 12), (-1, 288)]),
        (X**X, 1, [(1, 1), (1, 1), (1, 1), (1, 2)]),
        ((EXP(sqrt(X)) - EXP(-sqrt(X))) / sqrt(X), 0, [(2, 1), (1, 3), (1, 60)]),
        (ASIN(sqrt(X)) ** 2, 0, [(0, 1), (1, 1), (1, 3), (8, 45)]),
        (where(eq(X, ZERO), ONE, (EXP(X) - 1) / X), 0, [(1, 1), (1, 2), (1, 6)]),
        (MAXIMUM(X, X - 1), 5, [(5, 1), (1, 1), (0, 1)]),
        (FLOOR(X) + X, 0.5, [(1, 2), (1, 1), (0, 1)]),
    ],
)
def test_rational_coefficients(e: Expr, point: float, expected: list[tuple[int, int]]) -> None:
    assert coefficients(e, point, len(expected)) == [Fraction(*c) for c in expected]


@pytest.mark.parametrize(
    ("e", "point", "kind", "order"),
    [
        (1 / X, 0, "pole", 1),
        (SIN(X) / X**3, 0, "pole", 2),
        (LOG(X), 0, "logarithm", 0),
        (X * LOG(X), 0, "logarithm", 0),
        (LOG(X), -1, "outside", 0),
        (sqrt(X), 0, "branch point", 0),
        (X * sqrt(X), 0, "branch point", 0),
        (ACOS(X), 1, "branch point", 0),
        (EXP(-1 / X**2), 0, "essential", 0),
        (X / abs_(X), 0, "jump", 0),
        (abs_(X), 0, "kink", 0),
        (FLOOR(X), 1, "jump", 0),
        (where(lt(X, ZERO), ZERO, X * X), 0, "kink", 0),
        (where(eq(X, ZERO), const(2), (EXP(X) - 1) / X), 0, "jump", 0),
        (CBRT(X), 0, "unknown", 0),
    ],
)
def test_what_is_not_analytic_is_named(e: Expr, point: float, kind: str, order: int) -> None:
    found = germ(e, point)
    assert (found.kind, found.order) == (kind, order)


def test_one_side_of_the_point_is_enough() -> None:
    e = SIN(sqrt(X)) / sqrt(X)
    assert germs(e, 0).one_sided(e) == 1
    assert germs(SIN(X) / X, 0).one_sided(SIN(X) / X) == 0


def test_essential_nodes_are_singular_themselves_or_cancel() -> None:
    quotient = SIN(X) / X
    outer = EXP(quotient)
    found = germs(outer, 0).germs
    assert found[quotient].essential
    assert found[outer].singular and not found[outer].essential
    difference = quotient - 1
    assert germs(difference, 0).germs[difference].essential


UNARY = [op for op in TABLE if op.arity == 1 and op.partials is not None]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("op", UNARY, ids=lambda op: op.name)
def test_every_function_of_the_table_has_the_series_of_its_values(op: ir.Op) -> None:
    """The sum of the series at a nearby point is the value there."""
    assert op.ball is not None
    for point in (Fraction(1, 3), Fraction(5, 3)):
        if not op.ball(flint.arb(flint.fmpq(point.numerator, point.denominator))).is_finite():
            continue
        expansion = Expansion(X, point, 1)
        stream = expansion.of(op(X))
        h = flint.arb(2) ** -20
        total = sum((to_ball(stream.coefficient(k)) * h**k for k in range(8)), flint.arb(0))
        x = flint.arb(flint.fmpq(point.numerator, point.denominator)) + h
        assert abs(total - op.ball(x)) < flint.arb(2) ** -100 * (1 + abs(total))


def test_functions_without_rational_coefficients() -> None:
    e = (GAMMA(X) - 1) / (X - 1)
    found = germs(e, 1)
    euler = -flint.arb.const_euler()
    assert found.germs[e].kind == "analytic"
    assert to_ball(found.coefficient(e, 0)).overlaps(euler)
    for f, value in (
        (ERF(X) / X, 2 / flint.arb.pi().sqrt()),
        (LGAMMA(X + 1) / X, euler),
        (SINC(X), 1),
    ):
        assert to_ball(germs(f, 0).coefficient(f, 0)).overlaps(flint.arb(value))


def test_rounded_operands_of_conditions_have_the_series_of_what_they_round() -> None:
    t = ir.var("t")
    rounded = ir.plain.plain(LOG, t)
    branch = where(ir.or_(ir.le(t, 0), eq(t, ZERO)), const(-1), rounded)
    whole = where(lt(const(3), branch), ONE, where(ir.le(t, 0), const(-1), LOG(t)))
    with exclusive(320):
        germs = Germs(t, Fraction(0), [n for n in ir.topological((whole,)) if n.args])
        assert germs.germs[rounded].kind == germs.germs[LOG(t)].kind == "logarithm"
        assert germs.germs[whole].kind == "logarithm"  # not analytic, from the left alone
