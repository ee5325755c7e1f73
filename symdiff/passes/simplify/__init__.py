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
`decimals`      Literals of programs as people wrote them
`directions`    Exponents and angles that are multiples of one another, however they are...
`candidates`    What is tried for one window: by other functions, sums apart and together
`costs`         How long formulas are, and how many may be tried
`check`         Is a shorter formula equal to what it replaces? Tried at points, in ball...
`familiar`      Formulas in the functions that people know, before anything is shortened
`frame`         A window of a formula as a quotient of polynomials in generators
`known_bases`   Powers and logarithms of numbers, by fewer of them; hyperbolic functions...
`on_domain`     Forms that are equal on the domain of a function, where they may be defi...
`one_angle`     Functions of one angle, written by each of the others
`pieces`        Small pieces of writing: products of powers, signs, numbers
`polynomials`   Polynomials, written as short as is found
`products`      Products: what they are as formulas, and about how long they get
`radicals`      Roots: their squares are their radicands, in both directions
`rules`         Identities for what is no quotient of polynomials: one table, each sampl...
`truth`         Conditions of branches, as short as they get
`waves`         Products of sines and cosines as sums of them, of sums and differences o...
`writer`        From quotients of polynomials to the shortest formula that is found for ...
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from symdiff import ir
from symdiff.ir import ADD, CONST, DIV, HALF, MUL, NEG, ONE, POW, SUB, VAR, Expr, eq, where
from symdiff.ir.formula_text import terms, tree_sizes
from symdiff.ir.functions import EXP, HYPOT, SLOPES, XLOG1PY, XLOGY
from symdiff.passes.cancel.algebra import RATIONAL_OPS
from symdiff.passes.cancel.rational import Factored, OutOfBudgetError
from symdiff.passes.simplify import radicals, waves
from symdiff.passes.simplify.candidates import MAX_TERMS, Candidates
from symdiff.passes.simplify.check import compare, equal
from symdiff.passes.simplify.costs import Budget, Costs
from symdiff.passes.simplify.directions import TURNING
from symdiff.passes.simplify.familiar import readable, with_like_terms
from symdiff.passes.simplify.frame import Frame, inside, window
from symdiff.passes.simplify.known_bases import BASES, as_exponentials, of_numbers
from symdiff.passes.simplify.on_domain import as_powers
from symdiff.passes.simplify.rules import SHIFTED, rewritten, shifted, turned_odd

MAX_OPERATIONS = 400
"""In formulas with more operations than this, written out as trees, only like terms are combined."""
CANDIDATES = 800
"""Candidates that are measured for one formula."""
ALTOGETHER, LEAST = 2400, 60
"""For all formulas of a call, and for each of them even then."""
AGAIN = 2
"""How often a result is simplified again."""
WORSE = 2
"""Operations by which an intermediate formula may be longer."""
MOST_TRIED = 12
"""Formulas of a window that are compared with what they replace, the shortest first."""

_SUMS = (ADD, SUB)


@dataclass(frozen=True, slots=True)
class Short:
    """A short form; what must not be zero for it to be one, nothing for most; and the formula that
    it stands for, in which several may share more."""

    formula: Expr
    nonzero: tuple[Expr, ...] = ()
    start: Expr | None = None


def simplify(
    outputs: Iterable[Expr],
    others: Iterable[Expr | None] | None = None,
    within: Iterable[Expr | None] | None = None,
    literals: Sequence[Fraction] = (),
) -> tuple[Expr, ...]:
    """The shortest form that is found for each output.

    Parameters
    ----------
    outputs : the formulas.
    others : for each, another formula of the same function to start from, or None.
    within : for each, a formula outside whose domain values do not matter, or None.
    literals : the decimals in the user's source, which are used to write numbers.
    """
    return tuple(short.formula for short in short_forms(outputs, others, within, False, literals))


def short_forms(
    outputs: Iterable[Expr],
    others: Iterable[Expr | None] | None = None,
    within: Iterable[Expr | None] | None = None,
    conditional: bool = True,
    literals: Sequence[Fraction] = (),
) -> list[Short]:
    """As `simplify`; including forms that hold where a variable is not zero, if they are
    shorter."""
    given = _written_out(outputs)
    others = tuple(e if e is None else _written_out((e,))[0] for e in others or [None] * len(given))
    domains = tuple(within or [None] * len(given))
    found: dict[Expr, Short] = {}
    left = ALTOGETHER
    for e, other, domain in zip(given, others, domains, strict=True):
        if e not in found:
            budget = Budget(min(CANDIDATES, max(left, LEAST)))
            before = budget.left
            start = readable(e)
            short = _short(e, start, other, domain, budget, conditional, literals)
            found[e] = replace(short, start=start)
            left -= before - budget.left
    return [found[e] for e in given]


