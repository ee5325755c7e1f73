"""Functions of SciPy in terms of NumPy's: values as SciPy's, slopes as differences of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.signal
import scipy.spatial.distance

from symdiff import UnsupportedError, symgrad
from tests.frontend.differences import check

X = np.array([0.1, 0.4, 0.2, 0.9, 0.3])
EVEN = np.array([0.1, 0.4, 0.2, 0.9, 0.3, 0.7])
M = np.array([[2.0, 0.3, 0.1], [0.1, 1.5, -0.4], [0.6, -0.2, 0.8]])
AT = np.array([0.0, 0.5, 1.25, 1.5, 2.5, 3.0])
CUBIC = scipy.interpolate.CubicSpline([0, 1, 2, 3.0], [1, 2, 0, 1.0])
PCHIP = scipy.interpolate.PchipInterpolator([0, 1, 2, 3.0], [1, 2, 0, 1.0])

CASES: dict[str, tuple[Any, np.ndarray]] = {
    "simpson_odd": (lambda x: scipy.integrate.simpson(x, dx=0.1), X),
    "simpson_even": (lambda x: scipy.integrate.simpson(x, dx=0.1), EVEN),
    "simpson_at": (lambda x: scipy.integrate.simpson(x**2, x=AT), EVEN),
    "simpson_rows": (lambda m: np.sum(scipy.integrate.simpson(m, axis=0) ** 2), M),
    "trapezoid": (lambda x: scipy.integrate.trapezoid(x**2, AT), EVEN),
    "cumulative": (lambda x: np.sum(scipy.integrate.cumulative_trapezoid(x, initial=0) ** 2), X),
    "cdist": (lambda m: np.sum(scipy.spatial.distance.cdist(m, m + 1.0)), M),
    "cityblock": (lambda m: np.sum(scipy.spatial.distance.cdist(m, m**2, "cityblock") ** 2), M),
    "pdist": (lambda m: np.sum(scipy.spatial.distance.pdist(m)), M),
    "convolve2d": (lambda m: np.sum(scipy.signal.convolve2d(m, m[:2, :2], mode="same") ** 2), M),
    "lfilter": (lambda x: np.sum(scipy.signal.lfilter([1.0, 0.5], [2.0, -0.2, 0.1], x) ** 2), X),
    "expm": (lambda m: np.sum(scipy.linalg.expm(m)), M),
    "expm_large": (lambda m: np.sum(scipy.linalg.expm(5.0 * m)), M),
    "cubic": (lambda x: np.sum(CUBIC(4.0 * x)) + CUBIC(x[0], 1), X),
    "pchip": (lambda x: PCHIP(x[0] + 2.0) * PCHIP(x[1]), X),
    "grid": (lambda x: np.sum(np.mgrid[0:3, 0:2][0] * x[0] + np.ogrid[0:4][3] * x[1]), X),
}


@pytest.mark.sampled(20)
@pytest.mark.parametrize("name", CASES)
def test_values_and_slopes(name: str) -> None:
    f, x = CASES[name]
    check(f, x, value=1e-12, near=1e-8)


@pytest.mark.slow
def test_exponentials_of_small_and_nilpotent_matrices() -> None:
    n = np.array([[0.0, 3.0], [0.0, 0.0]])
    assert symgrad(lambda a: scipy.linalg.expm(a))(n).tolist() == [[1.0, 3.0], [0.0, 1.0]]
    slopes = symgrad(lambda a: scipy.linalg.expm(a)[0, 0]).grad(np.zeros((2, 2)))
    np.testing.assert_allclose(slopes, [[1.0, 0.0], [0.0, 0.0]], atol=1e-16)


def test_what_is_not_known_is_refused() -> None:
    with pytest.raises(UnsupportedError):
        symgrad(lambda m: scipy.spatial.distance.cdist(m, m, "cosine"))(M)
    periodic = scipy.interpolate.CubicSpline([0, 1, 2.0], [1, 2, 1.0], bc_type="periodic")
    with pytest.raises(UnsupportedError):
        symgrad(lambda x: periodic(x))(0.3)
