"""Emitted programs with arrays and loops: places, tapes, order of evaluation, vectors."""

from __future__ import annotations

import re

import numpy as np
import pytest

from symdiff.codegen.llvm import jit
from symdiff.codegen.llvm.loops.kernel import print_kernel
from symdiff.codegen.llvm.printer import Lanes
from symdiff.interpret.loops import Precise, run
from symdiff.ir import HALF, ONE, OPS, TRUE, ZERO, Expr, and_, const, gt, le, lt, not_, var, where
from symdiff.ir import loop_program as lp
from symdiff.ir.loop_program import Carried, Loop, LoopProgram, Save, Type, array, index, load
from symdiff.runtime.loops.kernel import LoopKernel
from tests.loops.programs import (
    INTEGER,
    MATRIX,
    REAL,
    VECTOR,
    M,
    N,
    at,
    build,
    function,
    loop,
    update,
)

i, j = index("i"), index("j")
SIZES = (0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33, 70)


def vector(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=n)


def agree(program: LoopProgram, *args, rtol: float = 1e-11) -> list:
    """The kernel's results, which are those of the reference in 300 bits."""
    got = LoopKernel(program)(list(args))
    for a, b in zip(got, run(program, list(args), Precise(120)), strict=True):
        b = np.array([float(v) for v in np.ravel(b)]).reshape(np.shape(b))
        np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-13)
    return got


def everywhere(program: LoopProgram, sizes: tuple[int, ...] = SIZES) -> LoopProgram:
    """The program, once it agrees for vectors of all sizes."""
    for n in sizes:
        agree(program, vector(n))
    return program


def packs(program: LoopProgram, mnemonic: str) -> None:
    """Where the processor has such registers."""
    assert jit.host().bits < 256 or packed(program, mnemonic)


# ---------------------------------------------------------------------- places of arrays
def text_of(program: LoopProgram) -> str:
    text = print_kernel(program, "float64", Lanes())
    return text[text.index("define i32 @kernel") :]


def test_a_carried_array_is_changed_in_place() -> None:
    """Without a copy in the loop, and without one of what was made for it."""
    block = [
        build("a", "i", 2 * at("x", i)),
        loop(
            "i", N, {"b": (array("a"), array("c"), VECTOR)}, [update("c", "b", i, at("b", i) + 1)]
        ),
    ]
    program = everywhere(function({"x": VECTOR}, block, array("b_end")))
    assert text_of(program).count("memcpy") == 1  # the output, if it were elsewhere


def test_an_old_state_that_is_read_later_is_loaded_before_the_change() -> None:
    block = [
        build("a", "i", 2 * at("x", i)),
        update("b", "a", 0, const(7)),
        update("c", "b", 1, at("a", 0) + at("b", 0)),
    ]
    program = function({"x": VECTOR}, block, array("c"), at("a", 0))
    agree(program, vector(3))
    assert text_of(program).count("memcpy") == 1


def test_an_old_state_that_is_used_whole_is_kept() -> None:
    block = [
        build("a", "i", 2 * at("x", i)),
        update("b", "a", 0, const(7)),
        loop("i", N, {"s": (0, var("s") + at("a", i) * at("b", i))}),
    ]
    agree(function({"x": VECTOR}, block, array("a"), array("b"), var("s_end")), vector(5))


ROUND = {"a": ("x", "b"), "b": ("y", "c"), "c": ("x", "new")}
"""Three arrays that change places, and a new one in each iteration: how each begins and goes on."""
FROM_ONE = {"a": ("x", "new"), "b": ("x", "new"), "c": ("x", "x")}
"""Two states from one."""


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("states", "new", "steps"), [
    *((ROUND, at("a", i) + 2 * at("c", i), n) for n in (0, 1, 2, 3, 6)),
    *((FROM_ONE, at("a", i) * at("b", i) + at("c", i), n) for n in (0, 1, 2, 5)),
])  # fmt: skip
def test_states_go_round(states: dict[str, tuple[str, str]], new: Expr, steps: int) -> None:
    carried = {c: (*map(array, ends), VECTOR) for c, ends in states.items()}
    block = [loop("t", index("k"), carried, [build("new", "i", new)])]
    params = {"x": VECTOR, "y": VECTOR, "k": INTEGER}
    outputs = (array(f"{c}_end") for c in states)
    agree(function(params, block, *outputs), vector(4), vector(4, 1), steps)


