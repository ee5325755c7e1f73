"""Lists that a `while` appends to: values as Python's, slopes as differences of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from symdiff import UnsupportedError, symgrad

V = np.array([1.0, 2.0, 3.5, 2.0, 1.5, 2.2])


def euler(x: float, T: float) -> Any:
    t, ys, y = 0.0, [x], x
    while t < T:
        y = y + 0.1 * math.sin(y)
        ys.append(y)
        t += 0.1
    return sum(ys) + ys[-1] + len(ys) * np.mean(np.array(ys) ** 2)


def by_last(x: float, T: float) -> Any:
    ts, xs, vs = [0.0], [x], [0.0]
    while ts[-1] < T and xs[-1] > 0.0:
        vs.append(vs[-1] - 9.81 * 0.05)
        xs.append(xs[-1] + 0.05 * vs[-1])
        ts.append(ts[-1] + 0.05)
    return np.trapezoid(np.array(xs), np.array(ts)) + xs[-2]


def of_arrays(x: float, T: float) -> Any:
    t, states = 0.0, [np.array([x, 1.0])]
    buffer = np.zeros(2)
    while t < T:
        a = states[-1]
        buffer[0] += a[0]
        states.append(a + 0.1 * np.array([a[1], -a[0]]))
        t += 0.1
    found = np.array(states)
    return np.sum(found[:, 0] ** 2) + found[-1, 1] + buffer[0]


def newton(a: float, start: float) -> Any:
    x, history = start, []
    while abs(x * x - a) > 1e-9:
        x = 0.5 * (x + a / x)
        history.append(x)
    return sum(history) / len(history)


def only_some(x: float, T: float) -> Any:
    t, y, peaks = 0.0, x, []
    while True:
        if t >= T:
            break
        y = 1.1 * y
        if y > 3.0:
            peaks.append(y)
        t += 0.1
    return sum(peaks) + len(peaks) * x


@pytest.mark.sampled(8)
@pytest.mark.parametrize("f", [euler, by_last, of_arrays, newton, only_some])
def test_lists_that_a_while_appends_to(f: Any) -> None:
    g = symgrad(f, wrt="x" if f is not newton else "a")
    for x, T in ((1.5, 2.05), (2.5, 3.55), (1.7, 0.95)):
        assert g(x, T) == pytest.approx(f(x, T), rel=1e-13)
        slope = (f(x + 1e-6, T) - f(x - 1e-6, T)) / 2e-6
        assert g.grad(x, T) == pytest.approx(slope, rel=1e-6)


def test_a_list_that_decides_about_the_end_is_refused() -> None:
    def reads_all(x: float, T: float) -> Any:
        ys = [x]
        while sum(ys) < T:
            ys.append(2 * x)
        return ys[-1]

    with pytest.raises(UnsupportedError, match="is iterated over"):
        symgrad(reads_all)(1.0, 7.5)
