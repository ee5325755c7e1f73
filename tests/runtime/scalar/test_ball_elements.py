"""Compiled ball arithmetic gives what interpreted ball arithmetic proves, bit by bit."""

from __future__ import annotations

import math
import resource
import signal
from collections.abc import Sequence
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from symdiff import ir, symgrad
from symdiff.codegen.llvm.operation_table import FALSE, TRUE, UNKNOWN, Columns
from symdiff.codegen.llvm.table_loops import logic
from symdiff.interpret import Certified, work
from symdiff.ir import ONE, ZERO, Expr, Op, const, var
from symdiff.ir import functions as f
from symdiff.ir.plain import in_single, plain
from symdiff.runtime.scalar import ball_elements
from symdiff.runtime.scalar.ball_elements import BallElements, compiled_elements
from symdiff.runtime.scalar.fallback import Tiered
from tests.kernels import at_once
from tests.law.made import formula

X, Y = var("x"), var("y")
EXTREME = (
    0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -3.0, 1.5, 2.5, 5e-324, -1e-310, 2.0**-1022, 1e-20, 1e20, 710.0,
    -745.5, 1e300, -1e300, 27.3, math.pi, np.nextafter(1.0, 2), np.nextafter(1.0, 0), math.inf, math.nan,
)  # fmt: skip
NAMED = [op for op in f.TABLE if op.flint is not None and 0 < op.arity <= 2]


def tables(outputs: Sequence[Expr], params: Sequence[str] = ("x", "y"), dtype: str = "float64"):
    program = Certified(params, outputs)
    made = compiled_elements(program, params, dtype == "float32")
    assert isinstance(made, BallElements)
    return program, made


def compare(outputs, points, dtype="float64", params=("x", "y")) -> float:
    """The share of the points with a proven value that are proven by compiled code too."""
    program, made = tables(outputs, params, dtype)
    points = np.array(points, float).reshape(-1, len(params))
    values, proven = made(points)
    exact = 0
    for point, value, done in zip(points, values, proven, strict=True):
        answers = program.at_with_status(point, dtype)
        alone = made.at([float(x) for x in point])
        assert (alone is not None) == done and (not done or alone == value.tolist())
        exact += all(a.status == "exact" for a in answers)
        if done:
            finite, want = np.isfinite(point).all(), np.array([a.value for a in answers])
            statuses = {"exact"} if finite else {"limit", "pole"}  # by what is not read
            assert {a.status for a in answers} <= statuses, (outputs, point)
            same = want.tobytes() == value.tobytes() if finite else (want == value).all()
            assert same, (outputs, point, want, value)
    return proven.sum() / max(exact, 1)


def wide(rng, count: int, low: float = -12, high: float = 3):
    return rng.choice([-1.0, 1.0], count) * 10.0 ** rng.uniform(low, high, count)


def applied(op: Op) -> Expr:
    if op.name == "polygamma":  # of a whole order
        return op(const(1), X) + op(const(0), X)
    return op(X, Y) if op.arity == 2 else op(X)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("op", NAMED, ids=lambda op: op.name)
def test_functions(op: Op, budget: int = 12) -> None:
    rng = np.random.default_rng(len(op.name))
    points = np.stack([wide(rng, budget), wide(rng, budget)], axis=-1)
    some = [0.0, -0.0, 1.0, 2.5, -1e-310, 1e20, 710.0, math.inf]
    edges = [(x, y) for x in some for y in ([1.0, -2.0] if op.arity == 2 else [1.0])]
    assert compare([applied(op)], [*points, *edges]) > 0.8


@pytest.mark.slow
@pytest.mark.parametrize("op", NAMED, ids=lambda op: op.name)
def test_functions_at_many_points(op: Op) -> None:
    test_functions(op, 300)
    compare([applied(op)], [(x, y) for x in EXTREME for y in EXTREME])


def test_every_operation_of_ir() -> None:
    rng = np.random.default_rng(5)
    points = np.stack([wide(rng, 30), wide(rng, 30)], axis=-1)
    points = [*points, (0.0, 0.0), (-0.0, 1.0), (1.0, 1.0), (4.0, -2.0), (-2.0, 3.0)]
    for q in ("1/2", "-1/2", "1/3", "-2/3", "5/2", "7", "-3"):
        compare([ir.raw(ir.POW, (X, const(Fraction(q))))], points)
    power = ir.raw(ir.POW, (X, Y))
    tests = ir.and_(ir.lt(X, Y), ir.not_(ir.or_(ir.eq(X, const(1)), ir.le(Y, const(0)))))
    outputs = [X + Y, X - Y, X * Y, X / Y, -X, ir.abs_(X), power, ir.where(tests, X / 3, f.EXP(Y))]
    for e in outputs:
        assert compare([e], points) > 0.9
    h = X * X + Y * Y
    assert compare([f.PINNED(h, const(2), f.SIN(h) / h)], points) > 0.9


