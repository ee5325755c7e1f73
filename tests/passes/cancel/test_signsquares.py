"""Squares of signs are 1, and nothing else changes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symdiff import ir, symgrad
from symdiff.interpret import Certified
from symdiff.ir import SIGN, Expr
from symdiff.ir.functions import EXP
from symdiff.passes.cancel.signsquares import squares_of_signs

X, Y = ir.var("x"), ir.var("y")
S = SIGN(X)


def value(e: Expr, x: float, y: float) -> float:
    return Certified([X, Y], [e]).at([x, y])[0]


@pytest.mark.parametrize(("e", "at_zero"), [
    (S * S, 1.0), (S * EXP(X) * S, 1.0), (S * (S * EXP(-ir.abs_(X)) + X), 1.0), (S**3, 0.0),
    (S * S * S, 0.0), (S * (2 + S * Y) / 4, 0.75), (S**2 / (1 + S**2), 0.5), ((2 * S) ** 2, 4.0),
    (S * ir.where(ir.lt(ir.ZERO, Y), S * Y, X), 3.0),
    (-S * (Y - S), 1.0), (SIGN(X) * SIGN(X - Y) * SIGN(X), -1.0), (EXP(S * S - 1), 1.0),
], ids=repr)  # fmt: skip
def test_at_the_kink(e: Expr, at_zero: float) -> None:
    (found,) = squares_of_signs((e,))
    assert value(found, 0.0, 3.0) == at_zero
    for x in (-0.7, 0.4):
        assert value(found, x, 3.0) == pytest.approx(value(e, x, 3.0), rel=1e-15)


@pytest.mark.parametrize("e", [S, S + X * S, (1 + S) * (Y - S), S / (S + 2), EXP(S)], ids=repr)
def test_what_stays(e: Expr) -> None:
    assert squares_of_signs((e,))[0] is e


leaves = st.sampled_from([X, Y, S, SIGN(Y), ir.const(2)])
expressions = st.recursive(
    leaves,
    lambda inner: st.builds(lambda op, a, b: op(a, b), st.sampled_from([ir.add, ir.sub, ir.mul]),
                            inner, inner) | inner.map(EXP),
    max_leaves=8,
)  # fmt: skip


@given(expressions, st.sampled_from([-1.5, -0.25, 0.5, 2.0]), st.sampled_from([-1.0, 3.0]))
def test_values_stay_where_no_sign_is_zero(e: Expr, x: float, y: float) -> None:
    (found,) = squares_of_signs((e,))
    want = value(e, x, y)
    assert value(found, x, y) == pytest.approx(want, rel=1e-12, abs=1e-12, nan_ok=True)


def test_signs_that_a_user_wrote_stay() -> None:
    e = S * S * EXP(X)
    assert squares_of_signs((e,), but={X})[0] is e


BRANCHES = {
    "power": (lambda b, c: 0.0 if c < 0 else abs(b + math.sqrt(c)) ** 1.5, 0.0),
    "factor": (lambda b, c: (0.0 if c < 0 else abs(b + math.sqrt(c)) ** 1.5) * b + c * c, 2.0),
    "below": (lambda b, c: math.log(1 + (abs(b + math.sqrt(c)) ** 2.5 if c > 0 else c * c)), None),
    "root of a quadratic equation": (
        lambda b, c: 0.0 if b * b + c < 0
        else 1 / (b + math.copysign(math.sqrt(b * b + c), b)), 0.0,
    ),
    "logarithm": (
        lambda b, c: c * c if c < 0 else np.abs(b * np.log(c)) * np.exp(-np.abs(np.log(c))), 2.0
    ),
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("name", BRANCHES)
def test_signs_stay_in_the_branches_where_they_are_defined(name: str) -> None:
    plain, curvature = BRANCHES[name]
    f = symgrad(plain)
    ((bb, bc), (cb, cc)) = f.hessian(0.25, -0.5)
    assert (bb, bc, cb) == (0.0, 0.0, 0.0)
    if curvature is None:  # of log(1 + c**2)
        curvature = 2 * (1 - 0.25) / 1.25**2
    assert cc == pytest.approx(curvature, rel=1e-15)
    h = 2.0**-10
    for x, i in ((0.25, 0), (0.5, 1)):
        at = (lambda t: plain(t, 0.5)) if i == 0 else (lambda t: plain(0.25, t))
        second = (at(x + h) - 2 * at(x) + at(x - h)) / h**2
        assert f.hessian(0.25, 0.5)[i][i] == pytest.approx(second, rel=1e-4, abs=1e-8)
