"""The middle of a thin band on a line.

Before:  the band abs(3*x - y) < 1e-8 at x = 1 + 1e-9, y = 3, along x
After:   x = 1

Requires: a line in a thin band.
Ensures: a double at which what the band bounds is zero.
"""

from __future__ import annotations

from symdiff import ir
from symdiff.interpret.lines import THIN, Line, zeros_of
from symdiff.interpret.secants import value_at, zero_by
from symdiff.ir import Expr
from symdiff.ir.plain import exactly

NARROW = 0.1
"""The largest distance of the middle of a band, relative to max(1, |x|)."""


def middle_of(line: Line) -> float | None:
    """The value of the line's parameter in the middle of a thin band; None if that is not found. A band whose width is
    an argument counts if it is very thin."""
    tape, x = line.tape, line.at.point[line.by]
    names = {k: tape.nodes[i].value for i, k in tape.slots}
    point = {name: line.at.point[k] for k, name in names.items()}
    for i in {*line.thin[0], *line.thin[1]}:
        pair = tape.nodes[i].args
        is_given = not tape.tolerances.isdisjoint(ir.variables(pair)) and not _is_small(pair)
        if is_given and not line.is_very_thin:
            continue
        for u in exactly(pair if line.at.here[i] else pair[::-1]):
            zeros = zeros_of(u)
            moved = next((z for z in zeros if names.get(line.by) in _names(z)), None)
            found = None if moved is None else zero_by(moved, names[line.by], point)
            if found is not None and all(value_at(z, found[1]) == 0 for z in zeros):
                middle = found[1][names[line.by]]
                if abs(middle - x) <= NARROW * max(1.0, abs(x)):
                    return middle
    return None


def _is_small(pair: tuple[Expr, ...]) -> bool:
    """Whether a comparison has a small number, as a relative band has."""
    return any(0 < abs(float(ir.rational(n) or 0)) <= THIN for n in ir.topological(pair))


def _names(e: Expr) -> set[str]:
    return {v.value for v in ir.variables((e,))}


__all__ = ["middle_of"]
