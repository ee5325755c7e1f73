"""Power and Puiseux series of expressions at a point, with exact coefficients.

`coefficients`   rationals, polynomials in named constants, balls
`laurent`        lazy Laurent series in a local parameter
`expansion`      the series of every node of a DAG on one side of a point
`germs`          combines both sides: analytic, pole, branch point, jump, ...
`one_variable`   the first terms of a formula's series, on one side or both

This folder computes series; `passes/complete/` decides which formulas become series, at which
points and how far around them.

The series of an elementary function comes from its derivative in the table of
functions, as the solution of y' = f'(u) u'; no function has rules here.
"""

from symdiff.interpret.balls import Undecided
from symdiff.series.coefficients import Coefficient, Number, is_zero, number, to_expr
from symdiff.series.expansion import Expansion, Failure
from symdiff.series.germs import Germs
from symdiff.series.laurent import OutOfBudget
from symdiff.series.one_variable import first_terms, taylor_coefficients

__all__ = [
    "Coefficient",
    "Expansion",
    "Failure",
    "Germs",
    "Number",
    "OutOfBudget",
    "Undecided",
    "first_terms",
    "is_zero",
    "number",
    "taylor_coefficients",
    "to_expr",
]
