"""Products of matrices as loops, for devices: there is no library to call."""

from __future__ import annotations

from collections.abc import Mapping

from symdiff import ir
from symdiff.ir import ZERO, var
from symdiff.structure import (
    REAL,
    Build,
    Call,
    Carried,
    Loop,
    Names,
    Type,
    index,
    load,
    name_of,
)


def product(s: Call, types: Mapping[str, Type], names: Names) -> Build:
    """A call of "matmul" as the sums that it is, over the last axis of the first factor and
    the first of the second."""
    a, b = s.args
    ((name, t),) = s.results
    left = types[name_of(a)].shape
    places = tuple(names.fresh("i") for _ in t.shape)
    k = names.fresh("k")
    start, end = names.fresh("sum"), names.fresh("sum")
    rows = [index(i) for i in places[: len(left) - 1]]
    columns = [index(i) for i in places[len(left) - 1 :]]
    term = ir.raw(ir.MUL, (load(a, *rows, index(k)), load(b, index(k), *columns)))
    carried = Carried(start, REAL, ZERO, ir.raw(ir.ADD, (var(start), term)), end)
    inside = Loop(k, left[-1], (carried,), (), names.fresh("trips"))
    return Build(name, t, places, var(end), (inside,))


__all__ = ["product"]
