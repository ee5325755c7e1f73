"""Decisions that rounding makes: comparisons with `==`, and integers computed from rounded numbers.

Before:  int(T/dt), at T = 0.3 and dt = 0.1
After:   2, where the decimals that people write have the quotient 3

Each decision is computed at decimals that people write, as doubles compute it and in exact
arithmetic on the decimals themselves. Where the results differ, rounding decides.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from symdiff import ir
from symdiff.cli.check.examine import Examiner
from symdiff.cli.check.findings import DECIDED, Finding
from symdiff.diagnostics.certify import defaults_of
from symdiff.diagnostics.naive import Naive
from symdiff.errors import Location
from symdiff.ir import BOOL, CONST, EQ, FALSE, TRUE, Expr, const, format_expr
from symdiff.ir.functions import CEIL, FLOOR, FLOOR_QUOTIENT, ROUND, TRUNC
from symdiff.ir.plain import exactly, is_decided

USUAL = (0.1, 0.2, 0.3, 0.5, 0.6, 0.7, 1.0, 2.0, 3.0, 6.0, 10.0, 0.01)
"""Numbers that people write, for the first `MANY` variables of a decision; others are 1."""
MANY = 2
FIXES = {EQ: "compare with math.isclose"}
"""What to write for a decision; for an integer, round first."""
DECISIONS = (EQ, FLOOR, CEIL, TRUNC, ROUND, FLOOR_QUOTIENT)


def decided(examiner: Examiner) -> Iterator[Finding]:
    """The decisions of a function that rounding makes, each with one example."""
    for node in ir.topological(examiner.program.outputs):
        rounds = node.op is FLOOR_QUOTIENT or any(map(is_decided, ir.topological(node.args)))
        if node.op in DECISIONS and rounds:
            yield from _examined(node, examiner)


def _examined(node: Expr, examiner: Examiner) -> Iterator[Finding]:
    for at in _points(node, examiner):
        exact = {ir.var(n): const(Fraction(x)) for n, x in at.items()}
        (got,) = ir.substitute((node,), exact)
        right = _meant(node, at)
        if got is right or got.op not in (BOOL, CONST) or right.op not in (BOOL, CONST):
            continue
        if node.op is EQ and _is_puncture(node, examiner):
            return
        name, place = examiner.function.__name__, _place(node, examiner)
        variable = next(n for n in examiner.params if ir.var(n) in ir.variables((node,)))
        yield Finding(
            name, name, DECIDED, variable, at[variable], at[variable],
            {n: x for n, x in at.items() if ir.var(n) in ir.variables((node,))},
            float(got.value), float(right.value), float(got.value), 2.0**53, place,
            format_expr(exactly((node,))[0], 60), fix=FIXES.get(node.op, "round the quotient first"),
        )  # fmt: skip
        return


def _points(node: Expr, examiner: Examiner) -> Iterator[Mapping[str, float]]:
    """Decimals in the domain; parameters keep their defaults."""
    used = [n for n in examiner.params if ir.var(n) in ir.variables((node,))]
    held = defaults_of(examiner.function)
    free = [n for n in used if n not in held][:MANY]
    for values in itertools.product(USUAL, repeat=len(free)):
        at = {n: float(held.get(n, 1.0)) for n in examiner.params}
        at.update(zip(free, values, strict=True))
        if examiner.inside(np.array([list(at.values())]))[0]:
            yield at


def _meant(node: Expr, at: Mapping[str, float]) -> Expr:
    """The decision in exact arithmetic on decimals."""
    (exact,) = exactly((node,))
    new = {ir.var(n): _decimal(x) for n, x in at.items()}
    new |= {n: _decimal(float(n.value)) for n in ir.topological((exact,)) if n.op is CONST}
    return ir.substitute((exact,), new)[0]


def _decimal(x: float) -> Expr:
    return const(Fraction(repr(x)) if np.isfinite(x) else x)


def _is_puncture(node: Expr, examiner: Examiner) -> bool:
    """Whether a comparison keeps a function away from a point where it is not finite."""
    program = examiner.program
    for at in _points(node, examiner):
        exact = {ir.var(n): const(Fraction(x)) for n, x in at.items()}
        if ir.substitute((node,), exact)[0] is TRUE:
            outputs = ir.substitute(program.outputs, {node: FALSE})
            values = Naive(replace(program, outputs=outputs), ()).at(list(at.values()))
            return not np.isfinite(values).all()
    return False


def _place(node: Expr, examiner: Examiner) -> Location | None:
    places, outputs = examiner.program.locations, examiner.program.outputs
    near = (node, *reversed(ir.topological((node,))), *outputs)
    return next((places[n] for n in near if n in places), None)
