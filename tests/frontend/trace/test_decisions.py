"""Conditions that follow from each other, against truth tables."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symdiff import ir
from symdiff.frontend.trace import decisions
from symdiff.frontend.trace.decisions import ALWAYS, NEVER, Decisions
from symdiff.frontend.trace.values import Refused
from tests.work import calls

NAMES = [ir.var(n) for n in "abcd"]
ATOMS = [ir.lt(0, v) for v in NAMES]
LEAVES = [ir.TRUE, ir.FALSE, *ATOMS, *(ir.le(v, 0) for v in NAMES)]

conditions = st.recursive(
    st.sampled_from(LEAVES),
    lambda inner: st.one_of(
        st.builds(ir.not_, inner),
        st.builds(ir.and_, inner, inner),
        st.builds(ir.or_, inner, inner),
    ),
    max_leaves=12,
)


def table(condition: ir.Expr) -> list[bool]:
    """The truth of a condition for all signs of the variables."""
    rows = itertools.product((Fraction(-1), Fraction(1)), repeat=len(NAMES))
    points = [dict(zip(NAMES, map(ir.const, row), strict=True)) for row in rows]
    return [bool(ir.substitute((condition,), point)[0]) for point in points]


@pytest.mark.slow
@given(conditions, conditions)
def test_equivalent_conditions_are_one_node(a: ir.Expr, b: ir.Expr) -> None:
    d = Decisions()
    p, q = d.of(a), d.of(b)
    left, right = table(a), table(b)
    assert (p == q) == (left == right)
    assert (p == ALWAYS) == all(left)
    assert (p == NEVER) == (not any(left))
    assert d.implies(p, q) == all(y for x, y in zip(left, right, strict=True) if x)
    assert d.both(p, q) == d.of(ir.and_(a, b))
    assert d.negated(p) == d.of(ir.not_(a))


@given(conditions, conditions, conditions)
def test_choice(c: ir.Expr, a: ir.Expr, b: ir.Expr) -> None:
    d = Decisions()
    assert d.choose(d.of(c), d.of(a), d.of(b)) == d.of(ir.where(c, a, b))


@given(conditions)
def test_comparisons_are_those_that_matter(c: ir.Expr) -> None:
    d = Decisions()
    found = d.comparisons(d.of(c))
    for v, atom in zip(NAMES, ATOMS, strict=True):
        fixed = [table(ir.substitute((c,), {v: ir.const(s)})[0]) for s in (-1, 1)]
        assert (atom in found) == (fixed[0] != fixed[1])


@pytest.mark.slow
def test_a_long_chain_takes_linear_time() -> None:
    def chain(length: int) -> None:
        d, total = Decisions(), ir.FALSE
        for i in range(length):
            total = ir.or_(total, ir.and_(ir.not_(total), ir.lt(ir.var("x"), i)))
            d.of(total)
        assert d.implies(d.of(ir.lt(ir.var("x"), 7)), d.of(total))

    assert calls(lambda: chain(3000)) < 6 * calls(lambda: chain(750))


def test_too_many_nodes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decisions, "MAX_NODES", 8)
    with pytest.raises(Refused, match="too many conditions decide which names are assigned"):
        d, total = Decisions(), ir.FALSE
        for v in NAMES:
            total = ir.not_(
                ir.or_(ir.and_(total, ir.lt(v, 0)), ir.not_(ir.or_(total, ir.lt(v, 1))))
            )
            d.of(total)