def test_arrays_whose_size_depends_on_the_iteration() -> None:
    inner = [
        build("t", "j", at("x", j) * i, Type((i + 1,))),
        loop("k", i + 1, {"r": (0, var("r") + at("t", index("k")))}),
    ]
    block = [loop("i", N, {"s": (0, var("s") + var("r_end"))}, inner)]
    everywhere(function({"x": VECTOR}, block, var("s_end")))


# --------------------------------------------------------------------------------- loops
def test_while_with_an_index_that_jumps() -> None:
    carried = {"k": (0, index("k") + 3, INTEGER), "s": (0, var("s") + at("x", index("k")))}
    block = [loop("t", None, carried, condition=lt(index("k"), N))]
    everywhere(function({"x": VECTOR}, block, var("s_end"), index("t_trips"), index("k_end")))


def test_a_break() -> None:
    """Flags are integers; the count bounds the loop as well."""
    flag = where(gt(at("x", i), ONE), ONE, ZERO)
    carried = {"stop": (0, flag, INTEGER), "s": (0, var("s") + at("x", i))}
    block = [loop("i", N, carried, condition=not_(gt(index("stop"), ZERO)))]
    program = function({"x": VECTOR}, block, var("s_end"), index("i_trips"))
    for n in SIZES:
        agree(program, vector(n, n))


def test_whole_division_rounds_down() -> None:
    k = index("k")
    values = [
        lp.FLOORDIV(i - 5, k),
        lp.MOD(i - 5, k),
        lp.FLOORDIV(i - 5, const(-3)),
        lp.MOD(i - 5, const(3)),
    ]
    names = "abcd"
    block = [build(n, "i", v, Type((N,), "i")) for n, v in zip(names, values, strict=True)]
    program = function({"x": VECTOR, "k": INTEGER}, block, *(array(n, "i") for n in names))
    for k_value in (-4, -1, 0, 1, 3):
        agree(program, vector(11), k_value)


def test_triangular_and_backwards() -> None:
    body = [loop("j", i, {"r": (var("s"), var("r") + at("x", i) * at("x", j))}, reverse=True)]
    block = [loop("i", N, {"s": (0, HALF * var("r_end"))}, body, reverse=True)]
    everywhere(function({"x": VECTOR}, block, var("s_end")))


def test_loads_outside_are_moved_to_the_end() -> None:
    block = [build("y", "i", at("x", i - 3) + at("x", i + 5) + at("x", const(9) - i))]
    everywhere(function({"x": VECTOR}, block, array("y")), SIZES[1:])


def test_the_side_not_taken_does_not_leak() -> None:
    inside = and_(le(ZERO, i - 1), lt(ZERO, at("x", i - 1)))
    value = where(inside, OPS["log"](at("x", i - 1)) / at("x", i - 1), ZERO)
    block = [
        build("y", "i", value),
        loop("j", N, {"s": (0, where(gt(at("y", j), ZERO), var("s") + 1 / at("y", j), var("s")))}),
    ]
    program = function({"x": VECTOR}, block, array("y"), var("s_end"))
    for n in SIZES[1:]:
        agree(program, np.maximum(vector(n), 0))


