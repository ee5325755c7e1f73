"""`match`, as the equivalent branches.

Before:  match n:
             case 0 | 1: y = x
             case k if k > 9: y = k*x
             case _: y = 0.0
After:   if n == 0 or n == 1: y = x
         elif n > 9: y = n*x
         else: y = 0.0

Patterns are literals, alternatives of them, names and `_`. Those of sequences, mappings and classes are
refused, and the function is run by values.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from symdiff.frontend.syntax import operators
from symdiff.frontend.syntax.expressions import condition, evaluate, undecided
from symdiff.frontend.trace import scalars
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import Choice, Cond, Refused, Scalar, is_number

Found = tuple[Cond | bool, list[tuple[str, Any]]]
"""Whether a pattern fits, and the names that it binds."""

RunBlock = Callable[[Tracer, Sequence[ast.stmt]], None]


def run(t: Tracer, node: ast.Match, run_block: RunBlock) -> None:
    """Run a `match` statement; `run_block` runs statements."""
    subject = undecided(t, node.subject)
    if not isinstance(subject, Choice):
        subject = t.resolve(subject, "what is matched")
    _cases(t, subject, node.cases, run_block)


def _cases(t: Tracer, subject: Any, cases: Sequence[ast.match_case], run_block: RunBlock) -> None:
    """Run the first of the cases that fits."""
    if not cases:
        return
    case, rest = cases[0], cases[1:]
    t.at = case.pattern
    fits, named = _fits(t, case.pattern, subject)

    def otherwise() -> None:
        _cases(t, subject, rest, run_block)

    def body() -> None:
        run_block(t, case.body)

    def taken() -> None:
        t.frame.env.update(named)
        if case.guard is None:
            body()
        else:
            _branch(t, condition(t, case.guard), body, otherwise)

    if isinstance(fits, Cond) and case.guard is not None and not named:
        t.need(fits)
        region = t.enter(fits.expr)
        guard = condition(t, case.guard)
        t.leave(region)
        _branch(t, scalars.conjunction(fits, guard), body, otherwise)
        return
    _branch(t, fits, taken, otherwise)


def _branch(t: Tracer, c: Cond | bool, then: Callable[[], None], other: Callable[[], None]) -> None:
    """One of two sides, or both if the condition is unknown when traced."""
    if isinstance(c, Cond) and (known := t.known(c, strictly=True)) is not None:
        c = known
    if not isinstance(c, bool):
        t.either(c, then, other)
    elif c:
        then()
    else:
        other()


# ---------------------------------------------------------------------- patterns
def _fits(t: Tracer, pattern: ast.pattern, value: Any) -> Found:
    """Whether a value fits a pattern, and the names that it binds to the value."""
    match pattern:
        case ast.MatchValue():
            return _equal(t, value, evaluate(t, pattern.value)), []
        case ast.MatchAs(inner, name):
            fits, named = (True, []) if inner is None else _fits(t, inner, value)
            return fits, named if name is None else [*named, (name, value)]
        case ast.MatchOr():
            found: Cond | bool = False
            for p in pattern.patterns:
                fits, named = _fits(t, p, value)
                if named:
                    raise Refused("an alternative binds names", "use if and elif")
                found = scalars.disjunction(found, fits)
            return found, []
        case ast.MatchSingleton():
            return _is(t.resolve(value, "what is matched"), pattern.value), []
    raise Refused("this pattern is not supported", "use if and elif")


def _equal(t: Tracer, value: Any, wanted: Any) -> Cond | bool:
    mixed = is_number(value) is not is_number(wanted)
    if mixed and not (_is_array(value) or isinstance(value, Choice)):
        return False
    return operators.truth(t, operators.compare(t, ast.Eq, value, wanted))


def _is(value: Any, wanted: Any) -> bool:
    if wanted is not None and isinstance(value, Cond):
        raise Refused(
            f"'case {wanted}' of a truth value that is not known when traced",
            "use if, as NumPy's truth values are not Python's",
        )
    return value is wanted


def _is_array(value: Any) -> bool:
    return hasattr(value, "kind") and not isinstance(value, Scalar)


__all__ = ["run"]
