"""Arrays of unknown size: formulas of indices, and views of memory.

Elementwise operations and views make no statements: they compose formulas. Arrays that are
stored, reduced or given a name become statements of `symdiff.ir.loop_program`. A formula keeps
the state of the memory that it was made from; a view sees later stores, as in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.frontend.arrays.small import asarray
from symdiff.frontend.trace import array_memory, demands, scalars
from symdiff.frontend.trace.aliases import shown
from symdiff.frontend.trace.array_memory import Memory
from symdiff.frontend.trace.defined import masked
from symdiff.frontend.trace.domains import by_side
from symdiff.frontend.trace.extents import common_shape, extent, positive, repeated, same_size
from symdiff.frontend.trace.recorder import UNKNOWN, active, numbers_only
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import (
    Cond,
    Integral,
    Listed,
    Real,
    Refused,
    Selected,
    SmallArray,
    SymArray,
    as_real,
    describe,
    dimensions,
    is_number,
    of_integers,
    written,
)
from symdiff.ir import ONE, TRUE, ZERO, Expr, loop_program
from symdiff.ir.loop_program import Build, Type, Update, array, index, load

MAX_RANK, SLOTS = array_memory.MAX_RANK, array_memory.SLOTS

LETTERS = "ijklmnpq"


def placed(e: Expr, indices: Sequence[Expr]) -> Expr:
    """A formula of the slots at given indices."""
    return ir.substitute((e,), dict(zip(SLOTS, indices, strict=False)))[0]


def scalar_of(e: Expr, kind: str, defined: Expr = TRUE, plain: Expr | None = None) -> Any:
    """An element of an array of this kind as a traced value."""
    if kind == "b":
        return scalars.cond(e if e.op.boolean else ir.eq(e, ONE), defined)
    return scalars.whole(e) if kind == "i" else Real(e, defined, plain)


STALE = (
    "an array that may have been changed through another name, in a loop or reshaped",
    "make a copy of it before: np.copy(...)",
)


SHARED_ROWS = (
    "a list whose elements may have been changed through other names, which it would share them with",
    "put copies into the list: .append(st.copy())",
)
REPLACED_ROWS = (
    "an element of a list is read that may have been replaced in a loop since it had this name",
    "make a copy of it before the loop: rows[0].copy()",
)


def current(a: SymArray) -> SymArray:
    """A view in its current state: an object that was replaced in a list is still itself."""
    if a.sides is not None:
        return a
    found = a
    for r in reversed(a.memory.replaced()[a.seen :]):
        if r is None:
            raise Refused(*REPLACED_ROWS)
        if found is a:
            found = SymArray(a.shape, a.kind, a.memory, a.where)
        here = ir.and_(r.guard, ir.eq(a.where[0], r.row))
        if here is not ir.FALSE:
            gone = SymArray(a.shape, a.kind, r.old, a.where[1:])
            sides = (here, gone, found)
            found = gone if here is TRUE else SymArray(a.shape, a.kind, a.memory, a.where, sides)
    return found


def formula(a: SymArray) -> Expr:
    """The element of an array, in its current state, at the slots."""
    a = current(a)
    if a.sides is not None:
        c, x, y = a.sides
        return ir.where(c, as_kind(x, a.kind), as_kind(y, a.kind))
    if a.memory.stale:
        raise Refused(*(SHARED_ROWS if a.memory.rows else STALE))
    if a.memory.leaf is None:
        return placed(a.memory.element, a.where)
    e = load(a.memory.leaf, *a.where)
    return ir.eq(e, ONE) if a.kind == "b" else e


def unlike(a: SymArray) -> Expr | None:
    """The plain value of the element at the slots; None if it is that of the formula."""
    if a.sides is not None:
        c, x, y = a.sides
        if a.kind != "f":
            return None
        one, two = unlike(x), unlike(y)  # once each: sides may have sides
        if one is two is None:
            return None
        return ir.where(c, _plainly(x, one), _plainly(y, two))
    if a.memory.leaf is not None or a.memory.plain is None:
        return None
    return placed(a.memory.plain, a.where)


def plainly(a: SymArray) -> Expr:
    """The element at the slots for use in decisions."""
    return _plainly(a, unlike(a))


def _plainly(a: SymArray, computed: Expr | None) -> Expr:
    return written(Real(formula(a), TRUE, computed))


def needs(a: SymArray) -> Expr:
    """Where the element at the slots is defined, as far as its formula does not show it."""
    a = current(a)
    if a.sides is not None:
        c, x, y = a.sides
        return by_side(c, needs(x), needs(y))
    return placed(a.memory.defined, a.where) if a.memory.leaf is None else TRUE


def as_kind(a: SymArray, kind: str) -> Expr:
    """The element at the slots as one of an array of another kind."""
    e = formula(a)
    if a.kind == kind or (kind == "f" and a.kind == "i"):
        return e
    if a.kind == "b":
        return ir.where(e, ONE, ZERO)
    if kind == "b":
        return ir.ne(e, ZERO)
    if active.get().shapes is not None:
        demands.retrace_integers(active.get(), e)
    raise Refused(
        "a real number is stored in an array of integers",
        "make the array one of floats, such as np.zeros(n)",
    )


def stored(a: SymArray, kind: str) -> Expr:
    """The element at the slots converted to this kind for memory; nan where undefined."""
    e = as_kind(a, kind)
    return ir.where(e, ONE, ZERO) if kind == "b" else masked(e, needs(a))


def element(a: SymArray, indices: Sequence[Expr]) -> Any:
    """The element at these indices, which must be in range."""
    plain = unlike(a)
    plain = None if plain is None else placed(plain, indices)
    return scalar_of(_known(placed(formula(a), indices)), a.kind, placed(needs(a), indices), plain)


def _known(e: Expr) -> Expr:
    """A formula with elements of data replaced by their numbers, at indices known when traced."""
    t = active.get(None)
    data = {} if t is None else t.data  # parameters are made before a trace begins
    found: dict[Expr, Expr] = {}
    for n in ir.topological((e,)) if data else ():
        if n.op is loop_program.LOAD and loop_program.name_of(n.args[0]) in data:
            at = [ir.integer(i) for i in n.args[1:]]
            if None not in at:
                value = data[loop_program.name_of(n.args[0])][tuple(at)].item()
                found[n] = ir.NAN if np.isnan(value) else ir.const(value)
    return ir.substitute((e,), found)[0] if found else e


# ------------------------------------------------------------------------ making
def lazy(
    shape: Sequence[Expr], kind: str, e: Expr, defined: Expr = TRUE, plain: Expr | None = None
) -> SymArray:
    """The array whose element at the slots is a formula."""
    if len(shape) > MAX_RANK:
        raise Refused(f"an array of more than {dimensions(MAX_RANK)}")
    memory = Memory(tuple(shape), kind, element=e, defined=defined, plain=plain)
    return SymArray(memory.shape, kind, memory, SLOTS[: len(shape)])


def from_formula(shape: Sequence[Expr], value: Any) -> SymArray:
    """The array whose element at the slots is a scalar."""
    if isinstance(value, (bool, Cond)):
        c = scalars.as_cond(value)
        return lazy(shape, "b", c.expr, c.defined)
    x = as_real(value)
    whole = scalars.is_whole(value)
    if isinstance(value, Integral):
        whole = of_integers.get() or loop_program.kind_of(x.expr) == "i"
    return lazy(shape, "i" if whole else "f", x.expr, x.defined, x.plain)


def in_memory(leaf: Expr, shape: Sequence[Expr], kind: str) -> SymArray:
    """The array that a name of the block denotes."""
    memory = Memory(tuple(shape), kind, leaf)
    return SymArray(memory.shape, kind, memory, SLOTS[: len(memory.shape)])


def in_memory_now(memory: Memory) -> SymArray:
    """All of a memory."""
    return SymArray(memory.shape, memory.kind, memory, SLOTS[: len(memory.shape)])


MAPS = 4
"""Index maps at which a formula may read one array, where it is read at another map itself: a formula of
differences of differences, and so on, would grow with each."""


def _stored_if_wide(a: SymArray, at: Sequence[Expr]) -> None:
    """Compute a formula that reads an array at many index maps once, before it is read at another one."""
    memory = a.memory
    if memory.leaf is not None or not memory.shape or tuple(at) == SLOTS[: len(memory.shape)]:
        return
    maps: dict[Expr, set[tuple[Expr, ...]]] = {}
    for n in ir.topological((memory.element,)):
        if n.op is loop_program.LOAD:
            maps.setdefault(n.args[0], set()).add(n.args[1:])
    if any(len(found) > MAPS for found in maps.values()):
        t = active.get()
        t.must_not_be_lazy()
        write_down(t, memory)


def viewed(a: SymArray, shape: Sequence[Expr], at: Sequence[Expr]) -> SymArray:
    """A view of an array, given the indices of the element at the slots."""
    a, sides = current(a), None
    _stored_if_wide(a, at)
    if a.sides is not None:
        c, x, y = a.sides
        sides = placed(c, at), viewed(x, shape, at), viewed(y, shape, at)
    return SymArray(tuple(shape), a.kind, a.memory, tuple(placed(w, at) for w in a.where), sides)


def gathered(a: SymArray, shape: Sequence[Expr], at: Sequence[Expr]) -> SymArray:
    """The same as a formula, which does not see later stores."""
    _stored_if_wide(a, at)
    plain = unlike(a)
    plain = None if plain is None else placed(plain, at)
    return lazy(shape, a.kind, placed(formula(a), at), placed(needs(a), at), plain)


def listed(items: SymArray, nest: str) -> Listed:
    """The list of the rows of an array that nothing else shows; for numbers, the array."""
    if len(items.shape) == 1 or nest[0] == "t":
        return Listed(items, nest)
    if items.where != SLOTS[: len(items.shape)] or items.sides is not None:
        items = snapshot(items)
    items.memory.rows = True
    count = items.memory.shape[:1]
    table, counts = lazy(count, "i", SLOTS[0]), lazy(count, "i", ONE)
    return Listed(items, nest, viewed(table, items.shape[:1], SLOTS[:1]), counts)


def snapshot(a: SymArray) -> SymArray:
    """The array in its current state."""
    return lazy(a.shape, a.kind, formula(a), needs(a), unlike(a))


_VIEWED = (
    "an array that may show a selection by a condition is changed",
    "make a copy of it first: np.copy(...)",
)


def symbolic(t: Tracer, value: Any) -> SymArray:
    """Any array, nested sequence or number as a symbolic array. The number of rows of a list is
    recorded: an empty list becomes an array without a second axis."""
    if isinstance(value, SymArray):
        return value
    if isinstance(value, Listed):
        t.rows_of_lists.update(
            value.items.shape[: min(len(value.nest), len(value.items.shape) - 1)]
        )
        return snapshot(value.items)
    if isinstance(value, Selected):
        made = t.compacted(value)
        if shown(t.frame, value):
            made.memory.fixed, made.memory.selection = _VIEWED, value
        return made
    if is_number(value):
        return from_formula((), value)
    if isinstance(value, (list, tuple)) and _holds_symbolic(value):
        return stacked(t, [symbolic(t, v) for v in value])
    if isinstance(value, np.ndarray) and value.size > t.size_limit:
        return of_data(t, value)
    return of_small(t, asarray(value))


def must_have_rows(t: Tracer, a: SymArray) -> None:
    """Refuse to show the second axis of an array created from a list without elements."""
    for n in a.shape if len(a.shape) > 1 else ():
        if n in t.rows_of_lists:
            must_be_some(t, n)


def with_rows(t: Tracer, value: Any) -> SymArray:
    """An array whose number of dimensions may be used."""
    a = symbolic(t, value)
    must_have_rows(t, a)
    return a


def must_be_some(t: Tracer, count: Expr) -> None:
    """Refuse a list without elements where an array is created from it."""
    if not positive(t, count):
        what = "a list without elements becomes an array, whose shape it does not say"
        t.require(ir.ne(count, ZERO), "value", what)


def _holds_symbolic(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_holds_symbolic, value))
    return isinstance(value, (SymArray, Listed, Selected))


def stacked(t: Tracer, rows: Sequence[SymArray]) -> SymArray:
    """Arrays of one shape as the rows of a new one."""
    if len({len(r.shape) for r in rows}) > 1:
        raise numbers_only("an element of an array", "the rows of an array have different lengths")
    shape = rows[0].shape
    for r in rows[1:]:
        for n, m in zip(shape, r.shape, strict=True):
            same_size(t, n, m)
    kind = common_kind(rows)
    at = [SLOTS[k + 1] for k in range(len(shape))]
    parts = list(rows)
    value, defined = placed(as_kind(parts[-1], kind), at), placed(needs(parts[-1]), at)
    for k in range(len(parts) - 2, -1, -1):
        here = ir.eq(SLOTS[0], ir.const(k))
        value = ir.where(here, placed(as_kind(parts[k], kind), at), value)
        defined = by_side(here, placed(needs(parts[k]), at), defined)
    return lazy((ir.const(len(rows)), *shape), kind, value, defined)


def common_kind(parts: Sequence[SymArray]) -> str:
    """The kind of an array that holds the elements of several."""
    return next(k for k in "fib" if any(p.kind == k for p in parts))


MAX_CHOICES = 64


def of_small(t: Tracer, small: SmallArray) -> SymArray:
    """A small array as a formula of its indices, or as memory."""
    shape = tuple(ir.const(n) for n in small.items.shape)
    flat = [_plain_element(v, small.kind) for v in small.items.ravel()]
    if small.kind == "i" and any(loop_program.kind_of(e) != "i" for e in flat):
        small = SmallArray(small.items, "f")  # integers that are computed as real numbers
    if not flat or all(e is flat[0] for e in flat):
        return lazy(shape, small.kind, flat[0] if flat else ZERO)
    t.must_not_be_lazy()
    if len(flat) > MAX_CHOICES or (len(flat) > 4 and all(e.op is ir.CONST for e in flat)):
        return _in_memory(t, small)
    position = ZERO
    for slot, n in zip(SLOTS, shape, strict=False):
        position = ir.add(ir.mul(position, n), slot)
    value = flat[-1]
    for k in range(len(flat) - 2, -1, -1):
        value = ir.where(ir.eq(position, ir.const(k)), flat[k], value)
    return lazy(shape, small.kind, value)


def _plain_element(value: Any, kind: str) -> Expr:
    if kind == "b":
        return scalars.as_cond(value).expr
    x = as_real(value)
    return masked(x.expr, x.defined)


def _in_memory(t: Tracer, small: SmallArray) -> SymArray:
    """A small array in memory: its known elements as data, the others stored."""
    data = np.zeros(small.items.shape, float if small.kind == "f" else np.int64)
    rest = []
    for k, v in np.ndenumerate(small.items):
        x = as_real(v)
        e = masked(x.expr, x.defined)
        if e.op is ir.CONST:
            data[k] = float(e.value)
        else:
            rest.append((k, e))
    known = of_data(t, data, small.kind)
    if not rest:
        return known
    leaf = leaf_of(t, known)
    for k, e in rest:
        name = t.names.fresh("elements")
        at = tuple(ir.const(i) for i in k)
        source = loop_program.name_of(leaf)
        t.emit(Update(name, source, Type(known.shape, small.kind), at, e))
        leaf = array(name, small.kind)
    return in_memory(leaf, known.shape, small.kind)


def of_data(t: Tracer, values: np.ndarray[Any, Any], kind: str | None = None) -> SymArray:
    """The user's data that is known when traced."""
    if values.dtype.kind not in "biuf":
        raise Refused(f"an array of dtype {values.dtype} is used", "use real numbers")
    kind = kind or values.dtype.kind.replace("u", "i")
    shape = tuple(ir.const(n) for n in values.shape)
    if kind == "b":
        there = load(constant(t, values, "i"), *SLOTS[: len(shape)])
        return lazy(shape, kind, ir.eq(there, ONE))
    return in_memory(constant(t, values, kind), shape, kind)


