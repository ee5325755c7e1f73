"""Calling kernels: dtypes, shapes, strides, `out=`, threads, flags, pickles."""

import itertools
import os
import pickle
import subprocess
import sys
import threading
import tracemalloc
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from symdiff.ir import const, lt, mul, sqrt, var, where
from symdiff.ir import functions as F
from symdiff.runtime import builtin, threads
from symdiff.runtime.scalar import kernel as kernels
from symdiff.runtime.scalar.elementwise import ArgumentError, ShapeError
from symdiff.runtime.scalar.kernel import Kernel
from tests.collecting import collect
from tests.kernels import at_once, make_kernel

x, y = var("x"), var("y")
XY = ("x", "y")


def make(*outputs, params=XY, **options) -> Kernel:
    return make_kernel(outputs or (x * y + y, x - y), params, **options)


@pytest.fixture(scope="module")
def plain() -> Kernel:
    """x*y + y and x - y: NumPy computes the same bits."""
    return make()


def expect(a, b):
    return a * b + b, a - b


def both(kernel: Kernel, args):
    """The results where small arguments are copied, and where they stay where they are."""
    usual = kernels.COPIED
    for copied in (usual, 0):
        kernels.COPIED = copied
        try:
            yield kernel(args)
        finally:
            kernels.COPIED = usual


def check(kernel: Kernel, a, b) -> None:
    before = a.copy(), b.copy()
    for found in both(kernel, (a, b)):
        for got, true in zip(found, expect(a, b), strict=True):
            assert type(got) is type(true) and got.dtype == true.dtype
            np.testing.assert_array_equal(got, true)
    np.testing.assert_array_equal(before[0], a)
    np.testing.assert_array_equal(before[1], b)


# ----------------------------------------------------------------------------- scalars
def test_numbers_of_python_and_of_numpy_stay_such(plain):
    for a, b in [(2.0, 3.0), (2, 3.0), (True, 3), (Fraction(1, 2), 3)]:
        got = plain((a, b))
        assert [type(v) for v in got] == [float, float]
        assert got == [float(a) * b + b, float(a) - b]
    for a in (np.float64(2), np.array(2.0), np.int32(2)):
        assert [type(v) for v in plain((a, 3.0))] == [np.float64, np.float64]
    assert [v.dtype for v in plain((np.float32(2), 3.0))] == [np.float32] * 2
    assert plain((np.float32(0.1), 0.1))[1] == 0


def test_fast_is_a_builtin_that_refuses_what_it_does_not_know(plain):
    assert plain.fast(2.0, 3.0) == (9.0, -1.0)
    refused = [
        (2.0,), (2.0, 3.0, 4.0), (True, 3.0), (2**53 + 1, 3.0), (-(2**63), 3.0), (10**400, 1.0),
        (np.float32(2), 3.0), (np.int64(2), 3.0), (Fraction(1, 2), 3.0), ("2", 3.0), (),
    ]  # fmt: skip
    for args in refused:
        assert plain.fast(*args) is NotImplemented
    two, three = np.float64(2), np.float64(3)
    for a, b in itertools.product((2, 2.0, two), (3, 3.0, three)):
        kind = np.float64 if a is two or b is three else float
        assert [type(v) for v in plain.fast(a, b)] == [kind, kind]
        assert plain.fast(a, b) == (9.0, -1.0)
    big = 2**53
    assert plain.fast(big, -big) == (float(big) * -big - big, 2.0 * big)
    one = make(x + y)
    assert type(one.fast(1.0, 2.0)) is float and type(one.fast(np.float64(1), 2)) is np.float64
    single = make(x + y, dtype="float32")
    assert single.fast(np.float64(1), 2.0) is NotImplemented and single.fast(1, 2.0) == 3.0


def test_fast_leaks_nothing(plain):
    fast = plain.fast
    counts = [sys.getrefcount(o) for o in (NotImplemented, float)]
    value = 2.5
    held = sys.getrefcount(value)
    for _ in range(1000):
        fast(value, 3.0)
        fast(1)
    assert sys.getrefcount(value) == held
    if sys.version_info < (3, 12):  # later they are immortal
        assert abs(sys.getrefcount(NotImplemented) - counts[0]) < 10
    tuples = fast(1.0, 2.0)
    assert sys.getrefcount(tuples) == 2 and sys.getrefcount(tuples[0]) <= 3


