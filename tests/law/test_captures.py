"""Values from outside of a function are those of the call, not those of the first call."""

from __future__ import annotations

import functools
import threading
import types
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest

from symdiff import symgrad

RATE = 2.0
LIMITS = {"low": 1.0, "steps": [1.0, 2.0], "deep": {"k": 3.0}}
WEIGHTS = np.array([1.0, 2.0, 3.0])
GRID = np.arange(12.0).reshape(3, 4)
LIST = [1.0, 2.0]
PAIR = (np.array([1.0, 5.0]), [2.0])
SETTINGS = types.SimpleNamespace(k=3.0, inner=types.SimpleNamespace(m=1.0))
SWITCH = True


class Model:
    """Data of an object and of its class."""

    factor = 5.0
    table: ClassVar[list[float]] = [1.0, 2.0]

    def __init__(self) -> None:
        self.slope = 1.5

    @property
    def double(self) -> float:
        return 2 * self.slope

    def line(self, x: Any) -> Any:
        return self.slope * x + self.factor


class Slotted:
    """An object without a dict."""

    __slots__ = ("k",)

    def __init__(self) -> None:
        self.k = 2.0


MODEL, SLOTTED = Model(), Slotted()


def times(x: Any) -> Any:
    return RATE * x


def times_ten(x: Any) -> Any:
    return 10 * x


def of_global(x: Any) -> Any:
    return RATE * x**2


def of_switch(x: Any) -> Any:
    return x**2 if SWITCH else x**3


