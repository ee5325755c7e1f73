"""Formulas on disk, under the formulas that they were computed from."""

from __future__ import annotations

import marshal
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

from symdiff.ir import Expr, decode, encode, topological
from symdiff.ir.functions import BUILTIN
from symdiff.ir.nodes import MAKERS, Op
from symdiff.ir.plain import real_op
from symdiff.runtime import cache

Listing = tuple[tuple[tuple[Any, ...], ...], tuple[Any, ...]]
"""Formulas for another process: their nodes, and what makes the operations that passes made for them."""


def listing(roots: Sequence[Expr], computed: bool = False) -> Listing | None:
    """Formulas in types that marshal writes; None if another process would not know their operations. Those that
    are `computed` of known ones have operations of kernels besides."""
    made = []
    for op in dict.fromkeys(e.op for e in topological(roots)):
        if op.remake is not None:
            written = _making(op)
            if written is None:
                return None
            made.append(written)
        elif not computed and real_op(op) not in BUILTIN:
            return None
    return encode(roots), tuple(made)


def listed(written: Listing) -> tuple[Expr, ...]:
    """The formulas of a listing."""
    rows, made = written
    if made:
        from symdiff.passes.complete import removable, surfaces  # noqa: F401  (they fill the table)
    ops = [MAKERS[name].make(*map(_argument, args)) for name, args in made]  # until nodes have them
    found = decode(rows)
    del ops
    return found


def kept(
    kind: str, outputs: Sequence[Expr], keep: bool, compute: Callable[[], Sequence[Expr]]
) -> tuple[Expr, ...]:
    """Formulas that are computed from outputs, from disk if they were before."""
    own = listing(outputs) if keep else None
    if own is None:
        return tuple(compute())
    key = cache.key(kind, own)
    stored = cache.load(key)
    if stored is not None:
        return listed(marshal.loads(stored[0]))
    found = tuple(compute())
    if (written := listing(found, computed=True)) is not None:
        cache.store(key, marshal.dumps(written), ())
    return found


def _making(op: Op) -> tuple[str, tuple[Any, ...]] | None:
    """What makes an operation again; None if it cannot be written."""
    assert op.remake is not None
    make, args = op.remake
    names = [k for k, m in MAKERS.items() if m.make == make]
    written = tuple(map(_written, args))
    return None if not names or None in written else (names[0], written)


def _written(value: Any) -> Any:
    """An argument of a maker in types that marshal writes; None for others."""
    if isinstance(value, Expr):
        found = listing((value,))
        return None if found is None else ("formula", found)
    if isinstance(value, Fraction):
        return "fraction", str(value)
    if isinstance(value, tuple):
        parts = tuple(map(_written, value))
        return None if None in parts else ("tuple", parts)
    if is_dataclass(value):
        parts = tuple(_written(getattr(value, f.name)) for f in fields(value))
        return None if None in parts else ("record", (type(value).__name__, parts))
    return ("integer", value) if type(value) is int else None


def _argument(written: tuple[str, Any]) -> Any:
    kind, value = written
    match kind:
        case "formula":
            return listed(value)[0]
        case "fraction":
            return Fraction(value)
        case "tuple":
            return tuple(map(_argument, value))
        case "record":
            from symdiff.passes.complete import surfaces

            name, parts = value
            return getattr(surfaces, name)(*map(_argument, parts))
    return value
