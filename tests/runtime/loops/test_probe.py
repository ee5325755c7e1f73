"""When calls are probed, and what probes see, against exact sums."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.runtime import processor_modes
from symdiff.runtime.loops import probe

needs_modes = pytest.mark.skipif(
    processor_modes.environment() is None, reason="the processor's direction cannot be set"
)


def due(schedule, x, result=1.0):
    return schedule.due([np.array([x])], [result])


# ------------------------------------------------------------------------------ the schedule
def test_the_first_calls_and_then_ever_fewer():
    schedule = probe.Schedule([True, True])
    probed = [k for k in range(1, 3 * probe.SELDOM) if due(schedule, 1.0)]
    assert probed[:3] == [1, 2, 2 + probe.EAGER]
    gaps = np.diff(probed[2:])
    assert gaps[0] == probe.EVERY
    assert all(b == min(probe.RARER * a, probe.SELDOM) for a, b in itertools.pairwise(gaps))


@pytest.mark.parametrize("other", [2.0, 0.25, 1e-300, 5e-324, 1e300, -8.0])
def test_each_new_size_among_the_first_calls(other):
    schedule = probe.Schedule([True, True])
    for _ in range(5):
        due(schedule, 1.0)
    assert due(schedule, other)
    assert not due(schedule, other * (1.25 if abs(other) > 1e-320 else 1)) and not due(
        schedule, 1.5
    )
    assert due(schedule, 1.0, result=other)


def test_sizes_between_two_that_were_probed_are_known():
    schedule = probe.Schedule([True, True])
    for x in (1.0, 1e-9, 1.0, 1e-9):
        due(schedule, x)
    assert not due(schedule, 1e-4) and due(schedule, 1e-10) and due(schedule, 2.0)


def test_measuring_takes_a_tenth_of_the_calls_whatever_their_arguments_are():
    rng = np.random.default_rng(1)
    schedule = probe.Schedule([True, True])
    size, probes = 0.0, []
    for k in range(5000):
        size += rng.normal()
        if due(schedule, 2.0 ** (300 * math.sin(size / 40)), result=2.0**size):
            probes.append(k)
    late = [k for k in probes if k > 2 + probe.EAGER]
    assert all(b - a >= probe.EVERY // probe.PART for a, b in itertools.pairwise(late))
    assert 2 <= len(late) <= 8 and len(probes) <= 2 + probe.EAGER + len(late)


def test_after_a_loss_its_sizes_are_probed_until_none_is_lost():
    schedule = probe.Schedule([True, True])
    for _ in range(100):
        due(schedule, 1.0)
    while not due(schedule, 1e-9):
        pass
    for _ in range(4):
        schedule.lost()
        assert due(schedule, 1.0)  # the call after it
        assert not due(schedule, 1.0)
        assert due(schedule, 1e-9)


def test_zeros_are_a_size_too():
    schedule = probe.Schedule([True, True])
    for _ in range(5):
        due(schedule, 1.0)
    assert due(schedule, 0.0) and not due(schedule, 0.0)
    assert due(schedule, 1.0, result=0.0) and not due(schedule, 1.0, result=0.0)


def test_integers_and_what_is_not_finite_are_no_sizes():
    schedule = probe.Schedule([False, True])
    for _ in range(5):
        schedule.due([3], [1.0])
    assert not schedule.due([2**40], [math.inf])


def test_entries_and_python_agree_on_exponents():
    """The compiled entry leaves a call to Python exactly where a size is new."""
    f = symgrad(lambda x: np.sum(x * x))
    for _ in range(4):
        f(np.ones(3))
    ((_, kernel),) = f._arrays._kernels.values()
    calls = kernel.schedule.state[probe.CALLS]
    f(np.full(3, 1.1))
    assert kernel.schedule.state[probe.CALLS] == calls
    f(np.full(3, 2.0**-300))
    assert kernel.schedule.state[probe.CALLS] == calls + 1


# ------------------------------------------------------------------------------ what is seen
def lost(f, *values):
    return probe.has_lost(lambda given: [f(*given)], values, [f(*values)])


@needs_modes
@pytest.mark.parametrize(
    ("f", "x", "is_lost"),
    [
        (lambda x: (x * x + 1.0) - 1.0, 1e-6, True),
        (lambda x: (x * x + 1.0) - 1.0, 1e-9, True),  # 0 in all directions, and inexact
        (lambda x: (x + 0.1) - 0.1, 1e-8, True),
        (lambda x: x * x + 1.0, 1e-6, False),
        (lambda x: (x - x) * 3.0, 0.1, False),  # 0, and exact
        (lambda x: x / 3.0 - 1.0, 0.1, False),
    ],
)
def test_what_cancels_is_seen(f, x, is_lost):
    assert lost(f, x) == is_lost


@pytest.mark.slow
@needs_modes
def test_long_sums_are_not_taken_for_losses():
    x = np.random.default_rng(1).uniform(0.1, 1.0, 100_000)

    def total(x):
        s = 0.0
        for v in x.tolist():
            s += v
        return s

    assert not lost(total, x)
    exact = sum(map(Fraction, x.tolist()))
    assert abs(Fraction(total(x)) - exact) <= Fraction(2.0**-40) * exact


@needs_modes
def test_the_direction_is_restored():
    with pytest.raises(ZeroDivisionError), processor_modes.environment().direction(0):
        raise ZeroDivisionError
    tenth, three = float("0.1"), float("3")
    assert tenth / three == 0.03333333333333333
    f = symgrad(lambda x: np.sum(1 - np.cos(x)))
    f(np.array([1e-9, 2e-9]))
    assert tenth / three == 0.03333333333333333


@pytest.mark.sampled
@needs_modes
@pytest.mark.parametrize("name", [
    "sin", "cos", "tan", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sinh", "cosh", "tanh", "arcsin", "arccos",
    "arctan", "arcsinh", "arctanh", "cbrt",
])  # fmt: skip
@pytest.mark.parametrize("size", [1, 16])
def test_functions_of_vectors_keep_their_digits_in_all_directions(name, size):
    """They move by some units, so that what cancels is seen, and by no more."""
    f = symgrad(sum_of(name), verify=False)
    for x in (np.full(size, 0.3), np.linspace(0.01, 0.9, size)):
        f(x)
        ((_, kernel),) = f._arrays._kernels.values()
        (spread,) = kernel.spreads([x])
        assert 2.0**-54 <= spread / abs(f(x)) <= (size + 4) * 2.0**-48


def test_a_result_that_is_no_number_differs_from_one_that_is():
    for bad in (math.nan, math.inf):
        for a, b in (((0.0, 0.0), (bad, bad)), ((1.0, 2.0), (1.0, bad)), ((bad, 1.0), (1.0, 1.0))):
            assert probe.differ(np.array(a), np.array(b))
        assert not probe.differ(np.array([bad, 1.0]), np.array([bad, 1.0]))
        assert probe.differ(0.0, bad)


def sum_of(name):
    function = getattr(np, name)
    return lambda x: np.sum(function(x))
