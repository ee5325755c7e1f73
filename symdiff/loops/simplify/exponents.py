"""Sums of exponentials that loops add up, scaled so that they neither overflow nor vanish.

Before:  for i in range(n): s = s + exp(x[i])                          log(s)
After:   for i in range(n): m = x[i] if m < x[i] else m
         for i in range(n): r = r + exp(x[i] - m)                      m + log(r)

and likewise for arrays of such sums, as of the rows of a matrix. What the user shifted exponents by
(`k + log(sum(exp(x - k)))`, mostly the largest of x) is taken out if nothing depends on it:

Before:  for i in range(n): s = s + exp(x[i] - k)                      k + log(s)
After:   for i in range(n): s = s + exp(x[i])                          log(s)

Requires: a valid program, not differentiated yet.
Ensures: equal values. m is a number of which no derivative is taken (`functions.DETACHED`):
what the sum is does not depend on it. Only sums are scaled that end up in a logarithm or below
a fraction bar, and whose loop does nothing else.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from symdiff import ir
from symdiff.ir import ADD, DIV, MUL, ONE, SUB, ZERO, Expr, substitute, topological
from symdiff.ir import loop_program as lp
from symdiff.ir.blocks import element, elements
from symdiff.ir.functions import DETACHED, EXP, LN2, LN10, LOG, LOG1P, LOG2, LOG10
from symdiff.ir.names import Names
from symdiff.lowering.loops.collected import LoopSum, nests

Simplify = Callable[[tuple[Expr, ...]], tuple[Expr, ...]]

SUMS = (ADD, SUB, ir.NEG)
_LOGARITHMS = (LOG, LOG1P, LOG2, LOG10)
_UNITS = {LOG: ONE, LOG2: LN2(), LOG10: LN10()}
"""What a logarithm of exp(1) is the inverse of."""


def scaled(
    block: lp.Block, roots: Sequence[Expr], names: Names, simplify: Simplify
) -> tuple[lp.Block, tuple[Expr, ...]]:
    """The block and the expressions after it.

    Parameters
    ----------
    simplify : cancels in expressions.
    """
    statements = list(lp.walk(block))
    alone = {e: n for e, n in nests(block).items() if n.alone}
    sums = {n.loops[0][0].trips: (e, n) for e, n in alone.items()}
    if not sums:
        return block, tuple(roots)
    used = [*(e for s in statements for e in lp.expressions(s)), *roots]
    parts = _Parts(
        used,
        {s.name: s for s in statements if isinstance(s, lp.Build) and not s.body},
        names,
        simplify,
    )
    new: dict[str, lp.Block] = {}
    for s in statements:
        if isinstance(s, lp.Build) and len(s.body) == 1 and isinstance(s.body[0], lp.Loop):
            found = sums.get(s.body[0].trips)
            if found is not None and (made := parts.of_rows(s, *found)) is not None:
                new[s.name] = made
    for trips, (total, nest) in sums.items():
        if (made := parts.of_number(total, nest)) is not None:
            new[trips] = made
    if not new:
        return block, tuple(roots)

    def one(e: Expr) -> Expr:
        (e,) = substitute((e,), elements(e, {b.name: b for b in parts.holders}))
        mapping = dict(parts.values)
        for n in topological((e,)):
            if n.op is lp.LOAD and n.args[0] in parts.rows:
                mapping |= parts.row(n)
            whole = n.args[0] if n.op is lp.LOAD else n
            if whole in parts.terms:
                mapping |= elements(e, {parts.terms[whole].name: parts.terms[whole]})
        return _gathered(substitute((e,), mapping)[0]) if mapping else e

    def go(b: lp.Block) -> lp.Block:
        found: list[lp.Statement] = []
        for s in b:
            name = s.trips if isinstance(s, lp.Loop) else s.name if isinstance(s, lp.Build) else ""
            found.extend(lp.mapped(t, one, go) for t in new.get(name, (s,)))
        return tuple(found)

    return go(block), tuple(map(one, roots))


class _Parts:
    """Sums in two parts: the largest exponent, and the sum below it.

    Attributes
    ----------
    values : what the names of such sums stand for.
    rows : arrays of such sums, with the arrays of their parts.
    terms : sums without what was common to their exponents, and the arrays that hold their terms:
        what is common cancels only where these are written out.
    holders : arrays whose elements depend on such sums, to be written out likewise.
    """

    def __init__(
        self, used: Sequence[Expr], builds: dict[str, lp.Build], names: Names, simplify: Simplify
    ) -> None:
        self.simplify = simplify
        self.builds, self.names = builds, names
        self.used = tuple(dict.fromkeys(used))
        self.inside: set[Expr] = set()  # of logarithms and denominators
        for n in topological(self.used):
            if n.op in _LOGARITHMS or n.op is DIV:
                part = n.args[0] if n.op in _LOGARITHMS else n.args[1]
                self.inside.update(topological((part,), self.inside))
        self.values: dict[Expr, Expr] = {}
        self.rows: dict[Expr, tuple[Expr, Expr, lp.Build, Expr]] = {}
        self.terms: dict[Expr, lp.Build] = {}
        self.holders: list[lp.Build] = []

    def of_number(self, total: Expr, nest: LoopSum) -> lp.Block | None:
        """A loop for the largest exponent, and one for the sum below."""
        term = self._term(nest)
        if term is None or total not in self.inside or total in self.values:
            return None
        u, common = self._without_common(term, nest, total, lambda e, c: _apart(total, c, total))
        peak, largest = nest.largest((u,), -ir.INF, self.names)
        shift = DETACHED(_where_finite(common, _finite(largest)))
        self.values |= _apart(total, common, EXP(shift) * total)
        return peak, nest.with_terms(term.weight * EXP(u - shift))

    def of_rows(self, s: lp.Build, total: Expr, nest: LoopSum) -> lp.Block | None:
        """An array whose elements are such sums: an array of the largest exponents, one of
        the sums below, and the array itself."""
        term, whole = self._term(nest), lp.array(s.name)
        used = any(n.op is lp.LOAD and n.args[0] is whole for n in self.inside)
        if term is None or not used or s.value is not total:
            return None
        at = tuple(map(lp.index, s.indices))

        def apart(e: Expr, c: Expr) -> dict[Expr, Expr]:
            found: dict[Expr, Expr] = {}
            for n in topological((e,)):
                if n.op is lp.LOAD and n.args[0] is whole:
                    found |= _apart(n, _at(c, s, n.args[1:]), n)
            return found

        u, common = self._without_common(term, nest, whole, apart)
        peak, largest = nest.largest((u,), -ir.INF, self.names)
        shift = _where_finite(common, _finite(largest))
        (first,), _ = lp.renamed(
            (lp.Build(f"largest_{s.name}", s.type, s.indices, shift, (peak,)),), self.names
        )
        assert isinstance(first, lp.Build)
        highest = lp.array(first.name)
        below = nest.with_terms(term.weight * EXP(u - DETACHED(lp.load(highest, *at))))
        second = replace(s, name=self.names.fresh(s.name), body=(below,))
        self.rows[whole] = highest, lp.array(second.name), s, common
        indices = tuple(self.names.fresh(i) for i in s.indices)
        element = lp.load(whole, *map(lp.index, indices))
        value = self.row(element)[element]
        return first, second, lp.Build(s.name, s.type, indices, value)

    def row(self, e: Expr) -> dict[Expr, Expr]:
        """What an element of such an array is, and its logarithm, by its parts."""
        highest, below, s, common = self.rows[e.args[0]]
        rest = EXP(DETACHED(lp.load(highest, *e.args[1:]))) * lp.load(below, *e.args[1:])
        return _apart(e, _at(common, s, e.args[1:]), rest)

    def _term(self, nest: LoopSum) -> _Term | None:
        """What loops add up, if it is a multiple of an exponential."""
        term = nest.term
        build = self.builds.get(lp.name_of(term.args[0])) if term.op is lp.LOAD else None
        if build is not None:
            term = element(build, term.args[1:])
        weight, e = term.args if term.op is MUL else (ONE, term)
        if weight.op is EXP and e.op is not EXP:
            weight, e = e, weight
        return _Term(e.args[0], weight, build) if e.op is EXP else None

    def _without_common(
        self, term: _Term, nest: LoopSum, name: Expr,
        apart: Callable[[Expr, Expr], dict[Expr, Expr]],
    ) -> tuple[Expr, Expr]:  # fmt: skip
        """The exponents of a sum without what is common to all, and that, if no expression in which
        the sum occurs depends on it; `apart` says what becomes of one."""
        own, common = _split(term.exponent, {i for i, _ in nest.over})
        leaves = _leaves(common)
        if own is ZERO or not leaves or (name.op is lp.ARRAY and name in self.used):
            return term.exponent, ZERO
        some = False
        holders = [b for b in self.builds.values() if name in _leaves(b.value)]
        values = {b.value for b in holders if lp.array(b.name) not in self.used}
        for whole in self.used:
            if whole in values:  # written out where it is loaded
                continue
            (e,) = substitute((whole,), elements(whole, {b.name: b for b in holders}))
            mapping, inside = apart(e, common), set(topological((e,)))
            if not any(n in inside for n in mapping):
                continue
            some = True
            if term.build is not None:
                mapping |= elements(e, {term.build.name: term.build})
            (found,) = self.simplify((_gathered(substitute((e,), mapping)[0]),))
            if leaves & _leaves(found):
                return term.exponent, ZERO
        if not some:
            return term.exponent, ZERO
        if term.build is not None:
            self.terms[name] = term.build
        self.holders += holders
        return own, common


def _split(u: Expr, i: set[Expr]) -> tuple[Expr, Expr]:
    """What of a sum depends on indices, and what does not."""
    if i.isdisjoint(topological((u,))):
        return ZERO, u
    if u.op in (ADD, SUB):
        (a, c), (b, d) = (_split(e, i) for e in u.args)
        return ir.rebuild(u, (a, b)), ir.rebuild(u, (c, d))
    if u.op is ir.NEG:
        a, c = _split(u.args[0], i)
        return ir.neg(a), ir.neg(c)
    for k in (0, 1) if u.op is MUL else (0,) if u.op is DIV else ():
        factor = u.args[1 - k]
        if i.isdisjoint(topological((factor,))):
            a, c = _split(u.args[k], i)
            return (a * factor, c * factor) if u.op is MUL else (a / factor, c / factor)
    return u, ZERO


def _apart(e: Expr, common: Expr, rest: Expr) -> dict[Expr, Expr]:
    """What a sum is, and its logarithm, with what is common to its exponents apart."""
    return {e: EXP(common) * rest, LOG(e): common + LOG(rest)}


def _gathered(e: Expr) -> Expr:
    """An expression without terms that are added and subtracted in one sum, with the
    exponentials of each product together if that takes some from their exponents, and without
    exponentials as factors in logarithms."""

    def rule(n: Expr, args: tuple[Expr, ...]) -> Expr:
        n = ir.rebuild(n, args)
        found = None
        if n.op in (ADD, SUB):
            found = _sum(list(_terms(n)))
        elif n.op in (MUL, DIV):
            found = _product(n)
        elif n.op in _UNITS:
            return _logarithm(n)
        return n if found is None else found

    return ir.transform((e,), rule)[0]


def _sum(terms: Sequence[tuple[int, Expr]]) -> Expr | None:
    """The sum of terms with signs, if some of them are opposite."""
    counts: dict[Expr, int] = {}
    opposite = False
    for sign, term in terms:
        opposite = opposite or counts.get(term, 0) * sign < 0
        counts[term] = counts.get(term, 0) + sign
    left = (ir.const(k) * t for t, k in counts.items() if k)
    return functools.reduce(ir.add, left, ZERO) if opposite else None


def _product(e: Expr) -> Expr | None:
    """A product with one exponential, if something is opposite in its exponents."""
    factors = list(ir.factors(e))
    exponent = _sum([(k * s, t) for f, k in factors if f.op is EXP for s, t in _terms(f.args[0])])
    if exponent is None:
        return None
    above = [f for f, k in factors if k > 0 and f.op is not EXP]
    below = [f for f, k in factors if k < 0 and f.op is not EXP]
    over, under = (functools.reduce(ir.mul, part, ONE) for part in (above, below))
    return over * EXP(exponent) / under


def _logarithm(e: Expr) -> Expr:
    """The logarithm of a product, with the exponents of its exponentials beside it."""
    factors = list(ir.factors(e.args[0]))
    exponents = [ir.const(k) * f.args[0] for f, k in factors if f.op is EXP]
    if not exponents:
        return e
    rest = ONE
    for f, k in factors:
        if f.op is not EXP:
            rest = rest * f if k > 0 else rest / f
    return functools.reduce(ir.add, exponents) / _UNITS[e.op] + e.op(rest)


def _terms(e: Expr, sign: int = 1) -> Iterator[tuple[int, Expr]]:
    """The terms of a sum, and their signs; of a multiple of a sum those of that."""
    if e.op in (ADD, SUB):
        yield from _terms(e.args[0], sign)
        yield from _terms(e.args[1], sign if e.op is ADD else -sign)
    elif e.op is ir.NEG:
        yield from _terms(e.args[0], -sign)
    elif e.op is DIV and e.args[0].op in SUMS:
        yield from ((s, t / e.args[1]) for s, t in _terms(e.args[0], sign))
    elif e.op is MUL and (sums := [k for k in (0, 1) if e.args[k].op in SUMS]):
        yield from ((s, t * e.args[1 - sums[0]]) for s, t in _terms(e.args[sums[0]], sign))
    else:
        yield sign, e


def _at(e: Expr, s: lp.Build, indices: Sequence[Expr]) -> Expr:
    """An expression of the indices of a build, elsewhere."""
    return substitute((e,), dict(zip(map(lp.index, s.indices), indices, strict=True)))[0]


def _where_finite(common: Expr, x: Expr) -> Expr:
    """x, or nan where what was taken out is infinite: what is subtracted from itself there is nan."""
    return x if common is ZERO else ir.where(ir.lt(ir.abs_(common), ir.INF), x, ir.NAN)


def _finite(x: Expr) -> Expr:
    return ir.where(ir.lt(ir.abs_(x), ir.INF), x, ZERO)


class _Term(NamedTuple):
    """What a loop adds up: weight*exp(exponent), and the array that holds it, if one does."""

    exponent: Expr
    weight: Expr
    build: lp.Build | None


def _leaves(e: Expr) -> set[Expr]:
    """The numbers and arrays of an expression."""
    nodes = topological((e,))
    return {n for n in nodes if n.op is ir.VAR} | {n.args[0] for n in nodes if n.op is lp.LOAD}
