"""The reference evaluator, against closed forms, exact rationals and mpmath."""

from __future__ import annotations

import math
import struct
import threading
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from symdiff import ir
from symdiff.errors import UnsupportedError
from symdiff.interpret import Certified, Undecided, evaluate, exclusive, truth, ulp_error, work
from symdiff.interpret.flat import Tape
from symdiff.interpret.rounding import FLOAT32, FLOAT64, unique_rounding
from symdiff.ir import Expr, const, eq, lt, raw, sqrt, var, where
from symdiff.ir.functions import (  # fmt: skip
    ABS,
    ACOS,
    ATAN,
    ATAN2,
    CBRT,
    COS,
    ERF,
    ERFC,
    EXP,
    FLOOR,
    GAMMA,
    HYPOT,
    LGAMMA,
    LOG,
    MAXIMUM,
    SIGN,
    SIN,
    TANH,
)
from tests.work import calls

x, y = var("x"), var("y")
inf, nan = math.inf, math.nan
THIRD = const(Fraction(1, 3))


def value(e: Expr, *point: float, dtype: str = "float64") -> float:
    return Certified((x, y)[: len(point)], [e]).at(point, dtype)[0]


def answer(e: Expr, *point: float) -> tuple[float, str]:
    found = Certified((x, y)[: len(point)], [e]).at_with_status(point)[0]
    return found.value, found.status


# ---------------------------------------------------------------- ordinary points
@pytest.mark.parametrize(
    ("e", "point", "want"),
    [
        (sqrt(x + 1) - sqrt(x), 1e15, 1.5811388300841893e-08),
        (LOG(1 + EXP(x)), 800.0, 800.0),
        (EXP(x) / (1 + EXP(x)), 1000.0, 1.0),
        (EXP(x) / (1 + EXP(x)), -1000.0, 0.0),
        (EXP(x) / (1 + EXP(x)), 1e300, 1.0),
        (x / (EXP(x) - 1), 800.0, 800 / mpmath.expm1(800)),
        ((1 - COS(x)) / x**2, 1e-300, 0.5),
        (1 - TANH(x), 400.0, 0.0),
        (SIN(x), 1e300, -0.8178819121159085),
        (GAMMA(x), 171.5, 9.4833675668248e307),
        (x**THIRD, 27.0, 3.0),
        (x ** const(Fraction(1, 10)), 0.0, 0.0),
        (CBRT(x), -8.0, -2.0),
        (x * 1e-200 * 1e-200, 1e300, 1e-100),
        (sqrt(x * x), -1e200, 1e200),
        (LOG(ERFC(x / 3)), 3e8, -1.0000000000000018e16),
        (EXP(-((x / 3) ** 2)) / ERFC(x / 3), 3e8, 177245385.0905516),
    ],
)
def test_correct_rounding(e: Expr, point: float, want: Any) -> None:
    assert answer(e, point) == (float(want), "exact")


@pytest.mark.parametrize(
    ("a", "b", "want"),
    [
        (0.0, 0.0, 1.0),
        (0.0, 0.5, 0.0),
        (-2.0, 3.0, -8.0),
        (-2.0, -2.0, 0.25),
        (-2.0, 1e10 + 1, -inf),
        (1e300, 1e300, inf),
        (-1e300, 1e300, inf),
        (-1e-300, 1e300 + 1, 0.0),
        (2.0, -1074.0, 5e-324),
        (2.0, -1075.0, 0.0),
        (9.0, -0.5, 1 / 3),
    ],
)
def test_powers(a: float, b: float, want: float) -> None:
    assert answer(raw(ir.POW, (x, y)), a, b) == (want, "exact")


def test_negative_base_with_a_fraction_as_exponent() -> None:
    assert answer(x**y, -8.0, 1 / 3)[1] == "domain"
    assert math.isnan(value(x**THIRD, -8.0))


def test_conditions_that_no_ball_decides() -> None:
    same = eq(x * THIRD * y * 3, x * y)
    assert answer(where(same, 7, 8), 1 / 7, 3.3) == (7.0, "exact")
    assert answer(where(lt(x * THIRD * 3, x), 7, 8), 0.1) == (8.0, "exact")


