"""The pipeline, from a captured program to the programs of its derivatives.

    capture -> assume -> guards -> cancel -> stabilise -> complete -> differentiate
    -> signsquares -> cancel -> bands -> stabilise -> emit

`frontend.capture` makes the program, `codegen` and `runtime` emit kernels; what
lies between is here, as three lists of passes: `SIMPLIFY`, `DERIVE`, `FINISH`. Each function takes
a raw program and returns the program of what its name says, ready to be emitted.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from symdiff import ir
from symdiff.ir import NAN, TRUE, Expr
from symdiff.ir.functions import domain as domain_of
from symdiff.ir.names import untaken
from symdiff.ir.pass_lists import Log, Pass, Stage, run, switches, through, watch
from symdiff.ir.plain import exactly
from symdiff.ir.program import OptimizedProgram, Program, Tree, needs_one_value, with_corners
from symdiff.loops.trees import joined, of_gradient, of_jacobian
from symdiff.passes.accuracy.far_constants import without_far_constants
from symdiff.passes.analysis.signs import Signs, assume
from symdiff.passes.cancel import cancel as cancellation
from symdiff.passes.cancel.algebra import linear
from symdiff.passes.cancel.branch_sides import decided_by_branches
from symdiff.passes.cancel.cancel import cancel
from symdiff.passes.cancel.signsquares import place, slopes_of, squares_of_signs, steps_of
from symdiff.passes.complete.complete import (
    Completions,
    closed_forms,
    complete,
    expand_completed,
    pinned_forms,
)
from symdiff.passes.complete.indeterminate import indeterminate_powers
from symdiff.passes.complete.powers import corners
from symdiff.passes.differentiate import gradient as reverse
from symdiff.passes.differentiate import pullback, pushforward
from symdiff.passes.guards.guards import guards
from symdiff.passes.guards.notes import GuardNotes
from symdiff.passes.guards.shape import filled
from symdiff.passes.stabilise import Rewrite, stabilise
from symdiff.process.lazy_modules import Later
from symdiff.process.locks import Lock

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")


@dataclass(slots=True)
class Notes:
    """What the passes did to one function, for its report.

    Attributes
    ----------
    guarded : the captured outputs after guards and literals were repaired.
    without : stages that are switched off, as `symdiff.pipeline.validation` found them at fault.
    log : the stages that ran; None if nobody asks.
    """

    cancel: cancellation.Notes = field(default_factory=cancellation.Notes)
    complete: Completions = field(default_factory=Completions)
    guards: GuardNotes = field(default_factory=GuardNotes)
    rewrites: list[Rewrite] = field(default_factory=list)
    guarded: tuple[Expr, ...] | None = None
    without: frozenset[str] = frozenset()
    log: Log[Program] | None = None

    def add(self, other: Notes) -> None:
        """Add the notes of passes that ran before differentiation."""
        self.cancel.cancelled += other.cancel.cancelled
        self.cancel.over_budget += other.cancel.over_budget
        self.complete.add(other.complete)
        self.guards.guards += [g for g in other.guards.guards if g not in self.guards.guards]
        self.guards.literals += other.guards.literals
        self.guards.over_budget += other.guards.over_budget
        self.rewrites += other.rewrites
        self.guarded = other.guarded if self.guarded is None else self.guarded


def optimized(program: Program, notes: Notes | None = None) -> OptimizedProgram:
    """The last steps, when nothing is to be differentiated any more."""
    notes = notes or Notes()
    program = with_corners(program)
    last = through(FINISH, program, notes, notes.without, notes.log)
    return OptimizedProgram(
        program.name, program.params, program.tree, last.outputs, pinned_forms(program.outputs)
    )


def simplified(program: Program, notes: Notes | None = None) -> Program:
    """The program with its assumptions used, its common factors cancelled and its
    removable singularities filled. A value and its derivatives begin so: it is done once."""
    notes = notes or Notes()
    if notes.log is not None:
        return _simplified(program, notes)
    key = program.outputs, program.assumptions, notes.without
    outputs = _once(_found, key, lambda own: _simplified(program, own).outputs, notes)
    return replace(program, outputs=outputs)


KEPT = 8
"""Programs that are kept simplified, for their next derivative."""
Kept = dict[tuple[Any, ...], tuple[tuple[Expr, ...], Notes]]
_found: Kept = {}
_asked: Kept = {}
_lock = Lock()


def _once(
    kept: Kept, key: tuple[Any, ...], make: Callable[[Notes], tuple[Expr, ...]], notes: Notes
) -> tuple[Expr, ...]:
    """What passes make of a program, from memory if they have; the notes have what they did."""
    with _lock:
        found = kept.get(key)
    if found is None:
        own = Notes(without=notes.without)
        found = make(own), own
        with _lock:
            kept[key] = found
            while len(kept) > KEPT:
                del kept[next(iter(kept))]
    notes.add(found[1])
    return found[0]


def forget() -> None:
    """Keep no simplified program."""
    with _lock:
        _found.clear()
        _asked.clear()


def _with(program: Program, outputs: Iterable[Expr]) -> Program:
    return replace(program, outputs=tuple(outputs))


def _assumed(program: Program) -> tuple[Expr, ...]:
    """The outputs where what the user asserts holds, and in each branch its condition."""
    return assume(decided_by_branches(program.outputs), program.assumptions)


def _simplified(program: Program, notes: Notes) -> Program:
    return through(SIMPLIFY, program, notes, notes.without, notes.log)


def _guarded(p: Program, notes: Notes) -> Program:
    p = _with(p, unguarded(p, notes))
    notes.guarded = p.outputs if notes.guarded is None else notes.guarded
    return p


def unguarded(p: Program, notes: Notes) -> tuple[Expr, ...]:
    """The outputs without guards that are not needed. They do not depend on later stages, so they are computed
    once, even when a search for a fault switches these off one by one."""
    key = p.outputs, p.assumptions
    return _once(_asked, key, lambda own: guards(p.outputs, p.assumptions, own.guards), notes)


def value(program: Program, notes: Notes | None = None) -> Program:
    """The function itself, nan outside its domain."""
    notes = notes or Notes()
    found = simplified(program, notes)
    return run(notes.log, "mask", lambda: masked(found, program))


def gradient(program: Program, wrt: Sequence[str], notes: Notes | None = None) -> Program:
    """d f/d wrt of a scalar function: one output per parameter named in wrt."""
    notes = notes or Notes()
    return _slopes(simplified(_scalar(program, "grad"), notes), wrt, notes)


def _slopes(base: Program, wrt: Sequence[str], notes: Notes, last: bool = True) -> Program:
    tree = of_gradient(len(wrt))
    variables = _vars(wrt)
    slopes = lambda values: reverse(values[0], variables)
    by = tuple((v,) for v in variables)
    return _derived(base, tree, slopes, notes, by, last=last)


def _derived(
    base: Program,
    tree: Tree,
    slopes: Callable[[tuple[Expr, ...]], Sequence[Expr]],
    notes: Notes,
    by: Sequence[tuple[Expr, ...]] = (),
    values: Program | None = None,
    last: bool = True,
    whole: Callable[[tuple[Expr, ...]], Sequence[Expr]] | None = None,
) -> Program:
    """The program of derivatives, simplified; of those of the values, if these are not the base.
    Powers have their values at 0 in the last derivatives that are taken.

    Parameters
    ----------
    slopes : makes them of the base's outputs.
    by : for each, by which variables of the values it is taken; () if that is not said.
    whole : makes them of the values' outputs, or of others; None: as `slopes`.
    """
    of = (values or base).outputs
    known = {place(u)[0] for u in base.slopes}
    steps = steps_of(of, known)
    p = replace(base, tree=tree, corners=(), slopes=slopes_of(of, steps, base.slopes))
    what = Derivation(notes, base, of, slopes, steps, by, last, whole or slopes)
    return through(DERIVE, p, what, notes.without, notes.log)


@dataclass(frozen=True, slots=True)
class Derivation:
    """What the passes know that make derivatives.

    Attributes
    ----------
    base : what is differentiated.
    of : the outputs of the values.
    slopes, whole : make the derivatives of the base's outputs, and of those of the values.
    steps : signs that are no slopes of kinks.
    by : for each output, by which variables of the values it is taken; () if that is not said.
    last : whether no further derivatives are taken.
    """

    notes: Notes
    base: Program
    of: tuple[Expr, ...]
    slopes: Callable[[tuple[Expr, ...]], Sequence[Expr]]
    steps: Any
    by: Sequence[tuple[Expr, ...]]
    last: bool
    whole: Callable[[tuple[Expr, ...]], Sequence[Expr]]


def _cornered(p: Program, what: Derivation) -> Program:
    """The program with the values that powers have at 0."""
    if not what.by or not what.last:
        return p
    facts = what.base.assumptions
    return replace(p, corners=tuple(corners(p.outputs, what.by, what.of, what.whole, facts)))


def value_and_gradient(program: Program, wrt: Sequence[str], notes: Notes | None = None) -> Program:
    """(f, d f/d wrt), sharing one kernel."""
    notes = notes or Notes()
    base = simplified(_scalar(program, "value_and_grad"), notes)
    return _joined(masked(base, program), _slopes(base, wrt, notes))


def jacobian(program: Program, wrt: Sequence[str], notes: Notes | None = None) -> Program:
    """The derivative of every output by every parameter named in wrt."""
    notes = notes or Notes()
    base = simplified(program, notes)
    variables = _vars(wrt)

    def rows(values: tuple[Expr, ...]) -> list[Expr]:
        return [d for output in values for d in reverse(output, variables)]

    by = [(v,) for _ in base.outputs for v in variables]
    return _derived(base, of_jacobian(base.tree, len(wrt)), rows, notes, by)


def hessian(program: Program, wrt: Sequence[str], notes: Notes | None = None) -> Program:
    """Second derivatives of a scalar function, forward over reverse."""
    notes = notes or Notes()
    base = simplified(_scalar(program, "hessian"), notes)
    variables = _vars(wrt)
    slopes, n = _slopes(base, wrt, notes, last=False), len(variables)

    def bent(values: Sequence[Expr]) -> list[Expr]:
        entries: dict[tuple[int, int], Expr] = {}
        for j, v in enumerate(variables):
            column = pushforward(values[j:], {v: ir.ONE})
            entries.update({(i, j): d for i, d in enumerate(column, start=j)})
        return [entries[max(i, j), min(i, j)] for i in range(n) for j in range(n)]

    by = list(itertools.product(variables, repeat=2))
    whole = lambda values: bent(reverse(values[0], variables))
    tree = of_jacobian(of_gradient(n), n)
    return _derived(slopes, tree, bent, notes, by, base, whole=whole)


def derivative(program: Program, names: Sequence[str], notes: Notes | None = None) -> Program:
    """The mixed partial derivative by each name in turn, of every output."""
    notes = notes or Notes()
    values = simplified(program, notes)
    result = values
    variables = _vars(names)

    def whole(outputs: Sequence[Expr]) -> Sequence[Expr]:
        for v in variables:
            outputs = pushforward(outputs, {v: ir.ONE})
        return outputs

    by = [tuple(variables) for _ in values.outputs]
    for k, v in enumerate(variables, start=1):
        above, last = None if result is values else values, k == len(names)
        result = _pushed(result, {v: ir.ONE}, notes, by, above, last, whole)
    return replace(result, domain=())


def _pushed(
    base: Program,
    seeds: dict[Expr, Expr],
    notes: Notes,
    by: Sequence[tuple[Expr, ...]] = (),
    values: Program | None = None,
    last: bool = True,
    whole: Callable[[tuple[Expr, ...]], Sequence[Expr]] | None = None,
) -> Program:
    """The tangents of all outputs."""
    tangents = lambda outputs: pushforward(outputs, seeds)
    return _derived(base, base.tree, tangents, notes, by, values, last, whole)


def jvp(program: Program, wrt: Sequence[str], notes: Notes | None = None) -> Program:
    """(value, tangent); the tangents are further parameters, see `tangent_names`."""
    notes = notes or Notes()
    base = simplified(program, notes)
    names = tangent_names(program, wrt)
    seeds = {ir.var(v): ir.var(t) for v, t in zip(wrt, names, strict=True)}
    both = _joined(masked(base, program), _pushed(base, seeds, notes))
    return replace(both, params=(*program.params, *names))


def vjp(program: Program, wrt: Sequence[str], notes: Notes | None = None) -> Program:
    """(value, cotangents of wrt); the outputs' cotangents are further parameters."""
    notes = notes or Notes()
    base = simplified(program, notes)
    names = [untaken(f"cotangent_{i}", program.params) for i in range(len(base.outputs))]
    bars, tree = _vars(names), of_gradient(len(wrt))
    back = _derived(base, tree, lambda outputs: pullback(outputs, bars, _vars(wrt)), notes)
    both = _joined(masked(base, program), back)
    return replace(both, params=(*program.params, *names))


