"""Lists that a kept loop appends to: arrays of the largest length that they may have.

Before:  out = []; for v in x: out.append(f(v))
After:   out = array of len(x) elements; for i in range(len(x)): out[i] = f(x[i])

Before:  out = []; for v in x: if v > 0: out.append(f(v))
After:   n = 0; for i in range(len(x)): if x[i] > 0: out[n] = f(x[i]); n = n + 1
         out = out[:n]

A list that every iteration appends to once has i more elements in iteration i than before the
loop, and may be read there. For other lists the loop carries the length.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from symdiff import ir
from symdiff.frontend.arrays import lists, storing, symbolic
from symdiff.frontend.arrays.symbolic import SLOTS
from symdiff.frontend.syntax import operators, records
from symdiff.frontend.trace.extents import same_size
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import (
    Listed,
    Refused,
    SymArray,
    Unusable,
    as_real,
    is_number,
    nest_of,
)
from symdiff.ir import Expr


@dataclass(slots=True)
class Growing:
    """A list that grows in a loop.

    Attributes
    ----------
    name : its name in the user's code.
    start : the number of elements before the loop.
    now : the number of elements at this place of the body.
    memory : all elements that it will have; None until the type of an element is known.
    found : the first value that was appended.
    nest : how the list nests, as in `Listed`.
    most : the most values that an iteration may append.
    length : the name of its carried length, if that is carried.
    """

    name: str
    start: int
    now: Expr
    most: int = 1
    length: str | None = None
    memory: Listed | None = None
    found: SymArray | None = None
    nest: str = "l"


class Ends:
    """A list that grows while the iterations of its loop are counted: its elements before the loop,
    and as many at its end. Its methods are traced."""

    def __init__(self, items: list[Any]) -> None:
        self.first, self.last = tuple(items), list(items)

    def __getitem__(self, k: Any) -> Any:
        return self.last[k] if k < 0 else self.first[k]

    def append(self, value: Any) -> None:
        self.last.append(value)
        self.last.pop(0)


class Found(Exception):  # noqa: N818
    """The type of the appended elements is known; the body is traced again."""


_CHANGES = (
    "append", "extend", "insert", "pop", "clear", "remove", "reverse", "sort", "copy", "index",
    "count",
)  # fmt: skip


def appends(body: Sequence[ast.stmt]) -> dict[ast.stmt, tuple[str, bool]]:
    """The statements `name.append(value)` of a loop's body, for names that are used in no other
    way; with whether every iteration reaches them, once."""
    nodes = [n for s in body for n in ast.walk(s)]
    early = any(isinstance(n, (ast.Continue, ast.Break, ast.Return)) for n in nodes)
    changed = [
        n.value.id for n in nodes
        if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.attr in _CHANGES
    ]  # fmt: skip
    found = {s: s.value.func.value.id for s in _reached(body) if _is_append(s)}  # type: ignore[attr-defined]
    names = list(found.values())
    return {
        s: (n, not early and s in body and names.count(n) == 1)
        for s, n in found.items() if changed.count(n) == names.count(n)
    }  # fmt: skip


def _reached(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that an iteration runs at most once."""
    for s in body:
        yield s
        if isinstance(s, ast.If):
            yield from _reached(s.body)
            yield from _reached(s.orelse)


def conditional(t: Tracer, body: Sequence[ast.stmt]) -> bool:
    """Whether a loop appends to a list in some iterations only."""
    return any(
        not always and type(t.frame.env.get(name)) is list
        for name, always in appends(body).values()
    )


def _is_append(s: ast.stmt) -> bool:
    match s:
        case ast.Expr(ast.Call(ast.Attribute(ast.Name(), "append"), [only], [])):
            return not isinstance(only, ast.Starred)
    return False


def grown(t: Tracer, body: Sequence[ast.stmt], counted: bool) -> dict[ast.stmt, Growing]:
    """The lists of the frame that grow in a loop's body; if the loop's length is known when traced
    (`counted`), only those of unknown length."""
    env = t.frame.env
    found: dict[ast.stmt, Growing] = {}
    named: dict[str, Growing] = {}
    for s, (name, always) in appends(body).items():
        value = env.get(name)
        alone = sum(v is value for v in env.values()) == 1
        if name in named:
            named[name].most += 1
            found[s] = named[name]
        elif type(value) is list and alone and t.path is ir.TRUE and not (counted and always):
            length = None if always else f"{name} length"
            found[s] = named[name] = Growing(
                name, len(value), ir.const(len(value)), length=length
            )  # fmt: skip
    return found