def test_zeros_that_no_ball_proves() -> None:
    one = SIN(x) ** 2 + COS(x) ** 2
    assert answer(one - 1, 0.3) == (0.0, "exact")  # below every float
    assert answer(SIGN(one - 1), 0.3) == (0.0, "budget")  # assumed
    assert answer(where(eq(one, 1), 5, 6), 0.3) == (5.0, "budget")


def test_branches_are_lazy() -> None:
    guarded = where(lt(0, x), sqrt(x) + LOG(x), where(lt(x, -1), ACOS(x + 1), 3))
    assert value(guarded, -0.5) == 3.0
    assert value(guarded, 0.0) == 3.0
    assert value(guarded, 1.0) == 1.0
    assert value(guarded, -2.0) == math.pi
    assert math.isnan(value(where(lt(0, x), x, ir.NAN), -1.0))


def test_undefined_arguments_of_logic() -> None:
    both = ir.and_(lt(0, x), lt(LOG(x), 1))
    assert value(where(both, 1, 2), -3.0) == 2.0
    either = ir.or_(lt(x, 0), lt(LOG(x), 1))
    assert value(where(either, 1, 2), -3.0) == 1.0
    assert value(where(lt(LOG(x), 1), 1, 2), -3.0) == 2.0  # as nan < 1


@pytest.mark.parametrize(
    ("e", "point"), [(LOG(x), -1.0), (sqrt(x), -1e-300), (ACOS(x), 1.5), (LOG(SIN(x)), 4.0)]
)
def test_domain(e: Expr, point: float) -> None:
    got, status = answer(e, point)
    assert math.isnan(got)
    assert status == "domain"


# -------------------------------------------------------------------- singular points
@pytest.mark.parametrize(
    ("e", "point", "want"),
    [
        ((x**2 - 4) / (x - 2), 2.0, 4.0),
        ((x**10 - 1) / (x - 1), 1.0, 10.0),
        ((1 - COS(x)) / x**2, 0.0, 0.5),
        ((x - SIN(x)) / x**3, 0.0, 1 / 6),
        (ACOS(x) / sqrt(1 - x**2), 1.0, 1.0),
        (ATAN(sqrt(x)) / sqrt(x), 0.0, 1.0),
        (x * LOG(x), 0.0, 0.0),
        (EXP(-1 / x**2), 0.0, 0.0),
        (raw(ir.POW, (x, ir.HALF)) * raw(ir.POW, (x, ir.HALF)) / x, 0.0, 1.0),
        (ABS(x) * SIN(x) / x, 0.0, 0.0),
        (LGAMMA(1 + x) / x, 0.0, -0.5772156649015329),
        ((EXP(x) - EXP(1)) / (x - 1), 1.0, math.e),
        (1 / LOG(x), 0.0, 0.0),
        (LOG(x) / LOG(2 * x), 0.0, 1.0),
        (SIN(x) / x + EXP(const(-700)), 0.0, 1.0),
        ((1 - COS(x)) / x + EXP(const(-700)), 0.0, float(mpmath.exp(-700))),
        ((x - 1) / (raw(ir.OPS["tan"], (ATAN(x),)) - 1), 1.0, 0.5 * 2),
    ],
)
def test_limits(e: Expr, point: float, want: float) -> None:
    assert answer(e, point) == (want, "limit")


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("e", "point", "want"),
    [
        ((EXP(x) - EXP(y)) / (x - y), (1.0, 1.0), math.e),
        ((x - y) / LOG(x / y), (2.5, 2.5), 2.5),
        (x**2 * y / (x**2 + y**2), (0.0, 0.0), 0.0),
        (SIN(HYPOT(x, y)) / HYPOT(x, y), (0.0, 0.0), 1.0),
        ((EXP(x) - EXP(y)) / (x - y), (1e-300, 1e-300), 1.0),
        (HYPOT(x, y) * SIN(x * y) / (x * y), (0.0, -2.0), 2.0),
        (x * LOG(x**2 + y**2), (0.0, 0.0), 0.0),
        *(
            (y**2 / sqrt(sqrt(x**2 + y**2) + x), (a, 0.0), 0.0)
            for a in (-1.0, -1e-18, -1e-20, -1e-30, -1e30)
        ),
        (x * y * LOG(x**2) * (1 + y), (0.0, 0.0), 0.0),
    ],
)
def test_limits_in_the_plane(e: Expr, point: tuple[float, float], want: float) -> None:
    assert answer(e, *point) == (want, "limit")


