# ruff: noqa: F821
"""Functions with arrays and loops on a device: how they are called, what is launched, what
is refused; run on the CPU by a driver without a device."""

import ctypes
import math
import pickle
import re

import numpy as np
import pytest

from symdiff import Array, symgrad
from symdiff.errors import TargetError
from symdiff.runtime.loops.call import ComputationError, ElementError
from symdiff.runtime.scalar.elementwise import ArgumentError, ShapeError
from tests.cuda.host import HostArray


def energy(x):
    return np.sum((x[1:] - x[:-1] ** 2) ** 2)


def rows(X: Array["n", "m"], w: Array["m"]):
    return np.tanh(X @ w)


def soft(X: Array["n", "m"], w: Array["m"]):
    z = X @ w
    return np.log(np.sum(np.exp(z - np.max(z)))) + np.max(z)


def on_device(f, **options):
    return symgrad(f, target="cuda", **options)


def count(driver, name="launches"):
    return ctypes.c_int.in_dll(driver, name).value


# --------------------------------------------------------------------- arguments
@pytest.mark.slow
def test_device_arrays_stay_on_the_device(fake_device):
    x = np.linspace(0, 1, 1000)
    value, slope = on_device(energy).value_and_grad(HostArray(x))
    assert type(value) is type(slope) is HostArray
    assert value.array.shape == ()
    np.testing.assert_allclose(value.array, np.sum((x[1:] - x[:-1] ** 2) ** 2), rtol=1e-13)
    np.testing.assert_allclose(slope.array, symgrad(energy).grad(x), rtol=1e-13, atol=1e-15)


@pytest.mark.slow
def test_host_arrays_give_host_results(fake_device):
    x = np.linspace(0, 1, 100)
    value, slope = on_device(energy).value_and_grad(x)
    assert type(value) is float
    assert type(slope) is np.ndarray
    assert on_device(energy)(np.float32(x)).dtype == np.float32
    assert on_device(energy)(np.array([1, 2, 3])) == (2 - 1) ** 2 + (3 - 4) ** 2
    assert type(on_device(energy)(np.float16(x))) is np.float16


@pytest.mark.slow
def test_arrays_that_lie_otherwise_are_converted(fake_device):
    X, w = np.arange(24.0).reshape(4, 6) / 24, np.linspace(-1, 1, 4)
    f = on_device(rows)
    truth = np.tanh(X.T @ w)
    for view in (X.T, np.asfortranarray(X).T, np.repeat(X, 2, axis=1)[:, ::2].T, X[::-1][::-1].T):
        np.testing.assert_allclose(f(HostArray(view), HostArray(w)).array, truth, rtol=1e-14)
    whole = HostArray(np.arange(24).reshape(6, 4))
    np.testing.assert_allclose(
        f(whole, HostArray(np.float32(w))).array, np.tanh(whole.array @ np.float32(w).astype(float)),
        rtol=1e-14,
    )  # fmt: skip
    np.testing.assert_allclose(f(HostArray(X.T), w).array, truth, rtol=1e-14)


@pytest.mark.slow
def test_numbers_may_lie_on_the_device(fake_device):
    def scaled(x, c):
        return c * np.sum(x)

    x = HostArray(np.arange(5.0))
    for c in (2.0, np.float64(2), HostArray(np.array(2.0)), HostArray(np.array(2))):
        np.testing.assert_array_equal(on_device(scaled)(x, c).array, 20.0)


@pytest.mark.slow
def test_arguments_are_not_changed(fake_device):
    def overwritten(x):
        for i in range(1, len(x)):
            x[i] = x[i] + x[i - 1]
        return x

    x = np.arange(5.0)
    np.testing.assert_array_equal(on_device(overwritten)(HostArray(x)).array, np.cumsum(x))
    np.testing.assert_array_equal(x, np.arange(5.0))


@pytest.mark.slow
def test_an_argument_that_is_returned_is_copied(fake_device):
    x = np.arange(5.0)
    got = on_device(lambda x: (x, np.sum(x), x))(HostArray(x))
    assert not any(np.shares_memory(a.array, x) for a in got)
    np.testing.assert_array_equal(got[0].array, x)
    np.testing.assert_array_equal(got[2].array, x)


