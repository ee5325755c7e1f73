"""The names of Python, NumPy and SciPy that traced functions may use, as the page docs/supported.md lists them.

    python -m tests.supported > docs/supported.md

The names are those of the registry that the tracer asks. Of each function that is not elementwise stand the
parameters that it does not take: those of the library's signature that ours lacks.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections import defaultdict
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np

from symdiff.frontend.library import doors, methods, registry
from symdiff.frontend.library.numpy import names as arrays
from symdiff.frontend.library.scipy import densities, located, tables

EVERYWHERE = frozenset(
    ("out", "order", "casting", "subok", "where", "like", "device", "memo", "_nil")
)
"""Parameters that the tracer takes for all functions of NumPy, or that only say how to compute."""
DEFAULT_ONLY = ("None", "Literal[False]", "tuple[()]")
"""Annotations of parameters that take nothing but their default."""
MODULES = {
    "builtins": "Python",
    "math": "math",
    "operator": "operator",
    "functools": "functools",
    "itertools": "itertools",
    "statistics": "statistics",
    "copy": "copy",
    "numpy": "NumPy",
    "numpy.linalg": "numpy.linalg",
}
HEAD = """# Supported names

What traced functions may call, as `python -m tests.supported` takes it from the tables that the tracer uses.
All else is refused at its line, with a hint. A function of the program's own, a class, a lambda, a method
and what Numba compiled is traced. Behind a name stand the parameters of the library's function that are
refused, if there are any. Python's statements are on the page [Limits](limits.md), arrays and loops on
[Arrays and loops](arrays.md). {versions}.
"""


def main() -> None:
    sys.stdout.write(page())


def page() -> str:
    """The text of docs/supported.md."""
    parts = [HEAD.format(versions=versions())]
    found = names()
    order = [*MODULES, *sorted(found.keys() - MODULES.keys())]
    for module in order:
        if module in found:
            parts.append(f"## {MODULES.get(module, module)}\n\n{listed(found[module])}\n")
    parts.append(f"## Methods and attributes of arrays\n\n{methods_of_arrays()}\n")
    parts.append(f"## Methods of Python's containers\n\n{methods_of_containers()}\n")
    parts.append(f"## Distributions of `scipy.stats`\n\n{of_distributions()}\n")
    parts.append(
        f"## Classes and distributions of SciPy's, made in the function\n\n{of_classes()}\n"
    )
    return "\n".join(parts)


def versions() -> str:
    """The libraries whose names these are."""
    numpy, scipy = (".".join(v.split(".")[:2]) for v in (np.__version__, version("scipy")))
    return f"The names are those of NumPy {numpy} and SciPy {scipy}"


def names() -> dict[str, dict[str, list[str]]]:
    """By module: each name, and the parameters that are refused."""
    importlib.import_module("scipy")
    libraries = doors.opened()
    every = registry.entries() | {n: f for n, (f, *_) in registry.written(libraries).items()}
    every |= {name: every[known] for name, known in registry.aliases(libraries).items()}
    for name in every:
        importlib.import_module(name.rpartition(".")[0])
    found: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for name, implementation in every.items():
        module, _, attribute = name.rpartition(".")
        owner = importlib.import_module("numpy" if module == "numpy.linalg" else module)
        owner = owner.linalg if module == "numpy.linalg" else owner
        function = getattr(owner, attribute, None)
        if function is not None and registry.find(function) is not None:
            found[module][attribute] = refused(function, implementation)
    return found


def refused(function: Any, implementation: Callable[..., Any]) -> list[str]:
    """Parameters of a library's function that its implementation takes neither by name nor by place."""
    if isinstance(function, (np.ufunc, type)):
        return []
    try:
        theirs = list(inspect.signature(function).parameters.values())
        ours = list(inspect.signature(implementation).parameters.values())
    except (TypeError, ValueError):
        return []
    if ours and ours[0].name == "t":  # the tracer
        del ours[0]
    if any(p.kind is p.VAR_KEYWORD for p in ours):
        return []
    taken = {p.name for p in ours if p.annotation not in DEFAULT_ONLY} | EVERYWHERE
    named = {p.name for p in ours}
    places = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in ours)
    if any(p.kind is p.VAR_POSITIONAL for p in ours):
        places = len(theirs)
    found = []
    for k, p in enumerate(theirs):
        by_place = k < places and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        by_place = by_place and p.name not in named
        if p.default is not p.empty and p.name not in taken and not by_place:
            found.append(p.name)
    return found


def listed(entries: dict[str, list[str]]) -> str:
    """Names without refused parameters in one line, the others in a table."""
    whole = ", ".join(f"`{n}`" for n in sorted(entries) if not entries[n])
    rows = [f"| `{n}` | {_codes(entries[n])} |" for n in sorted(entries) if entries[n]]
    table = "\n".join(["| name | refused parameters |", "|---|---|", *rows]) if rows else ""
    return "\n\n".join(text for text in (whole, table) if text)


def methods_of_arrays() -> str:
    found = {*arrays.METHODS, *arrays.PROPERTIES}
    return _codes(sorted(found))


def methods_of_containers() -> str:
    by_type: dict[str, list[str]] = defaultdict(list)
    for owner, name in methods.METHODS:
        by_type[owner.__name__].append(name)
    return "\n".join(f"- `{t}`: {_codes(sorted(by_type[t]))}" for t in sorted(by_type))


def of_distributions() -> str:
    by_methods: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name in densities.TABLE:
        by_methods[tuple(k for k in located.METHODS if located.has(name, k))].append(name)
    rows = sorted(by_methods.items(), key=lambda item: (-len(item[1]), item))
    lines = [f"| {_codes(sorted(owners))} | {_codes(kinds)} |" for kinds, owners in rows]
    return "\n".join(["| distributions | methods |", "|---|---|", *lines])


def of_classes() -> str:
    by_module: dict[str, list[str]] = defaultdict(list)
    for name in tables.LIBRARY.classes:
        module, _, made = name.rpartition(".")
        by_module[module].append(made)
    rows = [
        f"| `{module}` | {_codes(sorted(made))} |" for module, made in sorted(by_module.items())
    ]
    return "\n".join(["| module | classes |", "|---|---|", *rows])


def _codes(texts: list[str] | tuple[str, ...]) -> str:
    return ", ".join(f"`{t}`" for t in texts)


if __name__ == "__main__":
    main()
