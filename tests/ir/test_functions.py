"""Every elementary function is tested because it is in the table.

The truth is ball arithmetic (python-flint), checked in turn against SymPy's
evaluation (mpmath) and the libraries that people call.
"""

from __future__ import annotations

import functools
import importlib
import itertools
import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.special
import sympy
from flint import arb

from symdiff import ir, symgrad
from symdiff.interpret import Undecided, evaluate, exclusive, ulp_error
from symdiff.ir import Expr, Op, functions
from symdiff.ir.functions import TABLE, domain
from symdiff.ir.functions.columns import UNKNOWN
from symdiff.passes.differentiate import local_partials

REALS = (-7.25, -2.5, -1.0, -0.875, -0.3, -1e-3, 0.0, 1e-8, 0.25, 0.7, 1.0, 1.5, 2.0, 3.75, 11.0)
FEW = (-1.0, 0.25, 0.875, 2.5)
ORDERS = (0, 1, 2, 3)
PREC = 400
VARIABLES = (ir.var("a"), ir.var("b"), ir.var("c"), ir.var("d"))

OPAQUE = {
    "round", "stdtr", "owens_t", "marcum_below", "marcum_above", "von_mises_arc", "faddeeva_real",
    "faddeeva_imag", *(op.name for op in TABLE if "_by_" in op.name),
}  # fmt: skip
"""What SymPy has names for only. What follows `_by_` is compared with differences of the functions."""
EDGE_OF_SYMPY = {
    "gammainc": lambda a, x: a == 0, "gammaincc": lambda a, x: a == 0,
    "hyp1f1": lambda a, b, x: a == -1 and b in (-1, x), "hyp2f1": lambda a, b, c, x: c == -1,
}  # fmt: skip
"""Where SymPy divides by gamma(0), or finds no polynomial or no zero."""

every_function = pytest.mark.parametrize("op", TABLE, ids=lambda op: op.name)


def having(column: str) -> Any:
    """The functions whose entry fills a column."""
    found = [op for op in TABLE if getattr(op, column)]
    return pytest.mark.parametrize("op", found, ids=lambda op: op.name)


def integer_arguments(op: Op) -> set[int]:
    """Positions of arguments that are orders, not reals: those without a derivative."""
    if op.partials is None:
        return set()
    partials = op.partials(*VARIABLES[: op.arity])
    return {i for i, p in enumerate(partials) if p is None}


def samples(op: Op) -> Iterator[tuple[float, ...]]:
    whole = integer_arguments(op)
    reals = FEW if op.arity > 2 or op.name in OPAQUE else REALS
    yield from itertools.product(*(ORDERS if i in whole else reals for i in range(op.arity)))


@functools.cache
def at(e: Expr, op: Op, point: tuple[float, ...], prec: int = PREC) -> Any:
    """The ball of an expression in the function's arguments; None if not decidable."""
    whole = integer_arguments(op)
    orders = {
        v: ir.const(p) for i, (v, p) in enumerate(zip(VARIABLES, point, strict=False)) if i in whole
    }
    try:
        return evaluate(ir.substitute([e], orders), VARIABLES[: op.arity], point, prec)[0]
    except Undecided:
        return None


def application(op: Op) -> Expr:
    """The function of its variables, with nothing simplified."""
    return ir.raw(op, VARIABLES[: op.arity])


def condition(e: Expr, op: Op, point: tuple[float, ...]) -> bool:
    return bool(at(ir.where(e, 1, 0), op, point) == 1)


def inside(op: Op, point: tuple[float, ...]) -> bool:
    return condition(domain(op, VARIABLES[: op.arity]), op, point)


def is_kink(op: Op, point: tuple[float, ...]) -> bool:
    if op.kink is None:
        return False
    ball = at(op.kink(*VARIABLES[: op.arity]), op, point)
    return not ball.is_finite() or bool(abs(ball) < 1e-9)


def close(a: Any, b: Any, bits: int) -> bool:
    return bool(abs(a - b) <= (1 + abs(b)) * arb(2) ** -bits)


def smooth_points(op: Op) -> list[tuple[float, ...]]:
    """Samples where the function and its derivative exist."""
    return [
        p
        for p in samples(op)
        if inside(op, p) and not is_kink(op, p) and at(application(op), op, p).is_finite()
    ]