CANCELLING = (
    f.EXP(X) / (f.EXP(X) + f.EXP(Y)) - 1,
    (1 - f.COS(X)) / X**2,
    (f.EXP(X) - f.EXP(Y)) / (X - Y),
    X**7 - Y**7 - (X - Y) * (X**6 + Y**6),
    f.EXP(-X * X) * f.ERFC(Y) / (1 + f.EXP(-Y)),
    f.LOG(f.EXP(X) + f.EXP(Y)) - Y,
    f.MAXIMUM(X, Y) - ir.sqrt(X * X + Y * Y),
)


@pytest.mark.parametrize("e", CANCELLING, ids=str)
def test_sums_that_cancel(e: Expr) -> None:
    rng = np.random.default_rng(1)
    near = wide(rng, 10)
    points = [
        *zip(wide(rng, 20), wide(rng, 20), strict=True),
        *zip(near, near * (1 + 1e-15), strict=True),
    ]
    assert compare([e, X * e], points) > 0.9
    program, made = tables([e])
    values, proven = made(np.array([(0.0, 0.0), (math.nan, 1.0), (math.inf, 1.0), (3.0, 3.0)]))
    assert not proven[1:3].any()


def test_ties_are_asked_for() -> None:
    """A sum in the middle between two doubles, which no precision shows."""
    root = ir.raw(ir.POW, (const(2), const(Fraction(1, 2))))
    e = X + ir.raw(ir.MUL, (root, root)) * const(2.0**-54) * Y
    program, made = tables([e])
    _, proven = made(np.array([[1.0, 1.0]]))
    assert not proven[0]
    assert program.at([1.0, 1.0]) == (1.0,)


def test_float32_results_are_rounded_once() -> None:
    rng = np.random.default_rng(2)
    points = np.stack([wide(rng, 200, -44, 38), wide(rng, 200, -44, 38)], axis=-1)
    points = points.astype(np.float32).astype(float)
    assert compare([X * Y, X / Y, f.EXP(X) + Y], points, "float32") > 0.9
    halves = [(2.0**-149, 1.0), (2.0**-148, 0.0)]
    assert compare([X / 2 + const(2.0**-60) * Y], halves, "float32") > 0.9


def test_decisions_are_those_of_plain_python() -> None:
    tenth = plain(ir.MUL, X, const(10))
    whole = f.TRUNC(plain(ir.DIV, X, const(0.1)))
    logs = plain(f.LOG, plain(ir.ADD, X, const(1)))
    e = ir.where(ir.eq(tenth, const(1)), whole, whole * f.SIN(Y)) + ir.where(ir.lt(logs, X), Y, -Y)
    rng = np.random.default_rng(3)
    xs = [0.1, 0.3, 0.6, 0.7, -0.0, 0.0, 1e-17, *rng.random(30)]
    points = [(x, y) for x, y in zip(xs, wide(rng, len(xs)), strict=True)]
    assert compare([e], points) > 0.9
    assert compare(in_single([e]), np.array(points, np.float32).astype(float), "float32") > 0.9


def test_truth_values() -> None:
    table, three = logic(), (FALSE, TRUE, UNKNOWN)
    for a in three:
        for b in three:
            both, either = table[9 + 3 * a + b], table[18 + 3 * a + b]
            known = [
                (p, q) for p in ((a,), (0, 1))[a == UNKNOWN] for q in ((b,), (0, 1))[b == UNKNOWN]
            ]
            assert {p and q for p, q in known} in ({both}, {0, 1}) and {0: 1, 1: 0, 2: 2}[
                a
            ] == table[3 * a]
            assert {p or q for p, q in known} in ({either}, {0, 1})


# ------------------------------------------------------------------ calls of functions
shares = formula("shares", "a, b", "np.exp(a) / (np.exp(a) + np.exp(b))")
guarded = formula(
    "guarded", "a, b", "np.where(a == b, np.exp(a), (np.exp(a) - np.exp(b)) / (a - b)) + abs(a)"
)


@pytest.mark.slow
def test_results_are_the_same_where_the_library_is_not_found(monkeypatch) -> None:
    rng = np.random.default_rng(4)
    a, b = wide(rng, 40, -8, 2), wide(rng, 40, -8, 2)
    a[:5] = b[:5]
    a[6], b[7], a[8] = math.inf, math.nan, 0.0
    for function in (shares, guarded):
        for level in ("high", "strict", "certified"):
            found = symgrad(function, accuracy=level).grad(a, b)
            with monkeypatch.context() as patch:
                patch.setattr(ball_elements, "_library", lambda: None)
                hidden = symgrad(function, accuracy=level).grad(a, b)
            for got, want in zip(found, hidden, strict=True):
                assert np.array_equal(got, want, equal_nan=True)


def test_other_forms_are_taken_only_where_the_outputs_are_defined() -> None:
    e, other = (X * X - 4) / (X - 2), X + 2
    program = Certified(["x"], [e])
    made = compiled_elements(program, ["x"], False, [other])
    assert isinstance(made, BallElements)
    values, proven = made(np.array([[2.0], [3.0], [1e300]]))
    assert proven.tolist() == [False, True, True]
    assert values[1:, 0].tolist() == [5.0, 1e300]


def test_elements_are_those_of_calls_alone() -> None:
    rng = np.random.default_rng(6)
    a, b = wide(rng, 60, -8, 8), wide(rng, 60, -8, 8)
    a, b = np.tile(a, 2), np.tile(b, 2)
    slopes = symgrad(shares).grad
    found = slopes(a, b)
    for k in range(60):
        assert [found[0][k], found[1][k]] == [v.item() for v in slopes(a[k : k + 1], b[k : k + 1])]
        assert (found[0][k], found[1][k]) == (found[0][k + 60], found[1][k + 60])


gap = formula("gap", "x", "np.log1p(np.exp(x)) - x - np.exp(-x) + np.sqrt(x)")


def test_what_is_outside_of_the_domain_is_not_interpreted(monkeypatch) -> None:
    x = np.array([1.0, -2.0, math.nan, 50.0, -1e-300, 3.0])
    f = symgrad(gap).value_and_grad
    f(x)
    monkeypatch.setattr(Certified, "at_with_status", None)
    for found in f(x):
        assert np.isnan(found).tolist() == [False, True, True, False, True, False]
    for k, v in enumerate(x):
        alone = f(float(v))
        assert np.array_equal(alone, [found[k] for found in f(x)], equal_nan=True)


def test_results_that_underflow_have_their_sign() -> None:
    for level in ("high", "strict", "certified"):
        f = symgrad(lambda x, y: x * y, accuracy=level)
        x, y = np.array([1e-200, -1e-200]), np.full(2, -1e-200)
        assert np.signbit(f(x, y)).tolist() == [True, False]
        assert math.copysign(1, f(1e-200, -1e-200)) == -1


@pytest.mark.parametrize("level", ["high", "strict"])
def test_a_few_hard_elements_need_no_python(level: str, monkeypatch) -> None:
    a, b = np.linspace(0.5, 2, 200), np.linspace(-1, 3, 200)
    a[::50], b[::50] = 1e-3, -4e7
    slopes = symgrad(shares, accuracy=level).grad
    want = slopes(a, b)
    proven = symgrad(shares, accuracy="certified").grad(a[::50], b[::50])
    for found, truth in zip(want, proven, strict=True):
        np.testing.assert_array_max_ulp(found[::50], truth, 2)
    slopes(a[::50], b[::50])
    monkeypatch.setattr(BallElements, "__call__", None)
    for found, before in zip(slopes(a, b), want, strict=True):
        np.testing.assert_array_equal(found, before)


highest = formula("highest", "x, y, z", "max(x, y, z) + (math.exp(x) - math.exp(y))")


def test_lost_digits_need_python_only_where_the_definition_decides(monkeypatch) -> None:
    f = symgrad(highest).value_and_grad
    e = math.e
    assert f(1.0, 1.0, 1.0) == (1.0, pytest.approx((0.5 + e, 0.5 - e, 0.5), rel=1e-15))
    f(1.0, 1.0 + 1e-12, 0.5)
    monkeypatch.setattr(Tiered, "__call__", None)
    for h in (1e-12, -1e-12, 3e-13):
        y = 1.0 + h
        with mpmath.workdps(40):
            value = max(1.0, y) + (mpmath.e - mpmath.exp(y))
        slopes = (e, 1 - math.exp(y)) if y > 1 else (1 + e, -math.exp(y))
        assert f(1.0, y, 0.5) == (float(value), pytest.approx((*slopes, 0.0), rel=1e-15))
    with pytest.raises(TypeError):
        f(1.0, 1.0, 1.0)