def hvp(program: Program, wrt: Sequence[str], notes: Notes | None = None) -> Program:
    """The Hessian times a vector, without the Hessian."""
    notes = notes or Notes()
    base = simplified(_scalar(program, "hvp"), notes)
    names = tangent_names(program, wrt)
    seeds = {ir.var(v): ir.var(t) for v, t in zip(wrt, names, strict=True)}
    product = _pushed(_slopes(base, wrt, notes, last=False), seeds, notes, values=base)
    return replace(product, params=(*program.params, *names))


def tangent_names(program: Program, wrt: Sequence[str]) -> list[str]:
    """Names of the parameters that carry the tangents of `wrt`."""
    return [untaken(f"{name}_dot", program.params) for name in wrt]


# ------------------------------------------------------------------------ masks
def masked(
    program: Program, captured: Program, made_of: Sequence[Collection[int]] | None = None
) -> Program:
    """The program with nan outside its domain, where simplification lost that. Each output is `made_of` captured
    ones; without that, of its own, or of all of them.

    A nan that is passed in is outside too, if it reaches the result of the program as captured, or
    if what it went through was cancelled while it was captured; not if it only chooses a branch."""
    signs = Signs(program.assumptions)
    outputs = []
    each, count = [_enforced(written) for written in captured.outputs], len(captured.outputs)
    if made_of is None:
        same = count == len(program.outputs)
        made_of = [(k,) if same else range(count) for k in range(len(program.outputs))]
    for output, of in zip(program.outputs, made_of, strict=True):
        strict = set.intersection(*(each[k] for k in of))
        enforced = set(map(_plainer, _enforced(output)))
        if len(captured.outputs) == 1:
            nodes = ir.topological(exactly(captured.outputs))
            kept = {domain_of(n.op, n.args) for n in nodes}
            read = zip(captured.domain, exactly(captured.domain), strict=True)
            strict.update(condition for condition, real in read if real not in kept)
        inside = TRUE
        for condition in captured.domain_of(of):
            if _plainer(condition) not in enforced and not _is_held(condition, signs):
                held = condition if condition in strict else _unless_outside(condition)
                inside = ir.and_(inside, held)
        outputs.append(ir.where(inside, output, NAN))
    return replace(program, outputs=tuple(outputs), domain=())


