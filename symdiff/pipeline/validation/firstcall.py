"""Compares a call of a function with plain Python: is it the same function at all?

`stages` proves that what is compiled is what was captured; here is checked that what was
captured is what Python runs. The plain function is called with copies of the same arguments,
or with smaller ones of the same kind where that would take long, and its result compared in
shape, kind and value. `enclosures` says how far rounding may take plain arithmetic from the true
value; where that is not known, nothing is concluded.
"""

from __future__ import annotations

import copy
import io
import linecache
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import partial
from traceback import extract_tb
from typing import Any

import numpy as np
from flint import arb

from symdiff import ir
from symdiff.errors import Location, UnsupportedError, VerificationError
from symdiff.frontend.trace.constants import is_closed
from symdiff.interpret import exclusive
from symdiff.ir.loop_program import LoopProgram
from symdiff.ir.program import Program, flatten_like
from symdiff.pipeline.shared_memory import each_once
from symdiff.pipeline.validation import rounding_modes
from symdiff.pipeline.validation.broken_off import TooLong, limited
from symdiff.pipeline.validation.enclosures import (
    PRECISION,
    STEPS,
    UNITS,
    Open,
    Ours,
    enclosed,
    unit_of,
)
from symdiff.pipeline.validation.tried_arguments import (
    described,
    is_finite,
    largest,
    short,
    signed,
    smaller,
)
from symdiff.runtime.loops.probe import differ

ELEMENTS = 4
"""Elements of arrays at which a function of numbers is compared."""
SLACK = 16
"""How many times as much as the balls of a formula say it may err in doubles: libraries are
not correctly rounded, and Python adds up in an order of its own."""
TINY = 2.0**-1000
SHORT = 2.0**-8
"""How much rounding to float16 may change results, relative to numbers of size 1."""
ROUNDED = 2.0**-46
"""How much rounding of constants may change results, relative to numbers of size 1."""

