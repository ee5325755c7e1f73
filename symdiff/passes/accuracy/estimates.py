"""Estimate the rounding errors of a program with arrays and loops, beside what it computes.

Before:  for i: s = s + x[i]*y[i]
After:   for i: s = s + x[i]*y[i]; q = q + (2*x[i]*y[i])**2
         check sqrt(q) <= 64*|s|

Requires: a program. Of its real expressions `loop_tiers` tests the elements of results that are
functions of what is given, and with "strict" all: those have a few units of error of their own,
and those of what they load (a unit is half of an ulp). Of the others the roundings are bounded here.
Ensures: the same outputs. A check "accuracy" fails unless each number is within `LIMIT` units, and
each array within as many of its largest element, and each of its n elements within `SMALL*n` units
and half of its own digits; with "strict" each element is within `LIMIT` units. So does it where a
result is nan. Results whose errors are bounded statically have no check. With tests for underflow,
what that costs on the way counts as well, so that sums of squares of small numbers are no
denominators in silence; and where something overflowed, errors are not finite, which no check passes.

An `Error` says of a name that its value is off by at most `k*|value| + more` units. Errors of
the terms of a sum that come of their own roundings, or of different elements of arrays, are
taken as independent of each other: their squares add up. An error that all terms share, as
that of a mean, adds up as it stands. Of recurrences all errors add up. Roundings of the
partial sums of a reduction count as one of each term, since its lanes keep them short; those
of sums in memory count as they are. Results of linear solvers count as a few units.

First-order running error analysis: Higham, Accuracy and Stability of Numerical Algorithms
(2002), section 3.3; independent roundings: Higham and Mary, SIAM J. Sci. Comput. 41 (2019).
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

from symdiff import ir
from symdiff.ir import INF, ONE, TRUE, VAR, ZERO, Expr, const, raw
from symdiff.ir.blocks import unchecked
from symdiff.ir.loop_program import (
    ARRAY,
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
from symdiff.lowering.loops.collected import Reduction, reduction
from symdiff.lowering.loops.matmul import TURNED
from symdiff.passes.accuracy.bounds import is_power_of_two
from symdiff.passes.accuracy.carried_errors import Carrying
from symdiff.passes.accuracy.estimated_statements import (
    added_to,
    adds_once,
    last_arrays,
    may_be_nan,
    over_elements,
    values_of,
)
from symdiff.passes.accuracy.matrix_errors import SOLVED, after_call
from symdiff.passes.accuracy.propagation import (
    EXACT,
    FLOOR,
    NEGATIVE,
    POSITIVE,
    Error,
    Propagation,
    element,
    larger,
    over,
    while_finite,
)

LIMIT, HALF = 32, 2**27
"""Units that a result may be off by, and at most a single element of an array that is not the
largest, half of its digits: 32 units are 16 ulp at least."""
SMALL = 256
"""Of an array of n elements, the smallest is a part in n of the largest, as things go: it may be off by
so many times n units."""
MEAN = Fraction(1, 2)
"""Of the bound of a rounding, as it counts among many that are independent."""
SUBNORMAL = 2**16
"""Where errors of underflow count, numbers may be off by as many times what one costs."""


class Estimated(NamedTuple):
    """A program with checks, the expressions that only they need, and those whose own
    roundings they count, so that these need no error tests; and whether the errors of all results
    are bounded statically."""

    program: LoopProgram
    unwatched: frozenset[Expr]
    untested: frozenset[Expr]
    bounded: bool = True


def estimated(
    program: LoopProgram, dtype: str = "float64", strict: bool = False, tests: bool = False,
    by_rows: bool = False, norm: bool = False, known: dict[Any, Any] | None = None,
) -> Estimated:  # fmt: skip
    """The program with a check for each result whose error is not known statically.

    Parameters
    ----------
    tests : whether what underflow and overflow cost counts.
    by_rows : whether all values keep their error tests, as they do with `strict`.
    norm : whether an array is checked by its largest element alone.
    known : see `Propagation`.
    """
    work = Estimating(program, dtype, strict, tests, by_rows, norm, known)
    block = work.block(program.block)
    checks = [c for e in dict.fromkeys(program.outputs) for c in work.check(e)]
    if not checks:
        return Estimated(program, frozenset(), frozenset())
    made = pruned((*work.first, *block, *checks), program.outputs)
    return Estimated(
        replace(program, block=made), frozenset(work.unwatched), frozenset(work.untested),
        work.bounded,
    )  # fmt: skip


class Estimating(Propagation):
    """The errors of a program's names.

    Attributes
    ----------
    tapes : errors of what is on a tape, and the tape of them.
    first, sums : see `matrix_errors.Named`.
    zeros : arrays whose elements are zero where something is added to them.
    rising : units of running maxima and minima, and of tapes of them.
    bounded : whether the errors of the results that were checked are bounded statically.
    collecting : arrays that a loop carries, and the names inside of it.
    """

    def __init__(
        self, program: LoopProgram, dtype: str, strict: bool, tests: bool, by_rows: bool, norm: bool,
        known: dict[Any, Any] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(dtype, underflows=tests, known={} if known is None else known)
        self.program, self.strict, self.tests = program, strict, strict or by_rows
        self.last = last_arrays(program)
        self.tapes: dict[str, Error] = {}
        self.first: list[Statement] = []
        self.sums: dict[tuple[str, int], Expr] = {}
        self.zeros: set[str] = set()
        self.rising: dict[str, Fraction] = {}
        self.bounded, self.norm = True, norm
        self.collecting: dict[str, set[str]] = {}
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
        before, term = found
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
        rounded = ir.where(ir.eq(term, ZERO), ZERO, (ir.HALF * s.value) ** 2)
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
                guesses[c.name] = Carrying(c, init, sum_, init.static, init.k)
        numbers = [c for c in s.carried if c.type == REAL]
        signed = {c.name for c in numbers if not self.never(NEGATIVE, c.init)}
        for c in s.carried:
            if c.type.shape and name_of(c.init) in self.zeros and adds_once(s, c.name):
                self.zeros.add(c.name)
        restores = self._restored(s)
        inside = {n for b in (s, *walk(s.body)) for n, _ in (*inner(b), *defined(b))}
        self.collecting |= {c.name: inside for c in s.carried if c.type.shape}
        known, tapes = dict(self.errors), dict(self.tapes)
        while True:
            self.errors, self.tapes = dict(known), dict(tapes)
            self.positive -= {n for c in numbers for n in (c.name, c.result)}
            self.positive |= {c.name for c in numbers if c.name not in signed}
            extra: list[Carried] = []
            for g in guesses.values():
                self._begin(g, before)
            body = self.block(s.body)
            wrong = {c.name for c in numbers if not self.never(NEGATIVE, c.next)} - signed
            signed |= wrong
            again = bool(wrong)
            for g in guesses.values():
                again = self._advance(g, inside, body) or again
            if again:
                continue
            ends: list[Statement] = []
            saves = self._saved(s, ends)
            for g in guesses.values():
                extra += self._carried(g, ends)
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
            elif found != EXACT:
                rising = r.tape in self.rising
                self.errors[r.name] = while_finite(r.name, found.k) if rising else found
        return made

    def _saved(self, s: Loop, ends: list[Statement]) -> list[Save]:
        made = []
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
            elif found != EXACT:
                self.tapes[v.tape] = found
        return made

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
        if not g.names:
            stems = ("squares", "squares", "shared", "shared")
            g.names = [self.names.fresh(f"{c.name}_{stem}") for stem in stems]
        self.errors[c.name] = g.error(0, self)

    def _advance(self, g: Carrying, inside: set[str], body: Block) -> bool:
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
        if g.sum is None:
            found = self.error(c.next, step=True)
            if g.static:
                return g.raised(found)
            g.next = self.units(c.next, found), ZERO
            return False
        return self._collected(g, g.sum, inside)

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
                if known and alike and start:
                    return g.raised(Error(max(each.k + shared.k + 1, g.init.k)))
                g.static, g.names = False, []
                return True
            factor = shared.static and self.is_factor(term, varies)
            squares = self.units(term, each) ** 2
            common = ZERO if factor else self.units(term, shared)
            if g.common != (shared.k if factor else 0):
                g.common = shared.k if factor else Fraction(0)
                return True
        g.next = ir.var(g.names[0]) + squares, common
        if not g.shared and (common is not ZERO or self.units(c.init, g.init) is not ZERO):
            g.shared = True
            return True
        return False

    def _carried(self, g: Carrying, ends: list[Statement]) -> list[Carried]:
        """What a loop carries for the error of one of its values."""
        c = g.carried
        if g.static:
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

    # ------------------------------------------------------------------------ results
    def check(self, e: Expr) -> list[Statement]:
        """What fails unless a result is within the limit."""
        if e.op is not ARRAY:
            self.keep(e)
            found = self.error(e)
            if found.flat and found.k <= LIMIT:
                number = ir.or_(ir.lt(e, ZERO), ir.le(ZERO, e))
                return [self._check(number)] if may_be_nan(self.program, e) else []
            self.bounded = False
            fine = self._fine(self.units(e, found), const(LIMIT), self.size(e))
            return [self._check(fine)]
        t = types(self.program)[name_of(e)]
        found = self.errors.get(name_of(e), EXACT)
        static = found.flat and found.k <= LIMIT
        if t.kind != "f" or (static and not may_be_nan(self.program, e)):
            return []
        self.bounded = self.bounded and static
        places = [self.names.fresh("i") for _ in t.shape]
        at = [index(i) for i in places]
        size = ir.abs_(load(e, *at))
        off = const(found.k) * size + element(found, at)
        each: Expr = const(LIMIT if self.strict else SMALL)
        if not self.strict:
            for n in t.shape:
                each = each * raw(REAL_OF, (n,))
            each = ir.where(ir.lt(each, const(HALF)), each, const(HALF))
        one = ir.where(ir.le(ZERO, size) if self.norm else self._fine(off, each, size), ZERO, ONE)
        each_ = over_elements(
            self.names, places, t, (one, size, off), (False, True, True), self.mark
        )
        (wrong, largest, most), block = each_
        fine = ir.le(wrong, ZERO)
        if not self.strict:
            fine = ir.and_(fine, self._fine(most, const(LIMIT), largest))
        return [*block, self._check(fine)]

    def _fine(self, off: Expr, limit: Expr, size: Expr) -> Expr:
        """Whether an error is within so many units of what has this size."""
        if not self.underflows:
            return ir.le(off, limit * size)
        tiny = ir.le(off, const(SUBNORMAL * FLOOR[self.dtype]))
        return ir.and_(ir.or_(ir.le(off, limit * size), tiny), ir.lt(off, INF))

    def _check(self, fine: Expr) -> Check:
        self.mark(fine)
        return Check(fine, "accuracy", f"{self.program.name}: a result lost digits")


__all__ = ["Estimated", "Estimating", "estimated"]
