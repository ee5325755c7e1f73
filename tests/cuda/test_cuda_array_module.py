# ruff: noqa: F821
"""Generated modules of functions with arrays and loops, with kernels for CUDA: what the text
says, and what it computes under Numba's simulator."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symdiff import Array, symgrad
from symdiff.codegen.cuda.loops.plan import plan
from symdiff.codegen.llvm.loops.kernel import lowered
from symdiff.codegen.source.modules.cuda.kernels import NumbaPython
from symdiff.errors import TargetError
from symdiff.export.loops import array_module
from symdiff.frontend import capture
from symdiff.interpret.loops import Precise, run
from symdiff.ir.loop_program import LoopProgram
from symdiff.pipeline import loops as loop_pipeline
from symdiff.runtime.cuda.loops.kernel import kernels
from tests import traced_corpus
from tests.array_corpus import CASES, Case, passed
from tests.cuda.test_cuda_module import simulated

pytest.importorskip("numba.cuda", reason="Numba has no CUDA target")

SWEEP = """
import importlib, json, sys, traceback
import numpy as np

def flat(r):
    if isinstance(r, dict):
        r = list(r.values())
    if isinstance(r, (tuple, list)):
        return [x for a in r for x in flat(a)]
    return [np.asarray(r).tolist()]

def array(a):
    return np.array(a["data"], a["dtype"]).reshape(a["shape"]) if isinstance(a, dict) else a

results = []
for module, calls in json.load(open(sys.argv[1])):
    functions = vars(importlib.import_module(module))
    try:
        results.append([flat(functions[name](*map(array, args))) for name, args in calls])
    except Exception:
        results.append(traceback.format_exc())
json.dump(results, sys.stdout)
"""

ROUGH = {"float64": (1e-9, 1e-11), "float32": (2e-3, 2e-3)}


def programs(case: Case) -> dict[str, LoopProgram] | None:
    """The functions of the case's module, by the ends of their names."""
    if not isinstance(traced_corpus.captured(case), LoopProgram):
        return None
    found = {"": traced_corpus.value(case)}
    if traced_corpus.has_gradient(case):
        found["_grad"] = traced_corpus.gradient(case)
    return found


def written(a: Any) -> Any:
    if not isinstance(a, np.ndarray):
        return a
    return {"data": a.ravel().tolist(), "dtype": a.dtype.str, "shape": a.shape}


PARTS = 24
SWEPT = [
    (1, "float64"),
    (2, "float32"),
    *(pytest.param(k, "float64", marks=pytest.mark.slow) for k in range(PARTS) if k != 1),
    *(pytest.param(k, "float32", marks=pytest.mark.slow) for k in range(5, PARTS, 8)),
]
"""In float32 the kernels are the same but for their types."""


def in_small_blocks(text: str) -> str:
    """The module with 8 threads in a block in place of 256, each a thread of the simulator's."""
    small = re.sub(r"\b256\b", "8", text).replace("(128, 64, 32, 16, 8, 4, 2, 1)", "(4, 2, 1)")
    assert "(128, 64" not in small
    return small


@pytest.mark.parametrize(("part", "dtype"), SWEPT)
def test_the_corpus_in_the_simulator(tmp_path: Path, part: int, dtype: str) -> None:
    """Values and gradients, against the interpreter in 120 bits."""
    jobs, truths, names = [], [], []
    for case in CASES[part::PARTS]:
        found = programs(case)
        if found is None:
            continue
        captured = traced_corpus.traced(case)
        wrt = [p.name for p in captured.params]
        text = array_module(captured, wrt, dtype=dtype, targets=["cpu", "cuda"])
        (tmp_path / f"{case.name}_kernels.py").write_text(in_small_blocks(text), encoding="utf-8")
        sizes = list(case.sizes())
        for seed in sorted({0, len(sizes) - 1}):
            whole = [rounded(a, dtype) for a in case.arguments(sizes[seed], seed)]
            args = next(passed(captured, whole), None)
            if args is None:
                continue  # no elements
            calls = [(f"{case.name}{end}_cuda", [written(a) for a in args]) for end in found]
            jobs.append((f"{case.name}_kernels", calls))
            truths.append([run(loop_pipeline.final(p), args, Precise(120)) for p in found.values()])
            names.append(f"{case.name} {sizes[seed]}")
    (tmp_path / "jobs.json").write_text(json.dumps(jobs))
    got = json.loads(simulated(SWEEP, tmp_path, str(tmp_path / "jobs.json")))
    rtol, atol = ROUGH[dtype]
    for name, values, wanted in zip(names, got, truths, strict=True):
        assert isinstance(values, list), f"{name}: {values}"
        for value, want in zip(values, wanted, strict=True):
            for a, b in zip(value, want, strict=True):
                b = np.array([float(v) for v in np.asarray(b).ravel()]).reshape(np.shape(b))
                a = np.array(a, float).reshape(b.shape)
                np.testing.assert_allclose(a, b, rtol=rtol, atol=atol, err_msg=name)


