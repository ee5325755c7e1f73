"""Discrete Fourier transforms, in plain Python that is traced, by the routines of `symdiff.ir.linalg.discrete_fourier`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symdiff.frontend.arrays.folding import reals, routine
from symdiff.frontend.arrays.symbolic import symbolic
from symdiff.frontend.library.complex_numbers.of_operators import pair
from symdiff.frontend.library.primitives import traced
from symdiff.frontend.trace.extents import shape_of
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import SymArray
from symdiff.ir import Expr, const

ArrayLike = Any


@traced
def _dft(t: Tracer, real: Any, imag: Any, axis: Any) -> Any:
    """The parts of the transform along an axis."""
    parts = [reals(symbolic(t, v)) for v in (real, imag)]
    k = range(len(parts[0].shape))[axis]
    return tuple(routine(t, "dft", [(parts[0].shape, "f")] * 2, *parts, const(k)))


@traced
def _rdft(t: Tracer, signal: Any, count: Any, axis: Any) -> Any:
    """The same of real numbers: the first elements, which determine the rest."""
    a = reals(symbolic(t, signal))
    k = range(len(a.shape))[axis]
    return tuple(routine(t, "rdft", [(_resized(a, k, count), "f")] * 2, a, const(k)))


@traced
def _rdft_transposed(t: Tracer, real: Any, imag: Any, count: Any, axis: Any) -> Any:
    """The transposed map of `_rdft`."""
    a, b = (reals(symbolic(t, v)) for v in (real, imag))
    k = range(len(a.shape))[axis]
    shape = _resized(a, k, count)
    return routine(t, "rdft_transposed", [(shape, "f")], a, b, shape[k], const(k))[0]


def _resized(a: SymArray, axis: int, count: Any) -> tuple[Expr, ...]:
    return (*a.shape[:axis], *shape_of(count), *a.shape[axis + 1 :])


def _fitted(a: ArrayLike, n: int, axis: int) -> Any:
    """An array with an axis that is cut, or padded with zeros, to a size."""
    a = np.moveaxis(a, axis, -1)
    if n <= a.shape[-1]:
        return np.moveaxis(a[..., :n], -1, axis)
    missing = np.zeros((*a.shape[:-1], n - a.shape[-1]))
    return np.moveaxis(np.concatenate([a, missing], axis=-1), -1, axis)


def _scale(n: int, norm: str | None, inverse: bool) -> Any:
    if norm == "ortho":
        return 1 / math.sqrt(n)
    if norm not in (None, "backward", "forward"):
        raise ValueError('norm is "backward", "ortho" or "forward"')
    return 1 / n if inverse == (norm != "forward") else 1.0


def _of_axis(inverse: bool, half: bool = False) -> Any:
    def found(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
        a = np.asarray(a)
        if n is not None:
            a = _fitted(a, n, axis)
        size = a.shape[axis]
        if half:
            real, imag = _rdft(a, size // 2 + 1, axis)
        elif inverse:
            imag, real = _dft(np.imag(a), np.real(a), axis)
        else:
            real, imag = _dft(np.real(a), np.imag(a), axis)
        return pair(real, imag) * _scale(size, norm, inverse)

    return found


def irfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """The signal whose transform has these values up to the middle, and their conjugates beyond."""
    a = np.asarray(a)
    size = 2 * (a.shape[axis] - 1) if n is None else n
    a = np.moveaxis(_fitted(a, size // 2 + 1, axis), axis, -1)
    k = np.arange(size // 2 + 1)
    a = np.moveaxis(a * np.where((k == 0) | (2 * k == size), 1.0, 2.0), -1, axis)
    return _rdft_transposed(np.real(a), np.imag(a), size, axis) * _scale(size, norm, True)


def _axes_of(a: ArrayLike, s: Any, axes: Any) -> Any:
    """The axes of a transform, which are the last ones if they are not given."""
    if axes is not None:
        return axes
    return tuple(range(-(np.ndim(a) if s is None else len(s)), 0))


def _of_axes(transform: Any, usual: Any = None, first: Any = None, last: Any = None) -> Any:
    """A transform of several axes; before and after it, others of the last of them."""

    def found(a: ArrayLike, s: Any = None, axes: Any = usual, norm: str | None = None) -> Any:
        axes = _axes_of(a, s, axes)
        sizes = [None] * len(axes) if s is None else s
        rest = len(axes) if first is None and last is None else len(axes) - 1
        if first is not None:
            a = first(a, sizes[-1], axes[-1], norm)
        for k in range(rest):
            a = transform(a, sizes[k], axes[k], norm)
        return a if last is None else last(a, sizes[-1], axes[-1], norm)

    return found


def fftfreq(n: int, d: Any = 1.0) -> Any:
    k = np.arange(n)
    return np.where(k < (n - 1) // 2 + 1, k, k - n) * (1.0 / (n * d))


def rfftfreq(n: int, d: Any = 1.0) -> Any:
    return np.arange(n // 2 + 1) * (1.0 / (n * d))


def functions() -> dict[str, Any]:
    """The transforms, by their names."""
    fft, ifft, rfft = _of_axis(False), _of_axis(True), _of_axis(False, half=True)
    return {
        "fft": fft, "ifft": ifft, "rfft": rfft, "irfft": irfft, "fft2": _of_axes(fft, (-2, -1)),
        "ifft2": _of_axes(ifft, (-2, -1)), "fftn": _of_axes(fft), "ifftn": _of_axes(ifft),
        "rfft2": _of_axes(fft, (-2, -1), first=rfft), "rfftn": _of_axes(fft, first=rfft),
        "irfft2": _of_axes(ifft, (-2, -1), last=irfft), "irfftn": _of_axes(ifft, last=irfft),
        "fftfreq": fftfreq, "rfftfreq": rfftfreq,
    }  # fmt: skip


_FUNCTIONS = functions()
NUMPY = {f"numpy.fft.{name}": f for name, f in _FUNCTIONS.items()}
TRANSFORMS = NUMPY | {f"scipy.fft.{name}": f for name, f in _FUNCTIONS.items()}
"""The transforms, by their dotted names."""
