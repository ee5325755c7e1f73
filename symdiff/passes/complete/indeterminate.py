"""Powers of 1 with an exponent that is infinite because of a division by 0.

Before:  (1 + k*y)**(1/k)
After:   where(k == 0 and 1 + k*y == 1, nan, (1 + k*y)**(1/k))

Requires: any DAG.
Ensures: the same values, but nan for 1**inf, which IEEE arithmetic takes for 1, where an exponent has a pole: what
is nan is computed again, and is the limit if there is one.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

from symdiff import ir
from symdiff.ir import CONST, NAN, ONE, POW, VAR, ZERO, Expr
from symdiff.passes.analysis.roots import loci

MAX_POLES = 4
"""Largest number of poles of an exponent."""


def indeterminate_powers(outputs: Iterable[Expr]) -> tuple[Expr, ...]:
    """The outputs with powers that are marked where they are undefined."""
    outputs = tuple(outputs)
    if not any(_is_computed(e) for e in ir.topological(outputs)):
        return outputs

    def rule(e: Expr, args: tuple[Expr, ...]) -> Expr:
        if not _is_computed(e):
            return ir.rebuild(e, args)
        base, exponent = args
        poles = [d for n in ir.topological((exponent,)) for d in loci(n)][:MAX_POLES]
        infinite = functools.reduce(ir.or_, (ir.eq(d, ZERO) for d in poles), ir.FALSE)
        return ir.where(ir.and_(infinite, ir.eq(base, ONE)), NAN, ir.power(base, exponent))

    return ir.transform(outputs, rule)


def _is_computed(e: Expr) -> bool:
    """Whether a node is a power whose exponent may be a quotient by 0."""
    return (
        e.op is POW
        and e.args[1].op not in (CONST, VAR)
        and e.args[0].op not in (CONST, VAR)
        and any(next(loci(n), None) is not None for n in ir.topological(e.args[1:]))
    )
