"""Complex arguments and results: values beside Python's own, derivatives beside JAX and beside
derivatives of mpmath."""

from __future__ import annotations

import cmath
import dataclasses
import types
from typing import Any

import mpmath
import numpy as np
import pytest

import symdiff
from symdiff import symgrad
from symdiff.errors import DomainError, SymdiffError

Z = np.array([1 + 2j, 3 - 1j, -0.5j, -2 + 0.25j])
W = np.array([0.5 - 1j, -2j, 1.5 + 1j, 2 + 2j])
POINTS = [*Z.tolist(), 0.7, 1e-3 + 1e3j]


def rational(z):
    return z * z + 1 / z - 3j


def mixed(z):
    return np.conj(z) * np.exp(z) + abs(z) ** 2


def moved(z, w):
    return z * np.conj(w)


def real_valued(z, x):
    return np.abs(z) ** 3 * x + np.imag(z * z)


def total(z):
    return np.sum(np.abs(z) ** 2 * np.real(z))


def iterated(z):
    w = z
    for _ in range(5):
        w = w * w + z
    return abs(w)


def escaping(z):
    n = 0.0
    while abs(z) < 10:
        z = z * z + 1
        n = n + 1
    return z * n


def scaled(z):
    out = np.zeros(len(z), dtype=complex)
    for k in range(len(z)):
        out[k] = z[k] * z[k] * (k + 1)
    return out


def waves(x):
    return np.exp(1j * x) * x


def jnp_twin(fun: Any) -> Any:
    """The same function of JAX's arrays: its text with `jnp` for `np`."""
    jnp = pytest.importorskip("jax").numpy
    return types.FunctionType(fun.__code__, {**fun.__globals__, "np": jnp})


@pytest.fixture(autouse=True)
def in_doubles():
    jax = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield jax
    jax.config.update("jax_enable_x64", before)


def close(ours: Any, theirs: Any) -> None:
    """Equal in structure, shape, kind and value."""
    if isinstance(theirs, tuple | list):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            close(a, b)
        return
    assert np.shape(ours) == np.shape(theirs)
    assert np.iscomplexobj(ours) == np.iscomplexobj(theirs)
    np.testing.assert_allclose(ours, theirs, rtol=1e-13, atol=1e-13)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("fun", [rational, mixed, escaping, iterated])
@pytest.mark.parametrize("z", POINTS)
def test_values_of_numbers(fun, z):
    got, want = symgrad(fun)(z), fun(z)
    assert isinstance(got, complex) == isinstance(want, complex)
    assert got == pytest.approx(want, rel=1e-14)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("fun", "args"),
    [(rational, (Z,)), (rational, (Z[::-2],)), (mixed, (Z.reshape(2, 2),)), (moved, (Z, W)),
     (moved, (Z[:, None], np.arange(3.0))), (scaled, (Z,)), (waves, (np.arange(3.0),)),
     (rational, (np.zeros(0, complex),))],
)  # fmt: skip
def test_values_of_arrays(fun, args):
    got, want = symgrad(fun)(*args), fun(*args)
    assert type(got) is type(want)
    assert np.asarray(got).dtype == np.asarray(want).dtype
    close(got, want)


def test_kinds_of_results():
    f = symgrad(rational)
    assert type(f(np.complex128(1j))) is np.complex128
    assert type(f(np.complex64(1j))) is np.complex128  # computed in doubles
    assert f(Z.astype(np.complex64)).dtype == np.complex128
    assert symgrad(waves)(np.float32([1, 2])).dtype == np.complex64  # as NumPy
    assert repr(symgrad(lambda z: z)(complex("nan"))) == repr(complex(float("nan"), 0))
    assert symgrad(lambda x, y: x + 1j * y)(2.0, float("inf")) == complex(2.0, float("inf"))


def test_calls_with_real_and_complex_numbers_in_turn():
    f = symgrad(lambda z: z * z + 1)
    for _ in range(3):
        for z in (2.0, 1j, np.ones(2), 1j * np.ones(2)):
            close(f(z), np.asarray(z * z + 1)[()])
    assert f.grad(2.0) == 4.0


@dataclasses.dataclass
class Wave:
    amplitude: Any
    phase: Any


def test_inside_of_containers():

    got = symgrad(lambda d: {"wave": Wave(d["z"] * d["x"], abs(d["z"])), "list": [d["z"]]})(
        {"z": 1 + 2j, "x": 2.0}
    )
    assert got == {"wave": Wave(2 + 4j, abs(1 + 2j)), "list": [1 + 2j]}
    f = symgrad(lambda d: abs(d["z"]) ** 2 * d["x"])
    assert f.grad({"z": 1 + 2j, "x": 2.0}) == {"z": 4 - 8j, "x": pytest.approx(5.0)}


def test_results_go_into_out():
    out = np.zeros(len(Z), complex)
    assert symgrad(rational)(Z, out=out) is out
    close(out, rational(Z))
    with pytest.raises(SymdiffError, match="by complex numbers"):
        symgrad(lambda z: abs(z)).grad(Z, out=out)


