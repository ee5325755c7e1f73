"""What the definition of the derivative says of a tree at a point, by one-sided differences with mpmath.

Along an axis, a decision that one side shares with the point is fixed to what it is at the point. A decision that both
sides take otherwise is a puncture: where the value of the whole function is the limit of both sides, their
derivatives count, else those of the branch at the point. The derivative is the mean of both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
from mpmath import mp, mpf

from tests.validation.point_trees import INF, NAN, Node, Run, free_names

STEPS = (40, 50, 60, 70)
"""Minus the exponents of the steps beside a point."""
OUTER = (20, 26, 32, 38)
INNER = (70, 76, 82, 88)
"""The same for first derivatives in second ones."""
PATHS = (150, 160, 170, 180)
INNER_PATHS = (130, 136, 142, 148)
"""The same for limits where the formula is undefined beside the point."""
DIGITS = 600
SAME = mpf(10) ** -12
FLOAT32 = mpf(6) / 10**8
"""How near the value of a thin band is to the function's."""

Fixed = dict[Any, Any]
Along = Callable[[mpf, Mapping[Any, Any], bool], tuple[mpf, Fixed]]
"""The value at a distance along a curve with some decisions fixed, and all decisions.

The last argument says whether the value is asked for where the formula is undefined: then it is the limit.
"""


class UnclearError(Exception):
    """The definition, or the numbers, do not say what the derivative is."""


@dataclass(frozen=True)
class Slope:
    """A derivative; the limit of the function's value; whether the function jumps at the point.

    A jump of steps alone (`floor`, `sign`) needs no warning.
    """

    slope: mpf
    limit: mpf
    jump: bool = False
    puncture: bool = False
    kink: bool = False
    warned: bool = False
    """Whether it is a jump that a warning is due for."""


def limit(s: Sequence[mpf]) -> mpf:
    """The limit of four numbers at steps of equal ratios: a power of the step away from it, or infinite."""
    d1, d2, d3 = (b - a for a, b in pairwise(s))
    if any(mpmath.isinf(x) for x in s):
        raise UnclearError("infinite beside the point")
    size = max(1, abs(s[3]))
    if max(abs(d2), abs(d3)) <= size * mpf(10) ** -25:
        return s[3]
    if d1 == 0 or d2 == 0:
        raise UnclearError("no rate")
    r1, r2 = d2 / d1, d3 / d2
    if abs(r2) < mpf(10) ** -2 and abs(d3) < size * mpf(10) ** -14:
        return s[3]
    if r2 >= 1 - mpf(10) ** -25:
        return INF if d3 > 0 else -INF
    if r2 <= 0 or r1 <= 0:
        raise UnclearError("oscillates")
    first, last = s[2] + d2 * r1 / (1 - r1), s[3] + d3 * r2 / (1 - r2)
    if abs(first - last) > size * mpf(10) ** -11:
        raise UnclearError("converges too slowly")
    return last


def close(a: mpf, b: mpf, near: mpf = SAME) -> bool:
    if mpmath.isinf(a) or mpmath.isinf(b):
        return bool(a == b)
    return bool(a == b or abs(a - b) <= near * max(1, abs(b)))


def _side(f: Along, sign: int, fixed: Fixed, steps: Sequence[int]) -> tuple[mpf, mpf] | None:
    """Limit and derivative of one side; None where it lies outside of the domain."""
    at = [mpf(10) ** -k for k in steps]
    first, near = f(sign * at[0], fixed, True)
    last, nearest = f(sign * at[3], fixed, True)
    if near != nearest:
        raise UnclearError("decisions change beside the point")
    if mpmath.isnan(first) or mpmath.isnan(last):
        return None
    values = [first, *(f(sign * t, fixed, True)[0] for t in at[1:3]), last]
    whole = limit(values)
    if mpmath.isinf(whole):
        return whole, NAN
    fourth = f(sign * mpf(10) ** -(2 * steps[3] - steps[2]), fixed, True)[0]
    values.append(fourth)
    at.append(mpf(10) ** -(2 * steps[3] - steps[2]))
    quotients = [
        (a - b) / (sign * (t - u))
        for (a, b), (t, u) in zip(pairwise(values), pairwise(at), strict=True)
    ]
    return whole, limit(quotients)


def decided(f: Along, steps: Sequence[int]) -> tuple[Fixed, list[Any], Fixed, bool]:
    """Fixed decisions, punctures, all decisions at the point, and whether the sides differ where the point has no say."""
    _, there = f(mpf(0), {}, False)
    t = mpf(10) ** -steps[-1]
    fixed: Fixed = {}
    while True:
        _, right = f(t, fixed, False)
        _, left = f(-t, fixed, False)
        for key, taken in there.items():
            if key in fixed or key not in right or key not in left:
                continue
            if (right[key] == taken) != (left[key] == taken):
                fixed[key] = taken
                break
        else:
            break
    punctures = [
        k for k, d in there.items()
        if k not in fixed and right.get(k, d) != d and left.get(k, d) != d
    ]  # fmt: skip
    free = any(
        right.get(k) != left.get(k) for k in (*right, *left)
        if k not in there and (k in right) == (k in left)
    ) or any((k in right) != (k in left) for k in (*right, *left))  # fmt: skip
    return fixed, punctures, there, free


