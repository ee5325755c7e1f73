"""Calls with integers of 32 bits: arithmetic between them must not wrap around.

NumPy computes `a*a` of arrays of int32 in 32 bits, kernels in 64 bits or in doubles. So what a program computes
of such arguments alone is bounded by the largest of them, call by call; where the bound does not fit in 32
bits the call is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.ir import ABS, ADD, CONST, MUL, NEG, POW, SUB, VAR, WHERE, Expr
from symdiff.ir.loop_program import (
    ARRAY,
    INDEX,
    LOAD,
    Build,
    LoopProgram,
    expressions,
    name_of,
    walk,
)
from symdiff.runtime.scalar.elementwise import ArgumentError

Function = Any
"""A `SymbolicFunction`."""

_INT32 = np.dtype(np.int32)
_MOST = 2**31


def must_fit(
    self: Function, real: Sequence[Any], static: Mapping[str, Any], mapped: Sequence[bool] = ()
) -> None:
    """Refuses arguments of 32 bits of which the function may compute more.

    Raises
    ------
    ArgumentError : that names the argument.
    """
    narrow = {
        n: _largest(v)
        for n, v in zip(self._source.parameters.real, real, strict=True)
        if isinstance(v, (np.ndarray, np.int32)) and v.dtype == _INT32
    }
    if not narrow:
        return
    raw = self._source.raw(static, self._source.shapes(static, real, mapped))
    count = max((int(np.size(v)) for v in real), default=1)
    found = _Bounds(raw, narrow, max(count, 1)).largest()
    if found >= _MOST:
        names = ", ".join(narrow)
        raise ArgumentError(
            f"argument {names} is of dtype int32, and what {self.__name__} computes of it may not fit in 32 bits: "
            "NumPy's arithmetic wraps around there",
            hint="convert it with .astype(np.int64)",
        )


def _largest(value: Any) -> int:
    return int(np.abs(np.asarray(value, np.int64)).max(initial=0))


class _Bounds:
    """Bounds of what a captured program computes in integers of 32 bits.

    Parameters
    ----------
    narrow : the largest magnitudes of these arguments.
    count : of how many numbers the largest argument is: no loop over an axis is longer.
    """

    def __init__(self, raw: Any, narrow: Mapping[str, int], count: int) -> None:
        self.raw, self.count = raw, count
        self.names = dict(narrow)
        self._found: dict[Expr, int | None] = {}

    def largest(self) -> int:
        """The largest of them."""
        largest = 0
        for root in self._roots():
            for e in ir.topological((root,)):
                bound = self.of(e)
                if bound is None:
                    continue
                largest = max(largest, bound if e.op is not VAR and e.op is not LOAD else 0)
                products = e.op is MUL and all(self.of(a) is not None for a in e.args)
                if products and isinstance(self.raw, LoopProgram):
                    largest = max(largest, bound * self.count)  # a product of matrices sums them
        return largest

    def _roots(self) -> Iterator[Expr]:
        if not isinstance(self.raw, LoopProgram):
            yield from self.raw.outputs
            return
        for s in walk(self.raw.block):
            if isinstance(s, Build) and (bound := self.of(s.value)) is not None:
                self.names[s.name] = bound
                self._found.clear()
            yield from expressions(s)
        yield from self.raw.outputs

    def of(self, e: Expr) -> int | None:
        """The bound of an integer that is made of narrow ones and of numbers that are known; None of others."""
        if e not in self._found:
            self._found[e] = self._bound(e)
        return self._found[e]

    def _bound(self, e: Expr) -> int | None:
        if e.op is VAR:
            return self.names.get(name_of(e))
        if e.op is LOAD:
            return self.names.get(name_of(e.args[0])) if e.args[0].op is ARRAY else None
        if e.op in (ABS, NEG):
            return self.of(e.args[0])
        if e.op is WHERE:
            return self._joined(e.args[1:], max)
        if e.op in (ADD, SUB):
            return self._joined(e.args, int.__add__)
        if e.op is MUL:
            return self._joined(e.args, int.__mul__)
        if e.op is POW:
            base, power = self.of(e.args[0]), ir.integer(e.args[1])
            if base is None or power is None or power < 0:
                return None
            found: int = min(base, _MOST) ** min(power, 64)
            return found
        return None

    def _joined(self, args: Sequence[Expr], how: Any) -> int | None:
        """The bound of an operation between narrow integers, and numbers that NumPy takes as such."""
        bounds = [self.of(a) for a in args]
        if all(b is None for b in bounds):
            return None
        for k, a in enumerate(args):
            if bounds[k] is None:
                bounds[k] = self._beside(a)
        if any(b is None for b in bounds):
            return None
        return how(*bounds)  # type: ignore[no-any-return]

    def _beside(self, e: Expr) -> int | None:
        """The bound of an integer that Python knows."""
        if e.op is CONST:
            known = ir.integer(e)
            return None if known is None else abs(known)
        return self.count if e.op is INDEX else None
