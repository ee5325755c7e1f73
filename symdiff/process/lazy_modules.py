"""Modules that are imported when they are first used, as formulas need no NumPy."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any


class Later:
    """Replaces a module of a given name until it is used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(importlib.import_module(self._name), name)
        setattr(self, name, value)  # where the next look finds it
        return value


def public_names(package: str, modules: Mapping[str, str]) -> None:
    """Let a package import its public names when they are first used.

    A name may be that of a module of the package too, which importing that module would
    otherwise put in its place.

    Parameters
    ----------
    package : the name of the package.
    modules : the module that each name is in.
    """

    def found(name: str) -> property:
        def get(_: Any) -> Any:
            return getattr(importlib.import_module(modules[name]), name)

        return property(get, lambda *_: None)

    module = sys.modules[package]
    module.__class__ = type("Package", (ModuleType,), {name: found(name) for name in modules})
