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
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from symdiff import ir
from symdiff.ir import ZERO, Expr
from symdiff.ir.functions import EXP, PI
from symdiff.passes.cancel.rational import Factored, OutOfBudgetError
from symdiff.passes.simplify.costs import Budget, Costs
from symdiff.passes.simplify.directions import times
from symdiff.passes.simplify.frame import Frame
from symdiff.passes.simplify.pieces import (
    fraction,
    multiplied,
    negated,
    primitive,
    roots_of_numbers,
    turned,
)

MAX_TERMS = 40
"""Longer polynomials are written as they stand."""
MAX_SPLIT = 12
"""Longer ones are not taken apart by every generator."""
MAX_PRODUCT = 10
"""Terms up to which products of sums are multiplied out."""


class Writer:
    """Writes the values of one frame."""

    def __init__(self, frame: Frame, costs: Costs, budget: Budget, cautious: bool = False) -> None:
        self.cautious = cautious  # nothing is divided that may vanish
        self.frame, self.ring, self.costs, self.budget = frame, frame.ring, costs, budget
        self._polys: dict[str, Expr] = {}
        self._values: dict[Any, Expr] = {}
        self._busy: set[str] = set()
        self._weights: dict[int, int] = {}
        self._exponents: dict[tuple[Fraction, Expr], Expr] = {}
        self._columns: dict[int, tuple[Expr, Fraction | int]] = {}
        self._bases = {b for b, _, _ in frame.powers.values() if b is not None}

    # ------------------------------------------------------------------ values
    def rough(self, value: Factored) -> int:
        """About how many operations a value has, without writing it."""
        total = 0 if value.unit in (1, -1) else 1 + (value.unit.numerator not in (1, -1))
        for base, n in value.factors.values():
            total += (abs(n) > 1) + 1
            if len(base) > 1:
                total += len(base) - 1
            for monomial, c in base.terms():
                total += c not in (1, -1)
                for i, k in enumerate(monomial):
                    if k:
                        total += self._weight(i) + 1 + (k > 1)
        return total

    def _weight(self, i: int) -> int:
        known = self._weights.get(i)
        if known is None:
            e = self.frame.columns[i] if i < len(self.frame.columns) else None
            known = 2 if e is None else self.costs.formulas.length(e)
            self._weights[i] = known
        return known

    def write(self, value: Factored) -> Expr:
        """The shortest formula found for a value."""
        if value.unit == 0:
            return ZERO
        key = value.unit, tuple(sorted((k, n) for k, (_, n) in value.factors.items()))
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
        for i, (p, m) in enumerate(sums):
            rest = sums[:i] + sums[i + 1 :]
            if m == 1:
                moved += self._moved(unit, singles, rest, p)
                candidates += self._divided(unit, singles, rest, p)
            elif m == -1:
                moved += self._moved_below(unit, singles, rest, p)
        candidates += self._inverted(unit, singles, sums)
        candidates += self._joined(value, singles)
        tops = [(p, m) for p, m in sums if m == 1]
        if len(tops) > 1 and math.prod(len(p) for p, _ in tops) <= MAX_PRODUCT:
            whole, rest = self.ring.context.constant(1), [f for f in sums if f[1] != 1]
            for p, _ in tops:
                whole = whole * p
            candidates += self._divided(unit, singles, rest, whole)
            moved += self._moved(unit, singles, rest, whole)
        best = self.costs.best(candidates)
        other = self.costs.best(moved) if moved else best
        return other if self.costs.length(other) < self.costs.length(best) else best

    def _joined(self, value: Factored, singles: dict[int, int]) -> Iterable[Expr]:
        """Factors that are the base of a power as part of that: `b*(b/x)**(a - 1)/x` is
        `(b/x)**a`."""
        for i in singles:
            base = self.frame.powers[i][0] if i in self.frame.powers else None
            if base is None or base not in self.frame.values:
                continue
            for k in (1, -1):
                if not self.budget.spend():
                    return
                rest = self.ring.div(value, self.ring.pow(self.frame.values[base], k))
                unit, sums, left = self._parts(rest)
                if len(sums) <= 8:
                    yield self._product(unit, left, sums, [(base, k)])

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
        for base, n in value.factors.values():
            if len(base) == 1:
                for i, k in enumerate(next(iter(base.monoms()))):
                    if k:
                        singles[i] = singles.get(i, 0) + int(k) * n
                continue
            for part, k in self._factored(base):
                whole, scale = primitive(part)
                unit *= scale ** (k * n)
                if len(whole) == 1:
                    for i, d in enumerate(next(iter(whole.monoms()))):
                        if d:
                            singles[i] = singles.get(i, 0) + int(d) * k * n
                else:
                    sums.append((whole, k * n))
        return unit, sums, {i: n for i, n in singles.items() if n}

    def _factored(self, base: Any) -> list[tuple[Any, int]]:
        if len(base) > MAX_TERMS or (str(base) in self.frame.known() and len(base) > 4):
            return [(base, 1)]
        c, parts = base.factor()
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

    def _sign_taken(self, e: Expr, turned: Expr, negative: bool) -> bool:
        """Whether a sum is better written as its negative, for a sign in front of it."""
        less = self.costs.length(turned) - self.costs.length(e)
        if less:
            return bool(less < 0)
        minus = self.costs.formulas.starts_with_minus
        return negative and not minus(turned) and not minus(e)

    def assembled(
        self, unit: Fraction, singles: dict[int, int], others: Sequence[tuple[Expr, Fraction | int]]
    ) -> Expr:
        """The product of a number, powers of symbols and powers of formulas."""
        exponents: dict[Expr, Fraction | int] = {}
        symbolic: dict[Expr, Expr] = {}
        natural = ZERO
        for i, n in sorted(singles.items()):
            power = self.frame.powers.get(i)
            if power is not None:
                base, m, step = power
                exponent = self._exponent(step * n, m)
                if base is None:
                    natural = ir.add(natural, exponent)
                else:
                    symbolic[base] = ir.add(symbolic.get(base, ZERO), exponent)
                continue
            base, q = self._column(i)
            exponents[base] = exponents.get(base, 0) + n * q
        for e, k in others:
            if e.op is ir.POW and (inner := ir.rational(e.args[1])) is not None:
                e, k = e.args[0], inner * k
            exponents[e] = exponents.get(e, 0) + k
        if len(exponents) > 1 and any(b.op is ir.CONST or b.op is PI for b in exponents):
            roots_of_numbers(exponents)
        over: list[Expr] = []
        under: list[Expr] = []
        for base, known in exponents.items():
            if base in symbolic:
                symbolic[base] = ir.add(symbolic[base], ir.const(known))
            elif base.op is ir.CONST and known.denominator == 1:
                number = ir.rational(base)
                assert number is not None
                unit *= number ** int(known)
            elif known.numerator < 0:
                under.append(base if known == -1 else ir.power(base, ir.const(-known)))
            elif known:
                over.append(base if known == 1 else ir.power(base, ir.const(known)))
        for base, exponent in symbolic.items():
            if self.costs.formulas.starts_with_minus(exponent):
                under.append(ir.power(base, negated(exponent)))
            else:
                over.append(ir.power(base, exponent))
        if natural is not ZERO:
            over.append(EXP(natural))
        top, bottom = multiplied(over), multiplied(under)
        if unit.numerator not in (1, -1):
            top = ir.mul(ir.const(abs(unit.numerator)), top)
        if unit.denominator != 1:
            bottom = ir.mul(ir.const(unit.denominator), bottom)
        made = ir.div(top, bottom)
        return ir.neg(made) if unit < 0 else made

    def _exponent(self, q: Fraction, m: Expr) -> Expr:
        """A multiple of a direction."""
        found = self._exponents.get((q, m))
        if found is None:
            found = self._exponents[q, m] = times(q, m, self.costs.formulas)
        return found

    def _column(self, i: int) -> tuple[Expr, Fraction | int]:
        """A symbol of the ring as a base and its exponent."""
        found = self._columns.get(i)
        if found is None:
            e = self.frame.columns[i]
            assert e is not None
            q = ir.rational(e.args[1]) if e.op is ir.POW else None
            found = self._columns[i] = (e, 1) if q is None else (e.args[0], q)
        return found

    # ------------------------------------------------------- factors into sums
    def _moved(
        self, unit: Fraction, singles: dict[int, int], rest: list[tuple[Any, int]], p: Any
    ) -> list[Expr]:
        """Denominators moved into a sum: `x**2*(a - b*x)/x` as `x**2*(a/x - b)`."""
        if len(p) > MAX_SPLIT or self.cautious or not (singles or abs(unit) != 1):
            return []
        terms = {tuple(map(int, m)): fraction(c) for m, c in p.terms()}
        candidates: list[Expr] = []
        state = dict(singles)
        best = None
        options: list[tuple[int, int]] = []
        for i, n in singles.items():
            degrees = sorted({m[i] for m in terms})
            if n < 0:
                options += [(i, k) for k in {*degrees[1:], -n} if 0 < k <= -n]
            elif i in self.frame.powers and n > 0:
                options += [(i, -n)]
        scales = [Fraction(1)]
        if unit.denominator > 1:
            scales.append(Fraction(1, unit.denominator))
        if abs(unit.numerator) > 1:
            scales.append(Fraction(abs(unit.numerator)))
            scales.append(abs(unit))
        taken: dict[int, int] = {}
        for scale in scales[not options :]:
            made = self._laurent(unit / scale, state, rest, terms, taken, scale)
            if best is None or self.costs.shorter(made, best[0]):
                best = made, taken, scale
        tried: set[Any] = set()
        for i, k in options:
            for scale in (Fraction(1), best[2] if best else Fraction(1)):
                trial = {**(best[1] if best else {}), i: k}
                for chosen in ({i: k}, trial):
                    key = scale, frozenset(chosen.items())
                    if key in tried or not self.budget.spend():
                        continue
                    tried.add(key)
                    made = self._laurent(unit / scale, state, rest, terms, chosen, scale)
                    if best is None or self.costs.shorter(made, best[0]):
                        best = made, chosen, scale
        if best is not None:
            candidates.append(best[0])
        if len(options) > 1:
            made = self._laurent(unit, state, rest, terms, dict(options), Fraction(1))
            candidates.append(made)
        return candidates

    def _laurent(
        self,
        unit: Fraction,
        singles: dict[int, int],
        rest: list[tuple[Any, int]],
        terms: dict[tuple[int, ...], Fraction],
        shift: dict[int, int],
        scale: Fraction,
    ) -> Expr:
        """The product with `scale` and powers of symbols moved into the terms of a sum."""
        outside = {i: n + shift.get(i, 0) for i, n in singles.items()}
        total = ZERO
        for monomial, c in terms.items():
            powers = {i: n for i, n in enumerate(monomial) if n}
            for i, k in shift.items():
                powers[i] = powers.get(i, 0) - k
            total = ir.add(total, self.assembled(c * scale, powers, []))
        turned = negated(total)
        if self._sign_taken(total, turned, unit < 0):
            total, unit = turned, -unit
        others = [(self.poly(q), n) for q, n in rest]
        made = self.assembled(unit, outside, [*others, (total, 1)])
        return made

    def _moved_below(
        self, unit: Fraction, singles: dict[int, int], rest: list[tuple[Any, int]], p: Any
    ) -> list[Expr]:
        """Factors of the numerator moved into a sum below: `x/(a*x + x**2 + b)`."""
        if len(p) > MAX_SPLIT or self.cautious or not singles:
            return []
        terms = {tuple(map(int, m)): fraction(c) for m, c in p.terms()}
        found: list[Expr] = []
        for i, n in singles.items():
            if n <= 0 or not self.budget.spend():
                continue
            k = min(n, max(m[i] for m in terms)) or n
            total = ZERO
            for monomial, c in terms.items():
                powers = {j: d for j, d in enumerate(monomial) if d}
                powers[i] = powers.get(i, 0) - k
                total = ir.add(total, self.assembled(c, powers, []))
            others = [(self.poly(q), m) for q, m in rest]
            outside = {**singles, i: n - k}
            found.append(self.assembled(unit, outside, [*others, (total, -1)]))
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
                for m, c in p.terms():
                    powers = {j: int(k) for j, k in enumerate(m) if k}
                    powers[i] = powers.get(i, 0) - d
                    total = ir.add(total, self.assembled(fraction(c), powers, []))
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

    # ------------------------------------------------------------- polynomials
    def poly(self, p: Any) -> Expr:
        """The shortest formula found for a polynomial."""
        key = str(p)
        found = self._polys.get(key)
        if found is None:
            negative = -p
            other = self._polys.get(str(negative))
            if other is None or len(p) > MAX_TERMS:
                found = self._poly(p, key)
            else:  # the search was made with the other sign
                found = self.costs.best([*self._as_known(p), *turned(other), self._expanded(p)])
            self._polys[key] = found
        return found

    def _poly(self, p: Any, key: str) -> Expr:
        expanded = self._expanded(p)
        if len(p) == 1 or len(p) > MAX_TERMS or not self.budget.spend():
            return expanded
        known = self._as_known(p)
        if len(p) == 2 and p.total_degree() == 1 and primitive(p)[1] in (1, -1):
            return self.costs.best([*known, expanded])
        candidates = [*known, expanded]
        if known and 2 * self.costs.length(known[0]) <= self.costs.length(expanded):
            return self.costs.best(candidates)
        whole, scale = primitive(p)
        if scale not in (1, -1):
            inner = self.poly(whole)
            gathered = self.assembled(scale, {}, [(inner, 1)])
            best = self.costs.best(candidates)
            return best if self.costs.length(best) < self.costs.length(gathered) else gathered
        content = whole.term_content()
        singles = {i: int(n) for i, n in enumerate(next(iter(content.monoms()))) if n}
        if singles:
            inner = self.poly(p / self._monomial(singles))
            candidates.append(self.assembled(Fraction(1), singles, [(inner, 1)]))
            return self.costs.best(candidates)
        c, parts = p.factor()
        if len(parts) > 1 or parts[0][1] > 1:
            others = [(self.poly(q), int(k)) for q, k in parts]
            candidates.append(self.assembled(fraction(c), {}, others))
        if len(p) >= 3:
            candidates += self._split(p)
            candidates += self._squares(p)
            candidates += self._by_known(p)
        return self.costs.best(candidates)

    def _expanded(self, p: Any) -> Expr:
        total = ZERO
        for monomial, c in p.terms():
            singles = {i: int(n) for i, n in enumerate(monomial) if n}
            total = ir.add(total, self.assembled(fraction(c), singles, []))
        return total

    def _monomial(self, singles: dict[int, int]) -> Any:
        made = self.ring.context.constant(1)
        for i, n in singles.items():
            made = made * self.frame.gens[i] ** n
        return made

    def _as_known(self, p: Any) -> list[Expr]:
        """Sums of the window that are this polynomial, as they were written."""
        lead = p.leading_coefficient()
        found: list[Expr] = []
        for e in self.frame.known().get(str(p / lead), ()):
            ratio = fraction(lead) / self.frame.values[e].unit
            if ratio in (1, -1):
                found.append(e if ratio == 1 else negated(e))
        return found

    def _split(self, p: Any) -> list[Expr]:
        """A common factor of some terms taken out of them."""
        rows = [(tuple(map(int, m)), c) for m, c in p.terms()]
        uses: dict[int, int] = {}
        for monomial, _ in rows:
            for i, n in enumerate(monomial):
                if n:
                    uses[i] = uses.get(i, 0) + 1
        if len(uses) < 2:
            return []  # people write a polynomial of one variable as such
        chosen = sorted((i for i, n in uses.items() if 2 <= n < len(rows)), key=lambda i: -uses[i])
        if len(rows) > MAX_SPLIT:
            chosen = chosen[:1]
        found: list[Expr] = []
        for i in chosen:
            if not self.budget.spend():
                break
            with_it = {m: c for m, c in rows if m[i]}
            without = {m: c for m, c in rows if not m[i]}
            inner, outer = self._dict(with_it), self._dict(without)
            found.append(ir.add(self.poly(inner), self.poly(outer)))
            negative = -inner
            turned = self.poly(negative)
            if self.costs.length(turned) < self.costs.length(self.poly(inner)):
                found.append(ir.sub(self.poly(outer), turned))
        return found

    def _dict(self, rows: dict[tuple[int, ...], Any]) -> Any:
        return self.ring.context.from_dict(rows)

    def _squares(self, p: Any) -> list[Expr]:
        """Completed squares: `x**2 + 2*x + 2` as `(x + 1)**2 + 1`."""
        found: list[Expr] = []
        if sum(d > 0 for d in p.degrees()) < 2:
            return []
        for i, d in enumerate(p.degrees()):
            if d != 2:
                continue
            rows: list[dict[tuple[int, ...], Any]] = [{}, {}, {}]
            for m, c in p.terms():
                k = int(m[i])
                rows[k][tuple(0 if j == i else int(n) for j, n in enumerate(m))] = c
            a, b, c0 = (self._dict(rows[k]) for k in (2, 1, 0))
            if not a.is_constant() or b.is_zero():
                continue
            lead = a.leading_coefficient()
            shifted = self.frame.gens[i] + b / (2 * lead)
            rest = c0 - b * b / (4 * lead)
            if len(rest) >= len(c0) + 1 or len(shifted) + len(rest) > len(p):
                continue
            if not self.budget.spend():
                break
            whole, scale = primitive(shifted)
            square = self.assembled(fraction(lead) * scale**2, {}, [(self.poly(whole), 2)])
            found.append(ir.add(square, self.poly(rest)) if not rest.is_zero() else square)
        return found

    def _by_known(self, p: Any) -> list[Expr]:
        """Divided by a sum that its user wrote: `q*s + r`."""
        found: list[Expr] = []
        key = str(p)
        for name, nodes in list(self.frame.known().items()):
            base = self.frame.values[nodes[0]].factors[name][0]
            if len(base) >= len(p) or len(base) > MAX_SPLIT:
                continue
            quotient, remainder = divmod(p, base)
            if quotient.is_zero() or remainder.is_zero():
                continue
            if len(quotient) + len(remainder) >= len(p) or not self.budget.spend():
                continue
            if key in self._busy:
                continue
            self._busy.add(key)
            inner = self.ring.mul(self.ring.of(quotient), self.ring.of(base))
            found.append(ir.add(self.write(inner), self.poly(remainder)))
            self._busy.discard(key)
        return found


__all__ = ["PI", "Budget", "Costs", "OutOfBudgetError", "Writer", "primitive"]
