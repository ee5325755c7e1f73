"""A formula in double-double arithmetic, without bounds of its error.

Before:  x*y - 1
After:   the pair add(mul(x, y), -1), with an exponent, as calls where `arithmetic.as_calls` says so

Requires: outputs in closed form.
Ensures: conditions hold as they do for pairs; plain nodes (`symdiff.ir.plain`) are doubles, computed as the
plain function computes them. A function without a rule is that of the double nearest to its argument.
`passes.accuracy.widen` has the same arithmetic with bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from symdiff import ir
from symdiff.ir import ONE, ZERO, Expr, Op, raw
from symdiff.ir import functions as f
from symdiff.ir.plain import is_decided
from symdiff.lowering.double_double import arithmetic as dd
from symdiff.lowering.double_double import scaled
from symdiff.lowering.double_double.arithmetic import Scaled
from symdiff.lowering.double_double.functions import named
from symdiff.lowering.double_double.scaled import TABLE
from symdiff.lowering.lower import in_calls

LARGEST_POWER = 64
"""Integer powers up to this are multiplied out."""


Value = Scaled | Expr
"""A number, or a condition."""


def in_pairs(outputs: Sequence[Expr]) -> list[Value]:
    """The number of each output; of a condition, the condition."""
    known: dict[Expr, Value] = {}
    outputs = in_calls(outputs, _is_direct)
    for e in ir.topological(outputs):
        known[e] = _made(e, [known[a] for a in e.args])
    return [known[e] for e in outputs]


def _is_direct(op: Op) -> bool:
    return op in _ARITHMETIC or op in TABLE or op is ir.POW or op.boolean or op is f.FLOOR_QUOTIENT


def _made(e: Expr, args: Sequence[Value]) -> Value:
    op = e.op
    reals = [a for a in args if isinstance(a, Scaled)]
    if op.boolean:
        return _condition(e, args)
    if op is ir.WHERE:
        assert isinstance(args[0], Expr)
        return dd.choose(args[0], *reals)
    if op is ir.POW and (q := ir.rational(e.args[1])) is not None and (p := _power(reals[0], q)):
        return p
    if op is ir.CONST and isinstance(e.value, Fraction):
        return scaled.constant(e.value)
    if op in _ARITHMETIC:
        return _ARITHMETIC[op](*reals)
    if op in TABLE:
        return TABLE[op](*reals)
    if not e.args and op not in (ir.VAR, ir.CONST):
        return scaled.constant(named(op))
    return scaled.number(raw(op, tuple(map(_double, reals)), e.value))


def _double(x: Scaled) -> Expr:
    """The double nearest to a number; for one converted from a double, that double."""
    node = dd.one(x)
    known = dd.CALLED.get(node.op)
    return node.args[0] if known and known.name == "number" else scaled.double(x)


def _condition(e: Expr, args: Sequence[Value]) -> Expr:
    if e.op not in ir.COMPARISONS:
        return raw(e.op, tuple(a for a in args if isinstance(a, Expr)), e.value)
    x, y = (a for a in args if isinstance(a, Scaled))
    if all(not a.args or is_decided(a) for a in e.args):
        return raw(e.op, (_double(x), _double(y)))
    return _COMPARISONS[e.op](x, y)


def _power(x: Scaled, q: Fraction) -> Scaled | None:
    """A rational power by products, roots and quotients, if it is one."""
    n, roots = abs(q.numerator), {1: lambda x: x, 2: scaled.sqrt, 3: scaled.cbrt}
    if q.denominator not in roots or not 0 < n <= LARGEST_POWER:
        return None
    square, found = roots[q.denominator](x), None
    while n:
        if n % 2:
            found = square if found is None else scaled.mul(found, square)
        n //= 2
        square = scaled.mul(square, square) if n else square
    assert found is not None
    return scaled.div(scaled.number(ONE), found) if q < 0 else found


def _maximum(x: Scaled, y: Scaled) -> Scaled:
    """nan where an argument is."""
    return dd.choose(dd.negation(dd.same(x.pair.hi, x.pair.hi)), x, _larger(y, x))


def _larger(x: Scaled, y: Scaled) -> Scaled:
    """Python's maximum, which is x where y is nan."""
    return dd.choose(scaled.less(x, y), y, x)


def _minimum(x: Scaled, y: Scaled) -> Scaled:
    return scaled.neg(_maximum(scaled.neg(x), scaled.neg(y)))


def _smaller(x: Scaled, y: Scaled) -> Scaled:
    return dd.choose(scaled.less(y, x), y, x)


def _fmod(x: Scaled, y: Scaled) -> Scaled:
    """x - n*y, where n = trunc(x/y); one more or less where the quotient rounds to an integer."""
    n = scaled.of_step(dd.trunc)(scaled.div(x, y))
    rest, unit = scaled.sub(x, scaled.mul(n, y)), scaled.magnitude(y)
    towards = dd.choose(dd.negative(x.pair), scaled.neg(unit), unit)
    wrong = dd.below(dd.times(rest.pair.hi, towards.pair.hi), ZERO)
    return dd.choose(wrong, scaled.add(rest, towards), rest)


_COMPARISONS = {ir.LT: scaled.less, ir.LE: scaled.less_equal, ir.EQ: scaled.equal}
_ARITHMETIC: dict[Op, Callable[..., Scaled]] = {
    ir.ADD: scaled.add, ir.SUB: scaled.sub, ir.MUL: scaled.mul, ir.DIV: scaled.div,
    ir.NEG: scaled.neg, ir.ABS: scaled.magnitude, f.MAXIMUM: _maximum, f.MINIMUM: _minimum,
    f.LARGER: _larger, f.SMALLER: _smaller, f.FLOOR: scaled.of_step(dd.floor),
    f.CEIL: scaled.of_step(dd.ceil), f.TRUNC: scaled.of_step(dd.trunc),
    f.ROUND: scaled.of_step(dd.rint), f.FMOD: _fmod,
}  # fmt: skip
