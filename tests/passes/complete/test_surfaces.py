"""Quotients that are removable where one variable is a function of the others."""

from __future__ import annotations

import math

import flint
import pytest

from symdiff import ir, symgrad
from symdiff.interpret import exclusive
from symdiff.interpret.flat import Tape
from symdiff.ir import ONE, Expr, abs_, const, lt, sqrt
from symdiff.ir.functions import COS, EXP, LOG, SIN, TAN
from symdiff.passes.cancel.cancel import cancel
from symdiff.passes.complete.complete import Completions, complete, expand_completed, readable_forms
from symdiff.passes.complete.surfaces import Surface, complete_surfaces
from symdiff.passes.differentiate import gradient, pushforward
from tests.kernels import make_kernel

X, Y, Z = ir.var("x"), ir.var("y"), ir.var("z")


def surfaces(e: Expr) -> list[Surface]:
    found: list[Surface] = []
    complete_surfaces((e,), (), found)
    return found


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("e", "root", "limit"),
    [
        ((EXP(X) - EXP(Y)) / (X - Y), Y, EXP(Y)),
        ((X - Y) / LOG(X / Y), Y, Y),
        ((X - Y) / (LOG(X) - LOG(Y)), Y, Y),
        ((SIN(X) - SIN(Y)) / (X - Y), Y, COS(Y)),
        ((TAN(X) - TAN(Y)) / (X - Y), Y, 1 / COS(Y) ** 2),
        ((X * LOG(X) - Y * LOG(Y)) / (X - Y), Y, LOG(Y) + 1),
        (SIN(X - 2 * Y) / (3 * X - 6 * Y), 2 * Y, const(1) / 3),
        ((EXP(X * Y) - EXP(ONE)) / (X * Y - 1), 1 / Y, EXP(ONE)),
        ((1 - EXP(-X * Y)) / X, ir.ZERO, Y),
        (1 / X - EXP(-X * Y) / X, ir.ZERO, Y),
        ((1 - COS(sqrt(X) * Y)) / X, ir.ZERO, ir.HALF * Y**2),
        (((1 + Y * Y) ** X - 1) / X, ir.ZERO, LOG(1 + Y * Y)),
    ],
)
def test_what_is_removable_is_found(e: Expr, root: Expr, limit: Expr) -> None:
    (found,) = surfaces(e)
    assert (found.variable, found.root, found.limit) == (X, root, limit)


@pytest.mark.parametrize(
    "e",
    [
        1 / (X - Y),
        (X + Y) / (X - Y),
        (X**2 * Y) / (X**2 + Y**2),
        SIN(abs_(X) * Y) / X,
        LOG(X / Y) / (X - Y) ** 2,
        X / Y,
        (EXP(X) - EXP(Y)) / (X + Y),
    ],
)
def test_what_is_not_is_left_alone(e: Expr) -> None:
    assert complete_surfaces((e,)) == (e,)


def test_assumptions_are_used() -> None:
    e = (1 - EXP(-X * Y)) / X
    assert complete_surfaces((e,), [lt(ir.ZERO, X)]) == (e,)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("e", "at", "step"),
    [
        ((EXP(X) - EXP(Y)) / (X - Y), (0.7, 0.7), (1, 0)),
        ((X - Y) / LOG(X / Y), (3.0, 3.0), (1, 0)),
        ((SIN(X) - SIN(Y)) / (X - Y), (1.5, 1.5), (0, 1)),
        ((1 - EXP(-X * Y)) / X, (0.0, 2.5), (1, 0)),
    ],
)
def test_value_gradient_and_hessian(
    e: Expr, at: tuple[float, float], step: tuple[int, int]
) -> None:
    """On the surface, and so near to it that the quotient is worth nothing."""
    notes = Completions()
    (f,) = complete(cancel((e,)), (), notes)
    assert len(notes.surfaces) == 1

    def all_of(f: Expr) -> list[Expr]:
        slopes = gradient(f, [X, Y])
        return [f, *slopes, *(d for v in (X, Y) for d in pushforward(slopes, {v: ONE}))]

    kernel = make_kernel(expand_completed(all_of(f)), ["x", "y"])
    tape = Tape([X, Y], all_of(e))
    limit = kernel(list(at))
    for i, h in enumerate((0.0, 1e-12, 1e-8, 1e-4, 1e-3)):
        x = [a + h * s for a, s in zip(at, step, strict=True)]
        with exclusive(2000):
            point = [flint.arb(v) for v in x]
            if not h:
                j = step.index(1)
                point[j] = flint.arb(at[j]) + flint.arb(2) ** -120
            values = tape.run(point, 2000)
            for k, got in enumerate(kernel(x)):
                true = values[tape.roots[k]]
                size = max(abs(float(true.mid())), 2.0**-30)
                assert abs(flint.arb(got) - true) <= 16 * math.ulp(size), (i, k)
    assert all(math.isfinite(v) for v in limit)


