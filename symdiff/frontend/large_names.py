"""Traced versions of NumPy's functions on arrays whose size is not known when traced.
Elementary functions are not here: they apply element by element."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from symdiff import functions, ir
from symdiff.frontend import arrays, scalars, symbolic
from symdiff.frontend.calls import Method
from symdiff.frontend.containers import used_as_array
from symdiff.frontend.symbolic import SLOTS, formula, from_formula, placed
from symdiff.frontend.tracer import Tracer
from symdiff.frontend.values import (
    Real,
    Refused,
    Selected,
    Sequence,
    SymArray,
    Whole,
    as_real,
    number,
)
from symdiff.ir import ONE, ZERO, Expr

Function = Callable[..., Any]


def numbers_as_arrays(values: Iterable[Any]) -> None:
    """Where numbers are used as arrays, trace again with their parameters as arrays."""
    for v in values:
        if isinstance(v, Real):
            used_as_array(v, "it is reduced")
        elif isinstance(v, (list, tuple)):
            numbers_as_arrays(v)


def involved(values: Iterable[Any]) -> bool:
    """Whether arguments have to do with sizes that are not known when traced."""
    return any(
        isinstance(v, (SymArray, Selected, Sequence, Whole))
        or (isinstance(v, (list, tuple)) and involved(v))
        for v in values
    )


# -------------------------------------------------------------------- reductions
def _axes(a: SymArray, axis: Any) -> tuple[int, ...]:
    rank = len(a.shape)
    given = range(rank) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    for k in given:
        if not isinstance(k, int) or not -rank <= k < rank:
            raise Refused(f"axis {k} of an array of {rank} dimensions")
    return tuple(sorted(k % rank for k in given))


def _kept(t: Tracer, found: Any, a: SymArray, axes: tuple[int, ...], keepdims: Any) -> Any:
    """The result of a reduction with its axes put back as 1."""
    if not keepdims:
        return found
    shape = tuple(ONE if k in axes else n for k, n in enumerate(a.shape))
    if not isinstance(found, SymArray):
        return from_formula(shape, found)
    rest = iter(SLOTS[k] for k in range(len(a.shape)) if k not in axes)
    at = list(rest)
    return SymArray(shape, found.kind, element=placed(formula(found), at))


def _counted(value: Any, neutral: Expr) -> Any:
    """The elements, with a neutral one in place of those that are not selected."""
    if not isinstance(value, Selected):
        return value
    e = formula(value.items)
    if value.items.kind == "b":
        e = ir.where(e, ONE, ZERO)
    e = ir.where(formula(value.present), e, neutral)
    return SymArray(
        value.items.shape, "i" if value.items.kind == "b" else value.items.kind, element=e
    )


def _total(
    t: Tracer, value: Any, axis: Any = None, *, keepdims: Any = False, dtype: Any = None
) -> Any:
    a = symbolic.symbolic(t, _counted(value, ZERO))
    axes = _axes(a, axis)
    return _kept(t, symbolic.fold(t, a, axes, ZERO, ir.add, "total"), a, axes, keepdims)


def _product(t: Tracer, value: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    a = symbolic.symbolic(t, _counted(value, ONE))
    axes = _axes(a, axis)
    return _kept(t, symbolic.fold(t, a, axes, ONE, ir.mul, "product"), a, axes, keepdims)


def _count(t: Tracer, value: Any, axis: Any) -> Any:
    if isinstance(value, Selected):
        return _total(t, value.present, axis)
    a = symbolic.symbolic(t, value)
    return symbolic.size(t, [a.shape[k] for k in _axes(a, axis)])


def _mean(t: Tracer, value: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    total = _total(t, value, axis, keepdims=keepdims)
    return arrays.elementwise(
        lambda x, n: scalars.binary(ast.Div, as_real(x), n), total, _count(t, value, axis)
    )


def _extreme(op: ir.Op, start: Expr) -> Function:
    def implementation(t: Tracer, value: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
        a = symbolic.symbolic(t, _counted(value, start))
        axes = _axes(a, axis)
        for k in axes:
            if not symbolic.nonnegative(t, ir.sub(a.shape[k], ONE)):
                t.require(ir.lt(ZERO, a.shape[k]), "value", "the maximum or minimum of nothing")
        found = symbolic.fold(t, a, axes, start, lambda x, y: ir.apply(op, x, y), op.name)
        return _kept(t, found, a, axes, keepdims)

    return implementation


_max = _extreme(functions.MAXIMUM, ir.neg(ir.INF))
_min = _extreme(functions.MINIMUM, ir.INF)


def _every(t: Tracer, value: Any, axis: Any = None) -> Any:
    failing = arrays.elementwise(scalars.negate, value)
    count = _total(t, failing, axis)
    return arrays.elementwise(lambda n: scalars.compare(ast.Eq, n, 0), count)


def _some(t: Tracer, value: Any, axis: Any = None) -> Any:
    count = _total(t, arrays.elementwise(scalars.truth, value), axis)
    return arrays.elementwise(lambda n: scalars.compare(ast.Gt, n, 0), count)


def _variance(root: bool) -> Function:
    def implementation(
        t: Tracer, value: Any, axis: Any = None, *, ddof: int = 0, keepdims: Any = False
    ) -> Any:
        mean = _mean(t, value, axis, keepdims=not isinstance(value, Selected))

        def square(x: Any, m: Any) -> Any:
            return scalars.binary(ast.Pow, scalars.binary(ast.Sub, x, m), 2)

        total = _total(t, arrays.elementwise(square, value, mean), axis, keepdims=keepdims)
        count = arrays.elementwise(
            lambda n: scalars.binary(ast.Sub, n, ddof), _count(t, value, axis)
        )
        found = arrays.elementwise(lambda x, n: scalars.binary(ast.Div, x, n), total, count)
        return (
            arrays.elementwise(lambda x: scalars.compose(ir.sqrt, (x,)), found) if root else found
        )

    return implementation


# ------------------------------------------------------------------------- shapes
def _transpose(t: Tracer, value: Any, *axes: Any) -> Any:
    a = symbolic.symbolic(t, value)
    order = axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes
    rank = len(a.shape)
    order = [k % rank for k in order] if order and order[0] is not None else range(rank)[::-1]
    shape = tuple(a.shape[k] for k in order)
    at = [ZERO] * rank
    for new, old in enumerate(order):
        at[old] = SLOTS[new]
    return _viewed(a, shape, at)


def _viewed(a: SymArray, shape: tuple[Expr, ...], at: list[Expr]) -> SymArray:
    """A view of an array, by where the element at the slots is."""
    if a.cell is None:
        return SymArray(shape, a.kind, element=placed(formula(a), at))
    return SymArray(shape, a.kind, cell=a.cell, where=tuple(placed(w, at) for w in a.where))


def _copy(t: Tracer, value: Any, dtype: Any = None, copy: Any = True) -> Any:
    a = symbolic.symbolic(t, value)
    found = SymArray(a.shape, a.kind, element=formula(a))
    symbolic.own_memory(t, found)
    return found


def _asarray(t: Tracer, value: Any, dtype: Any = None) -> Any:
    return symbolic.symbolic(t, value)


def _shape_of(t: Tracer, shape: Any) -> tuple[Expr, ...]:
    parts = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    for n in parts:
        if not scalars.is_whole(n):
            raise Refused("a shape must be made of integers")
    return tuple(as_real(n).expr for n in parts)


def filled(t: Tracer, shape: Any, value: Any, kind: str | None) -> SymArray:
    """A new array with the same number everywhere."""
    found = from_formula(_shape_of(t, shape), value)
    if kind == "f" and found.kind != "f":
        e = formula(found)
        found = SymArray(
            found.shape, "f", element=ir.where(e, ONE, ZERO) if found.kind == "b" else e
        )
    symbolic.own_memory(t, found)
    return found


def _where(t: Tracer, condition: Any, *sides: Any) -> Any:
    if len(sides) != 2:
        raise Refused("np.where() without its two values", "use np.where(condition, a, b)")
    return symbolic.elementwise(
        t, arrays.choose, arrays.elementwise(scalars.truth, condition), *sides
    )


def _dot(t: Tracer, a: Any, b: Any) -> Any:
    x, y = symbolic.symbolic(t, a), symbolic.symbolic(t, b)
    if not x.shape or not y.shape:
        return symbolic.elementwise(t, arrays.multiply, a, b)
    return symbolic.matmul(t, x, y)


def _outer(t: Tracer, a: Any, b: Any) -> Any:
    x, y = _ravel(t, a), _ravel(t, b)
    product = ir.mul(placed(formula(x), SLOTS[:1]), placed(formula(y), SLOTS[1:2]))
    return SymArray((x.shape[0], y.shape[0]), "f", element=product)


def _ravel(t: Tracer, value: Any) -> SymArray:
    a = symbolic.symbolic(t, value)
    if len(a.shape) == 1:
        return a
    raise Refused("this array is not one of one dimension")


def _norm(t: Tracer, value: Any, ord: Any = None, axis: Any = None) -> Any:
    if ord is not None and ir.rational(as_real(ord).expr) != 2:
        raise Refused("this norm is not supported", "the Euclidean norm is")
    squares = arrays.elementwise(lambda v: scalars.binary(ast.Pow, as_real(v), 2), value)
    return arrays.elementwise(lambda v: scalars.compose(ir.sqrt, (v,)), _total(t, squares, axis))


TABLE: dict[str, Function] = {
    "numpy.sum": _total, "numpy.nansum": _total, "builtins.sum": lambda t, v, start=0: arrays.add(_total(t, v), start),
    "numpy.prod": _product, "numpy.mean": _mean, "numpy.average": _mean, "numpy.max": _max,
    "numpy.amax": _max, "numpy.min": _min, "numpy.amin": _min, "numpy.any": _some,
    "numpy.all": _every, "numpy.var": _variance(False), "numpy.std": _variance(True),
    "numpy.count_nonzero": lambda t, a: _total(t, arrays.elementwise(scalars.truth, a)),
    "numpy.transpose": _transpose, "numpy.array": _copy, "numpy.copy": _copy,
    "numpy.asarray": _asarray, "numpy.where": _where, "numpy.dot": _dot, "numpy.vdot": _dot,
    "numpy.matmul": _dot, "numpy.outer": _outer, "numpy.linalg.norm": _norm,
    "numpy.shape": lambda t, a: symbolic.dims(t, symbolic.symbolic(t, a).shape),
    "numpy.size": lambda t, a: symbolic.size(t, symbolic.symbolic(t, a).shape),
    "numpy.ndim": lambda t, a: len(symbolic.symbolic(t, a).shape),
    "numpy.zeros_like": lambda t, a, dtype=None: filled(t, symbolic.dims(t, a.shape), number(0), a.kind),
    "numpy.ones_like": lambda t, a, dtype=None: filled(t, symbolic.dims(t, a.shape), number(1), a.kind),
    "numpy.empty_like": lambda t, a, dtype=None: filled(t, symbolic.dims(t, a.shape), number(0), a.kind),
    "numpy.full_like": lambda t, a, v, dtype=None: filled(t, symbolic.dims(t, a.shape), v, a.kind),
}  # fmt: skip
"""Traced versions, by the dotted name of what they implement."""

NO_USE = {
    f"numpy.{name}" for name in ("where", "array", "asarray", "copy", "linspace", "arange", "stack", "concatenate", "hstack", "vstack")
} | {"builtins.sum"}  # fmt: skip
"""Functions that make arrays of numbers too."""

PROPERTIES: dict[str, Callable[[Tracer, SymArray], Any]] = {
    "shape": lambda t, a: symbolic.dims(t, a.shape),
    "size": lambda t, a: symbolic.size(t, a.shape),
    "ndim": lambda t, a: len(a.shape),
    "T": _transpose,
    "real": lambda t, a: a,
}
"""Attributes of an array."""

METHODS: dict[str, str] = {
    name: f"numpy.{name}"
    for name in ("sum", "prod", "mean", "max", "min", "any", "all", "var", "std", "dot", "copy", "transpose")
}  # fmt: skip
"""Methods of an array, by the function that they call."""


def attribute(t: Tracer, owner: SymArray | Selected, name: str) -> Any:
    """`owner.name` of an array."""
    if isinstance(owner, SymArray) and name in PROPERTIES:
        return PROPERTIES[name](t, owner)
    if name in METHODS:
        return Method(TABLE[METHODS[name]], owner, name)
    raise Refused(f"attribute '{name}' of an array whose size is not known when traced")
