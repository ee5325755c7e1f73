"""What is None on some path of a function, and is asked for."""

from __future__ import annotations

import math
from typing import Any

import pytest

from symdiff import symgrad
from symdiff.errors import UnsupportedError
from tests.frontend.differences import check


def root(x: float) -> Any:
    if x > 2:
        return math.sqrt(x - 2)
    return None


def pair(x: float) -> Any:
    return None if x < 2 else (x, x * x)


class Kept:
    def __init__(self, x: float) -> None:
        self.root = None
        if x > 2:
            self.root = x * x


def returned(x: float) -> float:
    r = root(x)
    if r is None:
        return -x
    return r * x


def unpacked(x: float) -> float:
    found = pair(x)
    if found is not None:
        a, b = found
        return a * b
    return x


def walrus(x: float) -> float:
    if (r := root(x)) is not None and r < 1.2:
        return r * 2
    return x * x


def first(x: float) -> float:
    hit = None
    for k in range(6):
        if hit is None and k > x:
            hit = k * x
    return hit if hit is not None else 0.0


def smallest(x: float) -> float:
    best = None
    for c in (1.0, 3.0, 2.0):
        d = x - c
        if d > 0:
            if best is None or d * c < best:
                best = d * c
    return -x if best is None else best


def attribute(x: float) -> float:
    kept = Kept(x)
    if kept.root is None:
        return x
    return kept.root * x


def truths(x: float) -> float:
    scale = x if x > 2 else None
    y = x * scale if scale else x
    return (root(x) or 5.0) * y if not scale or x > 3 else y


def compared(x: float) -> float:
    r = root(x)
    return x if r == None else (-r if root(x) == 2.0 else r)  # noqa: E711


def of_lists(x: float) -> float:
    values = None
    if x > 2:
        values = [x, 2 * x]
    if values is not None:
        values.append(x * x)
        return sum(values)
    return x


def passed(x: float) -> float:
    def shown(v: Any, *rest: Any, usual: Any = None) -> float:
        if v is None:
            return 3.0 * x if usual is None else usual
        return v * v

    return shown(root(x)) * shown(None, usual=root(x))


CASES = [passed, returned, unpacked, walrus, first, smallest, attribute, truths, compared, of_lists]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("fun", CASES)
@pytest.mark.parametrize("start", [0.7, 2.6, 4.3])
def test_as_plain_python_has_it(fun: Any, start: float) -> None:
    for x in (start, 0.75, 1.6, 2.45, 3.55):
        check(fun, x, value=1e-14, slope=1e-8, near=1e-12, step=1e-4, fine=True)


def test_what_may_be_none_is_refused_where_it_is_used() -> None:
    with pytest.raises(UnsupportedError, match="what 'root' returns is a real number or None"):
        symgrad(lambda x: root(x) + 1)(3.0)
    with pytest.raises(UnsupportedError, match="hint: ask first"):
        symgrad(lambda x: max(r + 1 for r in [root(x)]))(3.0)
    with pytest.raises(UnsupportedError, match="what 'root' returns is a real number or None"):
        symgrad(lambda x: x if root(x) < 2.0 else -x)(3.0)
