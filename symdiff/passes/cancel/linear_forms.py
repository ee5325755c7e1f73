"""Linear forms, solved for a variable."""

from __future__ import annotations

from fractions import Fraction

from symdiff import ir
from symdiff.ir import VAR, ZERO, Expr

Form = dict[Expr, Fraction]
"""A linear form: a nonzero factor for each of its unknowns."""


def solved(terms: Form) -> tuple[Expr, Expr] | None:
    """A variable that no other unknown depends on, and its value where the form is 0; None if there is
    none."""
    for v in terms:
        if v.op is VAR and not any(v in ir.variables((w,)) for w in terms if w is not v):
            rest: Expr = ZERO
            for w, q in terms.items():
                if w is not v:
                    rest = rest + ir.const(-q / terms[v]) * w
            return v, rest
    return None
