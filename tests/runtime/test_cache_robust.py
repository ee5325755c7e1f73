"""The disk cache under changes of the source, full disks and kill -9."""

from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import sys
import tempfile
import textwrap
import time

import pytest

from symdiff import symgrad
from symdiff.runtime import cache

POINT = 0.5


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SYMDIFF_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


# ------------------------------------------------------------------- changed sources
MODEL = """
import math
from symdiff import symgrad

SCALE = {scale}

def helper(x):
    return math.sin(x) {helper}

def make(shift):
    @symgrad
    def f(x):
        return SCALE * helper(x) {body} + shift * x
    return f

f = make({shift})
"""
PLAIN = {"scale": "2.0", "helper": "* x", "body": "", "shift": "3.0"}


def slope(tmp_path, **changes: str) -> tuple[float, int]:
    """The derivative at POINT that a fresh process finds, and how often it compiled."""
    (tmp_path / "model.py").write_text(MODEL.format(**{**PLAIN, **changes}))
    code = textwrap.dedent(f"""
        import sys
        from symdiff.codegen.llvm import jit
        sys.path.insert(0, {str(tmp_path)!r})
        sys.dont_write_bytecode = True
        compiled = []
        original = jit.compile_object
        jit.compile_object = lambda *a, **k: compiled.append(a) or original(*a, **k)
        import model
        print(repr(model.f.grad({POINT})), len(compiled))
    """)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    value, count = done.stdout.split()
    return float(value), int(count)


@pytest.mark.slow
def test_a_changed_source_is_noticed(tmp_path):
    """Whatever the function uses: its body, a helper, a global, a closure."""
    first, compiled = slope(tmp_path)
    assert compiled > 0
    assert slope(tmp_path) == (first, 0)
    seen = {first}
    for change in ({"scale": "5.0"}, {"helper": "/ x"}, {"body": "* x"}, {"shift": "4.0"}):
        value, compiled = slope(tmp_path, **change)
        assert compiled > 0
        seen.add(value)
    assert len(seen) == 5
    assert slope(tmp_path) == (first, 0)


def test_options_are_part_of_the_key():
    def f(x, y):
        return abs(x) * y**20

    plain = symgrad(f)
    assert plain.grad(-2.0, 1.0) == (-1.0, 40.0)
    assert symgrad(f, domain={"x": (0, None)}).grad(2.0, 1.0) == (1.0, 40.0)
    assert plain.grad(-2.0, 1.0) == (-1.0, 40.0)
    assert symgrad(f, wrt="y").grad(2.0, 1.0) == 40.0
    before = cache.info().files
    for options in ({"accuracy": "strict"}, {"dtype": "float32"}):
        symgrad(f, **options).grad(2.0, 1.0)
        assert cache.info().files > before
        before = cache.info().files


# ------------------------------------------------------------------------- full disks
def refuse(*_args, **_kwargs):
    raise OSError(errno.ENOSPC, "No space left on device")


class Full:
    """A file that takes a few bytes, and no more."""

    def __init__(self, descriptor: int, *_: object) -> None:
        self.descriptor = descriptor

    def write(self, data: bytes) -> None:
        os.write(self.descriptor, data[:10])
        refuse()

    def __enter__(self) -> Full:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.descriptor)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("module", "name", "stand_in"),
    [
        (os, "replace", refuse),
        (os, "fdopen", Full),
        (tempfile, "mkstemp", refuse),
        (os, "utime", refuse),
    ],
)
def test_a_full_disk_costs_only_time(monkeypatch, folder, module, name, stand_in):
    def f(x):
        return x**3 + 2 * x

    with monkeypatch.context() as patch:
        patch.setattr(module, name, stand_in)
        assert symgrad(f).grad(2.0) == 14.0
    assert not folder.exists() or not list(folder.glob("*.tmp"))
    assert symgrad(f).grad(2.0) == 14.0
    for path in folder.glob("*.kernel"):
        assert cache.load(path.stem) is not None


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no limits of file sizes")
def test_a_disk_that_fills_in_the_middle_of_a_file(folder):
    """The operating system cuts every file off at 600 bytes."""
    code = textwrap.dedent("""
        import resource
        resource.setrlimit(resource.RLIMIT_FSIZE, (600, resource.RLIM_INFINITY))
        import model
        print(model.f.grad(0.5))
    """)
    (folder.parent / "model.py").write_text(MODEL.format(**PLAIN))
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
    environment["PYTHONPATH"] = os.pathsep.join([str(folder.parent), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert float(done.stdout) == slope(folder.parent)[0]
    assert not list(folder.glob("*.tmp"))
    for path in folder.glob("*.kernel"):
        assert cache.load(path.stem) is not None


# --------------------------------------------------------------------------- kill -9
WRITER = """
import sys
from symdiff.runtime import cache
k = 0
print("ready", flush=True)
while True:
    k += 1
    cache.store(f"key{k % 7}", bytes([k % 251]) * 200_000, ("sin", "cos"))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_killed_in_the_middle_of_stores(folder):
    """What is read afterwards is whole, or not there."""
    rng = random.Random(0)
    read = 0
    for _ in range(25):
        writers = [
            subprocess.Popen([sys.executable, "-c", WRITER], stdout=subprocess.PIPE)
            for _ in range(2)
        ]
        for process in writers:
            process.stdout.readline()
        time.sleep(rng.uniform(0.0, 0.02))
        for process in writers:
            process.send_signal(signal.SIGKILL)
            process.wait()
            process.stdout.close()
        for k in range(7):
            found = cache.load(f"key{k}")
            if found is not None:
                code, externals = found
                assert len(code) == 200_000 and len(set(code)) == 1
                assert externals == ("sin", "cos")
                read += 1
    assert read > 25
    for path in folder.glob("*.tmp"):  # of killed processes; they go when they are old
        os.utime(path, (1, 1))
    cache.store("last", b"code", ())
    assert not list(folder.glob("*.tmp"))


def test_the_command_shows_and_clears_it(folder):
    from click.testing import CliRunner

    from symdiff.cli.commands import main

    symgrad(lambda x: x * x * x).grad(2.0)
    files = len(list(folder.glob("*.kernel")))
    shown = CliRunner().invoke(main, ["cache", "info"]).output
    assert f"path: {folder}" in shown and f"files: {files}" in shown
    assert CliRunner().invoke(main, ["cache", "clear"]).output == f"removed {files} files\n"
    assert not list(folder.iterdir())
