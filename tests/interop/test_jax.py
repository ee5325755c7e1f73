"""Functions of JAX arrays: values and derivatives of any order, against JAX's own."""

import numpy as np
import pytest

from symdiff.errors import SymdiffError

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402

from symdiff.interop.jax import function  # noqa: E402


@pytest.fixture(autouse=True)
def double_precision():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


@function
def layer(x, w):
    return np.tanh(x @ w)


@function
def sinc(x, a):
    return a * np.sin(x) / x


@function
def energy(x):
    return np.sum(x**3)


@function
def two(x, y):
    return x * y, np.sum(x)


@function
def gathered(x, i):
    return np.sum(x[i] ** 2)


X, W = np.linspace(0.1, 0.9, 6).reshape(3, 2), np.array([0.3, -0.7])


def close(found, wanted):
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-13), found, wanted)


def test_values():
    close(layer(X, W), jnp.tanh(X @ W))
    close(two(W, W), (W * W, W.sum()))
    close(jax.jit(energy)(W), (W**3).sum())
    assert energy(W.astype(np.float32)).dtype == np.float32


def test_reverse_mode_of_any_order():
    plain = lambda x, w: jnp.tanh(x @ w).sum()
    ours = lambda x, w: layer(x, w).sum()
    close(jax.grad(ours, (0, 1))(X, W), jax.grad(plain, (0, 1))(X, W))
    close(jax.jit(jax.jacrev(jax.grad(ours, 1), 1))(X, W), jax.hessian(plain, 1)(X, W))
    close(jax.jacrev(jax.grad(energy))(W), np.diag(6 * W))
    close(jax.vjp(two, W, W)[1]((W, 2.0)), (W * W + 2, W * W))


def test_arguments_that_broadcast():
    slope, by = jax.grad(lambda x, a: sinc(x, a).sum(), (0, 1))(jnp.zeros((4, 1)), jnp.ones(3))
    assert slope.shape == (4, 1) and not slope.any() and by.tolist() == [4.0] * 3
    close(jax.grad(sinc, 1)(0.0, 2.0), 1.0)


def test_rows():
    rows = np.stack([W, 2 * W, 3 * W])
    close(jax.vmap(energy)(rows), (rows**3).sum(1))
    close(jax.vmap(jax.grad(energy))(rows), 3 * rows**2)


def test_integers_have_no_gradient():
    slope = jax.grad(gathered)(jnp.arange(5.0), jnp.array([0, 3, 3]))
    assert slope.tolist() == [0.0, 0.0, 0.0, 12.0, 0.0]


def test_what_is_refused():
    with pytest.raises(SymdiffError, match="arrays of float16"):
        energy(np.ones(3, np.float16))
    with pytest.raises(SymdiffError, match="nested"):
        function(lambda x: (x, (x, x)))(np.ones(3))
