"""What containers hold and how it is reached: elements, keys, positions."""

from __future__ import annotations

from collections.abc import ItemsView, KeysView, ValuesView
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.frontend import arrays, selecting, symbolic
from symdiff.frontend.recorder import Retrace, active
from symdiff.frontend.tracer import Tracer
from symdiff.frontend.values import (
    Axes,
    Choice,
    Cond,
    Listed,
    Masked,
    Real,
    Record,
    Refused,
    Scalar,
    Selected,
    Sequence,
    SmallArray,
    Stream,
    SymArray,
    Unlisted,
    Whole,
    describe,
)

SELECTED_HINT = "their number is not known when traced; sum them, or use np.where"


def plain(value: Any) -> Any:
    """A value known when traced as Python has it: exact, hashable, comparable."""
    if isinstance(value, Real):
        q = ir.rational(value.expr)
        if q is None:
            raise Refused(
                "a value that is not known when traced is compared or looked up",
                "use comparisons of numbers with 'if', or np.where",
            )
        return q
    if isinstance(value, (tuple, list)):
        return tuple(map(plain, value)) if isinstance(value, tuple) else list(map(plain, value))
    if isinstance(value, (Cond, SmallArray, Masked, Choice, SymArray, Selected, Listed)):
        raise Refused(
            "a value that is not known when traced is compared or looked up",
            "use comparisons of numbers with 'if', or np.where",
        )
    return value


def key(value: Any) -> Any:
    """A dictionary key or set element: it must be known when traced."""
    return plain(value)


def position(value: Any) -> Any:
    """An index into a list or tuple: an integer or slice known when traced."""
    if isinstance(value, Whole):
        return value
    if isinstance(value, Scalar):
        symbolic.retrace_integers(active.get(), value.expr)
        raise Refused(
            f"{describe(value)} is used as an index",
            integer_hint(value) or "an index must be known; use np.where to select by value",
        )
    return value


_OF_INTEGERS = frozenset((ir.VAR, ir.CONST, ir.ADD, ir.SUB, ir.MUL, ir.NEG))


def integer_hint(value: Any) -> str:
    """What to do about a parameter that is used where an integer must be known."""
    nodes = ir.topological((value.expr,)) if isinstance(value, Real) else ()
    names = [e for e in nodes if e.op is ir.VAR]
    if len(names) == 1 and all(e.op in _OF_INTEGERS for e in nodes):
        return f"if it is an integer known in the call, annotate it: {names[0].value}: int"
    return ""


def elements(t: Tracer, value: Any) -> list[Any]:
    """The elements of anything that can be iterated when traced."""
    if isinstance(value, (list, tuple, range, str, set, frozenset, dict)):
        return [t.wrap(v) for v in value]
    if isinstance(value, (KeysView, ValuesView, ItemsView)):
        return [t.wrap(entry) for entry in value]
    if isinstance(value, Stream):
        value = t.spend(value)
        if isinstance(value, list):
            return [t.wrap(v) for v in value]
    if isinstance(value, SmallArray):
        if value.items.ndim == 0:
            used_as_array(value, "it is iterated over")
            raise Refused("a loop over an array without dimensions")
        return [arrays.item(row, value.kind) for row in value.items]
    if isinstance(value, Real):
        used_as_array(value, "it is iterated over")
        raise Refused(f"{_what(value)} is iterated over")
    if isinstance(value, Sequence):
        raise Unlisted(
            "a range whose length is not known when traced is listed", "loop over it with 'for'"
        )
    if isinstance(value, Listed):
        value = value.items
    if isinstance(value, Selected):
        value = symbolic.symbolic(t, value)
    if isinstance(value, SymArray):
        if value.shape and (n := ir.integer(value.shape[0])) is not None:
            return [selecting.subscript(t, value, k) for k in range(n)]
        raise Unlisted(
            "the elements of an array whose size is not known when traced are listed",
            "loop over it with 'for'",
        )
    if isinstance(value, Masked):
        raise Refused(
            "the elements that a condition on real values selects are listed", SELECTED_HINT
        )
    raise Refused(f"{describe(value)} is iterated over")


def _what(value: Any) -> str:
    """Name a parameter that is used as an array."""
    if isinstance(value, Real) and value.expr.op is ir.VAR:
        return f"parameter '{value.expr.value}'"
    return describe(value)


