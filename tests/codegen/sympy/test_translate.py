"""The translation to SymPy."""

from __future__ import annotations

import operator
from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import assume, given
from hypothesis import strategies as st

from symdiff import ir
from symdiff.codegen.sympy.translate import to_sympy
from symdiff.ir import Expr, const, eq, le, lt, not_, or_, power, sqrt, topological, var, where
from symdiff.ir import functions as fn
from tests.work import at_most

X, Y = sp.symbols("x y", real=True)
x, y = var("x"), var("y")


def one(e: Expr) -> sp.Expr:
    return to_sympy([e])[0]


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (x + 2, X + 2),
        (x - y, X - Y),
        (x / 3, X / 3),
        (sqrt(x), sp.sqrt(X)),
        (sqrt(power(x, 2)), sp.Abs(X)),
        (fn.COS(x) / x - fn.SIN(x) / x**2, sp.cos(X) / X - sp.sin(X) / X**2),
        (fn.EXPM1(x), sp.exp(X) - 1),
        (fn.PI() * x, sp.pi * X),
        (const(0.1), sp.Float(0.1)),
        (const(Fraction(3, 10)), sp.Rational(3, 10)),
        (const(Fraction("0.12345")), sp.Rational(12345, 100000)),
        (const(0.5), sp.Rational(1, 2)),
        (const(1e-8), sp.Float(1e-8)),
        (const(Fraction(1, 123457)), sp.Rational(1, 123457)),
        (ir.INF, sp.oo),
        (where(lt(0, x), x, 0), sp.Piecewise((X, X > 0), (0, True))),
        (where(le(x, y), 1, 2), sp.Piecewise((1, X <= Y), (2, True))),
        (where(not_(eq(x, 0)), 1, x), sp.Piecewise((X, sp.Eq(X, 0)), (1, True))),
        (
            where(lt(0, x), 1, where(lt(x, -1), 2, 3)),
            sp.Piecewise((1, X > 0), (2, X < -1), (3, True)),
        ),
        (
            where(ir.and_(lt(0, x), or_(lt(x, y), not_(lt(y, 1)))), x, y),
            sp.Piecewise((X, (X > 0) & ((X < Y) | (Y >= 1))), (Y, True)),
        ),
    ],
)
def test_translation(node: Expr, expected: sp.Expr) -> None:
    assert one(node) == expected


def test_nan() -> None:
    assert one(ir.NAN) is sp.nan


def test_a_double_keeps_its_value() -> None:
    value = one(const(0.1) * x).coeff(X)
    assert Fraction(*float(value).as_integer_ratio()) == Fraction(0.1)


def test_other_rationals_have_17_digits() -> None:
    q = Fraction(0.1) / 3
    value = one(const(q))
    assert value.is_Float
    assert (
        abs(Fraction(int(sp.numer(sp.Rational(value))), int(sp.denom(sp.Rational(value)))) / q - 1)
        < 1e-16
    )


def test_every_table_entry_means_the_same_in_sympy(table_samples: list) -> None:
    for s in table_samples:
        made = one(s.node)
        values = {
            sp.Symbol(n, real=True): sp.Rational(v) for n, v in zip(s.params, s.point, strict=True)
        }
        if s.op.name == "round":  # SymPy has no such function
            assert made == sp.Function("round")(X)
            continue
        got = made.subs(values).doit().evalf(30)
        assert abs(float(s.truth - s.truth.__class__(str(got)))) < 1e-14 * max(
            1, abs(float(s.truth))
        ), s.op


def test_named_functions_keep_their_name() -> None:
    e = fn.EXPM1(x) + fn.HYPOT(x, y) + fn.SIN(x)
    names = {f.func.__name__ for f in to_sympy([e], named=True)[0].atoms(sp.Function)}
    names |= {
        f.func.__name__ for f in to_sympy([e], named=True)[0].atoms(sp.core.function.AppliedUndef)
    }
    assert names == {"expm1", "hypot", "sin"}


