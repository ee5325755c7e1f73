"""The slow, exact reference: programs evaluated in ball arithmetic.

The class `Certified` returns the correctly rounded value of each output at a point
of doubles, proven by balls of growing precision (python-flint), and the
limit where the formula is undefined at the point but all paths into it agree.

`balls`        ball arithmetic of the core operations; the precision
`flat`         the DAG as a flat list of ball operations; why a result is undefined
`rationals`    nodes that are rational numbers, where balls leave them open
`rounding`     from a ball to the one double it proves; errors in ulps
`limits`       the value that every path into a point tends to
`paths`        paths into a point
`along_lines`  derivatives at a point, by the definition
`lines`        the points of a line through a point, and the decisions on both sides
`middles`      the middle of a thin band on a line
`special_points`  where formulas of derivatives differ from the definition
`places`       where a captured program is not smooth
`meeting_places`  places that are not smooth, and which matter where they meet
`secants`      points at which quantities are zero
`in_doubles`   formulas of numbers in doubles, at many points
`terms`        the parts of derivations: partial derivatives and weights
`deep`         values where functions are farther from their limits than any precision reaches
`infinite`     formulas at infinite arguments, as functions of the finite ones
`extended`     the value of the formula with IEEE infinities, for poles
`ball_values`  values of functions that only ball arithmetic has
`certified`    the search that combines them
`loops`        programs with arrays and loops, statement by statement
`unrolled`     the same at given sizes, as formulas of the elements of their arguments
`work`         the amount of ball arithmetic that a thread has done, in operations
"""

from symdiff.interpret.balls import Undecided, exclusive
from symdiff.interpret.certified import Answer, Certified, Status, evaluate, truth
from symdiff.interpret.rounding import ulp_error

__all__ = [
    "Answer",
    "Certified",
    "Status",
    "Undecided",
    "evaluate",
    "exclusive",
    "truth",
    "ulp_error",
]
