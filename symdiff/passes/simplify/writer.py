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
from typing import Any

from flint import fmpq

from symdiff import ir
from symdiff.ir import ZERO, Expr
from symdiff.ir.functions import PI
from symdiff.passes.cancel.rational import Factored, OutOfBudgetError, fraction
from symdiff.passes.simplify.costs import Budget, Costs
from symdiff.passes.simplify.frame import Frame
from symdiff.passes.simplify.pieces import key_of, negated, primitive
from symdiff.passes.simplify.polynomials import MAX_SPLIT, MAX_TERMS, Polynomials
from symdiff.passes.simplify.products import Around

MAX_PRODUCT = 10
"""Terms up to which products of sums are multiplied out."""
MAX_SMALL = 100
"""Coefficients that are larger, and that several terms of a sum have, are taken out of it."""
MAX_TIED = 3
"""Sums of the same size that are written."""

_ONE: Fraction = ir.ONE.value


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
        unit, sums, singles = self._parts(value)
        if len(sums) > 8 or not self.budget.spend():
            return self._product(unit, singles, sums)
        candidates = [self._product(unit, singles, sums)]
        for i in range(len(sums)):  # two sums multiplied out
            for j in range(i):
                (p, m), (q, n) = sums[i], sums[j]
                if m == n and (made := self._difference_of_squares(p, q)) is not None:
                    rest = [f for k, f in enumerate(sums) if k not in (i, j)]
                    candidates.append(self._product(unit, singles, rest, [(made, m)]))
                if m == n and len(p) * len(q) <= MAX_PRODUCT:
                    joined = p * q
                    rest = [f for k, f in enumerate(sums) if k not in (i, j)]
                    if len(joined) <= len(p) + len(q):
                        candidates.append(self._product(unit, singles, [*rest, (joined, m)]))
        for m in {m for _, m in sums}:
            group = [p for p, n in sums if n == m]
            if len(group) > 2 and math.prod(len(p) for p in group) <= MAX_PRODUCT:
                joined = math.prod(group[1:], start=group[0])
                if len(joined) <= max(len(p) for p in group):
                    rest = [f for f in sums if f[1] != m]
                    candidates.append(self._product(unit, singles, [*rest, (joined, m)]))
        moved: list[Expr] = []
        limit = min(map(self.costs.length, candidates))
        for i, (p, m) in enumerate(sums):
            rest = sums[:i] + sums[i + 1 :]
            if m == 1:
                moved += self._moved(unit, singles, rest, p, limit)
                candidates += self._divided(unit, singles, rest, p)
            elif m == -1:
                moved += self._moved_below(unit, singles, rest, p, limit)
        candidates += self._inverted(unit, singles, sums)
        candidates += self._joined(value, singles)
        candidates += self._powers(unit, singles, sums)
        tops = [(p, m) for p, m in sums if m == 1]
        if len(tops) > 1 and math.prod(len(p) for p, _ in tops) <= MAX_PRODUCT:
            whole, rest = self.ring.context.constant(1), [f for f in sums if f[1] != 1]
            for p, _ in tops:
                whole = whole * p
            candidates += self._divided(unit, singles, rest, whole)
            moved += self._moved(unit, singles, rest, whole, limit)
        best = self.costs.best(candidates)
        other = self.costs.best(moved) if moved else best
        return other if self.costs.length(other) < self.costs.length(best) else best

    def _joined(self, value: Factored, singles: dict[int, int]) -> Iterable[Expr]:
        """Factors that are the base of a power as part of that: `b*(b/x)**(a - 1)/x` is
        `(b/x)**a`."""
        for i in singles:
            base = self.frame.powers[i][0] if i in self.frame.powers else None
            if base is None or base.op is ir.VAR:
                continue
            try:
                factor = self.frame.value(base)
            except (KeyError, OutOfBudgetError):  # made of other generators
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
                rest = self.ring.div(value, self.ring.pow(factor, k))
                unit, sums, left = self._parts(rest)
                if len(sums) <= 8:
                    yield self._product(unit, left, sums, [(base, k)])

    def _powers(
        self, unit: Fraction, singles: dict[int, int], sums: list[tuple[Any, int]]
    ) -> Iterable[Expr]:
        """A quotient of powers as a power of the quotient: `a**2/(a + b)**2` is `(a/(a + b))**2`."""
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

    def _parts(self, value: Factored) -> tuple[Fraction, list[tuple[Any, int]], dict[int, int]]:
        """A value as a number, sums in integers with their exponents, and powers of symbols."""
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
        return unit, sums, {i: n for i, n in singles.items() if n}

    def _scaled(self, part: Any) -> tuple[Any, Fraction]:
        """A sum in integers, or with the decimals that it was written with, and the number that it
        was divided by."""
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

    def _product(
        self,
        unit: Fraction,
        singles: dict[int, int],
        sums: list[tuple[Any, int]],
        others: Iterable[tuple[Expr, Fraction | int]] = (),
    ) -> Expr:
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
        self, unit: Fraction, sums: list[tuple[Any, int]]
    ) -> tuple[Fraction, list[tuple[Expr, int]]]:
        """Sums beside one that takes the sign: differences as they were given."""
        made: list[tuple[Expr, int]] = []
        for p, n in sums:
            e = self.poly(p)
            if n % 2 and e in self.costs.turned:
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
    def _moved(
        self,
        unit: Fraction,
        singles: dict[int, int],
        rest: list[tuple[Any, int]],
        p: Any,
        limit: int,
    ) -> list[Expr]:
        """Denominators moved into a sum: `x**2*(a - b*x)/x` as `x**2*(a/x - b)`; what is shorter
        than the limit."""
        if len(p) > MAX_SPLIT or self.cautious or not (singles or abs(unit) != 1):
            return []
        rows = self.rows(p)
        options: list[tuple[int, int]] = []
        for i, n in singles.items():
            if n < 0:
                degrees = sorted({m.get(i, 0) for m, _ in rows})
                options += [(i, k) for k in {*degrees[1:], -n} if 0 < k <= -n]
            elif i in self.frame.powers and n > 0:
                options += [(i, -n)]
        scales = [_ONE]
        if unit.denominator > 1:
            scales.append(Fraction(1, unit.denominator))
        if abs(unit.numerator) > 1:
            scales.append(Fraction(abs(unit.numerator)))
            scales.append(abs(unit))
        sizes_of = [abs(c) for _, c in rows]
        common = max(sizes_of, key=sizes_of.count)
        if common > MAX_SMALL and sizes_of.count(common) > 1:
            scales.append(1 / common)
        unit, others = self._as_given(unit, rest)
        around = self.around(others)
        sizes: dict[Any, tuple[int, dict[int, int], Fraction]] = {}

        def measured(shift: dict[int, int], scale: Fraction) -> int:
            key = scale.numerator, scale.denominator, *sorted(shift.items())
            known = sizes.get(key)
            if known is None:
                left = unit if scale is _ONE else unit / scale
                n = self._size_of_laurent(left, singles, around, rows, shift, scale)
                known = sizes[key] = n, shift, scale
            return known[0]

        best, taken, factor = limit, dict[int, int](), scales[0]
        for scale in scales[not options :]:
            if (n := measured({}, scale)) < best:
                best, factor = n, scale
        for i, k in options:
            for scale in (scales[0], factor):
                for chosen in ({i: k}, {**taken, i: k}):
                    if (n := measured(chosen, scale)) < best:
                        best, taken, factor = n, chosen, scale
        if len(options) > 1:
            measured(dict(options), scales[0])
        least = min((n for n, _, _ in sizes.values()), default=limit)
        if least >= limit or not self.budget.spend():
            return []
        shortest = [found[1:] for found in sizes.values() if found[0] == least]
        return [
            self._laurent(unit / scale, singles, others, rows, shift, scale)
            for shift, scale in shortest[:MAX_TIED]
        ]

    def _size_of_laurent(
        self,
        unit: Fraction,
        singles: dict[int, int],
        around: Around,
        rows: list[tuple[dict[int, int], Fraction]],
        shift: dict[int, int],
        scale: Fraction,
    ) -> int:
        """The operations of what `_laurent` writes."""
        count, negative = len(rows) - 1, 0
        for powers, c in rows:
            if shift:
                powers = dict(powers)
                for i, k in shift.items():
                    powers[i] = powers.get(i, 0) - k
            count += self.size(c if scale is _ONE else c * scale, powers)
            negative += c.numerator < 0
        outside = {i: n + shift.get(i, 0) for i, n in singles.items()} if shift else singles
        count += negative == len(rows)
        minus = unit < 0 and negative in (0, len(rows))
        return self.size(unit, outside, (around[0] + count, around[1] + 1, around[2])) + minus

    def _laurent(
        self,
        unit: Fraction,
        singles: dict[int, int],
        others: list[tuple[Expr, int]],
        rows: list[tuple[dict[int, int], Fraction]],
        shift: dict[int, int],
        scale: Fraction,
    ) -> Expr:
        """The product with `scale` and powers of symbols moved into the terms of a sum."""
        outside = {i: n + shift.get(i, 0) for i, n in singles.items()}
        total = ZERO
        for monomial, c in rows:
            powers = dict(monomial)
            for i, k in shift.items():
                powers[i] = powers.get(i, 0) - k
            total = ir.add(total, self.assembled(c * scale, powers, []))
        turned = negated(total)
        if self._sign_taken(total, turned, unit < 0):
            total, unit = turned, -unit
        return self.assembled(unit, outside, [*others, (total, 1)])

    def _moved_below(
        self,
        unit: Fraction,
        singles: dict[int, int],
        rest: list[tuple[Any, int]],
        p: Any,
        limit: int,
    ) -> list[Expr]:
        """Factors of the numerator moved into a sum below: `x/(a*x + x**2 + b)`."""
        number = abs(unit.numerator)
        if len(p) > MAX_SPLIT or not (singles or number > 1):
            return []
        terms = self.rows(p)
        found: list[Expr] = []
        others = [(self.poly(q), m) for q, m in rest]
        around = self.around(others)
        moved: list[tuple[Fraction, dict[int, int]]] = []
        if number > 1:
            moved.append((Fraction(number), {}))
        if not self.cautious:
            for i, n in singles.items():
                if n > 0:
                    moved.append((_ONE, {i: min(n, max(m.get(i, 0) for m, _ in terms)) or n}))
        for factor, shift in moved:
            rows: list[tuple[Fraction, dict[int, int]]] = []
            count = len(terms) - 1
            for monomial, c in terms:
                powers = {**monomial, **{i: monomial.get(i, 0) - k for i, k in shift.items()}}
                rows.append((c / factor, powers))
                count += self.size(c / factor, powers)
            outside = {**singles, **{i: singles[i] - k for i, k in shift.items()}}
            below = around[0] + count, around[1], around[2] + 1
            left = unit / factor
            size = self.size(left, outside, below) + (unit < 0)
            if size >= limit or not self.budget.spend():
                continue
            limit = size
            total = ZERO
            for c, powers in rows:
                total = ir.add(total, self.assembled(c, powers, []))
            found.append(self.assembled(left, outside, [*others, (total, -1)]))
        return found

    def _inverted(
        self, unit: Fraction, singles: dict[int, int], sums: list[tuple[Any, int]]
    ) -> Iterable[Expr]:
        """By `exp(x)` instead of `exp(-x)`."""
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
                total = ZERO
                for m, c in self.rows(p):
                    powers = {**m, i: m.get(i, 0) - d}
                    total = ir.add(total, self.assembled(c, powers, []))
                turned = negated(total)
                if n % 2 == 0:
                    total = self.costs.best((total, turned))
                elif self._sign_taken(total, turned, unit < 0):
                    total, unit = turned, -unit
                outside[i] = outside.get(i, 0) + d * n
                others.append((total, n))
            yield self._product(unit, {k: n for k, n in outside.items() if n}, rest, others)

    def _divided(
        self, unit: Fraction, singles: dict[int, int], rest: list[tuple[Any, int]], p: Any
    ) -> list[Expr]:
        """A numerator divided by a denominator: `(x**2 + 2)/(x + 1)` as `x - 1 + 3/(x + 1)`."""
        found: list[Expr] = []
        below: list[tuple[Any, list[tuple[Any, int]], dict[int, int]]] = []
        for i, (d, n) in enumerate(rest):
            if self.cautious and self.poly(d) in self._bases:
                continue  # it belongs to the power of that base, which may be zero
            for k in range(1, -n + 1) if n < 0 else ():
                if len(d) ** k > MAX_SPLIT:
                    break
                left = [(q, m + k if j == i else m) for j, (q, m) in enumerate(rest)]
                below.append((d**k, [f for f in left if f[1]], singles))
        for divisor, left, outside in below:
            if not self.budget.spend():
                break
            quotient, remainder = divmod(p, divisor)
            if quotient.is_zero() or len(quotient) + len(remainder) > len(p) + 1:
                continue
            if remainder.is_zero():
                continue
            for whole in [False, True] if not left and outside else [False]:
                q, r = (
                    self.ring.of(quotient),
                    self.ring.div(self.ring.of(remainder), self.ring.of(divisor)),
                )
                if whole or (not left and not outside):
                    factor = self._value_of(unit, outside)
                    q, r = self.ring.mul(q, factor), self.ring.mul(r, factor)
                    found.append(ir.add(self.write(q), self.write(r)))
                    continue
                total = ir.add(self.write(q), self.write(r))
                others = [(self.poly(b), m) for b, m in left]
                found.append(self.assembled(unit, outside, [*others, (total, 1)]))
        return found

    def _value_of(self, unit: Fraction, singles: dict[int, int]) -> Factored:
        value = self.ring.const(unit)
        for i, n in singles.items():
            value = self.ring.mul(value, self.ring.pow(self.ring.of(self.frame.gens[i]), n))
        return value


__all__ = ["PI", "Budget", "Costs", "OutOfBudgetError", "Writer", "primitive"]
