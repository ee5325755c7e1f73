"""Shares of exponentials: the same values, without exponentials that overflow."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symdiff import ir, symgrad
from symdiff.interpret import Certified, ulp_error
from symdiff.ir import topological
from symdiff.ir.functions import EXP
from symdiff.passes.accuracy.softmax import share, shared

A, B, W, X = (ir.var(n) for n in "abwx")
U, V = A / W, B / W
FORMS = {
    "two": EXP(U) / (EXP(U) + EXP(V)),
    "weighted": X * EXP(U) / ((EXP(U) + X * X * EXP(V)) * (X + 5)),
    "constant": -EXP(U) / (EXP(U) + 1),
    "three": EXP(U) / (EXP(U) + EXP(V) + 2 * EXP(U * V)),
    "both": EXP(U) * EXP(U + V) / ((EXP(U) + EXP(V)) * (EXP(U + V) + 1)),
    "quotients": EXP(U) / (X + 5) / (EXP(V) / X + EXP(U)),
}
NUMBERS = st.floats(0.1, 20)


@pytest.mark.sampled
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@settings(max_examples=20, deadline=None)
@given(NUMBERS, NUMBERS, NUMBERS, NUMBERS)
def test_values(form, a, b, w, x) -> None:
    new = share(form)
    assert new is not form
    point = a, b, max(w, 1.0), x
    values = (Certified(["a", "b", "w", "x"], [e]).at(point)[0] for e in (form, new))
    before, after = values
    assert ulp_error(after, before) <= 1


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_no_exponential_stands_above(form) -> None:
    new = share(form)
    assert EXP(U) not in topological((new,)) or form is FORMS["three"]


def test_what_stays() -> None:
    for form in (
        EXP(A) / (EXP(A) + EXP(B)),  # of exact exponents
        EXP(U) / (EXP(V) + 1),
        EXP(U) / (EXP(U) - EXP(V)),
        X / (EXP(U) + 1),
    ):
        assert share(form) is form
        assert shared([form]) == (form,)


def test_large_exponents() -> None:
    def smallest(a, b, c, g):
        return -g * math.log(math.exp(-a / g) + math.exp(-b / g) + math.exp(-c / g))

    got = symgrad(smallest, wrt=("a", "b", "c")).grad(20.0, 30.0, 20.01, 0.01)
    first = 1 / (1 + math.exp(-1))
    assert got == pytest.approx((first, 0.0, 1 - first), rel=1e-12, abs=1e-300)
