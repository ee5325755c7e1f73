"""Outputs with all their errors: right to the last bits, or flagged."""

from __future__ import annotations

import math
import warnings

import mpmath
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import special

from symdiff import ir, symgrad
from symdiff.interpret import Certified, ulp_error
from symdiff.ir import Expr
from symdiff.ir import functions as f
from symdiff.lowering.target import COMPENSATED, LIGHT, PLAIN
from symdiff.passes.accuracy.compensate import compensate, first_tier, often_flagged
from symdiff.passes.differentiate import gradient
from symdiff.pipeline.lowered.scalar import error_test
from symdiff.runtime.scalar.fallback import Tiered
from symdiff.runtime.scalar.kernel import Kernel
from tests.kernels import make_kernel
from tests.passes.expressions import EXPRESSIONS, X, Y

SIZE = 40_000
"""More than goes through the builtin for small arrays."""
ULPS = 8


def corrected(outputs: tuple[Expr, ...], light: bool = False) -> Kernel | None:
    """The kernel with all errors, without the other tiers."""
    found = compensate(outputs, light)
    if not found:
        return None
    return make_kernel(found, test=error_test)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(EXPRESSIONS, st.integers(0, 2**32 - 1), st.booleans())
def test_what_is_not_flagged_is_right(e: Expr, seed: int, light: bool) -> None:
    outputs = (e, *gradient(e, [X, Y]))
    kernel = corrected(outputs, light)
    if kernel is None:
        return
    rng = np.random.default_rng(seed)
    x, y = (rng.choice([-1, 1], 100) * 2 ** rng.uniform(-4, 4, 100) for _ in "xy")
    x[50:] = np.round(x[50:])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        got = kernel.evaluate([x, y])
    reference = Certified(["x", "y"], outputs)
    flags = got.flags if got.flags is not None else np.zeros(100)
    for k in (*range(10), *range(50, 60)):
        if flags[k]:
            continue
        for value, answer in zip(got.values, reference.at_with_status([x[k], y[k]]), strict=True):
            if answer.status == "exact" and abs(answer.value) > 2.0**-1022:
                assert ulp_error(value[k], answer.ball) <= ULPS, (outputs, x[k], y[k])


CANCEL = {
    "difference": f.LOG(X) / (X - 1) - Y,
    "chain": f.SIN(f.COS(f.EXP(f.SIN(f.COS(f.EXP(-X * X)))))) * Y,
    "nested": f.ERF(f.LOG(X * Y) / ir.sqrt(X)) + f.TANH(X - Y) - f.ATAN(Y),
    "products": (f.EXP(X) - f.EXP(Y)) * (f.SIN(X) - f.SIN(Y)),
    "powers": (X - Y) ** 3 / (X * X + Y) + (X * Y) ** ir.const(1.5) - X,
    "choices": ir.where(ir.lt(X, Y), f.EXPM1(X - Y), f.LOG1P(X - Y)) + ir.abs_(X - 2 * Y),
    "angles": f.ATAN2(Y, X - 1) + f.ASIN(X / (X + Y)) - f.ACOS(Y / (X + Y)) - X / 2,
    "general powers": X**Y - Y + (X * Y) ** ir.const(ir.Fraction(1, 3)) - f.CBRT(X),
    "inverses": f.ASINH(X - Y) + f.ACOSH(1 + X * Y) - f.ATANH(X / (X + Y)) - f.ERFC(X - Y),
    "constants": f.PI() * X - 3 * Y + f.LOG(X) / 10,
}


@pytest.mark.sampled
@pytest.mark.parametrize(("light", "most"), [(False, 100), (True, 700)], ids=["full", "light"])
@pytest.mark.parametrize("name", CANCEL)
def test_few_are_flagged(name: str, light: bool, most: int) -> None:
    outputs = (CANCEL[name], *gradient(CANCEL[name], [X, Y]))
    kernel = corrected(outputs, light)
    assert kernel is not None
    rng = np.random.default_rng(1)
    x, y = (2 ** rng.uniform(-2, 2, 2000) for _ in "xy")
    got = kernel.evaluate([x, y])
    assert got.flagged < most
    reference = Certified(["x", "y"], outputs)
    flags = got.flags if got.flags is not None else np.zeros(2000)
    for k in np.flatnonzero(flags == 0)[:200]:
        for value, answer in zip(got.values, reference.at_with_status([x[k], y[k]]), strict=True):
            assert ulp_error(value[k], answer.ball) <= (8 if light else 2), (x[k], y[k])


def test_what_needs_no_correction_has_none() -> None:
    first, second = compensate((X * X + 1, f.SIN(X) - X))
    assert first.op is PLAIN and second.op is COMPENSATED
    assert compensate((f.ERFINV(X) - X,)) == ()


def test_errors_beyond_the_first_order_are_flagged() -> None:
    difference = X - Y * Y
    kernel = corrected((1 / (f.LOG(X) - 2 * f.LOG(Y)) + 1 / difference,))
    assert kernel is not None
    y = np.array([1.5, 1.5, 1.1])
    x = np.array([2.0, 2.25 + 2**-8, 1.1 * 1.1])
    assert kernel.evaluate([x, y]).flags.tolist() == [0, 0, 1]


def test_outside_of_what_functions_have_corrections_for() -> None:
    kernel = corrected((f.SIN(X) - f.EXP(Y),))
    assert kernel is not None
    x = np.array([1.0, 1e6, 1.0, 1.0])
    y = np.array([1.0, 1.0, 650.0, -2000.0])
    with np.errstate(all="ignore"):
        assert kernel.evaluate([x, y]).flags.tolist() == [0, 1, 1, 1]


# ------------------------------------------------------------------ in front of balls
def amplified(x):
    return math.sin(math.cos(math.exp(math.sin(math.cos(math.exp(-x * x))))))


