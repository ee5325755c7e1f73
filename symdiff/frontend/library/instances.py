"""`isinstance` of traced values, where Python's numbers and NumPy's are not distinguished."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from types import UnionType
from typing import Any

import numpy as np

from symdiff.frontend.trace.demands import retrace_integers
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import (
    Choice,
    Cond,
    Integral,
    Real,
    Record,
    Refused,
    SmallArray,
    SymArray,
    Whole,
    ZeroDimensional,
    describe,
    is_array_pair,
    is_complex,
    of_integers,
)

_EITHER: dict[str, tuple[Any, ...]] = {
    "f": (float, numbers.Number, numbers.Complex, numbers.Real, object),
    "i": (int, numbers.Number, numbers.Complex, numbers.Real, numbers.Rational, numbers.Integral, object),
    "b": (object,),
}  # fmt: skip
"""The types of both Python's and NumPy's numbers; whole numbers count as Python's."""
_NUMPY: dict[str, tuple[Any, ...]] = {
    "f": (np.float64, np.floating, np.inexact, np.number, np.generic),
    "i": (np.int64, np.signedinteger, np.integer, np.number, np.generic),
    "b": (np.bool_, np.generic),
}
_OF_ARRAYS = {np.ndarray, object}
_COMPLEX = (
    complex,
    np.complexfloating,
    np.complex128,
    np.inexact,
    np.number,
    numbers.Number,
    numbers.Complex,
    object,
)
_PYTHON = bool, int, numbers.Number, numbers.Complex, numbers.Real, numbers.Integral
"""The types of a truth value of Python."""


def _each(types: Any) -> Iterator[Any]:
    """The types of a tuple, which may nest, or of a union."""
    if isinstance(types, tuple | UnionType):
        for t in types if isinstance(types, tuple) else types.__args__:
            yield from _each(t)
    else:
        yield types


def is_instance(t: Tracer, value: Any, types: Any) -> bool:
    """`isinstance(value, types)`."""
    wanted = set(_each(types))
    if isinstance(value, Choice):
        of_one, of_other = (is_instance(t, v, types) for v in (value.then, value.other))
        if of_one is not of_other:
            raise Refused(f"the type of {describe(value)} is asked for", "ask whether it is None")
        return of_one
    if is_complex(value):
        kinds = _OF_ARRAYS if is_array_pair(value) else _COMPLEX
        return bool(wanted.intersection(kinds))
    if isinstance(value, Record):
        return issubclass(value.made_of, tuple(wanted))
    if of_integers.get() and isinstance(value, Real) and not {numbers.Number, object} & wanted:
        raise Refused("the type of a number decides what is computed")  # Python then runs instead
    if isinstance(value, ZeroDimensional):
        return bool(_OF_ARRAYS & wanted)
    if isinstance(value, (Whole, Integral)):
        return _of_number("i", wanted)
    if isinstance(value, Real):
        if wanted.isdisjoint(_EITHER["i"]) is not wanted.isdisjoint(_EITHER["f"]):
            retrace_integers(t, value.expr)
        return _of_number("f", wanted)
    if isinstance(value, Cond):
        return _of_number("b", wanted)
    if isinstance(value, (SmallArray, SymArray)):
        return bool(_OF_ARRAYS & wanted)
    return isinstance(value, types)


def _of_number(kind: str, wanted: set[Any]) -> bool:
    if wanted.intersection(_EITHER[kind]):
        return True
    of_numpy = bool(wanted.intersection(_NUMPY[kind]))
    of_python = kind == "b" and bool(wanted.intersection(_PYTHON))
    if of_numpy is not of_python:
        raise Refused(
            "whether a number is one of NumPy's decides", "ask for both, as (bool, np.bool_)"
            if kind == "b" else "ask for float or int, which a number of Python's is, too",
        )  # fmt: skip
    return of_numpy
