"""Numbers that loops compute from each other: results of many steps, and what is estimated of their errors.

Truth is the same recurrence, and its adjoint by hand or by dual numbers, in fractions or with 150 bits.
"""

from __future__ import annotations

import inspect
import textwrap
import types
import warnings

import mpmath
import numpy as np
import pytest

from benchmarks.long_recurrences import Dual, sine
from symdiff import symgrad
from symdiff.errors import SymdiffError
from symdiff.ir.loop_program import Loop, walk
from symdiff.passes.accuracy.estimates import estimated
from symdiff.passes.accuracy.joint_errors import MOST
from symdiff.runtime.loops.recomputed import Recomputed
from symdiff.runtime.scalar.fallback import AccuracyWarning

BITS = 150
FLOAT = np.finfo(float)


# ---------------------------------------------------------------------------- programs
def turned(v):
    a, b = 1.0, 0.5
    for i in range(len(v)):
        a, b = a - v[i] * b, b + v[i] * a
    return a


def running_sum(x):
    s, t = 0.0, 0.0
    for i in range(len(x)):
        s += x[i]
        t += s * x[i]
    return t


def positive_sum(x):
    s, t = 0.0, 0.0
    for i in range(len(x)):
        s += x[i] * x[i]
        t += s * x[i]
    return t


def product(x):
    p, s = 1.0, 0.0
    for i in range(len(x)):
        p = p * (1 + 0.01 * x[i])
        s = s + p
    return s


def oscillator(x):
    p, v = 1.0, 0.0
    for i in range(len(x)):
        v = v - 0.01 * p + 0.01 * x[i]
        p = p + 0.01 * v
    return p


def predators(x):
    a, b = 1.0, 0.7
    for i in range(len(x)):
        a, b = a + 0.001 * (a - a * b + x[i]), b + 0.001 * (a * b - b)
    return a


def pendulum(x):
    q, p = 1.0, 0.0
    for i in range(len(x)):
        p = p - 0.01 * np.sin(q)
        q = q + 0.01 * p + 0.001 * x[i]
    return q


def smoothed(x):
    e, s = 0.0, 0.0
    for i in range(len(x)):
        e = 0.9 * e + 0.1 * x[i]
        s += (x[i] - e) ** 2
    return s


def mean_in_common(x):
    m = np.sum(x) / len(x)
    a, b = 0.0, 0.0
    for i in range(len(x)):
        a = a + (x[i] - m)
        b = b + a * m
    return b


def three(x):
    a, b, c = 1.0, 0.0, 0.5
    for i in range(len(x)):
        a, b, c = 0.8 * a - 0.6 * b, 0.6 * a + 0.8 * b + 0.01 * c, c - 0.01 * x[i] * a
    return a + b + c


def nine(x):
    """More numbers than a covariance is carried for."""
    a, b, c, d, e, f, g, h, k = 1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2
    for i in range(len(x)):
        a, b, c, d, e, f, g, h, k = (
            a - 0.01 * b * x[i],
            b + 0.01 * c,
            c - 0.01 * d,
            d + 0.01 * e,
            e - 0.01 * f,
            f + 0.01 * g,
            g - 0.01 * h,
            h + 0.01 * k,
            k - 0.01 * a,
        )
    return a


PROGRAMS = [
    turned,
    running_sum,
    positive_sum,
    product,
    oscillator,
    predators,
    pendulum,
    smoothed,
    mean_in_common,
    three,
    nine,
]


def truth(f, x, direction):
    """Value and derivative along a direction."""
    names = {"np": types.SimpleNamespace(sin=sine, sum=lambda v: sum(v[1:], v[0])), "range": range}
    exec(textwrap.dedent(inspect.getsource(f)), names)
    with mpmath.workprec(BITS):
        found = names[f.__name__](
            [Dual(a, d) for a, d in zip(x.tolist(), direction.tolist(), strict=True)]
        )
        return found.value, found.slope


def ulps(found, exact):
    with mpmath.workprec(BITS):
        return float(abs(found - exact) / (abs(exact) * mpmath.mpf(FLOAT.eps)))


