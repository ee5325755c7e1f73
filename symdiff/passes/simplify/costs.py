"""How long formulas are, and how many may be tried."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from symdiff import ir
from symdiff.ir import Expr
from symdiff.ir.formula_text import Formulas


class Budget:
    """Counts candidates, so that no search is long."""

    def __init__(self, count: int) -> None:
        self.left = count

    def spend(self, count: int = 1) -> bool:
        """Whether there was something left."""
        self.left -= count
        return self.left >= 0


class Costs:
    """How long formulas are: operations, kinds of functions that their user did not write, values
    of functions that he did not, length."""

    def __init__(self, given: Iterable[Expr] = ()) -> None:
        self.formulas = Formulas()
        nodes = set(given)
        self.given = {e.op for e in nodes}
        self.functions = {e for e in nodes if e.op not in ir.ARITHMETIC}
        self._known: dict[Expr, tuple[Any, ...]] = {}

    def length(self, e: Expr) -> int:
        """The operations of its text: what counts first."""
        return self.formulas.length(e)

    def of(self, e: Expr) -> tuple[Any, ...]:
        """What is compared."""
        found = self._known.get(e)
        if found is None:
            form = self.formulas.of(e)
            nodes = ir.topological((e,))
            new = len({n.op for n in nodes} - self.given)
            new += sum(n.op is ir.POW and n.args[0].op is ir.CONST for n in nodes)
            others = sum(
                bool(n.args) and n.op not in ir.ARITHMETIC and n not in self.functions
                for n in nodes
            )
            found = form.length, new, others, len(form.signed), form.signed
            self._known[e] = found
        return found

    def best(self, candidates: Iterable[Expr]) -> Expr:
        """The shortest of some formulas."""
        given = [*candidates]
        least = min(map(self.length, given))
        given = [e for e in given if self.length(e) == least]
        return given[0] if len(given) == 1 else min(given, key=self.of)

    def shorter(self, e: Expr, other: Expr) -> bool:
        """Whether the first is the shorter one."""
        m, n = self.length(e), self.length(other)
        return m < n if m != n else self.of(e) < self.of(other)
