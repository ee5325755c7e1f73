"""The law: `symgrad(f)(*args)` is `f(*args)`. What a parameter is follows from what the call
passes; a function of arrays is elementwise if its trace proves it."""

from __future__ import annotations

import bisect
import math
from typing import Any

import numpy as np
import pytest

from symdiff import Array, symgrad
from symdiff.errors import SymdiffError
from tests.law.alike import alike, differences

T = np.array([0.0, 0.5, 1.0])
K = np.arange(9.0).reshape(3, 3) / 4
V = np.array([1.0, 2.0, 3.0])
M = np.array([[1.0, 0.5, -2.0], [0.25, 3.0, 1.5], [-1.0, 0.75, 2.5]])


def same(got: Any, want: Any) -> None:
    alike(got, want, 1e-12, 1e-14, types="any")


def check(f: Any, x: np.ndarray) -> None:
    """Value and derivative of a function of one array."""
    s = symgrad(f)
    want = f(x)
    same(s(x), want)
    same(s(x), want)  # by the compiled entry
    slopes = differences(f, (x,))
    if np.ndim(want) == 0:
        np.testing.assert_allclose(s.grad(x), slopes, rtol=1e-5, atol=1e-6)
        return
    try:
        got = s.grad(x)
    except SymdiffError as error:
        assert "use jacobian" in str(error)
        np.testing.assert_allclose(s.jacobian(x), slopes, rtol=1e-5, atol=1e-6)
    else:  # elementwise
        assert np.shape(want) == x.shape
        full = slopes.reshape(x.size, x.size)
        np.testing.assert_allclose(full, np.diag(np.diag(full)), atol=1e-6)
        np.testing.assert_allclose(got, np.diag(full).reshape(x.shape), rtol=1e-5, atol=1e-6)


CONSTANTS = [
    lambda x: np.sum((x - np.sin(T)) ** 2),
    lambda x: np.mean(np.exp(-T) * x),
    lambda x: x / np.sqrt(np.arange(1, 4)),
    lambda x: np.atleast_2d(np.arange(1, 6)).T * x,
    lambda x: np.cos(K) * x,
    lambda x: np.sum(np.cos(K) * x),
    lambda x: np.tanh(T) + x,
    lambda x: x ** np.floor(T + 1.5),
    lambda x: np.max(np.log1p(T) - x),
    lambda x: np.dot(np.sqrt(T), x),
    lambda x: np.linspace(0, 1, 3) ** 2 * x,
    lambda x: np.where(np.sin(T) > 0.4, x, -x),
    lambda x: np.ones(3) * x,
    lambda x: np.exp(-T)[:, None] * x,
    lambda x: np.concatenate([np.sin(T), x]),
    lambda x: np.zeros(3),
    lambda x: np.abs(T - 0.5),
    lambda x: (np.arange(3) % 2) * x,
    lambda x: np.diff(np.exp(T)) @ x[:2],
    lambda x: np.hypot(T, x),
    lambda x: np.clip(T, 0.2, 0.8) * x,
    lambda x: np.prod(np.cosh(T)) * x,
    lambda x: 2.0,
    lambda x: np.float64(3.0) * np.ones_like(x),
]


@pytest.mark.sampled
@pytest.mark.parametrize("f", CONSTANTS)
def test_constant_arrays_stay_arrays(f: Any) -> None:
    check(f, V)


SHAPES = [
    lambda x: x.T,
    lambda x: x + x.T,
    lambda x: np.squeeze(x),
    lambda x: np.transpose(x) @ x,
    lambda x: np.sum(np.array([x, 2 * x])),
    lambda x: np.array([x, x]).T,
    lambda x: np.array([x, 3 * x]),
    lambda x: x.ravel(),
    lambda x: x.reshape(-1)[::2],
    lambda x: x[::-1],
    lambda x: x[None],
    lambda x: x[..., None],
    lambda x: np.flip(x),
    lambda x: np.roll(x, 1),
    lambda x: np.stack([x, x**2]),
    lambda x: np.concatenate([x, x]),
    lambda x: x * x.shape[0],
    lambda x: x / np.size(x),
    lambda x: x - np.mean(x),
    lambda x: x / np.sqrt(np.sum(x**2)),
    lambda x: np.cumsum(x),
    lambda x: np.expand_dims(x, 0) * 2,
    lambda x: np.swapaxes(x, 0, -1),
    lambda x: np.sin(x.T).T,
    lambda x: x * np.ndim(x),
    lambda x: x.copy() + 0.0,
    lambda x: x[:] * 2,
    lambda x: np.asarray(x) ** 2,
    lambda x: np.zeros_like(x) + x,
]