def test_without_builtins(monkeypatch):
    """A Python whose objects we do not know takes the general path."""
    monkeypatch.setattr(builtin, "float_layout", lambda: None)
    monkeypatch.setattr(builtin, "arrays_are_known", lambda: False)
    kernel = make(test=lt(x, const(0)))
    assert kernel.fast(2.0, 3.0) == (9.0, -1.0) and make(x + y).fast(2.0, 3.0) == 5.0
    for args in [(2.0,), (2, 3.0), (-1.0, 3.0)]:
        assert kernel.fast(*args) is NotImplemented
    assert kernel((2.0, 3.0)) == [9.0, -1.0]
    check(kernel, np.arange(9.0), np.arange(9.0))


@pytest.mark.slow
def test_code_outlives_its_kernel():
    fast = make(x + y).fast
    collect()
    assert fast(1.0, 2.0) == 3.0


def test_no_parameters():
    kernel = make(const(3), params=())
    assert kernel(()) == [3.0] and kernel.fast() == 3.0


# ------------------------------------------------------------------------------ dtypes
@pytest.mark.parametrize(("first", "second", "result"), [
    ("f8", "f8", "f8"), ("f4", "f4", "f4"), ("f4", "f8", "f8"), ("f2", "f2", "f2"), ("f2", "f4", "f4"),
    ("i8", "i8", "f8"), ("bool", "i4", "f8"), (">f8", "f8", "f8"), (">f4", "<f4", "f4"),
])  # fmt: skip
def test_result_dtype(plain, first, second, result):
    a, b = np.array([0, 1, 2]).astype(first), np.array([1, 3, 5]).astype(second)
    got = plain((a, b))
    for value, true in zip(got, expect(a.astype(float), b.astype(float)), strict=True):
        assert value.dtype == np.dtype(result)
        np.testing.assert_array_equal(value, true)


@pytest.mark.parametrize("dtype", ["int8", "int16", "uint8", "uint16", "uint32", "uint64"])
def test_integers_that_wrap_around_are_refused(plain, dtype):
    with pytest.raises(TypeError, match=f"argument y is of dtype {dtype}, whose arithmetic wraps"):
        plain((np.linspace(0, 1, 3), np.array([1, 3, 5]).astype(dtype)))


def test_python_numbers_are_weak(plain):
    a = np.linspace(0, 1, 7, dtype=np.float32)
    for b in (0.1, 3, True):
        got = plain((a, b))[0]
        assert got.dtype == np.float32
        np.testing.assert_array_equal(got, a * np.float32(b) + np.float32(b))
    assert plain((a, np.float64(0.1)))[0].dtype == np.float64


def test_forced_dtype():
    a = np.linspace(0, 1, 5)
    assert make(dtype="float32")((a, a))[0].dtype == np.float32
    assert make(dtype="float64")((a.astype(np.float32), 1.0))[0].dtype == np.float64
    forced = make(dtype="float32")
    assert forced((0.1, 0.0))[1] == float(np.float32(0.1)) == forced.fast(0.1, 0.0)[1]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.array([1j]), "argument x is of dtype complex128"),
        (np.array([1], dtype=object), "argument x is of dtype object"),
        (np.array([1], dtype=np.longdouble), "argument x is of dtype"),
        (np.array(["a"]), "argument x is of dtype <U1"),
        ("2", "argument x is a str"),
        (2j, "argument x is a complex"),
        (None, "argument x is a NoneType"),
        (Decimal(1), "argument x is a Decimal"),
    ],
)
def test_what_is_not_real_is_refused(plain, value, text):
    with pytest.raises(TypeError, match=text):
        plain((value, 1.0))


def test_wrong_number_of_arguments(plain):
    with pytest.raises(ArgumentError, match=r"^f takes 2 arguments, 1 were given$"):
        plain((1.0,))


# ------------------------------------------------------------------- shapes and strides
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 7, 8, 9, 511, 512, 513, 1030])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_lengths(plain, n, dtype):
    rng = np.random.default_rng(n)
    check(plain, rng.normal(size=n).astype(dtype), rng.normal(size=n).astype(dtype))
    check(plain, rng.normal(size=n).astype(dtype), np.array(2, dtype))


def views(base: np.ndarray) -> list[np.ndarray]:
    return [
        base, base.T, base[::-1], base[:, ::2], base[::3, ::-2], base.swapaxes(0, 1)[1:],
        base[:, :1], base[:1], base[0], base[:, 0], np.asfortranarray(base),
    ]  # fmt: skip


def test_views_of_any_strides(plain):
    base = np.random.default_rng(0).normal(size=(31, 47))
    for a in views(base):
        for b in (a, a.copy(), np.float64(3), a[..., -1:]):
            check(plain, a, np.asarray(b))


