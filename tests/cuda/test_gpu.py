"""CUDA kernels on a real device: skipped where there is none."""

from __future__ import annotations

import importlib
import math

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.runtime.cuda import driver

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not driver.available(), reason="there is no CUDA device"),
]


def h(x):
    return (x**2 - 4) / (x - 2)


def cancelling(x):
    return math.exp(x) - 1 - x - x * x / 2


def wave(x, y):
    return math.sin(x * y) * math.exp(-x * x) + math.cos(y) / math.sqrt(1 + x * x)


def to_cupy(array):
    return importlib.import_module("cupy").asarray(array)


def to_torch(array):
    return importlib.import_module("torch").from_numpy(np.ascontiguousarray(array)).cuda()


def to_numba(array):
    return importlib.import_module("numba.cuda").to_device(array)


def to_jax(array):
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    return jax.device_put(array, jax.devices("cuda")[0])


LIBRARIES = {"numba": to_numba, "cupy": to_cupy, "torch": to_torch, "jax": to_jax}


@pytest.fixture(params=LIBRARIES)
def put(request):
    """Copies an array to the device, as one of a library."""
    pytest.importorskip(request.param)
    return LIBRARIES[request.param]


def get(array):
    """The elements on the host."""
    for name in ("copy_to_host", "get"):
        if hasattr(array, name):
            return getattr(array, name)()
    return np.asarray(array.cpu() if hasattr(array, "cpu") else array)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n", [1, 5, 1_000_003])
def test_values_and_gradients(put, dtype, n):
    rng = np.random.default_rng(n)
    x, y = (rng.uniform(-2, 2, n).astype(dtype) for _ in range(2))
    f = symgrad(wave, target="cuda")
    value, slopes = f.value_and_grad(put(x), put(y))
    assert type(value) is type(put(x))
    expected = symgrad(wave).value_and_grad(x, y)
    loose = 1e-14 if dtype == "float64" else 1e-5
    for a, b in zip((value, *slopes), (expected[0], *expected[1]), strict=True):
        assert get(a).dtype == dtype
        np.testing.assert_allclose(get(a), b, rtol=loose, atol=loose)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_flagged_elements(put, dtype):
    x = np.geomspace(1e-4, 3, 4001).astype(dtype)
    got = get(symgrad(cancelling, target="cuda")(put(x)))
    expected = symgrad(cancelling)(x)
    np.testing.assert_allclose(got, expected, rtol=4 * np.finfo(dtype).eps)


def test_float32_is_rounded_as_on_the_cpu(put):
    x = np.float32(np.linspace(-3, 3, 10_001))

    def rational(x):
        return (x * x * x + 3 * x - 1) / (x * x + 2) + math.sqrt(x * x + 1)

    got = get(symgrad(rational, target="cuda", accuracy="fast")(put(x)))
    np.testing.assert_allclose(got, symgrad(rational)(x), rtol=4e-7, atol=1e-7)


def test_out_strides_and_broadcasting(put):
    f = symgrad(wave, target="auto")
    x, y = np.linspace(0, 1, 7), np.linspace(0, 1, 5)[:, None]
    np.testing.assert_allclose(get(f(put(x), put(y))), symgrad(wave)(x, y), rtol=1e-14)
    np.testing.assert_allclose(get(f(put(x), 0.5)), symgrad(wave)(x, 0.5), rtol=1e-14)
    wide = put(np.arange(40.0).reshape(5, 8) / 40)
    if not hasattr(wide, "block_until_ready"):  # JAX's slices are copies, and not written to
        np.testing.assert_allclose(
            get(f(wide[1:, ::2], 0.5)), symgrad(wave)(get(wide)[1:, ::2], 0.5), rtol=1e-14
        )
        out = put(np.zeros(7))
        assert f(put(x), 0.5, out=out) is out
        np.testing.assert_allclose(get(out), symgrad(wave)(x, 0.5), rtol=1e-14)


def test_host_arrays_and_numbers():
    f = symgrad(h, target="cuda")
    assert f(2.0) == 4.0
    x = np.linspace(0, 4, 100_001)
    np.testing.assert_array_equal(f(x), x + 2)
    np.testing.assert_array_equal(f.grad(np.float32(x)), np.ones_like(x))


