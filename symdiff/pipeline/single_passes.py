"""Single passes on a formula, for people: what is cancelled, what is filled, its series."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from symdiff import ir
from symdiff.errors import SymdiffError
from symdiff.interpret import Undecided, exclusive
from symdiff.ir import Expr
from symdiff.ir.functions import COS, SIN, TAN
from symdiff.ir.program import Program
from symdiff.passes.analysis.signs import assume
from symdiff.passes.cancel.cancel import cancel
from symdiff.passes.complete.complete import Completions, complete
from symdiff.passes.complete.removable import branched_forms
from symdiff.passes.complete.surfaces import Surface
from symdiff.series import Failure, first_terms, number
from symdiff.series.coefficients import Undefined, is_generic

PRECISION = 320
"""Bits of the balls that replace constants without a name."""

REASONS = {
    "outside": "it is not defined there",
    "pole": "no Laurent series is known for one of its poles",
    "branch point": "its exponents have a large denominator",
    "logarithm": "it grows like a logarithm",
    "essential": "a function in it has an infinite argument there",
    "jump": "it has another series on either side",
    "undecided": "a coefficient is not known to be zero or not",
    "unknown": "no series is known for a part of it",
}
"""What is said where there is no series."""


def cancelled(program: Program) -> Program:
    """The program as written, with its assumptions used and its common factors cancelled."""
    return replace(program, outputs=cancel(assume(program.outputs, program.assumptions)))


def completed(program: Program) -> tuple[Program, list[Surface]]:
    """A cancelled program with branches at its removable singularities; and where those are."""
    notes = Completions()
    before = cancelled(program)
    outputs = complete(before.outputs, program.assumptions, notes)
    places = [
        Surface(c.node, c.variable, ir.const(c.point), _limit(c.node, c.variable, c.point))
        for c in notes.filled
    ]
    found = replace(program, outputs=branched_forms(outputs))
    return found, [*dict.fromkeys(places), *notes.surfaces]


def _limit(node: Expr, variable: Expr, point: object) -> Expr:
    """The value of a node at a point where it is filled."""
    (e,) = ir.substitute((node,), {variable: (t := ir.var("filled variable"))})
    with exclusive(PRECISION):
        return first_terms(e, t, number(ir.const(point)), 0, 1)  # type: ignore[arg-type]


def series_terms(program: Program, name: str, point: Expr, below: int, side: int) -> list[Expr]:
    """The first terms of the series of every output, as formulas.

    Raises
    ------
    SymdiffError : with the reason, where there is none.
    """
    found = []
    with exclusive(PRECISION):
        try:
            at = point.value if point.op is ir.CONST and _is_infinite(point) else number(point)
            if (isinstance(at, float) and math.isnan(at)) or is_generic(at):
                raise Undefined
        except (Undefined, Undecided, NotImplementedError):
            raise SymdiffError(f"the point {point} is no real number") from None
        for output in _with_quotients(assume(program.outputs, program.assumptions)):
            try:
                found.append(first_terms(output, ir.var(name), at, side, below))
            except Failure as failure:
                kind = failure.kind
                hint = "side=1 or side=-1" if kind == "jump" and not side else ""
                why = REASONS.get(kind, kind)
                raise SymdiffError(f"no series at {name} = {point}: {why}", hint=hint) from None
    return found


def _with_quotients(outputs: Iterable[Expr]) -> tuple[Expr, ...]:
    """Tangents as quotients, which have Laurent series at their poles."""

    def rule(e: Expr, args: tuple[Expr, ...]) -> Expr:
        return SIN(*args) / COS(*args) if e.op is TAN else ir.rebuild(e, args)

    return ir.transform(tuple(outputs), rule)


def _is_infinite(e: Expr) -> bool:
    return isinstance(e.value, float) and not math.isfinite(e.value)
