# ruff: noqa: F821
"""Functions with arrays and loops, end to end: calls, gradients, shapes, errors.

The truth is the plain Python function itself: its value, and complex-step differences of
it (exact to rounding) for its derivatives.
"""

import functools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symdiff
from symdiff import Array, SymdiffError, symgrad

STEP = 1e-30


def complex_gradient(fun: Callable[..., Any], args: tuple[Any, ...], which: int) -> Any:
    """d fun / d args[which] by complex steps."""
    point = np.asarray(args[which], dtype=float)
    result = np.zeros(point.shape)
    for k in np.ndindex(point.shape):
        moved = point.astype(complex)
        moved[k] += 1j * STEP
        new = (*args[:which], moved if point.ndim else complex(moved), *args[which + 1 :])
        result[k] = np.imag(fun(*new)) / STEP
    return result


# ------------------------------------------------------------------ the functions
def ewma(d):
    e = np.zeros(d.shape[0], d.dtype)
    for row in range(d.shape[0]):
        for col in range(d.shape[1]):
            e[row] = 0.5 * d[row, col] + 0.5 * e[row]
    return np.sum(e)


def ewma_other(d):
    e = np.zeros(d.shape[0], d.dtype)
    for col in range(d.shape[1]):
        for row in range(d.shape[0]):
            e[row] = 0.5 * e[row] + 0.5 * d[row, col]
    return np.sum(e)


def ewma_stored(d):
    e = np.zeros(d.shape, d.dtype)
    for row in range(d.shape[0]):
        e[row, 0] = 0.5 * d[row, 0]
        for col in range(1, d.shape[1]):
            e[row, col] = 0.5 * d[row, col] + 0.5 * e[row, col - 1]
    return np.sum(e[:, -1])


def blend(d):
    e = 0.0
    for v in d:
        e = (1 - e) * v + e
    return e**2


def blend_cell(d):
    e = np.zeros(1, d.dtype)
    for i in range(len(d)):
        e[0] = (1 - e[0]) * d[i] + e[0]
    return e[0] ** 2


def sines(d):
    e = 0.1
    for i in range(len(d)):
        e = np.sin(e) + d[i]
    return e


def sines_cells(d):
    e = np.zeros(3, d.dtype)
    for i in range(len(d)):
        for k in range(3):
            e[k] = np.sin(e[k]) + d[i] * (k + 1)
    return np.sum(e * e)


def rnn(W, U, x):
    h = np.zeros(W.shape[0], (W[0, 0] + U[0] + x[0]).dtype)
    for t in range(len(x)):
        h = np.tanh(W @ h + U * x[t])
    return np.sum(h**2)


def rnn_in_place(W, U, x):
    h = np.zeros(W.shape[0], (W[0, 0] + U[0] + x[0]).dtype)
    for t in range(len(x)):
        h[:] = np.tanh(W @ h + U * x[t])
    return np.sum(h**2)


def leapfrog(q0, p0, k):
    q, p = q0 + 0.0, p0 + 0.0
    for _ in range(200):
        p = p - 0.005 * (k * q + q**3)
        q = q + 0.01 * p
        p = p - 0.005 * (k * q + q**3)
    return q**2 + p**2


