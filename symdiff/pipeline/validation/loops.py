"""Programs with arrays and loops at small sizes: compares kernels with the captured program.

The captured program is run statement by statement with many digits (`interpret.loops`), and
its derivatives are differences of that along a random direction, which share nothing with the
compiler's chain rule. A kernel does not know for which sizes it was made, so a few elements
along each axis show what it computes for all; where rows and loops are put together, sizes
differ by one. A difference is an error: there is no stage to switch off that would leave the
rest of such a program as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from flint import arb

from symdiff import ir
from symdiff.errors import SymdiffError, VerificationError
from symdiff.interpret import exclusive
from symdiff.interpret.loops import Precise, run
from symdiff.ir.functions.marks import DETACHED
from symdiff.ir.loop_program import LoopProgram, expressions_in
from symdiff.ir.plain import as_ball, is_plain_op
from symdiff.passes.guards.proof import NARROW
from symdiff.pipeline.loops import real_names
from symdiff.pipeline.validation.enclosures import rounding
from symdiff.pipeline.validation.firstcall import SLACK
from symdiff.runtime.scalar.fallback import unproven

BITS = 400
STEP, CLOSER = 120, 130
"""Binary sizes of two differences; where they disagree there is a kink."""
AGREE = 40
FLAT = 2.0**-100
"""What two differences of a derivative that is 0 differ by, in relation to the value: less than
the squares of their steps."""
NEAR = 2.0**-26
"""How much of the sum of its terms' sizes a result may miss: far more than rounding, far less
than any mistake."""
OPERATIONS, FULL = 12_000, 40
"""Operations of the slow reference for one kernel; how many times as many for all of them."""
NEAR_SINGLE = 2.0**-10
"""The same in shorter formats."""
SIZES = (6, 4, 3, 2)
KINDS = ("gradient", "jacobian", "value_and_gradient")


class _Spent(Exception):  # noqa: N818
    """The budget is used up."""


class _Counting(Precise):
    """Arithmetic with a budget, which sees whether a guard may act, whose differences are its own: whether small
    numbers are compared, or numbers are equal. Decisions are those of the nearest doubles: arguments that are moved
    by less decide alike."""

    def __init__(self, left: int) -> None:
        super().__init__(BITS)
        self.left, self.guarded = left, False

    def apply(self, op: ir.Op, args: Sequence[Any]) -> Any:
        self.left -= 1
        if self.left < 0:
            raise _Spent
        if is_plain_op(op):
            args = list(map(self.plainly, args))
        found = super().apply(op, args)
        if op is ir.EQ:
            self.guarded = self.guarded or bool(found)
        elif op in (ir.LT, ir.LE):
            self.guarded = self.guarded or all(bool(abs(a) <= NARROW) for a in args)
        return found

    def plainly(self, value: Any) -> Any:
        """The nearest double; a zero keeps its sign."""
        return value if value.is_zero() else as_ball(float(value.mid()))


def compare(
    name: str,
    raw: LoopProgram,
    path: Sequence[tuple[str, tuple[str, ...]]],
    values: Sequence[Any],
    kernel: Callable[[Sequence[Any]], Sequence[Any]],
    derived: LoopProgram,
    full: bool = False,
) -> bool:
    """Compare a kernel with differences of the captured program; whether that was possible.

    Parameters
    ----------
    path : the derivations; of the value, and of first derivatives.
    values : arguments of the current call; their sizes and kinds are used.
    kernel : values -> the outputs as a flat list.
    derived : the program of the kernel.

    Raises
    ------
    VerificationError : if they differ.
    """
    if len(path) > 1 or (path and path[0][0] not in KINDS) or (path and _stops(raw)):
        return False
    left = OPERATIONS * (FULL if full else 1)
    done, spent = False, None
    for number, given in enumerate(_samples(raw, values)):
        shapes = list(map(np.shape, given))
        if shapes == spent:
            continue  # the program is as long as before
        numbers = _Counting(left)
        try:
            with np.errstate(all="ignore"):  # nobody asked for these points
                done = _agree(name, raw, path, given, kernel, derived, numbers, number) or done
        except _Spent:
            if done:
                break
            spent = shapes
            continue
        except (
            SymdiffError,
            IndexError,
            ValueError,
            TypeError,
            ArithmeticError,
            NotImplementedError,
        ) as e:
            if isinstance(e, VerificationError) and not numbers.guarded:
                raise
            continue
        left = numbers.left
        if number >= 1 and not full:
            break
    return done


def _stops(raw: LoopProgram) -> bool:
    """Whether a user takes no derivative of some numbers, or a solver none of the sizes of its steps; roots are
    detached as well, but their derivatives are those that differences have."""
    if not raw.of_derivatives:
        return False
    every = expressions_in(raw.block)
    return any(n.op is DETACHED for n in ir.topological((*every, *raw.outputs)))


def _samples(raw: LoopProgram, values: Sequence[Any]) -> Iterator[list[Any]]:
    """Small arguments: random numbers for real ones, what was given for the others."""
    arrays = [np.asarray(v) for v in values]
    sizes = sorted({n for a in arrays for n in a.shape})
    for seed, most in enumerate(SIZES):
        rng = np.random.default_rng(seed)
        cut = {n: min(n, most + k) for k, n in enumerate(sizes)}
        given = []
        for p, v, a in zip(raw.params, values, arrays, strict=True):
            part = a[tuple(slice(cut[n]) for n in a.shape)]
            if p.type.kind != "f":
                given.append(part if a.ndim else v)
                continue
            kind = part.dtype if part.dtype.kind == "f" else np.dtype(float)
            drawn = rng.uniform(0.4, 1.6, part.shape) * np.where(part != 0, part, 1.0)
            scalar = a.ndim == 0 and not isinstance(v, np.ndarray)
            given.append(type(v)(drawn) if scalar else drawn.astype(kind))
        yield given


def _agree(
    name: str,
    raw: LoopProgram,
    path: Sequence[tuple[str, tuple[str, ...]]],
    given: Sequence[Any],
    kernel: Callable[[Sequence[Any]], Sequence[Any]],
    derived: LoopProgram,
    numbers: _Counting,
    seed: int,
) -> bool:
    values = [np.asarray(v, object) for v in run(raw, given, numbers)]
    with unproven() as left:
        found = [np.asarray(r) for r in kernel(given)]
    if left:  # the kernel says of these that they may be inaccurate
        return False
    allowed = NEAR if all(r.dtype == np.float64 for r in found) else NEAR_SINGLE
    tiny = max((_underflow(r.dtype) for r in found), default=0.0)
    results = [r.astype(float) for r in found]
    errors = _Errors(derived, given)
    if not path:
        for k, (want, got) in enumerate(zip(values, results, strict=True)):
            _same(name, given, want, got, None, allowed, tiny, partial(errors.of, k))
        return True
    kind, wrt = path[0]
    names = [p.name for p in raw.params]
    by = real_names(raw, wrt)
    if kind == "value_and_gradient":
        _same(name, given, values[0], results[0], None, allowed, tiny, partial(errors.of, 0))
        results = results[1:]
    rng = np.random.default_rng(100 + seed)
    ways = {n: _direction(rng, np.asarray(given[names.index(n)], float)) for n in by}
    close, closer = (_slopes(raw, given, names, ways, h, numbers) for h in (STEP, CLOSER))
    for k, (a, b) in enumerate(zip(close, closer, strict=True)):
        noise = float(max((abs(arb(v)) for v in values[k].flat), default=arb(0)).mid()) * FLAT
        if not _close(a, b, noise):
            continue  # a kink, or a step
        total, room = np.zeros(a.shape), np.zeros(a.shape)
        terms: list[tuple[int, Any, tuple[int, ...]]] = []
        for j, n in enumerate(by):
            slope = results[k * len(by) + j]
            way = ways[n]
            if raw.by_element and kind != "jacobian" and a.ndim:
                unread = slope.shape == way.shape and not slope.any()
                total = total + (0.0 if unread else slope * way)
                room = room + (0.0 if unread else np.abs(slope * way))
                if not unread:
                    terms.append((k * len(by) + j + len(found) - len(results), np.abs(way), ()))
                continue
            if slope.shape != a.shape + way.shape:
                raise VerificationError(
                    f"{name}: the derivative by {n} has the shape {slope.shape}", hint=HINT
                )
            axes = tuple(range(a.ndim, a.ndim + way.ndim))
            total = total + np.sum(slope * way, axis=axes)
            room = room + np.sum(np.abs(slope * way), axis=axes)
            terms.append((k * len(by) + j + len(found) - len(results), np.abs(way), axes))

        def missed(terms: Any = terms) -> Any:
            return sum(np.sum(errors.of(i) * way, axis=axes) for i, way, axes in terms)

        _same(name, given, b, total, room, allowed, noise + tiny, missed)
    return True


class _Errors:
    """How much rounding may change the outputs of a program, computed when needed."""

    def __init__(self, derived: LoopProgram, given: Sequence[Any]) -> None:
        self.derived, self.given = derived, given
        self.radii: list[Any] | None = None

    def of(self, k: int) -> Any:
        """For each element of an output; infinite where nothing is known."""
        if self.radii is None:
            self.radii = rounding(self.derived, self.given)
        return np.inf if self.radii is None else SLACK * self.radii[k]


def _underflow(dtype: np.dtype[Any]) -> float:
    """What underflow on the way leaves of numbers in this format, which is computed in single
    precision at least."""
    if dtype.kind != "f":
        return 0.0
    limits = np.finfo(np.float64 if dtype.itemsize > 4 else np.float32)
    return float(limits.tiny / limits.eps) + float(np.finfo(dtype).smallest_subnormal)


def _direction(rng: np.random.Generator, at: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A random direction in which each element moves by a share of itself; zeros by one of the
    largest."""
    size = np.abs(at)
    largest = float(np.max(size, initial=0.0)) or 1.0
    share = np.round(rng.uniform(-1, 1, at.shape), 3)
    return np.asarray(share * np.where(size > 0, size, largest))