def _written_out(outputs: Iterable[Expr]) -> tuple[Expr, ...]:
    """The formulas with slopes at ties as branches, for real numbers: without branches for nan."""
    outputs = tuple(outputs)
    tied = {frozenset(n.args) for n in ir.topological(outputs) if n.op in SLOPES}

    def rule(e: Expr, args: tuple[Expr, ...]) -> Expr:
        if e.op in SLOPES:
            return where(eq(*args), HALF, ONE)
        if e.op is ir.WHERE:
            low, high = args[0].args[:2] if args[0].op in (ir.LE, ir.LT) else (e, e)
            if args[0].op is ir.LE and high is ir.INF:
                return args[1]
            if args[0].op is ir.LT and args[1] is ir.ZERO and frozenset(e.args[0].args) in tied:
                return where(ir.le(high, low), args[2], args[1])
        return ir.rebuild(e, args)

    return ir.transform(outputs, rule)


def _short(
    e: Expr,
    start: Expr,
    other: Expr | None,
    domain: Expr | None,
    budget: Budget,
    conditional: bool,
    literals: Sequence[Fraction],
) -> Short:
    if not e.args:
        return Short(e)
    if tree_sizes((start,))[start] > MAX_OPERATIONS:
        return Short(with_like_terms(e, shared=False))
    start = with_like_terms(start)
    starts, other = _written_twice(e, start, other)
    nodes = ir.topological(starts)
    costs = Costs(nodes, literals)
    ops = {n.op for n in nodes}
    starts += _other_forms(start, ops, not (domain is None or domain is e))
    roots = radicals.as_roots(start) if HYPOT in ops else start
    if roots is not start:
        starts.append(roots)
    strange = {XLOGY, XLOG1PY} & ops - {
        n.op for n in ir.topological((start if domain is None else domain,))
    }
    best = Short(start)
    if len(starts) > 1 and starts[1] is other and compare(other, start, False, domain):
        best = Short(other)  # cancelled to what is undefined at zero
    windows: Windows = {}
    for first in starts:
        found = _from(first, start, costs, budget, domain, windows)
        if not conditional:
            found = [f for f in found if not f.nonzero]
        if first is roots is not start:
            found = [f for f in found if not f.nonzero]
            made = [radicals.as_hypots(f.formula, start) for f in found]
            found += [Short(e) for e in made if equal(start, e, within=domain)]
        for short in found:
            if other in starts[1:] and short.formula is not other and not short.nonzero:
                assert other is not None  # if it is the start, that was compared already
                nonzero = compare(other, short.formula, False, domain)
                if nonzero and (not conditional or not set(nonzero) <= _in_bases(other)):
                    continue
                short = Short(short.formula, nonzero or ())
            if _is_shorter(short, best, costs, strange):
                best = short
    before = start
    for _ in range(AGAIN):  # by other functions, or without a root, more may be found
        first = of_numbers(best.formula)
        alike = first is best.formula and _functions(first) == _functions(before)
        if best.nonzero or alike:
            break
        more = _from(first, start, costs, budget, domain, windows)
        found = [f for f in more if not f.nonzero and costs.shorter(f.formula, best.formula)]
        if not found:
            break
        before, best = best.formula, found[0]
    return best


def _written_twice(e: Expr, start: Expr, other: Expr | None) -> tuple[list[Expr], Expr | None]:
    """The formula to search, and the formula as written in the form to search."""
    if other is None:
        return [start], None
    if other is e:
        return [start], start
    other = readable(other)
    if tree_sizes((other,))[other] > MAX_OPERATIONS:
        return [start], other
    other = with_like_terms(other)
    return [start] if other is start else [start, other], other


def _other_forms(start: Expr, ops: set[ir.Op], with_powers: bool) -> list[Expr]:
    """Other forms of a formula from which shorter ones are searched."""
    forms = [shifted] if not ops.isdisjoint(SHIFTED) else []
    forms += [of_numbers, as_exponentials] if not ops.isdisjoint(BASES) else []
    forms += [as_powers] if with_powers else []
    return [made for form in forms if (made := form(start)) is not start]


def _is_shorter(short: Short, best: Short, costs: Costs, strange: set[ir.Op]) -> bool:
    """Whether a formula is preferred: nobody writes operations that are `strange`."""
    is_strange, was_strange = (
        bool(strange) and _has_any(s.formula, strange) for s in (short, best)
    )
    if is_strange is not was_strange:
        return was_strange
    if bool(short.nonzero) is bool(best.nonzero):
        return costs.shorter(short.formula, best.formula)
    gain = costs.length(best.formula) - costs.length(short.formula)
    return gain > 0 if short.nonzero else gain >= 0  # a condition is worth an operation


