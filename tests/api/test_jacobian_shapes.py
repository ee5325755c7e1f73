"""A Jacobian has the shape of the result followed by that of the argument, of elementwise functions too."""

import math

import numpy as np
import pytest

from symdiff import SymdiffError, symgrad
from tests.law.alike import differences

X = np.array([0.5, 1.0, 2.0])
M = np.arange(1.0, 7.0).reshape(2, 3)


def wave(x, y):
    return np.sin(x) * y**2


def stepping(x, y):
    total = 0.0
    while total < x:
        total += 0.37
    return total * x * y


def several(x, y):
    return {"a": x * y, "b": [np.exp(x) + y]}


ARGUMENTS = [(X, X + 1), (X, 2.0), (2.0, X), (M, X), (X, M[:, :1]), (X[:1], M), (np.array(2.0), X)]


@pytest.mark.sampled
@pytest.mark.parametrize("args", ARGUMENTS)
@pytest.mark.parametrize("f", [wave, lambda x, y: math.sin(x) * y**2, stepping])
def test_each_block_is_that_of_differences(f, args):
    plain = f if f is wave else np.vectorize(f)
    blocks = symgrad(f).jacobian(*args)
    for k, block in enumerate(blocks):
        np.testing.assert_allclose(block, differences(plain, args, k), rtol=1e-6, atol=1e-6)


def test_numbers_and_nothing():
    assert symgrad(wave).jacobian(0.0, 3.0) == (9.0, 0.0)
    empty, column = symgrad(wave).jacobian(np.zeros((0, 3)), np.zeros(3))
    assert (empty.shape, column.shape) == ((0, 3, 0, 3), (0, 3, 3))
    assert symgrad(lambda x: x**2).jacobian(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_array_equal(
        symgrad(lambda x: x**2).jacobian(np.arange(3)), np.diag([0.0, 2.0, 4.0])
    )


def test_nested_results_and_out():
    (by_x, by_y), [(also_x, also_y)] = symgrad(several).jacobian(X, 2.0).values()
    np.testing.assert_array_equal(by_x, 2 * np.eye(3))
    np.testing.assert_array_equal(by_y, X)
    np.testing.assert_allclose(also_x, np.diag(np.exp(X)), rtol=1e-15)
    np.testing.assert_array_equal(also_y, np.ones(3))
    square, out = symgrad(lambda x: x**2).jacobian, np.full((3, 3), 7.0)
    assert square(X, out=out) is out
    np.testing.assert_array_equal(out, np.diag(2 * X))
    with pytest.raises(SymdiffError, match=r"out has shape \(3,\)"):
        square(X, out=np.empty(3))


def test_sparse():
    for args in ((X, X + 1), (M, X), (X[:1], M)):
        dense = symgrad(wave).jacobian(*args)
        found = symgrad(wave).jacobian(*args, sparse=True)
        for a, b, by in zip(dense, found, args, strict=True):
            np.testing.assert_array_equal(a.reshape(-1, np.size(by)), b.toarray())


def test_derivatives_of_derivatives():
    cube = symgrad(lambda x: x**3)
    np.testing.assert_array_equal(cube.grad.jacobian(X), np.diag(6 * X))
    want = np.zeros((3, 3, 3))
    want[range(3), range(3), range(3)] = 6 * X
    np.testing.assert_array_equal(cube.jacobian.jacobian(X), want)
    for derivative in (cube.jacobian.diff("x"), cube.jacobian.grad, cube.jacobian.hessian):
        with pytest.raises(SymdiffError, match="of the Jacobian of the elementwise function"):
            derivative(X)
    np.testing.assert_array_equal(cube.jacobian.map(X), 3 * X**2)
    np.testing.assert_array_equal(cube.diff("x")(X), 3 * X**2)


SLOPES = symgrad(wave).jacobian


@pytest.mark.slow
def test_inside_of_a_traced_function():
    def f(x, y):
        by_x, by_y = SLOPES(x, y)
        return by_x @ x + by_y @ y

    for args in ((X, X + 1), (X, M[1])):
        np.testing.assert_allclose(
            symgrad(f)(*args),
            np.cos(X) * args[1] ** 2 * X + 2 * np.sin(X) * args[1] ** 2,
            rtol=1e-14,
        )
    by_x = symgrad(f).jacobian(X, X + 1)[0]
    np.testing.assert_allclose(by_x, np.diag(np.diag(by_x)), atol=0)
    repeated = symgrad(lambda x, m: np.sum(SLOPES(x, m)[0], axis=(0, 1)))
    np.testing.assert_allclose(repeated(X, M), np.cos(X) * np.sum(M**2, axis=0), rtol=1e-14)


def phi(ux, uy):
    phi = uy * 2 * np.pi  # noqa: F841
    return 1 - ux * 0.5


@pytest.mark.slow
def test_a_parameter_that_is_not_read_has_a_gradient_of_zeros_of_its_shape():
    f = symgrad(phi)
    for uy in (X, np.ones(4), M, 2.0, np.zeros(0)):
        np.testing.assert_array_equal(f(X, uy), phi(X, uy))
        value, slopes = f.value_and_grad(X, uy)
        for by_x, by_y in (f.grad(X, uy), slopes):
            np.testing.assert_array_equal(by_x, [-0.5] * 3)
            assert np.shape(by_y) in (np.shape(uy), (3,) * (not np.ndim(uy)))
            assert not np.any(by_y)
        np.testing.assert_array_equal(value, phi(X, uy))
        if np.ndim(uy):
            assert not f.diff("uy")(X, uy).any()
            np.testing.assert_array_equal(f.diff("ux")(X, uy), [-0.5] * 3)
            assert f.jacobian(X, uy)[1].shape == (3, *np.shape(uy))
    np.testing.assert_array_equal(symgrad(lambda y: y - y).grad(X), np.zeros(3))
    np.testing.assert_array_equal(symgrad(lambda y: 3.0).grad(M), np.zeros((2, 3)))


@pytest.mark.slow
def test_arrays_of_other_shapes_stay_elementwise_beside_one_that_is_not_read():
    f = symgrad(lambda x, m, y: np.exp(x) * m)
    by_x, by_m, by_y = f.grad(X, M, np.ones(5))
    np.testing.assert_allclose(by_x, np.exp(X) * M, rtol=1e-15)
    np.testing.assert_allclose(by_m, np.exp(X) * np.ones((2, 3)), rtol=1e-15)
    np.testing.assert_array_equal(by_y, np.zeros(5))
    with pytest.raises(SymdiffError, match="grad needs a function of one real value"):
        symgrad(lambda x, y: x * x[0]).grad(X, np.ones(5))


def test_by_numbers_it_is_the_array_of_slopes() -> None:
    t = np.linspace(0.1, 2.0, 7)
    f = symgrad(lambda t, a, b: a * np.exp(-b * t), wrt=("a", "b"))
    for a, b in ((1.5, 0.7), (0.2, 3.0), (1.0, 1.0)):
        by_a, by_b = f.jacobian(t, a, b)
        np.testing.assert_allclose(by_a, np.exp(-b * t), rtol=1e-14)
        np.testing.assert_allclose(by_b, -a * t * np.exp(-b * t), rtol=1e-14)
    full = symgrad(lambda t, a: a * t * t, wrt=("t", "a")).jacobian(t, 2.0)
    np.testing.assert_allclose(full[0], np.diag(4.0 * t), rtol=1e-14)
    np.testing.assert_allclose(full[1], t * t, rtol=1e-14)
