"""C functions that have ball arithmetic compute: what kernels call for functions that no library has.

They may be called by any thread; each call holds Python's lock. Exceptions of the processor are
raised as a C library would: kernels read them. What a signal's handler raises in a call cannot leave
a C function: the value is computed again, and the error raised once no more calls come.
"""

from __future__ import annotations

import ctypes
import functools
import math
import threading
import time
from collections.abc import Callable

from symdiff.codegen.llvm import jit
from symdiff.ir import OPS, Op

BALLS = "symdiff_ball_"
"""How the names of functions begin that ball arithmetic computes; see `Op.edges`."""
QUIET = 5e-3
"""Seconds without calls after which a kernel has ended."""
TRIES = 1000
_huge, _tiny = [1e300], [1e-300]


@functools.cache
def function(name: str) -> tuple[jit.Linked, object] | None:
    """The code of the C function of this name, and what it calls; None if there is no such function."""
    for op in OPS.values():
        if op.edges is not None and op.libm is not None and name in (op.libm, f"{op.libm}f"):
            single = name != op.libm
            served = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_server(op, single))
            where = ctypes.cast(served, ctypes.c_void_p).value or 0
            code = jit.compile_object(_text(where, op.arity, "float" if single else "double"))
            return jit.Linked(code, ()), served
    return None


def address(name: str) -> int | None:
    """Where it is."""
    made = function(name)
    return None if made is None else made[0].address("caller")


def install() -> None:
    """Let kernels call these functions."""
    jit.define_family(BALLS, address)


def _text(served: int, arity: int, kind: str) -> str:
    """Call Python with a record (how often, the value, the arguments) until it is through."""
    args = ", ".join(f"{kind} %a{k}" for k in range(arity))
    lines = [f"define {kind} @caller({args}) {{", f"%record = alloca [{arity + 2} x double]"]
    for k in range(arity):
        wide = f"%a{k}"
        if kind == "float":
            lines.append(f"%w{k} = fpext float %a{k} to double")
            wide = f"%w{k}"
        lines.append(f"%p{k} = getelementptr double, ptr %record, i64 {k + 2}")
        lines.append(f"store double {wide}, ptr %p{k}")
    lines += [
        "store double 0.0, ptr %record",
        "%place = getelementptr double, ptr %record, i64 1",
        "store double 0x7FF8000000000000, ptr %place",
        f"%served = inttoptr i64 {served} to ptr",
        "br label %again",
        "again:",
        "call void %served(ptr %record)",
        "%tries = load double, ptr %record",
        "%more = fadd double %tries, 1.0",
        "store double %more, ptr %record",
        "%failed = fcmp oge double %tries, 0.0",
        f"%few = fcmp olt double %tries, {TRIES}.0",
        "%both = and i1 %failed, %few",
        "br i1 %both, label %again, label %done",
        "done:",
        "%value = load double, ptr %place",
    ]
    if kind == "float":
        lines += ["%narrow = fptrunc double %value to float", "ret float %narrow", "}"]
    else:
        lines += ["ret double %value", "}"]
    return "\n".join(lines)


def _server(op: Op, single: bool) -> Callable[[int], None]:
    # a process that calls none of these needs no ball arithmetic
    from symdiff.interpret.ball_values import value_of
    from symdiff.interpret.rounding import FLOAT32, FLOAT64

    fmt = FLOAT32 if single else FLOAT64
    largest, least = (3.5e38, 1.2e-38) if single else (math.inf, 2.3e-308)
    record_of = (ctypes.c_double * (op.arity + 2)).from_address

    def serve(place: int) -> None:
        main = threading.get_ident() == threading.main_thread().ident
        try:
            record = record_of(place)
            if main:
                _late.begin()
                if record[0] > 0:  # a handler has raised an error before this function began
                    _late.note(KeyboardInterrupt)
            args = tuple(record[2:])
            try:
                value = value_of(op, args, fmt)
            except (ArithmeticError, ValueError):
                value = math.nan
            _raise_flags(value, args, largest, least)
            record[1] = value
            record[0] = -1.0
        except BaseException as error:
            _late.note(type(error))
        if main:
            _late.end()

    return serve


def _raise_flags(value: float, args: tuple[float, ...], largest: float, least: float) -> None:
    """Overflow, underflow and invalid operations, where a result is that of no finite number."""
    if least <= abs(value) < largest or not all(map(math.isfinite, args)):
        return
    if abs(value) < least:
        _tiny[0] * _tiny[0]
    elif math.isnan(value):
        math.inf - _huge[0] * math.inf
    else:
        _huge[0] * _huge[0]


class _Late:
    """Errors that signals' handlers raised in calls, until they can be raised."""

    def __init__(self) -> None:
        self._last, self._busy = 0.0, False
        self._waiting: type[BaseException] | None = None

    def begin(self) -> None:
        self._busy = True

    def end(self) -> None:
        self._last, self._busy = time.monotonic(), False

    def note(self, error: type[BaseException]) -> None:
        """Raise it in the main thread, the only one of handlers, when no call has come for a while."""
        if self._waiting is None:
            self._waiting = error
            threading.Thread(target=self._deliver, daemon=True).start()

    def _deliver(self) -> None:
        time.sleep(QUIET)
        while self._busy or time.monotonic() < self._last + QUIET:
            time.sleep(QUIET)
        error, self._waiting = self._waiting, None
        main = ctypes.c_ulong(threading.main_thread().ident or 0)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(main, ctypes.py_object(error))


_late = _Late()
