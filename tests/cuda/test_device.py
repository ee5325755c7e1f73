"""CUDA kernels on arrays: the printed text, run on the CPU by a driver without a device."""

from __future__ import annotations

import ctypes
import math
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from flint import arb

from symdiff import symgrad
from symdiff.errors import SymdiffError, TargetError
from symdiff.interpret import Certified
from symdiff.runtime.cuda import device_arrays, nvrtc
from symdiff.runtime.scalar.elementwise import ArgumentError, ShapeError
from tests.cuda.host import HostArray


def h(x):
    return (x**2 - 4) / (x - 2)


def cosine_ratio(x):
    return (1 - math.cos(x)) / x**2


def product(x, y):
    return x * math.sin(y)


def polar(x, y):
    return np.array([np.hypot(x, y), np.arctan2(y, x)])


def on_device(f, **options):
    return symgrad(f, target="cuda", **options)


def launches(driver):
    return ctypes.c_int.in_dll(driver, "launches").value


def ulps(got, f, *columns):
    """The largest error of an array of results, in units of the last place."""
    program = f._source.optimized({})
    exact = Certified(program.params, program.reference)
    worst = 0.0
    for k, values in enumerate(zip(*np.broadcast_arrays(*columns), strict=True)):
        truth = exact.at([float(v) for v in values], "float64")[0]
        unit = np.spacing(np.abs(got.dtype.type(truth)))
        worst = max(worst, abs(float(got[k]) - truth) / float(unit))
    return worst


@pytest.mark.slow
def test_without_the_compiler(monkeypatch):
    for name in ("cuda", "cuda.bindings"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(TargetError, match=r"(?s)need NVIDIA's compiler.*symdiff\[cuda\]"):
        symgrad(h, cache=False).ptx()
    assert symgrad(h, target="auto")(2.0) == 4.0


# ------------------------------------------------------------------------- arrays
@pytest.mark.slow
def test_device_arrays_stay_on_the_device(fake_device):
    x = HostArray(np.linspace(0, 4, 1001))
    value, slope = on_device(h).value_and_grad(x)
    assert type(value) is type(slope) is HostArray
    np.testing.assert_array_equal(value.array, x.array + 2)
    np.testing.assert_array_equal(slope.array, np.ones(1001))


@pytest.mark.sampled
@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 255, 100_003])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_length(fake_device, n, dtype):
    x = np.linspace(-2, 5, n).astype(dtype)
    got = on_device(h)(HostArray(x)).array
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, x + np.array(2, dtype))


@pytest.mark.slow
def test_host_arrays_are_copied_and_floats_give_floats(fake_device):
    f = on_device(h)
    assert f(2.0) == 4.0
    assert type(f(2.0)) is float
    got = f.grad(np.linspace(0, 4, 5))
    assert type(got) is np.ndarray
    np.testing.assert_array_equal(got, np.ones(5))
    assert f(np.float32([1, 2])).dtype == np.float32
    assert f(np.float16([1, 2])).dtype == np.float16
    assert type(f(np.float32(2))) is np.float32
    np.testing.assert_array_equal(f(np.array([[1, 2], [3, 4]])), [[3, 4], [5, 6]])


@pytest.mark.slow
def test_arrays_broadcast(fake_device):
    x, y = np.linspace(-1, 1, 7), np.linspace(0, 2, 5)[:, None]
    f = on_device(product)
    truth = x * np.sin(y)
    for a, b in ((HostArray(x), HostArray(y)), (HostArray(x), y), (x, HostArray(y))):
        np.testing.assert_allclose(f(a, b).array, truth, rtol=1e-15)
    np.testing.assert_allclose(f(HostArray(x), 0.5).array, x * math.sin(0.5), rtol=1e-15)
    np.testing.assert_allclose(f(2.0, HostArray(y)).array, 2 * np.sin(y), rtol=1e-15)
    slope = f.grad(HostArray(x), HostArray(y))[1]
    np.testing.assert_allclose(slope.array, x * np.cos(y), rtol=1e-15)


