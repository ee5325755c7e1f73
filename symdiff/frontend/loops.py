"""Loops that stay loops: over ranges that are not known when traced, over the rows of
arrays, and `while` on values.

The body is traced on names that stand for the values at the start of an iteration. Which
names change, and into what, is found by tracing it until nothing new turns up; what was
recorded by all but the last of these traces is dropped. A `break` or `return` becomes a
flag that ends the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symdiff import ir, structure
from symdiff.frontend import scalars, symbolic
from symdiff.frontend.defined import masked
from symdiff.frontend.extents import same_size
from symdiff.frontend.tracer import Flow, Retrace, Tracer, tuple_like
from symdiff.frontend.values import (
    UNBOUND,
    Cell,
    Cond,
    Maybe,
    Real,
    Refused,
    Scalar,
    SmallArray,
    SymArray,
    Whole,
    as_real,
    births,
    describe,
)
from symdiff.ir import FALSE, ONE, TRUE, ZERO, Expr
from symdiff.structure import Carried, Loop, Type

MAX_TRACES = 12
"""Traces of a loop's body until what it carries is settled."""


@dataclass(slots=True)
class Slot:
    """One number or array that is carried: its type so far, and its names."""

    type: Type
    init: Any
    name: str = ""
    fixed: tuple[str, str] | None = None

    def value(self, name: str) -> Any:
        """The carried value of this name, as the tracer has it."""
        if self.type.shape:
            leaf = structure.array(name, self.type.kind)
            found = symbolic.in_cell(leaf, self.type.shape, self.type.kind)
            found.cell.fixed = self.fixed
            return found
        if self.type.kind == "f":
            return Real(ir.var(name))
        whole = structure.index(name)
        return scalars.cond(ir.eq(whole, ONE)) if self.type.kind == "b" else Whole(whole)


@dataclass(slots=True)
class Plan:
    """What a loop carries: names, containers and cells, each as a tree of slots; and the
    names whose values before it do not reach into it, since they change their form."""

    names: dict[str, Any] = field(default_factory=dict)
    containers: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    cells: dict[Cell, Slot] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)

    def slots(self) -> Iterator[Slot]:
        for tree in self.names.values():
            yield from _slots(tree)
        for _, tree in self.containers.values():
            yield from _slots(tree)
        yield from self.cells.values()


@dataclass(slots=True)
class Ends:
    """What one trace of the body left behind."""

    env: dict[str, Any]
    flow: Flow
    containers: dict[int, tuple[Any, Any]]
    cells: dict[Cell, Expr | None]
    block: list[structure.Statement]
    condition: Expr


# ------------------------------------------------------------------ trees of slots
def _slots(tree: Any) -> Iterator[Slot]:
    if isinstance(tree, Slot):
        yield tree
    elif isinstance(tree, dict):
        for v in tree.values():
            yield from _slots(v)
    elif isinstance(tree, (list, tuple)):
        for v in tree:
            yield from _slots(v)
    elif isinstance(tree, np.ndarray):
        for v in tree.ravel():
            yield from _slots(v)


def _tree(value: Any, what: str) -> Any:
    """A value as a tree of slots, with what is not a number or an array as it is."""
    if isinstance(value, (Scalar, int)):
        return Slot(Type((), _kind(value)), value)
    if isinstance(value, SymArray):
        return Slot(Type(value.shape, value.kind), value)
    if isinstance(value, SmallArray):
        return SmallArray(_tree(value.items, what), value.kind)
    if isinstance(value, np.ndarray):
        items = np.empty(value.shape, object)
        for k, v in np.ndenumerate(value):
            items[k] = _tree(v, what)
        return items
    if isinstance(value, list):
        return [_tree(v, what) for v in value]
    if isinstance(value, tuple):
        return tuple_like(value, [_tree(v, what) for v in value])
    if isinstance(value, dict):
        return {k: _tree(v, what) for k, v in value.items()}
    raise Refused(
        f"{what} is {describe(value)} that changes in a loop whose length is not known when traced",
        "carry numbers and arrays from one iteration to the next",
    )


def _kind(value: Any) -> str:
    if isinstance(value, (Cond, bool)):
        return "b"
    return "i" if scalars.is_whole(value) else "f"


def _filled(tree: Any, value: Callable[[Slot], Any]) -> Any:
    """The tree with a value in place of each slot."""
    if isinstance(tree, Slot):
        return value(tree)
    if isinstance(tree, SmallArray):
        return SmallArray(_filled(tree.items, value), tree.kind)
    if isinstance(tree, np.ndarray):
        items = np.empty(tree.shape, object)
        for k, v in np.ndenumerate(tree):
            items[k] = _filled(v, value)
        return items
    if isinstance(tree, list):
        return [_filled(v, value) for v in tree]
    if isinstance(tree, tuple):
        return tuple_like(tree, [_filled(v, value) for v in tree])
    if isinstance(tree, dict):
        return {k: _filled(v, value) for k, v in tree.items()}
    return tree


