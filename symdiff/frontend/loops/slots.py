"""Carried values as trees: lists, tuples and dicts whose leaves are slots, one for each number or
array."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.frontend.arrays import symbolic
from symdiff.frontend.trace import scalars
from symdiff.frontend.trace.complex_pairs import promoted
from symdiff.frontend.trace.frames import dict_like, tuple_like
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import (
    Cond,
    Listed,
    Real,
    Record,
    Refused,
    Scalar,
    SmallArray,
    SymArray,
    Whole,
    describe,
    is_complex,
    is_number,
)
from symdiff.ir import ONE, ZERO, Expr, loop_program
from symdiff.ir.integers import linear
from symdiff.ir.loop_program import Type

SHARED = (
    "an array that another name may share since a loop is changed",
    "make a copy of it first: np.copy(...)",
)


SAME_FORM = "it must have the same type and size in every iteration"
ARRAY_FORM = "start with an array of its size, such as np.zeros(n)"
FORMS = (SAME_FORM, ARRAY_FORM)
"""Hints of refusals that peeling the first iteration may avoid, as it gives names their final type."""


@dataclass(slots=True)
class Slot:
    """One carried number or array: its type so far, and its names; for a number also the name of
    its plain twin (`symdiff.ir.plain`). An array that is shorter in each iteration, by `fewer` along each axis,
    is carried in memory of its first size, and zeros behind it."""

    type: Type
    init: Any
    name: str = ""
    twin: str = ""
    fixed: tuple[str, str] | None = None
    fewer: tuple[int, ...] = ()
    done: Expr = ZERO

    def sizes(self, more: int = 0) -> tuple[Expr, ...]:
        """The shape after `done` iterations, and more of them."""
        if not any(self.fewer):
            return self.type.shape
        done = ir.add(self.done, ir.const(more))
        sizes = zip(self.type.shape, self.fewer, strict=True)
        return tuple(linear(ir.sub(n, ir.mul(ir.const(d), done))) for n, d in sizes)

    @property
    def is_real(self) -> bool:
        """Whether it is a real number, for which decisions use its plain twin."""
        return not self.type.shape and self.type.kind == "f"

    def value(self, name: str) -> Any:
        """The carried value of this name as a traced value."""
        if self.type.shape:
            leaf = loop_program.array(name, self.type.kind)
            found = symbolic.in_memory(leaf, self.type.shape, self.type.kind)
            found.memory.fixed = self.fixed
            if any(self.fewer):
                found = symbolic.viewed(found, self.sizes(), symbolic.SLOTS[: len(found.shape)])
            return found
        if self.type.kind == "f":
            return Real(ir.var(name))
        whole = loop_program.index(name)
        return scalars.cond(ir.eq(whole, ONE)) if self.type.kind == "b" else Whole(whole)


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """A container inside of another one, which stays the same object in a loop; if its contents
    change, it is carried on its own."""

    container: Any


class Replaced(Exception):  # noqa: N818
    """A container inside of another one is a different object after an iteration."""


def slots(tree: Any) -> Iterator[Slot]:
    """The slots of a tree."""
    if isinstance(tree, Slot):
        yield tree
    elif isinstance(tree, SmallArray):
        yield from slots(tree.items)
    elif isinstance(tree, Listed):
        yield from slots(tree.storage)
    elif isinstance(tree, Record):
        yield from slots(tree.fields)
    elif isinstance(tree, dict):
        for v in tree.values():
            yield from slots(v)
    elif isinstance(tree, (list, tuple)):
        for v in tree:
            yield from slots(v)
    elif isinstance(tree, np.ndarray):
        for v in tree.ravel():
            yield from slots(v)


def tree_of(value: Any, what: str, deep: bool = True, top: bool = True) -> Any:
    """A value as a tree of slots; unless deep, the containers in it are kept as they are."""
    if isinstance(value, (Scalar, int)):
        return Slot(Type((), kind_of(value)), value)
    if isinstance(value, SymArray):
        return Slot(Type(value.shape, value.kind), value)
    if isinstance(value, Listed):
        tree = tree_of(value.items, what)
        if value.table is not None and value.table.memory.leaf is not None:
            tree.fixed = SHARED
        return Listed(tree, value.nest)
    if isinstance(value, tuple):
        return tuple_like(value, [tree_of(v, what, deep, False) for v in value])
    if isinstance(value, Record):
        return Record(value.made_of, tree_of(value.fields, what, deep, top))
    if not deep and not top and isinstance(value, (list, dict, set, SmallArray)):
        return Held(value)
    if isinstance(value, SmallArray):
        return SmallArray(tree_of(value.items, what), value.kind)
    if isinstance(value, np.ndarray):
        items = np.empty(value.shape, object)
        for k, v in np.ndenumerate(value):
            items[k] = tree_of(v, what)
        return items
    if isinstance(value, list):
        return [tree_of(v, what, deep, False) for v in value]
    if isinstance(value, dict):
        return dict_like(value, {k: tree_of(v, what, deep, False) for k, v in value.items()})
    if value is None or isinstance(value, (str, bytes)):
        return Same(value)
    raise Refused(
        f"{what} is {describe(value)} that changes in a loop whose length is not known when traced",
        "carry numbers and arrays from one iteration to the next",
    )


@dataclass(frozen=True, slots=True)
class Same:
    """A value that must not change."""

    value: Any


def kind_of(value: Any) -> str:
    """The kind of a number."""
    if isinstance(value, (Cond, bool)):
        return "b"
    return "i" if scalars.is_whole(value) else "f"


def filled(t: Tracer, tree: Any, value: Callable[[Slot], Any]) -> Any:
    """The tree with a value in place of each slot; its containers are new."""
    if isinstance(tree, Slot):
        return value(tree)
    if isinstance(tree, Held):
        return tree.container
    if isinstance(tree, Same):
        return tree.value
    if isinstance(tree, Listed):
        return symbolic.listed(filled(t, tree.storage, value), tree.nest)
    if isinstance(tree, Record):
        return Record(tree.made_of, filled(t, tree.fields, value))
    if isinstance(tree, SmallArray):
        return t.own(SmallArray(filled(t, tree.items, value), tree.kind))
    if isinstance(tree, np.ndarray):
        items = np.empty(tree.shape, object)
        for k, v in np.ndenumerate(tree):
            items[k] = filled(t, v, value)
        return items
    if isinstance(tree, list):
        return t.own([filled(t, v, value) for v in tree])
    if isinstance(tree, tuple):
        return tuple_like(tree, [filled(t, v, value) for v in tree])
    if isinstance(tree, dict):
        return t.own(dict_like(tree, {k: filled(t, v, value) for k, v in tree.items()}))
    return tree


def pairs(tree: Any, value: Any, what: str) -> Iterator[tuple[Slot, Any]]:
    """Each slot with its value after the body."""
    if is_complex(tree) and is_number(value):
        value = promoted(value)
    if isinstance(tree, Slot):
        yield tree, value
        return
    if isinstance(tree, Held):
        if tree.container is not value:
            raise Replaced
        return
    if isinstance(tree, Same) and type(value) is type(tree.value) and value == tree.value:
        return
    if type(tree) is type(value):
        if isinstance(tree, SmallArray):
            yield from pairs(tree.items, value.items, what)
            return
        if isinstance(tree, Listed):
            yield from pairs(tree.storage, value.items, what)
            return
        if isinstance(tree, Record) and tree.made_of is value.made_of:
            yield from pairs(tree.fields, value.fields, what)
            return
        if isinstance(tree, np.ndarray) and tree.shape == value.shape:
            for a, b in zip(tree.ravel(), value.ravel(), strict=True):
                yield from pairs(a, b, what)
            return
        if isinstance(tree, (list, tuple)) and len(tree) == len(value):
            for a, b in zip(tree, value, strict=True):
                yield from pairs(a, b, what)
            return
        if isinstance(tree, dict) and tree.keys() == value.keys():
            for k in tree:
                yield from pairs(tree[k], value[k], what)
            return
    raise Refused(*changes_form(what, value))


def changes_form(what: str, value: Any) -> tuple[str, str]:
    """The refusal of a value that is not alike in every iteration."""
    if isinstance(value, (list, dict)):
        return (
            f"{what} changes its size in a loop whose length is not known when traced",
            "append once in every iteration, or store in an array made before the loop",
        )
    return (
        f"{what} changes its form in a loop whose length is not known when traced",
        SAME_FORM,
    )


def arrays(value: Any) -> Iterator[SymArray]:
    """The arrays in a value; both arrays where it is one of two."""
    if isinstance(value, SymArray):
        if value.sides is None:
            yield value
        else:
            for side in value.sides[1:]:
                yield from arrays(side)
    elif isinstance(value, Listed):
        yield from arrays(value.items)
    elif isinstance(value, Record):
        yield from arrays(value.fields)
    elif isinstance(value, (list, tuple)):
        for v in value:
            yield from arrays(v)
    elif isinstance(value, dict):
        for v in value.values():
            yield from arrays(v)
