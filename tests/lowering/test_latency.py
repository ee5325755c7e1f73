"""Kernels whose operations wait for each other take two registers at a time."""

from __future__ import annotations

import math

import numpy as np
import pytest

from symdiff import ir, symgrad
from symdiff.codegen.llvm import jit
from symdiff.ir import functions as f
from symdiff.lowering.latency import LEAST, MOST, waits
from symdiff.lowering.lower import lower
from symdiff.passes.accuracy.compensate import compensate
from symdiff.runtime.scalar.kernel import FEW

X, Y = ir.var("x"), ir.var("y")


def chain(x):
    return math.sin(math.cos(math.exp(math.sin(math.cos(math.exp(-x * x))))))


def lowered(e: ir.Expr) -> tuple[ir.Expr, ...]:
    return lower(compensate((e,)), fuse=True)


def power(n: int) -> ir.Expr:
    """A chain of n operations."""
    e = X
    for _ in range(n):
        e = ir.raw(ir.MUL, (ir.raw(ir.ADD, (e, Y)), X))
    return e


def test_one_after_the_other() -> None:
    assert waits(lowered(f.SIN(f.COS(f.EXP(X)))))
    assert waits((power(LEAST),))


def test_side_by_side() -> None:
    sides = [f.SIN(X * n) for n in range(1, 5)]
    assert not waits(lowered(sides[0] + sides[1] + (sides[2] + sides[3])))


def test_what_is_short_or_long_or_calls_the_library() -> None:
    assert not waits((power(LEAST // 4),))
    assert not waits((power(MOST),))
    assert not waits((f.SIN(power(LEAST)),))
    assert waits((ir.sqrt(power(LEAST)),))


@pytest.mark.sampled
@pytest.mark.parametrize("parallel", [False, True])
def test_elements_do_not_depend_on_their_neighbours(parallel: bool) -> None:
    x = np.random.default_rng(3).uniform(-1.5, 1.5, 5000)
    x[11], x[4000] = 1e200, np.nan
    both = symgrad(chain, parallel=parallel).value_and_grad
    whole = both(x)
    kernel = both._compiled({})[1].kernel
    registers = 2 if jit.host().bits == 512 else 1
    assert kernel.body("float64", "lean").width == registers * jit.host().bits // 64
    for size in (*range(1, 40), FEW - 1, FEW, FEW + 5, 4097):
        out = tuple(np.empty(size + 1)[1:] for _ in whole)
        for start in (0, 3):
            given = x[start : start + size]
            for results in (both(given), both(given, out=out)):
                for got, expected in zip(results, whole, strict=True):
                    np.testing.assert_array_equal(got, expected[start : start + given.size])
    strided = both(np.repeat(x, 2)[::2])
    np.testing.assert_array_equal(strided, whole)
