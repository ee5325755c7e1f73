"""Errors of arithmetic that Python raises in statements of a `try`.

Before:  y = math.log(x) / z
After:   [(ValueError, x <= 0), (ZeroDivisionError, z == 0)]

Requires: a statement that is traced while a `Journal` is open. Ensures: each operation on Python's
numbers and each function of math in it records the condition of each error that it raises, in
Python's order. Code that may raise other errors is recorded by its name.
"""

from __future__ import annotations

import ast
import functools
import itertools
import math
import sys
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import FunctionType, MethodType
from typing import Any

import flint
import numpy as np

from symdiff import ir
from symdiff.frontend.source import is_own, of_library
from symdiff.frontend.trace import finiteness, scalars
from symdiff.frontend.trace.closures import Closure
from symdiff.frontend.trace.frames import is_changed
from symdiff.frontend.trace.recorder import Recorder
from symdiff.frontend.trace.scalars import as_cond
from symdiff.frontend.trace.values import (
    Cond,
    Method,
    Real,
    Refused,
    Scalar,
    SmallArray,
    SymArray,
    as_real,
    is_number,
)
from symdiff.ir import AND, FALSE, LE, LT, OR, TRUE, ZERO, Expr, functions

Error = tuple[type[BaseException], Expr]
"""An error, and the condition under which it is raised."""


class Certain(Exception):  # noqa: N818
    """The last evaluation raises an error whatever the arguments are; the journal has it."""


@dataclass
class Journal:
    """The errors that a statement may raise.

    Attributes
    ----------
    loops : kept loops around the statement.
    errors : the errors of arithmetic, in the order of evaluation.
    of_numpy : whether some of them are divisions by zero of numbers that may be NumPy's.
    changes : whether the statement may change something before them.
    unknown : the code that may raise other errors.
    outside : open stretches of the trace, logs of memory, and uses of iterators when the statement
        began.
    bound : whether an expression in it has bound a name.
    """

    loops: int
    outside: tuple[int, int, int]
    errors: list[Error] = field(default_factory=list)
    of_numpy: bool = False
    changes: bool = False
    unknown: str = ""
    bound: bool = False


LOOP = "a loop that is kept"
"""The record of an error in a kept loop, which the error would leave."""

journal: ContextVar[Journal | None] = ContextVar("what a statement may raise", default=None)

_HARMLESS = (
    abs, min, max, len, range, enumerate, zip, sum, any, all, isinstance, bool, tuple, list, reversed, print,
    np.all, np.allclose, np.any, np.array, np.asanyarray, np.asarray, np.atleast_1d, np.atleast_2d,
    np.clip, np.concatenate, np.copy, np.cross, np.cumsum, np.diag, np.diff, np.dot, np.eye, np.full,
    np.hstack, np.inner, np.isclose, np.linalg.det, np.linalg.norm, np.max, np.mean, np.min, np.ones,
    np.ones_like, np.outer, np.prod, np.ravel, np.reshape, np.stack, np.std, np.sum, np.trace,
    np.transpose, np.var, np.vstack, np.where, np.zeros, np.zeros_like,
)  # fmt: skip
"""Functions that raise no error that depends on numbers."""
_METHODS = frozenset((
    "all", "any", "append", "astype", "clip", "copy", "cumsum", "diagonal", "dot", "extend", "fill",
    "flatten", "get", "items", "keys", "max", "mean", "min", "prod", "ravel", "reshape", "squeeze",
    "std", "sum", "swapaxes", "trace", "transpose", "values", "var",
))  # fmt: skip
"""Methods of arrays and containers that raise no such error."""
_ROUNDINGS = (int, round, math.floor, math.ceil, math.trunc)
"""Functions that convert numbers to integers, which nan and infinity have none of."""


def note(t: Recorder, kind: type[BaseException], condition: Cond | bool) -> None:
    """Record an error that is raised under a condition, on the traced path."""
    open_ = journal.get()
    c = ir.and_(t.path, as_cond(condition).expr)
    if open_ is None or c is FALSE:
        return
    if len(t.counts) > open_.loops:
        open_.unknown = LOOP
    note_changes(t, open_)
    open_.errors.append((kind, c))
    if c is TRUE:
        raise Certain


