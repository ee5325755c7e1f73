"""Functions of complex numbers in terms of real ones: plain Python that is traced like a user's. Branches
are the principal ones of `cmath`; on a cut the imaginary part 0 counts as positive."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from symdiff.frontend.library.complex_numbers.of_operators import (
    OPERATORS,
    add,
    divide,
    equal,
    multiply,
    negative,
    pair,
    polar_pair,
    power,
    products,
    subtract,
    unequal,
)
from symdiff.frontend.library.primitives import exact
from symdiff.frontend.trace.values import is_complex
from symdiff.ir import ZERO
from symdiff.ir.functions.faddeeva import FADDEEVA_IMAG, FADDEEVA_REAL

_faddeeva_real = exact(lambda x, y: FADDEEVA_REAL(ZERO, x, y))
_faddeeva_imag = exact(lambda x, y: FADDEEVA_IMAG(ZERO, x, y))


# ----------------------------------------------------------------------- parts
def absolute(z: Any) -> Any:
    return np.hypot(z.real, z.imag)


def phase(z: Any) -> Any:
    return np.arctan2(z.imag, z.real)


def angle(z: Any, deg: bool = False) -> Any:
    return np.arctan2(z.imag, z.real) * (180 / math.pi if deg else 1.0)


def polar(z: Any) -> Any:
    return absolute(z), phase(z)


def conjugate(z: Any) -> Any:
    return pair(z.real, -z.imag)


def real_part(z: Any) -> Any:
    return z.real


def imaginary_part(z: Any) -> Any:
    return z.imag


# ------------------------------------------------------------------- functions
def exp(z: Any) -> Any:
    return polar_pair(np.exp(z.real), z.imag)


def exp2(z: Any) -> Any:
    return polar_pair(2.0**z.real, z.imag * math.log(2))


def log(z: Any, base: Any = None) -> Any:
    found = pair(np.log(np.hypot(z.real, z.imag)), np.arctan2(z.imag, z.real))
    return found if base is None else found / log(base)


def log10(z: Any) -> Any:
    found = log(z)
    return pair(found.real / np.log(10), found.imag / np.log(10))


def log2(z: Any) -> Any:
    found = log(z)
    return pair(found.real / np.log(2), found.imag / np.log(2))


def sqrt(z: Any) -> Any:
    x, y = z.real, z.imag
    larger = np.sqrt((np.hypot(x, y) + np.where(x < 0, -x, x)) / 2)
    smaller = np.where(larger == 0, 0.0, y / (2 * larger))
    real = np.where(x < 0, np.where(y < 0, -smaller, smaller), larger)
    return pair(real, np.where(x < 0, np.where(y < 0, -larger, larger), smaller))


def square(z: Any) -> Any:
    return z * z


def reciprocal(z: Any) -> Any:
    return 1.0 / z


def sin(z: Any) -> Any:
    return pair(np.sin(z.real) * np.cosh(z.imag), np.cos(z.real) * np.sinh(z.imag))


def cos(z: Any) -> Any:
    return pair(np.cos(z.real) * np.cosh(z.imag), -np.sin(z.real) * np.sinh(z.imag))


def tan(z: Any) -> Any:
    found = tanh(pair(-z.imag, z.real))
    return pair(found.imag, -found.real)


def sinh(z: Any) -> Any:
    return pair(np.sinh(z.real) * np.cos(z.imag), np.cosh(z.real) * np.sin(z.imag))


def cosh(z: Any) -> Any:
    return pair(np.cosh(z.real) * np.cos(z.imag), np.sinh(z.real) * np.sin(z.imag))


def tanh(z: Any) -> Any:
    of_real, of_imag = np.tanh(z.real), np.tan(z.imag)
    below = 1 + (of_real * of_imag) ** 2
    real = of_real * (1 + of_imag**2) / below
    return pair(real, of_imag / np.cosh(z.real) ** 2 / below)


def _roots(z: Any) -> Any:
    """The conjugate of sqrt(1 - z), and sqrt(1 + z)."""
    return sqrt(pair(1 - z.real, z.imag)), sqrt(pair(1 + z.real, z.imag))


def asin(z: Any) -> Any:
    below, above = _roots(z)
    real = np.arctan2(z.real, below.real * above.real + below.imag * above.imag)
    return pair(real, np.arcsinh(below.real * above.imag + below.imag * above.real))


def acos(z: Any) -> Any:
    below, above = _roots(z)
    imag = -np.arcsinh(below.real * above.imag + below.imag * above.real)
    return pair(2 * np.arctan2(below.real, above.real), imag)


def atan(z: Any) -> Any:
    found = atanh(pair(-z.imag, z.real))
    return pair(found.imag, -found.real)


def asinh(z: Any) -> Any:
    found = asin(pair(-z.imag, z.real))
    return pair(found.imag, -found.real)


def acosh(z: Any) -> Any:
    below, above = sqrt(pair(z.real - 1, z.imag)), sqrt(pair(z.real + 1, z.imag))
    real = np.arcsinh(below.real * above.real + below.imag * above.imag)
    return pair(real, 2 * np.arctan2(below.imag, above.real))


def atanh(z: Any) -> Any:
    x, y = z.real, z.imag
    real = np.log1p(4 * x / ((1 - x) ** 2 + y * y)) / 4
    return pair(real, np.arctan2(2 * y, (1 - x) * (1 + x) - y * y) / 2)


def wofz(z: Any) -> Any:
    """Faddeeva's function."""
    x, y = (z.real, z.imag) if is_complex(z) else (z, 0.0 * z)
    return pair(_faddeeva_real(x, y), _faddeeva_imag(x, y))


# ------------------------------------------------------------------ truth values
def isfinite(z: Any) -> Any:
    return np.logical_and(np.isfinite(z.real), np.isfinite(z.imag))


