"""Calls that write text for people to read; kernels omit them."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from typing import Any

from symdiff.errors import Location, OutputWarning
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import Refused

_shown: set[Location] = set()


def shown(t: Tracer, what: str) -> None:
    """Warn, once for each place, that kernels omit a call that writes text for people to read."""
    place = t.place()[0]
    if place not in _shown:
        _shown.add(place)
        text = (
            f"{what} is not part of kernels: it runs where a call is compared with plain Python, as first calls "
            "are; symdiff.debug prints in every call"
        )
        warnings.warn_explicit(text, OutputWarning, place.path, place.line)


def writes_log(function: Any) -> bool:
    """Whether a function is one of `logging`'s, or a method of a logger."""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, (logging.Logger, logging.LoggerAdapter)):
        return function.__name__ in _LEVELS
    return getattr(function, "__module__", None) == "logging" and function.__name__ in _LEVELS


_LEVELS = ("debug", "info", "warning", "error", "critical", "exception", "log")


def _filter(t: Tracer, action: Any, *args: Any, **kwargs: Any) -> None:
    """What is done with warnings, which kernels do not have."""
    if action == "error":
        raise Refused("warnings are made errors", "test for what is wrong and raise an error")


TABLE: dict[str, Callable[..., Any]] = {
    "builtins.print": lambda t, /, *a, **k: shown(t, "print()"),
    "logging.getLogger": lambda t, *a: logging.getLogger(*a),
    "warnings.warn": lambda t, /, *a, **k: None,
    "warnings.simplefilter": _filter,
    "warnings.filterwarnings": _filter,
}
"""Traced versions, by the dotted name of the function."""
