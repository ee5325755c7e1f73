"""Functions that are refused for arrays of any size, and taken for those of the call.

Where the frontend refuses a function, it is traced again with the sizes of arrays and the integers of the call known,
and arrays element by element (`pipeline.derivation.Source`): a program for each set of sizes.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from symdiff import UnsupportedError, symgrad
from tests.frontend.differences import check, slopes_by


def ragged(x):
    rows = [x[:k] for k in range(1, len(x) + 1)]
    return sum(np.sum(r) ** 2 for r in rows)


def stack(x, n):
    s = [0.0]
    for k in range(n):
        s.append(s[-1] * 0.5 + x[k])
        if k > 2:
            s.pop(0)
    return sum(v * v for v in s)


def shrink(x):
    v = x
    while len(v) > 1:
        v = 0.5 * (v[1:] + v[:-1])
    return v[0] ** 2


def dictof(x):
    d = {}
    for i in range(len(x)):
        d.setdefault(i % 3, []).append(x[i])
    return sum(np.prod(np.array(v)) for v in d.values())


def permut(x, n):
    p = list(range(n))
    t = 0.0
    for i in range(n):
        p = p[1:] + p[:1]
        t = t + x[p[0]] * x[p[-1]] * i
    return t


def binom(x, n):
    c = [1.0]
    for _ in range(n):
        c = [1.0] + [a + b for a, b in itertools.pairwise(c)] + [1.0]
    return sum(k * x**i for i, k in enumerate(c))


def names(x):
    state = {"a": x[0], "b": x[1]}
    for i in range(len(x)):
        key = "a" if i % 2 else "b"
        state[key] = state[key] * 0.9 + x[i]
    return state["a"] * state["b"]


def tree(x):
    def f(lo, hi):
        if hi - lo == 1:
            return x[lo]
        m = (lo + hi) // 2
        return f(lo, m) * 0.5 + np.sin(f(m, hi))

    return f(0, len(x))


def neigh(x, k):
    n = len(x)
    nb = [[j for j in range(n) if j != i and abs(j - i) <= k] for i in range(n)]
    return sum((x[i] - sum(x[j] for j in nb[i]) / len(nb[i])) ** 2 for i in range(n))


def polyc(c, x):
    p = np.array([1.0])
    for a in c:
        q = np.zeros(len(p) + 1)
        q[:-1] += p
        q[1:] -= a * p
        p = q
    return np.sum(p * x)


def strs(x, n):
    w = ""
    s = 0.0
    for i in range(n):
        w += "ab"[i % 2]
        if w.endswith("ba"):
            s += x * len(w)
    return s


X = np.random.default_rng(0).uniform(0.5, 1.5, 6)
CASES = [
    (ragged, (X,)), (stack, (X, 5)), (shrink, (X,)), (dictof, (X,)), (permut, (X, 6)), (binom, (0.3, 5)),
    (names, (X,)), (tree, (X,)), (neigh, (X, 2)), (polyc, (X, 1.2)), (strs, (0.7, 7)),
]  # fmt: skip


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("f", "args"), CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_values_and_gradients_are_those_of_plain_python(f, args):
    check(f, *args, value=1e-13, near=1e-7)


def test_each_size_and_each_integer_has_its_own_program():
    def sums(x, n):
        rows = [x[:k] for k in range(1, n)]
        return sum(np.sum(r) ** 2 for r in rows)

    f = symgrad(sums)
    for n in (3, 4, 2, 4, 4, 3, 5):
        x = np.arange(5.0)
        slope = sum(2 * np.sum(x[:k]) * (np.arange(5) < k) for k in range(1, n))
        for _ in range(2):
            assert f(x, n) == sums(x, n)
            np.testing.assert_allclose(f.grad(x, n), slope, rtol=1e-15)
    assert f(np.arange(5), 3) == 1 and isinstance(f(np.arange(5), 3), np.integer)
    assert f.grad(np.ones(3), 3).tolist() == [6.0, 4.0, 0.0]
    assert "as otherwise the rows of an array have different lengths" in str(f.report())


def test_second_derivatives_and_containers():
    f = symgrad(lambda p: sum(np.sum(p["x"][:k]) ** 2 for k in range(1, len(p["x"]) + 1)) * p["s"])
    at = {"x": np.array([1.0, 2.0, 3.0]), "s": 2.0}
    assert f.grad(at)["s"] == 1 + 9 + 36
    assert f.grad(at)["x"].tolist() == [40.0, 36.0, 24.0]
    assert symgrad(ragged).hessian(np.ones(3)).tolist() == [[6, 4, 2], [4, 4, 2], [2, 2, 2]]


def test_what_is_refused_all_the_same_says_why():
    def listed(x):
        rows = [x[:k] for k in range(1, len(x))]
        if x[0] > 1:
            rows.append(x)
        return sum(np.sum(r) for r in rows)

    with pytest.raises(UnsupportedError, match="changes its size only when"):
        symgrad(listed)(np.ones(3))
    with pytest.raises(UnsupportedError, match="have different lengths"):
        symgrad(ragged)(np.ones(3000))  # too many elements to trace one by one


@pytest.mark.slow
def test_only_integers_that_must_be_known_are():
    """The others are numbers with derivatives, as in functions that are taken for arrays of any size."""

    def f(x, n, c, flag):
        rows = []
        for i in range(n):
            if flag:
                rows.append([x[0] * i] * i)
            elif flag == 0:
                rows.append([c * x[1]] * 2)
        rows = rows[1:] if flag else rows
        return c * sum([sum(r) for r in rows])

    g, x = symgrad(f), np.array([0.5, 2.0])
    for n, c, flag in ((3, 2, True), (3, 2, 1), (4, 3, False), (np.int64(4), 3.0, 0), (3, 2, True)):
        assert g(x, n, c, flag) == pytest.approx(f(x, n, c, flag), rel=1e-15)
        by_x, by_c = g.grad(x, n, c, flag)
        np.testing.assert_allclose(by_x, slopes_by(f, (x, n, c, flag), 0), rtol=1e-8)
        assert by_c == pytest.approx(slopes_by(f, (x, n, float(c), flag), 2), rel=1e-8)


# ------------------------------------- arrays that are listed, or whose elements have names
LETTERS = ["A", "B", "C"]


def by_names(c: Any) -> Any:
    at = dict(zip(LETTERS, c, strict=False))
    return at["A"] * at["B"] ** 2


def by_places(c: Any) -> Any:
    at = dict(enumerate(c))
    return at[0] * at[len(at) - 1] ** 2


def by_steps(target: Any) -> Any:
    q = np.array([0.3, 0.6])
    for _ in range(3):
        q += 0.1 * (target - q**2)
    return q @ q


@pytest.mark.sampled(2)
@pytest.mark.parametrize("f", [
    by_names, lambda c: sum(v**3 if name == "B" else v for name, v in zip("AB", c, strict=False)), by_places, by_steps,
])  # fmt: skip
def test_arrays_that_are_listed_or_named(f: Any) -> None:
    check(f, np.array([0.7, 1.3]), value=1e-14, slope=1e-8, near=0.0, step=1e-5)


def test_lists_of_each_size() -> None:
    f = symgrad(by_places)
    for n in (2, 4, 3):
        x = np.arange(1.0, n + 1)
        assert f(x) == by_places(x)


def test_many_elements_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="more than 4096 elements are listed"):
        symgrad(by_places)(np.ones(5000))
