"""Formulas for people: short, with literals as they were written, and with the values at guarded points.

Before:  f(x) = where(x == 0, 1, expm1(x)/x), and its derivative as kernels compute it
After:   where(x == 0, 1/2, (x*exp(x) - expm1(x))/x**2)

Requires: a captured program of numbers.
Ensures: a form of the derivative that kernels compute, as short as is found. Where guards were dropped
the closed form may have no value at their points: there it is written with the limit, as a branch of the
whole formula. Points that the user did not guard are not written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

from symdiff import ir
from symdiff.ir import Expr
from symdiff.ir.formula_text import tree_sizes
from symdiff.ir.program import Program
from symdiff.passes.complete.complete import readable_forms as closed_for_people
from symdiff.passes.complete.removable import limits_at
from symdiff.passes.differentiate import pushforward
from symdiff.passes.guards.band_middles import bands_as_points
from symdiff.passes.guards.enclosing import Contexts
from symdiff.passes.simplify.check import is_defined
from symdiff.passes.simplify.decimals import as_written, decimals_of
from symdiff.passes.simplify.on_domain import logarithms_apart
from symdiff.passes.simplify.simplify import MAX_OPERATIONS, short_forms, simplify
from symdiff.passes.simplify.window_by_window import Short
from symdiff.pipeline.scalar import Notes, derivative, unguarded, value

MOST_POINTS = 4
"""Guarded points, or surfaces, that are written in one formula."""


def readable_forms(outputs: Iterable[Expr], guarded: bool = False) -> tuple[Expr, ...]:
    """The outputs for people to read: completed functions in closed form, all as short as
    they get; if guards were dropped, with their limits."""
    outputs = tuple(outputs)
    made = simplify(closed_for_people(outputs))
    return tuple(_with_limits(outputs, made)) if guarded else made


def shown(program: Program) -> Program:
    """The program with its literals as they were written, for people to read."""
    return replace(program, outputs=as_written(program.outputs))


def short_derivative(
    program: Program,
    names: Sequence[str],
    conditional: bool = True,
    literals: Sequence[Fraction] = (),
) -> list[Short]:
    """The mixed partial derivative by each name in turn, of every output, for people to read:
    from the formulas of kernels, and from the chain rule of the program as it was written.
    Not conditional: only forms that hold wherever the function is defined. Literals are numbers
    that were written as decimals."""
    notes = Notes()
    program = without_bands(program)
    made = derivative(program, names, notes)

    def chain(outputs: Sequence[Expr]) -> Sequence[Expr]:
        outputs = logarithms_apart(outputs)
        for name in names:
            outputs = pushforward(outputs, {ir.var(name): ir.ONE})
        return outputs

    return _short(program, made, notes, chain, conditional, literals)


def short_value(
    program: Program, conditional: bool = True, literals: Sequence[Fraction] = ()
) -> list[Short]:
    """The function itself, for people to read."""
    notes = Notes()
    made = value(program, notes)
    return _short(program, made, notes, lambda outputs: outputs, conditional, literals)


def _short(
    program: Program, made: Program, notes: Notes, chain: Callable[[Sequence[Expr]], Sequence[Expr]],
    conditional: bool, literals: Sequence[Fraction],
) -> list[Short]:  # fmt: skip
    """Short forms of a derived program, given the notes of its passes.

    Parameters
    ----------
    chain : what makes the same of outputs as they were written.
    """
    closed = closed_for_people(made.outputs)
    if max(tree_sizes(program.outputs).values(), default=0) > MAX_OPERATIONS:  # too long to start
        return short_forms(closed, conditional=conditional, literals=literals)
    if not drops_guards(program, notes):
        written = chain(program.outputs)
        return short_forms(closed, written, program.outputs, conditional, literals)
    assert notes.guarded is not None  # with the derivatives of what guards replace
    written = closed_for_people(chain(notes.guarded))
    shorts = short_forms(closed, written, program.outputs, conditional, literals)
    guarded = _with_limits(made.outputs, [s.formula for s in shorts], literals)
    return [
        s if e is s.formula else replace(s, formula=e, start=None)
        for s, e in zip(shorts, guarded, strict=True)
    ]


def without_bands(program: Program) -> Program:
    """The program with thin bands as their middles, if then these guards are dropped; it has the same derivatives."""
    outputs, points = bands_as_points(program.outputs)
    if not points:
        return program
    made = replace(program, outputs=outputs)
    left = ir.topological(unguarded(made, Notes()))
    return program if any(e.op is ir.WHERE and e.args[0] in points for e in left) else made


def drops_guards(program: Program, notes: Notes) -> bool:
    """Whether branches of a captured program were found to be guards of their other side."""
    return notes.guarded is not None and notes.guarded != program.outputs


def _with_limits(
    outputs: Sequence[Expr], formulas: Sequence[Expr], literals: Sequence[Fraction] = ()
) -> list[Expr]:
    """Short forms of outputs, with their limits where completed functions in these have no closed form."""
    made = []
    for output, formula in zip(outputs, formulas, strict=True):
        found = limits_at(output)
        if len(found) <= MOST_POINTS:
            for there, limit in found.items():
                if is_defined(formula, ir.sub(*there.args)):
                    continue
                (limit,) = ir.substitute((Contexts().inside(limit, there, True),), _zeros(there))
                (limit,) = simplify((limit,), literals=literals)
                formula = ir.where(there, limit, Contexts().inside(formula, there, False))
        made.append(formula)
    return made


def _zeros(there: Expr) -> dict[Expr, Expr]:
    """The variables that are zero where a sum of their squares is."""
    found: dict[Expr, Expr] = {}
    left = [e for e in there.args if e is not ir.ZERO]
    while left:
        e = left.pop()
        if e.op is ir.ADD:
            left += e.args
        elif e.op is ir.POW and e.args[0].op is ir.VAR and ir.integer(e.args[1]) == 2:
            found[e.args[0]] = ir.ZERO
        else:
            return {}
    return found if len(there.args) - there.args.count(ir.ZERO) == 1 else {}


__all__ = [
    "closed_for_people",
    "decimals_of",
    "drops_guards",
    "readable_forms",
    "short_derivative",
    "short_value",
    "shown",
    "without_bands",
]
