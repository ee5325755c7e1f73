"""Traced versions of the methods of Python's containers and strings."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from typing import Any

from symdiff.frontend.library.builtin_functions import dictionary
from symdiff.frontend.library.ordering import sorted_list
from symdiff.frontend.syntax.containers import elements, plain, position, present, text_of
from symdiff.frontend.syntax.operators import compare, truth
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import Cond, Refused


def _setdefault(t: Tracer, owner: Any, k: Any, default: Any = None) -> Any:
    return t.wrap(owner.setdefault(plain(k), default))


def _dict_pop(t: Tracer, owner: Any, k: Any, *default: Any) -> Any:
    k = plain(k)
    return t.wrap(owner.pop(k, *default) if default else owner.pop(present(owner, k)))


def _update(t: Tracer, owner: dict[Any, Any], /, *args: Any, **kwargs: Any) -> None:
    t.mutate(owner)
    owner.update(dictionary(t, *args, **kwargs))


def _list_sort(t: Tracer, owner: Any, key: Any = None, reverse: bool = False) -> None:
    t.mutate(owner)
    owner[:] = sorted_list(t, owner, key, reverse)


LOOP_HINT = "compare the elements one by one in a loop"


def _equal(t: Tracer, owner: Any, value: Any) -> list[bool]:
    """Which elements are equal to a value."""
    found = []
    for v in owner:
        same = v is value or truth(t, compare(t, ast.Eq, t.wrap(v), value))
        if isinstance(same, Cond):
            raise Refused("an element that is not known when traced is searched for", LOOP_HINT)
        found.append(same)
    return found


def _index(t: Tracer, owner: Any, value: Any) -> int:
    return _equal(t, owner, value).index(True)


def _count(t: Tracer, owner: Any, value: Any) -> int:
    return sum(_equal(t, owner, value))


def _format(t: Tracer, owner: str, /, *args: Any, **kwargs: Any) -> Any:
    return text_of(lambda v: owner.format(*args, **kwargs), [*args, *kwargs.values()])


def _text(name: str) -> Callable[..., Any]:
    def implementation(t: Tracer, owner: str, *args: Any) -> Any:
        if name == "join":
            return owner.join(elements(t, args[0]))
        found = getattr(owner, name)(*args)
        return t.own(found) if isinstance(found, list) else found

    return implementation


def _set_method(name: str) -> Callable[..., Any]:
    def implementation(t: Tracer, owner: Any, *others: Any) -> Any:
        found = getattr(owner, name)(*([plain(t.wrap(v)) for v in elements(t, o)] for o in others))
        return t.own(found) if isinstance(found, set) else found

    return implementation


def changing(change: Callable[..., Any]) -> Callable[..., Any]:
    """A method that changes its owner; positions and keys must be known."""

    def implementation(t: Tracer, owner: Any, *args: Any) -> Any:
        t.mutate(owner)
        return change(t, owner, *args)

    return implementation


METHODS: dict[tuple[type, str], Callable[..., Any]] = {
    (list, "append"): changing(lambda t, o, v: o.append(v)),
    (list, "extend"): changing(lambda t, o, v: o.extend(elements(t, v))),
    (list, "insert"): changing(lambda t, o, i, v: o.insert(position(i), v)),
    (list, "pop"): changing(lambda t, o, i=-1: t.wrap(o.pop(position(i)))),
    (list, "clear"): changing(lambda t, o: o.clear()),
    (list, "reverse"): changing(lambda t, o: o.reverse()),
    (list, "sort"): _list_sort,
    (list, "copy"): lambda t, o: t.own(list(o)),
    (list, "index"): _index,
    (list, "count"): _count,
    (tuple, "index"): _index,
    (tuple, "count"): _count,
    (dict, "get"): lambda t, o, k, d=None: t.wrap(o.get(plain(k), d)),
    (dict, "keys"): lambda t, o: o.keys(),
    (dict, "values"): lambda t, o: o.values(),
    (dict, "items"): lambda t, o: o.items(),
    (dict, "copy"): lambda t, o: t.own(dict(o)),
    (dict, "pop"): changing(_dict_pop),
    (dict, "setdefault"): changing(_setdefault),
    (dict, "update"): _update,
    (dict, "clear"): changing(lambda t, o: o.clear()),
    (str, "format"): _format,
    (set, "add"): changing(lambda t, o, v: o.add(plain(v))),
    (set, "discard"): changing(lambda t, o, v: o.discard(plain(v))),
    **{
        (kind, name): _set_method(name)
        for kind in (set, frozenset)
        for name in (
            "issubset", "issuperset", "isdisjoint", "union", "intersection", "difference", "symmetric_difference", "copy",
        )
    },
    **{
        (str, name): _text(name)
        for name in (
            "capitalize", "count", "endswith", "find", "index", "isalpha", "isdigit", "join", "lower",
            "lstrip", "replace", "rstrip", "split", "startswith", "strip", "title", "upper",
        )
    },
}  # fmt: skip
"""Methods of Python's containers and strings."""


def find(owner: Any, name: str) -> Callable[..., Any] | None:
    """The traced version of a method of a container, of its class or of a base class."""
    if isinstance(owner, Counter) and name in ("copy", "update"):  # they are not those of dict
        return None
    for cls in type(owner).__mro__:
        if (found := METHODS.get((cls, name))) is not None:
            return found
    return None
