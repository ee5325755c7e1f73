"""Loops that are kept as loops: over ranges that are unknown when traced, over the rows of
arrays, and `while` on values.

The body is traced on names that denote the values at the start of an iteration. Which
names change, and into what, is found by tracing it until nothing new turns up; what was
recorded by all but the last of these traces is dropped. A `break` or `return` becomes a
flag that ends the loop.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from symdiff import ir
from symdiff.frontend.arrays import symbolic
from symdiff.frontend.loops import slots
from symdiff.frontend.loops.plans import Ends, Plan, grow, memory_of
from symdiff.frontend.loops.slots import Slot
from symdiff.frontend.trace import implied, scalars
from symdiff.frontend.trace.aliases import containers
from symdiff.frontend.trace.array_memory import Memory, births
from symdiff.frontend.trace.defined import masked
from symdiff.frontend.trace.domains import by_side
from symdiff.frontend.trace.extents import same_size
from symdiff.frontend.trace.frames import Flow, contents, restore
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import (
    UNBOUND,
    Maybe,
    Refused,
    Scalar,
    SymArray,
    as_real,
    readings,
    written,
)
from symdiff.ir import FALSE, ONE, TRUE, ZERO, Expr, loop_program
from symdiff.ir.loop_program import Carried, Loop, Type

MAX_TRACES = 12
"""The most traces of a loop's body until the types of its carried values converge."""


def _expr(t: Tracer, slot: Slot, value: Any) -> Expr:
    """A value as an expression of the slot's type; an array as a name."""
    if slot.type.shape:
        array = _whole(value) if isinstance(value, Memory) else symbolic.symbolic(t, value)
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


def _passed(t: Tracer, slot: Slot, value: Any) -> Expr:
    """The value for the next iteration."""
    if any(slot.fewer):
        value, sizes = symbolic.symbolic(t, value), slot.sizes(1)
        for n, m in zip(sizes, value.shape, strict=True):
            same_size(t, n, m)
        here = [ir.lt(at, n) for at, n in zip(symbolic.SLOTS, sizes, strict=False)]
        inside = functools.reduce(ir.and_, here)
        made = ir.where(inside, symbolic.as_kind(value, slot.type.kind), ZERO)
        defined = by_side(inside, symbolic.needs(value), TRUE)
        value = symbolic.lazy(slot.type.shape, slot.type.kind, made, defined)
    return _expr(t, slot, value)


def _whole(memory: Memory) -> SymArray:
    return SymArray(memory.shape, memory.kind, memory, symbolic.SLOTS[: len(memory.shape)])


# --------------------------------------------------------------------- the loop
def trace_for(
    t: Tracer, count: Expr, start: Callable[[Expr], None], body: Callable[[], None], index: str
) -> Expr:
    """A counted loop: `start(index)` binds the target, `body()` runs the statements.

    Returns the condition that the loop ended by a `break`; the tracer's flow holds the
    condition that it ended by a `return`.
    """
    return _trace(t, count, start, lambda: TRUE, body, index)


def trace_element(
    t: Tracer, count: Expr, start: Callable[[Expr], None], value: Callable[[], Any]
) -> tuple[Expr, loop_program.Block, Any]:
    """One iteration that changes nothing: its index, its statements, and a value."""
    letter = t.names.fresh("i")
    found: list[Any] = []

    def body() -> None:
        found.append(value())

    ends = _once(t, Plan(), letter, count, start, lambda: TRUE, body)
    if ends.containers or ends.memories:
        raise Refused("a comprehension changes a container", "use a loop")
    return loop_program.index(letter), tuple(ends.block), found[0]


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
        for name, slot in plan.slots():
            slot.name = slot.name or t.names.fresh(name or "state")
            slot.done = ZERO if count is None else loop_program.index(letter)
            if slot.is_real:
                slot.twin = slot.twin or t.names.fresh(f"{slot.name}_plain")
                _twins(slot.name, slot.twin)
        ends = _once(t, plan, letter, count, start, test, body)
        if not grow(t, plan, before, ends):
            return _finish(t, plan, before, ends, letter, count)
    raise Refused(
        "the types of what this loop carries do not converge",
        "use the same types in every iteration",
    )