def rounded(a: Any, dtype: str) -> Any:
    if not isinstance(a, np.ndarray) or a.dtype.kind != "f":
        return float(np.float32(a)) if isinstance(a, float) else a
    return a.astype(dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ["determinants", "sorted_along_axes"])
def test_routines_that_numba_has_not(tmp_path: Path, name: str, dtype: str) -> None:
    """Modules have functions of their own for them."""
    (case,) = (c for c in CASES if c.name == name)
    captured = traced_corpus.traced(case)
    wrt = [p.name for p in captured.params]
    path = tmp_path / f"{name}_{dtype}.py"
    path.write_text(array_module(captured, wrt, dtype=dtype), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rtol, atol = ROUGH[dtype]
    found = programs(case)
    assert found is not None
    for sizes in list(case.sizes())[-2:]:
        args = [rounded(a, dtype) for a in case.arguments(sizes, 5)]
        for end, program in found.items():
            got = getattr(module, name + end)(*args)
            (want,) = run(loop_pipeline.final(program), args, Precise(120))
            want = np.array([float(v) for v in np.ravel(want)]).reshape(np.shape(want))
            np.testing.assert_allclose(got, want, rtol=rtol, atol=100 * atol)


# ------------------------------------------------------------------------- the text
def loss(X: Array[n, m], y: Array[n], w: Array[m]):
    z = X @ w
    return np.sum(np.logaddexp(0.0, z) - y * z)


def misfit(X: Array[n, m], y: Array[n], w: Array[m]):
    return np.sum((X @ w - y) ** 2)


def blended(x: Array[n], a):
    s, total = x[0], 0.0
    for i in range(1, len(x)):
        s = a * s + (1 - a) * x[i] ** 2
        total += np.log(s)
    return total


def text_of(f: Any, dtype: str = "float64") -> str:
    captured = symgrad(f)._source.program({})
    wrt = [p.name for p in captured.params]
    return array_module(captured, wrt, dtype=dtype, targets=["cpu", "cuda"])


def test_golden(golden: Any) -> None:
    golden("misfit_cuda_float64.py", text_of(misfit))
    golden("blended_cuda_float32.py", text_of(blended, "float32"))


def test_the_text_depends_on_the_function_only() -> None:
    assert text_of(loss) == text_of(loss)
    assert "symdiff" not in text_of(loss).partition('"""\n\n')[2]
    assert "sympy" not in text_of(loss)


def test_a_module_works_without_cuda(tmp_path: Path) -> None:
    """Only calling a function of the device fails, with the reason."""
    (tmp_path / "loss_kernels.py").write_text(text_of(loss), encoding="utf-8")
    script = (
        "import sys\n"
        "class Refuse:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'numba.cuda': raise ImportError('no CUDA here')\n"
        "        assert name.partition('.')[0] not in ('symdiff', 'sympy'), name\n"
        "import numba; sys.modules.pop('numba.cuda', None); vars(numba).pop('cuda', None)\n"
        "sys.meta_path.insert(0, Refuse())\n"
        "import numpy as np, loss_kernels as k\n"
        "x = np.ones((2, 3)), np.ones(2), np.zeros(3)\n"
        "print(k.loss_grad(*x)[2])\n"
        "try: k.loss_grad_cuda(*x)\n"
        "except RuntimeError as error: print(error)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert result.stdout.splitlines() == [
        "[-1. -1. -1.]", "there is no CUDA device that Numba can use: no CUDA here",
    ]  # fmt: skip


def test_save_and_the_command_line_hold_both(tmp_path: Path) -> None:
    for target in ("cuda", "auto"):
        symgrad(loss, target=target).save(tmp_path / "loss.py")
        assert "def loss_grad_cuda(" in (tmp_path / "loss.py").read_text()
    symgrad(loss).save(tmp_path / "loss.py")
    assert "_cuda" not in (tmp_path / "loss.py").read_text()
    with pytest.raises(TargetError, match="unknown target 'gpu'"):
        array_module(symgrad(loss)._source.program({}), ["w"], targets=["gpu"])


CALLS = """
import numpy as np
from numba import cuda
import loss_kernels as k

X, y, w = np.arange(6.0).reshape(3, 2) / 7, np.array([0.0, 1.0, 0.0]), np.array([0.3, -0.2])
value, slopes = k.loss_value_and_grad_cuda(X, y, w)
want, wanted = k.loss_value_and_grad(X, y, w)
assert abs(value - want) < 1e-14 and all(type(s) is np.ndarray for s in slopes)
for a, b in zip(slopes, wanted):
    np.testing.assert_allclose(a, b, rtol=1e-14, atol=1e-16)  # a sum that cancels is corrected on the CPU
value, slopes = k.loss_value_and_grad_cuda(*map(cuda.to_device, (X, y, w)), stream=cuda.stream())
assert not any(isinstance(s, np.ndarray) for s in slopes) and slopes[0].shape == (3, 2)
for a, b in zip(slopes, wanted):
    np.testing.assert_allclose(a.copy_to_host(), b, rtol=1e-14, atol=1e-16)
assert k.loss_cuda(np.zeros((0, 2)), np.zeros(0), w) == 0
wrong = (X, y[:2], w), (X, y, w[:1]), (X[0], y, w), (cuda.to_device(X.astype("f4")), y, w)
for args in wrong:
    try:
        k.loss_cuda(*args)
    except ValueError as error:
        print(error)
"""


def test_calls_in_the_simulator(tmp_path: Path) -> None:
    (tmp_path / "loss_kernels.py").write_text(text_of(loss), encoding="utf-8")
    assert simulated(CALLS, tmp_path).splitlines() == [
        "axis 0 of y has another size", "axis 0 of w has another size",
        "X is an array of 2 axes in this module, not an array of shape (2,)",
        "arrays on a device must be contiguous, of float64",
    ]  # fmt: skip


CHECKS = """
import numpy as np
import at_kernels as k

print(k.at_cuda(np.arange(4.0), np.array([0, 3])))
try:
    k.at_cuda(np.arange(4.0), np.array([0, 4]))
except IndexError as error:
    print(error)
"""


def test_checks_in_the_simulator(tmp_path: Path) -> None:
    def at(x, k):
        return np.sum(x[k])

    captured = capture(at, None, {"x": (1, "f"), "k": (1, "i")})
    assert isinstance(captured, LoopProgram)
    text = array_module(captured, ["x"], targets=["cpu", "cuda"])
    (tmp_path / "at_kernels.py").write_text(text, encoding="utf-8")
    assert simulated(CHECKS, tmp_path).splitlines() == ["3.0", "an index is out of range"]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("f", [loss, blended], ids=lambda f: f.__name__)
def test_kernels_compile_to_ptx(f: Any, dtype: str) -> None:
    """Numba compiles the kernels for their arguments; those in single precision have no
    double-precision instruction. (The target that comes with Numba itself asks a device.)"""
    pytest.importorskip("cuda.bindings", reason='numba-cuda is not there: install "symdiff[cuda]"')
    from numba import config, cuda, types

    if config.ENABLE_CUDASIM:
        pytest.skip("the simulator does not compile")
    captured = symgrad(f)._source.program({})
    found = loop_pipeline.final(
        loop_pipeline.value_and_gradient(captured, [p.name for p in captured.params])
    )
    language = NumbaPython(dtype)
    steps = plan(lowered(found, "fast"), language, "kernel")
    space: dict[str, Any] = {"_kernel": lambda k: k, "np": np}
    exec(
        "import math\nfrom numba import cuda\nfrom numba.cuda import libdevice\n"
        + steps.text, space,
    )  # fmt: skip
    real = getattr(types, dtype)
    kinds = {"f": real, "i": types.int64, "b": types.uint8}
    numbers = {"integer", "room", "end", "capacity", "parts"}
    for kernel in kernels(steps.steps):
        signature = tuple(
            real if a.role == "real" else types.int64 if a.role in numbers
            else types.Array(kinds[a.kind], 1, "C")
            for a in kernel.arguments
        )  # fmt: skip
        ptx, _ = cuda.compile_ptx(space[kernel.name], signature, cc=(9, 0))
        assert ".entry" in ptx
        assert dtype == "float64" or ".f64" not in ptx, kernel.name
