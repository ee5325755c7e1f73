"""Guards in programs with arrays: early returns and branches where the norm of an array is small (rotations,
exponential maps, shrinkage); and derivatives by a number whose guard goes through sums and products."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from symdiff import GuardWarning, symgrad
from symdiff.runtime.loops import by_definition

ZERO, V = np.zeros(3), np.array([1.0, 2.0, 3.0])
GENERATORS = np.array(
    [[[0, 0, 0], [0, 0, -1], [0, 1, 0]], [[0, 0, 1], [0, 0, 0], [-1, 0, 0]], [[0, -1, 0], [1, 0, 0], [0, 0, 0]]]
)  # fmt: skip
"""Of rotations: the derivatives by each element, which stands first."""


def hat(w: Any) -> Any:
    return np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])


def rodrigues(w: Any) -> Any:
    th = np.linalg.norm(w)
    if th < 1e-8:
        return np.eye(3)
    W = hat(w)
    return np.eye(3) + np.sin(th) / th * W + (1 - np.cos(th)) / th**2 * (W @ W)


def left_jacobian(w: Any) -> Any:
    th = np.linalg.norm(w)
    if th < 1e-8:
        return np.eye(3)
    W = hat(w)
    return np.eye(3) + (1 - np.cos(th)) / th**2 * W + (th - np.sin(th)) / th**3 * W @ W


def moved(w: Any, v: Any) -> Any:
    th = np.linalg.norm(w)
    if th < 1e-8:
        return v.copy()
    return v + np.sin(th) / th * np.cross(w, v)


def rotated(w: Any, v: Any) -> Any:
    th = np.linalg.norm(w)
    if th < 1e-8:
        R = np.eye(3)
    else:
        W = hat(w)
        R = np.eye(3) + np.sin(th) / th * W + (1 - np.cos(th)) / th**2 * W @ W
    return R @ v


def quaternion(w: Any) -> Any:
    th = np.linalg.norm(w)
    if th < 1e-10:
        return np.array([1.0, 0.0, 0.0, 0.0])
    s = np.sin(th / 2) / th
    return np.array([np.cos(th / 2), s * w[0], s * w[1], s * w[2]])


def first(w: Any) -> Any:
    th = np.linalg.norm(w)
    if th < 1e-8:
        return 0.0
    return w[0] * np.sin(th) / th


def work(w: Any, v: Any) -> Any:
    th = np.sqrt(np.dot(w, w))
    if th < 1e-8:
        return 0.0
    return np.dot(w, v) * np.sin(th) / th


def squared(w: Any) -> Any:
    t = w @ w
    if t < 1e-16:
        return np.zeros(3)
    return w * np.sin(np.sqrt(t)) / np.sqrt(t)


def masked(w: Any) -> Any:
    th = np.linalg.norm(w)
    return np.sum(np.where(th < 1e-8, 0.0, w * np.sin(th) / np.where(th < 1e-8, 1.0, th)))


def of_matrix(A: Any) -> Any:
    n = np.sqrt(np.sum(A * A))
    if n < 1e-9:
        return 0.0
    return np.sum(A) * np.tanh(n) / n


def between(x: Any, y: Any) -> Any:
    d = np.linalg.norm(x - y)
    if d < 1e-10:
        return 0.0
    return (x[0] - y[0]) * np.sin(d) / d


def by_rows(x: Any) -> Any:
    s = 0.0
    for i in range(x.shape[0]):
        r = np.linalg.norm(x[i])
        if r < 1e-9:
            continue
        s += x[i, 0] * np.tanh(r) / r
    return s


def by_axis(x: Any) -> Any:
    t = np.linalg.norm(x, axis=1)
    return np.sum(np.where(t < 1e-8, 0.0, x[:, 0] * np.tanh(t) / np.where(t < 1e-8, 1.0, t)))


FIRST = np.array([1.0, 0.0, 0.0])
JACOBIANS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], Any]] = {
    "rotation": (rodrigues, (ZERO,), np.moveaxis(GENERATORS, 0, -1)),
    "left Jacobian": (left_jacobian, (ZERO,), np.moveaxis(GENERATORS, 0, -1) / 2),
    "moved": (moved, (ZERO, V), np.stack([g @ V for g in GENERATORS], -1)),
    "rotated": (rotated, (ZERO, V), np.stack([g @ V for g in GENERATORS], -1)),
    "quaternion": (quaternion, (ZERO,), np.vstack([np.zeros(3), np.eye(3) / 2])),
    "squared": (squared, (ZERO,), np.eye(3)),
    "first": (first, (ZERO,), FIRST),
    "work": (work, (ZERO, V), V),
    "masked": (masked, (ZERO,), np.ones(3)),
    "matrix": (of_matrix, (np.zeros((2, 3)),), np.ones((2, 3))),
    "difference": (between, (V, V), FIRST),
    "rows": (by_rows, (np.zeros((2, 3)),), np.stack([FIRST, FIRST])),
    "norms of rows": (by_axis, (np.zeros((2, 3)),), np.stack([FIRST, FIRST])),
}
"""Functions, where their guards are met, and the derivatives by the first argument there: those of the
linear terms of sin, tanh and the exponential."""


LONG = ("rotation", "left Jacobian", "rotated", "quaternion", "difference", "norms of rows")


@pytest.mark.sampled(7)
@pytest.mark.parametrize(
    "which", [pytest.param(w, marks=pytest.mark.slow) if w in LONG else w for w in JACOBIANS]
)
def test_early_returns(which: str) -> None:
    f, at, want = JACOBIANS[which]
    d = symgrad(f)
    found = (d.jacobian if np.ndim(f(*at)) else d.grad)(*at)
    found = found[0] if isinstance(found, tuple) else found
    np.testing.assert_allclose(found, want, rtol=1e-15, atol=1e-300)
    np.testing.assert_array_equal(d(*at), f(*at))


def direction(w: Any) -> Any:
    th = np.linalg.norm(w)
    if th < 1e-8:
        return 0.0
    return w[0] / th


def elsewhere(w: Any) -> Any:
    th = np.linalg.norm(w)
    if th < 1e-8:
        return 3.0
    return 1 + w[0] * np.sin(th) / th


def one_other_element(w: Any, v: Any) -> Any:
    th = np.linalg.norm(w)
    if th < 1e-8:
        return v.copy()
    return np.array([v[0] + 1.0, v[1] + w[0] * np.sin(th) / th, v[2]])


def part_of_the_norm(w: Any) -> Any:
    th = np.linalg.norm(w[1:])
    if th < 1e-8:
        return 0.0
    return w[0] * np.sin(th) / th


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::symdiff.GuardWarning")
@pytest.mark.parametrize(
    ("f", "at"),
    [
        (direction, (ZERO,)), (elsewhere, (ZERO,)), (part_of_the_norm, (FIRST,)),
    ],
)  # fmt: skip
def test_what_is_no_guard(f: Callable[..., Any], at: tuple[Any, ...]) -> None:
    """No limit, another one, elements outside of the norm: values are as written, and so are derivatives."""
    d = symgrad(f, wrt="w")
    np.testing.assert_array_equal(d(*at), f(*at))
    found = (d.jacobian if np.ndim(f(*at)) else d.grad)(*at)
    np.testing.assert_array_equal(found, np.zeros((*np.shape(f(*at)), 3)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::symdiff.GuardWarning")
def test_each_element_jumps_or_does_not() -> None:
    want = np.zeros((3, 3))
    want[1, 0] = 1.0
    found = symgrad(one_other_element, wrt="w").jacobian(ZERO, V)
    np.testing.assert_array_equal(found, want)


def numbers(a: float, b: float, c: float, v: float) -> float:
    th = (a * a + b * b + c * c) ** 0.5
    if th < 1e-8:
        return v
    return v + np.sin(th) / th * (a * v - 3 * b) + (1 - np.cos(th)) / th**2 * (a * b - c * v)


@pytest.mark.slow
def test_several_quantities_that_vanish() -> None:
    """sin(th)/th is 1 and (1 - cos(th))/th**2 is 1/2 at 0."""
    found = symgrad(numbers).grad(0.0, 0.0, 0.0, 2.0)
    assert found == pytest.approx((2.0, -3.0, -1.0, 1.0), rel=1e-15)


def of_axis(w: Any, v: Any) -> Any:
    th = np.linalg.norm(w)
    if th < 1e-8:
        return 0.0
    k = w / th
    return np.dot(k, v) * np.sin(th) + np.cos(th) - 1


def shrunk(x: Any) -> Any:
    n = np.linalg.norm(x)
    if n < 1e-12:
        return np.zeros(3)
    return (1 - np.exp(-n)) * x / n


def by_largest(x: Any) -> Any:
    if np.max(np.abs(x)) < 1e-8:
        return x[0]
    n = np.linalg.norm(x)
    return np.sinh(n) / n * x[0]


@pytest.mark.slow
def test_what_is_looked_at_when_it_is_met() -> None:
    """Sums of quotients by the norm, slopes that are not smooth, other norms: about 12 digits."""
    assert symgrad(of_axis).grad(ZERO, V)[0] == pytest.approx(V, rel=1e-11)
    assert symgrad(shrunk).jacobian(ZERO) == pytest.approx(np.eye(3), abs=1e-11)
    assert symgrad(by_largest).grad(ZERO) == pytest.approx(FIRST, abs=1e-11)


SMALL = np.array([3e-9, -2e-9, 1e-9])


@pytest.mark.slow
@pytest.mark.parametrize("f", [first, masked])
def test_inside_of_bands(f: Any) -> None:
    """Beside the point too, where the function differs from its linear term by 1e-17."""
    d = symgrad(f)
    assert d(SMALL) == f(SMALL) == 0.0
    found = (d.jacobian if np.ndim(f(SMALL)) else d.grad)(SMALL)
    np.testing.assert_allclose(found, {first: FIRST, masked: np.ones(3)}[f], atol=1e-16)


def kinked(w: Any) -> Any:
    th = np.linalg.norm(w)
    if th < 1e-8:
        return 0.0
    return np.tanh(th) + w[0]


def normalised(x: Any) -> Any:
    n = np.linalg.norm(x)
    if n == 0:
        return x
    return x / n


def test_a_kink_in_a_band_has_the_mean_of_its_slopes() -> None:
    np.testing.assert_array_equal(symgrad(kinked).grad(ZERO), FIRST)


@pytest.mark.sampled
@pytest.mark.parametrize("f", [elsewhere, direction, normalised])
def test_guards_that_are_none_are_named(f: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once, with their lines, if slopes on both sides of them are others."""
    monkeypatch.setattr(by_definition, "_warned", set())
    with pytest.warns(GuardWarning, match="own formula") as caught:
        d = symgrad(f, accuracy="fast")
        for _ in range(2):
            (d.jacobian if np.ndim(f(ZERO)) else d.grad)(ZERO)
    (warning,) = caught
    line = inspect.getsource(f).splitlines()[warning.lineno - f.__code__.co_firstlineno]
    assert line.startswith("    if ")


