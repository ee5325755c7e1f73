"""How the functions of a module are called: as the user's function is."""

from __future__ import annotations

import inspect
from typing import Any

from symdiff.codegen.source.modules.face import Face


def face_of(function: Any) -> Face:
    """The signature and the docstring of a `SymbolicFunction`; parameters that are fixed in a
    module are left out of it."""
    parameters = function._source.parameters
    found = [
        (name, p.kind, None if p.default is p.empty else float(p.default))
        for name, p in parameters._signature.parameters.items()
        if name in parameters.real and (p.default is p.empty or not hasattr(p.default, "shape"))
    ]
    if len(found) != len(parameters.real):
        return Face()
    doc = inspect.getdoc(getattr(function, "__wrapped__", None)) or ""
    return Face(tuple(found), doc)
