"""`match`, as the equivalent branches.

Before:  match n:
             case 0 | 1: y = x
             case k if k > 9: y = k*x
             case _: y = 0.0
After:   if n == 0 or n == 1: y = x
         elif n > 9: y = n*x
         else: y = 0.0

The structure of a value in a pattern is known when traced; numbers in a pattern are compared with
others, which makes a branch.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from symdiff.frontend.library.instances import is_instance
from symdiff.frontend.syntax import operators, records
from symdiff.frontend.syntax.expressions import condition, evaluate, undecided
from symdiff.frontend.trace import scalars
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import (
    Choice,
    Cond,
    Listed,
    Record,
    Refused,
    Scalar,
    Selected,
    Stream,
    describe,
    is_number,
)
from symdiff.frontend.trace.values import (
    Sequence as Ranged,
)

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
    """Whether a value fits a pattern, and the names that it binds to parts of the value."""
    match pattern:
        case ast.MatchValue():
            return _equal(t, value, evaluate(t, pattern.value)), []
        case ast.MatchAs(None, name):
            return True, [] if name is None else [(name, value)]
        case ast.MatchAs(inner, name):
            assert inner is not None and name is not None
            fits, named = _fits(t, inner, value)
            return fits, [*named, (name, value)]
        case ast.MatchOr():
            return _any_of(t, pattern.patterns, value)
    value = t.resolve(value, "what is matched")
    match pattern:
        case ast.MatchSingleton():
            return _is(value, pattern.value), []
        case ast.MatchSequence():
            return _elements(t, pattern.patterns, value)
        case ast.MatchMapping():
            return _mapping(t, pattern, value)
        case ast.MatchClass():
            return _class(t, pattern, value)
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


def _any_of(t: Tracer, patterns: Sequence[ast.pattern], value: Any) -> Found:
    found: Cond | bool = False
    for p in patterns:
        fits, named = _fits(t, p, value)
        if fits is True and found is False:
            return True, named
        if named and fits is not False:
            raise Refused("an alternative that binds names depends on a number", "use if and elif")
        found = scalars.disjunction(found, fits)
    return found, []


def _all_of(t: Tracer, pairs: Sequence[tuple[ast.pattern, Any]]) -> Found:
    """Whether several values fit a pattern each; after one that does not, none is tested."""
    found: Cond | bool = True
    names: list[tuple[str, Any]] = []
    for p, v in pairs:
        fits, named = _fits(t, p, t.resolve(t.wrap(v), "what is matched"))
        if fits is False:
            return False, []
        found = scalars.conjunction(found, fits)
        names += named
    return found, names


def _elements(t: Tracer, patterns: Sequence[ast.pattern], value: Any) -> Found:
    if isinstance(value, (Listed, Selected, Ranged)):
        raise Refused(
            "a list whose length is not known when traced is matched", "use if, and len() of it"
        )
    if isinstance(value, range):
        value = list(value)
    if not isinstance(value, (list, tuple)):  # neither arrays nor strings are sequences here
        return False, []
    stars = [i for i, p in enumerate(patterns) if isinstance(p, ast.MatchStar)]
    if not stars:
        if len(value) != len(patterns):
            return False, []
        return _all_of(t, list(zip(patterns, value, strict=True)))
    first, last = stars[0], len(patterns) - 1 - stars[0]
    if len(value) < len(patterns) - 1:
        return False, []
    end = len(value) - last
    fixed = [*zip(patterns[:first], value[:first], strict=True)]
    fixed += zip(patterns[first + 1 :], value[end:], strict=True)
    fits, named = _all_of(t, fixed)
    star = patterns[first]
    assert isinstance(star, ast.MatchStar)
    if fits is not False and star.name is not None:
        named = [*named, (star.name, t.own(list(value[first:end])))]
    return fits, named


def _mapping(t: Tracer, pattern: ast.MatchMapping, value: Any) -> Found:
    if not isinstance(value, dict):
        return False, []
    keys = [t.wrap(evaluate(t, k)) for k in pattern.keys]
    if not all(isinstance(k, (str, int, bytes)) or k is None for k in keys):
        raise Refused("a key that is not known when traced is matched")
    if any(k not in value for k in keys):
        return False, []
    fits, named = _all_of(t, [(p, value[k]) for p, k in zip(pattern.patterns, keys, strict=True)])
    if fits is not False and pattern.rest is not None:
        rest = {k: v for k, v in value.items() if k not in keys}
        named = [*named, (pattern.rest, t.own(rest))]
    return fits, named


_THEMSELVES = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)
"""Classes whose one positional pattern matches the value itself."""


def _class(t: Tracer, pattern: ast.MatchClass, value: Any) -> Found:
    cls = evaluate(t, pattern.cls)
    if not isinstance(cls, type):
        raise Refused(f"{describe(cls)} is matched as a class")
    if isinstance(value, Stream) or not is_instance(t, value, cls):
        return False, []
    if cls in _THEMSELVES:
        return _all_of(t, [(p, value) for p in pattern.patterns[:1]])
    names = list(getattr(cls, "__match_args__", ()))[: len(pattern.patterns)]
    if len(names) < len(pattern.patterns):
        raise Refused(f"{cls.__name__} has fewer positional parts than this pattern")
    pairs = [*zip((*names, *pattern.kwd_attrs), (*pattern.patterns, *pattern.kwd_patterns), strict=True)]  # fmt: skip
    if isinstance(value, Record):
        known = {f.name for f in dataclasses.fields(cls)} if dataclasses.is_dataclass(cls) else value.fields  # fmt: skip
        if any(n not in known for n, _ in pairs):
            return False, []
        return _all_of(t, [(p, records.attribute(t, value, n)) for n, p in pairs])
    if any(not hasattr(value, n) for n, _ in pairs):
        return False, []
    return _all_of(t, [(p, getattr(value, n)) for n, p in pairs])


__all__ = ["run"]
