"""The README tells the truth: its examples run, its first block is the two commands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import pages

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"


@pytest.mark.slow
def test_examples_run(tmp_path: Path) -> None:
    assert pages.run(README, tmp_path) >= 20


def test_first_shell_block_is_two_whole_commands() -> None:
    block = next(b for b in pages.blocks(README) if b.language == "sh")
    main_job, tests = block.body.splitlines()
    assert main_job.startswith("python -m pip install") and " && " in main_job
    assert 'symdiff diff "(x**2-4)/(x-2)"' in main_job
    assert "[test]" in tests and tests.endswith('python -m pytest -n auto -m "not slow"')


def test_files_it_mentions_exist() -> None:
    text = README.read_text(encoding="utf-8")
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", text)
    assert targets
    missing = [t for t in targets if not (ROOT / t).exists()]
    assert not missing


def test_a_wrong_example_fails(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\n1 + 1  # -> 3\n```\n")
    with pytest.raises(AssertionError, match=r"page.md, line 2"):
        pages.run(page, tmp_path)
    page.write_text("```console\n$ symdiff diff x\n2\n```\n")
    with pytest.raises(AssertionError, match=r"expected:\n2\n\ngot:\n1"):
        pages.run(page, tmp_path)
