"""What an array of integers or truth values holds after a float was stored in it.

NumPy rounds a stored float towards zero, and refuses in-place operations, and `out=`, whose result
is of a higher kind than the array. In a trace with integers among the arguments the kind of an
array may follow from an argument, while kernels compute with floats there: such stores are refused
in that trace, so that the call gives what Python gives.
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
"""What is said of it where arguments are traced as integers."""


def must_not_follow(dtype: Any = None) -> None:
    """Refuse to round a float where arguments are traced as integers; not if a type such as `int` is asked
    for, which is no attribute of an array."""
    if of_integers.get() and (dtype is None or isinstance(dtype, np.dtype)):
        raise Refused(ROUNDED)


def note_store(kind: str) -> None:
    """Remember that something is stored in integers, where arguments are traced as such."""
    found = unsure.get()
    if found is not None and kind == "i":
        found.add("stored")


def held_small(value: Any, kind: str) -> Any:
    """A number as an element of a small array of a kind: floats are rounded towards zero. Where one is not known,
    the trace begins again, with the array in memory."""
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
