"""What an evaluation is: its functions, and what they take and give as JSON; and all of them by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

NAMES = (
    "hello", "llsq", "lse", "kmeans", "gmm", "ba", "ht", "lstm", "ode", "det", "particle", "saddle",
)  # fmt: skip
"""In the order of GradBench's pages."""

Functions = Mapping[str, Callable[..., Any]]


@dataclass(frozen=True)
class Eval:
    """One evaluation.

    `functions(accuracy)` are its functions by their names in GradBench, of the arguments that `prepare` makes of an
    input, outside of what is timed. `output` makes JSON of the result of the function of that name, and `example` a
    small input with the given random numbers. `sizes` are inputs to be timed, each with its description;
    `derivative` names the function that is the derivative, of those that have one, and `by_hand` the file of
    C++ here that is timed beside it, if it is not GradBench's.
    """

    prepare: Callable[[Any], tuple[Any, ...]]
    functions: Callable[[str], Functions]
    output: Callable[[str, Any, Any], Any]
    example: Callable[[np.random.Generator], Any]
    derivative: str
    sizes: Callable[[], Mapping[str, Any]] = dict
    by_hand: str = ""


def load(name: str) -> Eval:
    """The evaluation of that name; KeyError if there is none."""
    if name not in NAMES:
        raise KeyError(name)
    module = importlib.import_module(f"benchmarks.gradbench.{name}")
    found: Eval = module.EVAL
    return found


def listed(_: str, result: Any, __: Any) -> Any:
    """Arrays and numbers as JSON."""
    return np.asarray(result).tolist()
