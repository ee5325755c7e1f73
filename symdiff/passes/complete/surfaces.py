"""Complete functions that are removable along a surface on which a denominator vanishes.

Before:  (exp(x) - exp(y))/(x - y)
After:   completed(x, y), an operation with derivatives of every order (`passes.complete.across`)

Requires: any DAG.
Ensures: a node is replaced if a denominator in it vanishes where one variable is a
function of the others, v = rho(others), and the node has a power series in
h = v - rho without negative powers; its coefficients are expressions in the others.

Other variables are parameters in general position: a coefficient is zero if it
is identically zero. The leading coefficient of the denominator must be a single
term, and samples in balls confirm the series.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from flint import arb, ctx, fmpq

from symdiff import ir
from symdiff.interpret import exclusive
from symdiff.interpret.flat import Tape
from symdiff.ir import ABS, DIV, SIGN, Expr
from symdiff.ir.functions import EXTREMES
from symdiff.ir.nodes import MAKERS, Maker
from symdiff.passes.analysis.dependence import Dependence
from symdiff.passes.analysis.roots import symbolic_roots
from symdiff.passes.analysis.signs import Signs
from symdiff.passes.complete.across import TESTED, Across, horner
from symdiff.series import Expansion, Failure, Number, is_zero, number, to_expr
from symdiff.series.laurent import Ramified

PRECISION = 320
TERMS = (14, 7)
"""Lengths of series to try."""
MAX_NODES = 120
"""The most nodes of a formula to expand."""
MAX_SERIES = 600
"""The most nodes of a series,"""
MAX_DERIVED = 2400
"""and of one with some more terms, for derivatives."""
MAX_SURFACES = 24
MAX_CLIMB = 5
"""Operations above a quotient that is not removable itself."""
SAMPLES = 3
NEAR = ir.var("distance from the surface")


@dataclass(frozen=True, slots=True)
class Surface:
    """A node completed where `variable` equals `root`; there it is `limit`."""

    node: Expr
    variable: Expr
    root: Expr
    limit: Expr


@dataclass(frozen=True, slots=True)
class Coefficients:
    """The given number of coefficients of the series at a surface; None if there are not so many."""

    surface: Surface

    def __call__(self, count: int) -> list[Expr] | None:
        return _coefficients(self.surface, count)


MAKERS["across"] = Maker(Across.again, (Expr, Expr, Expr, int, Coefficients, tuple[int, ...]))


def complete_surfaces(
    outputs: Iterable[Expr], facts: Iterable[Expr] = (), found: list[Surface] | None = None
) -> tuple[Expr, ...]:
    """Replace nodes that are removable along a surface; list them in `found`."""
    outputs = tuple(outputs)
    found = found if found is not None else []
    order = ir.topological(outputs)
    surfaces = _surfaces(order, Signs(facts))
    if not surfaces:
        return outputs
    names = _kinks(order, surfaces)
    if names:
        outputs = ir.substitute(outputs, names)
        order = ir.topological(outputs)
        surfaces = _surfaces(order, Signs(facts))
    back = {name: kink for kink, name in names.items()}
    parents: dict[Expr, list[Expr]] = {}
    for e in order:
        for a in e.args:
            parents.setdefault(a, []).append(e)
    completed: dict[Expr, tuple[Surface, int]] = {}
    with exclusive(PRECISION):
        for (v, rho), quotients in surfaces.items():
            for e in _bounded(quotients, parents, v, rho):
                made = None if e in completed else _completed(e, v, rho, quotients)
                if made is not None:
                    completed[e] = made
                    node, limit = ir.substitute((e, made[0].limit), back)
                    found.append(replace(made[0], node=node, limit=limit))

    def rule(e: Expr, args: tuple[Expr, ...]) -> Expr:
        rebuilt = ir.rebuild(e, args)
        if e not in completed:
            return rebuilt
        surface, terms = completed[e]
        return Across.of(
            rebuilt, surface.variable, surface.root, terms, Coefficients(surface)
        ).node()

    return ir.substitute(ir.transform(outputs, rule), back)


def _kinks(order: Sequence[Expr], surfaces: Iterable[tuple[Expr, Expr]]) -> dict[Expr, Expr]:
    """Names for signs, absolute values, maxima and minima of nodes that a surface does not contain:
    completed functions take them as arguments, so that their slopes stay visible."""
    taken = set(ir.variables([e for surface in surfaces for e in surface]))
    below = Dependence()
    kinks = [
        e for e in order if e.op in (ABS, SIGN, *EXTREMES) and taken.isdisjoint(below.variables(e))
    ]
    return {e: ir.var(f"kink {k}") for k, e in enumerate(kinks)}


def _surfaces(order: Sequence[Expr], signs: Signs) -> dict[tuple[Expr, Expr], list[Expr]]:
    """A map from (v, rho) to the quotients whose denominators vanish at v = rho."""
    result: dict[tuple[Expr, Expr], list[Expr]] = {}
    below = Dependence()
    vanishing: dict[Expr, list[tuple[Expr, Expr]]] = {}
    for e in order:
        if e.op is not DIV or len(below.variables(e)) < 2 or signs.nonzero(e.args[1]):
            continue
        d = e.args[1]
        if d not in vanishing:
            vanishing[d] = _first_roots(d, below)
        for v, rho in vanishing[d]:
            if (rho is not ir.ZERO or not signs.nonzero(v)) and len(result) < MAX_SURFACES:
                result.setdefault((v, rho), []).append(e)
    return result


def _first_roots(d: Expr, below: Dependence) -> list[tuple[Expr, Expr]]:
    """The first variable for which the zeros of a formula are found, with these zeros."""
    found = {v: rs for v in below.variables(d) if (rs := symbolic_roots(d, v, below))}
    if not found:
        return []
    first = (
        next(v for v in ir.variables((d,)) if v in found) if len(found) > 1 else next(iter(found))
    )
    return [(first, rho) for rho in found[first]]


# ------------------------------------------------------------------ where to expand
def _bounded(
    quotients: Sequence[Expr], parents: dict[Expr, list[Expr]], v: Expr, rho: Expr
) -> list[Expr]:
    """The lowest nodes at or above the quotients that stay bounded near the surface."""
    levels: dict[Expr, int] = dict.fromkeys(quotients, 0)
    queue = list(quotients)
    for e in queue:
        for p in parents.get(e, ()):
            if p not in levels and levels[e] < MAX_CLIMB and p.op in ir.ARITHMETIC:
                levels[p] = levels[e] + 1
                queue.append(p)
    finite = _stays_bounded(queue, v, rho)

    def above(e: Expr) -> list[Expr]:
        found = () if e in finite else parents.get(e, ())
        return [p for p in found if p in levels][::-1]

    return [e for e in ir.reached(quotients, above) if e in finite]


def _stays_bounded(nodes: Sequence[Expr], v: Expr, rho: Expr) -> set[Expr]:
    shifted = ir.substitute(nodes, {v: rho + NEAR})
    others = [x for x in ir.variables(shifted) if x is not NEAR]
    tape = Tape([NEAR, *others], shifted)
    for point in _points(len(others), 8):
        far, near = (tape.run([arb(2) ** -k, *point], ctx.prec) for k in (30, 60))
        pairs = [(far[i], near[i]) for i in tape.roots]
        if all(b.is_finite() for _, b in pairs):
            return {
                e for e, (a, b) in zip(nodes, pairs, strict=True) if abs(b) < 4 * abs(a) + 2**-10
            }
    return set()


def _points(count: int, tries: int) -> list[list[arb]]:
    """Points for parameters, the same ones every time."""
    rng = random.Random(1)
    return [
        [arb(fmpq(rng.choice((1, 1, -1)) * rng.randint(1, 60), 17)) for _ in range(count)]
        for _ in range(tries)
    ]


# ------------------------------------------------------------------------- series
def _completed(
    e: Expr, v: Expr, rho: Expr, quotients: Sequence[Expr]
) -> tuple[Surface, int] | None:
    """The surface, and the number of terms in its series; None if the node has no power
    series."""
    if len(ir.topological((e,))) > MAX_NODES:
        return None
    below = set(ir.topological((e,)))
    for terms in TERMS:
        coefficients = _series(e, v, rho, terms + TESTED)
        if coefficients is None:
            continue
        if not _leads_are_simple([q.args[1] for q in quotients if q in below], v, rho):
            return None
        if _confirmed(e, v, rho, coefficients):
            return Surface(e, v, rho, coefficients[0]), terms
        return None
    return None


def _coefficients(surface: Surface, count: int) -> list[Expr] | None:
    """More coefficients of a known series, for its derivatives."""
    with exclusive(PRECISION):
        return _series(surface.node, surface.variable, surface.root, count, MAX_DERIVED)


def _expansion(v: Expr, rho: Expr, side: int, ramification: int) -> Expansion:
    return Expansion(v, number(rho), side, ramification, generic=True)


def _series(e: Expr, v: Expr, rho: Expr, count: int, most: int = MAX_SERIES) -> list[Expr] | None:
    """Coefficients of h**0, h**1, ... with h = v - rho; None if there are others."""
    try:
        x = _expansion(v, rho, 1, 1)
        try:
            found = _one_side(e, x, count)
        except Ramified:
            x = _expansion(v, rho, 1, 2)
            found = _one_side(e, x, count)
        if found is not None and x.sided:
            try:
                left = _one_side(e, _expansion(v, rho, -1, x.ramification), count)
            except Failure as failure:
                left = found if failure.kind == "outside" else None
            found = found if left == found else None
    except (ArithmeticError, RecursionError):
        return None
    small = found is not None and len(ir.topological(found)) <= most
    return found if small else None


def _one_side(e: Expr, x: Expansion, count: int) -> list[Expr] | None:
    stream, r = x.of(e), x.ramification
    whole = [k * r for k in range(count)]
    if not all(
        is_zero(stream.coefficient(k)) for k in range(stream.low, count * r) if k not in whole
    ):
        return None
    return [to_expr(stream.coefficient(k) * x.side**i) for i, k in enumerate(whole)]


def _leads_are_simple(denominators: Iterable[Expr], v: Expr, rho: Expr) -> bool:
    """Whether the leading coefficients of the denominators are single terms, which
    do not vanish at some values of the parameters."""
    for d in denominators:
        try:
            try:
                stream = _expansion(v, rho, 1, 1).of(d)
            except Ramified:
                stream = _expansion(v, rho, 1, 2).of(d)
            lead = stream.coefficient(stream.valuation())
        except ArithmeticError:
            return False
        if isinstance(lead, Number) and len(lead.terms) > 1:
            return False
    return True


def _confirmed(e: Expr, v: Expr, rho: Expr, coefficients: Sequence[Expr]) -> bool:
    """Whether the series is the function, at points where both are defined."""
    (shifted,) = ir.substitute((e,), {v: rho + NEAR})
    total = horner(coefficients, NEAR)
    others = [x for x in ir.variables((shifted, total)) if x is not NEAR]
    tape = Tape([NEAR, *others], [shifted, total])
    agreed = 0
    for point in _points(len(others), SAMPLES * 8):
        values = tape.run([arb(2) ** -30, *point], ctx.prec)
        true, got = (values[i] for i in tape.roots)
        if not (true.is_finite() and got.is_finite()):
            continue
        if not abs(true - got) <= arb(2) ** -150 * (1 + abs(true)):
            return False
        agreed += 1
        if agreed == SAMPLES:
            return True
    return False
