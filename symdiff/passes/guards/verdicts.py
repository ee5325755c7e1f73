"""What is found out about a guard.

Requires: a verdict in stand-ins for variables and quantities.
Ensures: the same verdict in the original variables.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from symdiff import ir
from symdiff.interpret import Answer, ulp_error
from symdiff.ir import Expr

QUANTITY = ir.var("the guarded quantity")
"""What a guard is about, where it depends on that alone."""
BEST = 3
"""What the verdict on a guard is worth that is right for all other variables."""
Kind = Literal["guard", "clamp", "epsilon"]
"""The kind of guard: a branch; a clamp, which has the value at the end of its band; or what is always
added."""
Place = tuple[tuple[Expr, Fraction], ...]
"""A point, or the value of a quantity on which alone the guard depends."""
Solved = tuple[tuple[Expr, Expr], ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a guard does.

    kind : "right" or "wrong"; or "unproved": what is got and true are slopes then.
    singular : the singular points, solved for variables.
    where : where the guard is most wrong, or least right.
    got, truth, ulps : the guard's value there, the true one, and their distance.
    at_singular : whether that is a singular point.
    outside : whether the guard is also the value where the other side has none.
    coarse : whether it is right as the limit, but not as the value of the whole band.
    local : whether it is right only for some values of the variables that do not lead away
        from the singular points.
    partly : whether it is local as the other side has no limit for some of them, or another.
    scale : the size of the values that were met.
    missed : where it is another for most of them, the worst that was met.
    regular : whether the other side is not singular there: the guard is a shortcut to its value.
    """

    kind: Literal["right", "wrong", "unproved"]
    where: Place
    got: float
    truth: float
    ulps: float
    singular: Solved
    at_singular: bool
    outside: bool = False
    coarse: bool = False
    local: bool = False
    partly: bool = False
    scale: float = 1.0
    missed: Verdict | None = None
    regular: bool = False

    def named(self, names: Mapping[Expr, Expr]) -> Verdict:
        """The verdict in terms of what variables denote."""
        return replace(
            self,
            where=tuple((names.get(e, e), x) for e, x in self.where),
            singular=tuple(
                (names.get(e, e), ir.substitute((x,), names)[0]) for e, x in self.singular
            ),
            missed=None if self.missed is None else self.missed.named(names),
        )


def worth(v: Verdict | None) -> int:
    """How good it is to have a verdict, if there are several: one on smaller tolerances if all are wrong."""
    return 0 if v is None else 1 if v.kind == "wrong" else 2 if v.partly else BEST


def disagreement(got: Answer, truth: Answer) -> float:
    """The distance of a value from the true one, in ulps of the true one."""
    return ulp_error(got.value, truth.ball if truth.ball is not None else truth.value)


def overflows(a: Answer) -> bool:
    """Whether a value is finite, and beyond the range of doubles."""
    return math.isinf(a.value) and a.ball is not None and bool(a.ball.is_finite())


def is_far(got: Answer, truth: Answer, tolerance: float) -> bool:
    """Whether a value differs from the true one by more than a part of it."""
    return abs(got.value - truth.value) > tolerance * abs(truth.value)
