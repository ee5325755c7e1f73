"""Conditions of branches, as short as they get.

Before:  (k <= 0 or abs(k) >= 0) and x > 0, k > 0 or k == 0
After:   x > 0, k >= 0

A condition compares a few quantities with 0. All combinations of their signs are enumerated, and of
their being undefined, where they can be: then no comparison holds.
"""

from __future__ import annotations

from itertools import product

from symdiff import ir
from symdiff.ir import ABS, AND, EQ, LE, LT, NEG, NOT, OR, SUB, Expr
from symdiff.ir.functions import ATAN, COS, EXP, EXTREMES, FLOOR, SIN, TANH
from symdiff.passes.analysis.signs import NEGATIVE, POSITIVE, ZERO_, Signs

MAX_QUANTITIES = 4
MAX_PARTS = 64
"""Longer conditions, as they are written, stay: their parts are tried one by one."""
TOTAL = frozenset((ir.ADD, SUB, NEG, ir.MUL, ir.VAR, ir.CONST, ABS, ir.SIGN, *EXTREMES)) | {
    SIN, COS, TANH, ATAN, FLOOR, EXP
}  # fmt: skip
"""Operations that are defined for all numbers."""

_HOLDS = {LT: lambda s: s > 0, LE: lambda s: s >= 0, EQ: lambda s: s == 0}
_SIGNS = ((NEGATIVE, -1), (ZERO_, 0), (POSITIVE, 1))
_State = tuple[int | None, ...]


def tidied(condition: Expr) -> Expr:
    """The condition without what is always true or false, and comparisons of one quantity as one."""
    work = _Conditions(condition)
    if not 0 < len(work.quantities) <= MAX_QUANTITIES or _written(condition) > MAX_PARTS:
        return condition
    return work.shortest(_once(condition))


def _written(condition: Expr) -> int:
    """The number of comparisons and connectives in the text of a condition."""
    parts: dict[Expr, int] = {}
    for e in ir.topological((condition,)):
        parts[e] = int(e.op.boolean) + sum(parts[a] for a in e.args if a.op.boolean)
    return parts[condition]


