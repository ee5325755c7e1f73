"""Is a branch only a guard around a removable singularity, and is it right?

Before:  condition abs(x) < 1e-4, small side 1 - x**2/6, other side sin(x)/x
After:   right: the other side tends to 1 at x = 0, and they agree to rounding

Requires: a condition and two formulas of the same variables.
Ensures: "right" only if the condition cuts out nothing but singular points of
the other side at which that is analytic, and points near them, and the small
side is the limit within 2 ulp and the other side's value within 4 ulp at all
sampled points of the band; or the small side is a Taylor polynomial of the other (the limit
itself, if it is constant across the band, except for terms of the other side) that differs
little from it there ("coarse" if by more than single precision). Values and limits come from ball arithmetic, being
analytic from exact power series where the formula depends on one quantity.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Literal

from symdiff import ir
from symdiff.errors import SymdiffError
from symdiff.interpret import Certified
from symdiff.ir import ABS, EQ, LE, LT, Expr
from symdiff.passes.analysis.roots import loci, rational_roots
from symdiff.passes.analysis.signs import Signs
from symdiff.passes.analysis.zeros import PROPER, Solution, sampled, zero_sets
from symdiff.passes.complete.taylor import SLANTED, WORK, is_taylor
from symdiff.passes.guards.along import Along
from symdiff.passes.guards.extent import Direction, reaches, turns_of, value_at_zero
from symdiff.passes.guards.shape import (
    as_function_of_size,
    bottleneck,
    differentiated,
    is_equation,
    is_first_term,
    is_simple,
    is_small,
    quantities,
    was_singular,
)
from symdiff.passes.guards.slopes import missed_slope
from symdiff.passes.guards.smooth import (
    OfSum,
    is_smooth,
    is_smooth_in,
    is_smooth_quantity,
    of_sums,
)
from symdiff.passes.guards.verdicts import QUANTITY, Kind, Verdict, disagreement, is_far, overflows
from symdiff.process.locks import Lock

POINT_ULPS = 2
BAND_ULPS = 4
NARROW = 0.1
"""A band that is wider than this, relative to max(1, |x|), and whose values are far from the limit,
is a branch and no guard."""
CLOSE = 1e-3
FINE = 2.0**-23
"""Within this of it, the first terms of the series represent the whole band."""
HOPELESS = ("pole", "logarithm", "outside", "jump", "kink")
"""Kinds of singularities without a limit."""
VISIBLE = 2.0**-20
"""The least error of an epsilon that is reported."""
ASIDE = 2.0**-40
"""Distance from a point at which a function is tested for being defined on both sides."""
FRACTIONS = (1 - 2.0**-10, 0.9, 0.7, 0.45, 0.2, 0.05, 1e-3)
"""Parts of the radius of a band at which the two sides are compared."""

MAX_VARIABLES = 16
MAX_LOCI = 12
MAX_CENTRES = 6
MAX_QUANTITIES = 8
"""The most nodes to try as the quantity that a guard bounds."""

ELSEWHERE = (0.6180339887, 1.7548776662, 2.5698402910)
"""Values of the other variables in the test whether a guard is even."""

SIZES = tuple(s * 2.0**k for k in (10, -10, 30, -30, 100, -100, 400, -900) for s in (1, -1))
"""Sizes of the other variables in the test whether a guard is right there too,"""
PARTS, FEW = (0.9, 1e-3), 10_000
"""the parts of its band that are tested, the most operations for each,"""
MAX_BANDS, MAX_UNSURE = 2, 3
"""the most singular sets to test; and the most points of an unproved guard to test for errors."""

MAX_KNOWN = 4096
"""The most answers to keep."""

Centre = tuple[dict[Expr, Fraction], Solution]


_Asked = tuple[Expr, Expr, Expr, int, Kind, bool]
_Found = tuple[Verdict | None, Verdict | None]
_known: dict[_Asked, _Found] = {}
"""Answers to questions without facts, and the errors of open ones: the same branches recur in each
block, each derivative and each formula that is searched."""
_lock = Lock()


def _stand_ins(roots: Iterable[Expr]) -> dict[Expr, Expr]:
    """Names for variables under which equal questions compare equal."""
    own = (v for v in ir.variables(roots) if v is not QUANTITY)
    return {v: ir.var(f"guarded {k}") for k, v in enumerate(own)}


class Prover:
    """Judges guards; equal questions are answered once.

    Parameters
    ----------
    facts : conditions that hold on the domain.
    """

    def __init__(self, facts: Iterable[Expr] = ()) -> None:
        self.facts = tuple(facts)
        self.signs = Signs(self.facts)
        self._known: dict[_Asked, _Found] = {} if self.facts else _known
        self.unproved: Verdict | None = None
        self.along = Along()

    def verdict(
        self, condition: Expr, small: Expr, other: Expr, about: Expr, kind: Kind = "guard"
    ) -> Verdict | None:
        """The verdict on `where(condition, small, other)`; None: it is no guard.

        `about` is the condition, or the quantity that a clamp or epsilon bounds.
        The test of an epsilon is only whether `small` is right where `other` is singular and the
        condition holds, however far that reaches; a clamp's value need not be the limit to
        rounding.
        """
        roots = (condition, small, other)
        self.unproved = None
        if not is_small(roots):
            return None
        t = bottleneck(roots, about)
        if (found := self._of(roots, t, kind)) is not None:
            return found
        for u in itertools.islice(quantities(roots, about), MAX_QUANTITIES):
            if u is t or self._of(roots, u, kind) is None:
                continue
            (acts,) = ir.substitute((condition,), {u: QUANTITY})
            size = (
                kind == "clamp" and u is about and u.op is ABS
            )  # a function of it that is kept away from 0
            if size or is_smooth_quantity(u, acts, QUANTITY):
                return self._of(roots, u, kind)
        if kind == "clamp" and (sized := as_function_of_size(roots, about, QUANTITY)) is not None:
            return self._of(sized, about, kind)
        own = ir.variables((about,))  # its variables, for a quantity with a branch point
        if len(own) == 1 and t is None and not is_simple(condition, False):
            return self._of(roots, own[0], kind)
        return None

    def _of(self, roots: tuple[Expr, Expr, Expr], t: Expr | None, kind: Kind) -> Verdict | None:
        """The verdict on a guard as a function of t and of nodes that do not depend on t."""
        condition, small, other = roots
        sides = 0
        if t is not None:
            (condition,) = ir.substitute((condition,), {t: QUANTITY})
        if not is_simple(condition, t is not None):
            return None
        if t is not None:
            sides = self.signs.side(t)
            small, other = ir.substitute((small, other), {t: QUANTITY})
        names: dict[Expr, Expr] = {}
        if not self.facts:  # facts name variables
            names = _stand_ins((condition, small, other))
            condition, small, other = ir.substitute((condition, small, other), names)
        kinked = t is not None and t.op.kink is not None
        key = condition, small, other, sides, kind, kinked
        if (found := self._known.get(key)) is None:
            found = self._judged(key)
            with _lock:
                while len(self._known) >= MAX_KNOWN:
                    del self._known[next(iter(self._known))]
                self._known[key] = found
        back = {stands: v for v, stands in names.items()} | ({} if t is None else {QUANTITY: t})
        verdict, unproved = (v if v is None else v.named(back) for v in found)
        self.unproved = unproved if unproved is not None else self.unproved
        return verdict

    def _judged(self, key: _Asked) -> _Found:
        case = _Case(self, *key)
        try:
            verdict = case.verdict()
            return verdict, case.missed() if verdict is None else None
        except (SymdiffError, NotImplementedError, TypeError, ArithmeticError):
            return None, None


class _Case:
    """One guard, as functions of `QUANTITY` or of several variables."""

    def __init__(
        self, prover: Prover, condition: Expr, small: Expr, other: Expr, sides: int, kind: Kind,
        kinked: bool,
    ) -> None:  # fmt: skip
        self.condition, self.small, self.other = condition, small, other
        self.prover, self.sides, self.kinked = prover, sides, kinked
        self.kind, self.band = kind, kind != "epsilon"
        self.bands: list[tuple[Solution, float]] = []  # singular sets with the reach of the guard
        self.params = ir.variables((condition, small, other))
        self.first = is_first_term(condition, small, other)
        self.sums: list[OfSum] | None = None
        self.unsure: list[Centre] = []  # points without a verdict
        self.meets: list[Solution] = []  # the value is the limit, but not smooth there
        self.differs = False  # from a regular side, somewhere

    def verdict(self) -> Verdict | None:
        if not 0 < len(self.params) <= MAX_VARIABLES:
            return None
        if self.kinked and self.kind != "clamp" and not self._even():
            return None
        met: list[Verdict] = []
        right: list[Solution] = []
        outside = partly = False
        centres = list(self._centres())
        if self.band and not self._covered(centres):
            return None
        asked = centres[: MAX_CENTRES * 3]
        for centre, solved in itertools.chain(asked, self._proper(asked, met)):
            outcome = self._at(centre, solved)
            if outcome == "unsuitable" and any(s.items() < solved.items() for s in right):
                outcome = "no limit"  # a part of a set; the guard is right elsewhere
            self.unsure += [(centre, solved)] * (outcome == "no limit")
            if outcome == "unsuitable":
                return None
            if outcome == "no limit" and self.band and len(self.params) == 1:
                return None
            partly = partly or outcome == "no limit"
            outside = outside or outcome == "outside"
            if isinstance(outcome, Verdict):
                met.append(outcome)
                if outcome.kind == "right":
                    right.append(solved)
        sets = [dict(solved) for solved in right]
        wrong = [v for v in met if v.kind == "wrong" and dict(v.singular) not in sets]
        on = [v.singular for v in wrong]
        wrong = [v for v in wrong if self.meets.count(dict(v.singular)) < on.count(v.singular)]
        if wrong:
            return max(wrong, key=lambda v: v.ulps)
        others = [v for v in met if v.kind == "wrong"]  # for other values of other variables
        partly = partly or bool(others)
        scale = max((abs(x) for v in met for x in (v.got, v.truth) if x), default=1.0)
        met = [v for v in met if v.kind == "right"]
        missed = max(others, key=lambda v: v.ulps) if len(others) > len(met) else None
        if not met:
            return None
        outside = outside or any(v.outside for v in met)
        local = False
        for solved, size in self.bands:
            differ, undefined = self._elsewhere(solved, size)
            local, outside = local or differ, outside or undefined
        coarse = any(v.coarse for v in met)
        regular = any(v.regular for v in met)
        local = local or partly or (regular and len(self.params) > 1)
        partly = partly or (regular and self.differs)
        return replace(
            met[0], outside=outside, coarse=coarse, local=local, partly=partly, scale=scale,
            missed=missed, regular=regular,
        )  # fmt: skip

    def missed(self) -> Verdict | None:
        """How much the derivatives of an unproved guard seem to be wrong."""
        for centre, solved in self.unsure[:MAX_UNSURE] if self.band else ():
            moved = {v: ir.const(q) + v for v, q in centre.items()}
            small, other = ir.substitute((self.small, self.other), moved)
            seen = missed_slope(self.params, small, other, list(solved))
            if seen is not None:
                at, on = tuple((v, centre[v]) for v in self.params), tuple(solved.items())
                return Verdict("unproved", at, seen.guarded, seen.other, math.inf, on, True)
        return None

    # ------------------------------------------------------------- singular points
    def _centres(self) -> Iterator[Centre]:
        """Points at which the other side may be singular, and the equations of the
        set they lie on, solved for the variables that lead away from it."""
        seen: set[Expr] = set()
        singular: list[Expr] = []
        for n in ir.topological((self.other,)):
            for d in loci(n):
                if d not in seen and len(singular) < MAX_LOCI:
                    seen.add(d)
                    singular.append(d)
        singular = [*self._equations(), *singular, *self._middles()]
        if len(self.params) == 1:
            yield from self._roots(singular)
            return
        known: set[tuple[tuple[str, str], ...]] = set()
        for d in singular:
            for solution in zero_sets(d):
                key = tuple(sorted((v.value, ir.format_expr(e)) for v, e in solution.items()))
                if key in known or len(known) == MAX_CENTRES:
                    continue
                known.add(key)
                for point in sampled(solution, self.params):
                    if self._inside(point):
                        yield point, solution

    def _proper(self, asked: Sequence[Centre], met: Sequence[Verdict]) -> Iterator[Centre]:
        """Further points, if nothing was found at the points so far: a probability never takes
        those values."""
        for solved in {id(s): s for _, s in asked}.values() if not met else ():
            if len(solved) < len(self.params):
                for point in sampled(solved, self.params, PROPER):
                    if self._inside(point):
                        yield point, solved

    def _roots(self, singular: Iterable[Expr]) -> Iterator[Centre]:
        v = self.params[0]
        constants = [
            q for n in ir.topological((self.condition, self.other)) if (q := ir.rational(n)) is not None
        ]  # fmt: skip
        found: set[Fraction] = set()
        for d in singular:
            found.update(rational_roots(d, v, constants))
        for r in sorted(found, key=lambda q: (abs(q), q))[:MAX_CENTRES]:
            if r * self.sides >= 0:
                yield {v: r}, {v: ir.const(r)}

    def _inside(self, point: dict[Expr, Fraction]) -> bool:
        constants = {v: ir.const(q) for v, q in point.items()}
        return ir.FALSE not in ir.substitute(self.prover.facts, constants)

    def _equations(self) -> list[Expr]:
        """Quantities that vanish where equations in the condition hold: the other side may be
        singular there although its formula does not show it."""
        nodes = ir.topological((self.condition,))
        return [ir.sub(*n.args) for n in nodes if n.op is EQ][:MAX_LOCI]

    def _middles(self) -> list[Expr]:
        """Quantities that the condition bounds by a small number: the formula may not show singular
        points at their zeros, such as that of z/log(sqrt(1 - 2*r*z + z*z) ...) at z = 0."""
        found = (
            n.args[0].args[0] if n.args[0].op is ABS else n.args[0]
            for n in ir.topological((self.condition,))
            if n.op in (LT, LE) and 0 < (ir.rational(n.args[1]) or 0) < NARROW
        )  # fmt: skip
        return list(found)[:MAX_LOCI]

    def _covered(self, centres: Sequence[Centre]) -> bool:
        """Whether all points that equations in the condition cut out are known."""
        for difference in self._equations():
            if len(self.params) == 1:
                v = self.params[0]
                cut = [{v: ir.const(r)} for r in rational_roots(difference, v, ())]
            else:
                cut = zero_sets(difference)
            if not cut or not any(c.keys() <= s.keys() for c in cut for _, s in centres):
                return False
        return True

    def _even(self) -> bool:
        """Whether the sides are even in a quantity that has a kink, such as a norm."""
        mirrored = ir.substitute((self.small, self.other), {QUANTITY: -QUANTITY})
        program = Certified(self.params, [self.small, self.other, *mirrored], (), WORK)
        for k in range(len(ELSEWHERE)):
            others = itertools.cycle(ELSEWHERE[k:] + ELSEWHERE[:k])
            at = [2.0**-7 if p is QUANTITY else next(others) for p in self.params]
            a, b, c, d = program.at(at)
            if not (a == c and b == d):
                return False
        return True

    def _note_band(self, solved: Solution, reach: Mapping[tuple[float, ...], float]) -> None:
        if all(s is not solved for s, _ in self.bands) and len(self.bands) < MAX_BANDS:
            self.bands.append((solved, max(reach.values(), default=0.0)))

    def _in_band(
        self, seen: Verdict, program: Certified, reach: Mapping[tuple[float, ...], float],
        centre: Mapping[Expr, Fraction],
    ) -> tuple[list[tuple[float, Verdict]], bool] | None:  # fmt: skip
        """The difference of the sides at points of the band, and whether one of them is undefined
        at some; None where there is no limit."""
        errors: list[tuple[float, Verdict]] = []
        outside = False
        for direction, size in reach.items():
            for part in FRACTIONS if size else ():
                step = [w * size * part for w in direction]
                at, value, taken_there = program.at_with_status(step)
                if taken_there.value != 1:
                    continue
                if at.status == "domain":
                    outside = True
                    continue
                if at.status not in ("exact", "limit") or not math.isfinite(value.value):
                    return None
                place = tuple(
                    (v, centre[v] + Fraction(s)) for v, s in zip(self.params, step, strict=True)
                )
                there = replace(
                    seen, where=place, got=value.value, truth=at.value,
                    ulps=disagreement(value, at), at_singular=False,
                )  # fmt: skip
                errors.append((there.ulps / BAND_ULPS, there))
        return errors, outside

    # ------------------------------------------------------------- one singular point
    def _at(
        self, centre: dict[Expr, Fraction], solved: Solution
    ) -> Verdict | Literal["unsuitable", "no limit", "outside"] | None:
        varied = list(solved)
        moved = {v: ir.const(q) + v for v, q in centre.items()}
        condition, small, other = ir.substitute((self.condition, self.small, self.other), moved)
        taken = ir.where(condition, 1, 0)
        inside = value_at_zero(taken, self.params) == 1
        ways = self._directions(varied) if self.band else ()
        reach = reaches(taken, self.params, ways)
        if reach is None:
            return "unsuitable"
        if not inside and not any(reach.values()):
            return None
        self._note_band(solved, reach)
        kind = self._germ(other)
        if kind in HOPELESS:
            return "no limit"
        program = Certified(self.params, [other, small, taken], (), WORK)
        truth, got, _ = program.at_with_status([0.0] * len(self.params))
        if truth.status == got.status == "domain":
            return None
        regular = (
            truth.status == "exact"
            and (kind != "analytic" or not self._is_singular(other))
            and not was_singular(other, self.params)
        )
        if regular and not (inside and is_equation(self.condition) and math.isfinite(got.value)):
            return None  # only a derivative is singular, or nothing is
        if regular:
            plain = Certified(self.params, [differentiated(other)], (), WORK)
            (truth,) = plain.at_with_status([0.0] * len(self.params))
            self.differs = self.differs or disagreement(got, truth) > POINT_ULPS
            if truth.status != "exact" or disagreement(got, truth) > POINT_ULPS:
                return None
        if truth.status == "domain":
            return "outside" if _is_undefined(program, reach) else "no limit"
        if overflows(got) and (truth.status == "budget" or overflows(truth)):
            return None  # a value that no double has decides nothing
        if truth.status not in ("exact", "limit") or not math.isfinite(got.value):
            return "no limit"
        seen = Verdict(
            "right", tuple((v, centre[v]) for v in self.params), got.value, truth.value,
            disagreement(got, truth), tuple(solved.items()), True, regular=regular,
        )  # fmt: skip
        if not self.band:
            return replace(seen, kind="wrong") if is_far(got, truth, VISIBLE) else None
        found = self._in_band(seen, program, reach, centre)
        if found is None:
            return "no limit"
        errors, outside = found
        errors = [(seen.ulps / POINT_ULPS, seen), *errors] if inside else errors
        if not errors:
            return "no limit"
        score, worst = max(errors, key=lambda e: e[0])
        scale = max([1.0, *(abs(float(q)) for q in centre.values())])
        wide = max(reach.values(), default=0.0) > NARROW * scale
        miss = max(abs(v.got - v.truth) for _, v in errors) / (abs(truth.value) or 1)
        close = seen.ulps <= POINT_ULPS and (miss <= FINE or (miss <= CLOSE and not wide))
        ends = self.kind == "clamp" and miss <= FINE
        constant = not set(_across(solved)) <= set(ir.variables((small,)))
        stands = constant or (miss <= FINE and self.first)
        if (
            score <= 1
            or ends
            or (close and (stands or is_taylor(small, other, self.params, varied)))
        ):
            analytic = kind == "analytic" or (kind == "" and self._extends(other, varied, centre))
            coarse = score > 1 and any(
                abs(v.got - v.truth) > FINE * abs(v.truth) for _, v in errors
            )
            right = replace(worst, kind="right", outside=outside, coarse=coarse)
            self.meets += [] if analytic else [solved]
            return right if analytic else "no limit"
        if wide and is_far(got, truth, CLOSE):
            return "unsuitable"
        return replace(worst, kind="wrong")

    def _elsewhere(self, solved: Solution, size: float) -> tuple[bool, bool]:
        """Whether the sides differ visibly somewhere in a band of that size where other variables
        are large or small, as d and expm1(k*d)/k do for abs(k) < 1e-9 and a large d; and whether
        the other side is undefined somewhere there."""
        others = [p for p in self.params if p not in solved]
        if not others or not size:
            return False, False
        moved = {v: e + v for v, e in solved.items()}
        condition, small, other = ir.substitute((self.condition, self.small, self.other), moved)
        taken = Certified(self.params, [ir.where(condition, 1, 0)], (), FEW)
        program = Certified(self.params, [other, small], (), FEW)
        outside = False
        ways = itertools.product(
            SIZES, turns_of(len(others)), self._directions(list(solved)), PARTS
        )
        for far, turns, d, part in ways:
            rest = zip(others, itertools.cycle(ELSEWHERE), turns, strict=False)
            values = {p: w * far**turn for p, w, turn in rest}
            for scale in (1.0, abs(far)):
                at = [
                    values[p] if p in values else part * size * scale * w
                    for p, w in zip(self.params, d, strict=True)
                ]
                if taken.at(at) != (1.0,):
                    continue
                truth, got = program.at_with_status(at)
                if got.status in ("exact", "limit"):
                    outside = outside or truth.status == "domain"
                    if truth.status in ("exact", "limit") and is_far(got, truth, FINE):
                        return True, outside
        return False, outside

    def _directions(self, varied: Sequence[Expr]) -> Iterator[Direction]:
        """Directions away from the point: along each variable, and between them."""
        for v in varied:
            for sign in (1.0, -1.0):
                if v is not QUANTITY or sign * self.sides >= 0:
                    yield tuple(sign if p is v else 0.0 for p in self.params)
        if len(varied) > 1:
            for ws in SLANTED:
                weights = {v: float(w) for v, w in zip(varied, ws, strict=False)}
                yield tuple(weights.get(p, 0.0) for p in self.params)

    def _is_singular(self, other: Expr) -> bool:
        """Whether the other side, moved so that the point is 0, has a singular operation there."""
        at = [d for n in ir.topological((other,)) for d in loci(n)]
        values = ir.substitute(at, dict.fromkeys(self.params, ir.ZERO))
        return any(not ir.rational(d) for d in values)  # 0, or not known

    def _germ(self, other: Expr, v: Expr | None = None) -> str:
        """The kind of the other side at the point, moved to 0, if it is a function of the variable
        v alone; "" if open."""
        if v is None:
            if len(self.params) > 1:
                return ""
            v = self.params[0]
        above = {v}
        nodes = [v]
        for n in ir.topological((other,)):
            if any(a in above for a in n.args):
                above.add(n)
                nodes.append(n)
        return self.prover.along.kind(v, nodes, other)

    def _extends(
        self, other: Expr, varied: Sequence[Expr], centre: Mapping[Expr, Fraction]
    ) -> bool:
        """Whether the other side, moved so that the point is 0, is smooth there from all sides;
        where it is defined on one side only, whether it is analytic across."""
        if self.sums is None:
            self.sums = of_sums(self.condition, self.other) if len(varied) > 1 else []
        if is_smooth_in(self.sums, centre, varied):
            return True
        if not is_smooth(self.params, other, varied):
            return False
        program = Certified(self.params, [other], (), WORK)
        for d in self._directions(varied):
            for s in (ASIDE, -ASIDE):
                (at,) = program.at_with_status([s * w for w in d])
                if at.status == "domain":
                    still = {p: ir.ZERO for p in self.params if p not in varied}
                    (line,) = ir.substitute((other,), still)
                    return len(varied) == 1 and self._germ(line, varied[0]) == "analytic"
        return True


def _is_undefined(program: Certified, reach: Mapping[tuple[float, ...], float]) -> bool:
    """Whether the first output is undefined throughout a band."""
    steps = [[w * size * part for w in d] for d, size in reach.items() for part in FRACTIONS]
    found = all(program.at_with_status(s)[0].status == "domain" for s in steps)
    return bool(steps) and found


def _across(solved: Solution) -> Iterator[Expr]:
    """Variables along which one leaves the singular set."""
    for v, e in solved.items():
        yield v
        yield from ir.variables((e,))
