"""Slices, indices and what is stored through them, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symdiff.errors import SymdiffError
from symdiff.frontend import capture
from symdiff.interpret.loops import run
from symdiff.ir.program import Program
from tests.kernels import make_kernel

ENDS = st.none() | st.integers(-9, 9)
STEPS = st.none() | st.sampled_from([-3, -2, -1, 1, 2, 3])
SLICES = st.tuples(ENDS, ENDS, STEPS)
SIZES = (0, 1, 2, 5, 7)


def load(x, a=None, b=None, c=None):
    return x[a:b:c] * 2


def store(x, a=None, b=None, c=None):
    x[a:b:c] = 7
    return x


def accumulate(x, a=None, b=None, c=None):
    x[a:b:c] += x[a:b:c] ** 2
    return x


def load_from_loop(x, a=None, b=None, c=None):
    s = 0.0
    for i in range(len(x)):
        s += np.sum(x[i:b:c]) * (i + 1) + np.sum(x[a:i:c])
    return s


def load_twice(x, a=None, b=None, c=None):
    return x[a:b:c][::-1][b::c]


def view_of_view(x, a=None, b=None, c=None):
    y = x[a:b:c]
    z = y[::-1]
    z[1:] = 0
    return x


@pytest.mark.sampled
@pytest.mark.parametrize("fun", [load, store, accumulate, load_from_loop, load_twice, view_of_view])
@settings(max_examples=60)
@given(ends=SLICES)
def test_slices(fun: Any, ends: tuple[Any, Any, Any]) -> None:
    program = capture(fun, dict(zip("abc", ends, strict=True)), {"x": (1, "f")})
    for n in SIZES:
        x = np.arange(1.0, n + 1)
        same(program, [x], fun(x.copy(), *ends))


KEYS = st.lists(
    st.integers(0, 1) | st.builds(slice, ENDS, ENDS, STEPS) | st.none() | st.just(Ellipsis),
    max_size=4,
).filter(lambda k: k.count(Ellipsis) <= 1 and len([i for i in k if i not in (None, Ellipsis)]) < 3)


@pytest.mark.slow
@settings(max_examples=80)
@given(key=KEYS)
def test_keys_of_matrices(key: list[Any]) -> None:
    def load(x):
        return x[KEY] * 1.0

    def store(x):
        x[KEY] = -1.0
        return x

    KEY = tuple(key)
    for fun in (load, store):
        program = capture(fun, {}, {"x": (2, "f")})
        for n, m in ((2, 3), (3, 2), (5, 4)):
            x = np.arange(1.0, n * m + 1).reshape(n, m)
            same(program, [x], fun(x.copy()))


@settings(max_examples=40)
@given(
    places=st.lists(st.integers(-3, 2), min_size=1, max_size=4),
    where=st.sampled_from(["first", "second", "both", "with_slice", "apart"]),
)
def test_gathers(places: list[int], where: str) -> None:
    def load(x, k):
        return pick(x, k) * 1.0

    def pick(x, k):
        if where == "first":
            return x[k]
        if where == "second":
            return x[:, k]
        if where == "both":
            return x[k, k[::-1]]
        if where == "with_slice":
            return x[k, 1:]
        return x[k][:, None, 0]

    k = np.array(places)
    program = capture(load, {}, {"x": (2, "f"), "k": (1, "i")})
    x = np.arange(12.0).reshape(3, 4)
    same(program, [x, k], load(x, k))


def test_index_arrays_apart() -> None:
    def f(x, k):
        return x[k, :, k] + x[0, :, k]

    program = capture(f, {}, {"x": (3, "f"), "k": (1, "i")})
    x, k = np.arange(60.0).reshape(3, 5, 4), np.array([2, 0, 1])
    same(program, [x, k], f(x, k))


@pytest.mark.parametrize("index", [3, -4, 5, -9])
def test_out_of_range(index: int) -> None:
    def f(x, i: int):
        return x[i]

    program = capture(f, {"i": index}, {"x": (1, "f")})
    with pytest.raises(IndexError, match="out of range"):
        run(program, [np.zeros(3)])
    assert run(program, [np.arange(10.0)]) == [np.arange(10.0)[index]]


def test_out_of_range_by_value() -> None:
    def f(x, k):
        return np.sum(x[k])

    program = capture(f, {}, {"x": (1, "f"), "k": (1, "i")})
    assert run(program, [np.arange(3.0), np.array([-3, 2])]) == [2.0]
    for k in ([3], [0, -4]):
        with pytest.raises(IndexError, match="an index is out of range"):
            run(program, [np.arange(3.0), np.array(k)])


def test_a_loop_that_does_not_run_reads_nothing() -> None:
    def f(x, n):
        s = 0.0
        for _ in range(len(n)):
            s += x[2]
        return s

    program = capture(f, {}, {"x": (1, "f"), "n": (1, "f")})
    assert run(program, [np.zeros(0), np.zeros(0)]) == [0.0]
    with pytest.raises(IndexError):
        run(program, [np.zeros(0), np.zeros(1)])


def test_a_branch_that_is_not_taken_reads_nothing() -> None:
    def f(x):
        if len(x) > 3:
            return x[3]
        return 0.0

    program = capture(f, {}, {"x": (1, "f")})
    assert run(program, [np.zeros(2)]) == [0.0]
    assert run(program, [np.arange(5.0)]) == [3.0]


def test_sizes_that_do_not_fit() -> None:
    def f(x, y):
        return np.sum(x * y)

    program = capture(f, {}, {"x": (1, "f"), "y": (1, "f")})
    with pytest.raises((ValueError, SymdiffError), match=r"fit|size"):
        run(program, [np.zeros(2), np.zeros(3)])


def same(program: Any, args: list[Any], want: Any) -> None:
    """The program gives this, of this shape."""
    if isinstance(program, Program):  # it is elementwise
        got = make_kernel(program.outputs, program.params, cache=True)(args)[0]
    else:
        got = run(program, args)[0]
    want = np.asarray(want, float)
    assert np.shape(got) == want.shape
    np.testing.assert_allclose(np.asarray(got, float), want, rtol=1e-12)
