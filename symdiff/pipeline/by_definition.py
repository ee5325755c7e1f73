"""Derivatives at points that kernels do not know, by the definition.

Before:  where(s == 0, 0, exp(-(r/s)**2)), whose guard was dropped; nan at r = s = 0
After:   0 there, as plain Python has it, and the derivatives that the germs on both sides have

Requires: a captured program of numbers, and the steps that derive what is called.
Ensures: a value is given only where the formulas as captured, of which no pass has changed
anything, have a proven one without a limit; derivatives are those of `interpret.along_lines`, where a kernel has
none, and where a branch is taken at the point alone.
"""

from __future__ import annotations

import functools
import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from symdiff import ir
from symdiff.errors import GuardWarning
from symdiff.interpret.places import atoms_of
from symdiff.interpret.secants import values_at
from symdiff.interpret.special_points import ALIKE, JUMP, special_points
from symdiff.interpret.terms import Step, Term, terms
from symdiff.ir import (
    ABS,
    AND,
    FALSE,
    NAN,
    NOT,
    OR,
    WHERE,
    Expr,
    and_,
    not_,
    or_,
    topological,
    where,
)
from symdiff.ir.plain import exactly
from symdiff.ir.program import OptimizedProgram, Program
from symdiff.passes.analysis.signs import Signs
from symdiff.passes.guards.regions import NONNEGATIVE, Known, Piece, intersection
from symdiff.passes.guards.shape import TINY, disjuncts, domain, positive
from symdiff.pipeline import scalar
from symdiff.pipeline.slopes_beside import slopes_beside
from symdiff.process.callers import outside
from symdiff.process.lazy_modules import Later
from symdiff.process.recent import Recent, bits
from symdiff.runtime.scalar.fallback import MOVE, UNKNOWN, tell

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

MAX_CONDITIONS = 4
SIMPLE = (*ir.ARITHMETIC, *ir.COMPARISONS, ABS, AND, NOT, OR)
"""Operations of conditions that are cheap enough to be computed for every element."""
BOTH = ("value_and_gradient", "jvp", "vjp")
"""Derivations whose outputs begin with the values."""
BUDGET = 50_000
"""Operations for one point at infinite arguments; limits are not searched for."""
FIRST = ("gradient", "value_and_gradient", "jacobian")
"""Derivations whose outputs are derivatives by one parameter after the other."""


