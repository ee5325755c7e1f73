"""A difference from plain Python is found whatever was called before, and then at every call."""

import itertools
import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from symdiff import VerificationError, symgrad

ROOT = Path(__file__).parents[2]


def planted(f, wrong, **options):
    """A function that is captured as another one."""
    g = symgrad(f, **options)
    g._source.trace = symgrad(wrong, verify=False)._source.trace
    return g


def total(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * x[i]
    return s


def total_of_one(x):
    """`total` of one element."""
    s = 0.0
    for i in range(len(x)):
        s += x[i] * x[0]
    return s


def bent(x):
    return math.sin(x) if x > 1 else x * x


def bent_wrongly(x):
    return math.cos(x) if x > 1 else x * x


def broken_total(x):
    s = 0.0
    for i in range(len(x)):
        if x[i] > 1.0:
            s += 2.0 * x[i]
        else:
            s += x[i]
    return s


def broken_total_wrongly(x):
    s = 0.0
    for i in range(len(x)):
        if x[i] > 1.0:
            s += 3.0 * x[i]
        else:
            s += x[i]
    return s


@pytest.fixture(autouse=True)
def fresh(monkeypatch, tmp_path):
    monkeypatch.setenv("SYMDIFF_CACHE_DIR", str(tmp_path))


def fails(call, *args):
    with pytest.raises(VerificationError, match="verify=False"):
        call(*args)


@pytest.mark.sampled
@pytest.mark.parametrize("before", [(), (1,), (1, 1), (1, 1, 1, 1)])
@pytest.mark.parametrize("derivative", [False, True])
def test_sizes_that_no_compared_call_had_are_compared(before, derivative):
    g = planted(total, total_of_one)
    call = g.grad if derivative else g
    for n in before:
        call(np.full(n, 2.0))
    fails(call, np.arange(1.0, 5.0))
    fails(call, np.arange(1.0, 5.0))
    fails(call, np.ones(1))
    fails(g.value_and_grad, np.ones(1))
    fails(g.map, np.ones((2, 1)))
    again = planted(total, total_of_one, accuracy="strict")
    fails(again, np.ones(1))
    assert planted(total, total_of_one, verify=False)(np.ones(1)) == 1.0


def test_a_pass_on_disk_counts_for_its_sizes_only():
    assert planted(total, total_of_one)(np.ones(1)) == 1.0
    assert planted(total, total_of_one)(np.ones(1)) == 1.0
    fails(planted(total, total_of_one), np.arange(1.0, 5.0))


def test_sizes_of_elementwise_functions():
    """Compiled entries for arrays look at sizes too."""
    g = planted(lambda x: x * (1.0 if np.size(x) < 4 else 2.0), lambda x: x * 1.0, cache=False)
    for n in (1, 1, 2, 2, 3, 3, 3):
        assert np.all(g(np.ones(n)) == 1.0)
    fails(g, np.ones(7))
    fails(g, np.ones(1))


def test_two_sizes_are_compared_each():
    def wrong(x, y):
        return np.sum(x) * y[0] * len(y) if len(y) > 2 else np.sum(x) * np.sum(y)

    g = planted(lambda x, y: np.sum(x) * np.sum(y), wrong, cache=False)
    a = np.arange(1.0, 4.0)
    for _ in range(3):
        g(a, a[:1]), g(a, a[:2]), g(a[:1], a[:2])
    fails(g, a[:1], a)


@pytest.mark.sampled
@pytest.mark.parametrize("before", list(itertools.product((0.5, 0.75), repeat=2)))
@pytest.mark.parametrize("derivative", ["__call__", "grad", "hessian"])
def test_a_branch_that_no_compared_call_took_is_compared(before, derivative):
    g = planted(bent, bent_wrongly)
    call = g if derivative == "__call__" else getattr(g, derivative)
    for x in before:
        call(x)
    fails(call, 2.0)
    fails(call, 0.5)
    fails(planted(bent, bent_wrongly), 0.5)


def test_a_branch_of_one_element_among_many():
    g = planted(bent, bent_wrongly, cache=False)
    x = np.full(40, 0.5)
    for _ in range(3):
        assert np.all(g(x) == 0.25)
    x[17] = 2.0
    fails(g, x)


def test_a_branch_in_a_loop_is_compared_in_the_next_calls():
    for calls in range(3):
        g = planted(broken_total, broken_total_wrongly, cache=False)
        for _ in range(1 + calls):
            assert g(np.full(4, 0.5)) == 2.0
        fails(g, np.full(4, 2.0))
        fails(g, np.full(4, 0.5))


@pytest.mark.sampled
@pytest.mark.parametrize(
    "call",
    [
        lambda g, x: g.grad(x),
        lambda g, x: g.value_and_grad(x),
        lambda g, x: g.hessian(x),
        lambda g, x: g.jacobian(x),
        lambda g, x: g.jvp(x, 1.0),
        lambda g, x: g.vjp(x, 1.0),
        lambda g, x: g.hvp(x, 1.0),
        lambda g, x: g.diff("x")(x),
    ],
)
@pytest.mark.parametrize("x", [3, 3.0, np.int64(3), np.array([3, 4])])
def test_a_derivative_is_compared_at_its_first_call(call, x):
    def f(x):
        return x / 2 + x**-1

    call(symgrad(f, cache=False), x)  # integers are real numbers there, also to negative powers
    g = planted(f, lambda x: x / 2 - x**-1, cache=False)
    fails(call, g, x)
    fails(g, 3.0)


def test_results_in_given_arrays_are_compared():
    g = planted(total, total_of_one, cache=False)
    fails(lambda: g.grad(np.arange(1.0, 5.0), out=np.empty(4)))
    fails(lambda: g.grad(np.ones(1), out=np.empty(1)))


def test_nan_where_python_has_a_number():
    fails(planted(lambda x: np.log(abs(x)), lambda x: np.log(x), cache=False), -1.0)

    def f(x):
        return np.sum(np.sqrt(np.abs(x)))

    fails(planted(f, lambda x: np.sum(np.sqrt(x)), cache=False), np.array([1.0, -1.0]))
    fails(planted(f, lambda x: np.sum(np.log(x)), cache=False), np.array([1.0, -1.0]))


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("f", "args"),
    [
        (lambda x, y: np.sqrt(x * x - y), (1.1, 1.1 * 1.1)),  # below 0 by what Python rounds
        (lambda x: np.sqrt(x - 0.3) if x > 0.3 else 0.0, (0.1,)),
        (lambda x: np.sum(np.sqrt(x * x - x[0] * x[0])), (np.full(3, 1.1),)),
        (lambda x: np.sum(np.where(x > 0, np.log(x), 0.0)), (np.array([1.0, -1.0]),)),
        (lambda x: np.sqrt(x), (np.array([-1.0, 4.0]),)),
        (lambda x: (x**2 - 4) / (x - 2), (2.0,)),
    ],
)
def test_no_false_alarm_of_nan(f, args):
    g = symgrad(f, cache=False)
    for _ in range(3):
        g(*args)


