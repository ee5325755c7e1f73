"""What operators, statements and Python's functions make of objects of the user's classes."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.errors import UnsupportedError
from tests.frontend.differences import check


class Vector:
    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y

    def __add__(self, o: Vector) -> Vector:
        return Vector(self.x + o.x, self.y + o.y)

    def __mul__(self, k: Any) -> Vector:
        return Vector(self.x * k, self.y * k)

    __rmul__ = __mul__

    def __neg__(self) -> Vector:
        return Vector(-self.x, -self.y)

    def __abs__(self) -> Any:
        return math.hypot(self.x, self.y)

    def __len__(self) -> int:
        return 2

    def __iter__(self) -> Iterator[Any]:
        return iter((self.x, self.y))

    def __getitem__(self, i: int) -> Any:
        return (self.x, self.y)[i]

    def __setitem__(self, i: int, value: Any) -> None:
        if i == 0:
            self.x = value
        else:
            self.y = value

    def __contains__(self, value: Any) -> Any:
        return self.x < value < self.y

    def __eq__(self, o: object) -> Any:
        return isinstance(o, Vector) and self.x == o.x and self.y == o.y

    def __hash__(self) -> int:
        return hash((self.x, self.y))

    def __lt__(self, o: Vector) -> Any:
        return abs(self) < abs(o)

    def __float__(self) -> float:
        return self.x * 1.0

    def __call__(self, t: Any) -> Any:
        return self.x + t * self.y

    @staticmethod
    def unit() -> Vector:
        return Vector(1.0, 0.0)

    @classmethod
    def of(cls, values: Any) -> Vector:
        return cls(values[0], values[1])


class Switch:
    def __init__(self, level: Any) -> None:
        self.level = level

    def __bool__(self) -> bool:
        return self.level > 2


class Total:
    def __init__(self, x: Any) -> None:
        self.x = x

    def __add__(self, o: Any) -> Total:
        return Total(self.x + o)

    def __iadd__(self, o: Any) -> Total:
        self.x = self.x + 10 * o
        return self


class Base:
    def __init__(self, x: Any) -> None:
        self.x = x

    def __add__(self, o: Any) -> Base:
        return Base(self.x * o.x) if isinstance(o, Base) else NotImplemented


class Derived(Base):
    def __radd__(self, o: Any) -> Base:
        return Base(100 * self.x)


@dataclass(order=True)
class Step:
    cost: float
    size: float = 1.0


class Doubling:
    def __set_name__(self, owner: type, name: str) -> None:
        self.name = "_" + name

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        return getattr(owner, self.name)

    def __set__(self, owner: Any, value: Any) -> None:
        setattr(owner, self.name, 2 * value)


class Described:
    size = Doubling()

    def __init__(self, size: Any) -> None:
        self.size = size


FIXED = Vector(1.5, 2.0)


def _augmented(x: float) -> Any:
    a = Total(x)
    b = a
    a += x
    return a.x * b.x


def _made(x: float) -> Any:
    v = Vector.of(np.array([x, 2.0 * x, 1.5]))
    w = 2.0 * v + Vector.unit() * x + -Vector(x, 3.0)
    return w.x * w[1] + w(x) * len(w)


def _elements(x: float) -> Any:
    v = Vector(x, 2.0)
    v[0] = x * x
    v[1] += x
    del x
    first, second = v
    return first * second


CASES = {
    "functions": lambda x: abs(Vector(x, x * x)) * len(Vector(x, x)) + float(Vector(x, 1.0)),
    "negated": lambda x: abs(-Vector(x, 1.0)) + sum(Vector(x, x * x)),
    "iterated": lambda x: (
        sum(k * v for k, v in enumerate(Vector(x, x * x), 1)) + max(*Vector(x, 2))
    ),
    "reduced": lambda x: functools.reduce(operator.add, [Vector(x, 1.0), Vector(1.0, x)])(x),
    "added": lambda x: sum([Vector(x, x), 2 * Vector(x, 1.0)], Vector(0.0, 0.0))[-1] * x,
    "listed": lambda x: np.sum(np.array(list(Vector(x, x**3)))) + math.fsum(Vector(x, x)),
    "within": lambda x: x if 1.5 in Vector(x, 2.0) else x * x,
    "equal": lambda x: x if Vector(x, 1.0) == Vector(2.5, 1.0) else x * x,
    "unequal": lambda x: x if Vector(x, 1.0) != Vector(2.5, 1.0) else x * x,
    "found": lambda x: x if Vector(x, 1.0) in [Vector(2.5, 1.0), "a"] else x * x,
    "least": lambda x: min(Vector(x, 1.0), Vector(1.0, 2.0)).x * max([Step(x), Step(2.0, x)]).size,
    "by_key": lambda x: min([(x, 3.0), (2.0, x)], key=lambda p: p[0] * p[0])[1] * x,
    "fields": lambda x: x if Step(x) == Step(2.5) else 3 * x if Step(x) < Step(2.0) else x * x,
    "true": lambda x: x if Switch(x) else x * x,
    "not_true": lambda x: x if not Switch(x) else x * x,
    "any": lambda x: x if any([Switch(x), Switch(0.0)]) else x * x,
    "bool": lambda x: x if bool(Switch(x)) else x * x,
    "subclass": lambda x: (Base(x) + Derived(x)).x,
    "descriptor": lambda x: Described(x).size * x,
    "captured": lambda x: FIXED(x) + abs(FIXED * x) + FIXED[0] * x * len(FIXED) + sum(FIXED) * x,
    "augmented": _augmented,
    "elements": _elements,
    "made": _made,
}


@pytest.mark.sampled(15)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("start", [1.3, 2.5, 3.5])
def test_as_plain_python_has_it(name: str, start: float) -> None:
    fun: Any = CASES[name]
    for x in (start, 1.25, 3.25):
        if x == 2.5:  # where there are jumps
            assert symgrad(fun)(x) == pytest.approx(fun(x), rel=1e-14)
        else:
            check(fun, x, value=1e-14, slope=1e-8, near=1e-12, step=1e-4, fine=True)


def test_the_truth_of_a_captured_object_is_asked_anew() -> None:
    switch = Switch(1.0)
    f = symgrad(lambda x: x if switch else -x)
    assert f(2.0) == -2.0
    switch.level = 3.0
    assert f(2.0) == 2.0


@pytest.mark.slow
def test_elements_of_an_object_that_holds_an_array() -> None:
    class Data:
        def __init__(self, values: Any) -> None:
            self.values = values

        def __iter__(self) -> Any:
            return iter(self.values)

    def f(a: Any) -> Any:
        found = 0.0
        for v in Data(a):
            found += v * v
        return found + sum(v**3 for v in Data(a)) + sum([2 * v for v in Data(a)]) + max(Data(a))

    a = np.linspace(0.5, 2.0, 30)
    made = symgrad(f)
    assert made(a) == pytest.approx(f(a))
    last = np.append(np.zeros(29), 1.0)
    np.testing.assert_allclose(made.grad(a), 2 * a + 3 * a * a + 2 + last)


class Places:
    def __init__(self, *values: Any) -> None:
        self.values = values

    def __getitem__(self, i: int) -> Any:
        return self.values[i]


REFUSED = {
    "has '__getitem__' but no '__iter__'": lambda x: sum(Places(x, x)),
    "'__eq__' is used as a key or sorted": lambda x: {Vector(x, x): 1.0}[Vector(x, x)],
    "objects are compared": lambda x: x if Base(x) < Base(2.0) else -x,
    "NumPy takes the object for each element": lambda x: (np.ones(2) * x * Vector(x, x)).x,
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_refused(message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        symgrad(REFUSED[message])(1.5)


ROUNDED = np.vectorize(lambda v: 1.5 * v, otypes=[int])
HALVES = np.vectorize(lambda v: v / 2 if v > 1 else v, otypes=[float])


def test_what_vectorize_is_asked_for() -> None:
    a = np.array([0.5, 1.5, 3.0])
    f = symgrad(lambda a: np.sum(HALVES(a)) * np.sum(HALVES(a)))
    assert f(a) == np.sum(HALVES(a)) ** 2
    twice = symgrad(lambda a: np.sum(np.vectorize(lambda v: v > 1, otypes="d")(a) * a))
    np.testing.assert_array_equal(twice.grad(a), [0.0, 1.0, 1.0])
    with pytest.raises(UnsupportedError, match=r"np.vectorize\(\) with 'otypes'"):
        symgrad(lambda a: np.sum(ROUNDED(a)))(a)


class Clock:
    def __init__(self, t: float, o: float = 1.0) -> None:
        self.t, self.o = t, o

    def at(self, t: float, o: float = 1.0) -> float:
        return self.t * t + o

    def __call__(self, t: float, owner: float, name: float) -> float:
        return t * owner + name * self.o

    __array_ufunc__ = None

    def __rmul__(self, a: Any) -> Any:
        return a * self.t


@dataclass
class Times:
    t: float
    owner: float = 1.0


def _update(x: float) -> float:
    held = dict(t=x, owner=2.0)  # noqa: C408
    held.update(t=x * x, owner=x)
    return held["t"] * held["owner"]


@pytest.mark.parametrize(
    "f",
    [
        lambda x: Clock(t=x, o=3.0).at(t=x, o=2.0),
        lambda x: Clock(x)(t=x, owner=x, name=x),
        lambda x: replace(Times(2.0), t=x, owner=x).t,
        lambda x: functools.partial(Clock(x).at, t=x)(o=x),
        _update,
        lambda x: np.sum(np.ones(2) * Clock(x)),
    ],
)
def test_names_of_arguments_may_be_any(f: Callable[[float], float]) -> None:
    check(lambda x: f(x), 1.5, value=1e-15, slope=1e-8, near=1e-12, step=2.0**-20)
