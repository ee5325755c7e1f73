"""Which cases of a sampled test are slow, which slow tests `.ci/run` runs, and which tests may be skipped there.

Of each test function the first case runs; of one that has entries of a table as a parameter (functions,
identities), a case for each entry; of all others one in `SHARE`, which others every day, so that all have run after so
many days. The day is that of the date, or of the environment's `SYMDIFF_TESTS_DAY`, by which a selection can be repeated.
"""

from __future__ import annotations

import datetime
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from symdiff.ir import Op
from symdiff.ir.identities import Rule

SHARE = 8
DAY = "SYMDIFF_TESTS_DAY"
EXPECTED = (
    r"could not import '(torch|hatchling\.build)'",
    r"there is no (CUDA device|pyright|browser|C\+\+ compiler|device)",
    r"there is a device",
    r"another (Python|NumPy)",
    r"no (gcc|libmvec|AVX2|SIGKILL|fork|pseudo-terminals|limits of file sizes|stores past the caches|builtins|registers)",
    r"needs (gcc|AVX2|timers)",
    r"counts x86 code|^x86 code",
    r"the processor's flags cannot be read",
    r"links, pipes and permissions of POSIX",
    r"Numba's own CUDA target needs a device",
    r"Numba has no CUDA target",
    r"the simulator does not compile",
    r"no compiler: ",
)
"""Reasons for which a test may be skipped: machines and packages that are not there."""


def choose_day() -> None:
    """All processes of a run take the same day."""
    os.environ.setdefault(DAY, str(datetime.date.today().toordinal()))


def not_sampled(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """The cases of sampled test functions that are not in the default suite."""
    seen = Counter[str]()
    left: list[pytest.Item] = []
    for item in items:
        mark = item.get_closest_marker("sampled")
        if mark is not None:
            function = _function(item)
            kept = seen[function] % mark.args[0] == 0 if mark.args else not seen[function]
            seen[function] += 1
            if not kept:
                left.append(item)
    return left


def of_ci(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Those of the slow tests that run where not all do."""
    day = int(os.environ[DAY])
    needed: dict[Any, pytest.Item] = {}
    chosen: list[pytest.Item] = []
    for item in items:
        needed.setdefault(_function(item), item)
        for entry in _entries(item):
            needed.setdefault(entry, item)
    always = set(map(id, needed.values()))
    for item in items:
        turn = (zlib.crc32(item.nodeid.encode()) + day) % SHARE == 0
        if item.get_closest_marker("slow") is not None and (id(item) in always or turn):
            chosen.append(item)
    return chosen


def _function(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


def _entries(item: pytest.Item) -> Iterable[tuple[str, str, str]]:
    """The entries of tables that a case is about."""
    params = item.callspec.params if hasattr(item, "callspec") else {}
    for name, value in params.items():
        if isinstance(value, (Op, Rule)):
            yield _function(item), name, value.name


class Skips:
    """Lets a run fail in which something was skipped that should not be."""

    def __init__(self) -> None:
        self.unexpected: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            self._look(report.nodeid, report.longrepr)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:
            self._look(report.nodeid, report.longrepr)

    def _look(self, name: str, why: Any) -> None:
        reason = str(why[2] if isinstance(why, tuple) else why).removeprefix("Skipped: ")
        if not any(re.search(e, reason) for e in EXPECTED):
            line = f"{name}: {reason}"
            if line not in self.unexpected:
                self.unexpected.append(line)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.unexpected and session.exitstatus in (0, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        for line in self.unexpected:
            terminalreporter.write_line(f"unexpected skip: {line}", red=True)
