"""Every pass of the pipelines, by programs before and after it in `tests/passes/text`.

A file NAME.ir has the cases of the pass of this name: a line `### what the case shows`, the program
before it, and `--- after` with the program after it, or `--- unchanged`. Cases whose titles start with
"late: " run the pass as it runs after differentiation. Passes on derivatives have the program of the
values too, behind `--- values`. `pytest tests/passes/test_texts.py --update-ir` writes what passes make
of the programs; read the difference before it is committed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symdiff.interpret import Certified, exclusive
from symdiff.interpret.loops import Precise, evaluate, run
from symdiff.ir import NAN, ONE, ZERO, Expr, const, rebuild, transform, var, where
from symdiff.ir.loop_program import (
    ARRAY,
    INDEX,
    LoopProgram,
    mapped_block,
    name_of,
    names_of,
    types,
)
from symdiff.ir.node_text import parse_program, program_text
from symdiff.ir.pass_lists import Pass
from symdiff.ir.program import Program
from symdiff.ir.verify import loops as verify_loops
from symdiff.ir.verify import scalar as verify_scalar
from symdiff.loops.simplify import block_by_block as blocks
from symdiff.lowering.double_double.arithmetic import POWER_OF_TWO, Pair
from symdiff.lowering.double_double.pairs import PARTS, TABLE
from symdiff.lowering.target import FMA, TESTED
from symdiff.passes.cancel.signsquares import place, steps_of
from symdiff.passes.differentiate import gradient, pushforward
from symdiff.pipeline import scalar
from tests.passes import other_passes as others

FOLDER = Path(__file__).parent / "text"
ON_VALUES = {p.name: p for p in (*scalar.SIMPLIFY, *scalar.FINISH)}
ON_SLOPES = {p.name: p for p in scalar.DERIVE}
ON_BLOCKS = {p.name: p for p in (*blocks.LATE, *blocks.EARLY, *blocks.OPEN, *blocks.FINISH)}
ONLY_LATE = {p.name for p in blocks.LATE} - {p.name for p in blocks.EARLY}
LATE = "late: "
OF_ANY_COUNT = "arguments, not -1"
"""What the verifier says of operations of any number of arguments, which only kernels have."""


OF_PAIRS = {of_pairs: op for op, caller in TABLE.items() for of_pairs in caller.ops}
"""The functions that operations on pairs of doubles compute."""


@dataclass
class Case:
    """One case of a file.

    Attributes
    ----------
    title : which behaviour it shows.
    sections : texts by their headings; the program before the pass is "before".
    """

    title: str
    sections: dict[str, str] = field(default_factory=dict)

    @property
    def is_scalar(self) -> bool:
        return self.sections["before"].startswith("program")

    @property
    def changes(self) -> bool:
        return "after" in self.sections

    def __str__(self) -> str:
        texts = [f"### {self.title}\n{self.sections['before']}"]
        texts += [f"--- {k}\n{t}".rstrip() for k, t in self.sections.items() if k != "before"]
        return "\n".join(texts) + "\n"


def cases_of(path: Path) -> list[Case]:
    """The cases of a file."""
    found: list[Case] = []
    section = ""
    for line in path.read_text().splitlines():
        if line.startswith("### "):
            found.append(Case(line.removeprefix("### ")))
            section = "before"
        elif line.startswith("--- "):
            section = line.removeprefix("--- ")
            found[-1].sections[section] = ""
        elif line.strip():
            found[-1].sections[section] = found[-1].sections.get(section, "") + line + "\n"
    for c in found:
        c.sections = {k: t.rstrip() for k, t in c.sections.items()}
    return found


def after(name: str, case: Case) -> Program | LoopProgram:
    """What the pass of this name makes of the program of a case."""
    program = parsed(case.sections["before"])
    values = parsed(case.sections.get("values", case.sections["before"]))
    if name in others.FORMULAS:
        outputs = others.FORMULAS[name](program.outputs, values.outputs)
        tree = program.tree if len(outputs) == len(program.outputs) else tuple(range(len(outputs)))
        return replace(program, outputs=outputs, tree=tree)
    if name in others.PROGRAMS:
        return others.PROGRAMS[name](program, values)
    if isinstance(program, LoopProgram):
        late = case.title.startswith(LATE) or name in ONLY_LATE
        around = blocks.Around(names_of(program), (), types(program), late)
        block, outputs = ON_BLOCKS[name].run((program.block, program.outputs), around)
        return replace(program, block=block, outputs=outputs)
    if name in ON_VALUES:
        return ON_VALUES[name].run(program, scalar.Notes())
    assert isinstance(values, Program) and "values" in case.sections
    found = ON_SLOPES[name].run(program, derivation(values))
    count = len(found.outputs)
    return found if count == len(program.outputs) else replace(found, tree=tuple(range(count)))


def derivation(values: Program) -> scalar.Derivation:
    """The gradient of one value by all parameters."""
    variables = [var(p) for p in values.params]
    slopes = lambda outputs: gradient(outputs[0], variables)
    steps = steps_of(values.outputs, {place(u)[0] for u in values.slopes})
    by = tuple((v,) for v in variables)
    return scalar.Derivation(
        scalar.Notes(), values, values.outputs, slopes, steps, by, True, slopes
    )


def parsed(text: str) -> Any:
    """A valid program."""
    program = parse_program(text)
    assert_valid(program)
    return program


def assert_valid(program: Any) -> None:
    verify = verify_loops if isinstance(program, LoopProgram) else verify_scalar
    assert [f for f in verify.faults(program) if not f.endswith(OF_ANY_COUNT)] == []


EVERY = [(path.stem, c) for path in sorted(FOLDER.glob("*.ir")) for c in cases_of(path)]


@pytest.mark.sampled(10)
@pytest.mark.parametrize(("name", "case"), EVERY, ids=[f"{n}-{c.title}" for n, c in EVERY])
def test_a_pass_gives_the_program_that_is_written(name: str, case: Case, request: Any) -> None:
    found = after(name, case)
    assert_valid(found)
    text = program_text(found)
    if request.config.getoption("--update-ir"):
        update(name, case, text)
        return
    changed = text != program_text(parsed(case.sections["before"]))
    assert text == case.sections["after" if changed and case.changes else "before"]
    assert changed == case.changes


def update(name: str, case: Case, text: str) -> None:
    """Write the program after a pass into its file."""
    path = FOLDER / f"{name}.ir"
    every = cases_of(path)
    (own,) = (c for c in every if c.title == case.title)
    own.sections["before"] = program_text(parsed(own.sections["before"]))
    own.sections.pop("unchanged", None)
    own.sections.pop("after", None)
    own.sections.update({"unchanged": ""} if text == own.sections["before"] else {"after": text})
    path.write_text("\n".join(map(str, every)))


OTHER_VALUES = {"differentiate", "leibniz", "pushforward", "rows"}
"""Passes whose programs have other values than the programs before; tests of their own compare these."""
NEAR = {"literals"}
"""Passes that change values by roundings of literals."""
UNREAD = "a tape that nobody reads goes"
"""A case that the interpreter refuses to run."""
CLOSE = 2.0**-40
"""How far values after a pass may be from those before, relatively: series are as good as doubles."""
POINTS, BITS = 8, 2500
AT_TIES = {"eliminations", "signsquares", "undefined_ties"}
"""Passes that change values where arguments are equal, which those of the last kind are."""


@pytest.mark.sampled(15)
@pytest.mark.parametrize(("name", "case"), EVERY, ids=[f"{n}-{c.title}" for n, c in EVERY])
def test_values_before_and_after_are_equal(name: str, case: Case) -> None:
    """Where the program before has a value, at points of several kinds."""
    if not case.changes or name in OTHER_VALUES or case.title == UNREAD:
        return
    before, later = (parsed(case.sections[s]) for s in ("before", "after"))
    seen = 0
    for k in range(5 if name in NEAR else POINTS - (name in AT_TIES)):
        if isinstance(before, Program):
            point = points(k, before.params)
            pairs = zip(values_of(before, point), values_of(later, point, LIMITS), strict=False)
        else:
            given = arguments(before, k, 3)
            pairs = zip(results(before, given), results(later, given), strict=False)
        for old, new in pairs:
            if np.shape(old) == np.shape(new) and np.all(np.isfinite(old)):
                seen += 1
                np.testing.assert_allclose(new, old, rtol=CLOSE, atol=1e-300)
    assert seen


@pytest.mark.parametrize("case", [c for n, c in EVERY if n == "leibniz"], ids=lambda c: c.title)
def test_derivatives_node_by_node_are_those_of_the_chain_rule(case: Case) -> None:
    before, later = (parsed(case.sections[s]) for s in ("before", "after"))
    outputs = before.outputs
    for _ in range(4):
        outputs = pushforward(outputs, {var(before.params[0]): ONE})
    for k in range(POINTS):
        point = points(k, before.params)
        expected = values_of(replace(before, outputs=outputs), point)
        np.testing.assert_allclose(values_of(later, point), expected, rtol=CLOSE)


@pytest.mark.parametrize(
    "case",
    [c for n, c in EVERY if n in ("differentiate", "pushforward") and c.changes],
    ids=lambda c: c.title,
)
def test_derivatives_are_quotients_of_differences(case: Case) -> None:
    before = parsed(case.sections.get("values", case.sections["before"]))
    later = parsed(case.sections["after"])
    numbers, seen = Precise(1000), 0
    h = numbers.real(2.0**-300)
    for k in (0, 2, 3, 4):
        scope = {
            p: numbers.real(v) for p, v in zip(before.params, points(k, before.params), strict=True)
        }
        with exclusive(1000):
            for p, e in zip(before.params, later.outputs, strict=False):
                two = [scope | {p: scope[p] + step} for step in (h, -h)]
                right, left = (evaluate(before.outputs[0], numbers, s) for s in two)
                found, expected = evaluate(e, numbers, scope), (right - left) / (2 * h)
                if expected.is_finite():
                    seen += 1
                    np.testing.assert_allclose(float(found), float(expected), rtol=CLOSE)
    assert seen


@pytest.mark.parametrize("case", [c for n, c in EVERY if n == "rows"], ids=lambda c: c.title)
def test_rows_have_the_values_of_the_program_of_one_row(case: Case) -> None:
    before, later = (parsed(case.sections[s]) for s in ("before", "after"))
    given = arguments(later, 1)
    (found,) = results(later, given)
    for row, value in enumerate(found):
        pairs = zip(before.params, given, strict=True)
        own = [a if p.type.shape else float(a[row]) for p, a in pairs]
        np.testing.assert_allclose(results(before, own), [value], rtol=CLOSE)


def points(k: int, names: Sequence[str]) -> list[float]:
    """Numbers in (0, 1), of any sign, larger, small, near 1, very large or small, or all of them equal."""
    x = np.random.default_rng(k).uniform(0.2, 0.9, size=len(names))
    signs = np.resize([-1, 1, 1, -1, -1], len(names))
    far = (x * 2.0**520, x * 2.0**-520)
    ways = (x, x * signs, 5 * x, x * 2.0**-12, 1 + x * 2.0**-8, *far, np.full_like(x, 0.5))
    return [float(v) for v in ways[k % len(ways)]]


EXACT, LIMITS = ("exact",), ("exact", "limit")


def values_of(
    program: Program, point: Sequence[float], statuses: Sequence[str] = EXACT
) -> list[float]:
    """What is proved of the outputs; nan of others, and where what is assumed does not hold."""
    held = [where(c, ZERO, NAN) for c in program.assumptions]
    formulas = [sum(held, e) for e in without_roundings(program.outputs)]
    answers = Certified([var(p) for p in program.params], formulas).at_with_status(point)
    return [a.value if a.status in statuses else float("nan") for a in answers]


def without_roundings(outputs: Sequence[Expr]) -> tuple[Expr, ...]:
    """The outputs with operations of kernels as what they are if nothing is rounded."""

    def rule(e: Expr, args: tuple[Expr, ...]) -> Expr:
        if e.op is FMA:
            return args[0] * args[1] + args[2]
        if e.op is TESTED:
            return args[1]
        if e.op is POWER_OF_TWO:
            return const(2) ** args[0]
        if e.op in PARTS:
            function, part = PARTS[e.op]
            pairs = [Pair(*args[k : k + 2]) for k in range(0, len(args), 2)]
            if e.op in OF_PAIRS:
                return ZERO if part else OF_PAIRS[e.op](*(p.hi + p.lo for p in pairs))
            return without_roundings(function.build(*pairs))[part]
        return rebuild(e, args)

    return transform(outputs, rule)


def arguments(program: LoopProgram, k: int, size: int = 3) -> list[Any]:
    """Arguments of a program, all sizes the same but for those that it says."""
    sizes: dict[str, Any] = {}
    found = []
    for p in program.params:
        for e in p.type.shape:
            if e.op is INDEX:
                sizes.setdefault(name_of(e), size)
        shape = tuple(int(evaluate(e, Precise(), sizes)) for e in p.type.shape)
        if p.type.kind == "i":
            found.append(np.ones(shape, int) if shape else 1)
            continue
        names = [p.name] * int(np.prod(shape, dtype=int))
        values = np.array(points(k, names)) + (0.0 if shape else 0.0625)
        found.append(values.reshape(shape) if shape else float(values[0]))
    return found


def results(program: LoopProgram, given: Sequence[Any]) -> list[Any]:
    """The outputs in many digits, as doubles."""
    one = lambda e: e if e.op is ARRAY else without_roundings((e,))[0]
    block, outputs = mapped_block(program.block, one), tuple(map(one, program.outputs))
    found = run(replace(program, block=block, outputs=outputs), given, Precise(BITS))
    return [np.array(v, dtype=float) for v in found]


def declared() -> Iterator[tuple[bool, Pass[Any, Any]]]:
    """Every pass of the lists, and whether it is on functions of numbers."""
    for passes in (ON_VALUES, ON_SLOPES, ON_BLOCKS):
        yield from ((passes is not ON_BLOCKS, p) for p in passes.values())


@pytest.mark.parametrize(
    ("is_scalar", "p"), declared(),
    ids=[f"{'numbers' if s else 'blocks'}-{p.name}" for s, p in declared()],
)  # fmt: skip
def test_every_pass_has_a_case_that_it_changes_and_one_that_it_leaves(is_scalar, p):
    own = [c for name, c in EVERY if name == p.name and c.is_scalar == is_scalar]
    assert len({c.title for c in own}) == len(own)
    assert {c.changes for c in own} == {True, False}
    assert p.requires and p.ensures


ADDING = {"compensate", "error_test", "leibniz", "overflow", "pushforward", "rows", "widen"}
"""Passes that leave no program as it is."""


@pytest.mark.parametrize("name", [*others.FORMULAS, *others.PROGRAMS])
def test_every_other_pass_has_a_case_that_it_changes_and_one_that_it_leaves(name):
    own = [c for n, c in EVERY if n == name]
    assert len({c.title for c in own}) == len(own) > 1
    assert {c.changes for c in own} == ({True} if name in ADDING else {True, False})


def test_every_file_is_of_a_pass():
    known = ON_VALUES.keys() | ON_SLOPES.keys() | ON_BLOCKS.keys()
    known |= others.FORMULAS.keys() | others.PROGRAMS.keys()
    assert {path.stem for path in FOLDER.glob("*.ir")} == known
