"""Would a processor wait for results of a kernel longer than it computes?

Before:  sin(cos(exp(x))) with errors: 600 operations, 160 of them in sequence
After:   yes; two registers at a time, it takes two thirds of the time for each

A fused multiplication takes four cycles, and two of them begin in each. A processor looks
some hundred operations ahead; where few of these are independent, a second register full of
elements gives it as many others.

Requires: lowered nodes.
Ensures: a guess from typical latencies of operations on registers of 512 bits.
"""

from __future__ import annotations

from collections.abc import Sequence

from symdiff.ir import ABS, DIV, HALF, NEG, POW, WHERE, Expr, topological

LEAST, MOST = 128, 1000
"""Fewest and most operations of kernels that are examined: of shorter ones, a processor sees several turns of
the loop at once, and longer ones would take twice as long to compile."""
_USUAL = 4, 0.5
_CYCLES = {NEG: (0, 0.0), ABS: (1, 0.5), WHERE: (2, 0.5), DIV: (24, 16.0), POW: (32, 24.0)}
"""Cycles until a result is there, and until the next operation of that kind may begin."""


def waits(roots: Sequence[Expr]) -> bool:
    """Whether the longest chain of operations takes longer than all of them would, one
    after another."""
    order = [n for n in topological(roots) if n.args]
    if not LEAST <= len(order) <= MOST or any(map(_calls, order)):
        return False
    ready: dict[Expr, int] = {}
    busy = 0.0
    for n in order:
        latency, step = _CYCLES.get(n.op, _USUAL)
        ready[n] = latency + max(ready.get(a, 0) for a in n.args)
        busy += step
    return max(ready.values()) > busy


def _calls(n: Expr) -> bool:
    """Whether a node is a call of the library, for one register at a time."""
    root = n.op is POW and n.args[1] is HALF
    return bool(n.op.libm) and not n.op.intrinsic and not root
