"""Guarded functions where their arguments are 0, 1, tiny, infinite or nan: values are Python's."""

from __future__ import annotations

import math
from collections.abc import Callable

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
]


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


@pytest.mark.parametrize("level", ["strict", "certified"])
def test_a_zero_that_a_literal_misses_keeps_its_guard(level: str) -> None:
    f = symgrad(boys, accuracy=level)
    assert f(0.0) == 1.0
    assert f(np.array([0.0, 0.5]))[0] == 1.0
    assert f.grad(0.0) == pytest.approx(-1 / 3, rel=1e-15)
    assert f.hessian(0.0) == pytest.approx(0.2, rel=1e-15)