@pytest.mark.slow
def test_integers_and_truth_values(fake_device):
    def picked(x, k):
        return x[k], k * 2, x[k] > 0.5

    x, k = np.linspace(0, 1, 5), np.array([4, 0, 2**60 % 5], np.int32)
    a, b, c = on_device(picked)(HostArray(x), HostArray(k))
    np.testing.assert_array_equal(a.array, x[k])
    assert b.array.dtype == np.int64 and c.array.dtype == bool
    np.testing.assert_array_equal(b.array, 2 * k)
    np.testing.assert_array_equal(c.array, x[k] > 0.5)


@pytest.mark.slow
def test_empty_arrays(fake_device):
    assert on_device(energy)(np.empty(0)) == 0.0
    assert on_device(energy).grad(HostArray(np.empty(0))).array.shape == (0,)
    assert on_device(rows)(HostArray(np.empty((0, 3))), HostArray(np.ones(3))).array.shape == (0,)
    got = on_device(rows)(HostArray(np.empty((3, 0))), HostArray(np.ones(0)))
    np.testing.assert_array_equal(got.array, np.zeros(3))


# ---------------------------------------------------------------------------- out=
@pytest.mark.slow
def test_out(fake_device):
    X, w = np.random.default_rng(0).normal(size=(7, 5)), np.linspace(-1, 1, 5)
    truth = np.tanh(X @ w)
    f = on_device(rows)
    places = [np.empty(7), np.empty((7, 2)).T[0], np.empty(14)[::-2]]
    for place in places:
        out = HostArray(place)
        assert f(HostArray(X), HostArray(w), out=out) is out
        np.testing.assert_allclose(place, truth, rtol=1e-14)
    host = np.empty(7)
    assert f(X, w, out=host) is host
    np.testing.assert_allclose(host, truth, rtol=1e-14)
    value, slopes = HostArray(np.empty(())), (HostArray(np.empty((7, 5))), HostArray(np.empty(5)))
    both = on_device(soft).value_and_grad
    assert both(HostArray(X), HostArray(w), out=(value, slopes))[1] is slopes
    expected = symgrad(soft).value_and_grad(X, w)
    np.testing.assert_allclose(value.array, expected[0], rtol=1e-14)
    np.testing.assert_allclose(slopes[0].array, expected[1][0], rtol=1e-13, atol=1e-15)


@pytest.mark.slow
def test_out_may_overlap_the_arguments(fake_device):
    f = on_device(lambda x: np.cumsum(x[::-1]))
    x = np.arange(6.0)
    f(HostArray(x), out=HostArray(x))
    np.testing.assert_array_equal(x, [5, 9, 12, 14, 15, 15])


# ------------------------------------------------------------------------ launches
@pytest.mark.sampled
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n", [0, 1, 255, 257, 300_001])
def test_sums_of_any_length(fake_device, n, dtype):
    x = np.random.default_rng(n).uniform(-1, 1, n).astype(dtype)
    before = count(fake_device)
    got = on_device(lambda x: np.sum(x * x))(HostArray(x)).array
    assert count(fake_device) <= before + 4
    loose = 1e-13 if dtype == "float64" else 2e-6
    np.testing.assert_allclose(got, np.sum(x.astype(float) ** 2), rtol=loose)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_extremes_and_their_places(fake_device, dtype):
    rng = np.random.default_rng(3)

    def found(x):
        return np.max(x), np.min(x), np.argmax(x), np.argmin(x), np.any(x > 0.9), np.all(x < 2)

    f = on_device(found)
    for n in (1, 5, 700, 5000):
        x = rng.integers(-20, 20, n).astype(dtype) / 20  # many ties
        got = [g.array for g in f(HostArray(x))]
        assert got == [np.max(x), np.min(x), np.argmax(x), np.argmin(x), np.any(x > 0.9), True]


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_warp_adds_up_a_row(fake_device, dtype):
    f = on_device(rows)
    assert "symdiff_0_rows if m is 32 or more" in f.source("cuda")
    rng = np.random.default_rng(5)
    for n, m in ((3, 31), (70, 32), (2, 1000)):
        X, w = rng.normal(size=(n, m)).astype(dtype), rng.normal(size=m).astype(dtype)
        loose = 1e-13 if dtype == "float64" else 1e-4
        got = f(HostArray(X), HostArray(w)).array
        np.testing.assert_allclose(got, np.tanh(X @ w), rtol=loose, atol=loose)


