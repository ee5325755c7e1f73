"""NumPy's functions one by one and combined, in the way in which HIPS autograd is tested: values are
NumPy's; forward mode, reverse mode and second derivatives agree with differences.

Of each function all arguments are differentiated, in the shapes that broadcast, with the keywords
that change what it does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import SymdiffError, symgrad
from tests.law.test_primitives import check

pytestmark = pytest.mark.slow

RNG = np.random.default_rng(12)
NUMBER = 0.45
VECTOR, OTHER = RNG.uniform(0.2, 0.9, 3), RNG.uniform(0.2, 0.9, 3)
MATRIX, ROW = RNG.uniform(0.2, 0.9, (2, 3)), RNG.uniform(0.2, 0.9, (1, 3))
CUBE = RNG.uniform(-1, 1, (2, 3, 2))
SQUARE = RNG.uniform(-1, 1, (3, 3)) + 3 * np.eye(3)
HALF = np.linspace(0.3, 1.2, 4)

ELEMENTWISE = [
    lambda x: np.sin(x) * np.cos(x), lambda x: np.tanh(x) - np.sinh(x) / np.cosh(x), lambda x: np.arcsin(x) + np.arccos(x / 2),
    lambda x: np.log(x) + np.log1p(x) + np.log2(x) + np.log10(x), lambda x: np.exp(x) * np.expm1(x) * np.exp2(x),
    lambda x: np.sqrt(x) + np.square(x) + np.reciprocal(x), lambda x: np.abs(x - 0.5) * np.sign(x), lambda x: np.sinc(x),
    lambda x: np.arctan(x) + np.arctanh(x) + np.arcsinh(x), lambda x: np.deg2rad(x) * np.rad2deg(x), lambda x: np.tan(x) ** 3,
    lambda x: np.where(x > 0.5, x**2, np.cos(x)), lambda x: np.clip(x, 0.3, 0.6) * x, lambda x: np.nan_to_num(x) - -x,
    lambda x: x**x / (1 + x), lambda x: 2.0**x % 1.5, lambda x: abs(x) // 1 + x, lambda x: np.real(x) * np.fabs(x),
]  # fmt: skip
PAIRS = [
    lambda x, y: x + y * x, lambda x, y: np.subtract(x, y) / (1 + np.multiply(x, y)), lambda x, y: np.power(x, y), lambda x, y: np.arctan2(x, y),
    lambda x, y: np.maximum(x, y) - np.fmin(x, 2 * y), lambda x, y: np.hypot(x, y), lambda x, y: np.logaddexp(x, y) + np.logaddexp2(x, y),
    lambda x, y: np.true_divide(x, y), lambda x, y: np.mod(8 + x, 3 + y), lambda x, y: np.where(x > y, x, y) * y,
]  # fmt: skip
ONE = [
    (lambda x: np.sum(x, axis=0), MATRIX), (lambda x: np.sum(x, axis=(0, 2), keepdims=True), CUBE), (lambda x: np.mean(x, axis=-1), MATRIX),
    (lambda x: np.prod(x), VECTOR), (lambda x: np.prod(x, axis=1), MATRIX), (lambda x: np.var(x, axis=0, ddof=1), MATRIX),
    (lambda x: np.std(x, keepdims=True), MATRIX), (lambda x: np.max(x, axis=1), MATRIX), (lambda x: np.min(x) * np.max(x), CUBE),
    (lambda x: np.cumsum(x, axis=0), MATRIX), (lambda x: np.cumsum(x), MATRIX), (lambda x: np.sort(x)[1:] * x[0], VECTOR),
    (lambda x: np.partition(x, 1)[1] * x, VECTOR), (lambda x: np.transpose(x, (1, 0, 2)), CUBE), (lambda x: np.swapaxes(x, 0, 2) ** 2, CUBE),
    (lambda x: np.moveaxis(x, 0, -1) * 2, CUBE), (lambda x: np.rollaxis(x, 2) * 2, CUBE), (lambda x: np.reshape(x, (3, 2)) ** 2, MATRIX),
    (lambda x: np.ravel(x) * 3, MATRIX), (lambda x: np.repeat(x, 2, axis=1), MATRIX), (lambda x: np.tile(x, (2, 1)) * x[0], MATRIX),
    (lambda x: np.roll(x, 1, axis=1), MATRIX), (lambda x: np.rot90(x), MATRIX), (lambda x: np.flipud(x) * np.fliplr(x), MATRIX),
    (lambda x: np.diag(x) * 2, VECTOR), (lambda x: np.diag(x, 1), SQUARE), (lambda x: np.diagonal(x) ** 2, SQUARE), (lambda x: np.trace(x @ x), SQUARE),
    (lambda x: np.tril(x) + np.triu(x, 1) ** 2, SQUARE), (lambda x: np.expand_dims(x, 1), VECTOR), (lambda x: np.squeeze(x), ROW),
    (lambda x: np.concatenate((x, x**2), axis=1), MATRIX), (lambda x: np.vstack((x, x * 2, x**2)), VECTOR), (lambda x: np.hstack((x, 1.0, x)), VECTOR),
    (lambda x: np.column_stack((x, np.sin(x))), VECTOR), (lambda x: np.stack([x, -x], axis=1), VECTOR), (lambda x: np.append(x, x**2), VECTOR),
    (lambda x: np.pad(x, 1, mode="constant"), MATRIX), (lambda x: np.array([x[0], x[1] * x[2], 1.0]), VECTOR),
    (lambda x: np.array([[x[0], 2.0], [x[1], x[2] ** 2]]), VECTOR), (lambda x: np.diff(x, axis=0) * x[1], MATRIX), (lambda x: np.diff(x, 2), HALF),
    (lambda x: np.gradient(x) * x, HALF), (lambda x: np.split(x, 2)[1] * 2, HALF), (lambda x: np.array_split(x, 3)[0] ** 2, HALF),
    (lambda x: x[::-1] * x[[0, 2, 1]], VECTOR), (lambda x: x[x > 0.4] * 2, MATRIX), (lambda x: x[..., 0] * x[:, 1:].sum(1), MATRIX),
    (lambda x: x[np.array([1, 0]), np.array([2, 2])], MATRIX), (lambda x: np.einsum("ij->j", x), MATRIX), (lambda x: np.einsum("ii", x) * x, SQUARE),
    (lambda x: np.linalg.det(x), SQUARE), (lambda x: np.linalg.inv(x), SQUARE), (lambda x: np.linalg.slogdet(x)[1], SQUARE),
    (lambda x: np.linalg.norm(x), MATRIX), (lambda x: np.linalg.norm(x, 3), VECTOR), (lambda x: np.linalg.norm(x, axis=1), MATRIX),
    (lambda x: np.linalg.cholesky(x @ x.T + np.eye(3))[1], SQUARE), (lambda x: np.linalg.eigvalsh(x + x.T), SQUARE),
    (lambda x: np.linalg.pinv(x) @ x[:, 0], SQUARE), (lambda x: np.kron(x[0], x[1]), MATRIX), (lambda x: np.outer(x, x**2), VECTOR),
    (lambda x: np.atleast_2d(x).T @ np.atleast_2d(x), VECTOR), (lambda x: np.full((2, 3), x) * MATRIX, NUMBER), (lambda x: np.select([x > 0.5], [x**2], x), MATRIX),
    (lambda x: sum(v * k for k, v in enumerate(x)), VECTOR), (lambda x: np.average(x, weights=x**2), VECTOR), (lambda x: [x * 2, np.sum(x)], VECTOR),
    (lambda x: {"a": x.mean(), "b": x.T}, MATRIX), (lambda x: np.broadcast_to(x, (2, 3)) * MATRIX, VECTOR), (lambda x: 1.0 * len(x) + x.shape[0] * x, VECTOR),
    (lambda x: np.real_if_close(x) + np.zeros_like(x) * x, VECTOR), (lambda x: np.nanmean(x) * np.nansum(x), MATRIX), (lambda x: np.trapezoid(x, HALF), HALF**2),
    (lambda x: np.interp(0.5, HALF, x), HALF**2), (lambda x: np.convolve(x, x[:2]), HALF),
]  # fmt: skip
TWO = [
    (lambda x, y: np.dot(x, y), VECTOR, OTHER), (lambda x, y: np.dot(x, y), MATRIX, VECTOR), (lambda x, y: x @ y, MATRIX, SQUARE), (lambda x, y: np.inner(x, y), MATRIX, VECTOR),
    (lambda x, y: np.tensordot(x, y, 1), MATRIX, SQUARE), (lambda x, y: np.tensordot(x, y, axes=([1, 0], [1, 0])), CUBE[0], CUBE[1]), (lambda x, y: np.matmul(x, y), CUBE.transpose(0, 2, 1), MATRIX.T),
    (lambda x, y: np.einsum("ij,jk->ik", x, y), MATRIX, SQUARE), (lambda x, y: np.einsum("i,i", x, y), VECTOR, OTHER), (lambda x, y: np.cross(x, y), VECTOR, OTHER),
    (lambda x, y: np.linalg.solve(x, y), SQUARE, VECTOR), (lambda x, y: np.outer(x, y), VECTOR, OTHER), (lambda x, y: np.vdot(x, y), VECTOR, OTHER),
    (lambda x, y: np.concatenate([x, np.atleast_1d(y)]), VECTOR, NUMBER), (lambda x, y: np.kron(x, y), VECTOR, OTHER), (lambda x, y: np.linspace(x, y, 4), 0.2, 1.4),
]  # fmt: skip


def difference(f: Callable[[float], float]) -> float:
    """The derivative at 0, extrapolated."""
    a, b = ((f(h) - f(-h)) / (2 * h) for h in (2e-3, 1e-3))
    c = (f(5e-4) - f(-5e-4)) / 1e-3
    p, q = (4 * b - a) / 3, (4 * c - b) / 3
    return (16 * q - p) / 15


@pytest.mark.parametrize("f", ELEMENTWISE)
def test_of_numbers_and_arrays(f: Any) -> None:
    for x in (NUMBER, VECTOR, MATRIX, ROW, VECTOR[::-1]):
        check(f, x)
    curve = difference(lambda h: float(symgrad(f).grad(NUMBER + h)))
    assert symgrad(f).hessian(NUMBER) == pytest.approx(curve, rel=1e-6, abs=1e-6)
    np.testing.assert_allclose(
        symgrad(f).grad(MATRIX)[1, 2], symgrad(f).grad(float(MATRIX[1, 2])), rtol=1e-12
    )


@pytest.mark.parametrize("f", PAIRS)
def test_of_what_broadcasts(f: Any) -> None:
    for x in (NUMBER, VECTOR, MATRIX):
        for y in (0.7, OTHER, ROW):
            check(f, x, y)


@pytest.mark.parametrize(("f", "x"), ONE)
def test_of_arrays(f: Any, x: Any) -> None:
    check(f, x)


@pytest.mark.parametrize(("f", "x", "y"), TWO)
def test_of_two_arrays(f: Any, x: Any, y: Any) -> None:
    check(f, x, y)


@pytest.mark.parametrize("f", [lambda x: np.sum(np.sin(x) ** 2 * x), lambda x: np.log(np.sum(np.exp(x))), lambda x: np.prod(1 + x) / np.sum(x**2),
                               lambda x: np.linalg.norm(np.outer(x, x) @ x), lambda x: np.max(x) * np.var(x)])  # fmt: skip
def test_second_derivatives(f: Any) -> None:
    s, step = symgrad(f), np.array([0.3, -1.0, 0.5])
    curve = difference(lambda h: float(s.grad(VECTOR + h * step) @ step))
    assert s.hvp((VECTOR,), (step,)) @ step == pytest.approx(curve, rel=1e-6, abs=1e-6)
    assert step @ s.hessian(VECTOR) @ step == pytest.approx(curve, rel=1e-6, abs=1e-6)


def test_complex_results_are_those_of_numpy_and_random_ones_are_refused() -> None:
    assert symgrad(lambda x: x + 1.0j)(VECTOR) == pytest.approx(VECTOR + 1.0j)
    assert symgrad(lambda x: np.fft.fft(x))(VECTOR) == pytest.approx(np.fft.fft(VECTOR))
    with pytest.raises(SymdiffError):
        symgrad(lambda x: np.random.randn(3) * x)(VECTOR)
