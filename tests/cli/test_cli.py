"""The command line."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from symdiff import __version__
from symdiff.cli.commands import main

MODEL = '''\
"""A file with two decorated functions."""
import math
from symdiff import symgrad

print("loading")


@symgrad
def h(x):
    return (x**2 - 4) / (x - 2)


@symgrad(wrt="x", dtype="float32")
def energy(x, y):
    return x * math.sin(y) + helper(x)


def helper(x):
    return x**3
'''


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "plain.py").write_text(
        "def square(x):\n    return x*x\n\ndef _hidden(x):\n    return x\n"
    )
    yield tmp_path
    for name in ("model", "plain", "bad", "noisy", "symdiff_target"):
        sys.modules.pop(name, None)


def run(*args: str) -> Result:
    return CliRunner().invoke(main, args, prog_name="symdiff")


def output(*args: str) -> str:
    result = run(*args)
    assert result.exit_code == 0, result.output
    return result.stdout


def error(*args: str) -> str:
    result = run(*args)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    return result.stderr


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["diff", "(x**2-4)/(x-2)"], "1\n"),
        (["simplify", "(x**2-4)/(x-2)"], "x + 2\n"),
        (["diff", "(x**2-4)/(x-2)", "--order", "2"], "0\n"),
        (["diff", "sin(x)/x"], "(cos(x) - sin(x)/x)/x\n"),
        (["diff", "0.3*x"], "0.3\n"),
        (["diff", "x*sin(y)"], "d/dx: sin(y)\nd/dy: x*cos(y)\n"),
        (["diff", "x*sin(y)", "--wrt", "y"], "x*cos(y)\n"),
        (["diff", "x*sin(y)", "--wrt", "y, x"], "d/dy: x*cos(y)\nd/dx: sin(y)\n"),
        (["diff", "x**2*y", "--order", "2"], "d2/dx2: 2*y\nd2/dxdy: 2*x\nd2/dy2: 0\n"),
        (["diff", "x**3*y", "--order", "3", "--wrt", "x"], "6*y\n"),
        (["diff", "x*y, x"], "d/dx [0]: y\nd/dx [1]: 1\nd/dy [0]: x\nd/dy [1]: 0\n"),
        (["simplify", "x/x, (x*y - y)/(x - 1)"], "[0]: 1\n[1]: y\n"),
        (["simplify", "sqrt(x)**2/x"], "where(x >= 0, 1, nan)\n"),
        (["diff", "sqrt(x)", "--format", "latex"], "\\frac{1}{2 \\sqrt{x}}\n"),
        (["diff", "model.py:h"], "1\n"),
        (["diff", "model.py:energy"], "3*x**2 + sin(y)\n"),
        (["diff", "model.py:energy", "--wrt", "y"], "x*cos(y)\n"),
        (["diff", "model.py:helper"], "3*x**2\n"),
        (["diff", "plain.py"], "2*x\n"),
        (["diff", "plain:square"], "2*x\n"),
        (["simplify", "model.py:h"], "x + 2\n"),
    ],
)
def test_printed_formulas(args: list[str], expected: str) -> None:
    assert output(*args) == expected


def test_absolute_paths_and_modules_with_the_name_of_a_loaded_one(folder: Path) -> None:
    (folder / "json.py").write_text("def f(x):\n    return 3*x\n")
    assert output("diff", str(folder / "json.py")) == "3\n"


def test_python_format_compiles() -> None:
    namespace: dict[str, object] = {}
    exec(output("diff", "x**2*y", "--format", "python"), namespace)
    function = namespace["f_grad"]
    assert callable(function)
    assert function(3.0, 5.0) == (30.0, 9.0)


def test_c_format() -> None:
    text = output("diff", "x**2", "--format", "c")
    assert text.endswith("double f_grad(double x)\n{\n    return 2.0*x;\n}\n")


def test_json_format() -> None:
    document = json.loads(output("diff", "x*y", "--order", "2", "--format", "json"))
    assert document == {
        "name": "f_diff2",
        "params": ["x", "y"],
        "definitions": [],
        "results": [
            {"wrt": ["x", "x"], "text": "0"},
            {"wrt": ["x", "y"], "text": "1"},
            {"wrt": ["y", "y"], "text": "0"},
        ],
    }
    document = json.loads(output("simplify", "x, 2*x", "--format", "json"))
    assert document["results"] == [{"output": 0, "text": "x"}, {"output": 1, "text": "2*x"}]


def test_long_derivatives_name_their_shared_parts() -> None:
    v = "x"
    for _ in range(6):
        v = f"sin({v})*exp({v})"
    lines = output("diff", v).splitlines()
    assert len(lines) > 10
    assert lines[0].startswith("with t0 = ")
    assert max(map(len, lines)) < 120


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (
            ["diff", "x^2"],
            "<expression>:1:2: ^ is not an operator here\n    x^2\n     ^\nhint: use ** for powers\n",
        ),
        (["diff", "2 + 3"], "the expression has no variables\nhint: name one with --wrt\n"),
        (["diff", "x", "--wrt", "2"], "--wrt: '2' is not the name of a variable\n"),
        (
            ["diff", "model.py:energy", "--wrt", "z"],
            "--wrt: energy has no real parameter 'z'\nhint: it has x, y\n",
        ),
        (
            ["diff", "model.py"],
            "model.py does not say which function is meant\n"
            "hint: write model.py:NAME; its functions are h, energy\n",
        ),
        (["diff", "missing.py:f"], "missing.py: there is no such file\n"),
        (
            ["diff", "plain.py:cube"],
            "plain.py: has no function 'cube'\nhint: its functions are square\n",
        ),
        (["diff", "math:sin"], "math: 'sin' is not a function\nhint: its functions are none\n"),
        (
            ["diff", "no_such_module:f"],
            "importing no_such_module raised ModuleNotFoundError: No module named 'no_such_module'\n",
        ),
        (
            ["show", "x", "--stage", "zork"],
            "there is no stage 'zork'\nhint: the stages are capture, assume, guards, cancel-value, "
            "stabilise-value, complete, differentiate, signsquares, cancel, corners, bands, powers, "
            "stabilise, emit\n",
        ),
        (
            ["compile", "x", "--target", "cpu,tpu"],
            "unknown target 'tpu'\nhint: cpu or cuda\n",
        ),
        (["compile", "x", "--name", "a b"], "--name: 'a b' is not a name for a function\n"),
        (
            ["compile", "x", "-o", "missing/out.py"],
            "cannot write missing/out.py: No such file or directory\n",
        ),
        (
            ["compile", "x, y", "--with", "hessian"],
            "f returns several values: it has no Hessian\n",
        ),
    ],
)
def test_errors(args: list[str], expected: str) -> None:
    text = error(*args)
    assert text.removeprefix("loading\n") == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "x = 1\ny = 1/0\n",
            "{path}:2:1: importing bad.py raised ZeroDivisionError: division by zero\n    y = 1/0\n    ^\n",
        ),
        ("import sys\nsys.exit(3)\n",
         "{path}:2:1: importing bad.py raised SystemExit: 3\n    sys.exit(3)\n    ^\n"),
        ("def f(x:\n", "{path}:1:6: '(' was never closed\n    def f(x:\n         ^\n"),
    ],
)  # fmt: skip
def test_files_that_cannot_be_imported(folder: Path, source: str, expected: str) -> None:
    (folder / "bad.py").write_text(source)
    got = error("diff", "bad.py:f")
    assert got.replace(str(folder / "bad.py"), "{path}").replace("bad.py:", "{path}:", 1) == (
        expected.replace("{path}:", "{path}:", 1)
    ) or got == expected.format(path="bad.py")


def test_a_function_that_cannot_be_traced_is_refused_at_its_line(folder: Path) -> None:
    (folder / "noisy.py").write_text("import random\n\ndef f(x):\n    return x*random.random()\n")
    text = error("diff", "noisy.py:f")
    assert "noisy.py:4:" in text


def test_usage_errors_exit_with_2() -> None:
    for args in (
        ["diff"],
        ["diff", "x", "--order", "0"],
        ["diff", "x", "--format", "html"],
        ["zork"],
    ):
        assert run(*args).exit_code == 2


@pytest.mark.slow
def test_compiled_module(folder: Path) -> None:
    assert (
        output(
            "compile", "(x**2-4)/(x-2)*y", "-o", "out.py", "--name", "energy", "--with", "hessian"
        )
        == ""
    )
    script = (
        "from out import energy, energy_grad, energy_value_and_grad, energy_hessian\n"
        "print(energy(2.0, 3.0), energy_grad(2.0, 3.0), energy_hessian(2.0, 3.0))\n"
        "print(energy_value_and_grad(2.0, 3.0))\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=True
    )
    assert result.stdout == "12.0 (3.0, 4.0) ((0.0, 1.0), (1.0, 0.0))\n(12.0, (3.0, 4.0))\n"


@pytest.mark.slow
def test_compiled_modules_are_golden(golden: Callable[[str, str], None]) -> None:
    golden("h_kernels.py", output("compile", "model.py:h").removeprefix("loading\n"))
    golden(
        "formula_kernels.py",
        output("compile", "where(x > y, sqrt(x), y**2.5)", "--with", "hessian"),
    )


def test_the_text_does_not_depend_on_where_it_is_written(folder: Path) -> None:
    output("compile", "model.py:h", "-o", "a.py")
    (folder / "sub").mkdir()
    output("compile", str(folder / "model.py") + ":h", "-o", "sub/b.py", "--target", "cpu")
    text = (folder / "a.py").read_text()
    assert text == (folder / "sub" / "b.py").read_text()
    assert str(folder) not in text
    assert "model.py" not in text


def test_the_dtype_of_the_decorator_and_of_the_option() -> None:
    assert "np.float32(" in output("compile", "model.py:energy")
    assert "np.float32(3.0)" in output("compile", "x + 3", "--dtype", "float32")
    assert "energy_grad by x." not in output("compile", "model.py:energy", "--wrt", "y")


@pytest.mark.slow
def test_several_values_have_a_jacobian(folder: Path) -> None:
    output("compile", "x*y, x + y", "-o", "out.py")
    script = "from out import f, f_jacobian\nprint(f(2.0, 3.0), f_jacobian(2.0, 3.0))\n"
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=True
    )
    assert result.stdout == "(6.0, 5.0) ((3.0, 2.0), (1.0, 1.0))\n"


def test_show() -> None:
    assert output("show", "(x**2-4)/(x-2)", "--stage", "capture") == (
        "# capture\nf(x)\n  [0] = (x**2 - 4)/(x - 2)\n\n"
    )
    assert output("show", "(x**2-4)/(x-2)", "--stage", "cancel-value") == (
        "# cancel-value\nf(x)\n  [0] = x + 2\n\n"
    )
    assert output("show", "sqrt(x)**2", "--stage", "capture") == (
        "# capture\nf(x)\n  [0] = x\n  domain: x >= 0\n\n"
    )
    assert output("show", "(x**2-4)/(x-2)", "--stage", "cancel-value", "--ir") == (
        "# cancel-value\nprogram name=f params=(x) {\n  %0 = add x, 2\n} outputs=(%0)\n\n"
    )
    everything = output("show", "sin(x)**2", "--order", "2")
    headings = [line for line in everything.splitlines() if line.startswith("# ")]
    assert headings == [
        "# capture", "# assume", "# guards", "# cancel-value", "# stabilise-value", "# complete",
        "# differentiate", "# signsquares", "# cancel", "# corners", "# differentiate",
        "# signsquares", "# cancel", "# corners", "# bands", "# powers", "# stabilise", "# emit",
    ]  # fmt: skip
    assert everything.rstrip().splitlines()[-1].startswith("    return ")


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["diff", "-x**2"], "-2*x\n"),
        (["diff", "--order", "2", "-x**3"], "-6*x\n"),
        (["diff", "-h*x", "--wrt", "x"], "-h\n"),
        (["diff", "--wrt=x", "-x*y"], "-y\n"),
        (["simplify", "-2"], "-2\n"),
        (["diff", "--", "-x"], "-1\n"),
    ],
)
def test_a_target_may_start_with_a_minus(args: list[str], expected: str) -> None:
    assert output(*args) == expected


def test_what_is_no_target_is_an_option(folder: Path) -> None:
    for args, wrong in ((["x", "-z"], "-z"), (["-z", "x"], "-z"), (["--ordr", "2", "x"], "--ordr")):
        result = run("diff", *args)
        assert result.exit_code == 2
        assert f"No such option '{wrong}'" in result.stderr
    assert output("compile", "-log(x)", "-o", "made.py") == ""
    assert "-log(x)" in (folder / "made.py").read_text()
    assert run("diff", "-h").stdout.startswith("Usage: ")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sqrt(-1)", "nan"), ("(-1)**0.5", "nan"), ("1/0", "inf"), ("-1/0", "-inf"),
        ("0/0", "nan"), ("0*(1/0)", "nan"), ("log(0)", "-inf"), ("log(-1)", "nan"),
        ("x + log(0)", "-inf"), ("asin(2)", "nan"), ("atanh(1)", "inf"), ("gamma(0)", "nan"),
        ("1/sin(pi)", "inf"), ("sin(1/0)", "nan"), ("exp(log(0))", "0"), ("max(1/0, x)", "inf"),
        ("sqrt(-1)*x", "nan"), ("exp(1000)", "exp(1000)"), ("cbrt(-8)", "-2"),
    ],
)  # fmt: skip
def test_constants_are_real(text: str, expected: str) -> None:
    assert output("simplify", text) == expected + "\n"


@pytest.mark.sampled
@pytest.mark.parametrize("module", ["symdiff", "symdiff.cli.commands"])
def test_run_as_a_module(module: str) -> None:
    root = Path(__file__).parents[2]
    result = subprocess.run(
        [sys.executable, "-m", module, "diff", "(x**2-4)/(x-2)"],
        cwd=root, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert result.stdout == "1\n"


def test_timings() -> None:
    lines = output("show", "sin(x)**2", "--timings").splitlines()
    assert [line.split()[0] for line in lines][-1] == "emit"
    assert all(line.endswith(" ms") and float(line.split()[1]) >= 0 for line in lines)


def test_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from symdiff.runtime import cache

    monkeypatch.setattr(cache, "folder", lambda: folder / "cache")
    cache.store("a" * 64, b"code", ())
    assert "files: 1" in output("cache", "info").splitlines()
    assert output("cache", "clear") == "removed 1 files\n"
    assert "files: 0" in output("cache", "info").splitlines()


def test_version_and_help_do_not_import_what_they_do_not_need() -> None:
    script = (
        "import sys\n"
        "from symdiff.cli.commands import main\n"
        "try: main([sys.argv[1]], prog_name='symdiff')\n"
        "except SystemExit as stop: assert not stop.code\n"
        "assert not {'sympy', 'numba'} & set(sys.modules), 'imported'\n"
    )
    root = Path(__file__).parents[2]
    for option, expected in (
        ("--version", f"symdiff, version {__version__}\n"),
        ("--help", "Usage: symdiff"),
    ):
        result = subprocess.run(
            [sys.executable, "-c", script, option],
            cwd=root,
            capture_output=True,
            text=True,
            check=True,
        )
        assert result.stdout.startswith(expected)


@pytest.mark.slow
def test_a_closed_pipe_is_no_error(folder: Path) -> None:
    root = Path(__file__).parents[2]
    command = f"{sys.executable} -c 'from symdiff.cli.commands import main; main()' show 'sin(x)**9' --order 3 | true"
    result = subprocess.run(
        ["sh", "-c", command], cwd=root, capture_output=True, text=True, check=True
    )
    assert result.stderr == ""


def test_shared_parts_of_several_formulas_have_names() -> None:
    target = "1/sqrt(x**2+y**2+z**2)"
    named = output("diff", target)
    assert named == ("with t = (x**2 + y**2 + z**2)**(3/2):\nd/dx: -x/t\nd/dy: -y/t\nd/dz: -z/t\n")
    assert json.loads(output("diff", target, "--format", "json"))["definitions"] == [
        "t = (x**2 + y**2 + z**2)**(3/2)"
    ]
    expanded = output("diff", target, "--expanded").splitlines()
    assert expanded[0] == "d/dx: -x/(x**2 + y**2 + z**2)**(3/2)"
    assert output("simplify", target) == "1/sqrt(x**2 + y**2 + z**2)\n"


def test_names_of_parts_are_input_again() -> None:
    text = "with t = sqrt(x**2 + y**2): with u = t + 1: t/u"
    assert output("simplify", text) == output("simplify", "sqrt(x**2+y**2)/(sqrt(x**2+y**2)+1)")
    assert "a definition ends with a colon" in run("simplify", "with t = x").stderr
    assert "t is defined by itself" in run("simplify", "with t = t + 1: t").stderr


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("z", "--wrt: 'z' does not occur\nhint: the variables are x\n"),
        ("e", "--wrt: 'e' is a constant\nhint: the variables are x\n"),
    ],
)
def test_names_that_do_not_occur_are_refused(name: str, message: str) -> None:
    result = run("diff", "x**2*e", "--wrt", name)
    assert (result.exit_code, result.stderr) == (2, message)


def test_formulas_are_printed_without_numpy_and_sympy() -> None:
    script = (
        "import sys\n"
        "from symdiff.cli.commands import main\n"
        "try: main(['diff', 'sin(x)/x'], prog_name='symdiff')\n"
        "except SystemExit as stop: assert not stop.code\n"
        "assert not {'sympy', 'numpy', 'llvmlite'} & set(sys.modules), 'imported'\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=Path(__file__).parents[2],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (result.stdout, result.stderr) == ("(cos(x) - sin(x)/x)/x\n", "")
