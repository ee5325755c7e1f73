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
`directions`    Exponents and angles that are multiples of one another, however they are...
`costs`         How long formulas are, and how many may be tried
`check`         Is a shorter formula equal to what it replaces? Tried at points, in ball...
`frame`         A window of a formula as a quotient of polynomials in generators
`one_angle`     Functions of one angle, written by each of the others
`pieces`        Small pieces of writing: products of powers, signs, numbers
`radicals`      Roots: their squares are their radicands, in both directions
`rules`         Identities for what is no quotient of polynomials: one table, each sampl...
`waves`         Products of sines and cosines as sums of them, of sums and differences o...
`writer`        From quotients of polynomials to the shortest formula that is found for ...
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from symdiff import ir
from symdiff.ir import ADD, DIV, MUL, NEG, POW, SUB, Expr
from symdiff.ir.formula_text import factors, terms, tree_sizes
from symdiff.passes.cancel.rational import Factored, OutOfBudgetError
from symdiff.passes.simplify import absolute, one_angle, radicals, waves
from symdiff.passes.simplify.check import compare, equal
from symdiff.passes.simplify.costs import Budget, Costs
from symdiff.passes.simplify.frame import Frame, inside, readable, window
from symdiff.passes.simplify.rules import rewritten
from symdiff.passes.simplify.writer import Writer

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

MARGIN = 4
"""Values that look longer than twice the shortest formula found, and this, are not written."""
MOST_TRIED = 12
"""Formulas of a window that are compared with what they replace, the shortest first."""

_SUMS = (ADD, SUB)
_RATIONAL = (ADD, SUB, NEG, MUL, DIV)


@dataclass(frozen=True, slots=True)
class Short:
    """A short form, and what must not be zero for it to be one: nothing, for most."""

    formula: Expr
    nonzero: tuple[Expr, ...] = ()


def simplify(
    outputs: Iterable[Expr],
    others: Iterable[Expr | None] | None = None,
    within: Iterable[Expr | None] | None = None,
) -> tuple[Expr, ...]:
    """The shortest form that is found for each output.

    Parameters
    ----------
    outputs : the formulas.
    others : for each, another formula of the same function to start from, or None.
    within : for each, a formula where only its domain matters, or None.
    """
    return tuple(short.formula for short in short_forms(outputs, others, within, False))


def short_forms(
    outputs: Iterable[Expr],
    others: Iterable[Expr | None] | None = None,
    within: Iterable[Expr | None] | None = None,
    conditional: bool = True,
) -> list[Short]:
    """As `simplify`; with forms that hold where a variable is not zero, if they are shorter."""
    given = tuple(outputs)
    others = tuple(others or [None] * len(given))
    domains = tuple(within or [None] * len(given))
    found: dict[Expr, Short] = {}
    left = ALTOGETHER
    for e, other, domain in zip(given, others, domains, strict=True):
        if e not in found:
            budget = Budget(min(CANDIDATES, max(left, LEAST)))
            before = budget.left
            found[e] = _short(e, other, domain, budget, conditional)
            left -= before - budget.left
    return [found[e] for e in given]


def _short(
    e: Expr, other: Expr | None, domain: Expr | None, budget: Budget, conditional: bool
) -> Short:
    if not e.args:
        return Short(e)
    start = readable(e)
    if tree_sizes((start,))[start] > MAX_OPERATIONS:
        return Short(e)
    starts = [start]
    if other is not None:
        other = readable(other)
        if other is not start and tree_sizes((other,))[other] <= MAX_OPERATIONS:
            starts.append(other)
    costs = Costs(ir.topological(starts))
    best = Short(start)
    for first in starts:
        found = _from(first, start, costs, budget, domain)
        if not conditional:
            found = [f for f in found if not f.nonzero]
        for short in found:
            shorter = costs.shorter(short.formula, best.formula)
            if short.nonzero and not best.nonzero:  # a condition is worth an operation
                shorter = costs.length(short.formula) < costs.length(best.formula)
            if shorter:
                best = short
    return best


def _from(
    first: Expr, start: Expr, costs: Costs, budget: Budget, domain: Expr | None
) -> list[Short]:
    """What is found from one of the formulas that there are to start with."""
    found: list[Short] = []
    for strict in (False, True):  # a domain that a part loses may be kept by the rest
        work = _Simplifier(costs, strict, budget, domain)
        made = work.of(first)
        if made is start or equal(start, made, within=domain):
            found.append(Short(made))
        short = work.conditional.get(first)
        if short is not None and not set(short.nonzero) <= _in_bases(start):
            short = None
        if short is not None and compare(start, short.formula, within=domain) == short.nonzero:
            found.append(short)
        if found:
            break
    return found


def _in_bases(e: Expr) -> set[Expr]:
    """The variables of bases of powers with symbols in their exponents: where such a base is
    zero, the derivative exists for some exponents only."""
    bases = {n.args[0] for n in ir.topological((e,)) if n.op is POW and not ir.rational(n.args[1])}
    return set(ir.variables(bases))