@pytest.mark.slow
def test_strided_arrays_are_read_where_they_lie(fake_device):
    base = np.arange(120.0).reshape(4, 5, 6)
    f = on_device(h)
    for view in (base[::2], base[:, ::-1, 1::2], base.T, base[..., 2], base[:, 1:3, :][1:]):
        np.testing.assert_array_equal(f(HostArray(view)).array, view + 2)
    odd = base.reshape(-1)[1:]  # dense, but not aligned for vectors
    np.testing.assert_array_equal(f(HostArray(odd)).array, odd + 2)


@pytest.mark.sampled
@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "i4", "u4", "i8", "b1", "f4"])
def test_other_types_are_converted_when_read(fake_device, kind):
    x = np.array([0, 1, 1, 0, 1, 1, 1]).astype(kind)
    y = np.linspace(0, 1, 7)
    got = on_device(product)(HostArray(x), HostArray(y))
    assert got.array.dtype == np.float64
    np.testing.assert_allclose(got.array, x * np.sin(y), rtol=1e-15)


@pytest.mark.slow
def test_results_nest_as_the_function_has_them(fake_device):
    x, y = HostArray(np.array([3.0, 1.0])), HostArray(np.array([4.0, 1.0]))
    got = on_device(polar)(x, y)
    np.testing.assert_allclose(
        got.array, [[5, math.sqrt(2)], [math.atan2(4, 3), math.pi / 4]], rtol=1e-15
    )

    def twice(x):
        return {"a": (x * x, x), "b": np.array([x, x + 1, x])}

    got = on_device(twice)(x)
    np.testing.assert_array_equal(got["a"][0].array, [9, 1])
    np.testing.assert_array_equal(got["b"].array, [[3, 1], [4, 2], [3, 1]])


@pytest.mark.slow
def test_products(fake_device):
    x, y = np.array([0.5, 1.0]), np.array([1.0, 2.0])
    f = on_device(product)
    value, tangent = f.jvp((HostArray(x), HostArray(y)), (1.0, HostArray(y)))
    np.testing.assert_allclose(value.array, x * np.sin(y), rtol=1e-15)
    np.testing.assert_allclose(tangent.array, np.sin(y) + x * np.cos(y) * y, rtol=1e-15)
    _, (dx, _) = f.vjp((HostArray(x), HostArray(y)), 2.0)
    np.testing.assert_allclose(dx.array, 2 * np.sin(y), rtol=1e-15)
    with pytest.raises(SymdiffError, match="of arguments that broadcast, on a CUDA device"):
        f.vjp((2.0, HostArray(y)), 1.0)
    with pytest.raises(SymdiffError, match="the vector by x has the shape"):
        f.jvp((2.0, HostArray(y)), (HostArray(y), 1.0))


# ---------------------------------------------------------------------------- out=
@pytest.mark.slow
def test_out(fake_device):
    x = HostArray(np.linspace(0, 1, 9))
    value, slope = HostArray(np.empty(9)), HostArray(np.empty((9, 2)).T[0])
    out = (value, slope)
    assert on_device(cosine_ratio).value_and_grad(x, out=out) is out
    expected = symgrad(cosine_ratio).value_and_grad(x.array)
    np.testing.assert_allclose(value.array, expected[0], rtol=1e-15)
    np.testing.assert_allclose(slope.array, expected[1], rtol=1e-15)
    wide = HostArray(np.empty(9))
    on_device(h)(HostArray(np.float32(x.array)), out=wide)
    np.testing.assert_array_equal(wide.array, np.float32(x.array) + np.float32(2))
    whole = HostArray(np.empty((2, 3)))
    on_device(polar)(HostArray(np.ones(3)), 0.0, out=whole)
    np.testing.assert_array_equal(whole.array, [[1, 1, 1], [0, 0, 0]])
    host = np.empty(9)
    assert on_device(h)(x.array, out=host) is host
    np.testing.assert_array_equal(host, x.array + 2)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_out_may_overlap_the_arguments(fake_device, dtype):
    f = on_device(cosine_ratio)
    memory = np.linspace(0, 1, 40).astype(dtype)
    expected = symgrad(cosine_ratio)(memory)
    same = memory.copy()
    f(HostArray(same), out=HostArray(same))
    np.testing.assert_allclose(same, expected, rtol=1e-6)
    shifted = memory.copy()
    f(HostArray(shifted[:-1]), out=HostArray(shifted[1:]))
    np.testing.assert_allclose(shifted[1:], expected[:-1], rtol=1e-6)
    both = memory.copy()
    f.value_and_grad(HostArray(both), out=(HostArray(both), HostArray(np.empty(40, dtype))))
    np.testing.assert_allclose(both, expected, rtol=1e-6)


