"""Discrete Fourier transforms inside of functions, beside NumPy's."""

from __future__ import annotations

from typing import Any

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
    "of SciPy": lambda x, y: parts(scipy.fft.fft(x + 1j * y)),
    "frequencies": lambda x, y: np.fft.fftfreq(len(x), x[0]) * y,
    "halves": lambda x, y: np.fft.rfftfreq(len(x), x[0]),
}
COMPILED = {name: symgrad(f, accuracy="fast") for name, f in CALLS.items()}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", CALLS)
def test_values(name: str, size: int) -> None:
    x, y = RNG.normal(size=(2, size))
    ours, theirs = COMPILED[name](x, y), CALLS[name](x, y)
    scale = np.max(np.abs(theirs))
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=4e-16 * size * scale)


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


@pytest.mark.parametrize("size", (6, 7))
def test_the_slope_of_a_power_is_the_transform_back(size: int) -> None:
    """d/dx sum w*|F x|**2 = 2*Re F^H (w * F x), which NumPy computes."""
    weights = RNG.random(size)
    x = RNG.normal(size=size)
    f = symgrad(lambda x: np.sum(weights * np.abs(np.fft.fft(x)) ** 2))
    expected = 2 * size * np.real(np.fft.ifft(weights * np.fft.fft(x)))
    np.testing.assert_allclose(f.grad(x), expected, rtol=0, atol=1e-14 * np.max(np.abs(expected)))


def test_a_list_of_numbers() -> None:
    f = symgrad(lambda a, b: np.abs(np.fft.fft([a, b, a * b, 1.0])[1]))
    assert f(2.0, 3.0) == pytest.approx(np.abs((2 - 6) - 1j * (3 - 1)), rel=1e-15)
    slope = ((2 - 6) * (1 - 3) + 0) / np.abs((2 - 6) - 1j * (3 - 1))
    assert f.grad(2.0, 3.0)[0] == pytest.approx(slope, rel=1e-14)


def test_other_transforms_are_refused() -> None:
    with pytest.raises(SymdiffError, match="hfft"):
        symgrad(lambda x: np.sum(np.fft.hfft(x)))(np.ones(4))
