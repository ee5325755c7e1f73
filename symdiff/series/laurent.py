"""Lazy Laurent series in a local parameter s > 0.

A stream computes its coefficients on demand and remembers them, so nothing is
truncated and a stream may refer to its own earlier coefficients: this solves
y' = f'(u) u' (relaxed power series, van der Hoeven, 2002, here with
the naive product).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from flint import fmpq

from symdiff.series.coefficients import (
    NOTHING,
    Coefficient,
    Number,
    is_generic,
    is_zero,
    root,
    sign,
)

MAX_VALUATION = 40
"""Leading coefficients that are searched for one that is not zero."""


class OutOfBudget(ArithmeticError):  # noqa: N818
    """One expansion exceeded its budget."""


class Circular(ArithmeticError):  # noqa: N818
    """A coefficient that depends on itself: the equation is singular here."""


class Vanishes(ArithmeticError):  # noqa: N818
    """No nonzero coefficient was found."""


class Ramified(ArithmeticError):  # noqa: N818
    """A fractional power: the parameter's `degree`-th root is needed."""

    def __init__(self, degree: int) -> None:
        super().__init__(degree)
        self.degree = degree


class Negative(ArithmeticError):  # noqa: N818
    """A root of a negative series."""


class Singular(ArithmeticError):  # noqa: N818
    """An integral of a power of s that gives a logarithm, or a pole."""


class Budget:
    """The number of products of coefficients that may still be formed."""

    def __init__(self, left: int) -> None:
        self.left = left

    def spend(self, amount: int) -> None:
        self.left -= amount
        if self.left < 0:
            raise OutOfBudget


class Stream:
    """A series sum_k c_k s**k with c_k = 0 for k < low."""

    __slots__ = ("_busy", "known", "low")

    def __init__(self, low: int) -> None:
        self.low = low
        self.known: list[Coefficient] = []
        self._busy = False

    def coefficient(self, k: int) -> Coefficient:
        """The coefficient of s**k."""
        if k < self.low:
            return NOTHING
        self.ensure(k)
        return self.known[k - self.low]

    def ensure(self, k: int) -> None:
        """Compute the coefficients up to s**k."""
        while self.low + len(self.known) <= k:
            if self._busy:
                raise Circular
            self._busy = True
            try:
                self.known.append(self._compute(self.low + len(self.known)))
            finally:
                self._busy = False

    def _compute(self, k: int) -> Coefficient:
        raise NotImplementedError

    def valuation(self) -> int:
        """The exponent of the leading term; proven not to vanish."""
        for k in range(self.low, self.low + MAX_VALUATION):
            if not is_zero(self.coefficient(k)):
                return k
        raise Vanishes

    def sign(self) -> int:
        """The sign for small s > 0."""
        return sign(self.coefficient(self.valuation()))


class Polynomial(Stream):
    """A series with finitely many terms, given from s**0 on."""

    __slots__ = ()

    def __init__(self, coefficients: Sequence[Coefficient]) -> None:
        super().__init__(0)
        self.known = list(coefficients)

    def _compute(self, k: int) -> Coefficient:
        return NOTHING

    @property
    def constant(self) -> bool:
        return not any(not (isinstance(c, fmpq) and c == 0) for c in self.known[1:])


class Regular(Stream):
    """a without its negative powers, which are known to vanish."""

    __slots__ = ("a",)

    def __init__(self, a: Stream) -> None:
        super().__init__(0)
        self.a = a

    def _compute(self, k: int) -> Coefficient:
        return self.a.coefficient(k)


class Sum(Stream):
    """a + factor*b."""

    __slots__ = ("a", "b", "factor")

    def __init__(self, a: Stream, b: Stream, factor: int = 1) -> None:
        super().__init__(min(a.low, b.low))
        self.a, self.b, self.factor = a, b, factor

    def _compute(self, k: int) -> Coefficient:
        a, b = self.a.coefficient(k), self.b.coefficient(k)
        return a + b if self.factor == 1 else a - b


class Scaled(Stream):
    """c*a."""

    __slots__ = ("a", "c")

    def __init__(self, c: Coefficient, a: Stream) -> None:
        super().__init__(a.low)
        self.c, self.a = c, a

    def _compute(self, k: int) -> Coefficient:
        return self.c * self.a.coefficient(k)


