"""Parameters that are called as keywords of ours: the function's own parameter wins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.errors import SymdiffError

V = np.array([1.0, 2.0, 4.0])


def out_of_numbers(x, out):
    return x**2 * out


def stream_of_numbers(x, stream):
    return x**2 * stream


def sparse_of_numbers(x, sparse):
    return x**2 * sparse


def self_of_numbers(x, self):
    return x**2 * self


def out_of_arrays(x, out):
    return np.sum(x**2 * out)


def stream_of_arrays(x, stream):
    return np.sum(x**2 * stream)


def sparse_of_arrays(x, sparse):
    return np.sum(x**2 * sparse)


NUMBERS = [out_of_numbers, stream_of_numbers, sparse_of_numbers, self_of_numbers]
ARRAYS = [out_of_arrays, stream_of_arrays, sparse_of_arrays]


def name_of(f: Any) -> str:
    return f.__name__.split("_")[0]


@pytest.mark.sampled
@pytest.mark.parametrize("f", NUMBERS, ids=name_of)
def test_a_number_by_name_or_position(f: Any) -> None:
    g, name = symgrad(f), name_of(f)
    for _ in range(3):  # the later calls may take a shorter way
        for args, more in (((2.0, 3.0), {}), ((2.0,), {name: 3.0}), ((), {"x": 2.0, name: 3.0})):
            assert g(*args, **more) == 12.0
            assert g.grad(*args, **more) == (12.0, 4.0)
            assert g.value_and_grad(*args, **more) == (12.0, (12.0, 4.0))
            assert g.jacobian(*args, **more) == (12.0, 4.0)
            assert g.hessian(*args, **more) == ((6.0, 4.0), (4.0, 0.0))
        assert g.jvp((2.0,), (1.0, 1.0), **{name: 3.0}) == (12.0, 16.0)
        assert g.vjp((2.0,), 2.0, **{name: 3.0}) == (12.0, (24.0, 8.0))
        np.testing.assert_array_equal(g(V, **{name: V}), V**3)
        np.testing.assert_array_equal(g.grad(V, **{name: V})[0], 2 * V**2)


@pytest.mark.sampled
@pytest.mark.parametrize("f", ARRAYS, ids=name_of)
def test_an_array_by_name_or_position(f: Any) -> None:
    g, name = symgrad(f), name_of(f)
    for _ in range(3):
        for args, more in (((V, V), {}), ((V,), {name: V}), ((), {"x": V, name: V})):
            assert g(*args, **more) == 73.0
            u, v = g.grad(*args, **more)
            np.testing.assert_array_equal(u, 2 * V**2)
            np.testing.assert_array_equal(v, V**2)


@pytest.mark.parametrize("f", [out_of_numbers, out_of_arrays])
def test_no_other_out_beside_it(f: Any) -> None:
    g, place = symgrad(f), np.zeros(3)
    for _ in range(3):
        g(V, V)
        with pytest.raises(TypeError, match="multiple values for argument 'out'"):
            g(V, V, out=place)
    assert not place.any()
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'out'"):
        g(V)


def test_a_static_parameter() -> None:
    def power(x, out=None):
        return x**2 if out is None else x**3

    g = symgrad(power)
    for _ in range(3):
        assert (g(2.0), g(2.0, out=None), g(2.0, out=True)) == (4.0, 4.0, 8.0)
        assert (g.grad(2.0), g.grad(2.0, out=True)) == (4.0, 12.0)


def test_containers() -> None:
    g = symgrad(lambda p, out: p[0] * p[1] * out)
    assert g((2.0, 3.0), out=4.0) == 24.0
    assert g.grad((2.0, 3.0), out=4.0) == ((12.0, 8.0), 6.0)


def test_axes_of_map() -> None:
    g = symgrad(lambda x, axes=2.0: x * axes)
    np.testing.assert_array_equal(g.map(V, 3.0), 3 * V)
    with pytest.raises(SymdiffError, match="axes= of map"):
        g.map(V, axes=3.0)
