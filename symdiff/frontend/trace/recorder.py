"""The records of a trace: places for errors, statements, memory, and the containers that the
function itself made."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, NoReturn

import numpy as np

from symdiff import ir
from symdiff.errors import Location, UnsupportedError
from symdiff.frontend.source import Source, is_library, is_own
from symdiff.frontend.trace import implied
from symdiff.frontend.trace.aliases import Aliases
from symdiff.frontend.trace.array_memory import Memory
from symdiff.frontend.trace.decisions import Decisions
from symdiff.frontend.trace.domains import by_side
from symdiff.frontend.trace.frames import Container, Frame, Region, contents
from symdiff.frontend.trace.interface import Interface
from symdiff.frontend.trace.values import (
    MAX_ARRAY,
    UNBOUND,
    End,
    Masked,
    Real,
    Refused,
    Scalar,
    SmallArray,
    Stream,
    SymArray,
    describe,
)
from symdiff.ir import TRUE, Expr, loop_program
from symdiff.ir.names import Names

MAX_STEPS = 2_000_000
"""The most statements and calls of a trace."""

MAX_UNROLL = 100
"""The most iterations that are traced one by one; a longer loop is kept, if possible."""

MAX_TEXT = 200
"""The most characters of a condition's text."""

ROOM = 2.0**-20
"""The error bound of roots and integrals, relative to their size and 1: digits of solutions with a
larger one are not worth a correction."""

active: ContextVar[Any] = ContextVar("tracer")
"""The capture in progress: a `Tracer`."""


WIDE, UNKNOWN = 16, 64
"""The most elements of an array that does not count as one, and those that an array in memory counts as."""


