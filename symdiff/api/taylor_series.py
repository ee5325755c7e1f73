"""`f.taylor(...)`: derivatives of any order along a direction."""

from __future__ import annotations

import math
import operator
from fractions import Fraction
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.api.whole_arguments import leaves_of_result
from symdiff.errors import SymdiffError, UnsupportedError
from symdiff.interpret import exclusive
from symdiff.ir.functions import EXTENDED
from symdiff.ir.plain import exactly
from symdiff.ir.program import Program, map_tree
from symdiff.pipeline.single_passes import PRECISION, REASONS
from symdiff.series import Failure, taylor_coefficients

CLOSE = 2.0**-40
"""How much a value may differ from the limit of its neighbourhood."""


def taylor(self: Any, /, *args: Any, order: int, direction: Any = None, **kwargs: Any) -> Any:
    """The Taylor coefficients of `f(x + t*direction)` in t, from t**0 to t**order.

    The k-th one is the k-th derivative along the direction, over k!. They are computed as series in ball
    arithmetic, with work that grows with the square of the order, and are right to the last digit, also at
    removable singularities.

    Parameters
    ----------
    order : the last power of t.
    direction : one number for each real parameter, or a number where there is one; 1 then by default.

    Returns
    -------
    numpy.ndarray, shape (order + 1,)
        Or one for each result, nested as these are.

    Raises
    ------
    SymdiffError : where there is no such series: at a kink, a jump or a pole, outside of the domain, and
        where the value is not the limit of the formula near the point.
    UnsupportedError : for functions with arrays or loops, and for derivatives.

    Examples
    --------
    >>> import math, symdiff
    >>> symdiff.symgrad(lambda x: math.exp(x)).taylor(0.0, order=3).tolist()
    [1.0, 1.0, 0.5, 0.16666666666666666]
    """
    real, static = self._source.parameters.bind(args, kwargs)
    if self._source.path:
        raise UnsupportedError(
            f"taylor() of the derivative {self.__name__}", hint="call it of the function"
        )
    from symdiff.pipeline.scalar import Notes, unguarded

    program = self._source.raw(static, self._source.shapes(static, real))
    if not isinstance(program, Program) or any(np.ndim(x) for x in real):
        raise UnsupportedError(f"taylor() of {self.__name__}, which has arrays or loops")
    if isinstance(order, bool) or not isinstance(order, int) or order < 0:
        raise SymdiffError(f"order is {order!r}", hint="an integer, at least 0")
    way = _direction(direction, len(real))
    point = [float(x) for x in real]
    if not all(map(math.isfinite, (*point, *way))):
        raise SymdiffError("the point of a Taylor series is not finite")
    values = leaves_of_result(self(*args, **kwargs))  # which refuses points outside of the domain
    t = ir.var("t along the direction")
    line = {
        ir.var(p): ir.const(Fraction(x)) + ir.const(Fraction(v)) * t
        for p, x, v in zip(program.params, point, way, strict=True)
    }
    found, outputs = [], unguarded(program, Notes())
    smooth = ir.transform(outputs, _extension)
    with exclusive(PRECISION):
        for e in ir.substitute(exactly(smooth), line):
            try:
                found.append(np.array(taylor_coefficients(e, t, order)))
            except Failure as failure:
                why = REASONS.get(failure.kind, failure.kind)
                raise SymdiffError(f"{self.__name__} has no Taylor series there: {why}") from None
    for series, value, held in zip(
        found, values, map(operator.is_not, outputs, smooth), strict=True
    ):
        if held:  # in a band the value is as written
            series[0] = value
        if not math.isclose(series[0], value, rel_tol=CLOSE, abs_tol=CLOSE):
            raise SymdiffError(f"{self.__name__} has no Taylor series there: it jumps to its value")
    return map_tree(found.__getitem__, program.tree)


def _extension(n: ir.Expr, args: tuple[ir.Expr, ...]) -> ir.Expr:
    """The smooth function where a guard holds a value, as derivatives have it."""
    return args[1] if n.op is EXTENDED else ir.rebuild(n, args)


def _direction(direction: Any, count: int) -> list[float]:
    if direction is None:
        if count != 1:
            raise SymdiffError(
                f"taylor() of a function of {count} numbers needs a direction",
                hint="direction=(1.0, 0.0, ...)",
            )
        return [1.0]
    found = [float(v) for v in np.ravel(direction)]
    if len(found) != count:
        raise SymdiffError(f"the direction has {len(found)} numbers, the function {count}")
    return found


__all__ = ["taylor"]
