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
from fractions import Fraction
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
ASIDE = 2.0**-26
"""How far from a guard its value is compared with those of the function, and how well they agree."""
FIRST = ("gradient", "value_and_gradient", "jacobian")
"""Derivations whose outputs are derivatives by one parameter after the other."""


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
    asked : the parameters that these branches ask about.
    """

    def __init__(self, program: Program, path: Sequence[Step]) -> None:
        self.program, self.path = program, tuple(path)
        self.branches = any(e.op is WHERE or e.op in EXTREMES for e in topological(program.outputs))
        self.values = len(program.outputs) if not path else 0
        if len(path) == 1 and path[0][0] in BOTH:
            self.values = len(program.outputs)
        acts = _guarded(program.outputs)
        self.asked = frozenset(v.value for v in ir.variables((acts,)))
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
        along = slopes if finite else []
        if slopes and not (finite and self._rescued(point)):
            slopes = []
        result = list(found)
        if values or slopes:
            answers = self._program("derived").at_with_status(point)
            for k in (*values, *slopes):
                if answers[k].status == "exact" or not (finite or math.isnan(answers[k].value)):
                    result[k] = answers[k].value
        for k in along:
            if (slope := self._along(k, point)) is not None:
                result[k] = slope
        return result

    def _along(self, k: int, point: Sequence[float]) -> float | None:
        """A derivative by one variable, of the function on the line on which that alone changes: where a guard is
        met at one point of that, the limit, if the guard's value is that of the function, though there may be
        none on other lines. None if there is no such derivative."""
        names = self.by(k)
        if len(set(names)) != 1:
            return None
        i, made = self.program.params.index(names[0]), self._reference()
        others = list(zip(self.program.params, point, strict=False))
        fixed = {ir.var(p): ir.const(Fraction(x)) for p, x in others if p != names[0]}
        root, *captured = ir.substitute((made[k], *self.program.outputs), fixed)
        if _guarded(captured) is FALSE:  # which holds all along the line, or nowhere
            there = self._program("derived").at_with_status(point)[k]
            return float(there.value) if there.status == "exact" else None
        (slope,) = _certified(names[:1], (root,), BUDGET).at_with_status([point[i]])
        if slope.status not in ("exact", "limit"):
            return None
        h = (abs(point[i]) or 1.0) * ASIDE
        rows = [[x if j != i else x + d for j, (_, x) in enumerate(others)] for d in (0.0, h, -h)]
        here, *beside = (self._program("value").at_with_status(row)[0].value for row in rows)
        far = [
            abs(x - here) > 2 * h * abs(slope.value) + ASIDE * max(abs(here), abs(x))
            for x in beside
        ]
        return None if any(far) or not all(map(math.isfinite, beside)) else float(slope.value)

    def _reference(self) -> Sequence[Expr]:
        """What the kernel computes, in closed form."""
        if "reference" not in self._made:
            program, notes = self.program, scalar.Notes()
            for kind, by in self.path:
                program = scalar.derive(program, kind, by, notes)
            self._made["reference"] = scalar.optimized(program, notes).reference
        found: Sequence[Expr] = self._made["reference"]
        return found

    def by(self, k: int) -> tuple[str, ...]:
        """By what an output is a derivative; () if that is not said."""
        if len(self.path) != 1 or len(self.program.outputs) != 1:
            return ()
        ((kind, names),) = self.path
        if kind == "derivative":
            return tuple(names)
        if kind == "hessian":
            return names[k // len(names)], names[k % len(names)]
        return (names[k - self.values],) if kind in FIRST else ()

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
            made = self.formulas(what)
            budget = None if what == "smooth" else BUDGET
            self._made[what] = _certified(made.params, made.outputs, budget)
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


def _certified(params: Sequence[Any], outputs: Sequence[Expr], budget: int | None) -> Any:
    from symdiff.interpret import Certified

    return Certified(params, outputs, (), budget)


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
