"""Squares of signs are 1, and nothing else changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symdiff import ir
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
