"""Each derivative of a function that is run by values, by hand; how results nest, and special points."""

from __future__ import annotations

import dataclasses
import math

import mpmath
import numpy as np
import pytest

import symdiff
from symdiff import GuardWarning, UnsupportedError, symgrad
from tests.by_value.differences import run


@dataclasses.dataclass
class Point:
    x: float
    y: list


def test_hessian_and_products():
    f = run(lambda x, y: x**3 * y + math.sin(x * y))
    x, y, s, c = 1.0, 2.0, math.sin(2.0), math.cos(2.0)
    mixed = 3 * x * x + c - x * y * s
    want = [[6 * x * y - y * y * s, mixed], [mixed, -x * x * s]]
    np.testing.assert_allclose(f.hessian(x, y), want, rtol=1e-14)
    np.testing.assert_allclose(f.hvp((x, y), (1.0, 0.5)), np.array(want) @ [1.0, 0.5], rtol=1e-14)
    np.testing.assert_allclose(f.diff("x", "y")(x, y), want[0][1], rtol=1e-14)
    np.testing.assert_allclose(f.grad(x, y), [3 * x * x * y + y * c, x**3 + x * c], rtol=1e-14)


def test_derivatives_of_arrays():
    a, b = np.array([1.0, 2.0]), np.array([3.0, -1.0])
    f = run(lambda a, b: a * b)
    first, second = f.jacobian(a, b)
    np.testing.assert_array_equal(first, np.diag(b))
    np.testing.assert_array_equal(second, np.diag(a))
    value, tangent = f.jvp((a, b), (np.array([1.0, 0.0]), b))
    np.testing.assert_array_equal(value, a * b)
    np.testing.assert_array_equal(tangent, np.array([3.0, 0.0]) + a * b)
    value, cotangents = f.vjp((a, b), np.array([1.0, 10.0]))
    np.testing.assert_array_equal(cotangents[0], [3.0, -10.0])
    np.testing.assert_array_equal(cotangents[1], [1.0, 20.0])
    cubes = run(lambda a: np.sum(a**3))
    np.testing.assert_array_equal(cubes.hessian(a), np.diag(6 * a))
    np.testing.assert_array_equal(cubes.hvp(a, b), 6 * a * b)
    np.testing.assert_array_equal(cubes.grad.jacobian(a), np.diag(6 * a))


def test_gradients_nest_as_the_arguments():
    f = run(lambda p, q: p["a"] * p["b"][0] + p["b"][1] ** 2 + q.x * q.y[0])
    found = f.grad({"a": 2.0, "b": [3.0, 4.0]}, Point(5.0, [6.0]))
    assert found == ({"a": 3.0, "b": [2.0, 8.0]}, Point(6.0, [5.0]))
    assert run(lambda p: p["a"] ** 2).hessian({"a": 3.0}) == {"a": {"a": 2.0}}


def test_integers_and_strings_are_static():
    f = run(lambda x, n, how: sum(x * k for k in range(n)) if how == "sum" else x)
    assert f.grad(2.0, 4, "sum") == 6.0
    assert run(lambda x, n: x * n).grad(2.0, 3) == (3.0, 2.0)  # an integer that may be a float


KINKS = [
    (lambda x: abs(x), (0.0,), 0.0),
    (lambda x: max(x, 0), (0.0,), 0.5),
    (lambda x, y: min(x, y), (1.0, 1.0), (0.5, 0.5)),
    (lambda x: np.max(x), (np.array([1.0, 1.0, 0.0]),), [0.5, 0.5, 0.0]),
    (lambda x, y, z: max(x, y, z), (1.0, 1.0, 1.0), (0.5, 0.5, 0.5)),
    (lambda x, y: max(x, 0.0 + x, x + y, x - y), (1.0, 0.0), (1.0, 0.0)),
    (lambda x: np.linalg.norm(x), (np.zeros(2),), [0.0, 0.0]),
    (lambda x: math.sqrt(x), (0.0,), math.inf),
    (lambda x: x - math.floor(x), (1.5,), 1.0),
    # branches that are taken at the point only; `<` has the slope of the side of its branch
    (lambda x: 0.0 if x == 0 else math.sin(2 * x), (0.0,), 2.0),
    (lambda x: 0.0 if x >= 0 and x <= 0 else math.sin(2 * x), (0.0,), 2.0),
    (lambda x: 3 * x if x < 0 else 2 * x, (0.0,), 2.0),
    (lambda x: 3 * x if x <= 0 else 2 * x, (0.0,), 3.0),
    (lambda x: x if math.floor(x) >= x else x**2 / 4 + 1, (2.0,), 1.0),
    (lambda x, y: 0.0 if x == 0 and y == 0 else x + 2 * y, (0.0, 0.0), (1.0, 2.0)),
    (lambda x, y: 0.0 if x == 0 else x + y - 1, (0.0, 1.0), (1.0, 0.0)),
    (lambda a: np.sum(np.where((a >= 0) & (a <= 0), 0.0, 2 * a)), (np.array([0.0, 1.0, 0.0]),), [2.0, 2.0, 2.0]),
]  # fmt: skip


