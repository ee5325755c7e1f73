"""`custom_rule`: a user's own elementary function.

The value is a Python function that Numba compiles; the derivative is traced, so
it simplifies, nests and differentiates again like any other expression.
"""

from __future__ import annotations

import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

from symdiff import ir
from symdiff.codegen.llvm import jit
from symdiff.errors import SymdiffError
from symdiff.frontend import source
from symdiff.frontend.capture import capture
from symdiff.ir import OPS, Expr, Op
from symdiff.ir.program import Program

Derivative = Callable[..., Any]


def custom_rule(
    fun: Callable[..., float] | None = None,
    *,
    derivative: Derivative | Sequence[Derivative],
) -> Any:
    """Make a function of reals an elementary function with a derivative you give.

    Parameters
    ----------
    fun : computes the value from floats; plain Python that Numba compiles. symdiff
        never looks inside, so its accuracy and its domain are yours.
    derivative : the derivative as a function of the same arguments, or one such
        function per argument. It is traced, and may call this and other rules.

    Returns
    -------
    callable
        To be called in traced functions, or with floats.

    Raises
    ------
    SymdiffError
        If Numba cannot compile the value, or a derivative is missing.

    Examples
    --------
    >>> from symdiff import custom_rule, symgrad
    >>> @custom_rule(derivative=lambda x: 3 * x**2)
    ... def cube(x):
    ...     return x * x * x
    >>> symgrad(lambda x: 2 * cube(x)).grad(2.0)
    24.0
    """
    if fun is None:
        return lambda f: custom_rule(f, derivative=derivative)
    names = list(inspect.signature(fun).parameters)
    rules = [derivative] if callable(derivative) else list(derivative)
    if len(rules) != len(names):
        raise SymdiffError(
            f"{fun.__name__} has {len(names)} arguments and {len(rules)} derivatives",
            hint="give one derivative per argument",
        )
    title = _unused(re.sub(r"\W", "_", f"{fun.__module__}_{fun.__qualname__}"))
    symbol = f"symdiff_rule_{title}_{len(names)}"
    _define(fun, symbol, len(names))
    op = Op(
        title, len(names),
        partials=lambda *args: tuple(_traced(rule, args) for rule in rules),
        sympy=lambda sp, *args: sp.Function(fun.__name__)(*args),
        libm=symbol,
        python=f"{fun.__name__}({', '.join(f'{{{i}}}' for i in range(len(names)))})",
        helper=_source(fun),
    )  # fmt: skip

    @functools.wraps(fun)
    def rule(*args: Any) -> Any:
        if any(isinstance(a, Expr) for a in args):
            return ir.apply(op, *args)
        return fun(*args)

    rule.__symdiff_op__ = op  # type: ignore[attr-defined]
    return rule


def _unused(name: str) -> str:
    """The name itself, or with a number if an earlier rule has it."""
    found, n = name, 2
    while found in OPS:
        found, n = f"{name}_{n}", n + 1
    return found


_compiled: list[Any] = []
"""Kernels call the values by address, so these live as long as the process."""


def _define(fun: Callable[..., float], symbol: str, arity: int) -> None:
    """Compile the value for both precisions, callable from kernels by name."""
    import numba

    for suffix, kind in (("", numba.float64), ("f", numba.float32)):
        try:
            code = numba.cfunc(kind(*[kind] * arity), error_model="numpy")(fun)
        except numba.core.errors.NumbaError as e:
            reason = str(e).strip().splitlines()[-1]
            raise SymdiffError(
                f"Numba cannot compile the rule {fun.__name__}: {reason}",
                hint="use numbers, math and loops only",
            ) from e
        jit.define_symbol(symbol + suffix, code.address)
        _compiled.append(code)


def _traced(rule: Derivative, args: tuple[Expr, ...]) -> Expr:
    """A derivative, traced with its parameters replaced by the arguments."""
    op = getattr(rule, "__symdiff_op__", None)
    if op is not None:
        return ir.apply(op, *args)
    program = capture(rule, {})
    if not isinstance(program, Program):
        raise SymdiffError(
            f"the derivative {program.name} has arrays or loops",
            hint="a rule is a formula of numbers",
        )
    mapping = {ir.var(n): a for n, a in zip(program.params, args, strict=True)}
    return ir.substitute(program.outputs, mapping)[0]


def _source(fun: Callable[..., Any]) -> str | None:
    try:
        place, node = source.find(fun)  # type: ignore[arg-type]
    except (SymdiffError, AttributeError):
        return None
    lines = textwrap.dedent("".join(place.lines[node.lineno - 1 : node.end_lineno])).splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith("def ")), None)
    return None if start is None else "\n".join(lines[start:])
