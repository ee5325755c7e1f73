"""Elementary functions with their rounding errors: one entry each, in `CORRECTED`.

Before:  exp(x)
After:   v, the double next to it or nearly, and d with v + d = exp(x) to about 2**-63

An entry maps a double to `Unnormalised`: the value, its error, and the slope there. It costs
two or three times what a library function does, a tenth of double-double arithmetic, and
has no branches: it is printed into SIMD code. Arguments are reduced exactly; of the
polynomials only the leading terms are computed with their errors, as the others are small.

value + error is within 2**-BITS of the function, relative to it, for arguments `inside`,
or within 2**-LIGHT_BITS in about half the operations, which is tested against ball arithmetic.
Reference: J.-M. Muller, Elementary Functions (2016), chapters 3 to 5 and 11.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from symdiff.ir import HALF, ONE, Expr, Op, abs_, and_, const, le, lt
from symdiff.ir import functions as f
from symdiff.ir import mul as mul_
from symdiff.lowering.compensated import angles, exponentials
from symdiff.lowering.compensated import erf as errors
from symdiff.lowering.compensated.unnormalised import Unnormalised

BITS, LIGHT_BITS = 63, 56
"""Relative error of all functions, as a power of two."""


@dataclass(frozen=True, slots=True)
class Correction:
    """How a function is computed with its error.

    Attributes
    ----------
    build : a double, and whether fewer bits do, to `Unnormalised`.
    inside : the condition on the argument under which it holds.
    room : as far as an argument is off by a small part of this, the error of the first
        order is off by no more than that part, or by less than 2**-BITS of the value.
    """

    build: Callable[[Expr, bool], Unnormalised]
    inside: Callable[[Expr], Expr]
    room: Callable[[Expr], Expr]


# ------------------------------------------------------------------------- conditions
_LARGEST_EXPONENT = 600
"""Up to this, no part of an exponential underflows."""
_LOG_RANGE = 900
"""Exponents of the arguments of logarithms."""
_SQUARE_RANGE = 400
"""Exponents of arguments whose squares are taken."""


def _within(limit: Fraction | int) -> Callable[[Expr], Expr]:
    return lambda x: le(abs_(x), const(limit))


def _positive(x: Expr) -> Expr:
    unit = Fraction(2) ** _LOG_RANGE
    return and_(le(const(1 / unit), x), le(x, const(unit)))


def _apart(x: Expr) -> Expr:
    return _positive(abs_(x))


def _anywhere(x: Expr) -> Expr:
    return le(abs_(x), const(Fraction(2) ** _LOG_RANGE))


def _between(x: Expr) -> Expr:
    return lt(abs_(x), ONE)


def _constantly(room: Fraction | int) -> Callable[[Expr], Expr]:
    return lambda x: const(room)


_TURNING = Fraction(1, 2**12)
"""Room where the slope may vanish: the square of 2**-32 counts for nothing."""


# -------------------------------------------------------------------------- the table
CORRECTED: dict[Op, Correction] = {
    f.EXP: Correction(exponentials.exp, _within(_LARGEST_EXPONENT), _constantly(1)),
    f.EXP2: Correction(exponentials.exp2, _within(_LARGEST_EXPONENT), _constantly(1)),
    f.EXPM1: Correction(exponentials.expm1, _within(_LARGEST_EXPONENT), _constantly(1)),
    f.LOG: Correction(exponentials.log, _positive, abs_),
    f.LOG2: Correction(exponentials.log_to(None), _positive, abs_),
    f.LOG10: Correction(exponentials.log_to(f.LN10), _positive, abs_),
    f.LOG1P: Correction(
        exponentials.log1p,
        lambda x: and_(lt(const(-1), x), _anywhere(x)),
        lambda x: abs_(ONE + x),
    ),
    f.CBRT: Correction(exponentials.cbrt, _apart, abs_),
    f.SIN: Correction(angles.sin, _within(angles.LARGEST_ANGLE), _constantly(_TURNING)),
    f.COS: Correction(angles.cos, _within(angles.LARGEST_ANGLE), _constantly(_TURNING)),
    f.TAN: Correction(
        angles.tan,
        _within(angles.LARGEST_ANGLE),
        lambda x: mul_(const(Fraction(1, 4)), ONE / (ONE + abs_(f.TAN(x)))),
    ),
    f.ASIN: Correction(angles.asin, _between, lambda x: ONE - abs_(x)),
    f.ACOS: Correction(angles.acos, _between, lambda x: ONE - abs_(x)),
    f.ATAN: Correction(angles.atan, _anywhere, _constantly(1)),
    f.TANH: Correction(exponentials.tanh, _anywhere, _constantly(HALF.value)),
    f.SINH: Correction(exponentials.sinh, _within(_LARGEST_EXPONENT), _constantly(1)),
    f.COSH: Correction(exponentials.cosh, _within(_LARGEST_EXPONENT), _constantly(_TURNING)),
    f.ASINH: Correction(exponentials.asinh, _within(Fraction(2) ** _SQUARE_RANGE), _constantly(1)),
    f.ACOSH: Correction(
        exponentials.acosh,
        lambda x: and_(lt(ONE, x), le(x, const(Fraction(2) ** _SQUARE_RANGE))),
        lambda x: x - ONE,
    ),
    f.ATANH: Correction(exponentials.atanh, _between, lambda x: ONE - abs_(x)),
    f.ERF: Correction(errors.erf, _anywhere, _constantly(1)),
    f.ERFC: Correction(
        errors.erfc,
        lambda x: and_(_anywhere(x), le(x, const(errors.ERF_REACH))),
        _constantly(Fraction(1, 16)),
    ),
}
"""Every elementary function that is computed with its error."""

__all__ = ["BITS", "CORRECTED", "LIGHT_BITS", "Correction", "Unnormalised"]