# ----------------------------------------------------------------- balls and SymPy
@pytest.mark.sampled(25)
@every_function
def test_ball_agrees_with_sympy(op: Op) -> None:
    checked = 0
    for p in samples(op):
        if not inside(op, p) or not (ball := at(application(op), op, p)).is_finite():
            continue
        if op.name in EDGE_OF_SYMPY and EDGE_OF_SYMPY[op.name](*p):
            continue
        want = op.sympy(sympy, *(sympy.Rational(x) for x in p))  # type: ignore[misc]
        want = sympy.N(want, 60)
        if not want.is_Float and not want.is_Integer:
            continue
        with exclusive(PREC):
            assert close(ball, arb(str(want)), 160), (p, ball, want)
        checked += 1
    assert checked or op.name in OPAQUE


@pytest.mark.sampled(6)
@having("names")
def test_ball_agrees_with_the_libraries(op: Op) -> None:
    for name in op.names:
        module, _, attribute = name.rpartition(".")
        try:
            function = getattr(importlib.import_module(module), attribute)
        except (ImportError, AttributeError):
            continue  # such as math.cbrt before Python 3.11, or no SciPy
        compared = 0
        for p in samples(op):
            ball = at(application(op), op, p)
            if ball is None or not ball.is_finite() or is_kink(op, p):
                continue
            if "gammaln" in name or "loggamma" in name:
                if p[0] <= 0:
                    continue  # loggamma is complex there
            if name == "scipy.special.stdtr" and abs(p[1]) < 1e-3:
                continue  # SciPy's is off by 3e-9 at 1e-8
            if name == "scipy.special.hyp0f1" and p[0] < 1e-3:
                continue  # SciPy's is off by 8e-13 at 1e-8, where mpmath has what balls have
            got = float(function(*p))
            assert math.isclose(got, float(ball), rel_tol=2e-13, abs_tol=1e-15), (name, p, ball)
            compared += 1
        assert compared, name


@pytest.mark.sampled(10)
@every_function
def test_domain(op: Op) -> None:
    """Outside of the closed domain the ball is nan; inside it is not, but for poles."""
    finite = 0
    for p in samples(op):
        ball = at(application(op), op, p)
        if not inside(op, p):
            assert ball.is_nan(), p
        elif not is_kink(op, p):
            finite += ball.is_finite()
    assert finite or not op.arity


# --------------------------------------------------------------------- derivatives
def difference(op: Op, point: tuple[float, ...], k: int) -> Any:
    """A central difference that is good to over 100 bits; None at an edge of the
    domain or on a branch cut."""
    v = VARIABLES[: op.arity]
    h = ir.const(Fraction(1, 2**200))
    up, down = (
        at(ir.substitute([application(op)], {v[k]: ir.add(v[k], s)})[0], op, point, 1500)
        for s in (h, ir.neg(h))
    )
    if up is None or down is None or not up.is_finite() or not down.is_finite():
        return None
    with exclusive(1500):
        slope = (up - down) * arb(2) ** 199
        return slope if abs(slope) < arb(2) ** 150 else None


@pytest.mark.sampled(10)
@having("slope")
def test_slope_bounds_the_derivative(op: Op) -> None:
    assert op.slope is not None
    assert op.partials is not None
    v = VARIABLES[: op.arity]
    for p in smooth_points(op):
        for partial, bound in zip(op.partials(*v), op.slope(*v), strict=True):
            size, limit = at(ir.abs_(partial), op, p), at(bound, op, p)  # type: ignore[arg-type]
            if size is not None and size.is_finite() and limit.is_finite():
                with exclusive(PREC):
                    assert size <= limit * (1 + arb(2) ** -100), (p, size, limit)


@having("steepest")
def test_steepest_bounds_the_derivative_everywhere(op: Op) -> None:
    assert op.partials is not None
    v = VARIABLES[: op.arity]
    for p in smooth_points(op):
        for partial in op.partials(*v):
            size = at(ir.abs_(partial), op, p)  # type: ignore[arg-type]
            if size is not None:
                assert size <= op.steepest, (p, size)


