"""The last tier: elements that a kernel leaves flagged, in ball arithmetic.

Why an element is flagged, its error test says: `passes.accuracy.error_test`.

It is the first as well, for numbers that are given to a large function: compiling that
takes seconds, so at first its values are interpreted, until the work of this would have
compiled it; flagged numbers likewise, before the second tier is compiled. Whatever is
called how often, at most twice the better choice is spent.
"""

from __future__ import annotations

import contextlib
import functools
import threading
import warnings
from collections.abc import Iterator, Sequence
from math import isfinite, isnan
from typing import Any, Protocol

import numpy as np

from symdiff.codegen.llvm.operation_table import columns_of, evaluable, with_nan
from symdiff.errors import DomainError, Location, UnsupportedError
from symdiff.interpret import work
from symdiff.ir import FALSE, WHERE, Expr, encode, topological, var
from symdiff.ir.functions import BUILTIN, PINNED
from symdiff.process.callers import outside
from symdiff.runtime import cache
from symdiff.runtime.kept_formulas import kept
from symdiff.runtime.protocols import Plain
from symdiff.runtime.scalar import elementwise
from symdiff.runtime.scalar.ball_elements import BallElements, compiled_elements
from symdiff.runtime.scalar.kernel import Kernel

Array = np.ndarray[Any, Any]

LARGE = 300
"""Operations above which a function is interpreted at first."""
COMPILING = 4000
"""Operations of ball arithmetic in the time that compiling one takes, about."""
CALLS = 160
"""Calls in the time that compiling takes, about: Python code visits each operation in every call."""


DIGITS = 1e-3
"""Relative differences of a limit at an infinite argument from the plain value, which that may have lost."""

Demands = tuple[tuple[Expr, Location | None], ...]
"""Conditions on the arguments, and where they are stated."""


class ByDefinition(Protocol):
    """The function and its derivatives by the definition; see `pipeline.by_definition`."""

    def __call__(
        self, point: Sequence[float], found: Sequence[float], dtype: str, limits: Sequence[int],
        open_: Sequence[int],
    ) -> list[float]: ...  # fmt: skip

    def many(self, points: Array) -> tuple[Array, Array] | None: ...


class AccuracyWarning(RuntimeWarning):
    """Some elements were left as the kernel computed them: their budget was not enough."""


_told = threading.local()


@contextlib.contextmanager
def unproven() -> Iterator[list[int]]:
    """How many values are not proven accurate, of each call of this thread that leaves any;
    without a warning."""
    before, found = getattr(_told, "found", None), list[int]()
    _told.found = found
    try:
        yield found
    finally:
        _told.found = before


UNKNOWN = (
    "{} derivatives at a guarded point are not known; they are those of the formula as written"
)
MEASURE = "error_bound(...) of the function measures how far off results are; `symdiff check` names operations that lose digits"
MOVE = "report() lists the guards; pass other points, or write the function without a guard there"

_advised: set[tuple[str, str]] = set()


def tell(count: int, name: str, text: str, advice: str) -> None:
    """Warn that values are not proven accurate, unless `unproven` counts them. What to do is said once
    for each function."""
    found = getattr(_told, "found", None)
    if found is not None:
        found.append(count)
        return
    if (name, advice) not in _advised:
        _advised.add((name, advice))
        text += f"\nhint: {advice}"
    warnings.warn(f"{name}{text}", AccuracyWarning, stacklevel=outside())