@pytest.mark.sampled
@pytest.mark.parametrize("f", SHAPES)
@pytest.mark.parametrize("x", [V, M], ids=["vector", "matrix"])
def test_what_rearranges_is_not_elementwise(f: Any, x: np.ndarray) -> None:
    check(f, x)


def test_sizes_of_one_are_seen() -> None:
    s = symgrad(lambda x: 2 * np.squeeze(x))
    for x in (V, V[:1], V, M, M[:1], M[:, :1], M, M[:1, :1], V[:1], V):
        same(s(x), 2 * np.squeeze(x))
    t = symgrad(lambda x, y: x * y)
    for x, y in (
        (V, V),
        (V[:1], V),
        (M, V),
        (M[:, :1], V),
        (V, 2.0),
        (2.0, M),
        (V[:1], V[:1]),
        (V, V),
    ):
        same(t(x, y), x * y)
        same(t(x, y), x * y)


def test_arguments_that_do_not_matter_do_not_broadcast() -> None:
    first = symgrad(lambda x, y: x)
    same(first(V, M), V)
    same(first(2.0, M), 2.0)
    same(first(M, V), M)
    same(symgrad(lambda x, y: 2 * y)(V, 3.0), 6.0)


@pytest.mark.slow
def test_numbers_beside_arrays() -> None:
    same(symgrad(lambda y, x: np.array([1.0, y, 2.0]) * x)(4.0, V), np.array([1.0, 4.0, 2.0]) * V)

    def annotated(x: Array["n"], y):  # noqa: F821, UP037
        return np.sum(x) * y

    same(symgrad(annotated)(V, V), np.sum(V) * V)
    same(symgrad(annotated)(V, 2.0), 2.0 * np.sum(V))
    same(symgrad(annotated)(V, M), np.sum(V) * M)


BESIDE_ANNOTATED = [
    lambda x, y: x * y, lambda x, y: np.sum(x * y), lambda x, y: x + np.sin(y), lambda x, y: y, lambda x, y: np.sum(y) + x[0],
    lambda x, y: np.dot(x, y), lambda x, y: np.where(y > 1, x, 2 * y), lambda x, y: y.T if np.ndim(y) else y, lambda x, y: np.stack([x, y + 0 * x]),
    lambda x, y: np.exp(-y) / len(x), lambda x, y: np.max(x) * y, lambda x, y: x / (1 + y**2), lambda x, y: y - np.mean(y),
]  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("f", BESIDE_ANNOTATED)
def test_an_annotation_says_nothing_of_other_parameters(f: Any) -> None:
    f.__annotations__ = {"x": Array["n"]}
    s = symgrad(f)
    for y in (V + 1, 2.0, np.array([[1.0], [3.0]]) if f is BESIDE_ANNOTATED[0] else V):
        same(s(V, y), f(V, y))


def test_one_function_both_ways() -> None:
    def f(x):
        return np.sum(x * x) if np.ndim(x) else x

    s = symgrad(f)
    for x in (2.0, V, M, 3.0, V):
        same(s(x), f(x))
    same(s.grad(2.0), 1.0)
    same(s.grad(V), 2 * V)
    same(s.grad(M), 2 * M)
    same(s.grad(2.0), 1.0)
    g = symgrad(lambda x: x.T * 2 if isinstance(x, np.ndarray) else x)
    for x in (V, M, 2.0, M, V):
        same(g(x), x.T * 2 if isinstance(x, np.ndarray) else x)


