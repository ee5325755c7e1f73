"""Names for what formulas share, where that makes their text shorter.

Before:  x/sqrt(x**2 + y**2 + z**2), y/sqrt(x**2 + y**2 + z**2), z/sqrt(x**2 + y**2 + z**2)
After:   t = sqrt(x**2 + y**2 + z**2); x/t, y/t, z/t

Requires: formulas as they are to be printed.
Ensures: definitions in order, each in terms of those before it; the formulas with the names put
back are those that came in, up to the order of terms and factors. Sums and products share parts
in whatever order they were written (`shared_parts`).
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from symdiff import ir
from symdiff.codegen.common.shared_parts import Parts, merged, replaced
from symdiff.ir import Expr
from symdiff.ir.formula_text import Formulas, tree_sizes

LONG = 60
"""A formula alone has no names if it has fewer operations."""
SAVED, SHARE = 20, 0.15
"""Characters that names must save, and which part of the text."""
MOST, SEVERAL, MOST_OF_ALL = 8, 3, 20
"""Names of one formula; another one for so many more formulas; names altogether."""
TRIED = 5
"""Parts that are tried for each name, those that save most."""
NAME, DEFINITION = 2, 6
"""Characters of a name, and of a definition in addition to its text."""
MAX_OPERATIONS = 20_000
"""Where formulas have more operations as trees, everything that is shared gets a name."""


def named(
    outputs: Sequence[Expr], taken: Iterable[str] = ()
) -> tuple[list[tuple[str, Expr]], tuple[Expr, ...]]:
    """Definitions, and the formulas in terms of them; none if that is not worth it. Names are
    none of those that are taken."""
    outputs = tuple(outputs)
    if max(tree_sizes(outputs).values(), default=0) > MAX_OPERATIONS:
        return _all_shared(outputs, set(taken))
    formulas = Formulas()
    total = sum(formulas.length(e) for e in outputs)
    if not outputs or total < (LONG if len(outputs) == 1 else 2 * len(outputs)):
        return [], outputs
    outputs = merged(outputs)
    start = length = sum(len(formulas.text(e)) for e in outputs)
    bodies: dict[Expr, Expr] = {}
    shown = outputs
    most = min(MOST + len(outputs) // SEVERAL, MOST_OF_ALL)
    while len(bodies) < most:
        found = _shortest(shown, bodies, length, formulas)
        if found is None:
            break
        shown, bodies, length = found
    if start - length < max(SAVED, SHARE * start):
        return [], outputs
    return _in_order(*_used(bodies, shown, formulas), set(taken))


def fewest(*choices: Sequence[Expr]) -> int:
    """The place of the formulas that take the fewest operations with names for what they share;
    of equal ones the shortest text, then the first."""
    formulas, costs = Formulas(), list[tuple[int, int, int]]()
    for k, outputs in enumerate(choices):
        if max(tree_sizes(outputs).values(), default=0) > MAX_OPERATIONS:
            return 0
        definitions, shown = named(outputs)
        made = [e for _, e in definitions] + list(shown)
        lengths = sum(len(formulas.text(e)) for e in made)
        costs.append((sum(map(formulas.length, made)), lengths, k))
    return min(costs)[2]


def put_back(
    outputs: Sequence[Expr], shorten: Callable[[Sequence[Expr]], Sequence[Expr]]
) -> tuple[Expr, ...]:
    """The formulas with what they share made shorter, each definition by itself."""
    definitions, shown = named(outputs)
    made = list(shorten([*(e for _, e in definitions), *shown]))
    known: dict[Expr, Expr] = {}
    for (name, _), e in zip(definitions, made, strict=False):
        (known[ir.var(name)],) = ir.substitute((e,), known)
    return ir.substitute(made[len(definitions) :], known)


def _letter(taken: set[str]) -> str:
    """A letter for names that no other name begins with, where that can be had: t0 beside the
    t1 and t2 of a user would be read as one of them."""
    for letter in "tsuvwqpz":
        if not any(re.fullmatch(rf"{letter}_?\d*", name) for name in taken):
            return letter
    return next(t for t in map("t{}_".format, itertools.count()) if not any(t in n for n in taken))


def _all_shared(
    outputs: tuple[Expr, ...], taken: set[str]
) -> tuple[list[tuple[str, Expr]], tuple[Expr, ...]]:
    """A name for every operation that is used more than once: the text is as long as the nodes
    are many."""
    order = ir.topological(outputs)
    uses = Counter(a for e in order for a in e.args)
    uses.update(outputs)
    taken |= {str(v.value) for v in ir.variables(outputs)}
    free = map(f"{_letter(taken)}{{}}".format, itertools.count())
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
    parts = Parts((*outputs, *bodies.values()))
    gains = []
    for part in parts.candidates():
        size = len(formulas.text(part.node))
        if formulas.length(part.node) and (uses := parts.count(part)) > 1:
            gains.append(((uses - 1) * (size - NAME) - NAME, formulas.text(part.node), part))
    name = ir.var(f"#{len(bodies)}")
    best = None
    for gain, _, part in sorted(gains, key=lambda g: (-g[0], g[1]))[:TRIED]:
        if gain <= 0:
            break
        made = replaced(parts.roots, part, name)
        if made == (name,):
            continue
        shown = made[: len(outputs)]
        inside = dict(zip(bodies, made[len(outputs) :], strict=True)) | {name: part.node}
        now = sum(len(formulas.text(f)) for f in shown)
        now += sum(len(formulas.text(f)) + DEFINITION for f in inside.values())
        if now < length:
            length, best = now, (shown, inside, now)
    return best


def _used(
    bodies: dict[Expr, Expr], outputs: tuple[Expr, ...], formulas: Formulas
) -> tuple[dict[Expr, Expr], tuple[Expr, ...]]:
    """Without the names that are others of the same, and those that later names left one use."""
    for name in list(bodies):
        texts = [formulas.text(e) for e in (*outputs, *bodies.values())]
        uses = sum(len(re.findall(rf"{name.value}(?!\d)", text)) for text in texts)
        if bodies[name].args and uses > 1:
            continue
        body = bodies.pop(name)
        made = ir.substitute((*outputs, *bodies.values()), {name: body})
        outputs = made[: len(outputs)]
        bodies = dict(zip(bodies, made[len(outputs) :], strict=True))
    return bodies, outputs


def _in_order(
    bodies: dict[Expr, Expr], outputs: tuple[Expr, ...], taken: set[str]
) -> tuple[list[tuple[str, Expr]], tuple[Expr, ...]]:
    """The definitions, what is used before what uses it, with names that are free."""
    order: list[Expr] = []
    while len(order) < len(bodies):
        order += [
            n
            for n, body in bodies.items()
            if n not in order and all(v in order for v in ir.variables((body,)) if v in bodies)
        ]
    taken |= {str(v.value) for v in ir.variables((*outputs, *bodies.values()))}
    t = _letter(taken)
    names = [t] if len(order) == 1 else [f"{t}{k}" for k in range(len(order))]
    known = {n: ir.var(t) for n, t in zip(order, names, strict=True)}
    made = ir.substitute((*outputs, *(bodies[n] for n in order)), known)
    count = len(outputs)
    return [(str(known[n].value), e) for n, e in zip(order, made[count:], strict=True)], made[
        :count
    ]
