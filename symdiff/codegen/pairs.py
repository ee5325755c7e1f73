"""Calls of double-double functions, and their printing as LLVM functions.

A kernel in double-double arithmetic is a DAG of doubles in which every operation
on pairs is a call of a function that is compiled once and shared by all kernels:

    {double, double} @symdiff_dd_exp(double %x_hi, double %x_lo)

On arrays the same functions take and return SIMD registers; `_v8` in the symbol says
of how many elements.

In the DAG a call is two nodes, one for each part of the result, on the same
arguments; the printer makes one call of both.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from symdiff.codegen import ddfunctions
from symdiff.codegen import doubledouble as dd
from symdiff.codegen.doubledouble import Pair
from symdiff.codegen.llvm import Lanes, Writer
from symdiff.ir import ZERO, Expr, Op, raw, topological, var

SYMBOL = "symdiff_dd_{}"
_WIDTH = re.compile(r"_v(\d+)$")


@dataclass(frozen=True, slots=True)
class PairFunction:
    """A function of pairs: its symbol in object code, and the rule that defines it."""

    symbol: str
    arity: int
    build: Callable[..., Pair]

    def name(self, width: int) -> str:
        """Its symbol for several elements at a time."""
        return self.symbol if width == 1 else f"{self.symbol}_v{width}"

    def definition(self) -> tuple[list[str], Pair]:
        """Names of the doubles that it takes, and what it returns over them."""
        names = [f"{name}_{part}" for name in "xyz"[: self.arity] for part in ("hi", "lo")]
        nodes = [var(n) for n in names]
        pairs = [Pair(*nodes[k : k + 2]) for k in range(0, len(nodes), 2)]
        return names, self.build(*pairs)


FUNCTIONS: dict[str, PairFunction] = {}
"""Every double-double function by its symbol."""

PARTS: dict[Op, tuple[PairFunction, int]] = {}
"""What the ops of calls mean: the function, and which part of its result."""


class _Caller:
    """Builds calls of one function."""

    def __init__(self, name: str, arity: int, build: Callable[..., Pair]) -> None:
        self.function = PairFunction(SYMBOL.format(name), arity, build)
        FUNCTIONS[self.function.symbol] = self.function
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


class PairWriter(Writer):
    """Prints code with calls of double-double functions, for one element or several."""

    def __init__(self, lanes: Lanes) -> None:
        super().__init__("float64", lanes)
        self.pair = f"{{{self.value}, {self.value}}}"
        self.results: dict[tuple[Any, ...], str] = {}

    def chunk(self, *args: Any) -> list[str]:
        self.results = {}
        return super().chunk(*args)

    def operation(self, e: Expr) -> list[str]:
        name = self.names[e]
        if e.op not in PARTS:
            return super().operation(e)
        function, part = PARTS[e.op]
        key = (function, *e.args)
        lines = []
        if key not in self.results:
            result = self.results[key] = f"{name}.pair"
            symbol = function.name(self.lanes.width)
            args = ", ".join(f"{self.value} {self.operand(a)}" for a in e.args)
            lines.append(f"{result} = call {self.pair} @{symbol}({args}) #1")
            kinds = ", ".join([self.value] * len(e.args))
            self.declared[symbol] = f"declare {self.pair} @{symbol}({kinds}) #1"
        lines.append(f"{name} = extractvalue {self.pair} {self.results[key]}, {part}")
        return lines


def print_function(symbol: str, lanes: Lanes) -> str:
    """A module that defines one double-double function, named as in calls of it."""
    function = FUNCTIONS[_WIDTH.sub("", symbol)]
    names, result = function.definition()
    writer = PairWriter(lanes)
    kind, pair = writer.value, writer.pair
    entry = [f"%args = alloca [{len(names)} x {kind}]"]
    for k, name in enumerate(names):
        writer.inputs[name] = f"getelementptr {kind}, ptr %args, i64 {k}"
        entry.append(f"%a{k} = getelementptr {kind}, ptr %args, i64 {k}")
        entry.append(f"store {kind} %{name}, ptr %a{k}")
    order = [e for e in topological(result) if e.args]
    lines = writer.chunk(order, [], {}, {})
    params = ", ".join(f"{kind} %{n}" for n in names)
    return writer.module(
        [
            f"define {pair} @{symbol}({params}) #1 {{",
            *entry,
            *lines,
            f"%r0 = insertvalue {pair} poison, {kind} {writer.operand(result.hi)}, 0",
            f"%r1 = insertvalue {pair} %r0, {kind} {writer.operand(result.lo)}, 1",
            f"ret {pair} %r1",
            "}",
        ]
    )


def width_of(symbol: str) -> int:
    """How many elements a double-double function computes at a time."""
    found = _WIDTH.search(symbol)
    return int(found[1]) if found else 1
