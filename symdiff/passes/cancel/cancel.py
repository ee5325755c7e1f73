"""Cancel common factors before anything is evaluated.

Before:  (x**2 - 4)/(x - 2)
After:   x + 2

Requires: any DAG.
Ensures: the same values wherever the DAG was defined, and no more singular
points than before: a factor of a denominator vanishes where a factor of the
numerator equals it, in quotients, products and sums of fractions, also when
the pieces were written far apart; sums that are constant become constants.
Powers are not expanded unless necessary. Every search is bounded; a
window that is too large is left unchanged and named in the notes.

`passes.analysis.fingerprint` finds candidates modulo a prime; `passes.cancel.rational` computes
their replacements exactly.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from typing import Any

from symdiff import ir
from symdiff.ir import Expr
from symdiff.passes.analysis.fingerprint import NOTHING, REMOVABLE, Fingerprints
from symdiff.passes.analysis.signs import Signs
from symdiff.passes.cancel.algebra import Generator, Generators, is_rational, rational_args
from symdiff.passes.cancel.like_powers import like_powers
from symdiff.passes.cancel.rational import Factored, OutOfBudgetError, Ring
from symdiff.passes.cancel.shared_exponential import relate

MAX_WINDOW = 200
"""Rational operations that are treated together; deeper ones are opaque."""
MAX_GENERATORS = 24
MAX_WORK = 500_000
"""The most terms of polynomials to compute for one program."""
MAX_GROWTH, SMALL = 4, 100
"""The most growth of a formula as a factor, and the length that is always allowed: expanded
polynomials of high degree lose digits."""


@dataclass(frozen=True, slots=True)
class Cancellation:
    """`before` became `after` because `factors` cancelled (none: it is constant).

    `partly`: every factor still divides the denominator, less often than before.
    """

    before: Expr
    after: Expr
    factors: tuple[Expr, ...]
    partly: bool = False


@dataclass(slots=True)
class Notes:
    """The work of the pass, for the report, and its amount."""

    cancelled: list[Cancellation] = field(default_factory=list)
    over_budget: list[Expr] = field(default_factory=list)
    work: int = 0


def cancel(outputs: Iterable[Expr], notes: Notes | None = None) -> tuple[Expr, ...]:
    """Cancel in every node of the DAG, children first."""
    outputs = like_powers(relate(outputs, _lowest))
    notes = notes if notes is not None else Notes()
    order = ir.topological(outputs)
    fingerprints = Fingerprints(Generators().scan(order))
    new: dict[Expr, Expr] = {}
    for node in order:
        e = ir.rebuild(node, tuple(new[a] for a in node.args))
        if is_rational(e) and e not in fingerprints.forms:
            _, hit = fingerprints.of(e)
            if hit != NOTHING:
                e = _rewritten(e, fingerprints.generators, hit, notes)
        new[node] = e
    return tuple(new[o] for o in outputs)


def _rewritten(e: Expr, generators: Generators, hit: int, notes: Notes) -> Expr:
    if notes.work > MAX_WORK:
        notes.over_budget.append(e)
        return e
    try:
        found = exact(e, generators, notes)
    except OutOfBudgetError:
        notes.over_budget.append(e)
        return e
    if found is None or found.after is e:
        return e
    signs = Signs()
    harmless = found.factors and all(signs.nonzero(f) for f in found.factors)
    shared = _opaque(e)  # below these both are the same
    size, after = _size(e, shared), _size(found.after, shared)
    if (found.partly and after > size) or after > MAX_GROWTH * size:
        size, after = _size(e), _size(found.after)
        if found.partly and after > size:
            return e  # still as singular, and longer
        if after > max(MAX_GROWTH * size, SMALL):
            notes.over_budget.append(e)
            return e
    if (hit != REMOVABLE or harmless) and not _fewer_functions(found.after, e):
        return e
    notes.cancelled.append(found)
    return found.after


def _size(e: Expr, shared: Container[Expr] = ()) -> int:
    return len(ir.topological((e,), shared))


def _fewer_functions(after: Expr, e: Expr) -> bool:
    """Whether an expression evaluates some of the functions of another, and no others."""
    if _opaque(after) == _opaque(e):  # nothing below can change
        return False
    return _functions(after) < _functions(e)


def _opaque(e: Expr) -> set[Expr]:
    """The arguments of the rational operations at the top of an expression."""
    nodes = ir.reached((e,), rational_args)
    return {n for n in nodes if n.args and not is_rational(n)}


def _functions(e: Expr) -> set[Expr]:
    """The elementary functions that an expression evaluates."""
    return {n for n in ir.topological((e,)) if n.args and not is_rational(n)}


def _lowest(e: Expr) -> Expr | None:
    """A rational expression in lowest terms; None if that takes too long."""
    try:
        found = exact(e, Generators().scan(ir.topological((e,))))
    except OutOfBudgetError:
        return None
    return None if found is None else found.after


def exact(e: Expr, generators: Generators, notes: Notes | None = None) -> Cancellation | None:
    """The node after exact cancellation; None if nothing cancels. The notes count the work."""
    window = _window(e)
    inside = set(window)
    collector = _Collector()
    for node in window:
        _represent(node, inside, dict.fromkeys(window), generators, collector)
    if len(collector.found) > MAX_GENERATORS:
        raise OutOfBudgetError("too many generators")
    ring = Ring(list(collector.found))
    values: dict[Expr, Factored] = {}
    for node in window:
        ring.removed.clear()
        values[node] = found = _represent(node, inside, values, generators, ring)
        if notes is not None:
            notes.work += 1 + sum(len(base) for base, _ in found.factors.values())
        if node is not e:
            ring.learn(node, values[node])
    removed = list(ring.removed)
    after = ring.render(values[e])
    vanishing = [base for base in removed if ring.may_vanish(base)]
    partly = bool(vanishing) and all(ring.divides(base, values[e]) for base in vanishing)
    factors = dict.fromkeys(ring.name(base) for base in vanishing)
    return Cancellation(e, after, tuple(factors), partly)


def _represent(
    node: Expr, inside: set[Expr], values: dict[Expr, Any], generators: Generators, algebra: Any
) -> Any:
    if is_rational(node) and any(a not in inside for a in node.args):
        return algebra.gen(Generator("node", node))
    return generators.represent(node, values, algebra)


def _window(e: Expr) -> list[Expr]:
    """The rational operations above the opaque nodes, and the latter, children first."""
    reached: dict[Expr, None] = {e: None}
    queue = [e]
    for node in queue:
        if is_rational(node) and len(reached) <= MAX_WINDOW:
            for a in node.args:
                if a not in reached:
                    reached[a] = None
                    queue.append(a)
    return ir.children_first((e,), lambda n: [a for a in n.args if a in reached])


class _Collector:
    """An algebra that only records which generators occur."""

    def __init__(self) -> None:
        self.found: dict[Generator, None] = {}

    def gen(self, g: Generator) -> None:
        self.found[g] = None

    def angle(self, g: Generator) -> tuple[None, None]:
        self.found[g] = None
        return None, None

    def const(self, *_: object) -> None: ...

    neg = add = mul = div = pow = const