@pytest.mark.sampled
@having("live")
def test_live_arguments(op: Op) -> None:
    """An argument that does not count has no influence on the value."""
    v = VARIABLES[: op.arity]
    for p in smooth_points(op):
        for k, counts in enumerate(op.live(*v)):  # type: ignore[misc]
            if not condition(counts, op, p):
                assert difference(op, p, k) == 0, (p, k)


# --------------------------------------------------------------- exact knowledge
RATIONALS = [Fraction(n, d) for n in (-27, -8, -5, -1, 0, 1, 2, 3, 8, 100) for d in (1, 2, 8)]


@having("fold")
def test_fold_is_exact(op: Op) -> None:
    folded = 0
    for args in itertools.product(RATIONALS, repeat=op.arity):
        value = op.fold(*args)  # type: ignore[misc]
        if value is None:
            continue
        with exclusive(PREC):
            ball = op.ball(*(ir_ball(q) for q in args))  # type: ignore[misc]
            if ball.is_finite():
                assert ball.contains(ir_ball(value)), (args, value, ball)
                folded += 1
    assert folded


def ir_ball(q: Fraction) -> Any:
    return arb(q.numerator) / q.denominator


SHAPES: tuple[Callable[[Expr], Expr], ...] = (
    lambda x: x,
    ir.neg,
    ir.abs_,
    lambda x: x**2,
    lambda x: x**3,
    ir.sqrt,
    lambda x: 3 * x,
    lambda x: -2 * x,
    lambda x: ir.OPS["exp"](x),
    lambda x: ir.OPS["log"](x),
    lambda x: ir.ZERO,
    lambda x: ir.const(-3),
)


@pytest.mark.sampled(10)
@having("simplify")
def test_identities_hold_wherever_their_left_side_is_defined(op: Op) -> None:
    assert op.simplify is not None
    rewritten = 0
    for shapes in itertools.product(SHAPES, repeat=op.arity):
        for order in {VARIABLES[: op.arity], (VARIABLES[0],) * op.arity}:
            args = tuple(s(v) for s, v in zip(shapes, order, strict=True))
            right = op.simplify(*args)
            if right is None:
                continue
            left = ir.raw(op, args)
            rewritten += 1
            for p in itertools.product(REALS[::2], repeat=op.arity):
                want, got = (
                    evaluate([e], VARIABLES[: op.arity], p, PREC)[0] for e in (left, right)
                )
                if want.is_finite():
                    with exclusive(PREC):
                        same = close(got, want, 300) if op.edges is None else got.overlaps(want)
                        assert same, (left, right, p)
    assert rewritten


@pytest.mark.sampled(2)
@having("sign")
def test_sign(op: Op) -> None:
    for p in samples(op):
        ball = at(application(op), op, p)
        if ball is None or not ball.is_finite():
            continue
        if op.sign == "positive":
            assert ball > 0
        elif op.sign == "nonnegative":
            assert ball >= 0
        else:
            assert op.sign == "same"
            assert ball.sgn() == arb(p[0]).sgn(), p


@having("monotone")
def test_monotone(op: Op) -> None:
    """Values at increasing points of the domain only rise, or only fall."""
    points = sorted(x for (x,) in samples(op))
    values = [b for x in points if (b := at(application(op), op, (x,))) is not None]
    values = [b for b in values if b.is_finite()]
    steps = {a < b for a, b in itertools.pairwise(values) if not a.overlaps(b)}
    assert len(values) > 3
    assert len(steps) == 1


@pytest.mark.sampled
@having("expand")
def test_expansion_equals_the_function(op: Op) -> None:
    """A target without the function uses the expansion, to double accuracy."""
    assert op.expand is not None
    checked = 0
    for p in samples(op):
        want = at(application(op), op, p)
        if want is None or not want.is_finite():
            continue
        args = tuple(
            ir.const(p[i]) if i in integer_arguments(op) else v
            for i, v in enumerate(VARIABLES[: op.arity])
        )
        try:
            got = at(op.expand(*args), op, p)
        except NotImplementedError:
            continue
        if got is None:
            continue  # a removable point of the formula, such as 1/tan at pi/2
        assert close(got, want, 50), (p, got, want)
        checked += 1
    assert checked