def dead_zone(x: Any) -> Any:
    s = np.sum(x)
    if s < 1e-4:
        return 0.0
    return s - 1e-4


def size(x: Any) -> Any:
    n = np.linalg.norm(x)
    if n == 0:
        return 0.0
    return n


@pytest.mark.sampled
@pytest.mark.parametrize("f", [dead_zone, size, shrunk])
def test_no_warning(f: Any) -> None:
    """One of two pieces, a kink by the table, and a guard that is right."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", GuardWarning)
        d = symgrad(f, accuracy="fast")
        (d.jacobian if np.ndim(f(ZERO)) else d.grad)(ZERO)


# ------------------------------------------------------ with parameters beside the norm
def scaled_sine(p, z):
    r = np.linalg.norm(p)
    if r == 0:
        return p * z
    return p * np.sin(r * z) / r


def saturated(p, z):
    r = np.linalg.norm(p)
    if r == 0:
        return p / z
    return p * np.tanh(r / z) / r


def in_a_band(p, z):
    r = np.sqrt(np.sum(p * p))
    return p * z if r < 1e-8 else p * (np.sin(r * z) / r)


def exponential(p, z):
    r = np.linalg.norm(p)
    return p * z if r == 0 else p * np.expm1(z * r) / r


def arc(p, z):
    r = np.linalg.norm(p)
    return p / z if r == 0 else p * np.arctan(r / z) / r


@pytest.mark.slow
@pytest.mark.parametrize(
    ("f", "slope"),
    [
        (scaled_sine, 2.5),
        (saturated, 0.4),
        (in_a_band, 2.5),
        (exponential, 2.5),
        (arc, 0.4),
    ],
    ids=lambda f: getattr(f, "__name__", ""),
)
def test_with_a_parameter_beside_the_norm(f, slope):
    """The quotient is removable along the norm's zero, whatever the parameter is."""
    by_vector, by_number = symgrad(f).jacobian(np.zeros(2), 2.5)
    np.testing.assert_allclose(by_vector, slope * np.eye(2), rtol=1e-14, atol=1e-15)
    np.testing.assert_array_equal(by_number, np.zeros(2))
    near = symgrad(f).jacobian(np.array([3e-7, -4e-7]), 2.5)[0]
    np.testing.assert_allclose(near, slope * np.eye(2), rtol=1e-5, atol=1e-5)
    whole = symgrad(lambda p, z: np.sum(p) * np.sum(f(p, z)))
    np.testing.assert_allclose(whole.hessian(np.zeros(2), 2.5)[0][0], 2 * slope, rtol=1e-12)


