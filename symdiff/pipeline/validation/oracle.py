"""A function as captured and as it is to be compiled, in balls at points chosen to hurt.

A ball encloses the true value, so two that do not meet prove that two formulas differ: there
is no tolerance that could hide an error or raise a false alarm. Where the contract gives a
formula another meaning than its letters, the comparison is with that: repaired guards and
literals stand for the smooth function, of which only the value is compared with the letters;
at a filled point it is the limit from all sides; at a kink, the hull of the sides.
"""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from flint import arb, ctx

from symdiff import ir
from symdiff.interpret import exclusive
from symdiff.interpret.flat import Tape
from symdiff.interpret.rounding import Format, format_of
from symdiff.ir import Expr
from symdiff.ir.plain import as_ball, in_single, is_decided
from symdiff.ir.program import Program
from symdiff.passes.analysis.band_extent import FURTHER, with_truncation
from symdiff.pipeline.validation.chain import Chain, Step
from symdiff.pipeline.validation.lost import lost_value, undefined
from symdiff.pipeline.validation.points import (
    Point,
    Special,
    chosen,
    equality,
    norm,
    on_cut,
    places_of,
    sums_of,
)

LEAST, PER_NODE = 25_000, 120
"""Operations on balls that a comparison may cost: about 10 ms, and about 15 % of compiling."""
FULL = 100
"""How many times as much `validate="full"` may take."""
BUILD, SWEEP = 8, 6
"""What it costs to make a node, and to evaluate one over a line, in such operations."""
PRECISIONS = (128, 400, 1200)
ENOUGH = 80
"""Bits of accuracy from which a value counts as known."""
EXACT = 66
"""Bits to which formulas agree with the function, but for the series in them."""
LIMITS = 50
"""Bits to which they agree with limits, which are looked at beside the point."""
ELEMENTARY, SPECIAL, SLOWER = 4, 60, 10
"""What a function costs, one that is not elementary, and all of it at the last precision."""
SERIES = 53 + FURTHER - 1
"""Bits to which series in bands and across surfaces agree with what they stand for. What
cancels behind them multiplies their errors, so these are followed in balls."""
TRUNCATION = ir.var("error of series")
SMALLEST = arb(2) ** -1000
MAX_ENTRIES = 24
"""Outputs that are compared at each point; of more than these, some."""
GUARDED = 20
"""Bits to which the values of a repaired guard are those of the limit."""
BESIDE = 0.05
"""Where it is seen how large a guarded function is, relative to max(1, |x|)."""
INSIDE = (0.6180339887, 0.7548776662, 0.5698402910, 0.8191725134, 0.6710436067)
AXES = 6
"""Variables along which corners of norms are left."""
DEEP, DEEPER = 200, 260
"""Binary depths at which limits are looked at."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A proven difference.

    Attributes
    ----------
    point : the arguments.
    output : which of the outputs.
    got, truth : what was computed there, and what is proven.
    """

    point: Point
    output: int
    got: float
    truth: float


@dataclass(slots=True)
class Seen:
    """What is known of the outputs at one point.

    Attributes
    ----------
    truth : for each compared output a ball, or None where nothing is proven.
    limit : whether that is a limit, as the formula is undefined at the point.
    hull : for each, where it has a kink, the least and the greatest one-sided value.
    outside : whether the point is proven to be outside of the domain, and all around it.
    on_cut : whether it is on a branch cut, where machine code goes by the sign of a zero.
    """

    point: Point
    truth: list[Any]
    limit: bool = False
    hull: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    outside: bool = False
    on_cut: bool = False


class Budget:
    """Operations that may be spent, and that were."""

    def __init__(self, most: int, spent: int = 0) -> None:
        self.most, self.spent = most, spent

    def spend(self, count: int) -> None:
        self.spent += count

    @property
    def left(self) -> bool:
        return self.spent < self.most


