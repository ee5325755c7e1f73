"""Iterators: elements are read when plain Python reads them, also where what they are read from changes."""

import itertools
from typing import Any

import pytest

from symdiff import symgrad
from symdiff.errors import UnsupportedError


def list_that_grows(x, y):
    a = [x, y]
    for v in a:
        if len(a) < 5:
            a.append(v * 2)
    return sum(a)


def list_that_changes(x, y):
    a, s = [x, y, 1.0], 0.0
    for i, v in enumerate(a):
        s += v
        if i < 2:
            a[i + 1] = a[i + 1] * v
    for v, u in zip(a[1:], a, strict=False):
        a[1] = 5.0
        s += u * v
    for v in reversed(a):
        s += v
        a[0] = s
    return s


def where_the_argument_decides(x, y):
    a = [x, y, 3.0]
    for v in a:
        if y > 2:
            a[2] = v * y
    return sum(a)


def values_that_change(x, y):
    d, s = {"a": x, "b": y}, 0.0
    for v in d.values():
        s += v
        d["b"] = s * 2
    for k, v in d.items():
        s += v * len(k)
        d["b"] = s
    return s


def read_late(x, y):
    a = [x, y, 1.0]
    readers = [(v * 2 for v in a), map(abs, a), iter(a), zip(a, a, strict=False)]
    chained = itertools.chain(a, [y])
    a[0] = x * y
    a.append(y)
    products = sum(u * v for u, v in readers.pop())
    return products + sum(map(sum, readers)) + sum(chained)


def pairs_of_one_iterator(x, y):
    it = iter([x, y, 3.0, x * y])
    s = sum(a * b for a, b in zip(it, it, strict=False))
    other = iter([x, y, 3.0, x * y])
    for v in other:
        s += v * next(other)
    rest = iter([x, y, 3.0, x * y])
    for a, b in zip(rest, [1.0, 2.0], strict=False):
        s += a * b
    return s + next(rest, 100.0)


def without_end(x, y):
    ids, signs = itertools.count(1, 2), itertools.cycle([1.0, -1.0])
    s = sum(i * v * w for v, i, w in zip((x, y, 3.0), ids, signs, strict=False))
    g = iter([x, y, 3.0, x * y])
    return s + sum(itertools.islice(g, 1, 3)) * next(g) + next(itertools.repeat(y))


FUNCTIONS = [
    list_that_grows, list_that_changes, where_the_argument_decides, values_that_change, read_late,
    pairs_of_one_iterator, without_end,
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("f", FUNCTIONS)
def test_elements_are_read_when_they_are_asked_for(f: Any) -> None:
    s = symgrad(f)
    for x, y in ((2.0, 1.0), (2.0, 3.0)):
        assert s(x, y) == pytest.approx(f(x, y), rel=1e-14)
        slope = (f(x, y + 1e-6) - f(x, y - 1e-6)) / 2e-6
        assert s.grad(x, y)[1] == pytest.approx(slope, rel=1e-7)


def test_what_a_loop_leaves_of_an_iterator_is_not_guessed() -> None:
    def left(x, y):
        numbers = iter([x, y, 3.0])
        for v in numbers:
            if v > 2:
                break
        return sum(numbers)

    with pytest.raises(UnsupportedError, match="iterator"):
        symgrad(left)(2.0, 3.0)