def _once(
    t: Tracer,
    plan: Plan,
    letter: str,
    count: Expr | None,
    start: Callable[[Expr], None],
    test: Callable[[], Expr],
    body: Callable[[], None],
) -> Ends:
    """Trace the body once, on the carried values of the plan."""
    frame, block, path, flow, depth = t.frame, t.block, t.path, t.frame.flow, t.depth
    env, assumed, birth = frame.env, len(t.assumptions), next(births)
    t.levels.append((birth, block))
    t.counts.append(count)
    iterations = len(t.iterations)
    leaf = loop_program.index(letter)
    t.block, t.frame.flow, t.frame.env = [], Flow(), dict(env)
    region, always = t.enter(TRUE), t.always
    t.always, t.path = always and t.path is TRUE, TRUE
    if count is not None:
        t.ranges[leaf] = count
    log: dict[Memory, Expr | None] = {}
    t.memories.append(log)
    saved = {key: (c, contents(c)) for key, (c, _) in plan.containers.items()}
    restored = {memory: memory.leaf for memory in plan.memories}
    try:
        for name, tree in plan.names.items():
            t.frame.env[name] = slots.filled(t, tree, lambda s: s.value(s.name))
        t.frame.env.update(plan.dropped)
        for c, tree in plan.containers.values():
            restore(c, slots.filled(t, tree, lambda s: s.value(s.name)))
        for memory, slot in plan.memories.items():
            known = memory.replaced()
            memory.leaf = loop_program.array(slot.name, slot.type.kind)
            memory.replace(*[None] * (memory in plan.replaced), before=known)
            memory.fixed = memory.fixed or slot.fixed
        entry = t.frame.env.copy()
        starts = {memory: memory.leaf for memory in plan.memories}
        given = {
            a.memory: s for n, tree in plan.names.items()
            for s, v in slots.pairs(tree, entry[n], n) for a in slots.arrays(v)
        }  # fmt: skip
        for memory in plan.stale:
            memory.stale = True
        held = [(tree, contents(c)) for c, tree in plan.containers.values()]
        held += [(tree, entry[name]) for name, tree in plan.names.items()]
        earlier = {memory: len(memory.replaced()) for memory in plan.memories}
        t.iterations.append((next(births), t.tick()))
        condition = test()
        effects = t.block or t.frame.env != entry or region.log
        if effects:  # of the test: it ends the iteration from within
            t.frame.flow.broken = ir.not_(condition)
            skipped = t.open(ir.not_(condition))
            start(leaf)
            body()
            t.frame.flow.continued = FALSE
            t.close(skipped)
            condition = TRUE
        else:
            t.facts = t.facts.union(implied.consequences(condition))
            start(leaf)
            body()
        t.frame.flow.continued = FALSE
        changed = {n: v for n, v in t.frame.env.items() if entry.get(n, UNBOUND) is not v or n in plan.names}  # fmt: skip
        touched = {key: (c, contents(c)) for key, (c, _) in region.log.items()}
        touched |= {key: (c, contents(c)) for key, (c, _) in plan.containers.items()}
        memories = {c: c.leaf for c in (*log, *starts) if c.birth < birth}
        moved, written = _moved(plan, given, t.frame.env, log)
        last = [v for _, v in (touched[key] for key in plan.containers)]
        last += [t.frame.env.get(name, UNBOUND) for name in plan.names]
        for (tree, first), v in zip(held, last, strict=True):
            _passed_on(t, tree, first, v, log)
        replaced = {c for c in memories if len(c.replaced()) > earlier.get(c, 0)}
        return Ends(changed, t.frame.flow, touched, memories, t.block, condition, birth, moved, written, replaced)  # fmt: skip
    finally:
        del t.iterations[iterations:]
        for memory in plan.stale:
            memory.stale = False
        while t.regions and t.regions[-1] is not region:
            t.leave(t.regions[-1])
        t.leave(region)
        for c, held in saved.values():
            restore(c, held)
        for memory, old in {**log, **restored}.items():
            if memory.birth < birth:
                memory.leaf = old
        t.memories.pop()
        t.levels.pop()
        t.counts.pop()
        t.ranges.pop(leaf, None)
        t.block, t.frame, t.path, t.always, t.depth = block, frame, path, always, depth
        frame.env, frame.flow = env, flow
        del t.assumptions[assumed:]


