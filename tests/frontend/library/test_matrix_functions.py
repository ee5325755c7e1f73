"""Functions of matrices and factors: values of SciPy and of mpmath, slopes as differences of mpmath's."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.linalg

from symdiff import SymdiffError, symgrad

M = np.array([[2.0, 0.3, 0.1], [0.1, 1.5, -0.4], [0.6, -0.2, 0.8]])
WEIGHTS = np.array([[1.0, -0.5, 0.3], [0.2, 0.7, -1.1], [0.4, 0.6, 0.9]])
FUNCTIONS: dict[str, tuple[Any, Any, float]] = {
    "sqrtm": (scipy.linalg.sqrtm, mpmath.sqrtm, 4.0),
    "logm": (scipy.linalg.logm, mpmath.logm, 16.0),
}
"""Of SciPy and of mpmath, and the error in units of the last place of the largest element."""


def _exact(function: Any, a: np.ndarray, moved: Any = None, by: float = 0.0) -> mpmath.matrix:
    rows = mpmath.matrix(a.tolist())
    if moved is not None:
        rows[moved] += mpmath.mpf(by)
    return function(rows)


def _doubles(m: mpmath.matrix) -> np.ndarray:
    return np.array([[float(mpmath.re(v)) for v in row] for row in m.tolist()])


def _distance(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.max(np.abs(a - b)) / np.max(np.abs(b)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::symdiff.AccuracyWarning")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_matrices_are_those_of_mpmath(name: str) -> None:
    function, exact, error = FUNCTIONS[name]
    f = symgrad(lambda a: function(a))
    random = np.random.default_rng(11)
    with mpmath.workdps(40):
        for scale in (1.0, 1e-3, 30.0):
            for n in (1, 2, 3, 5):
                a = scale * (np.eye(n) * 2 + 0.8 * random.normal(size=(n, n)) / np.sqrt(n))
                assert _distance(f(a), _doubles(_exact(exact, a))) < error * 2.0**-52


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::symdiff.AccuracyWarning")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_slopes_of_functions_of_matrices(name: str) -> None:
    function, exact, _ = FUNCTIONS[name]
    slopes = symgrad(lambda a: np.sum(WEIGHTS * function(a))).grad(M)
    expected, step = np.zeros_like(M), 1e-12
    with mpmath.workdps(60):
        for at in np.ndindex(3, 3):
            ends = [_exact(exact, M, at, s) for s in (step, -step)]
            difference = (ends[0] - ends[1]) / (2 * mpmath.mpf(step))
            expected[at] = np.sum(WEIGHTS * _doubles(difference))
    assert _distance(slopes, expected) < 1e-14


@pytest.mark.slow
def test_without_a_real_root_there_is_an_error() -> None:
    with pytest.raises(ValueError, match="no real principal square root"):
        symgrad(lambda a: scipy.linalg.sqrtm(a))(np.diag([1.0, -2.0]))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("a", [np.diag([0.0, 4.0]), np.ones((2, 2)), np.diag([-1.0, 1.0])])
def test_singular_matrices_and_steps_are_refused_at_the_line(a: np.ndarray) -> None:
    f = symgrad(lambda a: scipy.linalg.sqrtm(a))
    with pytest.raises(
        SymdiffError, match=r"test_matrix_functions.py:\d+:\d+: the matrix is singular"
    ):
        f(a)


@pytest.mark.slow
@pytest.mark.parametrize("a", [np.diag([0.0, 4.0]), np.zeros((3, 3))])
def test_singular_matrices_have_no_logarithm(a: np.ndarray) -> None:
    f = symgrad(lambda a: np.sum(scipy.linalg.logm(a)))
    for call in (f, f.grad):
        with pytest.raises(SymdiffError, match="the matrix is singular"):
            call(a)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5)])
def test_factors_with_pivots(shape: tuple[int, int]) -> None:
    random = np.random.default_rng(1)
    whole = symgrad(lambda a: scipy.linalg.lu(a))
    permuted = symgrad(lambda a: scipy.linalg.lu(a, permute_l=True))
    indices = symgrad(lambda a: scipy.linalg.lu(a, p_indices=True))
    for _ in range(5):
        a = random.normal(size=shape)
        for f, expected in (
            (whole, scipy.linalg.lu(a)),
            (permuted, scipy.linalg.lu(a, permute_l=True)),
            (indices, scipy.linalg.lu(a, p_indices=True)),
        ):
            for found, part in zip(f(a), expected, strict=True):
                np.testing.assert_allclose(found, part, rtol=1e-12, atol=1e-14)


@pytest.mark.slow
def test_factors_of_a_singular_matrix_and_their_slopes() -> None:
    f = symgrad(lambda a: scipy.linalg.lu(a))
    a = np.array([[0.0, 1.0], [0.0, 2.0]])
    for found, part in zip(f(a), scipy.linalg.lu(a), strict=True):
        assert found.tolist() == part.tolist()
    # with A = [[a, b], [c, d]] and c the pivot the last of U is b - a*d/c
    a = np.array([[1.0, 2.0], [4.0, 5.0]])
    last = symgrad(lambda a: scipy.linalg.lu(a)[2][1, 1])
    assert last(a) == 0.75
    np.testing.assert_allclose(last.grad(a), [[-1.25, 1.0], [0.3125, -0.25]], rtol=1e-15)


def test_ranks() -> None:
    rank = symgrad(lambda a: np.linalg.matrix_rank(a))
    for a in (M, np.outer(M[0], M[1]), np.zeros((3, 3)), np.vstack([M, M[:1]])):
        assert rank(a) == np.linalg.matrix_rank(a)
    assert symgrad(lambda a: np.linalg.matrix_rank(a, tol=1.0))(M) == np.linalg.matrix_rank(M, 1.0)
    assert symgrad(lambda a: np.linalg.matrix_rank(a) * a[0, 1]).grad(M)[0].tolist() == [0, 3, 0]


UNIQUE = {
    "ties": np.array([3.0, 1, 2, 1, 3, 0.5, 3]),
    "one": np.array([2.0]),
    "nan": np.array([1.0, np.nan, 0.5, np.nan, 1.0]),
    "rows": np.array([[1.0, 2, 1], [2, 2, -1]]),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", UNIQUE)
def test_what_else_unique_finds(name: str) -> None:
    x = UNIQUE[name]
    more = {"return_index": True, "return_inverse": True, "return_counts": True}
    found = symgrad(lambda x: np.unique(x, **more))(x)
    for a, b in zip(found, np.unique(x, **more), strict=True):
        np.testing.assert_array_equal(a, b)
    inverse = symgrad(lambda x: np.unique(x, return_inverse=True)[1])(x)
    np.testing.assert_array_equal(inverse, np.unique(x, return_inverse=True)[1])


def test_slopes_of_unique_values() -> None:
    def f(x: Any) -> Any:
        values, counts = np.unique(x, return_counts=True)
        return np.sum(values**2 * counts)

    x = np.array([3.0, 1.0, 2.0])
    assert symgrad(f).grad(x).tolist() == [6.0, 2.0, 4.0]
