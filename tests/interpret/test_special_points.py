"""Where formulas of derivatives are wrong, found by trying them against the definition."""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from symdiff import ir, symgrad
from symdiff.interpret import special_points as module
from symdiff.interpret.lines import Lines
from symdiff.interpret.meeting_places import Place, independent, pairs_of, several
from symdiff.interpret.places import places_of
from symdiff.interpret.special_points import special_points
from symdiff.interpret.terms import Term
from symdiff.ir import FALSE, Expr, abs_, const, eq, var, where
from symdiff.ir.functions import COSH, EXP, LOG, MAXIMUM
from symdiff.ir.plain import as_ball

x, y = var("x"), var("y")


def sought(e: Expr, *slopes: Callable[[float, float], float]) -> Expr:
    """The condition under which these derivatives by x and y are found to be wrong."""
    rows = [[Term(0, (k,), ())] for k in range(len(slopes))]

    def formulas(point: Sequence[float]) -> list[float]:
        return [s(*point) for s in slopes]

    return special_points(("x", "y"), 2, [e], rows, formulas).condition


def holds(condition: Expr, at: tuple[float, float]) -> bool:
    (value,) = ir.substitute((condition,), dict(zip((x, y), map(const, at), strict=True)))
    assert value.op is ir.BOOL
    return value is ir.TRUE


def sign(t: float) -> float:
    return float(np.sign(t))


def test_formulas_that_are_right_have_no_special_points() -> None:
    assert sought(abs_(x) + y, lambda x, y: sign(x), lambda x, y: 1.0) is FALSE
    assert sought(x * y, lambda x, y: y, lambda x, y: x) is FALSE


@pytest.mark.parametrize("wrong", [1.0, -1.0, 0.5])
def test_a_kink_at_which_a_formula_is_wrong(wrong: float) -> None:
    found = sought(abs_(x) * y, lambda x, y: (sign(x) if x else wrong) * y, lambda x, y: abs(x))
    assert holds(found, (0.0, 2.0)) and not holds(found, (1.0, 2.0))


def test_a_kink_in_a_branch_counts_only_where_that_is_taken_or_ends() -> None:
    negative = ir.lt(y, 0)
    branch = where(negative, abs_(x), x * y)
    found = sought(branch, lambda x, y: y if y >= 0 else sign(x) if x else 1.0)
    assert holds(found, (0.0, -1.0)) and not holds(found, (0.0, 1.0))
    (kink,) = (p for p in places_of([branch]) if p.at is abs_(x))
    assert holds(kink.within, (0.0, 0.0)) and not holds(kink.within, (0.0, 1e-300))
    both = where(negative, abs_(x), abs_(x) * y)
    assert all(p.within is ir.TRUE for p in places_of([both]))


def test_two_kinks_at_which_a_formula_is_wrong_where_they_meet() -> None:
    found = sought(
        abs_(x) + abs_(y) / (1 + abs_(x)),
        lambda x, y: sign(x) * (1 - abs(y) / (1 + abs(x)) ** 2) + (x == 0 and y == 0),
        lambda x, y: sign(y) / (1 + abs(x)),
    )
    assert holds(found, (0.0, 0.0))
    assert not holds(found, (0.0, 1.0)) and not holds(found, (1.0, 0.0))


def test_a_guard_whose_formula_is_wrong() -> None:
    e = where(eq(x, const(0)), const(0), x * (y + 1))
    found = sought(e, lambda x, y: y + 1 if x else 0.0, lambda x, y: x)
    assert holds(found, (0.0, 3.0)) and not holds(found, (1e-300, 3.0))
    assert sought(e, lambda x, y: y + 1, lambda x, y: x) is FALSE


def test_a_guard_whose_formula_is_wrong_for_special_values_of_other_parameters() -> None:
    """The function jumps at x = 0 unless y is 1: there it is x + 1."""
    e = where(eq(x, const(0)), y, x + 1)
    found = sought(e, lambda x, y: 1.0 if x else 0.0, lambda x, y: float(x == 0))
    assert holds(found, (0.0, 1.0)) and not holds(found, (0.0, 2.0))


def test_nothing_is_sought_without_kinks() -> None:
    def never(point: Sequence[float]) -> list[float]:
        raise AssertionError

    rows = [[Term(0, (0,), ())]]
    assert special_points(("x",), 1, [x * x], rows, never).condition is FALSE


def test_a_smooth_function_that_python_has_no_value_of_at_a_point() -> None:
    """A bump of one side, whose exponent is -1/0 where it begins."""

    def f(x: float) -> float:
        return math.atan((math.exp(-1.0 / x) if x >= 0 else 0.0) + x)

    assert symgrad(f).grad(0.0) == 1.0


