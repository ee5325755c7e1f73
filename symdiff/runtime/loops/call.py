"""The compiled code of a program with arrays and loops: one call, from frame to results."""

from __future__ import annotations

import ctypes
import struct
import threading
import weakref
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from symdiff.codegen.llvm import jit
from symdiff.codegen.llvm.loops.body import FIRST_CHECK, NO_ROUTINE, STEP, STEPS
from symdiff.codegen.llvm.loops.interrupts import LEFT
from symdiff.codegen.llvm.loops.kernel import FIXED
from symdiff.codegen.llvm.loops.parallel import PIECE, STOPPED
from symdiff.errors import DomainError, SymdiffError
from symdiff.ir import CONST
from symdiff.ir.linalg.routines import ROUTINES
from symdiff.ir.loop_program import name_of
from symdiff.lowering.target import OVERFLOWS
from symdiff.process.progress import is_watched, watched
from symdiff.runtime import signals, threads
from symdiff.runtime.loops.arguments import (
    BYTE,
    FLOAT64,
    INT64,
    address,
    integer_of,
    laid_out,
    mismatch,
    put,
    view,
)
from symdiff.runtime.loops.fallback import Again
from symdiff.runtime.outcome import Outcome
from symdiff.runtime.scalar.elementwise import Array

AGAIN, RAISED, PARALLEL, SIGNALS = (
    FIXED.index(name) for name in ("again", "raised", "parallel", "signals")
)
MOST_RAISED = 4
"""The processor's flags are given up when one of so many calls raised one."""


class ElementError(SymdiffError, IndexError):
    """An index outside of an array, found while computing."""


class ComputationError(SymdiffError, ValueError):
    """A value that the function refuses, found while computing."""


class UnfinishedError(ComputationError):
    """A run beside the plain one took more steps than that one."""


class WideIntegerError(ComputationError, OverflowError):
    """An integer that does not fit in 64 bits, found while computing."""


class InaccurateError(ComputationError, ArithmeticError):
    """A result that lost digits, found while computing.

    Attributes
    ----------
    results : the outputs with those digits lost.
    """

    results: Sequence[Any] = ()


ERRORS: dict[str, type[SymdiffError]] = {"index": ElementError, "overflow": WideIntegerError,
                                       "domain": DomainError, "accuracy": InaccurateError}  # fmt: skip
"""The errors of checks; of others, `ComputationError`."""


_NUMBERS: dict[str, Any] = {"f0": ctypes.c_double, "i0": ctypes.c_int64, "b0": ctypes.c_int64}
"""Numbers in records of calls."""


def _drop(linked: jit.Linked) -> None:
    """Free the memory that a kernel keeps for its next call."""
    ctypes.CFUNCTYPE(None)(linked.address("drop"))()


