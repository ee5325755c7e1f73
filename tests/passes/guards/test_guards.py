"""Guards: right ones are repaired, wrong ones named, and branches left alone.

The truth about limits is closed form; that nothing else changes is checked by
evaluating both forms in ball arithmetic.
"""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from symdiff import GuardWarning, ir, symgrad
from symdiff.interpret import Certified
from symdiff.ir import functions as F
from symdiff.passes.analysis.zeros import zero_sets
from symdiff.passes.cancel.cancel import cancel
from symdiff.passes.cancel.literals import exact_literals
from symdiff.passes.differentiate import gradient, pushforward
from symdiff.passes.guards.enclosing import Contexts
from symdiff.passes.guards.guards import guards
from symdiff.passes.guards.notes import GuardNotes
from symdiff.passes.guards.regions import Known, constraint
from symdiff.pipeline import guard_messages
from tests.passes.evaluate import evaluate
from tests.work import at_most

mpmath.mp.dps = 50
x, y, a, b, c = (ir.var(n) for n in "xyabc")
sin, cos, exp, log, sqrt, where = F.SIN, F.COS, F.EXP, F.LOG, ir.sqrt, ir.where
expm1, log1p, abs_, maximum, minimum = F.EXPM1, F.LOG1P, ir.abs_, F.MAXIMUM, F.MINIMUM
norm = sqrt(a**2 + b**2 + c**2)
sinc = sin(x) / x
quotient = (x**2 - 4) / (x - 2)


def near(u, eps):
    return ir.lt(abs_(u), eps)


def zero(u):
    return ir.eq(u, 0)


def run(e, facts=()):
    notes = GuardNotes()
    return guards((e,), facts, notes)[0], notes


def double(condition, value, f):
    """A double `where`, as people write it."""
    return where(condition, value, f(where(condition, 1, x)))


# ------------------------------------------------------------------ what is repaired
REPAIRED = {
    "point": (where(zero(x), 1, expm1(x) / x), expm1(x) / x),
    "not equal": (where(ir.ne(x, 0), sinc, 1), sinc),
    "swapped": (where(ir.eq(ir.const(0), x), 1, sinc), sinc),
    "double where": (double(zero(x), 1, lambda s: expm1(s) / s), expm1(x) / x),
    "double where, band": (double(near(x, 1e-8), 1 + x / 2, lambda s: expm1(s) / s), expm1(x) / x),
    "double where, constant": (double(near(x, 1e-8), 1, lambda s: expm1(s) / s), expm1(x) / x),
    "cosine": (where(zero(x), ir.HALF, (1 - cos(x)) / x**2), (1 - cos(x)) / x**2),
    "log1p": (where(near(x, 1e-5), 1 - x / 2 + x**2 / 3 - x**3 / 4, log1p(x) / x), log1p(x) / x),
    "order 2": (where(near(x, 1e-4), 1 - x**2 / 6, sinc), sinc),
    "order 4": (where(near(x, 1e-2), 1 - x**2 / 6 + x**4 / 120, sinc), sinc),
    "other side": (where(ir.lt(1e-4, abs_(x)), sinc, 1 - x**2 / 6), sinc),
    "chained": (where(ir.and_(ir.lt(-1e-4, x), ir.lt(x, 1e-4)), 1 - x**2 / 6, sinc), sinc),
    "two halves": (where(ir.and_(ir.lt(-1e-4, x), ir.lt(x, 0)), 1 - x**2 / 6,
                         where(ir.and_(ir.le(0, x), ir.lt(x, 1e-4)), 1 - x**2 / 6, sinc)), sinc),
    "two points": (where(ir.or_(zero(x), ir.eq(x, 1)), 1, sin(x * (x - 1)) / (x * (x - 1))),
                   sin(x * (x - 1)) / (x * (x - 1))),
    "at two": (where(ir.eq(x, 2), 4, quotient), quotient),
    "Rodrigues 1": (where(ir.lt(norm, 1e-8), 1, sin(norm) / norm), sin(norm) / norm),
    "Rodrigues 2": (where(ir.lt(norm, 1e-8), 0.5, (1 - cos(norm)) / norm**2), (1 - cos(norm)) / norm**2),
    "Rodrigues vector": (where(zero(norm), a, a * sin(norm) / norm), a * sin(norm) / norm),
    "clamp everywhere": (sin(maximum(norm, 1e-12)) / maximum(norm, 1e-12), sin(norm) / norm),
    "clamp behind a branch": (
        where(ir.lt(norm, 1e-8), 1, sin(maximum(norm, 1e-8)) / maximum(norm, 1e-8)), sin(norm) / norm),
    "diagonal": (where(ir.eq(x, y), exp(x), (exp(x) - exp(y)) / (x - y)), (exp(x) - exp(y)) / (x - y)),
    "logarithmic mean": (where(ir.eq(a, b), a, (a - b) / log(a / b)), (a - b) / log(a / b)),
    "product": (where(zero(a * b), 1, a * b / expm1(a * b)), a * b / expm1(a * b)),
    "decay": (where(zero(a), x, (1 - exp(-a * x)) / a), (1 - exp(-a * x)) / a),
    "both parts of a quotient": (where(zero(x), 1, expm1(x)) / where(zero(x), 1, x), expm1(x) / x),
    "the divisor alone": ((1 - cos(x)) / where(zero(x), 1, x), (1 - cos(x)) / x),
    "a difference of branches": (where(zero(x), 0, 1 / x) - where(zero(x), 0, 1 / sin(x)), 1 / x - 1 / sin(x)),
    "a straight line for a band": (where(near(x, 1e-5), 1 - x / 2, log1p(x) / x), log1p(x) / x),
    "a few terms for a band": (where(near(x, 1e-2), 1 - x**2 / 6, sinc), sinc),
    "one-sided": (where(zero(x), 1, sin(sqrt(x)) / sqrt(x)), sin(sqrt(x)) / sqrt(x)),
    "a singular derivative": (where(ir.eq(x, 1), 0, F.ACOS(x) ** 2), F.ACOS(x) ** 2),
}  # fmt: skip


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", REPAIRED)
def test_right_guards_become_the_smooth_extension(name):
    guarded, smooth = REPAIRED[name]
    got, notes = run(guarded)
    assert got is smooth
    assert notes.guards
    assert all(g.kind == "repaired" for g in notes.guards)


