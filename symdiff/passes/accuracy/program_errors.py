"""The rounding errors of the names of a program, and the statements that compute them beside the values.

Before:  for i: s = s + x[i]*y[i]
After:   the error of s is the root of q, and for i: ...; q = q + (2*x[i]*y[i])**2

Requires, ensures: see `estimates`.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from fractions import Fraction
from typing import Any

from symdiff import ir
from symdiff.ir import INF, TRUE, VAR, ZERO, Expr, const
from symdiff.ir.blocks import unchecked
from symdiff.ir.functions import EXTREMES
from symdiff.ir.loop_program import (
    INDEX,
    REAL,
    REAL_OF,
    Block,
    Build,
    Call,
    Carried,
    Check,
    Loop,
    LoopProgram,
    Names,
    Restore,
    Save,
    Statement,
    Type,
    Update,
    array,
    defined,
    index,
    inner,
    leaves,
    load,
    name_of,
    renamed,
    types,
    walk,
)
from symdiff.ir.prune import pruned
from symdiff.lowering.compensated.functions import CORRECTED
from symdiff.lowering.loops.collected import SUMMED, Reduction, reduction
from symdiff.lowering.loops.matmul import TURNED
from symdiff.passes.accuracy.bounds import is_power_of_two
from symdiff.passes.accuracy.carried_errors import Carrying
from symdiff.passes.accuracy.estimated_statements import (
    added_to,
    adds_once,
    last_arrays,
    values_of,
)
from symdiff.passes.accuracy.joint_errors import (
    MOST,
    Joint,
    Row,
    dependent,
    is_collected_inside,
    is_read,
    row,
)
from symdiff.passes.accuracy.matrix_errors import SOLVED, after_call
from symdiff.passes.accuracy.propagation import (
    EXACT,
    NEGATIVE,
    POSITIVE,
    Error,
    Propagation,
    element,
    larger,
    over,
    while_finite,
)

MEAN = Fraction(1, 2)
"""Of the bound of a rounding, as it counts among many that are independent."""


class ProgramErrors(Propagation):
    """The errors of a program's names.

    Attributes
    ----------
    tapes : errors of what is on a tape, and the tape of them.
    first, sums, partly_summed : see `matrix_errors.Named`.
    zeros : arrays whose elements are zero where something is added to them.
    rising : units of running maxima and minima, and of tapes of them.
    bounded : whether the errors of the results that were checked are bounded statically.
    joint : whether there are errors of numbers that loops carry together.
    together : whether numbers may have a covariance: not where elements of results must not depend on others.
    collecting : arrays that a loop carries, and the names inside of it.
    lasting, lasting_tapes : of values from a tape whose errors last from iteration to iteration, what they
        count for in recurrences, and the tapes of that.
    """

    def __init__(
        self, program: LoopProgram, dtype: str, strict: bool, tests: bool, by_rows: bool, norm: bool,
        known: dict[Any, Any] | None = None, together: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(dtype, underflows=tests, known={} if known is None else known)
        self.program, self.strict, self.tests = program, strict, strict or by_rows
        self.together = together and not by_rows
        self.last = last_arrays(program)
        self.tapes: dict[str, Error] = {}
        self.first: list[Statement] = []
        self.sums: dict[tuple[str, int], Expr] = {}
        self.partly_summed = False
        self.zeros: set[str] = set()
        self.rising: dict[str, Fraction] = {}
        self.bounded, self.norm, self.joint = True, norm, False
        self.collecting: dict[str, set[str]] = {}
        self.lasting: dict[str, Expr] = {}
        self.lasting_tapes: dict[str, str] = {}
        loops = [s for s in walk(self.program.block) if isinstance(s, Loop)]
        self.names = Names((*types(self.program), *(v.tape for s in loops for v in s.saves)))
        self.counts = {e for p in self.program.params for e in p.type.shape if e.op is INDEX}
        for s in walk(self.program.block):
            self.counts |= {index(n) for n, t in inner(s) if t.kind == "i"}

    # ------------------------------------------------------------------- statements
    def block(self, block: Block) -> Block:
        """The statements, with those of errors after each."""
        made: list[Statement] = []
        for s in block:
            match s:
                case Build():
                    made += self.build(s)
                case Update():
                    made += self.update(s)
                case Loop():
                    made += self.loop(s)
                case Call():
                    made += after_call(self, s)
                case Check():
                    made.append(s)
        return tuple(made)

    def build(self, s: Build) -> list[Statement]:
        if s.type.kind != "f":
            return [s]
        body = self.block(s.body)
        if s.name in self.last:
            self.keep(s.value)
        if any(isinstance(b, Call) and b.routine not in TURNED for b in walk(s.body)):
            self.kept.add(s.value)
            found = Error(SOLVED)  # it would be called twice
        else:
            found = self.error(s.value)
        if found.flat:
            if found != EXACT:
                self.errors[s.name] = found
            if s.value is ZERO:
                self.zeros.add(s.name)
            return [s]
        name = self.names.fresh(f"{s.name}_error")
        squares = self.collected_squares(s)
        value = self.units(s.value, found) if squares is None else squares
        if s.value.op is VAR or any(n.op in CORRECTED for n in ir.topological((s.value,))):
            # it need not be summed or computed again
            (value,) = ir.substitute(
                (value,), {s.value: load(array(s.name), *map(index, s.indices))}
            )
        self.mark(value)
        made = Build(name, s.type, s.indices, value, pruned(unchecked(body), (value,)))
        made = self.copied(made)
        self.errors[s.name] = Error(Fraction(0), array(name), squares is not None)
        return [s, made]

    def collected_squares(self, s: Build) -> Expr | None:
        """The squares of the errors of an array that a loop adds to as a whole, element by element; None of
        others, and where terms share an error or have those of iterations before, which add up as they stand."""
        found = added_to(s, self.collecting)
        if found is None or self.underflows:
            return None
        before, term, sums = found
        name = name_of(before.args[0])
        inside, source = self.collecting[name], self.errors.get(name, EXACT)

        def shared(leaf: Expr) -> bool:
            return not any(name_of(e) in inside for e in leaves((leaf,)))

        made = [name_of(e) for e in leaves((term,)) if name_of(e) in inside]
        if any(self.errors.get(n, EXACT) != EXACT for n in made):
            return None
        if source.flat or self.propagated(term, shared) != EXACT:
            return None
        self.collecting[s.name] = inside
        collected = element(source._replace(squared=False), before.args[1:])
        collected = collected if source.squared else collected**2
        rounded = functools.reduce(ir.add, ((ir.HALF * e) ** 2 for e in sums), ZERO)
        if len(sums) == 1:
            rounded = ir.where(ir.eq(term, ZERO), ZERO, rounded)
        return collected + self.units(term, self.error(term)) ** 2 + rounded

    def keep(self, e: Expr) -> None:
        """Of a result over what is exact, each element keeps its digits."""
        if self.propagated(e, lambda _: True) == EXACT:
            self.kept.add(e)

    def copied(self, s: Build) -> Build:
        """A build with names of its own inside."""
        (new,), _ = renamed((s,), self.names, exactly=True)
        assert isinstance(new, Build)
        old, fresh = list(walk(s.body)), list(walk(new.body))
        for a, b in zip((s, *old), (new, *fresh), strict=True):
            for x, y in zip(values_of(a), values_of(b), strict=True):
                if x in self.unwatched:
                    self.mark(y)
                if x in self.untested:
                    self.untested.setdefault(y, self.untested[x])
        return replace(new, name=s.name)

    def stored(self, name: str, t: Type, squared: bool) -> tuple[Expr, list[Statement]]:
        """The array of the errors of an array, and what makes it."""
        found = self.errors.get(name, EXACT)
        whole = not found.flat and found.k == 0 and found.axes is None
        if whole and found.squared == squared:
            return found.more, []
        indices = tuple(self.names.fresh("i") for _ in t.shape)
        places = [index(i) for i in indices]
        value = self.units(load(array(name), *places), Error(found.k, element(found, places)))
        value = value**2 if squared else value
        self.mark(value)
        made = self.names.fresh(f"{name}_error")
        return array(made), [Build(made, t, indices, value)]

    def update(self, s: Update) -> list[Statement]:
        if s.type.kind != "f":
            return [s]
        if s.name in self.last and not s.add:
            self.keep(s.value)
        source, found = self.errors.get(s.source, EXACT), self.error(s.value)
        unsure = self.propagated(s.guard, lambda _: True).more if s.guard is not TRUE else ZERO
        found = found._replace(more=found.more + unsure)
        add = s.add and s.source not in self.zeros
        if source.flat and found.flat and not add:
            both = Error(max(source.k, found.k), larger(source.more, found.more))
            if both != EXACT:
                self.errors[s.name] = both
            return [s]
        squared = (add or source.squared) and not self.underflows  # squares underflow
        before, made = self.stored(s.source, s.type, squared)
        value = self.units(s.value, found)
        rounded = ir.HALF * (load(array(s.source), *s.index) + s.value)
        if squared:
            value = value**2 + (rounded**2 if add else ZERO)
        elif add:
            value = value + ir.abs_(rounded)
        name = self.names.fresh(f"{s.name}_error")
        self.mark(value)
        self.errors[s.name] = Error(Fraction(0), array(name), squared)
        return [s, *made, Update(name, name_of(before), s.type, s.index, value, s.guard, s.add)]

    # ------------------------------------------------------------------------- loops
    def loop(self, s: Loop) -> list[Statement]:
        """A loop with the errors of what it carries: constants where that holds from one
        iteration to the next, else carried along."""
        guesses: dict[str, Carrying] = {}
        before: list[Statement] = []
        for c in s.carried:
            if c.type.kind == "f":
                init = (
                    self.errors.get(name_of(c.init), EXACT) if c.type.shape else self.error(c.init)
                )
                sum_ = reduction(c) if c.type == REAL else None
                if sum_ is not None and sum_.kind == "mul" and self.underflows:
                    sum_ = None  # what vanishes on the way may come back
                guesses[c.name] = Carrying(c, init, sum_, init.static, init.k, count=s.count)
                guesses[c.name].apart = not is_read(s, c)
                guesses[c.name].inside = is_collected_inside(s, c)
        numbers = [c for c in s.carried if c.type == REAL]
        joint: Joint | None = None if self.underflows or not self.together else Joint(self.names)
        signed = {c.name for c in numbers if not self.never(NEGATIVE, c.init)}
        for c in s.carried:
            if c.type.shape and name_of(c.init) in self.zeros and adds_once(s, c.name):
                self.zeros.add(c.name)
        restores = self._restored(s)
        inside = {n for b in (s, *walk(s.body)) for n, _ in (*inner(b), *defined(b))}
        self.collecting |= {c.name: inside for c in s.carried if c.type.shape}
        known, tapes, lasting = dict(self.errors), dict(self.tapes), dict(self.lasting_tapes)
        while True:
            self.errors, self.tapes = dict(known), dict(tapes)
            self.lasting_tapes = dict(lasting)
            self.positive -= {n for c in numbers for n in (c.name, c.result)}
            self.positive |= {c.name for c in numbers if c.name not in signed}
            extra: list[Carried] = []
            for g in guesses.values():
                self._begin(g, before)
            body = self.block(s.body)
            wrong = {c.name for c in numbers if not self.never(NEGATIVE, c.next)} - signed
            signed |= wrong
            again = bool(wrong)
            moving = {n for n, g in guesses.items() if not g.static and not g.carried.type.shape}
            for g in guesses.values():
                again = self._advance(g, inside, body, joint, moving) or again
            if joint is not None and len(joint.leaves) > MOST:
                joint, again = None, True
                for g in guesses.values():
                    g.joint = None
            if again:
                continue
            ends: list[Statement] = []
            saves = self._saved(s, ends, guesses)
            for g in guesses.values():
                extra += self._carried(g, ends)
            if joint is not None and joint.leaves:
                extra += self._covariance(s, joint, guesses, inside)
            made = replace(
                s, body=(*body, *ends), carried=(*s.carried, *extra), saves=(*s.saves, *saves),
                restores=(*s.restores, *restores),
            )  # fmt: skip
            self.positive |= {c.result for c in numbers if c.name not in signed}
            for g in guesses.values():
                self._after(g)
            return [*before, made]

    def _restored(self, s: Loop) -> list[Restore]:
        made = []
        for r in s.restores:
            found = self.tapes.get(r.tape, EXACT)
            if not found.flat:
                name = self.names.fresh(f"{r.name}_error")
                made.append(Restore(name_of(found.more), r.type, name))
                more = array(name) if r.type.shape else ir.var(name)
                self.errors[r.name] = Error(found.k, more, found.squared)
                if (tape := self.lasting_tapes.get(r.tape)) is not None:
                    lasting = self.names.fresh(f"{r.name}_lasting")
                    made.append(Restore(tape, r.type, lasting))
                    self.lasting[r.name] = ir.var(lasting)
            elif found != EXACT:
                rising = r.tape in self.rising
                self.errors[r.name] = while_finite(r.name, found.k) if rising else found
        return made

    def _saved(self, s: Loop, ends: list[Statement], guesses: dict[str, Carrying]) -> list[Save]:
        made = []
        joint = [g for g in guesses.values() if g.joint is not None and not g.apart]
        for v in s.saves:
            if v.type.kind != "f":
                continue
            if v.type.shape:
                found = self.errors.get(name_of(v.value), EXACT)
            elif v.value.op is VAR and name_of(v.value) in self.rising:
                self.rising[v.tape] = self.rising[name_of(v.value)]
                found = Error(self.rising[v.tape])
            else:
                found = self.error(v.value)
            if not found.flat:
                tape = self.names.fresh(f"{v.tape}_error")
                value = found.more
                if found.axes is not None:
                    value, made_ = self.stored(name_of(v.value), v.type, found.squared)
                    ends += made_
                    found = Error(Fraction(0), value, found.squared)
                self.mark(value)
                made.append(Save(tape, v.type, value))
                self.tapes[v.tape] = Error(found.k, ir.var(tape), found.squared)
                if joint and not v.type.shape:
                    made.append(self._saved_lasting(v, joint))
            elif found != EXACT:
                self.tapes[v.tape] = found
        return made

    def _saved_lasting(self, v: Save, joint: list[Carrying]) -> Save:
        """What the error of a saved value counts for in what reads it in each iteration, see `Joint.lasting`."""
        known = dict(self.errors)
        for g in joint:
            assert g.joint is not None
            self.errors[g.carried.name] = Error(Fraction(0), g.joint.lasting(g.carried))
        value, self.errors = self.units(v.value, self.error(v.value)), known
        self.mark(value)
        tape = self.lasting_tapes[v.tape] = self.names.fresh(f"{v.tape}_lasting")
        return Save(tape, v.type, value)

    def _begin(self, g: Carrying, before: list[Statement]) -> None:
        """The error of a carried value at the start of an iteration."""
        c = g.carried
        if g.static:
            if g.k and c.init in (INF, -INF):
                self.rising[c.name] = g.k
                self.errors[c.name] = while_finite(c.name, g.k)
            elif g.k:
                self.errors[c.name] = Error(g.k)
            return
        if c.type.shape:
            if not g.names:
                g.squared = g.squared or g.init.squared
                g.names = [self.names.fresh(f"{c.name}_error") for _ in "12"]
                g.start, made = self.stored(name_of(c.init), c.type, g.squared)
                before += made
            self.errors[c.name] = Error(Fraction(0), array(g.names[0]), g.squared)
            return
        if not g.names and g.joint is None:
            stems = ("squares", "squares", "shared", "shared")
            g.names = [self.names.fresh(f"{c.name}_{stem}") for stem in stems]
        self.errors[c.name] = g.error(0, self)

    def _advance(
        self, g: Carrying, inside: set[str], body: Block, joint: Joint | None, moving: set[str]
    ) -> bool:
        """Work out the error of the next value; whether what was assumed does not hold."""
        c = g.carried
        if c.type.shape:
            found = self.errors.get(name_of(c.next), EXACT)
            if not g.static:
                if found.squared and not g.squared:
                    g.squared, g.names = True, []
                    return True
                return False
            return g.raised(found)
        if g.joint is not None:
            return False
        if g.sum is None:
            found = self.error(c.next, step=True)
            if g.static:
                again = g.raised(found)
                apart = g.inside or c.next.op in EXTREMES
                if joint is not None and not g.static and not apart:
                    return self._join(g, joint)
                return again
            g.next = self.units(c.next, found), ZERO
            return False
        again = self._collected(g, g.sum, inside)
        if g.static or g.sum.kind in ("max", "min"):
            return again
        if g.apart and not any(name_of(e) in moving for e in leaves((g.sum.term,))):
            return again
        if joint is not None:
            return self._join(g, joint)
        if not self.together:  # to compute them again may change the bits of other elements
            return again
        g.sum, g.names = None, []  # its terms have errors in common: all add up
        return True

    def _join(self, g: Carrying, joint: Joint) -> bool:
        """Make a number part of the covariance."""
        joint.add(g.carried)
        g.joint, g.static, g.names = joint, False, []
        return True

    def _covariance(
        self, s: Loop, joint: Joint, guesses: dict[str, Carrying], inside: set[str]
    ) -> list[Carried]:
        """What a loop carries for the covariance of its numbers."""
        self.joint = True
        depends = dependent(s.body, joint.leaves)
        rows: dict[Expr, Row] = {}
        init: dict[Expr, Expr] = {}
        fixed: dict[Expr, Expr] = {}
        for name, leaf in joint.leaves.items():
            g = guesses[name]
            own = None
            if g.apart and g.sum is not None and g.sum.kind == "add":
                own = const(MEAN) * (
                    self.units(g.sum.term, self.rounded(g.sum.term)) + self.size(g.sum.term)
                )
            rows[leaf] = row(
                self, g.carried.next, joint.leaves, fixed, depends, inside, self.lasting, own
            )
            init[leaf] = self.units(g.carried.init, g.init)
        return joint.carried(self, rows, fixed, init)

    def _collected(self, g: Carrying, r: Reduction, inside: set[str]) -> bool:
        """The error of what a reduction has collected."""
        term, c = r.term, g.carried

        def varies(leaf: Expr) -> bool:
            return any(name_of(e) in inside for e in leaves((leaf,)))

        own = self.rounded(term)
        rest = MEAN * (not (r.kind == "mul" and is_power_of_two(term)))
        various = self.propagated(term, varies)
        shared = self.propagated(term, lambda leaf: not varies(leaf))
        shared = shared._replace(more=shared.more + self.floor(term))
        each = Error(MEAN * own.k + rest + various.k, various.more + MEAN * own.more)
        if r.kind in ("max", "min"):
            found = Error(own.k + various.k + shared.k, own.more + various.more + shared.more)
            if g.static:
                return g.raised(found)
            worst = ir.var(g.names[0])
            error = self.units(term, found)
            g.next = ir.where(ir.lt(worst, error), error, worst), ZERO
            return False
        known = each.static and shared.static
        if r.kind == "mul":
            if g.static and known and each.k + shared.k == 0:
                return g.raised(g.init)
            if g.static:
                g.static, g.names = False, []
                return True
            squares = (const(each.k) + over(each.more, self.size(term))) ** 2
            common = const(shared.k) + over(shared.more, self.size(term))
        else:
            alike = self.never(NEGATIVE, term) or self.never(POSITIVE, term)
            start = c.init is ZERO or (self.never(NEGATIVE, term) and self.never(NEGATIVE, c.init))
            if g.static:
                if known and alike and start and (g.apart or not self.together):
                    return g.raised(Error(max(each.k + shared.k + 1, g.init.k)))
                g.static, g.names = False, []
                return True
            factor = shared.static and self.is_factor(term, varies)
            squares = self.units(term, each) ** 2
            if self.partly_summed:
                squares = squares + self._partly(g, term)
            common = ZERO if factor else self.units(term, shared)
            if g.common != (shared.k if factor else 0):
                g.common = shared.k if factor else Fraction(0)
                return True
        g.next = ir.var(g.names[0]) + squares, common
        if not g.shared and (common is not ZERO or self.units(c.init, g.init) is not ZERO):
            g.shared = True
            return True
        return False

    def _partly(self, g: Carrying, term: Expr) -> Expr:
        """The square of what a partial sum is rounded by: of one of independent terms, added up by blocks, half of
        those terms have been added."""
        if g.count is None or not g.apart:
            return (MEAN * self.size(g.carried.next)) ** 2
        many = ir.raw(REAL_OF, (g.count,))
        many = ir.where(ir.lt(many, const(SUMMED)), many, const(SUMMED))
        return const(MEAN**2 / 2) * many * self.size(term) ** 2

    def _carried(self, g: Carrying, ends: list[Statement]) -> list[Carried]:
        """What a loop carries for the error of one of its values."""
        c = g.carried
        if g.static or g.joint is not None:
            return []
        if c.type.shape:
            end, made = self.stored(name_of(c.next), c.type, g.squared)
            ends += made
            return [Carried(g.names[0], c.type, g.start, end, g.names[1])]
        squares, common = g.next
        init = self.units(c.init, g.init)
        if g.sum is None or g.sum.kind in ("max", "min"):
            self.mark(init, squares)
            return [Carried(g.names[0], REAL, init, squares, g.names[1])]
        if g.sum.kind == "mul":
            init = over(init, self.size(c.init))
        self.mark(squares)
        squared = Carried(g.names[0], REAL, ZERO, squares, g.names[1])
        if not g.shared:
            return [squared]
        total = ir.var(g.names[2]) + common
        self.mark(init, total)
        return [squared, Carried(g.names[2], REAL, init, total, g.names[3])]

    def _after(self, g: Carrying) -> None:
        c = g.carried
        for n in (c.name, c.result):
            self.errors.pop(n, None)
        if g.static:
            if g.k:
                self.errors[c.result] = Error(g.k)
        elif c.type.shape:
            self.errors[c.result] = Error(Fraction(0), array(g.names[1]), g.squared)
        else:
            self.errors[c.result] = g.error(1, self)


__all__ = ["ProgramErrors"]