# ------------------------------------------------------------------------- kinks
@every_function
def test_kinks_are_documented(op: Op) -> None:
    assert (op.kink is None) == (op.kink_rule == "")


@pytest.mark.parametrize(
    ("name", "point", "want"),
    [
        ("abs", (0.0,), (0,)),
        ("sign", (0.0,), (0,)),
        ("maximum", (1.5, 1.5), (0.5, 0.5)),
        ("minimum", (-2.5, -2.5), (0.5, 0.5)),
        ("hypot", (0.0, 0.0), (0, 0)),
        ("floor", (2.0,), (0,)),
        ("round", (2.5,), (0,)),
    ],
)
def test_derivative_at_a_kink(name: str, point: tuple[float, ...], want: tuple[float, ...]) -> None:
    op = ir.OPS[name]
    assert op.partials is not None
    for partial, w in zip(op.partials(*VARIABLES[: op.arity]), want, strict=True):
        assert partial is not None
        assert at(partial, op, point) == arb(w)


def unary_names() -> list[str]:
    """A name that people call each function of one real by."""
    found = []
    for op in TABLE:
        if op.arity != 1:
            continue
        for name in op.names:
            module, _, attribute = name.rpartition(".")
            if hasattr(importlib.import_module(module), attribute):
                found.append(name)
                break
    return found


@pytest.mark.sampled
@pytest.mark.parametrize("name", unary_names())
def test_arrays_are_as_numbers_at_any_size(name: str) -> None:
    """Overflow and underflow of a part of them, and of results; f and f'."""
    module, _, attribute = name.rpartition(".")
    function = getattr(importlib.import_module(module), attribute)
    f = symgrad(lambda x: function(x))
    sizes = [0.0, 1e-300, 1.0, 30.0, 300.0, 590.0, 650.0, 709.5, 712.0, 720.0, 744.5, 746.0, 800.0]
    sizes += [1100.0, 1e4, 1e8, 1e300]
    x = np.array([s * v for v in sizes for s in (1, -1)])
    for g in (f, f.grad):
        numbers = np.array([float(g(float(v))) for v in x])
        for arrays in (g(x), g(np.repeat(x, 3))[::3]):
            np.testing.assert_allclose(arrays, numbers, rtol=2e-15, atol=0)


def test_names_are_unique() -> None:
    names = [n for op in TABLE for n in op.names]
    assert len(names) == len(set(names))


def test_table_holds_every_function() -> None:
    declared = {v for v in vars(functions).values() if isinstance(v, Op) and v.ball is not None}
    assert declared - {*functions.DERIVED, *UNKNOWN} == set(TABLE)


