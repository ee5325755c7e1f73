"""Equalities that end loops, or keep them running: at which iteration they hold.

Before:  loop: left = where(x[i] == 0, 1, 0), while left == 0
After:   the same, and met = where(x[i] == 0, i + 1, met)

So a call knows whether it is at a point that the program treats apart (`guarded_points`). An equality that
tests the rounding of a sum, `s + t == s`, counts where t is zero; one that compares a carried value with the
value before it, before the second iteration: after it, the loop has converged, at general arguments too.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Container, Iterable
from dataclasses import replace

from symdiff import ir
from symdiff.ir import EQ, ZERO, Expr
from symdiff.ir import loop_program as lp
from symdiff.ir.plain import exactly

COMPARED = (EQ, ir.LT, ir.LE)


def exits(block: lp.Block, by: Container[str]) -> frozenset[Expr]:
    """The equalities of real numbers, which depend on parameters, that conditions of loops depend on."""
    made = _definitions(block)
    moved = _dependent(block, by)
    stack = [s.condition for s in lp.walk(block) if isinstance(s, lp.Loop)]
    seen, found = set[Expr](), set[Expr]()
    while stack:
        e = stack.pop()
        if e in seen:
            continue
        seen.add(e)
        if e.op in COMPARED and any(lp.kind_of(a) == "f" for a in e.args):
            if e.op is EQ and lp.names_in(e) & moved and not any(map(_is_whole, e.args)):
                found.add(e)
        elif e.args:
            stack += e.args
        elif e.op in (lp.INDEX, lp.ARRAY):
            stack += made.get(lp.name_of(e), ())
    return frozenset(found)


def _is_whole(e: Expr) -> bool:
    """Whether a number is constant between jumps."""
    slopes = e.op.partials
    return bool(e.args and slopes is not None and not e.op.name.startswith("plain:")) and all(
        p is ZERO
        for p in slopes(*e.args)  # type: ignore[misc]
    )


def _definitions(block: lp.Block) -> dict[str, list[Expr]]:
    """The expressions that integers and conditions of a program are made from, by their names."""
    found: dict[str, list[Expr]] = {}
    for s in lp.walk(block):
        match s:
            case lp.Loop():
                found[s.trips] = [s.condition]
                for c in s.carried if not s.reverse else ():
                    if c.type.kind != "f":
                        found[c.name] = found[c.result] = [c.init, c.next]
            case lp.Build() if s.type.kind != "f":
                found[s.name] = [s.value]
            case lp.Update() if s.type.kind != "f":
                found[s.name] = [lp.array(s.source, s.type.kind), s.value, s.guard]
    return found


def _dependent(block: lp.Block, by: Container[str]) -> set[str]:
    """The names of real numbers that depend on parameters."""
    every = [n for n in lp.names_in(*lp.expressions_in(block)) if n in by]
    found = set(every)
    size = -1
    while size < len(found):
        size = len(found)
        for s in lp.walk(block):
            if isinstance(s, lp.Loop):
                for c in s.carried:
                    if lp.names_in(c.init, c.next) & found:
                        found |= {c.name, c.result}
                for r in s.restores:
                    found.add(r.name)
            elif lp.uses(s) & found:
                found |= {n for n, _ in lp.defined(s)}
    return found


def met(block: lp.Block, wanted: Collection[Expr]) -> list[Expr]:
    """Whether equalities decided something, for each loop of a block that `flagged` has changed."""
    return [_is_met(*_ends(s, wanted)) for s in _asking(block, wanted)]


def iterations(block: lp.Block, wanted: Collection[Expr]) -> list[Expr]:
    """The last iterations in which they did, from 1; 0 for none."""
    found = []
    for s in _asking(block, wanted):
        ended, flag = _ends(s, wanted)
        trips = lp.index(s.trips)
        if _is_last(s, wanted):
            flag = ir.where(_is_met(ir.FALSE, flag), trips, ZERO)
        found.append(ir.where(ended, trips + ir.ONE, flag))
    return found


def _asking(block: lp.Block, wanted: Collection[Expr]) -> list[lp.Loop]:
    return [s for s in block if isinstance(s, lp.Loop) and _asks(s, wanted)]


def flagged(block: lp.Block, wanted: Collection[Expr]) -> lp.Block:
    """The block whose loops carry those integers."""
    return tuple(
        _loop(s, wanted) if isinstance(s, lp.Loop) and _asks(s, wanted) else s for s in block
    )


def _flag(s: lp.Loop) -> str:
    return f"{s.trips}_met"


def _asks(s: lp.Loop, wanted: Collection[Expr]) -> bool:
    return not s.reverse and bool(_deciding(s, wanted) or _asking(s.body, wanted))


def _deciding(s: lp.Loop, wanted: Collection[Expr]) -> list[Expr]:
    """The condition and the carried integers of a loop, where equalities decide them."""
    roots = [_as_integer(s.condition), *(c.next for c in s.carried if c.type == lp.INTEGER)]
    return [e for e in roots if any(n in wanted for n in ir.topological((e,)))]


def _loop(s: lp.Loop, wanted: Collection[Expr]) -> lp.Loop:
    flag, body = _carried(s, wanted), flagged(s.body, wanted)
    is_new = flag is not None and flag not in s.carried
    carried = (*s.carried, flag) if flag is not None and is_new else s.carried
    return replace(s, carried=carried, body=body)


def _carried(s: lp.Loop, wanted: Collection[Expr]) -> lp.Carried | None:
    """The integer that a loop carries; one that it has already, if that is the same."""
    name = f"{_flag(s)}_now"
    now, step = lp.index(name), lp.index(s.index)
    roots = _deciding(s, wanted)
    own = {e for e in ir.topological(roots) if e in wanted}
    decided = _decides(s, roots, own - _stopping(s, own), step)
    holds = functools.reduce(ir.or_, met(s.body, wanted), decided)
    if holds is ir.FALSE:
        return None
    if not _is_last(s, wanted):
        return lp.Carried(name, lp.INTEGER, ZERO, ir.where(holds, step + ir.ONE, now), _flag(s))
    flag = lp.Carried(name, lp.INTEGER, ZERO, _as_integer(holds), _flag(s))
    return next((c for c in s.carried if (c.init, c.next) == (flag.init, flag.next)), flag)


def _stopping(s: lp.Loop, own: Collection[Expr]) -> set[Expr]:
    """The equalities that end a loop where its condition is tested."""
    return {e for e in own if ir.substitute((s.condition,), {e: ir.TRUE})[0] is ir.FALSE}


def _is_last(s: lp.Loop, wanted: Collection[Expr]) -> bool:
    """Whether an iteration in which an equality holds is the last: no need to remember it."""
    leaving = [
        c.next for c in s.carried if ir.substitute((s.condition,), {c.leaf: ir.ONE})[0] is ir.FALSE
    ]
    own = {e for e in ir.topological(_deciding(s, wanted)) if e in wanted}
    return not _asking(s.body, wanted) and all(
        any(ir.substitute((n,), {e: ir.TRUE})[0] is ir.ONE for n in leaving)
        for e in own - _stopping(s, own)
    )


def _ends(s: lp.Loop, wanted: Collection[Expr]) -> tuple[Expr, Expr]:
    """Whether an equality ends a loop where its condition is tested; and the integer that it carries."""
    flag = _carried(s, wanted)
    roots = _deciding(replace(s, carried=()), wanted)
    ended = _decides(s, roots, wanted, lp.index(s.trips))
    (ended,) = ir.substitute((ended,), {c.leaf: c.after for c in s.carried})
    return ended, ZERO if flag is None else flag.after


def _decides(s: lp.Loop, roots: Iterable[Expr], wanted: Collection[Expr], step: Expr) -> Expr:
    """Whether something is not what it is without the equalities."""
    roots = tuple(roots)
    held = {e: _exact(e, s, step) for e in ir.topological(roots) if e in wanted}
    others = ir.substitute(roots, {e: ir.and_(e, ir.not_(c)) for e, c in held.items()})
    pairs = zip(roots, others, strict=True)
    return functools.reduce(ir.or_, (_differ(a, b) for a, b in pairs), ir.FALSE)


def _differ(a: Expr, b: Expr) -> Expr:
    if a.op is ir.WHERE and b in a.args[1:] and {*a.args[1:]} == {ZERO, ir.ONE}:
        return a.args[0] if b is a.args[2] else ir.not_(a.args[0])
    return ir.not_(ir.eq(a, b))


def _exact(e: Expr, s: lp.Loop, step: Expr) -> Expr:
    """The condition under which an equality holds at special arguments only."""
    for a, b in (e.args, e.args[::-1]):
        if a.op is not ir.CONST and any(b is c.leaf and _follows(a, c.next) for c in s.carried):
            e = ir.and_(e, ir.lt(step, ir.const(2)))
        x, y = exactly((a, b))
        terms = _terms(x)
        if len(terms) > 1 and y in terms:
            terms.remove(y)
            return ir.eq(functools.reduce(ir.add, terms), ZERO)
    return e


def _follows(e: Expr, next: Expr) -> bool:
    """Whether the next value of what a loop carries is this expression, in a branch at least."""
    return next is e or (next.op is ir.WHERE and any(_follows(e, a) for a in next.args[1:]))


def _terms(e: Expr) -> list[Expr]:
    if e.op is ir.ADD:
        return [t for a in e.args for t in _terms(a)]
    if e.op is ir.SUB:
        return [*_terms(e.args[0]), *(-t for t in _terms(e.args[1]))]
    return [e]


def _as_integer(condition: Expr) -> Expr:
    return ir.where(condition, ir.ONE, ZERO)


def _is_met(ended: Expr, flag: Expr) -> Expr:
    return ir.or_(ended, ir.not_(ir.eq(flag, ZERO)))
