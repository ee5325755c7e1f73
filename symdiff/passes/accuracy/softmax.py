"""Shares of exponentials in their sum as logistic functions of differences.

Before:  w*exp(a/g)/((exp(a/g) + x*exp(b/g))*z)
After:   w/((1 + x*exp(b/g - a/g))*z)

Before:  exp(a + b)/((exp(a) + exp(c))*(exp(b) + 1))
After:   1/((1 + exp(c - a))*(1 + exp(-b)))

Before:  exp(a/g)/exp(b/g)
After:   exp(a/g - b/g)

Requires: a node in a form to be computed.
Ensures: an equal node without an exponential that overflows where the share does not, as
in the derivatives of `logaddexp(a/g, b/g)` after cancellation of common factors. An exponent that
is a variable is kept: it is exact, the difference is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice, product

from symdiff import ir
from symdiff.ir import ADD, DIV, NEG, ONE, VAR, ZERO, Expr
from symdiff.ir.functions import EXP, LARGER
from symdiff.ir.functions.exponential import LOWEST
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
                above[above.index(part)], below[k] = _less(terms, part)
                changed = True
    for n in [n for n in above if n.op is EXP]:
        if (parts := _pivots(n.args[0], below)) is not None:
            above.remove(n)
            for k, part in parts.items():
                one, below[k] = _less(_terms(below[k]), part)
                above.append(one)
            changed = True
    pairs = zip(*(_computed(side) for side in (above, below)), strict=False)
    for n, d in list(pairs):
        above.remove(n)
        below.remove(d)
        above.append(EXP(n.args[0] - d.args[0]))
        changed = True
    return ir.product(above) / ir.product(below) if changed else e


def _computed(factors: Sequence[Expr]) -> list[Expr]:
    """The exponentials of what is computed."""
    return [n for n in factors if n.op is EXP and _is_computed(n.args[0])]


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


def _less(terms: Sequence[Expr], part: Expr) -> tuple[Expr, Expr]:
    """1, and a sum divided by one of its terms, an exponential. If that and another may be exp(-inf)
    where the sum is not 0, both are multiplied with it there."""
    (a,) = part.args
    one, shift = ONE, a
    if len(terms) > 2 and any(_is_apart(n, a) for t in terms for n in _factors(t)[0]):
        shift = LARGER(a, LOWEST)
        one = LARGER(ONE + (a - shift), ZERO)
    total = one
    for t in terms:
        if t is part:
            continue
        above, below = _factors(t)
        other = next((n for n in above if n.op is EXP), None)
        exponent = -a
        if other is not None:
            above.remove(other)
            exponent = other.args[0] - (shift if _is_apart(other, a) else a)
        total = total + ir.product([*above, EXP(exponent)]) / ir.product(below)
    return one, total


def _is_apart(e: Expr, exponent: Expr) -> bool:
    """Whether an exponential has an exponent that shares no term with the given one."""
    return e.op is EXP and (e.args[0] - exponent).args == (e.args[0], exponent)
