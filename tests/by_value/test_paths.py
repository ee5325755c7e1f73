"""Paths that recur are compiled: a call is served by the path that it takes, or traced again."""

from __future__ import annotations

import math

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.api import recurring_paths
from tests.by_value.more_programs import FAST, LONG
from tests.by_value.programs import PROGRAMS

ALL = {**PROGRAMS, **FAST, **LONG}
SCALE = [2.0]


def run(f, **options):
    return symgrad(f, by_value=True, **options)


@pytest.fixture(autouse=True)
def eager(monkeypatch):
    """Paths are compiled when they are met a second time."""
    monkeypatch.setattr(recurring_paths, "WORTH", 100_000)


def kept(f):
    return [path for paths in f._source.by_value.paths.values() for path in paths.kept]


def choice(x, y):
    state = {"low": "x", "high": "y"}["low" if x < y else "high"]
    return math.sin(x) * y if state == "x" else x * x * y


def steps(x, n):
    items = [x]
    for _ in range(n):
        items.append(items[-1] * 0.5 + int(3 * x))
    return sum(items)


def caught(x):
    try:
        return math.sqrt(x)
    except ValueError:
        return x * x


def keyed(x):
    known = {0.5: 10.0}
    return known.get(x, 1.0) * x * x


def test_a_path_is_compiled_and_another_is_traced():
    f = run(choice)
    for k in range(4):
        x = 0.1 * k
        np.testing.assert_allclose(f.grad(x, 1.0), (math.cos(x), math.sin(x)), rtol=1e-14)
    assert len(kept(f)) == 1
    assert "1 path compiled" in str(f.report())
    assert f.grad(2.0, 1.0) == (4.0, 4.0)
    assert f.grad(3.0, 1.0) == (6.0, 9.0)
    assert len(kept(f)) == 2
    assert f.hessian(3.0, 1.0) == ((2.0, 6.0), (6.0, 0.0))
    assert f.grad(1.0, 1.0) == (2.0, 1.0)  # a tie, which no path serves
    assert f.value_and_grad(3.0, 1.0) == (9.0, (6.0, 9.0))


@pytest.mark.filterwarnings("ignore::symdiff.GuardWarning")
def test_decisions_by_steps_errors_keys_and_texts_are_guards():
    f = run(steps)
    for x in (0.40, 0.41, 0.42, 0.5, 1.1, 0.43, -0.1, -0.2, -0.4):
        assert f.grad(x, 3) == 1.875
        assert f.grad(x, 2) == 1.75
    f = run(caught)
    for x in (-1.0, -2.0, -3.0, 4.0, 9.0, 16.0, -4.0):
        assert f.grad(x) == (2 * x if x < 0 else 0.5 / math.sqrt(x))
    f = run(keyed)
    for x in (0.1, 0.2, 0.3, 0.5, 0.7):
        assert f.grad(x) == 2 * x * (10.0 if x == 0.5 else 1.0)
    f = run(lambda x: x * len(f"{x:.3g}"))
    for x in (0.1, 0.2, 0.3, 0.25, 0.125):
        assert f.grad(x) == float(len(f"{x:.3g}"))


def test_what_a_function_reads_may_change():
    f = run(lambda x: SCALE[0] * x**2)
    assert [f.grad(float(k)) for k in range(1, 5)] == [4.0, 8.0, 12.0, 16.0]
    assert len(kept(f)) == 1
    SCALE[0] = 3.0
    try:
        assert f.grad(1.0) == 6.0
        assert kept(f) == []
    finally:
        SCALE[0] = 2.0


def test_arguments_and_results_nest():
    def f(p, a):
        top = max(a, key=lambda v: v * p["b"][0])
        return {"s": [top * p["c"], np.array([a[0] * a[1], p["c"]])]}

    g = run(f)
    a = np.array([1.0, 2.0])
    for k in range(4):
        found = g.jacobian({"b": [1.0 + k], "c": 3.0}, a)
        want = run(f).jacobian({"b": [1.0 + k], "c": 3.0}, a)
        assert str(found) == str(want)
    assert len(kept(g)) == 1


def _moved(args, draw):
    return tuple(
        a * draw.uniform(0.8, 1.25, np.shape(a)) if isinstance(a, np.ndarray) else a * draw.uniform(0.8, 1.25)
        for a in args
    )  # fmt: skip


@pytest.mark.parametrize(
    ("f", "calls"),
    [pytest.param(f, 6, id=f"{f.__name__}-few") for f in list(PROGRAMS)[:6]]
    + [pytest.param(f, 60, id=f.__name__, marks=pytest.mark.slow) for f in ALL],
)
def test_random_calls(f, calls):
    """Whichever path serves a call, its derivative is that of a fresh trace."""
    draw = np.random.default_rng(5)
    g = run(f)
    for k in range(calls):
        args = _moved(ALL[f][k % 3], draw)
        try:
            f(*args)
        except ValueError:
            continue
        value, found = g.value_and_grad(*args)
        np.testing.assert_allclose(value, f(*args), rtol=1e-12)
        for a, b in zip(found, run(f).grad(*args), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8 * np.max(np.abs(b)))
