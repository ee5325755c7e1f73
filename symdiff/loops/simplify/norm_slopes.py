"""Slopes of norms before they are differentiated again: functions of the norm.

Before:  exp(-d)*d*root_slope(s), with d = sqrt(squares(s)), which is 0 at d = 0
After:   exp(-d)/2

Requires: expressions that are to be differentiated, and are no results themselves.
Ensures: the same values except where a norm is 0. A gradient has factors g'(d)/d there, each times a
derivative of the squares, which is 0 there as well: so 0 replaces them in the gradient, but
its derivatives need their limits. What is rational in d is cancelled, and what is analytic in d is
completed, as d*tanh(d) is, though it need not be so in d**2. The rest has a pole at d = 0,
and no value that arithmetic makes up; but where d is 0 whatever the arguments are, as on the diagonal
of a matrix of distances, it is no function of them, and 0 replaces the pole.
"""

from __future__ import annotations

import functools
from collections.abc import Container, Iterable, Mapping

from symdiff import ir
from symdiff.ir import ADD, DIV, FALSE, HALF, INF, MUL, NAN, NEG, ONE, POW, SUB, ZERO, Expr, var
from symdiff.ir.functions import ROOT_SLOPE, SQUARES
from symdiff.ir.loop_program import INDEX, leaves, name_of
from symdiff.passes.analysis.roots import factors
from symdiff.passes.cancel.cancel import cancel
from symdiff.passes.complete.complete import complete
from symdiff.passes.complete.removable import meaning
from symdiff.passes.differentiate import is_slope

TWO = ir.const(2)
ARITHMETIC = (ADD, SUB, MUL, DIV, NEG)


def has_slopes(expressions: Iterable[Expr]) -> bool:
    """Whether slopes of norms occur."""
    return any(map(is_slope, ir.topological(tuple(expressions))))


def without_slopes(outputs: tuple[Expr, ...], zero: Mapping[Expr, Expr]) -> tuple[Expr, ...]:
    """The outputs as functions of norms, which are temporarily variables.

    Parameters
    ----------
    zero : sums of squares -> where they are 0 for all arguments.
    """
    if not has_slopes(outputs):
        return outputs
    outputs = _unfilled(outputs)
    squares = {n.args[0] for n in ir.topological(outputs) if n.op is SQUARES}
    norms: dict[Expr, Expr] = {}
    still: dict[Expr, Expr] = {}

    def rule(n: Expr, args: tuple[Expr, ...]) -> Expr:
        if n.op is ROOT_SLOPE:
            (s,) = args
            return ONE / (TWO * (s.args[0] if s in norms else ir.power(s, HALF)))
        if is_slope(n):
            return args[0] / args[1]
        if n.op is SQUARES:
            return args[0]
        if n.op is POW and n.args[0].op is SQUARES:
            q = ir.rational(args[1])
            if q is not None and q.denominator == 2:
                return ir.power(args[0].args[0], 2 * q)
        made = ir.rebuild(n, args)
        if n not in squares:
            return made
        norm = var(f"norm {len(norms)}")
        norms[ir.power(norm, TWO)] = made
        if (where := zero.get(n, FALSE)) is not FALSE:
            still[norm] = where
        return ir.power(norm, TWO)

    found = ir.transform(outputs, rule)
    own = _poles(outputs, {n for n in ir.topological(outputs) if n.op is SQUARES})
    found = complete(cancel(found))
    if still and not own:
        found = ir.transform(found, lambda n, args: _without_poles(ir.rebuild(n, args), still))
    for square, made in reversed(norms.items()):
        found = ir.substitute(found, {square.args[0]: ir.sqrt(SQUARES(made))})
    return found


