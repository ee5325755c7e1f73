"""What rounding, overflow and underflow may change in the results of a plain function: it is run again
with the processor rounding up, and down.

A formula that is folded when captured, as `(x + 1) - 1`, or `sqrt(x*x)`, shows nothing of what plain
arithmetic loses on its way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.ir import functions
from symdiff.ir.loop_program import LoopProgram, expressions_in
from symdiff.ir.plain import is_plain
from symdiff.ir.program import Program
from symdiff.runtime import processor_modes

_FORMATS = ((None, 1.0), (np.longdouble, 2.0**11))
"""Kinds of arguments, and how much larger units of rounding are in doubles: functions of NumPy's on doubles may
round to nearest in all modes."""
MOVED = 16.0
"""How much farther than other modes of rounding move a result rounding to nearest may."""
_STEPS = frozenset((
    functions.FLOOR, functions.CEIL, functions.TRUNC, functions.ROUND, functions.FLOOR_QUOTIENT,
))  # fmt: skip


def explain(again: Callable[[Any], list[Any] | None], within: Callable[[list[Any]], bool]) -> bool:
    """Whether rounding explains how far results are apart.

    Parameters
    ----------
    again : calls a plain function for arguments of a kind, and returns its results as a list; None if it raises.
    within : whether they are not farther apart than these rooms, one for each.
    """
    for kind, scale in _FORMATS:
        runs = [again(kind)]
        runs += _in_other_modes(lambda kind=kind: again(kind))  # type: ignore[misc]
        if (
            len(runs) > 1
            and None not in runs
            and within([_spread(vs, scale) for vs in zip(*runs, strict=True)])
        ):
            return True
    return False


def converted(value: Any, kind: Any) -> Any:
    """A real number or array in a format; others as they are."""
    if kind is None:
        return value
    if type(value) is float or isinstance(value, np.floating):
        return kind(value)
    return (
        value.astype(kind) if isinstance(value, np.ndarray) and value.dtype.kind == "f" else value
    )


def _spread(values: Sequence[Any], scale: float) -> Any:
    """How far results may move, of three runs."""
    if any(v is None for v in values):
        return 0.0
    first, *others = (np.asarray(v, np.longdouble) for v in values)
    with np.errstate(all="ignore"):
        moved = [np.abs(np.nan_to_num(v - first, nan=np.inf)) for v in others]
        return np.asarray(MOVED * scale * np.max(moved, axis=0), float)


def _in_other_modes(call: Callable[[], Any]) -> list[Any]:
    """What a function returns with the processor rounding down, and up; nothing where the processor cannot."""
    environment = processor_modes.environment()
    if environment is None:
        return []
    found = []
    for which in (processor_modes.DOWNWARD, processor_modes.UPWARD):
        with environment.direction(which):
            found.append(call())
    return found


def decides(program: Program | LoopProgram) -> bool:
    """Whether a program has decisions: those are Python's, and rounding excuses no other ones."""
    roots = list(program.outputs)
    if isinstance(program, LoopProgram):
        roots += expressions_in(program.block)
    return any(e.op.boolean or e.op in _STEPS or is_plain(e) for e in ir.topological(tuple(roots)))