def test_slopes_over_a_short_distance_do_not_say_what_is_around_a_thin_band() -> None:
    """Beside the band the functions are x*x and |y|, with values that agree to its width."""
    band = symgrad(lambda x: 2 * x if abs(x) < 1e-8 else x * x)
    assert band.grad(0.0) == 0.0
    diagonal = symgrad(lambda x, y: x if abs(x - y) < 1e-8 else abs(y))
    assert diagonal.grad(1.3, 1.3) == (0.0, 1.0)


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("f", "at", "slope"),
    [
        (lambda x: x * math.atan(1 / x), 0.0, 0.0),
        (lambda x: (x - 1) * math.atan(2 / (x - 1)) + 3 * x, 1.0, 3.0),
        (lambda x: x * math.atan(x**-1 + 2), 0.0, 0.0),
        (lambda x: x * math.tanh(1 / x), 0.0, 0.0),
        (lambda x: x / (1 + math.exp(1 / x)), 0.0, 0.5),
    ],
)
def test_sides_of_poles_that_functions_are_finite_at(f, at: float, slope: float) -> None:
    g = symgrad(f)
    assert (g.grad(at), g.value_and_grad(at)[1]) == (slope, slope)


def test_places_of_one_form_are_each_looked_at() -> None:
    """The first is in a branch that no general point takes."""
    e = where(ir.lt(const(10**6), x), abs_(x), const(0)) + abs_(y)
    found = sought(e, lambda x, y: 0.0, lambda x, y: math.copysign(1.0, y))
    assert holds(found, (0.5, 0.0)) and not holds(found, (0.5, 0.25))


def clamped(x):
    d = x - 1
    if abs(d) < 1e-8:
        d = 1e-8
    return math.expm1(d) / d


@pytest.mark.sampled(3)
@pytest.mark.parametrize("work", [1_000, 30_000, 300_000])
def test_what_the_budget_leaves_open_is_not_wrong(work: int, monkeypatch) -> None:
    monkeypatch.setattr(module, "WORK", work)
    g = symgrad(clamped, cache=False)
    assert g.grad(1.0) == pytest.approx(1 / 2, rel=1e-12)
    assert g.hessian(1.0) == pytest.approx(1 / 3, rel=1e-12)


def test_zeros_of_positive_quantities_are_not_sought(monkeypatch) -> None:
    asked: list[Expr] = []

    def recorded(u: Expr, *args):
        asked.append(u)
        return zero_by(u, *args)

    zero_by = module.zero_by
    monkeypatch.setattr(module, "zero_by", recorded)
    e = abs_(x) + LOG(COSH(y))
    assert sought(e, lambda x, y: sign(x), lambda x, y: math.tanh(y)) is FALSE
    assert asked and all(u is x for u in asked)


def test_many_places_that_share_a_coordinate_are_joined_in_linear_work() -> None:
    def calls(n: int) -> int:
        kinks = [abs_(var(f"x{k}") - y) for k in range(n)]
        places = list(places_of([functools.reduce(ir.add, kinks)]))
        count = 0

        def called(frame, event, argument) -> None:
            nonlocal count
            count += event == "call"

        sys.setprofile(called)
        try:
            found = list(several(places, True, set()))
        finally:
            sys.setprofile(None)
        assert len(found) == 1
        return count

    assert calls(80) < 3 * calls(40)


def test_values_beside_a_point_are_those_of_plain_python() -> None:
    lines = Lines([x, y], [LOG(COSH(y)) * x + abs_(x - y)])
    there = lines.on([as_ball(1.5), as_ball(2.0)], 256, {}, {})
    for by, moved in ((0, (-3.0, 2.0)), (1, (1.5, 0.25))):
        found = lines.beside(there, by, as_ball(moved[by]), 256)[lines.roots[0]]
        a, b = moved
        assert float(found.mid()) == pytest.approx(math.log(math.cosh(b)) * a + abs(a - b))


def test_which_places_matter_where_they_meet() -> None:
    u, v = ir.var("u"), ir.var("v")
    one, other = MAXIMUM(u, ir.ZERO), ir.abs_(v)
    outer = MAXIMUM(one - ir.ONE, ir.ZERO)
    places = [Place(ir.eq(e, ir.ZERO), (e,), e) for e in (one, other, outer)]
    assert independent(places, [other + outer]) == {places[1]}
    two = places[:2]
    assert independent(two, [EXP(one) * other + outer * 2]) == {places[1]}
    assert independent(two, [EXP(one) * other**2]) == set(two)
    assert independent(two, [one / other]) == set()
    assert pairs_of(two, set(two)) == [] and pairs_of(two, {places[0]}) == [tuple(two)]
    assert pairs_of(places, set())[0] == (places[0], places[2])
    assert list(several(two, True, set(two))) == [] and len(list(several(two, True, set()))) == 0
