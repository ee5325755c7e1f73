"""`symdiff plot`: files that can be opened, the same every time, and plain refusals."""

from __future__ import annotations

import math
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner, Result

from symdiff.cli import plot as module
from symdiff.cli.check.examine import Examiner
from symdiff.cli.commands import main
from symdiff.cli.targets import function

pytest.importorskip("matplotlib")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path


def run(*args: str) -> Result:
    return CliRunner().invoke(main, ("plot", *args), prog_name="symdiff")


@pytest.mark.slow
def test_png() -> None:
    result = run("(x**2-4)/(x-2)", "-o", "q.png")
    assert (result.exit_code, result.stdout) == (0, "q.png: f near x = 2\n")
    data = Path("q.png").read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", data[16:24])
    assert width > 1000
    assert height > 300


@pytest.mark.slow
def test_svg_is_the_same_every_time() -> None:
    for name in ("a.svg", "b.svg"):
        assert run("(exp(x)-1)/x", "-o", name).exit_code == 0
    first, second = (Path(n).read_bytes() for n in ("a.svg", "b.svg"))
    assert first == second
    assert ElementTree.fromstring(first).tag.endswith("svg")
    assert b"dc:date" not in first


@pytest.mark.slow
def test_without_bad_points() -> None:
    result = run("x*x + y", "-o", "s.svg")
    assert result.exit_code == 0
    assert "has no bad points; drawn for x in [-10, 10]" in result.stdout


@pytest.mark.slow
def test_a_chosen_point() -> None:
    result = run("x*exp(y)", "-o", "s.svg", "--at", "y=1.5,x=2")
    assert (result.exit_code, result.stdout) == (0, "s.svg: f near y = 1.5, x = 2\n")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("x", "-o", "a.gif"), "PNG or SVG"),
        (("x", "-o", "a.png", "--at", "z=1"), "'z=1' does not give a parameter"),
        (("x", "-o", "a.png", "--at", "x"), "'x' does not give a parameter"),
        (("x", "-o", "a.png", "--at", "x=one"), "'one' is not a finite number"),
        (("x", "-o", "a.png", "--at", "x=inf"), "'inf' is not a finite number"),
        (("x", "-o", "absent/a.png"), "cannot write"),
        (("absent.py", "-o", "a.png"), "no such file"),
        (("x*y", "-o", "a.png", "--wrt", "x y"), "not the name of a variable"),
    ],
)
def test_refusals(args: tuple[str, ...], message: str) -> None:
    result = run(*args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert not list(Path().glob("*.*"))


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run("x", "-o", "a.png")
    assert result.exit_code == 2
    assert 'pip install "symdiff[plot]"' in result.stderr


def test_what_is_drawn_is_what_is_computed() -> None:
    examiner = Examiner(function("(x**2-4)/(x-2)"))
    row = module._near((2.0,), 0)
    value, slope = module._curves(examiner, row)
    assert slope is not None
    middle = len(row.offsets) // 2
    assert row.offsets[middle] == 0
    assert (value.truth[middle], slope.truth[middle]) == (4, 1)
    assert math.isnan(value.naive[middle])
    assert math.isinf(value.naive_ulps[middle])
    assert np.allclose(value.ours, row.offsets + 4, rtol=1e-15)
    assert (slope.our_ulps < 1e-9).all()
    assert slope.naive_ulps[np.isfinite(slope.naive)].max() > 2**26
