"""Python values of the user's world, as traced values."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from symdiff.frontend.trace.complex_pairs import of_python
from symdiff.frontend.trace.values import (
    MAX_ARRAY,
    ComplexNumber,
    ExactReal,
    Real,
    Record,
    Refused,
    SmallArray,
    number,
)


def from_outside(value: Any) -> Any:
    """A Python value of the user's world, as a traced value."""
    kind = type(value)
    if kind is float or kind is Fraction:
        return number(value)
    if kind is ExactReal:
        return Real(value.exact)
    if isinstance(value, np.generic):
        return _from_numpy(value)
    if isinstance(value, np.ndarray):
        must_be_plain(value)
        if value.dtype == np.complex128:
            parts = {"real": from_outside(value.real), "imag": from_outside(value.imag)}
            return Record(ComplexNumber, parts)
        if value.dtype.kind not in "biuf":
            raise Refused(f"an array of dtype {value.dtype} is used", "use real numbers")
        if value.size > MAX_ARRAY:
            raise Refused(
                f"an array of {value.size} elements is used",
                f"arrays are traced element by element, up to {MAX_ARRAY} of them",
            )
        items = np.empty(value.shape, object)
        items.ravel()[:] = [from_outside(v) for v in value.ravel()]
        small = SmallArray(items, value.dtype.kind.replace("u", "i"))
        return small if value.ndim else items.item()
    if isinstance(value, complex):
        return of_python(value)
    return number(float(value)) if isinstance(value, float) else value


def must_be_plain(value: np.ndarray) -> None:
    """Refuse arrays that would lose their mask, units or operators.

    Raises
    ------
    Refused : for such arrays.
    """
    kind = type(value)
    if kind in (np.ndarray, np.memmap):
        return
    called = f"{kind.__module__}.{kind.__qualname__}"
    hint = "use np.asarray() of it"
    if isinstance(value, np.ma.MaskedArray):
        hint = "its mask would be lost: use .filled(...) of it, or its mask as an array"
    raise Refused(f"a {called} is used, which symdiff does not compute with", hint)


def _from_numpy(value: Any) -> Any:
    if isinstance(value, (str, bytes)):
        return str(value) if isinstance(value, str) else bytes(value)
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, np.floating):
        if not np.isfinite(value):
            return number(float(value))
        return number(Fraction(*value.as_integer_ratio()))
    if isinstance(value, np.complex128):
        return of_python(complex(value))
    raise Refused(f"a value of dtype {value.dtype} is used", "use real numbers")
