"""Comprehensions and generator expressions.

Over known values they run element by element. Over ranges and arrays of unknown length, a list
becomes an array, by the formula of its elements, and the consumer of a generator becomes a loop.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from symdiff import ir
from symdiff.frontend.arrays import lists, symbolic
from symdiff.frontend.arrays.symbolic import SLOTS, placed
from symdiff.frontend.loops import kept as kept_loops
from symdiff.frontend.loops import nests, sequences
from symdiff.frontend.syntax import special_methods
from symdiff.frontend.syntax.containers import elements, key, reader
from symdiff.frontend.trace import scalars
from symdiff.frontend.trace.frames import Frame, child_frame
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import (
    Cond,
    Generator,
    Listed,
    Masked,
    Refused,
    Selected,
    Sequence,
    Stream,
    SymArray,
    Whole,
    is_number,
    nest_of,
)
from symdiff.ir import ZERO, Expr, loop_program

NAME = "<comprehension>"

FEW = 16
"""The most elements of known number that are listed one by one."""


class Comprehension(Generator):
    """The clauses of one comprehension and the elements found so far."""

    def __init__(self, t: Tracer, node: Any, first: Any, emit: Callable[[], Any]) -> None:
        self.t, self.clauses, self.first, self.emit = t, node.generators, first, emit
        self.home = t.frame
        self.items: list[Any] = []
        self.present: list[Any] = []
        for clause in self.clauses:
            if clause.is_async:
                t.refuse("'async' is not supported", node=clause.target)

    # ------------------------------------------------------------ element by element
    def run(self) -> Any:
        """The elements; `Masked` if a condition on real values filters them."""
        self.items, self.present = [], []
        caller, self.t.frame = self.t.frame, child_frame(self.home, NAME)
        self._loop(0, elements(self.t, self.first), True)
        self.t.frame = caller
        if all(p is True for p in self.present):
            return self.items
        return Masked(tuple(self.items), tuple(self.present))

    def _loop(self, depth: int, values: list[Any], guard: Any) -> None:
        clause = self.clauses[depth]
        for value in values:
            self.t.step(clause.target)
            self.t.assign(clause.target, value)
            self._filter(depth, 0, guard)

    def _filter(self, depth: int, i: int, guard: Any) -> None:
        """Apply the i-th `if` of a clause, then the next clause or the element."""
        t, clause = self.t, self.clauses[depth]
        if i < len(clause.ifs):
            c = t.condition(clause.ifs[i])
            if isinstance(c, bool):
                if c:
                    self._filter(depth, i + 1, guard)
                return
            t.need(c)
            region = t.enter(c.expr)
            self._filter(depth, i + 1, scalars.conjunction(guard, c))
            if t.leave(region):
                raise Refused("a filtered comprehension changes a container", "use a loop")
        elif depth + 1 < len(self.clauses):
            iterable = t.evaluate(self.clauses[depth + 1].iter)
            t.at = self.clauses[depth + 1].iter
            self._loop(depth + 1, elements(t, iterable), guard)
        else:
            self.items.append(self.emit())
            self.present.append(guard)

    # ----------------------------------------------------------------------- a loop
    def visit(self, start: Any, step: Callable[[Any, Any], Any]) -> Any:
        """`start` combined with every element in turn, in loops."""

        t = self.t

        def each(frame: Frame) -> None:
            def element() -> None:
                frame.env[TOTAL] = step(t.resolve(frame.env[TOTAL], WHAT), self.emit())

            self._each(0, self.first, element)

        return accumulated(self.t, self.home, start, each)

    def _each(self, depth: int, iterable: Any, element: Callable[[], None]) -> None:
        """Run the clauses from this one on, then the element."""
        t, clause = self.t, self.clauses[depth]

        def body() -> None:
            self._where(depth, 0, element)

        if (found := unknown(iterable)) is not None:
            name = clause.target.id if isinstance(clause.target, ast.Name) else "i"
            t.at = clause.target
            kept_loops.trace_for(
                t, found.count, lambda k: t.assign(clause.target, found.item(k)), body, name
            )
            return
        for value in elements(t, iterable):
            t.step(clause.target)
            t.assign(clause.target, value)
            body()

    def _where(self, depth: int, i: int, element: Callable[[], None]) -> None:
        """The i-th `if` of a clause, then the next clause or the element."""
        t, clause = self.t, self.clauses[depth]
        if i == len(clause.ifs):
            if depth + 1 == len(self.clauses):
                element()
                return
            iterable = t.evaluate(self.clauses[depth + 1].iter)
            t.at = self.clauses[depth + 1].iter
            self._each(depth + 1, iterable, element)
            return
        c = t.condition(clause.ifs[i])
        if isinstance(c, bool):
            if c:
                self._where(depth, i + 1, element)
            return
        t.either(c, lambda: self._where(depth, i + 1, element), lambda: None)

    # --------------------------------------------------------------------- an array
    def listed(self) -> Any:
        """The list of all elements, as an array."""
        t, clause = self.t, self.clauses[0]
        found = unknown(self.first)
        if found is None or len(self.clauses) > 1:
            raise Refused(
                "a list of several loops whose length is not known when traced",
                "make an array before, and store its elements in loops",
            )
        caller, t.frame = t.frame, child_frame(self.home, NAME)

        def start(k: Expr) -> None:
            t.assign(clause.target, found.item(k))

        def value() -> tuple[Any, Any]:
            return self._element(0)

        since = lists.now(t)
        made = kept_loops.trace_element(t, found.count, start, value)
        t.frame = caller
        return array_of_elements(t, found.count, *made, since)

    def _element(self, i: int) -> tuple[Any, Any]:
        """The element, and the condition that it exists."""
        t, clause = self.t, self.clauses[0]
        if i == len(clause.ifs):
            return self.emit(), True
        c = t.condition(clause.ifs[i])
        if isinstance(c, bool):
            value, present = self._element(i + 1)
            return value, scalars.conjunction(c, present)
        t.need(c)
        region = t.enter(c.expr)
        value, present = self._element(i + 1)
        t.leave(region)
        return value, scalars.conjunction(c, present)


def repeated(t: Tracer, value: Any, times: Whole) -> Any:
    """`[value] * times`, in which all elements are one object: `[value for _ in range(times)]`."""
    count = sequences.symbolic_range(times).count
    since = lists.now(t)
    made = kept_loops.trace_element(t, count, lambda _: None, lambda: (value, True))
    return array_of_elements(t, count, *made, since)


TOTAL = "#total"
"""The name of the value that a loop over a generator accumulates."""

WHAT = "what is accumulated"


def accumulated(t: Tracer, home: Frame, start: Any, each: Callable[[Frame], None]) -> Any:
    """The value that a loop leaves in `TOTAL`, in a scope of its own."""
    caller, t.frame = t.frame, child_frame(home, NAME)
    t.frame.env[TOTAL] = start
    each(t.frame)
    found, t.frame = t.frame.env[TOTAL], caller
    return found


def unknown(iterable: Any) -> Sequence | None:
    """The sequence of an iterable whose length is unknown or large."""
    found = sequences.of(iterable)
    if found is None:
        return None
    count = ir.integer(found.count)
    return found if count is None or count > FEW or isinstance(iterable, Sequence) else None


def visit(t: Tracer, values: Any, start: Any, step: Callable[[Any, Any], Any]) -> Any:
    """`start` combined with every element of a generator, sequence or array in turn."""
    if isinstance(values, Stream) and isinstance(values.generator, Comprehension):
        t.spend_generator(values)
        return values.generator.visit(start, step)
    found = sequences.of(values)
    if found is None:
        raise Refused("what is reduced is no sequence")

    def each(frame: Frame) -> None:
        items: list[Any] = []

        def body() -> None:
            frame.env[TOTAL] = step(t.resolve(frame.env[TOTAL], WHAT), items[-1])

        kept_loops.trace_for(t, found.count, lambda k: items.append(found.item(k)), body, "i")

    return accumulated(t, t.frame, start, each)


def array_of_elements(
    t: Tracer, count: Expr, leaf: Expr, block: loop_program.Block, pair: tuple[Any, Any], since: lists.Mark
) -> Any:  # fmt: skip
    """The list whose element at an index is a value that a block defines; objects that are
    older than a point in time have other names too."""
    value, present = pair
    nest, held = "l" + nest_of(value), value
    if not is_number(value):
        value = value.items if isinstance(value, Listed) else symbolic.symbolic(t, value)
    if present is not True:
        if block or not isinstance(present, (Cond, bool)):
            raise Refused(
                "a filtered list whose elements take more than a formula",
                "make an array before, and store its elements in a loop",
            )
        mask = _over(count, leaf, scalars.as_cond(present))
        found = _over(count, leaf, value)
        if isinstance(value, SymArray) and value.shape and value.sides is None:
            found.memory.may_show(value.memory)  # rows are views of memory that may change later
        return Selected(found, mask, nest)
    if not block:
        return lists.of_elements(t, _over(count, leaf, value), nest, held, leaf, since)
    if isinstance(value, SymArray):
        rows = _rows(t, count, leaf, block, value)
        return lists.of_elements(t, rows, nest, held, leaf, since)
    kind = "b" if isinstance(value, (Cond, bool)) else "i" if scalars.is_whole(value) else "f"
    kind = "f" if lists.becomes_floats(t, kind) else kind
    e = symbolic.stored(symbolic.from_formula((), value), kind)
    name = t.names.fresh("list")
    letters = (loop_program.name_of(leaf),)
    t.emit(loop_program.Build(name, loop_program.Type((count,), kind), letters, e, block))
    made = symbolic.in_memory(loop_program.array(name, kind), (count,), kind)
    made.memory.made = t.place()[0]
    return Listed(made)


def _over(count: Expr, leaf: Expr, value: Any) -> SymArray:
    """A formula of an index as an array along a first axis."""
    a = value if isinstance(value, SymArray) else symbolic.from_formula((), value)
    mapping = {s: SLOTS[k + 1] for k, s in enumerate(SLOTS[:-1])} | {leaf: SLOTS[0]}
    if any(leaf in set(ir.topological((n,))) for n in a.shape):
        raise Refused("the rows of an array have different lengths")
    e, d = ir.substitute((symbolic.formula(a), symbolic.needs(a)), mapping)
    return symbolic.lazy((count, *a.shape), a.kind, e, d)


def _rows(t: Tracer, count: Expr, leaf: Expr, block: loop_program.Block, row: SymArray) -> SymArray:
    """Rows that a block defines, one after the other in memory."""
    if any(leaf in set(ir.topological((n,))) for n in row.shape):
        raise Refused("the rows of an array have different lengths")
    shape = (count, *row.shape)
    out = symbolic.build(t, shape, row.kind, ZERO, "rows")
    source = out.memory.leaf
    assert source is not None
    own = loop_program.Type(shape, row.kind)
    value = symbolic.stored(row, row.kind)

    def store(at: tuple[Expr, ...], now: Any) -> tuple[list[loop_program.Statement], list[Expr]]:
        name = t.names.fresh("rows")
        update = loop_program.Update(
            name, loop_program.name_of(now[0]), own, (leaf, *at), placed(value, at)
        )
        return [update], [loop_program.array(name, row.kind)]

    inside = loop_program.array(t.names.fresh("rows"), row.kind)
    body, (last,) = nests.loops(t, row.shape, (("rows", own, inside),), store)
    result = t.names.fresh("rows")
    carried = loop_program.Carried(loop_program.name_of(inside), own, source, last, result)
    letter, trips = loop_program.name_of(leaf), t.names.fresh("trips")
    t.emit(loop_program.Loop(letter, count, (carried,), (*block, *body), trips))
    return symbolic.in_memory(loop_program.array(result, row.kind), shape, row.kind)


# --------------------------------------------------------------------------- nodes
def _first(t: Tracer, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> Any:
    """The iterable of the first clause."""
    found = t.evaluate(node.generators[0].iter)
    t.at = node.generators[0].iter
    return special_methods.iterated(t, found)


def of_list(t: Tracer, node: ast.ListComp) -> Any:
    first = _first(t, node)
    found = Comprehension(t, node, first, lambda: t.evaluate(node.elt))
    if unknown(first) is not None:
        return found.listed()
    items = found.run()
    return t.own(items) if isinstance(items, list) else items


def of_generator(t: Tracer, node: ast.GeneratorExp) -> Any:
    first = _first(t, node)
    if unknown(first) is None and not isinstance(first, Stream):
        first = t.stream_of(reader(t, first))
    found = Comprehension(t, node, first, lambda: t.evaluate(node.elt))
    stream = t.stream(found.run)
    stream.generator = found
    return stream


def of_set(t: Tracer, node: ast.SetComp) -> Any:
    first = _first(t, node)
    found = Comprehension(t, node, first, lambda: key(t.evaluate(node.elt))).run()
    return t.own(set(_unfiltered(found)))


def of_dict(t: Tracer, node: ast.DictComp) -> Any:
    first = _first(t, node)
    found = Comprehension(
        t, node, first, lambda: (key(t.evaluate(node.key)), t.evaluate(node.value))
    ).run()
    return t.own(dict(_unfiltered(found)))


def _unfiltered(found: Any) -> list[Any]:
    if isinstance(found, Masked):
        raise Refused("a set or dictionary is filtered by a condition on real values")
    return list(found)