def _functions(e: Expr) -> set[Expr]:
    """The generators of windows other than variables and exponentials; for powers, the base."""
    whole = (n for n in ir.topological((e,)) if n.args and n.op is not EXP)
    other = (n for n in whole if n.op not in RATIONAL_OPS and ir.integer(n.args[-1]) is None)
    return {n.args[0] if n.op is POW else n for n in other}


def _from(
    first: Expr, start: Expr, costs: Costs, budget: Budget, domain: Expr | None, windows: Windows
) -> list[Short]:
    """The short form found from one of the starting formulas."""
    found: list[Short] = []
    # parts are compared only if the whole fails; a domain that one loses may be kept by the rest
    for trusting, strict in ((True, False), (False, False), (False, True)):
        work = _Simplifier(costs, strict, budget, domain, windows)
        work.top = {first: start}
        work.trusting = trusting
        made = work.of(first)
        if work.failed:
            continue
        if made is start or made in work.proven or equal(start, made, within=domain):
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
    """The variables in bases of powers with symbolic exponents: where such a base is
    zero, the derivative exists for some exponents only."""
    bases = {n.args[0] for n in ir.topological((e,)) if n.op is POW and not ir.rational(n.args[1])}
    return set(ir.variables(bases))


def _has_any(e: Expr, ops: set[ir.Op]) -> bool:
    return any(n.op in ops for n in ir.topological((e,)))


Windows = dict[Any, Candidates]
"""Searches by generators; and whether they are cautious."""


