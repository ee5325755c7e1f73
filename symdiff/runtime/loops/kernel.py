"""`LoopKernel`: outputs of a program with arrays and loops, compiled when first called."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from symdiff.codegen.llvm import jit
from symdiff.codegen.llvm.loops.kernel import layout_of, print_kernel
from symdiff.codegen.llvm.printer import Lanes
from symdiff.ir import NAN, integer, topological
from symdiff.ir.loop_program import INDEX, Loop, LoopProgram, walk
from symdiff.process.locks import Lock
from symdiff.runtime import cache, signals
from symdiff.runtime.loops import probe
from symdiff.runtime.loops.arguments import FLOAT32, FLOAT64, given
from symdiff.runtime.loops.call import (
    Code,
    ComputationError,
    ElementError,
    InaccurateError,
    WideIntegerError,
)
from symdiff.runtime.loops.program_keys import fingerprint
from symdiff.runtime.loops.results import (
    has_nan,
    is_finite,
    overlap,
    placed,
    put_in,
    where_defined,
)
from symdiff.runtime.protocols import LoopFunction, ProgramWithTests
from symdiff.runtime.scalar import compiled, elementwise
from symdiff.runtime.scalar.elementwise import ArgumentError, Array
from symdiff.runtime.scalar.fallback import MEASURE, tell, unproven

if TYPE_CHECKING:
    from symdiff.runtime.loops.by_definition import Points
    from symdiff.runtime.loops.recomputed import Recomputed

ALL = 2
"""Tests for all that the processor's flags tell."""
MORE = 2
"""How many times as long as the plain run one beside it may be."""
LOSSES, TURNS = 3, 64
"""Calls in a row that had lost digits, after which calls begin with their rounding errors; and the calls
after which the plain kernel is tried again."""
ALARMS = 2
"""False alarms after which losses are measured with rounding errors: decisions differ by the direction of rounding."""


