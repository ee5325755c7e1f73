"""Calls of Jacobians of elementwise functions with arrays: each result is a diagonal of slopes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from symdiff.api import firstcalls
from symdiff.errors import UnsupportedError
from symdiff.frontend import Shapes
from symdiff.ir.loop_program import LoopProgram
from symdiff.ir.program import Program, flatten_like, map_objects
from symdiff.pipeline.derivation import Source
from symdiff.pipeline.kernels.loops import of_numbers
from symdiff.runtime.scalar import diagonal, elementwise

Function = Any
"""A `SymbolicFunction`, which imports this."""
Places = tuple[int, ...]
"""The places of arguments."""


def involved(source: Source, raw: Program | LoopProgram, shapes: Shapes) -> bool:
    """Whether a captured function of numbers that is called with arrays has Jacobians among its
    derivatives, whose shape is not that of the elements.

    Raises
    ------
    UnsupportedError : if it is differentiated further.
    """
    kinds = [kind for kind, _ in source.path]
    if "jacobian" not in kinds or not any(s[0] for s in shapes.values()) or not of_numbers(raw):
        return False
    after = next((k for k in kinds[kinds.index("jacobian") :] if k != "jacobian"), None)
    if after is not None:
        raise UnsupportedError(
            f"a derivative ({after}) of the Jacobian of the elementwise function {source.name}, by arrays",
            hint='take derivatives of .diff("x"), which are elementwise, or map() over the elements',
        )
    by = {name for kind, names in source.path if kind == "jacobian" for name in names}
    return any(shapes[name][0] for name in by)  # by numbers alone they are arrays of slopes


def called(
    self: Function, raw: Program | LoopProgram, real: tuple[Any, ...], static: Mapping[str, Any],
    shapes: Shapes, out: Any,
) -> Any:  # fmt: skip
    """The Jacobians for arrays, in `out` if that is given."""
    program, slopes, sizes = _slopes(self, raw, real, static, shapes)
    made = [diagonal.dense(v, s) for v, s in zip(slopes, sizes, strict=True)]
    if out is None:
        return map_objects(made.__getitem__, program.tree)
    places = flatten_like(program.tree, out, len(made), "out")
    for place, v in zip(places, made, strict=True):
        if place is not None:
            elementwise.check_out(place, np.shape(v), v.dtype)
            np.copyto(place, v, casting="same_kind")
    return out


def sparse(
    self: Function, raw: Program | LoopProgram, real: tuple[Any, ...], static: Mapping[str, Any],
    shapes: Shapes,
) -> Any:  # fmt: skip
    """The Jacobians as matrices of SciPy's."""
    program, slopes, sizes = _slopes(self, raw, real, static, shapes)
    if any(len(s) > 1 for s in sizes):
        raise UnsupportedError("a sparse Jacobian of a Jacobian", hint="leave out sparse=True")
    made = [diagonal.sparse(v, s[0]) for v, s in zip(slopes, sizes, strict=True)]
    return map_objects(made.__getitem__, program.tree)


def _slopes(
    self: Function, raw: Program | LoopProgram, real: tuple[Any, ...], static: Mapping[str, Any],
    shapes: Shapes,
) -> tuple[Any, Sequence[Any], list[tuple[tuple[int, ...], ...]]]:  # fmt: skip
    """What is differentiated, the slopes of each element, and the shapes of the arguments by
    which they are."""
    program: Any
    values: Sequence[Any]
    if isinstance(raw, LoopProgram):
        found = self._arrays(raw, real, static, shapes, None)
        program = self._arrays.compiled(raw, static, shapes)[0]
        values = flatten_like(program.tree, found, len(program.outputs), "a Jacobian")
    else:
        values, program, _ = firstcalls.computed(self, real, static, shapes)
    by = by_arguments(self._source, raw, len(values))
    return program, values, [tuple([np.shape(real[k]) for k in places]) for places in by]


def when_traced(
    source: Source, static: Mapping[str, Any], shapes: Shapes, outputs: int
) -> tuple[Places, ...]:
    """The same of a program that is inlined for arguments of these shapes; () if it has no Jacobians
    of elements."""
    raw = source.raw(static, shapes)
    return by_arguments(source, raw, outputs) if involved(source, raw, shapes) else ()


def by_arguments(source: Source, raw: Program | LoopProgram, outputs: int) -> tuple[Places, ...]:
    """The places of the arguments by which Jacobians differentiate each output, in order."""
    from symdiff.pipeline.loops import real_names

    found: list[Places] = [()]
    for kind, by in source.path:
        if kind == "jacobian":
            names = real_names(raw, by) if isinstance(raw, LoopProgram) else by
            places = [source.parameters.real.index(name) for name in names]
            found = [(*before, k) for before in found for k in places]
    return tuple(found * (outputs // len(found)))


__all__ = ["by_arguments", "called", "involved", "sparse", "when_traced"]