def test_elements_that_are_left_stay_open() -> None:
    count = ir.add(ir.where(ir.eq(X, ONE), ONE, ZERO), ir.where(ir.eq(X * Y, ONE), ONE, ZERO))
    made = compiled_elements(
        Certified(["x", "y"], [X - Y]), ["x", "y"], False, (), ir.le(ONE, count)
    )
    assert made is not None
    points = np.array([[1.0, 3.0], [0.5, 2.0], [0.5, 3.0], [2.0, 2.0]])
    values, proven = made(points)
    assert proven.tolist() == [False, False, True, True]
    assert values[proven].tolist() == [[-2.5], [0.0]]
    assert [made.at(p) for p in points.tolist()] == [None, None, [-2.5], [0.0]]


def test_memory_is_freed() -> None:
    rng = np.random.default_rng(7)
    program, made = tables([f.EXP(X) / (f.EXP(X) + f.EXP(Y)) - 1 + f.SIN(1 / (X * Y))])
    points = np.stack([wide(rng, 2000, -8, 2), wide(rng, 2000, -8, 2)], axis=-1)
    made(points)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(50):
        made(points)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 8_000


def test_threads_do_not_share_registers() -> None:
    rng = np.random.default_rng(8)
    _, made = tables([f.EXP(X) / (f.EXP(X) + f.EXP(Y)) - 1, f.SIN(X * Y)])
    points = np.stack([wide(rng, 300, -8, 2), wide(rng, 300, -8, 2)], axis=-1)
    want, found = made(points), at_once(6, lambda: made(points))
    assert len(found) == 6
    for values, proven in found:
        assert values.tobytes() == want[0].tobytes() and (proven == want[1]).all()


def test_a_signal_ends_a_long_call() -> None:
    e = f.EXP(f.SIN(X)) - f.EXP(f.SIN(X * (1 + Y)))
    _, made = tables([e])
    points = np.stack(
        [1 + np.random.default_rng(9).random(20_000), np.full(20_000, 1e-300)], axis=-1
    )

    def refuse(*_: object) -> None:
        raise InterruptedError

    before, start = signal.signal(signal.SIGALRM, refuse), work.spent()
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(InterruptedError):
            made(points)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    whole = len(points) * sum(work.cost(made.counts, b) for b in (64, 128, 256, 512, 1024, 2048))
    assert work.spent() - start < whole // ball_elements.CHEAPER


def test_columns_are_those_of_plain_python():
    product = plain(ir.MUL, plain(ir.ADD, X, const(0.1)), Y)
    nodes = (
        product, plain(ir.POW, X, const(3)), ir.where(ir.le(product, X), plain(ir.DIV, X, Y), Y),
        ir.le(X, Y),
    )  # fmt: skip
    points = np.array([[0.3, 0.7], [2.0, -0.1], [1e300, 0.0], [-0.0, -0.0]])
    columns = Columns(nodes, (X, Y))
    for k, (a, b) in enumerate(points):
        with np.errstate(all="ignore"):
            p = (a + 0.1) * b
            expected = p, a**3, a / b if p <= a else b, a <= b
        for found, at in ((columns(points), k), (columns(points[k : k + 1]), 0)):
            several = [np.broadcast_to(v, at + 1)[at] if np.ndim(v) == 0 else v[at] for v in found]
            np.testing.assert_array_equal(several, expected)


def test_registers_are_used_again() -> None:
    total: Expr = ZERO
    for k in range(300):
        total = total + ir.apply(f.EXP, X * const(k)) / (ONE + Y * Y * const(k))
    made = compiled_elements(Certified(("x", "y"), [total, total * X]), ("x", "y"), False)
    assert made is not None and made.plan is not None
    assert len(made.table.rows) > 1000
    assert made.table.balls < 20
    got = made.at([0.01, 2.0])
    with mpmath.workprec(200):
        want = mpmath.fsum(mpmath.exp(mpmath.mpf(0.01) * k) / (1 + 4 * k) for k in range(300))
        assert got == [float(want), float(want * mpmath.mpf(0.01))]
