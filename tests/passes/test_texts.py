"""Every pass of the pipelines, by programs before and after it in `tests/passes/text`.

A file NAME.ir has the cases of the pass of this name: a line `### what the case shows`, the program
before it, and `--- after` with the program after it, or `--- unchanged`. Cases whose titles start with
"late: " run the pass as it runs after differentiation. Passes on derivatives have the program of the
values too, behind `--- values`. `pytest tests/passes/test_texts.py --update-ir` writes what passes make
of the programs; read the difference before it is committed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from symdiff.ir import var
from symdiff.ir.loop_program import LoopProgram, types
from symdiff.ir.node_text import parse_program, program_text
from symdiff.ir.pass_lists import Pass
from symdiff.ir.program import Program
from symdiff.ir.verify import loops as verify_loops
from symdiff.ir.verify import scalar as verify_scalar
from symdiff.loops.context import names_of
from symdiff.loops.simplify import block_by_block as blocks
from symdiff.passes.cancel.signsquares import place, steps_of
from symdiff.passes.differentiate import gradient
from symdiff.pipeline import scalar

FOLDER = Path(__file__).parent / "text"
ON_VALUES = {p.name: p for p in (*scalar.SIMPLIFY, *scalar.FINISH)}
ON_SLOPES = {p.name: p for p in scalar.DERIVE}
ON_BLOCKS = {p.name: p for p in (*blocks.LATE, *blocks.EARLY, *blocks.FINISH)}
ONLY_LATE = {p.name for p in blocks.LATE} - {p.name for p in blocks.EARLY}
LATE = "late: "


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
    if isinstance(program, LoopProgram):
        late = case.title.startswith(LATE) or name in ONLY_LATE
        around = blocks.Around(names_of(program), (), types(program), late)
        block, outputs = ON_BLOCKS[name].run((program.block, program.outputs), around)
        return replace(program, block=block, outputs=outputs)
    if name in ON_VALUES:
        return ON_VALUES[name].run(program, scalar.Notes())
    values = parsed(case.sections["values"])
    assert isinstance(values, Program)
    return ON_SLOPES[name].run(program, derivation(values))


def derivation(values: Program) -> scalar.Derivation:
    """The gradient of one value by all parameters."""
    variables = [var(p) for p in values.params]
    slopes = lambda outputs: gradient(outputs[0], variables)
    steps = steps_of(values.outputs, {place(u)[0] for u in values.slopes})
    by = tuple((v,) for v in variables)
    return scalar.Derivation(
        scalar.Notes(), values, values.outputs, slopes, steps, by, False, True, slopes
    )


def parsed(text: str) -> Any:
    """A valid program."""
    program = parse_program(text)
    assert_valid(program)
    return program


def assert_valid(program: Any) -> None:
    verify = verify_loops if isinstance(program, LoopProgram) else verify_scalar
    assert verify.faults(program) == []


EVERY = [(path.stem, c) for path in sorted(FOLDER.glob("*.ir")) for c in cases_of(path)]


@pytest.mark.sampled(5)
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


def test_every_file_is_of_a_pass():
    known = ON_VALUES.keys() | ON_SLOPES.keys() | ON_BLOCKS.keys()
    assert {path.stem for path in FOLDER.glob("*.ir")} == known
