"""Errors of Python that code compiled by Numba is to raise.

Before:  Python raises an error in a callback, or in the middle of an `objmode` block
After:   the error waits here; compiled code raises `Pending`, which is the error itself

So `try` in compiled code catches it, and nothing is left behind. Numba loses what is raised in threads that
do not hold Python's lock, as those of `prange`, with whatever the loop would have written: there results
are nan, and a warning says why.
"""

from __future__ import annotations

import contextlib
import threading
import warnings

_waiting = threading.local()


class Pending(Exception):  # noqa: N818  (it is never seen)
    """Making one gives the error that waits in this thread; so does making it again, as Python may."""

    def __new__(cls, *args: object) -> BaseException:  # type: ignore[misc]
        known = _waiting.__dict__
        error: BaseException | None = known.pop("error", None)
        if error is None:
            error = known.pop("given", None)
        else:
            known["given"] = error
        return RuntimeError(*args) if error is None else error


def wait(error: BaseException) -> None:
    """Compiled code will raise this in this thread."""
    _waiting.error = error


def tell_waiting(name: str) -> None:
    """Warn of the error that compiled code has caught, where it cannot be raised."""
    error = _waiting.__dict__.pop("error", None)
    text = f"{type(error).__name__}: {error}" if error is not None else "an error"
    with contextlib.suppress(RuntimeWarning):  # which would be lost
        warnings.warn(f"{name}: a result is nan, for {text}", RuntimeWarning, stacklevel=2)


def tell(name: str, error: BaseException) -> None:
    """Warn that results are nan, where the error cannot be raised."""
    text = f"{name}: results are nan in a thread that does not hold Python's lock, for {type(error).__name__}: {error}"
    with contextlib.suppress(RuntimeWarning):  # which would be lost, too
        warnings.warn(text, RuntimeWarning, stacklevel=2)
