"""Arrays by columns, where innermost loops add to elements of several rows.

Before:  for i: for j: for l: s[j, l] += v[i, j]*x[i, l]
After:   t[l, j] = s[j, l];  for i: for l: for j: t[l, j] += v[i, j]*x[i, l];  s[j, l] = t[l, j]

Requires: an array that a loop only adds to and never reads, so that the order of the additions is free; a loop
around the additions on which their places do not depend, so that the copies are read more often than made.
Ensures: the same values, up to the order of sums. The innermost loop changes elements that lie side by side. Of
sizes that are not known before a call there are both loops, as short columns are no vectors.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from symdiff import ir
from symdiff.ir import FALSE, TRUE, Expr, topological
from symdiff.ir import loop_program as lp
from symdiff.ir.blocks import bottom_up
from symdiff.ir.effects import has_checks
from symdiff.ir.integers import linear
from symdiff.ir.names import Names
from symdiff.lowering.loops.chains import Chain, chain

RATIO = 2
"""How many times longer columns are than rows, at least."""


def in_columns(block: lp.Block, names: Names, used: Set[Expr]) -> lp.Block:
    """The block with such arrays by columns.

    Parameters
    ----------
    used : the names that the program uses anywhere, as leaves.
    """
    made: list[lp.Statement] = []
    for s in block:
        if isinstance(s, lp.Loop) and lp.index(s.trips) not in used and (requests := _requests(s)):
            w = requests[0]
            rows, columns = w.carried.type.shape[-1], w.carried.type.shape[w.axis]
            better = ir.lt(ir.const(RATIO) * rows, columns)
            if better is TRUE:
                made += _by_columns(s, requests, names)
                continue
            if better is not FALSE and _may_be_twice(s):
                made += _either(s, better, names)
                continue
        if isinstance(s, (lp.Build, lp.Loop)):
            s = replace(s, body=in_columns(s.body, names, used))
        made.append(s)
    return tuple(made)


def _may_be_twice(s: lp.Loop) -> bool:
    """Whether two copies of a loop are none too many: not of its checks, which have places in the source."""
    return not has_checks(s)


def _either(s: lp.Loop, better: Expr, names: Names) -> list[lp.Statement]:
    """The loop by columns if that is better, else as it is: each in a loop that runs once or never."""
    made: list[lp.Statement] = []
    inits = [c.init for c in s.carried]
    for condition in (better, ir.not_(better)):
        (copy,), _ = lp.renamed((s,), names)
        assert isinstance(copy, lp.Loop)
        starts = [
            c.type.leaf(names.fresh(c.name)) if c.type.shape else c.init for c in copy.carried
        ]  # fmt: skip
        carried = zip(copy.carried, starts, strict=True)
        copy = replace(copy, carried=tuple(replace(c, init=x) for c, x in carried))
        body = (copy,) if made else tuple(_by_columns(copy, _requests(copy), names))
        results = [names.fresh(c.result) if not made else c.result for c in s.carried]
        passed = tuple(
            lp.Carried(
                lp.name_of(x) if c.type.shape else names.fresh(c.name), c.type, init, c.after, r
            )
            for c, x, init, r in zip(copy.carried, starts, inits, results, strict=True)
        )
        once = ir.where(condition, ir.ONE, ir.ZERO)
        made.append(lp.Loop(names.fresh("once"), once, passed, body, names.fresh("trips")))
        inits = [c.type.leaf(r) for c, r in zip(s.carried, results, strict=True)]
    return made


@dataclass(frozen=True, slots=True)
class _Request:
    """The axis of an array that becomes the last one, and the loops that change places with those inside."""

    carried: lp.Carried
    versions: frozenset[str]
    axis: int
    exchanged: frozenset[str]


def _requests(s: lp.Loop) -> list[_Request]:
    found = [_request(s, c) for c in s.carried if len(c.type.shape) > 1 and c.type.kind == "f"]
    return [w for w in found if w is not None]


def _request(s: lp.Loop, c: lp.Carried) -> _Request | None:
    sums = _sums(s, c)
    if sums is None:
        return None
    axes, exchanged, again = set[int](), set[str](), False
    for site in sums.sites:
        u, path = site.update, site.path
        last, around = lp.index(path[-1].index), path[:-1]
        axis = axis_of(last, u.index)
        if around and _is_nest(s, around[-1]):
            lane = lp.index(around[-1].index)
            if lane not in lp.leaves(u.index):
                continue  # one element for each of the loop inside
            if u.index[-1] is last and (found := axis_of(lane, u.index)) is not None:
                exchanged.add(around[-1].index)
                axis = found
        if axis is None or axis == len(u.index) - 1:
            if last in lp.leaves(u.index):
                return None
            continue
        axes.add(axis)
        again = again or are_met_again(u.index, [p.index for p in path])
    if len(axes) != 1 or not again:
        return None
    return _Request(c, frozenset(sums.states), axes.pop(), frozenset(exchanged))


def axis_of(i: Expr, places: Sequence[Expr]) -> int | None:
    """The axis along which an index steps from element to element, if it is in no other one."""
    axis = next((k for k, p in enumerate(places) if i in lp.leaves((p,))), None)
    if axis is None or i in lp.leaves((*places[:axis], *places[axis + 1 :])):
        return None
    (moved,) = ir.substitute((places[axis],), {i: i + ir.ONE})
    plain = not any(e.op is lp.LOAD for e in topological((places[axis],)))
    return axis if plain and linear(moved - places[axis]) is ir.ONE else None


def are_met_again(places: Sequence[Expr], around: Sequence[str]) -> bool:
    """Whether loops of indices go through elements more than once: there are more of them than axes that they
    go along."""
    indices = set(map(lp.index, around))
    return len(around) > sum(not indices.isdisjoint(lp.leaves((p,))) for p in places)


def _sums(s: lp.Loop, c: lp.Carried) -> Chain | None:
    """The additions to what a loop carries, if it does nothing else with it."""
    found = chain(s, c)
    if found is None or found.loads or not found.sites:
        return None
    return found if all(x.update.add for x in found.sites) else None


def _is_nest(around: lp.Loop, s: lp.Loop) -> bool:
    """Whether a loop is nothing but another one that only adds to arrays which nothing in it reads, and whose
    count it does not change."""
    if len(s.body) != 1 or not isinstance(s.body[0], lp.Loop):
        return False
    inside = s.body[0]
    if any(
        x.count is None or x.condition is not TRUE or x.saves or x.restores for x in (s, inside)
    ):
        return False
    pairs = zip(s.carried, inside.carried, strict=False)
    if len(s.carried) != len(inside.carried) or not all(
        c.type.shape and o.init is c.leaf and c.next is o.after for c, o in pairs
    ):
        return False
    changes = [u for u in inside.body if isinstance(u, lp.Update) and u.add]
    if len(changes) != len(inside.body) or inside.count is None:
        return False
    versions = {c.name for c in (*s.carried, *inside.carried)} | {u.name for u in changes}
    read = topological([e for u in changes for e in (*u.index, u.value, u.guard)])
    if any(e.op is lp.LOAD and lp.name_of(e.args[0]) in versions for e in read):
        return False
    every = lp.leaves(lp.expressions_in((around,)))
    trips = {lp.index(x.trips) for x in (s, inside)}
    return lp.index(s.index) not in lp.leaves((inside.count,)) and trips.isdisjoint(every)


def _by_columns(s: lp.Loop, requests: Sequence[_Request], names: Names) -> list[lp.Statement]:
    """The loop between copies of the arrays."""
    exchanged = {i for w in requests for i in w.exchanged}
    axes = {n: w.axis for w in requests for n in w.versions}
    before: list[lp.Statement] = []
    after: list[lp.Statement] = []
    new = {}
    for w in requests:
        c, kind = w.carried, w.carried.type.kind
        indices = [names.fresh("k") for _ in c.type.shape]
        places, turned = [*map(lp.index, indices)], with_last(indices, w.axis)
        copy, result = names.fresh(f"{c.name}_columns"), names.fresh(f"{c.result}_columns")
        t = lp.Type(with_last(c.type.shape, w.axis), kind)
        before.append(lp.Build(copy, t, turned, lp.load(c.init, *places)))
        indices = [names.fresh("k") for _ in c.type.shape]
        value = lp.load(lp.array(result, kind), *map(lp.index, with_last(indices, w.axis)))
        after.append(lp.Build(c.result, c.type, tuple(indices), value))
        new[c.name] = replace(c, type=t, init=lp.array(copy, kind), result=result)
    (inside,) = _turned((s,), axes, exchanged)
    assert isinstance(inside, lp.Loop)
    carried = tuple(new.get(c.name, c) for c in inside.carried)
    return [*before, replace(inside, carried=carried), *after]


def _turned(block: lp.Block, axes: dict[str, int], exchanged: set[str]) -> lp.Block:
    """The block with arrays by columns, and loops exchanged."""

    def rule(s: lp.Statement) -> lp.Block:
        if isinstance(s, lp.Update) and s.name in axes:
            axis = axes[s.name]
            t = lp.Type(with_last(s.type.shape, axis), s.type.kind)
            s = replace(s, type=t, index=with_last(s.index, axis))
        if isinstance(s, lp.Loop):
            carried = tuple(
                replace(c, type=lp.Type(with_last(c.type.shape, axes[c.name]), c.type.kind))
                if c.name in axes else c for c in s.carried
            )  # fmt: skip
            s = replace(s, carried=carried)
            if s.index in exchanged and isinstance(inside := s.body[0], lp.Loop):
                inner = replace(
                    inside, index=s.index, count=s.count, trips=s.trips, reverse=s.reverse
                )
                s = replace(
                    s, index=inside.index, count=inside.count, trips=inside.trips,
                    reverse=inside.reverse, body=(inner,),
                )  # fmt: skip
        return (s,)

    return bottom_up(block, rule)


def with_last(items: Sequence[Any], axis: int) -> tuple[Any, ...]:
    """Items in the order that has one of them last."""
    return (*items[:axis], *items[axis + 1 :], items[axis])
