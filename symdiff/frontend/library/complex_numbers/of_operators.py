"""Operators of complex numbers and of arrays of them in terms of real ones: plain Python that is traced
like a user's. One of the operands may be real.

Before:  z * w
After:   (z.real * w.real - z.imag * w.imag) + 1j * (z.real * w.imag + z.imag * w.real)
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from symdiff.frontend.trace.values import is_complex


def pair(real: Any, imag: Any) -> Any:
    """The complex numbers with these parts, one of which may have fewer axes."""
    return real + 1j * imag


def small_integer(value: Any) -> Any:
    """A number that is known to be an integer of magnitude at most 100, as an int; else None."""
    return int(value) if abs(value) <= 100 and value == int(value) else None


def add(a: Any, b: Any) -> Any:
    if not is_complex(b):
        return pair(a.real + b, a.imag)
    if not is_complex(a):
        return pair(a + b.real, b.imag)
    return pair(a.real + b.real, a.imag + b.imag)


def subtract(a: Any, b: Any) -> Any:
    if not is_complex(b):
        return pair(a.real - b, a.imag)
    if not is_complex(a):
        return pair(a - b.real, -b.imag)
    return pair(a.real - b.real, a.imag - b.imag)


def multiply(a: Any, b: Any) -> Any:
    if not is_complex(b):
        return pair(a.real * b, a.imag * b)
    if not is_complex(a):
        return pair(a * b.real, a * b.imag)
    return pair(a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real)


def divide(a: Any, b: Any) -> Any:
    if not is_complex(b):
        return pair(a.real / b, a.imag / b)
    square = b.real * b.real + b.imag * b.imag
    if not is_complex(a):
        return pair(a * b.real / square, -a * b.imag / square)
    return pair(
        (a.real * b.real + a.imag * b.imag) / square, (a.imag * b.real - a.real * b.imag) / square
    )


def negative(a: Any) -> Any:
    return pair(-a.real, -a.imag)


def equal(a: Any, b: Any) -> Any:
    if not is_complex(b):
        return np.logical_and(a.real == b, a.imag == 0)
    if not is_complex(a):
        return np.logical_and(a == b.real, b.imag == 0)
    return np.logical_and(a.real == b.real, a.imag == b.imag)


def unequal(a: Any, b: Any) -> Any:
    return np.logical_not(equal(a, b))


def power(a: Any, b: Any) -> Any:
    """A power: by products for integers, as in Python; else by the logarithm."""
    n = small_integer(b)
    if n is not None:
        return whole_power(a, n)
    x, y = (a.real, a.imag) if is_complex(a) else (a, 0.0 * a)
    size, angle = np.hypot(x, y), np.arctan2(y, x)
    if not is_complex(b):
        return polar_pair(size**b, angle * b)
    logarithm = np.log(np.where(size == 0, 1.0, size))
    return polar_pair(
        size**b.real * np.exp(-b.imag * angle), b.real * angle + b.imag * logarithm
    )  # of 0 it is 0


def polar_pair(size: Any, angle: Any) -> Any:
    return pair(size * np.cos(angle), size * np.sin(angle))


def whole_power(a: Any, n: int) -> Any:
    if n == 0:
        return pair(a.real**0, 0.0)
    found: Any = None
    base, left = a, abs(n)
    while left > 0:
        if left % 2 == 1:
            found = base if found is None else found * base
        left = left // 2
        if left > 0:
            base = base * base
    return found if n > 0 else 1.0 / found


def matmul(a: Any, b: Any) -> Any:
    return products(np.matmul, a, b)


def products(function: Any, a: Any, b: Any) -> Any:
    """A function that is bilinear in its arguments, for complex ones."""
    if not is_complex(b):
        return pair(function(a.real, b), function(a.imag, b))
    if not is_complex(a):
        return pair(function(a, b.real), function(a, b.imag))
    return pair(
        function(a.real, b.real) - function(a.imag, b.imag),
        function(a.real, b.imag) + function(a.imag, b.real),
    )


OPERATORS: dict[type[ast.AST], Any] = {
    ast.Add: add, ast.Sub: subtract, ast.Mult: multiply, ast.Div: divide, ast.Pow: power,
    ast.MatMult: matmul, ast.Eq: equal, ast.NotEq: unequal,
}  # fmt: skip
"""Implementations of operators."""
