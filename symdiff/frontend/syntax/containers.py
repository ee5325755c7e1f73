"""Access to containers: elements, keys, positions."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, KeysView, ValuesView
from enum import EnumType
from fractions import Fraction
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.frontend.arrays import lists, selecting, symbolic
from symdiff.frontend.arrays import small as arrays
from symdiff.frontend.library.complex_numbers import complex_calls
from symdiff.frontend.loops.slots import kind_of
from symdiff.frontend.syntax import special_methods
from symdiff.frontend.trace import demands, raised
from symdiff.frontend.trace.demands import integer_hint, used_as_array
from symdiff.frontend.trace.recorder import MAX_STEPS, Retrace, active
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import (
    Axes,
    Choice,
    Cond,
    End,
    Integral,
    Listed,
    Masked,
    Real,
    Refused,
    Scalar,
    Selected,
    Sequence,
    SmallArray,
    Stream,
    SymArray,
    Text,
    Unlisted,
    Unusable,
    Whole,
    describe,
    is_array_pair,
    is_complex,
    is_number,
)

UNLISTED_HINT = "annotate the array with its size, such as x: Array[3], or write a 'for' statement"
MAX_LISTED = 4096
"""The most elements of arrays and sequences that are listed."""

SELECTED_HINT = "their number is not known when traced; sum them, or use np.where"


COMPARED_HINT = "use what the object holds as the key, such as key=lambda v: v.x"


def plain(value: Any) -> Any:
    """A value known when traced as a Python object: exact, hashable, comparable."""
    if isinstance(value, Real):
        q = ir.rational(value.expr)
        if q is None:
            raise Refused(
                "a value that is not known when traced is compared or used as a key",
                "use comparisons of numbers with 'if', or np.where",
            )
        return q
    if is_complex(value):
        return complex(*(float(plain(v)) for v in complex_calls.parts_of(value)))
    if isinstance(value, (tuple, list)):
        return tuple(map(plain, value)) if isinstance(value, tuple) else list(map(plain, value))
    if isinstance(value, (Cond, SmallArray, Masked, Choice, SymArray, Selected, Listed, Text)):
        raise Refused(
            "a value that is not known when traced is compared or used as a key",
            "use comparisons of numbers with 'if', or np.where",
        )
    if special_methods.by_value(value):
        raise Refused(
            "an object of a class with '__eq__' is used as a key or sorted", COMPARED_HINT
        )
    return value


def text_of(make: Callable[[Any], str], value: Any) -> str | Text:
    """`make(value)`; unknown text where the value, or a part of it, is unknown."""
    parts = value if isinstance(value, (list, tuple)) else (value,)
    known = all(v is None or isinstance(v, (str, int)) for v in parts)
    return make(value) if known else Text()


def key(value: Any) -> Any:
    """A dictionary key or set element: it must be known when traced."""
    return plain(value)


def present(owner: dict[Any, Any], k: Any) -> Any:
    """A key of a dictionary; refused as a KeyError if it is not there."""
    if k not in owner:
        raise Refused(f"key {_show(k)} is not in the dictionary", raises=KeyError)
    return k


def position(value: Any) -> Any:
    """An index into a list or tuple: an integer or slice known when traced."""
    if isinstance(value, (Whole, Integral)):
        return value
    if isinstance(value, Scalar):
        demands.retrace_integers(active.get(), value.expr)
        raise Refused(
            f"{describe(value)} is used as an index",
            integer_hint(value, "an index must be known; use np.where to select by value"),
        )
    return value


def mapping(value: Any) -> dict[Any, Any]:
    """The mapping that `**` unpacks."""
    if not isinstance(value, dict):
        raise Refused(f"'**' of {describe(value)}", demands.DICT_HINT)
    return value


def reader(t: Tracer, value: Any) -> Callable[[int], Any]:
    """A function that gives the elements of an iterable one by one, in their state at the time of
    the call; it raises `End` after the last."""
    value = special_methods.iterated(t, value)
    if isinstance(value, Stream):
        return lambda k: t.pull(value)
    if isinstance(value, SmallArray) and value.items.ndim:
        return _ending(lambda k: arrays.item(value.items[k], value.kind), lambda: len(value.items))
    if isinstance(value, list):
        return _ending(lambda k: t.wrap(value[k]), lambda: len(value))
    if isinstance(value, (ValuesView, ItemsView)):
        held: Any = value.mapping  # type: ignore[union-attr]
        keys, pairs = list(held), isinstance(value, ItemsView)
        return _ending(
            lambda k: t.wrap((keys[k], held[keys[k]]) if pairs else held[keys[k]]),
            lambda: len(keys),
        )
    found = elements(t, value)
    return _ending(lambda k: found[k], lambda: len(found))


def _ending(at: Callable[[int], Any], count: Callable[[], int]) -> Callable[[int], Any]:
    def read(k: int) -> Any:
        if k >= count():
            raise End
        return at(k)

    return read


def elements(t: Tracer, value: Any) -> list[Any]:
    """The elements of anything that can be iterated when traced."""
    value = special_methods.iterated(t, value)
    if isinstance(value, range) and value[MAX_STEPS:]:
        raise Refused(
            f"a range of more than {MAX_STEPS} elements is listed",
            "loops are unrolled when traced; use fewer iterations",
        )
    if isinstance(value, (list, tuple, range, str, set, frozenset, dict, EnumType)):
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
        raise Refused(f"{_what(value)} is iterated over", raises=TypeError)
    if is_complex(value) and is_array_pair(value):
        rows = [elements(t, v) for v in complex_calls.parts_of(value)]
        return [complex_calls.pair(t, *v) for v in zip(*rows, strict=True)]
    if isinstance(value, Sequence):
        if (n := ir.integer(value.count)) is not None:
            return [value.item(ir.const(k)) for k in _few(n)]
        raise Unlisted("a range whose length is not known when traced is listed", UNLISTED_HINT)
    if isinstance(value, Listed) and (n := ir.integer(value.storage.shape[0])) is not None:
        return [lists.subscript(t, value, k) for k in _few(n)]
    if isinstance(value, (Listed, Selected)):
        value = symbolic.symbolic(t, value)
    if isinstance(value, SymArray):
        if value.shape and (n := ir.integer(value.shape[0])) is not None:
            return [selecting.subscript(t, value, k) for k in _few(n)]
        raise Unlisted(
            "the elements of an array whose size is not known when traced are listed",
            UNLISTED_HINT,
        )
    if isinstance(value, Masked):
        raise Refused(
            "the elements that a condition on real values selects are listed", SELECTED_HINT
        )
    raise Refused(f"{describe(value)} is iterated over")


def _few(n: int) -> range:
    """The indices of elements to list; refused if there are too many to trace one by one."""
    if n > MAX_LISTED:
        raise Refused(f"more than {MAX_LISTED} elements are listed", "loop over them with 'for'")
    return range(n)


def _what(value: Any) -> str:
    """The name of a parameter that is used as an array."""
    if isinstance(value, Real) and value.expr.op is ir.VAR:
        return f"parameter '{value.expr.value}'"
    return describe(value)


def subscript(t: Tracer, owner: Any, index: Any) -> Any:
    """`owner[index]`."""
    if isinstance(owner, (SymArray, Selected)):
        return selecting.subscript(t, symbolic.symbolic(t, owner), index)
    if isinstance(owner, Listed):
        return lists.subscript(t, owner, index)
    if isinstance(owner, SmallArray):
        used_as_array(owner, "it is indexed", rank_of(index))
        if selecting.is_symbolic(index):
            if t.size_limit > 0:
                raise Retrace(what="a small array is indexed by what is not known when traced")
            return selecting.subscript(t, symbolic.symbolic(t, owner), index)
        return arrays.load(owner, index)
    if isinstance(owner, (list, tuple)) and isinstance(index, (Whole, Integral)):
        return selecting.one_of(t, [t.wrap(v) for v in owner], index)
    if isinstance(owner, Axes) and isinstance(index, int) and index >= len(owner):
        selecting.more_axes(t, owner.of, index + 1, "its shape is read")
    if isinstance(index, slice) and selecting.is_symbolic(index):
        if (
            type(owner) is list
            and all(map(is_number, owner))
            and len(set(map(kind_of, owner))) == 1
        ):
            return lists.subscript(t, symbolic.listed(symbolic.symbolic(t, owner), "l"), index)
        raise Refused("an end of a slice of a list that is not known when traced", "use an array")
    if isinstance(owner, (list, tuple, range, str)):
        found = owner[position(index)]
        if isinstance(found, Unusable):
            raise Refused(found.message, found.hint)
        return (
            t.own(found) if isinstance(found, list) and isinstance(index, slice) else t.wrap(found)
        )
    if isinstance(owner, dict):
        k = key(index)
        return t.wrap(owner[present(owner, k)])
    if is_complex(owner):
        return complex_calls.subscript(t, owner, index, subscript)
    if (item := special_methods.special(t, owner, "__getitem__", index)) is not NotImplemented:
        return item
    if isinstance(owner, Scalar):
        used_as_array(owner, "it is indexed", rank_of(index))
        if index == () and not raised.of_python(t, owner):
            return owner
        raise Refused(f"{_what(owner)} is indexed", raises=TypeError)
    if isinstance(owner, Masked):
        raise Refused(f"{describe(owner)} is indexed", SELECTED_HINT)
    if isinstance(owner, EnumType) and isinstance(index, str):
        return owner[index]
    if owner is np.mgrid or owner is np.ogrid:
        return t.wrap(owner[_known_slices(index)])
    raise Refused(f"{describe(owner)} is indexed")


def _known_slices(index: Any) -> Any:
    """Slices whose parts are all known when traced."""
    if isinstance(index, tuple):
        return tuple(map(_known_slices, index))
    if not isinstance(index, slice):
        raise Refused("a grid is indexed by what is no slice")
    parts = (None if v is None else plain(v) for v in (index.start, index.stop, index.step))
    return slice(
        *(
            float(v)
            if isinstance(v, Fraction) and v.denominator > 1
            else v
            if v is None
            else int(v)
            for v in parts
        )
    )


def rank_of(index: Any) -> int:
    """The number of dimensions that an index implies."""
    parts = index if isinstance(index, tuple) else (index,)
    return max(sum(k is not None and k is not Ellipsis for k in parts), 1)


def _show(k: Any) -> str:
    return repr(k) if isinstance(k, (str, int, tuple)) else str(k)
