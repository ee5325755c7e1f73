"""Calls of plain Python that are broken off after so many steps, in the user's own code alone.

What other packages do is never broken off in the middle: an exception between two of their
statements, which they cannot expect, leaves locks held, modules half imported, or memory of
LLVM's that is freed twice.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

from symdiff.frontend.source import is_installed, is_library, is_own

T = TypeVar("T")


class TooLong(BaseException):
    """The plain function takes too many steps."""


def limited(call: Callable[[], T], steps: int) -> T:
    """The result of a call.

    Raises
    ------
    TooLong : after so many lines, at the next one of the user's own code: files that belong to no
        installed package, and those of the package that the first function called is from.
    """
    left, before = steps, sys.gettrace()
    home = ""

    @functools.cache
    def may_stop(path: str) -> bool:
        return not is_library(path) or (is_installed(path) and _package(path) == home)

    def step(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise TooLong
        return step

    def entered(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal left, home
        path = frame.f_code.co_filename
        if not home and not is_own(path):
            home = _package(path)
        if may_stop(path):
            return step(frame, event, arg)
        left -= 1
        return None

    sys.settrace(entered)
    try:
        return call()
    finally:
        sys.settrace(before)


def _package(path: str) -> str:
    """The folder of the top-level package of an installed file; of others, that of the file."""
    parts = path.split(os.sep)
    for name in ("site-packages", "dist-packages"):
        if name in parts:
            return os.sep.join(parts[: parts.index(name) + 2])
    return os.path.dirname(path)
