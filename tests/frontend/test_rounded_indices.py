"""Indices that are rounded real numbers: tables are looked up, and derivatives by what is left."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import SymdiffError, symgrad

Y = np.array([1.0, 3.0, -2.0, 5.0, 7.0, 1.0, 0.0, 2.0])


def by_int(y: Any, t: Any) -> Any:
    i = int(t)
    w = t - i
    return (1 - w) * y[i] + w * y[i + 1]


def by_floor(y: Any, t: Any) -> Any:
    i = math.floor(t)
    return y[i] + (t - i) * (y[i + 1] - y[i])


def by_numpy(y: Any, t: Any) -> Any:
    i = np.floor(t).astype(int)
    return y[i] + (t - i) * (y[i + 1] - y[i])


def clipped(y: Any, t: Any) -> Any:
    i = int(np.clip(np.floor(t), 0, len(y) - 2))
    return y[i] + (t - i) * (y[i + 1] - y[i])


def nearest(y: Any, t: Any) -> Any:
    return y[round(t)] * t


def by_quotient(y: Any, t: Any) -> Any:
    return y[int(t // 0.5)] * t**2


def from_the_end(y: Any, t: Any) -> Any:
    return y[-1 - int(t)] * t


def of_a_captured_table(y: Any, t: Any) -> Any:
    i = int(t)
    return ((1 - t + i) * Y[i] + (t - i) * Y[i + 1]) * y[0]


def bilinear(y: Any, t: Any) -> Any:
    z = y.reshape(2, 4)
    i, j = int(t / 4), int(t)
    return (1 - t + j) * z[i, j] + (t - j) * z[i, j + 1] * z[1 - i, j]


def in_a_loop(y: Any, t: Any) -> Any:
    s = 0.0
    for k in range(3):
        i = int(t * (k + 1) / 2)
        s += y[i] * (t - i)
    return s


def stored(y: Any, t: Any) -> Any:
    z = np.zeros(8)
    z[int(t)] = t * y[0]
    z[math.ceil(t)] += t
    return np.sum(z * y)


def of_values(y: Any, t: Any) -> Any:
    return y[int(abs(y[0] * t))] * t


ALL = [by_int, by_floor, by_numpy, clipped, nearest, by_quotient, from_the_end, of_a_captured_table, bilinear, in_a_loop, stored, of_values]  # fmt: skip


def difference(f: Callable[..., Any], t: float) -> float:
    """All are polynomials of second degree in t here, beside 2.3."""
    return float(f(Y, t + 2**-6) - f(Y, t - 2**-6)) * 2**5


@pytest.mark.parametrize("f", ALL)
def test_values_and_derivatives(f: Any) -> None:
    g = symgrad(f)
    for t in (2.3, 1.7):
        assert g(Y, t) == pytest.approx(f(Y, t), rel=1e-14)
    by_y, by_t = g.grad(Y, 2.3)
    assert by_t == pytest.approx(difference(f, 2.3), rel=1e-9)
    step = np.cos(np.arange(8.0)) * 2**-20
    assert by_y @ step == pytest.approx((f(Y + step, 2.3) - f(Y - step, 2.3)) / 2, rel=1e-5)


@pytest.mark.parametrize("t", [7.5, 8.0, 100.0, -9.0, 1e300, math.inf, math.nan])
def test_out_of_range(t: float) -> None:
    with pytest.raises((IndexError, SymdiffError)):
        symgrad(by_int)(Y, t)


def test_negative_ones_count_from_the_end() -> None:
    f = symgrad(by_int)
    for t in (-0.5, -1.5, -7.25):
        assert f(Y, t) == by_int(Y, t)


def test_of_a_vector_of_one_element() -> None:
    f = symgrad(lambda y, t: y[int(t)] * t)
    assert f(np.array([3.0]), 0.75) == 2.25 and f(np.array([3.0]), -0.5) == -1.5
    with pytest.raises((IndexError, SymdiffError)):
        f(np.array([3.0]), 1.0)
