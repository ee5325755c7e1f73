"""Where numbers of a program are 0 by their formulas, whatever its arguments are.

Before:  s[i, j] = sum((x[i, k] - x[j, k])**2, k = 0..m - 1)
After:   s is 0 where i == j

Requires: a valid program.
Ensures: conditions on integers. Where one holds, the number and its derivatives are 0 for all
arguments; where it does not hold, nothing is known.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from symdiff import ir
from symdiff.ir import ABS, ADD, CONST, DIV, FALSE, MUL, NEG, POW, SUB, TRUE, VAR, WHERE, ZERO, Expr
from symdiff.ir import loop_program as lp
from symdiff.ir.functions import SQUARES

MOST_TURNS = 4
"""The most rounds in which conditions are narrowed until they also hold after an iteration."""


@dataclass(frozen=True, slots=True)
class Vanishing:
    """The zeros of the names of a program.

    Attributes
    ----------
    numbers : the condition under which a number is 0.
    arrays : the indices of an array, and the condition on them under which an element is 0.
    tapes : the indices of the loops that save a number, and the condition under which it is 0.
    """

    numbers: dict[str, Expr] = field(default_factory=dict)
    arrays: dict[str, tuple[tuple[str, ...], Expr]] = field(default_factory=dict)
    tapes: dict[str, tuple[tuple[str, ...], Expr]] = field(default_factory=dict)

    @classmethod
    def of(cls, block: lp.Block) -> Vanishing:
        """The zeros known after a block."""
        known = cls()
        known._add(block)
        return known

    def _add(self, block: lp.Block, around: tuple[str, ...] = ()) -> None:
        """Add the zeros of the names of a block inside loops with these indices."""
        for s in block:
            if isinstance(s, lp.Build):
                self._add(s.body, (*around, *s.indices))
                if s.type.kind == "f" and (found := self.where(s.value)) is not FALSE:
                    self.arrays[s.name] = s.indices, found
            elif isinstance(s, lp.Loop):
                self._loop(s, (*around, s.index))

    def _loop(self, s: lp.Loop, around: tuple[str, ...]) -> None:
        """By induction over the iterations: conditions under which all of some carried numbers are
        0 before an iteration and after it."""
        for r in s.restores:
            if (found := self._restored(r.tape, around)) is not FALSE:
                self.numbers[r.name] = found
        own = lp.own_names((s,))
        sums = [c for c in s.carried if c.type.kind == "f" and not c.type.shape]
        assumed = {c.name: self.where(c.init) for c in sums}
        first = {} if s.reverse else {
            n: ir.and_(c, ir.eq(lp.index(s.index), ZERO)) for n, c in assumed.items() if c is not FALSE
        }  # fmt: skip
        for _ in range(MOST_TURNS):
            assumed = {
                n: c for n, c in assumed.items() if c is not FALSE and not lp.names_in(c) & own
            }
            known = Vanishing(dict(self.numbers), dict(self.arrays), self.tapes)
            known.numbers.update({**first, **assumed})
            known._add(s.body, around)
            after = {
                c.name: ir.and_(assumed[c.name], known.where(c.next))
                for c in sums if c.name in assumed
            }  # fmt: skip
            if after == assumed:
                break
            assumed = after
        else:
            assumed = {}
            known = Vanishing({**self.numbers, **first}, dict(self.arrays), self.tapes)
            known._add(s.body, around)
        self.numbers.update(known.numbers)
        self.arrays.update(known.arrays)
        for v in s.saves:
            self.tapes.pop(v.tape, None)
            if v.type.kind == "f" and not v.type.shape:
                self.tapes[v.tape] = around, self.where(v.value)
        self.numbers.update({c.result: assumed[c.name] for c in sums if c.name in assumed})

    def _restored(self, tape: str, around: tuple[str, ...]) -> Expr:
        """The condition of a number restored from a tape, in a nest of loops like that which saved
        it."""
        saved, found = self.tapes.get(tape, ((), FALSE))
        if len(saved) != len(around) or not lp.names_in(found) <= set(saved):
            return FALSE
        places = zip(map(lp.index, saved), map(lp.index, around), strict=True)
        return ir.substitute((found,), dict(places))[0]

    def where(self, e: Expr) -> Expr:
        """The condition under which an expression is 0; FALSE if none is known."""
        op = e.op
        if op is CONST:
            return TRUE if e is ZERO else FALSE
        if op is VAR:
            return self.numbers.get(lp.name_of(e), FALSE)
        if op is lp.LOAD:
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
        if base.op is not lp.ARRAY or lp.name_of(base) not in self.arrays:
            return FALSE
        indices, found = self.arrays[lp.name_of(base)]
        if found is TRUE:
            return TRUE
        return ir.substitute((found,), dict(zip(map(lp.index, indices), at, strict=True)))[0]


def equal_where(a: Expr, b: Expr) -> Expr:
    """The condition on integers under which two expressions are equal; FALSE if there is none."""
    if a is b:
        return TRUE
    if lp.kind_of(a) == lp.kind_of(b) == "i":
        return ir.eq(a, b)
    if a.op is not b.op or len(a.args) != len(b.args) or not a.args or a.op.boolean:
        return FALSE
    found = TRUE
    for x, y in zip(a.args, b.args, strict=True):
        found = ir.and_(found, equal_where(x, y))
    return found
