"""Guarded functions where their arguments are 0, 1, tiny, infinite or nan: values are Python's."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad

Function = Callable[..., float]


def annuity(r, n):
    return (1 - (1 + r) ** -n) / r if r != 0 else n


def boys(t):
    if t < 1e-6:
        return 1 - t / 3 + t * t / 10
    return 0.5 * math.sqrt(math.pi / t) * math.erf(math.sqrt(t))


def bateman(a, b, t):
    return a / (b - a) * (math.exp(-a * t) - math.exp(-b * t))


def curved(ok, s, d):
    return math.sinh(s) / s if ok > 0 else math.sin(s) / s if ok < 0 else d


INF, NAN = math.inf, math.nan
BEYOND = [
    (lambda a, t: (1 - math.exp(-a * t)) / a, (1.0, INF)),
    pytest.param(annuity, (1.0, INF), marks=pytest.mark.slow),
    (lambda t: (1 - math.exp(-t)) / t if t else 1.0, (INF,)),
    (lambda t: math.tanh(t) / t if t != 0 else 1.0, (-INF,)),
    (lambda x, y: math.expm1(x * y) / y, (-INF, 1.0)),
    (lambda x, y: (x**y - 1) / y, (2.0, -INF)),
    (lambda x, y: math.sin(y) / y * x if y else x, (INF, 0.0)),
    (lambda v: 0.1 * (v + 40) / (1 - math.exp(-(v + 40) / 10)) if v != -40 else 1.0, (INF,)),
    (bateman, (1.0, 2.0, INF)),
    (lambda r, w: math.atan(2 * r * math.tan(w / 2)) / w if w else r, (INF, 0.5)),
    (lambda x: 1.0 if math.sqrt(x) > 2 else 0.0, (NAN,)),
    (lambda x, y: 1 - y if y < math.sqrt(x) else y, (NAN, 0.3)),
    (lambda x, y: 1.0 if math.log(y) > math.log(x) else 0.0, (NAN, 1.0)),
    (curved, (NAN, 1.0, 2.0)),
    (lambda x, y: 1 - y if y < math.sqrt(0.1 * x - 0.01) else y, (NAN, 0.3)),
    (lambda x, y: 1 - y if y < math.sqrt(math.sqrt(x) / 3) * math.log(x) else y, (NAN, 0.3)),
]


@pytest.mark.sampled
@pytest.mark.parametrize(("f", "at"), BEYOND)
def test_infinite_and_nan_arguments(f: Function, at: tuple[float, ...]) -> None:
    g = symgrad(f)
    assert g(*at) == pytest.approx(f(*at), rel=1e-15)
    arrays = [np.full(5, beside) for beside in (0.75, 0.5, 0.25)[: len(at)]]
    for x, value in zip(arrays, at, strict=True):
        x[3] = value
    expected = [f(*(float(x[k]) for x in arrays)) for k in range(5)]
    assert g(*arrays) == pytest.approx(expected, rel=1e-12)


def test_domains_refuse_numbers_alone() -> None:
    f = symgrad(lambda x: 1.0 if math.sqrt(x) > 2 else 0.0)
    assert math.isnan(f(-1.0))
    assert math.isnan(symgrad(lambda x: math.log(x))(NAN))


@pytest.mark.sampled
@pytest.mark.parametrize("level", ["strict", "certified"])
def test_a_zero_that_a_literal_misses_keeps_its_guard(level: str) -> None:
    f = symgrad(boys, accuracy=level)
    assert f(0.0) == 1.0
    assert f(np.array([0.0, 0.5]))[0] == 1.0
    assert f.grad(0.0) == pytest.approx(-1 / 3, rel=1e-15)
    assert f.hessian(0.0) == pytest.approx(0.2, rel=1e-15)


def clayton(u, v, theta):
    return u * v if theta == 0 else max(u**-theta + v**-theta - 1, 0) ** (-1 / theta)


def reaction(n, k, c):
    return c * math.exp(-k) if n == 1 else (c ** (1 - n) - (1 - n) * k) ** (1 / (1 - n))


def power_mean(x, y, p):
    return math.sqrt(x * y) if p == 0 else ((x**p + y**p) / 2) ** (1 / p)


def divergence(p, q, a):
    return p * math.log(p / q) if a == 1 else (p**a * q ** (1 - a) - p) / (a - 1)


def identric(a, b):
    return a if a == b else math.exp(-1) * (b**b / a**a) ** (1 / (b - a))


def width(r, s):
    return math.exp(-0.5 * (r / s) ** 2) if s else (1.0 if r == 0 else 0.0)


LOST = [
    (lambda r, s: math.exp(-((r / s) ** 2)) if s != 0 else 0.0, (0.0, 0.0), (0.0, 0.0)),
    (width, (0.0, 0.0), None),
    (lambda x, y: x / y * math.exp(-((x / y) ** 2)) if y else 0.0, (0.0, 0.0), (0.0, 0.0)),
    (lambda x, y: math.erf(abs(x) / abs(y)) if y else 1.0, (0.0, 0.0), (0.0, 0.0)),
    (lambda x, y: 1 / math.cosh((x - 2) / y) if y else 0.0, (2.0, 0.0), (0.0, 0.0)),
    (divergence, (-1.0, -2.0, 1.0), (math.log(0.5) + 1, -0.5, 0.0)),
]
SLOWER = [
    (clayton, (-1.0, 1.0, 0.0), (1.0, -1.0, 0.0)),
    (reaction, (1.0, 0.3, -1.0), (0.0, math.exp(-0.3), math.exp(-0.3))),
    (power_mean, (-1.0, -1.0, 0.0), (-0.5, -0.5, 0.0)),
    (identric, (-1.0, -1.0), (1.0, 0.0)),
]


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("f", "at", "slopes"), [*LOST, *(pytest.param(*c, marks=pytest.mark.slow) for c in SLOWER)]
)
def test_where_the_other_side_has_no_value_the_guard_counts(f, at, slopes) -> None:
    """Beside numbers at which its condition is a removable singularity."""
    g = symgrad(f)
    assert g(*at) == pytest.approx(f(*at), rel=1e-15)
    arrays = [np.array([0.75, x, 0.5]) for x in at]
    expected = [f(*(float(x[k]) for x in arrays)) for k in range(3)]
    assert g(*arrays) == pytest.approx(expected, rel=1e-12)
    if slopes is not None:
        assert g.grad(*at) == pytest.approx(slopes, rel=1e-15)
        assert g.value_and_grad(*at)[1] == pytest.approx(slopes, rel=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize("level", ["fast", "high", "strict", "certified"])
def test_at_all_levels(level: str) -> None:
    for f, at, _ in (LOST[0], LOST[5]):
        g = symgrad(f, accuracy=level)
        assert g(*at) == pytest.approx(f(*at), rel=1e-15)
        arrays = [np.array([0.75, x, 0.5]) for x in at]
        assert g(*arrays)[1] == pytest.approx(f(*at), rel=1e-15)


@pytest.mark.slow
def test_what_is_undefined_in_python_stays_nan() -> None:
    g = symgrad(divergence)
    assert math.isnan(g(-1.0, 2.0, 1.0))  # the logarithm of a negative number
    assert math.isnan(symgrad(identric)(-1.0, 0.5))


@pytest.mark.slow
def test_at_points_with_a_limit_the_slope_is_that_of_the_smooth_function() -> None:
    assert symgrad(LOST[0][0]).grad(1.0, 0.0) == (0.0, 0.0)
    by_order = symgrad(reaction).grad(1.0, 0.3, 2.0)[0]
    step = 1e-5
    sides = (reaction(1 + step, 0.3, 2.0) - reaction(1 - step, 0.3, 2.0)) / (2 * step)
    assert by_order == pytest.approx(sides, rel=1e-5)


CORNERS = (0.0, 1.0, -1.0, 1e-300, 1e-9, 2.5, INF)
PROGRAMS: list[Function] = [
    *(f for f, _, _ in LOST[:3]),
    lambda x, y: 0.0 if x == 0 and y == 0 else x * x * y / (x * x + y * y),
    lambda p, q: 0.0 if p == 0 else p * math.log(p / q),
    lambda t, m: 1.0 if t == 0 else (1 - math.exp(-t / m)) / (t / m),
    lambda x, k: k if abs(x) < 1e-8 else math.expm1(k * x) / x,
    lambda x, xi: math.exp(-x) if xi == 0 else max(0.0, 1 + xi * x) ** (-1 / xi),
    lambda x, y: math.exp(-((x / max(y, 1e-12)) ** 2)),
    lambda a, b: a if a == b else (a - b) / math.log(a / b),
    lambda y, k: math.log(y) if k == 0 else (y**k - 1) / k,
]


@pytest.mark.slow
@pytest.mark.parametrize("f", PROGRAMS)
def test_a_grid_of_corners(f: Function) -> None:
    g = symgrad(f)
    for at in itertools.product(CORNERS, repeat=f.__code__.co_argcount):
        try:
            expected = f(*at)
        except (ArithmeticError, ValueError):
            continue
        if isinstance(expected, complex) or math.isnan(expected):
            continue
        found = g(*at), g(*(np.full(2, x) for x in at))[1]
        for value in found:
            assert not math.isnan(value), at
            if not all(map(math.isfinite, at)):  # else plain Python loses digits
                assert value == pytest.approx(expected, rel=1e-6, abs=1e-6), at


@pytest.mark.sampled
@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: x**y - 1 if y < 0 else 0.0,
        lambda x, y: abs(1 - x**y) if 0 < x < 1 and y < 0 else 0.0,
        lambda x, y: x**y - 1 if y > 0 else 0.0,
    ],
)
def test_formulas_that_meet_at_the_end_of_a_half_line_have_the_slopes_of_the_one_taken(
    function: Any,
) -> None:
    assert symgrad(function).grad(0.5, 0.0) == (0.0, 0.0)


def divided(x, y):
    return math.exp(x) if x == y else (math.exp(x) - math.exp(y)) / (x - y)


def sinc(x):
    return math.sin(x) / x if x != 0 else 1.0


def banded_product(x, y):
    s = sinc(x)
    return s if abs(x - y) < 1e-12 else s * math.sinh(x - y) / (x - y)


def nested_bands(x, y):
    if abs(x - y) < 1e-12:
        return sinc(x) ** 2
    return sinc(x) * sinc(y) * math.sinh(x - y) / (x - y)


def difference(x, y):
    return divided(x, y) - (math.expm1(x) / x if x != 0 else 1.0)


THIRD = 1 / 3


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("f", "slopes", "bends"),
    [
        (banded_product, (0.0, 0.0), [[0.0, -THIRD], [-THIRD, THIRD]]),
        (difference, (0.0, 0.5), [[0.0, 1 / 6], [1 / 6, THIRD]]),
        pytest.param(
            nested_bands, (0.0, 0.0), [[0.0, -THIRD], [-THIRD, 0.0]], marks=pytest.mark.slow
        ),
        pytest.param(divided, (0.5, 0.5), [[THIRD, 1 / 6], [1 / 6, THIRD]], marks=pytest.mark.slow),
    ],
)
def test_diagonals_where_another_guard_holds_too(f, slopes, bends) -> None:
    """All are smooth at the origin; products of series by hand."""
    g = symgrad(f)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(g.grad(0.0, 0.0), slopes, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(g.hessian(0.0, 0.0), bends, rtol=1e-12, atol=1e-15)
