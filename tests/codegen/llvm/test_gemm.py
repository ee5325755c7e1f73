"""Products of matrices: each element against the exact one, within the bound of any order of
summation; what becomes such a product, and what does not."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.codegen.source.index_notation import loop_lines

RNG = np.random.default_rng(11)
SHAPES = [
    (1, 1, 1), (2, 3, 4), (5, 0, 3), (6, 7, 8), (7, 16, 9), (13, 130, 33), (12, 257, 65),
    (100, 20, 40), (50, 300, 1), (3, 200, 700),
]  # fmt: skip
"""Rows, inner size, columns: edges of tiles, of panels, of both."""
WAYS = {
    "plain": lambda a, b: a @ b,
    "left": lambda a, b: a.T @ b,
    "right": lambda a, b: a @ b.T,
    "both": lambda a, b: a.T @ b.T,
}


def product_of(shape: tuple[int, int, int], way: str, dtype: str) -> tuple[Any, Any, Any, Any]:
    """Arguments, and the exact product and that of the magnitudes."""
    m, k, n = shape
    a = RNG.normal(size=(k, m) if way in ("left", "both") else (m, k)).astype(dtype)
    b = RNG.normal(size=(n, k) if way in ("right", "both") else (k, n)).astype(dtype)
    wide = [x.astype(np.longdouble) for x in (a, b)]
    return a, b, WAYS[way](*wide), WAYS[way](*map(abs, wide))


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("way", WAYS)
def test_products(way: str, dtype: str) -> None:
    f = symgrad(WAYS[way])
    for shape in SHAPES:
        a, b, exact, size = product_of(shape, way, dtype)
        found = f(a, b)
        assert found.dtype == dtype
        bound = (shape[1] + 2) * np.finfo(dtype).eps * size
        assert np.all(abs(found - exact) <= bound), shape


def test_threads_do_not_change_a_product() -> None:
    a, b = RNG.normal(size=(2001, 65)), RNG.normal(size=(65, 33))
    alone, shared = (symgrad(WAYS["plain"], parallel=p)(a, b) for p in (False, True))
    np.testing.assert_array_equal(alone, shared)


def text_of(f: Any, *args: Any) -> str:
    """The program that is compiled for the arguments."""
    f(*args)
    (kernel,) = [k for _, k in f._arrays._kernels.values()]
    return "\n".join(loop_lines(kernel.tested("float64", 0).program)[0])


@pytest.mark.slow
def test_what_is_a_product() -> None:
    a, b = RNG.normal(size=(9, 11)), RNG.normal(size=(10, 11))
    einsum = symgrad(lambda a, b: np.einsum("ik,jk->ij", a, b))
    summed = symgrad(lambda a, b: np.sum(a[:, None, :] * b[None, :, :], axis=2))
    for f in (einsum, summed, symgrad(WAYS["right"])):
        assert "matmul.nt(a, b)" in text_of(f, a, b)
        np.testing.assert_allclose(f(a, b), a @ b.T, rtol=1e-12, atol=1e-14)
    f = symgrad(lambda a, b: np.sum(a[:-1, None, 1:] * b[None, :, 1:], axis=2))
    assert "matmul" not in text_of(f, a, b)
    np.testing.assert_allclose(f(a, b), a[:-1, 1:] @ b[:, 1:].T, rtol=1e-12, atol=1e-14)


@pytest.mark.slow
def test_gradients_make_no_transposed_matrices() -> None:
    f = symgrad(lambda a, b: np.sum((a @ b) ** 2))
    a, b = RNG.normal(size=(30, 12)), RNG.normal(size=(12, 17))
    text = text_of(f.grad, a, b)
    assert "matmul.nt" in text
    assert "matmul.tn" in text
    assert "part" not in text
    c = a @ b
    for found, wanted in zip(f.grad(a, b), (2 * c @ b.T, 2 * a.T @ c), strict=True):
        size = np.max(
            np.abs(wanted)
        )  # NumPy's elements that cancel have digits beside the largest only
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14 * size)


@pytest.mark.slow
def test_parts_of_transposed_matrices_are_no_transposed_matrices() -> None:
    a, b = RNG.normal(size=(40, 30)), RNG.normal(size=(35, 25))
    f = symgrad(lambda a, b: np.sum((a[:20].T @ b[:20]) ** 2))
    c = a[:20].T @ b[:20]
    assert f(a, b) == pytest.approx(np.sum(c**2), rel=1e-12)
    x, y = f.grad(a, b)
    np.testing.assert_allclose(x[:20], 2 * b[:20] @ c.T, rtol=1e-11)
    np.testing.assert_allclose(y[:20], 2 * a[:20] @ c, rtol=1e-11)
    assert not x[20:].any()
    assert not y[20:].any()
    g = symgrad(lambda a: np.sum((np.diag(a[:6, 0]) @ a[:6, :]) ** 2))
    np.testing.assert_allclose(g.grad(a)[:6, 1:], 2 * a[:6, 1:] * a[:6, :1] ** 2, rtol=1e-12)


@pytest.mark.slow
def test_products_beside_routines_of_libraries() -> None:
    def f(a, b):
        gram = np.einsum("ki,kj->ij", a, a) + np.eye(a.shape[1])
        return np.sum(np.linalg.solve(gram, a.T @ b)) + np.linalg.slogdet(gram)[1]

    a, b = RNG.normal(size=(20, 11)), RNG.normal(size=(20, 10))
    assert symgrad(f)(a, b) == pytest.approx(f(a, b), rel=1e-10)
    d = RNG.normal(size=a.shape)
    slope = (f(a + 1e-5 * d, b) - f(a - 1e-5 * d, b)) / 2e-5
    assert np.sum(symgrad(f).grad(a, b)[0] * d) == pytest.approx(slope, rel=1e-6)


# ------------------------------------------------------------- rows and columns of vectors
@pytest.mark.sampled
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("turned", [False, True])
def test_matrices_times_vectors(turned: bool, dtype: str) -> None:
    f = symgrad((lambda a, x: a.T @ x) if turned else (lambda a, x: a @ x))
    for m in (0, 1, 3, 4, 5, 31, 66):
        for n in (1, 7, 8, 9, 40, 141, 150):
            a = RNG.normal(size=(m, n)).astype(dtype)
            x = RNG.normal(size=m if turned else n).astype(dtype)
            way = a.T if turned else a
            exact = way.astype(np.longdouble) @ x.astype(np.longdouble)
            bound = (len(x) + 2) * np.finfo(dtype).eps * (abs(way) @ abs(x))
            assert np.all(abs(f(a, x) - exact) <= bound + 1e-300), (m, n)


def test_sums_over_rows_of_any_terms() -> None:
    f = symgrad(lambda x, y: np.sum(np.sqrt(1 + (x[:, None] - y[None, :]) ** 2), axis=1))
    for m in (1, 6, 30):
        for n in (2, 17, 70):
            x, y = RNG.normal(size=m), RNG.normal(size=n)
            wanted = np.sqrt(1 + (x[:, None] - y) ** 2).sum(axis=1)
            np.testing.assert_allclose(f(x, y), wanted, rtol=1e-14)


@pytest.mark.slow
def test_memory_that_is_kept_serves_calls_of_any_size_at_once() -> None:
    f = symgrad(lambda a, b: np.sum((a @ b) ** 2), parallel=False)
    sizes = [10, 300, 120, 500, 40, 301, 299]
    given = {n: (RNG.normal(size=(n, n)), RNG.normal(size=(n, n))) for n in sizes}
    wanted = {n: float(np.sum((a @ b) ** 2)) for n, (a, b) in given.items()}
    with ThreadPoolExecutor(4) as pool:
        for n, found in pool.map(lambda n: (n, f(*given[n])), sizes * 10):
            assert found == pytest.approx(wanted[n], rel=1e-12)