# --- guards on numbers, through sums and products of arrays
X = np.array([1.0, 2.0, 3.0])


def power_mean(x: Any, p: Any) -> Any:
    if p == 0:
        return np.exp(np.mean(np.log(x)))
    return np.mean(x**p) ** (1 / p)


def entropy(x: Any, q: Any) -> Any:
    p = x / np.sum(x)
    return -np.sum(p * np.log(p)) if q == 1 else np.log(np.sum(p**q)) / (1 - q)


def compound(x: Any, k: Any) -> Any:
    if k == 0:
        return np.sum(x)
    p = 1.0
    for v in x:
        p *= 1 + k * v
    return (p - 1) / k


def in_band(x: Any, t: Any) -> Any:
    return np.mean(x) if abs(t) < 1e-8 else np.log(np.mean(np.exp(t * x))) / t


def by_element(x: Any, k: Any) -> Any:
    e = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        if k == 0:
            e[i] = x[i] * np.sum(x)
        else:
            e[i] = x[i] * (np.prod(1 + k * x) - 1) / k
    return np.sum(e)


GUARDS: dict[str, tuple[Callable[..., Any], float, Callable[[Any], Any]]] = {
    "power mean": (power_mean, 0.0, lambda p: (mpmath.fsum(v**p for v in X) / 3) ** (1 / p)),
    "entropy": (
        entropy, 1.0, lambda q: mpmath.log(mpmath.fsum((mpmath.mpf(v) / 6) ** q for v in X)) / (1 - q)
    ),
    "product": (compound, 0.0, lambda k: (mpmath.fprod(1 + k * v for v in X) - 1) / k),
    "band": (in_band, 0.0, lambda t: mpmath.log(mpmath.fsum(mpmath.exp(t * v) for v in X) / 3) / t),
    "beside": (
        in_band, 3e-9, lambda t: mpmath.log(mpmath.fsum(mpmath.exp(t * v) for v in X) / 3) / t
    ),
    "elements": (by_element, 0.0, lambda k: 6 * (mpmath.fprod(1 + k * v for v in X) - 1) / k),
}  # fmt: skip
"""Functions, where they are guarded, and what is beside that."""


