"""Arrays that are more than arrays, where NumPy's protocol says what becomes of that.

Objects with an `__array_ufunc__` of their own (data frames, arrays with named axes, arrays in blocks)
say how a function of elements is applied to them: they take off their labels, call it with plain
arrays, and put the labels back; some do so later. So functions that are proved to be elementwise
are handed to them. All others are refused by name, as the labels would be lost.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from symdiff.errors import SymdiffError, UnsupportedError
from symdiff.ir.program import Program
from symdiff.pipeline.kernels.scalar import is_flat
from symdiff.runtime.scalar.elementwise import ArgumentError

Function = Any
"""A `SymbolicFunction`, which imports this."""


class Ufunc:
    """A function of elements, as the protocol takes it.

    Attributes
    ----------
    nin, nout, signature : as of NumPy's ufuncs.
    """

    signature = None
    identity = None

    def __init__(self, function: Function, static: Mapping[str, Any], nin: int, nout: int) -> None:
        self.function, self.static = function, dict(static)
        self.nin, self.nout = nin, nout
        # others know some names, such as "add"
        self.__name__ = f"symdiff {function.__name__}"

    def __call__(self, *values: Any, **options: Any) -> Any:
        if options:
            raise ArgumentError(f"{self.function.__name__} takes no {next(iter(options))}=")
        if _outputs(self.function, values, self.static) != self.nout:
            raise ArgumentError(f"{self.function.__name__} is not elementwise for these arguments")
        return self.function(*values, **self.static)


def is_labelled(value: Any) -> bool:
    """Whether an argument says itself how functions of elements are applied to it."""
    kind = type(value)
    protocol = getattr(kind, "__array_ufunc__", None)
    if protocol is None or protocol is np.ndarray.__array_ufunc__:
        return False
    if isinstance(value, (numbers.Real, np.generic)):
        return False
    return not hasattr(value, "__cuda_array_interface__")


def result(self: Function, real: Sequence[Any], static: Mapping[str, Any]) -> Any:
    """The result for labelled arguments; NotImplemented if none is, if the function is not
    elementwise, or if they do not know what to do with it."""
    given = [v for v in real if is_labelled(v)]
    if not given or self._options.target != "cpu":
        return NotImplemented
    outputs = _outputs(self, real, static)
    if outputs is None:
        return NotImplemented
    applied = Ufunc(self, static, len(real), outputs)
    for value in given:
        try:
            found = value.__array_ufunc__(applied, "__call__", *real)
        except SymdiffError:
            raise
        except (TypeError, AttributeError, KeyError, NotImplementedError):
            continue  # it knows a list of functions
        if found is not NotImplemented:
            return found
    return NotImplemented


def ufunc(self: Function) -> np.ufunc:
    """An elementwise function as a ufunc."""
    from symdiff.api.numpy_ufunc import made

    name = self.__name__
    parameters = self._source.parameters
    static = self._default_static()
    count = len(parameters.real)
    if self._options.target != "cpu" or self._options.dtype is not None:
        raise UnsupportedError(
            f"{name} has no ufunc: those compute on the CPU, in the dtype of the arguments"
        )
    outputs = _outputs(self, [np.ones(2)] * count, static)
    if outputs is None:
        raise UnsupportedError(
            f"{name} has no ufunc, as it is not proved to be elementwise",
            hint="call it itself; derivatives of several results are not elementwise",
        )
    raw = self._source.raw(static)
    if self._options.check_domain and (raw.assumptions or self._options.domain):
        raise UnsupportedError(
            f"{name} has no ufunc, as it checks its arguments, and no error leaves a ufunc",
            hint="call it itself, or use check_domain=False",
        )

    takes_out = "out" not in parameters.names

    def call(values: Sequence[Any], targets: Sequence[Any]) -> None:
        if takes_out and any(map(np.ndim, values)):
            self(*values, **static, out=targets[0] if outputs == 1 else tuple(targets))
            return
        found = self(*values, **static)
        for target, value in zip(targets, found if outputs > 1 else (found,), strict=True):
            target[:] = value

    self(*[np.ones(2)] * count, **static)  # refused here, if anywhere
    return made(call, name, self.__doc__ or "", count, outputs)


def _outputs(self: Function, real: Sequence[Any], static: Mapping[str, Any]) -> int | None:
    """How many results an elementwise function has; None if it is not proved to be so."""
    like = [np.ones((2,) * n) if (n := _rank(v)) else 1.0 for v in real]
    try:
        source = self._source
        shapes = source.shapes(static, like)
        raw, how = source.raw(static, shapes), source.how(static, shapes)
    except SymdiffError:
        return None
    if not isinstance(raw, Program) or not how:
        return None
    tree = raw.tree
    if self._source.path:
        kind, by = self._source.path[-1]
        plain = isinstance(tree, int) and len(self._source.path) == 1
        if kind != "gradient" or not plain:
            return None
        return len(by)
    if isinstance(tree, int):
        return 1
    return len(tree) if is_flat(tree) else None


def _rank(value: Any) -> int:
    """The number of axes of an argument."""
    rank = getattr(value, "ndim", None)
    return 1 if rank is None and is_labelled(value) else np.ndim(value) if rank is None else rank
