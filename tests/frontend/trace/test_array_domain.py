"""Where values are not defined: nan, although the simplified expression would not be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.frontend.tracing import agrees_on_sizes

CASES: list[Any] = []


def case(**shapes: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A function and the axes of its arguments."""

    def register(fun: Callable[..., Any]) -> Callable[..., Any]:
        CASES.append(pytest.param(fun, shapes, id=fun.__name__))
        return fun

    return register


@case(x="n")
def root_squared_over_x(x):
    return np.sqrt(x) ** 2 / x


@case(x="n")
def undefined_selection(x):
    return np.sum((np.sqrt(x) ** 2)[x > -1])


@case(x="n")
def undefined_store(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = np.sqrt(x[i]) ** 2
    return y


@case(x="n")
def undefined_branch(x):
    y = np.where(x > 0, np.sqrt(x) ** 2, 1.0)
    return y


@case(x="n")
def undefined_chain(x):
    return np.log(np.exp(np.sqrt(x) ** 2)).sum()


@case(x="n")
def undefined_numbers(x):
    return max(np.sqrt(x[0]) ** 2, 0.0), np.exp(np.log(x[0]))


@case(x="n")
def undefined_dot(x):
    return np.sum(np.sqrt(x) ** 2 * x) + x @ (np.sqrt(x) ** 2)


@case(x="n")
def undefined_scan(x):
    return np.cumsum(np.sqrt(x) ** 2)


@case(x="n m")
def undefined_maximum(x):
    return np.max(np.sqrt(x) ** 2, axis=0)


@pytest.mark.sampled
@pytest.mark.parametrize(("fun", "shapes"), CASES)
def test_as_python(fun: Any, shapes: Any) -> None:
    agrees_on_sizes(fun, shapes)
