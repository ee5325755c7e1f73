"""Integers that are unknown when traced: the sizes of axes, indices, facts about them, and run-time
checks where no fact is known."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from symdiff import ir
from symdiff.frontend.trace import implied, scalars
from symdiff.frontend.trace.recorder import active
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import Refused, SymArray, as_real, describe
from symdiff.ir import ONE, ZERO, Expr, integers, loop_program
from symdiff.ir.integers import linear


# ------------------------------------------------------------------------ ranges
def nonnegative(t: Tracer, e: Expr) -> bool:
    """Whether an integer is visibly not negative, given the ranges of the loops, nonnegative sizes,
    and the facts on the path."""
    low = linear(integers.least(linear(e), t.ranges))
    if integers.never_negative(low, t.ranges, t.sizes):
        return True
    return any(implied.follows(ir.le(ZERO, n), t.facts) for n in (low, e)) if t.facts else False


def positive(t: Tracer, e: Expr) -> bool:
    """Whether an integer is visibly at least 1."""
    return nonnegative(t, ir.sub(e, ONE))


def most(e: Expr) -> float:
    """An upper bound of a size, from the constants that bound slices."""
    found: dict[Expr, float] = {}
    for n in ir.topological((e,)):
        if n.op is ir.WHERE:
            c, a, b = n.args
            is_least = c.op in (ir.LT, ir.LE) and c.args == (a, b)
            found[n] = min(found[a], found[b]) if is_least else max(found[a], found[b])
        else:
            k = ir.rational(n)
            found[n] = math.inf if k is None else float(k)
    return found[e]


# ------------------------------------------------------------------------- sizes
def extent(t: Tracer, n: Expr) -> Expr:
    """The size of an axis; a slice may give a negative size, which means 0."""
    return n if nonnegative(t, n) else ir.where(ir.lt(n, ZERO), ZERO, n)


def size(t: Tracer, shape: Sequence[Expr]) -> Any:
    """The number of elements of an array."""
    return scalars.whole(product(t, shape))


def product(t: Tracer, shape: Sequence[Expr]) -> Expr:
    total = ONE
    for n in shape:
        total = ir.mul(total, extent(t, n))
    return total


def dims(t: Tracer, shape: Sequence[Expr]) -> tuple[Any, ...]:
    """A shape as Python sees it: integers where they are known."""
    return tuple(scalars.whole(extent(t, n)) for n in shape)


def shape_of(value: Any) -> tuple[Expr, ...]:
    """A shape given by the user: an integer or several."""
    parts = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    t = active.get()
    whole = [t.whole(n, f"{describe(n)} is the size of an axis") for n in parts]
    return tuple(as_real(n).expr for n in whole)


def new_shape(t: Tracer, value: Any) -> tuple[Expr, ...]:
    """The shape of a new array: no size is negative, which is checked at run time if it is
    not known."""
    sizes = shape_of(value)
    for n in sizes:
        if (known := ir.integer(n)) is not None and known < 0:
            raise Refused("the size of an axis is negative")
        if not nonnegative(t, n):
            t.require(ir.le(ZERO, n), "value", "the size of an axis is negative")
    return sizes


def agree(a: Expr, b: Expr) -> bool:
    """Whether two sizes are visibly the same."""
    return linear(ir.sub(a, b)) is ZERO or integers.always(ir.eq(a, b))


def same_size(t: Tracer, a: Expr, b: Expr) -> None:
    """Require that two axes have the same size; checked at run time if it is not known."""
    if agree(a, b):
        return
    difference = linear(ir.sub(a, b))
    if difference.op is ir.CONST:
        raise Refused(f"axes of sizes {a} and {b} do not fit together")
    t.require(ir.eq(a, b), "value", "the sizes of two axes do not fit together")


def fits(t: Tracer, n: Expr, m: Expr) -> None:
    """Require that an axis has a given size, or 1."""
    if n is ONE:
        return
    if repeated(n, m):
        holds = ir.or_(ir.lt(ZERO, n), ir.le(m, ZERO))
        if not integers.always(holds):
            t.require(holds, "value", "the sizes of two axes do not fit together")
        return
    stretched(t, n, m)


def stretched(t: Tracer, a: Expr, b: Expr) -> None:
    """Require that two axes have the same size, or one of them 1; see `loop_program.Stretches`."""
    if agree(a, b):
        return
    t.stretch(a, b)
    same_size(t, a, b)


def repeated(n: Expr, m: Expr) -> bool:
    """Whether an axis is repeated to a wanted size: it has at most one element, as in a slice such
    as `x[:1]`."""
    if n is ONE:
        return True
    return linear(ir.sub(n, m)) is not ZERO and integers.always(ir.le(n, ONE))


def filled(t: Tracer, n: Expr, m: Expr) -> Expr:
    """The size of an elementwise result of an axis of size at most 1, and another axis."""
    some = ir.lt(ZERO, n)
    few = ir.le(m, ONE)
    if not integers.always(ir.or_(some, few)):
        t.require(ir.or_(some, few), "value", "the sizes of two axes do not fit together")
    return m if integers.always(ir.or_(some, ir.le(m, ZERO))) else ir.where(some, m, ZERO)


def common_shape(t: Tracer, shapes: Sequence[Sequence[Expr]]) -> tuple[Expr, ...]:
    """The shape of an elementwise result; axes of unknown size must agree at run time, unless
    they are found to be 1."""
    rank = max(map(len, shapes))
    result: list[Expr] = []
    for k in range(rank):
        found = ONE
        for shape in shapes:
            n = shape[k - rank + len(shape)] if k - rank + len(shape) >= 0 else ONE
            if n is ONE or n is found:
                continue
            if found is ONE:
                found = n
                continue
            if repeated(n, found):
                found = filled(t, n, found)
                continue
            if repeated(found, n):
                found = filled(t, found, n)
                continue
            stretched(t, found, n)
            found = found if found.op is ir.CONST else n if n.op is ir.CONST else found
        result.append(found)
    return tuple(result)


def sizes_must_be_known(values: Iterable[SymArray]) -> NoReturn:
    """Refuse a decorated function of arrays whose computation depends on their sizes, if a trace
    with known sizes of arguments does not help."""
    t = active.get()
    sizes = loop_program.leaves(tuple(n for v in values for n in v.shape))
    t.decisive.update(dict.fromkeys(n for n in sizes if n in t.parameter_sizes))
    raise t.error("the computation depends on a size that is not known when traced")
