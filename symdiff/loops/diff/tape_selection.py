"""The values that a reversed loop needs of the forward loop, and how it gets them.

Before:  a reverse body that still uses names of the forward body
After:   one that uses its own: restored from tapes, or computed again

The index and names from outside the loop cost nothing. An array built without a loop
is built again. Other arrays that every iteration creates are saved whole; if
one is passed on to the next iteration, this iteration's result is the next one's
initial value, and one tape serves both. For an array that is changed element by element
only the loaded elements are saved, where their indices are known before the
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
    """How a reversed loop gets the values it needs.

    Attributes
    ----------
    index : its own index.
    body : its body, after the statements that recompute values.
    mapping : the replacements in the body, and in expressions after it.
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
    """Provide the reverse body of a loop with the values it needs.

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
        """Save values together with the arguments of their derivatives, if that takes fewer
        tapes than saving both."""
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
        """A type in terms of the names of the reversed loop."""
        return Type(substitute(t.shape, self.kept.mapping), t.kind) if t.shape else t

    def _block(self) -> Block:
        return (*self.again, *self.rest)

    def _needed(self, more: Iterable[Expr] = ()) -> set[str]:
        """The names that are used and not provided yet; `more` would be provided too."""
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
        """The carried value that becomes the value of a name."""
        leaf = self.context.leaf(name)
        return next((c for c in self.s.carried if c.next is leaf and c.name != name), None)

    def _follow(self, c: Carried, name: str) -> None:
        """Link the value at the end of an iteration to the initial value of the next."""
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
        """Save the elements that are loaded from an array, if it is used in no other way.
        For an array from outside only those that depend on this loop (`only_own`)."""
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
