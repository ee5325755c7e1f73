"""Calls with integers of 32 bits: arithmetic between them must not wrap around.

NumPy computes `a*a` of arrays of int32 in 32 bits, kernels in 64 bits or in doubles. So what a program computes
of such arguments alone is bounded by the largest of them, call by call; where the bound does not fit in 32
bits the call is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.frontend.trace.wide_integers import Range, ranges
from symdiff.ir import MUL, WHERE, Expr
from symdiff.ir.loop_program import (
    INDEX,
    LOAD,
    Build,
    LoopProgram,
    array,
    exchanged,
    expressions,
    index,
    kind_of,
    name_of,
    walk,
)
from symdiff.runtime.scalar.elementwise import ArgumentError

Function = Any
"""A `SymbolicFunction`."""

_INT32 = np.dtype(np.int32)
_MOST = 2**31


def must_fit(
    self: Function, real: Sequence[Any], static: Mapping[str, Any], mapped: Sequence[bool] = ()
) -> None:
    """Refuses 32-bit arguments if the function may compute larger integers from them.

    Raises
    ------
    ArgumentError : that names the argument.
    """
    _must_not_be_narrow(self, real, static, mapped)
    narrow = {
        n: _range(v)
        for n, v in zip(self._source.parameters.real, real, strict=True)
        if isinstance(v, (np.ndarray, np.int32)) and v.dtype == _INT32
    }
    if not narrow:
        return
    raw = self._source.raw(static, self._source.shapes(static, real, mapped))
    count = max((int(np.size(v)) for v in real), default=1)
    if _largest(raw, narrow, max(count, 1)) >= _MOST:
        names = ", ".join(narrow)
        raise ArgumentError(
            f"argument {names} is of dtype int32, and what {self.__name__} computes of it may not fit in 32 bits: "
            "NumPy's arithmetic wraps around there",
            hint="convert it with .astype(np.int64)",
        )


def _must_not_be_narrow(
    self: Function, real: Sequence[Any], static: Mapping[str, Any], mapped: Sequence[bool]
) -> None:
    """Refuses arrays of narrow integers whose kind is that of arrays in which floats are stored."""
    dtypes = [getattr(v, "dtype", None) for v in real]
    if not self._source.path or not any(d is not None and d.kind in "iu" for d in dtypes):
        return
    shapes = self._source.shapes(static, real, mapped)
    for (name, shape), dtype in zip(shapes.items(), dtypes, strict=True):
        if shape[0] and shape[1] == "w" and dtype != np.int64:
            raise ArgumentError(
                f"argument {name} is of dtype {dtype}: the floats that {self.__name__} stores in such "
                "arrays may not fit, and NumPy wraps around there",
                hint="convert it with .astype(np.int64)",
            )


def _range(value: Any) -> Range:
    """The least and the largest of integers."""
    values = np.asarray(value, np.int64)
    return int(values.min(initial=0)), int(values.max(initial=0))


def _largest(raw: Any, narrow: Mapping[str, Range], count: int) -> int:
    """The largest magnitude of what a captured program computes of narrow integers, and of numbers that
    Python knows, alone.

    Parameters
    ----------
    narrow : the arguments of 32 bits.
    count : of how many numbers the largest argument is: no loop over an axis is longer.
    """
    known = {f"narrow {n}": r for n, r in narrow.items()}
    new = {p(n): q(f"narrow {n}") for n in narrow for p, q in ((ir.var, index), (array, _whole))}
    range_of = ranges(known)
    kinds: dict[Expr, str] = {}
    found: dict[Expr, Range] = {}
    whole, largest = set(new.values()), 0
    for name, root in _roots(raw):
        (root,) = exchanged((root,), new)
        for e in ir.topological((root,)):
            if e.op is INDEX:
                known.setdefault(name_of(e), (-count, count))
            args = e.args[:1] if e.op is LOAD else e.args[1:] if e.op is WHERE else e.args
            if kind_of(e, kinds) != "i" or whole.isdisjoint(args):
                continue
            whole.add(e)
            bound = max(map(abs, range_of(e, found)))
            if e.op is LOAD:
                bound = 0
            if e.op is MUL and whole.issuperset(args) and isinstance(raw, LoopProgram):
                bound *= count  # a product of matrices sums them
            largest = max(largest, bound)
        if name and root in whole:
            known[f"narrow {name}"] = range_of(root, found)
            new[array(name)] = _whole(f"narrow {name}")
            whole.add(new[array(name)])
    return largest


def _whole(name: str) -> Expr:
    return array(name, "i")


def _roots(raw: Any) -> Iterator[tuple[str, Expr]]:
    """The expressions of a program, those of the elements of an array with its name."""
    for s in walk(raw.block) if isinstance(raw, LoopProgram) else ():
        for e in expressions(s):
            yield (s.name if isinstance(s, Build) and e is s.value else ""), e
    for e in raw.outputs:
        yield "", e
