"""What type checkers see of the public names."""

import inspect
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import symdiff
from symdiff.api.transforms import Keywords

USER = """
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from symdiff import Array, SymbolicFunction, grad, hessian, symgrad, value_and_grad

@symgrad
def f(x: float, y: float) -> float:
    return x * y

@symgrad(accuracy="strict", wrt="x")
def g(x: float) -> float:
    return x * x

slope: SymbolicFunction = f.grad
same: SymbolicFunction = grad(g)
@symgrad
def chain(x: Annotated[NDArray[np.float64], Array["n", 3]], k: float) -> float:
    return k * float(np.sum(x**2))

reveal_type(f)
reveal_type(f(1.0, 2.0))
reveal_type(f(np.ones(3), 2.0))
reveal_type(chain(np.ones((2, 3)), 1.0))
reveal_type(g.hessian)
reveal_type(value_and_grad(f)(1.0, 2.0))
u: np.ufunc = f.ufunc
page: str = f.report().html()
number: float = f(1.0, 2.0)
plain: SymbolicFunction[[float], float] = symgrad(lambda x: x * x)
symgrad(accurcy="strict")
symgrad(wrt=1.5)
reveal_type(f.grad)
reveal_type(hessian(f).grad)
f.grad("a", 1.0)
f.hessian(1.0, "b")
f.value_and_grad(1.0, 2.0, "c")
symgrad(g).diff("x")("a")
f.grad(np.ones(3), 1.0), f.hessian(1.0, np.ones(3)), f.grad(1.0, y=np.ones(3)), f(x=np.ones(3), y=1.0)
f.grad([1.0], (2.0,)), f.grad(np.float64(1.0), 2), f.hessian(1.0, y=2.0)
"""

WRONG = ["33", "34", "37", "38", "39", "40"]
"""The lines with mistakes."""


def test_the_keywords_of_symgrad_are_all_typed():
    named = dict(inspect.signature(symdiff.symgrad).parameters)
    assert Keywords.__annotations__.keys() == named.keys() - {"fun"}


def test_types_can_be_written_with_what_they_take():
    kind = symdiff.SymbolicFunction[[float], float]
    assert kind.__origin__ is symdiff.SymbolicFunction and kind.__args__ == ([float], float)


def test_help_of_a_derivative_has_the_users_docstring():
    @symdiff.symgrad
    def well(x):
        """A well."""
        return x**4 - x**2

    assert well.grad.__doc__ == "grad of well.\n\nA well."
    assert well.grad.grad.__doc__.endswith("A well.")
    assert symdiff.grad(lambda x: x).__doc__ == "grad of <lambda>."


def test_the_package_says_that_it_is_typed():
    assert (Path(symdiff.__file__).parent / "py.typed").is_file()


@pytest.mark.slow
def test_a_file_of_user_code(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "user.py").write_text(USER, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "user.py"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    lines = [line for line in found.stdout.splitlines() if line.startswith("user.py")]
    assert [line.split(":")[1] for line in lines if "error:" in line] == WRONG, found.stdout
    revealed = [line.partition('"')[2].strip('"') for line in lines if "Revealed" in line]
    assert revealed[0].endswith("SymbolicFunction[[x: float, y: float], float]")
    assert revealed[1:4] == ["float", "Any", "float"]
    assert revealed[4].endswith("SymbolicFunction[[x: float], Any]")
    assert revealed[5] == "tuple[float, Any]"
    assert revealed[6].endswith("SymbolicFunction[[x: float, y: float], Any]")
    assert revealed[7:] == ["Any"]  # mypy asks `__get__`, as if derivatives were methods


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pyright") is None, reason="there is no pyright")
def test_the_same_in_pyright(tmp_path):
    (tmp_path / "user.py").write_text(USER, encoding="utf-8")
    root = Path(symdiff.__file__).parents[1]
    settings = {"strict": ["user.py"], "extraPaths": [str(root)], "reportUnknownLambdaType": False,
                "reportUnknownArgumentType": False, "reportUnknownVariableType": False,
                "reportUnknownMemberType": False}  # fmt: skip
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    command = ["pyright", "--outputjson", "--pythonpath", sys.executable]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    told = json.loads(found.stdout)["generalDiagnostics"]
    wrong = [str(t["range"]["start"]["line"] + 1) for t in told if t["severity"] == "error"]
    assert wrong == WRONG, told
    revealed = [t["message"].split('"')[-2] for t in told if t["severity"] == "information"]
    assert revealed == [
        "SymbolicFunction[(x: float, y: float), float]", "float", "Any", "float",
        "SymbolicFunction[(x: float), Any]", "tuple[float, Any]",
        *["SymbolicFunction[(x: float, y: float), Any]"] * 2,
    ]  # fmt: skip
