"""From a ball to the one float that it proves, and errors in ulps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from flint import arb

from symdiff.interpret.balls import exclusive
from symdiff.process.lazy_modules import Later

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

TIE_BITS = 200
"""A ball this accurate that still contains a rounding boundary is a tie."""


@dataclass(frozen=True, slots=True)
class Format:
    """A binary floating-point format: `digits` of precision, its exponent range."""

    digits: int
    lowest: int  # exponent of the smallest subnormal
    highest: int  # exponent of the first power of two out of range

    def round(self, exact: Any) -> float:
        """The nearest float to an exact arb, ties to even; inf beyond the range, and
        values that are not finite unchanged."""
        if self is FLOAT64 or not exact.is_finite():
            return float(exact)
        mantissa, exponent = (int(part) for part in exact.man_exp())
        if mantissa == 0:
            return 0.0
        sign = 1.0 if mantissa > 0 else -1.0
        top = abs(mantissa).bit_length() + exponent
        if top > self.highest:
            return sign * math.inf
        if top < self.lowest:  # below half of the smallest
            return sign * 0.0
        ulp = max(top - self.digits, self.lowest)
        shift = ulp - exponent
        if shift > 0:
            quotient, rest = divmod(abs(mantissa), 1 << shift)
            half = 1 << (shift - 1)
            quotient += rest > half or (rest == half and quotient & 1)
        else:
            quotient = abs(mantissa) << -shift
        if quotient.bit_length() + ulp > self.highest:
            return sign * math.inf
        return sign * math.ldexp(quotient, ulp)

    def ulp(self, x: float) -> float:
        """The spacing of floats at x."""
        if x == 0:
            return math.ldexp(1.0, self.lowest)
        return math.ldexp(1.0, max(math.frexp(x)[1] - self.digits, self.lowest))


FLOAT64 = Format(53, -1074, 1024)
FLOAT32 = Format(24, -149, 128)


def format_of(dtype: Any) -> Format:
    """The format of a NumPy dtype or its name."""
    if dtype == "float64":  # the most frequent argument
        return FLOAT64
    name = np.dtype(dtype).name
    if name == "float64":
        return FLOAT64
    if name == "float32":
        return FLOAT32
    raise ValueError(f"no floating-point format for dtype {name}")


def unique_rounding(ball: Any, fmt: Format) -> float | None:
    """The correctly rounded value of the number in a finite ball; None if open.

    The current precision must exceed the format's."""
    high = fmt.round(ball.upper())
    if fmt.round(ball.lower()) == high:
        return high
    if ball.rel_accuracy_bits() >= TIE_BITS:
        return fmt.round(ball.mid())
    return None


def ulp_error(got: float, exact: Any, dtype: Any = "float64") -> float:
    """The distance of a float from the true value, in ulps of the true value.

    Parameters
    ----------
    got : the computed value.
    exact : the truth: a float, a `Fraction` or an arb ball.
    dtype : the format whose ulp counts.

    Returns
    -------
    0.0 if both are nan or the same infinity; inf if only one is finite.

    Examples
    --------
    >>> ulp_error(1.0 + 2**-52, 1.0)
    1.0
    """
    fmt = format_of(dtype)
    if isinstance(exact, float) and not math.isfinite(exact):
        same = math.isnan(got) if math.isnan(exact) else got == exact
        return 0.0 if same else math.inf
    with exclusive(TIE_BITS):
        if isinstance(exact, Fraction):
            truth = arb(exact.numerator) / arb(exact.denominator)
        else:
            truth = exact if isinstance(exact, arb) else arb(exact)
        if not truth.is_finite():
            return 0.0 if math.isnan(got) else math.inf
        rounded = fmt.round(truth.mid())
        if not math.isfinite(got) or not math.isfinite(rounded):
            return 0.0 if got == rounded else math.inf
        return float(abs(arb(got) - truth).mid() / arb(fmt.ulp(rounded)))
