"""Sums over pairs of rows: copies by columns, arrays that loops add to by columns, and rows shorter than a vector."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symdiff import ir, symgrad
from symdiff.ir import ZERO
from symdiff.ir.loop_program import Loop, array, types, walk
from symdiff.ir.verify.loops import faults
from symdiff.lowering.loops.vector_ready import ready
from tests.loops.programs import MATRIX, M, N, at, build, function, loop, update
from tests.loops.simplify.test_block_by_block import C, K, R, _same

Array = np.ndarray[Any, Any]
SIZES = [(0, 3), (1, 3), (2, 1), (7, 3), (9, 2), (20, 3), (33, 16), (3, 40)]
"""Rows and columns: fewer and more than a vector has, and both orders of loops."""


def energy(x: Array) -> Any:
    squares = np.sum((x[:, None, :] - x[None, :, :]) ** 2, axis=2) + 1.0
    return np.sum(np.exp(-squares) + 1 / squares)


def slope(x: Array) -> Array:
    apart = x[:, None, :] - x[None, :, :]
    squares = np.sum(apart**2, axis=2) + 1.0
    weights = -np.exp(-squares) - 1 / squares**2
    return np.sum(4 * weights[:, :, None] * apart, axis=1)


def by_hand(x: Array) -> Any:
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            squares = 1.0
            for k in range(x.shape[1]):
                squares += (x[i, k] - x[j, k]) ** 2
            total += np.exp(-squares) + 1 / squares
    return total


def by_coordinates(x: Array) -> Any:
    total = 0.0
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            u, v, w = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]
            squares = 1.0 + u * u + v * v + w * w
            total += np.exp(-squares) + 1 / squares
    return total


def by_rest(x: Array) -> Any:
    total = 0.0
    for i in range(len(x) - 1):
        squares = 1.0 + np.sum((x[i + 1 :] - x[i]) ** 2, axis=1)
        total += np.sum(np.exp(-squares) + 1 / squares)
    return total


def nearest(x: Array, c: Array) -> Any:
    return np.sum(np.min(np.sum((x[:, None, :] - c[None, :, :]) ** 2, axis=2), axis=1))


def slopes_of_nearest(x: Array, c: Array) -> tuple[Array, Array]:
    apart = x[:, None, :] - c[None, :, :]
    squares = np.sum(apart**2, axis=2)
    least = squares == squares.min(axis=1, keepdims=True)
    weights = least / least.sum(axis=1, keepdims=True)
    terms = 2 * weights[:, :, None] * apart
    return terms.sum(axis=1), -terms.sum(axis=0)


@pytest.mark.sampled
@pytest.mark.parametrize("accuracy", ["high", "fast"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_pairs_of_rows(accuracy: str, dtype: type) -> None:
    close = {"rtol": 1e-12, "atol": 1e-14} if dtype is np.float64 else {"rtol": 2e-4, "atol": 1e-5}
    f = symgrad(energy, accuracy=accuracy)
    for n, d in SIZES:
        x = np.random.default_rng(n).normal(size=(n, d)).astype(dtype)
        np.testing.assert_allclose(f(x), energy(x.astype(float)), **close)
        np.testing.assert_allclose(f.grad(x), slope(x.astype(float)), **close)


@pytest.mark.sampled
@pytest.mark.parametrize("written", [by_hand, by_coordinates, by_rest])
def test_pairs_of_rows_in_loops(written: Any) -> None:
    f = symgrad(written)
    for n, d in SIZES:
        x = np.random.default_rng(n).normal(size=(n, 3 if written is by_coordinates else d))
        np.testing.assert_allclose(f(x), written(x), rtol=1e-13)
        np.testing.assert_allclose(f.grad(x), slope(x) / 2, rtol=1e-12, atol=1e-14)


@pytest.mark.sampled
@pytest.mark.parametrize("accuracy", ["high", "fast"])
def test_nearest_rows(accuracy: str) -> None:
    f = symgrad(nearest, accuracy=accuracy)
    for n, k, d in [(5, 1, 3), (40, 3, 11), (9, 8, 2), (30, 21, 3), (4, 40, 9)]:
        rng = np.random.default_rng(n)
        x, c = rng.normal(size=(n, d)), rng.normal(size=(k, d))
        c[-1] = c[0]  # two that are equally near wherever they are the nearest
        np.testing.assert_allclose(f(x, c), nearest(x, c), rtol=1e-13)
        for got, want in zip(f.grad(x, c), slopes_of_nearest(x, c), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-13)


def test_slopes_of_what_is_nan_are_nan() -> None:
    for k in (1, 2, 3):
        assert np.all(np.isnan(symgrad(nearest).grad(np.full((2, 1), np.nan), np.ones((k, 1)))[1]))


def _nest(changed: Any) -> Any:
    """For i, j, k: d[j, k] gets v[i, j]*x[i, k]."""
    return function({"v": MATRIX, "x": MATRIX}, [
        build("z", ("a", "b"), ZERO, MATRIX),
        loop("r", N, {"s": (array("z"), array("s_in_end"), MATRIX)}, [
            loop("c", N, {"s_in": (array("s"), array("s_most_end"), MATRIX)}, [
                loop("k", M, {"s_most": (array("s_in"), array("s_1"), MATRIX)}, [
                    update("s_1", "s_most", (C, K), changed, MATRIX, add=True),
                ]),
            ]),
        ]),
    ], array("s_end"))  # fmt: skip


def test_an_array_that_is_only_added_to_lies_by_columns() -> None:
    program = _nest(at("v", R, ir.const(0)) * at("x", R, K))
    after = ready(program)
    assert faults(after) == []
    assert any(isinstance(s, Loop) and "once" in s.index for s in after.block), "by sizes"
    for rows, columns in [(7, 2), (2, 7)]:
        rng = np.random.default_rng(3)
        v, x = (rng.normal(size=(rows, columns)).tolist() for _ in range(2))
        assert _same(program, after, [v, x])
    for read in (at("s_most", C, K), at("s", C, K)):
        kept = ready(_nest(at("v", R, ir.const(0)) * at("x", R, K) + read))
        assert not any("once" in s.index for s in walk(kept.block) if isinstance(s, Loop)), "read"


def _rows(inner_count: Any, place: Any, add: bool = True) -> Any:
    return function({"v": MATRIX, "x": MATRIX}, [
        build("z", ("a", "b"), ZERO, MATRIX),
        loop("r", N, {"s": (array("z"), array("s_in_end"), MATRIX)}, [
            loop("c", N, {"s_in": (array("s"), array("s_most_end"), MATRIX)}, [
                loop("k", inner_count, {"s_most": (array("s_in"), array("s_1"), MATRIX)}, [
                    update("s_1", "s_most", place, at("x", R, K) * at("v", C, K), MATRIX, add=add),
                ]),
            ]),
        ]),
    ], array("s_end"))  # fmt: skip


@pytest.mark.parametrize(
    ("program", "turned"),
    [
        (_rows(M, (C, K)), True),
        (_rows(M, (R, K)), False),  # rows that only the outermost loop chooses
        (_rows(C, (C, K)), False),  # as many as the loop around says: they cannot change places
        (_rows(M, (C, K), add=False), False),  # the last one counts
        (_rows(M, (C, M - 1 - K)), False),  # backwards
        (_rows(2, (ir.const(1), K)), False),
    ],
)
def test_loops_change_places_only_where_their_order_is_free(program: Any, turned: bool) -> None:
    after = ready(program)
    assert faults(after) == []
    assert any("columns" in n for n in types(after)) >= turned
    assert any("once" in s.index for s in walk(after.block) if isinstance(s, Loop)) == turned
    for rows, columns in [(2, 2), (7, 3), (3, 7), (1, 2)]:
        rng = np.random.default_rng(rows)
        args = [rng.normal(size=(rows, max(rows, columns))).tolist() for _ in range(2)]
        assert _same(program, after, args)


@pytest.mark.parametrize("n", [1, 9, 16, 33])
def test_lanes_of_single_precision_are_kept_whole(n: int) -> None:
    """Indices in 16 lanes, which the part of a build that threads may share gets from the kernel."""
    x = np.linspace(0.1, 1, n).astype(np.float32)
    got = symgrad(lambda x: (np.exp(x) - 1 - x)[::-1])(x)
    np.testing.assert_allclose(got, (np.expm1(x.astype(float)) - x)[::-1], rtol=1e-6)
