"""Products and quotients in few operations: the same values, at special points too."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symdiff import symgrad
from symdiff.ir import (
    DIV,
    MUL,
    ONE,
    WHERE,
    ZERO,
    Expr,
    const,
    eq,
    lt,
    raw,
    sqrt,
    topological,
    var,
    where,
)
from symdiff.ir import functions as f
from symdiff.lowering.factoring import products
from symdiff.lowering.lower import lower
from tests.kernels import make_kernel

NAMES = ("x", "y", "z")
X, Y, Z = map(var, NAMES)
SUMS = (X, Y, Z, X + Y + 7, Y * Z + 3)


def counts(roots: tuple[Expr, ...]) -> Counter:
    return Counter(e.op for e in topological(lower(roots, chain=64, divide=False)))


def after(*outputs: Expr) -> Counter:
    return counts(products(lower(outputs, chain=64, divide=False)))


@st.composite
def monomials(draw):
    """Products as nodes, and as a function of the values of their bases."""
    powers = draw(st.lists(st.integers(-3, 4), min_size=len(SUMS), max_size=len(SUMS)))
    factor = draw(st.sampled_from([1, -1, Fraction(1, 3), 2, Fraction(-7, 5)]))
    above, below = const(factor), ONE
    order = draw(st.permutations(range(len(SUMS))))
    for k in order:
        for _ in range(abs(powers[k])):
            if powers[k] > 0:
                above = raw(MUL, (above, SUMS[k]))
            else:
                below = raw(MUL, (SUMS[k], below))
    node = above if below is ONE else raw(DIV, (above, below))
    return node, lambda at: factor * math.prod(b**n for b, n in zip(at, powers, strict=True))


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.lists(monomials(), min_size=1, max_size=7), st.integers(0, 2**32))
def test_products_keep_their_values(found, seed):
    outputs = tuple(node for node, _ in found)
    lowered = lower(outputs, chain=64, divide=False)
    shared = products(lowered)
    before, now = counts(lowered), counts(shared)
    assert now[DIV] <= before[DIV]
    assert now[MUL] + 4 * now[DIV] <= before[MUL] + 4 * before[DIV] + len(SUMS)
    assert products(lowered) == shared
    rng = np.random.default_rng(seed)
    at = rng.uniform(0.25, 4, (3, 5)) * rng.choice([1, -1], (3, 5))
    values = make_kernel(shared, NAMES, accuracy="fast")(tuple(at))
    for k in range(5):
        x, y, z = (Fraction(v) for v in at[:, k])
        bases = (x, y, z, x + y + 7, y * z + 3)
        if abs(bases[4]) < 0.5 or abs(bases[3]) < 0.5:
            continue
        for (_, exact), value in zip(found, values, strict=True):
            true = exact(bases)
            assert abs(Fraction(value[k]) - true) <= abs(true) * Fraction(1, 10**13)


def test_powers_of_one_reciprocal():
    found = after(3 / X**6, 2 / X**3, Y / X)
    assert found[DIV] == 1 and found[MUL] <= 7


def test_reciprocals_of_a_number_and_of_its_square_root():
    size = X**2 + Y**2
    assert after(Y / sqrt(size), Z / size, 1 / size**2)[DIV] == 1


def test_a_number_that_may_be_negative_is_not_divided_by_as_the_square_of_its_root():
    f = lambda x: np.where(x > 0, np.sqrt(np.maximum(x, 0)), 0) + 3 / x
    made = symgrad(f, accuracy="fast")
    for x in (-1.75, -3.0, 4.0):
        slope = -3 / x**2 + (0.5 / math.sqrt(x) if x > 0 else 0.0)
        assert made.grad(x) == pytest.approx(slope, rel=1e-14)


def test_what_is_divided_by_together_is_divided_by_at_once():
    assert after(Z / (X * Y), 3 / (X * Y))[DIV] == 1
    assert after(Z / (X * Y), 3 / (X * Y), 1 / X)[DIV] == 2


def test_a_lone_quotient_is_divided_by_once():
    found = after(Z / (X * Y))
    assert found[DIV] == 1 and found[MUL] == 1


def test_a_product_that_several_have_is_computed_once():
    e = f.EXP(X)
    outputs = tuple(raw(MUL, (const(3), raw(MUL, (e, raw(MUL, (Y, v)))))) for v in (X, Z, e))
    assert after(*outputs)[MUL] == 5


def test_powers_take_few_products():
    assert [after(X**n)[MUL] for n in (2, 3, 4, 6, 7, 8, 12)] == [1, 2, 2, 3, 4, 3, 4]


def test_completed_points_keep_their_value():
    """`where(r == 0, 0, x/r)` becomes `x*where(r == 0, 0, 1/r)`."""
    outputs = tuple(where(eq(Z, 0), ZERO, v / Z) for v in (X, Y))
    found = after(*outputs)
    assert found[DIV] == 1 and found[WHERE] == 1
    kernel = make_kernel(products(lower(outputs)), NAMES)
    assert kernel((3.0, -2.0, 0.0)) == [0.0, 0.0]
    assert kernel((3.0, -2.0, 2.0)) == [1.5, -1.0]


def test_what_has_no_value_at_the_point_stays_behind_its_condition():
    log = where(eq(X, 0), ZERO, f.LOG(X) / (Y + 2))
    kernel = make_kernel(products(lower((log,))), NAMES)
    assert kernel((0.0, 1.0, 1.0)) == [0.0]


def test_what_is_compared_is_left_as_it_is():
    product = raw(MUL, (raw(MUL, (X, Y)), Z))
    outputs = lower((where(lt(product, 1), X, Y), product))
    assert product in topological(products(outputs))


def test_a_function_of_many_products_takes_no_long_time():
    def f(a, b, c, d):
        total = 0.0
        for k in range(400):
            total = total + math.sin(k * a + b) * math.exp(-c) * (d + k) / (a + k + 2)
        return total

    g = symgrad(f, accuracy="fast", cache=False).grad
    assert all(map(math.isfinite, g(0.1, 0.2, 0.3, 0.4)))
