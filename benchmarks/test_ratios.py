"""Ratios of symdiff to code by hand, timed in the same run: a guard against slowness.

    python -m pytest benchmarks

The bounds leave room for a noisy machine, but not for a loaded one; `python benchmarks` holds the
figures to tighter ones. None of this runs with the tests.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.codegen.llvm import jit
from symdiff.runtime.scalar import elementwise as arrays

sys.path.insert(0, str(Path(__file__).parent))

import latency
import peers
import throughput
from timing import children, clock, race
from workloads import WORKLOADS

WORKS = {w.name: w for w in WORKLOADS}
X86 = jit.host().bits > 128
needs_vectors = pytest.mark.skipif(not (X86 and jit.host().isa), reason="no AVX2 or no libmvec")


@needs_vectors
@pytest.mark.parametrize("name", ["rosenbrock", "sinc", "rational", "chain", "three_body"])
def test_fast_kernels_beside_c(name, tmp_path):
    """Arrays that no cache holds: results go past the caches, inputs are fetched ahead."""
    work, size = WORKS[name], 4_000_000
    made = peers.gcc(peers.source(work), tmp_path)
    if made is None:
        pytest.skip("no gcc")
    arrays = throughput.inputs(work, size)
    out = [np.empty(size) for _ in range(work.results)]
    places = throughput.nested(work, out)
    f = throughput.ours(work, accuracy="fast", parallel=False)
    clocks = {
        "fast": clock(lambda: f(*arrays, out=places)),
        "C": clock(lambda: made[0](arrays, out)),
    }
    found = race(clocks, 9)
    assert found["fast"] < 1.3 * found["C"]


@pytest.mark.parametrize("kind", ["grad", "value_and_grad"])
def test_a_scalar_call_costs_no_more_than_a_few_of_the_math_module(kind):
    f = getattr(symgrad(WORKS["rosenbrock"].fun), kind)
    clocks = {
        "ours": clock(f, 1.25, 0.75, repeat=5000),
        "sin": clock(math.sin, 0.5, repeat=5000),
    }
    found = race(clocks, 25)
    assert found["ours"] < 20 * found["sin"]


def test_a_call_on_a_small_array_costs_no_more_than_a_few_of_numpy():
    f, x = symgrad(WORKS["softplus"].fun, accuracy="fast").grad, np.full(8, 0.5)
    found = race({"ours": clock(f, x, repeat=2000), "numpy": clock(np.sin, x, repeat=2000)}, 25)
    assert found["ours"] < 8 * found["numpy"]


@pytest.mark.parametrize("how", ["strided", "integers", "broadcast", "mixed"])
def test_small_arguments_of_any_kind_cost_little_more(how):
    a, b = np.linspace(0.5, 1, 16), np.linspace(1, 2, 8)
    other = {
        "strided": a[::2],
        "integers": np.arange(8),
        "broadcast": a[:8, None],
        "mixed": 2,
    }[how]
    f = symgrad(WORKS["rosenbrock"].fun).value_and_grad
    clocks = {
        "usual": clock(f, a[:8], b, repeat=500),
        "other": clock(f, other, b, repeat=500),
    }
    found = race(clocks, 15)
    assert found["other"] < 70 * found["usual"]


@pytest.mark.parametrize("accuracy", ["fast", "high"])
def test_results_in_given_arrays_cost_no_more_than_new_ones(accuracy):
    f, x = symgrad(WORKS["softplus"].fun, accuracy=accuracy).value_and_grad, np.full(8, 0.5)
    out = np.empty(8), np.empty(8)
    clocks = {"new": clock(f, x, repeat=2000), "given": clock(lambda: f(x, out=out), repeat=2000)}
    found = race(clocks, 25)
    assert found["given"] < 2 * found["new"]


@needs_vectors
def test_large_results_are_not_read_before_they_are_written(monkeypatch):
    """Past the caches they take no longer than through them."""
    work, size = WORKS["rosenbrock"], 4_000_000
    given = throughput.inputs(work, size)
    places = throughput.nested(work, [np.zeros(size) for _ in range(work.results)])
    f = throughput.ours(work, accuracy="fast", parallel=False)

    def streamed(limit: int) -> None:
        monkeypatch.setattr(arrays, "STREAMED", limit)
        f(*given, out=places)

    found = race({"past": clock(streamed, 32 << 20), "through": clock(streamed, 1 << 60)}, 9)
    assert found["past"] < 1.3 * found["through"]


@needs_vectors
@pytest.mark.parametrize("name", ["sinc", "chain", "morse"])
def test_functions_computed_together_beside_c(name, tmp_path):
    work, size = WORKS[name], 2048
    made = peers.gcc(peers.source(work), tmp_path)
    if made is None:
        pytest.skip("no gcc")
    given = throughput.inputs(work, size)
    out = [np.empty(size) for _ in range(work.results)]
    f, places = throughput.ours(work, accuracy="fast"), throughput.nested(work, out)
    clocks = {
        "fast": clock(lambda: f(*given, out=places), repeat=50),
        "C": clock(lambda: made[0](given, out), repeat=50),
    }
    found = race(clocks, 25)
    assert found["fast"] < 1.3 * found["C"]


@pytest.mark.parametrize("name", ["rosenbrock", "lennard_jones", "softplus", "chain"])
def test_gradients_are_cheap(name):
    work = WORKS[name]
    arrays = throughput.inputs(work, 4096)
    f = symgrad(work.fun, accuracy="fast", parallel=False)
    clocks = {"value": clock(f, *arrays), "all": clock(f.value_and_grad, *arrays)}
    found = race(clocks, 60)
    assert found["all"] < 3.5 * found["value"]


@pytest.mark.parametrize("operations", [1000, 10_000])
@pytest.mark.parametrize("family", latency.FAMILIES)
def test_large_functions_answer_soon(family, operations, tmp_path, monkeypatch):
    """The first gradient of a large function, beside what a naive tool does at least: walk
    the syntax of the function once and compile it with Python."""
    monkeypatch.setenv("SYMDIFF_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    modules = latency.Modules(str(tmp_path))
    source = latency.text(family, operations)
    latency.first_gradient(modules.write("wide", 20)[1].f)
    functions = [modules.write(family, operations)[1].f for _ in range(4)]
    clocks = {
        "ours": lambda: latency.first_gradient(functions.pop()),
        "python": clock(compile, source, "text", "exec"),
    }
    found = race(clocks, 3)
    assert found["ours"] < 200 * found["python"]


def test_a_warm_start_takes_no_more_than_a_few_of_numpy(tmp_path):
    (tmp_path / "warm.py").write_text(latency.text("wide", 100))
    setup = f"import sys; sys.path[:0] = {[str(tmp_path), *sys.path]!r}\nimport numpy\n"
    code = setup + textwrap.dedent("""
        import warm
        from symdiff import symgrad
        symgrad(warm.f).grad(0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
        assert not {"sympy", "numba"} & set(sys.modules)
    """)
    environment = dict(os.environ, SYMDIFF_CACHE_DIR=str(tmp_path / "cache"))

    def run(text: str) -> None:
        subprocess.run([sys.executable, "-c", text], env=environment, check=True)

    run(code)
    clocks = {n: clock(run, t, timer=children) for n, t in (("ours", code), ("numpy", setup))}
    found = race(clocks, 5)
    assert found["ours"] < 5 * found["numpy"]
