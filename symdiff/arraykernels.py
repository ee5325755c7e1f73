"""Kernels of functions with arrays and loops: one for each set of static values and
numbers of dimensions, whatever the sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from symdiff.derivation import Source
from symdiff.errors import SymdiffError
from symdiff.frontend import Shapes
from symdiff.options import Options
from symdiff.program import flatten_like, map_objects, map_tree
from symdiff.runtime.threads import processors
from symdiff.structure import Structured

if TYPE_CHECKING:
    from symdiff.blocks.sparse import Entries
    from symdiff.runtime.structured import StructuredKernel


class ArrayKernels:
    """The compiled programs of one callable."""

    def __init__(self, source: Source, options: Options) -> None:
        self._source, self._options = source, options
        self._kernels: dict[int, tuple[Structured, StructuredKernel]] = {}
        self._sparse: dict[int, tuple[StructuredKernel, tuple[Entries, ...]]] = {}

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
            program = self._source.final(static, shapes)
            found = self._kernels[id(raw)] = program, self._kernel(program)
        return found

    def _kernel(self, program: Structured) -> StructuredKernel:
        from symdiff.runtime.structured import StructuredKernel

        o = self._options
        return StructuredKernel(program, dtype=o.dtype, parallel=o.parallel, cache=o.cache)

    def map(
        self,
        raw: Structured,
        values: Sequence[Any],
        mapped: Sequence[bool],
        static: Mapping[str, Any],
        shapes: Shapes,
    ) -> Any:
        """Results for each row of the mapped values, stacked along a leading axis."""
        program, kernel = self.compiled(raw, static, shapes)
        sizes = {len(v) for v, m in zip(values, mapped, strict=True) if m}
        if len(sizes) != 1:
            raise SymdiffError(f"the leading axes that map() runs over have sizes {sorted(sizes)}")
        count = sizes.pop()
        if count == 0:
            raise SymdiffError("map() over an axis of size 0", hint="there is no result to stack")

        def row(k: int) -> Sequence[Any]:
            return kernel([v[k] if m else v for v, m in zip(values, mapped, strict=True)])

        first = row(0)
        stacked = [np.empty((count, *np.shape(v)), np.asarray(v).dtype) for v in first]

        def fill(start: int, stop: int) -> None:
            for k in range(start, stop):
                for place, v in zip(stacked, first if k == 0 else row(k), strict=True):
                    place[k] = v

        workers = 1 if self._options.parallel is False else min(processors(), count)
        ends = [count * w // workers for w in range(workers + 1)]
        if workers == 1:
            fill(0, count)
        else:
            with ThreadPoolExecutor(workers) as pool:
                list(pool.map(fill, ends[:-1], ends[1:]))
        return _nested(program.tree, stacked)

    def llvm(self, program: Structured) -> str:
        """The LLVM IR of a program."""
        return str(self._kernel(program).llvm())

    def sparse(self, raw: Structured, values: Sequence[Any], wrt: Sequence[str]) -> Any:
        """The Jacobian as SciPy CSR matrices: a row for each element of an output, a
        column for each element of a parameter; nested as the Jacobian is."""
        kernel, entries = self._sparse_kernel(raw, wrt)
        results = kernel(values)
        sizes = {p.name: np.size(v) for p, v in zip(raw.params, values, strict=True)}
        made: dict[int, list[Any]] = {}
        for e in entries:
            made.setdefault(e.output, []).append(_matrix(e, results, sizes[e.parameter]))
        one = len(made[0]) == 1 if made else True
        return map_objects(lambda k: made[k][0] if one else tuple(made[k]), raw.tree)

    def _sparse_kernel(
        self, raw: Structured, wrt: Sequence[str]
    ) -> tuple[StructuredKernel, tuple[Entries, ...]]:
        found = self._sparse.get(id(raw))
        if found is None:
            from symdiff.blocks.derive import final, value
            from symdiff.blocks.sparse import sparse_jacobian

            real = {p.name for p in raw.params if p.type.kind == "f"}
            program, entries = sparse_jacobian(raw, [n for n in wrt if n in real])
            found = self._sparse[id(raw)] = self._kernel(final(value(program))), entries
        return found


def _nested(tree: Any, stacked: Sequence[Any]) -> Any:
    """Stacked results nested as a tree; the axis of rows stays the first."""
    if isinstance(tree, np.ndarray):
        parts = np.stack([stacked[int(i)] for i in tree.ravel()], axis=1)
        return parts.reshape(len(parts), *tree.shape, *parts.shape[2:])
    if isinstance(tree, (tuple, list)):
        return type(tree)(_nested(t, stacked) for t in tree)
    if isinstance(tree, dict):
        return {k: _nested(t, stacked) for k, t in tree.items()}
    return stacked[int(tree)]


def _matrix(e: Entries, results: Sequence[Any], columns: int) -> Any:
    """The entries of one output by one parameter as a CSR matrix."""
    try:
        from scipy.sparse import csr_array
    except ImportError:
        raise SymdiffError("sparse matrices are SciPy's", hint="pip install scipy") from None
    at = [np.ravel(results[k]) for k, _ in e.pairs]
    slopes = [np.ravel(results[k]) for _, k in e.pairs]
    rows = np.tile(np.arange(at[0].size), len(at))
    entries = (np.concatenate(slopes), (rows, np.concatenate(at).astype(np.int64)))
    if not columns:
        return csr_array((at[0].size, 0))
    return csr_array(entries, shape=(at[0].size, columns))
