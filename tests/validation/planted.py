"""Forty faults in passes, tables, loops, kernels and validation: do the tests of every day, or validation, find them?

`python -m tests.validation.planted` plants each in a copy of the package, where it runs the test files that are named for
it, without the slow tests, and the probes of `mutants`. With a number, only so many are tried, taken evenly; with a
part of a name, those. A fault of validation itself is for tests to find: what it misses then was not wrong.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.validation import loop_mutants, mutants

ROOT = Path(__file__).parents[2]
SECONDS = 300
"""That the tests of a fault, and the probes, may take each."""
CANCEL = "tests/passes/cancel/test_cancel.py tests/passes/simplify/test_simplify.py"
TESTS = {
    "differentiate": "tests/passes/test_differentiate.py",
    "cancel": CANCEL,
    "exponentials": "tests/passes/cancel/test_shared_exponential.py " + CANCEL,
    "signs": "tests/passes/cancel/test_signsquares.py",
    "series": "tests/series tests/passes/complete/test_complete.py",
    "complete": "tests/passes/complete/test_complete.py tests/passes/complete/test_surfaces.py",
    "bands": "tests/passes/complete/test_complete.py",
    "compensation": "tests/passes/accuracy/test_compensate.py tests/passes/accuracy/test_cancelling_sums.py",
    "lowering": "tests/lowering/test_reciprocals.py tests/codegen/llvm/test_llvm_functions.py",
}
"""The tests of what the kinds of `mutants` change."""
FUNCTIONS = "tests/ir/test_functions.py"
VALIDATION = "tests/validation/test_validation.py tests/validation/test_firstcall.py"


@dataclass(frozen=True)
class Planted:
    """`old` in the text of a module becomes `new`; the test files that are asked."""

    kind: str
    where: str
    old: str
    new: str
    tests: str

    @property
    def name(self) -> str:
        return f"{self.where}: {self.old.strip()} -> {self.new.strip()}"

    @property
    def path(self) -> str:
        return f"symdiff/{self.where.replace('.', '/')}.py"


OWN = (
    ("tables", "ir.functions.bessel", "return math.inf if v % 2 else -math.inf", "return -math.inf if v % 2 else math.inf", FUNCTIONS + " tests/points/test_infinite_special.py"),
    ("tables", "ir.functions.normal", "(neg(mul(div(const(2), sqrt(PI())), EXP(neg(power(x, 2))))),), steepest=2", "(neg(mul(div(const(2), sqrt(PI())), EXP(neg(power(x, 3))))),), steepest=2", FUNCTIONS),
    ("tables", "ir.functions.gamma", "(mul(GAMMA(x), POLYGAMMA(ZERO, x)),)", "(mul(GAMMA(x), POLYGAMMA(ONE, x)),)", FUNCTIONS),
    ("tables", "ir.functions.exponential", "(div(ONE, mul(x, LN10())),)", "(div(ONE, mul(x, LN2())),)", FUNCTIONS),
    ("tables", "ir.functions.hyperbolic", "(div(ONE, mul(ONE - x, ONE + x)),)", "(div(ONE, mul(ONE + x, ONE + x)),)", FUNCTIONS),
    ("tables", "ir.functions.roots_and_norms", "(UNIT(x, HYPOT(x, y)), UNIT(y, HYPOT(x, y)))", "(UNIT(x, HYPOT(x, y)), neg(UNIT(y, HYPOT(x, y))))", FUNCTIONS),
    ("tables", "lowering.compensated.functions", "exponentials.log_to(f.LN10)", "exponentials.log_to(None)", "tests/lowering/test_corrections.py"),
    ("kernels", "codegen.llvm.linear", "fsub {of} {p.load('%y', k, of)}, {product}", "fadd {of} {p.load('%y', k, of)}, {product}", "tests/codegen/llvm/test_linear.py"),
    ("kernels", "codegen.llvm.linear", 'return p.real_op("fsub", left, right)', 'return p.real_op("fadd", left, right)', "tests/codegen/llvm/test_linear.py"),
    ("kernels", "codegen.llvm.sincos", 'high = p.real("fsub", rest, off)', 'high = p.real("fadd", rest, off)', "tests/codegen/llvm/test_sincos.py"),
    ("kernels", "codegen.llvm.printer", "0x43380000000003FF", "0x4338000000000400", "tests/codegen/llvm/test_llvm_functions.py tests/codegen/llvm/test_llvm_text.py"),
    ("kernels", "runtime.loops.recomputed", "_kept(filled(v, p), p, ulps)", "_kept(p, p, ulps)", "tests/passes/accuracy/test_lost_digits.py"),
    ("validation", "pipeline.validation.chain", "return slopes[0] - slopes[1]", "return slopes[0] + slopes[1]", VALIDATION),
    ("validation", "pipeline.validation.stages", "wrong = None if oracle is None else rule_fault(oracle)", "wrong = None", VALIDATION),
    ("validation", "pipeline.validation.machine", "return found[0] if found else None", "return None", VALIDATION),
    ("validation", "pipeline.validation.differences", "return bool(abs(truth - slope) >", "return bool(0 * abs(truth - slope) >", VALIDATION),
    ("loops", "loops.simplify.scaled_sums", "power(s, HALF) * unit", "power(s, HALF) / unit", "tests/loops/simplify/test_scaled_norms.py"),
)  # fmt: skip


def planted() -> list[Planted]:
    """All of them."""
    return [*_own(), *_of_mutants(13), *_of_loops(8)]


def _own() -> Iterator[Planted]:
    for row in OWN:
        yield Planted(*row)


def _of_mutants(count: int) -> list[Planted]:
    edits = [m for m in mutants.mutants() if m.old and m.kind in TESTS]
    return [Planted(m.kind, m.where, m.old, m.new, TESTS[m.kind]) for m in _evenly(edits, count)]


def _of_loops(count: int) -> list[Planted]:
    return [Planted("loops", *row) for row in _evenly(loop_mutants.EDITS, count)]


def _evenly(found: Sequence[Any], count: int) -> list[Any]:
    return [found[k * len(found) // count] for k in range(count)]


def tried(p: Planted) -> tuple[bool, str]:
    """Whether the tests of every day fail, and what validation says; "" where it says nothing."""
    with tempfile.TemporaryDirectory(prefix="symdiff-planted-") as folder:
        root = Path(folder)
        for name in ("symdiff", "tests"):
            shutil.copytree(ROOT / name, root / name)
        for name in [
            "pyproject.toml",
            "README.md",
            "CHANGELOG.md",
            "docs",
            "examples",
            "benchmarks",
        ]:
            (root / name).symlink_to(ROOT / name)
        changed = root / p.path
        text = changed.read_text(encoding="utf-8")
        assert p.old in text, f"{p.name}: not there any more"
        changed.unlink()
        changed.write_text(text.replace(p.old, p.new, 1), encoding="utf-8")
        pytest = ["-m", "pytest", "-q", "-x", "-m", "not slow", "-p", "no:cacheprovider"]
        by_tests = _ran(root, [*pytest, *p.tests.split()])
        kind = "loops" if p.kind == "loops" else "planted"
        probes = f"from tests.validation.mutants import *; print('found', caught_by(Mutant({kind!r}, '')))"
        by_validation = _ran(root, ["-c", probes])
    failed = by_tests is None or by_tests.returncode == 1
    if by_validation is None:
        return failed, "it waits for ever"
    said = by_validation.stdout.rpartition("found")[2].strip()
    return failed, said if by_validation.returncode == 0 else "a crash"


def _ran(root: Path, command: list[str]) -> subprocess.CompletedProcess[str] | None:
    own = {**os.environ, "PYTHONPATH": str(root), "SYMDIFF_CACHE_DIR": str(root / "cache")}
    try:
        return subprocess.run(
            [sys.executable, *command], cwd=root, env=own, timeout=SECONDS, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None


def main(only: str = "") -> int:
    found = planted()
    if only.isdecimal():
        found = _evenly(found, min(int(only), len(found)))
    else:
        found = [p for p in found if only in p.name or only == p.kind]
    by_tests = by_validation = either = 0
    for p in found:
        failed, said = tried(p)
        by_tests, by_validation = by_tests + failed, by_validation + bool(said)
        either += failed or bool(said)
        print(f"{p.kind:14} {'tests' if failed else '-':6} {said or '-':32} {p.name}", flush=True)
    print(f"of {len(found)}: tests {by_tests}, validation {by_validation}, either {either}")
    return len(found) - either


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
