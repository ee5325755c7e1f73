"""The disk cache of compiled kernels: one file per kernel, named by its key.

A file is complete or not there (it is written aside and renamed), carries a
checksum, and is thrown away if that is wrong. A disk that is full or read-only
only means that nothing is kept. Several processes may use the folder at once, and
may be killed at any moment.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

LIMIT = 256 * 2**20
"""Bytes kept by default; `SYMDIFF_CACHE_SIZE` (bytes) overrides it."""

_MAGIC = b"symdiff-object-1\n"
_SUFFIX = ".kernel"
_STALE = 3600.0
_DIGEST = 16
SELDOM = 64
"""Kernels that are kept between two looks at all of them."""
_sizes: dict[Path, tuple[int, int]] = {}
"""Bytes in a folder as far as is known, and the kernels kept since that was counted."""


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
    """A name for what was compiled; the parts' `repr` must tell all about it."""
    return hashlib.blake2b(repr(parts).encode(), digest_size=20).hexdigest()


def load(name: str) -> tuple[bytes, tuple[str, ...]] | None:
    """Object code and the C functions it calls, as stored under a key, or None."""
    path = folder() / (name + _SUFFIX)
    try:
        data = path.read_bytes()
    except OSError:
        return None
    head = len(_MAGIC) + _DIGEST
    payload = data[head:]
    if data[:head] != _MAGIC + _checksum(name, payload):
        with contextlib.suppress(OSError):
            path.unlink()
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    listed, _, code = payload.partition(b"\n")
    return code, tuple(listed.decode().split())


def store(name: str, code: bytes, externals: Sequence[str]) -> None:
    """Keep object code under a key, if the disk lets us."""
    payload = " ".join(externals).encode() + b"\n" + code
    if len(payload) > limit():
        return
    directory = folder()
    temporary = None
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(suffix=".tmp", dir=directory)
        with os.fdopen(descriptor, "wb") as file:
            file.write(_MAGIC + _checksum(name, payload) + payload)
        os.replace(temporary, directory / (name + _SUFFIX))
        _grown(directory, len(payload))
    except OSError:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def _checksum(name: str, payload: bytes) -> bytes:
    return hashlib.blake2b(payload, digest_size=_DIGEST, key=name.encode()).digest()


def _files(directory: Path) -> Iterator[tuple[os.DirEntry[str], os.stat_result]]:
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            if entry.name.endswith((_SUFFIX, ".tmp")):
                with contextlib.suppress(OSError):
                    yield entry, entry.stat()


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
    for entry, stat in _files(directory):
        if entry.name.endswith(".tmp"):
            if time.time() - stat.st_mtime > _STALE:
                _remove(entry)
            continue
        kept.append((stat.st_mtime, stat.st_size, entry))
        total += stat.st_size
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
    removed = [
        _remove(entry) for entry, _ in _files(folder()) if entry.name.endswith((_SUFFIX, ".tmp"))
    ]
    return sum(removed)
