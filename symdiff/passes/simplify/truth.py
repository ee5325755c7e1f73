"""Conditions of branches, as short as they get.

Before:  (k <= 0 or abs(k) >= 0) and x > 0, k > 0 or k == 0
After:   x > 0, k >= 0

A condition compares a few quantities with 0. The search tries all combinations of their signs, and
of being undefined, where that is possible: then no comparison holds. It takes the first of these
that holds for the same combinations: a constant, one comparison, two comparisons.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

from symdiff import ir
from symdiff.ir import ABS, AND, EQ, LE, LT, NEG, NOT, OR, SUB, Expr
from symdiff.ir.formula_text import text_of
from symdiff.ir.functions import ATAN, COS, EXP, EXTREMES, FLOOR, SIN, TANH
from symdiff.passes.analysis.signs import NEGATIVE, POSITIVE, ZERO_, Signs

MAX_QUANTITIES = 4
TOTAL = frozenset((ir.ADD, SUB, NEG, ir.MUL, ir.VAR, ir.CONST, ABS, ir.SIGN, *EXTREMES)) | {
    ir.WHERE,
    SIN, COS, TANH, ATAN, FLOOR, EXP
}  # fmt: skip
"""Operations that are defined for all numbers."""

_HOLDS = {LT: lambda s: s > 0, LE: lambda s: s >= 0, EQ: lambda s: s == 0}
_SIGNS = ((NEGATIVE, -1), (ZERO_, 0), (POSITIVE, 1))
_State = dict[Expr, int | None]


def tidied(condition: Expr) -> Expr:
    """The condition with constant parts removed, and comparisons of one quantity combined."""
    nodes = ir.topological((condition,))
    quantities = list(dict.fromkeys(_quantity(e)[0] for e in nodes if e.op in _HOLDS))
    known = all(e.op in _HOLDS or e.op in (AND, OR, NOT, ir.BOOL) for e in nodes if e.op.boolean)
    if not (known and 0 < len(quantities) <= MAX_QUANTITIES):
        return condition
    states = _states(quantities)
    wanted = [_holds(condition, state) for state in states]
    for made in _shorter(quantities):
        if [_holds(made, state) for state in states] == wanted:
            return made if len(text_of(made)) < len(text_of(condition)) else condition
    return condition


def _quantity(comparison: Expr) -> tuple[Expr, int]:
    """The quantity compared with 0 and its sign; one of a quantity and its negative."""
    q = ir.sub(comparison.args[1], comparison.args[0])
    other = ir.neg(q)
    plain = q.op is not NEG and (other.op is NEG or text_of(q) <= text_of(other))
    return (q, 1) if plain else (other, -1)


def _states(quantities: list[Expr]) -> list[_State]:
    signs = Signs()
    ranges: list[list[int | None]] = []
    for q in quantities:
        found: list[int | None] = [s for bit, s in _SIGNS if signs.of(q) & bit]
        ranges.append(found if all_total((q,)) else [*found, None])
    states = [dict(zip(quantities, state, strict=True)) for state in product(*ranges)]
    for q in quantities:
        for u in (q.args[0], ir.neg(q.args[0])) if q.op is ABS else ():
            states = [s for s in states if u not in s or s[q] == (s[u] and abs(s[u] or 0))]
    return states


def _holds(e: Expr, state: _State) -> bool:
    if e.op is ir.BOOL:
        return bool(e.value)
    if e.op is NOT:
        return not _holds(e.args[0], state)
    if e.op in (AND, OR):
        return (all if e.op is AND else any)(_holds(a, state) for a in e.args)
    q, sign = _quantity(e)
    found = state[q]
    return found is not None and _HOLDS[e.op](sign * found)


def _shorter(quantities: list[Expr]) -> Iterator[Expr]:
    """Conditions about some quantities, the shortest first."""
    yield from (ir.TRUE, ir.FALSE)
    atoms = list[Expr]()
    for q in quantities:
        a, b = q.args if q.op is SUB else (q, ir.ZERO)
        atoms += (ir.lt(a, b), ir.le(a, b), ir.eq(a, b), ir.le(b, a), ir.lt(b, a), ir.ne(a, b))
    yield from atoms
    for join in (ir.and_, ir.or_):
        yield from (join(*pair) for pair in combinations(atoms, 2))


def all_total(outputs: tuple[Expr, ...]) -> bool:
    """Whether formulas and conditions are defined for all numbers."""
    return all(
        n.op.boolean or n.op in TOTAL or (n.op is ir.POW and (ir.integer(n.args[1]) or 0) > 0)
        for n in ir.topological(outputs)
    )