def constant(t: Tracer, data: np.ndarray[Any, Any], kind: str) -> Expr:
    """Data known when traced, as an array."""
    held = data.astype(np.float64 if kind == "f" else np.int64)
    for name, known in t.data.items():
        if known.dtype == held.dtype and known.shape == held.shape:
            if known.tobytes() == held.tobytes():
                return array(name, kind)
    name = t.names.fresh("data")
    t.data[name] = held
    return array(name, kind)


# ------------------------------------------------------------------------ memory
def build(
    t: Tracer, shape: Sequence[Expr], kind: str, value: Expr, name: str = "array"
) -> SymArray:
    """A new array in memory whose elements are a formula of the slots, converted to its kind."""
    s = statement(t, shape, kind, value, name)
    t.emit(s)
    return in_memory(array(s.name, kind), shape, kind)


def statement(t: Tracer, shape: Sequence[Expr], kind: str, value: Expr, name: str) -> Build:
    """The statement that writes every element of a new array."""
    letters = fresh_letters(t, len(shape))
    e = placed(value, [index(i) for i in letters])
    axes = tuple(extent(t, n) for n in shape)
    return Build(t.names.fresh(name), Type(axes, kind), letters, e)


def fresh_letters(t: Tracer, count: int) -> tuple[str, ...]:
    """Names for indices."""
    return tuple(t.names.fresh(LETTERS[k]) for k in range(count))


