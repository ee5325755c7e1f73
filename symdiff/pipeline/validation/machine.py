"""Machine code against the truth: every piece that is compiled, before its first result counts.

The formulas of a kernel are validated already (`stages.checked`); the remaining source of faults is
rounding, the bound of it that decides what is computed again, double-double arithmetic, and
code generation. So the numbers that a piece of code does not itself flagged are compared with
the proven ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symdiff.pipeline.validation.oracle import Fault, Oracle
from symdiff.runtime import cache
from symdiff.runtime.scalar import elementwise
from symdiff.runtime.scalar.compiled import Body, Point
from symdiff.runtime.scalar.kernel import Kernel

ALLOWED = {"strict": 16.0, "high": 64.0}
"""Errors in ulps from which a result counts as wrong, by level of accuracy: a multiple of what
kernels aim at, as their bounds are estimates. With "fast" there is no bound; with "certified" no
result is that of compiled code."""


def new_code(kernel: Kernel, known: set[str]) -> list[Point | Body]:
    """The pieces of compiled code that were not validated yet, in this process or another."""
    fresh = [c for c in kernel.code() if c.key not in known]
    found = []
    for code in fresh:
        if kernel.cache and cache.load(_mark(code.key)) is not None:
            known.add(code.key)
        else:
            found.append(code)
    return found


def accept(kernel: Kernel, code: Sequence[Point | Body], known: set[str]) -> None:
    """Note that pieces of code are right."""
    for c in code:
        known.add(c.key)
        if kernel.cache:
            cache.store(_mark(c.key), b"", ())


def _mark(key: str) -> str:
    return cache.key("validated", key)


def fault_in(code: Point | Body, oracle: Oracle, accuracy: str) -> Fault | None:
    """Where a piece of code is wrong beyond what its level allows."""
    allowed = ALLOWED.get(accuracy)
    if allowed is None or tuple(code.spec.params) != tuple(oracle.params):
        return None
    spec = code.spec
    if isinstance(code, Point):
        point = code

        def computed(points: Sequence[Sequence[float]]) -> Any:
            return [point.evaluate(p) for p in points]
    elif spec.lean or not spec.params:
        return None  # without the tests that another body has; that is compared
    else:
        body = code

        def computed(points: Sequence[Sequence[float]]) -> Any:
            return _over_arrays(body, points)

    found = oracle.numbers_faults(computed, spec.dtype, allowed)
    return found[0] if found else None


def _over_arrays(body: Body, points: Sequence[Sequence[float]]) -> list[tuple[list[float], bool]]:
    """The outputs of a body at points, and which are flagged."""
    if not points:
        return []
    spec = body.spec
    compute = np.dtype(spec.dtype)
    columns = [np.array(column, compute) for column in zip(*points, strict=True)]
    call = elementwise.Call(elementwise.Bodies(lambda: body), compute, compute, 1e9, False)
    outputs: list[None] = [None] * len(spec.outputs)
    with np.errstate(all="ignore"):
        results, flags = call.run(columns, (len(points),), outputs, spec.flagged)
    flagged = np.zeros(len(points), bool) if flags is None else flags.astype(bool)
    return [([float(r[k]) for r in results], bool(flagged[k])) for k in range(len(points))]
