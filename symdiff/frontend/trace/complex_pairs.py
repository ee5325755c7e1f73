"""Complex numbers as pairs of real ones, where a trace merges them with real numbers."""

from __future__ import annotations

from typing import Any

from symdiff.frontend.trace.values import (
    ComplexNumber,
    Record,
    as_float,
    is_array_pair,
    is_complex,
    is_number,
    number,
)


def of_numbers(real: Any, imag: Any) -> Record:
    """The complex number of two real ones."""
    return Record(ComplexNumber, {"real": as_float(real), "imag": as_float(imag)})


def of_python(value: complex) -> Record:
    """A complex number that is known when traced."""
    return of_numbers(number(value.real), number(value.imag))


def promoted(value: Any) -> Any:
    """A real number as a complex one; other values unchanged."""
    return of_numbers(value, number(0.0)) if is_number(value) else value


def alike(a: Any, b: Any) -> tuple[Any, Any]:
    """Two values, both complex if one of them is."""
    for v, other in ((a, b), (b, a)):
        if is_complex(v) and is_number(other) and not is_array_pair(v):
            return promoted(a), promoted(b)
    return a, b
