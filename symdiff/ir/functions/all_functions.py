"""Every elementary function in one table, and the domain of each."""

from __future__ import annotations

from symdiff.ir import ABS, OPS, POW, SIGN, TRUE, ZERO, Expr, Op, eq, integer, le, or_, rational
from symdiff.ir import loop_program as _loop_program  # noqa: F401  (whose operations are built in)
from symdiff.ir.functions import (
    airy,
    bessel,
    elliptic,
    exponential,
    faddeeva,
    gamma,
    hyperbolic,
    hypergeometric,
    incomplete,
    integrals,
    lambert,
    named_numbers,
    normal,
    roots_and_norms,
    selection,
    shares,
    sinc,
    trigonometric,
    zeta,
)
from symdiff.ir.functions import marks as _marks  # whose operations are built in, too
from symdiff.ir.functions.selection import FLOOR

TABLE: tuple[Op, ...] = (
    *named_numbers.ENTRIES, ABS, SIGN, *exponential.ENTRIES, *roots_and_norms.ENTRIES, *trigonometric.ENTRIES,
    *hyperbolic.ENTRIES, *normal.ENTRIES, *gamma.ENTRIES, *bessel.ENTRIES, *incomplete.ENTRIES, *integrals.ENTRIES, *elliptic.ENTRIES, *lambert.ENTRIES, *airy.ENTRIES, *zeta.ENTRIES, *faddeeva.ENTRIES, *hypergeometric.ENTRIES, *shares.ENTRIES, *sinc.ENTRIES, *selection.ENTRIES,
)  # fmt: skip
"""Every elementary function: the tables of the families."""


def domain(op: Op, args: tuple[Expr, ...]) -> Expr:
    """The closed condition without which `op(*args)` is nan over the reals."""
    if op.domain is not None:
        return op.domain(*args)
    if op is POW and integer(args[1]) is None:
        if rational(args[1]) is not None:
            return le(ZERO, args[0])
        return or_(le(ZERO, args[0]), eq(FLOOR(args[1]), args[1]))
    return TRUE


BUILTIN = frozenset((*OPS.values(), *_marks.DERIVED))
"""The operations that symdiff itself defines; users and passes may define others."""
