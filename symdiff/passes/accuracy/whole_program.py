"""A program with arrays and loops in double-double arithmetic, with bounds of its errors.

Before:  for i: s = s + x[i]*y[i]
After:   for i: s, s_low = (s, s_low) + x[i]*y[i]; s_error = s_error + 4*|s|
         wrong = 1 if s_error*2**-105 > 2**-50*|s| else 0

Requires: a program in closed forms, whose functions have rules (`widen.has_rules`).
Ensures: the same outputs, and one more: how many real numbers among them are not known to be
within 2**-50 of themselves. Every real name stands for the high part of a pair, beside which are the low part and
the bound of `passes.accuracy.widen`; what is given is exact. Adjoints and tapes too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from symdiff import ir
from symdiff.errors import UnsupportedError
from symdiff.ir import FALSE, INF, ONE, VAR, ZERO, Expr, const, raw
from symdiff.ir.functions import MAXIMUM, MINIMUM
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
    exchanged,
    index,
    kind_of,
    load,
    name_of,
    types,
    walk,
)
from symdiff.ir.prune import pruned
from symdiff.lowering.double_double.arithmetic import Pair
from symdiff.lowering.double_double.functions import UNIT
from symdiff.lowering.loops.collected import reduction
from symdiff.passes.accuracy.widen import Choice, Wide, add, has_rules, widen_over
from symdiff.passes.stabilise import stabilise

ACCEPTED = Fraction(1, 2**50)
"""Relative error of a result that is accepted."""


def widened(program: Structured) -> Structured:
    """The program in double-double arithmetic.

    Raises
    ------
    UnsupportedError : if it calls a routine, or a function without a rule.
    """
    work = _Widening(program)
    block = list(work.block(_with_loops(program, work.names)))
    outputs, checks, wrong = list[Expr](), list[Statement](), list[Expr]()
    for e in program.outputs:
        outputs.append(work.output(e, checks, wrong))
    total: Expr = ZERO
    for n in wrong:
        total = n if total is ZERO else raw(ir.ADD, (total, n))
    outputs.append(raw(REAL_OF, (total,)) if total is ZERO else total)
    return replace(program, block=pruned((*block, *checks), outputs), outputs=tuple(outputs))


def _with_loops(program: Structured, names: Names) -> Block:
    """The statements with products of matrices as sums."""
    known = types(program)

    def one(s: Statement) -> Statement:
        if isinstance(s, (Build, Loop)):
            return replace(s, body=tuple(map(one, s.body)))
        if not isinstance(s, Call):
            return s
        if s.routine != "matmul" or not s.results[0][1].shape:
            raise UnsupportedError(f"{s.routine} has no double-double version")
        ((name, t),), (a, b) = s.results, s.args
        places = [names.fresh("i") for _ in t.shape]
        at = list(map(index, places))
        k, total, result = names.fresh("k"), names.fresh("total"), names.fresh("total")
        left = load(a, *([at[0]] if len(known[name_of(a)].shape) == 2 else []), index(k))
        right = load(b, index(k), *([at[-1]] if len(known[name_of(b)].shape) == 2 else []))
        count = known[name_of(b)].shape[0]
        carried = Carried(total, REAL, ZERO, ir.var(total) + left * right, result)
        body = (Loop(k, count, (carried,), (), names.fresh("trips")),)
        return Build(name, t, tuple(places), ir.var(result), body)

    return tuple(map(one, program.block))


@dataclass(slots=True)
class _Widening:
    """What becomes of the names of a program.

    Attributes
    ----------
    low, error : names of the low parts and the errors by those of the high parts; what has
        none is exact.
    tapes : the same of tapes.
    """

    program: Structured
    names: Names = field(init=False)
    low: dict[str, str] = field(default_factory=dict)
    error: dict[str, str] = field(default_factory=dict)
    tapes: dict[str, tuple[str, str]] = field(default_factory=dict)
    kinds: dict[Expr, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        loops = [s for s in walk(self.program.block) if isinstance(s, Loop)]
        self.names = Names((*types(self.program), *(v.tape for s in loops for v in s.saves)))

    # ------------------------------------------------------------------ expressions
    def wide(self, *outputs: Expr) -> list[Wide | Choice]:
        """What real expressions and conditions become."""
        found: dict[Expr, Expr] = {}
        leaves: dict[Expr, Wide] = {}
        stack = list(outputs)
        seen: set[Expr] = set()
        while stack:
            n = stack.pop()
            if n in seen:
                continue
            seen.add(n)
            if n.op in (LOAD, INDEX, FLOORDIV, MOD, REAL_OF):
                found[n] = ir.var(f"leaf {len(found)}")
                leaves[found[n]] = self.leaf(n)
            elif n.op is VAR:
                leaves[n] = self.leaf(n)
            else:
                stack.extend(reversed(n.args))
        forms = stabilise(ir.substitute(outputs, found))
        if not has_rules(forms):
            raise UnsupportedError("a function has no double-double version")
        return widen_over(forms, leaves)

    def real(self, *outputs: Expr) -> list[Wide]:
        made = []
        for e, w in zip(outputs, self.wide(*outputs), strict=True):
            if isinstance(w, Choice):
                one = ir.where(w.holds, ONE, ZERO)
                w = Wide(Pair(one, ZERO), ir.where(w.unsure, INF, ZERO))
            assert e is not None
            made.append(w)
        return made

    def leaf(self, n: Expr) -> Wide:
        """A number by its name, an element, or an integer."""
        if n.op is VAR:
            name = name_of(n)
            if name not in self.low:
                return Wide(Pair(n, ZERO), ZERO, ir.not_(raw(ir.EQ, (n, n))))
            return Wide(Pair(n, ir.var(self.low[name])), ir.var(self.error[name]))
        if kind_of(n, self.kinds) == "i" or n.op is REAL_OF:
            return Wide(Pair(n if n.op is REAL_OF else raw(REAL_OF, (self.whole(n),)), ZERO), ZERO)
        name, places = name_of(n.args[0]), tuple(map(self.whole, n.args[1:]))
        here = load(n.args[0], *places)
        if name not in self.low:
            return Wide(Pair(here, ZERO), ZERO, ir.not_(raw(ir.EQ, (here, here))))
        return Wide(
            Pair(here, load(array(self.low[name]), *places)),
            load(array(self.error[name]), *places),
        )

    def whole(self, e: Expr) -> Expr:
        """An expression of integers, with decisions on real values as they are made."""
        return self.decided(e)[0]

    def decided(self, e: Expr) -> tuple[Expr, Expr]:
        """An integer or a condition, and where rounding may have decided it."""
        unsure: Expr = FALSE
        tops: list[Expr] = []
        stack, seen = [e], set[Expr]()
        while stack:
            n = stack.pop()
            if n in seen or not n.args or n.op is LOAD:
                continue
            seen.add(n)
            if n.op in ir.COMPARISONS and any(kind_of(a, self.kinds) == "f" for a in n.args):
                tops.append(n)
            else:
                stack.extend(n.args)
        if not tops:
            return e, FALSE
        new: dict[Expr, Expr] = {}
        for n, w in zip(tops, self.wide(*tops), strict=True):
            assert isinstance(w, Choice)
            new[n] = w.holds
            unsure = ir.or_(unsure, w.unsure)
        return exchanged((e,), new)[0], unsure

    def parts(self, e: Expr, t: Type) -> Wide:
        """The names of an array, or a number."""
        if not t.shape:
            return self.real(e)[0]
        name = name_of(e)
        return Wide(Pair(e, array(self.low[name])), array(self.error[name]))

    def named(self, name: str) -> tuple[str, str]:
        """New names beside a name."""
        self.low[name] = self.names.fresh(f"{name}_low")
        self.error[name] = self.names.fresh(f"{name}_error")
        return self.low[name], self.error[name]

    # ------------------------------------------------------------------- statements
    def block(self, block: Block) -> Block:
        made: list[Statement] = []
        for s in block:
            match s:
                case Build():
                    made += self.build(s)
                case Update():
                    made += self.update(s)
                case Loop():
                    made += self.loop(s)
                case Check():
                    made.append(replace(s, condition=self.whole(s.condition)))
                case Call():
                    raise UnsupportedError(f"{s.routine} has no double-double version")
        return tuple(made)

    def filled(self, name: str, t: Type, value: Expr) -> Build:
        return Build(name, t, tuple(self.names.fresh("i") for _ in t.shape), value)

    def inexact(self, name: str, t: Type) -> list[Statement]:
        """Low parts and errors of an array that is exact."""
        if name in self.low:
            return []
        return [self.filled(n, t, ZERO) for n in self.named(name)]

    def build(self, s: Build) -> list[Statement]:
        if s.type.kind != "f":
            return [replace(s, body=self.block(s.body), value=self.whole(s.value))]
        if s.body:
            return self.nest(s)
        (w,) = self.real(s.value)
        made: list[Statement] = [replace(s, value=w.hi)]
        if w.error is ZERO and w.pair.lo is ZERO:
            return made
        for name, value in zip(self.named(s.name), (w.pair.lo, w.error), strict=True):
            places = {index(i): index(self.names.fresh(i)) for i in s.indices}
            (value,) = exchanged((value,), places)
            made.append(replace(
                s, name=name, indices=tuple(map(name_of, places.values())), value=value
            ))  # fmt: skip
        return made

    def nest(self, s: Build) -> list[Statement]:
        """Loops that fill an array and those beside it."""
        body = self.block(s.body)
        (w,) = self.real(s.value)
        ends = (s.name, *self.named(s.name))
        starts = [self.names.fresh(n) for n in ends]
        made: list[Statement] = [self.filled(n, s.type, ZERO) for n in starts]
        at = tuple(map(index, s.indices))
        before = starts
        levels: list[tuple[str, Expr, list[str], list[str], list[str]]] = []
        for k, (i, count) in enumerate(zip(s.indices, s.type.shape, strict=True)):
            inside = [self.names.fresh(n) for n in ends]
            after = list(ends) if k == 0 else [self.names.fresh(n) for n in ends]
            levels.append((i, count, before, inside, after))
            before = inside
        last = [self.names.fresh(n) for n in ends]
        block: Block = (
            *body,
            *(
                Update(n, b, s.type, at, v)
                for n, b, v in zip(last, before, (w.hi, w.pair.lo, w.error), strict=True)
            ),
        )
        for i, count, outer, inside, after in reversed(levels):
            carried = tuple(
                Carried(inner, s.type, array(o), array(e), r)
                for inner, o, e, r in zip(inside, outer, last, after, strict=True)
            )
            block = (Loop(i, count, carried, block, self.names.fresh("trips")),)
            last = after
        return [*made, *block]

    def update(self, s: Update) -> list[Statement]:
        place = tuple(map(self.whole, s.index))
        guard, unsure = self.decided(s.guard)
        if s.type.kind != "f":
            return [replace(s, index=place, guard=guard, value=self.whole(s.value))]
        made: list[Statement] = list(self.inexact(s.source, s.type))
        (w,) = self.real(s.value)
        if s.add:  # to the nearest element, as that is the adjoint of reading
            place = tuple(
                ir.where(ir.lt(i, ZERO), ZERO, ir.where(ir.lt(i, n), i, n - 1))
                for i, n in zip(place, s.type.shape, strict=True)
            )
            here = (s.source, self.low[s.source], self.error[s.source])
            hi, lo, error = (load(array(n), *place) for n in here)
            w = add(Wide(Pair(hi, lo), error), w)
        low, error_name = self.low[s.source], self.error[s.source]
        new_low, new_error = self.named(s.name)
        error = w.error if unsure is FALSE else ir.where(unsure, INF, w.error)
        for name, source, value, when in (
            (s.name, s.source, w.hi, guard),
            (new_low, low, w.pair.lo, guard),
            (new_error, error_name, error, ir.or_(guard, unsure)),
        ):
            made.append(Update(name, source, s.type, place, value, when))
        return made

    def loop(self, s: Loop) -> list[Statement]:
        before: list[Statement] = []
        inits: dict[str, Wide] = {}
        for c in s.carried:
            if c.type.kind == "f":
                if c.type.shape:
                    before += self.inexact(name_of(c.init), c.type)
                inits[c.name] = self.parts(c.init, c.type)
        for c in s.carried:
            if c.type.kind == "f":
                self.named(c.name)
                self.named(c.result)
        restores = list(s.restores)
        for r in s.restores:
            if r.type.kind == "f":
                tapes = self.tapes[r.tape]
                names = self.named(r.name)
                restores += [Restore(t, r.type, n) for t, n in zip(tapes, names, strict=True)]
        condition = self.whole(s.condition)
        body = list(self.block(s.body))
        saves: list[Save] = []
        for v in s.saves:
            if v.type.kind != "f":
                value = v.value if v.type.shape else self.whole(v.value)
                saves.append(replace(v, value=value))
                continue
            if v.type.shape:
                body += self.inexact(name_of(v.value), v.type)
            w = self.parts(v.value, v.type)
            tapes = self.names.fresh(f"{v.tape}_low"), self.names.fresh(f"{v.tape}_error")
            self.tapes[v.tape] = tapes
            saves.append(replace(v, value=w.hi))
            saves += [Save(t, v.type, x) for t, x in zip(tapes, (w.pair.lo, w.error), strict=True)]
        carried: list[Carried] = []
        numbers = [c for c in s.carried if c.type == REAL]
        ends = self.real(*map(_next, numbers))
        nexts = dict(zip((c.name for c in numbers), ends, strict=True))
        for c in s.carried:
            if c.type.kind != "f":
                init = c.init if c.type.shape else self.whole(c.init)
                end = c.next if c.type.shape else self.whole(c.next)
                carried.append(replace(c, init=init, next=end))
                continue
            if c.type.shape:
                body += self.inexact(name_of(c.next), c.type)
                nexts[c.name] = self.parts(c.next, c.type)
            w, first = nexts[c.name], inits[c.name]
            carried.append(replace(c, init=first.hi, next=w.hi))
            for of, start, end in (
                (self.low, first.pair.lo, w.pair.lo), (self.error, first.error, w.error),
            ):  # fmt: skip
                carried.append(Carried(of[c.name], c.type, start, end, of[c.result]))
        made = replace(
            s, carried=tuple(carried), body=tuple(body), saves=tuple(saves),
            restores=tuple(restores), condition=condition,
        )  # fmt: skip
        return [*before, made]

    # ------------------------------------------------------------------------ results
    def output(self, e: Expr, checks: list[Statement], wrong: list[Expr]) -> Expr:
        """A result; what counts the numbers in it that are not accurate is added."""
        if e.op is not ARRAY:
            if kind_of(e, self.kinds) != "f":
                return self.whole(e)
            (w,) = self.real(e)
            if w.error is not ZERO:
                wrong.append(_wrong(w))
            return w.hi
        t = types(self.program)[name_of(e)]
        if t.kind != "f" or name_of(e) not in self.low:
            return e
        places = [self.names.fresh("i") for _ in t.shape]
        at = [index(i) for i in places]
        hi, off = load(e, *at), load(array(self.error[name_of(e)]), *at)
        value = _wrong(Wide(Pair(hi, ZERO), off))
        block: Block = ()
        for i, count in zip(reversed(places), reversed(t.shape), strict=True):
            name, result = self.names.fresh("wrong"), self.names.fresh("wrong")
            carried = Carried(name, REAL, ZERO, raw(ir.ADD, (ir.var(name), value)), result)
            block = (Loop(i, count, (carried,), block, self.names.fresh("trips")),)
            value = ir.var(result)
        checks += block
        wrong.append(value)
        return e


def _next(c: Carried) -> Expr:
    """The next value of a number; a maximum hangs on no decision."""
    found = reduction(c)
    if found is None or found.kind not in ("max", "min"):
        return c.next
    join = MAXIMUM if found.kind == "max" else MINIMUM
    return join(ir.var(c.name), found.term)


def _wrong(w: Wide) -> Expr:
    """1 where a value is not accurate."""
    size = raw(ir.ABS, (w.hi,))
    bound = raw(ir.MUL, (const(2 * UNIT / ACCEPTED), w.error))
    fine = raw(ir.AND, (raw(ir.LE, (bound, size)), raw(ir.LT, (size, INF))))
    return raw(ir.WHERE, (fine, ZERO, ONE))


__all__: Sequence[str] = ["widened"]
