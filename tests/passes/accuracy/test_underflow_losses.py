"""What underflows in programs that are computed with their rounding errors: it counts where it shows."""

from __future__ import annotations

import warnings

import mpmath as mp
import numpy as np
import pytest

from symdiff import symgrad

RNG = np.random.default_rng(17)


def powers(x, t):
    rest = t - (t[:, None] ** np.arange(len(x))) @ x
    return np.sum(rest**2)


def log_sum(x):
    top = np.max(x)
    return top + np.log(np.sum(np.exp(x - top)))


def ratio(x, y):
    return np.sum(x * y) / np.sum(y * y)


def scaled(x, y):
    return (np.sum(x * y) - x[0] * y[0]) * 1e300 * np.sum(x + y) * 1e20


def lengths(x, y):
    return np.sum(np.sqrt(x * x + y * y)) / np.sum(y)


def decided(x, y):
    s = np.sum(x * y)
    return np.sum(x) + (1.0 if s > 0 else 2.0) * np.sum(y)


def faded(x, y):
    return np.sum(np.exp(-x * x) * np.exp(-y * y)) * np.exp(np.sum(y)) + np.sum(x * y)


@pytest.mark.slow
@pytest.mark.parametrize("derive", [False, True])
def test_powers_that_vanish_do_not_send_a_call_to_other_kernels(derive: bool) -> None:
    f = symgrad(powers, wrt="x", accuracy="strict")
    f = f.grad if derive else f
    x, t = RNG.random(120), np.linspace(-1, 1, 40)
    found = np.ravel(f(x, t))
    with mp.workprec(4000):
        rows = [[mp.mpf(float(v)) ** j for j in range(len(x))] for v in t]
        rest = [
            mp.mpf(float(v)) - mp.fsum(a * mp.mpf(float(b)) for a, b in zip(row, x, strict=True))
            for v, row in zip(t, rows, strict=True)
        ]
        truth = [mp.fsum(r * r for r in rest)]
        if derive:
            truth = [-2 * mp.fsum(r * row[j] for r, row in zip(rest, rows, strict=True))
                     for j in range(len(x))]  # fmt: skip
        for a, b in zip(found, truth, strict=True):
            assert abs(mp.mpf(float(a)) - b) <= 4 * np.spacing(abs(float(b)))


@pytest.mark.slow
def test_exponentials_that_vanish_do_not_either() -> None:
    f = symgrad(log_sum, accuracy="strict").grad
    x = RNG.normal(size=60) * 400
    found = f(x)
    with mp.workprec(3000):
        parts = [mp.exp(mp.mpf(float(v))) for v in x]
        for a, b in zip(found, parts, strict=True):
            truth = b / mp.fsum(parts)
            assert abs(mp.mpf(float(a)) - truth) <= 4 * np.spacing(abs(float(truth)))


def exact(f, x, y):
    """The function of numbers of many digits."""
    s = mp.fsum(a * b for a, b in zip(x, y, strict=True))
    if f is ratio:
        return s / mp.fsum(b * b for b in y)
    if f is scaled:
        rest = mp.fsum(a * b for a, b in zip(x[1:], y[1:], strict=True))
        factors = mp.mpf(1e300) * mp.fsum(x + y) * mp.mpf(1e20)
        return rest * factors
    if f is lengths:
        return mp.fsum(mp.sqrt(a * a + b * b) for a, b in zip(x, y, strict=True)) / mp.fsum(y)
    if f is decided:  # in doubles
        s = sum(float(a) * float(b) for a, b in zip(x, y, strict=True))
        return mp.fsum(x) + (1 if s > 0 else 2) * mp.fsum(y)
    e = mp.fsum(mp.exp(-a * a) * mp.exp(-b * b) for a, b in zip(x, y, strict=True))
    return e * mp.exp(mp.fsum(y)) + s


@pytest.mark.sampled
@pytest.mark.parametrize("size", [5, 700])
@pytest.mark.parametrize("f", [ratio, scaled, lengths, decided, faded], ids=lambda f: f.__name__)
def test_what_underflow_costs_is_made_good_or_told(f, size: int) -> None:
    """Wherever products vanish, results are right or there is a warning."""
    levels = [(symgrad(f, accuracy="strict"), 16), (symgrad(f), 2**12)]
    for scale in (1e-150, 1e-155, 1e-158, 1e-160, 1e-162, 1e-165, 25.0):
        if (f is faded) != (scale > 1):
            continue
        x, y = RNG.normal(size=(2, size)) * scale
        y = np.abs(y) if f in (lengths, faded) else y
        y = y / 40 / size if f is faded else y
        with mp.workprec(9000):
            truth = exact(f, [mp.mpf(float(v)) for v in x], [mp.mpf(float(v)) for v in y])
        for g, most in levels:
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                found = g(x, y)
            with mp.workprec(9000):
                off = abs(mp.mpf(float(found)) - truth)
            # of a number below the smallest normal one some thousand of the smallest may be lost
            assert told or off <= most * np.spacing(abs(float(truth))) + 2.0**-1058


def test_what_vanishes_leaves_a_trace_however_small_the_factors_are() -> None:
    """Of a sum that vanishes, all it lost is a part of the smallest number: divided, that vanishes too."""

    def spread(x):
        s = 0.0
        for v in x:
            s = s + 3 * (v - x[0] / 3) ** 2 / 64
        return np.sqrt(s)

    f = symgrad(spread)
    x = np.array([3.0, -4.0, 12.0, 84.0, 1.0, 2.0])
    usual, *small = (f.grad(x * 2.0**power) for power in (0, -600, -700))
    d = x - 1
    slopes = 3 * np.where(np.arange(6) > 0, d, d - np.sum(d) / 3) / 64 / spread(x)
    for found in (usual, *small):
        np.testing.assert_allclose(found, slopes, rtol=1e-14)


@pytest.mark.sampled
@pytest.mark.parametrize("size", [5, 700])
def test_calls_that_begin_with_errors_know_what_underflow_cost(size: int) -> None:
    """After several calls that lost digits as well; by factors beyond 64 bits."""
    g = symgrad(scaled)
    for seed in range(6):
        x, y = np.random.default_rng(seed).normal(size=(2, size)) * 1e-165
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = g(x, y)
        with mp.workprec(9000):
            truth = exact(scaled, [mp.mpf(float(v)) for v in x], [mp.mpf(float(v)) for v in y])
            off = abs(mp.mpf(float(found)) - truth)
        assert told or off <= 16 * np.spacing(abs(float(truth))) + 2.0**-1058