def test_broadcasting_in_many_dimensions(plain):
    rng = np.random.default_rng(0)
    a = rng.normal(size=(5, 1, 4, 1, 3))
    b = rng.normal(size=(2, 1, 6, 1))
    check(plain, a, b)
    check(plain, a.transpose(4, 3, 2, 1, 0), np.arange(5.0))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=9),
    st.integers(0, 2**31),
    st.data(),
)
def test_broadcasting(shapes, seed, data):
    rng = np.random.default_rng(seed)
    arrays = []
    for shape in shapes.input_shapes:
        big = rng.normal(size=tuple(2 * n for n in shape))
        step = [data.draw(st.sampled_from([1, 2, -1, -2])) for _ in shape]
        view = big[tuple(slice(None, None, s) for s in step)]
        arrays.append(view[tuple(slice(0, n) for n in shape)])
    a, b = arrays
    for found in both(_plain, (a, b)):
        for got, true in zip(found, expect(a, b), strict=True):
            assert np.shape(got) == np.shape(true)
            np.testing.assert_array_equal(got, true)


_plain = make()


def test_shapes_that_do_not_broadcast(plain):
    with pytest.raises(ShapeError, match=r"do not broadcast: \(2,\), \(3,\)"):
        plain((np.zeros(2), np.zeros(3)))


def test_unaligned_and_read_only(plain):
    raw = np.zeros(8 * 20 + 1, np.uint8)[1:].view(np.float64)
    raw[:] = np.arange(20)
    assert not raw.flags.aligned
    check(plain, raw, np.arange(20.0))
    raw.flags.writeable = False
    check(plain, raw, np.arange(20.0))


def test_subclasses_and_lists(plain):
    masked = np.ma.array([1.0, 2.0], mask=[0, 1])
    assert type(plain((masked, 1.0))[0]) is np.ndarray
    assert plain(([1, 2], (3.0, 4.0)))[1].tolist() == [-2, -2]


def test_memory_order_follows_the_input(plain):
    a = np.asfortranarray(np.ones((3, 4)))
    assert plain((a, 1.0))[0].flags.f_contiguous
    assert plain((a.T, 1.0))[0].flags.c_contiguous


def test_constants_have_the_broadcast_shape():
    kernel = make(const(1), x, sqrt(F.PI()))
    one, same, root = kernel((np.zeros((3, 1)), np.zeros(4)))
    assert one.shape == same.shape == root.shape == (3, 4)
    assert (one == 1).all() and (root == 1.772453850905516).all()


def test_many_outputs_and_inputs():
    """More operands than NumPy's iterator takes."""
    params = tuple(f"x{i}" for i in range(40))
    outputs = [mul(var(p), var(q)) for p in params for q in params[:5]]
    kernel = make(*outputs, params=params)
    values = [np.arange(10.0) + k for k in range(40)]
    got = kernel(values)
    for k, (p, q) in enumerate((p, q) for p in range(40) for q in range(5)):
        np.testing.assert_array_equal(got[k], values[p] * values[q])


# --------------------------------------------------------------------------------- out
def test_out_is_filled_and_returned(plain):
    for a, b in ((np.arange(20.0), np.arange(20.0) + 1), (2.0, 3.0)):
        out = np.empty(np.shape(a))
        got = plain((a, b), [out, None])
        assert got[0] is out
        np.testing.assert_array_equal(out, a * b + b)
        np.testing.assert_array_equal(got[1], a - b)


@pytest.mark.parametrize("n", [1, 5, 64, 1000, 5000])
def test_out_may_be_an_input(plain, n):
    a, b = np.random.default_rng(0).normal(size=(2, n))
    first, second = expect(a, b)
    plain((a, b), [a, b])
    np.testing.assert_array_equal(a, first)
    np.testing.assert_array_equal(b, second)


@pytest.mark.parametrize("n", [1, 5, 64, 1000, 5000])
@pytest.mark.parametrize("shift", [-3, -1, 1, 4])
def test_out_may_overlap_an_input(plain, n, shift):
    memory = np.random.default_rng(0).normal(size=n + 10)
    a, out = memory[5 : 5 + n], memory[5 + shift : 5 + shift + n]
    true = a * 2.0 + 2.0
    plain((a, 2.0), [out, None])
    np.testing.assert_array_equal(out, true)
    reversed_view = memory[5 : 5 + n]
    true = reversed_view * 2.0 + 2.0
    plain((reversed_view, 2.0), [reversed_view[::-1], None])
    np.testing.assert_array_equal(reversed_view[::-1], true)


