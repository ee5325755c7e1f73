"""Numbers of which no derivative is taken.

Before:  x*stop_gradient(x)
After:   x*detached(x), whose derivative by x is x
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symdiff.frontend.arrays.small import elementwise
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import Real
from symdiff.ir.functions.marks import DETACHED


def stop_gradient(x: Any) -> Any:
    """A number or array of which no derivative is taken: itself, as a constant.

    Examples
    --------
    >>> import symdiff
    >>> symdiff.symgrad(lambda x: x * symdiff.stop_gradient(x)).grad(3.0)
    3.0
    """
    return x


def trace_stop_gradient(t: Tracer, x: Any) -> Any:
    t.of_derivatives = True  # what the definition says of points holds for functions without
    return elementwise(lambda v: Real(DETACHED(v.expr), v.defined) if isinstance(v, Real) else v, x)


TRACED: dict[Any, Callable[..., Any]] = {stop_gradient: trace_stop_gradient}
"""What is told to the tracer."""
