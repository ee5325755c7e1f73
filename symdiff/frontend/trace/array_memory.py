"""Memory of arrays of unknown size: its state, and which memory may be the same."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

from symdiff.errors import Location
from symdiff.ir import TRUE, ZERO, Expr
from symdiff.ir.loop_program import index

MAX_RANK = 8
SLOTS = tuple(index(f"#{k}") for k in range(MAX_RANK))
"""Denote the indices in formulas."""

births = itertools.count()


@dataclass(frozen=True, slots=True, eq=False)
class Replaced:
    """Another object replaced a row of a list.

    Attributes
    ----------
    guard : the condition under which that happened.
    row : the number of the row.
    old : the replaced object, which other names may show.
    """

    guard: Expr
    row: Expr
    old: Memory


class Memory:
    """The memory of an array that is not traced element by element, in its current state.

    A formula is memory that is not written yet: its elements are computed where they are
    used, until something is stored in it.

    Attributes
    ----------
    shape : its axes, integer expressions.
    kind : "b" for truth values, "i" for integers, "f" for reals.
    leaf : the current array, as in `symdiff.ir.loop_program.array`; None for a formula.
    element : for a formula, the element at the indices `symbolic.SLOTS`.
    plain : for a formula, the plain value of the element, if that differs.
    defined : for a formula, where the operations that led to the element are defined.
    selection : the selection by a condition that it holds, as long as neither changes.
    fixed : why nothing may be stored in it, and what to do; None if stores are allowed.
    birth : larger than that of every memory made before.
    name : its name in the user's code; "" if it has none yet.
    origins, shown : memory that this may be, as a loop may have left it under another name;
        and memory that may be this.
    stale : whether a change of one of these may have changed it.
    made : for a list, the place where it is made; None if its elements keep their kind.
    rows : whether it holds the elements of a list, as rows.
    alike : why no row may be changed, since several rows may be one object; None if that is
        allowed.
    by_rows : whether it is known to be stored by rows; results that NumPy computes from arrays,
        and copies, have the order of those.
    reshaped : whether a view of it has another shape, if arguments are stored by rows.
    argument : whether it is that of an argument, which may have gaps between its elements.
    parameter : the name of the argument that shows stores in it; "" if none does.
    """

    __slots__ = (
        "_replaced",
        "alike",
        "argument",
        "birth",
        "by_rows",
        "defined",
        "element",
        "fixed",
        "kind",
        "leaf",
        "made",
        "name",
        "origins",
        "parameter",
        "plain",
        "reshaped",
        "rows",
        "selection",
        "shape",
        "shown",
        "stale",
    )  # fmt: skip

    def __init__(
        self,
        shape: tuple[Expr, ...],
        kind: str,
        leaf: Expr | None = None,
        element: Expr = ZERO,
        defined: Expr = TRUE,
        plain: Expr | None = None,
    ) -> None:
        self.shape, self.kind, self.leaf = shape, kind, leaf
        self.element, self.defined, self.plain = element, defined, plain
        self.selection: Any = None
        self.fixed: tuple[str, str] | None = None
        self.birth = next(births)
        self.name = self.parameter = ""
        self.origins: list[Memory] = []
        self.shown: list[Memory] = []
        self.stale = False
        self.by_rows = self.reshaped = self.argument = self.rows = False
        self.alike: tuple[str, str] | None = None
        self.made: Location | None = None
        self._replaced: dict[Expr | None, tuple[Replaced | None, ...]] | None = None

    def replaced(self) -> tuple[Replaced | None, ...]:
        """The rows that were replaced in this state; None for those of a loop."""
        return () if self._replaced is None else self._replaced.get(self.leaf, ())

    def replace(
        self, *more: Replaced | None, before: tuple[Replaced | None, ...] | None = None
    ) -> None:
        """Record rows that were replaced in this state, after others."""
        known = self.replaced() if before is None else before
        if more or known:
            self._replaced = self._replaced or {}
            self._replaced[self.leaf] = (*known, *more)

    def may_show(self, other: Memory) -> None:
        """Record that this is a view or a copy of other memory, which only a call decides."""
        self.origins.append(other)
        other.shown.append(self)
        self.fixed = self.fixed or other.fixed

    def hold(self, other: Memory, why: tuple[str, str]) -> None:
        """Record that a row of this list is the other memory, or a view of it."""
        if other in self.origins:
            self.alike = self.alike or why
            return
        self.origins.append(other)
        other.shown.append(self)
        self.alike = self.alike or other.fixed or other.alike

    def spoil(self) -> None:
        """Announce a change: memory that may be the same becomes stale."""
        for memory in self.same():
            memory.stale = True

    def same(self) -> list[Memory]:
        """The other memory that may be the same, in either direction."""
        up = _closure([self], "origins")
        return [m for m in _closure(up, "shown") if m is not self]


def _closure(memories: list[Memory], step: str) -> list[Memory]:
    found = dict.fromkeys(memories)
    stack = list(memories)
    while stack:
        for memory in getattr(stack.pop(), step):
            if memory not in found:
                found[memory] = None
                stack.append(memory)
    return list(found)
