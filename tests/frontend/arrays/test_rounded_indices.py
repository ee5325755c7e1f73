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


ALL = [
    by_int, by_floor, by_numpy, clipped, of_a_captured_table, bilinear, in_a_loop, stored, lambda y, t: y[round(t)] * t,
    lambda y, t: y[int(t // 0.5)] * t**2, lambda y, t: y[-1 - int(t)] * t, lambda y, t: y[int(abs(y[0] * t))] * t,
]  # fmt: skip


def compare(g: Any, f: Callable[..., Any], y: Any) -> None:
    """All are polynomials of second degree in t here, beside 2.3."""
    for t in (2.3, 1.7):
        assert g(y, t) == pytest.approx(f(y, t), rel=1e-14)
    by_y, by_t = g.grad(y, 2.3)
    slope = float(f(y, 2.3 + 2**-6) - f(y, 2.3 - 2**-6)) * 2**5
    assert by_t == pytest.approx(slope, rel=1e-9)
    step = np.cos(np.arange(8.0)) * 2**-20
    assert by_y @ step == pytest.approx((f(y + step, 2.3) - f(y - step, 2.3)) / 2, rel=1e-5)


@pytest.mark.sampled
@pytest.mark.parametrize("f", ALL)
def test_values_and_derivatives(f: Any) -> None:
    compare(symgrad(f), f, Y)


@pytest.mark.sampled
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


# ------------------------------------------------------------------ sizes, ends, arrays of them
def counted(y: Any, t: Any) -> Any:
    s = 0.0
    for k in range(int(t) + 2):
        s += y[k] * t
        for j in range(int(y[k])):
            s += j * t
    return s


def of_a_list(y: Any, t: Any) -> Any:
    parts = [y[0], y[1] * t, 3.0, t]
    i = int(t)
    return parts[i] + (t - i) * (parts[i + 1] - parts[i]) + [y, 2 * y, t * y][i][3]


def of_a_size(y: Any, t: Any) -> Any:
    n = int(t * 2)
    a = np.zeros((n, n + 1))
    for i in range(n):
        a[i, i + 1] = y[i] * t
    return np.sum(a**2) + np.mean(np.linspace(0, 1, n) * y[:n]) + np.roll(y, n)[0]


def stored_after(y: Any, t: Any) -> Any:
    z = y.copy()
    z[int(t) :] = t
    z[: int(t)] *= 2
    return np.sum(z * y)


def chosen_by_a_branch(y: Any, t: Any) -> Any:
    n = int(t) if t > 0.5 else 4
    return np.sum(y[n:]) * t


MORE = [
    lambda y, t: np.sum(y[int(t) :] ** 2) * t + np.sum(y[: int(-t)]) + y[int(t) : int(t) + 3][::2] @ [1.0, t],
    counted, of_a_list, of_a_size, stored_after, chosen_by_a_branch,
]  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("f", MORE)
def test_sizes_and_ends(f: Any) -> None:
    compare(symgrad(f, accuracy="fast"), f, Y + 0.3)


TIMES = np.array([1.4, 2.6, 0.2, -0.7])
OF_VECTORS = [
    lambda y, t: y[np.floor(t).astype(int)] * t,
    lambda y, t: y[t.astype(int)] + (t - t.astype(int)) * y[t.astype(int) + 1],
    lambda y, t: np.sum(np.take(y, np.rint(t).astype(np.int64)) * t),
    lambda y, t: np.add.reduce(y[np.clip(np.floor(t * 2).astype(int), 0, len(y) - 2)] * t),
    lambda y, t: t.astype(int),
    lambda y, t: (t * 3).astype(int) // 2,
    lambda y, t: np.asarray(t * 3, dtype=int) % 2 * t,
    lambda y, t: np.sort(t.astype(int)) * t,
    lambda y, t: np.where(t.astype(int) == 1, t, 0.0),
    lambda y, t: np.bincount(np.abs(t).astype(int), weights=t),
    lambda y, t: np.array([sum(range(int(v) + 1)) * v for v in t]),
    lambda y, t: [np.sum(y[: int(v)]) * v for v in t],
    lambda y, t: t[t.astype(int) > 0],
    lambda y, t: np.linspace(0, 9, 4).astype(int) * t,
]


@pytest.mark.sampled
@pytest.mark.parametrize("f", OF_VECTORS)
def test_arrays_of_integers(f: Any) -> None:
    want = f(Y, TIMES)
    g = symgrad(f, accuracy="fast")
    got = g(Y, TIMES)
    np.testing.assert_allclose(got, want, rtol=1e-14)
    assert np.asarray(got).dtype == np.asarray(want).dtype
    if np.asarray(want).dtype == float:
        _, moved = g.jvp((Y, TIMES), (np.cos(Y), np.ones(4)))
        h = 2**-20
        ends = [np.asarray(f(Y + s * np.cos(Y), TIMES + s)) for s in (h, -h)]
        np.testing.assert_allclose(moved, (ends[0] - ends[1]) / (2 * h), rtol=1e-6, atol=1e-7)


@pytest.mark.sampled
@pytest.mark.parametrize("t", [math.inf, math.nan, -1e300, 2.0**53])
def test_what_is_no_integer_of_the_program(t: float) -> None:
    for f in (lambda y, t: np.sum(y[int(t) :]), lambda y, t: sum(range(int(t))) * y):
        with pytest.raises(ValueError, match="nan or too large"):
            symgrad(f)(Y, t)
    with pytest.raises(ValueError, match="nan or too large"):
        symgrad(lambda t: t.astype(int))(np.array([1.0, t]))


def counted_up(t: float) -> float:
    s = 0.0
    while s * s < t:
        s += 1.0
    return s


def reduced(t: float) -> float:
    while t > 1:
        t -= 1.0
    return t


@pytest.mark.sampled
@pytest.mark.parametrize("f", [counted_up, reduced, lambda t: [1.0, 3.0, 2.0][int(t)]])
def test_floats_that_are_made_of_integers_are_floats_element_by_element(f: Any) -> None:
    g, x = symgrad(f), np.array([0.2, 1.3])
    assert g(x).dtype == float and list(g(x)) == [f(v) for v in x]
    assert g.grad(x).dtype == float and g.map(x).dtype == float and g.grad.map(x).dtype == float
    assert isinstance(g(0.2), float) and isinstance(g.grad(0.2), float)
    counts = symgrad(lambda t: int(t) if t > 0 else 2)
    assert counts(x).dtype == int
