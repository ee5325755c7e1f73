"""Loops that end, go on or skip at an equality: the derivative is that of t -> f(p + t e_i)."""

import math
import warnings

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.errors import GuardWarning


def product(x):
    p = 1.0
    for i in range(len(x)):
        if x[i] == 0:
            return 0.0
        p = p * x[i]
    return p


def product_of_truths(x):
    p = 1.0
    for v in x:
        if not v:
            return 0.0
        p *= v
    return p


def product_with_flag(x):
    p, has_zero = 1.0, False
    for i in range(len(x)):
        if x[i] == 0.0:
            has_zero = True
            break
        p = p * x[i]
    return 0.0 if has_zero else p


def product_for_else(x):
    p = 1.0
    for i in range(len(x)):
        if x[i] == 0:
            break
        p = p * x[i]
    else:
        return p
    return 0.0


def product_while_else(x):
    p, i = 1.0, 0
    while i < x.size:
        if x[i] == 0:
            break
        p = p * x[i]
        i += 1
    else:
        return p
    return 0.0


def product_of_rows(m):
    p = 1.0
    for r in range(m.shape[0]):
        if np.any(m[r] == 0):
            return 0.0
        p = p * np.prod(m[r])
    return p


def power_series(c, t):
    s, p = 0.0, 1.0
    for i in range(len(c)):
        if p == 0:
            break
        s = s + c[i] * p
        p = p * t
    return s


def power_series_while(c, t):
    s, p, i = 0.0, 1.0, 0
    while i < len(c) and abs(p) != 0:
        s += c[i] * p
        p *= t
        i += 1
    return s


def power_series_late(c, t):
    s, p = 0.0, 1.0
    for i in range(len(c)):
        s = s + c[i] * p
        p = p * t
        if p == 0.0:
            break
    return s


def barycentric(x, nodes, values, weights):
    above = below = 0.0
    for j in range(len(nodes)):
        d = x - nodes[j]
        if d == 0:
            return values[j]
        above = above + weights[j] * values[j] / d
        below = below + weights[j] / d
    return above / below


def determinant(a):
    n, m, d = a.shape[0], a.copy(), 1.0
    for k in range(n):
        if m[k, k] == 0:
            return 0.0
        d = d * m[k, k]
        for i in range(k + 1, n):
            f = m[i, k] / m[k, k]
            for j in range(k, n):
                m[i, j] = m[i, j] - f * m[k, j]
    return d


def skips(x):
    p, i = 0.0, 0
    while i < len(x):
        v = x[i]
        i += 1
        if v == 0:
            continue
        p = p + v * v + v
    return p


def first_other(x):
    for i in range(len(x)):
        if x[i] != 0:
            return 3 * x[i]
    return 0.0


def position(d, t):
    i, n = 0, len(d)
    while i < n and d[i] != t:
        i += 1
    return t * t + i


def agreement(x, y):
    s = 0.0
    for i in range(len(x)):
        if x[i] == y[i]:
            return s
        s = s + (x[i] - y[i]) * x[i]
    return s


def rising(a, n):
    r = 1.0
    for k in range(n):
        if a + k == 0:
            return 0.0
        r = r * (a + k)
    return r


def hypergeometric(a, b, x):
    s, t, k = 1.0, 1.0, 0
    while t != 0 and k < 60:
        t = t * (a + k) * (b + k) / ((1.0 + k) * (k + 1)) * x
        s = s + t
        k += 1
    return s


def square_root(a):
    y = 1.0
    while True:
        new = 0.5 * (y + a / y)
        if new == y:
            return y
        y = new


def matched_rows(m, t):
    s = 0.0
    for r in range(m.shape[0]):
        if np.all(m[r] == t):
            return s
        s = s + np.sum((m[r] - t) ** 2)
    return s


ZERO = np.array([2.0, 0.0, 3.0])
C = np.array([5.0, 7.0, 9.0])
CASES = [
    (product, (ZERO,), [0, 6, 0]),
    (product_of_truths, (ZERO,), [0, 6, 0]),
    (product_with_flag, (ZERO,), [0, 6, 0]),
    (product_for_else, (ZERO,), [0, 6, 0]),
    (product_while_else, (ZERO,), [0, 6, 0]),
    (product, (np.array([2.0, 0.0, 0.0]),), [0, 0, 0]),
    (product_of_rows, (np.array([[2.0, 3.0], [0.0, 5.0], [7.0, 1.0]]),), [0, 0, 210, 0, 0, 0]),
    (power_series, (C, 0.0), [1, 0, 0, 7]),
    (power_series_while, (C, 0.0), [1, 0, 0, 7]),
    (power_series_late, (C, 0.0), [1, 0, 0, 7]),
    (determinant, (np.array([[2.0, 1.0], [4.0, 2.0]]),), [2, -4, -1, 2]),
    (skips, (ZERO,), [5, 1, 7]),
    (first_other, (ZERO,), [3, 0, 0]),
    (first_other, (np.array([0.0]),), [3]),
    (rising, (-1.0, 20), [-math.factorial(18)]),
    (hypergeometric, (0.5, 1.0, 0.0), [0, 0, 0.5]),
    (square_root, (1.0,), [0.5]),
    (square_root, (2.0,), [0.5 / math.sqrt(2)]),
]


