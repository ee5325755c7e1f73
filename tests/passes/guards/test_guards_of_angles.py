"""Guards whose condition vanishes at more points than the one at which they are right."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from symdiff import symgrad

CONDITIONS = {
    "sin == 0": lambda a: math.sin(a) == 0,
    "tan == 0": lambda a: math.tan(a) == 0,
    "tanh == 0": lambda a: math.tanh(a) == 0,
    "cos == 1": lambda a: math.cos(a) == 1,
    "cos > 1 - eps": lambda a: math.cos(a) > 1 - 1e-13,
    "abs(sin) < eps": lambda a: abs(math.sin(a)) < 1e-12,
    "sin**2 < eps": lambda a: math.sin(a) ** 2 < 1e-18,
    "abs(tan) <= eps": lambda a: abs(math.tan(a)) <= 1e-12,
    "1 - cos < eps": lambda a: 1 - math.cos(a) < 1e-13,
    "abs(cos - 1) < eps": lambda a: abs(math.cos(a) - 1) < 1e-13,
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", CONDITIONS)
@pytest.mark.parametrize("shift", [0.0, 0.5])
def test_a_guard_of_a_small_angle_has_the_slopes_of_the_function(name, shift):
    guarded = CONDITIONS[name]

    def weight(t, x):
        a = 2 * (x - shift)
        return t if guarded(a) else math.sin(t * a) / math.sin(a)

    f = symgrad(weight)
    t = 0.3
    bend = 4 * t * (1 - t * t) / 3
    assert f(t, shift) == t
    assert f.grad(t, shift) == (1.0, 0.0)
    assert f.hessian(t, shift)[1][1] == pytest.approx(bend, rel=1e-14)
    mpmath.mp.dps = 40
    a = 2 * (mpmath.mpf(1e-7 + shift) - shift)
    truth = 2 * mpmath.diff(lambda s: mpmath.sin(t * s) / mpmath.sin(s), a)
    assert f.grad(t, shift + 1e-7)[1] == pytest.approx(float(truth), rel=1e-13)


@pytest.mark.slow
def test_where_the_sine_vanishes_elsewhere_the_guard_stays():
    f = symgrad(lambda b: 25.0 if abs(math.sin(b)) < 1e-9 else (math.sin(5 * b) / math.sin(b)) ** 2)
    assert f(math.pi) == f(0.0) == 25.0
    assert f.hessian(0.0) == -400.0

    def share(b, t):
        return t if abs(math.sin(b)) < 1e-9 else math.sin(t * b) / math.sin(b)

    assert symgrad(share)(math.pi, 0.3) == 0.3  # the function has a pole there


def test_a_band_whose_middle_is_no_zero_of_the_divisor_as_it_is_written():
    def ratio(z, rho):
        if abs(z) < 1e-12:
            return 1.0
        return z / math.log((math.sqrt(1 - 2 * rho * z + z * z) - rho + z) / (1 - rho))

    slopes = symgrad(ratio).grad(0.0, -0.2)
    assert slopes == (pytest.approx(0.1, rel=1e-15), 0.0)


@pytest.mark.slow
def test_a_half_line_is_a_branch_up_to_its_end():
    f = symgrad(lambda x: (1 - math.exp(-x)) / x if x > 1e-10 else 1.0)
    assert [f.grad(x) for x in (-1.0, -1e-11, 0.0, 1e-11)] == [0.0] * 4  # the branch of one side
    assert f.grad(1e-9) == pytest.approx(-0.5, rel=1e-8)
    assert (f(-1.0), f(0.0)) == (1.0, 1.0)

    f = symgrad(lambda w: 1.0 if w >= 1 else math.acos(w) / math.sqrt(1 - w * w))
    assert (f(1.0), f.grad(1.0), f.hessian(1.0)) == (1.0, 0.0, 0.0)
    assert (f(1.5), f.grad(1.5)) == (1.0, 0.0)
    f = symgrad(lambda rate, time: (1 - math.exp(-rate * time)) / rate if rate > 0 else time)
    assert f.grad(0.0, 2.0) == f.grad(-1.0, 2.0) == (0.0, 1.0)  # the branch of one side


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("function", "slope"),
    [
        (lambda x: x * math.exp(-x) if x > 0 else 0.0, 0.0),
        (lambda x: x * math.log(x) if x > 0 else 0.0, 0.0),
        (lambda x: math.exp(-1 / x) if x > 0 else 0.0, 0.0),
        (lambda x: math.sqrt(x) if x > 0 else 0.0, 0.0),
        (lambda x: np.where(x > 0, x, 0.0), 0.0),
    ],
)
def test_functions_that_begin_at_a_point_keep_the_branch_that_is_taken(function, slope):
    f = symgrad(function)
    assert f.grad(0.0) == slope
    assert f.grad(-1.0) == 0.0


ANGLES = {
    "angle < eps": lambda a: a < 1e-8,
    "angle == 0": lambda a: a == 0,
    "sin < eps": lambda a: math.sin(a) < 1e-8,
    "sin <= 0": lambda a: math.sin(a) <= 0,
    "abs(sin) < eps": lambda a: abs(math.sin(a)) < 1e-8,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ANGLES)
def test_a_guard_on_an_arc_cosine_has_the_slopes_of_the_function(name):
    """Where directions coincide, their cosine is at the end of its domain, and the angle has a branch point."""
    guarded = ANGLES[name]

    def weight(t, cosine):
        a = math.acos(cosine)
        return 1 - t if guarded(a) else math.sin((1 - t) * a) / math.sin(a)

    f = symgrad(weight)
    s = 0.7  # sin(s*a)/sin(a) = s + s*(1 - s**2)/3*(1 - cosine) + ...
    slope = -s * (1 - s * s) / 3
    assert f(0.3, 1.0) == 0.7
    assert f.grad(0.3, 1.0) == pytest.approx((-1.0, slope), rel=1e-14)
    (_, mixed), (_, bend) = f.hessian(0.3, 1.0)
    assert mixed == pytest.approx((1 - 3 * s * s) / 3, rel=1e-14)
    assert bend == pytest.approx(slope * (s * s - 4) / 5, rel=1e-14)
    assert f.grad(0.3, 1 - 1e-12)[1] == pytest.approx(slope, rel=1e-11)
    assert f.grad(0.3, -1.0 + 1e-12)[1] != pytest.approx(0.0)  # a pole of the other end
