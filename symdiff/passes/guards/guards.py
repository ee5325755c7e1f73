"""Guards around removable singularities: repair the right ones, name the wrong ones.

Before:  where(x == 0, 1, expm1(x)/x)
After:   expm1(x)/x, whose singularity at 0 is filled by later passes

Requires: any DAG; facts are conditions that hold on the domain.
Ensures: a branch, a clamp or an epsilon is dropped only where `passes.guards.proof` finds
that it cuts out nothing but a removable singularity and that its value there is the limit to
rounding; so no value changes by more than rounding. Where a guard has the limit as its value in a
band in which the function differs from it visibly, values stay and derivatives are those of the
smooth function (`functions.EXTENDED`). Where other variables decide how large the difference is,
both stay as written where it exceeds `CLOSE`. Unproved guards are left unchanged, and so are other
guards at the same point. A note names a guard whose value is not the limit, with both numbers.
First, branches that an enclosing branch decides are dropped (`contexts`), and zeros that are missed
only by the rounding of literals are made exact (`literals`).
"""

from __future__ import annotations

import functools
from collections.abc import Container, Iterable, Mapping
from math import inf
from typing import Literal

from symdiff import ir
from symdiff.ir import ABS, ADD, AND, CONST, DIV, FALSE, LE, LT, SUB, TRUE, WHERE, ZERO, Expr
from symdiff.ir.functions import EXTENDED, EXTREMES, FILLED, SLOPES
from symdiff.ir.plain import conditions_exactly, exactly
from symdiff.passes.analysis.roots import loci
from symdiff.passes.cancel.literals import exact_literals
from symdiff.passes.guards.by_substitution import SubstitutingProver
from symdiff.passes.guards.clamps import clamp_of, is_clamped
from symdiff.passes.guards.distance import differs
from symdiff.passes.guards.enclosing import Contexts
from symdiff.passes.guards.notes import Guard, GuardNotes
from symdiff.passes.guards.one_side import Side
from symdiff.passes.guards.proof import Prover
from symdiff.passes.guards.regions import Known
from symdiff.passes.guards.shape import (
    differentiated,
    disjuncts,
    domain,
    filled,
    has_slopes,
    is_edge,
    is_equation,
    is_half_line,
    is_small,
    joint_branch,
    near_and_beyond,
    outside_of_conditions,
    positive,
    rounded_to_zero,
    without_detached,
)
from symdiff.passes.guards.tolerances import settings, tolerances
from symdiff.passes.guards.users import Users, is_reached
from symdiff.passes.guards.verdicts import BEST, Kind, Solved, Verdict, worth

MAX_QUESTIONS = 200
"""Largest number of branches, clamps and epsilons in one function."""
MAX_ANCESTORS = 12
"""Largest number of singular nodes above an epsilon that are tried as guards."""
MAX_AROUND = 4
"""Largest number of conditions tried as guards of a whole output."""
MAX_SUMS = 3
"""Largest number of sums with a mask, from the inside out."""
MAX_PLACES = 8
"""The most singular sets to check for other branches that cut them out too."""
MAX_ROUNDS = 4
"""How often guards are examined, as those that cut out the same set may be one."""


def guards(
    outputs: Iterable[Expr], facts: Iterable[Expr] = (), notes: GuardNotes | None = None,
    shortcuts: bool = True, definitions: Mapping[Expr, Expr] | None = None,
    integers: Container[Expr] = frozenset(),
) -> tuple[Expr, ...]:  # fmt: skip
    """Drop the guards whose value is the limit; note those whose value is not.

    Parameters
    ----------
    shortcuts : whether to drop equations at regular points, too, where both sides have the same
        value.
    definitions : what variables denote, in questions about guards.
    integers : the variables that are integers.
    """
    notes = notes if notes is not None else GuardNotes()
    outputs, hidden = without_detached(outputs)
    found = _guards(outputs, facts, notes, shortcuts, definitions, integers)
    return ir.substitute(found, hidden)


