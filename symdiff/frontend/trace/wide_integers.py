"""Integers that may not fit in 64 bits are noticed.

Before:  for k in range(n): f = f*(k + 1)
After:   for k in range(n): f = f*(k + 1); check |f|*|k + 1| < 2**63

Python's integers have any size, those of kernels have 64 bits. For each integer that a
program computes, bounds follow from the sizes of arrays and from how often loops run. Where
they do not prove that it fits, a check says so at run time, in terms of real numbers, which
do not wrap; the program then runs with Python's integers (`symdiff.runtime.loops.exact_integers`).

Sums and products may wrap on the way: only their value counts, which is right if it fits. So
what is checked is what anything else than a sum or product sees: an operand of a division, of a
comparison or of real arithmetic, an index, and what a loop carries on.

Requires: a valid program as captured.
Ensures: the same program with more checks; none of its integers wraps where no check fails.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from symdiff import ir
from symdiff.errors import Location
from symdiff.frontend.trace.implied import consequences
from symdiff.ir import ABS, ADD, AND, FALSE, LE, LT, MUL, NEG, OR, POW, SUB, TRUE, WHERE, Expr
from symdiff.ir.loop_program import (
    ARRAY,
    FLOORDIV,
    INDEX,
    LARGEST,
    LOAD,
    MOD,
    REAL_OF,
    Block,
    Build,
    Carried,
    Check,
    Loop,
    LoopProgram,
    Statement,
    Type,
    Update,
    defined,
    expressions,
    index,
    kind_of,
    leaves,
    name_of,
    walk,
)

Range = tuple[int, int]
"""The least and the greatest value that an integer can have."""
Step = tuple[Range, bool, bool]
"""Bounds of what is added in an iteration; whether some of them are those of the iterations of
loops inside of it; and whether the sign may change before that."""

FULL: Range = (-LARGEST - 1, LARGEST)
MOST = 2**48
"""Elements that no axis has, and iterations that no loop makes: they take days."""
EXECUTED = 2**56
"""Iterations of all loops that no computer makes."""
BITS = 256
"""Of bounds; wider ones are of no use."""
NEAR = 2**63 - 2**53
"""What is less than this in real arithmetic fits, whatever the rounding errors."""
ROUNDS = 5
"""Iterations of a loop that are followed before bounds are guessed."""
MESSAGE = "an integer does not fit in 64 bits"
_RING = frozenset((ADD, SUB, MUL, NEG, POW, WHERE))


def checked(program: LoopProgram) -> LoopProgram:
    """The program with checks of what may not fit."""
    known: dict[str, Range] = {}
    for p in program.params:
        if p.type.kind == "i" and not p.type.shape:
            known[p.name] = FULL
        known.update((name_of(n), (0, MOST)) for n in p.type.shape if n.op is INDEX)
        if p.type.shape and p.type.kind != "f":
            known[p.name] = FULL if p.type.kind == "i" else (0, 1)
    for name, values in program.data.items():
        if values.dtype.kind in "iub":
            known[name] = _of_data(values)
    checks = frozenset(s.condition for s in walk(program.block) if isinstance(s, Check))
    sizes = frozenset(n for p in program.params for n in p.type.shape if n.op is INDEX)
    found = _Checker(known, program.locations, present=checks, sizes=sizes)
    found.limits = {n: ir.raw(REAL_OF, (n,)) for n in sizes}
    found.axes = tuple(
        tuple(name_of(n) for n in p.type.shape if n.op is INDEX) for p in program.params
    )
    block = found.block(program.block)
    last = found.checks(tuple(e for e in program.outputs if e.op is not ARRAY))
    if not found.any and not found.first:
        return program
    return replace(program, block=(*found.first.values(), *block, *last))


def ranges(known: dict[str, Range]) -> Callable[[Expr, dict[Expr, Range]], Range]:
    """Bounds of integers, given those of names; those of nodes are noted."""
    return _Checker(known, {}).range


def _of_data(values: np.ndarray) -> Range:
    return (int(values.min()), int(values.max())) if values.size else (0, 0)


def _seen(typed: Iterable[tuple[Type, Expr]]) -> tuple[Expr, ...]:
    """Values of types, except literals of real ones, which are doubles there."""
    return tuple(e for t, e in typed if t.kind != "f" or e.op is not ir.CONST)


@dataclass(slots=True)
class _Checker:
    """The bounds of names, and what has been checked.

    Attributes
    ----------
    known : bounds of integers, and of the elements of arrays of integers.
    any : whether there is a check.
    present : the conditions that the program checks already.
    sizes : of the axes of parameters.
    limits : magnitudes that names do not exceed, in terms of those.
    first : checks of sizes, before everything else.
    added : of results of loops, what they start from, and what each iteration adds to it.
    quiet : whether only bounds are wanted.
    axes : names of the sizes of each parameter.
    """

    known: dict[str, Range]
    locations: Mapping[Expr, Location]
    any: bool = False
    kinds: dict[Expr, str] = field(default_factory=dict)
    present: frozenset[Expr] = frozenset()
    sizes: frozenset[Expr] = frozenset()
    limits: dict[Expr, Expr] = field(default_factory=dict)
    first: dict[Expr, Check] = field(default_factory=dict)
    added: dict[Expr, tuple[Expr, Range]] = field(default_factory=dict)
    quiet: bool = False
    axes: tuple[tuple[str, ...], ...] = ()

    # ----------------------------------------------------------------- expressions
    def range(self, e: Expr, found: dict[Expr, Range] | None = None) -> Range:
        """Bounds of an integer; of one that need not fit, they may be wider than 64 bits."""
        found = {} if found is None else found
        for n in ir.topological((e,), found):
            found[n] = self._range(n, [found[a] for a in n.args])
            if n.op is WHERE and not _within(found[n], FULL) and self.kind(n) == "i":
                found[n] = self.either(n)
        return found[e]

    def either(self, n: Expr) -> Range:
        """Bounds of a choice, given what its condition implies for its sides."""
        test, yes, no = n.args
        sides = (yes, test), (no, ir.not_(test))
        a, b = (self.range(side, self.facts(c)) for side, c in sides)
        return _joined(a, b)

    def facts(self, condition: Expr) -> dict[Expr, Range]:
        """Bounds of the two sides of a comparison of integers that holds; of all that hold."""
        found: dict[Expr, Range] = {}
        for c in consequences(condition):
            if c.op not in (LT, LE) or any(self.kind(a) != "i" for a in c.args):
                continue
            (low, a), (b, high) = (found.get(x) or self.range(x) for x in c.args)
            gap = 1 if c.op is LT else 0
            for x, r in zip(
                c.args, ((low, min(a, high - gap)), (max(b, low + gap), high)), strict=True
            ):
                if x.op is not ir.CONST and r[0] <= r[1]:
                    found[x] = r
        return found

    def _range(self, n: Expr, args: list[Range]) -> Range:
        if n.op is ir.CONST and (k := ir.integer(n)) is not None:
            return k, k
        if n.op.boolean:
            return 0, 1
        if n.op in (INDEX, ARRAY):
            return self.known.get(name_of(n), FULL)
        if n.op is LOAD:
            return args[0]
        if self.kind(n) != "i":
            return FULL
        if n.op is ADD:
            return _bounded(args[0][0] + args[1][0], args[0][1] + args[1][1])
        if n.op is SUB:
            return _bounded(args[0][0] - args[1][1], args[0][1] - args[1][0])
        if n.op is NEG:
            return -args[0][1], -args[0][0]
        if n.op is MUL:
            ends = [a * b for a in args[0] for b in args[1]]
            return _bounded(min(ends), max(ends))
        if n.op is WHERE:
            return min(args[1][0], args[2][0]), max(args[1][1], args[2][1])
        args = [_clipped(a) for a in args] if n.op is not POW else args  # they are checked
        largest = max(abs(k) for k in args[0])
        if n.op is ABS:
            return 0, largest
        if n.op is POW:
            power = int(n.args[1].value)
            if largest.bit_length() * power > BITS:
                return _bounded(-(2**BITS), 2**BITS)
            ends = [k**power for k in args[0]]
            return (0 if power % 2 == 0 else min(ends)), max(ends)
        if n.op is FLOORDIV:
            if args[1][0] > 0:
                ends = [a // b for a in args[0] for b in args[1]]
                return min(*ends, 0), max(*ends, 0)
            return -largest, largest
        if n.op is MOD:
            low, high = args[1]
            if low > 0 and args[0][0] >= 0:
                return 0, min(high - 1, args[0][1])
            return (0 if low >= 0 else low), (0 if high <= 0 else high)
        return FULL

    def kind(self, e: Expr) -> str:
        return kind_of(e, self.kinds)

    def fits(self, e: Expr, found: dict[Expr, Range] | None = None) -> bool:
        return _within(self.range(e, found), FULL)

    def loose(self, roots: Sequence[Expr], found: dict[Expr, Range]) -> dict[Expr, Expr]:
        """The integers that something sees in expressions and that may not fit, with the
        condition that they count; the roots are seen."""
        order = ir.topological(roots)
        seen = {e for e in roots if self.kind(e) == "i"}
        for n in order:
            if n.op in _RING and self.kind(n) == "i":
                seen.update(n.args[:1] if n.op is WHERE else ())
            elif self.kind(n) == "f" or "f" in map(self.kind, n.args):  # literals are reals there
                seen.update(a for a in n.args if a.op is not ir.CONST)
            else:
                seen.update(n.args)
        loose = {
            e for e in seen
            if e.op is not ARRAY and self.kind(e) == "i" and not self.fits(e, found)
        }  # fmt: skip
        return self._counting(roots, order, loose) if loose else {}

    def _counting(
        self, roots: Sequence[Expr], order: Sequence[Expr], loose: set[Expr]
    ) -> dict[Expr, Expr]:
        """When nodes count: those on a side of a choice only if it is taken."""
        above: dict[Expr, bool] = {}
        for n in order:
            above[n] = n in loose or any(above[a] for a in n.args)
        when = dict.fromkeys(order, FALSE)
        when.update(dict.fromkeys(roots, TRUE))
        for n in reversed(order):
            for k, a in enumerate(n.args):
                path = when[n]
                if n.op is WHERE and k and not above[n.args[0]]:
                    path = ir.and_(path, n.args[0] if k == 1 else ir.not_(n.args[0]))
                elif n.op in (AND, OR) and not above[n.args[1 - k]]:
                    other = n.args[1 - k]
                    path = ir.and_(path, other if n.op is AND else ir.not_(other))
                when[a] = ir.or_(when[a], path)
        return {e: when[e] for e in order if e in loose}

    def size(self, e: Expr, limits: Mapping[Expr, Expr] | None = None) -> Expr:
        """The magnitude of an integer, or more, in real arithmetic; given limits of names."""
        found = {} if limits is None else dict(limits)
        for n in ir.topological((e,), found):
            args = [found.get(a, ir.ZERO) for a in n.args]
            if n.op is ir.CONST:
                found[n] = ir.const(abs(n.value))
            elif n.op is WHERE:
                found[n] = ir.where(n.args[0], args[1], args[2])
            elif n.op in (ADD, SUB):
                found[n] = ir.add(*args)
            elif n.op is MUL:
                found[n] = ir.mul(*args)
            elif n.op is NEG:
                found[n] = args[0]
            elif n.op is POW:
                found[n] = ir.power(args[0], n.args[1])
            elif self.kind(n) == "i":
                found[n] = ir.abs_(ir.raw(REAL_OF, (n,)))
        return found[e]

    def checks(self, roots: Sequence[Expr], when: Expr = TRUE) -> list[Check]:
        """Checks that must stand before expressions are computed."""
        made: dict[Expr, Check] = {}
        if self.quiet:
            return []
        for e, path in self.loose(roots, {}).items():
            if self.by_sizes(e):
                continue
            condition = ir.lt(self.size(e), ir.const(NEAR))
            condition = ir.or_(ir.not_(ir.and_(when, path)), condition)
            if condition is TRUE or condition in self.present:
                continue
            if condition is FALSE:
                condition = ir.not_(TRUE)
            made.setdefault(condition, self.check(condition, e))
        self.any |= bool(made)
        return list(made.values())

    def by_sizes(self, e: Expr) -> bool:
        """Whether an integer fits if some sizes are not too large, which is checked first."""
        size = self.size(e, self.limits)
        leaves_ = leaves((size,))
        if not leaves_ or any(n not in self.sizes for n in leaves_):
            return False
        condition = ir.lt(size, ir.const(NEAR))
        if condition in self.present or self.of_one_array(size):
            return True
        if condition is not TRUE:
            self.first.setdefault(condition, self.check(condition, e))
        return True

    def of_one_array(self, size: Expr) -> bool:
        """Whether a magnitude is small as no array has so many elements."""
        terms: dict[Expr, dict[tuple[str, ...], Fraction]] = {}
        for n in ir.topological((size,)):
            if n.op is ir.CONST:
                terms[n] = {(): n.value}
            elif n.op is REAL_OF:
                terms[n] = {(name_of(n.args[0]),): Fraction(1)}
            elif n.op is ABS or n.op is INDEX:
                terms[n] = terms.get(n.args[0], {}) if n.args else {}
            elif n.op is ADD:
                a, b = (terms[x] for x in n.args)
                terms[n] = {k: a.get(k, Fraction(0)) + b.get(k, Fraction(0)) for k in {**a, **b}}
            elif n.op is MUL:
                a, b = (terms[x] for x in n.args)
                terms[n] = {}
                for (k, p), (m, q) in itertools.product(a.items(), b.items()):
                    key = tuple(sorted((*k, *m)))
                    terms[n][key] = terms[n].get(key, Fraction(0)) + p * q
            else:
                return False
            if len(terms[n]) > ROUNDS**3:
                return False
        known = all(any(_among(k, axes) for axes in self.axes) for k in terms[size])
        return known and sum(map(abs, terms[size].values())) * MOST < NEAR

    def check(self, condition: Expr, e: Expr) -> Check:
        below = (e, *reversed(ir.topological((e,))))
        place = next((self.locations[n] for n in below if n in self.locations), None)
        return Check(condition, "overflow", MESSAGE, place)

    # ------------------------------------------------------------------ statements
    def block(self, block: Block) -> Block:
        done: list[Statement] = []
        for s in block:
            done += self.statement(s)
        return tuple(done)

    def statement(self, s: Statement) -> list[Statement]:
        match s:
            case Build():
                before = self.checks(s.type.shape)
                for i, n in zip(s.indices, s.type.shape, strict=True):
                    self.known[i] = self._index(n)
                    self.limits[index(i)] = self.size(n, self.limits)
                body = self.block(s.body)
                body = (*body, *self.checks(_seen([(s.type, s.value)])))
                self.define(s)
                return [*before, replace(s, body=body)]
            case Loop():
                return self.loop(s)
        seen = [e for e in expressions(s) if e.op is not ARRAY]
        if isinstance(s, Update):
            seen = [e for e in seen if e is not s.value] + [*_seen([(s.type, s.value)])]
        before = self.checks(seen)
        self.define(s)
        return [*before, s]

    def _index(self, count: Expr | None) -> Range:
        most = MOST if count is None else max(0, min(MOST, self.range(count)[1] - 1))
        return 0, most

    def define(self, s: Statement) -> None:
        """Note the bounds of what a statement defines."""
        match s:
            case Build():
                if s.type.kind != "f":
                    self.known[s.name] = _clipped(self.range(s.value))
            case Update():
                if s.type.kind != "f":
                    a, b = self.range(s.value), self.known.get(s.source, FULL)
                    both = _joined(a, b) if not s.add else FULL
                    self.known[s.name] = _clipped(both)
            case _:
                for name, t in defined(s):
                    if t.kind != "f":
                        self.known[name] = FULL if t.kind == "i" else (0, 1)

    # ----------------------------------------------------------------------- loops
    def loop(self, s: Loop) -> list[Statement]:
        whole = [c for c in s.carried if c.type.kind != "f"]
        starts = _seen((c.type, c.init) for c in s.carried if not c.type.shape)
        counts = () if s.count is None else (s.count,)
        before = self.checks((*starts, *counts))
        self.known[s.index] = self._index(s.count)
        if s.count is not None:
            self.limits[index(s.index)] = self.size(s.count, self.limits)
        steps, loose = self.bounds(s, whole)
        within: list[Check] = []
        if self.loose((s.condition,), {}):
            before += self.checks(
                ir.substitute((s.condition,), {c.leaf: c.init for c in s.carried})
            )
            within = self.checks(ir.substitute((s.condition,), {c.leaf: c.next for c in s.carried}))
        at_start = self.known.copy()
        self.known.update(self.at_start(s))
        body = self.block(s.body)
        after = self.checks(_seen((c.type, c.next) for c in s.carried if not c.type.shape))
        for c in whole:
            last = FULL if c.name in loose else self.range(c.next)
            both = _joined(at_start[c.name], self.range(c.init))
            at_start[c.result] = _clipped(_joined(both, last))
            if c.name in steps and not steps[c.name][2]:
                self.added[c.after] = c.init, steps[c.name][0]
        self.known = at_start
        self.known[s.trips] = (0, MOST)
        return [*before, replace(s, body=(*body, *after, *within))]

    def at_start(self, s: Loop) -> dict[str, Range]:
        """What the condition of a loop says of integers when an iteration starts."""
        facts = self.facts(s.condition)
        return {name_of(n): r for n, r in facts.items() if n.op is INDEX}

    def bounds(self, s: Loop, whole: Sequence[Carried]) -> tuple[dict[str, Step], set[str]]:
        """Find bounds of what a loop carries, at the start of its iterations; returns what is
        added to some in each iteration, and the names without bounds."""
        inits = {c.name: _clipped(self.range(c.init)) for c in whole}
        steps: dict[str, Step] = {}
        loose: set[str] = set()
        self.known.update(inits)
        trips = self.known[s.index][1] + 1
        settled, rounds = not whole, 0
        while not settled:
            settled, rounds = True, rounds + 1
            inside = replace(self, known={**self.known, **self.at_start(s)}, quiet=True)
            inside.block(s.body)
            for c in whole:
                now = self.known[c.name]
                if c.name in loose:
                    continue
                found, step = inside.range(c.next), inside.step(c)
                if c.next.op is WHERE and not c.type.shape:
                    found = _both(found, inside.either(c.next))
                if c.name in steps:
                    old = steps[c.name]
                    same = step is not None and step[1] <= old[1] and step[2] <= old[2]
                    if step is not None and same and _within(step[0], old[0]):
                        continue
                elif _within(found, now):
                    continue
                settled = False
                if rounds < ROUNDS:
                    self.known[c.name] = _clipped(_joined(now, found))
                elif rounds == ROUNDS:  # as of a search in an axis
                    self.known[c.name] = _clipped(_joined(now, (0, MOST)))
                elif c.name not in steps and step is not None:
                    steps[c.name] = step
                    self.known[c.name] = _clipped(_far(inits[c.name], step, trips))
                else:
                    loose.add(c.name)
                    steps.pop(c.name, None)
                    self.known[c.name] = FULL if c.type.kind == "i" else (0, 1)
        return steps, loose

    def step(self, c: Carried) -> Step | None:
        """What an iteration adds to a carried number, if it does nothing else to it; or of what
        every iteration of a loop inside of it adds."""
        if c.type.shape or c.type.kind == "b":
            return None
        leaf, value, nested, turned = index(c.name), c.next, False, False
        for result, (init, added) in reversed(self.added.items()):
            if result in leaves((value,)):
                one = index(f"{name_of(result)} #")
                self.known[name_of(one)] = added
                (value,) = ir.substitute((value,), {result: ir.add(init, one)})
                nested = True
        found: dict[Expr, Range | None] = {}
        has: dict[Expr, bool] = {}
        for n in ir.topological((value,)):
            sides = n.args[1:] if n.op is WHERE else n.args
            has[n] = n is leaf or any(has[a] for a in sides)
            if not has[n]:
                continue
            found[n] = None
            if n is leaf:
                found[n] = (0, 0)
            elif n.op is ADD and has[n.args[0]] != has[n.args[1]]:
                own, other = n.args if has[n.args[0]] else n.args[::-1]
                found[n] = _shifted(found[own], self.range(other), 1)
            elif n.op is SUB and not has[n.args[1]]:
                found[n] = _shifted(found[n.args[0]], self.range(n.args[1]), -1)
            elif n.op in (NEG, SUB) and has[n.args[-1]] and not (n.op is SUB and has[n.args[0]]):
                turned, change = True, found[n.args[-1]]
                constant = self.range(n.args[0]) if n.op is SUB else (0, 0)
                if change is not None:
                    most = max(map(abs, change)) + max(map(abs, constant))
                    found[n] = -most, most
            elif n.op is WHERE and all(has[a] for a in sides):
                a, b = (found[x] for x in sides)
                found[n] = _joined(a, b) if a is not None and b is not None else None
        step = found.get(value)
        if step is None:
            return None
        most = max(map(abs, step))
        return ((-most, most) if turned else step), nested, turned


def _among(names: Sequence[str], axes: Sequence[str]) -> bool:
    """Whether names are those of some axes, each as often as it has axes."""
    return all(names.count(n) <= axes.count(n) for n in set(names))


def _far(init: Range, step: Step, trips: int) -> Range:
    """Bounds of what starts somewhere, after so many iterations."""
    (low, high), nested, turned = step
    times = EXECUTED if nested else trips
    if turned:
        most = max(map(abs, init))
        init = -most, most
    return init[0] + min(0, low) * times, init[1] + max(0, high) * times


def _shifted(own: Range | None, other: Range, sign: int) -> Range | None:
    if own is None:
        return None
    low, high = (other[0], other[1]) if sign > 0 else (-other[1], -other[0])
    return _bounded(own[0] + low, own[1] + high)


def _bounded(low: int, high: int) -> Range:
    return max(low, -(2**BITS)), min(high, 2**BITS)


def _clipped(r: Range) -> Range:
    """Bounds of what has been checked."""
    return min(max(r[0], FULL[0]), FULL[1]), max(min(r[1], FULL[1]), FULL[0])


def _within(a: Range, b: Range) -> bool:
    return b[0] <= a[0] and a[1] <= b[1]


def _both(a: Range, b: Range) -> Range:
    """What is within two bounds, which are those of one number."""
    low, high = max(a[0], b[0]), min(a[1], b[1])
    return (low, high) if low <= high else a


def _joined(a: Range, b: Range) -> Range:
    return min(a[0], b[0]), max(a[1], b[1])


__all__ = ["Range", "checked", "ranges"]
