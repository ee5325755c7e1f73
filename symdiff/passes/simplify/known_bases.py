"""Powers and logarithms of numbers, by fewer of them; hyperbolic functions that make an exponential.

Before:  4**x/2**(2*x), exp(x*log(2)), log(x) - log(2), sinh(x) + cosh(x)
After:   1, 2**x, log(x/2), exp(x)

Requires: any DAG. Ensures: equal formulas, of the same domain, to start from: where nothing is to be
done, the same.
"""

from __future__ import annotations

from fractions import Fraction

from symdiff import ir
from symdiff.ir import ADD, CONST, HALF, ONE, POW, SUB, Expr
from symdiff.ir.formula_text import factors, of_factors, of_terms, terms
from symdiff.ir.functions import COSH, EXP, LOG, SINH

BASES = frozenset((POW, LOG, SINH))
"""Operations that this is about."""
LARGEST = 10**4
"""Numbers beyond this are neither taken apart nor made."""
MOST = 4
"""The largest multiple of a logarithm that goes into it."""


def of_numbers(e: Expr) -> Expr:
    """The formula with the powers and logarithms of numbers in it brought together."""
    nodes = ir.topological((e,))
    bases = {n.args[0] for n in nodes if _is_power(n)}
    primes = {b: _primes(b) for b in bases}
    shared = len(bases) > 1 and any(
        not primes[a].keys().isdisjoint(primes[b]) for a in bases for b in bases if a is not b
    )
    logs = any(n.op is LOG and n.args[0].op is CONST for n in nodes)
    if not (shared or logs):
        return e

    def rule(node: Expr, args: tuple[Expr, ...]) -> Expr:
        made = ir.rebuild(node, args)
        if shared and _is_power(made) and made.args[0] in primes:
            found = primes[made.args[0]].items()
            return ir.product(ir.power(ir.const(p), n * made.args[1]) for p, n in found)
        if logs and made.op in (ADD, SUB):
            return _one_logarithm(made)
        return _power_of_number(made) if logs and made.op is EXP else made

    return ir.transform((e,), rule)[0]


def _is_power(e: Expr) -> bool:
    """Whether this is a power of a number that some symbol decides."""
    q = ir.rational(e.args[0]) if e.op is POW else None
    return q is not None and 0 < q <= LARGEST and ir.rational(e.args[1]) is None


def _primes(base: Expr) -> dict[int, int]:
    """The primes in a number, and how often; of what is large that itself."""
    q, found = ir.rational(base), dict[int, int]()
    assert q is not None
    for n, sign in ((q.numerator, 1), (q.denominator, -1)):
        if n > LARGEST:
            found[n] = found.get(n, 0) + sign
            continue
        p = 2
        while n > 1:
            while n % p == 0:
                n, found[p] = n // p, found.get(p, 0) + sign
            p = n if p * p > n else p + 1
    return found


def _one_logarithm(e: Expr) -> Expr:
    """A sum of multiples of logarithms of numbers, and of one of something else, as one logarithm."""
    number, rest, others, count = Fraction(1), list[tuple[int, Expr]](), list[tuple[int, Expr]](), 0
    for sign, term in terms(e):
        unit, found = factors(term)
        n = sign * unit
        if len(found) != 1 or found[0][0].op is not LOG or found[0][1] is not ONE:
            rest.append((sign, term))
            continue
        inside = found[0][0].args[0]
        q = ir.rational(inside)
        if q is not None and q > 0 and n.denominator == 1 and abs(n) <= MOST:
            number, count = number * q ** int(n), count + 1
        elif n in (1, -1):
            others.append((int(n), inside))
        else:
            rest.append((sign, term))
    if not count or max(number.numerator, number.denominator) > LARGEST:
        return e
    if others:
        m, inside = others.pop(0)
        made = LOG(ir.mul(ir.const(number**m), inside))
        rest += [(m, made), *((k, LOG(u)) for k, u in others)]
    elif count > 1:
        rest.append((1, LOG(ir.const(number))))
    else:
        return e
    return of_terms(rest)


def _power_of_number(e: Expr) -> Expr:
    """`exp(u*log(c))` as a power of the number."""
    unit, found = factors(e.args[0])
    for base, exponent in found:
        q = ir.rational(base.args[0]) if base.op is LOG else None
        if q is None or q <= 0 or exponent is not ONE:
            continue
        rest = of_factors(Fraction(1), [f for f in found if f[0] is not base])
        if unit.denominator == 1 and 1 < unit <= MOST and q.numerator < 10 and q.denominator == 1:
            return ir.power(ir.const(q ** int(unit)), rest)
        return ir.power(ir.const(q), ir.mul(ir.const(unit), rest))
    return e


def as_exponentials(e: Expr) -> Expr:
    """The formula with exponentials in the place of hyperbolic functions of what it adds both a sine and
    a cosine of."""
    nodes = ir.topological((e,))
    found = {n.args[0] for n in nodes if n.op is SINH} & {n.args[0] for n in nodes if n.op is COSH}
    added = set[Expr]()
    for node in nodes if found else ():
        if node.op in (ADD, SUB):
            of = [b for _, term in terms(node) for b, _ in factors(term)[1] if b.args]
            sines = {b.args[0] for b in of if b.op is SINH}
            added |= sines & {b.args[0] for b in of if b.op is COSH}
    if not added:
        return e

    def rule(node: Expr, args: tuple[Expr, ...]) -> Expr:
        made = ir.rebuild(node, args)
        if node.op not in (SINH, COSH) or node.args[0] not in added:
            return made
        up, down = EXP(made.args[0]), EXP(ir.neg(made.args[0]))
        return ir.mul(HALF, ir.add(up, down) if node.op is COSH else ir.sub(up, down))

    return ir.transform((e,), rule)[0]
