"""What a loop of unknown length iterates over: ranges, rows of arrays, and the results of
`enumerate`, `zip` and `reversed` on them."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence as PySequence
from typing import Any

from symdiff import ir
from symdiff.frontend.arrays import lists, rounded, selecting, symbolic
from symdiff.frontend.trace import scalars
from symdiff.frontend.trace.extents import positive, same_size
from symdiff.frontend.trace.recorder import active
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import (
    ComplexNumber,
    Listed,
    Record,
    Refused,
    Selected,
    Sequence,
    SymArray,
    Whole,
    as_real,
    describe,
    is_complex,
)
from symdiff.ir import ONE, ZERO, Expr, loop_program
from symdiff.ir.integers import linear


def of(value: Any) -> Sequence | None:
    """The sequence that a loop over this value iterates over; None if its length is known."""
    if isinstance(value, Sequence):
        return value
    if isinstance(value, Listed):
        items = value
        return Sequence(
            items.storage.shape[0], lambda k: lists.subscript(active.get(), items, Whole(k))
        )
    if is_complex(value) and isinstance(value.fields["real"], SymArray):
        real, imag = (of(v) for v in value.fields.values())
        assert real is not None and imag is not None
        return Sequence(
            real.count,
            lambda k: Record(ComplexNumber, {"real": real.item(k), "imag": imag.item(k)}),
        )
    if isinstance(value, Selected):
        value = symbolic.symbolic(active.get(), value)
    if isinstance(value, SymArray):
        if not value.shape:
            raise Refused("a loop over an array without dimensions")
        t = active.get()
        return Sequence(value.shape[0], lambda k: selecting.subscript(t, value, Whole(k)))
    return None


def of_range(known: range) -> Sequence:
    """A known range, to be kept as a loop."""
    start, step = ir.const(known.start), ir.const(known.step)
    return Sequence(ir.const(len(known)), lambda k: scalars.whole(ir.add(start, ir.mul(step, k))))


def symbolic_range(*bounds: Any) -> Sequence:
    """`range` with unknown bounds."""
    bounds = tuple(rounded.as_whole(active.get(), v, f"range() of {describe(v)}") for v in bounds)
    start, stop, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    if step == 0 or isinstance(step, bool):
        raise Refused("the step of a range must be an integer, and not 0")
    first, last = as_real(start).expr, as_real(stop).expr
    if not isinstance(step, int):
        return _with_step(active.get(), first, last, step.expr)
    span = linear(ir.sub(last, first) if step > 0 else ir.sub(first, last))
    k = abs(step)
    if k > 1:
        span = ir.apply(loop_program.FLOORDIV, ir.add(span, ir.const(k - 1)), ir.const(k))
    return Sequence(span, lambda i: scalars.whole(ir.add(first, ir.mul(ir.const(step), i))))


def _with_step(t: Tracer, first: Expr, last: Expr, step: Expr) -> Sequence:
    """A range with an unknown step: up or down."""
    t.require(ir.ne(step, ZERO), "value", "the step of a range is 0")
    up = linear(ir.add(ir.sub(last, first), ir.sub(step, ONE)))
    count = ir.apply(loop_program.FLOORDIV, up, step)
    if not positive(t, step):
        down = linear(ir.add(ir.sub(last, first), ir.add(step, ONE)))
        count = ir.where(ir.lt(ZERO, step), count, ir.apply(loop_program.FLOORDIV, down, step))
    return Sequence(count, lambda i: scalars.whole(ir.add(first, ir.mul(step, i))))


def enumerated(found: Sequence, start: Any) -> Sequence:
    first = as_real(start).expr
    return Sequence(found.count, lambda k: (scalars.whole(ir.add(first, k)), found.item(k)))


def backwards(found: Sequence) -> Sequence:
    last = ir.sub(found.count, ONE)
    return Sequence(found.count, lambda k: found.item(ir.sub(last, k)))


def together(columns: PySequence[Any], strict: bool = False) -> Sequence:
    """Rows of several sequences, until the shortest ends; `strict`: of equal length."""
    found = [of(c) or _of_known(c) for c in columns]
    count = found[0].count
    for s in found[1:] if strict else ():
        same_size(active.get(), _at_least_none(s.count), _at_least_none(count))
    for s in found[1:]:
        if s.count is not count:
            count = _shorter(count, s.count)
    return Sequence(count, lambda k: tuple(s.item(k) for s in found))


def _at_least_none(count: Expr) -> Expr:
    """A count, or 0 if it is negative."""
    return count if count.op is loop_program.INDEX else ir.where(ir.lt(count, ZERO), ZERO, count)


def product(columns: PySequence[Any]) -> Sequence:
    """Every combination; the last column varies fastest."""
    found = [of(c) or _of_known(c) for c in columns]
    count = ONE
    for s in found:
        count = ir.mul(count, _at_least_none(s.count))

    def item(k: Expr) -> tuple[Any, ...]:
        values: list[Any] = []
        for n, s in enumerate(reversed(found)):
            last = n == len(found) - 1
            values.append(s.item(k if last else ir.apply(loop_program.MOD, k, s.count)))
            k = ir.apply(loop_program.FLOORDIV, k, s.count)
        return tuple(reversed(values))

    return Sequence(count, item)


def of_shape(shape: PySequence[Expr]) -> Sequence:
    """The indices of an array of this shape."""
    return product([Sequence(n, scalars.whole) for n in shape])


def _of_known(column: Any) -> Sequence:
    if isinstance(column, range):
        return of_range(column)
    array = symbolic.symbolic(active.get(), column)
    found = of(array)
    assert found is not None
    return found


def _shorter(a: Expr, b: Expr) -> Expr:
    if a.op is ir.CONST and b.op is ir.CONST:
        return a if a.value <= b.value else b
    return ir.where(ir.lt(a, b), a, b) if a is not ZERO else a


def involved(values: Iterable[Any]) -> bool:
    """Whether arguments involve sizes that are unknown when traced."""
    return any(
        isinstance(v, (SymArray, Selected, Sequence, Listed, Whole))
        or (is_complex(v) and involved(v.fields.values()))
        or (isinstance(v, (list, tuple)) and involved(v))
        for v in values
    )
