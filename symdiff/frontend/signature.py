"""The parameters of a function to differentiate: which are real, which static."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from types import FunctionType
from typing import Any

from symdiff.errors import Location, UnsupportedError
from symdiff.frontend import source

STATIC_TYPES = (int, bool, str)
_STATIC_NAMES = {t.__name__ for t in STATIC_TYPES}


@dataclass(frozen=True, slots=True)
class Array:
    """Annotation of an array parameter: `Array["n"]`, `Array["n", 3]`."""

    shape: tuple[str | int, ...] = ()

    def __class_getitem__(cls, shape: Any) -> Array:
        return cls(shape if isinstance(shape, tuple) else (shape,))


def is_array(annotation: Any) -> bool:
    if isinstance(annotation, str):
        return re.match(r"[\"']?(\w+\.)*Array\b", annotation) is not None
    return annotation is Array or isinstance(annotation, Array)


def _is_static(parameter: inspect.Parameter) -> bool:
    note, default = parameter.annotation, parameter.default
    named = isinstance(note, str) and note.strip("'\"") in _STATIC_NAMES
    return named or note in STATIC_TYPES or default is None or isinstance(default, (bool, str))


class Parameters:
    """What `fun` is called with, and how a call's arguments are sorted.

    Parameters
    ----------
    fun : a Python function.
    static : names of parameters to specialise on, besides those that are static
        by their annotation (int, bool, str) or default (bool, str, None).

    Attributes
    ----------
    names : all parameters, in order.
    real, static : names of the real and of the static parameters, in order.
    defaults : the values of the parameters that have one.
    """

    __slots__ = ("_least", "_most", "_plan", "_signature", "_tail", "defaults", "names", "real", "static")  # fmt: skip

    def __init__(self, fun: Callable[..., Any], static: Iterable[str] | str | None = None) -> None:
        if not isinstance(fun, FunctionType):
            raise not_a_function(fun)
        signature = inspect.signature(fun, follow_wrapped=False)
        wanted = (static,) if isinstance(static, str) else tuple(static or ())
        self._signature = signature
        self.names = tuple(signature.parameters)
        for name in wanted:
            if name not in self.names:
                raise UnsupportedError(
                    f"'{fun.__name__}' has no parameter '{name}'",
                    _parameter_location(fun),
                    f"its parameters are {', '.join(self.names) or 'none'}",
                )
        real, fixed = [], []
        for name, p in signature.parameters.items():
            if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
                stars = "*" if p.kind is p.VAR_POSITIONAL else "**"
                raise UnsupportedError(
                    f"'{fun.__name__}' takes {stars}{name}",
                    _parameter_location(fun, name),
                    "name every parameter of the function to differentiate",
                )
            if is_array(p.annotation):
                raise UnsupportedError(
                    f"parameter '{name}' is an array",
                    _parameter_location(fun, name),
                    "arrays as parameters are not supported yet; pass its elements one by one",
                )
            if name in wanted or _is_static(p):
                fixed.append(name)
                continue
            real.append(name)
            if p.default is not p.empty and not isinstance(p.default, Real):
                raise UnsupportedError(
                    f"the default of '{name}' is not a number",
                    _parameter_location(fun, name),
                    f'if it is no real parameter, list it: static="{name}"',
                )
        self.real, self.static = tuple(real), tuple(fixed)
        ps = signature.parameters
        self.defaults = {n: p.default for n, p in ps.items() if p.default is not p.empty}
        positional = [n for n, p in ps.items() if p.kind is not p.KEYWORD_ONLY]
        self._most = len(positional) if len(positional) == len(ps) else -1
        self._least = sum(n not in self.defaults for n in positional)
        self._tail = tuple(self.defaults.get(n) for n in positional)
        self._plan = (
            tuple(self.names.index(n) for n in real),
            tuple((n, self.names.index(n)) for n in fixed),
        )

    def bind(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Sort the arguments of a call into real values, in order, and static ones.

        Raises
        ------
        TypeError : as Python does, if the arguments do not fit the signature.
        """
        n = len(args)
        if not kwargs and self._least <= n <= self._most:
            if not self.static:
                return (args if n == self._most else args + self._tail[n:]), {}
            values = args + self._tail[n:]
        else:
            bound = self._signature.bind(*args, **kwargs)
            bound.apply_defaults()
            values = tuple(bound.arguments[name] for name in self.names)
        real, static = self._plan
        return tuple(values[i] for i in real), {name: values[i] for name, i in static}


def not_a_function(value: Any) -> UnsupportedError:
    """The refusal of a builtin, a class or an object in place of a function."""
    return UnsupportedError(
        f"'{getattr(value, '__name__', type(value).__name__)}' is not a Python function",
        hint="symdiff reads the source of plain Python functions",
    )


def _parameter_location(fun: FunctionType, name: str | None = None) -> Location:
    """The place of a parameter in the source, as far as there is one."""
    try:
        file, node = source.find(fun)
    except UnsupportedError:
        return source.no_source_location(fun)
    a = node.args
    every = [*a.posonlyargs, *a.args, *a.kwonlyargs]
    every += [p for p in (a.vararg, a.kwarg) if p is not None]
    return file.location(next((p for p in every if p.arg == name), node))
