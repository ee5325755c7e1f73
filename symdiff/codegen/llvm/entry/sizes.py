"""Classes of sizes of axes, and the test of compiled entries for those that they serve.

A call is compared with plain Python when an axis has a size of a class that no compared call had.
So an entry has a word for each axis, with a bit for each class that was compared, and refuses
arrays with other sizes.
"""

from __future__ import annotations

import ctypes

EDGES = (0, 1, 2, 3, 10)
"""The largest size of each class; the last class has all that are larger."""
MOST_AXES = 64
"""Axes of NumPy's arrays, at most."""

Words = ctypes.Array[ctypes.c_int64]

EVERY: Words = (ctypes.c_int64 * MOST_AXES)(*[-1] * MOST_AXES)
"""The words of an argument that may have any size."""


def size_class(n: int) -> int:
    """The number of the class of a size."""
    return next((k for k, most in enumerate(EDGES) if n <= most), len(EDGES))


def print_test(size: str, words: str, axis: str) -> str:
    """LLVM IR that computes `%is.compared`: whether the class of a size is in the word of an axis."""
    lines = [
        f"%word.p = getelementptr i64, ptr {words}, i64 {axis}",
        "%classes = load i64, ptr %word.p",
    ]
    found = str(len(EDGES))
    for k in reversed(range(len(EDGES))):
        lines.append(f"%within.{k} = icmp ule i64 {size}, {EDGES[k]}")
        lines.append(f"%class.{k} = select i1 %within.{k}, i64 {k}, i64 {found}")
        found = f"%class.{k}"
    lines.append(f"%class.bit = lshr i64 %classes, {found}")
    lines.append("%is.compared = trunc i64 %class.bit to i1")
    return "\n  ".join(lines)
