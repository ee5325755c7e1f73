"""The first call of a function beside plain Python: is it the same function at all?

`stages` proves that what is compiled is what was captured; here is checked that what was
captured is what Python runs. The plain function is called with copies of the same arguments,
or with smaller ones of the same kind where that would take long, and its result compared in
shape, kind and value. How far rounding may take plain arithmetic from the true value is not
guessed: the captured program is evaluated in balls of 53 bits, whose radii grow as rounding
errors do, also by those of numbers below the normal ones. Where they say nothing, as where a
branch hangs on a rounded value or something overflows, nothing is concluded.
"""

from __future__ import annotations

import copy
import io
import linecache
import math
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from traceback import extract_tb
from typing import Any

import numpy as np
from flint import arb

from symdiff import ir
from symdiff.errors import Location, UnsupportedError, VerificationError
from symdiff.frontend.trace.constants import is_closed
from symdiff.interpret import exclusive
from symdiff.interpret.flat import Tape
from symdiff.interpret.loops import ORDERS, Precise, run
from symdiff.ir import functions
from symdiff.ir.loop_program import Call, LoopProgram, walk
from symdiff.ir.program import Program, flatten_like
from symdiff.pipeline.shared_memory import each_once
from symdiff.pipeline.validation.broken_off import TooLong, limited
from symdiff.pipeline.validation.tried_arguments import (
    described,
    is_finite,
    largest,
    short,
    signed,
    smaller,
)

STEPS = 100_000
"""Lines of plain Python that are run, and operations of the captured program."""
ELEMENTS = 4
"""Elements of arrays at which a function of numbers is compared."""
SLACK = 16
"""How many times as much as the balls of a formula say it may err in doubles: libraries are
not correctly rounded, and Python adds up in an order of its own."""
OF_LIBRARIES = 2.0**-26
"""What functions that no library has right may be off by there, as SciPy's `stdtr(1, 1e-8)` is."""
PRECISION = 53
DISTURBED, DISTANCE = 3, 4.0
"""Changes of arguments by so many units of rounding, from which errors of routines are seen."""
TINY, NOUGHT = 2.0**-1000, 2.0**-1074
"""Below this is a zero, whose sign Python goes by on branch cuts."""
UNIT = 2.0**-52
SHORT = 2.0**-8
"""What rounding to float16 may change results by, beside numbers of the size of 1."""
ROUNDED = 2.0**-46
"""What rounding of constants may change results by, beside numbers of the size of 1."""
UNITS = {np.dtype("float16"): 2.0**42, np.dtype("float32"): 2.0**29}
"""Units of rounding of shorter formats, in those of doubles."""


@dataclass(frozen=True, slots=True)
class Range:
    """What numbers of a format can be: the least normal one, half of the distance of those
    below it (in units of rounding of the format, as radii of balls are), the largest one; and
    what rounding to a format of fewer digits than balls have adds to each value, in parts of it."""

    normal: float
    error: arb
    largest: float
    spread: float = 0.0

    @classmethod
    def of(cls, unit: float) -> Range:
        """Of the format with a unit of rounding."""
        name = next((f for f, u in UNITS.items() if u == unit), np.dtype("float64"))
        limits = np.finfo(str(name))
        error = arb(float(limits.smallest_subnormal)) / 2 / arb(unit)
        spread = 0.0 if name == "float64" else 2.0**-PRECISION
        return cls(float(limits.smallest_normal), error, float(limits.max), spread)

    def rounded(self, value: Any) -> Any:
        """What plain arithmetic makes of a value: wider by the error of numbers below the
        normal ones, unknown where it overflows."""
        if not isinstance(value, arb) or not value.is_finite() or value.is_zero():
            return value
        if not value.abs_upper() <= self.largest:
            return arb("nan")
        if value.abs_lower() < self.normal:
            return value + arb(0, self.error)
        return value * arb(1, self.spread) if self.spread else value


Smooth = Callable[[Sequence[Any]], Program | None]


class _Open(ArithmeticError):  # noqa: N818
    """Nothing can be concluded."""


@dataclass(frozen=True, slots=True)
class Ours:
    """The captured program at some arguments: balls of what plain arithmetic gives."""

    outputs: tuple[Any, ...]
    tree: Any


class Enclosures(Precise):
    """Arithmetic of balls, as wide as rounding to doubles makes them."""

    def __init__(self, numbers: Range) -> None:
        super().__init__(PRECISION)
        self.numbers = numbers
        self.steps = 0

    def kept(self, value: Any) -> Any:
        return self.numbers.rounded(value)

    def apply(self, op: ir.Op, args: Sequence[Any]) -> Any:
        self.steps += 1
        if self.steps > STEPS:
            raise TooLong
        from symdiff.interpret.balls import ball_of

        if op.ball is None and op.expand is not None:
            return super().apply(op, args)
        if _is_composite(op):
            args = [*args[:-1], args[-1] * arb(1, UNIT)]
        if op.cut is not None:
            args = [args[0] + arb(0, NOUGHT), *args[1:]]
        value = ball_of(op)(*args)
        if value is None:
            raise _Open
        if op.edges is not None:
            value = value * arb(1, OF_LIBRARIES)
        return self.kept(value) if isinstance(value, arb) else bool(value)


