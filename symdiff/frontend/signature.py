"""The parameters of a function to differentiate: which are real, which static."""

from __future__ import annotations

import ast
import functools
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from numbers import Complex
from types import FunctionType, MethodType
from typing import Annotated, Any, get_args, get_origin

from symdiff.errors import CallError, Location, UnsupportedError
from symdiff.frontend import source

STATIC_TYPES = (int, bool, str)
_STATIC_NAMES = {t.__name__ for t in STATIC_TYPES}


@dataclass(frozen=True, slots=True)
class Array:
    """Annotation of an array parameter: `Array["n"]`, `Array["n", 3]`; for type checkers, which take
    the text in brackets for types, `Annotated[np.ndarray, Array["n", 3]]`."""

    shape: tuple[str | int, ...] = ()

    def __class_getitem__(cls, shape: Any) -> Array:
        return cls(shape if isinstance(shape, tuple) else (shape,))


def is_array(annotation: Any) -> bool:
    """Whether an annotation, or the text of one, is of an array."""
    if isinstance(annotation, str):
        return _OF_ARRAY.match(annotation) is not None
    return annotation is Array or isinstance(annotation, Array)


_OF_ARRAY = re.compile(r"[\"']?(\w+\.)*(Annotated\[.*,\s*(\w+\.)*)?Array\b")
"""The text of an annotation of an array."""


def _bare(annotation: Any) -> Any:
    """The part of an annotation for symdiff: the `Array` in `Annotated[T, Array["n"]]`."""
    if get_origin(annotation) is not Annotated:
        return annotation
    return next((m for m in get_args(annotation)[1:] if is_array(m)), annotation)


def _named(annotation: Any, names: Mapping[str, Any]) -> Any:
    """The object that an annotation kept as text (`from __future__ import annotations`) names, if
    it is a name, such as that of an `Array` for several parameters."""
    if not isinstance(annotation, str) or not _NAME.fullmatch(annotation):
        return annotation
    first, *rest = annotation.split(".")
    found = names.get(first, annotation)
    for part in rest:
        found = getattr(found, part, annotation)
    known = found is Array or isinstance(found, (Array, type)) or get_origin(found) is Annotated
    return found if known else annotation


_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


def _shape(annotation: Any) -> tuple[str | int, ...]:
    """The shape of an annotation; () if it has none."""
    if isinstance(annotation, str):
        _, _, after = annotation.rpartition("Array")
        found = re.match(r"\s*\[([^\]]*)\]", after)
        parts = [p.strip() for p in found.group(1).split(",")] if found else []
        return tuple(int(p) if p.isdigit() else p.strip("\"'") for p in parts if p)
    return annotation.shape if isinstance(annotation, Array) else ()


def _is_static(parameter: inspect.Parameter, wrt: bool) -> bool:
    """Whether a parameter is static by itself; one whose default is None, or something else that holds
    no numbers, is real if it is among those to differentiate by."""
    note, default = parameter.annotation, parameter.default
    named = isinstance(note, str) and note.strip("'\"") in _STATIC_NAMES
    fixed = isinstance(default, (bool, str)) or _is_function(default)
    fixed = fixed or not (wrt or default is parameter.empty or _is_numeric(default))
    return named or note in STATIC_TYPES or fixed


def _is_function(default: Any) -> bool:
    return (
        callable(default) and default is not inspect.Parameter.empty and not is_dataclass(default)
    )


def _is_numeric(default: Any) -> bool:
    """Whether a default is a number, an array, or a list, tuple, dict or dataclass of such."""
    if is_dataclass(default) and not isinstance(default, type):
        parts = (getattr(default, f.name) for f in fields(default))
        return all(v is None or isinstance(v, str) or _is_numeric(v) for v in parts)
    if isinstance(default, (list, tuple)):
        return all(map(_is_numeric, default))
    if isinstance(default, dict):
        return all(map(_is_numeric, default.values()))
    kind = getattr(getattr(default, "dtype", None), "kind", "")
    return isinstance(default, Complex) or kind in ("f", "i", "u", "b", "c")


_SIZED = ("arange", "empty", "eye", "identity", "ones", "zeros")


