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
from symdiff.frontend.by_value.reals import KEPT, RECORD, Real, made, variable
from symdiff.frontend.by_value.redirected_names import redirected
from symdiff.frontend.by_value.sweeps import pulled_back
from symdiff.frontend.by_value.ties import undecided

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
    special : "jump" or "nan" where an equality holds at these arguments only, and what the function returns
        near them is another value, or not known; the slopes are then those of the branch taken, or nan.
    """

    value: Any
    result: Any
    operations: int
    special: str


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
        first = _followed(function, plain, given, False)
        if first.refused is not None:
            raise first.refused
        value = _in_python(function, given)
        if first.raised is not None:
            raise _unlike_python(first.raised)
        if not outputs.agree(first.result, value):
            if not outputs.agree(_in_python(function, given), value):
                raise UnsupportedError("it is not pure: two calls with the same arguments differ")
            raise UnsupportedError("run by values it returns something else than plain Python")
        by = _depended_on(first.held, first.leaves)
        if not by:
            return Run(value, first.result, first.operations, ""), first.inside
        beside = _followed(function, plain, given, True)
    defined = beside.refused is None and beside.raised is None and not beside.tied
    if defined and outputs.agree(beside.result, value):
        return Run(value, beside.result, first.operations, ""), beside.inside
    if defined and outputs.finite(beside.result):
        return Run(value, first.result, first.operations, "jump"), first.inside
    result = outputs.mapped(first.result, lambda leaf: _marked(leaf, by))
    return Run(value, result, first.operations, "nan"), first.inside


@dataclass(slots=True)
class _Followed:
    """A function, called with scalars."""

    result: Any
    raised: Exception | None
    refused: UnsupportedError | None
    inside: list[list[Real]]
    operations: int
    held: list[tuple[Any, Any]]
    tied: bool

    @property
    def leaves(self) -> list[Real]:
        return [x for leaf in self.inside for x in leaf]


def _followed(
    function: Callable[[Sequence[Any]], Any], plain: Any, given: Sequence[Any], beside: bool
) -> _Followed:  # fmt: skip
    """Call a function with scalars. `beside`: equalities that hold at these arguments only count as
    violated, as they are at all points near."""
    RECORD.begin()
    try:
        arguments = _entered_once(given)
        inside = [scalars(v) for v in arguments]
        if beside:
            leaves = [x for leaf in inside for x in leaf]
            RECORD.differ = lambda a, b: bool(_depended_on([(a, b)], leaves))
        result: Any = None
        raised: Exception | None = None
        try:
            with redirected(plain), np.errstate(all="ignore"):
                result = outputs.mapped(function(arguments), lambda leaf: leaf)
        except Exception as error:
            raised = error
        held = RECORD.held[:HELD]
        return _Followed(result, raised, RECORD.refused, inside, RECORD.count, held, RECORD.tied)
    finally:
        RECORD.thread = RECORD.differ = None


def _unlike_python(raised: Exception) -> UnsupportedError:
    """A refusal for what only the run by values raises."""
    if isinstance(raised, UnsupportedError):
        return raised
    return UnsupportedError(f"run by values it raises {type(raised).__name__}: {raised}")


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


def _depended_on(held: Sequence[tuple[Any, Any]], leaves: Sequence[Real]) -> list[Real]:
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
