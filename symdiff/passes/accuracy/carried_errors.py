"""What is assumed of the error of a value that a loop carries, while `estimates` goes through its body.

Before:  nothing is known of s in s = s + x[i]*y[i]
After:   its error is the root of a sum of squares, which the loop carries beside it

Requires: a carried value, and the error of its initial one.
Ensures: an assumption only grows: constants are raised a few times, and then computed beside.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from symdiff import ir
from symdiff.ir import INF, ZERO, Expr, const
from symdiff.ir.loop_program import Carried
from symdiff.lowering.loops.collected import Reduction
from symdiff.passes.accuracy.joint_errors import Joint
from symdiff.passes.accuracy.propagation import Error, Propagation

RAISED = 2
"""How often an error of a loop is raised before it is computed beside."""
TINY = {"float64": Fraction(1, 2**900), "float32": Fraction(1, 2**100)}
"""A smaller sum of squares may have underflowed."""


@dataclass(slots=True)
class Carrying:
    """What is assumed of the error of a carried value, and found out.

    Attributes
    ----------
    init : its error before the loop.
    sum : what it collects, if that is all it does.
    static : whether `k` units are assumed.
    raises : how often that was raised.
    names : of what is carried for the error, and of its results.
    common : units that all terms share, relative to the sum.
    shared : whether there is a part that all terms share, absolute.
    apart : whether nothing in the loop reads the value, but its own next one.
    inside : whether a loop inside collects it.
    joint : the covariance that it is part of (see `joint_errors`), if it is.
    count : of the iterations, if the loop has one.
    """

    carried: Carried
    init: Error
    sum: Reduction | None
    static: bool
    k: Fraction
    raises: int = 0
    squared: bool = False
    names: list[str] = field(default_factory=list)
    start: Expr = ZERO
    next: tuple[Expr, Expr] = (ZERO, ZERO)
    common: Fraction = Fraction(0)
    shared: bool = False
    apart: bool = False
    inside: bool = False
    joint: Joint | None = None
    count: Expr | None = None

    def raised(self, found: Error) -> bool:
        """Take an error of the next value into account; whether it is more than assumed."""
        if found.static and found.k <= self.k:
            return False
        self.raises += 1
        if found.static and self.raises <= RAISED:
            self.k = found.k
        else:
            self.static, self.names = False, []
        return True

    def error(self, which: int, work: Propagation) -> Error:
        """Of the value at the start of an iteration (0), or after the last (1)."""
        if self.joint is not None:
            return Error(Fraction(0), self.joint.error(self.carried, which))
        value = ir.var(self.carried.name if which == 0 else self.carried.result)
        first = ir.var(self.names[which])
        if self.sum is None or self.sum.kind in ("max", "min"):
            return Error(Fraction(0), first)
        root = first**ir.HALF
        if self.sum.kind == "add" and self.carried.init is ZERO:
            root = ir.where(
                ir.or_(ir.lt(const(TINY[work.dtype]), first), ir.eq(value, ZERO)), root, INF
            )  # fmt: skip
        total = root + ir.var(self.names[2 + which]) if self.shared else root
        if self.sum.kind == "mul":
            total = total * work.size(value)
        return Error(self.common, total)


__all__ = ["Carrying"]
