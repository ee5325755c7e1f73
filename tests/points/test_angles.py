"""Angles: inverse functions at the ends of their domains, less a literal that is their value there; and degrees,
which are multiples of the double of pi, as in Python, in every kind of arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf

from symdiff import symgrad
from tests.law.made import loaded

DEGREE = 180 / math.pi


def slope(f, x, side, order=1):
    """The limit of a derivative from inside of the domain, in 120 digits; f gets functions and pi of mpmath."""
    with mpmath.workdps(120):
        h = mpmath.mpf(10) ** -30
        return float(mpmath.diff(lambda t: f(mpmath, t), x + side * h, order, h=h / 10**20))


ANGLES = {
    "acos": (lambda m, x: (m.acos(x) - m.pi) ** 2, -1.0),
    "acos cubed": (lambda m, x: (m.acos(x) - m.pi) ** 3, -1.0),
    "asin": (lambda m, x: (m.asin(x) - m.pi / 2) ** 2, 1.0),
    "asin below": (lambda m, x: 3 * (m.asin(x) + m.pi / 2) ** 2, -1.0),
    "times a root": (lambda m, x: (m.acos(x) - m.pi) * m.sqrt(1 + x), -1.0),
    "of a root": (lambda m, x: (m.asin(m.sqrt(x)) - m.pi / 2) ** 2, 1.0),
    "atan2": (lambda m, x: (m.atan2(m.sqrt(1 - x * x), x) - m.pi) ** 2, -1.0),
    "degrees": (lambda m, x: (m.degrees(m.acos(x)) - 180) ** 2, -1.0),
    "radians": (lambda m, x: (m.acos(x) - m.radians(180)) ** 2, -1.0),
    "degrees by hand": (lambda m, x: (m.acos(x) * 180 / m.pi - 180) ** 2, -1.0),
}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", ANGLES)
def test_slopes_of_angles_at_their_ends(name):
    f, x = ANGLES[name]
    found = symgrad(lambda t: f(math, t))
    assert found.grad(x) == pytest.approx(slope(f, x, -np.sign(x)), rel=1e-14, abs=1e-14)


def test_second_derivatives_at_the_end():
    f = ANGLES["acos"][0]
    truth = slope(f, -1.0, 1, 2)
    assert symgrad(lambda x: f(math, x)).hessian(-1.0) == pytest.approx(truth, rel=1e-12)
    energy = symgrad(lambda x: np.sum((np.arccos(x) - np.pi) ** 2))
    assert energy.hessian(np.array([-1.0, 0.5]))[0, 0] == pytest.approx(truth, rel=1e-12)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("f", "x", "limit"),
    [
        (lambda m, x: (m.pi - m.acos(x)) ** 2 / (1 + x), -1.0, 2.0),
        (lambda m, x: (m.acos(x) - m.pi / 2) / x, 0.0, -1.0),
        (lambda m, x: (m.atan(x) - m.pi / 4) / (x - 1), 1.0, 0.5),
        (lambda m, x: (m.asin(x) - m.pi / 6) / (x - 0.5), 0.5, 2 / math.sqrt(3)),
    ],
)
def test_quotients_of_angles(f, x, limit):
    with mpmath.workdps(100):
        assert float(f(mpmath, x + mpmath.mpf(10) ** -40)) == pytest.approx(limit, rel=1e-15)
    assert symgrad(lambda t: f(math, t))(x) == pytest.approx(limit, rel=1e-15)


@pytest.mark.slow
def test_sums_over_arrays_and_clips():
    x = np.array([-1.0, 0.5, 1.0])
    square = symgrad(lambda x: np.sum((np.arccos(x) - np.pi) ** 2))
    inner = 2 * (math.acos(0.5) - math.pi) * -1 / math.sqrt(0.75)
    assert square.grad(x) == pytest.approx([2.0, inner, math.inf])
    clipped = symgrad(lambda x: (np.arccos(np.clip(x, -1, 1)) - np.pi) ** 2)
    assert clipped.grad(x[:2]) == pytest.approx([1.0, inner])  # the mean of 0 and 2
    degrees = symgrad(lambda x: np.sum((np.degrees(np.arccos(x)) - 180.0) ** 2))
    assert degrees.grad(x[:2]) == pytest.approx([2 * DEGREE**2, DEGREE**2 * inner])


def bend(a, b, c, d, e, f, k):
    cosine = (a * d + b * e + c * f) / (
        math.sqrt(a * a + b * b + c * c) * math.sqrt(d * d + e * e + f * f)
    )
    return k * (math.acos(cosine) - math.pi) ** 2


def bend_of_rows(p):
    u, v = p[0] - p[1], p[2] - p[1]
    cosine = np.dot(u, v) / (np.linalg.norm(u) * np.linalg.norm(v))
    return (np.arccos(np.clip(cosine, -1, 1)) - np.pi) ** 2


@pytest.mark.slow
def test_angle_potentials_of_collinear_points():
    place = (1.0, 0.0, 0.0, -1.0, 0.0, 0.0, 1.0)
    energy = symgrad(bend)
    assert energy.grad(*place) == (0.0,) * 7
    hessian = energy.hessian(*place)  # the angle is pi less |(b + e, c + f)|, to first order
    assert (hessian[1][1], hessian[1][4], hessian[2][5], hessian[0][0]) == (2.0, 2.0, 2.0, 0.0)
    rows = symgrad(bend_of_rows)
    line = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    assert not rows.grad(line).any()


@pytest.mark.slow
def test_angles_elsewhere_keep_their_literals():
    plain = symgrad(lambda x: math.acos(x) - math.pi)
    assert "read" not in str(plain.report())
    assert plain.grad(-1.0) == -math.inf
    assert symgrad(lambda x: (math.acos(x) - 3.14) ** 2).grad(-1.0) == math.inf * (3.14 - math.pi)


CUTS = {
    "a kink beside": (lambda x, y: np.abs(x) * np.arctan2(x, y), (0.0, -1.0), (math.pi, 0.0)),
    "a sign beside": (lambda x, y: x * np.arctan2(x, y), (0.0, -1.0), (0.0, 0.0)),
    "its size": (lambda x, y: np.abs(np.arctan2(x, y)), (0.0, -1.0), (0.0, 0.0)),
    "the angle alone": (lambda x, y: np.arctan2(x, y), (0.0, -1.0), (-1.0, 0.0)),
    "on the other side": (lambda x, y: np.abs(x) * np.arctan2(x, y), (0.0, 1.0), (0.0, 0.0)),
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", CUTS)
def test_functions_that_do_not_jump_where_an_angle_does(name: str) -> None:
    function, point, expected = CUTS[name]
    found = symgrad(function).grad
    assert found(*point) == pytest.approx(expected, abs=1e-15)
    columns = found(*(np.full(3, x) for x in point))
    np.testing.assert_allclose(columns, np.outer(expected, np.ones(3)), atol=1e-15)


def test_an_angle_of_multiples_of_one_number() -> None:
    """At 0 its sides are atan(2) and atan(2) - pi."""
    found = symgrad(lambda x: np.arctan2(2 * x, x) * x).grad(0.0)
    assert found == pytest.approx(math.atan(2) - math.pi / 2, rel=1e-15)


# --- degrees
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
    module = loaded(path)
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
