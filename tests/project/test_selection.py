"""What CI runs: each test function, each entry of a table, in turn all others; and which skips it lets pass."""

from __future__ import annotations

import zlib
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from symdiff.ir import OPS
from tests import selection

RNG = np.random.default_rng()
DRAWN: list[float] = []


class Item:
    def __init__(self, name: str, slow: bool = True, **params: Any) -> None:
        self.nodeid, self.slow = name, slow
        self.callspec = SimpleNamespace(params=params)

    def get_closest_marker(self, name: str) -> bool | None:
        return True if self.slow and name == "slow" else None


def chosen(items: list[Any]) -> set[str]:
    return {i.nodeid for i in selection.of_ci(items)}


@pytest.mark.parametrize(("args", "kept"), [((), [0]), ((4,), [0, 4, 8])])
def test_sampled_functions_keep_their_first_cases(args: tuple[int, ...], kept: list[int]) -> None:
    marks = {"sampled": SimpleNamespace(args=args)}
    items = [
        SimpleNamespace(nodeid=f"t.py::test_{name}[{n}]", get_closest_marker=marks.get)
        for n in range(10)
        for name in "ab"
    ]
    slow = {i.nodeid for i in selection.not_sampled(items)}  # type: ignore[arg-type]
    assert {i.nodeid for i in items} - slow == {f"t.py::test_{f}[{n}]" for f in "ab" for n in kept}


def test_each_function_has_its_first_case(monkeypatch: pytest.MonkeyPatch) -> None:
    items = [Item(f"t.py::test_{k}[{n}]") for k in range(40) for n in range(40)]
    first = {items[k].nodeid for k in range(0, 1600, 40)}
    seen: set[str] = set()
    for day in range(selection.SHARE):
        monkeypatch.setenv(selection.DAY, str(738000 + day))
        found = chosen(items)
        assert first <= found
        assert len(found) < 1600 / selection.SHARE * 1.2 + 40
        seen |= found
    assert seen == {i.nodeid for i in items}


def test_each_entry_of_a_table_has_a_case(monkeypatch: pytest.MonkeyPatch) -> None:
    ops = [OPS["sin"], OPS["cos"], OPS["erf"]]
    items = [Item(f"t.py::test[{op.name}-{k}]", op=op, k=k) for op in ops for k in range(50)]
    quick = [Item("t.py::other[0]", slow=False), *(Item(f"t.py::other[{k}]") for k in range(1, 5))]
    monkeypatch.setattr(selection, "SHARE", 10**9)
    monkeypatch.setenv(selection.DAY, "0")
    found = chosen([*items, *quick])
    assert found == {f"t.py::test[{op.name}-0]" for op in ops}


@pytest.mark.parametrize(
    ("reason", "is_expected"),
    [
        ("Skipped: there is no CUDA device", True),
        ("could not import 'torch': No module named 'torch'", True),
        ("could not import 'symdiff'", False),
        ("not elementwise", False),
    ],
)
def test_skips_that_nobody_expects(reason: str, is_expected: bool) -> None:
    skips = selection.Skips()
    skips.pytest_runtest_logreport(
        SimpleNamespace(skipped=True, nodeid="t.py::test", longrepr=("t.py", 1, reason))  # type: ignore[arg-type]
    )
    session = SimpleNamespace(exitstatus=0)
    skips.pytest_sessionfinish(session)  # type: ignore[arg-type]
    assert (session.exitstatus == 0) is is_expected


@pytest.mark.parametrize("_", range(2))
def test_random_numbers_are_those_of_a_test(request: pytest.FixtureRequest, _: int) -> None:
    DRAWN.append(RNG.random())
    assert len(set(DRAWN)) == len(DRAWN)
    again = np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))
    assert again.random() == DRAWN[-1]
