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
from symdiff.ir import loop_program as lp
from symdiff.ir.blocks import bottom_up, with_inside
from symdiff.ir.names import Names
from symdiff.lowering.loops.chains import chain
from symdiff.lowering.loops.collected import is_of_library
from symdiff.lowering.loops.copied_columns import by_columns
from symdiff.lowering.loops.layouts import in_columns
from symdiff.lowering.loops.matmul import with_products
from symdiff.lowering.loops.powers_by_index import with_recurrences


def ready(program: lp.LoopProgram) -> lp.LoopProgram:
    """The program, rearranged."""
    names = lp.names_of(program)
    block, outputs = _kept(program.block, program.outputs)
    block, outputs = _kept(_rearranged(with_recurrences(block, names), names), outputs)
    block = _ahead(block, names)
    used = {*lp.leaves(outputs), *lp.leaves(lp.expressions_in(block))}
    block = _rearranged(in_columns(block, names, used), names)
    program = with_products(replace(program, block=block, outputs=outputs))
    params = {p.name: p.type for p in program.params}
    arrays = {n: t for n, t in lp.types(program).items() if n in params or n in program.data}
    return replace(program, block=by_columns(program.block, names, arrays))


# ----------------------------------------------------- what is carried and never changed
def _kept(block: lp.Block, roots: tuple[Expr, ...]) -> tuple[lp.Block, tuple[Expr, ...]]:
    """The block, and expressions after it, without loops that pass on what they get."""
    done: list[lp.Statement] = []
    after: dict[ir.Expr, ir.Expr] = {}
    for s in block:
        (s,) = lp.replaced((s,), after) if after else (s,)
        s = with_inside(s, _kept)
        if isinstance(s, lp.Loop) and (same := [c for c in s.carried if c.next is c.leaf]):
            s = replace(s, carried=tuple(c for c in s.carried if c not in same))
            (s,) = lp.replaced((s,), {c.leaf: c.init for c in same})
            after |= {c.after: c.init for c in same}
        done.append(s)
    return tuple(done), ir.substitute(roots, after)


# ------------------------------------------------------------------------ statements
def _rearranged(block: lp.Block, names: Names) -> lp.Block:
    def rule(s: lp.Statement) -> list[lp.Statement]:
        if isinstance(s, lp.Build):
            return _split(s, names)
        return _sunk(s, names) if isinstance(s, lp.Loop) else [s]

    return bottom_up(block, rule)


def _sunk(s: lp.Loop, names: Names) -> list[lp.Statement]:
    """A loop, and the additions to one element that were in it."""
    after: list[lp.Statement] = []
    for which, c in enumerate(s.carried):
        if not c.type.shape or c.type.kind != "f":
            continue
        while (u := _fixed(s, s.carried[which])) is not None:
            collected = names.fresh("sum"), names.fresh("sum")
            term = ir.where(u.guard, u.value, ir.ZERO) if u.guard is not ir.TRUE else u.value
            number = lp.Carried(
                collected[0], lp.REAL, ir.ZERO, ir.add(ir.var(collected[0]), term), collected[1]
            )
            body = tuple(b for b in s.body if b is not u)
            body = lp.replaced(body, {lp.array(u.name): lp.array(u.source)})
            now = s.carried[which]
            end = lp.array(u.source) if now.next is lp.array(u.name) else now.next
            result = names.fresh(now.result)
            carried = (
                *s.carried[:which],
                replace(now, next=end, result=result),
                *s.carried[which + 1 :],
                number,
            )
            s = replace(s, body=body, carried=carried)
            after.insert(0, lp.Update(
                now.result, result, u.type, u.index, ir.var(collected[1]), ir.TRUE, True
            ))  # fmt: skip
    return [s, *after]


def _chain(s: lp.Loop, c: lp.Carried) -> list[lp.Update]:
    """The additions that lead from a carried array to the next, if nothing else is done
    with it."""
    found = chain(s, c)
    if found is None or found.loads or any(len(x.path) > 1 for x in found.sites):
        return []
    updates = [x.update for x in found.sites]
    return updates if all(u.add for u in updates) else []


