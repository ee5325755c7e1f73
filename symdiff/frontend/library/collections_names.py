"""Traced versions of `collections`: deques, and dicts with defaults, counts or an order."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

from symdiff.frontend.library.builtin_functions import dictionary
from symdiff.frontend.syntax.containers import elements, plain, position
from symdiff.frontend.trace.frames import DefaultDict, Deque
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import Refused


def _deque(t: Tracer, iterable: Any = (), maxlen: Any = None) -> Any:
    if maxlen is not None and not isinstance(maxlen, int):
        raise Refused("the length of a deque is not known when traced", "make it static")
    made = t.own(Deque((), maxlen))
    made.extend(elements(t, iterable))
    return made


def _defaultdict(t: Tracer, default_factory: Any = None, /, *args: Any, **kwargs: Any) -> Any:
    found = dictionary(t, *args, **kwargs)
    return t.own(DefaultDict(default_factory, found))


def _ordered(t: Tracer, /, *args: Any, **kwargs: Any) -> Any:
    return t.own(collections.OrderedDict(dictionary(t, *args, **kwargs)))


def _counter(t: Tracer, counted: Any = None, /, **kwargs: Any) -> Any:
    if isinstance(counted, dict) or kwargs or counted is None:
        return t.own(collections.Counter(dictionary(t, *([] if counted is None else [counted]), **kwargs)))  # fmt: skip
    return t.own(collections.Counter(plain(v) for v in elements(t, counted)))


def changing(change: Callable[..., Any]) -> Callable[..., Any]:
    """A method that changes its owner; positions and keys must be known."""

    def implementation(t: Tracer, owner: Any, *args: Any) -> Any:
        t.mutate(owner)
        return change(t, owner, *args)

    return implementation


def _insert(t: Tracer, owner: Deque, i: Any, value: Any) -> None:
    if owner.maxlen is not None and len(owner) >= owner.maxlen:
        raise Refused("a full deque has no room for an element to be inserted")
    owner.insert(position(i), value)


def _rotate(t: Tracer, owner: Deque, n: Any = 1) -> None:
    if owner:
        k = -position(n) % len(owner)
        owner[:] = [*owner[k:], *owner[:k]]


def _moved_to_end(t: Tracer, owner: Any, k: Any, last: bool = True) -> None:
    owner.move_to_end(plain(k), last)


TABLE: dict[str, Callable[..., Any]] = {
    "collections.deque": _deque,
    "collections.defaultdict": _defaultdict,
    "collections.OrderedDict": _ordered,
    "collections.Counter": _counter,
}
"""Traced versions, by the dotted name of the function."""

METHODS: dict[tuple[type, str], Callable[..., Any]] = {
    (Deque, "appendleft"): changing(lambda t, o, v: o.extend_left([v])),
    (Deque, "extendleft"): changing(lambda t, o, v: o.extend_left(elements(t, v))),
    (Deque, "popleft"): changing(lambda t, o: t.wrap(o.pop(0))),
    (Deque, "pop"): changing(lambda t, o: t.wrap(o.pop())),
    (Deque, "insert"): changing(_insert),
    (Deque, "rotate"): changing(_rotate),
    (Deque, "copy"): lambda t, o: t.own(o.copy()),
    (DefaultDict, "copy"): lambda t, o: t.own(o.copy()),
    (collections.OrderedDict, "copy"): lambda t, o: t.own(o.copy()),
    (collections.OrderedDict, "move_to_end"): changing(_moved_to_end),
}
"""Methods that lists and dicts do not have, or that differ from theirs."""

ABSENT = frozenset({(Deque, "sort"), (collections.Counter, "update"), (collections.OrderedDict, "popitem")})  # fmt: skip
"""Methods of lists and dicts that these classes do not have, or that differ there."""
