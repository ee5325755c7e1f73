"""NumPy's norms."""

from __future__ import annotations

import ast
from typing import Any

from symdiff import ir
from symdiff.frontend.arrays import selecting
from symdiff.frontend.arrays import small as arrays
from symdiff.frontend.library.numpy.either import Array, array_from, rank_of
from symdiff.frontend.library.numpy.linear_algebra import TABLE as ALGEBRA
from symdiff.frontend.library.numpy.reductions import (
    kept,
    largest,
    smallest,
    square_root,
    total,
)
from symdiff.frontend.library.numpy.shapes import flattened
from symdiff.frontend.trace import scalars
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import Refused, SmallArray, as_float, as_real, number
from symdiff.ir import ONE, ZERO, Expr


def norm(t: Tracer, value: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    """A norm of vectors, or of matrices by their entries."""
    a = array_from(t, value)
    if a.kind != "f":
        a = array_from(t, arrays.elementwise(as_float, a))
    rank = rank_of(a)
    order = ord if isinstance(ord, str) or ord is None else as_real(ord).expr
    matrix = isinstance(axis, tuple) or (axis is None and rank == 2)
    if order is not None and axis is None and rank > 2:
        raise Refused(
            "a norm of an order, of an array of more than two axes", "say along which axes"
        )
    if order is not None and axis is None and rank == 0:
        raise Refused("the norm of a number with an order, which NumPy refuses", "leave it out")
    if order is None or (order == "fro" and matrix) or (order is ir.const(2) and not matrix):
        return euclidean(t, a, axis, keepdims)
    sizes = arrays.elementwise(lambda v: scalars.apply(ir.ABS, v), a)
    if matrix:
        rows, columns = axis if axis is not None else (0, 1)
        if order is ONE:
            return largest(t, total(t, sizes, rows, keepdims=True), (rows, columns), keepdims=keepdims)  # fmt: skip
        if order is ir.INF:
            return largest(t, total(t, sizes, columns, keepdims=True), (rows, columns), keepdims=keepdims)  # fmt: skip
        if isinstance(order, str) and order != "nuc":
            raise Refused(f"the norm '{order}' of a matrix is not supported")
        return _spectral(t, a, order, keepdims)
    if not isinstance(order, Expr):
        raise Refused(f"the norm '{order}' of a vector is not supported")
    if order is ir.INF:
        return largest(t, sizes, axis, keepdims=keepdims)
    if order is ir.neg(ir.INF):
        return smallest(t, sizes, axis, keepdims=keepdims)
    if order is ONE:
        return total(t, sizes, axis, keepdims=keepdims)
    if order is ZERO:
        there = arrays.elementwise(lambda v: as_float(scalars.truth(v)), a)
        return total(t, there, axis, keepdims=keepdims)
    p = number(ir.rational(order) or 0) if order.op is ir.CONST else as_real(ord)
    powers = arrays.elementwise(lambda v: scalars.binary(ast.Pow, v, p), sizes)
    return arrays.elementwise(
        lambda s: scalars.binary(ast.Pow, s, scalars.binary(ast.Div, 1, p)),
        total(t, powers, axis, keepdims=keepdims),
    )


def vector_norm(
    t: Tracer, value: Any, *, axis: Any = None, keepdims: Any = False, ord: Any = 2
) -> Any:
    """A norm of all elements as one vector, or of the vectors along an axis."""
    a = array_from(t, value)
    if isinstance(axis, tuple):
        raise Refused("np.linalg.vector_norm() along several axes", "reshape the array first")
    if axis is not None:
        return norm(t, a, ord, axis, keepdims)
    found = norm(t, flattened(t, a), ord)
    return kept(t, found, a, tuple(range(rank_of(a))), keepdims)


def _spectral(t: Tracer, a: Array, order: Any, keepdims: Any) -> Any:
    """The norms of a matrix that are functions of its singular values."""
    if rank_of(a) != 2 or order not in ("nuc", ir.const(2), ir.const(-2)):
        raise Refused("this norm of a matrix is not supported")
    sizes = ALGEBRA["numpy.linalg.svd"](t, a, compute_uv=False)
    if order == "nuc":
        found = total(t, sizes)
    else:
        found = selecting.subscript(t, sizes, 0 if order is ir.const(2) else -1)
    return kept(t, found, a, (0, 1), keepdims)


def euclidean(t: Tracer, a: Array, axis: Any, keepdims: Any = False) -> Any:
    """The root of the sum of squares."""
    if isinstance(a, SmallArray):
        return arrays.reduce(arrays.hypotenuse, a, axis, keepdims)
    squares = arrays.elementwise(lambda v: scalars.binary(ast.Pow, as_real(v), 2), a)
    return arrays.elementwise(square_root, total(t, squares, axis, keepdims=keepdims))


TABLE = {"numpy.linalg.norm": norm, "numpy.linalg.vector_norm": vector_norm}
"""Traced versions, by the dotted name of the function."""
