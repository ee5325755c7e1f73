"""The progress bar: on terminals only, after two seconds, wiped at the end."""

from __future__ import annotations

import contextlib
import io
import math
import os
import re
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.frontend import capture
from symdiff.passes.cancel.cancel import cancel
from symdiff.process import progress as bars


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr(bars, "PATIENCE", 0.05)
    monkeypatch.setattr(bars, "INTERVAL", 0.01)
    return Terminal()


@contextlib.contextmanager
def watched(stream):
    with contextlib.redirect_stderr(stream), bars.progress("energy"):
        yield


def stage_of(module: str):
    """A function that looks, as if it stood in a module, which stage it is in."""
    names = {"__name__": module, "sys": sys, "reached": bars.reached}
    exec("def look(before=0):\n    return reached(sys._getframe(), before)", names)
    return lambda before=0: bars.STAGES[names["look"](before)][0]


def test_a_stage_is_found_by_the_modules_on_the_stack():
    assert stage_of(capture.__module__)() == "capture"
    assert stage_of(cancel.__module__)() == "cancel"
    assert stage_of("symdiff.passes.analysis.signs")() == "assume"
    assert stage_of("symdiff.codegen.llvm.printer")() == "emit"
    assert stage_of("somewhere.else")(2) == bars.STAGES[2][0]


def test_it_never_goes_back():
    look = stage_of("symdiff.passes.cancel.cancel")
    differentiate = [name for name, _ in bars.STAGES].index("differentiate")
    assert look(differentiate) == "cancel"
    assert stage_of("symdiff.passes.analysis.signs")(differentiate) == "differentiate"


def test_every_module_of_a_stage_is_there():
    import importlib

    for _, modules in bars.STAGES:
        for module in modules:
            importlib.import_module(module)


def test_it_appears_and_is_wiped(terminal):
    with watched(terminal):
        time.sleep(0.3)
    text = terminal.getvalue()
    assert text.startswith("\renergy [") and text.endswith("\r\x1b[K")
    time.sleep(0.05)
    assert terminal.getvalue() == text


def test_it_is_switched_off(terminal, monkeypatch):
    monkeypatch.setenv("SYMDIFF_PROGRESS", "0")
    with watched(terminal):
        time.sleep(0.2)
    assert terminal.getvalue() == ""


def test_notebooks_show_it_and_files_do_not():
    notebook = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})
    assert bars.shown(notebook()) and not bars.shown(io.StringIO())


def test_comparing_is_a_stage():
    assert stage_of("symdiff.pipeline.validation.firstcall")() == "compare"


def test_what_is_quick_shows_nothing(terminal):
    with watched(terminal):
        pass
    assert terminal.getvalue() == ""


def test_what_fails_wipes_it(terminal):
    with pytest.raises(ZeroDivisionError), watched(terminal):
        time.sleep(0.2)
        raise ZeroDivisionError
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_what_is_printed_ends_it(terminal, capsys):
    with watched(terminal):
        time.sleep(0.2)
        print("result")
        drawn = terminal.getvalue()
        time.sleep(0.1)
    assert terminal.getvalue() == drawn and drawn.endswith("\r\x1b[K")
    assert capsys.readouterr().out == "result\n"


@pytest.mark.slow
def test_a_first_call_shows_it_while_it_compiles(terminal, monkeypatch):
    """Not when it is called again."""

    @symgrad(cache=False)
    def f(x):
        return (1 - math.cos(x)) / x**2

    monkeypatch.setattr(bars, "PATIENCE", 0.0)
    with contextlib.redirect_stderr(terminal):
        f.hessian(np.linspace(-1, 1, 5))
        text = terminal.getvalue()
        f.hessian(np.linspace(-1, 1, 7))
    assert text.startswith("\rf_hessian [") and text.endswith("\r\x1b[K")
    assert terminal.getvalue() == text


def test_what_is_compiled_runs_without_it():
    """A call may take long for other reasons."""

    def inside(*modules):
        """Whether a thread runs what is compiled that is in functions of these modules."""
        look = bars.runs
        for module in reversed(modules):
            names = {"__name__": module, "sys": sys, "below": look, "bars": bars}
            exec("def call(frame, running):\n    return below(sys._getframe(), running)", names)
            look = names["call"]
        return look(None, bars.RUNNING)

    assert inside("symdiff.runtime.scalar.kernel")
    assert inside("symdiff.api.function", "symdiff.interpret.certified")
    assert not inside("symdiff.runtime.scalar.kernel", "symdiff.codegen.llvm.jit")
    assert not inside("symdiff.api.function")


def test_there_is_one_at_a_time(terminal):
    with watched(terminal), bars.compiling("inner"):
        time.sleep(0.2)
    assert "inner" not in terminal.getvalue()


@pytest.mark.parametrize("stream", [None, io.StringIO()])
def test_only_on_a_terminal(monkeypatch, stream):
    monkeypatch.setattr(bars, "PATIENCE", 0.0)
    with watched(stream):
        time.sleep(0.1)
    assert stream is None or stream.getvalue() == ""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_the_command_line_has_it(tmp_path):
    """On a pseudo-terminal, for a function that takes long; stdout stays what it is."""
    import pty

    lines = "\n".join(
        f"    s = s + math.sin({k + 1}*x/128 + y)*math.exp(-x*y)*(y + {k})" for k in range(2500)
    )
    (tmp_path / "model.py").write_text(
        f"import math\n\ndef f(x, y):\n    s = 0.0\n{lines}\n    return s\n"
    )
    code = textwrap.dedent("""
        import sys
        from symdiff.process import progress
        progress.PATIENCE = 0.2
        from symdiff.cli.commands import main
        main(["diff", sys.argv[1], "--format", "c"])
    """)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", code, f"{tmp_path / 'model.py'}:f"],
        stderr=theirs, stdout=subprocess.PIPE,
    )  # fmt: skip
    os.close(theirs)
    shown = []

    def read():
        with contextlib.suppress(OSError):  # the other end is closed
            while True:
                shown.append(os.read(ours, 1024))

    reader = threading.Thread(target=read)
    reader.start()
    text = process.communicate()[0].decode()
    reader.join()
    os.close(ours)
    assert process.returncode == 0
    found = b"".join(shown).decode()
    assert "model.py:f [" in found and found.endswith("\x1b[K")
    assert len(set(re.findall(r"\] (\w+), \d+ s", found)) & {n for n, _ in bars.STAGES}) >= 2
    assert "\x1b" not in text and text.startswith("/*")
