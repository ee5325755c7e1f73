"""Calls of programs in compiled balls (`codegen.llvm.loops.in_balls`), whose precision grows until results are
accurate."""

from __future__ import annotations

import functools
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from symdiff.codegen.llvm import jit
from symdiff.codegen.llvm.loops.in_balls import BallKernel
from symdiff.codegen.llvm.table_loops import PREFIXED
from symdiff.errors import UnsupportedError
from symdiff.ir import topological
from symdiff.ir.loop_program import Loop, LoopProgram, expressions_in, walk
from symdiff.lowering.loops.refined import WITHIN
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
AGREEING = 256, 512, 1024, 2048, 4096
"""Precisions of which two agree on what is accurate, where balls grow."""
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
        self.program, self._key, self._keep = program, (key, proves), keep
        made = BallKernel(program, proves)
        self.layout = made.layout
        self._operations = made.registers
        self._code = self._linked(made, False)

    @functools.cached_property
    def _hands_on(self) -> bool:
        """Whether there are iterations, and no balls with radii of their own, which middles would not have."""
        block = self.program.block
        every = topological((*expressions_in(block), *self.program.outputs))
        return any(isinstance(s, Loop) for s in walk(block)) and all(
            n.op is not WITHIN for n in every
        )

    def _linked(self, made: BallKernel, middles: bool) -> _Code:
        text = made.print()
        for name in made.called:
            address = address_of(name)
            if address is None:
                raise UnsupportedError(f"FLINT has no function {name}")
            jit.define_symbol(PREFIXED + name, address)
        key = cache.key("loops in balls", *self._key, middles, jit.host())
        return _Code(self, compiled.link(key, lambda: text, self._keep, opt=0), "float64")

    @functools.cached_property
    def _of_middles(self) -> _Code:
        """The same, where iterations hand on the middles of balls."""
        return self._linked(BallKernel(self.program, middles=True), True)

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
            found = self._run(self._code, values, bits, lost)
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
            if known >= FULL or near or good:
                return made
            if bits >= LAST or (bits >= HOPELESS and not any(m.is_finite for m in made)):
                return made if proven else self._agreed(values, made, lost, each)
            need = bits + GUARD - known if known > -bits else 0
            bits = min(max(2 * bits, need), LAST)

    def _run(self, code: _Code, values: Sequence[Any], bits: int, lost: int) -> list[Any]:
        words = {AGAIN: bits, RAISED: lost}
        limit = max(WATCHES * FIRST // bits, 1)
        return code.run(values, None, FLOAT64, serial=True, watches=limit, words=words)

    def _agreed(
        self, values: Sequence[Any], made: list[Result], lost: int, each: bool
    ) -> list[Result]:
        """Outputs for which balls grow with each iteration: elements on which two precisions agree, where iterations
        hand on the middles of balls, are accurate."""
        kinds = [t.kind for t in self.layout.outputs]
        if not self._hands_on:
            return made
        before: list[Any] | None = None
        for bits in AGREEING:
            found = self._run(self._of_middles, values, bits, lost)
            now = [
                v[1][0] / 2 + v[1][1] / 2 if k == "f" else v
                for k, v in zip(kinds, found, strict=True)
            ]
            for k, kind in enumerate(kinds):
                if kind == "f" and before is not None:
                    ends = np.minimum(before[k], now[k]), np.maximum(before[k], now[k])
                    same = _taken(*ends, np.full_like(now[k], 0.0), proven=False, each=each)
                    made[k] = same if not np.all(made[k].good) else made[k]
            if all(np.all(m.near) for m in made):
                break
            before = now
        return made


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
