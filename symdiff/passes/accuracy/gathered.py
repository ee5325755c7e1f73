"""Do the elements of results depend on all elements of the arguments?

Before:  p / sqrt(sum(p**2)), x @ w
After:   yes, as each element has the whole sum in it; no, as a row of x does not count for another

Requires: a program.
Ensures: where the answer is yes, how many elements there are is part of what each element of a
result is, so that the arithmetic may be chosen by that. Of loops that go over a whole axis it is
looked at which values have their results in them, on both sides of each choice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from symdiff import ir
from symdiff.ir import VAR, WHERE, Expr, var
from symdiff.ir.loop_program import (
    ARRAY,
    INDEX,
    LOAD,
    Block,
    Build,
    Call,
    Loop,
    LoopProgram,
    Type,
    Update,
    name_of,
    types,
)

MIXING = ("solve", "inv", "det", "slogdet", "cofactors", "pinv")
"""Routines that have each element of a matrix in each of their results."""
Sizes = frozenset[Expr] | None
"""The axes over all of which a value collects; None of a constant, which has all that can be asked."""


def gathers(program: LoopProgram) -> bool:
    """Whether each element of each array that is a result has all of the axes of the arguments and
    results in it that have no fixed size."""
    known = types(program)
    arrays = [e for e in program.outputs if e.op is ARRAY]
    shapes = [p.type.shape for p in program.params]
    shapes += [known[name_of(e)].shape for e in arrays]
    axes = {n for shape in shapes for e in shape for n in ir.topological((e,)) if n.op is INDEX}
    work = _Gathering(known)
    work.block(program.block)
    found = [work.names.get(name_of(e), frozenset()) for e in arrays]
    return all(sizes is None or axes <= sizes for sizes in found)


class _Gathering:
    """What the names of a program have collected.

    Attributes
    ----------
    types : of the program's names.
    names : by name; arguments, and what is not known, have collected nothing.
    """

    def __init__(self, types: Mapping[str, Type]) -> None:
        self.types = types
        self.names: dict[str, Sizes] = {}

    def block(self, block: Block) -> None:
        for s in block:
            match s:
                case Build():
                    self.block(s.body)
                    self.names[s.name] = self.of(s.value)
                case Update():
                    value, before = self.of(s.value), self.names.get(s.source, frozenset())
                    value = _both((before, value)) if s.add else value
                    self.names[s.name] = _least(before, value)  # others stay as they are
                case Loop():
                    self.loop(s)
                case Call():
                    found: Sizes = frozenset()
                    if s.routine in MIXING:
                        matrix = name_of(s.args[0])
                        found = _both((self.names.get(matrix), frozenset(self.types[matrix].shape)))
                    self.names.update((n, found) for n, _ in s.results)

    def loop(self, s: Loop) -> None:
        """What is carried has what it begins with; numbers the whole axis as well."""
        for r in s.restores:
            self.names[r.name] = frozenset()
        for c in s.carried:
            found = self.value(c.init)
            self.names[c.name] = found if c.type.shape else (found or frozenset()) | {var(c.name)}
        while True:
            self.block(s.body)
            ends = {c.name: self.value(c.next) for c in s.carried if c.type.shape}
            less = {n: _least(self.names[n], v) for n, v in ends.items()}
            if all(less[n] == self.names[n] for n in less):
                break
            self.names.update(less)
        for c in s.carried:
            if c.type.shape:
                self.names[c.result] = self.names[c.name]
                continue
            last = self.value(c.next) or frozenset()
            found = last | (self.value(c.init) or frozenset())
            own = {var(o.name) for o in s.carried}
            if s.count is not None and var(c.name) in last:  # it goes on from one to the next
                found = found | {s.count}
            self.names[c.result] = found - own

    def value(self, e: Expr) -> Sizes:
        return self.names.get(name_of(e), frozenset()) if e.op is ARRAY else self.of(e)

    def of(self, e: Expr) -> Sizes:
        """Of an expression: what any part has, but of choices what both sides have."""
        seen: dict[Expr, Sizes] = {}
        for n in ir.topological((e,)):
            if n.op is VAR:
                seen[n] = self.names.get(name_of(n), frozenset())
            elif n.op is LOAD:
                seen[n] = self.names.get(name_of(n.args[0]), frozenset())
            elif n.op is WHERE:
                condition, yes, no = (seen[a] for a in n.args)
                seen[n] = _both((condition, _least(yes, no)))
            else:
                seen[n] = _both(seen[a] for a in n.args)
        return seen[e]


def _both(parts: Iterable[Sizes]) -> Sizes:
    known = [p for p in parts if p is not None]
    return frozenset().union(*known) if known else None


def _least(a: Sizes, b: Sizes) -> Sizes:
    return b if a is None else a if b is None else a & b


__all__: Sequence[str] = ["gathers"]
