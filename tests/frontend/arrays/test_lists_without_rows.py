"""An array made of a list of arrays has a second axis only where the list has elements."""

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.runtime.loops.call import ComputationError

SHOW = [
    lambda x: np.array([r * 2 for r in x]).shape[0] * 1.0,
    lambda x: np.array([r * 2 for r in x]).ndim * 1.0,
    lambda x: np.shape([r * 2 for r in x])[0] * 1.0,
    lambda x: np.array([r * 2 for r in x]).sum(axis=0),
    lambda x: np.array([r * 2 for r in x]).sum(axis=1),
    lambda x: np.sum([r * 2 for r in x], axis=0),
    lambda x: np.mean([r * 2 for r in x], axis=0),
    lambda x: np.array([r * 2 for r in x]) @ np.ones(3),
    lambda x: np.dot([r * 2 for r in x], np.ones(3)),
    lambda x: np.array([r * 2 for r in x])[:, 0],
    lambda x: np.inner([r * 2 for r in x], np.ones(3)),
    lambda x: np.einsum("ij->", np.array([r * 2 for r in x])),
    lambda x: np.trace(np.array([r * 2 for r in x])),
    lambda x: np.exp([1.0 * r for r in x]),
    lambda x: np.sum(np.array([r * 2 for r in x]) * np.ones(3)),
    lambda x: np.sum(np.where(np.array([r * 2 for r in x]) > 0, np.arange(3), 1.0)),
]

DO_NOT = [
    lambda x: np.sum(np.array([r * 2 for r in x]) ** 2),
    lambda x: np.sum(np.exp([r * 2 for r in x])),
    lambda x: np.sum(np.array([r * 2 for r in x]) * np.array([r + 1 for r in x])),
    lambda x: np.sum(np.array([r * 2 for r in x]) * 3.0),
    lambda x: len([r * 2 for r in x]) * 1.0,
]


@pytest.mark.sampled
@pytest.mark.parametrize("f", SHOW)
def test_what_shows_the_second_axis_is_refused_without_rows(f):
    g, x = symgrad(f), np.arange(6.0).reshape(2, 3) / 4
    np.testing.assert_allclose(g(x), f(x), rtol=1e-14)
    with pytest.raises(ComputationError, match="a list without elements becomes an array"):
        g(np.zeros((0, 3)))


@pytest.mark.sampled
@pytest.mark.parametrize("f", DO_NOT)
def test_what_does_not_show_it_is_as_in_python(f):
    g = symgrad(f)
    for x in (np.arange(6.0).reshape(2, 3) / 4, np.zeros((0, 3))):
        np.testing.assert_allclose(g(x), f(x), rtol=1e-14)
