"""The command line on functions with arrays and loops: show, check, plot."""

from __future__ import annotations

import inspect
import json
import math
import re
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from symdiff.api.function import SymbolicFunction
from symdiff.cli.check.command import check
from symdiff.cli.check.findings import Finding
from symdiff.cli.check.formulas import formulas
from symdiff.cli.commands import main
from symdiff.cli.targets import functions
from symdiff.frontend.capture import capture
from symdiff.ir.verify.scalar import faults

FILE = """\
import numpy as np


def energy(x):
    total = 0.0
    for v in x:
        total = total + (np.exp(v) - 1) / v
    return total


def ewma(d):
    e = np.zeros(d.shape[0])
    for row in range(d.shape[0]):
        for col in range(d.shape[1]):
            e[row] = 0.5 * d[row, col] + 0.5 * e[row]
    return np.sum(e)


def guarded(x):
    return np.sum(np.where(x == 0, 1.0, np.tan(x / 2) / x))


def settle(d):
    e = 0.1
    for i in range(len(d)):
        e = (np.sqrt(e * e + 1) - e) * d[i] / (i + 1)
    return e


def sound(x, y):
    return np.sum((x - y) ** 2) + x @ y


def vector(x):
    return x[1:] - x[:-1] ** 2


def length(x):
    return np.sqrt(np.sum(x**2))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "model.py").write_text(FILE)
    yield tmp_path
    sys.modules.pop("model", None)


def run(*args: str) -> Result:
    return CliRunner().invoke(main, args, prog_name="symdiff")


def output(*args: str) -> str:
    result = run(*args)
    assert result.exit_code == 0, result.output
    return result.stdout


# -------------------------------------------------------------------------- show
def test_every_stage_in_the_users_names(folder: Path) -> None:
    text = output("show", "model.py:settle")
    headings = [line[2:] for line in text.splitlines() if line.startswith("# ")]
    assert headings == [
        "capture", "simplify-value", "differentiate", "simplify", "stabilise", "emit",
    ]  # fmt: skip
    assert output("show", "model.py:settle", "--stage", "capture") == (
        "# capture\n"
        "settle(d[d_size])\n"
        "  e = 0.1\n"
        "  for i in range(d_size):\n"
        "      e = (sqrt(e**2 + 1) - e)*d[i]/(i + 1)\n"
        "  [0] = e\n\n"
    )
    assert "push e on e_tape" in output("show", "model.py:settle", "--stage", "simplify")
    one = output("show", "model.py:settle", "--stage", "simplify/slopes", "--ir")
    assert one.startswith("# simplify/slopes\nloop_program name=settle ")
    assert "save tape=e_tape" in one
    emitted = output("show", "model.py:settle", "--stage", "emit").partition("# emit\n")[2]
    compile(emitted, "emitted", "exec")


@pytest.mark.sampled
@pytest.mark.parametrize("name", ["energy", "ewma", "guarded", "sound", "vector"])
def test_stages_and_their_times(folder: Path, name: str) -> None:
    shown = output("show", f"model.py:{name}")
    times = output("show", f"model.py:{name}", "--timings").splitlines()
    assert [line.split()[0] for line in times][-1] == "emit"
    assert all(line.endswith(" ms") for line in times)
    assert shown.count("\n# ") + 1 == len(times)


def test_gradients_are_printed_with_norms_and_their_names(folder: Path) -> None:
    assert output("diff", "model.py:length") == (
        "d/dx[k] = x[k]/norm(x)  for k = 0..x_size - 1  # 0 where norm(x) == 0\n"
    )
    assert output("diff", "model.py:ewma").splitlines()[-1].startswith("d/dd: ")


def test_orders_of_stages(folder: Path) -> None:
    text = output("show", "model.py:energy", "--order", "2", "--timings")
    assert text.count("differentiate") == 2
    for name, order in (("vector", "2"), ("energy", "3")):
        assert run("show", f"model.py:{name}", "--order", order).exit_code == 2
    unknown = run("show", "model.py:energy", "--stage", "expand")
    assert unknown.exit_code == 2
    assert "hint: the stages are capture, simplify-value, " in unknown.output


# ------------------------------------------------------------------------- check
def findings(name: str) -> list[dict]:
    result = run("check", f"model.py:{name}", "--format", "json")
    (found,) = json.loads(result.stdout)["functions"]
    assert result.exit_code == (1 if found["findings"] else 0)
    return found["findings"]


@pytest.mark.slow
def test_elements_are_examined_together(folder: Path) -> None:
    found = findings("energy")
    assert {f["line"] for f in found} == {7}
    assert {f["variable"] for f in found} == {"x[0]", "x[1]"}
    at_zero = {f["output"]: f for f in found if f["at"]["x[0]"] == 0 and f["low"] == 0}
    slope = at_zero["denergy/dx[0]"]
    assert slope["right"] == pytest.approx(0.5, abs=1e-15)
    rest = [slope["at"][n] for n in ("x[1]", "x[2]")]
    value = 1 + sum(math.expm1(x) / x for x in rest)
    assert at_zero["energy"]["right"] == pytest.approx(value, rel=1e-14)


@pytest.mark.slow
def test_a_guard_around_elements_is_examined(folder: Path) -> None:
    wrong = [f for f in findings("guarded") if f["kind"] == "wrong guard"]
    assert {(f["line"], f["naive"], f["right"]) for f in wrong} == {(20, 1.0, 0.5)}


@pytest.mark.slow
def test_what_a_loop_carries_loses_digits(folder: Path) -> None:
    found = findings("settle")
    assert {f["line"] for f in found} == {26}
    assert {f["kind"] for f in found} == {"digits lost"}


REDUCTIONS = """\
import numpy as np


