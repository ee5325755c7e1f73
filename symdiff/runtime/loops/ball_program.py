"""Programs with arrays and loops as tables of balls: their operations recorded, then run by one compiled loop.

Before:  for i: s = s + x[i]**2, for an x of two elements
After:   column x0; arb_pow_ui; column x1; arb_pow_ui; arb_add; ...

A program is run once statement by statement (`interpret.loops`), with an arithmetic that records
operations (`Recorder`). What decides is computed in doubles beside: where control flow, sizes and indices depend on
values, what was decided is kept as guards, and a recording serves the calls in which these hold. Conditions that
choose between two values are truth values of the table, given anew for each call.

Precision grows until results are accurate.
"""

from __future__ import annotations

import ctypes
import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.codegen.llvm.operation_table import BALL, BINARY, COLUMN, CORE, SELECT, UNARY, Rows
from symdiff.errors import UnsupportedError
from symdiff.interpret import work
from symdiff.interpret.loops import run
from symdiff.interpret.unrolled import TooLong
from symdiff.ir import Op
from symdiff.ir.loop_program import LoopProgram
from symdiff.ir.plain import is_plain_op
from symdiff.runtime.loops.recording import GIVEN, Real, Recorder
from symdiff.runtime.scalar.ball_elements import (
    CHEAPER,
    CHUNK,
    address_of,
    constant_balls,
    is_there,
    loop,
)

Array = np.ndarray[Any, Any]

MOST = 150_000
"""Operations that are recorded of one program."""
BUDGET = 40_000_000
"""Work of one call (`interpret.work`)."""
FIRST, LAST = 128, 8192
"""The first and the last precision of balls in bits; each is twice the one before."""
CHEAP = 2_000_000
"""Work after which no more bits are spent on elements that are accurate for their array, but not for themselves."""
HOPELESS = 1024
"""Bits with which balls that are not finite are given up."""
CLOSE = 4
"""Ulps within which both ends of a ball are near, and how far apart results of both precisions may be."""
SURE = 100
"""Bits that are accurate where rounding is as good as decided."""


# ---------------------------------------------------------------------- the table
class _Table(Rows):
    """The table of a recording.

    Attributes
    ----------
    doubles : places whose doubles are columns; the first `given` columns are arguments.
    conditions : registers of truth values that doubles decide, and their places.
    counts : its operations (`work.Counts`).
    """

    def __init__(self, recorder: Recorder, roots: Sequence[int]) -> None:
        super().__init__()
        self.recorder = recorder
        self.doubles: list[int] = []
        self.conditions: list[tuple[int, int]] = []
        operations = recorder.operations
        wanted = bytearray(len(operations))
        for k in roots:
            wanted[k] = 1
        for k in range(len(operations) - 1, -1, -1):
            if wanted[k] and not self._is_given(k):
                for a in operations[k][1]:
                    wanted[a] = 1
        places: dict[int, int] = {}
        counted: Counter[Any] = Counter()
        table, rows = self.table, self.table.rows
        for k, (op, args) in enumerate(operations):
            if not wanted[k]:
                continue
            name = CORE.get(op)
            if name is None:
                places[k] = self._made(k, op, args, places)
            else:
                places[k] = z = table.balls
                table.balls += 1
                a, b = places[args[0]], places[args[-1]]
                kind = UNARY if len(args) == 1 else BINARY
                rows.append((kind, name, z, a, b, b, 0, 0))
            counted[op] += 1
        each = [
            (work.counts([ir.raw(op, (ir.ONE,) * (op.arity or 0))]), n)
            for op, n in counted.items() if isinstance(op, Op)
        ]  # fmt: skip
        plain, functions, slow = (sum(n * c[k] for c, n in each) for k in range(3))
        self.counts = plain, functions, slow
        self.table.roots = tuple(places[k] for k in roots)

    def _is_given(self, k: int) -> bool:
        """Whether a place is a double of each call."""
        op = self.recorder.operations[k][0]
        return op not in CORE and (
            k in self.recorder.plain or (isinstance(op, Op) and is_plain_op(op))
        )

    def _made(self, k: int, op: Any, args: tuple[int, ...], places: dict[int, int]) -> int:
        if op is GIVEN:
            return self.row(COLUMN, "arb_set_d", number=k)
        if k in self.recorder.plain:
            register = self.known(False)
            self.conditions.append((register, k))
            return register
        if self._is_given(k):
            self.doubles.append(k)
            return self.row(COLUMN, "arb_set_d", number=self.recorder.count + len(self.doubles) - 1)
        if not isinstance(op, Op):
            return self.constant(op)
        if op is ir.POW:
            exponent = self.recorder.operations[args[1]][0]
            if isinstance(exponent, Fraction):
                return self.power(places[args[0]], exponent)
        of = [places[a] for a in args]
        if op in ir.COMPARISONS:
            return self.compared(op, *of)
        if op.boolean:
            return self.logical(op, *of)
        return self.row(SELECT, 0, *of) if op is ir.WHERE else self.called(op, *of)


