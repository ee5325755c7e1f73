"""The captured program in balls that are as wide as rounding makes plain arithmetic err.

How far rounding may take plain arithmetic from the true value is not guessed: the program is
evaluated in balls of 53 bits, whose radii grow as rounding errors do, also by those of numbers below
the normal ones. Where they say nothing, as where a branch hangs on a rounded value or something
overflows, `Open` is raised or the ball is nan.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from flint import arb

from symdiff import ir
from symdiff.errors import UnsupportedError
from symdiff.interpret import Undecided, exclusive
from symdiff.interpret.flat import Tape
from symdiff.interpret.loops import ORDERS, Precise, Proven, evaluate, run
from symdiff.ir import functions
from symdiff.ir.linalg.discrete_fourier import SUMS
from symdiff.ir.loop_program import Call, LoopProgram, mapped_block, walk
from symdiff.ir.plain import as_ball, in_single, is_plain, real_op
from symdiff.ir.program import Program
from symdiff.pipeline.validation.broken_off import TooLong

STEPS = 100_000
"""Operations of the captured program, at most."""
OF_LIBRARIES = 2.0**-26
"""What functions that no library has right may be off by there, as SciPy's `stdtr(1, 1e-8)` is."""
PRECISION = 53
DISTURBED, DISTANCE = 3, 4.0
"""Changes of arguments by so many units of rounding, from which errors of routines are seen."""
NOUGHT = 2.0**-1074
"""Below this is a zero, whose sign Python goes by on branch cuts."""
UNIT = 2.0**-52
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


class Open(ArithmeticError):  # noqa: N818
    """Nothing can be concluded."""


@dataclass(frozen=True, slots=True)
class Ours:
    """The captured program at some arguments: balls of what plain arithmetic gives.

    Attributes
    ----------
    undefined : the outputs that are nan for certain where their balls are: an argument of an
        operation is outside of its domain, whatever rounding does.
    steps : operations that it took.
    room : by how much plain Python may err that computes solutions to a tolerance, of the value and 1.
    """

    outputs: tuple[Any, ...]
    tree: Any
    undefined: frozenset[int] = frozenset()
    steps: int = 0
    room: float = 0.0


class Enclosures(Precise):
    """Arithmetic of balls, as wide as rounding to doubles makes them.

    Attributes
    ----------
    outside : how many results are nan as arguments are outside of a domain for certain.
    unknown : how many are nan for other reasons, though the arguments are not.
    """

    def __init__(self, numbers: Range) -> None:
        super().__init__(PRECISION)
        self.numbers = numbers
        self.steps = self.outside = self.unknown = 0

    @property
    def undefined(self) -> bool:
        """Whether all that is nan is nan for certain."""
        return self.outside > 0 and self.unknown == 0

    def real(self, value: Any) -> Any:
        found = super().real(value)
        self.unknown += isinstance(found, arb) and not isinstance(value, arb) and found.is_nan()
        return found

    def kept(self, value: Any) -> Any:
        return self.numbers.rounded(value)

    def half_power(self, x: Any, n: int) -> Any:
        found = super().half_power(x, n)
        self._count(found, [x], bool(x < 0))
        return found

    def _count(self, value: Any, args: Sequence[Any], outside: bool) -> None:
        """Note why a result is nan."""
        if isinstance(value, arb) and value.is_nan():
            if not any(isinstance(a, arb) and a.is_nan() for a in args):
                self.outside += outside
                self.unknown += not outside

    def _is_outside(self, op: ir.Op, args: Sequence[Any]) -> bool:
        """Whether arguments are outside of the domain of an operation for certain."""
        names = [ir.var(f"x{k}") for k in range(len(args))]
        condition = functions.domain(op, tuple(names))
        if condition is ir.TRUE:
            return False
        scope = {n.value: a for n, a in zip(names, args, strict=True)}
        try:
            return evaluate(condition, Proven(STEPS, PRECISION), scope) is False
        except (Undecided, ArithmeticError, ValueError):
            return False

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
            raise Open
        if op.edges is not None:
            value = value * arb(1, OF_LIBRARIES)
        if not isinstance(value, arb):
            return bool(value)
        if real_op(op) is not op and value.is_exact():
            return value  # a double, as plain Python has it
        value = self.kept(value)
        if value.is_nan():
            self._count(value, args, self._is_outside(op, args))
        return value


class _InRange(Precise):
    """Precise arithmetic of what is in the range of normal doubles, and remains there.

    Attributes
    ----------
    steps : operations that it took, those of routines among them.
    """

    def __init__(self, bits: int) -> None:
        super().__init__(bits)
        self.steps = 0

    def routine(self, name: str, args: Sequence[Any]) -> Sequence[Any]:
        sizes = math.prod(max(1, np.size(a)) for a in args)
        self._spend(round(sizes ** (1.5 / len(args))))
        return super().routine(name, args)

    def _spend(self, steps: int) -> None:
        """Count operations. A call evaluates the program `DISTURBED` times and once more."""
        self.steps += steps
        if self.steps * (DISTURBED + 1) > STEPS:
            raise TooLong

    def kept(self, value: Any) -> Any:
        self._spend(1)
        if value.is_finite() and not value.is_zero():
            if value.abs_lower() < sys.float_info.min or value.abs_upper() > sys.float_info.max:
                raise Open
        return value.mid()


