"""Singularities behind arrays of intermediate results, and behind products."""

import mpmath
import numpy as np
import pytest

from symdiff import symgrad

POINTS = np.array([[0.0, 0.0, 1.0], [1.0, 2.0, 3.0], [1e-9, -2e-9, 1.0], [3e-5, 1e-5, 0.5]])
K = np.array([0.1, 0.01])


def fisheye(p, k):
    """Kannala and Brandt's camera: theta(r)/r in steps, each an array."""
    x, y = p[:, 0] / p[:, 2], p[:, 1] / p[:, 2]
    r = np.sqrt(x * x + y * y)
    theta = np.arctan(r)
    s = theta * (1 + k[0] * theta**2 + k[1] * theta**4) / r
    return np.sum(s * x) + np.sum((s * y) ** 2)


def exact(p, k):
    total = mpmath.mpf(0)
    for px, py, pz in p:
        x, y = px / pz, py / pz
        r = mpmath.sqrt(x * x + y * y)
        theta = mpmath.atan(r)
        s = theta * (1 + k[0] * theta**2 + k[1] * theta**4) / r if r else mpmath.mpf(1)
        total += s * x + (s * y) ** 2
    return total


@pytest.mark.slow
def test_a_camera_at_its_principal_point():
    f = symgrad(fisheye)
    by_p, by_k = f.grad(POINTS, K)
    with mpmath.workdps(60):
        p = [[mpmath.mpf(v) for v in row] for row in POINTS]
        k = [mpmath.mpf(v) for v in K]
        assert f(POINTS, K) == pytest.approx(float(exact(p, k)), rel=1e-15)
        h = mpmath.mpf(10) ** -25
        for i in range(4):
            for j in range(3):
                up, down = [list(r) for r in p], [list(r) for r in p]
                up[i][j] += h
                down[i][j] -= h
                slope = (exact(up, k) - exact(down, k)) / (2 * h)
                assert abs(by_p[i, j] - slope) <= 8 * np.spacing(abs(float(slope))) + 1e-24
        for j in range(2):
            up, down = list(k), list(k)
            up[j] += h
            down[j] -= h
            slope = (exact(p, up) - exact(p, down)) / (2 * h)
            assert by_k[j] == pytest.approx(float(slope), rel=1e-14)


@pytest.mark.slow
def test_factors_of_one_quantity_come_together():
    def bent(a, b, k):
        r = np.sqrt(a * a + b * b)
        theta = np.arctan(r)
        return (1 + k * theta**2) * theta / r

    f = symgrad(bent)
    assert any(g.kind == "filled" and "atan" in g.text for g in f.report().findings)
    at = np.array([0.0, 3e-9]), np.array([0.0, 4e-9]), np.array([0.5, 0.5])
    np.testing.assert_array_equal(f(*at), [1.0, 1.0])
    r = 5e-9  # (1 + k r^2)(1 - r^2/3), to r^2
    np.testing.assert_allclose(f.grad(*at)[2], [0.0, r * r], rtol=1e-14)
    np.testing.assert_allclose(f.grad(*at)[0], [0.0, 2 * 3e-9 * (0.5 - 1 / 3)], rtol=1e-14)


def test_arrays_in_which_nothing_hides_are_kept():
    def f(x):
        r = np.sqrt(1 + x**2)
        return np.sum(np.sin(r) / r + r)

    x = np.array([0.0, 0.5])
    r = np.sqrt(1 + x**2)
    slope = ((np.cos(r) / r - np.sin(r) / r**2) + 1) * x / r
    np.testing.assert_allclose(symgrad(f).grad(x), slope, rtol=1e-14)


@pytest.mark.sampled
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("near", [lambda d: np.abs(d) < 1e-9, lambda d: d == 0])
def test_guards_of_quotients_by_arrays_that_are_quotients(near):
    """v/(2/tan(d)) was singular at 0, as it was written, though v*tan(d)/2 is not."""

    def paths(v, d):
        radius = 2.0 / np.tan(d)
        return np.sum(np.where(near(d), 0.0, v / radius))

    found = symgrad(paths).grad(np.array([1.0, 3.0]), np.array([0.0, 0.5]))
    np.testing.assert_allclose(found[0], [0.0, np.tan(0.5) / 2], rtol=1e-15)
    np.testing.assert_allclose(found[1], [0.5, 1.5 / np.cos(0.5) ** 2], rtol=1e-15)
