"""NumPy's functions that make arrays, or copies, and that search in them."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.frontend.arrays import casting, rounded, selecting, storing, symbolic
from symdiff.frontend.arrays import small as arrays
from symdiff.frontend.arrays.small import asarray, dtype_kind
from symdiff.frontend.arrays.symbolic import SLOTS, formula, from_formula, lazy, needs, placed
from symdiff.frontend.library.numpy.either import array_from, sizes_of
from symdiff.frontend.library.numpy.shapes import contiguous, ravel
from symdiff.frontend.loops import sequences
from symdiff.frontend.syntax.containers import plain
from symdiff.frontend.trace import demands, scalars
from symdiff.frontend.trace.defined import masked
from symdiff.frontend.trace.demands import used_as_array
from symdiff.frontend.trace.extents import dims, new_shape, same_size, shape_of, size
from symdiff.frontend.trace.recorder import active
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import (
    Integral,
    Real,
    Refused,
    SmallArray,
    SymArray,
    Whole,
    array_of,
    as_float,
    as_real,
    describe,
    number,
    written,
)
from symdiff.frontend.trace.values import Sequence as Unknown
from symdiff.ir import ONE, ZERO, Expr, loop_program
from symdiff.ir.integers import SHORT, linear
from symdiff.ir.loop_program import FLOORDIV, Build, Carried, Loop, Type, array, index

Function = Callable[..., Any]


def converted(a: SymArray, kind: str | None, dtype: Any = None) -> SymArray:
    """The array with the kind of a given dtype."""
    if kind is None or kind == a.kind:
        return a
    if kind == "i" and a.kind == "f":
        casting.must_not_follow(dtype)
        return rounded.as_wholes(active.get(), a)
    return lazy(a.shape, kind, symbolic.as_kind(a, kind), needs(a))


def copied(t: Tracer, value: Any, dtype: Any = None, copy: Any = True) -> Any:
    """A new array with the same elements."""
    kind = dtype_kind(dtype)
    if not sequences.involved((value,)):
        value = arrays.converted(asarray(value), kind, dtype)
        if t.size_limit >= 0 or not value.items.ndim:
            return t.own(arrays.copied(value))
    a = symbolic.symbolic(t, value)
    return symbolic.snapshot(a if kind is None or kind == a.kind else converted(a, kind, dtype))


def _asarray(t: Tracer, value: Any, dtype: Any = None) -> Any:
    if isinstance(value, SmallArray):
        return arrays.converted(value, dtype_kind(dtype), dtype)
    if not sequences.involved((value,)):
        return copied(t, value, dtype)
    return converted(symbolic.symbolic(t, value), dtype_kind(dtype), dtype)


def _contiguous(t: Tracer, value: Any, dtype: Any = None) -> SymArray:
    return contiguous(t, symbolic.symbolic(t, _asarray(t, value, dtype)))


def filled(t: Tracer, shape: Any, value: Any, kind: str | None) -> Any:
    """A new array with the same number everywhere."""
    sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    value = 0 if value is EMPTY and kind == "i" else value
    if not all(isinstance(n, int) for n in sizes) or math.prod(sizes) > t.size_limit:
        return _filled(t, shape, value, kind)
    return t.own(arrays.converted(array_of([value] * math.prod(sizes), sizes), kind))


def _filled(t: Tracer, shape: Any, value: Any, kind: str | None, by_rows: bool = True) -> SymArray:
    """The same as a formula; `by_rows` as in `Memory`."""
    if isinstance(value, SymArray):
        axes = new_shape(t, shape)
        return symbolic.snapshot(converted(symbolic.broadcast(t, value, axes), kind))
    found = converted(from_formula(new_shape(t, shape), value), kind)
    found.memory.by_rows = by_rows
    return found


def _full_of(value: Any, kind: str | None) -> Function:
    """`np.zeros` and similar functions."""
    return lambda t, shape, dtype=None: filled(t, shape, value, dtype_kind(dtype) or kind)


def _like(value: Any) -> Function:
    """`np.zeros_like` and similar functions; None: the value is the second argument."""

    def implementation(t: Tracer, model: Any, *fill: Any, dtype: Any = None, shape: Any = None) -> Any:  # fmt: skip
        a = array_from(t, model)
        kind = dtype_kind(dtype) or a.kind
        found = fill[0] if fill else 0 if value is EMPTY and kind == "i" else value
        if isinstance(a, SmallArray):
            return filled(t, a.items.shape if shape is None else shape, found, kind)
        return _filled(t, dims(t, a.shape) if shape is None else shape, found, kind, False)

    return implementation


EMPTY = Real(ir.NAN, ir.FALSE)
"""An element of an array that is not written yet."""


def real_ends(bounds: Sequence[Any]) -> tuple[str, str]:
    """The refusal of a range of unknown real numbers."""
    end = next(v for v in bounds if not scalars.is_whole(v))
    return (
        f"np.arange() of {describe(end)} that is not known when traced",
        "its number of elements must not depend on real values: use np.linspace",
    )


def ranged(t: Tracer, *bounds: Any, dtype: Any = None) -> Any:
    """`np.arange`."""
    if all(isinstance(b, int) for b in bounds):
        whole: list[Any] = list(range(*bounds))
        if len(whole) <= t.size_limit:
            return t.own(arrays.converted(SmallArray(np.array(whole, object), "i"), dtype_kind(dtype)))  # fmt: skip
    elif not sequences.involved(bounds) and all(
        not isinstance(b, Real) or ir.rational(b.expr) is not None for b in bounds
    ):
        exact = [plain(b) for b in bounds]
        start, stop, step = (0, *exact, 1) if len(exact) == 1 else (*exact, 1)[:3]
        count = max(0, math.ceil((float(stop) - float(start)) / float(step)))  # as in NumPy
        if count > t.size_limit:
            steps = arrays.multiply(scalars.whole(SLOTS[0]), number(step))
            found = from_formula((ir.const(count),), arrays.add(number(start), steps))
            return converted(found, dtype_kind(dtype))
        known = array_of([number(start + i * step) for i in range(count)], (count,))
        return t.own(arrays.converted(known, dtype_kind(dtype)))
    return _ranged(t, *bounds, dtype=dtype)


def _ranged(t: Tracer, *bounds: Any, dtype: Any = None) -> Any:
    """`np.arange` of integers, and of known numbers that are short in binary: their sums and
    quotients are exact in floating point, so the number of elements is that of NumPy."""
    bounds = tuple(t.whole(b, "a bound of np.arange()") if isinstance(b, Integral) else b for b in bounds)  # fmt: skip
    if not all(map(scalars.is_whole, bounds)):
        return converted(_ranged_reals(t, bounds), dtype_kind(dtype))
    found = sequences.symbolic_range(*bounds)
    value = found.item(SLOTS[0])
    return converted(from_formula((found.count,), value), dtype_kind(dtype))


def _ranged_reals(t: Tracer, bounds: Sequence[Any]) -> Any:
    start, stop, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    known = [None if isinstance(b, Whole) else ir.rational(as_real(b).expr) for b in (start, stop, step)]  # fmt: skip
    for b, q in zip((start, stop, step), known, strict=True):
        if isinstance(b, Real) and q is None and _is_size(b.expr):
            continue
        if not isinstance(b, Whole) and (q is None or SHORT % q.denominator):
            demands.not_whole(
                active.get(), b, *real_ends(bounds)
            )  # trace with integers, if possible
            return _of_decided_length(t, start, stop, step)
    size = known[2]
    if not size:
        raise Refused("the step of np.arange() must be known, and not 0")
    if all(q is None or q.denominator == 1 for q in known):
        ends = [
            Whole(as_real(b).expr) if q is None else int(q)
            for b, q in zip((start, stop, step), known, strict=True)
        ]
        found = sequences.symbolic_range(*ends)
        return lazy((found.count,), "f", as_real(found.item(SLOTS[0])).expr)
    first, last, unit = as_real(start).expr, as_real(stop).expr, ir.const(SHORT)
    span = ir.mul(unit, ir.sub(last, first) if size > 0 else ir.sub(first, last))
    k = int(abs(size) * SHORT)
    count = ir.apply(loop_program.FLOORDIV, linear(ir.add(span, ir.const(k - 1))), ir.const(k))
    count = ir.where(ir.lt(count, ZERO), ZERO, count)
    steps = as_real(scalars.whole(SLOTS[0]))
    value = arrays.add(as_real(start), arrays.multiply(as_real(step), steps))
    return lazy((count,), "f", as_real(value).expr)


def _of_decided_length(t: Tracer, start: Any, stop: Any, step: Any) -> Any:
    """A range of real numbers: its length is computed in doubles, as in NumPy."""
    span = scalars.binary(ast.Sub, as_real(stop), as_real(start))
    length = t.call(math.ceil, (scalars.binary(ast.Div, span, as_real(step)),), {})
    found = sequences.symbolic_range(length)
    steps = arrays.multiply(as_real(step), as_real(found.item(SLOTS[0])))
    count = ir.where(ir.lt(found.count, ZERO), ZERO, found.count)
    return from_formula((count,), arrays.add(as_real(start), steps))


def _is_size(e: Expr) -> bool:
    """Whether a real number is an integer computed from sizes, such as `len(x) + 1.0`."""
    return loop_program.kind_of(e) == "i" and all(
        n.op is loop_program.INDEX for n in loop_program.leaves((e,))
    )


def shape(t: Tracer, value: Any) -> Any:
    a = array_from(t, value)
    return a.items.shape if isinstance(a, SmallArray) else dims(t, symbolic.with_rows(t, a).shape)


def _size(t: Tracer, a: Any, axis: Any = None) -> Any:
    sizes = sizes_of(array_from(t, a))
    return size(t, sizes if axis is None else (sizes[axis],))


def _linspace(t: Tracer, start: Any, stop: Any, num: Any = 50, endpoint: Any = True) -> Any:
    (count,) = new_shape(t, num)
    steps = ir.sub(count, ONE) if endpoint else count
    steps = ir.where(ir.lt(ONE, steps), steps, ONE)
    span = scalars.binary(ast.Sub, as_real(stop), as_real(start))

    def value(k: Any) -> Any:
        part = scalars.binary(ast.Div, as_real(k), Real(steps))
        return arrays.add(as_real(start), arrays.multiply(span, part))

    if isinstance(num, int) and num <= t.size_limit and not sequences.involved((start, stop)):
        return t.own(array_of(map(value, range(num)), (num,)))
    return from_formula((count,), value(scalars.whole(SLOTS[0])))


def eye(t: Tracer, n: Any, m: Any = None, k: Any = 0, dtype: Any = None) -> Any:
    if isinstance(n, int) and isinstance(m, int | None) and isinstance(k, int):
        if n * (n if m is None else m) <= t.size_limit:
            return t.own(arrays.converted(asarray(np.eye(n, m, k)), dtype_kind(dtype)))
    rows, columns = new_shape(t, (n, n if m is None else m))
    on = ir.eq(ir.sub(SLOTS[1], SLOTS[0]), as_real(k).expr)
    return lazy((rows, columns), dtype_kind(dtype) or "f", ir.where(on, ONE, ZERO))


def _meshgrid(t: Tracer, *values: Any, indexing: Any = "xy") -> Any:
    parts = [ravel(t, v) for v in values]
    order = list(range(len(parts)))
    if indexing == "xy" and len(parts) > 1:
        order[:2] = [1, 0]
    shape = [p.shape[0] for p in parts]
    for k, p in zip(order, parts, strict=True):
        shape[k] = p.shape[0]
    return t.own([symbolic.gathered(p, shape, [SLOTS[k]]) for k, p in zip(order, parts, strict=True)])  # fmt: skip


def where(t: Tracer, condition: Any, *sides: Any) -> Any:
    """`np.where`: only the side that is taken counts."""
    chosen = arrays.elementwise(scalars.truth, condition)
    if not sides:
        used_as_array(condition, "its true elements are found")
        return tuple(selecting.places(t, symbolic.symbolic(t, chosen)))
    if len(sides) != 2:
        raise Refused("np.where() without its two values", "use np.where(condition, a, b)")
    return arrays.elementwise(arrays.chosen, chosen, *sides)


def _nonzero(t: Tracer, value: Any) -> Any:
    return where(t, value)


def _flatnonzero(t: Tracer, value: Any) -> Any:
    return where(t, ravel(t, value))[0]


def _extract(t: Tracer, condition: Any, value: Any) -> Any:
    mask = symbolic.symbolic(t, arrays.elementwise(scalars.truth, condition))
    return selecting.subscript(t, symbolic.symbolic(t, value), mask)


def _copyto(t: Tracer, target: Any, value: Any) -> None:
    storing.must_hold(t, target, value)
    t.store(target, Ellipsis, value)


# ------------------------------------------------------------------------ searching
def searched(t: Tracer, sorted_values: Any, values: Any, side: Any = "left") -> Any:
    """`np.searchsorted`, by bisection."""
    used_as_array(sorted_values, "np.searchsorted()")
    a, v = symbolic.reused(t, symbolic.symbolic(t, sorted_values)), symbolic.symbolic(t, values)
    if side not in ("left", "right"):
        raise Refused(f"the side {side!r} of np.searchsorted()")
    found = bisected(t, a, v, side == "left")
    return found if v.shape else symbolic.element(found, ())


def bisected(t: Tracer, a: SymArray, v: SymArray, left: bool) -> SymArray:
    """For every value the number of elements before its place in a sorted array."""
    letters = symbolic.fresh_letters(t, len(v.shape))
    at = [index(n) for n in letters]
    if v.kind == "f":
        value = placed(masked(symbolic.plainly(v), symbolic.needs(v)), at)
    else:
        value = placed(symbolic.stored(v, "i"), at)
    low, high, low_end, high_end = (t.names.fresh(n) for n in ("low", "high", "low", "high"))
    i, j = index(low), index(high)
    middle = ir.apply(FLOORDIV, ir.add(i, j), ir.const(2))
    here = placed(symbolic.plainly(a), [middle])
    before = ir.lt(here, value) if left else ir.le(here, value)
    if v.kind == "f":
        before = ir.or_(before, ir.not_(ir.le(value, ir.INF)))  # nan is after everything
    number = loop_program.INTEGER
    carried = (
        Carried(low, number, ZERO, ir.where(before, ir.add(middle, ONE), i), low_end),
        Carried(high, number, a.shape[0], ir.where(before, j, middle), high_end),
    )  # fmt: skip
    loop = Loop(t.names.fresh("step"), None, carried, (), t.names.fresh("trips"), ir.lt(i, j))
    result = index(low_end)
    if not v.shape:
        t.emit(loop)
        return lazy((), "i", result)
    name = t.names.fresh("places")
    t.emit(Build(name, Type(v.shape, "i"), letters, result, (loop,)))
    return symbolic.in_memory(array(name, "i"), v.shape, "i")


def _interp(t: Tracer, x: Any, xp: Any, fp: Any) -> Any:
    """Linear interpolation between points; constant beyond the ends."""
    for v in (xp, fp):
        used_as_array(v, "np.interp()")
    made = (symbolic.elementwise(t, as_float, symbolic.symbolic(t, v)) for v in (xp, fp))
    grid, heights = (symbolic.reused(t, a) for a in made)
    same_size(t, grid.shape[0], heights.shape[0])
    points = symbolic.symbolic(t, x)
    n = grid.shape[0]
    t.require(ir.lt(ZERO, n), "value", "np.interp() of no points")
    places = bisected(t, grid, points, False)
    last = ir.sub(n, ONE)

    def value(p: Any, k: Any) -> Any:
        e, i = as_real(p).expr, as_real(k).expr
        lower = ir.where(ir.lt(ZERO, i), ir.sub(i, ONE), ZERO)
        x0, x1 = (placed(formula(grid), [m]) for m in (lower, ir.add(lower, ONE)))
        y0, y1 = (placed(formula(heights), [m]) for m in (lower, ir.add(lower, ONE)))
        slope = ir.div(ir.sub(y1, y0), ir.sub(x1, x0))
        line = ir.add(y0, ir.mul(slope, ir.sub(e, x0)))
        first, end = (placed(formula(heights), [m]) for m in (ZERO, last))
        beyond = ir.le(placed(symbolic.plainly(grid), [last]), written(as_real(p)))  # false for nan
        return Real(ir.where(ir.eq(i, ZERO), first, ir.where(beyond, end, line)))

    return symbolic.elementwise(t, value, points, places)


def _indices(t: Tracer, *shape: Any) -> Any:
    """`np.ndindex`."""
    return sequences.of_shape(shape_of(shape[0] if len(shape) == 1 else shape))


def _enumerated(t: Tracer, value: Any) -> Any:
    """`np.ndenumerate`."""
    a = symbolic.symbolic(t, value)
    places = sequences.of_shape(a.shape)

    def item(k: ir.Expr) -> Any:
        place = places.item(k)
        return place, selecting.subscript(t, a, place)

    return Unknown(places.count, item)


TABLE: dict[str, Function] = {
    "numpy.array": copied, "numpy.copy": copied, "numpy.asarray": _asarray,
    "numpy.asanyarray": _asarray,
    "numpy.ascontiguousarray": _contiguous,
    "numpy.where": where, "numpy.nonzero": _nonzero, "numpy.flatnonzero": _flatnonzero,
    "numpy.extract": _extract, "numpy.copyto": _copyto,
    "numpy.zeros": _full_of(0, "f"), "numpy.ones": _full_of(1, "f"), "numpy.empty": _full_of(EMPTY, "f"),
    "numpy.full": lambda t, shape, value, dtype=None: filled(t, shape, value, dtype_kind(dtype)),
    "numpy.zeros_like": _like(0), "numpy.ones_like": _like(1), "numpy.empty_like": _like(EMPTY),
    "numpy.full_like": _like(None), "numpy.arange": ranged, "numpy.linspace": _linspace,
    "numpy.eye": eye, "numpy.identity": lambda t, n, dtype=None: eye(t, n, dtype=dtype),
    "numpy.meshgrid": _meshgrid, "numpy.searchsorted": searched, "numpy.interp": _interp,
    "numpy.shape": shape, "numpy.size": _size, "numpy.ndim": lambda t, a: len(shape(t, a)),
    "numpy.ndindex": _indices, "numpy.ndenumerate": _enumerated,
}  # fmt: skip
"""Traced versions, by the dotted name of the function."""
