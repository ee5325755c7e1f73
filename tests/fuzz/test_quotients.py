"""Quotients that are removable where one variable equals another, on that surface, beside it and far
from it, compared with the plain chain rule in arithmetic of hundreds of digits."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from symdiff import symgrad
from tests.fuzz.jets import compiled, truths
from tests.fuzz.scalars import Tally, _compared, _text, load

pytestmark = pytest.mark.slow

QUOTIENTS = (
    "(math.atan(x) - math.atan(y))/(x - y)",
    "(math.cos(x) - math.cos(y))/(x**2 - y**2)",
    "(math.exp(x) - math.exp(y) - (x - y)*math.exp(y))/(x - y)**2",
    "(math.sin(x)*y - math.sin(y)*x)/(x - y)**3*(x + y)",
    "(x/math.expm1(x) - y/math.expm1(y))/(x - y)",
    "(x/math.tanh(x) - y/math.tanh(y))/(x - y)",
    "(math.tan(x)/x - math.tan(y)/y)/(x - y)",
    "(x*abs(y) + abs(x)*y)/(x + y)",
    "(abs(x)*math.exp(y) - abs(y)*math.exp(x))/(x - y)",
    "(math.exp(y*x**4) - 1.0)/x**4",
    "(x*abs(x) - y*abs(y))/(x - y)",
)
PLACES = (0.7, -1.5, 1e-3, 30.0)
BESIDE = (1e-12, 1e-7, 0.02, -2.0)


@pytest.mark.parametrize("text", QUOTIENTS)
def test_quotients_on_and_beside_surfaces(text: str, tmp_path: Path) -> None:
    source = f"def f(x, y):\n    return {text}\n"
    f, meant, tally = symgrad(load(source, tmp_path)), compiled(source), Tally()
    points = [(v, v) for v in PLACES] + [(v * (1 + b), v) for v in PLACES for b in BESIDE]
    points += [(600.0, -600.0), (0.0, 1.0), (0.719, 0.446)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for point in points:
            for along, slope in enumerate(f.grad(*point)):
                value, first, _ = truths(meant, point, along)
                for got, true in ((f(*point), value), (slope, first)):
                    if true.kind != "open":
                        fault = _compared(float(got), true, tally)
                        assert fault is None, f"{fault} at {point}: {got}, truth {_text(true)}"
    assert tally.worst < 8
