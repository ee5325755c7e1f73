"""The guards that were found, and their treatment, for the report."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from symdiff.ir import Expr
from symdiff.passes.cancel.literals import LiteralRepair

Place = tuple[tuple[Expr, Fraction], ...]
"""A point, or the value of a quantity on which alone the guard depends."""
Solved = tuple[tuple[Expr, Expr], ...]


@dataclass(frozen=True, slots=True)
class Guard:
    """A guard that was found.

    Attributes
    ----------
    node, condition : the branch or quotient, as written, and when the guard acts
        (`TRUE` for an epsilon that is always added).
    kind : "repaired": dropped, as its value is the limit; "kept": it is not.
    point : the singular points, as (variable or quantity, value) pairs.
    where : where the two sides differ most. at_point : whether that is a singular point.
    guarded, limit : the value of the guard there, and the true one.
    ulps : their distance, in ulps of the true value.
    coarse : whether it is the limit, but misses values near it by more than rounding.
    """

    node: Expr
    condition: Expr
    kind: Literal["repaired", "kept"]
    point: Solved
    where: Place
    guarded: float
    limit: float
    ulps: float
    at_point: bool
    coarse: bool = False


@dataclass(slots=True)
class GuardNotes:
    """The work of the pass, for the report."""

    guards: list[Guard] = field(default_factory=list)
    literals: list[LiteralRepair] = field(default_factory=list)
    over_budget: list[Expr] = field(default_factory=list)
