"""How long formulas are, and how many may be tried."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

from symdiff import ir
from symdiff.ir import Expr
from symdiff.ir.formula_text import Formulas, factors


class Budget:
    """Counts candidates, so that no search is long."""

    def __init__(self, count: int) -> None:
        self.left = count

    def spend(self, count: int = 1) -> bool:
        """Spend from the budget; whether some was left."""
        self.left -= count
        return self.left >= 0


class Costs:
    """How long formulas are: operations, kinds of functions that their user did not write, values
    of functions that he did not, differences that he wrote the other way round, and powers of one
    base that were not joined, length."""

    def __init__(self, given: Iterable[Expr] = (), literals: Sequence[Fraction] = ()) -> None:
        self.formulas = Formulas(literals)
        nodes = set(given)
        self.given = {e.op for e in nodes} | {ir.ADD, ir.SUB, ir.CONST}
        self.functions = {e for e in nodes if e.op not in ir.ARITHMETIC}
        self.turned = {ir.raw(ir.SUB, e.args[::-1]) for e in nodes if e.op is ir.SUB} - nodes
        self._known: dict[Expr, tuple[Any, ...]] = {}
        self._ranks: dict[Expr, tuple[int, int, int]] = {}

    def length(self, e: Expr) -> int:
        """The operations of its text: what counts first."""
        return self.formulas.length(e)

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
        given = [*dict.fromkeys(candidates)]
        if len(given) == 1:
            return given[0]
        least = min(map(self.length, given))
        given = [e for e in given if self.length(e) == least]
        if len(given) > 1:
            first = min(map(self.rank, given))
            given = [e for e in given if self.rank(e) == first]
        return given[0] if len(given) == 1 else min(given, key=self.of)

    def ranked(self, candidates: Iterable[Expr]) -> list[Expr]:
        """Some formulas, the shortest first; texts are made for those alone that are alike."""
        found: list[Expr] = []
        for alike in _groups(candidates, self.length):
            if len(alike) == 1:
                found += alike
                continue
            for equal in _groups(alike, self.rank):
                found += equal if len(equal) == 1 else sorted(equal, key=self.of)
        return found

    def shorter(self, e: Expr, other: Expr) -> bool:
        """Whether the first is the shorter one."""
        if e is other:
            return False
        m, n = self.length(e), self.length(other)
        if m != n:
            return m < n
        ranks = self.rank(e), self.rank(other)
        return ranks[0] < ranks[1] if ranks[0] != ranks[1] else self.of(e) < self.of(other)


def _groups(candidates: Iterable[Expr], key: Callable[[Expr], Any]) -> list[list[Expr]]:
    """Some formulas by what they have alike, the least first."""
    groups: dict[Any, list[Expr]] = {}
    for e in candidates:
        groups.setdefault(key(e), []).append(e)
    return [groups[k] for k in sorted(groups)]


def _has_apart(e: Expr) -> bool:
    """Whether a product has a base and a power of it with a symbol in the exponent."""
    for node in ir.topological((e,)):
        if node.op is ir.MUL or node.op is ir.DIV:
            found = factors(node)[1]
            bases = {base for base, exponent in found if ir.integer(exponent) is not None}
            if any(base in bases for base, x in found if ir.rational(x) is None):
                return True
    return False
