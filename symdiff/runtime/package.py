"""Which code this is: a digest of all files of the package, and of what it stands on.

The content of the files decides. As reading them all takes longer than a warm start may take,
`Files.signature` tells cheaply whether they are the ones of last time, as `make` and `git` do:
by size, inode, and the times of the last changes of content and of status, of which a program
cannot set the latter. So files are read once an installation, and examined once a process; later
only those that the process has imported since are.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from symdiff.version import STARTED

_ROOT = Path(__file__).resolve().parent.parent
_STANDS_ON = ("numpy", "llvmlite", "flint", "numba", "sympy")
_VERSIONED = ("__init__.py", "_version.py", "version.py", "release.py")
"""The files, including one with the version of a library."""

_SETTLED = 2 * 10**9
"""Nanoseconds after which a file that changes again has another time, on any file system."""
_TICK = 20 * 10**6
"""Nanoseconds by which the clock of a file system may be behind."""


State = tuple[int, int, int, int]
"""Size, inode, and when content and status were changed last."""


class Files(NamedTuple):
    """The files that decide what is compiled, without their content.

    Attributes
    ----------
    paths : of all files, by the name under which they are counted.
    states : of all files, by their paths.
    signature : changes when any file does.
    newest : when one of them was changed last, in nanoseconds.
    """

    paths: dict[str, str]
    states: dict[str, State]
    signature: str
    newest: int

    @property
    def are_those_imported(self) -> bool:
        """Whether none has changed since this process began to import them."""
        return self.newest < STARTED - _TICK

    @property
    def are_settled(self) -> bool:
        """Whether the signature would change with the content from now on: a file that was
        written a moment ago may be written again within one tick of its clock."""
        return self.newest < time.time_ns() - _SETTLED

    def digest(self) -> str:
        """Of their names and content, and of the interpreter."""
        digest = hashlib.blake2b(_interpreter().encode(), digest_size=20)
        for name, path in self.paths.items():
            with open(path, "rb") as file:
                content = file.read()
            digest.update(f"\n{name} {len(content)}\n".encode())
            digest.update(content)
        return digest.hexdigest()

    def are_as_before(self, modules: Iterable[ModuleType | None]) -> bool:
        """Whether the files of some modules, and those with versions, are still the same.

        Parameters
        ----------
        modules : imported ones; those of other packages do not matter.
        """
        files = [getattr(m, "__file__", None) or "" for m in modules]
        root = os.path.join(_ROOT, "")
        own = [f for f in files if f.startswith(root)]
        own += [path for name, path in self.paths.items() if ":" in name]
        try:
            for path in own:
                s = os.stat(path)
                now = s.st_size, s.st_ino, s.st_mtime_ns, s.st_ctime_ns
                if self.states.get(path) != now:
                    return False
        except OSError:
            return False
        return True


def files() -> Files | None:
    """The files as they are now; None if the package does not consist of files."""
    paths: dict[str, str] = {}
    states: dict[str, State] = {}
    try:
        _collect(str(_ROOT), paths, states)
        for name in _STANDS_ON:
            _collect_versions(name, paths, states)
    except OSError:
        return None
    if "version.py" not in paths:
        return None
    paths = dict(sorted(paths.items()))
    seen = [(name, states[path]) for name, path in paths.items()]
    text = repr((_interpreter(), str(_ROOT), seen))
    signature = hashlib.blake2b(text.encode(), digest_size=20).hexdigest()
    newest = max([max(modified, changed) for _, _, modified, changed in states.values()])
    return Files(paths, states, signature, newest)


def _interpreter() -> str:
    return f"{sys.version} {sys.implementation.cache_tag} {sys.platform} {sys.maxsize}"


def _collect(root: str, paths: dict[str, str], states: dict[str, State]) -> None:
    """The files of a folder and of those in it, without calls of Python functions: there are many."""
    left = [(root, "")]
    while left:
        folder, prefix = left.pop()
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if entry.is_dir():
                    if name != "__pycache__":
                        left.append((entry.path, f"{prefix}{name}/"))
                    continue
                # Windows lists folders with less than that
                s = entry.stat() if os.name == "posix" else os.stat(entry.path)
                paths[prefix + name] = entry.path
                states[entry.path] = s.st_size, s.st_ino, s.st_mtime_ns, s.st_ctime_ns


def _collect_versions(library: str, paths: dict[str, str], states: dict[str, State]) -> None:
    """The files that say a library's version; it need not be imported, which takes long."""
    folder = _folder(library)
    for name in _VERSIONED if folder is not None else ():
        path = os.path.join(folder or "", name)
        try:
            s = os.stat(path)
        except OSError:
            continue
        paths[f"{library}:{name}"] = path
        states[path] = s.st_size, s.st_ino, s.st_mtime_ns, s.st_ctime_ns


def _folder(library: str) -> str | None:
    """Where a library is."""
    module = sys.modules.get(library)
    if module is not None and getattr(module, "__file__", None):
        return os.path.dirname(str(module.__file__))
    for place in sys.path:
        folder = os.path.join(place, library)
        if os.path.isfile(os.path.join(folder, "__init__.py")):
            return folder
    try:
        spec = find_spec(library)
    except (ImportError, ValueError):
        return None
    return None if spec is None or spec.origin is None else os.path.dirname(spec.origin)
