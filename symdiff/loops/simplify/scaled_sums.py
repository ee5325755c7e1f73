"""Sums of any size: take the scales out of sums of exponentials, and of squares under roots.

Before:  for i in range(n): s = s + exp(x[i])                          log(s)
After:   for i in range(n): m = x[i] if m < x[i] else m
         for i in range(n): r = r + exp(x[i] - m)                      m + log(r)

Before:  for i in range(n): s = s + x[i]**2                   y/sqrt(squares(s)), s
After:   for i in range(n): m = |x[i]| if m < |x[i]| else m
         for i in range(n): s = s + (u*x[i])**2               y/(sqrt(s)/u), (sqrt(s)/u)**2

with u a power of two that is 1 unless m is large or small. Both are a `Family`: the values whose
maximum determines the scale, the scale, and the scaled terms. Only sums are scaled whose loops do
nothing else (`lowering.loops.collected.nests`).

**Exponentials.** Requires: a valid program, not differentiated yet. Ensures: equal values. m is a
detached number (`functions.DETACHED`): the value of the sum does not depend on it. Only
sums are scaled that end up in a logarithm or below a fraction bar, and arrays of such sums. What the
user shifted exponents by (`k + log(sum(exp(x - k)))`, mostly the largest of x) is taken out if nothing
depends on it:

Before:  for i in range(n): s = s + exp(x[i] - k)                      k + log(s)
After:   for i in range(n): s = s + exp(x[i])                          log(s)

**Squares.** Requires: a program that is ready for error tests: `loops.simplify.running_norms` has marked
the sums. Ensures: equal values; none overflows or vanishes before the norm does. Sums that are
saved on tapes, or are the elements of an array, are saved as their roots. It takes a second loop over what
is added up. So the kernel that is called first does without, and the processor's flags tell whether it has to
be called again; see `pipeline.lowered.loops`. The constants are those of a simple form of Blue's algorithm
(ACM Transactions on Mathematical Software 4, 1978): what is too small relative to the largest term does
not count.

`_finite` and `_unit` define the scale where the largest term is infinite or 0, or there are no
terms: 0 and 1, so that nothing is taken out.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from symdiff import ir
from symdiff.ir import ADD, DIV, EQ, HALF, MUL, ONE, POW, SUB, ZERO, Expr, substitute, topological
from symdiff.ir import loop_program as lp
from symdiff.ir.blocks import element, elements
from symdiff.ir.functions import DETACHED, EXP, LN2, LN10, LOG, LOG1P, LOG2, LOG10, SQUARES
from symdiff.ir.functions.marks import ROOT_SLOPE
from symdiff.ir.names import Names
from symdiff.lowering.loops.collected import LoopSum, nests

Simplify = Callable[[tuple[Expr, ...]], tuple[Expr, ...]]

TWO = ir.const(2)
SUMS = (ADD, SUB, ir.NEG)
SCALES = {"float64": (480, 600), "float32": (45, 90)}
"""Sums of squares whose largest term is beyond two to the first, or its reciprocal, are scaled by
two to the second."""
_UNITS = {LOG: ONE, LOG2: LN2(), LOG10: LN10()}
"""The reciprocals of the logarithms of exp(1): a logarithm times this is natural."""
_LOGARITHMS = (*_UNITS, LOG1P)


# ------------------------------------------------------------------- both kinds of sums
class Family(NamedTuple):
    """One kind of sums with an extracted scale.

    Attributes
    ----------
    sizes, least : the values whose maximum determines the scale; that maximum if there are no
        terms.
    scale : as a function of that maximum.
    term : the term of the sum, as a function of the scale.
    """

    sizes: Sequence[Expr]
    least: Expr
    scale: Callable[[Expr], Expr]
    term: Callable[[Expr], Expr]

    def split(self, nest: LoopSum, names: Names) -> tuple[lp.Loop, Expr, lp.Loop]:
        """Loops that find the scale, the scale, and loops that add up the scaled terms."""
        first, largest = nest.largest(self.sizes, self.least, names)
        scale = self.scale(largest)
        return first, scale, nest.with_terms(self.term(scale))


def _put(
    block: lp.Block,
    made: Mapping[str, lp.Block],
    one: Callable[[Expr], Expr],
    keep: Callable[[lp.Statement, lp.Statement], lp.Statement] = lambda s, t: t,
) -> lp.Block:
    """The block with `one` applied to every expression.

    Parameters
    ----------
    made : the replacements of loops and arrays, by their iteration counts and names.
    keep : the replacement of any other statement, given the statement with its expressions
        replaced.
    """

    def go(b: lp.Block) -> lp.Block:
        found: list[lp.Statement] = []
        for s in b:
            name = s.trips if isinstance(s, lp.Loop) else s.name if isinstance(s, lp.Build) else ""
            if name in made:
                found += (lp.mapped(t, one, go) for t in made[name])
            else:
                found.append(keep(s, lp.mapped(s, one, go)))
        return tuple(found)

    return go(block)


def _finite(x: Expr, common: Expr = ZERO) -> Expr:
    """The scale of exponentials: 0 where it is infinite, as for no terms; nan where the common part
    is infinite, as subtracting it from itself gives nan there."""
    finite = ir.where(ir.lt(ir.abs_(x), ir.INF), x, ZERO)
    return finite if common is ZERO else ir.where(ir.lt(ir.abs_(common), ir.INF), finite, ir.NAN)


def _unit(m: Expr, level: int, scale: int) -> Expr:
    """One over the scale of squares: 1 unless it is large or small."""
    big, small = ir.const(2**scale), ir.const(Fraction(1, 2**scale))
    low = ir.lt(m, ir.const(Fraction(1, 2**level)))
    return ir.where(ir.lt(ir.const(2**level), m), big, ir.where(low, small, ONE))


# --------------------------------------------------------------------- exponentials
def scaled_exponentials(
    block: lp.Block, roots: Sequence[Expr], names: Names, simplify: Simplify
) -> tuple[lp.Block, tuple[Expr, ...]]:
    """The block and the expressions after it.

    Parameters
    ----------
    simplify : cancels in expressions.
    """
    sums = {n.loops[0][0].trips: (e, n) for e, n in nests(block).items() if n.alone}
    if not sums:
        return block, tuple(roots)
    builds = [s for s in lp.walk(block) if isinstance(s, lp.Build)]
    used = [*lp.expressions_in(block), *roots]
    parts = _Parts(used, {s.name: s for s in builds if not s.body}, names, simplify)
    new: dict[str, lp.Block] = {}
    for s in builds:
        if len(s.body) == 1 and isinstance(s.body[0], lp.Loop) and s.body[0].trips in sums:
            total, nest = sums[s.body[0].trips]
            if s.value is total and (made := parts.of(lp.array(s.name), nest, s)) is not None:
                new[s.name] = made
    for trips, (total, nest) in sums.items():
        if (made := parts.of(total, nest)) is not None:
            new[trips] = made
    if not new:
        return block, tuple(roots)
    return _put(block, new, parts.written), tuple(map(parts.written, roots))


class _Term(NamedTuple):
    """The term of a loop: weight*exp(exponent), and the array that holds it, if one does."""

    exponent: Expr
    weight: Expr
    build: lp.Build | None


class _Apart(NamedTuple):
    """A sum that is exp(common)*exp(shift)*below, or the elements of an array, by their indices."""

    indices: tuple[str, ...]
    common: Expr
    shift: Expr
    below: Expr

    def of(self, e: Expr) -> dict[Expr, Expr]:
        """The value of the sum, and its logarithm."""
        at = dict(zip(map(lp.index, self.indices), e.args[1:], strict=True))
        common, rest = substitute((self.common, EXP(self.shift) * self.below), at)
        return {e: EXP(common) * rest, LOG(e): common + LOG(rest)}


class _Parts:
    """Sums in two parts: the largest exponent, and the sum below it.

    Attributes
    ----------
    sums : the parts of sums and of the elements of arrays of sums.
    terms : sums without the common part of their exponents, and the arrays that hold their terms:
        the common part cancels only where these are written out.
    holders : arrays whose elements depend on such sums, also to be written out.
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
        self.sums: dict[Expr, _Apart] = {}
        self.terms: dict[Expr, lp.Build] = {}
        self.holders: dict[str, lp.Build] = {}

    def of(self, name: Expr, nest: LoopSum, s: lp.Build | None = None) -> lp.Block | None:
        """The statements for a number, or an array whose elements are such sums: loops for the
        largest exponent and for the sum below, or arrays of these and the array itself."""
        term = self._term(nest)
        if term is None or name not in self.inside:
            return None
        whole = _Apart(() if s is None else s.indices, ZERO, ZERO, name)
        if s is not None:
            whole = whole._replace(below=lp.load(name, *map(lp.index, s.indices)))
        u, common = self._without_common(term, nest, name, whole)
        weight = term.weight
        exponentials = Family(
            (u,), -ir.INF, lambda x: DETACHED(_finite(x, common)), lambda m: weight * EXP(u - m)
        )
        peak, shift, below = exponentials.split(nest, self.names)
        if s is None:
            self.sums[name] = _Apart((), common, shift, name)
            return peak, below
        (first,), _ = lp.renamed(
            (lp.Build(f"largest_{s.name}", s.type, s.indices, shift.args[0], (peak,)),), self.names
        )
        assert isinstance(first, lp.Build)
        at = whole.below.args[1:]
        shift = DETACHED(lp.load(lp.array(first.name), *at))
        below = nest.with_terms(exponentials.term(shift))
        second = replace(s, name=self.names.fresh(s.name), body=(below,))
        self.sums[name] = _Apart(s.indices, common, shift, lp.load(lp.array(second.name), *at))
        indices = tuple(map(self.names.fresh, s.indices))
        e = lp.load(name, *map(lp.index, indices))
        return first, second, lp.Build(s.name, s.type, indices, self.sums[name].of(e)[e])

    def written(self, e: Expr) -> Expr:
        """An expression with sums replaced by their parts."""
        (e,) = substitute((e,), elements(e, self.holders))
        mapping: dict[Expr, Expr] = {}
        for name in self.sums:
            mapping |= _each(e, name, self.sums[name])
        for name in self.terms.keys() & set(topological((e,))):
            mapping |= elements(e, {self.terms[name].name: self.terms[name]})
        return _gathered(substitute((e,), mapping)[0]) if mapping else e

    def _term(self, nest: LoopSum) -> _Term | None:
        """The term of loops, if it is a multiple of an exponential."""
        term = nest.term
        build = self.builds.get(lp.name_of(term.args[0])) if term.op is lp.LOAD else None
        if build is not None:
            term = element(build, term.args[1:])
        weight, e = term.args if term.op is MUL else (ONE, term)
        if weight.op is EXP and e.op is not EXP:
            weight, e = e, weight
        return _Term(e.args[0], weight, build) if e.op is EXP else None

    def _without_common(
        self, term: _Term, nest: LoopSum, name: Expr, whole: _Apart
    ) -> tuple[Expr, Expr]:
        """The exponents of a sum without their common part, and that part, if no expression in
        which the sum occurs depends on it."""
        own, common = _split(term.exponent, {i for i, _ in nest.over})
        leaves, apart = _leaves(common), whole._replace(common=common)
        if own is ZERO or not leaves or (name.op is lp.ARRAY and name in self.used):
            return term.exponent, ZERO
        some = False
        holders = {n: b for n, b in self.builds.items() if name in _leaves(b.value)}
        values = {b.value for b in holders.values() if lp.array(b.name) not in self.used}
        for user in self.used:
            if user in values:  # it is written out where it is loaded
                continue
            (e,) = substitute((user,), elements(user, holders))
            mapping = _each(e, name, apart)
            if not mapping:
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
        self.holders |= holders
        return own, common


