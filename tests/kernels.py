"""Kernels and compiled entries as tests make and see them: one door to how they are made."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from symdiff.codegen.llvm import jit
from symdiff.ir import FALSE, Expr
from symdiff.pipeline.lowered.scalar import LoweredFunction
from symdiff.runtime.protocols import Plain, Tier
from symdiff.runtime.scalar.kernel import Kernel

Test = Expr | Callable[[tuple[Expr, ...], str, str], Expr]


@dataclass(frozen=True, slots=True)
class Tested(LoweredFunction):
    """A function with a given error test in place of the one that is found."""

    test: Any = None
    again: Tier | None = None

    def compensated(self) -> Tier | None:
        return self.again

    def double(self, dtype: str, kind: str) -> Tier:
        outputs = self.outputs
        if self.rearranged:
            outputs = self._rearranged(dtype, "point" if kind == "point" else "array")
        found = self.test
        return Tier(outputs, found if isinstance(found, Expr) else found(outputs, dtype, kind))


def make_kernel(
    outputs: Iterable[Expr],
    params: Iterable[str] = ("x", "y"),
    *,
    test: Test | None = None,
    second: Iterable[Expr] | None = None,
    flagged: Expr | None = None,
    tiered: bool = False,
    rearranged: bool = True,
    cache: bool = False,
    **options: Any,
) -> Kernel:
    """The kernel of some outputs.

    Parameters
    ----------
    test : where elements are flagged; the one that is found if it is not given and `tiered`.
    second : what computes flagged elements of arrays again.
    flagged : where elements stay flagged then.
    tiered : with all tiers; `rearranged` as for `LoweredFunction`.
    """
    outputs, params = tuple(outputs), tuple(params)
    if not tiered and second is None and not callable(test):
        return Kernel(Plain("f", params, outputs, test), cache=cache, **options)
    common: dict[str, Any] = {
        "keep": False,
        "rearranged": tiered and rearranged,
        "corrected": tiered,
    }
    if test is None:
        function = LoweredFunction("f", params, outputs, outputs, **common)
    else:
        again = (
            None if second is None else Tier(tuple(second), FALSE if flagged is None else flagged)
        )
        function = Tested("f", params, outputs, outputs, test=test, again=again, **common)
    return Kernel(function, cache=cache, **options)


def narrow() -> jit.Host:
    """This processor, or what it would be without AVX-512."""
    found = jit.host()
    if found.bits < 512:
        return found
    isa = found.isa and "d"
    return replace(found, features=found.features.replace("+avx512", "-avx512"), bits=256, isa=isa)


def at_once(count: int, task: Callable[[], Any]) -> list[Any]:
    """What some threads return that do the same."""
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(task())) for _ in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return found


def compiled_entries(f: Any, **static: Any) -> dict[Any, Callable[..., Any]]:
    """The compiled entries of a function, by what they serve; for values of its static
    parameters, if it has some."""
    return dict(f._served.entries(static))
