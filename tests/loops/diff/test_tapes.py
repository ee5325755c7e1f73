"""What reversed loops keep: as little as the simplified adjoint needs."""

from __future__ import annotations

import numpy as np
import pytest

from symdiff import ir, symgrad
from symdiff.ir import loop_program as lp
from symdiff.ir import topological, var
from symdiff.ir.loop_program import Build, Loop, LoopProgram, Type, array, index, name_of, walk
from symdiff.pipeline import loops as loop_pipeline
from tests.law.alike import differences
from tests.loops.corpus import PROGRAMS, J, K
from tests.loops.programs import VECTOR, M, N, at, build, function, loop, outputs


def _gradient(name: str) -> LoopProgram:
    program, _, wrt = PROGRAMS[name]
    return loop_pipeline.gradient(program, [program.params[k].name for k in wrt])


def _loops(program: LoopProgram) -> list[Loop]:
    return [s for s in walk(program.block) if isinstance(s, Loop)]


def _saves(program: LoopProgram) -> list[tuple[int, str]]:
    return [(len(v.type.shape), v.type.kind) for s in _loops(program) for v in s.saves]


def test_the_forward_sweep_of_a_linear_recurrence_is_dropped() -> None:
    (only,) = _loops(_gradient("ewma"))
    assert only.reverse
    assert not any(name_of(e) == "d" for e in _loaded(_gradient("ewma")))


def _loaded(program: LoopProgram) -> list:
    roots = [e for s in walk(program.block) for e in lp.expressions(s)]
    return [e.args[0] for e in topological(roots) if e.op is lp.LOAD]


@pytest.mark.parametrize(
    ("name", "saved"),
    [
        ("ewma", []), ("ewma_rows", []), ("ewma_columns", []), ("linear_stencil", []),  # linear
        ("blending", [(0, "f")]), ("blending_rows", [(0, "f")]), ("sine", [(0, "f")]),
        ("inner_while", [(0, "f"), (0, "i")]),  # the trips besides
        ("network", [(1, "f")]),
    ],
)  # fmt: skip
def test_what_is_saved_in_each_step(name: str, saved: list[tuple[int, str]]) -> None:
    assert sorted(_saves(_gradient(name))) == saved


def test_a_column_is_saved_whole() -> None:
    """Its distance from the fixed point: what only second derivatives would read is not emitted."""
    assert _saves(loop_pipeline.final(_gradient("blending_columns"))) == [(1, "f")]


def test_leapfrog_and_runge_kutta_save_their_state() -> None:
    assert len(_saves(_gradient("runge_kutta"))) == 1
    assert len(_saves(_gradient("leapfrog"))) <= 2


def test_the_gradient_of_a_dot_product_is_the_other_factor() -> None:
    program = _gradient("dot")
    x_bar, y_bar = program.outputs
    made = {s.name: s for s in program.block if isinstance(s, Build)}
    for bar, other in ((x_bar, "y"), (y_bar, "x")):
        s = made[name_of(bar)]
        assert s.value is lp.load(array(other), index(s.indices[0]))
    assert len(program.block) == 2


@pytest.mark.parametrize("name", ["rosenbrock", "dot", "heat"])
def test_elementwise_programs_have_no_scatter(name: str) -> None:
    assert not any(isinstance(s, lp.Update) for s in walk(_gradient(name).block))


def _jacobian(value, body=(), params=None) -> LoopProgram:
    params = params or {"x": VECTOR}
    program = function(params, [build("y", "k", value, VECTOR, body)], array("y"))
    return loop_pipeline.jacobian(program, ["x"])


def test_the_jacobian_of_an_elementwise_function_is_one_formula() -> None:
    program = _jacobian(ir.power(at("x", K), 3))
    (only,) = program.block
    assert isinstance(only, Build)
    i, j = map(index, only.indices)
    assert only.value is ir.where(ir.eq(i, j), 3 * at("x", i) ** 2, 0)


def test_the_jacobian_of_a_linear_map_is_its_matrix() -> None:
    total = loop("j", M, {"s": (0, var("s") + at("a", K, J) * at("x", J))})
    program = _jacobian(var("s_end"), [total], {"a": Type((N, M)), "x": Type((M,))})
    (only,) = program.block
    assert isinstance(only, Build)
    assert only.value is at("a", *map(index, only.indices))


def test_zeros_of_a_unit_direction_do_not_meet_infinities() -> None:
    program = function({"x": VECTOR}, [build("y", "k", ir.sqrt(at("x", K)))], array("y"))
    found = outputs(loop_pipeline.jacobian(program, ["x"]), [[0.0, 4.0]])[0]
    assert found[0, 1] == found[1, 0] == 0.0
    assert found[1, 1] == 0.25


@pytest.mark.slow
def test_products_with_arrays_that_loops_fill_have_no_tape_of_their_own() -> None:
    """What an array build reads of one that loops around fill element by element is read where it is
    built again; only the loop around keeps it."""

    def mixed(x, w):
        total = 0.0
        for k in range(w.shape[0]):
            factor = np.zeros((x.shape[1], x.shape[1]))
            for j in range(x.shape[1]):
                factor[j, j] = np.exp(w[k, j])
                factor[j, 0] = w[k, j]
            total += np.sum((x @ factor.T) ** 2)
        return total

    f = symgrad(mixed, accuracy="fast", verify=False)
    rng = np.random.default_rng(0)
    args = rng.normal(size=(4, 3)), rng.normal(size=(2, 3))
    for k, bar in enumerate(f.grad(*args)):
        np.testing.assert_allclose(bar, differences(mixed, args, k), rtol=1e-6, atol=1e-6)
    text = f.grad.source().splitlines()
    pushed = [len(line) - len(line.lstrip()) for line in text if "= _room(" in line]
    assert set(pushed) == {8}  # in the loop over k


def _decay(x, end):
    while x < end:
        x = x + 0.01 * np.sin(x) * np.exp(-x * x)
    return x


def _decay_of_one(x, end):
    while x[0] < end:
        x = x + 0.01 * np.sin(x) * np.exp(-x * x)
    return x[0]


def _slope_of_decay() -> float:
    return differences(_decay, (1.3, 1.5), step=1e-6).item()


def test_the_derivative_by_one_number_has_no_tape() -> None:
    f = symgrad(_decay, wrt="x")
    slope = _slope_of_decay()
    assert f.grad(1.3, 1.5) == pytest.approx(slope, rel=1e-8)
    assert f.value_and_grad(1.3, 1.5) == pytest.approx((_decay(1.3, 1.5), slope), rel=1e-8)
    assert "_tape" not in f.grad.source() + f.value_and_grad.source()


@pytest.mark.slow
def test_an_array_of_one_number_in_another_function_has_no_tape() -> None:
    f = symgrad(_decay_of_one, wrt="x")
    g = symgrad(lambda x, end: f.grad(np.array([x]), end)[0], wrt="x")
    assert g(1.3, 1.5) == pytest.approx(_slope_of_decay(), rel=1e-8)
    assert "_tape" not in g.source()
