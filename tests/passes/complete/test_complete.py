"""Removable singularities: value and all derivatives at the point, near it and far from it.

Truth is the formula as written, differentiated by the chain rule without any
simplification, in balls of growing precision; at the point itself it is the
limit that `interpret` sees on the paths into it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

import flint
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symdiff import ir
from symdiff.interpret import Certified, exclusive
from symdiff.interpret.flat import Tape
from symdiff.ir import ONE, ZERO, Expr, abs_, const, eq, lt, sqrt, where
from symdiff.ir import functions as f
from symdiff.passes.cancel.cancel import cancel
from symdiff.passes.complete import complete as pass_
from symdiff.passes.complete.complete import Completions, closed_forms, complete, expand_completed
from symdiff.passes.differentiate import gradient, pushforward
from tests.kernels import make_kernel

ACOS, ACOSH, ATAN, COS, COSH, ERF = f.ACOS, f.ACOSH, f.ATAN, f.COS, f.COSH, f.ERF
EXP, EXPM1, GAMMA, LOG, LOG1P, SIN = f.EXP, f.EXPM1, f.GAMMA, f.LOG, f.LOG1P, f.SIN
SINC, SINH, TAN, TANH = f.SINC, f.SINH, f.TAN, f.TANH
X, Y, Z = ir.var("x"), ir.var("y"), ir.var("z")
S = X * X + Y * Y + Z * Z

CASES: dict[str, tuple[Expr, float, tuple[float, float, float]]] = {
    "cosm": ((1 - COS(X)) / X**2, 0, (1 / 2, 0, -1 / 12)),
    "sinm": ((X - SIN(X)) / X**3, 0, (1 / 6, 0, -1 / 60)),
    "acos": (ACOS(X) / sqrt(1 - X**2), 1, (1, -1 / 3, 4 / 15)),
    "atan sqrt": (ATAN(sqrt(X)) / sqrt(X), 0, (1, -1 / 3, 2 / 5)),
    "exp(-5a)": ((1 - EXP(-5 * X)) / X, 0, (5, -12.5, 125 / 3)),
    "bernoulli": (X / (EXP(X) - 1), 0, (1, -1 / 2, 1 / 6)),
    "langevin": (1 / TANH(X) - 1 / X, 0, (0, 1 / 3, 0)),
    "coth": (COSH(X) / SINH(X) - 1 / X, 0, (0, 1 / 3, 0)),
    "log mean": ((X - 1) / LOG(X), 1, (1, 1 / 2, -1 / 6)),
    "log1p": (LOG1P(2 * X) / X, 0, (2, -2, 16 / 3)),
    "phi3": ((EXP(X) - 1 - X - X**2 / 2) / X**3, 0, (1 / 6, 1 / 24, 1 / 60)),
    "tan": ((TAN(X) - X) / X**3, 0, (1 / 3, 0, 4 / 15)),
    "debye": (X**3 / (EXP(X) - 1), 0, (0, 0, 2)),
    "sinc": (SINC(X), 0, (1, 0, -math.pi**2 / 3)),
    "erf": (ERF(X) / X, 0, (2 / math.sqrt(math.pi), 0, -4 / 3 / math.sqrt(math.pi))),
    "even": (SIN(abs_(X)) / abs_(X), 0, (1, 0, -1 / 3)),
    "at 2": ((SIN(X) - SIN(const(2))) / (X - 2), 2, (math.cos(2), -math.sin(2) / 2, -math.cos(2) / 3)),
    "at 10": ((LOG(X) - LOG(const(10))) / (X - 10), 10, (0.1, -0.005, 1 / 1500)),
    "product": (SIN(X) * LOG(1 + X) / (X * X), 0, (1, -1 / 2, 1 / 3)),
    "nested": (LOG(SIN(X) / X) / X**2, 0, (-1 / 6, 0, -1 / 90)),
    "acosh": (ACOSH(X) ** 2 / (X - 1), 1, (2, -1 / 3, 8 / 45)),
    "sinh sqrt": ((EXP(sqrt(X)) - EXP(-sqrt(X))) / sqrt(X), 0, (2, 1 / 3, 1 / 30)),
    "guard": (where(eq(X, ZERO), ONE, EXPM1(X) / X), 0, (1, 1 / 2, 1 / 3)),
    "gamma": ((GAMMA(X) - 1) / (X - 1), 1, (-0.5772156649015329, 0.9890559953279725, -1.8149581521617726)),
    "pole of the square": (X**2 / (EXP(X) - 1) ** 2 * EXP(X), 0, (1, 0, -1 / 6)),
}  # fmt: skip


def by_chain_rule(found: Sequence[Expr], order: int) -> list[Expr]:
    """f, f', ... of X, by nothing else."""
    found = list(found)
    for _ in range(order):
        found += pushforward((found[-1],), {X: ONE})
    return found


