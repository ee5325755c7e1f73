"""Test functions of global optimisation, as NumPy programs of a vector: values are those of plain
NumPy, gradients those of complex steps or of extrapolated differences in long doubles.

The formulas are those of the surveys by Jamil and Yang (2013) and of Moré, Garbow and Hillstrom
(1981), written in the manners in which people write them: sums of slices, loops, lists among
arrays, sizes as numbers, statements in place.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad

pytestmark = pytest.mark.slow


def ackley(x):
    n = len(x)
    rms = np.sqrt(np.sum(x**2) / n)
    return -20 * np.exp(-0.2 * rms) - np.exp(np.sum(np.cos(2 * np.pi * x)) / n) + 20 + np.e


def amgm(x):
    n = x.size
    return (np.sum(x) / n - np.prod(np.abs(x)) ** (1.0 / n)) ** 2


def beale(x):
    a, b = x[0], x[1]
    return sum((c - a + a * b**k) ** 2 for k, c in enumerate([1.5, 2.25, 2.625], start=1))


def branin(x):
    a = x[1] - 5.1 / (4 * np.pi**2) * x[0] ** 2 + 5 * x[0] / np.pi - 6
    return a**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x[0]) + 10


def brown(x):
    a, b = x[:-1] ** 2, x[1:] ** 2
    return np.sum(a ** (b + 1) + b ** (a + 1))


def camel(x):
    a, b = x[0], x[1]
    return (4 - 2.1 * a**2 + a**4 / 3) * a**2 + a * b + 4 * (b**2 - 1) * b**2


def colville(x):
    found = 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2 + 90 * (x[3] - x[2] ** 2) ** 2
    found += (1 - x[2]) ** 2 + 10.1 * ((x[1] - 1) ** 2 + (x[3] - 1) ** 2)
    return found + 19.8 * (x[1] - 1) * (x[3] - 1)


def cross_in_tray(x):
    wave = np.sin(x[0]) * np.sin(x[1]) * np.exp(np.abs(100 - np.sqrt(x @ x) / np.pi))
    return -0.0001 * (np.abs(wave) + 1) ** 0.1


def dixon_price(x):
    i = np.arange(2, len(x) + 1)
    return (x[0] - 1) ** 2 + np.sum(i * (2 * x[1:] ** 2 - x[:-1]) ** 2)


def drop_wave(x):
    s = np.dot(x, x)
    return -(1 + np.cos(12 * np.sqrt(s))) / (0.5 * s + 2)


def egg_holder(x):
    a, b = x[:-1], x[1:]
    low = (b + 47) * np.sin(np.sqrt(np.abs(b + a / 2 + 47)))
    return np.sum(-low - a * np.sin(np.sqrt(np.abs(a - (b + 47)))))


def giunta(x):
    a = 16 * x / 15 - 1
    return 0.6 + np.sum(np.sin(a) + np.sin(a) ** 2 + np.sin(4 * a) / 50)


def goldstein_price(x):
    a, b = x
    p = 1 + (a + b + 1) ** 2 * (19 - 14 * a + 3 * a**2 - 14 * b + 6 * a * b + 3 * b**2)
    q = 18 - 32 * a + 12 * a**2 + 48 * b - 36 * a * b + 27 * b**2
    return p * (30 + (2 * a - 3 * b) ** 2 * q)


def griewank(x):
    i = np.arange(1.0, np.size(x) + 1.0)
    return np.sum(x**2 / 4000) - np.prod(np.cos(x / np.sqrt(i))) + 1


def gulf(x):
    i = np.arange(1.0, 11.0)
    u = 25 + (-50 * np.log(i / 100)) ** (2 / 3.0)
    return np.sum((np.exp(-(np.abs(u - x[1]) ** x[2]) / x[0]) - i / 100) ** 2)


HARTMANN = np.array([[3.0, 10, 30], [0.1, 10, 35], [3, 10, 30], [0.1, 10, 35]])
CENTRES = np.array(
    [[0.3689, 0.117, 0.2673], [0.4699, 0.4387, 0.747], [0.1091, 0.8732, 0.5547], [0.0381, 0.5743, 0.8828]]
)  # fmt: skip


def holder_table(x):
    wave = np.sin(x[0]) * np.cos(x[1]) * np.exp(np.abs(1 - np.hypot(x[0], x[1]) / np.pi))
    return -np.abs(wave)


def inverted_cosine(x):
    a, b = x[:-1], x[1:]
    s = a**2 + b**2 + 0.5 * a * b
    return -np.sum(np.exp(-s / 8) * np.cos(4 * np.sqrt(s)))


def katsuura(x):
    found = 1.0
    k = np.atleast_2d(np.arange(1, 25)).T
    inner = np.sum(np.round(2.0**k * x) * 2.0 ** (-k), axis=0)
    for i in range(len(x)):
        found *= inner[i] * (i + 1) + 1 + x[i] ** 2
    return found


def langermann(x):
    a, b, c = [3, 5, 2, 1, 7], [5, 2, 1, 4, 9], [1, 2, 5, 2, 3]
    s = (x[0] - a) ** 2 + (x[1] - b) ** 2
    return -np.sum(c * np.exp(-s / np.pi) * np.cos(np.pi * s))


def lennard_jones(x):
    k = int(len(x) / 3)
    found = 0.0
    for i in range(k - 1):
        for j in range(i + 1, k):
            d = x[3 * i : 3 * i + 3] - x[3 * j : 3 * j + 3]
            cube = np.sum(d * d) ** 3
            if cube > 0.0:
                found += (1.0 / cube - 2.0) / cube
    return found


def levy(x):
    y = 1 + (x - 1) / 4
    found = np.sin(np.pi * y[0]) ** 2 + (y[-1] - 1) ** 2
    return found + np.sum((y[:-1] - 1) ** 2 * (1 + 10 * np.sin(np.pi * y[1:]) ** 2))


def michalewicz(x):
    i = np.arange(1, x.shape[0] + 1)
    return -np.sum(np.sin(x) * np.sin(i * x**2 / np.pi) ** 20)


def paviani(x):
    y = np.abs(x) + 2.5
    return np.sum(np.log(y - 2) ** 2 + np.log(10 - y) ** 2) - np.prod(y) ** 0.2


def penalty(x):
    a = np.abs(x)
    outside = np.where(a > 1, 100 * (a - 1) ** 4, 0)
    y = 1 + (x + 1) / 4
    found = 10 * np.sin(np.pi * y[0]) ** 2 + (y[-1] - 1) ** 2
    found += np.sum((y[:-1] - 1) ** 2 * (1 + 10 * np.sin(np.pi * y[1:]) ** 2))
    return np.sum(outside) + np.pi * found / 30


def perm(x):
    found = 0
    for k in range(1, len(x) + 1):
        j = np.arange(1, len(x) + 1)
        found = found + np.sum((j**k + 0.5) * ((x / j) ** k - 1)) ** 2
    return found


def powell(x):
    found = (x[0] + 10 * x[1]) ** 2 + 5 * (x[2] - x[3]) ** 2
    return found + (x[1] - 2 * x[2]) ** 4 + 10 * (x[0] - x[3]) ** 4


def salomon(x):
    u = np.linalg.norm(x)
    return 1 - np.cos(2 * np.pi * u) + 0.1 * u


def schaffer(x):
    s = x[0] ** 2 + x[1] ** 2
    return 0.5 + (np.sin(s) ** 2 - 0.5) / (1 + 0.001 * s) ** 2


def shekel(x):
    a = np.array([[4.0, 4, 4, 4], [1, 1, 1, 1], [8, 8, 8, 8], [6, 6, 6, 6], [3, 7, 3, 7]])
    c = np.array([0.1, 0.2, 0.2, 0.4, 0.6])
    return -np.sum(1 / (np.sum((x[:4] - a) ** 2, axis=1) + c))


def shubert(x):
    j = np.atleast_2d(np.arange(1, 6)).T
    return np.prod(np.sum(j * np.cos((j + 1) * x + j), axis=0))


def thermistor(x):
    t = np.linspace(0.5, 1.25, 16)
    y = np.array([1.0, 2, 3, 4] * 4)
    found = x[0] + x[1] * t + x[2] * t**2
    found /= 1 + x[3] ** 2 * t
    return np.sum((y - found) ** 2)


def trigonometric(x):
    i = np.arange(1, len(x) + 1)
    inner = len(x) - np.sum(np.cos(x)) + i * (1 - np.cos(x)) - np.sin(x)
    return np.sum(inner**2)


def watson(x):
    t = np.atleast_2d(np.arange(1, 30) / 29).T
    j = np.arange(len(x))
    first = np.sum((j * t ** (j - 1))[:, 1:] * x[1:], axis=1)
    second = np.sum(t**j * x, axis=1)
    return np.sum((first - second**2 - 1) ** 2) + x[0] ** 2 + (x[1] - x[0] ** 2 - 1) ** 2


def whitley(x):
    column = np.atleast_2d(x).T
    y = 100 * (x**2 - column) ** 2 + (1 - column) ** 2
    return np.sum(y**2 / 4000 - np.cos(y) + 1)


def zakharov(x):
    s = np.sum(0.5 * np.arange(1, len(x) + 1) * x)
    return np.sum(x**2) + s**2 + s**4


WRITTEN_OUT = [
    ackley, amgm, beale, branin, brown, camel, colville, cross_in_tray, dixon_price, drop_wave,
    egg_holder, giunta, goldstein_price, griewank, gulf, holder_table, inverted_cosine, katsuura,
    langermann, lennard_jones, levy, michalewicz, paviani, penalty, perm, powell, salomon, schaffer,
    shekel, shubert, thermistor, trigonometric, watson, whitley, zakharov,
]  # fmt: skip
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    **{f.__name__: f for f in WRITTEN_OUT},
    "alpine": lambda x: np.sum(np.abs(x * np.sin(x) + 0.1 * x)),
    "bukin": lambda x: 100 * np.sqrt(np.abs(x[1] - 0.01 * x[0] ** 2)) + 0.01 * np.abs(x[0] + 10),
    "easom": lambda x: -np.prod(np.cos(x)) * np.exp(-np.sum((x - np.pi) ** 2)),
    "egg_crate": lambda x: np.sum(x**2) + 25 * np.sum(np.sin(x) ** 2),
    "exponential": lambda x: -np.exp(-0.5 * np.sum(x**2)),
    "hartmann": lambda x: -np.sum([1, 1.2, 3, 3.2] * np.exp(-np.sum(HARTMANN * (x - CENTRES) ** 2, axis=1))),
    "himmelblau": lambda x: (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2,
    "mc_cormick": lambda x: np.sin(x[0] + x[1]) + (x[0] - x[1]) ** 2 - 1.5 * x[0] + 2.5 * x[1] + 1,
    "qing": lambda x: np.sum((x**2 - np.arange(1, len(x) + 1)) ** 2),
    "quintic": lambda x: np.sum(np.abs(x**5 - 3 * x**4 + 4 * x**3 + 2 * x**2 - 10 * x - 4)),
    "rastrigin": lambda x: 10.0 * len(x) + sum(v**2 - 10 * np.cos(2 * np.pi * v) for v in x),
    "rosenbrock": lambda x: np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2),
    "schwefel_1": lambda x: np.sum(np.cumsum(x) ** 2),
    "schwefel_2": lambda x: np.sum(np.abs(x)) + np.prod(np.abs(x)),
    "schwefel_26": lambda x: 418.9829 * x.size - np.sum(x * np.sin(np.sqrt(np.abs(x)))),
    "styblinski_tang": lambda x: np.sum(x**4 - 16 * x**2 + 5 * x) / 2,
    "trid": lambda x: np.sum((x - 1) ** 2) - np.sum(x[1:] * x[:-1]),
    "wavy": lambda x: 1 - np.mean(np.cos(10 * x) * np.exp(-(x**2) / 2)),
    "wolfe": lambda x: 4 / 3 * (np.abs(x[0] ** 2 + x[1] ** 2 - x[0] * x[1]) ** 0.75) + x[2],
    "xin_she_yang": lambda x: np.sum(np.abs(x)) * np.exp(-np.sum(np.sin(x**2))),
}  # fmt: skip
STEPS = "katsuura"  # its roundings have jumps everywhere, and slopes of 0
SIZES = {"lennard_jones": 9, "goldstein_price": 2, "hartmann": 3, "gulf": 3}


def slopes(f: Any, x: Any) -> tuple[Any, Any]:
    """The gradient from extrapolated differences in long doubles, and how far it may be off."""
    x = np.asarray(x, np.longdouble)
    found, off = [], []
    for e in np.eye(len(x), dtype=np.longdouble):
        steps = [np.longdouble(2) ** -k for k in (12, 13, 14)]
        a, b, c = ((f(x + h * e) - f(x - h * e)) / (2 * h) for h in steps)
        p, q = (4 * b - a) / 3, (4 * c - b) / 3
        found.append((16 * q - p) / 15)
        off.append(abs(found[-1] - q))
    return np.array(found, float), np.array(off, float)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_gradients(name: str) -> None:
    f = FUNCTIONS[name]
    s, n = symgrad(f), SIZES.get(name, 4)
    points = list(np.random.default_rng(5).uniform(-1.8, 2.3, (3, n)))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for x in (*points, np.ones(n), np.zeros(n)):
            want = f(x)
            got = s(x)
            assert np.shape(got) == np.shape(want) == ()
            assert np.isfinite(want)
            np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-13)
        for x in points if name != STEPS else ():
            truth, off = slopes(f, x)
            gap = np.abs(s.grad(x) - truth)
            assert np.all(gap <= 1e-9 * (1 + np.abs(truth).max()) + 1e2 * off)
