"""Verdicts on guards.

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
"""The quantity that a guard bounds, where the guard depends on it alone."""
BEST = 3
"""The worth of a verdict on a guard that is right for all other variables."""
Kind = Literal["guard", "clamp", "epsilon"]
"""The kind of guard: a branch; a clamp, which has the value at the end of its band; or what is always
added."""
Place = tuple[tuple[Expr, Fraction], ...]
"""A point, or the value of a quantity on which alone the guard depends."""
Solved = tuple[tuple[Expr, Expr], ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a guard.

    kind : "right" or "wrong"; or "unproved": then got and truth are slopes.
    singular : the singular points, solved for variables.
    where : where the guard is most wrong, or least right.
    got, truth, ulps : the guard's value there, the true one, and their distance.
    at_singular : whether that is a singular point.
    outside : whether the guard is also the value where the other side has none.
    coarse : whether it is right as the limit, but not as the value of the whole band.
    local : whether it is right only for some values of the variables that do not lead away
        from the singular points.
    partly : whether it is local because the other side has no limit, or another one, for some of
        them.
    scale : the size of the values found.
    missed : the worst verdict, where the value differs for most of them.
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
    """The worth of a verdict among several: if all are wrong, prefer smaller tolerances."""
    return 0 if v is None else 1 if v.kind == "wrong" else 2 if v.partly else BEST


def disagreement(got: Answer, truth: Answer) -> float:
    """The distance of a value from the true one, in ulps of the true one."""
    return ulp_error(got.value, truth.ball if truth.ball is not None else truth.value)


def overflows(a: Answer) -> bool:
    """Whether a value is finite, and beyond the range of doubles."""
    return math.isinf(a.value) and a.ball is not None and bool(a.ball.is_finite())


def is_far(got: Answer, truth: Answer, tolerance: float) -> bool:
    """Whether a value differs from the true one by more than a relative tolerance."""
    return abs(got.value - truth.value) > tolerance * abs(truth.value)
