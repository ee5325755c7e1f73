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
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-15), found, wanted
    )


@pytest.mark.slow
def test_containers_are_flattened():
    def net(p, x):
        return np.sum(np.tanh(p["w"] @ x + p["b"][0]) ** 2)

    def wanted(p, x):
        return jnp.sum(jnp.tanh(p["w"] @ x + p["b"][0]) ** 2)

    p, x = {"w": X.T, "b": (W,)}, np.array([1.0, -0.5, 0.25])
    close(jax.grad(function(net))(p, x), jax.grad(wanted)(p, x))
    close(jax.jit(jax.value_and_grad(function(net)))(p, x), jax.value_and_grad(wanted)(p, x))
    with pytest.raises(SymdiffError, match="argument p holds None, which JAX does not compute"):
        function(net)({"w": None, "b": (W,)}, x)


@pytest.mark.slow
def test_values():
    close(layer(X, W), jnp.tanh(X @ W))
    close(two(W, W), (W * W, W.sum()))
    close(jax.jit(energy)(W), (W**3).sum())
    assert energy(W.astype(np.float32)).dtype == np.float32


@pytest.mark.slow
def test_reverse_mode_of_any_order():
    plain = lambda x, w: jnp.tanh(x @ w).sum()
    ours = lambda x, w: layer(x, w).sum()
    close(jax.grad(ours, (0, 1))(X, W), jax.grad(plain, (0, 1))(X, W))
    close(jax.jit(jax.jacrev(jax.grad(ours, 1), 1))(X, W), jax.hessian(plain, 1)(X, W))
    close(jax.jacrev(jax.grad(energy))(W), np.diag(6 * W))
    close(jax.vjp(two, W, W)[1]((W, 2.0)), (W * W + 2, W * W))


@pytest.mark.slow
@pytest.mark.parametrize("transform", [jax.jit, lambda f: f])
def test_forward_mode_of_any_order(transform):
    plain, direction = lambda x, w: jnp.tanh(x @ w), (np.cos(X), np.array([0.5, 2.0]))
    total, ours = lambda x, w: plain(x, w).sum(), lambda x, w: layer(x, w).sum()
    pushed = lambda f: transform(lambda *args: jax.jvp(f, args, direction))(X, W)
    close(pushed(layer), pushed(plain))
    for both in (jax.jacfwd, jax.hessian, lambda f, k: jax.jacrev(jax.jacfwd(f, k), k)):
        close(transform(both(ours, (0, 1)))(X, W), both(total, (0, 1))(X, W))
    third = lambda f: transform(jax.jacfwd(jax.jacrev(jax.jacfwd(f, 1), 1), 1))(X, W)
    close(third(ours), third(total))


@pytest.mark.slow
def test_forward_mode():
    direction = np.array([0.5, -1.0])
    plain = lambda w: jnp.tanh(X @ w)
    ours = lambda w: layer(X, w)
    close(jax.jvp(ours, (W,), (direction,)), jax.jvp(plain, (W,), (direction,)))
    close(jax.jit(jax.jacfwd(ours))(W), jax.jacfwd(plain)(W))
    close(jax.hessian(energy)(W), np.diag(6 * W))


@pytest.mark.slow
def test_products_of_linearised_functions_and_their_transposes():
    plain, direction = lambda x, w: jnp.tanh(x @ w), (np.cos(X), np.array([0.5, 2.0]))
    linear, wanted = jax.linearize(layer, X, W)[1], jax.linearize(plain, X, W)[1]
    close(linear(*direction), wanted(*direction))
    back, other = jax.linear_transpose(linear, X, W), jax.linear_transpose(wanted, X, W)
    close(back(np.ones(3)), other(np.ones(3)))
    twice = lambda f: jax.linear_transpose(lambda c: f(c), np.ones(3))(direction)
    close(twice(back), twice(other))
    with pytest.raises(SymdiffError, match="layer is not linear"):
        jax.linear_transpose(lambda w: layer(X, w), W)(np.ones(3))


@pytest.mark.slow
def test_forward_mode_of_several_results_and_of_integers():
    close(jax.jacfwd(two, (0, 1))(W, W), (
        (np.diag(W), np.diag(W)), (np.ones(2), np.zeros(2)),
    ))  # fmt: skip
    squares = function(lambda x, i: x[i] ** 2)
    i, x = np.array([0, 3, 3]), np.arange(5.0)
    plain = lambda x: jnp.asarray(x)[i] ** 2
    for jacobian in (jax.jacfwd, jax.jacrev):
        close(jacobian(squares)(x, i), jacobian(plain)(x))
    single, double = np.float32([1.0, 2.0]), np.array([3.0, 4.0])
    assert [v.dtype for v in jax.jvp(two, (single, double), (single, double))[1]] == [float, float]
    slopes = jax.grad(lambda x, y: two(x, y)[0].sum(), (0, 1))(single, double)
    assert [v.dtype for v in slopes] == [np.float32, float]


@pytest.mark.slow
def test_rows_of_rows_in_both_modes():
    """`vmap` around derivatives and derivatives around `vmap`, arguments that are shared among them."""
    plain = lambda x, w: jnp.tanh(x @ w)
    xs, ws = np.stack([X, 2 * X, X - 1, X]), np.stack([W, -W, 3 * W])
    mapped = lambda f: jax.vmap(jax.vmap(f, (None, 0)), (0, None))
    close(mapped(layer)(xs, ws), mapped(plain)(xs, ws))
    total = lambda f: lambda x, w: jnp.sum(jnp.sin(mapped(f)(x, w)))
    close(jax.grad(total(layer), (0, 1))(xs, ws), jax.grad(total(plain), (0, 1))(xs, ws))
    close(jax.jit(jax.hessian(total(layer), 1))(xs, ws), jax.hessian(total(plain), 1)(xs, ws))
    inner = lambda f: jax.vmap(jax.jacfwd(f, 1), (0, None))(xs, W)
    close(inner(layer), inner(plain))
    axes = lambda f: jax.vmap(f, (2, None), 1)(np.moveaxis(xs, 0, 2), W)
    close(axes(layer), axes(plain))