def slope(f: Callable[[Any], Any], at: float) -> float:
    """The derivative where the formula may have no value."""
    with mpmath.workdps(80):
        h = mpmath.mpf(10) ** -25
        return float((f(at + h) - f(at - h)) / (2 * h))


@pytest.mark.slow
@pytest.mark.parametrize("which", GUARDS)
def test_slopes(which: str) -> None:
    f, at, smooth = GUARDS[which]
    found = symgrad(f).grad(X, at)
    assert found[1] == pytest.approx(slope(smooth, at), rel=1e-12)
    beside = symgrad(f, wrt="x").grad(X, at)
    assert found[0] == pytest.approx(beside, rel=1e-8)


@pytest.mark.slow
def test_other_calls() -> None:
    f = symgrad(compound)
    want = slope(GUARDS["product"][2], 0.0)
    for _ in range(2):
        value, (_, k) = f.value_and_grad(X, 0.0)
        assert (value, k) == (6.0, pytest.approx(want, rel=1e-13))
    assert symgrad(compound, accuracy="fast").grad(X, 0.0)[1] == pytest.approx(want, rel=1e-11)
    assert symgrad(compound, wrt="k").hessian(X, 0.0) == pytest.approx(12.0, rel=1e-11)  # 2*x*y*z
    single = f.grad(X.astype(np.float32), np.float32(0))
    assert single[0].dtype == np.float32
    assert single[1] == pytest.approx(want, rel=1e-6)


