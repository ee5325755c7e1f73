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
from tests.loops.programs import VECTOR, N, along, at, basis, build, close, function, loop, outputs

CASES = pytest.mark.parametrize("name", PROGRAMS)


def _case(name: str) -> tuple[LoopProgram, list, list[int], list[str]]:
    program, args, wrt = PROGRAMS[name]
    assert faults(program) == []
    return program, args, wrt, [program.params[k].name for k in wrt]


def _directions(args: list, wrt: list[int]) -> list[np.ndarray]:
    rng = np.random.default_rng(7)
    return [rng.uniform(-1, 1, np.shape(args[k])) for k in wrt]


def _columns(program: LoopProgram, args: list, k: int) -> list[np.ndarray]:
    """The derivative of every output by a parameter; its axes come last."""
    entries = [along(program, args, {k: e}) for e in basis(args[k])]
    shape = np.shape(args[k])
    return [
        np.moveaxis(np.array(column), 0, -1).reshape((*column[0].shape, *shape))
        for column in zip(*entries, strict=True)
    ]


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
        truth = _columns(program, args, k)[0]
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
    entries = outputs(hessian, args)
    for j, k in enumerate(wrt):
        for i, column in enumerate(_columns(slopes, args, k)):
            assert close(entries[i * len(wrt) + j], column)
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
    found = outputs(jacobian, args)
    for j, k in enumerate(wrt):
        for i, column in enumerate(_columns(slopes, args, k)):
            assert close(found[i * len(wrt) + j], column)


def test_jacobian_in_reverse() -> None:
    sums = [loop(f"i{k}", N, {f"s{k}": (1, var(f"s{k}") * at("x", index(f"i{k}")) + k)})
            for k in range(2)]  # fmt: skip
    values = var("s0_end") * (1 + index("k")) + var("s1_end")
    y = build("y", "k", values, Type((const(2),)))
    program = function({"x": VECTOR}, [*sums, y], array("y"))
    args = [[0.3, 0.8, -0.5]]
    found = outputs(loop_pipeline.jacobian(program, ["x"]), args)[0]
    assert close(found, _columns(program, args, 0)[0])


def test_derivative_by_numbers() -> None:
    program, args, _, _ = _case("runge_kutta")
    mixed = loop_pipeline.derivative(program, ("a", "y0", "y0"))
    lower = loop_pipeline.derivative(program, ("a", "y0"))
    assert close(outputs(mixed, args)[0], along(lower, args, {1: np.array(1.0)})[0])


def test_derivative_by_an_array_is_refused() -> None:
    program, _, _ = PROGRAMS["dot"]
    with pytest.raises(SymdiffError, match="diff is by numbers, but 'x' of f is an array"):
        loop_pipeline.derivative(program, ("x",))


def test_gradient_of_an_array_is_refused() -> None:
    program = function({"x": VECTOR}, [], array("x"))
    with pytest.raises(SymdiffError, match="grad needs a function of one real value"):
        loop_pipeline.gradient(program, ("x",))


def test_branches_do_not_leak() -> None:
    program, _, _ = PROGRAMS["masked"]
    assert outputs(loop_pipeline.gradient(program, ("x",)), [1.0])[0] == 0.5


def test_removable_singularities_in_loops() -> None:
    program, _, _ = PROGRAMS["expm1"]
    slopes = outputs(loop_pipeline.gradient(program, ("d",)), [[0.0, 0.0, 0.0]])[0]
    assert close(
        outputs(loop_pipeline.value(program), [[0.0, 0.0, 0.0]])[0], 1 + (1 + 0.5) ** 2 / 2
    )
    assert close(slopes, [0.75, 0.75, 0.5])
