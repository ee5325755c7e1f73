"""Any changed file of the package misses the cache; files that only look changed do not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from types import ModuleType

import pytest

import symdiff
from symdiff.runtime import cache, package

OLD = (1_000_000_000, 1_000_000_000)


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A package of a few files in nested folders."""
    place = tmp_path / "package"
    (place / "a" / "b").mkdir(parents=True)
    for name in ("version.py", "a/x.py", "a/b/y.py", "a/b/data.bin"):
        (place / name).write_text(f"value = 1  # {name}\n")
    monkeypatch.setattr(package, "_ROOT", place)
    return place


def names(root: Path) -> list[str]:
    return sorted(str(p.relative_to(root)) for p in root.rglob("*") if p.is_file())


def test_every_file_counts(root):
    before = package.files()
    assert names(root) == [n for n in before.paths if ":" not in n]
    digests = {before.digest()}
    for k, name in enumerate(names(root), 1):
        (root / name).write_text(f"value = 2  # {name}\n")
        now = package.files()
        assert now.signature != before.signature
        digests.add(now.digest())
        assert len(digests) == k + 1
    (root / "a" / "new.py").write_text("")
    digests.add(package.files().digest())
    (root / "a" / "x.py").rename(root / "a" / "z.py")
    digests.add(package.files().digest())
    assert len(digests) == len(names(root)) + 2  # the new file is one of the names


def test_libraries_and_the_interpreter_count(root, monkeypatch):
    found = package.files()
    libraries = {n.partition(":")[0] for n in found.paths if ":" in n}
    assert libraries == {"numpy", "llvmlite", "flint", "numba", "sympy"}
    before = found.digest()
    monkeypatch.setattr(sys, "version", "another interpreter")
    assert package.files().digest() != before


def test_the_same_size_and_time_do_not_hide_a_change(root):
    file = root / "a" / "x.py"
    os.utime(file, OLD)
    before = package.files()
    file.write_text(file.read_text().replace("1", "2"))
    os.utime(file, OLD)
    after = package.files()
    assert before.paths == after.paths and before.signature != after.signature


def test_a_touched_file_is_the_same_content(root):
    before = package.files()
    os.utime(root / "version.py", OLD)
    after = package.files()
    assert before.signature != after.signature and before.digest() == after.digest()


def test_what_is_compiled_is_no_part(root):
    before = package.files()
    (root / "a" / "__pycache__").mkdir()
    (root / "a" / "__pycache__" / "x.pyc").write_bytes(b"code")
    assert package.files() == before


def test_a_package_that_is_no_folder_is_not_kept(root, monkeypatch, tmp_path):
    monkeypatch.setattr(package, "_ROOT", root / "version.py")
    assert package.files() is None
    monkeypatch.setattr(package, "_ROOT", tmp_path / "nowhere")
    assert package.files() is None


# ------------------------------------------------------------------- in the cache
@pytest.fixture
def fresh(root, tmp_path, monkeypatch):
    """The cache as in a process that has just begun to import that package."""
    monkeypatch.setenv("SYMDIFF_CACHE_DIR", str(tmp_path / "cache"))

    def begin() -> None:
        monkeypatch.setattr(package, "STARTED", time.time_ns() + 2**40)
        monkeypatch.setattr(cache, "_examined", set())
        monkeypatch.setattr(cache, "_changed", [])
        for memo in (cache._imported, cache._digest):
            memo.cache_clear()

    begin()
    yield begin
    for memo in (cache._imported, cache._digest):
        memo.cache_clear()


def imported(monkeypatch: pytest.MonkeyPatch, file: Path) -> None:
    """As if a module of the package had been imported."""
    module = ModuleType("imported")
    module.__file__ = str(file)
    monkeypatch.setitem(sys.modules, f"imported {file.stem}", module)


def test_nothing_is_kept_by_a_process_whose_files_change(root, fresh, monkeypatch):
    imported(monkeypatch, root / "a" / "b" / "y.py")
    name = cache.key("k")
    cache.store(name, b"code", ())
    (root / "a" / "x.py").write_text("value = 2\n")
    imported(monkeypatch, root / "a" / "x.py")
    looked = []
    examine = package.Files.are_as_before
    monkeypatch.setattr(
        package.Files, "are_as_before", lambda *args: looked.append(1) or examine(*args)
    )
    other = cache.key("other")
    for _ in range(3):
        cache.store(other, b"code of two versions", ())
    assert cache.load(other) is None and cache.load(name) == (b"code", ())
    assert len(looked) == 1
    fresh()
    assert cache.key("k") != name
    cache.store(cache.key("k"), b"code", ())
    assert cache.load(cache.key("k")) == (b"code", ())


