"""Functions made of lines of text, whose source can be read as that of any other; and modules that were saved."""

from __future__ import annotations

import importlib.util
import linecache
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def made(*lines: str, name: str = "f", params: str = "x") -> Callable[..., Any]:
    """A function of x, or of other parameters, of these lines."""
    text = "\n    ".join((f"def {name}({params}):", *lines)) + "\n"
    path = f"<made {abs(hash(text))}>"
    linecache.cache[path] = len(text), None, text.splitlines(keepends=True), path
    names: dict[str, Any] = {"np": np, "math": math}
    exec(compile(text, path, "exec"), names)
    return names[name]


def formula(name: str, params: str, text: str) -> Callable[..., Any]:
    """A function of one formula, with a name."""
    return made(f"return {text}", name=name, params=params)


def loaded(path: Path) -> Any:
    """The module of a file."""
    spec = importlib.util.spec_from_file_location(f"{path.stem}_of_tests", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
