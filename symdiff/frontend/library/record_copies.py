"""Traced versions of the standard library's functions on records: `dataclasses.replace`,
copies, named tuples."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable
from typing import Any

from symdiff.frontend.arrays import lists
from symdiff.frontend.arrays.symbolic import snapshot
from symdiff.frontend.syntax import records
from symdiff.frontend.syntax.containers import elements
from symdiff.frontend.trace.frames import dict_like, tuple_like
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import Listed, Record, Refused, SmallArray, SymArray


def _replaced(t: Tracer, owner: Any, /, **changes: Any) -> Any:
    """`dataclasses.replace`."""
    if not isinstance(owner, Record):
        owner = _read(t, owner)
    for name in changes:
        if name not in owner.fields:
            raise Refused(f"'{owner.made_of.__name__}' has no parameter '{name}'")
    given = {f.name: owner.fields[f.name] for f in dataclasses.fields(owner.made_of) if f.init}
    return records.make(t, owner.made_of, (), {**given, **changes})


def _read(t: Tracer, owner: Any) -> Record:
    """An object that was made outside of the function."""
    if not dataclasses.is_dataclass(owner) or isinstance(owner, type):
        raise Refused("this is of dataclasses only")
    found = {f.name: t.wrap(getattr(owner, f.name)) for f in dataclasses.fields(owner)}
    return Record(type(owner), t.own(found))


def _asdict(t: Tracer, owner: Any) -> Any:
    """`dataclasses.asdict`."""
    made = owner if isinstance(owner, Record) else _read(t, owner)
    return t.own({k: _asdict(t, v) if isinstance(v, Record) else t.freeze(v) for k, v in made.fields.items()})  # fmt: skip


def _astuple(t: Tracer, owner: Any) -> Any:
    """`dataclasses.astuple`."""
    made = owner if isinstance(owner, Record) else _read(t, owner)
    return tuple(_astuple(t, v) if isinstance(v, Record) else t.freeze(v) for v in made.fields.values())  # fmt: skip


def _deeply_copied(t: Tracer, value: Any, memo: dict[int, Any] | None = None) -> Any:
    """`copy.deepcopy`: what is the same object in several places has one copy. `memo`: what was copied, and
    its copy, by its identity."""
    memo = {} if memo is None else memo
    if id(value) not in memo:
        memo[id(value)] = value, _copy_of(t, t.wrap(value), memo)
    return memo[id(value)][1]


def _copy_of(t: Tracer, value: Any, memo: dict[int, Any]) -> Any:
    if isinstance(value, SymArray):
        return snapshot(value)
    if isinstance(value, Listed):
        return lists.duplicate(value)
    if isinstance(value, Record):
        return Record(value.made_of, _deeply_copied(t, value.fields, memo))
    if isinstance(value, (list, dict)):
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        new = {k: _deeply_copied(t, v, memo) for k, v in parts}
        return t.own(dict_like(value, new) if isinstance(value, dict) else [*new.values()])
    if isinstance(value, tuple):
        return tuple_like(value, [_deeply_copied(t, v, memo) for v in value])
    return t.own(t.freeze(value)) if isinstance(value, SmallArray) else value


def _copied(t: Tracer, value: Any) -> Any:
    """`copy.copy`."""
    if isinstance(value, Record):
        return Record(value.made_of, t.own(dict(value.fields)))
    if isinstance(value, Listed):
        return lists.copied(t, snapshot(value.items), value)
    if isinstance(value, (list, dict)):
        return t.own(value.copy())
    return _deeply_copied(t, value) if isinstance(value, (SymArray, SmallArray)) else value


def of_named_tuple(t: Tracer, owner: Any, name: str, args: Any, kwargs: dict[str, Any]) -> Any:
    """`_replace`, `_asdict` and `_make` of a named tuple, or of its type."""
    if name == "_make":
        return owner(*elements(t, args[0]))
    parts = dict(zip(owner._fields, owner, strict=True))
    if name == "_asdict":
        return t.own(parts)
    for key in kwargs:
        if key not in parts:
            raise Refused(f"'{type(owner).__name__}' has no field '{key}'")
    return type(owner)(**{**parts, **kwargs})


def _named_tuple(
    t: Tracer, typename: str, field_names: Any, *, rename: bool = False, defaults: Any = None,
    module: Any = None,
) -> Any:  # fmt: skip
    """`collections.namedtuple` with known names."""
    names = field_names if isinstance(field_names, str) else elements(t, field_names)
    usual = None if defaults is None else elements(t, defaults)
    make: Any = collections.namedtuple
    return make(typename, names, rename=rename, defaults=usual)


NAMED_TUPLE = ("_replace", "_asdict", "_make")
"""Methods that every named tuple has."""


TABLE: dict[str, Callable[..., Any]] = {
    "builtins.super": records.parent,
    "dataclasses.replace": _replaced,
    "dataclasses.asdict": _asdict,
    "dataclasses.astuple": _astuple,
    "collections.namedtuple": _named_tuple,
    "copy.copy": _copied,
    "copy.deepcopy": _deeply_copied,
}
"""Traced versions, by the dotted name of the function."""