def write_down(t: Tracer, memory: Memory, name: str = "array") -> None:
    """Compute the elements of a formula once, where it was made."""
    if memory.leaf is not None:
        return
    if not memory.shape:
        raise Refused("an array without dimensions is changed", "use a number")
    e = stored(SymArray(memory.shape, memory.kind, memory, SLOTS[: len(memory.shape)]), memory.kind)
    s = statement(t, memory.shape, memory.kind, e, memory.name or name)
    t.emit_where_made(memory, s)
    memory.leaf = array(s.name, memory.kind)


def leaf_of(t: Tracer, a: SymArray) -> Expr:
    """The array as a name of the block: its memory if it is all of it, else a copy."""
    if not a.shape:
        raise Refused("an array without dimensions")
    a = current(a)
    if a.memory.stale and a.sides is None:
        raise Refused(*(SHARED_ROWS if a.memory.rows else STALE))
    whole = (
        a.where == SLOTS[: len(a.shape)] and a.shape == a.memory.shape and a.kind == a.memory.kind
    )
    if a.sides is not None or not whole:
        a = build(t, a.shape, a.kind, stored(a, a.kind))
    write_down(t, a.memory)
    assert a.memory.leaf is not None
    return a.memory.leaf


def write_down_costly(t: Tracer, a: SymArray, name: str) -> None:
    """Compute a named formula once, if it costs more than reading."""
    if t.lazy:
        return
    if a.sides is not None:
        for side in a.sides[1:]:
            write_down_costly(t, side, name)
    elif a.memory.leaf is None and a.memory.shape and _costly(a.memory.element):
        write_down(t, a.memory, name)


