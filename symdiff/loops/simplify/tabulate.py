"""Build arrays from their indices where a loop changes them element by element.

Before:  for i in range(n): for j in range(m): a[i] += x[i, j]
After:   a = [a[i] + sum of x[i, j] for all j, for all i]

Requires: a valid program.
Ensures: the same values, except for the order of sums. A nest of loops is replaced if all
that it does is to change arrays, at places that are the indices of its outer loops, up
to constants, and if what it adds there depends on no other iteration of these loops.
It is left alone where the arrays share work that would be done several times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from symdiff import ir
from symdiff.ir import ADD, SUB, TRUE, ZERO, Expr, substitute, topological, var
from symdiff.ir import loop_program as lp
from symdiff.ir.effects import has_checks, has_tapes
from symdiff.ir.names import Names
from symdiff.ir.prune import pruned
from symdiff.lowering.loops.chains import Chain, Site, chain

MAX_REPEATED = 1.3
MAX_FOR_ONE = 2.2
MAX_IN_TURN = 4.0
FEW = 16
"""The most work, relative to the loop, of several arrays, of one, and of arrays where iterations
change the same elements, so that the loop is sequential; and work that is always acceptable."""


def gathered(block: lp.Block, names: Names) -> lp.Block:
    """The block with built arrays in place of loops."""
    result: list[lp.Statement] = []
    for s in block:
        if isinstance(s, lp.Loop) and (builds := _builds(s, names)) is not None:
            result += builds
        elif isinstance(s, lp.Build | lp.Loop):
            result.append(replace(s, body=gathered(s.body, names)))
        else:
            result.append(s)
    return tuple(result)


def _builds(s: lp.Loop, names: Names) -> list[lp.Build] | None:
    """The arrays that replace a nest of loops."""
    if not lp.plain_loop(s) or has_checks(s) or has_tapes(s):
        return None
    found, factor = [], MAX_FOR_ONE if len(s.carried) == 1 else MAX_REPEATED
    for c in s.carried:
        if not c.type.shape or (build := (gather := _Gather(s, c, names)).build()) is None:
            return None
        found.append(build)
        if gather.in_turn:
            factor = MAX_IN_TURN
    if sum(map(_work, found)) > factor * _work(s) + FEW:
        return None
    return found or None


def _work(s: lp.Build | lp.Loop) -> float:
    """The operations of a statement, each counted once; a loop weighs more."""
    roots = lp.expressions_in((s,))
    nodes = sum(_WEIGHTS.get(e.op, 0 if not e.args else 20) for e in topological(roots))
    return nodes + 100 * sum(isinstance(b, lp.Loop | lp.Call) for b in lp.walk(s.body))


_WEIGHTS: dict[ir.Op, float] = {
    **dict.fromkeys(ir.ARITHMETIC, 1), ir.DIV: 4, ir.LT: 1, ir.LE: 1, ir.EQ: 1, ir.NOT: 0,
    ir.AND: 0, ir.OR: 0, ir.WHERE: 1, lp.LOAD: 1,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Axis:
    """An axis of the array: the loop of its index, and the constant added to it."""

    loop: lp.Loop
    count: Expr
    shift: Expr


class _Gather:
    """One array that a nest of loops changes.

    Attributes
    ----------
    in_turn : whether iterations change elements that others change.
    """

    def __init__(self, s: lp.Loop, c: lp.Carried, names: Names) -> None:
        self.in_turn = False
        self.s, self.c, self.names = s, c, names
        self.indices = tuple(names.fresh("k") for _ in c.type.shape)
        self.at = tuple(map(lp.index, self.indices))
        self.before = lp.load(lp.array(lp.name_of(c.init), c.type.kind), *self.at)

    def build(self) -> lp.Build | None:
        """The array as it is after the loop."""
        found = chain(self.s, self.c)
        if found is None or not found.sites:
            return None
        self.in_turn = len({site.update.index for site in found.sites}) > 1
        value, body = self.before, list[lp.Statement]()
        for site in found.sites:
            axes = self._axes(site)
            if axes is None or not self._independent(site, found, axes):
                return None
            term = self._term(site, found, axes, body)
            if term is None:
                return None
            inside, change = term
            if site.update.add:
                value = value + ir.where(inside, change, ZERO)
            else:
                value = ir.where(inside, change, value)
        return lp.Build(self.c.result, self.c.type, self.indices, value, tuple(body))

    def _axes(self, site: Site) -> list[_Axis] | None:
        """The outermost loops, whose indices are the place of an update."""
        loops = {b.index: b for b in site.path}
        inner_names = lp.own_names(site.path)
        axes = []
        for e in site.update.index:
            i, shift = _shifted(e)
            loop = loops.pop(i, None) if i is not None else None
            if loop is None or loop.count is None or lp.names_in(shift) & inner_names:
                return None
            axes.append(_Axis(loop, loop.count, shift))
        mapped = [a.loop for a in axes]
        outermost = site.path[: len(axes)]
        if any(b not in mapped for b in outermost) or not all(map(lp.plain_loop, site.path)):
            return None
        return axes

    def _independent(self, site: Site, found: Chain, axes: Sequence[_Axis]) -> bool:
        """Whether an update depends on no other iteration."""
        if len(found.sites) > 1 and (found.loads or not site.update.add):
            return False
        if len(site.path) > len(axes) and (found.loads or not site.update.add):
            return False
        before = found.states[: found.states.index(site.update.name)]
        return all(
            e.args[1:] == site.update.index and lp.name_of(e.args[0]) in before for e in found.loads
        )

    def _term(
        self, site: Site, found: Chain, axes: Sequence[_Axis], body: list[lp.Statement]
    ) -> tuple[Expr, Expr] | None:
        """The condition under which an element changes, and its value or increment; the statements
        for these go to the body."""
        outer, rest = site.path[: len(axes)], site.path[len(axes) :]
        value, guard, after = site.update.value, site.update.guard, list[lp.Statement]()
        if rest:
            loop, value, guard = self._summed(rest, value, guard)
            after = [loop]
        links = [*site.path, site.update]
        shared = [b for s in outer[:-1] for b in s.body if not any(b is x for x in links)]
        block = [b for s in outer for b in s.body if not any(b is x for x in links)]
        mapping = {**_invariants(outer), **dict.fromkeys(found.loads, self.before)}
        roots = (value, guard, *(a.count for a in axes))
        roots = substitute(roots, mapping)
        needed = pruned(lp.replaced((*block, *after), mapping), roots)
        made = {n for b in shared for n, _ in lp.defined(b)}
        if any(n in made for b in needed for n, _ in lp.defined(b)):
            return None  # once for a row, not for each of its elements
        here = {lp.index(a.loop.index): k - a.shift for a, k in zip(axes, self.at, strict=True)}
        own = lp.own_names((self.s,)) - {lp.name_of(i) for i in here}
        if lp.free(needed, roots) & own:
            return None
        copy, new = lp.renamed(needed, self.names)
        body += lp.replaced(copy, here)
        value, guard, *counts = substitute(substitute(roots, new), here)
        return ir.and_(self._bounds(axes, counts), guard), value

    def _bounds(self, axes: Sequence[_Axis], counts: Sequence[Expr]) -> Expr:
        """The condition that the loops reach an element."""
        inside = TRUE
        for a, k, count, size in zip(axes, self.at, counts, self.c.type.shape, strict=True):
            if a.shift is not ZERO:
                inside = ir.and_(inside, ir.le(a.shift, k))
            if a.shift is not ZERO or count is not size:
                inside = ir.and_(inside, ir.lt(k, count + a.shift))
        return inside

    def _summed(
        self, path: Sequence[lp.Loop], value: Expr, guard: Expr
    ) -> tuple[lp.Loop, Expr, Expr]:
        """Loops inside an element that sum its increments."""
        s = path[0]
        start, end = self.names.fresh("sum"), self.names.fresh("sum")
        body = s.body
        if len(path) > 1:
            deeper, value, guard = self._summed(path[1:], value, guard)
            body = (*(b for b in s.body if b is not path[1]), deeper)
        others = tuple(c for c in s.carried if not c.type.shape)
        total = lp.Carried(start, lp.REAL, ZERO, var(start) + ir.where(guard, value, ZERO), end)
        return replace(s, carried=(*others, total), body=body), var(end), TRUE


def _invariants(loops: Sequence[lp.Loop]) -> dict[Expr, Expr]:
    """The numbers that loops carry unchanged."""
    known: dict[Expr, Expr] = {}
    for s in loops:
        for c in s.carried:
            if not c.type.shape and c.next is c.leaf:
                known[c.next] = substitute((c.init,), known)[0]
    return known


def _shifted(e: Expr) -> tuple[str | None, Expr]:
    """An index and the constant added to it."""
    if e.op is lp.INDEX:
        return lp.name_of(e), ZERO
    if e.op in (ADD, SUB) and e.args[0].op is lp.INDEX:
        return lp.name_of(e.args[0]), e.args[1] if e.op is ADD else -e.args[1]
    if e.op is ADD and e.args[1].op is lp.INDEX:
        return lp.name_of(e.args[1]), e.args[0]
    return None, ZERO
