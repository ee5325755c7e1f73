"""Operators on any two values: numbers, arrays, lists, strings, sets."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from types import UnionType
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.frontend.arrays import folding, lists, symbolic
from symdiff.frontend.arrays import small as arrays
from symdiff.frontend.library.complex_numbers import complex_calls
from symdiff.frontend.syntax import comprehensions, special_methods
from symdiff.frontend.syntax.containers import plain, text_of
from symdiff.frontend.trace import extents, raised, scalars
from symdiff.frontend.trace.demands import retrace_integers, used_as_array
from symdiff.frontend.trace.frames import dict_like
from symdiff.frontend.trace.recorder import numbers_only
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import (
    LIST_HINT,
    TRUTH_OF_ARRAY,
    Choice,
    Cond,
    Listed,
    Logical,
    Masked,
    Real,
    Refused,
    Scalar,
    Selected,
    SmallArray,
    Stream,
    SymArray,
    Text,
    Undecided,
    Whole,
    describe,
    is_complex,
    is_number,
    is_single,
    of_integers,
    of_whole_kind,
    python_kind,
)
from symdiff.ir import TRUE, ZERO

_SYMBOLIC = (SymArray, Selected, Listed)


def truth(t: Tracer, value: Any) -> Cond | bool:
    """Whether a value counts as true."""
    if isinstance(value, SmallArray):
        if value.items.size == 1:
            return scalars.truth(value.items.item())
        raise _truth_of_array()
    if is_single(value):
        t.took_single = True
        return scalars.truth(symbolic.element(value, [ZERO] * len(value.shape)))
    if isinstance(value, _SYMBOLIC):
        raise _truth_of_array()
    if isinstance(value, Scalar):
        return scalars.truth(value)
    if isinstance(value, Choice):
        return _of_sides(value, lambda v: truth(t, v))
    if is_complex(value):
        known: Cond | bool = complex_calls.truth(t, value)
        return known
    if isinstance(value, (Masked, Stream, Text)):
        raise Refused(f"the truth value of {describe(value)}")
    found = special_methods.truth(t, value)
    return bool(value) if found is NotImplemented else truth(t, found)


def _of_sides(value: Choice, holds: Callable[[Any], Any]) -> Cond | bool:
    """A condition on one of two values."""
    sides = holds(value.then), holds(value.other)
    if not all(isinstance(s, (bool, Cond)) for s in sides):
        raise Refused(f"{describe(value)} is compared", "assign it first")
    found: Cond | bool = scalars.select(value.condition, TRUE, *sides)
    return found


def _truth_of_array() -> Refused:
    return numbers_only("a condition", TRUTH_OF_ARRAY, "use np.any or np.all", True)


_TYPES = (type, UnionType, type(None))
"""The types in a union."""


def binary(t: Tracer, op: type[ast.operator], a: Any, b: Any) -> Any:
    """`a op b` of any two values."""
    if op is ast.BitOr and isinstance(a, _TYPES) and isinstance(b, _TYPES):
        return operator.or_(a, b)
    if isinstance(a, (str, Text)) or isinstance(b, (str, Text)):
        return _of_texts(op, a, b)
    if is_number(a) and is_number(b) and op is not ast.MatMult:
        if isinstance(a, (bool, Cond)) and isinstance(b, (bool, Cond)):
            return _of_truth(t, op, a, b)
        return raised.operation(t, op, a, b)
    if _is_mask(a) and _is_mask(b):  # as in NumPy
        if op is ast.Sub:
            raise Refused(
                "'-' of arrays of truth values, which NumPy refuses",
                "make numbers of them first: np.where(a > 0, 1.0, 0.0)",
            )
        if op in _SHORT:
            raise Refused(
                f"'{scalars.SYMBOLS[op]}' of arrays of truth values, which NumPy computes in "
                "integers of 8 bits",
                "make numbers of them first: np.where(a > 0, 1.0, 0.0)",
            )
        op = {ast.Add: ast.BitOr, ast.Mult: ast.BitAnd}.get(op, op)
    if is_complex(a) or is_complex(b):
        return complex_calls.binary(t, op, a, b)
    found = special_methods.binary(t, op, a, b)
    if found is not NotImplemented:
        return found
    if (
        op is ast.Add
        and all(isinstance(v, (list, Listed)) for v in (a, b))
        and not (isinstance(a, list) and isinstance(b, list))
    ):
        parts = [symbolic.symbolic(t, v) for v in (a, b)]
        return lists.together(t, (a, b), t.call(np.concatenate, (parts,), {}))
    if op is ast.Pow:
        _no_negative_power(t, a, b)
        if getattr(a, "kind", "") == "b" and b == 2:
            raise Refused(
                "the square of an array of truth values, which NumPy computes in integers of 8 bits",
                "make numbers of them first: np.where(a > 0, 1.0, 0.0)",
            )
    if isinstance(a, _SYMBOLIC) or isinstance(b, _SYMBOLIC):
        if op is ast.MatMult:
            for v in (a, b):
                used_as_array(v, "'@'")
        return _of_arrays(t, op, a, b)
    if isinstance(a, (SmallArray, Masked)) or isinstance(b, (SmallArray, Masked)):
        if op is ast.MatMult:
            for v in (a, b):
                used_as_array(v, "'@'")
            return arrays.dot(a, b)
        return arrays.elementwise(lambda x, y: scalars.binary(op, x, y), a, b)
    if op is ast.Mult:  # an integer repeats a list
        for v, other in ((a, b), (b, a)):
            if isinstance(v, (list, tuple)) and isinstance(other, Real):
                retrace_integers(t, other.expr)
    if t.array_parameters and op is not ast.MatMult:  # NumPy's numbers take lists as arrays
        for v, other in ((a, b), (b, a)):
            if (
                isinstance(v, (list, tuple))
                and isinstance(other, Real)
                and python_kind(other) == "f"
            ):
                pair = (arrays.asarray(a), b) if v is a else (a, arrays.asarray(b))
                return arrays.elementwise(lambda x, y: scalars.binary(op, x, y), *pair)
    if op is ast.Add and isinstance(a, (list, tuple)):
        if isinstance(b, list if isinstance(a, list) else tuple):
            return t.own([*a, *b]) if isinstance(a, list) else (*a, *b)
    if op is ast.Mult and isinstance(a, (list, tuple)) and isinstance(b, int):
        return t.own(a * b) if isinstance(a, list) else tuple(a) * b
    if op is ast.Mult and isinstance(a, list) and len(a) == 1 and isinstance(b, Whole):
        return comprehensions.repeated(t, a[0], b)
    if op is ast.Mult and isinstance(b, (list, tuple)) and isinstance(a, (int, Whole)):
        return binary(t, op, b, a)
    if isinstance(a, (set, frozenset)) and isinstance(b, (set, frozenset)):
        return _set_operation(op, a, b)
    if op is ast.BitOr and isinstance(a, dict) and isinstance(b, dict):
        return t.own(dict_like(a, {**a, **b}))
    if op is ast.MatMult:
        for v in (a, b):
            used_as_array(v, "'@'")
    hint = LIST_HINT if isinstance(a, list) or isinstance(b, list) else ""
    raise Refused(f"'{scalars.SYMBOLS[op]}' of {describe(a)} and {describe(b)}", hint)


def _of_texts(op: type[ast.operator], a: Any, b: Any) -> Any:
    """`a op b`, one of which is text: joined, repeated, or with values put in."""
    if op is ast.Mod and isinstance(a, (str, Text)):
        return text_of(lambda v: a % v, b) if isinstance(a, str) else a
    pair = {type(a), type(b)}
    if op is ast.Add and pair <= {str, Text}:
        return a + b if pair == {str} else Text()
    if op is ast.Mult and pair == {str, int}:
        return a * b
    raise Refused(f"'{scalars.SYMBOLS[op]}' of {describe(a)} and {describe(b)}")


def _no_negative_power(t: Tracer, a: Any, b: Any) -> None:
    """Refuse negative powers of arrays of integers, as NumPy does."""
    if of_integers.get() and not isinstance(b, int):
        t.integer_powers |= of_whole_kind(a) and of_whole_kind(b)
    if getattr(a, "kind", "") != "i" or not scalars.is_whole(b):
        return
    message = "a negative integer power of an array of integers"
    if not isinstance(b, int):
        t.require(ir.le(ZERO, b.expr), "value", message)
    elif b < 0:
        raise Refused(message, "NumPy refuses it: make real numbers of them first, as 1.0*a")


_SHORT = (ast.FloorDiv, ast.Mod, ast.Pow)


def _of_truth(t: Tracer, op: type[ast.operator], a: Any, b: Any) -> Any:
    """`a op b` of two truth values: sums and products differ between NumPy's and Python's, which
    are integers. Elements of arrays and results of NumPy's functions are NumPy's; arguments may
    be."""
    known = isinstance(a, bool) and isinstance(b, bool)
    if known and not t.of_numpy():
        return scalars.binary(op, a, b)
    if op is ast.Add or (op in _SHORT and t.of_numpy()):
        message = f"'{scalars.SYMBOLS[op]}' of two truth values, which NumPy's are no integers for"
        hint = "count with int(a > 0) + int(b > 0), or write (a > 0) | (b > 0)"
        if t.of_numpy():
            raise Refused(message, hint)
        t.of_python = t.of_python or t.error(message, hint)
    if op is ast.Mult and not known and not of_integers.get():
        found = scalars.conjunction(a, b)
        return Undecided(found.expr, found.defined) if isinstance(found, Cond) else found
    found = scalars.binary(op, a, b)
    of_numpy = isinstance(a, Logical) or isinstance(b, Logical)
    return Logical(found.expr, found.defined) if of_numpy and type(found) is Cond else found


def _is_mask(value: Any) -> bool:
    """Whether it is an array of truth values, or one of them."""
    return isinstance(value, (bool, Cond)) or getattr(value, "kind", "") == "b"


def _set_operation(op: type[ast.operator], a: Any, b: Any) -> Any:
    if op is ast.BitAnd:
        return a & b
    if op is ast.BitOr:
        return a | b
    if op is ast.Sub:
        return a - b
    raise Refused(f"'{scalars.SYMBOLS[op]}' of two sets")


def compare(t: Tracer, op: type[ast.cmpop], a: Any, b: Any) -> Any:
    """`a op b` for any comparison of any two values."""
    if isinstance(a, Choice):
        return _of_sides(a, lambda v: compare(t, op, v, b))
    if isinstance(b, Choice):
        return _of_sides(b, lambda v: compare(t, op, a, v))
    if op in (ast.Is, ast.IsNot):
        same = _identical(t, a, b)
        return same if op is ast.Is else scalars.negate(same)
    if op in (ast.In, ast.NotIn):
        found = _contains(t, b, a)
        return found if op is ast.In else scalars.negate(found)
    if is_number(a) and is_number(b):
        return scalars.compare(op, a, b)
    if is_complex(a) or is_complex(b):
        return complex_calls.binary(t, op, a, b)
    arrayed = (SmallArray, Masked, *_SYMBOLIC)
    if isinstance(a, arrayed) or isinstance(b, arrayed):
        return arrays.elementwise(lambda x, y: scalars.compare(op, x, y), a, b)
    if special_methods.is_compared(a, op) or special_methods.is_compared(b, op):
        return special_methods.compare(t, op, a, b, lambda op, a, b: compare(t, op, a, b))
    if op in (ast.Eq, ast.NotEq):
        if is_number(a) or is_number(b):
            return op is ast.NotEq
        if any(isinstance(a, kind) and isinstance(b, kind) for kind in (tuple, list)):
            same = _all_equal(t, a, b)
            return same if op is ast.Eq else scalars.negate(same)
        return (plain(a) == plain(b)) is (op is ast.Eq)
    if isinstance(a, (tuple, list)) and type(a) is type(b):
        return _in_order(t, op, a, b)
    return _ORDER[op](plain(a), plain(b))


def _all_equal(t: Tracer, a: Sequence[Any], b: Sequence[Any]) -> Cond | bool:
    """Whether tuples or lists have equal elements."""
    found: Cond | bool = len(a) == len(b)
    for x, y in zip(a, b, strict=False) if found else ():
        if isinstance(x, Whole) and type(y) is int and y > extents.most(x.expr):
            return False  # as a slice of 3 elements never has 4
        found = scalars.conjunction(found, compare(t, ast.Eq, t.raw(x), t.raw(y)))
    return found


def _in_order(t: Tracer, op: type[ast.cmpop], a: Sequence[Any], b: Sequence[Any]) -> Cond | bool:
    """A comparison of tuples or lists: of the first elements that differ, or of the lengths."""
    found: Cond | bool = _ORDER[op](len(a), len(b))
    strict = ast.Lt if op in (ast.Lt, ast.LtE) else ast.Gt
    for x, y in reversed(list(zip(map(t.wrap, a), map(t.wrap, b), strict=False))):
        tied = scalars.conjunction(compare(t, ast.Eq, x, y), found)
        found = scalars.disjunction(compare(t, strict, x, y), tied)
    return found


_ORDER: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
}


def _identical(t: Tracer, a: Any, b: Any) -> Cond | bool:
    if a is None or b is None:
        return a is b
    if isinstance(a, str) and isinstance(b, str):
        return a == b  # constants of a module are the same object
    t.changes.update(v.memory.parameter for v in (a, b) if isinstance(v, SymArray))
    if isinstance(a, (Scalar, SmallArray, int)) or isinstance(b, (Scalar, SmallArray, int)):
        if not (isinstance(a, bool) and isinstance(b, bool)):
            raise Refused("'is' between numbers", "compare values with ==")
    return a is b


def _contains(t: Tracer, container: Any, item: Any) -> Cond | bool:
    if isinstance(container, (SmallArray, Masked, Scalar, *_SYMBOLIC)):
        raise Refused(f"'in' on {describe(container)}", "compare with == and np.any")
    if isinstance(item, (SmallArray, Masked, *_SYMBOLIC)):
        raise _truth_of_array()
    if isinstance(container, Stream):
        with t.piecemeal():
            container = t.spend(container)
    if (found := special_methods.special(t, container, "__contains__", item)) is not NotImplemented:
        return truth(t, found)
    container = special_methods.iterated(t, container)
    if isinstance(container, (list, tuple, set, frozenset)):
        values = [t.wrap(v) for v in container]
        if (
            is_number(item)
            or isinstance(item, (tuple, list))
            or any(special_methods.is_compared(v, ast.Eq) for v in (item, *values))
        ):
            return _among(t, item, values)
    if isinstance(container, (list, tuple)):
        return plain(item) in [plain(t.wrap(v)) for v in container]
    return plain(item) in container


def _among(t: Tracer, item: Any, values: Sequence[Any]) -> Cond | bool:
    """Whether a number is one of some values."""
    found: Cond | bool = False
    for v in values:
        if v is item:
            return True  # as in Python, also for nan
        found = scalars.disjunction(found, truth(t, compare(t, ast.Eq, v, item)))
        if found is True:
            break
    return found


def _of_arrays(t: Tracer, op: type[ast.operator], a: Any, b: Any) -> Any:
    """`a op b`, one of which is an array."""
    for v, other in ((a, b), (b, a)):
        if isinstance(v, Listed) and not isinstance(other, (SymArray, SmallArray, Selected)):
            raise Refused(f"'{scalars.SYMBOLS[op]}' of {describe(v)}", "make an array of it")
    if op is ast.MatMult:
        return folding.matmul(t, symbolic.symbolic(t, a), symbolic.symbolic(t, b))
    return symbolic.elementwise(t, lambda x, y: scalars.binary(op, x, y), a, b)
