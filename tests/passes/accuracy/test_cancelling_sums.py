"""Sums with the errors of their terms: right to the last bits where they cancel."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symdiff import ir, symgrad
from symdiff.interpret import Certified, ulp_error
from symdiff.ir import Expr
from symdiff.ir import functions as f
from symdiff.lowering.compensated.evaluate import is_compensable, is_plain_sum
from symdiff.lowering.lower import lower
from symdiff.lowering.target import ARRAY_CHAIN, COMPENSATED, COMPENSATED_EXP, COMPENSATED_EXPM1
from symdiff.passes.accuracy.cancelling_sums import compensate_sums
from symdiff.passes.accuracy.error_test import flagged_where
from symdiff.runtime.scalar.kernel import Kernel
from tests.kernels import make_kernel
from tests.passes.evaluate import evaluate

X, Y = ir.var("x"), ir.var("y")
COEFFICIENTS = st.lists(st.integers(-20, 20), min_size=3, max_size=6)


def kernel(e: Expr, op: ir.Op = COMPENSATED) -> Kernel:
    def never(outputs: object, dtype: str, kind: str) -> Expr:
        return ir.FALSE

    return make_kernel([ir.raw(op, (e,))], test=never)


def horner(coefficients: list[int]) -> Expr:
    total = ir.const(coefficients[0])
    for c in coefficients[1:]:
        total = X * total + c
    return total


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(COEFFICIENTS, st.floats(-2, 2), st.floats(-2, 2))
def test_polynomials_near_their_roots(coefficients: list[int], x: float, y: float) -> None:
    inner = horner(coefficients)
    e = inner - ir.const(Fraction(float(evaluate(inner, {"x": Fraction(x)}, True)))) + Y * Y * 0
    if e.op not in (ir.ADD, ir.SUB) or not is_plain_sum(e):
        return
    near = [*np.nextafter(x, [9.0, -9.0]).tolist(), x + 1e-9, x - 1e-5]
    compiled = kernel(e)
    for point in near:
        exact = evaluate(e, {"x": Fraction(point)}, True)
        (got,) = compiled([point, y])
        off = abs(Fraction(got) - exact)
        assert off <= 3 * Fraction(2) ** -53 * abs(exact) + Fraction(1, 2**90)


LONG_ARGUMENT, ROOT = -X * X * Fraction(17, 10) + Y, -20 * ir.sqrt(X * X + Y * Y)


@pytest.mark.parametrize(
    ("op", "plain", "argument", "largest"),
    [
        (COMPENSATED_EXP, f.EXP, LONG_ARGUMENT, 18),
        (COMPENSATED_EXPM1, f.EXPM1, LONG_ARGUMENT, 18),
        (COMPENSATED_EXP, f.EXP, ROOT, 9),
    ],
)
def test_exponentials_of_long_arguments_and_roots(
    op: ir.Op, plain: ir.Op, argument: Expr, largest: int
) -> None:
    compiled = kernel(argument, op)
    reference = Certified(["x", "y"], [plain(argument)])
    for x, y in np.random.default_rng(3).uniform(1, largest, (100, 2)):
        (answer,) = reference.at_with_status([x, y])
        assert ulp_error(compiled([float(x), float(y)])[0], answer.ball) <= 2


def test_only_sums_that_cancel_are_compensated() -> None:
    cancels, adds = X * (X * X - 2) + 1, X * X + 1
    (after,) = compensate_sums((cancels / adds,))
    assert after is ir.raw(COMPENSATED, (cancels,)) / adds
    assert compensate_sums((adds * adds,)) == (adds * adds,)
    assert is_compensable(f.SIN(X) - X / Y) and not is_compensable(f.GAMMA(X) - X)
    for e in (f.SIN(X) - X, X / Y - 1):
        assert not is_plain_sum(e) and compensate_sums((e,)) == (e,)


def test_extreme_cancellation_is_still_flagged() -> None:
    e = ir.raw(COMPENSATED, (X * (X * X - 3) + 2 + Y,))
    flagged = flagged_where([e], fuses=True, lean=True)
    tested = make_kernel([e], test=lambda *_: flagged)
    assert tested.evaluate([1.5, 3.0]).flagged == 0
    assert tested.evaluate([1 + 1e-5, 1e-30]).flagged == 0
    assert tested.evaluate([1 + 1e-9, 1e-30]).flagged == 1


def test_errors_are_not_multiplied() -> None:
    squared = (X * X - 2) * (X * X - 2) - Y
    rooted = ir.sqrt(X * X + 1) - X
    for e in (squared, rooted, f.EXP(squared)):
        assert compensate_sums((e / X,)) == (e / X,)


@pytest.mark.slow
def test_roots_of_large_numbers() -> None:
    fun = symgrad(lambda x: np.sqrt(x * x + 1) - x)
    x = 10.0 ** np.random.default_rng(0).uniform(-20, 150, 50_000)
    np.testing.assert_allclose(fun(x), 1 / (np.sqrt(x * x + 1) + x), rtol=1e-14)


def test_what_compensated_sums_have_computed_is_computed_once():
    distance = ir.sqrt(X * X + Y * Y)
    outputs = compensate_sums((f.EXP(Y - distance), X / distance))
    roots = lower(outputs, fuse=True, chain=ARRAY_CHAIN)
    assert sum(n.op is ir.POW for n in ir.topological(roots)) == 1
