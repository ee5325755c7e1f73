"""Programs inlined in a traced function: programs of numbers, applied to each element of arrays,
and programs with statements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.frontend.arrays import symbolic
from symdiff.frontend.arrays.small import asarray, elementwise
from symdiff.frontend.pytrees import as_traced, traced_pair
from symdiff.frontend.trace import demands, scalars
from symdiff.frontend.trace.extents import repeated, same_size
from symdiff.frontend.trace.outside import from_outside
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import (
    Real,
    Refused,
    Scalar,
    SymArray,
    as_real,
    describe,
    dimensions,
    is_number,
)
from symdiff.ir import Expr, loop_program
from symdiff.ir.complex_values import Conjugate
from symdiff.ir.loop_program import LoopProgram
from symdiff.ir.program import Made, Program, Tree, map_objects


@dataclass(frozen=True, slots=True)
class Placed:
    """A program to be inlined, and its real arguments in order; a possible result of
    `__symdiff_trace__`.

    An argument is an expression, a traced array, or a nested sequence or NumPy object array of
    expressions. `jacobians` are the indices of the arguments by which each output of a program of
    numbers was differentiated, element by element; () if the result is not an array of more axes.
    `of_derivatives`: whether its results are derivatives.
    """

    program: Program | LoopProgram
    values: tuple[Any, ...]
    jacobians: tuple[tuple[int, ...], ...] = ()
    of_derivatives: bool = False


def inline(t: Tracer, placed: Placed, floats: Set[Expr] = frozenset()) -> Any:
    """The traced value of a program for these arguments, of which some are floats whatever
    their expressions contain, such as float(k)."""
    t.of_derivatives |= placed.of_derivatives
    if isinstance(placed.program, LoopProgram):
        if (orders := placed.program.orders) is not None:
            t.solved(orders, placed.program.room)
        return _statements(t, placed.program, placed.values, floats)
    sizes = _sizes(t, placed.program, placed.values)
    for n in ir.substitute(placed.program.stretches.single, sizes):
        t.single(n)
    return _elements(t, placed)


def _elements(t: Tracer, inlined: Placed) -> Any:
    """A program of numbers for each element of its arguments."""
    program: Any = inlined.program
    values = inlined.values
    names = [ir.var(n) for n in program.params]
    traced = [Real(v) if isinstance(v, Expr) else v for v in values]

    def output(k: int) -> Any:
        domain = program.domain_of((k,))
        roots, last = (program.outputs[k], *domain), len(domain)

        def apply(*args: Any) -> Real:
            given = [as_real(a) for a in args]
            mapping = dict(zip(names, (a.expr for a in given), strict=True))
            e, *rest = ir.substitute((*roots, *program.slopes), mapping)
            t.slopes.update(dict.fromkeys(rest[last:]))
            inside = ir.TRUE
            for c in (*(a.defined for a in given), *rest[:last]):
                inside = ir.and_(inside, c)
            return Real(e, inside)

        found = elementwise(apply, *traced)
        if not inlined.jacobians:
            return found
        return _diagonal(t, found, [traced[k] for k in inlined.jacobians[k]])

    return map_objects(output, program.tree, _object, partial(_array, t))


def _diagonal(t: Tracer, slopes: Any, arguments: Sequence[Any]) -> Any:
    """The Jacobian by arrays of a function of their elements, given its slopes."""
    a = symbolic.symbolic(t, slopes)
    shape, rank, same = list(a.shape), len(a.shape), ir.TRUE
    for v in arguments:
        sizes = symbolic.symbolic(t, v).shape
        for axis, n in enumerate(sizes, start=rank - len(sizes)):
            if not repeated(n, a.shape[axis]):
                own, there = symbolic.SLOTS[axis], symbolic.SLOTS[len(shape)]
                same = ir.and_(same, ir.eq(there, own))
            shape.append(n)
    e, defined = symbolic.formula(a), symbolic.needs(a)
    inside = ir.or_(ir.not_(same), defined)
    return symbolic.lazy(shape, "f", ir.where(same, e, ir.ZERO), inside)


def _statements(t: Tracer, program: LoopProgram, values: Sequence[Any], floats: Set[Expr]) -> Any:
    """A program with arrays or loops: its statements are run here."""
    mapping: dict[Expr, Expr] = {}
    for p, v in zip(program.params, values, strict=True):
        if not p.type.shape:
            if not isinstance(v, (Expr, Scalar, int)):
                raise Refused(f"an array is passed for the number '{p.name}'")
            if p.type.kind == "i":
                _must_be_integer(t, p.name, v, floats)
            mapping[p.leaf] = v if isinstance(v, Expr) else as_real(v).expr
            continue
        array = symbolic.symbolic(t, _traced(v))
        if p.type.kind == "i" != array.kind:
            demands.retrace_integers(t, symbolic.leaf_of(t, array))
            raise Refused(f"an array of {_KINDS[array.kind]} is passed for the integers '{p.name}'")
        if len(array.shape) != len(p.type.shape):
            raise Refused(f"'{p.name}' has {dimensions(len(p.type.shape))}, not {len(array.shape)}")
        mapping[p.leaf] = symbolic.leaf_of(t, array)
        for axis, n in zip(p.type.shape, array.shape, strict=True):
            known = mapping.setdefault(axis, n)
            if axis.op is ir.CONST:
                same_size(t, axis, n)
            elif known is not n:
                same_size(t, known, n)
    sizes = _sizes(t, program, values)
    for pair in program.stretches.pairs:
        t.stretch(*ir.substitute(pair, sizes))
    for n in ir.substitute(program.stretches.single, sizes):
        t.single(n)
    for name, data in program.data.items():
        kind = "i" if data.dtype.kind in "iu" else "f"
        mapping[loop_program.array(name, kind)] = symbolic.constant(t, data, kind)
    block, names = loop_program.renamed(program.block, t.names)
    for s in loop_program.replaced(block, mapping):
        t.emit(s)
    types = loop_program.types(program)
    outputs = ir.substitute(ir.substitute(program.outputs, names), mapping)
    count = iter(zip(program.outputs, outputs, strict=True))
    made = [_output(before, after, types, {**names, **mapping}) for before, after in count]
    return map_objects(made.__getitem__, program.tree, _object, partial(_array, t))


_KINDS = {"f": "real numbers", "b": "truth values"}


def _must_be_integer(t: Tracer, name: str, value: Any, floats: Set[Expr]) -> None:
    """Trace again with an integer where a parameter is one, or refuse other numbers."""
    if isinstance(value, Expr):
        known = value.op is ir.CONST or value in floats
        # x[True] is not an element
        truth = value.op is ir.WHERE and value.args[1:] == (ir.ONE, ir.ZERO)
        if not known and not truth and loop_program.kind_of(value) == "i":
            return
        value = Real(value)  # integer constants are not expressions
    elif scalars.is_whole(value):
        return
    message = f"{describe(value)} is passed for the integer '{name}'"
    raise demands.not_whole(t, value, message, "pass an integer")


def _object(tree: Tree, parts: Iterable[Any]) -> Any:
    """A tuple, list or object of these traced values."""
    if isinstance(tree, Made) and tree.made_of is Conjugate:
        real, imag = parts
        return traced_pair(real, elementwise(scalars.negative, imag))
    return as_traced(tree, parts)


def _array(t: Tracer, items: np.ndarray[Any, Any]) -> Any:
    """The array of these traced values; for arrays, the one that `np.array` makes of them."""
    if any(isinstance(v, SymArray) for v in items.ravel()):
        return symbolic.symbolic(t, items.tolist())
    return asarray(items.tolist())


def _sizes(t: Tracer, program: Program | LoopProgram, values: Sequence[Any]) -> dict[Expr, Expr]:
    """The sizes of arguments by their names in the program."""
    names = [p if isinstance(p, str) else p.name for p in program.params]
    given = dict(zip(names, values, strict=True))
    return {
        loop_program.index(size): symbolic.symbolic(t, _traced(given[name])).shape[axis]
        for size, ((name, axis), *_) in program.stretches.axes.items()
    }


def _output(
    before: Expr, after: Expr, types: Mapping[str, loop_program.Type], mapping: Mapping[Expr, Expr]
) -> Any:
    """An output of an inlined program as a traced value."""
    if after.op is not loop_program.ARRAY:
        return scalars.whole(after) if loop_program.kind_of(before) == "i" else Real(after)
    type = types[loop_program.name_of(before)]
    shape = ir.substitute(ir.substitute(type.shape, mapping), mapping)
    return symbolic.in_memory(after, shape, type.kind)


def _traced(value: Any) -> Any:
    """An argument as a traced value."""
    if isinstance(value, Expr):
        return Real(value)
    if isinstance(value, np.ndarray) and value.dtype == object:
        return [_traced(v) for v in value]
    if isinstance(value, (list, tuple)):
        return [_traced(v) for v in value]
    return value if is_number(value) or isinstance(value, SymArray) else symbolic_constant(value)


def symbolic_constant(value: Any) -> Any:
    """The user's data as a traced value."""
    return from_outside(value)
