"""Sparse Jacobians: the entries of a Jacobian that are structurally nonzero.

Where every element of an output is a formula of elements of the parameters at indices that
are formulas of its own, such as `out[i] = x[i+1] - 2*x[i] + x[i-1]`, the row of output i has
one entry for each element that is read. The entries follow without seeds and colouring. Loops of
few iterations are written out, and elements that are stored one by one are branches of the formula.

Before:  out = Build(i: x[i+1] - x[i])
After:   for each element that is read, its column Build(i: i+1) and derivative Build(i: 1)
Requires: outputs that are built element by element from the parameters
Ensures: summed over the entries of one column, the rows of the Jacobian
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from symdiff import ir
from symdiff.errors import SymdiffError
from symdiff.ir import ONE, TRUE, ZERO, Expr, substitute, topological
from symdiff.ir import loop_program as lp
from symdiff.ir.blocks import elements
from symdiff.ir.integers import linear
from symdiff.ir.names import Names
from symdiff.loops.simplify.block_by_block import simplified
from symdiff.passes.differentiate import gradient

ABSENT = ir.const(-1)
"""The column of an entry that a row does not have."""


@dataclass(frozen=True, slots=True)
class Entries:
    """The places of the entries of one output by one parameter in the program's outputs.

    Attributes
    ----------
    output : number of the output.
    parameter : its name.
    pairs : numbers of the outputs (columns, derivatives), each shaped as the output; a column
        of -1 is no entry.
    """

    output: int
    parameter: str
    pairs: tuple[tuple[int, int], ...]


def sparse_jacobian(
    program: lp.LoopProgram, wrt: Sequence[str]
) -> tuple[lp.LoopProgram, tuple[Entries, ...]]:
    """A program that computes the entries of the Jacobian, and their places.

    Raises
    ------
    SymdiffError : if an output is not built element by element.
    """
    block, outputs = simplified(
        program.block, program.outputs, lp.names_of(program), types=lp.types(program)
    )
    known = lp.types(replace(program, block=block))
    builds, numbers = _formulas(block)
    outputs = substitute(outputs, numbers)
    names = Names(known)
    statements: list[lp.Build] = []
    results: list[Expr] = []
    found: list[Entries] = []
    for k, output in enumerate(outputs):
        build = _build_of(output, builds, program)
        value = inlined(build.value, builds)
        _check_formula(value, program)
        for name in wrt:
            pairs = []
            for column, slope in _entries(value, name, known[name]) or [(ABSENT, ZERO)]:
                where = lp.Build(
                    names.fresh("column"), lp.Type(build.type.shape, "i"), build.indices, column
                )
                by = lp.Build(names.fresh("slope"), build.type, build.indices, slope)
                pairs.append((len(results), len(results) + 1))
                for b in (where, by):
                    if not b.indices:
                        results.append(b.value)
                        continue
                    fresh = tuple(names.fresh("ijklmnpq"[axis]) for axis in range(len(b.indices)))
                    mapping = {
                        lp.index(i): lp.index(j) for i, j in zip(b.indices, fresh, strict=True)
                    }
                    b = replace(b, indices=fresh, value=substitute((b.value,), mapping)[0])
                    statements.append(b)
                    results.append(lp.array(b.name, b.type.kind))
            found.append(Entries(k, name, tuple(pairs)))
    new = replace(
        program,
        block=(*block, *statements),
        outputs=tuple(results),
        tree=tuple(range(len(results))),
    )
    return new, tuple(found)


# --------------------------------------------------------------------- formulas
MOST_STEPS = 64
"""Iterations of inner loops of a known count, in a formula of one element, beyond which it is refused."""


def _formulas(block: lp.Block, steps: int = 1) -> tuple[dict[str, lp.Build], dict[Expr, Expr]]:
    """The arrays of a block that are formulas of their indices, and its numbers, in terms of earlier ones.

    Parameters
    ----------
    steps : how often the block is written out.
    """
    builds: dict[str, lp.Build] = {}
    numbers: dict[Expr, Expr] = {}
    for s in block:
        if numbers:
            (s,) = lp.replaced((s,), numbers)
        if isinstance(s, lp.Build):
            if (value := _at_end(s.body, s.value, steps)) is not None:
                builds[s.name] = replace(s, body=(), value=value)
        elif isinstance(s, lp.Update):
            builds[s.name] = _changed(s)
        elif isinstance(s, lp.Loop):
            if (build := _stored(s)) is not None:
                builds[build.name] = build
            else:
                numbers |= _written_out(s, steps)
    return builds, numbers


def _at_end(body: lp.Block, value: Expr, steps: int) -> Expr | None:
    """A value at the end of a block in terms of what is known before it; None if there is no formula."""
    if not body:
        return value
    builds, numbers = _formulas(body, steps)
    value = inlined(substitute((value,), numbers)[0], builds)
    return None if lp.own_names(body) & lp.names_in(value) else value


def _written_out(s: lp.Loop, steps: int) -> dict[Expr, Expr]:
    """The numbers after a loop of few iterations, each written out; nothing for other loops."""
    steps *= (
        int(s.count.value) if s.count is not None and s.count.op is ir.CONST else MOST_STEPS + 1
    )
    plain = s.condition is TRUE and not s.saves and not s.restores
    if steps > MOST_STEPS or not plain or any(c.type.shape for c in s.carried):
        return {}
    assert s.count is not None
    now = {c.leaf: c.init for c in s.carried}
    order = range(int(s.count.value))
    for k in reversed(order) if s.reverse else order:
        at = {**now, lp.index(s.index): ir.const(k)}
        ends = [
            _at_end(lp.replaced(s.body, at), substitute((c.next,), at)[0], steps) for c in s.carried
        ]
        if None in ends:
            return {}
        now = {c.leaf: e for c, e in zip(s.carried, ends, strict=True) if e is not None}
    return {c.after: now[c.leaf] for c in s.carried}


def _changed(s: lp.Update) -> lp.Build:
    """An array of which one element is changed, as a formula of the whole."""
    letters = tuple(f"{s.name} {k}" for k in range(len(s.index)))
    old = lp.load(lp.array(s.source, s.type.kind), *map(lp.index, letters))
    there = ir.and_(
        s.guard, *(ir.eq(lp.index(i), e) for i, e in zip(letters, s.index, strict=True))
    )
    value = ir.add(old, s.value) if s.add else s.value
    return lp.Build(s.name, s.type, letters, ir.where(there, value, old))


def _stored(s: lp.Loop) -> lp.Build | None:
    """A loop that stores a formula into a stretch of one axis, as a formula of the whole."""
    steps: list[lp.Loop] = []
    inner: lp.Loop | lp.Update = s
    while isinstance(inner, lp.Loop):
        plain = inner.condition is TRUE and not inner.saves and not inner.restores
        if not plain or inner.count is None or len(inner.carried) != 1 or len(inner.body) != 1:
            return None
        steps.append(inner)
        step = inner.body[0]
        if not isinstance(step, (lp.Loop, lp.Update)):
            return None
        if lp.name_of(inner.carried[0].next) not in _names(step):
            return None
        inner = step
    own = {c.name for loop in steps for c in loop.carried}
    if inner.guard is not TRUE or inner.source != steps[-1].carried[0].name:
        return None
    if any(
        e.op is lp.ARRAY and lp.name_of(e) in own for e in topological((inner.value, *inner.index))
    ):
        return None
    letters = tuple(f"{inner.name} {k}" for k in range(len(inner.index)))
    inside, mapping = TRUE, dict[Expr, Expr]()
    for letter, e in zip(letters, inner.index, strict=True):
        loops = [loop for loop in steps if lp.index(loop.index) in topological((e,))]
        if not loops:
            inside = ir.and_(inside, ir.eq(lp.index(letter), e))
            continue
        leaf = lp.index(loops[0].index)
        offset = linear(ir.sub(e, leaf))
        if len(loops) > 1 or leaf in topological((offset,)) or loops[0].count is None:
            return None
        if leaf in mapping:  # a diagonal: another axis determines the iteration already
            inside = ir.and_(inside, ir.eq(lp.index(letter), ir.add(mapping[leaf], offset)))
            continue
        at = ir.sub(lp.index(letter), offset)
        mapping[leaf] = at
        inside = ir.and_(inside, ir.and_(ir.le(ZERO, at), ir.lt(at, loops[0].count)))
    if len(mapping) != len(steps):
        return None
    value = substitute((inner.value,), mapping)[0]
    old = lp.load(s.carried[0].init, *map(lp.index, letters))
    if inner.add:
        value = ir.add(old, value)
    return lp.Build(s.carried[0].result, inner.type, letters, ir.where(inside, value, old))


def _names(s: lp.Loop | lp.Update) -> set[str]:
    return {s.name} if isinstance(s, lp.Update) else {c.result for c in s.carried}


def inlined(e: Expr, builds: dict[str, lp.Build]) -> Expr:
    """A formula with the elements of earlier formulas written out."""
    while found := elements(e, builds):
        (e,) = substitute((e,), found)
    return e


def _build_of(output: Expr, builds: dict[str, lp.Build], program: lp.LoopProgram) -> lp.Build:
    """An output as a formula; a number is an array of one row."""
    if output.op is not lp.ARRAY:
        return lp.Build("", lp.Type((), "f"), (), output)
    name = lp.name_of(output)
    if name in builds:
        return builds[name]
    for p in program.params:
        if p.name == name:
            letters = tuple(f"{name} {k}" for k in range(len(p.type.shape)))
            return lp.Build(name, p.type, letters, lp.load(output, *map(lp.index, letters)))
    raise _not_sparse(program)


def _check_formula(value: Expr, program: lp.LoopProgram) -> None:
    """Refuse an output that is not a formula of the parameters alone."""
    inputs = {p.name for p in program.params} | set(program.data)
    for n in topological((value,)):
        if n.op is lp.ARRAY and lp.name_of(n) not in inputs:
            raise _not_sparse(program)
        if n.op is ir.VAR and n.value not in inputs:
            raise _not_sparse(program)


def _not_sparse(program: lp.LoopProgram) -> SymdiffError:
    return SymdiffError(
        f"the Jacobian of {program.name} is not sparse by its form: an output is not computed "
        "element by element from the parameters",
        hint="leave out sparse=True",
    )


def _entries(value: Expr, name: str, type: lp.Type) -> list[tuple[Expr, Expr]]:
    """(column, derivative) for each element of a parameter that a formula reads."""
    if not type.shape:
        (slope,) = gradient(value, [ir.var(name)])
        return [(ZERO, slope)]
    leaves = [n for n in topological((value,)) if n.op is lp.LOAD]
    stand_ins = {n: ir.var(f"leaf {k}") for k, n in enumerate(leaves)}
    read = [n for n in leaves if lp.name_of(n.args[0]) == name]
    plain = substitute((value,), stand_ins)[0]
    slopes = gradient(plain, [stand_ins[n] for n in read])
    back = {v: n for n, v in stand_ins.items()}
    found = []
    for n, slope in zip(read, substitute(slopes, back), strict=True):
        if slope is ZERO:
            continue
        column = ZERO
        for i, size in zip(n.args[1:], type.shape, strict=True):
            last = ir.sub(size, ONE)
            i = ir.where(ir.lt(i, ZERO), ZERO, ir.where(ir.lt(last, i), last, i))
            column = ir.add(ir.mul(column, size), i)
        found.append(_where_read(column, slope))
    return found


def _where_read(column: Expr, slope: Expr) -> tuple[Expr, Expr]:
    """An entry without the rows whose place alone decides that it is 0, as those of the ends of an array."""
    if slope.op is not ir.WHERE or any(
        (n.op is lp.LOAD and lp.kind_of(n) == "f") or n.op is ir.VAR
        for n in topological((slope.args[0],))
    ):
        return column, slope
    condition, a, b = slope.args
    if b is ZERO:
        column, a = _where_read(column, a)
        return ir.where(condition, column, ABSENT), a
    if a is ZERO:
        column, b = _where_read(column, b)
        return ir.where(condition, ABSENT, column), b
    return column, slope
