"""Derivatives that are called in a way of their own: Jacobians, and products with vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from symdiff.api.function import Kind, SymbolicFunction
from symdiff.errors import SymdiffError
from symdiff.frontend import Shapes, pytrees
from symdiff.ir.loop_program import Structured
from symdiff.ir.program import flatten_like
from symdiff.pipeline.kernels.scalar import is_flat
from symdiff.runtime.dispatch import Way, refusing


class JacobianFunction(SymbolicFunction, step="jacobian"):
    """`f.jacobian(...)`, dense or sparse."""

    def __call__(self, *args: Any, sparse: bool = False, out: Any = None, **kwargs: Any) -> Any:
        if not sparse:
            given = kwargs if out is None else {**kwargs, "out": out}
            return super().__call__(*args, **given)
        if out is not None:
            raise SymdiffError("a sparse Jacobian takes no out=")
        self._fresh()
        real, static = self._source.parameters.bind(args, kwargs)
        raw = self._source.raw(static, self._source.shapes(static, real))
        if not isinstance(raw, Structured):
            raise SymdiffError(
                f"{raw.name} is a function of numbers, whose Jacobian is not sparse",
                hint="leave out sparse=True",
            )
        return self._arrays.sparse(raw, real, self._source.path[-1][1])


class Product(SymbolicFunction):
    """A product with a vector; `primals` is the tuple of all arguments, or the one
    argument itself."""

    _counts = 0, 0  # arguments, and entries of the vector
    _in_order = True  # whether the vector's entries are those of the tuple, one after the other

    def _entries(self, vector: Any, static: Mapping[str, Any], shapes: Shapes) -> list[Any]:
        """The vector's entries, one per further parameter of the program."""
        raise NotImplementedError

    def _bound(
        self, primals: Any, vector: Any, kwargs: Mapping[str, Any]
    ) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
        args = primals if isinstance(primals, (tuple, list)) else (primals,)
        real, static = self._source.parameters.bind(tuple(args), kwargs)
        real = self._cuda.located(real)
        shapes = self._source.shapes(static, real)
        entries = self._entries(vector, static, shapes)
        self._counts = len(real), len(entries)
        return (*real, *entries), static

    def _multiply(self, primals: Any, vector: Any, out: Any, kwargs: Mapping[str, Any]) -> Any:
        given = dict(kwargs)
        stream = self._cuda.stream(given)
        args = primals if isinstance(primals, (tuple, list)) else (primals,)
        real, static = self._source.parameters.bind(tuple(args), given)
        real = self._plain(real)
        if any(map(pytrees.is_container, real)):
            if out is not None:
                raise SymdiffError("out= of a function of containers", hint="leave it out")
            nodes, leaves = self._leaves(real)
            found = self._twin(nodes)(tuple(leaves), self._flat(vector, nodes), **static)
            return self._regrouped(found, nodes)
        return self._run(*self._bound(primals, vector, given), out, stream)

    def _flat(self, vector: Any, nodes: Sequence[pytrees.Node]) -> Any:
        """The vector for leaves of containers."""
        by, real = self._source.path[-1][1], self._source.parameters.real
        entries = [vector] if len(by) == 1 else list(vector)
        if len(entries) != len(by):
            raise SymdiffError(
                f"{self.__name__} takes a vector of {len(by)} entries, not {len(entries)}"
            )
        flat: list[Any] = []
        for name, v in zip(by, entries, strict=True):
            flat += pytrees.leaves_of(nodes[real.index(name)], v, f"the vector by {name}")
        return tuple(flat)

    def _open(self, kind: Kind, way: Way | None) -> None:
        """Compiled entries take all arguments in a row; `primals` and the vector are numbers or
        arrays where there is one, else tuples."""
        real, entries = self._counts
        if not self._in_order:
            return
        if way is not None and (real, entries) != (1, 1):
            entry = way.entry
            first = "p" if real == 1 else "*p"
            then = "v" if entries == 1 else "*v"
            tuples = [
                f"type({n}) is tuple and len({n}) == {k}"
                for n, k in (("p", real), ("v", entries)) if k != 1
            ]  # fmt: skip
            text = (
                f"lambda p, v: entry({first}, {then}) if {' and '.join(tuples)} else NotImplemented"
            )
            way = way._replace(entry=eval(text, {"entry": entry}))
        super()._open(kind, None if way is None else way._replace(placed=refusing))

    def __symdiff_trace__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        if len(args) != 2:
            raise SymdiffError(f"{self.__name__} takes primals and a vector")
        self._fresh()
        return self._inlined(*self._bound(*args, kwargs))

    def _per_parameter(self, vector: Any) -> list[Any]:
        """One entry for each parameter that is differentiated by."""
        needed = len(self._source.path[-1][1])
        if isinstance(vector, np.ndarray) and vector.ndim == 1 and len(vector) == needed > 1:
            vector = tuple(vector)
        entries = list(vector) if isinstance(vector, (tuple, list)) else [vector]
        if len(entries) != needed:
            raise SymdiffError(
                f"{self.__name__} takes a vector of {needed} entries, not {len(entries)}"
            )
        return entries


class TangentProduct(Product, step="jvp"):
    """`f.jvp(primals, tangents)` -> (value, tangent): one tangent per parameter in `wrt`."""

    def _call(self, primals: Any, tangents: Any, *, out: Any = None, **kwargs: Any) -> Any:  # type: ignore[override]
        return self._multiply(primals, tangents, out, kwargs)

    def _entries(self, vector: Any, static: Mapping[str, Any], shapes: Shapes) -> list[Any]:
        return self._per_parameter(vector)


class HessianProduct(Product, step="hvp"):
    """`f.hvp(primals, v)` -> the Hessian times v: one entry per parameter in `wrt`."""

    def _call(self, primals: Any, v: Any, *, out: Any = None, **kwargs: Any) -> Any:  # type: ignore[override]
        return self._multiply(primals, v, out, kwargs)

    def _entries(self, vector: Any, static: Mapping[str, Any], shapes: Shapes) -> list[Any]:
        return self._per_parameter(vector)


class CotangentProduct(Product, step="vjp"):
    """`f.vjp(primals, cotangents)` -> (value, one cotangent per parameter in `wrt`); the
    cotangents are nested as the function's result."""

    def _call(self, primals: Any, cotangents: Any, *, out: Any = None, **kwargs: Any) -> Any:  # type: ignore[override]
        return self._multiply(primals, cotangents, out, kwargs)

    def _flat(self, vector: Any, nodes: Sequence[pytrees.Node]) -> Any:
        return vector  # nested as the result is, not as the arguments

    def _entries(self, vector: Any, static: Mapping[str, Any], shapes: Shapes) -> list[Any]:
        assert self._parent is not None
        program = self._parent._source.program(static, shapes)
        self._in_order = isinstance(program.tree, int) or is_flat(program.tree)
        return flatten_like(program.tree, vector, len(program.outputs), "the cotangents")
