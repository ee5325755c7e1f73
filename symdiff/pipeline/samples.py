"""Points to measure at: any double, ordinary numbers, and the places where formulas break.

A formula can go wrong where an operation is singular (a denominator, the argument of
a logarithm or a root, a branch, a kink) and where a sum cancels. `breaks` lists what
vanishes there; `Lines.roots` finds where along one variable, among the constants of the
formula and by bisection over the doubles, and `Lines.grid` puts points on both sides.
"""

from __future__ import annotations

import functools
import math
import random
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.ir import ADD, COMPARISONS, ONE, SUB, TRUE, ZERO, Expr
from symdiff.passes.analysis.roots import loci
from symdiff.runtime.protocols import Plain
from symdiff.runtime.scalar.kernel import Kernel

Array = np.ndarray[Any, Any]
Point = tuple[float, ...]

SEED = 5
LARGEST = sys.float_info.max
MAX_LOCI = 120
MAX_ROOTS = 60
"""Roots that are followed on one line."""
MANY_FLIPS, MAX_FLIPS = 2000, 16
"""Changes of sign, and minima of the size, that are followed of all expressions on one line, and where
there are more, of each expression."""
OFFSETS = tuple(range(1, 17))
"""Points at distance 10**-k from a singular point, for these k."""
FIRST, TRIES = 64, 4096
SINKING = 20
"""Steps towards a minimum after which it is left, if its size is not half of its surroundings."""
CLOSE = 1e-6
"""A minimum this much smaller than its surroundings counts as a zero."""


# ---------------------------------------------------------------------- doubles
def ordinal(x: Any) -> Any:
    """Numbers that count the doubles up from -inf, 0 at 0; elementwise."""
    bits = np.asarray(x, np.float64).view(np.int64)
    return np.where(bits < 0, np.int64(-(2**63)) - bits, bits)


def from_ordinal(n: Any) -> Any:
    """Inverse of `ordinal`."""
    n = np.asarray(n, np.int64)
    return np.where(n < 0, np.int64(-(2**63)) - n, n).view(np.float64)