def _is_held(condition: Expr, signs: Signs) -> bool:
    """Whether a condition of a domain holds everywhere, as written or with its terms cancelled:
    balls cannot prove that a sum such as cos(x)**2 + sin(x)**2 is at most 1."""
    if signs.holds(condition):
        return True
    (found,) = cancel((condition,)) if condition.op in (ir.LT, ir.LE) else (condition,)
    return found is TRUE or signs.holds(found) is True


def _plainer(condition: Expr) -> Any:
    """The same for powers that are defined together, as those with the exponents a, -a and a + 1."""
    if condition.op is ir.OR and condition.args[1].op is ir.EQ:
        inside, (_, exponent) = condition.args[0], condition.args[1].args
        terms = linear(exponent)
        if terms and terms.pop(ir.ONE, Fraction(0)).denominator == 1:
            turned = {v: -q for v, q in terms.items()}
            return inside, frozenset((frozenset(terms.items()), frozenset(turned.items())))
    return condition


def _unless_outside(condition: Expr) -> Expr:
    """A condition of a domain that nan fulfils too: Python refuses negative numbers as arguments
    of a root, and passes on nan."""
    if condition.op in (ir.LT, ir.LE):
        a, b = condition.args
        return ir.not_((ir.le if condition.op is ir.LT else ir.lt)(b, a))
    if condition.op in (ir.AND, ir.OR):
        return condition.op(*map(_unless_outside, condition.args))
    return condition