# ------------------------------------------------------------------ plain Python
def newton(x):
    y = 1.0 if x < 4 else 2.0
    for _ in range(3):
        y = (y + x / y) / 2
    return y


def steps(x):
    n = 0.0
    while x > 1.0 and n < 50:
        x = x / 2
        n = n + 1.0
    return n + x


LEVELS = [-3.5, 0.125, 1.75, 2.25]
NUMBERS = [
    lambda x: x if x > 1.5 else -x,
    lambda x: math.sin(x) * x,
    lambda x: float(x) ** 2,
    lambda x: max(x, 1.5),
    lambda x: min(2.0, x) + abs(x),
    lambda x: 1.0 if 1 < x < 2.5 else x,
    lambda x: x * math.exp(-x) if x > 0 and x < 2 else 0.5 * x,
    lambda x: np.linalg.det(np.array([[x, 1.0], [1.0, 3 * x]])),
    lambda x: (math.cos(x), math.sin(x)),
    lambda x: {True: 1.0, False: 2.0}[True] * math.log(x),
    lambda x: 1.0 if not x > 2 else x * x,
    lambda x: LEVELS[bisect.bisect_right(LEVELS, x) - 1] * x,
    lambda x: float(np.searchsorted(LEVELS, x)) * math.sin(x),
    newton,
    steps,
]


def one_element(f: Any, s: Any, x: Any) -> None:
    """Python takes the truth of an array of one element: the same, or a refusal where the
    shape depends on it. Where Python raises an error, `np.vectorize` it is."""
    try:
        want = f(x)
    except (TypeError, ValueError):
        want = np.vectorize(f)(x)
    for _ in range(2):
        try:
            got = s(x)
        except SymdiffError as error:
            assert "an array of one element has a truth" in str(error)
            return
        same(got, want)


@pytest.mark.sampled
@pytest.mark.parametrize("f", NUMBERS)
def test_functions_of_numbers_take_arrays_as_vectorize_does(f: Any) -> None:
    s = symgrad(f)
    same(s(2.0), f(2.0))
    for x in (V, M + 3, V[::2]):
        same(s(x), np.vectorize(f)(x))
    for x in (V[:1], V[2:], M[:1, :1]):
        one_element(f, s, x)
    if isinstance(f(2.0), float):
        np.testing.assert_allclose(s.grad(V), [s.grad(float(v)) for v in V], rtol=1e-14)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "f",
    [
        lambda x: x if x > 1.5 else -x,
        lambda x: x * math.pi if x > 0 and x < 2 else 0.5 * x,
        lambda x: x * x if 1 < x < 2.5 else x,
        lambda x: max(x, x * x) - min(x, 1 / x, 2 * x),
    ],
)
def test_arrays_of_one_element_have_a_truth(f: Any) -> None:
    s = symgrad(f)
    same(s(V), np.vectorize(f)(V))
    same(s(V), np.vectorize(f)(V))  # through the compiled entry
    for x in (V[:1], V[2:], M[:1, :1], V[1:2]):
        same(s(x), f(x))
        same(s.grad(x), np.vectorize(s.grad)(x))


def ramp(x: Any) -> Any:
    return x if x > 1.5 else 0.0


def leaky(x: Any) -> Any:
    return x if x > 1.5 else 0.1 * x


RAMP, LEAKY = symgrad(ramp), symgrad(leaky)


def prefixes(x: Any) -> Any:
    total = 0.0
    for k in range(len(x)):
        total += np.sum(LEAKY(x[: k + 1]))
    return total


def test_where_one_element_gives_another_shape_it_is_refused() -> None:
    for f in (RAMP, symgrad(lambda x: 2 * RAMP(x)), symgrad(lambda x: max(x, 1.5))):
        same(f(V), np.vectorize(f)(V))
        same(f(V), np.vectorize(f)(V))
        for x in (V[:1], V[1:2], M[:1, :1]):
            for g in (f, f.grad):
                with pytest.raises(SymdiffError, match="array of one element has a truth"):
                    g(x)