@pytest.mark.parametrize(
    ("e", "point", "want"),
    [
        (1 / x, (0.0,), inf),
        (-1 / x, (0.0,), -inf),
        (1 / x**2, (0.0,), inf),
        (LOG(x), (0.0,), -inf),
        (LOG(x) + SIN(x) / x, (0.0,), -inf),
        (1 / sqrt(x), (0.0,), inf),
        (ACOS(x) / sqrt(1 - x**2), (-1.0,), inf),
        (SIN(1 / x), (0.0,), nan),
        (ATAN(1 / x), (0.0,), nan),
        (ABS(x) / x, (0.0,), nan),
        (1 / (1 + EXP(1 / x)), (0.0,), nan),
        (x * y / (x**2 + y**2), (0.0, 0.0), nan),
        (x**2 * y / (x**4 + y**2), (0.0, 0.0), nan),
        (GAMMA(x), (-1.0,), nan),
        (1 / LOG(x), (1.0,), inf),
        (x * LOG(y), (0.0, 0.0), nan),
        (x**3 * LOG(y), (0.0, 0.0), nan),
        (x * LOG(x**2 * y**4), (0.0, 0.0), nan),
        (y * LOG(x / (1 + y)), (0.0, 0.0), nan),
    ],
)
def test_what_has_no_limit_is_not_invented(e: Expr, point: tuple[float, ...], want: float) -> None:
    got, status = answer(e, *point)
    assert status == "pole"
    assert got == want or (math.isnan(got) and math.isnan(want))


def test_a_kink_has_the_value_of_the_table() -> None:
    assert answer(SIGN(x) * SIN(x) / x, 0.0) == (0.0, "limit")
    assert answer(where(lt(0, x), 3, 2) * SIN(x) / x, 0.0) == (2.0, "limit")
    assert answer((FLOOR(x) + 1) * (x - 1) / SIN(x - 1), 1.0) == (2.0, "limit")


def test_one_sided_domains_count_from_inside() -> None:
    assert answer(where(lt(0, x), 1 / (2 * sqrt(x)), 0), 0.0) == (0.0, "exact")
    assert answer(SIN(sqrt(x)) / sqrt(x), 0.0) == (1.0, "limit")
    assert answer((1 - x) / sqrt(1 - x), 1.0) == (0.0, "limit")


def test_a_derivative_needs_its_primal() -> None:
    slope = -1 / (x**2 * (1 + 1 / x**2))
    assert Certified([x], [slope]).at([0.0]) == (-1.0,)
    jumps = Certified([x], [ATAN(1 / x), slope], primals=[ATAN(1 / x)]).at([0.0])
    assert all(map(math.isnan, jumps))


def test_infinite_and_nan_inputs() -> None:
    assert value(LOG(1 + EXP(x)), inf) == inf
    assert value(LOG(1 + EXP(x)), -inf) == 0.0
    assert value(ERF(x), -inf) == -1.0
    assert value(ATAN(x), inf) == math.pi / 2
    assert math.isnan(value(SIN(x), inf))
    assert math.isnan(value(x - (x**2 + 1) / x, inf))
    assert math.isnan(value(x + y, nan, 1.0))


def test_overflow_of_everything() -> None:
    tower = EXP(EXP(EXP(x)))
    assert answer(tower, 100.0) == (inf, "budget")
    assert answer(1 / tower, 100.0) == (0.0, "budget")


# ------------------------------------------------------------------ budget and size
def test_deep_programs() -> None:
    e: Expr = x
    for _ in range(2000):
        e = SIN(e) + COS(e) / 3
    assert answer(e, 0.7)[1] == "exact"


def test_budget_is_kept() -> None:
    e: Expr = x
    for _ in range(300):
        e = LGAMMA(2 + e**2) / 3
    program = Certified([x], [(e - e / 2) / (SIN(x) ** 2 + COS(x) ** 2 - 1)], budget=800_000)
    before = work.spent()
    assert program.at_with_status([0.7])[0].status == "budget"
    assert work.spent() - before < 20_000_000


