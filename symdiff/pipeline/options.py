"""The keyword arguments of `symgrad` that shape kernels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.errors import SymdiffError
from symdiff.ir.program import Program

Domain = Mapping[str, tuple[float | None, float | None]] | str | None

ACCURACIES = ("fast", "norm", "high", "strict", "certified")
ENGINES = ("llvm", "numba")
CHECKPOINTS = ("auto", "none", "revolve")


@dataclass(frozen=True, slots=True)
class Options:
    """Checked when made; see `symdiff.symgrad` for what each means."""

    wrt: tuple[str | int, ...] | None = None
    domain: Domain = None
    dtype: Any = None
    target: str = "cpu"
    accuracy: str = "high"
    parallel: bool | str = "auto"
    checkpoint: str | int | None = None
    cache: bool = True
    verify: bool = True
    check_domain: bool = True
    engine: str = "llvm"

    @property
    def level(self) -> str:
        """The accuracy of functions of numbers: "norm" is about elements of arrays alone."""
        return "high" if self.accuracy == "norm" else self.accuracy

    def __post_init__(self) -> None:
        if self.target not in ("cpu", "auto", "cuda"):
            raise SymdiffError(
                f"unknown target {self.target!r}", hint='use "cpu", "cuda" or "auto"'
            )
        if self.engine not in ENGINES:
            raise SymdiffError(f"unknown engine {self.engine!r}", hint='use "llvm" or "numba"')
        if self.engine == "numba" and (self.target != "cpu" or self.accuracy == "certified"):
            which = f'target="{self.target}"' if self.target != "cpu" else 'accuracy="certified"'
            raise SymdiffError(f'engine="numba" with {which}', hint='use engine="llvm"')
        if self.accuracy not in ACCURACIES:
            raise SymdiffError(
                f"unknown accuracy {self.accuracy!r}", hint=f"one of {', '.join(ACCURACIES)}"
            )
        if self.parallel not in ("auto", True, False):
            raise SymdiffError(f"parallel is {self.parallel!r}", hint='"auto", True or False')
        valid = self.checkpoint is None or self.checkpoint in CHECKPOINTS
        if not valid and not (isinstance(self.checkpoint, int) and self.checkpoint > 0):
            raise SymdiffError(
                f"checkpoint is {self.checkpoint!r}",
                hint='None, "auto", "none", "revolve" or a number of bytes',
            )
        if self.dtype is not None and _dtype(self.dtype) not in (np.float32, np.float64):
            raise SymdiffError(f"dtype {self.dtype!r} is not supported", hint="float32 or float64")


def _dtype(given: Any) -> Any:
    try:
        return np.dtype(given)
    except TypeError:
        return None


def conditions(domain: Domain, program: Program) -> list[ir.Expr]:
    """What `domain=` says, as conditions on the parameters."""
    if domain is None:
        return []
    if isinstance(domain, str):
        from symdiff.frontend.formula.parse import parse_condition

        return [parse_condition(domain, program.params)]
    facts = []
    for name, bounds in domain.items():
        if name not in program.params:
            raise SymdiffError(f"domain names '{name}', which {program.name} does not take")
        low, high = bounds
        x = ir.var(name)
        if low is not None and low != -np.inf:
            facts.append(ir.le(low, x))
        if high is not None and high != np.inf:
            facts.append(ir.le(x, high))
    return facts