def rk4(y0, mu):
    y, v, h = y0[0], y0[1], 0.01
    for _ in range(100):
        k1, l1 = v, mu * (1 - y * y) * v - y
        k2, l2 = (
            v + h / 2 * l1,
            mu * (1 - (y + h / 2 * k1) ** 2) * (v + h / 2 * l1) - (y + h / 2 * k1),
        )
        k3, l3 = (
            v + h / 2 * l2,
            mu * (1 - (y + h / 2 * k2) ** 2) * (v + h / 2 * l2) - (y + h / 2 * k2),
        )
        k4, l4 = v + h * l3, mu * (1 - (y + h * k3) ** 2) * (v + h * l3) - (y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        v = v + h / 6 * (l1 + 2 * l2 + 2 * l3 + l4)
    return y + v


def heat(u0):
    u = u0.copy()
    for _ in range(40):
        for i in range(1, len(u) - 1):
            u[i] = u[i] + 0.1 * (u[i - 1] - 2 * u[i] + u[i + 1])
    return np.sum(u**2)


def heat_slices(u0):
    u = u0.copy()
    for _ in range(40):
        u[1:-1] = u[1:-1] + 0.1 * (u[:-2] - 2 * u[1:-1] + u[2:])
    return np.sum(u**3)


def newton(a):
    x = 1.0 + 0 * a
    for _ in range(30):
        x = 0.5 * (x + a / x)
    return x


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def logistic(w, X, y):
    z = X @ w
    return np.sum(np.log1p(np.exp(-np.abs(1.0) * (y * z)))) + 0.01 * np.sum(w * w)


def network(A, b, c, X):
    h = np.tanh(X @ A + b)
    return np.sum((h @ c) ** 2)


def pairwise(p):
    total = 0.0
    for i in range(p.shape[0]):
        for j in range(i):
            d = p[i] - p[j]
            r2 = np.sum(d * d) + 0.1
            total = total + 1 / r2**3 - 1 / r2
    return total


RNG = np.random.default_rng(7)


def normal(*shape: int) -> Any:
    return RNG.normal(size=shape)


CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (ewma, (normal(2, 5),)),
    (ewma_other, (normal(2, 5),)),
    (ewma_stored, (normal(2, 5),)),
    (blend, (np.array([0.1, 0.2, 0.3, 0.4]),)),
    (blend_cell, (np.array([0.1, 0.2, 0.3, 0.4]),)),
    (sines, (normal(9),)),
    (sines_cells, (normal(9),)),
    (rnn, (0.5 * normal(4, 4), normal(4), normal(6))),
    (rnn_in_place, (0.5 * normal(4, 4), normal(4), normal(6))),
    (leapfrog, (0.7, -0.2, 1.3)),
    (rk4, (np.array([1.0, 0.5]), 0.8)),
    (heat, (normal(9),)),
    (heat_slices, (normal(9),)),
    (newton, (3.7,)),
    (rosenbrock, (normal(7),)),
    (logistic, (normal(3), normal(6, 3), np.sign(normal(6)))),
    (network, (normal(3, 4), normal(4), normal(4), normal(5, 3))),
    (pairwise, (normal(5, 3),)),
]
IDS = [fun.__name__ for fun, _ in CASES]


shared = functools.cache(symgrad)  # most tests of one function need the same kernels


def as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


@pytest.mark.sampled
@pytest.mark.parametrize(("fun", "args"), CASES, ids=IDS)
def test_values(fun, args) -> None:
    assert shared(fun)(*args) == pytest.approx(fun(*args), rel=1e-13)


@pytest.mark.sampled
@pytest.mark.parametrize(("fun", "args"), CASES, ids=IDS)
def test_gradients(fun, args) -> None:
    found = as_tuple(shared(fun).grad(*args))
    assert len(found) == len(args)
    for k, slope in enumerate(found):
        want = complex_gradient(fun, args, k)
        assert np.shape(slope) == np.shape(args[k])
        np.testing.assert_allclose(slope, want, rtol=1e-10, atol=1e-13)


@pytest.mark.sampled
@pytest.mark.parametrize(("fun", "args"), CASES, ids=IDS)
def test_value_and_gradient_in_single_precision(fun, args) -> None:
    single = tuple(np.asarray(a, np.float32) for a in args)
    same = tuple(np.asarray(a, np.float64) for a in single)
    value, slopes = shared(fun).value_and_grad(*single)
    assert value == pytest.approx(fun(*same), rel=1e-4)
    for k, slope in enumerate(as_tuple(slopes)):
        want = complex_gradient(fun, same, k)
        assert np.asarray(slope).dtype == np.float32
        np.testing.assert_allclose(slope, want, rtol=0, atol=1e-4 * np.max(np.abs(want)))


@pytest.mark.sampled
@pytest.mark.parametrize(("fun", "args"), CASES, ids=IDS)
def test_tangents_and_cotangents(fun, args) -> None:
    f = shared(fun)
    directions = tuple(np.cos(np.arange(np.size(a)).reshape(np.shape(a))) for a in args)
    value, tangent = f.jvp(args, directions)
    slopes = as_tuple(f.grad(*args))
    want = sum(np.sum(s * d) for s, d in zip(slopes, directions, strict=True))
    assert value == pytest.approx(fun(*args), rel=1e-13)
    assert tangent == pytest.approx(want, rel=1e-9, abs=1e-12)
    value, cotangents = f.vjp(args, 2.0)
    for c, s in zip(as_tuple(cotangents), slopes, strict=True):
        np.testing.assert_allclose(c, 2 * np.asarray(s), rtol=1e-12, atol=1e-14)