def test_speed_of_one_pass() -> None:
    e: Expr = x
    for i in range(25):
        e = e * y + (i + 1) / (1 + e)
    program = Certified([x, y], [e])
    assert len(program.tape.nodes) > 90
    program.at([1.1, 0.3])
    assert calls(lambda: program.at([1.1, 0.3])) < 10 * len(program.tape.nodes)


@pytest.mark.slow
def test_precision_is_restored_and_threads_do_not_mix() -> None:
    ctx.prec = 71
    program = Certified([x, y], [(EXP(x) - EXP(y)) / (x - y), SIN(x) / 3])
    points = [(1.0, 1.0), (1.0, 2.0), (0.1, 0.1 + 1e-17), (3.0, 3.0)] * 5
    want = [program.at(p) for p in points]
    got: dict[int, list[tuple[float, ...]]] = {}
    threads = [
        threading.Thread(target=lambda k=k: got.__setitem__(k, [program.at(p) for p in points]))
        for k in range(4)
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(g == want for g in got.values())
    assert len(got) == 4
    assert ctx.prec == 71
    ctx.prec = 53


def test_refusals() -> None:
    with pytest.raises(ValueError, match="y is not a parameter"):
        Certified([x], [y])
    with pytest.raises(ValueError, match="2 coordinates, not 1"):
        Certified([x, y], [x]).at([1.0])
    with pytest.raises(UnsupportedError, match="opaque_for_test cannot be evaluated"):
        Certified([x], [OPAQUE(x)])


OPAQUE = ir.Op("opaque_for_test", 1)
EXPANDED = ir.Op("expanded_for_test", 1, expand=lambda u: u * u + 1)


def test_operations_without_balls_use_their_formula() -> None:
    assert value(EXPANDED(x), 3.0) == 10.0


# --------------------------------------------------------------- evaluate and truth
def test_evaluate() -> None:
    (ball,) = evaluate([SIN(x)], ["x"], [1.0], 200)
    with exclusive(200):
        assert abs(ball - arb(1).sin()) < arb(2) ** -190
    assert evaluate([1 / x], ["x"], [0.0], 100)[0].is_nan()
    assert evaluate([LOG(x)], ["x"], [-1.0], 100)[0].is_nan()


def test_evaluate_raises_undecided() -> None:
    close = where(lt(SIN(x) ** 2 + COS(x) ** 2, 1), 1, 2)
    with pytest.raises(Undecided, match="100 bits do not decide"):
        evaluate([close], ["x"], [0.3], 100)


def test_truth_of_many_points() -> None:
    values, statuses = truth([x**2, SIN(x) / x], ["x"], [[0.0], [2.0]])
    assert values.tolist() == [[0.0, 1.0], [4.0, math.sin(2) / 2]]
    assert statuses == [("exact", "limit"), ("exact", "exact")]
    empty, _ = truth([x, x + 1], ["x"], [])
    assert empty.shape == (0, 2)


def test_float32() -> None:
    program = Certified([x], [x / 3, x * 1e30, x * 1e39, x * 2.0**-149, x * 2.0**-150])
    got = program.at([1.0], "float32")
    assert got == (float(np.float32(1 / 3)), float(np.float32(1e30)), inf, 2.0**-149, 0.0)
    assert Certified([x], [(1 - COS(x)) / x**2]).at([0.0], np.float32) == (0.5,)


# -------------------------------------------------------------------------- rounding
@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(-80, 80))
def test_rounding_matches_numpy(f: float, shift: int) -> None:
    exact = Fraction(f) * Fraction(2) ** shift
    with exclusive(200):
        ball = arb(f) * arb(2) ** shift
        try:
            want = float(exact)
        except OverflowError:
            want = math.copysign(inf, f)
        assert FLOAT64.round(ball) == want
        assert unique_rounding(ball, FLOAT64) == want
        if shift == 0:
            with np.errstate(over="ignore"):
                assert FLOAT32.round(ball) == float(np.float32(f))


