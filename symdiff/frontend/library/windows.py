"""NumPy's windows, which are SciPy's too, in terms of other functions: plain Python that is traced like a user's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symdiff.frontend.library.primitives import rows


def _places(M: Any, sym: bool = True) -> Any:
    """Places from -1 to 1, without the end for a periodic window; for a single place 0."""
    last = M - 1 if sym or M <= 1 else M
    return (2.0 * np.arange(M) - last) / np.maximum(last, 1)


def hann(M: Any, sym: bool = True) -> Any:
    return 0.5 + 0.5 * np.cos(math.pi * _places(M, sym))


def hamming(M: Any, sym: bool = True) -> Any:
    return 0.54 + 0.46 * np.cos(math.pi * _places(M, sym))


def blackman(M: Any, sym: bool = True) -> Any:
    s = math.pi * _places(M, sym)
    return 0.42 + 0.5 * np.cos(s) + 0.08 * np.cos(2.0 * s)


def bartlett(M: Any, sym: bool = True) -> Any:
    return 1.0 - np.abs(_places(M, sym))


def kaiser(M: Any, beta: Any, sym: bool = True) -> Any:
    s = _places(M, sym)
    return np.i0(beta * np.sqrt((1.0 - s) * (1.0 + s))) / np.i0(beta)


TABLE = rows("numpy", 0, hamming, blackman, bartlett, kaiser, hanning=hann)
"""Like `composed.TABLE`."""
