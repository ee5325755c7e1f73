"""What is captured and derived grows with the operations of a program, and no faster: counts at n, 2n and 4n."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import ir, symgrad
from symdiff.ir import topological
from symdiff.ir.loop_program import LoopProgram, expressions_in
from symdiff.loops.simplify.deltas import contracted
from symdiff.passes.guards.regions import Known
from symdiff.passes.guards.shape import positive

U = np.random.default_rng(0).random(40)


def rolled(n):
    def f(u, k):
        for _ in range(n):
            u = u + k * (np.roll(u, 1) - 2 * u + np.roll(u, -1))
        return np.sum(u**2)

    return f, (U, 0.1)


def joined(n):
    def f(u, k):
        for _ in range(n):
            u = np.concatenate([u[:1], u[1:-1] + k * (u[2:] - 2 * u[1:-1] + u[:-2]), u[-1:]])
        return np.sum(u**2)

    return f, (U, 0.1)


def shrinking(n):
    def f(u, k):
        for _ in range(n):
            u = (u[1:] + u[:-1]) * k
        return np.sum(u**2)

    return f, (U, 0.4)


def two_axes(n):
    def f(u, k):
        for _ in range(n):
            u = u + k * (np.roll(u, 1, axis=0) + np.roll(u, 1, axis=1) - 2 * u)
        return np.sum(u**2)

    return f, (U.reshape(5, 8), 0.1)


def reversed_and_added(n):
    def f(u, k):
        for _ in range(n):
            u = (u[::-1] * k + np.roll(u, 2) + u) * 0.5
        return np.sum(np.sin(u))

    return f, (U, 0.1)


def padded(n):
    def f(u, k):
        for _ in range(n):
            w = np.pad(u, 1)
            u = u + k * (w[2:] - 2 * u + w[:-2])
        return np.sum(u**2)

    return f, (U, 0.1)


def differences(n):
    def f(u, k):
        for _ in range(n):
            u = u + k * np.append(np.diff(u), 0.0)
        return np.sum(u**2)

    return f, (U, 0.1)


def statements(n):
    def f(u, k):
        x = k
        for _ in range(n):
            x = np.sin(x) + k / 3
        return x * np.sum(u)

    return f, (U, 0.1)


SHAPES = [rolled, joined, shrinking, two_axes, reversed_and_added, padded, differences, statements]


def nodes(f: Callable[..., Any], args: tuple[Any, ...]) -> int:
    """The operations of the programs of the value and of the gradient."""
    made = symgrad(f, cache=False, verify=False)
    count = 0
    for g in (made, made.grad):
        source = g._source
        program = source.program({}, source.shapes({}, args))
        roots = list(program.outputs)
        if isinstance(program, LoopProgram):
            roots += expressions_in(program.block)
        count += len(topological(tuple(roots)))
    return count


@pytest.mark.sampled(12)
@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: s.__name__)
def test_programs_grow_with_their_operations(shape: Any) -> None:
    few, some, many = (nodes(*shape(n)) for n in (4, 8, 16))
    assert some <= 2.4 * few and many <= 4.8 * few
    f, args = shape(16)
    np.testing.assert_allclose(symgrad(f)(*args), f(*args), rtol=1e-12)


def american_put(n):
    def f(s, sigma):
        dt = 1.0 / n
        up = np.exp(sigma * np.sqrt(dt))
        p = (np.exp(0.03 * dt) - 1 / up) / (up - 1 / up)
        v = np.maximum(100.0 - s * up ** np.arange(-n, n + 1, 2), 0.0)
        for i in range(n - 1, -1, -1):
            v = np.exp(-0.03 * dt) * (p * v[1:] + (1 - p) * v[:-1])
            v = np.maximum(v, 100.0 - s * up ** np.arange(-i, i + 1, 2))
        return v[0]

    return f, (95.0, 0.2)


def european_call(n):
    def f(s, sigma):
        dt = 1.0 / n
        up = np.exp(sigma * np.sqrt(dt))
        p = (np.exp(0.03 * dt) - 1 / up) / (up - 1 / up)
        v = np.maximum(s * up ** np.arange(-n, n + 1, 2.0) - 100.0, 0.0)
        for _ in range(n):
            v = np.exp(-0.03 * dt) * (p * v[1:] + (1 - p) * v[:-1])
        return v[0]

    return f, (95.0, 0.2)


def neville(n):
    xs = np.linspace(0, 1, n)

    def f(x):
        p = np.sin(3 * xs)
        for k in range(1, n):
            p = ((x - xs[k:]) * p[:-1] - (x - xs[:-k]) * p[1:]) / (xs[:-k] - xs[k:])
        return p[0]

    return f, (0.37,)


def by_two(n):
    def f(a, b):
        u = np.sin(a * np.arange(2.0 * n + 5) + b)
        total = b
        for _ in range(n):
            u = u[1:-1] * a + 0.25 * u[2:] + u[:-2] / 3
            total = total + u[0]
        return total + len(u) * u[-1]

    return f, (0.3, 0.2)


def rows_and_columns(n):
    def f(a):
        u = np.cos(a * np.arange(n + 3.0))[:, None] * np.linspace(0.0, 1.0, n + 4)
        for _ in range(n):
            u = (u[1:, 1:] + a * u[:-1, :-1]) * 0.6
        return np.sum(u)

    return f, (0.3,)


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "shape",
    [american_put, european_call, neville, by_two, rows_and_columns],
    ids=lambda s: s.__name__,
)
def test_arrays_that_shrink_are_one_program(shape: Any) -> None:
    few, some, many = (nodes(*shape(n)) for n in (25, 50, 100))
    assert many <= 1.1 * few and some <= 1.1 * few
    f, args = shape(25)
    made = symgrad(f, verify=False)
    np.testing.assert_allclose(made(*args), f(*args), rtol=1e-11)
    steps = 1e-6 * np.eye(len(args))
    slopes = [(f(*(args + h)) - f(*(args - h))) / 2e-6 for h in steps]
    np.testing.assert_allclose(np.ravel(made.grad(*args)), slopes, rtol=1e-6)


@pytest.mark.slow
def test_arrays_that_shrink_until_nothing_is_left() -> None:
    def f(a):
        u = a * np.arange(30.0)
        for _ in range(30):
            u = np.maximum(u[1:], u[:-1]) * 0.9
        return a + np.sum(u)

    np.testing.assert_allclose(symgrad(f)(0.5), f(0.5))
    np.testing.assert_allclose(symgrad(f).grad(0.5), 1.0)


@pytest.mark.slow
def test_arrays_that_shrink_at_a_tie() -> None:
    f, args = american_put(24)  # where the price of one leaf is the strike
    at, h = (100.0, args[1]), 1e-5
    slope = (f(at[0] + h, at[1]) - f(at[0] - h, at[1])) / (2 * h)
    np.testing.assert_allclose(symgrad(f).grad(*at)[0], slope, rtol=1e-6)


def test_conditions_that_share_parts_are_visited_once() -> None:
    def halves(k: int) -> tuple[Any, Any]:
        return ir.le(ir.ZERO, ir.var(f"x{k}")), ir.not_(ir.lt(ir.var(f"y{k}"), ir.ZERO))

    c = ir.lt(ir.var("z"), ir.ONE)
    for k in range(60):
        a, b = halves(k)
        c = ir.and_(ir.and_(c, a), ir.and_(b, c))
    assert set(ir.conjuncts(positive(c))) >= {ir.le(ir.ZERO, ir.var("y3"))}
    assert len(Known(c, True).sets) == 121
    assert contracted((), (ir.where(c, ir.var("z"), ir.ZERO),))[0] == ()
