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
from symdiff.frontend.by_value.arrays import RealArray, true_kind
from symdiff.frontend.by_value.branches_at_points import (
    Followed,
    Near,
    decided_alone,
    near_the_point,
)
from symdiff.frontend.by_value.reals import KEPT, RECORD, Real, made, place, variable
from symdiff.frontend.by_value.redirected_names import redirected, replaced

_one_at_a_time = threading.RLock()


@dataclass(slots=True)
class Run:
    """A function, run by values.

    Attributes
    ----------
    value : what plain Python returns.
    result : the same with scalars.
    operations : how many there were.
    special : "jump" or "nan" where a branch is taken at these arguments only, and what the function returns
        near them is another value, or not known; the slopes are then those of the branch taken, or nan.
    guards : what decided, as `reals.Record` has it; None if guards do not repeat it.
    rounded : those of the record.
    """

    value: Any
    result: Any
    operations: int
    special: str
    guards: list[tuple[str, Any, Any]] | None
    rounded: Sequence[Real]


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


def is_object(leaf: Any) -> bool:
    """Whether an argument is no number and no array."""
    return not isinstance(leaf, (np.ndarray, np.generic, float, int)) and type(leaf) is not Real


def copied(value: Any, memo: dict[int, Any]) -> Any:
    """A copy of an argument, so that the caller's is not changed."""
    try:
        return copy.deepcopy(value, memo)
    except Exception as error:
        raise UnsupportedError(
            f"an argument of the class {type(value).__name__}, which cannot be copied"
        ) from error


def run(
    function: Callable[[Sequence[Any]], Any], plain: Any, given: Sequence[Any], order: int
) -> tuple[Run, list[list[Real]]]:
    """Run a function of the leaves of its arguments; returns the run, and the scalars of each leaf.

    Parameters
    ----------
    function : calls the function with leaves.
    plain : the function itself, whose names are those of the run meanwhile.
    given : the leaves.
    order : of the derivatives that are wanted.

    Raises
    ------
    UnsupportedError : where it does what a run does not follow, or is not pure.
    Exception : what the function raises at these arguments.
    """
    with _one_at_a_time:

        def followed(near: Near | None) -> Followed:
            return _followed(function, plain, given, near)

        first, rounded = followed(None), RECORD.rounded
        if first.refused is not None:
            raise first.refused
        value = in_python(function, given)
        if first.raised is not None:
            raise _unlike_python(first.raised)
        if not outputs.agree(first.result, value):
            if not outputs.agree(in_python(function, given), value):
                raise UnsupportedError("it is not pure: two calls with the same arguments differ")
            raise UnsupportedError("run by values it returns something else than plain Python")
        result, special = first.result, ""
        if order and (alone := decided_alone(first)):
            result, special = near_the_point(first, followed, alone, value, order)
        found = Run(value, result, first.operations, special, first.guards, rounded)
        return found, first.inside


def _followed(
    function: Callable[[Sequence[Any]], Any], plain: Any, given: Sequence[Any], near: Near | None
) -> Followed:  # fmt: skip
    """Call a function with scalars."""
    RECORD.begin(RECORD.count if near else 0)
    try:
        arguments = _entered_once(given, near)
        inside = [scalars(v) for v in arguments]
        if near is not None and near.side:
            RECORD.side = near.side_of
        result: Any = None
        raised: Exception | None = None
        try:
            objects = [v for v in arguments if is_object(v)]
            with redirected(plain, objects), np.errstate(all="ignore"):
                result = outputs.mapped(function(arguments), lambda leaf: leaf)
        except Exception as error:
            raised = error
        guards = None if RECORD.special else RECORD.guards
        return Followed(result, raised, RECORD.refused, inside, RECORD.count, RECORD.met, guards)
    finally:
        RECORD.thread = RECORD.side = None
        RECORD.guards = []


def _unlike_python(raised: Exception) -> UnsupportedError:
    """A refusal for what only the run by values raises."""
    if isinstance(raised, UnsupportedError):
        return raised
    at, line = None, raised.__traceback__
    while line is not None:
        at, line = place(line.tb_frame, line.tb_lineno) or at, line.tb_next
    return UnsupportedError(f"run by values it raises {type(raised).__name__}: {raised}", at)


def _entered_once(given: Sequence[Any], near: Near | None) -> list[Any]:
    """The leaves with scalars; an array that is passed twice is one array."""
    memo: dict[int, Any] = {}
    found = []
    for k, v in enumerate(given):
        if not is_real(v):
            found.append(replaced(copied(v, memo)))
        elif isinstance(v, np.ndarray):
            if id(v) not in memo:
                memo[id(v)] = near.entered(k, v) if near else entered(v)
            found.append(memo[id(v)])
        else:
            found.append(near.entered(k, v) if near else entered(v))
    return found


def in_python(function: Callable[[Sequence[Any]], Any], given: Sequence[Any]) -> Any:
    """What plain Python returns, called with copies; one array passed twice is one copy."""
    memo: dict[int, Any] = {}
    return function(
        [copied(v, memo) if isinstance(v, np.ndarray) or is_object(v) else v for v in given]
    )
