"""Numbers that loops carry twice, for decisions and for values, carried once.

Before:  while t_plain < T: t, t_plain = t + dt, plain:add(t_plain, dt); s = s + exp(t)
After:   while t_plain < T: t_plain = plain:add(t_plain, dt); s = s + exp(t_plain)

A loop carries a number that decides something in plain arithmetic (`symdiff.ir.plain`), and in real arithmetic
for what is computed of it. In double arithmetic the two are one number if they are the same operations.

Requires: a program to be computed in doubles, whose formulas may be rounded in any way.
Ensures: the same decisions; values rounded as plain Python rounds them.
"""

from __future__ import annotations

import re
from dataclasses import replace

from symdiff.ir import Expr, substitute, var
from symdiff.ir.loop_program import Carried, Loop, LoopProgram, mapped_block, walk
from symdiff.ir.plain import Reading
from symdiff.ir.prune import pruned

_SUFFIX = re.compile(r"(_\d+)+$")


def without_twins(program: LoopProgram) -> LoopProgram:
    """The program without numbers whose plain twins are the same operations."""
    pairs = [p for s in walk(program.block) if isinstance(s, Loop) for p in _pairs(s)]
    while pairs:
        reading = Reading()
        for c, twin in pairs:
            reading.known[var(c.name)] = var(twin.name)
            reading.known[var(c.result)] = var(twin.result)
        alike = [
            (c, twin)
            for c, twin in pairs
            if reading.of(c.init) is twin.init and reading.of(c.next) is twin.next
        ]
        if len(alike) == len(pairs):
            break
        pairs = alike
    if not pairs:
        return program
    new: dict[Expr, Expr] = {}
    for c, twin in pairs:
        new |= {var(c.name): var(twin.name), var(c.result): var(twin.result)}

    def one(e: Expr) -> Expr:
        return substitute((e,), new)[0]

    outputs = tuple(map(one, program.outputs))
    block = pruned(mapped_block(program.block, one), outputs)
    return replace(program, block=block, outputs=outputs)


def _pairs(s: Loop) -> list[tuple[Carried, Carried]]:
    """The numbers of a loop that may be alike: those with the name of a twin."""
    real = [c for c in s.carried if not c.type.shape and c.type.kind == "f"]
    if len(real) < 2:
        return []
    twins = {_SUFFIX.sub("", c.name): c for c in real}
    found = []
    for c in real:
        twin = twins.get(_SUFFIX.sub("", c.name) + "_plain")
        if twin is not None and twin is not c:
            found.append((c, twin))
    return found