def _passed_on(t: Tracer, tree: Any, first: Any, last: Any, log: dict[Memory, Expr | None]) -> None:
    """Mark the memory that the next iteration gets, and changes in place as this one does: lists
    that hold it are stale."""
    if any(id(c) in t.aliases.mutated for c in containers(first)):
        for c in containers(last):
            t.aliases.shared(c)
    try:
        changed = {
            id(s)
            for s, v in slots.pairs(tree, first, "")
            for a in slots.arrays(v)
            if a.memory in log
        }
        ends = [v for s, v in slots.pairs(tree, last, "") if id(s) in changed]
    except (Refused, slots.Replaced):
        return
    for v in ends:
        for a in slots.arrays(v):
            for memory in a.memory.same():
                memory.stale |= memory.rows


def _moved(
    plan: Plan, given: dict[Memory, Slot], env: dict[str, Any], log: dict[Memory, Expr | None]
) -> tuple[list[Slot], list[Slot]]:
    """The slots whose memory the body passes on to the next iteration, or that receive it; and
    those whose memory it stores in."""
    moved: dict[int, Slot] = {}
    for name, tree in plan.names.items():
        try:
            ends = list(slots.pairs(tree, env.get(name, UNBOUND), name))
        except (Refused, slots.Replaced):
            continue
        for slot, v in ends:
            for a in slots.arrays(v):
                if a.memory in given:
                    moved |= {id(s): s for s in (slot, given[a.memory])}
    written = {id(s): s for c, s in given.items() if c in log}
    if moved.keys() & written.keys():
        written |= moved
    return list(moved.values()), list(written.values())


def _twins(name: str, twin: str) -> None:
    """Decisions read the plain twin of a carried number."""
    reading = readings.get()
    assert reading is not None
    reading.known[ir.var(name)] = ir.var(twin)


def _at_the_end(t: Tracer, plan: Plan, ends: Ends) -> list[tuple[Slot, Any, Expr]]:
    """The value of every slot at the end of the body, as a value and as an expression."""
    nexts: list[tuple[Slot, Any, Expr]] = []
    for name, tree in plan.names.items():
        value = ends.env.get(name, UNBOUND)
        nexts += [(s, v, _passed(t, s, v)) for s, v in slots.pairs(tree, value, f"name '{name}'")]
    for key, (_, tree) in plan.containers.items():
        changed = slots.pairs(tree, ends.containers[key][1], "a container")
        nexts += [(s, v, _passed(t, s, v)) for s, v in changed]
    for memory, slot in plan.memories.items():
        leaf = ends.memories[memory]
        assert leaf is not None
        nexts.append((slot, None, leaf))
    return nexts


@contextmanager
def _memory(memories: dict[Memory, Expr | None]) -> Iterator[None]:
    """Use the memory in its state at the end of the body."""
    held = {c: c.leaf for c in memories}
    for c, leaf in memories.items():
        c.leaf = leaf
    try:
        yield
    finally:
        for c, leaf in held.items():
            c.leaf = leaf


