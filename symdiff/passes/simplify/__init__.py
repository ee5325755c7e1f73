"""The short form of a formula: the one that a person would arrive at.

Before:  Vmax/(Km + S) - S*Vmax/(Km + S)**2
After:   Km*Vmax/(Km + S)**2

Requires: any DAG.
Ensures: formulas of the same values wherever the first were defined; no wider domain, but for
points that are filled by continuity; never more operations as they are printed. Every accepted
formula was compared with what it replaces at points, in ball arithmetic (`check`). Budgets count
candidates.

    frame    a window of the formula as a quotient of polynomials in generators
    angles   the same by other functions of an angle, or of an exponential
    roots    the same with other powers of roots
    waves    products of sines and cosines as sums of them
    writer   quotients of polynomials as formulas; what a formula costs
    rules    one table of identities for what is no quotient of polynomials
    check    whether two formulas agree
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from symdiff import ir
from symdiff.codegen.formula import factors, terms
from symdiff.ir import ADD, DIV, MUL, NEG, POW, SUB, Expr
from symdiff.passes.rational import Factored, OutOfBudgetError
from symdiff.passes.simplify import angles, roots, waves
from symdiff.passes.simplify.check import equal
from symdiff.passes.simplify.frame import Frame, readable
from symdiff.passes.simplify.rules import rewritten
from symdiff.passes.simplify.writer import Budget, Costs, Writer

MAX_OPERATIONS = 400
"""Formulas with more operations than this stay as they are."""
CANDIDATES = 1500
"""Candidates that are measured for one formula."""
MAX_TERMS = 10
"""Sums with more terms are not taken apart."""
MAX_POOL = 6
"""Values that are kept while functions of several angles are rewritten."""

_SUMS = (ADD, SUB)
_RATIONAL = (ADD, SUB, NEG, MUL, DIV)


def simplify(outputs: Iterable[Expr]) -> tuple[Expr, ...]:
    """The shortest form that is found for each output."""
    found: dict[Expr, Expr] = {}
    result = []
    for e in outputs:
        if e not in found:
            found[e] = _simplified(e)
        result.append(found[e])
    return tuple(result)


def _simplified(e: Expr) -> Expr:
    if not e.args:
        return e
    start = readable(e)
    nodes = ir.topological((start,))
    if len(nodes) > MAX_OPERATIONS:
        return e
    costs = Costs(nodes)
    if costs.formulas.length(start) > MAX_OPERATIONS:
        return e
    work = _Simplifier(costs)
    best = work.of(start)
    for candidate in sorted({best, *work.runners.get(start, ())}, key=costs.of)[:4]:
        if candidate is start or costs.of(candidate) >= costs.of(start):
            break
        if equal(e, candidate):
            return candidate
    return start


class _Simplifier:
    """Simplifies the nodes of one formula, children first."""

    def __init__(self, costs: Costs) -> None:
        self.costs, self.budget = costs, Budget(CANDIDATES)
        self.known: dict[Expr, Expr] = {}
        self.runners: dict[Expr, list[Expr]] = {}

    def of(self, e: Expr) -> Expr:
        """The shortest form found for a node."""
        for node in ir.topological((e,), self.known):
            if node not in self.known:
                self.known[node] = self._node(node)
        return self.known[e]

    def _node(self, node: Expr) -> Expr:
        if not node.args:
            return node
        start = ir.rebuild(node, tuple(self.known[a] for a in node.args))
        if start is not node and start in self.known:
            return self.known[start]
        if start.op.boolean or not start.args:
            return start
        candidates = {start: None, **dict.fromkeys(rewritten(start))}
        if _is_rational(start):
            candidates |= dict.fromkeys(self._window(start))
        checked = [c for c in candidates if c is start or self._agrees(start, c)]
        best = self.costs.best(checked)
        self.known[start] = best
        return best

    def _agrees(self, start: Expr, candidate: Expr) -> bool:
        """Whether a candidate that would be taken is right; longer ones are not looked at."""
        return self.costs.of(candidate) < self.costs.of(start) and equal(start, candidate)

    # ----------------------------------------------------------------- windows
    def _window(self, e: Expr) -> Sequence[Expr]:
        """The best forms of a quotient of polynomials; empty if it is too large."""
        try:
            frame = Frame(e)
            value = frame.value(e)
        except OutOfBudgetError:
            return ()
        work = _Window(frame, self.costs, self.budget)
        found = [work.best(value)]
        parts = terms(e)
        if e.op in _SUMS and 2 <= len(parts) <= MAX_TERMS:
            found.append(work.sum_of(parts))
        elif e.op in (MUL, DIV, NEG):
            found += work.product_of(e)
        found += [f for w in waves.forms(frame, value, work.writer) for f in (w, self._again(w))]
        return found

    def _again(self, e: Expr) -> Expr:
        """A new formula, brought into its own shortest form."""
        try:
            frame = Frame(e)
            return _Window(frame, self.costs, self.budget).best(frame.value(e))
        except OutOfBudgetError:
            return e


class _Window:
    """Candidates for the values of one frame."""

    def __init__(self, frame: Frame, costs: Costs, budget: Budget) -> None:
        self.frame, self.costs = frame, costs
        self.writer = Writer(frame, costs, budget)
        self._best: dict[object, Expr] = {}

    def best(self, value: Factored) -> Expr:
        """The shortest form found for a value."""
        key = _key(value)
        found = self._best.get(key)
        if found is None:
            pool = self.pool(value)
            found = self._best[key] = self.costs.best(self.writer.write(v) for v in pool)
        return found

    def pool(self, value: Factored) -> list[Factored]:
        """The value in the terms of other functions of its angles and roots."""
        pool = {_key(value): value}
        for root in list(self.frame.roots.values()):
            for v in list(pool.values()):
                for form in roots.forms(self.frame, root, v):
                    pool.setdefault(_key(form), form)
            pool = self._kept(pool)
        for angle in self.frame.angles:
            for v in list(pool.values()):
                for form in angles.forms(self.frame, angle, v):
                    pool.setdefault(_key(form), form)
            pool = self._kept(pool)
        return list(pool.values())

    def _kept(self, pool: dict[object, Factored]) -> dict[object, Factored]:
        if len(pool) <= MAX_POOL:
            return pool
        ranked = sorted(pool.items(), key=lambda kv: self.costs.of(self.writer.write(kv[1])))
        return dict(ranked[:MAX_POOL])

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
        if 1 < len(groups) < len(values):
            options.append(self._paired(list(groups.values())))
        return self.costs.best(options)

    def _paired(self, values: list[Factored]) -> Expr:
        ring = self.frame.ring
        values = [v for v in values if v.unit]
        made = [self.best(v) for v in values]
        while len(values) > 1:
            least, choice = 0, None
            for i in range(len(values)):
                for j in range(i):
                    if not self.writer.budget.spend():
                        break
                    try:
                        both = ring.add(values[i], values[j])
                        joined = self.best(both)
                    except OutOfBudgetError:
                        continue
                    apart = self.costs.of(ir.add(made[j], made[i]))[0]
                    gain = apart - self.costs.of(joined)[0]
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

    def product_of(self, e: Expr) -> list[Expr]:
        """A product with one of its sums brought together in pairs."""
        ring, found = self.frame.ring, []
        unit, parts = factors(e)
        for k, (base, exponent) in enumerate(parts):
            n = ir.integer(exponent)
            if base.op not in _SUMS or n is None or not 2 <= len(terms(base)) <= MAX_TERMS:
                continue
            try:
                rest = ring.const(unit)
                for i, (b, x) in enumerate(parts):
                    if i != k:
                        rest = ring.mul(rest, self.frame.value(ir.power(b, x)))
            except (OutOfBudgetError, KeyError):
                continue
            inner = self.sum_of(terms(base))
            found.append(ir.mul(self.best(rest), ir.power(inner, n)))
        return found


def _is_rational(e: Expr) -> bool:
    return e.op in _RATIONAL or e.op is POW


def _key(value: Factored) -> object:
    return value.unit, tuple(sorted((k, n) for k, (_, n) in value.factors.items()))


__all__ = ["simplify"]