class Code:
    """The compiled code of a kernel for one dtype."""

    def __init__(
        self, kernel: Any, linked: jit.Linked, dtype: str, tests: int = 0, tested: bool = False
    ) -> None:
        self.kernel, self.linked = kernel, linked
        self.real = np.dtype(dtype)
        self.layout = kernel.layout
        self.many = FIRST_CHECK + len(kernel.layout.checks)
        self.function = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)(linked.address("kernel"))
        self.step, self.steps = (
            ctypes.c_int64.from_address(linked.address(name)) for name in (STEP, STEPS)
        )
        self.finish = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(linked.address("finish"))
        weakref.finalize(self, _drop, linked)
        self._failure = threading.local()
        self.outcome = Outcome(kernel.program.name)
        self.routine = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64, ctypes.c_void_p)(self.call)
        self.parallel = ctypes.CFUNCTYPE(
            None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_double
        )(self.spread)
        self.again = None
        if tested:
            self.again = Again(
                self.outcome, partial(kernel.tested, dtype, tests), linked, dtype, kernel.accuracy
            )
        entries = [self.routine, self.parallel, *([self.again.entry] if self.again else [])]
        self.callbacks = [ctypes.cast(f, ctypes.c_void_p).value or 0 for f in entries]
        self.callbacks += [0] * (len(FIXED) - 1 - len(entries))
        self.callbacks[FIXED.index("signals") - 1] = signals.table()
        if kernel.parallel is False:
            self.callbacks[1] = 0
        self.watched = None
        if place := linked.address("watched"):
            self.watched = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)(place)
        self.tests, self.next, self.tested = tests, tests, tested
        self.tried = self.raised = 0
        self.all_known = all(self.layout.known)
        self.prepare()

    def prepare(self) -> None:
        """Work out what need not be done at every call."""
        layout, program = self.layout, self.kernel.program
        kinds = ["q"] * layout.count
        self.frame: list[Any] = [0] * layout.count
        self.frame[1 : len(FIXED)] = self.callbacks
        for place in layout.sizes.values():
            self.frame[place] = None
        self.takes: list[tuple[int, np.dtype[Any] | None, list[tuple[int, int | None]]]] = []
        self.held = []
        values = [*(None for _ in program.params), *program.data.values()]
        for p, place, value in zip(layout.params, layout.places, values, strict=True):
            if not p.type.shape:
                kinds[place] = "d" if p.type.kind == "f" else "q"
            if value is not None:
                self.held.append(np.ascontiguousarray(value, self.element(p.type.kind)))
                self.frame[place] = address(self.held[-1])
                continue
            axes: list[tuple[int, int | None]] = [
                (0, int(n.value)) if n.op is CONST else (layout.sizes[name_of(n)], None)
                for n in p.type.shape
            ]
            self.takes.append((place, self.element(p.type.kind) if axes else None, axes))
        self.pack = struct.Struct("=" + "".join(kinds)).pack
        self.buffer = ctypes.c_char * (8 * layout.count)
        self.makes = [
            (self.element(t.kind), [integer_of(n, layout.sizes) for n in t.shape])
            if t.shape and known else None
            for t, known in zip(layout.outputs, layout.known, strict=True)
        ]  # fmt: skip

    def element(self, kind: str) -> np.dtype[Any]:
        """The dtype of an array in memory."""
        return self.real if kind == "f" else INT64 if kind == "i" else BYTE

    def run(
        self,
        given: Sequence[Any],
        out: Sequence[Array | None] | None,
        result: np.dtype[Any],
        flags: bool = True,
        serial: bool = False,
        watches: int | None = None,
        words: Mapping[int, int] = MappingProxyType({}),
    ) -> list[Any]:
        """Call the kernel on prepared arguments; `flags`: whether the processor's are looked at; `serial`: whether
        all of it is computed in this thread; `watches`: how long it may be, as `signals.watched` counts; `words`: what
        stands in some of the fixed words."""
        signals.pending()
        frame = self.frame.copy()
        for place, word in words.items():
            frame[place] = word
        if serial:
            frame[PARALLEL] = 0
        limit = None if watches is None else signals.limited(watches)
        if limit is not None:
            frame[SIGNALS] = ctypes.addressof(limit)
        alive = []
        for which, (place, dtype, axes) in enumerate(self.takes):
            if dtype is None:
                frame[place] = given[which]
                continue
            array = laid_out(given[which], dtype)
            alive.append(array)
            frame[place] = address(array)
            for axis, (size, (word, known)) in enumerate(zip(array.shape, axes, strict=True)):
                if known is None:
                    known = frame[word]
                    if known is None:
                        frame[word] = known = size
                if known != size:
                    program = self.kernel.program
                    raise mismatch(program.params[which], axis, size, known, program)
        targets = self.targets(frame, out, alive)
        for target, place in zip(targets, self.layout.results, strict=True):
            if target is not None:
                frame[place] = address(target)
        try:
            memory = bytearray(self.pack(*frame))
        except struct.error:
            raise WideIntegerError("an argument does not fit in 64 bits") from None
        buffer = self.buffer.from_buffer(memory)
        if is_watched():
            with watched(self.kernel.program.name, self.step, self.steps):
                status = self.invoke(memory, ctypes.addressof(buffer), flags)
        else:
            status = self.invoke(memory, ctypes.addressof(buffer), flags)
        inaccurate = status >= self.many
        if status and not inaccurate:
            self.fail(status, limit)
        results = [self.output(k, t, memory, result) for k, t in enumerate(targets)]
        if not self.all_known:
            self.finish(ctypes.addressof(buffer))
        if inaccurate:
            error = InaccurateError(f"{self.kernel.program.name}: a result lost digits")
            error.results = results
            raise error
        if out is not None:
            results = [
                put(place, r) if place is not None else r
                for place, r in zip(out, results, strict=True)
            ]
        return results

    def invoke(self, memory: bytearray, at: int, flags: bool = True) -> int:
        """Call the function. If it leaves overflow and the like to the processor's flags, and
        some was raised, it is called again with tests of its own; at once, if that keeps
        happening."""
        if self.watched is None or not flags:
            return self.reported(self.function(at))
        if self.tried < MOST_RAISED or self.raised * MOST_RAISED <= self.tried:
            self.tried += 1
            status = self.reported(self.watched(at))
            raised = struct.unpack_from("=q", memory, 8 * RAISED)[0]
            if not raised:
                return status
            self.raised += 1
            self.finish(at)
            _drop(self.linked)
            self.next = max(self.tests, 2 if raised & OVERFLOWS else 1)
        other: Code = self.kernel.code(self.real.name, self.next, self.tested)
        struct.pack_into("=q", memory, 8 * AGAIN, other.callbacks[AGAIN - 1])
        return other.invoke(memory, at)

    def reported(self, status: int) -> int:
        """The return code, after reporting what went wrong with flagged values."""
        if self.outcome.used.value:
            self.outcome.finish()
        return status

    def targets(
        self, frame: Sequence[Any], out: Sequence[Array | None] | None, inputs: Sequence[Array]
    ) -> list[Array | None]:
        """The memory of the outputs that are arrays of known shape."""
        found: list[Array | None] = []
        for k, made in enumerate(self.makes):
            if made is None:
                found.append(None)
                continue
            dtype, shape_of = made
            shape = tuple([f(frame) for f in shape_of])
            place = None if out is None else out[k]
            if (
                isinstance(place, np.ndarray) and place.shape == shape and place.dtype == dtype
                and place.flags.carray
                and not any(np.may_share_memory(place, a) for a in inputs)
                and not any(o is not None and np.may_share_memory(place, o) for o in found)
            ):  # fmt: skip
                found.append(place)
            else:
                found.append(np.empty(shape, dtype))
        return found

    def output(self, k: int, target: Array | None, memory: bytearray, result: np.dtype[Any]) -> Any:
        """One output, as it is handed out."""
        t, at = self.layout.outputs[k], 8 * self.layout.results[k]
        if not t.shape:
            if t.kind == "f":
                value = struct.unpack_from("=d", memory, at)[0]
                return float(value) if result == FLOAT64 else result.type(value)
            whole = struct.unpack_from("=q", memory, at)[0]
            return bool(whole) if t.kind == "b" else whole
        if target is None:
            address, *shape = struct.unpack_from(f"={1 + len(t.shape)}q", memory, at)
            target = view(address, shape, self.element(t.kind)).copy()
        if t.kind == "b":
            return target.view(np.bool_)
        return target if t.kind != "f" or result == target.dtype else target.astype(result)

    def fail(self, status: int, limit: signals.Table | None = None) -> None:
        """Raise the error of a return code; `limit`: the table of a run that was limited."""
        if status == NO_ROUTINE:
            signals.pending(limit)
            if limit is not None and limit[LEFT] < 0:
                raise UnfinishedError(f"{self.kernel.program.name}: a measuring run does not end")
            raise self._failure.__dict__.pop("error", KeyboardInterrupt())
        if status < FIRST_CHECK:
            raise MemoryError(f"{self.kernel.program.name}: no room for arrays or tapes")
        check = self.layout.checks[status - FIRST_CHECK]
        kind = ERRORS.get(check.error, ComputationError)
        raise kind(check.message, check.location)

    # ---------------------------------------------------------------- callbacks
    def call(self, which: int, record: int) -> int:
        """Run a routine for the kernel."""
        if which == STOPPED:
            return int(hasattr(self._failure, "error"))
        try:
            self.routine_of(ctypes.string_at(which).decode(), record)
        except BaseException as error:
            self._failure.error = error
            return 1
        return 0

    def routine_of(self, text: str, record: int) -> None:
        """Run a routine with what a record says, of the kinds and ranks in a text as "solve f2,f1 f2"."""
        name, given, made = text.split(" ")
        args, at = [], record
        for kind in given.split(","):
            value, at = self.word(kind, at)
            args.append(value)
        results = ROUTINES[name].numpy(*args)
        for kind, value in zip(made.split(","), results, strict=True):
            place = at
            target, at = self.word(kind, at)
            if isinstance(target, np.ndarray):
                np.copyto(target, value)
            else:
                _NUMBERS[kind].from_address(place).value = value

    def word(self, kind: str, at: int) -> tuple[Any, int]:
        """A number or an array in a record, and the position of the next."""
        rank = int(kind[1:])
        if not rank:
            return _NUMBERS[kind].from_address(at).value, at + 8
        shape = list((ctypes.c_int64 * rank).from_address(at + 8))
        address = ctypes.c_void_p.from_address(at).value or 0
        return view(address, shape, self.element(kind[0])), at + 8 + 8 * len(shape)

    def spread(self, part: int, frame: int, count: int, cost: float) -> None:
        """Run a part of the kernel, of so many nanoseconds an iteration, for ranges that
        make up all of its iterations."""
        try:
            function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(part)
            number = min(threads.processors(), max(1, int(count * cost / threads.GRAIN)), count)
            pieces = int(min(count, 1 + count * cost / (PIECE * number)))
            for k in range(pieces):  # Python looks for signals after each
                start, stop = count * k // pieces, count * (k + 1) // pieces
                self.share(function, frame, start, stop, number)
        except BaseException as error:
            self._failure.error = error

    def share(self, function: Any, frame: int, start: int, stop: int, number: int) -> None:
        """Run a part of the kernel for a range, on so many threads."""
        units = 64 * number  # `threads.run` divides at multiples of 64
        count = stop - start
        threads.run(
            lambda a, b: function(frame, start + count * a // units, start + count * b // units),
            units, number,
        )  # fmt: skip
