"""What validation once took for faults: the results are right, and nobody is warned."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

import symdiff
from symdiff import symgrad
from symdiff.errors import GuardWarning
from tests.passes.evaluate import slope

pytestmark = pytest.mark.filterwarnings("error::symdiff.ValidationWarning")


TERMS = {  # and the same in many digits
    "root": (lambda x: (x**2 + x**4) ** 0.5 / x, lambda x: mp.sqrt(x**2 + x**4) / x),
    "even root": (lambda x: math.sqrt(x**2 + x**4), lambda x: mp.sqrt(x**2 + x**4)),
    "quotient": (lambda x: x**2 / math.sqrt(x**2 + x**4), lambda x: x**2 / mp.sqrt(x**2 + x**4)),
}


@pytest.mark.sampled
@pytest.mark.parametrize(("f", "true"), TERMS.values(), ids=TERMS)
@pytest.mark.parametrize("mode", ["quick", "full"])
def test_terms_of_series_cancel(f: Callable[..., Any], true: Callable[..., Any], mode: str) -> None:
    """In a Hessian the first terms of the series in a band cancel, and what it leaves out
    shows: these elements are flagged, and computed from the closed form."""
    with symdiff.options(validate=mode), mp.workdps(60):
        for g, n in ((symgrad(f), 0), (symgrad(f).grad, 1), (symgrad(f).hessian, 2)):
            for x in (1.5792185726633526e-05, -1e-5, 1.2e-5, 3e-4):
                assert g(x) == pytest.approx(float(mp.diff(true, mpf(x), n)), rel=1e-15)


def at_the_edge(x):
    assert x >= 0
    return np.sqrt(x**2)


def test_the_edge_of_an_assumption() -> None:
    f = symgrad(at_the_edge)
    assert (f(0.0), f(2.0), f.grad(2.0)) == (0.0, 2.0, 1.0)
    assert f.grad(0.0) in (0.0, 1.0)


def test_certified_results_are_those_of_balls() -> None:
    """What is compiled for them is never handed out, so it is not compared."""
    f = symgrad(
        lambda x: (1 - math.cos(math.exp(-x * x))) / math.exp(-2 * x * x), accuracy="certified"
    )
    assert (f(100.0), f.grad(100.0), f(0.0)) == (0.5, 0.0, 2 * math.sin(0.5) ** 2)


@pytest.mark.slow
def test_a_guard_whose_limit_is_zero() -> None:
    """All of the band differs from it, in relation to itself."""
    f = symgrad(lambda x: 0.0 if abs(x) < 1e-12 else (x - math.sin(x)) / x**2)
    assert (f(0.0), f.grad(0.0)) == (0.0, 1 / 6)


def product_of_constants(x):
    return np.sum(1e-200 * 1e-200 * 1e300 * x)


@pytest.mark.slow
def test_constants_that_leave_the_range_on_the_way() -> None:
    """They are exact; Python's are 0, which is not held against them."""
    x = np.array([0.5, 1.0, 2.0])
    assert symgrad(product_of_constants)(x) == pytest.approx(3.5e-100, rel=1e-15)
    assert symgrad(lambda x: np.sum(x - 1e-200 * 1e-200))(x) == 3.5
    f = symgrad(lambda x: (x + 1e-200 * 1e-200) * 1e200)
    assert f(0.0) == pytest.approx(1e-200, rel=1e-15)
    assert f(np.zeros(3)).tolist() == [f(0.0)] * 3
    assert f(1e-250) == pytest.approx(1e-50, rel=1e-15)


def squares(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] * x[i]
    return np.sum(y)


@pytest.mark.sampled
@pytest.mark.parametrize("size", [1e-20, 1e-22])
def test_underflow_in_single_precision(size: float) -> None:
    x = np.float32([0.5, 1.0, 2.0]) * np.float32(size)
    assert symgrad(squares)(x) == pytest.approx(np.sum(x * x), abs=1e-38)
    assert symgrad(squares).grad(x) == pytest.approx(2 * x, rel=1e-6)


def cancelling(x):
    return np.sum(np.cumsum(x) * (x + 1e8)) - 1e8 * np.sum(np.cumsum(x))


