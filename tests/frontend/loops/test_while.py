"""`while` loops in whose first iteration a number becomes an array, and those whose conditions change something."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad
from tests.frontend.differences import check


def until_unchanged(x):
    total, term, k = 0.0, x, 1
    while np.any(total + term / k != total):
        total = total + term / k
        term = -term * x * x
        k = k + 2
    return np.sum(total)


def while_large(x):
    total, term, k = 0, x, 1.0
    while np.max(np.abs(term)) > 1e-18:
        total, term, k = total + term / k, -term * x * x, k + 2
    return np.sum(total)


def augmented(x):
    s, p, k = 0.0, 1.0, 0
    while k < 60 or np.min(np.abs(p)) > 1:
        p = p * x if k else x
        s += p * (1 - k % 2) / (k + 1) * (1 - k % 4)
        k += 1
    return s.sum()


def counted(x, n: int):
    s, k = 0.0, 0
    while k < n:
        s = s - (-1.0) ** (k + 1) * x ** (2 * k + 1) / (2 * k + 1)
        k += 1
    return np.sum(s)


def two_names(x):
    total, last, k = 0.0, -1.0, 0
    while np.any(total != last):
        last = total
        total = total + (-x * x) ** k * x / (2 * k + 1)
        k += 1
    return np.sum(total)


def integer_start(x):
    s, t, k = 0, x, 1
    while (abs(t) > 1e-18).any():
        s = s + t / k
        t = -(t * x**2)
        k += 2
    return s[0] + s[1]


@pytest.mark.sampled
@pytest.mark.parametrize("accuracy", ["fast", pytest.param("high", marks=pytest.mark.slow)])
@pytest.mark.parametrize("f", [until_unchanged, while_large, augmented, counted, two_names, integer_start])  # fmt: skip
def test_series_of_the_arctangent(f: Any, accuracy: Any) -> None:
    x = np.array([0.2, 0.4])
    args = (x, 30) if f is counted else (x,)
    made = symgrad(f, accuracy=accuracy, wrt="x")
    want = np.sum(np.arctan(x))
    assert f(*args) == pytest.approx(want, rel=1e-14)
    assert made(*args) == pytest.approx(want, rel=1e-14)
    np.testing.assert_allclose(made.grad(*args), 1 / (1 + x * x), rtol=1e-13)


def test_no_iteration_is_refused() -> None:
    with pytest.raises(ValueError, match="too few iterations"):
        symgrad(until_unchanged, accuracy="fast")(np.zeros(2))


# ------------------------- conditions that change something: the last one, which is false, too
def assigned(x: float) -> float:
    n = 0
    while (x := 0.9 * x + 0.05) > 0.7 and n < 100:
        n += 1
    return x * n


def in_a_list(x: float) -> float:
    held, n = [x], 0

    def step() -> float:
        held[0] = held[0] * 0.9
        return held[0]

    while step() > 0.4:
        n += 1
    return held[0] * n


def with_break(x: float) -> float:
    while (d := math.sin(x)) > 0.3:
        x = 0.8 * x
        if x < 0.5:
            break
    else:
        x = 7 * x
    return x * d


def with_else(x: float) -> float:
    n = 0
    while (d := x * x - 0.3) > 1e-3:
        x, n = x - 0.3 * d, n + 1
        if n > 50:
            break
    else:
        x = x + d
    return x * d


@pytest.mark.sampled(6)
@pytest.mark.parametrize("f", (assigned, in_a_list, with_break, with_else))
def test_the_last_condition_counts(f: Callable[[float], float]) -> None:
    check(f, 0.93, value=1e-13, slope=1e-7, near=1e-12, step=1e-5)
