"""Degrees are multiples of the double of pi, as in Python, in every kind of arithmetic."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from mpmath import mp, mpf

from symdiff import symgrad

PLACES = (90.0, -90.0, 180.0, 270.0, 360.0, 45.0, 30.0, 1e-300, 89.99999999999999, 1e6)


def exact(of: str, d: float) -> float:
    """A function of the exact number of radians, d times the double of pi over 180."""
    with mp.workdps(60):
        return float(getattr(mp, of)(mpf(d) * mpf(math.pi) / 180))


CASES: list[tuple[str, Callable[..., float]]] = [
    ("cos", lambda d: math.cos(math.radians(d))),
    ("sin", lambda d: np.sin(np.deg2rad(d))),
    ("tan", lambda d: np.tan(np.radians(d))),
    ("tan", lambda d: math.tan(d * math.pi / 180)),
]


@pytest.mark.sampled
@pytest.mark.parametrize(("of", "f"), CASES)
def test_right_angles_miss_by_the_rounding_of_pi(of: str, f: Callable[..., float]) -> None:
    g = symgrad(f)
    for d in PLACES:
        assert g(d) == pytest.approx(exact(of, d), rel=4e-16, abs=0)
    found = symgrad(f)(np.array(PLACES))
    assert list(found) == pytest.approx([exact(of, d) for d in PLACES], rel=4e-16, abs=0)


def test_the_slope_of_a_tangent_at_a_right_angle() -> None:
    slope = (1 + mpf(exact("tan", 90.0)) ** 2) * mpf(math.pi) / 180
    g = symgrad(lambda d: np.tan(np.deg2rad(d)))
    assert g.grad(90.0) == pytest.approx(float(slope), rel=1e-15)
    assert g.grad(np.array([90.0]))[0] == pytest.approx(float(slope), rel=1e-15)


def quarter(d: float) -> float:
    return math.cos(math.radians(d))


@pytest.mark.slow
def test_loops_and_modules(tmp_path: Path) -> None:
    looped = symgrad(lambda v: sum(math.cos(math.radians(x)) for x in v))
    assert looped(np.array([90.0])) == exact("cos", 90.0)
    path = tmp_path / "quarter.py"
    symgrad(quarter).save(path, companion=None)
    spec = importlib.util.spec_from_file_location("quarter_kernels", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.quarter(90.0) == exact("cos", 90.0)


def test_back_again() -> None:
    assert symgrad(lambda d: math.degrees(math.radians(d))).expr.is_Symbol
    assert symgrad(lambda x: math.degrees(math.acos(x)))(-1.0) == 180.0
    assert symgrad(lambda x: np.rad2deg(x)).grad(1.0) == 180 / math.pi


@pytest.mark.sampled
@pytest.mark.parametrize("f", [
    lambda d: math.sin(math.radians(d)) / (d - 180),
    lambda d: math.sin(d * math.pi / 180) / (d - 180),
    lambda d: math.sin(math.pi / 180 * d) / (d - 180),
    lambda d: -np.cos(np.deg2rad(d - 90)) / (180 - d),
])  # fmt: skip
def test_what_that_rounding_hides_is_removable(f: Callable[..., float]) -> None:
    assert symgrad(f)(180.0) == pytest.approx(-math.pi / 180, rel=1e-15)