class _Simplifier:
    """Simplifies a formula from the top: a window at a time, after what its generators are
    functions of."""

    def __init__(self, costs: Costs, strict: bool, budget: Budget, domain: Expr | None) -> None:
        self.costs, self.strict, self.budget, self.domain = costs, strict, budget, domain
        self.known: dict[Expr, Expr] = {}
        self.conditional: dict[Expr, Short] = {}

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
        best: Expr | None = None
        for start in self._starts(e):
            found = self._shortest(e, start)
            if best is None or self.costs.shorter(found, best):
                best = found
        assert best is not None
        return best

    def _shortest(self, e: Expr, start: Expr) -> Expr:
        """The shortest form of a node that is equal to it; from one form of its parts."""
        for cautious in (False, True):
            candidates = {start: None, **dict.fromkeys(rewritten(start))}
            if _is_rational(start):
                found = self._window(start, cautious)
                if found is None:  # too large for one window
                    start = ir.rebuild(start, tuple(self.of(a) for a in start.args))
                    found = self._window(start) if self.costs.length(start) < 60 else None
                    candidates[start] = None
                candidates |= dict.fromkeys(found or ())
            ranked = sorted(candidates, key=self.costs.of)
            chosen = self._first_equal(e, start, ranked)
            if chosen is not start or ranked[0] is start:
                return chosen
        return chosen

    def _first_equal(self, e: Expr, start: Expr, ranked: list[Expr]) -> Expr:
        """The first of some formulas that is equal to a node; what it starts from is."""
        for candidate in ranked[:MOST_TRIED]:
            if candidate is start:
                break
            nonzero = compare(e, candidate, self.strict, self.domain)
            if nonzero == ():
                return candidate
            if nonzero and (
                e not in self.conditional
                or self.costs.shorter(candidate, self.conditional[e].formula)
            ):
                self.conditional[e] = Short(candidate, nonzero)
        return start

    def _below(self, e: Expr) -> Expr:
        """A part of a formula: as its user wrote it, unless another form has fewer operations."""
        found = self.of(e)
        return e if self.costs.of(found)[:2] == self.costs.of(e)[:2] else found

    def _starts(self, e: Expr) -> list[Expr]:
        """With what is below the window of a node simplified; in several ways, if it has roots."""
        if not _is_rational(e) or not inside(e):
            return [ir.rebuild(e, tuple(self._below(a) for a in e.args))]
        nodes = window(e)
        roots = {
            node.args[0]: None
            for node in nodes
            if node.op is POW
            and (q := ir.rational(node.args[1])) is not None
            and q.denominator == 2
        }
        first = self._inner(e, nodes, dict.fromkeys(roots))
        if not roots:
            return [first]
        opened = {radicand: radicals.opened(self.of(radicand)) for radicand in roots}
        second = self._inner(e, nodes, opened)
        return [first] if second is first else [first, second]

    def _inner(self, e: Expr, nodes: list[Expr], opened: dict[Expr, Expr | None]) -> Expr:
        new: dict[Expr, Expr] = {}
        for node in nodes:
            q = ir.rational(node.args[1]) if node.op is POW else None
            if q is not None and q.denominator > 1:
                root = opened.get(node.args[0])
                if root is not None:
                    new[node] = ir.power(root, ir.const(2 * q))
                else:
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
            found = work.all_of(value)
        except OutOfBudgetError:
            return None
        parts = terms(e)
        least = min(map(self.costs.length, found))
        if self.costs.length(e) > 2 * least + MARGIN and not cautious:
            pass  # its parts have nothing that short
        elif e.op in _SUMS and 2 <= len(parts) <= MAX_TERMS:
            found.append(work.sum_of(parts))
        elif e.op in (MUL, DIV, NEG):
            found += work.product_of(e)
        best = self.costs.best(found)
        for wave in waves.forms(frame, value, work.writer):
            if self.costs.length(wave) < self.costs.length(best) + WORSE:
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
            found = self._best[key] = self.costs.best(self.all_of(value))
        return found

    def all_of(self, value: Factored) -> list[Expr]:
        """The shortest formula for each form of a value; those that look long are left out."""
        made: dict[Expr, None] = {}
        least = None
        for rough, _, v in sorted(
            (self.writer.rough(v), i, v) for i, v in enumerate(self.pool(value))
        ):
            if least is not None and rough > 2 * least + MARGIN:
                break
            e = self.writer.write(v)
            made[e] = None
            least = min(self.costs.length(e), least or 10**9)
        return list(made)

    def pool(self, value: Factored) -> list[Factored]:
        """The value in the terms of other functions of its angles and roots."""
        pool = {_key(value): value}
        for v in absolute.forms(self.frame, value):
            pool.setdefault(_key(v), v)
        for v in absolute.sized(self.frame, value):
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
                    apart = self.costs.length(ir.add(made[j], made[i]))
                    try:
                        both = ring.add(values[i], values[j])
                        if self.writer.rough(both) > 2 * apart + MARGIN:
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


__all__ = ["Short", "short_forms", "simplify"]
