"""`symdiff check`: planted faults are found where they are, sound functions are not blamed.

What is right comes from closed forms.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from symdiff import Array, symgrad
from symdiff.cli.check.command import Checked, check
from symdiff.cli.check.examine import Examiner
from symdiff.cli.check.findings import DECIDED, DIGITS_LOST, NOT_FINITE, WRONG_GUARD, Finding
from symdiff.cli.commands import main
from symdiff.cli.targets import function
from symdiff.diagnostics.naive import Naive

FILE = '''\
"""Functions with planted faults."""
import math
import numpy as np


def quotient(x):
    return (x**2 - 4) / (x - 2)


def versine(x):
    a = 1 - math.cos(x)
    b = x**2
    return a / b


def sound(x):
    return math.tanh(x) * math.exp(-x * x) + math.hypot(1, x)


def nothing(x):
    return [c for c in str(x)]


def _private(x):
    return (math.exp(x) - 1) / x
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "planted.py").write_text(FILE)
    yield tmp_path
    for name in ("planted", "empty", "sound_only", "symdiff_target"):
        sys.modules.pop(name, None)


def run(*args: str) -> Result:
    return CliRunner().invoke(main, ("check", *args), prog_name="symdiff")


def at(result: Checked, output: str, kind: str, x: float, variable: str = "x") -> Finding:
    """The finding for an output that covers a value of a variable."""
    wanted = (output, kind, variable)
    found = [
        f
        for f in result.findings
        if (f.output, f.kind, f.variable) == wanted and f.low <= x <= f.high
    ]
    assert len(found) == 1, [str(f) for f in result.findings]
    return found[0]


# --------------------------------------------------------------------- findings
def test_quotient() -> None:
    result = check(function("(x**2-4)/(x-2)"), extreme=True)
    point = at(result, "f", NOT_FINITE, 2.0)
    assert (point.low, point.high, point.right, point.symdiff) == (2, 2, 4, 4)
    assert math.isnan(point.got)
    slope = at(result, "df/dx", NOT_FINITE, 2.0)
    assert (slope.right, slope.symdiff) == (1, 1)
    lost = at(result, "df/dx", DIGITS_LOST, 2 + 1e-7)
    assert 1e-6 < lost.high - 2 < 1e-3
    assert 1e-6 < 2 - lost.low < 1e-3
    assert lost.right == lost.symdiff == 1
    overflow = at(result, "f", NOT_FINITE, 1e200)
    assert overflow.low == pytest.approx(math.sqrt(sys.float_info.max), rel=0.01)
    assert overflow.high == sys.float_info.max


def test_expm1_written_out() -> None:
    def f(x):  # type: ignore[no-untyped-def]
        return (math.exp(x) - 1) / x

    result = check(symgrad(f))
    assert at(result, "f", NOT_FINITE, 0.0).right == 1
    assert at(result, "df/dx", NOT_FINITE, 0.0).right == 0.5
    lost = at(result, "df/dx", DIGITS_LOST, 1e-5)
    x = lost.at["x"]
    assert lost.right == pytest.approx(0.5 + x / 3, rel=1e-12, abs=abs(x * x))
    assert lost.symdiff == pytest.approx(lost.right, rel=1e-15)


@pytest.mark.slow
def test_log_sum_exp_overflows() -> None:
    result = check(function("log(exp(a) + exp(b))"))
    found = at(result, "f", NOT_FINITE, 800.0, "a")
    assert found.low == pytest.approx(709.78, abs=1)
    assert found.right == pytest.approx(found.at["a"])
    slope = at(result, "df/da", NOT_FINITE, 800.0, "a")
    assert slope.right == 1


@pytest.mark.slow
def test_hypot_written_out() -> None:
    result = check(function("sqrt(x*x + y*y)"), extreme=True)
    origin = at(result, "df/dx", NOT_FINITE, 0.0)
    assert (origin.at["x"], origin.at["y"], origin.right) == (0, 0, 0)
    big = [f for f in result.findings if f.output == "f" and f.kind == NOT_FINITE]
    assert {f.variable for f in big} == {"x", "y"}
    assert all(f.low == pytest.approx(1.34e154, rel=0.01) for f in big)
    assert all(f.right == f.symdiff == f.at[f.variable] for f in big)


@pytest.mark.slow
def test_black_scholes_at_expiry() -> None:
    def price(S, T, K=100.0, sigma=0.2):  # type: ignore[no-untyped-def]
        d1 = (math.log(S / K) + sigma**2 / 2 * T) / (sigma * math.sqrt(T))
        d2 = d1 - sigma * math.sqrt(T)
        return S * (1 + math.erf(d1 / math.sqrt(2))) / 2 - K * (1 + math.erf(d2 / math.sqrt(2))) / 2

    result = check(symgrad(price), ["S", "T"], seconds=20)
    delta = at(result, "dprice/dS", NOT_FINITE, 0.0, "T")
    at_expiry = [f for f in result.findings if f.at["T"] == 0 and f.at["K"] == 100]
    assert {f.output for f in at_expiry} >= {"dprice/dS", "dprice/dT"}
    for f in at_expiry:
        assert f.right == (1 if f.output == "dprice/dS" and f.at["S"] > 100 else 0)
    assert delta.location is not None
    assert delta.location.text.strip().startswith("d1 =")


@pytest.mark.slow
def test_difference_of_roots_at_large_arguments() -> None:
    result = check(function("sqrt(x+1) - sqrt(x)"), extreme=True)
    lost = at(result, "f", DIGITS_LOST, 1e12)
    assert 1e6 < lost.low < 1e10
    x = lost.at["x"]
    assert lost.right == pytest.approx(0.5 / math.sqrt(x), rel=1e-6)


@pytest.mark.slow
def test_all_only_adds_findings() -> None:
    """A range that reaches extreme numbers keeps its level, as found among ordinary ones."""

    def total(angle):  # type: ignore[no-untyped-def]
        s = 0.0
        for a in angle:
            s = s + (1 - np.cos(a)) / a**2
        return s

    some, every = check(total).findings, check(total, everything=True).findings
    assert {f.level for f in some} == {"error", "warning"}
    shown = {f.said() for f in every}
    assert {f.said() for f in some} <= shown


@pytest.mark.sampled
@pytest.mark.parametrize(
    "text",
    [
        "sin(x) * exp(-x*x) + 3",
        "x**3 - 2*x + 1",
        "expm1(x) * log1p(abs(x))",
        "sin(3*x) * cos(x)",
        "1/(1 + x*x)",
        "hypot(x, y) + atan2(y, x + 3)",
        "sinh(x)/cosh(1)",
        "abs(x)*y",
        "sqrt(x)",
        "1/x",
        "tan(x)",
        "erf(x)*x + max(x, 1)",
    ],
)
def test_sound_functions_have_no_findings(text: str) -> None:
    result = check(function(text))
    assert [str(f) for f in result.findings] == []
    assert result.complete


def test_all_lists_what_conditioning_excuses() -> None:
    """x**2 - 2 has few right digits beside its root, which no other formula changes much."""
    root = math.sqrt(2)
    assert check(function("x**2 - 2")).findings == []
    found = check(function("x**2 - 2"), everything=True).findings
    assert any(f.kind == DIGITS_LOST and f.low <= root <= f.high for f in found)


def test_rounding_of_a_derivative_that_is_zero_is_a_fault_only_where_it_is_large() -> None:
    def f(x):  # type: ignore[no-untyped-def]
        return (x**2 - 4) / (x - 2) - x

    examiner = Examiner(symgrad(f))
    got = examiner.computed((1.3,))[1]
    assert 0 < abs(got) < 1e-14
    assert not any(f is not None and f.kind == DIGITS_LOST for f in examiner.faults((1.3,)))
    slope = examiner.faults((2 + 1e-9,))[1]
    assert slope is not None
    assert (slope.kind, slope.truth) == (DIGITS_LOST, 0)


def test_only_what_is_asked_for_is_examined() -> None:
    def f(x, y):  # type: ignore[no-untyped-def]
        return np.expm1(x * y) / x

    examiner = Examiner(symgrad(f))
    value, by_x, by_y = examiner.faults((0.0, 2.0), [1])
    assert (value and value.kind, by_y and by_y.kind) == ("not examined",) * 2
    assert by_x is not None
    assert (by_x.kind, by_x.truth) == (NOT_FINITE, 2)
    value, again, by_y = examiner.faults((0.0, 2.0))
    assert value is not None
    assert (value.kind, value.truth, by_y) == (NOT_FINITE, 2, None)
    assert again == by_x


# ----------------------------------------------------------------------- guards
def test_guard_with_a_wrong_value() -> None:
    def f(x):  # type: ignore[no-untyped-def]
        return np.where(x == 0, 0.0, np.expm1(x) / x)

    found = [g for g in check(symgrad(f)).findings if g.kind == WRONG_GUARD]
    assert [(g.got, g.right, g.at) for g in found] == [(0, 1, {"x": 0})]
    assert "guard is wrong: it is 0 for x = 0, should be 1" in str(found[0])


@pytest.mark.parametrize(
    ("value", "count"), [(lambda x, y: 1.0, 1), (lambda x, y: y, 0)], ids=("wrong", "right")
)
def test_thin_bands_of_several_variables_are_named_if_they_are_wrong(value, count) -> None:
    def f(x, y):  # type: ignore[no-untyped-def]
        return value(x, y) if abs(x) < 1e-8 else math.sin(x * y) / x

    found = [g for g in check(symgrad(f)).findings if g.kind == WRONG_GUARD]
    assert len(found) == count
    assert all(g.got == 1 and "guard is wrong: it is 1 for x = 0" in str(g) for g in found)


@pytest.mark.slow
def test_double_where_has_the_wrong_derivative() -> None:
    def f(x):  # type: ignore[no-untyped-def]
        safe = np.where(x == 0, 1.0, x)
        return np.where(x == 0, 1.0, np.expm1(safe) / safe)

    result = check(symgrad(f), extreme=True)
    assert [g for g in result.findings if g.kind == WRONG_GUARD] == []
    examiner = Examiner(symgrad(f))
    value, slope = examiner.faults((0.0,))
    assert value is None
    assert slope is not None
    assert (slope.got, slope.truth) == (0, 0.5)
    assert at(result, "df/dx", DIGITS_LOST, 0.0).low < 0


# -------------------------------------------------------------------- locations
def blamed(name: str, output: int, x: float) -> str:
    subject = function(f"planted.py:{name}")
    _, place = Naive(subject.raw_program, ["x"]).blame(output, [x])
    assert place is not None
    return place.text.strip()


def test_trouble_starts_where_it_starts(folder: Path) -> None:
    assert blamed("versine", 0, 0.0) == "return a / b"  # 0/0
    assert blamed("versine", 0, 1e-9) == "a = 1 - math.cos(x)"  # cancellation
    assert blamed("versine", 0, 1e-170) == "return a / b"
    assert blamed("quotient", 1, 2.0) == "return (x**2 - 4) / (x - 2)"


def test_plain_chain_rule_is_plain() -> None:
    naive = Naive(function("sqrt(x*x + y*y)").raw_program, ["x", "y"])
    assert np.isnan(naive.at([0.0, 0.0])[1:]).all()
    assert naive.at([3.0, 4.0]) == [5, 0.6, 0.8]
    flags = naive.flagged(np.array([[0.0, 0.0], [3.0, 4.0], [1e200, 1.0]]))
    assert flags.tolist() == [True, False, True]


# ----------------------------------------------------------------- command line
@pytest.mark.slow
def test_every_function_of_a_file(folder: Path) -> None:
    result = run("planted.py")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert (
        "planted.py:7:12: error: quotient: the value is nan for x = 2, should be 4 (symdiff: 4); "
        "also dquotient/dx" in lines
    )
    assert any(
        line.startswith("planted.py:11:9: warning: versine: the value loses") for line in lines
    )
    assert not any("sound" in line or "_private" in line for line in lines)
    assert re.fullmatch(r"\d errors and \d warnings in 3 functions", lines[-1])
    assert "skipped nothing: " in result.stderr
    assert "planted.py:21:24" in result.stderr


@pytest.mark.slow
def test_named_functions(folder: Path) -> None:
    assert run("planted.py:sound").exit_code == 0
    assert run("planted.py:sound").stdout == "no findings in 1 function\n"
    assert run("planted.py:_private").exit_code == 1
    assert run("planted:quotient").exit_code == 1
    refused = run("planted.py:nothing")
    assert (refused.exit_code, refused.stdout) == (2, "")


def test_bad_input(folder: Path) -> None:
    (folder / "empty.py").write_text("x = 1\n")
    for target in ("absent.py", "planted.py:absent", "sin(", "empty.py", "2 + 3"):
        result = run(target)
        assert (result.exit_code, result.stdout) == (2, ""), target
        assert "Traceback" not in result.stderr


@pytest.mark.slow
def test_json(folder: Path) -> None:
    result = run("planted.py", "--format", "json")
    assert result.exit_code == 1
    document = json.loads(result.stdout)
    assert [f["name"] for f in document["functions"]] == ["quotient", "versine", "sound"]
    assert [s["name"] for s in document["skipped"]] == ["nothing"]
    first = next(f for f in document["functions"][0]["findings"] if f["low"] == f["high"] == 2)
    assert (first["path"], first["line"], first["kind"]) == ("planted.py", 7, "not finite")
    assert (first["naive"], first["right"], first["symdiff"]) == ("nan", 4, 4)
    assert document["functions"][2]["findings"] == []


ORDINARY = """\
import numpy as np


