"""What is tried for one window: by other functions, sums apart and together."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from symdiff import ir
from symdiff.ir import ADD, SUB, Expr
from symdiff.ir.formula_text import factors, terms
from symdiff.passes.cancel.rational import Factored, OutOfBudgetError
from symdiff.passes.simplify import absolute, one_angle, radicals, waves
from symdiff.passes.simplify.costs import Budget, Costs
from symdiff.passes.simplify.frame import Frame, common_measure
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


class Candidates:
    """Candidates for the values of one frame."""

    def __init__(self, frame: Frame, costs: Costs, budget: Budget, cautious: bool = False) -> None:
        self.frame, self.costs = frame, costs
        self.writer = Writer(frame, costs, budget, cautious)
        self._best: dict[object, Expr] = {}
        self._all: dict[object, list[Expr]] = {}
        self._waves: dict[object, list[Expr]] = {}

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
        """The value in the terms of other functions of its angles and roots."""
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

    def sum_of(self, parts: Sequence[tuple[int, Expr]]) -> Expr:
        """A sum of parts, brought together in pairs as long as that makes it shorter."""
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
        options = [self._paired(values)]
        shared = self._shared(values)
        above = Factored(shared.unit, {k: f for k, f in shared.factors.items() if f[1] > 0})
        choices = [shared] if len(above.factors) == len(shared.factors) else [shared, above]
        units = [v.unit for v in values if v.unit]
        if any(u.denominator > 1 for u in units) and (unit := common_measure(units)) != 1:
            unit = unit if any(u > 0 for u in units) else -unit
            choices = [Factored(unit, shared.factors), *choices]
        for common in choices:
            if common.factors or common.unit != 1:
                inner = self._paired([ring.div(v, common) for v in values])
                options.append(ir.mul(self.best(common), inner))
        if 1 < len(groups) < len(values):
            options.append(self._paired(list(groups.values())))
        return self.costs.best(options)

    def _shared(self, values: list[Factored]) -> Factored:
        """The factors that all have."""
        shared: dict[str, tuple[Any, int]] = {}
        for key, (base, n) in values[0].factors.items():
            others = [v.factors.get(key, (base, 0))[1] for v in values]
            least = min(others) if n > 0 else max(others)
            if least * n > 0:
                shared[key] = base, least
        return Factored(Fraction(1), shared)

    def _paired(self, values: list[Factored]) -> Expr:
        ring = self.frame.ring
        values = [v for v in values if v.unit]
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
                        if self.writer.rough(both) > 2 * (apart + 1):
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
        """The shortest form of a term of a sum, which has its sign for nothing."""
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
        """A product with one of its sums brought together in pairs."""
        ring, found = self.frame.ring, []
        unit, parts = factors(e)
        written = dict[int, Expr]()
        for k, (base, exponent) in enumerate(parts):
            n = ir.integer(exponent)
            if base.op not in _SUMS or n is None or not 2 <= len(terms(base)) <= MAX_TERMS:
                continue
            try:
                if not (self.frame.angles or any(self._is_quotient(t) for _, t in terms(base))):
                    continue  # polynomials are written as such
                rest = ring.const(unit)
                for i, (b, x) in enumerate(parts):
                    if i != k:
                        rest = ring.mul(rest, self.frame.value(ir.power(b, x)))
            except (OutOfBudgetError, KeyError):
                continue
            inner = self.sum_of(terms(base))
            found.append(ir.mul(self.best(rest), ir.power(inner, n)))
            if self.costs.length(inner) < self.costs.length(base):
                written[k] = inner
        if written:  # the rest as it is
            local: Expr = ir.const(unit)
            for k, (base, exponent) in enumerate(parts):
                local = ir.mul(local, ir.power(written.get(k, base), exponent))
            found.append(local)
        return found


__all__ = ["MAX_TERMS", "Candidates"]