@pytest.mark.slow
@pytest.mark.parametrize("order", [0, 1, 2, 5])
def test_polygamma_is_right_at_its_roots_and_beside_its_poles(order):
    def g(x):
        return scipy.special.polygamma(order, x)

    root = {0: 1.4616321449683623, 2: -0.43}.get(order, 2.0)
    x = [root, root * (1 + 1e-9), root + 1e-3, 1e-9, 0.49999, 0.5, 3.0, 22.5, 1e5, 1e12, -0.3]
    x += [-4.5001, -1e-9]
    f, proven = symgrad(g), symgrad(g, accuracy="certified")
    truth = [proven(value) for value in x]
    arrays = f(np.array(x * 10))[: len(x)]
    for found in (arrays, map(f, x)):  # what is promised of functions of numbers: 16, mostly 2
        errors = sorted(ulp_error(one, want) for one, want in zip(found, truth, strict=True))
        assert errors[-1] <= 16 and errors[len(errors) // 2] <= 2


# ------------------------------------------------------- every rule, by itself
CORE = (ir.ADD, ir.SUB, ir.MUL, ir.DIV, ir.NEG, ir.POW, ir.ABS, ir.SIGN)
WITH_RULES = [
    op for op in dict.fromkeys((*CORE, *TABLE)) if op.arity and (op.partials or op in CORE)
]


@pytest.mark.sampled(40)
@pytest.mark.parametrize("op", WITH_RULES, ids=lambda op: op.name)
def test_every_rule_agrees_with_differences_by_each_argument(op: Op) -> None:
    """As `differentiate` asks for it, with the condition under which an argument counts."""
    node = application(op)
    points = smooth_points(op) if op in TABLE else [p for p in samples(op) if is_defined(op, p)]
    for child, partial, counts in local_partials(node):
        if partial.op in UNKNOWN:
            continue  # it has no formula, and is refused
        k, checked = VARIABLES.index(child), 0
        for p in points:
            got = at(ir.where(counts, partial, 0), op, p)
            if got is None or not got.is_finite():
                continue  # an edge of the domain, or a removable point of the formula
            want = difference(op, p, k)
            if want is not None:
                with exclusive(PREC):
                    assert close(got, want, 100), (p, k, got, want)
                checked += 1
        assert checked > 1, (op.name, k)


def is_defined(op: Op, point: tuple[float, ...]) -> bool:
    ball = at(application(op), op, point)
    return ball is not None and bool(ball.is_finite())


@having("by_value")
def test_slopes_by_the_value_are_those_by_the_argument(op: Op) -> None:
    v = VARIABLES[: op.arity]
    pairs = list(zip(op.by_value(application(op)), op.partials(*v), strict=True))  # type: ignore[misc]
    checked = 0
    for p, (by_value, partial) in itertools.product(smooth_points(op), pairs):
        got, want = at(by_value, op, p), at(partial, op, p)
        if got.is_finite() and want.is_finite():
            with exclusive(PREC):
                assert close(got, want, 100), (p, got, want)
            checked += 1
    assert checked > 1


@pytest.mark.sampled(3)
@having("edges")
def test_infinite_values_at_edges_have_the_sign_of_those_beside_them(op: Op) -> None:
    """Where a value is infinite for finite arguments, as that of `yv(-1, 0)`, which is not minus infinity."""
    whole = integer_arguments(op)
    orders = (-3, -2, -1, -0.75, -0.25, 0, 0.5, 1, 2)
    first = (ORDERS if 0 in whole else orders) if op.arity > 1 else ()
    for p in itertools.product(*([first] * (op.arity - 1)), (0.0, 1.0, 2.0, -1.0)):
        value = op.edges(*p)  # type: ignore[misc]
        if value is None or not math.isinf(value):
            continue
        signs = set()
        for step in (1e-30, -1e-30):
            beside = ir.add(VARIABLES[op.arity - 1], ir.const(step))
            ball = at(ir.substitute([application(op)], {VARIABLES[op.arity - 1]: beside})[0], op, p)
            if ball is not None and ball.is_finite():
                signs.add(math.copysign(1.0, float(ball)))
        if len(signs) == 1:
            assert signs == {math.copysign(1.0, value)}, (op.name, p, value)


@pytest.mark.sampled
@pytest.mark.parametrize("order", range(-6, 3))
def test_bessel_functions_of_the_second_kind_at_zero(order: int) -> None:
    """Y of order -n is (-1)**n times that of order n, which is minus infinity at 0."""

    def f(x: float) -> Any:
        return scipy.special.yv(order, x)

    want = math.inf if order < 0 and order % 2 else -math.inf
    g = symgrad(f, verify=False)
    assert g(0.0) == want
    assert np.all(g(np.zeros(3)) == want)
    assert (g(1e-30) > 0) == (want > 0)


def test_slope_of_erfc_is_within_two_ulp() -> None:
    slope = symgrad(lambda x: math.erfc(x)).grad
    x = np.concatenate([np.linspace(-6.0, 6.0, 241), np.geomspace(1e-9, 26.0, 60)])
    (partial,) = functions.ERFC.partials(VARIABLES[0])  # type: ignore[misc]
    for got, v in zip(slope(x), x, strict=True):
        want = at(partial, functions.ERFC, (float(v),))
        assert ulp_error(float(got), want) <= 2, v
        assert ulp_error(slope(float(v)), want) <= 2, v


def test_marks_are_built_in() -> None:
    """Whatever is imported first."""
    code = "import symdiff.ir.functions as f; from symdiff import ir; print(len(set(ir.OPS.values()) - f.BUILTIN))"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert found.stdout.strip() == "0"
