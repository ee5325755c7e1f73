"""Calls of programs with arrays and loops whose results lost digits, computed again.

A kernel says so by its last checks (`passes.accuracy.loop_errors`). Where the sizes of the
arguments allow it, its results are then formulas of all elements (`interpret.unrolled`), whose
values are proven in ball arithmetic, or are limits where the formulas are undefined. What is
left is what the kernel computed, with a warning.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from symdiff.errors import SymdiffError
from symdiff.ir import Expr
from symdiff.process.locks import Lock
from symdiff.runtime.loops.arguments import put
from symdiff.runtime.scalar.elementwise import Array
from symdiff.runtime.scalar.fallback import tell

if TYPE_CHECKING:
    from symdiff.interpret import Certified
    from symdiff.runtime.loops.kernel import StructuredKernel

MOST = 30_000
"""Operations of the formulas of one call."""
KEPT = 16
"""Sizes for which formulas are kept."""


class Recomputed:
    """What computes the results of one kernel again."""

    def __init__(self, kernel: StructuredKernel) -> None:
        self.kernel = kernel
        self._lock = Lock()
        self._formulas: dict[Any, tuple[Certified, list[Any]] | None] = {}
        self._exact: Any = None

    def __call__(
        self,
        dtype: str,
        values: Sequence[Any],
        out: Sequence[Array | None] | None,
        result: np.dtype[Any],
    ) -> list[Any]:
        """The outputs, as `StructuredKernel` gives them."""
        results = self.kernel.code(dtype, 0, False).run(values, out, result)
        if not self._is_finite(values):
            return results
        found = self._formula(values)
        if found is None:
            name = self.kernel.program.name
            tell(1, f"{name}: results lost digits, and take too long in ball arithmetic", level=5)
            return results
        certified, outputs = found
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
            results[k] = value if out is None or out[k] is None else put(out[k], value)
        if left:
            name = self.kernel.program.name
            tell(left, f"{name}: {left} results are not proven accurate", level=5)
        return results

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

        tiers = self.kernel.tiers
        assert tiers is not None
        if sum(math.prod(s) for s in shapes.values()) > MOST:
            return None
        if self._exact is None:
            self._exact = tiers.exact(tiers.source)
        try:
            names, outputs = unrolled(self._exact, shapes, values, MOST)
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
