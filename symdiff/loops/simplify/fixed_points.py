"""Distances of affine recurrences from their fixed points, carried with them.

Before:  for i in range(n): e = (1 - e)*d[i] + e                       1 - e
After:   for i in range(n): e = (1 - e)*d[i] + e; r = (1 - d[i])*r     r

Requires: a valid program, not differentiated yet.
Ensures: equal values. Where the next value of a carried number is a*e + b, and there is a value u
with a*u + b = u for all arguments, its distance r from u is multiplied by a in each iteration. So r
keeps the digits that u - e loses near u, and replaces u - e where that is written. The derivatives
of the next value are a by e, 1 - a by u and -r by a (`functions.STEP`). The number itself is
computed as written, which keeps the digits that u - r loses far from u. Conditions read plain
twins, and do not change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from symdiff import ir
from symdiff.ir import ADD, DIV, MUL, NEG, ONE, POW, SUB, WHERE, ZERO, Expr, topological, var
from symdiff.ir import loop_program as lp
from symdiff.ir.blocks import bottom_up
from symdiff.ir.functions import EXTENDED, STEP
from symdiff.ir.names import Names
from symdiff.ir.plain import is_plain
from symdiff.ir.prune import pruned
from symdiff.passes.cancel.algebra import linear

Simplify = Callable[[tuple[Expr, ...]], tuple[Expr, ...]]
_SUMS = (ADD, SUB, NEG)
MAX_NODES = 200
"""Largest formula of the next value."""


def from_fixed_points(
    block: lp.Block, roots: Sequence[Expr], names: Names, simplify: Simplify
) -> tuple[lp.Block, tuple[Expr, ...]]:
    """The block and the expressions after it.

    Parameters
    ----------
    names : of the program.
    simplify : cancels in expressions.
    """
    distances = _Distances(names, simplify)
    block = distances.carried(block)
    if not (distances.known or distances.arrays):
        return block, tuple(roots)
    return lp.mapped_block(block, distances.put), tuple(map(distances.put, roots))


def values_only(block: lp.Block, roots: Sequence[Expr]) -> tuple[lp.Block, tuple[Expr, ...]]:
    """The block and the expressions after it, after the last differentiation: without distances
    that only derivatives would use."""
    every = (*lp.expressions_in(block), *roots)
    if not any(n.op in (EXTENDED, STEP) for n in topological(every)):
        return block, tuple(roots)

    def value(n: Expr, args: tuple[Expr, ...]) -> Expr:
        return args[0] if n.op in (EXTENDED, STEP) else ir.rebuild(n, args)

    def one(e: Expr) -> Expr:
        return ir.transform((e,), value)[0]

    roots = tuple(map(one, roots))
    return pruned(lp.mapped_block(block, one), roots), roots


@dataclass(frozen=True, slots=True)
class _Distance:
    """The fixed point of a number, and the distance from it.

    Attributes
    ----------
    point : the fixed point.
    value : the distance, by its own recurrence.
    below : whether the distance is the point minus the number, or else the number minus the point.
    """

    point: Expr
    value: Expr
    below: bool

    def of(self, number: Expr) -> Expr:
        """The distance of the number as a formula."""
        return self.point - number if self.below else number - self.point

    def marked(self, number: Expr) -> Expr:
        """The distance with the derivatives of the formula."""
        return EXTENDED(self.value, self.of(number))

    def step(self, value: Expr, number: Expr, factor: Expr, rest: Expr) -> Expr:
        """The next value with the derivatives by the distance."""
        distance = self.marked(number)
        return STEP(value, number, self.point, factor, rest, distance if self.below else -distance)


@dataclass(frozen=True, slots=True)
class _Elements:
    """The distances of the elements of an array, and their next values.

    Attributes
    ----------
    indices : the indices of an element.
    known : the distance of that element.
    next, passed : its next value and the distance of that, in the loop.
    """

    indices: tuple[Expr, ...]
    known: _Distance
    next: Expr = ZERO
    passed: Expr = ZERO

    def at(self, indices: Sequence[Expr]) -> _Elements:
        """The same for another element."""
        put = dict(zip(self.indices, indices, strict=True))
        given = (self.known.point, self.known.value, self.passed, self.next)
        point, value, passed, after = ir.substitute(given, put)
        known = replace(self.known, point=point, value=value)
        return _Elements(tuple(indices), known, after, passed)


class _Distances:
    """The numbers of a program whose distances from fixed points are carried.

    Attributes
    ----------
    known : for numbers before and after an iteration, and after the loop.
    arrays : the same for the elements of arrays.
    nexts : the formula of a next value -> its name while distances are inserted.
    formulas, made : such a name -> the number whose next value it is; the replacement of the name
        then.
    loops : what is known after a loop -> what the loop carries.
    """

    def __init__(self, names: Names, simplify: Simplify) -> None:
        self.names, self.simplify = names, simplify
        self.known: dict[Expr, _Distance] = {}
        self.arrays: dict[Expr, _Elements] = {}
        self.nexts: dict[Expr, Expr] = {}
        self.formulas: dict[Expr, tuple[Expr, Expr, _Distance]] = {}
        self.made: dict[Expr, Expr] = {}
        self.loops: dict[Expr, lp.Carried] = {}

    def carried(self, block: lp.Block) -> lp.Block:
        """The block with loops that carry distances, too."""

        def rule(s: lp.Statement) -> lp.Block:
            if isinstance(s, lp.Loop) and not s.saves and not s.restores:
                return self._loop(s)
            return (s,)

        return bottom_up(block, rule)

    def _loop(self, s: lp.Loop) -> lp.Block:
        """A loop that carries distances, too, after the builds of the distances of arrays."""
        own = lp.own_names((s,))
        builds = {b.name: b for b in s.body if isinstance(b, lp.Build) and not b.body}
        before: list[lp.Statement] = []
        for c in s.carried:
            if c.type == lp.REAL:
                if (r := self._distance(c, own)) is not None:
                    s = replace(s, carried=(*s.carried, r))
            elif (inside := self.loops.get(c.next)) is not None and inside.init is c.leaf:
                if (ends := self._around(c, own)) is not None:
                    before.append(ends[0])
                    s = replace(s, carried=(*s.carried, ends[1]))
            elif c.type.kind == "f" and (b := builds.get(lp.name_of(c.next))) is not None:
                if (made := self._distances(c, b, own - set(b.indices))) is not None:
                    first, r, last = made
                    before.append(first)
                    place = s.body.index(b) + 1
                    body = (*s.body[:place], last, *s.body[place:])
                    s = replace(s, carried=(*s.carried, r), body=body)
        return *before, s

    def _distance(self, c: lp.Carried, own: set[str]) -> lp.Carried | None:
        """The carried distance of a number from its fixed point, if there is one; `own` are the
        names of the loop."""
        start, end = (var(self.names.fresh(f"{n}_distance")) for n in (c.name, c.result))
        found = self._known(c.leaf, c.next, c.init, start, own)
        if found is None:
            return None
        known, value = found
        self.known |= {c.leaf: known, c.after: replace(known, value=end)}
        self.loops[c.after] = c
        if c.next not in self.known:
            self._name(c.leaf, c.next, known, value)
        return lp.Carried(lp.name_of(start), lp.REAL, known.of(c.init), value, lp.name_of(end))

    def _distances(
        self, c: lp.Carried, b: lp.Build, own: set[str]
    ) -> tuple[lp.Build, lp.Carried, lp.Build] | None:
        """The carried distances of the elements of an array: their initial and next values."""
        at = tuple(map(lp.index, b.indices))
        element = lp.load(c.leaf, *at)
        start, end, first, last = (
            self.names.fresh(f"{n}_distance")
            for n in (c.name, c.result, lp.name_of(c.init), b.name)
        )
        init = lp.load(c.init, *at)
        found = self._known(element, b.value, init, lp.load(lp.array(start), *at), own)
        x = var(start)
        if found is None or c.leaf in topological(ir.substitute((b.value,), {element: x})):
            return None
        known, value = found
        self.arrays[c.leaf] = _Elements(at, known, b.value, value)
        self.loops[c.after] = c
        for leaf, name in ((c.after, end), (c.next, last)):
            self.arrays[leaf] = _Elements(at, replace(known, value=lp.load(lp.array(name), *at)))
        made = [
            lp.Build(name, c.type, tuple(map(self.names.fresh, b.indices)), e)
            for name, e in ((first, known.of(init)), (last, value))
        ]
        begin, go_on = (
            replace(
                m,
                value=ir.substitute(
                    (m.value,), dict(zip(at, map(lp.index, m.indices), strict=True))
                )[0],
            )
            for m in made
        )
        return begin, lp.Carried(start, c.type, lp.array(first), lp.array(last), end), go_on

    def _around(self, c: lp.Carried, own: set[str]) -> tuple[lp.Build, lp.Carried] | None:
        """The carried distances of the elements of an array in the loop around a loop that
        continues them: their initial values."""
        inside = self.arrays[c.next]
        at = tuple(lp.index(self.names.fresh(lp.name_of(i))) for i in inside.indices)
        known = inside.at(at).known
        if any(lp.name_of(e) in own for e in lp.leaves((known.point,))):
            return None
        start, end, first = (
            self.names.fresh(f"{n}_distance") for n in (c.name, c.result, lp.name_of(c.init))
        )
        self.loops[c.after] = c
        for leaf, name in ((c.leaf, start), (c.after, end)):
            self.arrays[leaf] = _Elements(at, replace(known, value=lp.load(lp.array(name), *at)))
        indices = tuple(self.names.fresh(lp.name_of(i)) for i in at)
        there = inside.at(tuple(map(lp.index, indices))).known
        begin = lp.Build(first, c.type, indices, there.of(lp.load(c.init, *map(lp.index, indices))))
        return begin, lp.Carried(start, c.type, lp.array(first), known.value.args[0], end)

    def _known(
        self, number: Expr, after: Expr, init: Expr, distance: Expr, own: set[str]
    ) -> tuple[_Distance, Expr] | None:
        """The distance of a number, and the next one."""
        if len(topological((after,))) > MAX_NODES:
            return None
        point = next(self._points(number, after), None)
        if point is None or any(lp.name_of(e) in own for e in lp.leaves((point,))):
            return None
        known = _Distance(point, distance, not _is_less(point, init))
        value = self._passed_on(number, after, known)
        return None if value is None else (known, value)

    def _name(self, number: Expr, after: Expr, known: _Distance, passed: Expr) -> None:
        """Give a next value a name."""
        if after not in self.nexts:
            name = self.nexts[after] = var(self.names.fresh("next"))
            self.known[name] = replace(known, value=passed)
            self.formulas[name] = number, after, known

    def _points(self, number: Expr, after: Expr) -> Iterator[Expr]:
        """The candidates for the fixed point."""
        for e in _branches(after):
            inside = self.loops.get(e)
            if inside is not None and inside.init is number:
                yield self.known[e].point
            parts = _affine(e, number)
            if parts is None or parts[1] is ZERO or parts[0] in (ZERO, ONE):
                continue
            above, below = self.simplify((parts[1], ONE - parts[0]))
            if below is ZERO:
                continue
            (found,) = self.simplify((above / below,))
            if _denominators(found) <= _denominators(after):
                yield found

    def _passed_on(self, number: Expr, e: Expr, known: _Distance) -> Expr | None:
        """The next distance; None if it is no multiple of the previous one."""
        if e is number:
            return known.value
        if e.op is WHERE:
            yes, no = (
                self._passed_on(number, a, known) if number in topological((a,)) or a in self.loops
                else known.of(a)
                for a in e.args[1:]
            )  # fmt: skip
            return None if yes is None or no is None else ir.where(e.args[0], yes, no)
        inside = self.loops.get(e)
        if inside is not None:
            if inside.init is not number or self.known[e].point is not known.point:
                return None
            value = self.known[e].value
            return value if self.known[e].below == known.below else -value
        factor = self._factor(number, e, known)
        return None if factor is None else factor * known.value

    def _factor(self, number: Expr, e: Expr, known: _Distance) -> Expr | None:
        """The factor by which the distance is multiplied."""
        parts = _affine(e, number)
        if parts is None:
            return None
        a, b = parts
        rest, factor = self.simplify((a * known.point + b - known.point, a))
        return factor if rest is ZERO else None

    def _stepped(self, number: Expr, e: Expr, known: _Distance) -> Expr:
        """The next value with the derivatives by the distance."""
        if e.op is WHERE:
            return ir.where(e.args[0], *(self._stepped(number, a, known) for a in e.args[1:]))
        factor = None if e is number or e in self.loops else self._factor(number, e, known)
        if factor is None:
            return self.put(e)
        (rest,) = self.simplify((ONE - factor,))
        return known.step(e, number, self.put(factor), self.put(rest))

    # ------------------------------------------------------------------ insertion
    def put(self, e: Expr) -> Expr:
        """An expression with distances inserted where they are written, and next values by them."""
        order = topological((e,))
        for n in order:
            if n.op is lp.LOAD and n not in self.known and n.args[0] in self.arrays:
                found = self.arrays[n.args[0]].at(n.args[1:])
                self.known[n] = found.known
                if found.next is not ZERO:
                    self._name(n, found.next, found.known, found.passed)
        new: dict[Expr, Expr] = {}
        for n in order:
            if n in self.nexts:
                new[n] = self.nexts[n]
            elif n.op.boolean or is_plain(n):
                new[n] = n
            else:
                new[n] = self._by_distance(ir.rebuild(n, tuple(new[a] for a in n.args)))
        named = [n for n in topological((new[e],)) if n in self.formulas]
        return ir.substitute((new[e],), {n: self._next(n) for n in named})[0]

    def _next(self, name: Expr) -> Expr:
        """The next value that has a name while distances are inserted."""
        if name not in self.made:
            self.made[name] = self._stepped(*self.formulas[name])
        return self.made[name]

    def _by_distance(self, e: Expr) -> Expr:
        """A multiple of the distance of a number from its fixed point, with the carried
        distance."""
        if e.op not in _SUMS or (terms := linear(e)) is None:
            return e
        for number, factor in terms.items():
            known = self.known.get(number)
            if known is None or (points := linear(known.point)) is None:
                continue
            if {m: -factor * q for m, q in points.items()} == {
                m: q for m, q in terms.items() if m is not number
            }:
                return ir.const(-factor if known.below else factor) * known.marked(number)
        return e


def _branches(e: Expr) -> Iterator[Expr]:
    """The values of an expression in each of its branches."""
    if e.op is WHERE:
        for a in e.args[1:]:
            yield from _branches(a)
    else:
        yield e


def _affine(e: Expr, x: Expr) -> tuple[Expr, Expr] | None:
    """(a, b) of a formula that is written as a*x + b."""
    parts: dict[Expr, tuple[Expr, Expr] | None] = {}
    for n in topological((e,)):
        found = [parts[a] for a in n.args]
        if n is x:
            parts[n] = ONE, ZERO
        elif all(p is not None and p[0] is ZERO for p in found):
            parts[n] = ZERO, n
        elif None in found:
            parts[n] = None
        else:
            parts[n] = _combined(n, [p for p in found if p is not None])
    return parts[e]


def _combined(n: Expr, parts: list[tuple[Expr, Expr]]) -> tuple[Expr, Expr] | None:
    (a, b), (c, d) = parts[0], parts[-1]
    if n.op is ADD:
        return _sum(a, c), b + d
    if n.op is SUB:
        return a - c, b - d
    if n.op is NEG:
        return -a, -b
    if n.op is MUL and (a is ZERO or c is ZERO):
        k, (p, q) = (b, (c, d)) if a is ZERO else (d, (a, b))
        return k * p, k * q
    if n.op is DIV and c is ZERO:
        return a / d, b / d
    return None


def _sum(a: Expr, b: Expr) -> Expr:
    """A sum without a leading sign."""
    return b - a.args[0] if a.op is NEG else a + b


def _denominators(e: Expr) -> set[Expr]:
    """The denominators whose zeros matter."""
    found = set()
    for n in topological((e,)):
        if n.op is DIV and ir.rational(n.args[1]) is None:
            found.add(n.args[1])
        elif n.op is POW and (q := ir.rational(n.args[1])) is not None and q < 0:
            found.add(n.args[0])
    return found


def _is_less(a: Expr, b: Expr) -> bool:
    """Whether constants are known to be in this order."""
    p, q = ir.rational(a), ir.rational(b)
    return isinstance(p, Fraction) and isinstance(q, Fraction) and p < q
