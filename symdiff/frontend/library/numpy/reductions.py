"""NumPy's reductions: sums, products, extremes, running ones, statistics."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from typing import Any

from symdiff import ir
from symdiff.frontend.arrays import folding, selecting, symbolic
from symdiff.frontend.arrays import small as arrays
from symdiff.frontend.arrays.small import dtype_kind
from symdiff.frontend.arrays.symbolic import SLOTS, formula, from_formula, lazy, needs, placed
from symdiff.frontend.library.numpy.either import (
    Array,
    array_from,
    arrays_of,
    rank_of,
    sizes_of,
    sliced,
)
from symdiff.frontend.library.numpy.shapes import (
    flattened,
    ravel,
    shape_like,
    shown,
    squeezed,
    taken_along,
)
from symdiff.frontend.loops import sequences
from symdiff.frontend.trace import closeness, finiteness, scalars
from symdiff.frontend.trace.counted_truth import difference_of
from symdiff.frontend.trace.demands import array_in_call
from symdiff.frontend.trace.domains import domain_of
from symdiff.frontend.trace.extents import positive, product, same_size
from symdiff.frontend.trace.recorder import active
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import (
    Cond,
    Masked,
    Refused,
    Selected,
    SmallArray,
    SymArray,
    as_float,
    as_real,
    dimensions,
    is_number,
    join,
    number,
    python_kind,
)
from symdiff.ir import ONE, ZERO, Expr, functions, loop_program
from symdiff.ir.integers import linear

Function = Callable[..., Any]


def axes_of(a: Array, axis: Any) -> tuple[int, ...]:
    """The axes that an argument `axis` denotes."""
    rank = rank_of(a)
    if axis is not None and isinstance(a, SymArray):
        symbolic.must_have_rows(active.get(), a)
    given = range(rank) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    for k in given:
        if not isinstance(k, int) or not -rank <= k < rank:
            raise Refused(f"axis {shown(k)} of an array of {dimensions(rank)}")
    return tuple(sorted(k % rank for k in given))


def kept(
    t: Tracer, found: Any, a: Array, axes: tuple[int, ...], keepdims: Any, value: Any = None
) -> Any:
    """The result of a reduction, with its axes put back as size 1 if wanted; for a selection, the
    one axis into which its mask merged several."""
    if not keepdims:
        return found
    a = symbolic.with_rows(t, a)
    joined = 1
    if isinstance(value, Selected) and not value.in_place:
        joined = len(value.present.shape)
    shape = tuple(ONE if k in axes else n for k, n in enumerate(a.shape) if k + 1 >= joined)
    axes = tuple(k - joined + 1 for k in axes if k + 1 >= joined)
    if not isinstance(found, SymArray):
        return from_formula(shape, found)
    return symbolic.gathered(found, shape, [SLOTS[k] for k in range(len(shape)) if k not in axes])


def counted(t: Tracer, value: Any, axis: Any, neutral: Expr) -> tuple[SymArray, tuple[int, ...]]:
    """An array to reduce along axes, with a neutral number in place of elements that
    are not selected."""
    if not isinstance(value, Selected) or not _reduces_rows(value, axis):
        a = symbolic.symbolic(t, value)  # without those
        return a, axes_of(a, axis)
    items, present = value.items, formula(value.present)
    e = ir.where(present, folding.numbers(items), neutral)
    kind = "i" if items.kind in "ib" and neutral in (ZERO, ONE) else "f"
    a = lazy(items.shape, kind, e)
    if axis is None or value.in_place:
        return a, axes_of(a, axis)
    return a, tuple(range(len(value.present.shape)))


def _reduces_rows(value: Selected, axis: Any) -> bool:
    """Whether the reduced axes include the one into which a mask merges several."""
    if axis is None or value.in_place:
        return True
    rank = len(value.items.shape) - len(value.present.shape) + 1
    return isinstance(axis, int) and axis in (0, -rank)


def _chosen(t: Tracer, value: Any, where: Any) -> Any:
    """Only the elements where the argument `where` holds."""
    if where is None or where is True:
        return value
    a = symbolic.symbolic(t, value)
    present = symbolic.broadcast(t, symbolic.symbolic(t, where), a.shape)
    return Selected(a, lazy(a.shape, "b", symbolic.as_kind(present, "b")), in_place=True)


def _of_dtype(value: Any, dtype: Any) -> Any:
    """The elements as numbers of a dtype, in which NumPy adds them up."""
    kind = dtype_kind(dtype)
    if kind is None or (kind == "i" and getattr(value, "kind", "f") in ("i", "b")):
        return value
    if kind != "f":
        raise Refused(
            "a reduction of real numbers as integers", "leave dtype= out, or use np.trunc"
        )
    return arrays.elementwise(as_float, value)


def total(
    t: Tracer, value: Any, axis: Any = None, *, keepdims: Any = False, dtype: Any = None,
    where: Any = None, initial: Any = None,
) -> Any:  # fmt: skip
    return _folded(t, value, axis, keepdims, dtype, where, initial, ZERO)


def prod(
    t: Tracer, value: Any, axis: Any = None, *, keepdims: Any = False, dtype: Any = None,
    where: Any = None, initial: Any = None,
) -> Any:  # fmt: skip
    return _folded(t, value, axis, keepdims, dtype, where, initial, ONE)


def one_by_one(value: Any) -> Any:
    """An array, or a selection from one, whose elements are reduced one by one; else None."""
    if isinstance(value, (Masked, SmallArray)):
        return value
    return None if sequences.involved((value,)) else arrays.asarray(value)


def _sum_of(values: Any) -> Any:
    if isinstance(values, list) and any(isinstance(v, (Cond, bool)) for v in values):
        values = [int(v) if isinstance(v, bool) else scalars.integral(as_real(v)) for v in values]
    return arrays.total(values)


def _folded(
    t: Tracer, value: Any, axis: Any, keepdims: Any, dtype: Any, where: Any, initial: Any,
    neutral: Expr,
) -> Any:  # fmt: skip
    """A sum, or a product where the neutral number is 1."""
    value = _chosen(t, _of_dtype(value, dtype), where)
    if (few := one_by_one(value)) is not None:
        found = arrays.reduce(_sum_of if neutral is ZERO else arrays.product, few, axis, keepdims)
    else:
        a, axes = counted(t, value, axis, neutral)
        combine, name = (ir.add, "total") if neutral is ZERO else (ir.mul, "product")
        found = kept(t, folding.fold(t, a, axes, neutral, combine, name), a, axes, keepdims, value)
    if initial is None:
        return found
    return arrays.elementwise(arrays.add if neutral is ZERO else arrays.multiply, found, initial)


def count(t: Tracer, value: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """The number of elements that are reduced."""
    if isinstance(value, Masked):
        return arrays.total([as_real(scalars.as_cond(c)) for c in value.present])
    if isinstance(value, Selected) and value.in_place:
        return total(t, value.present, axis, keepdims=keepdims)
    if isinstance(value, Selected) and _reduces_rows(value, axis):
        if axis is None:
            sizes = value.items.shape[len(value.present.shape) :]
            found = scalars.whole(selecting.count_of(t, value))
            return scalars.binary(ast.Mult, found, scalars.whole(product(t, sizes)))
        return total(t, value.present, 0 if len(value.present.shape) == 1 else None)
    a = array_from(t, value)
    if isinstance(a, SmallArray):
        return math.prod(a.items.shape[k] for k in axes_of(a, axis))
    return scalars.whole(product(t, [a.shape[k] for k in axes_of(a, axis)]))


def divide(a: Any, b: Any) -> Any:
    return arrays.elementwise(lambda x, y: scalars.binary(ast.Div, as_real(x), as_real(y)), a, b)


def mean(
    t: Tracer, value: Any, axis: Any = None, *, keepdims: Any = False, dtype: Any = None,
    where: Any = None,
) -> Any:  # fmt: skip
    value = _chosen(t, _of_dtype(value, dtype), where)
    return divide(total(t, value, axis, keepdims=keepdims), count(t, value, axis, keepdims))


def _average(
    t: Tracer, value: Any, axis: Any = None, weights: Any = None, *, keepdims: Any = False
) -> Any:
    if weights is None:
        return mean(t, value, axis, keepdims=keepdims)
    a, w = arrays_of(t, value, weights)
    if axis is not None and not isinstance(axis, int):
        raise Refused("np.average() along several axes", "use np.sum() and a division")
    axes = axes_of(a, axis)
    sizes, own = sizes_of(a), sizes_of(w)
    if len(own) < len(sizes):
        if len(own) != 1 or len(axes) != 1:
            raise Refused("weights of another shape than the array", "give each element its weight")
        same_size(t, own[0], sizes[axes[0]])
        w = shape_like(t, w, a, axes[0])
    else:
        for m, n in zip(own, sizes, strict=True):
            same_size(t, m, n)
    weighted = arrays.elementwise(arrays.multiply, a, w)
    sums = (total(t, v, axis, keepdims=keepdims) for v in (weighted, w))
    return divide(*sums)


def _total_of_numbers(t: Tracer, value: Any, axis: Any = None, **more: Any) -> Any:
    """`np.nansum`."""
    if isinstance(value, Selected):
        return total(t, Selected(_numbers(value.items), value.present), axis, **more)
    return total(t, _numbers(value), axis, **more)


def _numbers(value: Any) -> Any:
    """An array with zeros in place of nan, which only floats can be."""
    return arrays.elementwise(
        lambda x: (
            arrays.choose(finiteness.undefined(x), number(0), x) if python_kind(x) == "f" else x
        ),
        value,
    )


def _pick(op: ir.Op) -> Callable[[Any, Any], Any]:
    better = max if op is functions.MAXIMUM else min

    def pick(a: Any, b: Any) -> Any:
        if isinstance(a, int) and isinstance(b, int):
            return better(a, b)
        return scalars.apply(op, a, b)

    return pick


def extreme(op: ir.Op, start: Expr) -> Function:
    def implementation(t: Tracer, value: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
        if (few := one_by_one(value)) is not None:
            return arrays.reduce(lambda v: arrays.extreme(_pick(op), v), few, axis, keepdims)
        a, axes = counted(t, value, axis, start)
        for k in axes:
            if not positive(t, a.shape[k]):
                t.require(ir.lt(ZERO, a.shape[k]), "value", "the maximum or minimum of nothing")
        found = _extreme_of(t, a, axes, op, start)
        if isinstance(value, Selected) and not isinstance(found, SymArray):
            some = ir.lt(ZERO, selecting.count_of(t, value))
            t.require(some, "value", "the maximum or minimum of nothing")
        return kept(t, found, a, axes, keepdims, value)

    return implementation


def _extreme_of(t: Tracer, a: SymArray, axes: Sequence[int], op: ir.Op, start: Expr) -> Any:
    """The extreme along axes; comparisons drop nan, so elements outside of their domain make
    the result undefined by their conditions."""
    if a.kind == "b":
        found = _extreme_of(t, folding.counts(a), axes, op, start)
        return folding.any_of(t, found)
    value = folding.numbers(a)
    defined = join(needs(a), domain_of((value,))[value])

    chosen = ir.lt if op is functions.MAXIMUM else lambda x, y: ir.lt(y, x)

    def whole(at: tuple[Expr, ...], now: Sequence[Expr]) -> tuple[list[Any], list[Expr]]:
        other = placed(value, at)
        return [], [ir.where(chosen(now[0], other), other, now[0])]

    if a.kind == "i" and len(axes) == len(a.shape):  # it stays an integer
        start = placed(value, [ZERO] * len(a.shape))
        (found,) = folding.reduce(t, a, axes, [(op.name, loop_program.INTEGER, start)], whole)
        return found

    def step(at: tuple[Expr, ...], now: Sequence[Expr]) -> tuple[list[Any], list[Expr]]:
        better = ir.apply(op, now[0], placed(value, at))
        return [], [ir.where(placed(defined, at), better, ir.NAN)]

    if a.kind == "i":
        most = ir.const(2**63 - 1)
        start = ir.neg(most) if op is functions.MAXIMUM else most
        (found,) = folding.reduce(t, a, axes, [(op.name, loop_program.INTEGER, start)], whole)
        return found
    (found,) = folding.reduce(t, a, axes, [(op.name, loop_program.Type((), "f"), start)], step)
    return found


largest = extreme(functions.MAXIMUM, ir.neg(ir.INF))
smallest = extreme(functions.MINIMUM, ir.INF)


def place_of(better: Callable[[Expr, Expr], Expr]) -> Function:
    """`np.argmax` or `np.argmin`."""

    def implementation(t: Tracer, value: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
        a = symbolic.symbolic(t, value)
        if axis is None:
            a, axis = ravel(t, a), 0
        (k,) = axes_of(a, axis)
        if not positive(t, a.shape[k]):
            t.require(ir.lt(ZERO, a.shape[k]), "value", "the maximum or minimum of nothing")
        return kept(t, folding.extreme_place(t, a, k, better), a, (k,), keepdims)

    return implementation


argmax = place_of(lambda x, y: ir.lt(y, x))
argmin = place_of(ir.lt)


def _counted(few: Function, each: Function, how: type[ast.cmpop]) -> Function:
    """A truth of all elements, by how many of them `each` holds for; `few`: for traced elements."""

    def implementation(
        t: Tracer, value: Any, axis: Any = None, *, keepdims: Any = False, where: Any = None
    ) -> Any:
        if where is None and (small := one_by_one(value)) is not None:
            return arrays.reduce(few, small, axis, keepdims)
        holding = arrays.elementwise(each, _chosen(t, value, where))
        found = total(t, holding, axis, keepdims=keepdims)
        return arrays.elementwise(lambda n: scalars.compare(how, n, 0), found)

    return implementation


every = _counted(arrays.every, scalars.negate, ast.Eq)
some = _counted(arrays.some, scalars.truth, ast.Gt)


def count_nonzero(t: Tracer, value: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    return total(t, arrays.elementwise(scalars.truth, value), axis, keepdims=keepdims)


def variance(root: bool) -> Function:
    def implementation(
        t: Tracer, value: Any, axis: Any = None, *, ddof: int = 0, keepdims: Any = False,
        dtype: Any = None, where: Any = None, correction: int | None = None,
    ) -> Any:  # fmt: skip
        ddof = ddof if correction is None else correction
        value = _chosen(t, _of_dtype(value, dtype), where)
        if isinstance(value, Selected) and not _reduces_rows(value, axis):
            value = symbolic.symbolic(t, value)
        flat = isinstance(value, Masked) or (isinstance(value, Selected) and not value.in_place)
        middle = mean(t, value, axis, keepdims=not flat)

        def square(x: Any, m: Any) -> Any:
            return scalars.binary(ast.Pow, scalars.binary(ast.Sub, x, m), 2)

        squares = total(t, arrays.elementwise(square, value, middle), axis, keepdims=keepdims)
        number = arrays.elementwise(lambda n: _freedom(n, ddof), count(t, value, axis, keepdims))
        found = divide(squares, number)
        return arrays.elementwise(square_root, found) if root else found

    return implementation


def _freedom(n: Any, ddof: Any) -> Any:
    """The degrees of freedom of n numbers: `n - ddof`, but at least 0."""
    return scalars.apply(functions.MAXIMUM, scalars.binary(ast.Sub, n, ddof), 0)


def square_root(v: Any) -> Any:
    return scalars.compose(ir.sqrt, (v,))


def _ptp(t: Tracer, value: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    high = largest(t, value, axis, keepdims=keepdims)
    return arrays.elementwise(
        lambda a, b: scalars.binary(ast.Sub, a, b),
        high, smallest(t, value, axis, keepdims=keepdims),
    )  # fmt: skip


# ----------------------------------------------------------------------- running
def _running(combine: folding.Combine, start: Expr, name: str) -> Function:
    def implementation(t: Tracer, value: Any, axis: Any = None) -> Any:
        a = array_from(t, value)
        if axis is None:
            a, axis = flattened(t, a), 0
        (k,) = axes_of(a, axis)
        if isinstance(a, SmallArray):
            op = ast.Add if start is ZERO else ast.Mult
            return arrays.scan(lambda x, y: scalars.binary(op, x, y), a, k)
        return folding.scan(t, a, k, start, combine, name)

    return implementation


def extreme_so_far(op: ir.Op, start: Expr) -> Function:
    """`np.maximum.accumulate` and similar functions."""
    return lambda t, value, axis: folding.scan(
        t, a := symbolic.symbolic(t, value), axes_of(a, axis)[0], start,
        lambda x, y: ir.apply(op, x, y), op.name,
    )  # fmt: skip


def difference(t: Tracer, value: Any, n: int = 1, axis: int = -1) -> Any:
    a = array_from(t, value)
    for _ in range(n):
        (k,) = axes_of(a, axis)
        upper, lower = sliced(t, a, k, 1, None), sliced(t, a, k, None, -1)
        a = arrays.elementwise(difference_of, upper, lower)
    return a


def trapezoid(t: Tracer, y: Any, x: Any = None, dx: Any = 1, axis: int = -1) -> Any:
    a, step = arrays_of(t, y, dx if x is None else x)
    if a.kind == "b":
        raise Refused(
            "np.trapezoid() of truth values", "make numbers of them: np.where(a, 1.0, 0.0)"
        )
    (k,) = axes_of(a, axis)
    upper, lower = sliced(t, a, k, 1, None), sliced(t, a, k, None, -1)
    if x is not None:
        vector = rank_of(step) == 1
        step = difference(t, step, 1, -1 if vector and rank_of(a) > 1 else k)
        if vector:
            step = shape_like(t, step, a, k)
    areas = arrays.elementwise(
        lambda h, u, v: arrays.multiply(h, scalars.binary(ast.Div, arrays.add(u, v), 2)),
        step, upper, lower,
    )  # fmt: skip
    return total(t, areas, k)


# ------------------------------------------------------------------- exponentials
def peak(t: Tracer, a: SymArray, axis: Any) -> Any:
    """The largest element, found by its place, so that no derivative goes through the
    search; 0 if it is not finite. The axes remain with size 1."""
    axes = axes_of(a, axis)
    if len(axes) == 1 and len(a.shape) > 1:
        found = taken_along(t, a, argmax(t, a, axes[0], keepdims=True), axes[0])
    elif len(axes) == len(a.shape):
        flat = ravel(t, a)
        found = selecting.subscript(t, flat, argmax(t, flat))
        found = from_formula((ONE,) * len(a.shape), found)
    else:
        found = largest(t, a, axes, keepdims=True)
    return arrays.elementwise(
        lambda m: scalars.select(ir.lt(ir.abs_(as_real(m).expr), ir.INF), ir.TRUE, m, number(0)),
        found,
    )


def _exponentials(t: Tracer, value: Any, axis: Any) -> tuple[SymArray, SymArray, SymArray]:
    """The array, its largest elements, and exp of the differences."""
    array_in_call(value, "softmax() or logsumexp()")
    if is_number(value):
        raise Refused("softmax() or logsumexp() of a number", "pass an array")
    a = symbolic.symbolic(t, value)
    top = symbolic.reused(t, peak(t, a, axis))
    e = arrays.elementwise(
        lambda x, m: scalars.apply(functions.EXP, scalars.binary(ast.Sub, x, m)), a, top
    )
    return a, top, e


def logsumexp(t: Tracer, value: Any, axis: Any = None, b: Any = None, keepdims: Any = False) -> Any:
    a, top, e = _exponentials(t, value, axis)
    if b is not None:
        e = arrays.elementwise(arrays.multiply, e, b)
    sums = total(t, e, axis, keepdims=True)
    found = arrays.elementwise(
        lambda s, m: arrays.add(scalars.apply(functions.LOG, s), m), sums, top
    )
    return found if keepdims else squeezed(t, found, axes_of(a, axis))


def _softmax(t: Tracer, value: Any, axis: Any = None) -> Any:
    _, _, e = _exponentials(t, value, axis)
    symbolic.reused(t, e)
    return divide(e, total(t, e, axis, keepdims=True))


def _log_softmax(t: Tracer, value: Any, axis: Any = None) -> Any:
    a, top, e = _exponentials(t, value, axis)

    def of_one(x: Any, m: Any, s: Any) -> Any:
        difference = scalars.binary(ast.Sub, x, m)  # exact enough for large elements
        return scalars.binary(ast.Sub, difference, scalars.apply(functions.LOG, s))

    return arrays.elementwise(of_one, a, top, total(t, e, axis, keepdims=True))


# ---------------------------------------------------------------------- comparisons
def isclose(t: Tracer, a: Any, b: Any, rtol: Any = None, atol: Any = None) -> Any:
    relative = number(1e-5) if rtol is None else rtol
    absolute = number(1e-8) if atol is None else atol
    return arrays.elementwise(
        lambda x, y, r, s: closeness.isclose(x, y, r, s, False), a, b, relative, absolute
    )


def _allclose(t: Tracer, a: Any, b: Any, rtol: Any = None, atol: Any = None) -> Any:
    return every(t, isclose(t, a, b, rtol, atol))


def _array_equal(t: Tracer, a: Any, b: Any) -> Any:
    x, y = map(sizes_of, arrays_of(t, a, b))
    if len(x) != len(y):
        return False
    for n, m in zip(x, y, strict=True):
        if ir.rational(linear(ir.sub(n, m))):
            return False
        same_size(t, n, m)
    return every(t, arrays.elementwise(lambda p, q: scalars.compare(ast.Eq, p, q), a, b))


TABLE: dict[str, Function] = {
    "numpy.sum": total, "numpy.nansum": _total_of_numbers,
    "numpy.prod": prod, "numpy.mean": mean, "numpy.average": _average, "numpy.max": largest,
    "numpy.amax": largest, "numpy.min": smallest, "numpy.amin": smallest, "numpy.ptp": _ptp,
    "numpy.argmax": argmax, "numpy.argmin": argmin, "numpy.any": some, "numpy.all": every,
    "numpy.var": variance(False), "numpy.std": variance(True),
    "numpy.count_nonzero": count_nonzero,
    "numpy.cumsum": _running(ir.add, ZERO, "cumsum"),
    "numpy.cumprod": _running(ir.mul, ONE, "cumprod"),
    "numpy.diff": difference, "numpy.trapezoid": trapezoid, "numpy.trapz": trapezoid,
    "numpy.allclose": _allclose, "numpy.array_equal": _array_equal,
    "scipy.special.logsumexp": logsumexp, "scipy.special.softmax": _softmax,
    "scipy.special.log_softmax": _log_softmax,
}  # fmt: skip
"""Traced versions, by the dotted name of the function."""
