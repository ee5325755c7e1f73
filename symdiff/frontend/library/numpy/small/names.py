"""Traced versions of NumPy's functions on numbers and small arrays. Elementary
functions are not here: they come from the table in `symdiff.ir.functions`."""

from __future__ import annotations

import ast
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.frontend.arrays import small as arrays
from symdiff.frontend.arrays.small import (
    asarray,
    converted,
    copied,
    dtype_kind,
    elementwise,
    reduce,
)
from symdiff.frontend.library import builtin_functions as python_names
from symdiff.frontend.library import standard as library_names
from symdiff.frontend.library.builtin_functions import call_back
from symdiff.frontend.library.numpy.small import shapes as numpy_shapes
from symdiff.frontend.library.numpy.symbolic import making
from symdiff.frontend.syntax.containers import elements, plain
from symdiff.frontend.trace import closeness, finiteness, scalars
from symdiff.frontend.trace.counted_truth import of_truth
from symdiff.frontend.trace.demands import used_as_array
from symdiff.frontend.trace.outside import from_outside
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import (
    Cond,
    Masked,
    Real,
    Record,
    Refused,
    Scalar,
    SmallArray,
    SymArray,
    array_of,
    as_float,
    as_real,
    describe,
    is_number,
    number,
    python_kind,
)
from symdiff.ir import functions

Function = Callable[..., Any]


# --------------------------------------------------------------------- creation
def _array(t: Tracer, values: Any, dtype: Any = None, copy: Any = True) -> Any:
    small = converted(asarray(values), dtype_kind(dtype), dtype)
    if t.size_limit < 0 and small.items.ndim:
        return making.copied(t, small)
    return t.own(copied(small))


def _asarray(t: Tracer, values: Any, dtype: Any = None) -> Any:
    if isinstance(values, SmallArray):
        return converted(values, dtype_kind(dtype), dtype)
    return _array(t, values, dtype)


def _shape_of(shape: Any) -> tuple[int, ...]:
    parts = (shape,) if isinstance(shape, (int, Scalar)) else tuple(shape)
    if not all(isinstance(n, int) for n in parts):
        raise Refused("a shape that is not known when traced")
    return parts


def _filled(t: Tracer, shape: Any, value: Any, kind: str | None) -> Any:
    parts = shape if isinstance(shape, (tuple, list)) else (shape,)
    if not all(isinstance(n, int) for n in parts) or math.prod(parts) > t.size_limit:
        return making.filled(t, shape, value, kind)
    size = _shape_of(shape)
    array = array_of([value] * int(np.prod(size, dtype=int)), size)
    return t.own(converted(array, kind))


def _full_like(t: Tracer, model: Any, value: Any, dtype: Any) -> Any:
    array = asarray(model)
    return _filled(t, array.items.shape, value, dtype_kind(dtype) or array.kind)


def _linspace(t: Tracer, start: Any, stop: Any, num: Any = 50, endpoint: Any = True) -> Any:
    if not isinstance(num, int) or num > t.size_limit:
        return making.TABLE["numpy.linspace"](t, start, stop, num, endpoint)
    steps = max(num - 1 if endpoint else num, 1)
    span = scalars.binary(ast.Sub, as_real(stop), as_real(start))
    values = []
    for i in range(num):
        part = scalars.binary(ast.Div, scalars.binary(ast.Mult, span, i), steps)
        values.append(scalars.binary(ast.Add, as_real(start), part))
    return t.own(array_of(values, (num,)))


def _arange(t: Tracer, *bounds: Any, dtype: Any = None) -> Any:
    kind = dtype_kind(dtype)
    if all(isinstance(b, int) for b in bounds):
        values: list[Any] = list(range(*bounds))
        if len(values) > t.size_limit:
            return making.ranged(t, *bounds, dtype=dtype)
        return t.own(converted(SmallArray(np.array(values, object), "i"), kind))
    if any(isinstance(b, Real) and ir.rational(b.expr) is None for b in bounds):
        return making.ranged(t, *bounds, dtype=dtype)  # of sizes
    exact = [plain(b) for b in bounds]
    start, stop, step = (0, *exact, 1) if len(exact) == 1 else (*exact, 1)[:3]
    count = max(0, math.ceil((float(stop) - float(start)) / float(step)))  # as NumPy rounds it
    return t.own(converted(array_of([number(start + i * step) for i in range(count)], (count,)), kind))  # fmt: skip


