"""Kernels that Numba compiles of generated source: `engine="numba"`.

They are called as the kernels of our own printer of LLVM IR are: the first tier is that of generated modules, and
those after it are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from symdiff.codegen.source.helpers_of_loops import HELPERS
from symdiff.codegen.source.loops import loop_source
from symdiff.codegen.source.modules.helpers import FUSED
from symdiff.codegen.source.modules.scalar import Function, module_source
from symdiff.codegen.source.modules.scalar import Kernel as ModuleKernel
from symdiff.codegen.source.python import IMPORTS
from symdiff.errors import TargetError, optional
from symdiff.ir import Expr
from symdiff.ir.loop_program import ARRAY, Check, LoopProgram, kind_of, walk
from symdiff.ir.program import OptimizedProgram
from symdiff.pipeline.by_definition import ByDefinition
from symdiff.pipeline.lowered.modules import checked
from symdiff.pipeline.options import Options
from symdiff.runtime.generated_modules import loaded
from symdiff.runtime.loops.arguments import put
from symdiff.runtime.loops.call import ERRORS, ComputationError
from symdiff.runtime.loops.kernel import LoopKernel
from symdiff.runtime.scalar import elementwise
from symdiff.runtime.scalar.elementwise import Array, ShapeError
from symdiff.runtime.scalar.kernel import Kernel, Result
from symdiff.version import __version__

TINY = 2.0**-250
"""Squares and cubes of numbers below this may underflow."""
NAME = "computed"
"""What functions of generated modules are called."""


class GeneratedKernel(Kernel):
    """Real outputs of real parameters, by a generated module."""

    def __init__(
        self,
        function: Any,
        optimized: OptimizedProgram,
        options: Options,
        demands: Sequence[Expr],
        by_definition: ByDefinition | None,
    ) -> None:
        super().__init__(
            function, dtype=options.dtype, accuracy=options.accuracy, cache=options.cache
        )
        self.optimized, self.demanded, self.by_definition = optimized, tuple(demands), by_definition

    @cached_property
    def module(self) -> Any:
        """The module of the dtype that it is to compute in, or of doubles."""
        real = np.dtype(self.dtype or np.float64).name
        optimized = self.optimized
        stage = checked(optimized, real, self.accuracy, self.demanded, self.by_definition)
        every = tuple(range(len(optimized.outputs)))
        text = module_source(
            NAME, optimized.params, [ModuleKernel("", (stage,))],
            [Function("", 0, every, every, "The outputs.")],
            facts={}, version=__version__, dtype=real,
            demands=[(c, f"demand {k}") for k, c in enumerate(self.demanded)],
        )  # fmt: skip
        return loaded(text, self.cache)

    def evaluate(self, args: Sequence[Any], out: Sequence[Array | None] | None = None) -> Result:
        """The outputs, as `Kernel.evaluate` has them."""
        elementwise.check_counts(self.name, args, len(self.params), out, len(self.outputs))
        values = [elementwise.prepare(n, a) for n, a in zip(self.params, args, strict=True)]
        places = [None] * len(self.outputs) if out is None else list(out)
        shape = elementwise.broadcast(values)
        result = elementwise.result_dtype(values, self.dtype)
        for place in places:
            if place is not None:
                elementwise.check_out(place, shape, result)
        numbers = all(isinstance(v, float) for v in values)
        found, flagged = self._first(values, shape, result)
        made = [f.reshape(shape) if shape else result.type(f[0]) for f in found]
        if numbers:
            made = [float(f[0]) for f in found]
        count = int(np.count_nonzero(flagged))
        kept = flagged.view(np.uint8).reshape(shape) if count and shape else None
        return Result([_put(p, v) for p, v in zip(places, made, strict=True)], count, kept)

    def _first(
        self, values: Sequence[Any], shape: tuple[int, ...], result: np.dtype[Any]
    ) -> tuple[list[Array], Array]:
        """All elements in double arithmetic, and which are flagged."""
        size = int(np.prod(shape))
        work = np.dtype(np.float32 if result.itemsize <= 4 else np.float64)
        flat = [np.ascontiguousarray(np.broadcast_to(v, shape), work).reshape(-1) for v in values]
        out, flagged = np.empty((len(self.outputs), size), work), np.zeros(size, np.bool_)
        with np.errstate(all="ignore"):
            if flat:
                getattr(self.module, f"_{NAME}_loop")(*flat, tuple(out), flagged, ())
            else:
                found, _ = getattr(self.module, f"_{NAME}_kernel")(())
                out[:] = np.array(found)[:, None]
        return [o.astype(result, copy=False) for o in out], flagged

    def llvm(self) -> str:
        raise TargetError("no LLVM IR: the engine is Numba", hint='source("cpu")')

    def inside(self) -> Callable[..., Any]:
        """The public function of the module, which compiled code may call."""
        found: Callable[..., Any] = getattr(self.module, NAME)
        return found


def _put(place: Array | None, value: Any) -> Any:
    if place is None:
        return value
    np.copyto(place, value, casting="same_kind")
    return place


# ------------------------------------------------------------------- arrays and loops
MOST_LINES = 3000
"""Of a kernel; at 4,800 Numba takes more than ten minutes, and more than ten gigabytes."""


class _Code:
    """A program with arrays and loops that Numba compiles in double precision."""

    def __init__(self, program: LoopProgram, keep: bool) -> None:
        self.program = program
        text, helpers = loop_source(NAME, program)
        if (lines := text.count("\n")) > MOST_LINES:
            raise TargetError(
                f"{program.name} has {lines} lines as a kernel, which Numba takes too long to compile",
                hint='accuracy="fast" has fewer, and the default engine compiles this in seconds',
            )
        parts = [IMPORTS.rstrip("\n")]
        if "_fma(" in text:
            parts[0] += "\nfrom numba.extending import intrinsic"
        parts += [f"{n} = np.array({v.tolist()!r})" for n, v in sorted(program.data.items())]
        parts += [HELPERS[h] for h in helpers]
        parts += [FUSED] if "_fma(" in text else []
        self.function = getattr(loaded("\n\n".join([*parts, text]), keep), NAME)

    def run(
        self,
        values: Sequence[Any],
        out: Sequence[Array | None] | None,
        result: np.dtype[Any],
        **_: Any,
    ) -> list[Any]:
        """The outputs for arguments that have been checked; see `runtime.loops.call.Code`."""
        try:
            with np.errstate(all="ignore"):
                found = self.function(*map(self._given, self.program.params, values))
        except ImportError:
            optional("scipy", "linear algebra that Numba compiles needs SciPy", "scipy")
            raise
        except (IndexError, ValueError, OverflowError) as error:
            raise self._error(error) from None
        outputs = self.program.outputs
        found = found if isinstance(found, tuple) and len(outputs) > 1 else (found,)
        made = [_result(e, v, result) for e, v in zip(outputs, found, strict=True)]
        if out is None:
            return made
        return [v if o is None else put(o, v) for o, v in zip(out, made, strict=True)]

    def _given(self, p: Any, value: Any) -> Any:
        if p.type.shape:
            kind = {"f": np.float64, "b": np.bool_}.get(p.type.kind, np.int64)
            return np.ascontiguousarray(value, kind)
        return float(value) if p.type.kind == "f" else int(value)

    def _error(self, error: Exception) -> Exception:
        """The error of the check that failed."""
        text = str(error)
        for s in walk(self.program.block):
            if isinstance(s, Check) and s.message == text:
                return ERRORS.get(s.error, ComputationError)(s.message, s.location)
        return ShapeError(text) if text.endswith("has another size") else error


def _result(e: Expr, value: Any, result: np.dtype[Any]) -> Any:
    """An output as our own kernels have it."""
    kind = kind_of(e)
    if e.op is ARRAY or isinstance(value, np.ndarray):
        return np.asarray(value).astype(result) if kind == "f" else np.asarray(value)
    if kind != "f":
        return bool(value) if kind == "b" else int(value)
    return float(value) if result == np.float64 else result.type(value)


class GeneratedLoops(LoopKernel):
    """A program with arrays and loops by generated source, computed in double precision."""

    turns = False  # as its loops are not watched

    @cached_property
    def _generated(self) -> _Code:
        return _Code(self.program, self.cache)

    def code(self, dtype: str, tests: int = 0, tested: bool = False) -> Any:
        """The generated function, whatever is asked for."""
        return self._generated

    def _is_special(self, dtype: str, values: Sequence[Any], result: Any) -> bool:
        held = self.points is not None and bool(self.points.held(values))
        return held or super()._is_special(dtype, values, result)

    def _may_have_lost(self, dtype: str, values: Sequence[Any], *results: Any) -> bool:
        return super()._may_have_lost(dtype, values, *results) or any(map(_has_tiny, values))

    def is_compiled(self, dtype: str) -> bool:
        return False  # no entry of machine code

    def plainly(self, args: Sequence[Any], out: Any = None) -> None:
        return None

    def llvm(self) -> str:
        raise TargetError("no LLVM IR: the engine is Numba", hint='source("cpu")')


def _has_tiny(value: Any) -> bool:
    """Whether squares and cubes of elements may underflow, which no rounding error tells."""
    size = np.abs(value)
    return bool(np.any((size < TINY) & (size > 0)))
