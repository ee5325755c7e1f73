"""The elementary functions: one table entry each, nothing about them elsewhere.

An entry says how the function is called in Python, its derivative, its real
domain and kinks, and how each target evaluates it. A test samples every entry
because it is in the table of its family. A new function is an entry in the file of
its family and its name in `ENTRIES` there (docs/extending.md). Formulas: NIST DLMF, chapters 4 to 10 and 19.

`columns`         columns that entries of several families share
`named_numbers`   numbers with names
`roots_and_norms`  cube roots and norms
`trigonometric`   sine and related functions
`hyperbolic`      hyperbolic functions
`selection`       steps and selections
`sinc`            sines of multiples of pi
`exponential`     exponentials, logarithms, and products with these
`normal`          error functions and the normal distribution
`gamma`           the gamma function and the derivatives of its logarithm
`bessel`          Bessel functions
`incomplete`      incomplete gamma and beta functions
`integrals`       exponential integrals, and those of sines and cosines
`elliptic`        elliptic integrals
`airy`            Airy functions
`zeta`            Hurwitz's zeta function
`faddeeva`        Faddeeva's function
`hypergeometric`  hypergeometric functions
`shares`          shares of distributions of the plane and of the circle
`lambert`         Lambert's W
`marks`           operations that passes put into formulas and that nobody calls
`composites`      names that are shorthands for combinations of entries
"""

from __future__ import annotations

from symdiff.ir import ABS, OPS, POW, SIGN, TRUE, ZERO, Expr, Op, eq, integer, le, or_, rational
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
from symdiff.ir.functions.airy import *  # noqa: F403
from symdiff.ir.functions.bessel import *  # noqa: F403
from symdiff.ir.functions.composites import *  # noqa: F403
from symdiff.ir.functions.elliptic import *  # noqa: F403
from symdiff.ir.functions.exponential import *  # noqa: F403
from symdiff.ir.functions.faddeeva import *  # noqa: F403
from symdiff.ir.functions.gamma import *  # noqa: F403
from symdiff.ir.functions.hyperbolic import *  # noqa: F403
from symdiff.ir.functions.hypergeometric import *  # noqa: F403
from symdiff.ir.functions.incomplete import *  # noqa: F403
from symdiff.ir.functions.integrals import *  # noqa: F403
from symdiff.ir.functions.lambert import *  # noqa: F403
from symdiff.ir.functions.marks import *  # noqa: F403
from symdiff.ir.functions.named_numbers import *  # noqa: F403
from symdiff.ir.functions.normal import *  # noqa: F403
from symdiff.ir.functions.roots_and_norms import *  # noqa: F403
from symdiff.ir.functions.selection import *  # noqa: F403
from symdiff.ir.functions.selection import FLOOR
from symdiff.ir.functions.shares import *  # noqa: F403
from symdiff.ir.functions.sinc import *  # noqa: F403
from symdiff.ir.functions.trigonometric import *  # noqa: F403
from symdiff.ir.functions.zeta import *  # noqa: F403

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


BUILTIN = frozenset(OPS.values())
"""The operations that symdiff itself defines; users and passes may define others."""
