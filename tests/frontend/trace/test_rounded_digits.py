"""`round(x, digits)` is Python's, which rounds the decimals of the double; `np.round` is NumPy's, which rounds
the double of a product."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symdiff import symgrad


def hundredths(x):
    return round(x, 2)


def thousands(x):
    return round(x, -3)


TRACED = {f: symgrad(f) for f in (hundredths, thousands)}


@pytest.mark.parametrize(
    "x", [2.675, -2.675, 1.005, 0.125, 0.375, 0.615, 2.345, 1e15 + 0.125, 0.0, 1e307, np.inf, 112643634114775.89]
)  # fmt: skip
def test_digits_of_numbers_in_the_middle(x) -> None:
    assert TRACED[hundredths](x) == round(x, 2)
    if abs(x) < 1e300:
        assert symgrad(lambda v: np.round(v, 2))(x) == np.round(x, 2)
    assert TRACED[hundredths].grad(x) == 0.0


@settings(max_examples=200, deadline=None)
@given(st.integers(-(10**6), 10**6), st.sampled_from([0.0, 5e-3, 5e-4, 1e-9]))
def test_digits_of_numbers_near_the_middle(n, off) -> None:
    x = n / 100 + off
    assert TRACED[hundredths](x) == round(x, 2)
    assert TRACED[thousands](500.0 * n + off) == round(500.0 * n + off, -3)


@pytest.mark.filterwarnings("error::symdiff.errors.GuardWarning")
def test_a_rounded_product_has_no_guard() -> None:
    f = symgrad(lambda x: round(1.19 * x, 2) + x)
    assert [f(2.25), f.grad(2.25), f.grad(2.675 / 1.19)] == [4.93, 1.0, 1.0]
