"""What is not run by values, and says so; and what a run leaves as it was."""

from __future__ import annotations

import decimal
import fractions
import functools
import math
import random
import weakref

import numpy as np
import pytest

from symdiff import ByValueWarning, UnsupportedError, symgrad
from symdiff.api import by_values
from tests.by_value.differences import run
from tests.collecting import collect

SEEN = {}
CALLS = []


def remembers(x):
    SEEN["last"] = x
    return SEEN["last"] * x


def counts(x):
    CALLS.append(x)
    return x * 2


def prints(x):
    print(x)
    return x


def queue(x, n):
    """Refused by the compiler: which branch makes a list longer."""
    items = [x]
    while items[-1] > 0.1 and len(items) < n:
        items.append(items[-1] * x) if items[-1] > 0.5 else items.insert(0, x)
        if len(items) % 3 == 0:
            items.pop()
            items.append({"a": x}["a"] * 0.01)
    return sum(items)


@functools.cache
def cached(n, x):
    return x if n < 2 else cached(n - 1, x) + x * cached(n - 2, x)


@pytest.mark.parametrize("f", [remembers, counts])
def test_what_outlives_the_call_is_refused_and_put_back(f):
    with pytest.raises(UnsupportedError, match="not pure: it changes"):
        run(f).grad(2.0)
    assert SEEN == {}
    assert CALLS == []


@pytest.mark.parametrize(
    ("f", "x", "text"),
    [
        (lambda x: x * random.random(), 2.0, "not pure"),
        (lambda z: abs(z), 1 + 1j, "complex"),
        (lambda x: np.sum(x), np.ones(2, np.float32), "float32"),
        (lambda x: f"{x}", 1.0, "class str"),
        (lambda x: float(fractions.Fraction(x)), 1.5, "fraction of a number"),
    ],
)
def test_what_is_refused_by_name(f, x, text):
    with pytest.raises(UnsupportedError, match=text):
        run(f).grad(x)


def test_effects_are_refused(capsys):
    with pytest.raises(UnsupportedError, match=r"print\(\)"):
        run(prints).grad(2.0)
    assert capsys.readouterr().out == ""


def test_compiled_code_that_asks_for_a_double_is_refused_at_the_line_even_if_the_function_goes_on():
    def f(x):
        try:
            return x * np.random.default_rng(0).normal(x)
        except TypeError:
            return x

    def g(x):
        try:
            return np.linalg.eigvals(np.array([[x, 1.0], [x, x]]))[0].real
        except Exception:
            return x

    for function in (f, g):
        with pytest.raises(UnsupportedError) as caught:
            run(function).grad(2.0)
        assert caught.value.location is not None
        assert caught.value.location.path == __file__


def test_operations_have_a_budget(monkeypatch):
    def f(x):
        while True:
            x = x * 1.0

    monkeypatch.setattr("symdiff.frontend.by_value.reals.OPERATIONS", 1000)
    with pytest.raises(UnsupportedError, match="more than 1000 operations"):
        run(f).grad(1.0)


def test_errors_are_those_of_the_function():
    with pytest.raises(ValueError, match="math domain error"):
        run(lambda x: math.log(x)).grad(-1.0)
    with pytest.raises(ZeroDivisionError):
        run(lambda x: 1 / x).grad(0.0)


def test_arguments_and_caches_stay_as_they_were():
    def f(a, b):
        a[0] = 5.0
        return np.sum(a * b)

    a = np.array([1.0, 2.0])
    first, second = run(f).grad(a, a)  # one array, that is changed
    np.testing.assert_array_equal(a, [1.0, 2.0])
    np.testing.assert_array_equal(first + second, [0.0, 8.0])
    assert run(lambda x: cached(5, x)).grad(2.0) == 53.0
    assert isinstance(cached(5, 2.0), float)
    assert math.sin is f.__globals__["math"].sin


def test_by_value_false_refuses_and_true_asks(monkeypatch):
    monkeypatch.setattr(by_values, "WHEN_REFUSED", True)
    with pytest.raises(UnsupportedError):
        symgrad(queue, by_value=False)(0.7, 6)
    f = symgrad(queue)
    with pytest.warns(ByValueWarning, match="run by values"):
        assert f(0.7, 6) == queue(0.7, 6)
    text = str(f.report())
    assert all(t in text for t in ("by values", "refused", "operations", "test_refusals.py"))


def test_a_second_refusal_is_in_the_hint(monkeypatch):
    monkeypatch.setattr(by_values, "WHEN_REFUSED", True)
    with pytest.raises(UnsupportedError) as caught:
        symgrad(lambda x: x * random.random())(2.0)
    assert "run by values" in caught.value.hint


def test_numbers_of_other_kinds_are_refused_by_name():
    with pytest.raises(UnsupportedError, match="Decimal") as caught:
        run(lambda x: float(decimal.Decimal(x) * 2)).grad(1.5)
    assert caught.value.location.path == __file__


def test_refusals_that_are_kept_hold_no_arguments() -> None:
    def queued(x):
        waiting = {}
        for v in x:
            waiting.setdefault(float(v) > 0, []).append(v)
        return sum(waiting[True]) if True in waiting else x[0]

    f, x = symgrad(queued), np.array([1.0, -2.0, 3.0])
    with pytest.warns(ByValueWarning):
        assert f(x) == 4.0
    held = weakref.ref(x)
    del x
    collect()
    assert held() is None


def test_errors_without_frames() -> None:
    def fails(x):
        raise UnsupportedError("no", hint="yes")

    with pytest.raises(UnsupportedError) as found:
        fails(np.ones(3))
    kept = found.value.without_frames()
    assert type(kept) is UnsupportedError and str(kept) == str(found.value) and kept.hint == "yes"
    assert kept.__traceback__ is None and found.value.__traceback__ is not None
