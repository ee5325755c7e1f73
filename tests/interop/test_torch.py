"""Functions of tensors: values and derivatives of any order, against PyTorch's own."""

import numpy as np
import pytest

from symdiff.errors import SymdiffError

torch = pytest.importorskip("torch")

from symdiff.interop.torch import function  # noqa: E402


def rand(*shape, dtype=torch.float64, grad=True):
    generator = torch.Generator().manual_seed(len(shape))
    return torch.rand(shape, dtype=dtype, generator=generator).requires_grad_(grad)


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


def test_values_keep_shape_and_dtype():
    x, w = rand(3, 2, grad=False), rand(2, grad=False)
    torch.testing.assert_close(layer(x, w), torch.tanh(x @ w))
    assert energy(x[0].float()).dtype == torch.float32 and energy(x[0]).shape == ()
    value, total = two(x, x)
    torch.testing.assert_close(value, x * x)
    torch.testing.assert_close(total, x.sum())


@pytest.mark.parametrize(
    ("fun", "shapes"),
    [
        (layer, [(3, 2), (2,)]),
        (energy, [(4,)]),
        (two, [(3,), (3,)]),
        (sinc, [(3,), (3,)]),
        (sinc, [(4, 1), (3,)]),
        (sinc, [(3,), ()]),
        (sinc, [(), ()]),
    ],
)
def test_first_derivatives(fun, shapes):
    assert torch.autograd.gradcheck(fun, tuple(rand(*s) for s in shapes))


@pytest.mark.parametrize(
    ("fun", "shapes"), [(layer, [(3, 2), (2,)]), (energy, [(4,)]), (sinc, [(4, 1), (3,)])]
)
def test_second_derivatives(fun, shapes):
    assert torch.autograd.gradgradcheck(fun, tuple(rand(*s) for s in shapes))


def test_a_removable_singularity_does_not_reach_the_training_loop():
    x, a = torch.zeros(3, dtype=torch.float64, requires_grad=True), rand()
    sinc(x, a).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 0.0] and a.grad.item() == 3.0


def test_transforms_of_functions():
    x, w = rand(3, grad=False), rand(2, grad=False)
    torch.testing.assert_close(torch.func.hessian(energy)(x), torch.diag(6 * x))
    rows = rand(4, 3, grad=False)
    torch.testing.assert_close(torch.func.vmap(energy)(rows), (rows**3).sum(1))
    torch.testing.assert_close(torch.func.vmap(torch.func.grad(energy))(rows), 3 * rows**2)
    stack = rand(4, 3, 2, grad=False)

    def total(w, one):
        return torch.func.vmap(one, in_dims=(0, None))(stack, w).sum()

    want = torch.func.grad(total)(w, lambda x, w: torch.tanh(x @ w))
    torch.testing.assert_close(torch.func.grad(total)(w, layer), want)
    nested = torch.func.vmap(torch.func.vmap(energy))(stack)
    torch.testing.assert_close(nested, (stack**3).sum(2))


def test_integers_have_no_gradient():
    x, i = rand(5), torch.tensor([0, 3, 3])
    gathered(x, i).backward()
    want = torch.zeros(5, dtype=torch.float64)
    want[0], want[3] = 2 * x[0].item(), 4 * x[3].item()
    torch.testing.assert_close(x.grad, want)


@pytest.mark.slow
def test_compiled_graphs_keep_it_whole():
    x, w = rand(3, 2), rand(2)
    loss = torch.compile(lambda x, w: layer(x, w).sum() * 2, fullgraph=True, backend="aot_eager")
    loss(x, w).backward()
    (want,) = torch.autograd.grad(torch.tanh(x @ w).sum() * 2, w)
    torch.testing.assert_close(w.grad, want)


def test_what_is_refused():
    with pytest.raises(SymdiffError, match=r"tensors of torch\.float16"):
        energy(torch.ones(3, dtype=torch.float16))
    with pytest.raises(SymdiffError, match="nested"):
        function(lambda x: (x, (x, x)))(torch.ones(3))
