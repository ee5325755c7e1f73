"""Second derivatives at ties of maxima and absolute values that loops find; and kinks under functions with
infinite slopes, in sums over arrays, where ball arithmetic has no limit."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.runtime.scalar.fallback import AccuracyWarning

nan = np.nan


def steps(v: Any) -> Any:
    s = 0.0
    for i in range(v.shape[0]):
        s = abs(s + v[i])
    return s * s


def log_mean_exp(v: Any) -> Any:
    m = np.max(v)
    return m + np.log(np.mean(np.exp(v - m)))


TIES = {
    "square": (lambda v: np.max(v) ** 2, [1.0, 1.0], [[1, 0], [0, 1]]),
    "square beside another": (lambda v: np.max(v) ** 2, [1.0, 2, 2], np.diag([0, 1, 1])),
    "linear": (lambda v: np.max(v), [1.0, 1, 1], np.zeros((3, 3))),
    "smooth": (lambda v: np.max(v) ** 2 + np.min(v) ** 2, [1.0, 1], [[2, 0], [0, 2]]),
    "product": (lambda v: np.max(v) * np.min(v), [1.0, 1], [[0, 1], [1, 0]]),
    "clipped": (
        lambda v: np.sum(np.maximum(v[:-1] - v[1:], 0.0)) ** 2, [1.0, 1], [[1, -1], [-1, 1]]
    ),
    "carried": (steps, [1.0, -1, 2], [[2, 2, 0], [2, 2, 0], [0, 0, 2]]),
    "three": (lambda v: np.max(v) ** 2, [2.0, 2, 2], np.eye(3)),
    "many": (lambda v: np.max(v) ** 2, [0.0] * 40, np.full((40, 40), nan)),
    "mean": (log_mean_exp, [3.0] * 3, np.eye(3) / 3 - 1 / 9),
}  # fmt: skip
"""Functions, points and their second derivatives: those of the first along each axis, means of both
sides; nan where there are more than can be looked at."""


@pytest.mark.sampled
@pytest.mark.filterwarnings("ignore::symdiff.runtime.scalar.fallback.AccuracyWarning")
@pytest.mark.parametrize("which", TIES)
def test_ties(which: str) -> None:
    f, point, want = TIES[which]
    g, x = symgrad(f), np.array(point)
    found = g.hessian(x)
    assert found == pytest.approx(np.asarray(want, float), rel=1e-14, abs=1e-15, nan_ok=True)
    assert g.hessian(x) == pytest.approx(found, rel=0, nan_ok=True)  # the second call too


@pytest.mark.slow
def test_products_with_vectors() -> None:
    """The gradient beside a product is the mean of the sides, whatever becomes of the product."""
    f, x, v = symgrad(lambda v: np.max(v) * np.min(v)), np.ones(2), np.array([1.0, 3.0])
    assert f.hvp(x, v).tolist() == [3.0, 1.0]
    value, tangent = f.grad.jvp((x,), (v,))
    assert value.tolist() == [1.0, 1.0]
    assert tangent.tolist() == [3.0, 1.0]


@pytest.mark.slow
def test_unknown_sides_are_told() -> None:
    """Where there are more than the tier of points has time for."""
    with pytest.warns(AccuracyWarning, match="kinks meet here"):
        symgrad(lambda v: np.max(v) ** 2).hessian(np.ones(40))


@pytest.mark.slow
def test_other_points_and_copies() -> None:
    f = symgrad(lambda v: np.max(v) ** 2)
    assert f.hessian(np.array([3.0, 1.0, 2.0])).tolist() == np.diag([2.0, 0, 0]).tolist()
    copy = pickle.loads(pickle.dumps(symgrad(log_mean_exp).hessian))
    assert copy(np.zeros(2)) == pytest.approx(np.array([[0.25, -0.25], [-0.25, 0.25]]))
    single = f.hessian(np.ones(2, np.float32))
    assert single.dtype == np.float32 and single.tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_squares_of_signs() -> None:
    """The sum is that of squares, at 0 too."""

    def f(v: Any) -> Any:
        s = 0.0
        for i in range(v.shape[0]):
            s = s + np.sign(v[i]) ** 2 * v[i] ** 2
        return s

    assert symgrad(f).hessian(np.array([0.0, 1.0])).tolist() == [[2.0, 0.0], [0.0, 2.0]]


def largest_in_loop(x):
    m = 0.0
    for i in range(len(x)):
        m = max(m, abs(x[i]))
    return 1 / m


@pytest.mark.sampled
@pytest.mark.parametrize(
    "f",
    [
        lambda x: 1 / np.max(np.abs(x)),
        lambda x: np.log(np.max(np.abs(x))),
        lambda x: np.sqrt(np.max(np.abs(x))),
        lambda x: np.max(np.abs(x)) ** -2,
        lambda x: 1 / np.min(np.abs(x)),
        lambda x: 1 / np.linalg.norm(x, np.inf),
        lambda x: 1 / (np.max(x) - np.min(x)),
        lambda x: 1 / np.sum(np.abs(x)),
        largest_in_loop,
    ],
)
def test_infinite_slopes_have_no_mean(f):
    """On both sides of the kink they are infinite, of other signs."""
    g = symgrad(f)
    assert np.isnan(g.grad(np.zeros(2))).all()
    x, h = np.array([0.5, -1.25]), 2.0**-18
    steps = [(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(2)]
    assert g.grad(x) == pytest.approx(steps, rel=1e-6, abs=1e-9)


@pytest.mark.slow
def test_finite_slopes_that_cancel_have_a_mean():
    assert symgrad(lambda x: np.max(np.abs(x))).grad(np.zeros(2)).tolist() == [0.0, 0.0]
    assert symgrad(lambda x: np.sqrt(1 + np.max(np.abs(x)))).grad(np.zeros(3)).tolist() == [0.0] * 3


@pytest.mark.slow
def test_pieces_that_an_index_finds_have_the_slope_of_the_piece_that_is_taken():
    line = symgrad(lambda x: np.interp(x, [0.0, 1.0, 2.0], [0.0, 1.0, 4.0]))
    assert line.grad(np.array([0.0, 0.5, 1.0, 2.0])).tolist() == [1.0, 1.0, 3.0, 0.0]


# --- kinks under functions with infinite slopes, in sums
R = np.linspace(0.0, 1.0, 41)[[0, 12, 16, 30]]


def cosine(p: Any, z: Any, r: Any) -> Any:
    """Of the angle in a triangle, which ends where z = p + r."""
    return (r**2 + z**2 - p**2) / (2 * np.where(r * z == 0, 1, r * z))


def angle(p: Any, z: Any, r: Any) -> Any:
    return np.sum(np.arccos(np.clip(cosine(p, z, r), -1, 1)))


def root(p: Any, z: Any, r: Any) -> Any:
    return np.sum(np.sqrt(np.maximum(1 - cosine(p, z, r), 0)))


def power(p: Any, z: Any, r: Any) -> Any:
    return np.sum(np.maximum(1 - cosine(p, z, r), 0) ** 0.3)


def cubic(p: Any, z: Any, r: Any) -> Any:
    return np.sum(np.cbrt(1 - cosine(p, z, r)))


def square(p: Any, z: Any, r: Any) -> Any:
    return np.sum(np.maximum(1 - cosine(p, z, r), 0) ** 1.5)


CASES = [(angle, np.nan), (root, np.nan), (power, np.nan), (cubic, np.inf)]
POINTS = [
    (0.6, 1.0),
    (0.5, 0.8),
]  # where one of the sums is exact in doubles: 0.6 + 0.4 and 0.5 + 0.3


@pytest.mark.filterwarnings("ignore:the (guarded )?value")
@pytest.mark.sampled(3)
@pytest.mark.parametrize(("f", "slope"), CASES)
def test_infinite_slopes_on_one_side_or_both(f: Any, slope: float) -> None:
    p, z = POINTS[f is cubic]
    of_numbers = symgrad(lambda p, z: f(p, z, R))
    np.testing.assert_equal(of_numbers.grad(p, z), (slope, -slope))
    np.testing.assert_equal(symgrad(f, wrt="z").grad(p, z, R), -slope)


@pytest.mark.filterwarnings("ignore:the (guarded )?value")
def test_finite_slopes_on_both_sides() -> None:
    (p, z), h = POINTS[0], 1e-10
    there = [square(p + k * h, z, R) for k in (-1, 1)]
    np.testing.assert_allclose(
        symgrad(square, wrt="p").grad(p, z, R), np.diff(there)[0] / (2 * h), rtol=1e-4
    )
