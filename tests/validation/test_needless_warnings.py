"""Warnings that would not be true are not given; those that are true stay."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import symdiff
from symdiff import symgrad


def flagged(x, c):
    return x if c else 0.0


def by_kind(x, kind):
    return x if kind == 0 else x**2 if kind == 1 else math.exp(x)


def not_at_zero(x, n):
    return 1.0 / x if n != 2 and x > 1 else x


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("f", "args", "value", "want"), [
    (flagged, (2.0, True), 2.0, (1.0, 0.0)),
    (flagged, (2.0, False), 0.0, (0.0, 0.0)),
    (lambda x, c: np.where(c, x**2, 0.0), (2.0, True), 4.0, (4.0, 0.0)),
    (by_kind, (0.5, 1), 0.25, (1.0, 0.0)),
    (by_kind, (0.5, 2.0), math.exp(0.5), (math.exp(0.5), 0.0)),
    (not_at_zero, (2.0, 3), 0.5, (-0.25, 0.0)),
    (lambda x: math.acos(math.cos(x) ** 2 + math.sin(x) ** 2), (0.7,), 0.0, 0.0),
    (lambda x: math.asin(math.cos(x) ** 2 + math.sin(x) ** 2), (0.7,), math.pi / 2, 0.0),
    (lambda x: x + math.sqrt(1 - math.cos(x) ** 2 - math.sin(x) ** 2), (0.7,), 0.7, 1.0),
    (lambda x: x * math.acosh(math.cosh(x) ** 2 - math.sinh(x) ** 2), (0.7,), 0.0, 0.0),
])  # fmt: skip
@pytest.mark.filterwarnings("error")
def test_none_is_given(f: Any, args: Any, value: Any, want: Any) -> None:
    g = symgrad(f)
    assert g(*args) == pytest.approx(value, rel=1e-15)
    assert g.grad(*args) == pytest.approx(want, rel=1e-15)


@pytest.mark.parametrize(
    ("f", "args"),
    [
        pytest.param(lambda x: 3.0 if x == 0 else -2 * x, (1.0,), id="jump_at_zero"),
        pytest.param(lambda a, b: a * b / (a + b) if a + b else 0.0, (1.0, 2.0), id="reduced_mass"),
        pytest.param(lambda x, c: x * x if c == 0 else x * c, (2.0, 1.0), id="flag_that_counts"),
    ],
)
def test_values_that_are_no_limits_are_named(f: Any, args: Any) -> None:
    with pytest.warns(symdiff.GuardWarning, match="not the limit"):
        symgrad(f).grad(*args)