def of_loop(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total += RATE * x[i] ** 2 * LIST[0]
    return total


def put(name: str) -> Callable[[int], Any]:
    """Another number for a name of this module."""
    return lambda k: globals().__setitem__(name, 3.0 * k)


POLYNOMIALS: list[tuple[Callable[..., Any], list[Callable[[int], Any]]]] = [
    (of_global, [put("RATE")]),
    (lambda x: times(x) ** 2, [put("RATE"), lambda k: globals().__setitem__("times", times_ten)]),
    (lambda x: LIMITS["low"] * x + LIMITS["steps"][1] * x**2, [
        lambda k: LIMITS.__setitem__("low", 3.0 * k),
        lambda k: LIMITS["steps"].__setitem__(1, 3.0 * k),
        lambda k: LIMITS.__setitem__("steps", [0.0, 3.0 * k]),
    ]),
    (lambda x: LIMITS["deep"]["k"] * x, [lambda k: LIMITS["deep"].__setitem__("k", 3.0 * k)]),
    (lambda x: sum(v for v in LIMITS.values() if isinstance(v, float)) * x, [lambda k: LIMITS.__setitem__(f"new {k}", 3.0 * k)]),
    (lambda x: x * WEIGHTS[0] + WEIGHTS[1], [lambda k: WEIGHTS.__setitem__(0, 3.0 * k)]),
    (lambda x: LIST[0] * x + sum(LIST), [lambda k: LIST.append(3.0 * k), lambda k: LIST.__setitem__(0, 3.0 * k)]),
    (lambda x: PAIR[0][1] * x + PAIR[1][0], [lambda k: PAIR[0].__setitem__(1, 3.0 * k), lambda k: PAIR[1].__setitem__(0, 3.0 * k)]),
    (lambda x: SETTINGS.k * x + SETTINGS.inner.m * x**2, [
        lambda k: setattr(SETTINGS, "k", 3.0 * k),
        lambda k: setattr(SETTINGS, "inner", types.SimpleNamespace(m=3.0 * k)),
    ]),
    (lambda x: MODEL.line(x), [
        lambda k: setattr(MODEL, "slope", 3.0 * k),
        lambda k: setattr(Model, "factor", 3.0 * k),
        lambda k: setattr(MODEL, "factor", 7.0 * k),
        lambda k: setattr(Model, "line", lambda self, x: self.slope * x**2 + k),
    ]),
    (lambda x: MODEL.double * x, [lambda k: setattr(MODEL, "slope", 3.0 * k)]),
    (lambda x: MODEL.table[1] * x, [lambda k: Model.table.__setitem__(1, 3.0 * k)]),
    (lambda x: SLOTTED.k * x, [lambda k: setattr(SLOTTED, "k", 3.0 * k)]),
    (of_switch, [lambda k: globals().__setitem__("SWITCH", not SWITCH)]),
    (lambda x: abs(x - 3.0) * 2, [lambda k: globals().__setitem__("abs", lambda x: x**2 * k)]),
]  # fmt: skip
OF_ARRAYS: list[tuple[Callable[..., Any], list[Callable[[int], Any]]]] = [
    (lambda x: np.sum(WEIGHTS * x), [lambda k: WEIGHTS.__setitem__(1, 3.0 * k), lambda k: globals().__setitem__("WEIGHTS", WEIGHTS + k)]),
    (lambda x: np.sum(GRID[:, 1] * x), [lambda k: GRID.__setitem__((2, 1), 3.0 * k)]),
    (of_loop, [put("RATE")]),
]  # fmt: skip
CASES = [
    (f, change, x)
    for x, rows in ((2.0, POLYNOMIALS), (np.array([1.0, 2.0, 4.0]), OF_ARRAYS))
    for f, changes in rows
    for change in changes
]


@pytest.fixture(autouse=True)
def as_before() -> Any:
    """Put everything back."""
    held = dict(globals())
    contents = [(d, d.copy()) for d in (LIMITS, LIMITS["deep"], vars(SETTINGS), vars(MODEL))]
    lists = [(v, list(v)) for v in (LIST, PAIR[1], LIMITS["steps"], Model.table)]
    arrays = [(a, a.copy()) for a in (WEIGHTS, GRID, PAIR[0])]
    line = Model.line
    yield
    for name in set(globals()) - set(held):
        del globals()[name]
    globals().update(held)
    for d, old in contents:
        d.clear()
        d.update(old)
    for v, old in lists:
        v[:] = old
    for a, old in arrays:
        a[:] = old
    Model.factor, Model.line, SLOTTED.k = 5.0, line, 2.0


def slope(f: Callable[..., Any], x: Any) -> Any:
    """The derivative by differences, which are exact for polynomials of degree 2."""
    if np.ndim(x) == 0:
        return (f(x + 0.5) - f(x - 0.5)) - (0.25 if f is of_switch and not SWITCH else 0.0)
    steps = 0.5 * np.eye(len(x))
    return np.array([f(x + s) - f(x - s) for s in steps])


@pytest.mark.sampled
@pytest.mark.parametrize("case", range(len(CASES)))
def test_a_change_is_seen(case: int) -> None:
    fun, change, x = CASES[case]
    f = symgrad(fun)
    g = f.grad
    for k in range(3):
        if k:
            change(k)
        for _ in range(3):
            assert f(x) == pytest.approx(fun(x))
            assert g(x) == pytest.approx(slope(fun, x))


def test_closures_and_defaults() -> None:
    n = 2.0

    def f(x: float, w: float = 3.0) -> float:
        return n * x * w

    s = symgrad(f)
    assert [s(1.0) for _ in range(3)] == [6.0] * 3
    n = 5.0
    assert [s(1.0) for _ in range(3)] == [15.0] * 3
    f.__defaults__ = (1.0,)
    assert [s(1.0) for _ in range(3)] == [5.0] * 3
    assert s.grad(1.0) == (5.0, 5.0)


def test_what_is_equal_is_the_same() -> None:
    global RATE
    f = symgrad(of_global)
    for _ in range(3):
        f(1.0)
    made = f._source.captures.epoch
    RATE = float("2.0")
    assert f(3.0) == 18.0
    assert f._source.captures.epoch == made
    RATE = 0.0
    assert f(3.0) == 0.0
    assert f._source.captures.epoch == made + 1


@pytest.mark.slow
def test_functions_in_functions() -> None:
    global RATE
    inner = symgrad(of_global)
    value = symgrad(lambda x: inner(x) * 2)
    slopes = symgrad(lambda x: inner.grad(x) * 2)
    for rate in (1.0, 5.0, 7.0):
        RATE = rate
        for _ in range(3):
            assert value(3.0) == 18 * rate
            assert slopes(3.0) == 12 * rate
            assert inner.hessian(3.0) == 2 * rate
            assert inner.jvp((3.0,), (1.0,)) == (9 * rate, 6 * rate)


def test_expressions_and_sources_are_those_of_now() -> None:
    global RATE
    f = symgrad(of_global)
    RATE = 11.0
    assert str(f.grad.expr) == "22*x"
    RATE = 12.0
    assert str(f.grad.expr) == "24*x"
    assert "24" in f.grad.source()
    assert f.map(np.array([1.0, 2.0])) == pytest.approx([12.0, 48.0])


def test_arguments_of_partial() -> None:
    table = [1.0, 2.0]
    f = symgrad(functools.partial(lambda t, x: t[0] * x, table))
    assert f(3.0) == 3.0
    table[0] = 4.0
    assert f(3.0) == 12.0


def test_other_globals_do_not_matter() -> None:
    f = symgrad(of_global)
    for k in range(5):
        globals()["SOMETHING_ELSE"] = k
        assert f(1.0) == 2.0
    assert f._source.captures.epoch == 0


def test_threads() -> None:
    global RATE
    f, wrong = symgrad(of_global), []

    def calls() -> None:
        for _ in range(2000):
            value = f(1.0)
            if value not in (2.0, 3.0):
                wrong.append(value)

    started = [threading.Thread(target=calls) for _ in range(3)]
    for t in started:
        t.start()
    for k in range(5):
        RATE = 2.0 + k % 2
    for t in started:
        t.join()
    assert not wrong
