"""Points of a line through a point, and the decisions on both sides of it.

`Lines` evaluates expressions at such points in balls, with chosen branches; `Line` chooses them:
those of the point, if a side takes them too, those of the sides where the point alone has others,
and those outside a thin band. `interpret.along_lines` differentiates the result.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flint import arb, ctx

from symdiff import ir
from symdiff.interpret import work
from symdiff.interpret.balls import Value
from symdiff.interpret.flat import Tape
from symdiff.interpret.limits import Stopped
from symdiff.ir import ZERO, Expr
from symdiff.ir.functions import FILLED, HYPOT, SQUARES
from symdiff.ir.plain import exactly

Inputs = list[Value]
Choice = Mapping[int, int]
"""Maps indices of `where` nodes to the indices of the chosen nodes."""

ASIDE = 4
"""The power of t by which to leave a line on which the formula is undefined."""
UP = 2
"""The side of a line on which all parameters grow; others are 1 and -1."""
ALIKE, BAND = 40, 24
"""Bits to which the value at a puncture, and in a very thin band, must agree with both limits."""
THIN, VERY_THIN = 1e-3, 1e-6
"""The largest widths of thin bands, in the compared quantity."""
ROUNDED = 2.0**-50
"""Constants that are closer than this to an integer, relatively, are rounded."""
BITS = 8
"""Bits of precision per unit of depth: a sum that cancels half of them is zero."""
PLAIN, BEYOND = 256, 7
"""Bits with which to find the end of a thin band; minus the exponent of a distance beyond it, relative to 1
and the point."""
SIZES = (ir.ABS, SQUARES, HYPOT)
"""Operations whose results are never negative."""


class Lines(Tape):
    """A tape with chosen branches, on which sums that cancel to all bits are zero."""

    choice: Choice

    def __init__(self, params: Sequence[Expr], outputs: Sequence[Expr]) -> None:
        filled = [e for e in ir.topological(outputs) if e.op is FILLED]
        beside = (e.args[k] for k in (0, 1) for e in filled)
        super().__init__(params, (*outputs, *beside))
        self.roots, more = self.roots[: len(outputs)], self.roots[len(outputs) :]
        self._filled = [*zip(more, more[len(filled) :], strict=False)]
        self.choice = {}
        self.wheres = [i for i, e in enumerate(self.nodes) if e.op is ir.WHERE]
        self.steps = [i for i, e in enumerate(self.nodes) if is_step(e)]
        self._sums = {i for i, e in enumerate(self.nodes) if e.op in (ir.ADD, ir.SUB)}
        self._compared = set(self.conditions)
        self._decisions = [
            (i, e.op, [self.index[a] for a in e.args])
            for i, e in enumerate(self.nodes)
            if e.op in (ir.NOT, ir.AND, ir.OR) or e.op in ir.COMPARISONS
        ]
        self.tolerances = {*ir.variables(outputs)} - ir.variables_of_values(outputs)
        self._above: dict[int, tuple[list[Any], work.Counts]] = {}

    def on(
        self,
        inputs: Sequence[Value],
        prec: int,
        choice: Choice,
        known: Mapping[int, Value],
        none: int = 0,
    ) -> list[Value]:
        """All values at a point of a line.

        Parameters
        ----------
        known : truth values and steps.
        none : sums that cancel to so many bits are zero, if these are more than half of the precision.
        """
        ctx.prec = prec
        work.spend(work.cost(self._counts, prec))
        v = self._template(prec)
        for i, k in self.slots:
            v[i] = inputs[k]
        self._fill(v, self._code, max(prec // 2, none), choice, known)
        return v

    def beside(self, values: Sequence[Value], by: int, x: Value, prec: int) -> list[Value]:
        """All values where one parameter is x instead: those that depend on it are computed."""
        if by not in self._above:
            above = {i for i, k in self.slots if k == by}
            for i, _, *places in self._code:
                if not above.isdisjoint(places):
                    above.add(i)
            code = [line for line in self._code if line[0] in above]
            self._above[by] = code, work.counts(self.nodes[line[0]] for line in code)
        code, counts = self._above[by]
        ctx.prec = prec
        work.spend(work.cost(counts, prec))
        v = [*values]
        for i, k in self.slots:
            if k == by:
                v[i] = x
        self._fill(v, code, prec // 2, {}, {})
        return v

    def _fill(
        self,
        v: list[Value],
        code: Sequence[Any],
        none: int,
        choice: Choice,
        known: Mapping[int, Value],
    ) -> None:
        """Compute the values of some nodes, children first; sums that cancel to `none` bits are zero."""
        self.choice = choice
        least = arb(2) ** -none
        for i, f, a, b, c, d in code:
            if i in known:
                v[i] = known[i]
                continue
            if i in choice:
                v[i] = v[choice[i]]
                continue
            x = f(*[v[k] for k in (a, b, c, d) if k >= 0])
            if i in self._sums:
                if not x.is_exact() and x.contains(0):
                    if x.abs_upper() <= least * (v[a].abs_upper() + v[b].abs_upper()):
                        x = arb(0)
            elif x is None and i in self._compared:
                finite = v[a].is_finite() and v[b].is_finite()
                x = finite and self.nodes[i].op is not ir.LT
            v[i] = x

    def _causes(self, i: int, v: Sequence[Value]) -> list[int]:
        if i in self.choice:
            return [self.choice[i]]
        return super()._causes(i, v)

    def within(self, i: int, here: Sequence[Value]) -> Value | None:
        """The bound of a quantity that a comparison at a point implies to be small, but not zero; or of its distance
        from an integer. None if there is none."""
        e = self.nodes[i]
        if e.op is ir.EQ or here[i] is None:
            return None
        u, bound = e.args if here[i] else e.args[::-1]
        size, most = here[self.index[u]], here[self.index[bound]]
        if ir.rational(u) is None and most.is_finite() and 0 < most <= THIN and abs(size) < most:
            return most
        for u, bound in (e.args, e.args[::-1]):
            if (offset := self._offset(bound, here)) is not None:
                away = abs(here[self.index[u]] - offset[0])
                if not (away.is_finite() and away <= offset[1]):
                    return None
                end, middle = here[self.index[bound]], arb(offset[0])
                holds = middle < end if bound is e.args[1] else end < middle
                return arb(offset[1]) if away < offset[1] or holds is here[i] else None
        return None

    def _offset(self, bound: Expr, here: Sequence[Value]) -> tuple[int, float] | None:
        """The integer that a bound is close to, and how close; 0 for small tolerances."""
        if {*ir.variables((bound,))} <= self.tolerances != set():
            size = abs(float(here[self.index[bound]].mid()))
            return (0, size) if 0 < size <= THIN else None
        return small_offset(bound)

    def is_singular(self, root: int, v: Sequence[Value], choice: Choice) -> bool:
        """Whether a node has no value, or had none as the user wrote it."""
        if not v[root].is_finite():
            return True
        used = self.used(root, choice) if self._filled else ()
        return any(i in used and v[k].contains(0) for i, k in self._filled)

    def used(self, root: int, choice: Choice) -> set[int]:
        """The nodes from which a node is computed."""

        def below(i: int) -> list[int]:
            return [choice[i]] if i in choice else [self.index[a] for a in self.nodes[i].args]

        return set(ir.reached((root,), below))

    def leaves(self, v: Sequence[Value]) -> dict[int, int | None]:
        """The chosen leaf of each tree of branches; None where a condition is unknown, or compares
        undefined values."""
        truths: dict[int, Value] = {}
        for i, op, args in self._decisions:  # children come first
            parts: list[Value] = [truths.get(k, v[k]) for k in args]
            if op is ir.NOT:
                truths[i] = None if parts[0] is None else not parts[0]
            elif op in (ir.AND, ir.OR):
                decisive = op is ir.OR
                truths[i] = (
                    decisive if decisive in parts else None if None in parts else not decisive
                )
            else:
                truths[i] = None if any(x.is_nan() for x in parts) else v[i]
        found: dict[int, int | None] = {}
        for i in self.wheres:
            condition, *sides = (self.index[a] for a in self.nodes[i].args)
            truth = truths.get(condition, v[condition])
            side = sides[0 if truth else 1]
            found[i] = None if truth is None else found.get(side, side)
        return found


def no_double(exponent: int) -> Value:
    """A power of two times a factor close to 1: not a double, so decisions there are not those of
    doubles."""
    return arb((1 << 60) + 1) * arb(2) ** (exponent - 60)


def is_step(e: Expr) -> bool:
    """Whether an operation is constant between its jumps."""
    if e.op.boolean or not e.args or e.op.partials is None or e.op.name.startswith("plain:"):
        return False
    return all(p is ZERO for p in e.op.partials(*e.args))


@dataclass(frozen=True, slots=True)
class Place:
    """A point, and the values there.

    Attributes
    ----------
    point : the parameters; here : the values of all nodes there.
    depth : -log2 of the distance at which its sides are examined.
    aside : a direction in which lines are left.
    """

    point: list[float]
    here: list[Value]
    depth: int
    aside: list[int]


class Line:
    """Points p + t e_i, and the decisions on both sides of p.

    Attributes
    ----------
    known : truth values and steps at p that hold on both sides, or are declared to.
    is_banded : whether p is in a thin band of a branch.
    is_very_thin : whether that is so thin that values agree to the digits of float32.
    thin : the truth values on the right and on the left of thin bands that the line leaves.
    mirrored : for both sides, the nodes that have the branch of the other side there.
    is_punctured : whether a branch is taken at p and on neither side.
    """

    def __init__(
        self, tape: Lines, place: Place, by: int, known: Mapping[int, Value] | None = None
    ) -> None:
        self.at, self.by, self.tape = place, by, tape
        self.known: dict[int, Value] = dict(known or {})
        self._memo: dict[tuple[int, int, int, int, int], tuple[list[Value], Choice]] = {}
        self.mirrored: tuple[set[int], set[int]] = set(), set()
        sides = self._sides()
        while new := self._rounded(sides):
            self.known.update(new)
            sides = self._sides()
        self._leaves = [
            self.tape.leaves(v)
            for v in ([self.known.get(i, x) for i, x in enumerate(self.at.here)], *sides)
        ]
        here, right, left = self._leaves
        self._outside: list[dict[int, int | None]] = [right, left]
        self.is_banded, self.is_very_thin = False, True
        self.thin = self._thin(sides)
        if any(self.thin):
            prec, point = BITS * place.depth, list(map(arb, place.point))
            beyond = [{**self.known, **thin} for thin in self.thin]
            middles = [self.tape.leaves(self.tape.on(point, prec, {}, k)) for k in beyond]
            self._outside = [self.tape.leaves(self._sides(k)[j]) for j, k in enumerate(beyond)]
            self.is_banded = any(
                leaf is not None and all(leaf != m[i] for m in (*middles, *self._outside))
                for i, leaf in here.items()
            )
        self.is_punctured = any(
            leaf is not None and leaf not in (right[i], left[i]) for i, leaf in here.items()
        )
        self.is_punctured |= any(not self._is_kept(i, sides) for i in self.tape.steps)

    def _sides(self, known: Mapping[int, Value] | None = None) -> list[list[Value]]:
        prec, known = BITS * self.at.depth, self.known if known is None else known
        return [
            self.tape.on(self.inputs(s, self.at.depth, 0, prec), prec, {}, known) for s in (1, -1)
        ]

    def _thin(self, sides: Sequence[Sequence[Value]]) -> tuple[dict[int, bool], dict[int, bool]]:
        """The truth values on the right and on the left of thin bands that the line leaves: of comparisons that fail
        on that side, and of those that bound a size, on both."""
        found: tuple[dict[int, bool], dict[int, bool]] = {}, {}
        here, index = self.at.here, self.tape.index
        beyond: list[list[Value]] = []
        for i in self.tape.conditions:
            e = self.tape.nodes[i]
            if here[i] is None:
                continue
            if e.op is ir.EQ:  # an equation of rounded values
                ends = here[i] and all(v[i] for v in sides) and self._ends(i)
                if ends:
                    found[0][i] = found[1][i] = False
                    self.is_very_thin &= ends == VERY_THIN
                continue
            if (most := self.tape.within(i, here)) is None:
                continue
            a, b = (index[x] for x in e.args)
            if all((here[a] - here[b]).overlaps(v[a] - v[b]) for v in sides):
                continue
            ends = [True, True]
            if not is_size(e.args[0 if here[i] else 1]):
                k = BEYOND - max(0, math.frexp(self.at.point[self.by])[1])
                beyond = beyond or self._plain_sides(k)
                ends = [v[i] is not here[i] for v in beyond]
            for own, is_left in zip(found, ends, strict=True):
                if is_left:
                    own[i] = not here[i]
            self.is_very_thin &= not any(ends) or bool(most <= VERY_THIN)
        return found

    def _ends(self, i: int) -> float | None:
        """A bound of the distances beyond which an equation fails on both sides."""
        for most in (VERY_THIN, THIN):
            k = -math.frexp(most)[1]
            if not any(v[i] for v in self._plain_sides(k)):
                return most
        return None

    def _plain_sides(self, k: int) -> list[list[Value]]:
        return [self.tape.on(self.inputs(s, k, 0, PLAIN), PLAIN, {}, {}) for s in (1, -1)]

    def variation(self, root: int, choice: Choice) -> Value:
        """How much a formula without a value in the middle of thin bands changes within their
        width, in a general direction."""
        known, prec = {**self.known, **self.thin[0]}, BITS * self.at.depth
        if not self._is_singular_within(root, choice, known):
            return arb(0)
        low, high = 0, self.at.depth  # exponents of distances outside the bands, and inside
        while high - low > 1:
            k = (low + high) // 2
            inside = any(
                v[i] is self.at.here[i] for v in self._plain_sides(k) for i in self.thin[0]
            )
            low, high = (low, k) if inside else (k, high)
        ctx.prec = prec
        here = [arb(x) for x in self.at.point]
        there = [x + d * no_double(-low - 8) for x, d in zip(here, self.at.aside, strict=True)]
        a, b = (self.tape.on(p, prec, choice, known)[root] for p in (here, there))
        return abs(a - b) if a.is_finite() and b.is_finite() else arb(0)

    def _is_singular_within(self, root: int, choice: Choice, known: Mapping[int, Value]) -> bool:
        point, zero = [arb(x) for x in self.at.point], dict(known)
        slots = dict(self.tape.slots)
        for i in {*self.thin[0], *self.thin[1]}:
            for z in (z for u in exactly(self.tape.nodes[i].args) for z in zeros_of(u)):
                k = self.tape.index.get(z, -1)
                if k in slots:
                    point[slots[k]] = arb(0)
                elif k >= 0 and z.args:
                    zero[k] = arb(0)
        v = self.tape.on(point, BITS * self.at.depth, choice, zero)
        return self.tape.is_singular(root, v, choice)

    def is_singular(self, root: int, choice: Choice) -> bool:
        """Whether the formula outside thin bands has no value at p."""
        point = [arb(x) for x in self.at.point]
        v = self.tape.on(point, BITS * self.at.depth, choice, {**self.known, **self.thin[0]})
        return self.tape.is_singular(root, v, choice)

    def inputs(self, side: int, k: int, aside: int, prec: int) -> Inputs:
        """The parameters at t = side*2**-k, or near that."""
        ctx.prec = prec
        found = [arb(x) for x in self.at.point]
        found[self.by] += side * no_double(-k)
        if aside:
            little = arb(2) ** (-ASIDE * k - 9)
            for j, d in enumerate(self.at.aside):
                if j != self.by:
                    found[j] += little * (abs(d) if aside == UP else aside * d)
        return found

    def _rounded(self, sides: Sequence[Sequence[Value]]) -> dict[int, Value]:
        """Truth values at p that differ from those of a side by rounding alone, as the compared
        values are far apart; and steps that both sides or one of them keep."""
        found: dict[int, Value] = {}
        here, away = self.at.here, arb(2) ** (-self.at.depth // 2)
        for i in self.tape.conditions:
            e = self.tape.nodes[i]
            if i in self.known or here[i] is None or e.op is ir.EQ:
                continue
            a, b = (self.tape.index[x] for x in e.args)
            for v in sides:
                apart, moved = abs(v[a] - v[b]), abs((v[a] - v[b]) - (here[a] - here[b]))
                rounded = moved <= (abs(v[a]) + abs(v[b])) * 2.0**-20
                if v[i] is not here[i] and rounded and apart > away:
                    found[i] = here[i]
        for i in self.tape.steps:
            if i not in self.known and here[i].is_finite() and self._is_kept(i, sides):
                found[i] = here[i]
        return found

    def _is_kept(self, i: int, sides: Sequence[Sequence[Value]]) -> bool:
        """Whether a step at p is that of a side, or differs from both by rounding alone."""
        here, (right, left) = self.at.here[i], (v[i] for v in sides)
        return i in self.known or bool(here == right) or bool(here == left) or bool(right == left)

    def choices(self, root: int, outside: bool = False) -> tuple[Choice, Choice]:
        """The choices of branches on the right and on the left, `outside` thin bands: the branch of
        p for a node, if a side takes it too. On the other side it is `mirrored`."""
        here, leaves = self._leaves[0], self._outside if outside else self._leaves[1:]
        self.mirrored = set(), set()
        if all(
            leaf is not None and leaf == leaves[0][i] == leaves[1][i] for i, leaf in here.items()
        ):
            return (same := {i: leaf for i, leaf in here.items() if leaf is not None}), same
        taken = self.tape.used(root, {i: leaf for i, leaf in here.items() if leaf is not None})
        made: tuple[dict[int, int], dict[int, int]] = {}, {}
        for i, leaf in here.items():
            both = leaves[0][i], leaves[1][i]
            for own, side, mirrored in zip(made, both, self.mirrored, strict=True):
                kept = leaf is not None and leaf in both and i in taken
                chosen = leaf if kept else side
                if chosen is not None:
                    own[i] = chosen
                if kept and leaf != side:
                    mirrored.add(i)
        return made

    def taking(self, root: int, choice: tuple[Choice, Choice]) -> tuple[int, ...]:
        """The sides that take the branches of p."""
        here = choice[0]
        used = self.tape.used(root, here)
        own = zip((1, -1), self._leaves[1:], strict=True)
        return tuple(s for s, leaves in own if all(leaves[i] == here[i] for i in used if i in here))

    def own(self) -> tuple[Choice, Choice]:
        """The branches of each side."""
        self.mirrored = set(), set()
        right, left = ({i: k for i, k in v.items() if k is not None} for v in self._leaves[1:])
        return right, left

    def written(self) -> tuple[Choice, Choice]:
        """The branches of p."""
        chosen = {i: leaf for i, leaf in self._leaves[0].items() if leaf is not None}
        self.mirrored = set(), set()
        for i in self.tape.steps:
            self.known.setdefault(i, self.at.here[i])
        return chosen, chosen

    def value(
        self, root: int, side: int, k: int, choice: tuple[Choice, Choice], prec: int, aside: int
    ) -> Value:
        """The value of a node at t = side*2**-k."""
        v = self._values(side, k, choice, prec, aside)
        if mirrored := self.mirrored[side < 0]:
            v = self._with_mirrored(mirrored, v, side, k, choice, prec, aside)
        if not v[root].is_finite():
            self.tape.choice = choice[side < 0]
            trouble = self.tape.trouble(root, v)
            if trouble == "domain":
                raise Stopped("domain")
            if trouble == "singular":
                raise Stopped("none")
        return v[root]

    def _values(
        self, side: int, k: int, choice: tuple[Choice, Choice], prec: int, aside: int
    ) -> list[Value]:
        key = side, k, prec, aside, id(choice[0])
        if key not in self._memo:  # this keeps the choice alive, as its identity is the key
            inputs = self.inputs(side, k, aside, prec)
            v = self.tape.on(inputs, prec, choice[side < 0], self.known)
            self._memo[key] = v, choice[0]
        return self._memo[key][0]

    def _with_mirrored(
        self, mirrored: set[int], v: list[Value], side: int, k: int,
        choice: tuple[Choice, Choice], prec: int, aside: int,
    ) -> list[Value]:  # fmt: skip
        """Values where branches of the other side have the slope that they have there."""
        other = self._values(-side, k, choice, prec, aside)
        here = self.tape.on([arb(x) for x in self.at.point], prec, {}, {})
        fixed = {i: 2 * here[i] - other[i] for i in mirrored if (here[i] - other[i]).is_finite()}
        inputs = self.inputs(side, k, aside, prec)
        return self.tape.on(inputs, prec, choice[side < 0], {**self.known, **fixed}) if fixed else v


def small_offset(bound: Expr) -> tuple[int, float] | None:
    """An integer, and the small distance of a constant from it, as of 1 - 1e-12 from 1; None for others."""
    if (q := ir.rational(bound)) is None or (off := abs(q - round(q))) > THIN:
        return None
    return (round(q), float(off)) if off > ROUNDED * max(1.0, abs(float(q))) else None


def is_size(u: Expr) -> bool:
    """Whether an expression is never negative, as a norm, or a sum of squares."""
    (u,) = exactly((u,))
    if u.op in SIZES:
        return True
    if (q := ir.rational(u)) is not None:
        return q >= 0
    if u.op is ir.POW:
        power = ir.rational(u.args[1])
        even = power is not None and not (power.numerator % 2 and power.denominator % 2)
        return even or is_size(u.args[0])
    square = u.op is ir.MUL and u.args[0] is u.args[1]
    return square or (u.op in (ir.ADD, ir.MUL, ir.DIV) and all(map(is_size, u.args)))


def zeros_of(u: Expr) -> tuple[Expr, ...]:
    """Quantities that are zero where u is zero."""
    if u.op in (ir.ABS, HYPOT):
        return tuple(z for a in u.args for z in zeros_of(a))
    if u.op is ir.MUL and u.args[0] is u.args[1]:
        return zeros_of(u.args[0])
    power = ir.rational(u.args[1]) if u.op is ir.POW else None
    if power is not None and power > 0:
        return zeros_of(u.args[0])
    if u.op is ir.ADD and is_size(u):
        return tuple(z for a in u.args for z in zeros_of(a))
    return (u,)


__all__ = [
    "ALIKE",
    "BAND",
    "BITS",
    "VERY_THIN",
    "Choice",
    "Inputs",
    "Line",
    "Lines",
    "Place",
    "is_size",
    "is_step",
    "no_double",
    "small_offset",
    "zeros_of",
]
