"""Exponentials in terms of others: which are found, and that no value changes."""

import mpmath
import pytest

from symdiff import ir
from symdiff.ir import functions as F
from symdiff.passes.cancel.cancel import cancel
from symdiff.passes.differentiate import gradient
from tests.passes.evaluate import evaluate

x, y, s, k, t, r, v = (ir.var(n) for n in ("x", "y", "s", "k", "t", "r", "v"))
exp, log, erf = F.EXP, F.LOG, F.ERF


def exponentials(outputs):
    return sum(e.op is exp for e in ir.topological(outputs))


def black_scholes():
    q = v * ir.sqrt(t)
    d = (log(s / k) + (r + v * v / 2) * t) / q
    above = (erf(d / ir.sqrt(2)) + 1) / 2
    below = (erf((d - q) / ir.sqrt(2)) + 1) / 2
    return s * above - k * exp(-r * t) * below


FORMS = [
    s * exp(-((log(s / k) + v) ** 2) / 4 / v) - k * exp(-((log(s / k) - v) ** 2) / 4 / v) + s,
    exp(-((x + y) ** 2)) + exp(-((x - y) ** 2)) * exp(-4 * x * y),
    exp(-((F.LOG1P(x) + y) ** 2)) / exp(-((F.LOG1P(x) - y) ** 2) + 3 * F.LOG1P(x)),
    exp((log(x) + y) ** 2 + 1) + exp((log(x) + y) ** 2 - log(x) / 2),
    *gradient(black_scholes(), (s, k, t, r, v)),
]


@pytest.mark.parametrize("e", FORMS, ids=lambda e: repr(e)[:40])
def test_values_stay_and_exponentials_never_become_more(e):
    (after,) = cancel((e,))
    assert exponentials((after,)) <= exponentials((e,))
    points = [{"x": 0.7, "y": -0.4, "s": 97.0, "k": 103.0, "t": 0.6, "r": 0.03, "v": 0.2},
              {"x": 2.5, "y": 0.3, "s": 3.5, "k": 1.25, "t": 2.0, "r": -0.3, "v": 1.5}]  # fmt: skip
    with mpmath.workprec(200):
        for point in points:
            point = {n: mpmath.mpf(value) for n, value in point.items()}
            a, b = (evaluate(f, point) for f in (e, after))
            assert mpmath.almosteq(a, b, 2**-180, 2**-180)


def test_equal_terms_vanish():
    assert cancel((FORMS[0],))[0] is s


def test_the_sensitivities_of_black_and_scholes_are_those_of_textbooks():
    by_s, _, _, _, by_v = cancel(gradient(black_scholes(), (s, k, t, r, v)))
    assert exponentials((by_s,)) == 0
    assert exponentials((by_v,)) == 1
    assert not [e for e in ir.topological((by_v,)) if e.op is ir.SUB]


@pytest.mark.parametrize("e", [
    exp(-((x + y) ** 2)) + exp(-((x - y) ** 2)),
    exp(log(x) ** 2) + exp(log(y) ** 2),
    exp(x * x) + exp(x * x + F.SIN(y)),
    exp(x * x) + exp(x * x + log(y) / 3),
], ids=lambda e: repr(e)[:40])  # fmt: skip
def test_left_alone_where_that_takes_other_functions(e):
    assert cancel((e,))[0] is e