def _fixed(s: lp.Loop, c: lp.Carried) -> lp.Update | None:
    """An addition to a carried array that goes to the same element in every iteration."""
    own = lp.own_names((s,))
    fixed = (u for u in _chain(s, c) if not any(lp.name_of(e) in own for e in lp.leaves(u.index)))
    return next(fixed, None)


def _split(s: lp.Build, names: Names) -> list[lp.Statement]:
    """A build, or one of its sum and one of the functions of it."""
    loops = [b for b in s.body if isinstance(b, lp.Loop)]
    sums = {c.result for b in loops for c in b.carried if c.type == lp.REAL}
    used = [e for e in lp.leaves((s.value,)) if lp.name_of(e) in sums]
    if len(used) != 1 or s.type.kind != "f" or not _costly(s.value, used[0]):
        return [s]
    own = {n for b in s.body for n, _ in lp.defined(b)} - {lp.name_of(used[0])}
    if any(lp.name_of(e) in own for e in lp.leaves((s.value,))):
        return [s]
    part = names.fresh(s.name)
    indices = tuple(names.fresh(i) for i in s.indices)
    places = [lp.index(i) for i in indices]
    mapping: Mapping[Expr, Expr] = {
        **{lp.index(i): j for i, j in zip(s.indices, places, strict=True)},
        used[0]: lp.load(lp.array(part), *places),
    }
    (value,) = ir.substitute((s.value,), mapping)
    return [
        lp.Build(part, s.type, s.indices, used[0], s.body),
        lp.Build(s.name, s.type, indices, value),
    ]


def _ahead(block: lp.Block, names: Names, inside: bool = False) -> lp.Block:
    """The block, with what loops around others apply functions to, and sums, computed before them; those of a
    loop that is not `inside` of others only if they are no more than elements of an array."""
    made: list[lp.Statement] = []
    for s in block:
        if isinstance(s, lp.Loop) and any(isinstance(b, lp.Loop) for b in s.body):
            rows, s = _restored_ahead(s, names)
            before, s = _functions_ahead(s, names)
            sums: list[lp.Statement] = []
            if inside or (s.count is not None and s.count.op is lp.INDEX):
                sums, s = _sums_ahead(s, names)
            after, s = _functions_ahead(s, names)
            made += [*rows, *before, *sums, *after]
        if isinstance(s, (lp.Build, lp.Loop)):
            s = replace(s, body=_ahead(s.body, names, True))
        made.append(s)
    return tuple(made)


def _restored_ahead(s: lp.Loop, names: Names) -> tuple[list[lp.Statement], lp.Loop]:
    """The arrays of what a loop takes off tapes, and the loop that reads them: one that is nothing but another
    which adds to arrays, so that both may change places."""
    inside = s.body[0] if len(s.body) == 1 else None
    if not s.restores or s.count is None or s.saves or not isinstance(inside, lp.Loop):
        return [], s
    if not all(isinstance(b, lp.Update) for b in inside.body) or any(
        r.type != lp.REAL for r in s.restores
    ):
        return [], s
    t, (i, k) = lp.Type((s.count,)), (names.fresh(s.index), names.fresh("k"))
    made: list[lp.Statement] = []
    carried, body, new = list[lp.Carried](), list[lp.Statement](), dict[Expr, Expr]()
    restores = []
    for r in s.restores:
        start, row, end, result = (names.fresh("ahead") for _ in range(4))
        restores.append(replace(r, name=names.fresh(r.name)))
        made.append(lp.Build(start, t, (names.fresh(k),), ir.ZERO))
        carried.append(lp.Carried(row, t, lp.array(start), lp.array(end), result))
        body.append(lp.Update(end, row, t, (lp.index(i),), ir.var(restores[-1].name)))
        new[ir.var(r.name)] = lp.load(lp.array(result), lp.index(s.index))
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
    (changed,) = lp.replaced((replace(s, restores=()),), new)
    assert isinstance(changed, lp.Loop)
    return made, changed


