"""Copies of matrices by columns, for sums whose lanes would gather elements of several rows.

Before:  for i: for j: d[i, j] = sum_l (x[i, l] - c[j, l])**2
After:   c_columns[l, j] = c[j, l];  for i: for j: d[i, j] = sum_l (x[i, l] - c_columns[l, j])**2

Requires: an innermost loop or a build, of one sum or none, which has an axis, or stands in a loop, that the
place of the element does not depend on: so the copy is read more often than it is made.
Ensures: the same values, up to the order of sums. A copy stands where the matrix is known first. Sums of
products of two elements stay as they are, as several rows of these are made together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from symdiff.ir import CONST, TRUE, Expr, topological
from symdiff.ir.loop_program import (
    LOAD,
    Block,
    Build,
    Loop,
    Statement,
    Type,
    Update,
    array,
    defined,
    expressions_in,
    index,
    inner,
    leaves,
    load,
    name_of,
    replaced,
    walk,
)
from symdiff.ir.names import Names
from symdiff.lowering.loops.collected import adds_product, reduction
from symdiff.lowering.loops.layouts import are_met_again, axis_of, with_last

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
    made, placed : of arrays and the axis that becomes the last one, the names of copies; those that are
        in the program.
    """

    names: Names
    shapes: dict[str, Type] = field(default_factory=dict)
    outside: dict[str, int] = field(default_factory=dict)
    made: dict[tuple[str, int], str] = field(default_factory=dict)
    placed: set[tuple[str, int]] = field(default_factory=set)

    def block(self, block: Block, new: Mapping[str, Type], around: Sequence[str]) -> Block:
        """The block, in which arrays are `new`, in loops of indices `around` it."""
        out: list[Statement] = []
        self.known(new, around)
        for s in block:
            if isinstance(s, (Build, Loop)):
                own = s.indices if isinstance(s, Build) else (s.index,)
                found = self.turned(s, around)
                body = () if found else self.block(s.body, dict(inner(s)), (*around, *own))
                s = found or replace(s, body=body)
            wanted = [p for p in self.made if p not in self.placed]
            out += [self.copy(*p) for p in wanted if self.outside[p[0]] == len(around)]
            out.append(s)
            self.known(dict(defined(s)), around)
        return tuple(out)

    def known(self, new: Mapping[str, Type], around: Sequence[str]) -> None:
        self.shapes |= {n: t for n, t in new.items() if t.shape}
        self.outside |= dict.fromkeys(new, len(around))

    def turned(self, s: Build | Loop, around: Sequence[str]) -> Build | Loop | None:
        """A build, or an innermost loop, that reads such copies, if there is something to copy."""
        if isinstance(s, Build):
            if not _is_sum(s):
                return None
            lane, size, own = index(s.indices[-1]), s.type.shape[-1], s.indices[:-1]
        else:
            if s.count is None or not _has_lanes(s):
                return None
            lane, size, own = index(s.index), s.count, ()
        if size.op is CONST and size.value < SHORT:
            return None
        found: dict[Expr, tuple[str, int]] = {}
        for e in topological(expressions_in((s,))):
            if e.op is not LOAD or lane not in leaves(e.args[1:]):
                continue
            if axis_of(lane, e.args[1:]) == len(e.args) - 2:
                continue  # these lie side by side
            axis, name = axis_of(lane, e.args[1:]), name_of(e.args[0])
            if axis is None or name not in self.shapes:
                return None
            inside = {n for b in walk(s.body) for n, _ in inner(b)} & set(
                map(name_of, leaves(e.args[1:]))
            )
            loops = [*around[self.outside[name] :], *own, name_of(lane), *inside]
            if not are_met_again(e.args[1:], loops):
                return None
            found[e] = name, axis
        if not found:
            return None
        new: dict[Expr, Expr] = {}
        for e, (name, axis) in found.items():
            if (name, axis) not in self.made:
                self.made[name, axis] = self.names.fresh(f"{name}_columns")
            copy = array(self.made[name, axis], self.shapes[name].kind)
            new[e] = load(copy, *with_last(e.args[1:], axis))
        (changed,) = replaced((s,), new)
        assert isinstance(changed, (Build, Loop))
        return changed

    def copy(self, name: str, axis: int) -> Build:
        """The copy of an array with an axis as its last one."""
        t, made = self.shapes[name], self.made[name, axis]
        self.placed.add((name, axis))
        indices = [self.names.fresh("k") for _ in t.shape]
        value = load(array(name, t.kind), *map(index, indices))
        shape = Type(with_last(t.shape, axis), t.kind)
        return Build(made, shape, tuple(with_last(indices, axis)), value)


def _is_sum(s: Build) -> bool:
    """Whether elements depend on others, or are sums over all iterations of a loop."""
    if s.type.kind != "f" or len(s.body) > 1:
        return False
    return all(
        isinstance(b, Loop) and not (b.body or b.saves or b.restores) and _is_plain(b)
        for b in s.body
    )


def _has_lanes(s: Loop) -> bool:
    """Whether a loop only makes sums and extremes, of sums, and adds to elements that lie side by side."""
    lane = index(s.index)
    if not _is_plain(s) or (s.saves and s.reverse) or (s.restores and not s.reverse):
        return False
    return all(
        not b.body and not b.saves and not b.restores and _is_plain(b)
        if isinstance(b, Loop)
        else isinstance(b, Update) and axis_of(lane, b.index) == len(b.index) - 1
        for b in s.body
    )


def _is_plain(s: Loop) -> bool:
    """Whether a loop runs over all of a range, and its numbers are sums and extremes, not of products."""
    if s.condition is not TRUE or s.count is None:
        return False
    numbers = [c for c in s.carried if not c.type.shape]
    return all(reduction(c) is not None and not adds_product(c.next) for c in numbers)
