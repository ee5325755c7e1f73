"""The amount of ball arithmetic that a thread has done, counted in operations.

Budgets count operations, so that results do not depend on the load of the machine. An operation on
balls of a few hundred bits counts as one; at higher precision, and for functions, it counts
in proportion to its time: about `A_SECOND` take one second.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable

from symdiff.ir import ARITHMETIC, Expr
from symdiff.ir.functions import GAMMA, LGAMMA, POLYGAMMA

A_SECOND = 4_000_000
"""Operations per second on a current processor, about."""

Counts = tuple[int, int, int]
"""Operations of arithmetic, elementary functions, and gamma functions."""

_SLOW = (GAMMA, LGAMMA, POLYGAMMA)
_done = threading.local()


def spent() -> int:
    """The work of this thread so far."""
    return getattr(_done, "work", 0)


def spend(work: int) -> None:
    """Add to the work of this thread."""
    _done.work = getattr(_done, "work", 0) + work


def counts(nodes: Iterable[Expr]) -> Counts:
    """The number of operations of each kind."""
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
    """Their cost in balls of so many bits: the time of a product is about quadratic in the bits,
    that of a function a few dozen products."""
    plain, functions, slow = count
    square = bits * bits
    return (
        plain * (1 + square // 500_000)
        + functions * (4 + square // 25_000)
        + slow * (40 + square // 1_500)
    )
