"""What estimates of errors ask of the statements of a program (see `estimates`)."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence

from symdiff import ir
from symdiff.ir import ZERO, Expr, raw, topological
from symdiff.ir.loop_program import (
    ARRAY,
    LOAD,
    REAL,
    Block,
    Build,
    Carried,
    Check,
    Loop,
    LoopProgram,
    Names,
    Statement,
    Type,
    Update,
    expressions,
    index,
    name_of,
    walk,
)
from symdiff.lowering.loops.collected import reduction
from symdiff.passes.accuracy.lossy import divides


def last_arrays(program: LoopProgram) -> set[str]:
    """The arrays whose elements are results, and those that they are made of element by element."""
    found = {name_of(e) for e in program.outputs if e.op is ARRAY}
    before = -1
    while before != len(found):
        before = len(found)
        for s in walk(program.block):
            if isinstance(s, Update) and s.name in found:
                found.add(s.source)
            if isinstance(s, Build | Update) and s.name in found:
                found |= _copied(s.value)
            elif isinstance(s, Loop):
                for c in s.carried:
                    if c.type.shape and found & {c.result, c.name}:
                        found |= {c.name, name_of(c.init), name_of(c.next)}
    return found


def _copied(e: Expr) -> set[str]:
    """The arrays of which an expression is an element."""
    if e.op is ir.WHERE:
        return _copied(e.args[1]) | _copied(e.args[2])
    return {name_of(e.args[0])} if e.op is LOAD else set()


def adds_once(s: Loop, name: str) -> bool:
    """Whether what a loop adds to a carried array goes to other elements in each iteration."""
    reached = {name}
    found = True
    for b in walk(s.body):
        if isinstance(b, Loop):
            reached |= {n for c in b.carried if c.type.shape and name_of(c.init) in reached
                        for n in (c.name, c.result)}  # fmt: skip
        elif isinstance(b, Update) and b.source in reached:
            reached.add(b.name)
            found = found and index(s.index) in b.index
    adds = [b for b in walk(s.body) if isinstance(b, Update) and b.source in reached]
    return found and len(adds) == 1


def added_to(s: Build, names: Container[str]) -> tuple[Expr, Expr, list[Expr]] | None:
    """Of an array that is another one plus a term, element by element: the element of that array, one of
    the given names, the term, and the sums on the way, which may be larger: `(y + a) - a`."""
    places = tuple(map(index, s.indices))
    found = [
        e for e in topological((s.value,))
        if e.op is LOAD and e.args[1:] == places and name_of(e.args[0]) in names
    ]  # fmt: skip
    if len(found) != 1:
        return None
    e, before = s.value, found[0]
    sums = []
    while e is not before:
        sums.append(e)
        if e.op not in (ir.ADD, ir.SUB):
            return None
        a, b = e.args
        if before in topological((b,)):
            a, b = b, a
            if e.op is ir.SUB:
                return None
        if before in topological((b,)):
            return None
        e = a
    return before, ir.substitute((s.value,), {before: ZERO})[0], sums


def values_of(s: Statement) -> Sequence[Expr]:
    """What may be marked of a statement."""
    match s:
        case Build():
            return (s.value,)
        case Update():
            return (s.value,)
        case Loop():
            ends = (e for c in s.carried for e in (c.init, c.next))
            terms = (r.term for c in s.carried if (r := reduction(c)) is not None)
            return (*ends, *(v.value for v in s.saves), *terms)
        case Check():
            return (s.condition,)
    return ()


def may_be_nan(program: LoopProgram, e: Expr) -> bool:
    """Whether a result whose error is bounded may be nan: a quotient by sums, which may be 0/0, or an array
    of such; any, if there is a nan in the program."""
    every = (x for s in walk(program.block) for x in expressions(s))
    if any(n is ir.NAN for n in ir.topological((*every, *program.outputs))):
        return True
    if e.op is not ARRAY:
        return divides(e)
    name = name_of(e)
    return any(isinstance(s, Build) and s.name == name and divides(s.value) for s in program.block)


def over_elements(
    names: Names, places: Sequence[str], t: Type, each: Sequence[Expr], largest: Sequence[bool],
    mark: Callable[[Expr], None] = lambda e: None,
) -> tuple[list[Expr], Block]:  # fmt: skip
    """Over all elements of an array: sums of values, or the largest of them."""
    block: Block = ()
    for place, count in zip(reversed(places), reversed(t.shape), strict=True):
        carried = []
        for e, most in zip(each, largest, strict=True):
            name, result = names.fresh("worst"), names.fresh("worst")
            now = ir.var(name)
            end = raw(ir.ADD, (now, e))
            if most:
                end = raw(ir.WHERE, (raw(ir.LT, (now, e)), e, now))
            mark(end)
            carried.append(Carried(name, REAL, ZERO, end, result))
        block = (Loop(place, count, tuple(carried), block, names.fresh("trips")),)
        each = [ir.var(c.result) for c in carried]
    return list(each), block


__all__ = [
    "added_to", "adds_once", "last_arrays", "may_be_nan", "over_elements", "values_of",
]  # fmt: skip
