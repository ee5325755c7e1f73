"""What is proved of integers that are not known when compiling."""

from __future__ import annotations

from symdiff import ir
from symdiff.ir.integers import Sizes, in_range
from symdiff.ir.loop_program import index

A, B, C, N, OUTER, J = map(index, ("a", "b", "c", "n", "i", "j"))


def checked(*conditions: ir.Expr) -> Sizes:
    sizes = Sizes()
    sizes.update((A, B, C, N))
    for c in conditions:
        sizes.check(c)
    return sizes


def test_sizes_that_are_checked_to_be_equal_bound_the_same_indices() -> None:
    assert not in_range(J, B, {J: A}, checked())
    assert in_range(J, B, {J: A}, checked(ir.eq(A, B)))
    assert in_range(J, A, {J: B}, checked(ir.eq(A, B)))
    assert in_range(J, C, {J: A}, checked(ir.eq(A, B), ir.eq(B, C)))
    assert in_range(J, A, {J: C}, checked(ir.eq(B, C), ir.eq(A, B)))
    assert not in_range(J + 1, B, {J: A}, checked(ir.eq(A, B)))
    assert not in_range(J, C, {J: A}, checked(ir.eq(A, B)))


def test_a_check_that_other_conditions_excuse_counts_where_they_fail() -> None:
    sizes = checked(ir.or_(ir.lt(N, ir.ONE), ir.eq(A, B)))
    assert in_range(J, B, {OUTER: N, J: A}, sizes)  # inside of a loop over n, n is not below 1
    assert not in_range(J, B, {J: A}, sizes)
    assert not in_range(J, B, {OUTER: C, J: A}, sizes)
    twice = checked(ir.or_(ir.lt(N, ir.const(2)), ir.eq(A, B)))
    assert not in_range(J, B, {OUTER: N, J: A}, twice)
    other = checked(ir.or_(ir.le(A, B), ir.eq(A, B)))
    assert not in_range(J, B, {OUTER: N, J: A}, other)
