"""LLVM IR of functions of vectors that are right only where the processor rounds to nearest.

Code that is also run with other directions of rounding (`runtime.loops.probe`) calls libm for each element there.
"""

from __future__ import annotations

from symdiff.ir.functions import ATAN, COS, SIN, TAN

TO_NEAREST = (SIN, COS, TAN, ATAN)
"""What glibc's vector functions, or some of them, compute to a few digits only where the processor rounds up or down: they
find the nearest multiple of pi by a sum whose last bits hold it."""
FAINT = (
    "@faint = internal global double 0x3C30000000000000\n"
    '!3 = !{!"branch_weights", i32 1000000, i32 1}'
)
"""2**-60, which is lost in 1 when rounding to nearest; read as if it could change, so that nothing is folded."""


def function(libm: str, kind: str, variant: str, slow: str) -> str:
    """A function of a register of a `kind` that calls `variant`, or `slow` in other directions."""
    call = f"call {kind} @{{}}({kind} %x) #1"
    return "\n".join(
        [
            f"define internal {kind} @directed.{libm}({kind} %x) alwaysinline nounwind {{",
            "%faint = load volatile double, ptr @faint",
            "%up = fadd double 1.0, %faint",
            "%down = fsub double 1.0, %faint",
            "%is.nearest = fcmp oeq double %up, %down",
            "br i1 %is.nearest, label %nearest, label %other, !prof !3",
            "nearest:",
            f"%y0 = {call.format(variant)}",
            "br label %end",
            "other:",
            f"%y1 = {call.format(slow)}",
            "br label %end",
            "end:",
            f"%y = phi {kind} [ %y0, %nearest ], [ %y1, %other ]",
            f"ret {kind} %y",
            "}",
        ]
    )


__all__ = ["FAINT", "TO_NEAREST", "function"]
