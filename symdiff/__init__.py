"""symdiff: derivatives of Python functions, simplified and cancelled before evaluation."""

from typing import TYPE_CHECKING

from symdiff.errors import (
    ByValueWarning,
    DomainError,
    GuardWarning,
    OutputWarning,
    ParseError,
    SymdiffError,
    TargetError,
    UnsupportedError,
    ValidationWarning,
    VerificationError,
)
from symdiff.process.lazy_modules import public_names
from symdiff.version import __version__

if TYPE_CHECKING:
    from symdiff.api.calculus import cancel, complete, diff, series_at, simplify
    from symdiff.api.custom_rule import custom_rule
    from symdiff.api.debugging import debug
    from symdiff.api.function import SymbolicFunction
    from symdiff.api.solutions import argmin, integral, ode, root
    from symdiff.api.transforms import grad, hessian, jacobian, jvp, symgrad, value_and_grad, vjp
    from symdiff.frontend import Array
    from symdiff.frontend.library.primitives import stop_gradient
    from symdiff.interop.lambdify import lambdify
    from symdiff.pipeline.validation.settings import options
    from symdiff.process.progress import show_progress
    from symdiff.runtime.scalar.fallback import AccuracyWarning

_MODULES = {
    **dict.fromkeys(
        ("grad", "hessian", "jacobian", "jvp", "symgrad", "value_and_grad", "vjp"),
        "symdiff.api.transforms",
    ),
    **dict.fromkeys(
        ("cancel", "complete", "diff", "series_at", "simplify"), "symdiff.api.calculus"
    ),
    **dict.fromkeys(("argmin", "integral", "ode", "root"), "symdiff.api.solutions"),
    "AccuracyWarning": "symdiff.runtime.scalar.fallback",
    "Array": "symdiff.frontend",
    "SymbolicFunction": "symdiff.api.function",
    "custom_rule": "symdiff.api.custom_rule",
    "debug": "symdiff.api.debugging",
    "lambdify": "symdiff.interop.lambdify",
    "options": "symdiff.pipeline.validation.settings",
    "show_progress": "symdiff.process.progress",
    "stop_gradient": "symdiff.frontend.library.primitives",
}
"""Where the public names are; imported when they are first used, as the command line needs few."""


public_names(__name__, _MODULES)

__all__ = [
    "AccuracyWarning", "Array", "ByValueWarning", "DomainError", "GuardWarning", "OutputWarning", "ParseError", "SymbolicFunction", "SymdiffError", "TargetError", "UnsupportedError", "ValidationWarning", "VerificationError", "__version__",
    "argmin", "cancel", "complete", "custom_rule", "debug", "diff", "grad", "hessian", "integral", "jacobian", "jvp", "lambdify", "ode", "options", "root", "series_at", "show_progress", "simplify", "stop_gradient", "symgrad", "value_and_grad", "vjp",
]  # fmt: skip
