"""Removable singularities of plain functions: f, f' and f'' at the point, near it and far off.

The truth is the function that is meant, in mpmath with hundreds of digits: the values at six
points around one, and the derivatives there of the polynomial through them. So the formula is
never evaluated where it is singular, and nothing of symdiff is part of the truth.
"""

from __future__ import annotations

import contextlib
import math
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.special

from symdiff import symgrad

DIGITS = 500
STEP = mpmath.mpf(10) ** -40
NOTHING = mpmath.mpf(10) ** -120
ULP = 4
OF_LIBRARIES = 16
"""The bound of the default level, for functions that libraries have to some units."""

EXACT = types.SimpleNamespace(
    sin=mpmath.sin, cos=mpmath.cos, tan=mpmath.tan, exp=mpmath.exp, log=mpmath.log,
    sqrt=mpmath.sqrt, sinh=mpmath.sinh, cosh=mpmath.cosh, tanh=mpmath.tanh, arctan=mpmath.atan,
    arcsin=mpmath.asin, arccos=mpmath.acos, arctan2=mpmath.atan2, erf=mpmath.erf,
    gamma=mpmath.gamma, arcsinh=mpmath.asinh, expm1=lambda x: mpmath.exp(x) - 1,
    log1p=lambda x: mpmath.log(1 + x), abs=abs, pi=mpmath.pi, e=mpmath.e,
)  # fmt: skip
PLAIN = types.SimpleNamespace(
    **{name: getattr(np, name) for name in vars(EXACT) if name not in ("erf", "gamma", "pi", "e")},
    erf=math.erf, gamma=math.gamma, pi=math.pi, e=math.e,
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A function of the names of a library and of numbers, singular at a point.

    `along` is the line through the point on which it is tried; `side` is 1 or -1 if it is
    defined on that side only. `meant` is the function whose literals are not rounded."""

    fun: Callable[..., Any]
    point: tuple[float, ...] = (0.0,)
    along: tuple[float, ...] = (1.0,)
    side: int = 0
    meant: Callable[..., Any] | None = None

    def plain(self) -> Any:
        fun = self.fun
        match len(self.point):
            case 1:
                return symgrad(lambda x: fun(PLAIN, x))
            case 2:
                return symgrad(lambda x, y: fun(PLAIN, x, y))
            case _:
                return symgrad(lambda x, y, z: fun(PLAIN, x, y, z))


def norm(m: Any, *x: Any) -> Any:
    return m.sqrt(sum(v * v for v in x))


def three_rates(m: Any, a: Any, b: Any, c: Any) -> Any:
    """The last of a chain of three decays (Bateman, 1910)."""
    first = m.exp(-a) / ((b - a) * (c - a))
    return first + m.exp(-b) / ((a - b) * (c - b)) + m.exp(-c) / ((a - c) * (b - c))


def radial(m: Any, x: Any, y: Any) -> Any:
    """A fisheye lens with distortion (Kannala and Brandt, 2006)."""
    t = m.arctan(norm(m, x, y))
    return x * t * (1 + t**2 / 8 - t**4 / 16) / norm(m, x, y)


def stumpff(m: Any, x: Any) -> Any:
    """The second function of Stumpff (1947), of orbits of either sign of energy."""
    if x > 0:
        return (1 - m.cos(m.sqrt(x))) / x
    if x < 0:
        return (m.cosh(m.sqrt(-x)) - 1) / -x
    return 0.5


SLANTED = {"point": (0.0, 0.0, 0.0), "along": (1.0, 0.5, -0.25)}
IN_THE_PLANE = {"point": (0.0, 0.0), "along": (1.0, 0.5)}
BY_THE_FIRST = {"along": (1.0, 0.0)}
CASES: dict[str, Case] = {
    "(log(1+x)-x)/x**2": Case(lambda m, x: (m.log(1 + x) - x) / x**2),
    "(x-sin(x))/(1-cos(x))": Case(lambda m, x: (x - m.sin(x)) / (1 - m.cos(x))),
    "(tan(x)-x)/x**3": Case(lambda m, x: (m.tan(x) - x) / x**3),
    "(cos(x)-1+x**2/2)/x**4": Case(lambda m, x: (m.cos(x) - 1 + x**2 / 2) / x**4),
    "(sin(tan(x))-tan(sin(x)))/x**7": Case(
        lambda m, x: (m.sin(m.tan(x)) - m.tan(m.sin(x))) / x**7
    ),
    "(2x-3sin(x)+x*cos(x))/(2x**5)": Case(
        lambda m, x: (2 * x - 3 * m.sin(x) + x * m.cos(x)) / (2 * x**5)
    ),
    "1/x**2-1/sin(x)**2": Case(lambda m, x: 1 / x**2 - 1 / m.sin(x) ** 2),
    "1/log(1+x)-1/x": Case(lambda m, x: 1 / m.log(1 + x) - 1 / x),
    "(1+x)**(1/x)": Case(lambda m, x: (1 + x) ** (1 / x)),
    "cos(x)**(1/x**2)": Case(lambda m, x: m.cos(x) ** (1 / x**2)),
    "log(sin(x)/x)/x**2": Case(lambda m, x: m.log(m.sin(x) / x) / x**2),
    "x**4*exp(x)/(exp(x)-1)**2": Case(lambda m, x: x**4 * m.exp(x) / (m.exp(x) - 1) ** 2),
    "sin(x)/x*tan(x)/x*(1-cos(x))/x**2": Case(
        lambda m, x: m.sin(x) / x * m.tan(x) / x * (1 - m.cos(x)) / x**2
    ),
    "gamma(x)*sin(x)": Case(lambda m, x: m.gamma(x) * m.sin(x)),
    "erf(sqrt(x))/sqrt(x)": Case(lambda m, x: m.erf(m.sqrt(x)) / m.sqrt(x), side=1),
    "sqrt(2-2cos(x))/abs(x)": Case(lambda m, x: m.sqrt(2 - 2 * m.cos(x)) / m.abs(x)),
    "(x**x-1)/(x-1)": Case(lambda m, x: (x**x - 1) / (x - 1), (1.0,)),
    "arccos(x)**2/(1-x)": Case(lambda m, x: m.arccos(x) ** 2 / (1 - x), (1.0,), side=-1),
    "the logarithm of a rotation, by its trace": Case(
        lambda m, x: m.arccos((x - 1) / 2) / (2 * m.sin(m.arccos((x - 1) / 2))), (3.0,), side=-1
    ),
    "a rate of Hodgkin and Huxley": Case(
        lambda m, x: 0.125 * (25 - x) / (m.exp((25 - x) / 10) - 1), (25.0,)
    ),
    "Goldman's flux": Case(
        lambda m, x, y: x * (y - 5 * m.exp(-x / 25)) / (1 - m.exp(-x / 25)),
        (0.0, 140.0), **BY_THE_FIRST,
    ),
    "the norm of a rotation": Case(
        lambda m, x, y, z: (1 - m.cos(norm(m, x, y, z))) / norm(m, x, y, z) ** 2, **SLANTED
    ),
    "the left Jacobian of a rotation": Case(
        lambda m, x, y, z: x * y * (norm(m, x, y, z) - m.sin(norm(m, x, y, z)))
        / norm(m, x, y, z) ** 3, **SLANTED,
    ),
    "an entry of a rotation, by its axis": Case(
        lambda m, x, y, z: (1 - m.cos(norm(m, x, y, z))) * (x / norm(m, x, y, z))
        * (y / norm(m, x, y, z)) + m.sin(norm(m, x, y, z)) * (z / norm(m, x, y, z)), **SLANTED,
    ),
    "the same on the diagonal": Case(
        lambda m, x, y, z: m.cos(norm(m, x, y, z)) + (1 - m.cos(norm(m, x, y, z)))
        * (x / norm(m, x, y, z)) * (x / norm(m, x, y, z)), **SLANTED,
    ),
    "a vortex": Case(
        lambda m, x, y: x * (1 - m.exp(-(x * x + y * y))) / (x * x + y * y), **IN_THE_PLANE
    ),
    "a lens": Case(radial, **IN_THE_PLANE),
    "a lens without distortion": Case(
        lambda m, x, y: m.arctan(2 * y * m.tan(x / 2)) / x, (0.0, 0.75), **BY_THE_FIRST
    ),
    "the logarithmic mean": Case(
        lambda m, x, y: (x - y) / (m.log(x) - m.log(y)), (2.0, 2.0), (1.0, -1.0)
    ),
    "a difference of cosines": Case(
        lambda m, x, y: (m.cos(x) - m.cos(y)) / (x**2 - y**2), (1.0, -1.0), (1.0, -1.0)
    ),
    "powers with close exponents": Case(
        lambda m, x, y: (2.5**x - 2.5**y) / (x - y), (1.5, 1.5), **BY_THE_FIRST
    ),
    "three decays, two of one rate": Case(three_rates, (0.5, 0.5, 2.0), (1.0, -1.0, 0.0)),
    "Box and Cox": Case(lambda m, x, y: (y**x - 1) / x, (0.0, 2.5), **BY_THE_FIRST),
    "an extreme value": Case(
        lambda m, x, y: m.exp(-((1 + x * y) ** (-1 / x))), (0.0, 0.75), **BY_THE_FIRST
    ),
    "an annuity": Case(lambda m, x, y: (1 - (1 + x) ** -y) / x, (0.0, 10.0), **BY_THE_FIRST),
    "a quadratic that is linear": Case(
        lambda m, x, y: (-y + m.sqrt(y * y - 4 * x)) / (2 * x), (0.0, 3.0), **BY_THE_FIRST
    ),
    "orbits of either sign of energy": Case(stumpff),
    # zeros that are missed by the rounding of literals
    "sin(pi*x)/(x-1)": Case(lambda m, x: m.sin(m.pi * x) / (x - 1), (1.0,)),
    "sin(pi*x)/(x*(x-1))": Case(lambda m, x: m.sin(m.pi * x) / (x * (x - 1)), (1.0,)),
    "a raised cosine": Case(lambda m, x: m.cos(m.pi * x / 4) / (1 - x**2 / 4), (2.0,)),
    "(1-cos(2pi*x))/(x-1)**2": Case(lambda m, x: (1 - m.cos(2 * m.pi * x)) / (x - 1) ** 2, (1.0,)),
    "sin(x)/(x-pi)": Case(
        lambda m, x: m.sin(x) / (x - math.pi), (math.pi,),
        meant=lambda m, x: (m.sin(x) - m.sin(mpmath.mpf(math.pi))) / (x - math.pi),
    ),
    "(arctan(x)-pi/4)/(x-1)": Case(lambda m, x: (m.arctan(x) - m.pi / 4) / (x - 1), (1.0,)),
    "(exp(x)-e)/(x-1)": Case(lambda m, x: (m.exp(x) - m.e) / (x - 1), (1.0,)),
    "erf(x)/x**3-2/sqrt(pi)*exp(-x*x)/x**2": Case(
        lambda m, x: m.erf(x) / x**3 - 2 / m.sqrt(m.pi) * m.exp(-x * x) / x**2
    ),
    "the same in three dimensions": Case(
        lambda m, x, y, z: x * (
            m.erf(norm(m, x, y, z)) / norm(m, x, y, z) ** 3
            - 2 / m.sqrt(m.pi) * m.exp(-(x * x + y * y + z * z)) / (x * x + y * y + z * z)
        ),
        (0.0, 0.0, 0.0), (1.0, 0.7, -0.4),
    ),
    "Boys' function of order 1": Case(
        lambda m, x: (m.sqrt(m.pi / x) / 2 * m.erf(m.sqrt(x)) - m.exp(-x)) / (2 * x), side=1
    ),
    "(sin(0.1*3*x)/x-0.3*exp(x))/x": Case(
        lambda m, x: (m.sin(0.1 * 3 * x) / x - 0.3 * m.exp(x)) / x,
        meant=lambda m, x: (m.sin(mpmath.mpf(3) / 10 * x) / x - mpmath.mpf(3) / 10 * m.exp(x)) / x,
    ),
    "1/expm1(0.1*3*x)-1/(0.3*x)": Case(
        lambda m, x: 1 / m.expm1(0.1 * 3 * x) - 1 / (0.3 * x),
        meant=lambda m, x: 1 / (m.exp(mpmath.mpf(3) / 10 * x) - 1) - 1 / (mpmath.mpf(3) / 10 * x),
    ),
    "shares of two factors": Case(
        lambda m, x, y, z: (0.3 * y**x + 0.7 * z**x) ** (1 / x), (0.0, 2.0, 3.0), (1.0, 0.0, 0.0),
        meant=lambda m, x, y, z: (
            mpmath.mpf(3) / 10 * y**x + mpmath.mpf(7) / 10 * z**x
        ) ** (1 / x),
    ),
    "(sqrt(x)-1.414...)/(x-2)": Case(
        lambda m, x: (m.sqrt(x) - 1.4142135623730951) / (x - 2), (2.0,),
        meant=lambda m, x: (m.sqrt(x) - mpmath.sqrt(2)) / (x - 2),
    ),
}  # fmt: skip


def around(g: Callable[[Any], Any], side: int) -> list[Any]:
    """g, g' and g'' at 0 of the polynomial through six values near it."""
    nodes = [k * side for k in range(1, 7)] if side else [-3, -2, -1, 1, 2, 3]
    found = [mpmath.mpf(0)] * 3
    for i in nodes:
        poly = [mpmath.mpf(1)]
        for j in nodes:
            if j != i:  # times (t - j)/(i - j)
                below = [mpmath.mpf(0), *poly]
                poly = [(b - j * a) / (i - j) for a, b in zip([*poly, 0], below, strict=True)]
        value = g(i * STEP)
        found = [f + value * c for f, c in zip(found, poly[:3], strict=True)]
    return [found[0], found[1] / STEP, 2 * found[2] / STEP**2]


def truth(case: Case, at: tuple[float, ...], side: int) -> list[Any]:
    """The value, and the first and second derivatives by each parameter."""
    fun = case.meant or case.fun
    rows = []
    for k in range(len(at)):

        def moved(h: Any, k: int = k) -> Any:
            x = [mpmath.mpf(v) + (h if i == k else 0) for i, v in enumerate(at)]
            try:
                return fun(EXACT, *x)
            except ZeroDivisionError:  # along the singular points: just beside them
                beside = (v + NOTHING * d for v, d in zip(x, case.along, strict=True))
                return fun(EXACT, *beside)

        rows.append(around(moved, side))
    return [rows[0][0], *(r[1] for r in rows), *(r[2] for r in rows)]


def check(name: str, offsets: list[float]) -> None:
    case = CASES[name]
    f = case.plain()
    n = len(case.point)
    for offset in offsets:
        if offset * case.side < 0:
            continue
        at = tuple(p + offset * d for p, d in zip(case.point, case.along, strict=True))
        with mpmath.workdps(DIGITS):
            wanted = truth(case, at, 0 if offset else case.side)
        slopes, second = f.grad(*at), f.hessian(*at)
        if n > 1:
            got = [f(*at), *slopes, *(second[i][i] for i in range(n))]
        else:
            got = [f(*at), slopes, second]
        for a, w in zip(got, wanted, strict=True):
            if abs(w) < 1e-30:  # zero, but for the rest of the polynomial
                assert abs(a) < 1e-30, (offset, got)
            else:
                most = OF_LIBRARIES if "gamma" in name else ULP
                assert abs(a - w) <= most * math.ulp(float(w)), (offset, a, float(w))


@pytest.mark.sampled
@pytest.mark.parametrize("name", CASES)
def test_at_the_point_and_near_it(name: str) -> None:
    check(name, [0.0, 1e-1, -1e-1, 1e-5, -1e-5, 1e-12, -1e-12])


@pytest.mark.sampled
@pytest.mark.parametrize("name", CASES)
def test_in_single_precision(name: str) -> None:
    case = CASES[name]
    f = case.plain()
    for offset in (0.0, 1e-1, -1e-1, 1e-4, -1e-4):
        if offset * case.side < 0:
            continue
        at = [np.float32(p + offset * d) for p, d in zip(case.point, case.along, strict=True)]
        near = tuple(map(float, at))
        if any((n - p) * case.side < 0 for n, p in zip(near, case.point, strict=True)):
            continue  # rounded to the side where the function is not defined
        with mpmath.workdps(DIGITS):
            wanted = truth(case, near, 0 if offset else case.side)
        got = [f(*at), *np.atleast_1d(np.array(f.grad(*at)))]
        kinds = {np.asarray(v).dtype for v in _in_python(f, at)}  # np.sqrt(2.0) makes it double
        for k, (a, w) in enumerate(zip(got, wanted[: 1 + len(at)], strict=True)):
            assert a.dtype == np.float32 if k else not kinds or a.dtype in kinds
            error = abs(float(a) - w)
            assert error <= ULP * np.spacing(np.float32(abs(w))) + 1e-30, (offset, got, wanted)


def _in_python(f: Any, at: list[Any]) -> list[Any]:
    """What plain Python returns, if it does not raise."""
    with np.errstate(all="ignore"), contextlib.suppress(ArithmeticError, ValueError):
        return [f.__wrapped__(*at)]
    return []


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_at_every_distance(name: str) -> None:
    check(name, [s * c * 10.0**-k for c in (1.0, 3.7) for k in range(1, 13) for s in (1, -1)])


def test_a_clipped_argument_is_completed_where_it_is_clipped() -> None:
    f = symgrad(lambda w: np.arccos(np.clip(w, -1.0, 1.0)) ** 2)
    assert f.grad(1.0) == -1.0  # the mean of -2 and 0
    assert f.grad(1.5) == 0.0
    w = 1 - 2.0**-40
    with mpmath.workdps(DIGITS):
        x = mpmath.mpf(w)
        slope = -2 * mpmath.acos(x) / mpmath.sqrt(1 - x * x)
    assert abs(f.grad(w) - slope) <= 4 * math.ulp(2.0)


@pytest.mark.slow
def test_the_rotation_angle_of_a_clipped_trace() -> None:
    def ratio(c):
        theta = np.arccos(np.clip(c, -1.0, 1.0))
        return theta / (2 * np.sin(theta))

    f = symgrad(ratio)
    assert f(1.0) == 0.5
    assert math.isnan(f(1.5))  # where both are zero throughout


@pytest.mark.slow
def test_what_was_moved_is_reported() -> None:
    text = str(symgrad(lambda x: np.sin(np.pi * x) / (x - 1)).report())
    assert "missed only by the rounding of literals" in text and "read 3.14159" in text
    text = str(symgrad(lambda x: np.sin(x) / (x - np.pi)).report())
    assert "missed only by the rounding of literals" in text and "subtracted sin(" in text


@pytest.mark.slow
def test_a_numerator_that_is_singular_itself_misses_nothing() -> None:
    def well(x):
        r2 = x + 0.1
        s6 = 1 / r2**3
        return 4 * (s6 * s6 - s6)

    f = symgrad(well)
    x = 0.7
    assert f(x) == pytest.approx(4 * (0.8**-6 - 0.8**-3), rel=1e-14)
    assert f.grad(x) == pytest.approx(4 * (3 * 0.8**-4 - 6 * 0.8**-7), rel=1e-14)
    assert not [g for g in f.report().findings if g.kind == "literals repaired"]


@pytest.mark.slow
def test_what_is_missing_near_a_point_is_not_subtracted_far_off_if_literals_may_be_read() -> None:
    """Chandrasekhar's function of ions: 1/(2*x*x) where erf is 1."""
    f = symgrad(
        lambda x: (scipy.special.erf(x) - 2 / np.sqrt(np.pi) * x * np.exp(-x * x)) / (2 * x * x)
    )
    assert (f(1e8), f.grad(1e8)) == (5e-17, -1e-24)
    assert "read 3.141592653589793 as pi" in str(f.report())


def heated(a: float, b: float, c: float, d: float) -> float:
    g = a / b * c * d
    return (1 / math.tanh(g**-2) + 0.7 * g * math.tanh(1 / g)) / math.tanh(2.4 * d / g)


def waving(a: float, b: float, c: float, d: float) -> float:
    g = a / b * c * d
    return (3.6 * math.tanh(2.3 / g + 1.7 / g**2) + 0.7 * g * math.sin(1 / g)) / math.tanh(
        2.4 * d / g
    )


@pytest.mark.slow
@pytest.mark.parametrize("formula", [heated, waving])
def test_no_zeros_beyond_poles(formula: Callable[..., float]) -> None:
    """A numerator with a quotient by b in it is not looked at at b = 0, where tanh(1/(a/0)) would be
    negligible: nothing is subtracted from it (then all derivatives were nan)."""
    f, place, h = symgrad(formula), (2.0, 0.7, 1.3, 1.1), 1e-3
    assert f(*place) == pytest.approx(formula(*place), rel=1e-14)
    for k, slope in enumerate(f.grad(*place)):
        low, less, more, high = (
            formula(*(v + step * h * (j == k) for j, v in enumerate(place)))
            for step in (-2, -1, 1, 2)
        )
        assert slope == pytest.approx((8 * (more - less) - (high - low)) / (12 * h), rel=1e-7)
