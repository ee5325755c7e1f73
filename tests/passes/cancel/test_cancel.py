"""Cancellation: what becomes of known cases, and that no value changes."""

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symdiff import ir
from symdiff.ir import functions as F
from symdiff.passes.cancel import cancel as pass_
from symdiff.passes.cancel.cancel import Notes, cancel
from symdiff.passes.differentiate import gradient
from tests.passes.evaluate import evaluate
from tests.work import at_most, calls

x, y, z = ir.var("x"), ir.var("y"), ir.var("z")
sin, cos, exp = F.SIN, F.COS, F.EXP

CASES = [
    ((x**2 - 4) / (x - 2), x + 2),
    ((x**3 - 8) / (x - 2), x**2 + 2 * x + 4),
    ((x * y - y) / (x - 1), y),
    ((exp(2 * x) - 1) / (exp(x) - 1), exp(x) + 1),
    (F.EXPM1(2 * x) / F.EXPM1(x), exp(x) + 1),
    (sin(x) ** 2 + cos(x) ** 2, ir.ONE),
    (y * sin(x) ** 2 + y * cos(x) ** 2, y),
    ((1 - cos(x) ** 2) / sin(x), sin(x)),
    ((1 - cos(x)) / sin(x), sin(x) / (cos(x) + 1)),
    (sin(2 * x) / sin(x), 2 * cos(x)),
    (sin(x) * cos(y) + cos(x) * sin(y) - sin(x + y), ir.ZERO),
    (F.COSH(x) ** 2 - F.SINH(x) ** 2, ir.ONE),
    (x / (x - 1) - 1 / (x - 1), ir.ONE),
    ((x - 1) / (ir.sqrt(x) - 1), ir.sqrt(x) + 1),
    (ir.sqrt(x) ** 2 / x, ir.ONE),
    ((x - 1) ** 10 * (y - 2) / (y - 2), (x - 1) ** 10),
    ((x - y) ** 3 / ((x - y) * (x + z)), (x - y) ** 2 / (x + z)),
    ((1 / x - 1 / y) / (x - y), -(1 / (x * y))),
    (x**y * x / x**y, x),
    ((x + 1) ** 2 - x**2 - 2 * x - 1, ir.ZERO),
    ((x**4 - y**4) / (x**2 - y**2), x**2 + y**2),
]


@pytest.mark.parametrize(("before", "after"), CASES, ids=lambda e: repr(e)[:40])
def test_known_cases(before, after):
    assert cancel((before,))[0] is after


@pytest.mark.parametrize("kept", [
    (x - 1) ** 10 + 1,
    exp(-x) / (1 + exp(-x)) ** 2,
    (1 - cos(x)) / x**2,
    F.LOG(x) / (x - 1),
    (x**2 + 1) / (x - 1),
    sin(x) / x - cos(x),
    ir.where(ir.lt(0, x), x, 1 / x),
], ids=repr)  # fmt: skip
def test_left_alone_where_nothing_cancels(kept):
    assert cancel((kept,))[0] is kept


def test_pieces_inside_branches_and_functions():
    quotient = (x**2 - 4) / (x - 2)
    assert cancel((sin(ir.where(ir.lt(0, y), quotient, x)),))[0] is sin(
        ir.where(ir.lt(0, y), x + 2, x)
    )


def test_notes_name_the_factor():
    notes = Notes()
    cancel(((x**2 - 4) / (x - 2), sin(x) ** 2 + cos(x) ** 2), notes)
    assert [c.factors for c in notes.cancelled] == [(x - 2,), ()]


@pytest.mark.parametrize("n", range(2, 21))
@pytest.mark.parametrize("m", [1, 2, 3])
def test_remark_2_1_higher_powers_and_wider_denominators(n, m):
    """(x**n - 2**n)/(x-2)**m has no factor x-2 in the numerator left; f' at 2 is exact."""
    f = cancel(((x**n - 2**n) / (x - 2) ** m,))[0]
    if m == 1:
        at = {"x": Fraction(2)}
        slope = cancel(gradient(f, (x,)))[0]
        assert evaluate(f, at, exact=True) == n * 2 ** (n - 1)
        assert evaluate(slope, at, exact=True) == Fraction(n * (n - 1), 2) * 2 ** (n - 2)
    point = {"x": Fraction(7, 3)}
    truth = (point["x"] ** n - 2**n) / (point["x"] - 2) ** m
    assert evaluate(f, point, exact=True) == truth


