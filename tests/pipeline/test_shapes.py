# ruff: noqa: F821
"""Axes of size 1 are repeated as NumPy repeats them, also where sizes are not known when traced."""

import itertools

import numpy as np
import pytest

from symdiff import Array, grad, symgrad
from symdiff.runtime.scalar.elementwise import ShapeError

RNG = np.random.default_rng(3)


def products(x, y):
    return (x + y) ** 2 * x


def outer(x, y):
    return x[:, None] * y + x[None, :2, None]


def after_slices(x, y):
    return x[1:] * y - y[:-1] * 2


def in_matrices(x, y):
    return np.where(x > 0, x @ y, np.sum(x, axis=0))


def by_letters(x, y):
    return np.einsum("ij,jk->ik", x, y)


def stored(x, y):
    z = np.zeros((3, 4))
    z[:] = x
    z[:, 1:3] += y
    return z


def spread(x, y):
    return np.broadcast_to(x, (3, 4)) * y


def derivative(fun, args, k, h=1e-6):
    """Central differences of the sum of the sines of the result."""
    point = np.array(args[k])
    found = np.zeros(point.shape)
    for at in np.ndindex(*point.shape):
        ends = []
        for sign in (1, -1):
            moved = point.copy()
            moved[at] += sign * h
            ends.append(np.sum(np.sin(fun(*args[:k], moved, *args[k + 1 :]))))
        found[at] = (ends[0] - ends[1]) / (2 * h)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fun", "shapes"),
    [
        (products, ((4,), (1,))),
        (products, ((1,), (4,))),
        (products, ((1,), (1,))),
        (products, ((3, 1), (1, 4))),
        (products, ((1, 4), (3, 1))),
        (products, ((2, 1, 3), (1,))),
        (by_letters, ((2, 1), (3, 4))),
        (stored, ((1,), (1,))),
        (stored, ((1, 4), (3, 1))),
        (spread, ((1, 4), (1,))),
        (spread, ((3, 1), (4,))),
    ],
)
def test_stretched_axes(fun, shapes) -> None:
    args = tuple(RNG.normal(size=s) for s in shapes)
    np.testing.assert_allclose(symgrad(fun)(*args), fun(*args), rtol=1e-13, atol=1e-15)

    def loss(x, y):
        return np.sum(np.sin(fun(x, y)))

    for k, slope in enumerate(symgrad(loss).grad(*args)):
        assert slope.shape == shapes[k]
        np.testing.assert_allclose(slope, derivative(fun, args, k), rtol=1e-6, atol=1e-8)


def test_sizes_that_do_not_fit_are_refused() -> None:
    f = symgrad(lambda x, y: np.sum(products(x, y)))
    for sizes in ((2, 3), (3, 2)):
        with pytest.raises(ValueError, match="size"):
            f(*map(np.ones, sizes))


def test_a_program_for_what_is_stretched_and_one_for_all_else() -> None:
    f = symgrad(lambda x, y: np.sum(x * y**2))
    for n, m in itertools.product((1, 2, 3, 5), repeat=2):
        if n == m or 1 in (n, m):
            x, y = RNG.normal(size=n), RNG.normal(size=m)
            assert f(x, y) == pytest.approx(np.sum(x * y**2), rel=1e-13)
    assert len(f._arrays._kernels) == 3


def test_axes_of_one_name_are_not_stretched() -> None:
    @symgrad
    def f(x: Array["n"], y: Array["n"], z: Array["m"]):
        return np.sum(x * y * z)

    one, four = np.ones(1), np.ones(4)
    assert f(four, four, one) == 4 == f(one, one, four)
    with pytest.raises(ShapeError):
        f(one, four, four)


def test_in_place_the_array_keeps_its_shape() -> None:
    @symgrad
    def f(x, y):
        x += y
        return np.sum(x)

    assert f(np.ones(3), np.ones(1)) == 6
    with pytest.raises(ValueError, match="size"):
        f(np.ones(1), np.ones(3))


def test_rows_are_not_stretched_when_stacked() -> None:
    f = symgrad(lambda x, y: np.sum(np.stack([x, y])))
    assert f(np.ones(3), np.ones(3)) == 6
    with pytest.raises(ValueError, match="size"):
        f(np.ones(1), np.ones(3))


@pytest.mark.slow
def test_all_derivatives_of_stretched_arrays() -> None:
    f = symgrad(lambda x, y: np.sum(x * y**2))
    x, y = RNG.normal(size=1), RNG.normal(size=4)
    np.testing.assert_allclose(f.jvp((x, y), (x, y))[1], 3 * f(x, y), rtol=1e-13)
    np.testing.assert_allclose(f.vjp((x, y), 2.0)[1][0], [2 * np.sum(y**2)], rtol=1e-13)
    np.testing.assert_allclose(f.hvp((x, y), (x, y))[1], 4 * x * y, rtol=1e-13)
    assert f.hessian(x, y)[0][1].shape == (1, 4)
    rows = RNG.normal(size=(5, 1))
    np.testing.assert_allclose(f.map(rows, y, axes=(0, None)), np.sum(rows * y**2, axis=1))


def test_inside_of_other_functions() -> None:
    f = symgrad(lambda x, y: np.sum(x * y**2))
    work = symgrad(lambda x, y: np.sum(grad(f)(x, y)[1] * x))
    x, y = RNG.normal(size=1), RNG.normal(size=4)
    assert work(x, y) == pytest.approx(np.sum(2 * x * y * x), rel=1e-13)
