"""Every derivative of every program, against differences in 400 bits."""

from __future__ import annotations

import numpy as np
import pytest

from symdiff.errors import SymdiffError
from symdiff.ir import const, var
from symdiff.ir.loop_program import LoopProgram, Type, array, index
from symdiff.ir.verify.loops import faults
from symdiff.pipeline import loops as loop_pipeline
from tests.loops.corpus import PROGRAMS
from tests.loops.programs import (
    VECTOR,
    N,
    along,
    at,
    build,
    check_blocks,
    close,
    function,
    loop,
    outputs,
    true_jacobian,
)

CASES = pytest.mark.parametrize("name", PROGRAMS)


def _case(name: str) -> tuple[LoopProgram, list, list[int], list[str]]:
    program, args, wrt = PROGRAMS[name]
    assert faults(program) == []
    return program, args, wrt, [program.params[k].name for k in wrt]


def _directions(args: list, wrt: list[int]) -> list[np.ndarray]:
    rng = np.random.default_rng(7)
    return [rng.uniform(-1, 1, np.shape(args[k])) for k in wrt]


@pytest.mark.sampled(3)
@CASES
def test_value(name: str) -> None:
    program, args, _, _ = _case(name)
    simplified = loop_pipeline.value(program)
    assert faults(simplified) == []
    assert close(outputs(simplified, args)[0], outputs(program, args)[0])


@pytest.mark.sampled
@CASES
def test_gradient(name: str) -> None:
    program, args, wrt, names = _case(name)
    slopes = loop_pipeline.gradient(program, names)
    both = loop_pipeline.value_and_gradient(program, names)
    assert faults(slopes) == faults(both) == []
    found, joint = outputs(slopes, args), outputs(both, args)
    assert close(joint[0], outputs(program, args)[0])
    for k, g, h in zip(wrt, found, joint[1:], strict=True):
        (truth,) = true_jacobian(program, args, k)
        assert close(g, truth)
        assert close(h, truth)


@pytest.mark.sampled
@CASES
def test_jvp_and_vjp(name: str) -> None:
    program, args, wrt, names = _case(name)
    tangents = _directions(args, wrt)
    forward, back = loop_pipeline.jvp(program, names), loop_pipeline.vjp(program, names)
    assert faults(forward) == faults(back) == []
    truth = along(program, args, dict(zip(wrt, tangents, strict=True)))[0]
    assert close(outputs(forward, [*args, *tangents])[1], truth)
    bars = outputs(back, [*args, 0.625])[1:]
    assert close(sum(np.sum(b * t) for b, t in zip(bars, tangents, strict=True)), 0.625 * truth)


@pytest.mark.sampled
@CASES
def test_second_derivatives(name: str) -> None:
    program, args, wrt, names = _case(name)
    slopes = loop_pipeline.gradient(program, names)
    hessian, product = loop_pipeline.hessian(program, names), loop_pipeline.hvp(program, names)
    again = loop_pipeline.vjp(slopes, names)  # reverse over reverse
    assert faults(hessian) == faults(product) == faults(again) == []
    check_blocks(outputs(hessian, args), slopes, args, wrt)
    v = _directions(args, wrt)
    truth = along(slopes, args, dict(zip(wrt, v, strict=True)))
    assert all(map(close, outputs(product, [*args, *v]), truth))
    assert all(map(close, outputs(again, [*args, *v])[len(wrt) :], truth))


@pytest.mark.sampled
@pytest.mark.parametrize("name", ["network", "stencil", "rosenbrock", "leapfrog", "dot"])
def test_jacobian_of_several_arrays(name: str) -> None:
    program, args, wrt, names = _case(name)
    slopes = loop_pipeline.gradient(program, names)
    jacobian = loop_pipeline.jacobian(slopes, names)
    assert faults(jacobian) == []
    check_blocks(outputs(jacobian, args), slopes, args, wrt)


def test_jacobian_in_reverse() -> None:
    sums = [loop(f"i{k}", N, {f"s{k}": (1, var(f"s{k}") * at("x", index(f"i{k}")) + k)})
            for k in range(2)]  # fmt: skip
    values = var("s0_end") * (1 + index("k")) + var("s1_end")
    y = build("y", "k", values, Type((const(2),)))
    program = function({"x": VECTOR}, [*sums, y], array("y"))
    args = [[0.3, 0.8, -0.5]]
    found = outputs(loop_pipeline.jacobian(program, ["x"]), args)[0]
    assert close(found, true_jacobian(program, args, 0)[0])


def test_derivative_by_numbers() -> None:
    program, args, _, _ = _case("runge_kutta")
    mixed = loop_pipeline.derivative(program, ("a", "y0", "y0"))
    lower = loop_pipeline.derivative(program, ("a", "y0"))
    assert close(outputs(mixed, args)[0], along(lower, args, {1: np.array(1.0)})[0])


def test_what_is_no_derivative_is_refused() -> None:
    with pytest.raises(SymdiffError, match="diff is by numbers, but 'x' of f is an array"):
        loop_pipeline.derivative(PROGRAMS["dot"][0], ("x",))
    with pytest.raises(SymdiffError, match="grad needs a function of one real value"):
        loop_pipeline.gradient(function({"x": VECTOR}, [], array("x")), ("x",))


def test_branches_do_not_leak() -> None:
    program, _, _ = PROGRAMS["masked"]
    assert outputs(loop_pipeline.gradient(program, ("x",)), [1.0])[0] == 0.5


def test_removable_singularities_in_loops() -> None:
    program, args = PROGRAMS["expm1"][0], [[0.0, 0.0, 0.0]]
    assert close(outputs(loop_pipeline.value(program), args)[0], 1 + (1 + 0.5) ** 2 / 2)
    slopes = outputs(loop_pipeline.gradient(program, ("d",)), args)[0]
    assert close(slopes, [0.75, 0.75, 0.5])
