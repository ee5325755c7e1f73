"""Operators, attributes and calls of complex numbers while tracing, in terms of their parts."""

from __future__ import annotations

import ast
import functools
import importlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.frontend.arrays import small as arrays
from symdiff.frontend.library.complex_numbers import fourier, holomorphic, of_operators
from symdiff.frontend.library.primitives import traced_as
from symdiff.frontend.trace import scalars
from symdiff.frontend.trace.complex_pairs import of_numbers, promoted
from symdiff.frontend.trace.frames import tuple_like
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import (
    ComplexNumber,
    Listed,
    Method,
    Real,
    Record,
    Refused,
    SmallArray,
    SymArray,
    as_float,
    as_real,
    describe,
    is_array_pair,
    is_complex,
    is_number,
    number,
)

_ARRAYS = (SmallArray, SymArray)
_TYPES = (complex, np.complex128)


# ----------------------------------------------------------------------- making
@traced_as(of_operators.pair)
def pair(t: Tracer, real: Any, imag: Any) -> Any:
    """`of_operators.pair`."""
    if is_number(real) and is_number(imag):
        return of_numbers(real, imag)
    for v in (real, imag):
        if not is_number(v) and not isinstance(v, _ARRAYS):
            raise Refused(f"{describe(v)} is a part of a complex number")
    if _shape(real) != _shape(imag):
        real, imag = (arrays.elementwise(lambda a, b: as_float(a), real, imag),
                      arrays.elementwise(lambda a, b: as_float(b), real, imag))  # fmt: skip
    return Record(ComplexNumber, {"real": _floats(real), "imag": _floats(imag)})


def _shape(value: Any) -> Any:
    if is_number(value):
        return None
    return value.items.shape if isinstance(value, SmallArray) else value.shape


def _floats(value: Any) -> Any:
    return value if value.kind == "f" else arrays.elementwise(as_float, value)


def _complex(t: Tracer, real: Any = 0, imag: Any = 0) -> Any:
    """`complex(real, imag)`."""
    parts = [v for v in (real, imag) if not is_number(v) and not is_complex(v)]
    if parts or any(is_complex(v) and is_array_pair(v) for v in (real, imag)):
        raise Refused(f"complex() of {describe((*parts, real)[0])}")
    if is_complex(imag):
        turned = inline(t, of_operators.multiply, of_numbers(0, 1), imag)
        return binary(t, ast.Add, promoted(real), turned)
    return binary(t, ast.Add, real, of_numbers(0, imag))


def is_type(value: Any) -> bool:
    """Whether an argument names the type of complex numbers of two doubles."""
    if isinstance(value, str):
        return value in ("complex", "complex128", "c16", "D")
    return any(value is k for k in _TYPES) or (
        isinstance(value, np.dtype) and value == np.complex128
    )


# -------------------------------------------------------------------- operators
def inline(t: Tracer, function: Any, *args: Any) -> Any:
    return t.inline(function, args, {})


def binary(t: Tracer, op: type[ast.AST], a: Any, b: Any) -> Any:
    """`a op b`, one of which is complex."""
    function = of_operators.OPERATORS.get(op)
    if function is None:
        symbol = scalars.SYMBOLS.get(op, "this operator")
        raise Refused(
            f"'{symbol}' of complex numbers, which Python refuses",
            "compare or round their parts, z.real and z.imag, or abs(z)",
        )
    for v in (a, b):
        if not is_complex(v) and not is_number(v) and not isinstance(v, _ARRAYS):
            if op in (ast.Eq, ast.NotEq):
                return op is ast.NotEq
            raise Refused(f"an operator of {describe(a)} and {describe(b)}")
    return inline(t, function, a, b)


def negative(t: Tracer, value: Record) -> Any:
    return inline(t, of_operators.negative, value)


def truth(t: Tracer, value: Record) -> Any:
    """Whether a complex number counts as true."""
    if is_array_pair(value):
        raise Refused("the truth value of an array of complex numbers", "use np.any or np.all")
    return scalars.truth(binary(t, ast.NotEq, value, 0))


def parts_of(value: Any) -> tuple[Any, Any]:
    """The real and the imaginary part of a number or array."""
    if is_complex(value):
        return value.fields["real"], value.fields["imag"]
    if isinstance(value, _ARRAYS):
        return value, arrays.elementwise(lambda v: number(0.0), value)
    return value, number(0.0)


def subscript(t: Tracer, owner: Record, index: Any, read: Callable[..., Any]) -> Any:
    """`owner[index]`, from the same for real arrays."""
    if not is_array_pair(owner):
        raise Refused("a complex number is indexed")
    real, imag = parts_of(owner)
    return pair(t, read(t, real, index), read(t, imag, index))


