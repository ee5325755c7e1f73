"""No run but the plain one decides: loops and checks whose outcome hangs on rounding.

Losses are measured with the processor rounding up and down (`runtime.loops.probe`). There loops that end when a
sum no longer changes never end, and checks that hold to nearest fail. Such a run ends soon, and shows no error.
"""

from __future__ import annotations

import math
import signal
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.runtime import signals
from symdiff.runtime.loops.call import UnfinishedError


def exponential(x):
    s, t, k = 1.0, 1.0, 1
    while True:
        t = t * x / k
        if s + t == s:
            break
        s = s + t
        k = k + 1
    return s


def sine(x):
    s, t, k = x, x, 1
    while s + t != s or k == 1:
        t = -t * x * x / ((k + 1) * (k + 2))
        s += t
        k += 2
    return s


def logarithm(x):
    y = (x - 1) / (x + 1)
    s, p, k = 0.0, y, 1
    old = -1.0
    while s != old:
        old = s
        s = s + 2 * p / k
        p = p * y * y
        k = k + 2
    return s


def dilogarithm(x):
    s, k = 0.0, 1
    while True:
        new = s + x**k / (k * k)
        if new == s:
            return s
        s = new
        k += 1


def bessel(x):
    s, t, n = 1.0, 1.0, 0
    while n == 0 or s != s + t:
        n += 1
        t = -t * (x / 2) ** 2 / (n * n)
        s = s + t
    return s


def root(a):
    x = a
    while True:
        y = 0.5 * (x + a / x)
        if y == x or abs(y - x) <= 1e-16 * abs(x):
            return y
        x = y


def epsilon(x):
    e = 1.0
    while 1.0 + e / 2 != 1.0:
        e = e / 2
    return x * e


def halvings(x):
    h, n = x, 0
    while 1.0 + h > 1.0:
        h = h * 0.5
        n = n + 1
    return x * n


def arctangents(x):
    total, term, k = 0.0 * x, x, 1
    while np.any(total + term / k != total):
        total = total + term / k
        term = -term * x * x
        k = k + 2
    return np.sum(total)


def cosine_of_itself(x):
    y = 1.0
    while True:
        z = math.cos(y * x)
        if z == y or abs(z - y) < 1e-15:
            break
        y = z
    return y


def geometric(x):
    s, p = 0.0, 1.0
    while s + p > s:
        s, p = s + p, p * x
    return s


def kahan(x):
    s = c = 0.0
    for v in x:
        y = v - c
        t = s + y
        c = (t - s) - y
        s = t
    assert s == 0.6
    return s * s


def total(x):
    s = 0.0
    for v in x:
        s = s + v
    assert s == 0.6000000000000001
    return s * s


def shares(w):
    p = w / np.sum(w)
    if np.sum(p) > 1.0:
        raise ValueError("more than all")
    return np.sum(p**2)


def unit(v):
    n = v / np.sqrt(np.sum(v * v))
    assert np.sum(n * n) <= 1.0
    return n[0] * n[1]


def few_iterations(x):
    n, y = 0, x
    while abs(y * y - x) > 5e-16 * x:
        y = 0.5 * (y + x / y)
        n += 1
        if n > 6:
            raise RuntimeError("no convergence")
    return y


def probabilities(a, b):
    p, q = a / (a + b), b / (a + b)
    s = 0.0
    for _ in range(3):
        s = s + (p + q) / 3
    if p + q != 1.0:
        raise ValueError("not a distribution")
    return p * math.log(p) + s


CASES: list[tuple[Callable[..., Any], tuple[Any, ...], Any]] = [
    (exponential, (0.5,), math.exp(0.5)),
    (sine, (0.7,), math.cos(0.7)),
    (logarithm, (1.7,), 1 / 1.7),
    (dilogarithm, (0.4,), -math.log(0.6) / 0.4),
    (bessel, (1.2,), -0.49828905756721554),  # -J1(1.2)
    (root, (2.0,), 0.5 / math.sqrt(2)),
    (epsilon, (1.5,), 2.0**-52),
    (halvings, (0.7,), 53),
    (arctangents, (np.array([0.2, 0.4]),), 1 / (1 + np.array([0.2, 0.4]) ** 2)),
    (geometric, (0.3,), 1 / 0.49),
    (total, (np.array([0.1, 0.2, 0.3]),), np.full(3, 1.2)),
    (kahan, (np.array([0.1, 0.2, 0.3]),), np.full(3, 1.2)),
    (shares, (np.array([1.0, 2.0, 3.0, 4.0]),), 0.02 * np.arange(1, 5) - 0.06),
    (unit, (np.array([3.0, 4.0, 0.0]),), np.array([0.0448, -0.0336, 0.0])),
    (few_iterations, (3.0,), 0.5 / math.sqrt(3)),
    (probabilities, (1.0, 3.0), (0.1875 * (1 - math.log(4)), -0.0625 * (1 - math.log(4)))),
]


@pytest.mark.sampled(18)
@pytest.mark.parametrize(("f", "args", "slopes"), CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_the_plain_run_decides(f: Any, args: Any, slopes: Any) -> None:
    g = symgrad(f)
    for _ in range(3):  # calls that are measured, and those after them
        assert g(*args) == pytest.approx(f(*args), rel=1e-14)
        got = g.grad(*args)
        for a, b in zip(got, slopes, strict=True) if isinstance(slopes, tuple) else [(got, slopes)]:
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-15)


def test_a_fixed_point() -> None:
    y = symgrad(cosine_of_itself)(0.9)
    assert math.cos(0.9 * y) == pytest.approx(y, abs=1e-15)
    slope = -y * math.sin(0.9 * y) / (1 + 0.9 * math.sin(0.9 * y))
    assert symgrad(cosine_of_itself).grad(0.9) == pytest.approx(slope, rel=1e-12)


def endless(x):
    s = x
    while s != 0.3:
        s = s * 0.5 + 0.1
    return s


def endless_outside(x):
    s = x
    while s != 0.3:
        for _ in range(100):
            s = np.sin(s) + 0.1
    return s


@pytest.mark.sampled(2)
@pytest.mark.parametrize("f", [endless, endless_outside])
def test_a_run_beside_the_plain_one_ends_by_its_budget(f: Any) -> None:
    g = symgrad(f, verify=False)
    assert g(0.3) == 0.3  # ends at once
    ((_, kernel),) = g._arrays._kernels.values()
    before = signals.watched()
    with pytest.raises(UnfinishedError):
        kernel.code("float64").run([1.3], None, np.dtype(float), serial=True, watches=3)
    assert signals.watched() == before  # it has a count of its own


class Rung(Exception):  # noqa: N818
    pass


@pytest.mark.sampled(4)
@pytest.mark.parametrize("f", [endless, endless_outside])
@pytest.mark.parametrize("accuracy", ["fast", "high"])
def test_an_alarm_stops_loops_that_do_not_end(f: Any, accuracy: str) -> None:
    def ring(*_: Any) -> None:
        raise Rung

    before = signal.signal(signal.SIGALRM, ring)
    g = symgrad(f, accuracy=accuracy, verify=False)
    try:
        for call in (g, g.grad):
            signal.setitimer(signal.ITIMER_REAL, 0.5)
            with pytest.raises(Rung):
                call(1.3)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
