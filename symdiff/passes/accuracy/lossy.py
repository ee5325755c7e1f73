"""Which programs with arrays and loops can lose digits in ways that need tests.

Before:  for i: s = s + x[i]*x[i]                                         log(s)
After:   `passes_on_losses` is true: the loss of s by underflow affects its logarithm

Requires: any program. Ensures: only reads it.
"""

from __future__ import annotations

from collections.abc import Iterator

from symdiff.ir import VAR, Expr
from symdiff.ir.loop_program import (
    ARRAY,
    REAL,
    Build,
    Call,
    Loop,
    LoopProgram,
    Update,
    defined,
    inner,
    leaves,
    name_of,
    walk,
)
from symdiff.lowering.loops.collected import reduction


def passes_on_losses(program: LoopProgram) -> bool:
    """Whether computed numbers that may have lost digits to underflow, or overflowed, are
    operands of others, so that tests must check for that."""
    made = {
        n for s in walk(program.block) for n, t in (*defined(s), *inner(s)) if t.kind == "f"
    }  # fmt: skip

    def operands() -> Iterator[Expr]:
        yield from (e for e in program.outputs if e.op is not ARRAY)
        for s in walk(program.block):
            match s:
                case Build() | Update():
                    yield s.value
                case Loop():
                    for c in s.carried:
                        sum_ = reduction(c) if c.type == REAL else None
                        if sum_ is not None and sum_.kind != "mul":
                            yield sum_.term
                        elif c.type == REAL:
                            yield c.next
                case Call():
                    yield from s.args

    return any(
        name_of(e) in made for top in operands() if top.op is not VAR for e in leaves((top,))
    )