def reused(t: Tracer, a: SymArray) -> SymArray:
    """The array for a use that reads its elements many times."""
    write_down_costly(t, a, "array")
    return a


_CHEAP = frozenset((
    *ir.ARITHMETIC[:5], ir.WHERE, ir.LT, ir.LE, ir.EQ, ir.NOT, ir.AND, ir.OR, loop_program.LOAD,
))  # fmt: skip
"""Operations that cost less than a read of memory."""


def _costly(e: Expr) -> bool:
    inner = [n for n in ir.topological((e,)) if n.args]
    return len(inner) > 12 or any(n.op not in _CHEAP for n in inner)


# ------------------------------------------------------------------ broadcasting
def broadcast(t: Tracer, a: SymArray, shape: Sequence[Expr]) -> SymArray:
    """A formula of a larger shape."""
    if tuple(shape) == a.shape:
        return a
    offset = len(shape) - len(a.shape)
    if offset < 0:
        raise Refused(f"an array of {dimensions(len(a.shape))} is used as one of {len(shape)}")
    if a.shape:
        reused(t, a)
    at = [
        ZERO if repeated(n, shape[k + offset]) else SLOTS[k + offset] for k, n in enumerate(a.shape)
    ]
    return gathered(a, shape, at)


def elementwise(t: Tracer, f: Callable[..., Any], *values: Any) -> Any:
    """A scalar function applied to arrays and numbers."""
    if (found := _on_selected(t, f, values)) is not None:
        return found
    arrays = [symbolic(t, v) for v in values]
    if t.rows_of_lists:
        _must_fit_rows(t, arrays)
    shape = common_shape(t, [a.shape for a in arrays])
    parts = [broadcast(t, a, shape) for a in arrays]
    value = f(*(element(p, SLOTS) for p in parts))
    t.elements += UNKNOWN
    if not is_number(value):
        raise Refused(f"{describe(value)} is put into an array", "arrays hold numbers")
    return from_formula(shape, value) if shape else value


