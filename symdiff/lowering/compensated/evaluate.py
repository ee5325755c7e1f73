"""Values computed together with the rounding errors of all that is in them.

Before:  compensated(x*(x*x - 2) + 1)
After:   p = x*x; e = fma(x, x, -p); s = p - 2; e' = e + (error of s); x*s + 1 + x*e'

Every operation on the way is one rounded result and its error, which is computed
without error itself, or for functions to 2**-63 or 2**-56 (`lowering.compensated.functions`), and
carried along to first order: of the error of a sum that cancels, only its square is
left. Unlike in double-double arithmetic the two parts are never brought into order, so
that this costs a few operations, all of them SIMD.

Requires: `is_compensable(e)`: arithmetic, powers, choices and functions that have a correction.
Reference: P. Langlois, Automatic linear correction of rounding errors, BIT 41 (2001).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from symdiff import ir
from symdiff.ir import Expr, Op
from symdiff.ir.functions import (
    CEIL,
    CONSTANT_VALUES,
    EXP,
    EXPM1,
    FLOOR,
    MAXIMA,
    MINIMA,
    ROUND,
    TRUNC,
)
from symdiff.ir.plain import is_decided
from symdiff.lowering.compensated.functions import CORRECTED
from symdiff.lowering.compensated.unnormalised import Unnormalised
from symdiff.lowering.target import (
    ARRAY_CHAIN,
    COMPENSATED,
    COMPENSATED_EXP,
    COMPENSATED_EXPM1,
    FMA,
    LIGHT,
    PLAIN,
    by_squaring,
    nearest,
)

STEPS = (FLOOR, CEIL, TRUNC, ROUND)
"""Integers, of what is not within its error of an edge (`passes.accuracy.bounds`)."""
Corrected = tuple[Expr, Expr]
"""A rounded value, and what is to be added to it."""


class Known(dict[Expr, Corrected]):
    """The nodes of a program that have been built; `light` where functions have fewer bits,
    `single` in single precision, `calls` where functions are calls (see `called`)."""

    def __init__(self, light: bool = False, single: bool = False, calls: bool = False) -> None:
        super().__init__()
        self.light, self.single, self.calls = light, single, calls


ITEMS = tuple(Op(f"item_{k}", 1, python="{0}[" + str(k) + "]") for k in range(3))
"""The parts of what a call returns."""
CALLED: dict[Op, Op] = {
    op: Op(f"corrected_{op.name}", 1, python=f"_corrected_{op.name}({{0}})") for op in CORRECTED
}
"""The call of each function with its error: value, error, slope."""
CALLED_LIGHT: dict[Op, Op] = {
    op: Op(f"light_{op.name}", 1, python=f"_light_{op.name}({{0}})") for op in CORRECTED
}
"""The same to fewer bits."""


def called(op: Op, x: Expr, light: bool) -> Unnormalised:
    """A function with its error as one call, for source code."""
    call = ir.raw((CALLED_LIGHT if light else CALLED)[op], (x,))
    return Unnormalised(*(ir.raw(item, (call,)) for item in ITEMS))


def is_compensable(e: Expr) -> bool:
    """Whether all errors in a node can be computed; of what conditions compare, values are enough."""
    below = lambda n: () if n.op.boolean else n.args
    return all(_has_error(n) for n in ir.reached((e,), below))


def is_plain_sum(e: Expr) -> bool:
    """Whether a node consists of sums, products, roots and powers alone, and
    choices between them by comparing inputs."""
    return all(
        n.op in (ir.VAR, ir.ADD, ir.SUB, ir.MUL, ir.NEG, ir.WHERE, ir.BOOL, ir.AND, ir.OR, ir.NOT)
        or (n.op in ir.COMPARISONS and not any(a.args for a in n.args))
        or ir.rational(n) is not None
        or (n.op is ir.POW and n.args[1] is ir.HALF)
        or (n.op is ir.POW and (ir.integer(n.args[1]) or 0) in range(2, ARRAY_CHAIN + 1))
        for n in ir.topological((e,))
    )


def _has_error(n: Expr) -> bool:
    if n.op is ir.POW:
        q = ir.rational(n.args[1])
        return q is not None and q.denominator <= 2 and 0 < abs(q.numerator) <= ARRAY_CHAIN
    return (
        n.op.boolean
        or is_decided(n)
        or n.op in STEPS
        or n.op in _ARITHMETIC
        or n.op in CORRECTED
        or (not n.args and (n.op is not ir.CONST or n is ir.NAN or ir.rational(n) is not None))
    )


def compensated(e: Expr, known: Known) -> Corrected:
    """A value that is rounded once, and the errors of its parts, in operations to be
    carried out as they stand. `known` is filled with those of all nodes below."""
    for n in ir.topological(e.args, known):
        known[n] = _local(n, [known[a] for a in n.args], known)
    if e.op in (ir.ADD, ir.SUB):
        return _rounded_once(e, known)
    return known[e] if e in known else _local(e, [known[a] for a in e.args], known)


def corrected(e: Expr, known: Known) -> Corrected:
    for n in ir.topological((e,), known):
        known[n] = _local(n, [known[a] for a in n.args], known)
    return known[e]


def _rounded_once(e: Expr, known: Known) -> Corrected:
    """A sum, whose own rounding is relatively small, and the correction of its terms."""
    at = next((i for i, a in enumerate(e.args) if _is_product(a)), None)
    minus = [False, e.op is ir.SUB]
    if at is None:
        (a, da), (b, db) = (known[x] for x in e.args)
        if minus[1]:
            b, db = _negative(b), _negative(db)
        return ir.raw(ir.ADD, (a, b)), _add(da, db)
    product, (c, dc) = e.args[at], known[e.args[1 - at]]
    if product.op is ir.MUL:
        (a, da), (b, db) = (known[x] for x in product.args)
    else:
        n = ir.integer(product.args[1]) or 1
        base = known[product.args[0]]
        (a, da), (b, db) = (by_squaring(_product, base, m) for m in (n // 2, n - n // 2))
        if n % 2:
            (a, da), (b, db) = by_squaring(_product, base, n - 1), base
    correction = ir.ZERO
    if (a, da) == (b, db):
        correction = (
            ir.ZERO if da is ir.ZERO else ir.raw(ir.MUL, (ir.raw(ir.MUL, (ir.const(2), a)), da))
        )
    else:
        correction = _fma(a, db, _fma(b, da, ir.ZERO))
    if minus[at]:
        a, correction = _negative(a), _negative(correction)
    if minus[1 - at]:
        c, dc = _negative(c), _negative(dc)
    return ir.raw(FMA, (a, b, c)), _add(correction, dc)


def _local(n: Expr, args: list[Corrected], known: Known) -> Corrected:
    op = n.op
    if op is ir.CONST or op in CONSTANT_VALUES:
        return _constant(n, known.single)
    if op.boolean and op is not ir.WHERE:
        return (ir.raw(op, tuple(a for a, _ in args), n.value) if args else n), ir.ZERO
    if is_decided(n) or op in STEPS:
        return ir.raw(op, tuple(a for a, _ in args)), ir.ZERO
    if op is ir.POW and _has_error(n):
        return _rational_power(args[0], ir.rational(n.args[1]) or Fraction(0))
    if op in CORRECTED:
        build = called if known.calls else _built
        value, error, slope = build(op, args[0][0], known.light)
        return value, _fma(slope, args[0][1], error)
    if op in _ARITHMETIC:
        return _ARITHMETIC[op](*args)
    return (ir.raw(op, tuple(a for a, _ in args), n.value) if args else n), ir.ZERO


def _constant(n: Expr, single: bool) -> Corrected:
    from symdiff.lowering.double_double.functions import named
    from symdiff.lowering.target import nearest_single

    q = ir.rational(n) if n.op is ir.CONST else named(n.op)
    if (
        q is None
    ):  # nan outside of the domain, which is flagged, or infinities that are compared with
        return n, ir.ZERO
    number = nearest_single if single else nearest
    first = number(q)
    if not math.isfinite(first):
        return n, ir.ZERO
    return ir.const(Fraction(first)), ir.const(Fraction(number(q - Fraction(first))))


def _built(op: Op, x: Expr, light: bool) -> Unnormalised:
    return CORRECTED[op].build(x, light)


# -------------------------------------------------------------------- arithmetic
def _sum(x: Corrected, y: Corrected) -> Corrected:
    (a, da), (b, db) = x, y
    if a is ir.ZERO or b is ir.ZERO:
        return (b, _add(da, db)) if a is ir.ZERO else (a, _add(da, db))
    s = ir.raw(ir.ADD, (a, b))
    t = ir.raw(ir.SUB, (s, a))
    own = ir.raw(ir.ADD, (ir.raw(ir.SUB, (a, ir.raw(ir.SUB, (s, t)))), ir.raw(ir.SUB, (b, t))))
    return s, _add(own, _add(da, db))


def _difference(x: Corrected, y: Corrected) -> Corrected:
    (a, da), (b, db) = x, y
    if a is ir.ZERO or b is ir.ZERO:
        return _sum(x, _opposite(y))
    s = ir.raw(ir.SUB, (a, b))
    t = ir.raw(ir.SUB, (s, a))
    own = ir.raw(ir.SUB, (ir.raw(ir.SUB, (a, ir.raw(ir.SUB, (s, t)))), ir.raw(ir.ADD, (b, t))))
    return s, _add(own, _add(da, _negative(db)))


def _opposite(x: Corrected) -> Corrected:
    return _negative(x[0]), _negative(x[1])


def _product(x: Corrected, y: Corrected) -> Corrected:
    (a, da), (b, db) = x, y
    if is_power_of_two(a) or is_power_of_two(b):
        return ir.raw(ir.MUL, (a, b)), _fma(a, db, _fma(b, da, ir.ZERO))
    p = ir.raw(ir.MUL, (a, b))
    error = ir.raw(FMA, (a, b, _negative(p)))
    if x == y and da is not ir.ZERO:
        return p, _fma(ir.raw(ir.MUL, (ir.const(2), a)), da, error)
    return p, _fma(a, db, _fma(b, da, error))


def _quotient(x: Corrected, y: Corrected) -> Corrected:
    """By the reciprocal, which quotients of one denominator share."""
    (a, da), (b, db) = x, y
    if is_power_of_two(b):
        inverse = ir.const(1 / (ir.rational(b) or Fraction(1)))
        return ir.raw(ir.MUL, (a, inverse)), _fma(inverse, da, ir.ZERO)
    inverse = ir.raw(ir.DIV, (ir.ONE, b))
    q = inverse if a is ir.ONE else ir.raw(ir.MUL, (a, inverse))
    minus = _negative(q)
    rest = _add(ir.raw(FMA, (minus, b, a)), da)
    return q, ir.raw(ir.MUL, (_fma(minus, db, rest), inverse))


def _root(x: Corrected) -> Corrected:
    a, da = x
    s = ir.raw(ir.POW, (a, ir.HALF))
    rest = ir.raw(FMA, (_negative(s), s, a))
    half = ir.raw(ir.MUL, (ir.HALF, ir.raw(ir.DIV, (ir.ONE, s))))
    return s, ir.raw(ir.MUL, (_add(rest, da), half))


def _rational_power(x: Corrected, q: Fraction) -> Corrected:
    """Integer and half-integer powers, by products, a root and a quotient."""
    base = _root(x) if q.denominator == 2 else x
    value = by_squaring(_product, base, abs(q.numerator))
    return _quotient((ir.ONE, ir.ZERO), value) if q < 0 else value


# ----------------------------------------------------------------------- choices
def _choice(condition: Corrected, x: Corrected, y: Corrected) -> Corrected:
    return _select(condition[0], x, y)


def _select(c: Expr, x: Corrected, y: Corrected) -> Corrected:
    value = x[0] if x[0] is y[0] else ir.raw(ir.WHERE, (c, x[0], y[0]))
    return value, x[1] if x[1] is y[1] else ir.raw(ir.WHERE, (c, x[1], y[1]))


def _magnitude(x: Corrected) -> Corrected:
    if x[1] is ir.ZERO:
        return ir.raw(ir.ABS, (x[0],)), ir.ZERO
    return _select(ir.raw(ir.LT, (_together(*x), ir.ZERO)), _opposite(x), x)


def _less(x: Corrected, y: Corrected) -> Expr:
    """Whether x < y, by the difference of both parts."""
    rest = _add(x[1], _negative(y[1]))
    return ir.raw(ir.LT, (_together(ir.raw(ir.SUB, (x[0], y[0])), rest), ir.ZERO))


def _together(a: Expr, rest: Expr) -> Expr:
    """A value with its error, which means nothing where the value is infinite."""
    if rest is ir.ZERO:
        return a
    return ir.raw(
        ir.WHERE, (ir.raw(ir.LT, (ir.raw(ir.ABS, (a,)), ir.INF)), ir.raw(ir.ADD, (a, rest)), a)
    )


def _larger(x: Corrected, y: Corrected) -> Corrected:
    return _select(_less(x, y), y, x)


def _smaller(x: Corrected, y: Corrected) -> Corrected:
    return _select(_less(y, x), y, x)


_ARITHMETIC: dict[object, Callable[..., Corrected]] = {
    ir.ADD: _sum,
    ir.SUB: _difference,
    ir.MUL: _product,
    ir.DIV: _quotient,
    ir.NEG: _opposite,
    ir.ABS: _magnitude,
    ir.WHERE: _choice,
    **dict.fromkeys(MAXIMA, _larger),
    **dict.fromkeys(MINIMA, _smaller),
}


# ----------------------------------------------------------------------- helpers
def _is_product(e: Expr) -> bool:
    if e.op is ir.POW:
        return (ir.integer(e.args[1]) or 0) > 1
    return e.op is ir.MUL


def _add(a: Expr, b: Expr) -> Expr:
    return b if a is ir.ZERO else a if b is ir.ZERO else ir.raw(ir.ADD, (a, b))


def _fma(a: Expr, b: Expr, c: Expr) -> Expr:
    """a*b + c, roughly."""
    if a is ir.ZERO or b is ir.ZERO:
        return c
    if a is ir.ONE or b is ir.ONE:
        return _add(b if a is ir.ONE else a, c)
    return ir.raw(ir.MUL, (a, b)) if c is ir.ZERO else ir.raw(FMA, (a, b, c))


def _is_rounded_once(e: Expr, known: Known) -> bool:
    """Whether all that a number lacks is its own rounding."""
    return e.op in (ir.ADD, ir.SUB, ir.MUL) and all(known[a][1] is ir.ZERO for a in e.args)


def _negative(e: Expr) -> Expr:
    q = ir.rational(e)
    if q is not None:
        return ir.const(-q)
    return e.args[0] if e.op is ir.NEG else ir.raw(ir.NEG, (e,))


def is_power_of_two(e: Expr) -> bool:
    """Whether a product with a number is exact."""
    q = ir.rational(e)
    return (
        q is not None and q != 0 and not any(n & (n - 1) for n in (abs(q.numerator), q.denominator))
    )


def _compensated(e: Expr, known: Known) -> Expr:
    return _add(*compensated(e, known))


def _plain(e: Expr, known: Known) -> Expr:
    return corrected(e, known)[0]


def _argument(e: Expr, known: Known) -> Corrected:
    """A sum rounded to the nearest double, and the rest."""
    value, correction = corrected(e, known)
    if _is_rounded_once(e, known):
        return value, correction
    high = _add(value, correction)
    return high, ir.raw(ir.SUB, (correction, ir.raw(ir.SUB, (high, value))))


def _exp(e: Expr, known: Known) -> Expr:
    high, low = _argument(e, known)
    value = ir.raw(EXP, (high,))
    return ir.raw(FMA, (value, low, value))


def _expm1(e: Expr, known: Known) -> Expr:
    high, low = _argument(e, known)
    value = ir.raw(EXPM1, (high,))
    return ir.raw(ir.ADD, (value, ir.raw(FMA, (value, low, low))))


BUILDS: dict[object, Callable[[Expr, Known], Expr]] = {
    COMPENSATED: _compensated,
    LIGHT: _compensated,
    PLAIN: _plain,
    COMPENSATED_EXP: _exp,
    COMPENSATED_EXPM1: _expm1,
}
"""The operations on compensated values, in terms of others."""
