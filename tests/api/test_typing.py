"""What type checkers see of the public names."""

import inspect
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

from symdiff import Array, SymbolicFunction, grad, symgrad

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
reveal_type(g.hessian)
symgrad(accurcy="strict")
symgrad(wrt=1.5)
"""


def test_the_keywords_of_symgrad_are_all_typed():
    named = dict(inspect.signature(symdiff.symgrad).parameters)
    assert Keywords.__annotations__.keys() == named.keys() - {"fun"}


def test_the_package_says_that_it_is_typed():
    assert (Path(symdiff.__file__).parent / "py.typed").is_file()


@pytest.mark.slow
def test_a_file_of_user_code(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "user.py").write_text(USER, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "user.py"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    lines = [line for line in found.stdout.splitlines() if line.startswith("user.py")]
    assert [line.split(":")[1] for line in lines if "error:" in line] == ["25", "26"], found.stdout
    revealed = [line for line in lines if "Revealed" in line]
    assert len(revealed) == 2 and all("SymbolicFunction" in line for line in revealed)
