"""Discrete Fourier transforms inside of functions, beside NumPy's."""

from __future__ import annotations

import importlib
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.fft

from symdiff import SymdiffError, symgrad

RNG = np.random.default_rng(20261127)
SIZES = (1, 2, 3, 4, 7, 8, 12)
NORMS = (None, "ortho", "forward")


def parts(z: Any) -> Any:
    return np.real(z), np.imag(z)


CALLS = {
    "fft": lambda x, y: parts(np.fft.fft(x + 1j * y)),
    "ifft": lambda x, y: parts(np.fft.ifft(x + 1j * y)),
    "rfft": lambda x, y: parts(np.fft.rfft(x * y)),
    "of a real signal": lambda x, y: parts(np.fft.fft(x * y)),
    "and back": lambda x, y: np.fft.irfft(np.fft.rfft(x) * np.fft.rfft(y), len(x)),
    "shorter": lambda x, y: parts(np.fft.fft(x + 1j * y, 2)),
    "longer": lambda x, y: parts(np.fft.fft(x + 1j * y, 20)),
    "back and longer": lambda x, y: np.fft.irfft(x + 1j * y, 2 * len(x) + 3),
    "of SciPy": lambda x, y: parts(scipy.fft.fft(x + 1j * y)),
    "frequencies": lambda x, y: np.fft.fftfreq(len(x), x[0]) * y,
    "halves": lambda x, y: np.fft.rfftfreq(len(x), x[0]),
}
COMPILED = {name: symgrad(f, accuracy="fast") for name, f in CALLS.items()}


@pytest.mark.sampled(16)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", CALLS)
def test_values(name: str, size: int) -> None:
    x, y = RNG.normal(size=(2, size))
    ours, theirs = COMPILED[name](x, y), CALLS[name](x, y)
    scale = np.max(np.abs(theirs))
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=4e-16 * size * scale)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("norm", NORMS)
def test_norms(norm: Any) -> None:
    def f(x: Any) -> Any:
        z = np.fft.fft(x, norm=norm)
        return np.real(np.fft.ifft(z * z, norm=norm)), np.real(np.fft.irfft(z, norm=norm))

    x = RNG.normal(size=5)
    for ours, theirs in zip(symgrad(f)(x), f(x), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=2e-15 * np.max(np.abs(theirs)))


def test_transforms_along_axes() -> None:
    def f(x: Any) -> Any:
        return (
            np.abs(np.fft.fft2(x)),
            np.real(np.fft.ifftn(x, axes=(1,))),
            np.abs(np.fft.fft(x, axis=0)),
        )

    x = RNG.normal(size=(3, 4))
    for ours, theirs in zip(symgrad(f)(x), f(x), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-14)


@pytest.mark.slow
def test_real_transforms_of_several_axes() -> None:
    def f(x: Any) -> Any:
        z = np.fft.rfftn(x, axes=(2, 0))
        return (
            np.abs(z),
            np.fft.irfftn(z, (4, 5), axes=(2, 0)),
            np.fft.irfft2(np.fft.rfft2(x, (2, 7), axes=(0, 1)) ** 2, norm="ortho"),
            np.abs(np.fft.fftn(x, (2, 6), axes=(1, 2))),
        )

    x = RNG.normal(size=(3, 4, 2))
    for ours, theirs in zip(symgrad(f)(x), f(x), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-13)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", (6, 7))
def test_the_slope_of_a_power_is_the_transform_back(size: int) -> None:
    """d/dx sum w*|F x|**2 = 2*Re F^H (w * F x), which NumPy computes."""
    weights = RNG.random(size)
    x = RNG.normal(size=size)
    f = symgrad(lambda x: np.sum(weights * np.abs(np.fft.fft(x)) ** 2))
    expected = 2 * size * np.real(np.fft.ifft(weights * np.fft.fft(x)))
    np.testing.assert_allclose(f.grad(x), expected, rtol=0, atol=1e-14 * np.max(np.abs(expected)))


def by_half(w: Any, n: int) -> Any:
    """The transposed map of `rfft` of n real numbers, at complex cotangents."""
    return np.real(np.fft.fft(np.conj(w), n))