def _eye(t: Tracer, n: int, m: int | None = None, k: int = 0) -> Any:
    known = isinstance(n, int) and isinstance(m, int | None)
    if not known or n * (n if m is None else m) > t.size_limit:
        return making.eye(t, n, m, k)
    return t.own(asarray(np.eye(n, m, k)))


# --------------------------------------------------------------------- selection
def _truth(value: Any) -> Any:
    return elementwise(scalars.truth, value)


def _nansum(t: Tracer, value: Any, *args: Any, **more: Any) -> Any:
    numbers = elementwise(
        lambda x: (
            arrays.choose(finiteness.undefined(x), number(0), x) if python_kind(x) == "f" else x
        ),
        _countable(value),
    )
    return _sum(t, numbers, *args, **more)


def _where(t: Tracer, condition: Any, *sides: Any) -> Any:
    """Only the side that is taken counts."""
    if not sides:
        used_as_array(condition, "its true elements are found")
    if len(sides) != 2:
        raise Refused("np.where() without its two values", "use np.where(condition, a, b)")
    return elementwise(arrays.chosen, _truth(condition), *sides)


def _select(t: Tracer, conditions: Any, choices: Any, default: Any = 0) -> Any:
    result = default
    pairs = zip(elements(t, conditions), elements(t, choices), strict=True)
    for c, value in reversed(list(pairs)):
        result = _where(t, c, value, result)
    return result


def _piecewise(t: Tracer, x: Any, conditions: Any, functions: Any, *args: Any) -> Any:
    conditions = elements(t, conditions if isinstance(conditions, (list, tuple)) else [conditions])
    pieces = elements(t, functions)
    if len(pieces) not in (len(conditions), len(conditions) + 1):
        raise Refused(f"np.piecewise() of {len(conditions)} conditions and {len(pieces)} functions")

    kind = python_kind(x) if is_number(x) else getattr(x, "kind", "f")

    def value(piece: Any) -> Any:
        """The result has the kind of the argument, so integers are floats in it."""
        found = piece if is_number(piece) else call_back(t, piece, x, *args)
        if kind == "f":
            return elementwise(as_float, found)
        raise Refused("np.piecewise() of integers or truth values", "make them floats: 1.0*x")

    result = value(pieces[-1] if len(pieces) > len(conditions) else number(0))
    for c, piece in zip(conditions, pieces, strict=False):  # the last that holds wins
        result = _where(t, c, value(piece), result)
    return result


