"""Errors that name the user's file, line and column, with a hint."""

from __future__ import annotations

from dataclasses import dataclass


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


class VerificationError(SymdiffError):
    """At its first call a function is not what plain Python makes of the same arguments, by more
    than rounding explains. This is a fault of symdiff, unless the function is another one at
    every call. Please report it; `verify=False` switches the comparison off."""


class DomainError(SymdiffError, ValueError):
    """Arguments for which an `assert` of the function, or its `domain=`, does not hold."""


class UnsupportedError(SymdiffError):
    """Python that symdiff cannot see through; refused when traced."""


class ParseError(SymdiffError):
    """Text on the command line that is not an expression of the grammar."""


class TargetError(SymdiffError):
    """A target (CPU feature, CUDA device, optional package) that is not there."""
