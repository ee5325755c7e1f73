"""Routines of libraries: values against NumPy, derivatives against differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from symdiff.interpret.loops import Doubles, run
from symdiff.ir import ONE, ZERO, Expr, const, var
from symdiff.ir.linalg.routines import ROUTINES
from symdiff.ir.loop_program import Call, LoopProgram, Type, array, index, load
from symdiff.ir.verify.loops import faults
from symdiff.pipeline import loops as loop_pipeline
from tests.loops.programs import (
    REAL,
    VECTOR,
    N,
    along,
    as_floats,
    at,
    check_blocks,
    close,
    function,
    loop,
    outputs,
)

SQUARE = Type((N, N))
SHORTER, LONGER = Type((const(2), N)), Type((N, const(5)))
RNG = np.random.default_rng(5)
A = RNG.uniform(-1, 1, (3, 3)) + 2 * np.eye(3)
B = RNG.uniform(-1, 1, (3, 3))
SYMMETRIC = A @ A.T


def weight(*place: Expr) -> Expr:
    """Some smooth weight of an element."""
    total = sum((k + 2) * (i + 1) for k, i in enumerate(place))
    return 1 / (total + 3) + total / 10


def summed(block: Sequence, name: str, t: Type, f: Callable[..., Expr]) -> list:
    """Statements, and the weighted sum `s_end` of f of the elements of an array."""
    i, j = index("i"), index("j")
    if len(t.shape) == 1:
        value = weight(i) * f(at(name, i))
        return [*block, loop("i", t.shape[0], {"s": (0, var("s") + value)})]
    inner = loop("j", t.shape[1], {"r": (var("s"), var("r") + weight(i, j) * f(at(name, i, j)))})
    return [*block, loop("i", t.shape[0], {"s": (0, var("r_end"))}, [inner])]


def call(routine: str, args: dict[str, Type], results: dict[str, Type], used: str) -> LoopProgram:
    """A function that sums the squares of a result."""
    leaves = tuple(array(n) for n in args)
    block = [Call(routine, tuple(results.items()), leaves)]
    t = results[used]
    if not t.shape:
        return function(args, block, var(used) ** 2)
    return function(args, summed(block, used, t, lambda x: x * x), var("s_end"))


def transform(
    routine: str, args: list, results: dict[str, Type], used: str, *numbers: Expr
) -> LoopProgram:
    """The same of square matrices and further numbers."""
    given = dict.fromkeys("ab"[: len(args)], SQUARE)
    block = [Call(routine, tuple(results.items()), (*map(array, given), *numbers))]
    return function(given, summed(block, used, results[used], lambda x: x * x), var("s_end"))


CASES: dict[str, tuple[LoopProgram, list]] = {
    "matmul": (call("matmul", {"a": SQUARE, "b": SQUARE}, {"c": SQUARE}, "c"), [A, B]),
    "matmul_vector": (call("matmul", {"a": SQUARE, "b": VECTOR}, {"c": VECTOR}, "c"), [A, B[0]]),
    "vector_matmul": (call("matmul", {"b": VECTOR, "a": SQUARE}, {"c": VECTOR}, "c"), [B[0], A]),
    "solve": (call("solve", {"a": SQUARE, "b": SQUARE}, {"x": SQUARE}, "x"), [A, B]),
    "solve_vector": (call("solve", {"a": SQUARE, "b": VECTOR}, {"x": VECTOR}, "x"), [A, B[0]]),
    "inv": (call("inv", {"a": SQUARE}, {"x": SQUARE}, "x"), [A]),
    "det": (call("det", {"a": SQUARE}, {"d": REAL}, "d"), [A]),
    "cofactors": (call("cofactors", {"a": SQUARE}, {"c": SQUARE}, "c"), [A]),
    "cofactor_slopes": (
        call("cofactor_slopes", {"a": SQUARE, "b": SQUARE}, {"c": SQUARE}, "c"), [A, A.T + 1.0],
    ),
    "slogdet": (call("slogdet", {"a": SQUARE}, {"d": REAL, "l": REAL}, "l"), [A]),
    "cholesky": (call("cholesky", {"a": SQUARE}, {"l": SQUARE}, "l"), [SYMMETRIC]),
    "eigenvalues": (
        call("eigh", {"a": SQUARE}, {"w": VECTOR, "v": SQUARE}, "w"), [SYMMETRIC],
    ),
    "eigenvectors": (
        call("eigh", {"a": SQUARE}, {"w": VECTOR, "v": SQUARE}, "v"), [SYMMETRIC],
    ),
    "dft": (transform("dft", [A, B], {"c": SQUARE, "d": SQUARE}, "d", ONE), [A, B]),
    "rdft": (transform("rdft", [A], {"c": SHORTER, "d": SHORTER}, "c", ZERO), [A]),
    "rdft_transposed": (
        transform("rdft_transposed", [A, B], {"c": LONGER}, "c", const(5), ONE), [A, B],
    ),
    "sort": (call("sort", {"a": VECTOR}, {"b": VECTOR}, "b"), [[0.3, -0.2, 0.9, 0.1]]),
}  # fmt: skip
EACH = pytest.mark.parametrize("name", CASES)


@EACH
def test_value(name: str) -> None:
    program, args = CASES[name]
    assert faults(program) == []
    plain = [as_floats(x) for x in run(program, args, Doubles())]
    assert close(plain[0], outputs(program, args)[0], 1e-9)


@pytest.mark.sampled
@EACH
def test_derivatives(name: str) -> None:
    program, args = CASES[name]
    names, wrt = [p.name for p in program.params], range(len(args))
    slopes = loop_pipeline.gradient(program, names)
    assert faults(slopes) == []
    check_blocks(outputs(slopes, args), program, args, wrt)
    v = [RNG.uniform(-1, 1, np.shape(a)) for a in args]
    direction = dict(zip(wrt, v, strict=True))
    tangent = outputs(loop_pipeline.jvp(program, names), [*args, *v])[1]
    assert close(tangent, along(program, args, direction)[0])
    truth = along(slopes, args, direction)
    assert all(map(close, outputs(loop_pipeline.hvp(program, names), [*args, *v]), truth))
    again = outputs(loop_pipeline.vjp(slopes, names), [*args, *v])[len(args) :]
    assert all(map(close, again, truth))


def test_equal_eigenvalues() -> None:
    total = function(
        {"a": SQUARE},
        summed([Call("eigh", (("w", VECTOR), ("v", SQUARE)), (array("a"),))], "w", VECTOR,
               lambda x: x / weight(index("i"))),
        var("s_end"),
    )  # fmt: skip
    found = outputs(loop_pipeline.gradient(total, ["a"]), [np.eye(3)])[0]
    assert close(found, np.eye(3))  # the trace


def test_a_singular_determinant() -> None:
    program, _ = CASES["det"]
    rank_two = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
    d = function({"a": SQUARE}, program.block, var("d"))
    found = outputs(loop_pipeline.gradient(d, ["a"]), [rank_two])[0]
    assert close(found, [[-3, 6, -3], [6, -12, 6], [-3, 6, -3]])


def test_argsort_is_not_differentiated() -> None:
    order = Call("argsort", (("p", Type((N,), "i")),), (array("a"),))
    largest = load(array("a"), load(array("p", "i"), N - 1))
    program = function({"a": VECTOR}, [order], largest**2)
    found = outputs(loop_pipeline.gradient(program, ["a"]), [[0.3, 0.9, -0.2]])[0]
    assert close(found, [0.0, 1.8, 0.0])


def test_routines_in_loops() -> None:
    step = Call("solve", (("y", VECTOR),), (array("a"), array("x")))
    power = loop("t", 3, {"x": (array("b"), array("y"), VECTOR)}, [step])
    program = function(
        {"a": SQUARE, "b": VECTOR}, summed([power], "x_end", VECTOR, lambda x: x * x), var("s_end")
    )
    args = [A, B[0]]
    slopes = loop_pipeline.gradient(program, ["a", "b"])
    assert faults(slopes) == []
    check_blocks(outputs(slopes, args), program, args, range(2))


def test_every_routine_is_tested() -> None:
    used = {s.routine for program, _ in CASES.values() for s in program.block
            if isinstance(s, Call)}  # fmt: skip
    tested = {"argsort", "argsort_rows", "difference", "pinv", "svd"}  # here, and in the corpus
    assert set(ROUTINES) - used == tested