def _pairs(tree: Any, value: Any, what: str) -> Iterator[tuple[Slot, Any]]:
    """Each slot with the value that stands there after the body."""
    if isinstance(tree, Slot):
        yield tree, value
        return
    if type(tree) is type(value):
        if isinstance(tree, SmallArray):
            yield from _pairs(tree.items, value.items, what)
            return
        if isinstance(tree, np.ndarray) and tree.shape == value.shape:
            for a, b in zip(tree.ravel(), value.ravel(), strict=True):
                yield from _pairs(a, b, what)
            return
        if isinstance(tree, (list, tuple)) and len(tree) == len(value):
            for a, b in zip(tree, value, strict=True):
                yield from _pairs(a, b, what)
            return
        if isinstance(tree, dict) and tree.keys() == value.keys():
            for k in tree:
                yield from _pairs(tree[k], value[k], what)
            return
    raise Refused(
        f"{what} changes its form in a loop whose length is not known when traced",
        "it must have the same type and size in every iteration",
    )


def _widen(t: Tracer, slot: Slot, value: Any, what: str) -> bool:
    """Make a slot's type hold a value too; whether that changed it."""
    if (
        isinstance(value, SymArray)
        and not slot.type.shape
        and isinstance(slot.init, (SmallArray, list))
    ):
        raise Retrace()
    if slot.type.shape:
        array = symbolic.symbolic(t, value)
        if len(array.shape) != len(slot.type.shape):
            raise Refused(f"{what} changes its number of dimensions in a loop")
        kind = _wider(slot.type.kind, array.kind)
    elif isinstance(value, (Scalar, int)):
        kind = _wider(slot.type.kind, _kind(value))
    else:
        raise Refused(
            f"{what} is {describe(slot.init)} before a loop and {describe(value)} in it",
            "it must have the same type and size in every iteration",
        )
    if kind == slot.type.kind:
        return False
    slot.type = Type(slot.type.shape, kind)
    return True


def _wider(a: str, b: str) -> str:
    if a == b:
        return a
    return "f" if "f" in (a, b) else "i"


def _expr(t: Tracer, slot: Slot, value: Any) -> Expr:
    """A value as an expression of the slot's type; an array as a name."""
    if slot.type.shape:
        array = symbolic.symbolic(t, value)
        for n, m in zip(slot.type.shape, array.shape, strict=True):
            same_size(t, n, m)
        kind = slot.type.kind
        if array.kind != kind:
            array = symbolic.lazy(array.shape, kind, symbolic.as_kind(array, kind), symbolic.needs(array))  # fmt: skip
        return symbolic.leaf_of(t, array)
    if slot.type.kind == "b":
        return ir.where(scalars.as_cond(value).expr, ONE, ZERO)
    x = as_real(value)
    return masked(x.expr, x.defined, t.facts)


# --------------------------------------------------------------------- the loop
def trace_for(
    t: Tracer, count: Expr, start: Callable[[Expr], None], body: Callable[[], None], index: str
) -> Expr:
    """A counted loop: `start(index)` binds the target, `body()` runs the statements.

    Returns the condition that it ended by a `break`; the tracer's flow holds the
    condition that it ended by a `return`.
    """
    return _trace(t, count, start, lambda: TRUE, body, index)


def trace_element(
    t: Tracer, count: Expr, start: Callable[[Expr], None], value: Callable[[], Any]
) -> tuple[Expr, structure.Block, Any]:
    """One iteration that changes nothing: its index, its statements, and a value."""
    letter = t.names.fresh("i")
    found: list[Any] = []

    def body() -> None:
        found.append(value())

    ends = _once(t, Plan(), letter, count, start, lambda: TRUE, body)
    if ends.containers or ends.cells:
        raise Refused("a comprehension changes a container", "use a loop")
    return structure.index(letter), tuple(ends.block), found[0]


def trace_while(t: Tracer, test: Callable[[], Expr], body: Callable[[], None]) -> Expr:
    """A loop while a condition holds."""
    return _trace(t, None, lambda _: None, test, body, "step")


def _trace(
    t: Tracer,
    count: Expr | None,
    start: Callable[[Expr], None],
    test: Callable[[], Expr],
    body: Callable[[], None],
    index: str,
) -> Expr:
    plan = Plan()
    before = dict(t.frame.env)
    letter = t.names.fresh(index)
    for _ in range(MAX_TRACES):
        for slot in plan.slots():
            slot.name = t.names.fresh("state") if not slot.name else slot.name
        ends = _once(t, plan, letter, count, start, test, body)
        if not _grow(t, plan, before, ends):
            return _finish(t, plan, before, ends, letter, count)
    raise Refused("what this loop carries does not settle", "use the same types in every iteration")


