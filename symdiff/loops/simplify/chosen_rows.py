"""Add terms to the elements of an array only where the element is chosen.

Before:  w = [v if c[k] else 0 for all k];  s = [s[k, l] + w[k]*x[k, l] for all k, l]
After:   for k: for l in range(n if c[k] else 0): s[k, l] += v*x[k, l]

Requires: a program after its last differentiation. `w` is an adjoint, so 0 is the slope of a term
that does not count at all, and not a value.
Ensures: the same values, except that elements that are not chosen add nothing to an adjoint, even
where they are not finite. A loop carries the sum `s`, so it is updated in place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from symdiff.ir import ADD, DIV, MUL, NEG, SUB, WHERE, ZERO, Expr, neg, not_, substitute, where
from symdiff.ir import loop_program as lp
from symdiff.ir.blocks import nested
from symdiff.ir.names import Names, is_adjoint


def of_chosen(
    block: lp.Block, names: Names, carried: Mapping[str, lp.Carried] | None = None
) -> lp.Block:
    """The block with sums over chosen elements.

    Parameters
    ----------
    carried : the values that the loop around the block passes on, by their names at the end of an
        iteration.
    """
    chosen = {s.name: s for s in block if isinstance(s, lp.Build) and _choice(s) is not None}
    made: list[lp.Statement] = []
    sums: list[_Sum] = []
    for s in block:
        if isinstance(s, lp.Loop):
            own = {lp.name_of(c.next): c for c in s.carried if c.type.shape}
            s = replace(s, body=of_chosen(s.body, names, own))
        elif isinstance(s, lp.Build):
            s = replace(s, body=of_chosen(s.body, names))
            found = _sum(s, (carried or {}).get(s.name), chosen)
            if found is not None:
                if sums and not sums[0].goes_with(found):
                    made.append(_loops(sums, names))
                    sums = []
                sums.append(found if not sums else found.at(sums[0].build.indices))
                continue
        if sums:
            made.append(_loops(sums, names))
            sums = []
        made.append(s)
    return (*made, _loops(sums, names)) if sums else tuple(made)


@dataclass(frozen=True, slots=True)
class _Sum:
    """A build that adds a term to each element of an array that a loop carries, by its name in the
    loop; `choice` is the condition that the term may be nonzero in a row."""

    build: lp.Build
    carried: str
    term: Expr
    choice: Expr

    def at(self, indices: Sequence[str]) -> _Sum:
        """The same with other index names."""
        here = dict(zip(map(lp.index, self.build.indices), map(lp.index, indices), strict=True))
        term, choice = substitute((self.term, self.choice), here)
        return _Sum(replace(self.build, indices=tuple(indices)), self.carried, term, choice)

    def goes_with(self, other: _Sum) -> bool:
        """Whether another one has the same rows, and does not read this one."""
        if other.build.type.shape != self.build.type.shape:
            return False
        other = other.at(self.build.indices)
        return other.choice is self.choice and self.build.name not in lp.free((), (other.term,))


def _choice(s: lp.Build) -> tuple[Expr, Expr] | None:
    """The condition that an element is not 0, and its value then, by the index of the build."""
    if s.body or s.value.op is not WHERE or len(s.indices) != 1 or not is_adjoint(s.name):
        return None
    c, a, b = s.value.args
    return (c, a) if b is ZERO else (not_(c), b) if a is ZERO else None


def _sum(s: lp.Build, c: lp.Carried | None, chosen: Mapping[str, lp.Build]) -> _Sum | None:
    """The term that a build adds to a carried array, if it is 0 for elements that are not
    chosen."""
    if c is None or s.body or len(s.indices) < 2:
        return None
    if s.value.op not in (ADD, SUB):
        return None
    a, b = s.value.args
    before = lp.load(c.leaf, *map(lp.index, s.indices))
    if a is not before and s.value.op is ADD:
        a, b = b, a
    if a is not before:
        return None
    term = neg(b) if s.value.op is SUB else b
    row = lp.index(s.indices[0])
    factor = _factor(term, chosen, row)
    found = None if factor is None else _choice(chosen[lp.name_of(factor.args[0])])
    if factor is None or found is None:
        return None
    here = {lp.index(chosen[lp.name_of(factor.args[0])].indices[0]): row}
    choice, value = substitute(found, here)
    (term,) = substitute((term,), {factor: value})
    return _Sum(s, c.name, term, choice)


def _factor(e: Expr, chosen: Mapping[str, lp.Build], row: Expr) -> Expr | None:
    """The element of the row of a chosen array that is a factor of a term."""
    stack = [e]
    while stack:
        n = stack.pop()
        if n.op is lp.LOAD and n.args[1:] == (row,) and lp.name_of(n.args[0]) in chosen:
            return n
        stack += n.args if n.op in (MUL, NEG) else n.args[:1] if n.op is DIV else ()
    return None


def _loops(sums: Sequence[_Sum], names: Names) -> lp.Loop:
    """Loops over the rows and their elements that add the terms in place."""
    first = sums[0].build
    places = tuple(map(lp.index, first.indices))
    body: list[lp.Statement] = []
    carried: list[lp.Carried] = []
    for x in sums:
        t, name = x.build.type, x.build.name
        state, end = names.fresh(x.carried), names.fresh(name)
        body.append(lp.Update(end, state, t, places, x.term, add=True))
        start, last = (lp.array(n, t.kind) for n in (x.carried, end))
        carried.append(lp.Carried(state, t, start, last, name))
    axes = list(zip(first.indices, first.type.shape, strict=True))
    axes[1] = axes[1][0], where(sums[0].choice, axes[1][1], ZERO)
    return nested(axes, carried, tuple(body), lambda n, _: names.fresh(n))
