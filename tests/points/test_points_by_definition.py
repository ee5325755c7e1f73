"""Derivatives at points where programs are not smooth, in many spellings: what the definition says, by hand."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from symdiff import GuardWarning, symgrad
from symdiff.interpret import work

Case = tuple[Callable[..., Any], tuple[Any, ...], Any]
ZERO2, ZERO3 = np.zeros(2), np.zeros(3)


@dataclass
class Point:
    x: float
    y: float


def flat(tree: Any) -> Iterator[float]:
    """The numbers of a gradient, in order."""
    if isinstance(tree, Point):
        tree = (tree.x, tree.y)
    if isinstance(tree, dict):
        tree = tuple(tree.values())
    if isinstance(tree, (tuple, list)):
        for part in tree:
            yield from flat(part)
    else:
        yield from map(float, np.ravel(tree))


def is_origin(x: Any, y: Any) -> bool:
    return x == 0 and y == 0


# ------------------------------------------------------- early returns at a point: x + 2*y, everywhere
def early(x: Any, y: Any) -> Any:
    if x == 0 and y == 0:
        return 0.0
    return x + 2 * y


def nested(x: Any, y: Any) -> Any:
    if x == 0:
        if y == 0:
            return 0.0
    return x + 2 * y


def helped(x: Any, y: Any) -> Any:
    return 0.0 if is_origin(x, y) else x + 2 * y


def assigned(x: Any, y: Any) -> Any:
    r = x + 2 * y
    if not (x != 0 or y != 0):
        r = 0.0
    return r


def of_data(p: Point) -> Any:
    return 0.0 if p.x == 0 and p.y == 0 else p.x + 2 * p.y


def of_all(p: Any) -> Any:
    return 0.0 if np.all(p == 0) else p[0] + 2 * p[1]


def of_any(p: Any) -> Any:
    if not np.any(p):
        return 0.0
    return p @ np.array([1.0, 2.0])


def of_norm(p: Any) -> Any:
    if np.linalg.norm(p) == 0:
        return 0.0
    return p[0] + 2 * p[1]


def of_tiny_norm(p: Any) -> Any:
    return 0.0 if np.sqrt(np.sum(p * p)) < 1e-12 else p[0] + 2 * p[1]


def in_a_loop(p: Any) -> Any:
    total = 0.0
    for i in range(len(p)):
        if p[i] != 0:
            total = total + (i + 1) * p[i]
    return total


def by_mask(p: Any) -> Any:
    return np.sum(np.where(p == 0, 0.0, p * np.array([1.0, 2.0])))


EARLY: list[Case] = [
    *((f, (0.0, 0.0), (1, 2)) for f in (early, nested, helped, assigned)),
    (lambda x, y: np.where((x == 0) & (y == 0), 0.0, x + 2 * y), (0.0, 0.0), (1, 2)),
    (lambda x, y: (x + 2 * y) * (not (x == 0 and y == 0)), (0.0, 0.0), (1, 2)),
    (lambda x, y: 0.0 if abs(x) < 1e-9 and abs(y) < 1e-9 else x + 2 * y, (0.0, 0.0), (1, 2)),
    (lambda x, y: 0.0 if abs(x) + abs(y) == 0 else x + 2 * y, (0.0, 0.0), (1, 2)),
    (lambda x, y: 0.0 if x * x + y * y == 0 else x + 2 * y, (0.0, 0.0), (1, 2)),
    (of_data, (Point(0.0, 0.0),), (1, 2)),
    (
        lambda p: 0.0 if p["x"] == 0 and p["y"] == 0 else p["x"] + 2 * p["y"],
        ({"x": 0.0, "y": 0.0},),
        (1, 2),
    ),
    *((f, (ZERO2,), (1, 2)) for f in (of_all, of_any, of_norm, of_tiny_norm, in_a_loop, by_mask)),
]


# ------------------------------------------------- a value that is no limit, times what vanishes there
def scaled(x: Any, w: Any) -> Any:
    k = math.sin(w * x) / x if x != 0 else 1.0
    return k * x


def scaled_in_steps(x: Any, w: Any) -> Any:
    k = 7.0
    if x != 0:
        k = math.expm1(w * x) / x
    return x * k


def slope_of(x: Any, w: Any) -> Any:
    return 3.0 if x == 0 else (math.exp(w * x) - 1) / x


def by_helper(x: Any, w: Any) -> Any:
    return slope_of(x, w) * math.sin(x)


def summed(x: Any, w: Any) -> Any:
    total = 0.0
    for _ in range(2):
        total = total + (math.tanh(w * x) / x if x else 5.0) * x / 2
    return total


def elements(p: Any, w: Any) -> Any:
    safe = np.where(p == 0, 1.0, p)
    return np.sum(p * np.where(p == 0, 1.0, np.sin(w * p) / safe))


def one_by_one(p: Any, w: Any) -> Any:
    total = 0.0
    for v in p:
        total = total + v * (np.sin(w * v) / v if v != 0 else -1.0)
    return total


def of_a_norm(p: Any, w: Any) -> Any:
    n = np.linalg.norm(p)
    k = np.sin(w * n) / n if n > 0 else 1.0
    return k * p[0]


TIMES: list[Case] = [
    *((f, (0.0, 2.0), (2, 0)) for f in (scaled, scaled_in_steps, by_helper, summed)),
    (lambda x, w: x * np.where(x == 0, 1.0, np.log1p(w * x) / x), (0.0, 2.0), (2, 0)),
    (lambda x, w: (1.0 if abs(x) < 1e-10 else math.sinh(w * x) / x) * x, (0.0, 2.0), (2, 0)),
    (lambda x, w: x * (4.0 if not x else math.atan(w * x) / x), (0.0, 2.0), (2, 0)),
    (lambda x, w: x**2 * (1.0 if x == 0 else math.sin(w * x) / x**2), (0.0, 2.0), (2, 0)),
    (lambda x, w: (9.0 if x == 1 else math.log(x) / (x - 1)) * (x - 1) * w, (1.0, 2.0), (2, 0)),
    (elements, (ZERO2, 2.0), (2, 2, 0)),
    (one_by_one, (ZERO2, 2.0), (2, 2, 0)),
    (of_a_norm, (ZERO2, 2.0), (2, 0, 0)),
]


# ------------------------------------------------------------------ branches that are not taken
def cone(p: Any) -> Any:
    r = np.sqrt(p[0] ** 2 + p[1] ** 2)
    return p[2] ** 2 + (p[0] * p[2] / r if r > 0 else 0.0)


def springs(p: Any) -> Any:
    total = 0.0
    for i in range(len(p)):
        d = np.abs(p[i])
        if d > 1.0:
            total = total + np.sqrt(d - 1.0) / d
    return total


UNTAKEN: list[Case] = [
    (lambda x: np.where(x > 0, np.sqrt(x), 0.0), (0.0,), (0,)),
    (lambda x: np.where(x <= 0, 0.0, np.log(x)), (0.0,), (0,)),
    (lambda x: math.sqrt(x) if x > 0 else 2 * x, (0.0,), (2,)),
    (lambda x: 2 * x if not x > 0 else 1 / x, (0.0,), (2,)),
    (lambda x, y: x / y if y != 0 and x > 5 else 3 * x + y, (1.0, 0.0), (3, 1)),
    (lambda x, y: 3 * x + y if abs(y) <= 1 else math.acos(1 / y), (1.0, 0.0), (3, 1)),
    (lambda x: np.sum(np.where(x > 0, np.sqrt(np.abs(x)), x)), (np.array([0.0, -1.0]),), (1, 1)),
    (lambda x: np.sum(x[x > 1] ** 0.5) + np.sum(x), (np.array([0.0, 0.5]),), (1, 1)),
    (lambda x: sum(np.sqrt(v) if v > 0 else v for v in x), (np.array([0.0, -2.0]),), (1, 1)),
    (lambda x: np.where(np.sum(x) > 0, np.linalg.norm(x), x[0]), (ZERO2,), (1, 0)),
    (springs, (ZERO2,), (0, 0)),
    (cone, (np.array([0.0, 0.0, -1.0]),), (0, 0, -2)),
]


# ------------------------------------------------------------- kinks of which one is inside another


CHAINS: list[Case] = [
    (lambda x, y: max(abs(x), y), (0.0, 0.0), (0, 0.5)),
    (lambda x, y: abs(max(x, y)), (0.0, 0.0), (0.5, 0.5)),
    (lambda x, y, z: max(x, y, z), (1.0, 1.0, 1.0), (0.5, 0.5, 0.5)),
    (lambda x, y, z: max(np.maximum(x, y), z), (1.0, 1.0, 1.0), (0.5, 0.5, 0.5)),
    (lambda x, y, z: np.maximum(np.maximum(x, y), z), (1.0, 1.0, 1.0), (0.5, 0.5, 0.5)),
    (lambda p: np.max(p), (np.ones(3),), (0.5, 0.5, 0.5)),
    (lambda p: np.min(np.abs(p)), (ZERO2,), (0, 0)),
    (lambda p: np.max(np.abs(p)), (ZERO2,), (0, 0)),
    (lambda x: abs(abs(x) - 1.0), (1.0,), (0,)),
    (lambda x: max(abs(x), 2 * abs(x) - 1.0), (1.0,), (1.5,)),
    (lambda x, y: abs(x) * abs(y), (0.0, 0.0), (0, 0)),
    (lambda x, y: max(x, 0.0) - max(y, 0.0) + abs(x - y), (0.0, 0.0), (0.5, -0.5)),
    (lambda x, y: math.hypot(max(x, 0), max(y, 0)), (0.0, 0.0), (0.5, 0.5)),
    (lambda x: min(max(x, 0.0), 1.0) + min(max(x, 0.0), x), (0.0,), (1.5,)),
    (lambda x: np.clip(np.abs(x), 0.0, 1.0), (0.0,), (0,)),
    (lambda x: np.sort([x, 2 * x, 3 * x])[1], (0.0,), (2,)),
]

# -------------------------------------------------------------- steps, and what is continuous with them
STEPS: list[Case] = [
    (lambda x: np.sign(x) * abs(x), (0.0,), (1,)),
    (lambda x: np.sign(x) * math.log1p(abs(x)), (0.0,), (1,)),
    (lambda x: math.copysign(math.expm1(abs(x)), x), (0.0,), (1,)),
    (lambda x: np.where(x < 0, -1.0, 1.0) * abs(x), (0.0,), (1,)),
    (lambda x: (1 if x >= 0 else -1) * abs(x), (0.0,), (1,)),
    (lambda x: np.heaviside(x, 0.5) * x + np.heaviside(-x, 0.5) * x, (0.0,), (1,)),
    (lambda x, y: np.sign(y) * abs(x), (0.0, 2.0), (0, 0)),
    (lambda x: x - math.floor(x), (2.0,), (1,)),
    (lambda x: np.sign(x), (0.0,), (0,)),
    (lambda x: math.floor(x) * math.sin(math.pi * x) + round(x), (0.5,), (0,)),
    (lambda p: np.sum(np.sign(p) * np.abs(p)), (ZERO2,), (1, 1)),
    (lambda p: np.sum(np.sign(p) * np.log1p(np.abs(p))), (ZERO2,), (1, 1)),
    (lambda p: np.sum(np.copysign(np.abs(p), p)), (ZERO2,), (1, 1)),
    (lambda p: sum(np.sign(v) * abs(v) for v in p), (ZERO2,), (1, 1)),
    (lambda p: np.sum(p - np.floor(p)), (np.array([1.0, 2.5]),), (1, 1)),
]


# ---------------------------------------------------------------------------- unit vectors and norms
def unit_squared(w: Any, t: Any) -> Any:
    n = np.linalg.norm(w)
    k = w / n if n > 0 else w
    return t * t * k[0] * k[0] + t


NORMS: list[Case] = [
    (lambda p: np.linalg.norm(p), (ZERO3,), (0, 0, 0)),
    (lambda p: np.sqrt(np.sum(p**2)), (ZERO3,), (0, 0, 0)),
    (lambda p: np.sqrt(p @ p), (ZERO3,), (0, 0, 0)),
    (lambda p: sum(v * v for v in p) ** 0.5, (ZERO3,), (0, 0, 0)),
    (lambda x, y: math.hypot(x, y), (0.0, 0.0), (0, 0)),
    (lambda x, y: (x * x + y * y) ** 0.5 + x, (0.0, 0.0), (1, 0)),
    (lambda p: np.linalg.norm(p - p[::-1]), (np.ones(2),), (0, 0)),
    (lambda p: np.exp(-np.linalg.norm(p)), (ZERO2,), (0, 0)),
    (lambda p: np.linalg.norm(p) * p[0], (ZERO2,), (0, 0)),
    (lambda p: np.sqrt(p @ np.array([[2.0, 1.0], [1.0, 3.0]]) @ p), (ZERO2,), (0, 0)),
    (lambda p: np.sqrt(np.sum(np.array([1.0, 4.0]) * p**2)) + p[1], (ZERO2,), (0, 1)),
    (lambda p: p[0] ** 2 / np.linalg.norm(p) + p[1], (ZERO2,), (0, 1)),
    (unit_squared, (ZERO2, 3.0), (0, 0, 1)),
]

# ------------------------------------------------------------------------- logarithms of 0, and powers
LOGARITHMS: list[Case] = [
    (lambda x: np.logaddexp(np.log(x), 0.0), (0.0,), (1,)),
    (lambda x: math.exp(math.log(x) + 1.0) if x >= 0 else 0.0, (0.0,), (math.e,)),
    (lambda x: np.log(np.exp(np.log(x)) + 1.0), (0.0,), (1,)),
    (lambda p: np.log(np.sum(np.exp(np.log(p)))), (np.array([0.0, 0.5]),), (2, 2)),
    (lambda p: np.exp(np.sum(np.log(p))), (np.array([0.0, 3.0]),), (3, 0)),
    (lambda p: np.logaddexp(np.log(p[0]), np.log(p[1])), (np.array([0.0, 0.5]),), (2, 2)),
    (lambda p: np.prod(p), (np.array([0.0, 3.0]),), (3, 0)),
    (lambda x: 0.0 if x == 0 else x * x * math.log(abs(x)), (0.0,), (0,)),
    (lambda x: abs(x) ** 1.5, (0.0,), (0,)),
    (lambda x: (x * x) ** 0.75, (0.0,), (0,)),
    (lambda x, y: (x * x + y * y) ** 0.6, (0.0, 0.0), (0, 0)),
    (lambda p: np.sum(p * p) ** 0.6, (ZERO2,), (0, 0)),
    (lambda p: np.sum(np.abs(p) ** 1.25), (ZERO2,), (0, 0)),
]

CLASSES = {
    "early": EARLY, "times": TIMES, "untaken": UNTAKEN, "chains": CHAINS, "steps": STEPS,
    "norms": NORMS, "logarithms": LOGARITHMS,
}  # fmt: skip
NAMED = [(f"{kind} {k}", case) for kind, rows in CLASSES.items() for k, case in enumerate(rows)]


@pytest.mark.sampled
@pytest.mark.parametrize("case", [c for _, c in NAMED], ids=[n for n, _ in NAMED])
def test_gradients(case: Case) -> None:
    f, args, expected = case
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GuardWarning)
        found = symgrad(f).grad(*args)
    assert list(flat(found)) == pytest.approx(expected, rel=1e-11, abs=1e-12)


def test_a_pair_of_special_values() -> None:
    """A product of two quantities of which both are zero, in every combination of signs beside that."""
    f = symgrad(lambda x, y: max(x, 0.0) * abs(y) + min(y, 0.0) * abs(x))
    for x, y in itertools.product((0.0, 1.0, -2.0), repeat=2):
        by_x = (x > 0) * abs(y) + (x == 0) * abs(y) / 2 + min(y, 0.0) * np.sign(x)
        by_y = max(x, 0.0) * np.sign(y) + ((y < 0) + (y == 0) / 2) * abs(x)
        assert f.grad(x, y) == (by_x, by_y)


def density(x, a, b):
    size = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    return math.exp((a - 1) * math.log(x) + (b - 1) * math.log(1 - x) - size)


def norm_of_cubes(x):
    return np.sum(np.abs(x) ** 3) ** (1 / 3)


@pytest.mark.parametrize(
    ("f", "at", "other"),
    [
        (density, (0.5, 0.0, 2.0), (0.25, 0.0, 2.0)),
        (norm_of_cubes, (np.zeros(3),), (np.zeros(4),)),
    ],
)
def test_equal_arguments_are_searched_once(f, at, other):
    slopes = symgrad(f).grad
    want = np.array(slopes(*at))
    for _ in range(2):
        slopes(*at)
    start = work.spent()
    slopes(*other)
    searched = work.spent() - start
    again = slopes(*at)
    assert work.spent() - start - searched < searched / 10
    np.testing.assert_array_equal(again, want)
    if isinstance(again, np.ndarray):
        again[:] = 7.0
        np.testing.assert_array_equal(slopes(*at), want)
