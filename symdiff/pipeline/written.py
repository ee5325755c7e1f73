"""What a function is, as it was written, at points where what was made of it has no value.

Before:  where(s == 0, 0, exp(-(r/s)**2)), whose guard was dropped; nan at r = s = 0
After:   0 there, as plain Python has it

Requires: a captured program of numbers, and the steps that derive what is called.
Ensures: a value is given only where the formulas as captured, of which no pass has changed
anything, have a proven one without a limit; a derivative only where the value is such a one.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any

from symdiff import ir
from symdiff.ir import ABS, AND, FALSE, NAN, NOT, OR, WHERE, Expr, and_, not_, or_, topological
from symdiff.ir.functions import EXTREMES
from symdiff.ir.program import Program
from symdiff.passes.guards.regions import Known
from symdiff.passes.guards.shape import TINY, disjuncts, domain, positive
from symdiff.pipeline import scalar

Step = tuple[str, tuple[str, ...]]

BUDGET = 50_000
"""Operations for one point: limits are not looked for."""
MAX_CONDITIONS = 4
SIMPLE = (*ir.ARITHMETIC, *ir.COMPARISONS, ABS, AND, NOT, OR)
"""Operations of conditions that are cheap enough to be computed for every element."""
BOTH = ("value_and_gradient", "jvp", "vjp")
"""Derivations whose outputs begin with the values."""


class Written:
    """A captured program, and the derivatives of it that a kernel computes.

    Parameters
    ----------
    program : as captured.
    path : how what the kernel computes is derived from it.

    Attributes
    ----------
    guarded : where branches are taken that may be guards, of numbers for which they are defined.
    beyond : where they are, at infinite arguments: values may differ there.
    """

    def __init__(self, program: Program, path: Sequence[Step]) -> None:
        self.program, self.path = program, tuple(path)
        self.branches = any(e.op is WHERE or e.op in EXTREMES for e in topological(program.outputs))
        self.values = len(program.outputs) if not path else 0
        if len(path) == 1 and path[0][0] in BOTH:
            self.values = len(program.outputs)
        acts = _guarded(program.outputs)
        size = functools.reduce(ir.add, (ir.abs_(ir.var(p)) for p in program.params), ir.ZERO)
        self.guarded = and_(acts, not_(ir.eq(size, ir.INF)))
        self.beyond = and_(acts, ir.eq(size, ir.INF)) if self.values else FALSE
        self._made: dict[str, Any] = {}

    def __call__(self, point: Sequence[float], found: Sequence[float]) -> list[float]:
        """Results at a point, with those that are nan as they are written, if they are.

        Parameters
        ----------
        point : the arguments; found : the outputs there.
        """
        finite = all(map(math.isfinite, point))
        lost = [k for k, x in enumerate(found) if math.isnan(x)]
        if not finite and self.beyond is not FALSE:
            lost = list(range(len(found)))
        values = [k for k in lost if k < self.values]
        slopes = [k for k in lost if k >= self.values]
        if not self.branches and (finite or any(map(math.isnan, point))):
            return list(found)
        if slopes and not (finite and self._rescued(point)):
            slopes = []
        result = list(found)
        if values or slopes:
            answers = self._program("derived").at_with_status(point)
            for k in (*values, *slopes):
                if answers[k].status == "exact" or not (finite or math.isnan(answers[k].value)):
                    result[k] = answers[k].value
        return result

    def _rescued(self, point: Sequence[float]) -> bool:
        """Whether the function has a value at a point as it was written alone."""
        if len(self.program.outputs) > 1:
            return False
        own = point[: len(self.program.params)]
        (value,) = self._program("value").at_with_status(own)
        if value.status != "exact":
            return False
        (smooth,) = self._program("smooth").at_with_status(own)
        return math.isnan(smooth.value)

    def _program(self, what: str) -> Any:
        if what not in self._made:
            from symdiff.interpret import Certified

            made = self.formulas(what)
            budget = None if what == "smooth" else BUDGET
            self._made[what] = Certified(made.params, made.outputs, (), budget)
        return self._made[what]

    def formulas(self, what: str) -> Program:
        """The program of which `what` is the formulas: "derived", what the kernel computes, as it was
        written; "value", the function likewise; "smooth", the function as kernels have it."""
        if what == "smooth":
            found = scalar.optimized(scalar.value(self.program))
            outputs: tuple[Expr, ...] = found.reference
            return Program(found.name, found.params, outputs, found.tree)
        notes = scalar.Notes(without=frozenset(scalar.STAGES))
        if what == "value" or not self.path:
            return scalar.value(self.program, notes)
        program = self.program
        for kind, by in self.path:
            program = scalar.derive(program, kind, by, notes)
        return program


def _guarded(outputs: Sequence[Expr]) -> Expr:
    """Where conditions hold that may be those of guards, which have a value there: they bound
    a quantity that takes but arithmetic, and are not many."""
    found: dict[Expr, None] = {}
    for e in topological(outputs):
        if e.op is not WHERE:
            continue
        for holds, taken in ((e.args[0], e.args[1]), (not_(e.args[0]), e.args[2])):
            for written in disjuncts(holds) if taken is not NAN else ():
                if not _bounds(part := positive(written)):
                    continue
                there = and_(part, domain(taken))
                if all(n.op in SIMPLE for n in topological((there,)) if n.args):
                    found.setdefault(there)
    return functools.reduce(or_, itertools.islice(found, MAX_CONDITIONS), FALSE)


def _bounds(part: Expr) -> bool:
    """Whether a conjunction says that a quantity is very near a number."""
    sets = Known(part, True).sets.values()
    return any(s and s[-1].high <= s[0].low + 2 * TINY for s in sets)


__all__ = ["Written"]
