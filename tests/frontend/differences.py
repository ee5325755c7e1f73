"""Slopes of plain functions by central differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symdiff import symgrad


def slopes_by(f: Any, args: Any, k: int, step: float = 1e-6, *, fine: bool = False) -> np.ndarray:
    """The slopes by an argument that is a number, an array or a list: of second order, or of fourth."""
    at = np.array(args[k], float)

    def central(place: tuple[int, ...], h: float) -> Any:
        ends = []
        for s in (h, -h):
            moved = at.copy()
            moved[place] += s
            given = moved if isinstance(args[k], np.ndarray) else moved.tolist()
            ends.append(f(*args[:k], given, *args[k + 1 :]))
        return (ends[0] - ends[1]) / (2 * h)

    found = np.zeros(at.shape)
    for place in np.ndindex(*at.shape):
        found[place] = central(place, step)
        if fine:
            found[place] = (4 * found[place] - central(place, 2 * step)) / 3
    return found


def check(
    f: Any,
    *args: Any,
    value: float = 1e-11,
    slope: float = 1e-6,
    near: float | None = None,
    step: float = 1e-6,
    fine: bool = False,
    **options: Any,
) -> None:
    """Compare a function with itself in plain Python, and its gradient with differences, to relative tolerances;
    slopes also to an absolute one, which is ten times the relative if it is not given."""
    g = symgrad(f, **options)
    assert g(*args) == pytest.approx(f(*args), rel=value, abs=value)
    slopes = g.grad(*args)
    reals = [k for k, a in enumerate(args) if not whole(a)]
    assert isinstance(slopes, tuple) == (len(args) > 1 and len(reals) > 1)
    for k, found in zip(reals, slopes if len(reals) > 1 else (slopes,), strict=True):
        expected = slopes_by(f, args, k, step, fine=fine)
        within = 10 * slope if near is None else near
        assert np.asarray(found) == pytest.approx(expected, rel=slope, abs=within), k


def whole(v: Any) -> bool:
    """Whether an argument is an integer, or a list of them, which has no slope."""
    return all(map(whole, v)) if isinstance(v, list | tuple) else isinstance(v, int | np.integer)
