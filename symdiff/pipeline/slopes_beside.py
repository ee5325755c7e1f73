"""Derivatives of first order by the definition at many points, in compiled balls.

Before:  where(x != y, (exp(x) - exp(y))/(x - y), exp(x)) at 10,000 points with x = y
After:   the slopes on both sides of each point, over two short distances

The partial derivative by x_i at p is the mean of the slopes of t -> f(p + t e_i) for t > 0 and t < 0. These are
differences over two short distances, in balls of far more digits. A point is left to `interpret.along_lines`, which
knows all cases, unless

- the slopes over both distances agree, or tend to 0, on each side, and both sides have the same value,
- decisions at p in doubles are those of real numbers, and both distances have the same ones, and
- the value at p is that of both sides, and so is the slope; or each branch that is taken at p is taken on both sides, or
  on neither;

or the formula of the derivative has no finite value at p, which the function leaves as c*t**q with q < 1 does, on the
branch taken at p; and the other side is outside of the domain, or has the same infinite slope.

Requires: captured programs of numbers without steps or thin bands, and numbers far above the distances.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from symdiff import ir
from symdiff.codegen.llvm.operation_table import columns_of, evaluable
from symdiff.interpret.certified import Certified
from symdiff.interpret.lines import THIN, is_size, is_step, small_offset
from symdiff.interpret.terms import Term
from symdiff.ir import ONE, WHERE, ZERO, Expr
from symdiff.ir.plain import exactly
from symdiff.ir.program import Program
from symdiff.ir.undefined import undefined
from symdiff.passes.differentiate import pushforward
from symdiff.process.lazy_modules import Later
from symdiff.runtime.scalar.ball_elements import BallElements, compiled_elements

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

Array = Any
STEP, FARTHER = 2.0**-140, 2**40
"""The distance from a point, and how many times as far the other one is,"""
BITS = 640
"""the precision of values there,"""
LEAST, MOST = 2.0**-30, 2.0**60
"""and the sizes of arguments and constants that are neither 0 nor near to the distances."""
LARGEST = 2_000
"""Operations of a program, at most."""
SURE, STEADY, VANISHED = 2.0**-48, 2.0**-45, 2.0**-60
"""Relative widths of balls of slopes, differences of slopes over both distances, and sizes of those that may tend to 0."""
NOUGHT = 2.0**-200
SAME_GROWTH, LEAST_GROWTH, MOST_GROWTH = 2.0**-10, 2.0**-20, 1 - 2.0**-6
"""Of c*t**q, what a doubled distance adds relative to the first one: differences over both distances, and bounds."""
ALIKE, NEAR = 2.0**-40, 2.0**-60
"""Relative and absolute differences of values on both sides of a point."""


@dataclass(frozen=True, slots=True)
class _Side:
    """On one side of each point: both ends of slopes over the distance and over the farther one, values (points,
    outputs), and whether conditions hold at both distances (points, conditions), 1 or 0, nan where that is open."""

    near: tuple[Array, Array]
    far: tuple[Array, Array]
    values: Array
    truths: tuple[Array, Array]

    def limit(self) -> tuple[Array, Array]:
        """The one-sided derivatives, and where they are known."""
        sure = []
        for least, most in (self.near, self.far):
            thin = most - least <= SURE * np.abs(most)
            sure.append(thin | (np.maximum(np.abs(least), np.abs(most)) <= NOUGHT))
        near, far = self.near[1], self.far[1]
        same = np.abs(near - far) <= STEADY * np.abs(near)
        zero = (np.abs(far) <= VANISHED) & (np.abs(near) <= np.abs(far) / (FARTHER / 2**10))
        zero |= (np.abs(near) <= NOUGHT) & (np.abs(far) <= NOUGHT)
        return np.where(zero, 0.0, near), sure[0] & sure[1] & (same | zero)


class SlopesBeside:
    """The values of a captured program and its derivatives of first order.

    Parameters
    ----------
    program : for which `is_possible`.
    """

    def __init__(self, program: Program) -> None:
        self.params = [ir.var(p) for p in program.params]
        self.program, self._count = program, len(program.outputs)
        self.decided = _conditions(program.outputs)
        self._real = exactly((*program.outputs, *self.decided))
        domain = [_number(c) for c in exactly(program.domain)]
        truths = map(_number, self._real[self._count :])
        self.here = self._compiled(program.params, program.outputs)
        self._truths = self._compiled(program.params, (*truths, *domain))
        self.beside = [self._table(k) for k in range(len(self.params))]

    @functools.cached_property
    def _growing(self) -> list[BallElements | None]:
        """What tells infinite slopes, for each parameter."""
        return [self._growth(k) for k in range(len(self.params))]

    @property
    def is_possible(self) -> bool:
        return None not in (self.here, self._truths, *self.beside)

    @staticmethod
    def _compiled(params: Sequence[str], outputs: Sequence[Expr]) -> BallElements | None:
        return compiled_elements(Certified(params, outputs), params, False)

    def _table(self, k: int) -> BallElements | None:
        """Slopes, values and conditions at distances from points in the direction of a parameter."""
        x, step, n = self.params[k], ir.var("distance"), self._count
        near, next_, far = (ir.substitute(self._real, {x: x + c * step}) for c in (1, 2, FARTHER))
        slopes = [(b - a) / step for a, b in zip(near[:n], next_[:n], strict=True)]
        chords = [(b - a) / ((FARTHER - 1) * step) for a, b in zip(near[:n], far[:n], strict=True)]
        both = (*slopes, *map(ir.neg, slopes), *chords, *map(ir.neg, chords))
        truths = map(_number, (*near[n:], *far[n:]))
        return self._compiled([*self.program.params, "distance"], (*both, *near[:n], *truths))

    def _growth(self, k: int) -> BallElements | None:
        """What outputs add over both distances and at twice these, where they are undefined, and their derivatives
        at points."""
        x, step, n = self.params[k], ir.var("distance"), self._count
        here, near, near2, far, far2 = (
            ir.substitute(self._real[:n], {x: x + c * step})
            for c in (0, 1, 2, FARTHER, 2 * FARTHER)
        )
        added = [b - a for a, b in zip(here, near, strict=True)]
        growth = [(c - b) / (b - a) for a, b, c in zip(here, near, near2, strict=True)]
        farther = [(c - b) / (b - a) for a, b, c in zip(here, far, far2, strict=True)]
        both = (*added, *map(ir.neg, added), *growth, *map(ir.neg, growth), *farther)
        outside = map(_number, undefined(near))
        slopes = pushforward(self._real[:n], {x: ONE})
        return self._compiled([*self.program.params, "distance"], (*both, *outside, *slopes))

    def _leaving(self, k: int, points: Array, step: float) -> tuple[Array, Array]:
        """On one side of each point: infinite slopes, else 0, and whether outputs are undefined there."""
        table, n = self._growing[k], self._count
        if table is None:
            return np.zeros((len(points), n)), np.zeros((len(points), n), bool)
        found = table.upper_ends(np.column_stack([points, np.full(len(points), step)]), BITS)
        most, least, growth, less, farther, outside, slopes = (
            found[:, j * n : (j + 1) * n] for j in range(7)
        )
        grows = (growth + less <= SAME_GROWTH) & (np.abs(growth - farther) <= SAME_GROWTH)
        grows &= np.isnan(slopes) & (growth >= LEAST_GROWTH) & (growth <= MOST_GROWTH)
        sign = np.where(least < 0, 1.0, np.where(most < 0, -1.0, 0.0)) * np.sign(step)
        return np.where(grows & (sign != 0), sign * np.inf, 0.0), outside == 1

    def _side(self, k: int, points: Array, step: float) -> _Side:
        table, n, c = self.beside[k], self._count, len(self.decided)
        assert table is not None
        found = table.upper_ends(np.column_stack([points, np.full(len(points), step)]), BITS)
        near, below, far, below_far, values = (found[:, j * n : (j + 1) * n] for j in range(5))
        truths = found[:, 5 * n : 5 * n + c], found[:, 5 * n + c :]
        return _Side((-below, near), (-below_far, far), values, truths)

    def __call__(self, points: Array, rows: Sequence[Sequence[Term]]) -> tuple[Array, Array]:
        """What terms add up to at points (elements, parameters and weights), and which elements are known."""
        own = np.ascontiguousarray(points[:, : len(self.params)])
        sizes = np.abs(own)
        known = ((sizes == 0) | ((sizes >= LEAST) & (sizes <= MOST))).all(axis=1)
        assert self.here is not None and self._truths is not None
        values, proven = self.here(own)
        truths, c = self._truths.upper_ends(own, BITS), len(self.decided)
        known &= (truths[:, c:] == 1).all(axis=1)
        plain = [np.broadcast_to(x, len(own)) for x in columns_of(self.decided, self.params, own)]
        decided = np.stack(plain, axis=1) if plain else np.zeros((len(own), 0))
        known &= (truths[:, :c] == decided).all(axis=1)
        by = sorted({t.by[0] for row in rows for t in row if t.by})
        slopes = {k: self._slopes(k, own, values, proven, decided) for k in by}
        totals = np.zeros((len(own), len(rows)))
        for k, row in enumerate(rows):
            for t in row:
                weight = np.prod([points[:, w] for w in t.weights], axis=0) * np.ones(len(own))
                if t.by:
                    part, there = (a[:, t.output] for a in slopes[t.by[0]])
                else:
                    part, there = values[:, t.output], proven
                known &= there | (weight == 0)
                totals[:, k] += np.where(weight == 0, 0.0, weight * part)
        return totals, known & ~np.isnan(totals).any(axis=1)

    def _slopes(
        self, k: int, points: Array, here: Array, proven: Array, decided: Array
    ) -> tuple[Array, Array]:
        """The derivatives of the outputs by a parameter, and where they are known."""
        right, left = (self._side(k, points, s * STEP) for s in (1, -1))
        one, other = right.truths[0], left.truths[0]
        steady = ((one == right.truths[1]) & (other == left.truths[1])).all(axis=1)
        kept = (one == decided) & (other == decided)
        alone = (one != decided) & (other != decided)
        with np.errstate(all="ignore"):
            (up, is_up), (down, is_down) = right.limit(), left.limit()
            joined = proven[:, None] & _alike(here, right.values) & _alike(here, left.values)
            smooth = joined & (np.abs(up - down) <= STEADY * np.abs(up))
            settled = smooth | (joined & (kept | alone).all(axis=1)[:, None])
            slopes, known = up / 2 + down / 2, is_up & is_down & steady[:, None] & settled
            open_ = np.flatnonzero(~known.all(axis=1))
            if len(open_):
                stays = [(s.truths[0] == decided) & (s.truths[1] == decided) for s in (right, left)]
                found = self._infinite(k, points[open_], *(s.all(axis=1)[open_] for s in stays))
                infinite = ~known[open_] & proven[open_, None] & (found != 0)
                slopes[open_] = np.where(infinite, found, slopes[open_])
                known[open_] |= infinite
            return slopes, known

    def _infinite(self, k: int, points: Array, stays_up: Array, stays_down: Array) -> Array:
        """Infinite derivatives, else 0, where decisions stay those at points on sides where slopes are infinite."""
        (up, no_up), (down, no_down) = (self._leaving(k, points, s * STEP) for s in (1, -1))
        up = np.where(stays_up[:, None], up, 0.0)
        down = np.where(stays_down[:, None], down, 0.0)
        return np.where(no_up | (up == down), down, np.where(no_down, up, 0.0))


def slopes_beside(program: Program) -> SlopesBeside | None:
    """The derivatives of a captured program at many points; None where it has steps, thin bands, or an operation
    that compiled balls have not."""
    order = ir.topological(exactly(program.outputs))
    if len(order) > LARGEST or any(is_step(e) or _counts(e) or _is_tiny(e) for e in order):
        return None
    conditions = _conditions(program.outputs)
    tolerances = {*ir.variables(program.outputs)} - ir.variables_of_values(program.outputs)
    if any(_is_band(e, tolerances) for e in ir.topological(exactly(conditions))):
        return None
    if not evaluable(conditions):
        return None
    made = SlopesBeside(program)
    return made if made.is_possible else None


def _conditions(outputs: Iterable[Expr]) -> tuple[Expr, ...]:
    """What branches ask."""
    return tuple(dict.fromkeys(e.args[0] for e in ir.topological(tuple(outputs)) if e.op is WHERE))


def _counts(e: Expr) -> bool:
    """Whether a truth value counts as a number."""
    return e.op is not WHERE and not e.op.boolean and any(a.op.boolean for a in e.args)


def _is_tiny(e: Expr) -> bool:
    """Whether a constant is near to the distances."""
    return e.op is ir.CONST and e.value != 0 and not LEAST <= abs(e.value) <= MOST


def _is_band(e: Expr, tolerances: Set[Expr]) -> bool:
    """Whether a comparison may be that of a thin band: it has a small constant, bounds a size by what is computed, or has
    a parameter that only conditions read."""
    if e.op is ir.EQ or e.op not in ir.COMPARISONS:
        return False
    numbers = [n for n in ir.topological(e.args) if n.op is ir.CONST]
    if any(0 < abs(n.value) <= THIN or small_offset(n) is not None for n in numbers):
        return True
    if not tolerances.isdisjoint(ir.variables(e.args)):
        return True
    return all(ir.rational(a) is None for a in e.args) and any(map(is_size, e.args))


def _number(condition: Expr) -> Expr:
    return ir.where(condition, ONE, ZERO)


def _alike(a: Array, b: Array) -> Array:
    return np.abs(a - b) <= ALIKE * np.maximum(np.abs(a), np.abs(b)) + NEAR


__all__ = ["SlopesBeside", "slopes_beside"]
