"""The planted faults of `mutants` are still there to be planted, and a sample of them is caught."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tests.validation.mutants import TESTS, Mutant, chosen, mutants

ROOT = Path(__file__).parents[2]

ALL = mutants()
HARMLESS = ("total = c + h * total",)
"""What changes no result: a series that the pass itself finds wrong is not used."""
SAMPLE = [m for m in ALL if m.old not in HARMLESS][3::11]


@pytest.mark.parametrize("m", [m for m in ALL if m.old], ids=lambda m: m.old.strip()[:40])
def test_the_text_that_is_changed_is_there(m: Mutant) -> None:
    module = import_module(f"symdiff.{m.where}")
    assert m.old in Path(str(module.__file__)).read_text(encoding="utf-8")


def test_the_tests_that_are_named_are_there() -> None:
    named = " ".join((*TESTS.values(), *(m.tests for m in ALL))).split()
    assert {name for name in named if not (ROOT / name).is_file()} == set()


def test_a_sample_is_spread_over_all_kinds() -> None:
    sample = chosen(ALL, "50")
    assert len(sample) == len({id(m) for m in sample}) == 50
    assert {m.kind for m in sample} >= {m.kind for m in ALL} - {"lowering", "signs"}
    assert all(m.kind == "series" for m in chosen(ALL, "series"))


@pytest.mark.slow
def test_a_module_with_operations_of_its_own_can_be_changed() -> None:
    text = "from tests.validation.mutants import *; prepare(); [plant(m) for m in mutants() if m.kind == 'compensation']"
    subprocess.run([sys.executable, "-c", text], cwd=ROOT, check=True)


@pytest.mark.slow
@pytest.mark.parametrize("m", SAMPLE, ids=lambda m: m.name[:60])
def test_a_planted_fault_is_caught(m: Mutant, tmp_path: Path) -> None:
    # in a process of its own, that has kept nothing of what other tests compiled
    text = f"from tests.validation.mutants import *; prepare(); print(tried(mutants()[{ALL.index(m)}]))"
    own = {**os.environ, "SYMDIFF_CACHE_DIR": str(tmp_path)}
    found = subprocess.run(
        [sys.executable, "-c", text], cwd=ROOT, capture_output=True, text=True, check=True, env=own
    )
    result = found.stdout.strip()
    assert result
    assert not result.startswith(("nothing", "NOT")), result