class Retrace(Exception):  # noqa: N818
    """A value must be an array in memory: the function is traced again.

    Attributes
    ----------
    name : the parameter that is used as an array; None for a small array that is indexed by a value
        unknown when traced.
    rank : its dimensions, as far as the use shows.
    what : how it is used.
    integers : whether it is used as an index.
    floats : the place of a list of integers in which floats are stored later.
    loops : whether long loops over arrays of numbers are to be kept.
    location : the place of the use.
    """

    def __init__(
        self, name: str | None = None, rank: int = 1, what: str = "", integers: bool = False,
        floats: Location | None = None, loops: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__(what)
        self.name, self.rank, self.what, self.integers = name, rank, what, integers
        self.floats, self.loops = floats, loops
        t = active.get(None)  # None after a refusal, which ends a trace
        self.location = None if t is None else t.place()[0]


ONE_ELEMENT = "a function that takes elements of arrays is called with an array of one element"


def numbers_only(what: str, message: str, hint: str = "", truth: bool = False) -> Refused:
    """The refusal of an array where plain Python takes a number only; `what` names the operation.
    `truth`: it takes arrays of a single element too."""
    active.get().numbers_only = what, message, truth
    return Refused(message, hint)


class Recorder(Interface):
    """The state of a trace, and what it records."""

    def __init__(self) -> None:
        self.frame: Frame = Frame("", Source("", ()), lambda _: UNBOUND, lambda: ())
        self.at: ast.AST = ast.Pass()
        self.path: Expr = TRUE
        self.facts: frozenset[Expr] = frozenset()
        self.assumptions: list[Expr] = []
        self.slopes: dict[Expr, None] = {}
        self.of_derivatives = False
        self.orders: int | None = None
        self.room = 0.0
        self.executions: list[Expr] = []
        self.locations: dict[Expr, tuple[Source, ast.AST]] = {}
        self.texts: dict[Expr, str] = {}
        self.regions: list[Region] = []
        self.depth = 0
        self.undecided: Any = None  # the called function, if its result may be a `Choice`
        self.steps = 0
        self.elements = 0
        self.loops: bool | None = False
        self._clock = 0
        self._owned: dict[int, tuple[Container, int]] = {}
        self.aliases = Aliases()
        self._outside: dict[int, tuple[Any, Any]] = {}
        self._needs: dict[Expr, Expr] = {}
        self._decisions = Decisions()
        self._assumed = self._decisions.of(TRUE), 0
        self.block: list[loop_program.Statement] = []
        self.names = Names(of_values=True)
        self.ranges: dict[Expr, Expr] = {}
        self.checks: dict[Expr, loop_program.Check] = {}
        self.always = True
        self.counts: list[Expr | None] = []
        self.noting: Callable[[Expr], None] | None = None
        self.spent: list[tuple[Stream, Any, Any]] = []
        self.partial = False
        self.iterations: list[tuple[int, int]] = []
        self.levels: list[tuple[int, list[loop_program.Statement]]] = []
        self.written: list[Memory] = []
        self.sizes: set[Expr] = set()
        self.rows_of_lists: set[Expr] = set()
        self.float_lists: frozenset[Location] = frozenset()
        self.stretches: dict[tuple[Expr, Expr], None] = {}
        self.parameter_sizes: frozenset[Expr] = frozenset()
        self.parameter_of: Mapping[str, str] = {}
        self.shapes: Mapping[str, tuple[Any, ...]] | None = None
        self.array_parameters: frozenset[str] = frozenset()
        self.by_rows = False
        self.changes: set[str] = set()
        self.lazy = self.one_by_one = False
        self.python_numbers = self.numpy_numbers = False
        self.of_python: UnsupportedError | None = None
        self.compiled = 0
        self.numbers_only: tuple[str, str, bool] | None = None
        self.took_single = False
        self.integer_powers = False
        self.narrowed: UnsupportedError | None = None
        self.singles: dict[Expr, None] = {}
        self.decisive: dict[Expr, None] = {}
        self.guessed: frozenset[str] = frozenset()
        self.floats: frozenset[str] = frozenset()
        self.growing: dict[ast.stmt, Any] = {}
        self.data: dict[str, np.ndarray[Any, Any]] = {}
        self.memories: list[dict[Memory, Expr | None]] = []
        self.size_limit = MAX_ARRAY
        self.unroll_limit = MAX_UNROLL

    # ------------------------------------------------------------------- errors
    def refuse(self, message: str, hint: str = "", node: ast.AST | None = None) -> NoReturn:
        """Stop with an error at a node, by default at the one being evaluated."""
        raise self.error(message, hint, node)

    def error(self, message: str, hint: str = "", node: ast.AST | None = None) -> UnsupportedError:
        """An error at a node, placed by `place`."""
        location, where = self.place(node)
        return UnsupportedError(message + where, location, hint)

    def place(self, node: ast.AST | None = None) -> tuple[Location, str]:
        """The place of a node, by default the one being evaluated; inside of a library, the user's
        call that led there, and the place in the library for the message."""
        frame, at = self.frame, self.at if node is None else node
        inner = frame.source.location(at)
        while frame.caller is not None and is_library(frame.source.path):
            frame, at = frame.caller
        if is_library(frame.source.path) or frame is self.frame:
            return inner, ""
        return frame.source.location(at), "" if is_own(inner.path) else f" ({inner})"

    def check(
        self, held: Expr, error: str, message: str, node: ast.AST | None = None
    ) -> loop_program.Check:
        """The statement that a condition holds at run time, placed by `place`."""
        location, where = self.place(node)
        return loop_program.Check(held, error, message + where, location)

    def step(self, node: ast.AST) -> None:
        self.at = node
        self.steps += 1
        if self.steps > MAX_STEPS:
            self.refuse(
                f"tracing took more than {MAX_STEPS} steps",
                "loops are unrolled when traced; use fewer iterations",
            )

    def tick(self) -> int:
        """The next point in time: it separates values made before a region or call from later
        ones."""
        self._clock += 1
        return self._clock

    # ------------------------------------------------------------------- values
    def note(self, value: Any, node: ast.AST) -> Any:
        """Record that the value of this node was made here first; in our own library, by the
        user's call that led there."""
        made = self.users(node)
        if isinstance(value, Scalar):
            e = value.expr
            if e.args or ir.is_far(e) or ir.is_rounded(e):
                self.locations.setdefault(value.expr, made)
        elif isinstance(value, SmallArray):
            for v in value.items.ravel():
                if isinstance(v, Scalar) and v.expr.args:
                    self.locations.setdefault(v.expr, made)
        elif isinstance(value, SymArray) and value.memory.element.args:
            self.locations.setdefault(value.memory.element, made)
        return value

    def users(self, node: ast.AST) -> tuple[Source, ast.AST]:
        """A node and its file; in our own library, the user's call that led there."""
        frame = self.frame
        while frame.caller is not None and is_own(frame.source.path):
            frame, node = frame.caller
        return frame.source, node

    def own(self, container: Any) -> Any:
        """Register a list, dict, set or array that the trace itself made."""
        key = container.owner() if isinstance(container, SmallArray) else container
        self._owned[id(key)] = key, self.tick()
        return container

    def age(self, container: Any) -> int:
        """The time at which a container was made; 0 if the trace did not make it."""
        return self._owned.get(id(container), (None, 0))[1]

    def mutate(self, container: Any) -> None:
        """Announce that a container is about to change."""
        key = container.owner() if isinstance(container, SmallArray) else container
        owned = self._owned.get(id(key))
        if owned is None or owned[0] is not key:
            raise Refused(
                f"{describe(container)} that was not made on this path is changed",
                "change a copy; a function to differentiate has no side effects",
            )
        self.aliases.changed(key)
        for region in reversed(self.regions):
            if id(key) in region.log or owned[1] > region.start:
                break
            region.log[id(key)] = key, contents(key)

    def spend(self, stream: Stream) -> list[Any] | Masked:
        """The elements of an iterator, which are used up."""
        self._begin(stream)
        if stream.at is not None:
            return list(self._rest(stream))
        if stream.compute is not None:
            compute, stream.compute = stream.compute, None
            found = compute()
            return found if isinstance(found, Masked) else list(found)
        items, stream.items = stream.items or [], []
        return list(items)

    def _rest(self, stream: Stream) -> Iterator[Any]:
        with suppress(End):
            for _ in range(MAX_STEPS):
                yield self.pull(stream)
            raise Refused("all elements of an iterator that may have no end are asked for")

    def pull(self, stream: Stream) -> Any:
        """The next element of an iterator; `End` where there is none."""
        if stream.at is not None:
            self._begin(stream)
            stream.items += 1
            return stream.at(stream.items - 1)
        with self.piecemeal():
            found = self.spend(stream)
        if isinstance(found, Masked):
            raise Refused(
                "the next of the elements that a condition on real values selects",
                "use np.where to select by value",
            )
        if not found:
            raise End
        stream.items = found[1:]
        return found[0]

    @contextmanager
    def piecemeal(self) -> Iterator[None]:
        """Elements that are computed in here are requested one by one, perhaps not all."""
        partial, self.partial = self.partial, True
        try:
            yield
        finally:
            self.partial = partial

    def _begin(self, stream: Stream) -> None:
        """Record an iterator in its state before it is used."""
        if stream.region is not self._place():
            raise Refused(
                "an iterator made outside of this branch or loop step is used up in it",
                "make a list of it first",
            )
        self.spent.append((stream, stream.compute, stream.items))

    def spend_generator(self, stream: Stream) -> None:
        """Record that a loop uses up a generator."""
        self.spent.append((stream, stream.compute, stream.items))
        stream.compute, stream.items = None, []

    def stream(self, compute: Callable[[], Any]) -> Stream:
        return Stream(compute, self._place())

    def spoil(self, since: int) -> None:
        """The rest of iterators that were used since then depends on the arguments: they are not used again."""
        for stream, *_ in self.spent[since:]:
            stream.region = object()

    def stream_of(self, at: Callable[[int], Any]) -> Stream:
        """The iterator over elements that are read one by one, by their positions."""
        return Stream(None, self._place(), at)

    def _place(self) -> Region | None:
        """The branch or loop step that is being traced."""
        return next((r for r in reversed(self.regions) if not r.transparent), None)

    def of_numpy(self) -> bool:
        """Whether there are NumPy's numbers: elements of arrays, results of its functions."""
        return self.numpy_numbers or bool(self.array_parameters)

    # ----------------------------------------------------- statements and memory
    def emit(self, statement: loop_program.Statement) -> None:
        """Append a statement to the block that is being traced."""
        self.must_not_be_lazy()
        self.block.append(statement)

    def must_not_be_lazy(self) -> None:
        """Trace values that are more than a formula of the arguments as a program with arrays."""
        if self.lazy:
            raise Retrace(what="the function is not elementwise")

    def emit_where_made(self, memory: Memory, statement: loop_program.Statement) -> None:
        """Append the statement that writes a formula down where the formula was made:
        outside of the loops that are newer."""
        self.must_not_be_lazy()
        blocks = (block for birth, block in self.levels if memory.birth < birth)
        next(blocks, self.block).append(statement)
        self.written.append(memory)

    def executed(self, value: Any) -> None:
        """Record that Python raises an error on this path where the value is undefined."""
        if isinstance(value, Real) and value.defined is not TRUE and not self.counts:
            held = by_side(self.path, value.defined, TRUE)
            if held is not TRUE:
                self.executions.append(held)

    def solved(self, orders: int, room: float) -> None:
        """Note that plain Python computes a solution to a tolerance, and how many of its derivatives are right."""
        self.orders = orders if self.orders is None else min(self.orders, orders)
        self.room = max(self.room, room)

    def require(self, condition: Expr, error: str, message: str) -> None:
        """Require a condition at run time wherever this is reached; one on sizes alone is checked
        once, before everything else."""
        if condition is TRUE or implied.follows(condition, self.facts):
            return
        fact = condition
        if self.noting is not None and error == "index":
            self.noting(condition)
            self.facts = self.facts.union(implied.consequences(fact))
            return
        if self.always and self.path is TRUE and None not in self.counts:
            for n in self.counts:
                assert n is not None
                condition = ir.or_(ir.lt(n, ir.ONE), condition)  # reached if the loop runs
            if all(e in self.parameter_sizes for e in loop_program.leaves((condition,))):
                self.checks.setdefault(condition, self.check(condition, error, message))
                self.facts = self.facts.union(implied.consequences(fact))
                return
        held = ir.or_(ir.not_(self.path), fact)
        self.emit(self.check(held, error, message))
        self.facts = self.facts.union(implied.consequences(fact))

    def stretch(self, a: Expr, b: Expr) -> None:
        """Note that two sizes meet, one of which may be 1."""
        if all(e in self.parameter_sizes for e in loop_program.leaves((a, b))):
            self.stretches.setdefault((a, b))

    def single(self, n: Expr) -> None:
        """Record that it matters whether an array has one element."""
        if n.op is ir.CONST:
            return
        if all(e in self.parameter_sizes for e in loop_program.leaves((n,))):
            self.singles.setdefault(n)
        else:
            self.require(ir.ne(n, ir.ONE), "value", ONE_ELEMENT)

    def decides(self, n: Expr) -> None:
        """Record that it matters whether a size is 1."""
        if n.op is not ir.CONST:
            self.stretch(n, ir.ZERO)

    def set_memory(self, memory: Memory, leaf: Expr) -> None:
        """Change memory: it is another array from here on."""
        for log in self.memories:
            log.setdefault(memory, memory.leaf)
        before = memory.replaced()
        memory.leaf = leaf
        memory.replace(before=before)
