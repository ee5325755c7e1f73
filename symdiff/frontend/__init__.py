"""From Python source to a `Program`: reading, tracing, refusing."""

from symdiff.frontend.calls import Inlined, runs_when_traced
from symdiff.frontend.capture import capture
from symdiff.frontend.inlining import Placed
from symdiff.frontend.parameters import Shapes
from symdiff.frontend.signature import Array, Parameters
from symdiff.frontend.sympy_source import from_sympy, is_sympy
from symdiff.frontend.values import SymArray

__all__ = [
    "Array",
    "Inlined",
    "Parameters",
    "Placed",
    "Shapes",
    "SymArray",
    "capture",
    "from_sympy",
    "is_sympy",
    "runs_when_traced",
]
