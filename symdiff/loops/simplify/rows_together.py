"""One loop in place of two, if each iteration of the second reads the row that the first wrote.

Before:  for i: for j: w[i, j] += ...
         for i: for k: s[k] += w[i, k]*x[i]
After:   for i: r = w[i]; for j: r[j] += ...
                for k: s[k] += r[k]*x[i]

Before:  w = [[... for j] for i];  for i: for k: s[k] += w[i, k]*x[i]
After:   for i: r = [... for j]; for k: s[k] += r[k]*x[i]

Requires: a program after its last differentiation.
Ensures: the same values and errors. Both loops run over all rows of the array in the same order.
The first changes and reads only row i in iteration i, and the second reads only row i. The
statements between them that the second needs do not need the first; none of them uses a tape, whose
order counts, and where the first has checks there are no others. An array that is not used
elsewhere is stored by rows. A built array is left unchanged where several threads, or a routine,
may compute it: a product of matrices, or functions of the library.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from symdiff.ir import Expr, raw, substitute, topological
from symdiff.ir import loop_program as lp
from symdiff.ir.effects import has_checks, has_tapes, loads
from symdiff.ir.names import Names
from symdiff.lowering.loops.chains import Chain, chain
from symdiff.lowering.loops.collected import adds_product, is_of_library

MOST_BETWEEN = 16
"""The most statements between two loops."""


def rows_together(
    block: lp.Block, roots: tuple[Expr, ...], names: Names
) -> tuple[lp.Block, tuple[Expr, ...]]:
    """The block, and expressions after it, with such loops merged."""
    made = list(block)
    at = 0
    while at < len(made):
        s = made[at]
        found = _merged(made, at) if isinstance(s, lp.Loop) else None
        if found is None or not isinstance(s, lp.Loop):
            at += 1
            continue
        made, trips = found
        roots = substitute(roots, trips)
        at = next(k for k, b in enumerate(made) if isinstance(b, lp.Loop) and b.index == s.index)
        made = _by_rows(made, at, roots, names)
    for b in made[::-1]:
        if isinstance(b, lp.Build):
            made = _built_by_rows(made, b, roots, names)
    return tuple(made), roots


def _merged(
    block: list[lp.Statement], at: int
) -> tuple[list[lp.Statement], dict[Expr, Expr]] | None:
    """The block with a loop and a later one merged, and the iteration count of the second in terms
    of the first; None if there is no such loop."""
    first = block[at]
    assert isinstance(first, lp.Loop)
    if not lp.plain_loop(first):
        return None
    results = {lp.name_of(c.after): c for c in first.carried}
    for k in range(at + 1, min(len(block), at + MOST_BETWEEN)):
        second = block[k]
        if has_checks(second) and (isinstance(second, lp.Check) or has_checks(first)):
            return None
        if has_tapes(second):
            return None
        used = lp.uses(second) & results.keys()
        if not isinstance(second, lp.Loop) or not used or not _alike(first, second):
            continue
        if not all(_row_by_row(first, results[n], second) for n in used):
            continue
        before, after, apart = list[lp.Statement](), list[lp.Statement](), {*results, first.trips}
        for s in block[at + 1 : k]:
            if lp.uses(s) & apart:
                apart |= {n for n, _ in lp.defined(s)}
                after.append(s)
            else:
                before.append(s)
        if lp.uses(second) & (apart - results.keys()):
            continue
        rest = [*after, *block[k + 1 :]]
        return _joined(first, second, [*block[:at], *before], rest)
    return None


def _alike(first: lp.Loop, second: lp.Loop) -> bool:
    """Whether loops run over the same range."""
    return lp.plain_loop(second) and second.count is first.count and second.reverse == first.reverse


def _row_by_row(first: lp.Loop, c: lp.Carried, second: lp.Loop) -> bool:
    """Whether the first loop changes and reads only row i in iteration i, which the second reads in
    its own."""
    other, leaf = lp.index(second.index), c.after
    found = _in_rows(first, c)
    every = lp.expressions_in((second,))
    return (
        found is not None
        and bool(found.sites)
        and leaf not in every  # as a whole
        and all(e.args[1] is other for e in loads(every, (leaf,)))
    )


def _in_rows(s: lp.Loop, c: lp.Carried) -> Chain | None:
    """How a loop changes an array, if iteration i changes only row i and reads no other."""
    if len(c.type.shape) < 2 or s.count is not c.type.shape[0]:
        return None
    found, own = chain(s, c), lp.index(s.index)
    if found is None or any(site.update.index[0] is not own for site in found.sites):
        return None
    return found if all(e.args[1] is own for e in found.loads) else None


def _joined(
    first: lp.Loop, second: lp.Loop, before: list[lp.Statement], after: list[lp.Statement]
) -> tuple[list[lp.Statement], dict[Expr, Expr]]:
    """Both loops as one, between the statements before and after them."""
    trips = {lp.index(second.trips): lp.index(first.trips)}
    here = {lp.index(second.index): lp.index(first.index)}
    here |= {c.after: c.next for c in first.carried if c.type.shape}
    inits = [c.init for c in second.carried]
    (moved,) = lp.replaced((second,), here)
    assert isinstance(moved, lp.Loop)
    carried = [replace(c, init=init) for c, init in zip(moved.carried, inits, strict=True)]
    one = replace(first, carried=(*first.carried, *carried), body=(*first.body, *moved.body))
    return [*before, one, *lp.replaced(tuple(after), trips)], trips


# ------------------------------------------------------------------------------ rows
def _by_rows(
    block: list[lp.Statement], at: int, roots: tuple[Expr, ...], names: Names
) -> list[lp.Statement]:
    """The block in which a loop stores arrays by rows that nothing else reads."""
    s = block[at]
    assert isinstance(s, lp.Loop)
    used = lp.free(tuple(block[at + 1 :]), roots)
    for name in [c.name for c in s.carried if c.result not in used]:
        c = next(c for c in s.carried if c.name == name)
        if (found := _in_rows(s, c)) is not None:
            s = _contracted(s, c, found, _row(block[:at], s, c, names))
    return [*block[:at], s, *block[at + 1 :]]


def _built_by_rows(
    block: list[lp.Statement], s: lp.Build, roots: tuple[Expr, ...], names: Names
) -> list[lp.Statement]:
    """The block in which the only loop that reads an array computes its rows."""
    if len(s.indices) < 2 or s.name in lp.free((), roots):
        return block
    users = [k for k, b in enumerate(block) if s.name in lp.uses(b)]
    loop = block[users[0]] if len(users) == 1 else None
    leaf = lp.array(s.name, s.type.kind)
    if not isinstance(loop, lp.Loop):
        return block
    if (
        not lp.plain_loop(loop)
        or loop.count is not s.type.shape[0]
        or has_checks(s)
        or _is_large(s)
    ):
        return block
    if has_tapes(s):
        return block
    own, every = lp.index(loop.index), lp.expressions_in((loop,))
    elements = loads(every, (leaf,))
    if leaf in every or any(e.args[1] is not own for e in elements):
        return block
    here = {lp.index(s.indices[0]): own}
    (value,) = substitute((s.value,), here)
    body, kind = lp.replaced(s.body, here), s.type.kind
    row = lp.Build(names.fresh(s.name), lp.Type(s.type.shape[1:], kind), s.indices[1:], value, body)
    new = {e: lp.load(lp.array(row.name, kind), *e.args[2:]) for e in elements}
    (moved,) = lp.replaced((loop,), new)
    assert isinstance(moved, lp.Loop)
    moved = replace(moved, body=(row, *moved.body))
    return [moved if b is loop else b for b in block if b is not s]


def _is_large(s: lp.Build) -> bool:
    """Whether an array is a product of matrices, or its elements use functions of the library."""
    every = lp.expressions_in((s,))
    if any(map(is_of_library, topological(every))):
        return True
    return any(adds_product(c.next) for b in s.body if isinstance(b, lp.Loop) for c in b.carried)


def _row(before: Sequence[lp.Statement], s: lp.Loop, c: lp.Carried, names: Names) -> lp.Build:
    """The row with which an iteration begins."""
    own, shape = lp.index(s.index), c.type.shape[1:]
    indices = tuple(names.fresh("k") for _ in shape)
    places = (own, *map(lp.index, indices))
    made = next(
        (b for b in before if isinstance(b, lp.Build) and b.name == lp.name_of(c.init)), None
    )
    value, body = lp.load(c.init, *places), lp.Block()
    if made is not None:
        copy, new = lp.renamed(made.body, names)
        here = dict(zip(map(lp.index, made.indices), places, strict=True))
        body = lp.replaced(copy, here)
        (value,) = substitute(substitute((made.value,), new), here)
    return lp.Build(names.fresh(c.name), lp.Type(shape, c.type.kind), indices, value, body)


def _contracted(s: lp.Loop, c: lp.Carried, found: Chain, row: lp.Build) -> lp.Loop:
    """The loop with the rows of an array in place of the array."""
    states = {lp.array(n, c.type.kind) for n in found.states}
    begin = {c.leaf: lp.array(row.name, c.type.kind)}

    def one(e: Expr) -> Expr:
        new: dict[Expr, Expr] = {}
        for n in topological((e,)):
            args = tuple(new[a] for a in n.args)
            if n.op is lp.LOAD and n.args[0] in states:
                args = (args[0], *args[2:])
            new[n] = (
                begin.get(n, n) if not args else raw(n.op, args, n.value) if n.args != args else n
            )
        return new[e]

    def inside(block: lp.Block) -> lp.Block:
        return tuple(map(changed, block))

    def changed(b: lp.Statement) -> lp.Statement:
        if isinstance(b, lp.Update) and lp.array(b.name, c.type.kind) in states:
            b = replace(b, type=row.type, index=b.index[1:])
        if isinstance(b, lp.Loop):
            passed = (
                replace(o, type=row.type) if o.type.shape and o.leaf in states else o
                for o in b.carried
            )
            b = replace(b, carried=tuple(passed))
        return lp.mapped(b, one, inside)

    others = tuple(replace(o, next=one(o.next)) for o in s.carried if o.name != c.name)
    return replace(s, carried=others, body=(row, *inside(s.body)))
