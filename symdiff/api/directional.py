"""Derivatives that are called in a way of their own: Jacobians, and products with vectors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from symdiff.api import comparing, labelled, per_slope
from symdiff.api.entries import Kind
from symdiff.api.function import SymbolicFunction
from symdiff.api.leaves import inlined, leaves_of, regrouped
from symdiff.errors import SymdiffError, outermost
from symdiff.frontend import Shapes, SymArray, pytrees
from symdiff.ir import ONE, ZERO
from symdiff.ir.loop_program import LoopProgram
from symdiff.ir.program import Made, flatten_like, imaginary_parts
from symdiff.pipeline.kernels.loops import of_numbers
from symdiff.pipeline.kernels.scalar import is_flat
from symdiff.runtime.dispatch import CompiledEntry, refusing
from symdiff.runtime.scalar import elementwise
from symdiff.runtime.scalar.elementwise import ShapeError


class JacobianFunction(SymbolicFunction, step="jacobian"):
    """`f.jacobian(...)`, dense or sparse."""

    _second = False  # whether it is the Jacobian of the gradient

    @outermost
    def _general(self, /, *args: Any, **kwargs: Any) -> Any:
        names = self._source.parameters.names
        if "sparse" in names or not kwargs.pop("sparse", False):
            return super()._general(*args, **kwargs)
        if self._out(kwargs) is not None:
            raise SymdiffError(f"a sparse {_title(self._second)} takes no out=")
        self._fresh()
        real, static = self._source.parameters.bind(args, kwargs)
        if any(map(pytrees.is_container, real)):
            raise SymdiffError(
                f"a sparse {self.__name__} of containers or complex numbers",
                hint="leave out sparse=True",
            )
        shapes = self._source.shapes(static, real)
        raw = self._source.raw(static, shapes)
        elementwise = per_slope.involved(self._source, raw, shapes)
        if not isinstance(raw, LoopProgram) and (self._second or not elementwise):
            raise SymdiffError(
                f"{raw.name} is a function of numbers, whose {_title(self._second)} is not sparse",
                hint="leave out sparse=True",
            )
        comparing.refuse_different(self)
        if elementwise and not self._second:
            result = per_slope.sparse(self, raw, real, static, shapes)
        else:
            result = self._arrays.sparse(raw, real, self._source.path[-1][1], self._second)
        comparing.called(self, real, static, result)
        return result


class HessianFunction(JacobianFunction, step="hessian"):
    """`f.hessian(...)`, dense or sparse."""

    _second = True


def _title(second: bool) -> str:
    return "Hessian" if second else "Jacobian"


class Product(SymbolicFunction):
    """A product with a vector; `primals` is the tuple of all arguments, or the one
    argument itself."""

    _selects = False
    _counts = 0, 0  # arguments, and entries of the vector
    _in_order = True  # whether the vector's entries are those of the tuple, one after the other

    def _entries(self, vector: Any, static: Mapping[str, Any], shapes: Shapes) -> list[Any]:
        """The vector's entries, one per further parameter of the program."""
        raise NotImplementedError

    def _fitting(self, real: Sequence[Any], entries: Sequence[Any]) -> None:
        """Refuse entries that do not have the shapes they must have, where arguments of any
        shape broadcast."""
        sizes = dict(zip(self._source.parameters.real, map(_shape, real), strict=True))
        for name, v in zip(self._source.path[-1][1], entries, strict=True):
            _must_spread(v, sizes[name], f"the vector by {name}", f"that of {name}")

    def _bound(
        self, real: tuple[Any, ...], vector: Any, static: Mapping[str, Any]
    ) -> tuple[tuple[Any, ...], bool]:
        """The arguments of the program, and whether it is applied to each of their elements."""
        shapes = self._source.shapes(static, real)
        entries = [_real(v) for v in self._entries(vector, static, shapes)]
        each = of_numbers(self._source.raw(static, shapes))
        self._counts = len(real), len(entries)
        return (*real, *entries), each and any(map(_rank, (*real, *entries)))

    def _placed(
        self, real: tuple[Any, ...], values: tuple[Any, ...], static: Mapping[str, Any], out: Any,
        stream: Any,
    ) -> Any:  # fmt: skip
        """The product by a program that is applied to each element of the arguments."""
        return self._run(values, static, out, stream)

    def _multiply(self, primals: Any, vector: Any, kwargs: Mapping[str, Any]) -> Any:
        given = dict(kwargs)
        out = self._out(given)
        stream = self._cuda.stream(given)
        args = primals if isinstance(primals, (tuple, list)) else (primals,)
        real, static = self._source.parameters.bind(tuple(args), given)
        if out is None and stream is None:
            result = labelled.product(self, real, vector, static)
            if result is not NotImplemented:
                return result
        real = self._plain(real)
        if any(map(pytrees.is_container, real)):
            if out is not None:
                raise SymdiffError("out= of a function of containers", hint="leave it out")
            nodes, leaves = leaves_of(self, real)
            found = self._twin(nodes)(tuple(leaves), self._flat(vector, nodes), **static)
            return regrouped(self, found, nodes)
        real = self._cuda.located(real)
        values, each = self._bound(real, vector, static)
        kept = comparing.kept(self, real, static, out)
        if each:
            self._fitting(real, values[len(real) :])
            result = self._placed(real, values, static, out, stream)
        else:
            result = self._run(values, static, out, stream)
        if stream is None:
            comparing.called(self, kept, static, result)
        return result

    def _flat(self, vector: Any, nodes: Sequence[pytrees.Node]) -> Any:
        """The vector for leaves of containers."""
        by, real = self._source.path[-1][1], self._source.parameters.real
        single = len(by) == 1 and not pytrees.alike(nodes[real.index(by[0])], vector)
        entries = [vector] if len(by) == 1 else list(vector)
        if single and isinstance(vector, tuple) and len(vector) == 1:
            entries = list(vector)  # a tuple with an entry for the only parameter
        if len(entries) != len(by):
            raise SymdiffError(
                f"{self.__name__} takes a vector of {len(by)} entries, not {len(entries)}"
            )
        flat: list[Any] = []
        for name, v in zip(by, entries, strict=True):
            flat += pytrees.leaves_of(nodes[real.index(name)], v, f"the vector by {name}")
        return tuple(flat)

    def _open(self, kind: Kind, entry: CompiledEntry | None, static: Mapping[str, Any]) -> None:
        """Compiled entries take all arguments in a row; `primals` and the vector are numbers or
        arrays where there is one, else tuples."""
        real, entries = self._counts
        if not self._in_order:
            return
        if entry is not None and (real, entries) != (1, 1):
            first = "p" if real == 1 else "*p"
            then = "v" if entries == 1 else "*v"
            tuples = [
                f"type({n}) is tuple and len({n}) == {k}"
                for n, k in (("p", real), ("v", entries)) if k != 1
            ]  # fmt: skip
            text = (
                f"lambda p, v: call({first}, {then}) if {' and '.join(tuples)} else NotImplemented"
            )
            entry = entry._replace(call=eval(text, {"call": entry.call}))
        super()._open(kind, None if entry is None else entry._replace(placed=refusing), static)

    def __symdiff_trace__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        if len(args) != 2:
            raise SymdiffError(f"{self.__name__} takes primals and a vector")
        self._fresh()
        primals, vector = args
        given = primals if isinstance(primals, (tuple, list)) else (primals,)
        real, static = self._source.parameters.bind(tuple(given), kwargs)
        if any(map(pytrees.is_container, real)):
            raise SymdiffError(
                f"{self.__name__} of containers or complex numbers, inside of a traced function",
                hint="use grad or jacobian there",
            )
        values, each = self._bound(real, vector, static)
        if each:
            self._fitting_when_traced(real, values[len(real) :])
        return inlined(self, values, static)

    def _fitting_when_traced(self, real: Sequence[Any], entries: Sequence[Any]) -> None:
        """The same for traced arrays, where only the number of axes is known."""
        ones = dict(zip(self._source.parameters.real, map(_ones, real), strict=True))
        for name, v in zip(self._source.path[-1][1], entries, strict=True):
            if not _may_spread(v, ones[name]):
                raise SymdiffError(f"the vector by {name} has not the shape of {name}")

    def _per_parameter(self, vector: Any, static: Mapping[str, Any], shapes: Shapes) -> list[Any]:
        """One entry for each parameter that is differentiated by; those of integers are 0, and
        may be left out."""
        from symdiff.pipeline.loops import real_names

        by = self._source.path[-1][1]
        raw = self._source.raw(static, shapes)
        real = real_names(raw, by) if isinstance(raw, LoopProgram) else by
        counts = {len(real)} if len(real) == 1 else {len(real), len(by)}
        if isinstance(vector, np.ndarray) and vector.ndim == 1 and len(vector) in counts - {1}:
            vector = tuple(vector)
        entries = list(vector) if isinstance(vector, (tuple, list)) else [vector]
        if len(entries) == len(real):
            return entries
        if len(entries) != len(by):
            raise SymdiffError(
                f"{self.__name__} takes a vector of {len(by)} entries, not {len(entries)}"
            )
        for name, v in zip(by, entries, strict=True):
            if name not in real and not _is_zero(v):
                raise SymdiffError(
                    f"the vector by {name} is not 0, but '{name}' is an integer here",
                    hint="pass 0 for it, or leave it out",
                )
        return [v for name, v in zip(by, entries, strict=True) if name in real]


