"""Copies of matrices by columns, for sums whose lanes would gather elements of several rows.

Before:  for i: for j: d[i, j] = sum_l (x[i, l] - c[j, l])**2
After:   c_columns[l, j] = c[j, l];  for i: for j: d[i, j] = sum_l (x[i, l] - c_columns[l, j])**2

Requires: a build of one sum over all iterations of a loop, which has an axis, or stands in a loop, that the
matrix does not depend on: so the copy is read more often than it is made.
Ensures: the same values, up to the order of sums. A copy stands where the matrix is known first. Sums of
products of two elements stay as they are, as several rows of these are made together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from symdiff.ir import CONST, MUL, TRUE, Expr, topological
from symdiff.ir.loop_program import (
    LOAD,
    Block,
    Build,
    Loop,
    Statement,
    Type,
    array,
    defined,
    expressions,
    index,
    inner,
    leaves,
    load,
    name_of,
    replaced,
)
from symdiff.ir.names import Names

SHORT = 8
"""Elements of a row up to which it is no vector."""


def by_columns(block: Block, names: Names, known: Mapping[str, Type]) -> Block:
    """The block with such copies.

    Parameters
    ----------
    known : types of arrays that are defined before the block.
    """
    return _Copies(names).block(block, known, ())


@dataclass
class _Copies:
    """Copies that a program needs.

    Attributes
    ----------
    shapes, outside : of arrays that are known, their types, and in how many loops they are defined.
    made : of arrays and the axis that becomes the last one, the names of copies that are not yet placed.
    """

    names: Names
    shapes: dict[str, Type] = field(default_factory=dict)
    outside: dict[str, int] = field(default_factory=dict)
    made: dict[tuple[str, int], str] = field(default_factory=dict)

    def block(self, block: Block, new: Mapping[str, Type], around: Sequence[str]) -> Block:
        """The block, in which arrays are `new`, in loops of indices `around` it."""
        out: list[Statement] = []
        self.known(new, around)
        for s in block:
            if isinstance(s, Build) and (found := self.turned(s, around)) is not None:
                s = found
            elif isinstance(s, (Build, Loop)):
                own = s.indices if isinstance(s, Build) else (s.index,)
                s = replace(s, body=self.block(s.body, dict(inner(s)), (*around, *own)))
            out += [self.copy(*p) for p in list(self.made) if self.outside[p[0]] == len(around)]
            out.append(s)
            self.known(dict(defined(s)), around)
        return tuple(out)

    def known(self, new: Mapping[str, Type], around: Sequence[str]) -> None:
        self.shapes |= {n: t for n, t in new.items() if t.shape}
        self.outside |= dict.fromkeys(new, len(around))

    def turned(self, s: Build, around: Sequence[str]) -> Build | None:
        """A build of a sum that reads such copies, if there is something to copy."""
        loop = s.body[0] if len(s.body) == 1 else None
        n = s.type.shape[-1]
        if not isinstance(loop, Loop) or loop.body or loop.condition is not TRUE:
            return None
        if loop.count is None or s.type.kind != "f" or (n.op is CONST and n.value < SHORT):
            return None
        if any(_is_product(c.next) for c in loop.carried):
            return None
        last, here = index(s.indices[-1]), index(loop.index)
        new: dict[Expr, Expr] = {}
        for e in topological((*expressions(loop), s.value)):
            if e.op is not LOAD or last not in leaves(e.args[1:-1]):
                if e.op is LOAD and last in leaves(e.args[1:]) and e.args[-1] is not last:
                    return None
                continue
            axis = self.axis(e, last, here)
            usual = {*around[self.outside[name_of(e.args[0])] :], *s.indices[:-1]}
            if axis is None or usual <= {name_of(i) for i in leaves(e.args[1:])}:
                return None
            name = name_of(e.args[0])
            if (name, axis) not in self.made:
                self.made[name, axis] = self.names.fresh(f"{name}_columns")
            copy = array(self.made[name, axis], self.shapes[name].kind)
            new[e] = load(copy, *_last(e.args[1:], axis))
        if not new:
            return None
        (changed,) = replaced((replace(s, body=replaced(s.body, new)),), new)
        assert isinstance(changed, Build)
        return changed

    def axis(self, e: Expr, last: Expr, here: Expr) -> int | None:
        """The axis of an element's place that has the last index of a build, where the index of its sum is in
        the last one."""
        places = e.args[1:]
        axis = next((k for k, i in enumerate(places) if i is last), None)
        others = leaves(tuple(i for k, i in enumerate(places[:-1]) if k != axis))
        if axis is None or places[-1] is not here or last in others or here in others:
            return None
        return axis if name_of(e.args[0]) in self.shapes else None

    def copy(self, name: str, axis: int) -> Build:
        """The copy of an array with an axis as its last one."""
        t, made = self.shapes[name], self.made.pop((name, axis))
        indices = [self.names.fresh("k") for _ in t.shape]
        value = load(array(name, t.kind), *map(index, indices))
        shape = Type(_last(t.shape, axis), t.kind)
        return Build(made, shape, tuple(_last(indices, axis)), value)


def _last(items: Sequence[Any], axis: int) -> tuple[Any, ...]:
    return (*items[:axis], *items[axis + 1 :], items[axis])


def _is_product(e: Expr) -> bool:
    """Whether a sum adds a product of two elements."""
    return any(a.op is MUL and all(x.op is LOAD for x in a.args) for a in e.args)


__all__ = ["by_columns"]
