"""Functions of the main program that are sent to workers, whose main program is another one."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import symdiff

pytestmark = pytest.mark.slow

SENT = """
import sys
import numpy as np
{imports}
from symdiff import symgrad

FACTOR = 2.0


def squared(x):
    return (FACTOR * x) ** 2


@symgrad
def energy(x):
    return np.sum(squared(x))


@symgrad
def outer(x):
    return energy.grad(x)[0] + x[0]


FACTOR = 3.0
with open(sys.argv[1], "wb") as file:
    {library}.dump((energy, energy.grad, outer), file)
"""


def sent(tmp_path, library, imports=""):
    program = tmp_path / "sender.py"
    program.write_text(SENT.format(library=library, imports=imports), encoding="utf-8")
    root = str(Path(symdiff.__file__).parents[1])
    subprocess.run([sys.executable, program, tmp_path / "sent"], check=True, cwd=root)
    return (tmp_path / "sent").read_bytes()


@pytest.mark.parametrize("library", ["cloudpickle", "pickle"])
def test_functions_of_the_main_program_are_sent_by_value(tmp_path, library, monkeypatch):
    """A package that sends functions by value is known by being imported there."""
    pytest.importorskip("cloudpickle")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path[1:]))
    data = sent(tmp_path, library, f"import cloudpickle, {library}")
    energy, slope, outer = pickle.loads(data)
    x = np.array([1.0, -2.0])
    assert energy(x) == 45.0 and slope(x).tolist() == [18.0, -36.0] and outer(x) == 19.0


def test_without_it_they_are_sent_by_name(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path[1:]))
    data = sent(tmp_path, "pickle", "import pickle")
    with pytest.raises(
        symdiff.SymdiffError, match="energy of the main program was sent by its name"
    ):
        pickle.loads(data)
