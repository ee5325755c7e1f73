"""Work that no signal interrupts.

Python runs the handlers of signals in the main thread, between any two of its instructions: what
a handler raises (Ctrl-C) may come after a library was called to free something and before that is
written down, so that it is freed twice. So work of that kind is done in another thread.
"""

from __future__ import annotations

import contextlib
import contextvars
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from symdiff.process.locks import Lock

T = TypeVar("T")
STACK = 16 << 20
"""Bytes; threads have less by default on some systems than the main one."""
_sizing = Lock()


def undisturbed(work: Callable[[], T]) -> T:
    """What `work` returns or raises.

    If a signal's handler raises meanwhile, that is raised at once, and the work goes on to its end
    beside it; the process waits for that before it ends.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    done = threading.Lock()
    done.acquire()
    outcome: list[Any] = []
    context = contextvars.copy_context()

    def run() -> None:
        try:
            outcome.append((context.run(work), None))
        except BaseException as error:
            outcome.append((None, error))
        finally:
            done.release()

    if not _started(threading.Thread(target=run, name="symdiff-undisturbed")):
        return work()
    done.acquire()
    result, error = outcome.pop()
    if error is not None:
        try:
            raise error
        finally:
            del error  # it holds this frame
    returned: T = result
    return returned


def _started(thread: threading.Thread) -> bool:
    """Whether a thread could be started; none can while the interpreter ends, and on some
    systems never."""
    with _sizing:
        usual = threading.stack_size()
        with contextlib.suppress(ValueError):  # it stays as it is, then
            threading.stack_size(STACK)
        try:
            thread.start()
        except RuntimeError:
            return False
        finally:
            threading.stack_size(usual)
    return True


__all__ = ["undisturbed"]
