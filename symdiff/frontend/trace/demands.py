"""What a use says of a parameter: that it is an array in the call, or made of integers. The
function is then traced again (`Retrace`)."""

from __future__ import annotations

from typing import Any

from symdiff import ir
from symdiff.frontend.trace.recorder import Recorder, Retrace, active
from symdiff.frontend.trace.values import Real, Refused, Scalar, SmallArray
from symdiff.ir import Expr, loop_program

_OF_INTEGERS = frozenset((ir.VAR, ir.CONST, ir.ADD, ir.SUB, ir.MUL, ir.NEG))


def integer_hint(value: Any) -> str:
    """What to do about a parameter that is used where an integer must be known."""
    nodes = ir.topological((value.expr,)) if isinstance(value, Real) else ()
    names = [e for e in nodes if e.op is ir.VAR]
    if len(names) == 1 and all(e.op in _OF_INTEGERS for e in nodes):
        return f"if it is an integer known in the call, annotate it: {names[0].value}: int"
    return ""


def number_of(value: Any) -> Any:
    """A number in an array without dimensions, such as np.asarray makes of it."""
    if isinstance(value, SmallArray) and not value.items.ndim:
        return value.items.item()
    return value


CHANGED = "it is changed in place"
"""A use that another name of an array sees."""

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
        held = t.shapes.get(str(v.value), (0, ""))[1] == "0"
        if held and v is value.expr and what == CHANGED:
            raise Refused(f"an array without dimensions has two names: {what}", "pass a number")


def retrace_integers(t: Recorder, e: Expr) -> None:
    """Trace again with a parameter as an array of integers, if an index is made of one."""
    for n in loop_program.leaves((e,)):
        if n.op is not loop_program.ARRAY or n.value[1] != "f":
            continue
        name = loop_program.name_of(n)
        if name in t.array_parameters and (t.shapes is None or t.shapes[name][1] == "i"):
            raise Retrace(name, integers=True)