@pytest.mark.slow
def test_functions_of_elements_inside_of_others_see_arrays_of_one_element() -> None:
    outer, tail = symgrad(lambda x: 2 * LEAKY(x)), symgrad(lambda x: np.sum(LEAKY(x[1:])))
    total = symgrad(lambda x: np.sum(RAMP(x)))
    for x in (V, V[:1], V[1:2]):
        same(outer(x), 2 * np.vectorize(leaky, otypes=[float])(x))
        if len(x) > 1:
            same(total(x), np.sum(np.vectorize(ramp, otypes=[float])(x)))
        else:  # whatever was called before
            for f in (total, symgrad(lambda x: np.sum(RAMP(x)))):
                with pytest.raises(SymdiffError, match="an array of one element"):
                    f(x)
        same(tail(x), np.sum(np.vectorize(leaky, otypes=[float])(x[1:])))
    with pytest.raises(SymdiffError, match="an array of one element"):
        symgrad(prefixes)(V)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(x) if x > 0 else 0.0,
        lambda x: math.sin(x) * np.mean(x),
        lambda x: max(x, 0.0) + x[0],
        lambda x: np.dot(x, x) * math.exp(x),
        lambda x: len(x) * float(x),
        lambda x: np.array([x, 1.0]) * math.cos(x),
        lambda x: np.linalg.norm(x) if 0 < x < 1 else x,
        lambda x: x.T * 1.0 if x > 0 else x.sum(),
        lambda x: np.array([x, 1.0]),
        lambda x: np.sum(x * T) if x > 1 else x,
    ],
)
def test_what_mixes_both_is_refused(f: Any) -> None:
    with pytest.raises(SymdiffError, match="numbers only"):
        symgrad(f)(V)
    with pytest.raises((TypeError, ValueError)):
        f(V)


def test_an_array_result_that_is_not_elementwise_has_no_gradient() -> None:
    for f in (lambda x: x - np.mean(x), lambda x: x[::-1], lambda x: np.outer(x, x)):
        with pytest.raises(SymdiffError, match=r"use jacobian .* or vjp"):
            symgrad(f).grad(V)


LOOPS = [200, 3]


@pytest.mark.slow
@pytest.mark.parametrize("count", LOOPS)
def test_loops_over_arrays_are_elementwise(count: int) -> None:
    def damped(x):
        for k in range(count):
            x = x - 0.01 * np.sin(x) / (k + 1)
        return x

    def series(x):
        c = np.linspace(0, 1, count)
        s = 0 * x
        for k in range(count):
            s = s * 0.5 + c[k] * np.exp(-x * c[k])
        return s

    def stored(x):
        y = x.copy()
        y[y < 2.25] = 0
        return y**2

    def quadrature(x):
        q = np.linspace(0, 1, count)
        return np.sum(np.exp(-x[..., None] * q), axis=-1)

    for f in (damped, series, stored, quadrature):
        check(f, V)
        check(f, M)

    def mixed(x):
        for _ in range(count):
            x = 0.99 * x + 0.01 * np.mean(x)
        return x

    check(mixed, V)


# ------------------------------------------------------------------- composition
square_sum = symgrad(lambda q: np.sum(q**2))
average = symgrad(lambda q: np.mean(q))
length = symgrad(lambda q: np.sqrt(np.sum(q**2)))
product = symgrad(lambda a, b: np.dot(a, b))
twice = symgrad(lambda v: 2 * v)
folded = symgrad(lambda v: v if v > 1.5 else 3 - v)
first_two = symgrad(lambda q: q[0] * q[1])
valley = symgrad(lambda q: np.sum(100 * (q[1:] - q[:-1] ** 2) ** 2 + (1 - q[:-1]) ** 2))
reverse = symgrad(lambda q: q[::-1] * 2)

