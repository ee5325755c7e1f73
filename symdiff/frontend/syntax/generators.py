"""Generators: the elements that the statements of a function yield, all computed with the first.

Before:  def halves(x):
             for _ in range(3):
                 yield x
                 x = x / 2
         sum(halves(x))
After:   sum([x, x/2, x/4])

Python runs the statements between two elements when the second is requested. That makes no difference as
long as nobody changes in the meantime what the generator reads, and it does not change what it yielded: both
are refused (`Unchanged`). So is `yield` under a condition or in a loop that is kept.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

from symdiff.frontend.source import FUNCTION_NODES, FunctionNode
from symdiff.frontend.syntax.containers import elements
from symdiff.frontend.trace.aliases import containers
from symdiff.frontend.trace.array_memory import Memory
from symdiff.frontend.trace.closures import assigned_names
from symdiff.frontend.trace.frames import Container, Frame, contents, is_changed
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import Refused, Selected, Stream, SymArray
from symdiff.ir import FALSE

CHANGED = (
    "what a generator reads or yields is changed while it is iterated over",
    "yield copies, or make a list of the elements first: list(...)",
)


@functools.lru_cache(maxsize=1024)
def first_yield(node: FunctionNode | ast.For) -> ast.AST | None:
    """The first `yield` of a function or loop, if there is one."""
    stack: list[ast.AST] = list(node.body) if isinstance(node.body, list) else [node.body]
    while stack:
        n = stack.pop()
        if isinstance(n, (ast.Yield, ast.YieldFrom)):
            return n
        if not isinstance(n, FUNCTION_NODES):
            stack.extend(ast.iter_child_nodes(n))
    return None


class Unchanged:
    """Values that must not change: their containers and memory, with the contents."""

    def __init__(self) -> None:
        self.held: list[tuple[Container, Any]] = []
        self.memories: list[tuple[Memory, Any]] = []
        self.names: list[tuple[Frame, str, Any]] = []

    def add(self, value: Any) -> None:
        """Record the current state of a value."""
        for c in containers(value):
            self.held.append((c, contents(c)))
        for a in _arrays(value):
            self.memories.append((a.memory, a.memory.leaf))

    def names_of(self, frame: Frame, names: Collection[str]) -> None:
        """Record names of a call, and their values; and names of enclosing calls that inner
        functions assign."""
        home: Frame | None = frame
        while home is not None:
            cells = {id(c): c for name, c in home.cells.items() if name in names}
            self.held += [(c, contents(c)) for c in cells.values()]
            home = home.home
        for name in sorted(names):
            if name in frame.env:
                value = frame.env[name]
                self.names.append((frame, name, value))
                self.add(value)

    def check(self) -> None:
        """Refuse a change of any recorded value."""
        if any(frame.env.get(name) is not value for frame, name, value in self.names):
            raise Refused(*CHANGED)
        if any(is_changed(c, before) for c, before in self.held):
            raise Refused(*CHANGED)
        if any(memory.leaf is not leaf for memory, leaf in self.memories):
            raise Refused(*CHANGED)


def _arrays(value: Any) -> Iterator[SymArray]:
    """The arrays of unknown size in a value."""
    if isinstance(value, SymArray):
        yield value
    elif isinstance(value, (list, tuple)):
        for v in value:
            yield from _arrays(v)
    elif isinstance(value, dict):
        yield from _arrays([*value.values()])


class Yielding:
    """A running generator: the condition and the loops around it, and its elements."""

    def __init__(self, t: Tracer) -> None:
        self.path, self.loops = t.path, len(t.counts)
        self.elements: list[Any] = t.own([])
        self.yielded = Unchanged()

    def add(self, t: Tracer, value: Any) -> None:
        if t.path is not self.path or t.frame.flow.skips() is not FALSE:
            t.refuse("'yield' under a condition that is not known when traced", "return a list")
        if len(t.counts) != self.loops:
            t.refuse("'yield' in a loop that is not unrolled", "return a list")
        self.yielded.add(value)
        t.mutate(self.elements)
        self.elements.append(value)


def make(t: Tracer, frame: Frame, node: FunctionNode, run: Callable[[], Any]) -> Stream:
    """The iterator of a call of a generator function, whose parameters are bound in the frame."""

    def compute() -> list[Any]:
        at = t.frame, t.at
        frame.caller, frame.yielding = at, Yielding(t)
        reads = Unchanged()
        for value in frame.env.values():
            if isinstance(value, (Stream, Selected)):
                raise Refused("an iterator is passed to a generator", "make a list of it first")
            reads.add(value)
        if frame.home is not None:
            reads.names_of(frame.home, _names(node).difference(assigned_names(node)))
        t.depth += 1
        run()
        t.depth -= 1
        t.frame, t.at = at
        frame.yielding.yielded.check()
        reads.check()
        t.generators += (reads, frame.yielding.yielded)
        found: list[Any] = frame.yielding.elements
        return found

    return t.stream(compute)


@functools.lru_cache(maxsize=1024)
def _names(node: FunctionNode) -> frozenset[str]:
    """The names that a function reads."""
    return frozenset(n.id for n in ast.walk(node) if isinstance(n, ast.Name))


@contextmanager
def consumed(t: Tracer) -> Iterator[None]:
    """While elements of generators are used one by one in here, nothing may change their inputs."""
    count = len(t.generators)
    yield
    for kept in t.generators[count:]:
        kept.check()


def consuming(handler: Callable[[Tracer, Any], Any]) -> Callable[[Tracer, Any], Any]:
    """A handler that uses elements of generators one by one."""

    def handled(t: Tracer, node: Any) -> Any:
        with consumed(t):
            return handler(t, node)

    return handled


def one(t: Tracer, node: ast.Yield) -> None:
    """`yield`: its value is None."""
    assert t.frame.yielding is not None
    t.frame.yielding.add(t, None if node.value is None else t.evaluate(node.value))


def several(t: Tracer, node: ast.YieldFrom) -> None:
    """`yield from`."""
    assert t.frame.yielding is not None
    for value in elements(t, t.evaluate(node.value)):
        t.frame.yielding.add(t, value)


__all__ = ["consumed", "consuming", "first_yield", "make", "one", "several"]
