"""Floats that are stored in arrays of integers or truth values.

NumPy rounds a stored float towards zero, and refuses operations in place, and `out=`, if the
result is of a higher kind than the array. In a trace with integers among the arguments the kind of
an array may follow from an argument, while kernels compute with floats there: that trace refuses
such stores, so that the call gives the result of Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symdiff import ir
from symdiff.frontend.trace.recorder import Retrace, active
from symdiff.frontend.trace.values import (
    Refused,
    as_real,
    cast,
    of_integers,
    python_kind,
    unsure,
)

ROUNDED = "a float is stored in an array whose kind may follow from an argument"
"""The message where arguments are traced as integers."""


def must_not_follow(dtype: Any = None) -> None:
    """Refuse to round a float where arguments are traced as integers, unless a type such as `int`
    (not an attribute of an array) is requested."""
    if of_integers.get() and (dtype is None or isinstance(dtype, np.dtype)):
        raise Refused(ROUNDED)


def note_store(kind: str) -> None:
    """Record a store in integers, where arguments are traced as integers."""
    found = unsure.get()
    if found is not None and kind == "i":
        found.add("stored")


def held_small(value: Any, kind: str) -> Any:
    """A number as an element of a small array of a kind: floats are rounded towards zero. For an
    unknown float, the trace begins again with the array in memory."""
    note_store(kind)
    if kind != "i" or python_kind(value) != "f":
        return cast(value, kind)
    must_not_follow()
    known = ir.rational(as_real(value).expr)
    if known is not None:
        return int(known)
    if active.get().size_limit >= 0:
        raise Retrace(what="real numbers are stored in an array of integers")
    return cast(value, kind)
