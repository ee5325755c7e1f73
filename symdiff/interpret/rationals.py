"""Nodes of a tape whose values are rational numbers, where balls do not suffice.

Before:  x - 3*(x/3), a ball around 0, at x = 1
After:   0

Requires: the balls of a tape at a point of floats.
Ensures: a node that is a rational number of reasonable size there, or a condition on such nodes, is
found, or its ball is accurate. The same holds for the difference of two nodes that are
the same formula of equal numbers, and conditions on them. Nodes with sufficient balls are not
computed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction

from flint import arb

from symdiff import ir
from symdiff.interpret.balls import Value, constant_ball
from symdiff.interpret.flat import Tape
from symdiff.ir import Expr

ACCURATE = 16
"""Bits of a sufficient ball, as higher precision adds more."""
_SAME = {ir.SUB: ir.ZERO, ir.EQ: ir.TRUE, ir.LE: ir.TRUE, ir.LT: ir.FALSE}
"""Results of operations on two equal numbers."""


class Rationals:
    """The rational values of the nodes of a tape at a point.

    Attributes
    ----------
    known : by index, the values of queried nodes that are rational.
    """

    def __init__(self, tape: Tape, point: Sequence[float]) -> None:
        self.tape, self.point = tape, point
        self.known: dict[int, Fraction | bool] = {}
        self._found: dict[int, Expr | None] = {}
        self._first: dict[int, int] = {}  # the first of equal formulas of equal numbers
        self._formulas: dict[object, int] = {}
        self._slots = dict(tape.slots)

    def look(self, values: Sequence[Value], wanted: Collection[int] = ()) -> bool:
        """Examine the nodes that balls leave open, and the wanted ones; whether any new rational
        value was found."""
        before = len(self.known)
        v = list(values)
        poor, changed = [False] * len(v), [False] * len(v)
        for i, function, places in self.tape.operations():
            if any(changed[k] for k in places):
                v[i], changed[i] = function(*[v[k] for k in places]), True
            poor[i] = i in wanted or _is_poor(v[i])
            if not poor[i]:
                continue
            if i in wanted or self.tape.nodes[i].op in _SAME or not any(poor[k] for k in places):
                q = self._of(i, v)
                if q is not None:
                    v[i] = q if isinstance(q, bool) else constant_ball(q)
                    poor[i], changed[i] = False, True
        return len(self.known) > before

    def everything(self) -> dict[int, Fraction | bool]:
        """All nodes that are rational."""
        for i in range(len(self.tape.nodes)):
            self._of(i, None)
        return self.known

    def _of(self, root: int, values: Sequence[Value] | None) -> Fraction | bool | None:
        """The value of a node from all nodes below it."""
        for i in self._below(root):
            self._visit(i, values)
        return self.known.get(root)

    def _below(self, root: int) -> list[int]:
        """The places of nodes that were not visited, children first."""
        stack, seen = [root], set[int]()
        while stack:
            i = stack.pop()
            if i not in seen and i not in self._found:
                seen.add(i)
                stack += [self.tape.index[a] for a in self.tape.nodes[i].args]
        return sorted(seen)

    def _visit(self, i: int, values: Sequence[Value] | None) -> None:
        e = self.tape.nodes[i]
        found: Expr | None = None
        if e.op is ir.VAR:
            found = ir.const(float(self.point[self._slots[i]]))
        elif e.op is ir.CONST or e.op is ir.BOOL:
            found = e
        elif e.args:
            found = self._folded(e)
            if found is None and e.op in _SAME and values is not None and self._are_same(i, values):
                found = _SAME[e.op]
        self._enter(i, found)

    def _enter(self, i: int, found: Expr | None) -> None:
        """Store the value of a node, and the first node that equals it."""
        e = self.tape.nodes[i]
        self._found[i] = found
        key: object = found
        if found is None:
            args = [self._first[self.tape.index[a]] for a in e.args]
            key = e.op, *(sorted(args) if e.op in (ir.ADD, ir.MUL) else args)
            key = key if args else e
        elif e.args and isinstance(found.value, Fraction | bool):
            self.known[i] = found.value
        self._first[i] = self._formulas.setdefault(key, i)

    def _are_same(self, i: int, values: Sequence[Value]) -> bool:
        """Whether both arguments are the same formula of equal numbers, and are numbers."""
        a, b = (self.tape.index[x] for x in self.tape.nodes[i].args)
        same = self._first[a] == self._first[b] and isinstance(values[a], arb)
        return same and bool(values[a].is_finite())

    def _folded(self, e: Expr) -> Expr | None:
        args = [self._found[self.tape.index[a]] for a in e.args]
        if e.op is ir.WHERE:
            if args[0] is None:
                return None
            return args[1] if args[0].value else args[2]
        if e.op is ir.AND and ir.FALSE in args:
            return ir.FALSE
        if e.op is ir.OR and ir.TRUE in args:
            return ir.TRUE
        present = [a for a in args if a is not None]
        if len(present) < len(args) or any(isinstance(a.value, float) for a in present):
            return None
        r = ir.apply(e.op, *present)
        return r if r.op is ir.BOOL or ir.rational(r) is not None else None


def _is_poor(value: Value) -> bool:
    """Whether a ball or a truth value leaves the result open."""
    if not isinstance(value, arb):
        return value is None
    if not value.is_finite():
        return True
    return bool(value.rel_accuracy_bits() < ACCURATE and not value.is_exact())


__all__ = ["Rationals"]