def test_columns_are_added_up_by_one_thread_each():
    def sums(X: Array["n", "m"], axis: int = 0):
        return np.sum(X, axis=axis)

    def others(X: Array["n", "m"], axis: int = 1):
        return np.sum(X, axis=axis)

    assert "_rows if" not in symgrad(sums).source("cuda")
    assert "_rows if" in symgrad(others).source("cuda")


@pytest.mark.slow
def test_independent_rows_are_threads(fake_device):
    """A recurrence along each row, and its gradient with its own tape."""

    def blend(d: Array["n", "m"]):
        total = 0.0
        for row in range(d.shape[0]):
            e = 0.0
            for col in range(d.shape[1]):
                e = (1 - e) * d[row, col] + e
            total += e * e
        return total

    d = np.random.default_rng(1).uniform(size=(300, 6))
    f = on_device(blend)
    text = f.grad.source("cuda")
    assert "for " not in text.partition("\n\n")[0], text  # no loop of the host
    np.testing.assert_allclose(f(HostArray(d)).array, symgrad(blend)(d), rtol=1e-13)
    got = f.grad(HostArray(d)).array
    h = 1e-6
    for i, j in ((0, 0), (150, 3), (299, 5)):
        up, down = d.copy(), d.copy()
        up[i, j] += h
        down[i, j] -= h
        slope = (symgrad(blend)(up) - symgrad(blend)(down)) / (2 * h)
        np.testing.assert_allclose(got[i, j], slope, atol=1e-7)


