"""How functions pickle: by their name where that finds them again, and derivatives by their path."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from symdiff.errors import SymdiffError
from symdiff.frontend import source, typed_in
from symdiff.frontend.signature import python_function as source_function
from symdiff.pipeline.derivation import Step

Function = Any
"""A `SymbolicFunction`, which imports this."""

_ATTRIBUTES = {
    "gradient": "grad", "value_and_gradient": "value_and_grad", "jacobian": "jacobian",
    "hessian": "hessian", "jvp": "jvp", "vjp": "vjp", "hvp": "hvp",
}  # fmt: skip


def global_name(f: Function) -> tuple[str, str] | None:
    """The module and the name by which a decorated function is found again, if it is."""
    wrapped = getattr(f, "__wrapped__", None)
    module, name = getattr(wrapped, "__module__", ""), getattr(wrapped, "__qualname__", "")
    there: Any = sys.modules.get(module)
    for part in name.split("."):
        there = getattr(there, part, None)
    return (module, name) if there is f else None


def found(module: str, name: str) -> Any:
    """What a module has under a name."""
    there: Any = importlib.import_module(module)
    for part in name.split("."):
        there = getattr(there, part)
    return there


def text_of(fun: Any) -> str:
    """The text that a function is read from, to go with it to where its file is not."""
    try:
        place, _ = source.find(source_function(fun))
    except SymdiffError:
        return ""
    return "".join(place.lines)


def made(make: Any, text: str, fun: Any, *arguments: Any) -> Function:
    """A function that was sent by value, with its text."""
    if text:
        typed_in.keep(text)
    return make(fun, *arguments)


def derived(parent: Function, step: Step) -> Function:
    """The derivative of a function by the last step of a path."""
    kind, by = step
    if kind == "derivative":
        return parent.diff(*by)
    return getattr(parent, _ATTRIBUTES[kind])
