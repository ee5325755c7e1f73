"""The state of a trace: where we are, under which conditions, and how the two sides
of a condition on real values become one.

Both sides of a branch are run once, on copies of the local names, and merged with
`where`, so twenty nested branches or early returns cost twenty merges. Statements
that a symbolic `return`, `break` or `continue` may skip run in a *region*: the rest
of the block under the condition that it is reached. Lists and arrays that a side
changes are logged and restored, then their contents are merged like names.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from symdiff import ir, structure
from symdiff.errors import UnsupportedError
from symdiff.frontend import scalars
from symdiff.frontend.decisions import NEVER, Decisions
from symdiff.frontend.source import Source, is_library, is_own
from symdiff.frontend.values import (
    MAX_ARRAY,
    UNBOUND,
    Cell,
    Choice,
    Cond,
    Masked,
    Maybe,
    Real,
    Refused,
    Scalar,
    SmallArray,
    Stream,
    SymArray,
    Unusable,
    array_of,
    describe,
    from_outside,
    is_number,
    join,
)
from symdiff.ir import FALSE, TRUE, Expr

MAX_STEPS = 2_000_000
"""Statements and calls after which a trace gives up."""

MAX_UNROLL = 100
"""Iterations that are traced one by one; a longer loop is kept as one, if it can be."""

MAX_TEXT = 200
"""Characters after which the text of a condition is cut."""

active: ContextVar[Tracer] = ContextVar("tracer")
"""The capture in progress."""


class Retrace(Exception):  # noqa: N818
    """Something must be an array in memory: the function is traced again.

    Attributes
    ----------
    name : the parameter that is used as an array; None for a small array that is
        indexed by what is not known when traced.
    rank : its dimensions, as far as the use tells.
    what : how it is used.
    integers : whether it is used as an index.
    location : the place of the use.
    """

    def __init__(
        self, name: str | None = None, rank: int = 1, what: str = "", integers: bool = False
    ) -> None:
        super().__init__(what)
        self.name, self.rank, self.what, self.integers = name, rank, what, integers
        t = active.get()
        self.location = t.frame.source.location(t.at)


Container = list[Any] | dict[Any, Any] | set[Any] | np.ndarray[Any, Any]


class Flow:
    """Under which condition the block was left, and what it returned there."""

    __slots__ = ("broken", "continued", "returned", "value")

    def __init__(self, returned: Expr = FALSE, broken: Expr = FALSE, value: Any = UNBOUND) -> None:
        self.returned, self.broken, self.continued = returned, broken, FALSE
        self.value = value

    def skips(self) -> Expr:
        """Where the rest of the block does not run."""
        return ir.or_(ir.or_(self.returned, self.broken), self.continued)


class Frame:
    """One call being traced: its local names and where other names come from."""

    __slots__ = (
        "birth", "caller", "env", "flow", "local_names", "may_yield", "name", "outer", "path",
        "source",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        source: Source,
        outer: Callable[[str], Any],
        local_names: Callable[[], Iterable[str]],
        caller: tuple[Frame, ast.AST] | None = None,
    ) -> None:
        self.caller = caller
        self.name, self.source, self.outer, self.local_names = name, source, outer, local_names
        self.env: dict[str, Any] = {}
        self.flow = Flow()
        self.birth, self.path, self.may_yield = 0, TRUE, True


@dataclass(slots=True)
class Region:
    """A stretch of the trace under one more condition, and what to restore after."""

    start: int
    path: Expr
    facts: frozenset[Expr]
    log: dict[int, tuple[Container, Any]] = field(default_factory=dict)
    skip: Expr = FALSE
    env: dict[str, Any] = field(default_factory=dict)
    flow: Flow = field(default_factory=Flow)
    transparent: bool = False


Changes = Mapping[int, tuple[Container, Any, Any]]
"""Containers by their id, with their contents before and after."""


@dataclass(slots=True)
class Side:
    """What one side of a branch left behind."""

    env: dict[str, Any]
    flow: Flow
    value: Any
    changes: Changes


def contents(container: Container) -> Any:
    return container.copy()


def restore(container: Container, saved: Any) -> None:
    if isinstance(container, list):
        container[:] = saved
    elif isinstance(container, np.ndarray):
        container[...] = saved
    else:
        container.clear()
        container.update(saved)


class Tracer:
    """One capture in progress."""

    def __init__(self) -> None:
        self.frame: Frame = Frame("", Source("", ()), lambda _: UNBOUND, lambda: ())
        self.at: ast.AST = ast.Pass()
        self.path: Expr = TRUE
        self.facts: frozenset[Expr] = frozenset()
        self.assumptions: list[Expr] = []
        self.locations: dict[Expr, tuple[Source, ast.AST]] = {}
        self.texts: dict[Expr, str] = {}
        self.regions: list[Region] = []
        self.depth = 0
        self.steps = 0
        self._clock = 0
        self._owned: dict[int, tuple[Container, int]] = {}
        self._outside: dict[int, tuple[Any, Any]] = {}
        self._needs: dict[Expr, Expr] = {}
        self._decisions = Decisions()
        self._assumed = self._decisions.of(TRUE), 0
        self.block: list[structure.Statement] = []
        self.names = structure.Names()
        self.ranges: dict[Expr, Expr] = {}
        self.checks: dict[Expr, structure.Check] = {}
        self.always = True
        self.counts: list[Expr | None] = []
        self.levels: list[tuple[int, list[structure.Statement]]] = []
        self.written: list[Cell] = []
        self.sizes: set[Expr] = set()
        self.parameter_sizes: frozenset[Expr] = frozenset()
        self.shapes: Mapping[str, tuple[int, str]] | None = None
        self.array_parameters: frozenset[str] = frozenset()
        self.for_numbers = False
        self.data: dict[str, np.ndarray[Any, Any]] = {}
        self.cells: list[dict[Cell, Expr | None]] = []
        self.size_limit = MAX_ARRAY
        self.unroll_limit = MAX_UNROLL

    # ------------------------------------------------------------------- errors
    def refuse(self, message: str, hint: str = "", node: ast.AST | None = None) -> NoReturn:
        """Stop with an error at a node, by default at the one being evaluated."""
        raise self.error(message, hint, node)

    def error(self, message: str, hint: str = "", node: ast.AST | None = None) -> UnsupportedError:
        """An error at a node; inside of a library, at the user's call that led there."""
        frame, at = self.frame, self.at if node is None else node
        inner = frame.source.location(at)
        while frame.caller is not None and is_library(frame.source.path):
            frame, at = frame.caller
        if is_library(frame.source.path) or frame is self.frame:
            return UnsupportedError(message, inner, hint)
        where = "" if is_own(inner.path) else f" ({inner})"
        return UnsupportedError(message + where, frame.source.location(at), hint)

    def step(self, node: ast.AST) -> None:
        self.at = node
        self.steps += 1
        if self.steps > MAX_STEPS:
            self.refuse(
                f"tracing took more than {MAX_STEPS} steps",
                "loops are unrolled when traced; use fewer iterations",
            )

    def tick(self) -> int:
        """The next point in time: what was made before a region or call, and what in it."""
        self._clock += 1
        return self._clock

    # ------------------------------------------------------------------- values
    def note(self, value: Any, node: ast.AST) -> Any:
        """Remember that the value of this node was made here first."""
        if isinstance(value, Scalar):
            if value.expr.args:
                self.locations.setdefault(value.expr, (self.frame.source, node))
        elif isinstance(value, SmallArray):
            for v in value.items.ravel():
                if isinstance(v, Scalar) and v.expr.args:
                    self.locations.setdefault(v.expr, (self.frame.source, node))
        elif isinstance(value, SymArray) and value.cell.element.args:
            self.locations.setdefault(value.cell.element, (self.frame.source, node))
        return value

    def wrap(self, value: Any) -> Any:
        """A value from the user's world or from a container, ready to compute with."""
        kind = type(value)
        if kind is Real or kind is int or kind is SmallArray:
            return value
        if kind is Choice:
            return self.resolve(value, "this value")
        if isinstance(value, np.ndarray):
            found = self._outside.get(id(value))
            if found is None:
                found = self._outside[id(value)] = value, self._data(value)
            return found[1]
        return from_outside(value)

    def _data(self, value: np.ndarray[Any, Any]) -> Any:
        """An array of the user's that is known when traced."""
        if value.size <= self.size_limit or not value.ndim:
            return from_outside(value)
        from symdiff.frontend.symbolic import of_data

        array = of_data(self, value)
        array.cell.fixed = (
            "an array that was not made in the function is changed",
            "change a copy; a function to differentiate has no side effects",
        )
        return array

    def own(self, container: Any) -> Any:
        """Register a list, dict, set or array that the trace itself made."""
        key = container.owner() if isinstance(container, SmallArray) else container
        self._owned[id(key)] = key, self.tick()
        return container

    def mutate(self, container: Any) -> None:
        """Announce that a container is about to change."""
        key = container.owner() if isinstance(container, SmallArray) else container
        owned = self._owned.get(id(key))
        if owned is None or owned[0] is not key:
            raise Refused(
                f"{describe(container)} that was not made on this path is changed",
                "change a copy; a function to differentiate has no side effects",
            )
        for region in reversed(self.regions):
            if id(key) in region.log or owned[1] > region.start:
                break
            region.log[id(key)] = key, contents(key)

    def spend(self, stream: Stream) -> list[Any] | Masked:
        """The elements of an iterator, which are used up."""
        if stream.region is not self._place():
            raise Refused(
                "an iterator made outside of this branch or loop step is used up in it",
                "make a list of it first",
            )
        if stream.compute is not None:
            compute, stream.compute = stream.compute, None
            found = compute()
            return found if isinstance(found, Masked) else list(found)
        items, stream.items = stream.items or [], []
        return list(items)

    def spend_generator(self, stream: Stream) -> None:
        """A generator is used up by a loop."""
        stream.compute, stream.items = None, []

    def stream(self, compute: Callable[[], Any]) -> Stream:
        return Stream(compute, self._place())

    def _place(self) -> Region | None:
        """The branch or loop step that is being traced."""
        return next((r for r in reversed(self.regions) if not r.transparent), None)

    # ----------------------------------------------------- statements and memory
    def emit(self, statement: structure.Statement) -> None:
        """Append a statement to the block that is being traced."""
        self.block.append(statement)

    def emit_where_made(self, cell: Cell, statement: structure.Statement) -> None:
        """Append the statement that writes a formula down where the formula was made:
        outside of the loops that it is older than."""
        blocks = (block for birth, block in self.levels if cell.birth < birth)
        next(blocks, self.block).append(statement)
        self.written.append(cell)

    def require(self, condition: Expr, error: str, message: str) -> None:
        """A condition that must hold at run time wherever this is reached; one on sizes
        alone is checked once, before everything else."""
        if condition is TRUE or scalars.follows(condition, self.facts):
            return
        location = self.frame.source.location(self.at)
        fact = condition
        if self.always and self.path is TRUE and None not in self.counts:
            for n in self.counts:
                assert n is not None
                condition = ir.or_(ir.lt(n, ir.ONE), condition)  # reached if the loop runs
            if all(e in self.parameter_sizes for e in structure.leaves((condition,))):
                check = structure.Check(condition, error, message, location)
                self.checks.setdefault(condition, check)
                self.facts = self.facts.union(scalars.consequences(fact))
                return
        held = ir.or_(ir.not_(self.path), fact)
        self.emit(structure.Check(held, error, message, location))
        self.facts = self.facts.union(scalars.consequences(fact))

    def set_cell(self, cell: Cell, leaf: Expr) -> None:
        """Memory is changed: it is another array from here on."""
        for log in self.cells:
            log.setdefault(cell, cell.leaf)
        cell.leaf = leaf

    # --------------------------------------------------------------- conditions
    def known(self, value: Any) -> bool | None:
        """A truth value if it is decided here, by its form or by the path."""
        if not isinstance(value, Cond):
            return bool(value)
        if self.facts:
            if scalars.follows(value.expr, self.facts):
                return True
            if scalars.follows(ir.not_(value.expr), self.facts):
                return False
        return None

    def need(self, c: Cond) -> None:
        """Remember where a condition that decides something is defined."""
        if c.defined is not TRUE:
            for e in (c.expr, ir.not_(c.expr)):
                self._needs[e] = join(self._needs.get(e, TRUE), c.defined)

    def defined(self, condition: Expr) -> Expr:
        """Where all parts of a path condition are defined."""
        if not self._needs:
            return TRUE
        stack = [condition]
        while stack:
            e = stack[-1]
            parts = e.args if e.op in (ir.AND, ir.OR, ir.NOT) else ()
            missing = [a for a in parts if a not in self._needs]
            if e in self._needs or not missing:
                stack.pop()
                if e not in self._needs:
                    total = TRUE
                    for a in parts:
                        total = join(total, self._needs[a])
                    self._needs[e] = total
            else:
                stack += missing
        return self._needs[condition]

    def resolve(self, value: Any, name: str) -> Any:
        """The side of a `Choice` that the path selects."""
        if value is UNBOUND:
            raise Refused(f"{name} is used before it is assigned")
        if isinstance(value, Maybe):
            self._check_bound(value.bound, name)
            value = value.value
        if isinstance(value, Unusable):
            raise Refused(value.message, value.hint)
        whole = value
        while isinstance(value, Choice):
            side = self.known(Cond(value.condition))
            if side is None:
                break
            value = value.then if side else value.other
        if not isinstance(value, Choice):
            return value
        raise Refused(
            f"{name} is {_kinds(whole)} depending on whether {self.text(value.condition)}",
            "both sides of a condition on real values must give numbers, or containers alike",
        )

    def _check_bound(self, bound: Expr, name: str) -> None:
        """Refuse a name that is not bound wherever this is reached."""
        if self.certain(bound):
            return
        if self.certain(ir.not_(bound)):
            raise Refused(f"{name} is used before it is assigned")
        raise Refused(
            f"{name} may be unbound here: it is assigned only when {self.text(bound)}",
            "assign it on every path",
        )

    def certain(self, condition: Expr) -> bool:
        """Whether a condition holds wherever this is reached and the assertions hold."""
        d = self._decisions
        node = d.of(condition)
        given = d.both(self._given(), d.of(self.path))
        if d.implies(given, node):
            return True
        for c in d.comparisons(node):
            if (known := self.known(Cond(c))) is not None:
                given = d.both(given, d.of(c if known else ir.not_(c)))
        return d.implies(given, node)

    def _given(self) -> int:
        """All assertions so far."""
        node, count = self._assumed
        for a in self.assumptions[count:]:
            node = self._decisions.both(node, self._decisions.of(a))
        self._assumed = node, len(self.assumptions)
        return node

    def text(self, condition: Expr) -> str:
        """A condition in the user's own words, where they are known; cut where long."""
        made: dict[Expr, str] = {}
        stack = [condition]
        while stack:
            e = stack[-1]
            parts = e.args if e.op in (ir.AND, ir.OR, ir.NOT) and e not in self.texts else ()
            missing = [a for a in parts if a not in made]
            if missing:
                stack += missing
                continue
            stack.pop()
            made[e] = ir.cut(self._text(e, [made[a] for a in parts]), MAX_TEXT)
        return made[condition]

    def _text(self, e: Expr, parts: list[str]) -> str:
        if e in self.texts:
            return self.texts[e]
        if e.op is ir.NOT:
            return f"not ({parts[0]})"
        if e.op in (ir.AND, ir.OR):
            inner = [
                f"({text})" if a.op in (ir.AND, ir.OR) and a.op is not e.op and a not in self.texts
                else text
                for a, text in zip(e.args, parts, strict=True)
            ]  # fmt: skip
            word = " and " if e.op is ir.AND else " or "
            again = inner[1] in inner[0].split(word)  # the same line, once more in a loop
            return inner[0] if again else word.join(inner)
        return ir.format_expr(e, MAX_TEXT)

    # ----------------------------------------------------------------- branches
    def enter(self, literal: Expr) -> Region:
        region = Region(self.tick(), self.path, self.facts)
        self.path = ir.and_(self.path, literal)
        self.facts = self.facts.union(scalars.consequences(literal))
        self.regions.append(region)
        return region

    @contextmanager
    def attempt(self, transparent: bool = False) -> Iterator[None]:
        """What is refused in here leaves no trace, if the refusal is caught; but iterators
        are used up, if it is transparent to them."""
        frame, env, flow, path = self.frame, self.frame.env, self.frame.flow, self.path
        depth, always, levels, cells = self.depth, self.always, len(self.levels), len(self.cells)
        counts, assumed, ranges = len(self.counts), len(self.assumptions), dict(self.ranges)
        block, statements, steps, written = self.block, len(self.block), self.steps, len(self.written)  # fmt: skip
        log: dict[Cell, Expr | None] = {}
        self.cells.append(log)
        frame.env = dict(env)
        region = self.enter(TRUE)
        region.transparent = transparent
        try:
            yield
        except BaseException:
            while self.regions[-1] is not region:
                self.leave(self.regions[-1])
            self.leave(region)
            frame.env, frame.flow = env, flow
            self.frame, self.path, self.depth, self.always = frame, path, depth, always
            self.block, self.steps, self.ranges = block, steps, ranges
            for cell, leaf in log.items():
                cell.leaf = leaf
            for cell in self.written[written:]:
                cell.leaf = None
            del self.block[statements:], self.written[written:], self.assumptions[assumed:]
            del self.levels[levels:], self.cells[cells:], self.counts[counts:]
            raise
        changes = self.leave(region)
        for container, _, after in changes.values():
            self.mutate_owned(container)
            restore(container, after)
        self.cells.pop()

    def leave(self, region: Region) -> Changes:
        """End a region; containers get back the contents they had before it."""
        assert self.regions.pop() is region
        self.path, self.facts = region.path, region.facts
        changes = {}
        for key, (container, before) in region.log.items():
            changes[key] = container, before, contents(container)
            restore(container, before)
        return changes

    def either(self, c: Cond, then: Callable[[], Any], other: Callable[[], Any]) -> Any:
        """Run both sides of a condition and merge what they leave and give."""
        self.need(c)
        frame, start, sides = self.frame, self.frame.env, []
        for literal, run in ((c.expr, then), (ir.not_(c.expr), other)):
            frame.env, frame.flow = dict(start), Flow()
            region = self.enter(literal)
            value = run()
            changes = self.leave(region)
            sides.append(Side(frame.env, frame.flow, value, changes))
        a, b = sides
        frame.flow = self._merge_flow(c.expr, a.flow, b.flow)
        if a.flow.returned is TRUE or b.flow.returned is TRUE:
            here, dead = (b, a) if a.flow.returned is TRUE else (a, b)
            frame.env, value = here.env, here.value
            self._merge_changes(c.expr, a.changes, b.changes, a is here, dead)
            return value
        frame.env = self._merge_names(c.expr, a.env, b.env)
        self._merge_changes(c.expr, a.changes, b.changes)
        return self.merge(c.expr, a.value, b.value)

    def _merge_flow(self, c: Expr, a: Flow, b: Flow) -> Flow:
        flow = Flow(ir.where(c, a.returned, b.returned), ir.where(c, a.broken, b.broken))
        flow.continued = ir.where(c, a.continued, b.continued)
        if a.returned is FALSE or b.returned is FALSE:
            flow.value = b.value if a.returned is FALSE else a.value
        else:
            flow.value = self.merge(c, a.value, b.value)
        return flow

    def _merge_names(self, c: Expr, a: dict[str, Any], b: dict[str, Any]) -> dict[str, Any]:
        if len(a) == len(b) and all(b.get(k, UNBOUND) is v for k, v in a.items()):
            return a
        merged = {}
        for name in (*a, *(k for k in b if k not in a)):
            x, y = a.get(name, UNBOUND), b.get(name, UNBOUND)
            merged[name] = x if x is y else self.merge(c, x, y)
        return merged

    def _merge_changes(
        self, c: Expr, a: Changes, b: Changes, first: bool = True, dead: Side | None = None
    ) -> None:
        """Give the changed containers their merged contents. On a side that has
        returned (`dead`), what the call itself made no longer counts."""
        for key in {**a, **b}:
            container, before, _ = a.get(key) or b[key]
            x = a[key][2] if key in a else before
            y = b[key][2] if key in b else before
            if dead is not None and self._owned[key][1] > self.frame.birth:
                new = x if first else y
            else:
                new = self._merge_contents(c, container, x, y)
            self.mutate_owned(container)
            restore(container, new)

    def mutate_owned(self, container: Container) -> None:
        stamp = self._owned[id(container)][1]
        for region in reversed(self.regions):
            if id(container) in region.log or stamp > region.start:
                break
            region.log[id(container)] = container, contents(container)

    def _merge_contents(self, c: Expr, container: Container, x: Any, y: Any) -> Any:
        if isinstance(container, np.ndarray):
            new = np.empty_like(container)
            for i in np.ndindex(container.shape):
                new[i] = self.merge(c, x[i], y[i])
            return new
        if isinstance(container, list) and len(x) == len(y):
            return [self.merge(c, u, v) for u, v in zip(x, y, strict=True)]
        if isinstance(container, dict) and x.keys() == y.keys():
            return {k: self.merge(c, u, y[k]) for k, u in x.items()}
        if isinstance(container, set) and x == y:
            return x
        raise Refused(
            f"a {type(container).__name__} changes its size only when {self.text(c)}",
            "its size must not depend on real values",
        )

    # ------------------------------------------------------------------ regions
    def open(self, skip: Expr) -> Region:
        """Begin a stretch that runs only where `skip` does not hold."""
        frame = self.frame
        region = self.enter(ir.not_(skip))
        region.skip, region.env, region.flow = skip, dict(frame.env), frame.flow
        frame.flow = Flow()
        return region

    def close(self, region: Region) -> None:
        """End it: where it was skipped, names and contents are as they were before."""
        frame, inner, saved = self.frame, self.frame.flow, region.flow
        changes = self.leave(region)
        flow = Flow(
            _or_later(saved.returned, inner.returned, saved.broken, saved.continued),
            _or_later(saved.broken, inner.broken, saved.returned, saved.continued),
        )
        flow.continued = _or_later(saved.continued, inner.continued, saved.returned, saved.broken)
        if saved.returned is FALSE or inner.returned is FALSE:
            flow.value = inner.value if saved.returned is FALSE else saved.value
        else:
            flow.value = self.merge(saved.returned, saved.value, inner.value)
        frame.flow = flow
        stopped = ir.or_(saved.broken, saved.continued)
        if stopped is not FALSE:
            dead = inner.returned is TRUE
            frame.env = region.env if dead else self._merge_names(stopped, region.env, frame.env)
        for key, (container, before, after) in changes.items():
            mine = self._owned[key][1] > frame.birth
            c = stopped if mine else region.skip
            self.mutate_owned(container)
            restore(container, after if c is FALSE else self._merge_contents(c, container, before, after))  # fmt: skip

    # -------------------------------------------------------------------- merge
    def merge(self, c: Expr, a: Any, b: Any) -> Any:
        """One value that is `a` where the condition holds, else `b`."""
        if a is b:
            return a
        if a is UNBOUND or b is UNBOUND or isinstance(a, Maybe) or isinstance(b, Maybe):
            return self._merge_bound(c, a, b)
        if is_number(a) and is_number(b):
            if type(a) is type(b) and isinstance(a, int) and a == b:
                return a
            return scalars.select(c, self.defined(c), a, b)
        if isinstance(a, SymArray) or isinstance(b, SymArray):
            return self._merge_arrays(c, a, b)
        if type(a) is not type(b):
            return Choice(c, a, b)
        if isinstance(a, SmallArray) and a.items.shape == b.items.shape:
            pairs = zip(a.items.ravel(), b.items.ravel(), strict=True)
            return array_of([self.merge(c, u, v) for u, v in pairs], a.items.shape)
        if isinstance(a, (tuple, list)) and len(a) == len(b):
            new = [
                self.merge(c, u, v) for u, v in zip(map(self.raw, a), map(self.raw, b), strict=True)
            ]
            return new if isinstance(a, list) else tuple_like(a, new)
        if isinstance(a, dict) and a.keys() == b.keys():
            return {k: self.merge(c, self.raw(v), self.raw(b[k])) for k, v in a.items()}
        if isinstance(a, (str, bytes, range, frozenset)) and a == b:
            return a
        return Choice(c, a, b)

    def _merge_arrays(self, c: Expr, a: Any, b: Any) -> Any:
        """One of two arrays, of which one at least has a size that is not known."""
        from symdiff.frontend.symbolic import merged

        if isinstance(a, SmallArray) or isinstance(b, SmallArray):
            raise Retrace(what="an array has elements traced one by one on one side only")
        found = merged(c, a, b) if type(a) is type(b) else None
        return Choice(c, a, b) if found is None else found

    def _merge_bound(self, c: Expr, a: Any, b: Any) -> Any:
        """Merge where a side is not bound, or not on all of its paths."""
        (x, p), (y, q) = (self._bound_part(v, side) for v, side in ((a, c), (b, ir.not_(c))))
        bound = ir.where(c, p, q)
        if bound is FALSE:
            return UNBOUND
        value = y if p is FALSE else x if q is FALSE else self.merge(c, x, y)
        return value if bound is TRUE else Maybe(value, bound)

    def _bound_part(self, value: Any, side: Expr) -> tuple[Any, Expr]:
        """A side's value, and where it is bound as far as that is open there."""
        if not isinstance(value, Maybe):
            return value, FALSE if value is UNBOUND else TRUE
        d = self._decisions
        here, bound = d.both(d.of(self.path), d.of(side)), d.of(value.bound)
        if d.implies(here, bound):
            return value.value, TRUE
        never = d.both(here, bound) == NEVER
        return value.value, FALSE if never else value.bound

    def raw(self, value: Any) -> Any:
        """Like `wrap`, but a `Choice` stays undecided until it is used."""
        return value if isinstance(value, Choice) else self.wrap(value)

    def freeze(self, value: Any) -> Any:
        """A copy that later changes do not reach."""
        if isinstance(value, list):
            return [self.freeze(v) for v in value]
        if isinstance(value, tuple):
            return tuple_like(value, [self.freeze(v) for v in value])
        if isinstance(value, dict):
            return {k: self.freeze(v) for k, v in value.items()}
        return (
            SmallArray(value.items.copy(), value.kind) if isinstance(value, SmallArray) else value
        )


def _or_later(before: Expr, later: Expr, *others: Expr) -> Expr:
    """Where the block was left in one way, before a region or in it, unless it had been
    left in another."""
    return ir.or_(before, ir.and_(ir.not_(ir.or_(*others)), later))


def tuple_like(model: tuple[Any, ...], items: Iterable[Any]) -> Any:
    """A tuple, or a named tuple of the same type."""
    return type(model)(*items) if hasattr(model, "_fields") else tuple(items)


def _kinds(value: Any) -> str:
    names: dict[str, None] = {}
    stack, seen = [value], set()
    while stack:
        v = stack.pop()
        if id(v) in seen:
            continue
        seen.add(id(v))
        if isinstance(v, Choice):
            stack += [v.other, v.then]
        else:
            text = describe(v)
            names["another " + text.split(" ", 1)[-1] if text in names else text] = None
    return " or ".join(names)
