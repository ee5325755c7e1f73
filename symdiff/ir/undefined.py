"""Where formulas are nan: arguments are, or lie outside of the domain of a function.

Before:  log(x) * y
After:   not (0 <= x), or x or y is nan
"""

from __future__ import annotations

from collections.abc import Sequence

from symdiff.ir import (
    FALSE,
    NAN,
    ONE,
    POW,
    SUB,
    TRUE,
    VAR,
    WHERE,
    ZERO,
    Expr,
    and_,
    eq,
    lt,
    not_,
    or_,
    rational,
    raw,
    topological,
)
from symdiff.ir.functions import FLOOR, LARGER, PINNED, SMALLER, domain
from symdiff.ir.nodes import EQ
from symdiff.ir.plain import is_decided


def undefined(outputs: Sequence[Expr], exactly: bool = False) -> list[Expr]:
    """For each output the condition under which it is certainly nan.

    Parameters
    ----------
    exactly : only conditions that doubles decide without rounding, and nan arguments; else all
        conditions, for arithmetic that proves them and takes no nan.
    """
    found: dict[Expr, Expr] = {}
    for e in topological(outputs):
        if e is NAN:
            found[e] = TRUE
        elif e.op is VAR and exactly and not e.op.boolean:
            found[e] = not_(raw(EQ, (e, e)))
        elif not e.args or e.op.boolean or is_decided(e):
            found[e] = FALSE
        elif e.op is WHERE:
            c, a, b = e.args
            if exactly and not _is_exact(c):
                found[e] = and_(found[a], found[b])
            else:
                found[e] = or_(and_(c, found[a]), and_(not_(c), found[b]))
        elif e.op in (LARGER, SMALLER):
            found[e] = and_(*(found[a] for a in e.args))
        elif e.op is POW and rational(e.args[1]) is None:
            x, y = e.args
            found[e] = and_(found[x], found[y])
            outside = not_(domain(POW, e.args))
            for one, other in (  # 1**nan and nan**0 are 1
                (found[x], not_(_is_zero(y))), (found[y], not_(eq(x, ONE))), (lt(x, ZERO), outside),
            ):  # fmt: skip
                if not exactly or _is_exact(other):
                    found[e] = or_(found[e], and_(one, other))
        elif e.op is PINNED:
            h, value, closed = e.args
            here = FALSE if exactly and not _is_exact(h) else eq(h, 0)
            found[e] = or_(and_(here, found[value]), and_(not_(here), found[closed]))
            if here is FALSE:
                found[e] = and_(found[value], found[closed])
        else:
            inside = domain(e.op, e.args)
            found[e] = FALSE if exactly and not _is_exact(inside) else not_(inside)
            for a in e.args:
                found[e] = or_(found[e], found[a])
    return [found[e] for e in outputs]


def _is_zero(e: Expr) -> Expr:
    """Whether a node is 0, as a comparison of what it is the difference of, which is not rounded."""
    return eq(*e.args) if e.op is SUB else eq(e, ZERO)


def _is_exact(e: Expr) -> bool:
    """Whether doubles compute a node without rounding."""
    return all(
        n.op.boolean or not n.args or is_decided(n) or (n.op is FLOOR and not n.args[0].args)
        for n in topological((e,))
    )
