"""Branches that are not taken send no call to slower arithmetic: neither what is nan there, nor functions out of their
domain, nor the processor's flags that they raise."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from symdiff import ir, symgrad
from symdiff.interpret.loops import Doubles, evaluate
from symdiff.passes.accuracy.error_test import flagged_where
from symdiff.runtime.loops import call
from symdiff.runtime.scalar.fallback import Tiered
from tests.law.alike import differences


@pytest.fixture
def refused(monkeypatch):
    """Calls of kernels that were left to others."""
    found = []
    run = call.Code.run

    def told(self, *args, **keywords):
        try:
            return run(self, *args, **keywords)
        except (call.NotAtOnceError, call.InaccurateError):
            found.append(self)
            raise

    monkeypatch.setattr(call.Code, "run", told)
    return found


def angle_between(p, q):
    """p, q have shape (n,)."""
    p = p / np.linalg.norm(p)
    q = q / np.linalg.norm(q)
    angle = np.arccos(np.clip(np.dot(p, q), -1.0, 1.0))
    return (np.sin(0.7 * angle) * p + np.sin(0.3 * angle) * q) / np.sin(angle)


def defects(x):
    """x has shape (n,)."""
    total = np.sum(x) - 1.0
    gap = np.where(total > 2.0, np.log(total - 2.0), np.sqrt(3.0 - total))
    return gap * np.where(total < -1.0, np.arcsin(total + 2.0) / (total + 2.0), np.exp(total))


P, Q = np.random.default_rng(0).normal(size=(2, 4))


@pytest.mark.slow
def test_a_clamp_within_its_bounds_is_computed_at_once(refused):
    f = symgrad(angle_between, verify=False).jacobian
    for _ in range(3):
        by_p, by_q = f(P, Q)
    assert not refused
    for k, found in enumerate((by_p, by_q)):
        slopes = differences(angle_between, (P, Q), k)
        np.testing.assert_allclose(found, slopes, rtol=0, atol=1e-8)


@pytest.mark.slow
def test_nan_beyond_a_clamp_is_nan():
    f = symgrad(angle_between, verify=False).jacobian
    assert np.isnan(f(np.array([np.nan, 1.0, 0.5]), np.array([0.2, 0.5, 1.0]))[0]).all()


@pytest.mark.slow
def test_functions_out_of_their_domain_in_other_branches(refused):
    f, x = symgrad(defects, verify=False), np.array([0.3, 0.7000001, 1e-9])
    for _ in range(3):
        value, slope = f(x), f.grad(x)
    assert not refused
    with mpmath.workprec(200):
        total = mpmath.fsum(map(mpmath.mpf, x.tolist())) - 1
        root, grown = mpmath.sqrt(3 - total), mpmath.exp(total)
        assert abs(value - root * grown) <= 2e-16 * abs(value)
        expected = grown * (root - 1 / (2 * root))
        assert all(abs(s - expected) <= 4e-16 * abs(expected) for s in slope.tolist())


def choice(x, y):
    """x has shape (n,)."""
    return np.where(np.log(np.sum(x) - 1.0) < y, np.sum(x * x) - 0.5, y)


def test_decisions_by_what_is_not_known_are_not_taken_for_known():
    x = np.array([0.25, 0.25])  # the logarithm is nan: plain Python takes the other side
    with np.errstate(all="ignore"):
        assert symgrad(choice, verify=False)(x, 3.0) == choice(x, 3.0)


SPHERES = ((0.0, 0.0, 5.0, 1.0), (1.0, 0.5, 7.0, 1.5), (-2.0, 0.0, 6.0, 1.0))
"""Centres and radii."""


def nearest(px, py):
    """The distance to the first sphere that a ray from the origin hits; 9 where it hits none."""
    size = math.sqrt(px * px + py * py + 1)
    found = None
    for x, y, z, radius in SPHERES:
        b = -(x * px + y * py + z) / size
        rest = b * b - (x * x + y * y + z * z - radius * radius)
        if rest < 0:
            continue
        t = -b - math.sqrt(rest)
        if t > 1e-4 and (found is None or t < found):
            found = t
    return 9.0 if found is None else found


def brightness(d):
    """Of the first sphere that a ray along d hits, of shape (3,)."""
    u = d / np.linalg.norm(d)
    for x, y, z, radius in SPHERES:
        centre = np.array([x, y, z])
        b = -np.dot(centre, u)
        rest = b * b - (np.dot(centre, centre) - radius * radius)
        if rest >= 0:
            normal = ((-b - np.sqrt(rest)) * u - centre) / radius
            return np.dot(normal, np.array([0.6, 0.0, -0.8]))
    return 0.0


RAYS = ((0.05, 0.02), (0.14, 0.07), (-0.33, 0.02), (0.9, 0.9))
"""One for each sphere, and one that hits none."""


@pytest.fixture
def in_python(monkeypatch):
    """The points that went through Python, for ball arithmetic."""
    found = []
    at = Tiered._asked
    monkeypatch.setattr(Tiered, "_asked", lambda *args: found.append(args[1]) or at(*args))
    return found


@pytest.mark.sampled(2)
@pytest.mark.parametrize("accuracy", ["high", "fast"])
def test_rays_that_miss_are_decided_without_python(in_python, accuracy):
    f = symgrad(nearest, accuracy=accuracy)
    for ray in RAYS:
        assert f(*ray) == pytest.approx(nearest(*ray), rel=1e-14)
        slopes = [differences(nearest, ray, k, 1e-5) for k in range(2)]
        np.testing.assert_allclose(f.grad(*ray), slopes, rtol=0, atol=1e-7)
    assert not in_python


@pytest.mark.sampled(2)
@pytest.mark.parametrize("accuracy", ["high", "fast"])
def test_slopes_of_sums_in_early_returns(accuracy):
    f = symgrad(brightness, accuracy=accuracy)
    for ray in RAYS:
        d = np.array([*ray, 1.0])
        slopes = differences(brightness, (d,), step=1e-5)
        np.testing.assert_allclose(f.grad(d), slopes, rtol=0, atol=1e-7)


def test_an_undecided_comparison_counts_only_where_it_is_read():
    x, y = ir.var("x"), ir.var("y")
    far = ir.lt(x * y - x, ir.const(1e-4))  # y near 1 makes it depend on rounding
    either = ir.or_(ir.lt(y, ir.ZERO), ir.lt(ir.ZERO, x - ir.const(5)))
    flagged = flagged_where((ir.where(ir.and_(ir.not_(either), far), x, y),))

    def holds(*point):
        return bool(
            evaluate(flagged, Doubles(), {"x": np.float64(point[0]), "y": np.float64(point[1])})
        )

    assert holds(2.0, 1 + 5e-5)
    assert not holds(2.0, 3.0)
    assert not holds(8.0, 1 + 1.25e-5)  # either holds: the comparison is not read
