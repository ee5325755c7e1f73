"""Kernels of functions with arrays and loops: one for each set of static values and
numbers of dimensions, whatever the sizes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from symdiff.codegen.llvm.entry.sizes import Words
from symdiff.errors import DomainError, SymdiffError, optional
from symdiff.frontend import Shapes
from symdiff.ir import ONE, ZERO, Expr
from symdiff.ir.loop_program import (
    ARRAY,
    INDEX,
    LoopProgram,
    expressions_in,
    kind_of,
    leaves,
    name_of,
)
from symdiff.ir.program import Program, Tree, flatten_like, folded, in_python, map_tree
from symdiff.ir.program import nested as as_lists
from symdiff.pipeline.derivation import Source, Step
from symdiff.pipeline.derived_on_disk import kept_program
from symdiff.pipeline.kernels.scalar import nested
from symdiff.pipeline.options import Options
from symdiff.process.locks import Once
from symdiff.runtime.dispatch import CompiledEntry
from symdiff.runtime.kept_formulas import kept
from symdiff.runtime.loops import rows
from symdiff.runtime.loops.call import ComputationError, ElementError
from symdiff.runtime.scalar import elementwise
from symdiff.runtime.scalar.elementwise import ArgumentError, ShapeError

if TYPE_CHECKING:
    from symdiff.loops.diff.sparse import Entries
    from symdiff.runtime.inside_numba.by_address import ArrayProgram
    from symdiff.runtime.loops.kernel import LoopKernel
    from symdiff.runtime.loops.measured_rows import MeasuredRows
    from symdiff.runtime.loops.transposed import Transposed

T = TypeVar("T")
MOST = 4000
"""Operations of formulas of rows that are computed in vectors over rows."""
KEPT = 16
"""Sizes of rows for which these are kept."""


@dataclass(frozen=True, slots=True)
class _Asking:
    """Makes kernels of conditions, and keeps those that were found for kernels of one level of accuracy."""

    dtype: str | None
    cache: bool
    accuracy: str

    def __call__(self, conditions: LoopProgram) -> Any:
        from symdiff.pipeline import loops as loop_pipeline
        from symdiff.runtime.loops.kernel import LoopKernel

        return LoopKernel(loop_pipeline.final(conditions), self.dtype, False, self.cache, "fast")

    def kept(
        self, kind: str, outputs: Sequence[Expr], compute: Callable[[], Sequence[Expr]]
    ) -> tuple[Expr, ...]:
        """Conditions that are computed from the formulas of a program, from disk if they were before."""
        return kept(f"{kind} {self.accuracy}", outputs, self.cache, compute)


class ArrayKernels:
    """The compiled programs of one callable."""

    def __init__(self, source: Source, options: Options) -> None:
        self._source, self._options = source, options
        self._raws: dict[int, LoopProgram] = {}  # they live as long as their identities count
        self._kernels: dict[int, tuple[LoopProgram, LoopKernel]] = {}
        self._sparse: dict[int, tuple[LoopKernel, tuple[Entries, ...], Tree]] = {}
        self._by_row: dict[Any, tuple[LoopKernel | None, Any, rows.SpecialRows | None]] = {}
        self._of_a_row: dict[int, LoopProgram] = {}

    def __call__(
        self,
        raw: LoopProgram,
        values: Sequence[Any],
        static: Mapping[str, Any],
        shapes: Shapes,
        out: Any,
    ) -> Any:
        """Call the kernel of a captured program on one value per real parameter."""
        if raw.by_rows:
            elementwise.must_lie_by_rows([p.name for p in raw.params], values)
        program, kernel = self.compiled(raw, static, shapes)
        if of_numbers(program) and any(np.ndim(v) for v in values):
            return self._each(raw, program, values, static, shapes, out)
        if out is None:
            return map_tree(self._reals(kernel(values), raw).__getitem__, program.tree)
        kernel(values, flatten_like(program.tree, out, len(program.outputs), "out"))
        return out

    def route(self, raw: LoopProgram) -> Callable[[Sequence[Any], Any], Any] | None:
        """A shorter way to the kernel of a captured program that has been called, for plain
        arguments: it returns NotImplemented for others."""
        found = self._kernels.get(id(raw))
        if found is None or any(n is ONE for p in raw.params for n in p.type.shape):
            return None  # it is for axes that happen to have the size 1
        (program, kernel), stretches = found, bool(raw.stretches.pairs)
        tree = program.tree
        single = isinstance(tree, int)

        def call(args: Sequence[Any], out: Any) -> Any:
            if stretches and any(type(a) is np.ndarray and 1 in a.shape for a in args):
                return NotImplemented
            try:
                if out is not None:
                    places = flatten_like(tree, out, len(program.outputs), "out")
                    return out if kernel.plainly(args, places) is not None else NotImplemented
                values = kernel.plainly(args)
            except (ArgumentError, ShapeError):
                return NotImplemented  # there may be a program for other sizes, or for floats
            except (ComputationError, DomainError, ElementError):
                return NotImplemented  # which says so
            if values is None:
                return NotImplemented
            values = self._reals(values, raw)
            return values[tree] if single else map_tree(values.__getitem__, tree)

        return call

    def _floats(self, found: Sequence[Any], raw: LoopProgram, given: Sequence[Any]) -> list[Any]:
        """Arrays of results for many arguments, those as floats that are made of integers only but are
        floats in Python, as `[1.0, 3.0][int(x)]` and derivatives are."""
        kinds = ["f"] * len(found) if self._source.path else list(raw.kinds)
        if not kinds:
            return list(found)
        real = [v.dtype for v in map(np.asarray, given) if v.dtype.kind == "f"]
        wanted = np.result_type(*real) if real else np.dtype(float)
        return [
            v.astype(wanted) if k == "f" and v.dtype.kind != "f" else v
            for v, k in zip(found, kinds, strict=True)
        ]

    def _reals(self, values: list[Any], raw: LoopProgram) -> list[Any]:
        """The results as Python has them; derivatives are real numbers, also where they are
        known to be whole."""
        if not self._source.path:
            return in_python(values, raw.kinds)
        return [float(v) if type(v) is int else v for v in values]

    def in_doubles(self, raw: LoopProgram) -> bool:
        """Whether a captured program has been called with doubles, in any order of memory."""
        found = self._kernels.get(id(raw))
        return found is not None and not raw.by_rows and found[1].is_compiled("float64")

    def entry(
        self, raw: LoopProgram, integers: bool, served: Mapping[str, Words]
    ) -> CompiledEntry | None:
        """A builtin for plain arguments of a captured program that has been called with doubles,
        and how its results nest; None if there is none. `integers`: whether it takes integers
        as real numbers. `served`: of parameters the classes of sizes that it serves."""
        from symdiff.runtime.loops.entry import entry_of

        found = self._kernels.get(id(raw))
        if found is None or any(n is ONE for p in raw.params for n in p.type.shape):
            return None
        program, kernel = found
        if not self._source.path and as_lists(raw.kinds):
            return None
        wanted = raw.kinds if raw.kinds and not self._source.path else "f" * len(program.outputs)
        if any(
            e.op is not ARRAY and kind_of(e) != kind
            for e, kind in zip(program.outputs, wanted, strict=True)
        ):
            return None
        if any(e.args for pair in raw.stretches.pairs for e in pair):
            return None  # which of those are 1 does not show in the arguments
        meeting = {name_of(e) for p in raw.stretches.pairs for e in leaves(p) if e.op is INDEX}
        repeated = {a for n in meeting for a in raw.stretches.axes.get(n, ())}
        keep = self._options.cache
        if self._options.accuracy == "strict":
            return None  # which begins with rounding errors
        changed = self._changed(raw)
        code = kernel.code("float64")
        entry = entry_of(code, keep, integers, changed, repeated, served)
        return None if entry is None else nested(entry, program.tree, len(program.outputs))

    def for_numba(
        self,
        raw: LoopProgram,
        static: Mapping[str, Any],
        shapes: Shapes,
        function: Callable[..., Any],
    ) -> ArrayProgram:
        """A captured program as code that Numba compiles calls it; `function` is what Python calls."""
        from symdiff.runtime.inside_numba.by_address import ArrayProgram

        program, kernel = self.compiled(raw, static, shapes)
        count, o = len(program.outputs), self._options
        plain = o.accuracy in ("fast", "high")  # others begin with more than plain code
        direct = o.engine != "numba" and plain and o.dtype in (None, "float64")
        kinds = raw.kinds if raw.kinds and not self._source.path else "f" * count
        direct = direct and not (raw.changes and self._source.captures.arrays())
        changed = self._changed(raw)
        return ArrayProgram(raw, kernel, kinds, function, direct, of_numbers(program), changed)

    def _changed(self, raw: LoopProgram) -> list[int]:
        """The places of the arguments that a captured program changes."""
        return [k for k, p in enumerate(raw.params) if p.name in raw.changes]

    def compiled(
        self, raw: LoopProgram, static: Mapping[str, Any], shapes: Shapes | None
    ) -> tuple[LoopProgram, LoopKernel]:
        """The program of a captured one that is emitted, and its kernel."""
        found = self._kernels.get(id(raw))
        if found is not None:
            return found

        def make() -> tuple[LoopProgram, LoopKernel]:
            program = self._source.shown(static, shapes)
            kernel = self._kernel(program, of_numbers=_gives_numbers(raw), captured=raw)
            return kernel.program, kernel

        return self._made_once(self._kernels, raw, make)

    def _made_once(self, made: dict[int, T], raw: LoopProgram, make: Callable[[], T]) -> T:
        """What is derived from a captured program, by the first thread that needs it."""
        if id(raw) not in made:
            with self._once(raw):
                if id(raw) not in made:
                    made[id(raw)] = make()
        return made[id(raw)]

    def _once(self, raw: LoopProgram) -> Once:
        """What is held while a kernel of a captured program is made."""
        self._raws[id(raw)] = raw
        return self._source.once

    def _kernel(
        self,
        program: LoopProgram,
        parallel: bool | str | None = None,
        captured: LoopProgram | None = None,
        **about: bool,
    ) -> LoopKernel:
        """The kernel of a program whose completed operations are not written out; `about` as
        `LoweredProgram` has it. `captured`: what it is derived from, if it may find sides of kinks."""
        from symdiff.frontend.trace.recorder import ROOM
        from symdiff.loops.simplify.guarded_points import (
            GuardedPoints,
            bounded,
            guarded_points,
            met,
            places,
            told,
        )
        from symdiff.loops.simplify.undefined_ties import with_undefined_ties
        from symdiff.pipeline import loops as loop_pipeline
        from symdiff.pipeline.lowered.loops import LoweredProgram
        from symdiff.runtime.loops.by_definition import Points
        from symdiff.runtime.loops.kernel import LoopKernel

        o = self._options
        if captured is not None and o.engine == "llvm":
            o = o.with_own_errors((*expressions_in(captured.block), *captured.outputs))
        threaded = o.parallel if parallel is None else parallel

        def arguments(program: LoopProgram) -> tuple[Any, ...]:
            tiers = None
            rough = (
                o.accuracy == "high" and program.room > ROOM
            )  # whose digits are not worth probing
            if o.accuracy != "fast" and not rough:
                tiers = LoweredProgram(program, o.accuracy, keep=o.cache, **about)
            final = kept_program("final", program, o.cache, lambda: loop_pipeline.final(program))
            return final, o.dtype, threaded, o.cache, o.accuracy, tiers

        made_by: type[LoopKernel] = LoopKernel
        if o.engine == "numba":
            from symdiff.pipeline.kernels.generated import GeneratedLoops

            made_by = GeneratedLoops
        path = self._source.path
        by = {n for _, names in path for n in names}

        if captured is None or not path:
            return made_by(*arguments(program))
        ties = o.accuracy != "fast" and _is_second(path)
        undefined = with_undefined_ties(program, captured) if ties else program
        ties = undefined is not program
        found = GuardedPoints()
        written_there = guarded_points(captured, captured, by)
        if any(written_there):
            found = guarded_points(program, loop_pipeline.value(captured), by)
        asks = (
            _Asking(o.dtype, o.cache, o.accuracy)
            if made_by is LoopKernel and o.accuracy != "fast"
            else None
        )
        others = made_by(*arguments(undefined))
        if o.accuracy != "fast":
            others.points = Points(captured, path, ties=ties, compiled=asks)
        if not any(found):
            return others
        tells = o.engine != "numba"  # whose kernels ask before they compute
        made = made_by(*arguments(told(undefined, found) if tells else undefined))
        conditions = loop_pipeline.final(bounded(met(program, found)))
        asked = made_by(conditions, o.dtype, False, o.cache, "fast")
        written = made_by(*arguments(program))
        general = others if found.exits else None
        stand = places(captured, found)
        first = next(filter(None, map(captured.locations.get, written_there.exits)), None)
        made.points = Points(captured, path, asked, stand, written, ties, asks, general, first)
        return made

    def map(
        self,
        raw: LoopProgram,
        values: Sequence[Any],
        mapped: Sequence[bool],
        static: Mapping[str, Any],
        shapes: Shapes,
    ) -> Any:
        """Results for each row of the mapped values, stacked along a leading axis."""
        count = rows.leading(values, mapped)
        if count == 0:
            raise SymdiffError("map() over an axis of size 0", hint="there is no result to stack")
        tree, compute = self._by_rows(raw, values, mapped, static, shapes)
        found = rows.stacked(compute, count, self._options.parallel)
        return rows.nested(tree, self._floats(found, raw, values))

    def _each(
        self,
        raw: LoopProgram,
        program: LoopProgram,
        values: Sequence[Any],
        static: Mapping[str, Any],
        shapes: Shapes,
        out: Any,
    ) -> Any:
        """Results for each element of the arguments of a function of numbers, as a ufunc."""
        given = [
            elementwise.prepare(p.name, v) for p, v in zip(program.params, values, strict=True)
        ]
        shape = elementwise.broadcast(given)
        mapped = [bool(np.shape(v)) for v in given]
        flat = [
            np.broadcast_to(v, shape).reshape(-1) if m else v
            for m, v in zip(mapped, given, strict=True)
        ]
        tree, compute = self._by_rows(raw, flat, mapped, static, shapes)
        count = math.prod(shape)
        if count:
            found = rows.stacked(compute, count, self._options.parallel)
        else:
            found = [np.asarray(v) for v in compute(0, 0, None)]
        found = self._floats([v.reshape(shape) for v in found], raw, given)
        if out is None:
            found = found if self._source.path else in_python(found, raw.kinds)
            return map_tree(found.__getitem__, tree)
        for place, v in zip(flatten_like(tree, out, len(found), "out"), found, strict=True):
            if place is not None:
                elementwise.check_out(place, shape, v.dtype)
                np.copyto(place, v, casting="same_kind")
        return out

    def _by_rows(
        self,
        raw: LoopProgram,
        values: Sequence[Any],
        mapped: Sequence[bool],
        static: Mapping[str, Any],
        shapes: Shapes,
    ) -> tuple[Tree, rows.Compute]:
        """How results nest, and what computes those of rows."""
        sizes = tuple(np.shape(v)[m:] for v, m in zip(values, mapped, strict=True))
        key = id(raw), tuple(mapped), sizes
        with self._once(raw):
            if key not in self._by_row:
                kernels = {k[:2]: before for k, before in self._by_row.items()}
                if key[:2] in kernels:
                    made, _, special = kernels[key[:2]]
                else:
                    program = self._source.rows(static, shapes, mapped)
                    made = None if program is None else self._kernel(program, False, by_rows=True)
                    special = None if made is None else self._special(raw, mapped, static, shapes)
                if len(self._by_row) >= KEPT:
                    self._by_row.clear()
                self._by_row[key] = made, self._first(raw, made, static, shapes, sizes), special
            kernel, first, special = self._by_row[key]
        if kernel is not None:
            return kernel.program.tree, rows.of_kernel(kernel, values, mapped, first, special)
        single, one = self.compiled(raw, static, shapes)
        return single.tree, rows.one_by_one(one, values, mapped)

    def _special(
        self, raw: LoopProgram, mapped: Sequence[bool], static: Mapping[str, Any], shapes: Shapes
    ) -> rows.SpecialRows | None:
        """What computes rows at points that the derivative treats apart; None if there are none."""
        from symdiff.loops.rows import rows as over_rows
        from symdiff.pipeline import loops as loop_pipeline
        from symdiff.runtime.loops.kernel import LoopKernel

        if not self._source.path or self._options.accuracy == "fast":
            return None
        one = self.compiled(raw, static, shapes)[1]
        asked = None if one.points is None else one.points.met
        if one.points is None or not isinstance(asked, LoopKernel) or not one.points.places:
            return None
        program = over_rows(asked.program, [*mapped, False])
        if program is None:
            return None
        kernel = LoopKernel(
            loop_pipeline.final(program), self._options.dtype, False, self._options.cache, "fast"
        )
        return rows.SpecialRows(kernel, len(one.points.places), one)

    def _first(
        self,
        raw: LoopProgram,
        kernel: LoopKernel | None,
        static: Mapping[str, Any],
        shapes: Shapes,
        sizes: Sequence[tuple[int, ...]],
    ) -> MeasuredRows | Transposed | None:
        """What is called before a kernel of rows: with "fast", and where the kernel would often flag a value, what
        computes rows of few numbers, of the given shapes, in vectors over rows; in the latter case, and of others, it
        measures their errors."""
        from symdiff.loops.fixed_rows import columns
        from symdiff.pipeline import loops as loop_pipeline
        from symdiff.runtime.loops.kernel import LoopKernel
        from symdiff.runtime.loops.measured_rows import MeasuredRows, RowsOfKernel, without_tests
        from symdiff.runtime.loops.probe import Schedule
        from symdiff.runtime.loops.transposed import Transposed
        from symdiff.runtime.protocols import Plain
        from symdiff.runtime.scalar.kernel import Kernel

        if type(kernel) is not LoopKernel or kernel.dtype == "float32":
            return None
        measured = kernel.tiers is not None
        varies = [True] * len(kernel.program.outputs)
        if kernel.tiers is not None and not kernel.tiers.rows_lose:
            if not kernel.adds_up:
                return None
            schedule = Schedule([p.type.kind == "f" for p in kernel.program.params])
            return MeasuredRows(RowsOfKernel(kernel), varies, kernel, schedule)
        found = None
        if sum(map(math.prod, sizes)) <= MOST:
            if id(raw) not in self._of_a_row:
                self._of_a_row[id(raw)] = loop_pipeline.final(self._source.shown(static, shapes))
            found = columns(self._of_a_row[id(raw)], sizes, MOST)
        if found is None:
            plain_rows = RowsOfKernel(without_tests(kernel))
            return MeasuredRows(plain_rows, varies, kernel) if measured else None
        plain = Plain(found.program.name, found.params, found.outputs)
        made = Kernel(plain, accuracy="fast", parallel=False, cache=kernel.cache, directed=measured)
        rows_ = Transposed(made, found.shapes, kernel)
        if not measured:
            return rows_
        ends = itertools.accumulate(map(math.prod, found.shapes), initial=0)
        varies = [
            any(e is not ZERO for e in found.outputs[a:b]) for a, b in itertools.pairwise(ends)
        ]
        return MeasuredRows(rows_, varies, kernel)

    def spreads(
        self, raw: LoopProgram, values: Sequence[Any], static: Mapping[str, Any], shapes: Shapes
    ) -> list[float]:
        """By how much each result of double arithmetic differs with the direction of rounding."""
        return self.compiled(raw, static, shapes)[1].spreads(values)

    def llvm(self, program: LoopProgram) -> str:
        """The LLVM IR of a program that is written out."""
        from symdiff.runtime.loops.kernel import LoopKernel

        return LoopKernel(program, dtype=self._options.dtype).llvm()

    def sparse(
        self, raw: LoopProgram, values: Sequence[Any], wrt: Sequence[str], second: bool = False
    ) -> Any:
        """The Jacobian as SciPy CSR matrices: a row for each element of an output, a
        column for each element of a parameter; nested as the Jacobian is. `second`: that of the gradient."""
        kernel, entries, tree = self._sparse_kernel(raw, wrt, second)
        results = kernel(values)
        sizes = {p.name: np.size(v) for p, v in zip(raw.params, values, strict=True)}
        made: dict[int, list[Any]] = {}
        for e in entries:
            made.setdefault(e.output, []).append(_matrix(e, results, sizes[e.parameter]))
        one = len(made[0]) == 1 if made else True
        return _joined_rows(tree, made, one)

    def _sparse_kernel(
        self, raw: LoopProgram, wrt: Sequence[str], second: bool
    ) -> tuple[LoopKernel, tuple[Entries, ...], Tree]:

        def make() -> tuple[LoopKernel, tuple[Entries, ...], Tree]:
            from symdiff.loops.diff.sparse import sparse_jacobian
            from symdiff.pipeline.loops import gradient, real_names, value

            by = real_names(raw, wrt)
            first = raw
            if second:
                first = replace(gradient(raw, by), name=f"{raw.name}.grad")
            program, entries = sparse_jacobian(first, by)
            return self._kernel(value(program)), entries, first.tree

        return self._made_once(self._sparse, raw, make)


def of_numbers(program: Program | LoopProgram) -> bool:
    """Whether it takes and gives numbers only."""
    return not isinstance(program, LoopProgram) or (
        not any(p.type.shape for p in program.params)
        and not any(e.op is ARRAY for e in program.outputs)
    )


def _joined_rows(tree: Tree, made: Mapping[int, Sequence[Any]], one: bool) -> Any:
    """The matrices nested as the result is; those of an array of numbers as one."""

    def beside(found: Sequence[Any]) -> Any:
        return found[0] if one else tuple(found)

    def stacked(t: Any) -> Any:
        vstack = optional("scipy.sparse", "sparse matrices need SciPy", "scipy").vstack
        rows = zip(*(made[int(k)] for k in t.ravel()), strict=True)
        return beside([vstack(list(column), format="csr") for column in rows])

    return folded(tree, lambda k: beside(made[k]), stacked)


def _matrix(e: Entries, results: Sequence[Any], columns: int) -> Any:
    """The entries of one output by one parameter as a CSR matrix."""
    csr_array = optional("scipy.sparse", "sparse matrices need SciPy", "scipy").csr_array
    at = [np.ravel(results[k]) for k, _ in e.pairs]
    slopes = [np.ravel(results[k]) for _, k in e.pairs]
    rows = np.tile(np.arange(at[0].size), len(at))
    where = np.concatenate(at).astype(np.int64)
    there = where >= 0
    entries = (np.concatenate(slopes)[there], (rows[there], where[there]))
    if not columns:
        return csr_array((at[0].size, 0))
    return csr_array(entries, shape=(at[0].size, columns))


def _gives_numbers(raw: LoopProgram) -> bool:
    """Whether no result of a captured program is an array."""
    return all(e.op is not ARRAY for e in raw.outputs)


def _is_second(path: Sequence[Step]) -> bool:
    """Whether what is derived are derivatives of derivatives."""
    orders = {"hessian": 2, "hvp": 2}
    return sum(len(by) if kind == "derivative" else orders.get(kind, 1) for kind, by in path) > 1
