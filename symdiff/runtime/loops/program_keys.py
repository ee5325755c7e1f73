"""What the compiled code of a program depends on, for keys of the cache."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from symdiff.codegen.llvm.loops.kernel import lowered
from symdiff.errors import Location
from symdiff.ir import Expr, encode, topological
from symdiff.ir.functions import BUILTIN
from symdiff.ir.loop_program import LoopProgram, expressions, walk


def fingerprint(program: LoopProgram) -> tuple[Any, ...]:
    """All about a program that its code depends on."""
    own = (e for s in walk(program.block) for e in topological(expressions(s)))
    if any(e.op.expand is not None and e.op not in BUILTIN for e in own):
        program = lowered(program)  # the formula of a user's own function counts
    roots: list[Expr] = []

    def flat(value: Any) -> Any:
        if isinstance(value, Expr):
            roots.append(value)
            return None
        if isinstance(value, tuple):
            return tuple(map(flat, value))
        if is_dataclass(value) and not isinstance(value, Location):
            return type(value).__name__, *(
                flat(getattr(value, f.name)) for f in fields(value) if f.compare
            )
        return value

    shape = flat((program.params, program.block, program.outputs))
    data = tuple((n, a.shape, a.dtype.str) for n, a in program.data.items())
    return shape, encode(roots), data


__all__ = ["fingerprint"]
