"""Guards whose value is the limit for some values of the other variables only, and guards on quantities of
which it is not seen that the other side is singular where they vanish."""

from __future__ import annotations

import linecache
import math
from functools import partial

import pytest
from mpmath import mp

from symdiff import GuardWarning, symgrad
from tests.passes.evaluate import slope


def sabr(m, z, rho):
    return z / m.log((m.sqrt(1 - 2 * rho * z + z * z) + z - rho) / (1 - rho))


ROOT = lambda m, x, k: (m.sqrt(k * k + x) - k) / x * 2 * k
CASES = {  # the smooth function, where it is not defined, a point there, and the limit
    "root": (ROOT, "x == 0.0", (0.0, 0.7), lambda x, k: 1.0),
    "hyperbola": (lambda m, x, k: (m.sqrt(k * k + x * x) - k) / x, "x == 0.0", (0.0, 0.7), lambda x, k: 0.0),
    "tweedie": (lambda m, y, mu, p: (max(y, 0) ** (2 - p) - y * mu ** (1 - p)) / (1 - p),
                "p == 1.0", (1.0, 2.0, 1.0), lambda y, mu, p: y * math.log(y / mu)),
    "production": (lambda m, a, b, r: (0.5 * abs(a) ** r + 0.5 * abs(b) ** r) ** (1 / r),
                   "r == 0.0", (2.0, 3.0, 0.0), lambda a, b, r: math.sqrt(a * b)),
    "sabr": (sabr, "z == 0.0", (0.0, -0.3), lambda z, rho: 1.0),
    "volatility": (lambda m, f, k, alpha, rho, nu: sabr(m, nu / alpha * m.log(f / k), rho),
                   "f == k", (1.25, 1.25, 0.2, -0.3, 0.4), lambda *_: 1.0),
    "power": (lambda m, x, lam: (abs(x) ** lam - 1) / lam, "lam == 0.0", (3.0, 0.0), lambda x, lam: math.log(abs(x))),
    "logarithm": (lambda m, x, k: m.log(1 + m.log(k) * x) / x, "x == 0.0", (0.0, 2.0), lambda x, k: math.log(k)),
    "angle": (lambda m, x, k: m.acos(k + 0 * x) * m.sin(x) / x, "x == 0.0", (0.0, 0.25), lambda x, k: math.acos(k)),
    "quotient": (lambda m, x, k: m.expm1(k * x) / m.expm1(x), "x == 0.0", (0.0, 2.5), lambda x, k: k),
}  # fmt: skip


def guarded(name):
    """The function as people write it: its limit where a variable has the value that it has here."""
    smooth, where, point, value = CASES[name]
    names = ", ".join(smooth.__code__.co_varnames[1 : 1 + len(point)])
    text = (
        f"def {name}({names}):\n    if {where}:\n"
        f"        return value({names})\n    return smooth(math, {names})\n"
    )
    scope, file = {"value": value, "smooth": smooth, "math": math}, f"<parts: {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), scope)
    return scope[name]


@pytest.mark.sampled
@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("error::symdiff.GuardWarning")
def test_the_derivative_is_that_of_the_smooth_function(name):
    smooth, where, point, value = CASES[name]
    which = smooth.__code__.co_varnames.index(where.partition(" ")[0]) - 1
    f = symgrad(guarded(name))
    assert f(*point) == pytest.approx(value(*point), rel=1e-15, abs=1e-300)
    found = f.grad(*point)
    with mp.workdps(60):
        beside = [mp.mpf(p) for p in point]
        beside[which] += mp.mpf(10) ** -25  # what is guarded is not defined at the point itself
        for k, got in enumerate(found):
            at = [*beside[:k], mp.mpf(point[k]), *beside[k + 1 :]]
            assert got == pytest.approx(slope(partial(smooth, mp), at, k), rel=1e-12, abs=1e-12), k


@pytest.mark.slow
def test_where_there_is_no_limit_the_guard_counts():
    f = symgrad(guarded("root"))
    assert f(0.0, -0.7) == 1.0 and f.grad(0.0, -0.7) == (0.0, 0.0)
    assert f.grad(1e-3, -0.7)[0] == pytest.approx(float(mp.diff(lambda x: ROOT(mp, x, -0.7), 1e-3)))


