"""Loops whose formulas grow with each iteration: recurrences that are not affine, and early exits.

for _ in range(20):                      =>  kept: twenty times as many operations,
    x = x - (x**3 - a)/(3*x**2)              each a function of those before

for k in range(20):                      =>  unrolled: a sum
    s = s + a[k]*x**k
"""

from __future__ import annotations

from symdiff import ir
from symdiff.ir import TRUE, Expr, loop_program, plain
from symdiff.ir.loop_program import Loop

OPERATIONS = 200
"""The most operations of such loops when they are unrolled, with those that decide."""


def grows(loop: Loop) -> bool:
    """Whether a loop of known length is kept: unrolled, it is a long formula of formulas."""
    if loop.count is None or loop.count.op is not ir.CONST:
        return False
    made = [c.next for c in loop.carried]
    body = ir.topological([*made, *loop_program.expressions_in(loop.body)])
    if loop.count.value * sum(bool(e.args) for e in body) <= OPERATIONS:
        return False
    names = {ir.var(c.name) for c in loop.carried}
    return loop.condition is not TRUE or not _affine(made, names)


def _affine(made: list[Expr], names: set[Expr]) -> bool:
    """Whether expressions are affine in these names together."""
    degrees: dict[Expr, int] = {}
    for e in ir.topological(made):
        inner, op = [degrees[a] for a in e.args], plain.real_op(e.op)
        if e in names:
            degrees[e] = 1
        elif op in (ir.ADD, ir.SUB, ir.NEG):
            degrees[e] = max(inner)
        elif op is ir.MUL:
            degrees[e] = min(sum(inner), 2)
        elif op is ir.DIV and not inner[1]:
            degrees[e] = inner[0]
        else:
            degrees[e] = 2 * any(inner)
    return all(degrees[e] < 2 for e in made)
