"""Look through arrays of intermediate results where a singularity hides behind them.

Before:  r[i] = sqrt(x[i]**2 + y[i]**2); s[i] = arctan(r[i])/r[i]
After:   s[i] = arctan(sqrt(x[i]**2 + y[i]**2))/sqrt(x[i]**2 + y[i]**2)

Requires: a valid program, not differentiated yet.
Ensures: equal values. An element is replaced by its formula only in expressions where this
completes more functions, or resolves a guard; elsewhere arrays stay, and nothing is computed twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from symdiff.ir import DIV, WHERE, Expr, rebuild, substitute, topological, transform
from symdiff.ir import loop_program as lp
from symdiff.ir.blocks import element, elements
from symdiff.ir.functions import EXP, EXTENDED, FILLED, LOG
from symdiff.passes.analysis.roots import loci
from symdiff.passes.analysis.zeros import divisors
from symdiff.passes.complete.removable import meaning

MAX_NODES = 150
"""The most nodes of a formula with the elements replaced."""
MAX_DEPTH = 6
"""The deepest nesting of arrays to look through."""
Pass = Callable[[tuple[Expr, ...]], tuple[Expr, ...]]


def looked_through(
    block: lp.Block, roots: Sequence[Expr], simplify: Pass
) -> tuple[lp.Block, tuple[Expr, ...]]:
    """The block and the expressions after it; `simplify` is the pass that completes them later."""
    builds = {
        s.name: s
        for s in lp.walk(block)
        if isinstance(s, lp.Build) and not s.body and s.type.kind == "f"
    }
    if not builds:
        return block, tuple(roots)
    known: dict[Expr, Expr] = {}

    def one(e: Expr) -> Expr:
        if e not in known:
            known[e] = _through(e, builds, simplify)
        return known[e]

    return lp.mapped_block(block, one), tuple(map(one, roots))


def _through(e: Expr, builds: dict[str, lp.Build], simplify: Pass) -> Expr:
    e = _logarithms(e, builds)
    whole = e
    for _ in range(MAX_DEPTH):
        nodes = topological((whole,))
        if len(nodes) > MAX_NODES:
            return e
        found = elements(whole, builds)
        if not found:
            break
        (whole,) = substitute((_with_poles(whole, found),), found)
    if whole is e or not any(next(loci(n), None) is not None for n in topological((e,))):
        return e
    return whole if _completed(whole, simplify) > _completed(e, simplify) else e


def _with_poles(e: Expr, mapping: Mapping[Expr, Expr]) -> Expr:
    """An expression with branches that mark the poles of quotients by an element, if the element is
    written out as a quotient: v/(2/tan(d)) is v*tan(d)/2, and was singular at d = 0."""
    poles = {element: divisors(value) for element, value in mapping.items()}
    order = topological((e,))
    if not any(n.op is WHERE for n in order):
        return e
    if not any(n.op is DIV and poles.get(n.args[1]) for n in order):
        return e

    def rule(n: Expr, args: tuple[Expr, ...]) -> Expr:
        made = rebuild(n, args)
        for p in poles.get(n.args[1], ()) if n.op is DIV else ():
            made = FILLED(made, p)
        return made

    return transform((e,), rule)[0]


def _logarithms(e: Expr, builds: dict[str, lp.Build]) -> Expr:
    """With the formulas of exponentials inside logarithms: where such an element of an array
    underflows to 0, its logarithm is lost."""
    found: dict[Expr, Expr] = {}
    for n in topological((e,)):
        if n.op is LOG:
            for x in topological(n.args):
                if x.op is lp.LOAD and (build := builds.get(lp.name_of(x.args[0]))) is not None:
                    if build.value.op is EXP:
                        found[x] = element(build, x.args[1:])
    return substitute((e,), found)[0]


def _completed(e: Expr, simplify: Pass) -> int:
    """How many more functions of the expression become completed, minus the remaining branches that
    do not guard a function."""
    found = topological(simplify((e,)))
    return sum((meaning(n.op) is not None or n.op is EXTENDED) - (n.op is WHERE) for n in found)
