"""Where the derivatives that a kernel computes differ from the definition.

Before:  a captured program with kinks and guards, and the formulas of its derivatives
After:   a condition, such as x == 0 & y == 0, under which the formulas are wrong

Formulas have the mean of both sides at each kink, and the limit at guards that were proved. Where
kinks meet, or depend on each other, they may be wrong. So general points of each place where a
captured program is not smooth (a comparison of equal numbers, a zero of an absolute value, a tie, a
step, a thin band) are tested, for single places and for pairs, by comparing the formulas with
derivatives along lines (`interpret.along_lines`).

Requires: formulas of numbers as captured, and what computes their derivatives.
Ensures: a condition in the doubles that the program compares; it is false at all points where formulas are right in
the tries. What cannot be tried within the budget is left to the formulas, except for guards, and for kinks in
second derivatives: there the slopes of a kink may be multiplied, and what a kink's general points say
need not hold where it is curved.
"""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from symdiff import ir
from symdiff.interpret.lines import THIN, is_step
from symdiff.interpret.meeting_places import SLOPED, Place, independent, pairs_of, several
from symdiff.interpret.places import LITTLE, atoms_of, bound_of, places_of
from symdiff.interpret.secants import value_at, values_at, zero_by
from symdiff.interpret.terms import Term
from symdiff.ir import EQ, FALSE, WHERE, Expr, and_, or_, topological
from symdiff.ir.functions import ACOS, ASIN, ATAN2, EXTREMES
from symdiff.ir.plain import exactly

if TYPE_CHECKING:
    from symdiff.interpret.along_lines import Point

TRIED = 3
"""The number of general points at which a place is tested."""
PLACES, PAIRS = 24, 28
"""The most places, and the most pairs of them, to test. Where two of the others meet, formulas count as wrong."""
WORK = 1_000_000
"""Operations of ball arithmetic for one program, times the order; see `symdiff.interpret.work`."""
SHARE = 3
"""A place may use the remaining work divided by this."""
ALIKE = 1e-6
"""The tolerance between formulas and the definition, and between values that may be equal."""
BASES = 24
"""The number of general points in the search for one that takes the branch of a place."""
ROUNDS = 6
"""The most rounds in which quantities are made zero one by one, each by a coordinate of its own."""
JUMP = (
    "the value at a guard is not the limit there; derivatives are those of the guard's own formula"
)
LINEAR = (ir.ADD, ir.SUB, ir.NEG, ir.MUL, ir.DIV)
"""The operations of linear forms, if all factors and divisors are numbers."""
EDGES = (ATAN2, ACOS, ASIN)
"""Functions without a derivative at the edges of their domains, though functions of them may have one."""
DIGITS = 2**11
"""One over the unit of the coordinates of general points."""
WIDTHS = range(10, 60, 2)
"""Minus the exponents of distances that are tried as widths of thin bands."""
BESIDE, SMOOTH = 1e-5, 1e-3
"""How far from a thin band a formula is evaluated, and by how much it may change."""
SIZES = (0.25, 1.75)
"""The sizes of the coordinates of general points, or ten times as much."""


@dataclass(frozen=True, slots=True)
class SpecialPoints:
    """Where formulas are wrong.

    Attributes
    ----------
    condition : holds there, and where guards could not be tested.
    wrong : holds where formulas were found to be wrong.
    settled : comparisons of guards, of real numbers, that need no further treatment: formulas are
        wrong there, or the function is continuous.
    jumps : branches at whose guards the function jumps, unless parameters have special values;
        without those of parameters that only conditions use, by which the function is a step.
    """

    condition: Expr = FALSE
    wrong: Expr = FALSE
    settled: frozenset[Expr] = frozenset()
    jumps: tuple[Expr, ...] = ()