def square_less_square(x):
    return np.mean(x**2) - np.mean(x) ** 2


def in_a_loop(x):
    s = q = 0.0
    for v in x:
        s += v
        q += v * v
    return q / len(x) - (s / len(x)) ** 2


def two_passes(x):
    return np.mean((x - np.mean(x)) ** 2)


def unit(v):
    return v / np.linalg.norm(v)


def rooted(v):
    return v / np.sqrt(v @ v)


def share(v):
    return v / np.sum(v)


def logarithm(v):
    return np.log(np.sum(v))


def standard(x):
    return (x - np.mean(x)) / np.std(x)


def bounded(v):
    assert v @ v > 0.5
    return v / np.sqrt(v @ v)


def elementwise(v):
    return 1 / v + np.log(v)


def softmax(v):
    e = np.exp(v - np.max(v))
    return e / np.sum(e)


def until(x):
    total = 2.0
    while total > 1.0:
        total = (np.exp(total) - 1) / total / len(x)
    return total
"""


def reductions(folder: Path, name: str) -> list[Finding]:
    (folder / "reductions.py").write_text(REDUCTIONS)
    (found,) = functions(f"reductions.py:{name}")
    assert isinstance(found, SymbolicFunction)
    return check(found).findings


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("name", "line"), [("square_less_square", 5), ("in_a_loop", 13)])
def test_a_variance_that_cancels(folder: Path, name: str, line: int) -> None:
    lost = [f for f in reductions(folder, name) if f.output == name]
    assert {(f.kind, f.location.line) for f in lost if f.location} == {("digits lost", line)}
    (found,) = lost[:1]
    x = [Fraction(value) for value in found.at.values()]
    mean = sum(x) / len(x)
    assert found.right == pytest.approx(float(sum((v - mean) ** 2 for v in x) / len(x)), rel=1e-14)
    assert abs(found.got - found.right) > 2**-26 * found.right


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("name", "line"),
    [("unit", 21), ("rooted", 25), ("share", 29), ("logarithm", 33), ("standard", 37)],
)
def test_arrays_at_which_there_is_no_value(folder: Path, name: str, line: int) -> None:
    found = [f for f in reductions(folder, name) if f.kind == "undefined"]
    assert {f.location.line for f in found if f.location} == {line}
    assert not any(math.isfinite(f.got) for f in found)
    assert any(set(f.at.values()) == {0.0} for f in found)
    assert f"{name}: " in str(found[0]) and " = [" in str(found[0])


@pytest.mark.sampled
@pytest.mark.parametrize("name", ["two_passes", "bounded", "elementwise", "softmax"])
def test_sound_reductions(folder: Path, name: str) -> None:
    assert [str(f) for f in reductions(folder, name)] == []


def test_names_are_those_of_the_source(folder: Path) -> None:
    found = reductions(folder, "until")
    assert {f.location.line for f in found if f.location} == {57}
    assert {n for f in found for n in f.at} == {"total", "len(x)"}


@pytest.mark.slow
def test_sound_functions_with_arrays(folder: Path) -> None:
    for name in ("sound", "ewma", "vector"):
        assert run("check", f"model.py:{name}").output == "no findings in 1 function\n"


@pytest.mark.slow
def test_only_elements_of_some_parameters(folder: Path) -> None:
    assert run("check", "model.py:energy", "--wrt", "x").exit_code == 1
    assert run("check", "model.py:energy", "--wrt", "y").exit_code == 2


def test_formulas_are_programs_of_numbers() -> None:
    def f(x, w, k):
        total = 0.0
        for i in range(len(x)):
            if i > 2:
                total += w[k[i]] * np.log(1 + x[i] ** i)
            else:
                total += np.sqrt(x[i]) / (i + 1)
        return total

    program = capture(f, {}, {"x": (1, "f"), "w": (1, "f"), "k": (1, "i")})
    found = formulas(program)
    assert len(found) == 2
    for formula in found:
        assert faults(formula.program) == []
        assert set(formula.wrt).isdisjoint(formula.whole)
        assert set(formula.names) == set(formula.program.params)
    names = sorted(n for f in found for n in f.names.values())
    assert names == ["i", "i + 1", "w[k[i]]", "x[i]", "x[i]"]
    assert [f.wrt for f in formulas(program, ["w"])] == [("w_k_i",)]


# -------------------------------------------------------------------------- plot
def test_there_is_no_picture(folder: Path) -> None:
    result = run("plot", "model.py:energy", "-o", "energy.png")
    assert result.exit_code == 2
    assert "energy has arrays or loops, of which there is no picture" in result.output


# ---------------------------------------------------------------- what is printed, run
PRINTED = """\
import numpy as np


