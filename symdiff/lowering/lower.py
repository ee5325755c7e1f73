"""Lower outputs to what a processor has: + - * / neg sqrt, comparisons, select, libm.

Before : any real outputs over the DAG, such as `x**3`, `logaddexp(a, b)`, `x/3`.
After  : the same values in operations that have an instruction or a libm function;
         `x**3` is `(x*x)*x`, half-integer powers use sqrt, a quotient by a constant
         is rounded once. `a*b` and `b*a` are one node. With `fuse`, `a*b + c` is one
         operation that rounds once.
Requires: functions without a `libm` or `intrinsic` column have an `expand` column.
Ensures : the result depends on the structure of the DAG only, so that text made
         from it is reproducible; nothing is reassociated and no reciprocal is shared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from symdiff import ir
from symdiff.errors import UnsupportedError
from symdiff.ir import Expr, Op
from symdiff.ir.functions import CBRT, CONSTANT_VALUES, EXP2
from symdiff.ir.loop_program import ARRAY, FLOORDIV, INDEX, LOAD, MOD, REAL_OF
from symdiff.lowering.target import FMA, LIGHT, MAX_CHAIN, TESTED, by_squaring, is_float

FUSED_POWERS = (2, 3, 4)
"""Integer powers that are products whatever the longest chain is."""

_NATIVE = frozenset(
    (
        ir.ADD,
        ir.SUB,
        ir.MUL,
        ir.DIV,
        ir.NEG,
        ir.POW,
        ir.LT,
        ir.LE,
        ir.EQ,
        ir.NOT,
        ir.AND,
        ir.OR,
        ir.WHERE,
        ir.CONST,
        ir.VAR,
        ir.BOOL,
        INDEX,
        ARRAY,
        LOAD,
        FLOORDIV,
        MOD,
        REAL_OF,
        TESTED,
    )
)
_COMMUTATIVE = frozenset((ir.ADD, ir.MUL, ir.EQ, ir.AND, ir.OR))


def lower(
    outputs: Sequence[Expr],
    *,
    chain: int = MAX_CHAIN,
    divide: bool = True,
    fold: bool = True,
    fuse: bool = False,
    single: bool = False,
    calls: bool = False,
) -> tuple[Expr, ...]:
    """The outputs in operations that every CPU target has.

    Parameters
    ----------
    outputs : real or boolean nodes.
    chain : the largest integer power that is multiplied out.
    divide : whether `x/3` stays a division (rounded once) or becomes a
        multiplication by the rounded third (rounded twice, faster).
    fold : whether constants such as `2/sqrt(pi)` are evaluated here and rounded once.
    fuse : whether a sum and the product in it that `fused` names are rounded together.
    single : whether what is computed with its errors is so in single precision.
    calls : whether functions that are computed with their errors are calls, for source code.

    Raises
    ------
    UnsupportedError : for a function that has no way to be evaluated.
    """
    roots = _expand(tuple(outputs))
    if fold:
        roots = _fold(roots)
    if fuse:
        roots = _fuse(roots, single, calls)
    return _Numbering(chain, divide).lower(roots)


def in_calls(outputs: Sequence[Expr], direct: Callable[[Op], bool]) -> tuple[Expr, ...]:
    """The outputs with every operation that is not `direct` as its `expand` column has it, if it
    has any."""
    roots = tuple(outputs)

    def rule(e: Expr, args: tuple[Expr, ...]) -> Expr:
        if e.op.expand is not None and not direct(e.op):
            return e.op.expand(*args)
        return ir.with_args(e, args)

    while any(not direct(e.op) and e.op.expand is not None for e in ir.topological(roots)):
        roots = ir.transform(roots, rule)
    return roots


def is_native(op: Op) -> bool:
    """Whether an operation is left as it is by `lower`."""
    return op in _NATIVE or op in CONSTANT_VALUES or bool(op.libm or op.intrinsic)


def _expand(roots: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Replace functions without libm by their `expand` column until none is left."""

    def direct(op: Op) -> bool:
        if not is_native(op) and op.expand is None:
            raise UnsupportedError(f"{op.name} cannot be compiled: it has no formula")
        return is_native(op)

    try:
        return in_calls(roots, direct)
    except NotImplementedError as error:
        raise UnsupportedError(str(error)) from None


