"""Write sums and quotients in forms that keep their digits.

Before:  log(1 + exp(x))
After:   logaddexp(0, x)

Requires: any DAG.
Ensures: the same values (see `identities.RULES`). Before differentiation, only
the rules that also improve derivatives apply; the others would hide the user's
formula from `.expr`. After it, functions that would hide roots are written out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from symdiff import ir
from symdiff.ir import DIV, Expr
from symdiff.ir.identities import Form, Rule, rewrite
from symdiff.passes.accuracy.absent_terms import with_gaps
from symdiff.passes.accuracy.far_constants import split_far_constants
from symdiff.passes.accuracy.softmax import share


@dataclass(frozen=True, slots=True)
class Rewrite:
    """`before` is computed as `after`, by a rule of the table."""

    before: Expr
    after: Expr
    rule: Rule


def stabilise(
    outputs: Iterable[Expr], notes: list[Rewrite] | None = None, *, early: bool = False
) -> tuple[Expr, ...]:
    """Apply the table of accurate forms, children first."""

    outputs = tuple(outputs)
    if not early:
        outputs = with_gaps(outputs)

    def rule(e: Expr, args: tuple[Expr, ...]) -> Expr:
        new = ir.rebuild(e, args)
        if new.op.written and not early:
            new = _written(new)
        if new.op is DIV and not early:
            new = share(new)
        found = rewrite(new, Form.EARLY if early else Form.STABLE)
        if found is None:
            return new if early else split_far_constants(new)
        if notes is not None:
            notes.append(Rewrite(new, *found))
        return found[0]

    return ir.transform(outputs, rule)


def _written(e: Expr) -> Expr:
    assert e.op.expand is not None
    try:
        return e.op.expand(*e.args)
    except NotImplementedError:
        return e