def _guards(
    outputs: tuple[Expr, ...], facts: Iterable[Expr], notes: GuardNotes, shortcuts: bool,
    definitions: Mapping[Expr, Expr] | None, integers: Container[Expr],
) -> tuple[Expr, ...]:  # fmt: skip
    outputs, written = conditions_exactly(outputs)
    rounded: dict[Expr, Expr] = {}
    outputs, repairs, origin = exact_literals(rounded_to_zero(outputs, rounded))
    notes.literals += repairs
    order = ir.topological(outputs)
    contexts = Contexts()
    if any(e.op is WHERE for e in order):
        outputs = contexts.simplify(outputs)
        origin = _Origin(origin, contexts.origin)
        order = ir.topological(outputs)

    def as_written(results: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """Conditions compare the numbers as written."""
        back: dict[Expr, Expr] = {}
        for n in (n for n in ir.topological(results) if n.op in ir.COMPARISONS):
            first = rounded.get(origin.get(n, n), origin.get(n, n))
            back[n] = written.get(first, first if first.op in ir.COMPARISONS else n)
        return ir.substitute(results, back)

    if not any(e.op is WHERE or clamp_of(e) for e in order):
        return filled(as_written(outputs))
    prover = SubstitutingProver(Prover(exactly(facts)), definitions, integers)
    for _ in range(MAX_ROUNDS):
        found = GuardNotes()
        pass_ = _Repairs(prover, found, contexts, origin, shortcuts)
        repaired = pass_.apply(outputs)
        joined = tuple(
            contexts.joined(o, pass_.mixed(o, r)) for o, r in zip(outputs, repaired, strict=True)
        )
        if joined == outputs:
            break
        outputs = joined
    notes.guards += [g for g in found.guards if g not in notes.guards]
    notes.over_budget += found.over_budget
    return filled(as_written(tuple(repaired)))


class _Origin(dict[Expr, Expr]):
    """A map from rebuilt nodes to the nodes as written."""

    def __init__(self, first: dict[Expr, Expr], second: dict[Expr, Expr]) -> None:
        super().__init__(first)
        for new, old in second.items():
            self.setdefault(new, first.get(old, old))


class _Repairs:
    """Queries the prover about every guard of a function, children first."""

    def __init__(
        self, prover: SubstitutingProver, notes: GuardNotes, contexts: Contexts, origin: dict[Expr, Expr],
        shortcuts: bool = False,
    ) -> None:  # fmt: skip
        self.shortcuts = shortcuts
        self.prover, self.notes, self.contexts, self.origin = prover, notes, contexts, origin
        self.solved: list[Solved] = []  # where the guards of one branch act
        self.dropped: dict[Expr, list[Solved]] = {}
        self.wrong: set[Expr] = set()  # branches with a value that is not the limit
        self.written: dict[Expr, Expr] = {}
        self.silent: set[Expr] = set()  # nodes of guards that are named already
        self.singular: dict[Expr, bool] = {}
        self.questions = 0
        self.set: dict[Expr, Expr] = {}  # values of tolerances in current questions
        self.users: Users | None = None
        self.unproved: list[tuple[Expr, Verdict]] = []  # the open questions of one branch

    def apply(self, outputs: tuple[Expr, ...]) -> tuple[Expr, ...]:
        new: dict[Expr, Expr] = {}
        values = {*outside_of_conditions(outputs)}
        for e in ir.topological(outputs):
            r = ir.rebuild(e, tuple(new[a] for a in e.args))
            self.written.setdefault(r, self.origin.get(e, e))
            self.solved = []
            before = r
            if e not in values:
                pass
            elif r.op is WHERE:
                c, a, b = r.args
                plain = self._branch(r, c, a, b)
                r = plain if plain is not None else r
            elif (joint := joint_branch(r)) is not None:
                plain = self._branch(r, *joint)
                r = plain if plain is not None else r
            if r is not before and self.solved:
                self.dropped[e] = self.solved
            new[e] = r
        result = tuple(self.around(new[o]) for o in outputs)
        for m in outside_of_conditions(result):
            if m not in self.silent and clamp_of(m) is not None:
                result = self._bounded(result, m)
        return result

    def mixed(self, written: Expr, repaired: Expr) -> list[Expr]:
        """Conditions of branches that were dropped from an output while others at the same points
        stay, because they have no limit or none was found: the derivative there would be neither
        that of the branches nor that of the smooth function."""
        below = set(ir.topological((written,))) if self.dropped else set()
        drops = {e: solved for e, solved in self.dropped.items() if e in below}
        order = ir.topological((differentiated(repaired),)) if drops else []
        branches = [
            e for e in order if e.op is WHERE and e not in self.wrong and self._may_be_singular(e)
        ]
        places = list(dict.fromkeys(s for solved in drops.values() for s in solved))
        stay = [p for p in places[:MAX_PLACES] if branches and self._stays(p, order, branches)]
        conditions = [
            next(n.args[0] for n in (e, *e.args) if n.op is WHERE)
            for e, solved in drops.items()
            if any(p in solved for p in stay)
        ]
        return list(dict.fromkeys(conditions))

    def around(self, output: Expr) -> Expr:
        """An output without the branches that guard it as a whole, even if the values that they
        choose between have no limit, such as the axis of a rotation by 0."""
        branches = [
            e for e in ir.topological((differentiated(output),))
            if e.op is WHERE and e is not output and e not in self.wrong and (
                (e not in self.silent and any(map(self._may_be_singular, e.args[1:])))
                or self._is_mask(e)
            )
        ]  # fmt: skip
        conditions = list(dict.fromkeys(e.args[0] for e in branches))
        masks = {e.args[0]: e for e in branches if self._is_mask(e)}
        for c in conditions[:MAX_AROUND]:
            sums = Users((output,)).above(masks[c]) if c in masks else ()
            inner = [n for n in sums if n.op in (ADD, SUB) and n is not output]
            for whole in (*inner[:MAX_SUMS], output):
                joint = self.contexts.joined(whole, (c,))
                if joint.op is not WHERE or joint.args[0] is not c:
                    continue
                alone = _Repairs(self.prover, GuardNotes(), self.contexts, self.origin)
                found = alone._branch(joint, *joint.args)
                if found is not None:
                    both = (c, ir.not_(c))
                    old = [
                        g
                        for g in self.notes.guards
                        if g.kind == "repaired" or g.condition not in both
                    ]
                    self.notes.guards[:] = dict.fromkeys((*old, *alone.notes.guards))
                    (output,) = ir.substitute((output,), {whole: found})
                    break
                if c in masks and masks[c] not in self.silent:  # it is named if it is wrong
                    self.notes.guards += [
                        g for g in alone.notes.guards if g not in self.notes.guards
                    ]
        return output

    def _is_mask(self, e: Expr) -> bool:
        """Whether a branch is 0 near a point, or everywhere else."""
        if ZERO not in e.args[1:]:
            return False
        if self._is_bounded(positive(e.args[0])):
            return True
        regular = not any(map(self._may_be_singular, e.args[1:]))
        return regular and self._is_bounded(positive(ir.not_(e.args[0])))

    def _stays(self, place: Solved, order: list[Expr], branches: list[Expr]) -> bool:
        """Whether one of the branches is a guard at a place: the side that is not taken there is
        singular, the other is not."""
        singular: dict[Expr, list[Expr]] = {n: list(loci(n)) for n in order}
        roots = [d for ds in singular.values() for d in ds]
        conditions = [e.args[0] for e in branches]
        at = ir.substitute((*roots, *conditions), dict(place))
        vanishing = {d for d, q in zip(roots, at, strict=False) if q is ZERO}
        holds = dict(zip(conditions, at[len(roots) :], strict=True))
        above: set[Expr] = set()
        for n in order:
            if any(d in vanishing for d in singular[n]) or any(a in above for a in n.args):
                above.add(n)
        for e in branches:
            c, a, b = e.args
            if holds[c].op is not ir.BOOL:
                continue
            acts, taken, other = (c, a, b) if holds[c].value else (ir.not_(c), b, a)
            if other in above and taken not in above:
                if any(self._is_bounded(positive(p)) for p in disjuncts(acts)):
                    return True
        return False

    # ------------------------------------------------------------------ branches
    def _branch(self, node: Expr, condition: Expr, a: Expr, b: Expr) -> Expr | None:
        """The side to keep, if the other is a guard of it."""
        self.unproved = []
        for holds, small, other in ((condition, a, b), (ir.not_(condition), b, a)):
            decided, found = self._one_side(node, condition, holds, small, other)
            if decided:
                return found
        edge = any(
            is_edge(positive(p)) for c in (condition, ir.not_(condition)) for p in disjuncts(c)
        )
        for part, unproved in () if edge else self.unproved[:1]:
            self._note(node, part, unproved)
        return None

    def _one_side(
        self, node: Expr, condition: Expr, holds: Expr, small: Expr, other: Expr
    ) -> tuple[bool, Expr | None]:
        """Whether the role of one side is settled, and what replaces the node if it is a guard."""
        parts = disjuncts(holds)
        easy = is_small((holds, small, other))
        if not easy and not any(self._may_act_nearby(positive(p)) for p in parts):
            return False, None
        if small.op in EXTREMES and other in small.args:
            return False, None  # singular where the other side is: the nan branch of Python's max
        plain = self.contexts.inside(other, holds, False, lambda n: True, real=True)
        if not parts or not (
            self._may_be_singular(plain) or self._are_shortcuts(parts, small, plain)
        ):
            return False, None
        side = Side(plain)
        for written in parts:
            loose = tolerances(positive(written), (small, other)) if easy else []
            joined = self._take_in(side, node, holds, small, written, loose)
            if joined is not None:
                self.silent.update(ir.topological((condition,)), (node,))
                return True, joined
            if node in self.wrong:
                self.silent.update(ir.topological((small,)))
                return True, None
        smooth = side.plain if side.is_whole() or len(parts) == 1 else other
        if side.repaired:  # the kinks at the points were cut out
            at = functools.partial(_vanishes, side.repaired)
            smooth = self.contexts.without_kinks(smooth, at)
        for away in (side.wide, side.far, side.rest):
            smooth = ir.where(away, small, smooth)
        if side.coarse:
            smooth = EXTENDED(node, smooth)
        elif not side.repaired:
            joined = self._middle(node, holds, small, side.plain)
            if joined is not None:
                self.silent.update(ir.topological((condition,)), (node,))
            return joined is not None, joined
        if side.coarse:
            self.silent.update(ir.topological((condition,)), (node,))
        return True, filled((smooth,))[0]

    def _take_in(
        self, side: Side, node: Expr, holds: Expr, small: Expr, written: Expr, loose: list[Expr]
    ) -> Expr | None:
        """Record what a conjunction of a condition shows about a side; a joined formula, if two
        meet."""
        part = positive(written)
        whole, v, split, fine = self._judged(part, small, side.plain, loose)
        if split is not None:
            if (joined := self._middle(node, holds, small, side.plain)) is not None:
                self.set = {}
                return joined
            if v is not None:
                side.stays(ir.and_(part, split[1]) if self.set else split[1])
                part = ir.and_(part, split[0]) if self.set else split[0]
        if v is not None and v.outside:
            side.plain, whole, v = self._defined(part, small, side.plain, whole, v)
        self.set = {}
        if v is None:
            side.stays(written)  # it decides for nan, too
            return None
        if fine is not TRUE:
            side.wide = ir.or_(side.wide, ir.and_(part, ir.not_(fine)))
        side.repaired.append(dict(v.singular))
        self._note(node, part, v)
        if v.missed is not None:
            self._note(node, part, v.missed)
        if v.kind == "wrong":
            self.wrong.add(node)
            return None
        side.coarse = side.coarse or v.coarse or v.local
        if v.local:
            side.far = ir.or_(side.far, ir.and_(part, differs(small, side.plain, v)))
        if v.regular:
            side.stays(ir.and_(part, ir.not_(has_slopes(side.plain, part))))
        if v.outside or not whole:
            side.stays(ir.and_(part, ir.not_(domain(side.plain))))
        return None

    def _judged(
        self, part: Expr, small: Expr, plain: Expr, loose: list[Expr]
    ) -> tuple[bool, Verdict | None, tuple[Expr, Expr] | None, Expr]:
        """Judge a conjunction: whether all of it is bounded, the verdict, its parts near and beyond
        the point if it is split, and the condition that its tolerances do not exceed those in
        `set`."""
        best: tuple[bool, Verdict | None, tuple[Expr, Expr] | None, Expr] | None = None
        values: dict[Expr, Expr] = {}
        for tolerance, fine in settings(loose):
            self.set = tolerance
            whole, v = self._part(part, small, plain)
            split = None
            if v is None:
                split = near_and_beyond(self._with_set(part)[0])
            if split is not None and any(n.op in SLOPES for n in ir.topological((small, plain))):
                split = None  # a derivative's branch, no user's guard
            if split is not None:
                whole, v = self._part(split[0], small, plain)
                if v is not None and v.regular and is_half_line(part):
                    v, split = None, None  # two formulas that meet there: no guard
            if best is None or worth(v) >= worth(best[1]) + (worth(v) != 1):
                best, values = (whole, v, split, fine), tolerance
            if worth(v) == BEST:
                break
        assert best is not None
        self.set = values
        return best

    def _are_shortcuts(self, parts: list[Expr], small: Expr, plain: Expr) -> bool:
        """Whether some conditions may be shortcuts to the value at a regular point. Conditions in
        derivatives of maxima are not: they select the mean of both sides."""
        if not self.shortcuts or not any(map(is_equation, parts)):
            return False
        return not any(n.op in SLOPES for n in ir.topological((small, plain)))

    def _may_act_nearby(self, part: Expr) -> bool:
        return near_and_beyond(part) is not None or self._is_bounded(part)

    def _with_set(self, *roots: Expr) -> tuple[Expr, ...]:
        """The formulas with the values in `set` for their tolerances."""
        return ir.substitute(roots, self.set) if self.set else roots

    def _middle(self, node: Expr, holds: Expr, small: Expr, other: Expr) -> Expr | None:
        """`other` for its guard too, where that is one of two branches in `small`: the
        middle one of three, as for x < -eps, x > eps, and between."""
        coarse = small.op is EXTENDED
        branches = small.args[1] if coarse else small
        if branches.op is not WHERE:
            return None
        c, a, b = branches.args
        for inner, value, rest in ((c, a, b), (ir.not_(c), b, a)):
            part = ir.and_(holds, inner)
            before, v, outside = self.set, None, FALSE
            for tolerance, fine in settings(tolerances(positive(part), (value, other))):
                self.set = tolerance
                outside = ir.not_(fine)
                about, one, two = self._with_set(part, value, other)
                if not self._is_bounded(about) or self._may_be_singular(value):
                    break
                v = self._ask(about, one, two, about) if is_small((about, one, two)) else None
                if worth(v) == BEST:
                    break
            self.set = before
            if v is None or v.kind == "wrong":
                continue
            self._note(node, part, v)
            joined = ir.where(ir.or_(ir.not_(holds), inner), other, rest)
            if v.outside:
                outside = ir.or_(outside, ir.not_(domain(other)))
            joined = ir.where(ir.and_(part, outside), value, joined)
            if v.local:
                joined = ir.where(ir.and_(part, differs(value, other, v)), value, joined)
            return EXTENDED(node, joined) if coarse or v.coarse or v.local else joined
        return None

    def _defined(
        self, part: Expr, small: Expr, plain: Expr, whole: bool, v: Verdict
    ) -> tuple[Expr, bool, Verdict]:
        """The other side, reduced within the guard to its one branch that is defined there, if the
        guard is then right everywhere. Example: one branch for x < 0 and one for x > 0."""
        if plain.op is WHERE:
            c, a, b = plain.args
            for at, one, two in ((c, a, b), (ir.not_(c), b, a)):
                joined = ir.where(ir.or_(at, ir.and_(part, ir.not_(domain(two)))), one, two)
                found, w = self._part(part, small, joined)
                if w is not None and w.kind == "right" and not w.outside:
                    return joined, found, w
        return plain, whole, v

    def _part(self, part: Expr, small: Expr, other: Expr) -> tuple[bool, Verdict | None]:
        """Whether all of a conjunction is bounded, and the verdict on it as the condition of a
        guard. A guard that is right wherever one of its conditions holds is right where all do."""
        part, small, other = self._with_set(part, small, other)
        about = self._bounded_part(part, small, other)
        v = None if about is None else self._ask(about, small, other, about)
        if v is not None or part.op is not AND:
            return about is part, v
        for c in part.args:
            if not self._is_bounded(c) or (v := self._ask(c, small, other, c)) is None:
                continue
            if v.regular and v.partly:
                continue
            at = {e: ir.const(x) for e, x in v.where}
            if v.kind == "right" or ir.substitute((part,), at)[0] is TRUE:
                return True, v
        return False, None

    def _ask(
        self, condition: Expr, small: Expr, other: Expr, about: Expr, kind: Kind = "guard"
    ) -> Verdict | None:
        self.questions += 1
        if self.questions > MAX_QUESTIONS:
            self.notes.over_budget.append(self.written.get(other, other))
            return None
        if kind == "guard" and is_small((small, other)):
            inside = self.contexts.inside(small, condition, True, real=True)
            kind = "clamp" if is_clamped(condition, inside, other) else kind
        found = self.prover.verdict(condition, small, other, about, kind)
        if found is None and (unproved := self.prover.prover.unproved) is not None:
            self.unproved.append((condition, unproved))
        return found

    def _note(self, node: Expr, condition: Expr, v: Verdict) -> None:
        kinds: dict[str, Literal["repaired", "kept", "unproved"]]
        kinds = {"right": "repaired", "wrong": "kept", "unproved": "unproved"}
        kind = kinds[v.kind]
        written = self.written.get(node, node)
        if v.kind == "right" and not v.regular:
            self.solved.append(v.singular)
        guard = Guard(
            written, condition, kind, v.singular, v.where, v.got, v.truth, v.ulps, v.at_singular,
            v.coarse,
        )  # fmt: skip
        if guard not in self.notes.guards:
            self.notes.guards.append(guard)

    # -------------------------------------------------------- clamps and epsilons
    def _bounded(self, outputs: tuple[Expr, ...], m: Expr) -> tuple[Expr, ...]:
        """Look for singularities that the clamp or epsilon m keeps away from."""
        if (clamp := clamp_of(m)) is None:
            return outputs
        condition, inside, plain, epsilon = clamp
        free: dict[Expr, Expr] = {m: plain}
        singular: set[Expr] = set()  # what may be singular without m
        settled: set[Expr] = set()
        asked = 0
        if self.users is None or self.users.outputs != outputs:
            self.users = Users(outputs)
        for e in self.users.above(m):
            if any(a in settled for a in e.args) or e.op.boolean or e.op is WHERE:
                settled.add(e)
                continue
            parts = tuple(free.get(a, a) for a in e.args)
            free[e] = other = ir.rebuild(e, parts)
            if e.op is DIV and condition is not TRUE and next(loci(other), None) is None:
                other = FILLED(other, parts[1])  # x/max(x, eps) is 1, but not near 0
            if not (any(a in singular for a in e.args) or next(loci(other), None) is not None):
                continue
            singular.add(e)
            asked += 1
            if asked > MAX_ANCESTORS:
                break
            small = ir.substitute((e,), {m: inside})[0]
            verdict, beyond = self._as_clamp(condition, small, other, plain)
            if verdict is None:
                verdict = self._ask(condition, small, other, plain, "epsilon")
                if verdict is not None and not verdict.truth and abs(verdict.got) <= epsilon:
                    continue  # zero up to less than the epsilon
            if verdict is None:
                continue
            settled.add(e)
            if verdict.kind == "right" or is_reached(outputs, e, verdict.where):
                self._note(e, condition, verdict)
            if verdict.kind == "right":
                if verdict.local:
                    other = ir.where(differs(e, other, verdict), e, other)
                other = ir.where(beyond, e, other)
                coarse = verdict.coarse or verdict.local or beyond is not FALSE
                return ir.substitute(outputs, {e: EXTENDED(e, other) if coarse else other})
        return outputs

    def _as_clamp(
        self, condition: Expr, small: Expr, other: Expr, plain: Expr
    ) -> tuple[Verdict | None, Expr]:
        """The verdict on a clamp, and the condition under which it stays, as max(u, eps) does for u
        < 0."""
        v = None if condition is TRUE else self._ask(condition, small, other, plain, "clamp")
        if v is None and (half := near_and_beyond(condition)) is not None:
            v = self._ask(half[0], small, other, plain, "clamp")
            return (v, half[1]) if v is not None and v.kind == "right" else (None, FALSE)
        return v, FALSE

    def _may_be_singular(self, e: Expr) -> bool:
        if e not in self.singular:
            for n in ir.topological((e,), self.singular):
                self.singular[n] = next(loci(n), None) is not None or any(
                    self.singular[a] for a in n.args
                )
        return self.singular[e]

    def _bounded_part(self, condition: Expr, small: Expr, other: Expr) -> Expr | None:
        """The condition if it is bounded, else its part inside the other side's domain."""
        if self._is_bounded(condition):
            return condition
        if self._may_be_singular(small):  # one function for each side
            return None
        inside = ir.and_(condition, domain(other))
        return inside if inside is not condition and self._is_bounded(inside) else None

    def _is_bounded(self, condition: Expr) -> bool:
        """Whether a conjunction keeps some quantity within two bounds, or its size below
        that of another."""
        for n in ir.topological((condition,)):
            if n.op in (LT, LE) and n.args[0].op is ABS and n.args[1].op is not CONST:
                return True
        for u, inside in Known(condition, True).sets.items():
            low = min((p.low for p in inside), default=0)
            high = max((p.high for p in inside), default=0)
            signs = self.prover.signs
            if (low > -inf or signs.nonnegative(u)) and (high < inf or signs.nonnegative(-u)):
                return True
        return False


def _vanishes(places: Iterable[dict[Expr, Expr]], n: Expr) -> bool:
    """Whether an absolute value is 0 at a place."""
    return n.op is ABS and any(ir.substitute(n.args, p)[0] is ZERO for p in places)
