"""The corpus of functions with arrays and loops as CUDA kernels, run on the CPU; see
`tests.cuda.host`. The truth is the interpreter of programs, in 120 bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symdiff.frontend.capture import ELEMENTWISE
from symdiff.interpret.loops import Precise, run
from symdiff.ir import topological
from symdiff.ir.loop_program import (
    LOAD,
    REAL,
    Block,
    Build,
    Call,
    Loop,
    LoopProgram,
    Update,
    expressions,
    name_of,
    walk,
)
from symdiff.lowering.loops.collected import reduction
from symdiff.pipeline import loops as loop_pipeline
from symdiff.pipeline.lowered.loops import LoweredProgram
from symdiff.runtime.cuda.call import located
from symdiff.runtime.cuda.loops.call import ArraysOnDevice
from symdiff.runtime.cuda.loops.kernel import CudaProgram
from tests.array_corpus import PROGRAMS, WITH_GRADIENT, Case, passed
from tests.cuda.host import HostArray
from tests.traced_corpus import gradient, has_gradient, traced, value

LOOSE = {"float64": (1e-9, 1e-11), "float32": (2e-3, 2e-3)}
"""Relative and absolute errors of elements."""
SUMMED, AMPLIFIED = 1e-11, 1e-6
"""Errors of long arrays by their largest element: of sums in another order; and of what may amplify
these, as recurrences and linear systems."""


def check(
    program: LoopProgram, case: Case, dtype: str, tiers: LoweredProgram | None = None
) -> None:
    call = ArraysOnDevice(CudaProgram(program, tiers=tiers))
    for seed, sizes in enumerate(case.sizes()):
        whole = [_as(dtype, a) for a in case.arguments(sizes, seed)]
        for args in passed(program, whole):
            held = [np.copy(a) for a in args]
            want = run(program, args, Precise(120))
            given = [HostArray(a) if isinstance(a, np.ndarray) else a for a in args]
            got = _flat(call.run(located(given) if seed % 2 else args))
            assert len(got) == len(want)
            for a, b in zip(got, want, strict=True):
                close(a, b, dtype, sizes)
            for a, b in zip(args, held, strict=True):
                np.testing.assert_array_equal(a, b)


def _as(dtype: str, a: Any) -> Any:
    if not isinstance(a, np.ndarray) or a.dtype.kind != "f":
        return float(np.float32(a)) if isinstance(a, float) else a
    return a.astype(dtype)


def _flat(result: Any) -> list[Any]:
    if isinstance(result, dict):
        result = list(result.values())
    if isinstance(result, (tuple, list)):
        return [leaf for r in result for leaf in _flat(r)]
    return [result.array if isinstance(result, HostArray) else result]


def close(got: Any, want: Any, dtype: str, sizes: Any) -> None:
    want = floats(want)
    assert np.shape(got) == want.shape, sizes
    rtol, atol = LOOSE[dtype]
    np.testing.assert_allclose(got, want, rtol=rtol, atol=atol, err_msg=str(sizes))


def floats(values: Any) -> Any:
    return np.array([float(v) for v in np.asarray(values).ravel()]).reshape(np.shape(values))


def amplifies(program: LoopProgram) -> bool:
    """Whether there is linear algebra, or a loop that carries what its steps compute with."""
    loops = [s for s in walk(program.block) if isinstance(s, Loop)]
    numbers = [c for s in loops for c in s.carried if c.type == REAL]
    states = {c.name for s in loops for c in s.carried if c.type.shape}
    states |= {u.name for u in walk(program.block) if isinstance(u, Update)}
    roots = [e for s in walk(program.block) for e in expressions(s)]
    read = {name_of(n.args[0]) for n in topological(roots) if n.op is LOAD}
    called = any(isinstance(s, Call) and s.routine != "matmul" for s in walk(program.block))
    return called or any(reduction(c) is None for c in numbers) or bool(read & states)


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", ["float64", pytest.param("float32", marks=pytest.mark.slow)])
@pytest.mark.parametrize("case", PROGRAMS, ids=lambda c: c.name)
def test_value(fake_device: Any, case: Case, dtype: str) -> None:
    check(loop_pipeline.final(value(case)), case, dtype)


@pytest.mark.sampled(68)
@pytest.mark.parametrize("dtype", ["float64", pytest.param("float32", marks=pytest.mark.slow)])
@pytest.mark.parametrize("case", WITH_GRADIENT, ids=lambda c: c.name)
def test_gradient(fake_device: Any, case: Case, dtype: str) -> None:
    check(loop_pipeline.final(gradient(case)), case, dtype)


@pytest.mark.slow
@pytest.mark.parametrize("case", PROGRAMS, ids=lambda c: c.name)
def test_with_the_second_tier(fake_device: Any, case: Case) -> None:
    """Values and gradients with tests for flagged, of which few elements have any."""
    found = [value(case)]
    if has_gradient(case):
        found.append(gradient(case))
    for p in found:
        tiers = LoweredProgram(p, reads_flags=False)
        check(loop_pipeline.final(p), case, "float64", tiers)


MOST = 10_000
"""Elements that the interpreter is given; where there would be more, axes have 34."""
LONGEST = 50_000
"""Iterations of nested loops that it is given; likewise."""
LARGE = {1: (270,), 2: (9, 33), 3: (3, 33, 5)}
"""Sizes of the axes, by how many have names: more elements than a block has threads, rows as
long as a warp is wide."""
WITH_AXES = [c for c in PROGRAMS if len(next(iter(c.sizes()))) <= max(LARGE)]


def depth(block: Block) -> int:
    """How deep loops are nested, an axis of a build counting as one."""
    inner = (
        (1 if isinstance(s, Loop) else len(s.indices)) + depth(s.body)
        for s in block
        if isinstance(s, (Build, Loop))
    )
    return max(inner, default=0)


def _columns(program: LoopProgram, args: list[Any]) -> list[Any]:
    """The arguments; of an elementwise program all elements, one in each row."""
    if program.taken != ELEMENTWISE:
        return args
    return [np.ascontiguousarray(a).ravel() for a in np.broadcast_arrays(*args)]


@pytest.mark.slow
@pytest.mark.parametrize("case", WITH_AXES, ids=lambda c: c.name)
def test_more_than_a_block(fake_device: Any, case: Case) -> None:
    """Values and gradients, beside the interpreter with doubles."""
    program = traced(case)
    found = [value(case)]
    if has_gradient(case):
        found.append(gradient(case))
    if program.taken == ELEMENTWISE:
        found = [r for p in found if (r := loop_pipeline.rows(p, [True] * len(p.params)))]
        assert found
    programs = list(map(loop_pipeline.final, found))
    names = list(next(iter(case.sizes())))
    sizes = dict(zip(names, LARGE.get(len(names), ()), strict=True))
    args = _columns(program, case.arguments(sizes, 1))
    steps = max(sizes.values(), default=1) ** max(depth(p.block) for p in programs)
    if sum(np.size(a) for a in args) > MOST or steps > LONGEST:
        args = _columns(program, case.arguments(dict.fromkeys(sizes, 34), 1))
    for p in programs:
        got = _flat(ArraysOnDevice(CudaProgram(p)).run(args))
        tolerance = AMPLIFIED if amplifies(p) else SUMMED
        for a, b in zip(got, map(floats, run(p, args)), strict=True):
            assert np.shape(a) == b.shape
            largest = max(1.0, np.max(np.abs(b[np.isfinite(b)]), initial=0.0))
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * largest)