def isnan(z: Any) -> Any:
    return np.logical_or(np.isnan(z.real), np.isnan(z.imag))


def isinf(z: Any) -> Any:
    return np.logical_or(np.isinf(z.real), np.isinf(z.imag))


def isreal(z: Any) -> Any:
    return z.imag == 0


def iscomplex(z: Any) -> Any:
    return z.imag != 0


def iscomplexobj(z: Any) -> Any:
    return True


def isrealobj(z: Any) -> Any:
    return False


# -------------------------------------------------------------------- of arrays
def vdot(a: Any, b: Any) -> Any:
    left = np.ravel(conjugate(a) if is_complex(a) else a)
    return np.dot(left, np.ravel(b))


def bilinear(function: Any) -> Any:
    def found(a: Any, b: Any) -> Any:
        return products(function, a, b)

    return found


dot, inner, outer, kron, matmul = map(bilinear, (np.dot, np.inner, np.outer, np.kron, np.matmul))


def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    return products(functools.partial(np.convolve, mode=mode), a, v)


def einsum(subscripts: Any, *operands: Any) -> Any:
    if len(operands) == 1:
        z = operands[0]
        return pair(np.einsum(subscripts, z.real), np.einsum(subscripts, z.imag))
    if len(operands) > 2:
        raise ValueError("np.einsum() of more than two arrays of complex numbers")
    return products(functools.partial(np.einsum, subscripts), *operands)


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    return products(functools.partial(np.tensordot, axes=axes), a, b)


def prod(a: Any) -> Any:
    z = np.ravel(a)
    real, imag = 1.0, 0.0
    for k in range(z.real.shape[0]):
        x, y = z.real[k], z.imag[k]
        real, imag = real * x - imag * y, real * y + imag * x
    return pair(real, imag)


def var(a: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
    return np.var(a.real, axis=axis, ddof=ddof, keepdims=keepdims) + np.var(
        a.imag, axis=axis, ddof=ddof, keepdims=keepdims
    )


def std(a: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
    return np.sqrt(var(a, axis, ddof, keepdims))


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    if ord == 2 and axis is None and np.ndim(x.real) > 1:
        raise ValueError("the spectral norm of a complex matrix")
    return np.linalg.norm(np.hypot(x.real, x.imag), ord, axis=axis, keepdims=keepdims)


_OF_NUMPY = {
    "exp": exp, "exp2": exp2, "log": log, "log2": log2, "log10": log10, "sqrt": sqrt,
    "sin": sin, "cos": cos, "tan": tan, "sinh": sinh, "cosh": cosh, "tanh": tanh,
    "arcsin": asin, "arccos": acos, "arctan": atan, "arcsinh": asinh, "arccosh": acosh,
    "arctanh": atanh, "square": square, "reciprocal": reciprocal, "absolute": absolute,
    "angle": angle, "real": real_part, "imag": imaginary_part, "conjugate": conjugate,
    "negative": negative, "add": add, "subtract": subtract, "multiply": multiply,
    "divide": divide, "power": power, "equal": equal, "not_equal": unequal,
    "isfinite": isfinite, "isnan": isnan, "isinf": isinf, "isreal": isreal,
    "iscomplex": iscomplex, "iscomplexobj": iscomplexobj, "isrealobj": isrealobj,
    "vdot": vdot, "dot": dot, "inner": inner, "outer": outer, "kron": kron, "matmul": matmul,
    "convolve": convolve, "einsum": einsum, "tensordot": tensordot, "prod": prod, "var": var,
    "std": std, "linalg.norm": norm,
}  # fmt: skip
_OF_CMATH = {
    "exp": exp, "log": log, "log10": log10, "sqrt": sqrt, "sin": sin, "cos": cos, "tan": tan,
    "sinh": sinh, "cosh": cosh, "tanh": tanh, "asin": asin, "acos": acos, "atan": atan,
    "asinh": asinh, "acosh": acosh, "atanh": atanh, "phase": phase, "polar": polar,
    "rect": polar_pair, "isfinite": isfinite, "isnan": isnan, "isinf": isinf,
}  # fmt: skip

TABLE: dict[str, Any] = {
    **{f"numpy.{name}": f for name, f in _OF_NUMPY.items()},
    "builtins.abs": absolute, "operator.abs": absolute, "builtins.pow": power,
    "operator.add": add, "operator.sub": subtract, "operator.mul": multiply,
    "operator.truediv": divide, "operator.pow": power, "operator.neg": negative,
    "operator.eq": equal, "operator.ne": unequal,
}  # fmt: skip
"""Implementations for complex arguments, by the dotted name."""

CMATH: dict[str, Any] = {f"cmath.{name}": f for name, f in _OF_CMATH.items()}
"""Functions of cmath."""

SCIPY: dict[str, Any] = {"scipy.special.wofz": wofz}
"""Functions of SciPy's, of real and complex arguments."""

BY_PARTS = frozenset((
    "sum", "mean", "cumsum", "reshape", "ravel", "transpose", "squeeze", "moveaxis", "swapaxes",
    "expand_dims", "flip", "flipud", "fliplr", "roll", "tile", "repeat", "diag", "diagonal",
    "trace", "diff", "copy", "asarray", "array", "ascontiguousarray", "stack", "concatenate",
    "hstack", "vstack", "column_stack", "block", "atleast_1d", "atleast_2d", "triu", "tril",
    "rot90", "split", "array_split", "broadcast_to", "zeros_like", "empty_like", "trapezoid",
    "take", "pad", "round", "append",
))  # fmt: skip
"""Functions of NumPy that act on both parts alike."""

__all__ = ["BY_PARTS", "CMATH", "OPERATORS", "SCIPY", "TABLE"]