class ByDefinition:
    """A captured program, and the derivatives of it that a kernel computes.

    Parameters
    ----------
    program : as captured.
    path : how what the kernel computes is derived from it.
    special : where derivatives are those of the definition; see `pipeline.special_points`.

    Attributes
    ----------
    guarded : where branches are taken that may be guards, of numbers for which they are defined.
    beyond : where they are, at infinite arguments: values may differ there.
    asked : the parameters that these branches ask about.
    """

    def __init__(self, program: Program, path: Sequence[Step], special: Expr = FALSE) -> None:
        self.program, self.path, self.special = program, tuple(path), special
        self.values = _values(program, path)
        acts = _any([c for c, _ in _guards(program.outputs)])
        self.asked = frozenset(v.value for v in ir.variables((acts,)))
        size = functools.reduce(ir.add, (ir.abs_(ir.var(p)) for p in program.params), ir.ZERO)
        self.guarded = and_(acts, not_(ir.eq(size, ir.INF)))
        self.beyond = and_(acts, ir.eq(size, ir.INF)) if self.values else FALSE
        self._made: dict[str, Any] = {}
        self._answers = Recent[Sequence[float]]()
        self._has_warned = False

    def __call__(
        self, point: Sequence[float], found: Sequence[float], dtype: str = "float64",
        limits: Sequence[int] = (), open_: Sequence[int] = (),
    ) -> list[float]:  # fmt: skip
        """Results at a point: those that are nan, and derivatives where a branch is taken at
        the point alone, by the definition.

        Parameters
        ----------
        point : the arguments; found : the outputs there.
        limits : those that are limits of formulas which are undefined there. Values are Python's, if that has one:
            a step is no limit. Derivatives are by the definition, if that is something else.
        open_ : those that ball arithmetic left open. Derivatives are by the definition, if that knows them.
        """
        result = list(found)
        if not all(map(math.isfinite, point)):
            return result if any(map(math.isnan, point)) else self._at_infinity(point, result)
        lost = [
            k for k, x in enumerate(found) if math.isnan(x) or (k >= self.values and math.isinf(x))
        ]
        if self.special is not FALSE and _holds(self.special, self.program.params, point):
            lost = [*(k for k in lost if k < self.values), *range(self.values, len(found))]
        for k in limits if self.values else ():
            if k < self.values and not _alike(plain := self._plainly(point)[k], found[k]):
                result[k] = plain
        doubted = {k for k in limits if k >= self.values and k not in lost}
        left = {k for k in open_ if k >= self.values and k not in lost}
        lost += sorted(doubted | left)
        rows = self._terms() if lost else None
        if rows is None:
            return result
        key = bits([point, found, limits, open_])
        question = None if key is None else (dtype, key)
        if (known_already := self._answers.get(question)) is not None:
            return list(known_already)
        lost = [k for k in lost if not self._is_outside({t.output for t in rows[k]}, point)]
        from symdiff.interpret import exclusive

        own, jumps, unknown = point[: len(self.program.params)], False, 0
        with exclusive():
            there = self._derivatives(dtype).at(own)
            for k in lost:
                total, known, none = 0.0, True, False
                for t in rows[k]:
                    weight = math.prod(point[w] for w in t.weights)
                    if weight == 0:
                        continue
                    slope = there.partial(t.output, t.by)
                    jumps, known = jumps | slope.jumps, known & slope.known
                    none |= slope.is_none
                    total += weight * slope.value
                if k in doubted:
                    result[k] = total if known and not _alike(total, found[k]) else found[k]
                    continue
                if k in left:
                    result[k] = total if known else found[k]
                    continue
                unknown += not known and not math.isinf(found[k])
                if math.isnan(found[k]) or (
                    known and (none or not (math.isinf(found[k]) and math.isnan(total)))
                ):
                    result[k] = total
        if unknown:
            tell(unknown, self.program.name, f": {UNKNOWN.format(unknown)}", MOVE)
        if jumps and not self._has_warned:
            self._has_warned = True
            warnings.warn(
                f"{self.program.name}: the value at a guard is not the limit there; derivatives are "
                f"those of the guard's own formula, at {tuple(own)}",
                GuardWarning,
                stacklevel=outside(),
            )
        return result if unknown else list(self._answers.keep(question, tuple(result)))

    def many(self, points: Any) -> tuple[Any, Any] | None:
        """Results at points (elements, arguments), and which are known, as far as that is found without a search;
        None if nothing is."""
        if "beside" not in self._made:
            rows = self._terms()
            first = rows is not None and all(len(t.by) < 2 for row in rows for t in row)
            self._made["beside"] = slopes_beside(self.program) if first else None
        beside, rows = self._made["beside"], self._terms()
        return None if beside is None or rows is None else beside(points, rows)

    def _is_outside(self, outputs: Iterable[int], point: Sequence[float]) -> bool:
        """Whether some of the captured outputs have no value at a point, whatever their formulas have there."""
        domain = self.program.domain_of(outputs)
        return any(_holds(not_(c), self.program.params, point) for c in domain)

    def _plainly(self, point: Sequence[float]) -> list[float]:
        """The values that plain Python computes, in doubles; nan where it has none, as it divides by 0."""
        from symdiff.interpret.loops import Doubles, evaluate

        scope = {p: np.float64(x) for p, x in zip(self.program.params, point, strict=False)}
        found = []
        with np.errstate(all="ignore", divide="raise"):
            for e in self.program.outputs:
                try:
                    found.append(float(evaluate(e, Doubles(), scope)))
                except FloatingPointError:
                    found.append(math.nan)
        return found

    def _terms(self) -> list[Sequence[Term]] | None:
        """What each output is the sum of; None if it is of higher order."""
        if "terms" not in self._made:
            params = [(p, ()) for p in self.program.params]
            found = terms(self.path, params, [()] * len(self.program.outputs))
            self._made["terms"] = None if found is None else [a[()] for a in found]
        rows: list[Sequence[Term]] | None = self._made["terms"]
        return rows

    def _at_infinity(self, point: Sequence[float], found: list[float]) -> list[float]:
        """Results at infinite arguments: values are as they are written where guards act, and derivatives that are
        nan as infinite quantities are constant."""
        if self.beyond is not FALSE:
            if "value" not in self._made:
                from symdiff.interpret import Certified

                made = self.formulas("derived")
                self._made["value"] = Certified(made.params, made.outputs, (), BUDGET)
            answers = self._made["value"].at_with_status(point)
            for k in range(self.values):
                if answers[k].status == "exact" or not math.isnan(answers[k].value):
                    found[k] = answers[k].value
        lost = [k for k, x in enumerate(found) if k >= self.values and math.isnan(x)]
        rows = self._terms() if lost else None
        if rows is None:
            return found
        from symdiff.interpret import exclusive
        from symdiff.interpret.along_lines import Derivatives
        from symdiff.interpret.infinite import beside_infinities, is_infinite

        names = self.program.params
        outputs = beside_infinities(self.program.outputs, dict(zip(names, point, strict=False)))
        with exclusive():
            own = [x if math.isfinite(x) else 0.0 for x in point[: len(names)]]
            there = Derivatives(names, outputs).at(own)
            for k in lost:
                if not any(is_infinite(outputs[t.output]) for t in rows[k]):
                    found[k] = sum(
                        math.prod(point[w] for w in t.weights) * there.partial(t.output, t.by).value
                        for t in rows[k]
                    )
        return found

    def _derivatives(self, dtype: str) -> Any:
        if dtype not in self._made:
            from symdiff.interpret.along_lines import Derivatives
            from symdiff.ir.plain import in_single

            outputs = self.program.outputs
            outputs = outputs if dtype == "float64" else in_single(outputs)
            self._made[dtype] = Derivatives(self.program.params, outputs)
        return self._made[dtype]

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


