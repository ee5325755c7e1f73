"""Properties of names by induction: they hold for a name if they hold for all names in its definition.

Before:  s = 0; for i in range(n): s = s + x[i]**2
After:   s is a sum of squares, as 0 is one and `s + x[i]**2` is one where s is
"""

from __future__ import annotations

from collections.abc import Callable

from symdiff.ir import Expr
from symdiff.ir.loop_program import Block, Build, Call, Loop, Type, Update, array, walk


def made_of(
    block: Block, typed: Callable[[Type], bool] = lambda t: True, calls: bool = False
) -> dict[str, list[Expr]]:
    """The expressions of the values of each name; those of a tape, and of names restored from it,
    are the saved ones.

    Parameters
    ----------
    typed : which types of values count.
    calls : whether results of routines do, which depend on their arguments.
    """
    made: dict[str, list[Expr]] = {}
    for s in walk(block):
        match s:
            case Build() if typed(s.type):
                made[s.name] = [s.value]
            case Update() if typed(s.type):
                made[s.name] = [array(s.source, s.type.kind), s.value]
            case Loop():
                for c in s.carried:
                    if typed(c.type):
                        made[c.name] = made[c.result] = [c.init, c.next]
                for v in s.saves:
                    if typed(v.type):
                        made.setdefault(v.tape, []).append(v.value)
                for r in s.restores:
                    if typed(r.type):
                        made[r.name] = made.setdefault(r.tape, [])
            case Call() if calls:
                made |= {n: list(s.args) for n, t in s.results if typed(t)}
    return {n: values for n, values in made.items() if values}


def inductive(made: dict[str, list[Expr]], holds: Callable[[Expr, set[str]], bool]) -> set[str]:
    """The names with a property that holds for a definition if it holds for the names in it."""
    found = set(made)
    while wrong := {n for n in found if not all(holds(e, found) for e in made[n])}:
        found -= wrong
    return found


__all__ = ["inductive", "made_of"]
