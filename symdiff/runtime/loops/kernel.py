"""`LoopKernel`: outputs of a program with arrays and loops, compiled when first called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from symdiff.codegen.llvm import jit
from symdiff.codegen.llvm.loops.kernel import layout_of, lowered, print_kernel
from symdiff.codegen.llvm.printer import Lanes
from symdiff.errors import Location
from symdiff.ir import Expr, encode, topological
from symdiff.ir.functions import BUILTIN
from symdiff.ir.loop_program import LoopProgram, expressions, walk
from symdiff.lowering.target import UNDERFLOWS
from symdiff.process.locks import Lock
from symdiff.runtime import cache
from symdiff.runtime.loops.arguments import FLOAT32, FLOAT64, given
from symdiff.runtime.loops.call import (
    Code,
    ComputationError,
    ElementError,
    InaccurateError,
    NotAtOnceError,
    WideIntegerError,
)
from symdiff.runtime.protocols import LoopFunction, ProgramWithTests
from symdiff.runtime.scalar import compiled, elementwise
from symdiff.runtime.scalar.elementwise import ArgumentError, Array

if TYPE_CHECKING:
    from symdiff.runtime.loops.beside_guards import BesideGuards
    from symdiff.runtime.loops.recomputed import Recomputed
    from symdiff.runtime.loops.ties import Sides

ALL = 2
"""Tests for all that the processor's flags tell."""
NEXT, FIRST, HABIT = range(3)
"""Which kernel: that with estimates, the one that is called before it, and the one that is called before both
where estimates were of no use."""
LOSSES, TURNS = 3, 64
"""Calls in a row that were computed again with their rounding errors, after which calls begin with those; but one
of so many, and as many after one in which that was not enough."""


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
    sides : what computes results in which a slope at a tie shows, which is nan here.
    guards : what computes results at points that the program treats apart.
    """

    library = True  # whether corrected programs may call routines of which only this package knows

    def __init__(
        self,
        program: LoopProgram,
        dtype: Any = None,
        parallel: bool | str = "auto",
        cache: bool = True,
        accuracy: str = "high",
        tiers: LoopFunction | None = None,
        sides: Sides | None = None,
        guards: BesideGuards | None = None,
    ) -> None:
        self.program, self.parallel, self.tiers = program, parallel, tiers
        self.sides, self.guards = sides, guards
        self.cache, self.accuracy = cache, accuracy
        self.dtype = None if dtype is None else np.dtype(dtype).name
        self.layout = layout_of(program)
        self._compiled: dict[tuple[str, int, int], Code] = {}
        self._tested: dict[tuple[str, int, int], ProgramWithTests] = {}
        self._again: Recomputed | None = None
        self._losses = self._turn = 0
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
            self.sides, self.guards,
        )  # fmt: skip

    def llvm(self) -> str:
        """The LLVM IR of the kernel, without SIMD."""
        return print_kernel(self.program, self.dtype or "float64", Lanes(), self.accuracy)

    def assembly(self, dtype: str = "float64") -> str:
        """The assembly of the kernel, for people and tests."""
        return jit.assembly(self._text(dtype, 0 if jit.has_flags() else ALL), tidy=True)

    def tested(self, dtype: str, tests: int, first: int = NEXT) -> ProgramWithTests:
        """The program with its error tests, for a dtype and tests as of `with_error_tests`; if it is the first to be
        called, or is called before that, with its corrections where that has a use."""
        assert self.tiers is not None
        key = dtype, tests, first
        with self._lock:
            if key not in self._tested:
                made = self.tiers.at_once(dtype, tests) if first == FIRST else None
                if first == HABIT:
                    made = self.tiers.with_errors(dtype, tests=tests)
                    made = made or self._tested.get((dtype, tests, NEXT))
                self._tested[key] = made or self.tiers.double(dtype, tests, True)
            return self._tested[key]

    def _text(self, dtype: str, tests: int = 0, first: int = NEXT) -> str:
        lanes = compiled.registers(dtype, self.accuracy == "strict")
        kinds = [t.kind for t in self.layout.outputs]
        if self.tiers is None:
            return print_kernel(self.program, dtype, lanes, self.accuracy, kinds=kinds)
        s = self.tested(dtype, tests, first)
        return print_kernel(
            s.program,
            dtype,
            lanes,
            self.accuracy,
            len(s.references),
            s.flags,
            bool(s.corrected),
            s.corrected,
            kinds,
        )

    def code(self, dtype: str, tests: int = 0, first: int = NEXT) -> Code:
        """The compiled kernel of one dtype, with tests as of `with_error_tests`: what is not tested
        for, the processor's flags tell, if it has any. `first`: whether it is the first to be called."""
        tests = tests if jit.has_flags() else ALL
        which = dtype, tests, first
        found = self._compiled.get(which)
        if found is None:
            with self._lock:
                found = self._compiled.get(which)
                if found is None:
                    lanes = compiled.registers(dtype, self.accuracy == "strict")
                    library = sorted(lanes.library)
                    how = (*which, self.accuracy, lanes.isa, lanes.width, library)
                    key = cache.key("loops", self._fingerprint(), how, jit.host())
                    linked = compiled.link(key, lambda: self._text(*which), self.cache, tidy=True)
                    found = self._compiled[which] = Code(self, linked, *which)
                    before = self._compiled.get((dtype, tests, FIRST))
                    if first == NEXT and before is not None:
                        before.join(found)
        return found

    def first_code(self, dtype: str) -> Code | None:
        """The code of the program with its corrections that calls begin with, if it was compiled."""
        found = self._compiled.get((dtype, 0, FIRST))
        return found if found is not None and found.at_once else None

    def is_compiled(self, dtype: str) -> bool:
        """Whether there is code for a dtype already."""
        return any(d == dtype for d, *_ in list(self._compiled))

    def _fingerprint(self) -> Any:
        own = fingerprint(self.program)
        if self.tiers is None:
            return own
        about = self.tiers.by_rows, self.tiers.of_numbers, self.tiers.norm
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
        return self._run(compute.name, values, out, result)

    def _run(
        self, dtype: str, values: Sequence[Any], out: Sequence[Array | None] | None, result: Any
    ) -> list[Any]:
        """Call the kernel; where integers do not fit, compute with Python's, and where a result
        lost digits, more accurately."""
        losses, self._losses = self._losses, min(self._losses, 0)
        try:
            if losses >= LOSSES:
                self._losses = losses
                found = self._with_errors(dtype, values, out, result)
                if found is not None:
                    return found
            try:
                code = self.code(dtype, first=FIRST)
                if code.larger is not None and _count(values) > code.most:
                    return code.larger.run(values, out, result)
                return code.run(values, out, result)
            except NotAtOnceError as error:
                if error.results is not None and self._is_apart(values, error.results):
                    return self._more_accurately(dtype, values, error.results, out, result)
                from symdiff.runtime.loops.recomputed import agree_all, filled

                results = self.code(dtype).run(values, out, result)
                if error.results is None:
                    return results
                if agree_all(results, list(map(filled, error.results, results)), strict=True):
                    return results
                return self._more_accurately(dtype, values, results, out, result)
        except WideIntegerError as error:
            from symdiff.runtime.loops.exact_integers import exactly

            return exactly(self.program, values, out, np.dtype(result), error)
        except InaccurateError as error:
            found = self._more_accurately(dtype, values, error.results, out, result)
            if self._again is not None and self._again.was_corrected:
                self._losses = losses + 1
            return found

    def _with_errors(
        self, dtype: str, values: Sequence[Any], out: Any, result: Any
    ) -> list[Any] | None:
        """The outputs with their rounding errors, as the calls before this one had them in the end; None where
        they are not accurate, and in one of `TURNS` calls, which sees whether that is still so."""
        self._turn += 1
        if self._turn % TURNS == 0 or self.tiers is None:
            self._losses = 0
            return None
        if not self.tested(dtype, 0, HABIT).corrected:
            self._losses = -(2**62)
            return None
        try:
            return self.code(dtype, first=HABIT).run(values, out, result)
        except NotAtOnceError:
            self._losses = -TURNS
            return None

    def _more_accurately(
        self, dtype: str, values: Sequence[Any], plain: Sequence[Any], out: Any, result: Any
    ) -> list[Any]:
        if self._is_apart(values, plain):
            if self.guards is not None and self.guards.held(values):
                return self.guards(values, out)
            assert self.sides is not None
            return self.sides(values, plain, out)
        if self._again is None:
            from symdiff.runtime.loops.recomputed import Recomputed

            self._again = Recomputed(self, self._wide)
        return self._again(dtype, values, plain, out, result)

    def _is_apart(self, values: Sequence[Any], results: Sequence[Any]) -> bool:
        """Whether results are those of points beside: at a guarded point, or where slopes at ties
        may be in them."""
        if self.guards is not None and self.guards.held(values):
            return True
        return self.sides is not None and any(np.isnan(v).any() for v in results)

    def _wide(self, program: LoopProgram, watched: Any = None) -> WideLoopKernel:
        return WideLoopKernel(program, self.parallel, self.cache, watched)

    def plainly(
        self, args: Sequence[Any], out: Sequence[Array | None] | None = None
    ) -> list[Any] | None:
        """The outputs for arguments of which none need be converted; None for others."""
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


