"""Deciding how conditions follow from each other, whatever the values compared are.

A condition is kept as an ordered binary decision diagram (Bryant, "Graph-based
algorithms for Boolean function manipulation", 1986) over its comparisons, so two that are
equivalent are the same node. The comparison met last is tested first: so a loop adds conditions
on top of the earlier ones.
"""

from __future__ import annotations

from symdiff import ir
from symdiff.frontend.trace.values import Refused
from symdiff.ir import Expr

MAX_NODES = 1 << 17
"""Conditions that need more nodes than this are not decided."""

NEVER, ALWAYS = 0, 1
Triple = tuple[int, int, int]


class Decisions:
    """The conditions of one trace. A node is an index; `NEVER` and `ALWAYS` are leaves."""

    def __init__(self) -> None:
        self._nodes: list[Triple] = [(-1, 0, 0), (-1, 1, 1)]  # level, node if true, if false
        self._unique: dict[Triple, int] = {}
        self._choices: dict[Triple, int] = {}
        self._atoms: list[Expr] = []
        self._levels: dict[Expr, int] = {}
        self._known: dict[Expr, int] = {ir.FALSE: NEVER, ir.TRUE: ALWAYS}

    def of(self, condition: Expr) -> int:
        """The node of a condition."""
        stack = [condition]
        while stack:
            e = stack[-1]
            parts = e.args if e.op in (ir.AND, ir.OR, ir.NOT) else ()
            missing = [a for a in parts if a not in self._known]
            if missing:
                stack += missing
                continue
            stack.pop()
            if e not in self._known:
                self._known[e] = self._made(e, [self._known[a] for a in parts])
        return self._known[condition]

    def _made(self, e: Expr, parts: list[int]) -> int:
        if e.op is ir.NOT:
            return self.negated(parts[0])
        if e.op is ir.AND:
            return self.choose(parts[0], parts[1], NEVER)
        if e.op is ir.OR:
            return self.choose(parts[0], ALWAYS, parts[1])
        if e.op is ir.LE:  # over the reals, a <= b is not b < a
            return self.negated(self.of(ir.lt(e.args[1], e.args[0])))
        if e.op is ir.EQ:  # nor does a = b hold with a < b or b < a
            a, b = e.args
            return self.negated(self.choose(self.of(ir.lt(a, b)), ALWAYS, self.of(ir.lt(b, a))))
        level = self._levels.setdefault(e, len(self._atoms))
        if level == len(self._atoms):
            self._atoms.append(e)
        return self._node(level, ALWAYS, NEVER)

    def negated(self, node: int) -> int:
        return self.choose(node, NEVER, ALWAYS)

    def both(self, a: int, b: int) -> int:
        return self.choose(a, b, NEVER)

    def implies(self, a: int, b: int) -> bool:
        return self.choose(a, b, ALWAYS) == ALWAYS

    def choose(self, condition: int, then: int, other: int) -> int:
        """`then` where the condition holds, else `other`."""
        root = condition, then, other
        stack = [root]
        while stack:
            triple = stack[-1]
            if self._chosen(triple) is not None:
                stack.pop()
                continue
            level = max(self._nodes[n][0] for n in triple)
            sides = [self._side(triple, level, i) for i in (1, 2)]
            high, low = (self._chosen(s) for s in sides)
            if high is None or low is None:
                stack += [s for s in sides if self._chosen(s) is None]
            else:
                self._choices[triple] = self._node(level, high, low)
        found = self._chosen(root)
        assert found is not None
        return found

    def _side(self, triple: Triple, level: int, which: int) -> Triple:
        """Each node after the comparison of a level is decided."""
        a, b, c = (self._nodes[n][which] if self._nodes[n][0] == level else n for n in triple)
        return a, b, c

    def _chosen(self, triple: Triple) -> int | None:
        condition, then, other = triple
        if condition == ALWAYS or then == other:
            return then
        if condition == NEVER:
            return other
        if then == ALWAYS and other == NEVER:
            return condition
        return self._choices.get(triple)

    def _node(self, level: int, high: int, low: int) -> int:
        if high == low:
            return high
        triple = level, high, low
        found = self._unique.get(triple)
        if found is None:
            if len(self._nodes) >= MAX_NODES:
                raise Refused(
                    "too many conditions decide which names are assigned",
                    "assign them before the conditions",
                )
            found = self._unique[triple] = len(self._nodes)
            self._nodes.append(triple)
        return found

    def comparisons(self, node: int) -> list[Expr]:
        """The comparisons that a node depends on."""
        seen, stack = {NEVER, ALWAYS}, [node]
        levels = set()
        while stack:
            n = stack.pop()
            if n not in seen:
                seen.add(n)
                level, high, low = self._nodes[n]
                levels.add(level)
                stack += (high, low)
        return [self._atoms[i] for i in sorted(levels)]
