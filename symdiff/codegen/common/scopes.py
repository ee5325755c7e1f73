"""Scopes of a kernel, and values that are computed in the outermost one that can.

A scope is the kernel, or the body of a loop in it. An expression is printed in the outermost
scope that knows all names in it, at the statement that needs it first: what does not change
in a loop is computed before it, and what two statements need is computed once. Expressions
are pure and loads are safe, so nothing is spoiled by computing one too early.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from types import MappingProxyType
from typing import Generic, Protocol, Self, TypeVar

from symdiff.codegen.common.liveness import Point, last_uses
from symdiff.ir import AND, LE, LT, ONE, TRUE, VAR, Expr, sub, topological
from symdiff.ir.integers import Sizes, nonnegative
from symdiff.ir.loop_program import (
    ARRAY,
    INDEX,
    LOAD,
    Block,
    Build,
    Call,
    Check,
    Loop,
    Save,
    Statement,
    Update,
    defined,
    index,
    kind_of,
    name_of,
)


class Memory(Protocol):
    """An array in memory, row by row without gaps."""

    @property
    def address(self) -> str:
        """Of its first element."""

    @property
    def shape(self) -> tuple[Expr, ...]:
        """As of its type."""

    @property
    def kind(self) -> str:
        """As of its type."""

    @property
    def own(self) -> bool:
        """Whether it may be changed in place."""


StoredT = TypeVar("StoredT", bound=Memory)


@dataclass(eq=False, slots=True)
class Scope(Generic[StoredT]):
    """A kernel, or the body of a loop.

    Attributes
    ----------
    lines : the statements so far.
    names : what the names mean that are defined here.
    values : names of values by what they are the value of.
    outermost : the outermost scopes that know all names in an expression.
    ranges : how many values an index has, from 0.
    """

    parent: Self | None = None
    lines: list[str] = field(default_factory=list)
    names: dict[str, str | StoredT] = field(default_factory=dict)
    values: dict[Hashable, str] = field(default_factory=dict)
    outermost: dict[Expr, Self] = field(default_factory=dict)
    ranges: dict[str, Expr] = field(default_factory=dict)
    depth: int = 0

    def __post_init__(self) -> None:
        self.depth = 0 if self.parent is None else self.parent.depth + 1


ScopeT = TypeVar("ScopeT", bound=Scope)  # type: ignore[type-arg]


class Scopes(Generic[ScopeT, StoredT]):
    """What names mean in the scopes of one kernel.

    Attributes
    ----------
    root, scope : the outermost scope, and the one that is printed in.
    sizes : integers that are not negative, and which are equal.
    """

    def __init__(self, root: ScopeT) -> None:
        self.root = self.scope = root
        self.kinds: dict[Expr, str] = {}
        self.sizes = Sizes()

    def kind(self, e: Expr) -> str:
        return kind_of(e, self.kinds)

    def find(self, name: str) -> tuple[ScopeT, str | StoredT]:
        """What a name means here, and where it is defined.

        Raises
        ------
        KeyError : if it is not defined.
        """
        scope: ScopeT | None = self.scope
        while scope is not None:
            if name in scope.names:
                return scope, scope.names[name]
            scope = scope.parent
        return self.root, self.outside(name)

    def outside(self, name: str) -> str | StoredT:
        """What a name means that is defined outside of the kernel."""
        raise KeyError(name)

    def stored(self, name: str) -> StoredT:
        """The array of a name."""
        found = self.find(name)[1]
        assert not isinstance(found, str)
        return found

    def scope_of(self, *nodes: Expr) -> ScopeT:
        """The outermost scope that knows every name in the nodes."""
        known = self.scope.outermost
        deepest = self.root
        for n in topological(nodes, known):
            if n.op in (VAR, INDEX, ARRAY):
                known[n] = self.find(name_of(n))[0]
            else:
                known[n] = max((known[a] for a in n.args), key=_depth, default=self.root)
        for n in nodes:
            if known[n].depth > deepest.depth:
                deepest = known[n]
        return deepest

    def is_known(self, e: Expr) -> bool:
        """Whether an expression can be computed here."""
        try:
            self.scope_of(e)
        except KeyError:
            return False
        return True

    def shared(
        self,
        key: Hashable,
        nodes: Sequence[Expr],
        make: Callable[[ScopeT], str],
        table: Callable[[ScopeT], dict[Hashable, str]] = attrgetter("values"),
    ) -> str:
        """A value that depends on nodes, made once where they are known."""
        scope = self.scope_of(*nodes)
        known = table(scope)
        found = known.get(key)
        if found is None:
            found = known[key] = make(scope)
        return found

    def missing(
        self,
        e: Expr,
        table: Callable[[ScopeT], dict[Hashable, str]] = attrgetter("values"),
        below: Callable[[Expr], Sequence[Expr]] = attrgetter("args"),
    ) -> list[Expr]:
        """What must be printed for a node, children first: what is not in the table of its
        scope yet. `below` says what a node needs."""
        order: list[Expr] = []
        seen: set[Expr] = set()
        stack = [(e, False)]
        while stack:
            n, ready = stack.pop()
            if ready:
                order.append(n)
            elif n.args and n not in seen and n not in table(self.scope_of(n)):
                seen.add(n)
                stack.append((n, True))
                stack += [(a, False) for a in reversed(below(n)) if a.op is not ARRAY]
        return order

    def value(self, e: Expr) -> str:
        """The value of an expression, of its own kind."""
        if not e.args:
            return self.leaf(e)
        found = self.scope_of(e).values.get(e)
        if found is not None:
            return found
        for n in self.missing(e, below=self.needs):
            scope = self.scope_of(n)
            made = self.element(n, scope) if n.op is LOAD else self.operation(n, scope)
            scope.values[n] = made
        return self.scope_of(e).values[e]

    def needs(self, n: Expr) -> Sequence[Expr]:
        """The operands that are printed before an operation."""
        return n.args

    def leaf(self, e: Expr) -> str:
        """The text of a name, or of a constant."""
        if e.op not in (VAR, INDEX):
            return self.literal(e)
        found = self.find(name_of(e))[1]
        assert isinstance(found, str)
        return found

    def literal(self, e: Expr) -> str:
        """The text of a constant."""
        raise NotImplementedError

    def element(self, n: Expr, scope: ScopeT) -> str:
        """Print the load of one element."""
        raise NotImplementedError

    def operation(self, n: Expr, scope: ScopeT) -> str:
        """Print one operation, whose operands are there."""
        raise NotImplementedError

    def ranges(self) -> dict[Expr, Expr]:
        """How many values the indices have that are known here, the outermost first."""
        found: dict[Expr, Expr] = {}
        scope: ScopeT | None = self.scope
        while scope is not None:
            found = {**{index(k): v for k, v in scope.ranges.items()}, **found}
            scope = scope.parent
        return found

    def proved(self, e: Expr) -> bool:
        """Whether a condition on integers visibly holds."""
        if e is TRUE:
            return True
        if e.op is AND:
            return all(self.proved(a) for a in e.args)
        if e.op not in (LT, LE) or any(self.kind(a) != "i" for a in e.args):
            return False
        a, b = e.args
        gap = sub(b, a) if e.op is LE else sub(sub(b, a), ONE)
        return nonnegative(gap, self.ranges(), self.sizes)


class Blocks(Scopes[ScopeT, StoredT]):
    """Walks the statements of a program; how each is printed, is left open."""

    def build(self, s: Build) -> None:
        raise NotImplementedError

    def update(self, s: Update, point: Point) -> None:
        raise NotImplementedError

    def loop(self, s: Loop, point: Point) -> None:
        raise NotImplementedError

    def check(self, s: Check) -> None:
        raise NotImplementedError

    def call(self, s: Call) -> None:
        raise NotImplementedError

    def compute(self, e: Expr) -> None:
        """Print an expression, if it is not yet."""
        raise NotImplementedError

    def block(
        self,
        block: Block,
        roots: Sequence[Expr],
        saves: Mapping[str, Sequence[Callable[[], None]]] = MappingProxyType({}),
    ) -> None:
        """Print statements, and after each what saves the arrays that it defines: before
        they can be changed."""
        last = last_uses(block, roots)
        for k, s in enumerate(block):
            self.statement(s, Point(block, k, tuple(roots), last))
            for name, _ in defined(s):
                for save in saves.get(name, ()):
                    save()

    def statement(self, s: Statement, point: Point) -> None:
        match s:
            case Build():
                self.build(s)
            case Update():
                self.update(s, point)
            case Loop():
                self.loop(s, point)
            case Call():
                self.call(s)
            case Check():
                self.check(s)

    def dies(self, name: str, point: Point) -> bool:
        """Whether an array may be changed after a statement: it is ours, made in this
        block, and what is still needed of it has been loaded."""
        scope, a = self.find(name)
        if scope is not self.scope or isinstance(a, str) or not a.own:
            return False
        if point.ends(name):
            return True
        later = point.later(name)
        if later is None or not all(self.is_known(e) for e in later):
            return False
        for e in later:
            self.compute(e)
        return True

    def body_of(self, s: Loop, save: Callable[[Save], None]) -> None:
        """Print what a loop repeats, and what puts values on tapes: arrays as soon as they
        are there, numbers at the end."""
        numbers = [v for v in s.saves if not v.type.shape]
        later: dict[str, list[Callable[[], None]]] = {}
        for v in s.saves:
            if not v.type.shape:
                continue
            if self.is_known(v.value):
                save(v)
            else:
                later.setdefault(name_of(v.value), []).append(partial(save, v))
        self.block(s.body, (*(c.next for c in s.carried), *(v.value for v in numbers)), later)
        for v in numbers:
            save(v)


def _depth(scope: Scope) -> int:  # type: ignore[type-arg]
    return scope.depth


__all__ = ["Blocks", "Memory", "Scope", "Scopes"]
