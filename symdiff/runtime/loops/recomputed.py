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
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from symdiff.errors import SymdiffError, UnsupportedError
from symdiff.ir import Expr
from symdiff.ir.loop_program import Structured
from symdiff.process.locks import Lock
from symdiff.runtime.loops.arguments import put
from symdiff.runtime.loops.call import InaccurateError
from symdiff.runtime.scalar.elementwise import Array
from symdiff.runtime.scalar.fallback import tell

if TYPE_CHECKING:
    from symdiff.interpret import Certified
    from symdiff.runtime.loops.kernel import StructuredKernel

MOST = 30_000
"""Operations of the formulas of one call."""
KEPT = 16
"""Sizes for which formulas are kept."""
FEW, PATIENCE = 3_000, 300_000
"""Operations of formulas that are evaluated before double-double code is compiled, and of all
such calls until it is."""


class Recomputed:
    """What computes the results of one kernel again."""

    def __init__(self, kernel: StructuredKernel) -> None:
        self.kernel = kernel
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
            return self.kernel.code(dtype, 0, False).run(values, out, result)
        elements = sum(np.size(v) for _, v in self._reals(values))
        found = None
        if elements <= FEW and self._patience > 0:
            found = self._formula(values)
            if found is not None:
                operations = len(found[0].tape.nodes)
                self._patience -= operations
                found = found if operations <= FEW else None
        if found is None:
            wide = self._widened(values, out, result)
            if wide is not None:
                return wide
            found = self._formula(values)
        results = self.kernel.code(dtype, 0, False).run(values, out, result)
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

    def _widened(
        self, values: Sequence[Any], out: Sequence[Array | None] | None, result: np.dtype[Any]
    ) -> list[Any] | None:
        """The outputs from double-double arithmetic; None where that does not suffice."""
        if self._wide is None:
            self._wide = self._made_wide()
        if self._wide is False:
            return None
        try:
            found: list[Any] = self._wide.code("float64").run(values, out, result)
        except InaccurateError:
            return None
        return found

    def _made_wide(self) -> Any:
        """The kernel in double-double arithmetic; False if there is none."""
        from symdiff.runtime.loops.kernel import WideKernel

        tiers, kernel = self.kernel.tiers, self.kernel
        assert tiers is not None
        try:
            program = tiers.wide(self._closed())
        except UnsupportedError:
            return False
        return WideKernel(program, parallel=kernel.parallel, cache=kernel.cache)

    def _closed(self) -> Structured:
        tiers = self.kernel.tiers
        assert tiers is not None
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
