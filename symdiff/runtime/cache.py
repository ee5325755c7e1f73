"""The disk cache of compiled kernels: one file per kernel, named by its key.

A key holds a digest of all code of the package (`symdiff.runtime.package`), so a changed file
finds nothing that was kept before. A file is complete or not there (it is written aside and
renamed), carries a digest of its content and its name, and is thrown away if that is wrong. What is kept is
code that will run: only files of this user are read, which nobody else may write. A disk that is
full or read-only only means that nothing is kept. Several processes may use the folder at once,
and may be killed at any moment.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from symdiff.ir.pass_lists import replaced
from symdiff.runtime import package

LIMIT = 256 * 2**20
"""Bytes kept by default; `SYMDIFF_CACHE_SIZE` (bytes) overrides it."""

_MAGIC = b"symdiff-object-2\n"
_SUFFIX = ".kernel"
MODULES = "modules"
"""The folder of generated modules, which Numba compiles; see `symdiff.runtime.generated_modules`."""
_PACKAGE = ".package"
"""Of files that hold the digest of the package whose files have a signature."""
_SUFFIXES = (_SUFFIX, _PACKAGE, ".tmp")
_STALE = 3600.0
_DIGEST = 32
_OTHERS = stat.S_IWGRP | stat.S_IWOTH
SELDOM = 64
"""Kernels that are kept between two looks at all of them."""
_sizes: dict[Path, tuple[int, int]] = {}
"""Bytes in a folder as far as is known, and the kernels kept since that was counted."""


_examined: set[str] = set()
"""The modules that had been imported when the files were last found unchanged."""
_changed: list[bool] = []
"""Not empty where files have changed: nothing is kept from then on, and nobody examines them."""


class Info(NamedTuple):
    """What the cache holds."""

    path: Path
    files: int
    bytes: int
    limit: int


def folder() -> Path:
    """`$SYMDIFF_CACHE_DIR`, or the user's cache folder of this platform."""
    given = os.environ.get("SYMDIFF_CACHE_DIR")
    if given:
        return Path(given)
    import platformdirs

    return Path(platformdirs.user_cache_dir("symdiff", appauthor=False))


def limit() -> int:
    try:
        return int(os.environ["SYMDIFF_CACHE_SIZE"])
    except (KeyError, ValueError):
        return LIMIT


def key(*parts: object) -> str:
    """A name for what was compiled by this package, with the passes that it has now; the parts' `repr` must tell
    all about it."""
    return hashlib.blake2b(
        repr((_digest(), replaced(), parts)).encode(), digest_size=20
    ).hexdigest()


@functools.cache
def _imported() -> package.Files | None:
    """The files of the package, if they are still those that this process imports from."""
    found = package.files()
    return found if found is not None and found.are_those_imported else None


@functools.cache
def _digest() -> str:
    """A digest of the content of the package; "" if it is not known, and nothing is kept."""
    files = _imported()
    if files is None:
        return ""
    known = _read(files.signature, _PACKAGE)
    if known is not None:
        return known.decode()
    try:
        return files.digest()
    except OSError:
        return ""


def _is_current() -> bool:
    """Whether the code that runs is what `_digest` tells. Modules are imported when they are
    needed first: after an upgrade in place those that follow are of another version."""
    if not _digest() or _changed:
        return False
    new = sys.modules.keys() - _examined
    if not new:
        return True
    files = _imported()
    if files is None or not files.are_as_before([sys.modules.get(name) for name in new]):
        _changed.append(True)
        return False
    _examined.update(new)
    if files.are_settled and not _path(files.signature, _PACKAGE).exists():
        now = package.files()  # the digest is that of the signature if nothing has changed
        if now is not None and now.signature == files.signature:
            _write(files.signature, _PACKAGE, _digest().encode())
    return True


def load(name: str) -> tuple[bytes, tuple[str, ...]] | None:
    """Object code and the C functions it calls, as stored under a key, or None."""
    payload = _read(name, _SUFFIX) if _digest() else None
    if payload is None:
        return None
    with contextlib.suppress(OSError):
        os.utime(_path(name, _SUFFIX))
    listed, _, code = payload.partition(b"\n")
    return code, tuple(listed.decode().split())


def store(name: str, code: bytes, externals: Sequence[str]) -> None:
    """Keep object code under a key, if the disk lets us."""
    payload = " ".join(externals).encode() + b"\n" + code
    if len(payload) <= limit() and _is_current() and _write(name, _SUFFIX, payload):
        _grown(folder(), len(payload))


