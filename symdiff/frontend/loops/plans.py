"""Which values a loop carries, by the changes of its body: names, containers, memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from symdiff import ir
from symdiff.frontend.arrays import symbolic
from symdiff.frontend.loops import slots
from symdiff.frontend.loops.slots import Slot
from symdiff.frontend.trace.aliases import containers
from symdiff.frontend.trace.array_memory import Memory
from symdiff.frontend.trace.complex_pairs import promoted
from symdiff.frontend.trace.frames import Flow, contents
from symdiff.frontend.trace.recorder import Retrace
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import (
    UNBOUND,
    Listed,
    Maybe,
    Refused,
    Scalar,
    SmallArray,
    SymArray,
    Unusable,
    describe,
    is_complex,
    is_number,
)
from symdiff.ir import ZERO, Expr, loop_program
from symdiff.ir.integers import linear
from symdiff.ir.loop_program import Type


@dataclass(slots=True)
class Plan:
    """The carried values of a loop: names, containers and memories, each as a tree of slots; the
    names that it cannot carry, with the reason; the containers whose inner containers are
    replaced; and the memory that holds rows of lists."""

    names: dict[str, Any] = field(default_factory=dict)
    containers: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    memories: dict[Memory, Slot] = field(default_factory=dict)
    dropped: dict[str, Unusable] = field(default_factory=dict)
    deep: set[Any] = field(default_factory=set)
    stale: set[Memory] = field(default_factory=set)
    replaced: set[Memory] = field(default_factory=set)

    def slots(self) -> Iterator[tuple[str, Slot]]:
        """The slots, with their names in the user's code."""
        for name, tree in self.names.items():
            called = name.strip("_").replace(" ", "_")
            yield from ((called, s) for s in slots.slots(tree))
        for _, tree in self.containers.values():
            yield from (("", s) for s in slots.slots(tree))
        for memory, slot in self.memories.items():
            yield (
                memory.name or ("" if memory.leaf is None else loop_program.name_of(memory.leaf)),
                slot,
            )


@dataclass(slots=True)
class Ends:
    """The state after one trace of the body."""

    env: dict[str, Any]
    flow: Flow
    containers: dict[int, tuple[Any, Any]]
    memories: dict[Memory, Expr | None]
    block: list[loop_program.Statement]
    condition: Expr
    birth: int
    moved: list[Slot]
    written: list[Slot]
    replaced: set[Memory]


def _widen(slot: Slot, value: Any, what: str) -> bool:
    """Make a slot's type hold a value too; return whether that changed it."""
    if isinstance(value, SmallArray) and slot.type.shape:
        raise Retrace(what="an array has elements traced one by one in a loop")
    if slot.type.shape and isinstance(value, SymArray):
        if len(value.shape) != len(slot.type.shape):
            raise Refused(f"{what} changes its number of dimensions in a loop")
        kind = _wider(slot.type.kind, value.kind)
        if _shrinks(slot, value, what):
            return True
    elif not slot.type.shape and isinstance(value, (Scalar, int)):
        kind = _wider(slot.type.kind, slots.kind_of(value))
    else:
        hint = slots.ARRAY_FORM if isinstance(value, SymArray) else slots.SAME_FORM
        raise Refused(
            f"{what} is {describe(slot.init)} before a loop and {describe(value)} in it", hint
        )
    if kind == slot.type.kind:
        return False
    slot.type = Type(slot.type.shape, kind)
    return True


def _shrinks(slot: Slot, value: SymArray, what: str) -> bool:
    """Note the first time that an array is shorter after an iteration of a counted loop; return whether it is.
    An array whose size depends on the iteration alone is not carried."""
    if slot.fewer or slot.done is ZERO:
        return False
    sizes = zip(slot.type.shape, value.shape, strict=True)
    differences = [linear(ir.sub(n, m)) for n, m in sizes]
    if slot.done in ir.topological(differences):
        raise Refused(f"{what} has another size in each iteration of a loop", slots.SAME_FORM)
    fewer = [ir.integer(d) or 0 for d in differences]
    if min(fewer) < 0 or not any(fewer):
        return False
    slot.fewer, slot.fixed = tuple(fewer), slots.SHARED
    return True


def _wider(a: str, b: str) -> str:
    if a == b:
        return a
    return "f" if "f" in (a, b) else "i"


