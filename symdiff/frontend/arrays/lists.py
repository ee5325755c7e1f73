"""Lists of unknown length: their elements are references.

Numbers cannot be changed: a list of numbers is an array. Other elements are objects, the rows of an
array, and a table gives the row of each element:

Before:  a[i], a[p] = a[p], a[i]; a[k] = v
After:   table[i], table[p] = table[p], table[i]; rows[table[k], :] = v

A store of an element of the list itself changes the table. Another object is copied to the row of
the object that it replaces: names of the replaced object get a copy of that first (if several
elements are the same object, the new one takes an unused row). The stored object may have other
names: reading one of the two is refused after a change of the other. As long as no elements are
moved, the table is a formula and costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from symdiff import ir
from symdiff.frontend.arrays import casting, selecting, storing, symbolic
from symdiff.frontend.arrays.symbolic import SLOTS
from symdiff.frontend.loops import nests, slots
from symdiff.frontend.trace.aliases import containers
from symdiff.frontend.trace.array_memory import Memory, Replaced, births
from symdiff.frontend.trace.extents import same_size
from symdiff.frontend.trace.recorder import Retrace
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import (
    Listed,
    Refused,
    SymArray,
    is_number,
    nest_of,
    python_kind,
)
from symdiff.ir import ONE, TRUE, ZERO, Expr
from symdiff.ir.loop_program import load

ALIKE = (
    "an element of a list is changed that may be the same object as other elements",
    "put copies into the list: [z.copy() for ...], .append(z.copy())",
)

KINDS = "bif"
"""Kinds of elements: each can hold the values of those before it."""

Mark = tuple[int, int]
"""A point in time: counters of the memory and of the containers made so far."""


def now(t: Tracer) -> Mark:
    return next(births), t.tick()


def subscript(t: Tracer, owner: Listed, index: Any) -> Any:
    """`owner[index]`: an element, or a list of the same objects."""
    found = selecting.subscript(t, owner.items, index)
    if isinstance(index, slice):
        return copied(t, symbolic.snapshot(found), owner)
    return element(owner, found)


def element(owner: Listed, found: Any) -> Any:
    """An element of a list as a value of its type."""
    return Listed(found, owner.nest[1:]) if owner.nest[1:] else found


def moved(a: Listed) -> bool:
    """Whether several elements may be the same object, or are not in the order of the rows."""
    return a.table is not None and a.table.memory.leaf is not None


def copied(t: Tracer, items: SymArray, *owners: Any, nest: str = "") -> Listed:
    """Another list of the objects of other lists."""
    made = symbolic.listed(items, nest or nest_of(owners[0]))
    for owner in owners if len(items.shape) > 1 else ():
        hold(t, made.storage.memory, owner)
    return made


def duplicate(a: Listed) -> Listed:
    """Another list of copies of the objects of a list."""
    made = symbolic.listed(symbolic.snapshot(a.items), a.nest)
    made.storage.memory.alike = ALIKE if moved(a) else a.storage.memory.alike
    return made


def of_elements(
    t: Tracer, items: SymArray, nest: str, value: Any, leaf: Expr, since: Mark
) -> Listed:
    """The list that has a value as an element, and its index."""
    if becomes_floats(t, items.kind):
        items = symbolic.lazy(items.shape, "f", symbolic.formula(items), symbolic.needs(items))
    made = symbolic.listed(items, nest)
    made.storage.memory.made = t.place()[0]
    if len(items.shape) > 1:
        old = {a.memory for a in slots.arrays(value) if a.memory.birth < since[0]}
        if old and not _apart(items, value, leaf):
            made.storage.memory.alike = ALIKE
        hold(t, made.storage.memory, value, since)
    return made


def becomes_floats(t: Tracer, kind: str) -> bool:
    """Whether floats are stored later in the list of integers made here, as an earlier trace
    found."""
    return kind == "i" and t.place()[0] in t.float_lists


def _must_hold(t: Tracer, owner: Listed, value: Any) -> None:
    """Keep the type of the elements of a list: if a float is stored among integers, the trace
    begins again with a list of floats, or refuses the store."""
    memory = owner.storage.memory
    known = python_kind(value) if is_number(value) else getattr(value, "kind", "")
    kind = known or symbolic.symbolic(t, value).kind
    if KINDS.index(kind) <= KINDS.index(memory.kind):
        return
    casting.must_not_follow()
    numbers = len(owner.storage.shape) == len(owner.nest)  # arrays of integers stay unchanged
    if numbers and (kind, memory.kind) == ("f", "i") and memory.made not in (None, *t.float_lists):
        raise Retrace(what="floats are stored in a list of integers", floats=memory.made)
    names = {"b": "truth values", "i": "integers", "f": "floats"}
    raise Refused(
        f"{names[kind]} are stored in a list of {names[memory.kind]} whose length is not known when traced",
        f"make it a list of {names[kind]} first",
    )


def _apart(items: SymArray, value: Any, leaf: Expr) -> bool:
    """Whether the elements are views of different parts of an array."""
    a = symbolic.current(value.items if isinstance(value, Listed) else value)
    if not isinstance(a, SymArray) or a.sides is not None or a.memory.alike is not None:
        return False
    mapping = {s: SLOTS[k + 1] for k, s in enumerate(SLOTS[:-1])} | {leaf: SLOTS[0]}
    where = tuple(ir.substitute(a.where, mapping))
    return storing.one_to_one(SymArray(items.shape, a.kind, a.memory, where))


def hold(t: Tracer, memory: Memory, value: Any, since: Mark | None = None) -> None:
    """Record that the rows of a list are objects of a value, which may have other names. If the
    objects are older than the iteration that stores them, several rows may be the same."""
    repeated = since is None  # every iteration stores the same object
    if since is None:
        since = next((m for m in reversed(t.iterations) if memory.birth < m[0]), (0, 0))
    inside = [id(a.memory) for a in slots.arrays(value)] + [id(c) for c in containers(value)]
    if len(set(inside)) < len(inside):
        memory.alike = memory.alike or ALIKE
    for a in slots.arrays(value):
        older = a.memory.birth < since[0]
        if a.memory is memory or not (older or repeated):
            continue  # nothing else shows the elements that a comprehension makes
        if repeated and older:
            memory.alike = memory.alike or ALIKE
        memory.hold(a.memory, ALIKE)
    for c in t.aliases.behind(containers(value)):
        older = t.age(c) < since[1]
        if older:
            memory.alike = memory.alike or ALIKE
        if older or repeated:
            t.aliases.hold(memory, c, ALIKE)
    if isinstance(value, Listed) and moved(value):
        memory.alike = memory.alike or ALIKE


def store(t: Tracer, owner: Listed, index: Any, value: Any) -> None:
    """`owner[index] = value`."""
    if owner.nest[0] == "t":
        raise Refused("an element of a tuple is assigned", "make a list of it first: list(...)")
    rank = len(owner.storage.shape)
    _must_hold(t, owner, value)
    if rank == 1:
        storing.store(t, owner.items, index, value)
        return
    target = selecting.select(t, owner.storage, index)
    if isinstance(index, tuple) or len(target.shape) != rank - 1 or target.gather:
        raise Refused("an index of a list that is no integer")
    if owner.table is None:
        raise Refused(
            "an element of a list inside of another list is replaced, of which the length is "
            "not known when traced",
            "store its numbers one by one, or use an array",
        )
    _put(t, owner, target.at[0], value)


def append(t: Tracer, owner: Listed, place: Expr, value: Any) -> None:
    """`owner.append(value)`: the place is that of the first element that does not exist yet."""
    _must_hold(t, owner, value)
    _put(t, owner, place, value, appended=True)


def _put(t: Tracer, owner: Listed, place: Expr, value: Any, appended: bool = False) -> None:
    if is_number(value) or nest_of(value) != owner.nest[1:]:
        raise Refused(
            "an element of a list becomes one of another type",
            "the elements must all be arrays, or all lists of the same form",
        )
    new = value.items if isinstance(value, Listed) else symbolic.symbolic(t, value)
    rest = owner.storage.memory.shape[1:]
    if len(new.shape) != len(rest):
        raise Refused("an element of a list becomes one of another number of dimensions")
    for n, m in zip(new.shape, rest, strict=True):
        same_size(t, n, m)
    sides = list(_sides(new, TRUE))  # before any store, which replaces what they show
    rows = [(a, guard) for a, guard in sides if _is_row(owner, a)]
    for a, guard in rows:
        _refer(t, owner, place, a.where[0], guard)
    for a, guard in sides:
        if not _is_row(owner, a):
            _put_array(t, owner, place, a, guard, appended)
    if len(rows) < len(sides) and value is not new:
        hold(t, owner.storage.memory, value)


def _sides(a: SymArray, guard: Expr) -> Iterator[tuple[SymArray, Expr]]:
    """The arrays that one may be, in their current state, each with its condition."""
    a = symbolic.current(a)
    if a.sides is None:
        yield a, guard
        return
    c, x, y = a.sides
    yield from _sides(x, ir.and_(guard, c))
    yield from _sides(y, ir.and_(guard, ir.not_(c)))


def _put_array(
    t: Tracer, owner: Listed, place: Expr, new: SymArray, guard: Expr, appended: bool
) -> None:
    """Make another object the element at a place from here on."""
    memory, rest = owner.storage.memory, owner.storage.memory.shape[1:]
    if memory.fixed is not None:
        raise Refused(*memory.fixed)
    symbolic.write_down(t, memory)
    row = place
    if not appended:
        row = _free_row(t, owner, place, guard)
        held = ir.and_(t.path, guard)
        before = symbolic.viewed(symbolic.in_memory_now(memory), rest, [row, *SLOTS[: len(rest)]])
        e = ir.where(held, symbolic.stored(before, memory.kind), ZERO)
        old = symbolic.build(t, rest, memory.kind, e, "old").memory
        old.origins, old.alike = list(memory.origins), memory.alike
        for m in old.origins:
            m.shown.append(old)
        noted = Replaced(held, row, old)
    target = symbolic.viewed(symbolic.in_memory_now(memory), rest, [row, *SLOTS[: len(rest)]])
    hold(t, memory, new)
    storing.write(t, target, new, guard, fresh=True)
    if not appended:
        memory.replace(noted)


def _is_row(owner: Listed, a: SymArray) -> bool:
    """Whether an array is all of an element of a list."""
    rest = owner.storage.memory.shape[1:]
    same = a.memory is owner.storage.memory and a.shape == rest
    return same and a.where[1:] == SLOTS[: len(rest)]


def _entry(a: SymArray, at: Expr) -> SymArray:
    return symbolic.viewed(symbolic.in_memory_now(a.memory), (), [at])


def _whole(e: Expr) -> SymArray:
    return symbolic.lazy((), "i", e)


def _refer(t: Tracer, owner: Listed, place: Expr, row: Expr, guard: Expr) -> None:
    """Make this row the element at a place from here on."""
    table, counts = owner.table, owner.counts
    assert table is not None and counts is not None
    if (fixed := owner.storage.memory.fixed) is not None:
        raise Refused(*fixed)
    old = symbolic.formula(_entry(table, place))
    for at, by in ((old, -1), (row, 1)):
        storing.write(t, _entry(counts, at), _whole(ir.const(by)), guard, add=True)
    storing.write(t, _entry(table, place), _whole(row), guard)


def _free_row(t: Tracer, owner: Listed, place: Expr, guard: Expr) -> Expr:
    """The row for another object at a place: that of its current element, unless another element
    is the same object."""
    table, counts = owner.table, owner.counts
    assert table is not None and counts is not None
    if not moved(owner):
        return place
    held = ir.and_(t.path, guard)
    own = ir.where(held, symbolic.formula(_entry(table, place)), ZERO)
    used = counts.memory.leaf
    assert used is not None
    several = ir.and_(held, ir.lt(ONE, load(used, own)))

    def step(at: tuple[Expr, ...], found: Expr) -> Expr:
        return ir.where(ir.eq(load(used, at[0]), ZERO), at[0], found)

    count = ir.where(several, counts.memory.shape[0], ZERO)
    row = nests.folded(t, (count,), own, "i", "free", step)
    for at, by in ((own, -1), (row, 1)):
        storing.write(t, _entry(counts, at), _whole(ir.const(by)), guard, add=True)
    storing.write(t, _entry(table, place), _whole(row), guard)
    return row


def together(t: Tracer, parts: Sequence[Any], items: SymArray) -> Listed:
    """The concatenation of several lists."""
    nests_ = {nest_of(p) for p in parts if not (isinstance(p, list) and not p)}
    if len(nests_) > 1:
        raise Refused("lists of different types of elements are joined")
    made = symbolic.listed(items, nests_.pop() if nests_ else "l")
    for p in parts if len(items.shape) > 1 else ():
        for v in p if isinstance(p, list) else (p,):
            hold(t, made.storage.memory, v)
    return made
