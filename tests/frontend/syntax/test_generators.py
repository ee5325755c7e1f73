"""Generators: their elements are those of plain Python, in every place that asks for them; where it would make
a difference that Python runs them piece by piece, they are refused."""

import math

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.errors import UnsupportedError


def summed(x):
    def powers():
        v = 1.0
        for _ in range(5):
            yield v
            v *= x

    return sum(powers())


def steps(x, v, n):
    for _ in range(n):
        v = v - 0.1 * x
        x = x + 0.1 * v
        yield x, v


def left_early(x):
    e = 0.0
    for p, v in steps(x, 0.5, 20):
        e += 0.5 * v * v + 0.5 * p * p
        if e > 3:
            break
    return e


def enumerated(x):
    out = []
    for i, (p, _) in enumerate(steps(x, 0.5, 4)):
        out.append(p * i)
    return max(out)


def from_others(x):
    def inner(y):
        yield y
        yield y * y

    def outer():
        yield from inner(x)
        for v in inner(x + 1):
            yield v * v

    return math.prod(outer())


def of_arrays(x):
    def rows():
        for i in range(3):
            yield x * i

    return sum(np.sum(r * r) for r in rows())


def asked_one_by_one(x):
    g = steps(x, 1.0, 5)
    a, _ = next(g)
    b, _ = next(g)
    return a * b


def zipped(x):
    return sum(p * k for k, (p, _) in zip([1, 2, 3], steps(x, 0.2, 3), strict=True))


def in_comprehension(x):
    return sum([p for p, _ in steps(x, 0.1, 3)])


def changes_what_it_yields(x):
    def g():
        s = [x]
        for _ in range(3):
            s[0] = s[0] * 2
            yield s

    return sum(q[0] for q in g())


def is_changed_meanwhile(x):
    a = [x, 1.0]

    def g():
        for k in range(3):
            yield a[0] * k

    t = 0.0
    for v in g():
        a[0] = a[0] + 1
        t += v
    return t


def reads_another_name_meanwhile(x):
    def g():
        for k in range(3):
            yield x * k

    t = 0.0
    for v in g():
        x = x + 1
        t += v
    return t


def under_a_condition(x):
    def g():
        for k in range(3):
            if x > k:
                yield x

    return sum(g())


def under_a_known_condition(x):
    def g():
        for k in range(6):
            if k % 2:
                yield x * k

    return sum(g())


def many(x):
    def g():
        for k in range(90):
            yield x / (k + 1)

    return sum(g())


def returns(x):
    def g():
        yield x
        return
        yield 2 * x

    return sum(g())


def changes_arrays(x):
    def g():
        u = x.copy()
        for _ in range(3):
            u *= 2
            yield u

    return sum(np.sum(q) for q in g())


def makes_new_arrays(x):
    def g():
        u = x
        for _ in range(3):
            u = u * 2
            yield u

    t = 0.0
    for q in g():
        t += np.sum(q)
    return t


def endless(x):
    def g():
        while True:
            yield x

    t = 0.0
    for v in g():
        t += v
        if t > 10:
            break
    return t


RIGHT = [
    (summed, 0.7), (left_early, 0.8), (enumerated, 0.8), (from_others, 0.3), (asked_one_by_one, 0.4),
    (zipped, 0.3), (in_comprehension, 0.3), (under_a_known_condition, 0.3), (many, 0.3), (returns, 2.0),
    (of_arrays, np.array([1.0, 2.0])), (makes_new_arrays, np.array([1.0, 2.0])),
]  # fmt: skip


@pytest.mark.parametrize(("f", "x"), RIGHT, ids=lambda v: getattr(v, "__name__", ""))
def test_elements_are_those_of_plain_python(f, x) -> None:
    s = symgrad(f)
    assert s(x) == pytest.approx(f(x), rel=1e-13)
    h = 1e-6 * np.eye(np.size(x)).reshape(-1, *np.shape(x))
    slopes = [(f(x + d) - f(x - d)) / 2e-6 for d in h]
    np.testing.assert_allclose(np.ravel(s.grad(x)), np.ravel(slopes), rtol=1e-7)


@pytest.mark.parametrize(
    ("f", "x", "message"),
    [
        (changes_what_it_yields, 0.4, "is changed while it is iterated over"),
        (is_changed_meanwhile, 0.5, "is changed while it is iterated over"),
        (reads_another_name_meanwhile, 0.5, "is changed while it is iterated over"),
        (changes_arrays, np.array([1.0, 2.0]), "is changed while it is iterated over"),
        (under_a_condition, 1.5, "'yield' under a condition"),
        (endless, 1.0, "'yield' in a loop that is not unrolled"),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_where_the_order_matters_they_are_refused(f, x, message) -> None:
    with pytest.raises(UnsupportedError, match=message):
        symgrad(f)(x)


def test_a_function_of_symgrad_that_yields_is_refused() -> None:
    def f(x):
        yield x

    with pytest.raises(UnsupportedError, match="'yield' is not supported"):
        symgrad(f)(1.0)
