"""Kernels that let themselves be interrupted, in LLVM IR.

Python notes a signal such as Ctrl-C, and handles it when the main thread runs Python again. A
kernel may run for hours, so it counts its iterations, weighted with the operations in them, and
asks Python now and then. If the handler raises an error the kernel stops; the error waits in a
table, as a kernel runs outside of Python.

A run that is made beside the plain one, to measure it, may take other decisions, and need not end: loops
that end by a condition count down the table's last word, and stop when it is used up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from symdiff.ir import Expr, topological

API = ("PyGILState_Ensure", "PyErr_CheckSignals", "PyErr_Fetch", "PyErr_NormalizeException",
       "PyGILState_Release")  # fmt: skip
"""The addresses at the start of the table."""
ERROR = ("type", "value", "traceback")
"""What follows them: the error that was raised, or zeros."""
LEFT = len(API) + len(ERROR)
"""The place of the word behind them: how many more times `watch` may be called."""
PATIENCE = 2**26
"""Operations between two questions: some hundredths of a second."""
WATCHED = 6
"""Binary logarithm of the calls of `watch` for one question; they are as many times as frequent."""
FUNCTION = 20
"""Operations that a function such as a sine is worth."""
FEWEST, MOST = 10, 24
"""Binary logarithms of the iterations between two questions."""

POLL = """
define internal i32 @poll(ptr %signals) noinline cold #1 {
  %there = icmp ne ptr %signals, null
  br i1 %there, label %ask, label %on
ask:
  %ensure = load ptr, ptr %signals
  %check.p = getelementptr ptr, ptr %signals, i64 1
  %check = load ptr, ptr %check.p
  %fetch.p = getelementptr ptr, ptr %signals, i64 2
  %fetch = load ptr, ptr %fetch.p
  %normalize.p = getelementptr ptr, ptr %signals, i64 3
  %normalize = load ptr, ptr %normalize.p
  %release.p = getelementptr ptr, ptr %signals, i64 4
  %release = load ptr, ptr %release.p
  %state = call i32 %ensure()
  %raised = call i32 %check()
  %quiet = icmp eq i32 %raised, 0
  br i1 %quiet, label %go, label %stop
stop:
  %type = getelementptr ptr, ptr %signals, i64 5
  %value = getelementptr ptr, ptr %signals, i64 6
  %trace = getelementptr ptr, ptr %signals, i64 7
  call void %fetch(ptr %type, ptr %value, ptr %trace)
  call void %normalize(ptr %type, ptr %value, ptr %trace)
  br label %go
go:
  call void %release(i32 %state)
  ret i32 %raised
on:
  ret i32 0
}
"""
"""Asks whether a signal has been handled with an error; 0 if not."""
WATCH = f"""
define internal i32 @watch(ptr %signals) noinline cold #1 {{
  %there = icmp ne ptr %signals, null
  br i1 %there, label %count, label %on
count:
  %left.p = getelementptr i64, ptr %signals, i64 {LEFT}
  %before = load i64, ptr %left.p
  %left = sub i64 %before, 1
  store i64 %left, ptr %left.p
  %some = icmp sge i64 %left, 0
  br i1 %some, label %maybe, label %stop
maybe:
  %turn = and i64 %left, {2**WATCHED - 1}
  %now = icmp eq i64 %turn, 0
  br i1 %now, label %ask, label %on
ask:
  %raised = call i32 @poll(ptr %signals)
  ret i32 %raised
stop:
  ret i32 1
on:
  ret i32 0
}}
"""
"""Counts down; not 0 if nothing is left, or a signal has been handled with an error."""


def weight(roots: Sequence[Expr]) -> int:
    """About how many operations expressions take."""
    return 1 + sum(FUNCTION if n.op.libm else 1 for n in topological(roots) if n.args)


def period(operations: int, patience: int = PATIENCE) -> int:
    """After how many iterations of so many operations to ask, a power of 2."""
    return 1 << min(MOST, max(FEWEST, int(math.log2(patience / operations))))