def _path(name: str, suffix: str) -> Path:
    return folder() / (name + suffix)


def _read(name: str, suffix: str) -> bytes | None:
    """What a file holds, if it is ours and whole; what is not whole is removed."""
    path = _path(name, suffix)
    data = None
    try:
        if not _is_private(os.stat(path.parent)):
            return None
        descriptor = os.open(path, os.O_RDONLY | _SAFELY)
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or not _is_private(status):
                return None
            data = file.read()
    except OSError:
        return None
    head = len(_MAGIC) + _DIGEST
    payload = data[head:]
    if data[:head] == _MAGIC + _checksum(name, payload):
        return payload
    with contextlib.suppress(OSError):
        path.unlink()
    return None


_SAFELY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""Links are not followed, and pipes not waited for."""


def _is_private(status: os.stat_result) -> bool:
    """Whether only this user, and the system's, can have written a file or folder."""
    if not hasattr(os, "geteuid"):
        return True
    return status.st_uid in (os.geteuid(), 0) and not status.st_mode & _OTHERS


def _write(name: str, suffix: str, payload: bytes) -> bool:
    """Whether the file is there now, whole."""
    temporary = None
    try:
        directory = private_folder()
        descriptor, temporary = tempfile.mkstemp(suffix=".tmp", dir=directory)
        with os.fdopen(descriptor, "wb") as file:
            file.write(_MAGIC + _checksum(name, payload) + payload)
        os.replace(temporary, directory / (name + suffix))
    except BaseException as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        if isinstance(error, OSError):
            return False
        raise
    return True


def private_folder(*names: str) -> Path:
    """The folder of the cache, or one in it, which only its user may read or write.

    Raises
    ------
    OSError : if it cannot be made, or is another user's.
    """
    directory = folder().joinpath(*names)
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = os.stat(directory)
    if hasattr(os, "geteuid"):
        if status.st_uid != os.geteuid():
            raise PermissionError(f"{directory} is another user's")
        if status.st_mode & _OTHERS:
            os.chmod(directory, 0o700)
    return directory


def _checksum(name: str, payload: bytes) -> bytes:
    return hashlib.blake2b(payload, digest_size=_DIGEST, key=name.encode()).digest()


def _files(directory: Path) -> Iterator[tuple[os.DirEntry[str], os.stat_result]]:
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            if entry.name.endswith(_SUFFIXES):
                with contextlib.suppress(OSError):
                    yield entry, entry.stat(follow_symlinks=False)


def _grown(directory: Path, size: int) -> None:
    """Look at all files only where they may be too many: after some kernels, as other
    processes keep some too."""
    total, count = _sizes.get(directory, (0, SELDOM))
    if count < SELDOM and total + size <= limit():
        _sizes[directory] = total + size, count + 1
    else:
        _sizes[directory] = _evict(directory), 0


def _evict(directory: Path) -> int:
    """Drop what was left behind half-written, then the kernels unused for longest.
    Returns the size of what stays."""
    kept = []
    total = 0
    for entry, status in _files(directory):
        if entry.name.endswith(".tmp"):
            if time.time() - status.st_mtime > _STALE:
                _remove(entry)
            continue
        kept.append((status.st_mtime, status.st_size, entry))
        total += status.st_size
    bound = limit()
    if total <= bound:
        return total
    for _, size, entry in sorted(kept, key=lambda item: item[0]):
        _remove(entry)
        total -= size
        if total <= 0.9 * bound:
            break
    return total


def _remove(entry: os.DirEntry[str]) -> bool:
    try:
        os.unlink(entry.path)
    except OSError:
        return False
    return True


def info() -> Info:
    """Where the cache is, how many kernels it holds, and their size in bytes."""
    directory = folder()
    sizes = [s.st_size for e, s in _files(directory) if e.name.endswith(_SUFFIX)]
    return Info(directory, len(sizes), sum(sizes), limit())


def clear() -> int:
    """Remove every kernel that is kept; returns how many there were."""
    shutil.rmtree(folder() / MODULES, ignore_errors=True)
    removed = [(entry.name, _remove(entry)) for entry, _ in list(_files(folder()))]
    return sum(done for name, done in removed if not name.endswith(_PACKAGE))