def convolution(a: Sequence[Coefficient], b: Sequence[Coefficient], budget: Budget) -> Coefficient:
    """sum_i a[i]*b[n-1-i] of two sequences of length n."""
    total: Coefficient = NOTHING
    work = 0
    for x, y in zip(a, reversed(b), strict=True):
        if not x or not y:  # a rational 0; all others count as not 0
            continue
        total = total + x * y
        work += 20 if isinstance(x, Number) or isinstance(y, Number) else 1
    budget.spend(work)
    return total


class Product(Stream):
    """a*b."""

    __slots__ = ("a", "b", "budget")

    def __init__(self, a: Stream, b: Stream, budget: Budget) -> None:
        super().__init__(a.low + b.low)
        self.a, self.b, self.budget = a, b, budget

    def _compute(self, k: int) -> Coefficient:
        n = k - self.low + 1
        self.a.ensure(self.a.low + n - 1)
        self.b.ensure(self.b.low + n - 1)
        return convolution(self.a.known[:n], self.b.known[:n], self.budget)


class Quotient(Stream):
    """a/b; `order` is the valuation of b."""

    __slots__ = ("a", "b", "budget", "lead", "order")

    def __init__(self, a: Stream, b: Stream, budget: Budget) -> None:
        self.order = b.valuation()
        super().__init__(a.low - self.order)
        self.a, self.b, self.budget = a, b, budget
        self.lead = 1 / b.coefficient(self.order)

    def _compute(self, k: int) -> Coefficient:
        n = k - self.low
        self.b.ensure(self.order + n)
        start = self.order - self.b.low
        tail = self.b.known[start + 1 : start + 1 + n]
        taken = convolution(self.known[:n], tail, self.budget)
        return (self.a.coefficient(k + self.order) - taken) * self.lead


class Power(Stream):
    """a**q for a rational q, by J. C. P. Miller's recurrence."""

    __slots__ = ("a", "budget", "lead", "order", "q")

    def __init__(self, a: Stream, q: Fraction, budget: Budget) -> None:
        self.order = a.valuation()
        lead = a.coefficient(self.order)
        if q.denominator > 1 and not is_generic(lead) and sign(lead) < 0:
            raise Negative
        low = self.order * q
        if low.denominator > 1:
            raise Ramified(low.denominator)
        super().__init__(int(low))
        self.a, self.q, self.budget, self.lead = a, q, budget, 1 / lead
        if q.denominator > 1:
            self.known.append(root(lead, q))
        else:
            first: Coefficient = fmpq(1)
            for _ in range(abs(q.numerator)):
                first = first * (lead if q > 0 else self.lead)
            self.known.append(first)

    def _compute(self, k: int) -> Coefficient:
        n = k - self.low
        self.a.ensure(self.order + n)
        start = self.order - self.a.low
        p, d = self.q.numerator, self.q.denominator
        tail = self.a.known[start + 1 : start + 1 + n]
        weighted = [
            w * fmpq(j * p - (n - j) * d, d) if w else w for j, w in enumerate(tail, start=1)
        ]
        total = convolution(self.known[:n], weighted, self.budget)
        return total * self.lead * fmpq(1, n)


class Derivative(Stream):
    """da/ds."""

    __slots__ = ("a",)

    def __init__(self, a: Stream) -> None:
        super().__init__(a.low - 1 if a.low != 0 else 0)
        self.a = a

    def _compute(self, k: int) -> Coefficient:
        return self.a.coefficient(k + 1) * fmpq(k + 1)


class Solution(Stream):
    """y with y(0) = start and y' = slope(), which may refer to y."""

    __slots__ = ("_slope", "slope")

    def __init__(self, start: Coefficient, slope: Callable[[], Stream]) -> None:
        super().__init__(0)
        self.known.append(start)
        self.slope = slope
        self._slope: Stream | None = None

    def _compute(self, k: int) -> Coefficient:
        if self._slope is None:
            slope = self.slope()
            for j in range(slope.low, 0):
                if not is_zero(slope.coefficient(j)):
                    raise Singular
            self._slope = slope
        return self._slope.coefficient(k - 1) * fmpq(1, k)
