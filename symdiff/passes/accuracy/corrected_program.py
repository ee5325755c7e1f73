"""A program with arrays and loops together with its rounding errors, and corrected by them.

Before:  for i: s = s + x[i]*y[i]
After:   for i: p = x[i]*y[i]; s' = s + p; rest = rest + fma(x[i], y[i], -p) + (error of s + p)
         s + rest;  wrong = 1 if |rest| > 2**-46*|s| else 0

Requires: a program in closed forms, whose functions have corrections
(`lowering.compensated.functions`).
Ensures: the same outputs, each with its correction added, and one more: how many real numbers
among them may not be accurate. Every real name carries its rounding error, as it is, with
its sign, not a bound: of what other operations make of it nothing is estimated, and long
recurrences have no more of it than there is. Adjoints and tapes too.

The errors are of first order: products take in those of both factors, arguments of functions are
rounded to a double first, so that the omitted terms are of the size of the square of a rounding. Where
values and errors both cancel that would be all there is: so they are not known there (nan). Those
of functions are known to 2**-63 of the value. So a result is accepted whose correction is not
above `FUNCTIONS` of it, or `ARITHMETIC` if there are no functions; of an array, of the largest element, and
`EACH` or `ARITHMETIC` of each. That measures what the roundings did; it is no proof: errors of corrections are not
bounded.

Reference: P. Langlois, Automatic linear correction of rounding errors, BIT 41 (2001).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from symdiff import ir
from symdiff.errors import UnsupportedError
from symdiff.ir import (
    ADD,
    DIV,
    FALSE,
    INF,
    LE,
    LT,
    MUL,
    NAN,
    NEG,
    ONE,
    SUB,
    TRUE,
    VAR,
    WHERE,
    ZERO,
    Expr,
    const,
    raw,
)
from symdiff.ir.functions import CBRT, DETACHED, EXP, EXTREMES
from symdiff.ir.loop_program import (
    ARRAY,
    LOAD,
    REAL_OF,
    Build,
    Loop,
    LoopProgram,
    Statement,
    Type,
    Update,
    array,
    defined,
    expressions,
    index,
    kind_of,
    leaves,
    load,
    name_of,
    names_in,
    types,
    walk,
)
from symdiff.lowering.compensated.evaluate import Known, corrected, is_compensable
from symdiff.lowering.compensated.functions import CORRECTED
from symdiff.lowering.target import FMA
from symdiff.passes.accuracy.compensate import elementary
from symdiff.passes.accuracy.elements import over_elements
from symdiff.passes.accuracy.float_expansions import OnExpansions, Parts
from symdiff.passes.accuracy.one_signed import Signed, never_negative
from symdiff.passes.accuracy.sums_in_lanes import in_lanes
from symdiff.passes.accuracy.underflow_losses import is_lost, loss
from symdiff.passes.stabilise import stabilise

FUNCTIONS, ARITHMETIC = Fraction(1, 2**46), Fraction(1, 2**27)
"""Accepted relative corrections of results, with functions (`EACH` for elements) and without."""
EACH, MANY = Fraction(1, 2**40), 1024
"""The limit for each element of an array, with functions: their errors of 2**-63 are then at most
8 ulp of it. In an array of n > `MANY` elements it is n/64 times that, up to `ARITHMETIC`, as some
elements are small by chance."""
SECOND = Fraction(1, 2**105)
"""Errors of second order, relative to the terms of a sum."""
OWN = Fraction(1, 2**52)
"""Errors of second order, relative to errors."""
NOTHING = Fraction(1, 2**78)
"""Relative to the terms of a sum: a smaller remainder may consist of errors of second order (up to
2**-105) by more than `ARITHMETIC`."""
SMOOTH = (
    ADD,
    SUB,
    MUL,
    NEG,
    WHERE,
    *(f for f in CORRECTED if not (f.domain or f.pole or f.cut or f.kink or f is CBRT)),
)
"""Operations that have no singularity on the real line."""
DECISIONS = (*ir.COMPARISONS, *EXTREMES)
"""Operations whose results do not show that an argument is unknown."""
FADES = -600
"""Below this argument an exponential is so small that its own error of 1 or 2 units is ignored."""


def corrected_program(program: LoopProgram, tests: bool = False) -> LoopProgram:
    """The program with the rounding errors of all numbers.

    With `tests`, losses by underflow count.

    Raises
    ------
    UnsupportedError : if it calls a routine, or a function without a correction.
    """
    return Correcting(program, tests=tests).whole_program()


class Correcting(OnExpansions):
    """Numbers are a double and its error.

    Attributes
    ----------
    functions : whether there are any.
    exposed : names of which it would not show in the correction of the result that both sums in them and their
        corrections cancelled. To look at each sum takes as long as all the rest.
    signed : which names are never negative: sums of terms of one sign do not cancel.
    roots : the expressions of those.
    adds_exposed : whether sums in the array that is added to are to be tested.
    tests : whether numbers also have what they lost beside their errors by underflow (see `underflow_losses`).
    """

    def __init__(
        self, program: LoopProgram, tests: bool = False,
        lanes: bool = True,
    ) -> None:  # fmt: skip
        self.tests = tests
        super().__init__(in_lanes(program) if lanes else program)
        self.suffixes = ("rest", "lost") if self.tests else ("rest",)
        self.functions = False
        self.exposed, self.roots = _exposed(program)
        self.signed = Signed(never_negative(self.program.block))
        self.adds_exposed = True

    def real(self, *outputs: Expr) -> list[Parts]:
        watched = [e in self.roots for e in outputs]
        return self.numbers(*self.over(outputs), watched) if outputs else []

    def update(self, s: Update) -> list[Statement]:
        self.adds_exposed = s.name in self.exposed
        return super().update(s)

    def pairs(
        self, outputs: Sequence[Expr], leaves: Mapping[Expr, Parts],
        watched: Sequence[bool] | None = None,
    ) -> list[Parts]:  # fmt: skip
        """The expressions with their errors. Watched: the expressions whose remainder after
        cancellation matters; None to check all sums."""
        outputs, leaves = self.without_detached(outputs, leaves)
        forms = elementary(stabilise(tuple(outputs)))
        infinite = [n for n in ir.topological(forms) if n.op is ir.CONST and ir.rational(n) is None]
        named = {n: ir.var(f"infinite {k}") for k, n in enumerate(infinite)}
        forms = ir.substitute(forms, named)
        leaves = {**leaves, **{v: (n, ZERO) for n, v in named.items()}}
        nodes = ir.topological(forms)
        if not all(map(is_compensable, forms)):
            raise UnsupportedError("a function has no correction")
        self.functions |= any(n.op in CORRECTED for n in nodes)
        known = Known(second=True)
        known.update({v: (p[0], p[1]) for v, p in leaves.items()})
        lost = {v: p[2] for v, p in leaves.items() if len(p) > 2}
        inside: Expr = TRUE
        deciding = _deciding(nodes)
        looked_at = None if watched is None else self.looked_at(forms, watched)
        names = {v: p[0] for v, p in leaves.items()}
        signs = self.signed.over(names, forms)
        for n in nodes:
            fine = self._function(n, known)
            if n in deciding:
                inside = ir.and_(inside, fine)
            elif fine is not TRUE:  # in a choice only the chosen value counts
                known[n] = known[n][0], ir.where(fine, known[n][1], NAN)
            if self.tests:
                lost[n] = lost[n] if n in lost else loss(n, known, lost)
            if n.op in (ADD, SUB) and not signs.adds_up(n):
                sums = self.known_sum if looked_at is None or n in looked_at else self.inexact_sum
                value, rest = sums(known[n], *(known[a] for a in n.args))
                known[n] = value, rest
            if n.op is WHERE and n.args[0].op in (LT, LE) and {*n.args[0].args} == {*n.args[1:]}:
                known[n] = _with_nan(known[n], [known[a][0] for a in n.args[1:]])
        made = [(known[e][0], known[e][1]) for e in forms]
        if inside is not TRUE:
            made = [(v, ir.where(inside, rest, NAN)) for v, rest in made]
        if not self.tests:
            return list(made)
        return [(*x, lost.get(e, ZERO)) for x, e in zip(made, forms, strict=True)]

    def _function(self, n: Expr, known: Known) -> Expr:
        """Correct an operation; return where its correction holds."""
        if n.op is EXP:
            return self.exponential(n, known)
        corrected(n, known)
        return CORRECTED[n.op].inside(known[n.args[0]][0]) if n.op in CORRECTED else TRUE

    def looked_at(self, forms: Sequence[Expr], watched: Sequence[bool]) -> set[Expr]:
        """The nodes whose sums are tested."""
        ends = [e for e, is_watched in zip(forms, watched, strict=True) if is_watched]
        below = (a for n in ir.topological(forms) for a in _watched(n, self.kinds))
        return set(ir.topological((*ends, *below)))

    def without_detached(
        self, outputs: Sequence[Expr], leaves: Mapping[Expr, Parts]
    ) -> tuple[Sequence[Expr], Mapping[Expr, Parts]]:
        """The outputs over leaves for detached values: these do not count, but each must be one
        number, the corrected one, which is exact."""
        marked = [n for n in ir.topological(tuple(outputs)) if n.op is DETACHED]
        if not marked:
            return outputs, leaves
        found = self.pairs([n.args[0] for n in marked], leaves)
        names = {n: ir.var(f"detached {k}") for k, n in enumerate(marked)}
        exact = {names[n]: (_one_number(*x[:2]), ZERO) for n, x in zip(marked, found, strict=True)}
        return ir.substitute(outputs, names), {**leaves, **exact}

    def exponential(self, n: Expr, known: Known) -> Expr:
        """Add an exponential to `known`; return where its correction holds. Where it fades, its
        argument is replaced by 0, so that nothing overflows: only the error of its argument
        counts."""
        x, rest = known[n.args[0]]
        fades, here = ir.lt(x, const(FADES)), ir.var("argument")
        known[here] = ir.where(fades, ZERO, x), ir.where(fades, ZERO, rest)
        value, error = corrected(raw(EXP, (here,)), known)
        del known[here], known[raw(EXP, (here,))]
        small = raw(EXP, (x,))
        passed = ZERO if rest is ZERO else raw(MUL, (small, rest))
        if passed is not ZERO:  # the error of an infinite argument is not a number
            passed = ir.where(raw(LT, (ZERO, small)), passed, ZERO)
        known[n] = ir.where(fades, small, value), ir.where(fades, passed, error)
        return ir.or_(fades, CORRECTED[EXP].inside(x))

    def parts_of(self, outputs: Sequence[Expr], leaves: Mapping[Expr, Parts]) -> list[Parts]:
        return self.numbers(outputs, leaves)

    def numbers(
        self, outputs: Sequence[Expr], leaves: Mapping[Expr, Parts],
        watched: Sequence[bool] | None = None,
    ) -> list[Parts]:  # fmt: skip
        """The same with truth values as numbers."""
        none = (ZERO,) * len(self.suffixes)
        made = zip(outputs, self.pairs(outputs, leaves, watched), strict=True)
        return [(ir.where(x[0], ONE, ZERO), *none) if e.op.boolean else x for e, x in made]

    def conditions(
        self, outputs: Sequence[Expr], leaves: Mapping[Expr, Parts]
    ) -> list[tuple[Expr, Expr]]:
        found = self.pairs(outputs, leaves)
        return [(x[0], x[2] if self.tests and x[2] is not ZERO else FALSE) for x in found]

    def added(self, x: Parts, y: Parts) -> Parts:
        known = Known()
        a, b = ir.var("left"), ir.var("right")
        known.update({a: (x[0], x[1]), b: (y[0], y[1])})
        total: Parts = corrected(raw(ADD, (a, b)), known)
        if self.adds_exposed:
            total = self.known_sum(total, x, y)
        else:
            total = self.inexact_sum((total[0], total[1]), x, y)
        return (*total, raw(ADD, (x[2], y[2]))) if self.tests else total

    def inexact_sum(self, total: tuple[Expr, Expr], x: Parts, y: Parts) -> tuple[Expr, Expr]:
        """A sum that is not exposed: where all of it vanishes, add errors of second order, so that
        it does not count as exact."""
        value, rest = total
        errors = [d for d in (x[1], y[1]) if d is not ZERO]
        if value.op not in (ADD, SUB) or len(errors) < 2:
            return total  # an exact sum keeps the error of a single term
        return value, raw(FMA, (const(OWN), raw(ir.ABS, (errors[0],)), rest))

    def known_sum(self, total: Parts, x: Parts, y: Parts) -> Parts:
        """A sum whose correction is unknown where both the terms and their corrections cancel,
        unless no term has an error: only errors of second order remain. Where the errors alone
        cancel, the correction becomes `SECOND`, as the sum is not exact."""
        value, rest = total[0], total[1]
        errors = [raw(ir.ABS, (d,)) for d in (x[1], y[1]) if d is not ZERO]
        if value.op not in (ADD, SUB) or not errors:
            return total
        off = errors[0] if len(errors) == 1 else raw(ADD, tuple(errors))
        size = raw(ir.ABS, (x[0] if y[0].op is VAR else y[0],))
        left = raw(ir.ABS, (value if rest is ZERO else raw(ADD, (value, rest)),))
        nothing = raw(LT, (left, raw(MUL, (const(NOTHING), size))))
        inexact = raw(LT, (ZERO, off))
        vanished = raw(ir.AND, (raw(LE, (raw(ir.ABS, (rest,)), ZERO)), inexact))
        some = raw(MUL, (const(SECOND), size))
        rest = raw(WHERE, (vanished, some, rest))  # so that it does not count as exact
        return value, raw(WHERE, (raw(ir.AND, (nothing, inexact)), NAN, rest))

    def unsure(self, x: Parts, where: Expr) -> Parts:
        return (*x[:2], ir.where(where, INF, x[2])) if self.tests else x

    # ------------------------------------------------------------------------ results
    @property
    def accepted(self) -> Fraction:
        return FUNCTIONS if self.functions else ARITHMETIC

    def of_each(self, t: Type) -> Expr:
        """The accepted relative correction of an element of an array."""
        if not self.functions:
            return const(ARITHMETIC)
        low, high, part = const(EACH), const(ARITHMETIC), const(16 * EACH / MANY)
        for n in t.shape:
            part = raw(MUL, (part, raw(REAL_OF, (n,))))
        part = raw(WHERE, (raw(LE, (part, const(16 * EACH))), low, part))
        return raw(WHERE, (raw(LT, (high, part)), high, part))

    def output(self, e: Expr, checks: list[Statement], wrong: list[Expr]) -> Expr:
        """A result; the statements that count its inaccurate numbers are added to the checks."""
        if e.op is not ARRAY:
            if kind_of(e, self.kinds) != "f":
                return self.whole(e)
            ((value, rest, *lost),) = self.real(e)
            wrong += [is_lost(value, x) for x in lost if x is not ZERO]
            if rest is ZERO:
                return value
            wrong.append(is_wrong(const(self.accepted), value, rest))
            return together(value, rest)
        t, name = self.sized(types(self.program)[name_of(e)]), name_of(e)
        if t.kind != "f" or name not in self.trailing:
            return e
        places = [self.names.fresh("i") for _ in t.shape]
        at = [index(i) for i in places]
        value, rest, *lost = (load(array(n), *at) for n in (name, *self.trailing[name]))
        size = [raw(ir.ABS, (v,)) for v in (value, rest)]
        each = [is_wrong(self.of_each(t), value, rest), *size]
        each += [is_lost(value, x) for x in lost]
        (many, biggest, most, *others), block = over_elements(
            self.names, places, t, each, [False, True, True, False][: len(each)]
        )
        checks += block
        wrong += [many, *others, is_wrong(const(self.accepted), biggest, most)]
        return self.corrected_array(e, t, checks)

    def corrected_array(self, e: Expr, t: Type, checks: list[Statement]) -> Expr:
        """An array with its corrections."""
        places = [self.names.fresh("i") for _ in t.shape]
        at = [index(i) for i in places]
        total = together(load(e, *at), load(array(self.trailing[name_of(e)][0]), *at))
        sums = self.names.fresh(name_of(e))
        checks.append(Build(sums, t, tuple(places), total))
        return array(sums)


def _one_number(value: Expr, rest: Expr) -> Expr:
    """A value with its correction, if that is known."""
    if rest is ZERO:
        return value
    known = raw(LT, (raw(ir.ABS, (rest,)), INF))
    return raw(WHERE, (known, raw(ADD, (value, rest)), value))


def _watched(n: Expr, kinds: dict[Expr, str]) -> tuple[Expr, ...]:
    """The arguments of a node for which the amount of cancellation matters."""
    if n.op is DIV:
        return n.args[1:]
    if n.op in ir.COMPARISONS:
        return n.args
    if n.op in SMOOTH or n.op in (LOAD, REAL_OF) or _is_power(n) or kind_of(n, kinds) != "f":
        return ()
    return n.args


def _deciding(nodes: Sequence[Expr]) -> set[Expr]:
    """What decisions depend on: an unknown error would not be visible there."""
    ends = (a for n in nodes if n.op in DECISIONS for a in n.args)
    return set(ir.topological(tuple(ends)))


def _exposed(program: LoopProgram) -> tuple[set[str], set[Expr]]:
    """The names whose values reach denominators, decisions, or functions that are not smooth
    everywhere, where the remainder after cancellation matters; and the expressions that are values
    of such names. Elsewhere a remainder without any correct digit has a correction of its own size,
    and so have sums, products and smooth functions of it."""
    known: dict[Expr, str] = {}
    roots, made_of = _made_of(program)
    watched = (a for _, e in roots for n in ir.topological((e,)) for a in _watched(n, known))
    found = _behind({name_of(x) for x in leaves(list(watched))}, made_of)
    return found, {e for name, e in roots if name in found}


def _behind(names: set[str], made_of: Mapping[str, set[str]]) -> set[str]:
    """The names and all names that they depend on."""
    return set(ir.reached(names, lambda name: [*made_of.get(name, ())]))


def _made_of(program: LoopProgram) -> tuple[list[tuple[str, Expr]], dict[str, set[str]]]:
    """Names with the expressions in their values, and the names in those; "" for decisions."""
    roots: list[tuple[str, Expr]] = []
    made_of: dict[str, set[str]] = {}

    def look(names: Iterable[str], e: Expr) -> None:
        used = names_in(e)
        for name in names:
            made_of.setdefault(name, set()).update(used)
            roots.append((name, e))

    for s in walk(program.block):
        ends = [n for n, _ in defined(s)]
        match s:
            case Build():
                look(ends, s.value)
            case Update():
                for e in (s.value, s.guard, array(s.source)):
                    look(ends, e)
            case Loop():
                for c in s.carried:
                    for e in (c.init, c.next):
                        look((c.name, c.result), e)
                for v in s.saves:
                    look((v.tape,), v.value)
                for r in s.restores:
                    made_of.setdefault(r.name, set()).add(r.tape)
                look(("",), s.condition)
            case _:
                for e in expressions(s):
                    look(ends or ("",), e)
    return roots, made_of


def _with_nan(x: tuple[Expr, Expr], values: Iterable[Expr]) -> tuple[Expr, Expr]:
    """The larger or smaller of two numbers; nan where one is nan, which a comparison would lose."""
    open_ = [v for v in values if ir.rational(v) is None]
    if not open_:
        return x
    there = functools.reduce(ir.and_, (raw(ir.EQ, (v, v)) for v in open_))
    value, rest = x
    return raw(WHERE, (there, value, NAN)), raw(WHERE, (there, rest, NAN))


def _is_power(n: Expr) -> bool:
    """Whether a node is a power with a positive integer exponent."""
    q = ir.rational(n.args[1]) if n.op is ir.POW else None
    return q is not None and q.denominator == 1 and q > 0


def together(value: Expr, rest: Expr) -> Expr:
    """The sum; a value that is not finite stays."""
    total = raw(ADD, (value, rest))
    return raw(WHERE, (raw(LT, (raw(ir.ABS, (total,)), INF)), total, value))


def is_wrong(accepted: Expr, value: Expr, rest: Expr) -> Expr:
    """1 where a correction is too large, or unknown."""
    size, off = raw(ir.ABS, (value,)), raw(ir.ABS, (rest,))
    fine = raw(LE, (off, raw(MUL, (accepted, size))))
    return raw(WHERE, (raw(ir.AND, (fine, raw(LT, (size, INF)))), ZERO, ONE))
