"""Random programs that count, round and compare: see `tests.fuzz.decisions`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.decisions import fuzz


@pytest.mark.slow
def test_some_programs(tmp_path: Path) -> None:
    """`python -m tests.fuzz.decisions` for more."""
    found = fuzz(12, 7, tmp_path)
    assert not found.failures, [(d.text(), d.args, o) for d, o in found.failures]
    assert found.kinds["right"] >= 8


@pytest.mark.slow
def test_loops_and_checks_that_rounding_decides(tmp_path: Path) -> None:
    """No run that measures rounding decides anything, or shows an error of its own."""
    found = fuzz(12, 0, tmp_path, rounded=True)
    assert not found.failures, [(d.text(), d.args, o) for d, o in found.failures]
    assert found.kinds["right"] >= 8


@pytest.mark.slow
def test_many_programs(tmp_path: Path) -> None:
    found = fuzz(120, 20_000, tmp_path, ways=("high", "fast", "strict", "numba", "module"))
    assert not found.failures, [(d.text(), d.args, o) for d, o in found.failures]
    found = fuzz(60, 30_000, tmp_path, ways=("high", "strict", "numba"), rounded=True)
    assert not found.failures, [(d.text(), d.args, o) for d, o in found.failures]