def test_the_derivative_behind_a_double_where():
    guarded = REPAIRED["double where"][0]
    slopes = {}
    for name, e in (("as written", guarded), ("repaired", run(guarded)[0])):
        slope = pushforward((e,), {x: ir.ONE})[0]
        slopes[name] = Certified(["x"], [slope], (e,)).at([0.0])[0]
    assert slopes == {"as written": 0.0, "repaired": 0.5}


def test_all_derivatives_of_a_norm():
    e = run(REPAIRED["Rodrigues 1"][0])[0]
    first = gradient(e, (a, b, c))
    second = [pushforward((first[0],), {v: ir.ONE})[0] for v in (a, b)]
    values = Certified(["a", "b", "c"], [e, *first, *second]).at([0.0, 0.0, 0.0])
    assert values == (1.0, 0.0, 0.0, 0.0, pytest.approx(-1 / 3), 0.0)


def test_facts_make_a_band_bounded():
    e = where(ir.lt(x, 1e-9), 1 - x / 2, log1p(x) / x)
    assert run(e)[0] is e  # the branch of one side
    assert run(e, [ir.lt(0, x)])[0] is log1p(x) / x


def test_values_outside_the_domain_stay():
    e = where(near(x - 1, 1e-9), 1, F.ACOS(x) / sqrt(1 - x**2))
    got, notes = run(e)
    assert [g.kind for g in notes.guards] == ["repaired"]
    slope = pushforward((got,), {x: ir.ONE})[0]
    program = Certified(["x"], [got, slope])
    assert program.at([1.0]) == (1.0, pytest.approx(-1 / 3))
    assert program.at([1 + 2.0**-31]) == (1.0, 0.0)


def test_a_wide_condition_keeps_its_other_part():
    e = where(ir.or_(zero(x), ir.lt(5, x)), 1, sinc)
    assert run(e)[0] is where(ir.lt(5, x), 1, sinc)


