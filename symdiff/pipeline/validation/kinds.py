"""What a first call is named by: the text of the function and the kinds of its arguments."""

from __future__ import annotations

import marshal
from collections.abc import Callable
from types import CodeType
from typing import Any

import numpy as np

from symdiff.runtime import cache


def kind(value: Any) -> Any:
    """What an argument is, for code: a plain number, or an array of so many axes; None if it
    is something else, which is not compared."""
    t = type(value)
    if t is float or t is int or t is bool:
        return t.__name__
    if t is np.ndarray:
        return (value.dtype.str, value.ndim) if value.dtype.kind in "biuf" else None
    if isinstance(value, np.generic):
        return value.dtype.str
    if t in (list, tuple):
        try:
            return t.__name__, np.ndim(value)
        except ValueError:
            return None
    return None


def mark(fun: Callable[..., Any], kinds: Any) -> str | None:
    """The name under which the cache notes that a function was compared; None if its text is
    not known."""
    code = getattr(fun, "__code__", None)
    if not isinstance(code, CodeType):
        return None
    try:
        text = marshal.dumps(code)
    except ValueError:
        return None
    cells = [_simple(c) for c in getattr(fun, "__closure__", None) or ()]
    return cache.key("verified", text, kinds, cells, repr(fun.__defaults__))


def _simple(cell: Any) -> str:
    """What a closure cell holds, if that is short."""
    try:
        value = cell.cell_contents
    except ValueError:
        return ""
    known = isinstance(value, bool | int | float | str | tuple | None)
    return repr(value)[:200] if known else type(value).__name__
