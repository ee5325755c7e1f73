"""Calls after several that were computed again with their rounding errors begin with those; and estimates of
arrays that loops add to as a whole."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath.libmp import to_rational

from symdiff import symgrad
from symdiff.runtime.loops import kernel as kernels

# ------------------------------------------------------------------------------- habits
TURN = np.array([[0.8, -0.6], [0.6, 0.8]])


def turning(x, y, c, turn=TURN):
    """Many rotations of a vector: the bounds of such recurrences grow without limit, their errors do not.
    x has shape (n,), turn (2, 2)."""
    state = np.array([1.0 + y, y])
    for v in x:
        state = turn @ state
        state[1] += 0.01 * v
    return state[0] * state[0] + state[1] * state[1] - c


def exact_turning(x, y, c):
    with mpmath.workprec(300):
        a, b = 1 + mpmath.mpf(y), mpmath.mpf(y)
        six, eight, part = mpmath.mpf(0.6), mpmath.mpf(0.8), mpmath.mpf(0.01)
        for v in x.tolist():
            a, b = eight * a - six * b, six * a + eight * b + part * v
        return a * a + b * b - mpmath.mpf(c)


X = np.random.default_rng(2).normal(size=2000)


def near(y, digits=4):
    """A number near the result, so that what is left has lost digits."""
    return round(float(exact_turning(X, y, 0.0)), digits)


def off(value, truth):
    with mpmath.workprec(300):
        return float(abs((value - truth) / truth)) * 2.0**52


@pytest.mark.slow
@pytest.mark.filterwarnings("error::symdiff.AccuracyWarning")
def test_a_habit_is_taken_and_left(again):
    f = symgrad(turning, verify=False)
    for k in range(10):
        c = near(k / 7)
        assert off(f(X, k / 7, c), exact_turning(X, k / 7, c)) <= 16
    assert 1 <= len(again) <= kernels.LOSSES + 1
    for k in range(5):  # half of the digits cancel
        c = near(k / 9, 9)
        assert off(f(X, k / 9, c), exact_turning(X, k / 9, c)) <= 16


@pytest.mark.slow
def test_some_calls_see_whether_it_is_still_so(again, monkeypatch):
    monkeypatch.setattr(kernels, "TURNS", 4)
    f = symgrad(turning, verify=False)
    c = near(0.3)
    for _ in range(kernels.LOSSES + 8):
        f(X, 0.3, c)
    assert len(again) == kernels.LOSSES + 2


def test_calls_that_lose_nothing_have_no_habit(again):
    f = symgrad(lambda x: np.sum(x * x), verify=False)
    for _ in range(10):
        f(X)
    assert not again


@pytest.mark.slow
def test_checks_and_errors_are_those_of_other_calls():
    f = symgrad(lambda x, y, k: turning(x, y, 0.5) + x[k], verify=False)

    for _ in range(6):
        f(X, 0.3, 3)
    with pytest.raises(IndexError):
        f(X, 0.3, len(X))
    assert off(f(X, 0.3, -1), exact_turning(X, 0.3, 0.5) + mpmath.mpf(float(X[-1]))) <= 2**12


def tiny(x, y, z):
    """The same, times a length that overflows or vanishes if it is squared as it stands."""
    return turning(x, y, 0.5) * np.sqrt(np.sum(z * z))


@pytest.mark.slow
def test_underflow_on_the_way_is_noticed():
    f = symgrad(tiny, verify=False)
    z = np.array([3.0, 4.0])
    truth = exact_turning(X, 0.3, 0.5) * 5
    for k in range(12):
        scale = 2.0 ** (-800 if k % 3 == 2 else 800 if k % 3 == 1 else 0)
        assert off(f(X, 0.3, scale * z), truth * mpmath.mpf(scale)) <= 2**12


@pytest.mark.slow
def test_results_are_put_where_they_are_wanted():
    f = symgrad(lambda x, y, c, z: turning(x, y, c) * z, verify=False)
    first, out = f(X, 0.3, 0.5, X), np.empty(len(X))
    for _ in range(6):
        assert f(X, 0.3, 0.5, X, out=out) is out
        np.testing.assert_allclose(out, first, rtol=0, atol=16 * np.spacing(np.abs(first).max()))


# ------------------------------------------------------------- arrays, added to as a whole
def added(x, w):
    """x has shape (n,), w (m,)."""
    total = np.zeros(w.shape[0])
    for v in x:
        total = total + v * w - v * v
    return total


def around(x, w):
    """All terms have the error of the mean in common."""
    mean = np.sum(x) / x.shape[0]
    total = np.zeros(w.shape[0])
    for v in x:
        total = total + (v - mean) * w + mean * mean
    return total


def exact_added(x, w):
    x, w = (list(map(Fraction, a.tolist())) for a in (x, w))
    return [sum(v * u - v * v for v in x) for u in w]


def exact_around(x, w):
    x, w = (list(map(Fraction, a.tolist())) for a in (x, w))
    mean = sum(x) / len(x)
    return [sum((v - mean) * u + mean * mean for v in x) for u in w]


def pushed(x, w):
    """What is added has the errors of all iterations before."""
    total, speed = np.zeros(w.shape[0]), w * 1.0
    for v in x:
        total = total + 0.01 * speed
        speed = speed - 0.01 * total + v / 64
    return total


def exact_pushed(x, w):
    with mpmath.workprec(300):
        part, found = mpmath.mpf(0.01), []
        for u in w.tolist():
            total, speed = mpmath.mpf(0), mpmath.mpf(u)
            for v in x.tolist():
                total = total + part * speed
                speed = speed - part * total + mpmath.mpf(v) / 64
            found.append(Fraction(*map(int, to_rational(total._mpf_))))
        return found


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("f", "exact"), [(added, exact_added), (around, exact_around), (pushed, exact_pushed)]
)
@pytest.mark.parametrize("n", [10, 1000])
@pytest.mark.parametrize("scale", [1e-5, 1.0])
def test_bounds_of_arrays_that_loops_add_to(f, exact, n, scale):
    rng = np.random.default_rng(n)
    x, w = rng.normal(size=n) + 1, scale * rng.normal(size=5)
    fast = symgrad(f, accuracy="fast", verify=False)
    truth = exact(x, w)
    errors = [abs(Fraction(a) - b) for a, b in zip(fast(x, w).tolist(), truth, strict=True)]
    assert max(errors) <= fast.error_bound(x, w)
    high = symgrad(f, verify=False)(x, w).tolist()
    largest = max(map(abs, truth))
    assert all(abs(Fraction(a) - b) <= 2.0**-40 * largest for a, b in zip(high, truth, strict=True))
