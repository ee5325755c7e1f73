"""Where can something cancel? A cheap test modulo a prime.

Each generator is replaced by a random line a + b*t over a prime field, which
makes every rational node a quotient of two univariate polynomials. A common
factor of numerator and denominator shows up as one here, except with a
probability of about degree/2**62; the exact computation then confirms it.
The method is Schwartz's and Zippel's (1979).
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from flint import nmod_poly

from symdiff import ir
from symdiff.ir import Expr
from symdiff.passes.cancel.algebra import Generator, Generators, is_rational, rational_args

P = 4611686018427387817
"""A prime below 2**62 that is 1 modulo 4, and
I, a square root of -1 modulo P."""
I = pow(5, (P - 1) // 4, P)  # noqa: E741

_HALF = pow(2, -1, P)
_HALF_OVER_I = _HALF * pow(I, -1, P) % P
ONE = nmod_poly([1], P)

NOTHING, SHORTER, REMOVABLE = 0, 1, 2

MAX_DEGREE = 48
"""A node of a higher degree than this is an opaque generator to those above it."""


@dataclass(frozen=True, slots=True)
class Form:
    """A reduced fraction num/den of polynomials modulo P."""

    num: Any
    den: Any

    @property
    def degree(self) -> int:
        return max(int(self.num.degree()), int(self.den.degree()))


def _common(num: Any, den: Any) -> Any:
    """The greatest common divisor, at once where the denominator is a number."""
    return num.gcd(den) if den.degree() > 0 else ONE


@dataclass(slots=True)
class Fingerprints:
    """The forms of all nodes seen so far, and the cancellations at their creation.

    `hit` is set by an operation in which a factor cancelled: to `REMOVABLE` if the
    factor may vanish or the node collapsed to a constant, to `SHORTER` if only
    exponentials or points of the unit circle, which never vanish, did.
    """

    generators: Generators
    forms: dict[Expr, Form] = field(default_factory=dict)
    lines: dict[Generator, Any] = field(default_factory=dict)
    units: list[Any] = field(default_factory=list)
    rng: random.Random = field(default_factory=lambda: random.Random(1979))
    hit: int = NOTHING

    def of(self, e: Expr) -> tuple[Form, int]:
        """The form of a node, and the cancellation in its last operation."""
        hit = NOTHING
        for node in ir.children_first((e,), lambda n: rational_args(n)[::-1], self.forms):
            self.hit = NOTHING
            try:
                form = self.generators.represent(node, self.forms, self)
            except ZeroDivisionError:
                form = self.gen(Generator("node", node))
                self.hit = NOTHING
            hit = self.hit if is_rational(node) else NOTHING
            if form.degree > MAX_DEGREE:
                form = self.gen(Generator("node", node))
            self.forms[node] = form
        return self.forms[e], hit

    def _cancelled(self, common: Any) -> None:
        """Record that this factor cancelled."""
        for unit in self.units:
            while common.degree() > 0 and common.gcd(unit).degree() > 0:
                common = divmod(common, unit)[0]
        self.hit = max(self.hit, REMOVABLE if common.degree() > 0 else SHORTER)

    # ------------------------------------------------------------- the algebra
    def const(self, q: Fraction) -> Form:
        if q.denominator % P == 0:
            raise ZeroDivisionError
        value = q.numerator % P
        if q.denominator != 1:
            value = value * pow(q.denominator, -1, P) % P
        return Form(nmod_poly([value], P), ONE)

    def gen(self, g: Generator) -> Form:
        line = self.lines.get(g)
        if line is None:
            line = nmod_poly([self.rng.randrange(1, P), self.rng.randrange(1, P)], P)
            self.lines[g] = line
            if g.kind in ("exp", "angle") and g.of is None:
                self.units.append(line)
        return Form(line, ONE)

    def angle(self, g: Generator) -> tuple[Form, Form]:
        """cos = (w + 1/w)/2, sin = (w - 1/w)/(2i) with w = exp(i*angle)."""
        w = self.gen(g).num
        square = w * w
        return Form((square + 1) * _HALF, w), Form((square - 1) * _HALF_OVER_I, w)

    def add(self, a: Form, b: Form) -> Form:
        if a.den.degree() > 0 and b.den.degree() > 0:
            common = a.den.gcd(b.den)
            left, right = divmod(a.den, common)[0], divmod(b.den, common)[0]
        else:
            left, right = a.den, b.den
        num, den = a.num * right + b.num * left, left * b.den
        if num.is_zero():
            self.hit = REMOVABLE
            return Form(num, ONE)
        extra = _common(num, den)
        if extra.degree() > 0:
            num, den = divmod(num, extra)[0], divmod(den, extra)[0]
            self._cancelled(extra)
        if num.degree() == 0 and den.degree() == 0 and (a.degree > 0 or b.degree > 0):
            self.hit = REMOVABLE
        return Form(num, den)

    def neg(self, a: Form) -> Form:
        return Form(-a.num, a.den)

    def mul(self, a: Form, b: Form) -> Form:
        if a.num.is_zero() or b.num.is_zero():
            return Form(nmod_poly([], P), ONE)
        g, h = _common(a.num, b.den), _common(b.num, a.den)
        if g.degree() > 0 or h.degree() > 0:
            self._cancelled(g * h)
            a = Form(divmod(a.num, g)[0], divmod(a.den, h)[0])
            b = Form(divmod(b.num, h)[0], divmod(b.den, g)[0])
        return Form(a.num * b.num, a.den * b.den)

    def div(self, a: Form, b: Form) -> Form:
        if b.num.is_zero():
            raise ZeroDivisionError
        return self.mul(a, Form(b.den, b.num))

    def pow(self, a: Form, n: int) -> Form:
        if n < 0:
            if a.num.is_zero():
                raise ZeroDivisionError
            a, n = Form(a.den, a.num), -n
        if a.degree * n > 4 * MAX_DEGREE:
            raise ZeroDivisionError
        return Form(a.num**n, a.den**n)
