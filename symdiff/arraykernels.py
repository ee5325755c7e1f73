"""Kernels of functions with arrays and loops: one for each set of static values and
numbers of dimensions, whatever the sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from symdiff.derivation import Source
from symdiff.frontend import Shapes
from symdiff.options import Options
from symdiff.program import flatten_like, map_tree
from symdiff.structure import Structured

if TYPE_CHECKING:
    from symdiff.runtime.structured import StructuredKernel


class ArrayKernels:
    """The compiled programs of one callable."""

    def __init__(self, source: Source, options: Options) -> None:
        self._source, self._options = source, options
        self._kernels: dict[int, tuple[Structured, StructuredKernel]] = {}

    def __call__(
        self,
        raw: Structured,
        values: Sequence[Any],
        static: Mapping[str, Any],
        shapes: Shapes,
        out: Any,
    ) -> Any:
        """Call the kernel of a captured program on one value per real parameter."""
        program, kernel = self.compiled(raw, static, shapes)
        if out is None:
            return map_tree(kernel(values).__getitem__, program.tree)
        kernel(values, flatten_like(program.tree, out, len(program.outputs), "out"))
        return out

    def compiled(
        self, raw: Structured, static: Mapping[str, Any], shapes: Shapes | None
    ) -> tuple[Structured, StructuredKernel]:
        """The program of a captured one that is emitted, and its kernel."""
        found = self._kernels.get(id(raw))
        if found is None:
            from symdiff.runtime.structured import StructuredKernel

            program = self._source.final(static, shapes)
            o = self._options
            kernel = StructuredKernel(program, dtype=o.dtype, parallel=o.parallel, cache=o.cache)
            found = self._kernels[id(raw)] = program, kernel
        return found
