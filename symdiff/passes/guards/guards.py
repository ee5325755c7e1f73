"""Guards around removable singularities: drop the right ones, name the wrong ones.

Before:  where(x == 0, 1, expm1(x)/x)
After:   expm1(x)/x, whose singularity at 0 is filled by later passes

Requires: any DAG; facts are conditions that hold on the domain.
Ensures: a branch, a clamp or an epsilon is dropped only where `passes.guards.proof` finds that it cuts out a
removable singularity, of one quantity, and that its value there is the limit to rounding; so no value changes by more
than rounding. Where a guard has the limit as its value in a band in which the function differs from it visibly, values
stay and derivatives are those of the smooth function (`functions.EXTENDED`). A note names a guard whose value is not
the limit, with both numbers. All other guards stay as written: what derivatives are there is decided by the definition
(`pipeline.by_definition`). First, branches that an enclosing branch decides are dropped (`enclosing`), and zeros
that are missed only by the rounding of literals are made exact (`literals`).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from fractions import Fraction

from symdiff import ir
from symdiff.ir import ADD, DIV, FALSE, NEG, SUB, TRUE, WHERE, Expr
from symdiff.ir.functions import EXTENDED, EXTREMES, FILLED
from symdiff.ir.plain import conditions_exactly, exactly
from symdiff.passes.analysis.bottlenecks import is_small
from symdiff.passes.analysis.roots import loci
from symdiff.passes.analysis.signs import Signs
from symdiff.passes.cancel.literals import exact_literals
from symdiff.passes.guards.clamps import Clamp, clamp_of
from symdiff.passes.guards.enclosing import Contexts
from symdiff.passes.guards.notes import Guard, GuardNotes
from symdiff.passes.guards.proof import Verdict, verdict
from symdiff.passes.guards.regions import Piece
from symdiff.passes.guards.shape import (
    POINT,
    TINY,
    Part,
    branch_of,
    domain,
    filled,
    outside_of_conditions,
    parts_of,
    rounded_to_zero,
    without_detached,
)

MAX_QUESTIONS = 200
"""Largest number of branches, clamps and epsilons in one function."""
MAX_ANCESTORS = 12
"""Largest number of singular nodes above a clamp or an epsilon that are tried as guards."""


def guards(
    outputs: Iterable[Expr], facts: Iterable[Expr] = (), notes: GuardNotes | None = None,
    integers: Container[Expr] = frozenset(),
) -> tuple[Expr, ...]:  # fmt: skip
    """Drop the guards whose value is the limit; note those whose value is not. Integers: the variables that are
    integers, at whose values a condition on them alone is no guard."""
    notes = notes if notes is not None else GuardNotes()
    outputs, hidden = without_detached(outputs)
    outputs, written = conditions_exactly(outputs)
    rounded: dict[Expr, Expr] = {}
    outputs, repairs, origin = exact_literals(rounded_to_zero(outputs, rounded))
    notes.literals += repairs
    as_written: dict[Expr, Expr] = {}
    for n in ir.topological(outputs):
        first = origin.get(n, n)
        if (plain := written.get(rounded.get(first, first))) is not None:
            as_written[n] = plain
    contexts = Contexts(as_written)
    if any(e.op is WHERE for e in ir.topological(outputs)):
        outputs = contexts.simplify(outputs)
        for new, old in contexts.origin.items():
            origin.setdefault(new, origin.get(old, old))
    order = ir.topological(outputs)
    if any(e.op is WHERE or clamp_of(e) for e in order):
        outputs = _Repairs(Signs(exactly(facts)), notes, contexts, origin, integers).apply(outputs)
    back: dict[Expr, Expr] = {}  # conditions compare the numbers as written
    for n in ir.topological(outputs):
        if n.op in ir.COMPARISONS:
            first = rounded.get(origin.get(n, n), origin.get(n, n))
            back[n] = written.get(first, first if first.op in ir.COMPARISONS else n)
    return ir.substitute(filled(ir.substitute(outputs, back)), hidden)


class _Repairs:
    """Asks about every guard of a function, children first."""

    def __init__(
        self, signs: Signs, notes: GuardNotes, contexts: Contexts, origin: dict[Expr, Expr],
        integers: Container[Expr],
    ) -> None:  # fmt: skip
        self.signs, self.notes, self.contexts, self.origin = signs, notes, contexts, origin
        self.integers = integers
        self.written: dict[Expr, Expr] = {}
        self.silent: set[Expr] = set()  # nodes of guards that are named already
        self.wrong: dict[Expr, list[Guard]] = {}  # branches whose value is not the limit
        self.questions = 0

    def apply(self, outputs: tuple[Expr, ...]) -> tuple[Expr, ...]:
        new: dict[Expr, Expr] = {}
        values = {*outside_of_conditions(outputs)}
        for e in ir.topological(outputs):
            r = ir.rebuild(e, tuple(new[a] for a in e.args))
            self.written.setdefault(r, self.origin.get(e, e))
            branch = branch_of(r) if e in values else None
            new[e] = r if branch is None else self._branch(r, *branch)
        result = tuple(self._whole(new[o]) for o in outputs)
        for m in outside_of_conditions(result):
            if m not in self.silent and (clamp := clamp_of(m)) is not None:
                result = self._without(result, m, clamp)
        return result

    # ------------------------------------------------------------------ branches
    def _branch(self, node: Expr, condition: Expr, a: Expr, b: Expr) -> Expr:
        """The side to keep, if the other is a guard of it; else the node."""
        for holds, small, other in ((condition, a, b), (ir.not_(condition), b, a)):
            found = self._one_side(node, holds, small, other)
            if found is not None:
                self.silent.update(ir.topological((condition, small)), (node,))
                return found
        return node

    def _one_side(self, node: Expr, holds: Expr, small: Expr, other: Expr) -> Expr | None:
        """What replaces the node, if a side guards the other one; None if it does not."""
        if small.op in EXTREMES and other in small.args:
            return None  # singular where the other side is: the nan branch of Python's max
        parts = parts_of(holds, self.signs)
        if not any(p.quantity is not None for p in parts):
            return None
        plain = self.contexts.inside(other, holds, False, lambda n: True, real=True)
        value = self.contexts.inside(small, holds, True, real=True)
        stays, coarse, dropped = FALSE, False, False
        for part in parts:
            v = self._ask(part, value, plain)
            if v is None:
                stays = ir.or_(stays, part.condition)  # it decides for nan, too
                continue
            if not v.right:
                self.wrong[node] = [*self.wrong.get(node, ()), self._guard(node, part.condition, v)]
                return node
            self._note(node, part.condition, v)
            dropped, coarse = True, coarse or v.coarse
            if v.outside:
                stays = ir.or_(stays, ir.and_(part.condition, ir.not_(domain(plain))))
        if not dropped:
            return None
        smooth = ir.where(stays, small, plain)
        return EXTENDED(node, smooth) if coarse else smooth

    def _whole(self, output: Expr) -> Expr:
        """An output without the branches of which a part has a value that is not the limit, though the whole has,
        such as sums of terms for either side; else the parts are named."""
        below = set(ir.topological((output,))) if self.wrong else set()
        for e, named in [(e, named) for e, named in self.wrong.items() if e in below]:
            before = list(self.notes.guards)
            condition = (branch_of(e) or e.args)[0]
            joint = output if e is output else self.contexts.joined(output, (condition,))
            if joint is not output and joint.op is WHERE:
                whole = self._branch(joint, *joint.args)
                if whole is not joint:
                    output = whole
                    continue
                around = self.wrong.get(joint, [])
                if [_error(g) for g in around] != [_error(g) for g in named]:
                    named = around or named
            self.notes.guards[:] = [*before, *(g for g in named if g not in before)]
        return output

    def _ask(self, part: Part, small: Expr, other: Expr, clamped: bool = False) -> Verdict | None:
        if part.quantity is None or all(v in self.integers for v in ir.variables((part.quantity,))):
            return None  # no number is close to an integer: only the taken branch counts
        self.questions += 1
        if self.questions > MAX_QUESTIONS:
            self.notes.over_budget.append(self.written.get(other, other))
            return None
        found = verdict(part, small, other, self.signs, clamped)
        return None if found is None or (part.is_partial and not found.right) else found

    def _guard(self, node: Expr, condition: Expr, v: Verdict) -> Guard:
        return Guard(
            self.written.get(node, node), condition, "repaired" if v.right else "kept", v.singular, v.where,
            v.got, v.truth, v.ulps, v.at_singular, v.coarse,
        )  # fmt: skip

    def _note(self, node: Expr, condition: Expr, v: Verdict) -> None:
        guard = self._guard(node, condition, v)
        if guard not in self.notes.guards:
            self.notes.guards.append(guard)

    # -------------------------------------------------------- clamps and epsilons
    def _without(self, outputs: tuple[Expr, ...], m: Expr, clamp: Clamp) -> tuple[Expr, ...]:
        """The outputs without the clamp or epsilon m, if it keeps away from a removable singularity."""
        point = Part(clamp.condition, clamp.plain, POINT)
        size = ir.rational(clamp.inside) if self.signs.nonnegative(clamp.plain) else None
        if size is not None and clamp.condition is ir.lt(clamp.plain, clamp.inside):
            bounded = [point._replace(piece=Piece(Fraction(0), size, (True, False)))]
        else:
            bounded = [p for p in parts_of(clamp.condition, self.signs) if p.quantity is not None]
        if m.op is WHERE and not bounded and not 0 < clamp.epsilon <= TINY:
            return outputs  # the branch of a half line
        for e, other in _freed(outputs, m, clamp):
            small = ir.substitute((e,), {m: clamp.inside})[0]
            v = self._ask(bounded[0], small, other, True) if len(bounded) == 1 else None
            if v is None:
                v = self._ask(point, small, other, True)
                if v is None or v.right or (not v.truth and abs(v.got) <= clamp.epsilon):
                    continue  # it changes no value visibly
            if v.right:
                self._note(e, clamp.condition, v)
                return ir.substitute(outputs, {e: EXTENDED(e, other) if v.coarse else other})
            if _is_reached(outputs, e, v):
                self._note(e, clamp.condition, v)
            break
        return outputs


def _error(guard: Guard) -> float:
    """How far off a guarded value is, to some digits."""
    return float(f"{guard.guarded - guard.limit:.6g}")


def _freed(outputs: tuple[Expr, ...], m: Expr, clamp: Clamp) -> Iterator[tuple[Expr, Expr]]:
    """The nodes above a clamp that may be singular without it, children first, each without it."""
    free: dict[Expr, Expr] = {m: clamp.plain}
    singular: set[Expr] = set()
    asked = 0
    for e in ir.topological(outputs):
        if e is m or not any(a in free for a in e.args) or e.op.boolean or e.op is WHERE:
            continue
        parts = tuple(free.get(a, a) for a in e.args)
        free[e] = other = ir.rebuild(e, parts)
        if e.op is DIV and clamp.condition is not TRUE and next(loci(other), None) is None:
            other = FILLED(other, parts[1])  # x/max(x, eps) is 1, but not near 0
        if any(a in singular for a in e.args) or next(loci(other), None) is not None:
            singular.add(e)
            if e.op in (ADD, SUB, NEG) and sum(a in free for a in e.args) == 1:
                continue  # it has a limit where its term has
            asked += 1
            if asked > MAX_ANCESTORS or not is_small((other,)):
                return
            yield e, other


def _is_reached(outputs: Iterable[Expr], node: Expr, v: Verdict) -> bool:
    """Whether the branches that are taken where a guard is wrong lead to a node."""
    values = {e: ir.const(q) for e, q in v.where}

    def taken(e: Expr) -> tuple[Expr, ...]:
        if e.op is WHERE and (holds := ir.substitute(e.args[:1], values)[0]).op is ir.BOOL:
            return e.args[1:2] if holds.value else e.args[2:]
        return e.args

    return any(e is node for e in ir.reached(outputs, taken))