def _each(e: Expr, name: Expr, apart: _Apart) -> dict[Expr, Expr]:
    """The value of a sum, or of each element of an array of sums, in an expression."""
    mapping: dict[Expr, Expr] = {}
    for n in topological((e,)):
        if (n.args[0] if n.op is lp.LOAD else n) is name and n.op is not lp.ARRAY:
            mapping |= apart.of(n)
    return mapping


def _leaves(e: Expr) -> set[Expr]:
    """The numbers and arrays of an expression."""
    return {n for n in lp.leaves((e,)) if n.op is not lp.INDEX}


def _split(u: Expr, i: set[Expr]) -> tuple[Expr, Expr]:
    """The part of a sum that depends on indices, and the rest."""
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
    """A product with one exponential, if its exponents have opposite terms."""
    factors = list(ir.factors(e))
    exponent = _sum([(k * s, t) for f, k in factors if f.op is EXP for s, t in _terms(f.args[0])])
    if exponent is None:
        return None
    over, under = (
        ir.product(f for f, k in factors if k == side and f.op is not EXP) for side in (1, -1)
    )
    return over * EXP(exponent) / under


def _logarithm(e: Expr) -> Expr:
    """The logarithm of a product, with the exponents of its exponentials apart."""
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
    """The terms of a sum, and their signs; for a multiple of a sum those of the sum."""
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


