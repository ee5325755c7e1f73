"""Kernels in the manner of Taichi's: arrays are fields that loops read, overwrite and add to, with
integers, branches and state that is carried. Values are Python's; cotangents of all fields of real
numbers agree with differences, and with what is known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad
from tests.law.alike import differences
from tests.law.made import made

pytestmark = [pytest.mark.slow, pytest.mark.ci]

A = np.array([0.7, -1.2, 0.4, 1.9, -0.3])
B = np.array([1.1, 0.6, -0.8, 0.2, 1.5])
COUNTS = np.array([0, 1, 2, 3, 4])


def counted(name: str, params: str, start: str, step: str, result: str, then: str = "pass") -> Any:
    """What each element is after some steps: as many as its count."""
    return made(
        "y = np.zeros(len(a))", "for i in range(len(a)):", f"    {start}",
        f"    for _ in range(counts[i]):\n            {step}", f"    {then}", f"    y[i] = {result}",
        "return y", name=name, params=params,
    )  # fmt: skip


repeated_sum = counted("repeated_sum", "a, counts", "s = 1.0", "s = s + a[i]", "s")
powers = counted("powers", "a, counts", "s = 1.0", "s *= a[i]", "s")
fibonacci = counted("fibonacci", "a, b, counts", "p, q = a[i], b[i]", "p, q = q, p + q", "q")
weights_of_ten = counted(
    "weights_of_ten", "a, b, counts", "w, s = 1, 0.0", "s, w = s + w * a[i] + b[i], w * 10", "s"
)
two_loops = counted(
    "two_loops", "a, b, counts", "w, s = 1.0, 0.0", "w *= a[i]", "s",
    "for _ in range(2 * counts[i]): s += w + b[i]",
)  # fmt: skip


def at_fibonacci_numbers(a, b):
    b = b.copy()
    for _ in range(3):
        p, q = 0, 1
        for _ in range(3):
            p, q = q, p + q
            b[q] += a[q] ** 2
    return np.sum(b)


def mixed_nests(a, b):
    n = len(a)
    f = np.zeros((n, n))
    for i in range(n):
        w = 1.0
        for j in range(n):
            w = w * 0.5 + a[j] * b[i]
            for k in range(j):
                if k != i:
                    w += a[k] * 0.1
            f[i, j] = w
        f[i, i] *= 2
    return f


def three_branches(x, z):
    y = np.zeros(len(x))
    for i in range(len(x)):
        if x[i] < 0.5:
            y[i] = 0.0 if x[i] < -1 else z[i] ** 2
        elif x[i] > 1:
            y[i] = z[i] * x[i]
        else:
            y[i] = 3 * z[i]
    return y


def inverse_where_positive(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        t = 0.0
        if x[i] > 0:
            t = 1 / x[i]
        y[i] = t
    return y


def local_vector(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        v = np.array([x[i], x[i] ** 2, 1.0])
        v[1] += v[0] * v[2]
        m = np.outer(v, v)
        y[i] = m[0, 1] + v @ v
    return y


def chosen_element(x, counts):
    total = 0.0
    for i in range(len(x)):
        row = [x[i], 2 * x[i], math.sin(x[i]), 4.0, x[i] ** 3]
        total += row[counts[i]] * x[i]
    return total


def springs(x, v):
    x, v = x.copy(), v.copy()
    for _ in range(6):
        for i in range(1, len(x) - 1):
            v[i] += 0.1 * (x[i - 1] - 2 * x[i] + x[i + 1])
        for i in range(1, len(x) - 1):
            x[i] += 0.1 * v[i]
    return np.sum(x**2) + v[2]


def until_large(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        v, steps = x[i], 0
        while abs(v) < 3 and steps < 8:
            v = v * 1.7 + 0.1 * math.cos(v)
            steps += 1
        y[i] = v * steps
    return y


def skipped(a, b):
    s = 0.0
    for i in range(len(a)):
        if a[i] < -1:
            continue
        for j in range(len(b)):
            if b[j] > 1.2:
                break
            s += a[i] * b[j] ** 2
    return s


def extremes(a, b):
    loss = 0.0
    for i in range(len(a)):
        loss += max(a[i], b[i]) * min(a[i], 0.5) + math.atan2(a[i], b[i]) + abs(a[i]) ** 0.4
    return loss


def alternating(a):
    sign, loss = 1, 0.0
    for i in range(len(a)):
        loss += sign * a[i] ** 2
        sign = -sign
    return loss


KERNELS: list[tuple[Any, tuple[Any, ...]]] = [
    (repeated_sum, (A, COUNTS)), (powers, (A, COUNTS)), (fibonacci, (A, B, COUNTS)), (at_fibonacci_numbers, (A, B)),
    (weights_of_ten, (A, B, COUNTS)), (two_loops, (A, B, COUNTS)), (mixed_nests, (A, B)), (three_branches, (A, B)),
    (inverse_where_positive, (A,)), (local_vector, (A,)), (chosen_element, (A, COUNTS)), (springs, (A, B)), (until_large, (A,)), (skipped, (A, B)),
    (extremes, (A, B)), (alternating, (A,)),
]  # fmt: skip


@pytest.mark.parametrize(("f", "args"), KERNELS)
def test_values_and_cotangents(f: Any, args: tuple[Any, ...]) -> None:
    want = f(*args)
    for _ in range(2):
        got = symgrad(f)(*args)
        assert np.shape(got) == np.shape(want)
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-14)
    weights = np.cos(np.arange(np.size(want))).reshape(np.shape(want))
    names = [n for n, a in zip(f.__code__.co_varnames, args, strict=False) if a.dtype.kind == "f"]
    s = symgrad(f, wrt=names)
    _, found = s.vjp(args, weights if np.ndim(want) else 1.0)
    for k, c in enumerate(found if len(names) > 1 else (found,)):
        slopes = differences(lambda *a: np.sum(weights * f(*a)), args, k, step=1e-4)
        assert c.shape == slopes.shape
        np.testing.assert_allclose(c, slopes, rtol=1e-7, atol=1e-7)


def test_known_cotangents() -> None:
    """At kinks the branch that is taken counts, and integers in loops are exact."""
    ones = np.ones(5)
    for f, args, want in (
        (repeated_sum, (3 * ones, COUNTS), COUNTS),
        (powers, (3 * ones, COUNTS), [0, 1, 6, 27, 108]),
        (weights_of_ten, (ones, ones, COUNTS), [0, 1, 11, 111, 1111]),
    ):
        _, found = symgrad(f, wrt="a").vjp(args, ones)
        np.testing.assert_array_equal(found, want)
    first, second = symgrad(fibonacci, wrt=["a", "b"]).vjp((ones, ones, COUNTS), ones)[1]
    np.testing.assert_array_equal(first, [0, 1, 1, 2, 3])
    np.testing.assert_array_equal(second, [1, 1, 2, 3, 5])
    _, found = symgrad(three_branches, wrt="z").vjp(
        (np.array([0.5, 1.0, 1.5]), np.ones(3)), np.ones(3)
    )
    np.testing.assert_array_equal(found, [3, 3, 1.5])
