"""Derivatives beside a point, exactly: numbers with an infinitesimal step and two tangents.

A number is a polynomial in a step eps > 0 that is smaller than every number, over the integers; with
tangents by two variables it carries value, both slopes and the mixed second derivative. Comparing
asks for the first coefficient that differs, so a program of sums, products, `abs`, `max` and `min`
runs on the side of its kinks on which p + eps*d lies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

ORDER = 4


class Step:
    """A polynomial in eps."""

    def __init__(self, *c: int) -> None:
        self.c = c + (0,) * (ORDER - len(c))

    def __add__(self, other: Step) -> Step:
        return Step(*(a + b for a, b in zip(self.c, other.c, strict=True)))

    def __mul__(self, other: Step) -> Step:
        found = [0] * ORDER
        for i, a in enumerate(self.c):
            for j, b in enumerate(other.c[: ORDER - i] if a else ()):
                found[i + j] += a * b
        return Step(*found)

    def __neg__(self) -> Step:
        return Step(*(-a for a in self.c))

    def sign(self) -> int:
        return next(((a > 0) - (a < 0) for a in self.c if a), 0)


class Jet:
    """Value, two slopes and the mixed second derivative, each beside the point."""

    def __init__(self, v: Step, a: Step, b: Step, ab: Step) -> None:
        self.v, self.a, self.b, self.ab = v, a, b, ab

    def __add__(self, other: Any) -> Jet:
        o = jet(other)
        return Jet(self.v + o.v, self.a + o.a, self.b + o.b, self.ab + o.ab)

    def __mul__(self, other: Any) -> Jet:
        s, o = self, jet(other)
        mixed = s.ab * o.v + s.a * o.b + s.b * o.a + s.v * o.ab
        return Jet(s.v * o.v, s.a * o.v + s.v * o.a, s.b * o.v + s.v * o.b, mixed)

    def __neg__(self) -> Jet:
        return self * -1

    def __sub__(self, other: Any) -> Jet:
        return self + -jet(other)

    def __rsub__(self, other: Any) -> Jet:
        return jet(other) + -self

    def __pow__(self, n: int) -> Jet:
        found = jet(1)
        for _ in range(n):
            found = found * self
        return found

    __radd__, __rmul__ = __add__, __mul__

    def __lt__(self, other: Any) -> bool:
        return (self - other).v.sign() < 0

    def __gt__(self, other: Any) -> bool:
        return (self - other).v.sign() > 0

    def __abs__(self) -> Jet:
        return -self if self.v.sign() < 0 else self


def jet(x: Any) -> Jet:
    return x if isinstance(x, Jet) else Jet(Step(int(x)), Step(0), Step(0), Step(0))


def beside(
    f: Callable[..., Any], point: Sequence[float], direction: Sequence[int], i: int, j: int
) -> tuple[int, int]:
    """The slope by the variable i, and the second derivative by i and j, in the limit from the
    side of the direction."""
    args = [
        Jet(Step(int(p), d), Step(int(k == i)), Step(int(k == j)), Step(0))
        for k, (p, d) in enumerate(zip(point, direction, strict=True))
    ]
    found = jet(f(*args))
    return found.a.c[0], found.ab.c[0]
