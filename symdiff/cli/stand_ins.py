"""Stand-ins for packages that are not installed, so that `symdiff check` reads code written for them.

A stand-in is a module whose functions are those that `symdiff.frontend.library.foreign` knows by name;
nothing else of the package is there, and what else the code takes from it is refused when it is used.
"""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType
from typing import Any

from symdiff.frontend.library import foreign

UNCHANGED = ("jit", "function", "script", "compile", "no_grad", "custom_jvp", "custom_vjp")
"""Decorators that leave a function what it is."""


def install(package: str) -> bool:
    """Put stand-ins for a package and its modules into `sys.modules`; whether it is one that is read.

    Parameters
    ----------
    package : what an import failed for, such as `jax` or `jax.numpy`.
    """
    top = package.partition(".")[0]
    if top not in foreign.PACKAGES or top in sys.modules or importlib.util.find_spec(top):
        return False
    known = [m for m in foreign.modules() if m.partition(".")[0] == top]
    for name in dict.fromkeys(p for m in known for p in _parents(m)):
        sys.modules[name] = _StandIn(name)
        parent, _, last = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], last, sys.modules[name])
    return True


def _parents(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[: k + 1]) for k in range(len(parts))]


class _StandIn(ModuleType):
    """A module whose known functions are objects; everything else is refused when used."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__: list[str] = []
        for known in foreign.aliases(name):
            setattr(self, known, _Named(f"{name}.{known}"))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in ("pi", "e", "inf", "nan", "newaxis"):
            import numpy as np

            return getattr(np, name)
        found: Any
        if name.startswith("is_"):  # `is_tensor`: what others ask of their arguments
            found = _is_none_of_them
        else:
            found = _unchanged if name in UNCHANGED else type(name, (_Absent,), {})
        setattr(self, name, found)
        return found


def _unchanged(function: Any = None, *args: Any, **kwargs: Any) -> Any:
    return function if callable(function) else _unchanged


def _is_none_of_them(*args: Any) -> bool:
    return False


class _Named:
    """A function that is known by its name."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise ImportError(f"{self.__name__}: the package is not installed")


class _Absent:
    """Something else of the package: a class to derive from, a value to pass on."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass
