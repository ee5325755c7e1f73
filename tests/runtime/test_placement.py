"""Where results are written: past the caches, from aligned elements on, into given arrays."""

import itertools
import sys
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symdiff import symgrad
from symdiff.codegen.llvm import jit
from symdiff.ir import lt, mul, var
from symdiff.runtime import builtin
from symdiff.runtime.scalar import elementwise
from symdiff.runtime.scalar.elementwise import ShapeError
from symdiff.runtime.scalar.kernel import Kernel
from tests.kernels import make_kernel, narrow

x, y = var("x"), var("y")
SENTINEL = -7.0
needs_streams = pytest.mark.skipif(not jit.has_flags(), reason="no stores past the caches here")
needs_builtins = pytest.mark.skipif(builtin.float_layout() is None, reason="no builtins here")


def make(*outputs, **options) -> Kernel:
    return make_kernel(outputs or (x * y + y, x - y, x * x), **options)


KERNELS = {d: make() for d in ("float64", "float32")}


def expected(a, b):
    return a * b + b, a - b, a * a


def at(offset: int, n: int, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Some memory, and n elements of it that begin `offset` elements behind a cache line."""
    memory = np.full(n + 64, SENTINEL, dtype)
    first = -memory.ctypes.data % 64 // memory.itemsize + offset
    return memory, memory[first : first + n]


# ----------------------------------------------------------------------- past the caches
@pytest.mark.slow
@needs_streams
@pytest.mark.parametrize("host", [jit.host(), narrow()], ids=["whole", "narrow"])
@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(elementwise.SMALLEST_ALIGNED, 20_000),
    offsets=st.one_of(
        st.integers(0, 16).map(lambda k: (k, k, k)),
        st.tuples(*[st.integers(0, 8).map(lambda k: 2 * k)] * 3),
        st.tuples(*[st.integers(0, 16)] * 3),
    ),
    dtype=st.sampled_from(["float64", "float32"]),
    threads=st.booleans(),
)
def test_every_element_is_written_once_wherever_outputs_lie(host, n, offsets, dtype, threads):
    rng = np.random.default_rng(n)
    a, b = (rng.uniform(-3, 3, n).astype(dtype) for _ in range(2))
    places = [at(k, n, dtype) for k in offsets]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(elementwise, "STREAMED", 0)
        patch.setattr(jit, "host", lambda: host)
        make(parallel=threads)((a, b), [out for _, out in places])
    for (memory, out), true in zip(places, expected(a, b), strict=True):
        np.testing.assert_array_equal(out, true)
        assert np.count_nonzero(memory == SENTINEL) >= 64


@needs_streams
def test_the_ways_to_write(monkeypatch):
    monkeypatch.setattr(elementwise, "STREAMED", 0)
    call = elementwise.Call(None, np.dtype(float), np.dtype(float), 1.0, False)
    register = jit.host().bits // 8

    def how(*offsets: int, n: int = 4096) -> tuple[int, int]:
        starts = [1 << 20] + [(1 << 21) + k for k in offsets]
        table = elementwise.array("q", starts + [0] * 3 * len(starts))
        return call._placed(table, 1, n)

    assert how(0, 0) == (0, elementwise.WHOLE)
    assert how(register - 8, register - 8) == (1, elementwise.WHOLE)
    assert how(0, 16) == (0, elementwise.SHIFTED if register > 16 else elementwise.WHOLE)
    assert how(0, 8) == (0, elementwise.SHIFTED if register == 64 else elementwise.PLAIN)
    assert how(4, 4)[1] == elementwise.PLAIN
    assert how(*[0] * (elementwise.MOST + 1)) == (0, elementwise.PLAIN)
    assert how(register - 8, n=100) == (0, elementwise.PLAIN)
    monkeypatch.setattr(elementwise, "STREAMED", 1 << 20)
    assert how(0, 0) == (0, elementwise.PLAIN)


@needs_streams
def test_flagged_elements_are_mended_past_the_caches(monkeypatch):
    monkeypatch.setattr(elementwise, "STREAMED", 0)
    f = symgrad(lambda a: (1 - np.cos(a)) / a**2, parallel=False).value_and_grad
    n = 50_000
    a = np.linspace(-1e-3, 3, n)
    out = at(3, n, "float64")[1], at(3, n, "float64")[1]
    f(a, out=out)
    few = slice(0, n, 997)
    for got, true in zip(out, f(a[few].copy()), strict=True):
        np.testing.assert_allclose(got[few], true, rtol=1e-14)


# ------------------------------------------------------------------- into given arrays
@pytest.mark.sampled
@needs_builtins
@pytest.mark.parametrize("n", [0, 1, 7, 8, 513, 2048, 3001])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_builtin_writes_to_given_arrays(n, dtype):
    a, b = np.linspace(-2, 2, n, dtype=dtype), np.linspace(1, 3, n, dtype=dtype)
    for offsets in itertools.islice(itertools.product((0, 1, 5), repeat=3), 9):
        out = [at(k, n, dtype)[1] for k in offsets]
        assert KERNELS[dtype].fast_arrays(dtype)(a, b, *out) is None
        for got, true in zip(out, expected(a, b), strict=True):
            np.testing.assert_array_equal(got, true)


@needs_builtins
def test_the_builtin_refuses_arrays_it_must_not_write():
    call = KERNELS["float64"].fast_arrays()
    a, b = np.linspace(0, 1, 40), np.linspace(1, 2, 40)

    def fresh() -> list[np.ndarray]:
        return [np.empty(40) for _ in range(3)]

    read_only = np.empty(40)
    read_only.flags.writeable = False
    memory = np.zeros(100)
    bad = [
        None, 1.0, read_only, np.empty(41), np.empty((5, 8)), np.empty(80)[::2],
        np.empty(40, "float32"), a, np.empty(40).view(np.recarray), [0.0] * 40,
    ]  # fmt: skip
    for k, wrong in itertools.product(range(3), bad):
        out = fresh()
        out[k] = wrong
        assert call(a, b, *out) is NotImplemented
    assert call(memory[:40], b, memory[39:79], *fresh()[:2]) is NotImplemented
    assert call(memory[39:79], b, memory[:40], *fresh()[:2]) is NotImplemented
    assert call(memory[40:80], b, memory[:40], *fresh()[:2]) is None
    assert call(a, b, *fresh()[:2]) is NotImplemented
    out = fresh()
    assert call(2.0, 3.0, *out) is None
    assert [set(o) for o in out] == [{9.0}, {-1.0}, {4.0}]


@pytest.mark.sampled
@pytest.mark.parametrize("accuracy", ["fast", "high", "strict"])
@pytest.mark.parametrize("parallel", [True, False, "auto"])
def test_nested_out(accuracy, parallel):
    def f(a, b):
        return a * a * b + b

    g = symgrad(f, accuracy=accuracy, parallel=parallel).value_and_grad
    for n in (3, 1000, 30_000):
        a, b = np.linspace(-2, 2, n), np.linspace(1, 3, n)
        for _ in range(3):
            out = np.empty(n), (np.empty(n), np.empty(n))
            assert g(a, b, out=out) is out
            value, (by_a, by_b) = g(a, b)
            np.testing.assert_allclose(out[0], a * a * b + b, rtol=1e-14)
            np.testing.assert_array_equal(out[0], value)
            np.testing.assert_array_equal(out[1][0], by_a)
            np.testing.assert_array_equal(out[1][1], by_b)
        with pytest.raises(ShapeError):
            g(a, b, out=(np.empty(n), (np.empty(n + 1), np.empty(n))))
        held = a.copy()
        g(held, b, out=(np.empty(n), (held, np.empty(n))))
        np.testing.assert_array_equal(held, by_a)


@needs_builtins
def test_the_second_tier_serves_the_builtin():
    """Once it is compiled, flagged elements need no Python."""
    kernel = make(x + y, parallel=False, test=lt(x, 0), second=[x - y])
    a, b = np.array([1.0, -1.0, 2.0]), np.array([4.0, 5.0, 6.0])
    assert kernel.fast_arrays()(a, b) is NotImplemented
    assert kernel((a, b))[0].tolist() == [5.0, -6.0, 8.0]
    assert kernel.fast_arrays()(a, b).tolist() == [5.0, -6.0, 8.0]
    out = np.empty(3)
    assert kernel.fast_arrays()(a, b, out) is None
    assert out.tolist() == [5.0, -6.0, 8.0]


@needs_builtins
def test_what_the_second_tier_leaves_flagged_is_refused():
    kernel = make(x + y, parallel=False, test=lt(x, 0), second=[x - y], flagged=lt(x, -2))
    a, b = np.array([1.0, -3.0, 2.0]), np.array([4.0, 5.0, 6.0])
    assert kernel.evaluate((a, b)).flagged == 1
    assert kernel.fast_arrays()(a, b) is NotImplemented
    assert kernel.fast_arrays()(np.abs(a) - 1, b).tolist() == [4.0, 7.0, 7.0]


@needs_builtins
def test_one_thread_runs_large_arrays_without_python(monkeypatch):
    calls = []
    monkeypatch.setattr(elementwise.Call, "run", lambda *args: calls.append(args))
    a = np.ones(500_000)
    assert make(mul(x, y), parallel=False)((a, a))[0].sum() == 500_000
    assert not calls


@needs_builtins
def test_other_threads_run_during_long_calls():
    """No other thread is let in by the interpreter, so those that ran, ran during a call."""
    call = make(mul(x, y), parallel=False).fast_arrays()
    a, stop, ticks = np.ones(3_000_000), threading.Event(), []

    def tick() -> None:
        while not stop.wait(1e-4):
            ticks.append(None)

    thread = threading.Thread(target=tick)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000.0)
    try:
        thread.start()
        during = 0
        for _ in range(400):
            before = len(ticks)
            call(a, a)
            during += len(ticks) - before
            if during:
                break
    finally:
        sys.setswitchinterval(interval)
        stop.set()
        thread.join()
    assert during
