"""What the report and warnings say of guards around removable singularities."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from symdiff.codegen.sympy.text import short_text
from symdiff.errors import GuardWarning
from symdiff.ir import Expr
from symdiff.ir.program import Program
from symdiff.passes.guards.notes import Guard, GuardNotes, Place, Solved
from symdiff.passes.guards.proof import BAND_ULPS


def message(guard: Guard) -> str:
    """The finding, for people."""
    if guard.kind == "repaired":
        size = abs(guard.guarded - guard.limit)
        within = "" if guard.ulps <= BAND_ULPS else f" (to {size:.1e} at {_text(guard.where)})"
        what = "the derivatives" if guard.coarse else "value and derivatives"
        return (
            f"the guard at {_text(guard.point)} has the value of the limit{within}; "
            f"{what} are those of the smooth extension"
        )
    what = "the limit" if guard.at_point else "the value without it"
    return (
        f"the guarded value is not {what}: {guard.guarded!r} against {guard.limit!r} at "
        f"{_text(guard.where)}; the guard is kept, and so are its derivatives"
    )


def wrong(notes: GuardNotes) -> list[tuple[str, Expr]]:
    """Messages about guards whose value is not the limit, and their nodes."""
    return [(message(g), g.node) for g in notes.guards if g.kind != "repaired"]


def _text(place: Place | Solved) -> str:
    return ", ".join(
        f"{short_text(e)} = {short_text(v) if isinstance(v, Expr) else f'{float(v):.17g}'}"
        for e, v in place
    )


_warned: dict[Any, Any] = {}
"""What the warnings module remembers."""


def warn(wrong: Iterable[tuple[str, Expr]], program: Program) -> None:
    """Warn of guards whose value is not the limit, where they stand in the source."""
    for text, node in wrong:
        place = program.place(node)
        path, line = ("<unknown>", 0) if place is None else (place.path, place.line)
        warnings.warn_explicit(text, GuardWarning, path, line, registry=_warned)