def flat(found):
    found = found if isinstance(found, tuple) else (found,)
    return np.concatenate([np.ravel(v) for v in found])


@pytest.mark.sampled(21)
@pytest.mark.parametrize(("f", "args", "slopes"), CASES)
def test_a_loop_that_ends_at_an_equality_has_the_slope_of_the_function(f, args, slopes):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert flat(symgrad(f).grad(*args)) == pytest.approx(slopes, rel=1e-12, abs=1e-12)


@pytest.mark.slow
def test_interpolation_at_a_node():
    nodes = np.array([0.0, 1.0, 2.0])
    f = symgrad(barycentric, wrt=("x", "values"))
    by_x, by_values = f.grad(1.0, nodes, nodes**2, np.array([0.5, -1.0, 0.5]))
    assert by_x == pytest.approx(2)
    assert by_values == pytest.approx([0, 1, 0])


@pytest.mark.slow
def test_a_jump_has_the_slope_of_the_branch():
    with pytest.warns(GuardWarning):
        found = symgrad(matched_rows).grad(
            np.array([[2.0, 3.0], [1.0, 1.0], [7.0, 1.0]]), np.ones(2)
        )
    assert flat(found) == pytest.approx([2, 4, 0, 0, 0, 0, -2, -4])


@pytest.mark.slow
def test_a_search_has_the_slope_of_what_it_computes():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GuardWarning)
        assert flat(symgrad(position).grad(np.array([1.0, 2.0, 3.0]), 2.0)) == pytest.approx(
            [0, 0, 0, 4]
        )
        found = symgrad(agreement).grad(np.array([2.0, 3.0]), np.array([1.0, 3.0]))
    assert flat(found) == pytest.approx([3, 3, -2, -3])


@pytest.mark.slow
def test_second_derivatives_where_a_loop_ends():
    (_, _), (by_c, twice) = symgrad(power_series).hessian(C, 0.0)
    assert by_c == pytest.approx([0, 1, 0])
    assert twice == pytest.approx(18)


def series(x):
    s, t, k = 1.0, 1.0, 1
    while True:
        t = t * x / k
        if s + t == s:
            break
        s = s + t
        k = k + 1
    return s


def series_of_odd(x):
    s, t, k = x, x, 1
    while s + t != s:
        t = -t * x * x / ((2 * k) * (2 * k + 1))
        s = s + t
        k += 1
    return s


def geometric(x):
    total, old, term = 0.0, -1.0, 1.0
    while total != old:
        old = total
        total = total + term
        term = term * x
    return total


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("f", "x", "slope"),
    [
        (series, 0.5, math.exp(0.5)),
        (series, 0.0, 1.0),
        (series_of_odd, 0.5, math.cos(0.5)),
        (series_of_odd, 0.0, 1.0),
        (geometric, 0.5, 4.0),
        (geometric, 0.0, 1.0),
    ],
)
def test_series_until_nothing_changes(f, x, slope):
    assert symgrad(f, accuracy="fast").grad(x) == pytest.approx(slope, rel=1e-12)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("f", [series, series_of_odd, geometric, square_root])
def test_tests_of_rounding_are_no_points(f, monkeypatch):
    from symdiff.runtime.loops.by_definition import Points

    asked = []
    held = Points.held
    monkeypatch.setattr(Points, "held", lambda self, values: asked.append(1) or held(self, values))
    g = symgrad(f, accuracy="fast").grad
    for x in (0.3, 0.5, 0.7):
        g(x)
    assert not asked


def test_an_equality_that_holds_around_the_point_is_a_branch(monkeypatch):
    from symdiff.runtime.loops.by_definition import Points

    def until_negative(x):
        s = 0.0
        for i in range(len(x)):
            v = max(x[i], 0.0)
            if v == 0:
                break
            s += v * v
        return s

    asked = []
    call = Points.__call__
    monkeypatch.setattr(Points, "__call__", lambda self, *a: asked.append(1) or call(self, *a))
    g = symgrad(until_negative, accuracy="fast").grad
    assert g(np.array([1.0, 2.0, -1.0, 3.0])) == pytest.approx([2, 4, 0, 0])
    assert not asked


def test_a_loop_that_ends_at_no_argument_nearby_ends():
    def counted(x, n):
        t, s = 0.0, x
        while t != n:
            s = s * x + 1
            t = t + 1.0
        return s

    assert symgrad(counted, accuracy="fast").grad(0.5, 3.0) == (2.5, 0.0)
