"""Estimate the rounding errors of a program with arrays and loops, beside what it computes.

Before:  for i: s = s + x[i]*y[i]
After:   for i: s = s + x[i]*y[i]; q = q + (2*x[i]*y[i])**2
         check sqrt(q) <= 32*|s|

Requires: a program whose real expressions `loop_tiers` settles: then each has a few units of
error of its own, and those of what it loads (a unit is half of an ulp).
Ensures: the same outputs. A check "accuracy" fails unless each result is within `LIMIT` units;
so does it where a result is nan. Results whose errors are bounded statically have no check.

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

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import NamedTuple

from symdiff import ir
from symdiff.ir import CONST, DIV, FALSE, INF, MUL, NEG, ONE, POW, TRUE, VAR, ZERO, Expr, Op, const
from symdiff.ir.loop_program import (
    ARRAY,
    FLOORDIV,
    INDEX,
    LOAD,
    MOD,
    REAL,
    REAL_OF,
    Block,
    Build,
    Call,
    Carried,
    Check,
    Loop,
    Names,
    Restore,
    Save,
    Statement,
    Structured,
    Type,
    Update,
    array,
    defined,
    index,
    inner,
    kind_of,
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
from symdiff.lowering.target import ARRAY_CHAIN
from symdiff.passes.accuracy.bounds import FUNCTION_ERROR, Bounds
from symdiff.passes.accuracy.error_test import Doubt
from symdiff.passes.accuracy.residual import Bound
from symdiff.passes.analysis.band_extent import series_in_bands
from symdiff.passes.analysis.signs import Signs
from symdiff.passes.complete.complete import expand_completed
from symdiff.passes.stabilise import stabilise

LIMIT = 32
"""Units that a result may be off by: 16 ulp."""
SOLVED = Fraction(8)
"""Units of the results of linear solvers."""
RAISED = 2
"""How often an error of a loop is raised before it is computed beside."""
HALF_UNIT = Fraction(1, 2)
"""Of a rounding in a recurrence, whose roundings do not all have one sign."""
NEGATIVE, POSITIVE = 1, 4
TINY = {"float64": Fraction(1, 2**900), "float32": Fraction(1, 2**100)}
"""A smaller sum of squares may have underflowed."""


class Error(NamedTuple):
    """By how many units a value may be off: `k*|value| + more`; of an array, `more` is an array
    of them, or of their squares."""

    k: Fraction = Fraction(0)
    more: Expr = ZERO
    squared: bool = False

    @property
    def static(self) -> bool:
        return self.more is ZERO


EXACT = Error()


class Estimated(NamedTuple):
    """A program with checks, and the expressions that only they need."""

    program: Structured
    unwatched: frozenset[Expr]


def estimated(program: Structured, dtype: str = "float64") -> Estimated:
    """The program with a check for each result whose error is not known statically."""
    work = _Estimating(program, dtype)
    block = work.block(program.block)
    checks: list[Statement] = []
    for e in dict.fromkeys(program.outputs):
        checks += work.check(e)
    if not checks:
        return Estimated(program, frozenset())
    made = pruned((*block, *checks), program.outputs)
    return Estimated(replace(program, block=made), frozenset(work.unwatched))


class _Linear(Bounds):
    """Bounds of what becomes of the errors of leaves, with so much for each rounding."""

    def _own_error(self, e: Expr) -> int:
        return int(FUNCTION_ERROR * self.unit)


@dataclass(slots=True)
class _Estimating:
    """The errors of a program's names.

    Attributes
    ----------
    errors : of names that are not exact.
    tapes : of what is on a tape, and the tape of its errors.
    positive : numbers that are not negative.
    unwatched : what is not a value of the program.
    own : units that settled expressions have of their own.
    """

    program: Structured
    dtype: str
    names: Names = field(init=False)
    counts: set[Expr] = field(default_factory=set)
    errors: dict[str, Error] = field(default_factory=dict)
    tapes: dict[str, Error] = field(default_factory=dict)
    positive: set[str] = field(default_factory=set)
    unwatched: set[Expr] = field(default_factory=set)
    own: dict[Expr, Fraction] = field(default_factory=dict)
    forms: dict[Expr, tuple[Expr, dict[Expr, Expr]]] = field(default_factory=dict)
    kinds: dict[Expr, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        loops = [s for s in walk(self.program.block) if isinstance(s, Loop)]
        self.names = Names((*types(self.program), *(v.tape for s in loops for v in s.saves)))
        self.counts = {e for p in self.program.params for e in p.type.shape if e.op is INDEX}
        for s in walk(self.program.block):
            self.counts |= {index(n) for n, t in inner(s) if t.kind == "i"}

    # ------------------------------------------------------------------ expressions
    def error(self, e: Expr, *, step: bool = False) -> Error:
        """Of an expression: its own, and what comes of those of its leaves. Of a step of a
        recurrence all roundings count."""
        if kind_of(e, self.kinds) != "f":
            return EXACT
        if e.op is VAR:
            return self.errors.get(name_of(e), EXACT)
        if step:
            return self.propagated(e, lambda _: True, HALF_UNIT)
        found = self.propagated(e, lambda _: True)
        return Error(found.k + self.rounding(e), found.more)

    def written(self, e: Expr) -> tuple[Expr, dict[Expr, Expr]]:
        """An expression as it is computed over variables, and the leaves they stand for."""
        if e not in self.forms:
            found: dict[Expr, Expr] = {}
            seen: set[Expr] = set()
            stack = [e]
            while stack:
                n = stack.pop()
                if n in seen:
                    continue
                seen.add(n)
                if n.op in (LOAD, INDEX, FLOORDIV, MOD, REAL_OF):
                    found[n] = ir.var(f"leaf {len(found)}")
                else:
                    stack.extend(reversed(n.args))
            form = stabilise(expand_completed(ir.substitute((e,), found)))[0]
            self.forms[e] = form, {v: n for n, v in found.items()}
        return self.forms[e]

    def signs(self, over: Mapping[Expr, Expr]) -> Signs:
        whole = [v for v, n in over.items() if n in self.counts]
        facts = [ir.le(ZERO, v) for v in (*whole, *map(ir.var, sorted(self.positive)))]
        return Signs(facts)

    def rounding(self, e: Expr) -> Fraction:
        """Units of its own that an expression has once it is settled."""
        if not e.args or e.op is LOAD:
            return Fraction(0)
        if e not in self.own:
            form, over = self.written(e)
            work = Doubt(
                self.dtype, self.signs(over), fuses=True, lean=True, chain=ARRAY_CHAIN,
                series=series_in_bands((form,)),
            )  # fmt: skip
            bound = work.of(form)
            self.own[e] = bound.k if bound.static else work.allowed(form)
        return self.own[e]

    def propagated(
        self, e: Expr, counts: Callable[[Expr], bool], unit: Fraction = Fraction(0)
    ) -> Error:
        """What becomes of the errors of the leaves that count."""
        form, over = self.written(e)
        work = _Linear(
            self.dtype, self.signs(over), lean=True, chain=ARRAY_CHAIN, unit=unit,
            series=series_in_bands((form,)),
        )  # fmt: skip
        for v in ir.variables((form,)):
            leaf = over.get(v, v)
            work.bounds[v] = self.of_leaf(leaf) if counts(leaf) else Bound()
            work.inherent[v] = Fraction(0)
        bound = work.of(form)
        more = bound.more
        if bound.relative is not ZERO:
            more = more + ir.abs_(form) * bound.relative
        if work.unsafe is not FALSE:
            more = ir.where(work.unsafe, INF, more)
        return Error(bound.k, ir.substitute((more,), over)[0])

    def of_leaf(self, leaf: Expr) -> Bound:
        """The bound of a number by its name, or of an element of an array."""
        if leaf.op is VAR:
            found = self.errors.get(name_of(leaf), EXACT)
            return Bound(found.k, found.more)
        if leaf.op is LOAD:
            found = self.errors.get(name_of(leaf.args[0]), EXACT)
            return Bound(found.k, _element(found, leaf.args[1:]))
        return Bound()

    def units(self, e: Expr, found: Error) -> Expr:
        """An error as an expression."""
        if found.k == 0:
            return found.more
        return const(found.k) * self.size(e) + found.more

    def size(self, e: Expr) -> Expr:
        return e if e.op is VAR and name_of(e) in self.positive else ir.abs_(e)

    def mark(self, *found: Expr) -> None:
        self.unwatched.update(e for e in found if e.args and e.op is not LOAD)

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
                    made += self.call(s)
                case Check():
                    made.append(s)
        return tuple(made)

    def build(self, s: Build) -> list[Statement]:
        if s.type.kind != "f":
            return [s]
        body = self.block(s.body)
        found = self.error(s.value)
        if any(isinstance(b, Call) and b.routine not in TURNED for b in walk(s.body)):
            found = Error(SOLVED)  # it would be called twice
        if found.static:
            if found.k:
                self.errors[s.name] = found
            return [s]
        name = self.names.fresh(f"{s.name}_error")
        value = self.units(s.value, found)
        self.mark(value)
        made = Build(name, s.type, s.indices, value, pruned(_unchecked(body), (value,)))
        made = self.copied(made)
        self.errors[s.name] = Error(Fraction(0), array(name))
        return [s, made]

    def copied(self, s: Build) -> Build:
        """A build with names of its own inside."""
        (new,), _ = renamed((s,), self.names, exactly=True)
        assert isinstance(new, Build)
        old, fresh = list(walk(s.body)), list(walk(new.body))
        for a, b in zip((s, *old), (new, *fresh), strict=True):
            for x, y in zip(_values(a), _values(b), strict=True):
                if x in self.unwatched:
                    self.mark(y)
        return replace(new, name=s.name)

    def stored(self, name: str, t: Type, squared: bool) -> tuple[Expr, list[Statement]]:
        """The array of the errors of an array, and what makes it."""
        found = self.errors.get(name, EXACT)
        if found.more is not ZERO and found.k == 0 and found.squared == squared:
            return found.more, []
        indices = tuple(self.names.fresh("i") for _ in t.shape)
        places = [index(i) for i in indices]
        value = self.units(
            load(array(name), *places), Error(found.k, _element(found, places))
        )  # fmt: skip
        value = value**2 if squared else value
        self.mark(value)
        made = self.names.fresh(f"{name}_error")
        return array(made), [Build(made, t, indices, value)]

    def update(self, s: Update) -> list[Statement]:
        if s.type.kind != "f":
            return [s]
        source, found = self.errors.get(s.source, EXACT), self.error(s.value)
        unsure = self.propagated(s.guard, lambda _: True).more if s.guard is not TRUE else ZERO
        found = found._replace(more=found.more + unsure)
        if source.static and found.static and not s.add:
            if k := max(source.k, found.k):
                self.errors[s.name] = Error(k)
            return [s]
        squared = s.add or source.squared
        before, made = self.stored(s.source, s.type, squared)
        value = self.units(s.value, found)
        if squared:
            value = value**2
        if s.add:
            rounded = load(array(s.source), *s.index) + s.value
            value = value + (ir.HALF * rounded) ** 2
        name = self.names.fresh(f"{s.name}_error")
        self.mark(value)
        self.errors[s.name] = Error(Fraction(0), array(name), squared)
        return [s, *made, Update(name, name_of(before), s.type, s.index, value, s.guard, s.add)]

    def call(self, s: Call) -> list[Statement]:
        """Squares of the errors of a product of matrices; of other routines a few units."""
        if s.routine not in TURNED:
            for name, t in s.results:
                if t.kind == "f":
                    self.errors[name] = Error(SOLVED)
            return [s]
        known = types(replace(self.program, block=(*self.program.block,)))
        made: list[Statement] = []
        errors = [self.errors.get(name_of(a), EXACT) for a in s.args]
        own = sum((e.k for e in errors), Fraction(1))

        def squares(k: Fraction, e: Error, a: Expr) -> Expr:
            t = known[name_of(a)]
            indices = tuple(self.names.fresh("i") for _ in t.shape)
            places = [index(i) for i in indices]
            value = const(k * k) * load(a, *places) ** 2
            if e.more is not ZERO:
                x = load(e.more, *places)
                value = value + (x if e.squared else x**2)
            self.mark(value)
            name = self.names.fresh("squares")
            made.append(Build(name, t, indices, value))
            return array(name)

        (a, b), (x, y) = s.args, errors
        products = [(squares(Fraction(1), EXACT, a), squares(own, y._replace(k=ZERO), b))]
        if x.more is not ZERO:
            products.append((squares(Fraction(0), x, a), squares(Fraction(1), EXACT, b)))
        ((result, t),) = s.results
        parts = []
        for p in products:
            parts.append(self.names.fresh(f"{result}_error"))
            made.append(Call(s.routine, ((parts[-1], t),), p))
        if not t.shape:
            total = sum((ir.var(n) for n in parts), ZERO)
            self.errors[result] = Error(Fraction(0), total**ir.HALF)
            return [s, *made]
        total_name = parts[0]
        if len(parts) > 1:
            indices = tuple(self.names.fresh("i") for _ in t.shape)
            value = sum((load(array(n), *map(index, indices)) for n in parts), ZERO)
            self.mark(value)
            total_name = self.names.fresh(f"{result}_error")
            made.append(Build(total_name, t, indices, value))
        self.errors[result] = Error(Fraction(0), array(total_name), True)
        return [s, *made]

    # ------------------------------------------------------------------------- loops
    def loop(self, s: Loop) -> list[Statement]:
        """A loop with the errors of what it carries: constants where that holds from one
        iteration to the next, else carried along."""
        guesses: dict[str, _Carrying] = {}
        before: list[Statement] = []
        for c in s.carried:
            if c.type.kind == "f":
                init = (
                    self.errors.get(name_of(c.init), EXACT) if c.type.shape else self.error(c.init)
                )
                sum_ = reduction(c) if c.type == REAL else None
                guesses[c.name] = _Carrying(c, init, sum_, init.static, init.k)
        for c in s.carried:
            sum_ = guesses[c.name].sum if c.name in guesses else None
            if sum_ is not None and sum_.kind == "add" and self._never(NEGATIVE, c.init):
                if self._never(NEGATIVE, sum_.term):
                    self.positive |= {c.name, c.result}
        restores = self._restored(s)
        inside = {n for b in (s, *walk(s.body)) for n, _ in (*inner(b), *defined(b))}
        known, tapes = dict(self.errors), dict(self.tapes)
        while True:
            self.errors, self.tapes = dict(known), dict(tapes)
            extra: list[Carried] = []
            for g in guesses.values():
                self._begin(g, before)
            body = self.block(s.body)
            again = False
            for g in guesses.values():
                again = self._advance(g, inside, body) or again
            if again:
                continue
            saves = self._saved(s)
            ends: list[Statement] = []
            for g in guesses.values():
                extra += self._carried(g, ends)
            made = replace(
                s, body=(*body, *ends), carried=(*s.carried, *extra), saves=(*s.saves, *saves),
                restores=(*s.restores, *restores),
            )  # fmt: skip
            for g in guesses.values():
                self._after(g)
            return [*before, made]

    def _never(self, sign: int, e: Expr) -> bool:
        form, over = self.written(e)
        return not self.signs(over).of(form) & sign

    def _restored(self, s: Loop) -> list[Restore]:
        made = []
        for r in s.restores:
            found = self.tapes.get(r.tape, EXACT)
            if found.more is not ZERO:
                name = self.names.fresh(f"{r.name}_error")
                made.append(Restore(name_of(found.more), r.type, name))
                more = array(name) if r.type.shape else ir.var(name)
                self.errors[r.name] = Error(found.k, more, found.squared)
            elif found.k:
                self.errors[r.name] = found
        return made

    def _saved(self, s: Loop) -> list[Save]:
        made = []
        for v in s.saves:
            if v.type.kind != "f":
                continue
            if v.type.shape:
                found = self.errors.get(name_of(v.value), EXACT)
            else:
                found = self.error(v.value)
            if found.more is not ZERO:
                tape = self.names.fresh(f"{v.tape}_error")
                value = found.more
                self.mark(value)
                made.append(Save(tape, v.type, value))
                self.tapes[v.tape] = Error(found.k, ir.var(tape), found.squared)
            elif found.k:
                self.tapes[v.tape] = found
        return made

    def _begin(self, g: _Carrying, before: list[Statement]) -> None:
        """The error of a carried value at the start of an iteration."""
        c = g.carried
        if g.static:
            if g.k:
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

    def _advance(self, g: _Carrying, inside: set[str], body: Block) -> bool:
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

    def _collected(self, g: _Carrying, r: Reduction, inside: set[str]) -> bool:
        """The error of what a reduction has collected."""
        term, c = r.term, g.carried

        def varies(leaf: Expr) -> bool:
            return any(name_of(e) in inside for e in leaves((leaf,)))

        own = self.rounding(term) + 1
        various = self.propagated(term, varies)
        shared = self.propagated(term, lambda leaf: not varies(leaf))
        each = Error(own + various.k, various.more)
        if r.kind in ("max", "min"):
            found = Error(each.k - 1 + shared.k, each.more + shared.more)
            if g.static:
                return g.raised(found)
            worst = ir.var(g.names[0])
            error = self.units(term, found)
            g.next = ir.where(ir.lt(worst, error), error, worst), ZERO
            return False
        known = each.static and shared.static
        if r.kind == "mul":
            if g.static:
                g.static, g.names = False, []
                return True
            squares = (const(each.k) + _over(each.more, self.size(term))) ** 2
            common = const(shared.k) + _over(shared.more, self.size(term))
        else:
            alike = self._never(NEGATIVE, term) or self._never(POSITIVE, term)
            start = c.init is ZERO or (
                self._never(NEGATIVE, term) and self._never(NEGATIVE, c.init)
            )
            if g.static:
                if known and alike and start:
                    return g.raised(Error(max(each.k + shared.k + 1, g.init.k)))
                g.static, g.names = False, []
                return True
            factor = shared.static and self._is_factor(term, varies)
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

    def _is_factor(self, e: Expr, varies: Callable[[Expr], bool]) -> bool:
        """Whether the leaves that do not vary, and are inexact, are factors of a term."""
        form, over = self.written(e)
        stack = [form]
        while stack:
            n = stack.pop()
            if n.op in (MUL, DIV, NEG) or (n.op is POW and n.args[1].op is CONST):
                stack += n.args
                continue
            found = [over.get(v, v) for v in ir.variables((n,))]
            fixed = [x for x in found if not varies(x) and not self.of_leaf(x).exact]
            if fixed and any(varies(x) for x in found):
                return False
        return True

    def _carried(self, g: _Carrying, ends: list[Statement]) -> list[Carried]:
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
            init = _over(init, self.size(c.init))
        self.mark(squares)
        made_ = [Carried(g.names[0], REAL, ZERO, squares, g.names[1])]
        if g.shared:
            total = ir.var(g.names[2]) + common
            self.mark(init, total)
            made_.append(Carried(g.names[2], REAL, init, total, g.names[3]))
        return made_

    def _after(self, g: _Carrying) -> None:
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
            found = self.error(e)
            if found.static and found.k <= LIMIT:
                return []
            fine = ir.le(self.units(e, found), const(LIMIT) * self.size(e))
            return [self._check(fine)]
        t = types(self.program)[name_of(e)]
        found = self.errors.get(name_of(e), EXACT)
        if t.kind != "f" or (found.static and found.k <= LIMIT):
            return []
        places = [self.names.fresh("i") for _ in t.shape]
        at = [index(i) for i in places]
        size = ir.abs_(load(e, *at))
        off = _element(found, at) - const(LIMIT - found.k) * size
        worst: Expr = ZERO
        block: Block = ()
        value = ir.where(ir.le(off, ZERO), ZERO, ONE)
        for place, count in zip(reversed(places), reversed(t.shape), strict=True):
            name, result = self.names.fresh("wrong"), self.names.fresh("wrong")
            total = ir.var(name) + (value if worst is ZERO else worst)
            self.mark(total)
            carried = Carried(name, REAL, ZERO, total, result)
            block = (Loop(place, count, (carried,), block, self.names.fresh("trips")),)
            worst = ir.var(result)
        return [*block, self._check(ir.le(worst, ZERO))]

    def _check(self, fine: Expr) -> Check:
        self.mark(fine)
        return Check(fine, "accuracy", f"{self.program.name}: a result lost digits")


@dataclass(slots=True)
class _Carrying:
    """What is assumed of the error of a carried value, and found out.

    Attributes
    ----------
    init : its error before the loop.
    sum : what it collects, if that is all it does.
    static : whether `k` units are assumed.
    raises : how often that was raised.
    names : of what is carried for the error, and of its results.
    common : units that all terms share, relative to the sum.
    shared : whether there is a part that all terms share, absolute.
    """

    carried: Carried
    init: Error
    sum: Reduction | None
    static: bool
    k: Fraction
    raises: int = 0
    squared: bool = False
    names: list[str] = field(default_factory=list)
    start: Expr = ZERO
    next: tuple[Expr, Expr] = (ZERO, ZERO)
    common: Fraction = Fraction(0)
    shared: bool = False

    def raised(self, found: Error) -> bool:
        """Take an error of the next value into account; whether it is more than assumed."""
        if found.static and found.k <= self.k:
            return False
        self.raises += 1
        if found.static and self.raises <= RAISED:
            self.k = found.k
        else:
            self.static, self.names = False, []
        return True

    def error(self, which: int, work: _Estimating) -> Error:
        """Of the value at the start of an iteration (0), or after the last (1)."""
        value = ir.var(self.carried.name if which == 0 else self.carried.result)
        first = ir.var(self.names[which])
        if self.sum is None or self.sum.kind in ("max", "min"):
            return Error(Fraction(0), first)
        root = first**ir.HALF
        if self.sum.kind == "add":
            root = ir.where(
                ir.or_(ir.lt(const(TINY[work.dtype]), first), ir.eq(value, ZERO)), root, INF
            )  # fmt: skip
        total = root + ir.var(self.names[2 + which]) if self.shared else root
        if self.sum.kind == "mul":
            total = total * work.size(value)
        return Error(self.common, total)


def _element(e: Error, places: Iterable[Expr]) -> Expr:
    """The error of an element of an array."""
    if e.more is ZERO:
        return ZERO
    found = load(e.more, *places)
    return found**ir.HALF if e.squared else found


def _over(a: Expr, b: Expr) -> Expr:
    return ZERO if a is ZERO else a / b


def _unchecked(block: Block) -> Block:
    """A block without its checks."""
    return tuple(
        replace(s, body=_unchecked(s.body)) if isinstance(s, (Build, Loop)) else s
        for s in block if not isinstance(s, Check)
    )  # fmt: skip


def _values(s: Statement) -> Sequence[Expr]:
    """What may be marked of a statement."""
    match s:
        case Build():
            return (s.value,)
        case Update():
            return (s.value,)
        case Loop():
            ends = (e for c in s.carried for e in (c.init, c.next))
            return (*ends, *(v.value for v in s.saves))
        case Check():
            return (s.condition,)
    return ()


__all__ = ["Estimated", "estimated"]
