"""Which faults do the tests find? Small changes of the source, one at a time, against them.

    python benchmarks/mutation.py --under passes loops --count 40 --seed 1

With a record of which tests run which lines (of coverage.py, which must be there for it), only tests that
run the changed line are asked, those first that run least:

    python -m pytest -m "not slow" --cov=symdiff --cov-context=test --cov-report=
    python benchmarks/mutation.py --under passes loops --count 40 --covered .coverage

How much of passes their own tests find, those of `benchmarks/own_tests.py`:

    python benchmarks/mutation.py --under passes loops/simplify --count 50 --seed 1 --own

Each mutant is the package with one change: another comparison or sign, a constant that is one
larger, `and` for `or`, a condition without its `not`, an `if` that takes its other side. It is
killed if a default test fails, or if the tests take `--limit` seconds. Those that survive
are printed with their line: code that no test pins, or a change that makes no difference.
Not changed are numbers of a module, such as budgets, and texts.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from own_tests import commands

ROOT = Path(__file__).parents[1]
TESTS = ("tests/passes", "tests/interpret", "tests/law/test_corpus.py", "tests/points/test_singular_points.py",
         "tests/points/test_removable.py", "tests/points/test_wrong_numbers.py", "tests/validation", "tests/api")  # fmt: skip

_COMPARISONS = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
_OPERATORS = {ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.Div: "*"}


@dataclass(frozen=True)
class Mutant:
    """A change of one piece of one line.

    Attributes
    ----------
    path : the file, below the package.
    line, start, end : where the piece is; columns in characters.
    text : what stands there instead.
    """

    path: Path
    line: int
    start: int
    end: int
    text: str

    def applied(self, source: str) -> str:
        """The text of the file with the change."""
        lines = source.splitlines(keepends=True)
        old = lines[self.line - 1]
        lines[self.line - 1] = old[: self.start] + self.text + old[self.end :]
        return "".join(lines)

    def shown(self, source: str) -> str:
        """The place, and what becomes what."""
        line = source.splitlines()[self.line - 1]
        return f"{self.path}:{self.line}: {line[self.start : self.end]!r} -> {self.text!r} in {line.strip()}"


def mutants(path: Path, source: str) -> Iterator[Mutant]:
    """All changes of a file, in its functions only."""
    lines = source.splitlines()

    def piece(node: ast.expr, text: str) -> Iterator[Mutant]:
        if node.lineno == node.end_lineno and lines[node.lineno - 1].isascii():
            assert node.end_col_offset is not None
            yield Mutant(path, node.lineno, node.col_offset, node.end_col_offset, text)

    def written(node: ast.expr) -> str:
        return ast.get_source_segment(source, node) or ""

    functions = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef)]
    inside = {id(n): n for f in functions for s in f.body for n in ast.walk(s)}
    for node in inside.values():
        match node:
            case ast.Compare(left, [op], [right]) if type(op) in _COMPARISONS:
                yield from piece(node, f"{written(left)} {_COMPARISONS[type(op)]} {written(right)}")
            case ast.BinOp(left, op, right) if type(op) in _OPERATORS:
                yield from piece(
                    node, f"({written(left)}) {_OPERATORS[type(op)]} ({written(right)})"
                )
            case ast.BoolOp(op, [left, right]):
                word = "or" if isinstance(op, ast.And) else "and"
                yield from piece(node, f"(({written(left)}) {word} ({written(right)}))")
            case ast.UnaryOp(ast.Not(), operand):
                yield from piece(node, f"({written(operand)})")
            case ast.IfExp(test, body, other):
                yield from piece(
                    node, f"({written(other)} if {written(test)} else {written(body)})"
                )
            case ast.Constant(bool(value)):
                yield from piece(node, str(not value))
            case ast.Constant(int(value)):
                yield from piece(node, str(value + 1))


class Covered:
    """Which tests run which lines, from a record of coverage.py with a context for each test."""

    def __init__(self, record: Path) -> None:
        from coverage import CoverageData

        self.data = CoverageData(str(record))
        self.data.read()
        self.size: Counter[str] = Counter()
        with sqlite3.connect(record) as rows:
            joined = "line_bits join context on context.id = line_bits.context_id"
            for name, bits in rows.execute(f"select context, numbits from {joined}"):
                self.size[name.rpartition("|")[0]] += int.from_bytes(bits, "little").bit_count()

    def lines(self, path: Path) -> dict[int, list[str]]:
        """By the lines of a file, the contexts that ran them."""
        for name in self.data.measured_files():
            if name.endswith(f"/{path.as_posix()}"):
                return self.data.contexts_by_lineno(name)
        return {}

    def of(self, mutant: Mutant, most: int) -> list[str]:
        """The tests that run the changed line; those first that run the fewest lines in all."""
        lines = self.lines(mutant.path)
        tree = ast.parse((ROOT / mutant.path).read_text(encoding="utf-8"))
        around = [
            n.lineno for n in ast.walk(tree)
            if isinstance(n, ast.stmt) and n.lineno <= mutant.line <= (n.end_lineno or n.lineno)
        ]  # fmt: skip
        contexts = lines.get(mutant.line) or lines.get(max(around), [])
        found = {c.rpartition("|")[0] for c in contexts if c}
        return sorted(found, key=lambda t: (self.size[t], t))[:most]


def killed(mutant: Mutant, work: Path, tests: list[str], limit: float) -> str:
    """The test that fails with the change, "time" if they do not end, "" if none fails."""
    target = work / mutant.path
    source = target.read_text(encoding="utf-8")
    target.write_text(mutant.applied(source), encoding="utf-8")
    environment = os.environ | {
        "PYTHONPATH": str(work), "SYMDIFF_CACHE_DIR": str(work / "cache"), "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-m",
        "not slow",
        "-p",
        "no:cacheprovider",
    ]
    try:
        done = subprocess.run(
            [*command, *tests], cwd=work, env=environment, timeout=limit,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "time"
    finally:
        target.write_text(source, encoding="utf-8")
        shutil.rmtree(work / "cache", ignore_errors=True)
    if done.returncode == 0:
        return ""
    failed = [s for s in done.stdout.splitlines() if s.startswith(("FAILED", "ERROR"))]
    return failed[0].partition(" - ")[0] if failed else "collection"


def asked_for(
    mutant: Mutant, options: argparse.Namespace, covered: Covered | None
) -> list[list[str]]:
    """What pytest is asked about a mutant, one after the other until a test fails."""
    if options.own:
        return commands(mutant.path)
    tests = options.tests if covered is None else covered.of(mutant, options.most)
    return [tests] if tests else []


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--under", nargs="+", default=["passes"], help="folders or files below symdiff/"
    )
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--limit", type=float, default=900.0, help="seconds for the tests of one mutant"
    )
    parser.add_argument("--covered", type=Path, help="a record of which tests run which lines")
    parser.add_argument("--most", type=int, default=40, help="with it: tests for one mutant")
    parser.add_argument("--tests", nargs="+", default=list(TESTS), help="without it")
    parser.add_argument("--own", action="store_true", help="only the tests of the changed pass")
    parser.add_argument("--numbers", help="only these of the sample: 3,7,12")
    options = parser.parse_args()
    covered = None if options.covered is None else Covered(options.covered)
    bases = [ROOT / "symdiff" / u for u in options.under]
    files = sorted(f for b in bases for f in (b.rglob("*.py") if b.is_dir() else [b]))
    found = [m for f in files for m in mutants(f.relative_to(ROOT), f.read_text(encoding="utf-8"))]
    chosen = random.Random(options.seed).sample(found, min(options.count, len(found)))
    asked = list(enumerate(chosen, 1))
    if options.numbers:
        wanted = {int(n) for n in options.numbers.split(",")}
        asked = [(k, m) for k, m in asked if k in wanted]
    alive = 0
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        for name in ("symdiff", "tests", "examples", "benchmarks", "docs"):
            shutil.copytree(ROOT / name, work / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("pyproject.toml", "README.md", "CHANGELOG.md"):
            shutil.copy(ROOT / name, work)
        for k, mutant in asked:
            asked_of = asked_for(mutant, options, covered)
            runs = (killed(mutant, work, t, options.limit) for t in asked_of)
            by = next((found for found in runs if found), "")
            alive += not by
            shown = mutant.shown((work / mutant.path).read_text(encoding="utf-8"))
            how = "killed" if by else "survives" if asked_of else "no test runs"
            print(f"{k}/{len(chosen)} {how} {shown}  {by}", flush=True)
    print(f"{len(asked) - alive} of {len(asked)} killed, of {len(found)} possible")


if __name__ == "__main__":
    main()
