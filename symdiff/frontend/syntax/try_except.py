"""`try` around code that raises errors of arithmetic, or errors that do not depend on numbers.

Before:  try: y = sin(x)/x
         except ZeroDivisionError: y = 1.0
After:   if x == 0: y = 1.0
         else: y = sin(x)/x

Each tried statement is traced once to find where it raises which errors (`trace.raised`); then the
first handler that catches one runs where it is raised, and the statement and the rest elsewhere.
Errors of types, attributes and keys are known when traced.
Statements are refused if they may raise other errors that are caught, or divide numbers that may
be NumPy's, whose division by zero raises no error.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FunctionType, MethodType

import numpy as np

from symdiff import ir
from symdiff.errors import UnsupportedError
from symdiff.frontend.syntax.expressions import evaluate
from symdiff.frontend.trace import raised
from symdiff.frontend.trace.closures import Closure
from symdiff.frontend.trace.raised import LOOP, Certain, Journal, journal
from symdiff.frontend.trace.recorder import Retrace
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import Cond, Refused
from symdiff.ir import FALSE, TRUE, loop_program

Run = Callable[[Tracer, Sequence[ast.stmt]], None]
"""The function that runs statements."""
Handler = tuple[tuple[type[BaseException], ...], ast.ExceptHandler]
"""A handler, and the errors that it catches."""

REFUSED = "'try' is not supported", "test the condition with 'if' instead"

HINTS: dict[type[BaseException], str] = {
    IndexError: "compare the index with the size instead: if i < len(x)",
    KeyError: "ask for the key instead: if key in d, or d.get(key, default)",
    ValueError: "test what would raise it instead, such as if x >= 0 for math.sqrt(x)",
    OverflowError: "test the argument instead, such as if x < 709 for math.exp(x)",
    TypeError: "test the type instead: isinstance(x, float)",
    np.linalg.LinAlgError: "test the matrix instead, such as if np.linalg.det(a) != 0",
}
"""Hints, by the caught error."""


def attempt(t: Tracer, node: ast.Try, run_block: Run) -> None:
    """Run a `try` statement; `run_block` runs statements."""
    if node.finalbody:
        hint = "write it after the 'try' statement"
        t.refuse("'finally' is not supported", hint, node.finalbody[0])
    if all(map(_raises_again, node.handlers)):
        run_block(t, [*node.body, *node.orelse])  # an error stays an error
        return
    handlers = [(_kinds(t, h), h) for h in node.handlers]
    if journal.get() is not None or not all(_only_raises(h) for h in node.handlers):
        _statements(t, node, handlers, node.body, run_block)
        return
    try:
        with t.attempt():
            _statements(t, node, handlers, node.body, run_block)
    except (Refused, UnsupportedError):
        run_block(t, [*node.body, *node.orelse])  # an error remains one, of another class


def _statements(
    t: Tracer,
    node: ast.Try,
    handlers: list[Handler],
    body: Sequence[ast.stmt],
    run_block: Run,
) -> None:
    """Run the tried statements, each where no error was raised, and then the block of `else`."""
    if not body:
        run_block(t, node.orelse)
        return
    statement, *rest = body
    seen = _errors(t, statement, run_block)
    caught = [_caught(kind, handlers) for kind, _ in seen.errors]
    _check(t, node, handlers, seen)

    def go(k: int) -> None:
        if k < len(caught):
            handler, condition = caught[k], seen.errors[k][1]
            if handler is None:  # no handler here: it is an error outside of the statement, too
                raised.note(t, seen.errors[k][0], Cond(condition))
                go(k + 1)
                return
            while k + 1 < len(caught) and caught[k + 1] is handler:
                k += 1
                condition = ir.or_(condition, seen.errors[k][1])
            found = Cond(condition)
            known = condition is TRUE or t.known(found, strictly=True)
            if known:
                run_block(t, _handled(t, handler))
            elif known is None:
                t.either(found, lambda: run_block(t, _handled(t, handler)), lambda: go(k + 1))
            else:
                go(k + 1)
            return
        with _outside_of_journals(t):
            run_block(t, [statement])
        skip = t.frame.flow.skips()
        if skip is TRUE:
            return
        region = None if skip is FALSE else t.open(skip)
        _statements(t, node, handlers, rest, run_block)
        if region is not None:
            t.close(region)

    go(0)


_OF_TYPES = (AttributeError, TypeError, KeyError, NameError, ImportError)
"""Errors that are raised whatever the numbers are, or never."""


def _kinds(t: Tracer, handler: ast.ExceptHandler) -> tuple[type[BaseException], ...]:
    """The errors that a handler catches."""
    caught = BaseException if handler.type is None else evaluate(t, handler.type)
    return caught if isinstance(caught, tuple) else (caught,)


def _caught(kind: type[BaseException], handlers: list[Handler]) -> ast.ExceptHandler | None:
    """The first handler that catches an error, if it does not just raise it again."""
    found = next((h for kinds, h in handlers if issubclass(kind, kinds)), None)
    return None if found is None or _raises_again(found) else found


def _only_raises(handler: ast.ExceptHandler) -> bool:
    return len(handler.body) == 1 and isinstance(handler.body[0], ast.Raise)


def _raises_again(handler: ast.ExceptHandler) -> bool:
    """Whether a handler raises what it catches."""
    match handler.body:
        case [ast.Raise(None)]:
            return True
        case [ast.Raise(ast.Name(name), None)]:
            return name == handler.name
    return False


AFTER_A_CHANGE = (
    "'try' around a statement that may raise an error after it has changed something",
    "try one assignment at a time",
)


class _Done(Exception):  # noqa: N818
    """A statement has been traced to its end; its effects are undone."""


def _errors(t: Tracer, statement: ast.stmt, run_block: Run) -> Journal:
    """The errors that a statement may raise; it is traced without any effect, except that loops
    whose results decide about errors stay."""
    found = Journal(len(t.counts), (len(t.regions), len(t.memories), len(t.spent)))
    token, noting = journal.set(found), t.noting
    t.noting = lambda held: raised.note(t, IndexError, Cond(ir.not_(held)))
    checks, start = len(t.checks), len(t.block)
    deciding: list[loop_program.Statement] = []
    try:
        with t.attempt(transparent=True):
            try:
                run_block(t, [statement])
            except (Refused, Retrace):
                raised.note_changes(t, found)
                raise
            sizes = list(t.checks.values())[checks:]
            for s in (*sizes, *t.block[start:]):
                if any(isinstance(c, loop_program.Check) for c in loop_program.walk((s,))):
                    found.unknown = found.unknown or "what is checked in the call"
            made = loop_program.own_names(tuple(t.block[start:]))
            if made & loop_program.names_in(*(c for _, c in found.errors)):
                deciding = t.block[start:]
            if found.errors and not _is_atomic(statement):
                found.changes = True
            if found.errors and (t.regions[-1].log or t.memories[-1]) and _calls(t, statement):
                found.changes = True
            raise _Done
    except (_Done, Certain):
        pass
    except (Refused, Retrace) as refused:
        kind = refused.raises if isinstance(refused, Refused) else _of_number(t, refused)
        if kind is None or found.changes or not _binds_at_once(statement):
            raise
        found.errors.append((kind, TRUE))
    finally:
        t.noting = noting
        journal.reset(token)
    if deciding and found.changes:
        t.refuse(*AFTER_A_CHANGE, statement)
    for s in deciding:
        t.emit(s)
    return found


@contextmanager
def _outside_of_journals(t: Tracer) -> Iterator[None]:
    """No handler catches errors that are raised in here."""
    token, noting = journal.set(None), t.noting
    t.noting = None
    try:
        yield
    finally:
        t.noting = noting
        journal.reset(token)


def _check(t: Tracer, node: ast.Try, handlers: list[Handler], seen: Journal) -> None:
    """Refuse a statement whose errors are not all known."""
    kinds = [k for caught, _ in handlers for k in caught]
    wide = not all(issubclass(k, (ArithmeticError, *_OF_TYPES)) for k in kinds)
    caught = [e for e in seen.errors if _caught(e[0], handlers) is not None]
    if wide and seen.unknown:
        found = [HINTS[k] for k in kinds if k in HINTS]
        message = f"'try' around {seen.unknown}, which may raise errors that are not followed"
        t.refuse(message, found[0] if found else REFUSED[1], node)
    if caught and (seen.changes or seen.unknown == LOOP):
        t.refuse(*AFTER_A_CHANGE, node)
    if seen.of_numpy and any(kind is ZeroDivisionError for kind, _ in caught):
        t.refuse(
            "'try' around a number of NumPy, which raises no ZeroDivisionError",
            "test the divisor with 'if' instead",
            node,
        )


def _handled(t: Tracer, handler: ast.ExceptHandler) -> list[ast.stmt]:
    """The statements of a handler, which may read the error itself only to raise another one."""
    stack: list[ast.AST] = [*handler.body]
    while stack:
        n = stack.pop()
        if isinstance(n, ast.Name) and n.id == handler.name:
            t.refuse("what an error says is used", "write the text itself", n)
        if not isinstance(n, ast.Raise):
            stack.extend(ast.iter_child_nodes(n))
    return handler.body


def _is_atomic(s: ast.stmt) -> bool:
    """Whether an error in a statement leaves everything as before it."""
    if isinstance(s, ast.If):
        return all(len(b) <= 1 and all(map(_is_atomic, b)) for b in (s.body, s.orelse))
    if isinstance(s, ast.Try) and not (s.orelse or s.finalbody):
        parts = (s.body, *(h.body for h in s.handlers))
        return all(len(b) <= 1 and all(map(_is_atomic, b)) for b in parts)
    return isinstance(
        s, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Expr, ast.Raise, ast.Assert)
    )


def _calls(t: Tracer, s: ast.stmt) -> bool:
    """Whether a statement calls a function of the user's."""
    calls = [n.func for n in ast.walk(s) if isinstance(n, ast.Call)]
    return any(isinstance(evaluate(t, f), (Closure, FunctionType, MethodType)) for f in calls)


def _binds_at_once(s: ast.stmt) -> bool:
    """Whether a statement binds what it binds after all errors in it."""
    match s:
        case ast.Return() | ast.Expr():
            return True
        case ast.Assign([ast.Name() | ast.Attribute() | ast.Subscript()]):
            return True
        case ast.Assign([ast.Tuple(names) | ast.List(names)]):
            return all(isinstance(n, ast.Name) for n in names)
    return False


def _of_number(t: Tracer, used: Retrace) -> type[BaseException] | None:
    """The error of Python where a parameter that is a number in the call is used as an array."""
    number = t.shapes is not None and t.shapes.get(used.name or "", (1, ""))[0] == 0
    if not number:
        return None
    if used.what.startswith("attribute"):
        return AttributeError
    return TypeError if used.what in _OF_SEQUENCES else None


_OF_SEQUENCES = ("len()", "it is iterated over", "it is indexed", "its element is assigned")


__all__ = ["REFUSED", "attempt"]
