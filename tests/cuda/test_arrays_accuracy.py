# ruff: noqa: F821
"""Functions with arrays and loops on a device where terms cancel: as accurate as on the CPU,
but for what double-double arithmetic cannot settle. Run on the CPU; see `tests.cuda.host`."""

import mpmath
import numpy as np
import pytest

from symdiff import Array, symgrad
from tests.cuda.host import HostArray


def remainders(x: Array["n"]):
    return np.exp(x) - 1 - x - x**2 / 2


def collected(x: Array["n"], c):
    total = 0.0
    for i in range(len(x)):
        total += (x[i] - np.sin(x[i])) * c**2
    return total


def swings(x: Array["n", "m"]):
    y = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        s = 0.5
        for j in range(x.shape[1]):
            s = s / 2 + (1 - np.cos(x[i, j])) / x[i, j]
        y[i] = s
    return y


X = np.array([3e-3, -2e-4, 1e-3, 0.4, -1.5, 3e-3, 20.0])


def exact(f, *args):
    with mpmath.workdps(80):
        return np.array([float(f(*map(mpmath.mpf, a))) for a in zip(*args, strict=True)])


@pytest.mark.slow
def test_elements_of_arrays(fake_device):
    truth = exact(lambda x: mpmath.exp(x) - 1 - x - x**2 / 2, X)
    got = symgrad(remainders, target="cuda")(HostArray(X)).array
    np.testing.assert_allclose(got, truth, rtol=1e-15)
    plain = symgrad(remainders, target="cuda", accuracy="fast")(HostArray(X)).array
    assert np.max(np.abs(plain / truth - 1)) > 1e-9  # otherwise nothing is flagged here
    slopes = symgrad(remainders, target="cuda").diff("x")(HostArray(X)).array
    truth = exact(lambda x: mpmath.exp(x) - 1 - x, X)
    np.testing.assert_allclose(slopes, truth, rtol=1e-15)


@pytest.mark.slow
def test_terms_of_sums(fake_device):
    truth = exact(lambda x: x - mpmath.sin(x), X) * 9.0
    f = symgrad(collected, target="cuda")
    for k in (1, 2, 3, 6):
        found = f(HostArray(X[k : k + 1]), 3.0).array
        np.testing.assert_allclose(found, truth[k], rtol=4e-16)
    slopes, _ = f.grad(HostArray(X), 3.0)
    np.testing.assert_allclose(
        slopes.array, exact(lambda x: 9 * (1 - mpmath.cos(x)), X), rtol=1e-15
    )


@pytest.mark.slow
def test_recurrences_along_rows(fake_device):
    x = np.outer([1.0, 1e-3, 1e-7], [0.3, 0.2, 0.1])
    truth = []
    with mpmath.workdps(80):
        for row in x:
            s = mpmath.mpf("0.5")
            for v in map(mpmath.mpf, row):
                s = s / 2 + (1 - mpmath.cos(v)) / v
            truth.append(float(s))
    got = symgrad(swings, target="cuda")(HostArray(x)).array
    np.testing.assert_allclose(got, truth, rtol=1e-15)
    rowwise = symgrad(remainders, target="cuda").map(HostArray(X.reshape(1, -1))).array[0]
    np.testing.assert_array_equal(rowwise, symgrad(remainders, target="cuda")(X))


@pytest.mark.slow
def test_what_is_infinite_stays_so(fake_device):
    """exp(x - y) overflows, which double-double arithmetic cannot tell from a failure."""

    def logistic(x: Array["n"], y: Array["n"]):
        return 1 / (1 + np.exp(x - y))

    x, y = np.array([1000.0, 0.3, -1000.0]), np.array([-500.0, 0.1, 500.0])
    found = symgrad(logistic, target="cuda")(HostArray(x), HostArray(y)).array
    truth = exact(lambda a, b: 1 / (1 + mpmath.exp(a - b)), x, y)
    np.testing.assert_allclose(found, truth, rtol=4e-16)


def test_what_is_tested_and_what_is_not():
    f = symgrad(remainders)
    assert "symdiff_tested_0" not in f.source("cuda")
    pytest.importorskip("cuda.core", reason="NVRTC is not installed")
    assert ".f64" not in f.ptx((9, 0), "float32")
    assert "symdiff_again_0" in f.ptx((9, 0))
