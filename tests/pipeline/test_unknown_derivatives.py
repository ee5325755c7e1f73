"""Second derivatives that have no formula are refused at the line of the function."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from symdiff import symgrad
from symdiff.errors import UnsupportedError


def of_numbers(a, x):
    y = x * x
    return special.betainc(a, 2.0, y)


def of_arrays(p):
    total = 0.0
    for k in range(p.shape[0]):
        total += special.jv(p[k], 1.5)
    return total


@pytest.mark.parametrize(
    ("function", "point", "line"),
    [(of_numbers, (1.5, 0.3), 2), (of_arrays, (np.array([1.5, 0.3]),), 3)],
)
def test_the_line_is_named(function, point, line):
    f = symgrad(function)
    f.grad(*point)
    with pytest.raises(UnsupportedError, match=r"second derivatives? of \w+ by its") as error:
        f.hessian(*point)
    assert error.value.location.line == function.__code__.co_firstlineno + line
    assert error.value.hint.startswith("differentiate by the")


def test_other_second_derivatives_are_known():
    h = 1e-5
    g = symgrad(of_numbers).diff("a")
    found = symgrad(of_numbers).diff("a", "x")(1.5, 0.3)
    assert found == pytest.approx((g(1.5, 0.3 + h) - g(1.5, 0.3 - h)) / (2 * h), rel=1e-8)
