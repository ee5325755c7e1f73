"""One formula, simplified from the top: a window of rational operations at a time.

What is below a window is simplified first, then the forms of the window are ranked by their
lengths, and the first that equals what it replaces is taken (`check`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from symdiff import ir
from symdiff.ir import ADD, CONST, DIV, MUL, NEG, POW, SUB, VAR, Expr
from symdiff.ir.formula_text import terms
from symdiff.ir.identities import Form, rewritings
from symdiff.passes.cancel.algebra import RATIONAL_OPS
from symdiff.passes.cancel.rational import Factored, OutOfBudgetError
from symdiff.passes.simplify import radicals, waves
from symdiff.passes.simplify.candidates import MAX_TERMS, Candidates
from symdiff.passes.simplify.check import compare, equal
from symdiff.passes.simplify.costs import Budget, Costs
from symdiff.passes.simplify.directions import TURNING
from symdiff.passes.simplify.frame import Frame, inside, window
from symdiff.passes.simplify.related_functions import turned_odd

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


Windows = dict[Any, Candidates]
"""Searches by generators; and whether they are cautious."""


class WindowSimplifier:
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
            shorter = (new for new, _ in rewritings(start, Form.SHORT))
            candidates = {start: None, **dict.fromkeys(shorter)}
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
        if (other := waves.of_half_sums(work.frame, e)) is not None:
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