def _enforced(output: Expr) -> set[Expr]:
    """Domain conditions that the output still checks by itself: those of the
    functions whose nan reaches it, which a branch, a max or a min may stop."""

    def stops(e: Expr) -> bool:
        return e.op.boolean or e.op is ir.WHERE or e.op.live is not None

    nodes = ir.reached((output,), lambda e: () if stops(e) else e.args)
    return {domain_of(e.op, e.args) for e in nodes if not stops(e)}


# ------------------------------------------------------------------------- trees
def _vars(names: Sequence[str]) -> list[Expr]:
    return [ir.var(n) for n in names]


def _scalar(program: Program, what: str) -> Program:
    if not isinstance(program.tree, int):
        raise needs_one_value(program, what, str(len(program.outputs)))
    return program


def _joined(first: Program, second: Program) -> Program:
    """Both programs' outputs as a pair."""
    tree = joined(first.tree, len(first.outputs), second.tree)
    outputs, n = (*first.outputs, *second.outputs), len(first.outputs)
    after = tuple(replace(c, output=c.output + n) for c in second.corners)
    corners = (*first.corners, *after)
    return replace(first, outputs=outputs, tree=tree, domain=(), corners=corners)


# ------------------------------------------------------------------- the lists of passes
SIMPLIFY: tuple[Pass[Program, Notes], ...] = (
    Pass(
        "assume", lambda p, _: _with(p, _assumed(p)), "a valid program",
        "the same values where the assumptions hold; conditions that these decide are gone", suspicion=7,
    ),
    Pass(
        "guards", lambda p, notes: _guarded(p, notes), "branches as the user wrote them",
        "the same values but on guards of removable singularities, which are gone", suspicion=6,
        instead=lambda p, _: _with(p, filled(p.outputs)),
    ),
    Pass(
        "cancel-value", lambda p, notes: _with(p, cancel(p.outputs, notes.cancel)), "a valid program",
        "the same values; no common factors in quotients", stage="cancel", suspicion=1,
    ),
    Pass(
        "stabilise-value", lambda p, notes: _with(p, stabilise(p.outputs, notes.rewrites, early=True)),
        "cancelled quotients", "equal forms that keep more digits", stage="stabilise", suspicion=2,
    ),
    Pass(
        "complete", lambda p, notes: _with(p, complete(p.outputs, p.assumptions, notes.complete)),
        "cancelled quotients", "the same values, and limits at removable singularities", suspicion=3,
    ),
)  # fmt: skip
"""What is done to values before they are differentiated."""

