"""Roots of sums of squares that loops add up: norms, whose derivative at 0 is 0.

Before:  for i in range(n): s = s + x[i]**2        sqrt(s)/(1 + s)
After:   the same loop                             sqrt(squares(s))/(1 + squares(s))

Requires: a valid program, not differentiated yet.
Ensures: equal values. `functions.SQUARES` marks a number as a sum of squares;
`passes.differentiate` differentiates its root as a norm, as it does where
the squares are under the root themselves.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from fractions import Fraction
from typing import NamedTuple

from symdiff import ir
from symdiff.ir import ADD, CONST, DIV, HALF, MUL, POW, VAR, WHERE, Expr, substitute, topological
from symdiff.ir.functions import SQUARES
from symdiff.ir.inductive import inductive, made_of
from symdiff.ir.loop_program import ARRAY, LOAD, Block, kind_of, leaves, mapped_block, name_of
from symdiff.ir.walks import children_first


class Known(NamedTuple):
    """The names of sums of squares and of arrays of such, and of arrays with positive elements
    only."""

    sums: Container[str] = frozenset()
    positive: Container[str] = frozenset()


def marked(block: Block, roots: Sequence[Expr]) -> tuple[Block, tuple[Expr, ...]]:
    """The block and the expressions after it, with sums of squares under roots marked."""
    made = made_of(block, lambda t: t.kind == "f")
    known = Known(positive=inductive(made, lambda e, found: _is_positive(e, Known((), found))))
    sums = inductive(made, lambda e, found: _is_sum(e, known._replace(sums=found)))
    if not sums:
        return block, tuple(roots)
    known = known._replace(sums=sums)

    def one(e: Expr) -> Expr:
        bases = [
            n.args[0]
            for n in topological((e,))
            if n.op is POW and n.args[1] is HALF and _is_sum(n.args[0], known)
        ]
        (result,) = substitute((e,), {b: SQUARES(b) for b in bases if _uses(b, known)})
        return result

    return mapped_block(block, one), tuple(map(one, roots))


def _is_sum(e: Expr, known: Known) -> bool:
    """Whether e is a sum of squares, or of products and powers greater than 1 of such."""
    if e.op is SQUARES:
        return True
    if e.op in (VAR, LOAD, ARRAY):
        return name_of(e.args[0] if e.op is LOAD else e) in known.sums
    if e.op is CONST:
        return isinstance(e.value, Fraction) and e.value >= 0
    if e.op is ADD:
        return all(_is_sum(a, known) for a in e.args)
    if e.op is MUL:
        return _is_product(e, known)
    if e.op is DIV:
        below = e.args[1]
        positive = kind_of(below) == "i" or _is_positive(below, known) or _is_sum(below, known)
        return positive and _is_sum(e.args[0], known)
    if e.op is WHERE:
        return all(_is_sum(a, known) for a in e.args[1:])
    if e.op is POW and (q := ir.rational(e.args[1])) is not None and q >= 1:
        return (q.denominator == 1 and q.numerator % 2 == 0) or _is_sum(e.args[0], known)
    return False


def _is_product(e: Expr, known: Known) -> bool:
    """Whether e is a product of sums of squares, of pairs of equal factors, and of positive
    factors, but not of positive factors alone."""
    single: list[Expr] = []
    squares, stack = 0, [e]
    while stack:
        n = stack.pop()
        if n.op is MUL:
            stack.extend(n.args)
        elif n in single:
            single.remove(n)
            squares += 1
        else:
            single.append(n)
    weights = [n for n in single if _is_positive(n, known)]
    sums = [n for n in single if n not in weights]
    return squares + len(sums) > 0 and all(_is_sum(n, known) for n in sums)


def _is_positive(e: Expr, known: Known) -> bool:
    """Whether e is positive by its form. A node that may be 0 is not, as the root of `abs(w)` has
    another kind of singularity there."""
    found: dict[Expr, bool] = {}
    for n in children_first((e,), _factors):
        if n.op in (LOAD, ARRAY):
            found[n] = name_of(n.args[0] if n.op is LOAD else n) in known.positive
        elif n.op is CONST:
            found[n] = isinstance(n.value, Fraction) and n.value > 0
        else:
            below = _factors(n)
            found[n] = all(found[a] for a in below) if below else n.op.sign == "positive"
    return found[e]


def _factors(e: Expr) -> Sequence[Expr]:
    """The nodes that are all positive where e is, by its form."""
    return e.args[:1] if e.op is POW else e.args if e.op in (ADD, MUL, DIV) else ()


def _uses(e: Expr, known: Known) -> bool:
    """Whether the sum is known only through names: others are visible in the expression."""
    return any(name_of(n) in known.sums for n in leaves((e,)))
