"""The fuzzing of programs with arrays, in short; and that it finds what is wrong."""

from __future__ import annotations

from pathlib import Path
from weakref import WeakValueDictionary

import numpy as np
import pytest

from symdiff.codegen.llvm.loops import row_blocks
from symdiff.runtime.scalar import compiled
from tests.fuzz.array_programs import Generator, Line, Source, smaller
from tests.fuzz.arrays import examined, fuzz, shrunk
from tests.fuzz.duals import truth


@pytest.mark.slow
def test_programs_with_arrays(tmp_path: Path) -> None:
    """Some two minutes; `python -m tests.fuzz.arrays` for longer."""
    found = fuzz(80, 20_000, tmp_path)
    assert not found.failures, [(s.text(), o) for s, o in found.failures]
    assert found.kinds["refused"] <= 8
    assert found.points > 200


def test_programs_are_the_same_for_the_same_seed() -> None:
    assert Generator(7).program().text() == Generator(7).program().text()
    assert Generator(7).program().text() != Generator(8).program().text()


def test_values_and_slopes_of_plain_source() -> None:
    def f(x, c):
        t = np.cumsum(np.where(x > 0.5, np.sin(x), x * c))
        return np.sum(t[::-1] * x)

    x, c, d = np.array([0.2, 0.9, 1.4]), 0.7, np.array([1.0, -1.0, 0.5])
    value, slope = truth(f, [x, c], [d, 2.0])
    assert value == pytest.approx(f(x, c), rel=1e-15)
    h = 1e-6
    assert slope == pytest.approx(
        (f(x + h * d, c + 2 * h) - f(x - h * d, c - 2 * h)) / (2 * h), rel=1e-8
    )


def triangle() -> Source:
    return Source(
        0, (), ("x",),
        (
            Line("n = len(x)"), Line("t = np.zeros(n, x.dtype)"), Line("u = np.sin(x) * 2"),
            Line("for i in range(n):", (
                Line("s = 0.0"), Line("for j in range(i):", (Line("s += x[j]"),)), Line("t[i] = s"),
            )),
            Line("return t"),
        ),
    )  # fmt: skip


@pytest.mark.slow
def test_a_fault_is_found_and_shrunk(tmp_path: Path, monkeypatch) -> None:
    """Rows of a triangle put together, as if they had one length."""
    assert examined(triangle(), tmp_path).kind == "fine"
    monkeypatch.setenv("SYMDIFF_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(compiled, "_linked", WeakValueDictionary())
    monkeypatch.setattr(row_blocks, "leaves", lambda _: [])
    outcome = examined(triangle(), tmp_path)
    assert outcome.kind in ("value", "derivative", "raises")  # or the first call reports it
    smallest, same = shrunk(triangle(), outcome, tmp_path)
    assert same.kind == outcome.kind
    assert "np.sin" not in smallest.text() and "range(i)" in smallest.text()


def test_smaller_programs_have_fewer_lines() -> None:
    source = triangle()
    assert all(len(s.text()) < len(source.text()) for s in smaller(source))
