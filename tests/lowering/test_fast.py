"""Fewer and cheaper operations, the same values up to a few units in the last place."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from symdiff import ir, symgrad
from symdiff.ir import DIV, topological, var
from symdiff.ir import functions as f
from symdiff.lowering.fast import share_work
from symdiff.lowering.target import FMA
from tests.kernels import make_kernel

X, Y, Z = var("x"), var("y"), var("z")


def count(roots, *ops) -> int:
    return sum(e.op in ops for e in topological(roots))


def values(outputs, **points):
    """The outputs as written, and after `share_work`, at arrays of points."""
    kernels = [make_kernel(o, points) for o in (outputs, share_work(outputs))]
    return [k(tuple(points.values())) for k in kernels]


def test_quotients_by_the_same_divisor_share_one_division():
    d = f.SIN(X) + 2
    roots = share_work((Y / d, Z / d, 3 / d, Y / Z))
    assert count(roots, DIV) == 2
    assert count(share_work((Y / d, Z / X)), DIV) == 2


def test_a_lone_quotient_is_left_as_it_is():
    (root,) = share_work((Y / X,))
    assert root.op is DIV and root.args == (Y, X)


def test_products_are_rounded_with_their_sum():
    assert count(share_work((X * Y + Z, Z - X * Y)), FMA) == 2


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("outputs", "left"),
    [
        ((f.EXP(X), f.EXP(-X)), 1),
        ((f.EXP(X), f.EXP(Y), f.EXP(X + Y)), 3),  # which may be small where one overflows
        ((f.EXP(X), f.EXP(Y), f.EXP(X - Y)), 3),
        ((f.EXP(-ir.abs_(X)), f.EXP(-X), f.EXP(X)), 1),
        ((f.EXP(X), f.EXP(2 * X)), 2),
    ],
)
def test_exponentials_follow_from_others(outputs, left):
    assert count(share_work(outputs), f.EXP) == left
    rng = np.random.default_rng(1)
    x, y = rng.uniform(-5, 5, (2, 400))
    for a, b in zip(*values(outputs, x=x, y=y), strict=True):
        np.testing.assert_allclose(b, a, rtol=4e-15)


def test_values_of_a_function_and_its_derivatives():
    def curve(x, y):
        return math.log(1 + math.exp(x)) / (1 + y * y) + math.exp(-x) / (x * x + y * y)

    fast = symgrad(curve, accuracy="fast", cache=False).value_and_grad
    rng = np.random.default_rng(2)
    x, y = rng.uniform(0.5, 3, (2, 64))
    value, slopes = fast(x, y)
    mpmath.mp.dps = 40

    def exact(a, b):
        return mpmath.log(1 + mpmath.exp(a)) / (1 + b * b) + mpmath.exp(-a) / (a * a + b * b)

    for k in range(64):
        at = mpmath.mpf(float(x[k])), mpmath.mpf(float(y[k]))
        expected = [exact(*at), mpmath.diff(exact, at, (1, 0)), mpmath.diff(exact, at, (0, 1))]
        found = [value[k], slopes[0][k], slopes[1][k]]
        np.testing.assert_allclose(found, np.array([float(e) for e in expected]), rtol=2e-13)


def test_only_fast_kernels_share_work():
    def quotients(x, y):
        return math.sin(x) / y, math.cos(x) / y

    high = symgrad(quotients, cache=False)
    x, y = np.random.default_rng(3).uniform(1, 2, (2, 1000))
    for found, exact in zip(high(x, y), (np.sin(x) / y, np.cos(x) / y), strict=True):
        np.testing.assert_array_max_ulp(found, exact, 8)
    texts = [symgrad(quotients, accuracy=a, cache=False).source("llvm") for a in ("high", "fast")]
    assert [t.count("fdiv") for t in texts] == [2, 1]
