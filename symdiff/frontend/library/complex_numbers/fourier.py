"""Discrete Fourier transforms, in plain Python that is traced.

Each is a product with the matrix of the roots of unity: n**2 operations for n numbers, where a fast
transform takes n*log(n). Exponents are reduced as integers, so that roots are accurate, and exact
if they are 1, -1, 1j or -1j.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symdiff.frontend.library.implicit import ALL
from symdiff.frontend.library.primitives import traced
from symdiff.frontend.trace.tracer import Tracer

ArrayLike = Any
ROOM = 2.0**-36
"""The difference from NumPy's results, relative to the largest argument: its transforms round
otherwise."""


@traced
def rounded_otherwise(t: Tracer, found: Any) -> Any:
    """A result that plain Python computes by other steps."""
    t.solved(ALL, ROOM)
    return found


def _roots(rows: int, columns: int, n: int, sign: float) -> Any:
    """`exp(sign*2j*pi*j*k/n)` for all j below `rows` and k below `columns`."""
    turns = (np.arange(rows)[:, None] * np.arange(columns)[None, :]) % n
    below = 2 * turns > n
    least = np.where(below, n - turns, turns)  # the angle is 2*pi*least/n, up to its sign
    real = np.sin((n - 4 * least) * (math.pi / (2 * n)))
    imag = np.sin(np.minimum(2 * least, n - 2 * least) * (math.pi / n))
    return real + 1j * np.where(below, -sign * imag, sign * imag)


def _fitted(a: ArrayLike, n: int) -> Any:
    """An array whose last axis is cut, or padded with zeros, to a size."""
    if n <= a.shape[-1]:
        return a[..., :n]
    missing = np.zeros((*a.shape[:-1], n - a.shape[-1]))
    return np.concatenate([a, missing], axis=-1)


def _scale(n: int, norm: str | None, inverse: bool) -> Any:
    if norm == "ortho":
        return 1 / math.sqrt(n)
    if norm not in (None, "backward", "forward"):
        raise ValueError('norm is "backward", "ortho" or "forward"')
    return 1 / n if inverse == (norm != "forward") else 1.0


def _transformed(
    a: ArrayLike, n: int | None, axis: int, norm: str | None, inverse: bool, half: bool = False
) -> Any:
    a = np.moveaxis(np.asarray(a), axis, -1)
    if n is not None:
        a = _fitted(a, n)
    size = a.shape[-1]
    columns = size // 2 + 1 if half else size
    found = a @ _roots(size, columns, size, 1.0 if inverse else -1.0)
    return np.moveaxis(rounded_otherwise(found) * _scale(size, norm, inverse), -1, axis)


def _of_axis(inverse: bool, half: bool = False) -> Any:
    def found(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
        return _transformed(a, n, axis, norm, inverse, half)

    return found


fft, ifft, rfft = _of_axis(False), _of_axis(True), _of_axis(False, half=True)


def irfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """The signal whose transform has these values up to the middle, and their conjugates beyond."""
    a = np.moveaxis(np.asarray(a), axis, -1)
    size = 2 * (a.shape[-1] - 1) if n is None else n
    a = _fitted(a, size // 2 + 1)
    k = np.arange(size // 2 + 1)
    twice = np.where((k == 0) | (2 * k == size), 1.0, 2.0)
    roots = _roots(size // 2 + 1, size, size, 1.0)
    found = (np.real(a) * twice) @ np.real(roots) - (np.imag(a) * twice) @ np.imag(roots)
    return np.moveaxis(rounded_otherwise(found) * _scale(size, norm, True), -1, axis)


def _of_axes(transform: Any, usual: Any = None) -> Any:
    def found(a: ArrayLike, s: Any = None, axes: Any = usual, norm: str | None = None) -> Any:
        axes = tuple(range(-np.ndim(a), 0)) if axes is None and usual is None else axes
        for k in range(len(axes)):
            a = transform(a, None if s is None else s[k], axes[k], norm)
        return a

    return found


def fftfreq(n: int, d: Any = 1.0) -> Any:
    k = np.arange(n)
    return np.where(k < (n - 1) // 2 + 1, k, k - n) * (1.0 / (n * d))


def rfftfreq(n: int, d: Any = 1.0) -> Any:
    return np.arange(n // 2 + 1) * (1.0 / (n * d))


_FUNCTIONS = {
    "fft": fft, "ifft": ifft, "rfft": rfft, "irfft": irfft, "fft2": _of_axes(fft, (-2, -1)),
    "ifft2": _of_axes(ifft, (-2, -1)), "fftn": _of_axes(fft), "ifftn": _of_axes(ifft),
    "fftfreq": fftfreq, "rfftfreq": rfftfreq,
}  # fmt: skip
NUMPY = {f"numpy.fft.{name}": f for name, f in _FUNCTIONS.items()}
TRANSFORMS = NUMPY | {f"scipy.fft.{name}": f for name, f in _FUNCTIONS.items()}
"""The transforms, by their dotted names."""
