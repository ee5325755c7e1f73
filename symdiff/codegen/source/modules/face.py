"""The first line and the docstring of a public function of a module.

Before:  x, y with the default 2.0, and after a star k
After:   def f(x, y=2.0, *, k=1.5):
"""

from __future__ import annotations

from collections.abc import Sequence
from inspect import Parameter
from typing import Any, NamedTuple

from symdiff.codegen.source.python import docstring


class Face(NamedTuple):
    """How a user's function is called.

    Attributes
    ----------
    parameters : name, kind (see `inspect.Parameter`) and default (None for none) of each, in
        order; nothing if all are plain.
    doc : its docstring.
    """

    parameters: tuple[tuple[str, Any, float | None], ...] = ()
    doc: str = ""


PLAIN = Face()


def def_line(name: str, params: Sequence[str], local: Sequence[str], face: Face) -> str:
    """`def name(...):`, with the parameters called `local`."""
    known = {p: (kind, default) for p, kind, default in face.parameters}
    if any(p not in known for p in params):
        return f"def {name}({', '.join(local)}):"
    parts: list[str] = []
    before: Any = None
    order = {p: k for k, (p, _, _) in enumerate(face.parameters)}
    for p, shown in sorted(zip(params, local, strict=True), key=lambda item: order[item[0]]):
        kind, default = known[p]
        if before is Parameter.POSITIONAL_ONLY and kind is not before:
            parts.append("/")
        if kind is Parameter.KEYWORD_ONLY and before is not kind:
            parts.append("*")
        parts.append(shown if default is None else f"{shown}={default!r}")
        before = kind
    if before is Parameter.POSITIONAL_ONLY:
        parts.append("/")
    return f"def {name}({', '.join(parts)}):"


def documented(summary: str, face: Face) -> str:
    """The docstring of a function: the summary, and what the user says."""
    return docstring(f"{summary}\n\n{face.doc}" if face.doc else summary)


def public_names(params: Sequence[str], used: Sequence[str]) -> list[str]:
    """The parameters' names; only one that hides what a function uses gets an underscore."""
    names: list[str] = []
    for p in params:
        name = p
        while name in used or name in names or (name != p and name in params):
            name += "_"
        names.append(name)
    return names


__all__ = ["PLAIN", "Face", "def_line", "documented", "public_names"]
