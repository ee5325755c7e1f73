"""Calls of double-double functions, as operations of the DAG.

A kernel in double-double arithmetic is a DAG of doubles in which every operation
on pairs is a call of a function that is compiled once and shared by all kernels:

    {double, double} @symdiff_dd_exp(double %x_hi, double %x_lo)

In the DAG a call is two nodes, one for each part of the result, on the same
arguments; the printer makes one call of both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from symdiff.ir import ZERO, Op, raw, var
from symdiff.lowering.double_double import arithmetic as dd
from symdiff.lowering.double_double import functions as ddfunctions
from symdiff.lowering.double_double.arithmetic import Pair

SYMBOL = "symdiff_dd_{}"


@dataclass(frozen=True, slots=True)
class PairFunction:
    """A function of pairs: its symbol in object code, and the rule that defines it."""

    symbol: str
    arity: int
    build: Callable[..., Pair]

    def definition(self) -> tuple[list[str], Pair]:
        """Names of the doubles that it takes, and what it returns over them."""
        names = [f"{name}_{part}" for name in "xyz"[: self.arity] for part in ("hi", "lo")]
        nodes = [var(n) for n in names]
        pairs = [Pair(*nodes[k : k + 2]) for k in range(0, len(nodes), 2)]
        return names, self.build(*pairs)


PARTS: dict[Op, tuple[PairFunction, int]] = {}
"""What the ops of calls mean: the function, and which part of its result."""


class _Caller:
    """Builds calls of one function."""

    def __init__(self, name: str, arity: int, build: Callable[..., Pair]) -> None:
        self.function = PairFunction(SYMBOL.format(name), arity, build)
        self.ops = [Op(f"dd_{name}_{part}", 2 * arity) for part in ("hi", "lo")]
        PARTS.update({op: (self.function, k) for k, op in enumerate(self.ops)})

    def __call__(self, *pairs: Pair) -> Pair:
        args = tuple(part for pair in pairs for part in pair)
        return Pair(raw(self.ops[0], args), raw(self.ops[1], args))


_add, _mul = _Caller("add", 2, dd.add), _Caller("mul", 2, dd.mul)
div, sqrt = _Caller("div", 2, dd.div), _Caller("sqrt", 1, dd.sqrt)
TABLE: dict[Op, _Caller] = {
    op: _Caller(op.name, op.arity, rule.build) for op, rule in ddfunctions.RULES.items()
}
"""The call of each elementary function."""


def add(x: Pair, y: Pair) -> Pair:
    """A call, except for two doubles, where the sum is exact."""
    return dd.add(x, y) if x.lo is ZERO and y.lo is ZERO else _add(x, y)


def mul(x: Pair, y: Pair) -> Pair:
    """A call, except for two doubles, where the product is exact."""
    return dd.mul(x, y) if x.lo is ZERO and y.lo is ZERO else _mul(x, y)