# --------------------------------------------------------------------------------- tapes
def taped(inner_saves: bool, condition=None) -> LoopProgram:
    """The gradient of `s = sin(s)*x[i]`, in reverse, with s on a tape; twice nested."""
    save = (Save("tape", REAL, var("s")),)
    forward = Loop("i", N, (Carried("s", REAL, var("s0"), OPS["sin"](var("s")) * at("x", i), "s1"),),
                   (), "made", condition if condition is not None else TRUE, saves=save)  # fmt: skip
    back = Loop(
        "k", index("made"),
        (Carried("b", REAL, ONE, var("b") * OPS["cos"](var("s_")) * at("x", index("k")), "b1"),),
        (), "unmade", reverse=True, restores=(lp.Restore("tape", REAL, "s_"),),
    )  # fmt: skip
    params = {"x": VECTOR, "s0": REAL}
    if not inner_saves:
        return function(params, [forward, back], var("b1"), var("s1"))
    outer = loop("o", const(3), {"q": (0, var("q") + var("b1") * index("o"))}, [forward, back])
    return function(params, [outer], var("q_end"))


@pytest.mark.sampled
@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("conditional", [False, True])
def test_numbers_on_a_tape(nested: bool, conditional: bool) -> None:
    condition = lt(var("s"), const(2)) if conditional else None
    for n in SIZES:
        agree(taped(nested, condition), vector(n), 0.3)


def test_a_tape_that_grows() -> None:
    program = taped(False, lt(var("s"), const(1e9)))
    x = np.cos(np.arange(100_000.0))
    (b, s) = LoopKernel(program)([x, 0.3])
    states = []
    value = 0.3
    for v in x:
        states.append(value)
        value = np.sin(value) * v
    bar = 1.0
    for v, state in zip(x[::-1], states[::-1], strict=True):
        bar *= np.cos(state) * v
    assert (b, s) == (pytest.approx(bar), pytest.approx(value))


@pytest.mark.parametrize("in_place", [False, True])
def test_arrays_on_a_tape(in_place: bool) -> None:
    """Saved before they are changed."""
    a = Type((M,))
    change = [update("new", "a", 0, at("a", 1) * at("x", i), a)] if in_place else [
        build("new", "j", at("a", j) * at("x", i) + 1, a)
    ]  # fmt: skip
    forward = Loop("i", N, (Carried("a", a, array("a0"), array("new"), "a1"),), tuple(change),
                   "made", saves=(Save("tape", a, array("a")),))  # fmt: skip
    total = loop("l", M, {"r": (0, var("r") + at("old", index("l")) * index("k"))})
    back = Loop("k", index("made"), (Carried("s", REAL, ZERO, HALF * var("s") + var("r_end"), "s1"),),
                (total,), "unmade", reverse=True, restores=(lp.Restore("tape", a, "old"),))  # fmt: skip
    program = function({"x": VECTOR, "a0": a}, [forward, back], var("s1"), array("a1"))
    for n in (0, 1, 2, 5, 9):
        agree(program, vector(n), vector(3, 1))


# ------------------------------------------------------------------------------- vectors
def assembly(program: LoopProgram, dtype: str = "float64") -> str:
    return LoopKernel(program).assembly(dtype)


def packed(program: LoopProgram, mnemonic: str) -> int:
    """How often an instruction on registers full of doubles stands in the assembly."""
    return len(re.findall(rf"\bv{mnemonic}\b.*[yz]mm", assembly(program)))


simd = pytest.mark.skipif(jit.host().bits < 256, reason="needs AVX2")

