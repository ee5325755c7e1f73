"""Fixtures for all tests: golden files and samples of the function table."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import flint
import hypothesis
import pytest

from symdiff.ir import Expr, Op, const, functions, var

hypothesis.settings.register_profile("symdiff", deadline=None, derandomize=True)
hypothesis.settings.load_profile("symdiff")

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write what the tests produce to tests/golden instead of comparing",
    )


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """`golden(file name, text)`: the text is that of the file, byte for byte."""

    def check(name: str, text: str) -> None:
        path = GOLDEN / name
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
    """A sample of every entry of the function table."""
    return [Sample(op) for op in functions.TABLE]
