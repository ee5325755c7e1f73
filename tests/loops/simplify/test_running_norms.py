"""Roots of sums of squares in programs with arrays: norms, and what is made of them."""

import math

import numpy as np
import pytest

from symdiff import symgrad
from tests.law.alike import differences

ZERO = np.zeros(3)


def by_hand(w):
    total = 0.0
    for v in w:
        total += v * v
    return np.sqrt(total)


def in_some(w):
    total = 0.0
    for i in range(w.shape[0]):
        if i != 1:
            total = total + 3 * w[i] ** 2
    return total**0.5


NORMS = {
    "norm": lambda w: np.linalg.norm(w),
    "dot": lambda w: np.sqrt(w @ w),
    "sum": lambda w: np.sqrt(np.sum(w**2)),
    "product": lambda w: math.sqrt((w * w).sum()),
    "mean": lambda w: np.sqrt(np.mean(w**2)),
    "power": lambda w: np.sum(w**2) ** 0.5,
    "loop": by_hand,
    "branches": in_some,
    "rows": lambda w: np.sum(np.linalg.norm(np.stack([w, 2 * w]), axis=1)),
    "distances": lambda w: np.sum(np.sqrt(np.sum((np.stack([w, w]) - np.stack([0 * w, w])) ** 2, axis=1))),
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("name", NORMS)
def test_the_derivative_at_zero_is_zero(name):
    f = symgrad(NORMS[name])
    assert f(ZERO) == 0.0
    np.testing.assert_array_equal(f.grad(ZERO), ZERO)


@pytest.mark.sampled
@pytest.mark.parametrize("name", NORMS)
def test_elsewhere_it_is_that_of_the_root(name):
    f, w = NORMS[name], np.array([0.3, -0.7, 1.1])
    np.testing.assert_allclose(symgrad(f).grad(w), differences(f, (w,)), rtol=1e-8)


@pytest.mark.slow
def test_roots_of_other_sums_keep_their_poles():
    sizes = symgrad(lambda w: np.sqrt(np.sum(np.abs(w))))
    assert not np.all(np.isfinite(sizes.grad(ZERO)))
    differences = symgrad(lambda w: np.sqrt(np.sum(w)))
    assert np.all(np.isinf(differences.grad(ZERO)))


@pytest.mark.slow
def test_distances_of_points_that_meet():
    """The gradient that is nan elsewhere: each point is at distance 0 of itself."""

    @symgrad
    def energy(x):
        apart = x[:, None, :] - x[None, :, :]
        return np.sum(np.exp(-np.sqrt(np.sum(apart**2, axis=-1))))

    x = np.array([[0.0, 0.0], [3.0, 4.0]])
    slope = 2 * math.exp(-5.0) * np.array([0.6, 0.8])
    np.testing.assert_allclose(energy.grad(x), [slope, -slope], rtol=1e-14)


def rotation(w):
    """Rodrigues' formula."""
    theta = np.linalg.norm(w)
    k = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
    return np.eye(3) + np.sin(theta) / theta * k + (1 - np.cos(theta)) / theta**2 * (k @ k)


def vector(r):
    """The rotation vector of a matrix."""
    theta = np.arccos(np.clip((np.trace(r) - 1) / 2, -1, 1))
    axis = np.array([r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]])
    return theta / (2 * np.sin(theta)) * axis


def generator(k):
    """d rotation(w)/d w[k] at 0."""
    e = np.eye(3)[k]
    return np.array([[0, -e[2], e[1]], [e[2], 0, -e[0]], [-e[1], e[0], 0]])


