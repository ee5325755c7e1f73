"""Storing in arrays of unknown size: elements, slices, and selections by masks and index arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from symdiff import ir
from symdiff.frontend.arrays import casting, rounded, symbolic
from symdiff.frontend.arrays.selecting import places, select
from symdiff.frontend.arrays.symbolic import SLOTS, formula, placed
from symdiff.frontend.loops import nests
from symdiff.frontend.trace import demands
from symdiff.frontend.trace.extents import fits
from symdiff.frontend.trace.recorder import numbers_only
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import (
    Refused,
    Selected,
    SmallArray,
    SymArray,
    is_number,
    python_kind,
)
from symdiff.ir import ONE, TRUE, ZERO, Expr, loop_program
from symdiff.ir.integers import degree, linear
from symdiff.ir.loop_program import Statement, Type, Update, array, load


def store(t: Tracer, a: SymArray, key: Any, value: Any) -> None:
    """`a[key] = value`."""
    target = select(t, a, key)
    view = symbolic.viewed(a, target.shape, target.at)
    if target.mask is not None:
        new = _where_present(t, view, target.mask, value)
        if new is not None:
            write(t, view, new, formula(target.mask))
            return
        view = compacted_view(t, view, target.mask)
    new = symbolic.symbolic(t, value)
    if len(new.shape) > len(view.shape):
        extra = new.shape[: len(new.shape) - len(view.shape)]
        if any(n is not ONE for n in extra):
            message = "an array is stored in fewer dimensions than it has"
            raise Refused(message) if view.shape else numbers_only("an element that is stored", message)  # fmt: skip
        new = symbolic.gathered(
            new, new.shape[len(extra) :], [*[ZERO] * len(extra), *SLOTS[: len(view.shape)]]
        )
    for n, m in zip(reversed(new.shape), reversed(view.shape), strict=False):
        fits(t, n, m)
    write(t, view, symbolic.broadcast(t, new, view.shape))


def _where_present(t: Tracer, view: SymArray, mask: SymArray, value: Any) -> SymArray | None:
    """The array stored where a mask selects, if that does not need the number of selected
    elements."""
    if isinstance(value, Selected):
        same = formula(value.present) is formula(mask)
        fits = same and len(value.items.shape) == len(view.shape)
        return value.items if fits else None
    new = symbolic.symbolic(t, value)
    if len(new.shape) > len(view.shape) - len(mask.shape):
        return None
    return symbolic.broadcast(t, new, view.shape)


def compacted_view(t: Tracer, view: SymArray, mask: SymArray) -> SymArray:
    """A view of the elements that a mask selects."""
    indices = places(t, mask)
    rest = view.shape[len(mask.shape) :]
    at = [formula(i) for i in indices] + [SLOTS[k + 1] for k in range(len(rest))]
    return symbolic.viewed(view, (*indices[0].shape, *rest), at)


def write(
    t: Tracer, target: SymArray, new: SymArray, guard: Expr = TRUE, add: bool = False, fresh: bool = False
) -> None:  # fmt: skip
    """Store a formula in a view under the path and where a guard of the slots holds; `fresh`: as
    another object, which replaces a row of a list."""
    target = symbolic.current(target)
    if target.sides is None:
        if not fresh:
            t.aliases.spoil(target.memory)
        _write(t, target, new, ir.and_(t.path, guard), add)
        return
    c, x, y = target.sides
    new = symbolic.build(t, new.shape, new.kind, symbolic.stored(new, new.kind)) if new.shape else new  # fmt: skip
    write(t, x, new, ir.and_(c, guard), add)
    write(t, y, new, ir.and_(ir.not_(c), guard), add)


def _write(t: Tracer, target: SymArray, new: SymArray, guard: Expr, add: bool) -> None:
    memory = target.memory
    if memory.fixed is not None:
        raise Refused(*memory.fixed)
    t.changes.add(memory.parameter)
    t.by_rows |= memory.reshaped
    symbolic.write_down(t, memory)
    assert memory.leaf is not None
    kind, own = memory.kind, Type(memory.shape, memory.kind)
    value = symbolic.stored(_held(t, new, kind), kind)
    whole = target.where == SLOTS[: len(memory.shape)] and target.shape == memory.shape
    if target.shape and whole:
        old = load(memory.leaf, *target.where)
        value = ir.where(guard, ir.add(old, value) if add else value, old)
        s = symbolic.statement(t, memory.shape, kind, value, loop_program.name_of(memory.leaf))
        t.emit(s)
        t.set_memory(memory, array(s.name, kind))
        return
    if target.shape and _reads_elsewhere((value, guard), memory.leaf, target):
        # as NumPy does: everything is read before anything is stored
        value = formula(symbolic.build(t, target.shape, "f" if kind == "f" else "i", value))
        if _reads_elsewhere((guard,), memory.leaf, target):
            held = symbolic.build(t, target.shape, "b", ir.where(guard, ONE, ZERO))
            guard = formula(held)

    def step(at: tuple[Expr, ...], now: Sequence[Expr]) -> tuple[list[Statement], list[Expr]]:
        name = t.names.fresh(loop_program.name_of(now[0]))
        where = tuple(placed(w, at) for w in target.where)
        source = loop_program.name_of(now[0])
        e, here = placed(value, at), placed(guard, at)
        return [Update(name, source, own, where, e, here, add)], [array(name, kind)]

    states = ((loop_program.name_of(memory.leaf), own, memory.leaf),)
    block, (last,) = nests.loops(t, target.shape, states, step)
    for statement in block:
        t.emit(statement)
    t.set_memory(memory, last)


_RANKS = "bif"


def must_hold(t: Tracer, target: Any, value: Any) -> None:
    """Refuse an operation in place whose result NumPy does not cast to the kind of the array."""
    if not isinstance(target, (SymArray, SmallArray, Selected)) or target.kind == "f":
        return
    kind = python_kind(value) if is_number(value) else getattr(value, "kind", target.kind)
    if _RANKS.index(kind) <= _RANKS.index(target.kind):
        return
    casting.must_not_follow()
    if kind == "f":
        items = value.items if isinstance(value, Selected) else value
        demands.retrace_integers(t, formula(symbolic.symbolic(t, items)))
    names = {"b": "truth values", "i": "integers", "f": "floats"}
    raise Refused(
        f"an array of {names[target.kind]} is changed in place to {names[kind]}, which NumPy refuses",
        "make a new array: a = a + ..., or convert it first with .astype(float)",
    )


def _held(t: Tracer, value: SymArray, kind: str) -> SymArray:
    """A formula as the elements of an array of a kind: floats are rounded towards zero."""
    casting.note_store(kind)
    if kind != "i" or value.kind != "f":
        return value
    casting.must_not_follow()
    return rounded.as_wholes(t, value)


def _reads_elsewhere(roots: Iterable[Expr], leaf: Expr, target: SymArray) -> bool:
    """Whether storing one element may change the operands of another."""
    loads = [n for n in ir.topological(tuple(roots)) if n.args and n.args[0] is leaf]
    if all(n.args[1:] == target.where for n in loads):
        return bool(loads) and not one_to_one(target)
    return True


def one_to_one(target: SymArray) -> bool:
    """Whether the elements of a view visibly have different places."""
    found = set()
    for w in target.where:
        slots = [n for n in ir.topological((w,)) if n in SLOTS]
        if len(slots) != 1 or degree(w, slots[0]) > 2:
            continue
        at = [placed(w, [ir.const(k)] * len(SLOTS)) for k in (0, 1, 2)]
        steps = [ir.rational(linear(ir.sub(at[k + 1], at[k]))) for k in (0, 1)]
        if steps[0] and steps[0] == steps[1]:
            found.add(slots[0])
    return all(SLOTS[k] in found for k in range(len(target.shape)))


def add_at(t: Tracer, a: SymArray, key: Any, value: Any) -> None:
    """`np.add.at(a, key, value)`: repeated places add up."""
    must_hold(t, a, value)
    target = select(t, a, key)
    view = symbolic.viewed(a, target.shape, target.at)
    guard = TRUE if target.mask is None else formula(target.mask)
    new = symbolic.symbolic(t, value)
    if target.mask is not None and new.shape:
        view, guard = compacted_view(t, view, target.mask), TRUE
    for n, m in zip(reversed(new.shape), reversed(view.shape), strict=False):
        fits(t, n, m)
    write(t, view, symbolic.broadcast(t, new, view.shape), guard, add=True)