def special_points(
    names: Sequence[str],
    count: int,
    outputs: Sequence[Expr],
    rows: Sequence[Sequence[Term]],
    formulas: Callable[[Sequence[float]], Sequence[float]],
) -> SpecialPoints:
    """Where the formulas of derivatives are wrong.

    Parameters
    ----------
    names : the parameters (the first `count`), followed by the weights of derivatives.
    outputs : as captured; rows : the derivatives of them in each result.
    formulas : the results at a point, as a kernel computes them.
    """
    places = list(places_of(outputs))
    places, others = places[:PLACES], places[PLACES:]
    if not places:
        return SpecialPoints()
    from symdiff.interpret import exclusive, work

    order = max((len(t.by) for row in rows for t in row), default=1)
    with exclusive():
        trial = _Trial(names, count, outputs, rows, formulas, work.spent() + WORK * order)
        places, others = trial.special(places), trial.special(others, trial.bases)
        wrong, unknown, right = list[Place](), list[Place](), list[Place]()

        def sort(place: Place) -> None:
            known = trial.is_right(place)
            if known is False:
                wrong.append(place)
            elif known:
                right.append(place)
            elif trial.may_be_wrong(place):
                unknown.append(place)

        for place in places:
            sort(place)
        alone = list(right)
        doubted = {*wrong, *unknown}
        at_points = [p for p in (*doubted, *alone) if p.condition.op is EQ]
        settled = {
            e
            for p in at_points
            if p in doubted or not any(trial.jumps[p.condition])
            for e in p.asks
        }
        jumps = [p for p in alone if p.asks and all(trial.jumps[p.condition])]
        for p in (*jumps, *(p for p in alone if p.at.op.kink is not None and is_step(p.at))):
            for q in trial.joined(p):
                sort(q)
        free = set() if trial.is_second else independent([*places, *others], outputs)
        pairs = pairs_of(places, free)
        for p, q in pairs[:PAIRS]:
            both = Place(and_(p.condition, q.condition), (*p.zeros, *q.zeros), q.at)
            if p in alone and q in alone and both.condition is not FALSE:
                sort(both)
    met = functools.reduce(or_, (and_(p.condition, p.within) for p in wrong), FALSE)
    found = [p for p in places if p.asks or p.condition in trial.jumps]
    doubts = [and_(p.condition, p.within) for p in unknown]
    doubts += several([*found, *others], len(pairs) > PAIRS, free, trial.is_second)
    if trial.is_second:
        doubts += [
            and_(p.condition, p.within) for p in alone if p.at.op in SLOPED and _is_curved(p)
        ]
    every = functools.reduce(or_, doubts, met)
    used = set(ir.reached(outputs, lambda e: e.args[1:] if e.op is WHERE else e.args))
    guards = tuple(p.at for p in jumps if not used.isdisjoint(ir.variables(p.zeros)))
    return SpecialPoints(every, met, frozenset(exactly(settled)), guards)


def _form(p: Place) -> Expr:
    """The condition of a place, with variables renamed in order: elements of an array often have
    the same form."""
    names = {v: ir.var(f"v{k}") for k, v in enumerate(ir.variables((p.condition,)))}
    return ir.substitute((p.condition,), names)[0]


def _is_clamp(e: Expr) -> bool:
    """Whether a node keeps a quantity away from 0, or near it."""
    bounds = map(ir.rational, e.args) if e.op in EXTREMES else ()
    return any(q is not None and 0 < abs(q) <= THIN for q in bounds)


def _is_curved(p: Place) -> bool:
    """Whether points of a place are not all alike: it may cross itself, or touch 0 without a change of sign."""
    nodes = [e for e in topological(p.zeros) if e.args]
    products = (map(ir.variables, zip(e.args)) for e in nodes if e.op in (ir.MUL, ir.DIV))
    return not all(e.op in LINEAR for e in nodes) or any(map(all, products))


