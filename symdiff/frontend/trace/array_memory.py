"""Memory of arrays whose size is not known when traced: its state, and what else may be the same."""

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
    """Another object took the place of a row of a list.

    Attributes
    ----------
    guard : the condition of that.
    row : the number of the row.
    old : the object that it was, which other names may show.
    """

    guard: Expr
    row: Expr
    old: Memory


class Memory:
    """The memory of an array that is not traced element by element: its state now.

    A formula is memory that is not written yet: its elements are computed where they are
    used, until something is stored in it.

    Attributes
    ----------
    shape : its axes, integer expressions.
    kind : "b" for truth values, "i" for integers, "f" for reals.
    leaf : the array as it is now, as of `symdiff.ir.loop_program.array`; None of a formula.
    element : of a formula, the element at the indices `symbolic.SLOTS`.
    plain : of a formula, what plain Python computes of the element, if it is not that.
    defined : of a formula, where the operations that led to the element are defined.
    selection : the elements of an array by a condition that it holds, as long as neither changes.
    fixed : why nothing may be stored in it, and what to do; None if it may.
    birth : larger than that of every memory made before.
    name : what the user calls it; "" if it has no name yet.
    origins, shown : memory that this may be, as a loop may have left it under another name;
        and memory that may be this.
    stale : whether it may have been changed as one of these.
    made : of a list, where it is made; None if its elements keep the kind that they have.
    rows : whether it holds the elements of a list, as rows.
    alike : why no row may be changed, as several rows may be one object; None if they may.
    by_rows : whether it is known to lie row by row; what NumPy computes from arrays, and copies of
        them, lies as those do.
    reshaped : whether a view of it has another shape, if arguments lie row by row.
    argument : whether it is that of an argument, which may have gaps between its elements.
    parameter : the name of the argument that shows what is stored in it; "" if none does.
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
        """The rows that were replaced in this state; None of those of a loop."""
        return () if self._replaced is None else self._replaced.get(self.leaf, ())

    def replace(
        self, *more: Replaced | None, before: tuple[Replaced | None, ...] | None = None
    ) -> None:
        """Note rows that were replaced in this state, after others."""
        known = self.replaced() if before is None else before
        if more or known:
            self._replaced = self._replaced or {}
            self._replaced[self.leaf] = (*known, *more)

    def may_show(self, other: Memory) -> None:
        """This is a view of the other memory, or a copy, as only a call says."""
        self.origins.append(other)
        other.shown.append(self)
        self.fixed = self.fixed or other.fixed

    def hold(self, other: Memory, why: tuple[str, str]) -> None:
        """A row of this list is the other memory, or a view of it."""
        if other in self.origins:
            self.alike = self.alike or why
            return
        self.origins.append(other)
        other.shown.append(self)
        self.alike = self.alike or other.fixed or other.alike

    def spoil(self) -> None:
        """It is about to change: what may be the same memory is not what it was."""
        for memory in self.same():
            memory.stale = True

    def same(self) -> list[Memory]:
        """The other memory that may be this: what it may be, and what may be that."""
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
