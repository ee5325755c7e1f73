"""Complex numbers and arrays, assembled from their real and imaginary parts where results are nested."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from symdiff.errors import SymdiffError
from symdiff.process.lazy_modules import Later

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")


class Conjugate:
    """The fields p and q of p - 1j*q: a slope by x + 1j*y from slopes by x and y."""


def complex_of(real: Any, imag: Any) -> Any:
    """real + 1j*imag, which keeps signs of zeros, infinities and nan; for containers that nest
    alike, the same of each pair of their parts."""
    if isinstance(real, dict):
        return {k: complex_of(v, imag[k]) for k, v in real.items()}
    if isinstance(real, (tuple, list)):
        parts = [complex_of(a, b) for a, b in zip(real, imag, strict=True)]
        return parts if isinstance(real, list) else tuple(parts)
    if isinstance(real, np.ndarray) and real.dtype.kind in "fiub":
        made = np.empty(real.shape, np.result_type(real, imag, np.complex64))
        made.real, made.imag = real, imag
        return made
    if isinstance(real, np.generic) or isinstance(imag, np.generic):
        return np.result_type(real, imag, np.complex64).type(complex(real, imag))
    if isinstance(real, (float, int)):
        return complex(real, imag)
    if hasattr(real, "tocsr"):  # a sparse matrix
        return real + 1j * imag
    if hasattr(real, "__cuda_array_interface__"):
        raise SymdiffError("complex results on a CUDA device", hint="return z.real, z.imag")
    import sympy

    return real + sympy.I * imag


def conjugate_of(real: Any, imag: Any) -> Any:
    """real - 1j*imag."""
    return complex_of(real, 0 - imag)  # 0 of 0, not -0.0


PAIRS: dict[type, Callable[[Any, Any], Any]] = {complex: complex_of, Conjugate: conjugate_of}
"""Constructs an object in a tree of results from its two parts."""