def power(x: Any) -> Any:
    return np.sum(np.abs(np.fft.rfft(x)) ** 2 * np.arange(x.shape[0] // 2 + 1))


def slope_of_power(x: Any) -> Any:
    return by_half(2 * np.arange(len(x) // 2 + 1) * np.fft.rfft(x), len(x))


@pytest.mark.parametrize("engine", ("llvm", pytest.param("numba", marks=pytest.mark.slow)))
@pytest.mark.parametrize("size", (1, 2, 9, 64, 4099, 2**16))
def test_the_slope_of_half_a_spectrum(size: int, engine: Any) -> None:
    x = RNG.normal(size=size)
    expected = slope_of_power(x)
    found = symgrad(power, engine=engine, accuracy="fast").grad(x)
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-14 * np.max(np.abs(expected)))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("axis", "n"), ((0, None), (1, 3), (-1, 6)))
def test_slopes_along_axes(axis: int, n: int | None) -> None:
    """Of sum v*(irfft(x + iy)) and of sum |fft(x + iy)|**2, whose adjoints NumPy computes."""
    shape = (4, 5)
    x, y = RNG.normal(size=(2, *shape))
    back = np.fft.irfft(x + 1j * y, n, axis)
    v = RNG.normal(size=back.shape)
    weights = np.abs(np.fft.fft(x, n, axis)) + 1

    def f(x: Any, y: Any) -> Any:
        z = x + 1j * y
        square = np.abs(np.fft.fft(z, n, axis, norm="ortho")) ** 2
        return np.sum(v * np.fft.irfft(z, n, axis)) + np.sum(weights * square)

    size, rows = back.shape[axis], shape[axis]
    half = np.moveaxis(np.fft.rfft(v, axis=axis), axis, -1)
    k = np.arange(half.shape[-1])
    half = half * np.where((k == 0) | (2 * k == size), 1, 2) / size
    z = np.fft.fft(x + 1j * y, n, axis)
    width = z.shape[axis]
    # |F z|**2/n has the cotangent 2 F^H (w F z)/n, cut or padded as the argument was
    whole = np.moveaxis(np.fft.ifft(2 * weights * z, axis=axis), axis, -1)
    wanted = np.zeros((*whole.shape[:-1], rows), complex)
    wanted[..., : min(rows, width)] = whole[..., :rows]
    wanted[..., : min(rows, half.shape[-1])] += half[..., :rows]
    wanted = np.moveaxis(wanted, -1, axis)
    by_x, by_y = symgrad(f).grad(x, y)
    np.testing.assert_allclose(by_x, np.real(wanted), rtol=0, atol=1e-13)
    np.testing.assert_allclose(by_y, np.imag(wanted), rtol=0, atol=1e-13)


@pytest.mark.slow
def test_second_derivatives() -> None:
    x = RNG.normal(size=6)
    expected = [slope_of_power(e) for e in np.eye(6)]
    np.testing.assert_allclose(symgrad(power).hessian(x), expected, rtol=0, atol=1e-13)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", (6, 40))
def test_lost_digits_are_found_again(size: int) -> None:
    """The power of noise on a large mean, which is that of the distances from the mean (Parseval)."""
    x = 1e10 + RNG.normal(size=size)
    with mpmath.workdps(50):
        y = [mpmath.mpf(v) for v in x]
        mean, last = sum(y) / size, sum(v * (-1) ** i for i, v in enumerate(y))
        expected = (size * sum((v - mean) ** 2 for v in y) + last**2) / 2
        slopes = [float(size * (v - mean) + last * (-1) ** i) for i, v in enumerate(y)]
    f = symgrad(lambda x: np.sum(np.abs(np.fft.rfft(x)[1:]) ** 2))
    assert f(x) == pytest.approx(float(expected), rel=1e-14)
    np.testing.assert_allclose(f.grad(x), slopes, rtol=1e-14)


def test_where_a_spectrum_is_zero() -> None:
    """The modulus of a complex number has slope 0 at 0: only the mean of a constant signal counts."""
    f = symgrad(lambda x: np.sum(np.abs(np.fft.rfft(x))))
    np.testing.assert_allclose(f.grad(np.ones(4)), np.ones(4), rtol=1e-15)


@pytest.mark.slow
def test_a_module(tmp_path: Any, monkeypatch: Any) -> None:
    path = tmp_path / "half_spectrum_kernels.py"
    f = symgrad(power)
    x = RNG.normal(size=12)
    f.grad(x)
    f.save(path)
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module("half_spectrum_kernels")
    np.testing.assert_allclose(module.power_grad(x), slope_of_power(x), rtol=0, atol=1e-12)


def test_no_numbers() -> None:
    with pytest.raises(ValueError, match="data points"):
        symgrad(lambda x: np.sum(np.abs(np.fft.fft(x))))(np.ones(0))


def test_a_list_of_numbers() -> None:
    f = symgrad(lambda a, b: np.abs(np.fft.fft([a, b, a * b, 1.0])[1]))
    assert f(2.0, 3.0) == pytest.approx(np.abs((2 - 6) - 1j * (3 - 1)), rel=1e-15)
    slope = ((2 - 6) * (1 - 3) + 0) / np.abs((2 - 6) - 1j * (3 - 1))
    assert f.grad(2.0, 3.0)[0] == pytest.approx(slope, rel=1e-14)


def test_other_transforms_are_refused() -> None:
    with pytest.raises(SymdiffError, match="hfft"):
        symgrad(lambda x: np.sum(np.fft.hfft(x)))(np.ones(4))


@pytest.mark.slow
def test_symmetries_that_rounding_breaks() -> None:
    """The imaginary parts of a real signal's transform cancel, in NumPy's up to rounding."""
    f = symgrad(lambda x: np.sum(np.imag(np.fft.ifft(x, axis=0, n=5, norm="forward")) ** 3))
    x = np.arange(12.0).reshape(3, 4) ** 1.1
    assert f(x) == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(f.grad(x), np.zeros((3, 4)), rtol=0, atol=1e-9)
