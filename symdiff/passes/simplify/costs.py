"""How long formulas are, and how many may be tried."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from symdiff import ir
from symdiff.ir import Expr
from symdiff.ir.formula_text import Formulas, factors

MANY = 1000
"""Cost, in operations, of a form that nobody writes."""


class Budget:
    """Counts candidates, so that every search is bounded."""

    def __init__(self, count: int) -> None:
        self.left = count

    def spend(self, count: int = 1) -> bool:
        """Spend from the budget; whether some was left."""
        self.left -= count
        return self.left >= 0


class Costs:
    """How long formulas are: operations, kinds of functions that their user did not write, values
    of functions that the user did not write, differences in the other order, and powers of one
    base that were not joined, length."""

    def __init__(
        self,
        given: Iterable[Expr] = (),
        literals: Sequence[Fraction] = (),
        strange: Container[ir.Op] = (),
    ) -> None:
        self.formulas = Formulas(literals)
        self.strange = strange
        nodes = set(given)
        self.given = {e.op for e in nodes} | {ir.ADD, ir.SUB, ir.CONST}
        self.functions = {e for e in nodes if e.op not in ir.ARITHMETIC}
        self.turned = {ir.raw(ir.SUB, e.args[::-1]) for e in nodes if e.op is ir.SUB} - nodes
        self._known: dict[Expr, tuple[Any, ...]] = {}
        self._ranks: dict[Expr, tuple[int, int, int]] = {}

    def length(self, e: Expr) -> int:
        """The operations of the printed text: the first criterion."""
        length = self.formulas.length(e)
        if self.strange and any(n.op in self.strange for n in ir.topological((e,))):
            return length + MANY
        return length

    def of(self, e: Expr) -> tuple[Any, ...]:
        """The criteria in order."""
        found = self._known.get(e)
        if found is None:
            form = self.formulas.of(e)
            found = self._known[e] = *self.rank(e), len(form.signed), form.signed
        return found

    def rank(self, e: Expr) -> tuple[int, int, int]:
        """The first criteria, which need no text."""
        found = self._ranks.get(e)
        if found is None:
            new, others, ops = 0, 0, set[ir.Op]()
            powers = False
            for n in ir.topological((e,)):
                ops.add(n.op)
                new += n.op is ir.POW and n.args[0].op is ir.CONST
                if n.op is ir.SUB:
                    others += n in self.turned
                elif n.op is ir.POW and ir.rational(n.args[1]) is None:
                    powers = True
                elif n.args and n.op not in ir.ARITHMETIC:
                    others += n not in self.functions
            if powers and _has_apart(e):
                new += 2  # x*x**a is x**(a + 1)
            found = self.length(e), new + len(ops - self.given), others
            self._ranks[e] = found
        return found

    def best(self, candidates: Iterable[Expr]) -> Expr:
        """The shortest of some formulas."""
        return next(self.ranked(candidates))

    def ranked(self, candidates: Iterable[Expr]) -> Iterator[Expr]:
        """Some formulas, the shortest first; only ties are printed."""
        for alike in _groups(dict.fromkeys(candidates), self.length):
            for equal in _groups(alike, self.rank) if len(alike) > 1 else (alike,):
                yield from equal if len(equal) == 1 else sorted(equal, key=self.of)

    def shorter(self, e: Expr, other: Expr) -> bool:
        """Whether the first is the shorter one."""
        return e is not other and self.best((other, e)) is e


def _groups(candidates: Iterable[Expr], key: Callable[[Expr], Any]) -> Iterator[list[Expr]]:
    """Some formulas grouped by a key, the least first."""
    groups: dict[Any, list[Expr]] = {}
    for e in candidates:
        groups.setdefault(key(e), []).append(e)
    yield from (groups[k] for k in sorted(groups))


def _has_apart(e: Expr) -> bool:
    """Whether a product has a base and a power of it with a symbol in the exponent."""
    for node in ir.topological((e,)):
        if node.op is ir.MUL or node.op is ir.DIV:
            found = factors(node)[1]
            bases = {base for base, exponent in found if ir.integer(exponent) is not None}
            if any(base in bases for base, x in found if ir.rational(x) is None):
                return True
    return False
