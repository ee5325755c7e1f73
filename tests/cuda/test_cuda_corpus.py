"""The corpus of plain functions as CUDA kernels, run on the CPU; see `tests.cuda.host`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.interpret import Certified
from symdiff.runtime.cuda.call import OnDevice
from symdiff.runtime.cuda.kernel import CudaKernel
from tests.corpus import CASES


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_values_and_gradients(fake_device, case, dtype):
    f = symgrad(case.fun, static=list(case.static))
    parts = [g._cuda.compiled(case.static) for g in (f, f.jacobian)]
    programs, kernels = [e for e, _ in parts], [d.kernel for _, d in parts]
    outputs = [e for k in kernels for e in k.outputs]
    one = kernels[0]
    joined = CudaKernel(replace(one.function, outputs=tuple(outputs), reference=tuple(outputs)))
    call = OnDevice(joined, list(range(len(outputs))))
    columns = [np.array(c, dtype) for c in zip(*case.samples, strict=True)]
    got = np.array(call.run(columns))
    assert got.dtype == dtype
    exact = Certified(one.params, [r for e in programs for r in e.reference])
    for k, point in enumerate(zip(*columns, strict=True)):
        truth = np.array(exact.at([float(v) for v in point], "float64"))
        unit = np.spacing(np.abs(truth).astype(dtype)).astype(float)
        assert (np.abs(got[:, k] - truth) <= 8 * unit).all(), (point, got[:, k], truth)