# ------------------------------------------------------------------------------ norms
def scaled_norms(program: lp.LoopProgram, dtype: str) -> lp.LoopProgram:
    """The program, itself if it has no such sums."""
    work = _Lengths(program, dtype)
    for e in (*lp.expressions_in(program.block), *program.outputs):
        work.look(e)
    if not work.roots:
        return program
    outputs = tuple(work.new(e) for e in program.outputs)
    block = _put(program.block, work.loops, work.new, work.kept)
    return replace(program, block=block, outputs=outputs)


class _Lengths:
    """Which numbers are kept as their roots, and what replaces them.

    Attributes
    ----------
    roots : the root of each number, or for an array the array of the roots.
    loops : by the names of their iteration counts, loops that find scales, and those with scaled
        terms.
    """

    def __init__(self, program: lp.LoopProgram, dtype: str) -> None:
        self.names = lp.names_of(program)
        self.scales = SCALES[dtype]
        self.roots: dict[Expr, Expr] = {}
        self.loops: dict[str, lp.Block] = {}
        self.sums = {e: n for e, n in nests(program.block).items() if n.alone}
        self.builds: dict[Expr, lp.Build] = {}
        self.restored: dict[Expr, str] = {}
        self.saved: dict[str, list[Expr]] = {}
        for s in lp.walk(program.block):
            if isinstance(s, lp.Build):
                self.builds[lp.array(s.name)] = s
            elif isinstance(s, lp.Loop):
                for r in s.restores:
                    self.restored[ir.var(r.name)] = r.tape
                for v in s.saves:
                    self.saved.setdefault(v.tape, []).append(v.value)
        self.tapes: set[str] = set()
        everything = lp.expressions_in(program.block)
        self.whole = {e for e in (*everything, *program.outputs) if e.op is lp.ARRAY}
        self.whole |= {
            lp.array(s.source) for s in lp.walk(program.block) if isinstance(s, lp.Update)
        }

    # ------------------------------------------------------------- numbers stored as roots
    def look(self, e: Expr) -> None:
        """Find sums of squares under roots."""
        for n in topological((e,)):
            if n.op in (POW, ROOT_SLOPE) and n.args[0].op is SQUARES:
                for s in topological(n.args[0].args):
                    self.keep(s.args[0] if s.op is lp.LOAD else s)

    def keep(self, s: Expr) -> bool:
        """Store a number, or the elements of an array, as roots, if possible."""
        if s in self.roots:
            return True
        if s in self.restored:
            tape = self.restored[s]
            if all(self.keep(v) for v in self.saved[tape]):
                self.tapes.add(tape)
                self.roots |= {r: r for r, t in self.restored.items() if t == tape}
        elif s in self.builds and s not in self.whole:
            if self.keep(self.builds[s].value):
                self.roots[s] = s
        elif s in self.sums:
            nest = self.sums[s]
            if bases := _squared(nest.term)[0]:
                squares = Family(
                    [ir.abs_(b) for b in bases], ZERO, lambda m: _unit(m, *self.scales),
                    lambda unit: _squared(nest.term, unit)[1],
                )  # fmt: skip
                first, unit, second = squares.split(nest, self.names)
                self.loops[second.trips] = first, second
                self.roots[s] = ir.power(s, HALF) * unit
        return s in self.roots

    # --------------------------------------------------------------------- rewriting
    def new(self, e: Expr) -> Expr:
        """An expression over the roots."""
        mapping: dict[Expr, Expr] = {}
        for n in topological((e,)):
            below = n.args[0] if n.args else n
            if (root := self.root(n)) is not None:
                mapping[n] = ir.power(root, TWO)
            elif (root := self.root(below)) is None:
                continue
            elif n.op is POW:
                mapping[n] = ir.power(root, TWO * n.args[1])
            elif n.op is ROOT_SLOPE:
                mapping[n] = ir.where(ir.eq(root, ZERO), ZERO, ONE / (TWO * root))
            elif n.op is EQ and n.args[1] is ZERO:
                mapping[n] = ir.eq(root, ZERO)
        return substitute((e,), mapping)[0] if mapping else e

    def root(self, n: Expr) -> Expr | None:
        """The root that replaces a number or an element, if it is kept so."""
        if n.op is SQUARES:
            (n,) = n.args
        if n.op is lp.LOAD:
            return n if n.args[0] in self.roots else None
        return self.roots.get(n) if n.op is ir.VAR else None

    def kept(self, s: lp.Statement, t: lp.Statement) -> lp.Statement:
        """An array, or the values that a loop saves, as roots."""
        if isinstance(t, lp.Build) and isinstance(s, lp.Build) and lp.array(s.name) in self.roots:
            return replace(t, value=self.roots[s.value])
        if isinstance(t, lp.Loop) and isinstance(s, lp.Loop):
            return replace(t, saves=tuple(
                replace(v, value=self.roots[old.value]) if v.tape in self.tapes else v
                for old, v in zip(s.saves, t.saves, strict=True)
            ))  # fmt: skip
        return t


def _squared(e: Expr, unit: Expr = ONE) -> tuple[list[Expr], Expr]:
    """The squared factor in each term of a sum, and the sum with each of these divided by a unit;
    None if a term has no square as a factor."""
    if (e.op is POW and e.args[1] is TWO) or (e.op is MUL and e.args[0] is e.args[1]):
        return [e.args[0]], ir.power(e.args[0] / unit, TWO)
    if e.op is ADD:
        (a, b), (x, y) = zip(*(_squared(n, unit) for n in e.args), strict=True)
        return (a + b, x + y) if a and b else ([], e)
    for k in (0, 1) if e.op is MUL else (0,) if e.op is DIV else ():
        bases, found = _squared(e.args[k], unit)
        if bases:
            rest = e.args[1 - k]
            return bases, found * rest if e.op is MUL else found / rest
    return [], e