def note_changes(t: Recorder, open_: Journal) -> None:
    """Record whether a statement has changed something up to here."""
    open_.changes |= open_.bound or t.partial or _has_changed(t, *open_.outside)


def _has_changed(t: Recorder, regions: int, memories: int, spent: int) -> bool:
    """Whether containers, arrays or iterators have changed since then."""
    if len(t.spent) > spent:
        return True
    logs = (r.log.values() for r in t.regions[regions:])
    return any(is_changed(c, before) for log in logs for c, before in log) or any(
        memory.leaf is not leaf for log in t.memories[memories:] for memory, leaf in log.items()
    )


def bound() -> None:
    """Record that an expression has bound a name, which a later error does not undo."""
    if (open_ := journal.get()) is not None:
        open_.bound = True


def operation(t: Recorder, op: type[ast.operator], a: Any, b: Any) -> Any:
    """`a op b` of two numbers, with the errors that it raises."""
    if journal.get() is None or op not in _DIVIDING or is_own(t.frame.source.path):
        return scalars.binary(op, a, b)
    python = of_python(t, a, b)
    if python is False:
        return scalars.binary(op, a, b)
    zero = scalars.compare(ast.Eq, a if op is ast.Pow else b, 0)
    if op is ast.Pow:
        below = scalars.conjunction(scalars.compare(ast.Lt, b, 0), _finite(b))
        zero = scalars.conjunction(zero, below)
    open_ = journal.get()
    assert open_ is not None
    open_.of_numpy |= python is None and zero is not False
    note(t, ZeroDivisionError, zero)
    found = scalars.binary(op, a, b)
    if op is ast.Pow and isinstance(found, Real):
        beyond = scalars.conjunction(_finite(a, b), finiteness.infinite(found))
        note(t, OverflowError, scalars.conjunction(scalars.negate(zero), beyond))
    return found


_DIVIDING = (ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)


def of_python(t: Recorder, *values: Any) -> bool | None:
    """Whether numbers are Python's; None if that is not known."""
    if not t.of_numpy():
        return True
    if all(isinstance(v, int) or v.expr.op is ir.CONST for v in map(_bare, values)):
        return True
    only = t.shapes and set(t.shapes) == set(t.array_parameters)
    return False if only and not (t.python_numbers or t.guessed) else None


def _bare(value: Any) -> Any:
    """A number; 0 for a size or an index, which are Python's."""
    return 0 if scalars.is_whole(value) else value


def called(t: Recorder, function: Any, args: tuple[Any, ...]) -> None:
    """Record a call of a function that may raise other errors."""
    open_ = journal.get()
    if open_ is None or open_.unknown or is_own(t.frame.source.path):
        return
    known = (
        getattr(function, "__module__", None) == "math"
        or isinstance(function, np.ufunc)
        or any(function is f for f in (*_HARMLESS, *_ROUNDINGS))
        or _is_users(function)
    )
    if isinstance(function, Method):
        known = function.name in _METHODS
    if function is float:
        known = all(is_number(v) or isinstance(v, (SymArray, SmallArray)) for v in args)
    if not known:
        name = function.name if isinstance(function, Method) else None
        open_.unknown = f"{name or getattr(function, '__name__', 'a function')}()"


def _is_users(function: Any) -> bool:
    """Whether the statements of a function are traced, so that their errors are recorded."""
    fun = function.__func__ if isinstance(function, MethodType) else function
    if isinstance(fun, Closure):
        return True
    if not isinstance(fun, FunctionType) or of_library(fun):
        return False
    return not is_own(fun.__code__.co_filename)


