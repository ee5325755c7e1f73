"""Whether a traced function of arrays is elementwise, and the function of numbers that it is.

Before: outputs `sin(load(x, i)) + load(y, i)` of the size that x and y have together
After: outputs `sin(x) + y` of numbers x and y
Requires: a trace without statements, so that outputs are formulas of the slots
Ensures: each element of the result is the program's value at the same element of the arguments,
which are broadcast against each other; nothing else is read, neither a size nor an index
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from symdiff import ir
from symdiff.frontend.arrays import symbolic
from symdiff.frontend.arrays.symbolic import SLOTS
from symdiff.frontend.pytrees import class_of
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import Integral, Real, Record, Scalar, SymArray
from symdiff.ir import ONE, ZERO, Expr, loop_program
from symdiff.ir.loop_program import Type
from symdiff.ir.program import Made, Tree, fields_of

Numbers = tuple[list[Scalar], Tree, dict[Expr, Expr]]
"""The outputs as numbers, how they nest, and the variable of each element that is read."""


def of_numbers(t: Tracer, value: Any, arrays: Mapping[str, Type]) -> Numbers | None:
    """What a function returns, as numbers that depend on one element of each array; None
    if it is not elementwise."""
    found: list[SymArray] = []
    tree = _nested(value, found)
    if tree is None or not found or not only_stretches(t, arrays.values()):
        return None
    together = _Together(t.stretches)
    rank = max(len(a.shape) for a in arrays.values())
    for a in found:
        if a.kind == "b" or not _is_full(a, arrays.values(), rank, together):
            return None
    roots = [(symbolic.formula(a), symbolic.needs(a)) for a in found]
    reads: dict[Expr, Expr] = {}
    for e in ir.topological(tuple(r for pair in roots for r in pair)):
        if e.op is loop_program.LOAD:
            name = loop_program.name_of(e.args[0])
            type = arrays.get(name)
            if type is None or e.args[0].value[1] != "f" or not _same_element(e, type, rank):
                return None
            reads[e] = ir.var(name)
    flat = ir.substitute(tuple(r for pair in roots for r in pair), reads)
    if any(e.op is not ir.VAR for e in loop_program.leaves(flat)):
        return None
    types = [Integral if a.kind == "i" else Real for a in found]
    pairs = zip(types, flat[::2], flat[1::2], strict=True)
    values: list[Scalar] = [made(e, d) for made, e, d in pairs]
    return values, tree, reads


def _nested(value: Any, found: list[SymArray]) -> Tree | None:
    """How arrays nest; None if the value has other parts."""
    if isinstance(value, SymArray) and value.shape:
        found.append(value)
        return len(found) - 1
    if isinstance(value, (tuple, list)):
        parts = [_nested(v, found) for v in value]
        if not parts or any(p is None for p in parts):
            return None
        if hasattr(value, "_fields"):
            return Made.of(type(value), parts)
        return parts if isinstance(value, list) else tuple(parts)
    if isinstance(value, Record) and (made_of := class_of(value)) is not None:
        parts = [_nested(value.fields[k], found) for k in fields_of(made_of)]
        return None if any(p is None for p in parts) else Made.of(made_of, parts)
    if isinstance(value, dict):
        named = {k: _nested(v, found) for k, v in value.items()}
        return None if not named or any(p is None for p in named.values()) else named
    return None


def only_stretches(t: Tracer, types: Collection[Type]) -> bool:
    """Whether the only condition on sizes is that those of the same axis of arguments agree, as in
    any broadcast: none on known sizes, or on two axes of one array."""

    def places(n: Expr) -> set[int]:
        return {
            len(s) - k for s in (type.shape for type in types) for k, m in enumerate(s) if m is n
        }

    pairs = {ir.eq(a, b) for a, b in t.stretches}
    aligned = all(a is b or places(a) & places(b) for a, b in t.stretches)
    return aligned and all(c in pairs for c in t.checks)


class _Together:
    """Sizes that the trace takes to be equal."""

    def __init__(self, pairs: Iterable[tuple[Expr, Expr]]) -> None:
        self._same: dict[Expr, Expr] = {}
        for pair in pairs:
            a, b = map(self.of, pair)
            if a is not b and b is not ZERO:
                self._same[a] = b

    def of(self, n: Expr) -> Expr:
        """One of the sizes that are equal to this one."""
        while n in self._same:
            n = self._same[n]
        return n


def _is_full(a: SymArray, types: Iterable[Type], rank: int, together: _Together) -> bool:
    """Whether an array has the broadcast shape of all arguments."""
    if len(a.shape) != rank:
        return False
    for k, n in enumerate(a.shape):
        places = [(type, k - rank + len(type.shape)) for type in types]
        sizes = {type.shape[j] for type, j in places if j >= 0} - {ONE}
        if any(together.of(size) is not together.of(n) for size in sizes):
            return False
        if n is not ONE and not sizes:
            return False
    return any(n is not ONE for n in a.shape) or all(
        size is ONE for type in types for size in type.shape
    )


def _same_element(e: Expr, type: Type, rank: int) -> bool:
    """Whether an element is read at the place of the result's element."""
    offset = rank - len(type.shape)
    return all(
        i is SLOTS[k + offset] or (n is ONE and i is ZERO)
        for k, (i, n) in enumerate(zip(e.args[1:], type.shape, strict=True))
    )


__all__ = ["Numbers", "of_numbers", "only_stretches"]
