"""Generated modules with kernels for CUDA, and `.source("cuda")`: what the text says, and
what it computes under Numba's simulator."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.codegen.source.cuda import cuda_source
from tests.codegen.source.test_module import FUNCTIONS, KERNELS, load
from tests.corpus import CASES
from tests.kernels import make_kernel

ROOT = Path(__file__).parents[2]

pytest.importorskip("numba.cuda", reason="Numba has no CUDA target")


def source(dtype="float64"):
    from symdiff.codegen.source.modules.scalar import module_source

    return module_source("energy", ["x", "y"], KERNELS, FUNCTIONS, facts={}, version="1.2.3", dtype=dtype,
                         targets=["cpu", "cuda"])  # fmt: skip


def simulated(script: str, folder: Path, *args: str) -> str:
    """What a script prints under the simulator."""
    path = folder / "simulated.py"
    path.write_text(script, encoding="utf-8")
    result = subprocess.run(
        [sys.executable, str(path), *args],
        cwd=folder,
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": f"{ROOT}"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_golden(golden):
    golden("energy_cuda_float64.py", source())
    single = source("float32")
    assert "libdevice.sinf(y" in single and "np.float32(2.0)" in single


def test_a_module_works_on_the_cpu_without_a_device(tmp_path):
    module = load(source(), tmp_path)
    assert module.energy(2.0, 0.0) == 2.0
    assert [n for n in module.__all__ if n.endswith("_cuda")] == [
        "energy_cuda", "energy_grad_cuda", "energy_value_and_grad_cuda",
    ]  # fmt: skip
    if not module.cuda.is_available():
        with pytest.raises(RuntimeError, match="there is no CUDA device that Numba can use: "):
            module.energy_cuda(2.0, 0.0)


@pytest.mark.slow
def test_a_module_works_on_the_cpu_without_numba_cuda(tmp_path):
    (tmp_path / "energy_kernels.py").write_text(source(), encoding="utf-8")
    script = (
        "import sys\n"
        "class Refuse:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'numba.cuda': raise ImportError('no CUDA here')\n"
        "import numba; sys.modules.pop('numba.cuda', None); vars(numba).pop('cuda', None)\n"
        "sys.meta_path.insert(0, Refuse())\n"
        "import energy_kernels as e\n"
        "print(e.energy_grad(2.0, 0.0))\n"
        "try: e.energy_grad_cuda(2.0, 0.0)\n"
        "except RuntimeError as error: print(error)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    first, second = result.stdout.splitlines()
    assert first == "(0.0, 2.0)"
    assert second == "there is no CUDA device that Numba can use: no CUDA here"


def test_the_same_from_save_and_the_command_line(tmp_path):
    def square(x):
        return x * x

    f = symgrad(square, target="auto")
    f.save(tmp_path / "square.py")
    assert "_cuda" in (tmp_path / "square.py").read_text()
    symgrad(square).save(tmp_path / "square.py")
    assert "_cuda" not in (tmp_path / "square.py").read_text()


CALLS = """
import numpy as np
from numba import cuda
import energy_kernels as e

x, y = np.linspace(-1, 1, 5), np.linspace(0, 2, 3)[:, None]
for got, expected in zip(e.energy_value_and_grad_cuda(x, y)[1], e.energy_grad(x, y)):
    np.testing.assert_allclose(got, expected, rtol=1e-15)
value, (dx, dy) = e.energy_value_and_grad_cuda(2.0, 0.5)
assert type(value) is float
assert (value, (dx, dy)) == e.energy_value_and_grad(2.0, 0.5)
got = e.energy_cuda(cuda.to_device(x), 0.5)
assert not isinstance(got, np.ndarray)
np.testing.assert_allclose(got.copy_to_host(), e.energy(x, 0.5), rtol=1e-15)
assert e.energy_cuda(x.astype(np.float32), 0.5).dtype == np.float32
assert e.energy_cuda(x.astype(np.float16), 0.5).dtype == np.float16
assert e.energy_cuda(np.arange(4), 0.5).dtype == np.float64
assert type(e.energy_cuda(np.float32(1), 0.5)) is np.float32
assert e.energy_cuda(np.empty((0, 3)), 0.5).shape == (0, 3)
for wrong, kind in ((np.array([1j]), TypeError), (np.zeros(4), ValueError)):
    try:
        e.energy_cuda(wrong, np.zeros(3))
    except kind:
        continue
    raise AssertionError(wrong)
try:
    e.energy_cuda(cuda.to_device(x), np.zeros((3, 1)))
except ValueError as error:
    assert str(error) == "arrays on a device must be contiguous and of one shape"
print("done")
"""


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_calls_in_the_simulator(tmp_path, dtype):
    (tmp_path / "energy_kernels.py").write_text(source(), encoding="utf-8")
    assert simulated(CALLS, tmp_path) == "done\n"


SWEEP = """
import json, sys
import numpy as np