# ----------------------------------------------------------------------- trials
class _Trial:
    """Tests of formulas against the definition at general points of places."""

    def __init__(
        self,
        names: Sequence[str],
        count: int,
        outputs: Sequence[Expr],
        rows: Sequence[Sequence[Term]],
        formulas: Callable[[Sequence[float]], Sequence[float]],
        until: int,
    ) -> None:
        from symdiff.interpret.along_lines import Derivatives

        self.names, self.outputs, self.rows = names, outputs, rows
        self.formulas, self.until, self._share = formulas, until, until
        self.count = count
        self.own = {v.value for v in ir.variables(outputs)}
        values = {v.value for v in ir.variables_of_values(outputs)}
        self.tolerances = sorted(self.own - values)
        self.definition = Derivatives(names[:count], outputs)
        self.rng = random.Random(4)
        self.bases = [self._base(k) for k in range(BASES)]
        self.is_second = any(len(t.by) > 1 for row in rows for t in row)
        self.is_clamped = any(map(_is_clamp, topological(outputs)))
        self.jumps: dict[Expr, list[bool]] = {}
        """Whether the function jumps, at the points of each place."""
        self._unreached: set[Expr] = set()
        """The forms of conditions that hold nowhere near general points."""

    def _base(self, k: int) -> dict[str, float]:
        """A general point: all positive, or of any signs, small or ten times as large. Coordinates
        have few digits, and one is a power of two, so that sums of products can be made zero
        exactly."""
        rng, scale = self.rng, 10 if k % 4 == 3 else 1
        signs = (1,) if k % 2 == 0 else (1, -1)
        low, high = (int(s * DIGITS) for s in SIZES)
        point = {
            p: scale * rng.choice(signs) * rng.randrange(low, high) / DIGITS for p in self.names
        }
        point[rng.choice(sorted(self.own) or self.names)] = rng.choice(signs) * 2.0 ** rng.randint(
            -1, 1
        )
        return point | dict.fromkeys(self.tolerances, LITTLE)

    def special(
        self, places: Sequence[Place], more: Sequence[dict[str, float]] = ()
    ) -> list[Place]:
        """The places whose conditions fail at general points, and at some more."""
        conditions = [p.condition for p in places]
        points = [*more] if places else []
        points += [{p: self.rng.uniform(-2, 2) for p in self.names} for _ in range(TRIED)]
        values = [values_at(conditions, b) for b in points]
        return [p for p in places if not any(v[p.condition] for v in values)]

    def is_right(self, place: Place) -> bool | None:
        """Whether formulas are right at general points of a place; None if unknown."""
        from symdiff.interpret import work

        form, reached = _form(place), False
        if form in self._unreached:
            return None
        tried = unknown = undefined = 0
        taken: set[tuple[Expr, bool]] = set()
        self._share = work.spent() + (self.until - work.spent()) // SHARE
        for k, base in enumerate(self.bases):
            if work.spent() > self._share:
                if not (reached or self.is_second):
                    self._unreached.add(form)
                return None
            point = self._solved(place, base, k // 2)
            reached |= point is not None
            if point is None or not self._is_met(place, point):
                continue
            sides = self._sides_taken(place, point)
            if max(tried, unknown) >= TRIED and sides <= taken:
                continue
            taken |= sides
            defined = self._is_defined(point)
            if not defined and undefined == TRIED:
                continue
            verdict = self._agrees(place, point)
            if verdict and (beside := self._within(place, point)) is not None:
                verdict = self._agrees(place, beside, 0.0)
            undefined += not defined
            if verdict is None and not defined:
                continue
            if verdict is False:
                banded = False if place.asks else self._is_banded(place, point)
                if banded is False:
                    return False
                unknown += banded is None
            tried += verdict is True
            unknown += verdict is None
            if max(tried, unknown) >= TRIED * (2 if place.asks else 1):
                break
        if not reached:
            self._unreached.add(form)
        return True if tried > unknown else None

    def may_be_wrong(self, place: Place) -> bool:
        """Whether formulas count as wrong where tests decide nothing: at guards of points, in bands that contain
        general points, and in second derivatives at kinks for which the budget was not enough. At small sizes that
        are clamped, formulas are those of the function without a clamp."""
        from symdiff.interpret import work

        if place.at.op in SLOPED and self.is_second and not self.is_clamped:
            return work.spent() > self._share
        return bool(place.asks) and (place.condition.op is EQ or place.condition in self.jumps)

    def _on(self, place: Place, base: dict[str, float]) -> dict[str, float] | None:
        """A point of a place close to a general one, if the program evaluates the place there."""
        point = self._solved(place, base)
        return None if point is None or not self._is_met(place, point) else point

    def _solved(
        self, place: Place, base: dict[str, float], turn: int = 0
    ) -> dict[str, float] | None:
        """A point close to a general one at which all zeros of a place are zero; `turn` selects the
        coordinates that change."""
        point, by, near = dict(base), dict[Expr, str](), dict[Expr, float]()
        for _ in range(ROUNDS):
            left = [u for u in place.zeros if not abs(value_at(u, point)) <= near.get(u, 0.0)]
            if not left:
                break
            for u in left:
                if abs(value_at(u, point)) <= near.get(u, 0.0):
                    continue
                own = sorted({v.value for v in ir.variables((u,))} & self.own)
                turned = own[turn % len(own) :] + own[: turn % len(own)] if own else own
                free = [by[u]] if u in by else [v for v in turned if v not in by.values()]
                solved = next((s for v in free if (s := zero_by(u, v, point)) is not None), None)
                if solved is None:
                    return None
                by[u], point, near[u] = solved
        return point

    def _within(self, place: Place, point: dict[str, float]) -> dict[str, float] | None:
        """A point of a thin band aside of its middle, where slopes of even functions are not 0; None if a place
        is no such band."""
        bounds = [bound_of(c) for c in place.asks if c.op is not EQ]
        names = sorted({v.value for v in ir.variables(place.zeros)} & self.own)
        for name in names if bounds and max(bounds) <= THIN else ():
            for k in WIDTHS:
                moved = {**point, name: point[name] + 2.0**-k}
                if value_at(place.condition, moved) and any(
                    value_at(u, moved) for u in place.zeros
                ):
                    return moved
        return None

    def _is_met(self, place: Place, point: dict[str, float]) -> bool:
        """Whether the program evaluates a place at a point, and has no pole there."""
        if not value_at(place.condition, point):
            return False
        values = values_at(self.outputs, point)
        finite = not any(math.isinf(values[e]) for e in self.outputs)
        return finite and _is_looked_at(self.outputs, self._asking(place), values)

    def _asking(self, place: Place) -> dict[Expr, None]:
        """The nodes at which a place is met: all branches that ask for it."""
        if not place.asks:
            return {place.at: None}
        branches = (e for e in topological(self.outputs) if e.op is WHERE)
        return dict.fromkeys(e for e in branches if {*place.asks} <= {*atoms_of(e.args[0])})

    def _sides_taken(self, place: Place, point: dict[str, float]) -> set[tuple[Expr, bool]]:
        """The sides that are taken of branches which ask for a place among other things."""
        branches = [
            e for e in self._asking(place) if e.op is WHERE and len(atoms_of(e.args[0])) > 1
        ]
        values = values_at([e.args[0] for e in branches], point) if branches else {}
        return {(e, bool(values[e.args[0]])) for e in branches}

    def _is_banded(self, place: Place, point: dict[str, float]) -> bool | None:
        """Whether a formula continues that outside a thin band, such as clamps produce, on both
        sides of a point in it; None if unknown."""
        found = self.formulas([point[p] for p in self.names])
        for name in sorted({v.value for v in ir.variables(place.zeros)} & self.own):
            for step in (BESIDE, -BESIDE):
                moved = {**point, name: point[name] + step}
                beside = self.formulas([moved[p] for p in self.names])
                for a, b in zip(found, beside, strict=True):
                    if not abs(a - b) <= SMOOTH * (1 + abs(a)) < math.inf:
                        return False
                if not (agreed := self._agrees(Place(FALSE, (), place.at), moved)):
                    return agreed
        return True

    def _is_defined(self, point: dict[str, float]) -> bool:
        """Whether Python has values there: where it has none, derivatives are those of limits, or
        do not exist."""
        values = values_at(self.outputs, point)
        return all(math.isfinite(values[e]) for e in self.outputs)

    def _agrees(self, place: Place, point: dict[str, float], unit: float = 1.0) -> bool | None:
        """Whether formulas agree with the definition at a point, relative to their sizes and a unit."""
        flat = [point[p] for p in self.names]
        found = self.formulas(flat)
        there = self.definition.at(flat[: self.count], self._share)
        agreed: bool | None = True
        jumps: list[bool] = []
        for x, row in zip(found, self.rows, strict=True):
            if not any(t.by for t in row):
                continue
            if math.isnan(x):
                agreed = agreed and None  # the value of the kernel is unknown here
                continue
            if self._is_steady(there, x, row, flat):
                jumps.append(False)
                continue
            slopes = [there.partial(t.output, t.by) for t in row]
            weights = [math.prod(flat[w] for w in t.weights) for t in row]
            jumps.append(any(s.jumps for s in slopes))
            total = sum(w * s.value for w, s in zip(weights, slopes, strict=True))
            if any(s.is_none for s in slopes):
                agreed = False
            elif math.isnan(total) or not all(s.known for s in slopes):
                agreed = agreed and None
            elif not _is_close(x, total, unit):
                agreed = False
        known = self.jumps.setdefault(place.condition, [])
        known += [any(jumps)] if jumps else []
        return agreed

    def _is_steady(
        self, there: Point, x: float, row: Sequence[Term], flat: Sequence[float]
    ) -> bool:
        """Whether a result is that of slopes over a short distance, as at regular points."""
        if any(len(t.by) != 1 for t in row):
            return False
        weights = [math.prod(flat[w] for w in t.weights) for t in row]
        slopes = [there.over_short(t.by[0])[t.output] for t in row]
        return _is_close(x, sum(w * s for w, s in zip(weights, slopes, strict=True)))

    def joined(self, place: Place) -> Iterator[Place]:
        """The parts of a place with a jump where the function does not jump: for some values of
        other parameters the branches agree, or a step has no effect."""
        fixed = set(ir.variables(place.zeros))
        for e, a, b in self._sides(place):
            others = len(fixed | set(ir.variables((a, b)))) > len(place.zeros)
            point = next(filter(None, (self._on(place, p) for p in self.bases)), None)
            if not others or point is None:
                continue
            alike = ir.le(ir.abs_(a - b), ALIKE * (ir.abs_(a) + ir.abs_(b)))
            if not math.isfinite(value_at(a - b, point)):
                alike = ir.TRUE
            yield Place(and_(place.condition, alike), (*place.zeros, a - b), e, place.asks)

    def _sides(self, place: Place) -> Iterator[tuple[Expr, Expr, Expr]]:
        """The nodes that differ at a place from its neighbourhood, their values there and near it."""
        if not place.asks:
            for e in self.outputs:
                (other,) = ir.substitute((e,), {place.at: place.at + ir.ONE})
                a, b = exactly((e, other))
                yield place.at, a, b
            return
        for e in self._asking(place):
            a, b = exactly(e.args[1:])
            yield e, a, b


def _is_close(x: float, y: float, unit: float = 1.0) -> bool:
    return x == y or abs(x - y) <= ALIKE * (unit + abs(y)) < math.inf


def _is_looked_at(outputs: Sequence[Expr], nodes: Container[Expr], values: dict[Expr, Any]) -> bool:
    """Whether some node is evaluated, given the branches that are taken and the terms that are
    largest."""
    seen: set[Expr] = set()
    stack = list(outputs)
    while stack:
        e = stack.pop()
        if e in nodes:
            return True
        if e in seen:
            continue
        seen.add(e)
        if e.op is WHERE:
            stack += [e.args[0], e.args[1 if values[e.args[0]] else 2]]
        elif e.op in EXTREMES:
            stack += [a for a in e.args if values[a] == values[e]]
        else:
            stack += e.args
    return False


__all__ = ["ALIKE", "EDGES", "JUMP", "SpecialPoints", "special_points"]
