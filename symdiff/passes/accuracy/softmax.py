"""Shares of exponentials in their sum as logistic functions of differences.

Before:  w*exp(a/g)/((exp(a/g) + x*exp(b/g))*z)
After:   w/((1 + x*exp(b/g - a/g))*z)

Before:  exp(a + b)/((exp(a) + exp(c))*(exp(b) + 1))
After:   1/((1 + exp(c - a))*(1 + exp(-b)))

Requires: a node in a form to be computed.
Ensures: an equal node without an exponential that overflows where the share does not, as
in the derivatives of `logaddexp(a/g, b/g)` after cancellation of common factors. An exponent that
is a variable is kept: it is exact, the difference is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice, product

from symdiff import ir
from symdiff.ir import ADD, DIV, NEG, ONE, VAR, Expr
from symdiff.ir.functions import EXP
from symdiff.passes.cancel.algebra import linear

MAX_FACTORS, MAX_TERMS, MAX_SUMS, MAX_CHOICES = 16, 8, 4, 64
"""Longer products and sums are left unchanged, and so are quotients by more sums."""


def shared(outputs: Iterable[Expr]) -> tuple[Expr, ...]:
    """Outputs with the shares in all their quotients as logistic functions."""

    def rule(e: Expr, args: tuple[Expr, ...]) -> Expr:
        new = ir.rebuild(e, args)
        return share(new) if new.op is DIV else new

    return ir.transform(outputs, rule)


def share(e: Expr) -> Expr:
    """A quotient with its shares as logistic functions."""
    above, below = _factors(e)
    if len(above) + len(below) > MAX_FACTORS:
        return e
    changed = False
    for k, whole in enumerate(below):
        terms = _terms(whole)
        if 2 <= len(terms) <= MAX_TERMS:
            own = [t for t in terms if t.op is EXP and _is_computed(t.args[0])]
            part = next((n for n in above if n in own and terms.count(n) == 1), None)
            if part is not None:
                above.remove(part)
                below[k] = _less(terms, part)
                changed = True
    for n in [n for n in above if n.op is EXP]:
        if (parts := _pivots(n.args[0], below)) is not None:
            above.remove(n)
            for k, part in parts.items():
                below[k] = _less(_terms(below[k]), part)
            changed = True
    return ir.product(above) / ir.product(below) if changed else e


def _pivots(exponent: Expr, below: Sequence[Expr]) -> dict[int, Expr] | None:
    """Exponentials, one in each of several sums, whose product is that of an exponent; by the places of
    the sums."""
    sums = {k: terms for k, e in enumerate(below) if 2 <= len(terms := _terms(e)) <= MAX_TERMS}
    if not 2 <= len(sums) <= MAX_SUMS:
        return None
    choices = [
        [t for t in terms if t.op is EXP] + [t for t in terms if t is ONE]
        for terms in sums.values()
    ]
    for chosen in islice(product(*choices), MAX_CHOICES):
        rest = exponent
        for t in chosen:
            rest = rest if t is ONE else rest - t.args[0]
        if linear(rest) == {}:
            return {k: t for k, t in zip(sums, chosen, strict=True) if t is not ONE}
    return None


def _is_computed(exponent: Expr) -> bool:
    return bool(exponent.args) and not (exponent.op is NEG and exponent.args[0].op is VAR)


def _factors(e: Expr) -> tuple[list[Expr], list[Expr]]:
    """The factors of the numerator and of the denominator of a quotient; itself if these are too
    many."""
    found = list(islice(ir.factors(e), MAX_FACTORS + 1))
    if len(found) > MAX_FACTORS:
        return [e], []
    return [n for n, side in found if side > 0], [n for n, side in found if side < 0]


def _terms(e: Expr) -> list[Expr]:
    """The terms of a sum; itself if these are too many."""
    found: list[Expr] = []
    stack = [e]
    while stack:
        n = stack.pop()
        if n.op is ADD:
            stack += n.args[::-1]
        else:
            found.append(n)
        if len(found) > MAX_TERMS:
            return [e]
    return found


def _less(terms: Sequence[Expr], part: Expr) -> Expr:
    """A sum divided by one of its terms, an exponential."""
    total = ONE
    for t in terms:
        if t is part:
            continue
        above, below = _factors(t)
        other = next((n for n in above if n.op is EXP), None)
        exponent = -part.args[0]
        if other is not None:
            above.remove(other)
            exponent = other.args[0] + exponent
        total = total + ir.product([*above, EXP(exponent)]) / ir.product(below)
    return total
