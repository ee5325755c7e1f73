"""Simplify integers by the known sizes of arrays.

Before:  y = [x[i] if i < (n if n < 1 else 1) else x[i - (n if n < 1 else 1)] for all i < n]
After:   y = [x[i] if i < 1 else x[i - 1] for all i < n]

Requires: a valid program.
Ensures: the same values and errors. Comparisons of integers are decided where they are the same
in all iterations of the loops around them, for all sizes for which these have iterations and
that pass the checks outside of loops. A check goes only where it holds by the others, so each
error is raised as before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from symdiff import ir
from symdiff.ir import ADD, EQ, FALSE, LE, LT, MUL, NEG, SUB, TRUE, ZERO, Expr, effects, topological
from symdiff.ir import loop_program as lp
from symdiff.ir.integers import least, linear, never_negative

Ranges = tuple[tuple[Expr, Expr], ...]
"""The indices of the loops around an expression, the outermost first, and their counts."""
_SUMS = (ADD, SUB, MUL, NEG)


def settled(
    block: lp.Block, roots: Sequence[Expr], known: Mapping[str, lp.Type]
) -> tuple[lp.Block, tuple[Expr, ...]]:
    """The block, and expressions after it, with known integers replaced.

    Parameters
    ----------
    known : types of names, among them those of the parameters.
    """
    roots = tuple(roots)
    if not any(_compares(e) for e in (*roots, *lp.expressions_in(block))):
        return block, roots
    made = {n for s in lp.walk(block) for n, _ in lp.defined(s)}
    sizes = {e for n, t in known.items() if n not in made for e in t.shape if e.op is lp.INDEX}
    low = _lower_bounds([s.condition for s in block if isinstance(s, lp.Check)], sizes)
    found = _Settled(sizes, low)
    return found.block(block, {}), tuple(found.expression(e, {}) for e in roots)


def _compares(e: Expr) -> bool:
    return any(n.op in (LT, LE, EQ) for n in topological((e,)))


def _lower_bounds(conditions: Iterable[Expr], sizes: set[Expr]) -> dict[Expr, int]:
    """Lower bounds of sizes, from conditions on one size each."""
    low: dict[Expr, int] = {}
    for c in ir.conjuncts(*conditions):
        if c.op not in (LT, LE):
            continue
        bound = linear(c.args[1] - c.args[0] - (1 if c.op is LT else 0))  # is not negative
        for n in sizes.intersection(lp.leaves((bound,))):
            q = ir.integer(linear(n - bound))
            if q is not None and q > 0:
                low[n] = max(low.get(n, 0), q)
    return low


class _Settled:
    """Decides comparisons and collects the terms of integers.

    Attributes
    ----------
    sizes, low : integers that are not negative, and their lower bounds.
    """

    def __init__(self, sizes: set[Expr], low: Mapping[Expr, int]) -> None:
        self.sizes, self.low = sizes, low
        self.known: dict[tuple[Expr, Ranges], Expr] = {}
        self.above: dict[Ranges, dict[Expr, Expr]] = {}
        self.signs: dict[tuple[Expr, Ranges], bool] = {}

    def block(self, block: lp.Block, ranges: Mapping[Expr, Expr]) -> lp.Block:
        """The statements inside of loops with these ranges, the outermost first."""
        made: list[lp.Statement] = []
        for s in block:
            if isinstance(s, lp.Check):
                made += self._check(s, ranges)
            else:
                made.append(self._statement(s, ranges, {**ranges, **effects.ranges(s)}))
        return tuple(made)

    def _statement(
        self, s: lp.Statement, ranges: Mapping[Expr, Expr], inside: Mapping[Expr, Expr]
    ) -> lp.Statement:

        def body(b: lp.Block) -> lp.Block:
            return self.block(b, inside)

        if not isinstance(s, lp.Build):
            return lp.mapped(s, lambda e: self.expression(e, ranges), body)
        made = lp.mapped(replace(s, value=ZERO), lambda e: self.expression(e, ranges), body)
        assert isinstance(made, lp.Build)
        return replace(made, value=self.expression(s.value, inside))

    def _check(self, s: lp.Check, ranges: Mapping[Expr, Expr]) -> list[lp.Check]:
        """Nothing, if the other checks imply this one, and it does not hold by itself."""
        low = _lower_bounds([s.condition], self.sizes)  # its own bound
        holds = not low and self.expression(s.condition, ranges) is TRUE
        return [] if holds else [s]

    def expression(self, e: Expr, ranges: Mapping[Expr, Expr]) -> Expr:
        """An expression inside of loops."""
        key = e, tuple(ranges.items())
        if key not in self.known:
            self.known[key] = self._rewritten(e, ranges)
        return self.known[key]

    def _rewritten(self, e: Expr, ranges: Mapping[Expr, Expr]) -> Expr:
        new: dict[Expr, Expr] = {}
        nodes = topological((e,))
        summed = {a for n in nodes if n.op in _SUMS for a in n.args}
        kinds: dict[Expr, str] = {}
        for n in nodes:
            args = tuple(new[a] for a in n.args)
            made = n if args == n.args else ir.rebuild(n, args)
            if made.op in (LT, LE, EQ) and all(lp.kind_of(a, kinds) == "i" for a in made.args):
                made = self._decided(made, ranges)
            elif made.op in _SUMS and (n not in summed) and lp.kind_of(made, kinds) == "i":
                made = linear(made)
            new[n] = made
        return new[e]

    def _decided(self, c: Expr, ranges: Mapping[Expr, Expr]) -> Expr:
        """A comparison, or its result if known."""
        a, b = c.args
        if c.op is EQ:
            if linear(a - b) is ZERO:
                return TRUE
            apart = any(self._nonnegative(d - 1, ranges) for d in (a - b, b - a))
            return FALSE if apart else c
        strict = 1 if c.op is LT else 0
        if self._nonnegative(b - a - strict, ranges):
            return TRUE
        return FALSE if self._nonnegative(a - b - (1 - strict), ranges) else c

    def _nonnegative(self, e: Expr, ranges: Mapping[Expr, Expr]) -> bool:
        """Whether an integer is visibly not negative, for all sizes."""
        key = e, tuple(ranges.items())
        if key not in self.signs:
            self.signs[key] = self._is_nonnegative(e, ranges)
        return self.signs[key]

    def _is_nonnegative(self, e: Expr, ranges: Mapping[Expr, Expr]) -> bool:
        low = ir.substitute((least(linear(e), ranges),), self._above(ranges))[0]
        return never_negative(low, ranges, self.sizes)

    def _above(self, ranges: Mapping[Expr, Expr]) -> dict[Expr, Expr]:
        """Sizes as sums of their lower bounds, inside loops, and of sizes."""
        key = tuple(ranges.items())
        if key not in self.above:
            inside = _lower_bounds((ir.le(1, n) for n in ranges.values()), self.sizes)
            low = {n: max(self.low.get(n, 0), inside.get(n, 0)) for n in {**self.low, **inside}}
            self.above[key] = {n: n + q for n, q in low.items()}
        return self.above[key]
