"""Decisions that rounding makes: comparisons with `==`, and integers computed from rounded numbers.

Before:  int(T/dt), at T = 0.3 and dt = 0.1
After:   2, where the decimals that people write have the quotient 3

Each decision is computed at decimals that people write, as doubles compute it and in exact
arithmetic on the decimals themselves. Where the results differ, rounding decides.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.cli.check.examine import Examiner
from symdiff.cli.check.findings import DECIDED, Finding
from symdiff.diagnostics.certify import defaults_of
from symdiff.diagnostics.naive import Naive
from symdiff.errors import Location
from symdiff.ir import BOOL, CONST, EQ, FALSE, TRUE, Expr, const, format_expr
from symdiff.ir import loop_program as lp
from symdiff.ir.functions import CEIL, FLOOR, FLOOR_QUOTIENT, ROUND, TRUNC
from symdiff.ir.plain import exactly, is_decided
from symdiff.ir.program import Program
from symdiff.pipeline.samples import inside

USUAL = (0.1, 0.2, 0.3, 0.5, 0.6, 0.7, 1.0, 2.0, 3.0, 6.0, 10.0, 0.01)
"""Numbers that people write, for the first `MANY` variables of a decision; others are 1."""
MANY = 2
FIXES = {EQ: "compare with math.isclose"}
"""What to write for a decision; for an integer, round first."""
DECISIONS = (EQ, FLOOR, CEIL, TRUNC, ROUND, FLOOR_QUOTIENT)


@dataclass(frozen=True)
class Decisions:
    """The decisions of a function.

    Attributes
    ----------
    program : their formulas, among others; held : default values of parameters.
    inside : which points are in the domain.
    """

    program: Program
    held: Mapping[str, float]
    inside: Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]

    def found(self) -> Iterator[Finding]:
        """Those that rounding makes, each with one example."""
        for node in ir.topological(self.program.outputs):
            if _may_round(node):
                yield from self._examined(node)

    def _examined(self, node: Expr) -> Iterator[Finding]:
        for at in self._points(node):
            exact = {ir.var(n): const(Fraction(x)) for n, x in at.items()}
            (got,) = ir.substitute((node,), exact)
            right = _meant(node, at)
            if got is right or got.op not in (BOOL, CONST) or right.op not in (BOOL, CONST):
                continue
            if node.op is EQ and self._is_puncture(node):
                return
            name, used = self.program.name, ir.variables((node,))
            variable = next(n for n in self.program.params if ir.var(n) in used)
            yield Finding(
                name, name, DECIDED, variable, at[variable], at[variable],
                {n: x for n, x in at.items() if ir.var(n) in used},
                float(got.value), float(right.value), float(got.value), 2.0**53, self._place(node),
                format_expr(exactly((node,))[0], 60),
                fix=FIXES.get(node.op, "round the quotient first"),
            )  # fmt: skip
            return

    def _points(self, node: Expr) -> Iterator[Mapping[str, float]]:
        """Decimals in the domain; parameters keep their defaults."""
        used = [n for n in self.program.params if ir.var(n) in ir.variables((node,))]
        free = [n for n in used if n not in self.held][:MANY]
        for values in itertools.product(USUAL, repeat=len(free)):
            at = {n: float(self.held.get(n, 1.0)) for n in self.program.params}
            at.update(zip(free, values, strict=True))
            if self.inside(np.array([list(at.values())]))[0]:
                yield at

    def _is_puncture(self, node: Expr) -> bool:
        """Whether a comparison keeps a function away from a point where it is not finite."""
        for at in self._points(node):
            exact = {ir.var(n): const(Fraction(x)) for n, x in at.items()}
            if ir.substitute((node,), exact)[0] is TRUE:
                outputs = ir.substitute(self.program.outputs, {node: FALSE})
                values = Naive(replace(self.program, outputs=outputs), ()).at(list(at.values()))
                return not np.isfinite(values).all()
        return False

    def _place(self, node: Expr) -> Location | None:
        places, outputs = self.program.locations, self.program.outputs
        near = (node, *reversed(ir.topological((node,))), *outputs)
        return next((places[n] for n in near if n in places), None)


def decided(examiner: Examiner) -> Iterator[Finding]:
    """The decisions of a function of numbers that rounding makes."""
    held = defaults_of(examiner.function)
    yield from Decisions(examiner.program, held, examiner.inside).found()


def decided_in(name: str, program: lp.LoopProgram, held: Mapping[str, float]) -> list[Finding]:
    """The same of a function with arrays or loops, of decisions by its numbers alone, such as how often
    a loop runs."""
    numbers = tuple(p.name for p in program.params if not p.type.shape and p.type.kind == "f")
    roots = [
        n
        for n in ir.topological((*lp.expressions_in(program.block), *program.outputs))
        if n.op is not EQ and _may_round(n) and lp.names_in(n) <= set(numbers)
    ]
    made = Program(name, numbers, tuple(roots), locations=program.locations)
    return list(Decisions(made, held, inside(numbers, ())).found())


def _may_round(node: Expr) -> bool:
    if node.op not in DECISIONS:
        return False
    return node.op is FLOOR_QUOTIENT or any(map(is_decided, ir.topological(node.args)))


def _meant(node: Expr, at: Mapping[str, float]) -> Expr:
    """The decision in exact arithmetic on decimals."""
    (exact,) = exactly((node,))
    new = {ir.var(n): _decimal(x) for n, x in at.items()}
    new |= {n: _decimal(float(n.value)) for n in ir.topological((exact,)) if n.op is CONST}
    return ir.substitute((exact,), new)[0]


def _decimal(x: float) -> Expr:
    return const(Fraction(repr(x)) if np.isfinite(x) else x)
