"""Programs as text: what is printed parses back to the same program."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symdiff import ir
from symdiff.errors import ParseError
from symdiff.frontend import capture
from symdiff.ir.loop_program import Build, LoopProgram, Type, array, index, load
from symdiff.ir.node_text import parse_program, program_text
from symdiff.ir.plain import plain
from symdiff.ir.program import Corner, Made, OptimizedProgram, Program
from symdiff.pipeline import scalar
from symdiff.pipeline.derivation import pipeline_of
from tests import array_corpus, corpus, traced_corpus
from tests.loops.corpus import PROGRAMS

x, y = ir.var("x"), ir.var("y")


def classes_in(tree: Any) -> dict[str, type]:
    """The classes of objects in how results nest, by their modules and names."""
    found = {}
    if isinstance(tree, Made):
        found[f"{tree.made_of.__module__}.{tree.made_of.__qualname__}"] = tree.made_of
    if isinstance(tree, (tuple, list, dict)):
        for t in tree.values() if isinstance(tree, dict) else tree:
            found.update(classes_in(t))
    return found


def assert_same(a: Any, b: Any) -> None:
    assert type(a) is type(b)
    for f in fields(a):
        u, v = getattr(a, f.name), getattr(b, f.name)
        if f.name == "tree":
            assert repr(u) == repr(v)
        elif f.name == "data":
            assert u.keys() == v.keys()
            for k in u:
                assert (u[k].dtype, u[k].shape) == (v[k].dtype, v[k].shape)
                assert u[k].tobytes() == v[k].tobytes()
        elif f.name != "locations":
            assert u == v, f.name


def assert_round_trip(program: Any) -> str:
    text = program_text(program)
    parsed = parse_program(text, classes_in(program.tree))
    assert_same(program, parsed)
    assert program_text(parsed) == text
    return text


NUMBERS: list[Callable[[], Any]] = [lambda c=c: capture(c.fun, c.static) for c in corpus.CASES]
ARRAYS: list[Callable[[], Any]] = [
    lambda c=c: traced_corpus.captured(c) for c in array_corpus.CASES
]
WRITTEN: list[Callable[[], Any]] = [lambda p=p: p for p, *_ in PROGRAMS.values()]
EVERY = [*NUMBERS, *ARRAYS, *WRITTEN]
NAMES = [*(c.name for c in corpus.CASES), *(c.name for c in array_corpus.CASES), *PROGRAMS]


@pytest.mark.sampled
@pytest.mark.parametrize("group", [NUMBERS, ARRAYS, WRITTEN], ids=["numbers", "arrays", "written"])
def test_captured_programs_parse_back(group):
    for make in group:
        assert_round_trip(make())


@pytest.mark.slow
@pytest.mark.parametrize("make", EVERY, ids=NAMES)
def test_programs_parse_back_at_every_stage(make):
    program = make()
    names = [p if isinstance(p, str) else p.name for p in program.params]
    for stage in pipeline_of(program).stages(program, names):
        for s in (stage, *stage.inside):
            assert_round_trip(s.program)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "e",
    [
        (ir.functions.SIN(x) - x) / x**3,
        (ir.functions.EXP(x) - ir.functions.EXP(y)) / (x - y),
        ir.abs_(x) * ir.functions.EXPM1(x) / x,
    ],
)
def test_completed_functions_and_their_derivatives_parse_back(e):
    program = Program("f", ("x", "y"), (e,))
    text = assert_round_trip(scalar.simplified(program))
    assert "!0 = " in text
    assert_round_trip(scalar.gradient(program, ("x", "y")))
    assert_round_trip(scalar.hessian(program, ("x", "y")))
    assert_round_trip(scalar.optimized(scalar.gradient(program, ("x", "y"))))


def test_completed_functions_are_made_of_their_text():
    text = """program name=f params=(x) {
      %0 = exp "completed variable"
      %1 = sub %0, 1
      %2 = div %1, "completed variable"
      !0 = completed(%2, (0), 1)
      %3 = !0 x
    } outputs=(%3)"""
    (value,) = parse_program(text).outputs
    assert float(value.op.ball(ir.functions.flint().arb(0))) == 0.5
    assert_round_trip(parse_program(text))


@given(st.floats() | st.fractions() | st.integers() | st.floats(width=16).map(abs))
def test_numbers_parse_back(number):
    e = ir.const(number)
    text = assert_round_trip(Program("f", (), (e,)))
    if isinstance(number, float) and math.isfinite(number):
        assert len(text) < 100


@pytest.mark.slow
@given(st.text(min_size=1), st.text(), st.sampled_from("fib"))
def test_names_parse_back(name, other, kind):
    leaves = ir.var(name), index(name), load(array(name, kind), index(other)), ir.var(other)
    assert_round_trip(Program(name, (name, other), leaves, tree={name: [0, 1], other: (2, (3,))}))


WORDS = (
    "true",
    "false",
    "none",
    "nan",
    "inf",
    "array",
    "made",
    "value",
    "loop",
    "program",
    "e5",
    "i",
)


def test_words_of_the_grammar_are_names_too():
    e = sum((ir.var(n) * index(n) for n in WORDS), ir.ZERO)
    assert_round_trip(Program("value", WORDS, (e,)))


def test_arrays_and_how_results_nest_parse_back():
    data = {
        "w": np.array([[0.0, -0.0], [math.nan, -math.inf]]),
        "k": np.array([1, 2**62]),
        "none": np.zeros((0, 3)),
    }
    tree = {"a": [0, (1,)], 2: (), (1, "b"): np.array([[0, 1]]), None: np.empty((0, 2), "?")}
    built = Build("y", Type((index("n"),), "i"), ("i",), index("i"))
    block = (built,)
    p = LoopProgram("f", (), block, (array("w"), array("y", "i")), tree, data, kinds=("f", "i"))
    assert_round_trip(p)
    assert_round_trip(replace(p, by_rows=True, taken="by rows", changes=("x",)))


def test_fields_of_programs_parse_back():
    inside = ir.le(ir.ZERO, x)
    p = Program("f", ("x",), (plain(ir.DIV, x, ir.const(3)),), domain=(inside,), slopes=(x - 1,))
    p = replace(p, corners=(Corner(0, ir.eq(x, ir.ZERO), ir.NAN),), assumptions=(ir.lt(x, y),))
    assert_round_trip(p)
    assert_round_trip(OptimizedProgram("f", ("x",), 0, (x,), (x + 1,), special=inside))


def test_nodes_are_numbered_where_they_are_needed():
    program, *_ = PROGRAMS["history"]
    text = program_text(program)
    labels = [line.split()[0] for line in text.splitlines() if line.strip()[0] == "%"]
    assert labels == [f"%{i}" for i in range(len(labels))]


FAULTS = [
    ("", "a program starts with"),
    ("program name=f {", "a block is not closed"),
    ("program name=f {\n%0 = zork x\n} outputs=(%0)", "line 2: there is no operation zork"),
    ("program name=f {\n%0 = mul x\n} outputs=(%0)", "line 2: mul takes 2 arguments, not 1"),
    ("program name=f {\n} outputs=(%0)", "line 2: %0 is not defined"),
    ("program name=f {\n%0 = neg x\n%0 = neg x\n} outputs=()", "line 3: %0 is defined twice"),
    ("program name=f {\n%0 = neg x y\n} outputs=()", "line 2: "),
    ("program name=f {\n%0 = neg __import__('os')\n} outputs=()", "line 2: nothing is written"),
    ("program name=f zork=1 {\n}", "has no field zork"),
    ("program name=f {\n} outputs=(1/0)", "line 2: "),
    ("program name=f {\n} tree=made \"os.system\" (0)", "the class os.system is not given"),
    ("program name=f {\nbuild name=y\n} outputs=()", "line 2: "),
    ("program name=f {\n!0 = zork(x)\n} outputs=()", "line 2: "),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), FAULTS)
def test_what_is_no_program_is_refused_at_its_line(text, message):
    with pytest.raises(ParseError) as e:
        parse_program(text)
    assert message in str(e.value)
