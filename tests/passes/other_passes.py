"""Passes that run inside of others, or where programs are lowered and printed, by the names of their files
in `tests/passes/text`.

`FORMULAS` are on outputs of functions of numbers; beside them are the outputs of the values, where a case
has such. `PROGRAMS` are on programs with arrays and loops; beside them is the program of the value.
Conditions that a pass computes besides are outputs: 1 where they hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from symdiff import ir
from symdiff.ir import Expr
from symdiff.ir.loop_program import LoopProgram, mapped_block, names_of
from symdiff.loops.rows import rows
from symdiff.loops.simplify import (
    guarded_points,
    norm_slopes,
    scaled_sums,
    undefined_ties,
)
from symdiff.passes.accuracy import (
    cancelling_sums,
    compensate,
    corrected_program,
    error_test,
    far_constants,
    gather_fractions,
    loop_tiers,
    overflow,
    rows_with_errors,
    softmax,
    sums_in_lanes,
    widen,
)
from symdiff.passes.accuracy.float_expansions import with_loops
from symdiff.passes.cancel import branch_sides, like_powers, literals, shared_exponential
from symdiff.passes.cancel.cancel import _lowest
from symdiff.passes.complete import regroup, removable, surfaces
from symdiff.passes.differentiate import pushforward
from symdiff.passes.guards import shape
from symdiff.passes.leibniz import Derivatives
from symdiff.passes.simplify import (
    decimals,
    directions,
    familiar,
    known_bases,
    on_domain,
    radicals,
    related_functions,
    truth,
)
from symdiff.passes.simplify.simplify import simplify

Outputs = tuple[Expr, ...]


def _each(one: Callable[[Expr], Expr]) -> Callable[[Outputs, Outputs], Outputs]:
    return lambda outputs, _: tuple(map(one, outputs))


def _all(every: Callable[[Outputs], Sequence[Expr]]) -> Callable[[Outputs, Outputs], Outputs]:
    return lambda outputs, _: tuple(every(outputs))


def _holds(condition: Expr) -> Expr:
    return ir.where(condition, ir.ONE, ir.ZERO)


def _widened(outputs: Outputs) -> Outputs:
    values, flagged = widen.widen(outputs)
    return *values, _holds(flagged)


def _beyond_range(outputs: Outputs) -> Outputs:
    work = error_test.ErrorTest()
    found = [overflow.overflow(e, work) for e in outputs]
    lost = [overflow.underflow(e, work) for e in outputs]
    return *outputs, *map(_holds, (*found, *(c for u in lost for c in u)))


def _tidied(outputs: Outputs) -> Outputs:
    return tuple(ir.where(truth.tidied(e.args[0]), *e.args[1:]) for e in outputs)


def _fourth(e: Expr) -> Expr:
    (x, *_) = ir.variables((e,))
    return Derivatives(x).of(e, 4)


def _along_first(e: Expr) -> Expr:
    first = min(ir.variables((e,)), key=lambda v: str(v.value))
    return pushforward((e,), {first: ir.ONE})[0]


FORMULAS: dict[str, Callable[[Outputs, Outputs], Outputs]] = {
    "branch_sides": _all(branch_sides.decided_by_branches),
    "like_powers": _all(like_powers.like_powers),
    "shared_exponential": _all(lambda o: shared_exponential.relate(o, _lowest)),
    "literals": _all(lambda o: literals.exact_literals(o)[0]),
    "rounded_to_zero": _all(shape.rounded_to_zero),
    "filled": _all(shape.filled),
    "regroup": _all(regroup.regrouped),
    "surfaces": _all(surfaces.complete_surfaces),
    "closed_forms": _all(removable.closed_forms),
    "pinned_forms": _all(removable.pinned_forms),
    "branched_forms": _all(removable.branched_forms),
    "leibniz": _each(_fourth),
    "pushforward": _each(_along_first),
    "softmax": _all(softmax.shared),
    "far_constants": _all(far_constants.without_far_constants),
    "gather_fractions": _all(gather_fractions.gather),
    "cancelling_sums": _all(cancelling_sums.compensate_sums),
    "compensate": _all(compensate.compensate),
    "elementary": _all(compensate.elementary),
    "widen": _all(_widened),
    "error_test": _all(lambda o: (*o, _holds(error_test.flagged_where(o)))),
    "overflow": _all(_beyond_range),
    "simplify": _all(simplify),
    "decimals": _all(decimals.as_written),
    "readable": _each(familiar.readable),
    "like_terms": _each(familiar.with_like_terms),
    "known_bases": _each(known_bases.of_numbers),
    "as_exponentials": _each(known_bases.as_exponentials),
    "as_powers": _each(on_domain.as_powers),
    "logarithms_apart": _all(on_domain.logarithms_apart),
    "as_roots": _each(radicals.as_roots),
    "in_phase": _each(directions.in_phase),
    "shifted": _each(related_functions.shifted),
    "truth": _all(_tidied),
}


def _with_loops(program: LoopProgram) -> LoopProgram:
    return replace(program, block=with_loops(program, names_of(program)))


def _settled(program: LoopProgram) -> LoopProgram:
    given = {p.name for p in program.params}
    one = lambda e: norm_slopes.settled(e, given)
    block = mapped_block(program.block, one)
    return replace(program, block=block, outputs=tuple(map(one, program.outputs)))


def _told(program: LoopProgram, value: LoopProgram) -> LoopProgram:
    by = {p.name for p in program.params}
    return guarded_points.told(program, guarded_points.guarded_points(program, value, by))


def _over_rows(program: LoopProgram) -> LoopProgram:
    found = rows(program, [not p.type.shape for p in program.params])
    assert found is not None
    return found


PROGRAMS: dict[str, Callable[[LoopProgram, LoopProgram], LoopProgram]] = {
    "scaled_norms": lambda p, _: scaled_sums.scaled_norms(p, "float64"),
    "undefined_ties": undefined_ties.with_undefined_ties,
    "guarded_points": _told,
    "settled": lambda p, _: _settled(p),
    "sums_in_lanes": lambda p, _: sums_in_lanes.in_lanes(p),
    "corrected_program": lambda p, _: corrected_program.corrected_program(p),
    "underflow_losses": lambda p, _: corrected_program.corrected_program(p, tests=True),
    "rows_with_errors": lambda p, _: rows_with_errors.corrected_rows(p, False),
    "eliminations": lambda p, _: _with_loops(p),
    "loop_tiers": lambda p, _: loop_tiers.with_error_tests(p).program,
    "rows": lambda p, _: _over_rows(p),
}
