"""The second tier of programs with arrays and loops.

A kernel calls `Again` for a flagged value. It puts ball arithmetic for the value into the table of the
kernel (see `codegen.llvm.loops.fallback`), which from then on calls it without Python; what that leaves
open (limits, infinite values, many bits) is interpreted.
"""

from __future__ import annotations

import ctypes
import math
from array import array
from collections.abc import Callable
from typing import Any

from symdiff.codegen.llvm import jit
from symdiff.errors import UnsupportedError
from symdiff.interpret import work
from symdiff.process.locks import Lock
from symdiff.runtime.outcome import Outcome
from symdiff.runtime.processor_modes import to_nearest
from symdiff.runtime.protocols import ProgramWithTests, Reference
from symdiff.runtime.scalar.ball_elements import BallElements, compiled_elements

WORK = 80_000_000
"""Operations that one call may spend in balls (`interpret.work`)."""
REMEMBERED = 4096
"""Results of ball arithmetic that are kept, as the same leaves tend to come again."""


class Again:
    """Computes the flagged values of one kernel.

    Parameters
    ----------
    outcome : receives errors, and the work spent.
    tested : gives the program with its references, when it is needed first.
    linked : the kernel's code.
    dtype : what it computes in.
    accuracy : "certified" has all values interpreted.
    """

    def __init__(
        self, outcome: Outcome, tested: Callable[[], ProgramWithTests], linked: jit.Linked, dtype: str, accuracy: str,
    ) -> None:  # fmt: skip
        self.outcome, self.name = outcome, outcome.name
        self.tested, self.linked = tested, linked
        self.dtype, self.certified = dtype, accuracy == "certified"
        self._lock = Lock()
        self._balls: dict[int, Any] = {}
        self._tables: dict[int, BallElements | None] = {}
        self._known: dict[tuple[int, bytes], float] = {}
        self.entry = ctypes.CFUNCTYPE(
            None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p
        )(self.callback)

    def callback(self, which: int, stage: int, leaves: int, result: int) -> None:
        """Store the value of a number in the result, if it can be determined."""
        if self.outcome.failed:
            return
        try:
            with to_nearest():
                self._again(which, stage, leaves, result)
        except BaseException as error:
            self.outcome.fail(error)

    def _again(self, which: int, stage: int, leaves: int, result: int) -> None:
        reference = self.tested().references[which]
        if stage == 0 and not self.certified and self._settled(which, reference, leaves, result):
            return
        point = tuple((ctypes.c_double * len(reference.params)).from_address(leaves))
        target = ctypes.c_double.from_address(result)
        first = ctypes.c_double.from_address(result + ctypes.sizeof(ctypes.c_double)).value
        target.value = self._proven(which, reference, point, target.value, first)

    def _settled(self, which: int, reference: Reference, leaves: int, result: int) -> bool:
        """Whether compiled balls determine the value, which stand in the table by now."""
        with self._lock:
            if which not in self._tables:
                program = self._interpreted(which, reference)
                tables = (
                    None if program is None else compiled_elements(program, reference.params, False)
                )
                self._tables[which] = tables
                if tables is not None and tables.plan is not None:
                    place = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int64)
                    slot = place(self.linked.address("place"))(which)
                    self.linked.helpers.append(tables)
                    number, _, plan = tables.climbing
                    behind = slot + ctypes.sizeof(ctypes.c_void_p)
                    for at, address in ((behind, plan), (slot, number)):
                        ctypes.c_void_p.from_address(at).value = address
        tables = self._tables[which]
        return tables is not None and tables.plan is not None and not tables.climb(leaves, result)

    def _interpreted(self, which: int, reference: Reference) -> Any:
        """The value in ball arithmetic; None if that does not know a function."""
        if which not in self._balls:
            from symdiff.interpret import Certified

            try:
                made = Certified(reference.params, [reference.output], limits=True, jumps=True)
            except UnsupportedError:  # a user's own function
                made = None
            self._balls[which] = made
        return self._balls[which]

    def _proven(
        self, which: int, reference: Reference, point: tuple[float, ...], value: float,
        first: float,
    ) -> float:  # fmt: skip
        """The value from ball arithmetic; as the kernel computed it first if that takes too
        long, and as it is if balls do not know a function."""
        key = which, array("d", point).tobytes()  # -0.0 is not 0.0
        found = self._known.get(key)
        if found is not None:
            return found
        if self.outcome.spent > WORK:
            self.outcome.leave()
            return first
        before = work.spent()
        try:
            with self._lock:
                program = self._interpreted(which, reference)
            found = value
            if program is not None:
                (answer,) = program.at_with_status(point, self.dtype)
                unknown = answer.status == "budget" and math.isnan(answer.value)
                found = first if unknown else float(answer.value)
        except UnsupportedError:  # a user's own function
            found = value
        self.outcome.spend(work.spent() - before)
        if len(self._known) < REMEMBERED:
            self._known[key] = found
        return found