class _InRange(Precise):
    """Precise arithmetic of what is in the range of normal doubles, and remains there."""

    def kept(self, value: Any) -> Any:
        if value.is_finite() and not value.is_zero():
            if value.abs_lower() < sys.float_info.min or value.abs_upper() > sys.float_info.max:
                raise _Open
        return value.mid()


class _Disturbed(_InRange):
    """The same, but routines of linear algebra are given matrices that differ by rounding, as computed ones
    do, and as those do for which what routines return is right."""

    def __init__(self, bits: int, unit: float, rng: np.random.Generator) -> None:
        super().__init__(bits)
        self.unit, self.rng = unit, rng

    def routine(self, name: str, args: Sequence[Any]) -> Sequence[Any]:
        return super().routine(name, args if name in ORDERS else list(map(self._moved, args)))

    def _moved(self, given: Any) -> Any:
        a = np.asarray(given, object)
        if not a.size or not all(isinstance(x, arb) for x in a.flat):
            return given
        step = self.unit * max(abs(float(x)) for x in a.flat)
        moved = np.empty(a.shape, object)
        for place, x in np.ndenumerate(a):
            moved[place] = x + step * float(self.rng.choice((-1.0, 1.0)))
        return moved if moved.shape else moved[()]


def _is_composite(op: ir.Op) -> bool:
    """Whether results are right for an argument that differs by rounding: of what libraries compute from
    others (`np.sinc(300.0)` is not 0), and of logarithms, as those of powers are captured as products."""
    composed = op.libm is None and op.partials is not None and op.kink is None and op.arity > 0
    return composed or op in (functions.LOG, functions.LOG2, functions.LOG10)


def verify(
    name: str,
    captured: Callable[[Sequence[Any]], Program | LoopProgram],
    values: Sequence[Any],
    call: Callable[[Sequence[Any]], Any],
    again: Callable[[Sequence[Any]], Any] | None,
    dtype: Any = None,
    smooth: Smooth = lambda _: None,
) -> bool:
    """Compare the captured program with plain Python; whether that was possible.

    Parameters
    ----------
    captured : values of the real parameters -> the program for them.
    values : of the real parameters.
    call : calls the plain function with values of the real parameters.
    again : calls what was compiled with other values; None if it is a derivative.
    dtype : what is computed in, whatever the arguments are; None follows them.
    smooth : values of the real parameters -> the program that the guards of the captured one
        stand for; None if that is itself.

    Raises
    ------
    VerificationError : if they differ by more than rounding can explain.
    """
    if not all(is_finite(v) for v in values):
        return False
    for given in smaller(values):
        program = captured(given)
        far = {e for e in program.locations if ir.is_far(e)}
        if far and not _stand(far, program):
            return False  # where Python's constants were 0 or infinite, and went into others
        try:
            return _compare(name, program, given, call, again, dtype, smooth)
        except TooLong:
            continue
        except (_Open, UnsupportedError, NotImplementedError):
            return False
        except VerificationError as error:
            if error.apart > ROUNDED * largest(given) or not _rounds_constants(program):
                raise
            return False
    return False


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


# ------------------------------------------------------------------- both sides
def _plainly(call: Callable[[Sequence[Any]], Any], values: Sequence[Any]) -> tuple[Any, Any]:
    """What the plain function returns for copies of its arguments, or what it raises."""
    given = each_once(values, copy.deepcopy)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"), redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            return limited(lambda: call(given), STEPS), None
    except Exception as error:
        return None, error