def number_of(value: Any) -> Any:
    """A number in an array without dimensions, such as np.asarray makes of it."""
    if isinstance(value, SmallArray) and not value.items.ndim:
        return value.items.item()
    return value


REDUCED = "it is reduced"
"""A use that a number has too."""


def used_as_array(value: Any, what: str, rank: int = 1) -> None:
    """Trace again with a parameter as an array, if a number that was made of it is used
    as one."""
    given, value = value, number_of(value)
    if not isinstance(value, Scalar):
        _may_be_an_array(given, what)
        return
    t = active.get()
    for v in ir.variables((value.expr,)):
        name = str(v.value)
        named = v is value.expr and what != REDUCED
        if t.shapes is None or t.shapes.get(name, (0, ""))[0] or named:
            raise Retrace(name, rank, what)
    _may_be_an_array(value, what)


def _may_be_an_array(value: Any, what: str) -> None:
    """What was made of an array need not show it, such as `x - x` or `np.ones_like(x)`: where
    there are arrays in the call that are traced as numbers, they are traced as arrays."""
    t = active.get()
    if t.shapes is None or not isinstance(value, (Scalar, SmallArray)):
        return
    if isinstance(value, SmallArray) and value.items.ndim:
        return
    for name, (rank, *_) in t.shapes.items():
        if rank and name not in t.array_parameters:
            raise Retrace(name, what=what)


def array_in_call(value: Any, what: str) -> None:
    """Trace again with a parameter as an array, if a number is made of one that is an
    array in the call."""
    t, given, value = active.get(), value, number_of(value)
    if isinstance(given, SmallArray):
        _may_be_an_array(given, what)
    if t.shapes is None or not isinstance(value, Scalar):
        return
    for v in ir.variables((value.expr,)):
        if t.shapes.get(str(v.value), (0, ""))[0]:
            raise Retrace(str(v.value), what=what)


def subscript(t: Tracer, owner: Any, index: Any) -> Any:
    """`owner[index]`."""
    if isinstance(owner, (SymArray, Selected)):
        return selecting.subscript(t, symbolic.symbolic(t, owner), index)
    if isinstance(owner, Listed):
        found = selecting.subscript(t, owner.items, index)
        return Listed(symbolic.snapshot(found)) if isinstance(index, slice) else found
    if isinstance(owner, SmallArray):
        used_as_array(owner, "it is indexed", rank_of(index))
        if selecting.is_symbolic(index):
            raise Retrace(what="a small array is indexed by what is not known when traced")
        return arrays.load(owner, index)
    if isinstance(owner, (list, tuple)) and isinstance(index, Whole):
        return selecting.one_of(t, [t.wrap(v) for v in owner], index)
    if isinstance(owner, Axes) and isinstance(index, int) and index >= len(owner):
        selecting.more_axes(t, owner.of, index + 1, "its shape is read")
    if isinstance(owner, (list, tuple, range, str)):
        found = owner[position(index)]
        return (
            t.own(found) if isinstance(found, list) and isinstance(index, slice) else t.wrap(found)
        )
    if isinstance(owner, dict):
        k = key(index)
        if k not in owner:
            raise Refused(f"key {_show(k)} is not in the dictionary")
        return t.wrap(owner[k])
    if owner is np.r_ or owner is np.c_:
        from symdiff.frontend.ufuncs import joined_by_index

        return joined_by_index(t, owner, index)
    if isinstance(owner, Record):
        from symdiff.frontend import records

        found = records.special(t, owner, "__getitem__", index)
        if found is not NotImplemented:
            return found
    if isinstance(owner, Scalar):
        used_as_array(owner, "it is indexed", rank_of(index))
        raise Refused(f"{_what(owner)} is indexed")
    if isinstance(owner, Masked):
        raise Refused(f"{describe(owner)} is indexed", SELECTED_HINT)
    raise Refused(f"{describe(owner)} is indexed")


def rank_of(index: Any) -> int:
    """How many dimensions an index says that there are."""
    parts = index if isinstance(index, tuple) else (index,)
    return max(sum(k is not None and k is not Ellipsis for k in parts), 1)


def _show(k: Any) -> str:
    return repr(k) if isinstance(k, (str, int, tuple)) else str(k)
