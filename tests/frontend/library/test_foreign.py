"""Code written for other libraries is read as NumPy's; the truth is NumPy, and the libraries if they
are installed."""

import sys
import types

import numpy as np
import pytest
import scipy.linalg
import scipy.special
from click.testing import CliRunner

from symdiff import UnsupportedError, symgrad
from symdiff.cli import stand_ins
from symdiff.cli.commands import main
from symdiff.frontend.library import foreign, registry

X = np.array([0.3, 1.2, 2.0])
A = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 4.0]])


@pytest.mark.parametrize("module", foreign.NAMES)
def test_every_name_of_the_table_is_of_a_function_that_is_known(module):
    found = foreign.aliases(module)
    for name in foreign.NAMES[module]:
        alias = found[name]
        assert alias.refused or alias.own or registry.find(alias.target), name


@pytest.mark.sampled
@pytest.mark.parametrize("function", foreign.OWN, ids=lambda f: f.__name__)
def test_functions_that_numpy_does_not_have_are_traced(function):
    values = {
        "if_else": (X > 1.0, X, -X),
        "lerp": (X, 2 * X, 0.3),
        "squared_difference": (X, 2 * X),
        **{f"{n}": (X, 2 * X) for n in ("mse_loss", "l1_loss", "binary_cross_entropy_with_logits")},
    }
    args = values.get(function.__name__, (X,))
    np.testing.assert_allclose(symgrad(function)(*args), function(*args), rtol=1e-15)


@pytest.fixture
def absent(monkeypatch):
    """None of the packages is installed; stand-ins are taken away after the test."""
    monkeypatch.setattr(sys, "modules", {k: v for k, v in sys.modules.items() if k.partition(".")[0] not in foreign.PACKAGES})  # fmt: skip
    monkeypatch.setattr(stand_ins.importlib.util, "find_spec", lambda name: None)
    yield
    foreign._table.cache_clear()


@pytest.mark.parametrize(
    ("module", "name", "same"),
    [
        ("jax.numpy", "sin", np.sin),
        ("jax.scipy.special", "gammaln", scipy.special.gammaln),
        ("jax.nn", "relu", lambda x: np.maximum(x, 0)),
        ("autograd.numpy", "expm1", np.expm1),
        ("cupy", "tanh", np.tanh),
        ("torch", "atan2", None),
        ("torch.special", "expit", scipy.special.expit),
        ("tensorflow.math", "log1p", np.log1p),
        ("casadi", "fabs", np.fabs),
    ],
)
def test_packages_that_are_not_installed(absent, module, name, same):
    package = module.partition(".")[0]
    assert stand_ins.install(module) and not stand_ins.install(module)
    made = getattr(sys.modules[module], name)
    alias = foreign.find(made)
    assert alias is not None and alias.name == f"{module}.{name}"
    if same is not None and not alias.own:
        np.testing.assert_array_equal(alias.target(X), same(X))
    assert isinstance(sys.modules[package], types.ModuleType)
    with pytest.raises(ImportError, match="not installed"):
        made(1.0)


def test_nothing_is_of_a_type_of_a_stand_in(absent):
    """Other libraries ask this of their arguments once such a package is imported."""
    stand_ins.install("tensorflow")
    assert sys.modules["tensorflow"].is_tensor(np.int64(0)) is False


def test_other_packages_get_no_stand_ins():
    assert not stand_ins.install("absent_package") and not stand_ins.install("numpy")


@pytest.mark.slow
def test_the_command_line_reads_what_is_not_installed(absent, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "losses.py").write_text(
        "import cupy as cp\n\n\ndef f(x):\n    return cp.expm1(x) / x\n\n\n"
        "def g(x):\n    return cp.unheard_of(x)\n"
    )
    result = CliRunner().invoke(main, ["check", str(tmp_path / "losses.py")])
    assert "losses.py:5:12: error: f: the value is nan for x = 0, should be 1" in result.stdout
    assert "skipped g: " in result.stderr


@pytest.mark.parametrize("module", foreign.REFUSED)
def test_what_means_another_thing_is_refused_by_name(module):
    for name, reason in foreign.REFUSED[module].items():
        alias = foreign.aliases(module)[name]
        with pytest.raises(Exception, match=f"'{module}.{name}' is not read") as caught:
            alias.arguments((), {})
        assert reason in str(caught.value.hint)


