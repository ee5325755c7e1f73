"""What a reversed loop needs of the forward loop, and how it gets it.

Before:  a reverse body that still uses names of the forward body
After:   one that uses its own: restored from tapes, or computed again

The index and what is outside of the loop cost nothing. An array built without a loop
is built again. Other arrays that are made anew in every iteration are saved whole; if
one is passed on to the next iteration, what this iteration makes is what the next one
began with, and one tape does for both. Of an array that is changed element by element
only the elements that are loaded are saved, where their indices are known before the
loops of the reverse body; else it is saved whole as well. A value with the derivatives of a formula
(`functions.EXTENDED`) is one number on a tape.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from symdiff.ir import VAR, Expr, substitute, topological
from symdiff.ir.functions import EXTENDED
from symdiff.ir.loop_program import (
    ARRAY,
    INDEX,
    INTEGER,
    LOAD,
    REAL,
    Block,
    Build,
    Call,
    Carried,
    Loop,
    Restore,
    Save,
    Statement,
    Type,
    array,
    defined,
    expressions,
    index,
    inner,
    leaves,
    name_of,
    names_in,
    own_names,
    renamed,
    walk,
)
from symdiff.loops.context import Context


@dataclass(slots=True)
class Kept:
    """How a reversed loop gets what it needs.

    Attributes
    ----------
    index : its own index.
    body : its body, after the statements that compute something again.
    mapping : what is to be replaced in the body, and in expressions after it.
    saves : of the forward loop.
    restores, carried : of the reversed loop.
    """

    index: str
    body: Block
    mapping: dict[Expr, Expr]
    saves: list[Save] = field(default_factory=list)
    restores: list[Restore] = field(default_factory=list)
    carried: list[Carried] = field(default_factory=list)


def fragile_names(s: Loop) -> frozenset[str]:
    """The arrays of a loop that are changed element by element."""
    whole = {n for b in s.body if isinstance(b, Build | Call) for n, _ in defined(b)}
    following = {c.name: c.next for c in s.carried}

    def made_anew(name: str, seen: frozenset[str]) -> bool:
        if name in whole or name in seen:
            return True
        return name in following and made_anew(name_of(following[name]), seen | {name})

    arrays = [(c.name, c.type) for c in s.carried]
    arrays += [d for b in s.body for d in defined(b)]
    return frozenset(n for n, t in arrays if t.shape and not made_anew(n, frozenset()))


def kept(
    context: Context, s: Loop, body: Block, roots: Sequence[Expr], fragile: frozenset[str]
) -> Kept:
    """Give the reverse body of a loop what it needs.

    Parameters
    ----------
    s : the forward loop.
    body, roots : the reverse body and the expressions after it.
    fragile : arrays of the loops around that are changed element by element.
    """
    return _Search(context, s, body, roots, fragile).run()


class _Search:
    def __init__(
        self,
        context: Context,
        s: Loop,
        body: Block,
        roots: Sequence[Expr],
        fragile: frozenset[str],
    ) -> None:
        self.context, self.s, self.roots = context, s, tuple(roots)
        self.again: list[Statement] = []
        self.rest = body
        self.outer_fragile = fragile
        self.fragile = fragile_names(s)
        self.inside = {n: None for n, _ in inner(s)} | {n: b for b in s.body for n, _ in defined(b)}
        new = context.fresh(s.index, INTEGER)
        self.kept = Kept(new, (), {index(s.index): index(new)})

    def run(self) -> Kept:
        self._marked()
        order = [n for b in reversed(self.s.body) for n, _ in defined(b)]
        for name in [*order, *(n for n, _ in inner(self.s))]:
            if name != self.s.index and name in self._needed():
                self._get(name)
        for name in sorted(self.outer_fragile & self._needed()):
            self._loads(name, only_own=True)
        self.kept.body = (*self._copies(), *self.rest)
        self.kept.restores = [replace(r, type=self._typed(r.type)) for r in self.kept.restores]
        return self.kept

    def _marked(self) -> None:
        """Save values that are needed together with what their derivatives are of, if that takes fewer
        tapes than the two of them."""
        block = self._block()
        new = own_names(block)
        roots = (*_all_expressions(block), *self.roots)
        found = [
            e for e in topological(roots)
            if e.op is EXTENDED and e.args[0].op is VAR
            and not new & names_in(e)
            and self.inside.keys() & names_in(e)
        ]  # fmt: skip
        if not found:
            return
        others = self._needed(found)
        if len(self._needed() - others) > len(found):
            for e in found:
                self._save(e, REAL)

    def _typed(self, t: Type) -> Type:
        """A type in terms of what the reversed loop has."""
        return Type(substitute(t.shape, self.kept.mapping), t.kind) if t.shape else t

    def _block(self) -> Block:
        return (*self.again, *self.rest)

    def _needed(self, more: Iterable[Expr] = ()) -> set[str]:
        """The names that are used and not given yet; `more` would be given too."""
        given = {*self.kept.mapping, *more}
        found = set()
        for e in _open((*_all_expressions(self._block()), *self.roots), given):
            found.add(name_of(e))
        return found & (self.inside.keys() | self.outer_fragile)

    def _get(self, name: str) -> None:
        t = self.context.types[name]
        made = self.inside[name]
        if not t.shape:
            self._save(self.context.leaf(name), t)
        elif name in self.fragile and self._loads(name):
            return
        elif isinstance(made, Build) and not _loops(made) and not self._passed_on(name):
            self.again.insert(0, made)
        elif (c := self._passed_on(name)) is not None and c.name in self._needed():
            self._follow(c, name)
        else:
            self._save(array(name, t.kind), t)

    def _passed_on(self, name: str) -> Carried | None:
        """The carried value that becomes what a name is."""
        leaf = self.context.leaf(name)
        return next((c for c in self.s.carried if c.next is leaf and c.name != name), None)

    def _follow(self, c: Carried, name: str) -> None:
        """The value at the end of an iteration is the one that the next began with."""
        before = self._save(self.context.leaf(c.name), c.type)
        after = self.context.fresh(name, c.type)
        result = self.context.fresh(name, c.type)
        init = self.context.leaf(c.result)
        self.kept.carried.append(Carried(after, c.type, init, before, result))
        self.kept.mapping[self.context.leaf(name)] = self.context.leaf(after)

    def _save(self, value: Expr, t: Type) -> Expr:
        stem = name_of(value) if value.op in (VAR, INDEX, ARRAY) else name_of(value.args[0])
        tape = self.context.names.fresh(f"{stem}_tape")
        name = self.context.fresh(stem, t)
        self.roots += t.shape
        self.kept.saves.append(Save(tape, t, value))
        self.kept.restores.append(Restore(tape, t, name))
        self.kept.mapping[value] = leaf = self.context.leaf(name)
        return leaf

    def _loads(self, name: str, only_own: bool = False) -> bool:
        """Save the elements that are loaded from an array, if that is all that is used of
        it. Of an array from outside only what depends on this loop (`only_own`)."""
        block = self._block()
        new = own_names(block)
        found: dict[Expr, None] = {}
        roots = (*_all_expressions(block), *self.roots)
        if any(e.op is ARRAY and name_of(e) == name for e in roots):
            return False
        for e in topological(roots, set(self.kept.mapping)):
            if e.op is LOAD and name_of(e.args[0]) == name:
                used = {name_of(x) for x in leaves(e.args[1:])}
                if used & new:
                    return False
                if not only_own or used & self.inside.keys():
                    found[e] = None
        for e in found:
            self._save(e, INTEGER if e.args[0].value[1] in "ib" else REAL)
        return True

    def _copies(self) -> Block:
        """The statements that are recomputed, under new names."""
        copies, mapping = renamed(tuple(self.again), self.context.names)
        for s, old in zip(copies, self.again, strict=True):
            for (new, t), (name, _) in zip(defined(s), defined(old), strict=True):
                self.context.types[new] = t
                self.kept.mapping[self.context.leaf(name)] = mapping[self.context.leaf(name)]
        return copies


def _loops(s: Build) -> bool:
    return any(isinstance(b, Loop | Call) for b in walk(s.body))


def _all_expressions(block: Block) -> Iterator[Expr]:
    for s in walk(block):
        yield from expressions(s)


def _open(roots: Iterable[Expr], given: set[Expr]) -> Iterator[Expr]:
    """The leaves of expressions, except given ones."""
    for e in topological(roots, given):
        if e.op in (VAR, INDEX, ARRAY):
            yield e
