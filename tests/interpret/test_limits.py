"""Limits at points in several variables: those along every path, and those along straight ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.interpret import Certified
from symdiff.ir import Expr, const, sqrt, var
from symdiff.ir.functions import ACOS, ASIN, COS, EXP, LOG, SIN

x, y, z = var("x"), var("y"), var("z")
ORIGIN = [0.0, 0.0, 0.0]
RATIO = x / (sqrt(y) * const(Fraction(1, 2**600)))
"""Of which almost all paths leave the domain of functions that exist up to 1."""

WITHOUT = {
    "z = x*y": x * y / z,
    "z = x**2": x**2 / z,
    "y = x - x**3": (x**3 + y**3) / (x - y),
    "y = x**3 - x": SIN(x * y) / (x + y),
    "y = x**5 - x": (1 - COS(x * y)) / (x + y),
    "z = 0, y = x": x**2 * y / (z**2 + x**4),
    "y**2 = x**3 = z**(9/2)": x * y * z / (x**2 + y**4 + z**6),
    "y = x**2": x**2 * y / (x**4 + y**2),
    "y = -x**3 + x**6": x**2 / (y + x**3),
    "x = y + y**4": (EXP(x) - EXP(y) + x * y * z) / (x - y),
    "z = x + y + x*y": (SIN(x) * y) / (x + y - z),
    "y = exp(-1/x**2) - x": x * LOG(x + y),
    "log(x - exp(y) + 1) = -1/y**2": y * LOG(x - EXP(y) + 1),
    "x = y + exp(-1/y**2)": x**2 * LOG((x - y) ** 2),
    "x = sqrt(y)": y * (1 - COS(x)) / (x**2 - y) ** 2,
    "an angle of lengths": ACOS(RATIO),
    "of a small ratio": ASIN(RATIO / 3) + COS(z),
    "a sine of lengths": sqrt(1 - RATIO**2),
    "a reciprocal length": ACOS(x * y ** Fraction(-1, 2)),
}
WITH: dict[str, tuple[Expr, float]] = {
    "even": (x**2 * y**2 / (x**2 + y**2), 0.0),
    "a norm below": (x**2 / sqrt(x**2 + y**2), 0.0),
    "a divided difference": ((EXP(x) - EXP(y)) / (x - y), 1.0),
    "of cubes": ((x**3 - y**3) / (x - y), 0.0),
    "on a curve": ((SIN(x**2) - SIN(y)) / (x**2 - y), 1.0),
    "of a norm": (SIN(sqrt(x**2 + y**2 + z**2)) / sqrt(x**2 + y**2 + z**2), 1.0),
    "orders 2 and 4": (x**2 * y**3 / (x**2 + y**4), 0.0),
    "a product of quotients": (SIN(x) / x * (EXP(y) - 1) / y * SIN(z) / z, 1.0),
    "a logarithm of a sum": ((x + y) * LOG(2 * x + 2 * y), 0.0),
    "a root of a sum": (sqrt(x + y) * LOG(2 * x + 2 * y), 0.0),
    "a logarithm of a norm": (x * LOG(x**2 + y**2), 0.0),
    "an angle of what vanishes": (ACOS(x * x / sqrt(x**2 + y**2)), math.pi / 2),
    "of sums": ((1 - COS(x) + 1 - COS(y)) / (x**2 + y**2), 0.5),
}


@pytest.mark.sampled
@pytest.mark.parametrize("e", WITHOUT.values(), ids=WITHOUT)
def test_what_differs_on_one_path_is_no_limit(e: Expr) -> None:
    (answer,) = Certified([x, y, z], [e]).at_with_status(ORIGIN)
    assert math.isnan(answer.value)


@pytest.mark.sampled
@pytest.mark.parametrize(("e", "value"), WITH.values(), ids=WITH)
def test_what_is_the_same_on_all_paths_is_one(e: Expr, value: float) -> None:
    (answer,) = Certified([x, y, z], [e]).at_with_status(ORIGIN)
    assert (answer.value, answer.status) == (value, "limit")


def test_nothing_is_made_up_in_functions() -> None:
    f = symgrad(lambda x, y: (x**3 + y**3) / (x - y))
    assert math.isnan(f(0.0, 0.0))
    assert all(map(math.isnan, f.grad(0.0, 0.0)))
    found = f(np.array([0.0, 1.0]), np.array([0.0, 2.0]))
    assert math.isnan(found[0])
    assert found[1] == -9.0


NO_DIRECTION: dict[str, Callable[[Any, Any], Any]] = {
    "angle": lambda u, v: np.arccos(
        np.dot(u, v) / (np.linalg.norm(u) * np.linalg.norm(v))
    ),
    "angle by one root": lambda u, v: np.arccos(
        np.dot(u, v) / np.sqrt(np.dot(u, u) * np.dot(v, v))
    ),
    "latitude": lambda u, v: np.arcsin((u / np.linalg.norm(u))[0]) + v[0],
    "sine": lambda u, v: np.sqrt(
        1 - (np.dot(u, v) / (np.linalg.norm(u) * np.linalg.norm(v))) ** 2
    ),
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("f", NO_DIRECTION.values(), ids=NO_DIRECTION)
def test_a_zero_vector_has_no_direction(f: Callable[[Any, Any], Any]) -> None:
    v = np.array([1.0, 0.5, 0.25])
    assert math.isnan(symgrad(f)(np.zeros(3), v))


def test_a_limit_of_an_angle_is_one() -> None:
    f = symgrad(lambda u, v: np.arccos(np.sum(u * u * v) / np.linalg.norm(u)))
    assert f(np.zeros(3), np.array([1.0, 0.5, 0.25])) == math.pi / 2


def test_limits_of_some_outputs() -> None:
    program = Certified([x, y], [SIN(x) / x, (1 - COS(x)) / x, y + 1])
    found = program.at_with_status([0.0, 2.0], limits_of=[1])
    assert [a.status for a in found] == ["budget", "limit", "exact"]
    assert [a.value for a in found[1:]] == [0, 3]
    assert program.at([0.0, 2.0]) == (1, 0, 3)