def test_rounding_of_long_and_of_extreme_numbers() -> None:
    with exclusive(3000):
        third = arb(1) / 3
        for fmt, nearest in ((FLOAT64, 1 / 3), (FLOAT32, float(np.float32(1 / 3)))):
            assert fmt.round(third.mid()) == nearest  # a mantissa of 3000 bits
            assert fmt.round(-third.mid()) == -nearest
            assert fmt.round(arb(2) ** 10**12) == inf
            assert fmt.round(-(arb(2) ** 10**12)) == -inf
            assert fmt.round(arb(2) ** -(10**12)) == 0.0
            smallest = arb(2) ** fmt.lowest
            assert fmt.round(smallest / 2) == 0.0  # a tie, to even
            assert fmt.round(smallest * arb("0.75").mid()) == math.ldexp(1.0, fmt.lowest)
            assert fmt.round(smallest * arb("0.25")) == 0.0
            assert math.isnan(fmt.round(arb("nan")))
            assert fmt.round(arb("-inf")) == -inf


def test_an_open_ball_does_not_settle() -> None:
    assert unique_rounding(arb(1, 1e-10), FLOAT64) is None
    with exclusive(400):
        assert unique_rounding(arb(1 / 3, 1e-30), FLOAT64) == 1 / 3
        assert unique_rounding(arb(1, 1e-7), FLOAT32) is None
        # a tie, to 300 bits:
        tie = arb(1) + arb(2) ** -53
        assert unique_rounding(arb(tie, arb(2) ** -300), FLOAT64) in (1.0, 1 + 2**-52)


def test_ulp_error() -> None:
    assert ulp_error(1.0, 1.0) == 0
    assert ulp_error(1.0 + 2**-52, 1.0) == 1
    assert ulp_error(1.0, Fraction(1) + Fraction(1, 2**53)) == 0.5
    assert ulp_error(0.0, 5e-324) == 1
    assert ulp_error(nan, 1.0) == inf
    assert ulp_error(1.0, nan) == inf
    assert ulp_error(nan, nan) == 0
    assert ulp_error(inf, inf) == 0
    assert ulp_error(-inf, inf) == inf
    assert ulp_error(inf, 1.0) == inf
    assert ulp_error(inf, arb(10) ** 400) == 0
    assert ulp_error(1.0, arb(1) + arb(2) ** -24, np.float32) == 0.5
    with pytest.raises(ValueError, match="int64"):
        ulp_error(1.0, 1.0, np.int64)


# ---------------------------------------------------------------- random expressions
leaf = st.sampled_from([x, y, const(3), const(Fraction(1, 3)), const(0.1), const(-2)])


def _grow(children: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    pair = st.tuples(children, children)
    return st.one_of(
        pair.map(lambda p: p[0] + p[1]),
        pair.map(lambda p: p[0] - p[1]),
        pair.map(lambda p: p[0] * p[1]),
        pair.map(lambda p: p[0] / p[1]),
        pair.map(lambda p: MAXIMUM(*p)),
        st.tuples(pair, pair).map(lambda p: where(lt(*p[0]), *p[1])),
        children.map(lambda e: e**3),
        children.map(ABS),
    )


rationals = st.recursive(leaf, _grow, max_leaves=12)


def exact(e: Expr, point: dict[Expr, Fraction]) -> Fraction | None:
    """The value in exact rational arithmetic; None if undefined."""
    memo: dict[Expr, Any] = {}
    for n in ir.topological([e]):
        a = [memo[c] for c in n.args]
        if n.op is ir.VAR:
            memo[n] = point[n]
        elif not n.args:  # a constant may be a quotient by zero
            memo[n] = None if isinstance(n.value, float) else n.value
        elif n.op is ir.WHERE:
            memo[n] = None if a[0] is None else a[1] if a[0] else a[2]
        elif None in a or (n.op is ir.DIV and a[1] == 0):
            memo[n] = None
        else:
            memo[n] = RATIONAL[n.op.name](*a)
    result: Fraction | None = memo[e]
    return result


RATIONAL: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b, "neg": lambda a: -a, "abs": abs, "maximum": max, "sign": lambda a: (a > 0) - (a < 0),
    "pow": lambda a, b: a**b, "lt": lambda a, b: a < b, "not": lambda a: not a,
    "and": lambda a, b: a and b, "or": lambda a, b: a or b, "eq": lambda a, b: a == b,
    "le": lambda a, b: a <= b,
}  # fmt: skip