def _slopes(
    raw: LoopProgram,
    given: Sequence[Any],
    names: Sequence[str],
    ways: dict[str, Any],
    depth: int,
    numbers: _Counting,
) -> list[Any]:
    """Central differences of all outputs along a direction."""
    ends = []
    with exclusive(BITS):
        h = arb(2) ** -depth
        for s in (1, -1):
            moved = []
            for n, v in zip(names, given, strict=True):
                if n not in ways:
                    moved.append(v)
                    continue
                a = np.empty(np.shape(v), object)
                for place, x in np.ndenumerate(np.asarray(v, float)):
                    a[place] = (arb(float(x)) + s * h * arb(float(ways[n][place]))).mid()
                moved.append(a if a.ndim else a[()])
            ends.append([np.asarray(v, object) for v in run(raw, moved, numbers)])
        return [np.asarray((a - b) / (2 * h), object) for a, b in zip(*ends, strict=True)]


def _close(a: Any, b: Any, noise: float) -> bool:
    with exclusive(BITS):
        for x, y in zip(a.flat, b.flat, strict=True):
            room = (abs(x) + abs(y)) * arb(2) ** -AGREE + noise
            if not (x.is_finite() and bool(abs(x - y) <= room)):
                return False
    return True


LARGEST = 1e30
"""Numbers that products of a few of do not leave the range."""
HINT = "this is a fault of symdiff, please report it; options(validate=False) switches this off"


