"""Products of matrices inside of loops: values beside plain Python, slopes beside differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad


def powers(a: Any, x: Any) -> Any:
    for _ in range(3):
        x = a @ x / 10
    return np.sum(x**2)


def of_rows(a: Any, x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        m = np.outer(x[i], x[i]) @ a
        total += np.trace(m @ m.T)
    return total


def distances(a: Any, x: Any) -> Any:
    """Sizes that are equal where the loop runs."""
    total = 0.0
    for i in range(len(a)):
        d = x - a[i]
        total += np.sum(np.exp(-np.sum(d * d, axis=1)))
    return total


@pytest.mark.sampled(18)
@pytest.mark.parametrize("n", [0, 1, 2, 3, 9, 17])
@pytest.mark.parametrize("f", [powers, of_rows, distances])
def test_values_and_slopes(f: Callable[..., Any], n: int) -> None:
    rng = np.random.default_rng(n)
    a, x, u, v = (rng.normal(size=(n, n)) for _ in range(4))
    g = symgrad(f)
    assert g(a, x) == pytest.approx(f(a, x), rel=1e-13)
    by_a, by_x = g.grad(a, x)
    h = 1e-6
    curve = (f(a + h * u, x + h * v) - f(a - h * u, x - h * v)) / (2 * h)
    assert np.sum(by_a * u) + np.sum(by_x * v) == pytest.approx(curve, rel=1e-6, abs=1e-6)


def test_sizes_that_do_not_fit_are_refused_where_the_loop_runs_only() -> None:
    g = symgrad(distances)
    x = np.ones((2, 3))
    assert g(np.ones((1, 3)), x) == 2.0
    with pytest.raises(ValueError, match="sizes of two axes do not fit"):
        g(np.ones((1, 4)), x)
    assert g(np.ones((0, 4)), x) == 0.0


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    "shape",
    [(1, 1, 1), (7, 9, 30), (13, 33, 5), (100, 17, 64), (3, 100, 3), (61, 2, 40), (50, 10, 700)],
)
def test_products_of_any_shape(shape: tuple[int, int, int]) -> None:
    """Of tiles that are wider than what is left, and of several panels; nothing beside is written."""
    m, n, k = shape
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(m, k)), rng.normal(size=(k, n))
    for f, args in (
        (lambda a, b: a @ b, (a, b)),
        (lambda a, b: a.T @ b, (np.ascontiguousarray(a.T), b)),
        (lambda a, b: a @ b.T, (a, np.ascontiguousarray(b.T))),
    ):
        found = symgrad(f, accuracy="fast")(*args)
        np.testing.assert_allclose(found, a @ b, rtol=0, atol=1e-13 * k)
