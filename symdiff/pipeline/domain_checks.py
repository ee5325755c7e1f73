"""What `domain=` and `assert` demand of the arguments, as checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from symdiff import ir
from symdiff.errors import SymdiffError
from symdiff.ir import Expr
from symdiff.ir.blocks import unchecked
from symdiff.ir.loop_program import (
    Check,
    Loop,
    LoopProgram,
    Parameter,
    Statement,
    index,
    load,
    types,
)
from symdiff.ir.names import Names
from symdiff.ir.program import Program
from symdiff.pipeline.options import Domain, conditions
from symdiff.runtime.scalar.fallback import Demands


def demanding(program: LoopProgram, domain: Domain, check: bool) -> LoopProgram:
    """The program with checks of `domain=`, or without those of what it asserts."""
    if not check:
        return replace(program, block=unchecked(program.block, "domain"))
    numbers = Program(program.name, tuple(p.name for p in program.params), ())
    found = conditions(domain, numbers)
    if not found:
        return program
    names = Names(types(program))
    made: list[Statement] = []
    for c in found:
        used = {str(v.value) for v in ir.variables((c,))}
        arrays = [p for p in program.params if p.name in used and p.type.shape]
        whole = [p for p in program.params if p.name in used and p.type.kind != "f"]
        c = ir.substitute((c,), {ir.var(p.name): p.leaf for p in whole if not p.type.shape})[0]
        made.append(_for_all(c, arrays, names))
    return replace(program, block=(*made, *program.block))


def _for_all(condition: Expr, arrays: Sequence[Parameter], names: Names) -> Statement:
    """A check of a condition, for all elements of the arrays in it."""
    message = f"this does not hold: {condition}"
    if len({p.type.shape for p in arrays}) > 1:
        raise SymdiffError(f"domain compares arrays of several shapes: {condition}")
    if not arrays:
        return Check(condition, "domain", message)
    shape = arrays[0].type.shape
    places = [names.fresh("i") for _ in shape]
    at = [index(i) for i in places]
    elements = {ir.var(p.name): load(p.leaf, *at) for p in arrays}
    statement: Statement = Check(ir.substitute((condition,), elements)[0], "domain", message)
    for i, n in reversed(list(zip(places, shape, strict=True))):
        statement = Loop(i, n, (), (statement,), names.fresh("trips"))
    return statement


def demands(program: Program) -> Demands:
    """What the arguments of a function of numbers must satisfy, and where it says so."""
    return tuple((c, program.place(c)) for c in program.assumptions)