@pytest.mark.parametrize(("f", "at", "slope"), KINKS)
def test_kinks(f, at, slope):
    np.testing.assert_array_equal(run(f).grad(*at), slope)


@pytest.mark.parametrize(
    ("jump", "unknown"),
    [
        (lambda x: 7.0 if x == 0 else math.cos(x) + x, lambda x: 1.0 if x == 0 else math.sin(x) / x),
        (lambda x: 7.0 if x >= 0 and x <= 0 else math.cos(x) + x,
         lambda x: 1.0 if x <= 0 <= x else math.sin(x) / x),
    ],
    ids=["equality", "inequalities"],
)  # fmt: skip
def test_what_holds_at_the_point_alone(jump, unknown):
    """A jump has the slope of its branch; else nan."""
    with pytest.warns(GuardWarning, match="jumps"):
        assert run(jump).grad(0.0) == 0.0
    with pytest.warns(GuardWarning, match="not known"):
        assert math.isnan(run(unknown).grad(0.0))


def test_second_derivatives_beside_an_equality():
    found = run(lambda x, y: 0.0 if x <= y <= x else 3 * (x - y) ** 2).hessian(2.0, 2.0)
    np.testing.assert_array_equal(found, [[6.0, -6.0], [-6.0, 6.0]])


def test_memo_tables_know_keys_that_are_equal_by_chance():
    def f(x, y):
        known = {}
        for key, slope in ((x, 2.0), (y, 2.0)):
            if key not in known:
                known[key] = slope * key
        return known[x] + known[y]

    assert run(f).grad(3.0, 3.0) == (2.0, 2.0)


def test_linear_algebra():
    a, b = np.array([[2.0, 1.0], [0.5, 3.0]]), np.array([1.0, 2.0])
    inverse = np.linalg.inv(a)
    by_a, by_b = run(lambda a, b: np.sum(np.linalg.solve(a, b))).grad(a, b)
    np.testing.assert_allclose(by_b, inverse.T @ np.ones(2), rtol=1e-14)
    np.testing.assert_allclose(by_a, -np.outer(inverse.T @ np.ones(2), inverse @ b), rtol=1e-14)
    found = run(lambda a: np.linalg.det(a)).grad(a)
    np.testing.assert_allclose(found, np.linalg.det(a) * inverse.T, rtol=1e-14)
    s = a @ a.T
    found = run(lambda s: 2 * np.sum(np.log(np.diag(np.linalg.cholesky(s))))).grad(s)
    np.testing.assert_allclose(found + found.T, 2 * np.linalg.inv(s), rtol=1e-12)
    np.testing.assert_allclose(run(lambda a: np.einsum("ij,jk->", a, a)).grad(a),
                               np.add.outer(a.sum(1) * 0, a.sum(1)) + a.sum(0)[:, None], rtol=1e-14)  # fmt: skip


def test_functions_of_functions():
    @symgrad
    def square(x):
        return x**2

    assert run(lambda x: symdiff.stop_gradient(x) * x).grad(3.0) == 3.0
    assert run(lambda x: square(x) + square.grad(x) * x).grad(3.0) == 18.0


def test_rules_of_users():
    rule = symdiff.custom_rule(lambda x: x * x, derivative=lambda x: 5.0 + 0 * x)
    assert run(lambda x: rule(x) + 1.0).grad(3.0) == 5.0
    with pytest.raises(UnsupportedError, match="for arrays"):
        run(lambda x: rule(x)[0]).grad(np.ones(2))


def test_sorts_have_the_slopes_of_their_order_at_ties():
    weights = np.arange(1.0, 4.0)
    for sort in (np.sort, sorted):
        f = run(lambda a, sort=sort: np.sum(np.array(sort(a)) * weights))
        np.testing.assert_array_equal(f.grad(np.ones(3)), weights)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "name",
    ["exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "sqrt"],
)
def test_slopes_of_common_functions(name):
    function, exact = getattr(math, name), getattr(mpmath, name)
    f = run(lambda x: function(x))
    for x in (0.3, 0.93, 1e-9):
        want = float(mpmath.diff(exact, mpmath.mpf(x)))
        np.testing.assert_allclose(f.grad(x), want, rtol=1e-12)
    assert run(lambda x: np.tanh(x)).grad(800.0) == 0.0
