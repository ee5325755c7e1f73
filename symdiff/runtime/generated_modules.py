"""Modules of generated source, imported: from files, so that Numba keeps what it compiles of them.

The files are in a folder of the cache that only its user may write, or in one for this process.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import importlib.util
import os
import shutil
import sys
import tempfile
from pathlib import Path
from types import ModuleType

from symdiff.process.locks import Lock
from symdiff.runtime import cache

MOST = 400
"""Modules that are kept; the oldest go first."""
_lock = Lock()


def loaded(text: str, keep: bool) -> ModuleType:
    """The module with this source; `keep`: whether what Numba compiles is kept on disk."""
    name = "symdiff_generated_" + hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
    with _lock:
        found = sys.modules.get(name)
        if found is not None:
            return found
        path = _folder(keep) / f"{name}.py"
        if not (path.exists() and path.read_text(encoding="utf-8") == text):
            descriptor, temporary = tempfile.mkstemp(suffix=".tmp", dir=path.parent)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(temporary, path)
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
        return module


def _folder(keep: bool) -> Path:
    """Where modules are written."""
    if keep:
        try:
            found = cache.private_folder(cache.MODULES)
            _trim(found)
            return found
        except OSError:
            pass
    return _temporary()


@functools.cache
def _temporary() -> Path:
    made = Path(tempfile.mkdtemp(prefix="symdiff-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def _trim(folder: Path) -> None:
    """Remove the oldest modules, with what Numba keeps of them, if there are many."""
    files = list(folder.glob("symdiff_generated_*.py"))
    if len(files) <= MOST:
        return
    with contextlib.suppress(OSError):
        files.sort(key=lambda f: f.stat().st_mtime)
        for old in files[: MOST // 4]:
            for path in (old, *(folder / "__pycache__").glob(f"{old.stem}.*")):
                path.unlink(missing_ok=True)
