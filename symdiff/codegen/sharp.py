"""Sums computed together with the rounding errors of all that is in them.

Before:  sharp(x*(x*x - 2) + 1)
After:   p = x*x; e = fma(x, x, -p); s = p - 2; e' = e + (error of s); x*s + 1 + x*e'

Every operation on the way is one rounded result and its error, which is computed
without error itself and carried along to first order: of the error of a sum that
cancels, only its square is left. Unlike in double-double arithmetic the two parts are
never brought into order, so that this costs a few operations, all of them SIMD.

Requires: `is_sharp(e)`: sums, products, roots and integer powers of exact inputs.
Reference: P. Langlois, Automatic linear correction of rounding errors, BIT 41 (2001).
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from symdiff.codegen.lower import (
    ARRAY_CHAIN,
    FMA,
    SHARP,
    SHARP_EXP,
    SHARP_EXPM1,
    nearest,
)
from symdiff.functions import EXP, EXPM1
from symdiff.ir import (
    ADD,
    CONST,
    DIV,
    HALF,
    MUL,
    NEG,
    POW,
    SUB,
    VAR,
    ZERO,
    Expr,
    const,
    integer,
    rational,
    raw,
    topological,
)

Corrected = tuple[Expr, Expr]
"""A rounded value, and what is to be added to it."""


def is_sharp(e: Expr) -> bool:
    """Whether all errors in a node can be computed."""
    return all(
        n.op in (VAR, ADD, SUB, MUL, NEG)
        or rational(n) is not None
        or (n.op is POW and n.args[1] is HALF)
        or (n.op is POW and (integer(n.args[1]) or 0) in range(2, ARRAY_CHAIN + 1))
        for n in topological((e,))
    )


def sharp(e: Expr) -> Corrected:
    """A sum that is rounded once, and the errors of its terms, in operations to be
    carried out as they stand."""
    known = _corrected(e.args)
    if e.op in (ADD, SUB):
        return _rounded_once(e, known)
    return _local(e, [known[a] for a in e.args])


def _corrected(roots: Iterable[Expr]) -> dict[Expr, Corrected]:
    known: dict[Expr, Corrected] = {}
    for n in topological(roots):
        known[n] = _local(n, [known[a] for a in n.args])
    return known


def _rounded_once(e: Expr, known: dict[Expr, Corrected]) -> Corrected:
    """A sum, whose own rounding is small beside it, and the correction of its terms."""
    at = next((i for i, a in enumerate(e.args) if _is_product(a)), None)
    minus = [False, e.op is SUB]
    if at is None:
        (a, da), (b, db) = (known[x] for x in e.args)
        if minus[1]:
            b, db = _negative(b), _negative(db)
        return raw(ADD, (a, b)), _add(da, db)
    product, (c, dc) = e.args[at], known[e.args[1 - at]]
    if product.op is MUL:
        (a, da), (b, db) = (known[x] for x in product.args)
    else:
        n = integer(product.args[1]) or 1
        (a, da), (b, db) = (_power(known[product.args[0]], m) for m in (n // 2, n - n // 2))
        if n % 2:
            (a, da), (b, db) = _power(known[product.args[0]], n - 1), known[product.args[0]]
    correction = ZERO
    if (a, da) == (b, db):
        correction = ZERO if da is ZERO else raw(MUL, (raw(MUL, (const(2), a)), da))
    else:
        correction = _fma(a, db, _fma(b, da, ZERO))
    if minus[at]:
        a, correction = _negative(a), _negative(correction)
    if minus[1 - at]:
        c, dc = _negative(c), _negative(dc)
    return raw(FMA, (a, b, c)), _add(correction, dc)


def _local(n: Expr, args: list[Corrected]) -> Corrected:
    if n.op is CONST and (q := rational(n)) is not None:
        value = Fraction(nearest(q))
        return const(value), const(Fraction(nearest(q - value)))
    if n.op is NEG:
        return _negative(args[0][0]), _negative(args[0][1])
    if n.op is POW:
        m = integer(n.args[1])
        return _root(args[0]) if m is None else _power(args[0], m)
    if n.op is MUL:
        return _product(*args)
    if n.op in (ADD, SUB):
        (a, da), (b, db) = args
        if n.op is SUB:
            b, db = _negative(b), _negative(db)
        return _sum((a, da), (b, db))
    return n, ZERO


def _sum(x: Corrected, y: Corrected) -> Corrected:
    (a, da), (b, db) = x, y
    s = raw(ADD, (a, b))
    t = raw(SUB, (s, a))
    own = raw(ADD, (raw(SUB, (a, raw(SUB, (s, t)))), raw(SUB, (b, t))))
    return s, _add(own, _add(da, db))


def _product(x: Corrected, y: Corrected) -> Corrected:
    (a, da), (b, db) = x, y
    p = raw(MUL, (a, b))
    error = ZERO if _is_power_of_two(a) or _is_power_of_two(b) else raw(FMA, (a, b, _negative(p)))
    if x == y and da is not ZERO:
        return p, _fma(raw(MUL, (const(2), a)), da, error)
    return p, _fma(a, db, _fma(b, da, error))


def _root(x: Corrected) -> Corrected:
    a, da = x
    s = raw(POW, (a, HALF))
    rest = raw(FMA, (_negative(s), s, a))
    return s, raw(DIV, (_add(rest, da), raw(ADD, (s, s))))


def _power(x: Corrected, n: int) -> Corrected:
    """By the same steps as `lower`, so that they are shared."""
    if n == 1:
        return x
    if n % 2:
        return _product(_power(x, n - 1), x)
    half = _power(x, n // 2)
    return _product(half, half)


def _is_product(e: Expr) -> bool:
    return e.op is MUL or (e.op is POW and integer(e.args[1]) is not None)


def _add(a: Expr, b: Expr) -> Expr:
    return b if a is ZERO else a if b is ZERO else raw(ADD, (a, b))


def _fma(a: Expr, b: Expr, c: Expr) -> Expr:
    """a*b + c, roughly."""
    if a is ZERO or b is ZERO:
        return c
    return raw(MUL, (a, b)) if c is ZERO else raw(FMA, (a, b, c))


def _negative(e: Expr) -> Expr:
    q = rational(e)
    return raw(NEG, (e,)) if q is None else const(-q)


def _is_power_of_two(e: Expr) -> bool:
    q = rational(e)
    return (
        q is not None and q != 0 and not any(n & (n - 1) for n in (abs(q.numerator), q.denominator))
    )


def _sharp(e: Expr) -> Expr:
    return _add(*sharp(e))


def _argument(e: Expr) -> Corrected:
    """A sum rounded to the nearest double, and the rest."""
    value, correction = _corrected((e,))[e]
    high = _add(value, correction)
    return high, raw(SUB, (correction, raw(SUB, (high, value))))


def _exp(e: Expr) -> Expr:
    high, low = _argument(e)
    value = raw(EXP, (high,))
    return raw(FMA, (value, low, value))


def _expm1(e: Expr) -> Expr:
    high, low = _argument(e)
    value = raw(EXPM1, (high,))
    return raw(ADD, (value, raw(FMA, (value, low, low))))


BUILDS = {SHARP: _sharp, SHARP_EXP: _exp, SHARP_EXPM1: _expm1}
"""How the operations on sharp sums are made of others."""
