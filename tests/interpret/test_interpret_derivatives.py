"""Derivatives at and near singular points: evaluating the differentiated formula by
limits gives the derivative of the continuous extension."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import pytest

from symdiff import ir
from symdiff.interpret import Certified
from symdiff.ir import Expr, const, lt, sqrt, var, where
from symdiff.ir.functions import (  # fmt: skip
    ABS,
    ACOS,
    ATAN,
    COS,
    COSH,
    ERF,
    EXP,
    HYPOT,
    LGAMMA,
    LOG,
    LOG1P,
    MAXIMUM,
    SIN,
    SINC,
    SINH,
    TANH,
)
from symdiff.passes.differentiate import gradient

x, y, z = var("x"), var("y"), var("z")
inf = math.inf
F = Fraction

CASES: dict[str, tuple[Expr, float, tuple[Any, Any, Any]]] = {
    "cosine": ((1 - COS(x)) / x**2, 0.0, (F(1, 2), 0, F(-1, 12))),
    "rodrigues": ((x - SIN(x)) / x**3, 0.0, (F(1, 6), 0, F(-1, 60))),
    "acos": (ACOS(x) / sqrt(1 - x**2), 1.0, (1, F(-1, 3), F(4, 15))),
    "atan": (ATAN(sqrt(x)) / sqrt(x), 0.0, (1, F(-1, 3), F(2, 5))),
    "decay": ((1 - EXP(-5 * x)) / x, 0.0, (5, F(-25, 2), F(125, 3))),
    "bernoulli": (x / (EXP(x) - 1), 0.0, (1, F(-1, 2), F(1, 6))),
    "langevin": (COSH(x) / SINH(x) - 1 / x, 0.0, (0, F(1, 3), 0)),
    "log mean": ((x - 1) / LOG(x), 1.0, (1, F(1, 2), F(-1, 6))),
    "box-cox": (LOG1P(2 * x) / x, 0.0, (2, -2, F(16, 3))),
    "phi3": ((EXP(x) - 1 - x - x**2 / 2) / x**3, 0.0, (F(1, 6), F(1, 24), F(1, 60))),
    "softplus": (LOG(1 + EXP(x)), 800.0, (800, 1, 0)),
    "quotient": ((x**2 - 4) / (x - 2), 2.0, (4, 1, 0)),
    "planck": (x**3 / (EXP(x) - 1), 0.0, (0, 0, 2)),
    "x/tanh": (x / TANH(x), 0.0, (1, 0, F(2, 3))),
    "sinc of |x|": (SIN(sqrt(x * x)) / sqrt(x * x), 0.0, (1, 0, F(-1, 3))),
    "bump": (EXP(-1 / x**2), 0.0, (0, 0, 0)),
    "gamma": (LGAMMA(1 + x) / x, 0.0, (-0.5772156649015329, 0.8224670334241132, -0.8013712687730629)),
    "erf": (ERF(x) / x, 0.0, (1.1283791670955126, 0, -0.7522527780636751)),
}  # fmt: skip
NEAR = sorted(s * 10.0**-k for k in (1, 3, 6, 9, 12) for s in (1, -1))


def derivatives(f: Expr) -> Certified:
    first = gradient(f, [x])[0]
    return Certified([x], [f, first, gradient(first, [x])[0]], primals=[f, first])


@pytest.mark.sampled
@pytest.mark.parametrize("name", CASES)
def test_at_the_point(name: str) -> None:
    f, point, want = CASES[name]
    assert derivatives(f).at([point]) == tuple(float(w) for w in want)


@pytest.mark.sampled
@pytest.mark.parametrize("name", [n for n in CASES if n not in ("gamma",)])
def test_near_the_point(name: str) -> None:
    f, centre, _ = CASES[name]
    program = derivatives(f)
    with mpmath.workdps(150):
        for step in NEAR:
            point = centre + step
            if (name == "acos" and point > 1) or (name == "atan" and point < 0):
                continue
            got = program.at_with_status([point])
            for order, answer in enumerate(got):
                want = mpmath.diff(lambda t: in_mpmath(f, t), mpmath.mpf(point), order)
                assert answer.status == "exact"
                assert math.isclose(answer.value, want, rel_tol=2**-52, abs_tol=1e-300), (
                    point,
                    order,
                )


def in_mpmath(f: Expr, t: Any) -> Any:
    """The value of a formula of x by mpmath."""
    values: dict[Expr, Any] = {x: t}
    arithmetic = {
        ir.ADD: lambda a, b: a + b, ir.SUB: lambda a, b: a - b, ir.MUL: lambda a, b: a * b,
        ir.DIV: lambda a, b: a / b, ir.NEG: lambda a: -a, ir.POW: lambda a, b: a**b, ABS: abs,
    }  # fmt: skip
    for e in ir.topological([f]):
        if e.op is ir.CONST:
            values[e] = mpmath.mpf(e.value.numerator) / e.value.denominator
        elif e.args:
            function = arithmetic.get(e.op) or getattr(mpmath, e.op.name)
            values[e] = function(*(values[a] for a in e.args))
    return values[f]


def hessian(f: Expr, params: list[Expr], point: list[float]) -> tuple[list[float], list[float]]:
    g = gradient(f, params)
    second = [h for d in g for h in gradient(d, params)]
    got = Certified(params, [f, *g, *second], primals=[f]).at(point)
    return list(got[: 1 + len(params)]), list(got[1 + len(params) :])


t = sqrt(x * x + y * y + z * z)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("f", "value", "curvature"),
    [
        (SIN(t) / t, 1, F(-1, 3)),
        ((1 - COS(t)) / t**2, F(1, 2), F(-1, 12)),
        ((t - SIN(t)) / t**3, F(1, 6), F(-1, 60)),
        (t**2, 0, 2),
        (ATAN(t) / t, 1, F(-2, 3)),
    ],
)
def test_functions_of_a_rotation_vector(f: Expr, value: Fraction, curvature: Fraction) -> None:
    first, second = hessian(f, [x, y, z], [0.0, 0.0, 0.0])
    assert first == [float(value), 0, 0, 0]
    assert second == [float(curvature) * (i == j) for i in range(3) for j in range(3)]


def test_hypot_is_smooth_when_squared() -> None:
    first, second = hessian(HYPOT(x, y) ** 2, [x, y], [0.0, 0.0])
    assert (first, second) == ([0, 0, 0], [2, 0, 0, 2])


def test_the_norm_itself_has_a_kink() -> None:
    for norm in (HYPOT(x, y), sqrt(x * x + y * y)):
        first, second = hessian(norm, [x, y], [0.0, 0.0])
        assert first == [0, 0, 0]
        assert not any(map(math.isfinite, second))


def test_across_a_line() -> None:
    first, second = hessian((EXP(x) - EXP(y)) / (x - y), [x, y], [0.0, 0.0])
    assert first == [1, 0.5, 0.5]
    assert second == [1 / 3, 1 / 6, 1 / 6, 1 / 3]
    first, second = hessian((x - y) / LOG(x / y), [x, y], [2.0, 2.0])
    assert first == [2, 0.5, 0.5]
    assert second == [-1 / 12, 1 / 12, 1 / 12, -1 / 12]


def test_log_sum_exp_at_a_thousand() -> None:
    first, second = hessian(LOG(EXP(x) + EXP(y) + EXP(z)), [x, y, z], [1000.0, 1000.0, -1000.0])
    assert first[1:] == [0.5, 0.5, 0.0]
    assert second == [0.25, -0.25, 0.0, -0.25, 0.25, 0.0, 0.0, 0.0, 0.0]


def black_scholes() -> Expr:
    """A call of strike 100 with r = 0, of the price x and the time y to expiry."""
    spread = const(0.3) * sqrt(y)
    d1 = (LOG(x / 100) + const(0.3) ** 2 * y / 2) / spread
    normal = lambda d: (1 + ERF(d / sqrt(const(2)))) / 2
    return x * normal(d1) - 100 * normal(d1 - spread)


@pytest.mark.parametrize(("price", "value", "delta"), [(90.0, 0.0, 0.0), (110.0, 10.0, 1.0)])
def test_black_scholes_at_expiry(price: float, value: float, delta: float) -> None:
    f = black_scholes()
    program = Certified([x, y], [f, *gradient(f, [x, y])], primals=[f])
    assert program.at([price, 0.0]) == (value, delta, 0.0)


def test_black_scholes_at_the_money_is_not_invented() -> None:
    f = black_scholes()
    program = Certified([x, y], [f, *gradient(f, [x, y])], primals=[f])
    price, delta, theta = program.at_with_status([100.0, 0.0])
    assert (price.value, price.status) == (0.0, "limit")
    assert math.isnan(delta.value)
    assert (theta.value, theta.status) == (inf, "pole")


def test_square_root_at_zero() -> None:
    assert derivatives(sqrt(x)).at([0.0]) == (0.0, inf, -inf)


def test_the_branch_that_is_taken_counts() -> None:
    assert derivatives(where(lt(0, x), sqrt(x), 0)).at([0.0]) == (0, 0, 0)
    assert derivatives(where(lt(0, x), x, 0)).at([0.0]) == (0, 0, 0)
    assert derivatives(where(lt(x, 0), 0, x**2)).at([0.0]) == (0, 0, 2)


def test_kinks_follow_the_table() -> None:
    assert derivatives(ABS(x)).at([0.0])[:2] == (0, 0)
    assert derivatives(MAXIMUM(x, -x)).at([0.0])[:2] == (0, 0)
    assert derivatives(MAXIMUM(x, 3 * x)).at([0.0])[:2] == (0, 2)
    assert derivatives(ABS(x) * SIN(x) / x).at([0.0])[:2] == (0, 0)


def test_no_derivative_of_what_jumps() -> None:
    got = derivatives(ATAN(1 / x)).at([0.0])
    assert all(map(math.isnan, got))


def test_derivatives_of_sinc() -> None:
    program = derivatives(SINC(x))
    assert program.at([0.0])[:2] == (1.0, 0.0)
    assert math.isclose(program.at([1e-9])[2], -(math.pi**2) / 3, rel_tol=1e-15)


def test_second_derivative_of_sinc_at_zero() -> None:
    assert math.isclose(derivatives(SINC(x)).at([0.0])[2], -(math.pi**2) / 3, rel_tol=1e-15)