def test_streams():
    from numba import cuda

    x = cuda.to_device(np.linspace(0, 4, 1_000_000))
    stream = cuda.stream()
    got = symgrad(h, target="cuda")(x, stream=stream)
    stream.synchronize()
    np.testing.assert_array_equal(got.copy_to_host(), x.copy_to_host() + 2)


def test_a_generated_module(tmp_path):
    from tests.codegen.source.test_module import load

    symgrad(wave, target="cuda").save(tmp_path / "wave_kernels.py", companion=None)
    module = load((tmp_path / "wave_kernels.py").read_text(), tmp_path, "wave_kernels")
    x = np.linspace(-1, 1, 1001)
    for a, b in zip(module.wave_grad_cuda(x, 0.5), module.wave_grad(x, 0.5), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14, atol=1e-15)


# ------------------------------------------------------------------- arrays and loops
def chain(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def loss(X, y, w):
    z = X @ w
    return np.sum(np.logaddexp(0.0, z) - y * z) + np.max(z)


def blend(d):
    total = 0.0
    for row in range(d.shape[0]):
        e = 0.0
        for col in range(d.shape[1]):
            e = (1 - e) * d[row, col] + e
        total += e * e
    return total


def smooth(u, steps):
    for _ in range(len(steps)):
        v = u.copy()
        v[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u = v
    return np.sum(u * u)


def pairs(x, y):
    dx, dy = x[:, None] - x[None, :], y[:, None] - y[None, :]
    return np.sum(1 / (dx * dx + dy * dy + 0.1))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    ("f", "shapes"),
    [(chain, [(1_000_003,)]), (loss, [(701, 333), (701,), (333,)]), (blend, [(4099, 65)]),
     (smooth, [(50_001,), (20,)]), (pairs, [(901,), (901,)])],
)  # fmt: skip
def test_arrays_and_loops(put, f, shapes, dtype):
    rng = np.random.default_rng(11)
    args = [rng.uniform(0.1, 0.9, s).astype(dtype) for s in shapes]
    value, slopes = symgrad(f, target="cuda").value_and_grad(*map(put, args))
    expected = symgrad(f).value_and_grad(*(a.astype(float) for a in args))
    loose = 1e-10 if dtype == "float64" else 1e-3
    np.testing.assert_allclose(get(value), expected[0], rtol=loose)
    one = len(shapes) == 1
    for a, b in zip(
        (slopes,) if one else slopes, (expected[1],) if one else expected[1], strict=True
    ):
        assert get(a).dtype == dtype
        np.testing.assert_allclose(get(a), b, rtol=loose, atol=loose * np.max(np.abs(b)))


def test_sums_are_reproducible(put):
    x = put(np.random.default_rng(0).normal(size=3_000_001))
    f = symgrad(chain, target="cuda")
    assert len({float(get(f(x))) for _ in range(5)}) == 1


def test_checks_of_indices(put):
    def at(x, k):
        return np.sum(x[k])

    x, k = np.arange(10.0), np.arange(5)
    f = symgrad(at, target="cuda")
    assert float(get(f(put(x), put(k)))) == 10.0
    with pytest.raises(IndexError):
        f(put(x), put(k + 7))


def remainders(x):
    return np.exp(x[1:]) - 1 - x[1:] - x[1:] ** 2 / 2


def test_elements_of_flagged_arrays(put):
    x = np.array([1.0, 3e-3, -2e-4, 1e-3, 0.4, -1.5, 20.0])
    got = get(symgrad(remainders, target="cuda")(put(x)))
    np.testing.assert_allclose(got, symgrad(remainders)(x), rtol=1e-15)


def test_routines_of_the_host(put):
    def solved(a, b):
        return np.array([np.sum(np.linalg.solve(a, np.sort(b))), np.linalg.slogdet(a)[1]])

    rng = np.random.default_rng(12)
    a, b = rng.normal(size=(30, 30)) + 30 * np.eye(30), rng.normal(size=30)
    f, cpu = symgrad(solved, target="cuda"), symgrad(solved)
    np.testing.assert_allclose(get(f(put(a), put(b))), cpu(a, b), rtol=1e-12)
    for got, want in zip(f.jacobian(put(a), put(b)), cpu.jacobian(a, b), strict=True):
        np.testing.assert_allclose(get(got), want, rtol=1e-10, atol=1e-14)
    with pytest.raises(np.linalg.LinAlgError):
        f(put(0 * a), put(b))
