"""How much ball arithmetic a thread has done, counted in operations.

Budgets count, so that results do not depend on how busy the machine is. An operation on balls
of a few hundred bits is one; at higher precision, and for functions, it counts as many as take
that time, about: `A_SECOND` of them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable

from symdiff.ir import ARITHMETIC, Expr
from symdiff.ir.functions import GAMMA, LGAMMA, POLYGAMMA

A_SECOND = 4_000_000
"""Operations that a processor of today does in a second, about."""

Counts = tuple[int, int, int]
"""Operations of arithmetic, elementary functions, and gamma functions."""

_SLOW = (GAMMA, LGAMMA, POLYGAMMA)
_done = threading.local()


def spent() -> int:
    """What this thread has done so far."""
    return getattr(_done, "work", 0)


def spend(work: int) -> None:
    """Count work of this thread."""
    _done.work = getattr(_done, "work", 0) + work


def counts(nodes: Iterable[Expr]) -> Counts:
    """How many operations of each kind there are."""
    plain = functions = slow = 0
    for e in nodes:
        if e.op in _SLOW or e.op.edges is not None:
            slow += 1
        elif e.op in ARITHMETIC or e.op.ball is None:
            plain += 1
        else:
            functions += 1
    return plain, functions, slow


def cost(count: Counts, bits: int) -> int:
    """What they cost in balls of so many bits: products take time quadratic in the bits, about,
    functions a few dozen of them."""
    plain, functions, slow = count
    square = bits * bits
    return (
        plain * (1 + square // 500_000)
        + functions * (4 + square // 25_000)
        + slow * (40 + square // 1_500)
    )