def store(t: Tracer, owner: Record, index: Any, value: Any) -> None:
    """`owner[index] = value`."""
    if not is_array_pair(owner):
        raise Refused("an element of a complex number is assigned")
    if isinstance(value, (list, tuple, Listed)):
        value = t.call(np.array, (value,), {})
    for array, part in zip(parts_of(owner), parts_of(value), strict=True):
        t.store(array, index, part)


# ------------------------------------------------------------------- attributes
_METHODS = ("sum", "mean", "prod", "cumsum", "reshape", "ravel", "transpose", "squeeze", "copy",
            "dot", "conj", "conjugate", "var", "std", "flatten", "diagonal", "trace",
            "repeat", "round")  # fmt: skip
_AS = {"flatten": "ravel"}


def attribute(t: Tracer, owner: Record, name: str) -> Any:
    """`owner.name`."""
    real, imag = parts_of(owner)
    if name in ("real", "imag"):
        return real if name == "real" else imag
    if name == "dtype":
        return np.dtype(complex)
    if is_array_pair(owner):
        if name in ("shape", "ndim", "size"):
            return t.attribute(real, name)
        if name == "T":
            return pair(t, t.attribute(real, "T"), t.attribute(imag, "T"))
        if name in ("astype", "tolist", "item"):
            return Method(_KEPT[name], owner, name)
    if name in _METHODS and (is_array_pair(owner) or name in ("conjugate", "conj")):
        function = getattr(np, _AS.get(name, name))
        return Method(_as_function(function, name), owner, name)
    raise Refused(f"attribute '{name}' of {describe(owner)}")


def _as_function(function: Any, name: str) -> Callable[..., Any]:
    def method(t: Tracer, owner: Any, *args: Any, **kwargs: Any) -> Any:
        if name in ("reshape", "transpose") and len(args) > 1:
            args = (args,)
        return t.call(function, (owner, *args), kwargs)

    return method


def _astype(t: Tracer, owner: Any, dtype: Any) -> Any:
    if not is_type(dtype):
        raise Refused("a complex array is made a real one", "take its part, z.real")
    return t.call(np.copy, (owner,), {})


def _listed(t: Tracer, owner: Any) -> Any:
    raise Refused("a list of the elements of a complex array", "index the array")


_KEPT: dict[str, Callable[..., Any]] = {"astype": _astype, "tolist": _listed, "item": _listed}


# ------------------------------------------------------------------------- calls
_OF_SCIPY = ("scipy.fft", "scipy.special")


@functools.lru_cache(maxsize=4)
def _table(loaded: tuple[str, ...]) -> dict[int, tuple[Any, Any]]:
    """Implementations for complex arguments, by the identity of the functions; those of SciPy's
    modules once the user has imported them."""
    found: dict[int, tuple[Any, Any]] = {}
    for name, made in (holomorphic.TABLE | fourier.TRANSFORMS | holomorphic.SCIPY).items():
        module, _, rest = name.partition(".")
        if module == "scipy" and name.rpartition(".")[0] not in loaded:
            continue
        owner: Any = importlib.import_module(module)
        for part in rest.split("."):
            owner = getattr(owner, part)
        found[id(owner)] = owner, functools.partial(_composed, made)
    for name in holomorphic.BY_PARTS:
        if (function := getattr(np, name, None)) is not None:
            found[id(function)] = function, functools.partial(_by_parts, function)
    found |= {id(f): (f, made) for f, made in _OTHERS.items()}
    return found


def _composed(made: Any, t: Tracer, *args: Any, **kwargs: Any) -> Any:
    return t.inline(made, args, kwargs)


def _split(value: Any, k: int) -> Any:
    """A value with each complex number replaced by one of its parts, and each real number next to
    complex ones likewise."""
    if isinstance(value, (list, tuple)):
        inner = [_split(v, k) for v in value]
        return inner if isinstance(value, list) else tuple_like(value, inner)
    return parts_of(value)[k]


def _by_parts(function: Any, t: Tracer, first: Any, *args: Any, **kwargs: Any) -> Any:
    """A function that acts on both parts of its first argument alike."""
    if is_type(kwargs.get("dtype")):
        del kwargs["dtype"]
    if args and is_type(args[0]):
        args = args[1:]
    if any(map(involved, (*args, *kwargs.values()))) and function is not np.append:
        raise Refused(f"np.{function.__name__}() with a complex number as a further argument")
    if function is np.append:
        given = [(_split(first, k), _split(args[0], k), *args[1:]) for k in (0, 1)]
    else:
        given = [(_split(first, k), *args) for k in (0, 1)]
    real, imag = (t.call(function, g, dict(kwargs)) for g in given)
    return joined(t, real, imag)


def joined(t: Tracer, real: Any, imag: Any) -> Any:
    """Complex numbers in results, from real and imaginary parts that nest alike."""
    if isinstance(real, (list, tuple)):
        return tuple_like(tuple(real), [joined(t, a, b) for a, b in zip(real, imag, strict=True)])
    return pair(t, real, imag)