results = []
for text, name, columns, count in json.load(open(sys.argv[1])):
    namespace = {}
    exec(text, namespace)
    arrays = [np.array(c, sys.argv[2]) for c in columns]
    out = [np.empty(len(arrays[0]), sys.argv[2]) for _ in range(count)]
    namespace[name][1, 4](*arrays, *out)
    results.append([o.tolist() for o in out])
json.dump(results, sys.stdout)
"""


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_corpus_in_the_simulator(tmp_path, dtype):
    """Against the CPU's kernels without run-time tests, which the text has not either."""
    jobs, truths = [], []
    for case in CASES:
        f = symgrad(case.fun, static=list(case.static), dtype=dtype)
        for g in (f, f.jacobian):
            optimized = g._source.optimized(case.static)
            text = cuda_source("kernel", optimized.params, optimized.outputs, dtype=dtype)
            columns = list(zip(*case.samples, strict=True))
            jobs.append((text, "kernel", columns, len(optimized.outputs)))
            kernel = make_kernel(optimized.outputs, optimized.params, dtype=dtype, cache=True)
            arrays = [np.array(c, dtype) for c in columns]
            truths.append([np.broadcast_to(v, len(arrays[0])) for v in kernel(arrays)])
    (tmp_path / "jobs.json").write_text(json.dumps(jobs))
    found = json.loads(simulated(SWEEP, tmp_path, str(tmp_path / "jobs.json"), dtype))
    assert len(found) == len(jobs) == 2 * len(CASES)
    loose = 1e-13 if dtype == "float64" else 2e-4
    for job, got, truth in zip(jobs, found, truths, strict=True):
        np.testing.assert_allclose(got, truth, rtol=loose, atol=loose, err_msg=job[0])


FLAGGED = """
import math, warnings
import mpmath
import numpy as np
from numba import cuda
from symdiff import symgrad

warnings.simplefilter("ignore")

def root(a, b, c):
    return (-b + math.sqrt(b * b - 4 * a * c)) / (2 * a)

def load(f):
    f.save(f"{f.__name__}_flagged.py", companion=None)
    return __import__(f"{f.__name__}_flagged")

m = load(symgrad(root, target="auto"))
a, b, c = np.array([1.0, 1.0]), np.array([1e9, 3.0]), np.array([1.0, 2.0])
exact = np.array([-1e-9, -1.0])
np.testing.assert_allclose(m.root_cuda(a, b, c), exact, rtol=2e-16, atol=0)
on_device = m.root_cuda(*map(cuda.to_device, (a, b, c)))
np.testing.assert_allclose(on_device.copy_to_host(), exact, rtol=2e-16, atol=0)
np.testing.assert_allclose(m.root_cuda(1.0, b, c), exact, rtol=2e-16, atol=0)
assert m.root_cuda(1.0, 1e9, 1.0) == -1e-9
with mpmath.workdps(60):
    t = mpmath.sqrt(10**6 - 4)
    truths = [(1000 - t) / 2 - 1 / t, (1000 / t - 1) / 2, -1 / t]
for got, truth in zip(m.root_grad_cuda(1.0, 1e3, 1.0), truths):
    assert abs(got - truth) <= 4e-16 * abs(truth)

def quotient(x):
    return (1 - math.cos(x)) / x**2

m = load(symgrad(quotient, target="auto"))
assert m.quotient_cuda(np.array([0.0, 1e-9])).tolist() == [0.5, 0.5]
assert abs(m.quotient_grad_cuda(1e-9) + 1e-9 / 12) < 1e-25
text = open("root_flagged.py").read()
assert "What they flag is computed again on the host." in text and "_fused" in text
"""


@pytest.mark.slow
def test_flagged_elements_are_computed_again(tmp_path):
    simulated(FLAGGED, tmp_path)


@pytest.mark.slow
def test_kernels_with_tests_compile(tmp_path):
    """To PTX, for which no device is needed."""
    cuda = pytest.importorskip("numba.cuda")
    if not hasattr(cuda, "compile_ptx"):
        pytest.skip("Numba's own CUDA target needs a device")
    from numba import float64, int64, types

    def root(a, b, c):
        return (-b + (b * b - 4 * a * c) ** 0.5) / (2 * a)

    symgrad(root, target="auto").save(tmp_path / "root.py", companion=None)
    module = load((tmp_path / "root.py").read_text(), tmp_path)
    kernel = types.void(*[float64[::1], int64] * 3, float64[::1], float64[::1])
    try:
        ptx, _ = cuda.compile_ptx(module._root_cuda.py_func, kernel, cc=(8, 0), abi="numba")
    except (ImportError, OSError) as error:
        pytest.skip(f"no compiler: {error}")
    assert "fma.rn.f64" in ptx
