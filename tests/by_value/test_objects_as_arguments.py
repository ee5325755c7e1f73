"""Arguments that are no numbers: dates, functions, classes, objects with methods; and defaults that hold no numbers."""

from __future__ import annotations

import datetime
import math
import threading
from dataclasses import dataclass

import numpy as np
import pytest

from symdiff import UnsupportedError, symgrad

pytestmark = pytest.mark.filterwarnings("ignore::symdiff.ByValueWarning")


class Spring:
    """Counts its calls, which the caller does not see: arguments are not changed."""

    def __init__(self, k):
        self.k, self.calls = k, 0

    def force(self, x):
        self.calls += 1
        return np.exp(self.k * x) * self.calls


def at_hour(x, when):
    return x * when.hour + when.microsecond


def called(x, f):
    return f(2 * x)


def forced(x, spring):
    return spring.force(x) + spring.force(x)


def kept(x, kinds):
    return x * sum(isinstance(x, k) for k in kinds)


NOON = datetime.datetime(2019, 1, 4, 12)


@pytest.mark.parametrize(
    ("f", "argument", "value", "slope"),
    [
        (at_hour, NOON, 8.4, 12.0),
        (called, math.sin, math.sin(1.4), 2 * math.cos(1.4)),
        (called, np.square, 1.96, 5.6),
        (called, lambda x: np.log(x), math.log(1.4), 1 / 0.7),
        (called, Spring(3.0).force, math.exp(4.2), 6 * math.exp(4.2)),
        (forced, Spring(2.0), 3 * math.exp(1.4), 6 * math.exp(1.4)),
        (kept, (float, int, str), 0.7, 1.0),
    ],
)
def test_value_and_slope(f, argument, value, slope):
    run = symgrad(f)
    for _ in range(3):
        assert run(0.7, argument) == pytest.approx(value, rel=1e-14)
        assert run.grad(0.7, argument) == pytest.approx(slope, rel=1e-14)


def test_objects_are_not_changed():
    spring = Spring(2.0)
    symgrad(forced).grad(0.7, spring)
    assert spring.calls == 0


def test_a_new_state_of_an_object_is_seen():
    spring, run = Spring(2.0), symgrad(forced)
    for k in (1.0, 2.0, 3.0) * 3:
        spring.k = k
        assert run.grad(0.7, spring) == pytest.approx(3 * k * math.exp(0.7 * k), rel=1e-14)


def test_what_cannot_be_copied_is_refused_by_name():
    with pytest.raises(UnsupportedError, match="lock, which cannot be copied"):
        symgrad(lambda x, lock: x)(1.0, threading.Lock())
    with pytest.raises(TypeError, match="which symdiff does not compute with"):
        symgrad(lambda x, lock: x)(1.0, threading.Lock())


def test_there_is_no_derivative_by_an_object():
    with pytest.raises(UnsupportedError, match="holds no real number"):
        symgrad(at_hour, wrt="when").grad(0.7, NOON)


def in_an_hour(x, when, late=0.0):
    then = when + datetime.timedelta(minutes=60, seconds=late)
    return x * (then.hour + then.second / 3600)


def test_times_are_rounded_and_have_no_derivative():
    run = symgrad(in_an_hour)
    assert run(2.0, NOON) == 26.0
    assert symgrad(in_an_hour, wrt="x").grad(2.0, NOON, 1.25) == 13 + 1 / 3600
    with pytest.raises(UnsupportedError, match="rounded to microseconds, depend on late"):
        run.grad(2.0, NOON)


def float_or_number(x, kind):
    try:
        return kind(x).squeeze()[()] * 2
    except AttributeError:
        return kind(x) * 3


def test_numbers_of_python_have_no_attributes_of_arrays():
    run = symgrad(float_or_number)
    assert run.grad(0.7, float) == 3
    assert run.grad(0.7, np.float64) == 2
    assert run.grad(0.7, np.asarray) == 2


@dataclass
class Ellipse:
    a: float
    b: float
    name: str = "an ellipse"


def scaled(x, shape=(None, None), ends=(1, "m"), ellipse=Ellipse(2.0, 3.0)):  # noqa: B008
    known = 1.0 if shape[0] is None else shape[0]
    return x * known * ends[0] * ellipse.a / ellipse.b


def test_defaults_that_hold_no_numbers_are_static():
    run = symgrad(scaled, wrt="x")
    assert run.grad(0.7) == pytest.approx(2 / 3, rel=1e-15)
    assert run.grad(0.7, (3, None)) == pytest.approx(2, rel=1e-15)
    assert run.grad(0.7, ends=(5, "km")) == pytest.approx(10 / 3, rel=1e-15)
    by_ellipse = symgrad(scaled, wrt="ellipse").grad(0.7)
    assert by_ellipse.a == pytest.approx(0.7 / 3, rel=1e-15)
    assert by_ellipse.b == pytest.approx(-1.4 / 9, rel=1e-15)


def test_such_a_default_is_no_real_parameter():
    with pytest.raises(UnsupportedError, match="the default of 'ends' is not a number"):
        symgrad(scaled, wrt="ends")
