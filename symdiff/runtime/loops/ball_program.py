"""Calls of programs in compiled balls (`codegen.llvm.loops.in_balls`), whose precision grows until results are
accurate."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from symdiff.codegen.llvm import jit
from symdiff.codegen.llvm.loops.in_balls import BallKernel
from symdiff.codegen.llvm.table_loops import PREFIXED
from symdiff.errors import UnsupportedError
from symdiff.ir.loop_program import LoopProgram
from symdiff.runtime import cache
from symdiff.runtime.loops.arguments import FLOAT64, view
from symdiff.runtime.loops.call import AGAIN, RAISED, Code
from symdiff.runtime.scalar import compiled
from symdiff.runtime.scalar.ball_elements import address_of, is_there

Array = np.ndarray[Any, Any]

WATCHES = 1_000
"""How often the kernels of one call may look at the table of `interrupts`, at 128 bits."""
FIRST, LAST = 128, 8192
"""The first and the last precision of balls in bits; each is twice the one before."""
HOPELESS = 1024
"""Bits with which balls that are not finite are given up."""
CLOSE = 4
"""Ulps within which both ends of a ball are near."""
ENOUGH, CHEAP = 1024, 2_000
"""Bits after which elements that are accurate for their array, but not for themselves, stay; and operations, times the
elements of arguments, up to which they get all bits."""
SURE = 100
"""Bits that are accurate where rounding is as good as decided."""
GUARD = 64
"""Bits that a call gets beyond those that it is known to lack."""
FULL = 2**62
""" "All" bits."""


class _Code(Code):
    """The compiled code of a program in balls: its outputs are both ends and the accurate bits of elements, and whether
    doubles that decide underflowed."""

    def output(self, k: int, target: Array | None, memory: bytearray, result: np.dtype[Any]) -> Any:
        t, at = self.layout.outputs[k], 8 * self.layout.results[k]
        if t.kind != "f":
            return super().output(k, target, memory, result)
        address, *shape = struct.unpack_from(f"={1 + len(t.shape)}q", memory, at)
        (lost,) = struct.unpack_from("=q", memory, 8 * RAISED)
        return lost, view(address, [3, *shape], FLOAT64).copy()


class BallProgram:
    """A program in balls.

    Parameters
    ----------
    program : in operations of balls, without routines and checks.
    keep : whether compiled code is kept on disk.
    proves : whether comparisons are to be proven.
    """

    parallel, accuracy = False, "certified"

    def __init__(self, program: LoopProgram, key: Any, keep: bool, proves: bool = False) -> None:
        if not is_there():
            raise UnsupportedError("FLINT's functions are not found")
        self.program = program
        made = BallKernel(program, proves)
        self.layout = made.layout
        text = made.print()
        self._operations = made.registers
        for name in made.called:
            address = address_of(name)
            if address is None:
                raise UnsupportedError(f"FLINT has no function {name}")
            jit.define_symbol(PREFIXED + name, address)
        key = cache.key("loops in balls", key, proves, jit.host())
        self._code = _Code(self, compiled.link(key, lambda: text, keep, opt=0), "float64")

    def __call__(self, values: Sequence[Any], proven: bool, each: bool) -> list[Result]:
        """The outputs at arguments.

        Parameters
        ----------
        proven : whether they must be proven.
        each : whether each element is to be accurate for itself, not only for its array.

        Raises
        ------
        UnfinishedError : the budget is spent.
        """
        bits, lost = FIRST, 0
        work = self._operations * sum(map(np.size, values))
        enough = LAST if work <= CHEAP else ENOUGH
        kinds = [t.kind for t in self.layout.outputs]
        while True:
            limit = max(WATCHES * FIRST // bits, 1)
            words = {AGAIN: bits, RAISED: lost}
            found = self._code.run(values, None, FLOAT64, serial=True, watches=limit, words=words)
            now = any(v[0] for k, v in zip(kinds, found, strict=True) if k == "f")
            if now > lost:
                lost = 1
                continue
            made = [
                _taken(*v[1], proven=proven, each=each)
                if k == "f"
                else Result(v, True, True, FULL, False)
                for k, v in zip(kinds, found, strict=True)
            ]
            known = min(m.bits for m in made)
            near = all(np.all(m.near) for m in made)
            good = bits >= enough and all(np.all(m.good) for m in made)
            if known >= FULL or bits >= LAST or near or good:
                return made
            if bits >= HOPELESS and not any(m.is_finite for m in made):
                return made
            need = bits + GUARD - known if known > -bits else 0
            bits = min(max(2 * bits, need), LAST)


class Result(NamedTuple):
    """An output: its value, which of its elements are accurate, and for themselves, not only for their array; the
    fewest accurate bits of those that are not proven, and whether some of those are finite."""

    value: Any
    good: Any
    near: Any
    bits: int
    is_finite: bool


def _taken(least: Array, most: Array, bits: Array, *, proven: bool, each: bool) -> Result:
    exact = (least == most) | (bits >= 2 * SURE)
    with np.errstate(all="ignore"):
        values = np.where(exact, most, least / 2 + most / 2)
        good = near = exact
        if not proven:
            off = most - least
            good = near = exact | (off <= CLOSE * 2.0**-52 * np.abs(values))
            if not each and values.ndim:
                sizes = np.where(least * most > 0, np.minimum(np.abs(least), np.abs(most)), 0.0)
                good = near | (off <= 2.0**-53 * sizes.max(initial=0.0))
    lacking = bits[~exact]
    fewest = int(lacking.min()) if lacking.size else FULL
    return Result(values, good, near, fewest, bool(np.isfinite(values[~exact]).any()))


__all__ = ["BallProgram", "Result"]
