"""What a program depends on in the arguments of a call: dimensions, kinds, and sizes of 1.

One program serves all sizes, except for an axis that NumPy repeats because it happens to have
size 1: where the sizes of two axes that meet differ, and one of them is 1, there is a
program for that size.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.frontend import EACH, Shapes, SymArray, sizes_must_be_known
from symdiff.ir import COMPARISONS, Expr, substitute
from symdiff.ir.loop_program import (
    LoopProgram,
    Stretches,
    expressions,
    index,
    kind_of,
    leaves,
    name_of,
    walk,
)
from symdiff.ir.program import Program


def shapes_of(names: Sequence[str], values: Sequence[Any], mapped: Sequence[bool] = ()) -> Shapes:
    """The dimensions and kinds of the arguments of a call; without the first axis of those
    that are mapped."""
    found = {}
    for k, (name, v) in enumerate(zip(names, values, strict=False)):
        if isinstance(v, (float, int, Expr)):
            found[name] = 0, "f"
            continue
        if isinstance(v, SymArray):
            found[name] = with_sizes((len(v.shape), v.kind), _single(v))
            continue
        array = v if hasattr(v, "ndim") and hasattr(v, "dtype") else np.asarray(v)
        if type(v) is np.ndarray and not v.ndim:
            found[name] = 0, "0"  # another name of it sees what is stored
            continue
        rank = array.ndim - 1 if mapped and mapped[k] else array.ndim
        found[name] = rank, _KINDS.get(array.dtype.kind, "f") if rank else "f"
        if array.dtype.kind == "O" and rank == array.ndim:
            found[name] = with_sizes(found[name], _single(array))
    return found


def _single(array: Any) -> dict[int, int]:
    """The axes of a traced array that are known to have one element, by which it is one number."""
    return {axis: 1 for axis, size in enumerate(_sizes(array)) if size == 1}


def is_whole(value: Any) -> bool:
    """Whether an argument of a call is made of integers or truth values."""
    kind = getattr(getattr(value, "dtype", value), "kind", "")
    if kind == "O":  # traced one by one
        return bool(value.size) and all(map(is_whole, value.ravel()))
    return kind in ("b", "i", "u") or isinstance(value, int)


def is_real(value: Any) -> bool:
    """Whether a number, or an array of numbers, is certainly not of integers."""
    if isinstance(value, Expr):
        return kind_of(value) == "f"
    return np.asarray(value).dtype.kind == "f"


def as_integers(
    shapes: Shapes, names: Collection[str], kinds: tuple[str, str] = ("w", "b")
) -> Shapes:
    """Shapes with some arguments marked as integers, or as truth values."""
    return {n: (s[0], kinds[s[1] == "b"], *s[2:]) if n in names else s for n, s in shapes.items()}


def only_compared(program: Program | LoopProgram, names: frozenset[str]) -> frozenset[str]:
    """Those of the numbers that a program with arrays or loops uses in conditions alone."""
    if not isinstance(program, LoopProgram):
        return frozenset()
    inside = [e for s in walk(program.block) for e in expressions(s)]
    roots = [*inside, *(e for e in program.outputs if isinstance(e, Expr))]
    seen: set[Expr] = set()
    stack = [e for e in roots if e.op not in COMPARISONS]
    while stack:
        e = stack.pop()
        if e not in seen:
            seen.add(e)
            stack += [a for a in e.args if a.op not in COMPARISONS]
    used = {str(v.value) for v in ir.variables(tuple(roots))}
    return names & (used - {str(e.value) for e in seen if e.op is ir.VAR})


_KINDS = {"i": "i", "u": "i", "b": "b"}


def stretched(
    stretches: Stretches, shapes: Shapes, values: Sequence[Any], mapped: Sequence[bool] = ()
) -> Shapes | None:
    """The same with sizes of which a program must know that they are 1, or what makes them
    1; None if there are none."""
    given = {n: _sizes(v) for n, v in zip(shapes, values, strict=False)}
    for name, m in zip(shapes, mapped, strict=False):
        given[name] = given[name][1:] if m else given[name]
    sizes = {index(s): given[name][axis] for s, ((name, axis), *_) in stretches.axes.items()}
    known = {s: ir.const(n) for s, n in sizes.items() if n is not None}
    found: dict[str, dict[int, int]] = {}
    for pair in stretches.pairs:
        a, b = (ir.integer(e) for e in substitute(pair, known))
        if a == b or 1 not in (a, b):
            continue
        one = pair[0] if a == 1 else pair[1]
        decisive = leaves((one,))
        if len(decisive) == 1:
            for name, axis in stretches.axes[name_of(decisive[0])]:
                found.setdefault(name, {})[axis] = int(known[decisive[0]].value)
    for size in stretches.decisive:
        if size not in known:
            sizes_must_be_known([v for v in values if isinstance(v, SymArray)])
        for name, axis in stretches.axes[name_of(size)]:
            found.setdefault(name, {})[axis] = int(known[size].value)
    for count in stretches.single:
        (e,) = substitute((count,), known)
        if ir.integer(e) == 1:
            for size in leaves((count,)):
                for name, axis in stretches.axes[name_of(size)]:
                    found.setdefault(name, {})[axis] = int(known[size].value)
    if not found:
        return None
    return {n: with_sizes(s, found.get(n, {})) for n, s in shapes.items()}


def _sizes(value: Any) -> tuple[int | None, ...]:
    """The sizes of the axes of an argument; None where they are not known."""
    if isinstance(value, SymArray):
        return tuple(map(ir.integer, value.shape))
    return () if isinstance(value, Expr) else np.shape(value)


def with_sizes(shape: Any, sizes: dict[int, int]) -> Any:
    """A shape with more sizes that are known."""
    rank, kind, *known = shape
    together = dict(known[0] if known else ()) | sizes
    return (rank, kind, tuple(sorted(together.items())), *known[1:]) if together else shape


def says_shared(shapes: Iterable[tuple[str, Any]]) -> bool:
    """Whether shapes say that arguments are one array: what is captured for them is of such calls only."""
    return any(len(s) > 3 for _, s in shapes)


def with_shared(shapes: Shapes, same: Mapping[str, str]) -> Shapes:
    """Shapes that say which arguments are one array."""
    return {
        n: (s[0], s[1], s[2] if len(s) > 2 else (), same[n]) if n in same else s
        for n, s in shapes.items()
    }


def described(shape: Any) -> str:
    """The kind of an argument, in words."""
    rank, kind, *sizes = shape
    if not rank:
        return "a number" if not sizes else f"the number {sizes[0][0][1]}"
    what = {1: "a vector", 2: "a matrix"}.get(rank, f"an array of {rank} axes")
    of = {"i": " of integers", "b": " of truth values"}.get(kind, "")
    known = [(axis, n) for axis, n in (sizes[0] if sizes else ()) if axis != EACH]
    ones = ", ".join(f"axis {axis} of size {n}" for axis, n in known)
    return f"{what}{of}" + (f" with {ones}" if ones else "")
