"""Classes of sizes of axes, and the test of compiled entries for those that they serve.

A call is compared with plain Python when an axis has a size of a class that no compared call had.
So an entry has a word for each axis, with a bit for each class that was compared, and refuses
arrays with other sizes.
"""

from __future__ import annotations

import ctypes

from symdiff.codegen.llvm.assembly import Function

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


def is_served(f: Function, size: str, words: str, axis: str) -> str:
    """LLVM IR that says whether the class of a size is in the word of an axis."""
    found = str(len(EDGES))
    for k in reversed(range(len(EDGES))):
        found = f.choose(f.compare("ule", size, str(EDGES[k])), str(k), found)
    bit = f.whole("lshr", f.load(words, axis, "i64"), found)
    return f.emit(f"trunc i64 {bit} to i1")
