"""Make each real name of a program with arrays and loops an expansion: a sum of several numbers.

Before:  for i: s = s + x[i]*y[i]
After:   for i: s, s_low = (s, s_low) + x[i]*y[i]

Requires: an arithmetic (a subclass): what expressions over numbers of several parts become.
Ensures: every real name that is not exact is the leading part of an expansion, and `trailing` names
the others, in numbers, arrays, elements that are replaced or added to, loops and tapes. Products
of matrices are sums.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from symdiff import ir
from symdiff.errors import UnsupportedError
from symdiff.ir import FALSE, VAR, ZERO, Expr, raw
from symdiff.ir import loop_program as lp
from symdiff.ir.blocks import bottom_up, nested
from symdiff.ir.effects import ranges
from symdiff.ir.functions import MAXIMUM, MINIMUM
from symdiff.ir.linalg.discrete_fourier import SUMS
from symdiff.ir.names import Names
from symdiff.ir.prune import pruned
from symdiff.lowering.loops.collected import reduction
from symdiff.lowering.loops.matmul import TURNED
from symdiff.passes.accuracy.eliminations import can_be_eliminated, eliminated
from symdiff.passes.accuracy.transforms_as_sums import summed

Parts = tuple[Expr, ...]
"""The parts of a number: its value rounded to one number, and the corrections."""


def with_loops(
    program: lp.LoopProgram, names: Names, keeps: Callable[[lp.Call], bool] = lambda s: False
) -> lp.Block:
    """The statements with products of matrices as sums, solvers as eliminations and transforms as sums, except for calls to keep.

    Raises
    ------
    UnsupportedError : for other routines.
    """
    known = lp.types(program)

    def one(s: lp.Statement) -> list[lp.Statement]:
        if not isinstance(s, lp.Call) or keeps(s):
            return [s]
        if can_be_eliminated(s):
            return eliminated(s, known, names)
        if s.routine in SUMS:
            return summed(s, known, names)
        if s.routine not in TURNED:
            raise UnsupportedError(f"{s.routine} has no version with more digits")
        ((name, t),), (a, b) = s.results, s.args
        places = [names.fresh("i") for _ in t.shape]
        at = list(map(lp.index, places))
        k, total = names.fresh("k"), names.fresh("total")
        left, right = TURNED[s.routine]
        rows, columns = (len(known[lp.name_of(e)].shape) == 2 for e in s.args)
        here = [*([at[0]] if rows else []), lp.index(k)]
        there = [lp.index(k), *([at[-1]] if columns else [])]
        x = lp.load(a, *(reversed(here) if left and rows else here))
        y = lp.load(b, *(reversed(there) if right and columns else there))
        count = known[lp.name_of(b)].shape[1 if right and columns else 0]
        result = names.fresh("total") if places else name
        carried = lp.Carried(total, lp.REAL, ZERO, ir.var(total) + x * y, result)
        loop = lp.Loop(k, count, (carried,), (), names.fresh("trips"))
        return [lp.Build(name, t, tuple(places), ir.var(result), (loop,)) if places else loop]

    return bottom_up(program.block, one)


def added_up(terms: Iterable[Expr]) -> Expr:
    """The sum of terms as raw nodes; zero terms are left out."""
    total: Expr = ZERO
    for e in terms:
        if e is not ZERO:
            total = e if total is ZERO else raw(ir.ADD, (total, e))
    return total


class OnExpansions(ABC):
    """What becomes of the names of a program.

    Attributes
    ----------
    suffixes : of the names of the trailing parts.
    trailing : the names of the trailing parts by that of the leading one; what has none is exact.
    tapes : the same of tapes.
    filled_here : exact arrays whose trailing parts were filled with zeros; they are known up to the
        end of the block that filled them.
    ranges : the indices of loops, and how many values they have.
    """

    suffixes: tuple[str, ...]

    def __init__(self, program: lp.LoopProgram) -> None:
        self.program = program
        self.names = lp.names_of(program)
        self.trailing: dict[str, tuple[str, ...]] = {}
        self.tapes: dict[str, tuple[str, ...]] = {}
        self.filled_here: list[str] = []
        self.kinds: dict[Expr, str] = {}
        self.ranges: dict[Expr, Expr] = {}

    # ------------------------------------------------------------------- arithmetic
    @abstractmethod
    def parts_of(self, outputs: Sequence[Expr], leaves: Mapping[Expr, Parts]) -> list[Parts]:
        """Real expressions over variables, some of which have several parts."""

    @abstractmethod
    def conditions(
        self, outputs: Sequence[Expr], leaves: Mapping[Expr, Parts]
    ) -> list[tuple[Expr, Expr]]:
        """Conditions over such variables, and where rounding may have decided them."""

    @abstractmethod
    def added(self, x: Parts, y: Parts) -> Parts:
        """The sum of two numbers."""

    @abstractmethod
    def unsure(self, x: Parts, where: Expr) -> Parts:
        """A number that is unknown where a condition holds."""

    # ------------------------------------------------------------------ expressions
    def over(self, outputs: Sequence[Expr]) -> tuple[tuple[Expr, ...], dict[Expr, Parts]]:
        """The expressions over variables for their loads, and the parts of those."""
        found = {n: ir.var(f"leaf {k}") for k, n in enumerate(ir.topmost(outputs[::-1], lp.LEAVES))}
        forms = ir.substitute(outputs, found)
        leaves = {v: self.leaf(n) for n, v in found.items()}
        own = (v for v in ir.variables(forms) if v not in leaves)
        return forms, leaves | {v: self.leaf(v) for v in own}

    def real(self, *outputs: Expr) -> list[Parts]:
        return self.parts_of(*self.over(outputs)) if outputs else []

    def leaf(self, n: Expr) -> Parts:
        """A number by its name, an element, or an integer."""
        none = (ZERO,) * len(self.suffixes)
        if n.op is VAR:
            names = self.trailing.get(lp.name_of(n))
            return (n, *(map(ir.var, names) if names else none))
        if lp.kind_of(n, self.kinds) == "i" or n.op is lp.REAL_OF:
            whole = self.whole(n.args[0] if n.op is lp.REAL_OF else n)
            return (raw(lp.REAL_OF, (whole,)), *none)
        names, places = (
            self.trailing.get(lp.name_of(n.args[0])),
            tuple(map(self.whole, n.args[1:])),
        )
        others = (lp.load(lp.array(m), *places) for m in names) if names else none
        return (lp.load(n.args[0], *places), *others)

    def whole(self, e: Expr) -> Expr:
        """An expression of integers, with its decisions on real values."""
        return self.decided(e)[0]

    def decided(self, e: Expr) -> tuple[Expr, Expr]:
        """An integer or a condition, and where rounding may have decided it."""
        unsure: Expr = FALSE

        def is_top(n: Expr) -> bool:
            return n.op in ir.COMPARISONS and any(lp.kind_of(a, self.kinds) == "f" for a in n.args)

        inside = ir.reached((e,), lambda n: () if n.op is lp.LOAD or is_top(n) else n.args[::-1])
        tops = [n for n in inside if is_top(n)]
        if not tops:
            return e, FALSE
        new: dict[Expr, Expr] = {}
        for n, (holds, loose) in zip(tops, self.conditions(*self.over(tops)), strict=True):
            new[n] = holds
            unsure = ir.or_(unsure, loose)
        return lp.exchanged((e,), new)[0], unsure

    def parts(self, e: Expr, t: lp.Type) -> Parts:
        """The names of an array, or a number."""
        if not t.shape:
            return self.real(e)[0]
        return (e, *map(lp.array, self.trailing[lp.name_of(e)]))

    def named(self, name: str) -> tuple[str, ...]:
        """New names for the other parts of a name."""
        self.trailing[name] = tuple(self.names.fresh(f"{name}_{s}") for s in self.suffixes)
        return self.trailing[name]

    # ------------------------------------------------------------------- statements
    @abstractmethod
    def output(self, e: Expr, checks: list[lp.Statement], wrong: list[Expr]) -> Expr:
        """A result; what counts the numbers in it that are not accurate is added."""

    def whole_program(self) -> lp.LoopProgram:
        """The program with the other parts; one more output counts the inaccurate numbers."""
        block = self.block(with_loops(self.program, self.names, self.keeps))
        outputs, checks, wrong = list[Expr](), list[lp.Statement](), list[Expr]()
        for e in self.program.outputs:
            outputs.append(self.output(e, checks, wrong))
        outputs.append(self.account(wrong, checks))
        block = pruned((*block, *checks), outputs)
        return replace(self.program, block=block, outputs=tuple(outputs))

    def account(self, wrong: Sequence[Expr], checks: list[lp.Statement]) -> Expr:
        """The last output: the sum of the counts of inaccurate numbers."""
        total = added_up(wrong)
        return raw(lp.REAL_OF, (total,)) if total is ZERO else total

    def block(self, block: lp.Block) -> lp.Block:
        made: list[lp.Statement] = []
        for s in block:
            s = self.with_sizes(s)
            match s:
                case lp.Build():
                    made += self.build(s)
                case lp.Update():
                    made += self.update(s)
                case lp.Loop():
                    made += self.loop(s)
                case lp.Check():
                    made.append(replace(s, condition=self.whole(s.condition)))
                case lp.Call():
                    made += self.call(s)
        return tuple(made)

    def keeps(self, s: lp.Call) -> bool:
        """Whether a routine is called, with other parts of its results."""
        return False

    def call(self, s: lp.Call) -> list[lp.Statement]:
        """The statements that replace such a call."""
        raise UnsupportedError(f"{s.routine} has no version with more digits")

    def sized(self, t: lp.Type) -> lp.Type:
        """A type whose sizes may depend on decisions on real values, such as that of `p` or `np.zeros(2)`."""
        return lp.Type(tuple(map(self.whole, t.shape)), t.kind) if t.shape else t

    def with_sizes(self, s: lp.Statement) -> lp.Statement:
        match s:
            case lp.Build() | lp.Update():
                return replace(s, type=self.sized(s.type))
            case lp.Loop():
                return replace(
                    s, carried=tuple(replace(c, type=self.sized(c.type)) for c in s.carried),
                    saves=tuple(replace(v, type=self.sized(v.type)) for v in s.saves),
                    restores=tuple(replace(r, type=self.sized(r.type)) for r in s.restores),
                )  # fmt: skip
        return s

    def filled(self, name: str, t: lp.Type, value: Expr) -> lp.Build:
        return lp.Build(name, t, tuple(self.names.fresh("i") for _ in t.shape), value)

    def inexact(self, name: str, t: lp.Type) -> list[lp.Statement]:
        """The other parts of an array that is exact."""
        if name in self.trailing:
            return []
        self.filled_here.append(name)
        return [self.filled(n, t, ZERO) for n in self.named(name)]

    def leave(self, outside: int) -> None:
        """A block ends: arrays filled in it, all after the first `outside`, are exact again."""
        for name in self.filled_here[outside:]:
            del self.trailing[name]
        del self.filled_here[outside:]

    def build(self, s: lp.Build) -> list[lp.Statement]:
        if s.type.kind != "f":
            return [replace(s, body=self.block(s.body), value=self.whole(s.value))]
        if s.body:
            return self.nest(s)
        ((first, *others),) = self.real(s.value)
        made: list[lp.Statement] = [replace(s, value=first)]
        if all(e is ZERO for e in others):
            return made
        for name, value in zip(self.named(s.name), others, strict=True):
            places = {lp.index(i): lp.index(self.names.fresh(i)) for i in s.indices}
            (value,) = lp.exchanged((value,), places)
            made.append(replace(
                s, name=name, indices=tuple(map(lp.name_of, places.values())), value=value
            ))  # fmt: skip
        return made

    def nest(self, s: lp.Build) -> list[lp.Statement]:
        """Loops that fill an array and its other parts."""
        outside = len(self.filled_here)
        self.ranges.update(ranges(s))
        body = self.block(s.body)
        (values,) = self.real(s.value)
        made: list[lp.Statement] = []
        updates: list[lp.Statement] = []
        carried: list[lp.Carried] = []
        at = tuple(map(lp.index, s.indices))
        for end, value in zip((s.name, *self.named(s.name)), values, strict=True):
            before, start, last = (self.names.fresh(end) for _ in range(3))
            made.append(self.filled(before, s.type, ZERO))
            updates.append(lp.Update(last, start, s.type, at, value))
            carried.append(lp.Carried(start, s.type, lp.array(before), lp.array(last), end))
        axes = list(zip(s.indices, s.type.shape, strict=True))
        fresh: Callable[[str, lp.Type], str] = lambda n, _: self.names.fresh(n)
        loop = nested(axes, carried, (*body, *updates), fresh)
        self.leave(outside)
        return [*made, loop]

    def update(self, s: lp.Update) -> list[lp.Statement]:
        place = tuple(map(self.whole, s.index))
        guard, unsure = self.decided(s.guard)
        if s.type.kind != "f":
            return [replace(s, index=place, guard=guard, value=self.whole(s.value))]
        (values,) = self.real(s.value)
        others = self.trailing.get(s.source)
        if others is None and not s.add and unsure is FALSE and all(e is ZERO for e in values[1:]):
            return [replace(s, index=place, guard=guard, value=values[0])]
        made: list[lp.Statement] = list(self.inexact(s.source, s.type))
        if s.add:  # to the nearest element, as that is the adjoint of reading
            place = tuple(
                i if self.ranges.get(i) is n
                else ir.where(ir.lt(i, ZERO), ZERO, ir.where(ir.lt(i, n), i, n - 1))
                for i, n in zip(place, s.type.shape, strict=True)
            )  # fmt: skip
            here = (s.source, *self.trailing[s.source])
            values = self.added(tuple(lp.load(lp.array(n), *place) for n in here), values)
        values = self.unsure(values, unsure)
        sources = (s.source, *self.trailing[s.source])
        both = guard if unsure is FALSE else ir.or_(guard, unsure)
        whens = (guard, *(guard for _ in self.suffixes[1:]), both)
        for name, source, value, when in zip(
            (s.name, *self.named(s.name)), sources, values, whens, strict=True
        ):
            made.append(lp.Update(name, source, s.type, place, value, when))
        return made

    def loop(self, s: lp.Loop) -> list[lp.Statement]:
        before: list[lp.Statement] = []
        inits: dict[str, Parts] = {}
        for c in s.carried:
            if c.type.kind == "f":
                if c.type.shape:
                    before += self.inexact(lp.name_of(c.init), c.type)
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
                restores += [lp.Restore(t, r.type, n) for t, n in zip(tapes, names, strict=True)]
        count = None if s.count is None else self.whole(s.count)
        condition = self.whole(s.condition)
        if count is not None:
            self.ranges[lp.index(s.index)] = count
        outside = len(self.filled_here)
        body = list(self.block(s.body))
        saves: list[lp.Save] = []
        for v in s.saves:
            if v.type.kind != "f":
                value = v.value if v.type.shape else self.whole(v.value)
                saves.append(replace(v, value=value))
                continue
            if v.type.shape:
                body += self.inexact(lp.name_of(v.value), v.type)
            first, *others = self.parts(v.value, v.type)
            tapes = tuple(self.names.fresh(f"{v.tape}_{n}") for n in self.suffixes)
            self.tapes[v.tape] = tapes
            saves.append(replace(v, value=first))
            saves += [lp.Save(t, v.type, x) for t, x in zip(tapes, others, strict=True)]
        carried: list[lp.Carried] = []
        numbers = [c for c in s.carried if c.type == lp.REAL]
        ends = self.real(*map(_next, numbers))
        nexts = dict(zip((c.name for c in numbers), ends, strict=True))
        for c in s.carried:
            if c.type.kind != "f":
                init = c.init if c.type.shape else self.whole(c.init)
                end = c.next if c.type.shape else self.whole(c.next)
                carried.append(replace(c, init=init, next=end))
                continue
            if c.type.shape:
                body += self.inexact(lp.name_of(c.next), c.type)
                nexts[c.name] = self.parts(c.next, c.type)
            final, begin = nexts[c.name], inits[c.name]
            carried.append(replace(c, init=begin[0], next=final[0]))
            for name, start, end, result in zip(
                self.trailing[c.name],
                begin[1:],
                final[1:],
                self.trailing[c.result],
                strict=True,
            ):
                carried.append(lp.Carried(name, c.type, start, end, result))
        made = replace(
            s, count=count, carried=tuple(carried), body=tuple(body), saves=tuple(saves),
            restores=tuple(restores), condition=condition,
        )  # fmt: skip
        self.leave(outside)
        return [*before, made]


def _next(c: lp.Carried) -> Expr:
    """The next value of a number; a maximum depends on no decision."""
    found = reduction(c)
    if found is None or found.kind not in ("max", "min"):
        return c.next
    join = MAXIMUM if found.kind == "max" else MINIMUM
    return join(ir.var(c.name), found.term)
