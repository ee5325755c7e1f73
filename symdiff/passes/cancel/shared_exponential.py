"""Exponentials whose arguments differ by logarithms become multiples of one of them.

Before:  s*exp(-((log(s/k) + v)/2)**2/v) - k*exp(-((log(s/k) - v)/2)**2/v)
After:   s*exp(-((log(s/k) + v)/2)**2/v) - k*(s/k)*exp(-((log(s/k) + v)/2)**2/v)

Requires: any DAG.
Ensures: the same values wherever the DAG was defined, and fewer exponentials: an argument is
another one plus multiples of logarithms (whose exponentials are powers), of arguments of
exponentials that occur anyway, and a constant. `passes.cancel.cancel` then recognises equal
numbers, as in the sensitivities of Black and Scholes, where the terms above are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction

from symdiff import ir
from symdiff.ir import ONE, Expr
from symdiff.ir.functions import EXP, LOG, LOG1P
from symdiff.passes.cancel.algebra import linear

MAX_EXPONENTIALS = 12
"""The most exponentials, whose arguments are not sums of simple terms, to compare in pairs."""
LARGEST_POWER = 4
_SIMPLE = (ir.VAR, LOG, LOG1P)

Reduce = Callable[[Expr], Expr | None]
"""Brings a rational expression into lowest terms; None if it is too large."""


def relate(outputs: Iterable[Expr], reduce: Reduce) -> tuple[Expr, ...]:
    """The outputs with exponentials in terms of others, where they can be."""
    outputs = tuple(outputs)
    found = [e for e in ir.topological(outputs) if e.op is EXP]
    terms = {e: linear(e.args[0]) for e in found}
    bent = [e for e in found if not _is_simple(terms[e])]
    if not 2 <= len(bent) <= MAX_EXPONENTIALS:
        return outputs
    single = {m: (c, e) for e in found for m, c in _only(terms[e])}
    bent.sort(key=lambda e: len(ir.topological((e,))))
    kept: list[Expr] = []
    new: dict[Expr, Expr] = {}
    for e in bent:
        for other in kept:
            difference = reduce(e.args[0] - other.args[0])
            factor = None if difference is None else _factor(difference, single)
            if factor is not None:
                new[e] = factor * other
                break
        else:
            kept.append(e)
    return ir.substitute(outputs, new) if new else outputs


def _is_simple(terms: dict[Expr, Fraction] | None) -> bool:
    return terms is not None and all(m is ONE or m.op in _SIMPLE for m in terms)


def _only(terms: dict[Expr, Fraction] | None) -> Iterable[tuple[Expr, Fraction]]:
    """The term of an argument that has only one."""
    return terms.items() if terms is not None and len(terms) == 1 else ()


def _factor(difference: Expr, single: dict[Expr, tuple[Fraction, Expr]]) -> Expr | None:
    """The exponential of a sum, without new functions; None if it needs some."""
    terms = linear(difference)
    if terms is None:
        return None
    total = ONE
    for m, c in terms.items():
        base: Expr
        if m is ONE:
            total = total * EXP(ir.const(c))
            continue
        if m.op is LOG or m.op is LOG1P:
            base = m.args[0] if m.op is LOG else ONE + m.args[0]
        elif m in single:
            unit, base = single[m]
            c = c / unit
        else:
            return None
        if c.denominator > 2 or abs(c) > LARGEST_POWER:
            return None
        total = total * ir.power(base, ir.const(c))
    return total
