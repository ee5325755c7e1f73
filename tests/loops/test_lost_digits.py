"""Results of programs with arrays and loops whose sums cancel, against high precision."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from flint import arb, ctx

import symdiff
from symdiff import symgrad
from symdiff.runtime.scalar.fallback import AccuracyWarning


@pytest.fixture(autouse=True)
def _all_warnings_fail():
    with warnings.catch_warnings():
        warnings.simplefilter("error", AccuracyWarning)
        yield


def ulps(got, exact):
    """The distance in units of the last place of the truth."""
    with_bits = ctx.prec
    ctx.prec = 2000
    try:
        return float(abs(arb(float(got)) - exact)) / math.ulp(float(exact.mid()))
    finally:
        ctx.prec = with_bits


def quotient(d):
    return np.sum(1 - np.cos(d)) / np.sum(d**2)


def compound(d):
    p = 1.0
    for i in range(d.shape[0]):
        p = p * (1 + d[i])
    return p - 1


def log_mean_exp(x):
    return np.log(np.sum(np.exp(x)) / x.shape[0]) - np.sum(x) / x.shape[0]


def difference_of_norms(x, y):
    return np.sqrt(np.sum((1 + x) ** 2)) - np.sqrt(np.sum((1 + y) ** 2))


def vector(scale, n=5, seed=3):
    return scale * np.round(np.random.default_rng(seed).uniform(-1, 1, n), 3)


def balls(x):
    return [arb(float(v)) for v in x]


def test_the_gradient_of_a_quotient_of_sums():
    d = np.array([1e-9, 2e-9])
    ctx.prec = 500
    a, b = balls(d)
    top, bottom = 2 - a.cos() - b.cos(), a * a + b * b
    truth = [x.sin() / bottom - 2 * x * top / bottom**2 for x in (a, b)]
    ctx.prec = 53
    for got, want in zip(symgrad(quotient).grad(d), truth, strict=True):
        assert ulps(got, want) <= 16
    np.testing.assert_allclose(symgrad(quotient).grad(d), [2.3333e-11, -1.5333e-10], rtol=1e-3)


@pytest.mark.parametrize("n", [5, 400])
@pytest.mark.parametrize("scale", [1e-9, 1e-6, 1e-2])
def test_a_product_minus_one(scale, n):
    d = vector(scale, n)
    ctx.prec = 2000
    truth = arb(1)
    for x in balls(d):
        truth *= 1 + x
    ctx.prec = 53
    assert ulps(symgrad(compound)(d), truth - 1) <= 16


@pytest.mark.parametrize("scale", [1e-9, 1e-5, 0.3])
def test_a_log_mean_exp_minus_the_mean(scale):
    x = vector(scale)
    ctx.prec = 2000
    b = balls(x)
    truth = (sum(v.exp() for v in b) / 5).log() - sum(b) / 5
    weights = sum(v.exp() for v in b)
    slopes = [v.exp() / weights - arb(1) / 5 for v in b]
    ctx.prec = 53
    f = symgrad(log_mean_exp)
    assert ulps(f(x), truth) <= 16
    assert max(map(ulps, f.grad(x), slopes)) <= 16


def test_double_double_code_alone(monkeypatch):
    """Large arguments, where formulas of all elements would be too long."""
    from symdiff.runtime.loops import recomputed

    monkeypatch.setattr(recomputed, "FEW", -1)
    monkeypatch.setattr(recomputed, "MOST", -1)
    x, y = vector(1e-6, 1000), vector(1e-6, 1000, 4)
    ctx.prec = 2000
    norms = [sum((1 + v) ** 2 for v in balls(a)).sqrt() for a in (x, y)]
    truth = norms[0] - norms[1]
    slope = (1 + arb(float(x[7]))) / norms[0]
    ctx.prec = 53
    f = symgrad(difference_of_norms, verify=False)
    assert ulps(f(x, y), truth) <= 16
    assert ulps(f.grad(x, y)[0][7], slope) <= 16


def test_out_and_kinds_of_what_is_computed_again():
    d = np.array([1e-9, 2e-9])
    f = symgrad(quotient)
    want = f.grad(d)
    out = np.empty(2)
    assert f.grad(d, out=out) is out
    np.testing.assert_array_equal(out, want)
    value, slope = f.value_and_grad(d)
    assert type(value) is float
    np.testing.assert_array_equal(slope, want)


def test_single_precision():
    d = np.array([1e-3, 2e-3], np.float32)
    got = symgrad(quotient).grad(d)
    assert got.dtype == np.float32
    want = symgrad(quotient).grad(d.astype(float))
    np.testing.assert_allclose(got, want, rtol=1e-6)


def test_what_is_left_is_told(monkeypatch):
    from symdiff.runtime.loops import recomputed

    monkeypatch.setattr(recomputed, "FEW", -1)
    monkeypatch.setattr(recomputed, "MOST", -1)
    x = vector(1e-15, 50)
    with (
        pytest.warns(AccuracyWarning, match="log_mean_exp lost digits"),
        symdiff.options(validate=False),
    ):
        symgrad(log_mean_exp, verify=False)(x)


def test_arguments_that_are_not_finite():
    with np.errstate(all="ignore"):
        assert math.isnan(symgrad(quotient)(np.array([1.0, math.nan])))


def rotation(x):
    a, b = 1.0, 0.0
    for i in range(x.shape[0]):
        a, b = a - x[i] * b, b + x[i] * a
    return a * a + b * b


def test_recurrences_without_loss_are_not_computed_again(monkeypatch):
    from symdiff.runtime.loops import recomputed

    def never(*args):
        raise AssertionError("computed again")

    monkeypatch.setattr(recomputed.Recomputed, "__call__", never)
    x = vector(0.3, 6)
    with symdiff.options(validate=False):
        for f in (rotation, np_sums, ewma):
            g = symgrad(f, verify=False)
            g(x)
            g.grad(x)


def np_sums(x):
    return np.sum(np.exp(x)) * np.sum(x**2) / (1 + np.sum(np.cos(x) ** 2))


def ewma(x):
    e = 2.0
    for i in range(x.shape[0]):
        e = 0.5 * e + 0.5 * (2 + x[i])
    return e


def network(W, U, x, c):
    h = np.zeros(W.shape[0])
    for t in range(len(x)):
        h = np.tanh(W @ h + U * x[t])
    return np.sum(h) - c


def test_after_false_alarms_every_call_is_still_looked_at(monkeypatch):
    """Bounds of long recurrences with matrices are far above their errors: those are computed."""
    from symdiff.runtime.loops.recomputed import Recomputed

    tiers = []
    run = Recomputed._run
    monkeypatch.setattr(
        Recomputed, "_run", lambda self, tier, *args: tiers.append(tier) or run(self, tier, *args)
    )
    rng = np.random.default_rng(5)
    W, U, x = rng.normal(size=(32, 32)) / 6, rng.normal(size=32), rng.normal(size=60)
    f, plain = symgrad(network, verify=False), symgrad(network, accuracy="fast", verify=False)
    for _ in range(8):
        for a, b in zip(f.grad(W, U, x, 0.0), plain.grad(W, U, x, 0.0), strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=16 * np.spacing(np.abs(b).max()))
        c = round(f(W, U, x, 0.0), 11)
    with_bits, ctx.prec = ctx.prec, 200
    h = [arb(0)] * 32
    for t in range(60):
        sums = [sum((arb(float(a)) * b for a, b in zip(row, h, strict=True)), arb(0)) for row in W]
        h = [(s + arb(float(u)) * arb(float(x[t]))).tanh() for s, u in zip(sums, U, strict=True)]
    truth = sum(h, arb(0)) - arb(c)
    ctx.prec = with_bits
    assert abs(truth) < 1e-11
    assert ulps(f(W, U, x, c), truth) <= 16
    assert tiers.count("wide") <= 1
