"""Complex numbers inside of functions of real numbers: values beside Python's own, derivatives beside
differences of Python's values in high precision."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.special

from symdiff import symgrad
from symdiff.errors import UnsupportedError
from symdiff.frontend import capture
from tests.frontend.differences import slopes_by
from tests.frontend.tracing import agrees, alike, traced

POINTS = [tuple(p) for p in np.random.default_rng(5).normal(scale=1.5, size=(30, 2)).tolist()]
ON_CUTS = [(-2.0, 0.0), (2.0, 0.0), (0.0, 2.0), (0.0, -2.0), (-0.5, 0.0), (0.5, 0.0), (0.0, 0.0)]
FUNCTIONS = ["exp", "log", "log10", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin",
             "acos", "atan", "asinh", "acosh", "atanh"]  # fmt: skip


def beside_python(fun: Callable[..., Any], *points: tuple[float, ...]) -> None:
    program = capture(fun)
    for p in points:
        try:
            want = fun(*p)
        except (ValueError, ZeroDivisionError, OverflowError):
            continue
        alike(traced(program, list(p)), want)


def of_name(name: str) -> Callable[..., Any]:
    f = getattr(cmath, name)

    def parts(x: float, y: float) -> Any:
        z = f(complex(x, y))
        return z.real, z.imag

    return parts


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_cmath(name):
    beside_python(of_name(name), *POINTS, *ON_CUTS)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_of_functions_of_cmath(name):
    def parts(x: float, y: float) -> float:
        return getattr(cmath, name)(complex(x, y)).real

    def exact(x: float, y: float) -> tuple[float, float]:
        slope = mpmath.diff(getattr(mpmath, name), mpmath.mpc(x, y))
        return float(slope.real), -float(slope.imag)  # by Cauchy and Riemann

    compiled = symgrad(parts)
    for p in POINTS[:4]:
        np.testing.assert_allclose(compiled.grad(*p), exact(*p), rtol=1e-12)


def arithmetic(x, y):
    z, w = complex(x, y), 2 - 1j * x
    total = (
        z + w * 3 - w / z + 2 / w + (1 + z) ** 3 + z**-2 + z**0.3 + w ** (1j * y) - z.conjugate()
    )
    total -= -z + abs(w) + z * 1.5 + (+w) + (3 - z) + 2.0 ** (0.1 + z)
    return total.real, total.imag, abs(total), cmath.phase(z), cmath.polar(w), z == w, z != 1j


def test_operators():
    beside_python(arithmetic, *POINTS)


def mixed(x, y):
    z = x if x > 0 else 1j * y
    pair = [z, 2 * z]
    found = {"sum": sum(pair), "last": pair[-1]}
    return found["sum"].real + (found["last"] * 1j).imag + isinstance(1j * y, complex)


def keyed(x, y):
    table = {1j: x, 2.0: y, 1 + 0j: 3 * x}
    return table[1j] + table[2 + 0j] + table[1] + len({1j, 0 + 1j}) + bool(1j * x) + (x in [1j, x])


def test_keys_and_truth_values():
    beside_python(keyed, *POINTS[:3], (0.0, 1.0))


def test_real_on_one_branch_and_complex_on_the_other():
    beside_python(mixed, *POINTS)


def escape(x, y):
    c, z, n = complex(x, y), 0, 0
    while abs(z) < 2 and n < 60:
        z = z * z + c
        n += 1
    return abs(z) + n


def horner(x, y):
    z, last = 1.0, 0
    for k in range(400):
        last = z
        z = 1 + z * complex(x, y) / (k + 1)
    return z.real, z.imag, abs(last)


def test_numbers_carried_by_loops():
    beside_python(escape, (0.1, 0.2), (0.3, 0.6), (-1.0, 0.1), (1.0, 1.0))
    beside_python(horner, (0.3, -0.5), (-0.7, 0.2))


def rabi(omega, delta, t):
    def step(angle):
        return (
            (cmath.exp(-0.5j * delta * angle), 0j),
            (0j, cmath.exp(0.5j * delta * angle)),
        )

    def product(a, b):
        return tuple(
            tuple(sum(a[i][k] * b[k][j] for k in range(2)) for j in range(2)) for i in range(2)
        )

    c, s = math.cos(omega * t / 8), -1j * math.sin(omega * t / 8)
    turn, found = ((c, s), (s, c)), ((1, 0), (0, 1))
    for _ in range(4):
        found = product(product(step(t / 8), turn), product(step(t / 8), found))
    return abs(found[1][0]) ** 2


def roots(a, b, c):
    d = cmath.sqrt(b * b - 4 * a * c)
    r = (-b + d) / (2 * a)
    return r.real**2 + 3 * r.imag


def spectral_density(p, q, w):
    e = cmath.exp(-1j * w)
    return 1 / abs(1 - p * e - q * e**2) ** 2


def heston(s, strike, t, r, v, kappa, theta, sigma, rho):
    def transform(u):
        xi = kappa - rho * sigma * 1j * u
        d = cmath.sqrt(xi**2 + sigma**2 * (u**2 + 1j * u))
        g = (xi - d) / (xi + d)
        e = cmath.exp(-d * t)
        first = kappa * theta / sigma**2 * ((xi - d) * t - 2 * cmath.log((1 - g * e) / (1 - g)))
        second = (xi - d) / sigma**2 * (1 - e) / (1 - g * e)
        return cmath.exp(1j * u * (math.log(s) + r * t) + first + second * v)

    total, h = 0.0, 0.5
    for k in range(200):
        u = (k + 0.5) * h
        turned = cmath.exp(-1j * u * math.log(strike)) / (1j * u)
        above = (turned * transform(u - 1j)).real - (turned * strike * transform(u)).real
        total += h * math.exp(-r * t) * above
    return 0.5 * (s - strike * math.exp(-r * t)) + total / math.pi


def cosine_method(s, strike, t, r, sigma):
    a, b = -3.0, 3.0
    total = 0.0
    for k in range(128):
        u = k * math.pi / (b - a)
        f = cmath.exp(
            1j * u * (math.log(s / strike) - a + (r - sigma**2 / 2) * t) - u * u * sigma**2 * t / 2
        )
        chi = (math.cos(u * (b - a)) * math.exp(b) - math.cos(u * a)) + u * math.sin(u * a)
        chi = (chi + u * math.sin(u * (b - a)) * math.exp(b)) / (1 + u * u)
        psi = b if k == 0 else (math.sin(u * (b - a)) + math.sin(u * a)) / u
        total += f.real * (chi - psi) * (0.5 if k == 0 else 1.0)
    return strike * math.exp(-r * t) * 2 / (b - a) * total


PROGRAMS = [
    (rabi, (1.3, 0.4, 2.0)),
    (lambda r, coil, c, w: abs(r + 1j * w * coil + 1 / (1j * w * c)), (50.0, 1e-3, 1e-6, 1e4)),
    (roots, (1.0, 2.0, 5.0)),
    (roots, (1.0, -3.0, 1.0)),
    (spectral_density, (0.5, -0.3, 0.9)),
    pytest.param(heston, (100.0, 105.0, 1.0, 0.03, 0.04, 1.5, 0.05, 0.4, -0.6), marks=pytest.mark.slow),
    pytest.param(cosine_method, (100.0, 105.0, 1.0, 0.03, 0.3), marks=pytest.mark.slow),
]  # fmt: skip


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("fun", "at"), PROGRAMS)
def test_programs(fun, at):
    g = symgrad(fun)
    np.testing.assert_allclose(g(*at), fun(*at), rtol=1e-10)
    for k, found in enumerate(g.grad(*at)):
        slope = slopes_by(fun, at, k, 1e-3 * abs(at[k]), fine=True)
        np.testing.assert_allclose(found, slope, rtol=2e-6, atol=1e-9)


def test_digits_near_one_are_kept():
    found = symgrad(lambda x, y: cmath.log(complex(x, y)).real)(1.0, 1e-7)
    assert found == float(mpmath.log(mpmath.mpc(1, 1e-7)).real) or abs(found - 5e-15) < 1e-29


def test_large_numbers():
    assert symgrad(lambda x, y: abs(complex(x, y)))(3e200, 4e200) == pytest.approx(5e200)
    assert symgrad(lambda x, y: cmath.sqrt(complex(x, y)).real)(3e200, 4e200) == pytest.approx(
        2e100
    )


# --------------------------------------------------------------------------- arrays
def of_known_size(x, y):
    z = np.zeros(3, dtype=complex)
    z[0] = 1j * x
    z[1:] = np.array([x + 1j * y, 2.0])
    z *= 1 - 1j
    return np.abs(z) ** 2, (z @ z).imag, np.vdot(z, z).real, np.sum(z).real, z.conj().imag, z.T.real


def of_unknown_size(x, y):
    z = x + 1j * y
    w = np.exp(1j * x) * z
    w[0] = 2 - 1j
    w[1:] += 1j
    total = 0
    for v in w:
        total = total * 0.5 + v
    chosen = np.where(x > 0, w, z)
    parts = np.concatenate([z, w]).imag
    return np.abs(w) ** 2, (z @ w).real, np.angle(z), abs(total), chosen.imag, parts, np.sum(w).imag


def matrices(x, y):
    hamiltonian = np.array([[x, 1j * y], [-1j * y, -x]])
    state = np.array([1.0, 1j])
    found = hamiltonian @ hamiltonian @ state
    return np.vdot(state, found).real, np.outer(state, found).imag


def test_arrays():
    beside_python(of_known_size, (0.3, -0.4))
    beside_python(matrices, (0.3, -0.4))
    program = capture(of_unknown_size, {}, {"x": (1, "f"), "y": (1, "f")})
    for n in (2, 3, 7):
        rng = np.random.default_rng(n)
        agrees(program, of_unknown_size, [rng.normal(size=n), rng.normal(size=n)])


# ------------------------------------------------------------------------ refusals
def stored(x):
    a = np.zeros(2)
    a[0] = 1j * x
    return a


@pytest.mark.parametrize(
    ("fun", "message"),
    [
        (lambda x: 1.0 if 1j * x < 2j else x, "which Python refuses"),
        (stored, "array of real numbers"),
        (lambda x: math.exp(1j * x), "exp"),
    ],
)
def test_refusals(fun, message):
    with pytest.raises(UnsupportedError, match=message):
        capture(fun)


@pytest.mark.parametrize("z", [0.5 + 0.3j, -2 + 0.1j, 1 - 1j, 30 + 5j, 0j])
def test_the_function_of_faddeeva(z: complex) -> None:
    x, y = z.real, z.imag
    w = complex(mpmath.exp(-(mpmath.mpc(z) ** 2)) * mpmath.erfc(-1j * mpmath.mpc(z)))
    slope = complex(-2 * mpmath.mpc(z) * w + 2j / mpmath.sqrt(mpmath.pi))
    real = symgrad(lambda x, y: scipy.special.wofz(x + 1j * y).real)
    imag = symgrad(lambda x, y: scipy.special.wofz(complex(x, y)).imag)
    assert (real(x, y), imag(x, y)) == pytest.approx((w.real, w.imag), rel=1e-15)
    assert real.grad(x, y) == pytest.approx((slope.real, -slope.imag), rel=1e-12, abs=1e-15)
    assert imag.grad(x, y) == pytest.approx((slope.imag, slope.real), rel=1e-12, abs=1e-15)


def test_the_function_of_faddeeva_of_arrays_and_reals() -> None:
    x = np.array([0.1, 0.5, 2.0])
    f = symgrad(lambda x: np.sum(abs(scipy.special.wofz(x + 0.2j)) ** 2))
    assert f(x) == pytest.approx(np.sum(abs(scipy.special.wofz(x + 0.2j)) ** 2), rel=1e-13)
    g = symgrad(lambda x: scipy.special.wofz(x).imag)
    assert g(0.4) == pytest.approx(scipy.special.wofz(0.4).imag, rel=1e-15)
