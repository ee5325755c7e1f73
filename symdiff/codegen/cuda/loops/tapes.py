"""What the iterations of loops do with tapes, as far as it is known before they run."""

from __future__ import annotations

from dataclasses import dataclass

from symdiff import ir
from symdiff.codegen.cuda.loops.body import DeclinedError
from symdiff.ir import ONE, TRUE, ZERO, Expr, substitute
from symdiff.ir.loop_program import (
    Build,
    Loop,
    defined,
    index,
    inner,
    names_in,
    walk,
)


@dataclass(slots=True)
class Use:
    """What an iteration does with a tape: the kind and number of elements (None if that is
    not known before), whether it saves them, and whether it restores them as well."""

    kind: str
    elements: Expr | None
    saves: bool
    both: bool = False


def tape_uses(s: Loop, inside: set[str], sizes: set[Expr]) -> dict[str, Use]:
    """What an iteration of a loop does with tapes."""
    found: dict[str, Use] = {}
    inside = inside | {n for n, _ in inner(s)}
    inside |= {n for b in s.body for n, _ in defined(b)}

    lengths: dict[Expr, Expr] = {}

    def add(tape: str, kind: str, elements: Expr | None, saves: bool, both: bool) -> None:
        if elements is not None:
            elements = substitute((elements,), lengths)[0]
        if elements is not None and inside & names_in(elements):
            elements = None
        if tape in found:
            now = found[tape]
            if now.saves is not saves:
                if saves or now.both or both or now.elements is not elements:
                    raise DeclinedError("a tape that is saved and restored in one loop")
                now.both = True
                return
            if now.both or both or now.elements is None or elements is None:
                now.elements = None
                return
            now.elements = now.elements + elements
        else:
            found[tape] = Use(kind, elements, saves, both)

    for saves, values in ((True, s.saves), (False, s.restores)):
        for v in values:
            size = ONE
            for n in v.type.shape:
                size = size * counted(n, sizes)
            add(v.tape, v.type.kind, size, saves, False)
    for b in walk(s.body):
        if isinstance(b, Build) and any(isinstance(x, Loop) and (x.saves or x.restores)
                                        for x in walk(b.body)):  # fmt: skip
            raise DeclinedError("a tape in an array for each element")
    for b in s.body:
        if isinstance(b, Loop):
            plain = b.count is not None and b.condition is TRUE
            for tape, u in tape_uses(b, set(), sizes).items():
                total = u.elements if u.both else None
                if not u.both and plain and u.elements is not None and b.count is not None:
                    total = counted(b.count, sizes) * u.elements
                add(tape, u.kind, total, u.saves, u.both)
            if plain and b.count is not None:
                lengths[index(b.trips)] = counted(b.count, sizes)
    return found


def counted(n: Expr, sizes: set[Expr]) -> Expr:
    """A number of iterations, at least 0."""
    if n in sizes:
        return n
    if (k := ir.integer(n)) is not None:
        return ir.const(max(0, k))
    return ir.where(ir.lt(n, ZERO), ZERO, n)


__all__ = ["Use", "counted", "tape_uses"]
