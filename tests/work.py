"""How much work something is, counted: no other process changes it, as it does times."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class Work:
    """Calls of Python and C functions so far."""

    calls = 0


class TooMuchWork(BaseException):
    """Raised where a bound is passed, so that a test that would never end does."""


@contextmanager
def at_most(calls: int) -> Iterator[Work]:
    """Fails if what is inside calls more functions than this, in this thread."""
    work, before = Work(), sys.getprofile()

    def count(frame: Any, event: str, arg: Any) -> None:
        if event in ("call", "c_call"):
            work.calls += 1
            if work.calls > calls:
                sys.setprofile(before)
                raise TooMuchWork(f"more than {calls} calls")

    sys.setprofile(count)
    try:
        yield work
    finally:
        sys.setprofile(before)


def calls(function: Callable[[], Any], most: int = 50_000_000) -> int:
    """How many functions a call of this one calls."""
    with at_most(most) as work:
        function()
    return work.calls