COARSE = {
    "constant": (where(near(x, 1e-4), 1, expm1(x) / x), expm1(x) / x),
    "wide and flat": (where(near(x, 1e-2), 1, sinc), sinc),
    "straight": (where(near(x, 1e-2), 1 + x / 2, expm1(x) / x), expm1(x) / x),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", COARSE)
def test_a_limit_that_stands_for_a_band_keeps_its_value_not_its_derivative(name):
    guarded, smooth = COARSE[name]
    got, notes = run(guarded)
    assert got.op is F.EXTENDED and got.args[0] is guarded
    (extended,) = gradient(got, [x])
    assert extended is gradient(got.args[1], [x])[0]
    (guard,) = notes.guards
    assert guard.kind == "repaired" and guard.coarse
    assert "the derivatives are those of the smooth extension" in guard_messages.message(guard)


def grown(t, k):
    if abs(k) < 1e-10:
        return t
    return math.expm1(k * t) / k


def log_mean(t, k):
    if abs(t - k) < 1e-9:
        return 0.5 * (t + k)
    return (t - k) / math.log(t / k)


def grown_safely(t, k):
    safe = np.where(np.abs(k) < 1e-10, 1.0, k)
    return np.where(np.abs(k) < 1e-10, t, np.expm1(safe * t) / safe)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("f", "smooth", "written", "slopes"),
    [
        (grown, (2.0, 1e-11), (1e12, 5e-11), (1.0, 0.0)),
        (grown, (2.0, 0.0), (1e300, -1e-290), (1.0, 0.0)),
        (grown_safely, (2.0, 1e-11), (1e12, 5e-11), (1.0, 0.0)),
        pytest.param(
            log_mean, (2.0, 2.0 + 1e-12), (1e-14, 1e-13), (0.5, 0.5), marks=pytest.mark.slow
        ),
    ],
)
def test_a_band_is_no_guard_where_other_variables_carry_it_away(f, smooth, written, slopes):
    """Near enough the derivatives are those of the smooth function, elsewhere what is written."""
    g = symgrad(f)
    with np.errstate(over="ignore"):
        assert g(*written) == f(*written)
    assert g.grad(*written) == slopes
    by_last = g.grad(*smooth)[1]
    assert by_last == pytest.approx(2.0 if f is not log_mean else 0.5, rel=1e-9)


@pytest.mark.slow
def test_coarse_guards_from_the_source_to_the_kernel():
    g = symgrad(lambda x: 1.0 if abs(x) < 1e-4 else math.expm1(x) / x)
    for at in (0.0, 3e-5, -9e-5, 2e-4):
        with mpmath.workdps(60):
            h = mpmath.mpf(10) ** -20
            t = mpmath.mpf(at) or h / 7
            slope = mpmath.diff(lambda u: (mpmath.exp(u) - 1) / u, t, h=h)
        assert g(at) == (1.0 if abs(at) < 1e-4 else math.expm1(at) / at)
        assert abs(g.grad(at) - slope) <= 4 * math.ulp(0.5)
    assert g.hessian(0.0) == 1 / 3


@pytest.mark.slow
def test_a_relative_band_is_a_guard_where_the_function_is_defined():
    @symgrad
    def mean(p, q):
        if abs(p - q) < 1e-9 * abs(p):
            return p
        return (p - q) / (math.log(p) - math.log(q))

    assert mean.grad(2.0, 2.0) == (0.5, 0.5)
    assert mean(-1.0, -1.0) == -1.0
    assert math.isnan(mean(-1.0, 2.0))