Smooth = Callable[[Sequence[Any]], Program | None]
Call = Callable[[Sequence[Any]], Any]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What comparing a call found; true if anything was compared.

    Attributes
    ----------
    points : at which a function of numbers was compared.
    steps, budget : operations of the captured program, and those that there may be.
    hopeless : whether calls of this kind take too long at all sizes.
    """

    done: bool = False
    points: tuple[tuple[float, ...], ...] = ()
    steps: int = 0
    hopeless: bool = False
    budget: int = STEPS

    def __bool__(self) -> bool:
        return self.done


OPEN, HOPELESS = Verdict(), Verdict(hopeless=True)


def verify(
    name: str,
    captured: Callable[[Sequence[Any]], Program | LoopProgram],
    values: Sequence[Any],
    call: Call,
    again: Call | None,
    dtype: Any = None,
    smooth: Smooth = lambda _: None,
    at: Sequence[int] = (),
) -> Verdict:
    """Compare the captured program with plain Python, as far as that is possible.

    Parameters
    ----------
    captured : values of the real parameters -> the program for them.
    values : of the real parameters.
    call : calls the plain function with values of the real parameters.
    again : calls what was compiled with other values; None if it is a derivative.
    dtype : what is computed in, whatever the arguments are; None follows them.
    smooth : values of the real parameters -> the program that the guards of the captured one
        stand for; None if that is itself.
    at : elements of the broadcast arguments at which a function of numbers is compared too.

    Raises
    ------
    VerificationError : if they differ by more than rounding can explain.
    """
    if not all(is_finite(v) for v in values):
        return OPEN
    for given in smaller(values):
        program = captured(given)
        far = {e for e in program.locations if ir.is_far(e)}
        if far and not _stand(far, program):
            return OPEN  # where Python's constants were 0 or infinite, and went into others
        try:
            unit = unit_of(given, dtype)
            narrow = dtype is not None
            return _Comparison(name, program, given, call, again, smooth, unit, narrow).verdict(at)
        except TooLong:
            continue
        except (Open, UnsupportedError, NotImplementedError):
            return OPEN
        except VerificationError as error:
            if error.difference > ROUNDED * largest(given) or not _rounds_constants(program):
                raise
            return OPEN
    return HOPELESS


def _rounds_constants(program: Program | LoopProgram) -> bool:
    """Whether Python rounds what constants are combined to, as in `x*(1 + 1e-9) - x`, or a result is
    one: what is left when that has cancelled shows no more of it."""
    return any(map(ir.is_rounded, program.locations)) or any(map(is_closed, program.outputs))


def _stand(constants: set[ir.Expr], program: Program | LoopProgram) -> bool:
    """Whether constants occur in a formula as they were found, so that it is seen in it what
    rounding makes of them."""
    return isinstance(program, Program) and constants <= set(ir.topological(program.outputs))


def sampled(values: Sequence[Any], call: Callable[[Sequence[Any]], Any]) -> Any:
    """What a plain function returns for arguments, or for smaller ones where it takes too many
    steps; None if it raises or always does."""
    for given in smaller(values):
        try:
            return _plainly(call, given)[0]
        except TooLong:
            continue
    return None


def _plainly(call: Callable[[Sequence[Any]], Any], values: Sequence[Any]) -> tuple[Any, Any]:
    """What the plain function returns for copies of its arguments, or what it raises."""
    given = each_once(values, copy.deepcopy)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"), redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            return limited(lambda: call(given), STEPS), None
    except Exception as error:
        return None, error


@dataclass(frozen=True, slots=True)
class _Comparison:
    """A captured program and the plain function at the same arguments; see `verify`.

    Attributes
    ----------
    unit : of rounding, in those of doubles.
    converts : whether it is computed in another format than that of the arguments.
    """

    name: str
    program: Program | LoopProgram
    values: Sequence[Any]
    call: Call
    again: Call | None
    smooth: Smooth
    unit: float
    converts: bool

    def verdict(self, at: Sequence[int]) -> Verdict:
        """Compare both, of elementwise functions some elements and those `at` places."""
        plain, error = _plainly(self.call, self.values)
        if error is not None and NEGATIVE_POWER in str(error):
            raise _refused_by_numpy(error)
        if error is None and self.again is not None and not self.converts:
            if all(np.asarray(v).dtype == np.float64 for v in self.values):
                _no_shorter(self.name, plain, self.program)
        if not self._is_elementwise:
            # poles and edges, for which Python raises, are filled where they are proved
            return self._whole(plain, bool(at)) if error is None else OPEN
        if any(self._ranks):
            return OPEN  # rows of arrays, which only `map` has
        return self._elements(plain, error, at)

    @property
    def _ranks(self) -> list[int]:
        """How many axes the program's parameters have."""
        if isinstance(self.program, Program):
            return [0] * len(self.program.params)
        return [len(p.type.shape) for p in self.program.params]

    @property
    def _is_elementwise(self) -> bool:
        return any(np.ndim(v) > n for v, n in zip(self.values, self._ranks, strict=True))

    def _compiled(self) -> Any:
        return None if self.again is None else self.again(self.values)

    def _whole(self, plain: Any, again: bool) -> Verdict:
        """Compare the results for the arguments as they are; of a function that was compared before, `again`, those of
        compiled code alone if rounding need not be explained."""
        got, numbers = self._compiled(), isinstance(self.program, Program)
        points = (tuple(map(float, self.values)),) if numbers else ()
        if again and got is not None and self._agree(plain, got):
            return Verdict(True, points)
        ours = enclosed(self.program, self.values, self.unit)
        try:
            self._check(self.values, plain, ours, got, self._leaves)
        except VerificationError as found:
            # Python's floats take the format of short NumPy numbers inside of the function
            if found.difference > SHORT * largest(self.values):
                raise
            wide = [np.float64(v) if type(v) is float else v for v in self.values]
            plain, error = _plainly(self.call, wide)
            if error is not None or not any(type(v) is float for v in self.values):
                raise
            self._check(self.values, plain, ours, got)
        return Verdict(True, points, ours.steps)

    def _agree(self, plain: Any, got: Any) -> bool:
        """Whether plain Python and compiled code return the same but for a few roundings."""
        program = self.program
        try:
            both = [
                flatten_like(program.tree, v, len(program.outputs), "result") for v in (plain, got)
            ]
        except Exception:
            return False
        return not any(differ(w, g) for w, g in zip(*both, strict=True) if w is not None)

    def _elements(self, plain: Any, error: Exception | None, at: Sequence[int]) -> Verdict:
        """Compare some elements of the results of a function of numbers."""
        shapes = [np.shape(v) for v in self.values]
        shape = np.broadcast_shapes(*shapes)
        if error is None and not _fits(plain, self.program, shape):
            raise VerificationError(
                f"{self.name} returns {described(plain)} for arguments of the shapes "
                f"{', '.join(map(str, shapes))}, but was compiled as a function of their elements",
                hint=HINT,
            )
        got = self._compiled()
        compared = []
        for place, point in self._points(shape, at):
            try:
                ours = enclosed(self.program, point, self.unit)
            except Open:
                continue
            if error is None:
                want = _element(plain, self.program, place)
                again = partial(self._leaves, place=place)
            else:
                again = partial(self._leaves, at=point)
                want, wrong = _plainly(self.call, point)
                if wrong is not None:
                    continue
            result = None if got is None else _element(got, self.program, place)
            try:
                self._check(point, want, ours, result, again)
            except Open:
                continue
            compared.append(tuple(point))
        return Verdict(bool(compared), tuple(compared))

    def _points(
        self, shape: tuple[int, ...], at: Sequence[int]
    ) -> Iterator[tuple[tuple[int, ...], list[float]]]:
        """Elements that are compared: places in the broadcast shape, and the numbers there."""
        grids = [np.broadcast_to(np.asarray(v), shape) for v in self.values]
        count = math.prod(shape)
        chosen = {count * j // ELEMENTS for j in range(ELEMENTS)} | {*at[:ELEMENTS]}
        for k in sorted(k for k in chosen if k < count):
            place = tuple(map(int, np.unravel_index(k, shape)))
            yield place, [float(g[place]) for g in grids]

    def _leaves(
        self, kind: Any, place: Any = None, at: Sequence[Any] | None = None
    ) -> list[Any] | None:
        """What the plain function returns for arguments of a kind, as a flat list: one element of that, or at
        a point; None if it raises."""
        given = self.values if at is None else at
        values = [rounding_modes.converted(v, kind) for v in given]
        plain, error = _plainly(self.call, values)
        if error is not None:
            return None
        if place is not None:
            return list(_element(plain, self.program, place))
        return flatten_like(self.program.tree, plain, len(self.program.outputs), "result")

    def _check(
        self, given: Sequence[Any], plain: Any, ours: Ours, got: Any,
        again: Callable[..., list[Any] | None] | None = None,
    ) -> None:  # fmt: skip
        """Compare results; where zeros have signs, or guards another value than the formula, as far
        as both agree on them.

        Raises
        ------
        VerificationError : if they differ.
        Open : if that is undecided, as plain Python overflows or underflows in between.
        """
        try:
            _same(self.name, given, plain, ours, got, self.unit)
        except VerificationError:
            if any(map(signed, given)):  # a zero has no sign here
                without = [v + 0.0 if signed(v) else v for v in given]
                return self._check(without, _plainly(self.call, without)[0], ours, got, again)
            if again is not None and self._is_rounding(given, plain, ours, got, again):
                raise Open from None
            meant = self.smooth(self.values) if got is not None else None
            if meant is None:
                raise
            _same(self.name, given, plain, ours, None, self.unit)
            try:
                smooth = enclosed(meant, given, self.unit)
            except Open:
                return
            _same(self.name, given, got, smooth, None, self.unit)

    def _is_rounding(
        self, given: Sequence[Any], plain: Any, ours: Ours, got: Any,
        again: Callable[..., list[Any] | None],
    ) -> bool:  # fmt: skip
        """Whether what plain Python rounds, or what overflows or underflows there, explains a difference:
        then results move as far when the processor rounds otherwise."""
        if ours.undefined or rounding_modes.decides(self.program):
            return False
        wants = plain
        if not isinstance(plain, _Flat):
            wants = flatten_like(ours.tree, plain, len(ours.outputs), "result")
        if not rounding_modes.explain(again, lambda rooms: self._within(wants, ours, rooms)):
            return False
        try:
            if got is not None:
                _same(self.name, given, got, ours, None, self.unit)
        except VerificationError:
            return False
        return True

    def _within(self, wants: Sequence[Any], ours: Ours, rooms: Sequence[Any]) -> bool:
        """Whether results are as close to the captured ones as rounding makes them, or as these rooms."""
        return all(
            want is None or _within(want, ball, room, self.unit)
            for want, ball, room in zip(wants, ours.outputs, rooms, strict=True)
        )


def _within(want: Any, balls: Any, room: Any, unit: float) -> bool:
    """The same of one leaf of the results."""
    values, found = np.asarray(want), np.asarray(balls, object)
    if values.dtype.kind not in "biuf" or values.shape != found.shape:
        return False
    each = zip(values.ravel(), found.ravel(), np.ravel(room), strict=True)
    return all(_is_close(float(x), arb(ball), unit, float(more)) for x, ball, more in each)


def _no_shorter(name: str, plain: Any, program: Program | LoopProgram) -> None:
    """Refuse a function whose results are of less precision than its arguments."""
    try:
        leaves = flatten_like(program.tree, plain, len(program.outputs), "result")
    except Exception:
        return
    for leaf in leaves:
        if (found := getattr(leaf, "dtype", None)) in UNITS:
            raise VerificationError(
                f"{name} returns {found} in plain Python, for arguments of float64",
                hint=f"leave conversions to {found} out, or pass arguments of that dtype",
                lasting=False,
            )


NEGATIVE_POWER = "negative integer powers"
"""What NumPy says of an integer to one, where real numbers have a value."""


def _refused_by_numpy(error: Exception) -> VerificationError:
    """An error that has to do with kinds of numbers only, at the user's line."""
    at = extract_tb(error.__traceback__)[-1]
    place = Location(at.filename, at.lineno or 1, (at.colno or 0) + 1, linecache.getline(at.filename, at.lineno or 1))  # fmt: skip
    hint = "make real numbers of the integers first, as 1.0*a"
    message = f"{type(error).__name__} in plain Python: {error}"
    return VerificationError(message, place, hint, lasting=False)


def _fits(plain: Any, program: Program | LoopProgram, shape: tuple[int, ...]) -> bool:
    """Whether each leaf of a result has the broadcast shape; or that of no argument, as
    constants do."""
    try:
        leaves = flatten_like(program.tree, plain, len(program.outputs), "result")
    except Exception:
        return False
    for leaf, e in zip(leaves, program.outputs, strict=True):
        if leaf is None:
            continue
        if np.shape(leaf) != shape and ir.variables((e,)):
            return False
    return True


def _element(result: Any, program: Program | LoopProgram, place: Any) -> Any:
    """One element of each leaf of an elementwise result, as a flat list."""
    leaves = flatten_like(program.tree, result, len(program.outputs), "result")
    return _Flat(
        [None if v is None else np.asarray(v)[place if np.ndim(v) else ()] for v in leaves]
    )


class _Flat(list[Any]):
    """Leaves in the order of the outputs."""


HINT = (
    "this is a fault of symdiff, please report it; every call of the function raises this until the "
    "function or symdiff is changed; verify=False switches the comparison off"
)


def _same(name: str, values: Sequence[Any], plain: Any, ours: Ours, got: Any, unit: float) -> None:
    """Compare results; `got` is what was compiled."""
    count = len(ours.outputs)
    if isinstance(plain, _Flat):
        wants = list(plain)
    else:
        try:
            wants = flatten_like(ours.tree, plain, count, "result")
        except Exception as error:
            raise VerificationError(
                f"{name} returns {described(plain)}, which is nested otherwise than what was "
                f"compiled ({error})",
                hint=HINT,
            ) from None
    results: Sequence[Any] = [None] * count
    if got is not None:
        results = got if isinstance(got, _Flat) else flatten_like(ours.tree, got, count, "result")
    for k, (want, ball, result) in enumerate(zip(wants, ours.outputs, results, strict=True)):
        if want is not None:
            _same_leaf(name, values, want, ball, result, unit, k in ours.undefined, ours.room)


FINE = 2.0**-30
"""Below it a room is for roundings, which are in proportion to the arguments; above it for a tolerance."""


def _same_leaf(
    name: str, values: Sequence[Any], want: Any, balls: Any, result: Any, unit: float,
    undefined: bool, room: float,
) -> None:  # fmt: skip
    w = np.asarray(want)
    if w.dtype.kind not in "biuf":
        return  # complex by a convention of Python's, nan by ours
    b = np.asarray(balls, object)
    if w.shape != b.shape and w.size != b.size:
        raise VerificationError(
            f"{name} returns the shape {w.shape} in plain Python, but was captured with "
            f"the shape {b.shape}",
            hint=HINT,
        )
    if result is not None and np.shape(result) != w.shape:
        raise VerificationError(
            f"{name} returns the shape {w.shape} in plain Python, but {np.shape(result)} as compiled",
            hint=HINT,
        )
    unit = max(unit, UNITS.get(w.dtype, 1.0))
    computed = None if result is None else np.asarray(result).ravel()
    with exclusive(PRECISION + 200):
        for k, (x, ball) in enumerate(zip(w.ravel(), b.ravel(), strict=True)):
            if not isinstance(ball, arb):
                ball = arb(int(ball))
            if undefined and ball.is_nan() and math.isfinite(x):
                raise VerificationError(
                    f"{name}({', '.join(map(short, values))}) is {float(x)!r} in plain Python, but "
                    "the captured program is nan there",
                    hint=HINT,
                )
            rough = room * (1.0 + abs(float(x)) + (largest(values) if room < FINE else 0.0))
            _close(name, values, "plain Python", float(x), ball, unit, rough)
            if computed is not None:
                _close(name, values, "compiled code", float(computed[k]), ball, unit)


def _is_close(x: float, ball: Any, unit: float, more: float = 0.0) -> bool:
    """Whether a number equals that of a ball, up to rounding and a tolerance."""
    if not ball.is_finite() or not math.isfinite(x):
        return True
    middle, radius = ball.mid(), float(ball.rad()) * unit
    room = SLACK * (radius + abs(float(middle)) * 2.0**-52 * unit) + TINY + more
    return not bool(abs(arb(x) - middle) > arb(room))


def _close(
    name: str, values: Sequence[Any], what: str, x: float, ball: Any, unit: float, more: float = 0.0
) -> None:
    if not ball.is_finite() or not math.isfinite(x):
        return
    radius = float(ball.rad()) * unit
    middle = ball.mid()
    if not ball.rad() and not middle:  # all has cancelled when captured, in Python only in part
        more += 2.0**-30 * unit * largest(values)
    if not _is_close(x, ball, unit, more):
        error = VerificationError(
            f"{name}({', '.join(map(short, values))}) is {x!r} in {what}, but the captured "
            f"program gives {float(middle)!r}, with rounding errors up to {radius:.1e}",
            hint=HINT,
        )
        error.difference = abs(x - float(middle))
        raise error
