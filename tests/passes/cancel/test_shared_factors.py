"""Products and sums with shared parts are walked as DAGs: as trees they are astronomical."""

from __future__ import annotations

import operator
from collections.abc import Callable

import pytest

from symdiff import ir
from symdiff.ir import ONE, Expr
from symdiff.passes.accuracy.softmax import share
from symdiff.passes.analysis.roots import loci
from symdiff.passes.analysis.zeros import divisors
from symdiff.passes.differentiate import gradient, squares
from tests.work import calls

X, Y = ir.var("x"), ir.var("y")


def fibonacci(combine: Callable[[Expr, Expr], Expr], a: Expr, b: Expr) -> Expr:
    """Combined 60 times with the one before: 2.5e12 leaves as a tree."""
    for _ in range(60):
        a, b = combine(a, b), a
    return a


PRODUCT = fibonacci(operator.mul, 1 + X * X, 1 + Y * Y)
SUM = fibonacci(operator.add, X * X, Y * Y)


@pytest.mark.parametrize(
    "walk",
    [
        lambda: share(ONE / PRODUCT),
        lambda: share(ONE / fibonacci(operator.add, ir.functions.EXP(X), ir.functions.EXP(Y))),
        lambda: list(loci(ONE / PRODUCT)),
        lambda: gradient(ir.sqrt(PRODUCT), (X, Y)),
        lambda: squares(SUM),
        lambda: divisors(PRODUCT),
    ],
    ids=["share", "share_of_sums", "loci", "product_below_a_root", "squares", "denominators"],
)
def test_work_is_that_of_the_dag(walk: Callable[[], object]) -> None:
    assert calls(walk, most=100_000) < 50_000


def test_repeated_terms_are_still_a_norm() -> None:
    total = ir.raw(ir.ADD, ((s := X * X + Y * Y), ir.raw(ir.MUL, (ir.const(3), s))))
    assert squares(total) is not None
