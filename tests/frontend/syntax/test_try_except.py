"""`try` around NumPy's numbers, which raise no errors of arithmetic: what is tried is all there
is. Numbers of Python among them do raise, and are refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.errors import UnsupportedError


def oscillating(x):
    try:
        return np.sum(x**6.0 * (2.0 + np.sin(1.0 / x)))
    except ZeroDivisionError:
        return np.nan
    except FloatingPointError:
        return np.nan


def quotient(x):
    try:
        above = np.sin(x[0] - 2.0) * x[1]
        below = np.pi**2 * (x[0] - 2.0)
        return 1.0 - abs(above / below) ** 5.0
    except (ZeroDivisionError, OverflowError):
        return 7.0


def shares(x):
    try:
        y = x / np.sum(x)
    except ArithmeticError:
        y = 0 * x
    return np.sum(y**2)


def powers(x):
    try:
        y = x[0] ** x[1] + 2.0 ** x[1] + x[0] ** -1
    except ZeroDivisionError:
        return 0.0
    return y


def test_a_pole_stays() -> None:
    def element(x):
        try:
            return 1 / x[0]
        except ZeroDivisionError:
            return 0.0

    assert symgrad(element)(np.array([0.0, 1.0])) == np.inf


@pytest.mark.sampled
@pytest.mark.parametrize("f", [oscillating, quotient, shares, powers])
def test_of_arrays(f: Any) -> None:
    s = symgrad(f)
    for x in (np.array([1.5, 0.5]), np.array([3.0, -2.0]), np.array([1.5, 0.7])):
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(s(x), f(x), rtol=1e-13)
        h = 1e-6
        for k, slope in enumerate(s.grad(x)):
            step = h * np.eye(2)[k]
            assert slope == pytest.approx((f(x + step) - f(x - step)) / 2 / h, rel=1e-6, abs=1e-8)


def lengths(x):
    n = len(x)
    try:
        return 1.0 / (n - 2) + x[0]
    except ZeroDivisionError:
        return 5.0


def bare(x):
    try:
        return 1.0 / (len(x) - 2) * x[0]
    except ZeroDivisionError:
        return 5.0


def python_numbers(x):
    a = float(x[0])
    try:
        return 1 / a + x[1]
    except ZeroDivisionError:
        return 5.0


def listed(x):
    a = x.tolist()
    try:
        return 1 / a[0] + x[1]
    except ZeroDivisionError:
        return 5.0


def known(x):
    zero = 0
    try:
        return x[0] + 1 / zero
    except ZeroDivisionError:
        return 5.0


def other_errors(x):
    try:
        return x[0] / x[1]
    except (ZeroDivisionError, ValueError):
        return 5.0


def raising(x):
    try:
        if x[0] > 0:
            raise ZeroDivisionError
        return x[0] / x[1]
    except ZeroDivisionError:
        return 5.0


inner = symgrad(lambda x: np.sum(x))


def composed(x):
    a = inner(x)
    try:
        return 1.0 / a + x[0]
    except ZeroDivisionError:
        return 5.0


def counted(x):
    n = 0
    try:
        m = n
        return x[0] + 1.0 / m
    except ZeroDivisionError:
        return 5.0


@pytest.mark.parametrize(
    "f",
    [lengths, bare, python_numbers, listed, known, other_errors, raising, composed, counted],
)
def test_what_may_raise_is_refused_or_right(f: Any) -> None:
    for x in (np.array([1.0, 2.0]), np.array([0.0, 2.0])):
        try:
            got = symgrad(f)(x)
        except UnsupportedError:
            continue
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(got, f(x))


def test_numbers_beside_arrays_are_refused() -> None:
    def f(x, y):
        try:
            return 1.0 / y + np.sum(x)
        except ZeroDivisionError:
            return 5.0

    with pytest.raises(UnsupportedError, match="NumPy"):
        symgrad(f)(np.ones(2), 0.0)


def test_hints_say_what_to_write_instead() -> None:
    def of_index(x):
        try:
            r = x[5]
        except IndexError:
            r = 0.0
        return r

    def of_value(x):
        try:
            return math.sqrt(x)
        except (ValueError, ZeroDivisionError):
            return 0.0

    def of_all(x):
        try:
            return math.sqrt(x)
        except Exception:
            return 0.0

    for f, x, hint in (
        (of_index, np.ones(2), "if i < len"),
        (of_value, -1.0, "if x >= 0"),
        (of_all, 1.0, "with 'if'"),
    ):
        with pytest.raises(UnsupportedError, match="'try' is not supported") as caught:
            symgrad(f)(x)
        assert hint in caught.value.hint


def named(x):
    y = np.clip(x, -1, 1)
    try:
        y.name = "y"
    except AttributeError:
        y = y + 0.0
    return np.sum(y * y)


def counted(x):
    try:
        n = len(x)
    except TypeError:
        n = 1
    return n * np.sum(x)


def looked_up(x):
    known = {"p": 2.0}
    try:
        k = known["q"]
    except KeyError:
        k = 3.0
    else:
        k = 100.0
    return np.sum(k * x)


def converted(x):
    try:
        x = np.asarray(x)
    except Exception:
        x = None
    return np.sum(x**2)


def of_series(x):
    try:
        return x.values.sum()
    except AttributeError:
        return 2 * np.sum(x)


def begun(x):
    k = 0.0
    try:
        k = 1.0
        n = len(x)
    except TypeError:
        n = 2
    return np.sum((k + n) * x)


@pytest.mark.parametrize("fun", [named, counted, looked_up, converted, of_series, begun])
@pytest.mark.parametrize("x", [1.5, np.array([0.5, 2.0])], ids=["number", "array"])
def test_errors_that_numbers_do_not_cause(fun, x) -> None:
    assert symgrad(fun)(x) == fun(x)


def test_a_float_of_a_number_is_one() -> None:
    def f(x):
        try:
            x = float(x)
        except ValueError:
            return 0.0
        return x * x

    assert symgrad(f).grad(1.5) == 3.0


def test_an_error_after_a_change_is_refused() -> None:
    def f(x):
        seen = [0.0]

        def note():
            seen[0] = 5.0
            return x

        try:
            y = note().values
        except AttributeError:
            y = x
        return y * seen[0]

    with pytest.raises(UnsupportedError, match="attribute 'values'"):
        symgrad(f)(2.0)
