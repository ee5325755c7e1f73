"""Double-double functions as LLVM functions, and the calls of them (see `symdiff.lowering.double_double.pairs`).

On arrays they take and return SIMD registers; `_v8` in the symbol says of how many elements.
"""

from __future__ import annotations

import re
from typing import Any

from symdiff.codegen.llvm.printer import Lanes, Writer
from symdiff.ir import Expr, topological
from symdiff.lowering.double_double.pairs import FUNCTIONS, PARTS

_WIDTH = re.compile(r"_v(\d+)$")


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
