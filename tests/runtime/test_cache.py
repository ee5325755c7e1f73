"""The disk cache: hits, corruption, full disks, bounds, several processes."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest

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


def test_full_disk(monkeypatch, folder):
    def full(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    run(16.0)
    assert list(folder.iterdir()) == []


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
    assert sorted(p.name for p in folder.iterdir()) == ["a.kernel", "b.kernel", "new.tmp"]


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
