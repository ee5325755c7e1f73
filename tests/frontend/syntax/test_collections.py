"""Deques, dicts with defaults, and lists that a `while` appends to: values as Python's, slopes as
differences of them."""

from __future__ import annotations

import math
from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

import numpy as np
import pytest

from symdiff import UnsupportedError, symgrad

V = np.array([1.0, 2.0, 3.5, 2.0, 1.5, 2.2])


def both_ends(x: float) -> float:
    d = deque([x, x * x])
    d.append(x**3)
    d.appendleft(2 * x)
    return d.popleft() * d.pop() + len(d) * d[0] + sum(d)


def bounded(x: float) -> float:
    d: deque[float] = deque(maxlen=3)
    for i in range(6):
        d.append(x**i)
    d.appendleft(x)
    return sum(d) + 10 * d[-1] + len(d)


def rotated(x: float) -> float:
    d = deque([x, 2.0, x * x])
    d.rotate(1)
    d.extend([1.0])
    d.extendleft([x, 3.0])
    d.reverse()
    s = 0.0
    while d:
        s = s * 0.5 + d.popleft()
    return s


def on_a_branch(x: float) -> float:
    d = deque([x] * 3, maxlen=3)
    if x > 1:
        d.append(2 * x)
    else:
        d.append(3 * x)
    return d[2] * d[0] + len(d)


def moving_means(v: Any) -> Any:
    d: deque[float] = deque(maxlen=3)
    found = []
    for a in v:
        d.append(a * a)
        found.append(sum(d) / len(d))
    return found[-1] * sum(found)


def full_from_the_start(v: Any) -> Any:
    d = deque([0.0, 0.0, 0.0], maxlen=3)
    s = 0.0
    for a in v:
        d.append(a * a)
        s += np.mean(d) + max(d) + d[-1] * d[0]
    return s


def sums(x: float) -> float:
    d: Any = defaultdict(float)
    d["a"] += x
    d["b"] += x * x
    d["a"] += 3 * x
    return d["a"] * d["b"] + len(d)


def groups(x: float) -> float:
    d: Any = defaultdict(list)
    d["a"].append(x)
    d["a"].append(x * x)
    d["b"].append(x)
    return sum(len(k) * sum(v) * len(v) for k, v in d.items())


def nested(x: float) -> float:
    d: Any = defaultdict(lambda: defaultdict(float))
    d["a"]["b"] += x * x
    if x > 1:
        d["a"]["b"] *= 3
    return d["a"]["b"] + d.get("c", x)


def counted(x: float) -> float:
    c = Counter("abcab")
    return sum(x**n for n in c.values()) + c["z"]


def in_order(x: float) -> float:
    d = OrderedDict()
    d["a"], d["b"] = x, x * x
    d.move_to_end("a")
    first, second = d.values()
    return first - 2 * second


def of_a_loop(v: Any) -> Any:
    d: Any = defaultdict(float)
    d[0] += 1.0
    d[1] += 1.0
    for a in v:
        d[0] += a
        d[1] = d[0] * 0.5
    return d[0] * d[1]


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


@pytest.mark.parametrize(
    "f", [both_ends, bounded, rotated, on_a_branch, sums, groups, nested, counted, in_order]
)
def test_of_a_number(f: Any) -> None:
    g = symgrad(f)
    for x in (0.7, 1.5):
        assert g(x) == pytest.approx(f(x), rel=1e-14)
        assert g.grad(x) == pytest.approx((f(x + 1e-6) - f(x - 1e-6)) / 2e-6, rel=1e-8)


@pytest.mark.parametrize("f", [moving_means, full_from_the_start, of_a_loop])
def test_in_loops_over_arrays(f: Any) -> None:
    g = symgrad(f)
    for v in (V, np.linspace(1, 2, 9) ** 2):
        assert g(v) == pytest.approx(f(v), rel=1e-13)
        for k, slope in enumerate(g.grad(v)):
            step = 1e-6 * np.eye(len(v))[k]
            assert slope == pytest.approx((f(v + step) - f(v - step)) / 2e-6, rel=1e-6)


@pytest.mark.parametrize("f", [euler, by_last, of_arrays, newton, only_some])
def test_lists_that_a_while_appends_to(f: Any) -> None:
    g = symgrad(f, wrt="x" if f is not newton else "a")
    for x, T in ((1.5, 2.05), (2.5, 3.55), (1.7, 0.95)):
        assert g(x, T) == pytest.approx(f(x, T), rel=1e-13)
        slope = (f(x + 1e-6, T) - f(x - 1e-6, T)) / 2e-6
        assert g.grad(x, T) == pytest.approx(slope, rel=1e-6)


def test_refusals() -> None:
    def grows(v: Any) -> Any:
        d: deque[float] = deque()
        for a in v:
            d.append(a)
        return sum(d)

    def reads_all(x: float, T: float) -> Any:
        ys = [x]
        while sum(ys) < T:
            ys.append(2 * x)
        return ys[-1]

    def returned(x: float) -> Any:
        return deque([x])

    with pytest.raises(UnsupportedError, match="changes its size in a loop"):
        symgrad(grows)(np.ones(3000))
    for v in (V, V[:2]):  # the sizes of calls with a few elements are known
        assert symgrad(grows)(v) == pytest.approx(sum(v), rel=1e-15)
        assert symgrad(grows).grad(v).tolist() == [1.0] * len(v)
    with pytest.raises(UnsupportedError, match="is iterated over"):
        symgrad(reads_all)(1.0, 7.5)
    with pytest.raises(UnsupportedError, match="a Deque"):
        symgrad(returned)(1.0)
