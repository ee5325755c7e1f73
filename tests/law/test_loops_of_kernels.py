"""Loops over arrays as people write them for compilers of kernels: nested, with counts that arrays give,
with `if`, `while`, `break`, sums in place, small matrices and functions that change arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad
from tests.law.alike import differences

COUNTS = np.array([0, 1, 2, 3, 4])
GRID = np.array([[0, 1], [2, 1], [1, 3]])
CELLS = np.arange(6.0)
EVEN = np.array([True, False, True, True, False])


# ------------------------------------------------------------- counts given by arrays
def running_sum(a):
    p = np.zeros(5)
    for i in range(5):
        found = 1.0
        for _ in range(COUNTS[i]):
            found += a[i]
        p[i] = found
    return p


def powers_by_loops(a):
    p = np.zeros(5)
    for i in range(5):
        found = 1.0
        for _ in range(COUNTS[i]):
            found = found * a[i]
        p[i] = found
    return np.sum(p * p)


def fibonacci(a, b):
    f = np.zeros(5)
    for i in range(5):
        p, q = a[i], b[i]
        for _ in range(COUNTS[i]):
            p, q = q, p + q
        f[i] = q
    return f


def fibonacci_places(a):
    b = np.zeros(9)
    for _ in range(3):
        p, q = 0, 1
        for _ in range(5):
            p, q = q, p + q
            b[q] += a[q] ** 2
    return np.sum(b)


def whole_weights(a, b):
    f = np.zeros(5)
    for i in range(5):
        weight, s = 1, 0.0
        for _ in range(COUNTS[i]):
            s += weight * a[i] + b[i]
            weight *= 10
        f[i] = s
    return f


def two_loops_inside(a, b):
    f = np.zeros((3, 2))
    for i in range(3):
        for k in range(2):
            weight = 1.0
            for _ in range(GRID[i, k]):
                weight *= a[i]
            s = 0.0
            for _ in range(2 * GRID[i, k]):
                s += weight + b[k]
            f[i, k] = s
    return np.sum(f**2)


def place_that_is_carried(a):
    b = np.zeros(4)
    for i in range(4):
        p = 0
        for _ in range(4):
            b[i] += a[p] ** 2 * (i + 1)
            p += 1  # noqa: SIM113
    return np.sum(b)


def stencil(a, b):
    f = np.zeros((3, 4))
    for i in range(3):
        for k in range(4):
            weight = 1.0
            for j in range(3):
                weight *= a[i + j]
            s = 0.0
            for j in range(4):
                s += weight + b[2 * i + j] * math.sin(weight)
            f[i, k] = s * (k + 1)
    return np.sum(f)


# --------------------------------------------------------------- sums in several loops
def stacked_loops(x):
    loss = 0.0
    for _ in range(2):
        loss += math.sin(x)
        for _ in range(3):
            for _ in range(2):
                loss += math.sin(x) + 1.0
        for _ in range(3):
            s, t = 0.0, 0.0
            for k in range(3):
                s += math.sin(x * k) + 1.0
                t += s * math.cos(x)
            loss += s * t
    return loss


def sums_of_different_depth(x):
    y = np.zeros(4)
    for j in range(4):
        for _ in range(j):
            y[j] += x[j]
        for _ in range(3):
            for _ in range(j):
                y[j] += x[j] ** 2
            y[j] *= 0.5
        for _ in range(2):
            for _ in range(2):
                for _ in range(j):
                    y[j] += np.sin(x[j])
    return y


def into_one_number(x):
    total = np.zeros(1)
    for i in range(x.shape[0]):
        total[0] += x[i] * total[0] + x[i] ** 2
    return total[0]


def least_and_most(x):
    low, high = np.full(2, 10.0), np.full(2, -10.0)
    for i in range(x.shape[0]):
        low[i % 2] = min(low[i % 2], x[i])
        high[i % 2] = max(high[i % 2], x[i] * (i + 1))
    return low[0] * high[1] + low[1] ** 2 + high[0]


# -------------------------------------------------------------------------- branches
def branches_in_loops(x):
    y = np.zeros(5)
    for i in range(5):
        if EVEN[i]:
            y[i] = x[i] * 2
            if x[i] > 0.2:
                y[i] += x[i] ** 2
            else:
                y[i] -= x[i] ** 3
        elif i > 2:
            y[i] = np.exp(x[i])
        else:
            y[i] = 1.0
    return y


def changed_before_a_branch(x):
    total = 0.0
    for v in x:
        w = v
        if v > 0:
            w = v * v
        if w < 0.3:
            w = w + math.sin(v)
        total = total + w * v
    return total


def selected(x, y):
    loss = np.zeros(5)
    for i in range(5):
        loss[i] += x[i] * 3 if i % 2 else y[i] ** 2
    return loss


def first_large(x):
    total, k = 0.0, 0
    while k < x.shape[0]:
        total += x[k] ** 2
        if total > 0.6:
            break
        k += 1
    return total * (1 + x[0])


def skipping(x):
    total = 1.0
    for i in range(x.shape[0]):
        if x[i] < 0:
            continue
        total *= 1 + x[i]
        if total > 3:
            return total * x[0]
    return total


def newton_until_close(a):
    x, n = 1.0, 0
    while abs(x * x - a) > 1e-13 and n < 60:
        x = 0.5 * (x + a / x)
        n += 1
    return x


def fractional(x):
    y = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        y[i] = (x[i] - np.floor(x[i]) if x[i] > 0 else x[i] - np.ceil(x[i])) ** 2
    return np.sum(y)


# ----------------------------------------------------- small matrices and functions
def scale_rows(m, by):
    for i in range(m.shape[0]):
        m[i] *= by[i]


def changed_by_a_function(m, by):
    m = m * 1.0
    scale_rows(m, by)
    scale_rows(m, by * by)
    return np.sum(np.sin(m))


def determinant_of(m):
    return m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0]


def deformed(f, v):
    total = 0.0
    for i in range(f.shape[0]):
        j = determinant_of(f[i])
        turned = np.array([[f[i, 1, 1], -f[i, 1, 0]], [-f[i, 0, 1], f[i, 0, 0]]]) / j
        total += np.sum((turned @ v[i]) ** 2) + math.log(j) ** 2
    return total


def particles_to_grid(x, v):
    grid, mass = np.zeros(6), np.zeros(6)
    for p in range(x.shape[0]):
        base = np.searchsorted(CELLS, x[p] * 5 - 0.5, side="right") - 1
        fx = x[p] * 5 - base
        w = [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1) ** 2, 0.5 * (fx - 0.5) ** 2]
        for k in range(3):
            grid[base + k] += w[k] * v[p]
            mass[base + k] += w[k]
    found = 0.0
    for i in range(6):
        if mass[i] > 0:
            found += (grid[i] / mass[i]) ** 2
    return found


def springs(x, length):
    v = np.zeros(x.shape[0])
    for _ in range(5):
        force = np.zeros(x.shape[0])
        for i in range(x.shape[0] - 1):
            pull = 2.0 * (x[i + 1] - x[i] - length)
            force[i] += pull
            force[i + 1] -= pull
        for i in range(x.shape[0]):
            v[i] = 0.9 * v[i] + 0.1 * force[i]
            x[i] = x[i] + 0.1 * v[i]
    return np.sum(x**2) + v[0]


def wave(u):
    before, now = u * 1.0, u * 1.0
    for _ in range(4):
        after = np.zeros(u.shape[0])
        for i in range(1, u.shape[0] - 1):
            after[i] = 2 * now[i] - before[i] + 0.2 * (now[i - 1] - 2 * now[i] + now[i + 1])
        before, now = now, after
    return np.sum(now * np.arange(u.shape[0]))


def places(*shape: int) -> Any:
    """Numbers around 0, none close to another, to 0 or to an edge of a cell."""
    count = math.prod(shape)
    order = np.random.default_rng(count).permutation(count)
    return (0.93 * (2 * (order + 0.37) / count - 1)).reshape(shape)


Case = tuple[Callable[..., Any], tuple[Any, ...]]
SHORT: list[Case] = [
    (fibonacci, (places(5), places(5) + 1)),
    (branches_in_loops, (places(5),)),
    (first_large, (places(7),)),
    (springs, (np.cumsum(places(4) + 1.5), 1.0)),
]
MORE: list[Case] = [
    (running_sum, (places(5),)),
    (powers_by_loops, (places(5),)),
    (fibonacci_places, (places(9),)),
    (whole_weights, (places(5), places(5))),
    (two_loops_inside, (places(3), places(2))),
    (place_that_is_carried, (places(4),)),
    (stencil, (places(5), places(8))),
    (stacked_loops, (0.234,)),
    (sums_of_different_depth, (places(4),)),
    (into_one_number, (places(4),)),
    (least_and_most, (places(7),)),
    (changed_before_a_branch, (places(6),)),
    (selected, (places(5), places(5) + 0.1)),
    (skipping, (places(6),)),
    (skipping, (np.abs(places(6)),)),
    (newton_until_close, (0.7,)),
    (fractional, (3 * places(6),)),
    (changed_by_a_function, (places(2, 3), places(2))),
    (deformed, (places(3, 2, 2) * 0.3 + np.eye(2), places(3, 2))),
    (particles_to_grid, (np.array([0.27, 0.45, 0.52, 0.68]), places(4))),
    (wave, (places(6),)),
]


def named(cases: list[Case]) -> list[Any]:
    return [pytest.param(*case, id=case[0].__name__) for case in cases]


@pytest.mark.sampled
@pytest.mark.parametrize(("f", "args"), named(SHORT))
def test_loops_in_short(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    compare(f, args)


@pytest.mark.slow
@pytest.mark.parametrize(("f", "args"), named(MORE))
def test_loops(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    compare(f, args)


def compare(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """Values are those of plain Python, Jacobians those of extrapolated differences."""
    s = symgrad(f)
    want = f(*(v * 1.0 for v in args))
    np.testing.assert_allclose(s(*args), want, rtol=1e-12, atol=1e-14, strict=np.ndim(want) > 0)
    slopes = s.jacobian if np.ndim(want) else s.grad
    found = slopes(*args) if len(args) > 1 else (slopes(*args),)
    for k, slope in enumerate(found):
        true = differences(f, args, k)
        largest = np.max(np.abs(true), axis=tuple(range(np.ndim(want))), keepdims=True)
        assert np.shape(slope) == true.shape
        assert np.all(np.abs(slope - true) <= 1e-6 * (np.abs(true) + np.maximum(1.0, largest)))
