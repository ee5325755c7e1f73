"""What a use implies for a parameter: that it is an array in the call, or of integers. The
function is then traced again (`Retrace`)."""

from __future__ import annotations

from typing import Any

from symdiff import ir
from symdiff.frontend.trace.recorder import Recorder, Retrace, active
from symdiff.frontend.trace.values import (
    Ratio,
    Real,
    Refused,
    Scalar,
    SmallArray,
    of_integers,
)
from symdiff.ir import Expr, loop_program

_OF_INTEGERS = frozenset((ir.VAR, ir.CONST, ir.ADD, ir.SUB, ir.MUL, ir.NEG))
_GIVEN = frozenset((loop_program.INDEX, loop_program.LOAD))


def integer_hint(value: Any, otherwise: str) -> str:
    """What to do about a number that is used where an integer must be known; `otherwise` if no
    parameter can be named, and with it if that is no integer."""
    if isinstance(value, Ratio):
        return f"{otherwise}: divide by '//'"
    nodes = ir.topological((value.expr,)) if isinstance(value, Real) else ()
    t = active.get()
    found = [str(e.value) for e in nodes if e.op is ir.VAR]
    names = list(dict.fromkeys(t.parameter_of.get(n, n) for n in found))
    if any(e.op in (loop_program.ARRAY, loop_program.LOAD) for e in nodes):
        return otherwise
    if any(e.op is loop_program.INDEX for e in nodes):
        return f"{otherwise}; or compute it outside of the function and pass the integer"
    if not names:
        return otherwise
    if names == found and len(names) == 1 and all(e.op in _OF_INTEGERS for e in nodes):
        return f"if it is an integer known in the call, annotate it: {names[0]}: int"
    named = f'"{names[0]}"' if len(names) == 1 else "(" + ", ".join(f'"{n}"' for n in names) + ")"
    return f"{otherwise}; or, where there is no derivative by it, static={named}"


def not_whole(t: Recorder, value: Any, message: str, hint: str) -> Refused:
    """The refusal of a number where only an integer is allowed, if a trace with integer
    parameters does not help."""
    if isinstance(value, Real):
        retrace_integers(t, value.expr)
    return Refused(message, integer_hint(value, hint))


def number_of(value: Any) -> Any:
    """A number, also from an array without dimensions, such as np.asarray makes of it."""
    if isinstance(value, SmallArray) and not value.items.ndim:
        return value.items.item()
    return value


DICT_HINT = "pass a dict: a parameter is one where the call passes one"

CHANGED = "it is changed in place"
"""A use that another name of an array sees."""

REDUCED = "it is reduced"
"""A use that is also valid for a number."""


def used_as_array(value: Any, what: str, rank: int = 1) -> None:
    """Trace again with a parameter as an array, if a number computed from it is used
    as one."""
    given, value = value, number_of(value)
    if not isinstance(value, Scalar):
        _may_be_an_array(given, what)
        return
    t = active.get()
    for v in ir.variables((value.expr,)):
        name = str(v.value)
        if t.shapes is not None and name not in t.shapes:
            continue  # a computed number, such as the sum of an array
        if t.shapes is None and name in t.floats:
            continue  # a number, by its annotation
        named = v is value.expr and what != REDUCED
        if t.shapes is None or t.shapes.get(name, (0, ""))[0] or named:
            raise Retrace(name, rank, what)
    _may_be_an_array(value, what)


def _may_be_an_array(value: Any, what: str) -> None:
    """A result of an array need not show that, such as `x - x` or `np.ones_like(x)`: where
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
    """Trace again with a parameter as an array, if a number depends on one that is an
    array in the call."""
    t, given, value = active.get(), value, number_of(value)
    if isinstance(given, SmallArray):
        _may_be_an_array(given, what)
    if t.shapes is None or not isinstance(value, Scalar):
        return
    for v in ir.variables((value.expr,)):
        if t.shapes.get(str(v.value), (0, ""))[0]:
            raise Retrace(str(v.value), what=what)
        held = t.shapes.get(str(v.value), (0, ""))[1] == "0"
        if held and v is value.expr and what == CHANGED:
            raise Refused(f"an array without dimensions has two names: {what}", "pass a number")


def note_change(t: Recorder, value: Any) -> None:
    """Record that a parameter that is an array without axes in the call is changed in place."""
    if isinstance(value, Scalar) and value.expr.op is ir.VAR and t.shapes is not None:
        if t.shapes.get(str(value.expr.value), (0, ""))[1] == "0":
            t.changes.add(str(value.expr.value))


def changed_in_call(value: Scalar) -> None:
    """The same for a number with two names if one is changed: the change of an array would be
    visible under the other. Elements that are passed one by one are exempt: they are numbers in
    Python too."""
    if not active.get().one_by_one:
        array_in_call(value, CHANGED)


def retrace_integers(t: Recorder, e: Expr) -> None:
    """Trace again with a parameter as an array of integers, or as an integer, if an index is
    computed from one: other values are not indices in Python."""
    _retrace_numbers(t, e)
    for n in loop_program.leaves((e,)):
        if n.op is not loop_program.ARRAY or n.value[1] != "f":
            continue
        name = loop_program.name_of(n)
        if name in t.array_parameters and (t.shapes is None or t.shapes[name][1] == "i"):
            raise Retrace(name, integers=True)


def known_real(t: Recorder, name: str) -> bool:
    """Whether a number is a float in the call: it is marked as one, or is not among those that
    are traced as integers."""
    assert t.shapes is not None
    return t.shapes[name][1] == "r" or of_integers.get()


def _retrace_numbers(t: Recorder, e: Expr) -> None:
    """Trace again with a parameter as an integer."""
    if t.shapes is None:
        return
    stack, found, seen = [e], [], set()
    while stack:
        n = stack.pop()
        if n in seen or n.op in _GIVEN:
            continue
        seen.add(n)
        if n.op is not ir.WHERE and n.op not in _OF_INTEGERS:
            return
        if n.op is ir.VAR:
            found.append(str(n.value))
        stack += n.args[1:] if n.op is ir.WHERE else n.args
    for name in found:
        if name in t.shapes and not t.shapes[name][0] and not known_real(t, name):
            raise Retrace(name, integers=True)
