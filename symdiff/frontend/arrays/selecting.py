"""Elements of arrays of unknown size: indices, slices, masks, gathers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.frontend.arrays import rounded, symbolic
from symdiff.frontend.arrays.symbolic import SLOTS, formula, placed
from symdiff.frontend.loops import nests
from symdiff.frontend.trace import demands, scalars
from symdiff.frontend.trace.extents import common_shape, nonnegative, positive, same_size
from symdiff.frontend.trace.recorder import Retrace, active
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import (
    Integral,
    Listed,
    Real,
    Refused,
    Scalar,
    Selected,
    SmallArray,
    SymArray,
    Whole,
    as_real,
    describe,
    dimensions,
    is_number,
)
from symdiff.ir import ONE, TRUE, ZERO, Expr, loop_program
from symdiff.ir.integers import linear
from symdiff.ir.loop_program import Statement, Type, Update, array, load


def is_symbolic(key: Any) -> bool:
    """Whether an index is unknown when traced."""
    parts = key if isinstance(key, tuple) else (key,)
    ends = [e for k in parts for e in ((k.start, k.stop, k.step) if isinstance(k, slice) else (k,))]
    return any(isinstance(e, (Whole, Integral, SymArray, Listed, Selected)) for e in ends)


# ----------------------------------------------------------------------- indices
def position(t: Tracer, i: Any, n: Expr) -> Expr:
    """An integer index, counted from the start and checked to be in range."""
    if isinstance(i, bool) or not scalars.is_whole(i):
        message = f"{describe(i)} is used as an index"
        hint = demands.DICT_HINT if isinstance(i, str) else "an index must be an integer"
        refusal = demands.not_whole(t, i, message, hint)
        if isinstance(i, Integral):
            return _rounded(t, i, n)
        raise refusal
    if isinstance(i, int):
        e = ir.const(i) if i >= 0 else ir.sub(n, ir.const(-i))
        enough = ir.const(i + 1 if i >= 0 else -i)
        if not nonnegative(t, ir.sub(n, enough)):
            t.require(ir.le(enough, n), "index", f"index {i} is out of range")
        return e
    e = i.expr
    if not nonnegative(t, e):
        t.require(ir.le(ir.neg(n), e), "index", "an index is out of range")
        e = ir.where(ir.lt(e, ZERO), ir.add(e, n), e)
    if not nonnegative(t, ir.sub(n, ir.add(i.expr, ONE))):
        t.require(ir.lt(i.expr, n), "index", "an index is out of range")
    return e


def _rounded(t: Tracer, i: Integral, n: Expr) -> Expr:
    """A rounded number, such as int(x), as an index: found by bisection among all of them."""
    e = i.expr
    inside = ir.and_(ir.le(ir.neg(n), e), ir.lt(e, n))
    t.require(inside, "index", "an index is out of range")
    if n is ONE:
        return ZERO
    place = Real(ir.where(ir.lt(e, ZERO), ir.add(e, n), e), i.defined)
    others = t.call(np.arange, (1, scalars.whole(n)), {})
    return as_real(t.call(np.searchsorted, (others, place), {"side": "right"})).expr


def _whole(value: Any) -> Expr:
    """An end of a slice."""
    message = f"{describe(value)} is the end of a slice"
    return as_real(rounded.as_whole(active.get(), value, message)).expr


def _clipped(t: Tracer, value: Any, n: Expr, low: Expr, high: Expr) -> Expr:
    """An end of a slice, counted from the start of the axis and clipped to a range."""
    e = _whole(value)
    if isinstance(value, int) and value < 0:
        e = ir.add(n, e)
    elif not nonnegative(t, e):
        e = ir.where(ir.lt(e, ZERO), ir.add(e, n), e)
    if not nonnegative(t, ir.sub(e, low)):
        e = ir.where(ir.lt(e, low), low, e)
    return e if nonnegative(t, ir.sub(high, e)) else ir.where(ir.lt(high, e), high, e)


def _slice(t: Tracer, s: slice, n: Expr) -> tuple[Expr, Expr, Expr]:
    """(first, step, count) of a slice of an axis of n elements; a negative count means an empty
    slice."""
    step = 1 if s.step is None else s.step
    if isinstance(step, Scalar) and not scalars.is_whole(step):
        demands.retrace_integers(t, step.expr)
    if isinstance(step, bool) or not scalars.is_whole(step) or step == 0:
        raise Refused("the step of a slice must be an integer, and not 0")
    size = as_real(step).expr
    if not isinstance(step, int) and not positive(t, size):
        t.require(ir.lt(ZERO, size), "value", "the step of a slice that is not known when traced is not positive")  # fmt: skip
    if not isinstance(step, int) or step > 0:
        first = ZERO
        if isinstance(s.start, int) and s.start >= 0:
            first = _whole(s.start)
        elif s.start is not None:
            first = _clipped(t, s.start, n, ZERO, n)
        if s.stop is None:
            last = n
        elif isinstance(s.stop, int) and s.stop < 0:
            last = ir.add(n, _whole(s.stop))
        else:
            last = _clipped(t, s.stop, n, ZERO, n)
        span = ir.sub(last, first)
    else:
        top, below = ir.sub(n, ONE), ir.const(-1)
        first = top if s.start is None else _clipped(t, s.start, n, below, top)
        last = below if s.stop is None else _clipped(t, s.stop, n, below, top)
        span = ir.sub(first, last)
    span = linear(span)
    k = ir.const(abs(step)) if isinstance(step, int) else size
    if k is not ONE:
        span = ir.apply(loop_program.FLOORDIV, ir.add(span, ir.sub(k, ONE)), k)
    return first, size, span


# --------------------------------------------------------------------- selecting
@dataclass(slots=True)
class Target:
    """The selection of an index: the places of the elements, and whether index arrays select them.

    `mask` is the condition that selects among its first axes, if there is one.
    """

    shape: list[Expr]
    at: list[Expr]
    gather: bool = False
    mask: SymArray | None = None

    def part(self, t: Tracer, s: slice, n: Expr) -> None:
        """Select a slice of the next axis, of n elements."""
        first, step, count = _slice(t, s, n)
        self.at.append(ir.add(first, ir.mul(step, SLOTS[len(self.shape)])))
        self.shape.append(count)


def subscript(t: Tracer, a: SymArray, key: Any) -> Any:
    """`a[key]`: an element, a view for integers and slices, a formula for arrays."""
    target = select(t, a, key)
    if not target.shape:
        return symbolic.element(a, target.at)
    make = symbolic.gathered if target.gather else symbolic.viewed
    found = make(a, target.shape, target.at)
    return found if target.mask is None else Selected(symbolic.snapshot(found), target.mask)


def select(t: Tracer, a: SymArray, key: Any) -> Target:
    """The places of the elements of `a[key]`."""
    keys = [_array_key(t, k) for k in (key if isinstance(key, tuple) else (key,))]
    keys, mask = _without_mask(t, a, keys)
    used = sum(k is not None and k is not Ellipsis for k in keys)
    if used > len(a.shape):
        more_axes(t, a, used, "it is indexed")
        raise Refused(f"{used} indices for an array of {dimensions(len(a.shape))}")
    if len(keys) > 1:
        symbolic.must_have_rows(t, a)
    if not any(k is Ellipsis for k in keys):
        keys.append(Ellipsis)
    expanded: list[Any] = []
    for k in keys:
        expanded += [slice(None)] * (len(a.shape) - used) if k is Ellipsis else [k]
    if not any(isinstance(k, SymArray) for k in expanded):
        return _basic(t, a, expanded, mask)
    return _advanced(t, a, expanded)


def more_axes(t: Tracer, a: SymArray, rank: int, what: str) -> None:
    """Trace again with a parameter of more dimensions, if their number is a guess."""
    whole = a.sides is None and a.where == SLOTS[: len(a.memory.shape)]
    if whole and a.memory.leaf is not None and loop_program.name_of(a.memory.leaf) in t.guessed:
        raise Retrace(loop_program.name_of(a.memory.leaf), rank, what)


def _basic(t: Tracer, a: SymArray, keys: Sequence[Any], mask: SymArray | None) -> Target:
    """Integers, slices and new axes."""
    found = Target([], [], mask=mask)
    axes = iter(a.shape)
    for k in keys:
        if k is None:
            found.shape.append(ONE)
            continue
        n = next(axes)
        if isinstance(k, slice):
            found.part(t, k, n)
        else:
            found.at.append(position(t, k, n))
    return found


def _advanced(t: Tracer, a: SymArray, keys: Sequence[Any]) -> Target:
    """Index arrays among the indices: as in NumPy, their axes replace the first of them, or come
    first of all if the arrays are not adjacent."""
    which = [i for i, k in enumerate(keys) if isinstance(k, (SymArray, Whole, Integral, int))]
    grids = [k for k in keys if isinstance(k, SymArray)]
    together = common_shape(t, [g.shape for g in grids])
    adjacent = which == list(range(which[0], which[0] + len(which)))
    start = which[0] if adjacent else 0
    found = Target([], [], gather=True)
    axes, done = iter(a.shape), False
    if not adjacent:
        found.shape, done = list(together), True
    for k in keys:
        if k is None:
            found.shape.append(ONE)
            continue
        n = next(axes)
        if isinstance(k, slice):
            found.part(t, k, n)
            continue
        if not done:
            found.shape, done = [*found.shape, *together], True
        if isinstance(k, SymArray):
            grid = symbolic.broadcast(t, k, together)
            found.at.append(checked(t, placed(formula(grid), SLOTS[start:]), grid, n))
        else:
            found.at.append(position(t, k, n))
    return found


def _without_mask(t: Tracer, a: SymArray, keys: list[Any]) -> tuple[list[Any], SymArray | None]:
    """A leading mask, with slices in its place; any other mask as the indices that it selects."""
    masks = [k for k in keys if isinstance(k, SymArray) and k.kind == "b"]
    if not masks:
        return keys, None
    first, rest = keys[0], keys[1:]
    plain = all(k is Ellipsis or isinstance(k, (int, Whole, slice)) for k in rest)
    if first is masks[0] and len(masks) == 1 and plain:
        if len(first.shape) > len(a.shape):
            raise Refused(
                "a mask and the array that it selects from differ in shape", "use np.where"
            )
        for n, m in zip(first.shape, a.shape, strict=False):
            same_size(t, n, m)
        return [*[slice(None)] * len(first.shape), *rest], first
    found: list[Any] = []
    for k in keys:
        found += places(t, k) if isinstance(k, SymArray) and k.kind == "b" else [k]
    return found, None


def checked(t: Tracer, e: Expr, indices: SymArray, n: Expr) -> Expr:
    """The formula of an index array, counted from the start of an axis of n elements."""
    low = nonnegative(t, e)
    if not (low and nonnegative(t, ir.sub(n, ir.add(e, ONE)))):
        _check_all(t, indices, n)
    return e if low else ir.where(ir.lt(e, ZERO), ir.add(e, n), e)


def _check_all(t: Tracer, indices: SymArray, n: Expr) -> None:
    """Check that every element is an index of an axis of n elements."""

    def check(at: tuple[Expr, ...], _: Any) -> tuple[list[Statement], list[Expr]]:
        e = placed(formula(indices), at)
        inside = ir.and_(ir.le(ir.neg(n), e), ir.lt(e, n))
        fine = ir.or_(ir.not_(t.path), inside)
        return [t.check(fine, "index", "an index is out of range")], []

    for s in nests.loops(t, indices.shape, (), check)[0]:
        t.emit(s)


def _array_key(t: Tracer, k: Any) -> Any:
    k = demands.number_of(k)
    if isinstance(k, (list, SmallArray, np.ndarray, Listed, Selected)):
        k = symbolic.symbolic(t, k)
    if isinstance(k, SymArray) and k.kind == "f":
        if k.shape == (ZERO,):
            return symbolic.lazy(k.shape, "i", ZERO)
        demands.retrace_integers(t, formula(k))
        raise Refused("an array of real numbers is used as an index")
    if isinstance(k, SymArray) and not k.shape:
        k = symbolic.element(k, ())
    if isinstance(k, Scalar) and not isinstance(k, (Whole, Integral)):
        position(t, k, ONE)  # which refuses it
    return k


def as_integers(t: Tracer, value: Any) -> None:
    """Trace again with a parameter as an array of integers, if the value depends on one."""
    if isinstance(value, SymArray) and value.kind == "f":
        demands.retrace_integers(t, formula(value))


# ------------------------------------------------------------------------- masks
def places(t: Tracer, mask: SymArray) -> list[SymArray]:
    """The indices where a condition holds, by axis, as np.nonzero gives them."""
    symbolic.write_down_costly(t, mask, "mask")
    count = t.names.fresh("count")
    total = nests.folded(
        t, mask.shape, ZERO, "i", count,
        lambda at, k: ir.add(k, ir.where(placed(formula(mask), at), ONE, ZERO)),
    )  # fmt: skip
    empty = symbolic.build(t, (total,), "i", ZERO, "places")
    leaf, type = empty.memory.leaf, Type((total,), "i")
    assert leaf is not None

    def step(at: tuple[Expr, ...], now: Sequence[Expr]) -> tuple[list[Statement], list[Expr]]:
        k, found = now
        here = ZERO
        for i, n in zip(at, mask.shape, strict=True):
            here = ir.add(ir.mul(here, n), i)
        holds = placed(formula(mask), at)
        name = t.names.fresh("places")
        update = Update(name, loop_program.name_of(found), type, (k,), here, holds)
        return [update], [ir.where(holds, ir.add(k, ONE), k), array(name, "i")]

    states = (("count", loop_program.INTEGER, ZERO), ("places", type, leaf))
    block, (_, last) = nests.loops(t, mask.shape, states, step)
    for s in block:
        t.emit(s)
    e = load(last, SLOTS[0])
    result: list[SymArray] = []
    for n in reversed(mask.shape):
        inner = e if len(result) == len(mask.shape) - 1 else ir.apply(loop_program.MOD, e, n)
        result.append(symbolic.lazy((total,), "i", inner))
        e = ir.apply(loop_program.FLOORDIV, e, n)
    t.sizes.add(total)
    return result[::-1]


def compacted(t: Tracer, chosen: Selected) -> SymArray:
    """The elements that a condition selects as an array, whose size depends on values."""
    indices = places(t, chosen.present)
    rank = len(chosen.present.shape)
    rest = chosen.items.shape[rank:]
    at = [placed(formula(i), SLOTS[:1]) for i in indices]
    at += [SLOTS[k + 1] for k in range(len(rest))]
    return symbolic.gathered(chosen.items, (*indices[0].shape, *rest), at)


def count_of(t: Tracer, chosen: Selected) -> Expr:
    """The number of elements that a condition selects."""
    e = formula(chosen.present)
    return nests.folded(
        t, chosen.present.shape, ZERO, "i", "count",
        lambda at, k: ir.add(k, ir.where(placed(e, at), ONE, ZERO)),
    )  # fmt: skip


def one_of(t: Tracer, values: Sequence[Any], i: Any) -> Any:
    """The element of a list at an index that is unknown when traced; stores in it reach the element
    that the index selects."""
    whole = rounded.as_whole(t, i, f"{describe(i)} is used as an index")
    k = position(t, whole, ir.const(len(values)))
    found = values[-1] if values else None
    for n in range(len(values) - 2, -1, -1):
        here = ir.eq(k, ir.const(n))
        if isinstance(found, SymArray) and isinstance(values[n], SymArray):
            found = symbolic.merged(here, values[n], found)
        elif is_number(found) and is_number(values[n]):
            found = scalars.select(here, TRUE, values[n], found)
        else:
            found = None
    if not isinstance(found, SymArray) and not is_number(found):
        raise Refused(
            "a list is indexed by what is not known when traced",
            "its elements must be numbers, or arrays of as many dimensions; or use an array",
        )
    return found
