"""Compute outputs together with the rounding errors of all their parts.

Before:  log(x)/(x - 1), x + 1
After:   compensated(log(x)/(x - 1)), plain(x + 1)

Requires: any DAG.
Ensures: the same values, within a few units of rounding unless `passes.accuracy.error_test` flags
them: `compensated` marks outputs that may be off by more, where the errors of all operations
can be computed (`lowering.compensated.evaluate`). Common parts are computed once. The result is
empty if no output has such errors, or the program would take too long to compile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from symdiff import ir
from symdiff.ir import POW, ZERO, Expr, Op
from symdiff.ir.functions import ATAN, ATAN2, EXP, GAMMA, HYPOT, LGAMMA, LOG, PI
from symdiff.ir.functions.gamma import by_log_gamma, log_gamma
from symdiff.lowering.compensated.evaluate import is_compensable
from symdiff.lowering.compensated.functions import CORRECTED
from symdiff.lowering.lower import is_native, lower
from symdiff.lowering.target import ARRAY_CHAIN, COMPENSATED, LIGHT, PLAIN
from symdiff.passes.accuracy.cancelling_sums import compensate_sums
from symdiff.passes.accuracy.error_test import ErrorTest
from symdiff.passes.accuracy.far_constants import without_far_constants
from symdiff.passes.accuracy.flagged import worst_share
from symdiff.passes.accuracy.gather_fractions import gather

FUNCTION, OPERATION = 100, 8
"""Operations for a function with its error, and for any other operation."""
MAX_OPERATIONS = 6000
OFTEN = 0.25
"""Share of flagged elements above which recomputing them takes longer."""
MAX_REFINED, MOSTLY = 80, 0.5
"""In larger programs, other forms are not tried if the share of flagged elements is this large."""
MOST_OF = 0.9
"""Functions to fewer bits must reduce the operations to this part."""
MAX_SAMPLED = 600
"""Largest number of nodes of a program for which that share is estimated."""


def compensate(outputs: Iterable[Expr], light: bool = False) -> tuple[Expr, ...]:
    """The outputs as they are computed with their errors; none if they cannot be.
    With `light`, functions have fewer bits."""
    outputs = elementary(outputs)
    nodes = ir.topological(outputs)
    price = sum(FUNCTION if e.op in CORRECTED else OPERATION for e in nodes if e.args)
    able = [is_compensable(o) for o in outputs]
    if price > MAX_OPERATIONS or not any(a and o.args for a, o in zip(able, outputs, strict=True)):
        return ()
    work, op = ErrorTest(chain=ARRAY_CHAIN), LIGHT if light else COMPENSATED
    return tuple(_marked(o, work, op) if a else o for a, o in zip(able, outputs, strict=True))


def first_tier(
    outputs: Sequence[Expr],
    corrected: Callable[[bool], tuple[Expr, ...] | None] | None,
    *,
    strict: bool,
) -> tuple[Expr, ...]:
    """The outputs as computed for all elements: unchanged with `strict`, for numbers, or in the
    form that cancels least; `corrected` corrects them if even these are often flagged, on request
    with functions to fewer bits."""
    first = tuple(outputs)

    def best() -> tuple[Expr, ...]:
        assert corrected is not None
        full = corrected(False)
        light = corrected(True) if full and not strict else None
        return light if light and full and _pays(light, full) else full or first

    large = len(ir.topological(first)) > MAX_REFINED and not strict
    if corrected is not None and large and often_flagged(first, MOSTLY, strict=strict):
        return best()
    if not strict:
        first = compensate_sums(without_far_constants(gather(first)))
    if corrected is not None and often_flagged(first, strict=strict):
        return best()
    return first


def _pays(light: Sequence[Expr], full: Sequence[Expr]) -> bool:
    """Whether functions to fewer bits, with all bits where these are not enough, take less time."""
    few, many = (len(ir.topological(lower(o, fuse=True, chain=ARRAY_CHAIN))) for o in (light, full))
    if few > MOST_OF * many:
        return False
    share = worst_share(light)
    return share is None or share * many < many - few


def often_flagged(outputs: Sequence[Expr], often: float = OFTEN, *, strict: bool) -> bool:
    """Whether some output is flagged so often that compensating all is faster."""
    if len(ir.topological(outputs)) > MAX_SAMPLED:
        return False
    share = worst_share(outputs, strict=strict)
    return share is not None and share > often


def _marked(e: Expr, work: ErrorTest, op: Op) -> Expr:
    if not e.args or e.op.boolean:
        return e
    return ir.raw(PLAIN if work.of(e).static else op, (e,))


def elementary(outputs: Iterable[Expr]) -> tuple[Expr, ...]:
    """The outputs with functions that have no correction in terms of others."""
    outputs = tuple(outputs)
    new: dict[Expr, Expr] = {}
    for e in ir.topological(outputs):
        args = tuple(new[a] for a in e.args)
        if e.op in _IN_OTHERS:
            new[e] = _IN_OTHERS[e.op](*args)
        elif e.op.expand is None or is_native(e.op):
            new[e] = ir.rebuild(e, args)
        else:
            (new[e],) = elementary((e.op.expand(*args),))
    return tuple(new[o] for o in outputs)


def _power(base: Expr, exponent: Expr) -> Expr:
    """A power as few factors, or else by logarithms, for positive bases."""
    e, q = ir.power(base, exponent), ir.rational(exponent)
    if e.op is not POW or is_compensable(e) or (q is not None and q.denominator == 1):
        return e
    return EXP(exponent * LOG(base))


def _angle(y: Expr, x: Expr) -> Expr:
    """atan2, by the quotient that is less than 1."""
    steep = ir.where(ir.lt(y, ZERO), -PI() / 2, PI() / 2) - ATAN(x / y)
    back = ir.where(ir.lt(y, ZERO), -PI(), PI())
    flat = ATAN(y / x) + ir.where(ir.lt(x, ZERO), back, ZERO)
    return ir.where(ir.lt(ir.abs_(y), ir.abs_(x)), flat, steep)


_IN_OTHERS: dict[Op, Callable[..., Expr]] = {
    LGAMMA: log_gamma,
    GAMMA: by_log_gamma,
    HYPOT: lambda x, y: ir.sqrt(x * x + y * y),
    POW: _power,
    ATAN2: _angle,
}
"""Functions that have no correction of their own."""