PLANCK = lambda x, y: y * (1 - x / y / 2) if abs(x / y) < 1e-6 else x / math.expm1(x / y)
BY_DEFINITION = {
    "of a square": (lambda x, _: 1.0 if x * x < 1e-16 else math.sin(x) / x, (1e-9, 1.0), (-1e-9 / 3, 0.0)),
    "divided difference": (
        lambda x, y: math.exp((x + y) / 2) if abs(x - y) < 1e-9 else (math.exp(x) - math.exp(y)) / (x - y),
        (0.5, 0.5 + 2.0**-31), (math.exp(0.5) / 2,) * 2,
    ),
    "Planck, beside": (PLANCK, (1e-7, 2.0), (-0.5, 1.0)),
    "Planck": (PLANCK, (0.0, 2.0), (-0.5, 1.0)),
    "relative": (
        lambda x, y: x if abs(x - y) < 1e-9 * abs(x) else (x - y) / math.asinh((x - y) / x), (2.0, 2.0), (1.0, 0.0),
    ),
    "power": (lambda x, y: math.log(x) if abs(y) < 1e-7 else (x**y - 1) / y, (3.0, 1e-8), (1 / 3, math.log(3) ** 2 / 2)),
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize(("f", "at", "slopes"), BY_DEFINITION.values(), ids=BY_DEFINITION)
def test_bands_of_several_variables_are_left_to_the_definition(f, at, slopes):
    g = symgrad(f)
    assert g(*at) == pytest.approx(f(*at), rel=1e-15)
    assert g.grad(*at) == pytest.approx(slopes, rel=1e-7)
    rows = g.grad(*(np.full(2, a) for a in at))
    assert [r[1] for r in rows] == pytest.approx(slopes, rel=1e-7)


def curved(z, k):
    """A distance in a space of curvature k."""
    if k > 1e-8:
        return np.sin(np.sqrt(k) * z) / np.sqrt(k)
    if k < -1e-8:
        return np.sinh(np.sqrt(-k) * z) / np.sqrt(-k)
    return z


def curved_by_size(z, k):
    if abs(k) < 1e-10:
        return z
    s = np.sqrt(np.abs(k))
    return np.sin(s * z) / s if k > 0 else np.sinh(s * z) / s


@pytest.mark.sampled
@pytest.mark.parametrize("f", [curved, curved_by_size], ids=lambda f: f.__name__)
@pytest.mark.parametrize("k", [0.0, 1e-12, -1e-12, 9e-9, -9e-9, 1e-3, -0.3])
def test_guards_between_two_functions(f, k):
    with mpmath.workdps(60):
        z, x = mpmath.mpf(1.5), mpmath.mpf(k)
        terms = [(-x) ** n * z ** (2 * n + 1) / mpmath.factorial(2 * n + 1) for n in range(40)]
        slopes = [-n * (-x) ** (n - 1) * z ** (2 * n + 1) / mpmath.factorial(2 * n + 1)
                  for n in range(1, 40)]  # fmt: skip
        value, by_k = sum(terms), sum(slopes)
    g = symgrad(f)
    assert abs(g(1.5, k) - value) <= (1e-8 if abs(k) < 1e-8 else 4 * math.ulp(1.5))
    assert abs(g.grad(1.5, k)[1] - by_k) <= 4 * math.ulp(0.5625)


def test_a_wrong_guard_warns_at_its_line():
    def f(x):
        return math.sin(x) / (x + 1e-12)

    line = f.__code__.co_firstlineno + 1
    for _ in range(2):  # from disk too
        guard_messages._warned.clear()
        with pytest.warns(GuardWarning, match=r"0\.0 against 1\.0 at x = 0") as caught:
            symgrad(f).grad(0.5)
        assert [(w.filename, w.lineno) for w in caught] == [(__file__, line)]


# ------------------------------------------------------------- as people write them
def tried(x):
    try:
        return math.expm1(x) / x
    except ZeroDivisionError:
        return 1.0


def tried_and_named(x):
    try:
        y = math.expm1(x) / x
    except ZeroDivisionError:
        y = 1.0
    return y


def divided_where(x):
    return np.divide(np.expm1(x), x, out=np.ones_like(x), where=x != 0)


def nan_asked_for(x):
    with np.errstate(invalid="ignore"):
        y = np.expm1(x) / x
    return np.where(np.isnan(y), 1.0, y)


def not_finite(x):
    y = math.expm1(x) / x
    if not math.isfinite(y):
        y = 1.0
    return y


@pytest.mark.sampled
@pytest.mark.parametrize(
    "f",
    [
        tried, tried_and_named, divided_where, nan_asked_for, not_finite,
        pytest.param(lambda x: np.nan_to_num(np.expm1(x) / x, nan=1.0), id="nan_replaced"),
        pytest.param(lambda x: 1.0 if np.isclose(x, 0.0) else np.expm1(x) / x, id="close"),
        pytest.param(lambda x: math.expm1(x) / x if x else 1.0, id="false"),
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_guards_as_people_write_them(f):
    g = symgrad(f)
    assert (g(0.0), g.grad(0.0), g.hessian(0.0)) == (1.0, 0.5, 1 / 3)
    assert np.array_equal(g.grad(np.array([0.0, 1e-17])), [0.5, 0.5])


@pytest.mark.slow
def test_what_divides_by_zero_or_is_not_finite_has_the_value_that_is_written():
    def tried(x):
        try:
            return 1 / x
        except ZeroDivisionError:
            return 7.0

    asked = lambda x: 1 / x if math.isfinite(1 / x) else 7.0
    chosen = lambda x: np.log(x, where=x > 0, out=np.full_like(x, 7.0))
    for f in map(symgrad, (tried, asked, chosen)):
        assert (f(0.0), f.grad(0.0)) == (7.0, 0.0)
        if f.__name__ == "tried":  # NumPy divides arrays by zero without an error
            assert np.array_equal(f(np.array([0.0, 1.0])), [np.inf, 1.0])
        else:
            assert np.array_equal(f(np.array([0.0, 1.0])), [7.0, f(1.0)])
    with pytest.warns(GuardWarning, match="2.0 against 1.0"):
        symgrad(lambda x: np.nan_to_num(np.sin(x) / x, nan=2.0))(0.5)


# ---------------------------------------------------------------------- what is named
step = where(ir.le(0, x - 2), 1, -1)
WRONG = {  # guarded value, true value
    "zero for a half": (where(zero(x), 0, (exp(x) - 1 - x) / x**2), 0.0, 0.5),
    "epsilon": (sin(x) / (x + 1e-12), 0.0, 1.0),
    "epsilon after a square": (sin(a**2 + b**2) / (a**2 + b**2 + 1e-300), 0.0, 1.0),
    "signed epsilon": ((x**2 - 4) / ((x - 2) + F.SIGN(x - 2) * 1e-8), 0.0, 4.0),
    "clamp": (sin(x) / maximum(x, 1e-12), 0.0, 1.0),
    "negative clamp": (sin(x) / minimum(x, -1e-12), 0.0, 1.0),
    "the paper's h1": (where(ir.and_(ir.lt(2 - 1e-4, x), ir.lt(x, 2 + 1e-4)),
                             (x**2 - 4) / ((x - 2) + step * 1e-8), quotient), 0.0, 4.0),
    "the paper's h2": (where(near(x - 2, 1e-4), (x**2 - 4) / (step * 1e-4), quotient), 0.0, 4.0),
    "only one where": (expm1(where(zero(x), 1, x)) / where(zero(x), 1, x), 1.7182818284590453, 1.0),
    "the divisor alone": (sin(x) / where(zero(x), 1, x), 0.0, 1.0),
    "diagonal": (where(ir.eq(x, y), 0, (x**2 - y**2) / (x - y)), 0.0, None),
}  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", WRONG)
def test_wrong_guards_are_kept_and_named_with_both_numbers(name):
    e, guarded, limit = WRONG[name]
    got, notes = run(e)
    assert got is e
    assert [g.kind for g in notes.guards] == ["kept"]
    guard = notes.guards[0]
    assert guard.guarded == guarded
    if limit is not None:
        assert guard.limit == limit
        assert f"{guarded!r} against {limit!r}" in guard_messages.message(guard)
    assert guard.node in ir.topological((e,))


@pytest.mark.parametrize(("polynomial", "eps"), [
    (1 + x**2 / 6, 1e-4), (1 + x / 1024, 1e-4), (ir.const(2), 1e-2), (1 - x**2 / 5, 1e-5),
    (1 - x**2 / 6 - x**4 / 120, 1e-1), (exp(-(x**2) / 6), 1e-2),
], ids=repr)  # fmt: skip
def test_bands_that_do_not_agree_to_rounding(polynomial, eps):
    e = where(near(x, eps), polynomial, sinc)
    got, notes = run(e)
    assert got is e
    (guard,) = notes.guards
    assert guard.kind == "kept"
    place = mpmath.mpf(float(guard.where[0][1]))
    assert 0.9 * eps < abs(place) < eps  # such errors grow towards the edge
    point = {"x": mpmath.mpf(guard.where[0][1].numerator) / guard.where[0][1].denominator}
    assert guard.limit == float(mpmath.sin(point["x"]) / point["x"])
    assert guard.guarded == float(evaluate(polynomial, point))
    assert "is not the value without it" in guard_messages.message(guard)


# ---------------------------------------------------------------- what is left alone
BRANCHES = {
    "relu": where(ir.lt(0, x), x, 0),
    "root": where(ir.lt(0, x), sqrt(x), 0),
    "max": maximum(x, 0),
    "abs": where(ir.lt(x, 0), -x, x),
    "softplus": where(ir.lt(20, x), x, log1p(exp(x))),
    "pole": where(zero(x), 0, 1 / x),
    "jump": where(zero(x), 0, x / abs_(x)),
    "unit vector": where(zero(norm), 0, a / norm),
    "regular": where(zero(x), 2, cos(x)),
    "rough": where(zero(x), 0, x**2 * sin(1 / x)),
    "x log x": where(zero(x), 0, x * log(x)),
    "not analytic": where(ir.and_(zero(x), zero(y)), 0, x**2 * y**2 / (x**2 + y**2)),
    "log clamp": log(maximum(x, 1e-300)),
    "log epsilon": log(x + 1e-12),
    "entropy": -x * log(x + 1e-12),
    "smooth norm": x / sqrt(x**2 + y**2 + 1e-12),
    "clipped": F.ACOS(minimum(maximum(x, -1), 1)),
    "wide": where(near(x, 1), x**2, sinc),
    "wide half line": where(ir.lt(x, 0.1), 1, sinc),
    "periodic": where(ir.lt(cos(x), 1e-8), 1, sinc),
    "shifted": sin(x - 1e-6) / (x - 1e-6),
    "clamp behind a right value": where(ir.lt(0, norm), sin(norm) / maximum(norm, 1e-30), 1),
}


@pytest.mark.parametrize("name", BRANCHES)
def test_branches_are_no_guards(name):
    e = BRANCHES[name]
    got, notes = run(e)
    assert got is e
    assert not notes.guards
    assert not notes.literals


def test_each_guard_of_a_sum_is_judged_by_itself():
    right, wrong = where(zero(x), 1, sinc), where(zero(x), 2, expm1(x) / x)
    got, notes = run(right + wrong)
    assert got is sinc + wrong
    assert sorted(g.kind for g in notes.guards) == ["kept", "repaired"]


# -------------------------------------------------------------------- no value changes
coefficients = st.integers(-8, 8).map(lambda n: ir.const(n) / 4)
bands = st.sampled_from([zero(x), near(x, 1e-3), near(x - 1, 0.25), ir.lt(x, 1), ir.lt(x**2, 1e-4)])
bases = st.sampled_from([sinc, expm1(x) / x, quotient, x, 1 / x, log1p(x) / x, ir.ONE])


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(bands, coefficients, coefficients, bases, bands, st.floats(-2.5, 2.5))
def test_no_value_changes(condition, p, q, base, inner, at):
    e = where(condition, p + q * x, base * where(inner, 2, where(condition, 3, base)))
    got = run(e)[0]
    before = Certified(["x"], [e]).at_with_status([at])[0]
    after = Certified(["x"], [got]).at_with_status([at])[0]
    assume(before.status == "exact")
    assert after.value == pytest.approx(before.value, rel=2e-7, abs=1e-300)


# -------------------------------------------------------------------------- contexts
INNER = where(ir.lt(x, 3), y, where(ir.lt(5, x), a, b))
CONTEXTS = [
    (where(ir.lt(x, 2), sin(INNER), cos(INNER)), where(ir.lt(x, 2), sin(y), cos(INNER))),
    (where(ir.lt(4, x), sin(INNER), 0), where(ir.lt(4, x), sin(where(ir.lt(5, x), a, b)), 0)),
    (where(near(x, 1), where(ir.eq(x, 1), 5, y), 0), where(near(x, 1), y, 0)),
    (where(ir.lt(0, x), a, where(ir.lt(x, 0), b, c)), None),  # nan is neither
    (where(ir.lt(0, x), a, where(ir.lt(x, 0), b / x, c)), where(ir.lt(0, x), a, where(zero(x), c, b / x))),
    (where(ir.lt(0, x), a, where(ir.le(x, 0), b, c)), None),
    (where(ir.le(x, 0), where(ir.lt(0, x), b, c), a), where(ir.le(x, 0), c, a)),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after"), CONTEXTS)
def test_contexts_use_implied_conditions(before, after):
    """What stays as it is has no other form."""
    assert Contexts().simplify((before,)) == (before if after is None else after,)


@pytest.mark.slow
def test_contexts_of_many_branches_stay_small():
    v = x
    for k in range(200):
        v = where(ir.lt(x, k / 100), v * 1.5 + k, sin(v) / (1 + x * x))
    with at_most(5_000_000):
        got = guards((v,))
    assert len(ir.topological(got)) <= len(ir.topological((v,))) + 16


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([ir.lt, ir.le, ir.eq, ir.gt, ir.ne]), st.integers(-3, 3),
                          st.sampled_from([x, -x, 2 * x + 1, abs_(x), 3 - x])), min_size=2, max_size=2),
       st.sampled_from([-3, -2, -1, -0.5, 0, 0.5, 1, 2, 3]))  # fmt: skip
def test_known_facts_decide_rightly(comparisons, at):
    given_, asked = (compare(u, k) for compare, k, u in comparisons)
    assume(given_.op is not ir.BOOL and asked.op is not ir.BOOL)
    truth = evaluate(given_, {"x": mpmath.mpf(at)})
    known = Known(given_, bool(truth))
    decided = known.decides(asked, constraint(asked))
    if decided is not None:
        assert decided == evaluate(asked, {"x": mpmath.mpf(at)})
    equality = known.narrowed(constraint(asked))
    if equality is not None:
        at = {"x": mpmath.mpf(at)}
        assert bool(evaluate(equality, at)) == bool(evaluate(asked, at))


@pytest.mark.parametrize("e", [
    exp(x) - exp(y), (x - 2 * y) ** 3 * a, x**2 + y**2, F.HYPOT(x, y - 1), F.HYPOT(F.HYPOT(x, y - 1), b), log(a / b),
    exp(x * y) - 1, x**2 - 9, sin(x - y) / a, abs_(x + y + a),
], ids=repr)  # fmt: skip
def test_zero_sets_are_zeros(e):
    solutions = zero_sets(e)
    assert solutions
    rest = {"a": mpmath.mpf(3), "b": mpmath.mpf(7), "x": mpmath.mpf(2), "y": mpmath.mpf(5)}
    for solution in solutions:
        point = {**rest, **{v.value: evaluate(s, rest) for v, s in solution.items()}}
        assert abs(evaluate(e, point)) < 1e-40


# -------------------------------------------------------------------------- literals
LITERALS = {
    "quotient": ((x**2 - 0.09) / (x - 0.3), x + ir.const(3) / 10),
    "below": ((x - 0.3) / (x**2 - 0.09), 1 / (x + ir.const(3) / 10)),
    "two fractions": (x**2 / (x - 0.3) - 0.09 / (x - 0.3), x + ir.const(3) / 10),
    "product": ((x**2 - 0.09) * (1 / (x - 0.3)), x + ir.const(3) / 10),
    "two variables": ((x**2 - 0.01 * y**2) / (x - 0.1 * y), x + y / 10),
    "factor": ((x**2 * y - 0.09 * y) / (x - 0.3), y * (x + ir.const(3) / 10)),
    "cube": ((x**3 - 0.027) / (x - 0.3), x**2 + ir.const(3) / 10 * x + ir.const(9) / 100),
    "no decimal": ((x**2 - 2) / (x - 1.4142135623730951), x + 1.4142135623730951),
    "guarded": (where(ir.eq(x, 0.3), 0.6, (x**2 - 0.09) / (x - 0.3)), x + ir.const(3) / 10),
}


@pytest.mark.parametrize("inverse", [F.ACOS, F.ASIN, F.ATANH], ids=lambda op: op.name)
def test_what_is_steep_is_no_missed_zero(inverse):
    """Where a slope is infinite, a rounded literal may change a value by anything: the bound of
    what it may change said that b is nothing beside it, and (... + b)/... lost its pole."""
    e = (inverse(x) * (ir.const(0.3) * a) + b) / sin(F.ACOS(x))
    assert exact_literals((e,))[:2] == ((e,), [])


@pytest.mark.slow
def test_interpolation_of_rotations():
    """The same in a program of arrays, whose blocks see parts of a formula as unknowns."""

    def slerp(v):
        p, q = v[:4] / np.linalg.norm(v[:4]), v[4:] / np.linalg.norm(v[4:])
        angle = np.arccos(p @ q)
        return np.sum((np.sin(0.7 * angle) * p + np.sin(0.3 * angle) * q) / np.sin(angle))

    v = np.array([-1.0, -0.2, -0.15, 0.4, 0.9, 0.35, -0.65, -0.13])
    assert symgrad(slerp)(v) == pytest.approx(slerp(v), rel=1e-14)


@pytest.mark.parametrize("name", LITERALS)
def test_zeros_missed_by_the_rounding_of_literals(name):
    e, truth = LITERALS[name]
    got, notes = run(e)
    assert len(notes.literals) == 1
    assert "missed only by the rounding of literals" in notes.literals[0].message
    assert cancel((cancel((got,))[0] - truth,))[0] is ir.ZERO


def test_transcendental_numerators():
    got, notes = run(log(10 * x) / (x - 0.1))
    assert got is log(10 * x) / (x - ir.const(1) / 10)
    assert len(notes.literals) == 1


@pytest.mark.parametrize("e", [
    (x**2 - 0.0900001) / (x - 0.3),
    (x**2 - 0.09) / (x - 0.4),
    (x**2 - 0.3 * x) / (x - 0.3),
    expm1(0.1 * x) / (0.3 * x),
    0.1 * x / (1 + 0.3 * x**2),
    sin(x) / (x - 0.1),
], ids=repr)  # fmt: skip
def test_other_literals_stay(e):
    assert exact_literals((e,)) == ((e,), [], {})


def test_a_literal_is_repaired_in_the_whole_function():
    e = (x**2 - 0.09) / (x - 0.3) + sin(0.3 * y)
    got, notes = run(e)
    tenths = ir.const(3) / 10
    assert got is (x**2 - ir.const(9) / 100) / (x - tenths) + sin(tenths * y)
    assert {float(old) for old, _ in notes.literals[0].literals} == {0.09, 0.3}
    assert notes.literals[0].node is e.args[0]


def test_guards_of_repeated_questions_are_cheap():
    total = sum((where(zero(v), 1, sin(v) / v) for v in (ir.var(f"v{i}") for i in range(60))), x)
    with at_most(3_000_000):
        got, notes = run(total)
    assert not any(e.op is ir.WHERE for e in ir.topological((got,)))
    assert len(notes.guards) == 60


EXPIRIES = {
    "erf": lambda s, t: max(s - 90.0, 0.0) if t <= 0 else s * 0.5 * (1 + math.erf((s - 90) / math.sqrt(t))) * math.exp(-0.05 * t),
    "exp": lambda s, t: s if t <= 0 else s + math.exp(-s / math.sqrt(t)) + t,
    "atan": lambda s, t: s if not t > 0 else s + t**2.5 + t * math.atan(s / math.sqrt(t)),
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("f", EXPIRIES.values(), ids=EXPIRIES)
def test_a_side_that_ends_at_the_point_has_no_guard(f):
    assert symgrad(f).grad(100.0, 0.0) == (1.0, 0.0)


@pytest.mark.slow
def test_a_side_that_is_analytic_across_the_point_has_none_either():
    f = symgrad(lambda s, t: s if t <= 0 else s * math.sqrt(t) / math.tanh(math.sqrt(t)))
    assert f.grad(3.0, 0.0) == (1.0, 0.0)


def even_in_a_distance(q, r):
    total = 0.0
    for i in range(len(q)):
        for j in range(i):
            d = abs(r[i] - r[j])
            total += q[i] * q[j] * math.erfc(d) / d if d > 1e-12 else 0.0
    return total


def smooth_in_a_distance(q, r):
    total = 0.0
    for i in range(len(q)):
        for j in range(i):
            d = abs(r[i] - r[j])
            total += q[i] * q[j] * (math.sin(q[i] * d) / d if d > 1e-12 else q[i])
    return total


@pytest.mark.slow
def test_guards_on_distances_with_other_variables_beside_them():
    q, r = np.array([2.0, -1.0]), np.array([0.5, 2.0])
    assert symgrad(even_in_a_distance)(q, r) == pytest.approx(-2 * math.erfc(1.5) / 1.5)
    equal = np.array([0.5, 0.5])
    assert symgrad(even_in_a_distance)(q, equal) == 0.0
    assert symgrad(smooth_in_a_distance)(q, equal) == 2 * -1.0 * -1.0
    slopes = symgrad(smooth_in_a_distance).grad(q, equal)
    assert np.allclose(slopes[0], [1.0, -4.0])
    assert np.allclose(slopes[1], [0.0, 0.0])
