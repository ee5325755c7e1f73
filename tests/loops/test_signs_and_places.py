"""Signs and places that nothing else would notice: each here fails if one of them is wrong.

So they stay among the tests of every day, whatever they take (`kept`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad
from tests.law.made import made

X = np.array([0.5, 1.0, 1.5, 2.0])


def check(f: Callable[..., Any], slope: Any, within: float = 1e-15) -> None:
    s = symgrad(f, verify=False)
    assert s(X) == pytest.approx(f(X), rel=within)
    np.testing.assert_allclose(s.grad(X), slope, rtol=within)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("start", "term", "result", "slope"), [
    ("0.0", "np.sin(x[i]) + (x[i]**2 if i == 2 else 0.0)", "s", np.cos(X) + np.array([0, 0, 3.0, 0])),  # one term more
    ("1.0", "3.0 * x[i] if i == 1 else 0.0", "s * s", [0, 24.0, 0, 0]),  # one term
    ("0.0", "x[i]**3 if i == 0 else x[i]", "s", [0.75, 1, 1, 1]),  # the first
    ("0.0", "x[i]**2 if i + 1 == 2 else 0.0", "s", [0, 2, 0, 0]),  # the one before
])  # fmt: skip
def test_what_one_iteration_adds(start: str, term: str, result: str, slope: Any) -> None:
    lines = f"s = {start}", "for i in range(len(x)):", f"    s += {term}", f"return {result}"
    check(made(*lines), slope)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("where", "factor", "slope"), [
    ("i", "t", 4 * X**3),  # its own
    ("i - 1", "x[i]", [2 * 0.5 * 1.0, 2 * 1.0 * 1.5 + 0.25, 2 * 1.5 * 2.0 + 1.0, 2.25]),  # the last one
])  # fmt: skip
def test_sums_with_one_term_for_each_row(where: str, factor: str, slope: Any) -> None:
    """The first row and the first place count, and what is before them does not."""
    lines = (
        "s = 0.0", "for i in range(len(x)):", "    t = 0.0", "    for j in range(len(x)):",
        f"        t += x[j]**2 if j == {where} else 0.0", f"    s += t * {factor}", "return s",
    )  # fmt: skip
    check(made(*lines), slope)


def test_second_derivatives_by_neighbours() -> None:
    def f(x: Any) -> Any:
        s = 0.0
        for i in range(len(x) - 1):
            s += x[i] ** 2 * x[i + 1]
        return s

    want = np.zeros((4, 4))
    for i in range(3):
        want[i, i] = 2 * X[i + 1]
        want[i, i + 1] = want[i + 1, i] = 2 * X[i]
    np.testing.assert_array_equal(symgrad(f).hessian(X), want)


def test_sparse_jacobians_of_stretches() -> None:
    pytest.importorskip("scipy")

    def f(x: Any) -> Any:
        y = np.zeros(len(x))
        for i in range(len(x) - 2):
            y[i + 2] = x[i] * x[i + 1]
        return y

    rows = symgrad(f).jacobian(X, sparse=True)
    want = np.zeros((4, 4))
    for i in range(2):
        want[i + 2, i], want[i + 2, i + 1] = X[i + 1], X[i]
    np.testing.assert_array_equal(rows.toarray(), want)


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("shape", "store"), [
    ("3, len(x) + 2", "y[1, 2:] = x**2"),  # a stretch of a row
    ("len(x), 2", "for i in range(2, len(x)): y[i - 2, 1] = x[i]**2"),  # of a column
    ("len(x), len(x)", "for i in range(len(x)): y[i, i] = x[i]**2"),  # a diagonal
    ("len(x) + 1, len(x)", "for i in range(len(x)): y[i + 1, i] = x[i]**2"),  # beside it
])  # fmt: skip
def test_sparse_jacobians_of_stretches_of_arrays(shape: str, store: str) -> None:
    """Elements of y are 0 or the square of one element of x: slopes are 2*x there."""
    pytest.importorskip("scipy")
    f = made(f"y = np.zeros(({shape}))", store, "return y")
    y = f(X).ravel()
    want = np.where(y[:, None] == (X**2)[None, :], 2 * X, 0.0)
    np.testing.assert_array_equal(symgrad(f).jacobian(X, sparse=True).toarray(), want)


def _by_horner(c: Any, x: Any) -> Any:
    y = np.zeros(len(x))
    for k in range(len(c)):
        y = y * x + c[k]
    return y


@pytest.mark.sampled(2)
@pytest.mark.parametrize("f", [np.polyval, _by_horner])
def test_products_with_the_jacobian_of_a_polynomial(f: Callable[..., Any]) -> None:
    """An element of the cotangent of c is a sum over x in a loop over c, and of x over c in one over x."""
    c, w = np.array([0.5, 1.0, 1.5]), np.array([1.0, -2.0, 0.5, 0.25])
    _, (by_c, by_x) = symgrad(lambda c, x: f(c, x), verify=False).vjp((c, X), w)
    np.testing.assert_allclose(by_c, [np.sum(w * X**k) for k in (2, 1, 0)], rtol=1e-15)
    np.testing.assert_allclose(by_x, w * (2 * c[0] * X + c[1]), rtol=1e-15)


def _two_places_of_an_inner_loop(x: Any) -> Any:
    e = np.zeros(len(x) + 1)
    for i in range(len(x)):
        for j in range(len(x)):
            np.add.at(e, i, x[i] * x[j])
            np.add.at(e, i + 1, x[i] * x[j] ** 2)
    return np.sum(e**3)


def test_sums_to_two_places_of_an_inner_loop() -> None:
    """e is (a*x, 0) + (0, b*x) with the sum a of x and b of its squares."""
    a, b = np.sum(X), np.sum(X**2)
    e = np.append(a * X, 0) + np.append(0, b * X)
    bar = 3 * e**2
    by_a, by_b = np.sum(bar[:-1] * X), np.sum(bar[1:] * X)
    slope = a * bar[:-1] + b * bar[1:] + by_a + by_b * 2 * X
    check(_two_places_of_an_inner_loop, slope, 1e-14)