def test_arrays_that_are_all_flagged() -> None:
    g = symgrad(amplified).grad
    x = np.random.default_rng(0).uniform(-1.5, 1.5, SIZE)
    got = g(x)
    proven = symgrad(amplified, accuracy="certified").grad(x[::400])
    np.testing.assert_allclose(got[::400], proven, rtol=1e-15)
    np.testing.assert_array_equal(g(x[:1000]), got[:1000])
    target = x.copy()
    assert g(target, out=target) is target
    np.testing.assert_array_equal(target, got)


def test_functions_have_fewer_bits_where_these_do() -> None:
    kernel = symgrad(amplified).grad._compiled({})[1].kernel
    assert {o.op for o in kernel._spec("float64", "lean").outputs} == {LIGHT}
    assert {o.op for o in kernel.function.compensated().outputs} == {COMPENSATED}
    without = first_tier(((X - Y) ** 3 - X, X**3 - Y), lambda _: None, strict=False)
    assert LIGHT not in {o.op for o in without}


def test_numbers_that_are_all_flagged() -> None:
    kernel = symgrad(amplified)._compiled({})[1].kernel
    assert kernel._spec("float64", "point").outputs[0].op is COMPENSATED
    assert math.isclose(kernel.fast(0.7), amplified(0.7), rel_tol=1e-14)


def test_what_is_seldom_flagged_is_computed_as_before() -> None:
    assert not often_flagged((f.SIN(X) / X - Y,), strict=False)
    assert often_flagged((CANCEL["chain"],), strict=False)
    assert often_flagged((CANCEL["chain"],), strict=True)


def test_flagged_elements_come_from_the_corrected_kernel() -> None:
    outputs = (f.SIN(X) - X / Y,)
    kernel = make_kernel(outputs, tiered=True, rearranged=False)
    x, y = np.full(SIZE, 1.0), np.full(SIZE, 1.5)
    y[7], y[-1] = 1 / math.sin(1.0), 1 / math.sin(1.0) * (1 + 2**-5)
    got = kernel.evaluate([x, y])
    values = Tiered(kernel, outputs)([x, y])
    reference = Certified(["x", "y"], outputs)
    for k in (0, 7, SIZE - 1):
        (answer,) = reference.at_with_status([x[k], y[k]])
        assert ulp_error(values[0][k], answer.ball) <= 4
    assert got.flagged <= 1  # balls tell best what is nearly zero
    assert kernel._compensated is not None


def _beta(a, b):
    return special.gammaln(a) + special.gammaln(b) - special.gammaln(a + b)


def _student(x, n):
    odd = special.gammaln((n + 1) / 2) - special.gammaln(n / 2)
    return odd - (n + 1) / 2 * np.log1p(x * x / n)


def test_gamma_functions_of_both_signs_have_corrections() -> None:
    """Computed with all errors alone, where that is not flagged."""
    outputs = (f.LGAMMA(X) + ir.ONE, f.GAMMA(X) * (X + 3), f.POLYGAMMA(ir.ZERO, X) + X)
    kernel = corrected(outputs)
    assert kernel is not None
    x = np.random.default_rng(4).uniform(-6, 8, 4000)
    result = kernel.evaluate([x, x])
    assert result.flagged < len(x) // 20
    with mpmath.workdps(40):
        for k in np.flatnonzero(~np.asarray(result.flags))[::40]:
            t = mpmath.mpf(x[k])
            true = (
                mpmath.log(abs(mpmath.gamma(t))) + 1,
                mpmath.gamma(t) * (t + 3),
                mpmath.digamma(t) + t,
            )
            for value, exact in zip(result.values, true, strict=True):
                assert abs(value[k] - exact) <= ULPS * 2.0**-52 * abs(exact)


@pytest.mark.parametrize("fun", [special.digamma, _beta, _student])
def test_gamma_functions_have_corrections(fun, monkeypatch) -> None:
    """Balls compute few elements of likelihoods and their gradients by shapes."""
    asked = []
    proven = Tiered._proven
    monkeypatch.setattr(Tiered, "_proven", lambda *args: asked.append(args[1]) or proven(*args))
    rng, count = np.random.default_rng(3), 1000
    names = 1 if fun is special.digamma else 2
    size = 10 ** rng.uniform(0, 5, count)
    args = [size * (0.5 + rng.random(count)) for _ in range(names)]
    f = symgrad(lambda x: special.digamma(x)) if names == 1 else symgrad(fun)
    found = np.vstack([f(*args), *np.atleast_2d(f.grad(*args))])
    assert sum(map(len, asked)) <= count // 20
    exact = {
        special.digamma: lambda x: (mpmath.digamma(x), mpmath.polygamma(1, x)),
        _beta: lambda a, b: (
            mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(a + b),
            mpmath.digamma(a) - mpmath.digamma(a + b),
            mpmath.digamma(b) - mpmath.digamma(a + b),
        ),
        _student: lambda x, n: (
            mpmath.loggamma((n + 1) / 2)
            - mpmath.loggamma(n / 2)
            - (n + 1) / 2 * mpmath.log1p(x * x / n),
            -(n + 1) * x / (n + x * x),
            (mpmath.digamma((n + 1) / 2) - mpmath.digamma(n / 2) - mpmath.log1p(x * x / n)) / 2
            + (n + 1) * x * x / (2 * n * (n + x * x)),
        ),
    }[fun]
    with mpmath.workdps(50):
        for k in range(0, count, 25):
            for value, true in zip(
                found[:, k], exact(*(mpmath.mpf(a[k]) for a in args)), strict=True
            ):
                assert abs(value - true) <= 16 * 2.0**-52 * abs(true)
