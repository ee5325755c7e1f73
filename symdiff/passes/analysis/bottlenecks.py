"""Quantities through which alone formulas depend on their variables.

Before:  sin(sqrt(a*a + b*b))/sqrt(a*a + b*b)
After:   a*a + b*b, the lowest such node

Requires: any DAG. Ensures: only reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from symdiff import ir
from symdiff.ir import VAR, Expr

MAX_NODES = 1500


def is_small(roots: Iterable[Expr]) -> bool:
    return ir.has_at_most(MAX_NODES, roots)


def bottleneck(roots: Sequence[Expr], about: Expr) -> Expr | None:
    """The lowest node below `about` through which alone the roots depend on the
    variables."""
    found = ir.variables(roots)
    if len(found) <= 1:
        return found[0] if found else None
    bits = {v: 1 << i for i, v in enumerate(found)}
    mask: dict[Expr, int] = {}
    ways = Ways(roots)
    for t in ir.topological((about,)):
        mask[t] = bits.get(t, 0)
        for a in t.args:
            mask[t] |= mask[a]
        if mask[t] == (1 << len(found)) - 1 and not t.op.boolean:
            if ways.all_pass(t, found) and not _reaches(roots, t):
                return t
    return None


class Ways:
    """The number of paths from roots down to each node, and from there to variables.

    They are counted modulo a prime, as there may be very many: a node that some paths avoid is
    almost always found without a walk of its own, and a node on all paths is never missed.
    """

    PRIME = (1 << 61) - 1

    def __init__(self, roots: Sequence[Expr]) -> None:
        order = ir.topological(roots)
        self._down: dict[Expr, int] = {}
        for n in order:
            own = 1 if n.op is VAR else 0
            self._down[n] = (own + sum([self._down[a] for a in n.args])) % self.PRIME
        self._above = dict.fromkeys(order, 0)
        for r in roots:
            self._above[r] += 1
        for n in reversed(order):
            ways = self._above[n] = self._above[n] % self.PRIME
            for a in n.args:
                self._above[a] += ways

    def all_pass(self, t: Expr, variables: Iterable[Expr]) -> bool:
        """False if some path from the roots to a variable below t avoids t."""
        through = self._above.get(t, 0) * self._down.get(t, 0)
        return (sum([self._above.get(v, 0) for v in variables]) - through) % self.PRIME == 0


def _reaches(roots: Sequence[Expr], t: Expr, variables: set[Expr] | None = None) -> bool:
    """Whether some path from the roots to variables (None: any) avoids t."""
    beside = (e for e in ir.reached(roots, lambda e: () if e is t else e.args) if e is not t)
    return any(e.op is VAR and (variables is None or e in variables) for e in beside)