def halfway(a: float, b: float) -> float:
    """The double with as many doubles to either side, between two doubles."""
    m, n = int(ordinal(a)), int(ordinal(b))
    return float(from_ordinal((m + n) // 2))


def spread(a: float, b: float, count: int) -> list[float]:
    """Up to this many doubles between two, evenly among the doubles."""
    m, n = int(ordinal(a)), int(ordinal(b))
    inner = {m + (n - m) * k // (count + 1) for k in range(1, count + 1)} - {m, n}
    return [float(x) for x in from_ordinal(sorted(inner))]


# ----------------------------------------------------------------------- domain
def inside(params: Sequence[str], conditions: Iterable[Expr]) -> Callable[[Array], Array]:
    """A test of points, one a row, for whether all conditions hold there."""
    held = TRUE
    for c in conditions:
        held = ir.and_(held, c)
    if held is TRUE:
        return lambda points: np.ones(len(points), bool)
    kernel = Kernel(Plain("inside", tuple(params), (ir.where(held, ONE, ZERO),)), cache=False)

    def test(points: Array) -> Array:
        with np.errstate(all="ignore"):
            result: Array = kernel(list(points.T.copy()))[0] == 1
        return result

    return test


def box(params: Sequence[str], conditions: Iterable[Expr]) -> tuple[Array, Array]:
    """Bounds of each parameter that conditions such as `0 < x` state outright."""
    low, high = np.full(len(params), -LARGEST), np.full(len(params), LARGEST)
    place = {ir.var(p): i for i, p in enumerate(params)}
    for c in ir.conjuncts(*conditions):
        if c.op in (ir.LT, ir.LE):
            a, b = c.args
            if b in place and (q := ir.rational(a)) is not None:
                low[place[b]] = max(low[place[b]], _float(q))
            elif a in place and (q := ir.rational(b)) is not None:
                high[place[a]] = min(high[place[a]], _float(q))
    return low, high


# ------------------------------------------------------------------ random points
Box = tuple[Array, Array]


def bit_uniform(
    count: int, arity: int, dtype: Any = "float64", within: Box | None = None, seed: int = SEED
) -> Array:
    """Points whose coordinates are finite floats with uniformly random bits."""
    rng = np.random.default_rng(seed)
    low, high = within or (np.full(arity, -LARGEST), np.full(arity, LARGEST))
    if np.dtype(dtype) == np.float32:
        largest = float(np.finfo(np.float32).max)
        ends = (
            np.clip(e, -largest, largest).astype(np.float32).view(np.int32) for e in (low, high)
        )
        first, last = (np.where(e < 0, -(2**31) - e.astype(np.int64), e) for e in ends)
        drawn = rng.integers(first, np.maximum(first, last) + 1, (count, arity))
        bits = np.where(drawn < 0, -(2**31) - drawn, drawn).astype(np.int32)
        return bits.view(np.float32).astype(np.float64)
    first, last = ordinal(low), ordinal(high)
    points: Array = from_ordinal(rng.integers(first, np.maximum(first, last) + 1, (count, arity)))
    return points


def ordinary(
    count: int, arity: int, dtype: Any = "float64", within: Box | None = None, seed: int = SEED
) -> Array:
    """Points half with magnitudes from 1e-8 to 1e8 and any sign, half in [-10, 10]; in a
    small box uniform."""
    rng = np.random.default_rng(seed)
    wide = 10 ** rng.uniform(-8, 8, (count, arity)) * rng.choice((-1.0, 1.0), (count, arity))
    narrow = rng.uniform(-10, 10, (count, arity))
    mixed = np.where(np.arange(count)[:, None] % 2, wide, narrow)
    if within is not None:
        low, high = within
        small = (np.abs(low) < 1e8) & (np.abs(high) < 1e8)
        low, high = np.where(small, low, -10), np.where(small, high, 10)
        mixed = np.where(small, low + (narrow + 10) / 20 * (high - low), mixed)
    return mixed.astype(dtype).astype(np.float64)


def bases(
    params: Sequence[str], test: Callable[[Array], Array], defaults: Mapping[str, float]
) -> list[Point]:
    """Points through which lines are drawn: two ordinary ones, zeros, ones, all equal.

    Parameters keep their default where they have one, in the first of them.
    """
    n, rng = len(params), random.Random(SEED)
    found: list[Point] = []
    for scale in (1.0, 4.0):
        tries = np.array([[scale * rng.uniform(0.3, 2) for _ in params] for _ in range(64)])
        signed = ordinary(TRIES, n)
        for points in map(_short, (tries, signed[:FIRST], signed[FIRST:])):
            for k, name in enumerate(params):
                if scale == 1 and name in defaults:
                    points[:, k] = defaults[name]
            good = points[test(points)]
            if len(good):
                found.append(tuple(map(float, good[0])))
                break
    if n > 1:
        found += [(c,) * n for c in (0.0, 1.0, 0.7)]
    return list(dict.fromkeys(found))[: None if n > 1 else 1] or [(1.0,) * n]


def _short(points: Array) -> Array:
    """The points with coordinates of three decimal digits."""
    return np.array([float(f"{x:.3g}") for x in points.flat]).reshape(points.shape)


# --------------------------------------------------------------- singular points
def breaks(outputs: Iterable[Expr], sums: bool = False) -> dict[Expr, Expr]:
    """What vanishes where an operation is singular, has a kink or decides a branch,
    and the operation; with `sums` also sums, which cancel where they vanish."""
    found: dict[Expr, Expr] = {}
    for e in ir.topological(outputs):
        places = list(loci(e))
        if e.op.kink is not None:
            places.append(e.op.kink(*e.args))
        if e.op in COMPARISONS or (sums and e.op in (ADD, SUB)):
            places.append(ir.sub(*e.args) if e.op in COMPARISONS else e)
        for place in places:
            if ir.variables((place,)) and len(found) < MAX_LOCI:
                found.setdefault(place, e)
    return found


class Lines:
    """Lines parallel to an axis, and where the breaks of a formula meet them.

    Parameters
    ----------
    params : names of the variables.
    places : expressions whose zeros are searched for.
    """

    def __init__(self, params: Sequence[str], places: Sequence[Expr]) -> None:
        self.params, self.places = tuple(params), tuple(places)
        self.kernel = (
            Kernel(Plain("breaks", tuple(params), self.places), cache=False) if places else None
        )
        found = (ir.rational(e) for e in ir.topological(self.places))
        constants = {_float(q) for q in found if q is not None}
        self.constants = [s * c for c in constants if c < LARGEST for s in (1, -1)]

    def roots(self, base: Point, axis: int) -> list[float]:
        """Where a break meets the line through a point, in order of size."""
        found = [] if self.kernel is None else self._search(base, axis)
        finite = {float(x) + 0.0 for x in found if math.isfinite(x)}
        return sorted(finite, key=lambda x: (length(x), abs(x), x))[:MAX_ROOTS]

    def grid(self, base: Point, axis: int) -> tuple[Array, Array]:
        """Numbers along the line: all sizes, ordinary ones, and close to every root;
        and which of them are roots."""
        points, roots = [*_frame(), *self.constants, base[axis]], self.roots(base, axis)
        for r in roots:
            points.append(r)
            for k in OFFSETS:
                for h in {10.0**-k, abs(r) * 10.0**-k} - {0.0}:
                    points += [r - h, r + h]
        values = np.unique(np.array(points) + 0.0)
        values = values[np.isfinite(values)]
        return values, np.isin(values, roots)

    def points(self, base: Point, axis: int, values: Array) -> Array:
        """Points of the line, one a row."""
        rows = np.tile(np.array(base, np.float64), (len(values), 1))
        rows[:, axis] = values
        return rows

    # -- roots
    def _search(self, base: Point, axis: int) -> list[float]:
        """Zeros at the points of a coarse grid; sign changes and minima between them."""
        xs = np.unique(np.array([*_frame(), *self.constants, *base]))
        values = self._values(base, axis, xs)
        with np.errstate(all="ignore"):
            flips = (np.sign(values[:, :-1]) * np.sign(values[:, 1:])) < 0
            zeros = values == 0
            size = np.abs(values)
            dips = (size[:, 1:-1] < size[:, :-2]) & (size[:, 1:-1] < size[:, 2:])
            dips &= ~flips[:, :-1] & ~flips[:, 1:] & ~zeros[:, 1:-1]
        found = [x for row in zeros for x in _simplest(xs, row)]
        which, start = _first(flips, xs)
        found += self._bisect(base, axis, which, xs[start], xs[start + 1])
        which, start = _first(dips, xs)
        found += self._sink(base, axis, which, xs[start], xs[start + 2])
        return found

    def _values(self, base: Point, axis: int, xs: Array) -> Array:
        assert self.kernel is not None
        args: list[Any] = list(base)
        args[axis] = np.ascontiguousarray(xs)
        with np.errstate(all="ignore"):
            found = np.empty((len(self.places), len(xs)))
            for row, v in zip(found, self.kernel(args), strict=True):
                row[:] = v
            return found

    def _bisect(self, base: Point, axis: int, which: Array, a: Array, b: Array) -> list[float]:
        """The last doubles before and after each sign change."""
        if not len(which):
            return []
        low, high = ordinal(a), ordinal(b)
        rows = np.arange(len(which))
        below = np.sign(self._values(base, axis, a)[which, rows])
        for _ in range(64):
            middle = (low & high) + ((low ^ high) >> 1)
            sign = np.sign(self._values(base, axis, from_ordinal(middle))[which, rows])
            low = np.where((sign == below) | (sign == 0), middle, low)
            high = np.where((sign != below) | (sign == 0), middle, high)
        return [*from_ordinal(low), *from_ordinal(high)]

    def _sink(self, base: Point, axis: int, which: Array, a: Array, b: Array) -> list[float]:
        """Minima of the size that are zero as far as can be seen."""
        if not len(which):
            return []
        around = np.abs(self._values(base, axis, a)[which, np.arange(len(which))])
        for number in range(80):
            rows = np.arange(len(which))
            m1, m2 = a + (b - a) / 3, b - (b - a) / 3
            both = self._values(base, axis, np.concatenate((m1, m2)))
            f1, f2 = np.abs(both[which, rows]), np.abs(both[which, rows + len(rows)])
            a, b = np.where(f1 > f2, m1, a), np.where(f1 > f2, b, m2)
            if number == SINKING:
                low = np.minimum(f1, f2) < around / 2
                which, around, a, b = which[low], around[low], a[low], b[low]
                if not len(which):
                    return []
        middle = a + (b - a) / 2
        bottom = np.abs(self._values(base, axis, middle)[which, np.arange(len(which))])
        return list(middle[bottom < CLOSE * around])


@functools.lru_cache(maxsize=8192)
def length(x: float) -> int:
    """How long a number is written."""
    return len(repr(float(x)))


def _first(marked: Array, xs: Array) -> tuple[Array, Array]:
    """Rows and columns of what is marked; of many, in each row the `MAX_FLIPS` closest to 0."""
    which, start = np.nonzero(marked)
    if len(which) <= MANY_FLIPS:
        return which, start
    order = np.lexsort((np.abs(xs[start]), which))
    which, start = which[order], start[order]
    rank = np.arange(len(which)) - np.searchsorted(which, which)
    return which[rank < MAX_FLIPS], start[rank < MAX_FLIPS]


def _simplest(xs: Array, marked: Array) -> list[float]:
    """Of each run of marked numbers the one that is written shortest."""
    runs = np.split(xs, np.nonzero(np.diff(marked.astype(int)))[0] + 1)
    kept = runs[0 if marked[0] else 1 :: 2]
    return [min(map(float, run), key=lambda x: (length(x), abs(x), x)) for run in kept]


def _frame() -> list[float]:
    """Numbers of all sizes and signs, denser where people compute."""
    sizes = [LARGEST]
    sizes += [math.ldexp(1.37, k) for k in range(-1074, 1023, 16)]
    sizes += [math.ldexp(1.1, k) for k in range(-60, 60)]
    sizes += [float(f"1e{k}") for k in range(-300, 301, 20)]
    sizes += [float(f"1e{k}") for k in range(-17, 18)]
    sizes += [k / 2 for k in range(1, 21)]
    sizes += [0.0371 + 0.1013 * k for k in range(100)]
    return sorted({0.0, *sizes, *(-s for s in sizes)})


def _float(q: Fraction) -> float:
    try:
        return float(q)
    except OverflowError:
        return math.inf


def near_singular(
    params: Sequence[str],
    outputs: Sequence[Expr],
    through: Sequence[Point],
    count: int,
    seed: int = SEED,
) -> Array:
    """Points at and near the breaks of a formula, on lines through some points."""
    places = list(breaks(outputs))
    lines, rng = Lines(params, places), random.Random(seed)
    found: dict[Point, None] = {}
    for base in through:
        for axis in range(len(params)):
            for r in lines.roots(base, axis):
                for h in (0.0, *(s * 10.0**-k for k in OFFSETS for s in (1, -1))):
                    step = h * rng.uniform(0.3, 1) * (abs(r) if abs(r) > 1 else 1)
                    found[(*base[:axis], r + step, *base[axis + 1 :])] = None
    points = list(found)
    rng.shuffle(points)
    return np.array(points[:count]).reshape(-1, len(params))