@pytest.mark.sampled
@pytest.mark.filterwarnings("ignore::symdiff.GuardWarning")
@pytest.mark.parametrize(("f", "by_t"), [
    (lambda x, t: 5.0 if t == 0 else np.log(np.mean(np.exp(t * x))) / t, 0.0),
    (lambda x, t: np.mean(x) if t == 0 else np.log(np.mean(np.exp(t * x))) / t + abs(t), 1 / 3),
    (lambda x, t: np.mean(x) if t == 0 else np.prod(1 + t * x) * np.mean(x) + np.sqrt(abs(t)), np.nan),
])  # fmt: skip
def test_other_points(f: Callable[..., Any], by_t: float) -> None:
    """At a jump the branch counts, at a kink the mean of both sides, which may be infinite."""
    np.testing.assert_allclose(symgrad(f).grad(X, 0.0)[1], by_t, rtol=1e-15)


def wave(x: Any) -> Any:
    s = np.sqrt(np.sum(x**2))
    return 1.0 if s == 0 else np.sin(s) / s + np.sum(x)


def saturated_sum(x: Any) -> Any:
    s = np.linalg.norm(x)
    if s == 0:
        return 0.0
    return np.tanh(s) / s * (x[0] + 2 * x[1])


def by_first(x: Any) -> Any:
    if x[0] == 0:
        return np.sum(x[1:])
    return np.expm1(x[0]) / x[0] * np.sum(x[1:])


@pytest.mark.slow
def test_guards_of_norms_and_elements() -> None:
    """sin(s)/s is 1 - s**2/6 + ..., tanh(s)/s is 1 - ..., expm1(t)/t is 1 + t/2 + t**2/6 + ..."""
    assert symgrad(wave).grad(np.zeros(3)) == pytest.approx(np.ones(3), rel=1e-13)
    want = -np.eye(3) / 3
    assert symgrad(wave).hessian(np.zeros(3)) == pytest.approx(want, rel=1e-11, abs=1e-12)
    v = np.array([3.0, -6.0, 1.5])
    assert symgrad(wave).hvp(np.zeros(3), v) == pytest.approx(-v / 3, rel=1e-11)
    assert symgrad(saturated_sum).grad(np.zeros(2)) == pytest.approx([1.0, 2.0], rel=1e-13)
    x = np.array([0.0, 2.0, 3.0])
    assert symgrad(by_first).grad(x) == pytest.approx([2.5, 1.0, 1.0], rel=1e-12)
    assert symgrad(by_first).hessian(x)[0] == pytest.approx([5 / 3, 0.5, 0.5], rel=1e-11)


@pytest.mark.sampled
@pytest.mark.filterwarnings("ignore::symdiff.GuardWarning")
@pytest.mark.parametrize(("f", "slope"), [
    (lambda x: 0.0 if np.linalg.norm(x) == 0 else np.linalg.norm(x) + np.sum(x), 1.0),
    (lambda x: 1.0 if np.linalg.norm(x) == 0 else x[0] / np.linalg.norm(x), 0.0),
    (lambda x: 3.0 if np.linalg.norm(x) == 0 else np.sum(x), 0.0),
])  # fmt: skip
def test_norms_at_kinks_and_jumps(f: Callable[..., Any], slope: float) -> None:
    assert symgrad(f).grad(np.zeros(2)).tolist() == [slope, slope]


@pytest.mark.slow
def test_products_at_guarded_numbers() -> None:
    """The second derivatives of ((1 + k)*(1 + 2*k)*(1 + 3*k) - 1)/k = 6 + 11*k + 6*k**2."""
    found = symgrad(compound, wrt="k").hvp((X, 0.0), 2.0)
    assert np.sum(found) == pytest.approx(24.0, rel=1e-11)


def huber(x: Any, k: Any) -> Any:
    if abs(k) < 1e-4:
        return np.sum(x**2) + np.sum(x) * k * k / 2
    return np.sum(x**2) + np.sum(x) * 1e-4 * (abs(k) - 0.5e-4)


def dead_zone_of_k(x: Any, k: Any) -> Any:
    if abs(k) < 1e-4:
        return np.sum(x**2)
    return np.sum(x**2) + np.sum(x) * (k - np.sign(k) * 1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("f", "slope", "curvature"), [(huber, 3e-4, 6.0), (dead_zone_of_k, 0.0, 0.0)]
)
def test_narrow_pieces_are_no_guards(f: Any, slope: float, curvature: float) -> None:
    """Values beside them are close, but slopes or values have other limits on either side."""
    d = symgrad(f, wrt=("k",))
    assert d.grad(X, 5e-5) == pytest.approx(slope, rel=1e-14)
    assert d.hessian(X, 5e-5) == pytest.approx(curvature, rel=1e-14)