@pytest.mark.slow
def test_terms_of_gradients_cancel() -> None:
    x = np.linspace(0.1, 1.0, 5)
    want = np.cumsum(x) + np.cumsum(x[::-1])[::-1]
    assert symgrad(cancelling).grad(x) == pytest.approx(want, rel=1e-6)


def angle_of_sum(y, x):
    n, m = np.array([0.0, y, 1.0]), np.array([x, 0.0, -x])
    return math.atan2(np.sum(n * n) - 1 - y * y, np.sum(n * m))


ANGLES = {
    "turned": lambda y, x: math.atan2(-y, x),
    "scaled": lambda y, x: math.atan2(y * x, -x * x),
    "of a cube": lambda y, x: math.atan2(y**3, x) + x,
    "of a sum": angle_of_sum,
}


@pytest.mark.sampled
@pytest.mark.parametrize("f", ANGLES.values(), ids=ANGLES)
def test_zeros_of_either_sign_on_a_branch_cut(f: Callable[..., Any]) -> None:
    """On the cut Python goes by the sign of a zero, which no real number has."""
    g = symgrad(f, cache=False)
    for at in ((0.0, -1.0), (-0.0, -1.0), (0.0, 0.0), (1.0, 1.0), (0.0, -0.0)):
        assert abs(g(*at)) <= 5
    for at in ((0.0, -1.0), (-0.0, -1.0)):
        assert g(*at) == f(*at)
    for side in (-1, 1):  # an argument that underflows keeps its side of the cut
        found = symgrad(ANGLES["of a cube"])(side * 1e-160, -1.0)
        assert found == pytest.approx(side * math.pi - 1)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "f",
    [lambda x: math.floor(math.tanh(1 / x)), lambda x: math.log1p(1 / x),
     lambda x: math.ceil(math.erf(1 / x)), lambda x: math.log(1 + 1 / x),
     lambda x: np.sign(np.tanh(1 / x))],
)  # fmt: skip
def test_steps_and_logarithms_of_poles(f: Callable[..., Any]) -> None:
    g = symgrad(f, cache=False)
    for k in (g, g.grad, g.hessian):
        assert math.isfinite(k(0.5))


def regression(s, pay):
    a = np.stack([np.ones_like(s), s, s**2], axis=1)
    b = np.linalg.solve(a.T @ a, a.T @ pay)
    fitted = a @ b
    return np.mean(np.where(pay > fitted, pay, fitted))


@pytest.mark.slow
def test_normal_equations_square_what_rounding_costs() -> None:
    """LAPACK is right for a matrix that differs by rounding from `a.T @ a`, whose condition is the square of
    that of the arguments."""
    s, pay = np.array([1.0, 1.1, 0.9, 0.8]), np.array([0.1, 0.0, 0.2, 0.3])
    assert symgrad(regression)(s, pay) == pytest.approx(0.15, rel=1e-12)
    wide = np.linspace(90.0, 110.0, 6)
    assert symgrad(regression)(wide, wide / 200) == pytest.approx(0.5, rel=1e-6)


def weno(v):
    a, b, c = v
    w = np.array([1 / 3, 2 / 3]) / (1e-6 + np.array([(b - a) ** 2, (c - b) ** 2])) ** 2
    w = w / w.sum()
    return w @ np.array([3 * b - a, b + c]) / 2


@pytest.mark.slow
@pytest.mark.filterwarnings("error::symdiff.GuardWarning")
def test_an_epsilon_that_costs_less_than_itself_is_no_wrong_guard() -> None:
    """Where a smoothness indicator vanishes, the weight of the other is 1e-12 for 0."""
    v = [1.0, 2.0, 4.0]
    f = symgrad(weno)
    assert f(v) == pytest.approx(weno(np.array(v)), rel=1e-14)
    f.grad(v)


def test_an_epsilon_that_changes_the_limit_is_named() -> None:
    with pytest.warns(symdiff.GuardWarning, match="0.0 against 1.0"):
        symgrad(lambda x: np.sin(x) / (x + 1e-9)).grad(1.0)


def gamma_of_display(c):
    return np.where(
        c <= 0.0031308, 12.92 * c, 1.055 * np.maximum(c, 0.0031308) ** (1 / 2.4) - 0.055
    )


