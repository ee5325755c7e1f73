"""Which lists, dicts and small arrays are the same object under several names.

Where a condition chooses between two of them, the trace continues with a new one that has the
merged contents. That is correct as long as

- nothing changes one of the two afterwards and then reads the chosen one: the choice is *stale*
  then, and reading it is refused;
- the chosen one is changed only where no other name shows one of the two.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from symdiff.frontend.trace.array_memory import Memory
from symdiff.frontend.trace.frames import Container, Frame
from symdiff.frontend.trace.values import (
    Listed,
    Masked,
    Record,
    Refused,
    Selected,
    SmallArray,
    SymArray,
    describe,
    is_complex,
)

MOST = 2000
"""Largest number of containers that are searched for references; with more, any may be shared."""


def containers(value: Any) -> Iterator[Any]:
    """The containers of a value that may be changed, itself among them."""
    if isinstance(value, (list, dict, SmallArray)):
        yield value.owner() if isinstance(value, SmallArray) else value
    if isinstance(value, Record):
        inner = tuple(value.fields.values()) if is_complex(value) else value.fields
        yield from containers(inner)
    elif isinstance(value, (list, tuple)):
        for v in value:
            yield from containers(v)
    elif isinstance(value, dict):
        for key in sorted(value, key=repr):  # the same order for dicts of the same keys
            yield from containers(value[key])


def shown(frame: Frame, value: Selected | Masked) -> int:
    """The number of places that hold a selection by a condition, or an array that is a view of it,
    among all names of calls and inner functions, and their contents; 2 with over `MOST` of them."""
    stack: list[Any] = [frame]
    seen: dict[int, Any] = {}
    count = 0
    while stack:
        v = stack.pop()
        if isinstance(v, Listed):
            v = v.items
        if isinstance(v, SymArray):
            if v.sides is not None:
                stack += v.sides[1:]
            held = (m.selection for m in (v.memory, *v.memory.origins))
            count += any(s is not None and _same(s, value) for s in held)
            continue
        if isinstance(v, (Selected, Masked)):
            count += _same(v, value)
            continue
        inner = hasattr(type(v), "keyword_defaults")  # a function that a call defines
        home = v.home if isinstance(v, Frame) or inner else None
        inside = isinstance(home, Frame) or isinstance(v, (Frame, list, tuple, dict, Record))
        if not inside or id(v) in seen:
            continue
        seen[id(v)] = v
        if len(seen) > MOST:
            return 2
        if isinstance(home, Frame):
            stack.append(home)
        if isinstance(v, Frame):
            stack += (v.env, *v.cells.values(), v.caller and v.caller[0])
        elif isinstance(v, Record):
            stack.append(v.fields)
        elif isinstance(v, (list, tuple)):
            stack += v
        elif isinstance(v, dict):
            stack += v.values()
    return count


def _same(a: Selected | Masked, b: Selected | Masked) -> bool:
    if isinstance(a, Masked) or isinstance(b, Masked):
        return a is b
    return a.items.memory is b.items.memory and a.present is b.present


class Aliases:
    """The choices of a trace, and which of them are stale."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[Container, list[Container]]] = {}
        self._sources: dict[int, tuple[Container, list[Container]]] = {}
        self._stale: dict[int, Container] = {}
        self._rows: dict[int, tuple[Container, list[Memory]]] = {}
        self._held: dict[Memory, list[Container]] = {}
        self.mutated: dict[int, Container] = {}

    def chosen(self, found: Any, *sources: Any) -> None:
        """Record that a result shows the current state of the sources: each of its containers that
        of a source at the same place, if they nest alike."""
        made = list(containers(found))
        for s in sources:
            parts = list(containers(s))
            alike = len(parts) == len(made)
            pairs = zip(parts, made, strict=True) if alike else itertools.product(parts, made)
            for source, m in pairs:
                if source is m:
                    continue
                self._made.setdefault(id(source), (source, []))[1].append(m)
                self._sources.setdefault(id(m), (m, []))[1].append(source)
                if id(source) in self._stale:
                    self._stale[id(m)] = m

    def changed(self, container: Container) -> None:
        """Announce a change of a container, which may be a source of a choice, or in a list."""
        self.mutated[id(container)] = container
        self.shared(container)
        if not self._made:
            return
        same, stack = {id(container)}, [container]
        while stack:
            for source in self._sources.get(id(stack.pop()), (None, []))[1]:
                if id(source) not in same:
                    same.add(id(source))
                    stack.append(source)
        stack = [m for k in same for m in self._made.get(k, (None, []))[1] if id(m) not in same]
        while stack:
            c = stack.pop()
            if id(c) not in self._stale:
                self._stale[id(c)] = c
                stack += self._made.get(id(c), (None, []))[1]

    def hold(self, memory: Memory, container: Container, why: tuple[str, str]) -> None:
        """Record that a row of a list, in this memory, is a container."""
        held = self._held.setdefault(memory, [])
        if any(c is container for c in held):
            memory.alike = memory.alike or why
            return
        held.append(container)
        self._rows.setdefault(id(container), (container, []))[1].append(memory)

    def behind(self, some: Iterable[Container]) -> list[Container]:
        """Containers, and those that a condition chose them from."""
        stack, found = list(some), {}
        while stack:
            c = stack.pop()
            if id(c) not in found:
                found[id(c)] = c
                stack += self._sources.get(id(c), (None, []))[1]
        return list(found.values())

    def shared(self, container: Container) -> None:
        """Make the lists stale whose rows may be this container."""
        for memory in self._rows.get(id(container), (None, []))[1]:
            memory.spoil()
            memory.stale = True

    def spoil(self, memory: Memory) -> None:
        """Announce a change of memory: memory that may be the same becomes stale."""
        if memory.alike is not None:
            raise Refused(*memory.alike)
        memory.spoil()
        for m in (memory, *memory.same()) if self._held else ():
            for c in self._held.get(m, ()):
                self._stale[id(c)] = c
                for other in self._rows[id(c)][1]:
                    other.stale |= other is not memory

    def check(self, value: Any) -> None:
        """Refuse a stale value."""
        if self._stale and isinstance(value, (list, dict, SmallArray, Record)):
            if any(id(c) in self._stale for c in containers(value)):
                raise Refused(
                    f"{describe(value)} that a condition chose is read after one of its sides "
                    "was changed",
                    "choose between copies",
                )


def referenced(
    value: Any, name: str, env: Mapping[str, Any], frame: Frame, owned: Mapping[int, Any]
) -> bool:
    """Whether anything other than one name shows a container of a value."""
    wanted = {id(c) for c in containers(value)}
    if len(owned) > MOST:
        return True
    for key, (c, _) in owned.items():
        if key in wanted or not isinstance(c, (list, dict)):
            continue
        if any(id(v) in wanted for part in _parts(c) for v in containers(part)):
            return True
    seen: set[int] = set()
    stack: list[tuple[Mapping[str, Any], str]] = [(env, name)]
    for f in _callers(frame):
        seen.add(id(f))
        stack.append((f.env, ""))
    while stack:
        names, own = stack.pop()
        for n, v in names.items():
            if n != own and any(id(c) in wanted for c in containers(v)):
                return True
            home = getattr(v, "home", None)
            if isinstance(home, Frame) and id(home) not in seen and home is not frame:
                seen.add(id(home))
                stack.append((home.env, ""))
    return False


def _callers(frame: Frame) -> Iterator[Frame]:
    while frame.caller is not None:
        frame = frame.caller[0]
        yield frame


def _parts(container: list[Any] | dict[Any, Any]) -> Iterator[Any]:
    yield from container.values() if isinstance(container, dict) else container
