"""A trace's state of calls, branches and loop steps: local names, how the block was left, and what
to restore."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.frontend.source import Source
from symdiff.frontend.trace.values import UNBOUND
from symdiff.ir import FALSE, TRUE, Expr

Container = list[Any] | dict[Any, Any] | set[Any] | np.ndarray[Any, Any]


class Flow:
    """The condition under which the block was left, and the value that it returned; whether it has
    raised an error."""

    __slots__ = ("broken", "continued", "raised", "returned", "value")

    def __init__(self, returned: Expr = FALSE, broken: Expr = FALSE, value: Any = UNBOUND) -> None:
        self.returned, self.broken, self.continued = returned, broken, FALSE
        self.value = value
        self.raised = False

    def skips(self) -> Expr:
        """Where the rest of the block does not run."""
        return ir.or_(ir.or_(self.returned, self.broken), self.continued)


class Frame:
    """One call being traced: its local names and the source of other names.

    Attributes
    ----------
    home : the call in which the function was defined; None for a function of the user's world.
    cells : for names that calls share, the dicts that hold them; see `closures`.
    globals : names that the call declares as the module's; see `closures`.
    """

    __slots__ = (
        "birth", "caller", "cells", "env", "flow", "globals", "home", "local_names", "may_yield",
        "name", "outer", "path", "source",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        source: Source,
        outer: Callable[[str], Any],
        local_names: Callable[[], Iterable[str]],
        caller: tuple[Frame, ast.AST] | None = None,
    ) -> None:
        self.caller = caller
        self.name, self.source, self.outer, self.local_names = name, source, outer, local_names
        self.env: dict[str, Any] = {}
        self.home: Frame | None = None
        self.cells: Mapping[str, dict[str, Any]] = {}
        self.globals: frozenset[str] = frozenset()
        self.flow = Flow()
        self.birth, self.path, self.may_yield = 0, TRUE, True


@dataclass(slots=True)
class Region:
    """A stretch of the trace under one more condition, and the state to restore after it."""

    start: int
    path: Expr
    facts: frozenset[Expr]
    log: dict[int, tuple[Container, Any]] = field(default_factory=dict)
    skip: Expr = FALSE
    env: dict[str, Any] = field(default_factory=dict)
    flow: Flow = field(default_factory=Flow)
    transparent: bool = False


Changes = Mapping[int, tuple[Container, Any, Any]]
"""Containers by their id, with their contents before and after."""


@dataclass(slots=True)
class Side:
    """The state after one side of a branch."""

    env: dict[str, Any]
    flow: Flow
    value: Any
    changes: Changes


def contents(container: Container) -> Any:
    return container.copy()


def is_changed(container: Container, before: Any) -> bool:
    """Whether a container holds other values than before, or the same in another order."""

    def entries(held: Any) -> list[int]:
        if isinstance(held, dict):
            held = [*held, *held.values()]
        return list(map(id, held.ravel() if isinstance(held, np.ndarray) else held))

    return entries(container) != entries(before)


def dict_like(model: dict[Any, Any], items: Mapping[Any, Any]) -> Any:
    """A dict, or of the standard library's class of dicts that the model has."""
    return items if type(model) is dict else type(model)(items)


def restore(container: Container, saved: Any) -> None:
    if isinstance(container, list):
        container[:] = saved
    elif isinstance(container, np.ndarray):
        container[...] = saved
    else:
        container.clear()
        container.update(saved)


def tuple_like(model: tuple[Any, ...], items: Iterable[Any]) -> Any:
    """A tuple, or a named tuple of the same type."""
    return type(model)(*items) if hasattr(model, "_fields") else tuple(items)


def child_frame(home: Frame, name: str) -> Frame:
    """A scope inside of another one, such as a comprehension's."""
    made = Frame(name, home.source, lambda n: look_up(home, n), lambda: (), home.caller)
    made.home = home
    return made


def look_up(frame: Frame, name: str) -> Any:
    cell = frame.cells.get(name)
    value = frame.env.get(name, UNBOUND) if cell is None else cell[name]
    if value is UNBOUND and name not in frame.local_names():
        return frame.outer(name)
    return value