def of_math(t: Recorder, function: Callable[..., Any], args: tuple[Any, ...], found: Any) -> None:
    """Record the errors of a function of math, or a rounding, by the numbers it takes and returns,
    as in C."""
    if journal.get() is None or is_own(t.frame.source.path):
        return
    if function is math.fsum:
        raise Refused("fsum() in 'try', which may raise an OverflowError", "add with sum()")
    if not all(is_number(v) for v in args):
        return
    if any(function is f for f in _ROUNDINGS):
        if len(args) > 1:
            return  # round(nan, 2) is nan
        x = args[0]
        note(t, ValueError, finiteness.undefined(x))
        note(t, OverflowError, finiteness.infinite(x))
    elif isinstance(found, Real) and getattr(function, "__module__", None) == "math":
        numbers = tuple(as_real(v).expr for v in args)
        op = _elementary().get(f"math.{function.__name__}")
        if op is None or op.arity != len(args):
            bad = ir.or_(_outside(found.defined), ir.not_(as_cond(scalars.poleless(found)).expr))
        else:
            bad = FALSE if op.pole is None else op.pole(*numbers)
            bad = ir.or_(_outside(TRUE if op.domain is None else op.domain(*numbers)), bad)
        if op is None or op.domain is op.pole is None:
            bad = ir.or_(bad, _in_gaps(function, args))
        note(t, ValueError, scalars.cond(bad))
        if function is math.ldexp or _overflows(op or found.expr.op, found.expr.args):
            beyond = scalars.conjunction(_finite(*args), finiteness.infinite(found))
            note(t, OverflowError, scalars.conjunction(scalars.cond(ir.not_(bad)), beyond))


@functools.lru_cache(maxsize=1)
def _elementary() -> dict[str, ir.Op]:
    """The elementary functions, by their dotted names."""
    return {name: op for op in functions.TABLE for name in op.names}


@functools.lru_cache(maxsize=256)
def _overflows(op: ir.Op, args: tuple[Expr, ...]) -> bool:
    """Whether a function of doubles may overflow."""
    if op is ir.POW:
        q = ir.rational(args[1])
        return q is None or abs(q) > 1
    if op.arity != 1 or op.ball is None or op.domain is not None:
        return False
    values = (abs(op.ball(flint.arb(x))) for x in (-sys.float_info.max, sys.float_info.max))
    return not all(v < sys.float_info.max for v in values)


def _in_gaps(function: Callable[..., Any], args: tuple[Any, ...]) -> Expr:
    """Where a function of math without a domain raises a ValueError at zeros or infinities, without
    nan."""
    found: Cond | bool = False
    for k, gap in _gaps(function, len(args)):
        there = scalars.compare(ast.Eq, args[k], 0) if gap == 0 else finiteness.infinite(args[k])
        found = scalars.disjunction(found, there)
    for v in args:
        found = scalars.conjunction(found, scalars.negate(finiteness.undefined(v)))
    return as_cond(found).expr


@functools.lru_cache(maxsize=256)
def _gaps(function: Callable[..., Any], arity: int) -> tuple[tuple[int, float], ...]:
    """The positions and arguments (0 or infinity) at which a function of math raises a ValueError,
    others being 1."""
    found = []
    for k, gap in itertools.product(range(arity), (0.0, math.inf)):
        try:
            function(*(gap if k == i else 1.0 for i in range(arity)))
        except ValueError:
            found.append((k, gap))
        except (ArithmeticError, TypeError):
            pass
    return tuple(found)


def _outside(domain: Expr) -> Expr:
    """Where numbers are outside of a domain; not for nan, which Python passes on."""
    if domain.op in (AND, OR):
        join = ir.or_ if domain.op is AND else ir.and_
        return join(*map(_outside, domain.args))
    a, b = domain.args if domain.op in (LE, LT) else (ZERO, ZERO)
    return {LE: ir.lt(b, a), LT: ir.le(b, a)}.get(domain.op, ir.not_(domain))


def _finite(*values: Any) -> Cond | bool:
    found: Cond | bool = True
    for v in values:
        found = scalars.conjunction(found, finiteness.finite(v) if isinstance(v, Scalar) else True)
    return found


__all__ = [
    "LOOP",
    "Certain",
    "Error",
    "Journal",
    "bound",
    "called",
    "journal",
    "note",
    "of_math",
    "operation",
]