class BallProgram:
    """A program at sizes, in balls.

    Parameters
    ----------
    outputs : numbers and arrays of numbers of the recording, integers and truths.
    """

    def __init__(self, recorder: Recorder, outputs: Sequence[Any]) -> None:
        self.recorder, self.outputs = recorder, outputs
        roots = [
            x.place for v in outputs for x in np.asarray(v, object).flat if isinstance(x, Real)
        ]
        made = _Table(recorder, roots)
        self.table, self.counts = made.table, made.counts
        if any(isinstance(x, float) and math.isinf(x) for x in self.table.constants):
            raise UnsupportedError("an infinity is no ball")
        self._doubles, self._conditions = made.doubles, made.conditions
        self.addresses: dict[str, Any] = {n: address_of(n) for n in self.table.names()}
        if None in self.addresses.values():
            raise UnsupportedError("a C function is not found")
        self.guards = recorder.guards
        wanted = {*self._doubles, *(k for _, k in self._conditions), *self.guards}
        self.size = len(recorder.operations)
        self._order: list[tuple[int, Callable[..., Any] | None, tuple[int, ...]]] = []
        for k in _closure(recorder.operations, wanted):
            op, args = recorder.operations[k]
            self._order.append((k, None if op is GIVEN else recorder.in_doubles(op), args))
        table = [
            [self.addresses[x] if isinstance(x, str) else x for x in row] for row in self.table.rows
        ]
        self._rows = np.array(table, np.int64).reshape(-1, 8)
        self._roots = np.array(self.table.roots, np.int64)
        self.table.rows = []
        recorder.known = {}

    def __call__(self, given: Array, proven: bool, each: bool) -> tuple[Array, Array] | None:
        """The outputs' elements, and which of them are accurate; None if what is decided is something else.

        Parameters
        ----------
        given : the elements of real arguments.
        proven : whether they must be proven.
        each : whether each element is to be accurate for itself, not only for its array.
        """
        decided = self._decided(given)
        return None if decided is None else _Climb(self, *decided, proven, each)()

    def _decided(self, given: Array) -> tuple[Array, list[tuple[int, bool]]] | None:
        """The columns and the conditions; None if guards do not hold."""
        known: dict[int, Any] = {}
        with np.errstate(all="ignore", under="raise"):
            for k, function, args in self._order:
                if function is None:
                    known[k] = np.float64(given[k])
                elif len(args) == 2:
                    known[k] = function(known[args[0]], known[args[1]])
                else:
                    known[k] = function(*[known[a] for a in args])
        if any(known[k] != value for k, value in self.guards.items()):
            return None
        columns = np.array([*given, *(float(known[k]) for k in self._doubles)], float)
        return columns, [(register, bool(known[k])) for register, k in self._conditions]

    def shaped(self, values: Array, result: np.dtype[Any]) -> list[Any]:
        """The outputs from their elements."""
        found, start = [], 0
        for v in self.outputs:
            if isinstance(v, Real):
                x = float(values[start])
                found.append(x if result == np.float64 else result.type(x))
                start += 1
            else:
                count = v.size
                found.append(values[start : start + count].astype(result).reshape(v.shape))
                start += count
        return found

    def arrays(self) -> list[slice]:
        """The elements of each output."""
        found, start = [], 0
        for v in self.outputs:
            count = np.asarray(v, object).size
            found.append(slice(start, start + count))
            start += count
        return found


def _closure(operations: Sequence[tuple[Any, tuple[int, ...]]], wanted: set[int]) -> list[int]:
    """The places that some depend on, in order."""
    stack, found = list(wanted), set(wanted)
    while stack:
        for a in operations[stack.pop()][1]:
            if a not in found:
                found.add(a)
                stack.append(a)
    return sorted(found)


def recorded(program: LoopProgram, values: Sequence[Any], given: Array) -> BallProgram | None:
    """The program in balls, for the sizes of these arguments; None where it has none. Raises `TooLong`."""
    if not is_there():
        return None
    recorder = Recorder(MOST, given.tolist())
    args: list[Any] = []
    start = 0
    for p, value in zip(program.params, values, strict=True):
        if p.type.kind != "f":
            args.append(value)
            continue
        elements = np.empty(np.shape(value), object)
        for k in range(elements.size):
            elements.flat[k] = Real(start + k)
        start += elements.size
        args.append(elements if elements.ndim else elements[()])
    outputs = run(program, args, recorder)
    for v in outputs:
        if not isinstance(v, Real) and not (isinstance(v, np.ndarray) and v.dtype == object):
            raise UnsupportedError("an output is no real")
    return BallProgram(recorder, outputs)


