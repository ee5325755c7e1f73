"""The kinds of formulas at the point 0, along one variable.

Before:  sin(sqrt(v)*w)/sqrt(v), with w = 1/sqrt(2 + v) + 1/sqrt(3 + v)
After:   "analytic"

Requires: nodes above one variable.
Ensures: the kind is proven by power series; "" if it is open. Germs that other questions computed
for the same nodes are used again: in a sum with many guards they are most of them. With balls for
constants, series take much less time, and show only that a formula is analytic.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from symdiff.ir import Expr
from symdiff.series import Germs, OutOfBudget
from symdiff.series.germs import order_of

MAX_SHARED = 6000
"""Nodes whose germs are kept for the next question."""


class Along:
    """Germs at 0 of the nodes in earlier questions."""

    def __init__(self) -> None:
        self._known: dict[tuple[Expr, int, bool], Germs] = {}

    def kind(self, v: Expr, nodes: Sequence[Expr], e: Expr) -> str:
        """The kind of e, the last of the nodes above v; "" if open."""
        found = self._kind(v, nodes, e, True)
        return found if found == "analytic" else self._kind(v, nodes, e, False)

    def _kind(self, v: Expr, nodes: Sequence[Expr], e: Expr, balls: bool) -> str:
        key = v, order_of(nodes), balls
        known = self._known.pop(key, None)
        try:
            if known is None:
                known = Germs(v, Fraction(0), nodes, balls)
            else:
                known.more(nodes)
            kind = known.germs[e].kind
        except (OutOfBudget, ArithmeticError, RecursionError, KeyError):
            return ""
        if len(known.nodes) <= MAX_SHARED:
            self._known[key] = known
        return "" if kind in ("undecided", "unknown") else kind


__all__ = ["Along"]
