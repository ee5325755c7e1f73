"""Which numbers of a program with arrays and loops are never negative.

Before:  for i: s = s + x[i]*x[i]
After:   {"s"}

Requires: the statements of a program.
Ensures: the names of numbers that loops carry, of their tapes, and of arrays that are built, whose
computed values are never negative. They may be nan.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from symdiff import ir
from symdiff.ir import VAR, ZERO, Expr
from symdiff.ir.inductive import inductive, made_of
from symdiff.ir.loop_program import ARRAY, LOAD, REAL, Block, name_of
from symdiff.passes.analysis.signs import NEGATIVE, Signs


def never_negative(block: Block) -> frozenset[str]:
    """The names: all of them that no expression shows to be negative, if the others are not."""
    values = made_of(block, lambda t: t == REAL or (t.kind == "f" and bool(t.shape)))
    return frozenset(inductive(values, lambda e, found: not Signed(found).may_be_negative(e)))


class Signed:
    """Signs of expressions in which some names are never negative."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = frozenset(names)

    def may_be_negative(self, e: Expr) -> bool:
        elements = [n for n in ir.topological((e,)) if n.op is LOAD]
        named = {n: ir.var(f"element {k}") for k, n in enumerate(elements)}
        (e,) = ir.substitute((e,), named)
        return bool(self.over({v: n for n, v in named.items()}, (e,)).of(e) & NEGATIVE)

    def over(self, leaves: Mapping[Expr, Expr], outputs: tuple[Expr, ...]) -> Signs:
        """The signs of expressions over variables, some of which denote elements."""
        inside = ir.variables(outputs)
        return Signs(ir.le(ZERO, v) for v in inside if self._is(leaves.get(v, v)))

    def _is(self, leaf: Expr) -> bool:
        whole = leaf.args[0] if leaf.op is LOAD else leaf
        return whole.op in (VAR, ARRAY) and name_of(whole) in self.names
