"""Plain functions that take too many steps are broken off, other packages never."""

from __future__ import annotations

import importlib.util
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from symdiff.pipeline.validation.broken_off import TooLong, limited

TEXT = """
held = False

def critical(steps, back=None):
    global held
    held = True
    for _ in range(steps):
        if back is not None:
            back()
    held = False
    return steps
"""


@pytest.fixture
def installed(tmp_path: Path) -> Any:
    """A module of an installed package."""
    path = tmp_path / "site-packages" / "some_package" / "inner.py"
    path.parent.mkdir(parents=True)
    path.write_text(TEXT)
    spec = importlib.util.spec_from_file_location("some_package_inner", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _loop(steps: int) -> int:
    total = 0
    for k in range(steps):
        total += k
    return total


def test_the_users_own_code_is() -> None:
    with pytest.raises(TooLong):
        limited(lambda: _loop(10_000), 1000)
    assert limited(lambda: _loop(100), 1000) == 4950


def test_other_packages_are_not(installed: Any) -> None:
    assert limited(lambda: installed.critical(10_000), 1000) == 10_000
    assert not installed.held


def test_functions_of_an_installed_package_are(installed: Any) -> None:
    """A user's function may be part of a package: nothing of another one was called."""
    call: Any = type(limited)(compile("f(10_000)", installed.__file__, "eval"), {"f": installed.critical})  # fmt: skip
    with pytest.raises(TooLong):
        limited(call, 1000)


def test_what_other_packages_call_is(installed: Any) -> None:
    with pytest.raises(TooLong):
        limited(lambda: installed.critical(10_000, lambda: _loop(3)), 1000)


def test_tracers_stay() -> None:
    before = sys.gettrace()
    with pytest.raises(TooLong):
        limited(lambda: _loop(10_000), 10)
    assert sys.gettrace() is before


def test_locks_of_the_standard_library_are_released() -> None:
    condition = threading.Condition()

    def call() -> None:
        while True:
            with condition:
                condition.notify_all()

    for steps in range(20, 60):
        with pytest.raises(TooLong):
            limited(call, steps)
        assert condition.acquire(blocking=False)
        condition.release()
