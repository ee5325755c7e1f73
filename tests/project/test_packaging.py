"""What is published: the wheel and the source archive, licences, versions, the oldest packages."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import click.testing
import pytest

import symdiff
from symdiff.cli.commands import main

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TOOLS = {"test", "docs", "dev"}
"""Extras that users have no need of."""


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[<>=!~ ]", r)[0] for r in requirements}


def test_licences_of_all_dependencies_are_listed() -> None:
    page = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| ([\w-]+) \|", page, flags=re.M)) - {"package"}
    extras = PROJECT["optional-dependencies"]
    used = names(PROJECT["dependencies"]).union(
        *(names(v) for k, v in extras.items() if k not in TOOLS)
    )
    assert listed == used


def test_every_dependency_has_a_lower_bound() -> None:
    for requirement in PROJECT["dependencies"]:
        assert re.fullmatch(r"[\w-]+>=[\d.]+", requirement), requirement


def test_the_oldest_packages_are_those_that_are_tested() -> None:
    """`.ci/bounds` prints the lower bounds, which `.ci/oldest` and `.ci/run` install."""
    bounds = [sys.executable, str(ROOT / ".ci" / "bounds")]
    printed = subprocess.run(bounds, capture_output=True, text=True, check=True).stdout
    assert printed.split() == [r.replace(">=", "==") for r in PROJECT["dependencies"]]
    for name in ("oldest", "run"):
        assert ".ci/bounds" in (ROOT / ".ci" / name).read_text(encoding="utf-8")


def test_versions_of_python_are_classified() -> None:
    classified = [
        c.rpartition(" ")[2] for c in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", c)
    ]
    assert classified[0] == PROJECT["requires-python"].removeprefix(">=")
    assert classified == sorted(classified, key=lambda v: int(v.split(".")[1]))


def test_the_version_is_printed() -> None:
    printed = click.testing.CliRunner().invoke(main, ["--version"]).output
    assert printed.strip() == f"symdiff, version {symdiff.__version__}"


@pytest.mark.sampled
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands(shell: str) -> None:
    runner = click.testing.CliRunner()
    script = runner.invoke(main, ["completion", shell]).output
    assert f"_SYMDIFF_COMPLETE={shell}_complete" in script
    asked = {
        "_SYMDIFF_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": "symdiff ch",
        "COMP_CWORD": "1" if shell != "fish" else "ch",
    }
    code = "from symdiff.cli.commands import main; main(prog_name='symdiff')"
    found = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **asked},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "check" in found.stdout and "compile" not in found.stdout


def test_text_of_users_is_not_evaluated() -> None:
    """As SECURITY.md says."""
    result = click.testing.CliRunner().invoke(main, ["diff", "__import__('os')"])
    assert result.exit_code == 2 and "Traceback" not in result.output


@pytest.mark.slow
def test_the_wheel_and_the_source_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hatchling = pytest.importorskip("hatchling.build")
    monkeypatch.chdir(ROOT)
    wheel = zipfile.ZipFile(tmp_path / hatchling.build_wheel(str(tmp_path)))
    held = set(wheel.namelist())
    package = {str(p.relative_to(ROOT)) for p in (ROOT / "symdiff").rglob("*.py")}
    assert package <= held
    assert {"symdiff/py.typed", "symdiff/export/page/report.html"} <= held
    assert all(n.startswith(("symdiff/", "symdiff-")) for n in held)
    text = wheel.read(next(n for n in held if n.endswith("/METADATA"))).decode()
    assert f"Version: {symdiff.__version__}\n" in text and "License-Expression: MIT" in text
    archive = tarfile.open(tmp_path / hatchling.build_sdist(str(tmp_path)))
    top = {n.split("/")[1] for n in archive.getnames() if n.count("/")}
    assert {
        "symdiff",
        "tests",
        "docs",
        "LICENSE",
        "README.md",
        "SECURITY.md",
        "pyproject.toml",
    } <= top
