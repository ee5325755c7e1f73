"""What is captured and derived grows with the operations of a program, and no faster: counts at n, 2n and 4n."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.ir import topological
from symdiff.ir.loop_program import LoopProgram, expressions_in

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


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: s.__name__)
def test_programs_grow_with_their_operations(shape: Any) -> None:
    few, some, many = (nodes(*shape(n)) for n in (4, 8, 16))
    assert some <= 2.4 * few and many <= 4.8 * few
    f, args = shape(16)
    np.testing.assert_allclose(symgrad(f)(*args), f(*args), rtol=1e-12)
