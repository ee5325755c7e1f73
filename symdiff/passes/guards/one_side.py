"""One side of a branch, while the prover decides which points it guards."""

from __future__ import annotations

from dataclasses import dataclass, field

from symdiff import ir
from symdiff.ir import FALSE, Expr


@dataclass(slots=True)
class Side:
    """What is known of one side of a branch while its conditions are examined.

    Attributes
    ----------
    plain : the other side, where the condition does not hold.
    rest, far, wide : where the side stays: as no guard was proved or nothing is defined, as the
        other side differs, as a tolerance exceeds the tested value.
    coarse : whether values are those of the side, and only derivatives those of the other.
    repaired : the points at which it is a guard.
    """

    plain: Expr
    rest: Expr = FALSE
    far: Expr = FALSE
    wide: Expr = FALSE
    coarse: bool = False
    repaired: list[dict[Expr, Expr]] = field(default_factory=list)

    def stays(self, condition: Expr) -> None:
        self.rest = ir.or_(self.rest, condition)

    def is_whole(self) -> bool:
        return self.rest is self.wide is FALSE