def _ours(program: Program | LoopProgram, values: Sequence[Any], unit: float) -> Ours:
    """The captured program in balls; `unit` is that of the format that is computed in."""
    numbers = Range.of(unit)
    if isinstance(program, Program):
        rounded, signed = ir.var("rounded argument"), ir.var("zero of either sign")
        library = ir.var("error of libraries")

        def rule(e: ir.Expr, args: tuple[ir.Expr, ...]) -> ir.Expr:
            if _is_composite(e.op):
                args = (*args[:-1], args[-1] * rounded)
            if e.op.cut is not None:
                args = (args[0] + signed, *args[1:])
            made = ir.rebuild(e, args)
            return made if e.op.edges is None else made * library

        outputs = ir.transform(program.outputs, rule)
        with exclusive(PRECISION):
            names = [*map(ir.var, program.params), rounded, signed, library]
            tape = Tape(names, (*outputs, *program.domain, *program.assumptions))
            if len(tape.nodes) > STEPS:
                raise TooLong
            disturbances = arb(1, UNIT), arb(0, NOUGHT), arb(1, OF_LIBRARIES)
            v = tape.run(
                [*(arb(float(x)) for x in values), *disturbances],
                PRECISION,
                amend=lambda _, value: numbers.rounded(value),
            )
            balls = [v[r] for r in tape.roots]
        conditions = balls[len(program.outputs) :]
        inside, believed = conditions[: len(program.domain)], conditions[len(program.domain) :]
        if not all(i is True for i in inside) or any(i is False for i in believed):
            raise _Open
        return Ours(tuple(balls[: len(program.outputs)]), program.tree)
    try:
        if any(isinstance(statement, Call) for statement in walk(program.block)):
            return Ours(tuple(_disturbed(program, values)), program.tree)
        return Ours(tuple(run(program, values, Enclosures(numbers))), program.tree)
    except (UnsupportedError, AttributeError, LookupError, ValueError, TypeError, ArithmeticError):
        raise _Open from None


def rounding(program: LoopProgram, values: Sequence[Any]) -> list[Any] | None:
    """By how much rounding may move each element of the outputs of a program; infinite where
    that is not known, None if it is nowhere."""
    unit = _unit(values, None)
    try:
        with np.errstate(all="ignore"):
            balls = _ours(program, values, unit).outputs
    except (_Open, TooLong):
        return None
    found = []
    for output in balls:
        flat = np.asarray(output, object)
        radii = [_radius(b) * unit for b in flat.flat]
        found.append(np.array(radii).reshape(flat.shape))
    return found


def _radius(value: Any) -> float:
    if not isinstance(value, arb):
        return 0.0
    return float(value.rad()) if value.is_finite() else math.inf


def _disturbed(program: LoopProgram, values: Sequence[Any]) -> list[Any]:
    """Balls of the outputs of a program that calls routines of linear algebra: those are right
    for matrices that differ by rounding from the given ones, each norm as a whole (Higham,
    Accuracy and Stability of Numerical Algorithms, 2002, chapter 9), and those were rounded too."""
    precise = _InRange(4 * PRECISION)
    middle = [np.asarray(v, object) for v in run(program, values, precise)]
    radius = [np.float64(0.0)] * len(middle)
    rng = np.random.default_rng(1)
    numbers = _Disturbed(4 * PRECISION, DISTANCE * 2.0**-52 * _unit(values, None), rng)
    for _ in range(DISTURBED):
        moved = []
        for v in values:
            a = np.asarray(v)
            if a.dtype.kind == "f" and a.size:
                unit = 2.0 ** (-23 if a.dtype.itemsize < 8 else -52)
                step = unit * np.abs(a).max() * rng.choice((-1.0, 1.0), a.shape)
                v = a.astype(np.float64) + step * DISTANCE
            moved.append(v)
        other = run(program, moved, numbers)
        for k, (x, y) in enumerate(zip(middle, other, strict=True)):
            if x.size:
                far = max(
                    abs(float(p - q))
                    for p, q in zip(x.flat, np.asarray(y, object).flat, strict=True)
                )
                radius[k] = np.float64(max(radius[k], far))
    # products of arguments are rounded as well before a routine has them, whatever their rank
    given = max((abs(float(v)) for a in values for v in np.asarray(a).flat), default=0.0)
    least = max(given, given**2)
    with exclusive(4 * PRECISION):
        return [_widened(x, float(r), least) for x, r in zip(middle, radius, strict=True)]


def _widened(values: Any, radius: float, least: float) -> Any:
    wide = np.empty(values.shape, object)
    largest = max((abs(float(v)) for v in values.flat), default=0.0)
    largest = max(largest, least)
    room = arb(0, radius + largest * values.size * 2.0**-PRECISION)
    for place, v in np.ndenumerate(values):
        wide[place] = v + room if isinstance(v, arb) else v
    return wide if wide.shape else wide[()]


