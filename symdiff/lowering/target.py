"""What processors have in addition to the operations of the DAG: further operations, and doubles.

Before:  a*b + c
After:   fma(a, b, c), which is rounded once

Requires: nothing. Ensures: `lowering.lower` makes these operations, or of `compensated` and the like
what `lowering.compensated.evaluate` says; nothing else in a program uses them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

from symdiff.ir import Op

MAX_CHAIN, ARRAY_CHAIN = 12, 16
"""Integer powers up to this are multiplied out (at most 5.5 ulp, about 2 on average);
above it libm's pow, which is within 1 ulp, is used. On arrays that takes longer."""

FMA = Op("fma", 3, intrinsic="llvm.fma", python="_fma({0}, {1}, {2})")
"""`a*b + c`, rounded once."""
COMPENSATED = Op("compensated", 1, intrinsic="-", ball=lambda x: x, sign="same")
COMPENSATED_EXP = Op("compensated_exp", 1, intrinsic="-", ball=lambda x: x.exp(), sign="positive")
COMPENSATED_EXPM1 = Op("compensated_expm1", 1, intrinsic="-", ball=lambda x: x.expm1())
"""What `lowering.compensated.evaluate` computes with the errors of all operations in it, and exponentials
of such a sum."""
LIGHT = Op("light", 1, intrinsic="-", ball=lambda x: x, sign="same")
"""As `COMPENSATED`, with functions to fewer bits (`lowering.compensated.functions.LIGHT_BITS`)."""
PLAIN = Op("plain", 1, intrinsic="-", ball=lambda x: x, sign="same")
"""The same, without those errors."""
COMPENSATED_OPS = (COMPENSATED, LIGHT, COMPENSATED_EXP, COMPENSATED_EXPM1, PLAIN)
TESTED = Op("tested", -1)
"""See `codegen.llvm.loops.fallback`."""


def is_float(q: Fraction) -> bool:
    """Whether a rational is a double, exactly."""
    return Fraction(nearest(q)) == q if abs(q) < 2**1023 else False


T = TypeVar("T")


def by_squaring(times: Callable[[T, T], T], x: T, n: int) -> T:
    """x**n for n > 0: the steps are the same in all arithmetic, so that they are shared."""
    if n == 1:
        return x
    if n % 2:
        return times(by_squaring(times, x, n - 1), x)
    half = by_squaring(times, x, n // 2)
    return times(half, half)


def nearest(q: Fraction) -> float:
    """The double nearest to a rational; infinite beyond the largest."""
    try:
        return q.numerator / q.denominator  # int / int rounds correctly
    except OverflowError:
        return math.inf if q > 0 else -math.inf


def nearest_single(q: Fraction) -> float:
    """The nearest float32, ties to even, rounded once."""
    if q == 0:
        return 0.0
    n = abs(q)
    exponent = n.numerator.bit_length() - n.denominator.bit_length()
    if n < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** max(exponent - 23, -149)
    rounded = round(n / unit) * unit
    value = math.inf if rounded >= 2**128 else float(rounded)
    return value if q > 0 else -value


def nearest_parts(
    q: Fraction, count: int, rounded: Callable[[Fraction], float] = nearest
) -> list[float]:
    """Numbers of falling size whose sum is nearly q, each nearest to what those before it leave."""
    parts: list[float] = []
    for _ in range(count):
        parts.append(rounded(q))
        q -= Fraction(parts[-1])
    return parts


UNDERFLOWS, OVERFLOWS = 0b10000, 0b1101
"""In the register of the processor's flags: the flag of underflow; those of overflow, division by zero, invalid
operation."""
