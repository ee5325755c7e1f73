"""From quotients of polynomials to the shortest formula that is found for them.

Before:  6*x**2 - 6*x + 1, (x**2 + 2*x + 3)/(x + 1)**2
After:   6*x*(x - 1) + 1, 1 + 2/(x + 1)**2

A polynomial is written as it stands, by its factors, by the sums that its user wrote, with a
common factor of some terms taken out (Horner), or as a completed square. In a quotient, common
factors are moved into sums, and sums divided by denominators, where that is shorter. Each
candidate is measured (`cost`), the best is kept, and a budget counts candidates.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple

from flint import fmpq

from symdiff import ir
from symdiff.ir import ZERO, Expr
from symdiff.ir.functions import PI
from symdiff.passes.cancel.rational import Factored, OutOfBudgetError, fraction
from symdiff.passes.simplify.costs import Budget, Costs
from symdiff.passes.simplify.frame import Frame
from symdiff.passes.simplify.pieces import key_of, negated, primitive
from symdiff.passes.simplify.polynomials import MAX_SPLIT, MAX_TERMS, Polynomials
from symdiff.passes.simplify.products import Around, Rows

MAX_PRODUCT = 10
"""Terms up to which products of sums are multiplied out."""
MAX_SMALL = 100
"""Coefficients that are larger, and that several terms of a sum have, are taken out of it."""
MAX_SUMS = 8
"""Products of more sums are written as they stand."""
MAX_TIED = 3
"""Sums of the same size that are written."""

_ONE: Fraction = ir.ONE.value


class Parts(NamedTuple):
    """A product: a number, powers of symbols by their columns, and sums in integers with their
    exponents."""

    unit: Fraction
    singles: dict[int, int]
    sums: list[tuple[Any, int]]

    def without(self, *left_out: int) -> Parts:
        """The product without some of its sums."""
        return self._replace(sums=[f for k, f in enumerate(self.sums) if k not in left_out])


class Writer(Polynomials):
    """Writes the values of one frame."""

    def __init__(self, frame: Frame, costs: Costs, budget: Budget, cautious: bool = False) -> None:
        super().__init__(frame, costs, budget, cautious)
        self._values: dict[Any, Expr] = {}
        self._factors: dict[str, list[tuple[Any, Fraction, int]]] = {}
        self._bases = {b for b, _, _ in frame.powers.values() if b is not None}

    # ------------------------------------------------------------------ values
    def write(self, value: Factored) -> Expr:
        """The shortest formula found for a value."""
        if value.unit == 0:
            return ZERO
        key = key_of(value)
        found = self._values.get(key)
        if found is None:
            found = self._values[key] = self._write(value)
        return found

    def _write(self, value: Factored) -> Expr:
        parts = self._parts(value)
        candidates = [self._product(parts)]
        sums = parts.sums
        if len(sums) > MAX_SUMS or not self.budget.spend():
            return candidates[0]
        for m in {m for _, m in sums}:  # some sums multiplied out
            alike = [k for k, (_, n) in enumerate(sums) if n == m]
            for chosen in [*combinations(alike, 2), alike] if len(alike) > 2 else [alike]:
                bases = [sums[k][0] for k in chosen]
                candidates += self._multiplied(parts.without(*chosen), bases, m)
        moved: list[Expr] = []
        limit = min(map(self.costs.length, candidates))
        for k, (p, m) in enumerate(sums):
            if m == 1:
                candidates += self._divided(parts.without(k), p)
            if m in (1, -1):
                moved += self._moved(parts.without(k), p, m, limit)
        candidates += self._inverted(parts)
        candidates += self._joined(value, parts.singles)
        candidates += self._powers(parts)
        tops = [k for k, (_, m) in enumerate(sums) if m == 1]
        if len(tops) > 1 and math.prod(len(sums[k][0]) for k in tops) <= MAX_PRODUCT:
            whole = math.prod((sums[k][0] for k in tops), start=self.ring.context.constant(1))
            candidates += self._divided(parts.without(*tops), whole)
            moved += self._moved(parts.without(*tops), whole, 1, limit)
        best = self.costs.best(candidates)
        other = self.costs.best(moved) if moved else best
        return other if self.costs.length(other) < self.costs.length(best) else best

    def _multiplied(self, rest: Parts, bases: list[Any], m: int) -> Iterable[Expr]:
        """Sums with one exponent as one sum; two of them as a difference of squares."""
        if len(bases) == 2 and (made := self._difference_of_squares(*bases)) is not None:
            yield self._product(rest, [(made, m)])
        if len(bases) > 1 and math.prod(map(len, bases)) <= MAX_PRODUCT:
            joined = math.prod(bases[1:], start=bases[0])
            if len(joined) <= (sum if len(bases) == 2 else max)(map(len, bases)):
                yield self._product(rest._replace(sums=[*rest.sums, (joined, m)]))

    def _joined(self, value: Factored, singles: dict[int, int]) -> Iterable[Expr]:
        """Factors that are the base of a power as part of that: `b*(b/x)**(a - 1)/x` is
        `(b/x)**a`."""
        for i in singles:
            base = self.frame.powers[i][0] if i in self.frame.powers else None
            if base is None or base.op is ir.VAR:
                continue
            try:
                factor = self.frame.value(base)
            except (KeyError, OutOfBudgetError):  # has other generators
                continue
            times = [
                Fraction(value.factors[key][1], m)
                for key, (_, m) in factor.factors.items()
                if key in value.factors
            ]
            whole = {int(q) for q in times if q.denominator == 1}  # what cancels such a factor
            for k in sorted({1 if q > 0 else -1 for q in times} | whole):
                if not self.budget.spend():
                    return
                rest = self._parts(self.ring.div(value, self.ring.pow(factor, k)))
                if len(rest.sums) <= MAX_SUMS:
                    yield self._product(rest, [(base, k)])

    def _powers(self, parts: Parts) -> Iterable[Expr]:
        """A quotient of powers as a power: `a**2/(a + b)**2` is `(a/(a + b))**2`."""
        unit, singles, sums = parts
        exponents = [*singles.values(), *(n for _, n in sums)]
        n = math.gcd(*exponents)
        if n < 2 or not sums or min(exponents) > 0 or max(exponents) < 0:
            return
        if any(self._is_root(i) for i in singles):
            return
        made = [(self.poly(p), k // n) for p, k in sums]
        if n % 2 == 0:  # their signs do not matter
            made = [(self._as_written(p, e), k) for (p, _), (e, k) in zip(sums, made, strict=True)]
        inner = self.assembled(_ONE, {i: k // n for i, k in singles.items()}, made)
        yield self.assembled(unit, {}, [(inner, n)])

    def _is_root(self, i: int) -> bool:
        e = self.frame.columns[i]
        return e is not None and e.op is ir.POW and ir.integer(e.args[1]) is None

    def _as_written(self, p: Any, e: Expr) -> Expr:
        """A sum or its negative: the one that is shorter, or that was written."""
        other, written = self.poly(-p), self.frame.written
        shorter = self.costs.length(other) < self.costs.length(e)
        return other if shorter or (other in written and e not in written) else e

    def _difference_of_squares(self, p: Any, q: Any) -> Expr | None:
        """`(a + b)*(a - b)` as `a**2 - b**2`, where a and b are shorter."""
        a, b = (p + q) / 2, (p - q) / 2
        if a.is_zero() or b.is_zero() or len(a) + len(b) > max(len(p), len(q)):
            return None
        squares = [self.assembled(Fraction(1), {}, [(self.poly(x), 2)]) for x in (a, b)]
        return ir.sub(*squares)

    def _parts(self, value: Factored) -> Parts:
        unit = value.unit
        sums: list[tuple[Any, int]] = []
        singles: dict[int, int] = {}
        for key, (base, n) in value.factors.items():
            if len(base) == 1:
                for i, k in self.rows(base, key)[0][0].items():
                    singles[i] = singles.get(i, 0) + k * n
                continue
            parts = self._factors.get(key)
            if parts is None:
                parts = [(*self._scaled(part), k) for part, k in self._factored(base, key)]
                self._factors[key] = parts
            for whole, scale, k in parts:
                if scale != 1:
                    unit *= scale ** (k * n)
                if len(whole) == 1:
                    for i, d in self.rows(whole)[0][0].items():
                        singles[i] = singles.get(i, 0) + d * k * n
                else:
                    sums.append((whole, k * n))
        return Parts(unit, {i: n for i, n in singles.items() if n}, sums)

    def _scaled(self, part: Any) -> tuple[Any, Fraction]:
        """A sum in integers, or with the decimals of its source, and the number by which it was
        divided."""
        if self._literals:
            lead = part.leading_coefficient()
            monic = part / lead
            for e in self.frame.known().get(str(monic), ()):
                unit = self.frame.values[e].unit
                return monic * fmpq(unit.numerator, unit.denominator), fraction(lead) / unit
        return primitive(part)

    def _factored(self, base: Any, key: str) -> list[tuple[Any, int]]:
        if len(base) > MAX_TERMS or (len(base) > 4 and key in self.frame.known()):
            return [(base, 1)]
        c, parts = self.factors(base, key)
        if len(parts) == 1 and parts[0][1] == 1:
            return [(base, 1)]
        first, n = parts[0]
        # the constant goes with the first factor; its power is 1 or the constant is a power
        if n == 1:
            return [(first * c, 1)] + [(p, int(k)) for p, k in parts[1:]]
        return [(p, int(k)) for p, k in parts] + (
            [(self.ring.context.constant(c), 1)] if c != 1 else []
        )

    def _product(self, parts: Parts, others: Iterable[tuple[Expr, Fraction | int]] = ()) -> Expr:
        unit, singles, sums = parts
        made: list[tuple[Expr, Fraction | int]] = [*others]
        for p, n in sums:
            e = self.poly(p)
            if n % 2 and unit > 0 and not (self._bases or self._is_turned(e)):
                made.append((e, n))
                continue
            turned = self.poly(-p)
            if turned in self._bases or e in self._bases:  # to join the power of that sum
                if turned in self._bases:
                    e, unit = turned, unit * (-1) ** (n % 2)
            elif n % 2:
                if self._sign_taken(e, turned, unit < 0):
                    e, unit = turned, -unit
            elif self.costs.length(turned) < self.costs.length(e) or (
                turned in self.frame.written and e not in self.frame.written
            ):
                e = turned
            made.append((e, n))
        return self.assembled(unit, singles, made)

    def _as_given(
        self, unit: Fraction, sums: list[tuple[Any, int]], side: int
    ) -> tuple[Fraction, list[tuple[Expr, int]]]:
        """Sums beside one above the line that takes the sign: differences as they were given."""
        made: list[tuple[Expr, int]] = []
        for p, n in sums:
            e = self.poly(p)
            if side > 0 and n % 2 and e in self.costs.turned:
                e, unit = self.poly(-p), -unit
            made.append((e, n))
        return unit, made

    def _is_turned(self, e: Expr) -> bool:
        """Whether a sum may be shorter with the other sign."""
        return e.op not in (ir.ADD, ir.SUB) or self.costs.formulas.starts_with_minus(e)

    def _sign_taken(self, e: Expr, turned: Expr, negative: bool) -> bool:
        """Whether a sum is better written as its negative, for a sign in front of it."""
        less = self.costs.length(turned) - self.costs.length(e)
        if less:
            return bool(less < 0)
        minus = self.costs.formulas.starts_with_minus
        return negative and not minus(turned) and not minus(e)

    # ------------------------------------------------------- factors into sums
    def _moved(self, rest: Parts, p: Any, side: int, limit: int) -> list[Expr]:
        """What is on the other side of the line moved into a sum above it (`side` 1) or below it
        (-1): `x**2*(a - b*x)/x` as `x**2*(a/x - b)`, `x/(a*x**2 + b)` as `1/(a*x + b/x)`; what is
        shorter than the limit."""
        unit, singles, sums = rest
        if len(p) > MAX_SPLIT or not (singles or abs(unit) != 1) or self.cautious > (side < 0):
            return []
        rows = self.rows(p)
        moves, scales = self._moves(unit, singles, rows, side)
        unit, others = self._as_given(unit, sums, side)
        around = self.around(others)
        sizes: dict[Any, tuple[int, dict[int, int], Fraction]] = {}

        def measured(shift: dict[int, int], scale: Fraction) -> int:
            key = scale.numerator, scale.denominator, *sorted(shift.items())
            known = sizes.get(key)
            if known is None:
                n = self._size_of_laurent(unit, singles, around, rows, shift, scale, side)
                known = sizes[key] = n, shift, scale
            return known[0]

        best, taken, factor = limit, dict[int, int](), _ONE
        for scale in scales[not moves :]:
            if (n := measured({}, scale)) < best:
                best, factor = n, scale
        for i, k in moves:
            for scale in (_ONE, factor):
                for chosen in ({i: k}, {**taken, i: k}):
                    if (n := measured(chosen, scale)) < best:
                        best, taken, factor = n, chosen, scale
        if len(moves) > 1:
            measured(dict(moves), _ONE)
        least = min((n for n, _, _ in sizes.values()), default=limit)
        if least >= limit or not self.budget.spend():
            return []
        shortest = [found[1:] for found in sizes.values() if found[0] == least]
        made: list[Expr] = []
        for shift, scale in shortest[:MAX_TIED]:
            outside = {i: n + side * shift.get(i, 0) for i, n in singles.items()}
            total, left = self._shifted(rows, shift, scale), unit / scale**side
            turned = negated(total)
            if self._sign_taken(total, turned, left < 0):
                total, left = turned, -left
            made.append(self.assembled(left, outside, [*others, (total, side)]))
        return made

    def _moves(
        self, unit: Fraction, singles: dict[int, int], rows: Rows, side: int
    ) -> tuple[list[tuple[int, int]], list[Fraction]]:
        """Powers of symbols, and numbers, that may be moved into a sum."""
        number = Fraction(abs(unit.numerator))
        moves, scales = list[tuple[int, int]](), [_ONE]
        for i, n in singles.items() if not self.cautious else ():
            degrees = sorted({m.get(i, 0) for m, _ in rows})
            if side < 0:
                moves += [(i, min(n, degrees[-1]) or n)] if n > 0 else []
            elif n < 0:
                moves += [(i, k) for k in {*degrees[1:], -n} if 0 < k <= -n]
            elif i in self.frame.powers:
                moves += [(i, -n)]
        if side < 0:
            return moves, scales if number == 1 else [_ONE, 1 / number]
        if unit.denominator > 1:
            scales.append(Fraction(1, unit.denominator))
        if number > 1:
            scales += number, abs(unit)
        sizes_of = [abs(c) for _, c in rows]
        common = max(sizes_of, key=sizes_of.count)
        if common > MAX_SMALL and sizes_of.count(common) > 1:
            scales.append(1 / common)
        return moves, scales

    def _size_of_laurent(
        self, unit: Fraction, singles: dict[int, int], around: Around, rows: Rows,
        shift: dict[int, int], scale: Fraction, side: int,
    ) -> int:  # fmt: skip
        """The operations of a product with powers of symbols and a number moved into a sum."""
        count, negative = len(rows) - 1, 0
        for powers, c in rows:
            if shift:
                powers = dict(powers)
                for i, k in shift.items():
                    powers[i] = powers.get(i, 0) - k
            count += self.size(c if scale is _ONE else c * scale, powers)
            negative += c.numerator < 0
        outside = {i: n + side * shift.get(i, 0) for i, n in singles.items()} if shift else singles
        count += negative == len(rows)
        minus = unit < 0 and negative in (0, len(rows))
        if scale is not _ONE:
            unit = unit / scale**side
        around = around[0] + count, around[1] + (side > 0), around[2] + (side < 0)
        return self.size(unit, outside, around) + minus

    def _shifted(self, rows: Rows, shift: dict[int, int], scale: Fraction = _ONE) -> Expr:
        """A sum times a number, over powers of symbols."""
        total = ZERO
        for monomial, c in rows:
            powers = dict(monomial)
            for i, k in shift.items():
                powers[i] = powers.get(i, 0) - k
            total = ir.add(total, self.assembled(c * scale, powers, []))
        return total

    def _inverted(self, parts: Parts) -> Iterable[Expr]:
        """The formula in `exp(x)` instead of `exp(-x)`."""
        unit, singles, sums = parts
        for i in self.frame.powers:
            degrees = [int(p.degrees()[i]) for p, _ in sums]
            if not any(degrees) or not self.budget.spend():
                continue
            outside = {**singles}
            others: list[tuple[Expr, Fraction | int]] = []
            rest: list[tuple[Any, int]] = []
            for (p, n), d in zip(sums, degrees, strict=True):
                if not d:
                    rest.append((p, n))
                    continue
                total = self._shifted(self.rows(p), {i: d})
                turned = negated(total)
                if n % 2 == 0:
                    total = self.costs.best((total, turned))
                elif self._sign_taken(total, turned, unit < 0):
                    total, unit = turned, -unit
                outside[i] = outside.get(i, 0) + d * n
                others.append((total, n))
            yield self._product(Parts(unit, {k: n for k, n in outside.items() if n}, rest), others)

    def _divided(self, parts: Parts, p: Any) -> list[Expr]:
        """A numerator divided by a denominator: `(x**2 + 2)/(x + 1)` as `x - 1 + 3/(x + 1)`."""
        found: list[Expr] = []
        unit, outside, rest = parts
        below: list[tuple[Any, list[tuple[Any, int]]]] = []
        for i, (d, n) in enumerate(rest):
            if self.cautious and self.poly(d) in self._bases:
                continue  # it belongs to the power of that base, which may be zero
            for k in range(1, -n + 1) if n < 0 else ():
                if len(d) ** k > MAX_SPLIT:
                    break
                left = [(q, m + k if j == i else m) for j, (q, m) in enumerate(rest)]
                below.append((d**k, [f for f in left if f[1]]))
        for divisor, left in below:
            if not self.budget.spend():
                break
            quotient, remainder = divmod(p, divisor)
            if quotient.is_zero() or len(quotient) + len(remainder) > len(p) + 1:
                continue
            if remainder.is_zero():
                continue
            q = self.ring.of(quotient)
            r = self.ring.div(self.ring.of(remainder), self.ring.of(divisor))
            if left or outside:
                total = ir.add(self.write(q), self.write(r))
                others = [(self.poly(b), m) for b, m in left]
                found.append(self.assembled(unit, outside, [*others, (total, 1)]))
            if not left:
                factor = self._value_of(unit, outside)
                q, r = self.ring.mul(q, factor), self.ring.mul(r, factor)
                found.append(ir.add(self.write(q), self.write(r)))
        return found

    def _value_of(self, unit: Fraction, singles: dict[int, int]) -> Factored:
        value = self.ring.const(unit)
        for i, n in singles.items():
            value = self.ring.mul(value, self.ring.pow(self.ring.of(self.frame.gens[i]), n))
        return value


__all__ = ["PI", "Budget", "Costs", "OutOfBudgetError", "Writer", "primitive"]