def _must_fit_rows(t: Tracer, arrays: Sequence[SymArray]) -> None:
    """Refuse lists without elements together with arrays that do not come from the same lists: their
    second axis would have to fit, and there is none."""
    for a in arrays:
        rows = [n for n in a.shape[:-1] if n in t.rows_of_lists]
        for b in arrays if rows else ():
            if b.shape and not all(n in b.shape[:-1] for n in rows):
                must_have_rows(t, a)


def _on_selected(t: Tracer, f: Callable[..., Any], values: Sequence[Any]) -> Selected | None:
    """Elements that the same condition selects, combined; None for different conditions."""
    chosen = next((v for v in values if isinstance(v, Selected)), None)
    if chosen is None:
        return None
    same = formula(chosen.present)
    for v in values:
        if isinstance(v, Selected):
            if formula(v.present) is not same or v.present.shape != chosen.present.shape:
                return None
        elif not is_number(v) and not chosen.in_place:
            return None
    plain = [v.items if isinstance(v, Selected) else v for v in values]
    return Selected(elementwise(t, f, *plain), chosen.present, in_place=chosen.in_place)


def merged(condition: Expr, a: SymArray, b: SymArray) -> SymArray | None:
    """The array that is one or the other; None if their dimensions differ. Stores in it reach the
    one that it is."""
    if len(a.shape) != len(b.shape):
        return None
    kind = common_kind((a, b))
    shape = tuple(
        n if n is m else ir.where(condition, n, m) for n, m in zip(a.shape, b.shape, strict=True)
    )
    return SymArray(shape, kind, a.memory, a.where, (condition, a, b))
