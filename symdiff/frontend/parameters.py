"""How a function takes its parameters: as the call passes them.

Where a call is known, each real parameter is a number or an array of as many dimensions as the
argument has. Arrays are traced as formulas first, without statements: then the trace shows
whether the function is elementwise (`symdiff.frontend.per_element`). If it is not, it is traced
again as a program with arrays. Where plain Python cannot take an array (`if` on it, `math.sin` of
it), the trace begins again with numbers for its elements, as in np.vectorize.

Before any call symdiff guesses: annotations mark arrays; every other parameter is a number until
it is indexed, reduced, or its shape is read; then the trace begins again with that parameter as an
array.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.errors import Location, UnsupportedError
from symdiff.frontend.arrays import symbolic
from symdiff.frontend.signature import Parameters
from symdiff.frontend.trace import scalars
from symdiff.frontend.trace.recorder import MAX_UNROLL, Retrace
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import MAX_ARRAY, Real, Whole, array_of
from symdiff.ir import loop_program
from symdiff.ir.loop_program import LoopProgram, Parameter, Stretches, Type
from symdiff.ir.names import Names
from symdiff.ir.program import Program

Sizes = tuple[tuple[int, int], ...]

Shapes = Mapping[str, tuple[int, str] | tuple[int, str, Sizes] | tuple[int, str, Sizes, str]]
"""The number of dimensions and the kind of arguments, by their names ("f", "i", "b"; "n" for
integers and "t" for truth values that are traced as such, to find the kinds of the results; "w" for
those that are integers of the program, as their kind decides; "0" for arrays without dimensions; "r" for numbers that are known to be floats); with it, the known sizes of
axes; and "=" or "~" with the name of an argument that is the same array, or shares its memory."""

KNOWN = 64
"""The most elements of an array that is traced one by one where all arrays are made of numbers."""
SMALL = 16
"""The most elements of an array that is traced one by one, if there are larger arrays."""

WRITTEN = -1
"""The limit where arrays created from lists of numbers are in memory too."""

UNROLL = 32
"""The most iterations that are traced one by one there."""


EACH = -1
"""In the place of an axis among the known sizes of an argument: its elements are traced one by one; of a number, its
value is known."""


EACH_UNROLL = 1_000
"""The most iterations that are traced one by one then."""


def _by_element(shape: Any) -> bool:
    """Whether an array is traced element by element."""
    return len(shape) > 2 and shape[0] > 0 and any(axis == EACH for axis, _ in shape[2])


@dataclass(frozen=True, slots=True)
class Arrays:
    """The arrays among the real parameters, as far as they are known.

    Attributes
    ----------
    arrays : their types.
    shapes : of the arguments of the call, or None.
    limit : the most elements of an array that is traced one by one.
    lazy : whether arrays are formulas without statements, to see whether the function
        is elementwise.
    numbers : why, and where, the function takes elements of arrays only; None if it does not.
    single : those arrays that would be taken as they are if they had a single element.
    integers : numbers that are used as indices.
    floats : the places of lists of integers in which floats are stored later.
    loops : whether long loops over arrays are kept, with these in memory, though no parameter is an array; None
        until a loop is met.
    """

    arrays: Mapping[str, Type] = field(default_factory=dict)
    shapes: Shapes | None = None
    limit: int = MAX_ARRAY
    lazy: bool = False
    numbers: tuple[str, Location | None] | None = None
    single: Stretches = field(default_factory=Stretches)
    integers: frozenset[str] = frozenset()
    floats: frozenset[Location] = frozenset()
    loops: bool | None = False

    @classmethod
    def of_call(
        cls, parameters: Parameters, shapes: Shapes | None, names: tuple[str, ...]
    ) -> Arrays:
        """The numbers and arrays of these names, by the annotations and the arguments."""
        found = cls({}, shapes)
        for name in names:
            shape = parameters.arrays.get(name)
            if shape is not None:
                found = found.with_array(name, len(shape) or found.rank(name, 1), shape)
            elif rank := found.rank(name, 0):
                found = found.with_array(name, rank)
        if not found.arrays:
            return replace(found, limit=KNOWN, loops=None)
        if shapes is None:
            return found
        if any(map(_by_element, shapes.values())):
            return replace(found, limit=MAX_ARRAY)
        if any(s[1] == "w" for s in shapes.values()):
            return replace(found, limit=SMALL)
        return replace(found, lazy=True, limit=MAX_ARRAY)

    def of_numbers(
        self, parameters: Parameters, why: str, place: Location | None, truth: bool
    ) -> Arrays | None:
        """Elements in place of arrays, as `np.vectorize` passes them, and why; None if the
        annotation is an array. `truth`: Python takes arrays of a single element there."""
        if self.shapes is None or self.numbers is not None or not self.arrays:
            return None
        if any(map(_by_element, self.shapes.values())):
            return None
        if parameters.arrays or any(
            s[:2] != (0, "w") and s[1] == "w" for s in self.shapes.values()
        ):
            return None
        counts = (
            [functools.reduce(ir.mul, type.shape) for type in self.arrays.values()] if truth else []
        )
        single = Stretches((), self.axes(), tuple(n for n in counts if n.op is not ir.CONST))
        return Arrays({}, self.shapes, numbers=(why, place), single=single)

    def noted(self, found: Program | LoopProgram) -> Program | LoopProgram:
        """A program of numbers, with the reason why elements are passed to it."""
        if self.numbers is None:
            return found
        return replace(found, taken=self.why(), stretches=self.single)

    def rank(self, name: str, usual: int) -> int:
        """The number of dimensions of an argument."""
        return usual if self.shapes is None or name not in self.shapes else self.shapes[name][0]

    def _whole(self, name: str) -> bool:
        """Whether an argument is traced as integers."""
        traced = self.shapes is not None and self.shapes.get(name, (0, ""))[1] in ("n", "w")
        return traced or name in self.integers

    def _true(self, name: str) -> bool:
        """Whether an argument is an array of truth values."""
        return self.shapes is not None and self.shapes.get(name, (0, ""))[1] in ("b", "t")

    def with_array(self, name: str, rank: int, shape: tuple[str | int, ...] = ()) -> Arrays:
        axes = shape or tuple(
            f"{name}_size{k}" if rank > 1 else f"{name}_size" for k in range(rank)
        )
        sizes = [ir.const(n) if isinstance(n, int) else loop_program.index(n) for n in axes]
        known = () if self.shapes is None else self.shapes.get(name, ())[2:]
        for axis, n in known[0] if known else ():
            if axis != EACH:
                sizes[axis] = ir.const(n)
        arrays = {**self.arrays, name: Type(tuple(sizes), "i" if self._whole(name) else "f")}
        return replace(self, arrays=arrays, limit=min(self.limit, SMALL))

    def after(self, found: Retrace) -> Arrays:
        """The updated knowledge after a trace met a use of an array, or of a list."""
        if found.floats is not None:
            return replace(self, floats=self.floats | {found.floats})
        if found.loops is not None:
            return replace(self, loops=found.loops, limit=SMALL if found.loops else KNOWN)
        if self.lazy:
            kept = replace(self, lazy=False, limit=SMALL)
            return kept if found.name is None or found.integers else kept.after(found)
        if found.name is None:
            smaller = {0: WRITTEN, WRITTEN: WRITTEN}.get(self.limit, 0)
            return replace(self, limit=smaller if self.limit <= SMALL else SMALL)
        if found.integers and found.name not in self.arrays:
            return replace(self, integers=self.integers | {found.name})
        if found.integers:
            type = self.arrays[found.name]
            return replace(self, arrays={**self.arrays, found.name: Type(type.shape, "i")})
        if self.shapes is None:
            return self.with_array(found.name, found.rank)
        rank = self.rank(found.name, found.rank)
        if rank == 0:
            raise UnsupportedError(
                f"parameter '{found.name}' is used as an array: {found.what}",
                found.location,
                "pass an array",
            )
        if self.numbers is None:
            return self.with_array(found.name, rank)
        raise UnsupportedError(
            f"parameter '{found.name}' is used as an array: {found.what}; but {self.why()}",
            found.location,
            "use np.where in place of 'if', and NumPy's functions in place of those of math",
        )

    def why(self) -> str:
        """Why the function takes elements of arrays only."""
        if self.numbers is None:
            return ""
        why, place = self.numbers
        at = "" if place is None else f" in line {place.line}"
        return f"elements of arrays are passed one by one: {why}{at} takes numbers only"

    @property
    def of_integers(self) -> bool:
        """Whether arguments are traced as integers: only to find which results are integers, since
        the compiled program computes with real numbers."""
        return self.shapes is not None and any(s[1] in ("n", "t") for s in self.shapes.values())

    @property
    def whole_numbers(self) -> frozenset[str]:
        """The numbers that are integers of the program."""
        kept = (n for n, s in (self.shapes or {}).items() if s[:2] == (0, "w"))
        return self.integers.union(kept)

    def prepare(self, t: Tracer, names: tuple[str, ...]) -> None:
        """Give a tracer the names of the sizes, and the arrays to trace one by one."""
        t.size_limit, t.loops = self.limit, self.loops
        t.lazy, t.one_by_one = self.lazy, self.numbers is not None
        by_element = any(map(_by_element, (self.shapes or {}).values()))
        kept = self.arrays and not (self.lazy or by_element)
        t.unroll_limit = UNROLL if kept else EACH_UNROLL if by_element else MAX_UNROLL
        t.shapes, t.array_parameters = self.shapes, frozenset(self.arrays)
        t.guessed, t.float_lists = self._guessed(), self.floats
        t.names = Names(names, of_values=True)
        for type in self.arrays.values():
            t.sizes.update(n for n in type.shape if n.op is loop_program.INDEX)
        t.parameter_sizes = frozenset(t.sizes)
        for n in t.sizes:
            t.names.fresh(str(n.value))

    def value(self, name: str) -> Any:
        """A real parameter as a traced value."""
        type, shape = self.arrays.get(name), (self.shapes or {}).get(name, ())
        if type is None and shape[:1] == (0,) and len(shape) > 2 and shape[2]:
            return shape[2][0][1]  # an integer that is known
        if type is None:
            return Whole(loop_program.index(name)) if self._whole(name) else Real(ir.var(name))
        found = symbolic.in_memory(loop_program.array(name, type.kind), type.shape, type.kind)
        found.memory.argument = True
        if self._true(name):
            there = symbolic.element(found, symbolic.SLOTS[: len(type.shape)])
            found = symbolic.from_formula(type.shape, scalars.compare(ast.NotEq, there, 0))
        found.memory.parameter = name
        if not _by_element(shape):
            return found
        sizes = [int(n.value) for n in type.shape]
        items = [symbolic.element(found, tuple(map(ir.const, at))) for at in np.ndindex(*sizes)]
        return array_of(items, tuple(sizes))

    def values(self, names: Iterable[str]) -> dict[str, Any]:
        """Parameters as traced values; arguments that are the same array share one."""
        made: dict[str, Any] = {}
        for name in names:
            known: tuple[Any, ...] = () if self.shapes is None else self.shapes.get(name, ())
            how, first = (known[3][0], made.get(known[3][1:])) if len(known) > 3 else ("", None)
            if first is None or name not in self.arrays:
                made[name] = self.value(name)
            elif how == "=":
                made[name] = first
            else:
                made[name] = symbolic.viewed(first, first.shape, symbolic.SLOTS[: len(first.shape)])
        return made

    def _guessed(self) -> frozenset[str]:
        """The arrays whose number of dimensions is given neither by a call nor by an annotation."""
        if self.shapes is not None:
            return frozenset()
        own = {
            n: {loop_program.index(f"{n}_size"), loop_program.index(f"{n}_size0")}
            for n in self.arrays
        }
        return frozenset(n for n, a in self.arrays.items() if a.shape and a.shape[0] in own[n])

    def axes(self) -> dict[str, tuple[tuple[str, int], ...]]:
        """The axes of each name of a size."""
        found: dict[str, tuple[tuple[str, int], ...]] = {}
        for name, type in self.arrays.items():
            for axis, n in enumerate(type.shape):
                if n.op is loop_program.INDEX:
                    size = loop_program.name_of(n)
                    found[size] = (*found.get(size, ()), (name, axis))
        return found

    def parameter(self, name: str) -> Parameter:
        number = loop_program.INTEGER if name in self.whole_numbers else loop_program.REAL
        return Parameter(name, self.arrays.get(name, number))
