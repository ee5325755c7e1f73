"""How outputs nest, compiled for many calls and step by step."""

from typing import Any

import numpy as np
import pytest

from symdiff.errors import SymdiffError
from symdiff.ir.program import MOST_COMPILED, flatten_like, map_tree, nesting, unnesting

LONG = tuple(range(MOST_COMPILED + 1))
TREES = [
    0, (0,), (0, (1, 2)), ((0, 1), ((2, 3), (4, 5))), [0, {"a": 1, "b b": (2, [3])}],
    {"x": 0, 3: 1}, np.arange(4).reshape(2, 2), (0, np.array([1, 2])), (), LONG,
]  # fmt: skip


def size(tree: Any) -> int:
    if isinstance(tree, dict):
        return sum(map(size, tree.values()))
    if isinstance(tree, (tuple, list)):
        return sum(map(size, tree))
    return int(np.size(tree))


@pytest.mark.parametrize("tree", TREES, ids=lambda t: str(t)[:30])
def test_both_ways(tree: Any) -> None:
    count = size(tree)
    values = [float(k) for k in range(count)]
    made, expected = nesting(tree, count)(values), map_tree(values.__getitem__, tree)
    assert repr(made) == repr(expected)
    call = unnesting(lambda *given: list(given), 2, tree, count)
    assert flatten_like(tree, expected, count, "out") == values
    assert call(7.0, 8.0, made) == [7.0, 8.0, *values]


@pytest.mark.parametrize("given", [1.0, (1.0,), (1.0, 2.0), (1.0, (2.0,)), (1.0, (2.0, 3.0, 4.0))])
def test_what_nests_otherwise_is_refused(given: Any) -> None:
    with pytest.raises(SymdiffError, match="out must have"):
        unnesting(print, 0, (0, (1, 2)), 3)(given)
    call = unnesting(lambda *flat: list(flat), 1, (0, (1, 2)), 3)
    assert call(0.0, (1.0, [2.0, 3.0])) == [0.0, 1.0, 2.0, 3.0]
