"""Conditions of branches, as short as they get.

Before:  (k <= 0 or abs(k) >= 0) and x > 0, k > 0 or k == 0
After:   x > 0, k >= 0

A condition compares a few quantities with 0. All combinations of their signs are enumerated, and of
their being undefined, where they can be: then no comparison holds. The first of what is always
true or false, of one comparison, and of two that holds for the same combinations is taken.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations, product

from symdiff import ir
from symdiff.ir import ABS, AND, EQ, LE, LT, NEG, NOT, OR, SUB, Expr
from symdiff.ir.formula_text import text_of
from symdiff.ir.functions import ATAN, COS, EXP, EXTREMES, FLOOR, SIN, TANH
from symdiff.passes.analysis.signs import NEGATIVE, POSITIVE, ZERO_, Signs

MAX_QUANTITIES = 4
FEW = 7
"""Parts of a condition whose text is compared with that of a shorter one; one with more parts is longer."""
TOTAL = frozenset((ir.ADD, SUB, NEG, ir.MUL, ir.VAR, ir.CONST, ABS, ir.SIGN, *EXTREMES)) | {
    ir.WHERE,
    SIN, COS, TANH, ATAN, FLOOR, EXP
}  # fmt: skip
"""Operations that are defined for all numbers."""

_HOLDS: dict[ir.Op, Callable[[int], bool]] = {
    LT: lambda s: s > 0,
    LE: lambda s: s >= 0,
    EQ: lambda s: s == 0,
}
_SIGNS = ((NEGATIVE, -1), (ZERO_, 0), (POSITIVE, 1))
_State = tuple[int | None, ...]
_Place = tuple[int, int]
_Made = Callable[[], Expr]


def tidied(condition: Expr) -> Expr:
    """The condition without what is always true or false, and comparisons of one quantity as one."""
    nodes = [e for e in ir.topological((condition,)) if e.op.boolean]
    if not all(e.op in _HOLDS or e.op in (AND, OR, NOT, ir.BOOL) for e in nodes):
        return condition
    found: list[Expr] = []
    places: dict[Expr, _Place] = {}
    for e in nodes:
        if e.op in _HOLDS:
            places[e] = _place(ir.sub(e.args[1], e.args[0]), found)
        if len(found) > MAX_QUANTITIES:
            return condition
    if not found:
        return condition
    turned = [_is_turned(q, ir.neg(q)) for q in found]
    quantities = [ir.neg(q) if turn else q for q, turn in zip(found, turned, strict=True)]
    places = {e: (k, -sign if turned[k] else sign) for e, (k, sign) in places.items()}
    states = _states(quantities)
    wanted = _table(condition, states, places)
    for made, table in _shorter(quantities, states):
        if table == wanted:
            short = made()
            is_long = len(nodes) > FEW or len(text_of(short)) < len(text_of(condition))
            return short if is_long else condition
    return condition


def _place(q: Expr, found: list[Expr]) -> _Place:
    """The number of a quantity, which is added if it is new, and the sign with which it is there."""
    for sign, u in ((1, q), (-1, ir.neg(q))):
        if u in found:
            return found.index(u), sign
    found.append(q)
    return len(found) - 1, 1


def _is_turned(q: Expr, other: Expr) -> bool:
    """Whether the negative of a quantity is taken: that without a sign, or whose text is first."""
    return q.op is NEG or (other.op is not NEG and text_of(q) > text_of(other))


def _states(quantities: list[Expr]) -> list[_State]:
    """The combinations of signs of the quantities; None: undefined."""
    signs = Signs()
    ranges: list[list[int | None]] = []
    for q in quantities:
        found: list[int | None] = [s for bit, s in _SIGNS if signs.of(q) & bit]
        ranges.append(found if all_total((q,)) else [*found, None])
    states = list(product(*ranges))
    for i, q in enumerate(quantities):
        for u in (q.args[0], ir.neg(q.args[0])) if q.op is ABS else ():
            if u in quantities:
                j = quantities.index(u)
                states = [s for s in states if s[i] == (s[j] and abs(s[j] or 0))]
    return states


def _table(condition: Expr, states: list[_State], places: dict[Expr, _Place]) -> int:
    """The states in which a condition holds, a bit for each."""
    full = (1 << len(states)) - 1
    tables: dict[Expr, int] = {}
    for e in ir.topological((condition,)):
        if e.op is ir.BOOL:
            tables[e] = full if e.value else 0
        elif e.op is NOT:
            tables[e] = full ^ tables[e.args[0]]
        elif e.op is AND:
            tables[e] = tables[e.args[0]] & tables[e.args[1]]
        elif e.op is OR:
            tables[e] = tables[e.args[0]] | tables[e.args[1]]
        elif e.op in _HOLDS:
            k, sign = places[e]
            holds = _HOLDS[e.op]
            tables[e] = _where(states, k, holds if sign > 0 else partial(_turned, holds))
    return tables[condition]


def _turned(holds: Callable[[int], bool], sign: int) -> bool:
    return holds(-sign)


def _where(states: list[_State], k: int, holds: Callable[[int], bool]) -> int:
    """The states in which something holds of the sign of a quantity that is defined."""
    signs = [state[k] for state in states]
    return sum(1 << i for i, s in enumerate(signs) if s is not None and holds(s))


def _shorter(quantities: list[Expr], states: list[_State]) -> Iterator[tuple[_Made, int]]:
    """Conditions about some quantities, and the states in which they hold, the shortest first."""
    full = (1 << len(states)) - 1
    yield lambda: ir.TRUE, full
    yield lambda: ir.FALSE, 0
    atoms = list[tuple[Expr, int]]()
    for k, quantity in enumerate(quantities):
        a, b = _sides(quantity)
        below, zero, above = (_where(states, k, partial(operator.eq, s)) for s in (-1, 0, 1))
        atoms += (
            (ir.lt(a, b), below), (ir.le(a, b), below | zero), (ir.eq(a, b), zero),
            (ir.le(b, a), above | zero), (ir.lt(b, a), above), (ir.ne(a, b), full ^ zero),
        )  # fmt: skip
    for e, table in atoms:
        yield partial(_itself, e), table
    for (c, one), (d, other) in combinations(atoms, 2):
        yield partial(ir.and_, c, d), one & other
    for (c, one), (d, other) in combinations(atoms, 2):
        yield partial(ir.or_, c, d), one | other


def _sides(q: Expr) -> tuple[Expr, Expr]:
    """What is compared where a quantity is compared with 0: `x` with `-1` for `x + 1`."""
    if q.op is SUB:
        return q.args[0], q.args[1]
    number = next((a for a in q.args if q.op is ir.ADD and a.op is ir.CONST), None)
    return (q, ir.ZERO) if number is None else (q.args[q.args[0] is number], ir.neg(number))


def _itself(e: Expr) -> Expr:
    return e


def all_total(outputs: tuple[Expr, ...]) -> bool:
    """Whether formulas and conditions are defined for all numbers."""
    return all(
        n.op.boolean or n.op in TOTAL or (n.op is ir.POW and (ir.integer(n.args[1]) or 0) > 0)
        for n in ir.topological(outputs)
    )