def _clip(t: Tracer, x: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:  # fmt: skip
    low, high = a_min if min is None else min, a_max if max is None else max
    if low is not None:
        x = elementwise(lambda u, v: scalars.apply(functions.MAXIMUM, u, v), x, low)
    if high is not None:
        x = elementwise(lambda u, v: scalars.apply(functions.MINIMUM, u, v), x, high)
    return x


def _logical(f: Function) -> Function:
    return lambda t, *values: elementwise(lambda *v: f(*map(scalars.truth, v)), *values)


def _bits(op: type[ast.operator]) -> Function:
    return lambda t, a, b: elementwise(lambda x, y: scalars.binary(op, x, y), a, b)


def _compare(op: type[ast.cmpop]) -> Function:
    return lambda t, a, b: elementwise(lambda x, y: scalars.compare(op, x, y), a, b)


def _isclose(t: Tracer, a: Any, b: Any, rtol: Any = None, atol: Any = None) -> Any:
    relative = number(1e-5) if rtol is None else rtol
    absolute = number(1e-8) if atol is None else atol
    return elementwise(
        lambda x, y, r, s: closeness.isclose(x, y, r, s, False), a, b, relative, absolute
    )


def _on_each(f: Function) -> Function:
    return lambda t, value: elementwise(f, value)


def _real_part(t: Tracer, x: Any) -> Any:
    """The array itself."""
    if isinstance(x, Record):
        return t.attribute(x, "real")
    return x if isinstance(x, (SymArray, SmallArray)) else elementwise(lambda v: v, x)


def _close_to_real(t: Tracer, a: Any, tol: Any = 100) -> Any:
    return a if isinstance(a, (SymArray, SmallArray)) else _asarray(t, a)


def _remainder(t: Tracer, a: Any, b: Any) -> Any:
    return elementwise(lambda u, v: scalars.binary(ast.Mod, u, v), a, b)


def _divmod(t: Tracer, a: Any, b: Any) -> Any:
    whole = elementwise(lambda u, v: scalars.binary(ast.FloorDiv, u, v), a, b)
    return whole, _remainder(t, a, b)


def _nan_to_num(t: Tracer, x: Any, copy: Any = True, nan: Any = 0, posinf: Any = None, neginf: Any = None) -> Any:  # fmt: skip
    """Large numbers stand for infinities unless others are given. The choice for nan stands right
    around the value, where it is seen to be a guard of a removable point."""
    high = number(sys.float_info.max) if posinf is None else posinf
    low = number(-sys.float_info.max) if neginf is None else neginf

    if copy is not True and not is_number(x):
        raise Refused("copy= of np.nan_to_num()", "it changes its argument; leave it out")
    if getattr(x, "kind", "f") != "f":
        return t.call(np.array, (x,), {})

    def replaced(value: Any, lost: Any, above: Any, below: Any) -> Any:
        infinite = finiteness.infinite(value)
        ends = arrays.choose(scalars.compare(ast.Lt, 0, value), above, below)
        filled = arrays.choose(finiteness.undefined(value), lost, value)
        return arrays.choose(infinite, ends, filled)

    return elementwise(replaced, x, nan, high, low)


def _of_two_numbers(op: ir.Op) -> Function:
    """The larger or smaller one; where one is nan, the other."""

    def chosen(a: Any, b: Any) -> Any:
        if "f" not in (python_kind(a), python_kind(b)):
            return scalars.apply(op, a, b)
        found = arrays.choose(finiteness.undefined(b), a, scalars.apply(op, a, b))
        return arrays.choose(finiteness.undefined(a), b, found)

    return lambda t, a, b: elementwise(chosen, a, b)


# -------------------------------------------------------------------- reductions
def _reduction(f: Callable[[Any], Any]) -> Function:
    def implementation(t: Tracer, value: Any, axis: Any = None, *, keepdims: Any = False, dtype: Any = None) -> Any:  # fmt: skip
        dtype_kind(dtype)
        return reduce(f, _countable(value), axis, keepdims)

    return implementation


def _countable(value: Any) -> Any:
    return value if isinstance(value, Masked) else asarray(value)


def _pick(op: ir.Op) -> Callable[[Any, Any], Any]:
    better = max if op is functions.MAXIMUM else min

    def pick(a: Any, b: Any) -> Any:
        if isinstance(a, int) and isinstance(b, int):
            return better(a, b)
        return scalars.apply(op, a, b)

    return pick


def _sum_of(values: Any) -> Any:
    if isinstance(values, list) and any(isinstance(v, (Cond, bool)) for v in values):
        values = [int(v) if isinstance(v, bool) else scalars.integral(as_real(v)) for v in values]
    return arrays.total(values)


def _count(values: Any) -> Any:
    if isinstance(values, Masked):
        return arrays.total([as_real(scalars.as_cond(c)) for c in values.present])
    return len(values)


def _mean_of(values: Any) -> Any:
    some = number(0) if values == [] else _sum_of(values)
    return scalars.binary(ast.Div, some, _count(values))


def _variance(values: Any, ddof: int) -> Any:
    mean = _mean_of(values)
    squares = elementwise(
        lambda v: scalars.binary(ast.Pow, scalars.binary(ast.Sub, v, mean), 2),
        values if isinstance(values, Masked) else array_of(values, (len(values),)),
    )
    total = arrays.total(squares if isinstance(squares, Masked) else list(squares.items))
    return scalars.binary(ast.Div, total, scalars.binary(ast.Sub, _count(values), ddof))


def _spread(root: bool) -> Function:
    def implementation(t: Tracer, value: Any, axis: Any = None, *, ddof: int = 0, keepdims: Any = False) -> Any:  # fmt: skip
        def f(values: Any) -> Any:
            found = _variance(values, ddof)
            return scalars.compose(ir.sqrt, (found,)) if root else found

        return reduce(f, _countable(value), axis, keepdims)

    return implementation


def _norm(t: Tracer, value: Any, ord: Any = None, axis: Any = None) -> Any:
    """The Euclidean norm, or the sum or maximum of the absolute values."""
    array = elementwise(as_float, asarray(value))
    exact = None if ord is None else plain(ord) if not isinstance(ord, Real) or ir.rational(ord.expr) is not None else ord  # fmt: skip
    if exact in (None, 2):
        return reduce(lambda v: library_names.hypot(t, *v), array, axis)
    sizes = elementwise(lambda v: scalars.apply(ir.ABS, v), array)
    if exact == 1:
        return reduce(arrays.total, sizes, axis)
    if isinstance(exact, Real) and exact.expr is ir.INF:
        return reduce(lambda v: arrays.extreme(_pick(functions.MAXIMUM), v), sizes, axis)
    raise Refused("this norm is not supported", "the norms 1, 2 and np.inf are")


def _cumulative(op: type[ast.operator]) -> Function:
    def implementation(t: Tracer, value: Any, axis: Any = None) -> Any:
        array = asarray(value)
        if array.kind == "b":
            array = elementwise(of_truth, array)
        items = array.items
        if axis is None:
            items, axis = items.ravel(), 0
        moved = np.moveaxis(items.copy(), axis, 0)
        for i in range(1, len(moved)):
            row = zip(np.ravel(moved[i - 1]), np.ravel(moved[i]), strict=True)
            parts = np.empty(moved[i].size if isinstance(moved[i], np.ndarray) else 1, object)
            parts[:] = [scalars.binary(op, a, b) for a, b in row]
            moved[i] = parts.reshape(np.shape(moved[i])) if np.shape(moved[i]) else parts[0]
        result = np.moveaxis(moved, 0, axis)
        if not result.size:
            return t.own(SmallArray(result, array.kind))
        return t.own(array_of(list(result.ravel()), result.shape))

    return implementation


def _round(t: Tracer, value: Any, decimals: int = 0) -> Any:
    if decimals == 0:
        return elementwise(lambda v: scalars.apply(functions.ROUND, v), value)
    return elementwise(lambda v: python_names.round_to(v, decimals), value)


def _rint(t: Tracer, value: Any) -> Any:
    """Rounded: floats, of integers too."""
    return elementwise(lambda v: as_float(scalars.apply(functions.ROUND, v)), value)


def _cast_float(t: Tracer, value: Any = 0) -> Any:
    if isinstance(value, str):
        return number(float(value))
    return elementwise(as_float, value if is_number(value) else asarray(value))


def _cast_narrow(kind: type[np.floating[Any]]) -> Function:
    """A cast of known numbers to a narrower type: they are rounded to it."""

    def narrow(value: Any) -> Real:
        q = ir.rational(as_real(value).expr)
        if q is None:
            raise Refused(
                f"{describe(value)} that is not known when traced is rounded to {kind.__name__}",
                "leave the conversion out; the arguments decide the precision of a call",
            )
        return as_real(from_outside(kind(float(q))))

    def implementation(t: Tracer, value: Any = 0) -> Any:
        return elementwise(narrow, value if is_number(value) else asarray(value))

    return implementation


def _cast_integer(kind: type[np.integer[Any]]) -> Function:
    """A cast of known numbers to integers; of those that are not known too, if it is to 64 bits."""

    def integer(t: Tracer, value: Any) -> Any:
        found = python_names.to_int(t, value)
        if not isinstance(found, int) and np.dtype(kind) == np.int64:
            return found
        n = int(found)
        if not np.iinfo(kind).min <= n <= np.iinfo(kind).max:
            raise Refused(f"{n} does not fit into {kind.__name__}")
        return n

    def implementation(t: Tracer, value: Any = 0) -> Any:
        if is_number(value):
            return integer(t, value)
        return elementwise(lambda v: integer(t, v), asarray(value))

    return implementation


def _finfo(t: Tracer, dtype: Any) -> Any:
    return np.finfo(dtype)


def _seterr(t: Tracer, **kinds: Any) -> Any:
    """It changes no numbers, unless errors are to be raised."""
    if "raise" in kinds.values() or "call" in kinds.values():
        raise Refused("np.seterr() that raises errors", "test the operands with 'if' instead")
    return t.own(dict(np.geterr()))


def _nan_like(t: Tracer, shape: Any, dtype: Any = None) -> Any:
    return _filled(t, shape, Real(ir.NAN, ir.FALSE), dtype_kind(dtype) or "f")


_sum = _reduction(_sum_of)
_max = _reduction(lambda v: arrays.extreme(_pick(functions.MAXIMUM), v))
_min = _reduction(lambda v: arrays.extreme(_pick(functions.MINIMUM), v))
_any = _reduction(arrays.some)
_all = _reduction(arrays.every)
_prod = _reduction(arrays.product)
_mean = _reduction(_mean_of)

_OF_NUMPY_2 = [getattr(np, n) for n in ("matrix_transpose", "permute_dims") if hasattr(np, n)]
TABLE: dict[str, Function] = {
    "numpy.array": _array, "numpy.asarray": _asarray, "numpy.asanyarray": _asarray, "numpy.copy": _array,
    "numpy.seterr": _seterr,
    "numpy.zeros": lambda t, shape, dtype=None: _filled(t, shape, 0, dtype_kind(dtype) or "f"),
    "numpy.ones": lambda t, shape, dtype=None: _filled(t, shape, 1, dtype_kind(dtype) or "f"),
    "numpy.full": lambda t, shape, value, dtype=None: _filled(t, shape, value, dtype_kind(dtype)),
    "numpy.empty": _nan_like,
    "numpy.zeros_like": lambda t, a, dtype=None: _full_like(t, a, 0, dtype),
    "numpy.ones_like": lambda t, a, dtype=None: _full_like(t, a, 1, dtype),
    "numpy.full_like": lambda t, a, value, dtype=None: _full_like(t, a, value, dtype),
    "numpy.linspace": _linspace, "numpy.arange": _arange, "numpy.eye": _eye,
    "numpy.identity": _eye, "numpy.where": _where, "numpy.select": _select,
    "numpy.piecewise": _piecewise, "numpy.clip": _clip,
    "numpy.logical_and": _logical(scalars.conjunction),
    "numpy.logical_or": _logical(scalars.disjunction),
    "numpy.logical_xor": _logical(scalars.exclusive), "numpy.logical_not": _logical(scalars.negate),
    "numpy.bitwise_and": _bits(ast.BitAnd), "numpy.bitwise_or": _bits(ast.BitOr),
    "numpy.bitwise_xor": _bits(ast.BitXor), "numpy.equal": _compare(ast.Eq),
    "numpy.not_equal": _compare(ast.NotEq), "numpy.less": _compare(ast.Lt),
    "numpy.less_equal": _compare(ast.LtE), "numpy.greater": _compare(ast.Gt),
    "numpy.greater_equal": _compare(ast.GtE), "numpy.isclose": _isclose,
    "numpy.allclose": lambda t, *a, **k: _all(t, _isclose(t, *a, **k)),
    "numpy.isfinite": _on_each(finiteness.finite), "numpy.isnan": _on_each(finiteness.undefined),
    "numpy.fmax": _of_two_numbers(functions.MAXIMUM), "numpy.fmin": _of_two_numbers(functions.MINIMUM),
    "numpy.mod": _remainder, "numpy.remainder": _remainder, "numpy.divmod": _divmod,
    "numpy.isreal": _on_each(lambda v: True), "numpy.iscomplex": _on_each(lambda v: False),
    "numpy.isrealobj": lambda t, x: True, "numpy.iscomplexobj": lambda t, x: False,
    "numpy.real": _real_part, "numpy.real_if_close": _close_to_real, "numpy.nan_to_num": _nan_to_num, "numpy.isinf": _on_each(finiteness.infinite), "numpy.sum": _sum, "numpy.prod": _prod,
    "numpy.nansum": _nansum, "numpy.mean": _mean, "numpy.average": _mean, "numpy.max": _max,
    "numpy.amax": _max, "numpy.min": _min, "numpy.amin": _min, "numpy.any": _any,
    "numpy.all": _all, "numpy.var": _spread(False), "numpy.std": _spread(True),
    "numpy.count_nonzero": lambda t, a: _sum(t, _truth(asarray(a))),
    "numpy.cumsum": _cumulative(ast.Add), "numpy.cumprod": _cumulative(ast.Mult),
    "numpy.diff": numpy_shapes.diff, "numpy.dot": numpy_shapes.dot, "numpy.vdot": numpy_shapes.dot, "numpy.inner": numpy_shapes.inner,
    "numpy.matmul": lambda t, a, b: arrays.dot(a, b), "numpy.outer": numpy_shapes.outer,
    "numpy.cross": numpy_shapes.cross, "numpy.polyval": numpy_shapes.polyval, "numpy.trapezoid": numpy_shapes.trapezoid,
    "numpy.trapz": numpy_shapes.trapezoid, "numpy.linalg.norm": _norm, "numpy.stack": numpy_shapes.joined(np.stack),
    "numpy.concatenate": numpy_shapes.joined(np.concatenate), "numpy.hstack": numpy_shapes.joined(np.hstack),
    "numpy.vstack": numpy_shapes.joined(np.vstack), "numpy.column_stack": numpy_shapes.joined(np.column_stack),
    "numpy.ravel": numpy_shapes.reshaped(np.ravel), "numpy.transpose": numpy_shapes.reshaped(np.transpose),
    "numpy.reshape": numpy_shapes.reshape, "numpy.squeeze": numpy_shapes.reshaped(np.squeeze),
    **{f"numpy.{f.__name__}": numpy_shapes.reshaped(f) for f in (np.flipud, np.fliplr, np.swapaxes, np.moveaxis, *_OF_NUMPY_2)},
    "numpy.flip": numpy_shapes.reshaped(np.flip), "numpy.roll": numpy_shapes.reshaped(np.roll),
    "numpy.atleast_1d": numpy_shapes.reshaped(np.atleast_1d), "numpy.atleast_2d": numpy_shapes.reshaped(np.atleast_2d),
    "numpy.diag": numpy_shapes.reshaped(np.diag),
    "numpy.trace": lambda t, a: arrays.total(list(np.diagonal(asarray(a).items))),
    "numpy.broadcast_to": numpy_shapes.reshaped(np.broadcast_to), "numpy.expand_dims": numpy_shapes.reshaped(np.expand_dims),
    **{f"numpy.{f.__name__}": numpy_shapes.parted(f) for f in (np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit)},
    "numpy.tile": numpy_shapes.reshaped(np.tile), "numpy.repeat": numpy_shapes.reshaped(np.repeat),
    "numpy.shape": lambda t, a: asarray(a).items.shape,
    "numpy.size": lambda t, a, axis=None: asarray(a).items.size if axis is None else asarray(a).items.shape[axis],
    "numpy.ndim": lambda t, a: asarray(a).items.ndim, "numpy.float64": _cast_float,
    "numpy.round": _round, "numpy.around": _round, "numpy.rint": _rint, "numpy.finfo": _finfo,
    "numpy.isscalar": lambda t, a: isinstance(a, (Scalar, int, str)),
    **{f"numpy.{k.__name__}": _cast_narrow(k) for k in (np.float16, np.float32)},
    **{f"numpy.{k.__name__}": _cast_integer(k) for k in np.sctypeDict.values() if issubclass(k, np.integer)},
}  # fmt: skip
"""Traced versions, by the dotted name of what they implement."""

ARRAY_PROPERTIES: dict[str, Callable[[SmallArray], Any]] = {
    "shape": lambda a: a.items.shape,
    "size": lambda a: a.items.size,
    "ndim": lambda a: a.items.ndim,
    "T": lambda a: SmallArray(a.items.T, a.kind),
    "real": lambda a: a,
    "dtype": lambda a: np.dtype({"f": float, "i": int, "b": bool}[a.kind]),
}
"""Attributes of an array."""


def as_function(name: str) -> Function:
    """A method that is called as the function of that name is, with all of its arguments."""
    return lambda t, a, *args, **named: t.call(getattr(np, name), (a, *args), named)


ARRAY_METHODS: dict[str, Function] = {
    name: as_function(name)
    for name in (
        "sum", "prod", "mean", "max", "min", "any", "all", "var", "std", "cumsum", "cumprod", "trace",
        "diagonal", "take", "argmax", "argmin", "argsort", "searchsorted",
    )
} | {
    "dot": numpy_shapes.dot, "clip": _clip, "round": _round, "conj": _real_part, "conjugate": _real_part,
    "swapaxes": numpy_shapes.reshaped(np.swapaxes), "repeat": numpy_shapes.reshaped(np.repeat),
    "copy": _array, "astype": numpy_shapes.astype, "flatten": numpy_shapes.flatten, "tolist": numpy_shapes.tolist, "item": numpy_shapes.item,
    "reshape": numpy_shapes.reshape, "ravel": numpy_shapes.reshaped(np.ravel), "transpose": numpy_shapes.reshaped(np.transpose),
    "squeeze": numpy_shapes.reshaped(np.squeeze),
}  # fmt: skip
"""Methods of an array; each is called as the NumPy function of that name."""
