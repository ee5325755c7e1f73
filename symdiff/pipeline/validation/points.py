"""Points chosen to hurt: where a wrong rewrite shows, found without compiling anything.

Ordinary points of every sign, tiny and huge ones; and along lines parallel to the axes the
zeros of whatever an operation is singular at, has a kink at or decides by, in the captured
formulas and in what is compiled (the edges of bands), with their neighbours on both sides.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.interpret.lines import is_size
from symdiff.ir import COMPARISONS, CONST, VAR, Expr, Op
from symdiff.passes.differentiate import squares, weighted_squares

Point = tuple[float, ...]
Line = tuple[Point, int]
"""A point, and along which axis a line goes through it."""
Array = np.ndarray[Any, Any]

MAX_PLACES = 40
MAX_SUMS = 8
MAX_AXES = 6
MAX_ROOTS = 12
STEPS = 14
"""Halvings of an interval with a change of sign."""
NEAR = (0.0, 1e-3, 1e-8, 1e-15, 0.05, 1e-5, 1e-12, 1e-30, 1e-80)
"""Distances from a special value, relative to it; absolute ones at 0."""
ORDINARY = 12
EXTREME = (1e-5, 1e5, 1e-30, 1e30, 1e-160, 1e160, 1e-300, 1e300)


def places_of(captured: Sequence[Expr], compiled: Sequence[Expr]) -> list[Expr]:
    """What vanishes at special points: loci, kinks and decisions of the captured formulas,
    and the decisions of what is compiled."""
    from symdiff.pipeline.samples import breaks

    found = dict.fromkeys(breaks(captured))
    for e in ir.topological(compiled):
        if e.op in COMPARISONS and len(found) < 2 * MAX_PLACES:
            place = ir.sub(*e.args)
            if ir.variables((place,)):
                found.setdefault(place)
    return list(found)[: 2 * MAX_PLACES]


def sums_of(captured: Sequence[Expr]) -> list[Expr]:
    """What cancels where it vanishes: sums, where rounding shows."""
    order = [e for e in ir.topological(captured) if e.op in (ir.ADD, ir.SUB)]
    return [e for e in reversed(order) if ir.variables((e,))][:MAX_SUMS]


class Special:
    """Where places vanish on lines, in double arithmetic."""

    def __init__(self, params: Sequence[str], places: Sequence[Expr]) -> None:
        self.params = [ir.var(p) for p in params]
        self.order = ir.topological(places)
        self.places = list(places)
        last = {a: i for i, e in enumerate(self.order) for a in e.args}
        kept = set(self.places)
        self.over: list[list[Expr]] = [[] for _ in self.order]  # what nothing uses from there on
        for e, i in last.items():
            if e not in kept:
                self.over[i].append(e)
        numbers = {
            abs(float(q)) for e in self.order if (q := ir.rational(e)) is not None and _fits(q)
        }
        for e in self.order:  # |t - p| < r is decided at p + r and p - r
            if e.op in (ir.ADD, ir.SUB) and (q := ir.rational(e)) is not None and _fits(q):
                numbers.add(abs(float(q)))
        self.constants = sorted({s * c for c in numbers for s in (1.0, -1.0)})[:200]

    def cost(self) -> int:
        """Operations of one sweep over all lines."""
        return len(self.order)

    def values(self, points: Array) -> Array:
        """The places, one a row, at points, whose coordinates are rows."""
        found: dict[Expr, Any] = {}
        slots = {p: i for i, p in enumerate(self.params)}
        count = points.shape[1]
        with np.errstate(all="ignore"):
            for e, over in zip(self.order, self.over, strict=True):
                if e.op is VAR:
                    i = slots.get(e, -1)
                    found[e] = points[i] if i >= 0 else math.nan
                elif e.op is CONST:
                    found[e] = _double(e.value)
                elif e.op is ir.BOOL:
                    found[e] = e.value
                else:
                    found[e] = _apply(e.op, [found[a] for a in e.args])
                for a in over:
                    del found[a]
        rows = [np.broadcast_to(np.asarray(found[p], np.float64), count) for p in self.places]
        return np.array(rows).reshape(len(rows), count)

    def roots(self, lines: Sequence[Line]) -> list[list[float]]:
        """Where places vanish on lines, each through a point along an axis; all lines at once,
        as a sweep costs what its operations cost, hardly what its points do."""
        if not self.places or not lines:
            return [[] for _ in lines]
        xs = [np.unique(np.array([*_frame(), *self.constants, *base])) for base, _ in lines]
        counts = [len(x) for x in xs]
        v = self.values(
            self._on(lines, np.repeat(np.arange(len(lines)), counts), np.concatenate(xs))
        )
        found: list[list[float]] = []
        intervals = []  # with a change of sign: line, place, both ends, the sign at the first
        for line, (x, part) in enumerate(
            zip(xs, np.split(v, np.cumsum(counts)[:-1], axis=1), strict=True)
        ):
            found.append([float(r) for row in part for r in x[row == 0.0][:3]])
            low_sign = np.sign(part[:, :-1])
            which, start = np.nonzero(low_sign * np.sign(part[:, 1:]) < 0)
            which, start = which[: 4 * MAX_ROOTS], start[: 4 * MAX_ROOTS]
            at = np.full(len(which), line)
            intervals.append((at, which, x[start], x[start + 1], low_sign[which, start]))
        at, which, a, b, below = (np.concatenate(c) for c in zip(*intervals, strict=True))
        if len(at):
            columns = np.arange(len(at))
            for _ in range(STEPS):
                m = a + (b - a) / 2
                side = np.sign(self.values(self._on(lines, at, m))[which, columns])
                a = np.where(side == below, m, a)
                b = np.where(side == below, b, m)
            middle = a + (b - a) / 2
            for line, x in zip(at, middle, strict=True):
                found[line].append(_short(float(x)))
        return [_simplest(f) for f in found]

    def _on(self, lines: Sequence[Line], which: Array, xs: Array) -> Array:
        """Points on lines, by their coordinates along these; the coordinates are rows."""
        bases = np.array([base for base, _ in lines], np.float64)
        axes = np.array([axis for _, axis in lines])
        points = bases[which].T.copy()
        points[axes[which], np.arange(len(xs))] = xs
        return points


def _simplest(found: Sequence[float]) -> list[float]:
    finite = {x + 0.0 for x in found if math.isfinite(x)}
    return sorted(finite, key=lambda x: (len(repr(x)), abs(x), x))[:MAX_ROOTS]


def _fits(q: Fraction) -> bool:
    return abs(q.numerator).bit_length() - q.denominator.bit_length() < 1000


def _double(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _short(x: float) -> float:
    """The shortest number that close, as special points are rarely written long."""
    return float(f"{x:.3g}") if abs(float(f"{x:.3g}") - x) < 1e-3 * abs(x) else x


@lru_cache(maxsize=1)
def _frame() -> tuple[float, ...]:
    sizes = [0.0371 + 0.331 * k for k in range(24)]
    sizes += [k / 2 for k in range(1, 9)] + [10.0**k for k in (-8, -5, -3, -2, -1, 1.3, 2, 3, 6)]
    return tuple(sorted({0.0, *sizes, *(-s for s in sizes)}))


_CORE: dict[Op, Callable[..., Any]] = {
    ir.ADD: np.add, ir.SUB: np.subtract, ir.MUL: np.multiply, ir.DIV: np.divide,
    ir.NEG: np.negative, ir.POW: lambda a, b: np.power(np.asarray(a, np.float64), b),
    ir.LT: np.less, ir.LE: np.less_equal, ir.EQ: np.equal, ir.NOT: np.logical_not,
    ir.AND: np.logical_and, ir.OR: np.logical_or, ir.WHERE: np.where,
}  # fmt: skip


@lru_cache(maxsize=512)
def _function(op: Op) -> Callable[..., Any] | None:
    if op in _CORE:
        return _CORE[op]
    for name in op.names:
        module, _, rest = name.partition(".")
        if module == "numpy" and hasattr(np, rest):
            found: Callable[..., Any] = getattr(np, rest)
            return found
    return None


def _apply(op: Op, args: list[Any]) -> Any:
    function = _function(op)
    if function is None:
        return math.nan
    try:
        return function(*args)
    except (TypeError, ValueError, ZeroDivisionError):
        return math.nan


def chosen(
    params: Sequence[str], special: Special, sums: Special | None = None, seed: int = 7
) -> list[Point]:
    """Points in the order of what they are likely to show, without end in view: the budget
    says how many are looked at."""
    n, rng = len(params), random.Random(seed)
    if n == 0:
        return [()]

    def size() -> float:
        return rng.choice((1, -1)) * 10 ** rng.uniform(-1.5, 1.5)

    ordinary = [tuple(round(size(), 3) for _ in range(n)) for _ in range(ORDINARY)]
    ordinary[0] = tuple(round(rng.uniform(0.3, 0.9), 3) for _ in range(n))
    ordinary[1] = tuple(round(rng.uniform(1.1, 3), 3) for _ in range(n))
    near: list[list[Point]] = []
    axes = range(n) if n <= MAX_AXES else sorted(rng.sample(range(n), MAX_AXES))
    lines = [(base, axis) for base in ordinary[:2] for axis in axes]
    for (base, axis), roots in zip(lines, special.roots(lines), strict=True):
        for r in roots:
            beside = []
            for h in NEAR:
                step = h * abs(r) if abs(r) > 1e-3 else h
                for s in (1, -1) if h else (1,):
                    x = r + s * step
                    if h and x == r:
                        x = math.nextafter(r, s * math.inf)
                    beside.append((*base[:axis], x, *base[axis + 1 :]))
            near.append(beside)
    cancelling: list[Point] = []
    where = sums.roots(lines) if sums is not None else [[] for _ in lines]
    for (base, axis), roots in zip(lines, where, strict=True):
        for r in roots:
            for h in (1e-9, -1e-12, 1e-5, -1e-15, 1e-2):
                x = r * (1 + h) if r else h
                cancelling.append((*base[:axis], x, *base[axis + 1 :]))
    extreme: list[Point] = []
    for e in EXTREME:
        for _ in range(2):
            extreme.append(tuple(rng.choice((1, -1)) * e * rng.uniform(1, 3) for _ in range(n)))
        if n > 1:
            extreme.append(tuple(rng.choice((e, 1.0, 1 / e)) * size() for _ in range(n)))
    extreme.append((0.0,) * n)
    if n > 1:
        extreme += [(c,) * n for c in (1.0, 0.7, -0.3)]
        extreme += [(0.0,) * k + (0.7,) + (0.0,) * (n - 1 - k) for k in axes]
    flat = [p for level in range(2 * len(NEAR)) for b in near for p in b[level : level + 1]]
    return list(
        dict.fromkeys(_dealt([ordinary, flat, flat[len(flat) // 2 :], extreme, cancelling]))
    )


def _dealt(piles: Sequence[Sequence[Point]]) -> list[Point]:
    """One of each pile in turn."""
    found = []
    for k in range(max(map(len, piles), default=0)):
        found += [pile[k] for pile in piles if k < len(pile)]
    return found


def equality(e: Expr) -> Expr | None:
    """What a comparison asks for, if it is one of equal numbers, or of a size with 0."""
    if e.op is ir.EQ:
        return e
    size = (
        next((u for u, b in (e.args, e.args[::-1]) if b is ir.ZERO), None)
        if e.op in ir.COMPARISONS
        else None
    )
    return ir.eq(size, ir.ZERO) if size is not None and is_size(size) else None


def norm(e: Expr) -> Expr | None:
    """What a root is of, if it is a norm, which has a kink where it is 0."""
    if e.op is not ir.POW or ir.rational(e.args[1]) != Fraction(1, 2):
        return None
    return e.args[0] if squares(e.args[0]) or weighted_squares(e.args[0]) else None


def on_cut(e: Expr) -> Expr:
    """Where a function is on its branch cut, or where that begins: behind the last argument."""
    if e.op.cut is None:
        return ir.FALSE
    return ir.and_(ir.le(ir.abs_(e.op.cut(*e.args)), 0), ir.le(e.args[-1], 0))