def _sizes_in(call: ast.Call) -> list[ast.expr]:
    """The arguments of a call that give a number of times, a size, or an axis."""
    named = [k.value for k in call.keywords if k.arg in ("axis", "axes", "num")]
    if isinstance(call.func, ast.Name):
        return [*(call.args if call.func.id == "range" else []), *named]
    called = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    return [
        *(call.args if called in _SIZED else call.args[2:3] if called == "linspace" else []),
        *named,
    ]


def _counts(fun: FunctionType, parameters: Iterable[inspect.Parameter]) -> set[str]:
    """The parameters with a whole number as default, and no annotation, that the function passes to
    `range`, or as a size to NumPy: a number of iterations is not real."""
    whole = {
        p.name for p in parameters
        if p.annotation is p.empty and isinstance(p.default, int) and not isinstance(p.default, bool)
    }  # fmt: skip
    if not whole:
        return whole
    try:
        _, tree = source.find(fun)
    except UnsupportedError:
        return set()
    found: set[str] = set()
    stack: list[ast.AST] = [
        a for n in ast.walk(tree) if isinstance(n, ast.Call) for a in _sizes_in(n)
    ]
    while stack:
        n = stack.pop()
        if isinstance(n, ast.Name):
            found.add(n.id)
        elif not isinstance(n, ast.Call):  # a call may return another number
            stack.extend(ast.iter_child_nodes(n))
    stored = {
        n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    return whole & found - stored


class Parameters:
    """The parameters of `fun`, and how a call's arguments are sorted.

    Parameters
    ----------
    fun : what `capture` takes.
    static : names of parameters to specialise on, in addition to those that are static
        by their annotation (int, bool, str) or default (bool, str, None, functions; whole numbers that
        are sizes or counts).
    wrt : names and places of parameters to differentiate by: they are real even with the default
        None.

    Attributes
    ----------
    name : of the function.
    names : all parameters, in order.
    real, static : names of the real and of the static parameters, in order.
    arrays : the annotated shapes of the parameters that are annotated as arrays.
    numbers : the parameters that are annotated `float`.
    defaults : the values of the parameters that have one.
    direct : whether these are the parameters of the Python function that runs, and not of
        an object that calls it.
    """

    __slots__ = (
        "_least", "_made_of", "_most", "_plan", "_positions", "_signature", "_tail", "arrays", "defaults", "direct",
        "name", "names", "numbers", "real", "static",
    )  # fmt: skip

    _made_of: tuple[Callable[..., Any], tuple[str, ...], tuple[str | int, ...]] | None

    def __init__(
        self, fun: Callable[..., Any], static: Iterable[str] | str | None = None,
        wrt: Iterable[str | int] | None = None,
    ) -> None:  # fmt: skip
        inner = python_function(fun)
        signature = _signature(fun)
        self.direct = inner is fun
        if any(p.kind in _STARRED for p in signature.parameters.values()):
            followed = inspect.signature(fun)  # of the function that functools.wraps names
            if not any(p.kind in _STARRED for p in followed.parameters.values()):
                signature, self.direct = followed, False
        wanted = (static,) if isinstance(static, str) else tuple(static or ())
        by, places = tuple(wrt or ()), dict(enumerate(signature.parameters))
        places.update({k - len(places): name for k, name in places.items()})
        chosen = {places.get(w) if isinstance(w, int) else w for w in by}
        self.name = _name(fun)
        for name in wanted:
            if name not in signature.parameters:
                raise UnsupportedError(
                    f"'{self.name}' has no parameter '{name}'",
                    parameter_location(inner),
                    f"its parameters are {', '.join(signature.parameters) or 'none'}",
                )
        real, fixed = [], []
        counts = _counts(inner, signature.parameters.values())
        shapes: dict[str, tuple[str | int, ...]] = {}
        floats = set()
        for name, p in signature.parameters.items():
            p = p.replace(annotation=_bare(_named(p.annotation, inner.__globals__)))
            if p.kind in _STARRED:  # a tuple, or a dict, of the other arguments
                real.append(name)
                continue
            if is_array(p.annotation) and name not in wanted:
                shapes[name] = _shape(p.annotation)
            elif name in wanted or name in counts or _is_static(p, name in chosen):
                fixed.append(name)
                continue
            real.append(name)
            note = p.annotation.strip("'\"") if isinstance(p.annotation, str) else p.annotation
            if note is float or (isinstance(note, str) and note == "float"):
                floats.add(name)
            if p.default is not p.empty and p.default is not None and not _is_numeric(p.default):
                raise UnsupportedError(
                    f"the default of '{name}' is not a number",
                    parameter_location(inner, name),
                    f'if it is no real parameter, list it: static="{name}"',
                )
        self.arrays, self.numbers = shapes, frozenset(floats)
        self._made_of = fun, wanted, by
        self._arrange(signature, real, fixed)

    def again(self) -> None:
        """Read the function again: its defaults may have changed."""
        if self._made_of is not None:
            type(self).__init__(self, *self._made_of)

    @classmethod
    def of_formula(cls, name: str, names: Iterable[str]) -> Parameters:
        """The variables of a formula, as the parameters of a function."""
        self = cls.__new__(cls)
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        self.name, self.direct, self.arrays = name, False, {}
        self._made_of, self.numbers = None, frozenset()
        signature = inspect.Signature([inspect.Parameter(n, kind) for n in names])
        self._arrange(signature, list(signature.parameters), [])
        return self

    def flattened(self, leaves: Sequence[str]) -> Parameters:
        """The parameters with leaves in place of the real ones, followed by the static ones by
        name."""
        found = Parameters.__new__(Parameters)
        kind = inspect.Parameter
        real = [kind(n, kind.POSITIONAL_OR_KEYWORD) for n in leaves]
        fixed = [
            kind(n, kind.KEYWORD_ONLY, default=self.defaults.get(n, kind.empty))
            for n in self.static
        ]
        found.name, found.direct, found._made_of = self.name, False, None
        found.arrays = {n: s for n, s in self.arrays.items() if n in leaves}
        found.numbers = self.numbers & {*leaves}
        found._arrange(inspect.Signature([*real, *fixed]), list(leaves), list(self.static))
        return found

    def _arrange(self, signature: inspect.Signature, real: list[str], fixed: list[str]) -> None:
        """Prepare for calls."""
        ps = signature.parameters
        self._signature, self.names = signature, tuple(ps)
        self.real, self.static = tuple(real), tuple(fixed)
        self.defaults = {n: p.default for n, p in ps.items() if p.default is not p.empty}
        positional = [n for n, p in ps.items() if p.kind not in (p.KEYWORD_ONLY, *_STARRED)]
        self._most = len(positional) if len(positional) == len(ps) else -1
        self._least = sum(n not in self.defaults for n in positional)
        self._tail = tuple(self.defaults.get(n, _MISSING) for n in positional)
        self._positions = {
            n: k for k, n in enumerate(positional) if ps[n].kind is ps[n].POSITIONAL_OR_KEYWORD
        }
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
        CallError : with Python's text, if the arguments do not fit the signature.
        """
        n = len(args)
        if not kwargs and self._least <= n <= self._most:
            if not self.static:
                return (args if n == self._most else args + self._tail[n:]), {}
            values = args + self._tail[n:]
        elif (named := self._named(args, kwargs)) is not None:
            values = named
        else:
            try:
                bound = self._signature.bind(*args, **kwargs)
            except TypeError as error:
                raise self._misfit(args, kwargs, error) from None
            bound.apply_defaults()
            values = tuple(bound.arguments[name] for name in self.names)
        real, static = self._plan
        return tuple(values[i] for i in real), {name: values[i] for name, i in static}

    def places(self, count: int, names: Sequence[str]) -> dict[str, int | tuple[str, Any]] | None:
        """Where the value of each parameter is in a call with so many arguments by position, and others by
        name: the number of an argument, or the attribute of the function that holds its default with
        the key in that. None if this is not known."""
        ps = self._signature.parameters
        positional = [n for n, p in ps.items() if p.kind is not p.KEYWORD_ONLY]
        if any(p.kind in _STARRED for p in ps.values()) or count > len(positional):
            return None
        found: dict[str, int | tuple[str, Any]] = dict(zip(positional, range(count), strict=False))
        for k, name in enumerate(names, count):
            if (
                name in found
                or name not in ps
                or ps[name].kind is inspect.Parameter.POSITIONAL_ONLY
            ):
                return None
            found[name] = k
        fun = self._made_of[0] if self.direct and self._made_of is not None else None
        tail = [n for n in positional if n in self.defaults]
        for name in set(ps) - set(found):
            if name in tail:
                place: tuple[str, Any] = "__defaults__", tail.index(name)
            else:
                place = "__kwdefaults__", name
            try:
                held = getattr(fun, place[0])[place[1]]
            except (AttributeError, LookupError, TypeError):
                return None
            if held is not self.defaults.get(name, _MISSING):
                return None
            found[name] = place
        return found

    def _named(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...] | None:
        """The value of each parameter; None if some can only be named, or if the arguments do
        not fit. (`inspect.Signature.bind` takes ten times as long.)"""
        n = len(args)
        if n > self._most:
            return None
        values = [*args, *self._tail[n:]]
        for name, value in kwargs.items():
            place = self._positions.get(name, -1)
            if place < n:
                return None
            values[place] = value
        return None if any(v is _MISSING for v in values) else tuple(values)

    def arguments(self, values: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The positional and the keyword arguments that pass these values."""
        args, kwargs = [], {}
        for name, p in self._signature.parameters.items():
            if p.kind is p.KEYWORD_ONLY:
                kwargs[name] = values[name]
            elif p.kind in _STARRED and not isinstance(values[name], (tuple, dict)):
                stars = "*" if p.kind is p.VAR_POSITIONAL else "**"
                raise UnsupportedError(
                    f"what {stars}{name} contains is not known before a call",
                    None
                    if self._made_of is None
                    else parameter_location(python_function(self._made_of[0]), name),
                    "call the function first, or name every parameter",
                )
            elif p.kind is p.VAR_POSITIONAL:
                args += values[name]
            elif p.kind is p.VAR_KEYWORD:
                kwargs |= values[name]
            else:
                args.append(values[name])
        return tuple(args), kwargs

    def _misfit(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any], usual: TypeError
    ) -> CallError:
        """Python's message for such a call, by a call of a function with this signature."""
        parameters = [
            p.replace(annotation=p.empty, default=p.empty if p.default is p.empty else None)
            for p in self._signature.parameters.values()
        ]
        signature = self._signature.replace(
            parameters=parameters, return_annotation=inspect.Signature.empty
        )
        scope: dict[str, Any] = {}
        exec(f"def function{signature}: pass", scope)
        function = scope["function"]
        function.__qualname__ = self.name
        try:
            function(*args, **kwargs)
        except TypeError as error:
            return CallError(str(error))
        return CallError(str(usual))


