"""Passes as functions of formulas: beside what SymPy documents, and beside mpmath; and Taylor coefficients
along a direction."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sp

from symdiff import (
    DomainError,
    SymdiffError,
    UnsupportedError,
    cancel,
    complete,
    series_at,
    simplify,
    symgrad,
)
from symdiff.api.calculus import Completed

x, y, z, a, b, n = sp.symbols("x y z a b n")
oo = sp.oo


CANCELLED = [
    ((x**2 - 1) / (x - 1), x + 1), (x / (x * y), 1 / y), ((x**2 - y**2) / (x + y), x - y),
    ((x**2 + 2 * x + 1) / (x**2 + x), (x + 1) / x), ((x**3 - 1) / (x**2 - 1), (x**2 + x + 1) / (x + 1)),
    ((sp.sin(x) ** 2 - 1) / (sp.sin(x) - 1), sp.sin(x) + 1), ((2 * x - 2) / (4 * x - 4), sp.Rational(1, 2)),
    ((sp.exp(2 * x) - 1) / (sp.exp(x) - 1), sp.exp(x) + 1), ((x - y) / (y - x), -sp.Integer(1)),
    (((x - 1) ** 10 - (x - 1)) / (x - 1), (x - 1) ** 9 - 1), ((a * x + b * x) / (a + b), x),
    ((x**2 - 5 * x + 6) / (x - 3), x - 2), ((x**4 - 1) / (x - 1), x**3 + x**2 + x + 1),
    (1 / (x - 1) - 2 / (x**2 - 1), 1 / (x + 1)),
]  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("given", "wanted"), CANCELLED, ids=str)
def test_cancelled_as_documented(given: sp.Expr, wanted: sp.Expr) -> None:
    """The same function, and singular where the documented result is, not elsewhere."""
    found = cancel(given)
    assert sp.expand(sp.numer(sp.together(found - wanted))) == 0
    assert sp.degree_list(sp.denom(sp.together(found)), x, y) == sp.degree_list(
        sp.denom(sp.together(wanted)), x, y
    )


LIMITS = [
    (sp.sin(x) / x, x, 0, 1), ((1 - sp.cos(x)) / x**2, x, 0, sp.Rational(1, 2)),
    ((sp.sin(x) - x) / x**3, x, 0, -sp.Rational(1, 6)), (sp.tan(x) / sp.sin(3 * x), x, 0, sp.Rational(1, 3)),
    ((sp.exp(x) - 1) / x, x, 0, 1), (sp.log(1 + x) / x, x, 0, 1), (sp.log(x) / (x - 1), x, 1, 1),
    ((sp.sqrt(x + 3) - sp.sqrt(3)) / x, x, 0, sp.sqrt(3) / 6), ((x**n - 1) / (x - 1), x, 1, n),
    ((1 + x) ** (1 / x), x, 0, sp.E), ((1 + a / x) ** x, x, oo, sp.exp(a)), (sp.sqrt(x**2 + x) - x, x, oo, sp.Rational(1, 2)),
    ((5 * x**3 - 1) / (2 * x**3 + x), x, oo, sp.Rational(5, 2)), (x * sp.sin(1 / x), x, oo, 1),
    (x * sp.log(1 + 1 / x), x, oo, 1), ((sp.cos(x) - 1) / sp.sin(x), x, 0, 0),
    ((sp.sin(a * x) - sp.sin(b * x)) / x, x, 0, a - b), (sp.sin(x) / (x - sp.pi), x, sp.pi, -1),
    ((sp.sqrt(2 * x + 1) - 3) / (sp.sqrt(x - 2) - sp.sqrt(2)), x, 4, 2 * sp.sqrt(2) / 3),
    (sp.sqrt(x + 1) - sp.sqrt(x), x, oo, 0), (sp.acos(1 - x) ** 2 / x, x, 0, 2), (1 / x - 1 / sp.sin(x), x, 0, 0),
    (sp.coth(x) - 1 / x, x, 0, 0), ((a**x - b**x) / x, x, 0, sp.log(a) - sp.log(b)),
]  # fmt: skip


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("e", "v", "at", "wanted"), LIMITS, ids=str)
def test_limits_as_documented(e: sp.Expr, v: sp.Symbol, at: object, wanted: object) -> None:
    """The constant term of the series is the limit, as no term has a negative exponent."""
    found = series_at(e, v, at, n=1)
    found = found.subs(v, at) if at is not oo else found.subs(v, 1 / z).subs(z, 0)
    assert sp.simplify(found - wanted) == 0


ONE_SIDED = [
    (sp.Abs(x), 0, 1, x), (sp.Abs(x), 0, -1, -x), (sp.floor(x), 1, 1, 1), (sp.floor(x), 1, -1, 0),
    (sp.sqrt(x) * sp.exp(x), 0, 1, sp.sqrt(x)), (sp.sign(x) / x, 0, -1, -1 / x), (sp.sqrt(x**2) / x, 0, 1, 1),
]  # fmt: skip


@pytest.mark.parametrize(("e", "at", "side", "wanted"), ONE_SIDED, ids=str)
def test_one_side(e: sp.Expr, at: int, side: int, wanted: object) -> None:
    assert sp.simplify(series_at(e, x, at, n=1 if wanted not in (x, -x) else 2, side=side) - wanted) == 0  # fmt: skip


SERIES = [
    (sp.exp(sp.sin(x)), 0), (sp.tan(x), sp.pi / 2), (1 / sp.sin(x), 0), (sp.log(x) ** 2, 3),
    (sp.gamma(x), 1), (sp.sqrt(sp.cos(x)), sp.Rational(1, 3)), (sp.erf(x), -2), (sp.cos(sp.sqrt(x + 1)), -1),
    (x / (sp.exp(x) - 1), 0), (sp.sin(x) ** 2 / x**5, 0), (sp.atanh(x), 0), (sp.cot(x) ** 2, 0),
]  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize(("e", "at"), SERIES, ids=str)
def test_terms_beside_mpmath(e: sp.Expr, at: sp.Expr) -> None:
    """What is left out falls like the first power that is: tenfold nearer, as many times less."""
    found = series_at(e, x, at, n=6)
    left = []
    with mpmath.workdps(80):
        for h in (sp.Rational(1, 10**4), sp.Rational(1, 10**5)):
            point = {x: sp.sympify(at) + h}
            left.append(abs(sp.N((e - found).subs(point), 60)))
    assert left[0] < 1e-16
    assert left[1] <= left[0] / 10**6 * sp.Float(1.1)


def test_completed() -> None:
    found = complete(sp.sin(x) / x)
    assert found.expr.subs(x, 0) == 1
    assert found.expr.subs(x, 2) == sp.sin(2) / 2
    (point,) = found.filled
    assert (point.where, point.formula, point.value) == (sp.Eq(x, 0), sp.sin(x) / x, 1)
    assert complete((x**2 - 4) / (x - 2)) == Completed(x + 2, ())
    assert complete("1/x + log(y)").filled == ()
    surface = complete((sp.exp(x) - sp.exp(y)) / (x - y))
    assert [(p.where, p.value) for p in surface.filled] == [(sp.Eq(x, y), sp.exp(y))]
    assert surface.expr.subs({x: 1, y: 1}) == sp.E
    irrational = complete((sp.sqrt(x + 3) - sp.sqrt(3)) / x)
    assert irrational.filled[0].value == sp.sqrt(3) / 6
    several = complete([sp.sin(x) / x, (1 - sp.cos(y)) / y**2])
    assert {(p.where, p.value) for p in several.filled} == {
        (sp.Eq(x, 0), 1),
        (sp.Eq(y, 0), sp.Rational(1, 2)),
    }
    kink = complete(sp.Abs(x) / x)
    assert kink.filled == ()


SIMPLIFIED = [
    (sp.sin(x) ** 2 + sp.cos(x) ** 2, 1), ((x + x * y) / x, y + 1), (sp.exp(x) * sp.exp(-x), 1),
    (sp.cosh(x) ** 2 - sp.sinh(x) ** 2, 1), (2 * sp.sin(x) * sp.cos(x), sp.sin(2 * x)),
    (1 / x + 1 / y, (x + y) / (x * y)), ((4 + 4 * x - 2 * (2 + 2 * x)) / (2 + 2 * x), 0),
    (x**2 * y**-1 / (x * y**-2), x * y), (sp.sqrt(x**2), sp.Abs(x)), (sp.log(sp.exp(x)), x),
    (sp.exp(x + sp.log(y)), y * sp.exp(x)), ((x**2 + 2 * x + 1) / (x + 1), x + 1), (sp.tan(x) * sp.cos(x), sp.sin(x)),
]  # fmt: skip


@pytest.mark.parametrize(("given", "wanted"), SIMPLIFIED, ids=str)
def test_simplified_as_documented_or_shorter(given: sp.Expr, wanted: object) -> None:
    found, wanted = simplify(given), sp.sympify(wanted)
    assert found.count_ops() <= wanted.count_ops()
    for p in ({x: 0.7, y: 1.9}, {x: 1.3, y: 0.4}):
        assert abs(sp.N((found - wanted).subs(p))) < 1e-13


REFUSED = [
    ("log(x)", 0, {}, "grows like a logarithm"), ("exp(1/x)", 0, {}, "infinite argument"),
    ("abs(x)", 0, {}, "another series on either side"), ("sqrt(x)", 0, {"side": -1}, "not defined there"),
    ("log(x)", -1, {}, "not defined there"), ("x", "y", {}, "is no constant"), ("x", "0/0", {}, "no real number"), ("x", sp.nan, {}, "no real number"),
    ("x", 0, {"side": 2}, "side is 2"), ("x", 0, {"n": 1.5}, "n is 1.5"), ("x**y", 0, {}, "no series at x = 0"),
]  # fmt: skip


@pytest.mark.parametrize(("e", "at", "options", "text"), REFUSED, ids=str)
def test_refused(e: str, at: object, options: dict[str, int], text: str) -> None:
    with pytest.raises(SymdiffError, match=text):
        series_at(e, "x", at, **options)


def test_what_is_no_formula() -> None:
    for f in (cancel, complete, lambda e: series_at(e, "x")):
        with pytest.raises(SymdiffError, match="neither a text nor a SymPy expression"):
            f(3)
    with pytest.raises(SymdiffError, match="the variable 'q' does not occur"):
        series_at("x", "q")


# --- Taylor coefficients along a direction
@pytest.mark.sampled(2)
@pytest.mark.parametrize("order", [0, 1, 5, 30])
def test_coefficients_are_right_to_the_last_digit(order: int) -> None:
    def f(m: Any, x: Any) -> Any:
        return m.exp(m.sin(x)) * m.log1p(x)

    found = symgrad(lambda x: f(math, x)).taylor(0.37, order=order)
    with mpmath.workdps(60):
        wanted = mpmath.taylor(lambda x: f(mpmath, x), mpmath.mpf(0.37), order)
    assert found.shape == (order + 1,)
    np.testing.assert_allclose(found, [float(w) for w in wanted], rtol=2.3e-16)


def test_a_direction_of_several_variables() -> None:
    f = symgrad(lambda x, y: math.sin(x * y) / y)
    found = f.taylor(0.3, 0.7, order=4, direction=(1.0, 2.0))
    with mpmath.workdps(60):
        x, y = mpmath.mpf(0.3), mpmath.mpf(0.7)
        wanted = mpmath.taylor(lambda t: mpmath.sin((x + t) * (y + 2 * t)) / (y + 2 * t), 0, 4)
    np.testing.assert_allclose(found, [float(w) for w in wanted], rtol=2.3e-16)
    assert found[1] == pytest.approx(np.dot(f.grad(0.3, 0.7), (1.0, 2.0)), rel=1e-15)


def test_a_removable_singularity() -> None:
    found = symgrad(lambda x: math.sin(x) / x if x else 1.0).taylor(0.0, order=6)
    np.testing.assert_array_equal(found, [1, 0, -1 / 6, 0, 1 / 120, 0, -1 / 5040])


@pytest.mark.sampled(4)
@pytest.mark.parametrize("x", [0.0, 5e-7, 0.3])
def test_a_guard_in_a_band(x: float) -> None:
    f = symgrad(lambda x: 1.0 if abs(x) < 1e-6 else math.sin(x) / x)
    value, slope, half = f.taylor(x, order=2)
    assert (value, slope, 2 * half) == pytest.approx((f(x), f.grad(x), f.hessian(x)), rel=1e-14)


def test_a_guard_that_holds_its_value() -> None:
    f = symgrad(lambda x: 1.0 if abs(x) < 1e-4 else math.expm1(x) / x)
    found = f.taylor(5e-5, order=2)
    assert found[0] == f(5e-5) == 1.0
    assert found[1:] == pytest.approx([f.grad(5e-5), f.hessian(5e-5) / 2], rel=1e-14)


def test_several_results() -> None:
    first, second = symgrad(lambda x: (x**2, {"cube": x**3})).taylor(2.0, order=3)
    np.testing.assert_array_equal(first, [4, 4, 1, 0])
    np.testing.assert_array_equal(second["cube"], [8, 12, 6, 1])


@pytest.mark.parametrize(
    ("f", "x", "why"),
    [
        (abs, 0.0, "another series on either side"),
        (lambda x: math.sqrt(x), 0.0, "exponents"),
        (lambda x: 1 / x, 0.0, "poles"),
        (lambda x: math.log(x), -1.0, "not defined"),
        (lambda x: 5.0 if x == 0 else x, 0.0, "jumps to its value"),
        (lambda x: x, math.inf, "not finite"),
    ],
)
def test_where_there_is_none(f: Any, x: float, why: str) -> None:
    g = symgrad(lambda x: f(x))
    with pytest.raises(SymdiffError, match=why):
        g.taylor(x, order=2)


def test_outside_of_an_asserted_domain() -> None:
    def f(x: float) -> float:
        assert x > 0
        return x * x

    with pytest.raises(DomainError):
        symgrad(f).taylor(-1.0, order=2)


def test_what_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="arrays or loops"):
        symgrad(lambda x: np.sum(x)).taylor(np.ones(3), order=2)
    with pytest.raises(UnsupportedError, match="of the derivative"):
        symgrad(lambda x: x * x).grad.taylor(1.0, order=2)
    with pytest.raises(SymdiffError, match="needs a direction"):
        symgrad(lambda x, y: x * y).taylor(1.0, 2.0, order=2)
    with pytest.raises(SymdiffError, match="order is -1"):
        symgrad(lambda x: x).taylor(1.0, order=-1)
