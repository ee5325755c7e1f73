"""Libraries behind doors: what is known of a package is imported once something has imported the package.

Before:  register("scipy", "symdiff.frontend.library.scipy.tables")
After:   `LIBRARY` of that module, in any process that has imported SciPy
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MethodType
from typing import Any

from symdiff.frontend.library.primitives import Function, Row


@dataclass(frozen=True, eq=False, slots=True)
class Library:
    """What is known of a package, by dotted name.

    Attributes
    ----------
    functions : plain Python that is traced in place of a function, and how many of its first
        arguments are arrays.
    aliases : other, known functions that a function is equal to.
    classes : classes whose objects are made in place of those of a class.
    called : the value of a call of another object of the package, by the tracer, the object and the
        arguments; NotImplemented if it is not known.
    adapted : the traced version that is used, by the name and the usual one.
    """

    functions: Mapping[str, Row] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    classes: Mapping[str, type] = field(default_factory=dict)
    called: Callable[..., Any] = lambda *_: NotImplemented
    adapted: Callable[[str, Function], Function] = lambda _, usual: usual


_DOORS = {"scipy": "symdiff.frontend.library.scipy.tables"}


def register(prefix: str, module: str) -> None:
    """Let a module's `LIBRARY` be what is known of a package, such as "scipy", in functions traced from now on."""
    _DOORS[prefix] = module


@functools.cache
def _library(module: str) -> Library:
    found: Library = importlib.import_module(module).LIBRARY
    return found


def opened() -> tuple[Library, ...]:
    """The libraries of packages that have been imported."""
    return tuple([_library(module) for prefix, module in _DOORS.items() if prefix in sys.modules])


def of(value: Any) -> Library | None:
    """The library of the package that a class, an object or the owner of a method belongs to."""
    owner = value.__self__ if type(value) is MethodType else value
    name = getattr(owner, "__module__", None) or type(owner).__module__
    found = (m for prefix, m in _DOORS.items() if f"{name}.".startswith(f"{prefix}."))
    return next(map(_library, found), None)


def replacement(value: Any) -> type | None:
    """The class that replaces one of a package, or an object that is called; None for all else."""
    library = of(value)
    for name, made in library.classes.items() if library is not None else ():
        module, _, attribute = name.rpartition(".")
        if getattr(sys.modules.get(module), attribute, None) is value:
            return made
    return None
