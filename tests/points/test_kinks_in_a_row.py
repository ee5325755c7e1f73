"""Programs whose kinks follow each other: code that grows with their number, and slopes where many are met."""

from __future__ import annotations

import ast
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from symdiff import symgrad

KINDS = (ast.BinOp, ast.Compare, ast.BoolOp, ast.IfExp, ast.Call, ast.AugAssign, ast.UnaryOp)


def operations(text: str) -> int:
    return sum(isinstance(n, KINDS) for n in ast.walk(ast.parse(text)))


def chain(count: int) -> Callable[..., float]:
    def f(x: float, y: float) -> float:
        for k in range(count):
            x, y = max(x + k * y, x * y), abs(y - x)
        return x + y

    return f


def sizes(count: int) -> Callable[..., float]:
    def f(x: float, y: float) -> float:
        for k in range(count):
            x, y = abs(x - k * y / 8), min(y, x / 2)
        return x * y

    return f


@pytest.mark.parametrize("made", [chain, pytest.param(sizes, marks=pytest.mark.slow)])
def test_gradients_grow_with_the_number_of_kinks(
    made: Callable[[int], Callable[..., float]],
) -> None:
    counts = []
    for n in (3, 6, 12):
        s = symgrad(made(n))
        counts.append((operations(s.source()), operations(s.grad.source())))
    assert all(g <= 5 * v for v, g in counts)
    (_, first), (_, second), (_, third) = counts
    assert third - second <= 2.2 * (second - first)


@pytest.mark.slow
@pytest.mark.parametrize("made", [chain, sizes])
def test_second_derivatives_grow_with_the_number_of_kinks(
    made: Callable[[int], Callable[..., float]],
) -> None:
    first, second, third = (
        operations(symgrad(made(n)).diff("x", "x").source()) for n in (3, 6, 12)
    )
    assert third - second <= 2.2 * (second - first)


def median(a: float, b: float, c: float, d: float, e: float) -> float:
    first = max(min(a, b), min(max(a, b), c))
    second = max(min(b, c), min(max(b, c), d))
    third = max(min(c, d), min(max(c, d), e))
    return max(min(first, second), min(max(first, second), third))


def squares_in_order(a: float, b: float, c: float, d: float, e: float) -> float:
    """Each number once, in order, with a weight."""
    v = [a, b, c, d, e]
    for i in range(5):
        for j in range(4 - i):
            v[j], v[j + 1] = min(v[j], v[j + 1]), max(v[j], v[j + 1])
    return sum(k * t * t for k, t in enumerate(v))


def mean_of_sides(f: Callable[..., float], at: tuple[int, ...], i: int) -> float:
    """The mean of both one-sided slopes, in exact arithmetic."""
    step = Fraction(1, 10**14)
    beside = [
        [Fraction(x) + (s * step if k == i else 0) for k, x in enumerate(at)] for s in (1, -1)
    ]
    up, down = (Fraction(f(*point)) for point in beside)
    return float((up - down) / (2 * step))


POINTS = [(1, 1), (0, 0), (2, 1), (1, 2), (0, 1), (1, 0), (-1, -1)]
ROWS = [(1, 1, 1, 1, 1), (1, 1, 2, 2, 3), (1, 2, 1, 2, 1), (3, 1, 1, 2, 1), (4, 4, 2, 2, 1)]


@pytest.mark.parametrize(("f", "points"), [
    (chain(6), POINTS),
    pytest.param(chain(14), POINTS, marks=pytest.mark.slow),
    pytest.param(sizes(8), POINTS, marks=pytest.mark.slow),
    pytest.param(median, ROWS, marks=pytest.mark.slow),
    pytest.param(squares_in_order, ROWS, marks=pytest.mark.slow),
])  # fmt: skip
def test_slopes_where_many_kinks_meet(
    f: Callable[..., float], points: list[tuple[int, ...]]
) -> None:
    s = symgrad(f)
    for at in points:
        want = [mean_of_sides(f, at, i) for i in range(len(at))]
        assert s.grad(*map(float, at)) == pytest.approx(want, rel=1e-9, abs=1e-9), at


def test_arrays_have_the_slopes_of_numbers() -> None:
    s = symgrad(chain(6))
    x, y = np.array(POINTS, float).T
    each = np.array([s.grad(*point) for point in zip(x.tolist(), y.tolist(), strict=True)])
    assert np.array_equal(np.array(s.grad(x, y)).T, each)


def test_what_does_not_depend_on_the_largest_has_no_kink() -> None:
    def soft(x: float, y: float, z: float) -> float:
        top = max(x, y, z)
        return top + np.log(np.exp(x - top) + np.exp(y - top) + np.exp(z - top))

    s = symgrad(soft)
    assert s.grad(1.0, 1.0, 1.0) == pytest.approx((1 / 3, 1 / 3, 1 / 3), rel=1e-15)
    assert operations(s.grad.source()) <= operations(s.source())


def test_slopes_of_scaled_norms_at_ties_of_their_scale() -> None:
    def norm(x: float, y: float, z: float) -> float:
        m = max(abs(x), abs(y), abs(z))
        return m * np.sqrt((x / m) ** 2 + (y / m) ** 2 + (z / m) ** 2)

    s = symgrad(norm)
    assert s.grad(1.0, 1.0, 1.0) == pytest.approx([3**-0.5] * 3, rel=1e-15)
    assert s.grad(-2.0, 0.0, 2.0) == pytest.approx((-(2**-0.5), 0.0, 2**-0.5), rel=1e-15)


def test_fast_arithmetic_has_half_of_each_at_a_tie() -> None:
    s = symgrad(lambda x, y: max(x, y) + abs(x - y), accuracy="fast")
    assert s.grad(1.0, 1.0) == (0.5, 0.5)
