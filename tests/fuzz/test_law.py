"""Random programs called both ways: `symgrad(f)(*args)` is `f(*args)`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.fuzz.law import CONVENTION, Generator, difference, fuzz


@pytest.mark.slow
def test_some_programs(tmp_path: Path) -> None:
    """`python -m tests.fuzz.law` for more."""
    found = fuzz(6, 7, tmp_path)
    assert not found.failures, [(s.text(), s.args, o) for s, o in found.failures]


@pytest.mark.slow
def test_many_programs(tmp_path: Path) -> None:
    """Some three minutes."""
    found = fuzz(600, 10_000, tmp_path)
    assert not found.failures, [(s.text(), s.args, o) for s, o in found.failures]
    assert sum(n for kind, n in found.kinds.items() if "refused" in kind) <= 150
    assert found.kinds[CONVENTION] <= 12


def test_programs_are_the_same_for_the_same_seed() -> None:
    assert Generator(7).program().text() == Generator(7).program().text()
    assert len({Generator(k).program().text() for k in range(5)}) == 5


def test_what_differs() -> None:
    x = np.array([1.0, 2.0])
    assert not difference((x, {"a": [1, None]}), (x, {"a": [1, None]}))
    for other in ((x, {"a": [1.0, None]}), [x, {"a": [1, None]}], (x[:1], {"a": [1, None]}),
                  (x + 1e-9, {"a": [1, None]}), (x, {"b": [1, None]}), (x, {"a": (1, None)})):  # fmt: skip
        assert difference((x, {"a": [1, None]}), other)
