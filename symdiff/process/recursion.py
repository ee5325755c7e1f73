"""Python's limit of recursion, raised while any thread needs it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from symdiff.process.locks import Lock

_lock = Lock()
_asked: list[int] = []
_usual = 0


@contextmanager
def deep_recursion(limit: int) -> Iterator[None]:
    """Allow at least this many frames inside; the limit is one for all threads."""
    global _usual
    with _lock:
        if not _asked:
            _usual = sys.getrecursionlimit()
        _asked.append(limit)
        sys.setrecursionlimit(max(_usual, *_asked))
    try:
        yield
    finally:
        with _lock:
            _asked.remove(limit)
            sys.setrecursionlimit(max(_usual, *_asked, 0))
