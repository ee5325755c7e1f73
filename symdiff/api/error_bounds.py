"""`f.error_bound(...)`: by how much the results of a call may be off."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symdiff.api.leaves import leaves_of, regrouped
from symdiff.errors import UnsupportedError
from symdiff.frontend import pytrees
from symdiff.ir.loop_program import LoopProgram
from symdiff.ir.program import map_tree
from symdiff.pipeline.kernels.loops import of_numbers
from symdiff.runtime.scalar.fallback import unproven

ULPS = 16
"""Within so many ulps of itself is a number, and an array of its largest element, unless a warning says
otherwise (see docs/accuracy.md)."""

SURE = 4
"""A bound is so many times the spread of the results of both directions of rounding."""
LOST = 2.0**-40
"""What a result may be off, of the largest element of its array, before it is computed again."""


def error_bound(self: Any, /, *args: Any, **kwargs: Any) -> Any:
    """By how much the results for these arguments may be off, measured: a number for each
    result, nested as they are; of an array that of the element that may be off most.

    Programs with sums and loops are computed again with the processor rounding up and down, and the bound is
    some times the spread (see `symdiff.runtime.loops.probe`). With "high" it is at most 2**-40
    of the largest element, as what is off by more is computed again, and with other levels but "fast"
    16 ulp of it, unless that call warns.

    Raises
    ------
    UnsupportedError : for functions of numbers with "fast", which estimates no errors.
    """
    real, static = self._source.parameters.bind(args, kwargs)
    real = self._plain(real)
    if any(map(pytrees.is_container, real)):
        nodes, leaves = leaves_of(self, real)
        return regrouped(self, self._twin(nodes).error_bound(*leaves, **static), nodes)
    fast, high = (self._options.accuracy == level for level in ("fast", "high"))
    with unproven() as left:
        result = self(*args, **kwargs)
    shapes = self._source.shapes(static, real)
    raw = self._source.raw(static, shapes)
    if not isinstance(raw, LoopProgram) or of_numbers(raw):
        if fast or left:
            raise UnsupportedError(
                f"{self.__name__} is a function of numbers, whose errors are not estimated",
                hint='with accuracy="high" they are bounded',
            )
        numbers: list[Any] = []
        node = pytrees.flatten(result, "result", [], numbers)
        return pytrees.unflatten(node, iter(map(_promised, numbers)))
    numbers = []
    pytrees.flatten(result, "result", [], numbers)
    found = []
    for off, value in zip(self._arrays.spreads(raw, real, static, shapes), numbers, strict=True):
        array = np.asarray(value)
        size = float(np.abs(array).max(initial=0.0)) if array.dtype.kind == "f" else 0.0
        unit = float(np.finfo(array.dtype).eps) if array.dtype.kind == "f" else 0.0
        bound = math.inf if math.isnan(off) else SURE * off + unit * size
        if not (fast or left):
            bound = min(bound, max(LOST if high else 0.0, ULPS * unit) * size)
        found.append(bound)
    tree = self._arrays.compiled(raw, static, shapes)[0].tree
    return map_tree(found.__getitem__, tree)


def _promised(value: Any) -> float:
    """Of a number, or of the largest element of an array."""
    array = np.asarray(value)
    if array.dtype.kind != "f":
        return 0.0
    size = np.abs(array).max(initial=0.0)
    return float(ULPS * np.spacing(size))


__all__ = ["error_bound"]
