"""`accuracy="fast"` is never worse than the chain rule of the textbook in doubles: where that is finite and
right, so is "fast"."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

from symdiff import symgrad
from tests.corpus import CASES, Case
from tests.fuzz.scalars import load
from tests.law.alike import differences


# ------------------------------------------------------------------ compensated sums
def kahan(x):
    s = c = 0.0
    for v in x:
        y = v - c
        t = s + y
        c = (t - s) - y
        s = t
    return s


def neumaier(x):
    s = c = 0.0
    for v in x:
        t = s + v
        if abs(s) >= abs(v):
            c += (s - t) + v
        else:
            c += (v - t) + s
        s = t
    return s + c


def klein(x):
    s = cs = ccs = 0.0
    for v in x:
        t = s + v
        c = (s - t) + v if abs(s) >= abs(v) else (v - t) + s
        s = t
        t = cs + c
        cc = (cs - t) + c if abs(cs) >= abs(c) else (c - t) + cs
        cs = t
        ccs += cc
    return s + cs + ccs


def knuth(x):
    s = e = 0.0
    for v in x:
        t = s + v
        b = t - s
        e += (s - (t - b)) + (v - b)
        s = t
    return s + e


def indexed(x):
    s, e = x[0], 0.0
    for i in range(1, len(x)):
        t = s + x[i]
        e = e + (x[i] - (t - s) if abs(s) > abs(x[i]) else s - (t - x[i]))
        s = t
    return s + e


def pair(x):
    high, low = 0.0, 0.0
    for v in x:
        s = high + v
        b = s - high
        low += (high - (s - b)) + (v - b)
        high = s + low
        low = low - (high - s)
    return high + low


def while_loop(x):
    i, s, c = 0, 0.0, 0.0
    while i < len(x):
        y = x[i] - c
        t = s + y
        c = t - s - y
        s, i = t, i + 1
    return s


def in_arrays(x):
    a = np.zeros(2)
    for v in x:
        t = a[0] + v
        a[1] += (a[0] - t) + v if abs(a[0]) >= abs(v) else (v - t) + a[0]
        a[0] = t
    return a[0] + a[1]


def two_sum(a, b):
    s = a + b
    z = s - a
    return s, (a - (s - z)) + (b - z)


def by_calls(x):
    s = e = 0.0
    for v in x:
        s, d = two_sum(s, v)
        e += d
    return s + e


def dekker(x):
    """The sum of squares."""
    p = s = 0.0
    for v in x:
        h = v * v
        c = 134217729.0 * v
        a = c - (c - v)
        b = v - a
        p, q = two_sum(p, h)
        s += q + (b * b - ((h - a * a) - 2 * a * b))
    return p + s


LARGE = np.array([1.0, 1e100, 1.0, -1e100])
SMALL = np.array([1.0] + [1e-16] * 1000)
ALTERNATING = np.array([1.0, 1e16, 1.0, -1e16, 3.0])


def exact(x: np.ndarray) -> float:
    return float(sum(map(Fraction, x.tolist())))


@pytest.mark.sampled
@pytest.mark.parametrize("accuracy", ["fast", pytest.param("high", marks=pytest.mark.slow)])
@pytest.mark.parametrize("f", [kahan, neumaier, klein, knuth, indexed, pair, while_loop, in_arrays, by_calls])  # fmt: skip
def test_compensated_sums(f: Callable[..., Any], accuracy: Any) -> None:
    made = symgrad(f, accuracy=accuracy)
    for x in (LARGE, SMALL, ALTERNATING):
        if abs(f(x) - exact(x)) <= 1e-15 * abs(exact(x)):
            assert made(x) == pytest.approx(exact(x), rel=1e-15)
            value, slopes = made.value_and_grad(x)
            assert value == pytest.approx(exact(x), rel=1e-15)
            np.testing.assert_array_equal(slopes, np.ones(len(x)))


def test_compensated_products_and_sums_of_numbers() -> None:
    x = np.array([1e8 + 1, 1e-4, 3.0])
    squares = float(sum(Fraction(v) ** 2 for v in x.tolist()))
    assert symgrad(dekker, accuracy="fast")(x) == squares

    def of_numbers(a, b, c, d):
        s, e = two_sum(a, b)
        s, f = two_sum(s, c)
        s, g = two_sum(s, d)
        return s + (e + f + g)

    assert symgrad(of_numbers, accuracy="fast")(1.0, 1e100, 1.0, -1e100) == 2.0


# ---------------------------------------------------------------- shifted exponentials
def alignment(d, g):
    return padded_alignment(d, g, 1e10)


def alignment_in_infinity(d, g):
    return padded_alignment(d, g, np.inf)


def padded_alignment(d, g, padding):
    n, m = d.shape
    r = np.full((n + 1, m + 1), padding)
    r[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            z = -np.array([r[i - 1, j - 1], r[i - 1, j], r[i, j - 1]]) / g
            t = np.max(z)
            r[i, j] = d[i - 1, j - 1] - g * (t + np.log(np.sum(np.exp(z - t))))
    return r[n, m]


def smooth_minimum(a, b, c, g):
    z = -np.array([a, b, c]) / g
    t = np.max(z)
    return -g * (t + np.log(np.sum(np.exp(z - t))))


def two(a, b, g):
    z = np.array([a, b]) / g
    t = np.max(z)
    return g * (t + np.log(np.sum(np.exp(z - t))))


def by_hand(a, b, c):
    t = max(a, b, c)
    return t + np.log(np.exp(a - t) + np.exp(b - t) + np.exp(c - t))


def share(a, b):
    t = max(a, b)
    p, q = np.exp(a - t), np.exp(b - t)
    return p / (p + q)


def difference(a, b):
    return np.exp(a - b) + np.arctan(np.exp(-abs(a))) + np.arctan(np.exp(-abs(b)))


def beside(a, b):
    return np.tanh(np.exp(a)) * np.tanh(np.exp(b)) * np.exp(a - b)


FAR = [(0.3, 1e10, 1e10), (1e10, 0.3, 1e10), (1e10, 1e10, 0.3), (800.0, 801.0, 802.0), (-1e5, -1e5, 2.0)]  # fmt: skip


def softmin(values: Any, g: float) -> np.ndarray:
    """The slopes of a smooth minimum."""
    z = -np.array(values) / g
    p = np.exp(z - z.max())
    return p / p.sum()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("at", FAR)
def test_slopes_of_smooth_minima(at: tuple[float, ...]) -> None:
    for f, args, want in (
        (smooth_minimum, (*at, 0.1), softmin(at, 0.1)),
        (by_hand, at, softmin(at, -1.0)),
        (two, (*at[1:], 0.1), softmin(at[1:], -0.1)),
    ):
        got = symgrad(f, accuracy="fast").grad(*args)
        np.testing.assert_allclose(got[: len(want)], want, rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize(
    "f",
    [
        lambda a, b: np.log(1.0 + np.exp(a - (b if b > a else a))) * a,
        lambda a, b: np.log(1.0 + np.exp(a - max(a, b))) * a,
    ],
    ids=["branches", "maximum"],
)
def test_terms_that_cancel_in_a_branch_leave_nothing(f: Callable[..., Any]) -> None:
    for at in ((1e10, 3.0), (1e10, -1e10)):
        slopes = symgrad(f, accuracy="fast").grad(*at)
        np.testing.assert_allclose(slopes, (math.log(2), 0.0), rtol=1e-15)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("at", [(800.0, 800.0), (800.0, 801.0), (-800.0, -801.0), (1e5, 1e5 + 1)])
def test_exponentials_of_differences(at: tuple[float, float]) -> None:
    a, b = at
    p = 1 / (1 + np.exp(b - a))
    got = symgrad(share, accuracy="fast").grad(a, b)
    np.testing.assert_allclose(got, (p * (1 - p), -p * (1 - p)), rtol=1e-9)
    d = np.exp(a - b)
    made = symgrad(difference, accuracy="fast")
    assert made(a, b) == pytest.approx(d, rel=1e-9)
    np.testing.assert_allclose(made.grad(a, b), (d, -d), rtol=1e-9)
    if a > 0:
        assert symgrad(beside, accuracy="fast")(a, b) == pytest.approx(d, rel=1e-9)


def test_alignment_with_padding() -> None:
    d, g = np.random.default_rng(1).random((4, 4)), 0.1
    slopes, by_g = symgrad(alignment, accuracy="fast").grad(d, g)
    np.testing.assert_allclose(slopes, differences(alignment, (d, g)), rtol=0, atol=1e-7)
    assert by_g == pytest.approx(float(differences(alignment, (d, g), 1)), abs=1e-6)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("padded", [(), [(1, 3), (3, 1)], [(1, 1), (3, 0)]])
def test_alignment_with_infinite_padding(padded: list[tuple[int, int]]) -> None:
    """Padding in the table, and in distances as far as a path is left."""
    d, g = np.random.default_rng(1).random((4, 4)), 0.1
    for at in padded:
        d[at] = np.inf
    made = symgrad(alignment_in_infinity, accuracy="fast", wrt="d")
    assert made(d, g) == pytest.approx(alignment_in_infinity(d, g), rel=1e-13)
    slopes = differences(alignment_in_infinity, (d, g))  # 0 in infinity
    np.testing.assert_allclose(made.grad(d, g), slopes, rtol=0, atol=1e-7)
    assert all(made.grad(d, g)[at] == 0 for at in padded)


def share_of_three(a, b, c):
    t = max(a, b, c)
    p, q, r = np.exp(a - t), np.exp(b - t), np.exp(c - t)
    return p / (p + q + r)


MASKED = [(-np.inf, -np.inf, 0.5), (0.5, -np.inf, -np.inf), (-np.inf, 0.5, -np.inf), (-np.inf, 0.5, 0.25)]  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("at", MASKED)
def test_sums_and_shares_of_masked_exponentials(at: tuple[float, ...]) -> None:
    p = softmin(at, -1.0)
    for f in (by_hand, lambda a, b, c: np.logaddexp(np.logaddexp(a, b), c)):
        made = symgrad(f, accuracy="fast")
        assert made(*at) == pytest.approx(np.log(np.sum(np.exp(at))), rel=1e-14)
        np.testing.assert_allclose(made.grad(*at), p, rtol=1e-14)
    made = symgrad(share_of_three, accuracy="fast")
    assert made(*at) == pytest.approx(p[0], rel=1e-14)
    np.testing.assert_allclose(made.grad(*at), (p[0] * (1 - p[0]), -p[0] * p[1], -p[0] * p[2]), rtol=1e-13)  # fmt: skip


def test_shares_of_nothing_stay_undefined() -> None:
    assert math.isnan(symgrad(share_of_three, accuracy="fast")(*[-np.inf] * 3))


# ---------------------------------------------------------------- generated programs
class Dual:
    """A value and its slopes, by forward differentiation in the arithmetic of its parts."""

    def __init__(self, value: Any, slopes: Any) -> None:
        self.value, self.slopes = value, slopes

    def _with(self, value: Any, *parts: tuple[Any, Dual]) -> Dual:
        slopes = zip(*(d.slopes for _, d in parts), strict=True)
        factors = [c for c, _ in parts]
        each = [sum((c * s for c, s in zip(factors, of, strict=True)), 0 * value) for of in slopes]
        return Dual(value, each)

    def __add__(self, o: Any) -> Dual:
        o = self.of(o)
        return self._with(self.value + o.value, (1, self), (1, o))

    def __sub__(self, o: Any) -> Dual:
        o = self.of(o)
        return self._with(self.value - o.value, (1, self), (-1, o))

    def __mul__(self, o: Any) -> Dual:
        o = self.of(o)
        return self._with(self.value * o.value, (o.value, self), (self.value, o))

    def __truediv__(self, o: Any) -> Dual:
        o = self.of(o)
        q = self.value / o.value
        return self._with(q, (1 / o.value, self), (-q / o.value, o))

    def __neg__(self) -> Dual:
        return self._with(-self.value, (-1, self))

    def __rsub__(self, o: Any) -> Dual:
        return self.of(o) - self

    def __rtruediv__(self, o: Any) -> Dual:
        return self.of(o) / self

    __radd__, __rmul__ = __add__, __mul__

    def __gt__(self, o: Any) -> bool:
        return bool(self.value > self.of(o).value)

    def of(self, o: Any) -> Dual:
        return o if isinstance(o, Dual) else Dual(o + 0 * self.value, [0 * s for s in self.slopes])

    def _functions(self) -> Any:
        return np if isinstance(self.value, float) else mpmath

    def exp(self) -> Dual:
        e = self._functions().exp(self.value)
        return self._with(e, (e, self))

    def log(self) -> Dual:
        return self._with(self._functions().log(self.value), (1 / self.value, self))

    def tanh(self) -> Dual:
        t = self._functions().tanh(self.value)
        return self._with(t, (1 - t * t, self))


NAMES = ("a", "b", "c")


def exponent(r: random.Random) -> str:
    p, q = r.sample(NAMES, 2)
    return r.choice([f"({p} - {q})", f"({p} - t)", f"({q} - {p} - 1.0)", f"(0.5*({p} - t))", f"(-np.tanh({p}))"])  # fmt: skip


def term(r: random.Random, depth: int) -> str:
    if depth == 0:
        first = f"np.exp({exponent(r)})"
        return r.choice([first, r.choice(NAMES), "2.0", f"np.exp({exponent(r)})"])
    x, y = term(r, depth - 1), term(r, depth - 1)
    return r.choice([f"({x} + {y})", f"({x} * {y})", f"({x} - {y})", f"{x} / (1.0 + np.exp({exponent(r)}))",
                     f"np.log(1.0 + np.exp({exponent(r)})) * {y}", f"({x} / (np.exp({exponent(r)}) + np.exp({exponent(r)})))",
                     f"np.tanh({x})"])  # fmt: skip


def program(seed: int) -> str:
    r = random.Random(seed)
    shift = ["    t = a", "    t = b if b > t else t", "    t = c if c > t else t"]
    result = f"    return {term(r, r.choice((1, 2, 2, 3)))}"
    return "\n".join(["import numpy as np", "", "", "def f(a, b, c):", *shift, result, ""])


POINTS = [(0.3, -0.7, 1.1), (800.0, 801.5, 799.0), (-760.0, -750.0, -755.0), (1e10, 3.0, -20.0), (0.5, 1e3, -1e3), (-1e10, 1e8, 0.25)]  # fmt: skip


WORSE = 16
"""The most by which errors may exceed those of forward differentiation, above 1e-12 of the result."""


def in_doubles(f: Callable[..., Any], at: tuple[float, ...], number: Callable[..., Any]) -> Dual:
    own = [Dual(number(v), [number(i == k) for i in range(3)]) for k, v in enumerate(at)]
    return own[0].of(f(*own))


def worse(f: Callable[..., Any]) -> list[Any]:
    """The points where plain forward differentiation is finite and right, and "fast" is not."""
    found, made = [], symgrad(f, accuracy="fast")
    for at in POINTS:
        try:
            plain = in_doubles(f, at, np.float64)
            with mpmath.workdps(900):
                true = in_doubles(f, at, mpmath.mpf)
                parts = [(float(p), float(t)) for p, t in zip((plain.value, *plain.slopes), (true.value, *true.slopes), strict=True)]  # fmt: skip
        except (ZeroDivisionError, OverflowError):
            continue
        value, slopes = made(*at), made.grad(*at)
        slopes = slopes if isinstance(slopes, tuple) else (slopes,)
        for got, (p, t) in zip((value, *slopes), parts, strict=True):
            near = max(1e-12 * abs(t), WORSE * abs(p - t))
            right = math.isfinite(t) and abs(p - t) <= 1e-12 * abs(t)
            if right and not abs(got - t) <= near:
                found.append((at, got, p, t))
    return found


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(s, marks=pytest.mark.slow) for s in range(3, 150))])  # fmt: skip
def test_generated_programs(seed: int, tmp_path: Path) -> None:
    text = program(seed)
    with np.errstate(all="ignore"):
        assert not worse(load(text, tmp_path)), text


# ------------------------------------------------------------------------- the corpus
def quotient(case: Case, at: tuple[float, ...], k: int) -> float:
    """A difference quotient of the fourth order of the plain function."""
    h = 1e-5 * min(1.0, abs(at[k]))
    moved = [case(*at[:k], at[k] + s * h, *at[k + 1 :]) for s in (1, -1, 2, -2)]
    return (8 * (moved[0] - moved[1]) - (moved[2] - moved[3])) / (12 * h)


NUMBERS = [c for c in CASES if c.gives_a_number and c.name != "modulo"]
"""One of the samples of `modulo` lies on a step."""


@pytest.mark.parametrize(
    "case",
    [c if c.name == "lazy_where" else pytest.param(c, marks=pytest.mark.slow) for c in NUMBERS],
    ids=lambda c: c.name,
)
def test_slopes_of_the_corpus(case: Case) -> None:
    made = symgrad(case.fun, accuracy="fast", static=tuple(case.static) or None)
    for at in case.samples:
        slopes = np.atleast_1d(made.grad(*at, **case.static))
        expected = [quotient(case, at, k) for k in range(len(at))]
        np.testing.assert_allclose(slopes, expected, rtol=1e-6, atol=1e-6)
