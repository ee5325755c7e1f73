"""Conditions of `while` that change something: the last one, which is false, does so too."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from tests.frontend.differences import check


def assigned(x: float) -> float:
    n = 0
    while (x := 0.9 * x + 0.05) > 0.7 and n < 100:
        n += 1
    return x * n


def in_a_list(x: float) -> float:
    held, n = [x], 0

    def step() -> float:
        held[0] = held[0] * 0.9
        return held[0]

    while step() > 0.4:
        n += 1
    return held[0] * n


def with_break(x: float) -> float:
    while (d := math.sin(x)) > 0.3:
        x = 0.8 * x
        if x < 0.5:
            break
    else:
        x = 7 * x
    return x * d


def with_else(x: float) -> float:
    n = 0
    while (d := x * x - 0.3) > 1e-3:
        x, n = x - 0.3 * d, n + 1
        if n > 50:
            break
    else:
        x = x + d
    return x * d


@pytest.mark.sampled(6)
@pytest.mark.parametrize("f", (assigned, in_a_list, with_break, with_else))
def test_the_last_condition_counts(f: Callable[[float], float]) -> None:
    check(f, 0.93, value=1e-13, slope=1e-7, near=1e-12, step=1e-5)
