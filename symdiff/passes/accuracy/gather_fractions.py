"""Write sums of fractions over a common denominator, where that loses fewer digits.

Before:  3*x**2/(x**2 + 1) - 2*x*(x**3 - 2*x + 1)/(x**2 + 1)**2 - 2/(x**2 + 1)
After:   (x*(x*(x**2 + 5) - 2) - 2)/(x**2 + 1)**2

Requires: any DAG, to be computed operation by operation.
Ensures: the same values, except at poles, where either is infinite or nan. Of all forms of a sum,
the fastest is chosen, including the cost of flagged elements (see
`passes.accuracy.error_test`) at sample points.

The common factors of all terms of a sum are taken out, and the rest is written
unchanged or as a difference of squares; or the whole sum becomes a quotient of polynomials,
by Horner's rule. Where sines and cosines of u and of u/2 occur, it may be in terms of
either. Where a term is a series in a band, both sides are written separately; or only the
closed form is used, if the sum is not used near the middle of that band.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import Ordering, fmpq, fmpq_mpoly_ctx

from symdiff import ir
from symdiff.ir import ADD, DIV, MUL, NEG, ONE, POW, SUB, ZERO, Expr
from symdiff.ir.functions import COS, SIN
from symdiff.lowering.target import ARRAY_CHAIN
from symdiff.passes.accuracy.bounds import is_exact
from symdiff.passes.accuracy.error_test import ErrorTest
from symdiff.passes.accuracy.flagged import shares
from symdiff.passes.analysis.band_extent import center, near
from symdiff.passes.cancel.algebra import common_measure
from symdiff.passes.guards.enclosing import Contexts
from symdiff.passes.stabilise import stabilise

MAX_TERMS, MAX_BASES = 12, 12
"""Limits of a gathered sum; its polynomial has MAX_MONOMIALS in MAX_LEAVES nodes at most."""
MAX_MONOMIALS, MAX_LEAVES = 16, 4
COSTS = {DIV: 6, POW: 6}
"""Costs of operations in units of a fast one; see `_cost`."""
FUNCTION = 20
AGAIN = 15
"""The cost of recomputing a flagged element, in evaluations of an element."""
LOOSER, FEW = Fraction(3, 2), 10
"""No form is chosen whose inherent error is larger by this factor, or by this many units."""
MAX_NODES, MAX_SUMS = 1000, 60
"""Larger programs are left unchanged, and so are further sums."""

Powers = dict[Expr, int]
Away = Callable[[Expr], bool]
"""Whether a sum is not used near the zeros of a quantity."""


@dataclass(frozen=True, slots=True)
class Term:
    """`factor * product of base**n`."""

    factor: Fraction
    powers: Powers


def gather(outputs: Iterable[Expr]) -> tuple[Expr, ...]:
    """The outputs with their sums gathered, where that is better."""
    outputs = Contexts().simplify(tuple(outputs))
    order = ir.topological(outputs)
    tops = {a for e in order if e.op not in (ADD, SUB, NEG) for a in e.args} | set(outputs)
    if len(order) > MAX_NODES:
        return outputs
    new: dict[Expr, Expr] = {}
    left = MAX_SUMS
    counting = functools.cache(lambda h: near(outputs, h))

    def away(node: Expr, h: Expr) -> bool:
        return node not in counting(h)

    for node in order:
        e = ir.rebuild(node, tuple(new[a] for a in node.args))
        if left and node in tops and e.op in (ADD, SUB):
            e, left = _best(e, functools.partial(away, node)), left - 1
        new[node] = e
    return tuple(new[o] for o in outputs)


def _best(e: Expr, away: Away) -> Expr:
    forms = list(dict.fromkeys((e, *_forms(e, away))))
    work = ErrorTest(fuses=True, chain=ARRAY_CHAIN)
    most = max(work.rounding(e) * LOOSER, Fraction(FEW))
    forms = [f for f in forms if f is e or work.rounding(f) <= most]
    flags = shares(forms) if len(forms) > 1 else None
    if flags is None:
        return e
    again = AGAIN * _cost(e)
    times = [_cost(f) + again * share for f, share in zip(forms, flags, strict=True)]
    return forms[times.index(min(times))]


def _forms(e: Expr, away: Away) -> Iterator[Expr]:
    """Forms of a sum to choose from."""
    for form in dict.fromkeys((e, *_angles(e))):
        terms = _terms(form)
        if terms is not None:
            yield from _factored(terms)
        if (fraction := _fraction(form)) is not None:
            yield fraction
    bands = {n: h for n in _leaves(e) if (h := center(n)) is not None}
    if len(bands) == 1:  # the closed form may combine with the other terms
        ((band, h),) = bands.items()
        inside, outside = (ir.substitute((e,), {band: a})[0] for a in band.args[1:])
        closed = _best(outside, away)
        yield ir.where(band.args[0], inside, closed)
        if away(h):
            yield closed


def _angles(e: Expr) -> Iterator[Expr]:
    """The sum in functions of half an angle alone, or of the whole angle, where both occur."""
    angles = {n.args[0] for n in _leaves(e) if n.op in (SIN, COS)}
    halves = {a: a / 2 for a in angles if a / 2 in angles}
    if halves:
        yield from ir.substitute((e,), {SIN(a): 2 * SIN(h) * COS(h) for a, h in halves.items()})
        yield from ir.substitute((e,), {SIN(h) ** 2: (1 - COS(a)) / 2 for a, h in halves.items()})


# ------------------------------------------------------------------------- terms
def _terms(e: Expr) -> list[Term] | None:
    """The terms of a sum as products of powers; None if there are too many."""
    found: list[Term] = []
    stack = [(e, Fraction(1))]
    while stack:
        node, sign = stack.pop()
        if node.op in (ADD, SUB):
            stack.append((node.args[1], -sign if node.op is SUB else sign))
            stack.append((node.args[0], sign))
        elif node.op is NEG:
            stack.append((node.args[0], -sign))
        else:
            term = _product(node)
            if len(term.powers) > MAX_BASES or len(found) == MAX_TERMS:
                return None
            found.append(Term(sign * term.factor, term.powers))
    return found


def _product(e: Expr) -> Term:
    factor = Fraction(1)
    powers: Powers = {}
    stack = [(e, 1)]
    while stack:
        node, n = stack.pop()
        if (q := ir.rational(node)) is not None and (q or n > 0):
            factor *= q**n
        elif node.op is MUL:
            stack += [(node.args[1], n), (node.args[0], n)]
        elif node.op is DIV:
            stack += [(node.args[1], -n), (node.args[0], n)]
        elif node.op is NEG:
            factor *= (-1) ** n
            stack.append((node.args[0], n))
        elif node.op is POW and (m := ir.integer(node.args[1])) is not None:
            stack.append((node.args[0], n * m))
        else:
            powers[node] = powers.get(node, 0) + n
    return Term(factor, {b: n for b, n in powers.items() if n})


def _factored(terms: Sequence[Term]) -> Iterator[Expr]:
    """A product of the common factors of all terms, and the rest."""
    bases = dict.fromkeys(b for t in terms for b in t.powers)
    common = {b: min(t.powers.get(b, 0) for t in terms) for b in bases}
    common = {b: n for b, n in common.items() if n}
    if not common or any(abs(n) > ARRAY_CHAIN for n in common.values()):
        return
    content = _content([t.factor for t in terms])
    rest = [
        Term(t.factor / content, {b: n - common.get(b, 0) for b in bases
                                  if (n := t.powers.get(b, 0)) != common.get(b, 0)})
        for t in terms
    ]  # fmt: skip
    (plain,) = stabilise((_sum(rest),))
    yield _render(Term(content, common), plain)


def _content(factors: Sequence[Fraction]) -> Fraction:
    """A common factor of all factors, if the quotients are integers."""
    shared = common_measure(factors)
    fine = shared and is_exact(shared) and all(is_exact(f / shared) for f in factors)
    return shared if fine else Fraction(1)


def _sum(terms: Sequence[Term]) -> Expr:
    total = ZERO
    for t in sorted(terms, key=lambda t: t.factor < 0):
        total = total + _render(t)
    return total


def _render(term: Term, rest: Expr = ONE) -> Expr:
    above, below = ONE, ONE
    for base, n in term.powers.items():
        power = ir.power(base, abs(n))
        above, below = (above * power, below) if n > 0 else (above, below * power)
    return ir.const(term.factor) * (rest * above / below)


# ----------------------------------------------------------------------- fractions
def _fraction(e: Expr) -> Expr | None:
    """A quotient of polynomials without common factors, the numerator by Horner's rule,
    the denominator in factors; None if it is too long."""
    leaves = tuple(dict.fromkeys(_leaves(e)))
    if not 0 < len(leaves) <= MAX_LEAVES:
        return None
    context = fmpq_mpoly_ctx.get([f"g{i}" for i in range(len(leaves))], Ordering.lex)
    known = {x: (g, context.constant(1)) for x, g in zip(leaves, context.gens(), strict=True)}
    for node in ir.topological((e,), known):
        value = _quotient(node, known, context)
        if value is None or max(len(p) for p in value) > MAX_MONOMIALS:
            return None
        known[node] = value
    above, below = known[e]
    if above.is_zero() or max(int(p.total_degree()) for p in (above, below)) > ARRAY_CHAIN:
        return None
    unit, factors = below.factor()
    above = above / unit
    denominator = ONE
    for base, n in factors:
        lead = base.leading_coefficient()
        above = above / lead ** int(n)
        denominator = denominator * ir.power(_horner(_monomials(base / lead), leaves), int(n))
    return _horner(_monomials(above), leaves) / denominator


def _quotient(e: Expr, known: Mapping[Expr, Any], context: Any) -> tuple[Any, Any] | None:
    """A node as a reduced pair of polynomials, from those of its children."""
    if (q := ir.rational(e)) is not None:
        return context.constant(fmpq(q.numerator, q.denominator)), context.constant(1)
    (a, b), *rest = (known[x] for x in e.args if x in known)
    if e.op is NEG:
        return -a, b
    if e.op is POW:
        n = ir.integer(e.args[1]) or 0
        above, below = (a, b) if n > 0 else (b, a)
        return above ** abs(n), below ** abs(n)
    ((c, d),) = rest
    if e.op is DIV:
        c, d = d, c
    if e.op in (MUL, DIV):
        above, below = a * c, b * d
    else:
        above, below = a * d + (c * b if e.op is ADD else -(c * b)), b * d
    if below.is_zero():
        return None
    common = above.gcd(below)
    return above / common, below / common


def _leaves(e: Expr) -> Iterator[Expr]:
    """The nodes of which a node is a rational function."""

    def below(n: Expr) -> tuple[Expr, ...]:
        return (n.args[:1] if n.op is POW else n.args[::-1]) if _is_rational(n) else ()

    nodes = ir.reached((e,), below)
    return (n for n in nodes if not _is_rational(n) and ir.rational(n) is None)


def _is_rational(e: Expr) -> bool:
    if e.op is POW:
        n = ir.integer(e.args[1])
        return n is not None and 0 < abs(n) <= ARRAY_CHAIN
    return e.op in (ADD, SUB, MUL, DIV, NEG)


def _monomials(poly: Any) -> dict[tuple[int, ...], Fraction]:
    return {tuple(int(n) for n in m): Fraction(int(c.p), int(c.q)) for m, c in poly.terms()}


def _horner(monomials: Mapping[tuple[int, ...], Fraction], leaves: tuple[Expr, ...]) -> Expr:
    """A polynomial, by repeatedly factoring out the leaf that most terms have."""
    counts = [sum(m[i] > 0 for m in monomials) for i in range(len(leaves))]
    i = max(range(len(leaves)), key=lambda i: counts[i])
    if counts[i] == 0:
        return ir.const(next(iter(monomials.values())))
    least = min(m[i] for m in monomials if m[i])
    inner = {(*m[:i], m[i] - least, *m[i + 1 :]): c for m, c in monomials.items() if m[i]}
    rest = {m: c for m, c in monomials.items() if not m[i]}
    product = ir.power(leaves[i], least) * _horner(inner, leaves)
    return product + _horner(rest, leaves) if rest else product


def _cost(e: Expr) -> int:
    """The number of operations, where a division or a function counts as several."""
    total = 0
    for node in ir.topological((e,)):
        if node.op is POW and (n := ir.integer(node.args[1])) is not None:
            total += abs(n).bit_length() + abs(n).bit_count() - 2
        elif node.args:
            total += COSTS.get(node.op, FUNCTION if node.op.libm else 1)
    return total
