"""The words of the field stand in code and pages, not those of our own that they replaced."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "symdiff").rglob("*.py"))
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]

WORDS = {
    "doubt": "running error bound, error test", "doubtful": "flagged",
    "suspect": "flagged", "suspects": "flagged",
    "sharp": "compensated", "sharpen": "compensate", "sharpened": "compensated",
    "hasten": "fast mode", "hastened": "in fast mode",
    "polish": "Newton correction", "polished": "corrected by Newton's method",
    "homes": "scopes", "wish": "destination hint", "wishes": "destination hints",
    "park": "cache", "parked": "cached",
}  # fmt: skip
"""Retired words, also within names, and what is said instead."""
PHRASES = {"in no order": "unnormalised", "made again": "recomputed"}
CLASSES = {
    "Structured": "LoopProgram", "Emission": "a lowered program", "Valued": "Unnormalised",
    "Left": "ResidualBounds", "Way": "an entry", "Gate": "DispatchStub", "Nest": "a loop kernel",
    "Cell": "Memory, or Word", "GuardedProgram": "ProgramWithTests",
}  # fmt: skip


IN_CODE = {"gate": "an entry; the condition under which an argument counts", "gates": "entries"}
"""Retired words that pages may have for other things."""


ANY = re.compile("|".join(WORDS), re.IGNORECASE)
CLASS = re.compile(r"^ *class (\w+)", re.MULTILINE)
CODE = re.compile(rf"(?<![a-z])(?:{'|'.join(IN_CODE)})(?![a-z])", re.IGNORECASE)


def found(text: str) -> set[str]:
    """The retired words in a text, as words or as parts of names."""
    parts = set[str]()
    if ANY.search(text):
        parts = {p.lower() for p in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", text)}
    flat = " ".join(text.split()).lower()
    return (parts & WORDS.keys()) | {p for p in PHRASES if p in flat}


def test_a_retired_word_is_found():
    assert found("class SharpSum: in_doubt = 1  # pairs in no\n  order") == {
        "sharp", "doubt", "in no order",
    }  # fmt: skip
    assert found("sharper arguments, a parking lot") == set()
    assert CODE.findall("a_gate = Gates(delegate)") == ["gate", "Gates"]
    assert CLASS.findall("class A:\n    class B(A): ...\n# class of its own") == ["A", "B"]


@pytest.mark.sampled
@pytest.mark.parametrize(
    "folder", sorted(p for p in (ROOT / "symdiff").iterdir() if p.is_dir()), ids=lambda p: p.name
)
def test_code_has_the_words_of_the_field(folder: Path) -> None:
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        retired = found(text) | set(CODE.findall(text))
        assert retired == set(), path.relative_to(ROOT).as_posix()
        assert not CLASSES.keys() & CLASS.findall(text), path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_pages_have_the_words_of_the_field(page: Path) -> None:
    assert found(page.read_text(encoding="utf-8")) == set()
