"""`try` around one value that may divide by zero.

Before:  try: return sin(x)/x
         except ZeroDivisionError: return 1.0
After:   return sin(x)/x if x != 0 else 1.0

Where all numbers are NumPy's, which raise no errors of arithmetic, what is tried is all there is; so
where handlers raise errors only, or numbers and arrays are only converted. Errors that numbers do not
cause (of types, attributes, keys) are known when traced. What stands in `finally` runs after it.
Anything else that is tried is refused; so are other numbers of NumPy, which are divided by zero
without an error.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.frontend.syntax.expressions import evaluate
from symdiff.frontend.trace import scalars
from symdiff.frontend.trace.frames import Flow
from symdiff.frontend.trace.recorder import Retrace
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import (
    Integral,
    Masked,
    Real,
    Refused,
    Selected,
    SmallArray,
    SymArray,
    Whole,
)
from symdiff.ir import FALSE, TRUE

REFUSED = "'try' is not supported", "test the condition with 'if' instead"

HINTS: dict[type[BaseException], str] = {
    IndexError: "compare the index with the size instead: if i < len(x)",
    KeyError: "ask for the key instead: if key in d, or d.get(key, default)",
    ValueError: "test what would raise it instead, such as if x >= 0 for math.sqrt(x)",
    OverflowError: "test the argument instead, such as if x < 709 for math.exp(x)",
    TypeError: "test the type instead: isinstance(x, float)",
    np.linalg.LinAlgError: "test the matrix instead, such as if np.linalg.det(a) != 0",
}
"""What to write, by what is caught."""


def _refused(t: Tracer, node: ast.Try) -> None:
    """Refuse it, with what to write in place of what it catches."""
    caught = evaluate(t, node.handlers[0].type) if node.handlers and node.handlers[0].type else None
    kinds = caught if isinstance(caught, tuple) else (caught,)
    found = [HINTS[k] for k in kinds if k in HINTS]
    t.refuse(REFUSED[0], found[0] if found else REFUSED[1], node)


def attempt(
    t: Tracer,
    node: ast.Try,
    run_block: Callable[[Tracer, Sequence[ast.stmt]], None],
    assign: Callable[[Tracer, ast.expr, Any], None],
    leave: Callable[[Tracer, Any], None],
) -> None:
    """Run a `try` statement, with what runs statements, binds targets and returns."""
    if node.finalbody:
        _finally(t, node, run_block)
        return
    if all(isinstance(h.body[-1], ast.Raise) and len(h.body) == 1 for h in node.handlers):
        run_block(t, [*node.body, *node.orelse])  # an error stays an error
        return
    if _only_converts(t, node) or _cannot_fail(t, node):
        for part in (node.body, node.orelse):
            run_block(t, part)
        return
    if _is_known(t, node):
        _known(t, node, run_block)
        return
    step = node.body[0]
    if not _is_plain(node) or not isinstance(step, (ast.Return, ast.Assign)) or not step.value:
        _refused(t, node)
        return
    (handler,) = node.handlers
    if handler.type is None or evaluate(t, handler.type) is not ZeroDivisionError:
        _refused(t, node)
    numpy = next(
        (c for c in ast.walk(step.value) if isinstance(c, ast.Call) and _is_numpy(t, c)), None
    )
    if _by_known_zero(t, step.value):
        _refused(t, node)
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


_OF_TYPES = (AttributeError, TypeError, KeyError, NameError, ImportError)
"""What is raised whatever the numbers are, or not."""


def _kinds(t: Tracer, handler: ast.ExceptHandler) -> tuple[type[BaseException], ...]:
    """The errors that a handler catches."""
    caught = BaseException if handler.type is None else evaluate(t, handler.type)
    return caught if isinstance(caught, tuple) else (caught,)


def _is_known(t: Tracer, node: ast.Try) -> bool:
    """Whether only errors of types are caught."""
    return all(issubclass(k, _OF_TYPES) for h in node.handlers for k in _kinds(t, h))


def _known(
    t: Tracer, node: ast.Try, run_block: Callable[[Tracer, Sequence[ast.stmt]], None]
) -> None:
    """What is tried, or the handler of the error that it raises for all arguments."""
    for n, statement in enumerate(node.body):
        flow = t.frame.flow.skips()
        try:
            with t.attempt():
                run_block(t, [statement] if flow is FALSE else node.body[n:])
        except (Refused, Retrace) as refused:
            raised = refused.raises if isinstance(refused, Refused) else _of_number(t, refused)
            if raised is None or flow is not FALSE or not _does_nothing_before(t, statement):
                raise
            for handler in node.handlers:
                if issubclass(raised, _kinds(t, handler)):
                    run_block(t, handler.body)
                    return
            raise
        if flow is not FALSE or t.frame.flow.skips() is TRUE:
            if node.orelse and t.frame.flow.skips() is not TRUE:
                _refused(t, node)
            return
    run_block(t, node.orelse)


def _does_nothing_before(t: Tracer, s: ast.stmt) -> bool:
    """Whether a statement changes nothing before an error in it: it calls no function of the user and no method
    that changes its object, and binds one target at most."""
    match s:
        case (
            ast.Assign([ast.Name() | ast.Attribute() | ast.Subscript()]) | ast.Return() | ast.Expr()
        ):
            calls = [n.func for n in ast.walk(s) if isinstance(n, ast.Call)]
        case _:
            return False
    return all(
        f.attr not in _CHANGING if isinstance(f, ast.Attribute)
        else isinstance(f, ast.Name) and evaluate(t, f) in (len, float, iter)
        for f in calls
    )  # fmt: skip


_CHANGING = (
    "append", "extend", "insert", "pop", "popleft", "appendleft", "clear", "remove", "update", "setdefault",
    "sort", "reverse", "add", "fill", "put",
)  # fmt: skip


def _of_number(t: Tracer, used: Retrace) -> type[BaseException] | None:
    """What Python raises where a parameter that is a number in the call is used as an array."""
    number = t.shapes is not None and t.shapes.get(used.name or "", (1, ""))[0] == 0
    return TypeError if number and used.what in _OF_SEQUENCES else None


_OF_SEQUENCES = ("len()", "it is iterated over", "it is indexed")
_CONVERSIONS = (np.array, np.asarray, np.asanyarray, np.atleast_1d, np.copy)


def _only_converts(t: Tracer, node: ast.Try) -> bool:
    """Whether numbers are made floats, and numbers and arrays arrays, and nothing else is tried."""
    for s in node.body:
        match s:
            case ast.Assign([ast.Name()], ast.Call(function, [ast.Name() as name], [])):
                called, value = evaluate(t, function), evaluate(t, name)
            case _:
                return False
        number = isinstance(value, (Real, int))
        if called is float and number:
            continue
        if called not in _CONVERSIONS or not (number or isinstance(value, (SymArray, SmallArray))):
            return False
    return True


def _finally(
    t: Tracer, node: ast.Try, run_block: Callable[[Tracer, Sequence[ast.stmt]], None]
) -> None:
    """What is tried, and then the last part, however that was left; an error stays one."""
    for n in (n for s in node.finalbody for n in ast.walk(s)):
        if isinstance(n, (ast.Return, ast.Break, ast.Continue, ast.Raise)):
            t.refuse(
                f"'{type(n).__name__.lower()}' in 'finally'", "leave after the 'try' statement", n
            )
    inner: Sequence[ast.stmt] = node.body
    if node.handlers:
        caught = ast.Try(node.body, node.handlers, node.orelse, [])
        inner = [ast.copy_location(caught, node)]
    run_block(t, inner)
    flow = t.frame.flow
    names = ir.or_(flow.broken, flow.continued) is FALSE  # nobody reads them who has returned
    if flow.skips() not in (TRUE, FALSE):
        for part in node.finalbody:
            if not (_is_idle(part) or (names and _binds_names(part))):
                t.refuse(
                    "'finally' after a return or break under a condition",
                    "leave after the 'try' statement",
                    part,
                )
    t.frame.flow = Flow()
    run_block(t, node.finalbody)
    t.frame.flow = flow


def _binds_names(s: ast.stmt) -> bool:
    return isinstance(s, ast.Assign) and all(isinstance(target, ast.Name) for target in s.targets)


def _is_idle(s: ast.stmt) -> bool:
    """Whether a statement changes no values: `pass`, a text, `np.seterr(...)`."""
    value = s.value if isinstance(s, ast.Expr) else None
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Attribute) and value.func.attr == "seterr"
    return isinstance(s, ast.Pass) or isinstance(value, ast.Constant)


_ARITHMETIC = (ZeroDivisionError, FloatingPointError, OverflowError, ArithmeticError)
_HARMLESS = (abs, sum, max, min)
_DIVIDING = (ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)


def _cannot_fail(t: Tracer, node: ast.Try) -> bool:
    """Whether only errors of arithmetic are caught, and all numbers are NumPy's, which raise
    none: the parameters are arrays, and none of their elements was made a number of Python."""
    if node.finalbody or t.python_numbers or t.guessed or not t.shapes:
        return False
    if not t.array_parameters or set(t.shapes) != set(t.array_parameters):
        return False
    for handler in node.handlers:
        if handler.type is None:
            return False
        caught = evaluate(t, handler.type)
        kinds = caught if isinstance(caught, tuple) else (caught,)
        if any(k not in _ARITHMETIC for k in kinds):
            return False
    for part in (n for s in node.body for n in ast.walk(s)):
        if isinstance(part, (ast.Raise, ast.Assert, ast.Attribute)) and not _of_numpy(t, part):
            return False
        if isinstance(part, ast.Call) and not _is_numpy(t, part):
            if evaluate(t, part.func) not in _HARMLESS:
                return False
    return not _divides_numbers(t, node)


def _of_numpy(t: Tracer, part: ast.AST) -> bool:
    """Whether it names something of NumPy."""
    return isinstance(part, ast.Attribute) and evaluate(t, part.value) is np


def _divides_numbers(t: Tracer, node: ast.Try) -> bool:
    """Whether something may be divided by a number of Python that is 0, or a length."""
    arrays: set[str] = set()  # names that the statement binds to what is made of arrays

    def numpy(e: ast.expr) -> bool | None:
        """Whether an expression is made of NumPy's numbers; None if a length is in it."""
        found = False
        for n in ast.walk(e):
            if not isinstance(n, ast.Name):
                continue
            value = None if n.id in arrays else evaluate(t, n)
            if n.id in arrays or isinstance(value, (SymArray, SmallArray)):
                found = True
            elif isinstance(value, Real) and not isinstance(value, (Whole, Integral)):
                found = found or value.expr.op is not ir.CONST
            elif value is np:
                continue
            elif value is len or not (callable(value) or isinstance(value, (int, Real))):
                return None
        return found

    for s in node.body:
        if not isinstance(s, (ast.Assign, ast.Return)) or s.value is None:
            return True
        for n in ast.walk(s.value):
            if isinstance(n, ast.BinOp) and isinstance(n.op, _DIVIDING):
                if isinstance(n.right, ast.Constant) and n.right.value:
                    continue
                if not (numpy(n.right) or (isinstance(n.op, ast.Pow) and numpy(n.left))):
                    return True
        if isinstance(s, ast.Assign):
            if not all(isinstance(target, ast.Name) for target in s.targets) or not numpy(s.value):
                return True
            arrays.update(target.id for target in s.targets if isinstance(target, ast.Name))
    return False


def _by_known_zero(t: Tracer, e: ast.expr) -> bool:
    """Whether something is divided by a number that is known to be 0."""
    return any(
        isinstance(n, ast.BinOp)
        and isinstance(n.op, _DIVIDING[:-1])
        and _is_zero(evaluate(t, n.right))
        for n in ast.walk(e)
    )


def _is_zero(value: Any) -> bool:
    """Whether a number is known to be 0."""
    return (
        value == 0 if isinstance(value, int) else isinstance(value, Real) and value.expr is ir.ZERO
    )


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
