"""Sums of many terms: rounded block by block, and otherwise what they were."""

from __future__ import annotations

import math

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.ir.loop_program import Loop, walk
from symdiff.lowering.loops.collected import SUMMED, long_sums

N = 2 * SUMMED**2 + 3 * SUMMED + 7
RNG = np.random.default_rng(3)


def in_vectors(x):
    return np.sum(x)


def in_a_loop(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i]
    return s


def beside_a_recurrence(x):
    e = s = 0.0
    for i in range(x.shape[0]):
        e = 0.5 * e + 0.5
        s += e - e + x[i]
    return s


def backwards(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[x.shape[0] - 1 - i]
    return s


def under_a_condition(x):
    s = t = 0.0
    for i in range(x.shape[0]):
        if x[i] > 0.5:
            s += x[i]
        else:
            t = t - x[i]
    return s - t


def ulps(found: float, terms: np.ndarray) -> float:
    truth = math.fsum(terms)
    return abs(float(found) - truth) / math.ulp(truth)


@pytest.mark.sampled
@pytest.mark.parametrize("accuracy", ["fast", "high"])
@pytest.mark.parametrize(
    "f", [in_vectors, in_a_loop, beside_a_recurrence, backwards, under_a_condition]
)
def test_roundings_do_not_grow_with_the_terms(f, accuracy):
    x = RNG.random(N)
    assert ulps(symgrad(f, accuracy=accuracy)(x), x) <= 8


def test_sums_of_columns_and_of_rows():
    a = RNG.random((N // 4, 3))
    for f, b in ((lambda a: np.sum(a, axis=0), a), (lambda a: np.sum(a, axis=1), a.T.copy())):
        found = symgrad(f, accuracy="fast")(b)
        assert max(map(ulps, found, a.T)) <= 8
    wide = RNG.random((N // 16, 16))
    assert max(map(ulps, symgrad(lambda a: np.sum(a, axis=0), accuracy="fast")(wide), wide.T)) <= 8


def test_gradients_with_respect_to_what_all_terms_share():
    def loss(w, a):
        s = 0.0
        for i in range(a.shape[0]):
            s += (a[i, 0] * w[0] + a[i, 1] * w[1]) ** 2
        return s

    a, w = RNG.random((N // 4, 2)), np.array([0.25, 0.5])
    found = symgrad(loss, wrt="w", accuracy="fast").grad(w, a)
    terms = 2 * (a @ w)[:, None] * a
    assert max(map(ulps, found, terms.T)) <= 8


@pytest.mark.sampled
@pytest.mark.parametrize("f", [in_vectors, in_a_loop, backwards])
@pytest.mark.parametrize("n", [0, 1, SUMMED - 1, SUMMED, SUMMED + 1, 40 * SUMMED + 5])
def test_sums_of_small_integers_are_exact(f, n):
    x = RNG.integers(-9, 9, n).astype(float)
    assert symgrad(f)(x) == math.fsum(x)


@pytest.mark.sampled
@pytest.mark.parametrize("f", [in_vectors, in_a_loop])
@pytest.mark.parametrize("at", [0, SUMMED - 1, SUMMED, 5 * SUMMED + 2])
def test_infinities_and_nan_are_kept(f, at):
    x = np.ones(6 * SUMMED)
    x[at] = np.inf
    assert symgrad(f, accuracy="fast")(x) == np.inf
    x[at] = np.nan
    assert np.isnan(symgrad(f, accuracy="fast")(x))


def test_what_is_looked_at_in_the_loop_is_made_term_by_term():
    def running(x):
        t = np.zeros(x.shape[0])
        s = 0.0
        for i in range(x.shape[0]):
            s += x[i]
            t[i] = s * s
        return t

    x = RNG.random(3 * SUMMED)
    assert np.array_equal(symgrad(running, accuracy="fast")(x), np.cumsum(x) ** 2)


def test_which_sums_are_long():
    def several(x):
        s = p = 0.0
        q = 1.0
        for i in range(x.shape[0]):
            s += x[i]
            p += x[i] * q
            q = q * 0.5 + p
        return s + p + q

    f = symgrad(several)
    f(np.ones(3))
    program = f._loop_program()
    (loop,) = [s for s in walk(program.block) if isinstance(s, Loop)]
    assert len(loop.carried) == 3
    assert len(long_sums(loop, True)) == 1
