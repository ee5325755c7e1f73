"""What passes make of programs with arrays and loops, on disk."""

from __future__ import annotations

import hashlib
import marshal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from typing import Any

from symdiff.errors import Location
from symdiff.ir import Expr
from symdiff.ir.loop_program import (
    Build,
    Call,
    Carried,
    Check,
    Loop,
    LoopProgram,
    Parameter,
    Restore,
    Save,
    Type,
    Update,
)
from symdiff.pipeline.on_disk import plain_tree, tree_of
from symdiff.runtime import cache
from symdiff.runtime.kept_formulas import Listing, listed, listing

_CLASSES: dict[str, Callable[..., Any]] = {
    c.__name__: c
    for c in (Build, Call, Carried, Check, Location, Loop, Parameter, Restore, Save, Type, Update)
}  # fmt: skip
_MADE = ("params", "block", "outputs", "kinds", "by_element", "of_derivatives", "orders", "room")
"""What passes may change, besides how outputs nest; the rest is as in the program that they take."""
_GIVEN = ("name", "stretches", "taken", "by_rows", "changes")


def kept_program(
    kind: str, program: LoopProgram, keep: bool, compute: Callable[[], LoopProgram], *about: Any
) -> LoopProgram:
    """What passes make of a program, from disk if they did before; `about` is what they depend on besides."""
    if not keep:
        return compute()
    flat, own = _flat(program, (*_MADE, *_GIVEN))
    if own is None:
        return compute()
    data = [
        (n, a.shape, a.dtype.str, hashlib.blake2b(a.tobytes()).digest())
        for n, a in program.data.items()
    ]
    key = cache.key(kind, flat, own, plain_tree(program.tree), data, about)
    stored = cache.load(key)
    if stored is not None:
        return _read(program, stored[0])
    found = compute()
    if found.data is program.data and found.locations is program.locations:
        made, written = _flat(found, _MADE)
        if written is not None:
            with suppress(ValueError):  # numbers of NumPy's
                cache.store(key, marshal.dumps((made, written, plain_tree(found.tree))), ())
    return found


def _flat(program: LoopProgram, names: tuple[str, ...]) -> tuple[Any, Listing | None]:
    """These fields of a program in types that marshal writes, with places in a list of formulas, and that; None
    if it cannot be written."""
    roots: dict[Expr, int] = {}

    def plain(value: Any) -> Any:
        if isinstance(value, Expr):
            return ["", roots.setdefault(value, len(roots))]
        if isinstance(value, tuple):
            return tuple(map(plain, value))
        if isinstance(value, dict):
            return [(k, plain(v)) for k, v in value.items()]
        if is_dataclass(value):
            return [type(value).__name__, *(plain(getattr(value, f.name)) for f in fields(value))]
        return value

    return [plain(getattr(program, n)) for n in names], listing(tuple(roots))


def _read(program: LoopProgram, data: bytes) -> LoopProgram:
    """What was made of a program, as it was packed."""
    made, written, tree = marshal.loads(data)
    roots = listed(written)

    def whole(plain: Any) -> Any:
        if type(plain) is list:
            name, *parts = plain
            return _CLASSES[name](*map(whole, parts)) if name else roots[parts[0]]
        return tuple(map(whole, plain)) if type(plain) is tuple else plain

    found = dict(zip(_MADE, map(whole, made), strict=True))
    return replace(program, **found, tree=tree_of(tree, program.tree))