def _once(
    t: Tracer,
    plan: Plan,
    letter: str,
    count: Expr | None,
    start: Callable[[Expr], None],
    test: Callable[[], Expr],
    body: Callable[[], None],
) -> Ends:
    """Trace the body once, on the carried values that the plan knows of."""
    frame, block, path, flow, depth = t.frame, t.block, t.path, t.frame.flow, t.depth
    env, assumed, birth = frame.env, len(t.assumptions), next(births)
    t.levels.append((birth, block))
    t.counts.append(count)
    leaf = structure.index(letter)
    t.block, t.frame.flow, t.frame.env = [], Flow(), dict(env)
    region, always = t.enter(TRUE), t.always
    t.always, t.path = always and t.path is TRUE, TRUE
    if count is not None:
        t.ranges[leaf] = count
    log: dict[Cell, Expr | None] = {}
    t.cells.append(log)
    saved = {key: (c, _contents(c)) for key, (c, _) in plan.containers.items()}
    restored = {cell: cell.leaf for cell in plan.cells}
    try:
        for name, tree in plan.names.items():
            t.frame.env[name] = _filled(tree, lambda s: s.value(s.name))
        for name in plan.dropped:
            t.frame.env.pop(name, None)
        for c, tree in plan.containers.values():
            _set_contents(c, _filled(tree, lambda s: s.value(s.name)))
        for cell, slot in plan.cells.items():
            cell.leaf = structure.array(slot.name, slot.type.kind)
            cell.fixed = cell.fixed or slot.fixed
        entry = t.frame.env.copy()
        starts = {cell: cell.leaf for cell in plan.cells}
        condition = test()
        if t.block:  # the test is more than a formula: it ends the iteration from within
            t.frame.flow.broken = ir.not_(condition)
            skipped = t.open(ir.not_(condition))
            start(leaf)
            body()
            t.frame.flow.continued = FALSE
            t.close(skipped)
            condition = TRUE
        else:
            t.facts = t.facts.union(scalars.consequences(condition))
            start(leaf)
            body()
        t.frame.flow.continued = FALSE
        changed = {n: v for n, v in t.frame.env.items() if entry.get(n, UNBOUND) is not v or n in plan.names}  # fmt: skip
        touched = {key: (c, _contents(c)) for key, (c, _) in region.log.items()}
        touched |= {key: (c, _contents(c)) for key, (c, _) in plan.containers.items()}
        cells = {c: c.leaf for c in (*log, *starts) if c.birth < birth}
        return Ends(changed, t.frame.flow, touched, cells, t.block, condition)
    finally:
        while t.regions and t.regions[-1] is not region:
            t.leave(t.regions[-1])
        t.leave(region)
        for c, contents in saved.values():
            _set_contents(c, contents)
        for cell, old in {**log, **restored}.items():
            cell.leaf = old
        t.cells.pop()
        t.levels.pop()
        t.counts.pop()
        t.ranges.pop(leaf, None)
        t.block, t.frame, t.path, t.always, t.depth = block, frame, path, always, depth
        frame.env, frame.flow = env, flow
        del t.assumptions[assumed:]


def _contents(container: Any) -> Any:
    return container.copy()


def _set_contents(container: Any, contents: Any) -> None:
    from symdiff.frontend.tracer import restore

    restore(container, contents)


def _grow(t: Tracer, plan: Plan, before: dict[str, Any], ends: Ends) -> bool:
    """Add what the body changed to the plan, and widen its types; whether it grew."""
    grew = False
    for name, value in ends.env.items():
        if name in plan.dropped or name not in before or isinstance(before[name], Maybe):
            continue
        what = f"name '{name}'"
        try:
            if name not in plan.names:
                plan.names[name] = _tree(t.wrap(before[name]), what)
                grew = True
                continue
            for slot, v in _pairs(plan.names[name], value, what):
                grew |= _widen(t, slot, v, what)
        except Refused:
            plan.names.pop(name, None)
            plan.dropped.add(name)
            grew = True
    for key, (container, contents) in ends.containers.items():
        if key not in plan.containers:
            plan.containers[key] = container, _tree(_contents(container), "a container")
            grew = True
            continue
        for slot, v in _pairs(plan.containers[key][1], contents, "a container"):
            grew |= _widen(t, slot, v, "an element")
    for cell in ends.cells:
        if cell not in plan.cells:
            plan.cells[cell] = Slot(Type(cell.shape, cell.kind), cell)
            grew = True
    return grew


