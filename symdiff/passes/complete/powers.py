"""Derivatives of powers with a variable exponent, at zeros of the base.

Before:  a*x**(a - 1), the slope of x**a by x, which is 0*inf at x = 0, a = 0
After:   where(x == 0 and a == 0, 0, a*x**(a - 1)), as x**0 is 1 everywhere

Requires: values, their derivatives, and the variables of differentiation.
Ensures: equal values, except where a base is 0, its exponent is 0, 1 or 2, and the derivative has
no value. There the result is the derivative of the polynomial with this exponent: so densities of
the gamma, beta and Weibull families have slopes at 0 where their shape is 1. Derivatives by
variables of the exponent are left unchanged.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from symdiff import ir
from symdiff.errors import SymdiffError
from symdiff.interpret import Certified
from symdiff.ir import POW, Expr
from symdiff.ir.program import Corner
from symdiff.passes.analysis.signs import Signs
from symdiff.passes.analysis.zeros import Solution, zero_sets
from symdiff.passes.cancel.algebra import linear
from symdiff.passes.complete.taylor import WORK

MAX_CORNERS = 6
MAX_NODES = 1000
ELSEWHERE = (
    (0.625, 1.75, 2.5625),
    (3.0, 6.0, 12.0),
)
"""Values of other variables in the test whether a derivative has a value: the first row
for which the coordinates of the corner are doubles too."""

Derive = Callable[[tuple[Expr, ...]], Sequence[Expr]]
Place = tuple[Solution, Solution, frozenset[Expr]]
"""A zero of a base, where the exponent is a small integer, each solved for a variable, and all
variables of the exponent."""


def corners(
    outputs: Sequence[Expr],
    by: Sequence[tuple[Expr, ...]],
    values: tuple[Expr, ...],
    derive: Derive,
    facts: Sequence[Expr] = (),
) -> Iterator[Corner]:
    """Where derivatives need another formula.

    Parameters
    ----------
    outputs : the derivatives.
    by : for each, the variables it is taken by.
    values : the values that they are derivatives of.
    derive : makes derivatives of such values, in the same order.
    facts : conditions that hold on the domain.
    """
    order = max((len(names) for names in by), default=0)
    for zero, exponent, varying in itertools.islice(_places(values, facts, order), MAX_CORNERS):
        try:
            found = list(derive(_with_exponents(values, exponent)))
        except (SymdiffError, ArithmeticError, TypeError):
            continue
        at = {**exponent, **zero}
        condition = ir.TRUE
        for v, e in at.items():
            condition = ir.and_(condition, ir.eq(v, e))
        there = ir.substitute(found, zero)
        for i, (output, names, value) in enumerate(zip(outputs, by, there, strict=True)):
            if not varying.intersection(names) and _is_missed(output, value, at):
                yield Corner(i, condition, value)


def _places(values: Sequence[Expr], facts: Sequence[Expr], order: int) -> Iterator[Place]:
    nodes = ir.topological(values)
    signs = Signs(facts)
    seen: list[Place] = []
    for n in nodes if len(nodes) <= MAX_NODES else ():
        if n.op is not POW or ir.rational(n.args[1]) is not None or signs.nonzero(n.args[0]):
            continue
        base, exponent = n.args
        for k in range(order + 1):
            for zero, at in itertools.product(zero_sets(base), zero_sets(exponent - k)):
                place = zero, at, frozenset(ir.variables((exponent,)))
                if len(zero) == len(at) == 1 and not zero.keys() & at.keys() and place not in seen:
                    seen.append(place)
                    yield place


def _with_exponents(values: tuple[Expr, ...], at: Solution) -> tuple[Expr, ...]:
    """The values at a solution, with exponents replaced by their numbers where they are constant
    there."""

    def rule(n: Expr, args: tuple[Expr, ...]) -> Expr:
        if n.op is POW and ir.rational(args[1]) is None:
            terms = linear(args[1])
            if terms is not None and terms.keys() <= {ir.ONE}:
                return ir.power(args[0], terms.get(ir.ONE, Fraction(0)))
        return ir.rebuild(n, args)

    return ir.transform(ir.substitute(values, at), rule)


def _is_missed(output: Expr, value: Expr, at: Solution) -> bool:
    """Whether a derivative has no value at a corner, or only a limit, and the other formula has
    one."""
    if any(n is ir.NAN for n in ir.topological((value,))):
        return False
    params = ir.variables((output, value))
    point = next(filter(None, (_point(params, at, given) for given in ELSEWHERE)), None)
    if point is None:
        return False
    try:
        now, then = Certified(params, [output, value], (), WORK).at_with_status(point)
    except (SymdiffError, ArithmeticError, TypeError, NotImplementedError):
        return False
    return now.status != "exact" and then.status == "exact"


def _point(params: Sequence[Expr], at: Solution, given: Sequence[float]) -> list[float] | None:
    """A point of a corner, if its coordinates are doubles."""
    free = dict(zip((v for v in params if v not in at), itertools.cycle(given), strict=False))
    chosen = {v: ir.const(x) for v, x in free.items()}
    point = []
    for v in params:
        q = ir.rational(ir.substitute((at.get(v, v),), chosen)[0])
        if q is None or Fraction(float(q)) != q:
            return None
        point.append(float(q))
    return point