@pytest.mark.slow
@pytest.mark.parametrize("size", [0.0, 1e-12, 1e-8, 1e-4])
def test_rotations_near_the_identity(size):
    w = size * np.array([1.0, -2.0, 3.0])
    f = symgrad(rotation)
    k = sum(w[i] * generator(i) for i in range(3))
    terms, series = np.eye(3), np.eye(3)
    slopes = np.stack([generator(i) for i in range(3)], axis=-1)
    for n in range(1, 8):
        terms = terms @ k / n
        series = series + terms
    np.testing.assert_allclose(f(w), series, rtol=1e-15, atol=1e-30)
    products = [generator(i) @ k + k @ generator(i) for i in range(3)]
    slopes = slopes + np.stack(products, axis=-1) / 2
    np.testing.assert_allclose(f.jacobian(w), slopes, atol=40 * size**2)


@pytest.mark.slow
def test_the_logarithm_undoes_the_rotation():
    there_and_back = symgrad(lambda w: vector(rotation(w)))
    np.testing.assert_array_equal(there_and_back(ZERO), ZERO)
    np.testing.assert_allclose(there_and_back.jacobian(ZERO), np.eye(3), atol=1e-15)
    w = np.array([0.1, 0.2, 0.3])
    np.testing.assert_allclose(there_and_back(w), w, rtol=1e-15)
    np.testing.assert_allclose(there_and_back.jacobian(w), np.eye(3), atol=1e-14)


@pytest.mark.slow
def test_the_second_derivative_of_a_smooth_function_of_a_norm():
    f = symgrad(lambda w: np.sin(np.linalg.norm(w)) / np.linalg.norm(w))
    assert f(ZERO) == 1.0
    np.testing.assert_allclose(f.hessian(ZERO), -np.eye(3) / 3, rtol=1e-15)


def looped(d, w):
    s = 0.0
    for i in range(d.shape[0]):
        s += d[i] * math.exp(w[i]) * d[i]
    return math.sqrt(s)


WEIGHTED = {
    "exponentials": lambda d, w: np.sqrt(np.sum(np.exp(w) * d * d)),
    "below": lambda d, w: np.sqrt(np.sum(d**2 / np.exp(2 * w))),
    "between": lambda d, w: np.sqrt(np.sum(d * np.exp(w) * d)),
    "a sum": lambda d, w: np.sqrt(np.sum(d * d / (1 + np.exp(w)))),
    "lengths": lambda d, w: np.sqrt(np.sum(d * d / w**2)),
    "a loop": looped,
}


@pytest.mark.sampled
@pytest.mark.parametrize("f", WEIGHTED.values(), ids=WEIGHTED)
def test_positive_weights_make_norms(f):
    d, w = np.array([0.5, -0.25]), np.array([0.3, 1.1])
    g = symgrad(f)
    by_d, by_w = g.grad(0 * d, w)
    assert by_d.tolist() == by_w.tolist() == [0.0, 0.0]
    for k, slopes in enumerate(g.grad(d, w)):
        np.testing.assert_allclose(slopes, differences(f, (d, w), k), rtol=1e-8)


@pytest.mark.slow
def test_weights_that_underflow_are_none_that_vanish():
    f = symgrad(lambda d, w: np.sqrt(np.sum(np.exp(w) * d * d)))
    by_d, by_w = f.grad(np.ones(2), np.array([-800.0, -900.0]))
    assert by_d[0] == pytest.approx(math.exp(-400), rel=1e-14)
    assert by_w[0] == pytest.approx(math.exp(-400) / 2, rel=1e-14)


@pytest.mark.slow
def test_weights_that_may_vanish_or_be_negative_are_left():
    """The slope by a weight is infinite where it alone is 0, and a form of both signs has no norm."""
    sizes = symgrad(lambda d, w: np.sqrt(np.sum(np.abs(w) * d * d)))
    plain = symgrad(lambda d, w: np.sqrt(np.sum(w * d * d)))
    assert plain.grad(np.ones(1), np.zeros(1))[1].tolist() == [math.inf]
    assert sizes.grad(np.zeros(2), np.array([1.0, -2.0]))[0].tolist() == [0.0, 0.0]
    slope, none = plain.grad(np.zeros(2), np.array([1.0, -2.0]))[0]
    assert slope == 0.0 and math.isnan(none)  # the root of -2*d**2 beside