class _Conditions:
    def __init__(self, condition: Expr) -> None:
        self.quantities: dict[Expr, int] = {}
        self.atoms: dict[Expr, tuple[int, int]] = {}
        for node in ir.topological((condition,)):
            if node.op in _HOLDS:
                q, sign = _quantity(ir.sub(node.args[1], node.args[0]))
                if q not in self.quantities and ir.neg(q) in self.quantities:
                    q, sign = ir.neg(q), -sign
                self.atoms[node] = self.quantities.setdefault(q, len(self.quantities)), sign
        self.states = self._states() if len(self.quantities) <= MAX_QUANTITIES else []

    def _states(self) -> list[_State]:
        signs = Signs()
        ranges: list[list[int | None]] = []
        for q in self.quantities:
            found: list[int | None] = [s for bit, s in _SIGNS if signs.of(q) & bit]
            if any(not _total(n) for n in ir.topological((q,))):
                found.append(None)
            ranges.append(found)
        pairs = [
            (i, j)
            for q, i in self.quantities.items()
            if q.op is ABS
            for u, j in self.quantities.items()
            if u is q.args[0] or u is ir.neg(q.args[0])
        ]
        return [
            state
            for state in product(*ranges)
            if all(state[i] == (None if (s := state[j]) is None else abs(s)) for i, j in pairs)
        ]

    def table(self, condition: Expr) -> list[bool]:
        """Whether the condition holds, for each combination of signs."""
        return [self._holds(condition, state) for state in self.states]

    def _holds(self, e: Expr, state: _State) -> bool:
        if e.op is ir.BOOL:
            return bool(e.value)
        if e.op is NOT:
            return not self._holds(e.args[0], state)
        if e.op is AND:
            return all(self._holds(a, state) for a in e.args)
        if e.op is OR:
            return any(self._holds(a, state) for a in e.args)
        at, sign = self.atoms[e]
        found = state[at]
        return found is not None and _HOLDS[e.op](sign * found)

    def shortest(self, condition: Expr) -> Expr:
        """The condition with as many of its parts left out as can be."""
        if any(n.op.boolean and not self._known(n) for n in _parts(condition)):
            return condition
        wanted = self.table(condition)
        for value in (True, False):
            if all(held is value for held in wanted):
                return ir.boolean(value)
        changed = True
        while changed:
            changed = False
            for part in _parts(condition):
                for other in (ir.TRUE, ir.FALSE, self._joined(part)):
                    if other is None or other is part:
                        continue
                    made = _replaced(condition, part, other)
                    if _size(made) < _size(condition) and self.table(made) == wanted:
                        condition, changed = made, True
                        break
                if changed:
                    break
        return condition

    def _known(self, e: Expr) -> bool:
        return e in self.atoms or e.op in (AND, OR, NOT, ir.BOOL)

    def _joined(self, e: Expr) -> Expr | None:
        """Comparisons of one quantity as one comparison."""
        used = {self.atoms[n][0] for n in _parts(e) if n in self.atoms}
        if e.op not in (AND, OR) or len(used) != 1:
            return None
        (at,) = used
        held = {state[at] for state, h in zip(self.states, self.table(e), strict=True) if h}
        if None in held:
            return None
        q = next(q for q, i in self.quantities.items() if i == at)
        left, right = q.args if q.op is SUB else (q, ir.ZERO)
        all_signs = {state[at] for state in self.states}
        for signs, made in (
            ({-1}, ir.lt(left, right)), ({-1, 0}, ir.le(left, right)), ({0}, ir.eq(left, right)),
            ({0, 1}, ir.le(right, left)), ({1}, ir.lt(right, left)), ({-1, 1}, ir.ne(left, right)),
        ):  # fmt: skip
            if signs & all_signs == held and None not in all_signs:
                atom = made.args[0] if made.op is NOT else made
                self.atoms[atom] = at, -1 if signs <= {-1, 0} and signs != {0} else 1
                return made
        return None


def _quantity(q: Expr) -> tuple[Expr, int]:
    return (q.args[0], -1) if q.op is NEG else (q, 1)


def is_total(condition: Expr) -> bool:
    """Whether what a condition compares is defined for all numbers."""
    return all(n.op.boolean or _total(n) for n in ir.topological((condition,)))


def _total(e: Expr) -> bool:
    if e.op is ir.POW:
        n = ir.integer(e.args[1])
        return n is not None and n > 0
    return e.op in TOTAL


def _parts(e: Expr) -> list[Expr]:
    """The conditions that a condition is made of, the largest first."""
    found = {e: None}
    for part in found.copy() if e.op not in (AND, OR, NOT) else e.args:
        if part is not e:
            found |= dict.fromkeys(_parts(part))
    return list(found)


def _once(e: Expr) -> Expr:
    """The same without repeated members of conjunctions and of alternatives."""
    if e.op is NOT:
        return ir.rebuild(e, (_once(e.args[0]),))
    if e.op not in (AND, OR):
        return e
    members: dict[Expr, None] = {}
    stack = [e]
    while stack:
        node = stack.pop()
        if node.op is e.op:
            stack += node.args[::-1]
        else:
            members[_once(node)] = None
    first, *rest = members
    for member in rest:
        first = ir.apply(e.op, first, member)
    return first


def _replaced(e: Expr, part: Expr, other: Expr) -> Expr:
    if e is part:
        return other
    if e.op not in (AND, OR, NOT):
        return e
    return ir.rebuild(e, tuple(_replaced(a, part, other) for a in e.args))


def _size(e: Expr) -> int:
    return (
        1 + sum(_size(a) for a in e.args) if e.op in (AND, OR, NOT) else 2 * (e.op is not ir.BOOL)
    )
