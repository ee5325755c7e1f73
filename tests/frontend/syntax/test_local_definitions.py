"""Names that functions inside share (`nonlocal`), decorators."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest

from symdiff import SymdiffError, UnsupportedError, symgrad
from tests.frontend.differences import check
from tests.frontend.refused import define

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

    parts = np.sum(clipped(np.array([x, 0.5, 2 * x])))
    return g(x) * g(1.0, power=3) + ways(5) + parts


def global_names(x):
    global rate, X  # noqa: PLW0602

    def inner():
        global rate  # noqa: PLW0602
        return rate * x

    return inner() + rate * x * X[0]


rate = 3.0


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("f", "args"),
    [
        (summed, (X,)), (nested, (0.7,)), (searched, (X,)), (swapped, (0.7, 1.3)),
        (decorated, (0.7, 1.3)), (global_names, (0.7,)),
    ],
)  # fmt: skip
def test_is_what_python_makes_of_it(f: Any, args: Any) -> None:
    for x in args:
        check(f, x, value=1e-14, near=0.0)


@pytest.mark.parametrize(
    ("line", "said", "body"),
    [
        (3, "'finally' is not supported", "try: y = x\n    finally: z = 2*x\n    return y + z"),
        (2, "a class is defined inside", "class C: pass\n    return x"),
    ],
)  # fmt: skip
def test_refused_at_the_line(line: int, said: str, body: str) -> None:
    text = f"def f(x):\n    {body}\n"
    with pytest.raises(UnsupportedError, match=said) as found:
        symgrad(define(text, body))(2.0)
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
