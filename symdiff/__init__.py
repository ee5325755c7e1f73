"""symdiff: derivatives of Python functions, simplified and cancelled before evaluation."""

from typing import TYPE_CHECKING

from symdiff.errors import (
    GuardWarning,
    ParseError,
    SymdiffError,
    TargetError,
    UnsupportedError,
    ValidationWarning,
    VerificationError,
)
from symdiff.later import public_names
from symdiff.version import __version__

if TYPE_CHECKING:
    from symdiff.api import (
        grad,
        hessian,
        jacobian,
        jvp,
        symgrad,
        value_and_grad,
        vjp,
    )
    from symdiff.calculus import diff, simplify
    from symdiff.frontend import Array
    from symdiff.function import SymbolicFunction
    from symdiff.lambdify import lambdify
    from symdiff.progress import show_progress
    from symdiff.rules import custom_rule
    from symdiff.runtime.tiers import AccuracyWarning
    from symdiff.validation.settings import options

_HOMES = {
    **dict.fromkeys(
        ("grad", "hessian", "jacobian", "jvp", "symgrad", "value_and_grad", "vjp"), "symdiff.api"
    ),
    **dict.fromkeys(("diff", "simplify"), "symdiff.calculus"),
    "AccuracyWarning": "symdiff.runtime.tiers",
    "Array": "symdiff.frontend",
    "SymbolicFunction": "symdiff.function",
    "custom_rule": "symdiff.rules",
    "lambdify": "symdiff.lambdify",
    "options": "symdiff.validation.settings",
    "show_progress": "symdiff.progress",
}
"""Where the public names are; imported when they are first used, as the command line needs few."""


public_names(__name__, _HOMES)

__all__ = [
    "AccuracyWarning", "Array", "GuardWarning", "ParseError", "SymbolicFunction", "SymdiffError", "TargetError", "UnsupportedError", "ValidationWarning", "VerificationError", "__version__",
    "custom_rule", "diff", "grad", "hessian", "jacobian", "jvp", "lambdify", "options", "show_progress", "simplify", "symgrad", "value_and_grad", "vjp",
]  # fmt: skip
