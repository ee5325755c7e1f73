"""A program with arrays or loops at small sizes, as one function of the elements of its arguments.

`symdiff check` examines this function as it does functions of numbers, so it finds what elements
do to each other: sums that cancel, and quotients of sums.

Before:  v / np.sqrt(np.sum(v * v))
After:   v_0/sqrt(v_0**2 + v_1**2 + v_2**2), where v_0 is v[0], and likewise for v_1
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.cli.check.formulas import Formula
from symdiff.errors import Location, SymdiffError
from symdiff.interpret.loops import evaluated
from symdiff.interpret.unrolled import Formulas, TooLong, unrolled_with
from symdiff.ir import Expr
from symdiff.ir.loop_program import INDEX, LoopProgram, Parameter
from symdiff.ir.names import Names
from symdiff.ir.program import Program

SIZES = (3, 2)
"""Sizes of axes that are tried; integers are 2."""
MOST = 500
"""Operations of the function, at most."""
ELEMENTS = 27
"""Elements of one argument, at most."""
SEED = 5
OFFSET = 1e5
"""A mean far from 0, with differences of order 1."""


def whole(
    program: LoopProgram,
    wrt: Sequence[str] | None = None,
    defaults: Mapping[str, float] | None = None,
) -> Formula | None:
    """The function at the first sizes at which it has formulas; None if there are none."""
    defaults = defaults or {}
    for size in SIZES:
        numbers = _Placed(program.locations)
        try:
            shapes = {p.name: _shape(p, size) for p in program.params}
            given = [_given(p, shapes[p.name], defaults) for p in program.params]
            names, outputs = unrolled_with(program, shapes, given, numbers)
        except TooLong:
            continue
        except (SymdiffError, ArithmeticError, LookupError, TypeError, ValueError):
            continue
        return _function(program, defaults, wrt, shapes, names, outputs, numbers)
    return None


class _Placed(Formulas):
    """Arithmetic of expressions that notes where operations stand, and what is checked."""

    def __init__(self, places: Mapping[Expr, Location]) -> None:
        super().__init__(MOST)
        self.places = places
        self.found: dict[Expr, Location] = {}
        self.checked: list[Expr] = []

    def value(self, e: Expr, scope: Mapping[str, Any]) -> Any:
        """The value; of an operation in the source, with its place."""
        values = evaluated((e,), self, scope)
        for n, made in values.items():
            if n in self.places and isinstance(made, Expr) and made.args:
                self.found.setdefault(made, self.places[n])
        return values[e]

    def holds(self, condition: Any) -> bool:
        """Whether a condition holds; what depends on real values restricts the domain."""
        if isinstance(condition, Expr):
            self.checked.append(condition)
        return super().holds(condition)


def _shape(p: Parameter, size: int) -> tuple[int, ...]:
    """The sizes of a parameter, where each that is not known is the same."""
    shape = tuple(_size(n, size) for n in p.type.shape)
    if math.prod(shape) > ELEMENTS:
        raise TooLong
    return shape


def _size(axis: Expr, size: int) -> int:
    sizes = {n: ir.const(size) for n in ir.topological((axis,)) if n.op is INDEX}
    known = ir.rational(ir.substitute((axis,), sizes)[0])
    if known is None:
        raise TooLong
    return int(known)


def _given(p: Parameter, shape: tuple[int, ...], defaults: Mapping[str, float]) -> Any:
    """An argument of integers."""
    usual = {"i": 2, "b": 1}.get(p.type.kind, 0)
    return np.full(shape, usual) if shape else int(defaults.get(p.name, usual))


def _function(
    program: LoopProgram,
    defaults: Mapping[str, float],
    wrt: Sequence[str] | None,
    shapes: Mapping[str, tuple[int, ...]],
    names: Sequence[str],
    outputs: Sequence[Any],
    numbers: _Placed,
) -> Formula | None:
    taken = Names((program.name,))
    reals = [p for p in program.params if p.type.kind == "f"]
    elements = [(p.name, i) for p in reals for i in np.ndindex(*shapes[p.name])]
    leaves: dict[Expr, Expr] = {}
    texts: dict[str, str] = {}
    for old, (name, i) in zip(names, elements, strict=True):
        new = taken.fresh("_".join([name, *map(str, i)]))
        leaves[ir.var(old)] = ir.var(new)
        texts[new] = name + _subscript(i)
    chosen = dict(_chosen(program, outputs))
    roots = ir.substitute(chosen.values(), leaves)
    used = ir.variables(roots)
    along = tuple(
        new for new, (name, i) in zip(texts, elements, strict=True)
        if i in _some(shapes[name]) and ir.var(new) in used and (wrt is None or name in wrt)
    )  # fmt: skip
    if not along:
        return None
    places = dict(zip(ir.substitute(numbers.found, leaves), numbers.found.values(), strict=True))
    domain = ir.substitute(numbers.checked, leaves)
    made = Program(program.name, tuple(texts), roots, 0, domain, (), places)
    labels = (
        [program.name] if len(chosen) == 1 else [f"{made.name}[{k}]" for k in range(len(chosen))]
    )
    outer = dict(zip(labels, chosen, strict=True))
    usual = {n: float(defaults[n]) for n in texts if n in defaults}
    bases = _bases(elements) if any(i for _, i in elements) else ()
    return Formula(made, texts, frozenset(), along, outer, usual, bases)


def _chosen(program: LoopProgram, outputs: Sequence[Any]) -> Iterator[tuple[str, Expr]]:
    """Some elements of the results, by their names."""
    for k, row in enumerate(outputs):
        name = program.name + (f"[{k}]" if len(outputs) > 1 else "")
        values = np.asarray(row, object)
        for i in _some(values.shape) if values.size else ():
            if isinstance(e := values[i], Expr) and not e.op.boolean and ir.variables((e,)):
                yield name + _subscript(i), e


def _some(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The first element of an array, and one in the middle."""
    return list(dict.fromkeys([(0,) * len(shape), tuple(n // 2 for n in shape)]))


def _subscript(i: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, i))}]" if i else ""


def _bases(elements: Sequence[tuple[str, tuple[int, ...]]]) -> tuple[tuple[float, ...], ...]:
    """Points through which lines are drawn: arrays of zeros, of equal elements, and arrays whose
    mean is far from 0; numbers are ordinary."""
    rng = random.Random(SEED)
    spread = [float(f"{rng.uniform(0.3, 2):.3g}") for _ in elements]
    is_number = [not i for _, i in elements]

    def arrays(mean: float, width: float) -> tuple[float, ...]:
        pairs = zip(spread, is_number, strict=True)
        return tuple(x if number else round(mean + width * x, 2) for x, number in pairs)

    return arrays(0.0, 1.0), arrays(OFFSET, 1.0), arrays(0.0, 0.0), arrays(1.0, 0.0)
