"""Names for what formulas share, where that makes their text shorter.

Before:  x/sqrt(x**2 + y**2 + z**2), y/sqrt(x**2 + y**2 + z**2), z/sqrt(x**2 + y**2 + z**2)
After:   t = sqrt(x**2 + y**2 + z**2); x/t, y/t, z/t

Requires: formulas as they are to be printed.
Ensures: definitions in order, each in terms of those before it; the formulas with the names put
back are those that came in.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence

from symdiff import ir
from symdiff.ir import Expr
from symdiff.ir.formula_text import Formulas, tree_sizes

LONG = 60
"""A formula alone has no names if it has fewer operations."""
SAVED, SHARE = 20, 0.15
"""Characters that names must save, and which part of the text."""
MOST, TRIALS = 8, 16
"""Names, and parts that are tried as such."""
MAX_OPERATIONS = 20_000
"""Where formulas have more operations as trees, everything that is shared gets a name."""


def named(outputs: Sequence[Expr]) -> tuple[list[tuple[str, Expr]], tuple[Expr, ...]]:
    """Definitions, and the formulas in terms of them; none if that is not worth it."""
    outputs = tuple(outputs)
    if max(tree_sizes(outputs).values(), default=0) > MAX_OPERATIONS:
        return _all_shared(outputs)
    formulas = Formulas()
    total = sum(formulas.length(e) for e in outputs)
    if not outputs or total < (LONG if len(outputs) == 1 else 2 * len(outputs)):
        return [], outputs
    start = length = sum(len(formulas.text(e)) for e in outputs)
    bodies: dict[Expr, Expr] = {}
    shown = outputs
    for _ in range(TRIALS):
        found = _shortest(shown, bodies, length, formulas)
        if found is None or len(bodies) == MOST:
            break
        shown, bodies, length = found
    if start - length < max(SAVED, SHARE * start):
        return [], outputs
    return _in_order(bodies, shown)


def _all_shared(
    outputs: tuple[Expr, ...],
) -> tuple[list[tuple[str, Expr]], tuple[Expr, ...]]:
    """A name for every operation that is used more than once: the text is as long as the nodes
    are many."""
    order = ir.topological(outputs)
    uses = Counter(a for e in order for a in e.args)
    uses.update(outputs)
    taken = {str(v.value) for v in ir.variables(outputs)}
    free = (t for t in map("t{}".format, itertools.count()) if t not in taken)
    definitions: list[tuple[str, Expr]] = []
    made: dict[Expr, Expr] = {}
    for e in order:
        body = ir.rebuild(e, tuple(made[a] for a in e.args)) if e.args else e
        if body.args and not e.op.boolean and uses[e] > 1:
            name = next(free)
            definitions.append((name, body))
            body = ir.var(name)
        made[e] = body
    return definitions, tuple(made[e] for e in outputs)


def _shortest(
    outputs: tuple[Expr, ...], bodies: dict[Expr, Expr], length: int, formulas: Formulas
) -> tuple[tuple[Expr, ...], dict[Expr, Expr], int] | None:
    """With one more name, if there is one that makes the text shorter."""
    roots = (*outputs, *bodies.values())
    uses: dict[Expr, int] = {}
    order = ir.topological(roots)
    for e in roots:
        uses[e] = uses.get(e, 0) + 1
    for e in reversed(order):
        for a in e.args:
            uses[a] = uses.get(a, 0) + uses[e]
    gains = sorted(
        (
            ((uses[e] - 1) * len(formulas.text(e)), formulas.text(e), e)
            for e in order
            if e.args and not e.op.boolean and uses[e] > 1 and formulas.length(e) > 1
        ),
        key=lambda g: (-g[0], g[1]),
    )
    name = ir.var(f"#{len(bodies)}")
    best = None
    for _, _, e in gains[:4]:
        made = ir.substitute(roots, {e: name})
        if name in made:
            continue
        shown = made[: len(outputs)]
        inside = dict(zip(bodies, made[len(outputs) :], strict=True)) | {name: e}
        now = sum(len(formulas.text(f)) for f in shown)
        now += sum(len(formulas.text(f)) + 6 for f in inside.values())
        if now < length:
            length, best = now, (shown, inside, now)
    return best


def _in_order(
    bodies: dict[Expr, Expr], outputs: tuple[Expr, ...]
) -> tuple[list[tuple[str, Expr]], tuple[Expr, ...]]:
    """The definitions, what is used before what uses it, with names that are free."""
    order: list[Expr] = []
    while len(order) < len(bodies):
        order += [
            n
            for n, body in bodies.items()
            if n not in order and all(v in order for v in ir.variables((body,)) if v in bodies)
        ]
    taken = {str(v.value) for v in ir.variables((*outputs, *bodies.values()))}
    free = [t for t in ("t", *(f"t{k}" for k in range(2 * MOST + len(taken)))) if t not in taken]
    names = free[:1] if len(order) == 1 and free[0] == "t" else [t for t in free if t != "t"]
    known = {n: ir.var(t) for n, t in zip(order, names, strict=False)}
    made = ir.substitute((*outputs, *(bodies[n] for n in order)), known)
    count = len(outputs)
    return [(str(known[n].value), e) for n, e in zip(order, made[count:], strict=True)], made[
        :count
    ]
