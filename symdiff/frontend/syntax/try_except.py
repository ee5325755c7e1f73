"""`try` around one value that may divide by zero.

Before:  try: return sin(x)/x
         except ZeroDivisionError: return 1.0
After:   return sin(x)/x if x != 0 else 1.0

Anything else that is tried is refused; so are arrays and numbers of NumPy, which are divided by zero
without an error.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symdiff.frontend.syntax.expressions import evaluate
from symdiff.frontend.trace import scalars
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import Masked, Real, Selected, SmallArray, SymArray

REFUSED = "'try' is not supported", "test the condition with 'if' instead"


def attempt(
    t: Tracer,
    node: ast.Try,
    run_block: Callable[[Tracer, Sequence[ast.stmt]], None],
    assign: Callable[[Tracer, ast.expr, Any], None],
    leave: Callable[[Tracer, Any], None],
) -> None:
    """Run a `try` statement, with what runs statements, binds targets and returns."""
    step = node.body[0]
    if not _is_plain(node) or not isinstance(step, (ast.Return, ast.Assign)) or not step.value:
        t.refuse(*REFUSED, node)
        return
    (handler,) = node.handlers
    if handler.type is None or evaluate(t, handler.type) is not ZeroDivisionError:
        t.refuse(*REFUSED, node)
    numpy = next(
        (c for c in ast.walk(step.value) if isinstance(c, ast.Call) and _is_numpy(t, c)), None
    )
    value = evaluate(t, step.value)
    if isinstance(value, (SymArray, SmallArray, Selected, Masked)):
        t.refuse(
            "'try' around an array: arrays raise no ZeroDivisionError",
            "choose with np.where where a divisor is 0",
            node,
        )
    if not isinstance(value, (Real, int)):
        t.refuse("'try' around what is not a number", REFUSED[1], node)

    def succeed() -> None:
        if isinstance(step, ast.Return):
            leave(t, value)
            return
        for target in step.targets:
            assign(t, target, value)

    divides = scalars.divides(value)
    if divides is not True and (t.array_parameters or numpy is not None):
        t.refuse(
            "'try' around a number of NumPy, which raises no ZeroDivisionError",
            "test the divisor with 'if' instead",
            node,
        )
    if not isinstance(divides, bool):
        t.either(divides, succeed, lambda: run_block(t, handler.body))
    elif divides:
        succeed()
    else:
        run_block(t, handler.body)


def _is_numpy(t: Tracer, call: ast.Call) -> bool:
    """Whether a call gives a number of NumPy."""
    called = evaluate(t, call.func)
    return isinstance(called, np.ufunc) or str(getattr(called, "__module__", "")).startswith(
        "numpy"
    )


def _is_plain(node: ast.Try) -> bool:
    """Whether one statement is tried, with one handler and nothing else."""
    return len(node.body) == len(node.handlers) == 1 and not (node.orelse or node.finalbody)


__all__ = ["REFUSED", "attempt"]