class _Disturbed(_InRange):
    """The same, but routines of linear algebra are given matrices that differ by rounding, as computed ones
    do, and as those do for which what routines return is right; results of Fourier transforms differ too, whose
    symmetries no argument breaks."""

    def __init__(self, bits: int, unit: float, rng: np.random.Generator) -> None:
        super().__init__(bits)
        self.unit, self.rng = unit, rng

    def routine(self, name: str, args: Sequence[Any]) -> Sequence[Any]:
        found = super().routine(name, args if name in ORDERS else list(map(self._moved, args)))
        if name not in SUMS:
            return found
        most = max((abs(float(x)) for a in found for x in a.flat), default=0.0)
        return [self._moved(a, most) for a in found]

    def _moved(self, given: Any, most: float | None = None) -> Any:
        a = np.asarray(given, object)
        if not a.size or not all(isinstance(x, arb) for x in a.flat):
            return given
        step = self.unit * (max(abs(float(x)) for x in a.flat) if most is None else most)
        moved = np.empty(a.shape, object)
        for place, x in np.ndenumerate(a):
            moved[place] = x + step * float(self.rng.choice((-1.0, 1.0)))
        return moved if moved.shape else moved[()]


def _is_composite(op: ir.Op) -> bool:
    """Whether results are right for an argument that differs by rounding: of what libraries compute from
    others (`np.sinc(300.0)` is not 0), and of logarithms, as those of powers are captured as products."""
    if real_op(op) is not op or op is functions.FLOOR_QUOTIENT:
        return False  # decisions
    composed = op.libm is None and op.partials is not None and op.kink is None and op.arity > 0
    return composed or op in (functions.LOG, functions.LOG2, functions.LOG10)


def _deciding_in_single(program: Program | LoopProgram) -> Program | LoopProgram:
    """The program whose decisions are those of float32."""
    if isinstance(program, Program):
        return replace(
            program, outputs=in_single(program.outputs), domain=in_single(program.domain),
            assumptions=in_single(program.assumptions),
        )  # fmt: skip
    block = mapped_block(program.block, lambda e: in_single((e,))[0])
    return replace(program, block=block, outputs=in_single(program.outputs))


def enclosed(program: Program | LoopProgram, values: Sequence[Any], unit: float) -> Ours:
    """The captured program in balls; `unit` is the unit roundoff of the format used."""
    numbers = Range.of(unit)
    if unit == UNITS[np.dtype("float32")]:
        program = _deciding_in_single(program)
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

        def amend(place: int, value: Any) -> Any:
            n = tape.nodes[place]
            given = (
                n.op is ir.CONST
                and value.is_exact()
                and arb(float(np.float32(float(value)))) == value
            )
            return value if given or is_plain(n) else numbers.rounded(value)

        with exclusive(PRECISION):
            names = [*map(ir.var, program.params), rounded, signed, library]
            tape = Tape(names, (*outputs, *program.domain, *program.assumptions))
            if len(tape.nodes) > STEPS:
                raise TooLong
            disturbances = arb(1, UNIT), arb(0, NOUGHT), arb(1, OF_LIBRARIES)
            v = tape.run(
                [*(as_ball(float(x)) for x in values), *disturbances],
                PRECISION,
                amend=amend,
            )
            balls = [v[r] for r in tape.roots]
            known: dict[int, Any] = {}
            undefined = frozenset(
                k
                for k, root in enumerate(tape.roots[: len(program.outputs)])
                if isinstance(v[root], arb) and tape.trouble(root, v, known) == "domain"
            )
        conditions = balls[len(program.outputs) :]
        inside, believed = conditions[: len(program.domain)], conditions[len(program.domain) :]
        if not all(i is True for i in inside):  # values are not defined, or nobody knows
            balls = [b if k in undefined else arb("nan") for k, b in enumerate(balls)]
        if any(i is False for i in believed) or not (all(i is True for i in inside) or undefined):
            raise Open
        return Ours(tuple(balls[: len(program.outputs)]), program.tree, undefined, len(tape.nodes))
    try:
        if any(isinstance(statement, Call) for statement in walk(program.block)):
            return Ours(tuple(_disturbed(program, values)), program.tree, room=program.room)
        arithmetic = Enclosures(numbers)
        found = tuple(run(program, values, arithmetic))
        undefined = frozenset(range(len(found))) if arithmetic.undefined else frozenset()
        return Ours(found, program.tree, undefined, arithmetic.steps, program.room)
    except (UnsupportedError, AttributeError, LookupError, ValueError, TypeError, ArithmeticError):
        raise Open from None


def rounding(program: LoopProgram, values: Sequence[Any]) -> list[Any] | None:
    """By how much rounding may move each element of the outputs of a program; infinite where
    that is not known, None if it is nowhere."""
    unit = unit_of(values, None)
    try:
        with np.errstate(all="ignore"):
            balls = enclosed(program, values, unit).outputs
    except (Open, TooLong):
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
    numbers = _Disturbed(4 * PRECISION, DISTANCE * 2.0**-52 * unit_of(values, None), rng)
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
        numbers.steps = 0
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


def unit_of(values: Sequence[Any], dtype: Any) -> float:
    """The unit of rounding of the shortest format among arguments."""
    formats = [getattr(v, "dtype", None) for v in values]
    formats += [] if dtype is None else [np.dtype(dtype)]
    return max((UNITS.get(f, 1.0) for f in formats if f is not None), default=1.0)
