"""Inverse functions at the ends of their domains, less a literal that is their value there."""

import math

import mpmath
import numpy as np
import pytest

from symdiff import symgrad

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
