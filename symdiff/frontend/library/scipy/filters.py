"""Windows, and filters of `scipy.ndimage` along one axis, in terms of NumPy's functions: plain Python that
is traced like a user's, as in `composed`."""

from __future__ import annotations

from typing import Any

import numpy as np

from symdiff.frontend.library.primitives import rows
from symdiff.frontend.library.windows import bartlett, blackman, hamming, hann, kaiser

ArrayLike = Any


def get_window(window: Any, Nx: Any, fftbins: bool = True) -> Any:
    if isinstance(window, tuple) and window[0] == "kaiser":
        return kaiser(Nx, window[1], not fftbins)
    if window in ("hann", "hanning", "han"):
        return hann(Nx, not fftbins)
    if window in ("hamming", "hamm", "ham"):
        return hamming(Nx, not fftbins)
    if window in ("blackman", "black", "blk"):
        return blackman(Nx, not fftbins)
    if window in ("bartlett", "bart", "brt"):
        return bartlett(Nx, not fftbins)
    raise ValueError(f"the window {window} is not known here")


# -------------------------------------------------------------------------- filters
def correlate1d(
    input: ArrayLike, weights: ArrayLike, axis: int = -1, output: Any = None, mode: str = "reflect",
    cval: float = 0.0, origin: int = 0,
) -> Any:  # fmt: skip
    if output is not None:
        raise TypeError("filters with an output are not supported: use what they return")
    x, w = np.moveaxis(np.asarray(input) * 1.0, axis, -1), np.asarray(weights)
    n, m = x.shape[-1], w.shape[0]
    found = 0.0 * x
    for k in range(m):
        at = np.arange(n) + k - m // 2 - origin
        found = found + w[k] * _beyond(x, at, n, mode, cval)
    return np.moveaxis(found, -1, axis)


def _beyond(x: ArrayLike, at: ArrayLike, n: Any, mode: str, cval: Any) -> Any:
    """Elements at places that may be outside of the array."""
    if mode in ("constant", "grid-constant"):
        return np.where((at >= 0) & (at < n), x[..., np.clip(at, 0, n - 1)], cval)
    if mode == "nearest":
        return x[..., np.clip(at, 0, n - 1)]
    if mode in ("wrap", "grid-wrap"):
        return x[..., at % n]
    if mode in ("reflect", "grid-mirror"):
        at = at % (2 * n)
        return x[..., np.minimum(at, 2 * n - 1 - at)]
    if mode == "mirror":
        period = np.maximum(2 * n - 2, 1)
        at = at % period
        return x[..., np.minimum(at, period - at)]
    raise ValueError(f"the mode {mode} of a filter is not known here")


def convolve1d(
    input: ArrayLike, weights: ArrayLike, axis: int = -1, output: Any = None, mode: str = "reflect",
    cval: float = 0.0, origin: int = 0,
) -> Any:  # fmt: skip
    w = np.asarray(weights)[::-1]
    back = -origin - (1 if w.shape[0] % 2 == 0 else 0)
    return correlate1d(input, w, axis, output, mode, cval, back)


def uniform_filter1d(
    input: ArrayLike, size: Any, axis: int = -1, output: Any = None, mode: str = "reflect",
    cval: float = 0.0, origin: int = 0,
) -> Any:  # fmt: skip
    return correlate1d(input, np.ones(size) / size, axis, output, mode, cval, origin)


def gaussian_filter1d(
    input: ArrayLike, sigma: Any, axis: int = -1, order: int = 0, output: Any = None,
    mode: str = "reflect", cval: float = 0.0, truncate: float = 4.0, *, radius: Any = None,
) -> Any:  # fmt: skip
    if order != 0:
        raise TypeError("gaussian_filter1d() of a derivative is not supported: use order=0")
    reach = int(truncate * sigma + 0.5) if radius is None else radius
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
    return correlate1d(input, weights / np.sum(weights), axis, output, mode, cval)


def gaussian_filter(
    input: ArrayLike, sigma: Any, order: int = 0, output: Any = None, mode: str = "reflect",
    cval: float = 0.0, truncate: float = 4.0, *, radius: Any = None,
) -> Any:  # fmt: skip
    found = np.asarray(input)
    for axis in range(np.ndim(found)):
        width = sigma[axis] if np.ndim(sigma) > 0 else sigma
        found = gaussian_filter1d(
            found, width, axis, order, output, mode, cval, truncate, radius=radius
        )
    return found


def uniform_filter(
    input: ArrayLike, size: Any = 3, output: Any = None, mode: str = "reflect", cval: float = 0.0,
    origin: int = 0,
) -> Any:  # fmt: skip
    found = np.asarray(input)
    for axis in range(np.ndim(found)):
        width = size[axis] if np.ndim(size) > 0 else size
        found = uniform_filter1d(found, width, axis, output, mode, cval, origin)
    return found


TABLE = (
    rows("scipy.signal.windows", 0, hann, hamming, blackman, bartlett, kaiser)
    | rows("scipy.signal", 0, get_window)
    | rows(
        "scipy.ndimage", 1, correlate1d, convolve1d, uniform_filter1d, gaussian_filter1d,
        gaussian_filter, uniform_filter,
    )
)  # fmt: skip
"""Like `composed.TABLE`."""