polynomials = st.recursive(
    st.sampled_from([x, y, z]) | st.integers(-3, 3).map(ir.const),
    lambda inner: st.builds(lambda a, b, op: op(a, b), inner, inner,
                            st.sampled_from([ir.add, ir.sub, ir.mul])),
    max_leaves=6,
)  # fmt: skip
fractions = st.fractions(-5, 5, max_denominator=50)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(polynomials, polynomials, polynomials, fractions, fractions, fractions)
def test_common_factors_always_cancel(p, q, r, a, b, c):
    """p*q/(r*q) loses q: its value is p/r exactly, also where q vanishes."""
    point = {"x": a, "y": b, "z": c}
    before = (p * q) / (r * q)
    after = cancel((before,))[0]
    bottom, factor = (evaluate(e, point, exact=True) for e in (r, q))
    if bottom == 0:
        return
    if factor != 0 or (ir.variables((q,)) and not _is_zero(q)):
        if not _is_zero(q) and not _is_zero(r):
            truth = evaluate(p, point, exact=True) / bottom
            assert evaluate(after, point, exact=True) == truth


def _is_zero(p):
    points = [{"x": Fraction(7, 3), "y": Fraction(-11, 5), "z": Fraction(13, 17)}]
    return all(evaluate(p, at, exact=True) == 0 for at in points)


atoms = st.sampled_from([x, y, exp(x), sin(x), cos(x), F.LOG(2 + x**2), ir.sqrt(1 + y**2)])
expressions = st.recursive(
    atoms | st.integers(1, 3).map(ir.const),
    lambda inner: st.builds(lambda a, b, op: op(a, b), inner, inner,
                            st.sampled_from([ir.add, ir.sub, ir.mul, ir.div])),
    max_leaves=8,
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(expressions, st.floats(0.1, 3), st.floats(0.1, 3))
def test_values_do_not_change(e, a, b):
    mpmath.mp.dps = 50
    point = {"x": mpmath.mpf(a), "y": mpmath.mpf(b)}
    before, after = evaluate(e, point), evaluate(cancel((e,))[0], point)
    if mpmath.isfinite(before):
        assert abs(before - after) <= mpmath.mpf(10) ** -30 * (1 + abs(before))


def test_large_windows_stay_within_their_budget():
    big = ir.ONE
    for i in range(60):
        big = big * (x + y * i + 1) + ir.div(1, x - i)
    notes = Notes()
    with at_most(5_000_000):
        cancel(((big * (x - 2) + 1) / (x - 2) - 1 / (x - 2),), notes)


@pytest.mark.slow
def test_cost_is_linear_in_depth():
    def slopes(depth):
        v = x
        for _ in range(depth):
            v = sin(v) + cos(v) / 3
        cancel(gradient(cancel((v,))[0], (x,)))

    assert calls(lambda: slopes(1000)) < 6 * calls(lambda: slopes(250))


def test_the_budget_is_one_for_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = ir.var("x"), ir.var("y")
    outputs = [((x + k) ** 2 - y**2) / (x + k - y) for k in range(20)]
    whole = pass_.Notes()
    pass_.cancel(outputs, whole)
    assert len(whole.cancelled) == 20 and not whole.over_budget
    monkeypatch.setattr(pass_, "MAX_WORK", whole.work // 2)
    half = pass_.Notes()
    found = pass_.cancel(outputs, half)
    assert 5 < len(half.cancelled) < 15
    assert len(half.cancelled) + len(half.over_budget) == 20
    assert found[-1] is outputs[-1] and found[0] is not outputs[0]
    again = pass_.Notes()
    assert pass_.cancel(outputs, again) == found and again.work == half.work


def test_nested_fractions_of_high_powers_are_not_expanded():
    """As one quotient it has the degree 14 in both variables, and loses all digits for large n."""
    t = (y + x) / z
    p = t**4 * (35 - t * (84 - t * (70 - 20 * t)))
    f = (t * (1 - t)) ** 3 / z * x / (x * x + (p - Fraction(3, 10)) ** 2)
    notes = Notes()
    assert cancel((f,), notes) == (f,)
    assert notes.over_budget