def turned(r, x):
    size = math.sqrt(r[0] ** 2 + r[1] ** 2 + r[2] ** 2)
    k = [a / size for a in r] if size > 0 else [0.0, 0.0, 1.0]
    c, s = math.cos(size), math.sin(size)
    kx = [k[1] * x[2] - k[2] * x[1], k[2] * x[0] - k[0] * x[2], k[0] * x[1] - k[1] * x[0]]
    kd = sum(a * b for a, b in zip(k, x, strict=True))
    p = [x[i] * c + kx[i] * s + k[i] * kd * (1 - c) for i in range(3)]
    return p[0] / (p[2] + 5) + 2 * p[1] / (p[2] + 5)


def towards(x, y, z):
    size = math.sqrt(x * x + y * y)
    if size > 0:
        a, b = x / size, y / size
    else:
        a, b = 1.0, 0.0
    return (a + b * z) * math.sin(size) + math.cos(size)


@pytest.mark.slow
def test_a_direction_has_no_limit_but_what_is_made_of_it_has():
    """An axis of rotation at no rotation: whatever is chosen there does not count."""
    found = symgrad(turned).grad([0.0, 0.0, 0.0], [1.0, 2.0, 3.0])[0]
    assert found == pytest.approx([-0.90625, 0.453125, 0.0], abs=1e-15)  # by dR(r)x = r cross x
    f = symgrad(towards)
    assert f(0.0, 0.0, 3.0) == 1.0
    assert f.grad(0.0, 0.0, 3.0) == (1.0, 3.0, 0.0)


def test_a_direction_that_counts_stays_as_written():
    f = symgrad(lambda x, y: x / math.hypot(x, y) + 2 * x if x * x + y * y > 0 else 1.0 + 2 * x)
    assert f(0.0, 0.0) == 1.0 and f.grad(0.0, 0.0)[0] == 2.0


@pytest.mark.sampled
@pytest.mark.parametrize("unit", [1.0, 1.38e-23, 1e20])
def test_what_is_near_hangs_on_no_unit(unit):
    f = symgrad(lambda x, k: unit * abs(x) if k == 0 else unit * x * math.sin(k) / k)
    assert f.grad(-2.0, 0.0)[0] == -unit and f.grad(2.0, 0.0)[0] == unit
    g = symgrad(lambda x, k: 0.0 if k == 0 else unit * max(x, 0) * math.sin(k) / k)
    with pytest.warns(GuardWarning, match="not the limit"):
        assert g.grad(3.0, 0.0) == (0.0, 0.0)


def extreme(x, xi, mu=0.0, s=1.0):
    z = (x - mu) / s
    if abs(xi) < 1e-10:
        return -math.log(s) - z - math.exp(-z)
    t = 1 + xi * z
    if t <= 0:
        return -math.inf
    return -math.log(s) - (1 + 1 / xi) * math.log(t) - t ** (-1 / xi)


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_quotients_of_other_variables_may_carry_a_band_away():
    """z is large where s is small and x is not: what is tried are sizes of all, and of each beside the others."""
    f = symgrad(extreme)
    found = f.grad(0.5, 0.0, 0.0, 1.0)
    z = 0.5  # of the logarithm of the density by xi at 0: z**2/2*(1 - exp(-z)) - z
    by_shape = z * z / 2 * (1 - math.exp(-z)) - z
    by_place = 1 - math.exp(-z)
    assert found == pytest.approx((-by_place, by_shape, by_place, z * by_place - 1), rel=1e-14)


def current(V, z, inside, outside, F, R, T):
    u = V * F * z / (R * T)
    if abs(u) < 1e-9:
        return z * F * (inside - outside)
    return z * F * u * (inside - outside * math.exp(-u)) / (1 - math.exp(-u))


@pytest.mark.slow
def test_guards_of_functions_of_many_variables():
    z, i, o, F = 2.0, 1e-4, 2.0, 40.0
    slope = symgrad(current, wrt="V").grad(0.0, z, i, o, F, 1.0, 1.0)
    assert slope == pytest.approx(z * F * (z * F) * (i + o) / 2, rel=1e-14)