def _same(
    name: str,
    given: Sequence[Any],
    want: Any,
    got: Any,
    room: Any,
    near: float,
    noise: float,
    errors: Callable[[], Any],
) -> None:
    """Refuse results that differ: beyond a share of their terms, and beyond what rounding
    explains, which `errors` finds."""
    if want.shape != got.shape:
        raise VerificationError(
            f"{name} has the shape {want.shape} as captured, but {got.shape} as compiled", hint=HINT
        )
    truth = np.array([float(arb(x).mid()) if isinstance(x, arb) else float(x) for x in want.flat])
    truth = truth.reshape(want.shape)
    ok = np.isfinite(truth) & np.isfinite(got)
    if room is None:  # of derivatives nan may be right: differences see no kinks
        lost = np.isnan(got) & (np.abs(truth) < LARGEST)
        if lost.any() and all(_ordinary(v) for v in given):
            _refuse(name, given, got, truth, lost)
    size = np.abs(truth) + np.abs(got)
    size = size + (np.max(size[ok], initial=0.0) if room is None else room)
    wrong = ok & (np.abs(got - truth) > near * size + noise)
    if wrong.any():
        wrong &= np.abs(got - truth) > near * size + noise + errors()
    if wrong.any():
        _refuse(name, given, got, truth, wrong)


def _ordinary(value: Any) -> bool:
    """Whether no number in an argument comes near the ends of the range."""
    size = np.abs(np.asarray(value, float))
    return bool(np.all(((size > 1 / LARGEST) | (size == 0)) & (size < LARGEST)))


def _refuse(name: str, given: Sequence[Any], got: Any, truth: Any, wrong: Any) -> None:
    place = tuple(int(i) for i in np.argwhere(wrong)[0])
    raise VerificationError(
        f"{name}: compiled code is wrong at {[np.asarray(v).tolist() for v in given]}: "
        f"{got[place]!r} for {truth[place]!r}",
        hint=HINT,
    )
