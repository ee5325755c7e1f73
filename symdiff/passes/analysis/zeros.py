"""Where does a formula of several variables vanish?

Before:  exp(x) - exp(y)
After:   x = y

`zero_sets` finds sets on which a formula is surely zero, each solved for some
of the variables: of products, powers, sums of squares, norms, functions with a
known zero, and formulas that are linear in a variable. There may be more zeros.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache

from symdiff import ir
from symdiff.ir import ABS, ADD, DIV, MUL, NEG, ONE, POW, SUB, Expr
from symdiff.ir.functions import HYPOT
from symdiff.passes.analysis.roots import rational_roots, symbolic_roots
from symdiff.passes.cancel.algebra import linear
from symdiff.passes.cancel.linear_forms import solved
from symdiff.passes.differentiate import squares

MAX_SETS = 8
TRIED = (Fraction(0), Fraction(1), Fraction(-1))

Solution = dict[Expr, Expr]
"""Variables in terms of the others, which are free."""


MAX_KNOWN = 4096
"""The most formulas whose zeros are kept: the same differences recur in each branch and
question."""


def zero_sets(e: Expr) -> list[Solution]:
    """Sets of points on which the formula vanishes."""
    return [dict(solution) for solution in _zero_sets(e)]


@lru_cache(maxsize=MAX_KNOWN)
def _zero_sets(e: Expr) -> tuple[Solution, ...]:
    found: dict[tuple[tuple[Expr, Expr], ...], Solution] = {}
    for equations in _systems(e):
        for solution in _solutions(equations):
            found.setdefault(tuple(solution.items()), solution)
        if len(found) >= MAX_SETS:
            break
    return tuple(found.values())[:MAX_SETS]


def _systems(e: Expr) -> Iterator[list[Expr]]:
    """Lists of formulas; where all formulas of one list vanish, e does."""
    stack = [e]
    for _ in range(4 * MAX_SETS):
        if not stack:
            return
        n = stack.pop()
        if n.op is MUL:
            stack.extend(n.args)
        elif n.op in (NEG, ABS, DIV) or (n.op is POW and (ir.rational(n.args[1]) or 0) > 0):
            stack.append(n.args[0])
        elif n.op is HYPOT:
            yield _sides(n)
        elif (terms := squares(n)) is not None:
            yield [w for _, w, _ in terms]
        elif (inner := undone(n)) is not None:
            stack.append(inner)
        elif n.op is not ir.CONST:
            yield [n]


def _sides(e: Expr) -> list[Expr]:
    """The arguments of a norm of norms."""
    return [side for a in e.args for side in _sides(a)] if e.op is HYPOT else [e]


def undone(e: Expr) -> Expr | None:
    """Formulas that vanish where f(u) - f(v), or f(u) - c, does."""
    a, target = e, Fraction(0)
    if e.op in (ADD, SUB):
        a, b = e.args
        if e.op is SUB and a.op is b.op and len(a.args) == 1 and a.op is not NEG:
            return ir.sub(a.args[0], b.args[0])
        q = ir.rational(b)
        if q is None:
            q, a = ir.rational(a), b
            if q is None:
                return None
        target = q if e.op is SUB else -q
    if a.op is DIV and target:
        return ir.sub(a.args[0], ir.const(target) * a.args[1])
    if len(a.args) != 1 or a.op.fold is None or a.op in (NEG, ABS):
        return None
    for u in TRIED:
        if a.op.fold(u) == target:
            return ir.sub(a.args[0], ir.const(u))
    return None


def _solutions(equations: list[Expr]) -> Iterator[Solution]:
    """Solutions of several equations: all rational ones of a single equation in one
    variable, else one, by elimination."""
    names = ir.variables(equations)
    if len(equations) == len(names) == 1:
        yield from ({names[0]: ir.const(r)} for r in rational_roots(equations[0], names[0], ()))
        return
    solution: Solution = {}
    for e in equations:
        (e,) = ir.substitute((e,), solution)
        if e is ir.ZERO:
            continue
        step = _variable(e)
        if step is None:
            if len(equations) == 1:
                found = list(_roots(e))
                yield from found or _constant_roots(e)
            return
        v, value = step
        solution = {u: ir.substitute((s,), {v: value})[0] for u, s in solution.items()}
        solution[v] = value
    if solution:
        yield solution


def _roots(e: Expr) -> Iterator[Solution]:
    """An equation without quotients, solved for the first variable for which inverting one
    operation after the other succeeds."""
    if not all(n.op in ir.ARITHMETIC and n.op is not DIV for n in ir.topological((e,)) if n.args):
        return
    for v in ir.variables((e,)):
        if roots := symbolic_roots(e, v):
            yield from ({v: root} for root in roots)
            return


def _constant_roots(e: Expr) -> Iterator[Solution]:
    """Values of one variable at which an equation holds whatever the others are, as y = 1 in
    1 - y*exp(-x*(1 - y))."""
    names = ir.variables((e,))
    for v in names:
        others = {
            u: ir.const(q)
            for u, q in zip((n for n in names if n is not v), SAMPLES[0], strict=False)
        }
        (alone,) = ir.substitute((e,), others)
        if ir.variables((alone,)) != ir.variables((v,)):
            continue
        for root in rational_roots(alone, v, ()):
            place = {v: ir.const(root)}
            if value_there(e, place) is ir.ZERO:
                yield place


def value_there(e: Expr, place: Mapping[Expr, Expr]) -> Expr | None:
    """A formula with values for variables; None where a part of it is inf or nan (rational numbers
    are fractions) or a quotient by 0, even if the result hides that: 0*(y/0) folds to 0."""
    parts = ir.substitute(ir.topological((e,)), place)
    if any(isinstance(n.value, float) or (n.op is DIV and n.args[1] is ir.ZERO) for n in parts):
        return None
    return parts[-1]


def _variable(e: Expr) -> tuple[Expr, Expr] | None:
    """A variable and the value for which e vanishes."""
    found = ir.variables((e,))
    if len(found) == 1:
        roots = rational_roots(e, found[0], ())
        return (found[0], ir.const(roots[0])) if roots else None
    terms = linear(e)
    return None if terms is None else solved(terms)


SAMPLES = (
    (Fraction(3, 4), Fraction(11, 8), Fraction(19, 16), Fraction(7, 8), Fraction(37, 32), Fraction(5, 8)),
    (Fraction(-5, 8), Fraction(21, 16), Fraction(-9, 8), Fraction(13, 16), Fraction(-3, 4), Fraction(35, 32)),
    (Fraction(21, 2), Fraction(37, 4), Fraction(51, 4), Fraction(35, 4), Fraction(45, 4), Fraction(29, 2)),
)  # fmt: skip
"""Values for free variables: all positive, of both signs, larger."""


def sampled(solution: Mapping[Expr, Expr], names: Iterable[Expr]) -> Iterator[dict[Expr, Fraction]]:
    """Points of a solution set, one for each row of `SAMPLES` that differs."""
    free = [v for v in names if v not in solution]
    for row in SAMPLES if free else SAMPLES[:1]:
        values = {v: ir.const(row[i % len(row)] * (1 + i // len(row))) for i, v in enumerate(free)}
        point = {v: q for v, e in values.items() if (q := ir.rational(e)) is not None}
        for v, e in solution.items():
            q = ir.rational(ir.substitute((e,), values)[0])
            if q is None:
                break
            point[v] = q
        else:
            yield point


def divisors(e: Expr) -> set[Expr]:
    """The divisors of a product."""

    def factors(n: Expr) -> tuple[Expr, ...]:
        return n.args[:1] if n.op in (DIV, NEG, POW) else n.args if n.op is MUL else ()

    return {n.args[1] for n in ir.reached((e,), factors) if n.op is DIV} - {ONE}
