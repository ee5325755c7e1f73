"""Sparse Jacobians: the entries of a Jacobian that are structurally nonzero.

Where every element of an output is a formula of elements of the parameters at indices that
are formulas of its own, such as `out[i] = x[i+1] - 2*x[i] + x[i-1]`, the row of output i has
one entry for each element that is read. The entries follow without seeds and colouring.

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


@dataclass(frozen=True, slots=True)
class Entries:
    """The places of the entries of one output by one parameter in the program's outputs.

    Attributes
    ----------
    output : number of the output.
    parameter : its name.
    pairs : numbers of the outputs (columns, derivatives), each shaped as the output.
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
    builds = _formulas(block)
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
            for column, slope in _entries(value, name, known[name]) or [(ZERO, ZERO)]:
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
    checks = tuple(s for s in block if isinstance(s, lp.Check))
    new = replace(
        program,
        block=(*checks, *statements),
        outputs=tuple(results),
        tree=tuple(range(len(results))),
    )
    return new, tuple(found)


# --------------------------------------------------------------------- formulas
def _formulas(block: lp.Block) -> dict[str, lp.Build]:
    """The arrays that are formulas of their indices, in terms of earlier ones."""
    found: dict[str, lp.Build] = {}
    for s in block:
        if isinstance(s, lp.Build) and not s.body:
            found[s.name] = s
        elif isinstance(s, lp.Loop) and (build := _stored(s)) is not None:
            found[build.name] = build
    return found


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
        found.append((column, slope))
    return found