COMPOSED = [
    lambda q: square_sum(q) * 2,
    lambda q: length(q) + 1,
    lambda q: average(q) * 3,
    lambda q: product(q, q + 1) ** 2,
    lambda q: first_two(q) + 1,
    lambda q: np.sum(twice(q) * q),
    lambda q: twice(q) * q,
    lambda q: np.sum(folded(q)),
    lambda q: folded(q) * q,
    lambda q: np.sum(square_sum.grad(q) ** 3),
    lambda q: valley.grad(q) / 100,
    lambda q: np.sum(valley.grad(q) * q) / 100,
    lambda q: valley.hessian(q) @ q / 100,
    lambda q: q * square_sum(q),
    lambda q: square_sum(q * square_sum(q)) / 100,
    lambda q: twice(square_sum(q)) * q,
    lambda q: folded(square_sum(q)),
    lambda q: reverse(q) + q,
    lambda q: reverse(reverse(q)),
    lambda q: square_sum(twice(q) + twice.grad(q)),
    lambda q: sum([square_sum(q[k:]) for k in range(3)]),
    lambda q: np.array([square_sum(q[k:]) for k in range(3)]),
    lambda q: square_sum(np.array([q[0], 2 * q[1]])),
    lambda q: square_sum(q[:, None] * q),
    lambda q: valley.jvp((q,), (q,))[1] / 100,
    lambda q: valley.vjp(q, 1.0)[1] / 100,
    lambda q: reverse.jacobian(q) @ q,
    lambda q: square_sum.value_and_grad(q)[1] * q,
    lambda q: np.stack([twice(q), reverse(q)]),
    lambda q: average(np.exp(-T) * q),
]


@pytest.mark.sampled
@pytest.mark.parametrize("f", COMPOSED)
def test_composition(f: Any) -> None:
    check(f, V)


def test_composition_of_numbers() -> None:
    f = symgrad(
        lambda a, b: (
            square_sum(np.array([a, 2 * b])) * folded(a)
            + product(np.array([a, b]), np.array([1.0, b]))
        )
    )
    assert f(2.0, 3.0) == 40.0 * 2 + 2.0 + 9.0
    same(f.grad(2.0, 3.0), (4.0 * 2 + 40.0 + 1.0, 24.0 * 2 + 6.0))


# ------------------------------------------------------------------ what arrays are
@pytest.mark.parametrize(
    "made",
    [
        lambda: np.ma.MaskedArray([1.0, 2.0], [False, True]),
        lambda: np.matrix([[1.0, 2.0]]),
        lambda: np.array([1.0, 2.0]).view(np.recarray),
        lambda: type("Quantity", (np.ndarray,), {})((2,)),
        lambda: type(
            "Frame", (), {"__array__": lambda self, *_: np.ones(2), "ndim": 1, "dtype": float}
        )(),
        lambda: "text",
        lambda: {1.0},
    ],
)
def test_what_is_more_than_an_array_is_refused_by_name(made: Any) -> None:
    x = made()
    for f in (lambda x: x * 2, lambda x: np.sum(x)):
        for call in (symgrad(f), symgrad(f).grad):
            with pytest.raises(SymdiffError, match=type(x).__name__):
                call(x)


MASKED = np.ma.MaskedArray([1.0, 2.0], [False, True])


@pytest.mark.parametrize("call", [
    lambda: symgrad(lambda x: x.mean())(MASKED), lambda: symgrad(lambda x: x[0] * x[1])(MASKED), lambda: symgrad(lambda x: np.sin(x))(MASKED),
    lambda: symgrad(lambda x, y: x * y)(2.0, MASKED), lambda: symgrad(lambda x, y: np.dot(x, y)).grad(np.ones(2), MASKED),
    lambda: symgrad(lambda q: q[0] * 2)([MASKED, 1.0]), lambda: symgrad(lambda q: np.sum(q["a"])).grad({"a": MASKED}),
    lambda: symgrad(lambda x: np.sum(x)).vjp(MASKED, 1.0), lambda: symgrad(lambda x: 2 * x).jvp((np.ones(2),), (MASKED,)),
    lambda: symgrad(lambda x: x**2).jacobian(MASKED), lambda: symgrad(lambda x: np.sum(x**3)).hessian(MASKED),
    lambda: symgrad(lambda x: np.sum(x**3)).value_and_grad(MASKED), lambda: symgrad(lambda x: x if x > 0 else -x)(MASKED),
    lambda: symgrad(lambda x: 2 * x).vjp((np.ones(2),), MASKED), lambda: symgrad(lambda x: np.sum(x**3)).hvp((np.ones(2),), (MASKED,)),
    lambda: symgrad(lambda x: x * MASKED)(2.0), lambda: symgrad(lambda x: x * MASKED[:1])(2.0), lambda: symgrad(lambda x: x * np.mean(MASKED))(2.0),
    lambda: symgrad(lambda x, w: np.sum(x * w), static="w")(np.ones(2), MASKED), lambda: symgrad(lambda x, w=MASKED: np.sum(x * w))(np.ones(2)),
])  # fmt: skip
def test_masked_arrays_are_refused_in_every_call(call: Any) -> None:
    with pytest.raises(SymdiffError, match="MaskedArray"):
        call()