def _finish(
    t: Tracer, plan: Plan, before: dict[str, Any], ends: Ends, letter: str, count: Expr | None
) -> Expr:
    """Emit the loop of the last trace, and bind its results."""
    outer, t.block = t.block, ends.block
    flow = ends.flow
    left = ir.or_(flow.broken, flow.returned)
    flags = {n: t.names.fresh(n) for n in ("left", "returned", "value")}
    extra: list[Carried] = []
    results: dict[str, str] = {}

    def carry(
        name: str,
        type: Type,
        init: Expr,
        next: Expr,
        plain: tuple[Expr, Expr] | None = None,
        own: str = "",
    ) -> None:
        result = results[name] = t.names.fresh(name)
        extra.append(Carried(name, type, init, next, result))
        if plain is not None:
            twin = t.names.fresh(f"{result}_plain")
            extra.append(Carried(own or t.names.fresh(f"{name}_plain"), type, *plain, twin))
            _twins(result, twin)

    if left is not FALSE:
        carry(flags["left"], loop_program.INTEGER, ZERO, ir.where(left, ONE, ZERO))
    with _memory(ends.memories), _levels(t, ends, outer):
        nexts = _at_the_end(t, plan, ends)
        returned = _returned(t, flow, flags, carry, letter, outer)
        last = {
            n: _last(t, n, v, carry, letter, outer)
            for n, v in ends.env.items()
            if n not in plan.names and not isinstance(v, Maybe)
        }
        some = {
            n: found
            for n, v in ends.env.items()
            if n not in plan.names and isinstance(v, Maybe)
            and (found := _in_some_iterations(t, n, v, flow.broken, carry)) is not None
        }  # fmt: skip
    body, t.block = tuple(t.block), outer
    carried = []
    for slot, value, next in nexts:
        init = _expr(t, slot, slot.init)
        result = results[slot.name] = t.names.fresh(slot.name)
        carried.append(Carried(slot.name, slot.type, init, next, result))
        if slot.is_real:
            after = t.names.fresh(f"{result}_plain")
            init, next = written(as_real(slot.init)), written(as_real(value))
            carried.append(Carried(slot.twin, slot.type, init, next, after))
            _twins(result, after)
    condition = ends.condition
    if left is not FALSE:
        condition = ir.and_(ir.eq(loop_program.index(flags["left"]), ZERO), condition)
    if t.path is not TRUE:
        if count is None:
            condition = ir.and_(t.path, condition)
        else:
            count = ir.where(t.path, count, ZERO)
    trips = t.names.fresh("trips")
    t.emit(Loop(letter, count, (*carried, *extra), body, trips, condition))
    runs = count is not None and count.op is ir.CONST and count.value > 0
    runs = runs and ends.condition is TRUE  # at least a part of the first iteration
    made = loop_program.index(trips)
    done = made if count is None or condition is not TRUE else count
    _bind(t, plan, results, last, TRUE if runs else ir.lt(ZERO, made), done)
    _keep_aliases(t, plan, ends)
    stopped = FALSE if left is FALSE else ir.eq(loop_program.index(results[flags["left"]]), ONE)
    for name, (slot, flag, at_break) in some.items():
        bound = ir.eq(loop_program.index(results[flag]), ONE)
        bound = ir.or_(stopped, bound) if at_break else bound
        t.frame.env[name] = Maybe(slot.value(results[slot.name]), bound, checked=True)
    if left is FALSE:
        return FALSE
    if returned is None:
        return stopped
    came_back = ir.eq(loop_program.index(results[flags["returned"]]), ONE)
    t.texts.setdefault(came_back, "the loop returns")
    t.texts.setdefault(ir.not_(came_back), "the loop does not return")
    if count is None and ends.condition is TRUE and flow.broken is FALSE:
        came_back = TRUE  # there is no other way out
    t.frame.flow = Flow(
        came_back, value=slots.filled(t, returned, lambda s: s.value(results[s.name]))
    )
    return FALSE if flow.broken is FALSE else ir.and_(stopped, ir.not_(came_back))


def _keep_aliases(t: Tracer, plan: Plan, ends: Ends) -> None:
    """Record after the loop which memory its arrays may be."""
    before = memory_of(ends.moved)
    moved = {id(s) for s in ends.moved}
    for name, tree in plan.names.items():
        for slot, v in slots.pairs(tree, t.frame.env[name], name):
            for a in slots.arrays(v) if id(slot) in moved else ():
                a.memory.origins += before
                for memory in before:
                    memory.shown.append(a.memory)
    for memory in plan.stale:
        memory.stale = True


@contextmanager
def _levels(t: Tracer, ends: Ends, outer: list[loop_program.Statement]) -> Iterator[None]:
    """Write down formulas that are older than the loop before it."""
    t.levels.append((ends.birth, outer))
    try:
        yield
    finally:
        t.levels.pop()


def _returned(
    t: Tracer,
    flow: Flow,
    flags: dict[str, str],
    carry: Callable[..., None],
    letter: str,
    outer: list[loop_program.Statement],
) -> Any:
    """Carry a `return` in the body: whether it was reached, and its value."""
    if flow.returned is FALSE:
        return None
    carry(flags["returned"], loop_program.INTEGER, ZERO, ir.where(flow.returned, ONE, ZERO))
    tree = slots.tree_of(flow.value, "what is returned")
    for slot, value in list(slots.pairs(tree, flow.value, "what is returned")):
        slot.name = t.names.fresh(flags["value"])
        init = _blank(t, slot, letter, outer)
        if init is None:
            raise Refused("an array whose size a loop decides is returned from within it")
        e = _expr(t, slot, value)
        if not slot.type.shape and slot.type.kind == "f":
            e = ir.where(flow.returned, e, ZERO)  # otherwise it may be undefined
        carry(slot.name, slot.type, init, e, _plain(slot, value))
    return tree