@pytest.mark.parametrize("change", ["content", "removed", "new", "library"])
def test_files_that_are_imported_later_are_examined(root, fresh, monkeypatch, change):
    library = root.parent / "library"
    library.mkdir()
    (library / "__init__.py").write_text("")
    (library / "version.py").write_text("version = 1\n")
    monkeypatch.setattr(package, "_STANDS_ON", ("library",))
    monkeypatch.syspath_prepend(root.parent)
    cache.store(cache.key("k"), b"code", ())
    assert cache.load(cache.key("k")) is not None
    file = root / "a" / "x.py"
    match change:
        case "content":
            file.write_text(file.read_text().replace("1", "2"))
        case "removed":
            file.unlink()
        case "new":
            file = root / "a" / "z.py"
            file.write_text("")
        case "library":
            (library / "version.py").write_text("version = 2\n")
            file = root / "version.py"
    imported(monkeypatch, file)
    cache.store(cache.key("later"), b"code of two versions", ())
    assert cache.load(cache.key("later")) is None


def test_files_are_listed_and_read_once(root, fresh, monkeypatch):
    """Modules that are imported later need their own files examined alone."""
    monkeypatch.setattr(package, "_SETTLED", 2**60)
    calls = []
    scan, read = package.files, package.Files.digest
    monkeypatch.setattr(package, "files", lambda: calls.append("list") or scan())
    monkeypatch.setattr(package.Files, "digest", lambda files: calls.append("read") or read(files))
    for k, file in enumerate(("version.py", "a/x.py", "a/b/y.py")):
        imported(monkeypatch, root / file)
        cache.store(cache.key(k), b"code", ())
        assert cache.load(cache.key(k)) is not None
    assert calls == ["list", "read"]


def test_files_that_changed_after_the_start_are_not_those_that_run(root, fresh, monkeypatch):
    monkeypatch.setattr(package, "STARTED", time.time_ns() - 10**9)
    cache.store(cache.key("k"), b"code", ())
    assert cache.load(cache.key("k")) is None and cache.info().files == 0


def test_the_digest_is_remembered_once_files_are_settled(root, fresh, monkeypatch):
    cache.store(cache.key("k"), b"code", ())
    memos = lambda: sorted(cache.folder().glob("*.package"))
    assert not memos()  # written a moment ago
    monkeypatch.setattr(package, "_SETTLED", -(2**40))
    fresh()
    name = cache.key("k")
    cache.store(name, b"code", ())
    assert len(memos()) == 1
    monkeypatch.setattr(package.Files, "digest", lambda files: pytest.fail("read again"))
    fresh()
    assert cache.key("k") == name


RUN = """
    import sys
    sys.path.insert(0, {place!r})
    from symdiff.codegen.llvm import jit
    import symdiff
    assert symdiff.__file__.startswith({place!r})
    compiled = []
    original = jit.compile_object
    jit.compile_object = lambda *a, **k: compiled.append(a) or original(*a, **k)
    import model
    assert symdiff.symgrad(model.f).grad(2.0) == 13.0
    print(len(compiled))
"""


@pytest.mark.slow
def test_an_upgrade_in_place_compiles_again(tmp_path):
    """A comment in a file that no list of modules would hold is enough."""
    source = Path(symdiff.__file__).parent
    shutil.copytree(source, tmp_path / "symdiff", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "model.py").write_text("def f(x):\n    return x * x * x + x\n")
    environment = dict(os.environ, SYMDIFF_CACHE_DIR=str(tmp_path / "cache"))

    def compiled() -> int:
        code = textwrap.dedent(RUN.format(place=str(tmp_path)))
        done = subprocess.run(
            [sys.executable, "-B", "-c", code], env=environment, cwd=tmp_path,
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return int(done.stdout)

    first = compiled()
    assert first > 0 and compiled() == 0
    files = sorted((tmp_path / "symdiff").rglob("*.py"))
    for file in (files[0], files[len(files) // 2], files[-1]):
        file.write_text(file.read_text() + "# changed\n")
        assert compiled() == first
        assert compiled() == 0
