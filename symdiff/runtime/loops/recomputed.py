"""Calls of programs with arrays and loops whose results lost digits, computed again.

A probe says so (`runtime.loops.probe`). Then the whole program is computed in compiled balls
(`runtime.loops.ball_program`). Results that those leave open, as they are undefined as formulas or a function has no
compiled balls, are formulas of all elements (`interpret.unrolled`) where the sizes of the arguments allow that: their
values are proven by interpreted balls, or are limits. What is left stays as the kernel computed it, with a warning.

Elements that were right stay as the kernel computed them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from symdiff.errors import SymdiffError, UnsupportedError
from symdiff.ir import Expr
from symdiff.ir.loop_program import LoopProgram
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
NEAR, PASSED = 4, 8
"""Ulps by which an element of double arithmetic may be off and stay; of rows that do not depend on
each other, and with "strict", as many as estimates let pass, as a unit is half of an ulp."""


class Recomputed:
    """What computes the results of one kernel again.

    Parameters
    ----------
    kernel : a `LoopKernel` with tiers.
    """

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel
        self._lock = Lock()
        self._formulas: dict[Any, tuple[Certified, list[Any]] | None] = {}

    def __call__(
        self,
        dtype: str,
        values: Sequence[Any],
        plain: Sequence[Any],
        out: Sequence[Array | None] | None,
        result: np.dtype[Any],
    ) -> list[Any]:
        """The outputs, as `LoopKernel` gives them; `plain` are those in doubles."""
        if not self._is_finite(values):
            return _placed(plain, out)
        found, left = self._in_balls(values, plain, result)
        found = list(map(filled, found, plain))
        if left and (formula := self._formula(values)) is not None:
            proven: list[Any] = [None] * len(found)
            undefined: list[Any] = [False] * len(found)
            left = self._proven(formula, dtype, values, proven, result, undefined)
            found = list(map(filled, proven, found))
            found = list(map(_without, found, undefined))
        ulps = self._ulps()
        found = [_kept(v, p, ulps) for v, p in zip(found, plain, strict=True)]
        if left:
            some = "a result is" if left == 1 else f"{left} results are"
            tell(left, self.kernel.program.name, f" lost digits: {some} not proven accurate", MEASURE)  # fmt: skip
        return _placed(found, out)

    def corrected(
        self, values: Sequence[Any], out: Sequence[Array | None] | None, result: np.dtype[Any]
    ) -> list[Any] | None:
        """The outputs in balls; None where not all are accurate."""
        if not self._is_finite(values):
            return None
        found, left = self._in_balls(values, None, result)
        return None if left else _placed(found, out)

    def _ulps(self) -> int:
        """Ulps by which elements of plain arithmetic may be off and stay."""
        accuracy, by_rows = self.kernel.accuracy, self.kernel.tiers.by_rows
        if accuracy == "certified":
            return 0
        return PASSED if accuracy == "strict" or by_rows else NEAR

    def _in_balls(
        self, values: Sequence[Any], plain: Sequence[Any] | None, result: np.dtype[Any]
    ) -> tuple[list[Any], int]:
        """The outputs in compiled balls, with nan for elements that are not accurate; and how many of them
        are not. `plain`: those in doubles; which have no value are not near 0."""
        from symdiff.runtime.loops.call import UnfinishedError

        accuracy, types = self.kernel.accuracy, self.kernel.layout.outputs
        each = accuracy == "strict" or self.kernel.tiers.by_rows
        count = len(types)
        none: list[Any] = [None] * count
        if self._balls is None:
            return none, count
        try:
            found = self._balls(values, accuracy == "certified", each)
        except UnfinishedError:
            return none, count
        made, left = [], 0
        for k, (f, t) in enumerate(zip(found, types, strict=True)):
            if t.kind != "f":
                made.append(f.value)
                continue
            good = f.good if plain is None else f.good & (f.near | np.isfinite(plain[k]))
            left += int(np.size(good) - np.count_nonzero(good))
            v = np.where(good, f.value, np.nan).astype(result)
            made.append(v if t.shape else float(v) if result == np.float64 else v[()])
        return made, left

    @cached_property
    def _balls(self) -> BallProgram | None:
        """The program in compiled balls; None where it has an operation that those have not."""
        from symdiff.runtime.loops.ball_program import BallProgram
        from symdiff.runtime.loops.program_keys import fingerprint

        try:
            program = self.kernel.tiers.in_balls()
            key, proves = fingerprint(program), self.kernel.accuracy == "certified"
            return BallProgram(program, key, self.kernel.cache, proves)
        except (UnsupportedError, NotImplementedError):
            return None

    def _key(self, values: Sequence[Any]) -> Any:
        """The sizes of real arguments, and all others."""
        params = self.kernel.program.params
        return tuple(
            (p.name, np.shape(v), None if p.type.kind == "f" else np.asarray(v).tobytes())
            for p, v in zip(params, values, strict=True)
        )

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
