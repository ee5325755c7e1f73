"""Libraries behind doors: registered by prefix, imported once the package is."""

from __future__ import annotations

import math
import subprocess
import sys
from types import ModuleType
from typing import Any

import pytest

from symdiff import symgrad
from symdiff.frontend.library import doors
from symdiff.frontend.library.doors import Library, register

opaque: Any = ModuleType("opaque")


class Line:
    """What `opaque` has, and no tracer sees through."""

    __module__ = "opaque.lines"

    def __init__(self, slope: float) -> None:
        self.slope = eval("slope")

    def __call__(self, x: float) -> float:
        return float(eval("self.slope * x"))


class TracedLine:
    def __init__(self, slope: Any) -> None:
        self._s = slope

    def __call__(self, x: Any) -> Any:
        return self._s * x


def _called(t: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The value of a line that is made outside of the traced function."""
    if type(function) is not Line:
        return NotImplemented
    return t.inline(lambda x, slope: slope * x, (*args, t.wrap(function.slope)), kwargs)


tables: Any = ModuleType("tables_of_opaque")
tables.LIBRARY = Library(
    functions={"opaque.cube": (lambda x: x * x * x, 0)},
    aliases={"opaque.exponential": "numpy.exp"},
    classes={"opaque.Line": TracedLine},
    called=_called,
)
opaque.cube = lambda x: eval("x * x * x")
opaque.exponential = lambda x: eval("math.exp(x)")
opaque.Line = Line
twice = Line(2.0)


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doors, "_DOORS", dict(doors._DOORS))
    register("opaque", "tables_of_opaque")
    monkeypatch.setitem(sys.modules, "tables_of_opaque", tables)


@pytest.mark.usefixtures("registered")
def test_a_library_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opaque", opaque)
    assert symgrad(lambda x: opaque.cube(x)).grad(2.0) == 12.0
    assert math.isclose(symgrad(lambda x: opaque.exponential(x)).grad(2.0), math.exp(2.0))
    assert symgrad(lambda x: opaque.Line(x)(x)).grad(3.0) == 6.0
    assert symgrad(lambda x: twice(x) * x).grad(3.0) == 12.0


@pytest.mark.usefixtures("registered")
def test_a_door_opens_once_the_package_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tables.LIBRARY not in doors.opened()
    monkeypatch.setitem(sys.modules, "opaque", opaque)
    assert tables.LIBRARY in doors.opened()


def test_a_prefix_is_a_whole_word() -> None:
    made = type("Solver", (), {"__module__": "scipyx.solvers"})
    assert doors.of(made) is None
    assert doors.replacement(made) is None


@pytest.mark.slow
def test_programs_without_scipy_load_none_of_its_tables() -> None:
    text = """
import sys
import numpy as np
from symdiff import symgrad
assert symgrad(lambda x: (x**2 - 4) / (x - 2)).grad(2.0) == 1.0
assert symgrad(lambda x: np.sum(np.sin(x))).grad(np.zeros(3)).tolist() == [1.0] * 3
print(*(m for m in sys.modules if "scipy" in m))
"""
    run = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=True, timeout=120
    )
    assert run.stdout.split() == []
