"""Functions that are defined inside of the traced function, and the names that they share with it.

Names that an inner function assigns (`nonlocal`) are kept in a dict that the trace owns, a *cell*:
so they are changed, merged at branches and carried by loops like entries of dicts, in any function.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from symdiff.frontend.source import FunctionNode
from symdiff.frontend.trace.frames import Frame
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import UNBOUND, Refused


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """A function or lambda defined inside of the traced function."""

    node: FunctionNode
    home: Frame
    defaults: tuple[Any, ...]
    keyword_defaults: Mapping[str, Any]

    @classmethod
    def make(cls, t: Tracer, node: FunctionNode) -> Closure:
        a = node.args
        defaults = tuple(t.evaluate(d) for d in a.defaults)
        keywords = zip(a.kwonlyargs, a.kw_defaults, strict=True)
        named = {p.arg: t.evaluate(d) for p, d in keywords if d is not None}
        return cls(node, t.frame, defaults, named)

    @property
    def name(self) -> str:
        return "<lambda>" if isinstance(self.node, ast.Lambda) else self.node.name


@functools.lru_cache(maxsize=1024)
def assigned_names(node: FunctionNode) -> tuple[str, ...]:
    """The local names of a function: its parameters and what its body assigns, except those that
    it says are another function's."""
    a = node.args
    parameters = (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg)
    first = [p.arg for p in parameters if p]
    found = {*first}
    foreign: set[str] = set()
    stack: list[ast.AST] = list(node.body) if isinstance(node.body, list) else [node.body]
    while stack:
        n = stack.pop()
        if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load):
            found.add(n.id)
        if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(n.name)
        elif isinstance(n, (ast.Import, ast.ImportFrom)):
            found |= {(x.asname or x.name).partition(".")[0] for x in n.names}
        elif isinstance(n, ast.Nonlocal):
            foreign |= {*n.names}
        elif not isinstance(n, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):  # fmt: skip
            stack.extend(ast.iter_child_nodes(n))
    return (*first, *sorted(found - foreign - {*first}))


@functools.lru_cache(maxsize=1024)
def _shared_names(node: FunctionNode) -> frozenset[str]:
    """The local names that inner functions assign."""
    inside = frozenset(k for n in ast.walk(node) if isinstance(n, ast.Nonlocal) for k in n.names)
    return inside.intersection(assigned_names(node)) if inside else frozenset()


def share(t: Tracer, frame: Frame, node: FunctionNode) -> None:
    """Keep the names of a call that inner functions assign in a cell; parameters have values."""
    shared = _shared_names(node)
    if shared:
        cell = t.own({name: frame.env.pop(name, UNBOUND) for name in sorted(shared)})
        frame.cells = dict.fromkeys(shared, cell)


def declare(t: Tracer, node: ast.Nonlocal) -> None:
    """`nonlocal`: bind names of this call to those of the enclosing functions."""
    for name in node.names:
        home = t.frame.home
        while home is not None and name not in home.cells:
            home = home.home
        if home is None:
            t.refuse(
                f"'{name}' is a variable of a function that is not traced",
                "a function to differentiate has no side effects; pass the value in and return it",
            )
        t.frame.cells = {**t.frame.cells, name: home.cells[name]}


def declare_global(t: Tracer, node: ast.Global) -> None:
    """`global`: bind names of this call to those of the module, which are read only."""
    home = t.frame.home
    while home is not None:
        if shadowed := [name for name in node.names if name in home.local_names()]:
            t.refuse(f"'{shadowed[0]}' is both a global name and one of a function around")
        home = home.home
    t.frame.globals |= {*node.names}


def bind(t: Tracer, name: str, value: Any) -> None:
    """`name = value` in the running call."""
    if name in t.frame.globals:
        raise Refused(
            f"the global '{name}' is assigned",
            "a function to differentiate has no side effects; pass the value in and return it",
        )
    cell = t.frame.cells.get(name)
    if cell is None:
        t.frame.env[name] = value
    else:
        t.mutate(cell)
        cell[name] = value
