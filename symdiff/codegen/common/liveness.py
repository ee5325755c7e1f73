"""How long arrays are used: what may be changed in place, and where new ones should lie.

An array is changed in place if nothing uses its old state later in its block. A use by
elements that can be loaded before the change does not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from symdiff.ir import Expr, topological
from symdiff.ir.loop_program import (
    ARRAY,
    LOAD,
    Block,
    Loop,
    Statement,
    Update,
    expressions_in,
    leaves,
    name_of,
    uses,
)


@dataclass(frozen=True, slots=True)
class Point:
    """A statement of a block, and what comes after it.

    Attributes
    ----------
    block, position : which statement.
    roots : what is used at the end of the block.
    last : the last statement that uses a name; the block's length for its end.
    """

    block: Block
    position: int
    roots: tuple[Expr, ...]
    last: Mapping[str, int]

    def ends(self, name: str) -> bool:
        """Whether a name is not used after the statement."""
        return self.last.get(name, -1) <= self.position

    def later(self, name: str) -> list[Expr] | None:
        """The loads of an array after the statement; None if it is used otherwise."""
        found: dict[Expr, None] = {}
        after = self.block[self.position + 1 :]
        roots = [*self.roots, *expressions_in(after)]
        order = topological(roots)
        bare = {e for e in roots if e.op is ARRAY}
        for e in order:
            if e.op is LOAD and name_of(e.args[0]) == name:
                found[e] = None
        return None if any(name_of(e) == name for e in bare) else list(found)


def last_uses(block: Block, roots: Iterable[Expr]) -> dict[str, int]:
    """The position of the last statement that uses each name from outside of it."""
    last = {n: k for k, s in enumerate(block) for n in uses(s)}
    last.update((name_of(e), len(block)) for e in leaves(roots))
    return last


def shares(s: Loop, which: int) -> bool:
    """Whether a loop uses the array that a carried value starts from only for that."""
    start = s.carried[which].init
    others = replace(s, carried=tuple(
        replace(c, init=c.next) if k == which else c for k, c in enumerate(s.carried)
    ))  # fmt: skip
    return name_of(start) not in uses(others)


def destinations(block: Sequence[Statement], wanted: Mapping[str, object]) -> dict[str, object]:
    """Where arrays should be made so that in the end the wanted ones lie where they are
    wanted: through changes in place and loops that carry them on."""
    destination = dict(wanted)
    for s in reversed(block):
        if isinstance(s, Update) and s.name in destination:
            destination.setdefault(s.source, destination[s.name])
        elif isinstance(s, Loop):
            for c in s.carried:
                if c.type.shape and c.result in destination:
                    destination.setdefault(name_of(c.init), destination[c.result])
    return destination


@dataclass(frozen=True, slots=True)
class Moves:
    """How the arrays at the end of an iteration become those of the next: the addresses
    of places that go round in cycles, and copies."""

    cycles: tuple[tuple[str, ...], ...]
    copies: tuple[int, ...]


def moves(places: Sequence[str], sources: Sequence[str | None]) -> Moves:
    """What must be done so that each place has what lies at a source (None: what cannot
    be moved). In a cycle, each place gets the address of the next, the last of the first.
    """
    claimed: dict[str, str] = {}
    copies = []
    for place, source in zip(places, sources, strict=True):
        if source == place:
            claimed[place] = place
    for k, (place, source) in enumerate(zip(places, sources, strict=True)):
        if source == place:
            continue
        if source is None or source in claimed:
            copies.append(k)
        else:
            claimed[source] = place
    gets = {place: source for source, place in claimed.items() if place != source}
    cycles = []
    left = dict(gets)
    starts = [p for p in gets if p not in claimed or claimed[p] == p]
    for start in [*starts, *gets]:
        if start not in left:
            continue
        cycle = [start]
        while cycle[-1] in left:
            source = left.pop(cycle[-1])
            if source == start:
                break
            cycle.append(source)
        cycles.append(tuple(cycle))
    return Moves(tuple(cycles), tuple(copies))
