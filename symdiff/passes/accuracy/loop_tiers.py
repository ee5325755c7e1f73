"""Make the values of a program with arrays and loops as accurate as functions of numbers.

Before:  s = s + (exp(x[i]) - 1 - x[i])
After:   s = s + tested(0, exp(x[i]) - 1 - x[i], screen, flagged, x[i])

Requires: a program whose completed operations are not written out yet.
Ensures: the same program, ready for emission. A real expression of one block is a function of the
numbers that it loads: elements of arrays, carried numbers, integers. Where its error test
(see `passes.accuracy.error_test`) holds, the second and third tier recompute it from its closed
form. Accumulators, as in `s = s + term`, are not watched, but their terms are. Loaded values count
as exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from symdiff import ir
from symdiff.ir import (
    ABS,
    ADD,
    CONST,
    DIV,
    FALSE,
    HALF,
    LT,
    MUL,
    NEG,
    NOT,
    ONE,
    SUB,
    VAR,
    ZERO,
    Expr,
    const,
    raw,
    substitute,
    var,
    where,
)
from symdiff.ir.loop_program import (
    FLOORDIV,
    INDEX,
    LOAD,
    MOD,
    REAL,
    Block,
    Build,
    Carried,
    Loop,
    LoopProgram,
    Statement,
    Update,
    defined,
    expressions,
    index,
    inner,
    kind_of,
    mapped_block,
    walk,
)
from symdiff.lowering.loops.collected import Reduction, reduction
from symdiff.lowering.loops.twins import without_twins
from symdiff.lowering.loops.vector_ready import ready
from symdiff.lowering.lower import fused, lower
from symdiff.lowering.quotients import fused_quotients
from symdiff.lowering.target import ARRAY_CHAIN, OVERFLOWS, TESTED, UNDERFLOWS
from symdiff.passes.accuracy.bounds import is_exact
from symdiff.passes.accuracy.cancelling_sums import compensate_sums
from symdiff.passes.accuracy.error_test import ErrorTest, flagged_where
from symdiff.passes.accuracy.far_constants import without_far_constants
from symdiff.passes.accuracy.flagged import inherits
from symdiff.passes.accuracy.gather_fractions import gather
from symdiff.passes.accuracy.lossy import passes_on_losses
from symdiff.passes.accuracy.overflow import Underflow, overflow, underflow
from symdiff.passes.analysis.signs import Signs
from symdiff.passes.complete.complete import expand_completed, pinned_forms
from symdiff.passes.differentiate import depends_on
from symdiff.passes.stabilise import stabilise

UNDERFLOW, OVERFLOW = 1, 2
AGAIN, LONGEST = 2400, 100
"""As in `passes.accuracy.cancelling_sums`: flagged values are computed one by one."""


class Reference(NamedTuple):
    """A tested value in closed form, with variables for its leaves."""

    params: tuple[str, ...]
    output: Expr

    @property
    def written(self) -> Expr:
        """The value as it is computed without tests."""
        return _written((self.output,))[0]


class ProgramWithTests(NamedTuple):
    """A program for emission, and the references of its tested values by their numbers.

    Attributes
    ----------
    flags : flags of the processor that must be read; if any was raised the program is
        to be computed with tests for it.
    """

    program: LoopProgram
    references: tuple[Reference, ...]
    flags: int


def with_error_tests(
    program: LoopProgram, dtype: str = "float64", accuracy: str = "high", tests: int = 2,
    known: dict[Any, Any] | None = None,
) -> ProgramWithTests:  # fmt: skip
    """The program with its error tests.

    Parameters
    ----------
    dtype : "float64" or "float32", what it is computed in.
    accuracy : "high" or "strict"; with "certified" every value is flagged.
    tests : what is tested for in addition to cancellation: 0 for nothing, 1 for underflow, 2 for
        overflow and invalid operations as well. The others are left to the flags.
    known : results for single expressions of this program, or of one like it with other tests;
        the function adds to it.
    """
    program = ready(without_twins(program))
    lossy = tests < UNDERFLOW and passes_on_losses(program)
    flags = UNDERFLOWS | OVERFLOWS if lossy else 0
    work = _Testing(program, dtype, accuracy, tests, {} if known is None else known)
    for group in _groups(program.block, [_Found(e) for e in program.outputs]):
        work.group(group)
    found = work.finished()
    return found._replace(flags=found.flags | flags)


@dataclass(slots=True)
class _Value:
    """A watched expression.

    Attributes
    ----------
    form : as it is computed, over its parts.
    whole : the same, with its parts as they are computed.
    closed : in closed form.
    step : whether it is a step of a recurrence that loses no more than its numbers have.
    flagged : the condition under which it is flagged,
    screen : and a shorter condition that this one implies.
    """

    form: Expr
    whole: Expr
    closed: Expr
    step: bool
    flagged: Expr = FALSE
    screen: Expr = FALSE


@dataclass(slots=True)
class _Testing:
    """The rewritten expressions of a program.

    Attributes
    ----------
    names : variables for what the expressions load.
    parts : variables for parts of expressions that are tested by themselves.
    values : the watched expressions; parts precede the expressions that contain them.
    new : the other expressions, and at the end all.
    sums : the accumulators, by the expression of their next value.
    known : see `with_error_tests`.
    carried : numbers that loops carry.
    decisions : numbers that record whether conditions hold.
    counts : integers that are not negative.
    """

    program: LoopProgram
    dtype: str
    accuracy: str
    tests: int
    known: dict[Any, Any] = field(default_factory=dict)
    names: dict[Expr, Expr] = field(default_factory=dict)
    parts: dict[Expr, Expr] = field(default_factory=dict)
    values: dict[Expr, _Value] = field(default_factory=dict)
    new: dict[Expr, Expr] = field(default_factory=dict)
    sums: dict[Expr, Reduction] = field(default_factory=dict)
    decisions: dict[Expr, Expr] = field(default_factory=dict)
    kinds: dict[Expr, str] = field(default_factory=dict)
    whole: dict[Expr, bool] = field(default_factory=dict)
    counts: set[Expr] = field(default_factory=set)
    over: dict[Expr, Expr] = field(default_factory=dict)
    carried: set[Expr] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.counts = {e for p in self.program.params for e in p.type.shape if e.op is INDEX}
        for s in walk(self.program.block):
            self.counts |= {index(n) for n, t in inner(s) if t.kind == "i"}
            names = (*inner(s), *(defined(s) if isinstance(s, Loop) else ()))
            self.carried |= {var(n) for n, t in names if t == REAL}

    def group(self, expressions: Iterable[_Found]) -> None:
        """Process the expressions of one block together."""
        watched: dict[Expr, tuple[Expr, ...]] = {}
        others: dict[Expr, None] = {}
        for found in expressions:
            e = found.value
            if self._is_leaf(e) or e in self.values or e in self.new or e in self.sums:
                continue
            kind = kind_of(e, self.kinds)
            sum_ = reduction(found.carried) if found.carried is not None else None
            if kind == "b" and found.real and not self._is_of_kept(e):  # a condition for a store
                self.decisions[e] = where(e, ONE, ZERO)
                watched[self.decisions[e]] = ()
            elif kind == "b" or (sum_ is not None and self._is_leaf(sum_.term)):
                others[e] = None
            elif sum_ is not None:
                self.sums[e] = sum_
                watched[sum_.term] = ()
            elif kind == "f" or found.real:
                watched[e] = found.together
        todo = tuple(others)
        self.new.update(zip(todo, self._back(_written(self._named(todo))), strict=True))
        self._watch({e: steps for e, steps in watched.items() if e not in self.values})

    def _is_of_kept(self, e: Expr) -> bool:
        """Whether a condition compares a number with one that a loop carries, such as the largest
        term: both are rounded alike, and more digits of one of them would distinguish equal
        values."""
        if e.op is NOT:
            return self._is_of_kept(e.args[0])
        return e.op in ir.COMPARISONS and any(a in self.carried for a in e.args)

    def _is_leaf(self, e: Expr) -> bool:
        return not e.args or e.op is LOAD or self._is_whole(e)

    def _is_whole(self, e: Expr) -> bool:
        """Whether an expression consists of integers only."""
        kind_of(e, self.kinds)
        for n in ir.topological((e,), self.whole):
            below = n.op is LOAD or all(self.whole[a] for a in n.args)
            self.whole[n] = kind_of(n, self.kinds) != "f" and below
        return self.whole[e]

    def _named(self, outputs: Sequence[Expr]) -> tuple[Expr, ...]:
        """The expressions over variables for loads, for integers and for decisions on carried
        numbers."""
        seen: set[Expr] = set()
        stack = list(reversed(outputs))
        while stack:
            e = stack.pop()
            if e in seen:
                continue
            seen.add(e)
            number = kind_of(e, self.kinds) == "i" and e.op is not CONST
            divided = e.op in (FLOORDIV, MOD)  # integers that may depend on reals
            if e in self.names:
                continue
            if self._is_of_kept(e):
                name = var(f"leaf {len(self.names)}")
                self.names[e] = ir.lt(HALF, name)
                self.over[name] = _written((where(e, ONE, ZERO),))[0]
            elif e.op is LOAD or (number and (divided or self._is_whole(e))):
                name = self.names.setdefault(e, var(f"leaf {len(self.names)}"))
                self.over[name] = e
            else:
                stack.extend(reversed(e.args))
        return substitute(outputs, self.names)

    def _back(self, outputs: Sequence[Expr]) -> tuple[Expr, ...]:
        """The expressions over loads again, node by node."""
        for e in ir.topological(outputs, self.over):
            self.over[e] = ir.with_args(e, tuple(self.over[a] for a in e.args))
        return tuple(self.over[e] for e in outputs)

    # ------------------------------------------------------------------- watching
    def _watch(self, watched: Mapping[Expr, tuple[Expr, ...]]) -> None:
        """Choose how expressions are computed, and when they are flagged; steps of a recurrence
        together with the numbers that are carried along."""
        keys: list[Expr] = []
        wholes: list[Expr] = []
        entire: list[Expr] = []
        inherited: set[Expr] = set()
        for e, steps in watched.items():
            (whole,) = self._named((e,))
            moved = [x for x in steps if x in ir.variables((whole,))]
            found: list[Expr] = []
            if (
                self.accuracy != "certified"
            ):  # a part would be rounded: subnormal ones are not exact
                found = self._apart(whole, moved) if moved else self._factor(whole)
            for part in found:
                if part not in self.parts:
                    keys.append(part)
                    wholes.append(part)
                    entire.append(part)
                    self.parts[part] = var(f"part {len(self.parts)}")
            entire.append(whole)
            (whole,) = substitute((whole,), {p: self.parts[p] for p in found})
            keys.append(e)
            wholes.append(whole)
            if moved and e not in inherited and inherits(_written((whole,))[0], moved):
                inherited.add(e)
        plain, forms = self._forms(tuple(wholes))
        exact = pinned_forms(entire if self.tests else wholes)
        known = ((x, self.values[p]) for p, x in self.parts.items() if p in self.values)
        inside = {x: v.whole for x, v in known}
        for key, form, simple, closed in zip(keys, forms, plain, exact, strict=True):
            step = key in inherited
            form = simple if step else form
            value = _Value(form, substitute((form,), inside)[0], closed, step)
            if key in self.parts:
                inside[self.parts[key]] = value.whole
            wrong = FALSE if step else self._flagged(value.form)
            some, counts = self._spoilt(value.whole, self.tests)
            value.screen = ir.or_(wrong, some)
            value.flagged = value.screen
            if some is not counts:
                value.flagged = ir.or_(wrong, ir.and_(some, counts))
            self.values[key] = value

    def _forms(self, wholes: tuple[Expr, ...]) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
        """Expressions in closed form, and in the form that is best to compute."""
        key = "forms", wholes, self.accuracy
        if key not in self.known:
            plain = forms = _written(wholes)
            if self.accuracy != "certified":
                forms = compensate_sums(without_far_constants(gather(plain)), AGAIN, LONGEST)
            self.known[key] = plain, forms
        found: tuple[tuple[Expr, ...], tuple[Expr, ...]] = self.known[key]
        return found

    def _factor(self, e: Expr) -> list[Expr]:
        """The one factor of a product that may be flagged, unless it is the whole product."""
        whole = e
        while e.op in (MUL, DIV, NEG, ABS):
            loose = [a for a in e.args if a.args and self._may_be_wrong(a)]
            if len(loose) != 1 or e.args.count(loose[0]) > 1:
                break
            e = loose[0]
        return [] if e is whole else [e]

    def _apart(self, e: Expr, moved: Sequence[Expr]) -> list[Expr]:
        """The largest parts of a step that do not depend on carried numbers."""
        order = ir.topological((e,))
        moves = depends_on(order, moved)
        tops = {a for n in order if n in moves for a in n.args if a not in moves}
        return [a for a in order if a in tops and a.args and not a.op.boolean
                and self._may_be_wrong(a)]  # fmt: skip

    def _may_be_wrong(self, e: Expr) -> bool:
        return self._flagged(_written((e,))[0]) is not FALSE

    def _flagged(self, form: Expr) -> Expr:
        """The condition under which rounding may have cost too much."""
        if self.accuracy == "certified":
            return ir.boolean(bool(form.args))
        key = "flagged", form, self.dtype, self.accuracy, tuple(self._facts)
        if key not in self.known:
            self.known[key] = flagged_where(
                (form,), None, self.dtype, self._facts, fuses=True, lean=True, chain=self._chain,
                strict=self.accuracy == "strict",
            )  # fmt: skip
        found: Expr = self.known[key]
        return found

    def _spoilt(self, form: Expr, tests: int) -> Underflow:
        """The condition under which underflow or overflow may have."""
        key = "spoilt", form, tests, self.dtype, self.accuracy, tuple(self._facts)
        if key not in self.known:
            self.known[key] = self._spoilt_where(form, tests)
        found: Underflow = self.known[key]
        return found

    def _spoilt_where(self, form: Expr, tests: int) -> Underflow:
        found = Underflow(FALSE, FALSE)
        if self.accuracy != "certified" and not self._is_one_operation(form):
            work = ErrorTest(self.dtype, Signs(self._facts), fuses=True, chain=self._chain)
            if tests >= UNDERFLOW:
                found = underflow(form, work)
            if tests >= OVERFLOW:
                beyond = overflow(form, work)
                found = Underflow(*(ir.or_(c, beyond) for c in found))
        return found

    @property
    def _facts(self) -> list[Expr]:
        return [ir.le(ZERO, v) for e, v in self.names.items() if e in self.counts]

    def _is_one_operation(self, form: Expr) -> bool:
        """Whether a form is rounded once or a function of the library: then it overflows and
        underflows where the exact value does."""
        at = fused(form)
        args = form.args if at is None else (form.args[1 - at], *form.args[at].args)
        exact = (not a.args and (a.op is VAR or self._is_number(a)) for a in args)
        known = form.op in (ADD, SUB, MUL, DIV, NEG, ABS) or form.op.libm is not None
        return known and all(exact) and (at is None or form.args[at].op is MUL)

    def _is_number(self, e: Expr) -> bool:
        q = ir.rational(e)
        return q is not None and is_exact(q, self.dtype)

    @property
    def _chain(self) -> int:
        return 4 if self.accuracy == "strict" else ARRAY_CHAIN

    # ------------------------------------------------------------------- replacing
    def finished(self) -> ProgramWithTests:
        """The program with all expressions replaced."""
        roots = [e for v in self.values.values() for e in (v.form, v.screen, v.flagged)]
        lowered = lower(
            fused_quotients(roots), chain=self._chain, fuse=True, single=self.dtype == "float32"
        )
        references: list[Reference] = []
        found = zip(lowered[::3], lowered[1::3], lowered[2::3], strict=True)
        for (key, v), three in zip(self.values.items(), found, strict=True):
            form, screen, condition = self._back(three)
            if v.flagged is not FALSE:
                leaves = ir.variables((v.closed,))
                which = const(len(references))
                references.append(Reference(tuple(x.value for x in leaves), v.closed))
                form = raw(TESTED, (which, form, screen, condition, *self._back(leaves)))
            if key in self.parts:
                self.over[self.parts[key]] = form
            self.new[key] = form
        for e, r in self.sums.items():
            self.new[e] = self._collected(e, r)
        for e, number in self.decisions.items():
            self.new[e] = raw(LT, (HALF, self.new[number]))
        block = mapped_block(self.program.block, lambda e: self.new.get(e, e))
        outputs = tuple(self.new.get(e, e) for e in self.program.outputs)
        program = replace(self.program, block=block, outputs=outputs)
        flags = 0
        for tests, raised in ((UNDERFLOW, UNDERFLOWS), (OVERFLOW, OVERFLOWS)):
            later = (self._spoilt(v.whole, tests) != self._spoilt(v.whole, tests - 1)
                     for v in self.values.values())  # fmt: skip
            if self.tests < tests and any(later):
                flags |= raised
        return ProgramWithTests(program, tuple(references), flags)

    def _collected(self, e: Expr, r: Reduction) -> Expr:
        """The next value of an accumulator."""
        term = self.new[r.term]
        if r.kind in ("add", "mul"):
            return raw(ADD if r.kind == "add" else MUL, (var(r.carried.name), term))
        condition, *sides = e.args
        condition, *sides = (
            raw(x.op, tuple(term if a is r.term else a for a in x.args), x.value)
            if x is condition else term if x is r.term else x for x in (condition, *sides)
        )  # fmt: skip
        return raw(e.op, (condition, *sides))


def _written(outputs: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The outputs in the forms that are computed."""
    return stabilise(expand_completed(outputs))


