"""Names that functions inside share (`nonlocal`), classes that are defined inside, `finally`."""

from __future__ import annotations

import functools
import linecache
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from symdiff import SymdiffError, UnsupportedError, symgrad

X = np.array([1.3, 2.2, -3.7])


def summed(x):
    total, most = 0.0, x[0]

    def add(v):
        nonlocal total, most
        total += v * v
        if v > most:
            most = v
        elif v < -3:
            most = most * 0.5
            return
        total = total + most

    for i in range(len(x)):
        add(x[i])
    return total * most


def nested(x):
    count = 0.0

    def outer():
        def inner(y):
            nonlocal count
            count = count + math.sin(y)
            return count

        return inner

    turn = outer()
    return turn(x) * turn(2 * x) + count


def searched(x):
    best, at = x[0], 1

    def visit():
        nonlocal best, at
        while at < len(x):
            if x[at] > best:  # noqa: PLR1730
                best = x[at]
            at += 1

    visit()
    return best * 2 + at


def swapped(x):
    y = x**2

    def swap():
        nonlocal x, y
        x, y = y, x

    if x > 1:
        swap()
    return x - 2 * y


def points(x):
    @dataclass
    class P:
        a: float
        b: float = 2.0
        seen: list = field(default_factory=list)

        def norm(self):
            return math.hypot(self.a, self.b)

        def __add__(self, other):
            return P(self.a + other.a, self.b * other.b, [x])

    p = P(x) + P(1.0, x)
    p.a *= 2
    return p.norm() + sum(p.seen)


def inherited(x):
    class A:
        scale = 3.0

        def __init__(self, k):
            self.k = k

        def value(self, v):
            return self.k * v * self.scale

        @classmethod
        def of(cls, v):
            return cls(v + 1)

    class B(A):
        def __init__(self, k):
            super().__init__(k * 2)
            self.j = k

        def value(self, v):
            return super().value(v) + self.j * x

        @property
        def doubled(self):
            return 2 * self.k

        @doubled.setter
        def doubled(self, v):
            self.k = v / 2

        @functools.cached_property
        def square(self):
            return self.k**2

        @staticmethod
        def third(v):
            return v / 3

    b = B.of(x)
    b.doubled = b.doubled + 1
    return b.value(2.0) + b.square + B.third(x) + A.scale + isinstance(b, A)


def state(x):
    class State:
        def __init__(self):
            self.e = 0.0

        def __call__(self, v):
            self.e = 0.5 * self.e + v * v

    s = State()
    for i in range(len(x)):
        if x[i] > 0:
            s(x[i])
    return s.e


def at_last(x):
    old = np.seterr(all="ignore")
    try:
        if x > 1:
            return x**2
        y = 2 * x
    finally:
        k = 2.0
        np.seterr(**old)
    return y * k


def appended(x):
    out = [x]
    try:
        return out
    finally:
        out.append(2 * x)


def raised(x):
    try:
        y = math.log(x)
    except (ValueError, TypeError) as error:
        raise RuntimeError("no logarithm") from error
    else:
        y = y + 1
    finally:
        w = 3.0
    return y * w


def decorated(x):
    def scaled(k):
        def decorator(f):
            @functools.wraps(f)
            def inner(*args, **kwargs):
                return k * f(*args, **kwargs)

            return inner

        return decorator

    @scaled(x)
    @scaled(2.0)
    def g(t, power=2):
        return t**power + rate

    @functools.cache
    def ways(n):
        return x**n if n < 2 else ways(n - 1) + x * ways(n - 2)

    @np.vectorize
    def clipped(t):
        return t if t > 1 else t * t

    class Spring:
        @scaled(x)
        def force(self, y):
            return y * y

        @functools.lru_cache  # noqa: B019
        def twice(self, y):
            return 2 * y

    parts = np.sum(clipped(np.array([x, 0.5, 2 * x])))
    return g(x) * g(1.0, power=3) + ways(5) + parts + Spring().force(x) * Spring().twice(x)


def global_names(x):
    global rate, X  # noqa: PLW0602

    def inner():
        global rate  # noqa: PLW0602
        return rate * x

    return inner() + rate * x * X[0]


rate = 3.0


def names_in_classes(x):
    rate, a, b = 10.0, 1.0, 2.0

    class Read:
        double = rate + 1

    class Bound:
        rate = rate + 1
        a = 7.0
        sizes = (a, b)
        inside = [a for _ in sizes] + [s * b for s in sizes]
        read = lambda self: a * self.rate

        def method(self):
            return a + rate

    return (
        x * Read.double + Bound.rate * x**2 + sum(Bound.inside) + Bound().read() * Bound().method()
    )


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("f", "args"),
    [
        (names_in_classes, (0.7,)), (summed, (X,)), (nested, (0.7,)), (searched, (X,)), (swapped, (0.7, 1.3)), (points, (0.7,)),
        (inherited, (0.7,)), (state, (X,)), (at_last, (0.5, 1.5)), (appended, (0.5,)),
        (raised, (2.0,)), (decorated, (0.7, 1.3)), (global_names, (0.7,)),
    ],
)  # fmt: skip
def test_is_what_python_makes_of_it(f: Any, args: Any) -> None:
    s = symgrad(f)
    for x in args:
        np.testing.assert_allclose(s(x), f(x), rtol=1e-14)
        if f is appended:
            continue
        steps = np.eye(3) if np.ndim(x) else [1.0]
        slopes = [(f(x + 1e-6 * e) - f(x - 1e-6 * e)) / 2e-6 for e in steps]
        np.testing.assert_allclose(np.ravel(s.grad(x)), slopes, rtol=1e-6)


@pytest.mark.parametrize(
    ("line", "said", "body"),
    [
        (3, "'return' in 'finally'", "try: y = x\n    finally: return 2*x"),
        (5, "under a condition", "out = [x]\n    try:\n        if x > 1: return out\n"
         "    finally: out.append(3*x)\n    return out"),
        (6, "under a condition", "s = x\n    for i in range(5):\n        try:\n"
         "            if s > 3: break\n        finally: s = s + 0.5\n    return s"),
        (2, "metaclass", "class C(metaclass=type): pass\n    return x"),
        (2, "a subclass of this class", "class C(dict): pass\n    return x"),
        (3, "class inside", "class C:\n        for k in range(3): pass\n    return x"),
        (4, "defined inside of it", "@dataclass\n    class C: a: float\n    return C(x)"),
    ],
)  # fmt: skip
def test_refused_at_the_line(line: int, said: str, body: str) -> None:
    text = f"def f(x):\n    {body}\n"
    linecache.cache[body] = (len(text), None, text.splitlines(True), body)
    scope: dict[str, Any] = {"dataclass": dataclass}
    exec(compile(text, body, "exec"), scope)  # our own text
    with pytest.raises(UnsupportedError, match=said) as found:
        symgrad(scope["f"])(2.0)
    assert found.value.location is not None and found.value.location.line == line
    assert found.value.hint


def counter() -> Any:
    calls = 0.0

    def f(x):
        nonlocal calls
        calls += 1
        return x * calls

    return f


def test_variables_of_functions_that_are_not_traced() -> None:
    with pytest.raises(SymdiffError, match="'calls' is a variable") as found:
        symgrad(counter())(2.0)
    assert "side effects" in str(found.value)
