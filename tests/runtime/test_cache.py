"""The disk cache: hits, corruption, bounds, several processes, changes of the source, full disks and kill -9."""

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

import numpy as np
import pytest
from click.testing import CliRunner

from symdiff import symgrad
from symdiff.cli.commands import main
from symdiff.codegen.llvm import jit
from symdiff.ir import Op, const, mul, var
from symdiff.ir import functions as F
from symdiff.runtime import cache
from symdiff.runtime.protocols import Plain
from symdiff.runtime.scalar import compiled
from symdiff.runtime.scalar.kernel import Kernel

x = var("x")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SYMDIFF_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def cold(monkeypatch):
    """Forget the code in memory; returns how often LLVM was asked to compile."""
    compiled_texts = []
    original = jit.compile_object

    def counting(text, **options):
        compiled_texts.append(text)
        return original(text, **options)

    def forget():
        monkeypatch.setattr(compiled, "_linked", {})

    monkeypatch.setattr(jit, "compile_object", counting)
    forget()
    return compiled_texts, forget


def run(factor=2.0) -> None:
    kernel = Kernel(Plain("f", ("x",), (mul(const(factor), F.SIN(x)),)))
    assert kernel.fast(0.5) == factor * np.sin(0.5)
    np.testing.assert_allclose(kernel((np.full(9, 0.5),))[0], factor * np.sin(0.5), rtol=1e-15)


def test_a_second_time_nothing_is_compiled(cold):
    texts, forget = cold
    run()
    assert len(texts) == 3 and cache.info().files == 3  # point, body, driver
    forget()
    run()
    assert len(texts) == 3
    run(4.0)
    assert len(texts) == 5


def test_what_a_key_depends_on(monkeypatch):
    def spec(**changes):
        given = {"params": ("x",), "outputs": (F.SIN(x),), "test": None, "dtype": "float64",
                 "accuracy": "high", "cache": True}  # fmt: skip
        return compiled.Spec(**{**given, **changes})

    base = spec().key("point")
    assert base == spec().key("point") == spec(cache=False).key("point")
    others = [
        spec(outputs=(F.COS(x),)),
        spec(params=("x", "y")),
        spec(params=("y", "x")),
        spec(dtype="float32"),
        spec(accuracy="strict"),
        spec(outputs=(F.SIN(x), F.SIN(x))),
    ]
    keys = [s.key("point") for s in others] + [base, spec().key("body"), spec().key("point", "avx")]
    monkeypatch.setattr(jit, "host", lambda: "another processor")
    keys.append(spec().key("point"))
    monkeypatch.setattr(cache, "_digest", lambda: "another version")
    keys.append(spec().key("point"))
    assert len(set(keys)) == len(keys)


def test_a_users_own_function_is_part_of_the_key():
    """Its formula is not in the table, so its name does not tell what is compiled."""
    op = Op("test_own", 1, expand=lambda v: F.SIN(v))
    spec = compiled.Spec(("x",), (op(x),), None, "float64", "high", True)
    before = spec.key("point")
    object.__setattr__(op, "expand", lambda v: F.COS(v))
    assert spec.key("point") != before


