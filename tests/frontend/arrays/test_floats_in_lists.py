"""Lists have no dtype: a float that is stored in a list of integers stays a float, as does its slope."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.errors import UnsupportedError
from tests.frontend.differences import check


def added(x):
    z = [0 for _ in range(len(x))]
    for i in range(len(x)):
        z[i] += x[i] * 0.5
    return sum(z) + z[0]


def repeated(x):
    z = [0] * len(x)
    k = 0
    while k < len(x):
        z[k] = x[k] / 2
        k += 1
    w = z[:]
    w[0] = 1
    return sum(z) + 10 * w[0]


def on_a_path(x):
    z = [k + 0 for k in range(len(x))]
    if len(x) > 2:
        z[1] = x[1]
    return sum(z) * x[0]


def nested(x):
    z = [[0] * 2 for _ in range(len(x))]
    for i in range(len(x)):
        z[i][i % 2] = x[i] ** 2
    return z[0][0] + 3 * z[1][1] + z[-1][0]


def row_replaced(x):
    rows = [[0, 0] for _ in range(len(x))]
    rows[0] = [x[0], x[1]]
    return rows[0][0] * rows[0][1]


def of_range(x):
    z = list(range(len(x)))
    z[0] = x[1]
    return z[0] * 2.0 + sum(z)


def appended(x):
    z = []
    for i in range(len(x)):
        z.append(i if i > 0 else 7)
    z[-1] = x[0]
    return sum(z) * x[1]


def on_some_paths(x):
    z = [0] * len(x)
    for _ in range(3):
        for i in range(len(x)):
            if x[i] > 1:
                z[i] = z[i] + 0.5 * x[i]
            else:
                z[i] = 1
    return sum(z)


def counted_too(x):
    seen, total = [0] * 4, [0] * len(x)
    for i in range(len(x)):
        total[i] = total[i - 1] + x[i] * (i + 1)
    return sum(total) + sum(seen)


def truth_values(x):
    done = [False] * len(x)
    s = 0.0
    for i in range(len(x)):
        if not done[i]:
            s += x[i] ** 2
        done[(i + 1) % len(x)] = x[i] > 1
    return s


def longer(x):
    tree = [0.0] * len(x) + list(x)
    for i in range(len(x) - 1, 0, -1):
        tree[i] = tree[2 * i] * tree[2 * i + 1]
    return tree[1] + len([1.5] * (len(x) - 3))


PROGRAMS = [
    added, repeated, on_a_path, nested, row_replaced, of_range, appended, on_some_paths, counted_too,
    truth_values, longer,
]  # fmt: skip
WHOLE, OTHERS = np.array([2.0, 4.0]), np.array([1.5, 0.7, 2.2, 0.4])


@pytest.mark.sampled(22)
@pytest.mark.parametrize("order", ["growing", "shrinking"])
@pytest.mark.parametrize("f", PROGRAMS)
def test_value_and_slope(f: Callable[..., Any], order: str) -> None:
    """Also where the floats are whole numbers, so that values alone show nothing."""
    for x in (WHOLE, OTHERS) if order == "growing" else (OTHERS, WHOLE):
        check(f, x, value=1e-14, slope=1e-8, near=1e-8, step=1e-5)


def test_integers_are_integers() -> None:
    x = np.array([3, 8])
    assert symgrad(repeated)(x) == repeated(x)
    assert symgrad(lambda x: [0] * len(x))(WHOLE) == [0, 0]


def whole_rows(x):
    rows = [np.zeros(2, dtype=int) for _ in range(len(x))]
    rows[0] = x[:2] * 1.0
    rows[1][0] = x[0]
    return np.sum(rows[0]) + np.sum(rows[1])


def number_among_truth_values(x):
    z = [v > 1 for v in x]
    z[0] = x[1]
    return z[0] * 2.0


MANY = np.ones(3000)
"""Too many elements for a function to be traced again with the sizes of the call."""


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("f", "words"),
    [
        (whole_rows, "floats are stored in a list of integers"),
        (number_among_truth_values, "floats are stored in a list of truth values"),
    ],
)
def test_refused_at_the_line(f: Callable[..., Any], words: str) -> None:
    """Where sizes are not known; for those of a call, a list holds what Python's does."""
    with pytest.raises(UnsupportedError, match=words) as found:
        symgrad(f)(MANY)
    location = found.value.location
    assert location is not None and location.line == f.__code__.co_firstlineno + 2
    s = symgrad(f)
    for x, slopes in (OTHERS, [[1, 1, 0, 0], [0, 2, 0, 0]]), (WHOLE + 0.5, [[1, 1], [0, 2]]):
        assert s(x) == pytest.approx(f(x), rel=1e-15)
        assert s.grad(x).tolist() == slopes[f is number_among_truth_values]


def shared(x):
    rows = [[0.0] * len(x)] * len(x)
    rows[0][0] = x[0]
    return rows[1][0] + x[1]


def test_one_object_in_all_places() -> None:
    with pytest.raises(UnsupportedError, match="the same object"):
        symgrad(shared)(MANY)
    s = symgrad(shared)
    for x in (WHOLE, OTHERS, WHOLE):
        assert s(x) == shared(x)
        assert s.grad(x).tolist() == [1, 1, 0, 0][: len(x)]


def repeated_by_an_argument(x, n):
    z = [x[0]] * n
    return z[0] * x[1] + len(z) * x[0]


def repeated_number(v, n):
    return len(n * [v]) * v


@pytest.mark.sampled
@pytest.mark.parametrize("order", [(1, 3), (3, 1)])
def test_an_integer_argument_repeats_a_list(order: tuple[int, int]) -> None:
    s, x = symgrad(repeated_by_an_argument), np.array([1.5, 0.7])
    for n in order:
        assert s(x, n) == pytest.approx(repeated_by_an_argument(x, n), rel=1e-15)
        np.testing.assert_allclose(s.grad(x, n), [x[1] + n, x[0]], rtol=1e-15)


def test_it_repeats_a_number() -> None:
    s = symgrad(repeated_number)
    for n in (1, 3):
        assert s(1.5, n) == 1.5 * n
        assert s.grad(1.5, n) == n


def test_several_elements_are_repeated_a_known_number_of_times() -> None:
    s = symgrad(lambda x, n: sum([x[0], x[1]] * n))
    for n in (3, 0, 2):
        assert s(WHOLE, n) == 6 * n
        assert s.grad(WHOLE, n).tolist() == [n, n]
    with pytest.raises(UnsupportedError, match=r"'\*' of a list and an integer"):
        s.grad(MANY, 3)
