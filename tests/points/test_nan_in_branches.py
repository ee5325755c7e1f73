"""No comparison with nan holds: branches of which no real number takes the last, asserted conditions,
errors that nan does not raise, and signs that formulas have."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad


def after_an_error(x):
    if x <= 0:
        raise ValueError("not positive")
    return 1.0 if x > 0 else 2.0


def after_an_assertion(x):
    assert not x < 0
    return 1.0 if x >= 0 else 2.0


def chosen(x):
    if x <= 0:
        raise ValueError("not positive")
    return float(np.where(x > 0, 1.0, 3.0))


def returned_before(x):
    if x < 0:
        return 5.0
    if x >= 0:
        return 1.0
    return 2.0


def with_else(x):
    if x > 1:
        y = 5.0
    elif x <= 1:
        y = 1.0
    else:
        y = 2.0
    return y


def weaker(x):
    if x < 1:
        return 1.0
    return 2.0 if x > 0 else 3.0


def outside(x):
    if x < 0 or x > 1:
        return 0.0
    return 1.0 if 0 <= x <= 1 else 2.0


def of_a_square(x):
    return 1.0 if x * x >= 0 else 2.0


def of_a_root(x):
    return 1.0 if np.sqrt(x * x + 1) > 0 else 2.0


def of_an_exponential(x):
    return float(np.where(np.exp(x) > 0, 1.0, 2.0))


FUNCTIONS = [
    after_an_error, after_an_assertion, chosen, returned_before, with_else, weaker, outside,
    of_a_square, of_a_root, of_an_exponential,
]  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("f", FUNCTIONS)
def test_nan_takes_the_branch_that_it_takes_in_python(f: Callable[..., Any]) -> None:
    g = symgrad(f)
    for x in (math.nan, 0.5, 2.0):
        assert g(x) == f(np.float64(x)), x
    assert g(np.array([math.nan, 0.5, 2.0])).tolist() == [f(x) for x in (math.nan, 0.5, 2.0)]


def in_a_loop(x):
    s = 0.0
    for v in x:
        if v < 0:
            continue
        s += 1.0 if v >= 0 else 10.0
    return s


def test_elements_in_loops() -> None:
    assert symgrad(in_a_loop)(np.array([math.nan, 1.0, -1.0])) == 11.0


def by_sign(x):
    if x > 0:
        y = x
    elif x == 0:
        y = 3.0
    elif x < 0:
        y = -2 * x
    return y


def returned_by_sign(x):
    if x > 0:
        return x
    elif x == 0:
        return 3.0
    elif x < 0:
        return -2 * x


def in_two(x, y):
    if x < y:
        a, b = x, y
    if x >= y:
        a, b = y, x
    return b - a


def test_branches_that_take_all_real_numbers_need_no_else() -> None:
    """Plain Python fails for nan there, or returns nothing."""
    for f in (by_sign, returned_by_sign):
        g = symgrad(f)
        assert [g(x) for x in (2.0, 0.0, -1.0)] == [2.0, 3.0, 2.0]
        assert [g.grad(x) for x in (2.0, -1.0)] == [1.0, -2.0]
    assert symgrad(in_two)(1.0, 3.0) == symgrad(in_two)(3.0, 1.0) == 2.0


def test_assertions_are_used_where_they_say_that_a_number_is_there() -> None:
    def f(x):
        assert x > 0
        return math.sqrt(x**2) if x > 0 else 7.0

    assert str(symgrad(f).expr) == "x"
