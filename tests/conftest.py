"""Fixtures for all tests: golden files and samples of the function table; and which tests are slow.

A test is slow if it is marked `slow`. Of a test function that is marked `sampled` the first case is in
the default suite and the others are slow; `sampled(8)` keeps every eighth case, beginning with the first.
`pytest --durations 50` shows where the time goes.

Of the slow tests, `.ci/run` runs those that `tests.selection` marks `ci`: at least one case of each test
function, one for each entry of a table, and a part of the rest that changes from day to day. `pytest -m slow`
runs all. `.ci/run` also asks that no test is skipped but for a reason of `tests.selection.EXPECTED`
(`--no-unexpected-skips`).
"""

from __future__ import annotations

import gc
import os
import random
import re
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import flint
import hypothesis
import numpy as np
import pytest

from symdiff.ir import Expr, Op, const, functions, var
from tests import selection

hypothesis.settings.register_profile("symdiff", deadline=None, derandomize=True)
hypothesis.settings.load_profile("symdiff")

GOLDEN = Path(__file__).parent / "golden"
MEASURED = re.compile(r"(\bmean) \S+, worst \S+ ulp")
"""What the mathematical library of a machine decides in generated texts."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write what the tests produce to tests/golden instead of comparing",
    )
    parser.addoption(
        "--update-ir",
        action="store_true",
        help="write what passes make of the programs in tests/passes/text instead of comparing",
    )
    parser.addoption(
        "--no-unexpected-skips",
        action="store_true",
        help="fail where a test is skipped for a reason that tests/selection.py does not expect",
    )


def pytest_configure(config: pytest.Config) -> None:
    _keep_bytecode(config)
    selection.choose_day()
    if config.getoption("--no-unexpected-skips"):
        config.pluginmanager.register(selection.Skips(), "unexpected skips")


def _keep_bytecode(config: pytest.Config) -> None:
    """Where Python is told to leave no bytecode beside the source, it is kept in the cache of pytest: otherwise each
    process that is started, and each later run, compiles all of symdiff and of the tests."""
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", "") and "PYTHONPYCACHEPREFIX" not in os.environ:
        if hasattr(config, "cache"):
            prefix = str(config.cache.mkdir("bytecode"))
        else:
            folder = tempfile.TemporaryDirectory(prefix="symdiff-bytecode-")
            config.add_cleanup(folder.cleanup)
            prefix = folder.name
        os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix = prefix
        sys.dont_write_bytecode = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in selection.not_sampled(items):
        item.add_marker("slow")
    for item in selection.of_ci(items):
        item.add_marker("ci")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What lives as long as the process, tests and modules, the garbage collector does not look through."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.fixture(autouse=True)
def _own_seed(request: pytest.FixtureRequest) -> None:
    """Random numbers are those of the test, whichever ran before it: what draws them in its module starts anew."""
    seed = zlib.crc32(request.node.nodeid.encode())
    random.seed(seed)
    np.random.seed(seed)
    for value in vars(getattr(request, "module", None) or object).values():
        if isinstance(value, random.Random):
            value.seed(seed)
        elif isinstance(value, np.random.Generator):
            value.bit_generator.state = type(value.bit_generator)(seed).state


@pytest.fixture(autouse=True)
def _nothing_kept() -> None:
    """Programs are simplified anew: another test may have planted another stage."""
    if scalar := sys.modules.get("symdiff.pipeline.scalar"):
        scalar.forget()


@pytest.fixture(autouse=True)
def _own_cache(request: pytest.FixtureRequest) -> Iterator[None]:
    """Tests that patch something keep what they compile to themselves: the keys of the cache tell the source of the
    package, and whether passes are replaced, but not what else is."""
    if "monkeypatch" not in request.fixturenames:
        yield
        return
    with (
        tempfile.TemporaryDirectory(prefix="symdiff-cache-", ignore_cleanup_errors=True) as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("SYMDIFF_CACHE_DIR", folder)
        yield


@pytest.fixture(autouse=True)
def _compiled_only(request: pytest.FixtureRequest) -> Iterator[None]:
    """What the compiler refuses stays refused, as tests of refusals ask for: functions are run by values in
    tests/by_value only, or where a test says by_value=True. The default of users is to run them."""
    with pytest.MonkeyPatch.context() as patch:
        if "by_value" not in request.path.parts:
            patch.setattr("symdiff.api.by_values.WHEN_REFUSED", False)
        yield


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """`golden(file name, text)`: the text is that of the file, byte for byte, but for measured errors."""

    def check(name: str, text: str) -> None:
        path, text = GOLDEN / name, MEASURED.sub(r"\1 ..., worst ... ulp", text)
        if request.config.getoption("--update-golden"):
            path.write_text(text, encoding="utf-8", newline="\n")
        assert path.read_bytes() == text.encode(), f"see {path}; --update-golden rewrites it"

    return check


class Sample:
    """One table entry applied to variables, a point in its domain and the true value there."""

    def __init__(self, op: Op) -> None:
        self.op = op
        self.node, names = apply_to_variables(op)
        self.point, self.truth = self._point(len(names))
        self.params = names

    def _point(self, count: int) -> tuple[tuple[float, ...], flint.arb]:
        rng = random.Random(self.op.name)
        for _ in range(100):
            point = tuple(rng.choice((1, -1)) * rng.randint(1, 320) / 128 for _ in range(count))
            balls = [flint.arb(v) for v in point]
            if self.op.name == "polygamma":
                balls = [flint.arb(0), *balls]
            assert self.op.ball is not None
            value = self.op.ball(*balls)
            if value.is_finite():
                return point, value
        raise AssertionError(f"no point in the domain of {self.op.name}")


def apply_to_variables(op: Op) -> tuple[Expr, list[str]]:
    """`op(x, y)`; the order of a polygamma function is 0."""
    names = ["x", "y"][: op.arity]
    if op.name == "polygamma":
        return op(const(0), var("x")), ["x"]
    return op(*(var(n) for n in names)), names


@pytest.fixture(scope="session")
def table_samples() -> list[Sample]:
    """A sample of every entry of the function table that source code has."""
    return [Sample(op) for op in functions.TABLE if op.edges is None]
