"""Arrays with labels or units, where NumPy's protocol defines what becomes of these.

Objects with an `__array_ufunc__` of their own (data frames, arrays with named axes, arrays in blocks)
say how a function of elements is applied to them: they take off their labels, call it with plain
arrays, and put the labels back; some do so later. So functions that are proved to be elementwise
are handed to them. All others are refused by name, as the labels would be lost.
"""

from __future__ import annotations

import itertools
import numbers
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from symdiff.errors import SymdiffError, UnsupportedError
from symdiff.ir.program import Program, map_objects
from symdiff.pipeline.kernels.scalar import is_flat
from symdiff.runtime.scalar.elementwise import ArgumentError

Function = Any
"""A `SymbolicFunction`, which imports this."""


ELEMENTWISE = ("gradient", "value_and_gradient", "derivative", "hessian")
"""Derivatives of elementwise functions that are elementwise themselves."""


class Ufunc:
    """A function of elements, as the protocol takes it.

    Parameters
    ----------
    count : how many results the function has.
    part : the one that is returned; None: all.
    call : what is called with the arguments in a row; by default the function.

    Attributes
    ----------
    nin, nout, signature : as of NumPy's ufuncs.
    """

    signature = None
    identity = None

    def __init__(
        self, function: Function, static: Mapping[str, Any], nin: int, count: int,
        part: int | None = None, call: Callable[..., Any] | None = None,
    ) -> None:  # fmt: skip
        self.function, self.static, self.count, self.part = function, dict(static), count, part
        self.nin, self.nout, self.call = nin, count if part is None else 1, call
        # others know some names, such as "add"
        self.__name__ = f"symdiff {function.__name__}{'' if part is None else f' {part}'}"

    def __call__(self, *values: Any, **options: Any) -> Any:
        if options:
            raise ArgumentError(f"{self.function.__name__} takes no {next(iter(options))}=")
        if self.call is not None:
            found = self.call(*values, **self.static)
        elif count_of(results_of(self.function, values, self.static)) != self.count:
            raise ArgumentError(f"{self.function.__name__} is not elementwise for these arguments")
        else:
            found = self.function(*values, **self.static)
        row = leaves(found)
        if self.part is not None:
            return row[self.part]
        return row[0] if self.count == 1 else tuple(row)


class _Product:
    """A product with a vector, of the arguments and the entries of the vector in a row."""

    def __init__(self, function: Function, arguments: int, tree: Any) -> None:
        self.function, self.arguments, self.tree = function, arguments, tree

    def __call__(self, *values: Any, **static: Any) -> Any:
        vector = map_objects(values[self.arguments :].__getitem__, self.tree)
        return self.function(tuple(values[: self.arguments]), vector, **static)


def leaves(found: Any) -> list[Any]:
    """Results in a row."""
    return [x for v in found for x in leaves(v)] if isinstance(found, (tuple, list)) else [found]


def count_of(tree: Any) -> int:
    return 0 if tree is None else len(leaves(tree))


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
    tree = results_of(self, real, static)
    return NotImplemented if tree is None else _applied(self, real, static, tree)


def product(self: Function, real: Sequence[Any], vector: Any, static: Mapping[str, Any]) -> Any:
    """The same of a product with a vector of an elementwise function, if all are of one shape."""
    single = not isinstance(vector, (tuple, list))
    entries = [vector] if single else list(vector)
    row = [*real, *entries]
    if not any(map(is_labelled, row)) or self._options.target != "cpu":
        return NotImplemented
    kind, by = self._source.path[-1]
    value = results_of(self._parent, real, static)
    count = 1 if kind == "vjp" else len(by)
    alike = len({np.shape(v) for v in row}) == 1 and len(entries) == count
    if type(value) is not int or len(self._source.path) > 1 or not alike:
        return NotImplemented
    slopes = tuple(range(1, len(by) + 1)) if len(by) > 1 else 1
    tree = {"jvp": (0, 1), "vjp": (0, slopes), "hvp": slopes}[kind]
    arranged = 0 if single else tuple(range(len(entries)))
    return _applied(self, row, static, tree, _Product(self, len(real), arranged))