def _finish(
    t: Tracer, plan: Plan, before: dict[str, Any], ends: Ends, letter: str, count: Expr | None
) -> Expr:
    """Emit the loop of the last trace, and bind what it leaves."""
    outer, t.block = t.block, ends.block
    nexts: list[tuple[Slot, Expr]] = []
    for name, tree in plan.names.items():
        value = ends.env.get(name, UNBOUND)
        nexts += [(s, _expr(t, s, v)) for s, v in _pairs(tree, value, f"name '{name}'")]
    for key, (_, tree) in plan.containers.items():
        nexts += [(s, _expr(t, s, v)) for s, v in _pairs(tree, ends.containers[key][1], "a container")]  # fmt: skip
    nexts += [(slot, ends.cells[cell]) for cell, slot in plan.cells.items()]
    flow = ends.flow
    left = ir.or_(flow.broken, flow.returned)
    flags = {n: t.names.fresh(n) for n in ("left", "returned", "value")}
    extra: list[Carried] = []
    results: dict[str, str] = {}

    def carry(name: str, type: Type, init: Expr, next: Expr) -> None:
        results[name] = t.names.fresh(name)
        extra.append(Carried(name, type, init, next, results[name]))

    if left is not FALSE:
        carry(flags["left"], structure.INTEGER, ZERO, ir.where(left, ONE, ZERO))
    returned = _returned(t, flow, flags, carry)
    last = {n: _last(t, n, v, carry) for n, v in ends.env.items() if n not in plan.names}  # fmt: skip
    body, t.block = tuple(t.block), outer
    carried = []
    for slot, next in nexts:
        init = slot.init.leaf if isinstance(slot.init, Cell) else _expr(t, slot, slot.init)
        results[slot.name] = t.names.fresh(slot.name)
        carried.append(Carried(slot.name, slot.type, init, next, results[slot.name]))
    condition = ends.condition
    if left is not FALSE:
        condition = ir.and_(ir.eq(structure.index(flags["left"]), ZERO), condition)
    if t.path is not TRUE:
        if count is None:
            condition = ir.and_(t.path, condition)
        else:
            count = ir.where(t.path, count, ZERO)
    trips = t.names.fresh("trips")
    t.emit(Loop(letter, count, (*carried, *extra), body, trips, condition))
    _bind(t, plan, results, last, structure.index(trips))
    if left is FALSE:
        return FALSE
    stopped = ir.eq(structure.index(results[flags["left"]]), ONE)
    if returned is None:
        return stopped
    came_back = ir.eq(structure.index(results[flags["returned"]]), ONE)
    t.frame.flow = Flow(came_back, value=_filled(returned, lambda s: s.value(results[s.name])))
    return FALSE if flow.broken is FALSE else ir.and_(stopped, ir.not_(came_back))


def _returned(t: Tracer, flow: Flow, flags: dict[str, str], carry: Callable[..., None]) -> Any:
    """Carry a `return` in the body: whether it was met, and what it gives."""
    if flow.returned is FALSE:
        return None
    carry(flags["returned"], structure.INTEGER, ZERO, ir.where(flow.returned, ONE, ZERO))
    tree = _tree(flow.value, "what is returned")
    for slot, value in list(_pairs(tree, flow.value, "what is returned")):
        slot.name = t.names.fresh(flags["value"])
        if slot.type.shape:
            raise Refused("an array is returned from within a loop", "return after the loop")
        carry(slot.name, slot.type, ZERO, _expr(t, slot, value))
    return tree


def _last(t: Tracer, name: str, value: Any, carry: Callable[..., None]) -> Any:
    """A name that is bound in the body only has its last value after the loop."""
    if not isinstance(value, (Scalar, int)) or isinstance(value, bool):
        return None
    slot = Slot(Type((), _kind(value)), value, t.names.fresh(name))
    carry(slot.name, slot.type, ZERO, _expr(t, slot, value))
    return slot


def _bind(
    t: Tracer, plan: Plan, results: dict[str, str], last: dict[str, Any], trips: Expr
) -> None:
    """After the loop: names, containers and memory have what the last iteration left."""

    def result(slot: Slot) -> Any:
        return slot.value(results[slot.name])

    for name, tree in plan.names.items():
        t.frame.env[name] = _filled(tree, result)
    for container, tree in plan.containers.values():
        t.mutate_owned(container)
        _set_contents(container, _filled(tree, result))
    for cell, slot in plan.cells.items():
        t.set_cell(cell, structure.array(results[slot.name], slot.type.kind))
    for name in plan.dropped:
        t.frame.env.pop(name, None)
    for name, slot in last.items():
        if slot is not None:
            t.frame.env[name] = Maybe(result(slot), ir.lt(ZERO, trips))
