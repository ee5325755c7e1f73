"""Windows of traced sizes, and filters along one axis: values as NumPy's and SciPy's, slopes as differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.ndimage
import scipy.signal

from symdiff import symgrad
from tests.frontend.differences import check

V = np.array([1.0, 2.0, 3.5, 2.0, 1.5, 2.2, 0.3])
M = np.array([[2.0, 0.3, 0.1], [0.1, 1.5, -0.4], [0.6, -0.2, 0.8], [1.0, 2.0, 3.0]])
W = np.array([1.0, 2.0, 0.5])

WINDOWS: dict[str, Any] = {
    "hanning": lambda v: np.sum(np.hanning(len(v)) * v**2),
    "hamming": lambda v: np.sum(np.hamming(len(v)) * v**2),
    "blackman": lambda v: np.sum(np.blackman(len(v)) * v**2),
    "bartlett": lambda v: np.sum(np.bartlett(len(v)) * v**2),
    "kaiser": lambda v: np.sum(np.kaiser(len(v), 8.6) * v**2),
    "get_window": lambda v: np.sum(scipy.signal.get_window("hann", len(v)) * v**2),
    "periodic": lambda v: np.sum(scipy.signal.windows.kaiser(len(v), 8.6, sym=False) * v**2),
    "symmetric": lambda v: np.sum(scipy.signal.windows.hamming(len(v)) * v**2),
}
FILTERS: dict[str, tuple[Any, np.ndarray]] = {
    "gaussian": (lambda v: np.sum(scipy.ndimage.gaussian_filter1d(v, 1.3) ** 2), V),
    "gaussian_rows": (lambda m: np.sum(scipy.ndimage.gaussian_filter(m, 0.7) ** 3), M),
    "convolve": (lambda v: np.sum(scipy.ndimage.convolve1d(v, W) ** 2), V),
    "convolve_even": (lambda v: np.sum(scipy.ndimage.convolve1d(v, W[:2]) ** 2), V),
    "uniform": (lambda v: np.sum(scipy.ndimage.uniform_filter1d(v, 4) ** 2), V),
    "uniform_rows": (lambda m: np.sum(scipy.ndimage.uniform_filter(m, 3) ** 3), M),
    "axis": (lambda m: np.sum(scipy.ndimage.correlate1d(m, W, axis=0) ** 2 * M), M),
    **{
        mode: (
            lambda v, mode=mode: np.sum(
                scipy.ndimage.correlate1d(v, W, mode=mode, cval=2.0) ** 2 * V
            ),
            V,
        )
        for mode in ("nearest", "constant", "mirror", "wrap", "reflect")
    },
}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", WINDOWS)
def test_windows(name: str) -> None:
    f = WINDOWS[name]
    g = symgrad(f)
    for n in (1, 2, 7, 8):
        v = np.linspace(0.5, 2.0, n)
        assert g(v) == pytest.approx(f(v), rel=1e-13, abs=1e-15)
        assert g.grad(v) == pytest.approx(2 * v * _weights(f, n), rel=1e-12, abs=1e-15)


def _weights(f: Any, n: int) -> np.ndarray:
    return np.array([f(row) for row in np.eye(n)])


def test_shape_of_a_window() -> None:
    check(lambda v, b: np.sum(np.kaiser(len(v), b) * v), V, 2.5)


@pytest.mark.sampled
@pytest.mark.parametrize("name", FILTERS)
def test_filters(name: str) -> None:
    f, x = FILTERS[name]
    check(f, x)
