"""The processor's flags of floating-point exceptions (IEEE 754, section 7), in LLVM IR.

An x86 processor keeps them in MXCSR, with its modes. Reading them is a few instructions around
what may raise them, where `symdiff.codegen.llvm.jit.has_flags` says that there are any.
"""

from __future__ import annotations

from collections.abc import Sequence

DECLARED = """
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)
"""
PLACES = ("%old = alloca i32", "%now = alloca i32")
"""Of `watched`, to be defined before it."""


def watched(call: Sequence[str], flags: int) -> list[str]:
    """Instructions that clear all flags, run others, name those of the flags that they raised
    `%bits`, and put the flags back."""
    return [
        "call void @llvm.x86.sse.stmxcsr(ptr %old)",
        "%was = load i32, ptr %old",
        "%clear = and i32 %was, -64",
        "store i32 %clear, ptr %now",
        "call void @llvm.x86.sse.ldmxcsr(ptr %now)",
        *call,
        "call void @llvm.x86.sse.stmxcsr(ptr %now)",
        "call void @llvm.x86.sse.ldmxcsr(ptr %old)",
        "%is = load i32, ptr %now",
        f"%bits = and i32 %is, {flags}",
    ]


def unwatched(call: Sequence[str], mode: str) -> list[str]:
    """Instructions that run others whose flags are of no concern; `mode` is a place for an
    i32."""
    return [
        f"call void @llvm.x86.sse.stmxcsr(ptr {mode})",
        *call,
        f"call void @llvm.x86.sse.ldmxcsr(ptr {mode})",
    ]


__all__ = ["DECLARED", "PLACES", "unwatched", "watched"]
