"""symdiff: derivatives of Python functions, simplified and cancelled before evaluation."""

from symdiff.api import (
    grad,
    hessian,
    jacobian,
    jvp,
    symgrad,
    value_and_grad,
    vjp,
)
from symdiff.errors import (
    GuardWarning,
    ParseError,
    SymdiffError,
    TargetError,
    UnsupportedError,
    ValidationWarning,
    VerificationError,
)
from symdiff.frontend import Array
from symdiff.function import SymbolicFunction
from symdiff.lambdify import lambdify
from symdiff.progress import show_progress
from symdiff.rules import custom_rule
from symdiff.runtime.tiers import AccuracyWarning
from symdiff.validation.settings import options
from symdiff.version import __version__

__all__ = [
    "AccuracyWarning", "Array", "GuardWarning", "ParseError", "SymbolicFunction", "SymdiffError", "TargetError", "UnsupportedError", "ValidationWarning", "VerificationError", "__version__",
    "custom_rule", "grad", "hessian", "jacobian", "jvp", "lambdify", "options", "show_progress", "symgrad", "value_and_grad", "vjp",
]  # fmt: skip