def derivative(f: Along, steps: Sequence[int] = STEPS, near: mpf = SAME) -> Slope:
    """The derivative at 0 along a curve."""
    value, _ = f(mpf(0), {}, False)
    if mpmath.isinf(value):
        raise UnclearError("infinite at the point")
    fixed, punctures, there, free = decided(f, steps)
    if fixed and (own := _smooth(f, steps, near, value, punctures, there, free)) is not None:
        return own
    found = _from_sides(f, steps, near, value, fixed, punctures, there, free)
    if fixed and any(_side(f, s, fixed, steps) is None for s in (1, -1)):
        # the side that takes the point's branch may be outside of the domain: then it is a puncture or not
        other = _from_sides(f, steps, near, value, {}, [*punctures, *fixed], there, free)
        if not (found.slope == other.slope or close(found.slope, other.slope)):
            raise UnclearError("the side that decides is outside of the domain")
    return found


def _smooth(
    f: Along, steps: Sequence[int], near: mpf, value: mpf, punctures: list[Any], there: Fixed, free: bool
) -> Slope | None:  # fmt: skip
    """The derivative of a function that has one, whatever its branches are; None for others."""
    try:
        found = _from_sides(f, steps, near, value, {}, punctures, there, free)
    except UnclearError:
        return None
    sides = [_side(f, s, {}, steps) for s in (1, -1)]
    smooth = not (found.kink or found.jump) and None not in sides
    return found if smooth and mpmath.isfinite(found.slope) else None


def _from_sides(
    f: Along, steps: Sequence[int], near: mpf, value: mpf, fixed: Fixed, punctures: list[Any],
    there: Fixed, free: bool,
) -> Slope:  # fmt: skip
    sides = [_side(f, s, fixed, steps) for s in (1, -1)]
    jump = False
    found = [s for s in sides if s is not None]
    if punctures:
        if mpmath.isnan(value):
            if not found or not all(close(s[0], found[0][0]) for s in found):
                raise UnclearError("no value at a puncture")
        elif not (found and all(close(s[0], value, near) for s in found)):
            jump = True
            sides = [_side(f, s, there, steps) for s in (1, -1)]
            found = [s for s in sides if s is not None]
    if not found:
        return Slope(NAN, value, jump, bool(punctures))
    for whole, _ in found:
        if mpmath.isinf(whole):
            raise UnclearError("a pole")
        if not close(
            whole, found[0][0] if mpmath.isnan(value) else value, near if punctures else SAME
        ):
            raise UnclearError("jumps without a decision")
    slopes = [d for _, d in found]
    kink = len(slopes) == 2 and not close(slopes[0], slopes[1])
    if free and not jump and kink:
        raise UnclearError("sides decide what the point does not")
    if kink and any(mpmath.isinf(d) for d in slopes):
        slope = NAN
    else:
        slope = slopes[0] if not kink else (slopes[0] + slopes[1]) / 2
    due = jump and any(k[0] != "call" for k in punctures)
    whole = found[0][0] if mpmath.isnan(value) else value
    return Slope(slope, whole, jump, bool(punctures), kink, due)


