"""Products of powers of one base are one power.

Before:  x**a*x**b, y*y**(1 - p), x**a/x**b
After:   x**(a + b), y**(2 - p), x**(a - b)

Requires: any DAG.
Ensures: the same values wherever the DAG was defined: for a positive base always, for 0 where all
of its powers are defined, and for a negative one with integer exponents. The product at 0 is 0**0 *
0**-1, which is no number, where that of a + b = 1 has the slope 1; outside of the domain see
`pipeline.scalar.masked`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

from symdiff import ir
from symdiff.ir import DIV, MUL, ONE, POW, Expr
from symdiff.passes.cancel.algebra import linear

MAX_FACTORS = 32


def like_powers(outputs: Iterable[Expr]) -> tuple[Expr, ...]:
    """The outputs with powers of one base in a product combined, if one has a variable exponent."""
    outputs = tuple(outputs)
    if not any(_varies(e) for e in ir.topological(outputs)):
        return outputs

    def rule(e: Expr, args: tuple[Expr, ...]) -> Expr:
        made = ir.rebuild(e, args)
        return _together(made) if made.op in (MUL, DIV) else made

    return ir.transform(outputs, rule)


def _varies(e: Expr) -> bool:
    return e.op is POW and ir.rational(e.args[1]) is None


def _together(e: Expr) -> Expr:
    """A product or quotient, with one power of each base."""
    factors = list(ir.factors(e))
    bases = {f.args[0] for f, _ in factors if _varies(f)}
    exponents: dict[Expr, list[Expr]] = {}
    rest: list[tuple[Expr, int]] = []
    for f, side in factors:
        base, exponent = f.args if f.op is POW else (f, ONE)
        if base in bases:
            exponents.setdefault(base, []).append(exponent if side > 0 else -exponent)
        else:
            rest.append((f, side))
    if len(factors) > MAX_FACTORS or all(len(found) == 1 for found in exponents.values()):
        return e
    up = ir.product([f for f, side in rest if side > 0])
    for base, found in exponents.items():
        up = up * ir.power(base, _sum(found))
    return up / ir.product([f for f, side in rest if side < 0])


def _sum(exponents: list[Expr]) -> Expr:
    """Their sum, whose terms may cancel."""
    total = functools.reduce(ir.add, exponents)
    terms = linear(total)
    if terms is None or (len(terms) > 1 and len(terms) == sum(map(_count, exponents))):
        return total
    found = ir.const(terms.pop(ONE, 0))
    for e, q in reversed(terms.items()):
        found = ir.const(q) * e + found
    return found


def _count(e: Expr) -> int:
    return len(linear(e) or ())