@pytest.mark.slow
@pytest.mark.parametrize("derivative", [jax.grad, jax.jacfwd, jax.hessian])
def test_inside_of_scan(derivative):
    def total(f):
        def step(w, x):
            w = w + f(x, w)[:2] / 2
            return w, w.sum()

        return lambda w: jax.lax.scan(step, w, jnp.stack([X, 2 * X]))[1].sum()

    plain = lambda x, w: jnp.tanh(x @ w)
    close(jax.jit(derivative(total(layer)))(W), derivative(total(plain))(W))
    close(derivative(jax.checkpoint(total(layer)))(W), derivative(total(plain))(W))


@pytest.mark.slow
def test_limits_in_forward_mode():
    first, second = jax.jvp(jax.grad(sinc), (0.0, 2.0), (1.0, 0.0))
    assert first == 0.0 and abs(second + 2 / 3) < 1e-15


@pytest.mark.slow
def test_arguments_that_broadcast():
    slope, by = jax.grad(lambda x, a: sinc(x, a).sum(), (0, 1))(jnp.zeros((4, 1)), jnp.ones(3))
    assert slope.shape == (4, 1) and not slope.any() and by.tolist() == [4.0] * 3
    close(jax.grad(sinc, 1)(0.0, 2.0), 1.0)


@pytest.mark.slow
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


class TestCustomCalls:
    """Calls that XLA makes without Python, and what is left to Python."""

    @pytest.fixture
    def calls(self, monkeypatch):
        """The shapes of the arguments that Python was called with."""
        from symdiff.interop.jax import _Called

        evaluate, seen = _Called._evaluate, []

        def recorded(self, values):
            seen.append([np.shape(v) for v in values])
            return evaluate(self, values)

        monkeypatch.setattr(_Called, "_evaluate", recorded)
        return seen

    @pytest.mark.sampled
    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    @pytest.mark.parametrize("f, shapes", [
        (sinc, [(), ()]), (sinc, [(3, 5), ()]), (sinc, [(4, 1), (3,)]), (layer, [(3, 2), (2,)]),
        (energy, [(7,)]), (two, [(4,), (4,)]),
    ])  # fmt: skip
    def test_no_python_runs(self, calls, f, shapes, dtype):
        values = [
            np.linspace(0.1, 2.0, max(1, int(np.prod(s)))).astype(dtype).reshape(s) for s in shapes
        ]
        compiled = jax.jit(f)
        jax.block_until_ready(compiled(*values))
        before = len(calls)
        found = jax.block_until_ready(compiled(*(v + dtype(0.25) for v in values)))
        assert len(calls) == before
        wanted = f.__wrapped__(*((v + dtype(0.25)) for v in values))
        for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
            assert np.asarray(a).dtype == dtype
            assert np.array_equal(a, np.asarray(b, dtype))

    def test_mapped_elements_are_one_call(self, calls):
        x = np.linspace(-1.0, 1.0, 9)
        close(jax.jit(jax.vmap(sinc, (0, None)))(x, 2.0), 2 * np.sinc(x / np.pi))
        assert (9,) not in [s for c in calls for s in c]

    @pytest.mark.slow
    def test_elements_that_need_balls_are_computed_in_python(self, calls):
        f = function(lambda x: (np.sin(x) - np.tan(x)) / np.expm1(x) ** 3 * (1 + 1e-30 * x))
        compiled = jax.jit(jax.grad(f))
        for point in (1e-200, 1e-3, 0.7):
            close(compiled(point), f.__wrapped__.grad(point))

    def test_errors_are_raised(self):
        @function
        def positive(x):
            assert x > 0
            return np.log(x)

        assert jax.jit(positive)(1.0) == 0.0
        with pytest.raises(Exception, match=r"(?s)DomainError: .*assert x > 0"):
            jax.block_until_ready(jax.jit(positive)(-1.0))
        assert jax.jit(positive)(1.0) == 0.0

    def test_what_was_captured_is_looked_at_when_jax_traces(self):
        scope = {"k": 2.0}
        exec("def scaled(x):\n    return k*x\n", scope)
        scaled = function(_with_source(scope["scaled"], "def scaled(x):\n    return k*x\n"))
        assert scaled(3.0) == 6.0
        scope["k"] = 5.0
        assert scaled(3.0) == 15.0

    @pytest.mark.slow
    def test_empty_arrays_and_many_elements(self, calls):
        assert jax.jit(sinc)(np.ones(0), 1.0).shape == (0,)
        x = np.linspace(0.5, 1.0, 3_000_000)
        close(jax.jit(sinc)(x, 1.0)[::1000], np.sin(x[::1000]) / x[::1000])

    def test_a_new_process_finds_no_custom_call_of_this_one(self):
        text = jax.jit(sinc).lower(0.5, 1.0).as_text()
        from symdiff.interop.jax import _process

        assert _process in text and len(_process) == 16


def _with_source(function, text):
    import linecache

    file = "<a test of custom calls>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    function.__code__ = function.__code__.replace(co_filename=file)
    return function
