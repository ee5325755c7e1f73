"""Lists that a kept loop appends to, once in every iteration: arrays of the final size.

Before:  out = []; for v in x: out.append(f(v))
After:   out = array of len(x) elements; for i in range(len(x)): out[i] = f(x[i])

In iteration i the list has i elements more than before the loop.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from symdiff import ir
from symdiff.frontend import scalars, storing, symbolic
from symdiff.frontend.symbolic import SLOTS
from symdiff.frontend.tracer import Tracer
from symdiff.frontend.values import Listed, SymArray, is_number
from symdiff.ir import Expr


@dataclass(slots=True)
class Growing:
    """A list that grows in a loop.

    Attributes
    ----------
    name : what it is called.
    start : how many elements it has before the loop.
    now : how many it has at this place of the body.
    memory : all elements that it will have; None until the type of an element is known.
    found : the first value that was appended.
    """

    name: str
    start: int
    now: Expr
    memory: SymArray | None = None
    found: SymArray | None = None


class Found(Exception):  # noqa: N818
    """It is known what is appended; the body is traced again."""


def appends(body: Sequence[ast.stmt]) -> dict[ast.stmt, str]:
    """The statements `name.append(value)` of a loop's body, of names that are appended to
    there only; none if the body may end early."""
    nodes = [n for s in body for n in ast.walk(s)]
    if any(isinstance(n, (ast.Continue, ast.Break, ast.Return)) for n in nodes):
        return {}
    changed = [
        n.value.id for n in nodes
        if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)
        and n.attr in ("append", "extend", "insert", "pop", "clear", "remove", "reverse", "sort")
    ]  # fmt: skip
    found = {s: s.value.func.value.id for s in body if _is_append(s)}  # type: ignore[attr-defined]
    return {s: n for s, n in found.items() if changed.count(n) == 1}


def _is_append(s: ast.stmt) -> bool:
    match s:
        case ast.Expr(ast.Call(ast.Attribute(ast.Name(), "append"), [only], [])):
            return not isinstance(only, ast.Starred)
    return False


def lists(t: Tracer, body: Sequence[ast.stmt]) -> dict[ast.stmt, Growing]:
    """The lists of the frame that grow in a loop's body by one element each time."""
    env, found = t.frame.env, {}
    for s, name in appends(body).items():
        value = env.get(name)
        alone = sum(v is value for v in env.values()) == 1
        if isinstance(value, list) and alone and t.path is ir.TRUE:
            found[s] = Growing(name, len(value), ir.const(len(value)))
    return found


def traced(t: Tracer, count: Expr, growing: dict[ast.stmt, Growing], run: Callable[[], Any]) -> Any:
    """Trace a loop in which lists grow; after it they are arrays."""
    before = {g.name: t.frame.env[g.name] for g in growing.values()}
    outer = dict(t.growing)
    t.growing.update(growing)
    try:
        while any(g.memory is None for g in growing.values()):
            try:
                with t.attempt():
                    run()
                    raise Found  # no iteration appends: there is nothing to know
            except Found:
                for g in growing.values():
                    g.memory = g.memory or _memory(t, g, count, before[g.name])
        result = run()
    finally:
        t.growing = outer
    for g in growing.values():
        g.now = ir.add(ir.const(g.start), count)
        t.frame.env[g.name] = listed(g)
    return result


def _memory(t: Tracer, g: Growing, count: Expr, first: Sequence[Any]) -> SymArray | None:
    """An array for all elements of a list, with the ones that it has."""
    if g.found is None:
        return None
    known = [symbolic.symbolic(t, v) for v in first]
    kind = symbolic.common_kind([*known, g.found])
    shape = (ir.add(ir.const(g.start), count), *g.found.shape)
    memory = symbolic.build(t, shape, kind, ir.ZERO, g.name.strip("_") or "list")
    for k, v in enumerate(first):
        storing.store(t, memory, k, v)
    return memory


def begin(growing: dict[ast.stmt, Growing], t: Tracer, iteration: Expr) -> None:
    """At the start of an iteration."""
    for g in growing.values():
        g.now = ir.add(ir.const(g.start), iteration)
        if g.memory is not None:
            t.frame.env[g.name] = listed(g)


def append(t: Tracer, g: Growing, value: Any) -> None:
    """`name.append(value)`."""
    if g.memory is None:
        g.found = symbolic.from_formula((), value) if is_number(value) else symbolic.symbolic(t, value)  # fmt: skip
        raise Found
    storing.store(t, g.memory, scalars.whole(g.now), value)
    g.now = ir.add(g.now, ir.ONE)
    t.frame.env[g.name] = listed(g)


def listed(g: Growing) -> Listed:
    """The list as it is now."""
    assert g.memory is not None
    shape = (g.now, *g.memory.shape[1:])
    return Listed(symbolic.viewed(g.memory, shape, SLOTS[: len(shape)]))