@pytest.mark.slow
def test_deep_functions_do_not_crash() -> None:
    v = x
    for _ in range(2000):
        v = fn.SIN(v) + fn.COS(v) / 3
    with at_most(20_000_000):
        made = one(v)
    for _ in range(2000):  # down the first sine of each sum
        made = next(a for a in made.args if a.func is sp.sin).args[0]
    assert made == X


def test_a_large_expression_is_built_once() -> None:
    v = x
    for _ in range(300):
        v = v * fn.SIN(v) + x
    assert one(v) is one(v)


def test_deep_branches_and_roots() -> None:
    v = w = x
    for _ in range(200):
        v = where(lt(0, v), fn.SIN(v), v - 2)
        w = sqrt(fn.EXP(w) + 1)
    assert all(e.args for e in to_sympy([v, w]))


def test_long_sums_are_one_sum() -> None:
    v = x
    for k in range(300):
        v = v + power(y, k + 2)
    made = one(v)
    assert made.is_Add
    assert len(made.args) == 301


@pytest.mark.parametrize(
    "node",
    [power(9, power(9, 9)), fn.EXP2(const(10**9)), fn.GAMMA(const(10**7)), fn.COSH(const(10**6))],
)
def test_huge_numbers_are_not_evaluated(node: Expr) -> None:
    with at_most(1_000_000):
        assert one(node * x).has(X)


@st.composite
def rational_dags(draw: st.DrawFn) -> Expr:
    """Expressions that exact fractions can evaluate, with shared nodes."""
    nodes = [
        x,
        y,
        const(draw(st.integers(-9, 9))),
        const(draw(st.fractions(-3, 3, max_denominator=2000))),
    ]
    for _ in range(draw(st.integers(1, 12))):
        a, b = draw(st.sampled_from(nodes)), draw(st.sampled_from(nodes))
        kind = draw(st.sampled_from("+-*/n^?"))
        if kind == "+":
            e = a + b
        elif kind == "-":
            e = a - b
        elif kind == "*":
            e = a * b
        elif kind == "/":
            e = a / (b * b + 1)
        elif kind == "n":
            e = -a
        elif kind == "^":
            e = power(a, draw(st.integers(2, 3)))
        else:
            e = where(lt(a, b), a, b + 1)
        nodes.append(e)
    return nodes[-1]


EXACT = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "neg": operator.neg,
    "pow": lambda a, n: a ** int(n), "lt": operator.lt, "le": operator.le, "eq": operator.eq, "not": operator.not_,
    "and": lambda a, b: a and b, "or": lambda a, b: a or b, "where": lambda c, a, b: a if c else b,
}  # fmt: skip


def exact(e: Expr, values: dict[str, Fraction]) -> Fraction:
    """The value in exact arithmetic."""
    v: dict[Expr, object] = {}
    for n in topological((e,)):
        if n.op.name in EXACT:
            v[n] = EXACT[n.op.name](*(v[c] for c in n.args))
        else:
            v[n] = values[n.value] if n.op.name == "var" else n.value
    return v[e]


def decided(e: Expr, values: dict[str, Fraction]) -> bool:
    """Whether no comparison is so close that rounded constants change its outcome."""
    pairs = [n.args for n in topological((e,)) if n.op.name == "lt"]
    sides = [(exact(a, values), exact(b, values)) for a, b in pairs]
    return all(abs(a - b) > 1e-6 * max(abs(a), abs(b), 1) for a, b in sides)


@pytest.mark.slow
@given(
    rational_dags(), st.fractions(-2, 2, max_denominator=8), st.fractions(-2, 2, max_denominator=8)
)
def test_rational_functions_keep_their_value(e: Expr, p: Fraction, q: Fraction) -> None:
    assume(decided(e, {"x": p, "y": q}))
    made = one(e).subs({X: sp.Rational(p), Y: sp.Rational(q)}, simultaneous=True)
    got = sp.nsimplify(made.doit(), rational=True).doit()
    truth = exact(e, {"x": p, "y": q})
    error = Fraction(int(got.p), int(got.q)) - truth
    assert error == 0 or abs(error) < 1e-12 * max(1, abs(truth))  # constants to 17 digits
