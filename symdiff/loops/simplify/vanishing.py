"""Where numbers of a program are 0 by what they are made of, whatever its arguments are.

Before:  s[i, j] = sum((x[i, k] - x[j, k])**2, k = 0..m - 1)
After:   s is 0 where i == j

Requires: a valid program.
Ensures: conditions on integers. Where one holds, the number is 0 at all arguments, and so are its
derivatives; where it does not hold, nothing is known.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from symdiff import ir
from symdiff.ir import ABS, ADD, CONST, DIV, FALSE, MUL, NEG, POW, SUB, TRUE, VAR, WHERE, ZERO, Expr
from symdiff.ir.functions import SQUARES
from symdiff.ir.loop_program import (
    ARRAY,
    LOAD,
    Block,
    Build,
    Loop,
    index,
    kind_of,
    leaves,
    name_of,
)


@dataclass(frozen=True, slots=True)
class Vanishing:
    """What is known of the names of a program.

    Attributes
    ----------
    numbers : the condition under which a number is 0.
    arrays : the indices of an array, and the condition on them under which an element is 0.
    """

    numbers: dict[str, Expr] = field(default_factory=dict)
    arrays: dict[str, tuple[tuple[str, ...], Expr]] = field(default_factory=dict)

    @classmethod
    def of(cls, block: Block) -> Vanishing:
        """What is known after a block."""
        known = cls()
        known._add(block)
        return known

    def _add(self, block: Block) -> None:
        for s in block:
            if isinstance(s, Build):
                self._add(s.body)
                if s.type.kind == "f" and (found := self.where(s.value)) is not FALSE:
                    self.arrays[s.name] = s.indices, found
            elif isinstance(s, Loop):
                self._loop(s)

    def _loop(self, s: Loop) -> None:
        sums = [c for c in s.carried if c.type.kind == "f" and not c.type.shape]
        starts = {c.name: self.where(c.init) for c in sums}
        self.numbers.update({n: TRUE for n, found in starts.items() if found is not FALSE})
        self._add(s.body)  # if they are 0 before a turn
        inside = {s.index, *(c.name for c in s.carried)}
        for c in sums:
            found = ir.and_(starts[c.name], self.where(c.next))
            if found is not FALSE and not any(name_of(e) in inside for e in leaves((found,))):
                self.numbers[c.result] = found
        for c in sums:
            self.numbers.pop(c.name, None)

    def where(self, e: Expr) -> Expr:
        """The condition under which an expression is 0; FALSE if none is known."""
        op = e.op
        if op is CONST:
            return TRUE if e is ZERO else FALSE
        if op is VAR:
            return self.numbers.get(name_of(e), FALSE)
        if op is LOAD:
            return self._element(e)
        if op in (SQUARES, NEG, ABS, DIV) or (op is POW and (ir.rational(e.args[1]) or 0) > 0):
            return self.where(e.args[0])
        if op is MUL:
            return ir.or_(*map(self.where, e.args))
        if op in (ADD, SUB):
            both = ir.and_(*map(self.where, e.args))
            return equal_where(*e.args) if both is FALSE and op is SUB else both
        if op is WHERE:
            return ir.and_(*map(self.where, e.args[1:]))
        return FALSE

    def _element(self, e: Expr) -> Expr:
        base, *at = e.args
        if base.op is not ARRAY or name_of(base) not in self.arrays:
            return FALSE
        indices, found = self.arrays[name_of(base)]
        return ir.substitute((found,), dict(zip(map(index, indices), at, strict=True)))[0]


def equal_where(a: Expr, b: Expr) -> Expr:
    """The condition on integers under which two expressions are one; FALSE if there is none."""
    if a is b:
        return TRUE
    if kind_of(a) == kind_of(b) == "i":
        return ir.eq(a, b)
    if a.op is not b.op or len(a.args) != len(b.args) or not a.args or a.op.boolean:
        return FALSE
    found = TRUE
    for x, y in zip(a.args, b.args, strict=True):
        found = ir.and_(found, equal_where(x, y))
    return found


__all__ = ["Vanishing", "equal_where"]
