"""The recipes of docs/extending.md: each is carried out on a copy of the package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import pages

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "extending.md"
_EDIT = re.compile(r"# (?P<file>\S+\.py), (?P<where>before|after): (?P<line>.*)\n")
_FILE = re.compile(r"# file: (?P<file>\S+\.py)\n")


class Edit(NamedTuple):
    """A text that goes before or after the first line that starts with another."""

    file: str
    where: str
    line: str
    text: str

    def make(self, root: Path) -> None:
        path = root / self.file
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        at = next(i for i, line in enumerate(lines) if line.startswith(self.line))
        lines.insert(at + (self.where == "after"), self.text)
        path.write_text("".join(lines), encoding="utf-8")


def recipes() -> list[list[str]]:
    """The blocks of each recipe, up to the one that is run."""
    found: list[list[str]] = [[]]
    for block in pages.blocks(PAGE):
        if block.language != "py":
            continue
        found[-1].append(block.body)
        if block.body.startswith("# run\n"):
            found.append([])
    assert found.pop() == []
    return found


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package, changed by all recipes."""
    root = tmp_path_factory.mktemp("recipes")
    shutil.copytree(
        ROOT / "symdiff", root / "symdiff", ignore=shutil.ignore_patterns("__pycache__")
    )
    for body in (body for recipe in recipes() for body in recipe[:-1]):
        if (edit := _EDIT.match(body)) is not None:
            Edit(*edit.groups(), body[edit.end() :]).make(root)
        else:
            file = _FILE.match(body)
            assert file is not None, body
            (root / file["file"]).write_text(body[file.end() :], encoding="utf-8")
    return root


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(recipes())))
def test_recipe(number: int, changed: Path) -> None:
    """What follows the recipe runs with the changed package."""
    script = changed / f"recipe{number}.py"
    script.write_text(recipes()[number][-1], encoding="utf-8")
    environment = os.environ | {
        "PYTHONPATH": str(changed),
        "SYMDIFF_CACHE_DIR": str(changed / "cache"),
    }
    command = [sys.executable, str(script)]
    done = subprocess.run(
        command, check=False, env=environment, capture_output=True, text=True, cwd=changed
    )
    assert done.returncode == 0, done.stderr


def test_there_is_a_recipe_for_each_heading() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert len(recipes()) == len(re.findall(r"^## ", text, flags=re.M)) == 6
