"""Factors of one quantity come together, so that their quotient can be completed.

Before:  (1 + k*theta**2)*theta/r,  theta and r functions of x**2 + y**2
After:   (1 + k*theta**2)*(theta/r)

Before:  (1 - cos(r))*(x/r)*(x/r)
After:   x*x*((1 - cos(r))/r/r)

Before:  (sqrt(s) - sin(sqrt(s)))/(s*sqrt(s))*x
After:   x*((sqrt(s) - sin(sqrt(s)))/(s*sqrt(s)))

Requires: any DAG.
Ensures: equal values. Products are only regrouped where a factor above vanishes together
with a denominator, as functions of the lowest node on which both depend alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import islice

from symdiff import ir
from symdiff.errors import SymdiffError
from symdiff.ir import DIV, MUL, ONE, Expr
from symdiff.passes.analysis.bottlenecks import bottleneck, is_small
from symdiff.passes.analysis.dependence import Dependence
from symdiff.passes.analysis.roots import rational_roots
from symdiff.series.coefficients import is_zero
from symdiff.series.germs import AtPoint, Germs

MAX_FACTORS = 8


def regrouped(outputs: Iterable[Expr]) -> tuple[Expr, ...]:
    """The outputs with such products regrouped, children first."""
    outputs = tuple(outputs)
    if not any(e.op is DIV for e in ir.topological(outputs)):
        return outputs
    pass_ = _Regroup()
    return ir.transform(outputs, pass_.rule)


class _Regroup:
    def __init__(self) -> None:
        self.below = Dependence()
        self.zeros: dict[Expr, tuple[Expr, list[Fraction]] | None] = {}
        self.values: dict[tuple[Expr, Fraction], AtPoint] = {}
        self.made_of: dict[Expr, dict[Expr, bool]] = {}

    def rule(self, e: Expr, args: tuple[Expr, ...]) -> Expr:
        e = ir.rebuild(e, args)
        if e.op not in (MUL, DIV) or not any(a.op in (MUL, DIV) for a in e.args):
            return e
        found = list(islice(ir.factors(e), MAX_FACTORS + 1))
        above = [f for f, side in found if side > 0 and f is not ONE]
        under = [f for f, side in found if side < 0 and f is not ONE]
        if len(found) > MAX_FACTORS or not under or len(above) < 2:
            return e
        for d in under:
            near = [f for f in above if self._vanishes_with(f, d)]
            if near and any(f not in near and self.below.on(f) for f in above):
                rest = [f for f in above if f not in near]
                others = [u for u in under if u is not d]
                quotient = ir.product(near)
                if beside := self._beside(near, d, under):
                    for u in beside:
                        others.remove(u)
                    quotient = quotient / ir.product([u for u in under if u not in others])
                else:
                    for _ in range(under.count(d)):
                        quotient = quotient / d
                return ir.product(rest) / ir.product(others) * quotient
        return e

    def _beside(self, near: list[Expr], d: Expr, under: list[Expr]) -> list[Expr]:
        """The other divisors that vanish where d does, as many as the vanishing factors can
        balance."""
        others = [u for u in under if u is not d and self._vanishes_with(u, d)]
        if not others:
            return []
        t, places = self.zeros[d] or (d, [])
        for place in places:
            orders = _orders(t, place, {*near, *others, d})
            if not all(n in orders for n in (*near, d)):
                continue
            left = sum(orders[f] for f in near) - orders[d] * under.count(d)
            found = []
            for u in dict.fromkeys(others):
                if 0 < orders.get(u, 0) * others.count(u) <= left:
                    found += [u] * others.count(u)
                    left -= orders[u] * others.count(u)
            return found
        return []

    def _vanishes_with(self, f: Expr, d: Expr) -> bool:
        """Whether f is a function of the quantity below d, and 0 where d is 0."""
        if d not in self.zeros:
            self.zeros[d] = self._zeros(d)
        found = self.zeros[d]
        if found is None or not self.below.on(f) or not is_small((f, d)):
            return False
        t, places = found
        if not places or not self._is_of(f, t):
            return False
        if not set(ir.variables((f,))) <= set(ir.variables((d,))):
            return False
        if bottleneck((f, d), d) is not t:
            return False
        try:
            return any((v := self._at(t, r).of(f)) is not None and is_zero(v) for r in places)
        except (SymdiffError, ArithmeticError):
            return False

    def _is_of(self, f: Expr, t: Expr) -> bool:
        """Whether t is below f."""
        known = self.made_of.setdefault(t, {t: True})
        for n in ir.topological((f,), known):
            known[n] = any(known[a] for a in n.args)
        return known[f]

    def _at(self, t: Expr, point: Fraction) -> AtPoint:
        return self.values.setdefault((t, point), AtPoint(t, point))

    def _zeros(self, d: Expr) -> tuple[Expr, list[Fraction]] | None:
        if not self.below.on(d) or not is_small((d,)):
            return None
        t = bottleneck((d,), d)
        if t is None:
            return None
        return t, list(rational_roots(d, t, (), self.below))


def _orders(t: Expr, point: Fraction, wanted: set[Expr]) -> dict[Expr, int]:
    """The orders to which nodes vanish at a point of t, in one unit, for those with a known
    series."""
    varying = {t}
    nodes = []
    for n in ir.topological(wanted):
        if n is not t and any(a in varying for a in n.args):
            varying.add(n)
            nodes.append(n)
    try:
        germs = Germs(t, point, nodes)
        unit = {t: germs.right.ramification} if point == 0 else {}
        streams = germs.right.streams
        return unit | {n: streams[n].valuation() for n in wanted if n is not t and n in streams}
    except (SymdiffError, ArithmeticError, RecursionError):
        return {}
