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
        self._formulas: dict[Any, _Formulas | None] = {}

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
        open_ = [_unknown(v, p) for v, p in zip(found, plain, strict=True)]
        found = list(map(filled, found, plain))
        if left and (formula := self._formula(values)) is not None:
            left = self._proven(formula, dtype, values, found, open_)
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
        except (UnfinishedError, np.linalg.LinAlgError, MemoryError):
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
        formula: _Formulas,
        dtype: str,
        values: Sequence[Any],
        found: list[Any],
        open_: Sequence[Array],
    ) -> int:
        """Put proven values, or nan where it is proven that there is none, into elements of what is found; returns
        how many are left."""
        point = [float(x) for x in self._elements(values)]
        places = [
            (k, place)
            for k, (e, o) in enumerate(zip(formula.outputs, open_, strict=True))
            if e is not None
            for place in map(tuple, np.argwhere(o).tolist())
        ]
        left = sum(int(np.count_nonzero(o)) for o in open_) - len(places)
        answers = formula.of(tuple(places)).at_with_status(point, dtype) if places else []
        for k in {k for k, _ in places}:
            found[k] = np.array(found[k])
        for (k, place), answer in zip(places, answers, strict=True):
            if answer.status == "budget":
                left += 1
            else:
                found[k][place] = answer.value
        for k in {k for k, place in places if not place}:
            number = found[k][()]
            found[k] = float(number) if number.dtype == np.float64 else number
        return left

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

    def _formula(self, values: Sequence[Any]) -> _Formulas | None:
        """The outputs over all elements, for these sizes."""
        shapes = {n: np.shape(v) for n, v in self._reals(values)}
        key = self._key(values)
        with self._lock:
            if key not in self._formulas:
                if len(self._formulas) >= KEPT:
                    self._formulas.clear()
                self._formulas[key] = self._made(shapes, values)
            return self._formulas[key]

    def _made(self, shapes: dict[str, tuple[int, ...]], values: Sequence[Any]) -> _Formulas | None:
        from symdiff.interpret.unrolled import TooLong, unrolled

        if sum(math.prod(s) for s in shapes.values()) > MOST:
            return None
        try:
            names, outputs = unrolled(self._closed(), shapes, values, MOST)
        except (TooLong, SymdiffError, ArithmeticError, TypeError, ValueError):
            return None
        kept: list[Any] = []
        for e in outputs:
            real = isinstance(e, Expr) and not e.op.boolean
            real = real or (isinstance(e, np.ndarray) and e.dtype == object)
            kept.append(np.asarray(e, object) if real else None)
        return _Formulas(names, kept)


class _Formulas:
    """Formulas of the elements of outputs, None of an output that is no real; and what evaluates some of them."""

    def __init__(self, names: Sequence[str], outputs: Sequence[Any]) -> None:
        self.names, self.outputs = names, outputs
        self._known: dict[Any, Certified] = {}

    def of(self, places: tuple[tuple[int, tuple[int, ...]], ...]) -> Certified:
        """Those at places, an output's number and an element's."""
        from symdiff.interpret import Certified

        if places not in self._known:
            if len(self._known) >= KEPT:
                self._known.clear()
            roots = [self.outputs[k][place] for k, place in places]
            self._known[places] = Certified(self.names, roots, jumps=True, ties=True)
        return self._known[places]


def _unknown(value: Any, plain: Any) -> Array:
    """Which elements of an output are not known."""
    if value is None:
        return np.ones(np.shape(plain), bool)
    return np.isnan(value) if np.asarray(value).dtype.kind == "f" else np.zeros(np.shape(value), bool)  # fmt: skip


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


def filled(value: Any, other: Any) -> Any:
    """A value, and the other where it is not known or not a number."""
    if value is None:
        return other
    if isinstance(value, np.ndarray):
        return np.where(np.isnan(value), other, value) if value.dtype.kind == "f" else value
    return other if math.isnan(value) else value
