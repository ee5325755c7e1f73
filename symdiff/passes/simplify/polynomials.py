"""Polynomials, written as short as is found.

Before:  6*x**2 - 6*x + 1, x**2 + 2*x*y + y**2 + z
After:   6*x*(x - 1) + 1, (x + y)**2 + z

A polynomial is written as it stands, by its factors, by the sums that its user wrote, with a
common factor of some terms taken out (Horner), or as a completed square.
"""

from __future__ import annotations

from collections.abc import Iterable
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
"""Longer polynomials are written as they stand."""
MAX_SPLIT = 8
"""Longer ones are not taken apart by every generator."""
MANY = 5
"""Those with so many terms are divided by what their user wrote even if that gives as many."""


class Polynomials(Products):
    """Writes polynomials in the symbols of a frame."""

    def __init__(self, frame: Frame, costs: Costs, budget: Budget, cautious: bool = False) -> None:
        super().__init__(frame, costs, budget, cautious)
        self._polys: dict[str, Expr] = {}
        self._busy: set[str] = set()
        self._factors_of: dict[str, Any] = {}

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
        c, parts = self.factors(p, key)
        if len(parts) > 1 or parts[0][1] > 1:
            others = [(self.poly(q), int(k)) for q, k in parts]
            candidates.append(self.assembled(fraction(c), {}, others))
        if len(p) >= 3:
            candidates += self._split(p, min(map(self.costs.length, candidates)))
            candidates += self._squares(p)
            candidates += self._by_known(p)
        return self.costs.best(candidates)

    def factors(self, p: Any, key: str) -> tuple[Any, list[tuple[Any, int]]]:
        """The irreducible factors of a polynomial that no symbol divides, with a number."""
        found = self._factors_of.get(key)
        if found is None:
            found = (1, [(p, 1)]) if self._is_irreducible(p, key) else p.factor()
            self._factors_of[key] = found
        return found

    def _is_irreducible(self, p: Any, key: str) -> bool:
        """Whether that is seen at once: of degree one in a symbol that only one term has, or all
        but one."""
        rows = self.rows(p, key)
        uses: dict[int, int] = {}
        high: set[int] = set()
        for powers, _ in rows:
            for i, n in powers.items():
                uses[i] = uses.get(i, 0) + 1
                if n > 1:
                    high.add(i)
        if len(rows) in uses.values():
            return False
        return any(n in (1, len(rows) - 1) for i, n in uses.items() if i not in high)

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

    def _once(self, rows: Iterable[tuple[int, ...]]) -> int:
        """Operations that a polynomial has at least: each symbol is written once."""
        used = {i for m in rows for i, n in enumerate(m) if n}
        return sum(self.length_of(i) for i in used) + max(len(used) - 1, 0)

    def _split(self, p: Any, limit: int) -> list[Expr]:
        """A common factor of some terms taken out of them, where that may be no longer than the
        limit."""
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
            if self._once(with_it) + self._once(without) + 1 > limit:
                continue
            if not self.budget.spend():
                break
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
