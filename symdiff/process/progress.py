"""A progress bar on stderr, for what takes more than two seconds; on a terminal and in a notebook only.

Nothing reports to it: a thread looks which pass of the pipeline the busy one is in. That
of a command goes with the first thing that is printed. That of a call is there while the
call compiles and is compared, not while compiled code runs. The environment variable
`SYMDIFF_PROGRESS=0` switches it off.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from types import FrameType
from typing import Any, TextIO

from symdiff.process.locks import Lock

PATIENCE = 2.0
"""Seconds before anything is shown."""
INTERVAL = 0.1
SOON = 0.5
"""Seconds before a loop that is watched is shown."""
WIDTH = 24

STAGES = (
    ("capture", ("symdiff.frontend",)),
    ("assume", ("symdiff.passes.analysis.signs",)),
    ("guards", ("symdiff.passes.guards.guards",)),
    ("cancel", ("symdiff.passes.cancel.cancel",)),
    ("stabilise", ("symdiff.passes.stabilise",)),
    ("complete", ("symdiff.passes.complete.complete",)),
    ("differentiate", ("symdiff.passes.differentiate", "symdiff.loops", "symdiff.pipeline.loops")),
    ("cancel", ("symdiff.passes.cancel.cancel",)),
    ("stabilise", ("symdiff.passes.stabilise",)),
    ("flagged", ("symdiff.passes.accuracy.error_test", "symdiff.passes.accuracy.widen")),
    ("emit", ("symdiff.lowering", "symdiff.codegen", "symdiff.runtime")),
    ("compare", ("symdiff.pipeline.validation",)),
    ("certify", ("symdiff.diagnostics.certify", "symdiff.interpret")),
)
"""What the stages of the pipeline are called, in order, and the modules they are in."""
RUNNING = ("symdiff.runtime", "symdiff.interpret")
"""Modules in which a thread runs what is compiled, unless those of another stage are on the
stack as well."""

WATCHING = ctypes.c_int64(0)
"""How many watch, in whatever thread; compiled code looks."""
_counting = Lock()
_busy: ContextVar[bool] = ContextVar("busy", default=False)
_shown: ContextVar[_Bar | None] = ContextVar("shown", default=None)


@contextlib.contextmanager
def progress(what: str) -> Iterator[None]:
    """Show how far the calling thread is with its pipeline, if this takes long."""
    if not shown(sys.stderr):
        yield
        return
    token = _busy.set(True)
    bar = _Bar(what, sys.stderr, threading.get_ident())
    here = _shown.set(bar)
    try:
        with contextlib.redirect_stdout(_Last(sys.stdout, bar)):
            yield
    finally:
        bar.stop()
        _shown.reset(here)
        _busy.reset(token)


def turn_to(what: str) -> None:
    """Say in the bar, if there is one, what is done now."""
    bar = _shown.get()
    if bar is not None:
        bar.what, bar.at = what, 0


@contextlib.contextmanager
def compiling(what: str) -> Iterator[None]:
    """Show how far the calling thread is with compiling something, if this takes long and
    no bar is there already."""
    if _busy.get() or not shown(sys.stderr):
        yield
        return
    token = _busy.set(True)
    bar = _Bar(what, sys.stderr, threading.get_ident(), running=RUNNING)
    try:
        yield
    finally:
        bar.stop()
        _busy.reset(token)


def shown(stream: TextIO | None) -> bool:
    """Whether somebody looks at a stream, in a terminal or a notebook."""
    if stream is None or os.environ.get("SYMDIFF_PROGRESS") == "0":
        return False
    try:
        return type(stream).__module__.startswith("ipykernel.") or stream.isatty()
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
    with _counting:
        WATCHING.value += 1
    try:
        yield
    finally:
        with _counting:
            WATCHING.value -= 1
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

    def __init__(
        self, what: str, stream: TextIO, thread: int, running: tuple[str, ...] = ()
    ) -> None:
        self.what, self.stream, self.thread, self.running = what, stream, thread, running
        self.at, self.drawn = 0, 0
        self.start = time.monotonic()
        self.done = threading.Event()
        self.drawer = threading.Thread(target=self._draw, name="symdiff-progress", daemon=True)
        self.drawer.start()

    def stop(self) -> None:
        """Wipe the bar; nothing is drawn after that."""
        self.done.set()
        self.drawer.join()

    def _draw(self) -> None:
        pause = PATIENCE
        while not self.done.wait(pause):
            pause = INTERVAL
            frame = sys._current_frames().get(self.thread)
            if self.running and runs(frame, self.running):
                self._wipe()
                continue
            self.at = reached(frame, self.at)
            text = line(self.what, self.at, time.monotonic() - self.start)
            self.drawn = max(self.drawn, len(text))
            self._write(f"\r{text.ljust(self.drawn)}\x1b[K")  # notebooks have no such escape
        self._wipe()

    def _wipe(self) -> None:
        if self.drawn:
            self._write("\r" + " " * self.drawn + "\r\x1b[K")
            self.drawn = 0

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
    for name in reversed(_modules(frame)):
        for k, (_, modules) in enumerate(STAGES):
            if _within(name, modules):
                later = [i for i, s in enumerate(STAGES) if s == STAGES[k] and i >= before]
                return later[0] if later else before
    return before


def runs(frame: FrameType | None, running: tuple[str, ...]) -> bool:
    """Whether a thread is in these modules and in no stage of the pipeline."""
    names = _modules(frame)
    stages = [m for _, modules in STAGES for m in modules if m not in running]
    return any(_within(n, running) for n in names) and not any(_within(n, stages) for n in names)


def _modules(frame: FrameType | None) -> list[str]:
    """The modules of the functions on the stack, from the innermost out; what an import runs is no stage."""
    names: list[str] = []
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.startswith(("importlib", "_frozen_importlib")):
            names.clear()
        names.append(name)
        frame = frame.f_back
    return names


def _within(name: str, modules: Sequence[str]) -> bool:
    return any(name == m or name.startswith(m + ".") for m in modules)


def line(what: str, at: int, seconds: float) -> str:
    """The bar as text: what, the stage, how many are done, and the time so far."""
    full = round(WIDTH * at / len(STAGES))
    bar = "#" * full + "." * (WIDTH - full)
    return f"{what} [{bar}] {STAGES[at][0]}, {seconds:.0f} s"