# -------------------------------------------------------------------------- accuracy
NEAR = np.array([1e-300, 1e-170, 1e-20, 1e-9, 1e-5, 1e-3, 0.01, 0.1, 0.5, 1.0, 6.28, 1e5, 0.0])


def cancelling(x):
    return math.exp(x) - 1 - x - x * x / 2


@pytest.mark.slow
def test_points_where_the_formula_fails(fake_device):
    f = on_device(cosine_ratio)
    for g in (f, f.grad, f.hessian):
        assert ulps(g(HostArray(NEAR)).array, g, NEAR) <= 4


@pytest.mark.slow
def test_flagged_elements_are_computed_again(fake_device):
    x = np.array([1e-4, 1e-3, 0.01, -0.2, 0.7, 5.0, -30.0])
    f = on_device(cancelling)
    assert ulps(f(HostArray(x)).array, f, x) <= 4
    assert ulps(f.grad(HostArray(x)).array, f.grad, x) <= 4
    plain = on_device(cancelling, accuracy="fast")(HostArray(x)).array
    assert ulps(plain, f, x) > 1000


@pytest.mark.slow
def test_single_precision_is_repaired_in_double(fake_device):
    x = np.float32(np.concatenate([NEAR[4:-2], np.linspace(-3, 3, 61)]))
    for f in (on_device(cosine_ratio), on_device(cancelling)):
        before = launches(fake_device)
        got = f.grad(HostArray(x)).array
        assert launches(fake_device) == before + 2
        assert got.dtype == np.float32
        assert ulps(got, f.grad, x) <= 4


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_divided_and_repaired_where_registers_spill(fake_device, monkeypatch, dtype):
    plain = nvrtc.machine_code

    def spilling(text, *args, **kwargs):
        names = [f"symdiff_{k}" for k in range(4)]
        return replace(plain(text, *args, **kwargs), spills=dict.fromkeys(names, 8))

    monkeypatch.setattr(nvrtc, "machine_code", spilling)
    x = np.geomspace(1e-4, 1, 41).astype(dtype)
    f = on_device(cancelling).value_and_grad
    kernel = f._cuda.compiled({})[1].kernel
    groups = kernel.groups(dtype, (9, 0))
    assert [g.members for g in groups] == [(0,), (1,)]
    assert all(g.repair for g in groups)
    before = launches(fake_device)
    memory = x.copy()  # read again by every kernel, so it must not be written before
    value, slope = HostArray(memory), HostArray(np.empty_like(x))
    f(HostArray(memory), out=(value, slope))
    assert launches(fake_device) == before + 5
    assert ulps(value.array, on_device(cancelling), x) <= 4
    assert ulps(slope.array, on_device(cancelling).grad, x) <= 4


