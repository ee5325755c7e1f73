"""The pipeline of programs with arrays and loops: from a program to those of its derivatives.

The analogue of `symdiff.compile`: the same names, conventions and order of parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from symdiff.blocks.context import Context, names_of
from symdiff.blocks.pullback import Sweep
from symdiff.blocks.simplify import simplified
from symdiff.errors import SymdiffError
from symdiff.ir import ONE, Expr
from symdiff.structure import Structured, array, pruned

Tree = Any


def value(program: Structured) -> Structured:
    """The function itself."""
    return _simplified(program)


def gradient(program: Structured, wrt: Sequence[str]) -> Structured:
    """d f/d wrt of a scalar function: one output per parameter named in wrt."""
    joined = value_and_gradient(program, wrt)
    slopes = joined.outputs[1:]
    return _pruned(replace(joined, outputs=slopes, tree=_bundle(list(range(len(wrt))))))


def value_and_gradient(program: Structured, wrt: Sequence[str]) -> Structured:
    """(f, d f/d wrt), sharing one kernel."""
    base = _simplified(_scalar(program, "value_and_grad"))
    swept, slopes = _swept(base, wrt, (ONE,))
    tree = (0, _bundle(list(range(1, len(wrt) + 1))))
    return _finished(replace(swept, outputs=(*base.outputs, *slopes), tree=tree))


def _swept(
    base: Structured, wrt: Sequence[str], cotangents: Sequence[Expr]
) -> tuple[Structured, tuple[Expr, ...]]:
    """The program with the reverse sweep, and the cotangents of the parameters."""
    context = Context(base, wrt)
    sweep = Sweep(context, base.block, (p.name for p in base.params), base.outputs)
    for output, bar in zip(base.outputs, cotangents, strict=True):
        sweep.cotangent(output, bar)
    sweep.run()
    types = {p.name: p.type for p in base.params}
    slopes = tuple(array(sweep.array(n)) if types[n].shape else sweep.scalar(n) for n in wrt)
    return replace(base, block=(*sweep.forward, *sweep.out)), slopes


def _simplified(program: Structured) -> Structured:
    block, outputs = simplified(program.block, program.outputs, names_of(program))
    return replace(program, block=block, outputs=outputs)


def _finished(program: Structured) -> Structured:
    block, outputs = simplified(program.block, program.outputs, names_of(program), late=True)
    return _pruned(replace(program, block=block, outputs=outputs))


def _pruned(program: Structured) -> Structured:
    return replace(program, block=pruned(program.block, program.outputs))


def _scalar(program: Structured, what: str) -> Structured:
    if not isinstance(program.tree, int) or program.outputs[0].op.name == "array":
        raise SymdiffError(
            f"{what} needs a function of one real value, but {program.name} returns more",
            hint="use jacobian for functions that return several values",
        )
    return program


def _bundle(items: list[Tree]) -> Tree:
    """One parameter gives its entry, several give a tuple."""
    return items[0] if len(items) == 1 else tuple(items)