@pytest.mark.slow
def test_a_right_function_is_never_reported():
    for f, kinds in [
        (bent, [0.5, 2.0, 1.0, np.array([0.5, 2.0]), np.ones(11), np.full((2, 3), 2.0), 2]),
        (total, [np.arange(n) * 0.7 for n in range(13)]),
        (broken_total, [np.arange(n) * 0.7 for n in range(13)]),
    ]:
        for order in (kinds, kinds[::-1]):
            g = symgrad(f)
            for x in order:
                given = float(x) if isinstance(x, int) else x
                want = f(x) if f is not bent or np.ndim(x) == 0 else np.vectorize(f)(x)
                np.testing.assert_allclose(g(given), want, rtol=1e-14)
                g.grad(given)


FACTOR = 3.0


def scaled(x):
    return FACTOR * x


def test_a_failure_ends_with_what_was_captured(monkeypatch):
    g = symgrad(scaled)
    trace = g._source.trace

    def wrong(*args):
        program = trace(*args)
        more = 1 if FACTOR == 3.0 else 0
        return replace(program, outputs=tuple(e + more for e in program.outputs))

    g._source.trace = wrong
    for factor in (3.0, 2.0, 3.0, 2.0):
        monkeypatch.setattr(sys.modules[__name__], "FACTOR", factor)
        for x in (1.0, np.ones(2), 1.0):
            if factor == 3.0:
                fails(g, x)
                fails(symgrad(scaled), x)
            else:
                assert np.all(g(x) == 2.0)


def test_a_refusal_of_kinds_is_not_one_of_the_function():
    g = symgrad(lambda x: np.sum(x**-1), dtype="float64")
    for _ in range(2):
        with pytest.raises(VerificationError, match="negative integer powers"):
            g(np.array([1, 2]))
        assert g(np.array([1.0, 2.0])) == 1.5


@pytest.mark.slow
def test_a_failure_is_seen_by_other_processes(tmp_path):
    """Also where their capture is right, and for other kinds of arguments."""
    source = tmp_path / "model.py"
    source.write_text(
        "import sys, numpy as np, symdiff\n"
        "def f(x):\n    return np.sum(x * x)\n"
        "g = symdiff.symgrad(f)\n"
        "if sys.argv[1] == 'planted':\n"
        "    wrong = symdiff.symgrad(lambda x: np.sum(x) * x[0])\n"
        "    g._source.trace = wrong._source.trace\n"
        "try:\n    print(g(eval(sys.argv[2])))\n"
        "except symdiff.VerificationError as e:\n    print('refused:', e.message)\n"
    )
    told = []
    calls = [("planted", "np.ones(1)"), ("planted", "np.array([1.0, 2.0])")]
    for how, x in [*calls, ("right", "np.ones(1)"), ("right", "3.0")]:
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        run = [sys.executable, str(source), how, x]
        told.append(subprocess.run(run, env=env, capture_output=True, text=True, check=True).stdout)
    assert told[0] == "1.0\n"
    assert told[1].startswith("refused: f([1., 2.]) is 5.0")
    assert told[1] == told[2] == told[3]


def test_special_points_are_sought_once_for_all_processes(monkeypatch):
    from symdiff.runtime.loops import by_definition

    asked = []
    seek = by_definition.special_points
    monkeypatch.setattr(
        by_definition, "special_points", lambda *args: (asked.append(1), seek(*args))[1]
    )
    for _ in range(2):
        slopes = symgrad(lambda x: np.sum(np.abs(x)) + np.max(x)).grad
        assert slopes(np.array([-1.0, 2.0, 0.5])).tolist() == [-1.0, 2.0, 1.0]
        assert slopes(np.array([-1.0, 2.0, 0.0])).tolist() == [-1.0, 2.0, 0.0]
        assert asked == [1]


def long_decay(x, k):
    s = 0.0
    for _ in range(6_000):
        x = x - k * x
        s = s + x
    return s


def test_comparisons_beyond_their_budget_are_tried_once(monkeypatch):
    from symdiff.pipeline.validation import loops

    asked = []
    agree = loops._agree
    monkeypatch.setattr(loops, "_agree", lambda *args: (asked.append(args[0]), agree(*args))[1])
    total = (1 - 0.001) * (1 - (1 - 0.001) ** 6_000) / 0.001
    for _ in range(2):
        assert symgrad(long_decay)(1.0, 0.001) == pytest.approx(total)
        assert asked == ["long_decay"]
