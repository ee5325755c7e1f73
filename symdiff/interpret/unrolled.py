"""A program with arrays and loops at given sizes, as formulas of the elements of its arguments.

Before:  for i: s = s + x[i]**2, for an x of two elements
After:   x[0]**2 + x[1]**2

So what is known of functions of numbers (proven values, limits at points where a formula is
undefined) holds for it too. Loops whose number of iterations depends on real values, and
routines that choose a pivot, have no such formula.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.errors import UnsupportedError
from symdiff.interpret.loops import Numbers, run
from symdiff.ir import Expr, Op
from symdiff.ir.loop_program import LoopProgram


class TooLong(Exception):  # noqa: N818
    """There would be more operations than allowed."""


class Formulas(Numbers):
    """Arithmetic of expressions.

    Parameters
    ----------
    most : operations to be made, at most.
    """

    bits = 53

    def __init__(self, most: int) -> None:
        self.left = most

    def real(self, value: Any) -> Expr:
        """A number as an expression."""
        if isinstance(value, Expr):
            return value
        if isinstance(value, bool | int | np.integer):
            return ir.const(int(value))
        exact = isinstance(value, Fraction) or math.isfinite(value)
        return ir.const(Fraction(value)) if exact else ir.const(float(value))

    def apply(self, op: Op, args: Sequence[Any]) -> Any:
        """An operation on reals, or on conditions."""
        self.left -= 1
        if self.left < 0:
            raise TooLong
        made = [ir.boolean(a) if isinstance(a, bool) else a for a in args]
        found = ir.apply(op, *made)
        return found.value if found.op is ir.BOOL else found

    def choose(self, condition: Any, yes: Any, no: Any) -> Any:
        """One of two values, or both with the condition."""
        if not isinstance(condition, Expr):
            return yes if condition else no
        if any(isinstance(v, bool) or (isinstance(v, Expr) and v.op.boolean) for v in (yes, no)):
            either = [ir.boolean(v) if isinstance(v, bool) else v for v in (yes, no)]
            return ir.or_(
                ir.and_(condition, either[0]), ir.and_(ir.not_(condition), either[1])
            )  # fmt: skip
        if yes is no or (isinstance(yes, int) and yes == no):
            return yes
        return self.apply(ir.WHERE, [condition, self.real(yes), self.real(no)])

    def decided(self, condition: Any) -> bool:
        """A condition that must not depend on real values."""
        if isinstance(condition, Expr):
            raise UnsupportedError("a condition on real values has no formula here")
        return bool(condition)

    def holds(self, condition: Any) -> bool:
        """Whether a condition holds, as far as that is known: a call has checked it."""
        return True if isinstance(condition, Expr) else bool(condition)

    def whole(self, value: Any) -> int:
        """An integer that must not depend on real values."""
        if isinstance(value, Expr):
            raise UnsupportedError("an integer of real values has no formula here")
        return int(value)

    def routine(self, name: str, args: Sequence[Any]) -> Sequence[Any]:
        """The results of a routine of a library."""
        if name != "matmul":
            raise UnsupportedError(f"{name} has no formula")
        a, b = args
        if 0 in (*a.shape, *b.shape):
            return (np.full((*a.shape[:-1], *b.shape[1:]), ir.ZERO, object),)
        self.left -= 2 * a.size * (b.size // len(b))
        if self.left < 0:
            raise TooLong
        return (a @ b,)


def unrolled(
    program: LoopProgram, shapes: Mapping[str, tuple[int, ...]], given: Sequence[Any], most: int
) -> tuple[list[str], list[Any]]:
    """Names of the elements of real parameters, and the outputs: expressions of them, and
    arrays of expressions.

    Parameters
    ----------
    shapes : of the real parameters.
    given : the arguments, of which integers count.
    most : operations of the formulas, at most.

    Raises
    ------
    TooLong : if there are more.
    UnsupportedError : if what is computed depends on real values otherwise than by branches.
    """
    names: list[str] = []
    args: list[Any] = []
    for p, value in zip(program.params, given, strict=True):
        if p.type.kind != "f":
            args.append(value)
            continue
        elements = np.empty(shapes[p.name], object)
        for k in range(elements.size):
            names.append(f"{p.name} {k}")
            elements.flat[k] = ir.var(names[-1])
        args.append(elements if elements.ndim else elements[()])
    return names, run(program, args, Formulas(most))
