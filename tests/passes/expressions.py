"""Random expressions of x and y, and points to evaluate them at."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from symdiff import ir
from symdiff.ir import Expr, const
from symdiff.ir import functions as f

X, Y = ir.var("x"), ir.var("y")
UNARY = (
    f.EXP, f.EXPM1, f.LOG, f.LOG1P, f.SIN, f.COS, f.TAN, f.ATAN, f.ASIN, f.ACOS, f.SINH, f.COSH,
    f.TANH, f.ASINH, f.ACOSH, f.ATANH, f.CBRT, f.EXP2, f.LOG2, f.LOG10, f.FLOOR, f.ROUND, f.SINC,
    ir.ABS, ir.SIGN, ir.NEG,
)  # fmt: skip
BINARY = (ir.ADD, ir.SUB, ir.ADD, ir.SUB, ir.MUL, ir.DIV, f.HYPOT, f.ATAN2, f.MAXIMUM,
          f.MINIMUM, f.LOGADDEXP, f.FMOD, ir.POW)  # fmt: skip
POWERS = (2, 3, -1, -2, 5, ir.Fraction(1, 2), ir.Fraction(-3, 2), ir.Fraction(1, 3))

LEAVES = st.one_of(
    st.sampled_from([X, Y]),
    st.sampled_from([1, 2, -1, 10, ir.Fraction(1, 3), ir.Fraction(1, 2), 0.1]).map(const),
)


def _grow(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    def unary(op: ir.Op, a: Expr) -> Expr:
        return ir.apply(op, a)

    def binary(op: ir.Op, a: Expr, b: Expr) -> Expr:
        return ir.apply(op, a, b)

    def choice(op: ir.Op, a: Expr, b: Expr, c: Expr, d: Expr) -> Expr:
        return ir.where(ir.apply(op, a, b), c, d)

    return st.one_of(
        st.builds(unary, st.sampled_from(UNARY), inner),
        st.builds(binary, st.sampled_from(BINARY), inner, inner),
        st.builds(ir.power, inner, st.sampled_from(POWERS)),
        st.builds(choice, st.sampled_from([ir.LT, ir.LE]), inner, inner, inner, inner),
    )


EXPRESSIONS = st.recursive(LEAVES, _grow, max_leaves=9).filter(lambda e: bool(ir.variables([e])))

NUMBERS = st.one_of(
    st.floats(-4, 4),
    st.floats(allow_nan=False, allow_infinity=False),
    st.builds(lambda s, k: s * 10.0**k, st.sampled_from([-1, 1]), st.integers(-18, 18)),
    st.builds(lambda c, k: c + 2.0**-k, st.sampled_from([0, 1, -1, 2, 0.5]), st.integers(1, 60)),
    st.builds(lambda n: n * math.pi / 4, st.integers(-8, 8)),
    st.integers(-5, 5).map(float),
)
POINTS = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=12, max_size=12)