class _Found(NamedTuple):
    """An expression of a block.

    Attributes
    ----------
    real : whether its result is a real number, or decides whether one is stored.
    carried : the number whose next value it is, and
    together : the numbers that are carried along, and restored from tapes.
    """

    value: Expr
    real: bool = False
    carried: Carried | None = None
    together: tuple[Expr, ...] = ()


def _groups(block: Block, roots: Sequence[_Found]) -> Iterator[list[_Found]]:
    """The expressions of each block, with those after it that belong to it."""
    yield [*(e for s in block for e in _outside(s)), *roots]
    for s in block:
        if isinstance(s, Build):
            yield from _groups(s.body, [_Found(s.value, s.type.kind == "f")])
        elif isinstance(s, Loop):
            numbers = [c for c in s.carried if c.type == REAL]
            names = [c.name for c in numbers] + [r.name for r in s.restores if r.type == REAL]
            together = tuple(map(var, names))
            found = [_Found(c.next, True, c, together) for c in numbers]
            found += [_Found(c.next) for c in s.carried if c.type != REAL]
            found += [_Found(v.value, v.type == REAL) for v in s.saves]
            yield from _groups(s.body, [*found, _Found(s.condition)])


def _outside(s: Statement) -> list[_Found]:
    """The expressions of a statement that are evaluated outside of its block."""
    match s:
        case Build():
            return []
        case Loop():
            ends = [] if s.count is None else [_Found(s.count)]
            return [*ends, *(_Found(c.init, c.type == REAL) for c in s.carried)]
        case Update():
            return [_Found(s.value, s.type.kind == "f"), _Found(s.guard, True)]
    return [_Found(e) for e in expressions(s)]
