"""NumPy's functions that choose, compare, round and convert element by element. Elementary
functions are not here: they come from the table in `symdiff.ir.functions`."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.frontend.arrays import small as arrays
from symdiff.frontend.arrays.small import asarray, elementwise
from symdiff.frontend.library import builtin_functions as python_names
from symdiff.frontend.library.builtin_functions import call_back
from symdiff.frontend.library.numpy.making import copied, where
from symdiff.frontend.library.numpy.reductions import isclose
from symdiff.frontend.syntax.containers import elements
from symdiff.frontend.trace import finiteness, scalars
from symdiff.frontend.trace.outside import from_outside
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import (
    Real,
    Record,
    Refused,
    Scalar,
    SmallArray,
    SymArray,
    as_float,
    as_real,
    describe,
    is_number,
    number,
    python_kind,
)
from symdiff.ir import functions

Function = Callable[..., Any]


# --------------------------------------------------------------------- selection
def _select(t: Tracer, conditions: Any, choices: Any, default: Any = 0) -> Any:
    result = default
    pairs = zip(elements(t, conditions), elements(t, choices), strict=True)
    for c, value in reversed(list(pairs)):
        result = where(t, c, value, result)
    return result


def _piecewise(t: Tracer, x: Any, conditions: Any, functions: Any, *args: Any) -> Any:
    conditions = elements(t, conditions if isinstance(conditions, (list, tuple)) else [conditions])
    pieces = elements(t, functions)
    if len(pieces) not in (len(conditions), len(conditions) + 1):
        raise Refused(f"np.piecewise() of {len(conditions)} conditions and {len(pieces)} functions")

    kind = python_kind(x) if is_number(x) else getattr(x, "kind", "f")

    def value(piece: Any) -> Any:
        """The result in the kind of the argument, so integers become floats."""
        found = piece if is_number(piece) else call_back(t, piece, x, *args)
        if kind == "f":
            return elementwise(as_float, found)
        raise Refused("np.piecewise() of integers or truth values", "make them floats: 1.0*x")

    result = value(pieces[-1] if len(pieces) > len(conditions) else number(0))
    for c, piece in zip(conditions, pieces, strict=False):  # the last that holds wins
        result = where(t, c, value(piece), result)
    return result


def clip(t: Tracer, x: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:  # fmt: skip
    low, high = a_min if min is None else min, a_max if max is None else max
    if low is not None:
        x = elementwise(lambda u, v: scalars.apply(functions.MAXIMUM, u, v), x, low)
    if high is not None:
        x = elementwise(lambda u, v: scalars.apply(functions.MINIMUM, u, v), x, high)
    return x


def _on_each(f: Function) -> Function:
    """A function of numbers, for each element of arrays."""
    return lambda t, *values: elementwise(f, *values)


def _logical(f: Function) -> Function:
    return _on_each(lambda *v: f(*map(scalars.truth, v)))


def _bits(op: type[ast.operator]) -> Function:
    return _on_each(lambda x, y: scalars.binary(op, x, y))


def _compare(op: type[ast.cmpop]) -> Function:
    return _on_each(lambda x, y: scalars.compare(op, x, y))


def real_part(t: Tracer, x: Any) -> Any:
    """The array itself."""
    if isinstance(x, Record):
        return t.attribute(x, "real")
    return x if isinstance(x, (SymArray, SmallArray)) else elementwise(lambda v: v, x)


def _close_to_real(t: Tracer, a: Any, tol: Any = 100) -> Any:
    return a if isinstance(a, (SymArray, SmallArray)) else copied(t, a)


def _remainder(t: Tracer, a: Any, b: Any) -> Any:
    return elementwise(lambda u, v: scalars.binary(ast.Mod, u, v), a, b)


def _divmod(t: Tracer, a: Any, b: Any) -> Any:
    whole = elementwise(lambda u, v: scalars.binary(ast.FloorDiv, u, v), a, b)
    return whole, _remainder(t, a, b)


def _nan_to_num(t: Tracer, x: Any, copy: Any = True, nan: Any = 0, posinf: Any = None, neginf: Any = None) -> Any:  # fmt: skip
    """Large numbers replace infinities unless others are given. The choice for nan stands right
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


def rounded(t: Tracer, value: Any, decimals: int = 0) -> Any:
    if decimals == 0:
        return elementwise(lambda v: scalars.apply(functions.ROUND, v), value)
    return elementwise(lambda v: python_names.round_to(v, decimals), value)


def _rint(t: Tracer, value: Any) -> Any:
    """The number rounded, as a float also for integers."""
    return elementwise(lambda v: as_float(scalars.apply(functions.ROUND, v)), value)


def _cast_float(t: Tracer, value: Any = 0) -> Any:
    if isinstance(value, str):
        return number(float(value))
    if isinstance(value, SymArray):
        return copied(t, value, float)
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
    """A cast of known numbers to integers; of unknown ones too, if it is to 64 bits."""

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
    """No effect on numbers, unless errors are to be raised."""
    if "raise" in kinds.values() or "call" in kinds.values():
        raise Refused("np.seterr() that raises errors", "test the operands with 'if' instead")
    return t.own(dict(np.geterr()))


TABLE: dict[str, Function] = {
    "numpy.seterr": _seterr,
    "numpy.select": _select, "numpy.piecewise": _piecewise, "numpy.clip": clip,
    "numpy.logical_and": _logical(scalars.conjunction),
    "numpy.logical_or": _logical(scalars.disjunction),
    "numpy.logical_xor": _logical(scalars.exclusive), "numpy.logical_not": _logical(scalars.negate),
    "numpy.bitwise_and": _bits(ast.BitAnd), "numpy.bitwise_or": _bits(ast.BitOr),
    "numpy.bitwise_xor": _bits(ast.BitXor), "numpy.equal": _compare(ast.Eq),
    "numpy.not_equal": _compare(ast.NotEq), "numpy.less": _compare(ast.Lt),
    "numpy.less_equal": _compare(ast.LtE), "numpy.greater": _compare(ast.Gt),
    "numpy.greater_equal": _compare(ast.GtE), "numpy.isclose": isclose,
    "numpy.isfinite": _on_each(finiteness.finite), "numpy.isnan": _on_each(finiteness.undefined),
    "numpy.fmax": _of_two_numbers(functions.MAXIMUM), "numpy.fmin": _of_two_numbers(functions.MINIMUM),
    "numpy.mod": _remainder, "numpy.remainder": _remainder, "numpy.divmod": _divmod,
    "numpy.isreal": _on_each(lambda v: True), "numpy.iscomplex": _on_each(lambda v: False),
    "numpy.isrealobj": lambda t, x: True, "numpy.iscomplexobj": lambda t, x: False,
    "numpy.real": real_part, "numpy.real_if_close": _close_to_real, "numpy.nan_to_num": _nan_to_num,
    "numpy.isinf": _on_each(finiteness.infinite), "numpy.float64": _cast_float,
    "numpy.round": rounded, "numpy.around": rounded, "numpy.rint": _rint, "numpy.finfo": _finfo,
    "numpy.isscalar": lambda t, a: isinstance(a, (Scalar, int, str)),
    **{f"numpy.{k.__name__}": _cast_narrow(k) for k in (np.float16, np.float32)},
    **{f"numpy.{k.__name__}": _cast_integer(k) for k in np.sctypeDict.values() if issubclass(k, np.integer)},
}  # fmt: skip
"""Traced versions, by the dotted name of the function."""