@pytest.mark.slow
def test_a_loop_over_time_is_the_hosts(fake_device):
    def heat(u, steps: int = 20):
        for _ in range(steps * len(u) // len(u)):
            v = u.copy()
            v[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
            u = v
        return u

    u = np.random.default_rng(2).normal(size=500)
    truth = u
    for _ in range(20):
        inner = truth[1:-1] + 0.1 * (truth[2:] - 2 * truth[1:-1] + truth[:-2])
        truth = np.concatenate([truth[:1], inner, truth[-1:]])
    np.testing.assert_allclose(on_device(heat)(HostArray(u)).array, truth, rtol=1e-13)


def test_adjoints_are_gathered():
    """No loop of the host, and no sum that depends on the order of threads."""
    text = symgrad(soft).grad.source("cuda")
    assert "\n// for" not in text
    assert "atomicAdd" not in text


def test_sums_are_not_added_to_arrays_of_zeros():
    def squares(X: Array["n", "m"], w: Array["m"]):
        return np.sum((X @ w) ** 2)

    text = symgrad(squares).grad.source("cuda")
    assert "__global__" in text
    assert not re.search(r"\[o\d+\] = 0\.0;", text)


@pytest.mark.slow
def test_tapes_grow(fake_device):
    """A loop that ends when it is done keeps as many values as it makes iterations."""

    def decay(x):
        n = 0
        while x > 1e-9:
            x = x * 0.999 / (1 + x * x)
            n += 1
        return x * n

    f = on_device(decay)
    assert f(0.7) == pytest.approx(decay(0.7), rel=1e-12)
    h = 1e-7
    slope = (decay(0.7 + h) - decay(0.7 - h)) / (2 * h)
    assert f.grad(0.7) == pytest.approx(slope, rel=1e-4)


@pytest.mark.slow
def test_the_result_does_not_depend_on_the_device(fake_device, monkeypatch):
    from symdiff.runtime.cuda import driver as cudadriver

    x = HostArray(np.random.default_rng(0).normal(size=100_000))
    first = on_device(energy)(x).array
    monkeypatch.setattr(cudadriver.Device, "resident", lambda *_: 777)
    assert on_device(energy)(x).array == first


# ------------------------------------------------------------------- rows of arguments
def root(a):
    x = a
    while abs(x * x - a) > 1e-14 * a:
        x = 0.5 * (x + a / x)
    return x


@pytest.mark.slow
def test_functions_of_numbers_with_loops_on_arrays(fake_device):
    a = np.linspace(1.5, 5, 12).reshape(3, 4)
    f = on_device(root)
    for given in (a, a.T, a[::2, ::-1]):
        got = f(HostArray(given)).array
        assert got.shape == given.shape
        np.testing.assert_allclose(got, np.sqrt(given), rtol=1e-13)
    np.testing.assert_allclose(f(a), np.sqrt(a), rtol=1e-13)
    np.testing.assert_allclose(f.grad(HostArray(a)).array, 0.5 / np.sqrt(a), rtol=1e-12)
    assert f(4.0) == pytest.approx(2.0, rel=1e-14)
    out = HostArray(np.empty((3, 4)))
    assert f(HostArray(a), out=out) is out
    np.testing.assert_allclose(out.array, np.sqrt(a), rtol=1e-13)
    assert f(np.empty((0, 2))).shape == (0, 2)


@pytest.mark.slow
def test_map(fake_device):
    X = np.random.default_rng(4).normal(size=(6, 5))
    got = on_device(energy).map(HostArray(X))
    np.testing.assert_allclose(got.array, [symgrad(energy)(x) for x in X], rtol=1e-13)
    slopes = on_device(energy).grad.map(HostArray(X)).array
    np.testing.assert_allclose(slopes, symgrad(energy).grad.map(X), rtol=1e-12, atol=1e-14)
    assert type(on_device(energy).map(X)) is np.ndarray


def waves(x, c):
    return {"s": np.sin(x) * c, "both": np.array([[x, c + x], [x * c, x]])}


@pytest.mark.slow
def test_map_of_functions_of_elements(fake_device):
    X, c = np.linspace(0, 1, 12).reshape(4, 3), np.linspace(1, 2, 3)
    cpu, device = symgrad(waves), on_device(waves)
    assert cpu.map(X, 0.5)["both"].shape == (4, 2, 2, 3)
    for args, axes in (((X, 0.5), None), ((X[:, 0], X[:, 1]), None), ((X[0], c), (0, 0)),
                       ((X, X[:, 0]), None), ((X, c), (0, None))):  # fmt: skip
        want = cpu.map(*args, axes=axes)
        host = device.map(*args, axes=axes)
        given = [HostArray(np.asarray(v)) if np.ndim(v) else v for v in args]
        got = device.map(*given, axes=axes)
        for name, truth in want.items():
            np.testing.assert_allclose(host[name], truth, rtol=1e-15)
            np.testing.assert_allclose(got[name].array, truth, rtol=1e-15)


# ------------------------------------------------------------------- calls, errors
def pair(x: Array["n"]):
    return {"both": np.array([np.sum(x), np.sum(x**2)]), "x": (2 * x,)}


def chain(a, n):
    s = 0.0
    for _ in range(n):
        s = a * s + np.sin(a)
    return np.array([[s], [s * s]])


@pytest.mark.slow
def test_results_that_are_parts_of_an_array(fake_device):
    x = np.linspace(0, 1, 5)
    f = on_device(pair)
    found = f(HostArray(x))
    assert type(found["both"]) is HostArray
    np.testing.assert_allclose(found["both"].array, [np.sum(x), np.sum(x**2)], rtol=1e-15)
    np.testing.assert_array_equal(found["x"][0].array, 2 * x)
    slopes = f.jacobian(HostArray(x))["both"]
    np.testing.assert_allclose(slopes.array, [np.ones(5), 2 * x])
    out = {"both": HostArray(np.empty((2, 5))), "x": (HostArray(np.empty((5, 5))),)}
    assert f.jacobian(HostArray(x), out=out) is out
    np.testing.assert_allclose(out["both"].array, [np.ones(5), 2 * x])
    with pytest.raises(ShapeError, match=r"out must have the shape \(2,\) here"):
        f.jacobian(HostArray(x), out={**out, "both": HostArray(np.empty((3, 5)))})


@pytest.mark.slow
def test_parts_of_an_array_for_each_row(fake_device):
    X = np.linspace(0, 1, 12).reshape(4, 3)
    want = symgrad(pair).map(X)["both"]
    np.testing.assert_allclose(on_device(pair).map(X)["both"], want, rtol=1e-15)
    got = on_device(pair).map(HostArray(X))["both"].array
    np.testing.assert_allclose(got, want, rtol=1e-15)
    a = np.linspace(0, 0.5, 6).reshape(2, 3)
    cpu = symgrad(chain, static=["n"])
    on = on_device(chain, static=["n"])
    for call in (lambda f, v: f(v, n=150), lambda f, v: f.map(v[0], n=150)):
        want = call(cpu, a)
        np.testing.assert_allclose(call(on, a), want, rtol=1e-13)
        row = HostArray(a) if want.shape[-1] == 3 else None
        if row is not None:
            np.testing.assert_allclose(call(on, row).array, want, rtol=1e-13)
    got = on.map(HostArray(a[0]), n=150).array
    np.testing.assert_allclose(got, cpu.map(a[0], n=150), rtol=1e-13)


@pytest.mark.slow
def test_products(fake_device):
    x, v = np.linspace(0, 1, 9), np.linspace(1, -1, 9)
    f, g = on_device(energy), symgrad(energy)
    value, tangent = f.jvp((HostArray(x),), (HostArray(v),))
    np.testing.assert_allclose(tangent.array, g.jvp((x,), (v,))[1], rtol=1e-12)
    np.testing.assert_allclose(
        f.hvp((HostArray(x),), HostArray(v)).array, g.hvp((x,), v), rtol=1e-12
    )
    np.testing.assert_allclose(f.hessian(HostArray(x)).array, g.hessian(x), rtol=1e-12)


@pytest.mark.slow
def test_auto_computes_where_the_arguments_lie(fake_device):
    f = symgrad(energy, target="auto")
    before = count(fake_device)
    assert type(f(np.ones(3))) is float
    assert count(fake_device) == before
    assert type(f(HostArray(np.ones(3)))) is HostArray
    assert count(fake_device) > before


def test_streams_and_pickling(fake_device):
    f = pickle.loads(pickle.dumps(on_device(energy)))
    np.testing.assert_array_equal(f(HostArray(np.ones(3)), stream=7).array, 0.0)


def test_data_of_the_function(fake_device):
    table = np.linspace(0, 1, 7)
    f = on_device(lambda x: np.sum(x * table))
    np.testing.assert_allclose(f(HostArray(np.ones(7))).array, table.sum(), rtol=1e-15)


def at(x, k):
    return np.sum(x[k])


def positive(x):
    if np.sum(x) < 0:
        raise ValueError("negative")
    return np.sum(np.log(x))


@pytest.mark.slow
def test_checks_raise_as_on_the_cpu(fake_device):
    x, k = np.arange(4.0), np.array([0, 1, 7, 9])
    for a, b in ((x, k), (HostArray(x), HostArray(k))):
        with pytest.raises(ElementError, match=r"out of range|outside") as error:
            on_device(at)(a, b)
    with pytest.raises(ElementError) as same:
        symgrad(at)(x, k)
    assert str(error.value) == str(same.value)
    np.testing.assert_array_equal(on_device(at)(HostArray(x), HostArray(k % 4)).array, 5.0)
    with pytest.raises(ComputationError, match=r"(?s):\d+: the maximum .* of nothing.*\^"):
        on_device(lambda x: np.max(x))(HostArray(np.empty(0)))


def solved(A: Array["n", "n"], b: Array["n"]):
    return np.sum(np.linalg.solve(A, b) ** 2)


@pytest.mark.slow
def test_routines_are_computed_by_the_host(fake_device):
    rng = np.random.default_rng(3)
    A, b = rng.normal(size=(5, 5)) + 5 * np.eye(5), rng.normal(size=5)
    x = np.linalg.solve(A, b)
    y = np.linalg.solve(A.T, 2 * x)
    value, (dA, db) = on_device(solved).value_and_grad(HostArray(A), HostArray(b))
    np.testing.assert_allclose(value.array, x @ x, rtol=1e-13)
    np.testing.assert_allclose(dA.array, -np.outer(y, x), rtol=1e-12)
    np.testing.assert_allclose(db.array, y, rtol=1e-12)
    single = on_device(solved)(HostArray(np.float32(A)), HostArray(np.float32(b)))
    assert single.array.dtype == np.float32
    np.testing.assert_allclose(single.array, x @ x, rtol=1e-5)
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        on_device(solved)(np.zeros((2, 2)), np.ones(2))
    assert count(fake_device, "contexts") == 0


@pytest.mark.slow
def test_routines_for_each_row(fake_device):
    def each(A: Array["k", "n", "n"], b: Array["k", "n"]):
        total = 0.0
        for i in range(len(b)):
            total += np.sum(np.linalg.solve(A[i], b[i]) * np.sort(b[i]))
        return total

    rng = np.random.default_rng(4)
    A, b = rng.normal(size=(3, 4, 4)) + 4 * np.eye(4), rng.normal(size=(3, 4))
    want = sum(np.linalg.solve(A[i], b[i]) @ np.sort(b[i]) for i in range(3))
    np.testing.assert_allclose(on_device(each)(A, b), want, rtol=1e-13)
    for got, truth in zip(on_device(each).grad(A, b), symgrad(each).grad(A, b), strict=True):
        np.testing.assert_allclose(got, truth, rtol=1e-11, atol=1e-13)
    mapped = on_device(solved).map(HostArray(A), HostArray(b))
    norms = [np.sum(np.linalg.solve(A[i], b[i]) ** 2) for i in range(3)]
    np.testing.assert_allclose(mapped.array, norms, rtol=1e-13)


def test_a_check_comes_before_the_error_of_a_routine(fake_device):
    def picked(A, b, k):
        return np.sum(np.linalg.solve(A * np.sum(b[k]), b))

    kinds = np.zeros((2, 2)), np.ones(2), np.array([5, 0])
    with pytest.raises(ElementError, match="an index is out of range"):
        on_device(picked)(*kinds)


def test_the_cpu_says_which_argument_it_cannot_read():
    X, w = np.ones((3, 2)), HostArray(np.ones(2))
    for call in (symgrad(rows), symgrad(rows).jacobian):
        with pytest.raises(ArgumentError, match=r"(?s)argument w lies on a CUDA device.*auto"):
            call(X, w)
    with pytest.raises(ArgumentError, match="argument x lies on a CUDA device"):
        symgrad(lambda x: x * x)(w)


def test_refusals(fake_device):
    with pytest.raises(TargetError, match="needs the CPU"):
        on_device(energy, accuracy="certified")(np.ones(3))
    f, X, w = on_device(rows), HostArray(np.ones((3, 2))), HostArray(np.ones(2))
    with pytest.raises(ShapeError, match=r"both are"):
        f(X, HostArray(np.ones(3)))
    with pytest.raises(ShapeError, match=r"out has shape \(4,\)"):
        f(X, w, out=HostArray(np.ones(4)))
    with pytest.raises(ArgumentError, match="the arguments lie on a device"):
        f(X, w, out=np.ones(3))
    with pytest.raises(ArgumentError, match="cannot hold float64"):
        f(X, w, out=HostArray(np.ones(3, "i4")))
    with pytest.raises(ArgumentError, match="cannot be used on a device"):
        f(X, HostArray(np.ones(2, "c16")))
    with pytest.raises(ArgumentError, match="cannot be used on a device"):
        on_device(energy)(HostArray(np.ones(3, "f2")))


def test_the_source_says_what_the_host_does():
    def smooth(u: Array["n"], steps: Array["k"]):
        for _ in range(len(steps)):
            u = 0.5 * u + 0.25 * (np.roll(u, 1) + np.roll(u, -1))
        return np.sum(u)

    text = symgrad(smooth).source("cuda")
    head = text.partition("\n\n")[0].splitlines()
    assert head[0] == "// smooth:"
    assert any(re.fullmatch(r"// for \w+ in range\(k\):", line) for line in head)
    assert any("threads, then symdiff_" in line for line in head)
    assert text == symgrad(smooth).source("cuda")
    assert math.isclose(symgrad(smooth)(np.ones(3), np.ones(2)), 3.0)


def half_spectrum(x: Array["n"]):
    return np.sum(np.abs(np.fft.rfft(x)) ** 2 * np.arange(x.shape[0] // 2 + 1))


@pytest.mark.slow
def test_transforms(fake_device):
    x = np.linspace(-1.0, 2.0, 9) ** 3
    w = 2 * np.arange(5) * np.fft.rfft(x)
    want = np.real(np.fft.fft(np.conj(w), 9))
    np.testing.assert_allclose(
        on_device(half_spectrum).grad(HostArray(x)).array, want, rtol=1e-12, atol=1e-12
    )
