"""The nodes above given nodes of a DAG.

Before:  1/max(x, eps) + x, and the node max(x, eps)
After:   1/max(x, eps), 1/max(x, eps) + x

Requires: outputs.
Ensures: nodes in order, children first; only these are visited.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush

from symdiff import ir
from symdiff.ir import WHERE, Expr
from symdiff.passes.guards.verdicts import Place


class Users:
    """Maps nodes of a DAG to those above them."""

    def __init__(self, outputs: tuple[Expr, ...]) -> None:
        self.outputs = outputs
        self.order = ir.topological(outputs)
        self.users: dict[Expr, list[int]] = {}  # the indices of the parents of a node
        for i, e in enumerate(self.order):
            for a in dict.fromkeys(e.args):
                self.users.setdefault(a, []).append(i)

    def above(self, m: Expr) -> Iterator[Expr]:
        """The nodes above another, children first; only these are visited."""
        waiting = list(self.users.get(m, ()))
        met = set(waiting)
        while waiting:
            e = self.order[heappop(waiting)]
            yield e
            for user in self.users.get(e, ()):
                if user not in met:
                    met.add(user)
                    heappush(waiting, user)


def is_reached(outputs: Iterable[Expr], node: Expr, place: Place) -> bool:
    """Whether the branches that are taken at a place lead to a node."""
    values = {e: ir.const(q) for e, q in place}

    def taken(e: Expr) -> tuple[Expr, ...]:
        if e.op is WHERE and (holds := ir.substitute(e.args[:1], values)[0]).op is ir.BOOL:
            return e.args[1:2] if holds.value else e.args[2:]
        return e.args

    return any(e is node for e in ir.reached(outputs, taken))
