"""Which variables the nodes of a DAG depend on; each node is visited once.

Requires: nothing. Ensures: queries of all nodes of a DAG take time linear in it.
"""

from __future__ import annotations

from symdiff import ir
from symdiff.ir import VAR, Expr


class Dependence:
    """The variables below nodes, as sets of bits."""

    def __init__(self) -> None:
        self._bit: dict[Expr, int] = {}
        self._below: dict[Expr, int] = {}

    def _of(self, e: Expr) -> int:
        if e not in self._below:
            for node in ir.topological((e,), self._below):
                mask = 0
                for a in node.args:
                    mask |= self._below[a]
                if node.op is VAR:
                    mask = self._bit.setdefault(node, 1 << len(self._bit))
                self._below[node] = mask
        return self._below[e]

    def on(self, e: Expr, v: Expr | None = None) -> bool:
        """Whether a node depends on a variable; None: on any."""
        below = self._of(e)
        return below != 0 if v is None else below & self._bit.get(v, 0) != 0

    def variables(self, e: Expr) -> list[Expr]:
        """The variables below a node, in the order of their first occurrence."""
        below = self._of(e)
        return [v for v, bit in self._bit.items() if below & bit]
