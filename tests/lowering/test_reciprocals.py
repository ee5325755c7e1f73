"""Quotients that share reciprocals are rounded as quotients are."""

from __future__ import annotations

import numpy as np
import pytest

from symdiff import ir
from symdiff.codegen.llvm import jit
from symdiff.ir import DIV, Expr
from symdiff.ir import functions as f
from symdiff.lowering.lower import lower
from symdiff.lowering.reciprocals import share
from symdiff.lowering.target import ARRAY_CHAIN
from symdiff.runtime.scalar.kernel import Kernel
from tests.kernels import make_kernel

X, Y, Z = ir.var("x"), ir.var("y"), ir.var("z")
SIZE = 40_000


def divisions(roots: tuple[Expr, ...]) -> int:
    return sum(n.op is DIV for n in ir.topological(roots))


def shared(outputs: tuple[Expr, ...], tests: tuple[Expr, ...] = ()) -> tuple[Expr, ...]:
    roots = lower((*outputs, *tests), chain=ARRAY_CHAIN, fuse=True)
    return share(roots, len(outputs))


def kernel(outputs: tuple[Expr, ...]) -> Kernel:
    """With tests of a tier that nothing fails."""
    never = ir.lt(ir.abs_(X), ir.ZERO)
    return make_kernel(outputs, "xyz", test=lambda *_: never, parallel=False)


@pytest.mark.parametrize(("outputs", "count"), [
    ((Y / X, Z / X), 1),
    ((Y / X, 1 / X, Z / -X), 1),
    ((Y / X, Z / X, Y / (X * X), Z / X**3), 1),
    ((Y / X, Z / Y), 2),
    ((Y / X / 3, Z / X / 3), 3),
    ((Y / X, Z / X, Y / (X * Z), Z / (X * Z), 1 / (X * X * Z)), 3),
])  # fmt: skip
def test_there_are_few_divisions(outputs, count):
    assert divisions(shared(outputs)) == count


def test_bounds_divide_by_no_denominator_again():
    test = ir.le(ir.abs_(Y / X) + ir.abs_(Z) / ir.abs_(X), ir.abs_(Z / X))
    roots = shared((Y / X,), (test,))
    assert divisions(roots) == 1


def test_values_are_the_nearest_doubles():
    rng = np.random.default_rng(0)
    x, y, z = (rng.choice([-1, 1], SIZE) * 2 ** rng.uniform(-60, 60, SIZE) for _ in "xyz")
    found = kernel((Y / X, Z / X, 1 / X, Z / (X * X), Y / X**3)).evaluate([x, y, z]).values
    expected = y / x, z / x, 1 / x, z / (x * x), y / (x * x * x)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.sampled
@pytest.mark.skipif(not jit.has_flags(), reason="the processor's flags cannot be read")
@pytest.mark.parametrize("special", [0.0, np.inf, -np.inf, 5e-324, 1e-310, 1e308, 1.7e308])
def test_special_denominators_raise_a_flag_or_are_right(special):
    """Then chunks are computed again with tests (see `codegen.llvm.tiers`)."""
    looked: list[str] = []

    def flagged(outputs, dtype, kind):
        looked.append(kind)
        return ir.lt(ir.abs_(X), ir.ZERO)

    kernel = make_kernel((Y / X, Z / X), "xyz", test=flagged, parallel=False)
    x = np.full(SIZE, 2.0)
    x[17] = special
    y, z = np.full(SIZE, 3.0), np.full(SIZE, 7.0)
    with np.errstate(all="ignore"):
        expected = y / x
    got = kernel.evaluate([x, y, z]).values[0]
    assert "array" in looked or np.array_equal(got, expected)


def test_logistic_functions_beside_exponentials_that_fall():
    x = X * Y
    falls = f.EXP(-ir.abs_(x))
    roots = shared((f.LOG1P(falls), 1 / (f.EXP(-x) + 1), 1 / (f.EXP(x) + 1)))
    assert sum(n.op is f.EXP for n in ir.topological(roots)) == 1
    later = shared((1 / (f.EXP(-x) + 1), f.LOG1P(falls)))
    assert sum(n.op is f.EXP for n in ir.topological(later)) == 1
    alone = shared((1 / (f.EXP(-x) + 1), f.EXP(-ir.abs_(Y))))
    assert sum(n.op is f.EXP for n in ir.topological(alone)) == 2


def test_values_of_logistic_functions():
    x = np.concatenate([np.linspace(-40, 40, SIZE), [-700.0, 700.0, 0.0, 1e-300]])
    outputs = f.EXP(-ir.abs_(X)), 1 / (f.EXP(-X) + 1), 1 / (f.EXP(X) + 1)
    _, rising, falling = kernel(outputs).evaluate([x, x, x]).values
    small = np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x)))
    large = 1 / (1 + np.exp(-np.abs(x)))
    np.testing.assert_array_max_ulp(rising, np.where(x > 0, large, small), 5)
    np.testing.assert_array_max_ulp(falling, np.where(x > 0, small, large), 5)