def _applied(
    self: Function, row: Sequence[Any], static: Mapping[str, Any], tree: Any,
    call: Callable[..., Any] | None = None,
) -> Any:  # fmt: skip
    """What labelled arguments make of a function of elements with such results: of all at once, or of
    each alone where they take functions of one result only."""
    count = count_of(tree)
    whole = Ufunc(self, static, len(row), count, None, call)
    parts = [Ufunc(self, static, len(row), count, k, call) for k in range(count)]
    for value in filter(is_labelled, row):
        options: dict[str, Any] = {}
        kinds = {getattr(v, "dtype", np.dtype(float)) for v in row}
        if type(value).__module__.startswith("dask.") and all(k.kind == "f" for k in kinds):
            if self._source.path or self._options.domain:  # else it asks the function at 1
                options["dtype"] = np.result_type(*kinds)
        try:
            found = value.__array_ufunc__(whole, "__call__", *row, **options)
            if found is NotImplemented and count > 1:
                each = tuple(value.__array_ufunc__(u, "__call__", *row, **options) for u in parts)
                found = NotImplemented if any(v is NotImplemented for v in each) else each
        except SymdiffError:
            raise
        except (TypeError, AttributeError, KeyError, NotImplementedError):
            continue  # it knows a list of functions
        if found is not NotImplemented:
            numbers = iter(found if count > 1 else (found,))
            return map_objects(partial(_next, numbers), tree)
    return NotImplemented


def _next(numbers: Iterator[Any], _: int) -> Any:
    return next(numbers)


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
    tree = results_of(self, [np.ones(2)] * count, static)
    if tree is None:
        raise UnsupportedError(
            f"{name} has no ufunc, as it is not proved to be elementwise",
            hint="call it itself; Jacobians, products and derivatives of several results are not elementwise",
        )
    raw = self._source.raw(static)
    if self._options.check_domain and (raw.assumptions or self._options.domain):
        raise UnsupportedError(
            f"{name} has no ufunc, as it checks its arguments, and no error leaves a ufunc",
            hint="call it itself, or use check_domain=False",
        )

    outputs, takes_out = count_of(tree), "out" not in parameters.names
    places = map_objects(partial(_next, itertools.count()), tree)

    def call(values: Sequence[Any], targets: Sequence[Any]) -> None:
        if takes_out and any(map(np.ndim, values)):
            self(*values, **static, out=map_objects(tuple(targets).__getitem__, places))
            return
        for target, value in zip(targets, leaves(self(*values, **static)), strict=True):
            target[:] = value

    self(*[np.ones(2)] * count, **static)  # refused here, if anywhere
    return made(call, name, self.__doc__ or "", count, outputs)


def results_of(self: Function, real: Sequence[Any], static: Mapping[str, Any]) -> Any:
    """How the results of an elementwise function nest, as tuples of numbers; None if it is not proved to be
    elementwise. Numbers alone are taken for elements."""
    ranks = [_rank(v) for v in real]
    like = [np.ones((2,) * n) if n else 1.0 for n in (ranks if any(ranks) else [1] * len(ranks))]
    try:
        source = self._source
        shapes = source.shapes(static, like)
        raw, how = source.raw(static, shapes), source.how(static, shapes)
        if not isinstance(raw, Program) or not how:
            return None
        if not source.path:
            return raw.tree if isinstance(raw.tree, int) or is_flat(raw.tree) else None
        if not isinstance(raw.tree, int) or any(kind not in ELEMENTWISE for kind, _ in source.path):
            return None
        return source.optimized(static, shapes).tree
    except SymdiffError:
        return None


def _rank(value: Any) -> int:
    """The number of axes of an argument."""
    rank = getattr(value, "ndim", None)
    return 1 if rank is None and is_labelled(value) else np.ndim(value) if rank is None else rank
