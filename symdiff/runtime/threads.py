"""Split a range of elements over a pool of threads that all kernels share."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from symdiff.process.locks import Lock

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

GRAIN = 100_000.0
"""Nanoseconds of work that are worth handing to a thread."""
SHARES, PART = 4, 1 << 18
"""Parts for each thread, and elements that are not divided further."""

_pool: ThreadPoolExecutor | None = None
_lock = Lock()
_working = threading.local()


def _forget() -> None:
    """The threads of a parent do not live on in a forked child."""
    global _pool
    _pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def processors() -> int:
    """How many processors this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _executor() -> ThreadPoolExecutor:
    global _pool
    with _lock:
        if _pool is None:
            from concurrent.futures import ThreadPoolExecutor

            _pool = ThreadPoolExecutor(max(1, processors()), thread_name_prefix="symdiff")
        return _pool


def count(elements: int, nanoseconds: float, parallel: bool | str) -> int:
    """How many threads to use for this many elements of so much work each."""
    if parallel is False or elements < 2048:
        return 1
    most = elements // 1024 if parallel is True else int(elements * nanoseconds / GRAIN)
    return max(1, min(most, processors())) if most > 1 else 1


def most_alone(nanoseconds: float, parallel: bool | str) -> int:
    """Elements up to which `count` says one thread, however large they are."""
    if parallel is False or processors() == 1:
        return sys.maxsize
    return 2047 if parallel is True else max(2047, int(2 * GRAIN / nanoseconds) - 1)


def run(task: Callable[[int, int], None], elements: int, threads: int) -> None:
    """Call `task(start, stop)` on parts that make up all the elements. There are more parts
    than threads where there are many elements: who is done takes the next, since elements do
    not all take as long, nor are all processors as free."""
    if threads <= 1:
        task(0, elements)
        return
    share = -(-elements // threads)
    step = max(-(-share // SHARES), min(share, PART))
    step += -step % 64  # parts that meet in one cache line slow each other down
    parts: SimpleQueue[tuple[int, int]] = SimpleQueue()
    for k in range(0, elements, step):
        parts.put((k, min(k + step, elements)))

    me = caller()

    def work() -> None:
        had, _working.caller = getattr(_working, "caller", None), me
        try:
            while True:
                task(*parts.get_nowait())
        except Empty:
            return
        except BaseException:
            _drain(parts)
            raise
        finally:
            _working.caller = had

    futures: list[Future[None]] = []
    with contextlib.suppress(RuntimeError):  # the interpreter is shutting down
        for _ in range(threads - 1):
            futures.append(_executor().submit(work))
    error: BaseException | None = None
    try:
        work()
    except BaseException as e:
        error = e
    for future in futures:
        error = _ended(future, parts) or error
    if error is not None:
        raise error


def caller() -> int:
    """The thread that waits for what this one computes: itself, but in a part of `run`."""
    found: int | None = getattr(_working, "caller", None)
    return threading.get_ident() if found is None else found


def _drain(parts: SimpleQueue[tuple[int, int]]) -> None:
    """Leave nothing to do."""
    with contextlib.suppress(Empty):
        while True:
            parts.get_nowait()


def _ended(future: Future[None], parts: SimpleQueue[tuple[int, int]]) -> BaseException | None:
    """Wait until it has ended, whatever happens: it writes to memory of the caller. One that
    has not begun need not, as nothing is left to do; it might wait for this thread."""
    interrupt: BaseException | None = None
    while not future.cancel():
        try:
            return future.exception() or interrupt
        except BaseException as e:
            interrupt = e
            _drain(parts)
    return interrupt