SUMS = {
    "sum": (var("s") + at("x", i), 0, "addpd"),
    "dot": (var("s") + at("x", i) * at("y", i), 0, "mulpd"),
    "difference": (var("s") - at("x", i) * 2, 0, "subpd|vaddpd"),
    "product": (var("s") * (1 + at("x", i) / 100), 1, "mulpd"),
    "largest": (OPS["maximum"](var("s"), at("x", i)), -9, "maxpd|cmp\\w*pd"),
    "smallest": (OPS["minimum"](at("x", i), var("s")), 9, "minpd|cmp\\w*pd"),
    "some": (where(gt(at("y", i), ZERO), var("s") + at("x", i), var("s")), 0, "addpd"),
    "backwards": (var("s") + at("x", i) * at("y", N - 1 - i), 0, "mulpd"),
    "shifted": (var("s") + at("x", i + 1) * at("y", i - 2), 0, "mulpd"),
    "indexed": (var("s") + at("x", i) * i, 0, "mulpd"),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", SUMS)
def test_sums_in_lanes(name: str) -> None:
    following, start, mnemonic = SUMS[name]
    block = [loop("i", N, {"s": (start, following)})]
    program = function({"x": VECTOR, "y": VECTOR}, block, var("s_end"))
    for n in SIZES[1:]:
        agree(program, vector(n), vector(n, 1))
    packs(program, f"(?:{mnemonic})")


@simd
def test_functions_of_elements_in_lanes() -> None:
    value = OPS["sin"](at("x", i)) + OPS["exp"](at("x", i))
    program = function({"x": VECTOR}, [build("y", "i", value)], array("y"))
    for n in SIZES:
        agree(program, vector(n), rtol=1e-13)
    if jit.host().isa:
        assert "_ZGV" in assembly(program)
    assert packed(program, "addpd") >= 1


@simd
def test_additions_to_elements_in_lanes() -> None:
    for place in (i, N - 1 - i, i + 2):  # ahead, back, shifted
        block = [
            build("z", "j", ZERO, Type((N + 2,))),
            loop("i", N, {"g": (array("z"), array("h"), Type((N + 2,)))}, [
                update("h", "g", place, at("x", i) * at("x", i), Type((N + 2,)), add=True),
            ]),
        ]  # fmt: skip
        program = everywhere(function({"x": VECTOR}, block, array("g_end")))
        assert packed(program, "addpd") >= 1


@simd
def test_guarded_replacements_in_lanes() -> None:
    guard = gt(at("x", i), ZERO)
    block = [
        loop("i", N, {"g": (array("x"), array("h"), VECTOR)}, [
            update("h", "g", i, -at("g", i) + i, guard=guard),
        ])
    ]  # fmt: skip
    program = everywhere(function({"x": VECTOR}, block, array("g_end")))
    masked = r"\bv\w+pd\b.*[yz]mm.*\{%k\d\}"  # as AVX-512 has it
    assert packed(program, "(?:blendvpd|maskmovpd)") or re.search(masked, assembly(program))


def test_iterations_that_depend_on_each_other_are_not_vectorised() -> None:
    one_more = update("h", "g", i + 1, at("g", i) * HALF + at("x", i), Type((N + 1,)))
    block = [
        build("z", "j", ONE, Type((N + 1,))),
        loop("i", N, {"g": (array("z"), array("h"), Type((N + 1,)))}, [one_more]),
    ]
    everywhere(function({"x": VECTOR}, block, array("g_end")))


def test_repeated_places_add_up() -> None:
    place = load(array("k", "i"), i)
    block = [
        build("z", "j", ZERO, Type((M,))),
        loop("i", N, {"g": (array("z"), array("h"), Type((M,)))}, [
            update("h", "g", place, at("x", i), Type((M,)), add=True),
        ]),
    ]  # fmt: skip
    program = function({"x": VECTOR, "k": Type((N,), "i"), "w": Type((M,))}, block, array("g_end"))
    for n in SIZES:
        agree(program, vector(n), np.arange(n) % 3, np.zeros(3))


def product_of(a_index, inner, outer) -> LoopProgram:
    body = [loop("j", inner, {"s": (0, var("s") + at("a", *a_index) * at("v", j))})]
    shape = Type((outer,))
    return function({"a": MATRIX, "v": Type((inner,))},
                    [build("y", "i", var("s_end"), shape, body)], array("y"))  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("transposed", [False, True])
def test_matrix_times_vector(transposed: bool) -> None:
    """Rows are summed in lanes; columns are summed beside each other."""
    program = product_of((j, i), N, M) if transposed else product_of((i, j), M, N)
    for n, m in ((0, 3), (3, 0), (1, 1), (5, 7), (16, 9), (9, 33)):
        a = vector(n * m).reshape(n, m)
        agree(program, a, vector(n if transposed else m, 1))
    if jit.host().bits >= 256:
        assert packed(program, "mulpd") >= 1
        assert "vgather" not in assembly(program)


def test_gathers() -> None:
    value = load(array("x"), load(array("k", "i"), i)) * OPS["exp"](at("y", i))
    program = function({"x": Type((M,)), "y": VECTOR, "k": Type((N,), "i")},
                       [build("z", "i", value)], array("z"))  # fmt: skip
    for n in SIZES:
        k = np.arange(n) * 7 % 11 - 2  # some outside
        agree(program, vector(6), vector(n, 1), k)


def test_a_function_of_a_sum_has_a_loop_of_its_own() -> None:
    body = [loop("j", M, {"s": (0, var("s") + at("a", i, j) * at("v", j))})]
    value = OPS["tanh"](var("s_end") + at("u", i))
    program = function({"a": MATRIX, "v": Type((M,)), "u": VECTOR},
                       [build("y", "i", value, VECTOR, body)], array("y"))  # fmt: skip
    agree(program, vector(35).reshape(5, 7), vector(7), vector(5))
    if jit.host().isa:
        assert "tanh" in assembly(program)


def test_additions_to_one_element_are_collected() -> None:
    body = [update("h", "g", i, at("x", j), VECTOR, add=True)]
    inner = loop("j", N, {"g": (array("a"), array("h"), VECTOR)}, body)
    block = [
        build("z", "k", ZERO),
        loop("i", N, {"a": (array("z"), array("g_end"), VECTOR)}, [inner]),
    ]
    program = function({"x": VECTOR}, block, array("a_end"))
    everywhere(program, SIZES[:8])
    packs(program, "addpd")


def test_several_additions_are_collected() -> None:
    body = [
        update("b", "a", i, at("x", i), add=True),
        update("c", "b", 0, 2 * at("x", i), add=True),
        update("d", "c", N - 1, at("x", i), guard=gt(at("x", i), ZERO), add=True),
    ]
    zeros = build("z", "k", ZERO)
    block = [zeros, loop("i", N, {"a": (array("z"), array("d"), VECTOR)}, body)]
    program = everywhere(function({"x": VECTOR}, block, array("a_end")), SIZES[1:])
    packs(program, "addpd")


@pytest.mark.sampled
@pytest.mark.parametrize("name", ["dot", "indexed", "largest", "shifted"])
def test_float32(name: str) -> None:
    following, start, _ = SUMS[name]
    block = [loop("i", N, {"s": (start, following)}), build("y", "i", OPS["cos"](at("x", i)))]
    program = function({"x": VECTOR, "y": VECTOR}, block[:1], var("s_end"))
    for n in SIZES[1:]:
        x, y = vector(n).astype("f4"), vector(n, 1).astype("f4")
        (got,) = LoopKernel(program)([x, y])
        (want,) = run(program, [x.astype(float), y.astype(float)])
        assert got == pytest.approx(float(want), rel=1e-4, abs=1e-4)
    if jit.host().bits >= 256:
        assert re.search(r"v(mul|max|cmp\w*)ps\b.*[yz]mm", assembly(program, "float32"))


def test_nothing_is_contracted_or_reordered_by_flags() -> None:
    program = function({"x": VECTOR, "y": VECTOR},
                       [loop("i", N, {"s": (0, SUMS["dot"][0])})], var("s_end"))  # fmt: skip
    text = print_kernel(program, "float64", Lanes())
    assert not re.search(r"\b(fast|reassoc|contract|nnan|ninf|arcp|afn)\b", text)
    assert "vfmadd" not in assembly(program)


def test_the_kernel_does_not_depend_on_sizes() -> None:
    program = product_of((i, j), M, N)
    assert print_kernel(program, "float64", Lanes()) == print_kernel(program, "float64", Lanes())
    assert len(text_of(program)) < 6000