class TangentProduct(Product, step="jvp"):
    """`f.jvp(primals, tangents)` -> (value, tangent): one tangent per parameter in `wrt`."""

    def _call(self, /, primals: Any, tangents: Any, **kwargs: Any) -> Any:
        return self._multiply(primals, tangents, kwargs)

    def _entries(self, vector: Any, static: Mapping[str, Any], shapes: Shapes) -> list[Any]:
        return self._per_parameter(vector, static, shapes)


class HessianProduct(Product, step="hvp"):
    """`f.hvp(primals, v)` -> the Hessian times v: one entry per parameter in `wrt`."""

    def _call(self, /, primals: Any, v: Any, **kwargs: Any) -> Any:
        return self._multiply(primals, v, kwargs)

    def _entries(self, vector: Any, static: Mapping[str, Any], shapes: Shapes) -> list[Any]:
        return self._per_parameter(vector, static, shapes)


class CotangentProduct(Product, step="vjp"):
    """`f.vjp(primals, cotangents)` -> (value, one cotangent per parameter in `wrt`); the
    cotangents are nested as the function's result."""

    def _call(self, /, primals: Any, cotangents: Any, **kwargs: Any) -> Any:
        return self._multiply(primals, cotangents, kwargs)

    def _flat(self, vector: Any, nodes: Sequence[pytrees.Node]) -> Any:
        return vector  # nested as the result is, not as the arguments

    def _fitting(self, real: Sequence[Any], entries: Sequence[Any]) -> None:
        shape = _together(real)
        for v in entries:
            _must_spread(v, shape, "a cotangent", "that of the result")

    def _fitting_when_traced(self, real: Sequence[Any], entries: Sequence[Any]) -> None:
        ones = _ones(real[0])
        same = all(_ones(v) == ones for v in real)
        if not same or not all(_may_spread(v, ones) for v in entries):
            raise SymdiffError(
                f"{self.__name__} of arguments that broadcast, inside of a traced function",
                hint="pass arrays of one shape, and sum the cotangents over the axes that "
                "were repeated",
            )

    def _placed(
        self, real: tuple[Any, ...], values: tuple[Any, ...], static: Mapping[str, Any], out: Any,
        stream: Any,
    ) -> Any:  # fmt: skip
        """Each cotangent is summed over the axes along which its argument was repeated."""
        by, parameters = self._source.path[-1][1], self._source.parameters.real
        chosen = [real[parameters.index(name)] for name in by]
        shape = _together(real)
        if all(_shape(a) == shape for a in chosen):
            return self._run(values, static, out, stream)
        value, found = self._run(values, static, None, stream)
        flat = [found] if len(by) == 1 else found
        if not all(isinstance(v, (np.ndarray, np.generic, float)) for v in flat):
            raise SymdiffError(
                f"{self.__name__} of arguments that broadcast, on a CUDA device",
                hint="pass arrays of one shape, and sum the cotangents over the axes that "
                "were repeated",
            )
        summed = tuple([_summed(v, a) for v, a in zip(flat, chosen, strict=True)])
        result = value, summed[0] if len(by) == 1 else summed
        return result if out is None else _stored(result, out)

    def _open(self, kind: Kind, entry: CompiledEntry | None, static: Mapping[str, Any]) -> None:
        arguments = (1 << len(self._source.parameters.real)) - 1
        if isinstance(kind, tuple) and kind[2] & arguments != arguments:
            return  # numbers with arrays, which broadcast
        super()._open(kind, entry, static)

    def _entries(self, vector: Any, static: Mapping[str, Any], shapes: Shapes) -> list[Any]:
        assert self._parent is not None
        program = self._parent._source.program(static, shapes)
        self._in_order = isinstance(program.tree, int) or is_flat(program.tree)
        if isinstance(program.tree, Made) and program.tree.made_of is complex:
            vector = tuple(pytrees.leaves_of(pytrees.COMPLEX, vector, "the cotangent"))
        entries = flatten_like(program.tree, vector, len(program.outputs), "the cotangents")
        for k in imaginary_parts(program.tree):
            entries[k] = -entries[k]
        return entries


