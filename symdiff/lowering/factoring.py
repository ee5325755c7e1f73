"""Write products and quotients with as few operations as is found in one greedy walk.

Before : -7*(e*(x/r)), -7*(e*(y/r)), c/t**3 - d/t**6; where(r == 0, 0, x/r)
After  : i = 1/r, k = -7*e*i, k*x, k*y; j = 1/t, c*j**3 - d*j**6; x*where(r == 0, 0, 1/r)
Requires: lowered outputs, see `lower`.
Ensures : the same real values; each rounded a few times more or less. What conditions
         compare is left as it is.

A product is taken as a multiset of factors, and the pair of factors that most products have
is computed once, then the next (the greedy elimination of common subexpressions of Breuer,
1969, which Hosangadi, Fallah and Kastner, 2006, apply to polynomials).
"""

from __future__ import annotations

import functools
import heapq
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from symdiff import ir
from symdiff.ir import Expr
from symdiff.ir.functions import COS, EXP, SIN, TANH

_FINITE = frozenset((ir.ADD, ir.SUB, ir.MUL, ir.NEG, ir.ABS, EXP, SIN, COS, TANH, ir.VAR, ir.CONST))
"""Operations that are finite where their operands are, and not too large."""
_LONGEST, _MANY, _SHORT = 16, 1000, 3
"""Factors, counted with their powers, up to which products are taken apart; fewer where there
are many operations, since the pairs of all products are kept."""


def products(roots: Sequence[Expr]) -> tuple[Expr, ...]:
    """The outputs with shared factors, reciprocals and powers."""
    return _Sharing(_zeros(tuple(roots))).outputs


