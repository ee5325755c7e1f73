"""Formulas in the functions that people know, before anything is shortened.

Before:  log1p(x), (1 + u)*(1 - u), where(x >= 0, where(x == 0, 1/2, 1), 0)
After:   log(x + 1), 1 - u**2, (sign(x) + 1)/2
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

from flint import arb

from symdiff import ir
from symdiff.errors import UnsupportedError
from symdiff.interpret.balls import exclusive
from symdiff.interpret.flat import Tape
from symdiff.ir import ADD, MUL, NEG, ONE, SUB, VAR, Expr
from symdiff.ir.formula_text import factors, of_factors, terms
from symdiff.ir.functions import ATAN, COS, EXTREMES, LARGER, MAXIMA, SIN, SMALLER, TANH, XLOGY
from symdiff.ir.identities import Form, rewrite
from symdiff.passes.differentiate import all_of, weighted_squares
from symdiff.passes.simplify.truth import is_total, tidied

_ADDED = (ADD, SUB, NEG)

PRECISION = 128
"""Bits to which numbers are computed."""


def readable(e: Expr) -> Expr:
    """Replaces functions that serve accuracy by their plain formulas, and numbers that are none."""

    closed: set[Expr] = set()

    def rule(node: Expr, args: tuple[Expr, ...]) -> Expr:
        made = _plain(node, args)
        if made.op is VAR or made.op.boolean or any(a not in closed for a in made.args):
            return _without_infinities(made)
        if made.op is not ir.CONST and made.args:
            made = _evaluated(made)
        closed.add(made)
        return made

    return ir.transform((e,), rule)[0]


def with_like_terms(e: Expr, shared: bool = True) -> Expr:
    """With terms of sums that differ only by a number combined: `x - a + x - b` as
    `2*x - a - b`. Not `shared`: sums that are used more than once are terms as a whole."""
    inner: set[Expr] = set()
    outer = {e}
    uses = Counter[Expr]()
    for node in ir.topological((e,)):
        (inner if node.op in _ADDED else outer).update(node.args)
        uses.update(node.args)
    if not any(node.op in _ADDED for node in inner):
        return e
    whole: dict[Expr, Expr] = {}

    def rule(node: Expr, args: tuple[Expr, ...]) -> Expr:
        made = ir.rebuild(node, args)
        alone = not shared and uses[node] > 1
        if node.op not in _ADDED or not (alone or node in outer):
            return made
        made = _gathered(made)
        if not alone:
            return made
        stand_in = ir.var(f"sum {len(whole)}")
        whole[stand_in] = ir.substitute((made,), whole)[0]
        return stand_in

    return ir.substitute(ir.transform((e,), rule), whole)[0]


def _gathered(e: Expr) -> Expr:
    rows = dict[frozenset[tuple[Expr, Expr]], Fraction]()
    found = terms(e)
    for sign, term in found:
        unit, parts = factors(term)
        key = frozenset(parts)
        if len(key) < len(parts):
            return e
        rows[key] = rows.get(key, Fraction(0)) + sign * unit
    if len(rows) == len(found):
        return e
    total = ir.ZERO
    for sign, term in found:
        unit, parts = factors(term)
        total_unit = rows.pop(frozenset(parts), None)
        if total_unit is None:
            continue
        if total_unit == sign * unit:
            made = term
        elif total_unit or all(_is_total(*f) for f in parts):
            made = of_factors(sign * total_unit, parts)
        else:
            return e  # 0 only where it is defined
        total = ir.add(total, _signed(sign, made))
    return total


def _is_total(base: Expr, exponent: Expr) -> bool:
    """Whether a power is defined and finite for all numbers."""
    n = ir.integer(exponent)
    return n is not None and n > 0 and base.op is VAR


def _plain(node: Expr, args: tuple[Expr, ...]) -> Expr:
    made = ir.rebuild(node, args)
    if (found := rewrite(made, Form.FAMILIAR)) is not None:
        return found[0]
    if node.op is ir.WHERE:
        if (step := _step(args)) is not None:
            return step
        condition, a, b = args
        if (
            a.op is NEG
            and a.args[0].op is XLOGY
            and _holds(ir.eq(a.args[0].args[0], ir.ZERO), condition)
        ):
            a = ir.ZERO  # as it is written only for its derivatives
        if a is ir.ZERO and _is_kink(condition, b):
            return b
        if (sign := _by_sign(condition, a, b)) is not None:
            return sign
        if b.op is ir.WHERE and b.args[1] is a:  # the same in two branches
            condition, b = ir.or_(condition, b.args[0]), b.args[2]
        return ir.where(tidied(condition), a, b)
    if node.op in (ADD, SUB) and any(a.op is ir.WHERE for a in args):
        return _one_branch(made)
    return made


def _is_kink(condition: Expr, slope: Expr) -> bool:
    """Whether the condition is that a norm in a slope is 0: the slope of a norm is written
    w/norm."""
    return any(
        n.op is ir.POW
        and ir.rational(n.args[1]) in (Fraction(1, 2), Fraction(-1, 2))
        and (zero := weighted_squares(n.args[0])) is not None
        and all_of(tuple(zero)) is condition
        for n in ir.topological((slope,))
    )


def _holds(part: Expr, condition: Expr) -> bool:
    """Whether a condition is one of the conditions in a conjunction."""
    if condition.op is ir.AND:
        return any(_holds(part, c) for c in condition.args)
    return condition is part


def _one_branch(e: Expr) -> Expr:
    """A sum of branches of one condition, or of its opposite, as one branch."""
    parts = terms(e)
    for j, (n, second) in enumerate(parts):
        for i, (m, first) in enumerate(parts[:j]):
            if first.op is not ir.WHERE or second.op is not ir.WHERE:
                continue
            condition, a, b = first.args
            other, c, d = second.args
            if other is not condition:
                if _opposite(other) is not condition or not is_total(other):
                    continue
                c, d = d, c
            sides = (ir.add(_signed(m, u), _signed(n, v)) for u, v in ((a, c), (b, d)))
            total = ir.where(condition, *sides)
            for k, (sign, rest) in enumerate(parts):
                if k not in (i, j):
                    total = ir.add(total, _signed(sign, rest))
            return total
    return e


def _opposite(condition: Expr) -> Expr:
    """The negation of a condition, if the values it compares are defined."""
    if condition.op in (ir.LE, ir.LT):
        return (ir.lt if condition.op is ir.LE else ir.le)(*condition.args[::-1])
    return ir.not_(condition)


def _signed(sign: int, e: Expr) -> Expr:
    return e if sign > 0 else ir.neg(e)


def _step(args: tuple[Expr, ...]) -> Expr | None:
    """The slope of a maximum, 1/2 at a tie, by a sign; times what is defined everywhere."""
    condition, product, other = args
    if condition.op is not ir.LE or other is not ir.ZERO:
        return None
    unit, found = factors(product)
    ties = [f for f in found if f[0].op is ir.WHERE and f[1] is ONE]
    ties = [f for f in ties if set(f[0].args[0].args) == set(condition.args)]
    if len(ties) != 1:
        return None
    tie, half, whole = ties[0][0].args
    if tie.op is not ir.EQ or half is not ir.HALF or whole is not ONE:
        return None
    low, high = condition.args
    sign = ir.neg(ir.SIGN(low)) if high is ir.ZERO else ir.SIGN(ir.sub(high, low))
    made = ir.mul(ir.const(unit / 2), ONE + sign)
    for base, exponent in found:
        if base is not ties[0][0]:
            n = ir.integer(exponent)
            if n is None or n < 0 or any(m.op not in _TOTAL for m in ir.topological((base,))):
                return None
            made = ir.mul(made, ir.power(base, n))
    return made


def _by_sign(condition: Expr, equal: Expr, rest: Expr) -> Expr | None:
    """Numbers for equal, smaller and larger sides by a sign, as for Heaviside's function; a third
    branch of such sides is the last one."""
    if condition.op is not ir.EQ or rest.op is not ir.WHERE or rest.args[0].op is not ir.LT:
        return None
    (low, high), less, more = rest.args[0].args, rest.args[1], rest.args[2]
    if {low, high} != set(condition.args):
        return None
    if more.op is ir.WHERE and more.args[0] is ir.lt(high, low):
        if more.args[2] is not ir.NAN:
            return None
        more = more.args[1]
    elif not all(n.op in _TOTAL for n in ir.topological((low, high))):
        return None  # the last branch is that of nan too
    z, p, q = (ir.rational(v) for v in (equal, less, more))
    if z is None or p is None or q is None or 2 * z != p + q:
        return None
    if low is ir.ZERO:
        low, high, p, q = high, low, q, p
    difference = low if high is ir.ZERO else ir.sub(low, high)
    return ir.add(ir.mul(ir.const((q - p) / 2), ir.SIGN(difference)), ir.const(z))


_TOTAL = frozenset(
    (ADD, SUB, NEG, MUL, VAR, ir.CONST, ir.ABS, ir.SIGN, *EXTREMES, SIN, COS, TANH, ATAN)
) | {ir.WHERE, ir.EQ, ir.LE, ir.LT}
"""Operations that are defined and finite for all numbers."""


def _evaluated(e: Expr) -> Expr:
    """A number, as inf or nan if it is no real number."""
    if any(a.op is ir.CONST and ir.rational(a) is None for a in e.args):
        return _at_infinity(e)
    ball = e.op.ball
    with exclusive(PRECISION):
        try:
            tape = Tape((), (e,))
            values = tape.run((), PRECISION)
        except (UnsupportedError, ValueError, NotImplementedError):
            return e
        if values[tape.roots[0]].is_finite() or tape.trouble(tape.roots[0], values) == "undecided":
            return e
        q = ir.rational(e.args[0]) if e.op.arity == 1 else None
        if q is None or ball is None:
            return ir.NAN
        point, step = arb(q.numerator) / q.denominator, arb(2) ** -40
        near = [ball(point + s) for s in (step, -step)]
    signs = {bool(b > 0) for b in near if b.is_finite() and not b.contains(0)}
    if len(signs) != 1:
        return ir.NAN
    return ir.INF if signs == {True} else ir.neg(ir.INF)


def _at_infinity(e: Expr) -> Expr:
    """A function of infinite numbers, as in the mathematical library."""
    names = [n for n in e.op.names if n.startswith("math.")]
    if not names or any(a.op is not ir.CONST for a in e.args):
        return e
    values = [float(a.value) for a in e.args]
    try:
        found = float(getattr(math, names[0][5:])(*values))
        return ir.const(found) if not math.isfinite(found) or found == int(found) else e
    except (ValueError, OverflowError, AttributeError, TypeError):
        return ir.NAN


def _without_infinities(e: Expr) -> Expr:
    """The formula with parts that are always nan or infinite evaluated."""
    if e.op is ir.WHERE or e.op.boolean:
        return e
    if ir.NAN in e.args:
        return e.args[0] if e.op in (LARGER, SMALLER) else ir.NAN
    least = ir.neg(ir.INF)
    if e.op in (ADD, SUB, *EXTREMES):
        for i, a in enumerate(e.args):
            if a is not ir.INF and a is not least:
                continue
            if e.op in EXTREMES:
                return a if (a is ir.INF) is (e.op in MAXIMA) else e.args[1 - i]
            return ir.neg(a) if e.op is SUB and i else a
    return e
