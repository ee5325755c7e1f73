"""max and min of scalars: at a tie of two the mean of their slopes, of more none."""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from symdiff.frontend.by_value.reals import (
    KEPT,
    NUMBERS,
    RECORD,
    TIE,
    UNDECIDED,
    Real,
    made,
    value_of,
)


def tied(a: Any, b: Any) -> Any:
    """One of two equal numbers, of which an extreme takes either."""
    if a is b or type(a) is not Real is not type(b):
        return a
    for whole, other in ((a, b), (b, a)):
        if type(whole) is Real and whole.op is TIE:
            numbers = any(type(x) is not Real for x in whole.args)
            if any(x is other for x in whole.args) or (type(other) is not Real and numbers):
                return whole
            return made(value_of(a), UNDECIDED, a, b)
    return made(value_of(a), TIE, a, b)


def _extreme(better: Callable[[Any, Any], bool], builtin: Callable[..., Any]) -> Any:
    def found(*args: Any, **kwargs: Any) -> Any:
        if not RECORD.here():
            return builtin(*args, **kwargs)
        items = list(args[0]) if len(args) == 1 else list(args)
        scalars = all(type(x) is Real or type(x) in NUMBERS for x in items)
        if kwargs.get("key") is not None or not scalars or not items:
            return builtin(items, **kwargs)
        best = items[0]
        for x in items[1:]:
            v, w = value_of(x), value_of(best)
            if v == w:
                best = tied(best, x)
            elif better(v, w):
                best = x
        return best

    return found


maximum = _extreme(operator.gt, builtins.max)
minimum = _extreme(operator.lt, builtins.min)


def _of_two(better: Callable[[Any, Any], bool], skips: bool) -> Any:
    """np.maximum and its relatives; `skips`: those that leave out nan."""

    def found(a: Any, b: Any) -> Any:
        v, w = value_of(a), value_of(b)
        if v == w:
            return tied(a, b)
        if math.isnan(v) or math.isnan(w):
            return a if math.isnan(v) is not skips else b
        return a if better(v, w) else b

    return found


ELEMENTWISE = {
    np.maximum: _of_two(operator.gt, False), np.fmax: _of_two(operator.gt, True),
    np.minimum: _of_two(operator.lt, False), np.fmin: _of_two(operator.lt, True),
}  # fmt: skip
INITIAL = {np.maximum: -math.inf, np.minimum: math.inf, np.add: 0.0, np.multiply: 1.0}
"""Where reductions begin that leave out elements."""


def undecided(x: Any, by: list[Real]) -> Any:
    """A number whose slopes by some scalars are not known."""
    return made(value_of(x), KEPT, x, *by)
