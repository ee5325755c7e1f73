"""The benchmark of CUDA kernels: what of it runs without a device."""

from __future__ import annotations

import importlib.util
import math
import sys
from pathlib import Path

import pytest

from symdiff import symgrad
from symdiff.runtime.cuda import nvrtc

pytestmark = pytest.mark.slow  # its kernels are large

PATH = Path(__file__).parents[2] / "benchmarks" / "cuda.py"


@pytest.fixture(scope="module")
def bench():
    spec = importlib.util.spec_from_file_location("cuda_benchmark", PATH)
    module = importlib.util.module_from_spec(spec)
    sys.modules["cuda_benchmark"] = module  # dataclasses look it up
    sys.path.insert(0, str(PATH.parent))  # as of a script that is run
    spec.loader.exec_module(module)
    yield module
    sys.path.remove(str(PATH.parent))
    del sys.modules["cuda_benchmark"]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_it_runs_and_the_kernels_by_hand_agree(fake_device, bench, capsys, monkeypatch, dtype):
    monkeypatch.setattr(bench, "REPEATS", 1)
    monkeypatch.setattr(bench, "BLOCK", 100)
    for peer in ("jax_time", "torch_time"):
        monkeypatch.setattr(bench, peer, lambda *_: math.nan)
    bench.main(["--size", "257", "--dtype", dtype])
    lines = capsys.readouterr().out.splitlines()
    rows = [line for line in lines if f" {dtype} | 257 | 1000.0 |" in line]
    assert len(rows) == len(bench.WORKLOADS) == 5
    assert all(row.endswith("| 1.00x | - | - |") for row in rows)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_its_kernels_compile(bench, dtype):
    pytest.importorskip("cuda.bindings", reason='NVRTC is not there: install "symdiff[cuda]"')
    for work in bench.WORKLOADS:
        f = symgrad(work.make(math))
        ptx = (f.jacobian if work.jacobian else f.value_and_grad).ptx(dtype=dtype)
        assert (".f64" in ptx) == (dtype == "float64")
        code = nvrtc.machine_code(bench.hand_text(work, dtype), (9, 0), contract=True)
        assert code.spills["hand"] == 0


def test_arrays(fake_device, bench, capsys, monkeypatch):
    """The benchmark of functions with arrays."""
    path = PATH.with_name("cuda_arrays.py")
    spec = importlib.util.spec_from_file_location("cuda_arrays_benchmark", path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "cuda_arrays_benchmark", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(bench, "REPEATS", 1)
    monkeypatch.setattr(module, "jax_seconds", lambda *_: math.nan)
    module.main(["--size", "1200", "--dtype", "float64"])
    rows = [line for line in capsys.readouterr().out.splitlines() if " float64 | 1200 |" in line]
    assert len(rows) == len(module.CASES) == 6