def _where(t: Tracer, condition: Any, a: Any, b: Any) -> Any:
    sides = zip(parts_of(a), parts_of(b), strict=True)
    return joined(t, *(t.call(np.where, (condition, x, y), {}) for x, y in sides))


def _full(t: Tracer, shape: Any, value: Any, dtype: Any = None) -> Any:
    return joined(t, *(t.call(np.full, (shape, v), {"dtype": float}) for v in parts_of(value)))


def _full_like(t: Tracer, a: Any, value: Any, dtype: Any = None) -> Any:
    shape = t.attribute(parts_of(a)[0], "shape")
    return _full(t, shape, value)


def _ones_like(t: Tracer, a: Any, dtype: Any = None) -> Any:
    return joined(t, t.call(np.ones_like, (parts_of(a)[0],), {}), number(0.0))


def _of_real_part(function: Any) -> Callable[..., Any]:
    """A function that depends on the shape of its argument only."""
    return lambda t, value, *args: t.call(function, (parts_of(value)[0], *args), {})


def _polyval(t: Tracer, p: Any, x: Any) -> Any:
    """By Horner's scheme."""
    return t.inline(_horner, (p, x), {})


def _horner(p: Any, x: Any) -> Any:
    found = 0.0 * x
    for c in p:
        found = found * x + c
    return found


_OTHERS: dict[Any, Callable[..., Any]] = {
    np.where: _where, np.full: _full, np.full_like: _full_like, np.ones_like: _ones_like,
    np.shape: _of_real_part(np.shape), np.ndim: _of_real_part(np.ndim),
    np.size: _of_real_part(np.size), len: _of_real_part(len), complex: _complex,
    np.complex128: _complex, bool: truth, np.polyval: _polyval, np.iscomplexobj: lambda t, z: True,
}  # fmt: skip
_MAKERS = (np.zeros, np.ones, np.empty, np.eye, np.identity, np.array, np.asarray, np.full,
           np.zeros_like, np.ones_like, np.empty_like, np.full_like)  # fmt: skip
"""Functions that make an array of a type."""
_FREE = (isinstance, list, tuple, zip, enumerate, map, filter, reversed, print, dict, type, iter)
"""Functions that do not compute with their arguments."""


def involved(value: Any) -> bool:
    """Whether a value is complex, or a list or tuple with a complex number in it."""
    if isinstance(value, (list, tuple)):
        return any(map(involved, value))
    return is_complex(value)


def called(t: Tracer, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a call with complex arguments, or for a complex type; else NotImplemented."""
    if isinstance(function, Method):
        whole = function.name != "astype" or is_complex(function.owner)
        return NotImplemented if whole or not is_type(args[0]) else pair(t, function.owner, 0)
    of_type = function in _MAKERS and any(map(is_type, (*args, *kwargs.values())))
    of_numpy = (getattr(function, "__module__", None) or "").partition(".")[0] == "numpy"
    if of_numpy or isinstance(function, np.ufunc):
        complex_given = any(map(involved, (*args, *kwargs.values())))
    else:
        complex_given = any(map(is_complex, (*args, *kwargs.values())))
    if complex_given:
        found = _table(tuple(m for m in _OF_SCIPY if m in sys.modules)).get(id(function))
        if found is not None and found[0] is function:
            return found[1](t, *args, **kwargs)
        return NotImplemented
    if not of_type:
        return NotImplemented
    kept = tuple(v for v in args if not is_type(v))
    named = {k: v for k, v in kwargs.items() if not is_type(v)}
    return pair(t, t.call(function, kept, named), number(0.0))


def check(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Refuse a known function that does not support complex numbers here."""
    if not any(map(is_complex, (*args, *kwargs.values()))) or function in _FREE:
        return
    package = (getattr(function, "__module__", None) or "").partition(".")[0]
    if package not in ("cmath", "symdiff"):
        raise Refused(f"{function.__name__}() of complex numbers is not supported")


# --------------------------------------------------------------- entries for the tracer
@traced_as(of_operators.small_integer)
def _small_integer(t: Tracer, value: Any) -> Any:
    if is_complex(value):
        if ir.rational(as_real(parts_of(value)[1]).expr) != 0 or is_array_pair(value):
            return None
        value = parts_of(value)[0]
    if not isinstance(value, (int, Real)):
        return None
    q = ir.rational(as_real(value).expr)
    return int(q) if q is not None and q.denominator == 1 and abs(q) <= 100 else None


traced_as(is_complex)(lambda t, value: is_complex(value))

NAMES: dict[str, Callable[..., Any]] = {"builtins.complex": _complex, "numpy.complex128": _complex}
"""Traced versions, by the dotted name."""