# ----------------------------------------------------------------- beside JAX
REAL = [
    (real_valued, (1.5 + 0.5j, 2.0)), (real_valued, (-0.3j, -1.0)), (total, (Z,)),
    pytest.param(lambda a, b: np.sum(np.abs(a @ b) ** 2), (Z.reshape(2, 2), W[:2]), marks=pytest.mark.slow),
    pytest.param(iterated, (0.1 + 0.2j,), marks=pytest.mark.slow),
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("fun", "args"), REAL)
def test_gradients_beside_jax(in_doubles, fun, args):
    jax, twin, f = in_doubles, jnp_twin(fun), symgrad(fun)
    by = tuple(range(len(args))) if len(args) > 1 else 0
    close(f.grad(*args), jax.grad(twin, by)(*args))
    close(f.value_and_grad(*args), jax.value_and_grad(twin, by)(*args))
    close(f.jacobian(*args), jax.jacrev(twin, by)(*args))


COMPLEX = [
    (rational, (1.5 + 0.5j,), (1 - 2j,), 0.5 + 3j), (mixed, (-0.3 + 2j,), (1 - 2j,), -1 + 1j),
    (moved, (1.5 + 0.5j, 2j), (1 - 2j, 1 + 1j), 1j), (mixed, (Z,), (W,), W * 1j),
    (moved, (Z, W), (W, Z), Z), (scaled, (Z,), (W,), Z), (waves, (0.5,), (2.0,), 1 + 2j),
]  # fmt: skip


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("fun", "args", "tangents", "cotangent"), COMPLEX)
def test_products_beside_jax(in_doubles, fun, args, tangents, cotangent):
    jax, twin, f = in_doubles, jnp_twin(fun), symgrad(fun)
    if fun is scaled:
        twin = lambda z: z * z * (1 + np.arange(len(z)))
    close(f.jvp(args, tangents), jax.jvp(twin, args, tangents))
    value, back = f.vjp(args, cotangent)
    close((value, back if len(args) > 1 else (back,)), (fun(*args), jax.vjp(twin, *args)[1](cotangent)))  # fmt: skip


@pytest.mark.slow
def test_jacobians_of_complex_results_by_real_arguments(in_doubles):
    x = np.array([0.5, -1.0, 2.0])
    close(symgrad(waves).jacobian(x), in_doubles.jacfwd(jnp_twin(waves))(x))
    f = symgrad(lambda x, y: x * 1j + y * y)
    assert f.jacobian(2.0, 3.0) == (1j, 6 + 0j)
    assert f.diff("y")(2.0, 3.0) == 6 + 0j


HOLOMORPHIC = [
    (rational, (1.5 + 0.5j,)), (lambda z, w: z * w**2, (1 + 2j, 3j)),
    pytest.param(lambda z: np.sum(z**3 * np.exp(z)), (Z,), marks=pytest.mark.slow),
]  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("fun", "args"), HOLOMORPHIC)
def test_holomorphic_beside_jax(in_doubles, fun, args):
    jax, twin = in_doubles, jnp_twin(fun)
    by = tuple(range(len(args))) if len(args) > 1 else 0
    known = {"holomorphic": True}
    close(symdiff.grad(fun, **known)(*args), jax.grad(twin, by, **known)(*args))
    close(symdiff.value_and_grad(fun, **known)(*args), jax.value_and_grad(twin, by, **known)(*args))
    close(symdiff.jacobian(fun, **known)(*args), jax.jacobian(twin, by, **known)(*args))


@pytest.mark.slow
def test_holomorphic_functions_of_several_results(in_doubles):
    def running(z):
        return np.cumsum(z**2)

    want = in_doubles.jacobian(jnp_twin(running), holomorphic=True)(Z)
    close(symdiff.jacobian(running, holomorphic=True)(Z), want)
    close(symdiff.grad(rational, holomorphic=True)(Z), 2 * Z - 1 / Z**2)  # of each element


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("name", "z"), [("exp", 1.5 + 0.5j), ("log", -0.3 + 2j), ("tanh", 0.1 - 0.7j)]
)
def test_holomorphic_beside_mpmath(name, z):
    f = getattr(cmath, name)
    first = symdiff.grad(lambda z: f(z) * z, holomorphic=True)
    second = symdiff.grad(first, holomorphic=True)
    with mpmath.workdps(40):
        exact = [mpmath.diff(lambda z: getattr(mpmath, name)(z) * z, z, n) for n in (1, 2)]
    assert first(z) == pytest.approx(complex(exact[0]), rel=1e-13)
    assert second(z) == pytest.approx(complex(exact[1]), rel=1e-12)


def test_gradient_beside_differences_of_mpmath():

    z = 0.8 - 1.3j
    with mpmath.workdps(40):

        def exact(x, y):
            return abs(mpmath.sinh(mpmath.mpc(x, y)) / mpmath.mpc(x, y)) ** 2

        x, y = (mpmath.diff(exact, (z.real, z.imag), n) for n in ((1, 0), (0, 1)))
    assert symgrad(lambda z: abs(cmath.sinh(z) / z) ** 2).grad(z) == pytest.approx(
        complex(float(x), -float(y)), rel=1e-13
    )


