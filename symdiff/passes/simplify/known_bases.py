"""Powers and logarithms of numbers, by fewer of them.

Before:  4**x/2**(2*x), exp(x*log(2)), log(x) - log(2)
After:   1, 2**x, log(x/2)

Requires: any DAG. Ensures: equal formulas, of the same domain, to start from; the same ones if
there is nothing to do.
"""

from __future__ import annotations

from fractions import Fraction

from flint import fmpz

from symdiff import ir
from symdiff.ir import ADD, ONE, POW, SUB, Expr
from symdiff.ir.formula_text import factors, of_factors, of_terms, terms
from symdiff.ir.functions import EXP, LOG

BASES = frozenset((POW, LOG))
"""Operations that this module rewrites."""
LARGEST = 10**4
"""Larger numbers are neither factored nor produced."""
MOST = 4
"""The largest multiple of a logarithm that goes into it."""


def of_numbers(e: Expr) -> Expr:
    """The formula with the powers and logarithms of numbers in it brought together."""
    nodes = ir.topological((e,))
    primes = {n.args[0]: _primes(n.args[0]) for n in nodes if _is_power(n)}
    shared = sum(map(len, primes.values())) > len({p for found in primes.values() for p in found})
    if not (shared or any(n.op is LOG and _number(n) for n in nodes)):
        return e

    def rule(node: Expr, args: tuple[Expr, ...]) -> Expr:
        made = ir.rebuild(node, args)
        if shared and _is_power(made) and made.args[0] in primes:
            found = primes[made.args[0]].items()
            return ir.product(ir.power(ir.const(p), n * made.args[1]) for p, n in found)
        if made.op in (ADD, SUB):
            return _one_logarithm(made)
        return _power_of_number(made) if made.op is EXP else made

    return ir.transform((e,), rule)[0]


def _number(e: Expr) -> Fraction | None:
    """The positive number that an operation is applied to."""
    q = ir.rational(e.args[0])
    return q if q is not None and 0 < q <= LARGEST else None


def _is_power(e: Expr) -> bool:
    """Whether e is a power of a number with a symbolic exponent."""
    return e.op is POW and _number(e) is not None and ir.rational(e.args[1]) is None


def _primes(base: Expr) -> dict[int, int]:
    """The primes of a number with their exponents."""
    q = ir.rational(base)
    assert q is not None
    sides = (fmpz(n).factor() if n <= LARGEST else [(n, 1)] for n in (q.numerator, q.denominator))
    return {int(p): k * sign for side, sign in zip(sides, (1, -1), strict=True) for p, k in side}


def _one_logarithm(e: Expr) -> Expr:
    """A sum of multiples of logarithms of numbers, and of one other, as one logarithm."""
    number, count, rest = Fraction(1), 0, list[tuple[int, Expr]]()
    for sign, term in terms(e):
        unit, found = factors(term)
        log = found[0][0] if len(found) == 1 and found[0][1] is ONE else term
        q = _number(log) if log.op is LOG and unit.denominator == 1 and abs(unit) <= MOST else None
        if q is None:
            rest.append((sign, term))
        else:
            number, count = number * q ** int(sign * unit), count + 1
    if not count or max(number.numerator, number.denominator) > LARGEST:
        return e
    for k, (sign, term) in enumerate(rest):
        if term.op is LOG:
            rest[k] = sign, LOG(ir.mul(ir.const(number**sign), term.args[0]))
            return of_terms(rest)
    return of_terms([*rest, (1, LOG(ir.const(number)))]) if count > 1 else e


def _power_of_number(e: Expr) -> Expr:
    """`exp(u*log(c))` as a power of the number."""
    unit, found = factors(e.args[0])
    for base, exponent in found:
        q = _number(base) if base.op is LOG else None
        if q is None or exponent is not ONE:
            continue
        rest = of_factors(Fraction(1), [f for f in found if f[0] is not base])
        if unit.denominator == 1 and 1 < unit <= MOST and q.numerator < 10 and q.denominator == 1:
            q, unit = q ** int(unit), Fraction(1)
        return ir.power(ir.const(q), ir.mul(ir.const(unit), rest))
    return e
