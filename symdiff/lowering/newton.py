"""One step of Newton's method where the library's function errs by several units.

Before:  cbrt(x)
After:   y + (x - y**3)/(3*y**2) with y = cbrt(x), where no power of y is out of range

Requires: lowered nodes of doubles, to be computed by the C library's functions of numbers: those
of registers are others (`codegen.llvm.printer`).
Ensures: the same values within those functions' errors; what is corrected is within 0.6 ulp.
glibc's cbrt errs by up to 3.7 ulp.
"""

from __future__ import annotations

from collections.abc import Sequence

from symdiff.ir import ADD, WHERE, Expr, raw, topological, transform, with_args
from symdiff.ir.functions import CBRT
from symdiff.lowering.compensated.functions import CORRECTED

ROUGH = (CBRT,)
"""Functions whose correction is a step from the library's value."""


def corrected_by_newton(roots: Sequence[Expr]) -> tuple[Expr, ...]:
    """The nodes with a step of Newton's method after such functions."""
    if not any(e.op in ROUGH for e in topological(roots)):
        return tuple(roots)

    def rule(e: Expr, args: tuple[Expr, ...]) -> Expr:
        made = with_args(e, args)
        if e.op not in ROUGH:
            return made
        correction = CORRECTED[e.op]
        value, error, _ = correction.build(args[0], False)
        return raw(WHERE, (correction.inside(args[0]), raw(ADD, (value, error)), made))

    return transform(roots, rule)