DERIVE: tuple[Pass[Program, Derivation], ...] = (
    Pass(
        "differentiate", lambda p, what: _with(p, what.slopes(what.base.outputs)),
        "a simplified program", "outputs that are derivatives by the chain rule",
    ),
    Pass(
        "signsquares", lambda p, what: _with(p, squares_of_signs(p.outputs, but=what.steps)),
        "derivatives by the chain rule", "squares of signs are 1", suspicion=5,
    ),
    Pass(
        "cancel", lambda p, what: _with(p, cancel(p.outputs, what.notes.cancel)), "a valid program",
        "the same values; no common factors in quotients", suspicion=1,
    ),
    Pass(
        "corners", lambda p, what: _cornered(p, what), "derivatives that are not taken again",
        "corners where formulas of powers at 0 are undefined", stage="complete", suspicion=3,
    ),
)  # fmt: skip
"""What makes derivatives of a simplified program."""

FINISH: tuple[Pass[Program, Notes], ...] = (
    Pass(
        "bands", lambda p, _: _with(p, expand_completed(p.outputs)), "no further derivatives",
        "completed functions written out: polynomials near their points", suspicion=4,
        instead=lambda p, _: _with(p, closed_forms(p.outputs)),
    ),
    Pass(
        "powers", lambda p, _: _with(p, indeterminate_powers(p.outputs)), "no completed functions",
        "powers of 1 are nan where their exponents have poles",
    ),
    Pass(
        "stabilise", lambda p, _: _with(p, stabilise(p.outputs)), "no completed functions",
        "equal forms that keep more digits", suspicion=2,
        instead=lambda p, _: _with(p, without_far_constants(p.outputs)),
    ),
)  # fmt: skip
"""What is done before a program is emitted."""

STAGES = switches((*SIMPLIFY, *DERIVE, *FINISH))
"""What may be switched off for a function, by `Notes.without`; values and derivatives mean
the same without them, except at points that only `complete` fills."""


# --------------------------------------------------------------------- the protocol
def derive(
    program: Program,
    kind: str,
    wrt: Sequence[str],
    notes: Notes | None = None,
    checkpoint: object = None,
) -> Program:
    """The program of a derivative; see `symdiff.pipeline.protocol.Pipeline`. There are no loops
    whose states could be kept."""
    found: Program = _DERIVATIONS[kind](program, wrt, notes)
    return found


_DERIVATIONS: dict[str, Callable[[Program, Sequence[str], Notes | None], Program]] = {
    f.__name__: f
    for f in (gradient, value_and_gradient, jacobian, hessian, derivative, jvp, vjp, hvp)
}


def stages(program: Program, wrt: Sequence[str], order: int = 1) -> list[Stage[Program]]:
    """The program after each stage that makes its Jacobian, or its derivatives of an order."""
    log = Log[Program]()
    notes = Notes(log=log)
    found = log.run("capture", lambda: program)
    if order == 2 and isinstance(program.tree, int):
        found = hessian(found, wrt, notes)
    else:
        for _ in range(order):
            found = jacobian(found, wrt, notes)
    optimized(found, notes)
    return log.stages


watch(__name__)

__all__ = [
    "Notes",
    "OptimizedProgram",
    "Stage",
    "closed_forms",
    "derivative",
    "derive",
    "expand_completed",
    "gradient",
    "hessian",
    "hvp",
    "jacobian",
    "jvp",
    "masked",
    "optimized",
    "simplified",
    "stages",
    "tangent_names",
    "value",
    "value_and_gradient",
    "vjp",
]  # fmt: skip
