"""Exact fractions in factored form, and back to nodes.

A value is `unit * product of bases**exponents`, the bases being polynomials
without common factors: powers are never expanded, and a common factor of
numerator and denominator vanishes by adding exponents. Polynomial arithmetic
is python-flint's (`fmpq_mpoly`). An angle x enters as t = tan(x/2), in which
sine, cosine and their relation are rational, and leaves as sine and cosine.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

from flint import Ordering, fmpq, fmpq_mpoly_ctx

from symdiff import ir
from symdiff.ir import ONE, POW, ZERO, Expr
from symdiff.ir.functions import COS, EXP, SIN
from symdiff.passes.cancel.algebra import Generator

MAX_POLY_TERMS = 600
"""A polynomial that would have more terms than this is out of budget."""
MAX_FACTORED_TERMS = 64
"""A base with more terms than this is not factored."""


class OutOfBudgetError(Exception):
    """An exact computation exceeded its budget."""


@dataclass(slots=True)
class Factored:
    """`unit * prod(base**n)`; the factors map a key to (base, n), n != 0. Instances never change,
    but are not frozen: thousands are created, which takes twice as long for frozen ones."""

    unit: Fraction
    factors: dict[str, tuple[Any, int]]


_ONE: Fraction = ONE.value
_SMALL = {n: _ONE if n == 1 else Fraction(n) for n in range(-32, 33)}


def fraction(q: Any) -> Fraction:
    """A coefficient as a number of Python."""
    n, d = int(q.p), int(q.q)
    if d == 1:
        found = _SMALL.get(n)
        if found is not None:
            return found
    return Fraction(n, d)


@lru_cache(maxsize=64)
def _symbols(names: tuple[str, ...]) -> tuple[Any, tuple[Any, ...], list[str], Any]:
    """Polynomials in symbols of these names: their context, the symbols, their names as printed in
    polynomials, and 1."""
    context = fmpq_mpoly_ctx.get(list(names), Ordering.degrevlex)
    gens = context.gens()
    return context, gens, [str(g) for g in gens], context.constant(1)


@dataclass(slots=True)
class Ring:
    """Polynomials in the generators of one window; an `algebra.Algebra`.

    `removed` collects the bases that cancelled since it was last cleared, `coprime` the pairs of
    bases that have no common factor.
    `known` maps a base to a node that has its value up to a constant.
    """

    generators: list[Generator]
    context: Any = None
    gens: tuple[Any, ...] = ()
    names: list[str] = field(default_factory=list)
    one: Any = None
    symbols: dict[Generator, Any] = field(default_factory=dict)
    circle: dict[Generator, tuple[Any, Any]] = field(default_factory=dict)
    removed: list[Any] = field(default_factory=list)
    known: dict[str, tuple[Expr, Fraction]] = field(default_factory=dict)
    coprime: set[tuple[str, str]] = field(default_factory=set)
    _singles: dict[int, Factored] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = [f"g{i}" for i in range(len(self.generators))]
        angles = [g for g in self.generators if g.kind == "angle"]
        names += [f"{f}{i}" for i in range(len(angles)) for f in "cs"]
        self.context, gens, self.names, self.one = _symbols(tuple(names) or ("unused",))
        self.gens = gens
        self.symbols = dict(zip(self.generators, gens, strict=False))
        for name, g in zip(self.names, gens, strict=True):
            self._singles[id(g)] = Factored(_ONE, {name: (g, 1)})
        rest = gens[len(self.generators) :]
        self.circle = {g: (rest[2 * i], rest[2 * i + 1]) for i, g in enumerate(angles)}

    # ------------------------------------------------------------- the algebra
    def const(self, q: Fraction) -> Factored:
        return Factored(q, {})

    def gen(self, g: Generator) -> Factored:
        return self._base(self.symbols[g])

    def angle(self, g: Generator) -> tuple[Factored, Factored]:
        t = self.symbols[g]
        below = self.pow(self.of(1 + t * t), -1)
        return self.mul(self.of(1 - t * t), below), self.mul(self.of(2 * t), below)

    def mul(self, a: Factored, b: Factored) -> Factored:
        factors = dict(a.factors)
        for key, (base, n) in b.factors.items():
            if key in factors:
                self._merge(factors, key, base, n)
            else:
                self._insert(factors, base, n, key)
        if a.unit is _ONE:
            unit = b.unit
        else:
            unit = a.unit if b.unit is _ONE else a.unit * b.unit
        return Factored(unit, factors if unit is _ONE or unit else {})

    def neg(self, a: Factored) -> Factored:
        return Factored(-a.unit, a.factors)

    def div(self, a: Factored, b: Factored) -> Factored:
        return self.mul(a, self.pow(b, -1))

    def pow(self, a: Factored, n: int) -> Factored:
        unit = a.unit
        if unit is not _ONE:
            if n < 0 and unit == 0:
                raise OutOfBudgetError("division by zero")
            unit = unit**n
        if n == 0:
            return self.const(_ONE)
        return Factored(unit, {k: (p, e * n) for k, (p, e) in a.factors.items()})

    def add(self, a: Factored, b: Factored) -> Factored:
        if not (a.unit and b.unit):
            return b if b.unit else a
        a, b = self._aligned(a, b)
        common: dict[str, tuple[Any, int]] = {}
        for key in {**a.factors, **b.factors}:
            (base, m), (_, n) = (
                x.factors.get(key, (y.factors.get(key, (None, 0))[0], 0))
                for x, y in ((a, b), (b, a))
            )
            if min(m, n):
                common[key] = (base, min(m, n))
        total = self._expanded(a, common) + self._expanded(b, common)
        if total.is_zero():
            return self.const(Fraction(0))
        rest = self.of(total)
        for key, (base, n) in list(common.items()):  # cancel against the denominator
            while n < 0 and (key in rest.factors or len(base) > 1):
                reduced = self._divided(rest, base)
                if reduced is None:
                    break
                rest, n = reduced, n + 1
                self.removed.append(base)
            if n:
                common[key] = (base, n)
            else:
                del common[key]
        return self.mul(Factored(_ONE, common), rest)

    def of(self, poly: Any) -> Factored:
        """A polynomial as unit * monomial * rest."""
        if (single := self._singles.get(id(poly))) is not None:
            return single
        if not len(poly):
            return self.const(Fraction(0))
        lead = poly.leading_coefficient()
        if len(poly) == 1:
            return Factored(fraction(lead), self._powers(poly))
        content = poly.term_content()
        factors: dict[str, tuple[Any, int]] = {}
        rest = poly
        if not content.is_constant():
            factors = self._powers(content)
            rest = poly / content
        if lead != 1:
            rest = rest / rest.leading_coefficient()
        result = Factored(fraction(lead), factors)
        self._insert(factors, rest, 1)
        return result

    def _powers(self, monomial: Any) -> dict[str, tuple[Any, int]]:
        """The powers of symbols in a polynomial of one term."""
        (exponents,) = monomial.monoms()
        return {self.names[i]: (self.gens[i], int(n)) for i, n in enumerate(exponents) if n}

    def _base(self, poly: Any) -> Factored:
        return Factored(_ONE, {str(poly): (poly, 1)})

    def _merge(self, factors: dict[str, tuple[Any, int]], key: str, base: Any, n: int) -> None:
        m = factors[key][1]
        if m * n < 0:
            self.removed.append(base)
        if m + n:
            factors[key] = (base, m + n)
        else:
            del factors[key]

    def _insert(
        self, factors: dict[str, tuple[Any, int]], base: Any, n: int, key: str | None = None
    ) -> None:
        """Add base**n, splitting bases until no two have a common factor."""
        key = str(base) if key is None else key
        if key in factors:
            self._merge(factors, key, base, n)
            return
        for other_key, (other, m) in list(factors.items()) if factors and len(base) > 1 else ():
            if len(other) <= 1 or (key, other_key) in self.coprime:
                continue
            g = base.gcd(other)
            if g.is_constant():
                self.coprime.add((key, other_key))
                continue
            g = g / g.leading_coefficient()
            del factors[other_key]
            for part, k in ((other / g, m), (g, m), (base / g, n), (g, n)):
                if not part.is_constant():
                    self._insert(factors, part / part.leading_coefficient(), k)
            return
        factors[key] = (base, n)

    def _aligned(self, a: Factored, b: Factored) -> tuple[Factored, Factored]:
        """Both with the same bases, so that exponents can be compared."""
        for key, (base, _) in b.factors.items():
            if key not in a.factors and len(base) > 1:
                a = self._refined(a, base)
        for key, (base, _) in a.factors.items():
            if key not in b.factors and len(base) > 1:
                b = self._refined(b, base)
        return a, b

    def _refined(self, a: Factored, base: Any) -> Factored:
        factors: dict[str, tuple[Any, int]] = {}
        name = str(base)
        for key, (other, m) in a.factors.items():
            g = None
            if len(other) > 1 and (name, key) not in self.coprime:
                g = base.gcd(other)
                if g.is_constant():
                    self.coprime.add((name, key))
            if g is None or g.is_constant() or str(g / g.leading_coefficient()) == key:
                self._insert(factors, other, m, key)
                continue
            g = g / g.leading_coefficient()
            rest = other / g
            self._insert(factors, g, m)
            self._insert(factors, rest / rest.leading_coefficient(), m)
        return Factored(a.unit, factors)

    def _divided(self, a: Factored, base: Any) -> Factored | None:
        """a/base if base divides it."""
        key = str(base)
        factors = dict(a.factors)
        if key in factors:
            n = factors[key][1] - 1
            if n:
                factors[key] = (base, n)
            else:
                del factors[key]
            return Factored(a.unit, factors)
        for other_key, (other, m) in a.factors.items():
            if len(other) > 1 and m > 0:
                quotient, remainder = divmod(other, base)
                if remainder.is_zero():
                    del factors[other_key]
                    if m > 1:
                        factors[other_key] = (other, m - 1)
                    lead = fraction(quotient.leading_coefficient())
                    split = self.of(quotient)
                    return self.mul(Factored(a.unit * lead / lead, factors), split)
        return None

    def _expanded(self, a: Factored, common: dict[str, tuple[Any, int]]) -> Any:
        """The polynomial a/common."""
        poly = self.context.constant(fmpq(a.unit.numerator, a.unit.denominator))
        bases = {**{k: (p, 0) for k, (p, _) in common.items()}, **a.factors}
        for key, (base, n) in bases.items():
            n -= common.get(key, (None, 0))[1]
            if n < 0:
                raise OutOfBudgetError("not a polynomial")
            for _ in range(n):
                if len(poly) * len(base) > 4 * MAX_POLY_TERMS:
                    raise OutOfBudgetError("too many terms")
                poly = poly * base
            if len(poly) > MAX_POLY_TERMS:
                raise OutOfBudgetError("too many terms")
        return poly

    # ----------------------------------------------------------- back to nodes
    def learn(self, node: Expr, value: Factored) -> None:
        """Remember a sum as the formula for its base."""
        if len(value.factors) == 1:
            ((key, (base, n)),) = value.factors.items()
            if n == 1 and len(base) > 1 and key not in self.known:
                self.known[key] = (node, value.unit)

    def render(self, value: Factored) -> Expr:
        """The value as a node."""
        if value.unit == 0:
            return ZERO
        value = self._without_angles(value)
        unit, exponents = value.unit, ZERO
        powers: list[tuple[Expr, int]] = []
        for base, n in self._split(value.factors.values()):
            g = self._exponential(base)
            if g is not None and g.of is None and g.m is not None:
                exponents = exponents + ir.mul(ir.const(g.unit * n), g.m)
                continue
            node, scale = self._render_base(base)
            unit *= scale**n
            powers.append((node, n))
        powers = _gathered(powers)
        top = [ir.power(node, n) for node, n in powers if n > 0]
        bottom = [ir.power(node, -n) for node, n in powers if n < 0]
        if exponents is not ZERO:
            top.append(EXP(exponents))
        numerator, denominator = ir.product(top), ir.product(bottom)
        if unit.denominator != 1 and numerator is ONE:
            numerator, unit = ir.const(unit), Fraction(1)
        return ir.mul(ir.const(unit), ir.div(numerator, denominator))

    def _split(self, factors: Iterable[tuple[Any, int]]) -> list[tuple[Any, int]]:
        """Factor the bases where that makes them much shorter."""
        result: list[tuple[Any, int]] = []
        for base, n in factors:
            if len(base) == 1 or str(base) in self.known or len(base) > MAX_FACTORED_TERMS:
                result.append((base, n))
                continue
            _, parts = base.factor()
            if 2 * sum(len(p) for p, _ in parts) <= len(base):
                result += [(p / p.leading_coefficient(), int(k) * n) for p, k in parts]
            else:
                result.append((base, n))
        return sorted(result, key=lambda f: (f[0].total_degree(), len(f[0]), str(f[0])))

    def _exponential(self, base: Any) -> Generator | None:
        for g, symbol in self.symbols.items():
            if g.kind == "exp" and base == symbol:
                return g
        return None

    def _render_base(self, base: Any) -> tuple[Expr, Fraction]:
        """A node for the base, and the constant c with base = c*node."""
        found = self.known.get(str(base))
        if found is not None:
            return found[0], 1 / found[1]
        terms = [(m, fraction(c)) for m, c in base.terms()]
        scale = Fraction(
            math.gcd(*(c.numerator for _, c in terms)), math.lcm(*(c.denominator for _, c in terms))
        )
        total: Expr = ZERO
        for monomial, c in terms:
            total = total + ir.mul(ir.const(c / scale), self._render_monomial(monomial))
        return total, scale

    def _render_monomial(self, monomial: tuple[int, ...]) -> Expr:
        powers: list[tuple[Expr, int]] = []
        exponent = ZERO
        for n, (g, trig) in zip(monomial, self._columns(), strict=False):
            n = int(n)
            if n == 0:
                continue
            if g.kind == "exp" and g.of is None and g.m is not None:
                exponent = exponent + ir.mul(ir.const(g.unit * n), g.m)
            else:
                powers.append((self._node_of(g, trig), n))
        product = ir.product(ir.power(node, n) for node, n in _gathered(powers))
        return product if exponent is ZERO else product * EXP(exponent)

    def _columns(self) -> list[tuple[Generator, str]]:
        columns = [(g, "") for g in self.generators]
        for g in self.circle:
            columns += [(g, "c"), (g, "s")]
        return columns

    def _node_of(self, g: Generator, trig: str) -> Expr:
        if g.kind == "root" and g.of is not None:
            return ir.power(g.of, ir.const(g.unit))
        if g.kind == "exp" and g.of is not None and g.m is not None:
            return ir.power(g.of, ir.mul(ir.const(g.unit), g.m))
        if g.kind == "angle" and g.m is not None:
            angle = ir.mul(ir.const(g.unit), g.m)
            return COS(angle) if trig == "c" else SIN(angle)
        if g.of is None:
            raise OutOfBudgetError("a generator without a node")
        return g.of

    def may_vanish(self, base: Any) -> bool:
        """Whether a base that cancelled can be zero: exponentials and 1 + t**2 cannot."""
        if self._exponential(base) is not None:
            return False
        return all(base != 1 + self.symbols[g] ** 2 for g in self.circle)

    def divides(self, base: Any, value: Factored) -> bool:
        """Whether a base is in the denominator of a value."""
        return value.factors.get(str(base), (base, 0))[1] < 0

    def name(self, base: Any) -> Expr:
        """A node that vanishes where the base does, as the user wrote it if possible."""
        found = self.known.get(str(base))
        return found[0] if found is not None else self.render(self.of(base))

    # ------------------------------------------------------------------ angles
    def _without_angles(self, value: Factored) -> Factored:
        """Replace every half-angle tangent by sine and cosine."""
        for g in self.circle:
            t, index = self.symbols[g], self.generators.index(g)
            with_t = [f for f in value.factors.values() if _degree(f[0], index)]
            if not with_t:
                continue
            rest = {k: f for k, f in value.factors.items() if not _degree(f[0], index)}
            circle = 1 + t * t
            top = self._multiply((p, n) for p, n in with_t if n > 0)
            bottom = self._multiply((p, -n) for p, n in with_t if n < 0 and p != circle)
            k = sum(-n for p, n in with_t if n < 0 and p == circle)
            high, low = _degree(top, index), _degree(bottom, index)
            common = max((high - 2 * k + 1) // 2, (low + 1) // 2, 0)
            over = self._to_circle(top, g, index, k + common)
            under = self._to_circle(bottom, g, index, common)
            result = self.mul(Factored(value.unit, rest), self.of(over))
            value = self.div(result, self.of(under))
        return value

    def _multiply(self, factors: Iterable[tuple[Any, int]]) -> Any:
        poly = self.context.constant(1)
        for base, n in factors:
            for _ in range(n):
                poly = poly * base
                if len(poly) > MAX_POLY_TERMS:
                    raise OutOfBudgetError("too many terms")
        return poly

    def _to_circle(self, poly: Any, g: Generator, index: int, k: int) -> Any:
        """poly(t)/(1 + t**2)**k in c = cos, s = sin; its degree is at most 2k.

        t = s/(1+c) = (1-c)/s and 1/(1+t**2) = (1+c)/2.
        """
        c, s = self.circle[g]
        total = self.context.constant(0)
        for monomial, q in poly.terms():
            j = int(monomial[index])
            rest = tuple(0 if i == index else int(n) for i, n in enumerate(monomial))
            term = self.context.from_dict({rest: q})
            if j <= k:
                total = total + term * s**j * (1 + c) ** (k - j)
            else:
                total = total + term * s ** (2 * k - j) * (1 - c) ** (j - k)
        total = total / 2**k
        gens = self.context.gens()
        by_cosine = with_square(total, gens.index(s), 1 - c * c, self.context, MAX_POLY_TERMS)
        by_sine = with_square(total, gens.index(c), 1 - s * s, self.context, MAX_POLY_TERMS)
        return min(by_cosine, by_sine, key=len)


def factors_with(value: Factored, i: int, side: int, one: Any, most: int) -> Any:
    """The product of the factors that contain a generator, above the fraction bar (`side` 1) or
    below it (-1); with more than `most` terms, none."""
    total = one
    for base, n in value.factors.values():
        if base.degrees()[i] and n * side > 0:
            for _ in range(abs(n)):
                total = total * base
                if len(total) > most:
                    raise OutOfBudgetError("too many terms")
    return total


def _degree(poly: Any, index: int) -> int:
    return int(poly.degrees()[index])


def with_square(poly: Any, i: int, square: Any, context: Any, most: int) -> Any:
    """The polynomial with another one in place of x**2, where x is a generator, until x is at most
    linear; with more than `most` terms, none."""
    total = context.constant(0)
    for m, q in poly.terms():
        n = int(m[i])
        rest = (*m[:i], n % 2, *m[i + 1 :])
        total = total + context.from_dict({rest: q}) * square ** (n // 2)
        if len(total) > most:
            raise OutOfBudgetError("too many terms")
    return total


def _gathered(powers: list[tuple[Expr, int]]) -> list[tuple[Expr, int]]:
    """A product of powers with one power for each base with a symbolic exponent: x*x**(-p), which
    has a generator as its base, is undefined at 0, where x**(1 - p) may be defined."""
    parts: list[tuple[Expr, Expr, int]] = []
    for node, n in powers:
        base, exponent = node.args if node.op is POW else (node, ONE)
        parts.append((base, exponent, n))
    symbolic = {base for base, e, _ in parts if ir.rational(e) is None}
    many = {b for b in symbolic if sum(base is b for base, _, _ in parts) > 1}
    found: list[tuple[Expr, int]] = []
    for (node, n), (base, _, _) in zip(powers, parts, strict=True):
        if base not in many:
            found.append((node, n))
        elif base in symbolic:  # in the place of the first
            symbolic.remove(base)
            total = ZERO
            for b, e, k in parts:
                total = total + ir.const(k) * e if b is base else total
            found.append((ir.power(base, total), 1))
    return found
