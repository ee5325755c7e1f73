"""Functions as methods: the object that they belong to is what they capture.

The method of an object is a function of its own, kept with the object. Its attributes are read when it
is traced, and looked at again before each call, as those of all objects that a function captures.
"""

from __future__ import annotations

from types import MethodType
from typing import TYPE_CHECKING, Any

from symdiff.errors import SymdiffError

if TYPE_CHECKING:
    from collections.abc import Callable

    from symdiff.pipeline.options import Options

    Made = Callable[[MethodType, Options, list[str]], Any]

PLACE = "__symdiff_methods__"


class Methods:
    """The methods of one object; copies and pickles of the object begin without any."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner
        self.made: dict[int, tuple[Any, Any]] = {}

    def __reduce__(self) -> tuple[type, tuple[None]]:
        return Methods, (None,)

    def __copy__(self) -> Methods:
        return Methods(None)

    def __deepcopy__(self, memo: Any) -> Methods:
        return Methods(None)


def method_of(function: Any, instance: Any, made: Made) -> Any:
    """A function bound to its first argument.

    Parameters
    ----------
    made : the function that a bound method, options and names of static parameters make.

    Raises
    ------
    SymdiffError : for a SymPy expression, which has no `self`.
    """
    methods = getattr(instance, "__dict__", {}).get(PLACE)
    if methods is None or methods.owner is not instance:
        methods = Methods(instance)
        if hasattr(instance, "__dict__"):  # without one, each access makes the method anew
            instance.__dict__[PLACE] = methods
    found = methods.made.get(id(function))
    if found is None:
        found = methods.made[id(function)] = function, _bound(function, instance, made)
    return found[1]


def _bound(function: Any, instance: Any, made: Made) -> Any:
    if function._parent is not None:
        parent = method_of(function._parent, instance, made)
        kind, by = function._source.path[-1]
        taken = tuple(n for n in by if n in parent._source.parameters.names)
        return parent._derive(function.__name__, (kind, taken))
    plain = getattr(function, "__wrapped__", None)
    names = function._source.parameters.names
    if plain is None or not names:
        raise SymdiffError(
            f"{function.__name__} has no self",
            hint="an expression is no method; use staticmethod()",
        )
    static = [n for n in function._source.parameters.static if n != names[0]]
    return made(MethodType(plain, instance), function._options, static)


__all__ = ["method_of"]
