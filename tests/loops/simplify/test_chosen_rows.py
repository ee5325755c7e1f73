"""What is not chosen is left out of adjoints only: values are those of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.ir.names import Names


@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_value_whose_name_looks_like_an_adjoint_is_multiplied() -> None:
    def f(x: Any, y: Any) -> Any:
        s = np.zeros(y.shape)
        for i in range(len(x)):
            w_bar = np.where(x[i] > 0, x[i], 0.0)
            s = s + w_bar[:, None] * y
        return s

    x, y = np.array([[1.0, -1.0], [2.0, -3.0]]), np.array([[1.0, 2.0], [np.inf, 3.0]])
    np.testing.assert_array_equal(
        symgrad(f, accuracy="fast")(x, y), f(x, y)
    )  # nan in the second row


def test_names_of_values_are_no_names_of_adjoints() -> None:
    names = Names(of_values=True)
    assert [names.fresh(n) for n in ("w_bar", "w_bar", "w_bar_1_dot", "w")] == [
        "w_bar_value", "w_bar_value_1", "w_bar_1_dot_value", "w",
    ]  # fmt: skip
    assert names.copied("w_bar_3") == "w_bar_3"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("rows", [2, 5])
def test_the_nearest_of_some_points(rows: int) -> None:
    """The gradient of the sum of least squared distances is a sum over the points that are nearest to each."""

    def cost(points: Any, centres: Any) -> Any:
        squares = np.sum((points[:, None, :] - centres[None, :, :]) ** 2, axis=2)
        return np.sum(np.min(squares, axis=1))

    rng = np.random.default_rng(rows)
    points, centres = rng.random((7, 3)), rng.random((rows, 3))
    squares = ((points[:, None] - centres) ** 2).sum(axis=2)
    nearest = squares.argmin(axis=1)
    expected = np.zeros(centres.shape)
    np.add.at(expected, nearest, 2 * (centres[nearest] - points))
    found = symgrad(cost, wrt="centres").grad(points, centres)
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-14)


def test_slopes_of_what_is_nan_are_nan() -> None:
    f = symgrad(lambda x, c: np.max(np.concatenate([x, x, x, c])), wrt=("x", "c"))
    slopes = f.grad(np.array([5.0]), np.array([np.nan]))
    assert np.isnan(slopes[0]).all() and np.isnan(slopes[1]).all()
    assert f.grad(np.array([5.0]), np.array([5.0])) == (0.5, 0.5)  # the means of the sides
