"""Calls of programs with arrays and loops whose results lost digits, computed again.

A probe says so (`runtime.loops.probe`). Then the whole program is computed in compiled balls
(`runtime.loops.ball_program`). Where that is not possible, as it has too many operations or a routine that
has no rows, or results are undefined as formulas, it is computed with its rounding errors, of first order (`passes.accuracy.corrected_program`), and where
those are too large in double-double arithmetic (`passes.accuracy.whole_program`), which bounds its
errors. Where that is not enough, or to compile it would take longer, and the sizes of the arguments
allow it, the results are formulas of all elements (`interpret.unrolled`), whose values are proven
in ball arithmetic, or are limits where the formulas are undefined. What is left is what
double-double arithmetic computed, with a warning.

Bounds of long recurrences may be far above the errors: elements that were right stay as the kernel
computed them, and nothing is said.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from symdiff.errors import SymdiffError, UnsupportedError
from symdiff.ir import Expr, topological
from symdiff.ir.loop_program import LoopProgram, expressions_in
from symdiff.lowering.compensated.functions import CORRECTED
from symdiff.process.locks import Lock
from symdiff.runtime.loops.arguments import put
from symdiff.runtime.scalar.elementwise import Array
from symdiff.runtime.scalar.fallback import MEASURE, tell

if TYPE_CHECKING:
    from symdiff.interpret import Certified
    from symdiff.runtime.loops.ball_program import BallProgram

MOST = 30_000
"""Operations of the formulas of one call."""
KEPT = 16
"""Sizes for which formulas are kept."""
FEW, PATIENCE = 3_000, 300_000
"""Operations of formulas that are evaluated before double-double code is compiled, and of all
such calls until it is."""
ULPS = 16
"""Of a number, or of the largest element of an array: less is no loss."""
CLOSE, ALIKE = 2.0**-30, 2.0**-48
"""Relative difference of first-order corrections and double-double arithmetic below which the latter is
right: with functions, which are known to 2**-63 and 2**-100, and without, where both
have errors of the size of a rounding squared."""
NEAR, PASSED = 4, 8
"""Ulps by which an element of double arithmetic may be off and stay; of rows that do not depend on
each other, and with "strict", as many as estimates let pass, as a unit is half of an ulp."""


class Recomputed:
    """What computes the results of one kernel again.

    Parameters
    ----------
    kernel : a `LoopKernel` with tiers.
    wide : makes the kernel of a program in double-double arithmetic, or with its rounding errors; then of what
        makes the one with tests for underflow, too.

    Attributes
    ----------
    was_corrected : whether all that the last call needed were its rounding errors.
    """

    def __init__(self, kernel: Any, wide: Callable[..., Any]) -> None:
        self.kernel, self.make = kernel, wide
        self._lock = Lock()
        self._formulas: dict[Any, tuple[Certified, list[Any]] | None] = {}
        self._kernels: dict[str, Any] = {}
        self._patience = PATIENCE
        self.was_corrected = False

    def __call__(
        self,
        dtype: str,
        values: Sequence[Any],
        plain: Sequence[Any],
        out: Sequence[Array | None] | None,
        result: np.dtype[Any],
    ) -> list[Any]:
        """The outputs, as `LoopKernel` gives them; `plain` are those in doubles."""
        self.was_corrected = False
        if not self._is_finite(values):
            return _placed(plain, out)
        ulps = self._ulps()
        tabled = self._in_balls(values, result)
        if tabled is not None:
            return _placed([_kept(v, p, ulps) for v, p in zip(tabled, plain, strict=True)], out)
        found: list[Any] = [None] * len(self.kernel.program.outputs)
        undefined: list[Any] = [False] * len(found)
        left = -1
        certified = self.kernel.accuracy == "certified"
        formula = self._formula(values) if certified else self._short_formula(values)
        near = None
        if formula is not None:
            left = self._proven(formula, dtype, values, found, result, undefined)
        if left and not certified:  # errors of first order prove nothing
            near, wrong = self._run("corrected", values, result)
            if near is not None and not wrong:
                found, left = list(map(filled, found, near)), 0
                self.was_corrected = formula is None
        if left:
            wide, wrong = self._run("double_double", values, result)
            if wide is not None:
                if wrong and formula is None:
                    formula = self._formula(values)
                    if formula is not None:
                        wrong = self._proven(formula, dtype, values, found, result, undefined)
                strict = self.kernel.accuracy == "strict"
                # no two tiers determine the remainder, but arithmetic alone gives 0
                vanished = wrong and self._close == CLOSE and any(map(_vanished, wide))
                if (
                    formula is None
                    and not (vanished or certified)
                    and agree_all(plain, wide, strict)
                ):
                    return _placed(plain, out)
                if (
                    near is not None
                    and not vanished
                    and all(_is_close(a, b, self._close) for a, b in zip(near, wide, strict=True))
                ):
                    wrong = 0
                left = wrong if left < 0 else min(left, wrong)
                found = list(map(filled, found, wide))
            elif near is not None:
                found = list(map(filled, found, near))
        found = [_kept(filled(v, p), p, ulps) for v, p in zip(found, plain, strict=True)]
        found = list(map(_without, found, undefined))
        if left:
            name = self.kernel.program.name
            some = "a result is" if left < 0 else f"{left} results are"
            tell(max(left, 1), name, f" lost digits: {some} not proven accurate", MEASURE)
        return _placed(found, out)

    def corrected(
        self, values: Sequence[Any], out: Sequence[Array | None] | None, result: np.dtype[Any]
    ) -> list[Any] | None:
        """The outputs with their rounding errors; None where those are not small."""
        if not self._is_finite(values):
            return None
        found = self._in_balls(values, result)
        if found is None:
            found, wrong = self._run("corrected", values, result)
            found = None if wrong else found
        return None if found is None else _placed(found, out)

    def _ulps(self) -> int:
        """Ulps by which elements of plain arithmetic may be off and stay."""
        accuracy, by_rows = self.kernel.accuracy, self.kernel.tiers.by_rows
        if accuracy == "certified":
            return 0
        return PASSED if accuracy == "strict" or by_rows else NEAR

    def _in_balls(self, values: Sequence[Any], result: np.dtype[Any]) -> list[Any] | None:
        """The outputs in compiled balls; None unless all are accurate."""
        from symdiff.runtime.loops.call import UnfinishedError

        if self._balls is None:
            return None
        accuracy = self.kernel.accuracy
        try:
            found = self._balls(values, accuracy == "certified", accuracy == "strict")
        except UnfinishedError:
            return None
        if not all(np.all(f.good) for f in found):
            return None
        types = self.kernel.layout.outputs
        return [
            f.value if t.kind != "f"
            else f.value.astype(result) if t.shape
            else float(f.value) if result == np.float64 else result.type(f.value)
            for f, t in zip(found, types, strict=True)
        ]  # fmt: skip

    @cached_property
    def _balls(self) -> BallProgram | None:
        """The program in compiled balls; None where it has an operation that those have not."""
        from symdiff.lowering.loops.ball_operations import in_ball_operations
        from symdiff.runtime.loops.ball_program import BallProgram
        from symdiff.runtime.loops.kernel import fingerprint

        try:
            program = in_ball_operations(self.kernel.tiers.statements())
            return BallProgram(program, fingerprint(program), self.kernel.cache)
        except UnsupportedError:
            return None

    def _key(self, values: Sequence[Any]) -> Any:
        """The sizes of real arguments, and all others."""
        params = self.kernel.program.params
        return tuple(
            (p.name, np.shape(v), None if p.type.kind == "f" else np.asarray(v).tobytes())
            for p, v in zip(params, values, strict=True)
        )

    @cached_property
    def _close(self) -> float:
        every = expressions_in(self._closed().block)
        nodes = topological((*every, *self._closed().outputs))
        return CLOSE if any(n.op in CORRECTED for n in nodes) else ALIKE

    def _short_formula(self, values: Sequence[Any]) -> tuple[Certified, list[Any]] | None:
        """The outputs as formulas, if to evaluate them is shorter than to compile."""
        if self._patience <= 0 or sum(np.size(v) for _, v in self._reals(values)) > FEW:
            return None
        found = self._formula(values)
        if found is None:
            return None
        operations = len(found[0].tape.nodes)
        self._patience -= operations
        return found if operations <= FEW else None

    def _proven(
        self,
        formula: tuple[Certified, list[Any]],
        dtype: str,
        values: Sequence[Any],
        found: list[Any],
        result: np.dtype[Any],
        undefined: list[Any],
    ) -> int:
        """Put proven values into what is found, and nan for others; returns how many those are. Where
        it is proven that there is no value is put into `undefined`."""
        certified, outputs = formula
        point = [float(x) for x in self._elements(values)]
        answers = certified.at_with_status(point, dtype)
        numbers = iter([math.nan if a.status == "budget" else a.value for a in answers])
        none = iter([a.status != "budget" and math.isnan(a.value) for a in answers])
        for k, e in enumerate(outputs):
            if e is None:
                continue
            if isinstance(e, Expr):
                value = next(numbers)
                found[k] = value if result == np.float64 else result.type(value)
                undefined[k] = next(none)
                continue
            found[k] = np.empty(e.shape, result)
            undefined[k] = np.empty(e.shape, bool)
            for place in np.ndindex(*e.shape):
                found[k][place], undefined[k][place] = next(numbers), next(none)
        return sum(a.status == "budget" for a in answers)

    def _run(
        self, tier: str, values: Sequence[Any], result: np.dtype[Any]
    ) -> tuple[list[Any] | None, int]:
        """The outputs of a tier, "corrected" or "double_double", if it has all functions; and how many of
        them are not accurate."""
        if tier not in self._kernels:
            self._kernels[tier] = self._made_kernel(tier)
        kernel = self._kernels[tier]
        if kernel is None:
            return None, -1
        *results, wrong = kernel.code("float64").run(values, None, result)
        return results, int(wrong)

    def _made_kernel(self, tier: str) -> Any:
        """The kernel of a tier; None if there is none."""
        try:
            if tier == "corrected":
                tiers = self.kernel.tiers
                first, second = (
                    functools.partial(tiers.corrected, tests, self.kernel.library)
                    for tests in (False, True)
                )
                return self.make(first(), second)
            return self.make(self.kernel.tiers.double_double())
        except UnsupportedError:
            return None

    def _closed(self) -> LoopProgram:
        found: LoopProgram = self.kernel.tiers.exact
        return found

    def _reals(self, values: Sequence[Any]) -> list[tuple[str, Any]]:
        params = self.kernel.program.params
        return [(p.name, v) for p, v in zip(params, values, strict=True) if p.type.kind == "f"]

    def _elements(self, values: Sequence[Any]) -> Any:
        return np.concatenate([np.ravel(v) for _, v in self._reals(values)] or [np.zeros(0)])

    def _is_finite(self, values: Sequence[Any]) -> bool:
        """Whether all arguments are, and none is empty; the others make results that are not."""
        return all(
            math.isfinite(v) if isinstance(v, float) else v.size and bool(np.isfinite(v).all())
            for _, v in self._reals(values)
        )

    def _formula(self, values: Sequence[Any]) -> tuple[Certified, list[Any]] | None:
        """The outputs over all elements, for these sizes; None of an output that is no real."""
        shapes = {n: np.shape(v) for n, v in self._reals(values)}
        key = self._key(values)
        with self._lock:
            if key not in self._formulas:
                if len(self._formulas) >= KEPT:
                    self._formulas.clear()
                self._formulas[key] = self._made(shapes, values)
            return self._formulas[key]

    def _made(
        self, shapes: dict[str, tuple[int, ...]], values: Sequence[Any]
    ) -> tuple[Certified, list[Any]] | None:
        from symdiff.interpret import Certified
        from symdiff.interpret.unrolled import TooLong, unrolled

        if sum(math.prod(s) for s in shapes.values()) > MOST:
            return None
        try:
            names, outputs = unrolled(self._closed(), shapes, values, MOST)
        except (TooLong, SymdiffError, ArithmeticError, TypeError, ValueError):
            return None
        roots: list[Expr] = []
        kept: list[Any] = []
        for e in outputs:
            if isinstance(e, Expr) and not e.op.boolean:
                roots.append(e)
            elif isinstance(e, np.ndarray) and e.dtype == object:
                roots += list(e.flat)
            else:
                e = None
            kept.append(e)
        return Certified(names, roots, jumps=True, ties=True), kept


def _placed(found: Sequence[Any], out: Sequence[Array | None] | None) -> list[Any]:
    """Results where they are wanted."""
    if out is None:
        return list(found)
    return [v if o is None else put(o, v) for o, v in zip(out, found, strict=True)]


def agree_all(plain: Sequence[Any], other: Sequence[Any], strict: bool) -> bool:
    """Whether all outputs of plain arithmetic have lost little (see `_agree`)."""
    return all(_agree(p, w, strict) for p, w in zip(plain, other, strict=True))


def _agree(plain: Any, wide: Any, strict: bool) -> bool:
    """Whether an output of plain arithmetic has lost little: of its largest element ulps, of each
    element less than half of the digits; if it is strict, of each element ulps."""
    a, b = np.asarray(plain), np.asarray(wide)
    if b.dtype.kind != "f":
        return bool(np.array_equal(a, b))
    if not np.isfinite(b).all():
        return False
    with np.errstate(all="ignore"):  # the plain ones may have overflowed
        unit, size, off = np.finfo(b.dtype).eps, np.abs(b), np.abs(a - b)
    each = ULPS * unit if strict else unit**0.5
    lost = (off > ULPS * unit * size.max(initial=0.0)) | (off > each * size)
    return not bool(lost.any()) and bool(np.isfinite(off).all())


def _is_close(near: Any, wide: Any, close: float) -> bool:
    """Whether an output with first-order corrections has found leading bits of that in double-double
    arithmetic."""
    a, b = np.asarray(near), np.asarray(wide)
    if b.dtype.kind != "f":
        return bool(np.array_equal(a, b))
    with np.errstate(all="ignore"):
        return bool(np.all(np.abs(a - b) <= close * np.abs(b)))


def _vanished(wide: Any) -> bool:
    """Whether an output is a number whose digits all cancelled."""
    return np.ndim(wide) == 0 and isinstance(wide, (float, np.floating)) and wide == 0


def _kept(value: Any, plain: Any, ulps: int = PASSED) -> Any:
    """An array with those elements of plain arithmetic that are near, so that they do not depend on
    whether others lost digits; a number of plain arithmetic where nothing was lost, as calls that are not probed
    have it."""
    if isinstance(value, float) and ulps == NEAR:
        is_near = abs(plain - value) <= ulps * 2.0**-52 * abs(value)
        return plain if is_near and math.isfinite(value) else value
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
        return value
    with np.errstate(all="ignore"):
        near = np.abs(plain - value) <= ulps * np.finfo(value.dtype).eps * np.abs(value)
        near &= np.isfinite(value)  # all differences to an infinite value are equal
    return np.where(near, plain, value)


def _without(value: Any, undefined: Any) -> Any:
    """A value with nan where it is undefined."""
    if not np.any(undefined):
        return value
    if isinstance(value, np.ndarray):
        return np.where(undefined, np.array(math.nan, value.dtype), value)
    return type(value)(math.nan)


def filled(value: Any, other: Any) -> Any:
    """A value, and the other where it is not known or not a number."""
    if value is None:
        return other
    if isinstance(value, np.ndarray):
        return np.where(np.isnan(value), other, value) if value.dtype.kind == "f" else value
    return other if math.isnan(value) else value
