"""The states of an array that a loop changes element by element."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from symdiff.ir import Expr, topological
from symdiff.ir.loop_program import (
    ARRAY,
    LOAD,
    Carried,
    Loop,
    Statement,
    Update,
    array,
    block_of,
    expressions,
    expressions_in,
    name_of,
)


@dataclass(frozen=True, slots=True)
class Site:
    """An update of the array, and the loops around it from the outermost to the innermost."""

    path: tuple[Loop, ...]
    update: Update


@dataclass(slots=True)
class Chain:
    """An array that a loop carries: its updates, its states, and what is loaded of them.

    Attributes
    ----------
    sites : the updates, in order.
    states : the names that the array has inside of the loop.
    loads : the elements that are loaded of it.
    """

    sites: list[Site] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    loads: list[Expr] = field(default_factory=list)


def chain(s: Loop, c: Carried) -> Chain | None:
    """How a loop changes an array that it carries, if only by updates."""
    found = Chain()
    if not _follow(s, c, (), found):
        return None
    states = set(found.states)
    for root in inside(s):
        if root.op is ARRAY and name_of(root) in states and not _is_link(s, root):
            return None
    found.loads = [
        e for e in topological(inside(s)) if e.op is LOAD and name_of(e.args[0]) in states
    ]
    return found


def inside(s: Loop) -> list[Expr]:
    """The expressions of a loop that see what it carries."""
    inits = {c.init for c in s.carried}
    own = [e for e in expressions(s) if e not in inits]
    return [*own, *expressions_in(s.body)]


def _follow(s: Loop, c: Carried, path: tuple[Loop, ...], found: Chain) -> bool:
    name = c.name
    found.states.append(name)
    for b in s.body:
        link = _link(b, name)
        if isinstance(link, Update):
            found.sites.append(Site((*path, s), link))
            name = link.name
        elif isinstance(link, Carried) and isinstance(b, Loop):
            if not _follow(b, link, (*path, s), found):
                return False
            name = link.result
        else:
            continue
        found.states.append(name)
    return c.next is array(name, c.type.kind)


def _link(s: Statement, name: str) -> Update | Carried | None:
    """What makes the next state of an array."""
    if isinstance(s, Update) and s.source == name:
        return s
    if isinstance(s, Loop):
        return next((c for c in s.carried if c.type.shape and name_of(c.init) == name), None)
    return None


def _is_link(s: Loop, leaf: Expr) -> bool:
    """Whether a state is used as a whole only once: to make the next."""
    return sum(e is leaf for e in _wholes(s)) <= 1


def _wholes(s: Loop) -> Iterator[Expr]:
    yield from (c.next for c in s.carried)
    yield from (v.value for v in s.saves)
    for b in s.body:
        yield from _block_wholes(b)


def _block_wholes(b: Statement) -> Iterator[Expr]:
    yield from expressions(b)
    for inner in block_of(b):
        yield from _block_wholes(inner)