@pytest.mark.sampled
@pytest.mark.parametrize("x", [0.5, 3.0, 1e9, 1e40, 2.5887589630449824e160, 1e300])
def test_exponents_that_are_rounded(x: float) -> None:
    """1/2.4 - 1 is no double: its rounding costs 80 ulp where the base is 1e160."""
    with mp.workdps(50):
        q = mpf(1 / 2.4)
        want = mpf(1.055) * q * mpf(x) ** (q - 1)
        assert symgrad(gamma_of_display).grad(x) == pytest.approx(float(want), rel=4e-15)


@pytest.mark.sampled
@pytest.mark.parametrize("q", [1 / 90, 0.011, 1 / 89, 1 / 93, 0.3])
def test_exponents_of_which_no_base_is_too_large(q: float) -> None:
    f = symgrad(lambda x: x**q)
    assert f(2.0) == pytest.approx(2.0**q, rel=1e-15)
    assert f(1e300) == pytest.approx(float(mp.mpf(1e300) ** mpf(q)), rel=1e-14)


def test_where_scipy_is_off():
    stats = pytest.importorskip("scipy.stats")
    assert symgrad(lambda x: stats.t.cdf(x, 1))(1e-8) == pytest.approx(
        0.5 + 1e-8 / np.pi, rel=1e-15
    )
    f = symgrad(lambda x: np.sum(stats.t.cdf(x, 1)))
    assert f(np.array([1e-8, 2e-8])) == pytest.approx(1 + 3e-8 / np.pi, rel=1e-15)


@pytest.mark.sampled
@pytest.mark.parametrize(("f", "x", "want"), [
    (lambda x: math.copysign(1.0, x), -0.0, 1.0),
    (lambda x: np.copysign(2.0, x), np.array([-0.0, 0.0, -3.0]), [2.0, 2.0, -2.0]),
    (lambda x: np.sum(np.copysign(1.0, x)), np.array([-0.0, 2.0]), 2.0),
    (lambda x: np.copysign(x, x[::-1]), np.array([-0.0, 2.0]), [0.0, 2.0]),
])  # fmt: skip
def test_zeros_have_no_sign(f: Any, x: Any, want: Any) -> None:
    """By convention: neither the first call nor the following ones take it for a fault."""
    g = symgrad(f)
    for _ in range(2):
        np.testing.assert_array_equal(g(x), want)


def vegetation(red, near):
    total = near + red
    return np.where(total == 0, 0.0, (near - red) / np.where(total == 0, 1.0, total))


POLES = {
    "reduced mass": (lambda a, b: a * b / (a + b) if a + b else 0.0, (1.0, 2.0)),
    "slope of two points": (lambda x1, y1, x2, y2: 0.0 if x2 == x1 else (y2 - y1) / (x2 - x1), (1.0, 2.0, 3.0, 5.0)),
    "thin lens": (lambda distance, focal: 0.0 if distance == focal else 1 / (1 / focal - 1 / distance), (1.0, 2.0)),
    "vegetation": (vegetation, (1.0, 2.0)),
    "cube": (lambda a, b: 0.0 if a == b else 1 / (a - b) ** 3, (1.0, 2.0)),
    "decimal": (lambda a: 1 / (a - 0.446) if a != 0.446 else 0.0, (1.0,)),
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize(("f", "args"), POLES.values(), ids=POLES)
def test_a_value_at_a_pole_lies_on_a_line_with_its_neighbours(f, args):
    """Of an odd pole: no difference of values at its sides is a slope."""
    plain = f if f is not vegetation else lambda r, n: (n - r) / (n + r)
    for k, got in enumerate(np.atleast_1d(symgrad(f).grad(*args))):
        assert got == pytest.approx(slope(plain, args, k), rel=1e-14)


def test_a_rounded_quotient_that_is_an_integer() -> None:
    def f(x):
        n = int(1 / x) if x != 0 else 100
        return n * x

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GuardWarning)
        g = symgrad(f).grad
        assert [g(0.3), g(-0.05), g(0.0)] == [3.0, -20.0, 100.0]  # 1/-0.05 is -20 in doubles only