@pytest.mark.sampled
@pytest.mark.parametrize(("fun", "args"), CASES, ids=IDS)
def test_products_with_the_hessian(fun, args) -> None:
    f = shared(fun)
    directions = tuple(np.cos(np.arange(np.size(a)).reshape(np.shape(a))) for a in args)
    found = as_tuple(f.hvp(args, directions))
    h = 1e-6
    up = [np.asarray(a) + h * d for a, d in zip(args, directions, strict=True)]
    down = [np.asarray(a) - h * d for a, d in zip(args, directions, strict=True)]
    up_slopes, down_slopes = as_tuple(f.grad(*up)), as_tuple(f.grad(*down))
    for product, a, b in zip(found, up_slopes, down_slopes, strict=True):
        np.testing.assert_allclose(product, (a - b) / (2 * h), rtol=1e-4, atol=1e-4)


# ------------------------------------------------------------- stated in the issue


def test_blending_of_the_report() -> None:
    found = symgrad(blend).grad(np.array([0.1, 0.2, 0.3, 0.4]))
    np.testing.assert_allclose(found, [0.4688, 0.5274, 0.6027, 0.7032], atol=5e-5)


# --------------------------------------------------------------- shapes and sizes
def test_one_kernel_serves_every_size() -> None:
    f = symgrad(rosenbrock)
    for n in (0, 1, 2, 3, 17, 1000):
        x = np.linspace(-1, 1, n)
        assert f(x) == pytest.approx(rosenbrock(x) if n > 1 else 0.0, rel=1e-13)
        assert f.grad(x).shape == (n,)
    assert len(f._arrays._kernels) == 1


def test_strided_arguments() -> None:
    base = normal(20)
    f = symgrad(rosenbrock)
    for view in (base[::2], base[::-1], base[3:11], np.broadcast_to(1.5, 6)):
        assert f(view) == pytest.approx(rosenbrock(view), rel=1e-13)
        np.testing.assert_array_equal(f.grad(view), f.grad(view.copy()))


def test_arguments_are_not_changed() -> None:
    def f(x):
        x += 1
        x[0] = 5.0
        return np.sum(x**2)

    x = np.array([1.0, 2.0, 3.0])
    found = symgrad(f).value_and_grad(x)
    np.testing.assert_array_equal(x, [1.0, 2.0, 3.0])
    assert found[0] == 25 + 9 + 16
    np.testing.assert_array_equal(found[1], [0.0, 6.0, 8.0])


def test_annotated_shapes_are_checked() -> None:
    def f(a: Array["n", 3], b: Array["n"]):
        return np.sum(a * b[:, None])

    g = symgrad(f)
    assert g(np.ones((2, 3)), np.ones(2)) == 6
    with pytest.raises((ValueError, symdiff.SymdiffError)):
        g(np.ones((2, 3)), np.ones(3))
    with pytest.raises((ValueError, symdiff.SymdiffError)):
        g(np.ones((2, 4)), np.ones(2))


def test_an_index_out_of_range() -> None:
    def f(x, n: int):
        return x[n] + x[0]

    assert symgrad(f)(np.array([1.0, 2.0]), 1) == 3
    with pytest.raises(IndexError):
        symgrad(f)(np.array([1.0, 2.0]), 5)


@pytest.mark.slow
def test_jacobian_dense_and_sparse() -> None:
    def f(x):
        return x[2:] - 2 * x[1:-1] + x[:-2] ** 2

    x = normal(6)
    dense = symgrad(f).jacobian(x)
    want = np.zeros((4, 6))
    for i in range(4):
        want[i, i : i + 3] = [2 * x[i], -2, 1]
    np.testing.assert_allclose(dense, want, rtol=1e-14)
    pytest.importorskip("scipy")
    sparse = symgrad(f).jacobian(x, sparse=True)
    assert sparse.nnz == 12
    np.testing.assert_allclose(sparse.toarray(), want, rtol=1e-14)


def test_hessian_of_an_array() -> None:
    x = normal(5)
    found = symgrad(rosenbrock).hessian(x)
    want = np.zeros((5, 5))
    for i in range(4):
        want[i, i] += 1200 * x[i] ** 2 - 400 * x[i + 1] + 2
        want[i + 1, i + 1] += 200
        want[i, i + 1] -= 400 * x[i]
        want[i + 1, i] -= 400 * x[i]
    np.testing.assert_allclose(found, want, rtol=1e-12, atol=1e-12)