@pytest.fixture
def again(monkeypatch):
    found = []
    call = Recomputed.__call__
    monkeypatch.setattr(
        Recomputed,
        "__call__",
        lambda self, *a: found.append(self.kernel.program.name) or call(self, *a),
    )
    return found


# ------------------------------------------------------------------------------- results
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [900, 3000])
def test_values_and_gradients_of_many_steps(f, n):
    rng = np.random.default_rng(n)
    x = rng.normal(size=n) * 0.1
    one = np.zeros(n)
    one[n // 3] = 1.0
    value, slope = truth(f, x, one)
    traced = symgrad(f, verify=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error", AccuracyWarning)
        assert ulps(traced(x), value) <= 16
        gradient = traced.grad(x)
    with mpmath.workprec(BITS):
        off = float(abs(gradient[n // 3] - slope))
    assert off <= 16 * np.spacing(np.abs(gradient).max())


@pytest.mark.parametrize(
    "f", [turned, running_sum, product, oscillator, predators, three], ids=lambda f: f.__name__
)
def test_they_are_right_at_once(f, again):
    x = np.random.default_rng(5).normal(size=5000) * 0.1
    traced = symgrad(f, verify=False)
    traced(x)
    traced.grad(x)
    assert not again


# ------------------------------------------------------------------------------ estimates
@pytest.mark.parametrize("f", PROGRAMS[:-1], ids=lambda f: f.__name__)
def test_estimates_are_of_the_size_of_errors(f):
    """Over six arguments of each program: not below a third of the root mean square, and less than forty times that."""
    n, errors, bounds, least = 1500, [], [], 0.0
    traced = symgrad(f, accuracy="fast", verify=False)
    for seed in range(6):
        x = np.random.default_rng(seed).normal(size=n) * 0.1
        value, _ = truth(f, x, np.zeros(n))
        with mpmath.workprec(BITS):
            errors.append(float(abs(traced(x) - value)))
        bounds.append(traced.error_bound(x) / 8)
        least = max(least, 2 * np.spacing(float(abs(value))))
    error, bound = (np.sqrt(np.mean(np.square(v))) for v in (errors, bounds))
    assert error / 3 <= bound + least
    assert bound <= 40 * max(error, least)


def test_bounds_of_what_turns_do_not_grow_without_end():
    """The sizes of the slopes would make it exp(0.01*n)."""
    traced = symgrad(oscillator, accuracy="fast", verify=False)
    x = np.random.default_rng(1).normal(size=20_000)
    assert traced.error_bound(x) < 1e-10
    assert traced.grad.error_bound(x) < 1e-8


def test_of_many_numbers_all_errors_add_up():
    traced = symgrad(nine, accuracy="fast", verify=False)
    x = np.random.default_rng(1).normal(size=50)
    program = traced._source.raw({}, traced._source.shapes({}, (x,)))
    loops = [s for s in walk(program.block) if isinstance(s, Loop)]
    assert max(len(s.carried) for s in loops) > MOST
    assert not estimated(program).joint and not estimated(program).bounded


@pytest.mark.parametrize("size", [1e-160, 1e-300])
def test_squares_of_errors_that_underflow(size):
    """A mean square of an error may vanish where the error does not."""

    def f(x):
        a, b = 1.0, 0.0
        for i in range(len(x)):
            a, b = a - x[i] * b, b + x[i] * a
        return b

    x = np.random.default_rng(3).normal(size=1500) * size
    value = sum(map(mpmath.mpf, x.tolist()), mpmath.mpf(0))  # but for terms of third order
    assert ulps(symgrad(f, verify=False)(x), value) <= 16


def test_steps_that_leave_the_range():
    """What overflows is what plain Python has, or is refused as in Python."""

    def f(x):
        a, b = 1.0, 1.0
        for i in range(len(x)):
            a, b = a + b * x[i], b + a * x[i]
        return a

    x = np.full(2000, 1.5)
    try:
        found = symgrad(f)(x)
    except SymdiffError:
        return
    assert found == f(x) == np.inf


def test_running_extremes_keep_nan():
    """A maximum of what is computed with its error, where NumPy's is nan."""
    lost = np.array([1.0, np.nan, 3.0])

    def f(x):
        return np.max(x * lost) * np.sum(x * x - 1)

    def g(x):
        s, m = 0.0, -1e9
        for i in range(len(x)):
            s = s + np.sqrt(x[i]) * s + x[i]
            m = np.maximum(m, s)
        return m - s

    for x in (np.array([1.0, 2.0, 3.0]), np.array([1.0, 4.0, -1.0])):
        with np.errstate(invalid="ignore"):
            for fun in (f, g):
                np.testing.assert_allclose(symgrad(fun, verify=False)(x), fun(x), rtol=1e-14)


def test_sums_over_several_indices_are_sums():
    """A number that a loop inside collects is not computed from another."""

    def f(w, image):
        total = 0.0
        for i in range(image.shape[0]):
            for j in range(image.shape[1]):
                total += w[j] * image[i, j]
        return total

    traced = symgrad(f, verify=False)
    w, image = np.ones(3), np.ones((4, 3))
    program = traced._source.raw({}, traced._source.shapes({}, (w, image)))
    assert not estimated(program).joint


def test_what_is_left_of_all_digits_is_no_divisor():
    """Two sums that are alike but for their order: their difference is 0, and neither it nor its correction says
    more than that in double arithmetic."""

    def f(x, e, g):
        s, t, u, v = 0.0, 0.0, 0.0, 0.0
        for i in range(len(x)):
            s += x[i]
            t += s * x[i]
        for i in range(len(x)):
            u += x[len(x) - 1 - i]
            v += u * x[len(x) - 1 - i]
        return (t - v + e) / (t - v + g)

    x = np.random.default_rng(0).normal(size=3000)
    assert symgrad(f, verify=False)(x, 3e-40, 1e-40) == pytest.approx(3.0, rel=1e-14)


@pytest.mark.parametrize("chosen", [False, True], ids=["softmax", "index"])
def test_what_decides_beside_what_is_computed(chosen):
    """A shift without a derivative, and an index by a decision: neither has an error of its own."""

    def shifted(x):
        a, b = 1.0, 0.5
        for i in range(1, len(x)):
            z = x[i - 1 : i + 1]
            p = np.exp(z - np.max(z))
            p = p / np.sum(p)
            a, b = a - p[0] * 0.01 * b, b + p[1] * 0.01 * a
        return a

    def indexed(x):
        a, b = 1.0, 0.5
        for i in range(len(x) - 1):
            j = i + 1 if a * x[i] > b else i
            a, b = a - x[j] * 0.01 * b, b + x[j] * 0.01 * a
        return a

    f = indexed if chosen else shifted
    x = np.random.default_rng(0).normal(size=300) * 0.3
    traced = symgrad(f, verify=False)
    assert traced(x) == pytest.approx(f(x), rel=1e-13)
    step = np.zeros(len(x))
    step[4] = 1e-6
    assert traced.grad(x)[4] == pytest.approx(
        (f(x + step) - f(x - step)) / 2e-6, rel=1e-7, abs=1e-9
    )


def change(y, beta, gamma):
    s, i, _ = y
    return np.array([-beta * s * i, beta * s * i - gamma * i, gamma * i])


def infected(rates, observed):
    """So many states by the method of Runge and Kutta that their errors are taken together at first, then apart."""
    beta, gamma = rates
    y = np.array([0.99, 0.01, 0.0])
    misfit = 0.0
    for seen in observed:
        for _ in range(10):
            k1 = change(y, beta, gamma)
            k2 = change(y + 0.05 * k1, beta, gamma)
            k3 = change(y + 0.05 * k2, beta, gamma)
            k4 = change(y + 0.1 * k3, beta, gamma)
            y = y + 0.1 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        misfit += (y[1] - seen) ** 2
    return misfit


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_overflows_is_infinite_as_in_python() -> None:
    f = symgrad(infected, wrt="rates").value_and_grad
    for rates in ([0.4, 0.1], [50.0, -30.0]):
        value, slopes = f(np.array(rates), np.array([0.01]))
        assert np.isfinite(value) == np.isfinite(slopes).all() == (rates[0] < 1)
        expected = infected(np.array(rates), np.array([0.01]))
        assert np.isnan(expected) or value == pytest.approx(expected, rel=1e-12)
