"""Slopes of plain functions by central differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symdiff import symgrad


def check(
    f: Any, *args: Any, value: float = 1e-11, slope: float = 1e-6, step: float = 1e-6
) -> None:
    """Compare a function with itself in plain Python, and its gradient with differences."""
    g = symgrad(f)
    assert g(*args) == pytest.approx(f(*args), rel=value, abs=value)
    slopes = g.grad(*args)
    for i, x in enumerate(args):
        found = np.asarray(slopes[i] if len(args) > 1 else slopes)
        for k in np.ndindex(*np.shape(x)):
            ends = []
            for s in (step, -step):
                moved = np.array(x, float)
                moved[k] += s
                ends.append(f(*args[:i], moved if np.ndim(x) else float(moved), *args[i + 1 :]))
            expected = (ends[0] - ends[1]) / (2 * step)
            assert found[k] == pytest.approx(expected, rel=slope, abs=10 * slope)
