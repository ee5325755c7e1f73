"""Functions that are in no file: their text is found where it still is, or refused plainly."""

import subprocess
import sys
import types

import pytest

from symdiff import UnsupportedError, symgrad
from symdiff.frontend import typed_in

CUBE = "f = lambda x: x**3\n"


def defined(text, file):
    scope = {}
    exec(compile(text, file, "exec"), scope)
    return scope["f"]


def prompt(monkeypatch, *lines):
    history = types.SimpleNamespace(
        get_current_history_length=lambda: len(lines),
        get_history_item=lambda k: lines[k - 1],
    )
    monkeypatch.setitem(sys.modules, "readline", history)


def test_the_command_line_holds_the_text(monkeypatch):
    monkeypatch.setattr(sys, "orig_argv", ["python", "-Ic", CUBE])
    assert symgrad(defined(CUBE, "<string>")).grad(2.0) == 12.0


def test_the_history_of_the_prompt_holds_the_text(monkeypatch):
    block = "@str.strip", "def f(x):", "    if x > 1:", "        return x**2", "    return x**4"
    text = "".join(f"{line}\n" for line in block[1:])
    prompt(monkeypatch, *block[1:3], *block[1:], "print(1)", "  f.grad(2.0)")
    assert symgrad(defined(text, "<stdin>")).grad(2.0) == 4.0
    text = "f = (lambda x: (x\n+1\n)**2)\n"  # lines inside of brackets begin anywhere
    prompt(monkeypatch, *text.splitlines())
    assert symgrad(defined(text, "<stdin>")).grad(2.0) == 6.0


@pytest.mark.parametrize("other", ["f = lambda x: x**4\n", "f = lambda y: y**3\n", "f = (\n"])
def test_another_text_is_never_read(monkeypatch, other):
    monkeypatch.setattr(sys, "orig_argv", ["python", "-c", other])
    prompt(monkeypatch, other.strip())
    with pytest.raises(UnsupportedError, match="exec\\(\\) keeps no text"):
        symgrad(defined(CUBE, "<string>"))(2.0)
    with pytest.raises(UnsupportedError, match="write it to a file"):
        symgrad(defined(CUBE, "<stdin>"))(2.0)


def test_the_history_is_read_to_a_limit(monkeypatch):
    prompt(monkeypatch, CUBE.strip(), *["x"] * typed_in.HISTORY)
    assert not typed_in.lines_of(defined(CUBE, "<stdin>"))


def test_a_function_from_another_process_brings_its_text(monkeypatch):
    """As of cloudpickle, on a machine that does not have the file."""
    monkeypatch.setattr(typed_in, "_kept", {})
    monkeypatch.setattr(sys, "orig_argv", ["python", "-c", CUBE])
    sent = symgrad(defined(CUBE, "<string>")).__reduce__()
    monkeypatch.setattr(sys, "orig_argv", ["python", "worker.py"])
    make, (again, text, fun, *rest) = sent
    assert text == CUBE
    assert make(again, text, fun, *rest).grad(2.0) == 12.0
    for k in range(typed_in.KEPT + 1):
        typed_in.keep(f"{k}\n")
    assert len(typed_in._kept) == typed_in.KEPT and CUBE not in typed_in._kept


@pytest.mark.slow
@pytest.mark.parametrize("way", ["-c", "<"])
def test_programs_without_a_file(tmp_path, way):
    text = f"from symdiff import symgrad\n{CUBE}print(symgrad(f).grad(2.0))\n"
    (tmp_path / "program").write_text(text)
    with open(tmp_path / "program") as stdin:
        words = ["-c", text] if way == "-c" else []
        found = subprocess.run(
            [sys.executable, *words], stdin=stdin, capture_output=True, text=True, check=False
        )
    assert found.stdout == "12.0\n", found.stderr
