"""Modules that are imported when they are first used, as formulas need no NumPy."""

from __future__ import annotations

import importlib
from typing import Any


class Later:
    """Stands for a module of a name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._name), name)
