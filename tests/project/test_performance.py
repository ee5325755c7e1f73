"""What speed rests on, without a clock: vector code, and what a warm start imports.

Ratios of times are in `benchmarks/test_ratios.py`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from symdiff.codegen.llvm import jit

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import latency  # noqa: E402
import peers  # noqa: E402
import throughput  # noqa: E402
from workloads import WORKLOADS  # noqa: E402

pytestmark = pytest.mark.slow

WORKS = {w.name: w for w in WORKLOADS}
X86 = jit.host().bits > 128
needs_vectors = pytest.mark.skipif(not (X86 and jit.host().isa), reason="no AVX2 or no libmvec")


@pytest.mark.parametrize("name", WORKS)
def test_the_c_by_hand_computes_the_same(name, tmp_path):
    """Otherwise the ratios would compare different things."""
    work = WORKS[name]
    made = peers.gcc(peers.source(work), tmp_path)
    if made is None:
        pytest.skip("no gcc")
    arrays = throughput.inputs(work, 1000)
    found, expected = ([np.empty(1000) for _ in range(work.results)] for _ in range(2))
    made[0](arrays, found)
    throughput.ours(work)(*arrays, out=throughput.nested(work, expected))
    throughput.agree(name, found, expected)


@needs_vectors
@pytest.mark.parametrize("name", WORKS)
def test_every_kernel_is_vectorised(name):
    """Packed arithmetic only, and no call of a function of one number."""
    work = WORKS[name]
    arrays = throughput.inputs(work, 1000)
    for accuracy in ("fast", "high"):
        f = throughput.ours(work, accuracy=accuracy, parallel=False, cache=False)
        packed, alone = throughput.instructions(lambda f=f: f(*arrays))
        assert packed > 0 and alone == 0


def test_a_warm_start_imports_neither_sympy_nor_numba(tmp_path):
    (tmp_path / "warm.py").write_text(latency.text("wide", 100))
    code = f"import sys; sys.path[:0] = {[str(tmp_path), *sys.path]!r}\n" + textwrap.dedent("""
        import warm
        from symdiff import symgrad
        symgrad(warm.f).grad(0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
        print(sorted({"sympy", "numba"} & set(sys.modules)))
    """)
    environment = dict(os.environ, SYMDIFF_CACHE_DIR=str(tmp_path / "cache"))
    command = [sys.executable, "-c", code]
    subprocess.run(command, env=environment, check=True, capture_output=True)
    warm = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    assert warm.stdout == "[]\n"
