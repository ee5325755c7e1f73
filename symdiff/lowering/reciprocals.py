"""Quotients of one denominator by its reciprocal, rounded as if divided.

Before:  a/x, b/x, c/(x*x)
After:   i = 1/x; q = a*i, and q + i*(a - q*x) instead of a/x; c*(i*i), corrected likewise

A division takes as long as thirty multiplications in SIMD registers. The remainder of a
quotient is exact with one `fma`; so the corrected quotient is the exact one rounded, except for
about 2**-100 of it (P. Markstein, IA-64 and Elementary Functions, 2000, chapter 8). What is
computed for tests only, where bounds are rough, is not corrected.

A logistic function, 1/(1 + exp(x)), together with exp(-|x|) is computed from it: it is less than 1,
and one exponential serves both.

Requires: lowered nodes; the given number of first ones are results.
Ensures: the same values within one rounding, or a flag of the processor (see
`codegen.llvm.tiers`): where a denominator is 0 or infinite, or a remainder underflows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from symdiff import ir
from symdiff.ir import Expr
from symdiff.ir.functions import EXP
from symdiff.lowering.target import FMA

MAX_NODES = 4000
"""Larger programs stay as they are."""


def share(roots: Sequence[Expr], results: int) -> tuple[Expr, ...]:
    """The nodes with as few divisions as possible."""
    roots = _logistic(tuple(roots))
    order = ir.topological(roots)
    if len(order) > MAX_NODES:
        return roots
    return _Shared(order, set(ir.topological(roots[:results]))).rewritten(roots)


def _logistic(roots: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """1/(1 + exp(x)) by exp(-|x|), where that is computed anyway."""
    falling = {e.args[0].args[0].args[0]: e for e in ir.topological(roots) if _falls(e)}
    if not falling:
        return roots
    new: dict[Expr, Expr] = {}
    for n in ir.topological((*falling.values(), *roots)):
        args = tuple(new[a] for a in n.args)
        new[n] = ir.with_args(n, args)
        if n.op is not ir.DIV or n.args[0] is not ir.ONE or n.args[1].op is not ir.ADD:
            continue
        grown = [a for a in n.args[1].args if a is not ir.ONE]
        if len(grown) != 1 or grown[0].op is not EXP:
            continue
        (u,) = grown[0].args
        small = falling.get(u.args[0] if u.op is ir.NEG else u)
        if small is not None and small in new:
            above = ir.raw(ir.WHERE, (ir.raw(ir.LT, (ir.ZERO, new[u])), new[small], ir.ONE))
            new[n] = ir.raw(ir.DIV, (above, ir.raw(ir.ADD, (new[small], ir.ONE))))
    return tuple(new[r] for r in roots)


def _falls(e: Expr) -> bool:
    """Whether a node is exp(-|x|)."""
    return e.op is EXP and e.args[0].op is ir.NEG and e.args[0].args[0].op is ir.ABS


class _Shared:
    def __init__(self, order: Sequence[Expr], exact: set[Expr]) -> None:
        self.order, self.exact = order, exact
        self.uses = Counter(_plain(n.args[1]) for n in order if _divides(n))
        self.new: dict[Expr, Expr] = {}
        self.inverses: dict[Expr, Expr] = {}

    def rewritten(self, roots: tuple[Expr, ...]) -> tuple[Expr, ...]:
        for n in self.order:
            args = tuple(self.new[a] for a in n.args)
            if _divides(n) and self.has_inverse(n.args[1]):
                self.new[n] = self.quotient(n, *args)
            else:
                self.new[n] = ir.with_args(n, args)
        return tuple(self.new[r] for r in roots)

    def has_inverse(self, d: Expr) -> bool:
        """Whether the reciprocal of a node takes no division of its own."""
        return self.uses[_plain(d)] > 1 or self.is_product(d)

    def is_product(self, d: Expr) -> bool:
        d = _plain(d)
        return d.op is ir.MUL and all(self.has_inverse(a) for a in d.args)

    def inverse(self, d: Expr) -> Expr:
        if d.op in (ir.NEG, ir.ABS):
            return ir.raw(d.op, (self.inverse(d.args[0]),))
        found = self.inverses.get(d)
        if found is None:
            if self.is_product(d):
                found = ir.raw(ir.MUL, tuple(self.inverse(a) for a in d.args))
            else:
                found = ir.raw(ir.DIV, (ir.ONE, self.new[d]))
            self.inverses[d] = found
        return found

    def quotient(self, n: Expr, above: Expr, below: Expr) -> Expr:
        inverse = self.inverse(n.args[1])
        q = inverse if above is ir.ONE else ir.raw(ir.MUL, (above, inverse))
        rounded_once = above is ir.ONE and not self.is_product(n.args[1])
        if n not in self.exact or rounded_once:
            return q
        rest = ir.raw(FMA, (ir.raw(ir.NEG, (q,)), below, above))
        return ir.raw(FMA, (rest, inverse, q))


def _divides(n: Expr) -> bool:
    return n.op is ir.DIV and ir.rational(n.args[1]) is None


def _plain(d: Expr) -> Expr:
    """A denominator up to its sign."""
    while d.op in (ir.NEG, ir.ABS):
        d = d.args[0]
    return d
