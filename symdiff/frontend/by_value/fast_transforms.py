"""Discrete Fourier transforms of arrays of scalars: values by NumPy or SciPy, slopes along a fast transform.

The functions are those that the compiler traces (`library.complex_numbers.fourier`), with another transform of an axis.
"""

from __future__ import annotations

import cmath
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symdiff.frontend.by_value.arrays import lifted, objects
from symdiff.frontend.by_value.complex_scalars import Complex, with_names
from symdiff.frontend.by_value.composed_functions import doubled, valued
from symdiff.frontend.by_value.elementary import FUNCTIONS, library
from symdiff.frontend.library.complex_numbers import fourier


def _transform(z: Sequence[Any], root: complex) -> list[Any]:
    """The sums of z[j] * root**(j*k), for each k: by the smallest factor of their number."""
    n = len(z)
    if n == 1:
        return list(z)
    p = next((d for d in range(2, int(n**0.5) + 1) if n % d == 0), n)
    parts = [_transform(z[r::p], root**p) for r in range(p)]
    rest = n // p
    return [
        sum(_turned(parts[r][k % rest], root, r * k % n, n) for r in range(p)) for k in range(n)
    ]


def _turned(z: Any, root: complex, k: int, n: int) -> Any:
    """z * root**k, where root**n is 1."""
    if 4 * k % n:
        return z * cmath.exp(cmath.log(root) * k)
    turns = 4 * k // n * (1 if root.imag > 0 else -1) % 4 if n > 2 else 4 * k // n
    x, y = z.real, z.imag
    return (z, Complex(-y, x), -z, Complex(y, -x))[turns]


def _dft(real: Any, imag: Any, axis: int) -> tuple[Any, Any]:
    """The parts of the transform along an axis."""
    z = np.frompyfunc(Complex, 2, 1)(objects(real), objects(imag))
    rows = np.moveaxis(z, axis, -1)
    found = np.empty(rows.shape, object)
    root = cmath.exp(-2j * cmath.pi / rows.shape[-1])
    for at in np.ndindex(*rows.shape[:-1]):
        found[at] = _transform(rows[at], root)
    whole = lifted(np.moveaxis(found, -1, axis))
    return whole.real, whole.imag


def _rdft(signal: Any, count: int, axis: int) -> tuple[Any, Any]:
    """The first elements of that of real numbers, which determine the rest."""
    real, imag = _dft(signal, np.zeros(np.shape(signal)), axis)
    kept = [slice(None)] * real.ndim
    kept[axis] = slice(count)
    return real[tuple(kept)], imag[tuple(kept)]


def _rdft_transposed(real: Any, imag: Any, count: int, axis: int) -> Any:
    """The transposed map of `_rdft`."""
    missing = list(np.shape(real))
    missing[axis] = count - missing[axis]
    real, imag = (np.concatenate([v, np.zeros(missing)], axis=axis) for v in (real, imag))
    return _dft(imag, real, axis)[1]


def _pair(real: Any, imag: Any) -> Any:
    return lifted(np.frompyfunc(Complex, 2, 1)(objects(real), objects(imag)))


_NUMPY = types.SimpleNamespace(**{**vars(np), "asarray": lambda a: lifted(objects(a))})
_FORMULAS = with_names(
    (fourier,), np=_NUMPY, pair=_pair, _dft=_dft, _rdft=_rdft, _rdft_transposed=_rdft_transposed
)["functions"]()


def _with_values(original: Callable[..., Any], formula: Callable[..., Any]) -> Callable[..., Any]:
    def found(a: Any, *args: Any, **kwargs: Any) -> Any:
        scalars = formula(lifted(objects(a)), *args, **kwargs)
        return valued(original(doubled(a), *args, **kwargs), scalars)

    return found


for _name in ("numpy.fft", "scipy.fft"):
    for _function, _formula in _FORMULAS.items():
        if (_module := library(_name)) and not _function.endswith("freq"):
            _original = getattr(_module, _function)
            FUNCTIONS[_original] = _with_values(_original, _formula)
for _original in (np.fft.fftshift, np.fft.ifftshift):
    FUNCTIONS[_original] = lambda x, axes=None, f=_original: lifted(f(objects(x), axes))
