"""Compute sums that may cancel together with the errors of their terms.

Before:  (x*(x*x - 2) + 1)/(x*x + 1)
After:   compensated(x*(x*x - 2) + 1)/(x*x + 1)

Requires: outputs to be lowered with `fuse`.
Ensures: the same values. `compensated` marks sums without functions and quotients (see
`lowering.compensated.evaluate`), if that takes less time than recomputing the flagged elements.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from symdiff import ir
from symdiff.ir import ADD, SUB, Expr
from symdiff.ir.functions import EXP, EXPM1
from symdiff.lowering.compensated.evaluate import is_plain_sum
from symdiff.lowering.lower import lower
from symdiff.lowering.target import (
    ARRAY_CHAIN,
    COMPENSATED,
    COMPENSATED_EXP,
    COMPENSATED_EXPM1,
    PLAIN,
)
from symdiff.passes.accuracy.error_test import ErrorTest
from symdiff.passes.accuracy.flagged import shares

AGAIN = 600
"""Cost of a flagged element in operations."""
TESTS = 12
"""Cost of the tests of an exponential in operations."""
MAX_PRICE, MAX_NODES = 32, 200
"""Longer sums are left unchanged: they tend to share their errors with other factors."""
MAX_PROGRAM = 1000
"""Largest number of nodes of a program."""

LONG = 8
"""Powers of inputs from this exponent on are compensated, which costs few operations."""
_EXPONENTIALS = {EXP: COMPENSATED_EXP, EXPM1: COMPENSATED_EXPM1}


def compensate_sums(
    outputs: Iterable[Expr], again: int = AGAIN, longest: int = MAX_PRICE
) -> tuple[Expr, ...]:
    """The outputs with `compensated` at the outermost sums that may cancel.

    Parameters
    ----------
    again : cost of a flagged element in operations.
    longest : the most additional operations for a sum.
    """
    outputs = tuple(outputs)
    if len(ir.topological(outputs)) > MAX_PROGRAM:
        return outputs
    work = ErrorTest(fuses=True, chain=ARRAY_CHAIN)
    new: dict[Expr, Expr] = {}
    flags = shares(outputs)
    if flags is None:
        return outputs
    below = [(d, set(ir.topological((o,)))) for o, d in zip(outputs, flags, strict=True)]
    for e in _outermost(outputs, work):
        op = _EXPONENTIALS.get(e.op)
        users = (d for d, nodes in below if e in nodes)
        if _is_long_power(e):
            new[e] = ir.raw(COMPENSATED, (e,))
            continue
        gain = again * max(users) + (TESTS if op is not None else 0)
        compensated = ir.raw(op or COMPENSATED, e.args if op is not None else (e,))
        if _price(e, compensated) < min(gain, longest if op is None else math.inf):
            new[e] = compensated
    return _replaced(outputs, new) if new else outputs


def _outermost(outputs: tuple[Expr, ...], work: ErrorTest) -> list[Expr]:
    """The outermost sums that may cancel and whose errors can be computed."""
    found: dict[Expr, None] = {}
    for e in ir.reached(outputs, lambda e: () if e in found else e.args[::-1]):
        inner = e.args[0] if e.op in _EXPONENTIALS else e
        loose = e.op in _EXPONENTIALS or e.op in (ADD, SUB)
        loose = loose and not work.of(e).static and bool(inner.args)
        loose = loose or _is_long_power(e)
        if loose and is_plain_sum(inner) and _is_first_order(inner, e is not inner):
            found[e] = None
    return list(found)


def _is_first_order(e: Expr, roots: bool) -> bool:
    """Whether no two errors that may be large relative to their values are multiplied; only
    then is what remains of the errors in proportion to them."""
    nodes = ir.topological((e,))
    if len(nodes) > MAX_NODES:
        return False
    work = ErrorTest(chain=ARRAY_CHAIN)
    work.of(e)

    def loose(n: Expr) -> bool:
        return work.bounds[n].more is not ir.ZERO

    for n in nodes:
        if n.op is ir.POW and (loose(n.args[0]) or (n.args[1] is ir.HALF and not roots)):
            return False
        if n.op is ir.MUL and all(loose(a) for a in n.args):
            return False
    return True


def _is_long_power(e: Expr) -> bool:
    """Whether an input is raised to a power whose roundings add up."""
    if e.op is not ir.POW or e.args[0].op is not ir.VAR:
        return False
    return LONG <= (ir.integer(e.args[1]) or 0) <= ARRAY_CHAIN


def _price(e: Expr, compensated: Expr) -> int:
    """Cost of the compensation in operations."""
    sizes = [
        sum(bool(n.args) for n in ir.topological(lower((root,), fuse=True, chain=ARRAY_CHAIN)))
        for root in (compensated, e)
    ]
    return sizes[0] - sizes[1]


def _replaced(outputs: tuple[Expr, ...], new: dict[Expr, Expr]) -> tuple[Expr, ...]:
    known: dict[Expr, Expr] = dict(new)
    inside = set(ir.topological(e.args[0] for e in new.values()))
    for e in ir.topological(outputs):
        if e in inside and e not in known and (e.op in (ADD, SUB) or _is_root(e)):
            known[e] = ir.raw(PLAIN, (e,))  # computed there anyway
        elif e not in known:
            known[e] = ir.with_args(e, tuple(known[a] for a in e.args))
    return tuple(known[o] for o in outputs)


def _is_root(e: Expr) -> bool:
    return e.op is ir.POW and e.args[1] is ir.HALF