def test_out_over_a_broadcast_input(plain):
    memory = np.arange(12.0).reshape(3, 4)
    true = memory[0] * memory + memory
    plain((memory[0], memory), [memory, None])
    np.testing.assert_array_equal(memory, true)


def test_strided_and_converted_out(plain):
    a = np.arange(6.0).reshape(2, 3)
    for out in (
        np.zeros((3, 2)).T,
        np.zeros((4, 6))[::2, ::2],
        np.zeros((2, 3), ">f8"),
        np.zeros((2, 3), np.float32),
        np.zeros((2, 3), np.longdouble),
    ):
        plain((a, 1.5), [out, None])
        np.testing.assert_array_equal(out, (a * 1.5 + 1.5).astype(out.dtype))


READ_ONLY = np.zeros(2)
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize(
    ("out", "error", "text"),
    [
        (np.zeros(3), ShapeError, r"out has shape \(3,\), the result has shape \(2,\)"),
        (np.zeros(2, int), ArgumentError, "out has dtype int64, which cannot hold float64"),
        ([0, 0], ArgumentError, "out must be an array or None, not list"),
        (READ_ONLY, ShapeError, "out is read-only"),
    ],
)
def test_out_that_does_not_fit(plain, out, error, text):
    with pytest.raises(error, match=text):
        plain((np.zeros(2), 1.0), [out, None])


# ----------------------------------------------------------------------------- flagged
def test_flaggeds_are_reported():
    kernel = make(x + y, test=lt(x, y))
    assert kernel.fast(1.0, 2.0) is NotImplemented and kernel.fast(2.0, 1.0) == 3.0
    assert kernel.evaluate((1.0, 2.0)) == ([3.0], 1, None)
    assert kernel.evaluate((np.float64(1), 2.0)).flagged == 1
    for a in (np.arange(1000.0), np.arange(999.0)[::-3], np.arange(24.0).reshape(2, 3, 4).T):
        result = kernel.evaluate((a, 5.0))
        np.testing.assert_array_equal(result.flags, a < 5)
        assert result.flags.dtype == np.uint8 and result.flagged == (a < 5).sum()
        np.testing.assert_array_equal(result.values[0], a + 5)
    assert kernel.evaluate((np.arange(9, dtype=np.float32), 5.0)).flagged == 5
    for n in (3, 10**6):
        none = kernel.evaluate((np.full(n, 6.0), 5.0))
        assert none.flagged == 0 and none.flags is None and (none.values[0] == 11).all()


# ------------------------------------------------------------- the builtin for arrays
@pytest.mark.sampled
@pytest.mark.parametrize("shape", [(0,), (1,), (5,), (513,), (2, 3), (0, 3), (4, 1, 7)])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_fast_arrays(plain, shape, dtype):
    fast = plain.fast_arrays(dtype)
    a = np.random.default_rng(0).normal(size=shape).astype(dtype)
    for b in (a + a.dtype.type(1), 0.1):
        got, same = fast(a, b), a.dtype.type(b) if type(b) is float else b
        assert type(got) is tuple
        for value, true in zip(got, expect(a, same), strict=True):
            assert type(value) is np.ndarray and value.dtype == a.dtype and value.shape == shape
            np.testing.assert_array_equal(value, true)
    assert type(make(x + y).fast_arrays(dtype)(0.5, a)) is np.ndarray


def test_fast_arrays_refuses_what_it_does_not_know(plain):
    fast, a = plain.fast_arrays(), np.ones((4, 6))
    refused = [
        (a,), (a, a, a), (), (1.0, 2.0), (a, True), (a, 2**53 + 1), (a, np.float32(1)), (a, a[:2]), (a, a[0]),
        (a.T, a.T), (a, a[:, ::-1]), (np.asfortranarray(a), a), (a.astype("f4"), a), (a.astype(">f8"), a),
        (a.astype(int), a), (np.ma.array(a), a), (a, [1.0]), (np.array(1.0), 1.0), (a, None),
        (np.ones(10**7), 1.0), (a, a.reshape(6, 4)),
    ]  # fmt: skip
    for args in refused:
        assert fast(*args) is NotImplemented, args
    single, line = a.astype("f4"), np.arange(9.0)
    assert plain.fast_arrays("float32")(single, np.float64(1)) is NotImplemented
    assert fast(line[::2], line[:5], np.empty(5), np.empty(5)) is NotImplemented
    flagging = make(x + y, test=lt(x, y)).fast_arrays()
    assert flagging(a, a + 1) is NotImplemented and (flagging(a, a) == 2).all()
    mixed = a.copy()
    mixed[-1, -1] = 0
    assert flagging(mixed, 1.0) is NotImplemented


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("size", [1, 7, 600, 3000])
def test_fast_arrays_takes_numbers_and_strides(plain, dtype, size):
    fast = plain.fast_arrays(dtype)
    table = np.random.default_rng(1).normal(size=(size, 3)).astype(dtype)
    backwards, column = table[::-1, 0], table[:, 1]
    numbers = [3, -7] if dtype == "float32" else [3, -7, np.float64(0.3)]
    for args in [(column, backwards), (backwards, column.copy()), *((column, n) for n in numbers)]:
        a, b = args
        true = expect(a, b if type(b) is np.ndarray else column.dtype.type(b))
        for value, expected in zip(fast(a, b), true, strict=True):
            assert value.dtype == dtype and value.flags.c_contiguous
            np.testing.assert_array_equal(value, expected)


