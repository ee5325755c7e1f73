"""Dual numbers over balls: the proven value and directional derivative of plain NumPy source.

Arrays of them have the dtype `object`, so programs run as they stand: NumPy calls the methods
of the elements. A comparison of two numbers that are close is a place where programs may
jump or have a kink: it raises `CloseError`, and the point is left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb, ctx

from symdiff.interpret.balls import exclusive

BITS = 212
NEAR = 1e-7


class CloseError(Exception):
    """Two numbers are compared that are too close to each other."""


class Dual:
    """A value and its derivative along one direction."""

    __slots__ = ("slope", "value")

    def __init__(self, value: Any, slope: Any = 0) -> None:
        self.value = arb(value) if not isinstance(value, arb) else value
        self.slope = arb(slope) if not isinstance(slope, arb) else slope

    def __repr__(self) -> str:
        return f"Dual({float(self.value.mid())}, {float(self.slope.mid())})"

    # --------------------------------------------------------------- arithmetic
    def __add__(self, other: Any) -> Dual:
        o = dual(other)
        return Dual(self.value + o.value, self.slope + o.slope)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Dual:
        o = dual(other)
        return Dual(self.value - o.value, self.slope - o.slope)

    def __rsub__(self, other: Any) -> Dual:
        return dual(other) - self

    def __mul__(self, other: Any) -> Dual:
        o = dual(other)
        return Dual(self.value * o.value, self.slope * o.value + self.value * o.slope)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Dual:
        o = dual(other)
        q = self.value / o.value
        return Dual(q, (self.slope - q * o.slope) / o.value)

    def __rtruediv__(self, other: Any) -> Dual:
        return dual(other) / self

    def __pow__(self, power: Any) -> Dual:
        if int(power) != power:
            raise TypeError("only whole powers")
        n = int(power)
        slope = n * self.value ** (n - 1) * self.slope if n else arb(0)
        return Dual(self.value**n, slope)

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.slope)

    def __pos__(self) -> Dual:
        return self

    def __abs__(self) -> Dual:
        return self if self > 0 else -self

    def conjugate(self) -> Dual:
        return self

    # -------------------------------------------------------------- comparisons
    def _apart(self, other: Any) -> int:
        o = dual(other)
        if not (self.value.is_finite() and o.value.is_finite()):
            raise CloseError
        gap = self.value - o.value
        if abs(float(gap.mid())) < NEAR * (1 + abs(float(o.value.mid()))):
            raise CloseError
        return 1 if gap > 0 else -1

    def __lt__(self, other: Any) -> bool:
        return self._apart(other) < 0

    __le__ = __lt__

    def __gt__(self, other: Any) -> bool:
        return self._apart(other) > 0

    __ge__ = __gt__

    def __eq__(self, other: object) -> bool:
        self._apart(other)
        return False

    def __ne__(self, other: object) -> bool:
        self._apart(other)
        return True

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        return self != 0

    # ---------------------------------------------------------------- functions
    def sin(self) -> Dual:
        return Dual(self.value.sin(), self.slope * self.value.cos())

    def cos(self) -> Dual:
        return Dual(self.value.cos(), -self.slope * self.value.sin())

    def tanh(self) -> Dual:
        t = self.value.tanh()
        return Dual(t, self.slope * (1 - t * t))

    def exp(self) -> Dual:
        e = self.value.exp()
        return Dual(e, self.slope * e)

    def log(self) -> Dual:
        return Dual(self.value.log(), self.slope / self.value)

    def sqrt(self) -> Dual:
        root = self.value.sqrt()
        return Dual(root, self.slope / (2 * root))


def dual(x: Any) -> Dual:
    """A number as one with derivative 0."""
    if isinstance(x, Dual):
        return x
    if isinstance(x, (bool, int, np.integer, np.bool_)):
        return Dual(arb(int(x)))
    return Dual(arb(float(x)))


def lifted(value: Any, direction: Any) -> Any:
    """An argument with a direction; integers and other things stay."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        made = np.empty(value.shape, object)
        for k in np.ndindex(value.shape):
            made[k] = Dual(arb(float(value[k])), arb(float(direction[k])))
        return made
    return Dual(arb(value), arb(float(direction))) if isinstance(value, float) else value


def lowered(result: Any) -> tuple[Any, Any]:
    """Values and slopes of a result as floats."""
    a = np.asarray(result, object)
    values, slopes = np.empty(a.shape), np.empty(a.shape)
    for k in np.ndindex(a.shape):
        d = dual(a[k])
        values[k], slopes[k] = float(d.value.mid()), float(d.slope.mid())
    return values, slopes


def truth(fun: Any, args: list[Any], directions: list[Any]) -> tuple[Any, Any]:
    """The value of a function at arguments, and its derivative along directions."""
    with exclusive(BITS):
        assert ctx.prec == BITS
        return lowered(fun(*map(lifted, args, directions)))