class _Simplifier:
    """Simplifies a formula from the top: a window at a time, after what its generators are
    functions of."""

    def __init__(
        self, costs: Costs, strict: bool, budget: Budget, domain: Expr | None, windows: Windows
    ) -> None:
        self.costs, self.strict, self.budget, self.domain = costs, strict, budget, domain
        self.windows = windows
        self.top: dict[Expr, Expr] = {}
        self.trusting = self.failed = False
        self.proven: set[Expr] = set()
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
        if not e.args or _is_plain(e):
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
            ranked = self.costs.ranked(candidates)
            exponents = self._exponents(ranked[0])
            if exponents is not ranked[0]:
                ranked.insert(0, exponents)
            if self.costs.formulas.negative(ranked[0]):
                turned = turned_odd(ranked[0])
                if turned is not None and self.costs.shorter(turned, ranked[0]):
                    ranked.insert(0, turned)
            chosen = self._first_equal(e, start, ranked)
            if chosen is not start or ranked[0] is start:
                return chosen
        return chosen

    def _first_equal(self, e: Expr, start: Expr, ranked: list[Expr]) -> Expr:
        """The first formula of a list that equals a node, and the formula it starts from."""
        top = self.top.get(e)
        if self.trusting and top is None:
            return ranked[0]
        for candidate in ranked[:MOST_TRIED]:
            if candidate is start or self.failed:
                break
            if top is not None:
                nonzero = compare(top, candidate, True, self.domain)
            else:
                nonzero = compare(e, candidate, self.strict, self.domain)
            if nonzero == ():
                if top is not None:
                    self.proven.add(candidate)
                return candidate
            if self.trusting:
                self.failed = True
                break
            if nonzero and (
                e not in self.conditional
                or self.costs.shorter(candidate, self.conditional[e].formula)
            ):
                self.conditional[e] = Short(candidate, nonzero)
        return start

    def _below(self, e: Expr) -> Expr:
        """A part of a formula: as its user wrote it, unless another form has fewer operations."""
        found = self.of(e)
        if found is e or self.costs.length(found) != self.costs.length(e):
            return found
        return e if self.costs.rank(found)[1] == self.costs.rank(e)[1] else found

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
        opened = {radicand: self._opened(radicand) for radicand in roots}
        second = self._inner(e, nodes, opened)
        return [first] if second is first else [first, second]

    def _exponents(self, e: Expr) -> Expr:
        """With exponents that came about by differentiation simplified."""
        new: dict[Expr, Expr] = {}
        for node in ir.topological((e,)):
            if node.op is POW and node.args[1].op in _SUMS and node not in self.known:
                x = self.of(node.args[1])
                if self.costs.length(x) < self.costs.length(node.args[1]):
                    new[node] = ir.power(node.args[0], x)
        return ir.substitute((e,), new)[0] if new else e

    def _opened(self, radicand: Expr) -> Expr | None:
        """A square root with what is a square in some form of its radicand taken out."""
        shortest = self.of(radicand)
        first = radicals.opened(shortest)
        if not any(n.op in TURNING for n in ir.topological((shortest,))):
            return first
        least = self.costs.length(shortest) + WORSE
        forms = self.costs.ranked(self._window(shortest) or ())[:MOST_TRIED]
        made = [radicals.opened(e) for e in forms if self.costs.length(e) <= least]
        for root in self.costs.ranked(e for e in made if e is not None):
            if first is not None and not self.costs.shorter(root, first):
                break
            if equal(ir.sqrt(radicand), root, within=self.domain):
                return root
        return first

    def _inner(self, e: Expr, nodes: list[Expr], opened: dict[Expr, Expr | None]) -> Expr:
        new: dict[Expr, Expr] = {}
        for node in nodes:
            q = ir.rational(node.args[1]) if node.op is POW else None
            if q is not None and q.denominator > 1:
                root = opened.get(node.args[0])
                if root is not None:
                    new[node] = ir.power(root, ir.const(2 * q))
                else:
                    new[node] = ir.power(self._below(new[node.args[0]]), node.args[1])
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
            work = self._candidates(e, cautious)
            value = work.frame.value(e)
            parts = terms(e)
            if e.op not in _SUMS or len(parts) > MAX_TERMS:
                found = [*work.all_of(value)]
            else:
                found = self._of_sum(work, e, parts, value, cautious)
        except OutOfBudgetError:
            return None
        if e.op in (MUL, DIV, NEG) and (
            cautious or self.costs.length(e) <= 2 * (min(map(self.costs.length, found)) + 1)
        ):
            found += work.product_of(e)
        best = self.costs.best(found)
        for wave in work.waves(value):
            if self.costs.length(wave) < self.costs.length(best) + WORSE:
                found += wave, self._again(wave)
        if (other := waves.apart(work.frame, e)) is not None:
            found.append(self._again(other))
        return found

    def _of_sum(
        self,
        work: Candidates,
        e: Expr,
        parts: list[tuple[int, Expr]],
        value: Factored,
        cautious: bool,
    ) -> list[Expr]:
        """The forms of a sum as a whole and in parts: what looks shorter first, so that the other
        one is left out where it cannot be."""
        if cautious or not self.trusting:  # the shortest one was not equal: all are wanted
            total = work.sum_of(parts)
            return [*work.all_of(value), *(() if total is None else (total,))]
        values, rough = work.frame.values, work.writer.rough
        limit = self.costs.length(e)
        if sum(rough(values[node]) + 1 for _, node in parts) <= rough(value):
            total = work.sum_of(parts, limit)
            limit = limit if total is None else self.costs.length(total)
            found = [] if total is None else [total]
            return found if found and work.least(value) > limit else [*work.all_of(value), *found]
        found = [*work.all_of(value)]
        least = min(map(self.costs.length, found))
        if limit <= 2 * (least + 1):  # otherwise its parts have nothing that short
            total = work.sum_of(parts, min(least, limit))
            found += () if total is None else (total,)
        return found

    def _candidates(self, e: Expr, cautious: bool) -> Candidates:
        """The search in the generators of a window: the same one for windows that have the same."""
        frame = Frame(e, self.costs.formulas, allocate=False)
        key = frame.signature, cautious
        work = self.windows.get(key)
        if work is not None and frame.added <= work.frame.added:
            work.frame.adopt(frame)
        else:
            frame.allocate()
            work = self.windows[key] = Candidates(frame, self.costs, self.budget, cautious)
        return work

    def _again(self, e: Expr) -> Expr:
        """The shortest form of a new formula."""
        try:
            work = self._candidates(e, False)
            return work.best(work.frame.value(e))
        except OutOfBudgetError:
            return e


def _is_plain(e: Expr) -> bool:
    """Whether nothing can be shorter: every variable occurs once, at most one number, and no sign
    that a sum could take."""
    seen: set[Expr] = set()
    numbers, sums, signs = 0, False, False
    stack = [e]
    while stack:
        node = stack.pop()
        if node.op is VAR:
            if node in seen:
                return False
            seen.add(node)
        elif node.op is CONST:
            numbers += 1
        elif node.op is POW:
            if ir.integer(node.args[1]) is None:
                return False
            stack.append(node.args[0])
        elif node.op in RATIONAL_OPS:
            sums |= node.op in _SUMS
            signs |= node.op is NEG
            stack += node.args
        else:
            return False
    return numbers <= 1 and not (sums and signs)


def _is_rational(e: Expr) -> bool:
    return e.op in RATIONAL_OPS or e.op is POW