def _blank(t: Tracer, slot: Slot, letter: str, outer: list[loop_program.Statement]) -> Expr | None:
    """The value before the loop of a value that only the body has; None for an array whose size is
    known in the body only."""
    if not slot.type.shape:
        return ZERO
    inside = {
        n for s in loop_program.walk(tuple(t.block))
        for n, _ in (*loop_program.defined(s), *loop_program.inner(s))
    }  # fmt: skip
    inside.add(letter)
    if any(loop_program.name_of(e) in inside for e in loop_program.leaves(slot.type.shape)):
        return None
    blank = symbolic.statement(t, slot.type.shape, slot.type.kind, ZERO, "blank")
    outer.append(blank)
    slot.fixed = slots.SHARED
    return loop_program.array(blank.name, slot.type.kind)


def _last(
    t: Tracer, name: str, value: Any, carry: Callable[..., None], letter: str,
    outer: list[loop_program.Statement],
) -> Any:  # fmt: skip
    """The last value, after the loop, of a name that only the body binds."""
    if isinstance(value, SymArray) and value.sides is None:
        slot = Slot(Type(value.shape, value.kind), value)
    elif isinstance(value, (Scalar, int)) and not isinstance(value, bool):
        slot = Slot(Type((), slots.kind_of(value)), value)
    else:
        return None
    slot.name = t.names.fresh(name.strip("_"))
    init = _blank(t, slot, letter, outer)
    if init is None:
        return None
    carry(slot.name, slot.type, init, _expr(t, slot, value), _plain(slot, value))
    return slot


def _in_some_iterations(
    t: Tracer, name: str, value: Maybe, broken: Expr, carry: Callable[..., None]
) -> tuple[Slot, str, bool] | None:
    """A number that some iterations bind: its slot, the name of the flag whether it is bound, and
    whether an iteration that breaks binds it."""
    new = value.value
    if not isinstance(new, (Scalar, int)) or isinstance(new, bool):
        return None
    slot = Slot(Type((), slots.kind_of(new)), new)
    slot.name, flag = t.names.fresh(name.strip("_")), t.names.fresh(f"{name.strip('_')}_bound")
    if slot.is_real:
        slot.twin = t.names.fresh(f"{slot.name}_plain")
        _twins(slot.name, slot.twin)
    new = t.merge(value.bound, new, slot.value(slot.name))
    plain = (ZERO, written(as_real(new))) if slot.is_real else None
    carry(slot.name, slot.type, ZERO, _expr(t, slot, new), plain, slot.twin)
    carry(flag, loop_program.INTEGER, ZERO, ir.where(value.bound, ONE, loop_program.index(flag)))
    return slot, flag, t.follows(value.bound, broken)


def _plain(slot: Slot, value: Any) -> tuple[Expr, Expr] | None:
    """The plain twin of a number that only the body has: before the loop, and after an iteration."""
    return (ZERO, written(as_real(value))) if slot.is_real else None


def _bind(
    t: Tracer, plan: Plan, results: dict[str, str], last: dict[str, Any], ran: Expr, done: Expr
) -> None:
    """After the loop, of `done` iterations, bind names, containers and memory to the results of the last one, if
    there was one."""

    def result(slot: Slot) -> Any:
        slot.done = done
        return slot.value(results[slot.name])

    for name, tree in plan.names.items():
        t.frame.env[name] = slots.filled(t, tree, result)
    for container, tree in plan.containers.values():
        t.mutate_owned(container)
        restore(container, slots.filled(t, tree, result))
    for memory, slot in plan.memories.items():
        t.set_memory(memory, loop_program.array(results[slot.name], slot.type.kind))
        if memory in plan.replaced:
            memory.replace(None)
    t.frame.env.update(plan.dropped)
    for name, slot in last.items():
        if slot is not None:
            if ran is not TRUE:
                t.texts.setdefault(ran, "the loop runs at least once")
            t.frame.env[name] = result(slot) if ran is TRUE else Maybe(result(slot), ran, True)
