"""Programs with arrays and loops on disk: a second process does not derive them again."""

import math
from dataclasses import fields

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.frontend import capture
from symdiff.ir import Op, topological
from symdiff.ir.loop_program import LoopProgram, expressions_in
from symdiff.pipeline import derivation, loops
from symdiff.pipeline.derived_on_disk import kept_program
from symdiff.pipeline.kernels import loops as kernels_of_loops
from symdiff.pipeline.lowered import loops as lowered_loops
from symdiff.runtime.kept_formulas import kept, listed, listing

RNG = np.random.default_rng(0)
WEIGHTS = RNG.random(7)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SYMDIFF_CACHE_DIR", str(tmp_path / "cache"))


def recurrence(x, k):
    h = np.zeros(len(x))
    for i in range(1, len(x)):
        h[i] = np.tanh(k * h[i - 1] + x[i])
    return np.sum(h**2)


def weighted(x, k):
    return np.sum(WEIGHTS[: len(x)] * np.exp(-k * x)) + x[2]


def sinc_sums(x, k):
    s = 0.0
    for i in range(len(x)):
        s = s + np.sin(k * x[i]) / x[i]
    return s


def slopes_of_sines(x, k):
    s = k
    for i in range(len(x)):
        s = s + (1 - np.cos(x[i])) / x[i] ** 2
    return s


def until(x, k):
    t, n = x[0], 0
    while t < 10.0:
        t = t + k * np.abs(x[n % len(x)]) + 0.5
        n = n + 1
    return t


def decided(x, k):
    n = int(k / 0.1)
    return np.sum(x[:n] ** 2) * k


def several(x, k):
    return {"a": np.cumsum(x) * k, "b": (np.linalg.solve(np.diag(x), x), 1j * k)}


PROGRAMS = (recurrence, weighted, sinc_sums, slopes_of_sines, until, decided)


def captured(f):
    found = capture(f, {}, {"x": (1, "r"), "k": (0, "r")})
    assert isinstance(found, LoopProgram)
    return found


def fail(*_):
    raise AssertionError("this was kept")


@pytest.mark.parametrize("f", (*PROGRAMS, several))
def test_what_is_read_is_what_was_written(f):
    program = captured(f)
    made = [program, loops.value(program)]
    if f is not several:
        made.append(loops.gradient(program, ("x", "k")))
    for k, p in enumerate(made):
        kept_program(f"test {k}", program, True, lambda p=p: p)
        read = kept_program(f"test {k}", program, True, fail)
        for each in fields(LoopProgram):
            assert getattr(read, each.name) == getattr(p, each.name), each.name
        nodes = zip(expressions_in(read.block), expressions_in(p.block), strict=True)
        assert all(a is b for a, b in nodes)


@pytest.mark.parametrize("f", PROGRAMS)
def test_a_function_met_again_is_not_derived_again(f, monkeypatch):
    x, k = 0.5 + RNG.random(5), 0.3
    first = symgrad(f).grad(x, k)
    assert math.isclose(symgrad(f)(x, k), f(x, k), rel_tol=1e-14)
    for module in (derivation, kernels_of_loops, lowered_loops):  # which ask for kept programs
        monkeypatch.setattr(
            module, "kept_program", lambda a, b, c, _, *d: kept_program(a, b, c, fail, *d)
        )
    assert math.isclose(symgrad(f)(x, k), f(x, k), rel_tol=1e-14)
    slopes = symgrad(f).grad(x, k)
    h = 1e-6
    for j, e in enumerate(np.eye(5)):
        difference = (f(x + h * e, k) - f(x - h * e, k)) / (2 * h)
        assert math.isclose(slopes[0][j], difference, rel_tol=1e-7, abs_tol=1e-8)
        assert slopes[0][j] == first[0][j]


def test_what_a_function_reads_counts(monkeypatch):
    x, k = RNG.random(5), 0.3
    f = symgrad(weighted)
    before = f.grad(x, k)
    monkeypatch.setitem(globals(), "WEIGHTS", WEIGHTS + 1)
    for g in (f.grad, symgrad(weighted).grad):
        slopes = g(x, k)[0] - before[0]
        np.testing.assert_allclose(slopes, -k * np.exp(-k * x), rtol=1e-12)


def test_derivations_are_kept_apart():
    x, k = 0.5 + RNG.random(5), 0.3
    by_k = symgrad(recurrence, wrt="k").grad(x, k)
    by_both = symgrad(recurrence).grad(x, k)
    assert isinstance(by_k, float)
    assert math.isclose(by_k, by_both[1], rel_tol=1e-13)


@pytest.mark.parametrize("f", [sinc_sums, slopes_of_sines])
def test_operations_that_passes_made_are_made_again(f):
    program = loops.value(captured(f))
    roots = (*expressions_in(program.block), *program.outputs)
    made = [e.op for e in topological(roots) if e.op.remake is not None]
    assert made
    assert all(a is b for a, b in zip(listed(listing(roots)), roots, strict=True))


def test_operations_of_others_are_not_kept():
    own = Op("own_operation_of_a_test", 1, means=object())
    node = own(captured(until).params[1].leaf)
    assert listing((node,)) is None
    assert kept("test", (node,), True, lambda: (node,)) == (node,)
    with pytest.raises(AssertionError):
        kept("test", (node,), True, fail)