def derivatives(e: Expr, order: int) -> list[Expr]:
    """f, f', ... completed and written out."""
    found = [*complete(cancel((e,)))]
    for _ in range(order):
        found += cancel(pushforward((found[-1],), {X: ONE}))
    return list(expand_completed(found))


def truth(tape: Tape, x: Sequence[float], output: int) -> flint.arb | None:
    """The value in balls; None outside of the domain."""
    with exclusive():
        prec = 256
        while prec < 20_000:
            y = tape.run([flint.arb(v) for v in x], prec)[tape.roots[output]]
            if y.is_finite() and y.rel_accuracy_bits() > 80:
                return y
            prec *= 2
    return None


def ulps(got: float, true: flint.arb) -> float:
    near = float(true.mid())
    return float(abs(flint.arb(got) - true) / flint.arb(math.ulp(near)))


@pytest.mark.sampled
@pytest.mark.parametrize("name", CASES)
def test_at_the_point_and_near_it(name: str) -> None:
    e, point, expected = CASES[name]
    kernel = make_kernel(derivatives(e, 2), ["x"])
    tape = Tape([X], by_chain_rule([e], 2))
    at = kernel([float(point)])
    for got, want in zip(at, expected, strict=True):
        assert abs(got - want) <= math.ulp(want)
    for d, s in product(range(1, 13), (1, -1)):
        x = point + s * 10.0**-d
        for k, got in enumerate(kernel([x])):
            true = truth(tape, [x], k)
            if true is not None and not (true.is_zero() and got == 0):
                assert ulps(got, true) <= 4, (d, s, k)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", CASES)
def test_the_completed_formula_is_the_formula(name: str) -> None:
    """Far from the point nothing changes, in f, f' and f''."""
    e, point, _ = CASES[name]
    tape = Tape([X], by_chain_rule([e], 2))
    completed = Tape([X], closed_forms(by_chain_rule(complete((e,)), 2)))
    for x in (point + 0.375, point + 0.75, point - 0.375):
        for k in range(3):
            true = truth(tape, [x], k)
            if true is not None:
                assert true.overlaps(truth(completed, [x], k))


@pytest.mark.parametrize(
    ("e", "point", "kind", "order"),
    [
        (1 / X, 0, "pole", 1),
        (SIN(X) / X**2, 0, "pole", 1),
        (LOG(X), 0, "logarithm", 0),
        (sqrt(X), 0, "branch point", 0),
        (X ** const(Fraction(3, 2)), 0, "branch point", 0),
        (ACOS(X) / sqrt(1 - X**2), -1, "branch point", 0),
        (X / abs_(X), 0, "jump", 0),
        (EXP(-1 / X**2), 0, "essential", 0),
        (where(lt(X, ZERO), ZERO, X / X**2), 0, "jump", 0),
    ],
)
def test_what_is_not_removable_is_named_and_left_alone(
    e: Expr, point: float, kind: str, order: int
) -> None:
    notes = Completions()
    (after,) = complete((e,), (), notes)
    found = {(s.point, s.kind, s.order) for s in notes.singular}
    assert (Fraction(point), kind, order) in found or kind in ("jump",)
    assert not any(f.point == point for f in notes.filled)
    if not notes.filled:
        assert after is e


def test_a_guard_with_another_value_is_the_users_meaning() -> None:
    e = where(eq(X, ZERO), const(2), EXPM1(X) / X)
    kernel = make_kernel(derivatives(e, 1), ["x"])
    assert kernel([0.0]) == [2.0, 0.0]
    assert kernel([1e-9])[1] == pytest.approx(0.5, rel=1e-8)


def test_nothing_is_done_where_nothing_is_singular() -> None:
    notes = Completions()
    for e in (SIN(X) / (1 + X**2), EXP(X) / (EXP(X) + 1), X / 3 + Y, SIN(X * Y)):
        assert complete((e,), (), notes) == (e,)
    assert complete((SIN(X) / X,), [lt(ZERO, X)], notes) == (SIN(X) / X,)
    assert not notes.filled and not notes.singular


