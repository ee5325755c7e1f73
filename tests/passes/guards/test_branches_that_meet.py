"""Branches whose sides meet somewhere are no guards: the side that is taken counts, and only that."""

from __future__ import annotations

import numpy as np
import pytest

from symdiff import symgrad
from tests.law.alike import differences

X = np.array([0.0, 1.1, 0.3])


def by_index(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            if j != i:
                r = x[j] - x[i]
                if r < 1.8:
                    total += x[j] / r
    return total


def by_label(x, label):
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            if label[j] != label[i]:
                r = x[j] - x[i]
                if r < 1.8:
                    total += x[j] * x[j] / r
    return total


def charges(pos):
    total = 0.0
    for i in range(len(pos)):
        for j in range(len(pos)):
            if i != j:
                d = pos[j] - pos[i]
                r = np.linalg.norm(d)
                if r < 1.8:
                    total += pos[j, 0] * d[0] / r**2
    return total


@pytest.mark.slow
@pytest.mark.parametrize("accuracy", ["high", "fast"])
def test_a_cutoff_inside_of_a_comparison_of_indices(accuracy):
    found = symgrad(by_index, accuracy=accuracy).grad(X)
    assert found == pytest.approx(differences(by_index, (X,), step=1e-6), abs=1e-8)
    pos = np.array([[0.0, 0.0, 0.0], [1.1, 0.0, 0.0], [0.3, 1.0, 0.1]])
    found = symgrad(charges, accuracy=accuracy).grad(pos)
    assert found == pytest.approx(differences(charges, (pos,), step=1e-6), abs=1e-8)


@pytest.mark.sampled
@pytest.mark.parametrize("label", [(1.0, 2.0, 3.0), (1.0, 0.0, 1.0), (1.0, 1.0, 1.0)])
def test_a_cutoff_inside_of_a_comparison_of_numbers(label):
    """Where both labels are one, the other side has poles, or crosses the value at x = 0."""
    found = symgrad(by_label).grad(X, np.array(label))[0]
    assert found == pytest.approx(
        differences(lambda x: by_label(x, label), (X,), step=1e-6), abs=1e-8
    )


@pytest.mark.slow
def test_sides_that_cross_or_are_close():
    """Both sides are one formula where x is positive, and are close where it is small."""
    f = symgrad(lambda e, x, k: e + abs(x) if k == 0 else e + x + k)
    assert f.grad(1000.0, 2.0, 0.0) == (1.0, 1.0, 1.0)
    assert f.grad(1000.0, -0.1, 0.0) == (1.0, -1.0, 0.0)
    assert f.grad(1000.0, -0.1, 1.0) == (1.0, 1.0, 1.0)
    g = symgrad(lambda x, k: abs(x) if k == 0 else x + k)
    assert g.grad(np.array([-1e-14, -1e-30, 1e-30]), 0.0)[0].tolist() == [-1.0, -1.0, 1.0]
