"""Polynomials, written as short as is found.

Before:  6*x**2 - 6*x + 1, x**2 + 2*x*y + y**2 + z
After:   6*x*(x - 1) + 1, (x + y)**2 + z

A polynomial is written as it is, by its factors, by the sums that its user wrote or with a
common factor of some terms taken out (Horner).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from symdiff import ir
from symdiff.ir import ZERO, Expr
from symdiff.passes.cancel.rational import Factored, fraction
from symdiff.passes.simplify.costs import Budget, Costs
from symdiff.passes.simplify.frame import Frame
from symdiff.passes.simplify.pieces import negated, primitive, turned
from symdiff.passes.simplify.products import Products

MAX_TERMS = 40
"""Longer polynomials are written unchanged."""
MAX_SPLIT = 8
"""Longer ones are not split by every generator."""
MANY = 5
"""Those with this many terms are divided by the user's sums even if the result has as many."""


class Polynomials(Products):
    """Writes polynomials in the symbols of a frame."""

    def __init__(self, frame: Frame, costs: Costs, budget: Budget, cautious: bool = False) -> None:
        super().__init__(frame, costs, budget, cautious)
        self._polys: dict[str, Expr] = {}
        self._busy: set[str] = set()
        self._factors_of: dict[str, tuple[Any, list[tuple[Any, int]]]] = {}

    def write(self, value: Factored) -> Expr:
        """The shortest formula found for a value."""
        raise NotImplementedError

    def poly(self, p: Any) -> Expr:
        """The shortest formula found for a polynomial."""
        key = str(p)
        found = self._polys.get(key)
        if found is None:
            negative = -p
            other = self._polys.get(str(negative))
            if other is None or len(p) > MAX_TERMS:
                found = self._poly(p, key)
            else:  # the search used the other sign
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
        c, parts = self.factors(p, key)
        if len(parts) > 1 or parts[0][1] > 1:
            others = [(self.poly(q), int(k)) for q, k in parts]
            candidates.append(self.assembled(fraction(c), {}, others))
        if len(p) >= 3:
            candidates += self._split(p, min(map(self.costs.length, candidates)))
            candidates += self._by_known(p)
        return self.costs.best(candidates)

    def factors(self, p: Any, key: str) -> tuple[Any, list[tuple[Any, int]]]:
        """The irreducible factors of a polynomial that no symbol divides, with a number."""
        if key not in self._factors_of:
            self._factors_of[key] = p.factor()
        return self._factors_of[key]

    def _expanded(self, p: Any) -> Expr:
        total = ZERO
        for singles, c in self.rows(p):
            total = ir.add(total, self.assembled(c, singles, []))
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

    def _split(self, p: Any, limit: int) -> list[Expr]:
        """A common factor of some terms taken out of them, where the result may be within the
        limit: each symbol is written once."""
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
            with_it = {m: c for m, c in rows if m[i]}
            without = {m: c for m, c in rows if not m[i]}
            used = [{j for m in part for j, n in enumerate(m) if n} for part in (with_it, without)]
            least = sum(self.length_of(j) + 1 for symbols in used for j in symbols) - 1
            if least + 1 - all(used) > limit or not self.budget.spend():
                continue
            inner, outer = self._dict(with_it), self._dict(without)
            found.append(ir.add(self.poly(inner), self.poly(outer)))
            negative = -inner
            turned = self.poly(negative)
            if self.costs.length(turned) < self.costs.length(self.poly(inner)):
                found.append(ir.sub(self.poly(outer), turned))
        return found

    def _dict(self, rows: dict[tuple[int, ...], Any]) -> Any:
        return self.ring.context.from_dict(rows)

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
            more = len(quotient) + len(remainder) - len(p)  # a quotient of many may be a power
            if more > 0 or (more == 0 and len(p) < MANY) or key in self._busy:
                continue
            if not self.budget.spend():
                break
            self._busy.add(key)
            inner = self.ring.mul(self.ring.of(quotient), self.ring.of(base))
            found.append(ir.add(self.write(inner), self.poly(remainder)))
            self._busy.discard(key)
        return found
