"""Sorted lists: by keys known when traced, or by exchanges of numbers."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from symdiff.frontend.arrays import selecting, symbolic
from symdiff.frontend.arrays import small as arrays
from symdiff.frontend.library.builtin_functions import call_back, maximum, minimum
from symdiff.frontend.library.numpy.linear_algebra import sort
from symdiff.frontend.syntax.containers import elements, plain
from symdiff.frontend.syntax.operators import compare
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import Listed, Refused, Selected, SymArray, is_number

MOST_SORTED = 16
"""The most elements of a list that is sorted by keys unknown when traced."""


def sorted_list(t: Tracer, values: Any, key: Any = None, reverse: bool = False) -> Any:
    if isinstance(values, (SymArray, Listed, Selected)) and key is None:
        if len(values.items.shape if not isinstance(values, SymArray) else values.shape) > 1:
            raise Refused("what is sorted holds no numbers", "sort indices by a number of each")
        found = sort(t, symbolic.symbolic(t, values))
        return Listed(selecting.subscript(t, found, slice(None, None, -1)) if reverse else found)
    items = elements(t, values)
    keys = [v if key is None else call_back(t, key, v) for v in items]
    known = _known_keys(keys)
    if known is not None:
        order = sorted(range(len(items)), key=known.__getitem__, reverse=reverse)
        return t.own([items[i] for i in order])
    if len(items) > MOST_SORTED:
        raise Refused(
            f"a list of more than {MOST_SORTED} numbers is sorted", "make an array of it: np.sort"
        )
    return t.own(_exchanged(t, items, None if key is None else keys, reverse))


def _known_keys(keys: list[Any]) -> list[Any] | None:
    """The keys of a sort, if they are known when traced; for tuples the first parts, if these
    differ."""
    try:
        return [plain(k) for k in keys]
    except Refused:
        if not all(isinstance(k, tuple) and k for k in keys):
            return None
    firsts = _known_keys([k[0] for k in keys])
    return firsts if firsts is not None and len(set(firsts)) == len(firsts) else None


def _exchanged(t: Tracer, items: list[Any], keys: list[Any] | None, reverse: bool) -> list[Any]:
    """A list sorted by its numbers, or by a number for each element, by comparing neighbours."""
    op = ast.Gt if reverse else ast.Lt
    items = list(items)
    for end in range(len(items) - 1, 0, -1):
        for i in range(end):
            a, b = items[i : i + 2]
            if keys is None and is_number(a) and is_number(b):
                pair = minimum(t, a, b), maximum(t, a, b)
                items[i : i + 2] = pair[::-1] if reverse else pair
                continue
            x, y = (a, b) if keys is None else keys[i : i + 2]
            swaps = compare(t, op, y, x)  # false for equal numbers, which keep their order
            items[i : i + 2] = _chosen(swaps, b, a), _chosen(swaps, a, b)
            if keys is not None:
                keys[i : i + 2] = _chosen(swaps, y, x), _chosen(swaps, x, y)
    return items


def _chosen(condition: Any, yes: Any, no: Any) -> Any:
    """One of two numbers, or of two tuples of them."""
    if isinstance(yes, (tuple, list)) and type(yes) is type(no) and len(yes) == len(no):
        return type(yes)(_chosen(condition, a, b) for a, b in zip(yes, no, strict=True))
    if not (is_number(yes) and is_number(no)):
        raise Refused("what is sorted holds no numbers", "sort indices by a number of each")
    return arrays.choose(condition, yes, no)


TABLE: dict[str, Callable[..., Any]] = {"builtins.sorted": sorted_list}
"""Traced versions, by the dotted name of the function."""
