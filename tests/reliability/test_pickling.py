"""Programs and kernels with completed operations, in other processes and given up again."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from symdiff import ir, symgrad
from symdiff.interpret import Certified
from symdiff.ir import nodes
from symdiff.pipeline import scalar
from tests.collecting import collect

LOADED = """
import pickle, sys
from symdiff.interpret import Certified
programs, kernels = pickle.loads(sys.stdin.buffer.read())
for p in programs:
    print(*(v.hex() for v in Certified(p.params, p.outputs).at([0.25] * len(p.params))))
for k in kernels:
    print(k([0.0])[0].hex(), k([1e-5])[0].hex())
"""


def quotient(x: float) -> float:
    return (1 - math.cos(x)) / x**2 + math.sin(x) / x


def divided(x: float, y: float) -> float:
    return (math.exp(x) - math.exp(y)) / (x - y)


def nested(x: float) -> float:
    inner = math.sin(x) / x
    return (1 - inner) / x**2


@pytest.mark.slow
def test_completed_operations_are_made_again_in_another_process() -> None:
    functions = [symgrad(f, cache=False) for f in (quotient, divided, nested)]
    programs = [p for f in functions for p in (f.program, f.grad.program, f.hessian.program)]
    kernels = [g._compiled({})[1].kernel for g in (functions[0], functions[0].grad)]
    done = subprocess.run(
        [sys.executable, "-c", LOADED], input=pickle.dumps((programs, kernels)),
        capture_output=True, check=True,
    )  # fmt: skip
    expected = [
        *(" ".join(v.hex() for v in Certified(p.params, p.outputs).at([0.25] * len(p.params)))
          for p in programs),
        *(f"{k([0.0])[0].hex()} {k([1e-5])[0].hex()}" for k in kernels),
    ]  # fmt: skip
    assert done.stdout.decode().splitlines() == expected


def test_in_this_process_they_are_the_same_operations() -> None:
    program = symgrad(quotient, cache=False).grad.program
    assert pickle.loads(pickle.dumps(program)).outputs == program.outputs
    assert all(
        a is b
        for a, b in zip(pickle.loads(pickle.dumps(program)).outputs, program.outputs, strict=True)
    )


def made() -> set[str]:
    collect()
    return set(nodes._made)


@pytest.mark.slow
def test_operations_go_with_the_last_expression() -> None:
    before, table = made(), len(ir.OPS)

    def use(shift: float) -> Any:
        def f(x: float) -> float:
            return (math.cos(shift) - math.cos(x + shift)) / x

        g = symgrad(f, cache=False)
        found = g(0.0), g.grad(0.0), g.hessian(np.array([0.0, 1e-3]))[0], g.program
        assert made() - before
        return found[:3]

    for k in range(1, 4):
        value, slope, second = use(k / 4)
        assert abs(value - math.sin(k / 4)) < 1e-15
        assert abs(slope - math.cos(k / 4) / 2) < 1e-15
        assert abs(second + math.sin(k / 4) / 3) < 1e-15
    scalar.forget()  # keeps a few programs for their next derivative
    assert made() - before == set() and len(ir.OPS) == table
