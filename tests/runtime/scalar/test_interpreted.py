"""Large functions are interpreted until compiling them pays."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from symdiff import symgrad
from symdiff.codegen.llvm import jit
from symdiff.errors import UnsupportedError
from symdiff.runtime.scalar import ball_elements, fallback
from tests.kernels import compiled_entries


def long(x, y):
    total = 0.0
    for k in range(1, 60):
        total = total + math.sin(k * x + y) * math.exp(-k * y / 8)
    return total


def truth(x: float, y: float) -> list[float]:
    """Value and partial derivatives, with 40 digits."""
    mpmath.mp.dps = 40
    x, y = mpmath.mpf(x), mpmath.mpf(y)
    terms = [(k, mpmath.exp(-k * y / 8), k * x + y) for k in range(1, 60)]
    value = sum(e * mpmath.sin(a) for _, e, a in terms)
    by_x = sum(k * e * mpmath.cos(a) for k, e, a in terms)
    by_y = sum(e * (mpmath.cos(a) - mpmath.mpf(k) / 8 * mpmath.sin(a)) for k, e, a in terms)
    return [float(v) for v in (value, by_x, by_y)]


@pytest.fixture
def compiled(monkeypatch, tmp_path):
    """How often LLVM was asked to compile; nothing is on disk at first."""
    monkeypatch.setenv("SYMDIFF_CACHE_DIR", str(tmp_path))
    ball_elements.loop()  # which no program compiles
    texts = []
    original = jit.compile_object

    def counting(text, **options):
        texts.append(text)
        return original(text, **options)

    monkeypatch.setattr(jit, "compile_object", counting)
    return texts


def flat(result) -> list[float]:
    value, slopes = result
    return [value, *slopes]


def test_the_first_values_are_correctly_rounded_without_a_compiler(compiled):
    f = symgrad(long).value_and_grad
    assert flat(f(0.3, 0.4)) == truth(0.3, 0.4)
    assert flat(f(1, y=2)) == truth(1.0, 2.0)
    assert not compiled


@pytest.mark.slow
def test_what_is_called_often_is_compiled(compiled, monkeypatch):
    monkeypatch.setattr(fallback, "COMPILING", 1e-6)
    f = symgrad(long).value_and_grad
    while "numbers" not in compiled_entries(f):
        found = flat(f(0.3, 0.4))
    assert compiled
    np.testing.assert_array_max_ulp(np.array(found), np.array(truth(0.3, 0.4)), 4)
    assert flat(f(0.3, 0.4)) == found
    assert compiled_entries(f)["numbers"](0.3, 0.4) is not NotImplemented
    again = symgrad(long).value_and_grad  # the cache knows that it pays
    assert flat(again(0.3, 0.4)) == found
    assert compiled_entries(again)["numbers"](0.3, 0.4) is not NotImplemented


@pytest.mark.slow
def test_arrays_and_small_functions_are_compiled_at_once(compiled):
    symgrad(lambda x: 0.728125 * x * x).grad(1.0)  # that no other test compiles
    assert len(compiled) == 1
    f = symgrad(long).value_and_grad
    value, slopes = f(np.array([0.3, 1.0]), np.array([0.4, 2.0]))
    assert len(compiled) > 1
    for k, point in enumerate(((0.3, 0.4), (1.0, 2.0))):
        found = np.array([value[k], slopes[0][k], slopes[1][k]])
        np.testing.assert_array_max_ulp(found, np.array(truth(*point)), 8)


@pytest.mark.slow
def test_what_is_not_defined_is_the_same_as_compiled(compiled, monkeypatch):
    def bad(x):
        return sum(math.log(x + k) / (x - k) for k in range(70))

    f, points = symgrad(bad), (-0.5, 0.0, 3.0, math.inf, math.nan)
    interpreted = [f.value_and_grad(x) for x in points]
    assert not compiled
    monkeypatch.setattr(fallback, "LARGE", 10**9)
    kernel = symgrad(bad)
    for x, (value, slope) in zip(points, interpreted, strict=True):
        expected = kernel.value_and_grad(x)
        np.testing.assert_array_max_ulp(np.array([value, slope]), np.array(expected), 4)
    assert compiled


def test_wrong_arguments_are_refused_as_ever(compiled):
    f = symgrad(long).value_and_grad
    with pytest.raises(UnsupportedError, match="a real number and a string"):
        f(0.3, "0.4")
    with pytest.raises(TypeError):
        f(0.3)