def test_functions_are_read_as_those_of_pytorch():
    torch = pytest.importorskip("torch")
    F = torch.nn.functional

    programs = [
        (lambda x: torch.sum(torch.sin(x) / x), X),
        (lambda x: torch.sigmoid(x) + F.silu(x) + torch.rsqrt(x) + torch.frac(x), X),
        (lambda x: torch.logsumexp(x, dim=0) + torch.mean(x, 0, keepdim=True), X),
        (lambda x: torch.where(x > 1, torch.pow(x, 3), torch.clamp(x, min=0.5)), X),
        (lambda x: torch.stack([x, torch.cumsum(x, dim=0)], dim=1), X),
        (lambda x: torch.special.ndtr(x) + torch.lgamma(x) + torch.fmod(x, 0.7), X),
        (lambda a: torch.amax(a, dim=1) + torch.softmax(a, dim=1)[0] + torch.mv(a, a[0]), A),
        (lambda x: F.leaky_relu(x - 1) + F.elu(x - 1, 0.5) + F.leaky_relu(x - 1, 0.2), X),
        (lambda x: F.mse_loss(x, 2 * x) + F.l1_loss(x, x**2, reduction="sum"), X),
        (lambda x: F.binary_cross_entropy_with_logits(x, x / 3, reduction="none"), X),
        (lambda x: torch.zeros(3, dtype=torch.float64) + x + torch.ones(2, 3) * x, X),
    ]
    for f, value in programs:
        np.testing.assert_allclose(symgrad(f)(value), f(torch.tensor(value)).numpy(), rtol=1e-13)
    x = torch.tensor(X, requires_grad=True)
    programs[0][0](x).backward()
    np.testing.assert_allclose(symgrad(programs[0][0]).grad(X), x.grad.numpy(), rtol=1e-13)
    with pytest.raises(UnsupportedError, match=r"'torch\.std' is not read"):
        symgrad(lambda x: torch.std(x))(X)


@pytest.mark.slow
def test_functions_are_read_as_those_of_jax():
    jax = pytest.importorskip("jax")
    jnp, special = jax.numpy, pytest.importorskip("jax.scipy.special")

    def inner(x):
        return jnp.log(jnp.sum(jnp.exp(x))) + special.logsumexp(x)

    compiled = jax.jit(inner)
    programs = [
        (compiled, X),
        (lambda x: compiled(x) * jax.nn.softplus(x) + jnp.clip(x, 0.5, 1.5), X),
        (lambda x: jnp.stack([x, jnp.cumsum(x)]) + special.xlogy(x, x), X),
        (lambda a: jnp.linalg.solve(a, a[0]) + jnp.linalg.norm(a), A),
    ]
    for f, value in programs:
        found = symgrad(f)(value)
        np.testing.assert_allclose(found, f(jnp.asarray(value)), rtol=3e-6)  # float32 there
    with pytest.raises(UnsupportedError, match=r"'jax\.vmap' is not read"):
        symgrad(lambda x: jax.vmap(lambda t: t**2)(x))(X)


assert scipy.linalg  # a module whose functions are known once it is imported


@pytest.mark.sampled
@pytest.mark.parametrize(("axes", "dots"), [
    (([0], [0]), None), (([1], [0]), None), (([1, 0], [0, 1]), None), (([1], [1]), ([0], [0])), (([], []), ([1], [0])),
])  # fmt: skip
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_convolutions_along_chosen_axes(axes, dots, mode):
    """As in autograd.scipy.signal: sums over all pairs of elements."""
    a, b = np.arange(12.0).reshape(4, 3) - 4, np.arange(8.0).reshape(4, 2)[:, ::-1] + 1
    if dots == ([1], [0]):
        b = b[:3]
    over, count = dots or ([], []), len(axes[0])
    left = [[k for k in range(2) if k not in (*axes[s], *over[s])] for s in (0, 1)]
    sizes = [(a.shape[i], b.shape[j]) for i, j in zip(*axes, strict=True)]
    shape = [a.shape[k] for k in left[0]] + [b.shape[k] for k in left[1]]
    want = np.zeros([*shape, *(n + m - 1 for n, m in sizes)])
    for p in np.ndindex(a.shape):
        for q in np.ndindex(b.shape):
            if all(p[i] == q[j] for i, j in zip(*over, strict=True)):
                kept = (*(p[k] for k in left[0]), *(q[k] for k in left[1]))
                want[(*kept, *(p[i] + q[j] for i, j in zip(*axes, strict=True)))] += a[p] * b[q]
    cut = {"full": [slice(None)] * count, "same": [slice((m - 1) // 2, (m - 1) // 2 + n) for n, m in sizes],
           "valid": [slice(min(n, m) - 1, max(n, m)) for n, m in sizes]}[mode]  # fmt: skip
    if mode == "valid" and {n > m for n, m in sizes} == {True, False}:
        return
    want = want[(*[slice(None)] * len(shape), *cut)]
    f = symgrad(lambda x, y: foreign.convolve(x, y, axes=axes, dot_axes=dots, mode=mode))
    np.testing.assert_allclose(f(a, b), want, atol=1e-12)
    weights = np.cos(np.arange(want.size)).reshape(want.shape)
    by_a, _ = f.vjp((a, b), weights)[1]
    along = np.sin(np.arange(a.size)).reshape(a.shape)
    np.testing.assert_allclose(np.sum(by_a * along), np.sum(weights * f(along, b)), atol=1e-10)


@pytest.mark.parametrize(
    ("function", "hint"),
    [
        (lambda x: x.exp().sum(), r"write np\.exp\(\.\.\.\)"),
        (lambda x: x.mm(x), r"write np\.matmul"),
        (lambda x: x.erf(), r"write scipy\.special\.erf"),
        (lambda x: x.sigmoid(), r"write torch\.sigmoid"),
        (lambda x: x.view(-1), "write reshape"),
        (lambda x: x.at[0].set(1.0), "copy the array, and assign"),
    ],
)
def test_methods_of_other_arrays_are_refused_with_what_to_write(function, hint):
    with pytest.raises(UnsupportedError, match=hint):
        symgrad(function)(X)