def _is_zero(entry: Any) -> bool:
    """Whether an entry of a vector is known to be 0 or nothing but zeros."""
    if isinstance(entry, (int, float, np.number, np.ndarray)):
        return not np.any(entry)
    return entry is ZERO


def _real(entry: Any) -> Any:
    """An entry of a vector, whose small integers are real numbers; larger ones are looked at.
    It is nothing more than an array, as arguments are."""
    if hasattr(entry, "__array__") and type(entry) not in elementwise.NUMERIC:
        entry = elementwise.plain("vector", entry)
    if not isinstance(entry, (np.ndarray, np.generic)):
        return entry
    if entry.dtype.kind not in "biu" or entry.dtype.itemsize > 4:
        return entry
    if isinstance(entry, np.generic):
        return float(entry)
    return entry.astype(np.result_type(entry.dtype, np.float32))


def _shape(value: Any) -> tuple[int, ...]:
    """The shape of an argument; NumPy must not read those that lie on a device."""
    there = getattr(value, "__cuda_array_interface__", None)
    return np.shape(value) if there is None else tuple(there["shape"])


def _rank(value: Any) -> int:
    """The number of axes of an argument, traced or not."""
    return len(value.shape) if isinstance(value, SymArray) else len(_shape(value))


def _ones(value: Any) -> tuple[bool, ...]:
    """Which axes of an argument are known to have the size 1, traced or not."""
    if isinstance(value, SymArray):
        return tuple([n is ONE for n in value.shape])
    return tuple([n == 1 for n in _shape(value)])


