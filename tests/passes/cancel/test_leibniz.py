"""Derivatives of high order, compared with Taylor series in mpmath."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import pytest
from flint import arb
from mpmath import mp

from symdiff import ir
from symdiff.interpret.balls import Value
from symdiff.interpret.flat import Tape
from symdiff.ir import Expr
from symdiff.ir.functions import ABS, ATAN, ERF, EXP, LOG, SIN, TAN, TANH
from symdiff.passes.leibniz import Derivatives

X = ir.var("x")
ORDER = 9

FORMULAS: list[tuple[str, Expr, Callable[[Any], Any]]] = [
    ("tanh", TANH(X), mpmath.tanh),
    ("quotient", X / TANH(X), lambda x: x / mpmath.tanh(x)),
    ("nested", EXP(SIN(X * X)) / (1 + X), lambda x: mpmath.exp(mpmath.sin(x * x)) / (1 + x)),
    ("powers", ir.power(1 + X, ir.const(5) / 2) * X, lambda x: (1 + x) ** 2.5 * x),
    ("exponent", ir.power(X, X), lambda x: x**x),
    ("logs", LOG(TAN(X)) - ATAN(X), lambda x: mpmath.log(mpmath.tan(x)) - mpmath.atan(x)),
    ("erf", -ERF(X) * X, lambda x: -mpmath.erf(x) * x),
    ("branch", ir.where(ir.lt(X, 2), SIN(X), X) * ABS(X), lambda x: mpmath.sin(x) * x),
]


@pytest.mark.sampled
@pytest.mark.parametrize(("name", "e", "true"), FORMULAS, ids=[name for name, *_ in FORMULAS])
def test_all_orders(name: str, e: Expr, true: Callable[[Any], Any]) -> None:
    derivatives = Derivatives(X)
    tape = Tape([X], [derivatives.of(e, k) for k in range(ORDER)])
    point = mpmath.mpf("0.6875")
    values: list[Value] = tape.run([arb(float(point))], 200)
    with mp.workdps(80):
        for k in range(ORDER):
            wanted = mpmath.diff(true, point, k)
            got = mpmath.mpf(str(values[tape.roots[k]].mid().str(40, radius=False)))
            assert abs(got - wanted) <= 1e-25 * (1 + abs(wanted)), (name, k)


def test_formulas_grow_with_the_square_of_the_order() -> None:
    derivatives = Derivatives(X)
    sizes = [len(ir.topological((derivatives.of(X / TANH(X), k),))) for k in (6, 12, 24)]
    assert sizes[1] < 6 * sizes[0] and sizes[2] < 6 * sizes[1]


def test_what_does_not_depend_on_the_variable_has_no_slope() -> None:
    derivatives = Derivatives(X)
    y = ir.var("y")
    assert derivatives.of(EXP(y) * 3, 1) is ir.ZERO
    assert derivatives.of(X * y, 1) is y
    assert derivatives.of(X * y, 2) is ir.ZERO