def grow(t: Tracer, plan: Plan, before: dict[str, Any], ends: Ends) -> bool:
    """Add the changes of the body to the plan, and widen its types; return whether it grew."""
    grew = False
    for name, value in ends.env.items():
        if name in plan.dropped or name not in before:
            continue
        if isinstance(before[name], (Maybe, Unusable)):
            continue
        try:
            grew |= _grow_name(t, plan, name, before[name], value)
        except Refused as refusal:
            plan.names.pop(name, None)
            plan.dropped[name] = Unusable(refusal.message, refusal.hint)
            grew = True
    for key, (container, after) in ends.containers.items():
        if key not in plan.containers:
            what = slots.tree_of(contents(container), "a container", deep=False)
            plan.containers[key] = container, what
            grew = True
            continue
        try:
            for slot, v in slots.pairs(plan.containers[key][1], after, "a list or dict"):
                grew |= _widen(slot, v, "an element")
        except slots.Replaced:
            plan.containers[key] = container, slots.tree_of(contents(container), "a container")
            grew = True
    for memory in ends.memories:
        if memory not in plan.memories:
            plan.memories[memory] = Slot(Type(memory.shape, memory.kind), memory)
            grew = True
    grew |= not ends.replaced <= plan.replaced
    plan.replaced |= ends.replaced
    grew |= _aliased(plan, ends)
    return grew or _shared(plan, ends)


def memory_of(slots_: Iterable[Slot]) -> set[Memory]:
    """The memory that slots have before the loop."""
    return {a.memory for s in slots_ for a in slots.arrays(s.init)}


def _aliased(plan: Plan, ends: Ends) -> bool:
    """Handle names that share memory before the loop. A carried array is a copy: other names do not
    see stores of the loop, so they are no longer readable; and a carried array whose memory changes
    through another name is not carried. Return whether any of this is new."""
    new = memory_of(ends.written) - plan.stale
    plan.stale |= new
    found = bool(new)
    for name, tree in list(plan.names.items()):
        if memory_of(slots.slots(tree)) & ends.memories.keys():
            del plan.names[name]
            plan.dropped[name] = Unusable(*symbolic.STALE)
            return True
    users: dict[Memory, list[Slot]] = {}
    for slot in ends.moved:
        for memory in memory_of([slot]):
            users.setdefault(memory, []).append(slot)
    for sharing in users.values():
        for slot in sharing if len(sharing) > 1 else ():
            found |= slot.fixed is None
            slot.fixed = slots.SHARED
    return found


def _grow_name(t: Tracer, plan: Plan, name: str, before: Any, value: Any) -> bool:
    what = f"name '{name}'"
    if name not in plan.names:
        plan.names[name] = slots.tree_of(t.wrap(before), what, name in plan.deep)
        return True
    if isinstance(plan.names[name], Slot) and is_complex(value) and is_number(before):
        plan.names[name] = slots.tree_of(promoted(before), what)
        return True
    tree = plan.names[name]
    resized = (
        isinstance(tree, SmallArray)
        and isinstance(value, SmallArray)
        and tree.items.shape != value.items.shape
    )
    if resized or (isinstance(tree, SmallArray) and isinstance(value, SymArray)):
        if t.size_limit > 0 and not resized:
            raise Retrace(what="an array has elements traced one by one before a loop")
        whole = symbolic.symbolic(t, t.wrap(before))
        plan.names[name] = Slot(Type(whole.shape, whole.kind), whole, fixed=slots.SHARED)
        return True
    try:
        found = list(slots.pairs(plan.names[name], value, what))
    except slots.Replaced:
        plan.deep.add(name)
        del plan.names[name]
        return True
    if (
        isinstance(value, Listed)
        and value.table is not None
        and value.table.memory.leaf is not None
    ):
        slot = plan.names[name].storage
        if slot.fixed is None:
            slot.fixed = slots.SHARED
            return True
    return sum(_widen(slot, v, what) for slot, v in found) > 0


def _shared(plan: Plan, ends: Ends) -> bool:
    """Forbid changes of arrays that two names share after an iteration: the next one does not know
    which of them are the same. Return whether more of them are known now."""
    users: dict[Memory, list[Slot]] = {c: [s] for c, s in plan.memories.items()}
    lists: set[int] = set(plan.containers)
    for name, tree in plan.names.items():
        value = ends.env.get(name, UNBOUND)
        for c in containers(value):
            if id(c) in lists and not isinstance(tree, slots.Held):
                raise Refused(
                    f"name '{name}' shares a list with another one in a loop",
                    "make a copy of it first",
                )
            lists.add(id(c))
        for slot, v in slots.pairs(tree, value, name):
            for a in slots.arrays(v):
                users.setdefault(a.memory, []).append(slot)
    found = False
    for memory, sharing in users.items():
        outside = memory.birth < ends.birth
        if len(sharing) > 1 or (outside and memory not in plan.memories):
            for slot in sharing:
                found |= slot.fixed is None
                slot.fixed = slots.SHARED
            if outside:
                memory.fixed = memory.fixed or slots.SHARED
    return found
