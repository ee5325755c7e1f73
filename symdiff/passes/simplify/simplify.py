"""The short form of a formula: the one that a person would arrive at.

Before:  Vmax/(Km + S) - S*Vmax/(Km + S)**2
After:   Km*Vmax/(Km + S)**2

Requires: any DAG.
Ensures: formulas of the same values wherever the first were defined; no wider domain, but for
points that are filled by continuity; never more operations as they are printed. Every accepted
formula was compared with what it replaces at points, in ball arithmetic (`check`). Budgets count
candidates.

    window_by_window   one formula, from its outermost window to the innermost ones
    frame              a window of the formula as a quotient of polynomials in generators
    one_angle          the same by other functions of an angle, or of an exponential
    radicals           the same with other powers of roots
    waves              products of sines and cosines as sums of them
    writer             quotients of polynomials as formulas; what a formula costs
    rules              one table of identities for what is no quotient of polynomials
    check              whether two formulas agree
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

from symdiff import ir
from symdiff.ir import HALF, ONE, POW, Expr, eq, where
from symdiff.ir.formula_text import tree_sizes
from symdiff.ir.functions import EXP, HYPOT, SLOPES, XLOG1PY, XLOGY
from symdiff.passes.cancel.algebra import RATIONAL_OPS
from symdiff.passes.simplify import radicals
from symdiff.passes.simplify.check import compare, equal
from symdiff.passes.simplify.costs import Budget, Costs
from symdiff.passes.simplify.familiar import readable, with_like_terms
from symdiff.passes.simplify.known_bases import BASES, as_exponentials, of_numbers
from symdiff.passes.simplify.on_domain import as_powers
from symdiff.passes.simplify.related_functions import COMPLEMENTED, SHIFTED, complemented, shifted
from symdiff.passes.simplify.window_by_window import Short, Windows, WindowSimplifier

MAX_OPERATIONS = 400
"""In formulas with more operations than this, written out as trees, only like terms are combined."""
CANDIDATES = 800
"""Candidates that are measured for one formula."""
ALTOGETHER, LEAST = 2400, 60
"""For all formulas of a call, and for each of them even then."""
AGAIN = 2
"""How often a result is simplified again."""


def simplify(
    outputs: Iterable[Expr],
    others: Iterable[Expr | None] | None = None,
    within: Iterable[Expr | None] | None = None,
    literals: Sequence[Fraction] = (),
) -> tuple[Expr, ...]:
    """The shortest form that is found for each output.

    Parameters
    ----------
    outputs : the formulas.
    others : for each, another formula of the same function to start from, or None.
    within : for each, a formula outside whose domain values do not matter, or None.
    literals : the decimals in the user's source, which are used to write numbers.
    """
    return tuple(short.formula for short in short_forms(outputs, others, within, False, literals))


def short_forms(
    outputs: Iterable[Expr],
    others: Iterable[Expr | None] | None = None,
    within: Iterable[Expr | None] | None = None,
    conditional: bool = True,
    literals: Sequence[Fraction] = (),
) -> list[Short]:
    """As `simplify`; including forms that hold where a variable is not zero, if they are
    shorter."""
    given = _written_out(outputs)
    others = tuple(e if e is None else _written_out((e,))[0] for e in others or [None] * len(given))
    domains = tuple(within or [None] * len(given))
    found: dict[Expr, Short] = {}
    left = ALTOGETHER
    for e, other, domain in zip(given, others, domains, strict=True):
        if e not in found:
            budget = Budget(min(CANDIDATES, max(left, LEAST)))
            before = budget.left
            start = readable(e)
            short = _short(e, start, other, domain, budget, conditional, literals)
            found[e] = replace(short, start=start)
            left -= before - budget.left
    return [found[e] for e in given]


def _written_out(outputs: Iterable[Expr]) -> tuple[Expr, ...]:
    """The formulas with slopes at ties as branches, for real numbers: without branches for nan."""
    outputs = tuple(outputs)
    tied = {frozenset(n.args) for n in ir.topological(outputs) if n.op in SLOPES}

    def rule(e: Expr, args: tuple[Expr, ...]) -> Expr:
        if e.op in SLOPES:
            return where(eq(*args), HALF, ONE)
        if e.op is ir.WHERE:
            low, high = args[0].args[:2] if args[0].op in (ir.LE, ir.LT) else (e, e)
            if args[0].op is ir.LE and high is ir.INF:
                return args[1]
            if args[0].op is ir.LT and args[1] is ir.ZERO and frozenset(e.args[0].args) in tied:
                return where(ir.le(high, low), args[2], args[1])
        return ir.rebuild(e, args)

    return ir.transform(outputs, rule)


def _short(
    e: Expr,
    start: Expr,
    other: Expr | None,
    domain: Expr | None,
    budget: Budget,
    conditional: bool,
    literals: Sequence[Fraction],
) -> Short:
    if not e.args:
        return Short(e)
    if tree_sizes((start,))[start] > MAX_OPERATIONS:
        return Short(with_like_terms(e, shared=False))
    start = with_like_terms(start)
    starts, other = _written_twice(e, start, other)
    nodes = ir.topological(starts)
    costs = Costs(nodes, literals)
    ops = {n.op for n in nodes}
    starts += _other_forms(start, ops, not (domain is None or domain is e))
    roots = radicals.as_roots(start) if HYPOT in ops else start
    if roots is not start:
        starts.append(roots)
    strange = {XLOGY, XLOG1PY} & ops - {
        n.op for n in ir.topological((start if domain is None else domain,))
    }
    best = Short(start)
    if len(starts) > 1 and starts[1] is other and compare(other, start, False, domain):
        best = Short(other)  # cancelled to what is undefined at zero
    windows: Windows = {}
    for first in starts:
        found = _from(first, start, costs, budget, domain, windows)
        if not conditional:
            found = [f for f in found if not f.nonzero]
        if first is roots is not start:
            found = [f for f in found if not f.nonzero]
            made = [radicals.as_hypots(f.formula, start) for f in found]
            found += [Short(e) for e in made if equal(start, e, within=domain)]
        for short in found:
            if other in starts[1:] and short.formula is not other and not short.nonzero:
                assert other is not None  # if it is the start, that was compared already
                nonzero = compare(other, short.formula, False, domain)
                if nonzero and (not conditional or not set(nonzero) <= _in_bases(other)):
                    continue
                short = Short(short.formula, nonzero or ())
            if _is_shorter(short, best, costs, strange):
                best = short
    before = start
    for _ in range(AGAIN):  # by other functions, or without a root, more may be found
        first = complemented(of_numbers(best.formula))
        alike = first is best.formula and _functions(first) == _functions(before)
        if best.nonzero or alike:
            break
        more = _from(first, start, costs, budget, domain, windows)
        found = [f for f in more if not f.nonzero and costs.shorter(f.formula, best.formula)]
        if not found:
            break
        before, best = best.formula, found[0]
    return best


def _written_twice(e: Expr, start: Expr, other: Expr | None) -> tuple[list[Expr], Expr | None]:
    """The formula to search, and the formula as written in the form to search."""
    if other is None:
        return [start], None
    if other is e:
        return [start], start
    other = readable(other)
    if tree_sizes((other,))[other] > MAX_OPERATIONS:
        return [start], other
    other = with_like_terms(other)
    return [start] if other is start else [start, other], other


def _other_forms(start: Expr, ops: set[ir.Op], with_powers: bool) -> list[Expr]:
    """Other forms of a formula from which shorter ones are searched."""
    forms = [shifted] if not ops.isdisjoint(SHIFTED) else []
    forms += [complemented] if not ops.isdisjoint(COMPLEMENTED) else []
    forms += [of_numbers, as_exponentials] if not ops.isdisjoint(BASES) else []
    forms += [as_powers] if with_powers else []
    return [made for form in forms if (made := form(start)) is not start]


def _is_shorter(short: Short, best: Short, costs: Costs, strange: set[ir.Op]) -> bool:
    """Whether a formula is preferred: nobody writes operations that are `strange`."""
    is_strange, was_strange = (
        bool(strange) and _has_any(s.formula, strange) for s in (short, best)
    )
    if is_strange is not was_strange:
        return was_strange
    if bool(short.nonzero) is bool(best.nonzero):
        return costs.shorter(short.formula, best.formula)
    gain = costs.length(best.formula) - costs.length(short.formula)
    return gain > 0 if short.nonzero else gain >= 0  # a condition is worth an operation


def _functions(e: Expr) -> set[Expr]:
    """The generators of windows other than variables and exponentials; for powers, the base."""
    whole = (n for n in ir.topological((e,)) if n.args and n.op is not EXP)
    other = (n for n in whole if n.op not in RATIONAL_OPS and ir.integer(n.args[-1]) is None)
    return {n.args[0] if n.op is POW else n for n in other}


def _from(
    first: Expr, start: Expr, costs: Costs, budget: Budget, domain: Expr | None, windows: Windows
) -> list[Short]:
    """The short form found from one of the starting formulas."""
    found: list[Short] = []
    # parts are compared only if the whole fails; a domain that one loses may be kept by the rest
    for trusting, strict in ((True, False), (False, False), (False, True)):
        work = WindowSimplifier(costs, strict, budget, domain, windows)
        work.top = {first: start}
        work.trusting = trusting
        made = work.of(first)
        if work.failed:
            continue
        if made is start or made in work.proven or equal(start, made, within=domain):
            found.append(Short(made))
        short = work.conditional.get(first)
        if short is not None and not set(short.nonzero) <= _in_bases(start):
            short = None
        if short is not None and compare(start, short.formula, within=domain) == short.nonzero:
            found.append(short)
        if found:
            break
    return found


def _in_bases(e: Expr) -> set[Expr]:
    """The variables in bases of powers with symbolic exponents: where such a base is
    zero, the derivative exists for some exponents only."""
    bases = {n.args[0] for n in ir.topological((e,)) if n.op is POW and not ir.rational(n.args[1])}
    return set(ir.variables(bases))


def _has_any(e: Expr, ops: set[ir.Op]) -> bool:
    return any(n.op in ops for n in ir.topological((e,)))
