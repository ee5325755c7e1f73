"""Sums over rows are exact to the last digits with "strict", and where they cancel."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from symdiff import symgrad

RNG = np.random.default_rng(23)


def squared_rows(a, x):
    return np.sum((a @ x) ** 2)


def two_sums(a, x):
    total = 0.0
    for row in a:
        total += (1.0 - np.sum(row * x)) * np.sum(row)
    return total


def slope(a, x):
    """Of the sum of the squares, by x, exactly."""
    rows = [[Fraction(float(v)) for v in row] for row in a]
    given = [Fraction(float(v)) for v in x]
    sums = [sum(v * w for v, w in zip(row, given, strict=True)) for row in rows]
    return [2 * sum(s * row[j] for s, row in zip(sums, rows, strict=True)) for j in range(len(x))]


@pytest.mark.sampled
@pytest.mark.parametrize("size", [0, 1, 7, 63, 64, 65, 71, 72, 130])
def test_results_are_exact_sums_rounded(size: int) -> None:
    f = symgrad(squared_rows, wrt="x", accuracy="strict").grad
    a, x = RNG.normal(size=(5, size)), RNG.normal(size=size)
    for value, truth in zip(f(a, x), slope(a, x), strict=True):
        assert abs(Fraction(float(value)) - truth) <= 2 * np.spacing(abs(float(truth)))


@pytest.mark.sampled
@pytest.mark.parametrize("size", [63, 64, 130])
def test_what_cancels_is_found(size: int) -> None:
    """The sums of rows cancel to the last digits."""
    f = symgrad(squared_rows, wrt="x").grad
    a = RNG.normal(size=(4, size))
    x = np.ones(size)
    a[:, -1] = 0.0
    a[:, -1] = -np.sum(a, axis=1)
    for value, truth in zip(f(a, x), slope(a, x), strict=True):
        assert abs(Fraction(float(value)) - truth) <= 2 * np.spacing(abs(float(truth)))


@pytest.mark.sampled
@pytest.mark.parametrize("size", [5, 100])
def test_several_sums_of_one_loop(size: int) -> None:
    f = symgrad(two_sums, accuracy="strict")
    a, x = RNG.normal(size=(3, size)), RNG.normal(size=size)
    truth = Fraction(0)
    for row in a:
        given = [(Fraction(float(v)), Fraction(float(w))) for v, w in zip(row, x, strict=True)]
        truth += (1 - sum(v * w for v, w in given)) * sum(v for v, _ in given)
    assert abs(Fraction(f(a, x)) - truth) <= np.spacing(abs(float(truth)))
