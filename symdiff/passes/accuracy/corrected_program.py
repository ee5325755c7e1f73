"""A program with arrays and loops together with its rounding errors, and corrected by them.

Before:  for i: s = s + x[i]*y[i]
After:   for i: p = x[i]*y[i]; s' = s + p; rest = rest + fma(x[i], y[i], -p) + (error of s + p)
         s + rest;  wrong = 1 if |rest| > 2**-46*|s| else 0

Requires: a program in closed forms, whose functions have corrections
(`lowering.compensated.functions`).
Ensures: the same outputs, each with its correction added, and one more: how many real numbers
among them may not be accurate. Every real name has its rounding error beside it, as it is, with
its sign, not a bound: of what other operations make of it nothing is estimated, and long
recurrences have no more of it than there is. Adjoints and tapes too.

The errors are of first order: products take in those of both factors, arguments of functions are
rounded to a double first, so that what is left out is of the size of the square of a rounding. Where
values and errors both cancel that would be all there is: so they are not known there (nan). Those
of functions are known to 2**-63 of the value. So a result is accepted whose correction is not
above `FUNCTIONS` of it, or `ARITHMETIC` if there are no functions; of an array, of the largest element, and
`EACH` or `ARITHMETIC` of each. That measures what the roundings did; it is no proof: errors of corrections are not
bounded.

Reference: P. Langlois, Automatic linear correction of rounding errors, BIT 41 (2001).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from symdiff import ir
from symdiff.errors import UnsupportedError
from symdiff.ir import (
    ADD,
    FALSE,
    INF,
    LE,
    LT,
    NAN,
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
from symdiff.ir.functions import DETACHED, EXP
from symdiff.ir.loop_program import (
    ARRAY,
    REAL_OF,
    Build,
    Check,
    LoopProgram,
    Statement,
    Type,
    array,
    index,
    kind_of,
    leaves,
    load,
    name_of,
    types,
)
from symdiff.lowering.compensated.evaluate import Known, corrected, is_compensable
from symdiff.lowering.compensated.functions import CORRECTED
from symdiff.lowering.target import SMALL
from symdiff.passes.accuracy.beside import Beside, Parts
from symdiff.passes.accuracy.compensate import elementary
from symdiff.passes.accuracy.estimated_statements import over_elements
from symdiff.passes.stabilise import stabilise

FUNCTIONS, ARITHMETIC = Fraction(1, 2**46), Fraction(1, 2**27)
"""Relative corrections of results that are accepted, with functions and without."""
EACH, MANY = Fraction(1, 2**40), 1024
"""With functions, those of each element of an array: their errors are 2**-63, which makes 8 ulp of it at
most. Of an array of more than so many elements n/64 times that, up to `ARITHMETIC`: 128 ulp and more, which
estimates of such arrays let pass."""
SECOND = Fraction(1, 2**105)
"""Of the terms of a sum: errors of second order."""
NOTHING = Fraction(1, 2**78)
"""Of the terms of a sum: what is left below may be errors of second order, of up to 2**-105, to more
than `ARITHMETIC`."""
FADES = -600
"""Exponentials below are so small that their errors, of a unit or two, are left out."""


def corrected_program(program: LoopProgram, norm: bool = False) -> LoopProgram:
    """The program with the rounding errors of all numbers; with `norm` arrays are accepted by their
    largest elements.

    Raises
    ------
    UnsupportedError : if it calls a routine, or a function without a correction.
    """
    return _Correcting(program, norm).whole_program()


def corrected_at_once(program: LoopProgram, small: int = SMALL) -> LoopProgram:
    """The program with its corrections and checks, as a first tier: a check "small" fails where arguments and
    results are more than so many numbers, before anything is computed, and one "accuracy" where
    a number may not be accurate.

    Raises
    ------
    UnsupportedError : as `corrected_program` does.
    """
    known = types(program)
    given = {e for p in program.params for e in p.type.shape}
    shapes = [p.type.shape for p in program.params]
    shapes += [known[name_of(e)].shape for e in program.outputs if e.op is ARRAY]
    count: Expr = ZERO
    for shape in shapes:
        if shape and set(leaves(shape)) <= given:
            size: Expr = ONE
            for n in shape:
                size = size * n
            count = count + size
    made = corrected_program(program)
    *outputs, wrong = made.outputs
    first = Check(ir.le(count, const(small)), "small", f"{program.name}: many numbers")
    last = Check(raw(LE, (wrong, ZERO)), "accuracy", f"{program.name}: a result lost digits")
    return replace(made, block=(first, *made.block, last), outputs=tuple(outputs))


class _Correcting(Beside):
    """Numbers are a double and its error.

    Attributes
    ----------
    functions : whether there are any.
    norm : whether arrays are accepted by their largest elements.
    """

    suffixes = ("rest",)

    def __init__(self, program: LoopProgram, norm: bool = False) -> None:
        super().__init__(program)
        self.norm = norm
        self.functions = False

    def pairs(self, outputs: Sequence[Expr], leaves: Mapping[Expr, Parts]) -> list[Parts]:
        outputs, leaves = self.without_detached(outputs, leaves)
        forms = elementary(stabilise(tuple(outputs)))
        nodes = ir.topological(forms)
        infinite = [n for n in nodes if n.op is ir.CONST and ir.rational(n) is None]
        if infinite:
            named = {n: ir.var(f"infinite {k}") for k, n in enumerate(infinite)}
            forms = ir.substitute(forms, named)
            leaves = {**leaves, **{v: (n, ZERO) for n, v in named.items()}}
            nodes = ir.topological(forms)
        if not all(map(is_compensable, forms)):
            raise UnsupportedError("a function has no correction")
        self.functions |= any(n.op in CORRECTED for n in nodes)
        known = Known(second=True)
        known.update({v: (p[0], p[1]) for v, p in leaves.items()})
        inside: Expr = TRUE
        for n in nodes:
            if n.op is EXP:
                fine = self.exponential(n, known)
                inside = ir.and_(inside, fine)
                continue
            corrected(n, known)
            if n.op in (ADD, SUB):
                value, rest = self.known_sum(known[n], *(known[a] for a in n.args))
                known[n] = value, rest
            if n.op not in CORRECTED:
                continue
            inside = ir.and_(inside, CORRECTED[n.op].inside(known[n.args[0]][0]))
        made = [known[e] for e in forms]
        if inside is TRUE:
            return list(made)
        return [(v, ir.where(inside, rest, NAN)) for v, rest in made]

    def without_detached(
        self, outputs: Sequence[Expr], leaves: Mapping[Expr, Parts]
    ) -> tuple[Sequence[Expr], Mapping[Expr, Parts]]:
        """The outputs over leaves for what does not count but must be one number: those are exact."""
        marked = [n for n in ir.topological(tuple(outputs)) if n.op is DETACHED]
        if not marked:
            return outputs, leaves
        found = self.pairs([n.args[0] for n in marked], leaves)
        names = {n: ir.var(f"detached {k}") for k, n in enumerate(marked)}
        exact = {names[n]: (value, ZERO) for n, (value, _) in zip(marked, found, strict=True)}
        return ir.substitute(outputs, names), {**leaves, **exact}

    def exponential(self, n: Expr, known: Known) -> Expr:
        """Put an exponential into what is known; where its correction holds. Where it fades, that is not
        computed of its argument, but of 0, so that nothing overflows."""
        x, rest = known[n.args[0]]
        fades, here = ir.lt(x, const(FADES)), ir.var("argument")
        known[here] = ir.where(fades, ZERO, x), ir.where(fades, ZERO, rest)
        value, error = corrected(raw(EXP, (here,)), known)
        del known[here], known[raw(EXP, (here,))]
        known[n] = ir.where(fades, raw(EXP, (x,)), value), ir.where(fades, ZERO, error)
        return ir.or_(fades, CORRECTED[EXP].inside(x))

    def parts_of(self, outputs: Sequence[Expr], leaves: Mapping[Expr, Parts]) -> list[Parts]:
        made = zip(outputs, self.pairs(outputs, leaves), strict=True)
        return [(ir.where(v, ONE, ZERO), ZERO) if e.op.boolean else (v, r) for e, (v, r) in made]

    def conditions(
        self, outputs: Sequence[Expr], leaves: Mapping[Expr, Parts]
    ) -> list[tuple[Expr, Expr]]:
        return [(holds, FALSE) for holds, _ in self.pairs(outputs, leaves)]

    def added(self, x: Parts, y: Parts) -> Parts:
        known = Known()
        a, b = ir.var("left"), ir.var("right")
        known.update({a: (x[0], x[1]), b: (y[0], y[1])})
        return self.known_sum(corrected(raw(ADD, (a, b)), known), x, y)

    def known_sum(self, total: Parts, x: Parts, y: Parts) -> Parts:
        """A sum: its correction is not known where both the terms and their corrections cancel, as
        errors of second order are all that is left; unless no term has an error. Errors that cancel
        alone leave a trace (`SECOND`), as the sum is not exact."""
        value, rest = total[0], total[1]
        errors = [raw(ir.ABS, (d,)) for d in (x[1], y[1]) if d is not ZERO]
        if value.op not in (ADD, SUB) or not errors:
            return total
        off = errors[0] if len(errors) == 1 else raw(ADD, tuple(errors))
        size = raw(ir.ABS, (x[0] if y[0].op is VAR else y[0],))
        left = raw(ir.ABS, (value if rest is ZERO else raw(ADD, (value, rest)),))
        nothing = raw(LT, (left, raw(ir.MUL, (const(NOTHING), size))))
        inexact = raw(LT, (ZERO, off))
        vanished = raw(ir.AND, (raw(LE, (raw(ir.ABS, (rest,)), ZERO)), inexact))
        some = raw(ir.MUL, (const(SECOND), size))
        rest = raw(WHERE, (vanished, some, rest))  # so that it does not pass for exact
        return value, raw(WHERE, (raw(ir.AND, (nothing, inexact)), NAN, rest))

    def unsure(self, x: Parts, where: Expr) -> Parts:
        return x

    # ------------------------------------------------------------------------ results
    @property
    def accepted(self) -> Fraction:
        return FUNCTIONS if self.functions else ARITHMETIC

    def of_each(self, t: Type) -> Expr:
        """The correction of an element of an array that is accepted."""
        if not self.functions:
            return const(ARITHMETIC)
        low, high, part = const(EACH), const(ARITHMETIC), const(16 * EACH / MANY)
        for n in t.shape:
            part = raw(ir.MUL, (part, raw(REAL_OF, (n,))))
        part = raw(WHERE, (raw(LE, (part, const(16 * EACH))), low, part))
        return raw(WHERE, (raw(LT, (high, part)), high, part))

    def output(self, e: Expr, checks: list[Statement], wrong: list[Expr]) -> Expr:
        """A result; what counts the numbers in it that may not be accurate is added."""
        if e.op is not ARRAY:
            if kind_of(e, self.kinds) != "f":
                return self.whole(e)
            ((value, rest),) = self.real(e)
            if rest is ZERO:
                return value
            wrong.append(_wrong(const(self.accepted), value, rest))
            return _together(value, rest)
        t, name = types(self.program)[name_of(e)], name_of(e)
        if t.kind != "f" or name not in self.beside:
            return e
        places = [self.names.fresh("i") for _ in t.shape]
        at = [index(i) for i in places]
        (rests,) = self.beside[name]
        value, rest = load(e, *at), load(array(rests), *at)
        size = [raw(ir.ABS, (v,)) for v in (value, rest)]
        (lost, biggest, most), block = over_elements(
            self.names,
            places,
            t,
            [_infinite(*size) if self.norm else _wrong(self.of_each(t), value, rest), *size],
            [False, True, True],
        )
        checks += block
        wrong += [lost, _wrong(const(self.accepted), biggest, most)]
        sums = self.names.fresh(name)
        checks.append(Build(sums, t, tuple(places), _together(value, rest)))
        return array(sums)


def _together(value: Expr, rest: Expr) -> Expr:
    """The sum; a value that is not finite stays."""
    total = raw(ADD, (value, rest))
    return raw(WHERE, (raw(LT, (raw(ir.ABS, (total,)), INF)), total, value))


def _infinite(size: Expr, off: Expr) -> Expr:
    """1 where a value or its correction is not finite."""
    return raw(WHERE, (raw(ir.AND, (raw(LT, (size, INF)), raw(LT, (off, INF)))), ZERO, ONE))


def _wrong(accepted: Expr, value: Expr, rest: Expr) -> Expr:
    """1 where a correction is too large, or unknown."""
    size, off = raw(ir.ABS, (value,)), raw(ir.ABS, (rest,))
    fine = raw(LE, (off, raw(ir.MUL, (accepted, size))))
    return raw(WHERE, (raw(ir.AND, (fine, raw(LT, (size, INF)))), ZERO, ONE))


__all__ = ["corrected_at_once", "corrected_program"]
