"""Estimates of products of matrices, and of squares of what is 0: no call of many numbers is computed again that lost nothing, and those are whose
results cancel, in blocks of other sizes as well."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from symdiff import symgrad


def loss(weights, x, y):
    """weights has shape (2, n, n), x and y (m, n)."""
    h = np.tanh(x @ weights[0])
    return np.mean((np.tanh(h @ weights[1]) - y) ** 2)


@pytest.mark.slow
@pytest.mark.ci
def test_a_network_is_not_computed_again(again):
    rng = np.random.default_rng(3)
    weights, x, y = 0.2 * rng.normal(size=(2, 24, 24)), *rng.normal(size=(2, 64, 24))
    slope = symgrad(loss, wrt="weights", verify=False).grad(weights, x, y)
    assert not again
    w, x, y = weights.astype(np.longdouble), x.astype(np.longdouble), y.astype(np.longdouble)
    h = np.tanh(x @ w[0])
    out = np.tanh(h @ w[1])
    back = 2 * (out - y) * (1 - out * out) / y.size
    exact = np.stack([x.T @ (back @ w[1].T * (1 - h * h)), h.T @ back])
    assert np.abs(slope - exact).max() <= 4 * np.finfo(float).eps * np.abs(exact).max()


def _sum(a, b, start):
    """The sum of the elements of a product, exactly."""
    left = [sum(map(Fraction, a[start:, k].tolist())) for k in range(len(b))]
    right = [sum(map(Fraction, b[k, start:].tolist())) for k in range(len(b))]
    return sum(x * y for x, y in zip(left, right, strict=True))


@pytest.mark.slow
@pytest.mark.ci
@pytest.mark.parametrize("scale", [1.0, 1e6])
@pytest.mark.parametrize(("f", "start"), [
    (lambda a, b, c: np.sum(a @ b) - c, 0), (lambda a, b, c: np.sum((a @ b)[20:, 20:]) - c, 20),
])  # fmt: skip
def test_what_cancels_is_computed_again(again, f, start, scale):
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(2, 40, 40))
    for x in (a, b):  # two blocks
        x[:20, 20:] = x[20:, :20] = 0.0
        x[:20, :20] *= scale
    exact = _sum(a, b, start)
    c = float(exact) * (1 + 1e-11)
    value = symgrad(f, verify=False)(a, b, c)
    assert again
    truth = exact - Fraction(c)
    assert abs(Fraction(value) - truth) <= 16 * 2.0**-52 * abs(truth)


def test_squares_of_what_is_exactly_0_are_not_computed_again(again):
    hinge = lambda w, x, y: np.mean(np.maximum(x[:, 0] * w[0] + x[:, 1] * w[1] - y, 0.0) ** 2)
    x = np.random.default_rng(5).normal(size=(2000, 2))
    symgrad(hinge, verify=False)(np.array([0.5, -0.25]), x, 0.1)
    assert not again


def test_squares_of_what_cancels_to_0_are_computed_again(again):
    x = np.full(600, 1 + 2.0**-30)
    value = symgrad(lambda x, y, z: np.sum((x * y - z) ** 2), verify=False)(x, x, x * x)
    assert value == 600 * 2.0**-120 and again