# ------------------------------------------------------------- what is composed
@pytest.mark.slow
def test_gradients_inside_of_traced_functions():
    g, t = symgrad(real_valued), symgrad(lambda z: np.sum(np.abs(z) ** 2))
    z = 1.5 + 0.5j
    assert symgrad(lambda z: g.grad(z, 1.0)[0])(z) == pytest.approx(g.grad(z, 1.0)[0], rel=1e-14)
    close(symgrad(lambda z: t.grad(z) * 1j)(Z), 2j * np.conj(Z))
    assert symgrad(lambda z: np.sum(np.abs(t.grad(z)) ** 2))(Z) == pytest.approx(
        4 * np.sum(np.abs(Z) ** 2)
    )


def test_rows():
    rows = np.array([Z, 2 * Z])
    f = symgrad(total)
    close(f.map(rows), np.array([total(r) for r in rows]))
    close(f.grad.map(rows), np.array([f.grad(r) for r in rows]))


@pytest.mark.slow
def test_auxiliary_results(in_doubles):
    def fit(x, y):
        return x * y**2, {"sum": x + y}

    jax = in_doubles
    assert symdiff.grad(fit, has_aux=True)(2.0, 3.0) == ((9.0, 12.0), {"sum": 5.0})
    assert symdiff.value_and_grad(fit, "y", has_aux=True)(2.0, 3.0) == ((18.0, {"sum": 5.0}), 12.0)

    def with_rows(x):
        return np.sum(x**2), 2 * x

    x = np.arange(3.0)
    for name in ("grad", "value_and_grad"):
        want = getattr(jax, name)(jnp_twin(with_rows), has_aux=True)(x)
        close(getattr(symdiff, name)(with_rows, has_aux=True)(x), want)
    both = symdiff.value_and_grad(lambda z: (z**2, abs(z)), holomorphic=True, has_aux=True)
    close(both(3 + 4j), ((-7 + 24j, 5.0), 6 + 8j))


# -------------------------------------------------------------------- refusals
def gives_a_pair(z):
    return z


@pytest.mark.parametrize(
    ("call", "message", "hint"),
    [
        (lambda: symgrad(rational).grad(1j), "returns a complex number", "symdiff.grad(f, holo"),
        (lambda: symgrad(rational).jacobian(1j), "is a complex function", "symdiff.jacobian(f, ho"),
        (lambda: symgrad(waves).grad(1.0), "returns a complex number", "symdiff.grad(f, holo"),
        (lambda: symgrad(rational).diff("z")(1j), "for complex arguments", "use grad, or"),
        (lambda: symgrad(total).hessian(Z), "for complex arguments", "as two arguments"),
        (lambda: symgrad(total).hvp(Z, Z), "for complex arguments", "as two arguments"),
        (lambda: symgrad(total).grad.jacobian(Z), "for complex arguments", "one real number"),
        (lambda: symgrad(lambda z: abs(z)).jacobian(Z, sparse=True), "sparse", "leave out"),
        (lambda: symgrad(lambda x: x * x).jvp(1.0, 1j), "x_dot is a complex", ""),
        (lambda: symdiff.grad(rational, holomorphic=True)(2.0), "argument z is not", "wrt="),
        (lambda: symdiff.grad(total, holomorphic=True)(Z), "the result is not a complex", "wrt="),
        (lambda: symdiff.grad(gives_a_pair, has_aux=True)(1.0), "not a pair", "(value, aux)"),
    ],
)  # fmt: skip
def test_refusals(call, message, hint):
    with pytest.raises(SymdiffError) as refused:
        call()
    assert message in refused.value.message
    assert hint in (refused.value.hint or "")


def test_refusals_name_the_function():
    with pytest.raises(SymdiffError) as refused:
        symdiff.grad(gives_a_pair, has_aux=True)(1.0)
    place = refused.value.location
    assert place is not None and place.path == __file__ and "def gives_a_pair" in place.text


def test_modules_have_no_complex_results(tmp_path):
    with pytest.raises(SymdiffError, match="complex results, in a module"):
        symgrad(waves).save(tmp_path / "waves.py")


def test_compiled_code_has_no_complex_results():
    numba, inner = pytest.importorskip("numba"), symgrad(waves)
    with pytest.raises(SymdiffError, match="complex results, in a module or a function that Numba"):
        numba.njit(lambda x: inner(x))(1.0)


def test_domains_of_real_parameters():
    f = symgrad(lambda z, x: z * x, domain="x > 0")
    assert f(1j, 2.0) == 2j
    with pytest.raises(DomainError):
        f(1j, -1.0)


def test_hessians_by_real_parameters_beside_complex_ones():
    f = symgrad(lambda z, x: abs(z) ** 2 * x**3, wrt="x")
    assert f.hessian(3 + 4j, 2.0) == pytest.approx(25 * 12.0)