def _count(values: Sequence[Any]) -> int:
    """How many numbers are in arrays."""
    return sum(v.size for v in values if isinstance(v, np.ndarray))


class WideLoopKernel(LoopKernel):
    """A program whose operations are those of processors (`passes.accuracy.whole_program`,
    `passes.accuracy.corrected_program`).

    Parameters
    ----------
    watched : makes the program that is called where something underflowed, if that counts.
    """

    def __init__(
        self, program: LoopProgram, parallel: bool | str = "auto", cache: bool = True,
        watched: Callable[[], LoopProgram | None] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(program, parallel=parallel, cache=cache)
        self.watched = watched

    def _text(self, dtype: str, tests: int = 0, first: int = NEXT) -> str:
        lanes, program = compiled.registers(dtype), self.program
        if self.watched is None:
            return print_kernel(program, dtype, lanes, wide=True)
        if not tests:
            return print_kernel(program, dtype, lanes, flags=UNDERFLOWS, wide=True)
        return print_kernel(self.watched() or program, dtype, lanes, wide=True)

    def _run(
        self, dtype: str, values: Sequence[Any], out: Sequence[Array | None] | None, result: Any
    ) -> list[Any]:
        return self.code("float64").run(values, out, result)

    def _fingerprint(self) -> Any:
        return "wide", fingerprint(self.program), self.watched is not None


def again(
    found: Sequence[Any], bad: Any, args: Sequence[Any], mapped: Sequence[bool], kernel: Any
) -> None:
    """Compute some rows of results again, by a kernel of rows."""
    if not bad.size:
        return
    rows = [v[bad] if m else v for v, m in zip(args, mapped, strict=True)]
    finite = np.ones(bad.size, bool)
    for v in (v for v, m in zip(rows, mapped, strict=True) if m):
        finite &= np.isfinite(v.reshape(bad.size, -1)).all(axis=1)
    for some in (finite, ~finite):  # nothing is computed again of calls with what is not finite
        if some.any():
            given = [v[some] if m else v for v, m in zip(rows, mapped, strict=True)]
            for place, v in zip(found, kernel(given), strict=True):
                place[bad[some]] = v


class RowsAtOnce(WideLoopKernel):
    """The rows of a kernel's program computed with their rounding errors, and which of them are not accurate.

    Parameters
    ----------
    program : of `LoopFunction.rows_at_once`, without tests.
    kernel : the kernel for the others, which has the tiers.
    """

    def __init__(self, program: LoopProgram, kernel: LoopKernel) -> None:
        assert kernel.tiers is not None
        watched = partial(kernel.tiers.rows_at_once, True)
        super().__init__(program, False, kernel.cache, watched)
        self.others = kernel

    def rows(self, args: Sequence[Any], mapped: Sequence[bool], out: Any) -> list[Any]:
        """The outputs for rows of the mapped arguments; in `out` if it is given, an array for each."""
        if any(isinstance(v, np.ndarray) and v.dtype.char in "fe" for v in args):
            return self.others(args, out)
        *found, wrong = self(args, None if out is None else [*out, None])
        again(found, np.flatnonzero(wrong), args, mapped, self.others)
        return found


# ---------------------------------------------------------------------- caching
def fingerprint(program: LoopProgram) -> tuple[Any, ...]:
    """All about a program that its code depends on."""
    own = (e for s in walk(program.block) for e in topological(expressions(s)))
    if any(e.op.expand is not None and e.op not in BUILTIN for e in own):
        program = lowered(program)  # the formula of a user's own function counts
    roots: list[Expr] = []

    def flat(value: Any) -> Any:
        if isinstance(value, Expr):
            roots.append(value)
            return None
        if isinstance(value, tuple):
            return tuple(map(flat, value))
        if is_dataclass(value) and not isinstance(value, Location):
            return type(value).__name__, *(
                flat(getattr(value, f.name)) for f in fields(value) if f.compare
            )
        return value

    shape = flat((program.params, program.block, program.outputs))
    data = tuple((n, a.shape, a.dtype.str) for n, a in program.data.items())
    return shape, encode(roots), data


__all__ = ["ComputationError", "ElementError", "LoopKernel", "fingerprint"]
