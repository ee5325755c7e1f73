"""Loops that real values decide about: skipped, or ended early, by what outer loops computed."""

import numpy as np
import pytest

from symdiff import symgrad
from tests.law.alike import differences


def three_bodies(pos):
    e = 0.0
    for i in range(pos.shape[0]):
        r = np.sqrt(np.sum(pos[i] ** 2))
        if r >= 1.8:
            continue
        for k in range(pos.shape[0]):
            s = np.sqrt(np.sum(pos[k] ** 2))
            if s < 1.8:
                e += r * s
    return e


def skipped_rows(pos):
    e = 0.0
    for i in range(pos.shape[0]):
        r = np.linalg.norm(pos[i])
        if r < 1.8:
            for k in range(i):
                e += r * np.exp(-pos[k, 0])
    return e


def rows_by_a_norm(pos):
    e = 0.0
    for i in range(pos.shape[0]):
        size = np.sqrt(pos[i] @ pos[i])
        for k in range(3 if size > 1.0 else 1):
            e += size * pos[i, k] ** 2
    return e


POINTS = np.array([[0.3, 0.1, 0.0], [1.1, 0.0, 0.0], [0.0, 1.2, 0.1], [2.0, 2.0, 1.0]])


@pytest.mark.sampled
@pytest.mark.parametrize("accuracy", ["high", "fast", "strict"])
@pytest.mark.parametrize("fun", [three_bodies, skipped_rows, rows_by_a_norm])
def test_value_and_gradient(fun, accuracy):
    f = symgrad(fun, accuracy=accuracy)
    np.testing.assert_allclose(f(POINTS), fun(POINTS), rtol=1e-14)
    np.testing.assert_allclose(f.grad(POINTS), differences(fun, (POINTS,)), rtol=1e-7, atol=1e-7)
