"""A formula in double-double arithmetic, without bounds of its error.

Before:  x*y - 1
After:   the pair add(mul(x, y), -1), as calls where `arithmetic.as_calls` says so

Requires: outputs in closed form.
Ensures: conditions hold as they do for pairs; plain nodes (`symdiff.ir.plain`) are doubles, computed as the
plain function computes them. A function without a rule is that of the double nearest to its argument.
`passes.accuracy.widen` has the same arithmetic with bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from symdiff import ir
from symdiff.ir import INF, ONE, ZERO, Expr, Op, raw
from symdiff.ir import functions as f
from symdiff.lowering.double_double import arithmetic as dd
from symdiff.lowering.double_double.arithmetic import Pair
from symdiff.lowering.double_double.functions import RULES, named
from symdiff.lowering.lower import in_calls

LARGEST_POWER = 64
"""Integer powers up to this are multiplied out."""


def in_pairs(outputs: Sequence[Expr]) -> list[Pair | Expr]:
    """The pair of each output; of a condition, the condition."""
    known: dict[Expr, Pair | Expr] = {}
    outputs = in_calls(outputs, _is_direct)
    for e in ir.topological(outputs):
        known[e] = _made(e, [known[a] for a in e.args])
    return [known[e] for e in outputs]


def _is_direct(op: Op) -> bool:
    return op in _ARITHMETIC or op in RULES or op is ir.POW or op.boolean or op is f.FLOOR_QUOTIENT


def _made(e: Expr, args: Sequence[Pair | Expr]) -> Pair | Expr:
    op = e.op
    if op.boolean:
        return _condition(e, args)
    if op is ir.WHERE:
        condition, a, b = args
        if isinstance(condition, Pair) or not isinstance(a, Pair) or not isinstance(b, Pair):
            raise ValueError("a choice is one between numbers")
        return dd.select(condition, a, b)
    reals = [a for a in args if isinstance(a, Pair)]
    if op is ir.POW and (q := ir.rational(e.args[1])) is not None and (p := _power(reals[0], q)):
        return p
    if op is ir.CONST and isinstance(e.value, Fraction):
        return dd.constant(e.value)
    if op in _ARITHMETIC:
        return _ARITHMETIC[op](*reals)
    if op in RULES:
        return RULES[op].build(*reals)
    if not e.args and op not in (ir.VAR, ir.CONST):
        return dd.constant(named(op))
    return dd.exact(raw(op, tuple(x.hi for x in reals), e.value))


def _condition(e: Expr, args: Sequence[Pair | Expr]) -> Expr:
    if e.op not in ir.COMPARISONS:
        return raw(e.op, tuple(a for a in args if not isinstance(a, Pair)), e.value)
    x, y = (a for a in args if isinstance(a, Pair))
    if x.lo is ZERO and y.lo is ZERO:
        return raw(e.op, (x.hi, y.hi))
    return _COMPARISONS[e.op](x, y)


def _power(x: Pair, q: Fraction) -> Pair | None:
    """A rational power made of products, roots and quotients, if it is one."""
    n, roots = abs(q.numerator), {1: lambda x: x, 2: dd.sqrt, 3: RULES[f.CBRT].build}
    if q.denominator not in roots or not 0 < n <= LARGEST_POWER:
        return None
    square, found = roots[q.denominator](x), None
    while n:
        if n % 2:
            found = square if found is None else dd.mul(found, square)
        n //= 2
        square = dd.mul(square, square) if n else square
    assert found is not None
    return dd.div(dd.exact(ONE), found) if q < 0 else found


def _maximum(x: Pair, y: Pair) -> Pair:
    """nan where an argument is."""
    return dd.select(_is_nan(x), x, _larger(y, x))


def _larger(x: Pair, y: Pair) -> Pair:
    """Python's maximum, which is x where y is nan."""
    return dd.select(dd.less(x, y), y, x)


def _minimum(x: Pair, y: Pair) -> Pair:
    return dd.neg(_maximum(dd.neg(x), dd.neg(y)))


def _smaller(x: Pair, y: Pair) -> Pair:
    return dd.select(dd.less(y, x), y, x)


def _is_nan(x: Pair) -> Expr:
    return dd.negation(raw(ir.LE, (x.hi, INF)))


def _fmod(x: Pair, y: Pair) -> Pair:
    """x - n*y, where n = trunc(x/y); one more or less where the quotient rounds to an integer."""
    n = dd.exact(dd.trunc(dd.div(x, y)).hi)
    rest, unit = dd.sub(x, dd.mul(n, y)), dd.magnitude(y)
    towards = dd.select(dd.negative(x), dd.neg(unit), unit)
    wrong = dd.below(dd.times(rest.hi, towards.hi), ZERO)
    return dd.select(wrong, dd.add(rest, towards), rest)


_COMPARISONS = {ir.LT: dd.less, ir.LE: dd.less_equal, ir.EQ: dd.equal}
_ARITHMETIC: dict[Op, Callable[..., Pair]] = {
    ir.ADD: dd.add, ir.SUB: dd.sub, ir.MUL: dd.mul, ir.DIV: dd.div, ir.NEG: dd.neg,
    ir.ABS: dd.magnitude, f.MAXIMUM: _maximum, f.MINIMUM: _minimum, f.LARGER: _larger,
    f.SMALLER: _smaller, f.FLOOR: dd.floor, f.CEIL: dd.ceil, f.TRUNC: dd.trunc, f.ROUND: dd.rint,
    f.FMOD: _fmod,
}  # fmt: skip

__all__ = ["in_pairs"]
