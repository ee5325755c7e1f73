"""Find products of matrices in a program.

Before:  c[i, j] = sum_k a[i, k]*b[j, k]
After:   c = matmul.nt(a, b)

Before:  t[i, j] = a[j, i]; c = matmul(t, b)
After:   c = matmul.tn(a, b)

Ensures: the same values, up to the order of sums. The routines are those of
`nestproducts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from symdiff.ir import ADD, MUL, TRUE, ZERO, Expr, var
from symdiff.ir.loop_program import (
    ARRAY,
    LOAD,
    REAL,
    Block,
    Build,
    Call,
    Loop,
    LoopProgram,
    Statement,
    Type,
    index,
    load,
    name_of,
    types,
)
from symdiff.ir.prune import pruned

ORIENTED = {
    (False, False): "matmul", (True, False): "matmul.tn", (False, True): "matmul.nt",
    (True, True): "matmul.tt",
}  # fmt: skip
"""Routines, by which of their arguments are transposed."""
TURNED = {name: turned for turned, name in ORIENTED.items()}


def with_products(program: LoopProgram) -> LoopProgram:
    """The program with products of matrices where it has them."""
    known = types(program)
    block = oriented(tuple(product(s, known) for s in program.block), known, {})
    return replace(program, block=pruned(block, program.outputs))


def product(s: Statement, known: Mapping[str, Type]) -> Statement:
    """A statement, or the product of matrices that it is; `known` are the types of names."""
    if not isinstance(s, Build) or len(s.indices) != 2 or len(s.body) != 1 or s.type.kind != "f":
        return s
    loop = s.body[0]
    if not isinstance(loop, Loop) or loop.count is None or len(loop.carried) != 1:
        return s
    (c,) = loop.carried
    if loop.body or loop.saves or loop.restores or loop.condition is not TRUE or c.type != REAL:
        return s
    if c.init is not ZERO or s.value is not var(c.result) or c.next.op is not ADD:
        return s
    terms = [e for e in c.next.args if e is not var(c.name)]
    if len(terms) != 1 or terms[0].op is not MUL:
        return s
    i, j, k = index(s.indices[0]), index(s.indices[1]), index(loop.index)
    sizes = {i: s.type.shape[0], j: s.type.shape[1], k: loop.count}
    for a, b in (terms[0].args, terms[0].args[::-1]):
        left, right = _matrix(a, i, k), _matrix(b, k, j)
        whole = all(
            tuple(sizes.get(e, ZERO) for e in x.args[1:]) == known[name_of(x.args[0])].shape
            for x in (a, b) if x.op is LOAD
        )  # fmt: skip
        if whole and left is not None and right is not None:
            routine = ORIENTED[left[1], right[1]]
            return Call(routine, ((s.name, s.type),), (left[0], right[0]))
    return s


def _matrix(e: Expr, row: Expr, column: Expr) -> tuple[Expr, bool] | None:
    """The array whose elements are loaded, and whether it is transposed."""
    if e.op is not LOAD or len(e.args) != 3 or e.args[0].value[1] != "f":
        return None
    if e.args[1:] == (row, column):
        return e.args[0], False
    return (e.args[0], True) if e.args[1:] == (column, row) else None


def oriented(block: Block, known: Mapping[str, Type], outer: Mapping[str, Expr]) -> Block:
    """The block without transposed matrices in products; `outer` are those from outside, and
    what they transpose."""
    turned = dict(outer)
    done: list[Statement] = []
    for s in block:
        if isinstance(s, Build) and (source := _turned(s, known)) is not None:
            turned[s.name] = source
        elif isinstance(s, Build | Loop):
            s = replace(s, body=oriented(s.body, known, turned))
        elif isinstance(s, Call) and s.routine in TURNED:
            args = [(turned.get(name_of(a)), a) for a in s.args]
            ways = [
                was != (found is not None)
                for was, (found, _) in zip(TURNED[s.routine], args, strict=True)
            ]
            s = replace(
                s, routine=ORIENTED[ways[0], ways[1]],
                args=tuple(a if found is None else found for found, a in args),
            )  # fmt: skip
        done.append(s)
    return tuple(done)


def _turned(s: Build, known: Mapping[str, Type]) -> Expr | None:
    """The array that a build transposes, all of it."""
    if s.body or len(s.indices) != 2 or s.type.kind != "f" or s.value.op is not LOAD:
        return None
    source = s.value.args[0]
    i, j = map(index, s.indices)
    same = source.op is ARRAY and source.value[1] == "f" and s.value is load(source, j, i)
    return source if same and known[name_of(source)].shape == s.type.shape[::-1] else None
