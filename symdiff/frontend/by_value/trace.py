"""One run of a function at arguments: what it returned, and the scalars of the arguments."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symdiff.errors import UnsupportedError
from symdiff.frontend.by_value import outputs
from symdiff.frontend.by_value.arrays import RealArray, floats, true_kind
from symdiff.frontend.by_value.extremes import undecided
from symdiff.frontend.by_value.names import redirected
from symdiff.frontend.by_value.reals import KEPT, RECORD, Real, made, variable
from symdiff.frontend.by_value.sweeps import pulled_back

_one_at_a_time = threading.RLock()
HELD = 1000
"""Equalities of a run that are examined."""


@dataclass(slots=True)
class Run:
    """A function, run by values.

    Attributes
    ----------
    value : what plain Python returns.
    result : the same with scalars.
    operations : how many there were.
    undecided : whether an equality was met which holds at these arguments only.
    """

    value: Any
    result: Any
    operations: int
    undecided: bool


def entered(leaf: Any) -> Any:
    """A number or array of arguments, of fresh scalars."""
    if type(leaf) is Real:
        return made(leaf.v, KEPT, leaf)
    if not isinstance(leaf, np.ndarray):
        return variable(leaf)
    found = np.empty(leaf.shape, object)
    for at in np.ndindex(*leaf.shape):
        found[at] = entered(leaf[at] if type(leaf) is not RealArray else leaf.view(np.ndarray)[at])
    return found.view(RealArray) if found.ndim else found[()]


def scalars(leaf: Any) -> list[Real]:
    """The scalars of an argument that was entered."""
    return [x for x in outputs.elements(leaf) if type(x) is Real]


def is_real(leaf: Any) -> bool:
    """Whether a number or array of arguments has derivatives."""
    if isinstance(leaf, np.ndarray):
        return true_kind(leaf) in "fO"
    return type(leaf) is Real or isinstance(leaf, (float, np.floating))


def run(
    function: Callable[[Sequence[Any]], Any], plain: Any, given: Sequence[Any]
) -> tuple[Run, list[list[Real]]]:
    """Run a function of the leaves of its arguments; returns the run, and the scalars of each leaf.

    Parameters
    ----------
    function : calls the function with leaves.
    plain : the function itself, whose names are those of the run meanwhile.
    given : the leaves.

    Raises
    ------
    UnsupportedError : where it does what a run does not follow, or is not pure.
    Exception : what the function raises at these arguments.
    """
    with _one_at_a_time:
        RECORD.begin()
        try:
            arguments = _entered_once(given)
            inside = [scalars(v) for v in arguments]
            result: Any = None
            raised: Exception | None = None
            try:
                with redirected(plain), np.errstate(all="ignore"):
                    result = outputs.mapped(function(arguments), lambda leaf: leaf)
            except Exception as error:
                raised = error
            refused, operations, held = RECORD.refused, RECORD.count, RECORD.held[:HELD]
        finally:
            RECORD.thread = None
    if refused is not None:
        raise refused
    value = _in_python(function, given)
    if isinstance(raised, UnsupportedError):
        raise raised
    if raised is not None:
        text = f"run by values it raises {type(raised).__name__}: {raised}"
        raise UnsupportedError(text) from raised
    if not outputs.agree(result, value):
        if not outputs.agree(_in_python(function, given), value):
            raise UnsupportedError("it is not pure: two calls with the same arguments differ")
        raise UnsupportedError("run by values it returns something else than plain Python")
    by = _undecided_by(held, [x for leaf in inside for x in leaf])
    if by:
        result = outputs.mapped(result, lambda leaf: _marked(leaf, by))
    return Run(value, result, operations, bool(by)), inside


def _entered_once(given: Sequence[Any]) -> list[Any]:
    """The leaves with scalars; an array that is passed twice is one array."""
    memo: dict[int, Any] = {}
    for v in given:
        if id(v) not in memo:
            memo[id(v)] = entered(v) if is_real(v) else copy.deepcopy(v)
    return [
        memo[id(v)] if isinstance(v, np.ndarray) else entered(v) if is_real(v) else v for v in given
    ]


def _in_python(function: Callable[[Sequence[Any]], Any], given: Sequence[Any]) -> Any:
    """What plain Python returns, called with copies; one array passed twice is one copy."""
    memo: dict[int, Any] = {}
    return function([copy.deepcopy(v, memo) if isinstance(v, np.ndarray) else v for v in given])


def _undecided_by(held: Sequence[tuple[Any, Any]], leaves: Sequence[Real]) -> list[Real]:
    """The scalars of arguments that a held equality depends on: it holds at this point only."""
    found: dict[int, Real] = {}
    for a, b in held:
        for x, slope in zip(leaves, pulled_back([a, b], [1.0, -1.0], leaves, False), strict=True):
            if slope != 0:
                found[x.n] = x
    return list(found.values())


def _marked(leaf: Any, by: list[Real]) -> Any:
    """A result whose slopes by some scalars are not known."""
    if not isinstance(leaf, np.ndarray):
        return undecided(leaf, by)
    found = np.empty(leaf.shape, object)
    found.ravel()[:] = [undecided(x, by) for x in outputs.elements(leaf)]
    return floats(found)