def _sums_ahead(s: lp.Loop, names: Names) -> tuple[list[lp.Statement], lp.Loop]:
    """The arrays of sums that iterations of a loop make for themselves, and the loop that reads them. It
    changes arrays, so it has no vectors, but the builds of the sums may."""
    made: list[lp.Statement] = []
    while (b := _own_sum(s)) is not None:
        ahead, i = names.fresh("ahead"), names.fresh(s.index)
        (copy,), new = lp.renamed((b,), names)
        (copy,) = lp.replaced((copy,), {lp.index(s.index): lp.index(i)})
        result = ir.var(b.carried[0].result)
        assert s.count is not None
        made.append(lp.Build(ahead, lp.Type((s.count,)), (i,), new[result], (copy,)))
        left = replace(s, body=tuple(x for x in s.body if x is not b))
        (changed,) = lp.replaced((left,), {result: lp.load(lp.array(ahead), lp.index(s.index))})
        assert isinstance(changed, lp.Loop)
        s = changed
    return made, s


def _own_sum(s: lp.Loop) -> lp.Loop | None:
    """A loop in the body of one that changes arrays, which makes a number of what no iteration changes."""
    if s.count is None or s.condition is not ir.TRUE or not any(c.type.shape for c in s.carried):
        return None
    own = {n for b in (s, *s.body) for n, _ in lp.defined(b)} | {n for n, _ in lp.inner(s)}
    own.discard(s.index)
    used = lp.leaves(lp.expressions_in((s,)))
    for b in s.body:
        if not isinstance(b, lp.Loop) or b.count is None or b.condition is not ir.TRUE or b.body:
            continue
        if lp.index(b.trips) in used:
            continue
        if b.saves or b.restores or [c.type for c in b.carried] != [lp.REAL]:
            continue
        if own.isdisjoint(lp.free((b,))):
            return b
    return None


def _functions_ahead(s: lp.Loop, names: Names) -> tuple[list[lp.Statement], lp.Loop]:
    """The arrays of what a loop computes of elements by functions, and the loop that reads them."""
    made: list[lp.Statement] = []
    left = s
    while left.count is not None and (e := _of_elements(left)) is not None:
        ahead, i = names.fresh("ahead"), names.fresh(left.index)
        here = lp.index(left.index)
        (value,) = ir.substitute((e,), {here: lp.index(i)})
        made.append(lp.Build(ahead, lp.Type((left.count,)), (i,), value))
        (changed,) = lp.replaced((left,), {e: lp.load(lp.array(ahead), here)})
        assert isinstance(changed, lp.Loop)
        left = changed
    return made, left


def _of_elements(s: lp.Loop) -> Expr | None:
    """The largest expression that applies functions to elements of arrays at the index of a loop, and to nothing
    else that the loop changes."""
    if s.count is None or s.condition is not ir.TRUE:
        return None
    own = lp.own_names((s,))
    here = lp.index(s.index)
    fits: dict[Expr, bool] = {}
    roots = lp.expressions_in(s.body)
    for n in ir.topological(roots):
        if n.op is lp.LOAD:
            name = lp.name_of(n.args[0])
            fits[n] = name not in own and all(fits[a] for a in n.args[1:])
        elif n.args:
            fits[n] = all(fits[a] for a in n.args)
        else:
            fits[n] = n is here or n.op is ir.CONST or lp.name_of(n) not in own
    ends = {a for n in fits if not fits[n] for a in n.args} | {*roots}
    for e in reversed(fits):
        if fits[e] and e.args and e.op is not lp.LOAD and e in ends and lp.kind_of(e) == "f":
            elements = [n for n in ir.topological((e,)) if n.op is lp.LOAD and here in n.args[1:]]
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
