"""What is said of errors of programs with arrays and loops, against exact sums."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from symdiff import UnsupportedError, symgrad


def polynomial(x, y):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i] - 0.25 * x[i] ** 3
    return total


def exact_polynomial(x, y):
    x, y = ([Fraction(float(v)) for v in a] for a in (x, y))
    return sum(a * b - a**3 / 4 for a, b in zip(x, y, strict=True))


def squares(w, a):
    return np.sum((a @ w) ** 2)


def quotient(d):
    return np.sum(1 - np.cos(d)) / np.sum(d**2)


@pytest.mark.sampled
@pytest.mark.parametrize("n", [3, 100, 5000])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("accuracy", ["fast", "high", "strict"])
def test_a_number_is_within_its_bound(n, scale, accuracy):
    rng = np.random.default_rng(n)
    x, y = scale * rng.standard_normal(n), rng.standard_normal(n)
    f = symgrad(polynomial, accuracy=accuracy)
    off = abs(Fraction(f(x, y)) - exact_polynomial(x, y))
    bound = f.error_bound(x, y)
    assert off <= Fraction(bound)
    limit = {"fast": math.inf, "high": 2.0**-40, "strict": 16.001 * 2.0**-52}[accuracy]
    assert bound <= limit * abs(f(x, y))


def test_a_bound_is_no_worse_than_it_must_be():
    """Of a sum of terms that do not cancel, what their roundings in one direction come to."""
    x = np.random.default_rng(1).uniform(1, 2, 3000)
    f = symgrad(lambda x: np.sum(x * x), accuracy="fast")
    assert 0 < f.error_bound(x) <= 1e-12 * f(x)


@pytest.mark.slow
def test_of_arrays_the_element_that_is_off_most():
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((20, 30)), rng.standard_normal((30, 10))
    f = symgrad(lambda a, b: a @ b, accuracy="fast")
    got, bound = f(a, b), f.error_bound(a, b)
    worst = 0
    for i, j in np.ndindex(got.shape):
        pairs = zip(a[i].tolist(), b[:, j].tolist(), strict=True)
        terms = (Fraction(p) * Fraction(q) for p, q in pairs)
        worst = max(worst, abs(sum(terms) - Fraction(float(got[i, j]))))
    assert worst <= Fraction(bound)
    assert bound < 1e-12


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(3))
def test_partial_sums_count(seed):
    """Of columns, which are added up one row after the other, and of a product in the order of its inner index."""
    rng = np.random.default_rng(seed)
    a, b, v = rng.standard_normal((300, 9)), rng.standard_normal((300, 4)), rng.standard_normal(300)
    for f, left in ((lambda v, a: v @ a, v[:, None]), (lambda b, a: b.T @ a, b)):
        g = symgrad(f, accuracy="fast")
        given = (v, a) if left.shape[1] == 1 else (b, a)
        got = np.reshape(g(*given), (left.shape[1], 9))
        with mpmath.workprec(200):
            exact = {
                (i, j): mpmath.fdot(map(mpmath.mpf, left[:, i]), map(mpmath.mpf, a[:, j]))
                for i, j in np.ndindex(got.shape)
            }
            off = max(abs(mpmath.mpf(got[k]) - exact[k]) for k in exact)
        # roundings in one direction add up as their number, those to nearest as its root
        assert off <= g.error_bound(*given) <= 30 * math.sqrt(300) * off


@pytest.mark.slow
def test_bounds_nest_as_results_do():
    a, w = np.ones((3, 2)), np.array([0.1, 0.7])
    value, (by_w, by_a) = symgrad(squares, accuracy="fast").value_and_grad.error_bound(w, a)
    assert all(0 < v < 1e-14 for v in (value, by_w, by_a))
    nested = symgrad(lambda p: np.sum((p["a"] @ p["w"]) ** 2)).grad.error_bound({"a": a, "w": w})
    assert set(nested) == {"a", "w"}
    assert all(0 < v < 1e-14 for v in nested.values())


def test_in_single_precision_a_unit_is_larger():
    x = np.linspace(1, 2, 50)
    f = symgrad(lambda x: np.sum(x * x * x), accuracy="fast")
    assert 2**25 < f.error_bound(x.astype(np.float32)) / f.error_bound(x) < 2**32


def test_functions_of_numbers_are_within_16_ulp():
    f = symgrad(lambda x: {"a": x * x - 2, "b": np.sin(x)})
    assert f.error_bound(3.0) == {"a": 16 * math.ulp(7.0), "b": 16 * math.ulp(math.sin(3.0))}
    with pytest.raises(UnsupportedError, match="function of numbers"):
        symgrad(lambda x: x * x - 2, accuracy="fast").error_bound(3.0)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("level", "words"),
    [
        ("fast", "error_bound"),
        ("high", "largest element"),
        ("strict", "each element"),
    ],
)
def test_the_report_says_what_is_promised(level, words):
    f = symgrad(squares, accuracy=level)
    f(np.ones(2), np.ones((3, 2)))
    (told,) = [x for x in f.report().findings if x.kind == "accuracy"]
    assert words in told.text


@pytest.mark.slow
def test_sums_on_the_way_count():
    """What an array is after two statements says nothing of what it was between them."""

    def back_and_forth(x):
        y = np.zeros(2)
        for _ in range(100):
            y = y + x * 0.1
            y = y - x * 0.1
        return y + x * 1e-12

    x = np.array([3.9, 0.3])
    np.testing.assert_allclose(symgrad(back_and_forth)(x), 1e-12 * x, rtol=1e-15)
