"""The last tier: elements that a kernel leaves flagged, in ball arithmetic.

Why an element is flagged, its error test says: `passes.accuracy.error_test`.

It is the first as well, for numbers that are given to a large function: compiling that
takes seconds, so at first its values are interpreted, until the work of this would have
compiled it; flagged numbers likewise, before the second tier is compiled. Whatever is
called how often, at most twice the better choice is spent.
"""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import isfinite, isnan
from typing import Any

import numpy as np

from symdiff.errors import DomainError, Location, UnsupportedError
from symdiff.interpret import work
from symdiff.ir import Expr, encode, topological
from symdiff.process.callers import outside
from symdiff.runtime import cache
from symdiff.runtime.protocols import Plain
from symdiff.runtime.scalar import elementwise
from symdiff.runtime.scalar.kernel import Kernel

WORK = 80_000_000
"""Operations that one call may spend on the elements its kernel leaves flagged; see
`symdiff.interpret.work`."""

LARGE = 300
"""Operations above which a function is interpreted at first."""
COMPILING = 4000
"""Operations of ball arithmetic in the time that compiling one takes, about,"""
WIDENING = 40_000
"""and compiling it in double-double arithmetic."""


Demands = tuple[tuple[Expr, Location | None], ...]
"""Conditions on the arguments, and where they are stated."""
Written = Callable[[Sequence[float], Sequence[float], str, Sequence[int]], list[float]]


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
FEWER = 'pass fewer elements a call, as each call has a budget of its own; or use accuracy="fast" if the digits do not matter'
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
    written : what results are at points that a kernel does not know, by the definition.
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
        self.validated = 0
        self.known: set[str] = set()
        self.without = ""
        self.written: Written | None = None
        self._patience = self._work_of_compiling("compiled", COMPILING)
        self._waiting = self._work_of_compiling("widened", WIDENING)
        kernel.waits = self._waiting > 0

    def _work_of_compiling(self, what: str, each: int) -> int:
        """Zero if that is short, or if an earlier process found that it pays."""
        operations = len(topological(self.kernel.outputs))
        if operations <= LARGE:
            return 0
        if self.kernel.cache and cache.load(self._mark(what)) is not None:
            return 0
        return each * operations

    def _mark(self, what: str) -> str:
        """The name under which the cache notes that compiling pays."""
        return cache.key(what, self.kernel.params, encode(self.kernel.outputs))

    def _note(self, what: str) -> None:
        if self.kernel.cache:
            cache.store(self._mark(what), b"", ())

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
        try:
            answers = self._reference("float64").at_with_status(values)
        except UnsupportedError:
            answers = ()
        self._patience -= work.spent() - start
        if not answers or any(a.status == "budget" and not isfinite(a.value) for a in answers):
            self._patience = 0
        if self.pays:
            self._note("compiled")
            return None
        return self._as_written([float(v) for v in values], [a.value for a in answers], "float64")

    def __call__(self, args: Sequence[Any], out: Sequence[Any] | None = None) -> list[Any]:
        """The outputs as a flat list; see `Kernel.evaluate`."""
        if out is not None:  # an argument may be written before its elements are repaired
            args = [_apart(a, out) for a in args]
        result = self.kernel.evaluate(args, out)
        if not self.always and not result.flagged:
            return result.values
        if not any(isinstance(v, np.ndarray) for v in result.values):
            self.demand([float(a) for a in args])
            start = work.spent()
            answers = self._at([float(a) for a in args], _dtype(result.values[0]))
            self._waiting -= work.spent() - start
            if self.kernel.waits and self._waiting <= 0:
                self.kernel.waits = False
                self._note("widened")
            return [type(v)(a) for v, a in zip(result.values, answers, strict=True)]
        self._repair(args, result.values, None if self.always else result.flags)
        return result.values

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

    def _at(self, point: Sequence[float], dtype: str) -> Sequence[float]:
        answers = self._reference(dtype).at_with_status(point, dtype)
        found = [a.value for a in answers]
        if any(map(_unknown, answers)):
            plain = self._first()(point)
            found = [p if _unknown(a) else a.value for a, p in zip(answers, plain, strict=True)]
        limits = [k for k, a in enumerate(answers) if a.status == "limit"]
        result = self._as_written(point, found, dtype, limits)
        if any(
            a.status == "budget" and x is y for a, x, y in zip(answers, found, result, strict=True)
        ):
            tell(
                1,
                self.kernel.name,
                ": a result is not proven accurate: the budget of a point for ball arithmetic was not enough",
                MEASURE,
            )
        return result

    def _as_written(
        self, point: Sequence[float], found: list[float], dtype: str, limits: Sequence[int] = ()
    ) -> list[float]:
        """The outputs at a point; those that are nan, or limits of formulas, at infinite arguments, and where
        branches are taken at the point alone, by the definition of the function and its derivatives."""
        return found if self.written is None else self.written(point, found, dtype, limits)

    def prove(self, point: Sequence[float]) -> Sequence[float]:
        """The outputs at a point by the last tier."""
        return self._at(point, "float64")

    def _flagged(self, shape: tuple[int, ...], flags: Any) -> Iterable[tuple[Any, ...]]:
        """Where elements are computed again."""
        return np.ndindex(shape) if flags is None else zip(*np.nonzero(flags), strict=True)

    def _repair(self, args: Sequence[Any], values: list[Any], flags: Any) -> None:
        shape = values[0].shape
        grids = [np.broadcast_to(np.asarray(a), shape) for a in args]
        for index in self._flagged(shape, flags) if self.demands else ():
            self.demand([float(g[index]) for g in grids])
        where = self._flagged(shape, flags)
        until, left = work.spent() + WORK, []
        for index in where:
            if work.spent() > until:
                left.append(index)
                continue
            answers = self._at([float(g[index]) for g in grids], _dtype(values[0]))
            for value, answer in zip(values, answers, strict=True):
                value[index] = answer
        if left:
            at = tuple(map(np.array, zip(*left, strict=True)))
            for value, plain in zip(values, self._plainly(grids, at), strict=True):
                value[at] = plain
            tell(
                len(left),
                self.kernel.name,
                f": {len(left)} elements are not proven accurate: the budget of a call for ball arithmetic "
                "was not enough",
                FEWER,
            )

    def _plainly(self, grids: Sequence[Any], at: Any) -> list[Any]:
        """Elements as the kernel computes them first: what its other tiers left flagged may
        be anything."""
        return self._first()([g[at] for g in grids])

    def _first(self) -> Kernel:
        """The kernel in double arithmetic alone."""
        kernel = self.kernel
        plain = Plain(kernel.name, kernel.params, kernel.outputs)
        return Kernel(plain, dtype=kernel.dtype, accuracy=kernel.accuracy, cache=kernel.cache)


def _unknown(answer: Any) -> bool:
    """Whether ball arithmetic found nothing within its budget."""
    return answer.status == "budget" and isnan(answer.value)


def _apart(argument: Any, out: Sequence[Any]) -> Any:
    """The argument, copied if an output may overlap it."""
    if isinstance(argument, np.ndarray) and any(
        o is not None and np.may_share_memory(argument, o) for o in out
    ):
        return argument.copy()
    return argument


def _dtype(value: Any) -> str:
    return "float32" if getattr(value, "dtype", None) in (np.float32, np.float16) else "float64"
