"""Writing the files that a user names: through what is there, whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat

from symdiff.errors import SymdiffError

_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
_KINDS = (
    (stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"),
)  # fmt: skip


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file in UTF-8; see `write`."""
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise SymdiffError(f"cannot write {os.fspath(path)}: {error.reason}") from None
    write(path, data)


def write(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file, whole or not at all.

    What a symbolic link points to is written, not the link; a file that is there keeps its
    permissions, its owner and its other names. It is replaced in one step where that keeps
    them, and written in place otherwise.

    Raises
    ------
    SymdiffError : if the file cannot be written, or must not be: it is read-only, or is no
        regular file.
    """
    try:
        real = os.path.realpath(path)
        try:
            there = os.stat(real)
        except FileNotFoundError:
            _replace(real, data, None)
            return
        for test, kind in _KINDS:
            if test(there.st_mode):
                raise SymdiffError(f"cannot write {os.fspath(path)}: it is {kind}")
        if not there.st_mode & _WRITABLE or not os.access(real, os.W_OK):
            raise SymdiffError(f"cannot write {os.fspath(path)}: it is read-only")
        ours = not hasattr(os, "geteuid") or (
            there.st_uid == os.geteuid() and there.st_gid == os.getegid()
        )
        if there.st_nlink == 1 and ours and os.access(os.path.dirname(real), os.W_OK):
            _replace(real, data, stat.S_IMODE(there.st_mode))
        else:
            _overwrite(real, data)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SymdiffError(f"cannot write {os.fspath(path)}: {reason}") from None


def _replace(path: str, data: bytes, mode: int | None) -> None:
    """Move a new file to its place; a mode of None is that of new files."""
    temporary = f"{os.path.join(os.path.dirname(path), '.symdiff-')}{secrets.token_hex(8)}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _overwrite(path: str, data: bytes) -> None:
    """Write into the file; if that fails, what was there is put back."""
    with open(path, "r+b") as file:
        before = file.read()
        try:
            _fill(file.fileno(), data)
        except BaseException:
            with contextlib.suppress(OSError):
                _fill(file.fileno(), before)
            raise


def _fill(descriptor: int, data: bytes) -> None:
    written = 0
    os.lseek(descriptor, 0, os.SEEK_SET)
    while written < len(data):
        written += os.write(descriptor, data[written:])
    os.ftruncate(descriptor, len(data))
    os.fsync(descriptor)
