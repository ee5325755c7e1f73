"""Tables of dynamic programs that infinite elements pad: gradients are limits, not nan."""

from __future__ import annotations

import math

import numpy as np
import pytest

from symdiff import ir, symgrad
from symdiff.interpret import Certified
from symdiff.ir.functions import ATAN, EXP, LOGADDEXP, SIN
from tests.law.alike import alike
from tests.law.made import made

RNG = np.random.default_rng(0)


def warping(name, before, both):
    """A function for soft dynamic time warping."""
    return made(
        "'The distance of two series.'", "r = np.full((len(x) + 1, len(y) + 1), edge)", "r[0, 0] = 0.0",
        "for i in range(1, len(x) + 1):", "    for j in range(1, len(y) + 1):",
        f"        s = {before}",
        f"        r[i, j] = (x[i - 1] - y[j - 1]) ** 2 - gamma * {both}",
        "return r[len(x), len(y)]", name=name, params="x, y, gamma, edge",
    )  # fmt: skip


warped = warping(
    "warped", "np.logaddexp(-r[i - 1, j] / gamma, -r[i, j - 1] / gamma)", "np.logaddexp(s, -r[i - 1, j - 1] / gamma)",
)  # fmt: skip
in_exponentials = warping(
    "in_exponentials", "np.exp(-r[i - 1, j] / gamma) + np.exp(-r[i, j - 1] / gamma)",
    "np.log(s + np.exp(-r[i - 1, j - 1] / gamma))",
)  # fmt: skip


def forwards(scores, moves, edge):
    """The forward algorithm of a chain whose states only grow."""
    steps, n = scores.shape
    a = np.full(n + 1, edge)
    a[1] = scores[0, 0]
    for t in range(1, steps):
        b = np.full(n + 1, edge)
        for k in range(1, n + 1):
            b[k] = scores[t, k - 1] + np.logaddexp(a[k], a[k - 1] + moves)
        a = b
    return a[n]


@pytest.mark.sampled
@pytest.mark.parametrize("gamma", [1.0, 0.1, 0.01])
@pytest.mark.parametrize("fun", [warped, in_exponentials], ids=lambda f: f.__name__)
def test_soft_time_warping(fun, gamma) -> None:
    x, y = RNG.normal(size=12), RNG.normal(size=9)
    f = symgrad(fun, wrt=("x", "y", "gamma"))
    got, want = f.grad(x, y, gamma, math.inf), f.grad(x, y, gamma, 1e8)
    assert f(x, y, gamma, math.inf) == pytest.approx(f(x, y, gamma, 1e8), rel=1e-13)
    alike(got, want, 1e-9, 1e-12)
    h = 1e-6
    slope = (f(x + h, y, gamma, math.inf) - f(x - h, y, gamma, math.inf)) / (2 * h)
    assert np.sum(got[0]) == pytest.approx(slope, rel=1e-6, abs=1e-6)


@pytest.mark.slow
def test_forward_algorithm() -> None:
    scores = np.log(RNG.uniform(size=(7, 4)))
    f = symgrad(forwards, wrt=("scores", "moves"))
    got, want = f.grad(scores, -0.3, -math.inf), f.grad(scores, -0.3, -1e8)
    alike(got, want, 1e-9, 1e-12)


# ------------------------------------------------------------------ limits at infinity
A, B, C = map(ir.var, "abc")
INF = math.inf


@pytest.mark.parametrize(
    ("e", "point", "want"),
    [
        (A / (1 + A), (INF, 0, 0), 1.0),
        (A * EXP(-A), (INF, 0, 0), 0.0),
        (EXP(A) / (EXP(A) + EXP(B)), (INF, 3.0, 0), 1.0),
        (EXP(A) / (EXP(A) + EXP(B)), (INF, INF, 0), math.nan),  # as fast as each grows
        (LOGADDEXP(LOGADDEXP(-A, -B), C), (INF, INF, 2.0), 2.0),
        (A - B, (INF, INF, 0), math.nan),
        (A * A - A, (INF, 0, 0), INF),
        (SIN(A) * A - A, (INF, 0, 0), math.nan),
        (1e-200 * A / (A + 1) + C, (INF, 0, 1e-230), 1e-200),
        (ATAN(A) - A + A, (-INF, 0, 0), -math.pi / 2),
    ],
)
def test_limits(e, point, want) -> None:
    (got,) = Certified(["a", "b", "c"], [ir.add(e, ir.ZERO)], limits=True).at(point)
    assert got == pytest.approx(want, rel=1e-15, abs=0, nan_ok=True)


def test_ieee_arithmetic_without() -> None:
    assert math.isnan(Certified(["a"], [A / (1 + A)]).at([INF])[0])
