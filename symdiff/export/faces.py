"""How the functions of a module are called: as the user's function is."""

from __future__ import annotations

import inspect
import math
from typing import Any

from symdiff.codegen.source.modules.face import Face
from symdiff.ir.loop_program import LoopProgram


def face_of(function: Any) -> Face:
    """The signature and the docstring of a `SymbolicFunction`; static parameters are fixed at
    their defaults in a module."""
    parameters = function._source.parameters
    raw = function._source.raw(function._default_static())
    changes = raw.changes if isinstance(raw, LoopProgram) else ()
    fixed = tuple((n, _literal(parameters.defaults[n])) for n in parameters.static)
    found = [
        (
            name,
            p.kind,
            None if p.default is p.empty or name in parameters.static else float(p.default),
        )
        for name, p in parameters._signature.parameters.items()
        if name in parameters.static or not (p.default is None or hasattr(p.default, "shape"))
    ]
    if len(found) != len(parameters.names):
        return Face(fixed=fixed, changes=changes)
    doc = inspect.getdoc(getattr(function, "__wrapped__", None)) or ""
    return Face(tuple(found), doc, fixed, changes)


def _literal(value: Any) -> str | None:
    """A value as Python text, if it can be written."""
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
        value = value.item()  # without NumPy imported
    if value is None or type(value) in (bool, int, str):
        return repr(value)
    return repr(value) if type(value) is float and math.isfinite(value) else None