@pytest.mark.sampled
@pytest.mark.parametrize("damage", ["truncate", "flip", "empty", "swap"])
def test_damaged_files_are_compiled_again(folder, cold, damage):
    texts, forget = cold
    run()
    files = sorted(folder.glob("*.kernel"))
    contents = [f.read_bytes() for f in files]
    for k, file in enumerate(files):
        data = bytearray(contents[k])
        if damage == "truncate":
            data = data[: len(data) // 2]
        elif damage == "flip":
            data[-40] ^= 1
        elif damage == "empty":
            data = bytearray()
        else:  # the right format, of another kernel
            data = bytearray(contents[(k + 1) % len(files)])
        file.write_bytes(data)
    forget()
    run()
    assert len(texts) == 6
    forget()
    run()
    assert len(texts) == 6


def test_cache_off(folder):
    Kernel(Plain("f", ("x",), (x + const(1),)), cache=False).fast(1.0)
    assert not folder.exists()


def test_unwritable_folder(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("not a folder")
    monkeypatch.setenv("SYMDIFF_CACHE_DIR", str(file / "below"))
    run(8.0)
    assert cache.info().files == 0 and cache.clear() == 0


def test_bounded(monkeypatch, folder):
    monkeypatch.setenv("SYMDIFF_CACHE_SIZE", "10000")
    for k in range(8):
        cache.store(f"key{k}", bytes(2000), ())
        os.utime(folder / f"key{k}.kernel", (k, k))
    kept = {p.stem for p in folder.glob("*.kernel")}
    assert cache.info().bytes <= 10000
    assert "key7" in kept and "key0" not in kept
    cache.store("huge", bytes(20000), ())
    assert cache.load("huge") is None and cache.load("key7") is not None


def test_a_hit_keeps_a_kernel_young(folder):
    cache.store("k", b"code", ("sin",))
    os.utime(folder / "k.kernel", (1, 1))
    assert cache.load("k") == (b"code", ("sin",))
    assert (folder / "k.kernel").stat().st_mtime > 1


def test_leftovers_of_killed_processes_go(monkeypatch, folder):
    cache.store("a", b"code", ())
    (folder / "old.tmp").write_bytes(b"half")
    os.utime(folder / "old.tmp", (1, 1))
    (folder / "new.tmp").write_bytes(b"half")
    monkeypatch.setattr(cache, "_sizes", {})  # as in another process
    cache.store("b", b"code", ())
    left = sorted(p.name for p in folder.iterdir() if p.suffix != ".package")
    assert left == ["a.kernel", "b.kernel", "new.tmp"]


def test_info_and_clear(folder):
    run()
    info = cache.info()
    assert info.path == folder and info.files == len(list(folder.iterdir())) and info.bytes > 0
    assert cache.clear() == info.files and cache.info().files == 0


WORKER = """
import numpy as np
from symdiff.ir import functions as F, var  # noqa: N812
from symdiff.runtime.protocols import Plain
from symdiff.runtime.scalar.kernel import Kernel
k = Kernel(Plain("f", ("x",), (F.SIN(var("x")) * F.EXP(var("x")),)))
print(k.fast(0.5), k((np.full(5, 0.5),))[0][3])
"""


@pytest.mark.slow
def test_processes_that_meet_the_cache_cold(folder):
    started = [
        subprocess.Popen([sys.executable, "-c", WORKER], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    texts = {p.communicate(timeout=60)[0] for p in started}
    assert len(texts) == 1 and texts.pop().strip() and all(p.returncode == 0 for p in started)
    assert cache.info().files == 3 and not list(folder.glob("*.tmp"))


@pytest.mark.slow
def test_killed_at_any_moment(folder):
    for delay in np.linspace(0.1, 0.5, 12):
        cache.clear()
        process = subprocess.Popen([sys.executable, "-c", WORKER], stdout=subprocess.DEVNULL)
        time.sleep(delay)
        process.kill()
        process.wait()
        done = subprocess.run([sys.executable, "-c", WORKER], capture_output=True, check=True)
        assert done.stdout


@pytest.mark.slow
def test_a_warm_start_imports_little():
    """A cached kernel runs without SymPy and Numba, and is not lowered again."""
    code = (
        "import symdiff, sys; before = set(sys.modules)\n"
        + WORKER
        + "new = set(sys.modules) - before\n"
        + "assert not {'flint', 'concurrent.futures', 'sysconfig'} & new, new\n"
        + "assert not {'sympy', 'numba'} & set(sys.modules)"
    )
    for _ in range(2):
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


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
UNCHANGED = {"scale": "2.0", "helper": "* x", "body": "", "shift": "3.0"}


def slope(tmp_path, **changes: str) -> tuple[float, int]:
    """The derivative at 0.5 that a fresh process finds, and how often it compiled."""
    (tmp_path / "model.py").write_text(MODEL.format(**{**UNCHANGED, **changes}))
    code = textwrap.dedent(f"""
        import sys
        from symdiff.codegen.llvm import jit
        sys.path.insert(0, {str(tmp_path)!r})
        sys.dont_write_bytecode = True
        compiled = []
        original = jit.compile_object
        jit.compile_object = lambda *a, **k: compiled.append(a) or original(*a, **k)
        import model
        print(repr(model.f.grad(0.5)), len(compiled))
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
    left = {p.suffix for p in folder.iterdir()} if folder.exists() else set()
    assert left <= ({".kernel", ".package"} if name == "utime" else {".package"})
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
    (folder.parent / "model.py").write_text(MODEL.format(**UNCHANGED))
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
    symgrad(lambda x: x * x * x).grad(2.0)
    files = len(list(folder.glob("*.kernel")))
    shown = CliRunner().invoke(main, ["cache", "info"]).output
    assert f"path: {folder}" in shown and f"files: {files}" in shown
    assert CliRunner().invoke(main, ["cache", "clear"]).output == f"removed {files} files\n"
    assert not list(folder.iterdir())
