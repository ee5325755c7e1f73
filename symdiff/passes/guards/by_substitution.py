"""Questions about guards in variables that denote formulas, or are integers.

Before:  where(s < eps, 0, w*sin(sqrt(s))/sqrt(s)), s standing for w**2 + rest**2
After:   the question in w and the rest; the answer names s too

Requires: formulas whose values include all possible values of the variables.
Ensures: verdicts that hold for the formulas; places include the values of the variables there. A
guard is right only if it is right for all outcomes of conditions on integers, as for the elements
of an array that is written out. A condition on integers only is no guard.
"""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterator, Mapping
from dataclasses import replace

from symdiff import ir
from symdiff.ir import Expr
from symdiff.ir.functions import SQUARES
from symdiff.passes.guards.proof import Prover
from symdiff.passes.guards.verdicts import Kind, Verdict

MOST_CASES = 12
"""The most outcomes of conditions on integers."""


class SubstitutingProver:
    """A prover for variables that denote formulas.

    Parameters
    ----------
    values : what variables denote.
    integers : the variables that are integers.
    """

    def __init__(
        self, prover: Prover, values: Mapping[Expr, Expr] | None = None,
        integers: Container[Expr] = frozenset(),
    ) -> None:  # fmt: skip
        self.prover, self.signs, self.integers = prover, prover.signs, integers
        self.values = dict(values or {})
        self.all = {**self.values, **{SQUARES(v): e for v, e in self.values.items()}}

    def verdict(
        self, condition: Expr, small: Expr, other: Expr, about: Expr, kind: Kind = "guard"
    ) -> Verdict | None:
        """See `Prover.verdict`."""
        compared = ir.variables((condition,))
        if compared and all(v in self.integers for v in compared):
            return None  # no number is close to the point: only the taken branch counts
        roots = ir.substitute((condition, small, other, about), self.all)
        found: list[Verdict] = []
        for case in itertools.islice(self._cases(roots), MOST_CASES + 1):
            one = self.prover.verdict(case[0], case[1], case[2], case[3], kind)
            if one is None or one.kind == "wrong" or len(found) == MOST_CASES:
                return None if one is None or found else self._named(one)
            found.append(one)
        if not found:
            return None
        named = [self._named(v) for v in found]
        return replace(
            named[0],
            outside=any(v.outside for v in named),
            coarse=any(v.coarse for v in named),
            local=any(v.local for v in named),
            partly=any(v.partly for v in named),
            regular=any(v.regular for v in named),
            scale=max(v.scale for v in named),
        )

    def _cases(self, asked: tuple[Expr, ...]) -> Iterator[tuple[Expr, ...]]:
        """The question for each outcome of conditions on integers, except those
        that the guard itself contains."""
        about = ir.variables(asked[:1])
        free = {v for v in ir.variables(asked[1:3]) if v in self.integers and v not in about}
        for n in ir.topological(asked) if free else ():
            if n.op in ir.COMPARISONS and free.issuperset(ir.variables((n,))):
                v, q = n.args
                holds = {v: q} if n.op is ir.EQ and v.op is ir.VAR and q.op is ir.CONST else {}
                for new in (holds or {n: ir.TRUE}, {n: ir.FALSE}):
                    yield from self._cases(ir.substitute(asked, new))
                return
        yield asked

    def _named(self, v: Verdict) -> Verdict:
        """The verdict with the values of the variables."""
        order, what = list(self.values), self.values.values()
        at = ir.substitute(what, {e: ir.const(q) for e, q in v.where})
        where = [
            (e, q) for e, x in zip(order, at, strict=True) if (q := ir.rational(x)) is not None
        ]
        on = ir.substitute(what, dict(v.singular))
        singular = [(e, x) for e, x in zip(order, on, strict=True) if ir.rational(x) is not None]
        missed = None if v.missed is None else self._named(v.missed)
        return replace(
            v, where=(*v.where, *where), singular=(*v.singular, *singular), missed=missed
        )
