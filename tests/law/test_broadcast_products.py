"""Products with vectors of functions whose arguments broadcast: every cotangent has the shape
and the kind of its argument, and tangents have those of their primals."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.errors import SymdiffError

COLUMN = np.array([[0.5], [-1.25], [2.0]])
ROW = np.array([0.75, 1.5, -0.5, 3.0])
FULL = np.linspace(-2.0, 2.5, 12).reshape(3, 4)


def loop(x: Any, y: Any) -> Any:
    total = 0.0
    for _ in range(9):
        total = total * x / 4 + y
    return total


def branch(x: Any, y: Any) -> Any:
    if x > y:
        return x * x * y
    return x - y


Partial = Callable[[Any, Any], Any]
FUNCTIONS: list[tuple[Callable[..., Any], Partial, Partial]] = [
    (lambda x, y: x * y, lambda x, y: y + 0 * x, lambda x, y: x + 0 * y),
    (lambda x, y: x + y, lambda x, y: 1 + 0 * x * y, lambda x, y: 1 + 0 * x * y),
    (lambda x, y: x - 3 * y, lambda x, y: 1 + 0 * x * y, lambda x, y: -3 + 0 * x * y),
    (lambda x, y: x**2 * y**3, lambda x, y: 2 * x * y**3, lambda x, y: 3 * x**2 * y**2),
    (lambda x, y: x / y, lambda x, y: 1 / y + 0 * x, lambda x, y: -x / y**2),
    (
        lambda x, y: np.sin(x * y),
        lambda x, y: y * np.cos(x * y),
        lambda x, y: x * np.cos(x * y),
    ),
    (lambda x, y: np.exp(x) + y, lambda x, y: np.exp(x) + 0 * y, lambda x, y: 1 + 0 * x * y),
    (
        lambda x, y: np.arctan(x - y),
        lambda x, y: 1 / (1 + (x - y) ** 2),
        lambda x, y: -1 / (1 + (x - y) ** 2),
    ),
    (
        lambda x, y: np.sqrt(x**2 + y**2),
        lambda x, y: x / np.sqrt(x**2 + y**2),
        lambda x, y: y / np.sqrt(x**2 + y**2),
    ),
    (
        lambda x, y: np.where(x > y, x * y, y**2),
        lambda x, y: np.where(x > y, y, 0.0),
        lambda x, y: np.where(x > y, x, 2 * y),
    ),
    (
        loop,
        lambda x, y: sum(k * (x / 4) ** (k - 1) / 4 * y for k in range(1, 9)),
        lambda x, y: sum((x / 4) ** k for k in range(9)) + 0 * y,
    ),
    (
        branch,
        lambda x, y: np.where(x > y, 2 * x * y, 1.0),
        lambda x, y: np.where(x > y, x * x, -1.0),
    ),
]
SHAPES = [
    (COLUMN, ROW), (FULL, ROW), (ROW, FULL), (2.0, ROW), (FULL, 3), (1.5, 0.25), (ROW[:1], FULL),
    (np.array(2.0), ROW), (np.float64(2.0), COLUMN), (FULL, FULL[::-1]), (np.ones((2, 1, 1)), FULL),
    (COLUMN[:0], ROW), (1.5, ROW[:0]),
]  # fmt: skip


def reduced(v: Any, argument: Any) -> Any:
    """The sum over all entries that an entry of the argument went into."""
    index = np.broadcast_to(np.arange(np.size(argument)).reshape(np.shape(argument)), v.shape)
    sums = [math.fsum(v[index == k]) for k in range(np.size(argument))]
    return np.array(sums).reshape(np.shape(argument))


def check(got: Any, want: Any, argument: Any, tolerance: float = 1e-12) -> None:
    assert np.shape(got) == np.shape(argument)
    assert isinstance(got, (float, np.floating) if np.ndim(argument) == 0 else np.ndarray)
    if type(argument) in (float, int):
        assert type(got) is float
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


@pytest.mark.sampled
@pytest.mark.parametrize("f, by_x, by_y", FUNCTIONS)
def test_cotangents_have_the_shapes_of_their_arguments(f: Any, by_x: Any, by_y: Any) -> None:
    g = symgrad(f)
    for x, y in SHAPES:
        shape = np.broadcast_shapes(np.shape(x), np.shape(y))
        weights = np.cos(np.arange(math.prod(shape))).reshape(shape)
        partials = [np.broadcast_to(d(x, y), shape) for d in (by_x, by_y)]
        for _ in range(3):  # the later calls may take a shorter way
            value, (u, v) = g.vjp((x, y), weights if shape else float(weights))
            assert np.shape(value) == shape
            check(u, reduced(weights * partials[0], x), x)
            check(v, reduced(weights * partials[1], y), y)
        value, (u, v) = g.vjp((x, y), 0.5)
        check(u, reduced(0.5 * partials[0], x), x)
        check(v, reduced(0.5 * partials[1], y), y)


@pytest.mark.sampled
@pytest.mark.parametrize("f, by_x, by_y", FUNCTIONS)
def test_tangents_broadcast_as_their_primals(f: Any, by_x: Any, by_y: Any) -> None:
    g = symgrad(f)
    for x, y in SHAPES:
        shape = np.broadcast_shapes(np.shape(x), np.shape(y))
        a, b = np.cos(x), np.sin(y)
        for _ in range(2):
            value, tangent = g.jvp((x, y), (a, b))
            assert np.shape(value) == np.shape(tangent) == shape
            want = by_x(x, y) * a + by_y(x, y) * b
            np.testing.assert_allclose(tangent, want, rtol=1e-12, atol=1e-12)


def test_products_with_hessians_broadcast() -> None:
    g = symgrad(lambda x, y: x**2 * y)
    for x, y in SHAPES:
        u, v = g.hvp((x, y), (np.cos(x), np.sin(y)))
        np.testing.assert_allclose(u, 2 * y * np.cos(x) + 2 * x * np.sin(y), rtol=1e-12)
        np.testing.assert_allclose(v, 2 * x * np.cos(x) + 0 * y, rtol=1e-12)


def test_vectors_do_not_broadcast_what_they_belong_to() -> None:
    g = symgrad(lambda x, y: x * y)
    for _ in range(2):
        g.vjp((ROW, ROW), ROW)
        g.jvp((ROW, ROW), (ROW, ROW))
        g.jvp((2.0, ROW), (1.0, ROW))
    for x, y, tangents in (
        (2.0, ROW, (ROW, ROW)),
        (COLUMN, ROW, (FULL, ROW)),
        (2.0, 3.0, (ROW, 1.0)),
        (ROW, ROW, (COLUMN, ROW)),
    ):
        with pytest.raises(SymdiffError, match="the vector by x has the shape"):
            g.jvp((x, y), tangents)
        with pytest.raises(SymdiffError, match="the vector by x has the shape"):
            g.hvp((x, y), tangents)
    for call in (lambda: g.vjp((FULL[0], FULL[:, 0]), ROW), lambda: g.jvp((ROW, ROW[1:]), (1, 1))):
        with pytest.raises(SymdiffError, match="do not broadcast"):
            call()
    for x, y, cotangent in ((2.0, 3.0, ROW), (ROW, ROW, FULL), (COLUMN, ROW, FULL[:2])):
        with pytest.raises(SymdiffError, match="a cotangent has the shape"):
            g.vjp((x, y), cotangent)


def test_single_precision_is_summed_in_double() -> None:
    x, y = np.float32(0.1) * np.ones(1, np.float32), np.ones(1_000_000, np.float32)
    _, (u, v) = symgrad(lambda x, y: x * y).vjp((x, y), y)
    assert u.dtype == v.dtype == np.float32
    assert u == np.float32(1_000_000) and np.all(v == np.float32(0.1))


def test_outputs_wrt_and_order() -> None:
    g = symgrad(lambda x, y: {"a": x * y, "b": (x + y, x - y)})
    weights = {"a": FULL, "b": (2 * FULL, 1.0)}
    value, (u, v) = g.vjp((COLUMN, ROW), weights)
    assert np.shape(value["b"][1]) == (3, 4)
    check(u, reduced(FULL * ROW + 2 * FULL + 1, COLUMN), COLUMN)
    check(v, reduced(FULL * COLUMN + 2 * FULL - 1, ROW), ROW)
    one = symgrad(lambda x, y: x * y, wrt="y")
    check(one.vjp((COLUMN, ROW), FULL)[1], reduced(FULL * COLUMN, ROW), ROW)
    grad = symgrad(lambda x, y: x**2 * y).grad
    _, (u, v) = grad.vjp((2.0, ROW), (ROW, 1.0))
    check(u, reduced(2 * ROW * ROW + 4.0, 2.0), 2.0)
    check(v, 4.0 * ROW, ROW)


def test_results_are_put_where_out_says() -> None:
    g = symgrad(lambda x, y: x * y)
    out = np.empty((3, 4)), (np.empty((3, 1)), np.empty(4))
    assert g.vjp((COLUMN, ROW), FULL, out=out) is out
    value, (u, v) = g.vjp((COLUMN, ROW), FULL)
    assert np.array_equal(out[0], value)
    assert np.array_equal(out[1][0], u) and np.array_equal(out[1][1], v)
    for wrong in ((out[0], (np.empty((3, 4)), out[1][1])), (out[0], out[1][:1]), out[0]):
        with pytest.raises(SymdiffError, match="out"):
            g.vjp((COLUMN, ROW), FULL, out=wrong)


def test_containers_of_arguments_that_broadcast() -> None:
    g = symgrad(lambda p: p["x"] * p["y"])
    _, found = g.vjp(({"x": COLUMN, "y": ROW},), FULL)
    check(found["x"], reduced(FULL * ROW, COLUMN), COLUMN)
    check(found["y"], reduced(FULL * COLUMN, ROW), ROW)
    _, found = g.vjp(({"x": 2.0, "y": ROW},), ROW)
    check(found["x"], reduced(ROW * ROW, 2.0), 2.0)
    _, tangent = g.jvp(({"x": 2.0, "y": ROW},), {"x": 1.0, "y": ROW})
    np.testing.assert_allclose(tangent, 3 * ROW)


def test_inside_of_a_traced_function() -> None:
    inner = symgrad(lambda x, y: x * y)
    outer = symgrad(lambda x, y: inner.vjp((x, y), x)[1][1])
    np.testing.assert_allclose(outer(ROW, 2 * ROW), ROW**2)
    for x, y in ((ROW, 2.0), (2.0, ROW), (FULL, ROW), (ROW, ROW[:1])):
        with pytest.raises(SymdiffError, match="arguments that broadcast, inside of a traced"):
            outer(x, y)
    np.testing.assert_allclose(outer(FULL[:1], FULL[1:2]), FULL[:1] ** 2)
    tangents = symgrad(lambda x, y: inner.jvp((x, y), (y, x))[1])
    np.testing.assert_allclose(tangents(ROW, 2 * ROW), 5 * ROW**2)
    np.testing.assert_allclose(tangents(FULL[:1], 2 * FULL[:1]), 5 * FULL[:1] ** 2)
    for x, y in ((2.0, ROW), (ROW[:1], ROW)):
        with pytest.raises(SymdiffError, match="has not the shape of x"):
            tangents(x, y)
