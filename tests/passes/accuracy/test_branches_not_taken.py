"""Branches that are not taken send no call to slower arithmetic: neither what is nan there, nor functions out of their
domain, nor the processor's flags that they raise."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from symdiff import symgrad
from symdiff.runtime.loops import call


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
    step = 1e-6
    for k in range(4):
        e = step * np.eye(4)[k]
        slope = (angle_between(P + e, Q) - angle_between(P - e, Q)) / (2 * step)
        np.testing.assert_allclose(by_p[:, k], slope, rtol=0, atol=1e-8)
        slope = (angle_between(P, Q + e) - angle_between(P, Q - e)) / (2 * step)
        np.testing.assert_allclose(by_q[:, k], slope, rtol=0, atol=1e-8)


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
