"""Calls of programs with arrays and loops whose results lost digits, computed again.

A kernel says so by its last checks (`passes.accuracy.estimates`). Then the whole program is
computed in double-double arithmetic (`passes.accuracy.whole_program`), which bounds its errors.
Where that is not enough, or to compile it would take longer, and the sizes of the arguments
allow it, the results are formulas of all elements (`interpret.unrolled`), whose values are proven
in ball arithmetic, or are limits where the formulas are undefined. What is left is what the
kernel computed, with a warning.
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
        self._exact: Any = None
        self._wide: Any = None
        self._patience = PATIENCE

    def __call__(
        self,
        dtype: str,
        values: Sequence[Any],
        out: Sequence[Array | None] | None,
        result: np.dtype[Any],
    ) -> list[Any]:
        """The outputs, as `StructuredKernel` gives them."""
        if not self._is_finite(values):
            plainly: list[Any] = self.kernel.code(dtype, 0, False).run(values, out, result)
            return plainly
        results: list[Any] | None = None
        left = 1.0
        formula = self._short_formula(values)
        if formula is None:
            results, left = self._widened(values, out, result)
            formula = self._formula(values) if left else None
        if results is None:
            results = self.kernel.code(dtype, 0, False).run(values, out, result)
        if formula is not None:
            left = self._proven(formula, dtype, values, results, out)
        if left:
            name = self.kernel.program.name
            tell(int(left), f"{name}: {int(left)} results are not proven accurate", level=5)
        return results

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
        results: list[Any],
        out: Sequence[Array | None] | None,
    ) -> int:
        """Put proven values into the results; returns how many are not."""
        certified, outputs = formula
        point = [float(x) for x in self._elements(values)]
        answers = iter(certified.at_with_status(point, dtype))
        left = 0
        for k, (e, plain) in enumerate(zip(outputs, results, strict=True)):
            if e is None:
                continue
            if isinstance(e, Expr):
                answer = next(answers)
                left += answer.status == "budget"
                kind = type(plain)
                value: Any = answer.value if kind is float else kind(answer.value)
            else:
                value = np.empty(e.shape, plain.dtype)
                for place in np.ndindex(*e.shape):
                    answer = next(answers)
                    left += answer.status == "budget"
                    value[place] = answer.value
            target = None if out is None else out[k]
            results[k] = value if target is None else put(target, value)
        return left

    def _widened(
        self, values: Sequence[Any], out: Sequence[Array | None] | None, result: np.dtype[Any]
    ) -> tuple[list[Any] | None, float]:
        """The outputs from double-double arithmetic, if it has all functions; and how many of
        them are not accurate."""
        if self._wide is None:
            self._wide = self._made_wide()
        if self._wide is False:
            return None, 1.0
        places = None if out is None else [*out, None]
        *results, wrong = self._wide.code("float64").run(values, places, result)
        return results, float(wrong)

    def _made_wide(self) -> Any:
        """The kernel in double-double arithmetic; False if there is none."""
        try:
            return self.make(self.kernel.tiers.wide(self._closed()))
        except UnsupportedError:
            return False

    def _closed(self) -> Structured:
        tiers = self.kernel.tiers
        if self._exact is None:
            self._exact = tiers.exact(tiers.source)
        found: Structured = self._exact
        return found

    def _reals(self, values: Sequence[Any]) -> list[tuple[str, Any]]:
        params = self.kernel.program.params
        return [(p.name, v) for p, v in zip(params, values, strict=True) if p.type.kind == "f"]

    def _elements(self, values: Sequence[Any]) -> Any:
        return np.concatenate([np.ravel(v) for _, v in self._reals(values)] or [np.zeros(0)])

    def _is_finite(self, values: Sequence[Any]) -> bool:
        """Whether all arguments are; the others make results that are not."""
        return all(
            math.isfinite(v) if isinstance(v, float) else bool(np.isfinite(v).all())
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