def iterations(
    t: Tracer, growing: dict[ast.stmt, Growing], run: Callable[[Callable[[], None]], Any]
) -> Expr:
    """The number of iterations of a loop whose condition may read lists that it appends to: `run`,
    given a function that counts an iteration, traces it once before."""
    counter = "iterations of a loop"

    def count() -> None:
        t.frame.env[counter] = operators.binary(t, ast.Add, t.frame.env[counter], 1)

    with t.aside():
        for name in dict.fromkeys(g.name for g in growing.values()):
            t.frame.env[name] = records.make(t, Ends, (t.frame.env[name],), {})
        t.frame.env[counter] = 0
        run(count)
        return as_real(t.frame.env[counter]).expr


def traced(t: Tracer, count: Expr, growing: dict[ast.stmt, Growing], run: Callable[[], Any]) -> Any:
    """Trace a loop in which lists grow; they are arrays after it."""
    before = {g.name: t.frame.env[g.name] for g in growing.values()}
    carried = {g.length: g.start for g in growing.values() if g.length is not None}
    outer = dict(t.growing)
    t.frame.env.update(carried)
    t.growing.update(growing)
    try:
        while True:
            try:
                with t.attempt():
                    result = run()
                break
            except Found:
                for g in growing.values():
                    g.memory = g.memory or _memory(t, g, count, before[g.name])
    finally:
        t.growing = outer
    lengths = {name: as_real(t.frame.env.pop(name)).expr for name in carried}
    for g in growing.values():
        if g.memory is None:  # no iteration appends
            continue
        g.now = lengths[g.length] if g.length else ir.add(ir.const(g.start), count)
        t.frame.env[g.name] = listed(g)
    return result


def _memory(t: Tracer, g: Growing, count: Expr, first: Sequence[Any]) -> Listed | None:
    """An array for all elements of a list, with its current elements."""
    if g.found is None:
        return None
    known = [symbolic.symbolic(t, v) for v in first]
    kind = symbolic.common_kind([*known, g.found])
    kind = "f" if lists.becomes_floats(t, kind) else kind
    shape = (ir.add(ir.const(g.start), ir.mul(ir.const(g.most), count)), *g.found.shape)
    memory = symbolic.build(t, shape, kind, ir.ZERO, g.name.strip("_") or "list")
    made = symbolic.listed(memory, g.nest)
    made.storage.memory.made = t.place()[0]
    for k, v in enumerate(first):
        _add(t, made, ir.const(k), v)
    return made


def _add(t: Tracer, all: Listed, place: Expr, value: Any) -> None:
    """Store an element whose place is within the memory."""
    a = all.storage
    if all.table is not None:
        lists.append(t, all, place, value)
        return
    new = symbolic.from_formula((), value) if is_number(value) else symbolic.symbolic(t, value)
    rest = a.shape[1:]
    if len(new.shape) != len(rest):
        raise Refused("what a list is appended changes its number of dimensions")
    for n, m in zip(new.shape, rest, strict=True):
        same_size(t, n, m)
    target = symbolic.viewed(a, rest, [place, *SLOTS[: len(rest)]])
    storing.write(t, target, new, fresh=True)


def begin(growing: dict[ast.stmt, Growing], t: Tracer, iteration: Expr) -> None:
    """Start an iteration."""
    for g in growing.values():
        if g.length is not None:
            t.frame.env[g.name] = Unusable(
                f"the list '{g.name}' is read in a loop that appends to it in some iterations",
                "read it after the loop, or carry what you need of it in a name",
            )
            continue
        g.now = ir.add(ir.const(g.start), iteration)
        if g.memory is not None:
            t.frame.env[g.name] = listed(g)


def append(t: Tracer, g: Growing, value: Any) -> None:
    """`name.append(value)`."""
    new = symbolic.from_formula((), value) if is_number(value) else symbolic.symbolic(t, value)
    if g.memory is None or lists.KINDS.index(g.memory.kind) < lists.KINDS.index(new.kind):
        g.found, g.memory, g.nest = new, None, "l" + nest_of(value)
        raise Found
    if g.length is not None:
        now = t.frame.env[g.length]
        _add(t, g.memory, as_real(now).expr, value)
        t.frame.env[g.length] = operators.binary(t, ast.Add, now, 1)
        return
    _add(t, g.memory, g.now, value)
    g.now = ir.add(g.now, ir.ONE)
    t.frame.env[g.name] = listed(g)


def listed(g: Growing) -> Listed:
    """The list in its current state."""
    all = g.memory
    assert all is not None
    shape = (g.now, *all.storage.shape[1:])
    items = symbolic.viewed(symbolic.in_memory_now(all.storage.memory), shape, SLOTS[: len(shape)])
    table = all.table and symbolic.viewed(all.table, shape[:1], SLOTS[:1])
    return Listed(items, all.nest, table, all.counts)