def settled(e: Expr, given: Container[str] = ()) -> Expr:
    """An expression as it is computed: nan where a norm is 0, of which it has a slope and by which it
    divides, or whose slope is multiplied by what is not finite.

    The slope is 0 there by convention, and is no limit: its product with a pole is not 0
    either, as limits of the other factors alone would have it.

    Parameters
    ----------
    given : names of finite values: parameters.
    """
    order = ir.topological((e,))
    slopes = {n.args[0] for n in order if n.op is ROOT_SLOPE}
    if not slopes:
        return e
    inside = {a for n in order if n.op in (MUL, DIV, NEG) for a in n.args[:2]}
    inside -= {n.args[1] for n in order if n.op is DIV}
    products: dict[Expr, tuple[Expr, Expr]] = {}
    for n in order:
        if n.op in (MUL, DIV, NEG) and n not in inside:
            above = [f for f, side in ir.factors(n) if side > 0]
            for f in above:
                if f.op is ROOT_SLOPE and (beside := _made(above, f, given)):
                    products[n] = f.args[0], functools.reduce(ir.mul, beside)

    lifted: dict[Expr, tuple[dict[Expr, None], Expr]] = {}  # nan where a condition holds
    away = {n: HALF / ir.sqrt(n.args[0]) for n in order if n.op is ROOT_SLOPE}
    zero = {n: ir.eq(n.args[0].args[0], ZERO) for n in away}

    def rule(n: Expr, args: tuple[Expr, ...]) -> Expr:
        undefined: dict[Expr, None] = {}
        if n.op in ARITHMETIC:  # these propagate nan
            for a in args:
                undefined |= lifted[a][0] if a in lifted else {}
            args = tuple(lifted[a][1] if a in lifted else a for a in args)
        made = ir.rebuild(n, args)
        for d in _divisors(n):
            square = d.args[0] if d.op is POW else d
            if square in slopes:
                undefined[ir.eq(square.args[0], ZERO)] = None
        if n in products:
            square, others = products[n]
            infinite = ir.not_(ir.lt(ir.abs_(others), INF))
            undefined[ir.and_(ir.eq(square, ZERO), infinite)] = None
        if not undefined:
            return made
        (made,) = ir.substitute((made,), {n: away[n] for n in away if zero[n] in undefined})
        found = ir.where(functools.reduce(ir.or_, undefined), NAN, made)
        lifted[found] = undefined, made
        return found

    return ir.transform((e,), rule)[0]


def _made(factors: Iterable[Expr], slope: Expr, given: Container[str]) -> list[Expr]:
    """The cofactors of a slope that are neither given nor 0 with the norm."""
    own = leaves((slope,))
    return [
        f for f in factors
        if f is not slope and any(
            v.op is not INDEX and v not in own and name_of(v) not in given for v in leaves((f,))
        )
    ]  # fmt: skip


def _unfilled(outputs: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The outputs with closed forms in place of completed functions of sums of squares: as
    functions of the norm they are completed again, if necessary."""
    sums = {n.args[0] for n in ir.topological(outputs) if n.op is SQUARES}
    sums |= {SQUARES(s) for s in sums}

    def rule(n: Expr, args: tuple[Expr, ...]) -> Expr:
        completed = meaning(n.op)
        if completed is None or sums.isdisjoint(n.args):
            return ir.rebuild(n, args)
        function, order = completed
        names = dict(zip(function.variables, args, strict=True))
        return ir.substitute((function.plain_form(order),), names)[0]

    found = ir.transform(outputs, rule)
    return found if found == outputs else _unfilled(found)


def _poles(outputs: tuple[Expr, ...], zeros: set[Expr]) -> bool:
    """Whether any of `zeros` is a factor of a divisor."""
    return any(not zeros.isdisjoint(_divisors(n)) for n in ir.topological(outputs))


def _without_poles(n: Expr, still: Mapping[Expr, Expr]) -> Expr:
    """A quotient by a node that may be 0 for all arguments, replaced by 0 where it is."""
    for d in _divisors(n):
        if d in still:
            n = ir.where(still[d], ZERO, n)
    return n


def _divisors(n: Expr) -> list[Expr]:
    """The factors of the divisor of an operation."""
    if n.op is DIV:
        return [*factors(n.args[1])]
    negative = n.op is POW and (ir.rational(n.args[1]) or 0) < 0
    return [*factors(n.args[0])] if negative else []
