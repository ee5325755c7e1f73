"""Reports why a program is not valid; passes may assume that it is."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.ir import Expr
from symdiff.ir.program import Program

LOGIC = (ir.NOT, ir.AND, ir.OR)


def faults(program: Program) -> list[str]:
    """Everything that is wrong with a program; an empty list if it is valid.

    A valid program has distinct parameters; real outputs, and boolean domain and assumptions,
    whose nodes are well formed and mention parameters only; a tree that places every output;
    and the constant nan only as a result: an output, or a side of a branch, where it masks an
    undefined value.

    Examples
    --------
    >>> faults(Program("f", ("x",), (ir.var("y"),)))
    ['y is not a parameter']
    """
    return [
        *_parameter_faults(program.params),
        *_root_faults(program),
        *(f for e in ir.topological(_roots(program)) for f in _node_faults(e, program.params)),
        *_tree_faults(program),
    ]


def _roots(program: Program) -> list[Expr]:
    roots = (*program.outputs, *program.domain, *program.assumptions)
    return [e for e in roots if isinstance(e, Expr)]


def _parameter_faults(params: tuple[str, ...]) -> Iterator[str]:
    for i, p in enumerate(params):
        if not isinstance(p, str) or not p.isidentifier():
            yield f"parameter {p!r} is not a name"
        elif p in params[:i]:
            yield f"two parameters are named {p}"


def _root_faults(program: Program) -> Iterator[str]:
    for field, boolean in (("outputs", False), ("domain", True), ("assumptions", True)):
        for i, e in enumerate(getattr(program, field)):
            if not isinstance(e, Expr):
                yield f"{field}[{i}] is not an expression but a {type(e).__name__}"
            elif e.op.boolean != boolean:
                yield f"{field}[{i}] is {'real' if boolean else 'a condition'}: {e}"


def _node_faults(e: Expr, params: tuple[str, ...]) -> Iterator[str]:
    if e.op.means is None and ir.OPS.get(e.op.name) is not e.op:
        yield f"operation {e.op.name} is not registered"
    if len(e.args) != e.op.arity:
        yield f"{e.op.name} has {len(e.args)} arguments, not {e.op.arity}"
        return
    if e.op is ir.VAR:
        if e.value not in params:
            yield f"{e} is not a parameter"
    elif e.op is ir.CONST:
        if not isinstance(e.value, Fraction) and (
            not isinstance(e.value, float) or math.isfinite(e.value)
        ):
            yield f"constant {e.value!r} is not a Fraction"
    elif e.op is ir.BOOL:
        if not isinstance(e.value, bool):
            yield f"truth value {e.value!r} is not a bool"
    elif e.value is not None:
        yield f"{e.op.name} carries a value"
    for i, a in enumerate(e.args):
        boolean = e.op in LOGIC or (e.op is ir.WHERE and i == 0)
        if a.op.boolean != boolean:
            kind = "a condition" if a.op.boolean else "real"
            yield f"argument {i} of {e.op.name} is {kind}: {a}"
        if a is ir.NAN and e.op is not ir.WHERE:
            yield f"argument {i} of {e.op.name} is the constant nan"


def _tree_faults(program: Program) -> Iterator[str]:
    placed: set[int] = set()
    for leaf in _leaves(program.tree):
        if isinstance(leaf, bool) or not isinstance(leaf, int | np.integer):
            yield f"the tree holds {leaf!r}, which is not the index of an output"
        elif not 0 <= leaf < len(program.outputs):
            yield f"the tree holds {leaf}, but there are {len(program.outputs)} outputs"
        else:
            placed.add(int(leaf))
    for i in range(len(program.outputs)):
        if i not in placed:
            yield f"output {i} is not in the tree"


def _leaves(tree: Any) -> Iterator[Any]:
    stack = [tree]
    while stack:
        t = stack.pop()
        if isinstance(t, tuple | list):
            stack.extend(reversed(t))
        elif isinstance(t, dict):
            stack.extend(reversed(t.values()))
        elif isinstance(t, np.ndarray):
            stack.extend(reversed(t.ravel()))
        else:
            yield t
