"""Second derivatives at kinks in programs with arrays: where a norm is 0 (those of what is smooth there, though not
even), at ties of maxima and absolute values that loops find; and under functions with infinite slopes, in sums,
where ball arithmetic has no limit."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from symdiff import symgrad
from symdiff.runtime.scalar.fallback import AccuracyWarning

R3 = 3**0.5

PROFILES: list[tuple[Callable[[Any, Any], Any], str]] = [
    (lambda m, d: (1 + d) * m.exp(-d), "norm"),
    (lambda m, d: (1 + d + d * d / 3) * m.exp(-d), "dot"),
    (lambda m, d: d * m.tanh(d) + m.exp(-d) + d, "sum"),
]
"""Functions of a norm whose linear terms cancel, and the spelling of the norm."""

NORMS: dict[str, Callable[..., Any]] = {
    "norm": np.linalg.norm,
    "dot": lambda x: np.sqrt(x @ x),
    "sum": lambda x: np.sum(x**2) ** 0.5,
}


def curvature(profile: Callable[[Any, Any], Any]) -> float:
    """g''(0) of a function of the norm, which has a series in it."""
    constant, slope, half = mpmath.taylor(lambda d: profile(mpmath, d), 0, 2)
    assert abs(slope) < 1e-12
    return float(2 * half)


@pytest.mark.slow
@pytest.mark.parametrize(("profile", "norm"), PROFILES, ids=range(len(PROFILES)))
def test_linear_terms_cancel(profile: Callable[[Any, Any], Any], norm: str) -> None:
    f = symgrad(lambda x: profile(np, NORMS[norm](x)))
    want = curvature(profile)
    assert f.hessian(np.zeros(2)) == pytest.approx(want * np.eye(2), rel=1e-14)
    assert f.hessian(np.array([1e-9, 0.0])) == pytest.approx(want * np.eye(2), rel=1e-7)


def matern(x: Any) -> Any:
    d = np.linalg.norm(x)
    return (1 + d) * np.exp(-d)


@pytest.mark.slow
def test_products() -> None:
    f, v = symgrad(matern), np.array([1.0, -2.0, 0.5])
    assert f.hvp(np.zeros(3), v) == pytest.approx(-v)
    value, found = f.grad.vjp(np.zeros(3), v)
    assert value.tolist() == [0.0, 0.0, 0.0]
    assert found == pytest.approx(-v)


@pytest.mark.slow
def test_slopes_beside_their_derivatives() -> None:
    """The gradient of a norm is a step along each axis: its derivative is 0, as that of sign."""
    value, found = symgrad(np.linalg.norm).grad.jvp(np.zeros(2), np.ones(2))
    assert value.tolist() == [0.0, 0.0]
    assert found.tolist() == [0.0, 0.0]


@pytest.mark.slow
def test_single_precision() -> None:
    found = symgrad(matern).hessian(np.zeros(2, np.float32))
    assert found.dtype == np.float32
    assert found.tolist() == [[-1.0, 0.0], [0.0, -1.0]]


@pytest.mark.slow
def test_two_points_that_meet() -> None:
    def kernel(x: Any, y: Any) -> Any:
        d = np.sqrt(np.sum((x - y) ** 2)) / 0.5
        return (1 + d + d * d / 3) * np.exp(-d)

    found = symgrad(kernel, wrt="x").hessian(np.ones(2), np.ones(2))
    assert found == pytest.approx(-4 / 3 * np.eye(2))


def gram(x: Any, w: Any) -> Any:
    d = np.sqrt(np.sum((x[:, None, :] - x[None, :, :]) ** 2, axis=-1))
    return np.sum((1 + R3 * d) * np.exp(-R3 * d) * w)


@pytest.mark.slow
def test_rows_that_coincide() -> None:
    w = np.array([[0.0, 1.0], [2.0, 3.0]])
    found = symgrad(gram, wrt="x").hessian(np.zeros((2, 1)), w)
    assert found[:, 0, :, 0] == pytest.approx(9 * np.array([[-1.0, 1.0], [1.0, -1.0]]))


@pytest.mark.slow
def test_diagonal_of_distances() -> None:
    """Distances of rows from themselves are 0 at all arguments: their kinks do not count."""

    def energy(x: Any) -> Any:
        return np.sum(np.exp(-np.sqrt(np.sum((x[:, None, :] - x[None, :, :]) ** 2, axis=-1))))

    x = np.array([[0.0, 1.0], [2.0, 3.0]])
    g = mpmath.exp(-mpmath.sqrt(8))  # f = 2 + 2*exp(-d), where d**2 = 8
    bend, turn = 2 * g, -2 * g / mpmath.sqrt(8)
    along, across = (bend + turn) / 2, (bend - turn) / 2
    found = symgrad(energy).hessian(x)
    assert found[0, :, 0] == pytest.approx(np.array([[along, across], [across, along]], float))
    assert found[0, :, 1] == pytest.approx(-found[0, :, 0])
    both = symgrad(energy).hessian(np.zeros((2, 2)))  # 2 + 2*exp(-|t|) along each axis
    assert both[0, :, 0].tolist() == [[2.0, 0.0], [0.0, 2.0]]


@pytest.mark.slow
def test_weighted_norms_of_numbers() -> None:
    """(1 + d)*exp(-d) is 1 - d**2/2 + ..., whatever d**2 is a sum of."""

    def kernel(d: Any) -> Any:
        return (1 + d) * np.exp(-d)

    f = symgrad(lambda x, y, w: kernel(np.sqrt(x * x + w * y * y)), wrt=("x", "y"))
    assert f.hessian(0.0, 0.0, 2.0) == ((-1.0, 0.0), (0.0, -2.0))
    g = symgrad(lambda x, y: kernel(np.sqrt(x * x + x * y + y * y)))
    assert g.hessian(0.0, 0.0) == ((-1.0, -0.5), (-0.5, -1.0))
    h = symgrad(lambda x, y, w: np.sqrt(x * x + w * y * y), wrt=("x", "y"))
    assert h.hessian(0.0, 0.0, 2.0) == ((0.0, 0.0), (0.0, 0.0))
    assert h.grad(0.0, 0.0, 2.0) == (0.0, 0.0)


def carried_together(x):
    s = t = 0.0
    for k in range(x.shape[0]):
        t = t + s**2
        s = s + x[k]
    return np.exp(-np.sqrt(t))


def used_within_a_turn(x):
    w = np.array([0.3, 0.4, 0.9])
    r = s = 0.0
    for i in range(3):
        y = s * np.sin(w * s + w)
        r += np.exp(-np.sqrt(np.sum(y**2)))
        s += np.sin(x[0] * w[i]) + 0 * x[1]
    return r


def pairs_in_loops(x):
    r = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            u = 0.0
            for k in range(2):
                u += (x[i] * (k + 1) - x[j] * (k + 1)) ** 2
            r += np.exp(-np.sqrt(u))
    return r


@pytest.mark.sampled
@pytest.mark.parametrize("fun", [carried_together, used_within_a_turn, pairs_in_loops])
def test_sums_that_begin_at_0_are_not_0_for_that(fun):
    """Only what is 0 whatever the arguments are is no kink: a first turn, and pairs of the same row."""
    x = np.array([0.3, 0.4, 0.9])
    found, step = symgrad(fun).hessian(x), 2.0**-12
    for i, j in np.ndindex(3, 3):
        e, d = step * (np.arange(3) == i), step * (np.arange(3) == j)
        wanted = (fun(x + e + d) - fun(x + e - d) - fun(x - e + d) + fun(x - e - d)) / (4 * step**2)
        assert found[i, j] == pytest.approx(wanted, abs=1e-4)


STEPS: list[tuple[Callable[[Any], Any], float]] = [
    (lambda d: d, 0.0),
    (lambda d: np.exp(-d), 1.0),
    (lambda d: d + 5 * d**3, 0.0),
]
"""Functions of a norm, and the means of their second derivatives along an axis."""


@pytest.mark.slow
@pytest.mark.parametrize(("profile", "bend"), STEPS)
def test_second_derivatives_at_kinks(profile: Callable[[Any], Any], bend: float) -> None:
    """Those of the first along each axis: the mean of both sides, and 0 across."""
    f = symgrad(lambda x: profile(np.linalg.norm(x)))
    assert f.hessian(np.zeros(2)).tolist() == (bend * np.eye(2)).tolist()
    assert f.hvp(np.zeros(2), np.ones(2)).tolist() == [bend, bend]
    assert f.grad(np.zeros(2)).tolist() == [0.0, 0.0]


@pytest.mark.sampled
@pytest.mark.filterwarnings("ignore::symdiff.runtime.scalar.fallback.AccuracyWarning")
@pytest.mark.parametrize(("profile", "bend"), STEPS)
@pytest.mark.parametrize(("n", "accuracy"), [(2, "fast"), (40, "fast"), (40, "high")])
def test_unknown_second_derivatives(
    profile: Callable[[Any], Any], bend: float, n: int, accuracy: str
) -> None:
    """Without the tier of points, and where it would take too long, they are nan."""
    f = symgrad(lambda x: profile(np.linalg.norm(x)), accuracy=accuracy)
    assert np.isnan(f.hessian(np.zeros(n))).all()
    assert f.grad(np.zeros(n)).tolist() == [0.0] * n


@pytest.mark.slow
def test_second_derivatives_of_rows() -> None:
    found = symgrad(lambda x: np.sum(np.sqrt(np.sum(x**2, axis=1)))).hessian(
        np.array([[0.0, 0.0], [3.0, 4.0]])
    )
    assert found[0, :, 0].tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert found[1, :, 1] == pytest.approx(np.array([[16, -12], [-12, 9]]) / 125)
    assert not found[0, :, 1].any() and not found[1, :, 0].any()


@pytest.mark.slow
def test_directions_at_0() -> None:
    """x/|x| has no value at 0, and its derivatives have none."""
    found = symgrad(lambda x: x / np.linalg.norm(x)).jacobian(np.zeros(2))
    assert np.isnan(found).all()


POLES: dict[str, Callable[[Any], Any]] = {
    "reciprocal": lambda x: np.sum(1 / np.linalg.norm(x, axis=-1)),
    "logarithm": lambda x: np.sum(np.log(np.linalg.norm(x, axis=-1))),
    "root": lambda x: np.sum(np.sqrt(np.linalg.norm(x, axis=-1))),
}


@pytest.mark.sampled
@pytest.mark.parametrize("accuracy", ["high", "fast"])
@pytest.mark.parametrize("which", POLES)
def test_poles_of_norms(which: str, accuracy: str) -> None:
    found = symgrad(POLES[which], accuracy=accuracy).grad(np.array([[0.0, 0.0], [3.0, 4.0]]))
    assert np.isnan(found[0]).all()
    assert np.isfinite(found[1]).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::symdiff.runtime.scalar.fallback.AccuracyWarning")
@pytest.mark.parametrize("more", [0, 60])
def test_pairs_at_one_place(more: int) -> None:
    """The slope of a distance of 0 is 0, and no gradient beside a pole of what is made of distances."""

    def energy(x: Any) -> Any:
        d = np.linalg.norm(x[:, None] - x[None], axis=-1)
        i, j = np.triu_indices(len(x), 1)
        return np.sum(1 / d[i, j])

    far = np.random.default_rng(0).uniform(5, 6, (more, 2))
    x = np.concatenate([np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.0]]), far])
    found = symgrad(energy).grad(x)
    assert np.isnan(found[1:3]).all()
    away = x[0] - np.delete(x, 0, axis=0)
    want = -np.sum(away / np.sum(away**2, axis=1)[:, None] ** 1.5, axis=0)
    assert found[0] == pytest.approx(want, rel=1e-13)
    assert np.isfinite(np.delete(found, [1, 2], axis=0)).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_norms_of_norms():
    def torus(x, y, z, R, r):
        q = math.sqrt(x * x + z * z) - R
        return math.sqrt(q * q + y * y) - r

    f = symgrad(torus)
    slope = f.grad(
        0.0, 0.5, 0.0, 1.0, 0.2
    )  # on the axis, at a distance of sqrt(1.25) from the circle
    assert slope == pytest.approx(
        (0.0, 0.5 / math.sqrt(1.25), 0.0, 1 / math.sqrt(1.25), -1.0), rel=1e-15
    )
    assert f.grad(1.0, 0.0, 0.0, 1.0, 0.2) == (0.0, 0.0, 0.0, 0.0, -1.0)


def box(x, y, b):
    outside = math.hypot(max(abs(x) - b, 0), max(abs(y) - b, 0))
    return outside + min(max(abs(x) - b, abs(y) - b), 0)


def box_of_a_root(x, y, b):
    outside = np.sqrt(np.maximum(abs(x) - b, 0) ** 2 + 4 * np.minimum((b - abs(y)) / 2, 0) ** 2)
    return outside + min(max(abs(x) - b, abs(y) - b), 0)


def box_of_three(x, y, b):
    inside = min(max(abs(x) - b, abs(y) - b, -b), 0)
    return math.hypot(max(abs(x) - b, 0), max(abs(y) - b, 0), max(-b, 0)) + inside


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("distance", [box, box_of_a_root, box_of_three])
def test_distances_of_boxes_on_their_edges(distance) -> None:
    """On an edge both sides have the slope 1: outside it is the norm's, inside the minimum's."""
    f = symgrad(distance)
    assert f.grad(1.0, 0.25, 1.0) == (1.0, 0.0, -1.0)
    assert f.grad(0.25, -1.0, 1.0) == (0.0, -1.0, -1.0)
    if distance is not box_of_three:
        assert f.hessian(1.0, 0.25, 1.0) == ((0.0,) * 3,) * 3
    assert f.grad(1.5, 1.0, 1.0) == (1.0, 0.0, -1.0)
    assert f.hessian(1.5, 1.0, 1.0)[1] == (0.0, 1.0, -1.0)  # the mean of 0 and 2


def test_norms_of_clamps_alone() -> None:
    f = symgrad(lambda x, y: math.hypot(max(x, 0), max(y, 0)))
    assert f.grad(0.0, -1.0) == (0.5, 0.0)  # that of max(x, 0)
    assert f.grad(0.0, 0.0) == (0.5, 0.5)  # that of max(x, 0) along each axis
    assert f.grad(-1.0, -1.0) == (0.0, 0.0)
    assert f.grad(3.0, 4.0) == pytest.approx((0.6, 0.8), rel=1e-15)


def _box(p):
    q = np.abs(p) - 1
    return np.linalg.norm(np.maximum(q, 0)) + min(np.max(q), 0.0)


def _boxes(p):
    q = np.abs(p) - 1
    return np.sum(np.sqrt(np.sum(np.maximum(q, 0) ** 2, axis=1)) + np.minimum(np.max(q, axis=1), 0))


EDGES = {
    (1.0, 0.5): (1.0, 0.0),
    (-0.25, -1.0): (0.0, -1.0),
    (0.5, 0.0): (1.0, 0.0),
    (3.0, 0.0): (1.0, 0.0),
}
"""Points of a box, on its edges, inside and outside, with the slopes of the distance from it."""


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_distances_from_boxes_of_arrays():
    points, slopes = np.array(list(EDGES)), np.array(list(EDGES.values()))
    assert np.array_equal([symgrad(_box).grad(p) for p in points], slopes)
    assert np.array_equal(symgrad(_boxes).grad(points), slopes)
    assert np.array_equal(symgrad(_box).hessian(points[0]), np.zeros((2, 2)))


# --- ties of maxima and absolute values that loops find
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