def _compare(
    name: str,
    program: Program | LoopProgram,
    values: Sequence[Any],
    call: Callable[[Sequence[Any]], Any],
    again: Callable[[Sequence[Any]], Any] | None,
    dtype: Any,
    smooth: Smooth,
) -> bool:
    def check(given: Sequence[Any], plain: Any, ours: Ours, got: Any) -> None:
        try:
            _same(name, given, plain, ours, got, unit)
        except VerificationError:
            if any(map(signed, given)):  # a zero has no sign here
                without = [v + 0.0 if signed(v) else v for v in given]
                return check(without, _plainly(call, without)[0], ours, got)
            meant = smooth(values) if got is not None else None
            if meant is None:
                raise
            _same(name, given, plain, ours, None, unit)
            try:
                _same(name, given, got, _ours(meant, given, unit), None, unit)
            except _Open:
                return

    unit = _unit(values, dtype)
    takes = dict.fromkeys(program.params, 0) if isinstance(program, Program) else {
        p.name: len(p.type.shape) for p in program.params
    }  # fmt: skip
    shapes = [np.shape(v) for v in values]
    elementwise = any(len(s) > n for s, n in zip(shapes, takes.values(), strict=True))
    plain, error = _plainly(call, values)
    if error is not None and NEGATIVE_POWER in str(error):
        raise _refused_by_numpy(error)
    floats = all(np.asarray(v).dtype == np.float64 for v in values)
    if error is None and again is not None and dtype is None and floats:
        _no_shorter(name, plain, program)
    if not elementwise:
        if error is not None:
            return _raises(error)
        ours = _ours(program, values, unit)
        got = None if again is None else again(values)
        try:
            check(values, plain, ours, got)
        except VerificationError as found:
            # Python's floats take the format of short NumPy numbers inside of the function
            if found.apart > SHORT * largest(values):
                raise
            wide = [np.float64(v) if type(v) is float else v for v in values]
            plain, error = _plainly(call, wide)
            if error is not None or not any(type(v) is float for v in values):
                raise
            check(values, plain, ours, got)
        return True
    if any(takes.values()):
        return False  # rows of arrays, which only `map` has
    shape = np.broadcast_shapes(*shapes)
    if error is None and not _fits(plain, program, shape):
        raise VerificationError(
            f"{name} returns {described(plain)} for arguments of the shapes "
            f"{', '.join(map(str, shapes))}, but was compiled as a function of their elements",
            hint=HINT,
        )
    got = None if again is None else again(values)
    grids = [np.broadcast_to(np.asarray(v), shape) for v in values]
    count = math.prod(shape)
    done = False
    for k in sorted({count * j // ELEMENTS for j in range(ELEMENTS)}) if count else ():
        place = np.unravel_index(k, shape)
        point = [float(g[place]) for g in grids]
        try:
            ours = _ours(program, point, unit)
        except _Open:
            continue
        if error is None:
            want = _element(plain, program, place)
        else:
            want, wrong = _plainly(call, point)
            if wrong is not None:
                continue
        result = None if got is None else _element(got, program, place)
        check(point, want, ours, result)
        done = True
    return done


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
            )


NEGATIVE_POWER = "negative integer powers"
"""What NumPy says of an integer to one, where real numbers have a value."""


def _refused_by_numpy(error: Exception) -> VerificationError:
    """An error that has to do with kinds of numbers only, at the user's line."""
    at = extract_tb(error.__traceback__)[-1]
    place = Location(at.filename, at.lineno or 1, (at.colno or 0) + 1, linecache.getline(at.filename, at.lineno or 1))  # fmt: skip
    hint = "make real numbers of the integers first, as 1.0*a"
    return VerificationError(f"{type(error).__name__} in plain Python: {error}", place, hint)


def _raises(error: Exception) -> bool:
    """Nothing is concluded from what Python raises: poles and edges are filled where they
    are proved."""
    return isinstance(error, ArithmeticError | ValueError | IndexError)


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


HINT = "this is a fault of symdiff, please report it; verify=False switches the comparison off"


def _unit(values: Sequence[Any], dtype: Any) -> float:
    """The unit of rounding of the shortest format among arguments."""
    formats = [getattr(v, "dtype", None) for v in values]
    formats += [] if dtype is None else [np.dtype(dtype)]
    return max((UNITS.get(f, 1.0) for f in formats if f is not None), default=1.0)


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
    for want, ball, result in zip(wants, ours.outputs, results, strict=True):
        if want is None:
            continue
        _same_leaf(name, values, want, ball, result, unit)


def _same_leaf(
    name: str, values: Sequence[Any], want: Any, balls: Any, result: Any, unit: float
) -> None:
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
            _close(name, values, "plain Python", float(x), ball, unit)
            if computed is not None:
                _close(name, values, "compiled code", float(computed[k]), ball, unit)


def _close(name: str, values: Sequence[Any], what: str, x: float, ball: Any, unit: float) -> None:
    if not ball.is_finite() or not math.isfinite(x):
        return
    radius = float(ball.rad()) * unit
    middle = ball.mid()
    room = SLACK * (radius + abs(float(middle)) * 2.0**-52 * unit) + TINY
    if not ball.rad() and not middle:  # all has cancelled when captured, in Python only in part
        room += 2.0**-30 * unit * largest(values)
    if bool(abs(arb(x) - middle) > arb(room)):
        error = VerificationError(
            f"{name}({', '.join(map(short, values))}) is {x!r} in {what}, but the captured "
            f"program gives {float(middle)!r}, with rounding errors up to {radius:.1e}",
            hint=HINT,
        )
        error.apart = abs(x - float(middle))
        raise error
