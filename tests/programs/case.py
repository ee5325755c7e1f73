"""A program as a scientist writes it, and arguments for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Case:
    """`fun(*args)`, differentiated by the parameters `wrt` (all, where it is empty); `static` are
    specialised on."""

    fun: Callable[..., Any]
    args: tuple[Any, ...]
    wrt: tuple[str, ...] = ()
    static: tuple[str, ...] = ()