@pytest.mark.slow
def test_what_double_double_cannot_settle_is_left(fake_device):
    def tail(x):
        return math.erfc(x) - math.erfc(x + 1e-9)

    x = np.linspace(0.1, 2, 8)
    got = on_device(tail)(HostArray(x)).array
    np.testing.assert_allclose(got, 2e-9 / math.sqrt(math.pi) * np.exp(-x * x), rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_trigonometry_in_single_precision(fake_device, name):
    f = on_device({"sin": lambda x: math.sin(x), "cos": lambda x: math.cos(x),
                   "tan": lambda x: math.tan(x)}[name], accuracy="fast")  # fmt: skip
    rng = np.random.default_rng(7)
    bits = rng.integers(0, 2**32, 4000, dtype=np.uint32).view(np.float32)
    near = (np.arange(1, 40000, 7) * (math.pi / 2)).astype(np.float32)
    x = np.concatenate([bits[np.isfinite(bits)], near, rng.uniform(-9, 9, 999).astype("f4")])
    got = f(HostArray(x)).array
    worst = 0.0
    for a, b in zip(x, got, strict=True):
        truth = getattr(arb(float(a)), name)().mid()
        unit = float(np.spacing(np.abs(np.float32(float(truth)))))
        worst = max(worst, abs(float(arb(float(b)) - truth)) / unit)
    assert worst < (3 if name == "tan" else 1.5)
    special = f(HostArray(np.float32([math.inf, -math.inf, math.nan]))).array
    assert np.isnan(special).all()


# -------------------------------------------------------------------- calls and errors
@pytest.mark.slow
def test_auto_computes_where_the_arguments_lie(fake_device):
    f = symgrad(h, target="auto")
    before = launches(fake_device)
    assert f(2.0) == 4.0
    np.testing.assert_array_equal(f(np.ones(3)), [3, 3, 3])
    assert launches(fake_device) == before
    np.testing.assert_array_equal(f(HostArray(np.ones(3))).array, [3, 3, 3])
    assert launches(fake_device) == before + 1


@pytest.mark.slow
def test_streams(fake_device):
    class Stream:
        def __init__(self, **fields):
            self.__dict__.update(fields)

    x = HostArray(np.ones(3))
    for stream in (0, 7, Stream(cuda_stream=5), Stream(ptr=5), Stream(handle=ctypes.c_void_p(5))):
        np.testing.assert_array_equal(on_device(h)(x, stream=stream).array, [3, 3, 3])
    assert device_arrays.stream_handle(Stream(__cuda_stream__=lambda: (0, 9))) == 9
    assert device_arrays.stream_handle(Stream(handle=ctypes.c_void_p(5))) == 5
    with pytest.raises(SymdiffError, match="a str is not a CUDA stream"):
        on_device(h)(x, stream="main")

    def flow(stream):
        return 2 * stream

    assert on_device(flow)(stream=3.0) == 6.0


@pytest.mark.slow
def test_several_threads(fake_device):
    f, x = on_device(h), np.linspace(0, 1, 300)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda k: f.grad(HostArray(x + k)).array, range(32)))
    for k, got in enumerate(found):
        np.testing.assert_array_equal(got, np.ones(300), err_msg=str(k))


@pytest.mark.slow
def test_pickling(fake_device):
    f = pickle.loads(pickle.dumps(on_device(h)))
    np.testing.assert_array_equal(f(HostArray(np.ones(2))).array, [3, 3])


@pytest.mark.slow
def test_refusals(fake_device):
    f, x = on_device(h), HostArray(np.ones(3))
    with pytest.raises(ShapeError, match="do not broadcast"):
        on_device(product)(x, HostArray(np.ones(4)))
    with pytest.raises(ShapeError, match=r"out has shape \(4,\)"):
        f(x, out=HostArray(np.ones(4)))
    with pytest.raises(ArgumentError, match="the arguments lie on a device"):
        f(x, out=np.ones(3))
    with pytest.raises(ArgumentError, match="cannot hold float64"):
        f(x, out=HostArray(np.ones(3, "i4")))
    with pytest.raises(ArgumentError, match="cannot be used on a device"):
        f(HostArray(np.ones(3, "c16")))
    with pytest.raises(ArgumentError, match="float16"):
        f(HostArray(np.ones(3, "f2")))
    with pytest.raises(TargetError, match="needs the CPU"):
        symgrad(h, target="cuda", accuracy="certified")(1.0)
    with pytest.raises(SymdiffError, match="unknown target 'gpu'"):
        symgrad(h, target="gpu")