@pytest.mark.parametrize("w", [np.array([None]), np.array(["a"])])
def test_static_values_that_are_no_numbers_are_refused_by_name(w: Any) -> None:
    with pytest.raises(SymdiffError, match="static parameter 'w'"):
        symgrad(lambda x, w: np.sum(x * w), static="w")(V, w)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("w", [1 + 2j, np.array([1 - 1j, 2j, 0.5])])
def test_static_values_may_be_complex(w: Any) -> None:
    f = symgrad(lambda x, w: np.abs(np.sum(x * w)) ** 2, wrt="x", static="w")
    assert f(V[:3], w) == pytest.approx(np.abs(np.sum(V[:3] * w)) ** 2, rel=1e-15)
    slope = 2 * np.real(np.conj(w) * np.sum(V[:3] * w)) * np.ones(3)
    assert f.grad(V[:3], w) == pytest.approx(slope, rel=1e-14)


def test_kinds_of_arrays() -> None:
    f = symgrad(lambda x: np.sin(x) * x)
    for x in (
        np.float64(2.0),
        np.array(2.0),
        2,
        True,
        np.int32(2),
        V.astype("f"),
        V[::2],
        M.T,
        M[:, ::2],
        np.empty(0),
        np.empty((0, 3)),
        np.arange(3),
    ):
        got, want = f(x), np.sin(x * 1.0) * x
        assert np.shape(got) == np.shape(want)
        np.testing.assert_allclose(got, want, rtol=1e-6)
        assert np.asarray(got).dtype == np.asarray(want).dtype or np.asarray(x).dtype.kind in "ib"


def test_what_numpy_computes_in_short_formats_is_refused() -> None:
    for f in (lambda x: np.sin(x > 0), lambda x: np.sqrt(x > 0), lambda x: np.square(x > 0),
              lambda x: np.round(x > 0), lambda x: np.exp2(x > 0), lambda x: (x > 0) ** (x > 1),
              lambda x: (x > 0) // (x > -9), lambda x: (x[0] > 0) + (x[1] > 0)):  # fmt: skip
        with pytest.raises(SymdiffError, match="truth values"):
            symgrad(f)(V)


def test_the_report_says_how_arguments_were_taken() -> None:
    f = symgrad(lambda x, y: np.sin(x) * y)
    f(V, 2.0)
    f(1.0, 2.0)
    text = str(f.report())
    assert "taken: x a vector, y a number: elementwise" in text
    assert "taken: x a number, y a number" in text
    g = symgrad(lambda x: math.sin(x))
    g(V)
    assert "passed one by one: math.sin() in line" in str(g.report())


def test_what_looks_at_values_of_several_arrays() -> None:
    """`any` and `all` of arrays are for numbers; another name of an array without axes is not."""
    f = symgrad(lambda x: 1.0 if any([x > 1.5, x < 0]) else 2.0)
    same(f(V), [2.0, 1.0, 1.0] * np.ones(3))

    def twice_named(x):
        y = x
        y += 1
        return x * y

    assert symgrad(twice_named)(2.0) == twice_named(2.0)
    with pytest.raises(SymdiffError, match="without dimensions has two names"):
        symgrad(twice_named)(np.array(2.0))
