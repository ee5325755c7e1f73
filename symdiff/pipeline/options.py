"""The keyword arguments of `symgrad` that shape kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.errors import SymdiffError
from symdiff.ir.program import Program
from symdiff.passes.analysis.compensations import compensates

Domain = Mapping[str, tuple[float | None, float | None] | str] | str | None

ACCURACIES = ("fast", "high", "strict", "certified")
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
    by_value: bool | None = None

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
        if self.by_value not in (None, True, False):
            raise SymdiffError(f"by_value is {self.by_value!r}", hint="None, True or False")
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

    def with_own_errors(self, roots: Sequence[ir.Expr]) -> Options:
        """The options for a captured program: one that computes its own rounding errors is computed
        with those."""
        if self.accuracy not in ("fast", "high") or not compensates(roots):
            return self
        return replace(self, accuracy="strict")

    def must_name(self, parameters: Sequence[str], function: str) -> None:
        """Refuse bounds of what is no parameter of a function, or of leaves of one."""
        for name in self.domain if isinstance(self.domain, Mapping) else ():
            if name not in parameters and not str(name).startswith(
                tuple(f"{p}_" for p in parameters)
            ):
                raise SymdiffError(
                    f"domain names '{name}', which {function} does not take",
                    hint=f"its parameters are {', '.join(parameters) or 'none'}",
                )


def _dtype(given: Any) -> Any:
    try:
        return np.dtype(given)
    except TypeError:
        return None


def conditions(domain: Domain, program: Program) -> list[ir.Expr]:
    """What `domain=` says, as conditions on the parameters.

    Raises
    ------
    SymdiffError : where it is neither a condition nor bounds or conditions by the names of parameters.
    """
    if domain is None:
        return []
    if isinstance(domain, str):
        return [_condition(domain, program)]
    if not isinstance(domain, Mapping):
        raise SymdiffError(f"domain is {domain!r}", hint=DOMAIN_HINT)
    facts = []
    for name, bounds in domain.items():
        if name not in program.params:
            raise SymdiffError(f"domain names '{name}', which {program.name} does not take")
        if isinstance(bounds, str):
            facts.append(_condition(bounds, program))
            continue
        low, high = _bounds(name, bounds)
        x = ir.var(name)
        if low != -np.inf:
            facts.append(ir.le(low, x))
        if high != np.inf:
            facts.append(ir.le(x, high))
    return facts


DOMAIN_HINT = 'such as {"x": (0, None)}, {"x": "x > 0"} or "x > 0 and y > x"'


def _condition(text: str, program: Program) -> ir.Expr:
    from symdiff.frontend.formula.parse import parse_condition

    return parse_condition(text, program.params)


def _bounds(name: str, bounds: Any) -> tuple[Any, Any]:
    """The least and the greatest value that a parameter may have, infinite where there is none."""
    given = tuple(bounds) if isinstance(bounds, Sequence | np.ndarray) else ()
    if len(given) != 2 or not all(b is None or isinstance(b, Real) for b in given):
        raise SymdiffError(f"domain of '{name}' is {bounds!r}", hint=DOMAIN_HINT)
    low, high = -np.inf if given[0] is None else given[0], np.inf if given[1] is None else given[1]
    if not low <= high or low == np.inf or high == -np.inf:
        raise SymdiffError(f"domain of '{name}' is empty: {bounds!r}")
    return low, high