# -------------------------------------------------------------------- zero at a point
def _zeros(roots: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """`where(c, 0, a*b/d)` as `a*b*where(c, 0, 1/d)`, where a and b are finite."""
    order = ir.topological(roots)
    finite: set[Expr] = set()
    for e in order:
        if e.op in _FINITE and all(a in finite for a in e.args):
            finite.add(e)
    new: dict[Expr, Expr] = {}
    for e in order:
        new[e] = ir.with_args(e, tuple(new[a] for a in e.args))
        if e.op is not ir.WHERE or e.args[1] is not ir.ZERO or e.args[2].op is not ir.DIV:
            continue
        a, d = e.args[2].args
        if a in finite and ir.rational(a) is None:
            inverse = ir.raw(ir.WHERE, (new[e.args[0]], ir.ZERO, ir.raw(ir.DIV, (ir.ONE, new[d]))))
            new[e] = ir.raw(ir.MUL, (new[a], inverse))
    # equal conditions and reciprocals are one node again after the next `lower`
    return tuple(new[r] for r in roots)


# --------------------------------------------------------------------------- monomials
@dataclass(slots=True)
class _Monomial:
    """`factor` times powers of the bases in `above`, by those in `below`."""

    factor: Fraction = Fraction(1)
    above: Counter[Expr] = field(default_factory=Counter)
    below: Counter[Expr] = field(default_factory=Counter)

    @property
    def degree(self) -> int:
        return self.above.total() + self.below.total()

    def times(self, other: _Monomial) -> _Monomial:
        return _Monomial(
            self.factor * other.factor, self.above + other.above, self.below + other.below
        )

    def inverse(self) -> _Monomial:
        return _Monomial(1 / self.factor, self.below, self.above)


class _Sharing:
    """One walk over outputs: which products there are, then what they share."""

    def __init__(self, roots: tuple[Expr, ...]) -> None:
        self.order = ir.topological(roots)
        self.longest = _LONGEST if len(self.order) <= _MANY else _SHORT
        self.compared = {a for e in self.order if e.op.boolean for a in e.args if not a.op.boolean}
        self.found: dict[Expr, _Monomial] = {}
        for e in self.order:
            if e not in self.compared and (m := self.taken_apart(e)) is not None:
                self.found[e] = m
        self.needed = self._needed(roots)
        self.roots_of()
        self.groups()
        self.pairs = _Pairs()
        self.outputs = self._built(roots)

    # ------------------------------------------------------------------- taking apart
    def monomial(self, e: Expr) -> _Monomial:
        """An operand as a monomial, maybe of itself."""
        found = self.found.get(e)
        if found is not None:
            return found
        q = ir.rational(e)
        if q:
            return _Monomial(q)
        return _Monomial(above=Counter((e,)))

    def taken_apart(self, e: Expr) -> _Monomial | None:
        """The monomial that a product, quotient or power is, if it is one to share."""
        found = None
        if e.op is ir.MUL and ir.ZERO not in e.args:
            found = self.monomial(e.args[0]).times(self.monomial(e.args[1]))
        elif e.op is ir.DIV and ir.ZERO not in e.args:
            found = self.monomial(e.args[0]).times(self.monomial(e.args[1]).inverse())
        elif e.op is ir.NEG:
            found = _Monomial(Fraction(-1)).times(self.monomial(e.args[0]))
        if found is None or found.degree > self.longest or not _moderate(found.factor):
            return None
        if any(b in found.below for b in found.above):  # x/x has no value at 0
            return None
        return found if found.degree else None

    def _needed(self, roots: tuple[Expr, ...]) -> list[Expr]:
        """The products that something else than a product uses."""
        used = dict.fromkeys(r for r in roots if r in self.found)
        for e in self.order:
            if e not in self.found:
                used.update((a, None) for a in e.args if a in self.found)
        return list(used)

    # -------------------------------------------------------------------- reciprocals
    def roots_of(self) -> None:
        """Where there are quotients by s and by its square root, by powers of the root, which has no
        value where s is negative: that may be so where only the other quotient counts."""
        below = {b for e in self.needed for b in self.found[e].below}
        sizes = {b: b.args[0] if b.op is ir.ABS else b for b in below}
        root = {r.args[0]: b for b, r in sizes.items() if r.op is ir.POW and r.args[1] is ir.HALF}
        sure = _never_negative(self.order) if root else set()
        root = {s: b for s, b in root.items() if s in sure}
        for e in self.needed:
            m = self.found[e]
            for s in [s for s in m.below if s in root]:
                m.below[root[s]] += 2 * m.below.pop(s)

    def groups(self) -> None:
        """What is divided by together everywhere is divided by at once; so is, last, what a
        product must divide by for itself, and then by all it divides by."""
        self.divisors: dict[Expr, list[tuple[_Divisor, int]]] = {}
        self.last: dict[Expr, list[Expr]] = {}
        below = {e: self.found[e].below for e in self.needed if self.found[e].below}
        same: dict[frozenset[tuple[Expr, int]], _Divisor] = {}
        for b in below.values():
            same.setdefault(frozenset(b.items()), tuple(b.elements()))
        while True:
            together = self._together(below)
            own = {places[0][0]: None for places in together if len(places) == 1}
            if not own:
                break
            for e in own:
                self.last[e] = list(below.pop(e).elements())
        if len(together) > len({frozenset(b.items()) for b in below.values()}):
            together = {}
            for e, b in below.items():
                self.divisors[e] = [(same[frozenset(b.items())], 1)]
        for places, bases in together.items():
            for e, n in places:
                self.divisors.setdefault(e, []).append((bases, n))

    @staticmethod
    def _together(below: dict[Expr, Counter[Expr]]) -> dict[tuple[tuple[Expr, int], ...], _Divisor]:
        """Divisors, by the products that divide by them, and how often."""
        where: dict[Expr, list[tuple[Expr, int]]] = {}
        for e, bases in below.items():
            for b, n in bases.items():
                where.setdefault(b, []).append((e, n))
        found: dict[tuple[tuple[Expr, int], ...], _Divisor] = {}
        for b, places in where.items():
            g = math.gcd(*(n for _, n in places))
            key = tuple((e, n // g) for e, n in places)
            found[key] = (*found.get(key, ()), *[b] * g)
        return found

    # ----------------------------------------------------------------------- building
    def _built(self, roots: tuple[Expr, ...]) -> tuple[Expr, ...]:
        new: dict[Expr, Expr] = {}
        parts = {e: self._factors(e) for e in self.needed}
        for e, factors in parts.items():
            self.pairs.add(e, factors)
        shared = self.pairs.shared()
        for e in ir.children_first(roots, lambda e: self._leaves(e) if e in parts else e.args):
            new[e] = (
                self._product(e, shared[e], new)
                if e in parts
                else ir.with_args(e, tuple(new[a] for a in e.args))
            )
        return tuple(new[r] for r in roots)

    def _leaves(self, e: Expr) -> list[Expr]:
        m = self.found[e]
        return [*m.above, *m.below]

    def _factors(self, e: Expr) -> list[_Factor]:
        """What is multiplied."""
        m = self.found[e]
        factors: list[_Factor] = []
        if abs(m.factor) != 1:
            factors.append(ir.const(abs(m.factor)))
        for b, n in m.above.items():
            factors += [b] * n
        for divisor, n in self.divisors.get(e, ()):
            factors += [("inverse", divisor)] * n
        return factors

    def _product(self, e: Expr, factors: Sequence[_Factor], new: dict[Expr, Expr]) -> Expr:
        value = self._multiplied([self._value(f, new) for f in factors])
        if last := self.last.get(e):
            value = ir.raw(ir.DIV, (value, self._multiplied([new[b] for b in last])))
        return ir.raw(ir.NEG, (value,)) if self.found[e].factor < 0 else value

    @staticmethod
    def _multiplied(values: Sequence[Expr]) -> Expr:
        return functools.reduce(lambda a, b: ir.raw(ir.MUL, (a, b)), values) if values else ir.ONE

    def _value(self, f: _Factor, new: dict[Expr, Expr]) -> Expr:
        if isinstance(f, Expr):
            return new.get(f, f)
        kind, *rest = f
        if kind == "inverse":
            return ir.raw(ir.DIV, (ir.ONE, self._multiplied([new[b] for b in rest[0]])))
        return ir.raw(ir.MUL, (self._value(rest[0], new), self._value(rest[1], new)))


def _never_negative(order: Sequence[Expr]) -> set[Expr]:
    """The nodes that are visibly not negative, or nan."""
    found: set[Expr] = set()
    for e in order:
        if e.op is ir.CONST:
            holds = (ir.rational(e) or -1) > 0
        elif e.op is ir.MUL and e.args[0] is e.args[1]:
            holds = True
        elif e.op is ir.POW:
            holds = (ir.integer(e.args[1]) or 1) % 2 == 0 or e.args[0] in found
        elif e.op in (ir.ADD, ir.MUL, ir.DIV):
            holds = all(a in found for a in e.args)
        else:
            holds = e.op.sign in ("positive", "nonnegative")
        if holds:
            found.add(e)
    return found


_Factor = Expr | tuple  # type: ignore[type-arg]
_Divisor = tuple[Expr, ...]
_Pair = tuple[_Factor, _Factor]
"""A node; ("inverse", divisor) or ("pair", factor, factor)."""


def _moderate(q: Fraction) -> bool:
    """Whether a constant is no nearer to the limits of doubles than users write it."""
    return Fraction(1, 2**500) < abs(q) < 2**500


# ------------------------------------------------------------------------------- pairs
class _Pairs:
    """Multisets of factors, where the most common pair becomes a factor, repeatedly."""

    def __init__(self) -> None:
        self.bags: dict[Expr, list[_Factor]] = {}
        self.where: dict[_Pair, dict[Expr, int]] = {}
        self.total: Counter[_Pair] = Counter()
        self.met: dict[_Pair, int] = {}
        self.rank: dict[_Factor, int] = {}

    def add(self, e: Expr, factors: list[_Factor]) -> None:
        """A product to share factors with the others."""
        for f in factors:
            self.rank.setdefault(f, len(self.rank))
        self.bags[e] = factors
        self.note(e)

    def pairs_of(self, e: Expr) -> Iterator[tuple[_Pair, int]]:
        """Every pair of a multiset, and how often it is there at once."""
        count = Counter(self.bags[e])
        kinds = list(count)
        for k, a in enumerate(kinds):
            if count[a] > 1:
                yield (a, a), count[a] // 2
            for b in kinds[k + 1 :]:
                pair = (a, b) if self.rank[a] <= self.rank[b] else (b, a)
                yield pair, min(count[a], count[b])

    def note(self, e: Expr) -> None:
        for pair, n in self.pairs_of(e):
            self.met.setdefault(pair, len(self.met))
            self.where.setdefault(pair, {})[e] = n
            self.total[pair] += n

    def shared(self) -> dict[Expr, list[_Factor]]:
        """The multisets, with pairs that are there twice as one factor."""
        heap = [(-n, self.met[p], p) for p, n in self.total.items() if n > 1]
        heapq.heapify(heap)
        while heap:
            n, _, pair = heapq.heappop(heap)
            if self.total[pair] != -n:  # it was noted again when that changed
                continue
            made = ("pair", *pair)
            self.rank.setdefault(made, len(self.rank))
            changed: dict[_Pair, None] = {}
            for e in list(self.where[pair]):
                self.replace(e, pair, made, changed)
            for p in changed:
                if self.total[p] > 1:
                    heapq.heappush(heap, (-self.total[p], self.met[p], p))
        return self.bags

    def replace(self, e: Expr, pair: _Pair, made: _Factor, changed: dict[_Pair, None]) -> None:
        """Write a pair of factors as one, as often as it is there."""
        times = self.where[pair][e]
        for p, n in self.pairs_of(e):
            self.where[p].pop(e)
            self.total[p] -= n
            changed[p] = None
        bag = list(self.bags[e])
        for _ in range(times):
            bag[bag.index(pair[0])] = made
            bag.remove(pair[1])
        self.bags[e] = bag
        self.note(e)
        changed.update((p, None) for p, _ in self.pairs_of(e))
