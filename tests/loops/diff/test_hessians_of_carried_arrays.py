"""Hessians by several parameters of loops that carry arrays: against differences of 60 digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from symdiff import symgrad
from symdiff.ir.verify.loops import faults
from symdiff.pipeline.loops import final

X, C = np.array([0.5, 1.5]), np.array([1.0, 2.0, 3.0])


def horner(x, c):
    r = np.zeros_like(x)
    for a in c:
        r = r * x + a
    return r.sum()


def linear_recurrence(A, v):
    for _ in range(3):
        v = A @ v
    return (v * v).sum()


def recurrent(x, w):
    h = np.ones_like(x)
    for a in w:
        h = np.tanh(a * h + x)
    return h.sum()


def product_of_loops(x, c):
    r = np.ones_like(x)
    t = np.zeros_like(x)
    for a in c:
        for _ in range(2):
            t = t * x + a
        r = r * t
    return r.sum()


CASES = [
    (horner, (X, C)),
    (linear_recurrence, (np.array([[0.5, 0.25], [0.125, 0.75]]), X)),
    pytest.param(recurrent, (X, C / 4), marks=pytest.mark.slow),
    pytest.param(product_of_loops, (X, C), marks=pytest.mark.slow),
]


def differences(f, args):
    """The Hessian over all numbers in the arguments, by central differences."""
    numbers = [mpmath.mpf(float(v)) for a in args for v in a.ravel()]
    n, h = len(numbers), mpmath.mpf(10) ** -18

    def at(*steps):
        moved, k, arrays = list(numbers), 0, []
        for i, sign in steps:
            moved[i] += sign * h
        for a in args:
            arrays.append(np.array(moved[k : k + a.size], dtype=object).reshape(a.shape))
            k += a.size
        return f(*arrays)

    def second(i, j):
        signs = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
        return sum(a * b * at((i, a), (j, b)) for a, b in signs) / (4 * h * h)

    return np.array([[float(second(i, j)) for j in range(n)] for i in range(n)])


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("f", "args"), CASES)
def test_hessian(f, args, monkeypatch):
    hessian = symgrad(f).hessian
    blocks = hessian(*args)
    found = np.block([
        [np.reshape(block, (a.size, b.size)) for block, b in zip(row, args, strict=True)]
        for row, a in zip(blocks, args, strict=True)
    ])  # fmt: skip
    with monkeypatch.context() as patch, mpmath.workdps(60):
        patch.setattr(np, "tanh", np.vectorize(mpmath.tanh, otypes=[object]))
        truth = differences(f, args)
    np.testing.assert_allclose(found, truth, rtol=1e-14, atol=1e-15)
    program = final(hessian._loop_program())
    assert not faults(program)