def _may_spread(value: Any, ones: tuple[bool, ...]) -> bool:
    """Whether an entry of a vector does not repeat what it belongs to, which has these axes."""
    given = _ones(value)
    aligned = ones[len(ones) - len(given) :]
    return len(given) <= len(ones) and all(g or not n for g, n in zip(given, aligned, strict=True))


def _together(values: Sequence[Any]) -> tuple[int, ...]:
    """The shape that arguments have together."""
    shapes = [_shape(v) for v in values]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        text = ", ".join(map(str, shapes))
        raise ShapeError(f"the arguments have shapes that do not broadcast: {text}") from None


def _must_spread(value: Any, shape: tuple[int, ...], what: str, whose: str) -> None:
    """Refuse what has not this shape, nor broadcasts to it."""
    given = _shape(value)
    try:
        fits = np.broadcast_shapes(given, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ShapeError(f"{what} has the shape {given}; {whose} is {shape}")


def _summed(cotangent: Any, argument: Any) -> Any:
    """A cotangent, summed over the axes along which its argument was repeated."""
    v, shape = np.asarray(cotangent), _shape(argument)
    if v.shape != shape:
        aligned = (1,) * (v.ndim - len(shape)) + shape
        repeated = tuple(k for k, n in enumerate(aligned) if n == 1 != v.shape[k])
        kept = [k for k in range(v.ndim) if k not in repeated]
        rows = v.transpose(*kept, *repeated).reshape(
            math.prod(v.shape[k] for k in kept), math.prod(v.shape[k] for k in repeated)
        )  # contiguous, for NumPy sums in pairs along the last axis only
        with np.errstate(all="ignore"):
            total = np.sum(np.ascontiguousarray(rows), axis=1, dtype=np.float64)
            v = total.astype(v.dtype).reshape(shape)
    if elementwise.is_scalar(argument):
        return float(v)
    return v if v.ndim else v[()]


def _stored(result: Any, out: Any) -> Any:
    """Put a result into the arrays of `out`, which nest as it does."""
    pairs: list[tuple[Any, Any]] = []

    def visit(v: Any, place: Any) -> None:
        if isinstance(v, (tuple, list, dict)):
            if not isinstance(place, type(v) if isinstance(v, dict) else (tuple, list)) or len(
                place
            ) != len(v):
                raise SymdiffError(f"out must have {len(v)} entries here")
            for k in v if isinstance(v, dict) else range(len(v)):
                visit(v[k], place[k])
        elif place is not None:
            made = np.asarray(v)
            elementwise.check_out(place, made.shape, made.dtype)
            pairs.append((place, made))

    visit(result, out)
    for place, made in pairs:
        np.copyto(place, made, casting="same_kind")
    return out