class Oracle:
    """The truth about one derivative of a captured program.

    Parameters
    ----------
    captured : the program.
    path : the derivations that the outputs are.
    smooth : the captured outputs after guards and literals were repaired; None if none were.
    compiled : what is compiled, for the edges of its bands.
    full : whether to search thoroughly.
    loose : whether literals were repaired, so that values beside a special point differ.
    """

    def __init__(
        self,
        captured: Program,
        path: Sequence[Step],
        compiled: Sequence[Expr],
        *,
        smooth: Sequence[Expr] | None = None,
        loose: bool = False,
        full: bool = False,
    ) -> None:
        self.captured, self.path, self.loose = captured, tuple(path), loose
        size = len(ir.topological(compiled))
        self.budget = Budget(max(LEAST, PER_NODE * size) * (FULL if full else 1))
        self.smooth = None if smooth is None else tuple(smooth)
        base = (
            captured
            if smooth is None
            else Program(captured.name, captured.params, self.smooth or ())
        )
        derived = Chain(base).derived(path)
        self.params = derived.params
        self.which = _some(len(derived.entries), MAX_ENTRIES * (4 if full else 1))
        self.truth: list[Expr] = []
        known: set[Expr] = set()
        kept = []
        for i in self.which:
            if self.truth and self.budget.spent * 2 > self.budget.most:
                break
            e = derived.entries[i]()
            new = ir.topological((e,), known)
            known.update(new)
            self.budget.spend(BUILD * len(new))
            self.truth.append(e)
            kept.append(i)
        self.which = kept
        self._points: list[Point] | None = None
        self._compiled = tuple(compiled)
        self._seen: dict[str, list[Seen]] = {}
        self._single: Oracle | None = None
        kinks = {
            e.op.kink(*e.args)
            for e in ir.topological(captured.outputs)
            if e.op.kink is not None and not any(map(is_decided, e.args))
        }  # beside a rounded number that is a double, formulas of reals say another integer
        self.kinks = tuple(k for k in kinks if ir.variables((k,))) if path else ()
        self._is_second = sum(
            len(by) if kind == "derivative" else 1 for kind, by in path
        ) > 1 or any(kind in ("hessian", "hvp") for kind, _ in path)
        norms = map(norm, ir.topological(captured.outputs))
        self.norms = tuple(dict.fromkeys(u for u in norms if u is not None)) if path else ()
        asked = map(equality, ir.topological(captured.outputs))
        equal = (e for e in asked if e is not None)
        steps = (ir.eq(e.args[0], 0) for e in ir.topological(captured.outputs) if e.op is ir.SIGN)
        self.cuts = tuple(e for e in (*equal, *steps) if ir.variables((e,)))
        self.jumps = tuple(dict.fromkeys(map(on_cut, ir.topological(captured.outputs))))
        self.facts = captured.assumptions
        self.domain = captured.domain
        roots = [*self.truth, *self.kinks, *self.facts, *self.domain, *self.cuts, *self.jumps]
        roots += self.norms
        if self.smooth is not None:
            roots += [*captured.outputs, *self.smooth]
        self._roots = roots
        with exclusive():
            self.tape = Tape([ir.var(p) for p in self.params], roots)
        self.functions = sum(_weight(e.op) for e in self.tape.nodes)

    # ------------------------------------------------------------------- points
    def points(self) -> list[Point]:
        """Where to compare, the most telling first."""
        if self._points is None:
            roots = (*self.captured.outputs, *self.captured.domain, *self.captured.assumptions)
            special = Special(self.params, places_of(roots, self._compiled))
            self.budget.spend(2 * SWEEP * special.cost() * min(len(self.params), 6))
            sums = Special(self.params, sums_of(self.captured.outputs))
            self.budget.spend(2 * SWEEP * sums.cost() * min(len(self.params), 6))
            self._points = chosen(self.params, special, sums)
        return self._points

    def first(self, point: Point) -> None:
        """Look at this point before all others."""
        self._points = [point, *self.points()]

    def seen(self, dtype: str = "float64") -> Iterator[Seen]:
        """The truth at one point after the other, as far as the budget goes; again from
        memory."""
        found = self._seen.get(dtype)
        if found is not None:
            yield from found
            return
        found = self._seen[dtype] = []
        fmt = format_of(dtype)
        points = self.points()
        budget = self.budget = Budget(
            self.budget.most, min(self.budget.spent, self.budget.most // 2)
        )
        for given in points:
            if not budget.left:
                break
            point = tuple(fmt.round(arb(x)) for x in given)
            if not all(map(math.isfinite, point)):
                continue
            with exclusive():
                seen = self._look(point, budget)
            if seen is not None:
                found.append(seen)
                yield seen

    def _in_single(self) -> Oracle:
        """The oracle for the same formulas with the decisions of float32, as kernels of it have them."""
        if self._single is None:
            roots, self._single = list(in_single(self._roots)), self
            if roots != self._roots:
                self._single = made = copy.copy(self)
                made._roots, made.truth, made._seen = roots, roots[: len(self.truth)], {}
                with exclusive():
                    made.tape = Tape([ir.var(p) for p in self.params], roots)
        return self._single

    def run(self, tape: Tape, inputs: list[Any], prec: int, budget: Budget) -> list[Any]:
        """The nodes of a tape at a point, and what that costs."""
        budget.spend(self.functions * (1 if prec <= 400 else SLOWER))
        return tape.run(inputs, prec)

    def _look(self, point: Point, budget: Budget) -> Seen | None:
        """What is proven at a point; None if the assumptions do not hold there, or nothing
        is."""
        inputs = [as_ball(x) for x in point]
        count = len(self.truth)
        for prec in PRECISIONS:
            v = self.run(self.tape, inputs, prec, budget)
            values = [v[r] for r in self.tape.roots]
            truth = values[:count]
            if prec == PRECISIONS[0]:
                start = count + len(self.kinks)
                facts = values[start : start + len(self.facts)]
                if any(f is not True for f in facts):
                    return None
                start += len(self.facts)
                inside = values[start : start + len(self.domain)]
                if any(d is False for d in inside):
                    around = not (self.path or self.captured.own) and self._around(point, budget)
                    return Seen(point, [None] * count, outside=True) if around else None
            if all(_known(t) for t in truth):
                break
            if not any(t.is_finite() for t in truth) and prec < 400:
                reasons = {self.tape.trouble(r, v) for r in self.tape.roots[:count]}
                if "undecided" not in reasons:
                    break
            if budget.spent > budget.most:
                break
        found = [t if t.is_finite() else None for t in truth]
        seen = Seen(point, found)
        first = count + len(self.kinks) + len(self.facts) + len(self.domain)
        cut = any(c is True for c in values[first : first + len(self.cuts)])
        first += len(self.cuts)
        seen.on_cut = any(j is not False for j in values[first : first + len(self.jumps)])
        first += len(self.jumps)
        corner = any(u.contains(0) for u in values[first : first + len(self.norms)])
        kinky = cut or any(
            k.is_zero() or k.contains(0) for k in values[count : count + len(self.kinks)]
        )
        if kinky and self._is_second:  # formulas multiply slopes; see `interpret.special_points`
            return None
        if None in found and not any(x is not None for x in found):
            reasons = {self.tape.trouble(r, v) for r in self.tape.roots[:count]}
            if reasons == {"domain"} and not self.path and self._around(point, budget):
                seen.outside = True
                return seen
            if reasons != {"singular"}:
                return None
        if kinky or None in found:
            ways = _directions(len(point), corner)
            self._sides(seen, v, kinky, cut, ways, budget)
        return seen if seen.hull or any(x is not None for x in seen.truth) else None

    def _around(self, point: Point, budget: Budget) -> bool:
        """Whether points on all sides are outside of the domain too."""
        for s in (1, -1):
            inputs = [arb(x) * (1 + arb(s) * arb(2) ** -30) + arb(s) * arb(2) ** -60 for x in point]
            v = self.run(self.tape, inputs, PRECISIONS[0], budget)
            values = [v[r] for r in self.tape.roots]
            start = len(self.truth) + len(self.kinks) + len(self.facts)
            if any(d is False for d in values[start : start + len(self.domain)]):
                continue
            if any(self.tape.trouble(r, v) != "domain" for r in self.tape.roots[: len(self.truth)]):
                return False
        return True

    def _sides(
        self,
        seen: Seen,
        at: list[Any],
        kinky: bool,
        cut: bool,
        ways: Iterable[tuple[float, ...]],
        budget: Budget,
    ) -> None:
        """Limits from all sides, where the formula is undefined or has a kink."""
        open_ = [i for i, t in enumerate(seen.truth) if kinky or t is None]
        singular = [
            i for i in open_
            if seen.truth[i] is not None or self.tape.trouble(self.tape.roots[i], at) == "singular"
        ]  # fmt: skip
        for i, sides in self._limits(seen, singular, ways, budget).items():
            if not sides:
                continue
            low, high = sides[0], sides[0]
            for y in sides[1:]:
                low, high = (y if y < low else low), (y if y > high else high)
            if bool(high - low <= abs(high) * arb(2) ** -58):
                if kinky:
                    # an isolated point may have either meaning; what a formula lacks at a kink,
                    # `interpret.special_points` finds
                    if (y := seen.truth[i]) is not None:
                        seen.hull[i] = (y, high) if y < high else (high, y)
                elif seen.truth[i] is None:
                    seen.truth[i] = high
                    seen.limit = True
            elif cut and seen.truth[i] is None and not self.path:
                continue  # a branch on one value, around which there is no limit: nothing is known
            elif seen.truth[i] is None or kinky:
                seen.hull[i] = (low, high)

    def _limits(
        self, seen: Seen, singular: Iterable[int], ways: Iterable[tuple[float, ...]], budget: Budget
    ) -> dict[int, list[Any]]:
        """What roots tend to, in each direction; without those that tend to nothing in one of them."""
        met: dict[int, list[Any]] = {i: [] for i in singular}
        for direction in ways:
            pair = []
            ctx.prec = PRECISIONS[-1]  # of the points too
            for depth in (DEEP, DEEPER):
                inputs = [
                    arb(x) + arb(d) * arb(2) ** (-depth + (math.frexp(x)[1] if x else 0))
                    for x, d in zip(seen.point, direction, strict=True)
                ]
                pair.append(self.run(self.tape, inputs, PRECISIONS[-1], budget))
            for i in list(met):
                a, b = (values[self.tape.roots[i]] for values in pair)
                if not (a.is_finite() and b.is_finite()):
                    del met[i]
                elif bool(abs(a - b) <= abs(b) * arb(2) ** -60):
                    met[i].append(b)
                elif bool(abs(b) < abs(a)) and bool(abs(a) < arb(2) ** -100):
                    met[i].append(arb(0))
                else:
                    del met[i]
        return met

    # --------------------------------------------------------------- comparison
    def faults_of(
        self, outputs: Sequence[Expr], reference: Sequence[Expr], most: int = 1
    ) -> list[Fault]:
        """Where outputs, or the closed forms they stand for, are proven to be something
        else than was captured."""
        outs = [outputs[i] for i in self.which]
        refs = [reference[i] for i in self.which]
        both = with_truncation((*refs, *outs), TRUNCATION)
        with exclusive():
            tape = Tape([*map(ir.var, self.params), TRUNCATION], both)
        cost = sum(_weight(e.op) for e in tape.nodes)
        found: list[Fault] = []
        for seen in self.seen():
            self.budget.spend(cost)
            with exclusive():
                fault = self._disagree(seen, tape, refs)
            if fault is not None:
                found.append(fault)
                if len(found) >= most:
                    break
        return found

    def _disagree(self, seen: Seen, tape: Tape, refs: Sequence[Expr]) -> Fault | None:
        count = len(self.truth)
        inputs = [*map(arb, seen.point), arb(0, 2.0**-SERIES)]
        v = tape.run(inputs, PRECISIONS[0])
        again = None
        for i, truth in enumerate(seen.truth):
            if i in seen.hull:
                continue
            places = tape.roots[i], tape.roots[count + i]
            if truth is not None and not seen.limit and all(undefined(tape, p, v) for p in places):
                self.budget.spend(LEAST // 10)
                lost = lost_value(self.captured, self.params, refs[i], seen.point, truth, self.path)
                if lost is not None:
                    return Fault(seen.point, self.which[i], lost, float(truth.mid()))
            for k, place in enumerate(places):
                y = v[place]
                if seen.outside:
                    if k == 1 and y.is_finite():
                        return Fault(seen.point, self.which[i], float(y.mid()), math.nan)
                    continue
                if truth is None or not y.is_finite():
                    continue
                bits = LIMITS if seen.limit else EXACT
                if _differ(y, truth, bits):
                    if again is None:
                        again = tape.run(inputs, PRECISIONS[1])
                    y = again[place]
                    if y.is_finite() and _differ(y, truth, bits):
                        return Fault(seen.point, self.which[i], float(y.mid()), float(truth.mid()))
        for i, (low, high) in seen.hull.items():
            y = v[tape.roots[count + i]]
            if not y.is_finite():
                continue
            inside = y >= low - _slack(low, high) and y <= high + _slack(low, high)
            written = seen.truth[i] is not None and not _differ(y, seen.truth[i], LIMITS)
            if not written and not (self.path and inside):
                right = low if seen.truth[i] is None else seen.truth[i]
                return Fault(seen.point, self.which[i], float(y.mid()), float(right.mid()))
        return None

    def repaired(self) -> list[Fault]:
        """Where a guard or a literal was repaired although its value is another."""
        if self.smooth is None:
            return []
        count = len(self.captured.outputs)
        first = len(self._roots) - 2 * count
        found = []
        budget = Budget(self.budget.most // 2)
        for number, given in enumerate(self.points()):
            if not budget.left or (self.loose and number >= ORDINARY_ONLY):
                break
            point = [arb(x) for x in given]
            with exclusive():
                v = self.run(self.tape, point, PRECISIONS[1], budget)
                facts = [v[r] for r in self.tape.roots]
                start = len(self.truth) + len(self.kinks)
                if any(f is not True for f in facts[start : start + len(self.facts)]):
                    continue
                for i in range(count):
                    a, b = facts[first + i], facts[first + count + i]
                    if not (a.is_finite() and b.is_finite() and _differ(b, a, GUARDED)):
                        continue
                    # where the limit is 0, all of the band differs from it in relation to itself
                    if not _differ(b, a, GUARDED, self._nearby(given, first + count + i, budget)):
                        continue
                    found.append(Fault(given, i, float(b.mid()), float(a.mid())))
                    return found
        return found

    def _nearby(self, point: Point, root: int, budget: Budget) -> Any:
        """How large a formula becomes at distances that no guard reaches, on any side."""
        largest = arb(0)
        for axis in range(len(point)):
            for s in (1, -1):
                inputs = [arb(x) for x in point]
                inputs[axis] += s * arb(BESIDE) * max(1.0, abs(point[axis]))
                v = self.run(self.tape, inputs, PRECISIONS[1], budget)[self.tape.roots[root]]
                if v.is_finite() and abs(v) > largest:
                    largest = abs(v)
        return largest

    def numbers_faults(self, computed: Any, dtype: str, ulps: float, most: int = 1) -> list[Fault]:
        """Where computed numbers, that are not flagged, miss the proven ones.

        Parameters
        ----------
        computed : points -> for each the outputs, and whether they are flagged.
        ulps : the error that is allowed.
        """
        fmt = format_of(dtype)
        seen = list((self._in_single() if dtype == "float32" else self).seen(dtype))
        found: list[Fault] = []
        for s, (values, flagged) in zip(seen, computed([s.point for s in seen]), strict=True):
            if flagged or s.on_cut:
                continue
            with exclusive(256):
                for i, truth in enumerate(s.truth):
                    got = float(values[self.which[i]])
                    if s.outside:
                        if math.isfinite(got):
                            found.append(Fault(s.point, self.which[i], got, math.nan))
                        continue
                    if truth is None or i in s.hull:
                        continue
                    if s.limit and not math.isfinite(got):
                        continue
                    if _misses(got, truth, fmt, ulps):
                        right = fmt.round(truth.mid())
                        found.append(Fault(s.point, self.which[i], got, right))
            if len(found) >= most:
                break
        return found


ORDINARY_ONLY = 6


def _weight(op: ir.Op) -> int:
    """What an operation costs, in additions."""
    if op.libm is None and not op.written:
        return 1
    return ELEMENTARY if op.vector else SPECIAL


def _known(t: Any) -> bool:
    return bool(t.is_finite()) and (t.rel_accuracy_bits() >= ENOUGH or bool(t.is_zero()))


def _differ(y: Any, truth: Any, bits: int, scale: Any = 0) -> bool:
    """Whether two numbers are proven to differ by more than so many bits, of themselves and of
    a scale."""
    gap, share = abs(y - truth), arb(2) ** -bits
    return bool(gap > abs(truth) * share) and bool(gap > scale * share) and bool(gap > SMALLEST)


def _slack(low: Any, high: Any) -> Any:
    return (abs(low) + abs(high)) * arb(2) ** -LIMITS


def _misses(got: float, truth: Any, fmt: Format, ulps: float) -> bool:
    rounded = fmt.round(truth.mid())
    if math.isfinite(got) and truth.contains(arb(got)):
        return False
    if got == rounded or (math.isnan(got) and math.isnan(rounded)):
        return False
    if not math.isfinite(got):
        # the truth may be beyond the range by less than its error
        if math.isinf(got) and not math.isinf(rounded):
            edge = math.ldexp(1.0, fmt.highest - 1)
            return not abs(rounded) / edge > 1.9999
        return not math.isinf(rounded)
    if math.isinf(rounded):
        return abs(got) < math.ldexp(1.0, fmt.highest - 1)
    smallest = math.ldexp(1.0, fmt.lowest + 2 * fmt.digits // 2)
    gap = abs(arb(got) - truth)
    return bool(gap > arb(ulps) * arb(fmt.ulp(rounded))) and bool(gap > arb(smallest))


def _some(count: int, most: int) -> list[int]:
    """All indices, or so many of them: the first, the last, and others between."""
    if count <= most:
        return list(range(count))
    rng = random.Random(count)
    return sorted({0, count - 1, *rng.sample(range(count), most - 2)})


def _directions(n: int, corner: bool = False) -> Iterable[tuple[float, ...]]:
    """Ways out of a point, and their opposites; at the corner of a norm, whose slope is another on each
    of them, more: those close to an axis."""
    base = [INSIDE[k % len(INSIDE)] / (1 + k // len(INSIDE)) for k in range(n)]
    ways = [base] if n == 1 else [base, [x * (-1) ** k for k, x in enumerate(base)]]
    if n > 1:
        ways.append([x / 1000 if k % 2 else x for k, x in enumerate(base)])
    if n > 1 and corner:
        ways += [
            [x if k == j else x / 1000 for k, x in enumerate(base)] for j in range(min(n, AXES))
        ]
    for way in ways:
        yield tuple(way)
        yield tuple(-x for x in way)