# --------------------------------------------------------------------- of trees
@dataclass(frozen=True)
class Place:
    """A tree at a point: `params` has a number or a list of numbers for each name."""

    tree: Node
    params: Mapping[str, Any]

    def coordinates(self) -> list[tuple[str, int | None]]:
        made: list[tuple[str, int | None]] = []
        for name, v in self.params.items():
            if isinstance(v, (list, tuple)):
                made += [(name, k) for k in range(len(v))]
            else:
                made.append((name, None))
        return made

    def run(self, shift: Mapping[tuple[str, int | None], mpf], fixed: Mapping[Any, Any]) -> Run:
        env: dict[str, Any] = {}
        for name, v in self.params.items():
            if isinstance(v, (list, tuple)):
                env[name] = np.empty(len(v), object)
                for k, x in enumerate(v):
                    env[name][k] = mpf(x) + shift.get((name, k), 0)
            else:
                env[name] = mpf(v) + shift.get((name, None), 0)
        run = Run(env, fixed, not any(shift.values()))
        run.env["value"] = run.value(self.tree)
        return run

    def continued(
        self,
        shift: Mapping[tuple[str, int | None], mpf],
        fixed: Mapping[Any, Any],
        steps: Sequence[int],
        fill: bool,
    ) -> tuple[mpf, Fixed]:
        """Value and decisions beside the point; where the formula is undefined, the limit."""
        run = self.run(shift, fixed)
        value = run.env["value"]
        if fill and mpmath.isnan(value) and any(shift.values()):
            value = self.filled(shift, fixed, steps, 2)
        return value, run.taken

    def filled(
        self, shift: Mapping[tuple[str, int | None], mpf], fixed: Mapping[Any, Any], steps: Sequence[int], trials: int
    ) -> mpf:  # fmt: skip
        """The limit along every path that is tried, lines and parabolas; nan if there is none."""
        coordinates = self.coordinates()
        limits: list[mpf] = []
        for trial in range(trials):
            weights = [
                mpf((7 * k * k + 5 * trial * (k + 2) + 3) % 11 - 5) / 4 + mpf(1) / 8
                for k in range(len(coordinates))
            ]
            powers = [1 + (trial > 1 and (k + trial) % 2) for k in range(len(coordinates))]

            def f(
                t: mpf, more: Mapping[Any, Any], _: bool, w: Any = weights, p: Any = powers
            ) -> Any:
                moved = {
                    c: shift.get(c, 0) + a * t**b for c, a, b in zip(coordinates, w, p, strict=True)
                }
                run = self.run(moved if t else shift, {**fixed, **more})
                return run.env["value"], run.taken

            if all(mpmath.isnan(f(s * mpf(10) ** -steps[0], {}, False)[0]) for s in (1, -1)):
                continue
            along, punctures, there, _ = decided(f, steps)
            sides = [_side(f, sign, along, steps) for sign in (1, -1)]
            limits += [s[0] for s in sides if s is not None]
            kept = {**along, **{k: there[k] for k in punctures}}
            written = [_side(f, sign, kept, steps) for sign in (1, -1)] if punctures else []
            far = mpf(10) ** -6 * max(map(abs, shift.values()), default=1)
            if limits and any(s is not None and abs(s[0] - limits[0]) > far for s in written):
                raise UnclearError("what is undefined lies on a guard that is no limit")
        if not limits or not all(close(a, limits[0], mpf(10) ** -(steps[0] // 2)) for a in limits):
            return NAN
        return limits[0]

    def along(self, coordinate: tuple[str, int | None]) -> Along:
        return lambda t, fixed, fill: self.continued({coordinate: t}, fixed, PATHS, fill)

    def near(self) -> mpf:
        """How near the value of a puncture must be to the limit."""
        return FLOAT32 if self.run({}, {}).bands else SAME


@dataclass(frozen=True)
class Truth:
    value: mpf
    slopes: list[Slope]


def truth(tree: Node, params: Mapping[str, Any]) -> Truth:
    """Value and gradient, or `UnclearError`."""
    with mp.workdps(DIGITS):
        place = Place(tree, params)
        coordinates = place.coordinates()
        value = place.run({}, {}).env["value"]
        if mpmath.isinf(value):
            raise UnclearError("infinite at the point")
        near = place.near()
        slopes = [derivative(place.along(c), STEPS, near) for c in coordinates]
        if mpmath.isnan(value):
            value = place.filled({}, {}, STEPS, 4)
            limits = [s.limit for s in slopes if not mpmath.isnan(s.limit)]
            if mpmath.isnan(value) or not all(close(a, value) for a in limits):
                raise UnclearError("no limit at the point")
        return Truth(value, slopes)


def second(tree: Node, params: Mapping[str, Any]) -> list[list[Slope]]:
    """The matrix of second derivatives of a smooth function: derivatives of first ones by the same rule."""
    with mp.workdps(DIGITS):
        place = Place(tree, params)
        coordinates, near = place.coordinates(), place.near()

        def entry(i: Any, j: Any) -> Slope:
            def slope_at(t: mpf, outer: Mapping[Any, Any], needed: bool) -> tuple[mpf, Fixed]:
                taken = place.run({j: t}, outer).taken
                nowhere = bool(t) and (
                    not needed or mpmath.isnan(place.continued({j: t}, outer, INNER_PATHS, True)[0])
                )
                if nowhere:
                    return NAN, taken

                def inner(u: mpf, fixed: Mapping[Any, Any], fill: bool) -> tuple[mpf, Fixed]:
                    shift = {j: t + u} if i == j else {j: t, i: u}
                    return place.continued(shift, {**outer, **fixed}, INNER_PATHS, fill)

                found = derivative(inner, INNER, near)
                if found.jump or found.kink:
                    raise UnclearError("no smooth function")
                return found.slope, taken

            found = derivative(slope_at, OUTER, near)
            if found.jump:
                raise UnclearError("the first derivative jumps")
            return found

        used = free_names(tree)
        made = [[Slope(mpf(0), mpf(0))] * len(coordinates) for _ in coordinates]
        for a, i in enumerate(coordinates):
            for b, j in enumerate(coordinates[: a + 1]):
                if i[0] in used and j[0] in used:
                    made[a][b] = made[b][a] = entry(i, j)
        return made
