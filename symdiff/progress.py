"""A progress bar on stderr, for what takes more than two seconds; on a terminal only.

Nothing reports to it: a thread looks which pass of the pipeline the busy one is in. The
bar goes with the first thing that is printed.
"""

from __future__ import annotations

import contextlib
import ctypes
import sys
import threading
import time
from collections.abc import Iterator
from contextvars import ContextVar
from types import FrameType
from typing import Any, TextIO

PATIENCE = 2.0
"""Seconds before anything is shown."""
INTERVAL = 0.1
SOON = 0.5
"""Seconds before a loop that is watched is shown."""
WIDTH = 24

STAGES = (
    ("capture", ("symdiff.frontend",)),
    ("assume", ("symdiff.passes.signs",)),
    ("guards", ("symdiff.passes.guards",)),
    ("cancel", ("symdiff.passes.cancel",)),
    ("stabilise", ("symdiff.passes.stabilise",)),
    ("complete", ("symdiff.passes.complete",)),
    ("differentiate", ("symdiff.passes.differentiate", "symdiff.blocks")),
    ("cancel", ("symdiff.passes.cancel",)),
    ("stabilise", ("symdiff.passes.stabilise",)),
    ("doubt", ("symdiff.passes.doubt", "symdiff.passes.widen")),
    ("emit", ("symdiff.codegen", "symdiff.runtime")),
    ("certify", ("symdiff.certify", "symdiff.interpret")),
)
"""What the stages of the pipeline are called, in order, and the modules they are in."""


@contextlib.contextmanager
def progress(what: str) -> Iterator[None]:
    """Show how far the calling thread is with its pipeline, if this takes long."""
    if not shown(sys.stderr):
        yield
        return
    bar = _Bar(what, sys.stderr, threading.get_ident())
    try:
        with contextlib.redirect_stdout(_Last(sys.stdout, bar)):
            yield
    finally:
        bar.stop()


def shown(stream: TextIO | None) -> bool:
    """Whether somebody looks at a stream."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


_watching: ContextVar[TextIO | None] = ContextVar("watching", default=None)


@contextlib.contextmanager
def show_progress(stream: TextIO | None = None) -> Iterator[None]:
    """Show how far the loops of compiled functions are that are called inside.

    A call that takes longer than half a second writes the iteration of its outermost loop,
    and how many there are if that is known, to a stream, by default `sys.stderr`.

    Examples
    --------
    >>> import symdiff
    >>> with symdiff.show_progress():
    ...     pass  # f.grad(data)
    """
    token = _watching.set(sys.stderr if stream is None else stream)
    try:
        yield
    finally:
        _watching.reset(token)


def is_watched() -> bool:
    """Whether somebody watches the loops of compiled functions."""
    return _watching.get() is not None


@contextlib.contextmanager
def watched(name: str, step: ctypes.c_int64, steps: ctypes.c_int64) -> Iterator[None]:
    """Write the place of a loop that runs in compiled code, if somebody watches."""
    stream = _watching.get()
    if stream is None:
        yield
        return
    done = threading.Event()

    def draw() -> None:
        start, pause = time.monotonic(), SOON
        while not done.wait(pause):
            pause = INTERVAL
            text = place(name, step.value, steps.value, time.monotonic() - start)
            with contextlib.suppress(OSError, ValueError):
                stream.write(f"\r{text}\x1b[K")
                stream.flush()
        if pause == INTERVAL:
            with contextlib.suppress(OSError, ValueError):
                stream.write("\r\x1b[K")
                stream.flush()

    drawer = threading.Thread(target=draw, name="symdiff-watch", daemon=True)
    drawer.start()
    try:
        yield
    finally:
        done.set()
        drawer.join()


def place(name: str, step: int, steps: int, seconds: float) -> str:
    """A bar for a loop; without its length, the iteration alone."""
    if steps <= 0:
        return f"{name}: step {step}, {seconds:.0f} s"
    full = round(WIDTH * min(step, steps) / steps)
    return f"{name} [{'#' * full}{'.' * (WIDTH - full)}] {step} of {steps}, {seconds:.0f} s"


class _Bar:
    """Draws until it is stopped."""

    def __init__(self, what: str, stream: TextIO, thread: int) -> None:
        self.what, self.stream, self.thread = what, stream, thread
        self.at = 0
        self.start = time.monotonic()
        self.done = threading.Event()
        self.drawer = threading.Thread(target=self._draw, name="symdiff-progress", daemon=True)
        self.drawer.start()

    def stop(self) -> None:
        """Wipe the bar; nothing is drawn after that."""
        self.done.set()
        self.drawer.join()

    def _draw(self) -> None:
        if self.done.wait(PATIENCE):
            return
        while True:
            frame = sys._current_frames().get(self.thread)
            self.at = reached(frame, self.at)
            self._write("\r" + line(self.what, self.at, time.monotonic() - self.start) + "\x1b[K")
            if self.done.wait(INTERVAL):
                self._write("\r\x1b[K")
                return

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            self.stream.write(text)
            self.stream.flush()


class _Last:
    """A stream whose first text ends a bar, which may be on the same terminal."""

    def __init__(self, stream: TextIO, bar: _Bar) -> None:
        self._stream, self._bar = stream, bar

    def write(self, text: str) -> int:
        self._bar.stop()
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def reached(frame: FrameType | None, before: int) -> int:
    """The stage that a thread is in, by the outermost function of one; it never goes back."""
    names: list[str] = []
    while frame is not None:
        names.append(frame.f_globals.get("__name__", ""))
        frame = frame.f_back
    for name in reversed(names):
        for k, (_, modules) in enumerate(STAGES):
            if any(name == m or name.startswith(m + ".") for m in modules):
                later = [i for i, s in enumerate(STAGES) if s == STAGES[k] and i >= before]
                return later[0] if later else before
    return before


def line(what: str, at: int, seconds: float) -> str:
    """The bar as text: what, the stage, how many are done, and the time so far."""
    full = round(WIDTH * at / len(STAGES))
    bar = "#" * full + "." * (WIDTH - full)
    return f"{what} [{bar}] {STAGES[at][0]}, {seconds:.0f} s"
