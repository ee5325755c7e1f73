"""One loop in place of two, of which each iteration of the second reads the row that the first wrote.

Before:  for i: for j: w[i, j] += ...
         for i: for k: s[k] += w[i, k]*x[i]
After:   for i: r = w[i]; for j: r[j] += ...
                for k: s[k] += r[k]*x[i]

Before:  w = [[... for j] for i];  for i: for k: s[k] += w[i, k]*x[i]
After:   for i: r = [... for j]; for k: s[k] += r[k]*x[i]

Requires: a program that is not differentiated any more.
Ensures: the same values and errors. Both loops run over all rows of the array in the same order. The
first changes and reads only row i in iteration i, and so does the second read it. What the second needs
of the statements between them does not need the first; none of them uses a tape, whose order counts, and
where the first has checks there are no others. An array that is not used elsewhere is kept by rows. One
that is built stays as it is where several threads, or a routine, may make it: a product of matrices, or
functions of the library.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from symdiff.ir import Expr, raw, substitute, topological
from symdiff.ir.loop_program import (
    LOAD,
    Block,
    Build,
    Carried,
    Check,
    Loop,
    Statement,
    Type,
    Update,
    array,
    defined,
    expressions_in,
    free,
    index,
    load,
    mapped,
    name_of,
    plain_loop,
    renamed,
    replaced,
    uses,
    walk,
)
from symdiff.ir.names import Names
from symdiff.lowering.loops.chains import Chain, chain
from symdiff.lowering.loops.collected import adds_product, is_of_library

MOST_BETWEEN = 16
"""How many statements may stand between two loops."""


def rows_together(
    block: Block, roots: tuple[Expr, ...], names: Names
) -> tuple[Block, tuple[Expr, ...]]:
    """The block, and expressions after it, with such loops as one."""
    made = list(block)
    at = 0
    while at < len(made):
        s = made[at]
        found = _merged(made, at) if isinstance(s, Loop) else None
        if found is None or not isinstance(s, Loop):
            at += 1
            continue
        made, trips = found
        roots = substitute(roots, trips)
        at = next(k for k, b in enumerate(made) if isinstance(b, Loop) and b.index == s.index)
        made = _by_rows(made, at, roots, names)
    for b in made[::-1]:
        if isinstance(b, Build):
            made = _built_by_rows(made, b, roots, names)
    return tuple(made), roots


def _merged(block: list[Statement], at: int) -> tuple[list[Statement], dict[Expr, Expr]] | None:
    """The block with a loop and a later one as one, and the number of iterations of the second as that of the
    first; None if there is no such loop."""
    first = block[at]
    assert isinstance(first, Loop)
    if not plain_loop(first):
        return None
    results = {name_of(c.after): c for c in first.carried}
    for k in range(at + 1, min(len(block), at + MOST_BETWEEN)):
        second = block[k]
        if _has_checks(second) and (isinstance(second, Check) or _has_checks(first)):
            return None
        if _has_tapes(second):
            return None
        used = uses(second) & results.keys()
        if not isinstance(second, Loop) or not used or not _alike(first, second):
            continue
        if not all(_row_by_row(first, results[n], second) for n in used):
            continue
        before, after, apart = list[Statement](), list[Statement](), {*results, first.trips}
        for s in block[at + 1 : k]:
            if uses(s) & apart:
                apart |= {n for n, _ in defined(s)}
                after.append(s)
            else:
                before.append(s)
        if uses(second) & (apart - results.keys()):
            continue
        rest = [*after, *block[k + 1 :]]
        return _joined(first, second, [*block[:at], *before], rest)
    return None


def _has_checks(s: Statement) -> bool:
    return any(isinstance(b, Check) for b in walk((s,)))


def _has_tapes(s: Statement) -> bool:
    return any(isinstance(b, Loop) and (b.saves or b.restores) for b in walk((s,)))


def _alike(first: Loop, second: Loop) -> bool:
    """Whether loops run over the same range."""
    return plain_loop(second) and second.count is first.count and second.reverse == first.reverse


def _row_by_row(first: Loop, c: Carried, second: Loop) -> bool:
    """Whether the first loop changes and reads row i only in iteration i, which the second reads in its own."""
    other, leaf = index(second.index), c.after
    found = _in_rows(first, c)
    every = expressions_in((second,))
    return (
        found is not None
        and bool(found.sites)
        and leaf not in every  # as a whole
        and all(e.args[1] is other for e in _loads((second,), leaf))
    )


def _in_rows(s: Loop, c: Carried) -> Chain | None:
    """How a loop changes an array, if only row i in iteration i, of which it reads no other."""
    if len(c.type.shape) < 2 or s.count is not c.type.shape[0]:
        return None
    found, own = chain(s, c), index(s.index)
    if found is None or any(site.update.index[0] is not own for site in found.sites):
        return None
    return found if all(e.args[1] is own for e in found.loads) else None


def _loads(block: Sequence[Statement], leaf: Expr) -> list[Expr]:
    roots = expressions_in(tuple(block))
    return [e for e in topological(roots) if e.op is LOAD and e.args[0] is leaf]


def _joined(
    first: Loop, second: Loop, before: list[Statement], after: list[Statement]
) -> tuple[list[Statement], dict[Expr, Expr]]:
    """Both loops as one, between the statements before and after them."""
    trips = {index(second.trips): index(first.trips)}
    here = {index(second.index): index(first.index)}
    here |= {c.after: c.next for c in first.carried if c.type.shape}
    inits = [c.init for c in second.carried]
    (moved,) = replaced((second,), here)
    assert isinstance(moved, Loop)
    carried = [replace(c, init=init) for c, init in zip(moved.carried, inits, strict=True)]
    one = replace(first, carried=(*first.carried, *carried), body=(*first.body, *moved.body))
    return [*before, one, *replaced(tuple(after), trips)], trips


# ------------------------------------------------------------------------------ rows
def _by_rows(
    block: list[Statement], at: int, roots: tuple[Expr, ...], names: Names
) -> list[Statement]:
    """The block, in which a loop keeps arrays by rows that nothing else reads."""
    s = block[at]
    assert isinstance(s, Loop)
    used = free(tuple(block[at + 1 :]), roots)
    for name in [c.name for c in s.carried if c.result not in used]:
        c = next(c for c in s.carried if c.name == name)
        if (found := _in_rows(s, c)) is not None:
            s = _contracted(s, c, found, _row(block[:at], s, c, names))
    return [*block[:at], s, *block[at + 1 :]]


def _built_by_rows(
    block: list[Statement], s: Build, roots: tuple[Expr, ...], names: Names
) -> list[Statement]:
    """The block, in which the only loop that reads an array makes its rows."""
    if len(s.indices) < 2 or s.name in free((), roots):
        return block
    users = [k for k, b in enumerate(block) if s.name in uses(b)]
    loop = block[users[0]] if len(users) == 1 else None
    leaf = array(s.name, s.type.kind)
    if not isinstance(loop, Loop):
        return block
    if not plain_loop(loop) or loop.count is not s.type.shape[0] or _has_checks(s) or _is_large(s):
        return block
    if _has_tapes(s):
        return block
    own, loads = index(loop.index), _loads((loop,), leaf)
    every = expressions_in((loop,))
    if leaf in every or any(e.args[1] is not own for e in loads):
        return block
    here = {index(s.indices[0]): own}
    (value,) = substitute((s.value,), here)
    body, kind = replaced(s.body, here), s.type.kind
    row = Build(names.fresh(s.name), Type(s.type.shape[1:], kind), s.indices[1:], value, body)
    new = {e: load(array(row.name, kind), *e.args[2:]) for e in loads}
    (moved,) = replaced((loop,), new)
    assert isinstance(moved, Loop)
    moved = replace(moved, body=(row, *moved.body))
    return [moved if b is loop else b for b in block if b is not s]


def _is_large(s: Build) -> bool:
    """Whether the elements of an array are a product of matrices, or use functions of the library."""
    every = expressions_in((s,))
    if any(map(is_of_library, topological(every))):
        return True
    return any(adds_product(c.next) for b in s.body if isinstance(b, Loop) for c in b.carried)


def _row(before: Sequence[Statement], s: Loop, c: Carried, names: Names) -> Build:
    """The row with which an iteration begins."""
    own, shape = index(s.index), c.type.shape[1:]
    indices = tuple(names.fresh("k") for _ in shape)
    places = (own, *map(index, indices))
    made = next((b for b in before if isinstance(b, Build) and b.name == name_of(c.init)), None)
    value, body = load(c.init, *places), Block()
    if made is not None:
        copy, new = renamed(made.body, names)
        here = dict(zip(map(index, made.indices), places, strict=True))
        body = replaced(copy, here)
        (value,) = substitute(substitute((made.value,), new), here)
    return Build(names.fresh(c.name), Type(shape, c.type.kind), indices, value, body)


def _contracted(s: Loop, c: Carried, found: Chain, row: Build) -> Loop:
    """The loop with the rows of an array in place of the array."""
    states = {array(n, c.type.kind) for n in found.states}
    begin = {c.leaf: array(row.name, c.type.kind)}

    def one(e: Expr) -> Expr:
        new: dict[Expr, Expr] = {}
        for n in topological((e,)):
            args = tuple(new[a] for a in n.args)
            if n.op is LOAD and n.args[0] in states:
                args = (args[0], *args[2:])
            new[n] = (
                begin.get(n, n) if not args else raw(n.op, args, n.value) if n.args != args else n
            )
        return new[e]

    def inside(block: Block) -> Block:
        return tuple(map(changed, block))

    def changed(b: Statement) -> Statement:
        if isinstance(b, Update) and array(b.name, c.type.kind) in states:
            b = replace(b, type=row.type, index=b.index[1:])
        if isinstance(b, Loop):
            passed = (
                replace(o, type=row.type) if o.type.shape and o.leaf in states else o
                for o in b.carried
            )
            b = replace(b, carried=tuple(passed))
        return mapped(b, one, inside)

    others = tuple(replace(o, next=one(o.next)) for o in s.carried if o.name != c.name)
    return replace(s, carried=others, body=(row, *inside(s.body)))