@pytest.mark.slow
def test_every_order_is_there() -> None:
    """(exp(x) - exp(y))/(x - y) is the integral of exp(y + t*(x - y)) over t from 0 to 1, so
    by x and y, m and n times, it is exp(y)*m!*n!/(m + n + 1)! where x = y."""
    (f,) = complete(((EXP(X) - EXP(Y)) / (X - Y),))
    for m, n in ((4, 0), (0, 4), (3, 2), (5, 3)):
        e = f
        for v in (X,) * m + (Y,) * n:
            (e,) = pushforward((e,), {v: ONE})
        expected = math.factorial(m) * math.factorial(n) / math.factorial(m + n + 1)
        kernel = make_kernel(expand_completed((e,)), ["x", "y"])
        assert kernel([0.0, 0.0]) == [pytest.approx(expected, rel=1e-14)]
        assert kernel([1.0, 1.0]) == [pytest.approx(expected * math.e, rel=1e-14)]


def test_balls_are_rigorous_on_the_surface_and_beside_it() -> None:
    (f,) = complete(((EXP(X) - EXP(Y)) / (X - Y),))
    tape = Tape([X, Y], [f, *pushforward((f,), {X: ONE})])
    one, wide = flint.arb(1), flint.arb(1, 1e-9)
    with exclusive(200):
        value, slope = (tape.run([one, one], 200)[i] for i in tape.roots)
        assert value.contains(flint.arb.const_e()) and slope.contains(flint.arb.const_e() / 2)
        assert all(tape.run([wide, one], 200)[i].is_nan() for i in tape.roots)


def test_the_formula_stays_readable() -> None:
    e = (EXP(X) - EXP(Y)) / (X - Y)
    (f,) = complete((e,))
    assert f is not e
    assert readable_forms((f,)) == (e,)


def gapped(x, y):
    return (math.exp(y * x**4) - 1) / x**4


def harmonic(x, y):
    return (x * abs(y) + abs(x) * y) / (x + y)


def mixed(x, y):
    return (abs(x) * math.exp(y) - abs(y) * math.exp(x)) / (x - y)


def planck(x, y):
    return (x / math.expm1(x) - y / math.expm1(y)) / (x - y)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("f", "at", "value", "slope"),
    [
        (planck, (300.0, -300.0), -0.5, 1 / 1200),
        (gapped, (0.719, 0.446), 0.4736683024299195, 0.1601646763368134),
        (harmonic, (0.719, 0.446), 0.5505133047210301, 0.29312162684890125),
        (mixed, (-1e-3, 1e-3), -0.001000000166666675, 500.49975024993751),
    ],
)
@pytest.mark.filterwarnings("error")
def test_a_series_is_used_only_where_it_is_the_function(f, at, value, slope) -> None:
    """Not where its last terms happen to be 0 or are flat, nor beyond a kink."""
    g = symgrad(f)
    assert g(*at) == pytest.approx(value, rel=1e-15)
    assert g.grad(*at)[0] == pytest.approx(slope, rel=1e-15)


@pytest.mark.sampled
@pytest.mark.parametrize("j", [0.5, 1e-5])
def test_what_a_series_leaves_out_is_known_where_its_terms_cancel(j) -> None:
    """The Brillouin function is completed across J = -1/2, with poles at x = 0 in its series."""

    def brillouin(x, J):
        a = (2 * J + 1) / (2 * J)
        b = 1 / (2 * J)
        return a / math.tanh(a * x) - b / math.tanh(b * x)

    slope = (j + 1) / (3 * j)
    assert symgrad(brillouin).grad(0.0, j)[0] == pytest.approx(slope, rel=1e-15)


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_series_with_large_coefficients_are_no_false_alarm() -> None:
    def brillouin(x, J):
        return (1 + 0.5 / J) / math.tanh((1 + 0.5 / J) * x) - 0.5 / J / math.tanh(0.5 / J * x)

    ((by_x, _), _) = symgrad(brillouin).hessian(7.86e-8, 0.446)
    assert by_x == pytest.approx(-1.9556837360376466e-07, rel=1e-14)


@pytest.mark.slow
def test_derivatives_of_high_order_of_a_completed_function() -> None:
    """A series across the surface holds sixteen derivatives of x/tanh(x)."""

    g = symgrad(lambda x, y: (x / math.tanh(x) - y / math.tanh(y)) / (x - y))
    assert g(1.0, 1.0) == pytest.approx(0.5889736245330207, rel=1e-15)
    assert g(0.0, 0.0) == 0.0
    assert g.grad(0.75, 0.75)[0] == pytest.approx(0.2674121407378174, rel=1e-15)


@pytest.mark.slow
def test_derivatives_of_derivatives_of_a_function_of_four_variables_that_is_completed() -> None:
    """Beside guards the operation that stands for it is looked at for singular points."""

    def arc(v: float, w: float, dt: float, th: float) -> float:
        if abs(w) < 1e-6:
            return v * dt * math.cos(th)
        return v / w * (math.sin(th + w * dt) - math.sin(th))

    f = symgrad(arc)
    assert f.diff("w").grad(1.0, 0.0, 2.0, 0.0) == pytest.approx((0.0, -8 / 3, 0.0, -2.0))
