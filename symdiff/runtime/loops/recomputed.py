"""Calls of programs with arrays and loops whose results lost digits, computed again.

A kernel says so by its last checks (`passes.accuracy.estimates`). Then the whole program is
computed in double-double arithmetic (`passes.accuracy.whole_program`), which bounds its errors.
Where that is not enough, or to compile it would take longer, and the sizes of the arguments
allow it, the results are formulas of all elements (`interpret.unrolled`), whose values are proven
in ball arithmetic, or are limits where the formulas are undefined. What is left is what the
kernel computed, with a warning.

Estimates of long recurrences may be far above the errors. Where double-double arithmetic finds
what the kernel computed, that is the result, and nothing is said. Of a program with many arguments
of which this is so call after call, fewer and fewer calls are computed again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from symdiff.errors import SymdiffError, UnsupportedError
from symdiff.ir import Expr
from symdiff.ir.loop_program import Structured
from symdiff.process.locks import Lock
from symdiff.runtime.loops.arguments import put
from symdiff.runtime.scalar.elementwise import Array
from symdiff.runtime.scalar.fallback import tell

if TYPE_CHECKING:
    from symdiff.interpret import Certified

MOST = 30_000
"""Operations of the formulas of one call."""
KEPT = 16
"""Sizes for which formulas are kept."""
FEW, PATIENCE = 3_000, 300_000
"""Operations of formulas that are evaluated before double-double code is compiled, and of all
such calls until it is."""
MANY, RESTS = 1_000, 256
"""Elements of arguments from which on calls are left out after false alarms: at most so many."""
ULPS = 16
"""Of a number, or of the largest element of an array: less is no loss."""
PASSED = 32
"""Ulps of an element that `estimates.LIMIT` lets pass, as a unit is half of an ulp."""


class Recomputed:
    """What computes the results of one kernel again.

    Parameters
    ----------
    kernel : a `StructuredKernel` with tiers.
    wide : makes the kernel of a program in double-double arithmetic.
    """

    def __init__(self, kernel: Any, wide: Callable[[Structured], Any]) -> None:
        self.kernel, self.make = kernel, wide
        self._lock = Lock()
        self._formulas: dict[Any, tuple[Certified, list[Any]] | None] = {}
        self._wide: Any = None
        self._patience = PATIENCE
        self._rest = self._rests = 0  # calls to leave out now, and after the next false alarm

    def __call__(
        self,
        dtype: str,
        values: Sequence[Any],
        out: Sequence[Array | None] | None,
        result: np.dtype[Any],
    ) -> list[Any]:
        """The outputs, as `StructuredKernel` gives them."""
        if not self._is_finite(values):
            return self.plain(dtype, values, out, result)
        found: list[Any] = [None] * len(self.kernel.program.outputs)
        left = -1
        formula = self._short_formula(values)
        if formula is not None:
            left = self._proven(formula, dtype, values, found, result)
        if left:
            wide, wrong = self._widened(values, result)
            if wide is not None:
                if wrong and formula is None:
                    formula = self._formula(values)
                    if formula is not None:
                        wrong = self._proven(formula, dtype, values, found, result)
                if formula is None:
                    plain = self.plain(dtype, values, None, result)
                    strict = self.kernel.accuracy == "strict"
                    if all(_agree(p, w, strict) for p, w in zip(plain, wide, strict=True)):
                        self._calm(values)
                        return _placed(plain, out)
                left = wrong if left < 0 else min(left, wrong)
                found = list(map(_filled, found, wide))
        self._rests = 0
        plain = self.plain(dtype, values, None, result)
        found = [_kept(_filled(v, p), p) for v, p in zip(found, plain, strict=True)]
        if left:
            name = self.kernel.program.name
            some = "a result is" if left < 0 else f"{left} results are"
            tell(max(left, 1), f"{name} lost digits: {some} not proven accurate", level=5)
        return _placed(found, out)

    def _calm(self, values: Sequence[Any]) -> None:
        """After a false alarm: leave out twice as many calls as after the one before."""
        if sum(np.size(v) for _, v in self._reals(values)) >= MANY:
            self._rest = self._rests = min(max(1, 2 * self._rests), RESTS)

    def rests(self) -> bool:
        """Whether this call is left out."""
        self._rest -= 1
        return self._rest >= 0

    def plain(self, dtype: str, values: Sequence[Any], out: Any, result: Any) -> list[Any]:
        """The outputs as they are computed without estimates."""
        found: list[Any] = self.kernel.code(dtype, 0, False).run(values, out, result)
        return found

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
    ) -> int:
        """Put proven values into what is found, and nan for others; returns how many those are."""
        certified, outputs = formula
        point = [float(x) for x in self._elements(values)]
        answers = certified.at_with_status(point, dtype)
        numbers = iter([math.nan if a.status == "budget" else a.value for a in answers])
        for k, e in enumerate(outputs):
            if e is None:
                continue
            if isinstance(e, Expr):
                value = next(numbers)
                found[k] = value if result == np.float64 else result.type(value)
                continue
            found[k] = np.empty(e.shape, result)
            for place in np.ndindex(*e.shape):
                found[k][place] = next(numbers)
        return sum(a.status == "budget" for a in answers)

    def _widened(
        self, values: Sequence[Any], result: np.dtype[Any]
    ) -> tuple[list[Any] | None, int]:
        """The outputs from double-double arithmetic, if it has all functions; and how many of
        them are not accurate."""
        if self._wide is None:
            self._wide = self._made_wide()
        if self._wide is False:
            return None, -1
        *results, wrong = self._wide.code("float64").run(values, None, result)
        return results, int(wrong)

    def _made_wide(self) -> Any:
        """The kernel in double-double arithmetic; False if there is none."""
        try:
            return self.make(self.kernel.tiers.double_double())
        except UnsupportedError:
            return False

    def _closed(self) -> Structured:
        found: Structured = self.kernel.tiers.exact
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
        params = self.kernel.program.params
        whole = [
            (np.shape(v), np.asarray(v).tobytes())
            for p, v in zip(params, values, strict=True) if p.type.kind != "f"
        ]  # fmt: skip
        key = tuple(shapes.items()), tuple(whole)
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
        return Certified(names, roots), kept


def _placed(found: list[Any], out: Sequence[Array | None] | None) -> list[Any]:
    """Results where they are wanted."""
    if out is None:
        return found
    return [v if o is None else put(o, v) for o, v in zip(out, found, strict=True)]


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
    each = PASSED * unit if strict else unit**0.5
    lost = (off > ULPS * unit * size.max(initial=0.0)) | (off > each * size)
    return not bool(lost.any()) and bool(np.isfinite(off).all())


def _kept(value: Any, plain: Any) -> Any:
    """An array with those elements of plain arithmetic that are within what estimates let pass, so
    that they do not depend on whether others lost digits."""
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
        return value
    with np.errstate(all="ignore"):
        near = np.abs(plain - value) <= PASSED * np.finfo(value.dtype).eps * np.abs(value)
        near &= np.isfinite(value)  # beside an infinite value, all differences are alike
    return np.where(near, plain, value)


def _filled(value: Any, other: Any) -> Any:
    """A value, and the other where it is not known or not a number."""
    if value is None:
        return other
    if isinstance(value, np.ndarray):
        return np.where(np.isnan(value), other, value) if value.dtype.kind == "f" else value
    return other if math.isnan(value) else value
