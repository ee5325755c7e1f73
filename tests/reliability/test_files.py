"""Files that the user names are written through what is there."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner

from symdiff import SymdiffError, symgrad
from symdiff.cli.commands import main
from symdiff.export import files

posix = pytest.mark.skipif(os.name != "posix", reason="links, pipes and permissions of POSIX")


def write(path: Path) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["compile", "x**2", "-o", str(path), "--companion", "none"])
    assert "Traceback" not in result.output
    return result.exit_code, result.stderr


def test_a_new_file_has_usual_permissions(tmp_path: Path) -> None:
    assert write(tmp_path / "new.py")[0] == 0
    (tmp_path / "other").write_text("")
    modes = {stat.S_IMODE((tmp_path / n).stat().st_mode) for n in ("new.py", "other")}
    assert len(modes) == 1
    assert sorted(os.listdir(tmp_path)) == ["new.py", "other"]


@posix
def test_permissions_stay(tmp_path: Path) -> None:
    path = tmp_path / "there.py"
    path.write_text("old")
    path.chmod(0o755)
    assert write(path)[0] == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o755 and "def f(" in path.read_text()


@pytest.mark.slow
@posix
def test_links_are_written_through(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "target.py", tmp_path / "link.py"
    link.symlink_to(target)
    assert write(link)[0] == 0  # to nothing yet
    assert link.is_symlink() and "def f(" in target.read_text()
    target.write_text("old")
    assert write(link)[0] == 0
    assert link.is_symlink() and "def f(" in target.read_text()
    assert os.listdir(tmp_path / "folder") == ["target.py"]


@posix
def test_all_names_of_a_file_show_the_new_content(tmp_path: Path) -> None:
    first, second = tmp_path / "first.py", tmp_path / "second.py"
    first.write_text("old " * 10_000)
    os.link(first, second)
    assert write(second)[0] == 0
    assert first.samefile(second) and first.read_text() == second.read_text()
    assert first.read_text().startswith('"""')


@pytest.mark.sampled
@posix
@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "read-only", "loop", "no folder"])
def test_what_is_no_file_to_write_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "there.py"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path = Path("/dev/null")
    elif kind == "loop":
        path.symlink_to(path)
    elif kind == "no folder":
        path = tmp_path / "absent" / "there.py"
    else:
        path.write_text("precious")
        path.chmod(0o444)
    before = os.lstat(path) if kind != "no folder" else None
    code, message = write(path)
    assert code == 2 and message.startswith(f"cannot write {path}: ")
    assert message.count("\n") == 1
    if before is not None:
        assert os.lstat(path).st_mode == before.st_mode
        assert os.lstat(path).st_ino == before.st_ino
    if kind == "read-only":
        assert path.read_text() == "precious"


@pytest.mark.parametrize("linked", [False, True])
def test_a_full_disk_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, linked: bool
) -> None:
    path = tmp_path / "there.py"
    path.write_text("precious")
    if linked:
        os.link(path, tmp_path / "other.py")
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    calls = []

    def failing(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) == 1:
            raise full

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(SymdiffError, match="No space left"):
        files.write_text(path, "new")
    assert path.read_text() == "precious"
    assert len(list(tmp_path.iterdir())) == 1 + linked


def square(x: float) -> float:
    return x * x


def test_functions_are_saved_in_the_same_way(tmp_path: Path) -> None:
    (tmp_path / "there.py").mkdir()
    with pytest.raises(SymdiffError, match="it is a folder"):
        symgrad(square).save(tmp_path / "there.py")
