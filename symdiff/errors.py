"""Errors that name the user's file, line and column, with a hint."""

from __future__ import annotations

import functools
import importlib
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeVar, cast

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Class = TypeVar("_Class", bound=type)
_OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep


@dataclass(frozen=True, slots=True)
class Location:
    """A place in the user's source. Lines count from 1, columns from 1."""

    path: str
    line: int
    column: int
    text: str = ""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


class GuardWarning(UserWarning):
    """A guard around a singular point puts a value there that is not the limit: it is
    kept, and so are its derivatives."""


class OutputWarning(UserWarning):
    """A function prints or logs: that is done where plain Python runs it, and left out of kernels."""


class ByValueWarning(UserWarning):
    """A function that the compiler refuses is run by values: right, but as slow as Python."""


class ValidationWarning(RuntimeWarning):
    """A transformation was found to change the function, and was switched off for it: the
    answer is right, but this is a fault of symdiff. Please report it."""


class SymdiffError(Exception):
    """Base of all errors that symdiff raises about a user's function or input.

    The text is `path:line:col: message`, the source line with a caret, and a
    hint, as far as each is known.
    """

    def __init__(self, message: str, location: Location | None = None, hint: str = "") -> None:
        self.message, self.location, self.hint = message, location, hint
        lines = [f"{location}: {message}" if location else message]
        if location and location.text:
            text = location.text.rstrip()
            lead = len(text) - len(text.lstrip())
            lines += ["    " + text[lead:], "    " + " " * max(0, location.column - 1 - lead) + "^"]
        if hint:
            lines.append(f"hint: {hint}")
        super().__init__("\n".join(lines))

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.message, self.location, self.hint)

    def without_frames(self) -> Self:
        """The same error to keep, which holds nothing of where it was raised."""
        made = type(self).__new__(type(self), *self.args)
        vars(made).update(vars(self))
        return made


class VerificationError(SymdiffError):
    """A function is not what plain Python makes of the same arguments, by more than rounding
    explains. This is a fault of symdiff, unless the function is another one at
    every call. Please report it; `verify=False` switches the comparison off.

    Attributes
    ----------
    lasting : whether it is about the function, so that every call of it raises this; else about
        the kinds of its arguments.
    """

    difference = math.inf
    """How much the two numbers differ, if it was two numbers."""

    def __init__(
        self, message: str, location: Location | None = None, hint: str = "", lasting: bool = True
    ) -> None:
        super().__init__(message, location, hint)
        self.lasting = lasting


class CallError(SymdiffError, TypeError):
    """Arguments that do not fit the signature of a function, in Python's words."""


class DomainError(SymdiffError, ValueError):
    """Arguments for which an `assert` of the function, or its `domain=`, does not hold."""


class UnsupportedError(SymdiffError):
    """Python that symdiff cannot see through; refused when traced."""


class SizesDecideError(UnsupportedError):
    """What is refused depends on sizes of the arguments: it is traced again with known sizes.

    Attributes
    ----------
    sizes : which sizes those are, for what traces it.
    """

    def __init__(self, error: UnsupportedError, sizes: Any) -> None:
        super().__init__(error.message, error.location, error.hint)
        self.sizes = sizes


class ParseError(SymdiffError):
    """Text on the command line that is not an expression of the grammar."""


class TargetError(SymdiffError):
    """A target (CPU feature, CUDA device, optional package) that is not there."""


class MissingExtraError(TargetError, ImportError):
    """An optional package that is not installed; the hint names the extra that has it."""

    @classmethod
    def of(cls, what: str, extra: str) -> MissingExtraError:
        return cls(f"{what}, which is not installed", hint=f'pip install "symdiff[{extra}]"')


def optional(module: str, what: str, extra: str) -> Any:
    """A module of an optional package; `what` says what needs which package.

    Raises
    ------
    MissingExtraError : if it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingExtraError.of(what, extra) from None


def outermost(function: _Function) -> _Function:
    """Mark a function that users call: errors about what they wrote leave it without the frames
    below, as their text names the line. `SYMDIFF_TRACEBACK=full` keeps them."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        try:
            return function(*args, **kwargs)
        except SymdiffError as e:
            if os.environ.get("SYMDIFF_TRACEBACK") == "full":
                raise
            _shorten(e)
            raise  # SYMDIFF_TRACEBACK=full shows the frames inside of symdiff

    return cast(_Function, called)


def outermost_in(*names: str) -> Callable[[_Class], _Class]:
    """Mark methods and properties of a class as `outermost`."""

    def marked(owner: Any) -> Any:
        for name in names:
            found: Any = vars(owner)[name]
            if isinstance(found, property):
                getter: Any = found.fget
                setattr(owner, name, property(outermost(getter), doc=found.__doc__))
            else:
                setattr(owner, name, outermost(found))
        return owner

    return marked


def _shorten(error: BaseException) -> None:
    """Take our frames out of an error's traceback, and of those that led to it; one that never
    left our code is not shown."""
    error.__traceback__ = users(error.__traceback__)
    if error.__cause__ is not None:
        _shorten(error.__cause__)
    elif error.__context__ is not None and not error.__suppress_context__:
        _shorten(error.__context__)
        error.__suppress_context__ = error.__context__.__traceback__ is None


def users(traceback: TracebackType | None) -> TracebackType | None:
    """A traceback without our frames."""
    kept = []
    while traceback is not None:
        if not traceback.tb_frame.f_code.co_filename.startswith(_OWN):
            kept.append(traceback)
        traceback = traceback.tb_next
    made: TracebackType | None = None
    for t in reversed(kept):
        made = TracebackType(made, t.tb_frame, t.tb_lasti, t.tb_lineno)
    return made
