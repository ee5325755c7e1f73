"""Long loops reversed in bounded memory."""

from __future__ import annotations

import functools
from math import comb

import numpy as np
import pytest

from symdiff.frontend import capture
from symdiff.interpret import loops as interpreter
from symdiff.interpret.loops import run
from symdiff.ir import ZERO, const
from symdiff.ir.loop_program import Loop, LoopProgram, walk
from symdiff.ir.verify.loops import faults
from symdiff.loops.diff.checkpoint import STATES, STEPS, Plan
from symdiff.pipeline import loops as loop_pipeline
from tests.loops.corpus import PROGRAMS
from tests.loops.programs import VECTOR, along, close, outputs

FEW = Plan(ZERO, const(3), const(2))
MIXED = Plan(const(5), const(2), const(1))
NAMES = [n for n in PROGRAMS if n not in ("stencil", "expm1")]  # which grow too fast
RNG = np.random.default_rng(11)


def _long(name: str) -> tuple[LoopProgram, list, list[int], list[str]]:
    """A program of the corpus with vectors of 25 elements."""
    program, args, wrt = PROGRAMS[name]
    if not any(p.type.kind == "i" or len(p.type.shape) == 2 for p in program.params):
        args = [
            RNG.uniform(0.1, 0.9, 25) if p.type == VECTOR else a
            for p, a in zip(program.params, args, strict=True)
        ]
    return program, args, wrt, [program.params[k].name for k in wrt]


@functools.cache
def _gradient(name: str) -> tuple[LoopProgram, list, list[str], list]:
    """A program, its arguments, and its gradient with all values kept."""
    program, args, _, names = _long(name)
    return program, args, names, outputs(loop_pipeline.gradient(program, names), args)


LONG = [pytest.param(c, marks=pytest.mark.slow) for c in (FEW, 400, "auto")]


@pytest.mark.sampled
@pytest.mark.parametrize("checkpoint", [MIXED, "revolve", *LONG], ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_gradient(name: str, checkpoint) -> None:
    program, args, names, plain = _gradient(name)
    bounded = loop_pipeline.gradient(program, names, checkpoint)
    assert faults(bounded) == []
    assert all(map(close, outputs(bounded, args), plain))


@pytest.mark.sampled
@pytest.mark.parametrize("name", ["sine", "newton", "network", "backwards", "swap", "leapfrog"])
def test_second_derivatives(name: str) -> None:
    program, args, wrt, names = _long(name)
    v = [RNG.uniform(-1, 1, np.shape(args[k])) for k in wrt]
    truth = along(loop_pipeline.gradient(program, names), args, dict(zip(wrt, v, strict=True)))
    product = loop_pipeline.hvp(program, names, FEW)
    assert faults(product) == []
    assert all(map(close, outputs(product, [*args, *v]), truth))


class _Counter:
    """Counts iterations of the copies of a loop, and the values on tapes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, index: str) -> None:
        self.steps = self.most = 0
        block = interpreter._Run.block
        loop = interpreter._Run.loop

        def counted_loop(state, s: Loop) -> None:
            loop(state, s)
            if s.index.split("_")[0] == index and not s.restores:
                self.steps += state.scope[s.trips]

        def counted_block(state, b) -> None:
            block(state, b)
            self.most = max(self.most, *map(len, state.tapes.values()), 0)

        monkeypatch.setattr(interpreter._Run, "loop", counted_loop)
        monkeypatch.setattr(interpreter._Run, "block", counted_block)


@pytest.mark.parametrize(("n", "states", "repeated"), [(10, 3, 2), (35, 4, 3), (84, 3, 6)])
def test_the_schedule_is_binomial(n: int, states: int, repeated: int, monkeypatch) -> None:
    """With s states C(s + r, s) steps are reversed, and none is made more than r times."""
    assert comb(states + repeated, states) == n
    program, _, _ = PROGRAMS["sine"]
    plan = Plan(ZERO, const(states), const(1))
    bounded = loop_pipeline.gradient(program, ["d"], plan)
    counter = _Counter(monkeypatch, "i")
    run(bounded, [RNG.uniform(0, 1, n)])
    forward = n + n  # the function itself, and the saved steps
    assert counter.steps <= forward + repeated * n - comb(states + repeated, repeated - 1)
    assert counter.most <= 2


@pytest.mark.slow
def test_kept_values_are_bounded(monkeypatch) -> None:
    program, _, _ = PROGRAMS["sine"]
    bounded = loop_pipeline.gradient(program, ["d"], "revolve")
    counter = _Counter(monkeypatch, "i")
    run(bounded, [RNG.uniform(0, 1, 3000)])
    assert 0 < counter.most <= STEPS
    assert STATES + STEPS <= 64


def test_a_linear_recurrence_needs_no_states() -> None:
    program, _, _ = PROGRAMS["ewma"]
    assert loop_pipeline.gradient(program, ["d"], "revolve") == loop_pipeline.gradient(
        program, ["d"]
    )


def test_within_the_budget_nothing_is_made_again(monkeypatch) -> None:
    program, _, _ = PROGRAMS["sine"]
    bounded = loop_pipeline.gradient(program, ["d"], "auto")
    counter = _Counter(monkeypatch, "i")
    run(bounded, [RNG.uniform(0, 1, 300)])
    assert counter.steps == 300


@pytest.mark.slow
def test_sizes_that_depend_on_the_step() -> None:
    def factors(A):
        A = A.copy()
        for k in range(len(A)):
            for i in range(k + 1, len(A)):
                A[i, k] /= A[k, k]
                A[i, k + 1 :] -= A[i, k] * A[k, k + 1 :]
        return np.sum(np.log(np.diag(A)))

    program = capture(factors, {}, {"A": (2, "f")})
    a = RNG.uniform(-1, 1, (6, 6)) + 4 * np.eye(6)
    (plain,) = outputs(loop_pipeline.gradient(program, ["A"]), [a])
    assert np.allclose(plain.astype(float), np.linalg.inv(a).T)
    for checkpoint in (MIXED, FEW, 2000):
        bounded = loop_pipeline.gradient(program, ["A"], checkpoint)
        assert faults(bounded) == []
        assert close(outputs(bounded, [a])[0], plain)


def test_a_program_does_not_grow_with_the_length() -> None:
    program, _, _ = PROGRAMS["sine"]
    bounded = loop_pipeline.gradient(program, ["d"], "revolve")
    assert sum(1 for _ in walk(bounded.block)) < 40
