"""`match`: literals, alternatives, names and guards."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import UnsupportedError, symgrad


def by_number(x, n):
    match n:
        case 0 | 1:
            y = x
        case k if k > 9:
            y = k * x**2
        case 2:
            y = np.sin(x)
        case _:
            y = 0.0
    return y + n


def returns(x, n):
    match n:
        case 0:
            return x
        case -1:
            return -x
        case 2.5 if x > 1:
            return x * x
    return 7.0 * x


def by_name(x, kind="sin"):
    match kind:
        case "sin":
            return np.sin(x)
        case "power" | "square":
            return x**2
        case other:
            return x * len(other)


def in_a_loop(x):
    s = 0.0
    for k in range(len(x)):
        match k % 3:
            case 0:
                s += x[k]
            case 1:
                s *= 2
            case _:
                s -= x[k]
    return s


def of_elements(x):
    s = 0.0
    for v in x:
        match v:
            case 0.0:
                continue
            case 1 | 2:
                s += 10.0
            case _:
                s += v
    return s


@pytest.mark.sampled
@pytest.mark.parametrize("f", [by_number, returns])
def test_of_numbers(f: Callable[..., Any]) -> None:
    g = symgrad(f)
    for n in (0.0, 1.0, 2.0, 2.5, -1.0, 12.0, math.nan):
        for x in (0.5, 1.5):
            np.testing.assert_allclose(g(x, n), f(x, n), rtol=1e-15)


def test_derivatives() -> None:
    assert symgrad(by_number).grad(0.5, 12.0) == (12.0, 1.25)
    assert symgrad(returns, wrt="x").grad(1.5, 2.5) == 3.0
    assert symgrad(in_a_loop).grad(np.ones(4)).tolist() == [2.0, 0.0, -1.0, 1.0]


@pytest.mark.slow
def test_static_and_sizes() -> None:
    for kind in ("sin", "square", "abc"):
        assert symgrad(by_name)(0.5, kind) == pytest.approx(by_name(0.5, kind))
    x = np.array([1.0, 0.0, 5.0, 2.0])
    assert symgrad(of_elements)(x) == of_elements(x) == 25.0
    assert symgrad(in_a_loop)(x) == in_a_loop(x)


def of_an_array(x):
    match x:
        case 0.0:
            return x
        case _:
            return 2 * x


def alternatives_with_names(x, n):
    match n:
        case (0 as k) | (1 as k):
            return x * k
    return x


def of_the_length(x):
    match x.shape:
        case (n,):
            return np.sum(x) * n


def of_a_truth_value(x):
    match x > 0:
        case True:
            return x
    return 0.0


@pytest.mark.parametrize(
    ("f", "args", "says"),
    [
        (of_a_truth_value, (1.0,), "a truth value that is not known"),
        (alternatives_with_names, (1.0, 2.0), "an alternative binds names"),
        (of_the_length, (np.ones(3),), "this pattern is not supported"),
    ],
)
def test_what_cannot_be_known_is_refused(f: Callable[..., Any], args: Any, says: str) -> None:
    with pytest.raises(UnsupportedError, match=says):
        symgrad(f)(*args)


def test_a_function_of_numbers_is_called_for_each_element() -> None:
    assert symgrad(of_an_array)(np.array([0.0, 2.0])).tolist() == [0.0, 4.0]