coordinate = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, 3.0, 0.1, -2.0]),
    st.integers(0, 2**64 - 1)
    .map(lambda i: struct.unpack("<d", struct.pack("<Q", i))[0])
    .filter(math.isfinite),
)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(rationals, coordinate, coordinate)
def test_rational_expressions(e: Expr, a: float, b: float) -> None:
    want = exact(e, {x: Fraction(a), y: Fraction(b)})
    got, status = answer(e, a, b)
    if want is None:
        assert status != "exact"
        return
    assert status == "exact"
    try:
        rounded = float(want)
    except OverflowError:
        rounded = inf if want > 0 else -inf
    assert got == rounded


@settings(max_examples=60, deadline=None)
@given(
    st.recursive(
        leaf,
        lambda c: st.one_of(
            st.tuples(c, c).map(lambda p: p[0] * p[1]),
            st.tuples(c, c).map(lambda p: p[0] - p[1]),
            st.tuples(st.sampled_from([SIN, COS, ATAN, TANH]), c).map(lambda p: p[0](p[1])),
        ),
        max_leaves=8,
    ),
    st.floats(-10, 10),
    st.floats(-10, 10),
)
def test_smooth_expressions_against_mpmath(e: Expr, a: float, b: float) -> None:
    with mpmath.workprec(3000):
        memo: dict[Expr, Any] = {x: mpmath.mpf(a), y: mpmath.mpf(b)}
        table = {"mul": mpmath.fmul, "sub": mpmath.fsub, "add": mpmath.fadd, "neg": mpmath.fneg}
        for n in ir.topological([e]):
            if n.op is ir.CONST:
                memo[n] = mpmath.mpf(n.value.numerator) / n.value.denominator
            elif n.op is ir.POW:
                memo[n] = memo[n.args[0]] ** int(n.args[1].value)
            elif n.args:
                name = n.op.name
                f = table.get(name) or getattr(mpmath, name)
                memo[n] = f(*(memo[c] for c in n.args))
        want = float(memo[e])
    got, status = answer(e, a, b)
    assert status == "exact"
    assert math.isclose(got, want, rel_tol=2**-52, abs_tol=1e-320)


def test_tape_evaluates_shared_nodes_once() -> None:
    e: Expr = x
    for _ in range(100):
        e = e * e + e
    assert len(Tape([x], [e]).nodes) < 310


def test_atan2_on_its_cut() -> None:
    assert value(ATAN2(x, y), 0.0, -1.0) == math.pi


@pytest.mark.slow
def test_the_precision_grows_by_what_a_result_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not to the next of the list, where the time is as the precision squared."""
    used: list[int] = []
    run = Tape.run

    def noting(self: Tape, inputs: Any, prec: int, *rest: Any) -> Any:
        used.append(prec)
        return run(self, inputs, prec, *rest)

    y = var("x")
    for _ in range(3000):
        y = 4 * y * (1 - y)
    monkeypatch.setattr(Tape, "run", noting)
    (value,) = Certified(["x"], [y], budget=240_000_000).at([0.3])
    assert 5000 < max(used) < 8000
    with mpmath.workprec(10_000):
        z = mpmath.mpf(0.3)
        for _ in range(3000):
            z = 4 * z * (1 - z)
    assert value == float(z)


def test_the_same_formula_of_equal_numbers_is_the_same_number():
    f, g = SIN(3 * x) * y, SIN(3 * y) * x
    program = Certified(["x", "y"], [f - g, where(ir.le(f, g), 1, 2), LOG(x) - LOG(y)])
    answers = program.at_with_status([0.7, 0.7])
    assert [(a.value, a.status) for a in answers] == [
        (0.0, "exact"),
        (1.0, "exact"),
        (0.0, "exact"),
    ]
    assert program.at_with_status([-0.7, -0.7])[2].status == "domain"
    assert program.at_with_status([0.7, math.nextafter(0.7, 1)])[0].value != 0.0


def test_an_infinity_that_is_written_is_no_limit_to_be_looked_for():
    program = Certified(["x"], [where(ir.le(x, 0), -ir.INF - EXP(x), LOG(x))])
    (answer,) = program.at_with_status([-0.7])
    assert (answer.value, answer.status) == (-math.inf, "pole")
    (answer,) = Certified(["x"], [ir.INF - ir.INF * x]).at_with_status([0.5])
    assert math.isnan(answer.value)