class LoopKernel:
    """Arrays and numbers computed from arrays and numbers.

    Parameters
    ----------
    program : what is computed; its completed operations are written out already.
    dtype : "float64" or "float32" to compute in that only; None follows the arguments.
    parallel : True, False, or "auto" to use threads where it pays.
    cache : whether compiled code is kept on disk.
    accuracy : as for `symdiff.runtime.scalar.kernel.Kernel`.
    tiers : how flagged values are computed again; None if they are not.
    points : what computes derivatives at points that the program treats apart, and those that are nan.
    """

    turns = True  # whether it may be run with other directions of rounding

    def __init__(
        self,
        program: LoopProgram,
        dtype: Any = None,
        parallel: bool | str = "auto",
        cache: bool = True,
        accuracy: str = "high",
        tiers: LoopFunction | None = None,
        points: Points | None = None,
    ) -> None:
        self.program, self.parallel, self.tiers = program, parallel, tiers
        self.points = points
        self.cache, self.accuracy = cache, accuracy
        self.dtype = None if dtype is None else np.dtype(dtype).name
        self.layout = layout_of(program)
        self._compiled: dict[tuple[str, int, bool], Code] = {}
        self._tested: dict[tuple[str, int], ProgramWithTests] = {}
        self._again: Recomputed | None = None
        self._measured: Measured | None = None
        self._losses = self._turn = self._alarms = self._odd = 0
        self.schedule = probe.Schedule(
            [p.type.kind == "f" for p in program.params]
            + [t.kind == "f" for t in self.layout.outputs]
        )
        self._lock = Lock()
        self._ranks = [
            len(p.type.shape) if p.type.kind == "f" else -1 for p in program.params
        ]  # no argument has -1 axes

    def __repr__(self) -> str:
        names = ", ".join(p.name for p in self.program.params)
        return f"<kernel {self.program.name}({names}), {len(self.program.outputs)} outputs>"

    def __reduce__(self) -> tuple[Any, ...]:
        return LoopKernel, (
            self.program, self.dtype, self.parallel, self.cache, self.accuracy, self.tiers,
            self.points,
        )  # fmt: skip

    def llvm(self) -> str:
        """The LLVM IR of the kernel, without SIMD."""
        return print_kernel(self.program, self.dtype or "float64", Lanes(), self.accuracy)

    def assembly(self, dtype: str = "float64") -> str:
        """The assembly of the kernel, for people and tests."""
        return jit.assembly(self._text(dtype, 0 if jit.has_flags() else ALL), tidy=True)

    @property
    def is_probed(self) -> bool:
        """Whether losses are measured by probes, or all is computed again ("certified"); rows have
        tests of their own, as they must not depend on each other."""
        return self.tiers is not None and not self.tiers.by_rows

    @cached_property
    def adds_up(self) -> bool:
        """Whether rows carry numbers, which have no tests: they are measured from time to time, as calls are."""
        loops = (s for s in walk(self.program.block) if isinstance(s, Loop))
        sums = any(c.type.kind == "f" and not c.type.shape for s in loops for c in s.carried)
        return sums and self.accuracy == "high" and self.tiers is not None and self.tiers.by_rows

    def tested(self, dtype: str, tests: int) -> ProgramWithTests:
        """The program with its error tests, for a dtype and tests as of `with_error_tests`."""
        assert self.tiers is not None
        with self._lock:
            if (dtype, tests) not in self._tested:
                self._tested[dtype, tests] = self.tiers.double(dtype, tests)
            return self._tested[dtype, tests]

    def _text(self, dtype: str, tests: int = 0, tested: bool = False) -> str:
        lanes = compiled.registers(dtype, self.accuracy == "strict")
        kinds = [t.kind for t in self.layout.outputs]
        if not tested:
            return print_kernel(
                self.program, dtype, lanes, self.accuracy, kinds=kinds, probed=self.is_probed
            )
        s = self.tested(dtype, tests)
        return print_kernel(
            s.program, dtype, lanes, self.accuracy, len(s.references), s.flags, kinds=kinds, probed=self.adds_up
        )  # fmt: skip

    def code(self, dtype: str, tests: int = 0, tested: bool = False) -> Code:
        """The compiled kernel of one dtype; `tested`, as that of rows is, with tests as of `with_error_tests`:
        what is not tested for, the processor's flags tell, if it has any."""
        tests = tests if jit.has_flags() else ALL
        tested = tested or (self.tiers is not None and not self.is_probed)
        which = dtype, tests, tested
        found = self._compiled.get(which)
        if found is None:
            with self._lock:
                found = self._compiled.get(which)
                if found is None:
                    lanes = compiled.registers(dtype, self.accuracy == "strict")
                    library = sorted(lanes.library)
                    how = (*which, self.accuracy, lanes.isa, lanes.width, library)
                    key = cache.key("loops", self._fingerprint(), how, jit.host())
                    text = partial(self._text, *which)
                    linked = compiled.link(key, text, self.cache, tidy=True)
                    found = self._compiled[which] = Code(self, linked, *which)
        return found

    def is_compiled(self, dtype: str) -> bool:
        """Whether there is code for a dtype already."""
        return any(d == dtype for d, *_ in list(self._compiled))

    def _fingerprint(self) -> Any:
        own = fingerprint(self.program)
        if self.tiers is None:
            return own
        about = self.tiers.by_rows, self.tiers.of_numbers
        return own, fingerprint(self.tiers.closed), about

    # ------------------------------------------------------------------ calling
    def __call__(self, args: Sequence[Any], out: Sequence[Array | None] | None = None) -> list[Any]:
        """The outputs as a flat list: Python numbers and new NumPy arrays.

        Parameters
        ----------
        args : one value per parameter; arrays may have any strides.
        out : an array or None for each output.

        Raises
        ------
        ArgumentError : for arguments that are not real numbers, or a wrong count.
        ShapeError : for arrays of a wrong number of axes, or sizes that differ.
        ElementError, ComputationError : for checks of the program that fail.
        MemoryError : if there is no room for arrays or tapes.
        """
        if out is not None and len(out) != len(self.program.outputs):
            raise ArgumentError(
                f"out has {len(out)} entries for {len(self.program.outputs)} outputs"
            )
        if self._plain(args):
            return self._run("float64", args, out, FLOAT64)
        dtype, values, result = self._given(args)
        return self._run(dtype, values, out, result)

    def _given(self, args: Sequence[Any]) -> tuple[str, list[Any], Any]:
        """The dtype that is computed in, the arguments as it takes them, and the dtype of results."""
        params = self.program.params
        if len(args) != len(params):
            raise ArgumentError(
                f"{self.program.name} takes {len(params)} arguments, {len(args)} were given"
            )
        values = [given(p, a) for p, a in zip(params, args, strict=True)]
        reals = [
            v for p, v in zip(params, values, strict=True)
            if p.type.kind == "f" and not isinstance(v, float)
        ]  # fmt: skip
        result = elementwise.result_dtype(reals, self.dtype)
        compute = FLOAT64 if result == FLOAT64 else FLOAT32
        return compute.name, values, result

    def _run(
        self, dtype: str, values: Sequence[Any], out: Sequence[Array | None] | None, result: Any
    ) -> list[Any]:
        """Call the kernel; where integers do not fit, compute with Python's, and where results lost digits, more
        accurately."""
        try:
            special = self._is_special(dtype, values, result)
            if not special and self._begins_with_errors():
                found = self._with_errors(dtype, values, out, result)
                if found is not None:
                    return found
                if self.accuracy == "strict":
                    plain = self.code(dtype, ALL, True).run(values, None, result)
                    return self._more_accurately(dtype, values, plain, out, result)
            aside = self.is_probed and overlap(values, out)  # a probe needs the arguments
            before = signals.watched()
            results = self.code(dtype).run(values, None if aside else out, result)
        except WideIntegerError as error:
            from symdiff.runtime.loops.exact_integers import exactly

            return exactly(self.program, values, out, np.dtype(result), error)
        except InaccurateError as error:
            if self.points is None or self.points.general is None or self._is_apart(values, ()):
                return self._more_accurately(dtype, values, error.results, out, result)
            return self.points.general(values, out)
        watches, beside = self._measuring(dtype, result, before)
        if not special and not (
            self.is_probed and self._may_have_lost(dtype, values, results, result, beside)
        ):
            if not aside or out is None:
                return results
            return list(map(put_in, out, results))
        apart, undefined = self._is_apart(values, results), None
        if not (apart or self.accuracy == "certified" or all(map(is_finite, results))):
            # something overflowed, or is undefined, that need not be
            tested = partial(self.code(dtype, ALL, True).run, out=None, result=result)
            again = tested(values)
            if not all(map(is_finite, values)):
                found = list(map(where_defined, results, again))
                if self.points is not None and any(map(has_nan, found)):
                    found = self.points(values, found)[0]
                return placed(found, out)
            if self.points is not None and any(map(has_nan, results)):
                undefined = results
                again = self._without_limits(values, undefined, again)
            if all(map(is_finite, again)) and (
                probe.has_lost(
                    partial(tested, serial=True, watches=watches),
                    values, again, self._steps, infinities=True, turns=self.turns,
                ) is False
            ):  # fmt: skip
                self._odd = 0
                return again if out is None else list(map(put_in, out, again))
            results = again
        kept = results if out is None or aside else [np.copy(v) for v in results]
        found = self._more_accurately(dtype, values, kept, out, result, undefined)
        self._odd *= not all(map(is_finite, found))
        if apart:
            return found
        if any(map(probe.differ, kept, found)):
            self._losses += 1
            self.schedule.lost()
        else:
            self._losses, self._alarms = 0, self._alarms + 1
            if self.accuracy == "high":  # what calls that are not probed return
                return kept if out is None else list(map(put_in, out, kept))
        return found

    def _measuring(
        self, dtype: str, result: Any, before: int
    ) -> tuple[int, Callable[[Sequence[Any]], list[Any]]]:
        """How often a run that measures may be watched, after one at `before`, and such runs."""
        watches = MORE * (signals.watched() - before + 1)
        run = self.code(dtype).run
        return watches, partial(run, out=None, result=result, serial=True, watches=watches)

    def with_more_digits(self, args: Sequence[Any]) -> list[Any]:
        """The outputs in balls, as far as these determine them, and are finite."""
        dtype, values, result = self._given(args)
        plain = self._run(dtype, values, None, result)
        found = self._more_accurately(dtype, values, plain, None, result)
        return [np.where(np.isfinite(v), v, p) for v, p in zip(found, plain, strict=True)]

    def _is_special(self, dtype: str, values: Sequence[Any], result: Any) -> bool:
        """Whether the kernel was found wrong at such points; it is tried there when sizes are new."""
        points = self.points
        if points is None:
            return False
        if points.is_tried and self.is_probed and points.are_new(values):
            before = signals.watched()
            self.code(dtype).run(values, None, result)
            if points.look(values, self._measuring(dtype, result, before)[1]):
                self.schedule.close()
        return points.is_special(values)

    def _begins_with_errors(self) -> bool:
        """Whether a call begins with its rounding errors, as the calls before this one had lost digits."""
        if self.tiers is None or not self.is_probed or self.accuracy == "certified":
            return False
        if self.accuracy == "strict" or self._losses < LOSSES:
            return self.accuracy == "strict"
        self._turn += 1
        if self._turn % TURNS:
            return True
        self._losses = LOSSES - 1  # the plain kernel is tried again
        return False

    def _may_have_lost(
        self,
        dtype: str,
        values: Sequence[Any],
        results: Sequence[Any],
        result: Any,
        beside: Callable[[Sequence[Any]], list[Any]],
    ) -> bool:
        """Whether a call is to be computed again: a probe found a loss, or a result is not finite;
        for infinite arguments, a number. `beside` is a run that measures."""
        if self.accuracy == "certified":
            return True
        due = self.schedule.due(values, results)
        if not all(map(is_finite, values)):  # infinities may have limits
            return any(map(has_nan, results)) and not any(map(has_nan, values))
        if not all(map(is_finite, results)):
            self._odd += 1
            return due or self._losses > 0 or self._odd <= LOSSES
        if not due:
            return False
        lost = None
        if self._alarms < ALARMS:
            lost = probe.has_lost(beside, values, results, self._steps, turns=self.turns)
        if lost is None:  # its decisions are others where the processor rounds otherwise
            self._alarms = ALARMS
            found = self._with_errors(dtype, values, None, result)
            lost = found is None or any(map(probe.differ, results, found))
        self._losses *= lost
        return lost

    @cached_property
    def _steps(self) -> float:
        """The steps of loops that are not over axes of arguments, infinite where they are not known."""
        found = 0.0
        for s in walk(self.program.block):
            if isinstance(s, Loop):
                leaves = (
                    [n for n in topological((s.count,)) if not n.args]
                    if s.count is not None
                    else [NAN]
                )
                if not all(n.op is INDEX or integer(n) is not None for n in leaves):
                    return math.inf
                found += max((float(integer(n) or 0) for n in leaves), default=0.0)
        return found

    def spreads(self, args: Sequence[Any]) -> list[float]:
        """By how much each output differs with the direction of rounding."""
        dtype, values, result = self._given(args)
        if not self.is_probed and self._measured is None:
            self._measured = Measured(self.program, self.dtype, self.parallel, self.cache, "fast")
        code = (self._measured or self).code(dtype)
        before = signals.watched()
        plain = code.run(values, None, result, serial=True)
        watches = MORE * (signals.watched() - before + 1)
        return probe.spreads(
            partial(code.run, out=None, result=result, serial=True, watches=watches),
            values,
            plain,
            self.turns,
        )

    def _with_errors(
        self, dtype: str, values: Sequence[Any], out: Any, result: Any
    ) -> list[Any] | None:
        """The outputs computed with their rounding errors; None where they are not accurate."""
        if dtype != "float64":
            return None
        return self._recomputed().corrected(values, out, result)

    def _recomputed(self) -> Recomputed:
        """What computes calls again."""
        if self._again is None:
            from symdiff.runtime.loops.recomputed import Recomputed

            self._again = Recomputed(self)
        return self._again

    def _more_accurately(
        self,
        dtype: str,
        values: Sequence[Any],
        plain: Sequence[Any],
        out: Any,
        result: Any,
        undefined: Sequence[Any] | None = None,
    ) -> list[Any]:
        """Results with more digits, and those that are not known; `undefined`: with nan where formulas are."""
        if self._is_apart(values, plain):
            assert self.points is not None
            measured = partial(self._written, dtype, values, result)
            return placed(self.points(values, plain, measured)[0], out)
        if self.points is None:
            return self._recomputed()(dtype, values, plain, out, result)
        with unproven() as left:
            found = self._recomputed()(dtype, values, plain, None, result)
        undefined = plain if undefined is None else undefined
        if any(map(has_nan, undefined)):
            found = self._without_limits(values, undefined, found)
        lost = sum(int(np.isnan(v).sum()) for v in found if has_nan(v))
        if not all(map(is_finite, found)) or (left and self.points.has_kinks):
            found, known = self.points(values, found)
            if known:
                return placed(found, out)
            lost -= sum(int(np.isnan(v).sum()) for v in found if has_nan(v))
        if sum(left) > lost:
            tell(
                sum(left) - lost,
                self.program.name,
                " lost digits: results are not proven accurate",
                MEASURE,
            )
        return placed(found, out)

    def _written(
        self, dtype: str, values: Sequence[Any], result: Any, kernel: LoopKernel | None
    ) -> list[Any]:
        """The outputs as formulas, of a kernel that regards no points if there is one; in balls if they lost
        digits."""
        code = (kernel or self).code(dtype)

        def run(values: Sequence[Any], watches: int | None = None) -> list[Any]:
            try:
                return code.run(values, None, result, serial=True, watches=watches)
            except InaccurateError as error:
                return list(error.results)

        before = signals.watched()
        plain = run(values)
        measured = partial(run, watches=MORE * (signals.watched() - before + 1))
        lost = self.tiers is not None and probe.has_lost(
            measured, values, plain, self._steps, turns=self.turns
        )
        return self._recomputed()(dtype, values, plain, None, result) if lost else plain

    def _without_limits(
        self, values: Sequence[Any], plain: Sequence[Any], found: Sequence[Any]
    ) -> list[Any]:
        """Results of which those that are undefined as formulas, so that limits were `found`, are by the
        definition, where that is something else."""
        from symdiff.interpret.special_points import ALIKE

        assert self.points is not None
        with unproven():
            defined, _ = self.points(values, plain)
        result = []
        for p, limit, d in zip(plain, found, defined, strict=True):
            a, b = np.asarray(limit), np.asarray(d)
            with np.errstate(all="ignore"):
                differs = np.isnan(p) & (abs(a - b) > ALIKE * (abs(a) + abs(b)))
            chosen = np.where(differs, b, a) if differs.any() else limit
            result.append(chosen if isinstance(limit, np.ndarray) else type(limit)(chosen))
        return result

    def _is_apart(self, values: Sequence[Any], results: Sequence[Any]) -> bool:
        """Whether results are those of points beside: at a guarded point, or where slopes at ties
        may be in them."""
        if self.points is None:
            return False
        return bool(self.points.held(values)) or (self.points.ties and any(map(has_nan, results)))

    def plainly(
        self, args: Sequence[Any], out: Sequence[Array | None] | None = None
    ) -> list[Any] | None:
        """The outputs for arguments that need no conversion; None for others."""
        if not self._plain(args):
            return None
        if out is not None and len(out) != len(self.program.outputs):
            return None
        return self._run("float64", args, out, FLOAT64)

    def _plain(self, args: Sequence[Any]) -> bool:
        """Whether all arguments are Python floats and arrays of doubles, where they
        should be; then nothing need be converted."""
        if len(args) != len(self._ranks) or self.dtype == "float32":
            return False
        for a, rank in zip(args, self._ranks, strict=True):
            if type(a) is float:
                if rank != 0:
                    return False
            elif type(a) is not np.ndarray or a.dtype is not FLOAT64 or a.ndim != rank or not rank:
                return False
        return True


class Measured(LoopKernel):
    """A program without tiers whose code is run with other directions of rounding all the same."""

    @property
    def is_probed(self) -> bool:
        return True

    def _fingerprint(self) -> Any:
        return "measured", fingerprint(self.program)


__all__ = ["ComputationError", "ElementError", "LoopKernel"]
