"""The last tier: elements that a kernel could not settle, in ball arithmetic."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from symdiff.ir import Expr
from symdiff.runtime.kernel import Kernel

SECONDS = 20.0
"""Time that one call may spend on the elements its kernel could not settle."""


class AccuracyWarning(RuntimeWarning):
    """Some elements were left as the kernel computed them, for lack of time."""


class Tiered:
    """A kernel whose suspect elements are recomputed with proven accuracy.

    Parameters
    ----------
    kernel : the compiled tiers.
    reference : the outputs in closed form, one per output of the kernel.
    always : whether every element is recomputed, not only suspect ones.
    """

    def __init__(
        self,
        kernel: Kernel,
        reference: Sequence[Expr],
        always: bool = False,
    ) -> None:
        self.kernel, self.reference = kernel, tuple(reference)
        self.always = always
        self._certified: Any = None

    def __call__(self, args: Sequence[Any], out: Sequence[Any] | None = None) -> list[Any]:
        """The outputs as a flat list; see `Kernel.evaluate`."""
        if out is not None:  # an argument may be written before its elements are repaired
            args = [_apart(a, out) for a in args]
        result = self.kernel.evaluate(args, out)
        if not self.always and not result.suspects:
            return result.values
        if not any(isinstance(v, np.ndarray) for v in result.values):
            answers = self._at([float(a) for a in args], _dtype(result.values[0]))
            return [type(v)(a) for v, a in zip(result.values, answers, strict=True)]
        self._repair(args, result.values, None if self.always else result.flags)
        return result.values

    def _at(self, point: Sequence[float], dtype: str) -> Sequence[float]:
        if self._certified is None:
            from symdiff.interpret import Certified

            self._certified = Certified(self.kernel.params, self.reference)
        answers: Sequence[float] = self._certified.at(point, dtype)
        return answers

    def _repair(self, args: Sequence[Any], values: list[Any], flags: Any) -> None:
        shape = values[0].shape
        grids = [np.broadcast_to(np.asarray(a), shape) for a in args]
        where = np.ndindex(shape) if flags is None else zip(*np.nonzero(flags), strict=True)
        start, left = time.monotonic(), 0
        for index in where:
            if time.monotonic() - start > SECONDS:
                left += 1
                continue
            answers = self._at([float(g[index]) for g in grids], _dtype(values[0]))
            for value, answer in zip(values, answers, strict=True):
                value[index] = answer
        if left:
            warnings.warn(
                f"{self.kernel.name}: {left} elements are not proven accurate: "
                f"{SECONDS:.0f} s were not enough",
                AccuracyWarning,
                stacklevel=4,
            )


def _apart(argument: Any, out: Sequence[Any]) -> Any:
    """The argument, copied if an output may overlap it."""
    if isinstance(argument, np.ndarray) and any(
        o is not None and np.may_share_memory(argument, o) for o in out
    ):
        return argument.copy()
    return argument


def _dtype(value: Any) -> str:
    return "float32" if getattr(value, "dtype", None) in (np.float32, np.float16) else "float64"