@pytest.mark.slow
def test_map_over_a_leading_axis() -> None:
    rows = normal(6, 5)
    found = symgrad(rosenbrock).grad.map(rows)
    np.testing.assert_allclose(found, [symgrad(rosenbrock).grad(r) for r in rows], rtol=1e-14)
    a, b = normal(4, 3), normal(3)

    np.testing.assert_allclose(
        symgrad(lambda x, y: np.sum(x * y)).map(a, b, axes=(0, None)), a @ b, rtol=1e-14
    )


@pytest.mark.slow
def test_map_of_a_function_of_numbers() -> None:
    """The mapped axis is the first, whatever the function makes of a number."""

    def f(x, c):
        return x * c, np.array([x * c, c, x + c])

    a, b = normal(4), normal(5)
    value, array = symgrad(f).map(a, b, axes=(0, None))
    assert value.shape == (4, 5)
    assert array.shape == (4, 3, 5)
    np.testing.assert_array_equal(array[2, 1], b)
    assert symgrad(f).jacobian.map(a, 2.0)[1][0].shape == (4, 3)
    with pytest.raises(SymdiffError, match="leading axes that map"):
        symgrad(f).map(a, b)

    def lattice(s, k):
        v = np.maximum(k - s * 1.1 ** np.arange(-4, 5, 2), 0)
        for _ in range(4):
            v = 0.5 * (v[1:] + v[:-1])
        return v[0]

    s = np.array([0.9, 1.0, 1.2])
    found = symgrad(lattice).grad.map(s, 1.05)
    np.testing.assert_array_equal(found, np.transpose([symgrad(lattice).grad(v, 1.05) for v in s]))


@pytest.mark.sampled
@pytest.mark.parametrize(
    "fun",
    [
        lambda x, c: np.sum(x * 0 + c),
        lambda x, c: c * np.sum(x / x),
        lambda x, c: np.sum(x**0) * c,
        lambda x, c: c * np.ones_like(x).sum(),
        lambda x, c: (x - x).sum() + np.mean(np.where(x * 0 == 0, c, 0.0)) * len(x * 0),
    ],
)
def test_what_no_longer_shows_the_array_it_was_made_of(fun: Any) -> None:
    f = symgrad(fun)
    x = np.array([0.5, -1.0, 2.0])
    assert f(x, 3.0) == fun(x, 3.0) == 9.0
    by_x, by_c = f.grad(x, 3.0)
    np.testing.assert_array_equal(by_x, np.zeros(3))
    assert by_c == 3.0


def test_sparse_rows_of_numbers() -> None:

    x = np.array([1.0, 2.0, 3.0])
    rows, row = symgrad(lambda x: (np.array([x[1], x[0] ** 2]), x[0] * x[2])).jacobian(
        x, sparse=True
    )
    np.testing.assert_array_equal(rows.toarray(), [[0, 1, 0], [2, 0, 0]])
    np.testing.assert_array_equal(row.toarray(), [[3, 0, 1]])


def test_known_ranges_have_as_many_elements_as_numpy_s() -> None:
    def of(stop: float, step: float) -> Callable[..., Any]:
        return lambda x: np.sum(x * np.arange(0, stop, step))

    for stop, step in ((3, 0.3), (1, 0.1), (2.1, 0.7), (-3, -0.3)):
        assert symgrad(of(stop, step))(2.0) == pytest.approx(of(stop, step)(2.0))


def test_singularities_in_loop_bodies_are_filled() -> None:
    def f(x):
        total = 0.0
        for v in x:
            total = total + (np.exp(v) - 1) / v
        return total

    x = np.array([0.0, 1.0, 1e-9])
    assert symgrad(f)(x) == pytest.approx(1 + np.expm1(1) + np.expm1(1e-9) / 1e-9, rel=1e-15)
    np.testing.assert_allclose(symgrad(f).grad(x), [0.5, 1.0, 0.5], rtol=1e-9)


def test_derivatives_nest() -> None:
    def energy(x):
        return np.sum(x**4)

    x = normal(4)
    np.testing.assert_allclose(
        symgrad(lambda x: np.sum(symdiff.grad(energy)(x) * x)).grad(x), 16 * x**3, rtol=1e-13
    )


def test_while_loops() -> None:
    def root(a):
        x = a
        while abs(x * x - a) > 1e-13 * a:
            x = 0.5 * (x + a / x)
        return x

    value, slope = symgrad(root).value_and_grad(2.0)
    assert value == pytest.approx(np.sqrt(2), rel=1e-14)
    assert slope == pytest.approx(0.5 / np.sqrt(2), rel=1e-9)


