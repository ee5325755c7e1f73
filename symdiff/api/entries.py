"""Which compiled entries serve the calls of a function, once calls of their kind were made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from symdiff.api import whole_arguments
from symdiff.codegen.llvm.entry.dispatch import MOST
from symdiff.frontend import Shapes
from symdiff.ir.loop_program import LoopProgram
from symdiff.ir.program import OptimizedProgram, Program
from symdiff.pipeline.kernels.scalar import nested, placed
from symdiff.runtime.scalar.fallback import Tiered
from symdiff.runtime.scalar.kernel import Kernel

Function = Any
"""A `SymbolicFunction`, which imports this."""

_FAST = {np.dtype(name): name for name in ("float64", "float32")}
"""Arrays that compiled entries take."""
Kind = str | tuple[str, int, int, int, bool]
"""What a compiled entry serves: numbers, floats, a program with arrays, or arrays of a dtype and
number of dimensions as those arguments that the bits tell, but for one number of elements, with
numbers that may be integers or not."""
MOST_INPUTS = 60
"""Arguments of calls with arrays that go straight to a compiled entry."""


def note(
    f: Function, raw: Program, real: Sequence[Any], static: Mapping[str, Any], shapes: Shapes,
    optimized: OptimizedProgram, kernel: Tiered,
) -> None:  # fmt: skip
    """After a call: more of its kind may go straight to a compiled entry, if compiling
    pays."""
    if not may_be_used(f) or f._emitted.get(id(raw)) != (optimized, kernel):
        return
    if raw.kinds and not f._source.path:
        return  # which entries do not know of
    if not f._source.has_one_kernel(static, shapes):
        return
    given = [type(a) is np.ndarray for a in real]
    whole = whole_arguments.always_floats(f, real, static)
    if not any(given):
        if kernel.pays and all(isinstance(v, (float, int)) for v in real):
            _use(f, "numbers" if whole else "floats", optimized, kernel.kernel)
        return
    dtypes = {a.dtype for a in real if type(a) is np.ndarray}
    ranks = {a.ndim for a in real if type(a) is np.ndarray}
    if len(dtypes) > 1 or len(ranks) > 1 or len(real) > MOST_INPUTS:
        return
    if (dtype := _FAST.get(dtypes.pop())) is not None and (rank := ranks.pop()):
        if dtype == "float64" or not kernel.kernel.wide:
            which = sum(1 << k for k, is_array in enumerate(given) if is_array)
            never = 1 if f._source.stretches(static, shapes).single else -1
            _use(f, (dtype, rank, which, never, not whole), optimized, kernel.kernel)


def may_be_used(f: Function) -> bool:
    """Whether calls with Python floats may go straight to a compiled entry."""
    always = f._options.accuracy == "certified" or f._options.target == "cuda"
    return not (f._source.parameters.static or f._options.dtype or always)


def _use(f: Function, kind: Kind, optimized: OptimizedProgram, kernel: Kernel) -> None:
    """Calls with "numbers", or with small arrays of a kind, go straight to the compiled
    entry, once there was one."""
    if kind in f._fast or len(f._fast) >= MOST:
        return
    tree, count = optimized.tree, len(optimized.outputs)
    if isinstance(kind, str):
        flat = kernel.fast if kind == "numbers" else kernel.fast_floats
        f._open(kind, nested(flat, tree, count))
        return
    flat = kernel.fast_arrays(*kind)
    entry = nested(flat, tree, count)
    f._open(kind, entry._replace(placed=placed(flat, optimized)))


def use_for_program(f: Function, raw: LoopProgram, whole: bool) -> None:
    """Calls of a program with arrays or loops as well, once there was one with doubles; with
    integers for numbers too, if `whole`."""
    whole = whole or all(p.type.shape for p in raw.params)
    kind = f"program {id(raw)} {whole}"
    if kind in f._fast or len(f._fast) >= MOST:
        return
    f._open(kind, f._arrays.entry(raw, whole))
