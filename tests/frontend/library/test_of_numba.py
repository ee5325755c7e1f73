"""Functions that Numba compiled, seen through to their Python."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest
from numba import njit
from numba.extending import overload, register_jitable

from symdiff import UnsupportedError, symgrad


@njit
def square(x):
    return x * x


@numba.vectorize
def lazily(x):
    return x * x + 1


@numba.vectorize(["float64(float64)"])
def eagerly(x):
    return x * x + 1 if x > 0 else -x


@register_jitable
def registered(x):
    return x * x - 1


@numba.cfunc("float64(float64)")
def callback(x):
    return 2 * square(x)


def cube(x):
    raise NotImplementedError


@overload(cube)
def _cube(x):
    if isinstance(x, numba.types.Array):
        return lambda x: np.sum(x) ** 3
    return lambda x: x**3


@njit
def through_all(x):
    return cube(x) + registered(x) + square(x)


def summed(x):
    total = 0.0
    for i in numba.prange(4):
        total += numba.float64(x) ** i
    return total


def local(x):
    @njit(fastmath=False)
    def inner(y):
        return y * x

    return inner(x)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("f", "x", "slope"),
    [
        (square, 2.0, 4.0), (lambda x: square(x), 2.0, 4.0), (lambda x: lazily(x), 2.0, 4.0),
        (lambda x: eagerly(x), 2.0, 4.0), (lambda x: eagerly(x), -2.0, -1.0), (callback, 3.0, 12.0),
        (lambda x: registered(x), 2.0, 4.0), (through_all, 2.0, 20.0), (summed, 2.0, 17.0),
        (local, 3.0, 6.0), (lambda x: math.sin(through_all(x)), 0.0, 0.0),
    ],
)  # fmt: skip
def test_derivatives(f: object, x: float, slope: float) -> None:
    assert symgrad(f).grad(x) == pytest.approx(slope)


@pytest.mark.slow
def test_values_are_those_of_the_compiled_functions() -> None:
    for f in (square, through_all, lazily, eagerly, callback):
        for x in (0.3, -1.7):
            assert symgrad(f)(x) == pytest.approx(f(x), rel=1e-15)


def test_ufuncs_of_arrays() -> None:
    f = symgrad(lambda x: np.sum(eagerly(x)))
    x = np.array([1.0, 2.0, -3.0])
    np.testing.assert_allclose(f.grad(x), [2.0, 4.0, -1.0])
    assert f(x) == np.sum(eagerly(x))


@pytest.mark.slow
def test_an_overload_by_type() -> None:
    f = symgrad(njit(lambda x: cube(x)))
    np.testing.assert_allclose(f.grad(np.array([1.0, 2.0])), [27.0, 27.0])


def test_overloads_are_for_compiled_code_only() -> None:
    with pytest.raises(UnsupportedError, match="NotImplementedError"):
        symgrad(lambda x: cube(x))(1.0)


@pytest.mark.slow
def test_refused_by_name() -> None:
    generalised = numba.guvectorize(["void(float64[:], float64[:])"], "(n)->()")(_total)
    with pytest.raises(UnsupportedError, match="a generalised ufunc of Numba is called"):
        symgrad(lambda x: generalised(x))(np.ones(3))
    with pytest.raises(UnsupportedError, match="a stencil of Numba is called"):
        symgrad(lambda x: np.sum(_second(x)))(np.ones(3))
    with pytest.raises(UnsupportedError, match="no overload of 'only_floats'"):
        symgrad(njit(lambda x: only_floats(x)))(np.ones(3))


def _total(x, out):
    out[0] = np.sum(x)


@numba.stencil
def _second(a):
    return a[-1] + a[1] - 2 * a[0]


def only_floats(x):
    return x


@overload(only_floats)
def _only_floats(x):
    return (lambda x: x) if isinstance(x, numba.types.Float) else None


def test_numba_is_not_broken_off_while_it_compiles() -> None:
    """The first call runs the plain function too, for so many steps; compiling takes more."""

    @njit
    def fresh(x):
        return math.exp(x) * x + square(x)

    f = symgrad(lambda x: fresh(x), cache=False)
    assert f(0.5) == pytest.approx(math.exp(0.5) * 0.5 + 0.25)
    assert fresh.signatures
