"""Last rearrangements of a program before it is emitted, for the sake of vectors.

    powers by the index of a loop                 are products, see `powers_by_index`
    what a loop carries without changing it       is not carried
    additions to one element in a loop            are collected in a number, added once
    functions of the sum that a build computes    are applied in a build of their own
    functions of elements, around inner loops     as well
    products of matrices                          are calls, see `nestmatrices`
    elements of several rows, in lanes            are those of copies, see `copied_columns` and `layouts`

Before:  y[i] = tanh(sum_j a[i, j]*x[j])
After:   t[i] = sum_j a[i, j]*x[j]; y[i] = tanh(t[i])
Ensures: the same values, up to the order of sums.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from symdiff import ir
from symdiff.ir import Expr
from symdiff.ir.blocks import bottom_up, with_inside
from symdiff.ir.loop_program import (
    INDEX,
    LOAD,
    REAL,
    Block,
    Build,
    Carried,
    Loop,
    LoopProgram,
    Statement,
    Type,
    Update,
    array,
    defined,
    expressions_in,
    free,
    index,
    inner,
    kind_of,
    leaves,
    load,
    name_of,
    names_of,
    own_names,
    renamed,
    replaced,
    types,
)
from symdiff.ir.names import Names
from symdiff.lowering.loops.chains import chain
from symdiff.lowering.loops.collected import is_of_library
from symdiff.lowering.loops.copied_columns import by_columns
from symdiff.lowering.loops.layouts import in_columns
from symdiff.lowering.loops.matmul import with_products
from symdiff.lowering.loops.powers_by_index import with_recurrences


def ready(program: LoopProgram) -> LoopProgram:
    """The program, rearranged."""
    names = names_of(program)
    block, outputs = _kept(program.block, program.outputs)
    block, outputs = _kept(_rearranged(with_recurrences(block, names), names), outputs)
    block = _ahead(block, names)
    used = {*leaves(outputs), *leaves(expressions_in(block))}
    block = _rearranged(in_columns(block, names, used), names)
    program = with_products(replace(program, block=block, outputs=outputs))
    params = {p.name: p.type for p in program.params}
    arrays = {n: t for n, t in types(program).items() if n in params or n in program.data}
    return replace(program, block=by_columns(program.block, names, arrays))


# ----------------------------------------------------- what is carried and never changed
def _kept(block: Block, roots: tuple[Expr, ...]) -> tuple[Block, tuple[Expr, ...]]:
    """The block, and expressions after it, without loops that pass on what they get."""
    done: list[Statement] = []
    left = list(block)
    while left:
        s = left.pop(0)
        s = with_inside(s, _kept)
        if isinstance(s, Loop):
            same = [c for c in s.carried if c.next is c.leaf]
            mapping = {c.leaf: c.init for c in same}
            after = {c.after: c.init for c in same}
            if same:
                s = replace(s, carried=tuple(c for c in s.carried if c not in same))
                (s,) = replaced((s,), mapping)
                left = list(replaced(tuple(left), after))
                roots = ir.substitute(roots, after)
        done.append(s)
    return tuple(done), roots


# ------------------------------------------------------------------------ statements
def _rearranged(block: Block, names: Names) -> Block:
    def rule(s: Statement) -> list[Statement]:
        if isinstance(s, Build):
            return _split(s, names)
        return _sunk(s, names) if isinstance(s, Loop) else [s]

    return bottom_up(block, rule)


def _sunk(s: Loop, names: Names) -> list[Statement]:
    """A loop, and the additions to one element that were in it."""
    after: list[Statement] = []
    for which, c in enumerate(s.carried):
        if not c.type.shape or c.type.kind != "f":
            continue
        while (u := _fixed(s, s.carried[which])) is not None:
            collected = names.fresh("sum"), names.fresh("sum")
            term = ir.where(u.guard, u.value, ir.ZERO) if u.guard is not ir.TRUE else u.value
            number = Carried(
                collected[0], REAL, ir.ZERO, ir.add(ir.var(collected[0]), term), collected[1]
            )
            body = tuple(b for b in s.body if b is not u)
            body = replaced(body, {array(u.name): array(u.source)})
            now = s.carried[which]
            end = array(u.source) if now.next is array(u.name) else now.next
            result = names.fresh(now.result)
            carried = (
                *s.carried[:which],
                replace(now, next=end, result=result),
                *s.carried[which + 1 :],
                number,
            )
            s = replace(s, body=body, carried=carried)
            after.insert(0, Update(
                now.result, result, u.type, u.index, ir.var(collected[1]), ir.TRUE, True
            ))  # fmt: skip
    return [s, *after]


def _chain(s: Loop, c: Carried) -> list[Update]:
    """The additions that lead from a carried array to the next, if nothing else is done
    with it."""
    found = chain(s, c)
    if found is None or found.loads or any(len(x.path) > 1 for x in found.sites):
        return []
    updates = [x.update for x in found.sites]
    return updates if all(u.add for u in updates) else []


def _fixed(s: Loop, c: Carried) -> Update | None:
    """An addition to a carried array that goes to the same element in every iteration."""
    own = own_names((s,))
    fixed = (u for u in _chain(s, c) if not any(name_of(e) in own for e in leaves(u.index)))
    return next(fixed, None)


def _split(s: Build, names: Names) -> list[Statement]:
    """A build, or one of its sum and one of the functions of it."""
    loops = [b for b in s.body if isinstance(b, Loop)]
    sums = {c.result for b in loops for c in b.carried if c.type == REAL}
    used = [e for e in leaves((s.value,)) if name_of(e) in sums]
    if len(used) != 1 or s.type.kind != "f" or not _costly(s.value, used[0]):
        return [s]
    own = {n for b in s.body for n, _ in defined(b)} - {name_of(used[0])}
    if any(name_of(e) in own for e in leaves((s.value,))):
        return [s]
    part = names.fresh(s.name)
    indices = tuple(names.fresh(i) for i in s.indices)
    places = [index(i) for i in indices]
    mapping: Mapping[Expr, Expr] = {
        **{index(i): j for i, j in zip(s.indices, places, strict=True)},
        used[0]: load(array(part), *places),
    }
    (value,) = ir.substitute((s.value,), mapping)
    return [
        Build(part, s.type, s.indices, used[0], s.body),
        Build(s.name, s.type, indices, value),
    ]


def _ahead(block: Block, names: Names, inside: bool = False) -> Block:
    """The block, with what loops around others apply functions to, and sums, computed before them; those of a
    loop that is not `inside` of others only if they are no more than elements of an array."""
    made: list[Statement] = []
    for s in block:
        if isinstance(s, Loop) and any(isinstance(b, Loop) for b in s.body):
            rows, s = _restored_ahead(s, names)
            before, s = _functions_ahead(s, names)
            sums: list[Statement] = []
            if inside or (s.count is not None and s.count.op is INDEX):
                sums, s = _sums_ahead(s, names)
            after, s = _functions_ahead(s, names)
            made += [*rows, *before, *sums, *after]
        if isinstance(s, (Build, Loop)):
            s = replace(s, body=_ahead(s.body, names, True))
        made.append(s)
    return tuple(made)


def _restored_ahead(s: Loop, names: Names) -> tuple[list[Statement], Loop]:
    """The arrays of what a loop takes off tapes, and the loop that reads them: one that is nothing but another
    which adds to arrays, so that both may change places."""
    inside = s.body[0] if len(s.body) == 1 else None
    if not s.restores or s.count is None or s.saves or not isinstance(inside, Loop):
        return [], s
    if not all(isinstance(b, Update) for b in inside.body) or any(
        r.type != REAL for r in s.restores
    ):
        return [], s
    t, (i, k) = Type((s.count,)), (names.fresh(s.index), names.fresh("k"))
    made: list[Statement] = []
    carried, body, new = list[Carried](), list[Statement](), dict[Expr, Expr]()
    restores = []
    for r in s.restores:
        start, row, end, result = (names.fresh("ahead") for _ in range(4))
        restores.append(replace(r, name=names.fresh(r.name)))
        made.append(Build(start, t, (names.fresh(k),), ir.ZERO))
        carried.append(Carried(row, t, array(start), array(end), result))
        body.append(Update(end, row, t, (index(i),), ir.var(restores[-1].name)))
        new[ir.var(r.name)] = load(array(result), index(s.index))
    made.append(
        replace(
            s,
            index=i,
            carried=tuple(carried),
            body=tuple(body),
            restores=tuple(restores),
            trips=names.fresh(s.trips),
        )
    )
    (changed,) = replaced((replace(s, restores=()),), new)
    assert isinstance(changed, Loop)
    return made, changed


def _sums_ahead(s: Loop, names: Names) -> tuple[list[Statement], Loop]:
    """The arrays of sums that iterations of a loop make for themselves, and the loop that reads them. It
    changes arrays, so it has no vectors, but the builds of the sums may."""
    made: list[Statement] = []
    while (b := _own_sum(s)) is not None:
        ahead, i = names.fresh("ahead"), names.fresh(s.index)
        (copy,), new = renamed((b,), names)
        (copy,) = replaced((copy,), {index(s.index): index(i)})
        result = ir.var(b.carried[0].result)
        assert s.count is not None
        made.append(Build(ahead, Type((s.count,)), (i,), new[result], (copy,)))
        left = replace(s, body=tuple(x for x in s.body if x is not b))
        (changed,) = replaced((left,), {result: load(array(ahead), index(s.index))})
        assert isinstance(changed, Loop)
        s = changed
    return made, s


def _own_sum(s: Loop) -> Loop | None:
    """A loop in the body of one that changes arrays, which makes a number of what no iteration changes."""
    if s.count is None or s.condition is not ir.TRUE or not any(c.type.shape for c in s.carried):
        return None
    own = {n for b in (s, *s.body) for n, _ in defined(b)} | {n for n, _ in inner(s)}
    own.discard(s.index)
    used = leaves(expressions_in((s,)))
    for b in s.body:
        if not isinstance(b, Loop) or b.count is None or b.condition is not ir.TRUE or b.body:
            continue
        if index(b.trips) in used:
            continue
        if b.saves or b.restores or [c.type for c in b.carried] != [REAL]:
            continue
        if own.isdisjoint(free((b,))):
            return b
    return None


def _functions_ahead(s: Loop, names: Names) -> tuple[list[Statement], Loop]:
    """The arrays of what a loop computes of elements by functions, and the loop that reads them."""
    made: list[Statement] = []
    left = s
    while left.count is not None and (e := _of_elements(left)) is not None:
        ahead, i = names.fresh("ahead"), names.fresh(left.index)
        here = index(left.index)
        (value,) = ir.substitute((e,), {here: index(i)})
        made.append(Build(ahead, Type((left.count,)), (i,), value))
        (changed,) = replaced((left,), {e: load(array(ahead), here)})
        assert isinstance(changed, Loop)
        left = changed
    return made, left


def _of_elements(s: Loop) -> Expr | None:
    """The largest expression that applies functions to elements of arrays at the index of a loop, and to nothing
    else that the loop changes."""
    if s.count is None or s.condition is not ir.TRUE:
        return None
    own = own_names((s,))
    here = index(s.index)
    fits: dict[Expr, bool] = {}
    roots = expressions_in(s.body)
    for n in ir.topological(roots):
        if n.op is LOAD:
            name = name_of(n.args[0])
            fits[n] = name not in own and all(fits[a] for a in n.args[1:])
        elif n.args:
            fits[n] = all(fits[a] for a in n.args)
        else:
            fits[n] = n is here or n.op is ir.CONST or name_of(n) not in own
    ends = {a for n in fits if not fits[n] for a in n.args} | {*roots}
    for e in reversed(fits):
        if fits[e] and e.args and e.op is not LOAD and e in ends and kind_of(e) == "f":
            elements = [n for n in ir.topological((e,)) if n.op is LOAD and here in n.args[1:]]
            if any(_costly(e, n, quotients=True) for n in elements):
                return e
    return None


def _costly(e: Expr, leaf: Expr, quotients: bool = False) -> bool:
    """Whether an expression applies a function of the library to a leaf, or divides, if `quotients` count."""
    below: dict[Expr, bool] = {}
    for n in ir.topological((e,)):
        below[n] = n is leaf or any(below[a] for a in n.args)
        if below[n] and (is_of_library(n) or (quotients and n.op is ir.DIV)):
            return True
    return False


__all__: Sequence[str] = ["ready"]