_MISSING: Any = object()
_STARRED = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def python_function(value: Any) -> FunctionType:
    """The Python function that runs first when something is called.

    Raises
    ------
    UnsupportedError : for a builtin, a class, or an object that is not callable.
    """
    inner = value
    while not isinstance(inner, FunctionType):
        if _is_partial(inner):
            inner = inner.func
        elif isinstance(inner, MethodType):
            inner = inner.__func__
        elif isinstance(getattr(inner, "__wrapped__", None), FunctionType):  # functools.cache
            inner = inner.__wrapped__
        elif isinstance(inspect.getattr_static(type(inner), "__call__", None), FunctionType):
            inner = type(inner).__call__
        else:
            raise not_a_function(value)
    return inner


def _is_partial(value: Any) -> bool:
    """Whether an object is a function with some arguments already bound."""
    return isinstance(value, functools.partial)


def _signature(value: Callable[..., Any]) -> inspect.Signature:
    """The signature of a callable itself, as far as Python knows it."""
    try:
        return inspect.signature(value, follow_wrapped=False)
    except ValueError:  # functools.cache
        return inspect.signature(value)


def _name(value: Any) -> str:
    """The name of a callable."""
    while _is_partial(value):
        value = value.func
    return str(getattr(value, "__name__", type(value).__name__))


def not_a_function(value: Any) -> UnsupportedError:
    """The refusal of a builtin, a class or an object in place of a function."""
    return UnsupportedError(
        f"'{getattr(value, '__name__', type(value).__name__)}' is not a Python function",
        hint="symdiff reads the source of plain Python functions",
    )


def parameter_location(fun: FunctionType, name: str | None = None) -> Location:
    """The place of a parameter in the source, as far as there is one."""
    try:
        file, node = source.find(fun)
    except UnsupportedError:
        return source.no_source_location(fun)
    a = node.args
    every = [*a.posonlyargs, *a.args, *a.kwonlyargs]
    every += [p for p in (a.vararg, a.kwarg) if p is not None]
    return file.location(next((p for p in every if p.arg == name), node))