# ---------------------------------------------------------------------- the climb
class _Climb:
    """One call: registers, and precision that grows."""

    def __init__(
        self, program: BallProgram, columns: Array, conditions: Sequence[tuple[int, bool]],
        proven: bool, each: bool,
    ) -> None:  # fmt: skip
        self.program, self.columns, self.proven, self.each = program, columns, proven, each
        table = program.table
        words = (table.balls + len(table.constants)) * BALL // 8
        self.memory = (ctypes.c_int64 * words)()  # zeros are the ball 0
        self.truths = (ctypes.c_uint8 * max(table.truths, 1))()
        for register, value in table.truth_constants:
            self.truths[register] = value
        self.conditions = conditions
        count = len(program._roots)
        self.least, self.most = np.full(count, np.nan), np.full(count, np.nan)
        self.bits = np.zeros(count, np.int64)
        self.state, self.unused = ctypes.c_uint8(), ctypes.c_int64()
        self.balls = ctypes.addressof(self.memory) + BALL * len(table.constants)
        self.loop = loop()
        self.spent = 0

    def __call__(self) -> tuple[Array, Array]:
        try:
            values, good = self._climbed()
            return values, good
        finally:
            self.loop.clear(self.balls, self.program.table.balls)

    def _climbed(self) -> tuple[Array, Array]:
        bits, count = FIRST, len(self.least)
        values, good = np.full(count, np.nan), np.zeros(count, bool)
        while bits <= LAST and self._affords(bits):
            self._run(bits)
            exact = (self.least == self.most) | (self.bits >= 2 * SURE)
            values = np.where(exact, self.most, self.least / 2 + self.most / 2)
            good = exact if self.proven else self._accepted(values, exact)
            if exact.all() or (good.all() and self.spent > CHEAP):
                break
            known = self.bits[~exact]
            lost = not np.isfinite(values[~good]).any()
            if lost and bits >= HOPELESS:
                break
            need = bits + 64 - int(known.min()) if known.min() > -bits else 0
            bits *= 2
            while bits < need and not good.all():
                bits *= 2
        return values, good

    def _ends(self, registers: Array) -> tuple[Array, Array, Array]:
        """Both ends of balls in doubles, and how many of their bits are accurate."""
        least, most = np.empty(len(registers)), np.empty(len(registers))
        bits = np.empty(len(registers), np.int64)
        places = [x.ctypes.data for x in (least, most, bits)]
        self.loop.ends(self.balls, registers.ctypes.data, len(registers), *places, 2 * FIRST)
        return least, most, bits

    def _accepted(self, values: Array, exact: Array) -> Array:
        with np.errstate(all="ignore"):
            off = self.most - self.least
            good = exact | (off <= CLOSE * 2.0**-52 * np.abs(values))
            good = self._near_in_arrays(values, off, good)
        return good & ~np.isnan(values)

    def _near_in_arrays(self, values: Array, off: Array, good: Array) -> Array:
        """Also what is near in comparison with the largest element of its array."""
        if not self.each:
            for part in self.program.arrays():
                size = np.abs(values[part])
                if len(size):
                    good[part] |= off[part] <= 2.0**-53 * size.max()
        return good

    def _affords(self, bits: int) -> bool:
        return self.spent + work.cost(self.program.counts, bits) <= BUDGET

    def _run(self, bits: int) -> None:
        """Run the rows, and round the outputs. Signals are looked at between parts of it."""
        p = self.program
        for register, truth in self.conditions:
            self.truths[register] = truth
        constants = constant_balls(p.table, p.addresses, bits)
        ctypes.memmove(self.memory, constants, ctypes.sizeof(constants))
        cost = work.cost(p.counts, bits)
        self.spent += cost
        rows = p._rows
        size = max(1, int(len(rows) * CHUNK / max(cost, 1)))
        for start in range(0, len(rows), size):
            some = rows[start : start + size]
            self.loop.run(
                self.balls, ctypes.addressof(self.truths), some.ctypes.data, len(some),
                self.columns.ctypes.data, len(self.columns), 1, p._roots.ctypes.data, 0,
                self.least.ctypes.data, ctypes.addressof(self.state),
                ctypes.addressof(self.unused), bits, False, 0,
            )  # fmt: skip
        self.least, self.most, self.bits = self._ends(p._roots)
        self.loop.clear(ctypes.addressof(constants), len(p.table.constants))
        work.spend(cost // CHEAPER)


__all__ = ["BallProgram", "TooLong", "recorded"]
