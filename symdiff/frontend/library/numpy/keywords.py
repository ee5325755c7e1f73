"""How a call of a known function passes its arguments: by name, with `out=` and `where=`.

Before:  np.repeat(a=x, repeats=2);     np.sqrt(x, out=y, where=x > 0)
After:   np.repeat(x, 2);               y[...] = np.where(x > 0, np.sqrt(x), y)
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.frontend.arrays import storing
from symdiff.frontend.trace.demands import number_of, used_as_array
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import Real, Refused, Scalar

Implementation = Callable[..., Any]
EMPTY = Real(ir.NAN, ir.FALSE)
"""The value where nothing is computed."""


def applied(
    t: Tracer, function: Any, implementation: Implementation, args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:  # fmt: skip
    """The value of `function(*args, **kwargs)` by its implementation."""
    if kwargs:
        args, kwargs = _in_order(function, args, kwargs)
        kwargs = {k: v for k, v in kwargs.items() if not _is_default(function, k, v)}
    if isinstance(function, np.ufunc):
        if len(args) > function.nin:
            args, kwargs = args[: function.nin], {"out": args[function.nin], **kwargs}
        if kwargs:
            return _elementwise(t, function, implementation, args, kwargs)
    elif kwargs and _is_of(function, "numpy"):
        target = kwargs.pop("out", None)
        if kwargs.get("order") == "C":
            del kwargs["order"]
        if target is not None:
            return _stored(t, target, implementation(t, *args, **kwargs))
    return implementation(t, *args, **kwargs)


def _is_default(function: Any, name: str, value: Any) -> bool:
    """Whether an argument of a NumPy function has no effect (`dtype=None`)."""
    if not (value is None or isinstance(value, str)) or not _is_of(function, "numpy"):
        return False
    default = _defaults(function).get(name, ...)
    return type(default) is type(value) and bool(default == value)


@functools.lru_cache(maxsize=1024)
def _defaults(function: Any) -> dict[str, Any]:
    try:
        return {k: p.default for k, p in inspect.signature(function).parameters.items()}
    except (ValueError, TypeError):
        return {}


def _is_of(function: Any, *packages: str) -> bool:
    return (getattr(function, "__module__", None) or "").partition(".")[0] in packages


def _elementwise(
    t: Tracer, function: Any, implementation: Implementation, args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:  # fmt: skip
    """A call of a universal function with `out=` or `where=`."""
    target, mask = kwargs.pop("out", None), kwargs.pop("where", True)
    unsafe = kwargs.get("casting") == "unsafe"
    for name in ("casting", "subok", "order"):
        kwargs.pop(name, None)
    if isinstance(target, tuple) and len(target) == 1:
        (target,) = target
    value = implementation(t, *args, **kwargs)
    if mask is not True:
        value = t.call(np.where, (mask, value, EMPTY if target is None else target), {})
    return value if target is None or _is_new(t, target) else _stored(t, target, value, unsafe)


def _is_new(t: Tracer, target: Any) -> bool:
    """Whether a number denotes an array that the call itself creates, such as
    `out=np.zeros_like(x)`: nothing else sees what is stored in it."""
    if not isinstance(number_of(target), Scalar) or not isinstance(t.at, ast.Call):
        return False
    return any(k.arg == "out" and isinstance(k.value, ast.Call) for k in t.at.keywords)


def _stored(t: Tracer, target: Any, value: Any, unsafe: bool = False) -> Any:
    """Put a result into the array that is passed for it; `unsafe`: whatever the kinds."""
    if isinstance(number_of(target), Scalar):
        used_as_array(target, "a result is stored in it")
    if not unsafe:
        storing.must_hold(t, target, value)
    t.store(target, Ellipsis, value)
    return target


# -------------------------------------------------------------------- arguments by name
@functools.lru_cache(maxsize=1024)
def _names(function: Any) -> tuple[str | None, ...]:
    """The first parameters of a function, which have no default; None without a name."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):
        return ()
    found: list[str | None] = []
    for p in parameters:
        if p.default is not p.empty or p.kind not in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
            break
        found.append(p.name if p.kind is p.POSITIONAL_OR_KEYWORD else None)
    return tuple(found)


def _in_order(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments without a default that are passed by name, in their places."""
    placed, named = list(args), dict(kwargs)
    if isinstance(function, np.ufunc) or not _is_of(function, "numpy", "scipy"):
        return args, named
    for name in _names(function)[len(args) :]:
        if name not in named:
            break
        placed.append(named.pop(name))
    return tuple(placed), named


@functools.lru_cache(maxsize=4096)
def _accepts(implementation: Implementation) -> tuple[int, float, inspect.Signature]:
    """The fewest and most arguments by position, without the tracer, and the signature."""
    signature = inspect.signature(implementation)
    values = list(signature.parameters.values())[1:]
    by_place = [p for p in values if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = sum(p.default is p.empty for p in by_place)
    if any(p.kind is p.KEYWORD_ONLY and p.default is p.empty for p in values):
        return 0, -1, signature
    endless = any(p.kind is p.VAR_POSITIONAL for p in values)
    return needed, float("inf") if endless else len(by_place), signature


def check(name: str, implementation: Implementation, args: Any, kwargs: dict[str, Any]) -> None:
    """Refuse arguments that an implementation does not take."""
    least, most, signature = _accepts(implementation)
    if not kwargs and least <= len(args) <= most:
        return
    try:
        signature.bind(None, *args, **kwargs)
        return
    except TypeError:
        pass
    called = "np" + name.removeprefix("numpy") if name.startswith("numpy.") else name
    called = called.removeprefix("builtins.")
    for key in kwargs:
        if key not in signature.parameters:
            raise Refused(f"the keyword argument '{key}' of {called}() is not supported")
    raise Refused(f"{called}() with these arguments is not supported")