class Tiered:
    """A kernel whose flagged elements are recomputed with proven accuracy.

    Parameters
    ----------
    kernel : the compiled tiers.
    reference : the outputs in closed form, one per output of the kernel.
    always : whether every element is recomputed, not only flagged ones.
    demands : what arguments must satisfy; the kernel is flagged where they do not.

    Attributes
    ----------
    validated : how many pieces of code were compiled when all of them were found right.
    known : the keys of those.
    without : the tiers omitted because they were found wrong; see `symdiff.pipeline.kernels.scalar`.
    by_definition : what results are at points that a kernel does not know, by the definition.
    """

    def __init__(
        self,
        kernel: Kernel,
        reference: Sequence[Expr],
        always: bool = False,
        demands: Demands = (),
    ) -> None:
        self.kernel, self.reference = kernel, tuple(reference)
        self.demands = demands
        self.always = always
        self._certified: dict[str, Any] = {}
        self._compiled: dict[tuple[str, bool], BallElements | None] = {}
        self.validated = 0
        self.known: set[str] = set()
        self.without = ""
        self.by_definition: ByDefinition | None = None
        self._operations = len(topological(self.kernel.outputs))
        self._patience = self._work_of_compiling()

    def _work_of_compiling(self) -> int:
        """Zero if that is short, or if an earlier process found that it pays."""
        if self._operations <= LARGE:
            return 0
        if self.kernel.cache and cache.load(self._mark()) is not None:
            return 0
        return COMPILING * self._operations

    def _mark(self) -> str:
        """The name under which the cache notes that compiling pays."""
        return cache.key("compiled", self.kernel.params, encode(self.kernel.outputs))

    @property
    def pays(self) -> bool:
        """Whether a kernel for numbers should be compiled by now."""
        return self._patience <= 0

    def interpreted(self, args: Sequence[Any]) -> Sequence[float] | None:
        """The outputs at a point of Python numbers without a kernel, as the last tier has
        them; None if compiling pays, or where that has nothing to say."""
        if self.pays:
            return None
        values = [elementwise.prepare(n, a) for n, a in zip(self.kernel.params, args, strict=True)]
        if not all(isinstance(v, float) for v in values):
            return None
        self.demand([float(v) for v in values])
        start = work.spent()
        self._patience -= COMPILING * self._operations // CALLS
        if (found := self._proven_at([float(v) for v in values], "float64")) is not None:
            self._patience -= work.spent() - start
            self._note()
            return found
        try:
            answers = self._reference("float64").at_with_status(values)
        except UnsupportedError:
            answers = ()
        self._patience -= work.spent() - start
        if not answers or any(a.status == "budget" and not isfinite(a.value) for a in answers):
            self._patience = 0
        if self.pays:
            self._note()
            return None
        return self._with_definition(
            [float(v) for v in values], [a.value for a in answers], "float64"
        )

    def _note(self) -> None:
        """Tell later processes that compiling pays, if it does."""
        if self.pays and self.kernel.cache:
            cache.store(self._mark(), b"", ())

    def __call__(self, args: Sequence[Any], out: Sequence[Any] | None = None) -> list[Any]:
        """The outputs as a flat list; see `Kernel.evaluate`."""
        if out is not None:  # an argument may be written before its elements are repaired
            args = [_apart(a, out) for a in args]
        result = self.kernel.evaluate(args, out)
        if not self.always and not result.flagged:
            return result.values
        if not any(isinstance(v, np.ndarray) for v in result.values):
            self.demand([float(a) for a in args])
            answers = self._at([float(a) for a in args], _dtype(result.values[0]))
            self._attach()
            return [type(v)(a) for v, a in zip(result.values, answers, strict=True)]
        self._repair(args, result.values, None if self.always else result.flags)
        self._attach()
        return result.values

    def _attach(self) -> None:
        """Let compiled code compute flagged elements in ball arithmetic by itself."""
        if (tables := self.balls_alone()) is not None:
            self.kernel.attach(tables)

    def balls_alone(self) -> BallElements | None:
        """What computes flagged numbers without Python: where values that balls prove are results at every
        point, as there are no guards."""
        if self.always or self.kernel.function.guarded is not FALSE:
            return None
        tables = self._tables("float64") if self.kernel.dtype in (None, "float64") else None
        return None if tables is None or tables.plan is None else tables

    def demand(self, point: Sequence[float]) -> None:
        """Refuse arguments that are not what they must be.

        Raises
        ------
        DomainError : at the line that says so.
        """
        if not self.demands:
            return
        from symdiff.interpret.loops import Doubles, evaluate

        scope = {n: np.float64(v) for n, v in zip(self.kernel.params, point, strict=True)}
        for condition, location in self.demands:
            with np.errstate(all="ignore"):
                holds = evaluate(condition, Doubles(), scope)
            if not holds:
                values = ", ".join(
                    f"{n} = {v!r}" for n, v in zip(self.kernel.params, point, strict=True)
                )
                text = f"{self.kernel.name}: this does not hold: {condition}, for {values}"
                raise DomainError(text, location, "check_domain=False switches this off")

    def _reference(self, dtype: str) -> Any:
        if dtype not in self._certified:
            from symdiff.interpret import Certified
            from symdiff.ir.plain import in_single

            outputs = self.reference if dtype == "float64" else in_single(self.reference)
            self._certified[dtype] = Certified(self.kernel.params, outputs, jumps=True)
        return self._certified[dtype]

    def _stable(self, dtype: str) -> Sequence[Expr]:
        """The outputs in forms that need fewer bits: as kernels have them, and over common denominators; none, if
        there are no others. Forms with branches are not taken, as they may differ at points."""
        from symdiff.passes.accuracy.gather_fractions import gather

        reference = self._reference(dtype).outputs
        for outputs in (self.kernel.outputs, reference):
            nodes = topological((*outputs, *reference))
            if len(nodes) <= LARGE and BUILTIN.issuperset(kinds := {e.op for e in nodes}):
                if kinds.isdisjoint((WHERE, PINNED)):
                    found = kept(
                        "gathered", outputs, self.kernel.cache, functools.partial(gather, outputs)
                    )
                    return found if found != reference else ()
        return ()

    def _tables(self, dtype: str, nan: bool = False) -> BallElements | None:
        """The outputs in compiled balls; with `nan` also where they are nan (see `with_nan`). What the kernel refuses,
        as derivatives are those of the definition there, stays open."""
        if (dtype, nan) not in self._compiled:
            program, stable = self._reference(dtype), self._stable(dtype)
            if nan:
                from symdiff.interpret import Certified

                program, stable = Certified(self.kernel.params, with_nan(program.outputs)), ()
            made = compiled_elements(
                program,
                self.kernel.params,
                dtype == "float32",
                stable,
                self.kernel.function.refused,
            )
            self._compiled[dtype, nan] = made
        return self._compiled[dtype, nan]

    def _nan(self, points: Array, values: Array, proven: Array, dtype: str) -> None:
        """Decide points where outputs are certainly nan, as arguments are outside of the domain; but where
        guards act the function as it was written says what they are."""
        params = [var(p) for p in self.kernel.params]
        guarded = self.kernel.function.guarded
        left = ~proven
        if guarded is not FALSE and left.any():
            if not evaluable((guarded,), exactly=True):
                return
            left &= ~np.broadcast_to(columns_of((guarded,), params, points)[0], len(points))
        if not left.any() or (tables := self._tables(dtype, nan=True)) is None:
            return
        found, known = tables(points[left], self.kernel.parallel)
        count = len(self.reference)
        is_nan = found[:, count:] == 1
        known &= is_nan.any(axis=1) & np.isfinite(found).all(axis=1)
        places = np.flatnonzero(left)[known]
        values[places] = np.where(is_nan, np.nan, found[:, :count])[known]
        proven[places] = True

    def _proven(self, points: Array, dtype: str) -> tuple[Array, Array]:
        """The outputs at points by compiled ball arithmetic, and which points it decides."""
        tables = self._tables(dtype)
        if tables is None:
            return np.full((len(points), len(self.reference)), np.nan), np.zeros(len(points), bool)
        values, proven = tables(points, self.kernel.parallel)
        if self.by_definition is not None:  # which says what infinite results are
            proven &= np.isfinite(values).all(axis=1)
        self._nan(points, values, proven, dtype)
        return values, proven

    def _proven_at(self, point: Sequence[float], dtype: str) -> list[float] | None:
        """The same at one point; None if that is not decided."""
        tables = self._tables(dtype)
        found = None if tables is None else tables.at(point)
        if found is None or (self.by_definition is not None and not all(map(isfinite, found))):
            values, proven = self._proven(np.array([point], float), dtype)
            return [float(x) for x in values[0]] if proven[0] else None
        return found

    def _values(self, points: Array, dtype: str) -> Array:
        """The outputs at points (points, parameters)."""
        values, proven = self._proven(points, dtype)
        left, unknown = np.flatnonzero(~proven), 0
        if (
            len(left)
            and self.by_definition is not None
            and dtype == "float64"
            and not self._certifies
        ):
            if (found := self.by_definition.many(points[left])) is not None:
                results, known = found
                values[left[known]], proven[left[known]] = results[known], True
        for k in np.flatnonzero(~proven):
            values[k], is_known = self._asked([float(x) for x in points[k]], dtype)
            unknown += not is_known
        self._tell(unknown)
        return values

    @property
    def _certifies(self) -> bool:
        """Whether results are to be proven, as differences over distances are not."""
        return self.kernel.accuracy == "certified"

    def _tell(self, unknown: int) -> None:
        """Warn of elements that are not proven accurate."""
        if unknown:
            what = "a result is" if unknown == 1 else f"{unknown} elements are"
            why = "the budget of a point for ball arithmetic was not enough"
            tell(unknown, self.kernel.name, f": {what} not proven accurate: {why}", MEASURE)

    def _asked(self, point: Sequence[float], dtype: str) -> tuple[list[float], bool]:
        """The outputs at a point by interpreted ball arithmetic, and whether all are known."""
        answers = self._reference(dtype).at_with_status(point, dtype)
        found = [a.value for a in answers]
        unknown = [k for k, a in enumerate(answers) if a.status == "budget" and isnan(a.value)]
        if unknown:
            plain = self._first(point)
            found = [
                p if k in unknown else x for k, (p, x) in enumerate(zip(plain, found, strict=True))
            ]
        limits = [k for k, a in enumerate(answers) if a.status == "limit"]
        if limits and not all(map(isfinite, point)):
            plain = self._first(
                point
            )  # IEEE arithmetic has values at infinities, but of few digits
            for k in limits:
                if not isnan(plain[k]) and not abs(plain[k] - found[k]) <= DIGITS * abs(found[k]):
                    found[k] = plain[k]
        result = self._with_definition(point, found, dtype, limits, unknown)
        return result, not any(
            a.status == "budget" and x is y for a, x, y in zip(answers, found, result, strict=True)
        )

    def _with_definition(
        self, point: Sequence[float], found: list[float], dtype: str, limits: Sequence[int] = (),
        unknown: Sequence[int] = (),
    ) -> list[float]:  # fmt: skip
        """The outputs at a point; those that are nan, unknown, or limits of formulas, at infinite arguments, and where
        branches are taken at the point alone, by the definition of the function and its derivatives."""
        return (
            found
            if self.by_definition is None
            else self.by_definition(point, found, dtype, limits, unknown)
        )

    def prove(self, point: Sequence[float]) -> Sequence[float]:
        """The outputs at a point by the last tier."""
        return self._at(point, "float64")

    def _at(self, point: Sequence[float], dtype: str) -> Sequence[float]:
        found = self._proven_at(point, dtype)
        return self._values(np.array([point], float), dtype)[0].tolist() if found is None else found

    def _repair(self, args: Sequence[Any], values: list[Any], flags: Any) -> None:
        """Compute elements again, equal ones once."""
        shape = values[0].shape
        where = np.ones(shape, bool) if flags is None else flags
        at = np.nonzero(np.atleast_1d(where))
        grids = [np.atleast_1d(np.broadcast_to(np.asarray(a), shape))[at] for a in args]
        points = np.stack(grids, axis=-1).astype(float)
        for point in points if self.demands else ():
            self.demand([float(x) for x in point])
        rows, back = np.unique(points.view(np.int64), axis=0, return_inverse=True)
        found = self._values(rows.view(np.float64), _dtype(values[0]))
        for k, value in enumerate(values):
            np.atleast_1d(value)[at] = found[back.ravel(), k]

    @functools.cached_property
    def _first(self) -> Kernel:
        """The kernel in double arithmetic alone: what its other tiers left flagged may be anything."""
        kernel = self.kernel
        plain = Plain(kernel.name, kernel.params, kernel.outputs)
        return Kernel(plain, dtype=kernel.dtype, accuracy=kernel.accuracy, cache=kernel.cache)


def _apart(argument: Any, out: Sequence[Any]) -> Any:
    """The argument, copied if an output may overlap it."""
    if isinstance(argument, np.ndarray) and any(
        o is not None and np.may_share_memory(argument, o) for o in out
    ):
        return argument.copy()
    return argument


def _dtype(value: Any) -> str:
    return "float32" if getattr(value, "dtype", None) in (np.float32, np.float16) else "float64"
