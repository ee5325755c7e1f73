"""What is tried for one window: by other functions, sums apart and together."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from symdiff import ir
from symdiff.ir import ADD, SUB, Expr
from symdiff.ir.formula_text import factors, of_factors, terms
from symdiff.ir.functions import EXTREMES
from symdiff.passes.cancel.algebra import common_measure
from symdiff.passes.cancel.rational import Factored, OutOfBudgetError
from symdiff.passes.simplify import absolute, one_angle, radicals, waves
from symdiff.passes.simplify.costs import Budget, Costs
from symdiff.passes.simplify.frame import Frame
from symdiff.passes.simplify.pieces import key_of
from symdiff.passes.simplify.writer import Writer

MAX_TERMS = 10
"""Sums with more terms are not taken apart."""
MAX_POOL = 3
"""Values that are written, of those that functions of angles and roots give."""
MAX_ANGLES = 3
"""Windows with more angles, or exponentials, are not written by other functions of them."""
RATIO, MARGIN = 1.5, 2
"""Values that look longer than this times the shortest formula found, and this, are not written."""

_SUMS = (ADD, SUB)
_SIZES = (ir.ABS, ir.SIGN, *EXTREMES)
_ONE: Fraction = ir.ONE.value


class Candidates:
    """Candidates for the values of one frame."""

    def __init__(self, frame: Frame, costs: Costs, budget: Budget, cautious: bool = False) -> None:
        self.frame, self.costs = frame, costs
        self.writer = Writer(frame, costs, budget, cautious)
        self._best: dict[object, Expr] = {}
        self._all: dict[object, list[Expr]] = {}
        self._waves: dict[object, list[Expr]] = {}
        self._pools: dict[object, list[Factored]] = {}
        self._active: set[int] | None = None
        self._has_powers = any(base is not None for base, _, _ in frame.powers.values())
        self._is_rational = not (frame.angles or frame.roots or self._has_powers)
        self._concerned: dict[str, bool] = {}
        self._symbols: dict[str, tuple[set[int], bool]] = {}

    def best(self, value: Factored) -> Expr:
        """The shortest form found for a value."""
        key = key_of(value)
        found = self._best.get(key)
        if found is None:
            found = self._best[key] = self.costs.best(self.all_of(value))
        return found

    def all_of(self, value: Factored) -> list[Expr]:
        """The shortest formula for each form of a value; those that look long are left out."""
        key = key_of(value)
        found = self._all.get(key)
        if found is None:
            found = self._all[key] = self._forms(value)
        return found

    def waves(self, value: Factored) -> list[Expr]:
        """Products of sines and cosines as sums of them."""
        key = key_of(value)
        found = self._waves.get(key)
        if found is None:
            found = self._waves[key] = [*waves.forms(self.frame, value, self.writer)]
        return found

    def _forms(self, value: Factored) -> list[Expr]:
        made: dict[Expr, None] = {}
        least = None
        for rough, _, v in sorted(
            (self.writer.rough(v), i, v) for i, v in enumerate(self.pool(value))
        ):
            if least is not None and rough > RATIO * least + MARGIN:
                break
            e = self.writer.write(v)
            made[e] = None
            least = min(self.costs.length(e), least or 10**9)
        return list(made)

    def pool(self, value: Factored) -> list[Factored]:
        """The value in the terms of other functions of its angles and roots, which are looked for
        once for all values that differ in other factors only."""
        if self._active is None:
            self._active = self._active_columns()
        if not self._active:
            return [value]
        core, rest = dict[str, tuple[Any, int]](), dict[str, tuple[Any, int]]()
        for key, factor in value.factors.items():
            (core if self._concerns(key, factor[0]) else rest)[key] = factor
        if not core:
            return [value]
        name = frozenset([(key, n) for key, (_, n) in core.items()])
        found = self._pools.get(name)
        if found is None:
            found = self._pools[name] = self._pool(Factored(_ONE, core))
        if not rest and value.unit is _ONE:
            return found
        other = Factored(value.unit, rest)
        return [self.frame.ring.mul(other, v) for v in found]

    def _concerns(self, key: str, base: Any) -> bool:
        """Whether a factor has functions of angles, roots, or their arguments."""
        if self._active is None:
            self._active = self._active_columns()
        if not self._active:
            return False
        found = self._concerned.get(key)
        if found is None:
            degrees = base.degrees()
            found = self._concerned[key] = any(degrees[i] for i in self._active)
        return found

    def _active_columns(self) -> set[int]:
        """The symbols that identities apply to."""
        frame, found = self.frame, set[int]()
        for angle in frame.angles:
            symbols = (angle.s, angle.c) if angle.exponential is None else (angle.exponential,)
            found |= {frame.index[str(g)] for g in symbols}
        for root in frame.roots.values():
            found.add(frame.index[str(root.symbol)])
        for base, _ in [f for r in frame.roots.values() for f in r.square.factors.values()]:
            found |= {i for i, d in enumerate(base.degrees()) if d}
        for e, symbol in frame.plain.items():
            if e.op in _SIZES:
                found |= {frame.index[str(symbol)]}
                found |= {i for i, a in enumerate(frame.columns) if a is not None and a in e.args}
        return found

    def _pool(self, value: Factored) -> list[Factored]:
        pool = {key_of(value): value}
        for v in absolute.forms(self.frame, value):
            pool.setdefault(key_of(v), v)
        for v in absolute.sized(self.frame, value):
            pool.setdefault(key_of(v), v)
        for v in absolute.clipped(self.frame, value):
            pool.setdefault(key_of(v), v)
        for root in list(self.frame.roots.values()):
            for v in list(pool.values()):
                for form in radicals.forms(self.frame, root, v):
                    pool.setdefault(key_of(form), form)
            pool = self._kept(pool)
        chosen = [a for a in self.frame.angles if one_angle.matters(self.frame, a, value)]
        if len(chosen) <= MAX_ANGLES:
            for angle in chosen:
                for v in list(pool.values())[:2]:
                    for form in one_angle.forms(self.frame, angle, v):
                        pool.setdefault(key_of(form), form)
                        if not self.writer.budget.spend():
                            break
                pool = self._kept(pool)
        return list(pool.values())

    def _kept(self, pool: dict[object, Factored]) -> dict[object, Factored]:
        """The values that look short, and the first."""
        if len(pool) <= 2:
            return pool
        first = next(iter(pool))
        ranked = sorted(pool, key=lambda k: self.writer.rough(pool[k]))[:MAX_POOL]
        worst = RATIO * self.writer.rough(pool[ranked[0]]) + 3
        kept = [k for k in ranked if self.writer.rough(pool[k]) <= worst]
        if first not in kept and self.writer.rough(pool[first]) <= 2 * worst:
            kept.append(first)
        return {k: pool[k] for k in kept}

    def least(self, value: Factored) -> int:
        """Operations that a value has at least, as good as always: of symbols that no identity
        connects, each is written once, and powers are not linear; a product as it stands; and a
        sum of two terms can be divided by little."""
        rough = self.writer.rough(value)
        if self._has_powers:
            return rough // 2 - 1
        sums, high, used = 0, False, set[int]()
        for key, (base, n) in value.factors.items():
            if self._concerns(key, base):
                return rough // 2 - 1
            sums += len(base) - 1
            columns, power = self._used(key, base)
            high = high or power or n not in (1, -1) or not used.isdisjoint(columns)
            used |= columns
        if not sums:
            return rough - 1
        once = sum(self.writer.length_of(i) for i in used) + len(used) - 1 + high
        return max(once, rough - 3 if sums == 1 else rough // 2 - 1)

    def _used(self, key: str, base: Any) -> tuple[set[int], bool]:
        """The symbols of a factor, and whether it has powers of them."""
        found = self._symbols.get(key)
        if found is None:
            degrees = base.degrees()
            found = {i for i, d in enumerate(degrees) if d}, any(d > 1 for d in degrees)
            self._symbols[key] = found
        return found

    def sum_of(self, parts: Sequence[tuple[int, Expr]], limit: int = 10**9) -> Expr | None:
        """A sum of parts, brought together in pairs as long as that makes it shorter; None if it
        would be longer than the limit."""
        ring = self.frame.ring
        values = [
            v if sign > 0 else ring.neg(v)
            for sign, node in parts
            for v in (self.frame.values[node],)
        ]
        groups: dict[object, Factored] = {}
        for v in values:  # what has one denominator
            below = tuple(sorted((k, n) for k, (_, n) in v.factors.items() if n < 0))
            groups[below] = ring.add(groups[below], v) if below in groups else v
        options = [self._paired(values, limit)]
        shared = self._shared(values)
        above = Factored(shared.unit, {k: f for k, f in shared.factors.items() if f[1] > 0})
        choices = [shared] if len(above.factors) == len(shared.factors) else [shared, above]
        units = [v.unit for v in values if v.unit]
        if units and (unit := common_measure(units)) != 1:
            unit = unit if any(u > 0 for u in units) else -unit
            choices = [Factored(unit, shared.factors), *choices]
        for common in choices:
            if common.factors or common.unit != 1:
                outer = max(self.least(common), 0) + 1
                rest = [ring.div(v, common) for v in values]
                inner = self._paired(rest, limit - outer, not self._is_rational)
                if inner is not None:
                    options.append(ir.mul(self.best(common), inner))
        if 1 < len(groups) < len(values):
            options.append(self._paired(list(groups.values()), limit))
        found = [e for e in options if e is not None]
        return self.costs.best(found) if found else None

    def _shared(self, values: list[Factored]) -> Factored:
        """The factors that all values share."""
        shared: dict[str, tuple[Any, int]] = {}
        for key, (base, n) in values[0].factors.items():
            others = [v.factors.get(key, (base, 0))[1] for v in values]
            least = min(others) if n > 0 else max(others)
            if least * n > 0:
                shared[key] = base, least
        return Factored(Fraction(1), shared)

    def _paired(self, values: list[Factored], limit: int, whole: bool = False) -> Expr | None:
        """A sum brought together in pairs; None if it is longer than the limit. Two terms are
        brought together for `whole` only: the caller has that already."""
        ring = self.frame.ring
        values = [v for v in values if v.unit]
        if len(values) == 2 and not whole:
            if sum(map(self.least, values)) + 1 > limit:
                return None
            made = [self._term(values[0])]
            if self.costs.formulas.size(made[0]) + self.least(values[1]) + 1 > limit:
                return None
            total = ir.add(made[0], self._term(values[1]))
            return total if self.costs.length(total) <= limit else None
        made = [self._term(v) for v in values]
        while len(values) > 1:
            least, choice = 0, None
            for i in range(len(values)):
                for j in range(i):
                    if not self.writer.budget.spend():
                        break
                    if len(values) > 2 and self._of_one_variable(values[i], values[j]):
                        continue
                    apart = self.costs.length(ir.add(made[j], made[i]))
                    try:
                        both = ring.add(values[i], values[j])
                        if apart - self.least(both) <= least:
                            continue
                        joined = self.best(both)
                    except OutOfBudgetError:
                        continue
                    gain = apart - self.costs.length(joined)
                    if gain > least:
                        least, choice = gain, (i, j, both, joined)
            if choice is None:
                break
            i, j, both, joined = choice
            values = [v for k, v in enumerate(values) if k not in (i, j)] + [both]
            made = [e for k, e in enumerate(made) if k not in (i, j)] + [joined]
        total = ir.ZERO
        for e in made:
            total = ir.add(total, e)
        return total

    def _term(self, value: Factored) -> Expr:
        """The shortest form of a term of a sum; its sign costs nothing."""
        formulas = self.costs.formulas
        found = self.all_of(value)
        least = min(formulas.size(e) for e in found)
        return self.costs.best([e for e in found if formulas.size(e) == least])

    def _of_one_variable(self, *values: Factored) -> bool:
        """Whether these are terms of a polynomial of one variable, which people expand."""
        columns = {
            i
            for v in values
            for base, _ in v.factors.values()
            for i, d in enumerate(base.degrees())
            if d
        }
        whole = all(n > 0 for v in values for _, n in v.factors.values())
        return whole and len(columns) < 2

    def _is_quotient(self, e: Expr) -> bool:
        return any(n < 0 for _, n in self.frame.value(e).factors.values())

    def product_of(self, e: Expr) -> list[Expr]:
        """A product with one of its sums brought together in pairs, or with the denominators under
        its terms: `(a*b + c*d)/(a*c)` as `b/c + d/a`."""
        ring, found = self.frame.ring, []
        unit, parts = factors(e)
        below = sum((q := ir.rational(x)) is not None and q < 0 for _, x in parts)
        written = dict[int, Expr]()
        for k, (base, exponent) in enumerate(parts):
            n = ir.integer(exponent)
            if base.op not in _SUMS or n is None or not 2 <= len(terms(base)) <= MAX_TERMS:
                continue
            try:
                plain = not (self.frame.angles or any(self._is_quotient(t) for _, t in terms(base)))
                if plain and (n != 1 or below < 2):
                    continue  # polynomials are written as such
                rest = ring.const(unit)
                for i, (b, x) in enumerate(parts):
                    if i != k:
                        rest = ring.mul(rest, self.frame.value(ir.power(b, x)))
                if n == 1 and below > 1 and (total := self._distributed(rest, base)) is not None:
                    found.append(total)
            except (OutOfBudgetError, KeyError):
                continue
            if plain:
                continue
            inner = self.best(self.frame.value(base))
            total = self.sum_of(terms(base), self.costs.length(inner))
            if total is not None:
                inner = self.costs.best([total, inner])
            found.append(ir.mul(self.best(rest), ir.power(inner, n)))
            if self.costs.length(inner) < self.costs.length(base):
                written[k] = inner
        if written:  # the rest as it is
            new = [(written.get(k, base), exponent) for k, (base, exponent) in enumerate(parts)]
            found.append(of_factors(unit, new))
        return found

    def _distributed(self, rest: Factored, base: Expr) -> Expr | None:
        """The terms of a sum times what is beside it, if some denominator vanishes in each."""
        ring = self.frame.ring
        values = list[Factored]()
        for sign, term in terms(base):
            value = ring.mul(rest, self.frame.value(term))
            if all(value.factors.get(k, (b, 0))[1] <= n for k, (b, n) in rest.factors.items()):
                return None
            values.append(value if sign > 0 else ring.neg(value))
        return self._paired(values, 10**9)