def test_fast_arrays_leaks_nothing(plain):
    flagging = make(x + y, test=lt(x, y)).fast_arrays()
    a, out = np.ones(1000), np.empty(1000)
    held = sys.getrefcount(a), sys.getrefcount(a.dtype)
    tracemalloc.start()
    plain.fast_arrays()(a, a)
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(200):
        plain.fast_arrays()(a, a)
        plain.fast_arrays()(a, a, out, out)
        flagging(a, 2.0)
        flagging(a, 2.0, out)
        flagging(a, "2")
    assert tracemalloc.get_traced_memory()[0] - before < 20_000
    tracemalloc.stop()
    assert (sys.getrefcount(a), sys.getrefcount(a.dtype)) == held
    assert sys.getrefcount(out) == 2
    first, _ = plain.fast_arrays()(a, a)
    assert sys.getrefcount(first) == 2 and first.base is None and first.flags.owndata


# ------------------------------------------------------------------------------ threads
def test_threads_compute_the_same():
    e = F.SIN(x) * F.EXP(-x * x) + where(lt(x, y), x, y)
    a, b = np.random.default_rng(0).normal(size=(2, 100_003))
    serial = make(e, parallel=False, test=lt(x, y)).evaluate((a, b))
    parallel = make(e, parallel=True, test=lt(x, y)).evaluate((a, b))
    np.testing.assert_array_equal(serial.values[0], parallel.values[0])
    np.testing.assert_array_equal(serial.flags, parallel.flags)


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_parts_make_up_the_whole(parts):
    seen, lock = [], threading.Lock()

    def task(start, stop):
        with lock:
            seen.append((start, stop))

    threads.run(task, 1000, parts)
    seen.sort()
    assert seen[0][0] == 0 and seen[-1][1] == 1000
    assert all(a[1] == b[0] for a, b in itertools.pairwise(seen))


def test_errors_in_threads_are_raised():
    def task(start, stop):
        if start:
            raise ValueError("in a thread")

    with pytest.raises(ValueError, match="in a thread"):
        threads.run(task, 1000, 2)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_fork_after_threads():
    """A pool's threads are not in the child; it must not wait for them."""
    code = """
import os, sys, numpy as np
from symdiff.ir import var
from symdiff.runtime import threads
from symdiff.runtime.protocols import Plain
from symdiff.runtime.scalar.kernel import Kernel
k = Kernel(Plain("f", ("x",), (var("x") * var("x"),)), cache=False, parallel=True)
a = np.arange(50000.0)
threads.processors = lambda: 3
assert (k((a,))[0] == a * a).all()
pid = os.fork()
if pid == 0:
    os._exit(0 if (k((a,))[0] == a * a).all() else 1)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_concurrent_first_use():
    kernel, barrier = make(F.SIN(x) + y), threading.Barrier(8)

    def call():
        barrier.wait()
        return kernel.fast(1.0, 2.0), kernel((np.ones(5), 2.0))[0][0]

    results = at_once(8, call)
    assert len(results) == 8 and len(set(results)) == 1


# ------------------------------------------------------------------------------ pickles
def test_pickle():
    kernel = make(F.LOGADDEXP(x, y), x / const(3), test=lt(x, y), accuracy="strict")
    copy = pickle.loads(pickle.dumps(kernel))
    assert copy.outputs == kernel.outputs and copy.function == kernel.function
    assert copy.accuracy == "strict" and copy.evaluate((2.0, 1.0)) == kernel.evaluate((2.0, 1.0))


def test_options_are_checked():
    for option in ({"accuracy": "best"}, {"parallel": "yes"}, {"dtype": "float16"}):
        with pytest.raises(ArgumentError):
            make(**option)