def _fold(roots: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Evaluate operations on constants alone, in ball arithmetic, where they are finite."""
    order = ir.topological(roots)
    closed: set[Expr] = set()
    for e in order:
        if (
            e.op is ir.CONST
            or e.op in CONSTANT_VALUES
            or (e.args and not e.op.boolean and all(a in closed for a in e.args))
        ):
            closed.add(e)
    maximal = {a for e in order if e not in closed for a in e.args if a in closed}
    maximal.update(r for r in roots if r in closed)

    def rule(e: Expr, args: tuple[Expr, ...]) -> Expr:
        value = _evaluate(e) if e in maximal and args else None
        return ir.with_args(e, args) if value is None else value

    return ir.transform(roots, rule)


def fused(e: Expr) -> int | None:
    """Which operand of a sum, if any, is a product that `fuse` rounds with the sum.

    Of two, the one whose own rounding would cost more: a product by a power of two is
    exact by itself."""
    if e.op is not ir.ADD and e.op is not ir.SUB:
        return None
    found = [i for i, a in enumerate(e.args) if _factors(a) is not None]
    return min(found, key=lambda i: _is_exact_product(e.args[i]), default=None)


def _factors(e: Expr) -> tuple[Expr, Expr] | None:
    """Two nodes whose product is a node, up to sign, if it is lowered to one."""
    e = e.args[0] if e.op is ir.NEG else e
    if e.op is ir.MUL:
        return e.args[0], e.args[1]
    if e.op is ir.POW and (q := ir.rational(e.args[1])) in FUSED_POWERS:
        x = e.args[0]
        squared = ir.raw(ir.POW, (x, ir.const(2)))
        return {2: (x, x), 3: (squared, x), 4: (squared, squared)}[int(q)]
    return None


def _is_exact_product(e: Expr) -> bool:
    q = ir.rational(e.args[0]) if e.op is ir.MUL else None
    return q is not None and is_float(q) and (q == 0 or is_float(1 / q))


def _fuse(roots: tuple[Expr, ...], single: bool, calls: bool) -> tuple[Expr, ...]:
    """Sums with a product in them as one operation."""
    from symdiff.lowering.compensated.evaluate import (  # a process that compiles nothing needs none
        BUILDS,
        Known,
    )

    new: dict[Expr, Expr] = {}
    order = ir.topological(roots)
    known = Known(any(e.op is LIGHT for e in order), single, calls)

    def built(e: Expr) -> Expr:
        if e not in new:  # a square that was not a node before
            new[e] = ir.raw(e.op, tuple(built(a) for a in e.args), e.value) if e.args else e
        return new[e]

    for e in order:
        at = fused(e)
        if e.op in BUILDS:
            new[e] = BUILDS[e.op](e.args[0], known)
            continue
        if at is None:
            new[e] = ir.with_args(e, tuple(new[a] for a in e.args))
            continue
        product, other = e.args[at], e.args[1 - at]
        factors = _factors(product)
        assert factors is not None
        a, b, c = built(factors[0]), built(factors[1]), new[other]
        if (product.op is ir.NEG) is not (e.op is ir.SUB and at == 1):
            a = _negative(a)
        new[e] = ir.raw(FMA, (a, b, _negative(c) if e.op is ir.SUB and at == 0 else c))
    return tuple(new[r] for r in roots)


def _negative(e: Expr) -> Expr:
    q = ir.rational(e)
    return ir.raw(ir.NEG, (e,)) if q is None else ir.const(-q)


def _evaluate(e: Expr) -> Expr | None:
    """A constant within 2**-100 of the value of a closed expression, or None."""
    import flint

    for precision in (192, 768, 3072):
        with flint.ctx.workprec(precision):
            ball = _ball(e)
            if ball is None or not ball.is_finite():
                continue
            if ball.rel_accuracy_bits() < 100 and not ball.is_exact():
                continue
            mantissa, exponent = (int(v) for v in ball.mid().man_exp())
            if abs(exponent) > 4000:
                return None
            value = Fraction(mantissa) * Fraction(2) ** exponent
            return ir.const(value) if value else ir.ZERO
    return None


def _ball(e: Expr) -> Any:
    """The value of a closed expression as a ball; None where an op has no ball."""
    import flint

    value: dict[Expr, flint.arb] = {}
    for n in ir.topological((e,)):
        args = [value[a] for a in n.args]
        if n.op is ir.CONST:
            if not isinstance(n.value, Fraction):
                return None
            value[n] = flint.arb(flint.fmpq(n.value.numerator, n.value.denominator))
        elif n.op in _BALLS:
            value[n] = _BALLS[n.op](*args)
        elif n.op.ball is not None:
            value[n] = n.op.ball(*args)
        else:
            return None
    return value[e]


_BALLS: dict[Op, Callable[..., Any]] = {
    ir.ADD: lambda a, b: a + b,
    ir.SUB: lambda a, b: a - b,
    ir.MUL: lambda a, b: a * b,
    ir.DIV: lambda a, b: a / b,
    ir.NEG: lambda a: -a,
    ir.POW: lambda a, b: a**b,
}


def _dividing_roots(order: Sequence[Expr]) -> set[Expr]:
    """The roots by which something is divided, alone or as factors."""
    found: set[Expr] = set()
    factors = {e.args[1] for e in order if e.op is ir.DIV}
    for e in reversed(order):
        if e in factors and e.op is ir.MUL:
            factors.update(e.args)
        elif e in factors and e.op is ir.POW and e.args[1] is ir.HALF:
            found.add(e)
    return found


def _may_be_minus_zero(e: Expr, deep: int = 8) -> bool:
    """Whether an operation may give -0.0; what lies deeper is taken to."""
    if not deep:
        return True
    match e.op:
        case ir.ADD:
            return all(_may_be_minus_zero(a, deep - 1) for a in e.args)
        case ir.SUB:
            return _may_be_minus_zero(e.args[0], deep - 1)
        case ir.WHERE:
            return any(_may_be_minus_zero(a, deep - 1) for a in e.args[1:])
        case ir.MUL | ir.DIV:
            return e.args[0] is not e.args[1]
        case ir.CONST | ir.ABS:
            return False
    return True


class _Numbering:
    """Rebuilds a DAG from raw nodes, one per value, and lowers powers and quotients."""

    def __init__(self, chain: int, divide: bool) -> None:
        self.chain, self.divide = chain, divide
        self.known: dict[tuple[object, ...], Expr] = {}
        self.dividing: set[Expr] = set()

    def lower(self, roots: tuple[Expr, ...]) -> tuple[Expr, ...]:
        self.dividing = _dividing_roots(ir.topological(roots))
        return ir.transform(roots, self._rule)

    def _rule(self, e: Expr, args: tuple[Expr, ...]) -> Expr:
        if not args:
            return e
        if e.op is ir.POW:
            found = self.power(*args)
            signed = e in self.dividing and _may_be_minus_zero(args[0])
            # the root of -0.0 is -0.0 on processors
            return self.make(ir.ABS, found) if signed else found
        if self.divide and (e.op is ir.MUL or e.op is ir.DIV):
            return self.quotient(e.op, *args)
        return self.make(e.op, *args)

    def make(self, op: Op, *args: Expr) -> Expr:
        """The node, in the order of arguments in which it was met first."""
        key = (op, frozenset(args)) if op in _COMMUTATIVE else (op, *args)
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = ir.raw(op, args)
        return found

    def quotient(self, op: Op, a: Expr, b: Expr) -> Expr:
        """Multiply or divide by whichever of c and 1/c is a float, so that the
        constant itself is not rounded."""
        c, other = (ir.rational(a), b) if op is ir.MUL else (ir.rational(b), a)
        if op is ir.DIV and c and is_float(c) and is_float(1 / c):
            return self.make(ir.MUL, ir.const(1 / c), other)  # by a power of two, which is exact
        if c and not is_float(c) and is_float(1 / c):
            if op is ir.MUL:
                return self.make(ir.DIV, other, ir.const(1 / c))
            return self.make(ir.MUL, ir.const(1 / c), other)
        return self.make(op, a, b)

    def power(self, a: Expr, b: Expr) -> Expr:
        q = ir.rational(b)
        if q is not None:
            if q.denominator == 1 and abs(q) <= self.chain:
                return self.inverse_if(q < 0, self.integer_power(a, abs(int(q))))
            if q.denominator == 2 and abs(q) < self.chain:
                root, n = self.make(ir.POW, a, ir.HALF), int(abs(q))
                value = self.make(ir.MUL, self.integer_power(a, n), root) if n else root
                if q < 0 and _may_be_minus_zero(a):
                    value = self.make(ir.ABS, value)
                return self.inverse_if(q < 0, value)
            if q.denominator == 3 and abs(q) < 2:
                value = self.integer_power(self.make(CBRT, a), abs(q.numerator))
                value = self.make(ir.WHERE, self.make(ir.LT, a, ir.ZERO), ir.NAN, value)
                return self.inverse_if(q < 0, value)
        if ir.rational(a) == 2:
            return self.make(EXP2, b)
        return self.make(ir.POW, a, b)

    def inverse_if(self, inverse: bool, e: Expr) -> Expr:
        return self.make(ir.DIV, ir.ONE, e) if inverse else e

    def integer_power(self, a: Expr, n: int) -> Expr:
        """`a**n` by squaring; the powers it passes through are shared."""
        return by_squaring(partial(self.make, ir.MUL), a, n) if n else ir.ONE
