"""Complex numbers and transforms in runs by values: values are plain Python's, and gradients those of differences."""

from __future__ import annotations

import cmath
import math

import numpy as np
import pytest
import scipy.fft

from symdiff import UnsupportedError, symgrad
from tests.by_value.differences import check


def roots(a, b, c):
    d = cmath.sqrt(b * b - 4 * a * c)
    r = (-b + d) / (2 * a)
    return r.real**2 + abs(r.imag) + abs(r) + complex(r).real


def impedance(w, r, length, c):
    parts = {"coil": complex(r, w * length), "plate": 1 / (1j * w * c)}
    joined = 1 / sum(1 / z for z in parts.values())
    gain = joined / (joined + 50)
    assert isinstance(gain, complex) and type(gain) is complex
    return abs(gain) + cmath.phase(gain) + (gain.conjugate() * gain).real


def powers(x, y):
    z = complex(x, y)
    of_numbers = (2**z).imag + abs(z ** (1 + 2j)) + abs((x - 3.0) ** 0.5)
    return (z**3).real + (z**0.5).imag + (z**z).real + (z**-2).real + of_numbers


def functions(x, y):
    z, total = x + 1j * y, 0.0
    for name in (
        "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "asinh", "acosh",
        "atanh", "log10", "sqrt",
    ):  # fmt: skip
        w = getattr(cmath, name)(z)
        total += w.real + 2 * w.imag
    r, p = cmath.polar(z)
    return total + cmath.rect(r * 2, p + x).real


def escape(x, y):
    z, n = 0j, 0
    while abs(z) < 2 and n < 30:
        z, n = z * z + complex(x, y), n + 1
    return abs(z) + n


def of_arrays(x, y):
    z = np.array([x + 1j * y, y - 2j * x, 1.0 + 0j])
    w = np.exp(z) * np.sqrt(z) / (2 + np.sin(z)) + np.log(z) + np.power(z, 1.5)
    return np.sum(np.abs(w)) + np.vdot(w, z).imag + np.sum(np.angle(w)) + np.angle(w[0]) + np.var(w)


def in_place(x, y):
    z = np.zeros(4, dtype=complex)
    z[0], z[1] = x, 1j * y
    z[2:] = np.array([x, y]) * np.exp(1j * np.array([0.1, 0.2]))
    z *= np.conj(z[::-1])
    part = z[1:3]
    part += x
    z.imag = z.imag * y
    return np.sum(z).real + np.abs(z).max() + np.sum(z.imag**2)


def network(x, y):
    a = np.array([[x + 1j * y, -1], [-1, 2 - 1j * x]])
    s = np.linalg.solve(a, np.array([1.0, y], dtype=complex))
    return np.abs(s[0]) + s[1].imag + abs(np.linalg.det(a)) + np.linalg.norm(s)


def spectral(x, n):
    k = np.fft.fftfreq(n, 1 / n)
    u = np.array([x * math.sin(0.3 * i) + math.cos(x * i) for i in range(n)])
    slope = np.fft.ifft(1j * k * np.fft.fft(u)).real
    power = np.abs(np.fft.rfft(u)) ** 2
    smooth = np.fft.irfft(np.fft.rfft(u) * np.exp(-x * np.arange(n // 2 + 1)), n)
    return np.sum(slope**2) + power[n // 3] + np.sum(smooth[:4]) + scipy.fft.fft(u)[n // 2].imag


def of_planes(a):
    f = np.fft.fft2(a)
    size = np.fft.fftshift(np.abs(f) ** 2)
    back = np.sum(np.fft.irfft2(np.fft.rfft2(a) * 2) ** 2) + np.sum(np.fft.ifft2(f * 1j).imag ** 3)
    return np.sum(size * np.arange(12).reshape(3, 4)) + back


def of_sizes(a):
    fitted = np.sum(np.abs(np.fft.fft(a, 7, norm="ortho"))) + np.fft.rfft(a, 5)[2].imag
    longer = np.sum(np.fft.ifft(a, 10, norm="forward").imag ** 2)
    return fitted + longer + np.sum(np.fft.irfft(a) ** 2)


PLANE = np.arange(12.0).reshape(3, 4) ** 1.5
CALLS = [
    (roots, (1.0, 2.0, 3.0)), (roots, (1.0, 5.0, 2.0)), (roots, (2.0, -3.0, 0.5)),
    (impedance, (100.0, 3.0, 0.01, 1e-4)), (impedance, (50.0, 10.0, 0.1, 1e-3)),
    (powers, (1.0, 2.0)), (powers, (-1.0, 0.5)), (powers, (4.0, -0.3)),
    (functions, (0.3, 0.4)), (functions, (-1.2, 0.7)), (functions, (-0.5, -1.4)), (functions, (2.0, -0.1)),
    (escape, (0.3, 0.5)), (escape, (1.0, 0.1)), (escape, (-0.5, 0.2)),
    (of_arrays, (0.3, 0.4)), (of_arrays, (1.0, -0.2)),
    (in_place, (1.0, 2.0)), (in_place, (0.5, -1.0)),
    (network, (1.0, 2.0)), (network, (3.0, -0.4)), (network, (0.1, -0.4)),
    (of_planes, (PLANE,)), (of_planes, (np.sin(PLANE),)),
    (of_sizes, (np.array([1.0, 3.0, -2.0, 0.4, 2.2]),)), (of_sizes, (np.arange(8.0) ** 0.5 + 0.1,)),
]  # fmt: skip


@pytest.mark.parametrize(("f", "args"), [pytest.param(*c, id=c[0].__name__) for c in CALLS])
def test_value_and_gradient(f, args):
    check(f, *args)


@pytest.mark.parametrize("n", [1, 2, 7, 12, 15, 16])
def test_transforms_of_sizes(n):
    check(lambda x: spectral(x, n), 0.7)


def test_complex_results():
    f = symgrad(lambda x, y: (np.array([x + 1j * y, x * y * 1j]), 1j * x**3), by_value=True)
    whole, single = f.jacobian(1.0, 2.0)
    np.testing.assert_array_equal(whole, [[1.0, 2j], [1j, 1j]])
    assert single == (3j, 0j)
    assert f.jvp((1.0, 2.0), (1.0, 0.0))[1][1] == 3j
    with pytest.raises(UnsupportedError, match="use jacobian"):
        symgrad(lambda x: 1j * x, by_value=True).grad(1.0)


def test_second_derivatives():
    f = symgrad(lambda x: (cmath.exp(1j * x * x) ** 2).real, by_value=True)
    x = 0.7  # cos(2 x**2)
    want = -4 * math.sin(2 * x * x) - 16 * x * x * math.cos(2 * x * x)
    np.testing.assert_allclose(f.hessian(x), want, rtol=1e-13)


def test_what_is_stored_in_parts_is_refused():
    def f(x):
        z = np.array([x + 1j, 2j * x])
        z.real[0] = 5.0
        return np.sum(z).real

    with pytest.raises(UnsupportedError, match="something else than plain Python"):
        symgrad(f, by_value=True).grad(1.0)


def test_recurring_paths():
    f = symgrad(impedance, by_value=True)
    for k in range(12):
        check(impedance, 100.0 + k, 3.0, 0.01, 1e-4, rtol=1e-4, atol=0.0, both=f.value_and_grad)
