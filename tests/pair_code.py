"""Double-double arithmetic as machine code of this processor, so that the rules for devices and modules can be tested.

On devices it is C++ (`codegen/cuda/printer.py`), in modules Python (`codegen/source/modules/kernels.py`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from symdiff.codegen.llvm import jit
from symdiff.codegen.llvm.printer import Lanes, Writer, print_point
from symdiff.ir import Expr, topological
from symdiff.lowering.double_double.pairs import PARTS, PairFunction
from symdiff.pipeline.lowered.scalar import LoweredFunction
from symdiff.runtime.scalar.compiled import link

_provided: dict[str, jit.Linked] = {}


class PairWriter(Writer):
    """Prints code with calls of double-double functions, for one element."""

    def __init__(self) -> None:
        super().__init__("float64", Lanes())
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
            _provide(function)
            args = ", ".join(f"{self.value} {self.operand(a)}" for a in e.args)
            lines.append(f"{result} = call {self.pair} @{function.symbol}({args}) #1")
            kinds = ", ".join([self.value] * len(e.args))
            self.declared[function.symbol] = f"declare {self.pair} @{function.symbol}({kinds}) #1"
        lines.append(f"{name} = extractvalue {self.pair} {self.results[key]}, {part}")
        return lines


def _provide(function: PairFunction) -> None:
    """Compile a function, for others to call."""
    if function.symbol not in _provided:
        linked = compiled(function)
        jit.define_symbol(function.symbol, linked.address(function.symbol))
        _provided[function.symbol] = linked


def compiled(function: PairFunction) -> jit.Linked:
    """The machine code of one function, under its symbol."""
    return link("test " + function.symbol, lambda: _text(function), False)


def _text(function: PairFunction) -> str:
    names, result = function.definition()
    writer = PairWriter()
    kind, pair = writer.value, writer.pair
    entry = [f"%args = alloca [{len(names)} x {kind}]"]
    for k, name in enumerate(names):
        writer.inputs[name] = f"getelementptr {kind}, ptr %args, i64 {k}"
        entry.append(f"%a{k} = getelementptr {kind}, ptr %args, i64 {k}")
        entry.append(f"store {kind} %{name}, ptr %a{k}")
    lines = writer.chunk([e for e in topological(result) if e.args], [], {}, {})
    params = ", ".join(f"{kind} %{n}" for n in names)
    return writer.module(
        [
            f"define {pair} @{function.symbol}({params}) #1 {{",
            *entry,
            *lines,
            f"%r0 = insertvalue {pair} poison, {kind} {writer.operand(result.hi)}, 0",
            f"%r1 = insertvalue {pair} %r0, {kind} {writer.operand(result.lo)}, 1",
            f"ret {pair} %r1",
            "}",
        ]
    )


class Wide:
    """Some outputs in double-double arithmetic, at points."""

    def __init__(self, outputs: Sequence[Expr], params: Sequence[str] = ("x", "y")) -> None:
        outputs = tuple(outputs)
        tier = LoweredFunction("f", tuple(params), outputs, outputs, keep=False).double_double()
        text = print_point(tuple(params), tier.outputs, tier.test, "float64", writer=PairWriter())
        self.linked = link(f"wide {text}", lambda: text, False)
        self.inputs, self.outputs = len(params), len(outputs)
        kind = ctypes.CFUNCTYPE(ctypes.c_uint8, ctypes.c_void_p, ctypes.c_void_p)
        self._point = kind(self.linked.address("point"))

    def evaluate(self, values: Sequence[float]) -> tuple[list[float], bool]:
        """The outputs, and whether they are flagged."""
        given = (ctypes.c_double * max(1, self.inputs))(*values)
        results = (ctypes.c_double * max(1, self.outputs))()
        flag = self._point(ctypes.addressof(given), ctypes.addressof(results))
        return list(results), bool(flag)
