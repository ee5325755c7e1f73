"""Roots: their squares are their radicands, in both directions.

Before:  1/R + x**2/R**3 with R = sqrt(1 - x**2)
After:   R**-3

Requires: a value of a frame with roots.
Ensures: equal values wherever the first was defined: a root is only replaced where it still
stands, or where its radicand is not negative.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import isqrt
from typing import Any

from symdiff import ir
from symdiff.ir import HALF, POW, Expr
from symdiff.ir.functions import HYPOT
from symdiff.passes.analysis.signs import NEGATIVE, Signs
from symdiff.passes.cancel.rational import Factored, OutOfBudgetError, factors_with
from symdiff.passes.simplify.costs import Budget, Costs
from symdiff.passes.simplify.frame import Frame, Root
from symdiff.passes.simplify.pieces import primitive
from symdiff.passes.simplify.writer import Writer

MAX_TERMS = 200


def as_roots(e: Expr) -> Expr:
    """With `hypot(x, y)` as `sqrt(x**2 + y**2)`."""

    def rule(node: Expr, args: tuple[Expr, ...]) -> Expr:
        if node.op is HYPOT:
            return ir.sqrt(ir.add(*(ir.power(a, 2) for a in args)))
        return ir.rebuild(node, args)

    return ir.transform((e,), rule)[0]


def as_hypots(e: Expr, given: Expr) -> Expr:
    """With the roots that are values of `hypot` in what was given as such."""
    known: dict[Expr, Expr] = {}
    for node in ir.topological((given,)):
        if node.op is HYPOT:
            a, b = (ir.power(as_roots(u), 2) for u in node.args)
            known |= {ir.add(a, b): node, ir.add(b, a): node}

    def rule(node: Expr, args: tuple[Expr, ...]) -> Expr:
        if node.op is POW and node.args[0] in known:
            q = ir.rational(node.args[1])
            if q is not None:
                return ir.power(known[node.args[0]], ir.const(2 * q))
        return ir.rebuild(node, args)

    return ir.transform((e,), rule)[0]


def opened(radicand: Expr) -> Expr | None:
    """A square root with its squares, and its positive denominators, taken out
    of it; None if it has none."""
    if radicand.op not in (*ir.ARITHMETIC[:4], ir.POW):
        return None
    try:
        frame = Frame(radicand)
        value = _whole(frame.value(radicand))
    except OutOfBudgetError:
        return None
    if all(n == 1 for _, n in value.factors.values()) and value.unit.denominator == 1:
        if isqrt(abs(value.unit.numerator)) ** 2 != value.unit.numerator or value.unit == 1:
            return None
    outside, below, inner = ir.ONE, ir.ONE, Factored(value.unit, {})
    writer = Writer(frame, Costs(ir.topological((radicand,))), Budget(20))
    for key, (base, n) in value.factors.items():
        node = writer.write(Factored(Fraction(1), {key: (base, 1)}))
        sign = Signs().of(node)
        k = n // 2 if n > 0 else -(-n // 2)
        if n - 2 * k > 0 or (n < 2 * k and sign & NEGATIVE != 0):
            inner.factors[key] = base, n - 2 * k
        elif n < 2 * k:
            below = below * node
        if k:
            if k % 2 and sign & NEGATIVE:
                node = ir.abs_(node)
            outside = outside * ir.power(node, k)
    size = Fraction(_square_part(abs(value.unit.numerator)), _square_part(value.unit.denominator))
    outside, inner = ir.const(size) * outside, Factored(value.unit / size**2, inner.factors)
    if outside is ir.ONE and below is ir.ONE:
        return None
    top = ir.power(writer.write(inner), HALF)
    return outside * (top if below is ir.ONE else ir.div(top, ir.power(below, HALF)))


def _whole(value: Factored) -> Factored:
    """A value with sums in coprime integers: their numerical factors may be squares."""
    unit, factors = value.unit, dict[str, tuple[Any, int]]()
    for key, (base, n) in value.factors.items():
        part, scale = primitive(base)
        if scale != 1:
            unit, key = unit * scale**n, str(part)
        factors[key] = part, n
    return Factored(unit, factors)


def _square_part(n: int) -> int:
    """The largest small number whose square divides a number."""
    if isqrt(n) ** 2 == n:
        return isqrt(n)
    found = 1
    for p in (2, 3, 5, 7):
        while n % (p * p) == 0:
            n, found = n // (p * p), found * p
    return found


def forms(frame: Frame, root: Root, value: Factored) -> Iterator[Factored]:
    """The value with fewer powers of a root, or with the root instead of its radicand."""
    i = frame.index[str(root.symbol)]
    if root.square.unit == 0:
        return
    if not any(base.degrees()[i] for base, _ in value.factors.values()):
        return
    if root.n != 2:
        yield from _shifted(frame, root, value, i)
        for form in _each(frame, root, value, i):
            yield from _shifted(frame, root, form, i)
        return
    try:
        lowered = _lowered(frame, root, value, i)
    except OutOfBudgetError:
        return
    for form in (lowered, value):
        yield from _shifted(frame, root, form, i)
    yield lowered
    yield from _each(frame, root, value, i)


def _square(frame: Frame, root: Root, power: int) -> Factored:
    return frame.ring.pow(root.square, power)


def _lowered(frame: Frame, root: Root, value: Factored, i: int) -> Factored:
    """(a + b*R)/d, or R/(a/b): numerator and denominator linear in the root, and the
    denominator without it where it is a sum."""
    ring = frame.ring
    result = Factored(value.unit, {k: f for k, f in value.factors.items() if not f[0].degrees()[i]})
    one = ring.context.constant(1)
    (a, b), (c, d) = (
        _parts(frame, root, factors_with(value, i, side, one, MAX_TERMS), i) for side in (1, -1)
    )
    symbol = ring.of(root.symbol)
    if c.unit and d.unit:  # (a + b*R)*(c - d*R)/(c**2 - d**2*R**2)
        below = ring.add(ring.mul(c, c), ring.neg(ring.mul(root.square, ring.mul(d, d))))
        if below.unit == 0:
            raise OutOfBudgetError("zero")
        a, b = (
            ring.add(ring.mul(a, c), ring.neg(ring.mul(root.square, ring.mul(b, d)))),
            ring.add(ring.mul(b, c), ring.neg(ring.mul(a, d))),
        )
    elif d.unit:
        below = ring.mul(d, symbol)
    else:
        below = c
    if b.unit == 0:
        top = a
    elif a.unit == 0:
        top = ring.mul(b, symbol)
    else:
        top = ring.add(a, ring.mul(b, symbol))
    return ring.mul(result, ring.div(top, below))


def _each(frame: Frame, root: Root, value: Factored, i: int) -> Iterator[Factored]:
    """The factors without powers of the root, each with its radicand written by the root:
    `(a + R)**2*(b**2 + R**2)` keeps its square."""
    ring = frame.ring
    if all(base.degrees()[i] < root.n or len(base) == 1 for base, _ in value.factors.values()):
        return
    result = ring.const(value.unit)
    for base, n in value.factors.values():
        factor = ring.of(base)
        if base.degrees()[i] >= root.n and len(base) > 1:
            factor = ring.const(0 * root.square.unit)
            for k, part in enumerate(_parts(frame, root, base, i)):
                power = ring.pow(ring.of(root.symbol), k)
                factor = ring.add(factor, ring.mul(part, power))
        if factor.unit == 0:
            return
        result = ring.mul(result, ring.pow(factor, n))
    yield result


def _parts(frame: Frame, root: Root, p: Any, i: int) -> list[Factored]:
    """a, b, ... with p = a + b*R + ..., as many as the root has powers."""
    ring = frame.ring
    rows: dict[int, dict[tuple[int, ...], Any]] = {}
    for m, q in p.terms():
        rest = tuple(0 if k == i else int(n) for k, n in enumerate(m))
        rows.setdefault(int(m[i]), {})[rest] = q
    found = [ring.const(0 * root.square.unit) for _ in range(root.n)]
    for k, r in rows.items():
        term = ring.mul(ring.of(ring.context.from_dict(r)), _square(frame, root, k // root.n))
        found[k % root.n] = ring.add(found[k % root.n], term)
    return found


def _shifted(frame: Frame, root: Root, value: Factored, i: int) -> Iterator[Factored]:
    """Factors R**n with n changed by two (three for a cube root), the radicand taking its place."""
    ring, key = frame.ring, str(root.symbol)
    n = value.factors.get(key, (None, 0))[1]
    if n == 0:
        return
    square = _square(frame, root, 1)
    two = ring.pow(ring.of(root.symbol), root.n)
    ratio = ring.div(two, square)
    yield value
    yield ring.mul(value, ratio)
    yield ring.div(value, ratio)
    # powers of the radicand gathered in the root
    if len(root.square.factors) == 1:
        ((base_key, (_, k)),) = root.square.factors.items()
        m = value.factors.get(base_key, (None, 0))[1]
        if m and k == 1:
            yield ring.mul(value, ring.pow(ratio, m))
