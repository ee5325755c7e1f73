"""How many files, and how often another room, the first call of a function goes through.

    python benchmarks/rooms.py

A room is a folder below `symdiff/`, or a file that lies in it directly. Calls of Python functions
are counted (`sys.setprofile`), of the thread that calls, with an empty cache on disk, after imports.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any


def traced(call: Callable[[], Any]) -> tuple[int, int, int]:
    """Files entered, changes of the top folder, and of the file, in a call."""
    import symdiff

    root = str(Path(symdiff.__file__).parent) + os.sep
    files: set[str] = set()
    rooms = changes = 0
    last_room = last_file = ""

    def look(frame: FrameType, event: str, arg: object) -> None:
        nonlocal rooms, changes, last_room, last_file
        if event != "call":
            return
        path = frame.f_code.co_filename
        if not path.startswith(root):
            return
        path = path[len(root) :]
        files.add(path)
        room = path.partition(os.sep)[0]
        rooms += room != last_room
        changes += path != last_file
        last_room, last_file = room, path

    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    return len(files), rooms, changes


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SYMDIFF_CACHE_DIR"] = folder
        import numpy as np

        from symdiff import symgrad

        @symgrad
        def h(x):
            return (x**2 - 4) / (x - 2)

        @symgrad
        def ewma(d):
            e = np.zeros(d.shape[0])
            for row in range(d.shape[0]):
                for col in range(d.shape[1]):
                    e[row] = 0.5 * d[row, col] + 0.5 * e[row]
            return np.sum(e)

        d = np.array([[0.4, 0.7, 0.1]])
        for name, call in (
            ("h.grad(2.0)", lambda: h.grad(2.0)),
            ("ewma.grad(d)", lambda: ewma.grad(d)),
        ):
            files, rooms, changes = traced(call)
            print(f"{name}: {files} files, {rooms} changes of room, {changes} of file")


if __name__ == "__main__":
    main()
