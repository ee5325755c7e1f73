"""Keep an element that a loop changes in a number.

Before:  for j in range(m): e[i] = e[i]/2 + d[i, j]/2
After:   t = e[i];  for j in range(m): t = t/2 + d[i, j]/2;  e[i] = t

Requires: a valid program.
Ensures: the same values. An array that a loop carries, where it changes and loads
one element only, whose place does not depend on the loop, is carried as that number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from symdiff import ir
from symdiff.ir import TRUE, ZERO, Expr, substitute, var
from symdiff.ir import loop_program as lp
from symdiff.ir.effects import ranges
from symdiff.ir.names import Names
from symdiff.lowering.loops.chains import chain


def promoted(block: lp.Block, names: Names, sizes: Mapping[Expr, Expr] | None = None) -> lp.Block:
    """The block with numbers in place of single elements.

    Parameters
    ----------
    names : of the program.
    sizes : how many values the indices around the block take.
    """
    sizes = sizes or {}
    result: list[lp.Statement] = []
    for s in block:
        after: list[lp.Statement] = []
        if isinstance(s, lp.Build | lp.Loop):
            s = replace(s, body=promoted(s.body, names, {**sizes, **ranges(s)}))
        if isinstance(s, lp.Loop):
            while (found := _candidate(s)) is not None:
                c, place = found
                s, update = _Promotion(names, c.type, place).outermost(s, c, sizes)
                after.append(update)
        result += [s, *after]
    return tuple(result)


def _candidate(s: lp.Loop) -> tuple[lp.Carried, tuple[Expr, ...]] | None:
    """An array in which a loop changes only one element, and that element."""
    for c in s.carried:
        if c.type.shape and (place := _place(s, c)) is not None:
            return c, place
    return None


def _place(s: lp.Loop, c: lp.Carried) -> tuple[Expr, ...] | None:
    """The one element of an array that a loop changes and loads."""
    found = chain(s, c)
    if found is None or not found.sites:
        return None
    places = {site.update.index for site in found.sites} | {e.args[1:] for e in found.loads}
    if len(places) != 1:
        return None
    (place,) = places
    return None if lp.names_in(*place) & lp.own_names((s,)) else place


class _Promotion:
    """One array of one loop.

    Attributes
    ----------
    known : an element of a state of the array -> its number.
    """

    def __init__(self, names: Names, t: lp.Type, place: tuple[Expr, ...]) -> None:
        self.names, self.type, self.place = names, t, place
        self.number = lp.REAL if t.kind == "f" else lp.INTEGER
        self.known: dict[Expr, Expr] = {}

    def outermost(
        self, s: lp.Loop, c: lp.Carried, sizes: Mapping[Expr, Expr]
    ) -> tuple[lp.Loop, lp.Update]:
        """The loop with the number, and the update after it."""
        added = all(b.add for b in _updates(s, c)) and not _is_loaded(s, c)
        init = ZERO if added else self._element(lp.name_of(c.init))
        s, result = self.loop(s, c, init)
        update = lp.Update(
            c.result, lp.name_of(c.init), self.type, self.place, result,
            self._inside(sizes), added,
        )  # fmt: skip
        return s, update

    def _element(self, name: str) -> Expr:
        return lp.load(lp.array(name, self.type.kind), *self.place)

    def _leaf(self, stem: str) -> Expr:
        name = self.names.fresh(stem)
        return var(name) if self.type.kind == "f" else lp.index(name)

    def _inside(self, sizes: Mapping[Expr, Expr]) -> Expr:
        """The condition that the place is inside the array, which it need not be if there are no
        iterations."""
        guard = TRUE
        for e, n in zip(self.place, self.type.shape, strict=True):
            if sizes.get(e) is not n:
                guard = ir.and_(guard, ir.and_(ir.le(ZERO, e), ir.lt(e, n)))
        return guard

    def loop(self, s: lp.Loop, c: lp.Carried, init: Expr) -> tuple[lp.Loop, Expr]:
        """A loop that carries the number, and the name of its result."""
        start, end = self._leaf(c.name), self._leaf(c.result)
        self.known[self._element(c.name)] = start
        now, body = start, list[lp.Statement]()
        state = c.name
        for b in s.body:
            if isinstance(b, lp.Update) and b.source == state:
                value, guard = substitute((b.value, b.guard), self.known)
                if b.add:
                    now = now + ir.where(guard, value, ZERO)
                else:
                    now = ir.where(guard, value, now)
                state = b.name
            elif isinstance(b, lp.Loop) and (d := _carrying(b, state)) is not None:
                b, now = self.loop(b, d, now)
                body.append(b)
                state = d.result
            else:
                body.append(self._replaced(b))
            self.known[self._element(state)] = now
        carried = tuple(
            lp.Carried(lp.name_of(start), self.number, init, now, lp.name_of(end))
            if d is c
            else self._with_known(d)
            for d in s.carried
        )
        saves = tuple(replace(v, value=substitute((v.value,), self.known)[0]) for v in s.saves)
        condition = substitute((s.condition,), self.known)[0]
        s = replace(s, carried=carried, body=tuple(body), saves=saves, condition=condition)
        return s, end

    def _with_known(self, c: lp.Carried) -> lp.Carried:
        init, after = substitute((c.init, c.next), self.known)
        return replace(c, init=init, next=after)

    def _replaced(self, s: lp.Statement) -> lp.Statement:
        return lp.replaced((s,), self.known)[0]


def _carrying(s: lp.Loop, state: str) -> lp.Carried | None:
    return next((c for c in s.carried if c.type.shape and lp.name_of(c.init) == state), None)


def _updates(s: lp.Loop, c: lp.Carried) -> Sequence[lp.Update]:
    found = chain(s, c)
    return [] if found is None else [site.update for site in found.sites]


def _is_loaded(s: lp.Loop, c: lp.Carried) -> bool:
    found = chain(s, c)
    return found is None or bool(found.loads)