def test_notes_say_what_was_filled() -> None:
    notes = Completions()
    e = (1 - COS(X)) / X**2
    complete((e * Y, e * Z), (), notes)
    (filled,) = notes.filled
    assert (filled.node, filled.variable, filled.point) == (e, X, 0)
    assert (filled.value, filled.derivatives) == (Fraction(1, 2), (0, Fraction(-1, 12)))


# ---------------------------------------------------------------- several variables
RODRIGUES: dict[str, Callable[[Expr], Expr]] = {
    "a": lambda s: SIN(sqrt(s)) / sqrt(s),
    "b": lambda s: (1 - COS(sqrt(s))) / s,
    "c": lambda s: (sqrt(s) - SIN(sqrt(s))) / sqrt(s) ** 3,
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", RODRIGUES)
def test_rotations_are_smooth_at_zero(name: str) -> None:
    """Value, gradient and Hessian of Rodrigues' coefficients in a rotation vector."""
    f = RODRIGUES[name](S)
    notes = Completions()
    (g,) = complete(cancel((f,)), (), notes)
    assert [n.variable for n in notes.filled] == [S]
    slopes = gradient(g, [X, Y, Z])
    second = [d for v in (X, Y, Z) for d in pushforward(slopes, {v: ONE})]
    kernel = make_kernel(expand_completed([g, *slopes, *second]), ["x", "y", "z"])
    c0, c1 = {"a": (1, -1 / 6), "b": (1 / 2, -1 / 24), "c": (1 / 6, -1 / 120)}[name]
    at = kernel([0.0, 0.0, 0.0])
    assert at[0] == c0 and at[1:4] == [0, 0, 0]
    assert at[4:] == pytest.approx([2 * c1 if i % 4 == 0 else 0 for i in range(9)], rel=1e-15)
    raw = [f, *gradient(f, [X, Y, Z])]
    raw += [d for v in (X, Y, Z) for d in pushforward(raw[1:4], {v: ONE})]
    tape = Tape([X, Y, Z], raw)
    for scale in (1e-1, 1e-3, 1e-7, 1e-12):
        point = [0.3 * scale, -0.5 * scale, 0.7 * scale]
        for k, got in enumerate(kernel(point)):
            true = truth(tape, point, k)
            assert true is not None and ulps(got, true) <= 8


def test_the_bottleneck_may_lie_above_where_the_point_is_not_rational() -> None:
    u = X * X - 2
    notes = Completions()
    complete((SIN(u) / u,), (), notes)
    assert [(n.variable, n.point) for n in notes.filled] == [(X * X, 2)]
    u = X * X - sqrt(const(2))
    complete((SIN(u) / u,), (), notes)
    assert (notes.filled[-1].variable, notes.filled[-1].point) == (u, 0)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "e",
    [
        SIN(X) / X + X**70,
        SIN(X) / X * where(lt(X, ONE), ONE, const(2)),
        SIN(X) / X + abs_(X - Fraction(3, 4)),
        SIN(X) / X + where(lt(abs_(X - Fraction(1, 2)), const(Fraction(1, 100))), ONE, ZERO),
        (EXP(X) - 1) / X * where(lt(const(-1), X), X, X * X),
    ],
)
def test_a_band_ends_where_the_function_changes(e: Expr) -> None:
    """High powers, kinks and branches near the point, in f and f'."""
    kernel = make_kernel(derivatives(e, 1), ["x"])
    tape = Tape([X], by_chain_rule([e], 1))
    for i in range(1, 260):
        x = (i - 130) / 64 + 1 / 1024
        for k, got in enumerate(kernel([x])):
            true = truth(tape, [x], k)
            assert true is not None
            assert got == pytest.approx(float(true.mid()), rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("edge", [1e-3, 1e-12, 1e-30, 1e-100])
def test_a_band_ends_where_the_function_changes_however_near(edge: float) -> None:
    """A constant around the point, and its derivative, which is 0 there."""
    r = f.MAXIMUM(sqrt(X), const(Fraction(edge)))
    e = COS(r) ** 2
    kernel = make_kernel(derivatives(e, 1), ["x"])
    for x in [edge**2 * s for s in (0.5, 1.5, 4.0, 1e3, 1e6)] + [2e-8, 2e-6, 2e-3]:
        inside = x < edge**2
        t = math.sqrt(x)
        slope = 0.0 if inside else -math.sin(t) * math.cos(t) / t
        assert kernel([x]) == [
            pytest.approx(math.cos(edge if inside else t) ** 2, rel=1e-15),
            pytest.approx(slope, rel=1e-14),
        ]


def test_only_functions_of_one_node_are_filled() -> None:
    notes = Completions()
    complete((SIN(X * Y) / X,), (), notes)
    assert not notes.filled
    assert [(n.variable, n.root, n.limit) for n in notes.surfaces] == [(X, ZERO, Y)]


# -------------------------------------------------------------------------- orders
@pytest.mark.slow
def test_every_order_is_there() -> None:
    """The tenth derivatives of sin(x)/x and x/(exp(x) - 1)."""
    found = derivatives(SIN(X) / X, 10)
    assert make_kernel([found[10]], ["x"])([0.0]) == [-1 / 11]
    assert make_kernel([found[9]], ["x"])([0.0]) == [0]
    found = derivatives(X / (EXP(X) - 1), 10)
    assert make_kernel([found[10]], ["x"])([0.0]) == [5 / 66]


def test_balls_of_completed_functions_are_rigorous() -> None:
    (g,) = complete(((1 - COS(X)) / X**2,))
    tape = Tape([X], by_chain_rule([g], 1))
    with exclusive(pass_.PRECISION):
        half, slope = (tape.run([flint.arb(0)], 128)[i] for i in tape.roots)
        assert half == flint.arb("0.5") and slope.is_zero()
        wide = tape.run([flint.arb(0, 1e-9)], 128)[tape.roots[0]]
        assert wide.is_nan()
    (at,) = Certified([X], pushforward((g,), {X: ONE})).at_with_status([1e-30])
    assert at.value == pytest.approx(-1e-30 / 12, rel=1e-15)


def test_float32_has_bands_of_its_own() -> None:
    (g,) = complete(((1 - COS(X)) / X**2,))
    single, double = (expand_completed((g,), bits)[0] for bits in (24, 53))
    assert len(ir.topological((single,))) < len(ir.topological((double,)))
    kernel = make_kernel([single], ["x"], dtype="float32")
    x = Fraction(7, 64)
    want = float((1 - flint.arb(7 / 64).cos()) / flint.arb(x.numerator) ** 2 * x.denominator**2)
    (got,) = kernel([float(x)])
    assert abs(got - want) <= 4 * 2.0**-24 * want


def test_the_same_formula_is_the_same_function() -> None:
    a, b = complete((SIN(X) / X,))[0], complete((SIN(Y) / Y,))[0]
    assert a.op is b.op
    assert closed_forms((a,)) == (SIN(X) / X,)
    assert pass_.VARIABLE not in ir.variables(closed_forms(pushforward((a,), {X: ONE})))


@pytest.mark.slow
@given(
    st.lists(st.integers(-6, 6), min_size=4, max_size=7),
    st.integers(1, 3),
    st.sampled_from([EXP, SIN, COS, TANH, ATAN, LOG1P]),
    st.sampled_from([Fraction(0), Fraction(2), Fraction(-1, 2)]),
)
@settings(max_examples=25, deadline=None)
def test_random_numerators_over_powers(
    numerators: list[int], m: int, function: ir.Op, point: Fraction
) -> None:
    """(P(f(h)) - its Taylor polynomial)/h**m is completed to the right function."""
    h = X - const(point)
    value = sum((const(c) * ir.power(function(h), i) for i, c in enumerate(numerators)), ZERO)
    start = ir.substitute(by_chain_rule([value], m), {X: const(point)})
    rest = value
    for k in range(m):
        rest = rest - start[k] * Fraction(1, math.factorial(k)) * ir.power(h, k)
    e = rest / ir.power(h, m)
    if not ir.variables((e,)) or not ir.variables((value,)):
        return
    notes = Completions()
    (g,) = complete((e,), (), notes)
    limit = ir.rational(start[m])
    if g is e:
        return
    assert limit is not None
    (filled,) = (n for n in notes.filled if n.point == point)
    if filled.node is e:
        assert filled.value == limit / math.factorial(m)
    tape = Tape([X], [e])
    (written,) = expand_completed((g,))
    series = Tape([X], [written])
    for offset in (2.0**-3, -(2.0**-7), 2.0**-20):
        x = float(point) + offset
        true = truth(tape, [x], 0)
        if true is None:
            continue
        with exclusive():
            got = series.run([flint.arb(x)], 2000)[series.roots[0]]
            assert abs(got - true) <= flint.arb(2) ** -52 * abs(true)