def planck(nu, T):
    return nu**3 / (np.exp(nu / T) - 1)


def norm(x, y):
    return np.sqrt(x * x + y * y)


def entropy(z):
    return np.log(1 + np.exp(z))


def pair(r, eps=0.0, sigma=1.0):
    return 4 * eps * ((sigma / r) ** 12 - (sigma / r) ** 6)


def known(x):
    return np.sin(x) / x  # symdiff: ignore
"""


@pytest.fixture
def ordinary(folder: Path) -> Iterator[str]:
    (folder / "ordinary.py").write_text(ORDINARY)
    yield "ordinary.py"
    sys.modules.pop("ordinary", None)


@pytest.mark.slow
def test_what_people_reach_is_ranked_and_merged(ordinary: str) -> None:
    """Overflow of a square at 1e155 and other values of defaults are notes; one line per cause."""
    lines = run(f"{ordinary}:norm").stdout.splitlines()
    origin = "ordinary.py:9:12: error: norm: dnorm/dx is nan for x = 0, y = 0, should be 0 (symdiff: 0); also dnorm/dy"
    assert lines == [origin, "1 error in 1 function"]
    assert run(f"{ordinary}:pair").stdout == "no findings in 1 function\n"
    lines = run(f"{ordinary}:entropy").stdout.splitlines()
    assert [line.split(": ")[1] for line in lines[:-1]] == ["error", "warning"]
    assert all(line.endswith("; write logaddexp(0, z) for log(exp(z) + 1)") for line in lines[:-1])
    assert "; also dentropy/dz; " in lines[0]
    result = run(f"{ordinary}:planck")
    assert not result.stderr, "within its time"
    assert "write" not in result.stdout, "expm1 does not mend 0/0 nor overflow"


@pytest.mark.slow
def test_notes_are_shown_on_demand(ordinary: str) -> None:
    lines = run(f"{ordinary}:norm", "--all").stdout.splitlines()
    levels = [line.split(": ")[1] for line in lines[:-1]]
    assert levels[0] == "error" and set(levels[1:]) == {"note"}
    assert any("the value is inf for x in [1.34e+154" in line for line in lines)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("name", "fail_on", "code"),
    [
        ("norm", "error", 1),
        ("norm", "never", 0),
        ("cancels", "error", 0),
        ("cancels", "warning", 1),
    ],
)
def test_what_fails(ordinary: str, folder: Path, name: str, fail_on: str, code: int) -> None:
    text = "\n\ndef cancels(x):\n    return np.sqrt(1 + x * x) - 1\n"
    (folder / ordinary).write_text(ORDINARY + text)
    assert run(f"{ordinary}:{name}", "--fail-on", fail_on).exit_code == code


def test_ignored_lines(ordinary: str) -> None:
    result = run(f"{ordinary}:known")
    assert result.exit_code == 0
    assert re.fullmatch(r"no findings in 1 function \(\d ignored\)\n", result.stdout)


def test_sarif(ordinary: str) -> None:
    result = run(f"{ordinary}:norm", "planted.py:sound", "--format", "sarif")
    document = json.loads(result.stdout)
    (made,) = document["runs"]
    (found,) = made["results"]
    assert (document["version"], found["level"], found["ruleId"]) == (
        "2.1.0",
        "error",
        "not-finite",
    )
    place = found["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "ordinary.py"}
    assert place["region"] == {"startLine": 9, "startColumn": 12}
    assert found["message"]["text"].startswith("norm: dnorm/dx is nan")
    assert found["ruleId"] in {rule["id"] for rule in made["tool"]["driver"]["rules"]}


def test_addresses_of_sarif_are_percent_encoded(folder: Path) -> None:
    (folder / "a b").mkdir()
    (folder / "a b" / "100%ü.py").write_text("def f(x):\n    return (x**2 - 4) / (x - 2)\n")
    result = run("a b/100%ü.py:f", "--format", "sarif")
    places = [r["locations"][0] for r in json.loads(result.stdout)["runs"][0]["results"]]
    uris = {p["physicalLocation"]["artifactLocation"]["uri"] for p in places}
    assert uris == {"a%20b/100%25%C3%BC.py"}


def test_several_files_of_which_one_has_no_functions(folder: Path) -> None:
    (folder / "empty.py").write_text("x = 1\n")
    assert run("empty.py", "planted.py:sound").stdout == "no findings in 1 function\n"


def test_declared_ranges_are_where_people_compute() -> None:
    def f(x: float) -> float:
        return (1 - math.cos(x)) / x**2

    tiny = {"x": (1e-12, 1e-9)}
    levels = [g.level for g in check(symgrad(f, domain=tiny)).findings if g.output == "f"]
    assert levels == ["error"], "0 for 0.5"
    assert not check(symgrad(f, domain={"x": (0.5, 3.0)})).findings


@pytest.mark.slow
def test_same_findings_every_time() -> None:
    texts = [[str(f) for f in check(function("(1-cos(x))/x**2")).findings] for _ in range(2)]
    assert texts[0] == texts[1] != []


def test_out_of_time_is_said(folder: Path) -> None:
    result = run("planted.py:versine", "--seconds", "0")
    assert result.exit_code == 0
    assert result.stderr == "out of time (--seconds): versine\n"


@pytest.mark.slow
def test_chosen_variables() -> None:
    result = run("x + (exp(y)-1)/y", "--wrt", "y")
    assert "also df/dy" in result.stdout
    assert "df/dx" not in result.stdout


@pytest.mark.slow
def test_each_variable_that_a_fault_hangs_on_is_named_once() -> None:
    """The derivative of a branch is 0 at lam = 0 whatever y is, and digits are lost at y = 1
    whatever lam is; x = y is one surface."""

    def transformed(y: float, lam: float) -> float:
        return math.log(y) if lam == 0 else (y**lam - 1) / lam

    found = check(transformed).findings
    by_lam = [f for f in found if f.output == "dtransformed/dlam"]
    assert sorted(f.variable for f in by_lam) == ["lam", "y"]
    assert any(f.at["lam"] == 0.0 for f in by_lam if f.variable == "lam")

    def mean(x: float, y: float) -> float:
        return (math.exp(x) - math.exp(y)) / (x - y)

    found = check(symgrad(mean)).findings
    places = [(f.output, f.kind, f.location, f.low, f.high) for f in found if f.variable == "y"]
    on_the_surface = [f for f in found if f.at["x"] == f.at["y"]]
    assert len({f.variable for f in on_the_surface}) == 1, places


# -------------------------------------------------------------------- decisions
def decisions(f: Callable[..., float]) -> list[Finding]:
    return [g for g in check(symgrad(f), seconds=0).findings if g.kind == DECIDED]


def test_integers_that_rounding_decides() -> None:
    def steps(T: float, dt: float, x: float) -> float:
        return x * int(T / dt)

    (found,) = decisions(steps)
    T, dt = found.at["T"], found.at["dt"]
    assert int(T / dt) == found.got
    assert Fraction(str(T)) // Fraction(str(dt)) == found.right != found.got


def test_counts_of_loops_that_rounding_decides() -> None:
    def decayed(x: Array["n"], T: float, dt: float) -> float:  # noqa: F821, UP037
        for _ in range(int(T / dt)):
            x = x - x * dt
        return np.sum(x)

    def by_numbers(T: float, dt: float) -> float:
        x = 1.0
        for _ in range(int(T / dt)):
            x -= x * dt
        return x

    for f in (decayed, by_numbers):
        (found,) = decisions(f)
        T, dt = found.at["T"], found.at["dt"]
        assert int(T / dt) == found.got
        assert Fraction(str(T)) // Fraction(str(dt)) == found.right != found.got


@pytest.mark.slow
def test_functions_of_three_and_four_variables_within_the_budget() -> None:
    def lens(n: float, r1: float, r2: float, d: float) -> float:
        return 1 / ((n - 1) * (1 / r1 - 1 / r2 + (n - 1) * d / (n * r1 * r2)))

    def root(a: float, b: float, c: float) -> float:
        return (-b + math.sqrt(b * b - 4 * a * c)) / (2 * a)

    for f in (lens, root):
        result = check(symgrad(f))
        assert result.complete
        assert result.findings


@pytest.mark.slow
def test_variance_by_moments_and_unit_vectors() -> None:
    def variance(x: np.ndarray) -> float:
        return np.mean(x**2) - np.mean(x) ** 2

    def unit(v: np.ndarray) -> np.ndarray:
        return v / np.linalg.norm(v)

    (lost,) = check(symgrad(variance)).findings
    x = np.array(list(lost.at.values()))
    assert lost.kind == DIGITS_LOST
    assert lost.right == pytest.approx(np.var(x - 1e5), rel=1e-9)
    assert all(f.at[name] == 0 for f in check(symgrad(unit)).findings for name in f.at)
    assert check(symgrad(unit)).findings


def test_comparisons_that_rounding_decides() -> None:
    def flag(a: float, b: float) -> float:
        return a * b if a * 0.1 == b else a + b

    (found,) = decisions(flag)
    a, b = found.at["a"], found.at["b"]
    assert (a * 0.1 == b) == bool(found.got)
    assert (Fraction(str(a)) / 10 == Fraction(str(b))) == bool(found.right) != bool(found.got)


def test_decisions_that_rounding_does_not_make() -> None:
    def given(x: float, y: float) -> float:
        return x + y if x * y == 0 or x in (0.1, y) else x - y

    def puncture(x: float, y: float) -> float:
        return 1.0 if x * 0.1 == y else math.sin(x * 0.1 - y) / (x * 0.1 - y)

    def halves(x: float) -> float:
        return x * int(x / 2)

    assert not [d for f in (given, puncture, halves) for d in decisions(f)]
