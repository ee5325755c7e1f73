"""Powers by the index of a loop, which loops carry as products: against fractions and plain Python."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.ir import POW, topological
from symdiff.ir.loop_program import expressions, walk
from symdiff.lowering.loops.vector_ready import ready


def residual(c, t, s):
    powers = t[:, None] ** np.arange(len(c))
    return np.sum((s - powers @ c) ** 2) / 2


def horner(c, t):
    total = 0.0
    for i in range(len(c)):
        total += c[i] * t**i
    return total


def mixed(c, t):
    """The order of iterations counts in the reverse of this one."""
    total = 0.0
    for i in range(len(c)):
        total = 0.5 * total * total + c[i] * t**i
    return total


def exact_slope(c, t, s):
    c, t, s = (list(map(Fraction, a.tolist())) for a in (c, t, s))
    left = [a - sum(v * b**j for j, v in enumerate(c)) for a, b in zip(s, t, strict=True)]
    return [-sum(r * b**j for r, b in zip(left, t, strict=True)) for j in range(len(c))]


@pytest.mark.sampled
@pytest.mark.parametrize("accuracy", ["high", "fast"])
@pytest.mark.parametrize("m", [1, 2, 40])
def test_least_squares_of_a_polynomial(accuracy, m):
    rng = np.random.default_rng(m)
    c, t, s = rng.random(m), np.linspace(-1, 1, 25), rng.random(25)
    slope = symgrad(residual, wrt="c", accuracy=accuracy, verify=False).grad(c, t, s)
    truth = list(map(float, exact_slope(c, t, s)))
    np.testing.assert_allclose(slope, truth, rtol=0, atol=1e-13 * np.abs(truth).max())


@pytest.mark.sampled
@pytest.mark.parametrize("t", [0.0, -0.0, -2.0, 1.0, 1e-3, math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("n", [0, 1, 2, 9])
def test_single_bases(t, n):
    c = np.random.default_rng(n).random(n) + 1
    f = symgrad(horner, wrt="c", accuracy="fast", verify=False)
    with np.errstate(all="ignore"):
        truth = [float(np.float64(t) ** i) for i in range(n)]
        value = horner(c, np.float64(t))
    np.testing.assert_allclose(f.grad(c, t), truth, rtol=1e-15)
    assert f(c, t) == pytest.approx(value, rel=1e-14, nan_ok=True)


@pytest.mark.sampled
@pytest.mark.parametrize("accuracy", ["high", "fast"])
def test_where_the_order_counts(accuracy):
    c, t = np.random.default_rng(0).random(12), -0.7
    value, bar = Fraction(0), [Fraction(0)] * 12
    states = []
    for i, v in enumerate(map(Fraction, c.tolist())):
        states.append(value)
        value = value * value / 2 + v * Fraction(t) ** i
    after = Fraction(1)
    for i in reversed(range(12)):
        bar[i] = after * Fraction(t) ** i
        after *= states[i]
    slope = symgrad(mixed, wrt="c", accuracy=accuracy, verify=False).grad(c, t)
    np.testing.assert_allclose(slope, list(map(float, bar)), rtol=1e-13)


def test_no_powers_are_left():
    f = symgrad(residual, wrt="c", accuracy="fast", verify=False).grad
    c, t = np.ones(3), np.linspace(-1, 1, 4)
    f(c, t, t)
    ((_, kernel),) = f._arrays._kernels.values()
    for program, some in ((kernel.program, True), (ready(kernel.program), False)):
        roots = [e for s in walk(program.block) for e in expressions(s)]
        assert any(e.op is POW and e.args[1].args == () and e.args[1].op.name == "index"
                   for e in topological(roots)) == some  # fmt: skip
