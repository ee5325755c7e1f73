"""Programs with arrays and loops run with Python's integers, where 64 bits do not hold them.

They run statement by statement, which is slow but right: real numbers have so many bits that
integers which are converted to them keep most of theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symdiff.errors import SymdiffError
from symdiff.interpret.loops import Doubles, Numbers, Precise, run
from symdiff.ir.loop_program import ARRAY, LoopProgram, Type, kind_of, name_of, types
from symdiff.runtime.loops.arguments import put
from symdiff.runtime.scalar.elementwise import Array

BITS = 256
"""Of real numbers."""


def exactly(
    program: LoopProgram,
    args: Sequence[Any],
    out: Sequence[Array | None] | None,
    result: np.dtype[Any],
    error: SymdiffError,
) -> list[Any]:
    """The outputs of a program for prepared arguments, as a kernel gives them.

    Parameters
    ----------
    out : an array or None for each output.
    result : the dtype of real outputs.
    error : what is raised if this does not work either.
    """
    known = types(program)
    kinds = [known[name_of(e)] if e.op is ARRAY else Type((), kind_of(e)) for e in program.outputs]
    numbers: tuple[Numbers, ...] = (Precise(BITS), Doubles())
    for arithmetic in numbers:  # poles are inf in doubles only
        try:
            values = run(program, args, arithmetic)
            found = [_output(t, v, result) for t, v in zip(kinds, values, strict=True)]
        except OverflowError:
            raise error from None
        if all(np.all(np.isfinite(np.asarray(v, float))) for v in found):
            break
    if out is None:
        return found
    return [put(p, v) if p is not None else v for p, v in zip(out, found, strict=True)]


def _output(t: Type, value: Any, result: np.dtype[Any]) -> Any:
    if not t.shape:
        if t.kind != "f":
            return bool(value) if t.kind == "b" else int(value)
        return float(value) if result == np.float64 else result.type(float(value))
    if t.kind != "f":
        return np.asarray(value, bool if t.kind == "b" else np.int64)
    made = np.empty(value.shape, result)
    for place in np.ndindex(*value.shape):
        made[place] = float(value[place])
    return made
