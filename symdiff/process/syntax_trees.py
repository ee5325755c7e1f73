"""Syntax trees from text, by one thread at a time.

In CPython 3.11 the depth of the tree that is made is counted once for all threads, so two that
parse at once end in `SystemError: AST constructor recursion depth mismatch`
(https://github.com/python/cpython/issues/106905). A process forked in between would keep the
wrong count, so the lock is `whole`.
"""

from __future__ import annotations

import ast
from typing import Literal, overload

from symdiff.process.locks import Lock

_LOCK = Lock(whole=True)


@overload
def parsed(text: str, path: str = ..., mode: Literal["exec"] = ...) -> ast.Module: ...


@overload
def parsed(text: str, path: str = ..., *, mode: Literal["eval"]) -> ast.Expression: ...


def parsed(text: str, path: str = "<unknown>", mode: str = "exec") -> ast.AST:
    """`ast.parse`, which no other thread disturbs."""
    with _LOCK:
        return ast.parse(text, path, mode)
