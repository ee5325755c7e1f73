"""From Python source, SymPy or text to a program: reading, tracing, refusing.

`signature`      parameters: which are real, which static
`parameters`     which parameters are arrays
`source`         the syntax tree of a function, with exact places in the user's file
`typed_in`       the text of functions that are in no file
`capture`        traces a function: the pipeline's first stage
`interpreter`    the tracer that knows all of Python that can be traced
`syntax/`        a handler for each node of Python's syntax
`trace/`         the state of a trace
`arrays/`        arrays
`loops/`         loops that are kept as loops
`library/`       functions that the tracer knows
`formula/`       formulas given as text
`sympy/`         SymPy expressions
`captures`       globals, closure cells and attributes that a capture read
`per_element`    whether a traced function of arrays is elementwise
`by_value/`      functions that are refused, run by plain Python on scalars that record
`pytrees`        nested arguments
`scalarise`      from an elementwise program to a function of numbers
"""

from typing import TYPE_CHECKING

from symdiff.process.lazy_modules import public_names

if TYPE_CHECKING:
    from symdiff.frontend.arrays.casting import must_not_follow
    from symdiff.frontend.capture import capture
    from symdiff.frontend.captures import Captures, include, noting
    from symdiff.frontend.parameters import EACH, Shapes
    from symdiff.frontend.pytrees import Trees
    from symdiff.frontend.signature import Array, Parameters
    from symdiff.frontend.sympy.to_python import from_sympy, is_sympy
    from symdiff.frontend.syntax.calls import Inlined, runs_when_traced
    from symdiff.frontend.syntax.inlining import Placed
    from symdiff.frontend.trace.extents import sizes_must_be_known
    from symdiff.frontend.trace.values import SymArray

_MODULES = {
    "EACH": "symdiff.frontend.parameters",
    "Array": "symdiff.frontend.signature",
    "Captures": "symdiff.frontend.captures",
    "Inlined": "symdiff.frontend.syntax.calls",
    "Parameters": "symdiff.frontend.signature",
    "Placed": "symdiff.frontend.syntax.inlining",
    "Shapes": "symdiff.frontend.parameters",
    "SymArray": "symdiff.frontend.trace.values",
    "Trees": "symdiff.frontend.pytrees",
    "capture": "symdiff.frontend.capture",
    "from_sympy": "symdiff.frontend.sympy.to_python",
    "include": "symdiff.frontend.captures",
    "is_sympy": "symdiff.frontend.sympy.to_python",
    "must_not_follow": "symdiff.frontend.arrays.casting",
    "noting": "symdiff.frontend.captures",
    "runs_when_traced": "symdiff.frontend.syntax.calls",
    "sizes_must_be_known": "symdiff.frontend.trace.extents",
}
"""Imported at first use: formulas need none of them."""


public_names(__name__, _MODULES)

__all__ = [
    "EACH",
    "Array",
    "Captures",
    "Inlined",
    "Parameters",
    "Placed",
    "Shapes",
    "SymArray",
    "Trees",
    "capture",
    "from_sympy",
    "include",
    "is_sympy",
    "must_not_follow",
    "noting",
    "runs_when_traced",
    "sizes_must_be_known",
]
