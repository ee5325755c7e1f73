"""How functions pickle: by their name where that finds them again, and derivatives by their path."""

from __future__ import annotations

import importlib
import pickle
import sys
import threading
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


_BY_VALUE = ("cloudpickle", "joblib.externals.cloudpickle")
"""What pickles functions of the main program by value; workers' main program is another one."""
_under_way = threading.local()


def reduced(f: Function, kind: type, make: Any) -> Any:
    """How a function pickles that is no derivative: by its name, or by value, with its text."""
    name, wrapped = global_name(f), getattr(f, "__wrapped__", None)
    if name is not None and name[0] != "__main__":
        return found, name
    value = (make, text_of(wrapped), wrapped, f._options, f._source.parameters.static)
    return (made, value) if name is None else (of_main, (kind, name[1], by_value(value)))


def by_value(given: tuple[Any, ...]) -> bytes:
    """The arguments of `made` for a function of the main program, if it may be meant for workers of a
    package that sends those by value; else nothing."""
    library: Any = next((sys.modules[n] for n in _BY_VALUE if n in sys.modules), None)
    within = _under_way.__dict__.setdefault("functions", [])
    if library is None or any(given[2] is one for one in within):
        return b""
    within.append(given[2])
    try:
        found: bytes = library.dumps(given)
    except Exception:  # whatever it holds that does not pickle
        return b""  # by its name only
    finally:
        within.pop()
    return found


def of_main(kind: type, name: str, value: bytes) -> Any:
    """A function of the main program, or of that which sent it."""
    try:
        there = found("__main__", name)
    except AttributeError:
        there = None
    if isinstance(there, kind):
        return there
    if not value:
        raise SymdiffError(
            f"{name} of the main program was sent by its name, and is not in this one",
            hint="define it in a module, or import cloudpickle where it is sent",
        )
    return made(*pickle.loads(value))


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
