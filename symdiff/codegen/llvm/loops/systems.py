"""Routines of linear algebra in a kernel: what is small or triangular is computed there.

The library computes what `symdiff.codegen.llvm.linear` leaves to it.
"""

from __future__ import annotations

from collections.abc import Sequence

from symdiff.codegen.llvm.linear import ROUTINES, declared, functions
from symdiff.codegen.llvm.loops.matmul import Products
from symdiff.codegen.llvm.loops.scoped import Stored
from symdiff.ir.loop_program import Call, name_of


class Systems(Products):
    """Prints linear systems, determinants and factors."""

    def asked(self, s: Call, record: str, results: Sequence[Stored | None]) -> str:
        if s.routine not in ROUTINES:
            return super().asked(s, record, results)
        for name, text in functions(s.routine, self.real, self.packed.lanes.width).items():
            if f"linear.{name}" not in self.once:
                self.once.add(f"linear.{name}")
                self.functions.append(text)
        for name, text in declared(self.real).items():
            self.scalars.declared.setdefault(name, text)
        given: list[str] = []
        at = 0
        for e in s.args:
            a = self.stored(name_of(e))
            sizes = [self.at_least_zero(n) for n in a.shape]
            at += 1 + len(sizes)
            columns = sizes[1:] or ["1"]
            given += [f"ptr {a.address}", f"i64 {sizes[0]}", *(f"i64 {n}" for n in columns)]
        for result, (_, t) in zip(results, s.results, strict=True):
            place = result.address if result is not None else self.word_of(record, at)
            given.append(f"ptr {place}")
            at += 1 + len(t.shape)
        status = self.variable("i32")
        done = self.fresh("i32")
        call = f"{done} = call i32 @linear.{s.routine}({', '.join(given)})"
        self.scope.lines += [*self.aside_of_flags(call), f"store i32 {done}, ptr {status}"]
        with self.branch(self.emit("i1", f"icmp ne i32 {done}, 0"), rarely=True):
            asked = super().asked(s, record, results)
            self.scope.lines.append(f"store i32 {asked}, ptr {status}")
        return self.emit("i32", f"load i32, ptr {status}")

    def word_of(self, record: str, k: int) -> str:
        """The address of a word of a record."""
        return self.emit("ptr", f"getelementptr i64, ptr {record}, i64 {k}")


__all__ = ["Systems"]
