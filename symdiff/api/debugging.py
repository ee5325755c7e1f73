"""`debug`: a function prints values while it is computed.

Kernels print nothing. So a call of a function that calls `debug` is followed by a call of the plain function
with the same arguments, which prints; so are calls of its derivatives.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from symdiff.api.firstcalls import unwrapped
from symdiff.frontend import Inlined
from symdiff.frontend.captures import prints

Function = Any
"""A `SymbolicFunction`, which imports this."""

_state = threading.local()


class _Debug:
    """`debug("x = {}", x)` prints values while a function is computed.

    Parameters
    ----------
    text : a format string, as `str.format` takes it; alone it is printed as it is.
    args, kwargs : the values.

    Notes
    -----
    After each call of a function, or of a derivative, the plain function is called with the same
    arguments, and prints; functions that call `debug` are as slow as Python.

    Examples
    --------
    >>> import symdiff
    >>> @symdiff.symgrad
    ... def f(x):
    ...     y = x * x
    ...     symdiff.debug("y = {}", y)
    ...     return y + 1
    >>> f.grad(3.0)
    y = 9.0
    6.0
    """

    __name__ = __qualname__ = "debug"

    def __init__(self) -> None:
        self.__doc__ = type(self).__doc__

    def __call__(self, text: str, /, *args: Any, **kwargs: Any) -> None:
        if not getattr(_state, "muted", False):
            print(text.format(*args, **kwargs) if args or kwargs else text)

    def __symdiff_trace__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Inlined:
        prints()
        return Inlined((), (), ())

    def __reduce__(self) -> str:
        return "debug"

    def __repr__(self) -> str:
        return "<function symdiff.debug>"


debug = _Debug()


@contextlib.contextmanager
def _muted() -> Iterator[None]:
    """What this thread computes meanwhile prints nothing by `debug`."""
    before, _state.muted = getattr(_state, "muted", False), True
    try:
        yield
    finally:
        _state.muted = before


def called(f: Function, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Call a function, which prints afterwards, also if it raises an error."""
    try:
        with _muted():
            return f._call(*args, **kwargs)
    finally:
        if f._source.captures.prints and not getattr(_state, "muted", False):
            _print(f, args, kwargs)


def _print(f: Function, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Call the plain function, for each element if it does not take arrays."""
    plain = unwrapped(f)
    if plain is None:
        return
    if not f._selects and args and isinstance(args[0], (tuple, list)):  # jvp(primals, tangents)
        args, kwargs = args[0], {}
    try:
        plain(*args, **kwargs)
    except Exception:  # which the call raised, too, if it is one
        if any(isinstance(a, np.ndarray) for a in args):
            with contextlib.suppress(Exception):
                np.vectorize(plain, otypes=[object])(*args, **kwargs)
