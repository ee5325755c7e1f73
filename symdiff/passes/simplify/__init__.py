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

`absolute`      Absolute values and signs: `x*sign(x)` is `abs(x)`, `abs(x)*sign(x)` is ...
`check`         Is a shorter formula equal to what it replaces? Tried at points, in ball...
`frame`         A window of a formula as a quotient of polynomials in generators
`one_angle`     Functions of one angle, written by each of the others
`radicals`      Roots: their squares are their radicands, in both directions
`rules`         Identities for what is no quotient of polynomials: one table, each sampl...
`waves`         Products of sines and cosines as sums of them, of sums and differences o...
`writer`        From quotients of polynomials to the shortest formula that is found for ...
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from symdiff import ir
from symdiff.ir import ADD, DIV, MUL, NEG, POW, SUB, Expr
from symdiff.ir.formula_text import factors, terms, tree_sizes
from symdiff.passes.cancel.rational import Factored, OutOfBudgetError
from symdiff.passes.simplify import absolute, one_angle, radicals, waves
from symdiff.passes.simplify.check import equal
from symdiff.passes.simplify.frame import Frame, inside, readable, window
from symdiff.passes.simplify.rules import rewritten
from symdiff.passes.simplify.writer import Budget, Costs, Writer

MAX_OPERATIONS = 400
"""Formulas with more operations than this, written out as trees, stay as they are."""
CANDIDATES = 800
"""Candidates that are measured for one formula."""
ALTOGETHER, LEAST = 2400, 60
"""For all formulas of a call, and for each of them even then."""
MAX_TERMS = 10
"""Sums with more terms are not taken apart."""
MAX_POOL = 5
"""Values that are written, of those that functions of angles and roots give."""
MAX_ANGLES = 3
"""Windows with more angles, or exponentials, are not written by other functions of them."""
WORSE = 3
"""Operations by which an intermediate formula may be longer."""

_SUMS = (ADD, SUB)
_RATIONAL = (ADD, SUB, NEG, MUL, DIV)


def simplify(outputs: Iterable[Expr]) -> tuple[Expr, ...]:
    """The shortest form that is found for each output."""
    found: dict[Expr, Expr] = {}
    result, left = [], ALTOGETHER
    for e in outputs:
        if e not in found:
            budget = Budget(min(CANDIDATES, max(left, LEAST)))
            before = budget.left
            found[e] = _simplified(e, budget)
            left -= before - budget.left
        result.append(found[e])
    return tuple(result)


def _simplified(e: Expr, budget: Budget) -> Expr:
    if not e.args:
        return e
    start = readable(e)
    nodes = ir.topological((start,))
    if tree_sizes((start,))[start] > MAX_OPERATIONS:
        return e
    costs = Costs(nodes)
    found = start
    for strict in (False, True):  # a domain that a part loses may be kept by the rest
        found = _Simplifier(costs, strict, budget).of(start)
        if strict or found is start or equal(start, found):
            return found
    return found


class _Simplifier:
    """Simplifies a formula from the top: a window at a time, after what its generators are
    functions of."""

    def __init__(self, costs: Costs, strict: bool, budget: Budget) -> None:
        self.costs, self.strict, self.budget = costs, strict, budget
        self.known: dict[Expr, Expr] = {}

    def of(self, e: Expr) -> Expr:
        """The shortest form found for a node."""
        found = self.known.get(e)
        if found is None:
            found = self.known[e] = self._node(e)
            self.known[found] = found
        return found

    def _node(self, e: Expr) -> Expr:
        if not e.args:
            return e
        start = self._inner(e)
        for cautious in (False, True):
            candidates = {start: None, **dict.fromkeys(rewritten(start))}
            if _is_rational(start):
                found = self._window(start, cautious)
                if found is None:  # too large for one window
                    start = ir.rebuild(start, tuple(self.of(a) for a in start.args))
                    found = self._window(start) if self.costs.of(start)[0] < 60 else None
                    candidates[start] = None
                candidates |= dict.fromkeys(found or ())
            ranked = sorted(candidates, key=self.costs.of)
            for candidate in ranked:
                if candidate is start or equal(e, candidate, self.strict):
                    break
            if candidate is not start or ranked[0] is start:
                break
        return candidate

    def _below(self, e: Expr) -> Expr:
        """A part of a formula: as its user wrote it, unless another form has fewer operations."""
        found = self.of(e)
        return e if self.costs.of(found)[:2] == self.costs.of(e)[:2] else found

    def _inner(self, e: Expr) -> Expr:
        """With what is below the window of a node simplified."""
        if not _is_rational(e) or not inside(e):
            return ir.rebuild(e, tuple(self._below(a) for a in e.args))
        new: dict[Expr, Expr] = {}
        for node in window(e):
            if (
                node.op is POW
                and ir.rational(node.args[1]) is not None
                and (ir.integer(node.args[1]) is None)
            ):
                new[node] = radicals.extracted(self._below(new[node.args[0]]), node.args[1])
            elif inside(node):
                new[node] = ir.rebuild(node, tuple(new.get(a, a) for a in node.args))
            elif node.args:
                new[node] = self.of(node)
            else:
                new[node] = node
        return new[e]

    # ----------------------------------------------------------------- windows
    def _window(self, e: Expr, cautious: bool = False) -> Sequence[Expr] | None:
        """The best forms of a quotient of polynomials; None if it is too large."""
        try:
            frame = Frame(e)
            value = frame.value(e)
            work = _Window(frame, self.costs, self.budget, cautious)
            found = [work.best(value)]
        except OutOfBudgetError:
            return None
        parts = terms(e)
        if e.op in _SUMS and 2 <= len(parts) <= MAX_TERMS:
            found.append(work.sum_of(parts))
        elif e.op in (MUL, DIV, NEG):
            found += work.product_of(e)
        best = self.costs.best(found)
        for wave in waves.forms(frame, value, work.writer):
            if self.costs.of(wave)[0] < self.costs.of(best)[0] + WORSE:
                found += wave, self._again(wave)
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

    def __init__(self, frame: Frame, costs: Costs, budget: Budget, cautious: bool = False) -> None:
        self.frame, self.costs = frame, costs
        self.writer = Writer(frame, costs, budget, cautious)
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
        for v in absolute.forms(self.frame, value):
            pool.setdefault(_key(v), v)
        for root in list(self.frame.roots.values()):
            for v in list(pool.values()):
                for form in radicals.forms(self.frame, root, v):
                    pool.setdefault(_key(form), form)
            pool = self._kept(pool)
        chosen = [a for a in self.frame.angles if one_angle.matters(self.frame, a, value)]
        if len(chosen) <= MAX_ANGLES:
            for angle in chosen:
                for v in list(pool.values())[:2]:
                    for form in one_angle.forms(self.frame, angle, v):
                        pool.setdefault(_key(form), form)
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
        worst = 2 * self.writer.rough(pool[ranked[0]]) + 6
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
        if shared.factors:
            inner = self._paired([ring.div(v, shared) for v in values])
            options.append(ir.mul(self.best(shared), inner))
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
        made = [self.best(v) for v in values]
        while len(values) > 1:
            least, choice = 0, None
            for i in range(len(values)):
                for j in range(i):
                    if not self.writer.budget.spend():
                        break
                    if len(values) > 2 and self._of_one_variable(values[i], values[j]):
                        continue
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
