"""Deciding conditions between constants, such as `sin(1/2) < 1/3`, rigorously.

Exact rationals are decided when built. Others are enclosed in balls of growing
precision; two constants whose balls always overlap are undecided.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

from symdiff import ir
from symdiff.ir import Expr, loop_program

OPEN = (ir.VAR, loop_program.INDEX, loop_program.ARRAY)
"""Leaves that are not constants."""

PRECISIONS = (64, 256, 1024, 4096)

_closed: WeakKeyDictionary[Expr, bool] = WeakKeyDictionary()


def is_closed(e: Expr) -> bool:
    """Whether no variable occurs in `e`; remembered for every visited node."""
    if e.op in OPEN:
        return False
    if not e.args:
        return True
    if (known := _closed.get(e)) is not None:
        return known
    stack = [e]
    while stack:
        n = stack[-1]
        answer: bool | None = True
        for a in n.args:
            if a.args:
                value = _closed.get(a)
                if value is None:
                    stack.append(a)
                    answer = None
                    break
            else:
                value = a.op not in OPEN
            if not value:
                answer = False
                break
        if answer is not None:
            _closed[n] = answer
            stack.pop()
    return _closed[e]


def _enclosures(e: Expr) -> Iterator[Any]:
    """The ball around a closed expression, or its truth (None: undecided), in
    growing precision."""
    from symdiff.interpret import exclusive
    from symdiff.interpret.flat import Tape

    tape = Tape((), (e,))
    with exclusive():
        for precision in PRECISIONS:
            yield tape.run((), precision)[tape.roots[0]]


def decide(condition: Expr) -> bool | None:
    """The truth of a condition without variables, proven; None if undecided."""
    return next((answer for answer in _enclosures(condition) if answer is not None), None)