def made_of(program: Program, path: Sequence[Step]) -> list[set[int]] | None:
    """The captured outputs that each output of a derivative depends on; None if that is not known."""
    rows = terms(path, [(p, ()) for p in program.params], [()] * len(program.outputs))
    if rows is None or not all(a[()] for a in rows):
        return None
    return [{t.output for t in a[()]} for a in rows]


def with_special_points(
    optimized: OptimizedProgram,
    program: Program,
    path: Sequence[Step],
    warnings: Sequence[tuple[str, Expr]],
) -> tuple[OptimizedProgram, list[tuple[str, Expr]]]:
    """What is compiled, with where derivatives are those of the definition, and the warnings of branches about
    which nothing is known then.

    Parameters
    ----------
    program : as captured; path : the steps that derive what is called.
    """
    rows = terms(path, [(p, ()) for p in program.params], [()] * len(program.outputs))
    if rows is None or not path or program.of_derivatives:
        return optimized, list(warnings)
    derivatives, count = [a[()] for a in rows], len(program.params)
    found = special_points(
        optimized.params, count, program.outputs, derivatives, _Formulas(optimized)
    )
    left: list[tuple[str, Expr]] = []
    told: set[Expr] = set()
    for text, e in warnings:
        atoms = set(exactly(atoms_of(e.args[0]))) if e.args else set()
        if not (atoms and atoms <= found.settled):
            left.append((text, e))
            told |= atoms
    for e in found.jumps:
        atoms = set(exactly(atoms_of(e.args[0])))
        if told.isdisjoint(atoms):
            told |= atoms
            left.append((JUMP, e))
    return replace(optimized, special=found.condition, wrong=found.wrong), left


def without_special_points(
    optimized: OptimizedProgram, program: Program, path: Sequence[Step]
) -> OptimizedProgram:
    """What is compiled where no tier has derivatives by the definition: those whose formulas were found wrong are
    nan there."""
    if optimized.wrong is FALSE:
        return optimized
    values = _values(program, path)

    def undefined(outputs: Sequence[Expr]) -> tuple[Expr, ...]:
        slopes = (where(optimized.wrong, NAN, e) for e in outputs[values:])
        return (*outputs[:values], *slopes)

    outputs, reference = undefined(optimized.outputs), undefined(optimized.reference)
    return replace(optimized, outputs=outputs, reference=reference, special=FALSE, wrong=FALSE)


def _values(program: Program, path: Sequence[Step]) -> int:
    """How many of the outputs, the first ones, are values."""
    return len(program.outputs) if not path or (len(path) == 1 and path[0][0] in BOTH) else 0


class _Formulas:
    """What is compiled, in doubles."""

    def __init__(self, optimized: OptimizedProgram) -> None:
        self.optimized, self._outputs = optimized, tuple(optimized.outputs)

    def __call__(self, point: Sequence[float]) -> list[float]:
        given = dict(zip(self.optimized.params, point, strict=True))
        found = values_at(self._outputs, given)
        return [float(found[e]) for e in self._outputs]


def _guards(outputs: Sequence[Expr]) -> list[tuple[Expr, Expr]]:
    """Conditions that may be those of guards, with the domain of the value there, and the branches: they bound
    a quantity, take but arithmetic, and are not many."""
    found: dict[Expr, Expr] = {}
    for e in topological(outputs):
        if e.op is not WHERE:
            continue
        for holds, taken in ((e.args[0], e.args[1]), (not_(e.args[0]), e.args[2])):
            for written in disjuncts(holds) if taken is not NAN else ():
                if _bounds(part := positive(written)):
                    there = and_(part, domain(taken))
                    if all(n.op in SIMPLE for n in topological((there,)) if n.args):
                        found.setdefault(there, e)
    return list(itertools.islice(found.items(), MAX_CONDITIONS))


def _alike(a: float, b: float) -> bool:
    """Whether two numbers are the same to the digits that count, or the first is none."""
    return not abs(a - b) > ALIKE * (abs(a) + abs(b))


def _any(conditions: Sequence[Expr]) -> Expr:
    return functools.reduce(or_, conditions, FALSE)


def _holds(condition: Expr, params: Sequence[str], point: Sequence[float]) -> bool:
    """Whether a condition holds at a point, in doubles."""
    from symdiff.interpret.loops import Doubles, evaluate

    scope = {p: np.float64(x) for p, x in zip(params, point, strict=False)}
    with np.errstate(all="ignore"):
        return bool(evaluate(condition, Doubles(), scope))


def _bounds(part: Expr) -> bool:
    """Whether a conjunction says that a quantity is very near a number."""
    return any(p.high <= p.low + 2 * TINY for _, p in _bounded(part))


def _bounded(part: Expr) -> Iterator[tuple[Expr, Piece]]:
    """The quantities of a conjunction, and the intervals that they are in."""
    for quantity, pieces in Known(part, True).sets.items():
        if _SIGNS.holds(ir.le(ir.ZERO, *exactly((quantity,)))):
            pieces = intersection(pieces, (NONNEGATIVE,))
        if pieces:
            yield quantity, Piece(pieces[0].low, pieces[-1].high)


_SIGNS = Signs(())