@pytest.mark.slow
def test_text_source_and_module(tmp_path) -> None:
    f = symgrad(rosenbrock)
    f(np.ones(3))
    assert "Sum" in str(f.expr)
    assert "range(x_size - 1)" in f.source()
    f.save(tmp_path / "rosen.py")
    scope: dict[str, Any] = {"__file__": str(tmp_path / "rosen.py")}
    text = (tmp_path / "rosen.py").read_text().replace(", cache=True", "")
    assert "symdiff." not in text.partition('"""\n')[2]
    exec(text, scope)
    x = normal(5)
    assert scope["rosenbrock"](x) == pytest.approx(f(x), rel=1e-14)
    np.testing.assert_allclose(scope["rosenbrock_grad"](x), f.grad(x), rtol=1e-13)
    value, slope = scope["rosenbrock_value_and_grad"](x)
    assert value == pytest.approx(f(x), rel=1e-14)
    np.testing.assert_allclose(slope, f.grad(x), rtol=1e-13)


# ------------------------------------------------------------------- bounded memory
RECURRENCES = (ewma, blend, blend_cell, sines, sines_cells, rnn, rnn_in_place, heat, pairwise)


@pytest.mark.sampled
@pytest.mark.parametrize("checkpoint", ["none", "auto", "revolve", 64, 10_000])
@pytest.mark.parametrize("fun", RECURRENCES, ids=lambda f: f.__name__)
def test_gradients_with_checkpoints(fun, checkpoint) -> None:
    args = dict(CASES)[fun]
    found = as_tuple(symgrad(fun, checkpoint=checkpoint).grad(*args))
    for k, slope in enumerate(found):
        want = complex_gradient(fun, args, k)
        np.testing.assert_allclose(slope, want, rtol=1e-10, atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("checkpoint", ["revolve", 1000])
def test_a_long_recurrence_with_checkpoints(checkpoint) -> None:
    d = normal(3000)
    found = symgrad(sines, checkpoint=checkpoint).grad(d)
    np.testing.assert_allclose(found, symgrad(sines).grad(d), rtol=1e-12, atol=1e-300)


@pytest.mark.slow
def test_a_while_loop_with_checkpoints() -> None:
    def settle(a):
        x, steps = a, 0
        while abs(np.cos(x) - x) > 1e-12:
            x = x + 0.1 * (np.cos(x) - x) * a
            steps += 1
        return x * a

    want = symgrad(settle).grad(1.3)
    for checkpoint in ("revolve", 256):
        assert symgrad(settle, checkpoint=checkpoint).grad(1.3) == pytest.approx(want, rel=1e-12)


@pytest.mark.slow
def test_a_long_run_is_shown_on_request() -> None:
    import io

    def settle(d):
        e = 0.3
        for i in range(len(d)):
            e = np.sin(e) + d[i] * e
        return e

    f, d = symgrad(settle), np.zeros(10**6)
    f(d)
    stream = io.StringIO()
    with symdiff.show_progress(stream):
        while not stream.getvalue():  # until a call takes long enough to be shown
            d = np.zeros(4 * d.size)
            f(d)
    assert re.search(rf"settle \[#*\.*\] \d+ of {d.size}, \d+ s", stream.getvalue())


@pytest.mark.slow
def test_the_short_way_of_later_calls() -> None:
    """What a first call leaves for the next: other arguments do not take it."""
    f = symgrad(lambda x, w: np.sum(w * x**2, axis=1))
    x, w = np.arange(6.0).reshape(2, 3), np.array([1.0, 2.0, 3.0])
    wanted = np.sum(w * x**2, axis=1)
    for _ in range(2):
        np.testing.assert_array_equal(f(x, w), wanted)
    np.testing.assert_array_equal(f(x.astype(int), w), wanted)
    np.testing.assert_array_equal(f(np.asfortranarray(x), w[::-1][::-1]), wanted)
    np.testing.assert_array_equal(f(x, w[:1]), np.sum(w[:1] * x**2, axis=1))
    assert f(x.astype(np.float32), w.astype(np.float32)).dtype == np.float32
    out = np.empty(2)
    assert f(x, w, out=out) is out
    np.testing.assert_array_equal(out, wanted)
    with pytest.raises(SymdiffError):
        f(x, w[:2])
    with pytest.raises(SymdiffError):
        f(x, w, out=np.empty(3))
    with pytest.raises(TypeError):
        f(x)
    np.testing.assert_array_equal(f(x, w), wanted)