def springs(pos, k):
    total = 0.0
    for i in range(pos.shape[0] - 1):
        total += k * (pos[i + 1] - pos[i]) ** 2
    return total


def pairs(pos):
    total = 0.0
    for i in range(pos.shape[0]):
        for j in range(i):
            total += np.sin(pos[i] - pos[j]) * pos[i]
    return total


def smoothed(d, a):
    e = 0.0
    for i in range(d.shape[0]):
        e = a * d[i] ** 2 + (1 - a) * e * e
    return e


def network(w, u, x):
    h = 0.0
    for t in range(x.shape[0]):
        h = np.tanh(w * h + u * x[t])
    return h
"""


def evaluated(lines: list[str], names: dict[str, object]) -> dict[str, object]:
    """The lines of a printed gradient as Python, and the values that it names."""
    source = list[str]()
    for line in lines:
        line = re.sub(r"push (\w+) on (\w+)", r"\2.append(\1)", line)
        line = re.sub(r"pop (\w+) from (\w+)", r"\1 = \2.pop()", line)
        line = re.sub(
            r"^(\w+)\[\w+\] = (.*)  for (\w+) = 0\.\.(.*)$",
            r"\1 = np.array([float(\2) for \3 in range(\4 + 1)])",
            line,
        )
        line = re.sub(r"^d/d(\w+): (.*)$", r"found['\1'] = \2", line)
        source.append(line)
    space: dict[str, object] = {n: getattr(np, n) for n in ("sin", "cos", "tanh", "cosh")}
    space |= {"np": np, "found": {}} | {f"{n}_tape": [] for n in "eh"} | names
    exec("\n".join(source), space)
    return space["found"]  # type: ignore[return-value]


@pytest.mark.parametrize("name", ["springs", "pairs", "smoothed", "network"])
def test_printed_gradients_of_loops_are_what_they_say(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "printed_loops.py").write_text(PRINTED)
    monkeypatch.chdir(tmp_path)
    lines = CliRunner().invoke(main, ["diff", f"printed_loops.py:{name}"]).stdout.splitlines()
    assert not any(re.fullmatch(r" *\w+ = [a-z]\w*", line) for line in lines), lines
    space: dict[str, object] = {}
    exec(PRINTED, space)
    plain = space[name]
    rng = np.random.default_rng(3)
    values = {
        n: rng.uniform(0.3, 0.9, 5) if n in ("pos", "d", "x") else float(rng.uniform(0.3, 0.9))
        for n in inspect.signature(plain).parameters  # type: ignore[arg-type]
    }
    sizes = {f"{n}_size": len(v) for n, v in values.items() if isinstance(v, np.ndarray)}
    found = evaluated(lines, {**values, **sizes})
    assert set(found) == set(values)
    for n, v in values.items():
        for i in np.ndindex(np.shape(v)):
            sides = []
            for step in (1e-6, -1e-6):
                moved = np.array(v)
                moved[i] += step
                sides.append(plain(**{**values, n: moved if i else float(moved)}))  # type: ignore[operator]
            assert np.asarray(found[n])[i] == pytest.approx((sides[0] - sides[1]) / 2e-6, rel=1e-6)
