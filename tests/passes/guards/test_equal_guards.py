"""Equal questions about guards are answered once, whatever variables are called; what is right for one quantity
says nothing of another with a kink."""

from __future__ import annotations

import pytest

from symdiff import ir
from symdiff.ir import functions as F
from symdiff.passes.guards import proof
from symdiff.passes.guards.guards import guards
from symdiff.passes.guards.notes import GuardNotes

x, y, z = (ir.var(n) for n in "xyz")


def guarded(v, q, factor):
    """factor*expm1(q)/q, with a band about v = 0 in which it is taken to be the factor."""
    return ir.where(ir.lt(ir.abs_(v), 1.25e-17), factor, factor * F.EXPM1(q) / q)


def test_answers_are_given_in_the_names_of_the_question():
    proof._judged.cache_clear()
    found = {}
    for v in (x, z, y):
        notes = GuardNotes()
        (repaired,) = guards((guarded(v, v, ir.ONE),), (), notes)
        assert repaired is F.EXPM1(v) / v
        found[v] = proof._judged.cache_info().misses
        assert [g.point for g in notes.guards] == [((v, ir.ZERO),)]
        assert {u for u, _ in notes.guards[0].where} == {v}
    assert 0 < found[x] == found[z] == found[y]


@pytest.mark.parametrize("other", [x**2, x])
def test_a_kink_is_seen_after_smooth_quantities(other):
    """expm1(abs(x))/abs(x) has a kink at 0, in which its guard is no limit of the derivative."""
    kinked = ir.where(ir.lt(ir.abs_(x), 1e-17), 1, F.EXPM1(ir.abs_(x)) / ir.abs_(x))
    (alone,) = guards((kinked,))
    _, after = guards((guarded(other, other, ir.ONE), kinked))
    assert alone is after is kinked


def test_facts_are_about_their_own_variables():
    """Where x is above 1 the guard is never asked for; that says nothing of y."""
    (_,) = guards((guarded(x, x, ir.ONE),), (ir.lt(1, x),))
    (repaired,) = guards((guarded(y, y, ir.ONE),))
    assert repaired is F.EXPM1(y) / y


def test_what_a_maximum_is_beside_nan_is_no_guard():
    """max(a, b) is a where b is nan, so where a is singular both sides are."""
    proof._judged.cache_clear()
    a = F.EXPM1(x) / x + ir.sqrt(x)
    branch = ir.where(ir.le(ir.ZERO, x), F.LARGER(a, y), a)
    assert guards((branch,)) == (branch,)
    assert proof._judged.cache_info().misses == 0
